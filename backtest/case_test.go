package backtest_test

import (
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"botd/backtest"
	"botd/exchange"
	"botd/exchange/tape"
	"botd/runtime/engine"
	"botd/strategy"
)

// scripted sets a given target on each candle; without one the last target stays.
type scripted struct {
	targets []strategy.Target
	seen    int
	panicAt int // number of the candle at which it panics; 0 for none
}

func (*scripted) Warmup() int { return 0 }

func (s *scripted) Candle(*strategy.View) {
	if s.seen++; s.seen == s.panicAt {
		panic("the script ends here")
	}
}

func (s *scripted) Decide(_ *strategy.View, plan *strategy.Plan) {
	if s.seen >= 1 && s.seen <= len(s.targets) && s.targets[s.seen-1].Kind != strategy.NoTarget {
		plan.Hold(s.targets[s.seen-1], "scripted")
	}
}

// hold returns targets of base quantities such as "0.010"; "." is none.
func hold(t testing.TB, symbol *exchange.Symbol, words string) []strategy.Target {
	t.Helper()
	var targets []strategy.Target
	for word := range strings.FieldsSeq(words) {
		if word == "." {
			targets = append(targets, strategy.Target{})
			continue
		}
		quantity, err := symbol.Quantity(decimal.RequireFromString(word))
		if err != nil {
			t.Fatal(err)
		}
		targets = append(targets, strategy.Target{Kind: strategy.ByQuantity, Quantity: quantity})
	}
	return targets
}

// candlesOf parses candles written as "open high low close", one per line.
func candlesOf(t testing.TB, symbol *exchange.Symbol, interval exchange.Interval, startMS int64, rows string) *tape.Tape {
	t.Helper()
	candles := &exchange.Candles{Interval: interval}
	openMS := startMS
	for line := range strings.Lines(strings.TrimSpace(rows)) {
		fields := strings.Fields(line)
		if fields[0] == "hole" {
			openMS += int64(interval)
			continue
		}
		var p [4]exchange.Price
		for i := range p {
			price, err := symbol.Price(decimal.RequireFromString(fields[i]))
			if err != nil {
				t.Fatal(err)
			}
			p[i] = price
		}
		candles.Append(exchange.Candle{OpenMS: openMS, Open: p[0], High: p[1], Low: p[2], Close: p[3], Volume: 1})
		openMS += int64(interval)
	}
	return &tape.Tape{Symbol: symbol, Candles: candles}
}

// midnight is a UTC midnight, and a funding time.
const midnight = int64(1_700_006_400_000)

// caseConfig is a backtest of a script: 10000 USDT, maker and taker 0.1 %.
func caseConfig(recorded *tape.Tape, script *scripted) backtest.Config {
	return backtest.Config{
		Legs: []backtest.Leg{
			{
				Strategy: engine.StrategyConfig{
					Name:     "case",
					Symbol:   recorded.Symbol,
					Interval: recorded.Candles.Interval,
					Leverage: 5,
					Strategy: script,
				},
				Kind: "scripted",
				Tape: recorded,
			},
		},
		Cash:  exchange.AmountOf(10_000),
		Costs: fees(100_000, 100_000),
	}
}

// fees returns costs with the same fees on both markets.
func fees(maker, taker exchange.Rate) backtest.Costs {
	return backtest.Costs{Futures: backtest.Fees{Maker: maker, Taker: taker}, Spot: backtest.Fees{Maker: maker, Taker: taker}}
}

func mustRun(t testing.TB, config backtest.Config) *backtest.Result {
	t.Helper()
	result, err := backtest.Run(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func same(t *testing.T, what, want, have string) {
	t.Helper()
	if !decimal.RequireFromString(want).Equal(decimal.RequireFromString(have)) {
		t.Errorf("%s: want %s, have %s", what, want, have)
	}
}

// addUp adds the round trips and the open position to the first equity. The sum must equal the last equity,
// whatever happened. The rest that spot fees leave, below one tick, counts at its cost.
func addUp(t *testing.T, r *backtest.Result, last string) {
	t.Helper()
	equity, fees := decimal.RequireFromString(r.InitialEquity), decimal.Zero
	position, open, cost := decimal.Zero, decimal.Zero, decimal.Zero
	for _, e := range r.Executions {
		price, quantity, fee := decimal.RequireFromString(e.Price), decimal.RequireFromString(e.Quantity), decimal.RequireFromString(e.Fee)
		if e.Side == "SELL" {
			cost, quantity = cost.Sub(cost.Mul(quantity).DivRound(decimal.Max(position, quantity), 18)), quantity.Neg()
		} else {
			cost = cost.Add(price.Mul(quantity))
		}
		position, open = position.Add(quantity), open.Sub(price.Mul(quantity))
		if e.FeeAsset == "USDT" {
			fees = fees.Add(fee)
		} else {
			position, cost = position.Sub(fee), cost.Sub(price.Mul(fee))
		}
	}
	want := equity.Add(open).Add(position.Mul(decimal.RequireFromString(last))).Sub(fees).Sub(decimal.RequireFromString(r.TotalFunding))
	same(t, "final equity by the executions", want.String(), r.FinalEquity)
	if r.OpenPosition != nil {
		return
	}
	if r.Market == exchange.Spot.String() {
		equity = equity.Add(position.Mul(decimal.RequireFromString(last))).Sub(cost)
	}
	for _, trip := range r.Trips {
		equity = equity.Add(decimal.RequireFromString(trip.PNL))
	}
	if off := equity.Sub(decimal.RequireFromString(r.FinalEquity)).Abs(); off.GreaterThan(decimal.New(1, -12)) {
		t.Errorf("final equity by the round trips: want %s, have %s", r.FinalEquity, equity)
	}
}

func TestFiguresOfLongAndShort(t *testing.T) {
	t.Parallel()
	symbol := symbol(t, exchange.Futures, "0.1", "0.001")
	recorded := candlesOf(t, symbol, exchange.Hour1, midnight, `
		100 101  99 100
		100 112 100 110
		110 121 110 120
		120 121 118 119
		115 116 104 105
		100 101  99 100`)
	// Targets on closes 1, 3 and 5: bought at 100, turned at 120, closed at 100.
	result := mustRun(t, caseConfig(recorded, &scripted{targets: hold(t, symbol, "10 . -10 . 0 .")}))
	if result.Fills != 4 || result.RoundTrips != 2 || result.Wins != 2 || result.OpenPosition != nil {
		t.Fatalf("want 4 fills, 2 trips, 2 won, nothing open; have %+v", result)
	}
	// Fees: 1 + 1.2 + 1.2 + 1. Profit: 200 and 200.
	same(t, "fees", "4.4", result.TotalFees)
	same(t, "final equity", "10395.6", result.FinalEquity)
	same(t, "wallet", "10395.6", result.Wallet)
	same(t, "first trip", "197.8", result.Trips[0].PNL)
	same(t, "second trip", "197.8", result.Trips[1].PNL)
	same(t, "expectancy", "197.8", *result.Expectancy)
	if result.ProfitFactor != nil {
		t.Errorf("profit factor without a loss: want null, have %v", *result.ProfitFactor)
	}
	// Equity at the closes: 10000, 10099, 10199, 10206.6 ... with no drawdown but the first fees.
	if result.Exposure < 66.6 || result.Exposure > 66.7 {
		t.Errorf("exposure: want 4 of 6 candles, have %v %%", result.Exposure)
	}
	addUp(t, result, "100")
}

func TestFiguresOfSpotExitsInParts(t *testing.T) {
	t.Parallel()
	for _, fromQuote := range []bool{false, true} {
		symbol := symbol(t, exchange.Spot, "0.1", "0.001")
		recorded := candlesOf(t, symbol, exchange.Hour1, midnight, `
			100 100 100 100
			100 100 100 100
			110 110 110 110
			120 120 120 120
			130 130 130 130
			130 130 130 130`)
		config := caseConfig(recorded, &scripted{targets: hold(t, symbol, "10 6 3 0 . .")})
		config.Costs.FeeFromQuote = fromQuote
		result := mustRun(t, config)
		if result.Fills != 4 || result.RoundTrips != 1 {
			t.Fatalf("fee from quote %v: want 4 fills in 1 trip, have %d in %d: %+v", fromQuote, result.Fills, result.RoundTrips, result.Executions)
		}
		addUp(t, result, "130")
	}
}
