package research

import (
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"botd/backtest"
	"botd/backtest/inputs"
	"botd/backtest/report"
	"botd/backtest/saved"
	"botd/backtest/sweeps"
	"botd/cmd/botd/cli/shell"
	"botd/internal/failure"
)

// shortestJob is the minimum length of a trial's hash prefix as its name.
const shortestJob = 8

// newSweepTrial returns the command that runs one trial of a sweep as a backtest.
func newSweepTrial() *cobra.Command {
	var flags savedFlags
	var out string
	var rest bool
	command := &cobra.Command{
		Use: "trial NAME TRIAL", Short: "write the report of one trial", Args: cobra.ExactArgs(2),
		Long: `Runs one trial of a named sweep again, as botd backtest run would: in three columns, over all the
candles, including those after --split, and prints its tables. TRIAL is its rank, 1 for the best,
or a prefix of its job_sha256, at least eight characters. --out writes its report.`,
		Example: "  botd sweep trial first 1 --out best\n  botd sweep trial first 3f9ac012",
		RunE: func(command *cobra.Command, words []string) error {
			result, err := readSweep(command, &flags, words[0])
			if err != nil {
				return err
			}
			trial, err := trialOf(result, words[0], words[1])
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
			return shell.Print(command.OutOrStdout(), flags.output, run, func(w io.Writer) { resultTable(w, run, "", shell.Colors(command, w)) })
		},
	}
	command.Flags().StringVar(&out, "out", "", "directory for its report, as of botd backtest run --out")
	named(command, &flags)
	restFlag(command, &rest)
	return command
}

// trialOf finds a trial by its place, or by a prefix of its job's hash.
func trialOf(result *saved.Sweep, name, word string) (*backtest.Trial, error) {
	if place, err := strconv.Atoi(word); err == nil && len(word) < shortestJob {
		if place < 1 || place > len(result.Trials) {
			return nil, failure.Usagef("trial %d: %s has 1 to %d", place, name, len(result.Trials))
		}
		return &result.Trials[place-1], nil
	}
	var found *backtest.Trial
	for i := range result.Trials {
		if len(word) < shortestJob || !strings.HasPrefix(result.Trials[i].Job, word) {
			continue
		}
		if found != nil {
			return nil, failure.Usagef("trial %s: the prefix matches two trials of %s", word, name)
		}
		found = &result.Trials[i]
	}
	if found == nil {
		return nil, failure.New(failure.NoInput, "botd sweep show "+name+" -o json has the hashes; 1 is the best", "%s has no trial %s", name, word)
	}
	return found, nil
}

// trialRuns runs trials of a sweep again, one by one.
type trialRuns struct {
	flags  sweepFlags
	trials *inputs.Trials
}

// openTrials reads the input of a named sweep.
func openTrials(command *cobra.Command, flags *savedFlags, name string, rest bool) (*trialRuns, error) {
	directory, err := sweepPath(command, flags, name)
	if err != nil {
		return nil, err
	}
	spec, _, err := sweeps.Read(directory)
	if err != nil {
		return nil, noSweep(name, err)
	}
	r := &trialRuns{flags: sweepFlags{spec: *spec, rest: rest}}
	r.flags.read(command, directory)
	if _, r.trials, err = r.flags.prepare(); err != nil {
		return nil, err
	}
	return r, nil
}

// report runs a trial, and writes its report into a directory; empty for none.
func (r *trialRuns) report(command *cobra.Command, trial *backtest.Trial, out string) (*backtest.Result, error) {
	config, err := r.trials.Backtest(trial.Params)
	if err != nil {
		return nil, err
	}
	if config.InTurn = r.flags.rest; config.InTurn {
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

// writeTrialReports writes the reports of the best trials beside a sweep's page, and returns their links.
func writeTrialReports(command *cobra.Command, flags *savedFlags, name, page string, result *saved.Sweep, count int) (report.TrialLink, error) {
	if count == 0 {
		return nil, nil
	}
	if count < 0 || count > report.MostTrialRows {
		return nil, failure.Usagef("--reports %d: from 1 to %d", count, report.MostTrialRows)
	}
	runs, err := openTrials(command, flags, name, false)
	if err != nil {
		return nil, err
	}
	count = min(count, len(result.Trials))
	folder := strings.TrimSuffix(page, filepath.Ext(page)) + "-trials"
	for i := range result.Trials[:count] {
		if _, err := runs.report(command, &result.Trials[i], filepath.Join(folder, strconv.Itoa(i+1))); err != nil {
			return nil, err
		}
	}
	return func(place int, _ *backtest.Trial) string {
		if place > count {
			return ""
		}
		return path.Join(filepath.Base(folder), strconv.Itoa(place), "report.html")
	}, nil
}
