package backtest

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"time"

	"botd/exchange"
)

// Figures are all measurements of a run beyond the headline, as docs/backtest.md defines them. Undefined ones are
// null.
type Figures struct {
	Daily    Series  `json:"daily"`            // of equity at each UTC midnight
	Hourly   *Series `json:"hourly"`           // of equity at each full hour: for runs of less than 60 days with candles of at most an hour
	RiskFree string  `json:"risk_free_annual"` // annual share, subtracted from each return

	Drawdowns       []Drawdown  `json:"drawdowns"`         // the ten deepest, by candle closes
	LongestDrawdown *Drawdown   `json:"longest_drawdown"`  // from peak to recovery, or to the end
	BuyAndHold      *float64    `json:"buy_and_hold_pct"`  // the same symbols bought with equal shares at the first open, without costs
	Leverage        float64     `json:"average_leverage"`  // mean position value as a share of equity, over all candles
	Turnover        *float64    `json:"turnover_yearly"`   // value filled per year, as a multiple of the mean equity
	Gross           string      `json:"gross_profit"`      // profit before fees, funding and slippage
	FeeDrag         *float64    `json:"fee_drag_pct"`      // of the gross profit; null without one
	FundingDrag     *float64    `json:"funding_drag_pct"`  // of the gross profit
	SlipDrag        *float64    `json:"slippage_drag_pct"` // of the gross profit
	Trips           TripFigures `json:"trades"`
	ByWeekday       []TimeRow   `json:"weekdays"` // round trips by the time of their entry, UTC
	ByHour          []TimeRow   `json:"hours"`
	Months          []MonthRow  `json:"months"`
	Bootstrap       *Bootstrap  `json:"bootstrap"` // of the daily returns; null with too few
	Regimes         []RegimeRow `json:"regimes"`   // days grouped by the preceding market regime
	Years           []YearRow   `json:"years"`

	Rolling *RollingSeries `json:"rolling"` // null under 180 days
}

// MonthRow is one month's change of equity. The first and the last month may be incomplete.
type MonthRow struct {
	Month  string   `json:"month"` // 2026-01
	Return *float64 `json:"return_pct"`
	Equity string   `json:"equity"` // at the end of the month
}

// shortRun is the maximum length of a run whose report shows hours in addition to days.
const shortRun = 60 * 24 * time.Hour

func (r *run) figures(fromMS int64) Figures {
	l := &r.ledger
	rate := r.config.RiskFree
	f := Figures{
		Daily:      measure(l.days.values, daysPerYear, rate.Float()),
		RiskFree:   rate.String(),
		Drawdowns:  []Drawdown{},
		Leverage:   rounded(l.leverage / float64(l.slots)),
		Trips:      l.tripFigures(),
		ByWeekday:  l.byWeekday(),
		ByHour:     l.byHour(),
		Months:     r.months(fromMS),
		BuyAndHold: r.buyAndHold(),
	}
	if l.hours.every > 0 && r.nowMS-fromMS < shortRun.Milliseconds() {
		f.Hourly = new(measure(l.hours.values, daysPerYear*24, rate.Float()))
	}
	for i := range l.drawdowns.worst {
		f.Drawdowns = append(f.Drawdowns, *l.drawdowns.worst[i].figure())
	}
	f.LongestDrawdown = l.drawdowns.longest.figure()
	if f.Regimes, f.Years = []RegimeRow{}, []YearRow{}; !r.config.auxiliary {
		days, bench := &l.days, r.bench()
		f.Bootstrap, f.Regimes = bootstrap(days.values), regimes(days.values, bench)
		f.Years, f.Rolling = Years(days.firstMS, days.values, bench), Rolling(days.firstMS, days.values, bench, rate.Float())
	}
	r.drags(&f)
	if years := yearsBetween(fromMS, r.nowMS); years > 0 && l.meanEquity() > 0 {
		f.Turnover = finite(l.filled.Float() / l.meanEquity() / years)
	}
	return f
}

// drags expresses the costs as shares of the profit before them.
func (r *run) drags(f *Figures) {
	l := &r.ledger
	fees, funding, err := r.identity()
	if err != nil {
		return
	}
	gross := l.equity.Sub(l.initial).Add(fees).Add(funding).Add(l.slipped)
	f.Gross = gross.String()
	if gross.Sign() <= 0 {
		return
	}
	of := func(cost exchange.Amount) *float64 { return finite(100 * cost.Float() / gross.Float()) }
	f.FeeDrag, f.FundingDrag, f.SlipDrag = of(fees), of(funding), of(l.slipped)
}

// buyAndHold returns the mean change of the symbols' prices, from first open to last close.
func (r *run) buyAndHold() *float64 {
	sum := 0.0
	for i := range r.legs {
		candles := r.legs[i].candles
		sum += float64(candles.Close[candles.Len()-1])/float64(candles.Open[0]) - 1
	}
	return finite(100 * sum / float64(len(r.legs)))
}

// bench returns the value of the same symbols, bought with equal shares at the first open, at the moments of the
// daily equity.
func (r *run) bench() []float64 {
	days := &r.ledger.days
	all := make([]float64, len(days.values))
	for i := range r.legs {
		candles := r.legs[i].candles
		at, price := 0, float64(candles.Open[0])
		for j := range all {
			untilMS := days.firstMS + int64(j)*days.every - int64(candles.Interval)
			rest := candles.OpenMS[at:]
			if at += sort.Search(len(rest), func(i int) bool { return rest[i] > untilMS }); at > 0 {
				price = float64(candles.Close[at-1])
			}
			all[j] += price / float64(candles.Open[0]) / float64(len(r.legs))
		}
	}
	return all
}

// months returns the changes of equity from one month's first midnight to the next's.
func (r *run) months(fromMS int64) []MonthRow {
	l, rows := &r.ledger, []MonthRow{}
	before := l.initial.Float()
	add := func(month string, equity float64) {
		row := MonthRow{Month: month, Equity: strconv.FormatFloat(equity, 'f', 2, 64)}
		if before > 0 {
			row.Return = finite(float64(100 * (equity/before - 1)))
		}
		rows, before = append(rows, row), equity
	}
	month := utc(fromMS).Format("2006-01")
	for i, equity := range l.days.values {
		at := l.days.firstMS + int64(i)*l.days.every
		if now := utc(at).Format("2006-01"); now != month && at > fromMS {
			add(month, equity)
			month = now
		}
	}
	if last := utc(r.nowMS - 1).Format("2006-01"); last == month {
		add(month, l.equity.Float())
	}
	return rows
}

// sampler records a value at each multiple of an interval.
type sampler struct {
	every   int64 // 0 records none
	firstMS int64
	nextMS  int64
	values  []float64
}

func (s *sampler) begin(every exchange.Interval, fromMS, toMS int64, value float64) {
	if s.nextMS = never; every == 0 {
		return
	}
	s.every, s.nextMS = int64(every), every.OpenOf(fromMS)
	if s.nextMS < fromMS {
		s.nextMS += s.every
	}
	s.firstMS = s.nextMS
	s.values = make([]float64, 0, (toMS-fromMS)/s.every+2)
	s.add(fromMS, value, value)
}

// add receives a close, the value at it, and the value before it. A moment without a candle end, in a gap or inside
// a weekly candle, gets the value before.
func (s *sampler) add(atMS int64, before, value float64) {
	for ; s.nextMS <= atMS; s.nextMS += s.every {
		if s.nextMS == atMS {
			before = value
		}
		s.values = append(s.values, before)
	}
}

// TimeRow groups the round trips entered on one weekday, or in one hour.
type TimeRow struct {
	At         string `json:"at"`
	RoundTrips int    `json:"round_trips"`
	Wins       int    `json:"wins"`
	PNL        string `json:"pnl"`
}

func (l *measurement) byTime(names []string, of func(time.Time) int) []TimeRow {
	rows, sums := make([]TimeRow, len(names)), make([]exchange.Amount, len(names))
	for i := range l.trips {
		t := &l.trips[i]
		n := of(utc(t.EnteredMS))
		rows[n].RoundTrips++
		if t.PNL.Sign() > 0 {
			rows[n].Wins++
		}
		sums[n] = sums[n].Add(t.PNL)
	}
	for i := range rows {
		rows[i].At, rows[i].PNL = names[i], sums[i].String()
	}
	return rows
}

func (l *measurement) byWeekday() []TimeRow {
	names := make([]string, 7)
	for i := range names {
		names[i] = time.Weekday((i + 1) % 7).String() // weeks begin on Monday
	}
	return l.byTime(names, func(at time.Time) int { return (int(at.Weekday()) + 6) % 7 })
}

func (l *measurement) byHour() []TimeRow {
	names := make([]string, 24)
	for i := range names {
		names[i] = fmt.Sprintf("%02d:00", i)
	}
	return l.byTime(names, time.Time.Hour)
}

// sorted returns a sorted copy.
func sorted(values []float64) []float64 {
	all := slices.Clone(values)
	slices.Sort(all)
	return all
}
