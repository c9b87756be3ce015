package backtest

import (
	"context"
	"sync"

	"botd/exchange"
	"botd/exchange/sim"
)

// Column is the same run under other costs: how much of the result they are.
type Column struct {
	Name          string   `json:"name"` // ideal, realistic, pessimistic
	FinalEquity   string   `json:"final_equity"`
	Profit        *float64 `json:"profit_pct"`
	MaxDrawdown   float64  `json:"max_drawdown_pct"`
	Sharpe        *float64 `json:"sharpe"`
	CAGR          *float64 `json:"cagr_pct"`
	ProfitFactor  *float64 `json:"profit_factor"`
	Fills         int      `json:"fills"`
	RoundTrips    int      `json:"round_trips"`
	Wins          int      `json:"wins"`
	TotalFees     string   `json:"total_fees"`
	TotalFunding  string   `json:"total_funding"`
	TotalSlippage string   `json:"total_slippage"`
	Liquidations  int      `json:"liquidations"`
	Assumptions   []string `json:"assumptions"`
	ResultSHA256  string   `json:"result_sha256"`
}

// The least costs of the pessimistic column.
const (
	leastSlippage  = exchange.RateOne / 2000 // 0.05 %
	leastLatencyMS = 1_000
)

// ideal is a market without costs that is kind within every candle: what the
// decisions alone are worth.
func (c Costs) ideal() Costs {
	return Costs{FeeFromQuote: c.FeeFromQuote, Path: sim.Best}
}

// pessimistic takes every fee as a taker's, twice the slippage, the volume cap's
// half and twice the latency, each at least what a small venue has, and the worst
// path.
func (c Costs) pessimistic() Costs {
	c.Futures.Maker, c.Spot.Maker = max(c.Futures.Maker, c.Futures.Taker), max(c.Spot.Maker, c.Spot.Taker)
	c.Slippage, c.Impact, c.VolumeCap = max(2*c.Slippage, leastSlippage), 2*c.Impact, c.VolumeCap/2
	c.LatencyMS = max(2*c.LatencyMS, leastLatencyMS)
	c.Path = sim.Worst
	return c
}

// RunColumns runs the configuration, and beside it the same candles with an ideal
// and a pessimistic market: one tape, three books. The result is the one of the
// configuration, which is the realistic column. Every leg needs its Make.
func RunColumns(ctx context.Context, config Config) (*Result, error) {
	configs := [3]Config{config, config, config}
	configs[0].Costs, configs[2].Costs = config.Costs.ideal(), config.Costs.pessimistic()
	for i := range configs[0].Legs { // without costs there is no funding either
		if i == 0 {
			configs[0].Legs = append([]Leg(nil), config.Legs...)
		}
		configs[0].Legs[i].Funding = nil
	}
	var (
		results [3]*Result
		errs    [3]error
		group   sync.WaitGroup
	)
	for i := range configs {
		if i != 1 {
			configs[i].Progress, configs[i].Record, configs[i].Note, configs[i].beside = nil, nil, nil, true
		}
		do := func() { results[i], errs[i] = Run(ctx, configs[i]) }
		if config.InTurn {
			do()
		} else {
			group.Go(do)
		}
	}
	group.Wait()
	for _, i := range []int{1, 0, 2} {
		if errs[i] != nil {
			return nil, errs[i]
		}
	}
	result := results[1]
	for i, name := range []string{"ideal", "realistic", "pessimistic"} {
		result.Columns = append(result.Columns, results[i].column(name))
	}
	return result, nil
}

func (r *Result) column(name string) Column {
	c := Column{Name: name, FinalEquity: r.FinalEquity, MaxDrawdown: r.MaxDrawdown, Sharpe: r.Sharpe, CAGR: r.CAGR, ProfitFactor: r.ProfitFactor,
		Fills: r.Fills, RoundTrips: r.RoundTrips, Wins: r.Wins, TotalFees: r.TotalFees, TotalFunding: r.TotalFunding, TotalSlippage: r.TotalSlippage,
		Liquidations: r.Liquidations, Assumptions: r.Assumptions, ResultSHA256: r.ResultSHA256}
	first := exchange.MustAmount(r.InitialEquity).Float()
	if first > 0 {
		c.Profit = finite(100 * (exchange.MustAmount(r.FinalEquity).Float()/first - 1))
	}
	return c
}
