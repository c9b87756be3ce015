package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/shell"
	"botd/configs"
	"botd/exchange"
	"botd/internal/failure"
	"botd/internal/plural"
	"botd/internal/version"
	"botd/reconcile"
	"botd/reconcile/journal"
	"botd/reconcile/record"
	"botd/runtime"
	"botd/runtime/api"
	"botd/runtime/engine"
	"botd/runtime/ops"
	"botd/runtime/view"
)

// timedJournal measures commits, and shows what became durable.
type timedJournal struct {
	*journal.Journal
	metrics *ops.Metrics
	history *view.History
}

// Append makes the records durable and notes how long that took.
func (j timedJournal) Append(ctx context.Context, records []record.Record) error {
	began := time.Now()
	err := j.Journal.Append(ctx, records)
	j.metrics.Commit(time.Since(began), err)
	if err == nil {
		for i := range records {
			j.history.Take(&records[i])
		}
	}
	return err
}

// statusEvery bounds how often the board is drawn anew.
const statusEvery = 250 * time.Millisecond

// drive runs the engine with everything that watches it, until the context ends.
func drive(ctx context.Context, command *cobra.Command, config *configs.Config, flags runFlags, directory string, v *venue, store *journal.Journal, machine *engine.Engine, history *view.History) error {
	info := version.Read()
	build := ops.Build{Version: info.Version, Revision: info.Revision, Go: info.Go}
	metrics := newMetrics(config, build, directory, v, machine)
	board, logs := view.NewBoard(string(config.Mode), config.Instance), ops.NewLogs()
	board.Unclean(v.unclean)
	console, err := newConsole(command, flags, metrics, logs)
	if err != nil {
		return err
	}
	watchLevel(ctx, logs, console)
	watched := newSupervisor()
	kept := startRecording(config, directory, metrics, console)
	defer kept.close()
	defer keepDecisions(config, directory, board, console).Close()
	var drawn time.Time
	began, reconciled := time.Now(), false
	driver := runtime.New(runtime.Config{
		Machine: machine, Venue: v.trading, Journal: timedJournal{store, metrics, history}, Clock: v.client, Shutdown: config.Shutdown, StopTimeout: stopTimeout(config.Shutdown),
		Notes: kept.before(func(n *engine.Note) {
			metrics.Note(n)
			board.Note(n)
			console.Note(n)
			watched.note(n)
			if declares(n.Fact) {
				drawn = time.Time{} // shown at once
			}
			if round, is := n.Fact.(engine.NoteRound); is && round.Complete && !reconciled {
				reconciled = true
				tellReconciled(console, machine, time.Since(began))
			}
		}),
		Beat: func(int64) {
			if now := time.Now(); now.Sub(drawn) >= statusEvery {
				drawn = now
				status := machine.Status()
				status.Degraded = append(status.Degraded, v.stale.declared()...)
				metrics.Status(&status)
				board.Show(status)
				return
			}
			board.Beat()
		},
	})
	stopNotices, err := startNotices(config, metrics, logs, console, driver, machine)
	if err != nil {
		return err
	}
	defer stopNotices()
	greet(console, config, v, directory, machine)
	clock := newClockwork(config, metrics, board, console, v.client)
	reloads := newReloader(config, flags.loaded, func() (*configs.Config, configs.Problems, error) {
		return load(flags.directory, configs.Mode(flags.mode))
	})
	reloads.driver, reloads.machine, reloads.console, reloads.metrics, reloads.report, reloads.feed = driver, machine, console, metrics, board.Report, v.feed
	reloads.symbols = func(key exchange.SymbolKey) (*exchange.Symbol, bool) { return v.client.Symbols().Symbol(key) }
	stopServer, err := serve(ctx, command, serving{config, reloads.current.Load, directory, v, console, api.Config{Board: board, History: history, Logs: logs, Metrics: metrics, Driver: driver, Engine: machine, Build: build, Reload: reloads.Reload}})
	if err != nil {
		return err
	}
	stopSignals, err := startSignals(config, reloads.current.Load, metrics, console, driver)
	if err != nil {
		return errors.Join(err, stopServer())
	}
	stopBeside := beside(context.WithoutCancel(ctx), // stopping still signs
		func(ctx context.Context) { v.client.TrackClock(ctx, clockEvery, clock.take) },
		reloads.watch,
		(&hearing{directory: directory, config: reloads.current.Load, send: driver.Send}).watch,
		func(ctx context.Context) { kept.keepFunding(ctx, v.client, reloads.futures) })
	watched.ready(string(config.Mode) + " on " + v.where)
	context.AfterFunc(ctx, watched.stopping)
	v.began = true
	err = driver.Run(ctx)
	stopBeside()
	farewell(console, machine.OpenLeft(), reconciled)
	if stopped := errors.Join(stopSignals(), stopServer()); err == nil {
		err = stopped
	}
	return runError(err)
}

// beside lets tasks go on until stop is called, which waits for their end.
func beside(ctx context.Context, tasks ...func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	for _, task := range tasks {
		group.Go(func() { task(ctx) })
	}
	return func() { cancel(); group.Wait() }
}

// newMetrics begins to measure what there is already.
func newMetrics(config *configs.Config, build ops.Build, directory string, v *venue, machine *engine.Engine) *ops.Metrics {
	metrics := ops.NewMetrics(string(config.Mode), build)
	v.observe.metrics.Store(metrics)
	metrics.Unclean(v.unclean)
	metrics.Leads(true, time.Time{}) // the data directory is locked
	metrics.WatchPauses(v.client.PausedUntil)
	machine.Measure(metrics.Measure)
	watchStore(metrics, directory)
	return metrics
}

// watchStore has metrics of the journal's files and of its last backup.
func watchStore(metrics *ops.Metrics, directory string) {
	path := filepath.Join(directory, journal.FileName)
	metrics.WatchFile("journal", path)
	metrics.WatchFile("journal_log", path+"-wal")
	metrics.WatchBackup(func() time.Time { return lastBackup(directory) })
}

// stopTimeout is how long stopping may take: case 33 for what is in flight, more
// where something is to be canceled or closed first.
func stopTimeout(shutdown string) time.Duration {
	if shutdown == engine.ShutdownLeave {
		return runtime.DefaultStopTimeout
	}
	return 3 * runtime.DefaultStopTimeout
}

func newConsole(command *cobra.Command, flags runFlags, metrics *ops.Metrics, logs *ops.Logs) (*ops.Console, error) {
	format := ops.Format{JSON: !shell.Terminal(command.ErrOrStderr()), Colour: shell.Colours(command, command.ErrOrStderr())}
	switch flags.logFormat {
	case "auto":
	case "json":
		format.JSON = true
	case "console":
		format.JSON = false
	default:
		return nil, failure.Usagef("--log-format %s: auto, console or json", flags.logFormat)
	}
	if level := cmp.Or(flags.logLevel, shell.GlobalsOf(command.Context()).Level()); level != "" {
		if err := logs.SetLevel(level); err != nil {
			return nil, failure.Usagef("--log-level %s: one of %s", level, strings.Join(ops.Levels, ", "))
		}
	}
	return ops.NewConsole(command.ErrOrStderr(), format, metrics, logs), nil
}

// greet says what begins, and in which state it was left.
func greet(console *ops.Console, config *configs.Config, v *venue, directory string, machine *engine.Engine) {
	console.Say("daemon.started", "botd      %s on %s; %s; data in %s; Ctrl-C stops", config.Mode, v.where, plural.Of(len(config.Strategies), "strategy"), directory)
	for i := range config.Strategies {
		s := &config.Strategies[i]
		console.Say("daemon.strategy", "strategy  %s: %s on %s %s, %s", s.Name, s.Kind, s.Market, s.Symbol, s.Schedule)
	}
	v.tell.to(console)
	if v.older != "" {
		console.Warn("journal.migrated", "journal   was an older botd's and is brought up to date; a backup is %s", v.older)
	}
	if v.cut != "" {
		console.Warn("journal.cut", "journal   %s; orders it does not know are found on the exchange, nothing else of them is known. botd journal verify; if an older journal was put there on purpose, remove the .head file beside it", v.cut)
	}
	if v.unclean {
		console.Warn("daemon.unclean", "restart   the run before this one did not end by a clean stop; what it left open is found out first")
	}
	if halt := machine.Book().Halted(); halt.Level != reconcile.LevelNone {
		console.Warn("trading.halted", "HALTED    %s: %s; botd rearm ends it", halt.Level, halt.Why)
	}
}

// declares reports whether a note is about a declared state, which nobody is to
// miss for the board's sake.
func declares(fact engine.Fact) bool {
	switch fact.(type) {
	case engine.NoteHalt, engine.NoteQuarantine, engine.NoteBlind, engine.NoteFrozen, engine.NoteBreaker, engine.NoteLimit, engine.NoteLatch, engine.NoteStrategyFailed, engine.NoteJournal, engine.NoteReload, engine.NoteTightened:
		return true
	}
	return false
}

// tellReconciled says that the start knows where it stands: from here on whatever
// is open is looked after.
func tellReconciled(console *ops.Console, machine *engine.Engine, took time.Duration) {
	unknown := 0
	for _, p := range machine.Book().Live() {
		if p.State == reconcile.Uncertain { // what this run has just sent is not
			unknown++
		}
	}
	text := "nothing is unknown"
	if unknown > 0 {
		text = fmt.Sprintf("%d placements of the run before are unknown and are found out; nothing opens on their symbols until then", unknown)
	}
	console.Say("daemon.reconciled", "known     orders and positions, %s after the start; %s", took.Round(time.Millisecond), text)
}

// farewell says what stays open, as far as that was read.
func farewell(console *ops.Console, left []string, read bool) {
	if !read {
		console.Say("daemon.stopped", "stopped   before orders and positions were read; whatever the run before left open is still there")
		return
	}
	if len(left) == 0 {
		console.Say("daemon.stopped", "stopped   nothing is left open")
		return
	}
	for _, line := range left {
		console.Say("daemon.left_open", "left open %s", line)
	}
	console.Say("daemon.stopped", "stopped   the next start finds these again and carries on")
}

// runError gives the end of a run its exit code. A signal is a clean end.
func runError(err error) error {
	var internal *runtime.InternalError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &internal):
		return failure.Wrap(failure.Internal, fmt.Errorf("%w\nhint: this is a bug; nothing was sent after it", err))
	case errors.Is(err, journal.ErrBroken):
		return failure.New(failure.IO, "look at the disk; the next start replays what is there and finds out the rest", "%w", err)
	case errors.Is(err, runtime.ErrUnwritten):
		return failure.New(failure.IO, "make room on the disk of data_dir", "%w", err)
	}
	return err
}
