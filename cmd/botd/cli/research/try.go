package research

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"gopkg.in/yaml.v3"

	"botd/backtest"
	"botd/backtest/inputs"
	"botd/backtest/report"
	"botd/backtest/sweeps"
	"botd/backtest/tryout"
	"botd/cmd/botd/cli/shell"
	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/tape"
	"botd/internal/failure"
)

// tried is one strategy on one file of candles.
type tried struct {
	files    inputs.Files
	series   seriesFlags
	data     string
	columns  string
	out      string
	strategy string // the file to run
	recorded *tape.Tape
	guessed  []string
	paper    onPaper
}

// NewTry returns the command botd try; run starts the daemon on a directory when the trial continues on
// paper.
func NewTry(run func(command *cobra.Command, directory, mode, listen string) error) *cobra.Command {
	t := tried{paper: onPaper{run: run}}
	command := &cobra.Command{
		Use: "try FILE --data CANDLES", Short: "try a strategy on any file of candles, and get a verdict in one sentence", Args: shell.One("strategy file"),
		Long: `Runs a strategy (YAML, or a script in Starlark) on any file of candles that botd data import reads,
without any preparation: columns, time unit, interval and symbol are detected, and the price and
quantity steps are guessed if botd does not know the symbol. All guesses are listed.

It runs the three cost columns, nearby settings and the look-ahead check, and writes one page that
begins with a verdict: the strategy's profit after costs, and the strongest argument against it.
The strategy runs on the symbol and the interval of the candles, regardless of its file; finer
candles are resampled to the strategy's interval.

With --paper the strategy then trades a simulated account at a venue's prices, and the dashboard
draws its fills over a backtest of the same period.`,
		Example: "  botd try strategies/trend.yaml --data Binance_DOGEUSDT_1h.csv\n  botd try my-idea.star --data candles.csv --symbol SOL-USDT\n" +
			"  botd try trend.yaml --data prices.txt --columns -,open_time_ms,open,high,low,close,volume\n" +
			"  botd try trend.yaml --data candles.csv --paper --base-url https://VENUE",
		RunE: func(command *cobra.Command, arguments []string) error { return t.run(command, arguments[0]) },
	}
	f := command.Flags()
	f.StringVar(&t.data, "data", "", "the file of candles")
	f.StringVar(&t.series.symbol, "symbol", "", "the symbol, if the file's name does not contain it")
	f.StringVar(&t.columns, "columns", "", "the content of each column, if it is not detected, as in botd data import")
	f.StringVar(&t.out, "out", "", "directory of the page (default: try/NAME)")
	t.paper.add(command)
	loadWith(command, &t.files)
	return command
}

func (t *tried) run(command *cobra.Command, file string) error {
	if t.data == "" {
		return failure.Usagef("--data FILE is missing: the candles to try %s on", file)
	}
	if err := t.paper.check(); err != nil {
		return err
	}
	if err := t.prepare(command, file); err != nil {
		return err
	}
	config, err := t.files.Config()
	if err != nil {
		return err
	}
	outcome := &tryout.Outcome{Guessed: t.guessed}
	if outcome.Result, err = runColumns(command, config, true); err != nil {
		return err
	}
	const cuts = 20
	if outcome.Lookahead, err = backtest.FindLookahead(command.Context(), config, cuts); err != nil {
		return tape.Failure(err)
	}
	if err := t.sweep(command, outcome); err != nil {
		return err
	}
	if err := errors.Join(report.WriteDirectory(t.out, config, outcome.Result, nil), t.writePage(outcome)); err != nil {
		return failure.Wrap(failure.IO, err)
	}
	t.show(command.OutOrStdout(), outcome)
	if !t.paper.enabled {
		fmt.Fprintln(command.OutOrStdout(), "next      the same command with --paper --base-url https://VENUE trades it on paper at a venue's prices")
		return nil
	}
	symbols, err := t.files.Instruments()
	if err != nil {
		return err
	}
	given, _, err := t.files.Strategies(symbols)
	if err != nil {
		return err
	}
	return t.goOn(command, given[0])
}

// prepare finds the strategy and reads the candles.
func (t *tried) prepare(command *cobra.Command, file string) error {
	name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	t.out = cmp.Or(t.out, filepath.Join("try", name))
	if err := os.MkdirAll(t.out, 0o700); err != nil {
		return failure.Wrap(failure.IO, err)
	}
	if t.strategy = file; filepath.Ext(file) == ".star" {
		if err := t.wrap(file, name); err != nil {
			return err
		}
	}
	var head struct{ Market, Symbol, Interval string }
	text, err := os.ReadFile(t.strategy)
	if err != nil {
		return failure.Wrap(failure.NoInput, err)
	}
	_ = yaml.Unmarshal(text, &head) // loading the file reports its errors with their lines
	t.series.market = cmp.Or(head.Market, "futures")
	switch found := tryout.SymbolOf(t.data); {
	case t.series.symbol != "":
	case found != "":
		t.series.symbol = found
		t.guess("the file's name contains %s", found)
	default:
		t.series.symbol = head.Symbol
		t.guess("the file's name contains no symbol: botd uses %s, from the strategy's file; --symbol sets another", head.Symbol)
	}
	return t.read(command, head.Symbol, head.Interval)
}

func (t *tried) guess(format string, arguments ...any) {
	t.guessed = append(t.guessed, fmt.Sprintf(format, arguments...))
}

// wrap writes a strategy file for a script, with a copy of the script next to it.
func (t *tried) wrap(script, name string) error {
	text, err := os.ReadFile(script)
	if err != nil {
		return failure.Wrap(failure.NoInput, err)
	}
	copied := filepath.Join(t.out, filepath.Base(script))
	t.strategy = filepath.Join(t.out, "strategy.yaml")
	symbol := cmp.Or(t.series.symbol, tryout.SymbolOf(t.data), "BTC-USDT")
	made := fmt.Sprintf("name: %s\nstrategy: script\nfile: %s\nmarket: futures\nsymbol: %s\ninterval: 1h\nleverage: 1\nsize: {equity: 50%%}\n",
		name, filepath.Base(script), symbol)
	t.guess("the script has no strategy file: it trades futures with 50 %% of equity at leverage 1 (%s)", t.strategy)
	return failure.Wrap(failure.IO, errors.Join(os.WriteFile(copied, text, 0o600), os.WriteFile(t.strategy, []byte(made), 0o600)))
}

// read reads the candles, converts them to the strategy's symbol and interval, and writes them in botd's own layout.
func (t *tried) read(command *cobra.Command, symbol, interval string) error {
	instrument, err := t.series.instrument()
	if err != nil {
		return err
	}
	if t.recorded, err = importable(command, t.data, instrument, 0, tape.Options{Columns: t.columns}); err != nil {
		return err
	}
	if t.recorded.Candles.Len() == 0 {
		return failure.New(failure.Data, "", "%s has no candles", t.data)
	}
	t.guess("%d candles of %s in %s", t.recorded.Candles.Len(), t.recorded.Candles.Interval, filepath.Base(t.data))
	t.files.Override = map[string]string{}
	if t.series.symbol != symbol {
		t.files.Override["symbol"] = t.series.symbol
		t.guess("the strategy's file has %s: it runs on %s", symbol, t.series.symbol)
	}
	if err := t.resample(interval); err != nil {
		return err
	}
	if _, known := exchange.FindSymbol(sim.DefaultSymbols(), instrument.Market, t.series.symbol); !known {
		ticks := tryout.TicksOf(t.recorded)
		t.guess("botd does not know %s: it assumes a price tick of %s, a quantity step of %s and a minimum notional of 5 USDT", t.series.symbol,
			ticks.Price, ticks.Quantity)
		t.files.Symbols = filepath.Join(t.out, "symbols.yaml")
		if err := os.WriteFile(t.files.Symbols, []byte(ticks.Record(t.series.symbol)), 0o600); err != nil {
			return failure.Wrap(failure.IO, err)
		}
	}
	candles := filepath.Join(t.out, "candles.csv.gz")
	t.files.StrategyFiles, t.files.Data = []string{t.strategy}, []string{candles}
	return failure.Wrap(failure.IO, tape.WriteFile(candles, t.recorded.Candles, t.recorded.Symbol, func(int, int) error { return nil }))
}

// resample converts finer candles to the strategy's interval, and otherwise tries the strategy on the existing interval.
func (t *tried) resample(interval string) error {
	have := t.recorded.Candles.Interval
	want, err := exchange.ParseInterval(interval)
	switch {
	case err != nil || want == have:
		return nil
	case want > have && want%have == 0:
		coarse, _, err := tape.Resample(t.recorded.Candles, want)
		if err != nil {
			return failure.Wrap(failure.Data, err)
		}
		t.recorded.Candles = coarse
		t.guess("the strategy decides on %s: they were aggregated to %d such candles", want, coarse.Len())
	default:
		t.files.Override["interval"] = have.String()
		t.guess("the strategy's file has %s: it runs on %s", want, have)
	}
	return nil
}

// sweep tries parameter values near the given ones; a strategy without numbers has none.
func (t *tried) sweep(command *cobra.Command, outcome *tryout.Outcome) error {
	symbols, err := t.files.Instruments()
	if err != nil {
		return err
	}
	given, _, err := t.files.Strategies(symbols)
	if err != nil {
		return err
	}
	definition, known := given[0].Definition()
	if !known {
		return nil
	}
	flags := sweepFlags{files: t.files, spec: sweeps.Spec{Search: sweeps.Grid, Sort: "profit", Vary: tryout.Vary(definition.Parameters, given[0].Params)}}
	if len(flags.spec.Vary) == 0 {
		t.guess("no settings were varied: it has no numeric parameters")
		outcome.Guessed = t.guessed
		return nil
	}
	plan, trials, err := flags.prepare()
	if err != nil {
		return err
	}
	outcome.Sweep, err = plan.Run(command.Context(), trials, plan.Here(trials), nil, func(int, int) {})
	return err
}

func (t *tried) writePage(outcome *tryout.Outcome) (err error) {
	file, err := os.Create(filepath.Join(t.out, "try.html"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return outcome.WritePage(file)
}

// show prints the conclusion, the checks, the guessed values, and the next steps.
func (t *tried) show(w io.Writer, outcome *tryout.Outcome) {
	fmt.Fprintf(w, "%s\n\n", outcome.Verdict())
	for _, check := range outcome.Checks() {
		answer := "no "
		if check.Good {
			answer = "yes"
		}
		fmt.Fprintf(w, "  %s  %-16s %s\n", answer, check.Name, check.Text)
	}
	fmt.Fprintln(w)
	for _, line := range t.guessed {
		fmt.Fprintln(w, "  detected:", line)
	}
	for _, warning := range outcome.Result.Warnings {
		fmt.Fprintln(w, "  warning:", warning.Text)
	}
	fmt.Fprintf(w, "\npage      %s\n", filepath.Join(t.out, "try.html"))
}
