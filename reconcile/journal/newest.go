package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Newest returns the journal's head: its last record, that record's hash and its time. Noted
// externally, it proves later that the chain still passes through it. Its zero value is the head of
// an empty journal.
func (j *Journal) Newest(ctx context.Context) (h Head, err error) {
	var atMS int64
	err = j.db.QueryRowContext(ctx, "SELECT sequence, hash, at_ms FROM record ORDER BY sequence DESC LIMIT 1").Scan(&h.Records, &h.Hash, &atMS)
	if errors.Is(err, sql.ErrNoRows) {
		return h, nil
	}
	if err != nil {
		return h, fmt.Errorf("read the journal's head: %w", err)
	}
	h.At = time.UnixMilli(atMS).UTC()
	return h, nil
}
