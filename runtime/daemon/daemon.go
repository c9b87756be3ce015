// Package daemon runs the daemon: exchange, journal, engine, and everything that watches and serves it.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"time"

	"botd/configs"
	"botd/configs/engineconfig"
	"botd/internal/disk"
	"botd/internal/failure"
	"botd/internal/privatefile"
	"botd/reconcile"
	"botd/reconcile/journal"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/runtime"
	"botd/runtime/api"
	"botd/runtime/engine"
	"botd/runtime/gateway"
	"botd/runtime/haltfile"
	"botd/runtime/lane"
	"botd/runtime/notify"
	"botd/runtime/ops"
	"botd/runtime/reload"
	"botd/runtime/view"
	"botd/runtime/worker"
)

// Options are the parameters of a run besides its configuration.
type Options struct {
	Read func() (*configs.Config, configs.Problems, error) // reads the configuration's files again
	Seen string                                            // fingerprint of the files as they were read

	ReadLoaded func() (*configs.Config, configs.Problems, error) // reads them like the start, with the strategies that have answered since
	Loaded     <-chan struct{}                                   // holds a value when one has

	Market   gateway.DemoMarket
	Stderr   io.Writer // of the log
	Terminal bool      // stderr is one
	Colors   bool      // it shows colors

	Restartable bool // this process is a program that can be started again, for sweeps

	LogFormat string // auto, console or json
	LogLevel  string // empty for the log's own
}

// process is one run of the daemon: its parts, from the inside out.
type process struct {
	Options
	config    *configs.Config
	directory string // of the mode's data
	network   gateway.Network
	accept    func(address string, access api.Access) (net.Listener, error) // of signals and the API
	venue     *gateway.Exchange
	older     string  // the backup of a journal that an older botd wrote; empty for none
	unclean   bool    // the previous run did not end with a clean stop
	driven    bool    // the engine was driven
	outage    *outage // for the exchange; nil once it is reached
	limited   pauses

	lock       *journal.Holder // of the data directory
	store      *journal.Journal
	key        *journal.Key // of its chain; nil for none
	history    *view.History
	backlog    *backlog  // the journal's records that the history has not taken yet
	diskSpace  diskSpace // on the disk of the data
	replayed   int64     // records after the newest checkpoint at the start
	machine    *engine.Engine
	metrics    *ops.Metrics
	board      *view.Board
	logs       *ops.Logs
	console    *ops.Console
	notifier   *notify.Notifier // nil without channels
	trades     *trades
	supervisor *ops.Supervisor
	recording  recording
	driver     *runtime.Driver
	workers    worker.Pool // the strategies, off the engine
	lane       *lane.Lane  // nil while the exchange is waited for
	laneFile   *lane.File
	laneStart  placement.Start
	listed     uint64 // the tracker's version when the lane was shown the list
	reloads    *reload.Reloader

	began      time.Time // of driving
	drawn      time.Time // when the board was
	reconciled bool      // a round was complete
}

// Run starts all parts from the inside out and stops them in reverse order.
func Run(ctx context.Context, config *configs.Config, o Options) error {
	return newProcess(config, o).run(ctx)
}

func newProcess(config *configs.Config, o Options) *process {
	directory := filepath.Join(config.DataDir, string(config.Mode))
	return &process{Options: o, config: config, directory: directory, diskSpace: diskSpace{directory: directory, measure: disk.Free}, accept: api.Listen,
		supervisor: ops.NewSupervisor()}
}

func (p *process) run(ctx context.Context) error {
	config := p.config
	if err := engineconfig.Supported(config); err != nil {
		return err
	}
	var err error
	if p.console, err = p.newConsole(nil, ops.NewLogs()); err != nil { // until the engine is watched
		return err
	}
	if err := withoutCore(); err != nil {
		return failure.Wrap(failure.IO, err)
	}
	if err := privatefile.Check(config.DataDir, p.directory); err != nil {
		return failure.Wrap(failure.Config, err)
	}
	if err := journal.CheckWritable(p.directory); err != nil {
		return failure.Wrap(failure.IO, err)
	}
	if p.lock, err = journal.Hold(p.directory); err != nil {
		return failure.Wrap(failure.Temporary, err)
	}
	defer p.lock.Release()
	if p.venue, err = gateway.Open(ctx, config, p.directory, p.Market, p.network); err != nil {
		return err
	}
	clean, unclean, err := runtime.Mark(p.directory)
	if err != nil {
		return failure.Wrap(failure.IO, errors.Join(err, p.venue.Stop()))
	}
	p.unclean = unclean
	if err = p.reach(ctx); err == nil && ctx.Err() == nil {
		err = p.trade(ctx)
	}
	err = errors.Join(err, p.venue.Stop())
	if refused := !p.driven && !unclean; err == nil && p.driven || refused { // a start that was refused, or ended while waiting, interrupted nothing
		err = errors.Join(err, failure.Wrap(failure.IO, clean()))
	}
	return err
}

// trade replays the journal, builds the engine and drives it until the context ends.
func (p *process) trade(ctx context.Context) (err error) {
	secret, err := p.config.JournalKey()
	if err != nil {
		return failure.Wrap(failure.Config, err)
	}
	path := filepath.Join(p.directory, journal.FileName)
	p.key = journal.NewKey(secret)
	if left := journal.Leftover(path); left != "" {
		return failure.New(failure.Config, journal.RestoreHint(left)+"; if you move "+left+" away, botd starts "+
			"without the halts, limits and orders recorded in it", "journal %s was lost during a run, and %s contains records that it lacks", path, left)
	}
	if p.older, err = journal.BackupOlder(ctx, path, p.key); err != nil {
		return err
	}
	if p.store, err = journal.Open(ctx, path, p.venue.Binding, journal.Options{Key: p.key}); err != nil {
		return journal.Failure(err)
	}
	defer p.store.Close()
	if cut := p.store.Cut(); cut != "" {
		return failure.Wrap(failure.Config, fmt.Errorf("%s\nhint: it was cut, rewritten, or replaced by an older one: orders that it lacks would be "+
			"foreign to botd. Restore the right one (botd restore), or examine this one with botd journal verify and accept it as it is with "+
			"botd journal head --accept", cut))
	}
	p.history = view.NewHistory()
	tracker, err := p.restore(ctx)
	if err != nil {
		return err
	}
	if err := haltfile.Replay(ctx, p.config, p.directory, p.venue.Client.ServerNowMS(), p.store, p.key, tracker, p.history); err != nil {
		return err
	}
	account, err := p.account(tracker)
	if err != nil {
		return err
	}
	account.Account, account.Checkpoint, account.Replayed = p.venue.Binding.Text(), journal.CheckpointEvery, p.replayed
	if err := p.openLane(ctx, &account, tracker); err != nil {
		return err
	}
	defer p.laneFile.Close()
	if p.machine, err = engine.New(account, tracker); err != nil {
		return failure.Wrap(failure.Config, err)
	}
	if p.outage != nil {
		return p.serveUntilReached(ctx)
	}
	if err = p.drive(ctx); err != nil {
		return err
	}
	if final, whole := p.machine.Final(); whole && p.store.Records() > journal.FewRecords {
		err = p.store.Append(context.WithoutCancel(ctx), []record.Record{final})
	}
	return failure.Wrap(failure.IO, err)
}

// account configures the engine: without strategies while the exchange is awaited, since their
// symbols are not known yet.
func (p *process) account(tracker *reconcile.Tracker) (engine.Config, error) {
	config := *p.config
	if p.outage != nil {
		config.Strategies = nil
	}
	account, err := engineconfig.Account(&config, tracker, p.venue.Client.Symbols().Symbol)
	account.ConfigHash, account.Offload = p.config.Hash(), true
	return account, err
}
