package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"botd/internal/private"
)

// Head is the note, in a file beside the journal, of a record that was durable in it.
// A chain shows what was altered or taken out of its middle; only what is known
// outside shows that records are missing at its end.
type Head struct {
	Records int64     `json:"records"` // there were so many
	Hash    string    `json:"hash"`    // of the last of them
	At      time.Time `json:"at"`
}

const (
	headEnding = ".head"
	headEvery  = time.Minute // of a journal that is written
)

// HeadPath is the file beside a journal that notes what was durable in it.
func HeadPath(path string) string { return path + headEnding }

// readHead returns what is known of a journal's end, nil for nothing.
func readHead(path string) *Head {
	text, err := private.Read(HeadPath(path), 4<<10)
	var h Head
	if err != nil || json.Unmarshal(text, &h) != nil || h.Records < 1 || h.Hash == "" {
		return nil
	}
	return &h
}

// writeHead replaces it. The file follows what is durable and is not synced itself:
// it may be older than the journal, never newer.
func writeHead(path string, h Head) error {
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	file, err := private.Open(HeadPath(path)+partial, os.O_CREATE|os.O_TRUNC|os.O_WRONLY)
	if err != nil {
		return err
	}
	_, err = file.Write(append(text, '\n'))
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Rename(HeadPath(path)+partial, HeadPath(path))
}

// missing says what a journal lacks of its head; empty for nothing.
func (h *Head) missing(ctx context.Context, conn *sql.Conn) (string, error) {
	var hash string
	err := conn.QueryRowContext(ctx, "SELECT hash FROM record WHERE sequence = ?", h.Records).Scan(&hash)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		if b, err := readBase(ctx, conn); err != nil || h.Records <= b.Through {
			return "", err // it is sealed
		}
		return "no such record", nil
	case err != nil:
		return "", fmt.Errorf("compare the journal with its head: %w", err)
	case hash != h.Hash:
		return "hash " + hash, nil
	}
	return "", nil
}

// wanted is what the head says that there must be.
func (h *Head) wanted() string {
	return fmt.Sprintf("the record with hash %s that was there at %s", h.Hash, h.At.UTC().Format(time.RFC3339))
}

// beginHead compares the journal with its head. What is missing stays noted: the
// head is not written over.
func (j *Journal) beginHead(ctx context.Context) error {
	h := readHead(j.path)
	if h == nil {
		return nil
	}
	have, err := h.missing(ctx, j.writer)
	if have != "" {
		j.cut = fmt.Sprintf("journal %s does not hold what it held: record %d: want %s, have %s", j.path, h.Records, h.wanted(), have)
	}
	return err
}

// Cut says that records are missing which the journal is known to have held; empty
// when none is.
func (j *Journal) Cut() string { return j.cut }

// AcceptHead forgets what is known of a journal's end: the journal is taken as it is.
func AcceptHead(path string) error { return discard(HeadPath(path)) }

// keepHead writes the head when it is due, or now. A head that cannot be written
// is an older one.
func (j *Journal) keepHead(now bool) {
	if j.cut != "" || j.watch.lost != "" || j.broken != nil || j.sequence == j.headed || !now && time.Since(j.headedAt) < headEvery {
		return
	}
	j.headedAt = time.Now()
	if writeHead(j.path, Head{j.sequence, j.hash, j.headedAt.UTC()}) == nil {
		j.headed = j.sequence
	}
}

// Has reports whether the journal holds the record with a hash, such as one that
// was written down elsewhere.
func (j *Journal) Has(ctx context.Context, hash string) (bool, error) {
	var sequence int64
	err := j.db.QueryRowContext(ctx, "SELECT sequence FROM record WHERE hash = ?", hash).Scan(&sequence)
	if errors.Is(err, sql.ErrNoRows) {
		return j.hasSealed(ctx, hash)
	}
	if err != nil {
		return false, fmt.Errorf("look for hash %s: %w", hash, err)
	}
	return true, nil
}

// marked takes a sound copy of the journal as what is known of its end, where that
// is later than what was known.
func (j *Journal) marked(b *Backup) {
	if known := readHead(j.path); b.Records > 0 && (known == nil || known.Records < int64(b.Records)) {
		_ = writeHead(j.path, Head{int64(b.Records), b.Hash, time.Now().UTC()}) // if it cannot be written, the older one stays
	}
}
