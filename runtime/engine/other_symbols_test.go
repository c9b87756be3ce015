package engine

import (
	"strings"
	"testing"

	"botd/exchange"
	"botd/strategy"
)

// pairReader reads the candles of another symbol, and notes at each of its own candles whether the other
// symbol's was there.
type pairReader struct {
	scripted
	reads []exchange.SymbolKey
	seen  *[]bool
}

func (p pairReader) ReadsOthers() []exchange.SymbolKey { return p.reads }

func (p pairReader) Warmup() int { return 3 }

func (p pairReader) Candle(view *strategy.View) {
	_, known := view.Other(0)
	*p.seen = append(*p.seen, known)
}

// readsEther has the strategy read the candles of another symbol, once per candle.
func readsEther(seen *[]bool) option {
	return func(w *world) {
		one := &w.config.Strategies[0]
		one.Strategy = pairReader{one.Strategy.(scripted), []exchange.SymbolKey{ether}, seen}
		one.Others = []strategy.Other{{Symbol: w.venue.Symbol(ether)}}
	}
}

// wantAllSeen expects each candle to be seen together with the other symbol's, and at least that many.
func (w *world) wantAllSeen(seen []bool, least int) {
	w.t.Helper()
	for i, known := range seen {
		if !known {
			w.t.Errorf("candle %d of %d was seen without the other symbol's", i, len(seen))
		}
	}
	if len(seen) < least {
		w.t.Errorf("want at least %d candles seen, have %d", least, len(seen))
	}
}

// The strategy decides as in a backtest.
func TestStrategyWaitsForCandlesOfOtherSymbols(t *testing.T) {
	t.Parallel()
	var seen []bool
	late := int64(0)
	w := newWorld(t, hold(20), offload, byCandles, readsEther(&seen))
	w.network = func(call *Call) fate {
		if call.Request.Operation == exchange.FuturesCandles && call.Request.Symbol == "ETH-USDT" {
			return fate{longMS: late}
		}
		return fate{}
	}
	w.pass(10 * 60_000)
	w.wantAllSeen(seen, 9)
	w.wantHeld(20)
	late = 20_000
	before := len(seen)
	for range 15 * 60 { // a second each
		w.pass(1_000)
		if status := w.engine.Status().Strategies[0]; strings.Contains(status.StateReason, "waits for the newest candle of futures ETH-USDT") {
			late = 0
		}
	}
	if late != 0 {
		t.Error("want its status to say what it waits for")
	}
	w.wantAllSeen(seen, before+14)
	w.wantSound()
}

func TestPlanStaysWhileOtherSymbolIsUnreadable(t *testing.T) {
	t.Parallel()
	var seen []bool
	target := exchange.Quantity(20)
	w := newWorld(t, func(view *strategy.View, plan *strategy.Plan) { hold(target)(view, plan) }, protected, offload, byCandles, readsEther(&seen))
	w.pass(5 * 60_000)
	w.wantHeld(20)
	target = 40
	w.network = func(call *Call) fate {
		if call.Request.Symbol == "ETH-USDT" {
			return fate{err: &exchange.Unavailable{Reason: "not sent"}}
		}
		return fate{}
	}
	before := len(seen)
	w.pass(10 * 60_000)
	w.wantHeld(20)
	w.wantState("stale")
	if len(seen) > before+1 {
		t.Errorf("want no candle given meanwhile, have %d", len(seen)-before)
	}
	w.network = nil
	w.pass(3 * 60_000)
	w.wantHeld(40)
	w.wantAllSeen(seen, before+10)
	w.wantSound()
}

func TestAReloadBeginsAndEndsTheReadingOfOtherSymbols(t *testing.T) {
	t.Parallel()
	var seen []bool
	w := newWorld(t, hold(20), offload, byCandles)
	w.pass(5 * 60_000)
	plain := w.config.Strategies[0]
	reading := plain
	reading.Strategy = pairReader{scripted(hold(30)), []exchange.SymbolKey{ether}, &seen}
	reading.Others = []strategy.Other{{Symbol: w.venue.Symbol(ether)}}
	w.give(&EventReload{Reload: &Reload{Strategies: []*StrategyConfig{&reading}}})
	w.pass(5 * 60_000)
	w.wantHeld(30)
	if !seen[len(seen)-1] {
		t.Error("want the other symbol's candles seen")
	}
	if have := len(w.engine.market.series); have != 2 {
		t.Errorf("want two series read, have %d", have)
	}
	w.give(&EventReload{Reload: &Reload{Strategies: []*StrategyConfig{&plain}}})
	w.pass(5 * 60_000)
	w.wantHeld(20)
	if have := len(w.engine.market.series); have != 1 {
		t.Errorf("want one series read, have %d", have)
	}
	w.wantSound()
}
