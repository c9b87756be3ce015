package server

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"botd/exchange"
)

// TestARecordBeginsWithTheChecksumOfItsContent expects CRC-32C, so that files of other versions can be read.
func TestARecordBeginsWithTheChecksumOfItsContent(t *testing.T) {
	t.Parallel()
	if want, have := "e3069283 123456789\n", string(appendRecord(nil, []byte("123456789"))); have != want {
		t.Errorf("want %q, have %q", want, have)
	}
}

// TestAFaultOfASignatureIsNamed expects the header and its value in the refusal.
func TestAFaultOfASignatureIsNamed(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, nil)
	const method, target, body = "POST", "/fhapi/v1/order", buyMarket
	for _, f := range []struct {
		change func(http.Header)
		want   string
	}{
		{func(h http.Header) { h.Del("x-api-key") }, "header X-API-KEY is missing"},
		{func(h http.Header) { h.Set("x-api-key", strings.Repeat("k", 50)) }, `key \"` + strings.Repeat("k", 40) + `\" is unknown`},
		{func(h http.Header) { h.Set("x-timestamp", "soon") }, `header X-TIMESTAMP \"soon\" is not an integer of milliseconds`},
		{func(h http.Header) { h.Set("x-timestamp", "7") },
			fmt.Sprintf("header X-TIMESTAMP 7 is more than 5000 ms from server time %d", int64(manualStartMS))},
		{func(h http.Header) { h.Set("x-signature", "00") }, "header X-SIGNATURE does not fit the request"},
	} {
		header := c.sign(method, target, body, c.nowMS())
		f.change(header)
		if a := c.send(method, target, body, header); !strings.Contains(strings.ToUpper(a.body), strings.ToUpper(f.want)) {
			t.Errorf("want %s, have %s", f.want, a.body)
		}
	}
	reader := *c
	reader.key, reader.secret = readKey, readSecret
	if a := reader.call(method, target, body); a.status != http.StatusForbidden || !strings.Contains(a.body, `key \"READER\" may only read`) {
		t.Errorf("have %d %s", a.status, a.body)
	}
}

// TestAHiddenOrderIsAnsweredLikeOneThatDoesNotExist checks that the two refusals differ only in the id.
func TestAHiddenOrderIsAnsweredLikeOneThatDoesNotExist(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, nil)
	c.fault(`{"match":"POST /fhapi/v1/order","kind":"hide","delay_ms":3000,"count":1}`)
	order := c.place(buyMarket)
	hidden := c.call("GET", fmt.Sprintf("/fhapi/v1/order?order_id=%d", order.ID), "")
	other := c.call("GET", "/fhapi/v1/order?order_id=987654321", "")
	if want := strings.ReplaceAll(other.body, "987654321", fmt.Sprint(order.ID)); hidden.status != other.status || hidden.body != want ||
		other.status < 400 ||
		!strings.Contains(other.body, "987654321") {
		t.Errorf("want %d %s, have %d %s", other.status, want, hidden.status, hidden.body)
	}
}

// TestABodyIsAMebibyteLong expects that as the maximum; only a posted state may be longer.
func TestABodyIsAMebibyteLong(t *testing.T) {
	t.Parallel()
	s, c := startServer(t, nil)
	state := c.send("GET", statePath, "", nil)
	state.want(t, http.StatusOK)
	for _, length := range []int{maxBody, maxBody + 1} {
		a := c.call("POST", "/fhapi/v1/order", buyMarket+strings.Repeat(" ", length-len(buyMarket)))
		if tooLong := a.status == http.StatusBadRequest && strings.Contains(a.body, "body is larger than 1 MiB"); tooLong != (length > maxBody) {
			t.Errorf("%d bytes: have %d %s", length, a.status, a.body)
		}
	}
	long := c.send("POST", statePath, strings.Repeat(" ", maxBody+1), nil)
	if strings.Contains(long.body, "is larger than") || long.err != nil {
		t.Errorf("a state of more than a mebibyte: want it read, have %d %s, %v", long.status, long.body, long.err)
	}
	if put := c.send("PUT", statePath, strings.Repeat(" ", maxBody+1), nil); !strings.Contains(put.body, "is larger than 1 MiB") {
		t.Errorf("another method: have %d %s", put.status, put.body)
	}
	closed := newServer(t, func(config *Config) { config.Control = false })
	if closed.control || !s.control {
		t.Fatal("want one without a control interface")
	}
}

// TestPositionsOfAnotherTime checks that the list is as old as the variant specifies, and that it is empty in
// the first milliseconds of each minute.
func TestPositionsOfAnotherTime(t *testing.T) {
	t.Parallel()
	list := func(ids ...int64) exchange.Fetched[exchange.Position] {
		var all []exchange.Position
		for _, id := range ids {
			all = append(all, exchange.Position{ID: id})
		}
		return exchange.FetchedOf(all)
	}
	const minute = int64(exchange.Minute1)
	for _, c := range []struct {
		variant string
		nowMS   int64
		want    string // ids
	}{
		{"", minute, "[9]"}, {"empty-positions=1ms", minute, "[]"}, {"empty-positions=1ms", minute + 1, "[9]"},
		{"empty-positions=1ms", 2*minute - 1, "[9]"},
		{"empty-positions", minute + 2_999, "[]"}, {"empty-positions", minute + 3_000, "[9]"},
		{"stale-positions=1s", minute + 999, "[1]"},   // all of them are newer: the oldest
		{"stale-positions=1s", minute + 1_000, "[1]"}, // the first is a second old
		{"stale-positions=1s", minute + 1_499, "[1]"},
		{"stale-positions=1s", minute + 1_500, "[2]"},
		{"stale-positions=1s", minute + 1_999, "[2]"},
		{"stale-positions=1s", minute + 2_000, "[3]"},
	} {
		v, err := parseVariants([]string{c.variant})
		if err != nil {
			t.Fatal(err)
		}
		for i, atMS := range []int64{minute, minute + 500, minute + 1_000} {
			v.positions["k"] = append(v.positions["k"], positionsAt{atMS, exchange.Answer{Positions: list(int64(i) + 1)}})
		}
		answer := exchange.Answer{Operation: exchange.FuturesOpenPositions, Positions: list(9)}
		v.openPositions("k", c.nowMS, &answer)
		have := []int64{}
		for _, p := range answer.Positions.Items() {
			have = append(have, p.ID)
		}
		if fmt.Sprint(have) != c.want {
			t.Errorf("%s at %d: want %s, have %v", c.variant, c.nowMS-minute, c.want, have)
		}
		history := exchange.Answer{Operation: exchange.FuturesPositionsHistory, Positions: list(9)}
		if v.openPositions("k", minute, &history); len(history.Positions.Items()) != 1 {
			t.Errorf("%s: want other lists left alone", c.variant)
		}
	}
	if v, err := parseVariants([]string{"stale-positions=7s"}); err != nil || v.named["stale-positions"] != 7*time.Second {
		t.Errorf("want 7s, have %v, %v", v.named, err)
	}
}

// TestFilesThatAnEarlierExchangeLeft checks that such files next to the state file are removed, and that a
// failure to remove one is reported.
func TestFilesThatAnEarlierExchangeLeft(t *testing.T) {
	t.Parallel()
	f, c := newStateTest(t)
	c.add(t, f)
	if err := f.close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(f.path+newSuffix, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(f.path+rewriteSuffix, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	var lines []string
	again := &stateFile{path: f.path, source: c.changes, log: func(format string, values ...any) { lines = append(lines, fmt.Sprintf(format, values...)) }}
	content, err := again.open()
	if err != nil || string(content.snapshot) != "1" {
		t.Fatalf("have %+v, %v", content, err)
	}
	if _, err := os.Stat(f.path + newSuffix); !os.IsNotExist(err) {
		t.Errorf("want the unfinished file removed, have %v", err)
	}
	if len(lines) != 1 || !strings.HasPrefix(lines[0], "state "+f.path+": ") || !strings.Contains(lines[0], "not empty") {
		t.Errorf("want one line, have %q", lines)
	}
	if err := again.close(); err != nil {
		t.Error(err)
	}
}

// TestARewriteThatFailsIsTriedAgainAfterAsManyBytes also checks that the old file stays in use.
func TestARewriteThatFailsIsTriedAgainAfterAsManyBytes(t *testing.T) {
	t.Parallel()
	f, c := newStateTest(t)
	var lines []string
	f.log = func(format string, values ...any) { lines = append(lines, fmt.Sprintf(format, values...)) }
	if err := os.MkdirAll(filepath.Join(f.path+rewriteSuffix, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	var failedAt []int
	for i := range 40 { // a change has 12 bytes: a rewrite is due after nine, and begun by the tenth
		c.add(t, f)
		f.group.Wait()
		if len(lines) > len(failedAt) {
			failedAt = append(failedAt, i)
		}
		if have := sum(t, read(t, f.path)); have != c.now.Load() {
			t.Fatalf("want %d, have %d", c.now.Load(), have)
		}
	}
	if fmt.Sprint(failedAt) != "[10 20 30]" || len(lines) != 3 || !strings.HasPrefix(lines[0], "state "+f.path+" was not rewritten: ") {
		t.Errorf("have %v, %q", failedAt, lines)
	}
}

func TestAClocksSettingsAtTheirBounds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		settings Clock
		want     string
	}{
		{Clock{}, ""}, {Clock{Speed: 1e-9}, ""}, {Clock{Speed: maxSpeed}, ""},
		{Clock{Speed: maxSpeed * 1.001}, "clock speed 1.001e+06 is not above 0 and at most 1e+06"},
		{Clock{Speed: -1e-9}, "clock speed -1e-09 is not above 0"}, {Clock{StartMS: -1}, "clock start -1 ms is before 1970"}, {Clock{StartMS: 1}, ""},
		{Clock{WindowMS: -1}, "clock window -1 ms is below 0"}, {Clock{WindowMS: 1}, ""},
	} {
		_, err := newClock(c.settings, 0)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: want %q, have %v", c.settings, c.want, err)
		}
	}
	for _, c := range []struct {
		settings                 Clock
		earliestMS, want, window int64
	}{
		{Clock{Manual: true}, 0, manualStartMS, 5_000}, {Clock{Manual: true}, manualStartMS + 7, manualStartMS + 7, 5_000},
		{Clock{Manual: true, StartMS: 100, WindowMS: 9}, 50, 100, 9}, {Clock{Manual: true, StartMS: 100}, 101, 101, 5_000},
	} {
		made, err := newClock(c.settings, c.earliestMS)
		if err != nil || made.nowMS() != c.want || made.windowMS() != c.window {
			t.Errorf("%+v: want %d within %d, have %d within %d, %v", c.settings, c.want, c.window, made.nowMS(), made.windowMS(), err)
		}
	}
	_, err := New(Config{Exchange: newExchange(t), Budget: -1})
	if err == nil || err.Error() != "budget -1 is below 0: set requests per second, or 0 for unlimited" {
		t.Errorf("have %v", err)
	}
}

// TestAReplacedStateHidesNothing covers an order that is hidden for a minute.
func TestAReplacedStateHidesNothing(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, func(config *Config) { config.Build = buildFresh })
	get := func(id int64) int { return c.call("GET", fmt.Sprint("/fhapi/v1/order?order_id=", id), "").status }
	c.fault(`{"match":"POST /fhapi/v1/order","kind":"hide","delay_ms":60000,"count":1}`)
	order := c.place(buyBelow)
	c.advance(1_000) // orders are shown with a delay
	if have := get(order.ID); have != http.StatusBadRequest {
		t.Errorf("want it hidden, have %d", have)
	}
	c.control("POST", "/control/v1/state", c.control("GET", "/control/v1/state", "").body).want(t, http.StatusOK)
	if have := get(order.ID); have != http.StatusOK {
		t.Errorf("after the state was replaced: want it shown, have %d", have)
	}
}

// TestNoMoreThanAThousandFaultsAreActive also has bodies that are no JSON, for each call that changes something.
func TestNoMoreThanAThousandFaultsAreActive(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, nil)
	const one = `{"match":"GET /fapi/v1/ping","kind":"delay","delay_ms":1}`
	for range maxFaults {
		c.fault(one)
	}
	a := c.send("POST", "/control/v1/faults", one, nil)
	if a.status != http.StatusBadRequest || !strings.Contains(a.body, "1000 faults are active, the maximum") {
		t.Errorf("one more: have %d %s", a.status, a.body)
	}
	for _, call := range []string{"faults", "clock", "price", "symbol", "deposit", "account", "reset", "state"} {
		if a := c.send("POST", "/control/v1/"+call, "{", nil); call != "reset" && (a.status != http.StatusBadRequest || !strings.Contains(a.body, "JSON")) {
			t.Errorf("%s: want it refused as no JSON, have %d %s", call, a.status, a.body)
		}
	}
}

// TestAServerWhoseListenerIsClosedEnds checks that it ends although its context has not.
func TestAServerWhoseListenerIsClosedEnds(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(t.Context(), listener) }()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if err == nil || !strings.Contains(err.Error(), "serve 127.0.0.1:") {
			t.Errorf("want the listener named, have %v", err)
		}
	case <-time.After(time.Minute):
		t.Error("want it ended")
	}
}
