package research

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"botd/backtest/cluster"
	"botd/backtest/sweeps"
	"botd/internal/failure"
)

func newSweepCancel() *cobra.Command {
	var flags sweepsFlags
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
			directory, err := flags.path(command.Context(), names[0])
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
	flags.locate(command)
	addAccess(command, &access, false)
	return command
}

func cancelOn(command *cobra.Command, access cluster.Access, name string) error {
	return onCluster(command, access, func(ctx context.Context, view *cluster.View) error {
		if err := view.Cancel(ctx, name); errors.Is(err, sweeps.ErrNone) {
			return noSweep(name, err)
		} else if err != nil {
			return err
		}
		fmt.Fprintf(command.OutOrStdout(), "the sweep %s ends with the trials in progress\n", name)
		return nil
	})
}
