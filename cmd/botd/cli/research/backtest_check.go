package research

import (
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/backtest"
	"botd/backtest/inputs"
	"botd/cmd/botd/cli/shell"
	"botd/exchange/tape"
	"botd/internal/failure"
)

func newLookahead() *cobra.Command {
	var (
		files inputs.Files
		cuts  int
	)
	command := &cobra.Command{
		Use: "lookahead", Short: "check whether a strategy uses candles from the future", Args: cobra.NoArgs,
		Long: `Runs the strategies on all candles, then again on candles that end earlier, and compares
the decisions. Up to the end of the shorter data they must be the same; a strategy that decides
differently uses candles from the future. Exit code 1 when a decision depends on later candles,
and when a strategy made no decision that could be examined.`,
		Example: "  botd backtest lookahead -s trend.yaml --data candles.csv\n  botd backtest lookahead -s trend.yaml --data candles.csv --cuts 100 -o json",
		RunE: func(command *cobra.Command, _ []string) error {
			if cuts < 1 || cuts > 10_000 {
				return failure.Usagef("--cuts %d is not between 1 and 10000", cuts)
			}
			config, err := files.Config()
			if err != nil {
				return err
			}
			bar := shell.NewProgress(command, cuts, "cuts")
			config.Progress = bar.Set
			found, err := backtest.FindLookahead(command.Context(), config, cuts)
			bar.End()
			if err != nil {
				return tape.Failure(err)
			}
			if err := shell.Print(command, found, func(w io.Writer) { lookaheadTable(w, found) }); err != nil || found.OK {
				return err
			}
			return failure.Quiet()
		},
	}
	addFiles(command, &files)
	command.Flags().IntVar(&cuts, "cuts", 20, "runs on truncated data")
	shell.OutputFlag(command)
	return command
}

func lookaheadTable(w io.Writer, found *backtest.Lookahead) {
	for _, d := range found.Differences {
		fmt.Fprintf(w, "%s at %s: %s; with data that ends at %s: %s\n", d.Strategy, d.At.Format("2006-01-02 15:04"), d.With,
			d.Cut.Format("2006-01-02 15:04"), d.Without)
	}
	for _, name := range found.Unexamined {
		fmt.Fprintf(w, "not examined: %s decided nothing before the last of %d cuts; use more candles, or others\n", name, found.Cuts)
	}
	if found.OK {
		fmt.Fprintf(w, "ok: %d decisions, compared at %d cuts; none depends on later candles\n", found.Decisions, found.Cuts)
		return
	}
	if len(found.Differences) == 0 {
		return
	}
	fmt.Fprintf(w, "look-ahead: in %d of %d cuts a decision depends on later candles\n", len(found.Differences), found.Cuts)
}

func newWarmup() *cobra.Command {
	var files inputs.Files
	command := &cobra.Command{
		Use: "warmup", Short: "check how many earlier candles a strategy needs", Args: cobra.NoArgs,
		Long: `Runs the strategies on all candles, then again on candles that begin later, and counts
on how many candles of the second half a different plan was in force. Averages with infinite
memory, and strategies that wait for an event, need more candles than they declare; live they get
only as many as they declare.`,
		Example: "  botd backtest warmup -s trend.yaml --data candles.csv",
		RunE: func(command *cobra.Command, _ []string) error {
			config, err := files.Config()
			if err != nil {
				return err
			}
			found, err := backtest.FindWarmup(command.Context(), config)
			if err != nil {
				return tape.Failure(err)
			}
			return shell.Print(command, found, func(w io.Writer) { warmupTable(w, found) })
		},
	}
	addFiles(command, &files)
	shell.OutputFlag(command)
	return command
}

func warmupTable(w io.Writer, found *backtest.Warmup) {
	shell.WriteTable(w, table.Row{"candles before", "candles that differ", "share", "the last one"}, found.Rows, func(row *backtest.WarmupRow) table.Row {
		last := "–"
		if row.Last != nil {
			last = row.Last.Format("2006-01-02 15:04")
		}
		return table.Row{row.Before, row.Differing, fmt.Sprintf("%.2f %%", 100*float64(row.Differing)/float64(max(1, found.Candles))), last}
	})
	fmt.Fprintf(w, "declared: %d candles; compared: %d from %s on\n", found.Declared, found.Candles, found.From.Format("2006-01-02 15:04"))
	if found.Enough != nil {
		fmt.Fprintf(w, "with %d candles before, nothing differs\n", *found.Enough)
	}
}

func newVerify() *cobra.Command {
	var files inputs.Files
	command := &cobra.Command{
		Use: "verify REPORT", Short: "run a saved report again and compare the hashes", Args: cobra.ExactArgs(1),
		Long: `Runs the backtest of a report again: a report.json, or the directory it is in. The report contains its
strategies; the candles are read from their original location, or from --data. The same data,
configuration and program give the same result on any machine. Exit code 1 when anything differs.`,
		Example: "  botd backtest run -s trend.yaml --data candles.csv --out report\n  botd backtest verify report\n  botd " +
			"backtest verify report/report.json --data elsewhere/candles.csv",
		RunE: func(command *cobra.Command, arguments []string) error {
			found, err := verifyReport(command, arguments[0], files)
			if err != nil {
				return err
			}
			if err := shell.Print(command, found, func(w io.Writer) { verifiedTable(w, found) }); err != nil || found.OK {
				return err
			}
			return failure.Quiet()
		},
	}
	loadWith(command, &files)
	f := command.Flags()
	f.StringArrayVar(&files.Data, "data", nil, "the candles, at their present location; as in run")
	f.StringArrayVar(&files.Funding, "funding", nil, "the funding rates, at their present location")
	f.StringArrayVar(&files.Detail, "detail", nil, "the finer candles, at their present location")
	f.StringArrayVar(&files.Trades, "trades", nil, "the recorded trades, at their present location")
	f.StringVar(&files.Symbols, "symbols", "", "the symbol records, at their present location")
	shell.OutputFlag(command)
	return command
}

// verifyReport runs a saved report again.
func verifyReport(command *cobra.Command, path string, files inputs.Files) (*backtest.Verified, error) {
	stored, config, err := files.Reread(path)
	if err != nil {
		return nil, err
	}
	fresh, err := runColumns(command, config, stored.Inputs.AllColumns)
	if err != nil {
		return nil, err
	}
	return backtest.Verify(stored, fresh), nil
}

func verifiedTable(w io.Writer, found *backtest.Verified) {
	for _, check := range found.Checks {
		if check.Equal {
			fmt.Fprintf(w, "same     %s %.16s\n", check.What, check.Now)
		} else {
			fmt.Fprintf(w, "differs  %s: the report has %s, now it is %s\n", check.What, check.Stored, check.Now)
		}
	}
}
