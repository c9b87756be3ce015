package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"
	"github.com/spf13/cobra"

	"botd/backtest"
	"botd/configs"
	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/tape"
)

type backtestFlags struct {
	strategy, data, funding, symbols, out, output string
	repair                                        bool
}

func newBacktest() *cobra.Command {
	command := &cobra.Command{Use: "backtest", Short: "run strategies over recorded candles", Args: unknownCommand,
		RunE: func(command *cobra.Command, _ []string) error { return command.Help() }}
	var flags backtestFlags
	run := &cobra.Command{
		Use: "run", Short: "run one strategy over recorded candles", Args: cobra.NoArgs,
		Long: `Runs a strategy file over recorded candles, through the same engine, risk rules and
exchange as live trading, and prints what came of it and what was assumed.

Candles are CSV with a header (open_time_ms,open,high,low,close,volume and more), or
Binance's kline CSV, plain or gzip. Fees, cash and fill stand in the file's backtest block.`,
		Example: "  botd backtest run -s configs/strategies/trend.yaml --data candles.csv\n  botd backtest run -s trend.yaml --data candles.csv.gz --funding funding.csv -o json",
		RunE:    func(command *cobra.Command, _ []string) error { return runBacktest(command, flags) },
	}
	f := run.Flags()
	f.StringVarP(&flags.strategy, "strategy", "s", "", "strategy file (YAML)")
	f.StringVar(&flags.data, "data", "", "recorded candles (CSV, maybe gzip)")
	f.StringVar(&flags.funding, "funding", "", "recorded funding rates (CSV); without it the rate is 0")
	f.StringVar(&flags.symbols, "symbols", "", "symbol records (YAML) instead of the built-in ones")
	f.StringVar(&flags.out, "out", "", "directory for report.json, fills.csv, trades.csv, equity.csv")
	f.BoolVar(&flags.repair, "repair", false, "drop rows that are wrong, and say which")
	outputFlag(run, &flags.output)
	command.AddCommand(run)
	return command
}

func runBacktest(command *cobra.Command, flags backtestFlags) error {
	if flags.strategy == "" || flags.data == "" {
		return usage("backtest run needs -s STRATEGY.yaml and --data FILE")
	}
	config, err := backtestConfig(command, flags)
	if err != nil {
		return err
	}
	bar := newBar(command, config.Tape.Candles.Len(), "candles")
	config.Progress = bar.set
	result, err := backtest.Run(command.Context(), config)
	bar.end()
	if err != nil {
		return dataError(err)
	}
	if flags.out != "" {
		if err := result.WriteDir(flags.out); err != nil {
			return fail(exitIO, err)
		}
		fmt.Fprintln(command.ErrOrStderr(), "report written to", flags.out)
	}
	return print(command.OutOrStdout(), flags.output, result, func(w io.Writer) { result.Table(w, colours(command, w)) })
}

// backtestConfig reads strategy, symbol, candles and funding.
func backtestConfig(command *cobra.Command, flags backtestFlags) (backtest.Config, error) {
	symbols, c, err := backtestStrategy(flags)
	if err != nil {
		return backtest.Config{}, err
	}
	symbol, found := instrument(symbols, c.Market, c.Symbol)
	if !found {
		return backtest.Config{}, failure(exitConfig, "--symbols FILE gives its ticks", "%s: no %s symbol %s is known", c.File, c.Market, c.Symbol)
	}
	recorded, err := loadCandles(command, flags.data, symbol, c.Interval, flags.repair)
	if err != nil {
		return backtest.Config{}, err
	}
	made, err := strategyConfig(c, recorded.Symbol)
	if err != nil {
		return backtest.Config{}, err
	}
	config := backtest.Config{Strategy: made, Kind: c.Kind, Tape: recorded, Cash: c.Backtest.Cash, Maker: c.Backtest.Maker, Taker: c.Backtest.Taker,
		Slippage: c.Backtest.Slippage, LatencyMS: c.Backtest.LatencyMS, ConfigSHA256: c.Hash(), Version: buildVersion().Version}
	if c.Backtest.Fill != "next_open" {
		return config, failure(exitConfig, "set backtest.fill to next_open", "%s: fill %s is not modelled", c.File, c.Backtest.Fill)
	}
	if flags.funding == "" {
		return config, nil
	}
	rows, err := tape.LoadFunding(flags.funding)
	if err != nil {
		return config, dataError(err)
	}
	config.Funding, err = fundingFor(rows, c.Symbol, flags.funding)
	return config, err
}

func backtestStrategy(flags backtestFlags) ([]*exchange.Symbol, *configs.StrategyConfig, error) {
	settings := options("")
	if flags.symbols != "" {
		var own []*exchange.Symbol
		for _, market := range []exchange.Market{exchange.Futures, exchange.Spot} {
			given, err := tape.LoadSymbols(flags.symbols, market)
			if err != nil {
				return nil, nil, dataError(err)
			}
			for _, s := range given {
				if _, twice := instrument(own, s.Market, s.Name); !twice {
					own = append(own, withBrackets(s))
				}
			}
		}
		settings.Symbols = own
	}
	c, problems := configs.LoadStrategy(flags.strategy, settings)
	if err := problems.Err(); err != nil {
		code := exitConfig
		if _, missing := os.Stat(flags.strategy); errors.Is(missing, os.ErrNotExist) {
			code = exitNoInput
		}
		return nil, nil, failure(code, "", "%s", problems.String())
	}
	return settings.Symbols, c, nil
}

// withBrackets gives a futures symbol without margin brackets the built-in ones.
func withBrackets(s *exchange.Symbol) *exchange.Symbol {
	if s.Market != exchange.Futures || len(s.Brackets) > 0 {
		return s
	}
	with := *s
	with.Brackets = sim.DefaultBrackets()
	return &with
}

// fundingFor picks the symbol's rows; files write it with and without the hyphen.
func fundingFor(rows []tape.FundingRow, symbol, path string) ([]tape.FundingRow, error) {
	var own []tape.FundingRow
	plain := ""
	for _, r := range symbol {
		if r != '-' {
			plain += string(r)
		}
	}
	for _, row := range rows {
		if row.Symbol == symbol || row.Symbol == plain {
			own = append(own, row)
		}
	}
	if len(own) == 0 {
		return nil, failure(exitData, "is it the right file?", "%s holds no funding rates of %s", path, symbol)
	}
	return own, nil
}

// dataError gives errors of recorded files their exit codes.
func dataError(err error) error {
	var data *tape.DataError
	switch {
	case errors.As(err, &data):
		return fail(exitData, err)
	case errors.Is(err, os.ErrNotExist):
		return fail(exitNoInput, err)
	case errors.Is(err, os.ErrPermission):
		return fail(exitIO, err)
	case errors.Is(err, context.Canceled):
		return err
	}
	if _, stopped := signalOf(err); stopped {
		return err
	}
	return fail(exitInternal, err)
}

// bar is a progress bar on a terminal, and a line every ten seconds elsewhere.
type bar struct {
	writer  progress.Writer
	tracker *progress.Tracker
	stream  io.Writer
	what    string
	told    time.Time
}

func newBar(command *cobra.Command, total int, what string) *bar {
	b := &bar{stream: command.ErrOrStderr(), what: what, told: time.Now()}
	if !terminal(b.stream) {
		return b
	}
	b.writer = progress.NewWriter()
	b.writer.SetOutputWriter(b.stream)
	b.writer.SetTrackerLength(30)
	b.writer.SetUpdateFrequency(100 * time.Millisecond)
	style := progress.StyleDefault
	style.Visibility.ETA, style.Visibility.Speed, style.Visibility.Percentage = true, true, true
	if colours(command, b.stream) {
		style.Colors = progress.StyleColorsExample
	}
	b.writer.SetStyle(style)
	b.tracker = &progress.Tracker{Message: what, Total: int64(total)}
	b.writer.AppendTracker(b.tracker)
	go b.writer.Render()
	return b
}

func (b *bar) total(n int) {
	if b.tracker != nil {
		b.tracker.UpdateTotal(int64(n))
	}
}

func (b *bar) set(done, total int) {
	if b.tracker != nil {
		b.tracker.SetValue(int64(done))
		return
	}
	if time.Since(b.told) >= 10*time.Second && total > 0 {
		b.told = time.Now()
		fmt.Fprintf(b.stream, "%s: %d of %d (%d %%)\n", b.what, done, total, done*100/total)
	}
}

func (b *bar) end() {
	if b.tracker == nil {
		return
	}
	b.tracker.MarkAsDone()
	b.writer.Stop()
	for b.writer.IsRenderInProgress() {
		time.Sleep(5 * time.Millisecond) // the bar's own goroutine draws its last state
	}
}
