package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/shell"
	"botd/internal/chaos"
	"botd/internal/failure"
)

type soakFlags struct {
	lasts, every, warm time.Duration
	slope, rate        float64
	directory, binary  string
}

func newSoak() *cobra.Command {
	var flags soakFlags
	command := &cobra.Command{
		Use: "soak", Short: "trade for hours, and measure how much the daemon's memory grows", Args: cobra.NoArgs,
		Long: `Trades on a moving simulated exchange, in a separate process, with six strategies that send about
five orders a second, and measures the daemon's memory through its metrics. The slope is a
least-squares fit of its resident memory after the warm-up. The exit code is 1 if the slope is
above --slope, or if fewer orders than --rate were sent. GOGC, GOMEMLIMIT, GOMAXPROCS
and GODEBUG are passed on to the daemon.`,
		Example: "  botd-sim soak\n  botd-sim soak --for 10m --warm 5m --slope 20",
		RunE:    func(command *cobra.Command, _ []string) error { return flags.run(command) },
	}
	f := command.Flags()
	f.DurationVar(&flags.lasts, "for", 2*time.Hour, "how long")
	f.DurationVar(&flags.every, "every", 20*time.Second, "time between two measurements")
	f.DurationVar(&flags.warm, "warm", 30*time.Minute, "warm-up, excluded from the slope")
	f.Float64Var(&flags.slope, "slope", 1, "maximum growth of the memory, MB an hour")
	f.Float64Var(&flags.rate, "rate", 5, "minimum number of orders a second")
	f.StringVar(&flags.binary, "botd", "", "the botd to measure (default: the one next to botd-sim, or else one built from the source here)")
	f.StringVar(&flags.directory, "dir", "", "directory for configuration, journal and logs (default: a new one, removed on success)")
	shell.OutputFlag(command)
	return command
}

func (f *soakFlags) run(command *cobra.Command) error {
	if f.every <= 0 || f.warm < 0 || f.lasts < f.warm+2*f.every {
		return failure.Usagef("--for must be two measurements longer than --warm, and --every above zero")
	}
	directory, given, err := directoryOf(f.directory, "botd-soak-")
	if err != nil {
		return err
	}
	binary, err := daemonIn(command, f.binary, directory)
	if err != nil {
		return err
	}
	soak := chaos.Soak{Binary: binary, Directory: directory, For: f.lasts, Every: f.every, Warm: f.warm, Progress: func(m chaos.Measurement) {
		fmt.Fprintf(command.ErrOrStderr(), "%8.0fs  %7d orders  %6.1f MB resident  %6.1f MB heap  %7.1f s of processor time\n", m.AtS, m.Orders, m.RSSMB,
			m.HeapMB, m.CPUS)
	}}
	report, err := soak.Run(command.Context())
	if err != nil {
		return failure.New(failure.Internal, "the logs are in "+directory, "%w", err)
	}
	if err := shell.Print(command, report, func(w io.Writer) { showSoak(w, report, f.warm) }); err != nil {
		return err
	}
	if report.SlopeMB > f.slope || report.Rate < f.rate {
		fmt.Fprintf(command.ErrOrStderr(), "WRONG: want %g MB an hour at most and %g orders a second at least; configuration, journal and logs are in %s\n",
			f.slope, f.rate, directory)
		return failure.Quiet()
	}
	if !given {
		return failure.Wrap(failure.IO, os.RemoveAll(directory))
	}
	return nil
}

func showSoak(w io.Writer, r *chaos.SoakReport, warm time.Duration) {
	last := r.All[len(r.All)-1]
	t := shell.NewTable(w, table.Row{"after " + (time.Duration(r.ElapsedS) * time.Second).String(), ""})
	t.AppendRows([]table.Row{
		{"orders", fmt.Sprintf("%d, %.2f a second", r.Orders, r.Rate)},
		{"resident memory", fmt.Sprintf("%.1f MB, %+.2f MB an hour after %s (standard error %.2f)", last.RSSMB, r.SlopeMB, warm, r.ErrorMB)},
		{"of that, the program's own pages", fmt.Sprintf("%.1f MB", last.ProgramMB)},
		{"heap in use, with garbage", fmt.Sprintf("%.1f MB, %+.2f MB an hour", last.HeapMB, r.HeapMB)},
		{"processor time", fmt.Sprintf("%.1f s", last.CPUS)},
		{"goroutines", last.Goroutines},
	})
	t.Render()
}
