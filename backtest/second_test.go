package backtest_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"botd/backtest"
	"botd/exchange"
)

// The second computation derives every figure of a result again, from its list of executions, the candles and
// the funding rates alone. It shares no code with the first: it is written in float64, from the definitions
// of docs/backtest.md, and compares to a millionth.

type secondTrip struct {
	enteredMS, leftMS       int64
	short                   bool
	bought, sold            float64 // quantities, after fees
	filled                  float64 // quantity bought, before fees
	paid, got               float64 // values
	fees, funding, slippage float64
	quoteFees, realized     float64 // realized: on spot, beyond the average cost
	low, high               float64
	entryPrice, exitPrice   float64
	pnl, mae, mfe           float64
	exit                    string
}

type second struct {
	initial  float64
	closesMS []int64
	equity   []float64 // at each close
	held     []float64 // value of the position at each close
	units    float64   // position at the last of them
	trips    []secondTrip
	fills    int
	fees     float64
	funding  float64
	slippage float64
	traded   float64
	taken    float64
	fromMS   int64
	toMS     int64
	first    float64 // prices
	last     float64
}

func number(text string) float64 { return decimal.RequireFromString(text).InexactFloat64() }

// compute replays the executions and payments of a run on one symbol.
func compute(config *backtest.Config, r *backtest.Result) *second {
	leg := &config.Legs[0]
	c, symbol := leg.Tape.Candles, leg.Tape.Symbol
	s := &second{initial: number(r.InitialEquity), fromMS: c.OpenMS[0], toMS: c.CloseMS(c.Len() - 1),
		first: symbol.PriceFloat(c.Open[0]), last: symbol.PriceFloat(c.Close[c.Len()-1])}
	cash, units, cost, tick := s.initial, 0.0, 0.0, symbol.QuantityFloat(symbol.QuantityTick)
	var open *secondTrip
	next, paying := 0, 0
	fund := func(untilMS int64, last float64) { // before the executions of the same moment
		for ; paying < len(leg.Funding) && leg.Funding[paying].TimeMS <= untilMS; paying++ {
			atMS, price := leg.Funding[paying].TimeMS, last
			if at, found := slices.BinarySearch(c.OpenMS, atMS); found {
				price = symbol.PriceFloat(c.Open[at])
			}
			if open == nil || units == 0 {
				continue
			}
			payment := units * price * leg.Funding[paying].Rate.Float()
			cash, s.funding, open.funding = cash-payment, s.funding+payment, open.funding+payment
		}
	}
	for i := range c.Len() {
		closeMS, last := c.CloseMS(i), symbol.PriceFloat(c.Close[max(0, i-1)])
		for ; next < len(r.Executions) && r.Executions[next].TimeMS < closeMS; next++ {
			e := &r.Executions[next]
			s.fills++
			fund(e.TimeMS, last)
			price, quantity, fee := number(e.Price), number(e.Quantity), number(e.Fee)
			if open == nil {
				open = &secondTrip{enteredMS: e.TimeMS, short: e.Side == "SELL", low: price, high: price}
			}
			value, worth := price*quantity, fee
			s.traded, s.slippage, open.slippage = s.traded+value, s.slippage+number(e.Slippage), open.slippage+number(e.Slippage)
			if e.Role == "taker" {
				s.taken += value
			}
			if e.Side == "BUY" {
				cost += value
				cash, units, open.bought, open.paid = cash-value, units+quantity, open.bought+quantity, open.paid+value
				open.filled += quantity
			} else {
				sold := cost * quantity / units
				cost, open.realized = cost-sold, open.realized+value-sold
				cash, units, open.sold, open.got = cash+value, units-quantity, open.sold+quantity, open.got+value
			}
			if e.FeeAsset == "USDT" {
				cash, open.quoteFees = cash-fee, open.quoteFees+fee
			} else {
				units, open.bought, worth = units-fee, open.bought-fee, fee*price
				cost -= worth
			}
			s.fees, open.fees = s.fees+worth, open.fees+worth
			open.low, open.high = min(open.low, price), max(open.high, price)
			left := open.bought - open.sold
			if symbol.Market == exchange.Spot { // including the earlier rest
				left = units
			}
			if math.Abs(left) < tick*(1-1e-9) && open.sold > 0 && open.filled > 0 {
				open.leftMS, open.exit = e.TimeMS, e.Purpose
				s.trips = append(s.trips, open.ended(symbol.Market))
				open = nil
			}
		}
		fund(closeMS-1, last)
		price := symbol.PriceFloat(c.Close[i])
		exposed := math.Abs(units) >= tick*(1-1e-9)
		if open != nil && exposed {
			open.low, open.high = min(open.low, symbol.PriceFloat(c.Low[i])), max(open.high, symbol.PriceFloat(c.High[i]))
		}
		if s.units = 0; exposed {
			s.units = units
		}
		s.closesMS, s.equity, s.held = append(s.closesMS, closeMS), append(s.equity, cash+units*price), append(s.held, math.Abs(s.units)*price)
	}
	return s
}

// ended computes an ended round trip.
func (t *secondTrip) ended(market exchange.Market) secondTrip {
	t.pnl = t.got - t.paid - t.quoteFees - t.funding
	if market == exchange.Spot {
		t.pnl = t.realized - t.fees
	}
	t.entryPrice, t.exitPrice = t.paid/t.filled, t.got/t.sold
	t.mae, t.mfe = (t.entryPrice-t.low)/t.entryPrice, (t.high-t.entryPrice)/t.entryPrice
	if t.short {
		t.entryPrice, t.exitPrice = t.exitPrice, t.entryPrice
		t.mae, t.mfe = (t.high-t.entryPrice)/t.entryPrice, (t.entryPrice-t.low)/t.entryPrice
	}
	return *t
}

// at returns the equity at a moment: that of the last close by then.
func (s *second) at(atMS int64) float64 {
	equity := s.initial
	for i, closeMS := range s.closesMS {
		if closeMS > atMS {
			break
		}
		equity = s.equity[i]
	}
	return equity
}

// every samples the equity at multiples of a step.
func (s *second) every(step time.Duration) (values []float64) {
	ms := step.Milliseconds()
	for at := (s.fromMS + ms - 1) / ms * ms; at <= s.toMS; at += ms {
		values = append(values, s.at(at))
	}
	return values
}

// check compares figures by name.
type check struct {
	t    *testing.T
	what string
}

func (c check) equal(name string, want, have float64) {
	c.t.Helper()
	if math.Abs(want-have) > 1e-6*max(1, math.Abs(want)) {
		c.t.Errorf("%s: %s: want %v, have %v", c.what, name, want, have)
	}
}

// figure expects a figure; NaN stands for an undefined one.
func (c check) figure(name string, want float64, have *float64) {
	c.t.Helper()
	undefined := math.IsNaN(want) || math.IsInf(want, 0)
	switch {
	case undefined != (have == nil):
		c.t.Errorf("%s: %s: want %v, have %s", c.what, name, want, figure(have))
	case have != nil:
		c.equal(name, want, *have)
	}
}

func (c check) texts(name string, want float64, have string) {
	c.t.Helper()
	c.equal(name, want, number(have))
}

// TestEveryFigureIsComputedTwice derives the figures of drawn runs again from their executions and candles.
func TestEveryFigureIsComputedTwice(t *testing.T) {
	t.Parallel()
	var all tally
	for _, w := range weathers {
		for seed := range uint64(4) {
			all.run(t, w, seed, seed == 0)
		}
	}
	if all.runs < 20 || all.trips < 500 || all.months < 2 || all.hours < 5 {
		t.Errorf("%+v: too few to prove anything", all)
	}
	t.Logf("%+v", all)
}

// The runs have 250 days.
func TestEveryFigureOfALongRunIsComputedTwice(t *testing.T) {
	t.Parallel()
	var all tally
	for i, w := range longWeathers {
		all.run(t, w, uint64(i), true)
	}
	if all.runs < 3 || all.trips < 200 || all.months < 9 || all.hours > 0 || all.rolling < 3 {
		t.Errorf("%+v: too few to prove anything", all)
	}
}

// tally counts what was compared.
type tally struct{ runs, trips, months, hours, rolling int }

// run compares the figures of a run, and, if requested, those of its days with buy and hold.
func (all *tally) run(t *testing.T, w weather, seed uint64, days bool) {
	t.Helper()
	config := w.config(t, seed)
	config.RiskFree = 2 * exchange.RateOne / 100
	r := mustRun(t, config)
	if r.Liquidations > 0 || chargedAmongFills(&config, r) || t.Failed() {
		return
	}
	c, s := check{t, w.String()}, compute(&config, r)
	c.money(r, s)
	c.series(&r.Figures.Daily, s.every(24*time.Hour), 365)
	if whole := time.Duration(s.toMS-s.fromMS) * time.Millisecond; (r.Figures.Hourly != nil) != (whole < 60*24*time.Hour) {
		t.Errorf("%s: hours are for runs under 60 days: have %v after %v", w, r.Figures.Hourly, whole)
	} else if r.Figures.Hourly != nil {
		all.hours++
		c.series(r.Figures.Hourly, s.every(time.Hour), 365*24)
	}
	c.drawdowns(r, s)
	c.tripRows(r, s)
	c.tripFigures(&r.Figures.Trips, s)
	c.groups(r, s)
	c.months(r, s)
	if days {
		c.days(r, s, s.holding(config.Legs[0].Tape))
	}
	if r.Figures.Rolling != nil {
		all.rolling++
	}
	all.runs, all.trips, all.months = all.runs+1, all.trips+len(s.trips), max(all.months, len(r.Figures.Months))
}

// TestShortRunsOfFineCandlesShowHours covers runs on either side of both conditions.
func TestShortRunsOfFineCandlesShowHours(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		interval exchange.Interval
		count    int
		want     bool
	}{{exchange.Hour1, 60*24 - 1, true}, {exchange.Hour1, 60 * 24, false}, {exchange.Minute15, 96, true}, {exchange.Hour4, 12, false}} {
		recorded := flatTape(t, exchange.Futures, c.count, "100")
		for i := range c.count {
			recorded.Candles.OpenMS[i] = midnight + int64(i)*int64(c.interval)
		}
		recorded.Candles.Interval = c.interval
		if r := mustRun(t, caseConfig(recorded, &scripted{})); (r.Figures.Hourly != nil) != c.want {
			t.Errorf("%d candles of %s: want hours shown %v, have %+v", c.count, c.interval, c.want, r.Figures.Hourly)
		}
	}
}

// chargedAmongFills reports whether the rest of an order was filled at a funding time: the list does not show
// whether that was before the payment.
func chargedAmongFills(config *backtest.Config, r *backtest.Result) bool {
	if config.Costs.VolumeCap == 0 {
		return false
	}
	return slices.ContainsFunc(r.Executions, func(e backtest.Execution) bool { return e.TimeMS%(8*int64(exchange.Hour1)) == 0 })
}

func (c check) money(r *backtest.Result, s *second) {
	c.t.Helper()
	last, undefined := s.equity[len(s.equity)-1], math.NaN()
	c.texts("final equity", last, r.FinalEquity)
	c.texts("fees", s.fees, r.TotalFees)
	c.texts("funding", s.funding, r.TotalFunding)
	c.texts("slippage", s.slippage, r.TotalSlippage)
	gross := last - s.initial + s.fees + s.funding + s.slippage
	c.texts("gross profit", gross, r.Figures.Gross)
	drag := func(cost float64) float64 {
		if gross <= 0 {
			return undefined
		}
		return 100 * cost / gross
	}
	c.figure("fee drag", drag(s.fees), r.Figures.FeeDrag)
	c.figure("funding drag", drag(s.funding), r.Figures.FundingDrag)
	c.figure("slippage drag", drag(s.slippage), r.Figures.SlipDrag)
	exposed, leverage, sum := 0.0, 0.0, 0.0
	for i, held := range s.held {
		if held > 0 {
			exposed, leverage = exposed+1, leverage+held/s.equity[i]
		}
		sum += s.equity[i]
	}
	n := float64(len(s.held))
	c.equal("exposure", 100*exposed/n, r.Exposure)
	c.equal("exposure of the symbol", 100*exposed/n, r.BySymbol[0].Exposure)
	c.curve(r, s)
	if math.Abs(leverage/n-r.Figures.Leverage) > 1e-3 { // four places, and dust
		c.t.Errorf("%s: leverage: want %v, have %v", c.what, leverage/n, r.Figures.Leverage)
	}
	years := float64(s.toMS-s.fromMS) / (365 * 24 * 3600 * 1000)
	c.figure("turnover", s.traded/(sum/n)/years, r.Figures.Turnover)
	growth := undefined
	if years >= 30.0/365 {
		growth = 100 * (math.Pow(last/s.initial, 1/years) - 1)
	}
	c.figure("CAGR", growth, r.CAGR)
	c.figure("Calmar", growth/r.MaxDrawdown, r.Calmar)
	breakEven := undefined
	if last > s.initial {
		breakEven = 100 * (s.slippage + last - s.initial) / s.taken
	}
	c.figure("break-even slippage", breakEven, r.BreakEven)
}
