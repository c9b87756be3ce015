// Package rehearsal shows what a start would do now and what was decided in the past; it sends nothing.
package rehearsal

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"botd/configs"
	"botd/configs/engineconfig"
	"botd/internal/failure"
	"botd/reconcile"
	"botd/reconcile/journal"
	"botd/reconcile/record"
	"botd/runtime"
	"botd/runtime/engine"
	"botd/runtime/gateway"
	"botd/runtime/view"
)

// patience bounds how long a rehearsal reads before it returns its results so far.
const patience = 20 * time.Second

// nowhere is a journal that stores nothing.
type nowhere struct{}

func (nowhere) Append(context.Context, []record.Record) error { return nil }

// Run starts an engine that decides and sends nothing, reads everything once, and returns previews
// of its strategies' next ticks.
func Run(ctx context.Context, config *configs.Config) ([]view.TickPreview, error) {
	directory := filepath.Join(config.DataDir, string(config.Mode))
	v, err := gateway.OpenCopy(ctx, config, directory)
	if err != nil {
		return nil, err
	}
	defer v.Stop()
	tracker, err := journalled(ctx, config, directory)
	if err != nil {
		return nil, err
	}
	account, err := engineconfig.Account(config, tracker, v.Symbol)
	if err != nil {
		return nil, err
	}
	account.Rehearse = true
	machine, err := engine.New(account, tracker)
	if err != nil {
		return nil, failure.Wrap(failure.Config, err)
	}
	return readOnce(ctx, machine, v)
}

// readOnce drives the engine until everything was read once.
func readOnce(ctx context.Context, machine *engine.Engine, v *gateway.Copy) ([]view.TickPreview, error) {
	limited, enough := context.WithTimeout(ctx, patience)
	defer enough()
	var all []view.TickPreview
	driver := runtime.New(
		runtime.Config{Machine: machine, Venue: gateway.ReadOnly{Venue: v.Trading}, Journal: nowhere{}, Clock: v.Clock, Beat: func(int64) {
			if limited.Err() != nil {
				return
			}
			known := true
			all = nil
			for _, o := range machine.PreviewTicks() {
				known = known && o.Seen > 0 && o.Last > 0 && machine.Tracker().Symbol(o.Symbol.Key()).Read()
				all = append(all, view.TickPreviewOf(&o))
			}
			if known {
				enough()
			}
		}},
	)
	if err := driver.Run(limited); err != nil {
		return nil, failure.Wrap(failure.Internal, err)
	}
	return all, context.Cause(ctx)
}

// journalled replays the journal without taking its lock from a daemon.
func journalled(ctx context.Context, config *configs.Config, directory string) (*reconcile.Tracker, error) {
	tracker := reconcile.NewTracker(engineconfig.Bounds(config))
	path := filepath.Join(directory, journal.FileName)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return tracker, nil
	}
	store, err := journal.Read(ctx, path)
	if err != nil {
		return nil, journal.Failure(err)
	}
	defer store.Close()
	checkpoint, err := store.Checkpoint(ctx) // of a journal with segments, which may be elsewhere
	apply := func(r *record.Record) error { tracker.Apply(r); return nil }
	if err == nil && checkpoint == nil {
		err = store.Replay(ctx, apply)
	} else if err == nil {
		if tracker, err = reconcile.Restore(engineconfig.Bounds(config), &checkpoint.Checkpoint); err == nil {
			err = store.ReplayAfter(ctx, checkpoint, apply)
		}
	}
	if err != nil {
		return nil, failure.New(failure.Data, "botd journal verify reports more", "replay the journal: %w", err)
	}
	return tracker, nil
}
