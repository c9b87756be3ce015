package backtest_test

import (
	"fmt"
	"math"
	"slices"
	"time"

	"botd/backtest"
	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/tape"
)

// longWeathers last 250 days, so that there are rolling figures, regimes, and a turn of the year.
var longWeathers = []weather{
	{market: exchange.Futures, rough: 60, stop: 1_500_000, long: true},
	{market: exchange.Spot, rough: 40, shares: true, long: true, costs: backtest.Costs{Slippage: 20_000, Path: sim.Worst}},
	{market: exchange.Spot, rough: 60, holes: true, long: true},
}

// holding returns the value at each midnight of the symbol bought at the first open.
func (s *second) holding(recorded *tape.Tape) (values []float64) {
	c := recorded.Candles
	for at := (s.fromMS + 86_399_999) / 86_400_000 * 86_400_000; at <= s.toMS; at += 86_400_000 {
		price := c.Open[0]
		for i := range c.Len() {
			if c.CloseMS(i) <= at {
				price = c.Close[i]
			}
		}
		values = append(values, float64(price)/float64(c.Open[0]))
	}
	return values
}

func changesOf(values []float64) (all []float64) {
	for i := 1; i < len(values); i++ {
		all = append(all, values[i]/values[i-1]-1)
	}
	return all
}

// sums returns the mean, the sample deviation, and the root mean square of the negative values.
func sums(values []float64) (mean, deviation, downside float64) {
	n := float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	for _, v := range values {
		deviation += (v - mean) * (v - mean) / (n - 1)
		downside += min(v, 0) * min(v, 0) / n
	}
	return mean, math.Sqrt(deviation), math.Sqrt(downside)
}

func compounding(changes []float64) float64 {
	grown := 1.0
	for _, change := range changes {
		grown *= 1 + change
	}
	return 100 * (grown - 1)
}

// days compares the daily figures with buy and hold: metrics, years, regimes, rolling figures and the redrawn days. Other tests compare
// the metrics' formulas with numpy's; here their input is compared.
func (c check) days(r *backtest.Result, s *second, holding []float64) {
	c.t.Helper()
	equity := s.every(24 * time.Hour)
	for i := range equity { // a day without a position has exactly zero
		equity[i] = math.Round(equity[i]*1e8) / 1e8
	}
	first := (s.fromMS + 86_399_999) / 86_400_000 * 86_400_000
	if atMS, have := r.Daily(); atMS != first || len(have) != len(equity) {
		c.t.Fatalf("%s: want %d midnights from %d, have %d from %d", c.what, len(equity), first, len(have), atMS)
	}
	for name, want := range backtest.Measure(first, equity, holding, 0.02) {
		if want == nil {
			want = pointer(math.NaN())
		}
		c.figure("metric "+name, *want, r.Metrics[name])
	}
	c.figure("UPI", *orNaN(r.CAGR)/(*orNaN(r.Figures.Daily.Ulcer)), r.Figures.Daily.UPI)
	c.years(r.Figures.Years, first, equity, holding)
	own, hold := changesOf(equity), changesOf(holding)
	c.regimes(r.Figures.Regimes, own, hold, holding)
	c.rolling(r.Figures.Rolling, first, own, hold)
	c.drawnAgain(r.Figures.Bootstrap, own)
}

func pointer(value float64) *float64 { return &value }

func orNaN(value *float64) *float64 {
	if value == nil {
		return pointer(math.NaN())
	}
	return value
}

// years compares the changes from a year's first midnight to the next year's.
func (c check) years(rows []backtest.YearRow, first int64, equity, holding []float64) {
	c.t.Helper()
	if len(equity) < 3 {
		if len(rows) != 0 {
			c.t.Errorf("%s: want no years of %d days, have %+v", c.what, len(equity), rows)
		}
		return
	}
	from, n := 0, 0
	for i := range equity {
		now, before := time.UnixMilli(first+int64(i)*86_400_000).UTC(), time.UnixMilli(first+int64(from)*86_400_000).UTC()
		if last := i == len(equity)-1; i == 0 || now.Year() == before.Year() && !last {
			continue
		}
		if n == len(rows) || rows[n].Year != fmt.Sprint(before.Year()) {
			c.t.Errorf("%s: want the year %d, have %+v", c.what, before.Year(), rows)
			return
		}
		c.figure("year", 100*(equity[i]/equity[from]-1), rows[n].Return)
		c.figure("year of holding", 100*(holding[i]/holding[from]-1), rows[n].Hold)
		from, n = i, n+1
	}
	if n != len(rows) {
		c.t.Errorf("%s: want %d years, have %+v", c.what, n, rows)
	}
}

// regimes splits the days by the deviation of the thirty days of buy and hold before, and by the mean of fifty
// days.
func (c check) regimes(rows []backtest.RegimeRow, own, hold, holding []float64) {
	c.t.Helper()
	if len(own) < 51 {
		if len(rows) != 0 {
			c.t.Errorf("%s: want no regimes of %d days, have %+v", c.what, len(own), rows)
		}
		return
	}
	var before []float64
	for i := 30; i < len(hold); i++ {
		_, deviation, _ := sums(hold[i-30 : i])
		before = append(before, deviation)
	}
	ordered := slices.Sorted(slices.Values(before))
	low, high := percentile(ordered, 100.0/3), percentile(ordered, 200.0/3)
	days := make([][]int, 5)
	for i := 30; i < len(own); i++ {
		switch b := before[i-30]; {
		case b <= low:
			days[0] = append(days[0], i)
		case b <= high:
			days[1] = append(days[1], i)
		default:
			days[2] = append(days[2], i)
		}
		if i >= 50 {
			if mean, _, _ := sums(holding[i-50 : i]); holding[i] > mean {
				days[3] = append(days[3], i)
			} else {
				days[4] = append(days[4], i)
			}
		}
	}
	for k, name := range []string{"calm", "usual volatility", "volatile", "above the mean of 50 days", "below it"} {
		var mine, held []float64
		for _, i := range days[k] {
			mine, held = append(mine, own[i]), append(held, hold[i])
		}
		if rows[k].Regime != name || rows[k].Days != len(mine) {
			c.t.Errorf("%s: regime %s: want %d days, have %+v", c.what, name, len(mine), rows[k])
			continue
		}
		if len(mine) < 2 {
			continue
		}
		c.figure(name, compounding(mine), rows[k].Return)
		c.figure(name+", holding", compounding(held), rows[k].Hold)
		mean, deviation, _ := sums(mine)
		c.figure(name+", Sharpe", mean/deviation*math.Sqrt(365), rows[k].Sharpe)
	}
}

func (c check) rolling(have *backtest.RollingSeries, first int64, own, hold []float64) {
	c.t.Helper()
	if (have != nil) != (len(own) >= 180) {
		c.t.Errorf("%s: rolling figures after %d days: have %v", c.what, len(own), have != nil)
	}
	if have == nil {
		return
	}
	if len(have.TimeMS) != len(own)-179 || have.Days != 180 {
		c.t.Fatalf("%s: want %d windows of 180 days, have %d of %d", c.what, len(own)-179, len(have.TimeMS), have.Days)
	}
	for to := 180; to <= len(own); to += 9 {
		i := to - 180
		if have.TimeMS[i] != first+int64(to)*86_400_000 {
			c.t.Errorf("%s: window %d ends at %d", c.what, i, have.TimeMS[i])
		}
		var excess []float64
		for _, r := range own[i:to] {
			excess = append(excess, r-0.02/365)
		}
		_, deviation, _ := sums(own[i:to])
		mean, spread, downside := sums(excess)
		x, y, varied, together := 0.0, 0.0, 0.0, 0.0
		for k := i; k < to; k++ {
			x, y = x+own[k]/180, y+hold[k]/180
		}
		for k := i; k < to; k++ {
			together, varied = together+(own[k]-x)*(hold[k]-y), varied+(hold[k]-y)*(hold[k]-y)
		}
		c.figure("rolling volatility", deviation*math.Sqrt(365), have.Volatility[i])
		c.figure("rolling Sharpe", mean/spread*math.Sqrt(365), have.Sharpe[i])
		c.figure("rolling Sortino", mean/downside*math.Sqrt(365), have.Sortino[i])
		c.figure("rolling beta", together/varied, have.Beta[i])
	}
}

// drawnAgain draws blocks of ten days by the n-th number of splitmix64 (Steele, Lea, Flood, 2014) for n from 1.
func (c check) drawnAgain(have *backtest.Bootstrap, own []float64) {
	c.t.Helper()
	if (have != nil) != (len(own) >= 30) {
		c.t.Errorf("%s: days drawn again of %d: have %v", c.what, len(own), have != nil)
	}
	if have == nil {
		return
	}
	var totals, depths, ratios []float64
	for draw, n := 0, uint64(0); draw < 1_000; draw++ {
		var days []float64
		for len(days) < len(own) {
			n++
			z := n * 0x9e3779b97f4a7c15
			z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
			z = (z ^ z>>27) * 0x94d049bb133111eb
			from := int((z ^ z>>31) % uint64(len(own)))
			for i := 0; i < 10 && len(days) < len(own); i++ {
				days = append(days, own[(from+i)%len(own)])
			}
		}
		value, peak, depth := 1.0, 1.0, 0.0
		for _, r := range days {
			value *= 1 + r
			peak = max(peak, value)
			depth = max(depth, 1-value/peak)
		}
		totals, depths = append(totals, 100*(value-1)), append(depths, 100*depth)
		if mean, deviation, _ := sums(days); deviation > 1e-12 {
			ratios = append(ratios, mean/deviation*math.Sqrt(365))
		}
	}
	if have.Draws != 1_000 || have.Block != 10 {
		c.t.Errorf("%s: have %+v", c.what, have)
	}
	for _, band := range []struct {
		name   string
		values []float64
		have   *backtest.Band
	}{{"return", totals, have.Return}, {"drawdown", depths, have.Drawdown}, {"Sharpe", ratios, have.Sharpe}} {
		slices.Sort(band.values)
		if len(band.values) == 0 {
			continue
		}
		c.equal(band.name+" drawn again, low", percentile(band.values, 5), band.have.Low)
		c.equal(band.name+" drawn again", percentile(band.values, 50), band.have.Median)
		c.equal(band.name+" drawn again, high", percentile(band.values, 95), band.have.High)
	}
}
