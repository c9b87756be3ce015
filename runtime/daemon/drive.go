package daemon

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"botd/configs"
	"botd/exchange"
	"botd/exchange/polling"
	"botd/internal/disk"
	"botd/internal/failure"
	"botd/internal/plural"
	"botd/internal/version"
	"botd/reconcile/journal"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/runtime"
	"botd/runtime/backups"
	"botd/runtime/engine"
	"botd/runtime/haltfile"
	"botd/runtime/ops"
	"botd/runtime/reload"
	"botd/runtime/view"
)

// timedJournal measures commits, and passes durable records to the history.
type timedJournal struct {
	*journal.Journal
	metrics *ops.Metrics
	history *backlog
}

// Append makes the records durable and notes how long that took.
func (j timedJournal) Append(ctx context.Context, records []record.Record) error {
	began := time.Now()
	err := j.Journal.Append(ctx, records)
	j.metrics.Commit(time.Since(began), err)
	if err == nil {
		for i := range records {
			j.history.Apply(&records[i])
		}
	}
	return err
}

// statusEvery bounds how often the board is drawn again.
const statusEvery = 250 * time.Millisecond

// drive runs the engine with its observers, until the context ends.
func (p *process) drive(ctx context.Context) error {
	if err := p.watch(ctx); err != nil {
		return err
	}
	defer p.storeLogs()()
	defer p.recording.close()
	defer p.keepDecisions().Close()
	p.began = time.Now()
	defer p.workers.Close()
	p.workers.Measure = p.metrics.Measure
	p.makeLane(runtime.Config{
		Strategies: &p.workers, Machine: p.machine, Venue: p.venue.Trading, Journal: timedJournal{p.store, p.metrics, p.backlog}, Clock: p.venue.Client,
		Shutdown: p.config.Shutdown, StopTimeout: stopTimeout(p.config.Shutdown), Notes: p.recording.before(p.note), Beat: p.redraw,
	})
	stopNotices, err := p.startNotices()
	if err != nil {
		return err
	}
	defer stopNotices()
	stopHeartbeat, err := p.startHeartbeat()
	if err != nil {
		return err
	}
	defer stopHeartbeat()
	defer p.trackIncidents()()
	p.logStart()
	clock := newClockwork(p.config, p.metrics, p.board, p.console, p.venue.Client)
	p.reloads = reload.New(p.config, p.Seen, p.Read)
	p.reloads.Driver, p.reloads.Machine, p.reloads.Console, p.reloads.Metrics = p.driver, p.machine, p.console, p.metrics
	p.reloads.Report, p.reloads.Feed, p.reloads.Symbols = p.board.Report, p.venue.Watch, p.venue.Client.Symbols().Symbol
	p.reloads.Relist = p.venue.Client.RefreshSymbols
	p.reloads.Loaded, p.reloads.ReadLoaded = p.Loaded, p.ReadLoaded
	stopServer, err := p.serve(ctx)
	if err != nil {
		return err
	}
	stopSignals, err := p.startSignals()
	if err != nil {
		return errors.Join(err, stopServer())
	}
	stopBackground := inBackground(context.WithoutCancel(ctx), // stopping still signs
		func(ctx context.Context) {
			p.venue.Client.TrackClock(ctx, polling.ClockMS*time.Millisecond, clock.observe)
		},
		p.reloads.Run,
		p.lane.Run,
		(&haltfile.Watcher{Directory: p.directory, Config: p.reloads.Current.Load, Code: p.key.Coder(haltfile.Kind), Send: p.lane.Send,
			Log: p.console.Warn}).Run,
		p.backlog.run,
		p.diskSpace.run,
		releaseMemory,
		p.watchKeys,
		func(ctx context.Context) { p.recording.keepFunding(ctx, p.venue.Client, p.reloads.Futures) })
	p.supervisor.Ready(string(p.config.Mode) + " on " + p.venue.Where)
	context.AfterFunc(ctx, p.supervisor.Stopping)
	p.driven = true
	err = p.driver.Run(ctx)
	stopBackground()
	logLeftOpen(p.console, p.machine.OpenLeft(), p.reconciled)
	if stopped := errors.Join(stopSignals(), stopServer()); err == nil {
		err = stopped
	}
	return Failure(err)
}

// watch creates the parts that measure, show and report the engine.
func (p *process) watch(ctx context.Context) (err error) {
	p.measure()
	p.board, p.logs = view.NewBoard(string(p.config.Mode), p.config.Instance), ops.NewLogs()
	p.board.Unclean(p.unclean)
	if p.console, err = p.newConsole(p.metrics, p.logs); err != nil {
		return err
	}
	ops.ToggleDebug(ctx, p.logs, p.console)
	p.recording = startRecording(p.config, p.directory, p.metrics, p.console)
	p.limited = pauses{until: p.venue.Client.PausedUntil, warn: p.console.Warn}
	p.startTrades()
	return nil
}

// storeLogs stores the log on disk until stop is called.
func (p *process) storeLogs() (stop func()) {
	if p.config.Retention.LogsMiB == 0 {
		return func() {}
	}
	file := ops.OpenLogFile(p.directory, p.config.Retention.LogsMiB, disk.Free, func(err error) {
		go p.console.Warn("log.store_failed", "log       cannot be stored on disk: %v; trading is not affected", err) // not from within a line of the log
	})
	p.logs.Store(file)
	return func() { p.logs.Store(nil); file.Close() }
}

// note passes a note to all observers.
func (p *process) note(n *engine.Note) {
	p.metrics.Note(n)
	p.board.Note(n)
	p.console.Note(n)
	p.trades.note(n)
	p.supervisor.Note(n)
	if _, is := n.Fact.(engine.NoteHalt); is && p.outage != nil {
		p.outage.wake()
	}
	if declares(n.Fact) {
		p.drawn = time.Time{} // shown at once
	}
	if round, is := n.Fact.(engine.NoteRound); is && round.Complete && !p.reconciled {
		p.reconciled = true
		logReconciled(p.console, p.machine, time.Since(p.began))
	}
}

// redraw draws the board again, now and then.
func (p *process) redraw(int64) {
	now := time.Now()
	if now.Sub(p.drawn) < statusEvery {
		p.showLane(nil)
		p.board.Beat()
		return
	}
	p.drawn = now
	status := p.machine.Status()
	status.Degraded = slices.Concat(status.Degraded, p.venue.Degraded(), p.reloads.Degraded(), p.limited.states(now, status.NowMS))
	if p.outage != nil {
		status.Degraded = append(status.Degraded, p.outage.degraded())
	}
	p.showLane(&status)
	p.metrics.Status(&status)
	p.board.Show(status)
	p.metrics.Incidents(p.board.OpenIncidents())
}

// inBackground lets tasks go on until stop is called, which waits for their end.
func inBackground(ctx context.Context, tasks ...func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	for _, task := range tasks {
		group.Go(func() { task(ctx) })
	}
	return func() { cancel(); group.Wait() }
}

// measure initializes the metrics with the existing state.
func (p *process) measure() {
	p.metrics = ops.NewMetrics(string(p.config.Mode), program())
	p.venue.Measure(p.metrics)
	p.metrics.Unclean(p.unclean)
	p.metrics.Leads()
	p.metrics.WatchPauses(p.venue.Client.PausedUntil)
	p.machine.Measure(p.metrics.Measure)
	watchStore(p.metrics, p.directory)
}

// program describes the running build for metrics and API.
func program() ops.Build {
	info := version.Read()
	return ops.Build{Version: info.Version, Revision: info.Revision, Go: info.Go}
}

// watchStore adds the metrics of the journal's files and of its last backup.
func watchStore(metrics *ops.Metrics, directory string) {
	path := filepath.Join(directory, journal.FileName)
	metrics.WatchFile("journal", path)
	metrics.WatchFile("journal_log", path+"-wal")
	metrics.WatchFree(func() (int64, bool) { return disk.Free(directory) })
	metrics.WatchBackup(func() time.Time { return backups.Last(directory) })
}

// stopTimeout bounds the time to stop: case 33 for requests in flight, more if orders are to be
// canceled or positions closed first.
func stopTimeout(shutdown string) time.Duration {
	if shutdown == engine.ShutdownLeave {
		return runtime.DefaultStopTimeout
	}
	return 3 * runtime.DefaultStopTimeout
}

// newConsole opens the log on stderr.
func (o *Options) newConsole(metrics *ops.Metrics, logs *ops.Logs) (*ops.Console, error) {
	format := ops.Format{JSON: !o.Terminal, Color: o.Colors}
	switch o.LogFormat {
	case "auto":
	case "json":
		format.JSON = true
	case "console":
		format.JSON = false
	default:
		return nil, failure.Usagef("--log-format %s: auto, console or json", o.LogFormat)
	}
	if o.LogLevel != "" {
		if err := logs.SetLevel(o.LogLevel); err != nil {
			return nil, failure.Usagef("--log-level %s: one of %s", o.LogLevel, strings.Join(ops.Levels, ", "))
		}
	}
	return ops.NewConsole(o.Stderr, format, metrics, logs), nil
}

// logStart logs the start, and the state that the previous run left.
func (p *process) logStart() {
	console, config := p.console, p.config
	console.Say("daemon.started", "botd      %s on %s; %s; data in %s; Ctrl-C stops", config.Mode, p.venue.Where,
		plural.Of(len(config.Strategies), "strategy"), p.directory)
	for i := range config.Strategies {
		s := &config.Strategies[i]
		key := exchange.SymbolKey{Market: s.Market, Name: s.Symbol}
		console.Of(s.Name, key).Say("daemon.strategy", "strategy  %s: %s on %s %s, %s", s.Name, s.Kind, s.Market, s.Symbol, s.Schedule)
	}
	limitMemory(memlimit.FromCgroup, console)
	p.venue.LogTo(console)
	if p.older != "" {
		console.Warn("journal.migrated", "journal   of an older botd was migrated; the backup is %s", p.older)
	}
	if p.config.Mode == configs.Live {
		for _, assumption := range p.config.Unmeasured() {
			console.Warn("exchange.unmeasured", "exchange  no probe has measured %s; botd probe --trade --out FILE does", assumption)
		}
	}
	if p.unclean {
		console.Warn("daemon.unclean", "restart   the previous run did not stop cleanly; what it left open is determined first")
	}
	if halt := p.machine.Tracker().Halted(); halt.Level != record.LevelNone {
		console.Warn("trading.halted", "HALTED    %s: %s; botd rearm ends it", halt.Level, halt.Reason)
	}
}

// declares reports whether a note is about a declared state, which the board must show at once.
func declares(fact engine.Fact) bool {
	switch fact.(type) {
	case engine.NoteHalt,
		engine.NoteQuarantine,
		engine.NoteContradicted,
		engine.NoteBlind,
		engine.NoteStalled,
		engine.NoteBreaker,
		engine.NoteLimit,
		engine.NoteLatch,
		engine.NoteStrategyFailed,
		engine.NoteHung,
		engine.NoteJournal,
		engine.NoteReload,
		engine.NoteLimitSet:
		return true
	}
	return false
}

// logReconciled logs that the start has read its state: from here on everything open is managed.
func logReconciled(console *ops.Console, machine *engine.Engine, took time.Duration) {
	uncertain := 0
	for p := range machine.Tracker().Live() {
		if p.State() == placement.Uncertain { // a request that this run has just sent is not uncertain
			uncertain++
		}
	}
	text := "nothing is uncertain"
	if uncertain > 0 {
		text = fmt.Sprintf("the outcome of %d placements of the previous run is uncertain; nothing opens on their symbols until it is known", uncertain)
	}
	console.Say("daemon.reconciled", "known     orders and positions, %s after the start; %s", took.Round(time.Millisecond), text)
}

// logLeftOpen logs the orders and positions that stay open, as far as they were read.
func logLeftOpen(console *ops.Console, left []string, read bool) {
	if !read {
		console.Say("daemon.stopped", "stopped   before orders and positions were read; whatever the previous run left open is still there")
		return
	}
	if len(left) == 0 {
		console.Say("daemon.stopped", "stopped   nothing is left open")
		return
	}
	for _, line := range left {
		console.Say("daemon.left_open", "left open %s", line)
	}
	console.Say("daemon.stopped", "stopped   the next start picks these up and continues")
}

// Failure sets the exit code of a run's error. A signal is a clean end.
func Failure(err error) error {
	var internal *runtime.InternalError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &internal):
		return failure.Wrap(failure.Internal, fmt.Errorf("%w\nhint: this is a bug; nothing was sent after it", err))
	case errors.Is(err, journal.ErrBroken):
		return failure.New(failure.IO, "check the disk; the next start replays the stored records and fetches the rest", "%w", err)
	case errors.Is(err, runtime.ErrNotDurable):
		return failure.New(failure.IO, "make room on the disk of data_dir", "%w", err)
	}
	return err
}
