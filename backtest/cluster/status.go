package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"botd/backtest"
	"botd/backtest/sweeps"
	"botd/internal/failure"
)

// list returns the sweeps on the server, the most recently updated first.
func (s *store) list(ctx context.Context) (all []*Sweep, err error) {
	err = forEach(ctx, s.sweeps, func(entry jetstream.KeyValueEntry) error {
		found, err := sweepOf(entry.Value())
		if err == nil {
			all = append(all, found)
		}
		return err
	})
	slices.SortFunc(all, func(a, b *Sweep) int { return b.Updated.Compare(a.Updated) })
	return all, err
}

// present returns the live workers by id.
func (s *store) present(ctx context.Context) (map[string]*WorkerStatus, error) {
	all := map[string]*WorkerStatus{}
	err := forEach(ctx, s.workers, func(entry jetstream.KeyValueEntry) error {
		var w WorkerStatus
		if err := json.Unmarshal(entry.Value(), &w); err != nil || len(w.Program) < 16 {
			return foreign("a worker", err)
		}
		if time.Since(entry.Created()) < silent {
			all[w.ID] = &w
		}
		return nil
	})
	return all, err
}

// forEach calls a function for every entry of a bucket.
func forEach(ctx context.Context, bucket jetstream.KeyValue, do func(jetstream.KeyValueEntry) error) error {
	watcher, err := bucket.WatchAll(ctx, jetstream.IgnoreDeletes())
	if err != nil {
		return err
	}
	defer func() { _ = watcher.Stop() }()
	for {
		select {
		case entry := <-watcher.Updates():
			if entry == nil {
				return ctx.Err() // the end of the initial values
			}
			if err := do(entry); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// View is a connection that only reads, or cancels.
type View struct{ store *store }

// Open connects to a server.
func Open(ctx context.Context, access Access) (*View, error) {
	connection, err := access.connect(ctx, "botd sweep", nil)
	if err != nil {
		return nil, err
	}
	s, err := open(ctx, connection)
	if err != nil {
		connection.Close()
		return nil, failure.Wrap(failure.Unavailable, err)
	}
	return &View{store: s}, nil
}

// Close ends the connection.
func (v *View) Close() { v.store.connection.Close() }

// Sweeps returns the sweeps on the server. A running one without a live coordinator is interrupted.
func (v *View) Sweeps(ctx context.Context) ([]*Sweep, error) {
	all, err := v.store.list(ctx)
	for _, one := range all {
		if one.State == Running && !one.alive(time.Now()) {
			one.State = Interrupted
		}
	}
	return all, err
}

// Workers returns the live workers in order of their ids.
func (v *View) Workers(ctx context.Context) ([]*WorkerStatus, error) {
	found, err := v.store.present(ctx)
	return slices.SortedFunc(maps.Values(found), func(a, b *WorkerStatus) int { return strings.Compare(a.ID, b.ID) }), err
}

// Rows returns a sweep with its trials so far.
func (v *View) Rows(ctx context.Context, name string) (*Sweep, []backtest.Trial, error) {
	found, _, err := v.store.sweep(ctx, keyOf(name))
	if err != nil {
		return nil, nil, err
	}
	var trials []backtest.Trial
	watcher, err := v.store.rows.Watch(ctx, keyOf(name)+".row.*", jetstream.IgnoreDeletes())
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = watcher.Stop() }()
	for {
		select {
		case entry := <-watcher.Updates():
			if entry == nil {
				return found, trials, nil
			}
			var made row
			var t backtest.Trial
			if err := errors.Join(json.Unmarshal(entry.Value(), &made), json.Unmarshal(made.Trial, &t)); err != nil || t.Seen == nil {
				return nil, nil, foreign("a row", err)
			}
			trials = append(trials, t)
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
}

// Cancel ends a sweep, wherever its coordinator runs. No more trials are handed out, trials under way end, and ended
// trials stay.
func (v *View) Cancel(ctx context.Context, name string) error {
	key := keyOf(name)
	for {
		found, revision, err := v.store.sweep(ctx, key)
		if err != nil {
			return err
		}
		if found.State != Running && found.State != Interrupted {
			return failure.New(failure.Usage, "botd sweep list --on shows the state of each", "the sweep %s is %s", name, found.State)
		}
		found.State, found.Finished = Canceled, new(time.Now().UTC())
		text, err := json.Marshal(found)
		if err != nil {
			return err
		}
		if _, err = v.store.sweeps.Update(ctx, key, text, revision); errors.Is(err, jetstream.ErrKeyExists) {
			continue // the coordinator stored its progress at the same moment
		}
		return errors.Join(err, v.store.jobs.Purge(ctx, jetstream.WithPurgeSubject("botd.jobs.*."+key)))
	}
}

var _ sweeps.Runner = (*Coordinator)(nil)
