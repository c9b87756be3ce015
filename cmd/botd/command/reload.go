package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"botd/configs"
	"botd/exchange"
	"botd/reconcile"
	"botd/runtime"
	"botd/runtime/api"
	"botd/runtime/engine"
	"botd/runtime/ops"
)

// filesEvery is how often the configuration's files are looked at.
const filesEvery = 2 * time.Second

// reloader puts changed strategies in place while the daemon runs: at a SIGHUP, and
// when a file of the configuration has changed. A configuration with an error in it
// changes nothing, and so does one with anything in it that takes a restart: half of
// what somebody wrote, a larger size without its limit, must never run.
type reloader struct {
	current atomic.Pointer[configs.Config]
	flags   runFlags
	driver  *runtime.Driver
	machine *engine.Engine
	symbols func(exchange.SymbolKey) (*exchange.Symbol, bool)
	console *ops.Console
	metrics *ops.Metrics
	report  func(ops.Check)
	loaded  string // how what holds came to hold
	wishes  chan reloadWish
}

// newReloader knows the files as they were when they were loaded: what changed while
// botd started is seen too.
func newReloader(config *configs.Config, flags runFlags) *reloader {
	r := &reloader{flags: flags, loaded: "loaded at start", wishes: make(chan reloadWish)}
	r.current.Store(config)
	return r
}

// watch reloads until the context ends. The built-in examples never change.
func (r *reloader) watch(ctx context.Context) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP)
	defer signal.Stop(signals)
	look := time.NewTicker(filesEvery)
	defer look.Stop()
	seen, settling := r.flags.loaded, ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-signals:
			seen = filesOf(r.current.Load())
			r.reload(ctx, "SIGHUP")
		case wish := <-r.wishes:
			if !wish.trial {
				seen, settling = filesOf(r.current.Load()), ""
			}
			does, err := r.take(ctx, "botd config reload", wish.trial, wish.audit)
			wish.answer <- answered{does, err}
		case <-look.C:
			now := filesOf(r.current.Load())
			switch {
			case now == seen:
				settling = ""
			case now != settling: // wait until the editor has written all of it
				settling = now
			default:
				seen, settling = now, ""
				r.reload(ctx, "a file changed")
			}
		}
	}
}

// filesOf changes when a file of the configuration does.
func filesOf(config *configs.Config) string {
	var text strings.Builder
	look := func(file string) {
		if info, err := os.Stat(file); err == nil {
			fmt.Fprintf(&text, "%s %d %d\n", file, info.Size(), info.ModTime().UnixNano())
		}
	}
	for _, file := range config.Files {
		look(file)
	}
	for i := range config.Strategies {
		if s := &config.Strategies[i]; s.Script.File != "" {
			look(filepath.Join(filepath.Dir(s.File), s.Script.File))
		}
	}
	return text.String()
}

// reload reads the configuration again and puts what changed in place: all of it at
// one moment, or nothing.
func (r *reloader) reload(ctx context.Context, why string) {
	_, _ = r.take(ctx, why, false, &reconcile.Audit{Actor: "file", Role: "operator", Action: "reload"}) // told by the log
}

// take is a reload, or a trial that changes and tells nobody anything.
func (r *reloader) take(ctx context.Context, why string, trial bool, audit *reconcile.Audit) (does []string, err error) {
	refused := func(event, format string, err error) ([]string, error) {
		if !trial {
			r.refused(event, "config    "+format, why, err)
		}
		return nil, &api.Refused{Why: err.Error()}
	}
	config, problems, err := load(r.flags.directory, configs.Mode(r.flags.mode))
	if err == nil {
		err = problems.Err()
	}
	if err != nil {
		return refused("config.rejected", "is not taken over, what runs goes on (%s): %v", err)
	}
	before := r.current.Load()
	config.Listen = before.Listen
	differences, err := configs.Differences(before.Effective(), config.Effective())
	if err != nil { // an effective configuration that is no YAML
		return refused("config.rejected", "is not taken over, what runs goes on (%s): %v", err)
	}
	changed, obstacles := r.prepare(ctx, before, config, differences)
	if len(obstacles) > 0 {
		return refused("config.needs_restart", "nothing of it is taken over, what runs goes on (%s): %v",
			fmt.Errorf("a restart is needed for %s; all that changed: %s", strings.Join(obstacles, "; "), changes(differences)))
	}
	does = changesOf(differences)
	if trial {
		return does, nil
	}
	if err := r.replace(ctx, changed, changes(differences), audit); err != nil {
		r.refused("config.rejected", "config    is not taken over (%s): %v", why, err)
		return nil, err
	}
	r.current.Store(config)
	r.metrics.Reloaded(true)
	r.loaded = "loaded " + clockText(time.Now().UnixMilli())
	r.report(ops.Check{Name: "configuration", OK: true, Detail: r.loaded})
	for _, s := range changed {
		r.console.Say("config.strategy_reloaded", "config    %s: %s is in place", s.Name, strategyNamed(config, s.Name).File)
	}
	r.console.Say("config.reloaded", "config    read again (%s), strategies replaced: %d; %s", why, len(changed), changes(differences))
	return does, nil
}

// reloadWish is a reload that somebody wants over the API.
type reloadWish struct {
	trial  bool
	audit  *reconcile.Audit
	answer chan<- answered
}

type answered struct {
	does []string
	err  error
}

// Reload hands a wish to the goroutine that reloads, and waits for what came of it.
func (r *reloader) Reload(ctx context.Context, trial bool, audit *reconcile.Audit) ([]string, error) {
	answer := make(chan answered, 1)
	select {
	case r.wishes <- reloadWish{trial, audit, answer}:
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

// refused tells that a changed configuration is not taken over: to whoever reads the
// log, the metrics, or whether botd is ready, which it stays.
func (r *reloader) refused(event, format string, values ...any) {
	r.metrics.Reloaded(false)
	r.report(ops.Check{Name: "configuration", OK: true, Detail: r.loaded + "; the files changed, and are not taken over: botd config diff"})
	r.console.Warn(event, format, values...)
}

// prepare builds the new versions of what changed, and lists what keeps the whole of
// it from being put in place now.
func (r *reloader) prepare(ctx context.Context, before, config *configs.Config, differences []configs.Difference) (changed []*engine.StrategyConfig, obstacles []string) {
	for _, d := range differences {
		if !strings.HasPrefix(d.Path, "strategies") {
			obstacles = append(obstacles, d.Path)
		}
	}
	for i := range config.Strategies {
		now := &config.Strategies[i]
		was := strategyNamed(before, now.Name)
		if was != nil && was.Hash() == now.Hash() {
			continue
		}
		made, err := r.build(ctx, was, now)
		if err != nil {
			obstacles = append(obstacles, fmt.Sprintf("%s: %v", now.Name, err))
			continue
		}
		changed = append(changed, made)
	}
	for i := range before.Strategies {
		if name := before.Strategies[i].Name; strategyNamed(config, name) == nil {
			obstacles = append(obstacles, name+": it is not configured any more")
		}
	}
	return changed, obstacles
}

// maxChanges bounds a line of the log.
const maxChanges = 20

// changes tells differences in a line.
func changes(differences []configs.Difference) string {
	all := changesOf(differences)
	if more := len(all) - maxChanges; more > 0 {
		all = append(all[:maxChanges], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(all, ", ")
}

// changesOf tells differences value by value; a strategy that is new or gone is one.
func changesOf(differences []configs.Difference) (all []string) {
	if len(differences) == 0 {
		return []string{"no value changed"}
	}
	whole := map[string]string{}
	for _, d := range differences {
		if name, is := strings.CutSuffix(d.Path, ".strategy"); is && d.Was == "" {
			whole[name] = name + " is new"
		} else if is && d.Is == "" {
			whole[name] = name + " is gone"
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

func strategyNamed(config *configs.Config, name string) *configs.StrategyConfig {
	for i := range config.Strategies {
		if config.Strategies[i].Name == name {
			return &config.Strategies[i]
		}
	}
	return nil
}

// build makes the new version of a running strategy.
func (r *reloader) build(ctx context.Context, was, now *configs.StrategyConfig) (*engine.StrategyConfig, error) {
	if was == nil {
		return nil, errors.New("it is new")
	}
	key := exchange.SymbolKey{Market: now.Market, Name: now.Symbol}
	why := ""
	if err := r.driver.Query(ctx, func() { why = r.machine.Reloadable(now.Name, key, now.Interval) }); err != nil {
		return nil, err
	}
	if why != "" {
		return nil, fmt.Errorf("%s, another symbol or interval is another strategy", why)
	}
	symbol, found := r.symbols(key)
	if !found {
		return nil, fmt.Errorf("the exchange has no %s", key)
	}
	made, err := strategyConfig(now, symbol)
	return &made, err
}

// replace hands the new versions to the engine: one event, one entry of the audit. Who
// asked for a reload that changes no strategy is written down too, a file is not.
func (r *reloader) replace(ctx context.Context, changed []*engine.StrategyConfig, what string, audit *reconcile.Audit) error {
	var names []string
	for _, s := range changed {
		names = append(names, s.Name)
	}
	event := engine.Event{Kind: engine.EventReload, Strategies: changed, Audit: audit}
	if audit.Detail = what; len(changed) > 0 {
		audit.Target = strings.Join(names, ", ")
	} else if event.Kind = engine.EventAudit; audit.Actor == "file" {
		return nil
	}
	err := r.driver.Send(ctx, event)
	if errors.Is(err, runtime.ErrUnwritten) {
		return nil // in force; the journal's failure is told on its own
	}
	return err
}
