package daemon

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"botd/backtest/replay"
	"botd/backtest/resultstore"
	"botd/backtest/runner"
	"botd/backtest/sweepprocess"
	"botd/configs"
	"botd/exchange/tape"
	"botd/internal/failure"
	"botd/runtime/api"
	"botd/runtime/api/auth"
	"botd/runtime/backups"
	"botd/runtime/notify/channels"
	"botd/runtime/view"
	"botd/runtime/web"
	"botd/strategy"
	"botd/strategy/library"
)

// serve serves metrics, health and the API alongside the engine: on the unix socket for the command
// line, and on TCP for the browser.
func (p *process) serve(ctx context.Context) (stop func() error, err error) {
	served := api.Config{Board: p.board, History: p.history, Logs: p.logs, Metrics: p.metrics, Driver: p.driver, Engine: p.displayedEngine(), Build: program(),
		Reload: p.reloads.Reload}
	p.serveLane(&served)
	current := p.reloads.Current.Load
	tokens, _, err := auth.ReadTokens(p.directory)
	if err != nil {
		return nil, failure.Wrap(failure.IO, err)
	}
	if served.Keyring, err = auth.OpenKeyring(p.directory); err != nil {
		return nil, failure.Wrap(failure.IO, err)
	}
	commands, err := readTelegram(p.config)
	if err != nil {
		return nil, err
	}
	equity, err := view.OpenEquity(filepath.Join(p.directory, "equity.csv"))
	if err != nil {
		return nil, failure.Wrap(failure.IO, err)
	}
	a := p.config.Access
	served.Access = api.Access{Certificate: a.CertificateFile, Key: a.KeyFile, BehindProxy: a.BehindProxy, Hosts: a.Hosts, MetricsToken: a.MetricsToken,
		MetricsOpen: a.MetricsOpen}
	metrics, err := p.listenMetrics(served.Access)
	if err != nil {
		return nil, errors.Join(err, equity.Close())
	}
	listeners, address, err := p.listen(served.Access)
	if err != nil {
		return nil, errors.Join(err, metrics.close(), equity.Close())
	}
	table := p.venue.Client.Symbols()
	served.Equity, served.Tokens, served.Market, served.Symbols, served.Listed = equity, tokens, p.venue.Client.ForViewers(), table.Symbol, table.All
	served.Epoch = strconv.FormatInt(served.Engine.Epoch(), 36)
	served.Web, served.Reports = web.Handler(), filepath.Join(current().DataDir, "backtests")
	served.Sweeps = filepath.Join(current().DataDir, resultstore.SweepFolder)
	bench := &runner.Runner{Current: current, Symbols: table.All, Recorded: filepath.Join(p.directory, tape.RecordedFolder),
		Traded: traded(p.history, equity)}
	served.Runner = bench
	if p.Restartable {
		served.Sweeper = &sweepprocess.Sweeps{Runner: bench, Directory: served.Sweeps}
	}
	served.Head = p.newestRecord
	served.Backups = &backups.Backups{Directory: p.directory, Key: p.key, Prefix: fmt.Sprintf("%s-%s-", p.config.Mode, p.config.Instance)}
	served.Channels = &channels.Channels{Config: p.config}
	served.Configuration, served.StrategyConfig = configuration(current), strategyYAML(current)
	served.Plots = plots(current)
	served.Address = address
	server := api.New(served)
	closeRepeats, err := server.OpenRepeats(p.directory, time.Now(), p.repeatsFailed)
	if err != nil {
		return nil, errors.Join(failure.Wrap(failure.Data, err), metrics.close(), equity.Close())
	}
	answering := p.answer(ctx, server, served, listeners, metrics, commands)
	stop = func() error { defer closeRepeats(); return answering() }
	p.logDashboard(server, address)
	return stop, nil
}

// traded returns all that a strategy traded.
func traded(history *view.History, equity *view.Equity) func(strategy string) replay.Traded {
	everything := view.Page{Limit: math.MaxInt}
	return func(strategy string) (t replay.Traded) {
		t.Fills, _ = history.Fills(everything, func(f *view.Fill) bool { return f.Strategy == strategy })
		t.Trips, _ = history.RoundTrips(everything, func(of, _, _ string) bool { return of == strategy })
		t.Equity = func(fromMS int64) (view.EquitySeries, error) { return equity.Series(fromMS, math.MaxInt64, 0), nil }
		return t
	}
}

// answer serves until stop is called.
func (p *process) answer(ctx context.Context, server *api.Server, served api.Config, listeners []net.Listener, metrics metricsAddress,
	commands *commands) (stop func() error) {
	closeSessions := server.OpenSessions(p.directory, p.sessionsFailed)
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	group := &errgroup.Group{}
	group.Go(func() error { return server.Serve(running, listeners...) })
	group.Go(func() error { p.keepEquity(running, served.Equity); return nil })
	group.Go(func() error { p.keepFiles(running, served.Tokens); return nil })
	group.Go(func() error { p.sealJournal(running); return nil })
	if metrics.listener != nil {
		group.Go(func() error { return server.ServeMetrics(running, metrics.listener, metrics.token) })
	}
	if commands != nil {
		bot := commands.bot(server, p.network.Transport, served.Metrics, p.console)
		group.Go(func() error { bot.Run(running); return nil })
	}
	return func() error {
		cancel()
		defer closeSessions()
		return errors.Join(group.Wait(), served.Equity.Close())
	}
}

func (p *process) repeatsFailed(err error) { p.console.Warn("idempotency.failed", "repeats   %v", err) }

func (p *process) sessionsFailed(err error) { p.console.Warn("sessions.failed", "sessions  %v", err) }

// keepEquity stores the equity of each minute until the context ends.
func (p *process) keepEquity(ctx context.Context, equity *view.Equity) {
	equity.Keep(ctx, p.board, func(err error) { p.console.Warn("equity.write_failed", "equity    %v", err) })
}

// logDashboard logs the dashboard's address, and at a terminal also how to log in.
func (p *process) logDashboard(server *api.Server, address string) {
	if address == "" {
		return
	}
	p.console.Say("daemon.listening", "metrics   %s/metrics   health /healthz /readyz   dashboard /   API /api/v1", address)
	if p.Terminal { // a log file must not contain login credentials
		link := server.NewLink()
		fmt.Fprintf(p.Stderr, "log in with this link, once, within ten minutes: %s%s\n", link.Address, link.Path)
	}
}

// filesEvery is the interval at which the token files and the lock are checked.
const filesEvery = time.Second

// keepFiles restores token files that were deleted, and locks the directory again when it was
// created again, until the context ends.
func (p *process) keepFiles(ctx context.Context, tokens auth.Tokens) {
	poll := time.NewTicker(filesEvery)
	defer poll.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-poll.C:
			_ = tokens.Restore(p.directory) // tried again; the journal's watch reports missing files of the directory
			_ = p.lock.Renew()              // tried again; if another botd was faster, this one stands down
		}
	}
}

// newestRecord returns the journal's newest record; nil when it cannot be read now.
func (p *process) newestRecord(ctx context.Context) *view.JournalHead {
	newest, err := p.store.Newest(ctx)
	if err != nil || newest.Records == 0 {
		return nil
	}
	return &view.JournalHead{Records: newest.Records, Hash: newest.Hash, At: newest.At, Keyed: p.key != nil}
}

// listen listens on the unix socket, and at the TCP address unless it is off. The address is a browser's; empty for none.
func (p *process) listen(access api.Access) (listeners []net.Listener, address string, err error) {
	socket, err := api.ListenSocket(p.directory)
	if err != nil {
		// A path that is too long for a socket does not prevent trading.
		p.console.Warn("daemon.socket", "socket    %v; the command line needs --listen", err)
	} else {
		listeners = append(listeners, socket)
	}
	if p.config.Listen == configs.ListenOff {
		return listeners, "", nil
	}
	tcp, err := p.accept(p.config.Listen, access)
	if err != nil {
		if socket != nil {
			err = errors.Join(err, socket.Close())
		}
		if errors.Is(err, api.ErrExposed) {
			return nil, "", failure.Wrap(failure.Config, err)
		}
		return nil, "", failure.Wrap(failure.Unavailable, err)
	}
	address = "http://" + tcp.Addr().String()
	if access.Certificate != "" {
		address = "https://" + tcp.Addr().String()
	}
	return append(listeners, tcp), address, nil
}

// configuration returns the effective configuration.
func configuration(current func() *configs.Config) func() api.Configuration {
	return func() api.Configuration {
		c := current()
		out := api.Configuration{Directory: c.Directory, Files: c.Files, Hash: c.Hash(), YAML: c.Effective()}
		settings, err := c.Settings()
		if err != nil {
			panic(err) // an effective configuration that does not marshal to YAML
		}
		for _, s := range settings {
			out.Settings = append(out.Settings, api.Setting{Key: s.Path, Value: s.Value, Origin: s.Origin})
		}
		return out
	}
}

// plots returns the lines that a strategy's chart shows.
func plots(current func() *configs.Config) func(name string) []strategy.Plot {
	return func(name string) []strategy.Plot {
		if c := current().Strategy(name); c != nil {
			return library.PlotsOf(c.Kind, c.Script.Text, c.Params)
		}
		return nil
	}
}

// strategyYAML returns a strategy's effective configuration.
func strategyYAML(current func() *configs.Config) func(name string) string {
	return func(name string) string {
		if c := current().Strategy(name); c != nil {
			return c.Effective()
		}
		return ""
	}
}
