package research

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/shopspring/decimal"
	"github.com/spf13/cobra"

	"botd/backtest"
	"botd/backtest/inputs"
	"botd/backtest/saved"
	"botd/cmd/botd/cli/shell"
	"botd/configs"
	"botd/exchange"
	"botd/exchange/tape"
	"botd/internal/failure"
	"botd/internal/plural"
)

// sweepShown bounds the trials in the table.
const sweepShown = 20

type sweepFlags struct {
	files                     inputs.Files
	vary                      []string
	split, sort, keep, output string
}

// NewSweep returns the command botd sweep.
func NewSweep() *cobra.Command {
	return shell.Group("sweep", "many backtests of one strategy with other parameters",
		`Runs one strategy over the same candles with many choices of its parameters, and ranks them.
The best of many looks better than it is: --split keeps candles back that had no say, and walk
chooses again and again, and trades what comes after.`,
		"  botd sweep run -s trend.yaml --data candles.csv --vary fast=5..20..5 --vary slow=30,50,100 --split 70%\n  botd sweep show first",
		newSweepRun(), newSweepWalk(), newSweepShow())
}

func newSweepRun() *cobra.Command {
	var flags sweepFlags
	command := &cobra.Command{
		Use: "run", Short: "run every combination, and rank them", Args: cobra.NoArgs,
		Long: `Runs every combination of the values of --vary, as botd backtest run does, several at a
time, and ranks them. A choice that the strategy refuses, as a fast average slower than the
slow one, is left out and counted.

  --vary fast=5,10,20      these values
  --vary slow=30..100..10  from 30 to 100, by 10

With --split 70% the first 70 % of the candles rank the choices, and what each would have made
of the rest stands beside it: a choice that is good in both may be more than luck. What the
best of as many choices without any skill would show is printed too (the Sharpe ratio expected
of the luckiest; Bailey and Lopez de Prado).`,
		Example: "  botd sweep run -s trend.yaml --data candles.csv --vary fast=5..20..5 --vary slow=30,50,100 --split 70% --keep first\n  " +
			"botd sweep run -s trend.yaml --data candles.csv --vary fast=5,10 -o csv",
		RunE: func(command *cobra.Command, _ []string) error { return flags.run(command) },
	}
	addFiles(command, &flags.files)
	f := command.Flags()
	f.StringArrayVar(&flags.vary, "vary", nil, "NAME=VALUE,VALUE or NAME=FROM..TO..STEP of one parameter; may be repeated")
	f.StringVar(&flags.split, "split", "", "share of the candles that ranks, 70%; the rest has no say")
	f.StringVar(&flags.sort, "sort", "sharpe", "rank by "+strings.Join(backtest.Rankings(), ", "))
	f.StringVar(&flags.keep, "keep", "", "a name: the result is saved in sweeps/NAME.json in data_dir, for botd sweep show")
	shell.CompleteWith(command, "sort", backtest.Rankings()...)
	shell.OutputFlag(command, &flags.output)
	return command
}

func newSweepShow() *cobra.Command {
	var flags savedFlags
	command := &cobra.Command{
		Use: "show NAME", Short: "print a saved sweep again", Args: cobra.ExactArgs(1),
		Long:    "Prints a sweep that botd sweep run --keep NAME saved. NAME may be the path of its file.",
		Example: "  botd sweep show first\n  botd sweep show first -o csv",
		RunE: func(command *cobra.Command, names []string) error {
			path := names[0]
			if !strings.ContainsAny(path, `/\`) && !saved.Exists(path) {
				directory, err := sweepDirectory(command.Context(), flags.directory)
				if err != nil {
					return err
				}
				path = filepath.Join(directory, path+".json")
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return failure.New(failure.NoInput, "botd sweep run --keep NAME keeps one", "read the sweep: %w", err)
			}
			var result saved.Sweep
			if err := json.Unmarshal(text, &result); err != nil {
				return failure.Wrap(failure.Data, fmt.Errorf("%s is no sweep: %w", path, err))
			}
			if slices.ContainsFunc(result.Trials, func(t backtest.Trial) bool { return t.Seen == nil }) || len(result.Trials) == 0 {
				return failure.New(failure.Data, "botd sweep run --keep NAME writes one", "%s is no sweep: it holds no trials with what came of them", path)
			}
			return shell.Print(command.OutOrStdout(), flags.output, &result, func(w io.Writer) { sweepTable(w, &result) })
		},
	}
	command.Flags().StringVarP(&flags.directory, "config", "c", "", "configuration directory, whose data_dir is used")
	shell.OutputFlag(command, &flags.output)
	return command
}

func sweepDirectory(ctx context.Context, configuration string) (string, error) {
	reports, err := savedDirectory(ctx, configuration, "")
	return filepath.Join(filepath.Dir(reports), saved.SweepFolder), err
}

func (f *sweepFlags) run(command *cobra.Command) error {
	began := time.Now()
	split, path, err := f.check(command.Context())
	if err != nil {
		return err
	}
	s, err := f.prepare(command)
	if err != nil {
		return err
	}
	config, given, trials := s.config, s.given, s.trials
	defer debug.SetGCPercent(debug.SetGCPercent(backtest.CollectorPercent))
	bar := shell.NewProgress(command, len(trials), "trials")
	splitMS, err := backtest.Sweep(command.Context(), config, trials, split, bar.Set)
	bar.End()
	if err != nil {
		return tape.Failure(err)
	}
	leg := &config.Legs[0]
	result := &saved.Sweep{Schema: 1, Strategy: given.Name, Symbol: given.Symbol, Interval: given.Interval.String(), Candles: leg.Tape.Candles.Len(),
		Sort: f.sort, Refused: s.refused, Why: s.why,
		Trials: trials, DataSHA256: leg.Tape.SHA256, Elapsed: time.Since(began).Seconds()}
	if splitMS != 0 {
		at := time.UnixMilli(splitMS).UTC()
		result.Split = &at
	}
	if lucky, known := backtest.LuckySharpe(trials); known {
		result.Lucky = &lucky
	}
	backtest.Rank(trials, f.sort)
	if err := saved.WriteSweep(path, result); err != nil {
		return failure.Wrap(failure.IO, err)
	}
	if path != "" {
		fmt.Fprintln(command.ErrOrStderr(), "saved in", path)
	}
	return shell.Print(command.OutOrStdout(), f.output, result, func(w io.Writer) { sweepTable(w, result) })
}

// swept is a strategy, its candles, and the choices of its parameters.
type swept struct {
	config  backtest.Config
	given   *configs.StrategyConfig
	trials  []backtest.Trial
	refused int
	why     string
}

// prepare reads them.
func (f *sweepFlags) prepare(command *cobra.Command) (s swept, err error) {
	if s.config, err = f.files.Config(); err != nil {
		return s, err
	}
	if s.given, err = f.one(); err != nil {
		return s, err
	}
	choices, err := inputs.Choices(f.vary, s.given)
	if err != nil {
		return s, err
	}
	s.trials, s.refused, s.why, err = inputs.Trials(s.given, s.config.Legs[0].Tape, choices)
	return s, err
}

// check looks at the flags before anything is read.
func (f *sweepFlags) check(ctx context.Context) (split exchange.Rate, path string, err error) {
	if !slices.Contains(backtest.Rankings(), f.sort) {
		return 0, "", failure.Usagef("--sort %s: there is %s", f.sort, strings.Join(backtest.Rankings(), ", "))
	}
	if f.split != "" {
		share, err := decimal.NewFromString(strings.TrimSuffix(f.split, "%"))
		if strings.HasSuffix(f.split, "%") {
			share = share.Shift(-2)
		}
		if err == nil {
			split, err = exchange.RateFromDecimal(share)
		}
		if err != nil || split <= 0 || split >= exchange.RateOne {
			return 0, "", failure.Usagef("--split %s: a share of the candles, 70%%", f.split)
		}
	}
	if f.keep == "" {
		return split, "", nil
	}
	if !saved.Name.MatchString(f.keep) {
		return 0, "", failure.Usagef("--keep %q: a name of a-z, A-Z, 0-9, dots, - and _", f.keep)
	}
	directory, err := sweepDirectory(ctx, f.files.Directory)
	if err != nil {
		return 0, "", err
	}
	if path = filepath.Join(directory, f.keep+".json"); saved.Exists(path) {
		return 0, "", failure.New(failure.Usage, "choose another name, or take the file away", "%s is there already", path)
	}
	return split, path, nil
}

// one is the strategy that is swept.
func (f *sweepFlags) one() (*configs.StrategyConfig, error) {
	symbols, err := f.files.Instruments()
	if err != nil {
		return nil, err
	}
	given, _, err := f.files.Strategies(symbols)
	if err != nil {
		return nil, err
	}
	if len(given) != 1 {
		return nil, failure.Usagef("a sweep is of one strategy, %d are given", len(given))
	}
	return given[0], nil
}

func sweepTable(w io.Writer, r *saved.Sweep) {
	fmt.Fprintf(w, "%s on %s %s, %d candles: %s, ranked by %s\n", r.Strategy, r.Symbol, r.Interval, r.Candles, plural.Of(len(r.Trials), "trial"), r.Sort)
	if r.Split != nil {
		fmt.Fprintf(w, "ranked by what was before %s; the columns named unseen are of what came after\n", r.Split.Format(time.DateTime))
	}
	names := slices.Sorted(maps.Keys(r.Trials[0].Params))
	header := table.Row{}
	for _, name := range names {
		header = append(header, name)
	}
	header = append(header, "profit %", "sharpe", "drawdown %", "trips")
	ended := slices.ContainsFunc(r.Trials, func(t backtest.Trial) bool { return t.Seen.EndedBy != nil })
	if ended {
		header = append(header, "ended by")
	}
	if r.Split != nil {
		header = append(header, "unseen profit %", "unseen sharpe", "unseen drawdown %")
	}
	t := shell.NewTable(w, header)
	for i := range r.Trials[:min(sweepShown, len(r.Trials))] {
		trial, row := &r.Trials[i], table.Row{}
		for _, name := range names {
			row = append(row, trial.Params[name])
		}
		row = append(row, floatText(trial.Seen.Profit), floatText(trial.Seen.Sharpe), fmt.Sprintf("%.2f", trial.Seen.MaxDrawdown), trial.Seen.RoundTrips)
		if by := trial.Seen.EndedBy; by != nil {
			row = append(row, by.Limit+" "+by.Time.Format(time.DateOnly))
		} else if ended {
			row = append(row, "")
		}
		if trial.Unseen != nil {
			row = append(row, floatText(trial.Unseen.Profit), floatText(trial.Unseen.Sharpe), fmt.Sprintf("%.2f", trial.Unseen.MaxDrawdown))
		}
		t.AppendRow(row)
	}
	t.Render()
	if more := len(r.Trials) - sweepShown; more > 0 {
		fmt.Fprintf(w, "and %d more: -o csv has all\n", more)
	}
	if r.Refused > 0 {
		fmt.Fprintf(w, "%s left out, refused by the strategy; the first, %s\n", plural.Of(r.Refused, "choice"), r.Why)
	}
	if r.Lucky != nil {
		fmt.Fprintf(w, "the luckiest of %d choices without any skill would be expected to show a Sharpe ratio of %.2f\n", len(r.Trials), *r.Lucky)
	}
	if r.Split == nil {
		fmt.Fprintln(w, "warning: the best of many, over the candles it was chosen by; --split 70% keeps some back")
	}
}
