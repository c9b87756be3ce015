package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"botd/reconcile/account"
	"botd/reconcile/record"
)

// CheckpointEvery is after how many records the state is journalled again.
const CheckpointEvery = 20_000

// FewRecords are replayed as a whole, whatever checkpoints there are: it takes a moment.
const FewRecords = 10_000

// Checkpoint is the newest checkpoint that this botd can read, and its place.
type Checkpoint struct {
	Sequence int64
	Hash     string
	record.Checkpoint
}

// Checkpoint finds the newest checkpoint to begin a replay with; nil when all records
// are to be replayed: there are few, or there is none of this botd's layout.
func (j *Journal) Checkpoint(ctx context.Context) (*Checkpoint, error) {
	b, err := readBase(ctx, j.db)
	if err != nil {
		return nil, err
	}
	if j.sequence <= FewRecords && b.Through == 0 {
		return nil, nil
	}
	var c Checkpoint
	var body, previous string
	err = j.db.QueryRowContext(ctx, "SELECT sequence, body, previous, hash FROM record WHERE kind = 'checkpoint' ORDER BY sequence DESC LIMIT 1").
		Scan(&c.Sequence, &body, &previous, &c.Hash)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the newest checkpoint: %w", err)
	}
	l := link{j.key, c.Sequence - 1, previous}
	stored, err := l.take(c.Sequence, body, previous, c.Hash)
	if err != nil {
		return nil, err
	}
	found, is := stored.Body.(record.Checkpoint)
	if !is || found.Layout != account.Layout {
		return nil, nil
	}
	c.Checkpoint = found
	return &c, nil
}

// ReplayAfter gives every record after a checkpoint, in order, checking the chain.
func (j *Journal) ReplayAfter(ctx context.Context, c *Checkpoint, take func(*record.Record) error) error {
	conn, err := j.db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	defer conn.Close()
	return eachAfter(ctx, conn, link{j.key, c.Sequence, c.Hash}, func(s *Stored) error { return take(&s.Record) })
}
