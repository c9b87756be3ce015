package research

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/backtest"
	"botd/backtest/cluster"
	"botd/backtest/inputs"
	"botd/backtest/resultstore"
	"botd/backtest/sweeps"
	"botd/cmd/botd/cli/shell"
	"botd/internal/failure"
	"botd/internal/plural"
)

// NewSweep returns the command botd sweep.
func NewSweep() *cobra.Command {
	return shell.Group("sweep", "many backtests of one strategy with different settings",
		`Runs one strategy over the same candles with many combinations of settings, and ranks them.
The best of many trials overstates its quality: some of its result is luck. --split holds out candles for validation; walk
re-optimizes on each window and trades the next one. A named sweep (--name) is saved: resume
runs its missing trials.`,
		"  botd sweep run -s trend.yaml --data candles.csv --vary fast=5..20..5 --vary slow=30,50,100 --split 70%\n  botd sweep show first",
		newSweepRun(), newSweepWalk(), newSweepList(), newSweepShow(), newSweepReport(), newSweepTrial(), newSweepResume(), newSweepCancel())
}

// sweepFlags are the flags of run and walk.
type sweepFlags struct {
	files   inputs.Files
	spec    sweeps.Spec
	keep    string
	folder  string // directory of the sweeps; empty for the one in data_dir
	rest    bool   // each trial pauses for as long as it ran
	access  cluster.Access
	resumes bool // continue an existing sweep of that name
}

// add adds the flags that run and walk share.
func (f *sweepFlags) add(command *cobra.Command) {
	addFiles(command, &f.files)
	flags := command.Flags()
	flags.StringArrayVar(&f.spec.Vary, "vary", nil, "NAME=VALUE,VALUE, NAME=FROM..TO..STEP or NAME=FROM..TO of a parameter or a key; may be repeated")
	flags.StringVar(&f.spec.Where, "where", "", "condition on the varied keys, such as 'fast < slow'")
	flags.StringVar(&f.spec.Sort, "sort", "sharpe", "rank by "+strings.Join(backtest.Rankings(), ", ")+", or an expression of figures")
	shell.CompleteWith(command, "sort", backtest.Rankings()...)
	shell.OutputFlag(command)
}

// sweepsFlags locate the saved sweeps.
type sweepsFlags struct{ configuration, folder string }

// add adds the flags of a command that prints one.
func (s *sweepsFlags) add(command *cobra.Command) {
	s.locate(command)
	shell.OutputFlag(command)
}

func (s *sweepsFlags) locate(command *cobra.Command) {
	command.Flags().StringVarP(&s.configuration, "config", "c", "", "configuration directory, whose data_dir is used")
	folderFlag(command, &s.folder)
}

// folderFlag adds the flag for the directory of the sweeps.
func folderFlag(command *cobra.Command, folder *string) {
	command.Flags().StringVar(folder, "sweeps", "", "directory of the sweeps (default: sweeps in data_dir)")
}

// restFlag adds the flag that leaves part of the machine to other programs.
func restFlag(command *cobra.Command, rest *bool) {
	command.Flags().BoolVar(rest, "rest", false, "throttle trials to half of each core")
}

// addAccess adds the flags that reach a NATS server; with serve the server can be embedded too.
func addAccess(command *cobra.Command, access *cluster.Access, serve bool) {
	f := command.Flags()
	f.StringVar(&access.URL, "on", "", "NATS server with JetStream: nats://HOST:PORT or tls://HOST:PORT; beyond this machine it needs "+
		cluster.TokenVariable+" in the environment, --creds or --tls-cert")
	f.StringVar(&access.Creds, "creds", "", "file with a NATS user's credentials")
	f.StringVar(&access.CA, "tls-ca", "", "CA file (PEM) for the server's certificate; with --serve, for client certificates")
	f.StringVar(&access.Cert, "tls-cert", "", "own certificate (PEM)")
	f.StringVar(&access.Key, "tls-key", "", "key of --tls-cert (PEM)")
	if serve {
		f.StringVar(&access.Serve, "serve", "", "run a NATS server at HOST:PORT in this process, for workers: botd worker --on nats://HOST:PORT")
	}
}

// directory returns the directory of the sweeps.
func (s *sweepsFlags) directory(ctx context.Context) (string, error) {
	if s.folder != "" {
		return s.folder, nil
	}
	reports, err := savedDirectory(ctx, s.configuration, "")
	return filepath.Join(filepath.Dir(reports), resultstore.SweepFolder), err
}

// path returns the path of a named sweep: its folder, and with .json the file of its result.
func (s *sweepsFlags) path(ctx context.Context, name string) (string, error) {
	if err := resultstore.CheckName(name); err != nil {
		return "", err
	}
	directory, err := s.directory(ctx)
	return filepath.Join(directory, name), err
}

// noSweep assigns exit codes to errors about a named sweep.
func noSweep(name string, err error) error {
	if errors.Is(err, sweeps.ErrNone) || errors.Is(err, fs.ErrNotExist) {
		return failure.New(failure.NoInput, "botd sweep list shows the saved sweeps; botd sweep run --name NAME saves one", "there is no saved sweep %s", name)
	}
	return failure.Wrap(failure.Data, err)
}

// read reads a sweep by its name or by the path of its file; of an unfinished sweep it reads the rows so far.
func (s *sweepsFlags) read(command *cobra.Command, name string) (*resultstore.Sweep, error) {
	if strings.ContainsAny(name, `/\`) || resultstore.Exists(name) {
		return resultstore.ReadSweep(name)
	}
	directory, err := s.path(command.Context(), name)
	if err != nil {
		return nil, err
	}
	if path := directory + ".json"; resultstore.Exists(path) {
		return resultstore.ReadSweep(path)
	}
	spec, trials, err := sweeps.Read(directory)
	if err != nil {
		return nil, noSweep(name, err)
	}
	if len(trials) == 0 {
		return nil, failure.New(failure.Temporary, "botd sweep resume "+name, "no trial of %s has ended", name)
	}
	fmt.Fprintf(command.ErrOrStderr(), "not all trials have finished: botd sweep list shows the state\n")
	return sweeps.SoFar(spec, trials)
}

// reopen reads the specification of a named sweep, and its inputs again.
func reopen(command *cobra.Command, directory, name string, rest bool) (*sweeps.Spec, *sweeps.Plan, *inputs.Trials, error) {
	spec, _, err := sweeps.Read(directory)
	if err != nil {
		return nil, nil, nil, noSweep(name, err)
	}
	var files inputs.Files
	loadWith(command, &files)
	spec.RestoreFiles(directory, &files)
	plan, trials, err := sweeps.Prepare(spec, &files)
	if err != nil {
		return nil, nil, nil, err
	}
	trials.Config.Rest = rest
	return spec, plan, trials, nil
}

// onCluster connects to the server of --on.
func onCluster(command *cobra.Command, access cluster.Access, do func(ctx context.Context, view *cluster.View) error) error {
	ctx, cancel := context.WithTimeout(command.Context(), time.Minute)
	defer cancel()
	view, err := cluster.Open(ctx, access)
	if err != nil {
		return err
	}
	defer view.Close()
	return do(ctx, view)
}

// sweepShown bounds the trials in the table.
const sweepShown = 20

// paretoTable shows the trials that no other trial beats in every objective.
func paretoTable(w io.Writer, front *resultstore.Front, names []string) {
	if front == nil {
		return
	}
	header := table.Row{}
	for _, name := range slices.Concat(names, front.Objectives) {
		header = append(header, name)
	}
	t := shell.NewTable(w, header)
	for i := range front.Trials[:min(sweepShown, len(front.Trials))] {
		row := table.Row{}
		for _, name := range names {
			row = append(row, front.Trials[i].Params[name])
		}
		for _, value := range front.Trials[i].Values {
			row = append(row, fmt.Sprintf("%.4g", value))
		}
		t.AppendRow(row)
	}
	t.Render()
	fmt.Fprintf(w, "%s that no other one beats in all of %s\n", plural.Of(len(front.Trials), "trial"), strings.Join(front.Objectives, ", "))
}

func sweepTable(w io.Writer, r *resultstore.Sweep) {
	fmt.Fprintf(w, "%s on %s %s, %d candles: %s, ranked by %s\n", r.Strategy, r.Symbol, r.Interval, r.Candles, plural.Of(len(r.Trials), "trial"), r.Sort)
	if r.Split != nil {
		fmt.Fprintf(w, "ranked on the candles before %s; the columns named unseen cover those after it\n", r.Split.Format(time.DateTime))
	}
	names := slices.Sorted(maps.Keys(r.Trials[0].Params))
	header := table.Row{}
	for _, name := range names {
		header = append(header, name)
	}
	header = append(header, "profit %", "sharpe", "drawdown %", "trips")
	ended := slices.ContainsFunc(r.Trials, func(t backtest.Trial) bool { return t.Seen.EndedBy != nil })
	lacking := slices.ContainsFunc(r.Trials, func(t backtest.Trial) bool { return len(t.Seen.NotTraded) > 0 })
	endedUnseen := slices.ContainsFunc(r.Trials, func(t backtest.Trial) bool { return t.Unseen != nil && t.Unseen.EndedBy != nil })
	if ended {
		header = append(header, "ended by")
	}
	if lacking {
		header = append(header, "not traded")
	}
	if r.Split != nil {
		header = append(header, "unseen profit %", "unseen sharpe", "unseen drawdown %")
	}
	if endedUnseen {
		header = append(header, "unseen ended by")
	}
	t := shell.NewTable(w, header)
	for i := range r.Trials[:min(sweepShown, len(r.Trials))] {
		trial, row := &r.Trials[i], table.Row{}
		for _, name := range names {
			row = append(row, trial.Params[name])
		}
		row = append(row, floatText(trial.Seen.Profit), floatText(trial.Seen.Sharpe), fmt.Sprintf("%.2f", trial.Seen.MaxDrawdown), trial.Seen.RoundTrips)
		if ended {
			row = append(row, trial.Seen.EndedBy.Short())
		}
		if lacking {
			row = append(row, backtest.ShortOf(trial.Seen.NotTraded))
		}
		if trial.Unseen != nil {
			row = append(row, floatText(trial.Unseen.Profit), floatText(trial.Unseen.Sharpe), fmt.Sprintf("%.2f", trial.Unseen.MaxDrawdown))
		}
		if endedUnseen && trial.Unseen != nil {
			row = append(row, trial.Unseen.EndedBy.Short())
		}
		t.AppendRow(row)
	}
	t.Render()
	if more := len(r.Trials) - sweepShown; more > 0 {
		fmt.Fprintf(w, "and %d more: -o csv has all\n", more)
	}
	paretoTable(w, r.Pareto, names)
	sweepNotes(w, r)
}

// sweepNotes writes the lines below a sweep's table.
func sweepNotes(w io.Writer, r *resultstore.Sweep) {
	if r.Short > 0 {
		fmt.Fprintf(w, "%s do not fulfill %s and are ranked last\n", plural.Of(r.Short, "trial"), r.Require)
	}
	if r.Reused > 0 {
		fmt.Fprintf(w, "%s had ended before and were not run again\n", plural.Of(r.Reused, "trial"))
	}
	if r.Refused > 0 {
		fmt.Fprintf(w, "%s left out, refused by the strategy; the first: %s\n", plural.Of(r.Refused, "choice"), r.Reason)
	}
	if line := r.ByEngine(); line != "" {
		fmt.Fprintln(w, line)
	}
	fmt.Fprintln(w, r.Verdict())
	for _, warning := range r.Warnings {
		fmt.Fprintln(w, "warning:", warning)
	}
	if r.Split == nil && r.Best() != nil {
		fmt.Fprintln(w, "warning: the best of many, on the candles that chose it; --split 70% holds some back")
	}
}
