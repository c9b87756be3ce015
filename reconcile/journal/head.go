package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"botd/internal/privatefile"
)

// Head is a note, in a file next to the journal, of a record that was durable in it. The chain
// reveals altered or missing records in its middle; only an external note reveals records missing
// at its end.
type Head struct {
	Records int64     `json:"records"` // number of records
	Hash    string    `json:"hash"`    // hash of the last one
	At      time.Time `json:"at"`
}

const (
	headEnding = ".head"
	headEvery  = time.Minute // minimum time between two heads; closing the journal writes one too
)

// HeadPath returns the path of the file with the head of a journal.
func HeadPath(path string) string { return path + headEnding }

// readHead returns the noted end of a journal, or nil if there is none.
func readHead(path string) *Head {
	text, err := privatefile.Read(HeadPath(path), 4<<10)
	var h Head
	if err != nil || json.Unmarshal(text, &h) != nil || h.Records < 1 || h.Hash == "" {
		return nil
	}
	return &h
}

// writeHead replaces the head. The file follows the durable records and is not synced itself: it
// may be older than the journal, never newer.
func writeHead(path string, h Head) error {
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	file, err := privatefile.Open(HeadPath(path)+partial, os.O_CREATE|os.O_TRUNC|os.O_WRONLY)
	if err != nil {
		return err
	}
	_, err = file.Write(append(text, '\n'))
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Rename(HeadPath(path)+partial, HeadPath(path))
}

// missing describes what a journal has in place of the record that the head notes; empty if it contains
// that record, or has sealed it.
func (h *Head) missing(ctx context.Context, conn *sql.Conn) (string, error) {
	var hash string
	err := conn.QueryRowContext(ctx, "SELECT hash FROM record WHERE sequence = ?", h.Records).Scan(&hash)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		if b, err := readBase(ctx, conn); err != nil || h.Records <= b.Through {
			return "", err // the record is sealed
		}
		return "no such record", nil
	case err != nil:
		return "", fmt.Errorf("compare the journal with its head: %w", err)
	case hash != h.Hash:
		return "hash " + hash, nil
	}
	return "", nil
}

// required describes the record named by the head.
func (h *Head) required() string {
	return fmt.Sprintf("the record with hash %s, which existed at %s", h.Hash, h.At.UTC().Format(time.RFC3339))
}

// beginHead compares the journal with its head. If a record is missing, the head is not overwritten, so
// that the loss stays visible.
func (j *Journal) beginHead(ctx context.Context) error {
	h := readHead(j.path)
	if h == nil {
		return nil
	}
	have, err := h.missing(ctx, j.writer)
	if have != "" {
		j.cut = fmt.Sprintf("journal %s lacks records that it contained: record %d: want %s, have %s", j.path, h.Records, h.required(), have)
	}
	return err
}

// Cut describes records that are missing although the journal once contained them; empty for none.
func (j *Journal) Cut() string { return j.cut }

// AcceptHead forgets the noted end of a journal and accepts the journal as it is.
func AcceptHead(path string) error { return discard(HeadPath(path)) }

// keepHead writes the head if it is due or if now is set. If it cannot be written, the older head
// stays.
func (j *Journal) keepHead(now bool) {
	if j.cut != "" || j.watch.lost != "" || j.broken != nil || j.sequence == j.headed || !now && time.Since(j.headedAt) < headEvery {
		return
	}
	j.headedAt = time.Now()
	if writeHead(j.path, Head{j.sequence, j.hash, j.headedAt.UTC()}) == nil {
		j.headed = j.sequence
	}
}

// Has reports whether the journal, or one of its segments, contains the record with a hash, such as one
// that a person noted elsewhere.
func (j *Journal) Has(ctx context.Context, hash string) (bool, error) {
	var sequence int64
	err := j.db.QueryRowContext(ctx, "SELECT sequence FROM record WHERE hash = ?", hash).Scan(&sequence)
	if errors.Is(err, sql.ErrNoRows) {
		return j.hasSealed(ctx, hash)
	}
	if err != nil {
		return false, fmt.Errorf("find the record with hash %s: %w", hash, err)
	}
	return true, nil
}

// noteHead notes the end of a verified copy as the journal's head if it is later than the current head.
func (j *Journal) noteHead(b *Backup) {
	if known := readHead(j.path); b.Records > 0 && (known == nil || known.Records < int64(b.Records)) {
		_ = writeHead(j.path, Head{int64(b.Records), b.Hash, time.Now().UTC()}) // if it cannot be written, the older one stays
	}
}
