package backtest_test

import (
	"cmp"
	"slices"
	"testing"

	"botd/backtest"
	"botd/exchange"
	"botd/exchange/tape"
)

// TestEverySymbolOfSeveralIsComputedTwice derives each row by symbol, and what the symbols have together, from the executions of each symbol. Funding is
// paid on the futures, and their fees are not those of spot.
func TestEverySymbolOfSeveralIsComputedTwice(t *testing.T) {
	t.Parallel()
	trips, funded := 0, 0
	for seed := range uint64(4) {
		config := backtest.Config{Cash: exchange.AmountOf(1_000_000), Costs: fees(100_000, 150_000)}
		config.Costs.Slippage = 50_000
		for i, w := range []weather{
			{market: exchange.Futures, rough: 60, holes: true},
			{market: exchange.Spot, rough: 120},
			{market: exchange.Futures, rough: 40, stop: 1_500_000},
			{market: exchange.Spot, rough: 40, holes: true},
		} {
			leg, symbol := w.config(t, seed+uint64(10*i)).Legs[0], coin(t, w.market, []string{"AAA", "BBB", "CCC", "DDD"}[i])
			leg.Tape = &tape.Tape{Symbol: symbol, Candles: leg.Tape.Candles, SHA256: symbol.Base}
			leg.Strategy.Name, leg.Strategy.Symbol = "of "+symbol.Base, symbol
			config.Legs = append(config.Legs, leg)
		}
		r := mustRun(t, config)
		c, all := check{t, "several"}, &second{}
		if r.Liquidations > 0 || len(r.BySymbol) != len(config.Legs) {
			t.Fatalf("seed %d: want a row for each symbol and no liquidation, have %d, %+v", seed, r.Liquidations, r.BySymbol)
		}
		profit := 0.0
		for i := range config.Legs {
			s := alone(config.Legs[i], r)
			c.row(&config.Legs[i], &r.BySymbol[i], s)
			if profit += s.equity[len(s.equity)-1] - s.initial; s.funding != 0 {
				funded++
			}
			all.fees, all.funding, all.slippage, all.trips = all.fees+s.fees, all.funding+s.funding, all.slippage+s.slippage, append(all.trips, s.trips...)
		}
		c.texts("final equity", number(r.InitialEquity)+profit, r.FinalEquity)
		c.texts("fees", all.fees, r.TotalFees)
		c.texts("funding", all.funding, r.TotalFunding)
		c.texts("slippage", all.slippage, r.TotalSlippage)
		c.together(r, all.trips)
		c.groups(r, all)
		trips += len(all.trips)
	}
	if trips < 200 || funded < 6 {
		t.Errorf("%d round trips and %d symbols with funding prove little", trips, funded)
	}
}

// alone replays the executions of one symbol.
func alone(leg backtest.Leg, r *backtest.Result) *second {
	own := *r
	own.Executions = slices.DeleteFunc(slices.Clone(r.Executions), func(e backtest.Execution) bool { return e.Symbol != leg.Tape.Symbol.Name })
	return compute(&backtest.Config{Legs: []backtest.Leg{leg}}, &own)
}

// row compares one symbol's row.
func (c check) row(leg *backtest.Leg, row *backtest.SymbolRow, s *second) {
	c.t.Helper()
	var pnl, fees, funding, exposed float64
	wins := 0
	for i := range s.trips {
		pnl, fees, funding = pnl+s.trips[i].pnl, fees+s.trips[i].fees, funding+s.trips[i].funding
		if s.trips[i].pnl > 1e-12 {
			wins++
		}
	}
	for _, held := range s.held {
		if held > 0 {
			exposed++
		}
	}
	c.what = "several, " + leg.Tape.Symbol.Name
	c.texts("profit", pnl, row.PNL)
	c.texts("fees", fees, row.Fees)
	c.texts("funding", funding, row.Funding)
	c.equal("exposure", 100*exposed/float64(len(s.held)), row.Exposure)
	want := *row
	want.Symbol, want.Market, want.Name, want.Strategy = leg.Tape.Symbol.Name, leg.Tape.Symbol.Market.String(), leg.Strategy.Name, leg.Kind
	want.Interval, want.Candles, want.DataSHA256 = leg.Tape.Candles.Interval.String(), len(s.closesMS), leg.Tape.SHA256
	want.Fills, want.RoundTrips, want.Wins = s.fills, len(s.trips), wins
	if *row != want {
		c.t.Errorf("want %+v, have %+v", want, *row)
	}
}

// together compares the rows that combine the round trips of all symbols; each trip names its symbol and
// strategy.
func (c check) together(r *backtest.Result, trips []secondTrip) {
	c.t.Helper()
	wins, won, lost := 0, 0.0, 0.0
	for i := range trips {
		if p := trips[i].pnl; p > 1e-12 {
			wins, won = wins+1, won+p
		} else {
			lost -= p
		}
	}
	c.equal("wins", float64(wins), float64(r.Wins))
	c.figure("profit factor", won/lost, r.ProfitFactor)
	c.texts("expectancy", (won-lost)/float64(len(trips)), *r.Expectancy)
	var want, have []float64
	for i := range trips {
		want = append(want, trips[i].pnl)
	}
	for i := range r.Trips {
		have = append(have, number(r.Trips[i].PNL))
		if r.Trips[i].Strategy != "of "+r.Trips[i].Symbol[:3] {
			c.t.Errorf("want the strategy of the symbol, have %+v", r.Trips[i])
		}
	}
	if !slices.IsSortedFunc(r.Trips, func(a, b backtest.TripRow) int { return cmp.Compare(a.LeftMS, b.LeftMS) }) || len(want) != len(have) {
		c.t.Fatalf("want %d round trips in the order of their ends, have %d", len(want), len(have))
	}
	slices.Sort(want)
	slices.Sort(have)
	for i := range want {
		c.equal("profit of a round trip", want[i], have[i])
	}
}
