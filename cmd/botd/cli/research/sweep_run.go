package research

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"botd/backtest/cluster"
	"botd/backtest/inputs"
	"botd/backtest/report"
	"botd/backtest/resultstore"
	"botd/backtest/sweeps"
	"botd/cmd/botd/cli/shell"
	"botd/exchange/tape"
	"botd/internal/failure"
)

func newSweepRun() *cobra.Command {
	var flags sweepFlags
	command := &cobra.Command{
		Use: "run", Short: "run many combinations of parameters, and rank them", Args: cobra.NoArgs,
		Long: `Backtests the combinations of --vary, several at a time, and ranks them. A combination that the
strategy refuses, such as a fast average slower than the slow one, is left out and counted.
--vary takes a parameter's name, or the path of any key of the strategy's file.

  --vary fast=5,10,20               these values
  --vary slow=30..100..10           from 30 to 100, by 10; 1..64..x2 doubles
  --vary protect.stop_loss=1%,2%    a key of the file; interval=1h,4h makes longer candles
  --vary size.equity=10%..50%       a range, for --search random and tpe; log:1..1000 too

--search grid tries every combination, random draws --trials of them, and tpe learns from what
earlier trials where to try next (Bergstra and others, 2011). --where 'fast < slow' excludes
combinations, --require 'trades >= 30' ranks trials that do not fulfill it last, and --sort takes
any figure, or an expression such as 'sharpe - 0.1*max_drawdown_pct'. --stop-when 'drawdown>30%'
ranks a trial last if its equity is that far below its peak at any close, and ends it after at most
4,096 more candles, so that hopeless trials cost little. 'loss>20%' is relative to the initial
equity.

With --split 70% the first 70 % of the candles rank the combinations, and each result on the rest
is shown next to it: a combination that is good on both may be more than luck. For comparison, the
output includes the expected best result of that many combinations without any skill (the expected
maximum Sharpe ratio; Bailey and Lopez de Prado).

With --name each trial is stored as it ends, in sweeps/NAME/trials.jsonl in data_dir: botd sweep
resume NAME continues an interrupted sweep, and the result has the same sweep_sha256 as without the
interruption.

With --serve or --on the trials run on workers, on this machine or others (botd worker): the rows
are the same. One trial in a hundred is run by two workers and compared. Without --name such a
sweep is named after the current time.`,
		Example: "  botd sweep run -s trend.yaml --data candles.csv --vary fast=5..20..5 --vary slow=30,50,100 --split 70% --name first\n  " +
			"botd sweep run -s trend.yaml --data candles.csv --vary fast=2..50 --vary slow=10..200 --where 'fast < slow' --search tpe --trials 200\n  " +
			"botd sweep run -s trend.yaml --data candles.csv --vary fast=5,10 -o csv\n  " +
			"botd sweep run -s trend.yaml --data candles.csv --vary fast=2..50 --vary slow=10..200 --search random --trials 5000 --serve 127.0.0.1:4222",
		RunE: func(command *cobra.Command, _ []string) error { return flags.run(command) },
	}
	flags.add(command)
	f := command.Flags()
	f.StringVar(&flags.spec.Search, "search", sweeps.Grid, "search method: "+strings.Join(sweeps.Searches(), ", "))
	f.IntVar(&flags.spec.Trials, "trials", 0, "maximum number of trials (default: all combinations of a grid, 100 for a search)")
	f.Uint64Var(&flags.spec.Seed, "seed", 1, "seed of --search random and tpe: the same seed draws the same combinations")
	f.StringVar(&flags.spec.Require, "require", "", "condition on figures, such as 'trades >= 30'; trials that do not fulfill it are ranked last")
	f.StringArrayVar(&flags.spec.Pareto, "pareto", nil, "an objective, the larger the better, such as sharpe or '-max_drawdown_pct'; given twice or more, "+
		"only the trials that no other one beats in all of them are shown")
	f.StringVar(&flags.spec.Stop, "stop-when", "", "end a trial early, for example on 'drawdown>30%' or 'loss>20%'; such trials are ranked last")
	f.StringVar(&flags.spec.Split, "split", "", "share of the candles that ranks the trials, such as 70%; the rest only validates")
	f.StringVar(&flags.spec.Name, "name", "", "a name: trials are stored in sweeps/NAME in data_dir as they end, for botd sweep show and resume")
	f.StringVar(&flags.keep, "keep", "", "as --name")
	_ = f.MarkDeprecated("keep", "it is --name now")
	folderFlag(command, &flags.folder)
	restFlag(command, &flags.rest)
	f.BoolVar(&flags.resumes, "resume", false, "with --name: continue that sweep if it exists, as botd sweep resume does")
	addAccess(command, &flags.access, true)
	shell.CompleteWith(command, "search", sweeps.Searches()...)
	return command
}

func (f *sweepFlags) run(command *cobra.Command) (err error) {
	if f.spec.Name == "" {
		f.spec.Name = f.keep
	}
	if f.spread() {
		if err := f.access.Check(); err != nil {
			return err
		}
		if f.spec.Name == "" {
			f.spec.Name = automaticName(time.Now())
			fmt.Fprintln(command.ErrOrStderr(), "the sweep's name is", f.spec.Name)
		}
	}
	directory := ""
	if f.spec.Name != "" {
		if err := resultstore.CheckName(f.spec.Name); err != nil {
			return failure.Usagef("--name %w", err)
		}
		all := sweepsFlags{configuration: f.files.Directory, folder: f.folder}
		if directory, err = all.path(command.Context(), f.spec.Name); err != nil {
			return err
		}
		if f.resumes && resultstore.Exists(directory) {
			return f.resume(command, directory)
		}
	}
	plan, trials, err := sweeps.Prepare(&f.spec, &f.files)
	if err != nil {
		return err
	}
	trials.Config.Rest = f.rest
	if directory == "" {
		return f.search(command, plan, trials, nil, "")
	}
	if f.files.Directory != "" {
		return failure.Usagef("--name: a resumable sweep needs one strategy's file; give -s FILE instead of --config")
	}
	if err := refuseExisting("botd sweep resume continues it; else choose another name, or remove it", directory, directory+".json"); err != nil {
		return err
	}
	log, err := sweeps.Begin(directory, &f.spec, &f.files, trials)
	if err != nil {
		return failure.Wrap(failure.IO, err)
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	return f.search(command, plan, trials, log, directory)
}

// spread reports whether trials run on workers.
func (f *sweepFlags) spread() bool { return f.access.URL != "" || f.access.Serve != "" }

// automaticName names an unnamed sweep on workers, which outlasts this process.
func automaticName(now time.Time) string {
	return now.UTC().Format("20060102-150405-") + hex.EncodeToString([]byte{byte(rand.IntN(256)), byte(rand.IntN(256))})
}

func newSweepResume() *cobra.Command {
	var flags sweepsFlags
	var access cluster.Access
	var rest bool
	command := &cobra.Command{
		Use: "resume NAME", Short: "run the trials that a sweep is missing", Args: cobra.ExactArgs(1),
		Long: `Continues a sweep with a name that was interrupted: by Ctrl-C, kill -9, a full disk or botd sweep
cancel. Finished trials are not run again, unless the program, the candles or another input has
changed. The result equals that of an uninterrupted sweep. With --serve or --on workers run the
missing trials, wherever the sweep was started.`,
		Example: "  botd sweep resume first",
		RunE: func(command *cobra.Command, names []string) error {
			directory, err := flags.path(command.Context(), names[0])
			if err != nil {
				return err
			}
			resumed := sweepFlags{spec: sweeps.Spec{Name: names[0]}, rest: rest, access: access}
			return resumed.resume(command, directory)
		},
	}
	flags.add(command)
	restFlag(command, &rest)
	addAccess(command, &access, true)
	return command
}

// resume runs the missing trials of a sweep.
func (f *sweepFlags) resume(command *cobra.Command, directory string) (err error) {
	if f.access != (cluster.Access{}) {
		if err := f.access.Check(); err != nil {
			return err
		}
	}
	name := f.spec.Name
	spec, plan, trials, err := reopen(command, directory, name, f.rest)
	if err != nil {
		return err
	}
	f.spec = *spec
	log, err := sweeps.Open(directory)
	if err != nil {
		return failure.Wrap(failure.Temporary, fmt.Errorf("%s: %w", name, err))
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	return f.search(command, plan, trials, log, directory)
}

// search runs the missing trials and prints the result. With a directory it also stores the result.
func (f *sweepFlags) search(command *cobra.Command, plan *sweeps.Plan, trials *inputs.Trials, log *sweeps.Log, directory string) error {
	f.access.StoreDir = filepath.Join(filepath.Dir(filepath.Dir(directory)), "nats")
	bar := shell.NewProgress(command, 0, "trials")
	result, err := f.result(command, plan, trials, log, bar)
	bar.End()
	if err != nil {
		if log != nil {
			f.storeSoFar(command, directory)
			fmt.Fprintf(command.ErrOrStderr(), "finished trials are stored: botd sweep resume %s runs the rest\n", f.spec.Name)
		}
		if errors.Is(err, sweeps.ErrCanceled) {
			return failure.New(failure.Temporary, "", "the sweep %s was canceled", f.spec.Name)
		}
		if _, ok := errors.AsType[*failure.Error](err); ok {
			return err
		}
		return tape.Failure(err)
	}
	if directory != "" {
		err := errors.Join(result.WriteTrials(directory), report.StoreSweep(directory, result), resultstore.WriteSweep(directory+".json", result))
		if err != nil {
			return failure.Wrap(failure.IO, err)
		}
		fmt.Fprintln(command.ErrOrStderr(), "saved in", directory+".json")
	}
	return shell.Print(command, result, func(w io.Writer) { sweepTable(w, result) })
}

// result runs the missing trials in this process, or on workers.
func (f *sweepFlags) result(command *cobra.Command, plan *sweeps.Plan, trials *inputs.Trials, log *sweeps.Log, bar *shell.Progress) (
	*resultstore.Sweep, error) {
	ctx, progress := command.Context(), func(done, total int) { bar.SetTotal(total); bar.Set(done, total) }
	if !f.spread() {
		return plan.Run(ctx, trials, plan.Here(trials), log, progress)
	}
	coordinator, err := f.access.Begin(ctx, &f.spec, trials, log.Has, func(format string, arguments ...any) { bar.Log(fmt.Sprintf(format, arguments...)) })
	if err != nil {
		return nil, err
	}
	coordinator.Progress = bar.Note
	result, err := plan.Run(ctx, trials, coordinator, log, progress)
	return result, coordinator.End(ctx, err)
}

// storeSoFar stores what the dashboard shows of an interrupted sweep. It logs a failure: the sweep itself is on the disk.
func (f *sweepFlags) storeSoFar(command *cobra.Command, directory string) {
	spec, trials, err := sweeps.Read(directory)
	if err != nil || len(trials) == 0 {
		return
	}
	result, err := sweeps.SoFar(spec, trials)
	if err == nil {
		err = report.StoreSweep(directory, result)
	}
	if err != nil {
		fmt.Fprintf(command.ErrOrStderr(), "warning: the page of the trials so far: %v\n", err)
	}
}
