package backtest

import (
	"context"
	"fmt"
	"math"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/runtime/engine"
	"botd/strategy"
)

const never = math.MaxInt64

// run is one backtest under way: several series, one clock, one account.
type run struct {
	config  *Config
	legs    []leg
	venue   *sim.Exchange
	machine machine
	direct  *direct           // the machine, unless the engine is used
	nowMS   int64             // the last close processed
	price   engine.EventPrice // frequent events are allocated once
	answer  engine.EventAnswer
	written engine.EventJournaled
	effects engine.Effects
	pending []engine.Call // to be performed
	reach   int           // candles that the next stretch examines
	fills   []sim.Fill
	ledger  measurement

	signaled int // signals given so far
	stopped  *EndedBy
	indirect string // why the engine is the machine
}

// leg is one strategy on one symbol under way.
type leg struct {
	config  *Leg
	symbol  *exchange.Symbol
	key     exchange.SymbolKey
	candles *exchange.Candles
	seat    sim.Instrument
	at      int                 // the current candle, or the next one after a gap
	closed  engine.EventCandles // of every candle
	stretch engine.EventStretch // of several
	held    holding
	follows bool           // its strategy has exits that follow the price
	reached exchange.Price // the last price they followed
}

func (l *leg) begin(config *Leg, venue *sim.Exchange) {
	symbol := config.Tape.Symbol
	*l = leg{config: config, symbol: symbol, key: symbol.Key(), candles: config.Tape.Candles,
		follows: strategy.FollowerOf(config.Strategy.Strategy) != nil}
	l.seat, _ = venue.Instrument(l.key)
	l.closed = engine.EventCandles{Series: l.key, Candles: l.candles}
	l.stretch = engine.EventStretch(l.closed)
}

func (l *leg) ended() bool { return l.at >= len(l.candles.OpenMS) }

func (l *leg) openMS() int64 {
	if l.ended() {
		return never
	}
	return l.candles.OpenMS[l.at]
}

func (l *leg) closeMS() int64 {
	if l.ended() {
		return never
	}
	return l.candles.OpenMS[l.at] + int64(l.candles.Interval)
}

// loop processes the closes of all series in order of time.
func (r *run) loop(ctx context.Context) error {
	firstMS, total := int64(never), 0
	for i := range r.legs {
		firstMS = min(firstMS, r.legs[i].openMS())
		total += r.legs[i].candles.Len()
	}
	r.nowMS, r.reach = firstMS, minStretch
	r.give(firstMS-1, &engine.EventStart{})
	for done, reported := 0, 0; done < total; {
		if done >= reported {
			reported += progress
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if r.stops() {
				break
			}
			if most := r.config.MaxFills; most > 0 && len(r.ledger.fills) > most {
				return fmt.Errorf("more than %d fills after %d of %d candles: shorten the period, or have the strategy trade less", most, done, total)
			}
			if r.config.Progress != nil {
				r.config.Progress(done, total)
			}
			if r.config.Pace != nil {
				r.config.Pace(done, total)
			}
		}
		passed, err := r.slot()
		if err != nil {
			return err
		}
		done += passed
		if r.direct != nil && r.direct.uncovered != "" {
			return errUncovered
		}
	}
	r.stops()
	if r.config.Progress != nil {
		r.config.Progress(total, total)
	}
	return nil
}

// slot advances to the next close: everything before it, then the candles that end with it. It skips the paths of
// candles on which nothing is due and nothing can happen.
func (r *run) slot() (passed int, err error) {
	if len(r.legs) == 1 {
		if passed = r.stretch(&r.legs[0]); passed > 0 {
			return passed, nil
		}
	}
	closes := r.nextClose()
	if r.quiet(closes) {
		r.skip(closes)
	} else if err := r.play(closes); err != nil {
		return 0, err
	}
	r.conceal()
	for i := range r.legs {
		l := &r.legs[i]
		if l.closeMS() != closes {
			continue
		}
		l.closed.From, l.closed.To = l.at, l.at+1
		r.effects.Reset()
		r.machine.Handle(closes, &l.closed, &r.effects)
		r.decided(closes)
		passed++
	}
	r.ledger.mark(closes)
	for i := range r.legs {
		if l := &r.legs[i]; l.closeMS() == closes {
			l.at++
		}
	}
	r.nowMS = closes
	return passed, nil
}

func (r *run) nextClose() int64 {
	closes := r.legs[0].closeMS()
	for i := 1; i < len(r.legs); i++ {
		closes = min(closes, r.legs[i].closeMS())
	}
	return closes
}

// quiet reports whether neither the exchange nor the machine has work before the close.
func (r *run) quiet(closes int64) bool {
	if r.machine.NextMS() < closes || r.signalMS() < closes || r.config.walk || r.trails() {
		return false
	}
	for {
		corridors := r.venue.CorridorVersion()
		for i := range r.legs {
			l := &r.legs[i]
			if l.openMS() < closes {
				if !l.seat.Quiet(l.candles.Low[l.at], l.candles.High[l.at], closes-1) {
					return false
				}
			} else if last, _ := l.seat.Price(); !l.seat.Quiet(last, last, closes-1) {
				return false
			}
		}
		if r.venue.CorridorVersion() == corridors {
			return true
		}
	}
}

// skip omits the rest of the candles that end with the close.
func (r *run) skip(closes int64) {
	for i := range r.legs {
		if l := &r.legs[i]; l.closeMS() == closes {
			l.seat.SkipTo(closes-1, l.candles.Close[l.at])
		}
	}
}

// play walks the paths up to the close. The exchange's own moments (the tapes' steps, funding, orders reaching the
// book) and the schedules' ticks come in time order. It begins at the open of a current candle, or at the last close.
func (r *run) play(closes int64) error {
	at := int64(never)
	for i := range r.legs {
		at = min(at, max(r.nowMS, r.legs[i].openMS()))
	}
	if err := r.moment(at); err != nil {
		return err
	}
	for {
		if r.quiet(closes) {
			r.skip(closes)
			return nil
		}
		next := closes - 1
		if due, ok := r.venue.NextMS(); ok && due > at {
			next = min(next, due)
		}
		if due := r.machine.NextMS(); due > at {
			next = min(next, due)
		}
		if due := r.signalMS(); due > at {
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

// moment advances exchange and engine to a time, and runs the engine until it has no more work at that time.
func (r *run) moment(nowMS int64) error {
	before := r.venue.Version()
	r.venue.Advance(nowMS)
	moved := r.venue.Version() != before // a payment or an order's end: the engine must read the account, even without a fill
	if r.signalMS() <= nowMS || r.machine.DecidesMS() <= nowMS {
		r.conceal()
	}
	for i := range r.legs {
		if l := &r.legs[i]; l.openMS() <= nowMS { // no price of a symbol is known in a gap of its record
			r.show(nowMS, l) // the path is a guess, and no decision may depend on it
		}
	}
	r.signal(nowMS)
	for rounds := 0; ; rounds++ {
		if rounds == maxRounds {
			return fmt.Errorf("the plan did not converge within %d rounds at %d", maxRounds, nowMS)
		}
		r.fills = r.venue.TakeFills(r.fills[:0])
		switch {
		case len(r.fills) > 0 || moved:
			moved = false
			r.ledger.bookFills(r.fills)
			r.give(nowMS, &engine.EventRound{})
		case r.machine.NextMS() <= nowMS:
			r.give(nowMS, &engine.EventWake{})
		case r.follow(nowMS):
		default:
			return nil
		}
	}
}

// decided applies the effects of closed candles. Those of the direct machine are a changed plan, if any.
func (r *run) decided(closes int64) {
	switch d := r.direct; {
	case d == nil:
		if len(r.effects.Records) > 0 || len(r.effects.Notes) > 0 || len(r.effects.Calls) > 0 {
			r.perform(closes)
		}
	case d.turned:
		d.turned = false
		r.ledger.events.decided(d.name, d.symbol, d.inForce.Target, d.last, r.ledger.equity)
	}
}

// give hands one event to the engine and applies its effects.
func (r *run) give(nowMS int64, event engine.Event) {
	r.effects.Reset()
	r.machine.Handle(nowMS, event, &r.effects)
	if r.direct == nil { // which trades by itself
		r.perform(nowMS)
	}
}

// perform carries out the effects: records are durable at once, and the exchange in process answers the calls.
func (r *run) perform(nowMS int64) {
	r.gather()
	for {
		var event engine.Event
		switch {
		case len(r.effects.Records) > 0:
			event = &r.written
		case len(r.pending) > 0:
			call := r.pending[0]
			r.pending = r.pending[:copy(r.pending, r.pending[1:])]
			r.answer.CallID = call.ID
			r.answer.Answer, r.answer.Err = r.venue.Do(account, &call.Request)
			event = &r.answer
		default:
			return
		}
		r.effects.Reset()
		r.machine.Handle(nowMS, event, &r.effects)
		r.gather()
	}
}

// gather queues the calls, and passes on records and notes.
func (r *run) gather() {
	r.pending = append(r.pending, r.effects.Calls...)
	if r.config.Record != nil {
		for i := range r.effects.Records {
			r.config.Record(&r.effects.Records[i])
		}
	}
	for i := range r.effects.Notes {
		note := &r.effects.Notes[i]
		r.ledger.events.count(note, r.ledger.equity)
		if r.config.Note != nil {
			r.config.Note(note)
		}
		if r.config.decided != nil {
			r.config.addDecision(note)
		}
	}
}
