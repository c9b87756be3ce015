package backtest

import (
	"context"
	"fmt"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/runtime/engine"
)

// run is one backtest under way.
type run struct {
	config  *Config
	symbol  *exchange.Symbol
	key     exchange.SymbolKey
	candles *exchange.Candles
	venue   *sim.Exchange
	machine *engine.Engine
	event   engine.Event
	closed  engine.Event // of every candle: an event is large, so it is made once
	effects engine.Effects
	pending []engine.Call // to be performed
	fills   []sim.Fill
	ledger  ledger
}

// loop passes the candles in order.
func (r *run) loop(ctx context.Context) error {
	r.closed = engine.Event{Kind: engine.EventCandles, Series: r.key, Candles: r.candles}
	r.give(r.candles.OpenMS[0]-1, engine.Event{Kind: engine.EventStart})
	n := r.candles.Len()
	for i := range n {
		if i&(progress-1) == 0 {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if r.config.Progress != nil {
				r.config.Progress(i, n)
			}
		}
		if err := r.candle(i); err != nil {
			return err
		}
	}
	if r.config.Progress != nil {
		r.config.Progress(n, n)
	}
	return nil
}

// candle plays one candle: its open, its path, its close. When nothing is due
// and nothing could happen between its low and its high, the path is skipped.
func (r *run) candle(i int) error {
	open, closes := r.candles.OpenMS[i], r.candles.CloseMS(i)
	if r.quiet(i, closes) {
		r.venue.SkipTo(closes-1, r.key, r.candles.Close[i])
	} else if err := r.play(i, open, closes); err != nil {
		return err
	}
	r.closed.From, r.closed.To = i, i+1
	r.effects.Reset()
	r.machine.Handle(closes, &r.closed, &r.effects)
	if len(r.effects.Records) > 0 || len(r.effects.Notes) > 0 || len(r.effects.Calls) > 0 {
		r.take(closes)
	}
	r.ledger.mark(i, closes)
	return nil
}

// quiet reports whether neither side has anything to do before the close.
func (r *run) quiet(i int, closes int64) bool {
	return r.machine.NextMS() >= closes && r.venue.Quiet(r.key, r.candles.Low[i], r.candles.High[i], closes-1) && !r.config.walk
}

// play walks the candle's path. The exchange's own moments (the tape's steps,
// funding, orders reaching the book) and the schedule's ticks come in time order.
func (r *run) play(i int, open, closes int64) error {
	if err := r.moment(open); err != nil {
		return err
	}
	for at := open; ; {
		if r.quiet(i, closes) {
			r.venue.SkipTo(closes-1, r.key, r.candles.Close[i])
			return nil
		}
		next := closes - 1
		if due, ok := r.venue.NextMS(); ok && due > at {
			next = min(next, due)
		}
		if due := r.machine.NextMS(); due > at {
			next = min(next, due)
		}
		if err := r.moment(next); err != nil {
			return err
		}
		if at = next; at == closes-1 {
			return nil
		}
	}
}

// moment brings exchange and engine to a time, and lets the engine act until it
// wants nothing more now.
func (r *run) moment(nowMS int64) error {
	before := r.venue.Version()
	r.venue.Advance(nowMS)
	moved := r.venue.Version() != before // a payment, an order's end: the engine is to look, filled or not
	last, mark := r.venue.Price(r.key)
	r.give(nowMS, engine.Event{Kind: engine.EventPrice, Series: r.key, Price: last, Mark: mark})
	for rounds := 0; ; rounds++ {
		if rounds == maxRounds {
			return fmt.Errorf("the plan did not converge within %d rounds at %d", maxRounds, nowMS)
		}
		r.fills = r.venue.TakeFills(r.fills[:0])
		switch {
		case len(r.fills) > 0 || moved:
			moved = false
			r.ledger.take(r.fills)
			r.give(nowMS, engine.Event{Kind: engine.EventRound})
		case r.machine.NextMS() <= nowMS:
			r.give(nowMS, engine.Event{Kind: engine.EventWake})
		default:
			return nil
		}
	}
}

// give hands one event to the engine and carries out all that follows from it.
func (r *run) give(nowMS int64, event engine.Event) {
	r.event = event
	r.effects.Reset()
	r.machine.Handle(nowMS, &r.event, &r.effects)
	r.take(nowMS)
}

// take carries out the effects: records are durable at once, calls are answered
// by the exchange in process.
func (r *run) take(nowMS int64) {
	r.gather()
	for {
		switch {
		case r.effects.Sequence > 0:
			sequence := r.effects.Sequence
			r.event = engine.Event{Kind: engine.EventJournaled, Sequence: sequence}
		case len(r.pending) > 0:
			call := r.pending[0]
			r.pending = r.pending[:copy(r.pending, r.pending[1:])]
			answer, err := r.venue.Do(account, &call.Request)
			r.event = engine.Event{Kind: engine.EventAnswer, CallID: call.ID, Answer: answer, Err: err}
		default:
			return
		}
		r.effects.Reset()
		r.machine.Handle(nowMS, &r.event, &r.effects)
		r.gather()
	}
}

// gather keeps the calls to be performed and shows records and notes.
func (r *run) gather() {
	r.pending = append(r.pending, r.effects.Calls...)
	if r.config.Record != nil {
		for i := range r.effects.Records {
			r.config.Record(&r.effects.Records[i])
		}
	}
	for i := range r.effects.Notes {
		note := &r.effects.Notes[i]
		r.ledger.events.count(note)
		if r.config.Note != nil {
			r.config.Note(note)
		}
	}
}
