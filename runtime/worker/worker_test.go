package worker

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"botd/runtime/engine"
	"botd/strategy"
)

// acts is a test's strategy.
type acts struct{ decide func(plan *strategy.Plan) }

func (*acts) Warmup() int { return 0 }

func (*acts) Candle(*strategy.View) {}

func (a *acts) Decide(_ *strategy.View, plan *strategy.Plan) { a.decide(plan) }

// ends is a strategy in a separate process, which can be killed.
type ends struct {
	acts
	killed chan string
}

func (e *ends) Kill(cause string) { e.killed <- cause }

// wraps is a strategy around another one.
type wraps struct{ strategy.Strategy }

func (w wraps) Wrapped() strategy.Strategy { return w.Strategy }

func ask(id int64, name string, s strategy.Strategy) *engine.Ask {
	return &engine.Ask{ID: id, Name: name, Strategy: s, Task: strategy.Task{AtMS: 1}}
}

func TestHungStrategyDoesNotBlockOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var p Pool
		release := make(chan struct{})
		hung := &acts{func(plan *strategy.Plan) { <-release; plan.Reason = "late" }}
		late, prompt := make(chan strategy.Result, 1), make(chan strategy.Result, 1)
		p.Put(ask(1, "one", hung), func(r strategy.Result) { late <- r })
		p.Put(ask(2, "two", &acts{func(plan *strategy.Plan) { plan.Reason = "prompt" }}), func(r strategy.Result) { prompt <- r })
		if r := <-prompt; r.Plan.Reason != "prompt" || !r.Decided {
			t.Errorf("want the other strategy's decision, have %+v", r)
		}
		p.Abandon(1)
		synctest.Wait()
		if len(late) != 0 {
			t.Fatal("want no answer while it hangs")
		}
		close(release)
		if r := <-late; r.Plan.Reason != "late" {
			t.Errorf("want its answer when it returns, have %+v", r)
		}
	})
}

func TestTheProcessOfAStrategyThatIsAbandonedIsEnded(t *testing.T) {
	t.Parallel()
	var p Pool
	s := &ends{killed: make(chan string, 1)}
	s.acts.decide = func(*strategy.Plan) { panic(&strategy.LostError{Cause: <-s.killed}) }
	answer := make(chan strategy.Result, 1)
	p.Put(ask(1, "one", wraps{s}), func(r strategy.Result) { answer <- r })
	p.Abandon(1)
	if r := <-answer; !strings.Contains(r.Lost, "in time") || r.Failure != "" {
		t.Errorf("want its process lost, have %+v", r)
	}
	p.Close()
	if why := <-s.killed; !strings.Contains(why, "stopped") {
		t.Errorf("want its process ended with botd, have %q", why)
	}
}

func TestQuestionsAreSerializedPerStrategy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var p Pool
		asked, release := 0, make(chan struct{})
		s := &acts{func(*strategy.Plan) { asked++; <-release }}
		done := make(chan strategy.Result, 3)
		for id := range int64(2) {
			p.Put(ask(id+1, "one", s), func(r strategy.Result) { done <- r })
		}
		synctest.Wait()
		if asked != 1 {
			t.Errorf("want it asked once at a time, have %d", asked)
		}
		p.End(&engine.EndedStrategy{Name: "one", Strategy: s})
		p.Put(ask(3, "one", &acts{func(plan *strategy.Plan) { plan.Reason = "successor" }}), func(r strategy.Result) { done <- r })
		if r := <-done; r.Plan.Reason != "successor" {
			t.Errorf("want the successor's decision, have %+v", r)
		}
		close(release)
		<-done
		<-done
	})
}

func TestAPanicIsAFailureOfTheStrategyAlone(t *testing.T) {
	t.Parallel()
	for _, cause := range []any{"a fault", errors.New("a fault")} {
		answer := make(chan strategy.Result, 1)
		new(Pool).Put(ask(1, "one", &acts{func(*strategy.Plan) { panic(cause) }}), func(r strategy.Result) { answer <- r })
		if r := <-answer; r.Failure != "a fault" || r.Lost != "" {
			t.Errorf("want its failure, have %+v", r)
		}
	}
}

// BenchmarkDecision measures a decision over the goroutine, without the strategy.
func BenchmarkDecision(b *testing.B) {
	var p Pool
	s := &acts{func(plan *strategy.Plan) { plan.Hold(strategy.Flat(), "") }}
	done := make(chan strategy.Result)
	began := time.Now()
	for b.Loop() {
		p.Put(ask(1, "one", s), func(r strategy.Result) { done <- r })
		<-done
	}
	b.ReportMetric(float64(time.Since(began).Microseconds())/float64(b.N), "us/decision")
}

// receiver is a strategy that takes signals.
type receiver struct {
	acts
	take func()
}

func (h *receiver) Receive(*strategy.View, *strategy.Signal, *strategy.Plan) error {
	h.take()
	return nil
}

func TestSlowSignalDoesNotBlockOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var p Pool
		release := make(chan struct{})
		began := time.Now()
		late := engine.Reception{Name: "one", Strategy: &receiver{take: func() { <-release }}, WithinMS: 2_000}
		p.Receive(&late)
		if took := time.Since(began); !late.Late || took != 2*time.Second {
			t.Errorf("want it late after 2s, have %t after %s", late.Late, took)
		}
		decided := make(chan strategy.Result, 1) // one at a time: the decision waits for it
		p.Put(ask(1, "one", &acts{func(plan *strategy.Plan) { plan.Reason = "after" }}), func(r strategy.Result) { decided <- r })
		synctest.Wait()
		if len(decided) != 0 {
			t.Error("want no decision while a signal is being taken")
		}
		prompt := engine.Reception{Name: "two", Strategy: &receiver{take: func() {}}, WithinMS: 2_000}
		if p.Receive(&prompt); prompt.Late {
			t.Error("want another strategy's signal taken")
		}
		close(release)
		if r := <-decided; r.Plan.Reason != "after" {
			t.Errorf("want the decision then, have %+v", r)
		}
	})
}

// The measurement names the strategy and excludes the wait for its turn.
func TestCallsAreMeasuredWithoutTheirWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var measured []string
		p := Pool{Measure: func(what engine.Measured, strategy string) func() {
			if what != engine.MeasuredDecision {
				t.Errorf("want a cycle measured, have %v", what)
			}
			began := time.Now()
			return func() { measured = append(measured, strategy+" "+time.Since(began).String()) }
		}}
		s, done := &acts{func(*strategy.Plan) { <-time.After(time.Second) }}, make(chan strategy.Result, 2)
		p.Put(ask(1, "one", s), func(r strategy.Result) { done <- r })
		p.Put(ask(2, "one", s), func(r strategy.Result) { done <- r })
		<-done
		<-done
		if want := []string{"one 1s", "one 1s"}; !slices.Equal(measured, want) {
			t.Errorf("want %v, have %v", want, measured)
		}
	})
}

// An answered question, another strategy's question, or an unknown question ends no process.
func TestProcessEndsOnlyWithItsStrategy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var p Pool
		p.Abandon(1) // before there is any question
		made := func(name string) *ends {
			s := &ends{killed: make(chan string, 2)}
			s.acts.decide = func(plan *strategy.Plan) { plan.Reason = name }
			return s
		}
		one, two := made("one"), made("two")
		done := make(chan strategy.Result, 2)
		p.Put(ask(1, "one", one), func(r strategy.Result) { done <- r })
		p.Put(ask(2, "two", wraps{wraps{two}}), func(r strategy.Result) { done <- r })
		<-done
		<-done
		for id := range int64(4) {
			p.Abandon(id)
		}
		if len(one.killed) != 0 || len(two.killed) != 0 {
			t.Errorf("answered: want neither ended, have %d and %d", len(one.killed), len(two.killed))
		}
		p.End(&engine.EndedStrategy{Name: "one", Strategy: one})
		if len(one.killed) != 1 || len(two.killed) != 0 {
			t.Errorf("want the removed one ended, have %d and %d", len(one.killed), len(two.killed))
		}
		if why := <-one.killed; why != "it is no longer needed" {
			t.Errorf("have %q", why)
		}
		p.Close()
		if len(one.killed) != 0 || len(two.killed) != 1 {
			t.Errorf("botd stops: want the one left ended, have %d and %d", len(one.killed), len(two.killed))
		}
		p.Close()
		if len(two.killed) != 1 {
			t.Errorf("a second stop: want nothing ended twice, have %d", len(two.killed))
		}
		p.Put(ask(3, "two", made("three")), func(r strategy.Result) { done <- r })
		if r := <-done; r.Plan.Reason != "three" {
			t.Errorf("want a pool that was closed to go on, have %+v", r)
		}
	})
}
