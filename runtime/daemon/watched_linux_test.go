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
	"regexp"
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
	"botd/exchange/rest"
	"botd/exchange/sim"
	"botd/exchange/sim/server"
	"botd/internal/pipe"
	"botd/reconcile/account"
	"botd/reconcile/record"
	"botd/runtime/api"
	"botd/runtime/engine"
	"botd/runtime/gateway"
	"botd/runtime/notify"
	"botd/runtime/ops"
	"botd/runtime/profit"
	"botd/strategy"
	"botd/strategy/library"
)

// The whole daemon runs in virtual time, without its sockets: exchange, client, journal, engine, board, incidents and
// metrics are real. The real rules, evaluated by promtool, then judge the exported metrics.

// scrapeEvery is the scrape interval of the Prometheus in deploy/compose.
const scrapeEvery = 5 * time.Second

// watched is a daemon whose metrics are recorded.
type watched struct {
	t      *testing.T
	began  time.Time
	every  time.Duration
	check  func(*process)      // called at each scrape, while the daemon rests
	window time.Duration       // the exchange's window for times of requests; 0 for its default
	disk   bool                // the data are on a separate disk
	venue  *sim.Exchange       // live
	series map[string][]string // a value for each scrape
	count  int                 // number of scrapes
	kinds  map[string]bool     // of the incidents that were open

	down    []window                                        // periods in which the daemon does not run
	targets func(at time.Duration) int                      // number of Prometheus targets
	away    atomic.Bool                                     // the channel's service is away
	home    string                                          // the configuration's directory
	started time.Time                                       // when the daemon last started
	signals *pipe.Listener                                  // accepts signals
	outside func(*http.Request) (status int, answer string) // handles requests to others than the exchange
	refused *error                                          // takes the reason of a start that is refused; nil for a test's failure

	mu       sync.Mutex // guards the next two
	messages []string   // that a channel received
	fault    func(*http.Request, func() (*http.Response, error)) (*http.Response, error)

	wire  *http.Client
	calls atomic.Int64 // counter for some
}

// window is a part of the run.
type window struct{ from, until time.Duration }

// newWatched returns a daemon with that scrape interval, with a Prometheus that has it as its target.
func newWatched(t *testing.T, every time.Duration) *watched {
	return &watched{t: t, every: every, targets: func(time.Duration) int { return 1 }, series: map[string][]string{}, kinds: map[string]bool{}}
}

// set sets the fault of each request; nil for none.
func (w *watched) set(fault func(*http.Request, func() (*http.Response, error)) (*http.Response, error)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fault = fault
}

// RoundTrip passes a request to the exchange in 20 ms, unless a fault handles it.
func (w *watched) RoundTrip(r *http.Request) (*http.Response, error) {
	time.Sleep(20 * time.Millisecond)
	if w.outside != nil && r.URL.Host != "127.0.0.1:8421" {
		status, text := w.outside(r)
		if r.Body != nil {
			_, _ = io.Copy(io.Discard, r.Body) // from a pipe, whose other end waits
			r.Body.Close()
		}
		return answer(r, status, text), nil
	}
	w.mu.Lock()
	fault := w.fault
	w.mu.Unlock()
	next := func() (*http.Response, error) { return w.wire.Transport.RoundTrip(r) }
	if fault == nil {
		return next()
	}
	return fault(r, next)
}

// loopback is a listener in memory with an address of this machine.
type loopback struct{ *pipe.Listener }

func (loopback) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8421} }

// bodyOf returns a request's body.
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

// answer returns the test's own answer.
func answer(r *http.Request, status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: r}
}

// rewrite answers with a modified text of the exchange's answer.
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

// read returns the rules, without recordings that no alert reads, and the names in their expressions.
var read = sync.OnceValues(func() (rules string, names map[string]bool) {
	expressions := ""
	for _, a := range ops.Alerts() {
		expressions += a.Expression + "\n"
	}
	rules, err := ops.RulesYAML()
	if err != nil {
		panic(err)
	}
	for _, r := range ops.Recordings() {
		if strings.Contains(expressions, r.Name) {
			expressions += r.Expression + "\n"
		} else {
			rules = regexp.MustCompile(`(?m)^ +- record: `+r.Name+`\n.*\n`).ReplaceAllLiteralString(rules, "")
		}
	}
	names = map[string]bool{}
	for _, name := range regexp.MustCompile(`\w+`).FindAllString(expressions, -1) {
		names[name] = true
	}
	return rules, names
})

// scrape records the metrics that rules read; nil for a target that does not answer. A metric that is no longer exported ends, as in
// Prometheus.
func (w *watched) scrape(m *ops.Metrics) {
	_, names := read()
	put := func(instance, name string, labels []*dto.LabelPair, value float64, more ...string) {
		if !names[name] {
			return
		}
		if strings.HasSuffix(name, "_timestamp_seconds") && value > 0 { // promtool's time starts at 0
			value -= float64(w.began.UnixMilli()) / 1000
		}
		all := []string{`job="botd"`, `instance="` + instance + `"`}
		for _, l := range labels {
			all = append(all, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
		}
		key := name + "{" + strings.Join(append(all, more...), ", ") + "}"
		if w.series[key] == nil {
			w.series[key] = slices.Repeat([]string{"_"}, w.count)
		}
		w.series[key] = append(w.series[key], strconv.FormatFloat(value, 'f', -1, 64))
	}
	switch {
	case w.targets(time.Since(w.began)) == 0:
	case m == nil:
		put("a", "up", nil, 0)
	default:
		w.gather(m, put)
	}
	w.count++
	for key, values := range w.series {
		if len(values) == w.count {
			continue
		}
		ended := "_"
		if last := values[len(values)-1]; last != "_" && last != "stale" {
			ended = "stale"
		}
		w.series[key] = append(values, ended)
	}
}

// gather records a daemon's exported metrics.
func (w *watched) gather(m *ops.Metrics, put func(instance, name string, labels []*dto.LabelPair, value float64, more ...string)) {
	families, err := m.Registry.Gather()
	if err != nil {
		w.t.Error(err)
	}
	for _, f := range families {
		for _, one := range f.GetMetric() {
			switch {
			case one.GetHistogram() != nil:
				h := one.GetHistogram()
				put("a", f.GetName()+"_sum", one.GetLabel(), h.GetSampleSum())
				put("a", f.GetName()+"_count", one.GetLabel(), float64(h.GetSampleCount()))
				for _, b := range h.GetBucket() {
					put("a", f.GetName()+"_bucket", one.GetLabel(), float64(b.GetCumulativeCount()), fmt.Sprintf("le=%q", fmt.Sprint(b.GetUpperBound())))
				}
				put("a", f.GetName()+"_bucket", one.GetLabel(), float64(h.GetSampleCount()), `le="+Inf"`)
			case one.GetCounter() != nil:
				put("a", f.GetName(), one.GetLabel(), one.GetCounter().GetValue())
			case f.GetName() == started: // the test sets it
				put("a", started, nil, w.started.Sub(w.began).Seconds())
			default:
				put("a", f.GetName(), one.GetLabel(), one.GetGauge().GetValue())
				if f.GetName() == "botd_leader" && w.targets(time.Since(w.began)) > 1 { // one that also trades
					put("b", f.GetName(), one.GetLabel(), one.GetGauge().GetValue())
				}
			}
		}
	}
	put("a", "up", nil, 1)
}

// started is the start time of a process.
const started = "process_start_time_seconds"

// run has the daemon trade for that much virtual time. meanwhile runs in the bubble from its start.
func (w *watched) run(files map[string]string, mode configs.Mode, lasts time.Duration, meanwhile func(*process)) {
	if testing.Short() {
		w.t.Skip("-short: it reads the daemon between events, which its bubble orders and the race detector does not see")
	}
	t := w.t
	directory := filepath.Join(t.TempDir(), strings.Repeat("no-socket-", 12)) // too long for a path
	if w.disk {
		smallDisk(t, filepath.Join(directory, "data"))
	}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGUSR2) // starts the signal watcher outside the bubble
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
		w.home = directory
		config := w.load(t, mode)
		stop := func() {}
		listener := pipe.NewListener()
		w.wire, w.signals = listener.Client(), pipe.NewListener()
		if mode == configs.Live {
			stop = w.serve(listener)
		}
		p, end := w.start(t, config, listener)
		if meanwhile != nil {
			go meanwhile(p)
		}
		for time.Since(w.began) < lasts {
			synctest.Wait()
			if down := slices.ContainsFunc(w.down, func(d window) bool { return w.within(d.from, d.until) }); down && p != nil {
				end()
				p = nil
			} else if !down && p == nil {
				p, end = w.start(t, config, listener)
			}
			if p == nil {
				w.scrape(nil)
				time.Sleep(w.every)
				continue
			}
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
		end()
		stop()
		w.signals.Close()
		w.wire.CloseIdleConnections()
	})
}

// load reads the configuration's files.
func (w *watched) load(t *testing.T, mode configs.Mode) *configs.Config {
	t.Helper()
	config, problems := w.read(mode)
	if problems.Errors() > 0 {
		t.Fatal(problems)
	}
	return config
}

func (w *watched) read(mode configs.Mode) (*configs.Config, configs.Problems) {
	registry := strategy.NewRegistry(append(library.All(), drowsy(), strategy.Definition{Name: "stuck", Summary: "stands still.",
		New: func(strategy.Setting, strategy.Values) (strategy.Strategy, error) { return stuck{}, nil }}, strategy.Definition{Name: "panics",
		Summary: "panics.", New: func(strategy.Setting, strategy.Values) (strategy.Strategy, error) { return panics{}, nil }})...)
	config, problems := configs.LoadDirectory(w.home, configs.Options{Registry: registry, Symbols: sim.DefaultSymbols(), Mode: mode})
	if config != nil {
		config.DataDir, config.Listen, config.Mode = filepath.Join(w.home, "data"), configs.ListenOff, mode
	}
	return config, problems
}

// start starts a daemon and returns once it exports metrics.
func (w *watched) start(t *testing.T, config *configs.Config, listener *pipe.Listener) (p *process, end func()) {
	t.Helper()
	w.started = time.Now()
	p = newProcess(config, Options{Stderr: w.log(), LogFormat: "json", Market: gateway.DemoMarket{Seed: 1},
		Read: func() (*configs.Config, configs.Problems, error) {
			changed, problems := w.read(config.Mode)
			return changed, problems, nil
		}})
	p.network = gateway.Network{Listen: func() (net.Listener, error) { return loopback{listener}, nil }, Transport: w}
	p.accept = func(string, api.Access) (net.Listener, error) { return w.signals, nil }
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- p.run(ctx) }()
	take := func(err error) {
		if w.refused == nil && err != nil {
			t.Fatal(err)
		} else if w.refused != nil {
			*w.refused = err
		}
	}
	for p.metrics == nil {
		select {
		case err := <-done:
			cancel()
			take(err)
			return nil, func() {}
		default:
		}
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
	}
	return p, func() {
		cancel()
		take(<-done)
	}
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

// log returns the target of the daemon's log: the test's, if BOTD_LOG is set.
func (w *watched) log() io.Writer {
	if os.Getenv("BOTD_LOG") != "" {
		return w.t.Output()
	}
	return io.Discard
}

// expectation states when an alert starts to fire after its fault, and ends after the fault's end: then, or two scrapes
// earlier.
type expectation struct {
	alert         string
	begins, ends  time.Duration // of the fault, since the first scrape
	fires, clears time.Duration // of the alert, relative to that
}

// judge has promtool evaluate botd's rules over the recording. Only the expected alerts, and those in also, may ever fire.
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
	rules, _ := read()
	directory := t.TempDir()
	var b strings.Builder
	fmt.Fprintf(&b, "rule_files: [rules.yml]\nevaluation_interval: %s\ntests:\n  - interval: %s\n    input_series:\n", w.every, w.every)
	for _, name := range slices.Sorted(maps.Keys(w.series)) {
		if !uncounted(name, w.series[name]) {
			fmt.Fprintf(&b, "      - {series: '%s', values: '%s'}\n", name, runs(w.series[name]))
		}
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
			`min_over_time(timestamp(%[1]s)[%[2]s:%[3]s])) / %[4]g`, firing(e.alert), last, w.every, w.every.Seconds()), "") // without a gap
	}
	ask(last, fmt.Sprintf(`max by (alertname) (max_over_time(ALERTS{alertname!~"%s", alertstate="firing"}[%s])) - 1`, strings.Join(allowed, "|"), last))
	ask(last, fmt.Sprintf(`max_over_time((count by (alertname) (ALERTS{alertstate="firing"}))[%s:%s]) > 1`, last, w.every)) // one page per cause
	for name, text := range map[string]string{"rules.yml": rules, "test.yml": b.String()} {
		if err := os.WriteFile(filepath.Join(directory, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	command := exec.Command(path, "test", "rules", "test.yml")
	command.Dir, command.Env = directory, append(os.Environ(), "GOGC=400")
	if output, err := command.CombinedOutput(); err != nil {
		t.Errorf("promtool: %v\n%s", err, output)
	}
}

// uncounted reports whether a series is one of the many with a count of zero, which add nothing to the sums of the rules.
func uncounted(name string, values []string) bool {
	return (strings.HasPrefix(name, "botd_exchange_requests_total") || strings.HasPrefix(name, "botd_exchange_error_codes_total") ||
		strings.HasPrefix(name, "botd_incidents_open")) && !slices.ContainsFunc(values, func(v string) bool { return v != "0" && v != "_" && v != "stale" })
}

// firing is 1 while an alert fires.
func firing(alert string) string {
	return fmt.Sprintf(`max(ALERTS{alertname="%s", alertstate="firing"})`, alert)
}

// astray returns by how many seconds the first (min_over_time) or last (max_over_time) firing of an alert is off.
func (w *watched) astray(which, alert string, last, want time.Duration) string {
	at := fmt.Sprintf(`%s(timestamp(%s)[%s:%s])`, which, firing(alert), last, w.every)
	return fmt.Sprintf(`%s - clamp(%s, %g, %g)`, at, at, (want - 2*w.every).Seconds(), want.Seconds())
}

// runs formats values in promtool's notation: 5x3 is 5 four times.
func runs(values []string) string {
	var b strings.Builder
	for i := 0; i < len(values); {
		n := 1
		for i+n < len(values) && values[i+n] == values[i] && values[i] != "_" && values[i] != "stale" {
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

// sleeper has no position, and from minute five to ten of each hour takes a second and a half to answer.
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

// panics panics from minute five to ten of an hour.
type panics struct{ sleeper }

func (panics) Decide(_ *strategy.View, plan *strategy.Plan) {
	if minute := time.Now().Minute(); 5 <= minute && minute < 10 {
		panic("a fault")
	}
	plan.Hold(strategy.Target{}, "well")
}

func drowsy() strategy.Definition {
	return strategy.Definition{Name: "drowsy", Summary: "takes its time.",
		New: func(strategy.Setting, strategy.Values) (strategy.Strategy, error) { return sleeper{}, nil }}
}

// TestADayOfDemoFiresNoAlert runs the stock demo, as botd run starts it.
func TestADayOfDemoFiresNoAlert(t *testing.T) {
	t.Parallel()
	w := newWatched(t, time.Minute)
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
	for name, text := range map[string]string{"key": "watched", "secret": "a secret", "token": strings.Repeat("signal", 6),
		"telegram": "123456:" + strings.Repeat("t", 35)} {
		if err := os.WriteFile(filepath.Join(keys, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root = strings.ReplaceAll(root, "KEYS", keys)
	files := map[string]string{"botd.yaml": fmt.Sprintf(root, filepath.Join(keys, "key"), filepath.Join(keys, "secret")),
		"strategies/trend.yaml": "name: trend\nstrategy: sma_cross\nmarket: futures\nsymbol: ETH-USDT\ninterval: 1m\nleverage: 5\nsize: {equity: 20%}\n" +
			"start: running\nparams: {fast: 5, slow: 20}\nprotect: {stop_loss: 2%, take_profit: 4%}\n",
		"strategies/hold.yaml": "name: hold\nstrategy: buy_and_hold\nmarket: spot\nsymbol: SOL-USDT\ninterval: 1m\nstart: running\nsize: {quote: 100}\n"}
	maps.Copy(files, more)
	return files
}

// sliced is a strategy that buys a little at market again and again.
func sliced(market, symbol, quantity string, count int, every string) string {
	return fmt.Sprintf("name: slices\nstrategy: twap\nmarket: %s\nsymbol: %s\ninterval: 1m\nschedule: '@every 1s'\nstart: running\n"+
		"params: {side: buy, quantity: %s, slices: %d, every: %s}\n", market, symbol, quantity, count, every)
}

// some reports whether this call is one of the first of a group of that many.
func (w *watched) some(of, every int64) bool { return (w.calls.Add(1)-1)%every < of }

// control calls the exchange's control interface and decodes the answer, unless that is nil.
func (w *watched) control(call, body string, answer any) {
	w.t.Helper()
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
	if answer != nil {
		if err := json.Unmarshal(text, answer); err != nil {
			w.t.Error(err)
		}
	}
}

// dearer raises the price of a spot symbol by a hundredth for the next buyer.
func (w *watched) dearer(symbol string) {
	w.t.Helper()
	price := struct{ LastPrice decimal.Decimal }{}
	w.control("GET /api/v1/spot/public/ticker/"+symbol, "", &price)
	dearer := price.LastPrice.Mul(decimal.RequireFromString("1.01")).Round(1)
	w.control("POST /control/v1/price", fmt.Sprintf(`{"market":"spot","symbol":%q,"price":"%s"}`, symbol, dearer), nil)
}

// tradeManually has a person trade on the account, outside botd.
func (w *watched) tradeManually(symbol, quantity string) {
	w.t.Helper()
	person, err := rest.New(rest.Config{BaseURL: "http://127.0.0.1:8421", Key: "watched", Secret: []byte("a secret"), Transport: w.wire.Transport})
	if err == nil {
		err = person.RefreshSymbols(context.Background())
	}
	if err != nil {
		w.t.Error(err)
		return
	}
	of, _ := person.Symbols().Symbol(exchange.SymbolKey{Market: exchange.Futures, Name: symbol})
	order := exchange.NewOrder{Market: exchange.Futures, Symbol: symbol, Side: exchange.Buy, Type: exchange.MarketOrder}
	if order.Quantity, err = of.Quantity(decimal.RequireFromString(quantity)); err == nil {
		_, err = person.Do(context.Background(), exchange.Request{Operation: exchange.FuturesPlace, Symbol: symbol, Order: order})
	}
	if err != nil {
		w.t.Error(err)
	}
}

// signal sends a signal with a wrong token.
func (w *watched) signal() {
	w.t.Helper()
	response, err := w.signals.Client().Post("http://127.0.0.1/signal", "application/json", strings.NewReader(`{"token": "wrong"}`))
	if err != nil {
		w.t.Error(err)
		return
	}
	response.Body.Close()
}

// write writes a file of the configuration.
func (w *watched) write(name, text string) {
	if err := os.WriteFile(filepath.Join(w.home, name), []byte(text), 0o600); err != nil {
		w.t.Error(err)
	}
}

// until waits until that long after the run's start.
func (w *watched) until(at time.Duration) { time.Sleep(at - time.Since(w.began)) }

// send sends an event to the engine.
func (w *watched) send(p *process, event engine.Event) {
	w.t.Helper()
	if err := p.driver.Send(context.Background(), event); err != nil {
		w.t.Error(err)
	}
}

// gained returns an account whose wallet has more.
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

// without returns candles without those that open at certain times.
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

// within reports whether the time is between two times of the run.
func (w *watched) within(from, until time.Duration) bool {
	at := time.Since(w.began)
	return from <= at && at < until
}

// halts has a person halt at one time of the run, and rearm at another.
func (w *watched) halts(p *process, scope account.Scope, level record.HaltLevel, from, until time.Duration) {
	for _, step := range []struct {
		at    time.Duration
		level record.HaltLevel
	}{{from, level}, {until, record.LevelNone}} {
		w.until(step.at)
		w.send(p, &engine.EventHalt{Scope: scope, Level: step.level, Reason: "a drill"})
	}
}

func is(r *http.Request, method, path string) bool {
	return r.Method == method && strings.Contains(r.URL.Path, path)
}

// TestADayOfLiveFiresNoAlert runs a healthy live account.
func TestADayOfLiveFiresNoAlert(t *testing.T) {
	t.Parallel()
	w := newWatched(t, time.Minute)
	w.run(live(t, liveRoot, nil), configs.Live, aDay(t), nil)
	w.judge(nil)
}

// aDay is a day with BOTD_DAY, otherwise twenty minutes.
func aDay(t *testing.T) time.Duration {
	t.Helper()
	if os.Getenv("BOTD_DAY") == "" {
		return 20 * time.Minute // BOTD_DAY=1 makes it a day, which takes a minute of processor time
	}
	return 24 * time.Hour
}

const roomy = 512 << 20

// smallDisk mounts a separate file system, or returns why it cannot.
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

// resize changes the size of a small disk, at least to that of its contents.
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

// TestProfitIsEqualEverywhere compares metrics, API and summary of each strategy with the ledger, while strategies trade on both markets.
func TestProfitIsEqualEverywhere(t *testing.T) {
	t.Parallel()
	w := newWatched(t, 10*time.Second)
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
			if !made.Unrealized.IsZero() {
				open++
			}
			if made.Net.Sign() < 0 {
				lost++
			}
			if own := status.Strategies[slices.IndexFunc(status.Strategies, func(s engine.StrategyStatus) bool { return s.Name == name })].Own; !own.IsZero() {
				if _, known := began[name]; !known {
					began[name] = own
				}
				if off := made.Net.Add(made.Unrealized).Sub(own.Sub(began[name])); exchange.AmountOf(2).Less(off.Abs()) {
					t.Errorf("%s: made %s by the ledger, %s by its equity", name, made.Net.Add(made.Unrealized), own.Sub(began[name]))
				}
			}
			if shown.Realized != made.Net.String() || shown.Unrealized != made.Unrealized.String() || shown.Profit != made.Net.Add(made.Unrealized).String() {
				t.Errorf("%s: want net %s and unrealized %s by the API, have %s, %s, %s", name, made.Net, made.Unrealized, shown.Realized, shown.Unrealized,
					shown.Profit)
			}
			if have := exported["botd_strategy_realized_pnl_usdt "+name]; have != made.Net.Float() {
				t.Errorf("%s: want net %s by the metrics, have %g", name, made.Net, have)
			}
			if have := exported["botd_strategy_unrealized_pnl_usdt "+name]; have != made.Unrealized.Float() {
				t.Errorf("%s: want unrealized %s by the metrics, have %g", name, made.Unrealized, have)
			}
			want := fmt.Sprintf("net %s USDT so far, unrealized %s", notify.Signed(made.Net), notify.Signed(made.Unrealized))
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
