package research

import (
	"fmt"
	"io"
	"strconv"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"botd/backtest/resultstore"
	"botd/cmd/botd/cli/shell"
)

// maxCompared bounds the reports in one comparison.
const maxCompared = 8

func newBacktestCompare() *cobra.Command {
	var flags savedFlags
	command := &cobra.Command{
		Use: "compare NAME NAME...", Short: "several reports side by side, with their differences", Args: cobra.RangeArgs(2, maxCompared),
		Long: `Shows the figures of reports side by side, the settings and assumptions that differ, whether they
use the same candles, and the first fill that differs between the first two reports.`,
		Example: "  botd backtest compare first second\n  botd backtest compare report-a report-b -o json",
		RunE: func(command *cobra.Command, names []string) error {
			c := resultstore.Comparison{Schema: 1, SameData: true, SameConfig: true}
			for _, name := range names {
				run, err := flags.find(command.Context(), name)
				if err != nil {
					return err
				}
				c.Runs = append(c.Runs, run)
			}
			c.Compare()
			return shell.Print(command, &c, func(w io.Writer) { comparisonTable(w, &c, shell.Colors(command, w)) })
		},
	}
	flags.add(command)
	shell.OutputFlag(command)
	return command
}

func comparisonTable(w io.Writer, c *resultstore.Comparison, color bool) {
	t := table.NewWriter()
	t.SetOutputMirror(w)
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault // names keep their case
	header := table.Row{""}
	var right []table.ColumnConfig
	for i, run := range c.Runs {
		header = append(header, run.Name)
		right = append(right, table.ColumnConfig{Number: i + 2, Align: text.AlignRight, WidthMax: 40})
	}
	t.AppendHeader(header)
	t.SetColumnConfigs(right)
	for _, line := range []struct {
		name string
		of   func(*resultstore.Run) string
	}{
		{"strategy", func(r *resultstore.Run) string { return r.Strategy }},
		{"symbol", func(r *resultstore.Run) string { return r.Symbol + " " + r.Interval }},
		{"from", func(r *resultstore.Run) string { return r.From.Format("2006-01-02 15:04") }},
		{"to", func(r *resultstore.Run) string { return r.To.Format("2006-01-02 15:04") }},
		{"final equity", func(r *resultstore.Run) string { return amountText(r.FinalEquity) }},
		{"profit %", func(r *resultstore.Run) string { return gainText(r.Profit, color) }},
		{"CAGR %", func(r *resultstore.Run) string { return floatText(r.Result.CAGR) }},
		{"max drawdown %", func(r *resultstore.Run) string { return fmt.Sprintf("%.2f", r.MaxDrawdown) }},
		{"Sharpe", func(r *resultstore.Run) string { return floatText(r.Sharpe) }},
		{"Sortino", func(r *resultstore.Run) string { return floatText(r.Result.Sortino) }},
		{"profit factor", func(r *resultstore.Run) string { return floatText(r.Result.ProfitFactor) }},
		{"round trips", func(r *resultstore.Run) string { return strconv.Itoa(r.RoundTrips) }},
		{"wins", func(r *resultstore.Run) string { return strconv.Itoa(r.Result.Wins) }},
		{"fees", func(r *resultstore.Run) string { return amountText(r.Fees) }},
		{"funding paid", func(r *resultstore.Run) string { return amountText(r.Result.TotalFunding) }},
		{"in the market %", func(r *resultstore.Run) string { return fmt.Sprintf("%.1f", r.Result.Exposure) }},
		{"data", func(r *resultstore.Run) string { return fmt.Sprintf("%.8s", r.DataSHA256) }},
		{"config", func(r *resultstore.Run) string { return fmt.Sprintf("%.8s", r.ConfigSHA256) }},
		{"result", func(r *resultstore.Run) string { return fmt.Sprintf("%.8s", r.ResultSHA256) }},
		{"note", func(r *resultstore.Run) string { return r.Note }},
	} {
		row := table.Row{line.name}
		for _, run := range c.Runs {
			row = append(row, line.of(run))
		}
		t.AppendRow(row)
	}
	t.Render()
	if !c.SameData {
		fmt.Fprintln(w, "they use different candles: their figures do not compare the strategies")
	}
	for i, run := range c.Runs {
		for _, line := range c.Config[i] {
			fmt.Fprintf(w, "only %s: %s\n", run.Name, line)
		}
		for _, line := range c.Assumed[i] {
			fmt.Fprintf(w, "only %s assumes %s\n", run.Name, line)
		}
	}
	if c.FirstFill != "" {
		fmt.Fprintf(w, "the first fill of %s and %s that differs is %s\n", c.Runs[0].Name, c.Runs[1].Name, c.FirstFill)
	} else {
		fmt.Fprintf(w, "every fill of %s and %s is the same\n", c.Runs[0].Name, c.Runs[1].Name)
	}
}
