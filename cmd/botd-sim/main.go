// Command botd-sim sabotages botd to test it: seeded faults, broken rules, and kills of the real binary.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/shell"
	"botd/internal/failure"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run runs one command line and returns its exit code.
func run(arguments []string, stdout, stderr io.Writer) int {
	ctx, stop := shell.SignalContext(context.Background())
	defer stop()
	root := newRoot()
	root.SetArgs(arguments)
	root.SetOut(stdout)
	root.SetErr(stderr)
	ran, err := root.ExecuteContextC(ctx)
	if err = shell.GlobalsOf(ran.Context()).End(ran, err); err == nil {
		return failure.OK
	}
	code := failure.CodeOf(err)
	if s, ended := failure.SignalOf(context.Cause(ctx)); ended && errors.Is(err, context.Canceled) {
		code = failure.SignalCode(s)
	}
	if text := err.Error(); text != "" {
		fmt.Fprintln(stderr, text)
	}
	if code == failure.Usage && !strings.Contains(err.Error(), "hint: ") {
		fmt.Fprintln(stderr, "hint: see botd-sim --help, or botd-sim COMMAND --help")
	}
	return code
}

func newRoot() *cobra.Command {
	given := &shell.Globals{}
	root := &cobra.Command{
		Use: "botd-sim", Short: "tests botd by injecting faults", SilenceUsage: true, SilenceErrors: true, Args: shell.UnknownCommand,
		Long: `botd-sim tests botd by injecting faults. It is a separate program, so that none of its code is
linked into the one that trades.`,
		PersistentPreRunE: func(command *cobra.Command, _ []string) error { return given.Begin(command) },
		RunE:              func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return failure.Usagef("%w", err) })
	given.Add(root)
	root.AddCommand(newSimulate(), newChaos(), newSoak(), newOverlay(), newMutate(), newConformance())
	return root
}
