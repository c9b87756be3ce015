// Command botd holds flags and wiring, a file a verb, nothing else.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"
)

func main() { os.Exit(execute(os.Args[1:], os.Stdout, os.Stderr)) }

// execute runs one command line and returns its exit code.
func execute(arguments []string, stdout, stderr io.Writer) int {
	ctx, stop := signalContext()
	defer stop()
	root := newRoot()
	root.SetArgs(arguments)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	code := exitCode(err)
	if text := err.Error(); text != "" {
		fmt.Fprintln(stderr, text)
	}
	if code == exitUsage {
		fmt.Fprintln(stderr, "hint: botd --help, or botd COMMAND --help, shows what there is")
	}
	return code
}

// signalContext is canceled by the first SIGINT or SIGTERM, with the signal as
// its cause; a second one ends the process at once.
func signalContext() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		select {
		case s := <-signals:
			cancel(&signalError{s})
		case <-done:
			return
		}
		select {
		case s := <-signals:
			os.Exit(signalCode(s))
		case <-done:
		}
	}()
	return ctx, func() { signal.Stop(signals); close(done); cancel(nil) }
}

const about = `botd runs trading strategies unattended, backtests them on recorded candles,
and shows what it does.

Three commands to start with:

  botd run                              a demo: a simulated exchange, three strategies, no keys, no network
  botd check -c configs                 is my configuration right? every mistake with file and line
  botd backtest run -s STRATEGY.yaml --data CANDLES.csv`

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "botd",
		Short:         "a runtime for automated trading strategies",
		Long:          about,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          unknownCommand,
		RunE: func(command *cobra.Command, _ []string) error {
			fmt.Fprintln(command.OutOrStdout(), about+"\n\nbotd --help lists every command.")
			return nil
		},
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage("%w", err) })
	root.SuggestionsMinimumDistance = 2
	root.PersistentFlags().Bool("no-color", false, "no colours (also: NO_COLOR, TERM=dumb)")
	root.AddCommand(newRun(), newCheck(), newBacktest(), newExchange(), newStatus(), newOrders(), newIntents(), newPositions(), newLimits(),
		newHalt(), newRearm(), newResolve(), newJournal(), newIndicator(), newStrategy(), newData(), newSimulate(), newVersion())
	root.AddCommand(newProbe(), newMarkets(), newCandles(), newBook())
	return root
}

// unknownCommand answers a mistyped command with the nearest one.
func unknownCommand(command *cobra.Command, arguments []string) error {
	if len(arguments) == 0 {
		return nil
	}
	text := fmt.Sprintf("unknown command %q for %s", arguments[0], command.CommandPath())
	if near := command.SuggestionsFor(arguments[0]); len(near) > 0 {
		text += "\nhint: did you mean " + strings.Join(near, ", ") + "?"
	}
	return usage("%s", text)
}

// colours reports whether a stream is a terminal that wants colours.
func colours(command *cobra.Command, stream io.Writer) bool {
	if off, err := command.Flags().GetBool("no-color"); err == nil && off {
		return false
	}
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && terminal(stream)
}

// terminal reports whether a stream is a terminal.
func terminal(stream io.Writer) bool {
	file, ok := stream.(*os.File)
	return ok && isatty.IsTerminal(file.Fd())
}

// signalError is the cause of a context ended by a signal.
type signalError struct{ signal os.Signal }

func (e *signalError) Error() string { return "received " + e.signal.String() }

func signalOf(err error) (os.Signal, bool) {
	var s *signalError
	if errors.As(err, &s) {
		return s.signal, true
	}
	return nil, false
}
