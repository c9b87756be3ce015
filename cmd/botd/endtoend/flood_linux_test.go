package endtoend

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"botd/internal/failure"
)

// These are the figures of the flood: what a client without a credential sent in the test that took the daemon of
// 8384af0 from 70 to 1,130 MB.
const (
	floodConnections = 6_000
	floodHeader      = 63 << 10 // bytes of an endless header
	floodAtOnce      = 64       // connections being opened
	maxFloodedMB     = 250      // resident; a demo at rest has about 100
	haltWithin       = 5 * time.Second
)

// TestFloodTakesNoMemoryAndDelaysNoHalt opens thousands of connections to a trading daemon and to its signals
// server, sends half a request with a large header on each, and keeps them open. The daemon's memory stays
// small, and the kill switch works meanwhile.
func TestFloodTakesNoMemoryAndDelaysNoHalt(t *testing.T) {
	p := newPlace(t) // not parallel: it needs the machine's file descriptors
	own, signaled := p.free(), p.free()
	p.file("signal-token", "a token of signals, long enough", 0o600)
	p.file("configs/botd.yaml", fmt.Sprintf("mode: demo\ndata_dir: ./data\nlisten: %s\nsignals: {listen: %q, token_file: %q}\n", own, signaled,
		p.directory+"/signal-token"), 0o600)
	p.file("configs/strategies/grow.yaml", grows, 0o600)
	daemon, log := p.start("daemon", "run", "--log-format", "json")
	log.wait(t, `"position.changed"`)
	before := residentMB(t, daemon)
	for _, address := range []string{own, signaled} {
		held := flood(t, address)
		if have := residentMB(t, daemon); have > maxFloodedMB {
			t.Errorf("%d half-sent requests to %s: want at most %d MB resident, have %d (%d before)", floodConnections, address, maxFloodedMB, have, before)
		}
		watch := startStopwatch(t)
		p.run(failure.OK, "halt", "--level", "pause", "--reason", "a flood", "--yes")
		watch.wantWithin(t, "a halt during the flood of "+address, haltWithin)
		t.Logf("flood of %s: %d MB before, %d MB now", address, before, residentMB(t, daemon))
		for _, c := range held {
			c.Close()
		}
	}
	held := flood(t, own)
	watch := startStopwatch(t)
	p.run(failure.OK, "halt", "--level", "flatten", "--reason", "a flood", "--yes")
	eventually(t, "flat during the flood", func() bool {
		return !strings.Contains(p.run(failure.OK, "positions", "-o", "json"), `"quantity"`)
	})
	watch.wantWithin(t, "from the command to flat during the flood", haltWithin)
	for _, c := range held {
		c.Close()
	}
}

// flood opens connections and sends half a request on each.
func flood(t *testing.T, address string) (held []net.Conn) {
	t.Helper()
	head := []byte("GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: " + strings.Repeat("x", floodHeader))
	var (
		mu    sync.Mutex // guards held
		group sync.WaitGroup
	)
	for worker := range floodAtOnce {
		group.Go(func() {
			for i := worker; i < floodConnections; i += floodAtOnce {
				c, err := net.Dial("tcp", address)
				if err != nil {
					continue // a refused connection is fine, too
				}
				_ = c.SetWriteDeadline(time.Now().Add(time.Second))
				_, _ = c.Write(head)
				mu.Lock()
				held = append(held, c)
				mu.Unlock()
			}
		})
	}
	group.Wait()
	return held
}

var resident = regexp.MustCompile(`VmRSS:\s+(\d+) kB`)

// residentMB returns a process's resident memory.
func residentMB(t *testing.T, command *exec.Cmd) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", command.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	match := resident.FindSubmatch(text)
	if match == nil {
		t.Fatalf("no VmRSS in %s", text)
	}
	kB, err := strconv.Atoi(string(match[1]))
	if err != nil {
		t.Fatal(err)
	}
	return kB >> 10
}

// viewers is the number of connections on which a viewer requests market data.
const viewers = 3 * 48

// TestViewerLoadDelaysNoRoundOrHalt requests market data with a viewer's token on many connections, and
// halts meanwhile.
func TestViewerLoadDelaysNoRoundOrHalt(t *testing.T) {
	p := newPlace(t) // not parallel: it measures
	address, own := p.free(), p.free()
	p.live("configs", "hammer", address, "data_dir: ./data\nlisten: "+own)
	p.file("configs/strategies/grow.yaml", grows, 0o600)
	p.venue(address, "hammer", "--market", "still")
	_, log := p.start("daemon", "run", "--mode", "live", "--log-format", "json")
	log.wait(t, `"position.changed"`)
	token, err := os.ReadFile(p.directory + "/data/live/token-viewer")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	answers, done := hammer(ctx, t, own, strings.TrimSpace(string(token)))
	eventually(t, "the viewer at work", func() bool { return answers.Load() > 4*viewers })
	watch, filled := startStopwatch(t), strings.Count(log.String(), `"order.fill"`)
	eventually(t, "rounds meanwhile", func() bool { return strings.Count(log.String(), `"order.fill"`) >= filled+5 })
	watch.wantWithin(t, "five fills, one due each second", 10*time.Second)
	watch = startStopwatch(t)
	p.run(failure.OK, "halt", "--level", "flatten", "--reason", "a viewer hammers", "--yes")
	eventually(t, "flat meanwhile", func() bool { return held(t, venueOrders(t, address)).IsZero() })
	watch.wantWithin(t, "from the command to flat", haltWithin)
	stop()
	limited := done()
	t.Logf("the viewer had %d answers, %d of them 429", answers.Load(), limited)
}

// hammer requests market data on all viewers' connections until the context ends.
// done waits for that, and returns the number of requests refused as too many.
func hammer(ctx context.Context, t *testing.T, own, token string) (answers *atomic.Int64, done func() (limited int64)) {
	var group sync.WaitGroup
	answers = &atomic.Int64{}
	limited := &atomic.Int64{}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: viewers}, Timeout: 10 * time.Second}
	for i := range viewers {
		group.Go(func() {
			for ctx.Err() == nil {
				path := fmt.Sprintf("/api/v1/market/%s/%s-USDT", []string{"futures", "spot"}[i%2], []string{"BTC", "ETH", "SOL"}[i%3])
				request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+own+path, nil)
				if err != nil {
					t.Error(err)
					return
				}
				request.Header.Set("Authorization", "Bearer "+token)
				response, err := client.Do(request)
				if err != nil {
					continue
				}
				if answers.Add(1); response.StatusCode == http.StatusTooManyRequests {
					limited.Add(1)
				}
				_, _ = io.Copy(io.Discard, response.Body)
				response.Body.Close()
			}
		})
	}
	return answers, func() int64 { group.Wait(); return limited.Load() }
}
