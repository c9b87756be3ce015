// Package api serves the admin API: state, live stream, and the changes that a person may request.
// Each route is a row next to its handler, with its role, its parameters, and the types of its request and
// response; docs/api.yaml is derived from them. Reads come from package view, so that no reader makes the
// engine wait. Changes are engine events, each journalled with the user who requested it. Package auth
// decides who is permitted: the unix socket is for the owner of botd's files, and on TCP everything except
// health and metrics needs a token or a session.
package api

import (
	"context"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"botd/exchange"
	"botd/internal/inbound"
	"botd/reconcile/account"
	"botd/reconcile/record"
	"botd/runtime/api/auth"
	"botd/runtime/engine"
	"botd/runtime/ops"
	"botd/runtime/view"
	"botd/strategy"
)

// Driver passes events to the engine, and permits reads of it between them.
type Driver interface {
	Query(ctx context.Context, read func()) error
	Send(ctx context.Context, event engine.Event) error
}

// Engine previews changes. It is called only inside Driver.Query.
type Engine interface {
	Epoch() int64
	Status() engine.Status
	PreviewHalt(level record.HaltLevel, scope account.Scope) []engine.Step
	HaltBlind(level record.HaltLevel, scope account.Scope, sinceMS int64) []string
	PreviewTicks() []engine.TickPreview
	Quarantines() []engine.Quarantine
	PreviewTransfer(event *engine.EventTransfer) ([]string, error)
	PreviewResolution(key exchange.SymbolKey, adopt bool, reason string) (engine.Resolution, error)
	PreviewLimits(t *engine.LimitChange) (lines []string, err error)
	PreviewCancel(clientOrderID string) (engine.ManualAction, error)
	PreviewClose(key exchange.SymbolKey) (engine.ManualAction, error)
}

// Lane is the kill switch for when the engine does not answer.
type Lane interface {
	Scopes() []account.Scope
	Preview(level record.HaltLevel, scope account.Scope) []string
	Degraded() []engine.Degraded
}

// Config configures a server. Board, History, Logs, Metrics, Driver and Engine are required.
type Config struct {
	Board   *view.Board
	History *view.History
	Equity  *view.Equity
	Logs    *ops.Logs
	Metrics *ops.Metrics
	Driver  Driver
	Engine  Engine
	Lane    Lane // the kill switch without the engine; nil for none
	LaneUse func() *view.LaneUse
	Market  view.Market // nil: no market data is served
	Symbols func(key exchange.SymbolKey) (*exchange.Symbol, bool)
	Listed  func() []*exchange.Symbol // all symbols of the venue
	Build   ops.Build
	Tokens  auth.Tokens
	Keyring *auth.Keyring // tokens with names; nil for none
	Epoch   string        // of this start

	Configuration  func() Configuration
	Reload         Reload                            // reads the configuration again; nil where it cannot
	StrategyConfig func(name string) string          // effective, as YAML
	Plots          func(name string) []strategy.Plot // the indicators of a strategy; nil for none

	Head     func(ctx context.Context) *view.JournalHead // of the journal; nil for none
	Backups  Backups                                     // copies the journal; nil without one
	Channels Channels                                    // which notify people; nil for none

	Runner  BacktestRunner // runs backtests; nil for none
	Reports string         // the directory below which reports of backtests are; empty for none
	Sweeps  string         // the directory in which sweeps are saved; empty for none
	Sweeper Sweeper        // runs sweeps outside this process; nil for none
	Web     http.Handler   // the dashboard's files, served at /; nil for none
	Access  Access
	Address string // URL under which the dashboard is reached; empty when it is served on the socket alone
}

// Server serves the API.
type Server struct {
	config      Config
	controls    controls
	stream      *Stream
	metrics     *ops.Metrics
	guard       *auth.Guard
	idempotency idempotency
	markets     markets
	manual      manual
	views       views
	maintenance maintenance
	credentials credentials
	reports     *view.Reports
	runner      runner
	sweeping    sweepRuns
	parities    parities
	stopping    chan struct{} // closed when serving ends
	stopOnce    sync.Once
	handler     http.Handler
}

// New returns a server, which publishes events from now on.
func New(config Config) *Server {
	s := &Server{config: config, controls: controls{config.Driver}, metrics: config.Metrics,
		stream: newStream(config.Epoch, config.Metrics), stopping: make(chan struct{})}
	s.guard = auth.NewGuard(auth.Config{Tokens: config.Tokens, Keyring: config.Keyring, Secure: config.Access.secure(), Hosts: config.Access.Hosts})
	if s.config.Symbols == nil {
		s.config.Symbols = func(exchange.SymbolKey) (*exchange.Symbol, bool) { return nil, false }
	}
	if s.config.Equity == nil {
		s.config.Equity = view.NewEquity()
	}
	s.runner.engine, s.runner.directory, s.runner.publish = config.Runner, config.Reports, s.stream.Publish
	s.runner.partial = filepath.Join(config.Reports, ".running-"+config.Board.Mode())
	s.views = views{config.Board, config.History, s.config.Equity, config.StrategyConfig}
	s.maintenance = maintenance{config: &s.config, controls: s.controls}
	s.manual, s.credentials = manual{&s.config, s.controls}, credentials{&s.config, s.guard, s.controls}
	s.markets, s.reports = markets{&s.config, s.guard, view.NewMarketReader(config.Market, config.Board.NowMS)}, view.NewReports(config.Reports)
	s.runner.controls, s.runner.reports = s.controls, s.reports
	s.sweeping.config, s.sweeping.controls, s.sweeping.reports = &s.config, s.controls, s.reports
	s.handler = s.routed()
	config.History.Follow(s.config.Symbols, s.stream.Publish)
	config.Board.Follow(s.stream.Publish, config.History)
	config.Logs.Follow(func(line ops.LogLine) { s.stream.Publish("log", line) })
	s.config.Equity.Follow(s.stream.Publish)
	return s
}

// Handler answers every request.
func (s *Server) Handler() http.Handler { return s.handler }

// answerWithin bounds an answer; a route may take longer, and the stream has its own bound.
const answerWithin = 30 * time.Second

// Serve answers on every listener until the context ends. An open stream does not delay its end.
func (s *Server) Serve(ctx context.Context, listeners ...net.Listener) error {
	server := inbound.NewServer(s.handler, answerWithin)
	server.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return auth.WithConnection(inbound.WithConnection(ctx, c), c)
	}
	return inbound.Serve(ctx, server, func() {
		s.stopOnce.Do(func() { close(s.stopping); s.stream.Close() })
		s.runner.stop()
		s.sweeping.stop()
	}, listeners...)
}
