package research

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"botd/backtest"
	"botd/backtest/resultstore"
	"botd/cmd/botd/cli/shell"
	"botd/internal/failure"
)

// savedFlags select the directory of reports.
type savedFlags struct{ directory, reports string }

func (k *savedFlags) add(command *cobra.Command) {
	command.Flags().StringVarP(&k.directory, "config", "c", "", "configuration directory, whose data_dir is used")
	command.Flags().StringVar(&k.reports, "reports", "", "directory of the reports (default: backtests in data_dir)")
}

// find reads a report by its name or its path.
func (k *savedFlags) find(ctx context.Context, name string) (*resultstore.Run, error) {
	if strings.ContainsAny(name, `/\`) || resultstore.Exists(name) {
		return resultstore.Read(name)
	}
	reports, err := savedDirectory(ctx, k.directory, k.reports)
	if err != nil {
		return nil, err
	}
	if resultstore.CheckName(name) != nil || !resultstore.Exists(filepath.Join(reports, name, backtest.ReportFile)) {
		return nil, failure.New(failure.NoInput, "botd backtest list shows the saved reports", "no report %s is in %s", name, reports)
	}
	return resultstore.Read(filepath.Join(reports, name))
}

func newBacktestList() *cobra.Command {
	var flags savedFlags
	command := &cobra.Command{
		Use: "list", Short: "the saved reports, newest first", Args: cobra.NoArgs,
		Long: `Lists the reports in data_dir/backtests, where botd backtest run --keep NAME saves them. A report
whose hash does not match its content was edited or written by another version, and is marked.`,
		Example: "  botd backtest run -s trend.yaml --data candles.csv --keep first --note 'as it came'\n  botd backtest list",
		RunE: func(command *cobra.Command, _ []string) error {
			reports, err := savedDirectory(command.Context(), flags.directory, flags.reports)
			if err != nil {
				return err
			}
			rows, err := resultstore.List(command.ErrOrStderr(), reports)
			if err != nil {
				return failure.Wrap(failure.IO, err)
			}
			return shell.Print(command, rows, func(w io.Writer) { savedTable(w, reports, rows, shell.Colors(command, w)) })
		},
	}
	flags.add(command)
	shell.OutputFlag(command)
	return command
}

func savedTable(w io.Writer, reports string, rows []*resultstore.Run, color bool) {
	if len(rows) == 0 {
		fmt.Fprintf(w, "no reports in %s\nhint: botd backtest run --keep NAME saves one there\n", reports)
		return
	}
	t := shell.NewTable(w, table.Row{"name", "written", "strategy", "symbol", "from", "to", "profit %", "drawdown %", "Sharpe", "trips", "data",
		"config", "note"})
	t.SetColumnConfigs([]table.ColumnConfig{{Number: 7, Align: text.AlignRight}, {Number: 8, Align: text.AlignRight},
		{Number: 9, Align: text.AlignRight}, {Number: 10, Align: text.AlignRight}, {Number: 13, WidthMax: 40}})
	for _, r := range rows {
		note := r.Note
		if !r.Intact {
			note = strings.TrimSpace("(changed, or of another version) " + note)
		}
		t.AppendRow(table.Row{r.Name, r.At.Format("2006-01-02 15:04"), r.Strategy, r.Symbol + " " + r.Interval, r.From.Format("2006-01-02"),
			r.To.Format("2006-01-02"),
			gainText(r.Profit, color), fmt.Sprintf("%.2f", r.MaxDrawdown), floatText(r.Sharpe), r.RoundTrips, fmt.Sprintf("%.8s", r.DataSHA256),
			fmt.Sprintf("%.8s", r.ConfigSHA256), note})
	}
	t.Render()
}

func newBacktestShow() *cobra.Command {
	var flags savedFlags
	var period string
	command := &cobra.Command{
		Use: "show NAME", Short: "print a saved report again", Args: cobra.ExactArgs(1),
		Long: `Prints the tables of a report as botd backtest run printed them. NAME is one of botd backtest
list, or the path of a report.json.`,
		Example: "  botd backtest show first\n  botd backtest show report/report.json --breakdown month",
		RunE: func(command *cobra.Command, arguments []string) error {
			if err := checkPeriod(period); err != nil {
				return err
			}
			run, err := flags.find(command.Context(), arguments[0])
			if err != nil {
				return err
			}
			if !run.Intact {
				fmt.Fprintf(command.ErrOrStderr(), "warning: %s was edited, or written by another version: its hash does not match its content\n", run.Path)
			}
			return shell.Print(command, run.Result, func(w io.Writer) {
				resultTable(w, run.Result, period, shell.Colors(command, w))
				if run.Note != "" {
					fmt.Fprintln(w, "note:", run.Note)
				}
			})
		},
	}
	flags.add(command)
	command.Flags().StringVar(&period, "breakdown", "", "a table of the round trips by day, week or month too")
	shell.OutputFlag(command)
	return command
}

func newBacktestReport() *cobra.Command {
	var flags savedFlags
	command := &cobra.Command{
		Use: "report NAME", Short: "the path of a saved report's page, for a browser", Args: cobra.ExactArgs(1),
		Long: `Prints the path of a saved report's page, which opens in any browser, offline. NAME is one of botd
backtest list, or the path of a report.json.`,
		Example: "  botd backtest report first\n  xdg-open \"$(botd backtest report first)\"",
		RunE: func(command *cobra.Command, arguments []string) error {
			run, err := flags.find(command.Context(), arguments[0])
			if err != nil {
				return err
			}
			page := filepath.Join(filepath.Dir(run.Path), "report.html")
			if !resultstore.Exists(page) {
				return failure.New(failure.NoInput, "botd backtest run --keep NAME writes one, or --out DIR", "%s does not exist", page)
			}
			return shell.Print(command, map[string]any{"schema": 1, "name": run.Name, "page": page},
				func(w io.Writer) { fmt.Fprintln(w, page) })
		},
	}
	flags.add(command)
	shell.OutputFlag(command)
	return command
}

func newBacktestNote() *cobra.Command {
	var flags savedFlags
	command := &cobra.Command{
		Use: "note NAME [TEXT]", Short: "add a note to a report; without TEXT remove it", Args: cobra.RangeArgs(1, 2),
		Long: `Adds a note to a report: why it was run, what to try next. It is stored in a separate file next to
the report and changes none of its hashes.`,
		Example: "  botd backtest note first 'the stop is too near'",
		RunE: func(command *cobra.Command, arguments []string) error {
			run, err := flags.find(command.Context(), arguments[0])
			if err != nil {
				return err
			}
			note := ""
			if len(arguments) > 1 {
				note = strings.TrimSpace(arguments[1])
			}
			if len(note) > resultstore.MaxNote {
				return failure.Usagef("a note has at most %d bytes, this one has %d", resultstore.MaxNote, len(note))
			}
			return failure.Wrap(failure.IO, resultstore.WriteNote(filepath.Dir(run.Path), note))
		},
	}
	flags.add(command)
	return command
}
