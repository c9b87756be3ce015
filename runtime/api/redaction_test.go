package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"botd/exchange"
	"botd/exchange/rest"
	"botd/exchange/sim"
	"botd/exchange/sim/server"
	"botd/exchange/wire"
	"botd/internal/startclock"
	"botd/reconcile"
	"botd/reconcile/journal"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/runtime"
	"botd/runtime/engine"
	"botd/runtime/ops"
	"botd/runtime/view"
	"botd/strategy"
)

// These are canaries: neither may occur in anything that botd writes or answers.
const (
	canaryKey    = "CANARYKEY0123456789"
	canarySecret = "CANARYSECRET9876543210"
)

// buyer targets ten steps and a stop.
type buyer struct{}

func (buyer) Warmup() int           { return 0 }
func (buyer) Candle(*strategy.View) {}
func (buyer) Decide(view *strategy.View, plan *strategy.Plan) {
	plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: 10 * view.Symbol.QuantityTick}, "a test")
}

// sniffer is a transport that stores the signatures that it saw.
type sniffer struct {
	inner http.RoundTripper

	mu         sync.Mutex // guards signatures
	signatures []string
}

func (s *sniffer) RoundTrip(request *http.Request) (*http.Response, error) {
	s.mu.Lock()
	if signature := request.Header.Get(wire.HeaderSignature); signature != "" {
		s.signatures = append(s.signatures, signature)
	}
	s.mu.Unlock()
	return s.inner.RoundTrip(request)
}

// daemon is a complete live daemon, over real HTTP on loopback.
type daemon struct {
	t       testing.TB
	sniffer *sniffer
	log     bytes.Buffer // written by the driver's goroutine alone
	metrics *ops.Metrics
	board   *view.Board
	history *view.History
	logs    *ops.Logs
	filled  chan struct{}
	failed  chan struct{}
}

func newDaemon(t *testing.T) *daemon {
	s := &daemon{t: t, sniffer: &sniffer{inner: &http.Transport{}}, metrics: ops.NewMetrics("live", ops.Build{}), board: view.NewBoard("live", "main"),
		history: view.NewHistory(), logs: ops.NewLogs(),
		filled: make(chan struct{}), failed: make(chan struct{})}
	t.Cleanup(s.sniffer.inner.(*http.Transport).CloseIdleConnections)
	return s
}

// venue serves the simulated exchange until the test ends and returns its address.
func (s *daemon) venue() string {
	s.t.Helper()
	config := server.Config{Clock: server.Clock{StartMS: startclock.MS()}, Accounts: []server.Account{{Key: canaryKey, Secret: canarySecret}},
		Build: func([]byte) (*sim.Exchange, error) {
			x, err := sim.New(sim.Config{Symbols: sim.DefaultSymbols(), StartMS: startclock.MS()})
			if err == nil {
				x.SetMarket(exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}, sim.Random(1))
			}
			return x, err
		}}
	exchangeServer, err := server.New(config)
	if err != nil {
		s.t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- exchangeServer.Serve(ctx, listener) }()
	s.t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			s.t.Error(err)
		}
	})
	return "http://" + listener.Addr().String()
}

func (s *daemon) client(address, secret string) *rest.Client {
	s.t.Helper()
	client, err := rest.New(rest.Config{BaseURL: address, Key: canaryKey, Secret: []byte(secret), Transport: s.sniffer,
		Observe: func(o rest.Observation) { s.metrics.Request(o.Operation, o.Outcome, o.Code, o.Duration, o.Waited) }})
	if err != nil {
		s.t.Fatal(err)
	}
	if err := errors.Join(client.SyncClock(s.t.Context()), client.RefreshSymbols(s.t.Context())); err != nil {
		s.t.Fatal(err)
	}
	return client
}

// shown is a journal whose records are passed to the history.
type shown struct {
	*journal.Journal
	history *view.History
}

func (j shown) Append(ctx context.Context, records []record.Record) error {
	err := j.Journal.Append(ctx, records)
	for i := range records {
		j.history.Apply(&records[i])
	}
	return err
}

// run drives an engine until done is closed, and returns the journal as text.
func (s *daemon) run(client *rest.Client, name string, done <-chan struct{}) string {
	s.t.Helper()
	store, err := journal.Open(s.t.Context(), filepath.Join(s.t.TempDir(), name),
		journal.Binding{Mode: "live", URL: "x", KeyFingerprint: "y"}, journal.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	defer store.Close()
	symbol, _ := client.Symbols().Symbol(exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"})
	tracker := reconcile.NewTracker(placement.Bounds{WindowMS: 60_000, VisibilityMS: 45_000, StalenessMS: 15_000})
	machine, err := engine.New(engine.Config{Instance: "main", Epoch: 1, Random: "00000",
		Bounds: tracker.Bounds(), BusyRoundMS: 20, IdleRoundMS: 100, CloseLagMS: 0,
		TimeToLiveMS: 5_000,
		Strategies:   []engine.StrategyConfig{{Name: "one", Strategy: buyer{}, Symbol: symbol, Interval: exchange.Minute1, Leverage: 10}}}, tracker)
	if err != nil {
		s.t.Fatal(err)
	}
	console, lines := ops.NewConsole(&s.log, ops.Format{}, s.metrics, s.logs), ops.NewConsole(&s.log, ops.Format{JSON: true}, s.metrics, nil)
	filled, failed := sync.OnceFunc(func() { close(s.filled) }), sync.OnceFunc(func() { close(s.failed) })
	driver := runtime.New(runtime.Config{Machine: machine, Venue: client, Journal: shown{store, s.history}, Clock: client, Notes: func(n *engine.Note) {
		s.metrics.Note(n)
		s.board.Note(n)
		console.Note(n)
		lines.Note(n)
		switch n.Fact.(type) {
		case engine.NoteFill:
			filled()
		case engine.NoteFetchFailed:
			failed()
		}
	}, Beat: func(int64) {
		status := machine.Status()
		s.metrics.Status(&status)
		s.board.Show(status)
	}})
	ctx, cancel := context.WithTimeout(s.t.Context(), 20*time.Second)
	defer cancel()
	go func() {
		select {
		case <-done:
		case <-ctx.Done():
		}
		cancel()
	}()
	if err := driver.Run(ctx); err != nil {
		s.t.Fatal(err)
	}
	var text bytes.Buffer
	if err := store.Replay(s.t.Context(), func(r *record.Record) error { return json.NewEncoder(&text).Encode(r) }); err != nil {
		s.t.Fatal(err)
	}
	return text.String() + fmt.Sprint(driver.OpenLeft(), client)
}

func reached(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestNoKeySecretOrSignatureIsEverWrittenOrAnswered(t *testing.T) {
	t.Parallel()
	s := newDaemon(t)
	d := newDeskWith(t, func(c *Config) {
		c.Board, c.History, c.Metrics, c.Logs, c.Reports = s.board, s.history, s.metrics, s.logs, shelf(t)
		c.Runner, c.Sweeps = &stub{run: writes}, interrupted(t, sweeps(t))
	})
	d.previews = previews(t, strategy.Plan{})
	d.previews[0].Strategy = "one"
	address := s.venue()
	everything := map[string]string{
		"journal":                   s.run(s.client(address, canarySecret), "good.db", s.filled),
		"journal of a wrong secret": s.run(s.client(address, canarySecret+"WRONG"), "bad.db", s.failed),
	}
	if !reached(s.filled) || !reached(s.failed) {
		t.Fatalf("want a fill and a refused session, have filled %t, failed %t:\n%s", reached(s.filled), reached(s.failed), s.log.String())
	}
	everything["log"] = s.log.String()
	everything["events"] = string(bytes.Join(framesOf(d.server.stream), nil))
	for _, each := range routes {
		path := strings.NewReplacer("backtests/{id}", "backtests/trend-1", "sweeps/{id}", "sweeps/cut", "{name}", "one",
			"{id}", "bmain-00000100000-1", "{market}", "futures", "{symbol}", "BTC-USDT").Replace(each.path)
		if each.method == http.MethodGet && path != "/api/v1/events" {
			if path == "/api/v1/candles" {
				path += "?symbol=BTC-USDT&interval=1m"
			}
			code, body := d.ask(http.MethodGet, path, "", bearer(testToken))
			if code != http.StatusOK {
				t.Errorf("GET %s: want 200, have %d: %s", path, code, body)
			}
			everything[path] = body
		}
	}
	for _, path := range []string{"/metrics", "/healthz", "/readyz?verbose", "/login", "/login.js", "/"} {
		_, everything[path] = d.ask(http.MethodGet, path, "", nil)
	}
	encoded, err := json.Marshal(canarySecret)
	if err != nil {
		t.Fatal(err)
	}
	forbidden := append([]string{canaryKey, canarySecret, strings.Trim(string(encoded), `"`), testToken, viewerToken}, s.sniffer.signatures...)
	if len(s.sniffer.signatures) < 5 {
		t.Fatalf("signatures seen: want at least 5, have %d", len(s.sniffer.signatures))
	}
	for where, text := range everything {
		if len(text) < 10 {
			t.Errorf("%s: want something to search, have %q", where, text)
		}
		for _, secret := range forbidden {
			if strings.Contains(text, secret) {
				t.Errorf("%s holds %s", where, secret)
			}
		}
	}
}

// framesOf returns a stream's events.
func framesOf(s *Stream) (frames [][]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.ring {
		frames = append(frames, e.frame)
	}
	return frames
}
