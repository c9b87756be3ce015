package backtest

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/shopspring/decimal"
)

// columnTable writes the columns in parallel.
func (r *Result) columnTable(w io.Writer, color bool) {
	if len(r.Columns) == 0 {
		return
	}
	t := table.NewWriter()
	t.SetOutputMirror(w)
	t.SetStyle(table.StyleLight)
	header, configs := table.Row{"cost model"}, []table.ColumnConfig{}
	for i, c := range r.Columns {
		header, configs = append(header, c.Name), append(configs, table.ColumnConfig{Number: i + 2, Align: text.AlignRight})
	}
	t.AppendHeader(header)
	t.SetColumnConfigs(configs)
	add := func(name string, of func(*Column) string) {
		row := table.Row{name}
		for i := range r.Columns {
			row = append(row, of(&r.Columns[i]))
		}
		t.AppendRow(row)
	}
	add("final equity", func(c *Column) string { return money(c.FinalEquity) })
	add("profit %", func(c *Column) string {
		if c.Profit == nil {
			return Figure(nil, 0)
		}
		return Signed(decimal.NewFromFloat(*c.Profit), color)
	})
	add("max drawdown %", func(c *Column) string { return strconv.FormatFloat(c.MaxDrawdown, 'f', 2, 64) })
	add("Sharpe", func(c *Column) string { return Figure(c.Sharpe, 2) })
	add("profit factor", func(c *Column) string { return Figure(c.ProfitFactor, 2) })
	add("fees", func(c *Column) string { return money(c.TotalFees) })
	add("slippage", func(c *Column) string { return money(c.TotalSlippage) })
	add("funding paid", func(c *Column) string { return money(c.TotalFunding) })
	add("fills", func(c *Column) string { return strconv.Itoa(c.Fills) })
	add("round trips", func(c *Column) string { return strconv.Itoa(c.RoundTrips) })
	if slices.ContainsFunc(r.Columns, func(c Column) bool { return c.EndedBy != nil }) {
		add("ended by", func(c *Column) string { return c.EndedBy.Short() })
	}
	t.Render()
}

// groupTables writes the round trips by symbol, when there are several, and by the reason of their end.
func (r *Result) groupTables(w io.Writer, color bool) {
	if len(r.BySymbol) > 1 {
		t := groupTable(w, "symbol")
		for _, row := range r.BySymbol {
			t.AppendRow(table.Row{row.Name + " " + row.Symbol, row.RoundTrips, row.Wins, Signed(decimal.RequireFromString(row.PNL), color)})
		}
		t.Render()
	}
	if len(r.ByExit) > 0 {
		t := groupTable(w, "exit")
		for _, row := range r.ByExit {
			t.AppendRow(table.Row{row.Reason, row.RoundTrips, row.Wins, Signed(decimal.RequireFromString(row.PNL), color)})
		}
		t.Render()
	}
}

func groupTable(w io.Writer, first string) table.Writer {
	t := table.NewWriter()
	t.SetOutputMirror(w)
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{first, "round trips", "won", "profit USDT"})
	t.SetColumnConfigs([]table.ColumnConfig{{Number: 2, Align: text.AlignRight}, {Number: 3, Align: text.AlignRight},
		{Number: 4, Align: text.AlignRight}})
	return t
}

// line summarizes the counts in one line.
func (f *OrderCounts) line() string {
	line := fmt.Sprintf("%d derived, %d placed, %d filled", f.Derived, f.Placed, f.Filled)
	if n := sum(f.Refused) + sum(f.Rejected); n > 0 {
		line += fmt.Sprintf(", %d refused", n)
	}
	if n := f.Part + f.Canceled; n > 0 {
		line += fmt.Sprintf(", %d canceled", n)
	}
	return line
}
