package backtest_test

import (
	"math"
	"testing"

	"botd/backtest"
	"botd/exchange"
	"botd/exchange/tape"
	"botd/strategy"
)

// Each column is a run with its own costs, or, if that is on the wrong side, the realistic run's executions without costs, or at the
// pessimistic ones.
func TestTheColumnsAreComputedTwice(t *testing.T) {
	t.Parallel()
	ideal, pessimistic := 0, 0
	for _, i := range []int{0, 2, 5, 7, 8, 10} {
		w := weathers[i]
		for seed := range uint64(3) {
			config := w.config(t, seed)
			config.Costs.Futures, config.Costs.Spot = backtest.Fees{Maker: 20_000, Taker: 50_000}, backtest.Fees{Maker: -10_000, Taker: 80_000}
			targets := config.Legs[0].Strategy.Strategy.(*scripted).targets
			config.Legs[0].Make = func(*tape.Tape) (strategy.Strategy, error) { return &scripted{targets: targets}, nil }
			r, err := backtest.RunColumns(t.Context(), config)
			if err != nil {
				t.Fatal(err)
			}
			if r.Liquidations > 0 {
				continue
			}
			fees, slippage := config.Costs.Futures, max(2*config.Costs.Slippage, exchange.RateOne/2_000)
			if w.market == exchange.Spot {
				fees = config.Costs.Spot
			}
			own := number(r.FinalEquity)
			free, dear := own+max(0, number(r.TotalFunding)), own
			for _, e := range r.Executions {
				value, fee := number(e.Price)*number(e.Quantity), number(e.Fee)
				if e.FeeAsset != "USDT" {
					fee *= number(e.Price)
				}
				free += max(0, fee) + max(0, number(e.Slippage))
				if e.Role == "maker" {
					dear -= value * (fees.Taker - fees.Maker).Float()
				} else {
					dear -= max(0, value*slippage.Float()-number(e.Slippage))
				}
			}
			c := check{t, w.String()}
			c.texts("ideal", max(free, number(r.Columns[0].OwnEquity)), r.Columns[0].FinalEquity)
			c.texts("pessimistic", min(max(dear, 0), number(r.Columns[2].OwnEquity)), r.Columns[2].FinalEquity)
			if r.Columns[0].OwnEquity != r.Columns[0].FinalEquity {
				ideal++
			}
			if r.Columns[2].OwnEquity != r.Columns[2].FinalEquity {
				pessimistic++
			}
			if r.Ordered == nil || !*r.Ordered || r.Finals.Ideal != r.Columns[0].FinalEquity || r.Finals.Realistic != r.FinalEquity ||
				r.Finals.Pessimistic != r.Columns[2].FinalEquity {
				t.Errorf("%s: have %+v, ordered %v", w, r.Finals, r.Ordered)
			}
			for k := range r.Columns {
				column := &r.Columns[k]
				profit := 100 * (number(column.FinalEquity)/number(r.InitialEquity) - 1)
				if column.Profit == nil || math.Abs(*column.Profit-profit) > 1e-9 {
					t.Errorf("%s: %s: want a profit of %v %%, have %v", w, column.Name, profit, column.Profit)
				}
			}
		}
	}
	if ideal == 0 || pessimistic == 0 {
		t.Errorf("%d ideal and %d pessimistic columns were re-priced: want some of both", ideal, pessimistic)
	}
}
