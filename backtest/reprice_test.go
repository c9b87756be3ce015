package backtest

import (
	"math"
	"testing"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/tape"
	"botd/runtime/engine"
	"botd/strategy"
)

func symbolOf(t *testing.T, market exchange.Market) *exchange.Symbol {
	t.Helper()
	symbol, found := exchange.FindSymbol(sim.DefaultSymbols(), market, "BTC-USDT")
	if !found {
		t.Fatal("want BTC-USDT built in")
	}
	return symbol
}

// A fill of 1000 USDT costs the difference of the rates more, and of its slippage what it has not paid yet; nothing costs less, and
// a liquidation costs the same.
func TestFillsAtOtherCosts(t *testing.T) {
	t.Parallel()
	futures, spot := symbolOf(t, exchange.Futures), symbolOf(t, exchange.Spot)
	own := Costs{Futures: Fees{Maker: 20_000, Taker: 50_000}, Spot: Fees{Maker: 100_000, Taker: 100_000}} // 0.02 %, 0.05 %, 0.1 %
	unit, amount := exchange.Price(math.Pow10(futures.PriceScale)), exchange.MustAmount
	at := func(order int64, maker bool, slipped, fee, asset string) sim.Fill {
		return sim.Fill{OrderID: order, Price: 50_000 * unit, Quantity: futures.QuantityTick * 20, Maker: maker, Slipped: amount(slipped), Fee: amount(fee),
			FeeAsset: asset}
	}
	for _, c := range []struct {
		name                 string
		market               *exchange.Symbol
		under                Costs
		fills                []sim.Fill
		equity, funding      string
		repriced, unburdened string
	}{
		{"nothing", futures, own, nil, "100", "0", "100", "100"},
		{"a taker's fee", futures, Costs{Futures: Fees{Maker: 20_000, Taker: 80_000}}, []sim.Fill{at(1, false, "0", "0.5", "USDT")},
			"100", "0", "99.7", "100.5"},
		{"a smaller fee", futures, Costs{Futures: Fees{Taker: 10_000}}, []sim.Fill{at(1, false, "0", "0.5", "USDT")}, "100", "0", "100", "100.5"},
		{"a maker's fee", futures, Costs{Futures: Fees{Maker: 50_000, Taker: 90_000}}, []sim.Fill{at(1, true, "0", "0.2", "USDT")},
			"100", "0", "99.7", "100.2"},
		{"a maker pays no slippage", futures, Costs{Futures: own.Futures, Slippage: 100_000}, []sim.Fill{at(1, true, "0", "0.2", "USDT")}, "100", "0", "100",
			"100.2"},
		{"slippage", futures, Costs{Futures: own.Futures, Slippage: 100_000}, []sim.Fill{at(1, false, "0.4", "0.5", "USDT")}, "100", "0", "99.4", "100.9"},
		{"more slippage than that", futures, Costs{Futures: own.Futures, Slippage: 10_000}, []sim.Fill{at(1, false, "0.4", "0.5", "USDT")}, "100", "0", "100",
			"100.9"},
		{"a better price than quoted", futures, Costs{Futures: own.Futures}, []sim.Fill{at(1, false, "-0.4", "0.5", "USDT")}, "100", "0", "99.6", "100.5"},
		{"a liquidation", futures, Costs{Futures: Fees{Maker: 90_000, Taker: 90_000}},
			[]sim.Fill{at(0, false, "0", "0.5", "USDT")}, "100", "0", "100", "100.5"},
		{"two fills", futures, Costs{Futures: Fees{Maker: 50_000, Taker: 80_000}},
			[]sim.Fill{at(1, false, "0", "0.5", "USDT"), at(2, true, "0", "0.2", "USDT")},
			"100", "0", "99.4", "100.7"},
		{"funding paid", futures, own, nil, "100", "2", "100", "102"},
		{"funding received", futures, own, nil, "100", "-2", "100", "100"},
		{"a rebate", futures, own, []sim.Fill{at(1, true, "0", "-0.2", "USDT")}, "100", "0", "100", "100"},
		{"a fee in BTC", spot, Costs{Spot: Fees{Maker: 100_000, Taker: 150_000}}, []sim.Fill{at(1, false, "0", "0.00002", "BTC")}, "100", "0", "99.5", "101"},
		{"nothing is lost but what there was", futures, Costs{Slippage: exchange.RateOne / 2}, []sim.Fill{at(1, false, "0", "0.5", "USDT")}, "100", "0", "0",
			"100.5"},
		{"nor what is lost already", futures, Costs{Slippage: exchange.RateOne / 2}, []sim.Fill{at(1, false, "0", "0.5", "USDT")}, "-3", "0", "-3", "-2.5"},
	} {
		r := &run{config: &Config{Costs: own}, legs: []leg{{symbol: c.market}}}
		r.ledger.equity = amount(c.equity)
		for _, f := range c.fills {
			if c.market == spot { // the same quantity in its ticks
				f.Quantity = spot.QuantityTick * 2_000
			}
			r.ledger.fills = append(r.ledger.fills, fill{OrderID: f.OrderID, Price: f.Price, Quantity: f.Quantity, Fee: f.Fee,
				InBase: f.FeeAsset != c.market.Quote, Maker: f.Maker, Slipped: f.Slipped})
		}
		if have := r.repriced(c.under); have != amount(c.repriced) {
			t.Errorf("%s: want %s at the other costs, have %s", c.name, c.repriced, have)
		}
		if have := r.unburdened(amount(c.funding)); have != amount(c.unburdened) {
			t.Errorf("%s: want %s without costs, have %s", c.name, c.unburdened, have)
		}
	}
}

// Of 200 USDT taken, 1 slipped. A profit of 10 breaks even at 5 % more; where sizes follow the equity, at the logarithm over the load.
func TestBreakEvenSlippage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		equity, taken string
		load          float64
		shares        bool
		want          float64 // 0 for none
	}{
		{"110", "200", 2, false, 5.5},
		{"110", "200", 2, true, 100 * (0.005 + math.Log(1.1)/2)},
		{"110", "200", 0, true, 5.5},
		{"100", "200", 2, false, 0},
		{"90", "200", 2, false, 0},
		{"110", "0", 2, false, 0},
		{"100.5", "200", 2, false, 0.75},
	} {
		r := &run{legs: []leg{{config: &Leg{}}, {config: &Leg{}}}}
		if r.legs[0].config.Strategy.Size = (strategy.Size{Equity: 1}); c.shares {
			r.legs[1].config.Strategy.Size = strategy.Size{Equity: 1}
		}
		l := &r.ledger
		l.initial, l.equity, l.takerValue, l.slipped, l.load = exchange.AmountOf(100), exchange.MustAmount(c.equity), exchange.MustAmount(c.taken),
			exchange.AmountOf(1), c.load
		have := r.breakEven()
		if (have == nil) != (c.want == 0) || have != nil && math.Abs(*have-c.want) > 1e-12 {
			t.Errorf("%+v: have %s", c, Figure(have, 6))
		}
	}
}

// An order is on its way for the latency and the longest time between two prices, where it may wait for one.
func TestTimeForWhichOrderIsUnseen(t *testing.T) {
	t.Parallel()
	minutes := barsAt(exchange.Minute1, 0, 1, 4, 5) // a gap of three minutes
	hours := barsAt(exchange.Hour1, 0, 1)
	trades := &exchange.Trades{TimeMS: []int64{0, 10, 250_010, 250_020}}
	one := Leg{Strategy: engine.StrategyConfig{Name: "one"}, Tape: &tape.Tape{Candles: minutes}}
	two := Leg{Strategy: engine.StrategyConfig{Name: "two"}, Tape: &tape.Tape{Candles: hours}}
	traded := one
	traded.Trades = trades
	for _, c := range []struct {
		legs  []Leg
		costs Costs
		want  int64
	}{
		{[]Leg{one}, Costs{}, 0},
		{[]Leg{one}, Costs{LatencyMS: 1}, 180_001},
		{[]Leg{one}, Costs{LaterMS: 20}, 180_020},
		{[]Leg{one}, Costs{LatencyMS: 100, LaterMS: 20}, 180_120},
		{[]Leg{one}, Costs{VolumeCap: 1}, 180_000},
		{[]Leg{two}, Costs{LatencyMS: 1}, 3_600_001},
		{[]Leg{one, two}, Costs{}, 3_600_000},
		{[]Leg{one, one}, Costs{}, 180_000},
		{[]Leg{traded}, Costs{}, 250_000},
		{[]Leg{traded}, Costs{LatencyMS: 5}, 250_005},
	} {
		config := Config{Legs: c.legs, Costs: c.costs}
		if have := config.bounds(); have.WindowMS != c.want || have.VisibilityMS != 1 || have.StalenessMS != 1 {
			t.Errorf("%d series, %+v: want %d ms, have %+v", len(c.legs), c.costs, c.want, have)
		}
	}
}

// A volume cap needs a volume in each series.
func TestCostsOfColumns(t *testing.T) {
	t.Parallel()
	have := Costs{Futures: Fees{Maker: 20_000, Taker: 50_000}, Spot: Fees{Maker: 100_000, Taker: 80_000}, FeeFromQuote: true, Slippage: 30_000, Impact: 7,
		VolumeCap: 10_000_000, LatencyMS: 600, LaterMS: 5, Queue: 4, Path: sim.ByDirection, Funding: 9}
	want := have
	want.Futures.Maker, want.Slippage, want.Impact, want.VolumeCap, want.LatencyMS = 50_000, 60_000, 14, 5_000_000, 1_200
	want.Path, want.Through, want.Queue = sim.Worst, true, 0
	if got := have.pessimistic(); got != want {
		t.Errorf("want %+v, have %+v", want, got)
	}
	if got, want := have.ideal(), (Costs{FeeFromQuote: true, Path: sim.Best, Queue: exchange.RateOne}); got != want {
		t.Errorf("want %+v, have %+v", want, got)
	}
	want = Costs{Slippage: 50_000, VolumeCap: 10_000_000, LatencyMS: 1_000, Path: sim.Worst, Through: true} // of a small venue
	if got := (Costs{}).pessimistic(); got != want {
		t.Errorf("want %+v, have %+v", want, got)
	}
	quiet, traded := barsAt(exchange.Minute1, 0, 1), barsAt(exchange.Minute1, 0, 1)
	traded.Volume[1] = 0.5
	for _, c := range []struct {
		legs []*exchange.Candles
		want bool
	}{{[]*exchange.Candles{quiet}, false}, {[]*exchange.Candles{traded}, true}, {[]*exchange.Candles{traded, quiet}, false}} {
		var config Config
		for _, candles := range c.legs {
			config.Legs = append(config.Legs, Leg{Tape: &tape.Tape{Candles: candles}})
		}
		if config.hasVolume() != c.want {
			t.Errorf("%d series: want a volume %t", len(c.legs), c.want)
		}
	}
}

// The mean of fifty days needs a day after them, and a day is of a regime by what precedes it: 51 returns have 21 days by volatility,
// and one by the mean.
func TestRegimesBeginAfterFiftyDays(t *testing.T) {
	t.Parallel()
	equity := make([]float64, 52)
	for i := range equity {
		equity[i] = 100 + float64(i)
	}
	if rows := regimes(equity[:51], equity[:51]); len(rows) != 0 {
		t.Errorf("fifty returns: want none, have %+v", rows)
	}
	if rows := regimes(equity, equity[:51]); len(rows) != 0 {
		t.Errorf("a day of holding missing: want none, have %+v", rows)
	}
	rows := regimes(equity, equity)
	if len(rows) != 5 || rows[0].Days+rows[1].Days+rows[2].Days != 21 || rows[3].Days != 1 || rows[4].Days != 0 || rows[3].Return != nil {
		t.Errorf("have %+v", rows)
	}
	equity[20] = 0
	if rows := regimes(equity, equity); len(rows) != 0 {
		t.Errorf("equity lost: want none, have %+v", rows)
	}
}

// A result has the levels that stood.
func TestAResultHasItsLevels(t *testing.T) {
	t.Parallel()
	r := &Result{levels: []Level{{FromMS: 1, Price: 2, Stop: true}}}
	if have := r.Levels(); len(have) != 1 || have[0] != r.levels[0] {
		t.Errorf("have %+v", have)
	}
}
