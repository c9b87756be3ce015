package endtoend

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/exchange/rest"
	"botd/exchange/sim"
	"botd/exchange/sim/server"
	"botd/internal/failure"
	"botd/internal/startclock"
	"botd/runtime/view"
)

// stage is an exchange in this process with one account, a person who trades on it manually, and a built
// daemon that trades next to them.
type stage struct {
	t                 *testing.T
	person            *rest.Client
	binary, directory string
	listen            string
	control           string // the exchange's control interface
}

// fail has the exchange answer some of its calls with 503, or none.
func (a *stage) fail(calls ...string) {
	a.t.Helper()
	send := func(method string, body string) {
		request, err := http.NewRequestWithContext(a.t.Context(), method, a.control+"faults", strings.NewReader(body))
		if err != nil {
			a.t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			a.t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusOK {
			a.t.Fatalf("%s faults: %s", method, response.Status)
		}
	}
	send(http.MethodDelete, "")
	for _, call := range calls {
		send(http.MethodPost, fmt.Sprintf(`{"match":%q,"kind":"status","status":503}`, call))
	}
}

func newStage(t *testing.T, settings string) *stage {
	t.Helper()
	x, err := sim.New(sim.Config{Symbols: sim.DefaultSymbols(), StartMS: startclock.MS(), OrderDelayMS: sim.DefaultOrderDelayMS})
	if err != nil {
		t.Fatal(err)
	}
	venue, err := server.New(
		server.Config{
			Exchange: x,
			Clock:    server.Clock{StartMS: startclock.MS()},
			Accounts: []server.Account{{Key: "me", Secret: "secret"}},
			Control:  true,
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(venue.Handler())
	t.Cleanup(web.Close)
	person, err := rest.New(rest.Config{BaseURL: web.URL, Key: "me", Secret: []byte("secret")})
	if err != nil {
		t.Fatal(err)
	}
	if err := person.RefreshSymbols(t.Context()); err != nil {
		t.Fatal(err)
	}
	listen, err := freeAddress()
	if err != nil {
		t.Fatal(err)
	}
	a := &stage{t: t, person: person, control: web.URL + "/control/v1/", directory: t.TempDir(), listen: listen}
	a.binary = build(t)
	write(t, filepath.Join(a.directory, "key"), "me")
	write(t, filepath.Join(a.directory, "secret"), "secret")
	write(t, filepath.Join(a.directory, "configs", "botd.yaml"), `mode: live
exchange: {base_url: "`+web.URL+`", key_file: `+filepath.Join(a.directory, "key")+`, secret_file: `+
		filepath.Join(a.directory, "secret")+`, settle: {window: 5s, visibility: 1s, staleness: 1s}}
listen: `+a.listen+"\n"+settings)
	write(t, filepath.Join(a.directory, "configs", "strategies", "hold.yaml"), `name: hold
strategy: twap
market: futures
symbol: BTC-USDT
interval: 1m
schedule: "@every 1s"
leverage: 10
params: {side: buy, quantity: 0.05, slices: 1, every: 1s}
protect: {stop_loss: 10%}
`)
	return a
}

// trade buys or sells manually.
func (a *stage) trade(side exchange.Side, quantity string, reduceOnly bool) {
	a.t.Helper()
	symbol, found := a.person.Symbols().Symbol(exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"})
	if !found {
		a.t.Fatal("no BTC-USDT")
	}
	size, err := symbol.Quantity(decimal.RequireFromString(quantity))
	if err != nil {
		a.t.Fatal(err)
	}
	order := exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: side, Type: exchange.MarketOrder, Quantity: size, ReduceOnly: reduceOnly}
	if _, err := a.person.Do(a.t.Context(), exchange.Request{Operation: exchange.FuturesPlace, Symbol: order.Symbol, Order: order}); err != nil {
		a.t.Fatal(err)
	}
}

// botd runs a command next to the daemon and returns its output and exit code.
func (a *stage) botd(arguments ...string) (output string, code int) {
	a.t.Helper()
	command := exec.Command(a.binary, arguments...)
	command.Dir = a.directory
	text, err := command.CombinedOutput()
	if err != nil && command.ProcessState == nil {
		a.t.Fatal(err)
	}
	return string(text), command.ProcessState.ExitCode()
}

// want runs a command and expects each part in its output.
func (a *stage) want(code int, parts []string, arguments ...string) string {
	a.t.Helper()
	output, have := a.botd(arguments...)
	if have != code {
		a.t.Errorf("botd %s: want exit code %d, have %d:\n%s", strings.Join(arguments, " "), code, have, output)
	}
	for _, part := range parts {
		if !strings.Contains(output, part) {
			a.t.Errorf("botd %s: want %q in\n%s", strings.Join(arguments, " "), part, output)
		}
	}
	return output
}

func TestAManualTradeIsQuarantinedAndResolved(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		decision, change string
		remaining        string // of the position in the end
	}{
		{"--adopt", "0.02 is adopted: the position is botd's at 0.07", "0.05"}, // the target sells the excess
		{"--ignore", "0.02 of the position is left to its owner", "0.07"},
	} {
		t.Run(c.decision, func(t *testing.T) {
			t.Parallel()
			a := newStage(t, "")
			daemon := start(t, a.binary, a.directory, "-c", "configs", "--mode", "live", "--listen", a.listen)
			daemon.until(t, "position.changed")
			a.want(0, []string{"nothing is quarantined"}, "resolve")
			a.want(1, []string{"not quarantined"}, "resolve", "BTC-USDT", c.decision, "--reason", "x")
			a.trade(exchange.Buy, "0.02", false)
			daemon.until(t, "symbol.quarantined")
			a.want(0, []string{"quarantined since", "position on the exchange 0.07; explained by botd's fills 0.05", "unexplained 0.02",
				c.change}, "resolve", "BTC-USDT")
			a.want(0, []string{"QUARANTINED", "botd resolve BTC-USDT"}, "status")
			a.want(64, []string{"needs --reason"}, "resolve", "BTC-USDT", c.decision)
			a.want(0, []string{"nothing was changed"}, "resolve", "BTC-USDT", c.decision, "--dry-run")
			var listed struct{ Items []view.Quarantine }
			if text := a.want(0, nil, "resolve", "-o", "json"); json.Unmarshal([]byte(text), &listed) != nil || len(listed.Items) != 1 ||
				listed.Items[0].Difference != "0.02" {
				t.Errorf("want it in JSON still, have %s", text)
			}
			a.want(0, []string{"resolved: futures BTC-USDT", c.change}, "resolve", "BTC-USDT", c.decision, "--reason", "I bought it")
			daemon.until(t, "symbol.resolved")
			a.settles(c.remaining)
			if err := daemon.process.Kill(); err != nil {
				t.Fatal(err)
			}
			daemon.wait()
			daemon = start(t, a.binary, a.directory, "-c", "configs", "--mode", "live", "--listen", a.listen)
			daemon.until(t, "daemon.reconciled")
			a.want(0, []string{"nothing is quarantined"}, "resolve") // the decision was journalled
			a.want(0, []string{"resolved by a person: I bought it"}, "journal", "export", "--mode", "live")
		})
	}
}

// settles waits until the exchange reports that position of BTC-USDT.
func (a *stage) settles(want string) {
	a.t.Helper()
	have, late := "", time.Now().Add(time.Minute)
	for now := range time.Tick(50 * time.Millisecond) {
		if now.After(late) {
			break
		}
		answer, err := a.person.Do(a.t.Context(), exchange.Request{Operation: exchange.FuturesOpenPositions})
		if err != nil {
			a.t.Fatal(err)
		}
		have = "0"
		positions := answer.Positions.Items()
		for i := range positions {
			symbol, _ := a.person.Symbols().Symbol(exchange.SymbolKey{Market: exchange.Futures, Name: positions[i].Symbol})
			if positions[i].Symbol == "BTC-USDT" {
				have = symbol.QuantityDecimal(positions[i].Signed()).String()
			}
		}
		if have == want {
			return
		}
	}
	a.t.Errorf("position: want %s, have %s", want, have)
}

func TestTheKillSwitchOfARunningDaemon(t *testing.T) {
	t.Parallel()
	a := newStage(t, "")
	daemon := start(t, a.binary, a.directory, "-c", "configs", "--mode", "live", "--listen", a.listen)
	daemon.until(t, "position.changed")
	a.settles("0.05")
	a.want(1, []string{"no strategy \"hld\" (there are: hold)"}, "halt", "--level", "flatten", "--strategy", "hld", "--reason", "news")
	a.want(0, []string{"would send", "close by SELL MARKET 0.05 on futures BTC-USDT"}, "halt", "--level", "flatten", "--dry-run")
	a.settles("0.05")
	a.fail("POST /fhapi/v1/order", "POST /fhapi/v1/positions/open")
	a.want(failure.Temporary, []string{"close by SELL MARKET 0.05", "halted: flatten (news). Rearm with: botd rearm", "reads of the exchange fail",
		"it stays in force"}, "halt", "--level", "flatten", "--reason", "news", "--wait", "12s")
	a.want(0, []string{"in progress: to close: futures BTC-USDT 0.05"}, "status")
	a.fail()
	a.want(0, []string{"done"}, "halt", "--level", "flatten", "--reason", "news", "--wait", "30s") // it continues, and a second one changes nothing
	a.settles("0")
	if err := daemon.process.Kill(); err != nil {
		t.Fatal(err)
	}
	daemon.wait()
	daemon = start(t, a.binary, a.directory, "-c", "configs", "--mode", "live", "--listen", a.listen)
	if story := daemon.until(t, "daemon.reconciled"); !slices.Contains(story, "trading.halted") {
		t.Errorf("the next start: want it halted still, have %v", story)
	}
	a.want(0, []string{"HALTED (flatten): news"}, "status")
	a.want(0, []string{"armed"}, "rearm")
	a.want(0, []string{"armed"}, "rearm", "--strategy", "hold", "-o", "json")
	a.settles("0.05") // its latch was released by name
}
