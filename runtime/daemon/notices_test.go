package daemon

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"botd/configs"
	"botd/exchange"
	"botd/reconcile/account"
	"botd/runtime/incident"
	"botd/runtime/notify"
	"botd/runtime/ops"
	"botd/runtime/telegram"
	"botd/runtime/view"
)

// TestEachNoticeReachesItsChannelOnce covers a warning, an incident, which is a line of the log too, and more trades in an hour than are sent one by one: the
// others come as a digest when the hour is over, or at the end.
func TestEachNoticeReachesItsChannelOnce(t *testing.T) {
	t.Parallel()
	w := newWatched(t, scrapeEvery)
	file := w.desk()
	p, _ := configured(t, func(c *configs.Config) {
		c.Notify = configs.NotifyConfig{EveryMS: 60_000, Daily: configs.Never, Channels: []configs.ChannelConfig{
			{Name: "desk", AddressFile: file, MinSeverity: "warning", Also: []string{"trade.*", "incident.*"}}}}
	})
	p.logs = ops.NewLogs()
	p.console = ops.NewConsole(io.Discard, ops.Format{JSON: true}, nil, p.logs)
	p.trades = &trades{positions: map[string]exchange.Quantity{}, log: p.console}
	received := func() string {
		w.mu.Lock()
		defer w.mu.Unlock()
		return strings.Join(w.messages, "\n")
	}
	synctest.Test(t, func(t *testing.T) {
		stop, err := p.startNotices()
		if err != nil {
			t.Fatal(err)
		}
		if have := seriesOf(t, p.metrics, "botd_notifications_total"); have != len(notify.Results) ||
			counted(t, p.metrics, "botd_notifications_total") != 0 {
			t.Errorf("want each result counted from zero on, have %d", have)
		}
		trade := func(hour int) {
			for n := range 14 {
				p.trades.report(exchange.SymbolKey{}, &notify.Trade{At: time.Now(), Name: "trade.opened", Strategy: "trend",
					Text: fmt.Sprintf("trend opened: %d in hour %d.", n, hour)})
			}
		}
		p.console.Warn("exchange.slow", "the exchange is slow")
		p.console.Say("daemon.memory", "so much memory")
		one := incident.Incident{ID: 7, Kind: "rate_limited", Severity: incident.Warning, Scope: account.Scope{Strategy: "grid"}, Cause: "429", Remedy: "wait"}
		for _, change := range []incident.Change{incident.Opened, incident.Reminded, incident.Escalated, incident.Closed, incident.Returned} {
			p.reportIncident(&incident.Report{Change: change, Incident: one})
		}
		trade(1)
		for n := range 12 { // in two minutes
			<-time.After(10 * time.Second)
			p.console.Warn("exchange.later", "a later warning: %d", n)
		}
		w.mu.Lock()
		if have := len(w.messages); have < 2 || have > 8 {
			t.Errorf("want a few messages at once, and the others a minute apart, have %d", have)
		}
		w.mu.Unlock()
		<-time.After(57 * time.Minute)
		if have := received(); strings.Contains(have, "beyond those listed") {
			t.Errorf("within the hour: want no digest, have %s", have)
		}
		<-time.After(2 * time.Minute)
		if have := received(); strings.Count(have, "beyond those listed\ntrend: opened 2") != 1 {
			t.Errorf("after the hour: want a digest of two, have %s", have)
		}
		trade(2)
		stop()
	})
	have := received()
	for text, count := range map[string]int{"the exchange is slow": 1, "so much memory": 0, "incident 7, warning: RATE LIMITED": 1,
		"incident 7 continues after": 1, "incident 7 has become critical": 1, "incident 7 is over": 1, "incident 7 is back": 1,
		"WARNING incident 7 continues after": 1, "WARNING incident 7 is over": 0,
		"in hour 1.": 12, "in hour 2.": 12, "trend opened: 5 in hour 1.": 1, "beyond those listed\ntrend: opened 2": 2} {
		if n := strings.Count(have, text); n != count {
			t.Errorf("want %q %d times, have it %d times in\n%s", text, count, n, have)
		}
	}
	digests := 0
	for _, line := range logLines(p) {
		if strings.HasPrefix(line, "info trade.digest trade     trades since ") && strings.HasSuffix(line, " beyond those listed; trend: opened 2") {
			digests++
		}
	}
	if digests != 2 {
		t.Errorf("want each digest a line of the log, have %q", logLines(p))
	}
}

// TestAChannelListensToIncidentsByTheirNames covers a channel for errors that selects each change of one incident, a warning, but not its reminders.
func TestAChannelListensToIncidentsByTheirNames(t *testing.T) {
	t.Parallel()
	w := newWatched(t, scrapeEvery)
	file := w.desk()
	p, _ := configured(t, func(c *configs.Config) {
		c.Notify = configs.NotifyConfig{EveryMS: 60_000, Daily: configs.Never, Channels: []configs.ChannelConfig{
			{Name: "desk", AddressFile: file, MinSeverity: "error", Also: []string{"incident.opened", "incident.escalated", "incident.closed"}}}}
	})
	p.logs = ops.NewLogs()
	p.console = ops.NewConsole(io.Discard, ops.Format{JSON: true}, nil, p.logs)
	p.trades = &trades{positions: map[string]exchange.Quantity{}, log: p.console}
	synctest.Test(t, func(t *testing.T) {
		stop, err := p.startNotices()
		if err != nil {
			t.Fatal(err)
		}
		for n, change := range []incident.Change{incident.Opened, incident.Reminded, incident.Returned, incident.Escalated, incident.Closed} {
			p.reportIncident(&incident.Report{Change: change, Incident: incident.Incident{ID: int64(n), Kind: "rate_limited", Severity: incident.Warning}})
		}
		stop()
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	have := strings.Join(w.messages, "\n")
	for text, want := range map[string]bool{"incident 0, ": true, "incident 1 ": false, "incident 2 ": false, "incident 3 ": true, "incident 4 ": true} {
		if strings.Contains(have, text) != want {
			t.Errorf("want %q sent %t, have %s", text, want, have)
		}
	}
}

// seriesOf returns the number of a metric's series.
func seriesOf(t *testing.T, m *ops.Metrics, name string) int {
	t.Helper()
	families, err := m.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == name {
			return len(family.GetMetric())
		}
	}
	return 0
}

// TestADeadMansServiceThatFailsIsLogged covers a service that answers with an error, and then again without one.
func TestADeadMansServiceThatFailsIsLogged(t *testing.T) {
	t.Parallel()
	p, lines := configured(t, func(*configs.Config) {})
	p.config.Heartbeat = configs.HeartbeatConfig{AddressFile: secret(t, "http://127.0.0.1:9/ping"), EveryMS: 30_000}
	p.board = view.NewBoard("demo", "one")
	var fails atomic.Bool
	fails.Store(true)
	p.network.Transport = fetch(func(r *http.Request) *http.Response {
		return answer(r, map[bool]int{true: 500, false: 200}[fails.Load()], "")
	})
	synctest.Test(t, func(t *testing.T) {
		stop, err := p.startHeartbeat()
		if err != nil {
			t.Fatal(err)
		}
		if have := seriesOf(t, p.metrics, "botd_heartbeats_total"); have != 3 || counted(t, p.metrics, "botd_heartbeats_total") > 1 {
			t.Errorf("want each result counted from zero on, and the first request at most, have %d", have)
		}
		if !p.board.Alive() {
			t.Error("want the first request not withheld because the loop has not turned yet")
		}
		for second := range 100 {
			fails.Store(second < 70)
			p.board.Beat()
			<-time.After(time.Second)
		}
		stop()
	})
	if have := lines(); len(have) != 2 || !strings.HasPrefix(have[0], "warn heartbeat.failed heartbeat ") ||
		have[1] != "warn heartbeat.works heartbeat the service answers again" {
		t.Errorf("want the failure and its end logged, have %q", have)
	}
}

// TestADeadMansServiceIsNotifiedOnceAMinute runs without a configured interval.
func TestADeadMansServiceIsNotifiedOnceAMinute(t *testing.T) {
	t.Parallel()
	p, lines := configured(t, func(*configs.Config) {})
	p.config.Heartbeat = configs.HeartbeatConfig{AddressFile: secret(t, "http://127.0.0.1:9/ping")}
	p.board = view.NewBoard("demo", "one")
	var times []time.Duration
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		p.network.Transport = fetch(func(r *http.Request) *http.Response {
			times = append(times, time.Since(began).Round(time.Second))
			return answer(r, 200, "")
		})
		stop, err := p.startHeartbeat()
		if err != nil {
			t.Fatal(err)
		}
		for range 130 {
			p.board.Beat()
			<-time.After(time.Second)
		}
		stop()
	})
	if want := []time.Duration{0, time.Minute, 2 * time.Minute}; !slices.Equal(times, want) || len(lines()) != 0 {
		t.Errorf("want requests at %v, have %v", want, times)
	}
	if have := counted(t, p.metrics, "botd_heartbeats_total"); have != 3 {
		t.Errorf("want three counted, have %v", have)
	}
}

// TestAnUnlistedUserWhoWritesToTheBotIsLogged sends one message.
func TestAnUnlistedUserWhoWritesToTheBotIsLogged(t *testing.T) {
	t.Parallel()
	console, lines := logged(t)
	metrics, first := ops.NewMetrics("demo", ops.Build{}), true
	synctest.Test(t, func(t *testing.T) {
		transport := fetch(func(r *http.Request) *http.Response {
			text := `{"ok":true,"result":[]}`
			if first && strings.HasSuffix(r.URL.Path, "/getUpdates") {
				first, text = false, `{"ok":true,"result":[{"update_id":1,"message":{"message_id":1,"date":946684800,"text":"/status",`+
					`"chat":{"id":5,"type":"private"},"from":{"id":5,"first_name":"x"}}}]}`
			}
			<-time.After(time.Second)
			return answer(r, 200, text)
		})
		c := &commands{config: &configs.TelegramConfig{Operators: []int64{7}, Server: "http://127.0.0.1:9"}, token: "123456:" + strings.Repeat("t", 35)}
		bot := c.bot(nil, transport, metrics, console)
		if have := counted(t, metrics, "botd_telegram_messages_total"); have != 0 ||
			seriesOf(t, metrics, "botd_telegram_messages_total") != len(telegram.Results) {
			t.Errorf("want each result counted from zero on, have %v", have)
		}
		stop := inBackground(t.Context(), bot.Run)
		<-time.After(20 * time.Second)
		stop()
	})
	have := lines()
	if len(have) < 2 || have[0] != "info daemon.telegram telegram  commands of 1 operator and questions of 0 viewers" ||
		!slices.Contains(have, "warn telegram.stranger telegram  user 5 is not listed under telegram; no answer is given") {
		t.Errorf("have %q", have)
	}
	if have := counted(t, metrics, "botd_telegram_messages_total"); have != 1 {
		t.Errorf("want it counted, have %v", have)
	}
}

// fetch answers requests.
type fetch func(*http.Request) *http.Response

func (f fetch) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body) // from a pipe, whose other end waits
		r.Body.Close()
	}
	return f(r), nil
}
