package research

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"botd/backtest"
	"botd/backtest/report"
	"botd/backtest/tryout"
	"botd/cmd/botd/cli/shell"
	"botd/exchange"
	"botd/exchange/tape"
	"botd/internal/failure"
)

// tryFlags are one strategy on one file of candles, and then maybe on paper.
type tryFlags struct {
	tryout.Try
	columns string

	paper  bool
	venue  string // its address
	listen string
	daemon func(command *cobra.Command, directory, mode, listen string) error
}

// NewTry returns the command botd try; run starts the daemon on a directory when the trial continues on
// paper.
func NewTry(run func(command *cobra.Command, directory, mode, listen string) error) *cobra.Command {
	t := tryFlags{daemon: run}
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
	f.StringVar(&t.Data, "data", "", "the file of candles")
	f.StringVar(&t.Symbol, "symbol", "", "the symbol, if the file's name does not contain it")
	f.StringVar(&t.columns, "columns", "", "the content of each column, if it is not detected, as in botd data import")
	f.StringVar(&t.Out, "out", "", "directory of the page (default: try/NAME)")
	f.BoolVar(&t.paper, "paper", false, "then continue with live data: trade it on paper at a venue's prices, until Ctrl-C")
	f.StringVar(&t.venue, "base-url", "", "with --paper: the venue's address, such as https://...; it needs no keys")
	f.StringVar(&t.listen, "listen", "", "with --paper: the dashboard's address (default 127.0.0.1:8420)")
	loadWith(command, &t.Files)
	t.Read = func(symbol *exchange.Symbol) (*tape.Tape, error) {
		return importable(command, t.Data, symbol, 0, tape.Options{Columns: t.columns})
	}
	return command
}

func (t *tryFlags) run(command *cobra.Command, file string) error {
	switch {
	case t.Data == "":
		return failure.Usagef("--data FILE is missing: the candles to try %s on", file)
	case t.paper && t.venue == "":
		return failure.Usagef("--paper needs --base-url URL: the venue whose prices it uses")
	case !t.paper && (t.venue != "" || t.listen != ""):
		return failure.Usagef("--base-url and --listen require --paper")
	}
	if err := t.Prepare(file); err != nil {
		return err
	}
	outcome, err := t.outcome(command)
	if err != nil {
		return err
	}
	t.show(command.OutOrStdout(), outcome)
	if t.paper {
		return t.trade(command)
	}
	fmt.Fprintln(command.OutOrStdout(), "next      the same command with --paper --base-url https://VENUE trades it on paper at a venue's prices")
	return nil
}

// outcome runs the backtests and writes the page.
func (t *tryFlags) outcome(command *cobra.Command) (*tryout.Outcome, error) {
	config, err := t.Files.Config()
	if err != nil {
		return nil, err
	}
	outcome := &tryout.Outcome{}
	if outcome.Result, err = runColumns(command, config, true); err != nil {
		return nil, err
	}
	const cuts = 20
	if outcome.Lookahead, err = backtest.FindLookahead(command.Context(), config, cuts); err != nil {
		return nil, tape.Failure(err)
	}
	if outcome.Sweep, err = t.Neighbors(command.Context()); err != nil {
		return nil, err
	}
	outcome.Guessed = t.Guessed
	err = errors.Join(report.WriteDirectory(t.Out, config, outcome.Result, nil), t.writePage(outcome))
	return outcome, failure.Wrap(failure.IO, err)
}

func (t *tryFlags) writePage(outcome *tryout.Outcome) (err error) {
	file, err := os.Create(filepath.Join(t.Out, "try.html"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return outcome.WritePage(file)
}

// show prints the conclusion, the checks, the guessed values, and the next steps.
func (t *tryFlags) show(w io.Writer, outcome *tryout.Outcome) {
	fmt.Fprintf(w, "%s\n\n", outcome.Verdict())
	for _, check := range outcome.Checks() {
		answer := "no "
		if check.Good {
			answer = "yes"
		}
		fmt.Fprintf(w, "  %s  %-16s %s\n", answer, check.Name, check.Text)
	}
	fmt.Fprintln(w)
	for _, line := range t.Guessed {
		fmt.Fprintln(w, "  detected:", line)
	}
	for _, warning := range outcome.Result.Warnings {
		fmt.Fprintln(w, "  warning:", warning.Text)
	}
	fmt.Fprintf(w, "\npage      %s\n", filepath.Join(t.Out, "try.html"))
}

// trade runs the daemon on paper until it is interrupted.
func (t *tryFlags) trade(command *cobra.Command) error {
	directory, name, err := t.WritePaper(t.venue)
	if err != nil {
		return err
	}
	w := command.OutOrStdout()
	fmt.Fprintf(w, "paper     continues in %s at the prices of %s; Ctrl-C ends it, the same command resumes it\n", directory, t.venue)
	fmt.Fprintf(w, "compare   its page in the dashboard, under Live vs. backtest, or: botd parity %s -c %s --out %s\n", name, directory,
		filepath.Join(t.Out, "live"))
	return t.daemon(command, directory, "paper", t.listen)
}
