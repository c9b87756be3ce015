package backtest_test

import (
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"botd/backtest"
	"botd/exchange"
	"botd/exchange/tape"
	"botd/runtime/engine"
	"botd/strategy"
)

// rungs is a strategy that rests 50 purchases below its start price, each under a separate key.
type rungs struct{ top exchange.Price }

const ladderOrders = 50

func (*rungs) Warmup() int { return 5 }

func (r *rungs) Candle(view *strategy.View) {
	if r.top == 0 {
		r.top = view.Last
	}
}

func (r *rungs) Decide(_ *strategy.View, plan *strategy.Plan) {
	plan.OrdersSet, plan.Reason = true, "a ladder"
	for i := range ladderOrders {
		plan.Orders = append(plan.Orders, strategy.DesiredOrder{Key: "rung" + strconv.Itoa(i), Side: exchange.Buy,
			Price: r.top - exchange.Price(i+2)*30e8, Quantity: 5})
	}
}

// TestALadderOfFiftyOrdersIsTheSameLiveAsInABacktest lets prices fall through half of a ladder. Orders, their
// sequence, fills and money are equal, since live a ladder is placed as fast as its orders are acknowledged.
func TestALadderOfFiftyOrdersIsTheSameLiveAsInABacktest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const count = 120
		symbol := symbol(t, exchange.Futures, "0.1", "0.001")
		setting := func(_ *testing.T, symbol *exchange.Symbol) engine.StrategyConfig {
			return engine.StrategyConfig{Name: "parity", Symbol: symbol, Interval: exchange.Minute1, Leverage: 3, Strategy: &rungs{}}
		}
		startMS := time.Now().UnixMilli() + int64(exchange.Minute1)
		candles := wave(symbol, startMS, count)
		untilMS := candles.CloseMS(count - 1)

		recorded := story{untilMS: untilMS}
		result, err := backtest.Run(t.Context(), backtest.Config{Cash: exchange.AmountOf(10_000), Costs: fees(20_000, 50_000), Note: recorded.note,
			Legs: []backtest.Leg{{Strategy: setting(t, symbol), Kind: "ladder", Tape: &tape.Tape{Symbol: symbol, Candles: candles}}}})
		if err != nil {
			t.Fatal(err)
		}
		live := story{untilMS: untilMS}
		money := runLive(t, symbol, candles, &live, untilMS, setting)
		if have := money.Wallet.String(); have != result.Wallet {
			t.Errorf("wallet: backtest %s, live %s", result.Wallet, have)
		}
		compare(t, &recorded, &live)
		story := strings.Join(live.lines, "\n")
		if placed := strings.Count(story, "NotePlaced order"); placed != ladderOrders {
			t.Errorf("want each of %d orders placed once, have %d", ladderOrders, placed)
		}
		if filled := strings.Count(story, "settled order filled"); filled < 10 {
			t.Errorf("want at least 10 orders filled, have %d", filled)
		}
		t.Logf("%d lines equal, %d fills, wallet %s", len(live.lines), result.Fills, result.Wallet)
	})
}
