package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"botd/reconcile/record"
	"botd/runtime/engine"
)

// write is one batch for the journal.
type write struct {
	records  []record.Record
	sequence int64
}

// durability is somebody who waits for a batch to be durable.
type durability struct {
	batch int64
	told  chan<- error
}

// handOver gives the engine's records to the writer. The engine hands out one
// batch at a time, which is what keeps their order when an append fails.
func (d *Driver) handOver() {
	if d.writing {
		panic("runtime: the engine handed out records while others are being written")
	}
	d.writing = true
	d.batches++
	d.writes <- write{slices.Clone(d.effects.Records), d.effects.Sequence}
}

// write makes batches durable, one after the other. An append that leaves the
// journal in doubt ends the run: nothing is sent until a start has replayed it.
func (d *Driver) write(ctx context.Context) (err error) {
	defer catch(&err)
	lasting := context.WithoutCancel(ctx)
	keeper := newKeeping(d.config.Journal)
	defer keeper.stop()
	d.lookAfterDisk(ctx, &keeper) // before the first batch: a disk that is full from the start has no room for openings
	for {
		var batch write
		select {
		case batch = <-d.writes:
		case <-keeper.due:
			d.lookAfterDisk(ctx, &keeper)
			continue
		case <-ctx.Done():
			select { // what was handed over last is still written
			case batch = <-d.writes:
				return d.config.Journal.Append(lasting, batch.records)
			default:
				return nil
			}
		}
		err := d.config.Journal.Append(lasting, batch.records)
		if err != nil && broken(err) {
			return fmt.Errorf("the journal is in doubt, nothing more is sent: %w", err)
		}
		d.lookAfterDisk(ctx, &keeper) // the batch may have taken the last room
		select {
		case d.events <- &engine.EventJournaled{Sequence: batch.sequence, Err: err}:
		case <-ctx.Done():
			return err
		}
	}
}

// lookAfterDisk has the journal keep its disk, and tells the engine when what it
// says of it has changed.
func (d *Driver) lookAfterDisk(ctx context.Context, k *keeping) {
	if k.keep == nil {
		return
	}
	why := k.keep(context.WithoutCancel(ctx))
	if why == k.low {
		return
	}
	k.low = why
	select {
	case d.events <- &engine.EventDisk{Why: why}:
	case <-ctx.Done():
	}
}

// keepEvery is how often a journal looks after its disk.
const keepEvery = time.Second

// keeping asks a journal that can to look after its disk, between appends.
type keeping struct {
	keep func(context.Context) (low string) // nil for a journal that has no disk to look after
	low  string                             // what it said last
	due  <-chan time.Time                   // never without one
	stop func()
}

func newKeeping(journal Journal) keeping {
	keeper, able := journal.(Keeper)
	if !able {
		return keeping{stop: func() {}}
	}
	ticker := time.NewTicker(keepEvery)
	return keeping{keep: keeper.Keep, due: ticker.C, stop: ticker.Stop}
}

// broken reports whether the journal asks for the process to end.
func broken(err error) bool {
	var b interface{ Broken() bool }
	return errors.As(err, &b) && b.Broken()
}

// Send gives the engine an event from outside, such as a halt, and returns when
// what the engine recorded of it is durable. ErrUnwritten says that it is in
// force, but not yet durable; any other error that it was not taken.
func (d *Driver) Send(ctx context.Context, event engine.Event) error {
	told := make(chan error, 1)
	if err := d.Query(ctx, func() { d.give(event, told) }); err != nil {
		return err
	}
	select {
	case err := <-told:
		return err
	case <-ctx.Done():
	case <-d.ended:
		select { // it may have been told just before
		case err := <-told:
			return err
		default:
		}
	}
	return ErrUnwritten
}

// give handles an event and finds out which batch holds what it recorded: the
// one it was handed out with, or the next when one is being written.
func (d *Driver) give(event engine.Event, told chan<- error) {
	before, writing := d.batches, d.writing
	d.handle(event)
	switch {
	case d.batches > before:
		d.durable = append(d.durable, durability{d.batches, told})
	case writing:
		d.durable = append(d.durable, durability{before + 1, told})
	case d.failing != nil:
		told <- unwritten(d.failing)
	default:
		told <- nil // nothing was recorded
	}
}

// tellDurable answers who waited for batches up to the one written; all of them
// when nothing more was handed out, or when it could not be written.
func (d *Driver) tellDurable(written int64, err error) {
	waiting := d.durable[:0]
	for _, w := range d.durable {
		switch {
		case err != nil:
			w.told <- unwritten(err)
		case w.batch <= written || !d.writing:
			w.told <- nil
		default:
			waiting = append(waiting, w)
		}
	}
	d.durable = waiting
}

func unwritten(err error) error { return fmt.Errorf("%w: %w", ErrUnwritten, err) }
