package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"runtime/debug"
	"slices"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/shell"
	"botd/internal/failure"
	"botd/internal/simulation"
)

type simulateFlags struct {
	seed, from      uint64
	seeds, jobs, at int
	trace, crashes  bool
	mutants         bool
	faults, mutant  []string
	beyond          bool
	only, except    []string
}

func newSimulate() *cobra.Command {
	var flags simulateFlags
	command := &cobra.Command{
		Use: "simulate", Short: "run the whole daemon under seeded faults on virtual time", Args: cobra.NoArgs,
		Long: `Runs the engine against the simulated exchange behind a network that loses, delays, duplicates
and corrupts messages, on a disk that fails, with crashes at any input or output: eight virtual
minutes of faults, then none, and everything must converge. After every event the invariants of
"placing an order exactly once" are checked against the exchange's own state. One seed is one
run; the same seed gives the same run.

With --beyond the exchange and botd's environment break the assumptions that the protocol is
built on; only the effect on money is judged then, from the order and trade log.

A seed that fails is printed with the command that reproduces it. The exit code is 1 then.`,
		Example: `  botd-sim simulate --seeds 10000
  botd-sim simulate --seeds 20 --crashes
  botd-sim simulate --seed 7 --trace
  botd-sim simulate --seeds 1000 --fault lost_answer=0.5 --fault crash=0.01
  botd-sim simulate --beyond --seeds 1000
  botd-sim simulate --beyond --only positions --seeds 500
  go run -overlay "$(go run ./cmd/botd-sim overlay)" ./cmd/botd-sim simulate --mutants`,
		RunE: func(command *cobra.Command, _ []string) error { return runSimulate(command, &flags) },
	}
	f := command.Flags()
	f.IntVar(&flags.seeds, "seeds", 1000, "number of seeds")
	f.Uint64Var(&flags.from, "from", 1, "the first seed")
	f.Uint64Var(&flags.seed, "seed", 0, "run only this seed")
	f.IntVar(&flags.jobs, "jobs", 0, "seeds run in parallel (0: one per core)")
	f.BoolVar(&flags.trace, "trace", false, "with --seed: print everything that happens")
	f.IntVar(&flags.at, "crash-at", 0, "with --seed: kill the process at this input or output")
	f.BoolVar(&flags.crashes, "crashes", false, "rerun each seed once for every input and output, killing the process there")
	f.BoolVar(&flags.mutants, "mutants", false, "break one rule of the protocol after another, and count the seeds until one detects it")
	f.StringArrayVar(&flags.mutant, "mutant", nil, "NAME: only this mutant; repeatable")
	f.StringArrayVar(&flags.faults, "fault", nil, "NAME=STRENGTH instead of the faults that the seed draws; repeatable")
	f.BoolVar(&flags.beyond, "beyond", false, "beyond the bounds: false lists, executed refusals, a second engine and more")
	f.StringArrayVar(&flags.only, "only", nil, "CLASS: with --beyond: only this class; repeatable")
	f.StringArrayVar(&flags.except, "except", nil, "CLASS: with --beyond: never this class; repeatable")
	shell.OutputFlag(command)
	return command
}

// classes returns the run beyond the bounds that the flags request, or nil.
func (f *simulateFlags) classes() (*simulation.Beyond, error) {
	if !f.beyond && len(f.only)+len(f.except) > 0 {
		return nil, fmt.Errorf("--only and --except need --beyond")
	}
	if !f.beyond {
		return nil, nil
	}
	beyond := &simulation.Beyond{}
	for _, list := range []struct {
		names []string
		into  *[]simulation.Class
	}{{f.only, &beyond.Only}, {f.except, &beyond.Except}} {
		for _, name := range list.names {
			class, err := simulation.ParseClass(name)
			if err != nil {
				return nil, err
			}
			*list.into = append(*list.into, class)
		}
	}
	return beyond, nil
}

func runSimulate(command *cobra.Command, flags *simulateFlags) error {
	fleet := simulation.Fleet{From: flags.from, Seeds: flags.seeds, Jobs: flags.jobs, Crashes: flags.crashes}
	fleet.Options.CrashAt = flags.at
	if command.Flags().Changed("seed") {
		fleet.From, fleet.Seeds = flags.seed, 1
	} else if flags.trace || flags.at != 0 {
		return failure.Usagef("--trace and --crash-at need --seed N")
	}
	if flags.seeds < 1 || flags.jobs < 0 || flags.at < 0 {
		return failure.Usagef("--seeds is 1 or more, --jobs and --crash-at 0 or more")
	}
	if flags.trace && !flags.crashes {
		fleet.Options.Trace = command.OutOrStdout()
	}
	if flags.mutants || len(flags.mutant) > 0 {
		return huntMutants(command, flags)
	}
	debug.SetGCPercent(800) // a run is small and short-lived: collecting less often is a third faster
	weather, err := simulation.ParseWeather(flags.faults)
	if err != nil {
		return failure.Usagef("%w", err)
	}
	fleet.Options.Weather = weather
	if fleet.Options.Beyond, err = flags.classes(); err != nil {
		return failure.Usagef("%w", err)
	}
	bar := shell.NewProgress(command, fleet.Seeds, "seeds")
	fleet.Progress = bar.Set
	if fleet.Seeds > 1 || fleet.Crashes {
		fleet.Broke = func(failure simulation.Failure) { bar.Log(failureText(&failure)) } // the table may be hours away
	}
	summary := fleet.Run(command.Context())
	bar.End()
	if command.Context().Err() != nil {
		fmt.Fprintln(command.ErrOrStderr(), "ended early:", summary.Runs, "runs")
	}
	err = shell.Print(command, simulation.ReportOf(&summary), func(w io.Writer) { simulateTable(w, &summary) })
	if err == nil && summary.Failed > 0 {
		return failure.Quiet()
	}
	if err == nil {
		err = context.Cause(command.Context())
	}
	return err
}

// simulateTable prints a summary for a person.
func simulateTable(w io.Writer, summary *simulation.Summary) {
	r := simulation.ReportOf(summary)
	t := table.NewWriter()
	t.SetOutputMirror(w)
	t.SetStyle(table.StyleLight)
	t.AppendRows([]table.Row{
		{"runs", r.Runs}, {"failed", r.Failed}, {"elapsed", summary.Elapsed.Round(time.Millisecond)}, {"runs a second", fmt.Sprintf("%.0f", r.RunsASecond)},
		{"virtual hours", fmt.Sprintf("%.1f", r.VirtualHours)}, {"events", r.Events}, {"requests", r.Requests}, {"starts of the daemon", r.Starts},
		{"inputs and outputs", r.Points}, {"crash points tried", r.CrashPoints},
		{"uncertain placements", r.Uncertain}, {"settled within, p50 / p99", quantiles(r.UncertainP50, r.UncertainP99)},
		{"times without a stop", r.Unprotected}, {"lasted, p50 / p99", quantiles(r.UnprotectedP50, r.UnprotectedP99)},
		{"quarantined at the end", r.Quarantined},
	})
	t.AppendSeparator()
	for _, fault := range r.Faults {
		t.AppendRow(table.Row{"fault " + fault.Name, fmt.Sprintf("%d (%.2f a run)", fault.Count, fault.ARun)})
	}
	if len(r.Rules) > 0 {
		t.AppendSeparator()
		for _, name := range slices.Sorted(maps.Keys(r.Rules)) {
			t.AppendRow(table.Row{"BROKEN " + name, r.Rules[name]})
		}
	}
	t.Render()
	for _, class := range r.Classes {
		if class.Runs > 0 {
			fmt.Fprintln(w, class.Line())
		}
	}
	for _, failure := range r.Failures {
		fmt.Fprintf(w, "%s\n  %s\n", failureText(&failure), failure.Command)
	}
}

func failureText(f *simulation.Failure) string {
	return fmt.Sprintf("seed %d at %d.%03d s: %s: %s", f.Seed, f.Broken.AtMS/1000, f.Broken.AtMS%1000, f.Broken.Rule, f.Broken.Text)
}

// quantiles formats two quantiles in seconds; "-" when there was nothing to count.
func quantiles(p50, p99 int) string {
	if p50 < 0 {
		return "-"
	}
	return fmt.Sprintf("%d s / %d s", p50, p99)
}
