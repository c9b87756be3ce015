package engine

import (
	"strings"
	"testing"

	"botd/exchange"
	"botd/risk"
	"botd/strategy"
)

// freeze has the exchange answer reads of the market as of a moment, including their own times.
func freeze(w *world) {
	since := w.now
	var ticker *exchange.Ticker
	w.mirror = func(answer *exchange.Answer) {
		if candles := answer.Candles; candles != nil {
			remaining := &exchange.Candles{Interval: candles.Interval}
			for i := range candles.Len() {
				if candles.OpenMS[i] <= since {
					remaining.Append(candles.At(i))
				}
			}
			answer.Candles = remaining
		}
		if answer.Operation == exchange.FuturesTicker {
			if ticker == nil {
				first := answer.Tickers.Items()[0]
				first.CloseMS = since
				ticker = &first
			}
			answer.Tickers = exchange.FetchedOf([]exchange.Ticker{*ticker})
		}
	}
}

// later requests a position from a moment on.
func later(fromMS *int64) func(*strategy.View, *strategy.Plan) {
	return func(view *strategy.View, plan *strategy.Plan) {
		target := strategy.Flat()
		if *fromMS != 0 && view.NowMS >= *fromMS {
			target = strategy.Target{Kind: strategy.ByQuantity, Quantity: 10}
		}
		plan.Hold(target, "a test")
	}
}

func TestFrozenMarketIsStaleAndBlocksOpenings(t *testing.T) {
	t.Parallel()
	var opens int64
	w := newWorld(t, later(&opens), accountLimits(risk.Limits{MaxDataAgeMS: 120_000}))
	w.pass(130_000)
	w.wantSound()
	freeze(w)
	frozen := w.now
	w.pass(150_000) // the newest closed candle belongs to the current minute, and is valid for two more
	w.wantSound()
	w.pass(120_000)
	d := w.wantState("stale")
	if d.Scope.Symbol != bitcoin || d.SinceMS > frozen+60_000 || d.SinceMS < frozen-60_000 || !strings.Contains(d.Cause, "have stalled") ||
		w.engine.Blind(bitcoin) {
		t.Errorf("want the symbol stale since its newest closed candle, and nothing blind; have %+v", d)
	}
	if age := w.now - w.symbol().LastMS(); age < 180_000 {
		t.Errorf("want a price as old as the exchange's own times, have %d ms", age)
	}
	opens = w.now
	w.pass(20_000)
	w.wantSent(0)
	if len(facts[NoteStalled](w.notes)) != 1 {
		t.Errorf("want it reported once, have %d", len(facts[NoteStalled](w.notes)))
	}
	w.mirror = nil
	w.pass(30_000)
	w.wantSound()
	w.wantSent(1)
	if len(facts[NoteStalled](w.notes)) != 2 {
		t.Errorf("want its end reported, have %d notes", len(facts[NoteStalled](w.notes)))
	}
}

func TestMarketWithoutTradesIsNotStale(t *testing.T) {
	t.Parallel()
	var opens int64
	w := newWorld(t, later(&opens), accountLimits(risk.Limits{MaxDataAgeMS: 120_000}))
	began := w.now
	w.mirror = func(answer *exchange.Answer) {
		if answer.Operation == exchange.FuturesTicker { // its time is that of the last trade
			ticker := answer.Tickers.Items()[0]
			ticker.CloseMS = began
			answer.Tickers = exchange.FetchedOf([]exchange.Ticker{ticker})
		}
	}
	for range 60 { // the price is constant for an hour
		w.pass(60_000)
		w.wantSound()
	}
	opens = w.now
	w.pass(20_000)
	w.wantSent(1)
	if len(facts[NoteStalled](w.notes)) != 0 {
		t.Errorf("want nothing reported, have %d", len(facts[NoteStalled](w.notes)))
	}
}

func TestAMachineThatSleptIsNotTakenForAFrozenMarket(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(0))
	w.pass(130_000)
	w.now += 3 * 3_600_000
	w.pass(20_000)
	w.wantSound()
	if len(facts[NoteStalled](w.notes)) != 0 {
		t.Errorf("want nothing reported, have %d", len(facts[NoteStalled](w.notes)))
	}
}
