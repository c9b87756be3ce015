package browsertest

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// configuration is that of the tested botd: a position that grows, resting orders, and a spot holding.
var configuration = map[string]string{
	"botd.yaml": "mode: demo\ninstance: main\ndata_dir: ./data\n",
	"strategies/accumulate.yaml": `name: accumulate
strategy: twap
market: futures
symbol: BTC-USDT
interval: 1m
schedule: "@every 1s"
leverage: 10
params: {side: buy, quantity: 0.006, slices: 6, every: 1s}
risk: {max_position: 0.02}
protect: {stop_loss: 5%}
`,
	"strategies/levels.yaml": `name: levels
strategy: grid
market: futures
symbol: ETH-USDT
interval: 1m
leverage: 3
params: {lower: 1900, upper: 3500, lines: 33, quantity: 0.05, spacing: geometric}
`,
	"strategies/hold.yaml": `name: hold
strategy: buy_and_hold
market: spot
symbol: SOL-USDT
interval: 1m
size: {quote: 100}
on_remove: leave
`,
}

const patience = 60 * time.Second

// marketStart is where the demo's clock starts, as in internal/startclock.
var marketStart = cmp.Or(os.Getenv("BOTD_TEST_START"), "2026-03-14T10:20:10Z")

// builds is the directory of the binary, which is removed after the tests.
var builds = filepath.Join(os.TempDir(), fmt.Sprintf("botd-browsertest-%d", os.Getpid()))

func TestMain(m *testing.M) {
	code := m.Run()
	_ = os.RemoveAll(builds) // the system deletes the rest
	os.Exit(code)
}

// build builds the binary once.
var build = sync.OnceValues(func() (string, error) {
	if err := os.MkdirAll(builds, 0o700); err != nil {
		return "", err
	}
	binary := filepath.Join(builds, "botd")
	command := exec.Command("go", "build", "-o", binary, "./cmd/botd")
	command.Dir = filepath.Join("..", "..", "..")
	if output, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, output)
	}
	return binary, nil
})

// daemon is a running botd.
type daemon struct {
	t         *testing.T
	directory string
	address   string
	command   *exec.Cmd
	ended     chan struct{}
}

// startDaemon runs a demo until the test ends.
func startDaemon(t *testing.T) *daemon { return startDaemonWith(t, nil) }

// startSettled starts a daemon and waits until its strategies have their positions.
func startSettled(t *testing.T) *daemon {
	t.Helper()
	d := startDaemon(t)
	d.settle()
	return d
}

// startDaemonWith runs a daemon with more files in its configuration, unless there is no browser.
func startDaemonWith(t *testing.T, more map[string]string) *daemon {
	t.Helper()
	findBrowser(t)
	d := &daemon{t: t, directory: t.TempDir(), address: "127.0.0.1:0"}
	files := maps.Clone(configuration)
	maps.Copy(files, more)
	for name, text := range files {
		if text == "" { // left out
			continue
		}
		path := filepath.Join(d.directory, "configs", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	d.start()
	t.Cleanup(func() { d.stop(os.Interrupt) })
	return d
}

var listening = regexp.MustCompile(`http://(127\.0\.0\.1:\d+)/metrics`)

// start runs botd, at the same address as before.
func (d *daemon) start() {
	d.t.Helper()
	binary, err := build()
	if err != nil {
		d.t.Fatal(err)
	}
	d.command = exec.Command(binary, "run", "-c", "configs", "--listen", d.address, "--log-format", "json", "--start", marketStart)
	d.command.Dir = d.directory
	d.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stderr, err := d.command.StderrPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	if err := d.command.Start(); err != nil {
		d.t.Fatal(err)
	}
	d.ended = make(chan struct{})
	found, all := make(chan string, 1), &strings.Builder{}
	go func() {
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			if match := listening.FindStringSubmatch(lines.Text()); match != nil {
				found <- match[1]
			}
			fmt.Fprintln(all, lines.Text())
		}
		_ = d.command.Wait() // its exit code does not matter here
		close(d.ended)
	}()
	select {
	case d.address = <-found:
	case <-d.ended:
		d.t.Fatalf("botd ended:\n%s", all)
	case <-time.After(patience):
		d.t.Fatal("botd did not listen within 30 s")
	}
}

// stop ends it by a signal and waits.
func (d *daemon) stop(signal os.Signal) {
	_ = d.command.Process.Signal(signal) // it may have ended
	select {
	case <-d.ended:
	case <-time.After(patience):
		_ = d.command.Process.Kill()
		<-d.ended
	}
}

func (d *daemon) url(path string) string { return "http://" + d.address + path }

func (d *daemon) token(name string) string {
	d.t.Helper()
	text, err := os.ReadFile(filepath.Join(d.directory, "data", "demo", name))
	if err != nil {
		d.t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// ask calls the API over the unix socket.
func (d *daemon) ask(method, path, body string, into any) {
	d.t.Helper()
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _,
		_ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(d.directory, "data", "demo", "botd.sock"))
	}}}
	request, err := http.NewRequest(method, "http://botd"+path, strings.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := client.Do(request)
	if err != nil {
		d.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode >= 300 {
		d.t.Fatalf("%s %s: %d %s %v", method, path, answer.StatusCode, text, err)
	}
	if into != nil {
		if err := json.Unmarshal(text, into); err != nil {
			d.t.Fatalf("%s %s: %v", method, path, err)
		}
	}
}

// backtests runs two backtests, whose reports the dashboard lists.
func (d *daemon) backtests() {
	d.t.Helper()
	binary, err := build()
	if err != nil {
		d.t.Fatal(err)
	}
	run := func(arguments ...string) {
		d.t.Helper()
		command := exec.Command(binary, arguments...)
		command.Dir = d.directory
		if output, err := command.CombinedOutput(); err != nil {
			d.t.Fatalf("botd %v: %v\n%s", arguments, err, output)
		}
	}
	run("data", "generate", "--symbol", "BTC-USDT", "--interval", "1h", "--candles", "2000", "--out", "candles.csv")
	for name, fast := range map[string]string{"quick": "5", "slow": "15"} {
		text := "name: " + name + "\nstrategy: sma_cross\nmarket: futures\nsymbol: BTC-USDT\ninterval: 1h\n" +
			"leverage: 2\nsize: {equity: 50%}\nparams: {fast: " + fast + ", slow: 40}\n"
		if err := os.WriteFile(filepath.Join(d.directory, name+".yaml"), []byte(text), 0o644); err != nil {
			d.t.Fatal(err)
		}
		run("backtest", "run", "-s", name+".yaml", "--data", "candles.csv", "--quick", "--out", "data/backtests/"+name)
	}
}

// status is the part of the status that the tests check.
type status struct {
	Halted     string
	Open       int `json:"open_orders"`
	Positions  int
	Unsettled  int
	Strategies []struct{ Name, Position string }
}

func (d *daemon) status() (s status) {
	d.t.Helper()
	d.ask("GET", "/api/v1/status", "", &s)
	return s
}

// settle waits until the strategies have two positions, the orders of the grid and a stop.
func (d *daemon) settle() {
	d.t.Helper()
	d.until("all positions and orders are there", func() bool {
		s := d.status()
		return s.Positions >= 2 && s.Open >= 3 && s.Unsettled == 0
	})
}

// until waits for a condition of the real daemon.
func (d *daemon) until(what string, holds func() bool) {
	d.t.Helper()
	for end := time.Now().Add(patience); !holds(); {
		if time.Now().After(end) {
			d.t.Fatalf("%s: not within %s; the status is %+v", what, patience, d.status())
		}
		<-time.After(100 * time.Millisecond)
	}
}
