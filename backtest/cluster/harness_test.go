package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"botd/backtest/inputs"
	"botd/backtest/sweeps"
	"botd/configs"
	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/tape"
	"botd/internal/failure"
	"botd/strategy"
	"botd/strategy/library"
)

const crossing = `name: cross
strategy: sma_cross
market: futures
symbol: BTC-USDT
interval: 1h
size: {equity: 100%}
params: {fast: 2, slow: 8, mode: long_short}
`

// program and another are hashes of two programs.
var program, another = strings.Repeat("0a", 32), strings.Repeat("0b", 32)

// reader reads the inputs of backtests as a program does.
func reader() inputs.Files {
	return inputs.Files{
		Options: func() configs.Options {
			return configs.Options{Registry: strategy.NewRegistry(library.All()...), Symbols: sim.DefaultSymbols()}
		},
		Load: func(path string, symbol *exchange.Symbol, interval exchange.Interval, _ bool) (*tape.Tape, error) {
			return tape.LoadCandles(path, symbol, interval, tape.Options{})
		}}
}

// prepared is a sweep over an average's crossings on 60 candles.
func prepared(t *testing.T, spec *sweeps.Spec) (*sweeps.Plan, *inputs.Trials) {
	t.Helper()
	return preparedOn(t, spec, 3)
}

// preparedOn is prepared on the candles of a seed.
func preparedOn(t *testing.T, spec *sweeps.Spec, seed uint64) (*sweeps.Plan, *inputs.Trials) {
	t.Helper()
	split, err := sweeps.ParseSplit(spec.Split)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := sweeps.NewPlan(spec, split)
	if err != nil {
		t.Fatal(err)
	}
	symbol, _ := exchange.FindSymbol(sim.DefaultSymbols(), exchange.Futures, "BTC-USDT")
	directory := t.TempDir()
	file, data := filepath.Join(directory, "cross.yaml"), filepath.Join(directory, "BTCUSDT-1h.csv")
	candles := tape.Generate(seed, symbol, exchange.Hour1, 1_704_067_200_000, 60)
	if err := errors.Join(os.WriteFile(file, []byte(crossing), 0o600), tape.WriteFile(data, candles, symbol, nil)); err != nil {
		t.Fatal(err)
	}
	files := reader()
	files.StrategyFiles, files.Data = []string{file}, []string{data}
	trials, err := files.NewTrials(plan.Axes(), program, split, plan.StopWhen())
	if err != nil {
		t.Fatal(err)
	}
	return plan, trials
}

// crossings is a sweep of six trials.
func crossings(name string) *sweeps.Spec {
	return &sweeps.Spec{Name: name, Vary: []string{"fast=2,3,4", "slow=6,8"}, Search: sweeps.Grid, Sort: "profit"}
}

// served is a server in this process, and an open store of it.
func served(t *testing.T) (*Server, *store) {
	t.Helper()
	server, err := Serve(Access{Serve: "127.0.0.1:0", StoreDir: filepath.Join(t.TempDir(), "nats")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	access := Access{}
	connection, err := access.connect(t.Context(), "test", server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(connection.Close)
	s, err := open(t.Context(), connection)
	if err != nil {
		t.Fatal(err)
	}
	return server, s
}

// logbook takes lines of a log.
type logbook struct {
	mu    sync.Mutex // guards lines
	lines []string
}

func (l *logbook) log(format string, arguments ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprintf(format, arguments...))
}

// has reports whether a line contains a text.
func (l *logbook) has(text string) bool { return strings.Contains(l.text(), text) }

func (l *logbook) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "\n")
}

// works runs a worker until stop is called, which returns its error.
func works(t *testing.T, server *Server, id, program string) (w *Worker, log *logbook, stop func() error) {
	t.Helper()
	log = &logbook{}
	w = &Worker{Access: Access{URL: server.url}, Program: program, Version: "1.0", ID: id, Slots: 1, Cache: t.TempDir(), Files: reader,
		Log: log.log}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	ended := sync.OnceValue(func() error { cancel(); return <-done })
	t.Cleanup(func() { _ = ended() })
	return w, log, ended
}

// begun announces a sweep.
func begun(t *testing.T, server *Server, spec *sweeps.Spec, trials *inputs.Trials, known func(string) bool) (*Coordinator, *logbook) {
	t.Helper()
	log := &logbook{}
	c, err := begin(t.Context(), Access{}, server, spec, trials, program, "1.0", known, log.log)
	if err != nil {
		t.Fatal(err)
	}
	return c, log
}

// sweeping is a sweep that has begun with a server of its own, and ends with the test.
func sweeping(t *testing.T) (*Coordinator, *store, *inputs.Trials) {
	t.Helper()
	server, s := served(t)
	spec := crossings("x")
	_, trials := prepared(t, spec)
	c, _ := begun(t, server, spec, trials, none)
	t.Cleanup(func() { _ = c.End(context.WithoutCancel(t.Context()), errors.New("over")) })
	return c, s, trials
}

func none(string) bool { return false }

// codeOf is an error's exit code.
func codeOf(err error) int {
	if err == nil {
		return failure.OK
	}
	return failure.CodeOf(err)
}
