// Package daemon holds the commands that run or query the daemon.
package daemon

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/connect"
	"botd/cmd/botd/cli/shell"
	"botd/configs"
	"botd/internal/failure"
	_ "botd/internal/hangup" // a reload must not kill a process that has just started
	"botd/runtime/daemon"
	"botd/runtime/gateway"
	"botd/runtime/ops"
	"botd/runtime/reload"
)

type runFlags struct {
	directory, mode, listen, logFormat, logLevel string
	market                                       gateway.DemoMarket
}

// NewRun returns the command botd run.
func NewRun() *cobra.Command {
	var flags runFlags
	command := &cobra.Command{
		Use: "run", Short: "run strategies: the daemon", Args: cobra.NoArgs,
		Long: `Runs the strategies of a configuration. Without flags it is a demo: a simulated exchange inside
botd with a moving market, three example strategies, no keys and no network; its account, orders
and positions are stored in ./data/demo, and the next start continues with them.

mode: paper trades a simulated account at a real venue's prices: it needs the venue's address but
no keys, and sends only public reads. Orders fill against the venue's own book and trades; the
account is stored in data_dir/paper.

Trading with real money must be set twice: mode: live in botd.yaml, and --mode live here.
Ctrl-C stops cleanly and lists what stays open on the exchange; a second one ends at once.`,
		Example: `  botd run
  botd run -c configs --mode paper      # with exchange: {base_url: https://...} in botd.yaml
  botd run -c configs --mode live       # with mode: live and keys in botd.yaml too`,
		RunE: func(command *cobra.Command, _ []string) error {
			return run(command, flags)
		},
	}
	connect.ConfigFlag(command, &flags.directory)
	command.Flags().StringVar(&flags.mode, "mode", "", "demo, paper or live; live requires mode: live in botd.yaml too")
	command.Flags().StringVar(&flags.listen, "listen", "", "address of metrics, health and API (default 127.0.0.1:8420; off for none)")
	command.Flags().StringVar(&flags.logFormat, "log-format", "auto", "console, json, or auto: console on a terminal")
	command.Flags().StringVar(&flags.logLevel, "log-level", "", strings.Join(ops.Levels, ", ")+" (default info; botd log-level changes it while it runs)")
	shell.CompleteWith(command, "log-level", ops.Levels...)
	command.Flags().Uint64Var(&flags.market.Seed, "seed", 1, "of the demo's market")
	command.Flags().Var((*timeFlag)(&flags.market.StartMS), "start", "where the clock of a new demo starts (RFC 3339, default now); the "+
		"same seed and start give the same market")
	return command
}

// Run runs the daemon on a directory, as botd run does.
func Run(command *cobra.Command, directory, mode, listen string) error {
	return run(command, runFlags{directory: directory, mode: mode, listen: listen, logFormat: "auto"})
}

// timeFlag is a time in milliseconds; 0 is none.
type timeFlag int64

func (f *timeFlag) Set(text string) error {
	given, err := time.Parse(time.RFC3339, text)
	if err != nil || given.UnixMilli() <= 0 {
		return fmt.Errorf("%q is not a time after 1970 such as 2026-01-01T00:00:00Z", text)
	}
	*f = timeFlag(given.UnixMilli())
	return nil
}

func (f *timeFlag) String() string {
	if *f == 0 {
		return ""
	}
	return time.UnixMilli(int64(*f)).UTC().Format(time.RFC3339)
}
func (*timeFlag) Type() string { return "time" }

// run reads the configuration and runs the daemon.
func run(command *cobra.Command, flags runFlags) error {
	read := func() (*configs.Config, configs.Problems, error) {
		ctx := command.Context()
		return connect.LoadWith(connect.Isolate(ctx, connect.Options(ctx, configs.Mode(flags.mode))), flags.directory)
	}
	tolerate, loaded := connect.Tolerate(command.Context())
	tolerant := func() (*configs.Config, configs.Problems, error) {
		return connect.LoadWith(tolerate(connect.Options(command.Context(), configs.Mode(flags.mode))), flags.directory)
	}
	config, err := connect.Checked(connect.CheckHint, tolerant)
	if err != nil {
		return err
	}
	seen := reload.Fingerprint(config)
	if err := config.Confirm(configs.Mode(flags.mode)); err != nil {
		return failure.Wrap(failure.Config, err)
	}
	if flags.listen != "" {
		config.Listen = flags.listen
		config.Override("listen")
	}
	stderr := command.ErrOrStderr()
	return daemon.Run(command.Context(), config, daemon.Options{
		Restartable: connect.Restartable(command.Context()),
		Read:        read, ReadLoaded: tolerant, Loaded: loaded,
		Seen: seen, Market: flags.market, Stderr: stderr, Terminal: shell.Terminal(stderr), Colors: shell.Colors(command, stderr),
		LogFormat: flags.logFormat, LogLevel: cmp.Or(flags.logLevel, shell.GlobalsOf(command.Context()).Level()),
	})
}
