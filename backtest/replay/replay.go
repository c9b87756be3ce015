// Package replay runs a strategy again over the candles recorded while it traded, and compares the two.
package replay

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"botd/backtest"
	"botd/backtest/inputs"
	"botd/backtest/parity"
	"botd/configs"
	"botd/exchange"
	"botd/internal/failure"
	"botd/reconcile/ledger"
	"botd/reconcile/placement"
	"botd/runtime/view"
)

// Traded is the trading of a running strategy, as the API shows it.
type Traded struct {
	Fills  []view.Fill
	Trips  []view.ClosedPosition
	Equity func(fromMS int64) (view.EquitySeries, error) // of the account
}

// Replay is a strategy that trades now, and the time to compare.
type Replay struct {
	Strategy     configs.StrategyConfig // with its current configuration
	Files        inputs.Files           // the recorded candles and how to read them
	FromMS, ToMS int64                  // 0: from the first fill, until now
	Traded       Traded

	fills []parity.Execution // within the time, oldest first
	held  []parity.Execution // before it
}

// Outcome is the comparison with its backtest.
type Outcome struct {
	Answer *parity.Parity
	Config backtest.Config
	Result *backtest.Result
	Fills  []parity.Execution // of the live strategy
}

// maxPoints bounds each curve of an answer.
const maxPoints = 2_000

// Run runs the strategy over the recorded candles with the given backtest function, and compares.
func (r *Replay) Run(ctx context.Context, run func(context.Context, backtest.Config) (*backtest.Result, error)) (*Outcome, error) {
	if err := r.choose(); err != nil {
		return nil, err
	}
	config, err := r.config()
	if err != nil {
		return nil, err
	}
	result, err := run(ctx, config)
	if err != nil {
		return nil, err
	}
	endMS := result.To.UnixMilli()
	before := len(r.fills)
	r.fills = slices.DeleteFunc(r.fills, func(f parity.Execution) bool { return f.AtMS > endMS }) // after the end of the backtest
	if len(r.fills) == 0 {
		return nil, failure.New(failure.NoInput, "try again when its next candle has closed",
			"all trades of %s are later than the recorded candles, which end at %s", r.Strategy.Name, result.To.UTC().Format(time.DateTime))
	}
	answer := &parity.Parity{Schema: 1, Strategy: r.Strategy.Name, FromMS: r.FromMS, ToMS: endMS, Later: before - len(r.fills),
		Cash:       number(result.InitialEquity),
		Comparison: *parity.Compare(r.fills, fillsOf(result), 2*int64(r.Strategy.Interval))}
	answer.Sentence = answer.Comparison.Sentence()
	answer.LivePNL, answer.LiveFees = r.earned(endMS + int64(r.Strategy.Interval))
	answer.BacktestPNL, answer.BacktestFees = tripsOf(result)
	answer.LiveCurve, answer.Curve = r.curve(&config).Thinned(maxPoints), r.curveOf(result).Thinned(maxPoints)
	return &Outcome{answer, config, result, r.fills}, nil
}

// choose selects the fills of the time.
func (r *Replay) choose() error {
	for i := range r.Traded.Fills {
		f := &r.Traded.Fills[i]
		fill := parity.Execution{AtMS: f.AtMS, Order: f.ClientOrderID, Buy: f.Side == exchange.Buy.String(), Quantity: number(f.Quantity),
			Price: number(f.Price), Purpose: f.Purpose}
		switch {
		case f.AtMS < r.FromMS:
			r.held = append(r.held, fill)
		case r.ToMS == 0 || f.AtMS < r.ToMS:
			r.fills = append(r.fills, fill)
		}
	}
	if len(r.fills) == 0 {
		return failure.New(failure.NoInput, "botd fills lists what was traded", "%s has traded nothing in that time: there is nothing to compare",
			r.Strategy.Name)
	}
	slices.SortStableFunc(r.fills, func(x, y parity.Execution) int { return cmp.Compare(x.AtMS, y.AtMS) })
	if step := int64(r.Strategy.Interval); r.FromMS == 0 { // the candle whose close led to the first fill
		r.FromMS = r.fills[0].AtMS/step*step - step
	}
	r.price()
	return nil
}

// apart is the maximum difference, in milliseconds, between the times of fills and round trips, which come from
// different reads.
const apart = 10_000

// price gives fills without a price that of the round trip that they began or ended. Futures report no price, and
// none can be derived when a position reverses within one read.
func (r *Replay) price() {
	near := func(x, y int64) bool { return max(x-y, y-x) <= apart }
	for i := range r.fills {
		f := &r.fills[i]
		for k := range r.Traded.Trips {
			t := &r.Traded.Trips[k]
			long, same := t.Side == "LONG", number(t.Quantity) == f.Quantity
			switch {
			case f.Price != 0 || !same:
			case f.Buy == long && near(f.AtMS, t.OpenedMS):
				f.Price = number(t.EntryPrice)
			case f.Buy != long && near(f.AtMS, t.ClosedMS):
				f.Price = number(t.ExitPrice)
			}
		}
	}
}

// config returns the run over the recorded candles. It starts with the market's wallet, and is warm at the start of
// the comparison.
func (r *Replay) config() (run backtest.Config, err error) {
	account, err := r.Traded.Equity(r.FromMS)
	if err != nil {
		return run, err
	}
	if len(account.Equity) > 0 {
		cash, err := r.wallet(&account)
		if err != nil {
			return run, err
		}
		if cash.Sign() > 0 {
			r.Strategy.Backtest.Cash = cash
		}
	}
	r.Files.Loaded = []*configs.StrategyConfig{&r.Strategy}
	if run, err = r.Files.Config(); err != nil {
		return run, err
	}
	warm := int64(run.Legs[0].Strategy.Strategy.Warmup()) * int64(r.Strategy.Interval)
	run, err = run.Within(r.FromMS-max(0, warm-int64(r.Strategy.Interval)), r.ToMS)
	return run, failure.Wrap(failure.Data, err)
}

// wallet returns the wallet of the strategy's market at the first point of the account's equity. Sizes are shares of
// it.
func (r *Replay) wallet(account *view.EquitySeries) (exchange.Amount, error) {
	var amounts [3]exchange.Amount
	for i, text := range [...]view.Decimal{account.Equity[0], account.Wallet[0], account.Unrealized[0]} {
		var err error
		if amounts[i], err = exchange.ParseAmount(text); err != nil {
			return exchange.Amount{}, fmt.Errorf("the account's equity of %s: %w", time.UnixMilli(account.TimeMS[0]).UTC().Format(time.DateTime), err)
		}
	}
	futures := amounts[1].Add(amounts[2])
	if r.Strategy.Market == exchange.Futures {
		return futures, nil
	}
	return amounts[0].Sub(futures), nil
}

// earned returns the profit of the strategy's round trips within the time, and their fees.
func (r *Replay) earned(toMS int64) (sum, fees float64) {
	for i := range r.Traded.Trips {
		if t := &r.Traded.Trips[i]; t.OpenedMS >= r.FromMS && t.ClosedMS <= toMS {
			sum, fees = sum+number(t.PNL), fees+number(t.Fees)
		}
	}
	return sum, fees
}

// curve returns the strategy's live profit at the closes of the backtest's candles.
func (r *Replay) curve(config *backtest.Config) parity.ProfitCurve {
	candles, symbol := config.Legs[0].Tape.Candles, config.Legs[0].Tape.Symbol
	from, _ := slices.BinarySearch(candles.OpenMS, r.FromMS)
	if from >= candles.Len() {
		return parity.ProfitOf(nil, nil, 0, 0, nil, nil)
	}
	var at []int64
	var closes []float64
	for i := from; i < candles.Len(); i++ {
		at, closes = append(at, candles.CloseMS(i)), append(closes, symbol.PriceDecimal(candles.Close[i]).InexactFloat64())
	}
	open := symbol.PriceDecimal(candles.Open[from]).InexactFloat64()
	return parity.ProfitOf(slices.Concat(r.held, r.fills), r.charges(), r.FromMS, open, at, closes)
}

// charges returns the known fees of fills, and the other costs of a round trip at its end.
func (r *Replay) charges() (all []parity.Charge) {
	trips := slices.SortedStableFunc(slices.Values(r.Traded.Trips), func(a, b view.ClosedPosition) int { return cmp.Compare(a.ClosedMS, b.ClosedMS) })
	known := make([]float64, len(trips))
	for i := range r.Traded.Fills {
		f := &r.Traded.Fills[i]
		fee := number(f.Fee)
		charge := parity.Charge{AtMS: f.AtMS, USDT: fee}
		switch f.FeeAsset {
		case "", ledger.FuturesAsset:
		default:
			fee = float64(fee * number(f.Price))
			charge.USDT, charge.Base = 0, charge.USDT
		}
		if fee == 0 {
			continue
		}
		all = append(all, charge)
		if k := tripOf(trips, f); k >= 0 {
			known[k] += fee
		}
	}
	for k := range trips {
		t := &trips[k]
		all = append(all, parity.Charge{AtMS: t.ClosedMS, USDT: number(t.Fees) + number(t.Funding) - known[k]})
	}
	slices.SortStableFunc(all, func(a, b parity.Charge) int { return cmp.Compare(a.AtMS, b.AtMS) })
	return all
}

// tripOf returns the index of a fill's round trip in a list sorted by end time, or -1 if it is still open or not
// listed.
func tripOf(trips []view.ClosedPosition, f *view.Fill) int {
	enters, until := f.Purpose == placement.Entry.String(), f.AtMS
	if !enters { // the fill may be reported after the end
		until -= apart
	}
	k, _ := slices.BinarySearchFunc(trips, until, func(t view.ClosedPosition, atMS int64) int { return cmp.Compare(t.ClosedMS, atMS) })
	for ; k < len(trips) && f.AtMS >= trips[k].OpenedMS-apart; k++ {
		opens := (trips[k].Side == "LONG") == (f.Side == exchange.Buy.String())
		if opens == enters || f.Purpose == placement.Order.String() { // a strategy's own order may either open or close
			return k
		}
	}
	return -1
}

// curveOf returns the backtest's profit.
func (r *Replay) curveOf(result *backtest.Result) parity.ProfitCurve {
	c, initial := parity.ProfitCurve{TimeMS: []int64{}, Profit: []float64{}}, number(result.InitialEquity)
	for _, p := range result.Curve() {
		if p.AtMS > r.FromMS {
			c.TimeMS, c.Profit = append(c.TimeMS, p.AtMS), append(c.Profit, math.Round(100*(p.Equity.Float()-initial))/100)
		}
	}
	return c
}

func fillsOf(result *backtest.Result) (fills []parity.Execution) {
	for i := range result.Executions {
		e := &result.Executions[i]
		fills = append(fills, parity.Execution{AtMS: e.TimeMS, Buy: e.Side == exchange.Buy.String(), Quantity: number(e.Quantity), Price: number(e.Price),
			Purpose: e.Purpose})
	}
	return fills
}

func tripsOf(result *backtest.Result) (sum, fees float64) {
	for i := range result.Trips {
		sum, fees = sum+number(result.Trips[i].PNL), fees+number(result.Trips[i].Fees)
	}
	return sum, fees
}

// number parses a figure. A missing one is 0.
func number(text string) float64 {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0
	}
	return f
}
