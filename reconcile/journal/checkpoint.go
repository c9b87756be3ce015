package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"botd/reconcile/account"
	"botd/reconcile/record"
)

// CheckpointEvery is the number of records between two checkpoints of the state.
const CheckpointEvery = 20_000

// FewRecords is the number of records up to which a journal without sealed records is replayed whole,
// whatever checkpoints exist, because that takes only a moment.
const FewRecords = 10_000

// Checkpoint is the newest checkpoint, and its position in the chain.
type Checkpoint struct {
	Sequence int64
	Hash     string
	record.Checkpoint
}

// Checkpoint returns the checkpoint from which to replay, or nil if all records must be replayed: there
// are few of them, there is no checkpoint, or the newest one has another layout.
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
	stored, err := l.decode(c.Sequence, body, previous, c.Hash)
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

// ReplayAfter passes on every record after a checkpoint, in order, and checks the chain.
func (j *Journal) ReplayAfter(ctx context.Context, c *Checkpoint, visit func(*record.Record) error) error {
	conn, err := j.db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	defer conn.Close()
	return eachAfter(ctx, conn, link{j.key, c.Sequence, c.Hash}, func(s *Stored) error { return visit(&s.Record) })
}
