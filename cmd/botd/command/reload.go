package command

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"botd/configs"
	"botd/exchange"
	"botd/reconcile"
	"botd/runtime"
	"botd/runtime/engine"
	"botd/runtime/ops"
)

// filesEvery is how often the configuration's files are looked at.
const filesEvery = 2 * time.Second

// reloader puts changed strategies in place while the daemon runs: at a SIGHUP, and
// when a file of the configuration has changed. A configuration with an error in it
// changes nothing; what can not change while running is said.
type reloader struct {
	current atomic.Pointer[configs.Config]
	flags   runFlags
	driver  *runtime.Driver
	machine *engine.Engine
	symbols func(exchange.SymbolKey) (*exchange.Symbol, bool)
	console *ops.Console
	metrics *ops.Metrics
}

func newReloader(config *configs.Config, flags runFlags) *reloader {
	r := &reloader{flags: flags}
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
	seen, settling := r.fingerprint(), ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-signals:
			seen = r.fingerprint()
			r.reload(ctx, "SIGHUP")
		case <-look.C:
			now := r.fingerprint()
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

// fingerprint changes when a file of the configuration does.
func (r *reloader) fingerprint() string {
	config := r.current.Load()
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

// reload reads the configuration again and puts what changed in place.
func (r *reloader) reload(ctx context.Context, why string) {
	config, problems, err := load(r.flags.directory, configs.Mode(r.flags.mode))
	if err == nil {
		err = problems.Err()
	}
	if err != nil {
		r.metrics.Reloaded(false)
		r.console.Warn("config.rejected", "config    is not taken over, what runs goes on (%s): %v", why, err)
		return
	}
	before := r.current.Load()
	config.Listen = before.Listen
	taken := 0
	for i := range config.Strategies {
		now := &config.Strategies[i]
		was := strategyNamed(before, now.Name)
		if was != nil && was.Hash() == now.Hash() {
			continue
		}
		if err := r.replace(ctx, was, now); err != nil {
			r.console.Warn("config.strategy_kept", "config    %s stays as it was: %v", now.Name, err)
			if was != nil {
				config.Strategies[i] = *was
			}
			continue
		}
		r.console.Say("config.strategy_reloaded", "config    %s: %s is in place", now.Name, now.File)
		taken++
	}
	for i := range before.Strategies {
		if name := before.Strategies[i].Name; strategyNamed(config, name) == nil {
			r.console.Warn("config.needs_restart", "config    %s is not configured any more: it goes on until a restart", name)
		}
	}
	if rest := elsewhere(before, config); rest != "" {
		r.console.Warn("config.needs_restart", "config    takes effect at the next start: %s", rest)
	}
	r.current.Store(config)
	r.metrics.Reloaded(true)
	r.console.Say("config.reloaded", "config    read again (%s): %s replaced", why, strategies(taken))
}

func strategyNamed(config *configs.Config, name string) *configs.StrategyConfig {
	for i := range config.Strategies {
		if config.Strategies[i].Name == name {
			return &config.Strategies[i]
		}
	}
	return nil
}

// elsewhere names what differs besides the strategies.
func elsewhere(before, now *configs.Config) string {
	all, err := configs.Differences(before.Effective(), now.Effective())
	if err != nil {
		return err.Error()
	}
	var keys []string
	for _, d := range all {
		if !strings.HasPrefix(d.Path, "strategies") {
			keys = append(keys, d.Path)
		}
	}
	return strings.Join(keys, ", ")
}

// replace builds the new version and hands it to the engine.
func (r *reloader) replace(ctx context.Context, was, now *configs.StrategyConfig) error {
	if was == nil {
		return fmt.Errorf("it is new: it begins at the next start")
	}
	key := exchange.SymbolKey{Market: now.Market, Name: now.Symbol}
	why := ""
	if err := r.driver.Query(ctx, func() { why = r.machine.Reloadable(now.Name, key, now.Interval) }); err != nil {
		return err
	}
	if why != "" {
		return fmt.Errorf("%s: another symbol or interval takes a restart", why)
	}
	symbol, found := r.symbols(key)
	if !found {
		return fmt.Errorf("the exchange has no %s", key)
	}
	made, err := strategyConfig(now, symbol)
	if err != nil {
		return err
	}
	audit := &reconcile.Audit{Actor: "file", Role: "operator", Action: "reload", Target: now.Name, Detail: "configuration " + now.Hash()}
	return r.driver.Send(ctx, engine.Event{Kind: engine.EventReload, Strategy: &made, Audit: audit})
}
