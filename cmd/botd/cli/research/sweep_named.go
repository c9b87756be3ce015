package research

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/backtest"
	"botd/backtest/cluster"
	"botd/backtest/report"
	"botd/backtest/saved"
	"botd/backtest/sweeps"
	"botd/cmd/botd/cli/shell"
	"botd/internal/failure"
)

// sweepPath is the path of a named sweep, without an ending.
func sweepPath(command *cobra.Command, flags *savedFlags, name string) (string, error) {
	if !saved.Name.MatchString(name) {
		return "", failure.Usagef("%q: a name of a-z, A-Z, 0-9, dots, - and _", name)
	}
	directory, err := sweepDirectory(command.Context(), flags.directory, flags.reports)
	return filepath.Join(directory, name), err
}

// noSweep assigns exit codes to errors about a named sweep.
func noSweep(name string, err error) error {
	if errors.Is(err, sweeps.ErrNone) || errors.Is(err, fs.ErrNotExist) {
		return failure.New(failure.NoInput, "botd sweep list shows the saved sweeps; botd sweep run --name NAME saves one", "there is no saved sweep %s", name)
	}
	return failure.Wrap(failure.Data, err)
}

// named adds the flags of a command that takes a sweep's name.
func named(command *cobra.Command, flags *savedFlags) {
	located(command, flags)
	shell.OutputFlag(command, &flags.output)
}

// located adds the flags that locate the sweeps.
func located(command *cobra.Command, flags *savedFlags) {
	command.Flags().StringVarP(&flags.directory, "config", "c", "", "configuration directory, whose data_dir is used")
	folderFlag(command, &flags.reports)
}

func newSweepList() *cobra.Command {
	var flags savedFlags
	var access cluster.Access
	command := &cobra.Command{
		Use: "list", Short: "list saved sweeps", Args: cobra.NoArgs,
		Long: `Lists the sweeps that botd sweep run --name NAME saved, newest first: whether each is in
progress, complete, or waiting to be resumed. With --on it lists those on a NATS server, with their
speed and the workers.`,
		Example: "  botd sweep list\n  botd sweep list --on nats://127.0.0.1:4222",
		RunE: func(command *cobra.Command, _ []string) error {
			if access.URL != "" {
				return listOn(command, access, flags.output)
			}
			directory, err := sweepDirectory(command.Context(), flags.directory, flags.reports)
			if err != nil {
				return err
			}
			all, err := sweeps.List(directory)
			if err != nil {
				return failure.Wrap(failure.Data, err)
			}
			return shell.Print(command.OutOrStdout(), flags.output, all, func(w io.Writer) { sweepListTable(w, all) })
		},
	}
	named(command, &flags)
	addAccess(command, &access, false)
	return command
}

func sweepListTable(w io.Writer, all []sweeps.Status) {
	t := shell.NewTable(w, table.Row{"name", "started (UTC)", "search", "ranked by", "trials", "state"})
	for _, one := range all {
		state := "interrupted: botd sweep resume " + one.Name
		switch {
		case one.Done:
			state = "done"
		case one.Running:
			state = "running"
		}
		trials := strconv.Itoa(one.Ended)
		if one.Total > one.Ended && !one.Done {
			trials += " of " + strconv.Itoa(one.Total)
		}
		t.AppendRow(table.Row{one.Name, one.Started.Format(time.DateTime), one.Search, one.Sort, trials, state})
	}
	t.Render()
}

func newSweepShow() *cobra.Command {
	var flags savedFlags
	var access cluster.Access
	var page string
	command := &cobra.Command{
		Use: "show NAME", Short: "print a saved sweep again", Args: cobra.ExactArgs(1),
		Long: "Prints a sweep that botd sweep run --name NAME saved. A sweep that still runs, or was interrupted, shows its trials so far. " +
			"NAME may be the path of its file. " +
			"With --on it prints what a NATS server has of it.",
		Example: "  botd sweep show first\n  botd sweep show first -o csv\n  botd sweep show first --on nats://127.0.0.1:4222",
		RunE: func(command *cobra.Command, names []string) error {
			read := func() (*saved.Sweep, error) { return readSweep(command, &flags, names[0]) }
			if access.URL != "" {
				read = func() (*saved.Sweep, error) { return sweepOn(command, access, names[0]) }
			}
			result, err := read()
			if err == nil && page != "" {
				err = writeSweepPage(page, result, nil)
			}
			if err != nil {
				return err
			}
			return shell.Print(command.OutOrStdout(), flags.output, result, func(w io.Writer) { sweepTable(w, result) })
		},
	}
	named(command, &flags)
	addAccess(command, &access, false)
	command.Flags().StringVar(&page, "html", "", "also write it as a page, as botd sweep report does")
	return command
}

// newSweepReport returns the command that writes a sweep's page.
func newSweepReport() *cobra.Command {
	var flags savedFlags
	var out string
	var reports int
	command := &cobra.Command{
		Use: "report NAME", Short: "write a sweep as one HTML page", Args: cobra.ExactArgs(1),
		Long: `Writes a sweep that botd sweep run --name NAME saved as one page that opens offline: the verdict,
compared with what luck would produce in as many trials; a heat map of each pair of settings;
parallel coordinates of all trials; in-sample against out-of-sample results; and the results of the
settings near the best one. NAME may be the path of its file. With --reports N the rows of the N
best trials link to their reports, which are written next to the page.`,
		Example: "  botd sweep report first --out first.html\n  botd sweep report first --reports 5",
		RunE: func(command *cobra.Command, names []string) error {
			result, err := readSweep(command, &flags, names[0])
			if err != nil {
				return err
			}
			if out == "" {
				out = strings.TrimSuffix(filepath.Base(names[0]), ".json") + ".html"
			}
			link, err := writeTrialReports(command, &flags, names[0], out, result, reports)
			if err == nil {
				err = writeSweepPage(out, result, link)
			}
			if err != nil {
				return err
			}
			fmt.Fprintf(command.OutOrStdout(), "%s\n%s\n", result.Verdict(), out)
			return nil
		},
	}
	command.Flags().StringVar(&out, "out", "", "the page's file (default: NAME.html)")
	command.Flags().IntVar(&reports, "reports", 0, "also write the reports of this many of the best trials, into the page's name-trials, and link them")
	located(command, &flags)
	return command
}

func writeSweepPage(path string, result *saved.Sweep, link report.TrialLink) error {
	file, err := os.Create(path)
	if err != nil {
		return failure.Wrap(failure.IO, err)
	}
	return failure.Wrap(failure.IO, errors.Join(report.WriteSweep(file, result, link), file.Close()))
}

// readSweep reads a sweep by its name or by the path of its file; of an unfinished sweep it reads the rows so far.
func readSweep(command *cobra.Command, flags *savedFlags, name string) (*saved.Sweep, error) {
	path := name
	if !strings.ContainsAny(path, `/\`) && !saved.Exists(path) {
		base, err := sweepPath(command, flags, path)
		if err != nil {
			return nil, err
		}
		if path = base + ".json"; !saved.Exists(path) {
			return sweepSoFar(command, base, name)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, failure.New(failure.NoInput, "botd sweep run --name NAME stores one", "read the sweep: %w", err)
	}
	var result saved.Sweep
	if err := json.Unmarshal(text, &result); err != nil {
		return nil, failure.Wrap(failure.Data, fmt.Errorf("%s is not a sweep: %w", path, err))
	}
	if slices.ContainsFunc(result.Trials, func(t backtest.Trial) bool { return t.Seen == nil }) || len(result.Trials) == 0 {
		return nil, failure.New(failure.Data, "botd sweep run --name NAME writes one", "%s is not a sweep: it has no trials with results", path)
	}
	result.Conclude() // earlier versions also compared trials that were stopped early
	return &result, nil
}

// sweepSoFar reads the rows of a sweep without a result.
func sweepSoFar(command *cobra.Command, directory, name string) (*saved.Sweep, error) {
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

func newSweepResume() *cobra.Command {
	var flags savedFlags
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
			directory, err := sweepPath(command, &flags, names[0])
			if err != nil {
				return err
			}
			return resumeSweep(command, directory, &sweepFlags{spec: sweeps.Spec{Name: names[0]}, output: flags.output, rest: rest, access: access})
		},
	}
	named(command, &flags)
	restFlag(command, &rest)
	addAccess(command, &access, true)
	return command
}

// resumeSweep runs the missing trials of a sweep.
func resumeSweep(command *cobra.Command, directory string, given *sweepFlags) (err error) {
	name := given.spec.Name
	if given.access != (cluster.Access{}) {
		if err := given.access.Check(); err != nil {
			return err
		}
	}
	spec, _, err := sweeps.Read(directory)
	if err != nil {
		return noSweep(name, err)
	}
	resumed := sweepFlags{spec: *spec, output: given.output, rest: given.rest, access: given.access}
	resumed.read(command, directory)
	plan, trials, err := resumed.prepare()
	if err != nil {
		return err
	}
	log, err := sweeps.Open(directory)
	if err != nil {
		return failure.Wrap(failure.Temporary, fmt.Errorf("%s: %w", name, err))
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	return resumed.search(command, plan, trials, log, directory)
}

// read takes the files from a specification.
func (f *sweepFlags) read(command *cobra.Command, directory string) {
	loadWith(command, &f.files)
	f.files.StrategyFiles = []string{f.spec.StrategyPath(directory)}
	f.files.Data, f.files.Detail, f.files.Funding = f.spec.Data, f.spec.Detail, f.spec.Funding
	f.files.Trades = f.spec.Trades
	f.files.Signals, f.files.Columns = f.spec.Signals, f.spec.Columns
	f.files.Recorded, f.files.Symbols = f.spec.Recorded, f.spec.Symbols
	f.files.From, f.files.To, f.files.Repair = f.spec.From, f.spec.To, f.spec.Repair
}

func newSweepCancel() *cobra.Command {
	var flags savedFlags
	var access cluster.Access
	command := &cobra.Command{
		Use: "cancel NAME", Short: "cancel a running sweep", Args: cobra.ExactArgs(1),
		Long: "Asks the process that runs a named sweep to end it. Finished trials are saved, and botd sweep resume runs the rest. With --on " +
			"it ends a sweep on workers, from any machine.",
		Example: "  botd sweep cancel first\n  botd sweep cancel first --on nats://127.0.0.1:4222",
		RunE: func(command *cobra.Command, names []string) error {
			if access.URL != "" {
				return cancelOn(command, access, names[0])
			}
			directory, err := sweepPath(command, &flags, names[0])
			if err != nil {
				return err
			}
			running, err := sweeps.Cancel(directory)
			if err != nil {
				return noSweep(names[0], err)
			}
			if !running {
				return failure.New(failure.Usage, "botd sweep list shows the state of each", "the sweep %s is not running", names[0])
			}
			fmt.Fprintf(command.OutOrStdout(), "the sweep %s ends with the trials under way\n", names[0])
			return nil
		},
	}
	located(command, &flags)
	addAccess(command, &access, false)
	return command
}
