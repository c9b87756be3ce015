package endtoend

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"botd/internal/failure"
)

// flattenState is the daemon's state when the kill switch is used; until brings it about. From then on the
// exchange works correctly, except perhaps for the list of positions or the wallet.
type flattenState struct {
	name    string
	markets []string
	placing string // treatment of the first placement
	code    int    // exit code of the command
	slow    bool   // reaching it takes long
	names   string // part of its answer
	until   func(f *finding)
}

var positionRow = regexp.MustCompile(`"remainingQty":\s*"?0\.1"?`)

// hides makes the list of positions or holdings empty, until the daemon reports that it does not believe it.
func hides(f *finding) {
	list := regexp.MustCompile(`(?s)"wallets":\s*\[.*\]`)
	f.set(func() {
		f.alter = func(path, body string) string {
			switch {
			case strings.HasSuffix(path, "/positions/open"):
				return "[]"
			case strings.HasSuffix(path, "/spot/wallet"):
				return list.ReplaceAllString(body, `"wallets":[]`)
			}
			return body
		}
	})
	f.log.wait(f.t, `"symbol.contradicted"`)
}

var flattenStates = []flattenState{
	{"protected", []string{"futures", "spot"}, "", failure.OK, false, "", func(f *finding) {
		eventually(f.t, "the stop rests", func() bool { return f.resting() == 1 })
	}},
	{"just filled", []string{"futures", "spot"}, "", failure.OK, false, "", func(*finding) {}},
	{"contradicted", []string{"futures"}, "", failure.OK, false, "", hides}, // an empty wallet leaves nothing that may be sold
	{"contradicted until now", []string{"futures", "spot"}, "", failure.OK, false, "", func(f *finding) {
		hides(f)
		f.set(func() { f.alter = nil })
	}},
	{"quarantined", []string{"futures"}, "", failure.OK, false, "", func(f *finding) {
		f.set(func() {
			f.alter = func(path, body string) string {
				if strings.HasSuffix(path, "/positions/open") {
					return positionRow.ReplaceAllString(body, `"remainingQty":"0.2"`)
				}
				return body
			}
		})
		f.log.wait(f.t, `"symbol.quarantined"`)
		f.set(func() { f.alter = nil })
	}},
	{"blind until now", []string{"futures", "spot"}, "", failure.OK, true, "", func(f *finding) {
		f.control("POST", "faults", `{"match": "*", "kind": "status", "status": 503}`)
		f.log.wait(f.t, `"exchange.blind"`)
		f.control("DELETE", "faults", "")
	}},
	{"an uncertain entry, which may still arrive", []string{"futures"}, "drop_response", failure.Temporary, false, "", func(f *finding) {
		f.log.wait(f.t, `"order.uncertain"`)
	}},
	{"an uncertain entry, which the history shows", []string{"spot"}, "drop_response", failure.OK, false, "", func(f *finding) {
		f.log.wait(f.t, `"order.settled"`)
	}},
	{"spot cannot be read", []string{"futures"}, "", failure.Temporary, true, "cannot see or close yet: spot ETH-USDT", func(f *finding) {
		f.file("configs/strategies/other.yaml", "name: other\nstrategy: twap\nmarket: spot\nsymbol: ETH-USDT\ninterval: 1m\nschedule: '@every 1s'\n"+
			"start: running\n"+bought("0.1"), 0o600)
		f.run(failure.OK, "reload")
		eventually(f.t, "bought on spot too", func() bool { return f.filledOf("BUY") == 2 })
		f.control("POST", "faults", `{"match": "GET /hapi/v1/spot/wallet", "kind": "status", "status": 503}`)
		f.log.wait(f.t, `"exchange.blind"`)
	}},
	{"killed and started again", []string{"futures", "spot"}, "", failure.OK, false, "", func(f *finding) {
		eventually(f.t, "the stop rests", func() bool { return f.resting() == 1 })
		f.daemon.Process.Kill()
		f.daemon.Wait()
		f.trade()
		f.log.wait(f.t, `"daemon.`)
	}},
}

// TestFlattenTakesAtMostFiveSecondsInEveryState uses the kill switch of the real daemon in each state that an attack
// found, at the settle times of a simulated venue; with BOTD_FLATTEN=all also in those that take long to reach, and at the
// settle times of an unmeasured venue. With BOTD_FLATTEN=N it does all of that N times, and prints the durations.
func TestFlattenTakesAtMostFiveSecondsInEveryState(t *testing.T) {
	t.Parallel()
	settles, tries := []string{"{window: 5s, visibility: 1s, staleness: 500ms}"}, 1
	all := os.Getenv("BOTD_FLATTEN") != ""
	if all {
		settles = append(settles, "{window: 60s, visibility: 45s, staleness: 15s}")
	}
	if all && os.Getenv("BOTD_FLATTEN") != "all" {
		tries = fromEnvironment(t, "BOTD_FLATTEN", tries)
	}
	for _, state := range flattenStates {
		for _, settle := range settles {
			for _, market := range state.markets {
				if state.slow && !all {
					continue // runs with BOTD_FLATTEN only
				}
				t.Run(strings.TrimSpace(strings.Join([]string{market, state.name, settle}, " ")), func(t *testing.T) {
					t.Parallel()
					flats, answers := make([]time.Duration, tries), make([]time.Duration, tries)
					for i := range tries {
						t.Run(fmt.Sprint(i+1), func(t *testing.T) { flats[i], answers[i] = flatSoon(t, market, settle, state) })
					}
					t.Logf("flat %s; the command's answer %s", spread(flats), spread(answers))
				})
			}
		}
	}
}

// spread formats the distribution of times.
func spread(times []time.Duration) string {
	slices.Sort(times)
	last := len(times) - 1
	return fmt.Sprintf("p50 %d ms, p99 %d ms, at most %d ms", times[last/2].Milliseconds(), times[(last*99+50)/100].Milliseconds(), times[last].Milliseconds())
}

// soldOn counts the filled sales on a market.
func (f *finding) soldOn(market string) (n int) {
	for _, o := range venueOrders(f.t, f.address) {
		if o.Market == market && o.Side == "SELL" && o.Filled != "0" && o.Filled != "" {
			n++
		}
	}
	return n
}

// flatSoon runs the command once, and returns the time until the account was flat, and until the command had
// ended.
func flatSoon(t *testing.T, market, settle string, state flattenState) (flat, answered time.Duration) {
	t.Helper()
	f := begin(t, market, settle, bought("0.1")+"protect: {stop_loss: 5%}\n")
	if state.placing != "" {
		path := map[string]string{"futures": "/fhapi/v1/order", "spot": "/hapi/v1/spot/order"}[market]
		f.control("POST", "faults", fmt.Sprintf(`{"match": "POST %s", "kind": %q, "count": 1}`, path, state.placing))
	}
	f.trade()
	eventually(t, "bought", func() bool { return f.filledOf("BUY") == 1 })
	state.until(f)
	watch := startStopwatch(t)
	var answer Trace
	command := exec.Command(self(t), "halt", "--level", "flatten", "--reason", "a test", "--yes")
	command.Dir, command.Stdout, command.Stderr = f.directory, &answer, &answer
	asked := make(chan error, 1)
	go func() {
		err := command.Run()
		answered = time.Since(watch.began)
		asked <- err
	}()
	eventually(t, "sold", func() bool { return f.soldOn(market) == 1 })
	watch.wantWithin(t, "from the command to flat", 5*time.Second)
	flat = time.Since(watch.began)
	wantExit(t, "botd halt", <-asked, state.code)
	if !strings.Contains(answer.String(), state.names) {
		t.Errorf("want %q in the answer, have %s", state.names, &answer)
	}
	return flat, answered
}
