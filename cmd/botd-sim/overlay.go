package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"botd/internal/chaos"
	"botd/internal/failure"
	"botd/internal/mutant"
)

func newOverlay() *cobra.Command {
	crashes := false
	command := &cobra.Command{
		Use: "overlay", Short: "write the overlay with which every rule of the protocol can be broken, and print its path", Args: cobra.NoArgs,
		Long: `Writes the source files with every mutant built in, each behind a switch, into a new
directory, and prints the path of an overlay for the go command. Run it at the root of a clone
of the repository. See docs/simulation.md.

With --crash-points it instead writes the points at which botd can kill itself; an environment
variable selects one of them (internal/chaos/crash).`,
		Example: `  go test -overlay "$(go run ./cmd/botd-sim overlay)" -run EveryMutant -v ./internal/simulation
  go build -overlay "$(go run ./cmd/botd-sim overlay --crash-points)" ./cmd/botd`,
		RunE: func(command *cobra.Command, _ []string) error {
			root, err := os.Getwd()
			if err != nil {
				return failure.Wrap(failure.IO, err)
			}
			directory, err := os.MkdirTemp("", "botd-mutants-")
			if err != nil {
				return failure.Wrap(failure.IO, err)
			}
			write := mutant.Overlay
			if crashes {
				write = chaos.CrashOverlay
			}
			path, err := write(root, directory)
			if err != nil {
				return failure.New(failure.Data, "run it at the root of the repository; go doc ./internal/mutant explains how to update a mutant",
					"%w", err)
			}
			_, err = fmt.Fprintln(command.OutOrStdout(), path)
			return failure.Wrap(failure.IO, err)
		},
	}
	command.Flags().BoolVar(&crashes, "crash-points", false, "write the overlay with which botd kills itself at a named point")
	return command
}
