// Package reload applies a changed configuration to a running daemon, as a whole or not at all.
package reload

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"botd/configs"
	"botd/configs/engineconfig"
	"botd/exchange"
	"botd/reconcile/record"
	"botd/runtime"
	"botd/runtime/api"
	"botd/runtime/engine"
	"botd/runtime/ops"
)

// filesEvery is how often the configuration's files are checked.
const filesEvery = 2 * time.Second

// How often the exchange's symbols are read again while the start found none for a strategy, and how long that may take.
const (
	relistEvery = 3 * time.Second // a halt may wait for it
	relistMost  = 5 * time.Second
)

// Reloader applies changed, new and removed strategies and changed limits while the daemon runs: at
// a SIGHUP, and when a file of the configuration has changed. A configuration with an error changes
// nothing, and neither does one with a change that needs a restart: half of a change, such as a
// larger size without its limit, must never run.
type Reloader struct {
	Current atomic.Pointer[configs.Config]
	load    func() (*configs.Config, configs.Problems, error) // reads the files
	seen    string                                            // fingerprint of the files as they were loaded
	Driver  *runtime.Driver
	Machine *engine.Engine
	Symbols func(exchange.SymbolKey) (*exchange.Symbol, bool)
	Relist  func(context.Context) error // reads the exchange's symbols again
	Feed    func(exchange.SymbolKey)    // paper: has a symbol fed from now on
	Console *ops.Console
	Metrics *ops.Metrics
	Report  func(ops.Check)

	Loaded     <-chan struct{}                                   // holds a value when a process that the start did not wait for has answered
	ReadLoaded func() (*configs.Config, configs.Problems, error) // reads the files like the start

	absent   Absences
	held     []string // absent since the start, while they hold something
	loaded   string   // how the current configuration was loaded
	requests chan request
}

// New starts from the files as they were when they were loaded: a change during the start of botd
// is noticed too.
func New(config *configs.Config, seen string, load func() (*configs.Config, configs.Problems, error)) *Reloader {
	r := &Reloader{seen: seen, load: load, loaded: "loaded at start", requests: make(chan request)}
	r.Current.Store(config)
	return r
}

// Futures returns the futures symbols that are traded now.
func (r *Reloader) Futures() []string { return futuresTraded(r.Current.Load()) }

// Run reloads until the context ends. The built-in examples never change.
func (r *Reloader) Run(ctx context.Context) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP) // until the end of the process: a SIGHUP while stopping does not end it either
	poll, relist := time.NewTicker(filesEvery), time.NewTicker(relistEvery)
	defer poll.Stop()
	defer relist.Stop()
	seen, settling := r.seen, ""
	_ = r.Driver.Query(ctx, func() { r.held = r.Machine.Absent() }) // a stopping daemon has none
	if len(r.held) > 0 {
		r.reload(ctx, "a file is absent")
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-signals:
			seen = Fingerprint(r.Current.Load())
			r.reload(ctx, "SIGHUP")
		case asked := <-r.requests:
			if !asked.trial {
				seen, settling = Fingerprint(r.Current.Load()), ""
			}
			does, err := r.apply(ctx, r.load, "botd config reload", asked.trial, asked.audit)
			asked.answer <- answer{does, err}
		case <-r.Loaded:
			if r.awaits(ctx) && Fingerprint(r.Current.Load()) == seen { // changed files are read as a whole
				_, _ = r.apply(ctx, r.ReadLoaded, "a process has answered", false, fileAudit()) // logged
			}
		case <-relist.C:
			if r.listsMissing(ctx) && Fingerprint(r.Current.Load()) == seen {
				r.reload(ctx, "the exchange lists its symbol again")
			}
		case <-poll.C:
			now := Fingerprint(r.Current.Load())
			switch {
			case now == seen:
				if settling = ""; r.absent.pending() {
					r.reload(ctx, "a file is absent")
				}
			case now != settling: // wait until the editor has written all of it
				settling = now
			default:
				seen, settling = now, ""
				r.reload(ctx, "a file changed")
			}
		}
	}
}

// Fingerprint changes when a file of the configuration does.
func Fingerprint(config *configs.Config) string {
	present := map[string]string{}
	read := func(file string) {
		if info, err := os.Stat(file); err == nil {
			present[filepath.Clean(file)] = fmt.Sprintf("%s %d %d\n", filepath.Clean(file), info.Size(), info.ModTime().UnixNano())
		}
	}
	for _, file := range config.Files {
		read(file)
	}
	folder := filepath.Join(config.Directory, configs.StrategyFolder)
	listed, _ := fs.Glob(os.DirFS(folder), "[^.]*.yaml") // the pattern is good; the directory's own name may hold any character
	for _, file := range listed {
		read(filepath.Join(folder, file))
	}
	for i := range config.Strategies {
		s := &config.Strategies[i]
		for _, file := range s.Script.Paths() {
			read(filepath.Join(filepath.Dir(s.File), file))
		}
	}
	return strings.Join(slices.Sorted(maps.Values(present)), "")
}

// reload reads the configuration again and applies its changes: all at one moment, or none.
func (r *Reloader) reload(ctx context.Context, why string) {
	_, _ = r.apply(ctx, r.load, why, false, fileAudit()) // logged
}

func fileAudit() *record.Audit {
	return &record.Audit{Actor: "file", Role: "operator", Action: "reload"}
}

// awaits reports whether a substitute is in the place of a strategy.
func (r *Reloader) awaits(ctx context.Context) (awaits bool) {
	_ = r.Driver.Query(ctx, func() { awaits = len(r.Machine.Substitutes()) > 0 }) // a stopping daemon awaits nothing
	return awaits
}

// missing returns the strategies whose symbols the exchange did not list at the start.
func (r *Reloader) missing(ctx context.Context) (names map[string]exchange.SymbolKey) {
	_ = r.Driver.Query(ctx, func() { names = r.Machine.Missing() }) // a stopping daemon starts none
	return names
}

// listsMissing reads the exchange's symbols again if it did not list that of a strategy at the start, and reports whether it lists one now.
func (r *Reloader) listsMissing(ctx context.Context) bool {
	missing := r.missing(ctx)
	if len(missing) == 0 {
		return false
	}
	within, cancel := context.WithTimeout(ctx, relistMost)
	defer cancel()
	if err := r.Relist(within); err != nil {
		return false // the next read may succeed; failing reads are declared elsewhere
	}
	for _, key := range missing {
		if _, listed := r.Symbols(key); listed {
			return true
		}
	}
	return false
}

// apply performs a reload of what read returns, or a trial that changes and reports nothing.
func (r *Reloader) apply(ctx context.Context, read func() (*configs.Config, configs.Problems, error), why string, trial bool,
	audit *record.Audit) (does []string, err error) {
	refused := func(event, format string, err error) ([]string, error) {
		if !trial {
			r.refused(event, "config    "+format, why, err)
		}
		return nil, &api.Refused{Reason: err.Error()}
	}
	config, problems, err := read()
	if err == nil {
		err = problems.Err()
	}
	if err != nil {
		return refused("config.rejected", "is not applied, the running configuration stays (%s): %v", err)
	}
	before := r.Current.Load()
	config.Listen = before.Listen
	differences, err := configs.Differences(before.Effective(), config.Effective())
	if err != nil { // an effective configuration that does not marshal to YAML
		return refused("config.rejected", "is not applied, the running configuration stays (%s): %v", err)
	}
	if restart := needsRestart(before, config, differences); len(restart) > 0 {
		return refused("config.needs_restart", "no part of it is applied, the running configuration stays (%s): %v",
			fmt.Errorf("a restart is needed for %s; all that changed: %s", strings.Join(restart, ", "), Changes(differences)))
	}
	explicit := audit == nil || audit.Actor != "file"
	removed := r.removed(before, config)
	if !explicit && !trial && r.waits(ctx, removed, len(config.Strategies) > 0) {
		return nil, nil
	}
	reload, err := r.prepare(ctx, before, config)
	if err != nil {
		return refused("config.rejected", "no part of it is applied, the running configuration stays (%s): %v", err)
	}
	does = changesOf(differences)
	for _, name := range r.held {
		if config.Strategy(name) == nil {
			does = append(does, "strategies."+name+" is removed")
			reload.Confirmed = append(reload.Confirmed, name)
		}
	}
	if trial {
		return does, nil
	}
	if err := r.send(ctx, reload, differences, audit); err != nil {
		return refused("config.rejected", "no part of it is applied, the running configuration stays (%s): %v", err)
	}
	r.absent.forget()
	r.held = nil
	r.Current.Store(config)
	r.Metrics.Reloaded(true)
	r.loaded = "loaded " + time.Now().UTC().Format(time.DateTime)
	r.Report(ops.Check{Name: "configuration", OK: true, Detail: r.loaded})
	for _, s := range reload.Strategies {
		c := config.Strategy(s.Name)
		key := exchange.SymbolKey{Market: c.Market, Name: c.Symbol}
		r.Console.Of(s.Name, key).Say("config.strategy_reloaded", "config    %s: %s is loaded", s.Name, c.File)
	}
	for _, name := range reload.Removed {
		r.Console.Of(name, exchange.SymbolKey{}).Say("config.strategy_removed", "config    %s: %s is no longer configured", name, before.Strategy(name).File)
	}
	r.Console.Say("config.reloaded", "config    read again (%s), strategies loaded: %d, removed: %d; %s",
		why, len(reload.Strategies), len(reload.Removed), Changes(differences))
	return does, nil
}

// removed lists the strategies that a configuration no longer has.
func (r *Reloader) removed(before, config *configs.Config) (names []string) {
	for i := range before.Strategies {
		if name := before.Strategies[i].Name; config.Strategy(name) == nil {
			names = append(names, name)
		}
	}
	for _, name := range r.held {
		if config.Strategy(name) == nil && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// waits reports whether a change of the files removes strategies whose files may be absent only for
// a moment. It declares the effects of a removal.
func (r *Reloader) waits(ctx context.Context, removed []string, left bool) bool {
	began := !r.absent.pending() && len(removed) > 0
	verdict := r.absent.Poll(time.Now(), removed, left)
	if verdict == NotAbsent {
		return false
	}
	if verdict == Ripe {
		r.absent.forget() // its result is reported once
		return false
	}
	var lines []string
	_ = r.Driver.Query(ctx, func() { lines = r.Machine.PreviewRemoval(removed) }) // a daemon that stops removes nothing
	r.absent.describe(lines)
	if began {
		for _, d := range r.absent.degraded() {
			r.Console.Of(d.Scope.Strategy, d.Scope.Symbol).Warn("config.removal_waits", "config    %s (%s)", d.Cause, d.Remedy)
		}
	}
	return true
}

// Degraded declares the strategies whose files are absent and whose removal waits.
func (r *Reloader) Degraded() []engine.Degraded { return r.absent.degraded() }

// request is a reload requested over the API.
type request struct {
	trial  bool
	audit  *record.Audit
	answer chan<- answer
}

type answer struct {
	does []string
	err  error
}

// Reload passes a request to the goroutine that reloads, and waits for its result.
func (r *Reloader) Reload(ctx context.Context, trial bool, audit *record.Audit) ([]string, error) {
	answer := make(chan answer, 1)
	select {
	case r.requests <- request{trial, audit, answer}:
	case <-ctx.Done():
		return nil, runtime.ErrStopped
	}
	select {
	case a := <-answer:
		return a.does, a.err
	case <-ctx.Done():
		return nil, runtime.ErrStopped
	}
}

// refused reports that a changed configuration is not in force: in the log, the metrics and the
// readiness check. botd stays ready.
func (r *Reloader) refused(event, format string, values ...any) {
	r.Metrics.Reloaded(false)
	r.Report(ops.Check{Name: "configuration", OK: true, Detail: r.loaded + "; the files have changed and are not applied: botd config diff"})
	r.Console.Warn(event, format, values...)
}

// needsRestart lists the changes to settings that are only read at a start.
func needsRestart(before, config *configs.Config, differences []configs.Difference) (paths []string) {
	if engineconfig.Bounds(before) != engineconfig.Bounds(config) || config.Mode == configs.Live && len(config.Unsettled()) > 0 {
		paths = append(paths, "the exchange.settle bounds of the markets that are traded now")
	}
	for _, d := range differences {
		if !strings.HasPrefix(d.Path, "strategies") && !strings.HasPrefix(d.Path, "risk.") {
			paths = append(paths, d.Path)
		}
	}
	return paths
}

// prepare builds the changes: new versions of strategies, new strategies, and the account's limits.
// Its error gives the reasons for which the engine cannot apply them now.
func (r *Reloader) prepare(ctx context.Context, before, config *configs.Config) (*engine.Reload, error) {
	reload := &engine.Reload{Limits: new(config.Limits), ConfigHash: config.Hash()}
	var obstacles []string
	var substitutes map[string]any
	if err := r.Driver.Query(ctx, func() { substitutes = r.Machine.Substitutes() }); err != nil {
		return nil, err
	}
	missing := r.missing(ctx)
	for i := range config.Strategies {
		now := &config.Strategies[i]
		was, substitute := before.Strategy(now.Name), substitutes[now.Name]
		same := was != nil && was.Hash() == now.Hash()
		_, waits := missing[now.Name]
		_, listed := r.Symbols(exchange.SymbolKey{Market: now.Market, Name: now.Symbol})
		if same && substitute == nil && !(waits && listed) {
			continue
		}
		made, err := r.build(now)
		if err != nil {
			obstacles = append(obstacles, err.Error())
			continue
		}
		if same && !waits && made.Substitute() == substitute {
			continue // its process has not answered yet
		}
		made.Paused = was == nil && engineconfig.Waits(config, now)
		reload.Strategies = append(reload.Strategies, made)
	}
	for i := range before.Strategies {
		if name := before.Strategies[i].Name; config.Strategy(name) == nil {
			reload.Removed = append(reload.Removed, name)
		}
	}
	err := r.Driver.Query(ctx, func() { obstacles = append(obstacles, r.Machine.ReloadObstacles(reload)...) })
	if err == nil && len(obstacles) > 0 {
		err = errors.New(strings.Join(obstacles, "; "))
	}
	return reload, err
}

// build makes one strategy as a start does.
func (r *Reloader) build(c *configs.StrategyConfig) (*engine.StrategyConfig, error) {
	symbol, found := r.Symbols(exchange.SymbolKey{Market: c.Market, Name: c.Symbol})
	if !found {
		return nil, fmt.Errorf("%s:%d: the exchange has no %s symbol %s", c.File, c.Line, c.Market, c.Symbol)
	}
	made, err := engineconfig.Live(c, symbol, r.Symbols)
	return &made, err
}

// maxChanges bounds a line of the log.
const maxChanges = 20

// Changes returns differences in a line.
func Changes(differences []configs.Difference) string {
	all := changesOf(differences)
	if more := len(all) - maxChanges; more > 0 {
		all = append(all[:maxChanges], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(all, ", ")
}

// changesOf returns differences value by value; an added or removed strategy is one.
func changesOf(differences []configs.Difference) (all []string) {
	if len(differences) == 0 {
		return []string{"no value changed"}
	}
	whole := map[string]string{}
	for _, d := range differences {
		if name, is := strings.CutSuffix(d.Path, ".strategy"); is && d.Was == "" {
			whole[name] = name + " is new"
		} else if is && d.Is == "" {
			whole[name] = name + " is removed"
		}
	}
	for _, d := range differences {
		text := fmt.Sprintf("%s %s (was %s)", d.Path, valueOf(d.Is), valueOf(d.Was))
		if parts := strings.SplitN(d.Path, ".", 3); len(parts) == 3 && whole[parts[0]+"."+parts[1]] != "" {
			text = whole[parts[0]+"."+parts[1]]
		}
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

func valueOf(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// send passes the change to the engine: one event, one entry of the audit. A requested reload that
// changes nothing is journalled too, with its sender; one by a changed file is not. A change of
// state since the preparation, such as a new position, is an error here.
func (r *Reloader) send(ctx context.Context, reload *engine.Reload, differences []configs.Difference, audit *record.Audit) error {
	var names []string
	for _, s := range reload.Strategies {
		names = append(names, s.Name)
	}
	names = append(append(names, reload.Removed...), reload.Confirmed...)
	audit.Object, audit.Detail = strings.Join(names, ", "), Changes(differences)
	event := &engine.EventAudited{Audit: audit, Event: &engine.EventReload{Reload: reload}}
	if len(names) == 0 && len(differences) == 0 {
		if audit.Actor == "file" {
			return nil
		}
		event.Event = nil // nothing that the engine has to do
	}
	for _, s := range reload.Strategies {
		r.Feed(s.Symbol.Key())
	}
	err := r.Driver.Send(ctx, event)
	switch {
	case len(reload.Refused) > 0:
		return errors.New(strings.Join(reload.Refused, "; "))
	case errors.Is(err, runtime.ErrNotDurable):
		return nil // in force; the journal's failure is reported separately
	}
	return err
}
