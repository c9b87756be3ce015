package endtoend

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"botd/exchange/sim/server"
	"botd/internal/startclock"
)

// TestPaperTradesOnAnotherExchangeAndCarriesOn uses a second process as the venue. Paper trades on its public
// data without keys, is killed without a warning, and the next start finds the account as it was.
func TestPaperTradesOnAnotherExchangeAndCarriesOn(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	binary := build(t)
	address := startVenue(t, binary)
	write(t, filepath.Join(directory, "configs", "botd.yaml"), fmt.Sprintf(`mode: demo
exchange: {base_url: %q}
simulated: {futures: 5000, fees: {futures: {taker: 0.1%%}}}
`, address))
	write(t, filepath.Join(directory, "configs", "strategies", "hold.yaml"), `name: hold
strategy: twap
market: futures
symbol: BTC-USDT
interval: 1m
schedule: "@every 1s"
leverage: 5
params: {side: buy, quantity: 0.05, slices: 5, every: 1s}
protect: {stop_loss: 20%}
`)
	first := start(t, binary, directory, "--mode", "paper")
	story := first.until(t, "position.changed")
	for _, event := range []string{"order.acknowledged", "order.fill"} {
		if !slices.Contains(story, event) {
			t.Errorf("before there is a position: want %s logged, have %v", event, story)
		}
	}
	if err := first.process.Kill(); err != nil {
		t.Fatal(err)
	}
	first.wait()
	before := paperAccount(t, directory)
	if before.Deposits != "5000" || before.Positions != 1 || before.Fees == "0" {
		t.Errorf("the account after SIGKILL: want 5000 USDT deposited, fees paid and a position, have %+v", before)
	}

	second := start(t, binary, directory, "--mode", "paper")
	second.until(t, "position.changed") // found again before the first decision
	if err := second.process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	story = second.until(t, "daemon.stopped")
	if !slices.Contains(story, "daemon.left_open") {
		t.Errorf("at the end: want the log of what stays open, have %v", story)
	}
	if err := second.wait(); err != nil {
		t.Errorf("a clean stop: want exit code 0, have %v", err)
	}
	if after := paperAccount(t, directory); after.Deposits != "5000" || after.Positions != 1 {
		t.Errorf("the same account: want 5000 USDT deposited and one position, have %+v", after)
	}
}

// TestHungVenueIsReportedEverywhere suspends a venue's process. Readiness, status and metrics show since
// when, why, and what botd does meanwhile, and the end when it resumes.
func TestHungVenueIsReportedEverywhere(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	binary := self(t)
	address, venue := startVenueProcess(t, binary)
	write(t, filepath.Join(directory, "configs", "botd.yaml"), fmt.Sprintf("mode: paper\nexchange: {base_url: %q}\npaper: {poll: 200ms, "+
		"max_age: 2s}\n", address))
	write(t, filepath.Join(directory, "configs", "strategies", "hold.yaml"), "name: hold\nstrategy: twap\nmarket: futures\nsymbol: "+
		"BTC-USDT\ninterval: 1m\nschedule: \"@every 1s\"\nparams: {side: buy, "+"quantity: 0.01, slices: 1, every: 1s}\n")
	daemon := start(t, binary, directory, "--mode", "paper")
	daemon.until(t, "position.changed")
	shown := func(verb ...string) string {
		command := exec.Command(binary, verb...)
		command.Dir = directory
		text, _ := command.CombinedOutput() // its exit code does not matter here
		return string(text)
	}
	eventually(t, "ready", func() bool { code, _ := readiness(t, directory); return code == 200 })
	if err := venue.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	daemon.until(t, "paper.stale")
	eventually(t, "503 with its reason", func() bool {
		code, text := readiness(t, directory)
		return code == 503 && strings.Contains(text, `"name":"market_data","ok":false,"detail":"futures BTC-USDT: stale for `) &&
			strings.Contains(text, "older than paper.max_age")
	})
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("want it known within seconds, have %s", took)
	}
	for _, want := range []string{"NOT READY", "STALE (BTC-USDT) since 20", "older than paper.max_age", "nothing is accepted, fills or is triggered"} {
		if have := shown("status"); !strings.Contains(have, want) {
			t.Errorf("status: want %q, have %s", want, have)
		}
	}
	if _, text := askSocket(t, directory, "/metrics"); !strings.Contains(text, `botd_trading_halted{reason="stale"} 1`) ||
		!strings.Contains(text, "botd_ready 0") {
		t.Errorf("metrics: want the state")
	}
	if err := venue.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	eventually(t, "ready again", func() bool { code, _ := readiness(t, directory); return code == 200 })
	if have := shown("status"); strings.Contains(have, "STALE") || strings.Contains(have, "NOT READY") {
		t.Errorf("afterwards: want nothing stale, have %s", have)
	}

	if err := venue.Signal(syscall.SIGSTOP); err != nil { // SIGSTOP need not wait for requests
		t.Fatal(err)
	}
	began = time.Now()
	if err := daemon.process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	daemon.until(t, "daemon.stopped")
	if err := daemon.wait(); err != nil || time.Since(began) > 15*time.Second {
		t.Errorf("a stop while the venue hangs: want exit code 0 within 15 s, have %v after %s", err, time.Since(began))
	}
	if _, err := os.Stat(filepath.Join(directory, "data", "paper", "running")); err == nil {
		t.Error("after a clean stop: want no mark of a run left")
	}
}

// readiness returns the answer of /readyz.
func readiness(t *testing.T, directory string) (code int, text string) {
	t.Helper()
	return askSocket(t, directory, "/readyz")
}

// askSocket queries a paper daemon over its unix socket.
func askSocket(t *testing.T, directory, path string) (code int, text string) {
	t.Helper()
	return askAt(t, filepath.Join(directory, "data", "paper", "botd.sock"), path)
}

func askDemo(t *testing.T, directory, path string) (code int, text string) {
	t.Helper()
	return askAt(t, filepath.Join(directory, "data", "demo", "botd.sock"), path)
}

func askAt(t *testing.T, socket, path string) (code int, text string) {
	t.Helper()
	client := &http.Client{
		Timeout: 10 * time.Second,
		Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		}},
	}
	response, err := client.Get("http://botd" + path)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// startVenue runs a simulated exchange without accounts as the venue and returns its address.
func startVenue(t *testing.T, binary string) string {
	t.Helper()
	address, _ := startVenueProcess(t, binary)
	return address
}

func startVenueProcess(t *testing.T, binary string) (string, *os.Process) {
	t.Helper()
	venue := exec.Command(binary, startclock.Arguments([]string{"exchange", "--listen", "127.0.0.1:0", "--market", "random", "--seed", "7"})...)
	pipe, err := venue.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := venue.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { venue.Process.Kill(); venue.Wait() })
	lines := bufio.NewScanner(pipe)
	for lines.Scan() {
		if _, address, found := strings.Cut(lines.Text(), "listens on "); found {
			return strings.TrimSpace(address), venue.Process
		}
	}
	t.Fatal("the venue did not say where it listens")
	return "", nil
}

// paperMoney is the part of the paper account's file that the test checks.
type paperMoney struct {
	Deposits, Fees string
	Positions      int
}

func paperAccount(t *testing.T, directory string) (seen paperMoney) {
	t.Helper()
	store, text, err := server.OpenState(filepath.Join(directory, "data", "paper", "exchange.json"), t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil { // the next daemon needs it
		t.Fatal(err)
	}
	var state struct {
		Accounts []struct {
			Money     struct{ Deposits, Fees string }
			Positions []struct{ ID int64 }
		}
	}
	if err := json.Unmarshal(text, &state); err != nil || len(state.Accounts) != 1 {
		t.Fatalf("want one account kept, have %d, %v", len(state.Accounts), err)
	}
	a := state.Accounts[0]
	return paperMoney{a.Money.Deposits, a.Money.Fees, len(a.Positions)}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
