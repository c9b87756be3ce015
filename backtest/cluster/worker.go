package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"botd/backtest"
	"botd/backtest/inputs"
	"botd/backtest/sweeps"
	"botd/internal/failure"
)

// Worker runs trials that a server hands out, until it is stopped.
type Worker struct {
	Access  Access
	Program string // hash of this program
	Version string
	ID      string        // unique among workers
	Slots   int           // trials at a time
	Idle    time.Duration // ends after this long without work; 0 for never
	Cache   string        // directory of the received candles
	Files   func() inputs.Files
	Log     func(format string, arguments ...any)

	store   *store
	since   time.Time
	trials  atomic.Int64
	busy    atomic.Int64 // slots with a message
	worked  atomic.Int64 // when a slot last had a message, in milliseconds
	refused atomic.Value // string

	mu     sync.Mutex // guards the fields below
	sweeps map[string]*Sweep
	loaded map[string]*loaded
}

// loaded is a sweep that is ready for its trials.
type loaded struct {
	mu      sync.Mutex // guards trials, which remembers candles
	trials  *inputs.Trials
	splitMS int64
	folder  string
}

// maxLoaded bounds the sweeps whose candles a worker has in memory.
const maxLoaded = 4

// Run works until ctx ends. Then each slot finishes the trial under way and returns the remaining ones, and Run
// returns.
func (w *Worker) Run(ctx context.Context) error {
	connection, err := w.Access.connect(ctx, "botd worker "+w.ID, nil)
	if err != nil {
		return err
	}
	defer connection.Close()
	if w.store, err = open(ctx, connection); err != nil {
		return failure.Wrap(failure.Unavailable, err)
	}
	w.since, w.sweeps, w.loaded = time.Now().UTC(), map[string]*Sweep{}, map[string]*loaded{}
	w.refused.Store("")
	if err := w.admitted(ctx); err != nil {
		return err
	}
	consumer, err := w.store.consumer(ctx, w.Program)
	if err != nil {
		return failure.Wrap(failure.Unavailable, err)
	}
	defer w.forget()
	w.Log("worker %s: %d at a time, program %s", w.ID, w.Slots, w.Program[:16])
	ctx, end := context.WithCancel(ctx)
	defer end()
	var group sync.WaitGroup
	group.Go(func() { w.watch(ctx) })
	group.Go(func() { w.beats(ctx) })
	group.Go(func() { w.idles(ctx, end) })
	for range w.Slots {
		group.Go(func() { w.slot(ctx, consumer) })
	}
	group.Wait()
	w.drop()
	// The last rows of the slots leave before the process ends.
	flushed, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := connection.FlushWithContext(flushed); err != nil {
		w.Log("the server is unreachable; results that it has not received are computed again")
	}
	w.Log("worker %s ends: %d trials", w.ID, w.trials.Load())
	return nil
}

// admitted returns an error when every sweep under way belongs to another program.
func (w *Worker) admitted(ctx context.Context) error {
	all, err := w.store.list(ctx)
	if err != nil {
		return failure.Wrap(failure.Unavailable, err)
	}
	refused := ""
	for _, found := range all {
		if !found.alive(time.Now()) {
			continue
		}
		if found.Program == w.Program {
			return nil
		}
		refused = w.refusal(found)
	}
	if refused != "" {
		return failure.New(failure.Config, "the rows of two programs are not one sweep: run the same botd, on the same architecture, everywhere", "%s", refused)
	}
	return nil
}

func (w *Worker) refusal(found *Sweep) string {
	return fmt.Sprintf("the sweep %s is of botd %s (program %s), this worker is botd %s (program %s)", found.Name, found.Version, found.Program[:16],
		w.Version, w.Program[:16])
}

// watch follows the state of all sweeps.
func (w *Worker) watch(ctx context.Context) {
	for ctx.Err() == nil {
		watcher, err := w.store.sweeps.WatchAll(ctx, jetstream.IgnoreDeletes())
		if err != nil {
			pause(ctx, time.Second)
			continue
		}
		for entry := range watcher.Updates() {
			if entry == nil {
				continue // the end of the initial values
			}
			found, err := sweepOf(entry.Value())
			if err != nil {
				continue
			}
			w.mu.Lock()
			before, known := w.sweeps[entry.Key()]
			w.sweeps[entry.Key()] = found
			w.mu.Unlock()
			if found.Program != w.Program && found.State == Running && (!known || before.State != Running) {
				w.refused.Store(w.refusal(found))
				w.Log("refused: %s", w.refusal(found))
			}
		}
	}
}

// ended reports whether a sweep needs no more trials. A completed sweep may have been resumed, so ended reads
// the server's record again.
func (w *Worker) ended(ctx context.Context, key string) bool {
	over := func(found *Sweep) bool {
		return found.State == Canceled || found.State == Failed || found.State == Done
	}
	w.mu.Lock()
	found, known := w.sweeps[key]
	w.mu.Unlock()
	if !known || !over(found) {
		return false
	}
	fresh, _, err := w.store.sweep(ctx, key)
	return err != nil || over(fresh)
}

// idles ends the worker after a long time without work.
func (w *Worker) idles(ctx context.Context, end context.CancelFunc) {
	w.worked.Store(time.Now().UnixMilli())
	for w.Idle > 0 && pause(ctx, min(w.Idle/4, time.Second)) {
		if w.busy.Load() == 0 && time.Since(time.UnixMilli(w.worked.Load())) >= w.Idle {
			w.Log("nothing to do for %s", w.Idle)
			end()
		}
	}
}

// beats publishes that the worker is alive.
func (w *Worker) beats(ctx context.Context) {
	for {
		text, err := json.Marshal(&WorkerStatus{ID: w.ID, Program: w.Program, Version: w.Version, Slots: w.Slots, Trials: w.trials.Load(),
			Refused: w.refused.Load().(string), Since: w.since, Updated: time.Now().UTC()})
		if err == nil {
			_, err = w.store.workers.Put(ctx, keyOf(w.ID), text)
		}
		if err != nil && ctx.Err() == nil {
			w.Log("cannot report that this worker is alive: %v", err)
		}
		if !pause(ctx, beat) {
			return
		}
	}
}

// forget removes the worker from the list.
func (w *Worker) forget() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_ = w.store.workers.Delete(ctx, keyOf(w.ID)) // it also expires after a while
}

// pause waits. It returns false when ctx ends first.
func pause(ctx context.Context, least time.Duration) bool {
	select {
	case <-time.After(least):
		return true
	case <-ctx.Done():
		return false
	}
}

// slot processes messages one after the other.
func (w *Worker) slot(ctx context.Context, consumer jetstream.Consumer) {
	for ctx.Err() == nil {
		batch, err := consumer.Fetch(1, jetstream.FetchContext(ctx))
		if err != nil {
			if ctx.Err() == nil && !errors.Is(err, nats.ErrTimeout) {
				w.Log("no work can be fetched: %v", err)
			}
			if !pause(ctx, time.Second) {
				return
			}
			continue
		}
		for m := range batch.Messages() {
			w.busy.Add(1)
			w.work(ctx, m)
			w.worked.Store(time.Now().UnixMilli())
			w.busy.Add(-1)
		}
	}
}

// work runs the trials of a message, and extends its lease meanwhile.
func (w *Worker) work(ctx context.Context, m jetstream.Msg) {
	var request message
	if err := json.Unmarshal(m.Data(), &request); err != nil {
		w.Log("a message that is not botd's is dropped: %v", err)
		_ = m.Term()
		return
	}
	if request.Not == w.ID { // another worker must verify the rows
		_ = m.NakWithDelay(time.Second)
		return
	}
	held, release := context.WithCancel(context.WithoutCancel(ctx))
	defer release()
	go func() {
		for pause(held, ackWait/3) {
			_ = m.InProgress() // the next one compensates for a lost one
		}
	}()
	deliveries := uint64(1)
	if about, err := m.Metadata(); err == nil {
		deliveries = about.NumDelivered
	}
	if err := w.runJobs(ctx, held, &request, deliveries); err != nil {
		w.Log("%v; the work goes back", err)
		if w.giveBack(held, &request) != nil { // the server is unreachable, and will redeliver the message
			return
		}
		pause(ctx, silent/2) // lets other workers go first
	}
	_ = m.Ack() // if it is lost, the work is done again with the same rows
}

// runJobs runs the trials of a message one after the other. When ctx ends it returns the rest to the queue. An error
// concerns the worker itself.
func (w *Worker) runJobs(ctx, held context.Context, request *message, deliveries uint64) error {
	for i, one := range request.Jobs {
		if w.ended(held, request.Sweep) {
			return nil
		}
		if ctx.Err() != nil {
			return w.giveBack(held, &message{Sweep: request.Sweep, Jobs: request.Jobs[i:], Not: request.Not})
		}
		if deliveries > 1 {
			if _, err := w.store.rows.Get(held, request.Sweep+kindOf(request)+one.Job); err == nil {
				continue // an earlier worker of this message has run it
			}
		}
		made := &row{Worker: w.ID}
		if deliveries > maxDelivered && request.Not == "" {
			made.Failure = fmt.Sprintf("it was handed out %d times, and no worker returned a result: does it need more memory than they have?", maxDelivered)
		} else if err := w.trial(held, request.Sweep, &one, made); err != nil {
			return err
		}
		if err := w.put(held, request, &one, made); err != nil {
			return err
		}
		w.trials.Add(1)
	}
	return nil
}

// giveBack returns trials to the queue that were not begun.
func (w *Worker) giveBack(ctx context.Context, rest *message) error {
	text, err := json.Marshal(rest)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_, err = w.store.js.Publish(ctx, subjectOf(w.Program, rest.Sweep), text)
	return err
}

// trial runs one job. The row records errors of the trial itself.
func (w *Worker) trial(ctx context.Context, key string, one *job, made *row) error {
	ready, err := w.load(ctx, key)
	if err != nil {
		return err
	}
	trial, refused, err := ready.trial(one)
	if trial.Job != one.Job { // the sweep may have been resumed with other files
		w.unload(key, ready)
		if ready, err = w.load(ctx, key); err != nil {
			return err
		}
		trial, refused, err = ready.trial(one)
	}
	switch {
	case err != nil:
		made.Failure = err.Error()
	case refused != "":
		made.Failure = "the worker's strategy refuses settings that the coordinator's accepted: " + refused
	case trial.Job != one.Job:
		made.Failure = fmt.Sprintf("the worker %s computes another job hash for %s: its inputs differ", w.ID, one.Choice.Text())
	}
	if made.Failure != "" {
		return nil
	}
	began := time.Now()
	if err := trial.Run(ctx, &ready.trials.Config, ready.splitMS); err != nil {
		made.Failure = err.Error()
		return nil
	}
	made.Seconds = time.Since(began).Seconds()
	made.Trial, err = json.Marshal(&trial)
	return err
}

func (l *loaded) trial(one *job) (backtest.Trial, string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.trials.Trial(one.Choice)
}

// unload drops a sweep. A later trial loads it again.
func (w *Worker) unload(key string, old *loaded) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.loaded[key] == old {
		delete(w.loaded, key)
		_ = os.RemoveAll(old.folder)
	}
}

// kindOf returns the kind of key for the rows of a message.
func kindOf(request *message) string {
	if request.Not != "" {
		return ".check."
	}
	return ".row."
}

// put stores a row. The first row of a job counts, and any further one must equal it. If it differs, the coordinator
// finds both.
func (w *Worker) put(ctx context.Context, request *message, one *job, made *row) error {
	text, err := json.Marshal(made)
	if err != nil {
		return err
	}
	kind := kindOf(request)
	if made.Failure != "" {
		kind = ".failed."
	}
	patient, cancel := context.WithTimeout(ctx, away)
	defer cancel()
	for {
		_, err = w.store.rows.Create(patient, request.Sweep+kind+one.Job, text)
		if err == nil || errors.Is(err, jetstream.ErrKeyExists) {
			break
		}
		if w.ended(patient, request.Sweep) || !pause(patient, time.Second) {
			return fmt.Errorf("store the row of %s: %w", one.Choice.Text(), err)
		}
	}
	if err == nil || kind != ".row." {
		return nil
	}
	there, err := w.store.rows.Get(ctx, request.Sweep+".row."+one.Job)
	if err != nil {
		return fmt.Errorf("compare the row of %s: %w", one.Choice.Text(), err)
	}
	var first row
	if err := json.Unmarshal(there.Value(), &first); err == nil && bytes.Equal(first.Trial, made.Trial) {
		return nil
	}
	made.First = &first
	if text, err = json.Marshal(made); err == nil {
		_, err = w.store.rows.Put(ctx, request.Sweep+".check."+one.Job, text)
	}
	return err
}

// drop unloads all sweeps. Trials under way continue with the data in memory.
func (w *Worker) drop() {
	for key, old := range w.loaded {
		_ = os.RemoveAll(old.folder)
		delete(w.loaded, key)
	}
}

// load prepares a sweep: its files, its strategy, its candles.
func (w *Worker) load(ctx context.Context, key string) (*loaded, error) {
	w.mu.Lock()
	ready, known := w.loaded[key]
	if !known {
		if len(w.loaded) >= maxLoaded {
			w.drop()
		}
		ready = &loaded{}
		w.loaded[key] = ready
	}
	w.mu.Unlock()
	ready.mu.Lock()
	defer ready.mu.Unlock()
	if ready.trials != nil {
		return ready, nil
	}
	found, _, err := w.store.sweep(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("read the sweep: %w", err)
	}
	if err := w.ready(ctx, found, ready); err != nil {
		return nil, fmt.Errorf("make the sweep %s ready: %w", found.Name, err)
	}
	return ready, nil
}

func (w *Worker) ready(ctx context.Context, found *Sweep, into *loaded) (err error) {
	if err := os.MkdirAll(w.Cache, 0o700); err != nil {
		return err
	}
	if into.folder, err = os.MkdirTemp(w.Cache, "sweep-*"); err != nil {
		return err
	}
	files := w.Files()
	store := cache{directory: filepath.Join(w.Cache, "files")}
	received, err := store.place(ctx, w.store, found, into.folder, &files)
	if err != nil {
		return err
	}
	split, err := sweeps.ParseSplit(found.Spec.Split)
	if err != nil {
		return err
	}
	plan, err := sweeps.NewPlan(found.Spec, split)
	if err != nil {
		return err
	}
	trials, err := files.NewTrials(plan.Axes(), w.Program, split, plan.StopWhen())
	if err != nil {
		return err
	}
	if into.splitMS, err = trials.Config.SplitAt(split); err != nil {
		return err
	}
	into.trials = trials
	w.Log("sweep %s is ready: %d bytes received, %d candles", found.Name, received, trials.Config.Legs[0].Tape.Candles.Len())
	return nil
}
