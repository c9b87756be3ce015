package backtest

import (
	"fmt"
	"io"
	"strconv"

	"botd/internal/paint"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/shopspring/decimal"
)

// Table writes the result as text tables.
func (r *Result) Table(w io.Writer, color bool) {
	t := table.NewWriter()
	t.SetOutputMirror(w)
	t.SetStyle(table.StyleLight)
	t.Style().Options.SeparateRows = false
	t.SetTitle("%s  %s %s %s", r.Name, r.Market, r.Symbol, r.Interval)
	t.SetColumnConfigs([]table.ColumnConfig{{Number: 2, Align: text.AlignRight}})
	t.AppendRow(table.Row{"strategy", r.Strategy})
	t.AppendRow(table.Row{"from", r.From.Format("2006-01-02 15:04")})
	t.AppendRow(table.Row{"to", r.To.Format("2006-01-02 15:04")})
	t.AppendRow(table.Row{"candles", r.Candles})
	t.AppendSeparator()
	first, last := decimal.RequireFromString(r.InitialEquity), decimal.RequireFromString(r.FinalEquity)
	profit := last.Sub(first)
	t.AppendRow(table.Row{"start equity", money(r.InitialEquity)})
	t.AppendRow(table.Row{"final equity", money(r.FinalEquity)})
	t.AppendRow(table.Row{"profit", Signed(profit, color) + " USDT"})
	if !first.IsZero() {
		t.AppendRow(table.Row{"profit %", Signed(profit.Div(first).Shift(2), color) + " %"})
	}
	if hold := r.Figures.BuyAndHold; hold != nil {
		t.AppendRow(table.Row{"holding instead", Signed(decimal.NewFromFloat(*hold), color) + " %"})
	}
	t.AppendRow(table.Row{"CAGR %", Figure(r.CAGR, 2)})
	t.AppendRow(table.Row{"max drawdown", strconv.FormatFloat(r.MaxDrawdown, 'f', 2, 64) + " %"})
	t.AppendRow(table.Row{fmt.Sprintf("Sharpe (%d days, x%d)", r.Days, r.YearDays), Figure(r.Sharpe, 2)})
	t.AppendRow(table.Row{"Sortino", Figure(r.Sortino, 2)})
	t.AppendRow(table.Row{"Calmar", Figure(r.Calmar, 2)})
	t.AppendSeparator()
	t.AppendRow(table.Row{"fills", r.Fills})
	t.AppendRow(table.Row{"round trips", r.RoundTrips})
	if r.RoundTrips > 0 {
		t.AppendRow(table.Row{"wins", fmt.Sprintf("%d (%.1f %%)", r.Wins, 100*float64(r.Wins)/float64(r.RoundTrips))})
		t.AppendRow(table.Row{"expectancy", money(*r.Expectancy) + " a trip"})
		t.AppendRow(table.Row{"SQN", sqnText(&r.Figures.Trips, r.RoundTrips)})
	}
	t.AppendRow(table.Row{"profit factor", Figure(r.ProfitFactor, 2)})
	t.AppendRow(table.Row{"in the market", strconv.FormatFloat(r.Exposure, 'f', 1, 64) + " %"})
	t.AppendRow(table.Row{"fees", money(r.TotalFees)})
	t.AppendRow(table.Row{"funding paid", money(r.TotalFunding)})
	for _, p := range r.OpenPositions {
		at := decimal.RequireFromString(p.EntryPrice).Round(8)
		t.AppendRow(table.Row{"still open", fmt.Sprintf("%s %s %s at %s", p.Symbol, p.Side, p.Quantity, at)})
	}
	if r.BreakEven != nil {
		t.AppendRow(table.Row{"break-even slippage", Figure(r.BreakEven, 3) + " %"})
	}
	t.AppendRow(table.Row{"orders", r.Orders.line()})
	r.boundRows(t)
	t.Render()
	r.columnTable(w, color)
	r.groupTables(w, color)
	r.machineLine(w)
	for _, line := range r.Assumptions {
		fmt.Fprintln(w, "assumes", line)
	}
	for _, line := range r.Warnings {
		fmt.Fprintln(w, "warning:", line)
	}
	fmt.Fprintf(w, "%d candles in %.3f s, %s  data %.8s  config %.8s  result %.8s\n", r.Candles, r.Elapsed, pace(r.Speed), r.DataSHA256,
		r.ConfigSHA256, r.ResultSHA256)
}

// boundRows shows the event that ended the run, the trades that did not happen, and the notices.
func (r *Result) boundRows(t table.Writer) {
	if r.EndedBy != nil {
		t.AppendRow(table.Row{"ended by", r.EndedBy.Limit + " on " + r.EndedBy.Time.Format("2006-01-02 15:04")})
	}
	for _, n := range r.NotTraded {
		if n.Signals > 0 {
			t.AppendRow(table.Row{n.Reason, fmt.Sprintf("%d of %d signals", n.Count, n.Signals)})
			continue
		}
		t.AppendRow(table.Row{"not traded", fmt.Sprintf("%d, %s", n.Count, n.Reason)})
	}
	if n := r.Notices; n != nil {
		t.AppendRow(table.Row{"notices", fmt.Sprintf("%d, not sent; live %d would be", n.Count, n.Count-n.Withheld)})
	}
}

// sqnText formats SQN, and states when it counts only some of the round trips.
func sqnText(f *TripFigures, trips int) string {
	if f.SQN != nil && trips > f.SQNTrips {
		return fmt.Sprintf("%s (capped at %d trips)", Figure(f.SQN, 2), f.SQNTrips)
	}
	return Figure(f.SQN, 2)
}

// pace formats candles per second in a suitable unit.
func pace(candles float64) string {
	switch {
	case candles >= 1e5:
		return fmt.Sprintf("%.1f M/s", candles/1e6)
	case candles >= 1e3:
		return fmt.Sprintf("%.0f k/s", candles/1e3)
	}
	return fmt.Sprintf("%.0f/s", candles)
}

func money(amount string) string { return decimal.RequireFromString(amount).StringFixed(2) + " USDT" }

// Signed formats an amount with an explicit sign, so that color is never its only sign.
func Signed(d decimal.Decimal, color bool) string {
	word := d.StringFixed(2)
	if d.Sign() >= 0 {
		word = "+" + word
	}
	switch {
	case color && d.Sign() > 0:
		return paint.Own(text.FgGreen.Sprint(word))
	case color && d.Sign() < 0:
		return paint.Own(text.FgRed.Sprint(word))
	}
	return word
}

// Figure formats a figure, or – where it is undefined.
func Figure(f *float64, places int) string {
	if f == nil {
		return "–"
	}
	return strconv.FormatFloat(*f, 'f', places, 64)
}
