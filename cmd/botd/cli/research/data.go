package research

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"botd/backtest/inputs"
	"botd/cmd/botd/cli/connect"
	"botd/cmd/botd/cli/shell"
	"botd/exchange"
	"botd/exchange/tape"
	"botd/internal/failure"
	"botd/internal/moment"
)

// seriesFlags select one series and its store.
type seriesFlags struct {
	directory, store, market, symbol, interval string
}

func (s *seriesFlags) add(command *cobra.Command) {
	f := command.Flags()
	f.StringVar(&s.market, "market", "futures", "futures or spot")
	f.StringVar(&s.symbol, "symbol", "", "the symbol, such as BTC-USDT")
	f.StringVar(&s.interval, "interval", "", "1m, 5m, 15m, 30m, 1h, 4h, 1d or 1w")
	s.addStore(command)
}

func (s *seriesFlags) addStore(command *cobra.Command) {
	command.Flags().StringVarP(&s.directory, "config", "c", "", "configuration directory, whose data_dir is used")
	command.Flags().StringVar(&s.store, "store", "", "directory of the candles (default: candles in data_dir)")
}

// open returns the store, in data_dir unless given otherwise.
func (s *seriesFlags) open(ctx context.Context) (tape.Store, error) {
	if s.store != "" {
		return tape.Store{Directory: s.store}, nil
	}
	config, err := connect.LoadSettings(ctx, s.directory, "", "--store DIR needs no configuration")
	if err != nil {
		return tape.Store{}, err
	}
	return tape.Store{Directory: filepath.Join(config.DataDir, "candles")}, nil
}

// length returns --interval, which may be omitted where the data shows it.
func (s *seriesFlags) length(required bool) (exchange.Interval, error) {
	if s.interval == "" && !required {
		return 0, nil
	}
	if s.interval == "" {
		return 0, failure.Usagef("--interval is missing, such as 1m or 1h")
	}
	interval, err := exchange.ParseInterval(s.interval)
	if err != nil {
		return 0, failure.Usagef("--interval: %v", err)
	}
	return interval, nil
}

// NewData returns the command botd data.
func NewData() *cobra.Command {
	return shell.Group("data", "recorded candles and funding rates: generate, fetch, check, convert",
		`Recorded candles are plain CSV files: in a store (data_dir/candles/MARKET/SYMBOL/INTERVAL.csv)
or wherever you keep them. Every verb reads CSV with a header, Binance's kline CSV, gzip, a ZIP
with one CSV in it, and Parquet.`, `  botd data generate --symbol BTC-USDT --interval 1m --candles 100000 --out made.csv
  botd data download --base-url https://VENUE --symbol BTC-USDT --interval 1h --from 2024-01-01
  botd data import candles.zip --symbol BTC-USDT --interval 1m
  botd data verify candles.csv
  botd data list`,
		newDataGenerate(), newDataImport(), newDataExport(), newDataResample(), newDataVerify(), newDataList(), newDataDownload(), newFunding())
}

func newDataGenerate() *cobra.Command {
	var (
		series    seriesFlags
		seed      uint64
		count     int
		from, out string
	)
	command := &cobra.Command{
		Use: "generate", Short: "candles of a market generated from a seed", Args: cobra.NoArgs,
		Long: `Generates candles of a synthetic market: calm and volatile periods alternate, trends last for
days, prices jump now and then. The same seed gives the same candles on every machine.

The file's extension selects the format: .csv, .csv.gz or .parquet. Without --out, CSV on stdout.`,
		Example: "  botd data generate --symbol BTC-USDT --interval 1m --candles 525600 --seed 7 --out year.csv",
		RunE: func(command *cobra.Command, _ []string) error {
			symbol, err := inputs.Instrument(series.market, series.symbol)
			if err != nil {
				return err
			}
			interval, err := series.length(true)
			if err != nil {
				return err
			}
			fromMS, err := moment.Parse("--from", from)
			if err != nil {
				return err
			}
			const most = 100_000_000
			if count < 1 || count > most {
				return failure.Usagef("--candles %d: from 1 to %d", count, most)
			}
			return exportTo(command, out, &tape.Tape{Symbol: symbol, Candles: tape.Generate(seed, symbol, interval, fromMS, count)})
		},
	}
	series.add(command)
	f := command.Flags()
	f.Uint64Var(&seed, "seed", 1, "the market's seed")
	f.IntVar(&count, "candles", 10_000, "how many")
	f.StringVar(&from, "from", "2024-01-01", "the first candle's time (UTC): a date, RFC 3339 or milliseconds")
	f.StringVar(&out, "out", "", "file to write (.csv, .csv.gz, .parquet)")
	return command
}

// exportTo writes candles to a file whose name gives the format, or to stdout.
func exportTo(command *cobra.Command, path string, t *tape.Tape) error {
	bar := shell.NewProgress(command, t.Candles.Len(), "candles written")
	step := func(done, total int) error {
		bar.Set(done, total)
		return context.Cause(command.Context())
	}
	var err error
	if path == "" || path == "-" {
		err = tape.WriteCSV(command.OutOrStdout(), t.Candles, t.Symbol, step)
	} else {
		err = tape.WriteFile(path, t.Candles, t.Symbol, step)
	}
	bar.End()
	if errors.Is(err, tape.ErrFormat) {
		return failure.Wrap(failure.Usage, err)
	}
	if _, ended := failure.SignalOf(err); err != nil && !ended {
		return failure.Wrap(failure.IO, err)
	}
	if err != nil || path == "" || path == "-" {
		return err
	}
	fmt.Fprintf(command.ErrOrStderr(), "%d candles of %s written to %s\n", t.Candles.Len(), t.Candles.Interval, path)
	return nil
}

func newDataImport() *cobra.Command {
	var (
		series          seriesFlags
		columns         string
		repair, replace bool
	)
	command := &cobra.Command{
		Use: "import FILE...", Short: "import candles into the store", Args: cobra.MinimumNArgs(1),
		Long: `Reads files of candles and adds them to their series in the store. Candles that the store already
has are skipped if equal; if they differ, that is an error unless --replace is given. An invalid
row is an error that names its line, unless --repair is given, which drops and lists such rows.

Trades (id, price, qty, time_ms, and side or is_buyer_maker) are converted to candles of
--interval (default 1m).

Columns, times and the order of the rows are detected from the header and the first rows. Files of
Binance, Bybit, OKX, Kraken, Coinbase, CryptoDataDownload, Yahoo, ccxt, freqtrade (JSON and feather),
TradingView and MetaTrader are read as they are. For other files, --columns names the columns from left to
right, with a dash for each one to skip.`,
		Example: "  botd data import Binance_DOGEUSDT_1h.csv --symbol DOGE-USDT\n" +
			"  botd data import BTCUSDT-1m-2024-01.zip BTCUSDT-1m-2024-02.zip --symbol BTC-USDT --interval 1m\n  botd data import " +
			"plain.csv --symbol BTC-USDT --columns -,open_time_ms,open,high,low,close,volume",
		RunE: func(command *cobra.Command, files []string) error {
			symbol, err := inputs.Instrument(series.market, series.symbol)
			if err != nil {
				return err
			}
			interval, err := series.length(false)
			if err != nil {
				return err
			}
			store, err := series.open(command.Context())
			if err != nil {
				return err
			}
			return importAll(command, files, "candles", func(file string) (saved tape.Saved, err error) {
				recorded, err := importable(command, file, symbol, interval, tape.Options{Repair: repair, Columns: columns})
				if err != nil {
					return saved, err
				}
				if saved, err = store.Save(recorded.Symbol, recorded.Candles, replace); err != nil {
					err = tape.Failure(fmt.Errorf("%s: %w", file, err))
				}
				return saved, err
			})
		},
	}
	series.add(command)
	command.Flags().StringVar(&columns, "columns", "", "the content of each column, as a header would name it")
	command.Flags().BoolVar(&repair, "repair", false, "drop wrong rows, and report them")
	command.Flags().BoolVar(&replace, "replace", false, "replace candles that differ")
	shell.OutputFlag(command)
	return command
}

func newDataExport() *cobra.Command {
	var series seriesFlags
	var out string
	command := &cobra.Command{
		Use: "export [FILE]", Short: "write a series, or any file of candles, as CSV or Parquet", Args: cobra.MaximumNArgs(1),
		Long: `Writes a series of the store, or the candles of any file, in the format that the extension of
--out selects: .csv, .csv.gz or .parquet. Without --out, CSV on stdout.`,
		Example: "  botd data export --symbol BTC-USDT --interval 1h --out candles.parquet\n  botd data export candles.zip > candles.csv",
		RunE: func(command *cobra.Command, files []string) error {
			recorded, err := series.read(command, files)
			if err != nil {
				return err
			}
			return exportTo(command, out, recorded)
		},
	}
	series.add(command)
	command.Flags().StringVar(&out, "out", "", "file to write (.csv, .csv.gz, .parquet); without it CSV on stdout")
	return command
}

// read reads a file, or the series of the store that the flags name.
func (s *seriesFlags) read(command *cobra.Command, files []string) (*tape.Tape, error) {
	if len(files) > 0 {
		return loadAnyCandles(command, files[0], s.interval, false)
	}
	symbol, err := inputs.Instrument(s.market, s.symbol)
	if err != nil {
		return nil, err
	}
	interval, err := s.length(true)
	if err != nil {
		return nil, err
	}
	store, err := s.open(command.Context())
	if err != nil {
		return nil, err
	}
	return loadCandles(command, store.Path(symbol.Market, symbol.Name, interval), symbol, interval, false)
}

func newDataResample() *cobra.Command {
	var (
		series   seriesFlags
		to, out  string
		recorded string
	)
	command := &cobra.Command{
		Use: "resample [FILE] --to INTERVAL", Short: "aggregate candles to a longer interval", Args: cobra.MaximumNArgs(1),
		Long: `Aggregates candles to a longer interval, exactly: first open, last close, highest, lowest, sums.
Incomplete candles at both ends are left out; a candle with a gap inside is built from the
available ones, and reported.

--compare FILE reports where recorded candles differ from the aggregated ones (exit code 1).`,
		Example: "  botd data resample minutes.csv --to 1h --out hours.csv\n  botd data resample minutes.csv --to 1h --compare hours.csv",
		RunE: func(command *cobra.Command, files []string) error {
			interval, err := exchange.ParseInterval(to)
			if err != nil {
				return failure.Usagef("--to: %v", err)
			}
			fine, err := series.read(command, files)
			if err != nil {
				return err
			}
			coarse, incomplete, err := tape.Resample(fine.Candles, interval)
			if err != nil {
				return failure.Wrap(failure.Usage, err)
			}
			for _, at := range incomplete {
				fmt.Fprintf(command.ErrOrStderr(), "warning: the candle of %s has a gap inside\n", moment.Minute(at))
			}
			if recorded != "" {
				return compareCandles(command, fine, coarse, recorded, interval)
			}
			return exportTo(command, out, &tape.Tape{Symbol: fine.Symbol, Candles: coarse})
		},
	}
	series.add(command)
	command.Flags().StringVar(&to, "to", "1h", "the longer interval")
	command.Flags().StringVar(&out, "out", "", "file to write (.csv, .csv.gz, .parquet); without it CSV on stdout")
	command.Flags().StringVar(&recorded, "compare", "", "recorded candles of that interval to compare with")
	return command
}

func compareCandles(command *cobra.Command, fine *tape.Tape, coarse *exchange.Candles, path string, interval exchange.Interval) error {
	own, err := loadCandles(command, path, fine.Symbol, interval, false)
	if err != nil {
		return err
	}
	if own.Symbol.PriceScale != fine.Symbol.PriceScale {
		return failure.New(failure.Data, "", "%s has prices of %d decimals, the finer candles of %d", path, own.Symbol.PriceScale, fine.Symbol.PriceScale)
	}
	differences := tape.Compare(coarse, own.Candles, fine.Symbol)
	for _, d := range differences {
		fmt.Fprintf(command.OutOrStdout(), "%s: %s\n", moment.Minute(d.OpenMS), d.What)
	}
	if len(differences) > 0 {
		return failure.New(failure.Negative, "", "%s differs from the aggregated candles", path)
	}
	fmt.Fprintln(command.OutOrStdout(), "ok: all candles that both have are equal")
	return nil
}
