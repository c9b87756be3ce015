package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"modernc.org/sqlite"

	"botd/reconcile/record"
)

// Primary result codes of SQLite that determine the meaning of a failed append.
const (
	codePrimary = 0xff
	codeIO      = 10
	codeCorrupt = 11
	codeFull    = 13
	codeNotDB   = 26
)

// Append makes the records durable, in order, all or none. After ErrFull or a busy file the caller
// may retry: the journal contains nothing of the batch. After ErrBroken its state is unknown, and
// the process must end (exactly-once.md, case 7). If the journal's files are lost or truncated, Append
// writes the records to another file, as far as possible, and returns nil: see divert and Watch.
func (j *Journal) Append(ctx context.Context, records []record.Record) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken != nil {
		return j.broken
	}
	j.watch.poll()
	if j.watch.truncated {
		return j.divert(records)
	}
	err := j.append(ctx, records)
	if errors.Is(err, ErrFull) && j.reserve.spend() {
		err = j.append(ctx, records)
	}
	if err != nil && !errors.Is(err, ErrEpoch) && j.watch.poll() != "" {
		j.broken = nil // the state of the file is known
		return j.divert(records)
	}
	j.watch.poll()
	return err
}

// append tries once to append the records, in one transaction.
func (j *Journal) append(ctx context.Context, records []record.Record) error {
	if _, err := j.writer.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return j.failed(ctx, fmt.Errorf("begin a journal append: %w", err))
	}
	format, err := j.raiseFormat(ctx)
	if err != nil {
		return j.failed(ctx, fmt.Errorf("write the journal's format: %w", err))
	}
	end := position{j.key, j.sequence, j.hash, j.epoch}
	for i := range records {
		if err := j.appendOne(ctx, &end, &records[i]); err != nil {
			return j.failed(ctx, fmt.Errorf("append %s to the journal: %w", records[i].Kind(), err))
		}
	}
	if _, err := j.writer.ExecContext(ctx, "COMMIT"); err != nil {
		return j.failed(ctx, fmt.Errorf("commit the journal: %w", err))
	}
	j.sequence, j.hash, j.epoch, j.format = end.sequence, end.hash, end.epoch, format
	return nil
}

// position is the end of a journal.
type position struct {
	key      *Key
	sequence int64
	hash     string
	epoch    int64
}

// next advances by one record and returns its text.
func (p *position) next(r *record.Record) (body []byte, previous string, err error) {
	if boot, ok := r.Body.(record.Boot); ok {
		if boot.Epoch <= p.epoch {
			return nil, "", fmt.Errorf("%w: %d after %d", ErrEpoch, boot.Epoch, p.epoch)
		}
		p.epoch = boot.Epoch
	}
	if body, err = r.MarshalJSON(); err != nil {
		return nil, "", err
	}
	previous = p.hash
	p.sequence, p.hash = p.sequence+1, p.key.link(previous, body)
	return body, previous, nil
}

func (j *Journal) appendOne(ctx context.Context, end *position, r *record.Record) error {
	body, previous, err := end.next(r)
	if err != nil {
		return err
	}
	_, err = j.tables.insert.ExecContext(ctx, end.sequence, r.AtMS, r.Kind().String(), r.Strategy, r.Symbol.Market.String(),
		r.Symbol.Name, r.ClientOrderID, string(body), previous, end.hash)
	if err != nil {
		return err
	}
	return derive(&j.tables, end.sequence, r)
}

// failed rolls a failed transaction back and classifies the failure. It checks that the journal still
// ends where it ended before, so that a retry appends nothing twice. After a failed write or sync that
// check proves nothing: what a read shows then may not be on the disk.
func (j *Journal) failed(ctx context.Context, cause error) error {
	_, rollback := j.writer.ExecContext(ctx, "ROLLBACK") // SQLite may have rolled back itself, which makes this an error
	sequence, hash, err := tail(ctx, j.writer)
	switch code := resultCode(cause) & codePrimary; {
	case code == codeIO || code == codeCorrupt || code == codeNotDB || errors.Is(cause, sql.ErrConnDone):
		j.broken = &brokenError{cause}
	case err != nil:
		j.broken = &brokenError{errors.Join(cause, rollback, err)}
	case sequence != j.sequence || hash != j.hash:
		j.broken = &brokenError{fmt.Errorf("%w; the journal ends with record %d, not %d", cause, sequence, j.sequence)}
	case code == codeFull:
		return fmt.Errorf("%w: %w", ErrFull, cause)
	default:
		return cause
	}
	return j.broken
}

func resultCode(err error) int {
	var coded *sqlite.Error
	if errors.As(err, &coded) {
		return coded.Code()
	}
	return 0
}

// Keep writes the journal's head if it is due, and takes the disk reserve again once there is room. It
// returns why the reserve is missing; empty if it is not. It implements runtime.Keeper.
func (j *Journal) Keep(context.Context) (low string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.keepHead(false)
	return j.reserve.refill()
}
