package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"botd/backtest"
	"botd/backtest/sweeps"
	"botd/internal/failure"
)

// rowsOf are the trials as lines of trials.jsonl, sorted.
func rowsOf(t *testing.T, trials []backtest.Trial) (rows []string) {
	t.Helper()
	for i := range trials {
		text, err := json.Marshal(&trials[i])
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, string(text))
	}
	slices.Sort(rows)
	return rows
}

// TestASweepOnWorkersIsTheOneOfThisMachine covers two workers of a sweep's program, which run its first trial twice, and one of another program, which takes no
// part. Another attempt with the rows of the first runs nothing.
func TestASweepOnWorkersIsTheOneOfThisMachine(t *testing.T) {
	t.Parallel()
	server, s := served(t)
	spec := crossings("a.sweep")
	plan, trials := prepared(t, spec)
	here, err := plan.Run(t.Context(), trials, plan.Here(trials), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	one, firstLog, stopOne := works(t, server, "one", program)
	two, _, stopTwo := works(t, server, "two", program)
	_, strangeLog, _ := works(t, server, "strange", another)
	view, err := Open(t.Context(), Access{URL: server.url})
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	present(t, view, "one", "strange", "two")
	c, log := begun(t, server, spec, trials, none)
	there, err := plan.Run(t.Context(), trials, c, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want, have := rowsOf(t, here.Trials), rowsOf(t, there.Trials); !slices.Equal(want, have) || len(want) != 6 {
		t.Errorf("want the rows of this machine:\n%s\nhave\n%s", strings.Join(want, "\n"), strings.Join(have, "\n"))
	}
	if err := c.End(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if !log.has(" bytes sent; workers: botd worker --on nats://127.0.0.1:") {
		t.Errorf("want the command of a worker, have %s", log.text())
	}
	if !log.has("1 trials were run by two workers, with the same rows") || log.has("warning") ||
		!log.has("worker strange takes no part: it is botd 1.0 (program "+
			another[:16]+")") && !log.has("worker strange takes no part: the sweep a.sweep is of botd 1.0") || !log.has("worker one: 1 at a time") {
		t.Errorf("have %s", log.text())
	}
	if !strangeLog.has("refused: the sweep a.sweep is of botd 1.0 (program " + program[:16] + "), this worker is botd 1.0 (program " + another[:16] + ")") {
		t.Errorf("want it refused, have %s", strangeLog.text())
	}
	all, err := view.Sweeps(t.Context())
	if err != nil || len(all) != 1 || all[0].State != Done || all[0].Ended != 6 || all[0].Total != 6 || all[0].Checked != 1 || all[0].Finished == nil ||
		all[0].Name != "a.sweep" || all[0].Program != program || all[0].Reason != "" {
		t.Errorf("want it done, have %+v, %v", all, err)
	}
	found, rows, err := view.Rows(t.Context(), "a.sweep")
	if err != nil || found.Name != "a.sweep" || !slices.Equal(rowsOf(t, rows), rowsOf(t, here.Trials)) {
		t.Errorf("want its rows, have %d, %v", len(rows), err)
	}
	if _, _, err := view.Rows(t.Context(), "other"); !errors.Is(err, sweeps.ErrNone) {
		t.Errorf("another sweep: want none, have %v", err)
	}
	if err := view.Cancel(t.Context(), "a.sweep"); failure.CodeOf(err) != failure.Usage || !strings.Contains(err.Error(), "the sweep a.sweep is done") {
		t.Errorf("a sweep that has ended: want no cancel, have %v", err)
	}
	if have := one.trials.Load() + two.trials.Load(); have != 7 {
		t.Errorf("want six trials and one of them twice, have %d", have)
	}
	if !firstLog.has("sweep a.sweep is ready: ") || !firstLog.has(", 60 candles") {
		t.Errorf("have %s", firstLog.text())
	}
	if err := errors.Join(stopOne(), stopTwo()); err != nil {
		t.Error(err)
	}
	if !firstLog.has("worker one ends: ") {
		t.Errorf("have %s", firstLog.text())
	}
	present(t, view, "strange")
	again, _ := begun(t, server, spec, trials, none)
	_, err = plan.Run(t.Context(), trials, again, nil, nil) // all rows are on the server, and no worker is there
	if err != nil || again.sweep.Ended != 6 {
		t.Errorf("want the rows of before, have %d, %v", again.sweep.Ended, err)
	}
	if err := again.End(t.Context(), errors.New("the disk is full")); err == nil {
		t.Error("want the failure returned")
	}
	failed, _, err := s.sweep(t.Context(), keyOf("a.sweep"))
	if err != nil || failed.State != Failed || failed.Reason != "the disk is full" || failed.Finished == nil {
		t.Errorf("want it noted, have %+v, %v", failed, err)
	}
}

// present waits until these workers are on the server.
func present(t *testing.T, view *View, want ...string) {
	t.Helper()
	var have []string
	for !slices.Equal(have, want) {
		all, err := view.Workers(t.Context())
		if err != nil {
			t.Fatalf("want workers %v, have %v, %v", want, have, err)
		}
		have = nil
		for _, w := range all {
			have = append(have, w.ID)
			if w.Slots != 1 || w.Version != "1.0" || len(w.Program) != 64 || w.Since.IsZero() {
				t.Fatalf("have %+v", w)
			}
		}
	}
}

// TestASweepIsCanceledWhereverItRuns cancels a sweep without a worker.
func TestASweepIsCanceledWhereverItRuns(t *testing.T) {
	t.Parallel()
	server, s := served(t)
	spec := crossings("b")
	plan, trials := prepared(t, spec)
	c, _ := begun(t, server, spec, trials, none)
	view := &View{store: s}
	ended := make(chan error, 1)
	go func() {
		_, err := plan.Run(t.Context(), trials, c, nil, nil)
		ended <- c.End(t.Context(), err)
	}()
	for found := (*Sweep)(nil); found == nil || found.Total == 0; { // the coordinator's own beat has it
		var err error
		if found, _, err = s.sweep(t.Context(), keyOf("b")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := begin(t.Context(), Access{}, server, spec, trials, program, "1.0", none, func(string, ...any) {}); err != nil {
		t.Logf("a second coordinator: %v", err)
	} else {
		t.Error("a sweep under way: want a second coordinator refused")
	}
	if err := view.Cancel(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, sweeps.ErrCanceled) {
		t.Errorf("want it canceled, have %v", err)
	}
	if all, err := view.Sweeps(t.Context()); err != nil || len(all) != 1 || all[0].State != Canceled || all[0].Finished == nil || all[0].Ended != 0 {
		t.Errorf("want it canceled on the server, have %+v, %v", all, err)
	}
	if about, err := s.jobs.Info(t.Context()); err != nil || about.State.Msgs != 0 {
		t.Errorf("want no work left, have %+v, %v", about, err)
	}
	if err := view.Cancel(t.Context(), "none"); !errors.Is(err, sweeps.ErrNone) {
		t.Errorf("want none, have %v", err)
	}
}

// TestASweepWithoutACoordinatorIsInterrupted covers a coordinator whose context ends, and one without a
// heartbeat.
func TestASweepWithoutACoordinatorIsInterrupted(t *testing.T) {
	t.Parallel()
	server, s := served(t)
	spec := crossings("c")
	plan, trials := prepared(t, spec)
	c, _ := begun(t, server, spec, trials, none)
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped by a signal")
	cancel(stopped)
	_, err := plan.Run(ctx, trials, c, nil, nil)
	if !errors.Is(err, stopped) || c.End(ctx, err) == nil {
		t.Errorf("want the cause, have %v", err)
	}
	found, revision, err := s.sweep(t.Context(), keyOf("c"))
	if err != nil || found.State != Interrupted || found.Finished != nil {
		t.Fatalf("want it interrupted, have %+v, %v", found, err)
	}
	for age, want := range map[time.Duration]string{silent - 5*time.Second: Running, silent + time.Second: Interrupted} {
		found.State, found.Updated = Running, time.Now().Add(-age)
		text, err := json.Marshal(found)
		if err == nil {
			revision, err = s.sweeps.Update(t.Context(), keyOf("c"), text, revision)
		}
		if err != nil {
			t.Fatal(err)
		}
		if all, err := (&View{store: s}).Sweeps(t.Context()); err != nil || all[0].State != want {
			t.Errorf("without a beat for %s: want %s, have %+v, %v", age, want, all, err)
		}
	}
}
