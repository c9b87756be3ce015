package research

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"botd/backtest"
	"botd/backtest/inputs"
	"botd/backtest/report"
	"botd/cmd/botd/cli/shell"
	"botd/internal/failure"
)

// newSweepTrial returns the command that runs one trial of a sweep as a backtest.
func newSweepTrial() *cobra.Command {
	var flags sweepsFlags
	var out string
	var rest bool
	command := &cobra.Command{
		Use: "trial NAME TRIAL", Short: "write the report of one trial", Args: cobra.ExactArgs(2),
		Long: `Runs one trial of a named sweep again, as botd backtest run would: in three columns, over all the
candles, including those after --split, and prints its tables. TRIAL is its rank, 1 for the best,
or a prefix of its job_sha256, at least eight characters. --out writes its report.`,
		Example: "  botd sweep trial first 1 --out best\n  botd sweep trial first 3f9ac012",
		RunE: func(command *cobra.Command, words []string) error {
			result, err := flags.read(command, words[0])
			if err != nil {
				return err
			}
			trial, err := result.Trial(words[0], words[1])
			if err != nil {
				return err
			}
			runs, err := openTrials(command, &flags, words[0], rest)
			if err != nil {
				return err
			}
			run, err := runs.report(command, trial, out)
			if err != nil {
				return err
			}
			return shell.Print(command, run, func(w io.Writer) { resultTable(w, run, "", shell.Colors(command, w)) })
		},
	}
	command.Flags().StringVar(&out, "out", "", "directory for its report, as of botd backtest run --out")
	flags.add(command)
	restFlag(command, &rest)
	return command
}

// trialRuns runs trials of a sweep again, one by one.
type trialRuns struct {
	trials *inputs.Trials
	rest   bool // each pauses for as long as it ran
}

// openTrials reads the input of a named sweep.
func openTrials(command *cobra.Command, flags *sweepsFlags, name string, rest bool) (*trialRuns, error) {
	directory, err := flags.path(command.Context(), name)
	if err != nil {
		return nil, err
	}
	_, _, trials, err := reopen(command, directory, name, rest)
	return &trialRuns{trials, rest}, err
}

// report runs a trial, and writes its report into a directory; empty for none.
func (r *trialRuns) report(command *cobra.Command, trial *backtest.Trial, out string) (*backtest.Result, error) {
	config, err := r.trials.Backtest(trial.Params)
	if err != nil {
		return nil, err
	}
	if config.InTurn = r.rest; config.InTurn {
		rest := backtest.Rest(command.Context())
		config.Pace = func(int, int) { rest() }
	}
	result, err := runColumns(command, config, true)
	if err != nil || out == "" {
		return result, err
	}
	if err := report.WriteDirectory(out, config, result, nil); err != nil {
		return nil, failure.Wrap(failure.IO, err)
	}
	fmt.Fprintln(command.ErrOrStderr(), "report written to", filepath.Join(out, "report.html"))
	return result, nil
}
