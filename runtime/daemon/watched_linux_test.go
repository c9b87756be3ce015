package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/shopspring/decimal"

	"botd/configs"
	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/sim/server"
	"botd/internal/pipe"
	"botd/reconcile/account"
	"botd/reconcile/ledger"
	"botd/reconcile/record"
	"botd/runtime/backups"
	"botd/runtime/engine"
	"botd/runtime/gateway"
	"botd/runtime/notify"
	"botd/runtime/ops"
	"botd/runtime/profit"
	"botd/strategy"
	"botd/strategy/library"
)

// The whole daemon on virtual time, but for its sockets: exchange, client, journal, engine, board, incidents and metrics are
// the real ones. What its metrics exported is then judged by the real rules, which promtool evaluates over it.

// scrapeEvery is how often it is scraped, as the Prometheus of deploy/compose does.
const scrapeEvery = 5 * time.Second

// watched is a daemon whose metrics are recorded.
type watched struct {
	t      *testing.T
	began  time.Time
	every  time.Duration
	check  func(*process)      // at each scrape, while the daemon rests
	window time.Duration       // of the exchange for times of requests; 0 is its own
	disk   bool                // the data are on a disk of their own
	venue  *sim.Exchange       // live
	series map[string][]string // a value of each scrape
	count  int                 // scrapes
	kinds  map[string]bool     // of the incidents that were open

	mu    sync.Mutex // guards fault
	fault func(*http.Request, func() (*http.Response, error)) (*http.Response, error)

	wire  *http.Client
	calls atomic.Int64 // of some
}

// set changes what becomes of each request; nil for nothing.
func (w *watched) set(fault func(*http.Request, func() (*http.Response, error)) (*http.Response, error)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fault = fault
}

// RoundTrip passes a request to the exchange, in 20 ms, unless a fault does otherwise.
func (w *watched) RoundTrip(r *http.Request) (*http.Response, error) {
	time.Sleep(20 * time.Millisecond)
	w.mu.Lock()
	fault := w.fault
	w.mu.Unlock()
	next := func() (*http.Response, error) { return w.wire.Transport.RoundTrip(r) }
	if fault == nil {
		return next()
	}
	return fault(r, next)
}

// loopback is a listener in memory that says it is one of this machine.
type loopback struct{ *pipe.Listener }

func (loopback) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8421} }

// bodyOf is what a request sends.
func bodyOf(t *testing.T, r *http.Request) string {
	t.Helper()
	if r.GetBody == nil {
		return ""
	}
	body, err := r.GetBody()
	if err != nil {
		t.Error(err)
		return ""
	}
	text, err := io.ReadAll(body)
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

// answer is an answer of the test's own.
func answer(r *http.Request, status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: r}
}

// rewrite answers with a text made of the exchange's.
func rewrite(next func() (*http.Response, error), change func(string) string) (*http.Response, error) {
	response, err := next()
	if err != nil {
		return response, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	changed := answer(response.Request, response.StatusCode, change(string(text)))
	changed.Header = response.Header
	changed.Header.Del("Content-Length")
	return changed, nil
}

// named are the metrics that rules read.
var named = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	expressions := ""
	for _, a := range ops.Alerts() {
		expressions += a.Expression + "\n"
	}
	for _, r := range ops.Recordings() {
		expressions += r.Expression + "\n"
	}
	for _, f := range ops.NewMetrics("demo", ops.Build{}).Families() {
		if strings.Contains(expressions, f.Name) {
			names[f.Name] = true
		}
	}
	return names
})

// scrape records the metrics that rules read.
func (w *watched) scrape(m *ops.Metrics) {
	families, err := m.Registry.Gather()
	if err != nil {
		w.t.Error(err)
	}
	put := func(name string, labels []*dto.LabelPair, value float64, more ...string) {
		if strings.HasSuffix(name, "_timestamp_seconds") && value > 0 { // promtool's time begins at 0
			value -= float64(w.began.UnixMilli()) / 1000
		}
		all := []string{`job="botd"`, `instance="a"`}
		for _, l := range labels {
			all = append(all, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
		}
		key := name + "{" + strings.Join(append(all, more...), ", ") + "}"
		for len(w.series[key]) < w.count {
			w.series[key] = append(w.series[key], "_")
		}
		w.series[key] = append(w.series[key], strconv.FormatFloat(value, 'f', -1, 64))
	}
	for _, f := range families {
		if !named()[f.GetName()] {
			continue
		}
		for _, one := range f.GetMetric() {
			switch {
			case one.GetHistogram() != nil:
				h := one.GetHistogram()
				put(f.GetName()+"_sum", one.GetLabel(), h.GetSampleSum())
				put(f.GetName()+"_count", one.GetLabel(), float64(h.GetSampleCount()))
				for _, b := range h.GetBucket() {
					put(f.GetName()+"_bucket", one.GetLabel(), float64(b.GetCumulativeCount()), fmt.Sprintf("le=%q", fmt.Sprint(b.GetUpperBound())))
				}
				put(f.GetName()+"_bucket", one.GetLabel(), float64(h.GetSampleCount()), `le="+Inf"`)
			case one.GetCounter() != nil:
				put(f.GetName(), one.GetLabel(), one.GetCounter().GetValue())
			default:
				put(f.GetName(), one.GetLabel(), one.GetGauge().GetValue())
			}
		}
	}
	put("up", nil, 1)
	w.count++
}

// run has the daemon trade for so long of virtual time. meanwhile goes on in the bubble, from its beginning.
func (w *watched) run(files map[string]string, mode configs.Mode, lasts time.Duration, meanwhile func(*process)) {
	if testing.Short() {
		w.t.Skip("-short: it reads the daemon between events, which its bubble orders and the race detector does not see")
	}
	t := w.t
	directory := filepath.Join(t.TempDir(), strings.Repeat("no-socket-", 12)) // a path too long for one
	if w.disk {
		smallDisk(t, filepath.Join(directory, "data"))
	}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGUSR2) // what waits for signals begins outside the bubble
	synctest.Test(t, func(t *testing.T) {
		w.began = time.Now()
		if err := os.MkdirAll(filepath.Join(directory, "strategies"), 0o700); err != nil {
			t.Fatal(err)
		}
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(directory, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		registry := strategy.NewRegistry(append(library.All(), drowsy(), strategy.Definition{Name: "stuck", Summary: "stands still.",
			New: func(strategy.Setting, strategy.Values) (strategy.Strategy, error) { return stuck{}, nil }})...)
		config, problems := configs.LoadDirectory(directory, configs.Options{Registry: registry, Symbols: sim.DefaultSymbols(), Mode: mode})
		if problems.Errors() > 0 {
			t.Fatal(problems)
		}
		config.DataDir, config.Listen, config.Mode = filepath.Join(directory, "data"), configs.ListenOff, mode
		stop := func() {}
		listener := pipe.NewListener()
		w.wire = listener.Client()
		if mode == configs.Live {
			stop = w.serve(listener)
		}
		p := newProcess(config, Options{Stderr: w.log(), LogFormat: "json", Market: gateway.DemoMarket{Seed: 1},
			Read: func() (*configs.Config, configs.Problems, error) { return config, nil, nil }})
		p.network = gateway.Network{Listen: func() (net.Listener, error) { return loopback{listener}, nil }, Transport: w}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- p.run(ctx) }()
		for p.metrics == nil {
			select {
			case err := <-done:
				t.Fatal(err)
			default:
			}
			time.Sleep(10 * time.Millisecond)
			synctest.Wait()
		}
		if meanwhile != nil {
			go meanwhile(p)
		}
		for time.Since(w.began) < lasts {
			synctest.Wait()
			if w.check != nil {
				w.check(p)
			}
			p.metrics.Scraped(p.board.Checks())
			w.scrape(p.metrics)
			for _, one := range p.board.OpenIncidents() {
				w.kinds[one.Kind] = true
			}
			time.Sleep(w.every)
		}
		w.set(nil)
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		stop()
		w.wire.CloseIdleConnections()
	})
}

// serve serves a moving market to a live daemon.
func (w *watched) serve(listener *pipe.Listener) (stop func()) {
	w.t.Helper()
	now := time.Now().UnixMilli()
	var err error
	if w.venue, err = sim.New(sim.Config{Symbols: sim.DefaultSymbols(), StartMS: now, OrderDelayMS: sim.DefaultOrderDelayMS, Seed: 1}); err != nil {
		w.t.Fatal(err)
	}
	for _, symbol := range sim.DefaultSymbols() {
		w.venue.SetMarket(symbol.Key(), sim.Random(1))
	}
	if err := w.venue.AddAccount(sim.DefaultAccount("watched")); err != nil {
		w.t.Fatal(err)
	}
	served, err := server.New(server.Config{Exchange: w.venue, Clock: server.Clock{StartMS: now, WindowMS: w.window.Milliseconds()}, Control: true,
		Accounts: []server.Account{{Key: "watched", Secret: "a secret"}}})
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(w.t.Context()))
	done := make(chan error, 1)
	go func() { done <- served.Serve(ctx, listener) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			w.t.Error(err)
		}
	}
}

// log is where the daemon's log goes: the test's, if BOTD_LOG is set.
func (w *watched) log() io.Writer {
	if os.Getenv("BOTD_LOG") != "" {
		return w.t.Output()
	}
	return io.Discard
}

// expectation is when an alert begins to fire after its fault, and ends after the fault's end: then, or two scrapes earlier.
type expectation struct {
	alert         string
	begins, ends  time.Duration // the fault, since the first scrape
	fires, clears time.Duration // the alert, after that
}

// judge has promtool evaluate botd's rules over what was recorded. Beside what is expected, no alert may ever fire but those
// that also may.
func (w *watched) judge(expected []expectation, also ...string) {
	t := w.t
	t.Helper()
	path, err := exec.LookPath("promtool")
	if err != nil {
		if strings.Contains(os.Getenv("BOTD_REQUIRE"), "promtool") {
			t.Fatal("promtool is not installed: Debian's package is prometheus")
		}
		t.Skip("promtool is not installed (Debian: prometheus); BOTD_REQUIRE=promtool makes this fail")
	}
	rules, err := ops.RulesYAML()
	if err != nil {
		t.Fatal(err)
	}
	directory := t.TempDir()
	var b strings.Builder
	fmt.Fprintf(&b, "rule_files: [rules.yml]\nevaluation_interval: %s\ntests:\n  - interval: %s\n    input_series:\n", w.every, w.every)
	for _, name := range slices.Sorted(maps.Keys(w.series)) {
		fmt.Fprintf(&b, "      - {series: '%s', values: '%s'}\n", name, runs(w.series[name]))
	}
	b.WriteString("    promql_expr_test:\n")
	ask := func(at time.Duration, expression string, zeros ...string) {
		fmt.Fprintf(&b, "      - expr: '%s'\n        eval_time: %s\n        exp_samples: [", expression, at)
		for _, labels := range zeros {
			fmt.Fprintf(&b, "{labels: '{%s}', value: 0}, ", labels)
		}
		b.WriteString("]\n")
	}
	allowed, last := append([]string{"BotdWatchdog"}, also...), time.Duration(w.count-1)*w.every
	for _, e := range expected {
		allowed = append(allowed, e.alert)
		ask(last, w.astray("min_over_time", e.alert, last, e.begins+e.fires), "")
		ask(last, w.astray("max_over_time", e.alert, last, e.ends+e.clears-w.every), "")
		ask(last, fmt.Sprintf(`count_over_time((%[1]s)[%[2]s:%[3]s]) - 1 - (max_over_time(timestamp(%[1]s)[%[2]s:%[3]s]) - `+
			`min_over_time(timestamp(%[1]s)[%[2]s:%[3]s])) / %[4]g`, firing(e.alert), last, w.every, w.every.Seconds()), "") // without a break
	}
	ask(last, fmt.Sprintf(`max by (alertname) (max_over_time(ALERTS{alertname!~"%s", alertstate="firing"}[%s])) - 1`, strings.Join(allowed, "|"), last))
	for name, text := range map[string]string{"rules.yml": rules, "test.yml": b.String()} {
		if err := os.WriteFile(filepath.Join(directory, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	command := exec.Command(path, "test", "rules", "test.yml")
	command.Dir = directory
	if output, err := command.CombinedOutput(); err != nil {
		t.Errorf("promtool: %v\n%s", err, output)
	}
}

// firing is 1 while an alert fires.
func firing(alert string) string {
	return fmt.Sprintf(`max(ALERTS{alertname="%s", alertstate="firing"})`, alert)
}

// astray is by how many seconds the first (min_over_time) or last (max_over_time) time at which an alert fires is off.
func (w *watched) astray(which, alert string, last, want time.Duration) string {
	at := fmt.Sprintf(`%s(timestamp(%s)[%s:%s])`, which, firing(alert), last, w.every)
	return fmt.Sprintf(`%s - clamp(%s, %g, %g)`, at, at, (want - 2*w.every).Seconds(), want.Seconds())
}

// runs writes values in promtool's notation: 5x3 is 5 four times.
func runs(values []string) string {
	var b strings.Builder
	for i := 0; i < len(values); {
		n := 1
		for i+n < len(values) && values[i+n] == values[i] && values[i] != "_" {
			n++
		}
		b.WriteString(values[i])
		if n > 1 {
			fmt.Fprintf(&b, "x%d", n-1)
		}
		b.WriteByte(' ')
		i += n
	}
	return b.String()
}

// sleeper holds nothing, and from minute five to ten of each hour takes a second and a half to say so.
type sleeper struct{}

func (sleeper) Warmup() int           { return 1 }
func (sleeper) Candle(*strategy.View) {}
func (sleeper) Decide(_ *strategy.View, plan *strategy.Plan) {
	if minute := time.Now().Minute(); 5 <= minute && minute < 10 {
		time.Sleep(1500 * time.Millisecond)
	}
	plan.Hold(strategy.Target{}, "slept")
}

// stuck does not answer from minute five to eight of an hour.
type stuck struct{ sleeper }

func (stuck) Decide(_ *strategy.View, plan *strategy.Plan) {
	if now := time.Now(); now.Minute() >= 5 && now.Minute() < 8 {
		time.Sleep(now.Truncate(time.Hour).Add(8 * time.Minute).Sub(now))
	}
	plan.Hold(strategy.Target{}, "slept")
}

func drowsy() strategy.Definition {
	return strategy.Definition{Name: "drowsy", Summary: "takes its time.",
		New: func(strategy.Setting, strategy.Values) (strategy.Strategy, error) { return sleeper{}, nil }}
}

// TestADayOfDemoFiresNoAlert runs the stock demo, as botd run starts it.
func TestADayOfDemoFiresNoAlert(t *testing.T) {
	t.Parallel()
	w := &watched{t: t, every: time.Minute, series: map[string][]string{}, kinds: map[string]bool{}}
	files := map[string]string{}
	for _, name := range []string{"botd.yaml", "strategies/accumulate.yaml", "strategies/hold.yaml", "strategies/trend.yaml"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "configs", name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(text)
	}
	w.run(files, configs.Demo, aDay(t), nil)
	w.judge(nil)
}

const liveRoot = `mode: live
exchange: {base_url: 'http://127.0.0.1:8421', key_file: %q, secret_file: %q, settle: {window: 5s, visibility: 1s, staleness: 1s}}
risk: {max_daily_loss: 50%%, max_drawdown: 50%%}
`

// live are the files of a live account: a trend with its stop on futures, and a holding on spot.
func live(t *testing.T, root string, more map[string]string) map[string]string {
	t.Helper()
	keys := t.TempDir()
	for name, text := range map[string]string{"key": "watched", "secret": "a secret"} {
		if err := os.WriteFile(filepath.Join(keys, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files := map[string]string{"botd.yaml": fmt.Sprintf(root, filepath.Join(keys, "key"), filepath.Join(keys, "secret")),
		"strategies/trend.yaml": "name: trend\nstrategy: sma_cross\nmarket: futures\nsymbol: ETH-USDT\ninterval: 1m\nleverage: 5\nsize: {equity: 20%}\n" +
			"start: running\nparams: {fast: 5, slow: 20}\nprotect: {stop_loss: 2%, take_profit: 4%}\n",
		"strategies/hold.yaml": "name: hold\nstrategy: buy_and_hold\nmarket: spot\nsymbol: SOL-USDT\ninterval: 1m\nstart: running\nsize: {quote: 100}\n"}
	maps.Copy(files, more)
	return files
}

// sliced is a strategy that buys a little at market, again and again.
func sliced(market, symbol, quantity string, count int, every string) string {
	return fmt.Sprintf("name: slices\nstrategy: twap\nmarket: %s\nsymbol: %s\ninterval: 1m\nschedule: '@every 1s'\nstart: running\n"+
		"params: {side: buy, quantity: %s, slices: %d, every: %s}\n", market, symbol, quantity, count, every)
}

// some reports whether this call is among the first of every so many.
func (w *watched) some(of, every int64) bool { return (w.calls.Add(1)-1)%every < of }

// dearer moves the price of a spot symbol up by a hundredth, for whoever buys next.
func (w *watched) dearer(symbol string) {
	w.t.Helper()
	price, body := struct{ LastPrice decimal.Decimal }{}, ""
	for _, call := range []string{"GET /api/v1/spot/public/ticker/" + symbol, "POST /control/v1/price"} {
		method, path, _ := strings.Cut(call, " ")
		request, err := http.NewRequest(method, "http://127.0.0.1:8421"+path, strings.NewReader(body))
		if err != nil {
			w.t.Error(err)
			return
		}
		response, err := w.wire.Do(request)
		if err != nil {
			w.t.Error(err)
			return
		}
		text, err := io.ReadAll(response.Body)
		response.Body.Close()

		if err != nil || response.StatusCode != http.StatusOK {
			w.t.Errorf("%s: %s %s, %v", call, response.Status, text, err)
		}
		if err := json.Unmarshal(text, &price); err != nil {
			w.t.Error(err)
		}
		dearer := price.LastPrice.Mul(decimal.RequireFromString("1.01")).Round(1)
		body = fmt.Sprintf(`{"market":"spot","symbol":%q,"price":"%s"}`, symbol, dearer)
	}
}

// gained is an account whose wallet holds more.
func gained(t *testing.T, text, more string) string {
	t.Helper()
	var account map[string]any
	if err := json.Unmarshal([]byte(text), &account); err != nil {
		t.Error(err)
		return text
	}
	for _, field := range []string{"totalWalletBalance", "availableBalance"} {
		account[field] = decimal.RequireFromString(account[field].(string)).Add(decimal.RequireFromString(more)).String()
	}
	changed, err := json.Marshal(account)
	if err != nil {
		t.Error(err)
	}
	return string(changed)
}

// without are candles but for those that open at certain times.
func without(t *testing.T, text string, lacks func(openMS int64) bool) string {
	t.Helper()
	var candles [][]any
	if err := json.Unmarshal([]byte(text), &candles); err != nil {
		t.Error(err)
		return text
	}
	candles = slices.DeleteFunc(candles, func(c []any) bool { return lacks(int64(c[0].(float64))) })
	changed, err := json.Marshal(candles)
	if err != nil {
		t.Error(err)
	}
	return string(changed)
}

// within reports whether it is between two times of the run.
func (w *watched) within(from, until time.Duration) bool {
	at := time.Since(w.began)
	return from <= at && at < until
}

// halts has a person halt at one time of the run, and arm again at another.
func (w *watched) halts(p *process, scope account.Scope, level record.HaltLevel, from, until time.Duration) {
	for _, step := range []struct {
		at    time.Duration
		level record.HaltLevel
	}{{from, level}, {until, record.LevelNone}} {
		time.Sleep(step.at - time.Since(w.began))
		if err := p.driver.Send(context.Background(), &engine.EventHalt{Scope: scope, Level: step.level, Why: "a drill"}); err != nil {
			w.t.Error(err)
		}
	}
}

func is(r *http.Request, method, path string) bool {
	return r.Method == method && strings.Contains(r.URL.Path, path)
}

// virtualFaults are a fault for each alert that needs minutes, and when it must have fired and ended.
var virtualFaults = []struct {
	name      string
	lasts     time.Duration
	window    time.Duration // of the exchange for times of requests; 0 is its own
	root      string
	more      map[string]string
	disk      bool
	fault     func(w *watched, r *http.Request, next func() (*http.Response, error)) (*http.Response, error)
	meanwhile func(w *watched, p *process)
	expected  []expectation
	also      []string
	incidents string   // their kinds; of each alert that pages there is one
	perhaps   []string // kinds that may be among them
}{
	{
		name: "orders without an answer", lasts: 14 * time.Minute,
		root: strings.Replace(liveRoot, "window: 5s, visibility: 1s, staleness: 1s", "window: 1m, visibility: 45s, staleness: 15s", 1),
		more: map[string]string{"strategies/slices.yaml": sliced("futures", "BTC-USDT", "0.004", 4, "3m")},
		fault: func(w *watched, r *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if is(r, http.MethodPost, "/fhapi/v1/order") && strings.HasSuffix(r.URL.Path, "/order") && w.within(2*time.Minute, 5*time.Minute) {
				return nil, io.ErrUnexpectedEOF
			}
			return next()
		},
		expected:  []expectation{{"BotdOrderUnsettled", 3 * time.Minute, 5 * time.Minute, 70 * time.Second, 35 * time.Second}},
		incidents: "unsettled",
	},
	{
		name: "a stop that is refused", lasts: 8 * time.Minute, root: liveRoot,
		more: map[string]string{"strategies/slices.yaml": sliced("futures", "BTC-USDT", "0.002", 1, "1s") + "protect: {stop_loss: 5%}\n"},
		fault: func(w *watched, r *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if is(r, http.MethodPost, "/fhapi/v1/order") && strings.Contains(bodyOf(w.t, r), "STOP_MARKET") && time.Since(w.began) < 3*time.Minute {
				return answer(r, http.StatusBadRequest, `{"code":2999,"msg":"stop orders are off"}`), nil
			}
			return next()
		}, // bought in second 1, filled in second 2
		expected:  []expectation{{"BotdUnprotectedPosition", 2 * time.Second, 3 * time.Minute, 20 * time.Second, 75 * time.Second}},
		incidents: "unprotected",
	},
	{
		name: "a clock that is off", lasts: 18 * time.Minute, window: 30 * time.Second, root: liveRoot,
		fault: func(w *watched, r *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if is(r, http.MethodGet, "/fapi/v1/time") && time.Since(w.began) < 13*time.Minute {
				return answer(r, http.StatusOK, fmt.Sprintf(`{"serverTime":%d}`, time.Now().Add(10*time.Second).UnixMilli())), nil
			}
			return next()
		},
		expected: []expectation{{"BotdClockSkew", 0, 13 * time.Minute, 10 * time.Minute, 30 * time.Second}},
	},
	{
		name: "a clock that cannot be read", lasts: 34 * time.Minute, root: liveRoot,
		fault: func(w *watched, r *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if is(r, http.MethodGet, "/fapi/v1/time") && w.within(2*time.Minute, 32*time.Minute) {
				return answer(r, http.StatusNotFound, "{}"), nil
			}
			return next()
		},
		expected:  []expectation{{"BotdClockSkew", 2 * time.Minute, 32 * time.Minute, 1470 * time.Second, 30 * time.Second}},
		also:      []string{"BotdReconcileStale", "BotdExchangeErrors"}, // after a quarter of an hour nothing can be signed
		incidents: "blind clock",
	},
	{
		name: "money that nothing explains", lasts: 13 * time.Minute, root: liveRoot,
		more: map[string]string{"strategies/slices.yaml": sliced("futures", "BTC-USDT", "0.030", 30, "10s")},
		fault: func(w *watched, r *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if is(r, http.MethodGet, "/fhapi/v1/margin/account") && time.Since(w.began) > 2*time.Minute {
				return rewrite(next, func(text string) string { return gained(w.t, text, "5") })
			}
			return next()
		},
		meanwhile: func(w *watched, p *process) {
			time.Sleep(10 * time.Minute)
			transfer := &engine.EventTransfer{Strategy: "slices", Transfer: ledger.Transfer{Market: exchange.Futures, Asset: "USDT"}}
			var err error
			if transfer.Transfer.Amount, err = exchange.AmountFromDecimal(decimal.NewFromInt(5)); err == nil {
				err = p.driver.Send(context.Background(), transfer)
			}
			if err != nil {
				w.t.Error(err)
			}
		},
		expected:  []expectation{{"BotdLedgerDifference", 2 * time.Minute, 10 * time.Minute, 10 * time.Second, 40 * time.Second}},
		incidents: "ledger",
	},
	{
		name: "errors of many requests", lasts: 40 * time.Minute, root: liveRoot,
		fault: func(w *watched, r *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if r.Method == http.MethodGet && w.within(2*time.Minute, 20*time.Minute) && w.some(1, 4) {
				return answer(r, http.StatusInternalServerError, ""), nil
			}
			return next()
		},
		expected: []expectation{{"BotdExchangeErrors", 2 * time.Minute, 20 * time.Minute, 750 * time.Second, 3 * time.Minute}},
	},
	{
		name: "candles that are left out", lasts: 82 * time.Minute, root: liveRoot,
		more: map[string]string{"strategies/slices.yaml": sliced("futures", "BTC-USDT", "0.001", 1, "10s")},
		fault: func(w *watched, r *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if is(r, http.MethodGet, "/fapi/v1/candle") && w.within(2*time.Minute, 16*time.Minute) {
				return rewrite(next, func(text string) string {
					return without(w.t, text, func(openMS int64) bool { return openMS/60_000%2 == 1 })
				})
			}
			return next()
		},
		expected: []expectation{{"BotdCandlesMissing", 2 * time.Minute, 16 * time.Minute, 330 * time.Second, 3330 * time.Second}},
	},
	{
		name: "fills far from what was decided", lasts: 75 * time.Minute, root: liveRoot,
		more: map[string]string{"strategies/slices.yaml": sliced("spot", "BTC-USDT", "0.010", 10, "30s")},
		fault: func(w *watched, r *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if is(r, http.MethodPost, "/hapi/v1/spot/order") { // the price jumps before it arrives
				w.dearer("BTC-USDT")
			}
			return next()
		},
		expected: []expectation{{"BotdSlippageHigh", 0, 5 * time.Minute, 90 * time.Second, 59 * time.Minute}},
	},
	{
		name: "rounds that fail now and then", lasts: 110 * time.Minute, root: liveRoot,
		fault: func(w *watched, r *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if is(r, http.MethodPost, "/order/open") && time.Since(w.began) < 40*time.Minute && w.some(4, 14) {
				return answer(r, http.StatusInternalServerError, ""), nil
			}
			return next()
		},
		expected: []expectation{{"BotdObjectiveMissed", 0, 40 * time.Minute, 930 * time.Second, 1830 * time.Second}},
	},
	{
		name: "a backup of three days ago", lasts: 72 * time.Minute, root: liveRoot,
		meanwhile: func(w *watched, p *process) {
			old := &backups.Made{Schema: 1, At: time.Now().Add(-72 * time.Hour)}
			if err := backups.Mark(p.directory, old); err != nil {
				w.t.Error(err)
			}
			time.Sleep(68 * time.Minute)
			if err := backups.Mark(p.directory, &backups.Made{Schema: 1, At: time.Now()}); err != nil {
				w.t.Error(err)
			}
		},
		expected: []expectation{{"BotdBackupOld", 0, 68 * time.Minute, time.Hour, 15 * time.Second}},
	},
	{
		name: "candles that do not come", lasts: 16 * time.Minute, root: liveRoot,
		fault: func(w *watched, r *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if is(r, http.MethodGet, "/fapi/v1/candle") && w.within(4*time.Minute, 10*time.Minute) {
				return answer(r, http.StatusInternalServerError, ""), nil
			}
			return next()
		},
		expected:  []expectation{{"BotdMarketDataStale", 4 * time.Minute, 10 * time.Minute, 165 * time.Second, 10 * time.Second}},
		incidents: "stale",
	},
	{
		name: "a candle that comes late", lasts: 32 * time.Minute, root: liveRoot,
		more: map[string]string{"strategies/slow.yaml": "name: slow\nstrategy: sma_cross\nmarket: futures\nsymbol: BTC-USDT\ninterval: 15m\n" +
			"start: running\nsize: {quantity: 0.001}\nparams: {fast: 2, slow: 5}\nprotect: {stop_loss: 2%}\n"},
		fault: func(w *watched, r *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if is(r, http.MethodGet, "/fapi/v1/candle") && strings.Contains(r.URL.RawQuery, "15m") && time.Since(w.began) < 27*time.Minute {
				return rewrite(next, func(text string) string {
					return without(w.t, text, func(openMS int64) bool { return openMS >= w.began.UnixMilli() })
				})
			}
			return next()
		},
		expected: []expectation{{"BotdStrategyStalled", 15 * time.Minute, 27 * time.Minute, 450 * time.Second, 30 * time.Second}},
	},
	{
		name: "a full disk", lasts: 22 * time.Minute, root: liveRoot, disk: true,
		more: map[string]string{"strategies/slices.yaml": sliced("futures", "BTC-USDT", "0.060", 60, "20s")},
		meanwhile: func(w *watched, p *process) {
			time.Sleep(3 * time.Minute)
			resize(w.t, p.config.DataDir, 0)
			time.Sleep(10 * time.Second)
			resize(w.t, p.config.DataDir, 0) // what the reserve gave back
			time.Sleep(10 * time.Minute)
			resize(w.t, p.config.DataDir, roomy)
		},
		expected:  []expectation{{"BotdDiskLow", 3 * time.Minute, 13*time.Minute + 10*time.Second, 70 * time.Second, 15 * time.Second}},
		incidents: "disk", // and nothing else: that nothing opens, and that records fail, has that cause
	},
	{
		name: "ticks that pass", lasts: 34 * time.Minute, root: liveRoot,
		more: map[string]string{"strategies/drowsy.yaml": "name: drowsy\nstrategy: drowsy\nmarket: spot\nsymbol: BTC-USDT\ninterval: 1m\n" +
			"schedule: '@every 1s'\nstart: running\nsize: {quote: 100}\n"},
		expected: []expectation{{"BotdTicksMissed", 5 * time.Minute, 10 * time.Minute, 30 * time.Second, 15 * time.Minute}},
	},
	{
		name: "a key that is refused", lasts: 14 * time.Minute, root: liveRoot,
		fault: func(w *watched, r *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if r.Header.Get("X-Api-Key") != "" && w.within(2*time.Minute, 6*time.Minute) {
				return answer(r, http.StatusUnauthorized, `{"code":-2015,"msg":"invalid key, address, or permissions"}`), nil
			}
			return next()
		},
		expected:  []expectation{{"BotdAuthFailing", 2 * time.Minute, 6 * time.Minute, 10 * time.Second, 5 * time.Minute}},
		incidents: "blind",
	},
	{
		name: "too many requests", lasts: 26 * time.Minute, root: liveRoot,
		fault: func(w *watched, r *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if w.within(2*time.Minute, 17*time.Minute) && w.some(1, 2) {
				return answer(r, http.StatusTooManyRequests, `{"code":-1003,"msg":"too many requests"}`), nil
			}
			return next()
		},
		expected:  []expectation{{"BotdRateLimited", 2 * time.Minute, 17 * time.Minute, 210 * time.Second, 5 * time.Minute}},
		incidents: "rate_limited",
		perhaps:   []string{"blind", "unsettled"}, // where three rounds in a row meet it, or all reads of an order for a minute
		also:      []string{"BotdOrderUnsettled"},
	},
	{
		name: "a halt by a person", lasts: 8 * time.Minute, root: liveRoot,
		meanwhile: func(w *watched, p *process) {
			w.halts(p, account.Scope{}, record.LevelPause, 2*time.Minute, 6*time.Minute)
		},
		expected:  []expectation{{"BotdTradingHalted", 2 * time.Minute, 6 * time.Minute, 70 * time.Second, 10 * time.Second}},
		incidents: "halted",
	},
	{
		name: "a halt of one strategy", lasts: 16 * time.Minute, root: liveRoot,
		meanwhile: func(w *watched, p *process) {
			w.halts(p, account.Scope{Strategy: "hold"}, record.LevelPause, 2*time.Minute, 14*time.Minute)
		},
		expected:  []expectation{{"BotdPartHalted", 2 * time.Minute, 14 * time.Minute, 610 * time.Second, 10 * time.Second}},
		incidents: "halted",
	},
	{
		name: "an exit that is refused", lasts: 10 * time.Minute, root: liveRoot,
		more: map[string]string{"strategies/slices.yaml": sliced("futures", "BTC-USDT", "0.002", 1, "1s")},
		fault: func(w *watched, r *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if is(r, http.MethodPost, "/fhapi/v1/order") && strings.Contains(bodyOf(w.t, r), "SELL") && w.within(time.Minute, 6*time.Minute) {
				return answer(r, http.StatusBadRequest, `{"code":2999,"msg":"reductions are off"}`), nil
			}
			return next()
		},
		meanwhile: func(w *watched, p *process) {
			w.halts(p, account.Scope{Strategy: "slices"}, record.LevelFlatten, 2*time.Minute, 9*time.Minute)
		},
		expected:  []expectation{{"BotdIntentRefused", 2 * time.Minute, 6 * time.Minute, 75 * time.Second, 10 * time.Second}},
		incidents: "breaker halted refused",
	},
	{
		name: "a strategy that does not answer", lasts: 12 * time.Minute, root: liveRoot,
		more: map[string]string{"strategies/stuck.yaml": "name: stuck\nstrategy: stuck\nmarket: spot\nsymbol: BTC-USDT\ninterval: 1m\n" +
			"schedule: '@every 1s'\nstart: running\ndeadline: 1s\nsize: {quote: 100}\n"},
		expected:  []expectation{{"BotdStrategyHung", 5 * time.Minute, 8 * time.Minute, 10 * time.Second, 10 * time.Second}},
		incidents: "hung",
	},
	{
		name: "an exchange that does not answer", lasts: 16 * time.Minute, root: liveRoot,
		fault: func(w *watched, r *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if w.within(2*time.Minute, 12*time.Minute+time.Second) { // over after a scrape, which a round that is under way may not outrun
				return nil, io.ErrUnexpectedEOF
			}
			return next()
		},
		expected:  []expectation{{"BotdReconcileStale", 2 * time.Minute, 12 * time.Minute, 80 * time.Second, 15 * time.Second}},
		incidents: "blind",
	},
	{
		name: "an exchange that is gone for an hour", lasts: 70 * time.Minute, root: liveRoot,
		fault: func(w *watched, r *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if w.within(2*time.Minute, 62*time.Minute+time.Second) { // over after a scrape, which a round that is under way may not outrun
				return nil, io.ErrUnexpectedEOF
			}
			return next()
		},
		expected:  []expectation{{"BotdReconcileStale", 2 * time.Minute, 62 * time.Minute, 80 * time.Second, 30 * time.Second}},
		incidents: "blind",
	},
}

// TestADayOfLiveFiresNoAlert runs a healthy live account.
func TestADayOfLiveFiresNoAlert(t *testing.T) {
	t.Parallel()
	w := &watched{t: t, every: time.Minute, series: map[string][]string{}, kinds: map[string]bool{}}
	w.run(live(t, liveRoot, nil), configs.Live, aDay(t), nil)
	w.judge(nil)
}

// aDay is a day with BOTD_DAY, and twenty minutes without.
func aDay(t *testing.T) time.Duration {
	t.Helper()
	if os.Getenv("BOTD_DAY") == "" {
		return 20 * time.Minute // BOTD_DAY=1 makes it a day, a minute of processor time
	}
	return 24 * time.Hour
}

// TestFaultsOfMinutesFireTheirAlerts has each of them on virtual time.
func TestFaultsOfMinutesFireTheirAlerts(t *testing.T) {
	t.Parallel()
	for _, c := range virtualFaults {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if os.Getenv("BOTD_DRILL") == "" && c.name != "a stop that is refused" {
				t.Skip("BOTD_DRILL=1 has it fire its alert: seconds of processor time, most of them promtool's")
			}
			w := &watched{t: t, every: scrapeEvery, window: c.window, disk: c.disk, series: map[string][]string{}, kinds: map[string]bool{}}
			if c.lasts > 16*time.Minute {
				w.every *= 3
			}
			if c.fault != nil {
				w.set(func(r *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
					return c.fault(w, r, next)
				})
			}
			w.run(live(t, c.root, c.more), configs.Live, c.lasts, func(p *process) {
				if c.meanwhile != nil {
					c.meanwhile(w, p)
				}
			})
			for _, kind := range c.perhaps {
				delete(w.kinds, kind)
			}
			if have := strings.Join(slices.Sorted(maps.Keys(w.kinds)), " "); have != c.incidents {
				t.Errorf("want incidents %q, have %q", c.incidents, have)
			}
			w.judge(c.expected, c.also...)
			documented(t, c.expected)
		})
	}
}

// documented compares the figures of alerts with the table of docs/operations.md.
func documented(t *testing.T, expected []expectation) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "operations.md"))
	if err != nil {
		t.Fatal(err)
	}
	short := func(d time.Duration) string {
		return strings.ReplaceAll(strings.ReplaceAll(d.String(), "m0s", "m"), "h0m", "h")
	}
	for _, e := range expected {
		_, row, _ := strings.Cut(string(text), "\n| "+e.alert+" | ")
		row, _, _ = strings.Cut(row, "\n")
		for _, figure := range []string{short(e.fires), short(e.clears)} {
			if !strings.Contains(row, "**"+figure+"**") {
				t.Errorf("docs/operations.md, %s: want %s in its row, have %q", e.alert, figure, row)
			}
		}
	}
}

const roomy = 512 << 20

// smallDisk mounts a file system of its own, or says why not.
func smallDisk(t *testing.T, directory string) {
	t.Helper()
	if err := os.MkdirAll(directory, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", directory, "tmpfs", 0, fmt.Sprintf("mode=0700,size=%d", roomy)); err != nil {
		t.Skipf("a file system cannot be mounted here, which needs its rights: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(directory, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}

// resize gives a small disk another size, at least that of what is on it.
func resize(t *testing.T, directory string, size int64) {
	t.Helper()
	var stat syscall.Statfs_t
	if err := syscall.Statfs(directory, &stat); err != nil {
		t.Error(err)
	}
	size = max(size, int64(stat.Blocks-stat.Bfree)*int64(stat.Bsize))
	if err := syscall.Mount("tmpfs", directory, "tmpfs", syscall.MS_REMOUNT, fmt.Sprintf("mode=0700,size=%d", size)); err != nil {
		t.Error(err)
	}
}

// TestOneProfitEverywhere compares, while strategies trade on both markets, what metrics, API and summary say of each with the ledger.
func TestOneProfitEverywhere(t *testing.T) {
	t.Parallel()
	w := &watched{t: t, every: 10 * time.Second, series: map[string][]string{}, kinds: map[string]bool{}}
	compared, open, lost, began := 0, 0, 0, map[string]exchange.Amount{}
	w.check = func(p *process) {
		p.drawn = time.Time{}
		p.redraw(0)
		status := p.machine.Status()
		summary, exported := (&notify.Tally{}).Summary(&status), map[string]float64{}
		families, err := p.metrics.Registry.Gather()
		if err != nil {
			t.Error(err)
		}
		for _, f := range families {
			for _, one := range f.GetMetric() {
				if labels := one.GetLabel(); len(labels) == 1 && one.GetGauge() != nil {
					exported[f.GetName()+" "+labels[0].GetValue()] = one.GetGauge().GetValue()
				}
			}
		}
		for name, made := range profit.Of(&status) {
			shown, known := p.board.Strategy(name)
			if !known || made == (profit.Profit{}) {
				continue
			}
			compared++
			if !made.Unrealised.IsZero() {
				open++
			}
			if made.Net.Sign() < 0 {
				lost++
			}
			if own := status.Strategies[slices.IndexFunc(status.Strategies, func(s engine.StrategyStatus) bool { return s.Name == name })].Own; !own.IsZero() {
				if _, known := began[name]; !known {
					began[name] = own
				}
				if off := made.Net.Add(made.Unrealised).Sub(own.Sub(began[name])); exchange.AmountOf(2).Less(off.Abs()) {
					t.Errorf("%s: made %s by the ledger, %s by its equity", name, made.Net.Add(made.Unrealised), own.Sub(began[name]))
				}
			}
			if shown.Realized != made.Net.String() || shown.Unrealized != made.Unrealised.String() || shown.Profit != made.Net.Add(made.Unrealised).String() {
				t.Errorf("%s: want net %s and unrealised %s by the API, have %s, %s, %s", name, made.Net, made.Unrealised, shown.Realized, shown.Unrealized,
					shown.Profit)
			}
			if have := exported["botd_strategy_realized_pnl_usdt "+name]; have != made.Net.Float() {
				t.Errorf("%s: want net %s by the metrics, have %g", name, made.Net, have)
			}
			if have := exported["botd_strategy_unrealized_pnl_usdt "+name]; have != made.Unrealised.Float() {
				t.Errorf("%s: want unrealised %s by the metrics, have %g", name, made.Unrealised, have)
			}
			want := fmt.Sprintf("net %s USDT so far, unrealised %s", notify.Signed(made.Net), notify.Signed(made.Unrealised))
			if !strings.Contains(summary, want) {
				t.Errorf("%s: want %s in %s", name, want, summary)
			}
		}
	}
	quotes := "name: %s\nstrategy: market_making\nmarket: %s\nsymbol: %s\ninterval: 1m\nschedule: '@every 1s'\nstart: running\naccept_loss: true\n" +
		"params: {quantity: %s, max_position: %s, spread: 0.02%%, refresh: 2s, tolerance: 0, filled_delay: 0s}\n"
	w.run(live(t, liveRoot, map[string]string{"strategies/futures.yaml": fmt.Sprintf(quotes, "futures", "futures", "BTC-USDT", "0.002", "0.02"),
		"strategies/spot.yaml": fmt.Sprintf(quotes, "spot", "spot", "ETH-USDT", "0.02", "0.2")}), configs.Live, 6*time.Minute, nil)
	if compared < 50 || open < 20 || lost < 20 {
		t.Errorf("want profits that were compared, of open positions and losses too; have %d, %d, %d", compared, open, lost)
	}
}
