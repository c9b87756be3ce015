package research

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/backtest/inputs"
	"botd/cmd/botd/cli/shell"
	"botd/exchange/tape"
	"botd/internal/failure"
	"botd/internal/moment"
)

func newFunding() *cobra.Command {
	return shell.Group("funding", "recorded funding rates: generate, import, check",
		`Recorded funding rates are CSV files with the header symbol,funding_time_ms,funding_rate: in a store
(data_dir/candles/futures/SYMBOL/funding.csv) or wherever you keep them. Binance's files of funding
rates can be read too, also as gzip or ZIP. A daemon records the rates of the symbols that it
trades, next to its candles; a venue does not report past ones.`,
		"  botd data funding import BTCUSDT-fundingRate-2024-01.zip --symbol BTC-USDT\n"+
			"  botd data funding generate --symbol BTC-USDT --payments 1000 --out funding.csv\n  botd data funding verify funding.csv\n"+
			"  botd data funding list",
		newFundingGenerate(), newFundingImport(), newFundingVerify(), newFundingList())
}

// These bound generated rates.
const (
	maxPayments = 1_000_000
	maxEvery    = 24 // hours
)

func newFundingGenerate() *cobra.Command {
	var (
		symbol, from, out string
		seed              uint64
		count, every      int
	)
	command := &cobra.Command{
		Use: "generate", Short: "funding rates of a generated market", Args: cobra.NoArgs,
		Long: `Generates funding rates that hover around a hundredth of a percent and deviate from it for days
while one side of the market is crowded. The same seed gives the same rates on every machine.`,
		Example: "  botd data funding generate --symbol BTC-USDT --payments 1095 --seed 7 --out funding.csv",
		RunE: func(command *cobra.Command, _ []string) error {
			fromMS, err := moment.Parse("--from", from)
			if err != nil {
				return err
			}
			if err := inputs.CheckSymbol(symbol); err != nil {
				return err
			}
			switch {
			case count < 1 || count > maxPayments:
				return failure.Usagef("--payments from 1 to %d", maxPayments)
			case every < 1 || every > maxEvery || maxEvery%every != 0:
				return failure.Usagef("--every: a divisor of 24 hours, such as 1, 4 or 8")
			}
			rows := tape.GenerateFunding(seed, symbol, every, fromMS, count)
			if out == "" || out == "-" {
				return failure.Wrap(failure.IO, tape.WriteFunding(command.OutOrStdout(), rows))
			}
			if err := tape.WriteFundingFile(out, rows); err != nil {
				return failure.Wrap(failure.IO, err)
			}
			fmt.Fprintf(command.ErrOrStderr(), "%d rates of %s written to %s\n", count, symbol, out)
			return nil
		},
	}
	f := command.Flags()
	f.StringVar(&symbol, "symbol", "", "the symbol, as BTC-USDT")
	f.StringVar(&from, "from", "2024-01-01", "the first payment is at this time or after (UTC)")
	f.StringVar(&out, "out", "", "file (default: stdout)")
	f.Uint64Var(&seed, "seed", 1, "of the rates")
	f.IntVar(&count, "payments", 1_095, "number of payments; three a day by default")
	f.IntVar(&every, "every", 8, "hours between two")
	return command
}

func newFundingImport() *cobra.Command {
	var (
		series  seriesFlags
		replace bool
	)
	command := &cobra.Command{
		Use: "import FILE...", Short: "import funding rates into the store", Args: cobra.MinimumNArgs(1),
		Long: `Reads files of funding rates and adds those of the symbol to the store. Payments that the store
already has are skipped if the rate is the same; a different rate is an error, unless --replace is
given.`,
		Example: "  botd data funding import BTCUSDT-fundingRate-2024-01.zip --symbol BTC-USDT\n  botd backtest run -s trend.yaml --data " +
			"candles.csv --funding data/candles/futures/BTC-USDT/funding.csv",
		RunE: func(command *cobra.Command, files []string) error {
			if err := inputs.CheckSymbol(series.symbol); err != nil {
				return err
			}
			store, err := series.open(command.Context())
			if err != nil {
				return err
			}
			return importAll(command, files, "rates", func(file string) (saved tape.Saved, err error) {
				rows, err := tape.LoadFunding(file)
				if err != nil {
					return saved, tape.Failure(err)
				}
				own := tape.FundingOf(rows, series.symbol)
				if len(own) == 0 {
					return saved, failure.New(failure.Data, "is it the right file?", "%s holds no funding rates of %s", file, series.symbol)
				}
				if saved, err = store.SaveFunding(series.symbol, own, replace); err != nil {
					err = tape.Failure(fmt.Errorf("%s: %w", file, err))
				}
				return saved, err
			})
		},
	}
	series.addStore(command)
	command.Flags().StringVar(&series.symbol, "symbol", "", "the symbol, as BTC-USDT")
	command.Flags().BoolVar(&replace, "replace", false, "replace rates that differ")
	shell.OutputFlag(command)
	return command
}

func newFundingVerify() *cobra.Command {
	command := &cobra.Command{
		Use: "verify FILE...", Short: "check files of funding rates for errors and gaps", Args: cobra.MinimumNArgs(1),
		Long: `Reads files of funding rates, and reports the first invalid row with its line, and missing
payments. Exit code 1 if there are any.`,
		Example: "  botd data funding verify funding.csv",
		RunE: func(command *cobra.Command, files []string) error {
			all, missing := []tape.FundingSummary{}, 0
			for _, file := range files {
				spans, err := tape.SummarizeFunding(file)
				if err != nil {
					return err
				}
				for _, span := range spans {
					missing += len(span.Holes)
				}
				all = append(all, spans...)
			}
			if err := shell.Print(command, all, func(w io.Writer) { fundingText(w, all) }); err != nil {
				return err
			}
			if missing > 0 {
				return failure.New(failure.Negative, "", "payments are missing in %d places", missing)
			}
			return nil
		},
	}
	shell.OutputFlag(command)
	return command
}

func fundingText(w io.Writer, spans []tape.FundingSummary) {
	for _, s := range spans {
		name := strings.TrimSpace(s.File + " " + s.Symbol)
		fmt.Fprintf(w, "%s: %d payments, every %d hours, %s to %s, %s to %s\n", name, s.Payments, s.Every, moment.Minute(s.FromMS),
			moment.Minute(s.ToMS), s.Lowest, s.Highest)
		for _, h := range s.Holes {
			fmt.Fprintf(w, "  gap: none between %s and %s\n", moment.Minute(h.FromMS), moment.Minute(h.ToMS))
		}
	}
}

func newFundingList() *cobra.Command {
	var series seriesFlags
	command := &cobra.Command{
		Use: "list", Short: "the funding rates in the store", Args: cobra.NoArgs,
		Long: `Lists the symbols whose rates are in the store: the number of payments, the period, the lowest and
the highest rate, and the number of gaps.`,
		Example: "  botd data funding list\n  botd data funding list --store data/demo/recorded",
		RunE: func(command *cobra.Command, _ []string) error {
			store, err := series.open(command.Context())
			if err != nil {
				return err
			}
			symbols, err := store.ListFunding()
			if err != nil {
				return failure.Wrap(failure.IO, err)
			}
			all := []tape.FundingSummary{}
			for _, symbol := range symbols {
				spans, err := tape.SummarizeFunding(store.FundingPath(symbol))
				if err != nil {
					return err
				}
				all = append(all, spans...)
			}
			return shell.Print(command, all, func(w io.Writer) {
				if len(all) == 0 {
					fmt.Fprintf(w, "no funding rates in %s\nhint: botd data funding import adds some\n", store.Directory)
					return
				}
				shell.WriteTable(w, table.Row{"symbol", "payments", "hours", "from", "to", "lowest", "highest", "gaps"},
					all, func(s *tape.FundingSummary) table.Row {
						return table.Row{s.Symbol, s.Payments, s.Every, moment.Minute(s.FromMS), moment.Minute(s.ToMS), s.Lowest, s.Highest, len(s.Holes)}
					})
			})
		},
	}
	series.addStore(command)
	shell.OutputFlag(command)
	return command
}
