package daemon

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"botd/configs"
	"botd/exchange/sim"
	"botd/runtime/engine"
	"botd/runtime/notify"
	"botd/runtime/view"
)

// TestADeadMansServiceIsNotifiedByADaemonThatDoesItsWork has the whole daemon notify a service that breaks, hangs and returns, lose the
// file of its address, and trade on an exchange whose lists fail, without a channel and with a broken one.
func TestADeadMansServiceIsNotifiedByADaemonThatDoesItsWork(t *testing.T) {
	t.Parallel()
	const silent = "127.0.0.1:1" // nobody listens
	for name, desk := range map[string]string{"no channel": "", "a channel that does not work": silent} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWatched(t, scrapeEvery)
			secrets := t.TempDir()
			address, channel := filepath.Join(secrets, "heartbeat"), filepath.Join(secrets, "channel")
			for path, text := range map[string]string{address: "http://127.0.0.1:9/ping/secret", channel: "generic://" + desk + "/?disabletls=yes"} {
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			root := liveRoot + fmt.Sprintf("heartbeat: {url_file: %q, every: 30s}\n", address)
			if desk != "" {
				root += fmt.Sprintf("notify: {channels: {desk: {url_file: %q}}}\n", channel)
			}
			var mu sync.Mutex
			var asked []time.Duration // times answered with 200
			w.set(func(r *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
				switch at := time.Since(w.began); {
				case r.URL.Path != "/ping/secret":
					if w.within(9*time.Minute, 20*time.Minute) && (is(r, http.MethodPost, "/order/open") || is(r, http.MethodGet, "/order/open")) {
						return answer(r, http.StatusInternalServerError, ""), nil
					}
					return next()
				case w.within(2*time.Minute, 4*time.Minute):
					return answer(r, http.StatusInternalServerError, ""), nil
				case w.within(4*time.Minute, 6*time.Minute): // it accepts the request, and never answers
					<-r.Context().Done()
					return nil, r.Context().Err()
				default:
					mu.Lock()
					asked = append(asked, at)
					mu.Unlock()
					return answer(r, http.StatusOK, ""), nil
				}
			})
			w.run(live(t, root, nil), configs.Live, 24*time.Minute, func(*process) {
				time.Sleep(7 * time.Minute)
				if err := os.Remove(address); err != nil { // the address is already read
					t.Error(err)
				}
			})
			heardIn := func(from, until time.Duration) (count int) {
				for _, at := range asked {
					if from <= at && at < until {
						count++
					}
				}
				return count
			}
			if desk == silent {
				if have := heardIn(2*time.Minute, 24*time.Minute); have > 0 {
					t.Errorf("no channel works: want nothing sent after the first, have %d", have)
				}
				w.counted(map[string]bool{"withheld": true})
				return
			}
			for _, c := range []struct {
				what        string
				from, until time.Duration
				least, most int
			}{
				{"all is well", 0, 2 * time.Minute, 4, 4},
				{"it answers with 500, then hangs", 2 * time.Minute, 6 * time.Minute, 0, 0},
				{"it is back", 6 * time.Minute, 9 * time.Minute, 5, 6},
				{"the exchange's lists fail", 9 * time.Minute, 14 * time.Minute, 9, 10},
				{"without a channel", 15 * time.Minute, 20 * time.Minute, 0, 0},
				{"the lists are back", 21 * time.Minute, 24 * time.Minute, 5, 6},
			} {
				if have := heardIn(c.from, c.until); have < c.least || have > c.most {
					t.Errorf("%s, from %s to %s: want %d to %d requests that are answered, have %d", c.what, c.from, c.until, c.least, c.most, have)
				}
			}
			w.counted(map[string]bool{"sent": true, "failed": true, "withheld": true})
			_, err := configs.ReadHeartbeat(&configs.HeartbeatConfig{AddressFile: address, EveryMS: 30_000}, "")
			if err == nil || errors.Is(err, os.ErrPermission) || strings.Contains(err.Error(), "secret/") {
				t.Errorf("a start without the file: want it refused, have %v", err)
			}
		})
	}
}

// counted compares the heartbeat results that the metrics have counted.
func (w *watched) counted(want map[string]bool) {
	w.t.Helper()
	for result, is := range want {
		values := w.series[fmt.Sprintf(`botd_heartbeats_total{job="botd", instance="a", result=%q}`, result)]
		if len(values) == 0 || (values[len(values)-1] != "0") != is {
			w.t.Errorf("heartbeats that were %s: want some counted %t, have %s", result, is, runs(values))
		}
	}
}

// Rounds that do not end delay it, and without a channel rounds that are never complete.
func TestHeartbeatFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what    string
		channel bool
		rounds  string // complete, failed or none
		after   time.Duration
		want    string
	}{
		{"healthy", false, "complete", time.Hour, ""},
		{"blind for an hour, and a channel has reported it", true, "failed", time.Hour, ""},
		{"blind for four minutes", false, "failed", 4 * time.Minute, ""},
		{"blind for six minutes, without a channel", false, "failed", 6 * time.Minute, "complete for five minutes"},
		{"no round for a minute", true, "none", time.Minute, ""},
		{"no round for three minutes", true, "none", 3 * time.Minute, "ended for two minutes"},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := &process{board: view.NewBoard("live", "main")}
				if c.channel {
					p.notifier = &notify.Notifier{}
				}
				p.board.Show(engine.Status{NowMS: 1, Strategies: []engine.StrategyStatus{{Name: "trend", Symbol: sim.DefaultSymbols()[0]}}})
				for end := time.Now().Add(c.after); time.Now().Before(end); time.Sleep(10 * time.Second) {
					if c.rounds != "none" {
						p.board.Note(&engine.Note{AtMS: time.Now().UnixMilli(), Fact: engine.NoteRound{Complete: c.rounds == "complete"}})
					}
				}
				p.board.Beat()
				if have := p.fault(); have != c.want && (c.want == "" || !strings.Contains(have, c.want)) {
					t.Errorf("want it kept back for %q, have %q", c.want, have)
				}
				time.Sleep(time.Minute)
				if have := p.fault(); have != "the engine makes no progress" {
					t.Errorf("the loop has not turned for a minute: want it kept back, have %q", have)
				}
			})
		})
	}
}
