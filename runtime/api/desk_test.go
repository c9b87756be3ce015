package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"go.uber.org/goleak"

	"botd/backtest/parity"
	"botd/exchange"
	"botd/exchange/sim"
	"botd/internal/enginetest"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/risk"
	"botd/runtime"
	"botd/runtime/api/auth"
	"botd/runtime/engine"
	"botd/runtime/ops"
	"botd/runtime/view"
	"botd/strategy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	testToken   = "botd_ATESTTOKENOFTWENTYSIXLETTERS"
	viewerToken = "botd_AVIEWERSTOKENOFTWENTYSIXLETTERS"
)

// desk is a server without a listener, called directly.
type desk struct {
	t       testing.TB
	server  *Server
	board   *view.Board
	history *view.History
	metrics *ops.Metrics
	logs    *ops.Logs
	market  *sim.Exchange

	mu     sync.Mutex // guards the four below
	sent   []*engine.EventAudited
	fails  error // of every event
	stops  bool  // the engine does not answer
	broken error // of market data
	resting
}

// resting is an engine that reports what a test set.
type resting struct {
	status     engine.Status
	steps      []engine.Step
	quarantine []engine.Quarantine
	previews   []engine.TickPreview
	action     engine.ManualAction
	refuses    error // of a manual action
}

// stub is a backtest runner that runs a test's function.
type stub struct {
	wrong error
	run   func(ctx context.Context, directory string, report func(string, float64)) error

	parities int      // number of comparisons run
	between  [2]int64 // times of the last one
}

func (b *stub) Choices() BacktestChoices {
	return BacktestChoices{MaxCandles: 1000, Strategies: []RunnableStrategy{{Name: "trend", Strategy: "sma_cross", Market: "futures", Symbol: "BTC-USDT",
		Interval: "1h", Params: []StrategyParameter{{"fast", "10", "candles"}}}},
		Files: []CandleFile{{File: "futures/BTC-USDT/1h.csv", Market: "futures", Symbol: "BTC-USDT", Interval: "1h", Bytes: 10}}}
}

func (b *stub) Plan(asked *BacktestRequest) ([]string, error) {
	return []string{"runs " + asked.Strategy}, b.wrong
}

func (b *stub) Parity(_ context.Context, _ string, fromMS, toMS int64) (*parity.Parity, error) {
	b.parities++
	b.between = [2]int64{fromMS, toMS}
	if b.wrong != nil {
		return nil, b.wrong
	}
	curve := parity.ProfitCurve{TimeMS: []int64{60_000}, Profit: []float64{1}}
	return &parity.Parity{Schema: 1, Strategy: "turn", Sentence: "1 of 1 orders is the same", LiveCurve: curve, Curve: curve, Comparison: *parity.Compare(
		[]parity.Execution{{AtMS: 61_000, Order: "x", Buy: true, Quantity: 1, Price: 101, Purpose: "entry"}},
		[]parity.Execution{{AtMS: 60_000, Buy: true, Quantity: 1, Price: 100, Purpose: "entry"}}, 60_000)}, nil
}

func (b *stub) Run(ctx context.Context, _ *BacktestRequest, directory string, report func(string, float64)) error {
	return b.run(ctx, directory, report)
}

// writes is a run that reports its progress and writes a report.
func writes(_ context.Context, directory string, report func(string, float64)) error {
	report("running", 0.5)
	return os.WriteFile(filepath.Join(directory, "report.json"), []byte(reportText), 0o644)
}

// hangs is a run that continues until it is canceled.
func hangs(ctx context.Context, _ string, report func(string, float64)) error {
	report("running", 0.25)
	<-ctx.Done()
	return context.Cause(ctx)
}

func (r *resting) Epoch() int64                                              { return 1 }
func (r *resting) Status() engine.Status                                     { return r.status }
func (r *resting) PreviewHalt(record.HaltLevel, account.Scope) []engine.Step { return r.steps }
func (r *resting) HaltBlind(record.HaltLevel, account.Scope, int64) []string {
	return []string{"futures BTC-USDT has not been read since the start"}
}
func (r *resting) PreviewTicks() []engine.TickPreview                { return r.previews }
func (r *resting) Quarantines() []engine.Quarantine                  { return r.quarantine }
func (r *resting) PreviewCancel(string) (engine.ManualAction, error) { return r.action, r.refuses }
func (r *resting) PreviewClose(exchange.SymbolKey) (engine.ManualAction, error) {
	return r.action, r.refuses
}
func (r *resting) PreviewLimits(t *engine.LimitChange) (lines []string, err error) {
	for _, s := range t.Limits {
		if s.Rule != risk.MaxOpenOrders {
			return nil, errors.New(s.Rule + " is not tighter")
		}
		lines = append(lines, s.Rule+" is "+s.Value)
	}
	return lines, nil
}

func (r *resting) PreviewTransfer(event *engine.EventTransfer) ([]string, error) {
	if event.Transfer.Asset != "USDT" {
		return nil, errors.New("the ledger does not follow " + event.Transfer.Asset)
	}
	return []string{"a transfer of " + event.Transfer.Amount.String() + " USDT is booked"}, nil
}

func (r *resting) PreviewResolution(key exchange.SymbolKey, adopt bool, _ string) (engine.Resolution, error) {
	for i := range r.quarantine {
		if q := &r.quarantine[i]; q.Symbol == key && q.Blocked == "" {
			return engine.Resolution{Symbol: key, Adopt: adopt, Cause: q.Cause, Lines: []string{"0.5 is adopted"}}, nil
		}
	}
	return engine.Resolution{}, errors.New("not read since the start: wait for a complete round")
}

// Query and Send make the desk its own driver.
func (d *desk) Query(_ context.Context, read func()) error {
	if d.stops {
		return runtime.ErrStopped
	}
	read()
	return nil
}

func (d *desk) Send(_ context.Context, event engine.Event) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fails == nil {
		d.sent = append(d.sent, event.(*engine.EventAudited)) // every change contains its caller
	}
	return d.fails
}

// Do answers market data from a simulated exchange.
func (d *desk) Do(_ context.Context, request exchange.Request) (exchange.Answer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.broken != nil {
		return exchange.Answer{}, d.broken
	}
	return d.market.Do("", &request)
}

func newDesk(t testing.TB) *desk { return newDeskWith(t, func(*Config) {}) }

func newDeskWith(t testing.TB, change func(*Config)) *desk {
	t.Helper()
	d := &desk{t: t, board: view.NewBoard("demo", "main"), history: view.NewHistory(), metrics: ops.NewMetrics("demo", ops.Build{}), logs: ops.NewLogs()}
	d.status = *running(t)
	var err error
	if d.market, err = sim.New(sim.Config{Symbols: sim.DefaultSymbols(), StartMS: d.status.NowMS}); err != nil {
		t.Fatal(err)
	}
	if err := d.market.AddAccount(sim.DefaultAccount("taker")); err != nil {
		t.Fatal(err)
	}
	if _, err := d.market.Do("taker", &exchange.Request{Operation: exchange.FuturesPlace, Order: exchange.NewOrder{Market: exchange.Futures,
		Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: 10}}); err != nil {
		t.Fatal(err) // so that there is a trade to show
	}
	config := Config{Board: d.board, History: d.history, Logs: d.logs, Metrics: d.metrics, Driver: d, Engine: d, Market: d, Epoch: "e1",
		Build: ops.Build{Version: "1.2.3", Revision: "abc", Go: "go1.26"}, Tokens: auth.Tokens{Operator: testToken, Viewer: viewerToken},
		Listed: func() []*exchange.Symbol { return []*exchange.Symbol{bitcoin, ether} },
		Symbols: func(key exchange.SymbolKey) (*exchange.Symbol, bool) {
			for _, s := range []*exchange.Symbol{bitcoin, ether} {
				if s.Key() == key {
					return s, true
				}
			}
			return nil, false
		},
		Configuration: func() Configuration {
			return Configuration{Directory: "configs", Files: []string{"botd.yaml"}, Hash: "00", YAML: "mode: demo\n", Settings: []Setting{{"mode", "demo",
				"default"}}}
		},
		Plots: func(name string) []strategy.Plot {
			if name != "trend" {
				return nil
			}
			return []strategy.Plot{{Indicator: "sma", Parameters: map[string]float64{"period": 3}}, {Indicator: "macd", OwnScale: true,
				Outputs: []string{"signal"}, Parameters: map[string]float64{"fast": 3, "slow": 5, "signal": 2}}}
		},
		Head: func(context.Context) *view.JournalHead {
			return &view.JournalHead{Records: 7, Hash: strings.Repeat("ab", 32), At: time.UnixMilli(1_700_000_000_000).UTC()}
		},
		LaneUse: func() *view.LaneUse {
			return &view.LaneUse{Since: time.UnixMilli(1_700_000_000_000).UTC(), RequestedBy: "token 127.0.0.1", Level: record.LevelFlatten,
				Cause: "it hung", Orders: 2,
				DoneAfterMS: 1_200, TookMS: 5_000}
		},
		StrategyConfig: func(name string) string { return "name: " + name + "\n" },
	}
	config.Reload = func(ctx context.Context, trial bool, audit *record.Audit) ([]string, error) {
		if d.refuses != nil {
			return nil, &Refused{d.refuses.Error()}
		}
		if trial {
			return []string{"strategies.trend.leverage 2 (was 1)"}, nil
		}
		return []string{"strategies.trend.leverage 2 (was 1)"}, d.Send(ctx, &engine.EventAudited{Audit: audit})
	}
	if config.Keyring, err = auth.OpenKeyring(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	change(&config)
	d.server = New(config)
	return d
}

// ask returns the answer's status and body.
func (d *desk) ask(method, path, body string, change func(*http.Request)) (int, string) {
	d.t.Helper()
	recorder := d.answer(method, path, body, change)
	text := recorder.Body.String()
	if strings.HasPrefix(text, `{"schema":`) && !strings.HasPrefix(text, `{"schema":1,`) {
		d.t.Errorf("%s %s: want schema 1, have %.40s", method, path, text)
	}
	return recorder.Code, text
}

func (d *desk) answer(method, path, body string, change func(*http.Request)) *httptest.ResponseRecorder {
	d.t.Helper()
	request := httptest.NewRequest(method, "http://127.0.0.1:8420"+path, strings.NewReader(body))
	if change != nil {
		change(request)
	}
	recorder := httptest.NewRecorder()
	d.server.Handler().ServeHTTP(recorder, request)
	return recorder
}

// want reads as a viewer.
func (d *desk) want(code int, path string) string {
	d.t.Helper()
	have, body := d.ask(http.MethodGet, path, "", bearer(viewerToken))
	if have != code {
		d.t.Errorf("GET %s: want %d, have %d: %s", path, code, have, body)
	}
	return body
}

// intents returns the board's intents, oldest first.
func (d *desk) intents() []view.Intent {
	all, _ := d.board.Intents(view.Page{Limit: 2 * view.MaxIntents}, func(*view.Intent) bool { return true })
	slices.Reverse(all)
	return all
}

func bearer(token string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
}

func newSymbol(market exchange.Market, name string) *exchange.Symbol {
	base, quote, _ := strings.Cut(name, "-")
	s, err := exchange.NewSymbol(exchange.SymbolSpec{
		Market: market, Name: name, Base: base, Quote: quote,
		PriceTick: decimal.RequireFromString("0.1"), QuantityTick: decimal.RequireFromString("0.001"),
		MinNotional: decimal.NewFromInt(5), MaxNotional: decimal.NewFromInt(1_000_000), Brackets: sim.DefaultBrackets(), Tradable: true, Cancelable: true,
	})
	if err != nil {
		panic(err)
	}
	return s
}

var (
	bitcoin = newSymbol(exchange.Futures, "BTC-USDT")
	ether   = newSymbol(exchange.Spot, "ETH-USDT")
)

// running is a status of two strategies, one of them in a position.
func running(t testing.TB) *engine.Status {
	t.Helper()
	return &engine.Status{
		Total: enginetest.Amount(t, "10001.5"), TotalKnown: true,
		Symbols: []engine.SymbolStatus{
			{Key: bitcoin.Key(), Rules: bitcoin, Owner: "trend", Position: 20, Known: 20, EntryPrice: enginetest.Amount(t, "50000"),
				LiqPrice: enginetest.Amount(t, "45090"), Leverage: 10,
				Last: enginetest.Price(t, bitcoin, "50100"), Read: true, Settled: true},
			{Key: ether.Key(), Rules: ether, Owner: "hold", Last: enginetest.Price(t, ether, "3000")},
		},
		NowMS: 1_700_000_100_000, SoundMS: 1_700_000_099_000, Equity: enginetest.Amount(t, "10001.5"), AccountMS: 1,
		Account: exchange.MarginAccount{WalletBalance: enginetest.Amount(t, "10000.123456789")},
		Strategies: []engine.StrategyStatus{
			{Name: "trend", Symbol: bitcoin, Interval: exchange.Minute1, State: "running", Position: 20, EntryPrice: enginetest.Amount(t, "50000"),
				Last:     enginetest.Price(t, bitcoin, "50100"),
				LiqPrice: enginetest.Amount(t, "45090"), LastMS: 1_700_000_099_500, CandleMS: 1_700_000_040_000, TickMS: 1_700_000_040_000,
				NextMS: 1_700_000_102_000},
			{Name: "hold", Symbol: ether, Interval: exchange.Minute1, State: "warming_up", Last: enginetest.Price(t, ether, "3000"), LastMS: 1_700_000_099_500},
		},
		Live: []account.Placement{
			enginetest.Placement(record.Record{AtMS: 5_000, Strategy: "trend", Symbol: bitcoin.Key(), ClientOrderID: "bx-1-1",
				Body: record.Sending{Purpose: placement.StopLoss, Order: exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell,
					Type: exchange.StopMarket, StopPrice: enginetest.Price(t, bitcoin, "49000"), ClosePosition: true}}}, placement.Working, 11),
			enginetest.Placement(record.Record{AtMS: 7_000, Strategy: "trend", Symbol: bitcoin.Key(), ClientOrderID: "bx-1-2",
				Body: record.Sending{Purpose: placement.Entry, Order: exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy,
					Type: exchange.MarketOrder, Quantity: 30}}}, placement.Uncertain, 0),
		},
	}
}

// scrape returns the value of a series, -1 if there is none, and the number of botd's series.
func (d *desk) scrape(name string) (value float64, series int) {
	d.t.Helper()
	_, text := d.ask(http.MethodGet, "/metrics", "", nil)
	value = -1
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "botd_") {
			series++
		}
		if rest, found := strings.CutPrefix(line, name+" "); found {
			if _, err := fmt.Sscan(rest, &value); err != nil {
				d.t.Errorf("%s: %v", line, err)
			}
		}
	}
	return value, series
}
