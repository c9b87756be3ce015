package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"botd/backtest/sweeps"
	"botd/internal/failure"
)

// working is a worker that does not run.
func working(s *store, id string) (*Worker, *logbook) {
	log := &logbook{}
	w := &Worker{Program: program, Version: "1.0", ID: id, Slots: 1, Files: reader, Log: log.log, store: s,
		sweeps: map[string]*Sweep{},
		loaded: map[string]*loaded{}}
	w.refused.Store("")
	return w, log
}

// recorded puts a sweep's record on the server.
func recorded(t *testing.T, s *store, found *Sweep) {
	t.Helper()
	if found.Spec == nil {
		found.Spec = crossings(found.Name)
	}
	text, err := json.Marshal(found)
	if err == nil {
		_, err = s.sweeps.Put(t.Context(), keyOf(found.Name), text)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// stored is a row on the server; nil for none.
func stored(t *testing.T, s *store, key string) *row {
	t.Helper()
	entry, err := s.rows.Get(t.Context(), key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil
	}
	var have row
	if err == nil {
		err = json.Unmarshal(entry.Value(), &have)
	}
	if err != nil {
		t.Fatal(err)
	}
	return &have
}

// TestTheFirstRowOfAJobCounts stores rows of one job: the first, an equal one, one that differs, a check and a failure.
func TestTheFirstRowOfAJobCounts(t *testing.T) {
	t.Parallel()
	_, s := served(t)
	w, _ := working(s, "two")
	one, key := &job{Job: "j0"}, keyOf("x")
	put := func(request *message, made row) {
		t.Helper()
		request.Sweep = key
		if err := w.put(t.Context(), request, one, &made); err != nil {
			t.Fatal(err)
		}
	}
	first := rowOf(t, "j0", "one")
	put(&message{}, first)
	equal := first
	equal.Worker, equal.Seconds = "two", 5
	put(&message{}, equal)
	if have := stored(t, s, key+".row.j0"); have == nil || have.Worker != "one" || stored(t, s, key+".check.j0") != nil {
		t.Errorf("an equal row: want the first one alone, have %+v", have)
	}
	other := equal
	other.Trial = json.RawMessage(`{"job":"j0"}`)
	put(&message{}, other)
	if have := stored(t, s, key+".check.j0"); have == nil || have.Worker != "two" || have.First == nil || have.First.Worker != "one" {
		t.Errorf("a row that differs: want both for the coordinator, have %+v", have)
	}
	one = &job{Job: "j1"}
	put(&message{Not: "one"}, rowOf(t, "j1", "two"))
	if have := stored(t, s, key+".check.j1"); have == nil || have.First != nil || stored(t, s, key+".row.j1") != nil {
		t.Errorf("a check: have %+v", have)
	}
	put(&message{}, row{Worker: "two", Failure: "out of memory"})
	if have := stored(t, s, key+".failed.j1"); have == nil || have.Failure != "out of memory" || stored(t, s, key+".row.j1") != nil {
		t.Errorf("a failure: have %+v", have)
	}
}

// TestASweepThatIsOverWantsNoMoreTrials covers each state in the worker's memory and on the server.
func TestASweepThatIsOverWantsNoMoreTrials(t *testing.T) {
	t.Parallel()
	_, s := served(t)
	w, _ := working(s, "one")
	for _, c := range []struct {
		remembered, now string // empty for none
		want            bool
	}{{"", Running, false}, {"", Canceled, false}, {Running, Canceled, false}, {Interrupted, Interrupted, false}, {Canceled, Canceled, true},
		{Failed, Failed, true},
		{Done, Done, true}, {Done, Running, false}, {Canceled, Interrupted, false}, {Canceled, "", true}} {
		name := c.remembered + "/" + c.now
		if c.remembered != "" {
			w.sweeps[keyOf(name)] = &Sweep{State: c.remembered}
		}
		if c.now != "" {
			recorded(t, s, &Sweep{Name: name, State: c.now, Program: program})
		}
		if have := w.ended(t.Context(), keyOf(name)); have != c.want {
			t.Errorf("%s: want ended %t", name, c.want)
		}
	}
}

// TestAWorkerOfAnotherProgramIsNotAdmitted uses sweeps of its program and of another, with coordinators that
// are alive and that are not.
func TestAWorkerOfAnotherProgramIsNotAdmitted(t *testing.T) {
	t.Parallel()
	_, s := served(t)
	w, _ := working(s, "one")
	if err := w.admitted(t.Context()); err != nil {
		t.Errorf("no sweep: have %v", err)
	}
	recorded(t, s, &Sweep{Name: "old", State: Running, Program: another, Updated: time.Now().Add(-time.Minute)})
	recorded(t, s, &Sweep{Name: "done", State: Done, Program: another, Updated: time.Now()})
	if err := w.admitted(t.Context()); err != nil {
		t.Errorf("none alive: have %v", err)
	}
	recorded(t, s, &Sweep{Name: "other", State: Running, Program: another, Version: "0.9", Updated: time.Now()})
	err := w.admitted(t.Context())
	if codeOf(err) != failure.Config || !strings.Contains(err.Error(), "the sweep other is of botd 0.9 (program "+another[:16]+
		"), this worker is botd 1.0 (program "+program[:16]+")") || !strings.Contains(err.Error(), "run the same botd") {
		t.Errorf("want it refused with the reason, have %v", err)
	}
	recorded(t, s, &Sweep{Name: "own", State: Running, Program: program, Updated: time.Now()})
	if err := w.admitted(t.Context()); err != nil {
		t.Errorf("one of its own: have %v", err)
	}
}

// TestTrialsOfAMessage uses messages that were delivered before, and a worker that ends.
func TestTrialsOfAMessage(t *testing.T) {
	t.Parallel()
	c, s, trials := sweeping(t)
	w, _ := working(s, "one")
	w.Cache = t.TempDir()
	trial, _, err := trials.Trial(map[string]string{"fast": "2", "slow": "6"})
	if err != nil {
		t.Fatal(err)
	}
	good := job{Job: trial.Job, Choice: trial.Params}
	each := func(ctx context.Context, deliveries uint64, not string, jobs ...job) {
		t.Helper()
		if err := w.runJobs(ctx, t.Context(), &message{Sweep: c.key, Jobs: jobs, Not: not}, deliveries); err != nil {
			t.Fatal(err)
		}
	}
	each(t.Context(), maxDelivered, "", good)
	if have := stored(t, s, c.key+".row."+good.Job); have == nil || have.Worker != "one" || len(have.Trial) == 0 || have.Seconds <= 0 || w.trials.Load() != 1 {
		t.Errorf("want its row, have %+v", have)
	}
	each(t.Context(), 2, "", good)
	if w.trials.Load() != 1 {
		t.Error("a message that comes again: want a trial that has its row left out")
	}
	each(t.Context(), 2, "another", good)
	if have := stored(t, s, c.key+".check."+good.Job); have == nil || w.trials.Load() != 2 {
		t.Errorf("the check of a trial: want it run, have %+v", have)
	}
	deadly := job{Job: "deadly", Choice: good.Choice}
	each(t.Context(), maxDelivered+1, "", deadly)
	if have := stored(t, s, c.key+".failed.deadly"); have == nil || have.Failure != fmt.Sprintf("it was handed out %d times, and no worker returned a result: "+
		"does it need more memory than they have?", maxDelivered) {
		t.Errorf("want it given up, have %+v", have)
	}
	each(t.Context(), 1, "", job{Job: "strange", Choice: good.Choice})
	if have := stored(t, s, c.key+".failed.strange"); have == nil || !strings.HasPrefix(have.Failure, "the worker one computes another job hash for ") {
		t.Errorf("a job of other inputs: have %+v", have)
	}
	each(t.Context(), 1, "", job{Job: "refused", Choice: map[string]string{"fast": "8", "slow": "6"}})
	if have := stored(t, s, c.key+".failed.refused"); have == nil || !strings.HasPrefix(have.Failure,
		"the worker's strategy refuses settings that the coordinator's accepted: ") {
		t.Errorf("a choice that the strategy refuses: have %+v", have)
	}
	queued(t, s)
	stopped, stop := context.WithCancel(t.Context())
	stop()
	count := w.trials.Load()
	each(stopped, 1, "two", good, deadly)
	if all := queued(t, s); len(all) != 1 || len(all[0].Jobs) != 2 || all[0].Not != "two" || all[0].Sweep != c.key || w.trials.Load() != count {
		t.Errorf("a worker that ends: want its work given back, have %+v", all)
	}
	w.sweeps[c.key] = &Sweep{State: Canceled}
	recorded(t, s, &Sweep{Name: "x", State: Canceled, Program: program})
	each(t.Context(), 1, "", job{Job: "late", Choice: good.Choice})
	if w.trials.Load() != count || stored(t, s, c.key+".failed.late") != nil {
		t.Error("a sweep that was canceled: want nothing run")
	}
	w.drop()
	if len(w.loaded) != 0 {
		t.Errorf("want it unloaded, have %v", w.loaded)
	}
	err = w.runJobs(t.Context(), t.Context(), &message{Sweep: keyOf("none"), Jobs: []job{good}}, 1)
	if !errors.Is(err, sweeps.ErrNone) || !strings.Contains(err.Error(), "read the sweep: ") {
		t.Errorf("no such sweep: want the worker's own error, have %v", err)
	}
}

// TestASweepThatIsResumedWithOtherCandlesIsLoadedAgain uses a worker that has loaded the sweep before it was
// resumed.
func TestASweepThatIsResumedWithOtherCandlesIsLoadedAgain(t *testing.T) {
	t.Parallel()
	server, s := served(t)
	w, log := working(s, "one")
	w.Cache = t.TempDir()
	for seed := range uint64(2) {
		spec := crossings("x")
		_, trials := preparedOn(t, spec, seed+3)
		c, _ := begun(t, server, spec, trials, none)
		trial, _, err := trials.Trial(map[string]string{"fast": "2", "slow": "6"})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.runJobs(t.Context(), t.Context(), &message{Sweep: c.key, Jobs: []job{{Job: trial.Job, Choice: trial.Params}}}, 1); err != nil {
			t.Fatal(err)
		}
		if have := stored(t, s, c.key+".row."+trial.Job); have == nil || len(have.Trial) == 0 || len(w.loaded) != 1 {
			t.Errorf("%d: want its row, have %+v, %s", seed, have, log.text())
		}
		_ = c.End(t.Context(), errors.New("interrupted"))
	}
	if n := strings.Count(log.text(), "sweep x is ready: "); n != 2 {
		t.Errorf("want it loaded twice, have %s", log.text())
	}
}

// TestMessageNotFromBotdIsDropped sends text that is not JSON.
func TestMessageNotFromBotdIsDropped(t *testing.T) {
	t.Parallel()
	_, s := served(t)
	w, log := working(s, "one")
	consumer, err := s.consumer(t.Context(), program)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.js.Publish(t.Context(), subjectOf(program, keyOf("x")), []byte("hello")); err != nil {
		t.Fatal(err)
	}
	batch, err := consumer.Fetch(1, jetstream.FetchMaxWait(5*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	for m := range batch.Messages() {
		w.work(t.Context(), m)
	}
	for msgs := uint64(1); msgs > 0; { // the server takes it off a moment later
		about, err := s.jobs.Info(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		msgs = about.State.Msgs
	}
	if !log.has("a message that is not botd's is dropped: ") || w.trials.Load() != 0 {
		t.Errorf("have %s", log.text())
	}
}

// TestASweepIsAliveForTwentySecondsAfterItsBeat checks that time, and a nanosecond less.
func TestASweepIsAliveForTwentySecondsAfterItsBeat(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for age, want := range map[time.Duration]bool{0: true, silent - 1: true, silent: false} {
		if have := (&Sweep{State: Running, Updated: now.Add(-age)}).alive(now); have != want {
			t.Errorf("%s: want alive %t", age, want)
		}
	}
	if (&Sweep{State: Done, Updated: now}).alive(now) {
		t.Error("want one that is done not alive")
	}
}

// TestAWorkerWithoutWorkEnds uses a worker that waits for a tenth of a second after a message.
func TestAWorkerWithoutWorkEnds(t *testing.T) {
	t.Parallel()
	server, s := served(t)
	log := &logbook{}
	if _, err := s.consumer(t.Context(), program); err != nil {
		t.Fatal(err)
	}
	if _, err := s.js.Publish(t.Context(), subjectOf(program, keyOf("x")), []byte("no message")); err != nil {
		t.Fatal(err)
	}
	w := &Worker{Access: Access{URL: server.url}, Program: program, ID: "one", Slots: 2, Idle: 100 * time.Millisecond, Cache: t.TempDir(), Files: reader,
		Log: log.log}
	if err := w.Run(t.Context()); err != nil || !log.has("nothing to do for 100ms") ||
		!log.has("is dropped") || !log.has("worker one: 2 at a time, program "+program[:16]) ||
		!log.has("worker one ends: 0 trials") {
		t.Errorf("want it ended, have %v, %s", err, log.text())
	}
	if all, err := s.present(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("want it off the list, have %v, %v", all, err)
	}
	recorded(t, s, &Sweep{Name: "other", State: Running, Program: another, Updated: time.Now()})
	if err := w.Run(t.Context()); codeOf(err) != failure.Config {
		t.Errorf("another program's sweep: want it refused, have %v", err)
	}
}

// TestTextsNotFromBotdAreErrors stores a sweep, a worker and a row in unknown formats.
func TestTextsNotFromBotdAreErrors(t *testing.T) {
	t.Parallel()
	_, s := served(t)
	view := &View{store: s}
	recorded(t, s, &Sweep{Name: "x", State: Running, Program: program})
	if _, err := s.rows.Put(t.Context(), keyOf("x")+".row.j0", []byte(`{"worker":"one","trial":{"job":"j0"}}`)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := view.Rows(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), "the server's data is not a row: it lacks a field") {
		t.Errorf("have %v", err)
	}
	if _, err := s.workers.Put(t.Context(), "v", []byte(`{"id":"two","program":"0123456789abcdef"}`)); err != nil {
		t.Fatal(err)
	}
	if all, err := view.Workers(t.Context()); err != nil || len(all) != 1 || all[0].ID != "two" {
		t.Errorf("want the one worker, have %v, %v", all, err)
	}
	if _, err := s.workers.Put(t.Context(), "w", []byte(`{"id":"one","program":"short"}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := view.Workers(t.Context()); err == nil || !strings.Contains(err.Error(), "the server's data is not a worker: it lacks a field") {
		t.Errorf("have %v", err)
	}
	for _, text := range []string{"{", `{"name":"x","program":"` + program + `"}`, `{"name":"x","spec":{},"program":"0a"}`} {
		if _, err := s.sweeps.Put(t.Context(), keyOf("y"), []byte(text)); err != nil {
			t.Fatal(err)
		}
		if _, err := view.Sweeps(t.Context()); err == nil || !strings.Contains(err.Error(), "the server's data is not a sweep: ") ||
			strings.Contains(err.Error(), "%!") {
			t.Errorf("%s: have %v", text, err)
		}
	}
}

// TestTheNewestSweepIsTheFirst lists three.
func TestTheNewestSweepIsTheFirst(t *testing.T) {
	t.Parallel()
	_, s := served(t)
	for n, name := range []string{"b", "c", "a"} {
		recorded(t, s, &Sweep{Name: name, State: Done, Program: program, Updated: time.Now().Add(time.Duration(n) * time.Minute)})
	}
	all, err := (&View{store: s}).Sweeps(t.Context())
	have := ""
	for _, one := range all {
		have += one.Name
	}
	if err != nil || have != "acb" {
		t.Errorf("want a, c, b, have %s, %v", have, err)
	}
}
