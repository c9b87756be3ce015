package endtoend

import (
	"database/sql"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/exchange/rest"
	"botd/internal/failure"
	"botd/runtime/ops"
)

// slow are the rules that the live drill omits, and why. Faults in virtual time fire them, with their waits, over the whole daemon
// (runtime/daemon, TestFaultsOfMinutesFireTheirAlerts). Recorded series make every rule fire, and stay silent, in runtime/ops
// (TestEveryAlertFiresWhenItMustAndOnlyThen).
var slow = map[string]string{
	"BotdOrderUnsettled":   "a minute, and a venue that settles slowly",
	"BotdStrategyStalled":  "two minutes beside a candle that is due",
	"BotdClockSkew":        "the machine's clock is not a test's",
	"BotdLedgerDifference": "wallet reads of half a minute, and a trade that goes on meanwhile",
	"BotdExchangeErrors":   "a rate of five minutes",
	"BotdCandlesMissing":   "more than five candles of a minute",
	"BotdSlippageHigh":     "more than three orders, each at a price of its own",
	"BotdObjectiveMissed":  "a share of an hour",
	"BotdBackupOld":        "two days",
	"BotdMarketDataStale":  "candles fail for thirty seconds while all else answers",
	"BotdTicksMissed":      "more than three ticks of a strategy that the drill has none of",
	"BotdDiskLow":          "a file system of its own, which needs rights",
}

// afterwards are the rules that keep firing after their fault, and for how long: they count over a window. Their end is
// tested in virtual time, or by recorded series (runtime/ops, TestWindowedAlertsEndWithTheirWindow).
var afterwards = map[string]string{
	"BotdWatchdog":             "for ever",
	"BotdNotificationsFailing": "15m", "BotdTelegramFailing": "15m", "BotdSignalsFailing": "15m", "BotdRestartLoop": "30m",
	"BotdRateLimited": "5m", "BotdAuthFailing": "5m", "BotdStoreSlow": "5m",
}

// drill is one daemon on an exchange in which everything can fail, and a Prometheus that watches it.
type drill struct {
	*finding
	*querier
	listen, signals string
	daemon          *exec.Cmd
	fired, cleared  map[string]time.Duration
}

// withoutWaits returns botd's rules without the time for which their state must last, which promtool tests.
func withoutWaits(t *testing.T) string {
	t.Helper()
	rules, err := ops.RulesYAML()
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`(?m)^ +for: .*\n`).ReplaceAllString(rules, "")
}

const drilled = "name: %s\nstrategy: %s\nmarket: futures\nsymbol: %s-USDT\ninterval: 1m\nschedule: '@every 1s'\nleverage: 20\n%s"

const scripted = "name: %s\nstrategy: script\nmarket: spot\nsymbol: %s-USDT\ninterval: 1m\nschedule: '@every 1s'\n%s\n"

const idles = "def decide(view):\n    return plan(target = quantity(0))\n"

func newDrill(t *testing.T) *drill {
	t.Helper()
	prometheus := tool(t, "prometheus", "promtool")
	d := &drill{finding: &finding{place: newPlace(t)}, fired: map[string]time.Duration{}, cleared: map[string]time.Duration{}}
	d.address, d.listen, d.signals = d.free(), d.free(), d.free()
	// Rules compare with Prometheus's clock, so the exchange uses the machine's. A drawdown, unlike a day, has no midnight.
	d.venue(d.address, "finding", "--market", "still", "--start", time.Now().UTC().Format(time.RFC3339))
	d.file("token", canarySignal, 0o600)
	d.file("telegram", canaryTelegram, 0o600)
	d.file("channel", "generic://"+d.free()+"/nobody?disabletls=yes", 0o600)
	d.finding.live("configs", "finding", d.finding.listen(t, d.address), fmt.Sprintf("data_dir: ./data\nlisten: %s\n"+
		"signals: {listen: %q, token_file: token}\ntelegram: {token_file: telegram, operators: [11], server: 'http://%s'}\n"+
		"notify: {every: 1s, channels: {desk: {url_file: channel, least: info}}}\nrisk: {max_daily_loss: 90%%, max_drawdown: 8.5%%}\n",
		d.listen, d.signals, d.free()))
	once := "params: {side: buy, quantity: %s, slices: 1, every: 1s}\n%s"
	for name, text := range map[string]string{
		"large.yaml":   fmt.Sprintf(drilled, "large", "twap", "BTC", fmt.Sprintf(once, "1.9", "")),
		"guarded.yaml": fmt.Sprintf(drilled, "guarded", "twap", "ETH", fmt.Sprintf(once, "0.1", "protect: {stop_loss: 5%}\n")),
		"follow.yaml":  fmt.Sprintf(drilled, "follow", "signal", "SOL", "size: {quote: 100}\n"),
		"fails.star":   "def decide(view):\n    if " + beyondRehearsal + ":\n        fail('a fault')\n    return plan(target = quantity(0))\n",
		"hangs.star": "def decide(view):\n    if " + beyondRehearsal + ":\n        for i in range(100000):\n            sorted(range(3000000))\n" +
			"    return plan(target = quantity(0))\n",
		"fails.yaml": fmt.Sprintf(scripted, "fails", "ETH", "file: fails.star"),
		"hangs.yaml": fmt.Sprintf(scripted, "hangs", "BTC", "file: hangs.star\ndeadline: 1s"),
	} {
		d.file("configs/strategies/"+name, text, 0o600)
	}
	d.refuse = func(path, body string) bool { // a stop, and the exit of the large position
		return strings.HasSuffix(path, "/v1/order") && (strings.Contains(body, "STOP_MARKET") ||
			strings.Contains(body, "BTC-USDT") && strings.Contains(body, "SELL"))
	}
	d.trade()
	d.log.wait(t, `"daemon.listening"`)
	token := filepath.Join(d.directory, "data/live/token-viewer")
	base := startPrometheusOver(t, prometheus, d.directory, withoutWaits(t), scraped("botd", token, d.listen),
		scraped("botd-twice", token, d.listen, strings.Replace(d.listen, "127.0.0.1", "localhost", 1))) // as if two daemons traded one account
	d.querier = &querier{t, base, time.Now()}
	return d
}

func (d *drill) trade() {
	d.place.t.Helper()
	d.daemon, d.log = d.start("daemon", "run", "--mode", "live", "--log-format", "json")
}

// patience bounds the time until an alert fires or ends on a busy machine.
const patience = 3 * time.Minute

// want waits until each of these alerts fires; their faults started at a time.
func (d *drill) want(since time.Time, alerts ...string) {
	d.place.t.Helper()
	for _, name := range alerts {
		d.late = time.Now().Add(patience)
		if d.until(fmt.Sprintf(`ALERTS{alertname=%q, alertstate="firing", job=~"botd.*|"}`, name)) == nil {
			d.place.t.Fatal(d.run(failure.OK, "status"))
		}
		d.fired[name] = time.Since(since).Round(time.Second)
	}
}

// over waits until each of these alerts ends; their faults ended at a time.
func (d *drill) over(since time.Time, alerts ...string) {
	d.place.t.Helper()
	for _, name := range alerts {
		d.late = time.Now().Add(patience)
		firing := fmt.Sprintf(`ALERTS{alertname=%q, alertstate="firing", job=~"botd|"}`, name)
		if d.until(`vector(1) unless on () `+firing) == nil {
			d.place.t.Fatalf("want none firing, have %v: %s", d.ask(firing), d.run(failure.OK, "status"))
		}
		d.cleared[name] = time.Since(since).Round(time.Second)
	}
}

// TestLiveFaultsFireTheirAlerts has a real Prometheus evaluate botd's rules over a real daemon and faults of its exchange,
// its files, its people and its process, many at once. Each alert that a fault of seconds can reach fires, and ends with it.
func TestLiveFaultsFireTheirAlerts(t *testing.T) {
	t.Parallel()
	if os.Getenv("BOTD_DRILL") == "" {
		t.Skip("BOTD_DRILL=1 has faults of four minutes and twenty seconds of processor time; CI sets it where processes are killed")
	}
	began := time.Now()
	d := newDrill(t)
	d.log.wait(t, `"position.changed"`)
	d.want(began, "BotdWatchdog", "BotdTwoLeaders", "BotdStrategyFailed", "BotdStrategyHung", "BotdPositionWithoutStop", "BotdNotificationsFailing",
		"BotdTelegramFailing", "BotdUnprotectedPosition")
	repaired := time.Now()
	d.file("configs/strategies/fails.star", idles, 0o600)
	d.file("configs/strategies/hangs.star", idles, 0o600)
	d.over(repaired, "BotdStrategyFailed", "BotdStrategyHung")
	d.people()
	d.outages()
	d.process()
	for _, a := range ops.Alerts() {
		_, left := slow[a.Name]
		took, fired := d.fired[a.Name]
		until, long := afterwards[a.Name]
		ended, cleared := d.cleared[a.Name]
		if fired == left || fired && cleared == long {
			t.Errorf("%s: fired %t, left out %t; cleared %t, lasts %t: want one of each two", a.Name, fired, left, cleared, long)
		} else if cleared {
			t.Logf("%-26s fires within %-5s clears within %s", a.Name, took, ended)
		} else if fired {
			t.Logf("%-26s fires within %-5s lasts %s", a.Name, took, until)
		}
	}
	if len(d.fired)+len(slow) != len(ops.Alerts()) {
		t.Errorf("want no other alerts than those of botd, have %v", slices.Sorted(maps.Keys(d.fired)))
	}
}

// people injects faults by people: halts, a wrong file, wrong tokens, a manual trade, a position that is too
// large.
func (d *drill) people() {
	began := time.Now()
	d.run(failure.OK, "halt", "--level", "pause", "--strategy", "guarded", "--reason", "a drill", "--yes")
	d.file("configs/strategies/follow.yaml", "name: follow\nnonsense: 1\n", 0o600)
	for range 6 {
		d.signal()
	}
	d.want(began, "BotdPartHalted", "BotdConfigReloadFailed", "BotdSignalsFailing")
	ended := time.Now()
	d.run(failure.OK, "rearm", "--strategy", "guarded")
	d.file("configs/strategies/follow.yaml", fmt.Sprintf(drilled, "follow", "signal", "SOL", "size: {quote: 100}\n"), 0o600)
	d.over(ended, "BotdPartHalted", "BotdConfigReloadFailed")

	began = time.Now()
	d.control("POST", "price", `{"market": "futures", "symbol": "BTC-USDT", "price": "47300"}`) // liquidated at about 45,000
	d.buyManually()
	d.run(failure.OK, "halt", "--level", "pause", "--reason", "a drill", "--yes")
	d.run(failure.Temporary, "halt", "--level", "flatten", "--strategy", "large", "--reason", "a drill", "--yes", "--wait", "1s")
	d.want(began, "BotdNearLiquidation", "BotdLimitNearlyReached", "BotdDiscrepancyUnresolved", "BotdTradingHalted", "BotdIntentRefused")
	ended = time.Now()
	d.set(func() { d.refuse = nil }) // the stop rests, and the large position is closed
	d.over(ended, "BotdNearLiquidation", "BotdPositionWithoutStop", "BotdIntentRefused", "BotdUnprotectedPosition")
	ended = time.Now()
	d.run(failure.OK, "resolve", "ETH-USDT", "--adopt", "--reason", "bought manually")
	d.run(failure.OK, "rearm", "--reason", "over")
	d.over(ended, "BotdDiscrepancyUnresolved", "BotdTradingHalted", "BotdLimitNearlyReached")

	began = time.Now()
	d.control("POST", "faults", `{"match": "POST /fhapi/v1/order", "kind": "status", "status": 503}`)
	d.run(failure.Temporary, "halt", "--level", "flatten", "--strategy", "guarded", "--reason", "a drill", "--yes", "--wait", "1s")
	d.want(began, "BotdHaltUnfinished")
	ended = time.Now()
	d.control("DELETE", "faults", "")
	d.over(ended, "BotdHaltUnfinished")
}

// signal sends a signal with a wrong token.
func (d *drill) signal() {
	t := d.place.t
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+d.signals+"/signal", strings.NewReader(`{"token": "wrong"}`))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
}

// buyManually trades on the account outside botd.
func (d *drill) buyManually() {
	t := d.place.t
	person, err := rest.New(rest.Config{BaseURL: "http://" + d.address, Key: "finding", Secret: []byte("a secret")})
	if err != nil {
		t.Fatal(err)
	}
	if err := person.RefreshSymbols(t.Context()); err != nil {
		t.Fatal(err)
	}
	symbol, _ := person.Symbols().Symbol(exchange.SymbolKey{Market: exchange.Futures, Name: "ETH-USDT"})
	quantity, err := symbol.Quantity(decimal.RequireFromString("0.02"))
	if err != nil {
		t.Fatal(err)
	}
	order := exchange.NewOrder{Market: exchange.Futures, Symbol: "ETH-USDT", Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: quantity}
	if _, err := person.Do(t.Context(), exchange.Request{Operation: exchange.FuturesPlace, Symbol: order.Symbol, Order: order}); err != nil {
		t.Fatal(err)
	}
}

// outages injects faults of the exchange.
func (d *drill) outages() {
	began := time.Now()
	d.control("POST", "faults", `{"match": "GET /fapi/v1/ticker/*", "kind": "status", "status": 429}`)
	d.want(began, "BotdRateLimited")
	ended := time.Now()
	d.control("DELETE", "faults", "")
	d.over(ended, "BotdReconcileStale") // it may have been blind meanwhile

	began = time.Now()
	d.control("POST", "faults", `{"match": "*", "kind": "drop_request"}`)
	d.want(began, "BotdReconcileStale")
	ended = time.Now()
	d.control("DELETE", "faults", "")
	d.over(ended, "BotdReconcileStale")

	began = time.Now()
	d.set(func() { d.keyless = true })
	d.want(began, "BotdAuthFailing")
	d.set(func() { d.keyless = false })
}

// process injects faults of the process: it is suspended, killed, and restarted again and again.
func (d *drill) process() {
	t := d.place.t
	began := time.Now()
	if err := d.daemon.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	d.want(began, "BotdDown") // it does not answer
	ended := time.Now()
	if err := d.daemon.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	d.over(ended, "BotdDown")
	began = time.Now()
	for range 3 {
		d.late = time.Now().Add(patience)
		start := d.until(`process_start_time_seconds{job="botd"}`)
		if err := d.daemon.Process.Kill(); err != nil || start == nil {
			t.Fatal(err, start)
		}
		_ = d.daemon.Wait() // it was killed
		d.trade()
		d.log.wait(t, `"daemon.listening"`)
		d.until(fmt.Sprintf(`process_start_time_seconds{job="botd"} != %s`, start[0].Value[1]))
	}
	d.want(began, "BotdRestartLoop")
	d.disk()
	d.targets()
}

// disk injects a disk on which each record waits for another program.
func (d *drill) disk() {
	t := d.place.t
	db, err := sql.Open("sqlite", "file:"+filepath.Join(d.directory, "data/live/journal.db")+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	for _, verb := range slices.Repeat([][]string{{"halt", "--level", "pause", "--yes"}, {"rearm"}}, 3) { // each is a record
		if _, err := conn.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
			t.Fatal(err)
		}
		released := make(chan error, 1)
		time.AfterFunc(900*time.Millisecond, func() {
			_, err := conn.ExecContext(t.Context(), "ROLLBACK")
			released <- err
		})
		d.run(failure.OK, append(verb, "--strategy", "follow", "--reason", "a drill")...)
		if err := <-released; err != nil {
			t.Fatal(err)
		}
	}
	d.want(began, "BotdStoreSlow")
}

// targets removes Prometheus's targets: first the second one, then the first.
func (d *drill) targets() {
	t := d.place.t
	text, err := os.ReadFile(filepath.Join(d.directory, "prometheus.yml"))
	if err != nil {
		t.Fatal(err)
	}
	configure := func(text string) {
		d.file("prometheus.yml", text, 0o600)
		response, err := http.Post(d.base+"/-/reload", "", nil)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
	}
	ends := func(since time.Time, alert string) {
		d.late = time.Now().Add(patience)
		d.until(fmt.Sprintf(`vector(1) unless on () ALERTS{alertname=%q, alertstate="firing"}`, alert))
		d.cleared[alert] = time.Since(since).Round(time.Second)
	}
	targets := regexp.MustCompile(`targets: \[.*?\]`) // unlike no job, a job without targets ends its series immediately
	first, second, _ := strings.Cut(string(text), "job_name: botd-twice")
	one := first + "job_name: botd-twice" + targets.ReplaceAllString(second, "targets: []")
	none := targets.ReplaceAllString(one, "targets: []")
	ended := time.Now()
	configure(one)
	ends(ended, "BotdTwoLeaders")
	began := time.Now()
	configure(none)
	d.want(began, "BotdAbsent")
	ended = time.Now()
	configure(one)
	ends(ended, "BotdAbsent")
}
