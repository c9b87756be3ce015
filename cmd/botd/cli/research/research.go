// Package research holds the commands that test strategies on recorded or simulated markets.
package research

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/shopspring/decimal"
	"github.com/spf13/cobra"

	"botd/backtest"
	"botd/backtest/inputs"
	"botd/backtest/resultstore"
	"botd/cmd/botd/cli/connect"
	"botd/cmd/botd/cli/shell"
	"botd/configs"
	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/tape"
	"botd/internal/failure"
)

// addFiles adds the flags that select the input of a backtest.
func addFiles(command *cobra.Command, b *inputs.Files) {
	loadWith(command, b)
	f := command.Flags()
	f.StringArrayVarP(&b.StrategyFiles, "strategy", "s", nil, "strategy file (YAML); may be repeated")
	f.StringVarP(&b.Directory, "config", "c", "", "configuration directory: all its strategies, and the account's limits")
	f.StringArrayVar(&b.Data, "data", nil, "recorded candles (CSV, maybe gzip); FILE, SYMBOL=FILE or NAME=FILE, may be repeated")
	f.StringArrayVar(&b.Funding, "funding", nil, "recorded funding rates (CSV), of one symbol or of several; default: the configured constant rate")
	f.StringArrayVar(&b.Trades, "trades", nil, "recorded trades (id, price, qty, time_ms, side), which replace the guessed path; as --data")
	f.StringArrayVar(&b.Detail, "detail", nil, "candles of a shorter interval, which replace the guessed path; as --data")
	f.StringVar(&b.Recorded, "recorded", "", "directory that a daemon recorded into, such as data/demo/recorded, for candles and funding rates that "+
		"have no file of their own")
	f.StringVar(&b.Symbols, "symbols", "", "symbol records (YAML) instead of the built-in ones")
	f.StringArrayVar(&b.Signals, "signals", nil,
		"recorded signals for strategy: signal (CSV or Parquet: time_ms,strategy,target), each from its time on")
	f.StringArrayVar(&b.Columns, "columns", nil, "series from outside for column(name) (CSV or Parquet: time_ms and numbers), FILE or FILE=PREFIX")
	f.BoolVar(&b.Repair, "repair", false, "drop invalid rows, and report them")
	f.StringVar(&b.From, "from", "", "only candles from this time on (UTC; a date, RFC 3339 or milliseconds); strategies warm up on the first of them")
	f.StringVar(&b.To, "to", "", "only candles that have closed by this time (UTC)")
}

// loadWith makes the files load with the command's progress bar and messages.
func loadWith(command *cobra.Command, b *inputs.Files) {
	b.Options = func() configs.Options { return connect.Options(command.Context(), "") }
	b.Store = func() string {
		config, err := connect.LoadValid(command.Context(), b.Directory)
		if err != nil {
			return ""
		}
		return filepath.Join(config.DataDir, "candles")
	}
	b.Load = func(path string, symbol *exchange.Symbol, interval exchange.Interval, repair bool) (*tape.Tape, error) {
		return loadCandles(command, path, symbol, interval, repair)
	}
}

// loadAnyCandles reads candles of any symbol: the tape gives prices as many decimal places as the data needs.
func loadAnyCandles(command *cobra.Command, path, interval string, repair bool) (*tape.Tape, error) {
	var length exchange.Interval
	if interval != "" {
		var err error
		if length, err = exchange.ParseInterval(interval); err != nil {
			return nil, failure.Usagef("--interval: %v", err)
		}
	}
	return loadCandles(command, path, sim.DefaultSymbols()[0], length, repair)
}

// loadCandles reads one file with a progress bar and reports the repairs.
func loadCandles(command *cobra.Command, path string, symbol *exchange.Symbol, interval exchange.Interval, repair bool) (*tape.Tape, error) {
	return loadColumns(command, path, symbol, interval, tape.Options{Repair: repair})
}

// loadColumns is loadCandles for files whose columns the user names.
func loadColumns(command *cobra.Command, path string, symbol *exchange.Symbol, interval exchange.Interval, options tape.Options) (*tape.Tape, error) {
	bar := shell.NewProgress(command, 0, "bytes read")
	options.Cache, options.Progress = tape.SharedCache(), func(done, total int64) { bar.SetTotal(int(total)); bar.Set(int(done), int(total)) }
	recorded, err := tape.LoadCandles(path, symbol, interval, options)
	bar.End()
	if err != nil {
		return nil, tape.Failure(err)
	}
	for _, line := range recorded.Repaired {
		fmt.Fprintln(command.ErrOrStderr(), "repaired:", line)
	}
	return recorded, nil
}

// importable reads a file of candles, or builds candles from a file of trades.
func importable(command *cobra.Command, file string, symbol *exchange.Symbol, interval exchange.Interval, options tape.Options) (*tape.Tape, error) {
	if options.Columns != "" || !tape.AreTrades(file) {
		return loadColumns(command, file, symbol, interval, options)
	}
	fine := *symbol
	fine.QuantityScale = max(8, fine.QuantityScale) // a candle's volume includes quantities below a step
	trades, err := tape.LoadTrades(file, &fine)
	if err != nil {
		return nil, tape.Failure(err)
	}
	fmt.Fprintf(command.ErrOrStderr(), "%d trades; botd backtest run --trades %s replays them\n", trades.Len(), file)
	return &tape.Tape{Symbol: symbol, Candles: trades.Candles(&fine, cmp.Or(interval, exchange.Minute1))}, nil
}

// savedDirectory returns the directory of saved reports: the given one, or the one in the configuration's data_dir.
func savedDirectory(ctx context.Context, configuration, reports string) (string, error) {
	if reports != "" {
		return reports, nil
	}
	config, err := connect.LoadSettings(ctx, configuration, "", "--reports DIR needs no configuration")
	if err != nil {
		return "", err
	}
	return filepath.Join(config.DataDir, resultstore.Folder), nil
}

// refuseExisting refuses to write to one of the paths that exists.
func refuseExisting(hint string, paths ...string) error {
	for _, path := range paths {
		if resultstore.Exists(path) {
			return failure.New(failure.Usage, hint, "%s already exists", path)
		}
	}
	return nil
}

// runColumns runs a configuration in three columns or in one, with a progress bar.
func runColumns(command *cobra.Command, config backtest.Config, columns bool) (*backtest.Result, error) {
	candles := config.Candles()
	defer backtest.CollectOften(candles)()
	bar := shell.NewProgress(command, candles, "candles")
	config.Progress = bar.Set
	run := backtest.Run
	if config.Inputs.AllColumns = columns; columns {
		run = backtest.RunColumns
	}
	result, err := run(command.Context(), config)
	bar.End()
	if err != nil {
		return nil, tape.Failure(err)
	}
	return result, nil
}

func checkPeriod(period string) error {
	if period != "" && !slices.Contains(backtest.Periods, period) {
		return failure.Usagef("--breakdown %q: one of %s", period, strings.Join(backtest.Periods, ", "))
	}
	return nil
}

// resultTable writes a result and, if a period is given, its round trips by period.
func resultTable(w io.Writer, result *backtest.Result, period string, color bool) {
	result.Table(w, color)
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
		t.AppendRow(table.Row{row.Period, row.RoundTrips, row.Wins, row.Losses, profitText(row.PNL, color), amountText(row.Fees), profitText(row.Sum, color)})
	}
	t.Render()
}

// floatText formats a number; – where it is undefined.
func floatText(value *float64) string { return backtest.Figure(value, 2) }

// gainText formats a profit in percent; – where it is undefined.
func gainText(value *float64, color bool) string {
	if value == nil {
		return "–"
	}
	return backtest.Signed(decimal.NewFromFloat(*value), color)
}

// profitText formats an amount with its sign; Read has validated it.
func profitText(amount string, color bool) string {
	return backtest.Signed(decimal.RequireFromString(amount), color)
}

func amountText(amount string) string { return decimal.RequireFromString(amount).StringFixed(2) }
