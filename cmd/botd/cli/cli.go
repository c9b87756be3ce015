// Package cli is the command line: flags, output and wiring, one file per verb; your own program can add strategies.
//
// A main of your own is one call, cli.Main(mine.Strategy()), and builds a botd with one more strategy.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"botd/cmd/botd/cli/connect"
	"botd/cmd/botd/cli/daemon"
	"botd/cmd/botd/cli/offline"
	"botd/cmd/botd/cli/research"
	"botd/cmd/botd/cli/shell"
	"botd/cmd/botd/cli/venue"
	"botd/exchange/tape"
	"botd/internal/confine"
	"botd/internal/failure"
	"botd/internal/spell"
	"botd/internal/version"
	"botd/runtime/worker/isolated"
	"botd/strategy"
)

// Main runs the command line of the process with the built-in strategies and the given ones, and exits.
func Main(strategies ...strategy.Definition) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case confine.Verb:
			os.Exit(internalVerb(confine.Enter(os.Args[2:])))
		case isolated.Verb:
			os.Exit(internalVerb(isolated.Serve()))
		}
	}
	os.Exit(Execute(connect.WithProcesses(context.Background()), os.Args[1:], os.Stdout, os.Stderr, strategies...))
}

// internalVerb returns the exit code of a verb that only botd itself runs: the processes of strategies.
func internalVerb(err error) int {
	if err == nil {
		return failure.OK
	}
	fmt.Fprintln(os.Stderr, err)
	return failure.Internal
}

// Execute runs one command line in this process and returns its exit code.
func Execute(ctx context.Context, arguments []string, stdout, stderr io.Writer, strategies ...strategy.Definition) int {
	return recovered(stderr, func() int { return perform(ctx, arguments, stdout, stderr, strategies) })
}

// recovered runs a function and reports a panic with exit code 70.
func recovered(stderr io.Writer, do func() int) (code int) {
	defer func() {
		if cause := recover(); cause != nil {
			fmt.Fprintf(stderr, "internal error: %v\n%s\nhint: this is a bug in botd; botd support collects diagnostics\n", cause, debug.Stack())
			code = failure.Internal
		}
	}()
	return do()
}

func perform(ctx context.Context, arguments []string, stdout, stderr io.Writer, strategies []strategy.Definition) int {
	stdout, stderr = shell.Printable(stdout), shell.Printable(stderr)
	ctx, stop := shell.SignalContext(ctx)
	defer stop()
	root := NewRoot(stdout, stderr)
	root.SetArgs(arguments)
	ran, err := root.ExecuteContextC(connect.WithStrategies(ctx, strategies))
	err = shell.GlobalsOf(ran.Context()).End(ran, argumentError(ran, err))
	tape.SharedCache().Wait()
	if err == nil {
		return failure.OK
	}
	code := failure.CodeOf(err)
	if s, ended := failure.SignalOf(context.Cause(ctx)); ended {
		if _, signaled := failure.SignalOf(err); signaled || errors.Is(err, context.Canceled) {
			code = failure.SignalCode(s) // however the command handled the interrupt
		}
	}
	if text := err.Error(); text != "" {
		fmt.Fprintln(stderr, text)
	}
	if code == failure.Usage && !strings.Contains(err.Error(), "hint: ") {
		fmt.Fprintln(stderr, "hint: "+exampleLine(ran))
	}
	return code
}

// exampleLine returns a valid command line: the command's first example, or its usage.
func exampleLine(command *cobra.Command) string {
	first, _, _ := strings.Cut(strings.TrimSpace(command.Example), "\n")
	first, _, _ = strings.Cut(first, "  #")
	if first = strings.TrimSpace(first); first == "" {
		first = command.UseLine()
	}
	return fmt.Sprintf("as in: %s    (%s --help explains it)", first, command.CommandPath())
}

const about = `botd runs trading strategies unattended, backtests them on recorded candles,
and shows what it does.

Three commands to start with:

  botd run                              a demo: a simulated exchange, three strategies, no keys, no network
  botd check -c configs                 validate the configuration; list every error with file and line
  botd backtest run -s STRATEGY.yaml --data CANDLES.csv`

// NewRoot returns the tree of commands, which print to stdout and stderr.
func NewRoot(stdout, stderr io.Writer) *cobra.Command {
	given := &shell.Globals{}
	root := &cobra.Command{
		Use:               "botd",
		Short:             "a runtime for automated trading strategies",
		Long:              about,
		SilenceUsage:      true,
		SilenceErrors:     true,
		Args:              shell.UnknownCommand,
		PersistentPreRunE: func(command *cobra.Command, _ []string) error { return given.Begin(command) },
		RunE: func(command *cobra.Command, _ []string) error {
			fmt.Fprintln(command.OutOrStdout(), about+"\n\nbotd --help lists all commands.")
			return nil
		},
	}
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetFlagErrorFunc(flagError)
	root.Version = version.Read().Version
	root.SetVersionTemplate(version.Line() + "\n")
	root.Flags().Bool("version", false, "print the version; botd version prints more")
	given.Add(root)
	group(root, "begin", "Start here:", offline.NewInit(), offline.NewCheck(), offline.NewDoctor(), daemon.NewRun(),
		addSubcommands(research.NewStrategy(), daemon.NewStrategyStops()...))
	group(root, "watch", "Observe the running daemon:", daemon.NewStatus(), daemon.NewOrders(), daemon.NewFills(), daemon.NewTrades(),
		daemon.NewPositions(), daemon.NewAccount(), daemon.NewLimits(), addSubcommands(offline.NewLedger(), daemon.NewLedgerTransfer()), daemon.NewIncidents(),
		daemon.NewLogs())
	group(root, "why", "Understand its decisions:", offline.NewTimeline(), offline.NewAudit(), daemon.NewExplain(),
		daemon.NewPlan(), daemon.NewIntents(), daemon.NewRisk(), daemon.NewReconcile())
	group(root, "stop", "Stop and resume:", daemon.NewHalt(), daemon.NewRearm(), daemon.NewResolve())
	group(root, "test", "Test strategies, and botd itself:", research.NewTry(daemon.Run), research.NewBacktest(), research.NewParity(), research.NewSweep(),
		research.NewWorker(),
		research.NewData(), research.NewIndicator(), research.NewExchange(), research.NewBench())
	group(root, "venue", "Query a venue:", venue.NewMarkets(), venue.NewCandles(), venue.NewBook(), venue.NewProbe())
	group(root, "operate", "Operate botd:", addSubcommands(offline.NewConfig(), daemon.NewConfigDiff(), daemon.NewConfigReload()),
		shell.Alias("reload", daemon.NewConfigReload()), daemon.NewLogin(),
		daemon.NewToken(), offline.NewNotify(), daemon.NewLogLevel(), offline.NewJournal(), offline.NewBackup(), offline.NewRestore(),
		offline.NewMigrate(), offline.NewSupport(),
		daemon.NewHealthcheck(), offline.NewOps(), offline.NewMan(), offline.NewVersion())
	simulated := shell.Group("sim", "the simulated exchange", "", "", shell.Alias("serve", research.NewExchange()))
	simulated.Hidden = true
	root.AddCommand(simulated)
	root.SetHelpCommandGroupID("operate")
	root.SetCompletionCommandGroupID("operate")
	completeFlags(root)
	addCompletion(root)
	return root
}

// addSubcommands adds commands below one.
func addSubcommands(command *cobra.Command, below ...*cobra.Command) *cobra.Command {
	command.AddCommand(below...)
	return command
}

// group adds commands that are listed together, under a title.
func group(root *cobra.Command, id, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: id, Title: title})
	for _, command := range commands {
		command.GroupID = id
	}
	root.AddCommand(commands...)
}

// argumentError replaces cobra's messages about wrong arguments, which only count them, with the arguments that the command takes.
func argumentError(ran *cobra.Command, err error) error {
	var coded *failure.Error
	if err == nil || ran == nil || errors.As(err, &coded) {
		return err
	}
	switch text := err.Error(); {
	case strings.HasPrefix(text, "unknown command "):
		word, _ := strconv.QuotedPrefix(strings.TrimPrefix(text, "unknown command "))
		if word, err = strconv.Unquote(word); err == nil && ran.HasAvailableSubCommands() {
			return shell.UnknownCommand(ran, []string{word})
		}
		return failure.Usagef("%s takes no argument %q\nhint: %s", ran.CommandPath(), word, ran.UseLine())
	case strings.HasPrefix(text, "accepts "), strings.HasPrefix(text, "requires at "):
		text = strings.NewReplacer("accepts ", "takes ", "requires at ", "takes at ", "arg(s), received", "argument(s), not", "arg(s), only received",
			"argument(s), not").Replace(text)
		return failure.Usagef("%s %s\nhint: %s", ran.CommandPath(), text, ran.UseLine())
	case strings.HasPrefix(text, "if any flags in the group "):
		given := text[strings.LastIndex(text, "; [")+len("; ["):]
		given, _, _ = strings.Cut(given, "]")
		return failure.Usagef("--%s are mutually exclusive", strings.Join(strings.Fields(given), " and --"))
	}
	return err
}

// flagError suggests the nearest flag for a mistyped one.
func flagError(command *cobra.Command, err error) error {
	name, unknown := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !unknown {
		return failure.Usagef("%w", err)
	}
	var names []string
	for _, flags := range []*pflag.FlagSet{command.Flags(), command.InheritedFlags()} {
		flags.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	}
	if near := spell.Nearest(name, names); near != "" {
		return failure.Usagef("%w\nhint: did you mean --%s?", err, near)
	}
	if word, known := elsewhereFlags[name]; known {
		return failure.Usagef("%w\nhint: here that is %s", err, word)
	}
	return failure.Usagef("%w", err)
}

// elsewhereFlags maps flags of other bots to their equivalents in botd.
var elsewhereFlags = map[string]string{
	"timerange": "--from 2024-01-01 --to 2024-02-01", "timeframe": "interval in the strategy's file", "timeframe-detail": "--detail FILE",
	"strategy-list": "-s several times", "pairs": "symbol in the strategy's file", "fee": "backtest: {fees: {taker: 0.0005}} in the strategy's file",
	"starting-balance": "backtest: {cash: 10000} in the strategy's file", "dry-run-wallet": "simulated: {futures: 10000} in botd.yaml",
	"export": "--out DIR", "export-filename": "--out DIR", "notes": "--note TEXT", "userdir": "-c DIR", "datadir": "--data FILE, or data_dir in botd.yaml",
	"epochs": "botd sweep run --vary NAME=FROM..TO..STEP", "param": "--vary NAME=VALUE,VALUE of botd sweep run", "logfile": "2> FILE",
	"db-url": "data_dir in botd.yaml",
}
