package runtime

import (
	"context"
	"errors"
	"fmt"
	"time"

	"botd/runtime/engine"
)

// durability is a caller of Send that waits for a batch.
type durability struct {
	batch  int64
	answer chan<- error
}

// checkDisk has the journal manage its disk reserve, and passes the engine an event when the result
// changes.
func (d *Driver) checkDisk(ctx context.Context, c *diskCheck) {
	if c.check == nil {
		return
	}
	now := engine.EventDisk{Reason: c.check(context.WithoutCancel(ctx))}
	if c.watch != nil {
		if lost := c.watch(); lost != "" {
			now = engine.EventDisk{Reason: lost, Lost: true}
		}
	}
	if now == c.last {
		return
	}
	c.last = now
	select {
	case d.events <- &now:
	case <-ctx.Done():
	}
}

// diskCheckEvery is how often a journal checks its disk.
const diskCheckEvery = time.Second

// diskCheck calls the journal between appends: to manage its disk reserve if it has one, and to
// check its files if they may be lost.
type diskCheck struct {
	check func(context.Context) (low string) // nil for a journal without a reserve
	watch func() (lost string)               // nil for one whose files are not watched
	last  engine.EventDisk                   // the last result passed to the engine
	due   <-chan time.Time                   // never without a reserve
	stop  func()
}

func newDiskCheck(journal Journal) diskCheck {
	keeper, able := journal.(ReservingJournal)
	if !able {
		return diskCheck{stop: func() {}}
	}
	ticker := time.NewTicker(diskCheckEvery)
	check := diskCheck{check: keeper.Keep, due: ticker.C, stop: ticker.Stop}
	if watched, able := journal.(MonitoredJournal); able {
		check.watch = watched.Watch
	}
	return check
}

// broken reports whether the journal's error requires the process to end.
func broken(err error) bool {
	var b interface{ Broken() bool }
	return errors.As(err, &b) && b.Broken()
}

// Send passes the engine an event from outside, such as a halt, and returns once the records that
// follow from it are durable. ErrNotDurable means that the event is in force but not yet durable;
// any other error means that it was not taken.
func (d *Driver) Send(ctx context.Context, event engine.Event) error {
	answer := make(chan error, 1)
	if err := d.Query(ctx, func() { d.give(event, answer) }); err != nil {
		return err
	}
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
	case <-d.ended:
		select { // the answer may have come just before
		case err := <-answer:
			return err
		default:
		}
	}
	return ErrNotDurable
}

// give handles an event and finds the batch that holds its records: the one handed out with
// it, or the next one while another is being written.
func (d *Driver) give(event engine.Event, answer chan<- error) {
	d.first()
	before, writing := d.batches, d.writing
	d.handle(event)
	switch {
	case d.batches > before:
		d.durable = append(d.durable, durability{d.batches, answer})
	case writing:
		d.durable = append(d.durable, durability{before + 1, answer})
	case d.failing != nil:
		answer <- unwritten(d.failing)
	default:
		answer <- nil // nothing was recorded
	}
}

// answerDurable answers the callers of Send whose batch is written: those up to the given
// one, or all when no batch follows or the append failed.
func (d *Driver) answerDurable(written int64, err error) {
	pending := d.durable[:0]
	for _, w := range d.durable {
		switch {
		case err != nil:
			w.answer <- unwritten(err)
		case w.batch <= written || !d.writing:
			w.answer <- nil
		default:
			pending = append(pending, w)
		}
	}
	d.durable = pending
}

func unwritten(err error) error { return fmt.Errorf("%w: %w", ErrNotDurable, err) }
