package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/shell"
	"botd/configs"
	"botd/configs/engineconfig"
	"botd/exchange/rest"
	"botd/internal/failure"
	"botd/reconcile"
	"botd/reconcile/journal"
	"botd/reconcile/record"
	"botd/runtime"
	"botd/runtime/engine"
	"botd/runtime/ops"
	"botd/runtime/view"
)

// tellWaiting is how long a start waits for the exchange in silence.
const tellWaiting = 3 * time.Second

type runFlags struct {
	directory, mode, listen, logFormat, logLevel string
	loaded                                       string // fingerprint of the files as they were loaded
	market                                       demoStart
}

func newRun() *cobra.Command {
	var flags runFlags
	command := &cobra.Command{
		Use: "run", Short: "run strategies: the daemon", Args: cobra.NoArgs,
		Long: `Runs the strategies of a configuration. Without flags it is a demo: a simulated
exchange inside botd with a moving market, three example strategies, no keys and
no network; its paper account, orders and positions are kept in ./data/demo and
found again by the next start.

mode: paper trades a simulated account on a real venue's prices: it needs the venue's
address and no keys, and sends it nothing but public reads. Orders fill against the
venue's own book and trades; the account is kept in data_dir/paper.

Trading for real is asked for twice: mode: live in botd.yaml, and --mode live here.
Ctrl-C stops cleanly and says what stays open on the exchange; a second one ends at once.`,
		Example: `  botd run
  botd run -c configs --mode paper      # with exchange: {base_url: https://...} in botd.yaml
  botd run -c configs --mode live       # with mode: live and keys in botd.yaml too`,
		RunE: func(command *cobra.Command, _ []string) error {
			return run(command, flags)
		},
	}
	command.Flags().StringVarP(&flags.directory, "config", "c", "", "configuration directory (default ./configs, else the built-in examples)")
	command.Flags().StringVar(&flags.mode, "mode", "", "demo, paper or live; live must stand in botd.yaml too")
	command.Flags().StringVar(&flags.listen, "listen", "", "address of metrics, health and API (default 127.0.0.1:8420; off for none)")
	command.Flags().StringVar(&flags.logFormat, "log-format", "auto", "console, json, or auto: console on a terminal")
	command.Flags().StringVar(&flags.logLevel, "log-level", "", strings.Join(ops.Levels, ", ")+" (default info; botd log-level changes it while it runs)")
	shell.CompleteWith(command, "log-level", ops.Levels...)
	command.Flags().Uint64Var(&flags.market.seed, "seed", 1, "of the demo's market")
	command.Flags().Var((*timeFlag)(&flags.market.startMS), "start", "where the clock of a new demo starts (RFC 3339, default now); the same seed and start give the same market")
	return command
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

// run starts everything from the inside out and stops it in the other order.
func run(command *cobra.Command, flags runFlags) error {
	config, problems, err := load(flags.directory, configs.Mode(flags.mode))
	if err != nil {
		return err
	}
	if err := problems.Err(); err != nil {
		return failure.New(failure.Config, "botd check shows all of it", "%s", problems.String())
	}
	flags.loaded = filesOf(config)
	if err := config.Confirm(configs.Mode(flags.mode)); err != nil {
		return failure.Wrap(failure.Config, err)
	}
	if err := engineconfig.Supported(config); err != nil {
		return err
	}
	if flags.listen != "" {
		config.Listen = flags.listen
		config.Override("listen")
	}
	directory := filepath.Join(config.DataDir, string(config.Mode))
	if err := journal.CheckWritable(directory); err != nil {
		return failure.Wrap(failure.IO, err)
	}
	release, err := journal.Lock(directory)
	if err != nil {
		return failure.Wrap(failure.Temporary, err)
	}
	defer release()
	waits := time.AfterFunc(tellWaiting, func() { // there is no log yet
		fmt.Fprintf(command.ErrOrStderr(), "no answer yet from %s: waiting for it; botd halt is kept for the start meanwhile\n", cmp.Or(config.Exchange.BaseURL, "the exchange"))
	})
	v, err := openVenue(command.Context(), config, directory, flags.market)
	waits.Stop()
	if err != nil {
		return err
	}
	clean, unclean, err := runtime.Mark(directory)
	if err != nil {
		return failure.Wrap(failure.IO, errors.Join(err, v.stop()))
	}
	v.unclean = unclean
	err = errors.Join(trade(command.Context(), command, config, flags, directory, v), v.stop())
	if refused := !v.began && !unclean; err == nil || refused { // a start that was refused cut nothing off
		err = errors.Join(err, failure.Wrap(failure.IO, clean()))
	}
	return err
}

// venue is the exchange traded on, as the daemon reaches it.
type venue struct {
	client  *rest.Client  // clock, symbols, public data
	trading runtime.Venue // the same, or the paper account beside it
	where   string        // for people: the address, and what it is
	binding journal.Binding
	stop    func() error // ends the embedded exchange; it must be called
	observe *observed
	tell    heard
	stale   staleFeeds // paper alone
	older   string     // the backup of a journal that an older botd wrote; empty for none
	cut     string     // what the journal lacks of what it held; empty for nothing
	unclean bool       // the run before this one did not end by a clean stop
	began   bool       // the engine was driven
}

// trade replays the journal, builds the engine and drives it until the context ends.
func trade(ctx context.Context, command *cobra.Command, config *configs.Config, flags runFlags, directory string, v *venue) error {
	path := filepath.Join(directory, journal.FileName)
	older, err := backupOlder(ctx, path)
	if err != nil {
		return err
	}
	v.older = older
	store, err := journal.Open(ctx, path, v.binding)
	if err != nil {
		return journal.Failure(err)
	}
	defer store.Close()
	v.cut = store.Cut()
	book, history := reconcile.NewBook(engineconfig.Settle(config.Exchange.Settle)), view.NewHistory()
	if err := replay(ctx, command, flags, store, func(r *record.Record) { book.Apply(r); history.Take(r) }); err != nil {
		return err
	}
	if err := takeHalts(ctx, config, directory, v.client.ServerNowMS(), store, book, history); err != nil {
		return err
	}
	machine, err := newEngine(config, book, v.client, v.binding)
	if err != nil {
		return err
	}
	return drive(ctx, command, config, flags, directory, v, store, machine, history)
}

// newEngine gives each strategy its symbol's rules as the venue tells them.
func newEngine(config *configs.Config, book *reconcile.Book, client *rest.Client, binding journal.Binding) (*engine.Engine, error) {
	account, err := engineconfig.Account(config, book, client.Symbols().Symbol)
	if err != nil {
		return nil, err
	}
	account.Account = binding.Text()
	machine, err := engine.New(account, book)
	return machine, failure.Wrap(failure.Config, err)
}
