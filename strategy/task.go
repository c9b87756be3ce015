package strategy

import (
	"errors"
	"fmt"
	"slices"

	"botd/exchange"
)

// Task is what a strategy is asked at once: the closed candles it has not seen, in order, and a
// decision. Whoever performs it shares nothing with the engine that changes.
type Task struct {
	View     View             // of the decisions, as it was when the task was made; its lists belong to the task
	Before   View             // of the decision before: candles are seen with it until the next one
	Candles  exchange.Candles // the closed candles that are visible
	From, To int              // which of them are new
	Each     int              // the first of them at whose close the strategy is asked; To for none
	AtMS     int64            // a decision after them, at this nominal time; 0 for none
	Fresh    bool             // the strategy has no state of its own: these candles are its first
	Target   Target           // of the decision before

	Price   exchange.Price // the newest price that is no candle's, and its time
	PriceMS int64
}

// Result is what a strategy returned for a task.
type Result struct {
	Plan       Plan        // of the last decision
	Decided    bool        // there was one
	TargetMS   int64       // the nominal time at which its target last changed; 0 where it did not
	Conditions []Condition // at the last decision
	Failure    string      // why the strategy failed; empty where it did not
	Lost       string      // why its process ended, with its state; empty where it did not
}

// Restarter is a strategy whose own state can be lost: Restart has it start over, without any. It
// panics with a LostError where it cannot.
type Restarter interface {
	Restart()
}

// restart has a strategy start over, or the one it wraps.
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

// LostError says that the process which ran a strategy has ended, and the strategy's own state
// with it. A strategy that runs elsewhere panics with it.
type LostError struct{ Cause string }

// Error returns why the process has ended.
func (e *LostError) Error() string { return e.Cause }

// Perform has the strategy do the task. A panic is the result's failure.
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
		if v.Last = v.Candle.Close; t.PriceMS > v.NowMS {
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

// conditionsOf returns what a strategy decides by; none where it cannot say so.
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

// show makes the candles up to end visible, and the newest of them the view's.
func (t *Task) show(v *View, end int) {
	t.Candles.Load(end-1, &v.Candle)
	v.NowMS = t.Candles.CloseMS(end - 1)
	v.SetHistory(&t.Candles, end)
}

// failed is the result of a task in which a strategy panicked.
func failed(cause any) Result {
	if err, is := cause.(error); is {
		var lost *LostError
		if errors.As(err, &lost) {
			return Result{Lost: Clip(lost.Cause, MaxCause)}
		}
	}
	return Result{Failure: Clip(fmt.Sprint(cause), MaxCause)}
}

// Snapshot returns a view whose lists nobody else changes.
func (v *View) Snapshot() View {
	snapshot := *v
	snapshot.Working, snapshot.Fills = slices.Clone(v.Working), slices.Clone(v.Fills)
	snapshot.Events = slices.Clone(v.Events)
	return snapshot
}
