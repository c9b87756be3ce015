package backtest_test

import (
	"fmt"
	"hash/fnv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"botd/backtest"
	"botd/exchange"
	"botd/exchange/tape"
	"botd/runtime/engine"
	"botd/strategy"
	"botd/strategy/overlay"
)

// witness is a strategy that counts events in its memory, and lists all of them in its reasons.
type witness struct{ strategy.Strategy }

func (witness) Watches() strategy.Watching { return strategy.Watching{Events: true} }

func (w witness) Decide(view *strategy.View, plan *strategy.Plan) {
	w.Strategy.Decide(view, plan)
	sum := fnv.New64a()
	for _, e := range view.Events {
		n, _ := view.Memory.Get(e.Kind.String())
		if now, again := plan.Remembered().Get(e.Kind.String()); again {
			n = now
		}
		plan.Remember(e.Kind.String(), n+1)
		before, _ := view.Memory.Get("sum")
		fmt.Fprint(sum, before, e.Kind, e.Key, e.Side, e.Reduces, e.Quantity, e.Price, e.Rule)
		plan.Remember("sum", int64(sum.Sum64()))
	}
	memory, _ := view.Memory.With(plan.Remembered())
	plan.Reason += fmt.Sprint(memory.Entries())
}

func witnessed(t *testing.T, symbol *exchange.Symbol) engine.StrategyConfig {
	config := paritySetting(t, symbol, overlay.Exit{})
	config.Strategy = witness{config.Strategy}
	return config
}

// TestLiveAndBacktestShowAStrategyTheSameEvents compares, for every decision, the events shown before it:
// fills with their prices, stops, take-profits and latches.
func TestLiveAndBacktestShowAStrategyTheSameEvents(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const count = 240
		symbol := symbol(t, exchange.Futures, "0.1", "0.001")
		startMS := time.Now().UnixMilli() + int64(exchange.Minute1)
		candles := wave(symbol, startMS, count)
		untilMS := candles.CloseMS(count - 1)

		recorded := story{untilMS: untilMS}
		if _, err := backtest.Run(t.Context(), backtest.Config{Cash: exchange.AmountOf(10_000), Costs: fees(20_000, 50_000), Note: recorded.note,
			Legs: []backtest.Leg{{Strategy: witnessed(t, symbol), Kind: "sma_cross", Tape: &tape.Tape{Symbol: symbol, Candles: candles}}}}); err != nil {
			t.Fatal(err)
		}
		live := story{untilMS: untilMS}
		runLive(t, symbol, candles, &live, untilMS, witnessed)
		compare(t, &recorded, &live)
		for _, kind := range []string{"filled", "stopped", "took_profit", "latched", "released"} {
			if !strings.Contains(strings.Join(recorded.lines, "\n"), "{"+kind+" ") {
				t.Errorf("the story holds no event %q", kind)
			}
		}
	})
}
