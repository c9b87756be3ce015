package research

import (
	"context"
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/backtest/inputs"
	"botd/cmd/botd/cli/connect"
	"botd/cmd/botd/cli/shell"
	"botd/exchange"
	"botd/exchange/polling"
	"botd/exchange/rest"
	"botd/exchange/tape"
	"botd/internal/failure"
	"botd/internal/moment"
	"botd/runtime/gateway"
)

func newDataList() *cobra.Command {
	var series seriesFlags
	command := &cobra.Command{
		Use: "list", Short: "the series in the store, with a map of gaps", Args: cobra.NoArgs,
		Long: `Lists every series in the store: its period, its number of candles, and a map of the gaps, which
botd data verify lists.`,
		Example: "  botd data list\n  botd data list -o json",
		RunE: func(command *cobra.Command, _ []string) error {
			store, err := series.open(command.Context())
			if err != nil {
				return err
			}
			all, err := store.List()
			if err != nil {
				return failure.Wrap(failure.IO, err)
			}
			rows := []tape.Summary{}
			for _, s := range all {
				named := seriesFlags{market: s.Market.String(), symbol: s.Symbol}
				symbol, err := inputs.Instrument(named.market, named.symbol)
				if err != nil {
					return err
				}
				recorded, err := loadCandles(command, s.Path, symbol, s.Interval, true)
				if err != nil {
					return err
				}
				row := tape.Summarize(s.Path, recorded)
				row.Market, row.Symbol = s.Market.String(), s.Symbol
				rows = append(rows, row)
			}
			return shell.Print(command, rows, func(w io.Writer) { listTable(w, store, rows) })
		},
	}
	series.addStore(command)
	shell.OutputFlag(command)
	return command
}

func listTable(w io.Writer, store tape.Store, rows []tape.Summary) {
	if len(rows) == 0 {
		fmt.Fprintf(w, "no candles in %s\nhint: botd data download or botd data import adds some\n", store.Directory)
		return
	}
	shell.WriteTable(w, table.Row{"market", "symbol", "interval", "candles", "from", "to", "missing", "map"}, rows, func(r *tape.Summary) table.Row {
		return table.Row{r.Market, r.Symbol, r.Interval.String(), r.Candles, moment.Minute(r.FromMS), moment.Minute(r.ToMS), r.Missing, r.Map}
	})
}

func newDataVerify() *cobra.Command {
	var series seriesFlags
	var strict bool
	command := &cobra.Command{
		Use: "verify FILE...", Short: "check files of candles for errors and anomalies", Args: cobra.MinimumNArgs(1),
		Long: `Reads files of candles and reports every invalid row (off the grid, duplicate, out of order,
impossible prices) with its line, and every anomaly: gaps, candles without volume, a last row
still forming, jumps. Exit code 1 for an invalid row; with --strict also for an anomaly.`,
		Example: "  botd data verify candles.csv\n  botd data verify --strict -o json *.csv",
		RunE: func(command *cobra.Command, files []string) error {
			rows, bad := []tape.Summary{}, 0
			for _, file := range files {
				recorded, err := loadAnyCandles(quiet(command), file, series.interval, true)
				if err != nil {
					return err
				}
				row := tape.Summarize(file, recorded)
				if rows = append(rows, row); len(row.Problems) > 0 || strict && row.Missing+len(row.Warnings) > 0 {
					bad++
				}
			}
			if err := shell.Print(command, rows, func(w io.Writer) { verifyText(w, rows) }); err != nil {
				return err
			}
			if bad > 0 {
				return failure.New(failure.Negative, "", "%d of %d files have problems", bad, len(files))
			}
			return nil
		},
	}
	command.Flags().StringVar(&series.interval, "interval", "", "the candles' interval (default: detected from the data)")
	command.Flags().BoolVar(&strict, "strict", false, "fail on gaps and anomalies too")
	shell.OutputFlag(command)
	return command
}

// quiet returns the command with its messages discarded, for a caller that reports them itself.
func quiet(command *cobra.Command) *cobra.Command {
	silent := &cobra.Command{}
	silent.SetContext(command.Context())
	silent.SetErr(io.Discard)
	return silent
}

func verifyText(w io.Writer, rows []tape.Summary) {
	for _, r := range rows {
		fmt.Fprintf(w, "%s: %d candles of %s, %s to %s\n  [%s]\n", r.File, r.Candles, r.Interval, moment.Minute(r.FromMS), moment.Minute(r.ToMS), r.Map)
		for _, p := range r.Problems {
			fmt.Fprintln(w, "  invalid:", p)
		}
		for _, h := range r.Holes {
			fmt.Fprintf(w, "  gap: %d candles from %s to %s\n", h.Candles, moment.Minute(h.FromMS), moment.Minute(h.ToMS))
		}
		for _, warning := range r.Warnings {
			fmt.Fprintln(w, "  anomaly:", warning)
		}
		if len(r.Problems)+len(r.Holes)+len(r.Warnings) == 0 {
			fmt.Fprintln(w, "  ok")
		}
	}
}

// venueCandles downloads candles from a venue.
type venueCandles struct {
	client *rest.Client
	symbol *exchange.Symbol
}

func (v venueCandles) Candles(ctx context.Context, interval exchange.Interval, fromMS, toMS int64) (*exchange.Candles, error) {
	span := rest.Span{StartMS: fromMS, EndMS: toMS - 1, Limit: int((toMS - fromMS) / int64(interval))}
	return v.client.Candles(ctx, v.symbol.Key(), interval, span)
}

type downloadFlags struct {
	series          seriesFlags
	url, from, to   string
	replace         bool
	fromMS, untilMS int64
	interval        exchange.Interval
}

func newDataDownload() *cobra.Command {
	var flags downloadFlags
	command := &cobra.Command{
		Use: "download", Short: "fetch candles from a venue into the store", Args: cobra.NoArgs,
		Long: `Fetches the candles of a range that are missing from the store, in pages and within the request
budget, and checks each. If it is interrupted (Ctrl-C, a lost network), the candles so far are
stored, and the next run continues from there. Only closed candles are stored. The service does
not report past funding rates; record or import those.`,
		Example: "  botd data download --base-url http://127.0.0.1:8421 --symbol BTC-USDT --interval 1m --from 2024-01-01 --to 2024-02-01",
		RunE:    func(command *cobra.Command, _ []string) error { return download(command, flags) },
	}
	flags.series.add(command)
	f := command.Flags()
	f.StringVar(&flags.url, "base-url", "", "the venue (default: the configuration's)")
	f.StringVar(&flags.from, "from", "", "the first candle's time (UTC): a date, RFC 3339 or milliseconds")
	f.StringVar(&flags.to, "to", "", "only candles closed by this time (default: now)")
	f.BoolVar(&flags.replace, "replace", false, "replace candles that differ")
	shell.OutputFlag(command)
	return command
}

func (f *downloadFlags) parse(ctx context.Context) (err error) {
	if f.interval, err = f.series.length(true); err != nil {
		return err
	}
	if f.from == "" {
		return failure.Usagef("--from is missing, such as 2024-01-01")
	}
	if f.fromMS, err = moment.Parse("--from", f.from); err != nil {
		return err
	}
	if f.to != "" {
		if f.untilMS, err = moment.Parse("--to", f.to); err != nil {
			return err
		}
		if f.untilMS <= f.fromMS {
			return failure.Usagef("--to %s is not after --from %s", f.to, f.from)
		}
	}
	if f.url != "" {
		return nil
	}
	config, err := connect.LoadSettings(ctx, f.series.directory, "", "--base-url URL and --store DIR need no configuration")
	if err != nil {
		return err
	}
	if f.url = config.Exchange.BaseURL; f.url == "" {
		return failure.Usagef("--base-url is missing, and no configuration names a venue")
	}
	return nil
}

func download(command *cobra.Command, flags downloadFlags) error {
	if err := flags.parse(command.Context()); err != nil {
		return err
	}
	store, err := flags.series.open(command.Context())
	if err != nil {
		return err
	}
	ctx := command.Context()
	client, err := gateway.Client(ctx, rest.Config{BaseURL: flags.url})
	if err != nil {
		return err
	}
	market, err := exchange.ParseMarket(flags.series.market)
	if err != nil {
		return failure.Usagef("--market: %v", err)
	}
	symbol, found := exchange.FindSymbol(client.Symbols().All(), market, flags.series.symbol)
	if !found {
		return failure.New(failure.Usage, "botd markets lists what it trades", "%s trades no %s symbol %q", flags.url, market, flags.series.symbol)
	}
	closed := client.ServerNowMS() - polling.CloseLagMS
	if flags.untilMS == 0 || flags.untilMS > closed {
		flags.untilMS = closed
	}
	bar := shell.NewProgress(command, 0, "candles")
	saved, err := tape.Download{Store: store, Symbol: symbol, Interval: flags.interval, FromMS: flags.fromMS, ToMS: flags.untilMS,
		Page: exchange.CandlesPage(market), Replace: flags.replace,
		Progress: func(done, total int) { bar.SetTotal(total); bar.Set(done, total) }}.Run(ctx, venueCandles{client, symbol})
	bar.End()
	if err != nil {
		if saved.Added > 0 {
			fmt.Fprintf(command.ErrOrStderr(), "%d candles were saved in %s; the next run continues from there\n", saved.Added, saved.Path)
		}
		return failure.Wrap(failure.Unavailable, err)
	}
	return shell.Print(command, saved, func(w io.Writer) {
		fmt.Fprintf(w, "%d candles added to %s, which has %d\n", saved.Added, saved.Path, saved.Total)
	})
}

// importAll adds files to a store, each with save, and prints the results.
func importAll(command *cobra.Command, files []string, what string, save func(file string) (tape.Saved, error)) error {
	var all []tape.Saved
	for _, file := range files {
		saved, err := save(file)
		if err != nil {
			return err
		}
		all = append(all, saved)
	}
	return shell.Print(command, all, func(w io.Writer) {
		for i, s := range all {
			fmt.Fprintf(w, "%s: %d %s added, %d already present, %d replaced; %s has %d\n", files[i], s.Added, what, s.Same, s.Replaced, s.Path, s.Total)
		}
	})
}
