package backtest_test

import (
	"cmp"
	"math"
	"slices"
	"time"

	"botd/backtest"
)

// series computes the statistics of equity at equal steps.
func (c check) series(have *backtest.Series, equity []float64, perYear float64) {
	c.t.Helper()
	var returns []float64
	for i := 1; i < len(equity); i++ {
		returns = append(returns, equity[i]/equity[i-1]-1-0.02/perYear)
	}
	c.equal("returns", float64(len(returns)), float64(have.Returns))
	if len(returns) < 3 {
		return
	}
	n, sum := float64(len(returns)), 0.0
	power := func(values []float64, around, exponent float64) (total float64) {
		for _, v := range values {
			total += math.Pow(v-around, exponent)
		}
		return total
	}
	mean := power(returns, 0, 1) / n
	second, third, fourth := power(returns, mean, 2)/n, power(returns, mean, 3)/n, power(returns, mean, 4)/n
	deviation := math.Sqrt(second * n / (n - 1))
	c.figure("Sharpe", mean/deviation*math.Sqrt(perYear), have.Sharpe)
	c.figure("volatility", 100*deviation*math.Sqrt(perYear), have.Volatility)
	skew, kurtosis, ratio := third/math.Pow(second, 1.5), fourth/second/second, mean/deviation
	c.figure("skew", skew, have.Skew)
	c.figure("kurtosis", kurtosis, have.Kurtosis)
	z := ratio * math.Sqrt(n-1) / math.Sqrt(1-skew*ratio+(kurtosis-1)/4*ratio*ratio)
	c.figure("PSR", 0.5+0.5*math.Erf(z/math.Sqrt2), have.PSR)
	c.figure("normal VaR", 100*(1.6448536269514722*deviation-mean), have.VaRNormal)
	gains, losses := 0.0, 0.0
	for _, r := range returns {
		if r < 0 {
			losses, sum = losses-r, sum+r*r
		} else {
			gains += r
		}
	}
	c.figure("Sortino", mean/math.Sqrt(sum/n)*math.Sqrt(perYear), have.Sortino)
	c.figure("omega", gains/losses, have.Omega)
	ordered := slices.Sorted(slices.Values(returns))
	bound := percentile(ordered, 5)
	beyond, count := 0.0, 0.0
	for _, r := range ordered {
		if r <= bound {
			beyond, count = beyond+r, count+1
		}
	}
	c.figure("VaR", -100*bound, have.VaR)
	c.figure("CVaR", -100*beyond/count, have.CVaR)
	c.figure("worst", 100*ordered[0], have.Worst)
	c.figure("best", 100*ordered[len(ordered)-1], have.Best)
	squares := 0.0
	for i, e := range equity {
		squares += math.Pow(e/slices.Max(equity[:i+1])-1, 2)
	}
	c.figure("ulcer", 100*math.Sqrt(squares/float64(len(equity))), have.Ulcer)
}

func percentile(ordered []float64, percent float64) float64 {
	at := percent / 100 * float64(len(ordered)-1)
	low, high := ordered[int(math.Floor(at))], ordered[int(math.Ceil(at))]
	return low + (high-low)*(at-math.Floor(at))
}

// drawdowns finds the drawdowns: from a peak to the first close that is not below it.
func (c check) drawdowns(r *backtest.Result, s *second) {
	c.t.Helper()
	type drawdown struct {
		depth                  float64
		peak, trough, recovery int64
	}
	var all []drawdown
	now, peak := drawdown{peak: s.fromMS}, s.initial
	for i, e := range s.equity {
		if e < peak-1e-9 {
			if depth := 1 - e/peak; depth > now.depth {
				now.depth, now.trough = depth, s.closesMS[i]
			}
			continue
		}
		if now.depth > 0 {
			now.recovery = s.closesMS[i]
			all, now = append(all, now), drawdown{peak: s.closesMS[i]}
		}
		if e > peak+1e-9 {
			peak, now.peak = e, s.closesMS[i]
		}
	}
	if now.depth > 0 {
		all = append(all, now)
	}
	slices.SortStableFunc(all, func(a, b drawdown) int { return cmp.Compare(b.depth, a.depth) })
	if len(all) > 0 {
		c.equal("maximum drawdown", 100*all[0].depth, r.MaxDrawdown)
	}
	have := r.Figures.Drawdowns
	if len(have) != min(10, len(all)) {
		c.t.Errorf("%s: want %d drawdowns, have %d", c.what, min(10, len(all)), len(have))
		return
	}
	for i, h := range have {
		recovered := int64(0)
		if h.Recovered != nil {
			recovered = h.Recovered.UnixMilli()
		}
		c.equal("depth", 100*all[i].depth, h.Depth)
		if all[i].peak != h.Peak.UnixMilli() || all[i].trough != h.Trough.UnixMilli() || all[i].recovery != recovered {
			c.t.Errorf("%s: drawdown %d: want %+v, have %+v", c.what, i, all[i], h)
		}
	}
	if d := r.Drawdown; len(have) > 0 && (d == nil || d.Depth != have[0].Depth || d.Peak != have[0].Peak) ||
		len(have) == 0 && (d != nil || r.Figures.LongestDrawdown != nil) {
		c.t.Errorf("%s: want the deepest drawdown, have %+v", c.what, d)
	}
	longest := int64(0)
	for _, f := range all {
		longest = max(longest, cmp.Or(f.recovery, s.toMS)-f.peak)
	}
	if l := r.Figures.LongestDrawdown; l != nil {
		until := time.UnixMilli(s.toMS)
		if l.Recovered != nil {
			until = *l.Recovered
		}
		c.equal("longest drawdown", float64(longest), float64(until.Sub(l.Peak).Milliseconds()))
	}
}

func (c check) tripRows(r *backtest.Result, s *second) {
	c.t.Helper()
	if len(r.Trips) != len(s.trips) || r.RoundTrips != len(s.trips) {
		c.t.Errorf("%s: want %d round trips, have %d", c.what, len(s.trips), len(r.Trips))
		return
	}
	wins, won, lost, sum := 0, 0.0, 0.0, 0.0
	for i := range s.trips {
		want, have := &s.trips[i], &r.Trips[i]
		if want.enteredMS != have.EnteredMS || want.leftMS != have.LeftMS || want.short != (have.Side == "SELL") || want.exit != have.ExitPurpose {
			c.t.Errorf("%s: round trip %d: want %+v, have %+v", c.what, i, want, have)
		}
		c.texts("profit", want.pnl, have.PNL)
		c.texts("quantity", max(want.filled, want.sold), have.Quantity)
		c.texts("entry price", want.entryPrice, have.Entry)
		c.texts("exit price", want.exitPrice, have.Exit)
		if have.Symbol != r.Symbol || have.Strategy != r.Name || have.EntryReason != "scripted" {
			c.t.Errorf("%s: round trip %d: have %+v", c.what, i, have)
		}
		c.texts("fees of it", want.fees, have.Fees)
		c.texts("funding of it", want.funding, have.Funding)
		c.texts("slippage of it", want.slippage, have.Slippage)
		if math.Abs(100*max(0, want.mae)-have.Adverse) > 1e-3 || math.Abs(100*max(0, want.mfe)-have.Favorable) > 1e-3 {
			c.t.Errorf("%s: excursions of round trip %d: want %v, %v, have %v, %v", c.what, i, 100*want.mae, 100*want.mfe, have.Adverse, have.Favorable)
		}
		if sum += want.pnl; want.pnl > 1e-12 {
			wins, won = wins+1, won+want.pnl
		} else {
			lost -= want.pnl
		}
	}
	c.equal("wins", float64(wins), float64(r.Wins))
	c.symbolRow(r, s, wins, sum)
	factor := math.NaN()
	if lost > 0 {
		factor = won / lost
	}
	c.figure("profit factor", factor, r.ProfitFactor)
	if len(s.trips) > 0 {
		c.texts("expectancy", sum/float64(len(s.trips)), *r.Expectancy)
	}
	c.figure("buy and hold", 100*(s.last/s.first-1), r.Figures.BuyAndHold)
}

// symbolRow compares the row of the only symbol, from its round trips.
func (c check) symbolRow(r *backtest.Result, s *second, wins int, sum float64) {
	c.t.Helper()
	fees, funding, row := 0.0, 0.0, &r.BySymbol[0]
	for i := range s.trips {
		fees, funding = fees+s.trips[i].fees, funding+s.trips[i].funding
	}
	c.texts("profit of the symbol", sum, row.PNL)
	c.texts("fees of the symbol", fees, row.Fees)
	c.texts("funding of the symbol", funding, row.Funding)
	if len(r.BySymbol) != 1 || row.RoundTrips != len(s.trips) || row.Wins != wins || row.Fills != len(r.Executions) || row.Candles != len(s.closesMS) ||
		r.Fills != row.Fills || r.Candles != row.Candles || row.Symbol != r.Symbol || row.Name != r.Name {
		c.t.Errorf("%s: symbols: have %+v", c.what, r.BySymbol)
	}
}

// curve compares the equity and the position's value at each close, and the final figures.
func (c check) curve(r *backtest.Result, s *second) {
	c.t.Helper()
	points := r.Curve()
	if len(points) != len(s.closesMS) {
		c.t.Fatalf("%s: want a point at each of %d closes, have %d", c.what, len(s.closesMS), len(points))
	}
	for i, p := range points {
		if off := p.Leverage - s.held[i]/s.equity[i]; p.AtMS != s.closesMS[i] || math.Abs(p.Equity.Float()-s.equity[i]) > 1e-6 || math.Abs(off) > 1e-3 {
			c.t.Errorf("%s: close %d: want %v, held %v, have %+v", c.what, i, s.equity[i], s.held[i], p)
			return
		}
	}
	open := r.OpenPosition
	if (open != nil) != (s.units != 0) || open != nil && (open.Side != map[bool]string{true: "LONG", false: "SHORT"}[s.units > 0] ||
		math.Abs(number(open.Quantity)-math.Abs(s.units)) > 1e-9) {
		c.t.Errorf("%s: want %v held at the end, have %+v", c.what, s.units, open)
	}
}

func (c check) tripFigures(have *backtest.TripFigures, s *second) {
	c.t.Helper()
	var wins, losses, profits []float64
	streak, longestWins, longestLosses := 0, 0, 0
	for i := range s.trips {
		p := s.trips[i].pnl
		if profits = append(profits, p); p > 1e-12 {
			wins, streak = append(wins, p), max(0, streak)+1
		} else {
			losses, streak = append(losses, p), min(0, streak)-1
		}
		longestWins, longestLosses = max(longestWins, streak), max(longestLosses, -streak)
	}
	mean := func(values []float64) float64 {
		sum := 0.0
		for _, v := range values {
			sum += v
		}
		return sum / float64(len(values))
	}
	if len(profits) < 2 || len(wins) == 0 || len(losses) == 0 {
		return
	}
	n, all := float64(len(profits)), mean(profits)
	c.figure("win rate", 100*float64(len(wins))/n, have.WinRate)
	c.figure("average win", mean(wins), have.AverageWin)
	c.figure("average loss", mean(losses), have.AverageLoss)
	payoff := -mean(wins) / mean(losses)
	c.figure("payoff", payoff, have.Payoff)
	c.figure("expectancy in average losses", -all/mean(losses), have.ExpectancyR)
	share := float64(len(wins)) / n
	c.figure("Kelly", share-(1-share)/payoff, have.Kelly)
	squares := 0.0
	for _, p := range profits {
		squares += (p - all) * (p - all)
	}
	c.figure("SQN", math.Sqrt(min(n, 100))*all/math.Sqrt(squares/(n-1)), have.SQN)
	c.equal("trips in SQN", min(n, 100), float64(have.SQNTrips))
	c.equal("longest wins", float64(longestWins), float64(have.LongestWins))
	c.equal("longest losses", float64(longestLosses), float64(have.LongestLosses))
	c.figure("best", slices.Max(profits), have.Best)
	c.figure("worst", slices.Min(profits), have.Worst)
	var seconds []float64
	for i := range s.trips {
		seconds = append(seconds, float64(s.trips[i].leftMS-s.trips[i].enteredMS)/1000)
	}
	spread := func(name string, values []float64, have *backtest.Spread) {
		slices.Sort(values)
		for percent, figure := range map[float64]float64{0: have.Minimum, 10: have.Tenth, 50: have.Median, 90: have.Ninth, 100: have.Maximum} {
			if want := percentile(values, percent); math.Abs(want-figure) > 1e-3 {
				c.t.Errorf("%s: %s: %v %% below %v, have %v", c.what, name, percent, want, figure)
			}
		}
	}
	var against, in []float64
	for i := range s.trips {
		against, in = append(against, 100*max(0, s.trips[i].mae)), append(in, 100*max(0, s.trips[i].mfe))
	}
	spread("held", seconds, have.Holding)
	spread("MAE", against, have.Adverse)
	spread("MFE", in, have.Favorable)
}

// groups compares the tables by weekday, hour and reason.
func (c check) groups(r *backtest.Result, s *second) {
	c.t.Helper()
	type group struct {
		trips, wins int
		pnl         float64
	}
	days, hours, exits, entries := map[string]group{}, map[string]group{}, map[string]group{}, map[string]group{}
	add := func(groups map[string]group, name string, t *secondTrip) {
		g := groups[name]
		if g.trips, g.pnl = g.trips+1, g.pnl+t.pnl; t.pnl > 1e-12 {
			g.wins++
		}
		groups[name] = g
	}
	for i := range s.trips {
		t := &s.trips[i]
		at := time.UnixMilli(t.enteredMS).UTC()
		add(days, at.Format("Monday"), t)
		add(hours, at.Format("15:00"), t)
		add(exits, t.exit, t)
		add(entries, "scripted", t)
	}
	same := func(what, name string, groups map[string]group, trips, wins int, pnl string) {
		c.t.Helper()
		if g := groups[name]; g.trips != trips || g.wins != wins {
			c.t.Errorf("%s: %s %s: want %+v, have %d, %d", c.what, what, name, g, trips, wins)
		}
		c.texts(what, groups[name].pnl, pnl)
		delete(groups, name)
	}
	for _, row := range r.Figures.ByWeekday {
		same("weekday", row.At, days, row.RoundTrips, row.Wins, row.PNL)
	}
	for _, row := range r.Figures.ByHour {
		same("hour", row.At, hours, row.RoundTrips, row.Wins, row.PNL)
	}
	for _, row := range r.ByExit {
		same("exit", row.Reason, exits, row.RoundTrips, row.Wins, row.PNL)
	}
	for _, row := range r.ByEntry {
		same("entry", row.Reason, entries, row.RoundTrips, row.Wins, row.PNL)
	}
	if left := len(days) + len(hours) + len(exits) + len(entries); left > 0 {
		c.t.Errorf("%s: %d groups have no row", c.what, left)
	}
}

// months compares each month's change of equity, up to the first midnight of the next month.
func (c check) months(r *backtest.Result, s *second) {
	c.t.Helper()
	before, at := s.initial, time.UnixMilli(s.fromMS).UTC()
	for _, row := range r.Figures.Months {
		next := time.Date(at.Year(), at.Month()+1, 1, 0, 0, 0, 0, time.UTC)
		equity := s.at(min(next.UnixMilli(), s.toMS))
		if row.Month != at.Format("2006-01") {
			c.t.Errorf("%s: want month %s, have %s", c.what, at.Format("2006-01"), row.Month)
		}
		c.figure("month", 100*(equity/before-1), row.Return)
		if math.Abs(number(row.Equity)-equity) > 0.0051 {
			c.t.Errorf("%s: %s ends with %v, have %s", c.what, row.Month, equity, row.Equity)
		}
		before, at = equity, next
	}
	if at.UnixMilli() < s.toMS {
		c.t.Errorf("%s: the months end with %s", c.what, at)
	}
}
