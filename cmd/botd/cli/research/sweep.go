package research

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"botd/backtest"
	"botd/backtest/cluster"
	"botd/backtest/inputs"
	"botd/backtest/report"
	"botd/backtest/saved"
	"botd/backtest/sweeps"
	"botd/cmd/botd/cli/shell"
	"botd/exchange/tape"
	"botd/internal/failure"
)

type sweepFlags struct {
	files        inputs.Files
	spec         sweeps.Spec
	keep, output string
	folder       string // directory of the sweeps; empty for the one in data_dir
	rest         bool   // each trial pauses for as long as it ran
	access       cluster.Access
	resume       bool // continue an existing sweep of that name
}

// NewSweep returns the command botd sweep.
func NewSweep() *cobra.Command {
	return shell.Group("sweep", "many backtests of one strategy with different settings",
		`Runs one strategy over the same candles with many combinations of settings, and ranks them.
The best of many trials is overfitted. --split holds out candles for validation; walk
re-optimizes on each window and trades the next one. A named sweep (--name) is saved: resume
runs its missing trials.`,
		"  botd sweep run -s trend.yaml --data candles.csv --vary fast=5..20..5 --vary slow=30,50,100 --split 70%\n  botd sweep show first",
		newSweepRun(), newSweepWalk(), newSweepList(), newSweepShow(), newSweepReport(), newSweepTrial(), newSweepResume(), newSweepCancel())
}

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
	f.BoolVar(&flags.resume, "resume", false, "with --name: continue that sweep if it exists, as botd sweep resume does")
	addAccess(command, &flags.access, true)
	shell.CompleteWith(command, "search", sweeps.Searches()...)
	return command
}

// add adds the flags that run and walk share.
func (f *sweepFlags) add(command *cobra.Command) {
	addFiles(command, &f.files)
	flags := command.Flags()
	flags.StringArrayVar(&f.spec.Vary, "vary", nil, "NAME=VALUE,VALUE, NAME=FROM..TO..STEP or NAME=FROM..TO of a parameter or a key; may be repeated")
	flags.StringVar(&f.spec.Where, "where", "", "condition on the varied keys, such as 'fast < slow'")
	flags.StringVar(&f.spec.Sort, "sort", "sharpe", "rank by "+strings.Join(backtest.Rankings(), ", ")+", or an expression of figures")
	shell.CompleteWith(command, "sort", backtest.Rankings()...)
	shell.OutputFlag(command, &f.output)
}

// folderFlag adds the flag for the directory of the sweeps.
func folderFlag(command *cobra.Command, folder *string) {
	command.Flags().StringVar(folder, "sweeps", "", "directory of the sweeps (default: sweeps in data_dir)")
}

// restFlag adds the flag that leaves part of the machine to other programs.
func restFlag(command *cobra.Command, rest *bool) {
	command.Flags().BoolVar(rest, "rest", false, "throttle trials to half of each core")
}

func sweepDirectory(ctx context.Context, configuration, folder string) (string, error) {
	if folder != "" {
		return folder, nil
	}
	reports, err := savedDirectory(ctx, configuration, "")
	return filepath.Join(filepath.Dir(reports), saved.SweepFolder), err
}

func (f *sweepFlags) run(command *cobra.Command) (err error) {
	if f.spec.Name == "" {
		f.spec.Name = f.keep
	}
	if f.spread() {
		if err := f.access.Check(); err != nil {
			return err
		}
	}
	if f.spread() && f.spec.Name == "" {
		f.spec.Name = automaticName(time.Now())
		fmt.Fprintln(command.ErrOrStderr(), "the sweep's name is", f.spec.Name)
	}
	if f.resume && f.spec.Name != "" {
		found := savedFlags{directory: f.files.Directory, reports: f.folder, output: f.output}
		directory, err := sweepPath(command, &found, f.spec.Name)
		if err != nil || saved.Exists(directory) {
			return errors.Join(err, resumeSweep(command, directory, f))
		}
	}
	plan, trials, err := f.prepare()
	if err != nil {
		return err
	}
	if f.spec.Name == "" {
		return f.search(command, plan, trials, nil, "")
	}
	if f.files.Directory != "" {
		return failure.Usagef("--name: a resumable sweep needs one strategy's file; give -s FILE instead of --config")
	}
	directory, err := f.named(command.Context())
	if err != nil {
		return err
	}
	log, err := f.create(directory, trials)
	if err != nil {
		return failure.Wrap(failure.IO, err)
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	return f.search(command, plan, trials, log, directory)
}

// prepare checks the flags and reads the sweep's input.
func (f *sweepFlags) prepare() (*sweeps.Plan, *inputs.Trials, error) {
	split, err := sweeps.ParseSplit(f.spec.Split)
	if err != nil {
		return nil, nil, err
	}
	plan, err := sweeps.NewPlan(&f.spec, split)
	if err != nil {
		return nil, nil, err
	}
	binary, err := programHash()
	if err != nil {
		return nil, nil, failure.Wrap(failure.IO, err)
	}
	trials, err := f.files.NewTrials(plan.Axes(), binary, split, plan.StopWhen())
	if err != nil {
		return nil, nil, err
	}
	trials.Config.Rest = f.rest
	return plan, trials, nil
}

// programHash returns the hash of the running program: another program may compute other results.
func programHash() (string, error) {
	file, err := os.Open("/proc/self/exe") // valid even after the file was replaced
	if err != nil {
		path, missing := os.Executable()
		if missing != nil {
			return "", missing
		}
		if file, err = os.Open(path); err != nil {
			return "", err
		}
	}
	defer file.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, file)
	return hex.EncodeToString(sum.Sum(nil)), err
}

// named returns the folder of a new sweep.
func (f *sweepFlags) named(ctx context.Context) (string, error) {
	if !saved.Name.MatchString(f.spec.Name) {
		return "", failure.Usagef("--name %q: a name of a-z, A-Z, 0-9, dots, - and _", f.spec.Name)
	}
	all, err := sweepDirectory(ctx, f.files.Directory, f.folder)
	if err != nil {
		return "", err
	}
	directory := filepath.Join(all, f.spec.Name)
	for _, path := range []string{directory, directory + ".json"} {
		if saved.Exists(path) {
			return "", failure.New(failure.Usage, "botd sweep resume continues it; else choose another name, or remove it", "%s already exists", path)
		}
	}
	return directory, nil
}

// create begins the log of a new sweep.
func (f *sweepFlags) create(directory string, trials *inputs.Trials) (*sweeps.Log, error) {
	given := trials.Base
	text, err := os.ReadFile(given.File)
	if err != nil {
		return nil, err
	}
	f.spec.Schema, f.spec.Started, f.spec.Strategy = 1, time.Now().UTC(), given.File
	if given.Kind == "process" {
		f.spec.InPlace = true
		if f.spec.Strategy, err = filepath.Abs(given.File); err != nil {
			return nil, err
		}
	}
	f.spec.Describe(trials)
	from := &f.files
	f.spec.From, f.spec.To, f.spec.Repair = from.From, from.To, from.Repair
	for _, files := range []struct {
		to    *[]string
		words []string
	}{{&f.spec.Data, from.Data}, {&f.spec.Detail, from.Detail}, {&f.spec.Trades, from.Trades}, {&f.spec.Funding, from.Funding}, {&f.spec.Signals, from.Signals},
		{&f.spec.Columns, from.Columns}} {
		for _, word := range files.words {
			absolute, err := absoluteOf(word)
			if err != nil {
				return nil, err
			}
			*files.to = append(*files.to, absolute)
		}
	}
	if f.spec.Recorded, err = absoluteOf(from.Recorded); err != nil {
		return nil, err
	}
	if f.spec.Symbols, err = absoluteOf(from.Symbols); err != nil {
		return nil, err
	}
	files, err := inputs.PortableFiles(given)
	if err != nil {
		return nil, err
	}
	files[sweeps.StrategyFile] = text
	return sweeps.Create(directory, &f.spec, files)
}

// absoluteOf makes the path of FILE, or of NAME=FILE, absolute.
func absoluteOf(word string) (string, error) {
	if name, path, found := strings.Cut(word, "="); found && !saved.Exists(word) && saved.Exists(path) {
		path, err := filepath.Abs(path)
		return name + "=" + path, err
	}
	if word == "" {
		return "", nil
	}
	return filepath.Abs(word)
}

// search runs the missing trials and prints the result. With a directory it also stores the result.
func (f *sweepFlags) search(command *cobra.Command, plan *sweeps.Plan, trials *inputs.Trials, log *sweeps.Log, directory string) error {
	bar := shell.NewProgress(command, 0, "trials")
	runner, end, err := f.runner(command, plan, trials, log, directory, bar)
	var result *saved.Sweep
	if err == nil {
		result, err = plan.Run(command.Context(), trials, runner, log, func(done, total int) { bar.SetTotal(total); bar.Set(done, total) })
		err = end(err)
	}
	bar.End()
	if err != nil {
		if log != nil {
			f.storeSoFar(command, directory)
			fmt.Fprintf(command.ErrOrStderr(), "finished trials are stored: botd sweep resume %s runs the rest\n", f.spec.Name)
		}
		if errors.Is(err, sweeps.ErrCanceled) {
			return failure.New(failure.Temporary, "", "the sweep %s was canceled", f.spec.Name)
		}
		var coded *failure.Error
		if errors.As(err, &coded) {
			return err
		}
		return tape.Failure(err)
	}
	if directory != "" {
		if err := errors.Join(result.WriteTrials(directory), storePage(directory, result), saved.WriteSweep(directory+".json", result)); err != nil {
			return failure.Wrap(failure.IO, err)
		}
		fmt.Fprintln(command.ErrOrStderr(), "saved in", directory+".json")
	}
	return shell.Print(command.OutOrStdout(), f.output, result, func(w io.Writer) { sweepTable(w, result) })
}

// storePage stores the data from which the dashboard shows a sweep.
func storePage(directory string, result *saved.Sweep) error {
	return errors.Join(writeSweepPage(filepath.Join(directory, saved.SweepPage), result, report.Asked), result.WriteSummary(directory))
}

// storeSoFar stores that data for an interrupted sweep. It logs a failure: the sweep itself is on the disk.
func (f *sweepFlags) storeSoFar(command *cobra.Command, directory string) {
	spec, trials, err := sweeps.Read(directory)
	if err != nil || len(trials) == 0 {
		return
	}
	result, err := sweeps.SoFar(spec, trials)
	if err == nil {
		err = storePage(directory, result)
	}
	if err != nil {
		fmt.Fprintf(command.ErrOrStderr(), "warning: the page of the trials so far: %v\n", err)
	}
}
