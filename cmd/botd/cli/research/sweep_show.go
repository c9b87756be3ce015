package research

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"botd/backtest/cluster"
	"botd/backtest/report"
	"botd/backtest/resultstore"
	"botd/backtest/sweeps"
	"botd/cmd/botd/cli/shell"
	"botd/internal/failure"
)

func newSweepShow() *cobra.Command {
	var flags sweepsFlags
	var access cluster.Access
	var page string
	command := &cobra.Command{
		Use: "show NAME", Short: "print a saved sweep again", Args: cobra.ExactArgs(1),
		Long: "Prints a sweep that botd sweep run --name NAME saved. A sweep that still runs, or was interrupted, shows its trials so far. " +
			"NAME may be the path of its file. " +
			"With --on it prints what a NATS server has of it.",
		Example: "  botd sweep show first\n  botd sweep show first -o csv\n  botd sweep show first --on nats://127.0.0.1:4222",
		RunE: func(command *cobra.Command, names []string) error {
			read := func() (*resultstore.Sweep, error) { return flags.read(command, names[0]) }
			if access.URL != "" {
				read = func() (*resultstore.Sweep, error) { return sweepOn(command, access, names[0]) }
			}
			result, err := read()
			if err == nil && page != "" {
				err = failure.Wrap(failure.IO, report.WriteSweepFile(page, result, nil))
			}
			if err != nil {
				return err
			}
			return shell.Print(command, result, func(w io.Writer) { sweepTable(w, result) })
		},
	}
	flags.add(command)
	addAccess(command, &access, false)
	command.Flags().StringVar(&page, "html", "", "also write it as a page, as botd sweep report does")
	return command
}

// sweepOn reads the rows of a sweep from the server.
func sweepOn(command *cobra.Command, access cluster.Access, name string) (result *resultstore.Sweep, err error) {
	err = onCluster(command, access, func(ctx context.Context, view *cluster.View) error {
		found, trials, err := view.Rows(ctx, name)
		if err != nil {
			return noSweep(name, err)
		}
		if len(trials) == 0 {
			return failure.New(failure.Temporary, "botd sweep list --on shows the workers", "no trial of %s has ended", name)
		}
		if found.State != cluster.Done {
			fmt.Fprintf(command.ErrOrStderr(), "%s: %d of %d trials\n", found.State, found.Ended, found.Total)
		}
		result, err = sweeps.SoFar(found.Spec, trials)
		return err
	})
	return result, err
}
