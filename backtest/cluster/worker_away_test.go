package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"botd/backtest/sweeps"
	"botd/internal/failure"
)

// TestAWorkersOwnFailureGivesItsWorkToAnother uses a sweep that the worker cannot read: the whole message
// returns to the queue.
func TestAWorkersOwnFailureGivesItsWorkToAnother(t *testing.T) {
	t.Parallel()
	_, s := served(t)
	w, log := working(s, "one")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w.Log = func(format string, arguments ...any) {
		log.log(format, arguments...)
		cancel() // so that it does not let others go first
	}
	given := &message{Sweep: keyOf("none"), Not: "two", Jobs: []job{{Job: "j0"}, {Job: "j1"}}}
	deliver(t, s, given, func(m jetstream.Msg) { w.work(ctx, m) })
	if !log.has("read the sweep: ") || !log.has("; the work goes back") {
		t.Errorf("have %s", log.text())
	}
	if all := queued(t, s); len(all) != 1 || len(all[0].Jobs) != 2 || all[0].Not != "two" || all[0].Sweep != given.Sweep {
		t.Errorf("want its message once more and the first one done, have %+v", all)
	}
}

// deliver sends a message and passes it to a worker.
func deliver(t *testing.T, s *store, given *message, work func(jetstream.Msg)) {
	t.Helper()
	consumer, err := s.consumer(t.Context(), program)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(given)
	if err == nil {
		_, err = s.js.Publish(t.Context(), subjectOf(program, given.Sweep), text)
	}
	if err != nil {
		t.Fatal(err)
	}
	batch, err := consumer.Fetch(1, jetstream.FetchMaxWait(5*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	for m := range batch.Messages() {
		work(m)
	}
}

// TestAWorkerDoesNotCheckItsOwnRows hands the message on.
func TestAWorkerDoesNotCheckItsOwnRows(t *testing.T) {
	t.Parallel()
	_, s := served(t)
	w, log := working(s, "one")
	deliver(t, s, &message{Sweep: keyOf("x"), Not: "one", Jobs: []job{{Job: "j0"}}}, func(m jetstream.Msg) { w.work(t.Context(), m) })
	if all := queued(t, s); len(all) != 1 || all[0].Not != "one" || log.text() != "" { // it comes again a second later
		t.Errorf("want it left to others, have %+v, %s", all, log.text())
	}
}

// TestASweepThatAWorkerCannotMakeReadyIsItsOwnFailure uses records of sweeps that cannot be planned, and
// folders that cannot be written.
func TestASweepThatAWorkerCannotMakeReadyIsItsOwnFailure(t *testing.T) {
	t.Parallel()
	c, s, _ := sweeping(t)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	blocked := t.TempDir()
	if err := os.WriteFile(filepath.Join(blocked, "files"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, one := range map[string]struct {
		change func(found *Sweep)
		cache  string
		want   string
	}{
		"a split that is none":        {func(found *Sweep) { found.Spec.Split = "x" }, "", "split"},
		"a grid that is none":         {func(found *Sweep) { found.Spec.Vary = []string{"fast"} }, "", "fast"},
		"no strategy":                 {func(found *Sweep) { found.Files = found.Files[:1] }, "", ""},
		"no candles":                  {func(found *Sweep) { found.Files = found.Files[1:] }, "", ""},
		"a file that was not sent":    {func(found *Sweep) { found.Files[0].SHA256 = strings.Repeat("cd", 32) }, "", "get BTCUSDT-1h.csv: "},
		"a cache that is a file":      {func(*Sweep) {}, file, "file: not a directory"},
		"a cache that takes no files": {func(*Sweep) {}, blocked, "files: not a directory"},
	} {
		found, _, err := s.sweep(t.Context(), c.key)
		if err != nil {
			t.Fatal(err)
		}
		found.Name = name
		one.change(found)
		recorded(t, s, found)
		w, log := working(s, "one")
		if w.Cache = one.cache; w.Cache == "" {
			w.Cache = t.TempDir()
		}
		err = w.runJobs(t.Context(), t.Context(), &message{Sweep: keyOf(name), Jobs: []job{{Job: "j0"}}}, 1)
		if err == nil || !strings.HasPrefix(err.Error(), "make the sweep "+name+" ready: ") || !strings.Contains(err.Error(), one.want) || log.has("is ready") {
			t.Errorf("%s: have %v, %s", name, err, log.text())
		}
		if stored(t, s, keyOf(name)+".row.j0") != nil || stored(t, s, keyOf(name)+".failed.j0") != nil || w.trials.Load() != 0 {
			t.Errorf("%s: want the trial left to another worker", name)
		}
	}
}

// TestATrialThatFailsHasItsReasonAndNoRow also covers a trial whose context ends while it runs.
func TestATrialThatFailsHasItsReasonAndNoRow(t *testing.T) {
	t.Parallel()
	c, s, trials := sweeping(t)
	trial, _, err := trials.Trial(map[string]string{"fast": "2", "slow": "6"})
	if err != nil {
		t.Fatal(err)
	}
	w, _ := working(s, "one")
	w.Cache = t.TempDir()
	if _, err := w.load(t.Context(), c.key); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	made := row{Worker: "one"}
	if err := w.trial(ended, c.key, &job{Job: trial.Job, Choice: trial.Params}, &made); err != nil || made.Failure != context.Canceled.Error() ||
		made.Trial != nil {
		t.Errorf("want its reason, have %+v, %v", made, err)
	}
}

// TestARowThatIsNotStoredGoesBack stops the worker, and completes the sweep, while the server accepts no
// rows.
func TestARowThatIsNotStoredGoesBack(t *testing.T) {
	t.Parallel()
	_, s := served(t)
	one := *s
	one.rows = &flaky{KeyValue: s.rows, put: fails}
	w, _ := working(&one, "one")
	over := keyOf("over")
	w.sweeps[over] = &Sweep{State: Canceled}
	recorded(t, s, &Sweep{Name: "over", State: Canceled, Program: program})
	stopped, stop := context.WithCancel(t.Context())
	stop()
	made, given := rowOf(t, "j0", "one"), &job{Job: "j0", Choice: map[string]string{"fast": "2"}}
	for name, err := range map[string]error{"a sweep that is over": w.put(t.Context(), &message{Sweep: over}, given, &made),
		"a worker that is stopped": w.put(stopped, &message{Sweep: keyOf("x")}, given, &made)} {
		if !errors.Is(err, errAway) || !strings.HasPrefix(err.Error(), "store the row of ") {
			t.Errorf("%s: have %v", name, err)
		}
	}
	// A server that is back within the time takes the row.
	tries := 0
	one.rows = &flaky{KeyValue: s.rows, put: func() error {
		if tries++; tries == 1 {
			return errAway
		}
		return nil
	}}
	if err := w.put(t.Context(), &message{Sweep: keyOf("x")}, given, &made); err != nil || tries != 2 || stored(t, s, keyOf("x")+".row.j0") == nil {
		t.Errorf("want the row stored by the second try, have %d, %v", tries, err)
	}
	one.rows = &flaky{KeyValue: s.rows, get: fails}
	err := w.put(t.Context(), &message{Sweep: keyOf("x")}, given, &made)
	if !errors.Is(err, errAway) || !strings.HasPrefix(err.Error(), "compare the row of ") {
		t.Errorf("a first row that cannot be read: have %v", err)
	}
}

// TestAWorkerHasFourSweepsInMemory unloads them for a fifth.
func TestAWorkerHasFourSweepsInMemory(t *testing.T) {
	t.Parallel()
	c, s, _ := sweeping(t)
	for before, want := range map[int]int{3: 4, 4: 1} {
		w, _ := working(s, "one")
		w.Cache = t.TempDir()
		var folders []string
		for n := range before {
			folder := t.TempDir()
			folders = append(folders, folder)
			w.loaded[fmt.Sprint(n)] = &loaded{folder: folder}
		}
		if _, err := w.load(t.Context(), c.key); err != nil || len(w.loaded) != want || w.loaded[c.key] == nil {
			t.Errorf("%d before: want %d, have %d, %v", before, want, len(w.loaded), err)
		}
		if _, err := os.Stat(folders[0]); os.IsNotExist(err) != (want == 1) {
			t.Errorf("%d before: want the files of those that are unloaded removed, and no others: have %v", before, err)
		}
	}
}

// TestWorkerIsNotAdmittedWhileTheServerIsUnreachable also checks that a sweep whose record was removed is loaded no second time.
func TestWorkerIsNotAdmittedWhileTheServerIsUnreachable(t *testing.T) {
	t.Parallel()
	server, s := served(t)
	one := *s
	one.sweeps = &flaky{KeyValue: s.sweeps, watch: fails}
	w, _ := working(&one, "one")
	if err := w.admitted(t.Context()); codeOf(err) != failure.Unavailable || !errors.Is(err, errAway) {
		t.Errorf("have %v", err)
	}
	spec := crossings("x")
	_, trials := prepared(t, spec)
	c, _ := begun(t, server, spec, trials, none)
	defer func() { _ = c.End(t.Context(), errors.New("over")) }()
	w, _ = working(s, "one")
	w.Cache = t.TempDir()
	if _, err := w.load(t.Context(), c.key); err != nil {
		t.Fatal(err)
	}
	if err := s.sweeps.Delete(t.Context(), c.key); err != nil {
		t.Fatal(err)
	}
	var made row
	if err := w.trial(t.Context(), c.key, &job{Job: "other", Choice: map[string]string{"fast": "2", "slow": "6"}}, &made); !errors.Is(err, sweeps.ErrNone) ||
		made.Failure != "" || len(w.loaded) != 1 {
		t.Errorf("want the record missed, have %+v, %v", made, err)
	}
}

// TestWorkerLogsThatItsHeartbeatFails uses a server that does not accept heartbeats.
func TestWorkerLogsThatItsHeartbeatFails(t *testing.T) {
	t.Parallel()
	_, s := served(t)
	one := *s
	one.workers = &flaky{KeyValue: s.workers, put: fails}
	w, log := working(&one, "one")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w.Log = func(format string, arguments ...any) { log.log(format, arguments...); cancel() }
	w.beats(ctx)
	if log.text() != "cannot report that this worker is alive: "+errAway.Error() {
		t.Errorf("have %s", log.text())
	}
	w.beats(ctx) // a worker that ends need not be seen
	if strings.Count(log.text(), "\n") != 0 {
		t.Errorf("have %s", log.text())
	}
}

// unfetched is a queue from which nothing can be fetched.
type unfetched struct {
	jetstream.Consumer
	err   error
	times int
	most  int // messages at a time
	then  func()
}

func (u *unfetched) Fetch(count int, _ ...jetstream.FetchOpt) (jetstream.MessageBatch, error) {
	u.times++
	u.most = max(u.most, count)
	u.then()
	return nil, u.err
}

// TestWorkerLogsThatNoWorkCanBeFetched checks that the worker logs failed fetches, but not empty ones.
func TestWorkerLogsThatNoWorkCanBeFetched(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]string{errAway: "no work can be fetched: " + errAway.Error(), nats.ErrTimeout: ""} {
		w, log := working(nil, "one")
		ctx, cancel := context.WithCancel(t.Context())
		queue := &unfetched{err: err, then: func() {}}
		w.Log = func(format string, arguments ...any) { log.log(format, arguments...); cancel() }
		if want == "" {
			queue.then = func() {
				if queue.times == 2 {
					cancel()
				}
			}
		}
		w.slot(ctx, queue)
		if cancel(); log.text() != want || queue.times == 0 || queue.most != 1 {
			t.Errorf("%v: want %q, have %q", err, want, log.text())
		}
	}
}

// TestAWorkerFollowsTheStatesOfAllSweeps uses a server that is unreachable at first, an invalid record, a
// sweep of the worker's program, and one of another program that begins twice.
func TestAWorkerFollowsTheStatesOfAllSweeps(t *testing.T) {
	t.Parallel()
	_, s := served(t)
	one, tries := *s, 0
	one.sweeps = &flaky{KeyValue: s.sweeps, watch: func() error {
		if tries++; tries == 1 {
			return errAway
		}
		return nil
	}}
	w, _ := working(&one, "one")
	lines := make(chan string, 10)
	w.Log = func(format string, arguments ...any) { lines <- fmt.Sprintf(format, arguments...) }
	if _, err := s.sweeps.Put(t.Context(), keyOf("y"), []byte("{")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan struct{})
	go func() { w.watch(ctx); close(done) }()
	follow := func(name, state, of string) {
		t.Helper()
		recorded(t, s, &Sweep{Name: name, State: state, Program: of, Version: "0.9"})
		await(t, name+" known as "+state, func() bool {
			w.mu.Lock()
			defer w.mu.Unlock()
			found := w.sweeps[keyOf(name)]
			return found != nil && found.State == state
		})
	}
	follow("own", Running, program)
	if tries != 2 {
		t.Errorf("want them followed with the second try, have %d", tries)
	}
	follow("done", Done, another)
	for _, state := range []string{Running, Interrupted, Running} {
		follow("other", state, another)
	}
	follow("last", Running, another)
	for _, want := range []string{"other", "other", "last"} {
		if have := <-lines; !strings.HasPrefix(have, "refused: the sweep "+want+" is of botd 0.9") {
			t.Errorf("want %s refused, have %s", want, have)
		}
	}
	if have := fmt.Sprint(w.refused.Load()); !strings.HasPrefix(have, "the sweep last is of botd 0.9") {
		t.Errorf("want it shown, have %s", have)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.sweeps) != 4 || len(lines) != 0 {
		t.Errorf("want four known, have %v", w.sweeps)
	}
}

// TestABusyWorkerDoesNotEndItself runs a trial of an hour, and then has no work for the worker's idle time.
func TestABusyWorkerDoesNotEndItself(t *testing.T) {
	t.Parallel()
	for idle, late := range map[time.Duration]time.Duration{time.Minute: time.Second, time.Second: time.Second / 4} {
		synctest.Test(t, func(t *testing.T) {
			w, log := working(nil, "one")
			w.Idle = idle
			ctx, cancel := context.WithCancel(t.Context())
			w.busy.Store(1)
			go w.idles(ctx, cancel)
			<-time.After(time.Hour)
			if ctx.Err() != nil {
				t.Errorf("%s, busy: want it to go on", idle)
			}
			began := time.Now()
			w.worked.Store(began.UnixMilli())
			w.busy.Store(0)
			<-ctx.Done()
			if have := time.Since(began); have < idle || have > idle+late || !log.has("nothing to do for "+idle.String()) {
				t.Errorf("want it ended after %s without work, have %s, %s", idle, have, log.text())
			}
			synctest.Wait()
		})
	}
}

// TestAWorkerWithoutATimeWaitsForWork checks that it never ends by itself.
func TestAWorkerWithoutATimeWaitsForWork(t *testing.T) {
	t.Parallel()
	w, log := working(nil, "one")
	w.idles(t.Context(), func() { t.Error("want it not ended") })
	if log.text() != "" {
		t.Errorf("have %s", log.text())
	}
}
