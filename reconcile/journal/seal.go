package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"botd/internal/privatefile"
	"botd/reconcile/account"
	"botd/reconcile/record"
)

const (
	// segmentRecords is the minimum number of records in a segment.
	segmentRecords = 10_000
	// deletedAtOnce limits how long an append waits for the deletion of sealed records.
	deletedAtOnce = 500
)

// SealOptions configure sealing.
type SealOptions struct {
	Keep    int64             // bytes in use in the file up to which nothing is sealed
	Records int64             // minimum number of records in a segment; 0 for segmentRecords
	Step    func(step string) // called after each step at which a kill can happen; nil for none
}

// Sealed is a new segment.
type Sealed struct {
	Span
	File  string `json:"file"`
	Bytes int64  `json:"bytes"`
}

// Seal moves the oldest records of a journal that exceeds a size into a segment: those before a
// checkpoint that this botd can read at a start. It returns nil if there is nothing to seal.
// Appends continue meanwhile.
//
// The segment is written, synced, read back as a whole, and named; then one transaction moves the
// journal's base behind it, and only then are the records deleted, a few at a time. A kill at any
// moment leaves each record in the file, in the segment, or in both.
func (j *Journal) Seal(ctx context.Context, options SealOptions) (*Sealed, error) {
	if options.Records == 0 {
		options.Records = segmentRecords
	}
	if options.Step == nil {
		options.Step = func(string) {}
	}
	if err := j.dropSealed(ctx, options.Step); err != nil { // left by a kill
		return nil, err
	}
	h, err := j.sealable(ctx, &options)
	if err != nil || h == nil {
		return nil, err
	}
	if err := os.MkdirAll(SegmentsPath(j.path), 0o700); err != nil {
		return nil, fmt.Errorf("seal the journal: %w", err)
	}
	path := filepath.Join(SegmentsPath(j.path), h.name())
	next, ended, err := j.writeChecked(ctx, h, path, options.Step)
	if err != nil {
		return nil, fmt.Errorf("seal records %d to %d: %w", h.First, h.Last, errors.Join(err, discard(path+partial)))
	}
	if err := j.move(ctx, next, ended); err != nil {
		return nil, err
	}
	options.Step("sealed")
	found, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	return &Sealed{Span{h.First, h.Last}, path, found.Size()}, j.dropSealed(ctx, options.Step)
}

// sealable returns the header of the segment that is due, or nil.
func (j *Journal) sealable(ctx context.Context, options *SealOptions) (h *segmentHeader, err error) {
	err = j.reading(ctx, func(conn *sql.Conn, b *base) error {
		var pages, free, size int64
		for name, into := range map[string]*int64{"page_count": &pages, "freelist_count": &free, "page_size": &size} {
			if err := conn.QueryRowContext(ctx, "PRAGMA "+name).Scan(into); err != nil {
				return fmt.Errorf("measure the journal: %w", err)
			}
		}
		if (pages-free)*size <= options.Keep {
			return nil
		}
		found := segmentHeader{Format: segmentFormat, First: b.Through + 1, Previous: b.Hash, Rows: b.Rows}
		err := conn.QueryRowContext(ctx, "SELECT sequence - 1, previous FROM record WHERE kind = 'checkpoint' AND sequence > ? "+
			"AND json_extract(body, '$.layout') = ? ORDER BY sequence LIMIT 1", b.Through+options.Records, account.Layout).Scan(&found.Last, &found.Hash)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err == nil {
			err = conn.QueryRowContext(ctx, "SELECT max(at_ms) FROM record WHERE sequence BETWEEN ? AND ?", found.First, found.Last).
				Scan(&found.NewestMS)
		}
		if err != nil {
			return fmt.Errorf("find the records to seal: %w", err)
		}
		h = &found
		return nil
	})
	return h, err
}

// writeChecked writes a segment and reads it back before naming it. It returns the base after it
// and the placements that leave the tables with it.
func (j *Journal) writeChecked(ctx context.Context, h *segmentHeader, path string, step func(string)) (next *base, ended []string, err error) {
	rows, err := j.db.QueryContext(ctx, "SELECT hash, body FROM record WHERE sequence BETWEEN ? AND ? ORDER BY sequence", h.First, h.Last)
	if err != nil {
		return nil, nil, err
	}
	if err := errors.Join(writeSegment(path+partial, h, rows), rows.Close()); err != nil {
		return nil, nil, err
	}
	step("written")
	tables := newMemoryTables()
	if err := h.Rows.put(tables); err != nil {
		return nil, nil, err
	}
	s := segment{path: path + partial}
	l := link{j.key, h.First - 1, h.Previous}
	if err := s.each(&l, func(r *Stored) error { return derive(tables, r.Sequence, &r.Record) }); err != nil {
		return nil, nil, err
	}
	step("checked")
	if err := renameDurably(path+partial, path); err != nil {
		return nil, nil, err
	}
	if err := privatefile.SyncDirectory(filepath.Dir(filepath.Dir(path))); err != nil { // of the segments' directory itself
		return nil, nil, err
	}
	step("named")
	next = &base{Through: h.Last, Hash: h.Hash}
	next.Rows, ended = tables.seal()
	return next, ended, nil
}

// move moves the base behind a durable segment and removes the placements that ended in it from the
// derived tables.
func (j *Journal) move(ctx context.Context, next *base, ended []string) error {
	text, err := next.text(j.key)
	if err != nil {
		return err
	}
	return j.change(ctx, func() error {
		if _, err := j.writer.ExecContext(ctx, "INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)", baseMark, text); err != nil {
			return err
		}
		if _, err := j.writer.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", sealedSchema)); err != nil {
			return err
		}
		for chunk := range slices.Chunk(ended, deletedAtOnce) {
			arguments := make([]any, len(chunk))
			for i, id := range chunk {
				arguments[i] = id
			}
			remove := "DELETE FROM placement WHERE client_order_id IN (?" + placeholders(len(chunk)-1) + ")"
			if _, err := j.writer.ExecContext(ctx, remove, arguments...); err != nil {
				return err
			}
		}
		return nil
	})
}

// dropSealed deletes the records that are in segments, a few at a time.
func (j *Journal) dropSealed(ctx context.Context, step func(string)) error {
	b, err := readBase(ctx, j.db)
	if err != nil || b.Through == 0 {
		return err
	}
	for ctx.Err() == nil {
		var count int64
		err := j.change(ctx, func() error {
			deleted, err := j.writer.ExecContext(
				ctx,
				"DELETE FROM record WHERE sequence IN (SELECT sequence FROM record WHERE sequence <= ? ORDER BY sequence LIMIT ?)",
				b.Through,
				deletedAtOnce,
			)
			if err == nil {
				count, err = deleted.RowsAffected()
			}
			return err
		})
		if err != nil || count == 0 {
			return err
		}
		step("deleted")
	}
	return ctx.Err()
}

// change changes the file in one transaction between two appends.
func (j *Journal) change(ctx context.Context, make func() error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken != nil {
		return j.broken
	}
	if lost := j.watch.poll(); lost != "" {
		return errors.New(lost)
	}
	if _, err := j.writer.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return j.failed(ctx, fmt.Errorf("begin to seal: %w", err))
	}
	err := make()
	if err == nil {
		_, err = j.writer.ExecContext(ctx, "COMMIT")
	}
	if err != nil {
		return j.failed(context.WithoutCancel(ctx), fmt.Errorf("seal the journal: %w", err))
	}
	return nil
}

// checkpointOf returns the checkpoint in a record, or nil if it is none or has another layout.
func checkpointOf(s *Stored) *record.Checkpoint {
	if c, is := s.Body.(record.Checkpoint); is && c.Layout == account.Layout {
		return &c
	}
	return nil
}
