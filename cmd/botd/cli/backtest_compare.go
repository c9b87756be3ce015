package cli

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/shopspring/decimal"
	"github.com/spf13/cobra"

	"botd/backtest"
	"botd/cmd/botd/cli/shell"
)

// maxCompared is how many reports stand side by side.
const maxCompared = 8

// comparison is what several reports have and do not have in common.
type comparison struct {
	Schema     int        `json:"schema"`
	Runs       []*keptRun `json:"runs"`
	SameData   bool       `json:"same_data"`
	SameConfig bool       `json:"same_config"`
	Config     [][]string `json:"config"`      // of each run, the lines of its strategies that not every run has
	Assumed    [][]string `json:"assumptions"` // likewise
	FirstFill  string     `json:"first_fill_that_differs"`
}

func newBacktestCompare() *cobra.Command {
	var flags keptFlags
	command := &cobra.Command{
		Use: "compare NAME NAME...", Short: "several reports side by side, and what they do not have in common", Args: cobra.RangeArgs(2, maxCompared),
		Long: `Puts the figures of reports side by side, and tells which lines of their strategies and which
assumptions not all of them have, whether they are of the same candles, and which is the first
fill of the second that is not the first's.`,
		Example: "  botd backtest compare first second\n  botd backtest compare report-a report-b -o json",
		RunE: func(command *cobra.Command, names []string) error {
			c := comparison{Schema: 1, SameData: true, SameConfig: true}
			for _, name := range names {
				run, err := flags.find(name)
				if err != nil {
					return err
				}
				c.Runs = append(c.Runs, run)
			}
			c.compare()
			return shell.Print(command.OutOrStdout(), flags.output, &c, func(w io.Writer) { comparisonTable(w, &c, shell.Colours(command, w)) })
		},
	}
	flags.add(command)
	shell.OutputFlag(command, &flags.output)
	return command
}

func (c *comparison) compare() {
	var config, assumed [][]string
	for _, run := range c.Runs {
		c.SameData = c.SameData && run.DataSHA256 == c.Runs[0].DataSHA256
		c.SameConfig = c.SameConfig && run.ConfigSHA256 == c.Runs[0].ConfigSHA256
		lines := []string{}
		if run.result.Inputs != nil {
			for _, input := range run.result.Inputs.Strategies {
				lines = append(lines, strings.Split(strings.TrimSpace(input.YAML), "\n")...)
			}
		}
		config, assumed = append(config, lines), append(assumed, run.result.Assumptions)
	}
	c.Config, c.Assumed = apart(config), apart(assumed)
	c.FirstFill = firstFill(c.Runs[0].result, c.Runs[1].result)
}

// apart keeps of each list what not every list has.
func apart(lists [][]string) [][]string {
	own := make([][]string, len(lists))
	for i, list := range lists {
		own[i] = []string{}
		for _, line := range list {
			if slices.ContainsFunc(lists, func(other []string) bool { return !slices.Contains(other, line) }) {
				own[i] = append(own[i], line)
			}
		}
	}
	return own
}

// firstFill tells the first fill in which two results differ.
func firstFill(a, b *backtest.Result) string {
	for i := range max(len(a.Executions), len(b.Executions)) {
		one, other := fillText(a, i), fillText(b, i)
		if one != other {
			return fmt.Sprintf("fill %d: %s; %s", i+1, one, other)
		}
	}
	return ""
}

func fillText(r *backtest.Result, i int) string {
	if i >= len(r.Executions) {
		return "none"
	}
	e := &r.Executions[i]
	return fmt.Sprintf("%s %s %s %s at %s", time.UnixMilli(e.TimeMS).UTC().Format("2006-01-02 15:04"), e.Symbol, e.Side, e.Quantity, e.Price)
}

func comparisonTable(w io.Writer, c *comparison, colour bool) {
	t := table.NewWriter()
	t.SetOutputMirror(w)
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault // names as they are
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
		of   func(*keptRun) string
	}{
		{"strategy", func(r *keptRun) string { return r.Strategy }},
		{"symbol", func(r *keptRun) string { return r.Symbol + " " + r.Interval }},
		{"from", func(r *keptRun) string { return r.From.Format("2006-01-02 15:04") }},
		{"to", func(r *keptRun) string { return r.To.Format("2006-01-02 15:04") }},
		{"final equity", func(r *keptRun) string { return amountText(r.FinalEquity) }},
		{"profit %", func(r *keptRun) string { return gainText(r.Profit, colour) }},
		{"CAGR %", func(r *keptRun) string { return floatText(r.result.CAGR) }},
		{"max drawdown %", func(r *keptRun) string { return fmt.Sprintf("%.2f", r.MaxDrawdown) }},
		{"Sharpe", func(r *keptRun) string { return floatText(r.Sharpe) }},
		{"Sortino", func(r *keptRun) string { return floatText(r.result.Sortino) }},
		{"profit factor", func(r *keptRun) string { return floatText(r.result.ProfitFactor) }},
		{"round trips", func(r *keptRun) string { return strconv.Itoa(r.RoundTrips) }},
		{"wins", func(r *keptRun) string { return strconv.Itoa(r.result.Wins) }},
		{"fees", func(r *keptRun) string { return amountText(r.Fees) }},
		{"funding paid", func(r *keptRun) string { return amountText(r.result.TotalFunding) }},
		{"in the market %", func(r *keptRun) string { return fmt.Sprintf("%.1f", r.result.Exposure) }},
		{"data", func(r *keptRun) string { return fmt.Sprintf("%.8s", r.DataSHA256) }},
		{"config", func(r *keptRun) string { return fmt.Sprintf("%.8s", r.ConfigSHA256) }},
		{"result", func(r *keptRun) string { return fmt.Sprintf("%.8s", r.ResultSHA256) }},
		{"note", func(r *keptRun) string { return r.Note }},
	} {
		row := table.Row{line.name}
		for _, run := range c.Runs {
			row = append(row, line.of(run))
		}
		t.AppendRow(row)
	}
	t.Render()
	if !c.SameData {
		fmt.Fprintln(w, "they are not of the same candles: their figures say little about the strategies")
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

// floatText is a figure, – where it is not defined.
func floatText(value *float64) string {
	if value == nil {
		return "–"
	}
	return strconv.FormatFloat(*value, 'f', 2, 64)
}

// gainText is a profit in percent; – where it is not defined.
func gainText(value *float64, colour bool) string {
	if value == nil {
		return "–"
	}
	return profitText(decimal.NewFromFloat(*value).String(), colour)
}

// profitText always carries its sign, so that colour is never the only one.
func profitText(amount string, colour bool) string {
	value := decimal.RequireFromString(amount) // Read has tried them
	word := value.StringFixed(2)
	if value.Sign() >= 0 {
		word = "+" + word
	}
	switch {
	case colour && value.Sign() > 0:
		return text.FgGreen.Sprint(word)
	case colour && value.Sign() < 0:
		return text.FgRed.Sprint(word)
	}
	return word
}

func amountText(amount string) string { return decimal.RequireFromString(amount).StringFixed(2) }
