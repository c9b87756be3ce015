//go:build unix

package endtoend

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"botd/internal/failure"
)

// The tests of this file start during an outage (exactly-once.md, case 52): the daemon waits, reports it,
// accepts halts, and starts when the exchange returns.

// asked returns an answer's status and body, from a daemon's address.
func asked(t *testing.T, address, path string) (int, string) {
	t.Helper()
	response, err := http.Get("http://" + address + path)
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

func TestStartDuringOutageWaitsAndAcceptsHalts(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	address, own := p.free(), p.free()
	p.live("configs", "waits", address, "data_dir: ./data\nlisten: "+own)
	p.file("configs/strategies/grow.yaml", grows, 0o600)
	_, log := p.start("daemon", "run", "--mode", "live", "--log-format", "json")
	log.wait(t, `"daemon.waiting"`)
	log.wait(t, `"daemon.listening"`)
	if status, body := asked(t, own, "/healthz"); status != http.StatusOK {
		t.Errorf("/healthz: want 200, have %d %s", status, body)
	}
	if status, body := asked(t, own, "/readyz?verbose"); status != http.StatusServiceUnavailable || !strings.Contains(body, "exchange") {
		t.Errorf("/readyz: want 503 that names the exchange, have %d %s", status, body)
	}
	if answer := p.run(failure.OK, "status"); !strings.Contains(answer, "WAITING (account) since") || !strings.Contains(answer, "connection refused") {
		t.Errorf("want the state and its cause, have %s", answer)
	}
	answer := p.run(failure.Temporary, "halt", "--level", "flatten", "--reason", "an outage", "--yes")
	if !strings.Contains(answer, "cannot be seen") || strings.Contains(answer, "nothing to take away") {
		t.Errorf("want what cannot be seen, have %s", answer)
	}
	if answer := p.run(failure.Temporary, "halt", "--level", "cancel", "--reason", "one", "--strategy", "grow", "--yes", "-o", "json"); !strings.Contains(
		answer, `"blind":`) {
		t.Errorf("want the field blind, have %s", answer)
	}
	p.run(failure.OK, "halt", "--level", "pause", "--reason", "nothing opens", "--yes")
	p.venue(address, "waits", "--market", "still")
	log.wait(t, `"daemon.reconciled"`)
	eventually(t, "it begun, with the halt in force", func() bool {
		answer := p.run(failure.OK, "status")
		return !strings.Contains(answer, "WAITING") && strings.Contains(answer, "flatten: an outage")
	})
	if n := len(venueOrders(t, address)); n != 0 {
		t.Errorf("want nothing opened under the halt, have %d orders", n)
	}
	p.run(failure.OK, "rearm", "--strategy", "grow")
	p.run(failure.OK, "rearm")
	log.wait(t, `"position.changed"`)
}

func TestWaitingStartStopsCleanly(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.live("configs", "waits", p.free(), "data_dir: ./data\nlisten: off")
	p.file("configs/strategies/grow.yaml", grows, 0o600)
	daemon, log := p.start("daemon", "run", "--mode", "live", "--log-format", "json")
	log.wait(t, `"daemon.waiting"`)
	if err := daemon.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := daemon.Wait(); err != nil {
		t.Errorf("want a clean end, have %v: %s", err, log)
	}
}

// TestAVenueThatAnswers503IsWaitedForAndWrongCredentialsAreNot serves both from one address.
func TestAVenueThatAnswers503IsWaitedForAndWrongCredentialsAreNot(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mode, body string
		status     int
		waits      bool
	}{
		"closed":      {"live", "", http.StatusServiceUnavailable, true},
		"paper":       {"paper", "", http.StatusServiceUnavailable, true},
		"credentials": {"live", `{"code":-2008,"error":"Invalid Api-Key ID."}`, http.StatusUnauthorized, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			venue := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/time") && !c.waits {
					w.Write([]byte(`{"serverTime":1900000000000}`))
					return
				}
				w.WriteHeader(c.status)
				w.Write([]byte(c.body))
			})}
			go venue.Serve(listener)
			t.Cleanup(func() { venue.Close() })
			p.live("configs", "waits", listener.Addr().String(), "data_dir: ./data\nlisten: off")
			p.file("configs/strategies/grow.yaml", grows, 0o600)
			daemon, log := p.start("daemon", "run", "--mode", c.mode, "--log-format", "json")
			if c.waits {
				log.wait(t, `"daemon.waiting"`)
				return
			}
			wantExit(t, "botd run", daemon.Wait(), failure.Credentials)
		})
	}
}

// TestStartWithoutSymbolsWaits starts a daemon with a position while the exchange's list of symbols is empty: once, and then for a while.
func TestStartWithoutSymbolsWaits(t *testing.T) {
	t.Parallel()
	f := begin(t, "futures", "", bought("0.1")+"protect: {stop_loss: 5%}\n")
	f.trade()
	eventually(t, "the stop rests", func() bool { return f.resting() == 1 })
	for _, empty := range []int{1, 1_000} {
		stopInOrder(t, f.daemon, f.log)
		lists := 0
		f.set(func() {
			f.alter = func(path, body string) string {
				if strings.HasSuffix(path, "/fapi/v1/symbols") {
					if lists++; lists <= empty {
						return "[]"
					}
				}
				return body
			}
		})
		f.trade()
		if empty == 1 {
			f.log.wait(t, `"daemon.reconciled"`)
			if status := f.run(failure.OK, "status"); strings.Contains(status, "FAILED") {
				t.Errorf("want one wrong list without effect, have %s", status)
			}
			continue
		}
		f.log.wait(t, `"daemon.waiting"`)
		answer := f.run(failure.Temporary, "halt", "--level", "flatten", "--reason", "a test", "--yes")
		if !strings.Contains(answer, "lists no futures symbol") {
			t.Errorf("want the cause, have %s", answer)
		}
		time.AfterFunc(time.Second, func() { f.set(func() { f.alter = nil }) })
		f.run(failure.OK, "halt", "--level", "flatten", "--reason", "a test", "--yes", "--wait", "30s")
		eventually(t, "flat", func() bool { return f.filledOf("SELL") == 1 && f.resting() == 0 })
	}
}
