package report

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"
	"time"

	"botd/backtest"
	"botd/internal/chart"
)

// page is the input of the template.
type page struct {
	*backtest.Result
	Verdict   string
	Tiles     []figure
	Groups    []figureGroup
	Columns   []column
	Drawdowns []drawdownRow
	Years     []yearRow
	Steps     []step
	Waterfall template.HTML
	Histogram template.HTML
	Scatter   template.HTML
	Shuffled  template.HTML
	Stages    []stage
	Weekdays  []barRow
	Hours     []barRow
	Symbols   []barRow
	Entries   []barRow
	Exits     []barRow
	Charts    bool
	Notice    string
	Length    time.Duration
	Live      *comparison // nil without live trading
}

func newPage(r *backtest.Result, sources []Source) *page {
	p := &page{Result: r, Verdict: verdict(r), Tiles: tiles(r), Groups: groups(r), Columns: columns(r), Drawdowns: drawdowns(r),
		Years: years(r.Figures.Months), Charts: len(sources) > 0, Notice: chart.Notice, Length: r.To.Sub(r.From)}
	p.Steps = costSteps(r)
	p.Waterfall = waterfall(p.Steps)
	_, equity := r.Daily()
	p.Histogram = histogram(dailyReturns(equity), r.Figures.Daily.VaR)
	p.Scatter = excursions(r.Trips)
	if r.Study != nil {
		p.Shuffled = shuffled(r.Study.Shuffles)
	}
	p.Stages = stages(&r.Orders)
	p.Weekdays, p.Hours = timeRows(r.Figures.ByWeekday), timeRows(r.Figures.ByHour)
	p.Entries, p.Exits = reasonRows(r.ByEntry), reasonRows(r.ByExit)
	for _, s := range r.BySymbol {
		p.Symbols = append(p.Symbols, barRow{Name: s.Name + " " + s.Symbol, Trips: s.RoundTrips, Wins: s.Wins, PNL: s.PNL})
	}
	scaled(p.Symbols)
	return p
}

// verdict states the result in two sentences.
func verdict(r *backtest.Result) string {
	first, last := float(r.InitialEquity), float(r.FinalEquity)
	text := fmt.Sprintf("%s USDT became %s", money(r.InitialEquity), money(r.FinalEquity))
	if first > 0 {
		text += fmt.Sprintf(" (%s)", signedPercent(new(float64(100*(last/first-1)))))
	}
	text += " in " + span(r.To.Sub(r.From))
	if r.Drawdown != nil {
		text += fmt.Sprintf("; at the worst, on %s, equity was %s below its peak", day(r.Drawdown.Trough), percent(r.MaxDrawdown))
	}
	text += "."
	if hold := r.Figures.BuyAndHold; hold != nil {
		text += fmt.Sprintf(" Buying and holding would have made %s.", signedPercent(hold))
	}
	return text
}

type column struct {
	backtest.Column
	Kind string // CSS class
}

func columns(r *backtest.Result) (all []column) {
	for _, c := range r.Columns {
		all = append(all, column{c, c.Name})
	}
	return all
}

// drawdownRow is one of the deepest drawdowns.
type drawdownRow struct {
	backtest.Drawdown
	Down, Back string // durations
}

func drawdowns(r *backtest.Result) (rows []drawdownRow) {
	for _, f := range r.Figures.Drawdowns {
		row := drawdownRow{Drawdown: f, Down: span(f.Trough.Sub(f.Peak)), Back: "not yet"}
		if f.Recovered != nil {
			row.Back = span(f.Recovered.Sub(f.Trough))
		}
		rows = append(rows, row)
	}
	return rows
}

// yearRow is a row of the monthly table.
type yearRow struct {
	Year   string
	Months [12]cell
	Whole  cell
}

type cell struct {
	Text, Class string
}

func years(months []backtest.MonthRow) []yearRow {
	var rows []yearRow
	whole := 1.0
	for _, m := range months {
		year, month, _ := strings.Cut(m.Month, "-")
		if n := len(rows); n == 0 || rows[n-1].Year != year {
			rows, whole = append(rows, yearRow{Year: year}), 1
		}
		row := &rows[len(rows)-1]
		if m.Return == nil {
			continue
		}
		whole = float64(whole * (1 + *m.Return/100))
		total := float64(100 * (whole - 1))
		row.Whole = heat(total, 60)
		var at int
		if _, err := fmt.Sscanf(month, "%d", &at); err == nil && at >= 1 && at <= 12 {
			row.Months[at-1] = heat(*m.Return, 20)
		}
	}
	slices.Reverse(rows)
	return rows
}

// heat returns a change with its color class. A change of full or more has the strongest color.
func heat(change, full float64) cell {
	class := "h0"
	if level := int(math.Ceil(min(1, math.Abs(change)/full) * 4)); level > 0 && math.Abs(change) >= 0.005 {
		class = fmt.Sprintf("u%d", level)
		if change < 0 {
			class = fmt.Sprintf("d%d", level)
		}
	}
	text := fixed(change, 1)
	if change > 0 {
		text = "+" + text
	}
	return cell{text, class}
}

// costSteps returns the steps from the profit without costs to the net profit.
func costSteps(r *backtest.Result) []step {
	net := float(r.FinalEquity) - float(r.InitialEquity)
	gross := float(r.Figures.Gross)
	text := func(f float64) string {
		if f > 0 {
			return "+" + fixed(f, 2)
		}
		return fixed(f, 2)
	}
	steps := []step{
		{"gross", gross, text(gross), true},
		{Name: "fees", Value: -float(r.TotalFees)},
		{Name: "slippage", Value: -float(r.TotalSlippage)},
	}
	if strings.Contains(r.Market, "futures") {
		steps = append(steps, step{Name: "funding", Value: -float(r.TotalFunding)})
	}
	for i := 1; i < len(steps); i++ {
		steps[i].Text = text(steps[i].Value)
	}
	return append(steps, step{"net", net, text(net), true})
}

// stage is a step of the order funnel.
type stage struct {
	Name  string
	Count int
	Note  string
	Bar   template.HTML
}

func stages(f *backtest.OrderCounts) []stage {
	list := []stage{{Name: "derived", Count: f.Derived, Note: "intents from the strategies' plans, each counted once"}}
	for _, r := range f.Refused {
		list = append(list, stage{Name: "refused: " + r.Rule, Count: r.Count, Note: "by botd's own rules"})
	}
	list = append(list, stage{Name: "placed", Count: f.Placed, Note: "sent to the exchange"})
	for _, r := range f.Rejected {
		list = append(list, stage{Name: "rejected: " + r.Rule, Count: r.Count, Note: "by the exchange"})
	}
	list = append(
		list,
		stage{Name: "filled", Count: f.Filled, Note: "completely"},
		stage{Name: "partially filled", Count: f.Part, Note: "ended after a partial fill"},
		stage{Name: "canceled", Count: f.Canceled, Note: "ended without a fill"},
		stage{Name: "open", Count: f.Unfinished, Note: "not ended at the last candle"},
	)
	most := 0
	for _, s := range list {
		most = max(most, s.Count)
	}
	for i := range list {
		class := "total"
		if strings.HasPrefix(list[i].Name, "re") {
			class = "down"
		}
		list[i].Bar = funnelBar(list[i].Count, most, class)
	}
	return list
}

// barRow is a group of round trips with a bar for its profit.
type barRow struct {
	Name        string
	Trips, Wins int
	PNL         string
	Bar         template.HTML
}

// WinRate returns the share of winning round trips.
func (b barRow) WinRate() string {
	if b.Trips == 0 {
		return none
	}
	return percent(100 * float64(b.Wins) / float64(b.Trips))
}

func timeRows(rows []backtest.TimeRow) (all []barRow) {
	for _, r := range rows {
		all = append(all, barRow{Name: r.At, Trips: r.RoundTrips, Wins: r.Wins, PNL: r.PNL})
	}
	return scaled(all)
}

func reasonRows(rows []backtest.ReasonRow) (all []barRow) {
	for _, r := range rows {
		all = append(all, barRow{Name: cmp.Or(r.Reason, "not given"), Trips: r.RoundTrips, Wins: r.Wins, PNL: r.PNL})
	}
	return scaled(all)
}

// scaled draws the bars on a common scale.
func scaled(rows []barRow) []barRow {
	most := 0.0
	for _, r := range rows {
		most = max(most, math.Abs(float(r.PNL)))
	}
	for i := range rows {
		rows[i].Bar = bar(float(rows[i].PNL), most)
	}
	return rows
}
