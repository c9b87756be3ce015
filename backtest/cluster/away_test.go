package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"botd/backtest"
	"botd/backtest/sweeps"
	"botd/internal/failure"
)

// These tests lose the server, or the answer to one request: no work is lost, and the error names the cause.

// errAway is the error of a server that does not answer.
var errAway = errors.New("the server is away")

// flaky is a bucket that does not answer some requests.
type flaky struct {
	jetstream.KeyValue
	put, get, watch func() error // called before the request; nil for one that is answered
	mute            bool         // what is watched never arrives
}

// muted is a watch to which nothing arrives.
type muted struct{ jetstream.KeyWatcher }

func (muted) Updates() <-chan jetstream.KeyValueEntry { return nil }

func asked(before func() error) error {
	if before == nil {
		return nil
	}
	return before()
}

func fails() error { return errAway }

func (f *flaky) Create(ctx context.Context, key string, value []byte, options ...jetstream.KVCreateOpt) (uint64, error) {
	if err := asked(f.put); err != nil {
		return 0, err
	}
	return f.KeyValue.Create(ctx, key, value, options...)
}

func (f *flaky) Put(ctx context.Context, key string, value []byte) (uint64, error) {
	if err := asked(f.put); err != nil {
		return 0, err
	}
	return f.KeyValue.Put(ctx, key, value)
}

func (f *flaky) Update(ctx context.Context, key string, value []byte, revision uint64) (uint64, error) {
	if err := asked(f.put); err != nil {
		return 0, err
	}
	return f.KeyValue.Update(ctx, key, value, revision)
}

func (f *flaky) Get(ctx context.Context, key string) (jetstream.KeyValueEntry, error) {
	if err := asked(f.get); err != nil {
		return nil, err
	}
	return f.KeyValue.Get(ctx, key)
}

func (f *flaky) Watch(ctx context.Context, keys string, options ...jetstream.WatchOpt) (jetstream.KeyWatcher, error) {
	if err := asked(f.watch); err != nil {
		return nil, err
	}
	watcher, err := f.KeyValue.Watch(ctx, keys, options...)
	if f.mute {
		watcher = muted{watcher}
	}
	return watcher, err
}

func (f *flaky) WatchAll(ctx context.Context, options ...jetstream.WatchOpt) (jetstream.KeyWatcher, error) {
	if err := asked(f.watch); err != nil {
		return nil, err
	}
	watcher, err := f.KeyValue.WatchAll(ctx, options...)
	if f.mute {
		watcher = muted{watcher}
	}
	return watcher, err
}

// flakyJobs is a queue that does not report its content, or cannot be emptied.
type flakyJobs struct {
	jetstream.Stream
	info, purge func() error
}

func (f *flakyJobs) Info(ctx context.Context, options ...jetstream.StreamInfoOpt) (*jetstream.StreamInfo, error) {
	if err := asked(f.info); err != nil {
		return nil, err
	}
	return f.Stream.Info(ctx, options...)
}

func (f *flakyJobs) Purge(ctx context.Context, options ...jetstream.StreamPurgeOpt) error {
	return errors.Join(asked(f.purge), f.Stream.Purge(ctx, options...))
}

// TestRequestsReportAnUnreachableServer lists sweeps, workers and rows, and cancels a sweep, over a closed connection.
func TestRequestsReportAnUnreachableServer(t *testing.T) {
	t.Parallel()
	server, s := served(t)
	recorded(t, s, &Sweep{Name: "x", State: Running, Program: program, Updated: time.Now()})
	connection, err := (&Access{}).connect(t.Context(), "test", server)
	if err != nil {
		t.Fatal(err)
	}
	lost, err := open(t.Context(), connection)
	if err != nil {
		t.Fatal(err)
	}
	connection.Close()
	if _, err := open(t.Context(), connection); !errors.Is(err, nats.ErrConnectionClosed) {
		t.Errorf("open: want the end of the connection, have %v", err)
	}
	for name, call := range map[string]func(v *View) error{
		"sweeps":  func(v *View) error { _, err := v.Sweeps(t.Context()); return err },
		"workers": func(v *View) error { _, err := v.Workers(t.Context()); return err },
		"rows":    func(v *View) error { _, _, err := v.Rows(t.Context(), "x"); return err },
		"cancel":  func(v *View) error { return v.Cancel(t.Context(), "x") },
	} {
		if err := call(&View{store: lost}); err == nil || errors.Is(err, sweeps.ErrNone) {
			t.Errorf("%s: want the end of the connection, have %v", name, err)
		}
	}
	one := *s
	one.rows = &flaky{KeyValue: s.rows, watch: fails}
	if _, _, err := (&View{store: &one}).Rows(t.Context(), "x"); !errors.Is(err, errAway) {
		t.Errorf("rows that are not listed: have %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if all, err := (&View{store: s}).Sweeps(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("a list that is not waited for: have %v, %v", all, err)
	}
	one.sweeps, one.rows = &flaky{KeyValue: s.sweeps, mute: true}, &flaky{KeyValue: s.rows, mute: true}
	for name, call := range map[string]func(ctx context.Context, v *View) error{
		"sweeps": func(ctx context.Context, v *View) error { _, err := v.Sweeps(ctx); return err },
		"rows":   func(ctx context.Context, v *View) error { _, _, err := v.Rows(ctx, "x"); return err },
	} {
		within, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		if err := call(within, &View{store: &one}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s that do not arrive: want the end of the time, have %v", name, err)
		}
		cancel()
	}
}

// await waits until a condition holds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for began := time.Now(); !holds(); runtime.Gosched() {
		if time.Since(began) > time.Minute {
			t.Fatalf("want %s", what)
		}
	}
}

// TestACancelIsRepeatedWhereTheCoordinatorStoredItsProgress stores the progress at the moment of the cancel.
func TestACancelIsRepeatedWhereTheCoordinatorStoredItsProgress(t *testing.T) {
	t.Parallel()
	_, s := served(t)
	recorded(t, s, &Sweep{Name: "x", State: Running, Program: program, Ended: 3})
	recorded(t, s, &Sweep{Name: "waits", State: Interrupted, Program: program})
	one, times := *s, 0
	one.sweeps = &flaky{KeyValue: s.sweeps, put: func() error {
		if times++; times == 1 {
			recorded(t, s, &Sweep{Name: "x", State: Running, Program: program, Ended: 4})
		}
		return nil
	}}
	if err := (&View{store: &one}).Cancel(t.Context(), "x"); err != nil || times != 2 {
		t.Fatalf("want it canceled with the second try, have %d, %v", times, err)
	}
	if found, _, err := s.sweep(t.Context(), keyOf("x")); err != nil || found.State != Canceled || found.Ended != 4 {
		t.Errorf("want the progress kept, have %+v, %v", found, err)
	}
	if err := (&View{store: s}).Cancel(t.Context(), "waits"); err != nil {
		t.Errorf("an interrupted one: want it canceled, have %v", err)
	}
	one.sweeps = &flaky{KeyValue: s.sweeps, put: fails}
	recorded(t, s, &Sweep{Name: "y", State: Running, Program: program})
	if err := (&View{store: &one}).Cancel(t.Context(), "y"); !errors.Is(err, errAway) {
		t.Errorf("a record that is not stored: have %v", err)
	}
}

// TestAServerWithoutItsStoreIsNamed uses a server that stores nothing: for listing, working and coordinating.
func TestAServerWithoutItsStoreIsNamed(t *testing.T) {
	t.Parallel()
	storeless, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	storeless.Start()
	defer storeless.Shutdown()
	access := Access{URL: storeless.ClientURL()}
	view, listed := Open(t.Context(), access)
	w, log := working(nil, "one")
	w.Access = access
	spec := crossings("x")
	_, trials := prepared(t, spec)
	_, begun := begin(t.Context(), access, nil, spec, trials, program, "1.0", none, log.log)
	for name, err := range map[string]error{"list": listed, "work": w.Run(t.Context()), "coordinate": begun} {
		if codeOf(err) != failure.Unavailable || !strings.Contains(err.Error(), "make the stream "+jobStream) {
			t.Errorf("%s: want what it lacks, have %v", name, err)
		}
	}
	if view != nil {
		t.Error("want no view of it")
	}
	await(t, "the connections ended", func() bool { return storeless.NumClients() == 0 })
	if err := (&Worker{Access: Access{URL: "http://127.0.0.1"}, Log: log.log}).Run(t.Context()); codeOf(err) != failure.Usage {
		t.Errorf("an address that is none: have %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ended, access); codeOf(err) != failure.Unavailable || !strings.Contains(err.Error(), "talk to NATS at "+access.URL) {
		t.Errorf("a call that ends: have %v", err)
	}
}

// TestAProgramOfOnesOwnIsNotSentToWorkers checks that a sweep of a strategy: process is refused, since
// workers may lack the program.
func TestAProgramOfOnesOwnIsNotSentToWorkers(t *testing.T) {
	t.Parallel()
	spec := crossings("x")
	_, trials := prepared(t, spec)
	trials.Base.Kind = "process"
	_, err := begin(t.Context(), Access{URL: "nats://127.0.0.1:1"}, nil, spec, trials, program, "1.0", none, func(string, ...any) {})
	if codeOf(err) != failure.Usage || !strings.Contains(err.Error(), "a strategy's own program is not sent to workers") ||
		!strings.Contains(err.Error(), "run it on this machine, without --serve and --on") {
		t.Errorf("want it refused with a hint, have %v", err)
	}
}

// TestASweepDoesNotBeginWhereItsServerDoesNotTakeIt makes each request fail.
func TestASweepDoesNotBeginWhereItsServerDoesNotTakeIt(t *testing.T) {
	t.Parallel()
	_, s := served(t)
	spec := crossings("x")
	_, trials := prepared(t, spec)
	for name, change := range map[string]func(c *Coordinator){
		"the sweep's record cannot be read":   func(c *Coordinator) { c.store.sweeps = &flaky{KeyValue: s.sweeps, get: fails} },
		"the sweep's record cannot be stored": func(c *Coordinator) { c.store.sweeps = &flaky{KeyValue: s.sweeps, put: fails} },
		"its rows cannot be watched":          func(c *Coordinator) { c.store.rows = &flaky{KeyValue: s.rows, watch: fails} },
		"its older work cannot be removed":    func(c *Coordinator) { c.store.jobs = &flakyJobs{Stream: s.jobs, purge: fails} },
	} {
		c, log := coordinating(t, nil, name)
		store := *s
		c.store, c.connected = &store, s.connection
		change(c)
		err := c.announce(t.Context(), crossings(name), trials, program, "1.0")
		if !errors.Is(err, errAway) || log.has("workers: botd worker") {
			t.Errorf("%s: have %v, %s", name, err, log.text())
		}
	}
	c, _ := coordinating(t, nil, spec.Name)
	c.store, c.connected = s, s.connection
	file := trials.Base.File
	trials.Base.File = "/nowhere.yaml"
	if err := c.announce(t.Context(), spec, trials, program, "1.0"); codeOf(err) != failure.NoInput {
		t.Errorf("a strategy that is not there: have %v", err)
	}
	trials.Base.File = file
	trials.Config.Inputs.Strategies[0].Data.Path = "/nowhere.csv"
	if err := c.announce(t.Context(), spec, trials, program, "1.0"); codeOf(err) != failure.NoInput {
		t.Errorf("candles that are not there: have %v", err)
	}
}

// TestWorkIsHandedOutOnceTheServerIsBack uses a server that accepts nothing and does not report its content.
func TestWorkIsHandedOutOnceTheServerIsBack(t *testing.T) {
	t.Parallel()
	server, s := served(t)
	c, log := coordinating(t, s, "x")
	connection, err := (&Access{}).connect(t.Context(), "test", server)
	if err != nil {
		t.Fatal(err)
	}
	lost, err := open(t.Context(), connection)
	if err != nil {
		t.Fatal(err)
	}
	connection.Close()
	b := requested(6)
	c.store = lost
	if err := c.fill(t.Context(), b); err != nil || len(b.queue) != 6 || len(b.out) != 0 || !log.has("the server does not take work: ") {
		t.Errorf("away: want all of it queued, have %d queued and %d out, %v, %s", len(b.queue), len(b.out), err, log.text())
	}
	if b.queue[0].Job != "j0" || b.queue[5].Job != "j5" {
		t.Errorf("want its order, have %+v", b.queue)
	}
	if err := errors.Join(c.beat(t.Context()), c.missing(t.Context(), b, b.latest.Add(silent))); err != nil || !log.has("the server does not answer: ") {
		t.Errorf("away: want a beat that goes on, have %v, %s", err, log.text())
	}
	c.store = s
	delete(b.trials, "j1") // its row came meanwhile
	if err := c.fill(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	var sent []string
	for _, m := range queued(t, s) {
		for _, one := range m.Jobs {
			sent = append(sent, one.Job)
		}
	}
	if !slices.Equal(sent, []string{"j0", "j2", "j3", "j4"}) {
		t.Errorf("want the first four that lack a row, have %v", sent)
	}
	ended, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped by a signal")
	cancel(stopped)
	b = requested(2)
	if err := c.fill(ended, b); !errors.Is(err, stopped) || len(b.out) != 0 {
		t.Errorf("a sweep that ends: want the cause, have %v", err)
	}
	first := rowOf(t, "j0", "one")
	c.checks["j0"] = &check{job: job{Job: "j0"}, first: &first}
	if err := c.beat(ended); !errors.Is(err, stopped) {
		t.Errorf("a second run while the sweep ends: want the cause, have %v", err)
	}
}

// TestASweepWhoseEndIsNotNotedHasItsResult loses the server at the end of the sweep.
func TestASweepWhoseEndIsNotNotedHasItsResult(t *testing.T) {
	t.Parallel()
	server, s := served(t)
	spec := crossings("x")
	_, trials := prepared(t, spec)
	c, log := begun(t, server, spec, trials, none)
	store := *c.store
	store.jobs = &flakyJobs{Stream: s.jobs, purge: fails}
	c.store = &store
	if err := c.End(t.Context(), nil); err != nil || !log.has("the server could not record that the sweep has ended: "+errAway.Error()) {
		t.Errorf("want the result kept and the rest logged, have %v, %s", err, log.text())
	}
	if !c.connected.IsClosed() {
		t.Error("want its connection ended")
	}
}

// TestAChangedRecordIsNoRow stores texts that are no rows, and removes a row between two rows.
func TestAChangedRecordIsNoRow(t *testing.T) {
	t.Parallel()
	c, s, _ := sweeping(t)
	put := func(key string, value []byte) {
		t.Helper()
		if _, err := s.rows.Put(t.Context(), c.key+key, value); err != nil {
			t.Fatal(err)
		}
	}
	row, err := json.Marshal(rowOf(t, "j1", "one"))
	if err != nil {
		t.Fatal(err)
	}
	put(".row.j0", []byte("{"))
	put(".failed.j0", row)
	if err := s.rows.Purge(t.Context(), c.key+".failed.j0"); err != nil {
		t.Fatal(err)
	}
	put(".check.j1", row)
	var have []string
	for len(have) == 0 || have[len(have)-1] != "check j1" {
		a := <-c.rows
		have = append(have, a.kind+" "+a.job)
	}
	if !slices.Equal(have, []string{"failed j0", "check j1"}) && !slices.Equal(have, []string{"check j1"}) {
		t.Errorf("want the rows alone, have %v", have)
	}
}

// TestRowsThatArriveBeforeTheirTrialsEndThem checks that such rows count once their trials are requested.
func TestRowsThatArriveBeforeTheirTrialsEndThem(t *testing.T) {
	t.Parallel()
	_, s := served(t)
	c, _ := coordinating(t, s, "x")
	c.timed = 5
	for _, name := range []string{"j0", "j1"} {
		c.arrived[name] = &arrival{kind: "row", job: name, row: rowOf(t, name, "one")}
	}
	var ended []string
	take := func(one *backtest.Trial) error { ended = append(ended, one.Job); return nil }
	err := c.Run(t.Context(), []backtest.Trial{{Job: "j0"}, {Job: "j1"}, {Job: "j0"}}, take)
	if err != nil || !slices.Equal(ended, []string{"j0", "j0", "j1"}) || len(queued(t, s)) != 0 || c.sweep.Total != 3 || len(c.arrived) != 0 {
		t.Errorf("want all ended without work, have %v, %v", ended, err)
	}
	full := errors.New("the disk is full")
	c.arrived["j2"] = &arrival{kind: "row", job: "j2", row: rowOf(t, "j2", "one")}
	refuse := func(*backtest.Trial) error { return full }
	if err := c.Run(t.Context(), []backtest.Trial{{Job: "j2"}}, refuse); !errors.Is(err, full) {
		t.Errorf("want the failure, have %v", err)
	}
	c.rows <- arrival{kind: "row", job: "j3", row: rowOf(t, "j3", "one")}
	if err := c.Run(t.Context(), []backtest.Trial{{Job: "j3"}}, refuse); !errors.Is(err, full) {
		t.Errorf("while it runs: want the failure, have %v", err)
	}
	if err := c.handle(t.Context(), requested(1), &arrival{kind: "other", job: "j0"}); err != nil {
		t.Errorf("a key of another botd: have %v", err)
	}
}

// TestASecondRunIsAwaitedWhileAnotherWorkerCanDoIt ends the wait when that worker ends.
func TestASecondRunIsAwaitedWhileAnotherWorkerCanDoIt(t *testing.T) {
	t.Parallel()
	_, s := served(t)
	c, log := coordinating(t, s, "x")
	for _, id := range []string{"one", "two"} {
		w, _ := working(s, id)
		ended, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { w.beats(ended); close(done) }()
		for all := 0; all == 0; {
			present, err := s.present(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if present[id] != nil {
				all++
			}
		}
		cancel()
		<-done
	}
	first, second := rowOf(t, "j0", "one"), rowOf(t, "j0", "two")
	c.checks["j0"] = &check{job: job{Job: "j0"}, first: &first, requestedAt: time.Now()}
	c.rows <- arrival{kind: "check", job: "j0", row: second}
	if err := c.checksEnd(t.Context()); err != nil || !log.has("1 trials were run by two workers, with the same rows") || log.has("warning: ") {
		t.Errorf("want it awaited, have %v, %s", err, log.text())
	}
	wrong := second
	wrong.Trial = json.RawMessage(`{}`)
	c.checks["j0"].second = nil
	c.rows <- arrival{kind: "check", job: "j0", row: wrong}
	if err := c.checksEnd(t.Context()); codeOf(err) != failure.Internal {
		t.Errorf("a row that differs: want the sweep ended, have %v", err)
	}
	recorded(t, s, &Sweep{Name: "x", State: Canceled, Program: program})
	if err := c.checksEnd(t.Context()); !errors.Is(err, sweeps.ErrCanceled) {
		t.Errorf("a sweep that was canceled: have %v", err)
	}
}

// TestARowThatWasMissedAndIsNoneEndsTheSweep stores an invalid row, which the coordinator finds when it
// queries the server.
func TestARowThatWasMissedAndIsNoneEndsTheSweep(t *testing.T) {
	t.Parallel()
	_, s := served(t)
	c, _ := coordinating(t, s, "x")
	c.timed = 200 // so that it does not beat at once
	if _, err := s.rows.Put(t.Context(), c.key+".row.j0", []byte(`{"worker":"one","trial":{}}`)); err != nil {
		t.Fatal(err)
	}
	b := requested(1)
	b.queue, b.out, b.latest = nil, map[string]bool{"j0": true}, time.Now().Add(-silent)
	if err := c.until(t.Context(), b, func() bool { return false }); err == nil || err.Error() != "worker one: the row of job j0 is not a trial" {
		t.Errorf("have %v", err)
	}
}

// TestASweepThatIsStoppedWhileItWaitsHasTheCause checks that the error is the cause of the context's end.
func TestASweepThatIsStoppedWhileItWaitsHasTheCause(t *testing.T) {
	t.Parallel()
	c, _ := coordinating(t, nil, "x")
	ended, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped by a signal")
	cancel(stopped)
	if err := c.until(ended, &batch{latest: time.Now()}, func() bool { return false }); !errors.Is(err, stopped) {
		t.Errorf("want the cause, have %v", err)
	}
}
