package cli

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"botd/internal/failure"
)

// A flattenState is what the daemon is in when the kill switch is asked for; until brings it there. The exchange
// is sound from then on, but for what the list of positions, or the wallet, may go on to say.
type flattenState struct {
	name    string
	markets []string
	placing string // what becomes of the first placement
	code    int    // of the command
	slow    bool   // it takes long to get there
	until   func(f *finding)
}

var positionRow = regexp.MustCompile(`"remainingQty":\s*"?0\.1"?`)

// hides makes the list that shows what is held empty, until the daemon says that it does not believe it.
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
	{"protected", []string{"futures", "spot"}, "", failure.OK, false, func(f *finding) {
		eventually(f.t, "the stop rests", func() bool { return f.resting() == 1 })
	}},
	{"just filled", []string{"futures", "spot"}, "", failure.OK, false, func(*finding) {}},
	{"contradicted", []string{"futures"}, "", failure.OK, false, hides}, // a wallet that shows nothing leaves nothing that may be sold
	{"contradicted until now", []string{"futures", "spot"}, "", failure.OK, false, func(f *finding) {
		hides(f)
		f.set(func() { f.alter = nil })
	}},
	{"quarantined", []string{"futures"}, "", failure.OK, false, func(f *finding) {
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
	{"blind until now", []string{"futures", "spot"}, "", failure.OK, true, func(f *finding) {
		f.control("POST", "faults", `{"match": "*", "kind": "status", "status": 503}`)
		f.log.wait(f.t, `"exchange.blind"`)
		f.control("DELETE", "faults", "")
	}},
	{"an entry of unknown fate, which may still arrive", []string{"futures"}, "drop_response", failure.Temporary, false, func(f *finding) {
		f.log.wait(f.t, `"order.uncertain"`)
	}},
	{"an entry of unknown fate, which the history shows", []string{"spot"}, "drop_response", failure.OK, false, func(f *finding) {
		f.log.wait(f.t, `"order.settled"`)
	}},
	{"killed and started again", []string{"futures", "spot"}, "", failure.OK, false, func(f *finding) {
		eventually(f.t, "the stop rests", func() bool { return f.resting() == 1 })
		f.daemon.Process.Kill()
		f.daemon.Wait()
		f.trade()
		f.log.wait(f.t, `"daemon.`)
	}},
}

// TestHaltedItIsFlatWithinFiveSecondsWhateverTheState asks the real daemon for the kill switch in each state that an attack
// found, at the settle times of a simulated venue; with BOTD_FLATTEN=all also in those that take long to reach, and at the
// settle times of a venue that nobody measured.
func TestHaltedItIsFlatWithinFiveSecondsWhateverTheState(t *testing.T) {
	t.Parallel()
	settles := []string{"{window: 5s, visibility: 1s, staleness: 500ms}"}
	all := os.Getenv("BOTD_FLATTEN") == "all"
	if all {
		settles = append(settles, "{window: 60s, visibility: 45s, staleness: 15s}")
	}
	for _, state := range flattenStates {
		for _, settle := range settles {
			for _, market := range state.markets {
				if state.slow && !all {
					continue // named by BOTD_FLATTEN=all alone
				}
				t.Run(strings.TrimSpace(strings.Join([]string{market, state.name, settle}, " ")), func(t *testing.T) {
					t.Parallel()
					flatSoon(t, market, settle, state)
				})
			}
		}
	}
}

func flatSoon(t *testing.T, market, settle string, state flattenState) {
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
	command := exec.Command(self(t), "halt", "--level", "flatten", "--reason", "a test", "--yes")
	command.Dir = f.directory
	asked := make(chan error, 1)
	go func() { asked <- command.Run() }()
	eventually(t, "sold", func() bool { return f.filledOf("SELL") == 1 })
	watch.wantWithin(t, "from the command to flat", 5*time.Second)
	wantExit(t, "botd halt", <-asked, state.code)
}
