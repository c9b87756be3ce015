package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"botd/configs"
	"botd/exchange/sim"
	"botd/internal/failure"
	"botd/reconcile/journal"
	"botd/runtime"
	"botd/runtime/api"
	"botd/runtime/api/auth"
	"botd/runtime/gateway"
	"botd/runtime/lane"
	"botd/runtime/reload"
)

// A daemon in this process, with its sockets and in real time: what a start, its end and its refusals look like from outside.

// demo is a configured demo, and the lines that it has written to stderr.
type demo struct {
	t     *testing.T
	files *watched // reads the configuration
	lines chan string
	seen  []string
	mu    sync.Mutex // guards rest
	rest  string     // of the last line, which has not ended
}

const demoHold = "name: hold\nstrategy: buy_and_hold\nmarket: spot\nsymbol: SOL-USDT\ninterval: 1m\nstart: running\nsize: {quote: 100}\n"

func newDemo(t *testing.T, root string) *demo {
	t.Helper()
	d := &demo{t: t, files: &watched{t: t, home: t.TempDir()}, lines: make(chan string, 10_000)}
	if err := os.Mkdir(filepath.Join(d.files.home, "strategies"), 0o700); err != nil {
		t.Fatal(err)
	}
	d.files.write("botd.yaml", root)
	d.files.write("strategies/hold.yaml", demoHold)
	return d
}

// Write takes stderr's lines.
func (d *demo) Write(text []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rest += string(text)
	for {
		line, rest, whole := strings.Cut(d.rest, "\n")
		if !whole {
			return len(text), nil
		}
		d.rest = rest
		d.lines <- line
	}
}

// await returns the next line that contains a text.
func (d *demo) await(what string) (line string) {
	d.t.Helper()
	for {
		select {
		case line = <-d.lines:
			if d.seen = append(d.seen, line); strings.Contains(line, what) {
				return line
			}
		case <-time.After(time.Minute): // a start takes a second
			d.t.Fatalf("want a line with %s, have\n%s", what, strings.Join(d.seen, "\n"))
		}
	}
}

func (d *demo) config() *configs.Config { return d.files.load(d.t, configs.Demo) }

// start runs the daemon until stop is called, which returns its error.
func (d *demo) start(change func(c *configs.Config, o *Options)) (stop func() error) {
	config := d.config()
	options := Options{Stderr: d, LogFormat: "json", Market: gateway.DemoMarket{Seed: 1}, Terminal: true, Seen: reload.Fingerprint(config),
		Read: d.again}
	change(config, &options)
	ctx, cancel := context.WithCancel(d.t.Context())
	done := make(chan error, 1)
	go func() { done <- Run(ctx, config, options) }()
	return func() error { cancel(); return <-done }
}

// again is a configuration that is read as it is.
func (d *demo) again() (*configs.Config, configs.Problems, error) {
	changed, problems := d.files.read(configs.Demo)
	return changed, problems, nil
}

// caller calls the daemon's API.
type caller struct {
	t              *testing.T
	address, token string
}

// call calls, and returns the status, the body's text and, of JSON, its value.
func (c *caller) call(method, path, body string) (status int, text string, value map[string]any) {
	c.t.Helper()
	request, err := http.NewRequestWithContext(c.t.Context(), method, c.address+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		c.t.Fatal(err)
	}
	defer response.Body.Close()
	all, err := io.ReadAll(response.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	_ = json.Unmarshal(all, &value)
	return response.StatusCode, string(all), value
}

// item returns the element of a list of objects in which a key has a value.
func item(list any, key string, value any) map[string]any {
	all, _ := list.([]any)
	for _, one := range all {
		if fields, is := one.(map[string]any); is && fields[key] == value {
			return fields
		}
	}
	return nil
}

// outside is another's service, which passes on the paths that were requested.
func outside(t *testing.T, answer string) (address string, paths chan string) {
	t.Helper()
	paths = make(chan string, 1_000)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		select {
		case paths <- r.URL.Path:
		default: // a bot polls without end
		}
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(service.Close)
	return service.URL, paths
}

// secret writes a file that only this user can read.
func secret(t *testing.T, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestADemoServesWhatItHas starts a demo with each of its servers and services, asks all of them, and starts it once more.
func TestADemoServesWhatItHas(t *testing.T) {
	beats, beaten := outside(t, "{}")
	desk, messages := outside(t, "{}")
	bot, polled := outside(t, `{"ok": true, "result": []}`)
	token := strings.Repeat("m", 40)
	supervised := supervisor(t)
	d := newDemo(t, fmt.Sprintf("mode: demo\nmetrics: {listen: '127.0.0.1:0', token_file: %q}\nsignals: {listen: '127.0.0.1:0', token_file: %q}\n"+
		"heartbeat: {url_file: %q, every: 10s}\ntelegram: {token_file: %q, operators: [7], viewers: [8, 9], server: %q}\n"+
		"notify: {channels: {desk: {url_file: %q}}}\n",
		secret(t, token), secret(t, strings.Repeat("s", 40)), secret(t, beats+"/beat"), secret(t, "123456:"+strings.Repeat("t", 35)), bot,
		secret(t, strings.Replace(desk, "http://", "generic://", 1)+"/desk?disabletls=yes")))
	d.files.write("strategies/cross.yaml", "name: cross\nstrategy: sma_cross\nmarket: futures\nsymbol: ETH-USDT\ninterval: 1h\nsize: {quote: 50}\n"+
		"params: {fast: 5, slow: 20}\naccept_loss: true\n")
	d.files.write("strategies/follow.yaml", "name: follow\nstrategy: signal\nmarket: futures\nsymbol: BTC-USDT\ninterval: 1m\nleverage: 3\n"+
		"size: {quote: 50}\nstart: running\naccept_loss: true\n")
	listen := func(c *configs.Config, _ *Options) { c.Listen = "127.0.0.1:0" }
	stop := d.start(listen)
	metrics, telegram := d.await("daemon.metrics"), d.await("daemon.telegram")
	if !strings.Contains(metrics, "all of them on 127.0.0.1:") || !strings.Contains(telegram, "commands of 1 operator and questions of 2 viewers") {
		t.Errorf("have %s and %s", metrics, telegram)
	}
	address := wordAfter(t, d.await("daemon.listening"), "metrics   ", "/metrics")
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(address, "http://"))
	if link := d.await("log in with this link"); !strings.HasPrefix(link, "log in with this link, once, within ten minutes: http://botd-") ||
		!strings.Contains(link, ".localhost:"+port+"/login#") {
		t.Errorf("want a link at port %s, have %s", port, link)
	}
	signals := wordAfter(t, d.await("daemon.signals"), "signals   ", `"`)
	d.await("daemon.reconciled")
	d.await("trade.opened")
	data := d.config().DataDir
	directory := filepath.Join(data, "demo")
	tokens, made, err := auth.ReadTokens(directory)
	if err != nil || made {
		t.Fatal(made, err)
	}
	api := &caller{t, address, tokens.Operator}
	asksTheAPI(t, d, api, directory)
	scraped := "http://" + wordAfter(t, metrics, "all of them on ", ", for their token")
	if status, text, _ := (&caller{t, scraped, ""}).call("GET", "/metrics", ""); status != 401 {
		t.Errorf("metrics without their token: want them refused, have %d %s", status, text)
	}
	if status, text, _ := (&caller{t, scraped, token}).call("GET", "/metrics", ""); status != 200 || !strings.Contains(text, "botd_strategy_equity_usdt") {
		t.Errorf("metrics: want all of them, have %d %.200s", status, text)
	}
	for _, name := range []string{`botd_store_size_bytes{file="journal"}`, `botd_store_size_bytes{file="journal_log"}`, "botd_store_free_bytes", "botd_leader",
		"botd_store_last_backup_timestamp_seconds"} {
		_, text, _ := (&caller{t, scraped, token}).call("GET", "/metrics", "")
		if _, value, found := strings.Cut(text, "\n"+name+" "); !found || value[0] == '0' {
			t.Errorf("want %s measured, have %.20s", name, value)
		}
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	if line := d.await("log.level"); !strings.Contains(line, "level debug, by SIGUSR1") {
		t.Errorf("want debug lines from now on, have %s", line)
	}
	for _, c := range []struct {
		token, symbol string
		status        int
	}{{"wrong", "BTCUSDT", 401}, {strings.Repeat("s", 40), "ETHUSDT", 400}, {strings.Repeat("s", 40), "BTCUSDT", 200}} {
		status, text, _ := (&caller{t, signals, ""}).call("POST", "", fmt.Sprintf(`{"token": %q, "id": "1", "strategy": "follow", "position": "long",
			"size": "50%%", "time": %d, "symbol": %q}`, c.token, time.Now().UnixMilli(), c.symbol))
		if status != c.status {
			t.Errorf("a signal for %s: want %d, have %d %s", c.symbol, c.status, status, text)
		}
	}
	if status, _, _ := (&caller{t, signals, ""}).call("POST", "", fmt.Sprintf(`{"token": %q, "id": "2", "strategy": "none", "position": "long", "size": "50%%",
			"time": %d, "symbol": "BTCUSDT"}`, strings.Repeat("s", 40), time.Now().UnixMilli())); status != 404 {
		t.Errorf("a signal for a strategy that is not there: have %d", status)
	}
	if _, text, _ := (&caller{t, scraped, token}).call("GET", "/metrics", ""); !strings.Contains(text, `botd_signals_total{result="taken"} 1`+"\n") {
		t.Error("want one signal counted as taken")
	}
	for name, paths := range map[string]chan string{"/beat": beaten, "/desk": messages, "/bot123456:" + strings.Repeat("t", 35) + "/getUpdates": polled} {
		for path := ""; path != name; {
			select {
			case path = <-paths:
			case <-t.Context().Done():
				t.Fatalf("%s was never requested", name)
			}
		}
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"READY=1\nSTATUS=demo on ", "WATCHDOG=1", "STATUS=trading is halted: news", "STOPPING=1"} {
		if !slices.ContainsFunc(supervised(), func(state string) bool { return strings.HasPrefix(state, want) }) {
			t.Errorf("want systemd notified of %q, have %q", want, supervised())
		}
	}
	if line := d.await("daemon.stopped"); !strings.Contains(line, "the next start picks these up and continues") {
		t.Errorf("want its purchase left open, have %s", line)
	}
	if text, err := os.ReadFile(filepath.Join(directory, "recorded", "signals.csv")); err != nil || !strings.Contains(string(text), ",follow,0.5\n") {
		t.Errorf("want the signal recorded, have %s, %v", text, err)
	}
	for _, name := range []string{"journal.db", "equity.csv", "decisions", "recorded", "logs"} {
		if _, err := os.Stat(filepath.Join(directory, name)); err != nil {
			t.Errorf("want it in the data: %v", err)
		}
	}
	for _, line := range d.seen {
		expected := strings.Contains(line, "log.level") || strings.Contains(line, "HALTED") || strings.Contains(line, "trading.armed")
		if (strings.Contains(line, `"level":"warn"`) || strings.Contains(line, `"level":"error"`)) && !expected {
			t.Errorf("want no warning, have %s", line)
		}
	}
	d.seen = nil
	stop = d.start(func(c *configs.Config, o *Options) { c.Listen, o.Restartable = "127.0.0.1:0", true })
	api.address = wordAfter(t, d.await("daemon.listening"), "metrics   ", "/metrics")
	d.await("daemon.reconciled")
	if status, text, _ := api.call("POST", "/api/v1/sweeps",
		`{"strategy": "cross", "vary": ["fast=2,3"], "file": "candles/none.csv", "dry_run": true}`); status == 200 ||
		!strings.Contains(text, "candles/none.csv") {
		t.Errorf("a sweep of candles that are not there: have %d %s", status, text)
	}
	if err := stop(); err != nil || slices.ContainsFunc(d.seen, func(line string) bool { return strings.Contains(line, "daemon.unclean") }) {
		t.Errorf("want a start after a clean stop, have %v\n%s", err, strings.Join(d.seen, "\n"))
	}
}

// supervisor is systemd, for the rest of the test: it returns the states that it was notified of.
func supervisor(t *testing.T) (states func() []string) {
	t.Helper()
	directory, err := os.MkdirTemp("", "systemd") // a path that is short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(directory) })
	path := filepath.Join(directory, "notify")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("NOTIFY_SOCKET", path)
	var mu sync.Mutex // guards all
	var all []string
	var reading sync.WaitGroup
	reading.Go(func() {
		for text := make([]byte, 4096); ; {
			n, err := socket.Read(text)
			if err != nil {
				return
			}
			mu.Lock()
			all = append(all, string(text[:n]))
			mu.Unlock()
		}
	})
	t.Cleanup(func() { _ = socket.Close(); reading.Wait() })
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
}

// TestARunThatWasCutOffIsReported covers the mark of a run that was killed. A start that is refused leaves it; one that trades and stops takes it away.
func TestARunThatWasCutOffIsReported(t *testing.T) {
	t.Parallel()
	d := newDemo(t, "mode: demo\n")
	directory := filepath.Join(d.config().DataDir, "demo")
	if err := os.MkdirAll(directory, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, unclean, err := runtime.Mark(directory); err != nil || unclean {
		t.Fatal(unclean, err)
	}
	open := d.config()
	open.Listen = "0.0.0.0:0"
	refused := Run(t.Context(), open, Options{Stderr: io.Discard, LogFormat: "json", Market: gateway.DemoMarket{Seed: 1}})
	if failure.CodeOf(refused) != failure.Config {
		t.Fatalf("want the start refused, have %v", refused)
	}
	for _, unclean := range []bool{true, false} {
		d.seen = nil
		p := newProcess(d.config(), Options{Stderr: d, LogFormat: "json", Market: gateway.DemoMarket{Seed: 1}, Read: d.again})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		done := make(chan error, 1)
		go func() { done <- p.run(ctx) }()
		d.await("daemon.reconciled")
		cancel()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if have := counted(t, p.metrics, "botd_last_shutdown_unclean"); (have == 1) != unclean {
			t.Errorf("want it measured %t, have %v", unclean, have)
		}
		reported := slices.ContainsFunc(d.seen, func(line string) bool {
			return strings.Contains(line, "daemon.unclean") && strings.Contains(line, "the previous run did not stop cleanly")
		})
		if reported != unclean {
			t.Errorf("want it reported %t, have\n%s", unclean, strings.Join(d.seen, "\n"))
		}
	}
}

// TestAServerThatEndsEarlyIsAnErrorOfTheRun uses a listener that is closed while botd runs. The next start learns that the run did not end cleanly.
func TestAServerThatEndsEarlyIsAnErrorOfTheRun(t *testing.T) {
	t.Parallel()
	d := newDemo(t, "mode: demo\n")
	config := d.config()
	config.Listen = "127.0.0.1:0"
	p := newProcess(config, Options{Stderr: d, LogFormat: "json", Market: gateway.DemoMarket{Seed: 1}, Read: d.again})
	var listener net.Listener
	p.accept = func(address string, access api.Access) (_ net.Listener, err error) {
		listener, err = api.Listen(address, access)
		return listener, err
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- p.run(ctx) }()
	d.await("daemon.reconciled")
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-done; !errors.Is(err, net.ErrClosed) {
		t.Errorf("want the end of its server reported, have %v", err)
	}
	if text := strings.Join(d.seen, "\n"); strings.Contains(text, "log in with this link") || !strings.Contains(text, "daemon.listening") {
		t.Errorf("without a terminal: want its address alone, have %s", text)
	}
	d.seen = nil
	stop := d.start(func(*configs.Config, *Options) {})
	d.await("daemon.unclean")
	d.await("daemon.reconciled")
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// wordAfter returns the part of a line between two texts.
func wordAfter(t *testing.T, line, before, after string) string {
	t.Helper()
	_, rest, found := strings.Cut(line, before)
	word, _, ended := strings.Cut(rest, after)
	if !found || !ended {
		t.Fatalf("want %s and %s in %s", before, after, line)
	}
	return word
}

// asksTheAPI asks for what the daemon passes to its API: parts, files and functions.
func asksTheAPI(t *testing.T, d *demo, api *caller, directory string) {
	t.Helper()
	config := d.config()
	if status, text, _ := api.call("GET", "/readyz", ""); status != 200 {
		t.Errorf("want it ready, have %d %s", status, text)
	}
	if status, text, _ := api.call("GET", "/", ""); status != 200 || !strings.Contains(text, `data-theme="dark"`) {
		t.Errorf("want the dashboard, have %d %.200s", status, text)
	}
	for path, holds := range map[string]func(v map[string]any) bool{
		"/api/v1/health": func(v map[string]any) bool {
			clock := item(v["checks"], "name", "clock")
			return clock["ok"] == true && item(v["checks"], "ok", false) == nil
		},
		"/api/v1/config": func(v map[string]any) bool {
			return strings.Contains(fmt.Sprint(v["yaml"]), "mode: demo") && v["directory"] == config.Directory
		},
		"/api/v1/status": func(v map[string]any) bool {
			head, _ := v["journal_head"].(map[string]any)
			records, _ := head["records"].(float64)
			return v["mode"] == "demo" && v["ready"] == true && records > 0 && head["keyed"] == false
		},
		"/api/v1/strategies": func(v map[string]any) bool { return item(v["items"], "name", "hold") != nil },
		"/api/v1/strategies/hold": func(v map[string]any) bool {
			return strings.Contains(fmt.Sprint(v["config"]), "kind: buy_and_hold") || v["config"] != nil
		},
		"/api/v1/market/spot/SOL-USDT": func(v map[string]any) bool { return v["symbol"] == "SOL-USDT" },
		"/api/v1/backtests/choices":    func(v map[string]any) bool { return item(v["strategies"], "name", "hold") != nil },
		"/api/v1/reconcile":            func(v map[string]any) bool { return v["schema"] == 1. },
		"/api/v1/backtests":            func(v map[string]any) bool { return v["schema"] == 1. },
		"/api/v1/sweeps":               func(v map[string]any) bool { return v["schema"] == 1. },
		"/api/v1/logs?text=reconciled": func(v map[string]any) bool { return v["schema"] == 1. },
		"/api/v1/equity":               func(v map[string]any) bool { return v["schema"] == 1. },
		"/api/v1/strategies/cross/plots": func(v map[string]any) bool {
			lines, _ := v["lines"].([]any)
			return len(lines) == 2
		},
		"/api/v1/market/symbols": func(v map[string]any) bool {
			items, _ := v["items"].([]any)
			return len(items) == len(sim.DefaultSymbols()) && item(items, "strategy", "hold")["symbol"] == "SOL-USDT"
		},
	} {
		if status, text, value := api.call("GET", path, ""); status != 200 || !holds(value) {
			t.Errorf("%s: have %d %.2000s", path, status, text)
		}
	}
	for _, step := range [][2]string{{"halt", `{"level": "pause", "reason": "news"}`}, {"rearm", `{"reason": "over"}`}} {
		if status, text, _ := api.call("POST", "/api/v1/risk/"+step[0], step[1]); status != 200 && status != 202 {
			t.Errorf("%s: have %d %s", step[0], status, text)
		}
	}
	const sweep = `{"strategy": "cross", "vary": ["fast=2,3"], "file": "candles/none.csv", "dry_run": true}`
	if status, text, _ := api.call("POST", "/api/v1/sweeps", sweep); status == 200 || !strings.Contains(text, "this botd runs no sweeps") {
		t.Errorf("a sweep without a program that can be started: have %d %s", status, text)
	}
	if status, text, value := api.call("POST", "/api/v1/backup", "{}"); status != 200 {
		t.Errorf("backup: have %d %s", status, text)
	} else if file := fmt.Sprint(value["backup"].(map[string]any)["file"]); !strings.HasPrefix(filepath.Base(file), "demo-"+config.Instance+"-") {
		t.Errorf("want a backup that names mode and instance, have %s", file)
	}
	if status, text, value := api.call("POST", "/api/v1/notifications/test", "{}"); status != 200 ||
		item(value["items"], "channel", "desk")["result"] != "sent" {
		t.Errorf("want a message through the channel, have %d %s", status, text)
	}
	d.files.write("strategies/hold.yaml", strings.Replace(demoHold, "quote: 100", "quote: 200", 1))
	if status, text, _ := api.call("POST", "/api/v1/config/reload", "{}"); status != 200 || !strings.Contains(text, "hold") {
		t.Errorf("reload: have %d %s", status, text)
	}
	if _, text, value := api.call("GET", "/api/v1/strategies/hold", ""); !strings.Contains(fmt.Sprint(value["config"]), "quote: 200") {
		t.Errorf("after a reload: want the new configuration, have %s", text)
	}
	if entries, err := os.ReadDir(filepath.Join(directory, "backups")); err != nil || len(entries) == 0 {
		t.Errorf("want a backup in the data, have %v, %v", entries, err)
	}
}

// unrefused ends a start that is not refused.
type unrefused struct{ end func() }

func (u unrefused) Write(text []byte) (int, error) {
	if strings.Contains(string(text), "daemon.reconciled") {
		u.end()
	}
	return len(text), nil
}

// TestARefusedStartIsNoUncleanOne has a start refused for each reason, with its exit code and hint. The next one, without the fault, is a
// clean start: nothing was cut off, and the directory is free.
func TestARefusedStartIsNoUncleanOne(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { busy.Close() })
	write := func(name, text string) func(string) func() error {
		return func(directory string) func() error {
			path := filepath.Join(directory, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
			return func() error { return os.Remove(path) }
		}
	}
	folder := func(name string) func(string) func() error {
		return func(directory string) func() error {
			path := filepath.Join(directory, name)
			if err := os.MkdirAll(path, 0o700); err != nil {
				t.Fatal(err)
			}
			return func() error { return os.Remove(path) }
		}
	}
	for name, c := range map[string]struct {
		change  func(c *configs.Config, o *Options)
		prepare func(directory string) (repair func() error) // of the mode's data
		code    int
		want    string
	}{
		"a format that is none": {func(_ *configs.Config, o *Options) { o.LogFormat = "xml" }, nil, failure.Usage, "--log-format xml"},
		"a level that is none":  {func(_ *configs.Config, o *Options) { o.LogLevel = "loud" }, nil, failure.Usage, "--log-level loud"},
		"data that others write": {nil, func(directory string) func() error {
			if err := errors.Join(os.MkdirAll(directory, 0o700), os.Chmod(directory, 0o770)); err != nil {
				t.Fatal(err)
			}
			return func() error { return os.Chmod(directory, 0o700) }
		}, failure.Config, "has mode 0770"},
		"another botd": {nil, func(directory string) func() error {
			if err := os.MkdirAll(directory, 0o700); err != nil {
				t.Fatal(err)
			}
			lock, err := journal.Hold(directory)
			if err != nil {
				t.Fatal(err)
			}
			return func() error { lock.Release(); return nil }
		}, failure.Temporary, ""},
		"a journal key that is missing":            {func(c *configs.Config, _ *Options) { c.JournalKeyFile = "/none" }, nil, failure.Config, "/none"},
		"a journal that is none":                   {nil, write(journal.FileName, strings.Repeat("no database", 400)), failure.IO, "file is not a database"},
		"a journal that was lost":                  {nil, write(journal.FileName+".rescued-20260101T000000Z", "a copy"), failure.Config, "botd restore "},
		"records that a lost journal did not take": {nil, write(journal.FileName+".diverted", "records"), failure.Config, "newest backup"},
		"a missing journal whose end is noted": {nil, func(directory string) func() error {
			path := filepath.Join(directory, journal.FileName)
			if err := os.Rename(path, path+".away"); err != nil {
				t.Fatal(err)
			}
			return func() error { return os.Rename(path+".away", path) }
		}, failure.Config, "botd journal head --accept"},
		"a folder in place of the run's mark":   {nil, folder("running"), failure.IO, "mark the data directory as running"},
		"a folder in place of the lane's file":  {nil, folder(lane.FileName), failure.IO, lane.FileName},
		"a folder in place of a token":          {nil, folder(auth.OperatorFile), failure.IO, auth.OperatorFile},
		"a folder in place of the named tokens": {nil, folder(auth.KeyringFile), failure.IO, auth.KeyringFile},
		"a folder in place of the repeats":      {nil, folder(api.RepeatsFile), failure.Data, api.RepeatsFile},
		"a halt that cannot be read":            {nil, write("halt-1-1.json", "{"), failure.Data, "a halt was stored for this start"},
		"a folder in place of the equity":       {nil, folder("equity.csv"), failure.IO, "equity.csv"},
		"a taken address":                       {func(c *configs.Config, _ *Options) { c.Listen = busy.Addr().String() }, nil, failure.Unavailable, "in use"},
		"an open address":                       {func(c *configs.Config, _ *Options) { c.Listen = "0.0.0.0:0" }, nil, failure.Config, ""},
		"metrics without a token":               {func(c *configs.Config, _ *Options) { c.Metrics.Listen = "127.0.0.1:0" }, nil, failure.Credentials, ""},
		"signals without a token":               {func(c *configs.Config, _ *Options) { c.Signals.Listen = "127.0.0.1:0" }, nil, failure.Credentials, ""},
		"telegram without a token":              {func(c *configs.Config, _ *Options) { c.Telegram.Viewers = []int64{7} }, nil, failure.Credentials, ""},
		"no address of a heartbeat":             {func(c *configs.Config, _ *Options) { c.Heartbeat.AddressFile = "/none" }, nil, failure.Credentials, "/none"},
		"no address of a channel": {func(c *configs.Config, _ *Options) {
			c.Notify.Channels = []configs.ChannelConfig{{Name: "desk", AddressFile: "/none"}}
		}, nil, failure.Credentials, "/none"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDemo(t, "mode: demo\n")
			repair := func() error { return nil }
			if strings.Contains(name, "whose end is noted") {
				first := d.start(func(*configs.Config, *Options) {})
				d.await("daemon.reconciled")
				if err := first(); err != nil {
					t.Fatal(err)
				}
			}
			if c.prepare != nil {
				if err := os.MkdirAll(d.config().DataDir, 0o700); err != nil {
					t.Fatal(err)
				}
				repair = c.prepare(filepath.Join(d.config().DataDir, "demo"))
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			config := d.config()
			options := Options{Stderr: unrefused{cancel}, LogFormat: "json", Market: gateway.DemoMarket{Seed: 1}, Read: d.again}
			if c.change != nil {
				c.change(config, &options)
			}
			err := Run(ctx, config, options)
			if failure.CodeOf(err) != c.code || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("want code %d and %q, have %d, %v", c.code, c.want, failure.CodeOf(err), err)
			}
			if err := repair(); err != nil {
				t.Fatal(err)
			}
			stop := d.start(func(*configs.Config, *Options) {})
			d.await("daemon.reconciled")
			if err := stop(); err != nil || slices.ContainsFunc(d.seen, func(line string) bool { return strings.Contains(line, "daemon.unclean") }) {
				t.Errorf("want a clean start afterwards, have %v\n%s", err, strings.Join(d.seen, "\n"))
			}
		})
	}
}
