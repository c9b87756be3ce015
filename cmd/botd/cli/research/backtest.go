package research

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"botd/backtest"
	"botd/backtest/inputs"
	"botd/backtest/report"
	"botd/backtest/resultstore"
	"botd/cmd/botd/cli/shell"
	"botd/exchange"
	"botd/exchange/tape"
	"botd/internal/failure"
	"botd/strategy"
)

type backtestFlags struct {
	files   inputs.Files
	out     string
	keep    string // name under which the report is saved
	note    string
	period  string // period by which the result is broken down
	onlyOne bool   // run one column
	quick   bool   // skip the study
}

// NewBacktest returns the command botd backtest.
func NewBacktest() *cobra.Command {
	return shell.Group("backtest", "run strategies over recorded candles",
		`Runs strategies over recorded candles with the engine that trades live, on the simulated
exchange, and lists the assumptions (docs/backtest.md). warmup and lookahead find the two mistakes
that most often make a backtest look too good; verify runs a saved report again.`,
		"  botd backtest run -s configs/strategies/trend.yaml --data candles.csv --out report\n"+
			"  botd backtest warmup -s configs/strategies/trend.yaml --data candles.csv\n  botd backtest verify report/report.json",
		newBacktestRun(), newLookahead(), newWarmup(), newVerify(), newBacktestList(), newBacktestShow(), newBacktestCompare(), newBacktestReport(),
		newBacktestNote())
}

func newBacktestRun() *cobra.Command {
	var flags backtestFlags
	run := &cobra.Command{
		Use: "run", Short: "run strategies over recorded candles", Args: cobra.NoArgs,
		Long: `Runs strategy files over recorded candles, through the same engine, risk rules and
exchange as live trading, and prints the result and the assumptions.

Candles are CSV with a header (open_time_ms,open,high,low,close,volume and more), or
Binance's kline CSV, plain or gzip. The file's backtest block sets the costs of trading:

  backtest:
    cash: 10000
    fees: {maker: 0.0002, taker: 0.0005}
    slippage: 0.0002        # share of the price, against taker orders; default 0
    slippage_volume: 0.1    # plus this, times the order's share of the candle's volume; default 0
    volume_cap: 10%         # maximum share of a candle's volume that fills; default unlimited
    latency: 500ms          # taker orders pay the worst price within this time; default 0
    resting: through        # a resting order fills when the price has gone a tick through it; or: touch
    path: worst             # through a candle: worst, direction, low_first, high_first, best
    funding: 0.0001         # of each payment, without --funding; default 0
    risk_free_annual: 0     # subtracted from the returns of Sharpe and Sortino; default 0
    fill: next_open         # a decision on a close is filled at the next open, never in its own candle

Three columns are shown: ideal (no costs, the more favorable path), realistic (as configured; all
other figures are from this column), pessimistic (taker fees throughout, twice the slippage and
latency, the worst path).
docs/backtest.md describes the assumptions inside a candle.

Files of candles above a megabyte are parsed once: their columns are cached by content in the
user's cache directory (BOTD_CACHE=DIR puts them elsewhere, BOTD_CACHE=off nowhere).

Several strategies (-s several times, or -c DIR) trade one account in chronological order, and
share its margin and limits. Their files are given in the same order, or as SYMBOL=FILE or NAME=FILE.`,
		Example: `  botd backtest run -s configs/strategies/trend.yaml --data candles.csv
  botd backtest run -s trend.yaml --data candles.csv.gz --funding funding.csv -o json
  botd backtest run -s trend.yaml --data 2024.csv --from 2024-03-01 --to 2024-07-01
  botd backtest run -s trend.yaml --data 1h.csv --detail 1m.csv --out report
  botd backtest run -s btc.yaml -s eth.yaml --data BTC-USDT=btc.csv --data ETH-USDT=eth.csv
  botd backtest run -c configs --data BTC-USDT=btc.csv --data ETH-USDT=eth.csv`,
		RunE: func(command *cobra.Command, _ []string) error { return runBacktest(command, flags) },
	}
	addFiles(run, &flags.files)
	f := run.Flags()
	f.StringVar(&flags.out, "out", "", "directory for report.html, report.json, and fills, trades and equity as CSV and Parquet")
	f.StringVar(&flags.keep, "keep", "",
		"a name: the report is saved in backtests/NAME in data_dir, where botd backtest list and the dashboard find it")
	f.StringVar(&flags.note, "note", "", "a note to save with the report")
	f.StringVar(&flags.period, "breakdown", "", "also print a table of the round trips by day, week or month")
	f.BoolVar(&flags.quick, "quick", false, "a report without the study: worse costs, delay, reshuffled trades, look-ahead")
	f.BoolVar(&flags.onlyOne, "one-column", false, "run only the realistic column")
	shell.OutputFlag(run)
	return run
}

func runBacktest(command *cobra.Command, flags backtestFlags) error {
	if err := flags.check(command.Context()); err != nil {
		return err
	}
	defer backtest.CollectOften(0)()
	config, err := flags.files.Config()
	if err != nil {
		return err
	}
	defer backtest.CollectOften(config.Candles())()
	result, err := runColumns(command, config, !flags.onlyOne)
	if err != nil {
		return err
	}
	if flags.out != "" {
		if !flags.quick {
			if result.Study, err = backtest.RunStudy(command.Context(), config, result); err != nil {
				return tape.Failure(err)
			}
		}
		if err := errors.Join(report.WriteDirectory(flags.out, config, result, nil), resultstore.WriteNote(flags.out, flags.note)); err != nil {
			return failure.Wrap(failure.IO, err)
		}
		fmt.Fprintln(command.ErrOrStderr(), "report written to", filepath.Join(flags.out, "report.html"))
	}
	return shell.Print(command, result,
		func(w io.Writer) {
			writeEdges(w, &config)
			resultTable(w, result, flags.period, shell.Colors(command, w))
		},
	)
}

// writeEdges writes the expected profit of a round trip after fees, for each strategy whose parameters determine it.
func writeEdges(w io.Writer, config *backtest.Config) {
	for i := range config.Legs {
		leg := &config.Legs[i].Strategy
		fees := config.Costs.Futures
		if leg.Symbol.Market == exchange.Spot {
			fees = config.Costs.Spot
		}
		if edge := strategy.Edge(leg.Strategy, strategy.Fees{Maker: fees.Maker, Taker: fees.Taker}); edge != "" {
			fmt.Fprintf(w, "%s: %s\n", leg.Name, edge)
		}
	}
}

// check completes the flags.
func (f *backtestFlags) check(ctx context.Context) error {
	if err := checkPeriod(f.period); err != nil {
		return err
	}
	switch {
	case f.keep != "" && f.out != "":
		return failure.Usagef("--keep and --out are mutually exclusive")
	case f.keep != "":
		if err := resultstore.CheckName(f.keep); err != nil {
			return failure.Usagef("--keep %w", err)
		}
		reports, err := savedDirectory(ctx, f.files.Directory, "")
		if err != nil {
			return err
		}
		f.out = filepath.Join(reports, f.keep)
		return refuseExisting("choose another name, or remove the directory", f.out)
	case f.note != "" && f.out == "":
		return failure.Usagef("--note needs --keep NAME or --out DIR: a note is saved with a report")
	}
	return nil
}
