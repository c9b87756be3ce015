package strategy

import (
	"errors"
	"fmt"
	"slices"

	"botd/exchange"
)

// Task is a unit of work for a strategy: the closed candles it has not seen, in order, and a
// decision. It shares no mutable data with the engine, so any goroutine can perform it.
type Task struct {
	View     View             // view of the decisions at the time the task was built; its lists belong to the task
	Before   View             // view of the previous decision, used for candles until the next one
	Candles  exchange.Candles // visible closed candles
	From, To int              // range of the new ones
	Each     int              // first new candle with a decision at its close; To for none
	AtMS     int64            // nominal time of a decision after the candles; 0 for none
	Fresh    bool             // the strategy has no state of its own: these are its first candles
	Target   Target           // of the previous decision

	Price   exchange.Price // newest price that does not come from a candle, and its time
	PriceMS int64
}

// Result is what a strategy returned for a task.
type Result struct {
	Plan       Plan        // of the last decision
	Decided    bool        // there was a decision
	TargetMS   int64       // nominal time at which its target last changed; 0 if it did not
	Conditions []Condition // at the last decision
	Failure    string      // reason why the strategy failed; empty if it did not
	Lost       string      // reason why its process ended and lost its state; empty if it did not
}

// Restarter is a strategy whose own state can be lost: Restart starts it over without any state. It
// panics with a LostError if it cannot.
type Restarter interface {
	Restart()
}

// restart starts a strategy, or the one it wraps, over.
func restart(s Strategy) {
	for s != nil {
		if r, is := s.(Restarter); is {
			r.Restart()
			return
		}
		wrapper, wraps := s.(Wrapper)
		if !wraps {
			return
		}
		s = wrapper.Wrapped()
	}
}

// LostError reports that the process running a strategy has ended and the strategy's own state is
// lost. A strategy in a separate process panics with it.
type LostError struct{ Cause string }

// Error returns the reason for the end of the process.
func (e *LostError) Error() string { return e.Cause }

// Perform lets the strategy do the task. A panic becomes the result's failure.
func (t *Task) Perform(s Strategy) (r Result) {
	defer func() {
		if cause := recover(); cause != nil {
			r = failed(cause)
		}
	}()
	if t.Fresh {
		restart(s)
	}
	v := &t.View
	last := v.Last
	for i := t.From; i < t.To; i++ {
		t.show(v, i+1)
		if r.Decided {
			s.Candle(v)
		} else {
			t.show(&t.Before, i+1)
			s.Candle(&t.Before)
		}
		if i < t.Each {
			continue
		}
		if v.Last = v.Close(); t.PriceMS > v.NowMS {
			v.Last = t.Price
		}
		t.decide(s, &r)
	}
	if t.AtMS != 0 {
		if t.To > 0 {
			t.show(v, t.To)
		}
		v.NowMS, v.Last = t.AtMS, last
		t.decide(s, &r)
	}
	if r.Decided {
		r.Conditions = conditionsOf(s, v)
	}
	return r
}

func (t *Task) decide(s Strategy, r *Result) {
	r.Plan.Reset()
	s.Decide(&t.View, &r.Plan)
	if r.Decided = true; r.Plan.Target != t.Target {
		t.Target, r.TargetMS = r.Plan.Target, t.View.NowMS
	}
}

// conditionsOf returns a strategy's conditions, or none if it does not explain itself.
func conditionsOf(s Strategy, v *View) (conditions []Condition) {
	defer func() {
		if recover() != nil {
			conditions = nil
		}
	}()
	if conditional, is := s.(Conditional); is {
		return shortened(conditional.Conditions(v))
	}
	return nil
}

// show makes the candles before end visible and sets the view's newest candle.
func (t *Task) show(v *View, end int) {
	v.NowMS = t.Candles.CloseMS(end - 1)
	v.SetHistory(&t.Candles, end)
}

// failed returns the result of a task in which a strategy panicked.
func failed(cause any) Result {
	if err, is := cause.(error); is {
		if lost, ok := errors.AsType[*LostError](err); ok {
			return Result{Lost: Clip(lost.Cause, MaxCause)}
		}
	}
	return Result{Failure: Clip(fmt.Sprint(cause), MaxCause)}
}

// Snapshot returns a view with its own copies of all lists.
func (v *View) Snapshot() View {
	snapshot := *v
	snapshot.Working, snapshot.Fills = slices.Clone(v.Working), slices.Clone(v.Fills)
	snapshot.Events = slices.Clone(v.Events)
	return snapshot
}
