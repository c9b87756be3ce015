package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/shopspring/decimal"
	"github.com/spf13/cobra"

	"botd/backtest"
	"botd/cmd/botd/cli/shell"
	"botd/internal/failure"
)

// Names inside a directory of reports; the dashboard lists the same.
const (
	keptFolder = "backtests"
	keptFile   = "report.json"
	noteFile   = "note.txt"
	maxNote    = 4_096
)

var keptName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// keptDirectory is where reports are kept: where told, or in the configuration's data_dir.
func keptDirectory(configuration, reports string) (string, error) {
	if reports != "" {
		return reports, nil
	}
	config, problems, err := load(configuration, "")
	if err != nil {
		return "", err
	}
	if err := problems.Err(); err != nil {
		return "", failure.New(failure.Config, "--reports DIR needs no configuration", "%s", problems.String())
	}
	return filepath.Join(config.DataDir, keptFolder), nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// keptRun is a report with what is told of it in a list.
type keptRun struct {
	Name         string    `json:"name"`
	Path         string    `json:"path"`
	At           time.Time `json:"at"` // when it was written
	Strategy     string    `json:"strategy"`
	Symbol       string    `json:"symbol"`
	Interval     string    `json:"interval"`
	From         time.Time `json:"from"`
	To           time.Time `json:"to"`
	FinalEquity  string    `json:"final_equity"`
	Profit       *float64  `json:"profit_pct"`
	MaxDrawdown  float64   `json:"max_drawdown_pct"`
	Sharpe       *float64  `json:"sharpe"`
	RoundTrips   int       `json:"round_trips"`
	Fees         string    `json:"total_fees"`
	Warnings     int       `json:"warnings"`
	Note         string    `json:"note"`
	Version      string    `json:"botd_version"`
	DataSHA256   string    `json:"data_sha256"`
	ConfigSHA256 string    `json:"config_sha256"`
	ResultSHA256 string    `json:"result_sha256"`
	Intact       bool      `json:"intact"` // its hash is that of what it tells

	result *backtest.Result
}

// readKept reads the report in a directory, or the report.json given.
func readKept(path string) (*keptRun, error) {
	file := path
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		file = filepath.Join(path, keptFile)
	}
	r, intact, err := backtest.Read(file)
	if err != nil {
		return nil, dataError(err)
	}
	info, err := os.Stat(file)
	if err != nil {
		return nil, dataError(err)
	}
	directory := filepath.Dir(file)
	run := &keptRun{Name: filepath.Base(directory), Path: file, At: info.ModTime().UTC(), Strategy: r.Strategy, Symbol: r.Symbol, Interval: r.Interval, From: r.From, To: r.To,
		FinalEquity: r.FinalEquity, MaxDrawdown: r.MaxDrawdown, Sharpe: r.Sharpe, RoundTrips: r.RoundTrips, Fees: r.TotalFees, Warnings: len(r.Warnings),
		Version: r.Version, DataSHA256: r.DataSHA256, ConfigSHA256: r.ConfigSHA256, ResultSHA256: r.ResultSHA256, Intact: intact, result: r}
	first := decimal.RequireFromString(r.InitialEquity)
	if !first.IsZero() {
		profit := decimal.RequireFromString(r.FinalEquity).Div(first).Sub(decimal.NewFromInt(1)).Shift(2).Round(4).InexactFloat64()
		run.Profit = &profit
	}
	if note, err := os.ReadFile(filepath.Join(directory, noteFile)); err == nil {
		run.Note = strings.TrimSpace(string(note[:min(len(note), maxNote)]))
	}
	return run, nil
}

// writeNote keeps words with a report; none take them away.
func writeNote(directory, note string) error {
	path := filepath.Join(directory, noteFile)
	if note == "" {
		if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	}
	return os.WriteFile(path, []byte(note+"\n"), 0o644)
}

// keptFlags say where reports are.
type keptFlags struct{ directory, reports, output string }

func (k *keptFlags) add(command *cobra.Command) {
	command.Flags().StringVarP(&k.directory, "config", "c", "", "configuration directory, whose data_dir is used")
	command.Flags().StringVar(&k.reports, "reports", "", "directory of the reports (default: backtests in data_dir)")
}

// find reads a report by its name or its path.
func (k *keptFlags) find(name string) (*keptRun, error) {
	if strings.ContainsAny(name, `/\`) || exists(name) {
		return readKept(name)
	}
	reports, err := keptDirectory(k.directory, k.reports)
	if err != nil {
		return nil, err
	}
	if !keptName.MatchString(name) || !exists(filepath.Join(reports, name, keptFile)) {
		return nil, failure.New(failure.NoInput, "botd backtest list tells what is kept", "no report %s is in %s", name, reports)
	}
	return readKept(filepath.Join(reports, name))
}

func newBacktestList() *cobra.Command {
	var flags keptFlags
	command := &cobra.Command{
		Use: "list", Short: "the reports that are kept, the newest first", Args: cobra.NoArgs,
		Long: `Lists the reports in backtests in data_dir, where botd backtest run --keep NAME puts them. A report
whose hash is not that of what it tells was changed by hand or written by another version; it is marked.`,
		Example: "  botd backtest run -s trend.yaml --data candles.csv --keep first --note 'as it came'\n  botd backtest list",
		RunE: func(command *cobra.Command, _ []string) error {
			reports, err := keptDirectory(flags.directory, flags.reports)
			if err != nil {
				return err
			}
			rows, err := listKept(command.ErrOrStderr(), reports)
			if err != nil {
				return failure.Wrap(failure.IO, err)
			}
			return shell.Print(command.OutOrStdout(), flags.output, rows, func(w io.Writer) { keptTable(w, reports, rows, shell.Colours(command, w)) })
		},
	}
	flags.add(command)
	shell.OutputFlag(command, &flags.output)
	return command
}

// listKept reads every report below a directory; what is none is passed over, and said.
func listKept(messages io.Writer, reports string) ([]*keptRun, error) {
	rows := []*keptRun{}
	entries, err := os.ReadDir(reports)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	for _, entry := range entries {
		path := filepath.Join(reports, entry.Name())
		if !exists(filepath.Join(path, keptFile)) {
			continue
		}
		run, err := readKept(path)
		if err != nil {
			fmt.Fprintf(messages, "%v\n", err)
			continue
		}
		rows = append(rows, run)
	}
	slices.SortStableFunc(rows, func(a, b *keptRun) int { return b.At.Compare(a.At) })
	return rows, nil
}

func keptTable(w io.Writer, reports string, rows []*keptRun, colour bool) {
	if len(rows) == 0 {
		fmt.Fprintf(w, "no reports in %s\nhint: botd backtest run --keep NAME puts one there\n", reports)
		return
	}
	t := shell.NewTable(w, table.Row{"name", "written", "strategy", "symbol", "from", "to", "profit %", "drawdown %", "Sharpe", "trips", "data", "config", "note"})
	t.SetColumnConfigs([]table.ColumnConfig{{Number: 7, Align: text.AlignRight}, {Number: 8, Align: text.AlignRight}, {Number: 9, Align: text.AlignRight}, {Number: 10, Align: text.AlignRight}, {Number: 13, WidthMax: 40}})
	for _, r := range rows {
		note := r.Note
		if !r.Intact {
			note = strings.TrimSpace("(changed, or of another version) " + note)
		}
		t.AppendRow(table.Row{r.Name, r.At.Format("2006-01-02 15:04"), r.Strategy, r.Symbol + " " + r.Interval, r.From.Format("2006-01-02"), r.To.Format("2006-01-02"),
			gainText(r.Profit, colour), fmt.Sprintf("%.2f", r.MaxDrawdown), floatText(r.Sharpe), r.RoundTrips, fmt.Sprintf("%.8s", r.DataSHA256), fmt.Sprintf("%.8s", r.ConfigSHA256), note})
	}
	t.Render()
}

func newBacktestShow() *cobra.Command {
	var flags keptFlags
	var period string
	command := &cobra.Command{
		Use: "show NAME", Short: "a report that is kept, as it was printed", Args: cobra.ExactArgs(1),
		Long: `Prints the tables of a report as botd backtest run printed them. NAME is one of botd backtest
list, or the path of a report.json.`,
		Example: "  botd backtest show first\n  botd backtest show report/report.json --breakdown month",
		RunE: func(command *cobra.Command, arguments []string) error {
			if err := checkPeriod(period); err != nil {
				return err
			}
			run, err := flags.find(arguments[0])
			if err != nil {
				return err
			}
			if !run.Intact {
				fmt.Fprintf(command.ErrOrStderr(), "warning: %s was changed by hand, or written by another version: its hash is not that of what it tells\n", run.Path)
			}
			return shell.Print(command.OutOrStdout(), flags.output, run.result, func(w io.Writer) {
				resultTable(w, run.result, period, shell.Colours(command, w))
				if run.Note != "" {
					fmt.Fprintln(w, "note:", run.Note)
				}
			})
		},
	}
	flags.add(command)
	command.Flags().StringVar(&period, "breakdown", "", "a table of the round trips by day, week or month too")
	shell.OutputFlag(command, &flags.output)
	return command
}

func newBacktestReport() *cobra.Command {
	var flags keptFlags
	command := &cobra.Command{
		Use: "report NAME", Short: "where the page of a kept report is, for a browser", Args: cobra.ExactArgs(1),
		Long: `Prints the path of a kept report's page, which opens in any browser, offline. NAME is one of botd
backtest list, or the path of a report.json.`,
		Example: "  botd backtest report first\n  xdg-open \"$(botd backtest report first)\"",
		RunE: func(command *cobra.Command, arguments []string) error {
			run, err := flags.find(arguments[0])
			if err != nil {
				return err
			}
			page := filepath.Join(filepath.Dir(run.Path), "report.html")
			if !exists(page) {
				return failure.New(failure.NoInput, "botd backtest run --keep NAME writes one, or --out DIR", "%s is not there", page)
			}
			return shell.Print(command.OutOrStdout(), flags.output, map[string]any{"schema": 1, "name": run.Name, "page": page}, func(w io.Writer) { fmt.Fprintln(w, page) })
		},
	}
	flags.add(command)
	shell.OutputFlag(command, &flags.output)
	return command
}

func newBacktestNote() *cobra.Command {
	var flags keptFlags
	command := &cobra.Command{
		Use: "note NAME [TEXT]", Short: "keep words with a report; without TEXT they are taken away", Args: cobra.RangeArgs(1, 2),
		Long: `Keeps words with a report: why it was run, what to try next. They stand in a file beside it
and change none of its hashes.`,
		Example: "  botd backtest note first 'the stop is too near'",
		RunE: func(_ *cobra.Command, arguments []string) error {
			run, err := flags.find(arguments[0])
			if err != nil {
				return err
			}
			note := ""
			if len(arguments) > 1 {
				note = strings.TrimSpace(arguments[1])
			}
			if len(note) > maxNote {
				return failure.Usagef("a note has at most %d bytes, this one has %d", maxNote, len(note))
			}
			return failure.Wrap(failure.IO, writeNote(filepath.Dir(run.Path), note))
		},
	}
	flags.add(command)
	return command
}

func checkPeriod(period string) error {
	if period != "" && !slices.Contains(backtest.Periods, period) {
		return failure.Usagef("--breakdown %q: one of %s", period, strings.Join(backtest.Periods, ", "))
	}
	return nil
}

// resultTable writes a result, and where it is asked for its round trips by period.
func resultTable(w io.Writer, result *backtest.Result, period string, colour bool) {
	result.Table(w, colour)
	if period == "" {
		return
	}
	t := shell.NewTable(w, table.Row{period, "round trips", "won", "lost", "profit USDT", "fees", "so far"})
	var right []table.ColumnConfig
	for number := 2; number <= 7; number++ {
		right = append(right, table.ColumnConfig{Number: number, Align: text.AlignRight})
	}
	t.SetColumnConfigs(right)
	for _, row := range result.Breakdown(period) {
		t.AppendRow(table.Row{row.Period, row.RoundTrips, row.Wins, row.Losses, profitText(row.PNL, colour), amountText(row.Fees), profitText(row.Sum, colour)})
	}
	t.Render()
}
