package engine

import (
	"fmt"
	"slices"
	"testing"

	"botd/exchange"
	"botd/internal/reconciletest"
	"botd/reconcile/record"
	"botd/risk"
	"botd/strategy"
)

// waving targets 10 above a price of 50,000, stores each fifth candle in its memory, and notes what it is
// given.
type waving struct {
	warmup int
	seen   []string
	panics int  // the candle at which it panics; 0 for never
	mute   bool // it requests nothing instead of no position
}

func (x *waving) Warmup() int { return x.warmup }

func (x *waving) Candle(view *strategy.View) {
	x.seen = append(x.seen, fmt.Sprint("candle ", view.Close()/1e8, " at ", view.NowMS, " of ", view.Closed()))
	if len(x.seen) == x.panics {
		panic("a bug")
	}
}

func (x *waving) Decide(view *strategy.View, plan *strategy.Plan) {
	x.seen = append(x.seen, fmt.Sprint("decides ", view.Last/1e8, " at ", view.NowMS))
	quantity := exchange.Quantity(0)
	if view.Last > 50_000e8 {
		quantity = 10
	}
	if quantity != 0 || !x.mute {
		plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: quantity}, "a test")
	}
	if minute := view.NowMS / minuteMS; minute%5 == 0 {
		plan.Remember("n", minute)
	}
}

// inBacktest is a bench whose engine is fed closed candles, and decides at closes.
func inBacktest(t *testing.T, x strategy.Strategy, change func(e *Engine)) *bench {
	b := newBench(t, &wanting{})
	b.engine.legs[0].schedule.nextMS = never
	b.give(&EventWake{}) // the first round
	one := b.engine.legs[0]
	one.config.Strategy, one.config.Schedule, one.schedule.nextMS = x, nil, never
	b.engine.config.Quiet, b.engine.config.BusyRoundMS, b.engine.config.IdleRoundMS = true, 0, 0
	if change != nil {
		change(b.engine)
	}
	return b
}

// feeds feeds the candles, in stretches of at most that many, or one by one for 0, and returns what was journalled and seen.
func (b *bench) feeds(x *waving, candles *exchange.Candles, longest int) []string {
	for at := 0; at < candles.Len(); {
		one := EventCandles{Series: bitcoin, Candles: candles, From: at, To: at + 1}
		var event Event = &one
		if longest > 0 {
			one.To = min(candles.Len(), at+longest-at%longest) // no scheduled tick is inside
			event = new(EventStretch(one))
		}
		b.out.Reset()
		b.engine.Handle(candles.CloseMS(at), event, &b.out)
		taken := b.out.Consumed
		if longest == 0 {
			taken = 1
		}
		if taken < 1 {
			b.t.Fatalf("want a candle taken at least, have %d", taken)
		}
		at += taken
		b.now = candles.CloseMS(at - 1)
		b.records = append(b.records, b.out.Records...)
		b.notes = append(b.notes, b.out.Notes...)
		calls := slices.Clone(b.out.Calls)
		if len(b.out.Records) > 0 {
			b.give(&EventJournaled{})
		}
		for _, call := range calls {
			if !call.Request.Operation.Changes() {
				b.give(b.read(call))
			}
		}
		b.give(&EventWake{})
	}
	all := slices.Clone(x.seen)
	for _, r := range b.records {
		if r.Kind() != record.KindBoot {
			all = append(all, fmt.Sprint(r.AtMS, " ", r.Kind(), " ", r.Summary()))
		}
	}
	return append(all, fmt.Sprint("last ", b.engine.legs[0].symbol.Last()/1e8, " mark ", b.engine.legs[0].symbol.Mark()/1e8, " at ",
		b.engine.legs[0].symbol.LastMS(), ", ticked ", b.engine.legs[0].schedule.lastMS, ", seen ", b.engine.legs[0].schedule.seen,
		", failed ", b.engine.legs[0].failure.why,
		", silent ", b.engine.legs[0].decision.silent))
}

// wave returns candles whose closes are above 50,000 for seven of fourteen.
func wave(count int) *exchange.Candles {
	candles := &exchange.Candles{Interval: exchange.Minute1}
	for i := range count {
		price := exchange.Price(50_000-100+200*(i/7%2)+i) * 1e8
		candles.Append(exchange.Candle{OpenMS: startMS + int64(i)*minuteMS, Open: price, High: price, Low: price, Close: price, Volume: 1})
	}
	return candles
}

// Both ways lead to the same views, decisions and memory, and to the same journal.
func TestStretchEqualsSingleCandles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		warmup  int
		panics  int
		longest int
		change  func(e *Engine)
	}{
		{"a strategy by candles", 0, 0, 60, nil},
		{"with a warm-up", 9, 0, 60, nil},
		{"that fails", 3, 12, 60, nil},
		{"that fails at its first candle", 0, 1, 60, nil},
		{"that had failed", 0, 0, 60, func(e *Engine) { e.legs[0].failure.why = "a bug" }},
		{"by a schedule", 0, 0, 6, func(e *Engine) {
			e.legs[0].config.Schedule = each(6 * minuteMS)
			e.legs[0].schedule.nextMS = startMS + 6*minuteMS
		}},
		{"with notes for people", 0, 0, 60, func(e *Engine) { e.config.Quiet = false }},
		{"with a latch", 0, 0, 60, func(e *Engine) {
			e.tracker.Apply(&record.Record{Strategy: "BTC-USDT", Symbol: bitcoin, Body: record.Plan{Plan: &strategy.Plan{
				Target: strategy.Target{Kind: strategy.ByQuantity, Quantity: 10}}}})
			e.tracker.Apply(&record.Record{Strategy: "BTC-USDT", Body: record.Latch{Side: 1}})
		}},
		{"with a limit on the equity", 0, 0, 60, func(e *Engine) {
			e.limits.watching, e.config.Limits.MaxDrawdown = true, risk.Loss{USDT: exchange.AmountOf(50)}
		}},
		{"that asks for nothing now and then", 0, 0, 60, func(e *Engine) { e.legs[0].config.Strategy.(*waving).mute = true }},
		{"that watches what happens", 0, 0, 60, func(e *Engine) { e.legs[0].watched.subscription = strategy.Watching{Events: true} }},
	} {
		x, y := &waving{warmup: c.warmup, panics: c.panics}, &waving{warmup: c.warmup, panics: c.panics}
		stretched := inBacktest(t, x, c.change).feeds(x, wave(60), c.longest)
		single := inBacktest(t, y, c.change).feeds(y, wave(60), 0)
		if !slices.Equal(stretched, single) {
			for i := range max(len(stretched), len(single)) {
				if i >= len(stretched) || i >= len(single) || stretched[i] != single[i] {
					t.Errorf("%s: line %d of %d and %d differs\nstretch %v\nsingle  %v", c.name, i, len(stretched), len(single),
						stretched[i:min(i+2, len(stretched))], single[i:min(i+2, len(single))])
					break
				}
			}
		}
		if c.panics == 0 && len(single) < 30 && c.name != "that had failed" {
			t.Errorf("%s: want it to see and decide, have %q", c.name, single)
		}
	}
}

// An effect is a request, a note or a record.
func TestStretchEndsAtCandleWithEffect(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		with func(m *market, one *leg)
		want int // number of candles taken, of five
	}{
		{"nothing comes of any", func(_ *market, one *leg) { one.watched.subscription.Events = true }, 5},
		{"a funding rate is due at the close of the third", func(m *market, one *leg) {
			one.watched.subscription.Funding, one.watched.fundingMS = true, m.nowMS+3*minuteMS
		}, 3},
		{"nobody trades the symbol", func(m *market, one *leg) { one.series.legs = nil }, 5},
		{"people look on", func(m *market, _ *leg) { m.config.Quiet = false }, 1},
		{"the account has lost too much at the fourth", func(m *market, one *leg) {
			*reconciletest.Of(m.tracker).Account, *reconciletest.Of(m.tracker).AccountMS = exchange.MarginAccount{WalletBalance: exchange.AmountOf(1_000)}, 1
			m.record(record.Record{Body: record.Day{StartMS: m.nowMS, Equity: exchange.AmountOf(1_000), Peak: exchange.AmountOf(1_000), Markets: "futures"}})
			m.emitted, m.unwritten = 1, nil
			m.config.Limits.MaxDrawdown, m.limits.watching = risk.Loss{USDT: exchange.AmountOf(10)}, true
			see(one.symbol, func(o *seen) { o.Position, o.EntryPrice, o.MarkedAt = 1_000, exchange.AmountOf(101), 101e8 })
		}, 4},
	} {
		m, s := polled(t, bitcoin, 0)
		m.config.Feed, m.config.Quiet = true, true
		one := s.legs[0]
		one.config.Schedule, one.watched.fundingMS = nil, never
		fed := &exchange.Candles{Interval: exchange.Minute1}
		for i, price := range []exchange.Price{101e8, 101e8, 101e8, 90e8, 90e8} {
			candle := candleAt(m.nowMS + int64(i)*minuteMS)
			candle.Close = price
			fed.Append(candle)
		}
		c.with(m, one)
		if m.applyStretch(&EventStretch{Series: bitcoin, Candles: fed, To: 5}); m.out.Consumed != c.want || s.end != c.want {
			t.Errorf("%s: want %d candles taken, have %d, %d", c.name, c.want, m.out.Consumed, s.end)
		}
	}
}

// batching prepares its decisions, and reports how many.
type batching struct {
	waving
	far     int // number of candles that it can prepare; 0 for none
	batches []string
	held    []exchange.Quantity // the position at its decisions
}

func (x *batching) Decide(view *strategy.View, plan *strategy.Plan) {
	x.held = append(x.held, view.Position.Quantity)
	x.waving.Decide(view, plan)
}

func (x *batching) Batch(view *strategy.View, candles *exchange.Candles, from, to int, equity func(at int) exchange.Amount) int {
	text := fmt.Sprint(from, " to ", to, " held ", view.Position.Quantity)
	if equity != nil {
		text += fmt.Sprint(" equity ", equity(from))
	}
	x.batches = append(x.batches, text)
	return from + x.far
}

// A strategy prepares once it has seen enough candles, while no side is latched. It is given only the candles that it has prepared,
// and the account's value at each close while it has a position.
func TestStrategyPreparesSeveralDecisions(t *testing.T) {
	t.Parallel()
	flat := &exchange.Candles{Interval: exchange.Minute1}
	for i := range 20 {
		flat.Append(exchange.Candle{OpenMS: startMS + int64(i)*minuteMS, Open: 40_000e8, High: 40_000e8, Low: 40_000e8, Close: 40_000e8, Volume: 1})
	}
	holds := func(e *Engine) { see(e.legs[0].symbol, func(o *seen) { o.Position = 10 }) }
	for _, c := range []struct {
		name   string
		warmup int
		far    int
		change func(e *Engine)
		want   string
		end    int
	}{
		{"as far as it can", 0, 4, nil, "[0 to 20 held 0]", 4},
		{"nothing prepared", 0, 0, nil, "[0 to 20 held 0]", 5},
		{"one candle before its warm-up", 1, 4, nil, "[0 to 20 held 0]", 4},
		{"still warming up", 2, 4, nil, "[]", 5},
		{"a side is latched", 0, 4, func(e *Engine) {
			e.tracker.Apply(&record.Record{Strategy: "BTC-USDT", Body: record.Latch{Side: 1}})
		}, "[]", 5},
		{"with a position", 0, 4, holds, "[0 to 20 held 10 equity 9900]", 4},
	} {
		x := &batching{waving: waving{warmup: c.warmup}, far: c.far}
		b := inBacktest(t, x, nil)
		leg := b.engine.legs[0]
		see(leg.symbol, func(o *seen) { o.EntryPrice, o.MarkedAt = exchange.AmountOf(50_000), 50_000e8 })
		b.engine.tracker.Apply(&record.Record{Strategy: "BTC-USDT", Symbol: bitcoin, Body: record.Plan{Plan: &strategy.Plan{Target: strategy.Flat(),
			Reason: "a test"}}})
		if c.change != nil {
			c.change(b.engine)
		}
		s := b.engine.market.seriesOf(bitcoin, exchange.Minute1)
		s.candles = flat
		b.engine.out = &b.out
		b.out.Reset()
		end, _ := b.engine.tick.candles(leg, s, 0, flat.Len())
		if len(x.held) > 0 && x.held[0] != leg.symbol.Position() {
			t.Errorf("%s: want the first decision with what is held, %d, have %d", c.name, leg.symbol.Position(), x.held[0])
		}
		if have := fmt.Sprint(x.batches); have != c.want || end != c.end {
			t.Errorf("%s: want %s, candles to %d, have %s, %d (%s)", c.name, c.want, c.end, have, end, leg.failure.why)
		}
	}
}
