package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"botd/backtest"
)

// figure is one number with its definition.
type figure struct {
	Name, Value, Tone string
	Note              string // in small type next to the value
	Formula           string // its computation
}

type figureGroup struct {
	Name    string
	Figures []figure
}

// The definitions, as in docs/backtest.md.
const (
	returnsText   = "r = E_i / E_(i-1) − 1 over equity at each UTC midnight, wallet and open profit, fees and funding inside"
	sharpeText    = "mean(r) / sd(r) × √P; sd with n−1; " + returnsText
	sortinoText   = "mean(r) / √(mean of min(r, 0)² over all n) × √P"
	drawdownText  = "minimum of E / peak so far − 1, over equity at every candle's close, from the first on"
	cagrText      = "(last / first)^(1/years) − 1, a year being 365 days; not shown under 30 days"
	calmarText    = "CAGR / |max drawdown|"
	factorText    = "sum of winning round trips / |sum of losing ones|, net of fees and funding"
	breakEvenText = "slippage in all, as a share of the price, that would leave no profit"
	exposureText  = "share of candle closes with an open position"
	holdText      = "the same symbols bought in equal shares at the first open and held, without costs"
)

// tiles returns the most important figures.
func tiles(r *backtest.Result) []figure {
	f := &r.Figures
	profit := changeOf(r)
	days := fmt.Sprintf("N = %d days, P = %d", r.Days, r.YearDays)
	trips := fmt.Sprintf("%s won, %s lost", count(r.Wins), count(r.RoundTrips-r.Wins))
	fallNote := "equity never fell"
	if d := r.Drawdown; d != nil {
		fallNote = day(d.Peak) + " to " + day(d.Trough)
	}
	return []figure{
		{"Profit", signedPercent(profit), tone(profit), gain(difference(r)) + " USDT", "last equity / first − 1"},
		{"CAGR", signedPercent(r.CAGR), tone(r.CAGR), span(r.To.Sub(r.From)), cagrText},
		{"Max drawdown", percent(r.MaxDrawdown), "down", fallNote, drawdownText},
		{"Sharpe", number(r.Sharpe), tone(r.Sharpe), days, sharpeText},
		{"Sortino", number(r.Sortino), tone(r.Sortino), days, sortinoText},
		{"Calmar", number(r.Calmar), tone(r.Calmar), "", calmarText},
		{"Profit factor", number(r.ProfitFactor), "", "", factorText},
		{"Round trips", count(r.RoundTrips), "", trips, "from flat to flat"},
		{"Win rate", percent(f.Trips.WinRate), "", "payoff " + number(f.Trips.Payoff), "round trips with a profit after fees and funding / all"},
		{"In the market", percent(r.Exposure), "", "mean leverage " + fixed(f.Leverage, 2), exposureText},
		{"Break-even slippage", percent(r.BreakEven), "", "of the price, each fill", breakEvenText},
		{"Buy and hold", signedPercent(f.BuyAndHold), tone(f.BuyAndHold), "", holdText},
	}
}

func changeOf(r *backtest.Result) *float64 {
	first := float(r.InitialEquity)
	if first <= 0 {
		return nil
	}
	return new(float64(100 * (float(r.FinalEquity)/first - 1)))
}

// groups returns all figures.
func groups(r *backtest.Result) []figureGroup {
	all := []figureGroup{{"Growth", []figure{
		{Name: "Initial equity", Value: money(r.InitialEquity) + " USDT", Formula: "initial balance"},
		{Name: "Final equity", Value: money(r.FinalEquity) + " USDT", Formula: "wallet and positions, at the last close"},
		{Name: "Wallet at the end", Value: money(r.Wallet) + " USDT", Formula: "deposits + realized − funding − fees, checked to the last digit"},
		{Name: "CAGR", Value: signedPercent(r.CAGR), Formula: cagrText},
		{Name: "Buy and hold", Value: signedPercent(r.Figures.BuyAndHold), Formula: holdText},
	}}, {"Drawdowns", []figure{
		{Name: "Max drawdown", Value: percent(r.MaxDrawdown), Formula: drawdownText},
		{Name: "Longest drawdown", Value: longest(r), Formula: "from a peak until equity was there again, or to the end"},
		{Name: "Ulcer index", Value: percent(r.Figures.Daily.Ulcer), Formula: "√(mean of drawdown²) over daily equity"},
		{Name: "UPI", Value: number(r.Figures.Daily.UPI), Formula: "CAGR / ulcer index"},
		{Name: "Calmar", Value: number(r.Calmar), Formula: calmarText},
	}}, seriesGroup("Daily returns", &r.Figures.Daily, r)}
	if r.Figures.Hourly != nil {
		all = append(all, seriesGroup("Hourly returns", r.Figures.Hourly, r))
	}
	all = append(all, tripGroup(r), costGroup(r), metricGroup(r))
	if len(r.Figures.Regimes) > 0 {
		all = append(all, regimeGroup(r))
	}
	if len(r.Figures.Years) > 0 {
		all = append(all, yearGroup(r))
	}
	if r.Figures.Rolling != nil {
		all = append(all, rollingGroup(r.Figures.Rolling))
	}
	if r.Figures.Bootstrap != nil {
		all = append(all, bootstrapGroup(r.Figures.Bootstrap))
	}
	return all
}

// regimeGroup groups the run by the market regime before each day.
func regimeGroup(r *backtest.Result) figureGroup {
	g := figureGroup{Name: "By regime of the days before"}
	for _, row := range r.Figures.Regimes {
		g.Figures = append(g.Figures, figure{Name: row.Regime, Value: signedPercent(row.Return), Note: "holding " + signedPercent(row.Hold),
			Formula: fmt.Sprintf("return compounded over %d days; Sharpe %s", row.Days, number(row.Sharpe))})
	}
	return g
}

// yearGroup shows the run by calendar year.
func yearGroup(r *backtest.Result) figureGroup {
	g := figureGroup{Name: "By year"}
	for _, row := range r.Figures.Years {
		g.Figures = append(g.Figures, figure{Name: row.Year, Value: signedPercent(row.Return), Note: "holding " + signedPercent(row.Hold),
			Formula: "returns of its days, compounded"})
	}
	return g
}

// rollingGroup shows the latest value of each rolling figure and its range. The JSON has all values.
func rollingGroup(series *backtest.RollingSeries) figureGroup {
	g := figureGroup{Name: fmt.Sprintf("Rolling %d days", series.Days)}
	for _, row := range []struct {
		name   string
		values []*float64
	}{{"volatility", series.Volatility}, {"Sharpe", series.Sharpe}, {"Sortino", series.Sortino}, {"beta", series.Beta}} {
		known := make([]float64, 0, len(row.values))
		for _, value := range row.values {
			if value != nil {
				known = append(known, *value)
			}
		}
		if len(known) > 0 {
			g.Figures = append(g.Figures, figure{Name: row.name, Value: number(row.values[len(row.values)-1]),
				Note: fixed(slices.Min(known), 2) + " to " + fixed(slices.Max(known), 2), Formula: "newest; least to most"})
		}
	}
	return g
}

// bootstrapGroup shows how much of the result depends on the luck of its days.
func bootstrapGroup(b *backtest.Bootstrap) figureGroup {
	g := figureGroup{Name: fmt.Sprintf("Daily returns drawn again, %d times, in blocks of %d days", b.Draws, b.Block)}
	add := func(name string, band *backtest.Band) {
		if band != nil {
			g.Figures = append(g.Figures, figure{Name: name, Value: fixed(band.Median, 2), Note: fixed(band.Low, 2) + " to " + fixed(band.High, 2),
				Formula: "median; nine draws of ten"})
		}
	}
	add("Profit %", b.Return)
	add("Max drawdown %", b.Drawdown)
	add("Sharpe", b.Sharpe)
	return g
}

// metricGroup shows every metric of the daily returns compared with holding, with its formula and source.
func metricGroup(r *backtest.Result) figureGroup {
	g := figureGroup{Name: "Daily returns r next to holding b, risk-free f a day"}
	for _, d := range backtest.Metrics() {
		name := strings.ToUpper(d.Name[:1]) + strings.ReplaceAll(d.Name[1:], "_", " ")
		g.Figures = append(g.Figures, figure{Name: name, Value: metric(r.Metrics[d.Name]), Note: d.Source, Formula: d.Formula})
	}
	return g
}

// metric formats four places: most metrics are shares.
func metric(value *float64) string {
	if value == nil {
		return none
	}
	return fixed(*value, 4)
}

func seriesGroup(name string, s *backtest.Series, r *backtest.Result) figureGroup {
	return figureGroup{
		fmt.Sprintf("%s (N = %d, P = %d)", name, s.Returns, s.PerYear),
		[]figure{
			{Name: "Sharpe", Value: number(s.Sharpe), Formula: sharpeText + "; risk-free " + r.Figures.RiskFree + " a year"},
			{Name: "Sortino", Value: number(s.Sortino), Formula: sortinoText},
			{Name: "Volatility", Value: percent(s.Volatility), Formula: "sd(r) × √P"},
			{Name: "Omega", Value: number(s.Omega), Formula: "sum of gains / sum of losses"},
			{Name: "VaR 95 %", Value: percent(s.VaR), Formula: "−5th percentile of r, linear between two returns"},
			{Name: "CVaR 95 %", Value: percent(s.CVaR), Formula: "−mean of the returns at or below that percentile"},
			{Name: "VaR 95 %, normal", Value: percent(s.VaRNormal), Formula: "1.645 sd − mean, as if returns were normal"},
			{Name: "Probabilistic Sharpe", Value: number(s.PSR),
				Formula: "Φ(SR √(n−1) / √(1 − skew SR + (kurtosis−1)/4 SR²)): how probable a true Sharpe above 0 is"},
			{Name: "Skew", Value: number(s.Skew), Formula: "third moment / second^1.5"},
			{Name: "Kurtosis", Value: number(s.Kurtosis), Formula: "fourth moment / second², 3 for normal returns"},
			{Name: "Best", Value: signedPercent(s.Best), Formula: "largest r"},
			{Name: "Worst", Value: signedPercent(s.Worst), Formula: "least r"},
		},
	}
}

// cappedNote states that SQN counts fewer round trips than there were.
func cappedNote(trips, counted int) string {
	if counted == 0 || trips <= counted {
		return ""
	}
	return fmt.Sprintf("as if of %d trips, not %d: capped", counted, trips)
}

func tripGroup(r *backtest.Result) figureGroup {
	t := &r.Figures.Trips
	expectancy := none
	if r.Expectancy != nil {
		expectancy = gain(*r.Expectancy) + " USDT"
	}
	g := figureGroup{"Round trips", []figure{
		{Name: "Count", Value: count(r.RoundTrips), Formula: "from flat to flat"},
		{Name: "Win rate", Value: percent(t.WinRate), Formula: "with a profit after fees and funding / all"},
		{Name: "Profit factor", Value: number(r.ProfitFactor), Formula: factorText},
		{Name: "Expectancy", Value: expectancy, Formula: "mean profit of a round trip"},
		{Name: "Expectancy in R", Value: number(t.ExpectancyR), Formula: "mean profit / mean loss"},
		{Name: "Average win", Value: number(t.AverageWin), Formula: "mean of those with a profit, USDT"},
		{Name: "Average loss", Value: number(t.AverageLoss), Formula: "mean of the others, USDT"},
		{Name: "Payoff", Value: number(t.Payoff), Formula: "average win / |average loss|"},
		{Name: "SQN", Value: number(t.SQN), Note: cappedNote(r.RoundTrips, t.SQNTrips), Formula: "√(min(N, 100)) × mean / sd"},
		{Name: "Kelly", Value: number(t.Kelly), Formula: "W − (1 − W) / payoff"},
		{Name: "Longest streaks", Value: fmt.Sprintf("%d won, %d lost", t.LongestWins, t.LongestLosses), Formula: "one after the other"},
		{Name: "Best and worst", Value: number(t.Best) + " / " + number(t.Worst), Formula: "USDT"},
	}}
	if t.Holding != nil {
		held := func(seconds float64) string { return span(time.Duration(seconds * float64(time.Second))) }
		g.Figures = append(
			g.Figures,
			figure{Name: "Held", Value: held(t.Holding.Median), Note: held(t.Holding.Tenth) + " to " + held(t.Holding.Ninth),
				Formula: "median; a tenth and nine tenths"},
			figure{Name: "MAE", Value: percent(t.Adverse.Median), Note: "nine tenths " + percent(t.Adverse.Ninth),
				Formula: "maximum adverse excursion, as a percentage of the entry price; median"},
			figure{Name: "MFE", Value: percent(t.Favorable.Median), Note: "nine tenths " + percent(t.Favorable.Ninth),
				Formula: "maximum favorable excursion, as a percentage of the entry price; median"},
		)
	}
	return g
}

// ofGross formats a cost relative to the gross profit: as a share of it, or as a multiple.
func ofGross(share *float64) string {
	switch {
	case share == nil:
		return ""
	case *share > 100:
		return fixed(*share/100, 1) + " × the gross profit"
	}
	return percent(share) + " of the gross profit"
}

func costGroup(r *backtest.Result) figureGroup {
	f := &r.Figures
	turnover := none
	if f.Turnover != nil {
		turnover = fixed(*f.Turnover, 1) + " × a year"
	}
	return figureGroup{
		"Costs and size",
		[]figure{
			{Name: "Fees", Value: money(r.TotalFees) + " USDT", Note: ofGross(f.FeeDrag), Formula: "paid; compared with the gross profit"},
			{Name: "Funding paid", Value: money(r.TotalFunding) + " USDT", Note: ofGross(f.FundingDrag), Formula: "net; compared with the gross profit"},
			{Name: "Slippage", Value: money(r.TotalSlippage) + " USDT", Note: ofGross(f.SlipDrag),
				Formula: "how much worse fills were than their quotes; compared with the gross profit"},
			{Name: "Break-even slippage", Value: percent(r.BreakEven), Formula: breakEvenText},
			{Name: "In the market", Value: percent(r.Exposure), Formula: exposureText},
			{Name: "Mean leverage", Value: fixed(f.Leverage, 2), Formula: "mean of |position value| / equity over all closes"},
			{Name: "Turnover", Value: turnover, Formula: "value filled / mean equity, a year"},
			{Name: "Fills", Value: count(r.Fills), Formula: "executions"},
			{Name: "Liquidations", Value: count(r.Liquidations), Formula: "positions the exchange ended"},
		},
	}
}

func longest(r *backtest.Result) string {
	d := r.Figures.LongestDrawdown
	if d == nil {
		return none
	}
	end, open := r.To, ", not recovered"
	if d.Recovered != nil {
		end, open = *d.Recovered, ""
	}
	return span(end.Sub(d.Peak)) + open
}

// difference returns the profit.
func difference(r *backtest.Result) string {
	first, err := decimal.NewFromString(r.InitialEquity)
	if err != nil {
		return ""
	}
	last, err := decimal.NewFromString(r.FinalEquity)
	if err != nil {
		return ""
	}
	return last.Sub(first).String()
}
