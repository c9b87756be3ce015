package api

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"botd/exchange"
	"botd/runtime/api/auth"
	"botd/runtime/engine"
	"botd/runtime/view"
)

// The bounds are those of docs/api.yaml. A value at a bound passes, one beyond it does not.
func TestAParameterIsCheckedAtItsBounds(t *testing.T) {
	t.Parallel()
	limit, since, after := parameter{name: "p", kind: number, maximum: 1_000}, parameter{name: "p", kind: milliseconds}, parameter{name: "p", kind: cursor}
	flag, choice, free := parameter{name: "p", kind: boolean}, parameter{name: "p", values: []string{"futures", "spot"}}, parameter{name: "p"}
	for _, c := range []struct {
		of    parameter
		value string
		want  string
	}{
		{limit, "1", ""}, {limit, "1000", ""}, {limit, "0", `p "0" is not an integer from 1 to 1000`}, {limit, "1001", "from 1 to 1000"}, {limit, "",
			"from 1"},
		{limit, "1.5", "from 1"}, {since, "0", ""}, {since, "4503599627370496", ""}, {since, "4503599627370497", `p "4503599627370497" is not a number of`},
		{since, "-1", "milliseconds"}, {since, "now", "milliseconds"}, {after, "1", ""}, {after, "9223372036854775807", ""},
		{after, "0", `p "0" is not a cursor`},
		{after, "x", "not a cursor"}, {flag, "true", ""}, {flag, "false", ""}, {flag, "1", `p "1" is neither true nor false`}, {flag, "", "neither"},
		{choice, "spot", ""}, {choice, "", ""}, {choice, "Spot", `p "Spot" is not one of futures, spot`}, {free, "", ""}, {free, "anything", ""},
	} {
		have := ""
		if err := c.of.check(c.value); err != nil {
			have = err.Error()
		}
		if (have == "") != (c.want == "") || !strings.Contains(have, c.want) {
			t.Errorf("%q: want %q, have %q", c.value, c.want, have)
		}
	}
}

// An unknown, repeated or malformed parameter refuses the request and is named.
func TestAQueryIsReadWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for query, want := range map[string]string{
		"/api/v1/orders?stat=live":       `parameter "stat" is unknown (known: after, limit, market, state, strategy, symbol)`,
		"/api/v1/version?x=1":            `parameter "x" is unknown: this path takes none`,
		"/api/v1/orders?limit=1&limit=2": `parameter "limit" is given 2 times`, "/api/v1/orders?a=%zz": "query: invalid URL escape",
		"/api/v1/orders?market=margin": `market "margin" is not one of futures, spot`,
	} {
		p := decoded[Problem](t, d.want(400, query))
		if p.Code != "parameter" || !strings.HasPrefix(p.Detail, want) || p.Status != 400 || p.Title != "Bad Request" || p.Type != "about:blank" ||
			len(p.RequestID) != 16 {
			t.Errorf("%s: want %q, have %+v", query, want, p)
		}
	}
}

// The bounds are 64 KiB, and 500 bytes of a reason or a note.
func TestABodyIsTakenUpToItsBounds(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	filled := func(size int) string {
		const start, end = `{"level":"pause","reason":"a test"`, `}`
		return start + strings.Repeat(" ", size-len(start)-len(end)) + end
	}
	reason := func(size int) string { return `{"level":"pause","reason":"` + strings.Repeat("x", size) + `"}` }
	note := func(size int) string {
		return `{"market":"futures","asset":"USDT","amount":"1","note":"` + strings.Repeat("x", size) + `"}`
	}
	for _, c := range []struct {
		path, body string
		code       int
		detail     string
	}{
		{"/api/v1/risk/halt", filled(64 << 10), 202, ""},
		{"/api/v1/risk/halt", filled(64<<10 + 1), 413, "the body is larger than 64 KiB"},
		{"/api/v1/risk/halt", reason(500), 202, ""},
		{"/api/v1/risk/halt", reason(501), 400, "reason is 501 bytes long, the maximum is 500"},
		{"/api/v1/risk/halt", reason(1) + "{}", 400, "read body: something follows the object"},
		{"/api/v1/risk/halt", reason(1) + " \n", 202, ""},
		{"/api/v1/ledger/transfer", note(500), 200, ""},
		{"/api/v1/ledger/transfer", note(501), 400, wantTransfer},
	} {
		sent := len(d.sent)
		code, text := d.ask(http.MethodPost, c.path, c.body, bearer(testToken))
		if code != c.code || c.detail != "" && decoded[Problem](t, text).Detail != c.detail {
			t.Errorf("%s, %d bytes: want %d %s, have %d %s", c.path, len(c.body), c.code, c.detail, code, text)
		}
		if event, is := d.last().(*engine.EventTransfer); code == 200 && (!is || event.Transfer.Amount != exchange.AmountOf(1) ||
			event.Transfer.Asset != "USDT") {
			t.Errorf("want 1 USDT transferred, have %+v", event)
		}
		if done := len(d.sent) - sent; (done == 1) != (c.code < 300) {
			t.Errorf("%s, %d bytes: want it done %t, have %d events", c.path, len(c.body), c.code < 300, done)
		}
	}
}

// The open times of candles count. The interval is a minute, and the time is 100 minutes and a second.
func TestCandlesAreThoseBeforeToOrFromFrom(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	status := *running(t)
	const minute = int64(60_000)
	status.NowMS = 100*minute + 1_000
	d.board.Show(status)
	for _, c := range []struct {
		query    string
		from, to int64
		refused  bool
	}{
		{"", 0, status.NowMS + 1, false}, // 500 would start before the beginning of time
		{"limit=1", 100 * minute, status.NowMS + 1, false},
		{"limit=10", 91 * minute, status.NowMS + 1, false},
		{"limit=10&to=3000000", 40 * minute, 50 * minute, false},   // those before it: it is no candle's time
		{"limit=10&to=3000001", 41 * minute, 50*minute + 1, false}, // a candle opens just before it
		{"limit=10&from=3000000", 50 * minute, 60 * minute, false}, // the first ten from there on
		{"limit=100&from=3000000", 50 * minute, status.NowMS + 1, false},
		{"from=3000000&to=3120000", 50 * minute, 52 * minute, false},
		{"limit=10&to=0", 0, 0, false},
		{"from=0&to=300000000", 0, 5_000 * minute, false},
		{"from=0&to=300059999", 0, 5_001*minute - 1, false},
		{"from=0&to=300060000", 0, 0, true},
	} {
		r := httptest.NewRequest(http.MethodGet, "/api/v1/candles?symbol=BTC-USDT&interval=1m&"+c.query, nil)
		var each *route
		for i := range routes {
			if routes[i].id == "candles" {
				each = &routes[i]
			}
		}
		request, err := readRequest(each, r)
		if err != nil {
			t.Fatalf("%s: %v", c.query, err)
		}
		from, to, err := d.server.markets.span(request, exchange.Interval(minute))
		if from != c.from || to != c.to || (err != nil) != c.refused {
			t.Errorf("%s: want %d to %d, refused %t, have %d to %d, %v", c.query, c.from, c.to, c.refused, from, to, err)
		}
	}
	if view.MaxCandles != 5_000 {
		t.Errorf("want the bound of docs/api.yaml, have %d", view.MaxCandles)
	}
}

// {...} is any single part, and a path with other methods lists them.
func TestAPathMatchesItsPatternPartByPart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"/api/v1/orders", "/api/v1/orders", true}, {"/api/v1/orders", "/api/v1/order", false}, {"/api/v1/orders", "/api/v1/orders/", false},
		{"/api/v1/orders/{id}", "/api/v1/orders/a", true}, {"/api/v1/orders/{id}", "/api/v1/orders/a/b", false}, {"/api/v1/{a}/{b}", "/api/v1/x/y", true},
		{"/api/v1/{a}/b", "/api/v1/x/c", false},
	} {
		if have := matches(c.pattern, c.path); have != c.want {
			t.Errorf("%s of %s: want %t, have %t", c.path, c.pattern, c.want, have)
		}
	}
	d := newDesk(t)
	for path, want := range map[string]string{"/api/v1/backtests": "GET, POST", "/api/v1/session": "DELETE, GET, POST", "/api/v1/orders": "GET"} {
		answer := d.answer(http.MethodPatch, path, "", bearer(testToken))
		if p := decoded[Problem](t, answer.Body.String()); answer.Code != 405 || answer.Header().Get("Allow") != want || p.Code != "method" ||
			p.Detail != "the path takes "+want {
			t.Errorf("%s: want %s, have %d %v %+v", path, want, answer.Code, answer.Header(), p)
		}
	}
}

// The cases are a body that is no JSON, and an invalid method.
func TestInvalidInternalRequestIsABadRequest(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	requester := auth.Caller{By: "bot", From: "bot", Role: auth.Viewer}
	if code, text := d.server.Call(t.Context(), requester, http.MethodPost, "/api/v1/risk/halt", func() {}); code != 400 || text != nil {
		t.Errorf("a body that is no JSON: have %d %s", code, text)
	}
	if code, text := d.server.Call(t.Context(), requester, "no method", "/api/v1/version", nil); code != 400 || text != nil {
		t.Errorf("a method that is none: have %d %s", code, text)
	}
	if code, text := d.server.Call(t.Context(), requester, http.MethodGet, "/api/v1/version", nil); code != 200 || !strings.Contains(string(text), "1.2.3") {
		t.Errorf("a request: have %d %s", code, text)
	}
}

// The limits are those of docs/api.yaml, which also has the defaults.
func TestABacktestAndASweepAreBounded(t *testing.T) {
	t.Parallel()
	now := time.Date(2027, 1, 15, 9, 30, 5, 0, time.FixedZone("", 3600))
	params := func(count, size int) map[string]string {
		all := map[string]string{}
		for i := range count {
			all[fmt.Sprintf("%0*d", size, i)] = strings.Repeat("9", size)
		}
		return all
	}
	for want, c := range map[string]BacktestRequest{
		"":                                   {Strategy: "trend", Params: params(50, 200), Candles: 1, Seed: 7},
		"51 params exceed the maximum of 50": {Strategy: "trend", Params: params(51, 2)},
		"a parameter's name or value is longer than 200 bytes":                   {Strategy: "trend", Params: params(1, 201)},
		"candles -1: want 1 or more":                                             {Strategy: "trend", Candles: -1},
		"seed and candles are for a synthetic market: give either file or those": {Strategy: "trend", File: "a.csv", Candles: 5},
		`name "choices": want letters`:                                           {Strategy: "trend", Name: "choices"},
		"strategy is missing":                                                    {Name: "mine"},
	} {
		err := c.check(now)
		if want == "" && (err != nil || c.Name != "trend-20270115-083005") || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("want %q, have %v, %s", want, err, c.Name)
		}
	}
	if seeded, file := (&BacktestRequest{Seed: 7}).data(), (&BacktestRequest{File: "a.csv"}).data(); seeded != "a synthetic market, seed 7" || file != "a.csv" {
		t.Errorf("what it runs over: have %q, %q", seeded, file)
	}
	axes := func(count, size int) []string {
		all := make([]string, count)
		for i := range all {
			all[i] = strings.Repeat("a", size)
		}
		return all
	}
	for want, c := range map[string]SweepRequest{
		"":                                 {Strategy: "trend", File: "a.csv", Vary: axes(20, 500), Trials: 10_000},
		"21 axes exceed the maximum of 20": {Strategy: "trend", File: "a.csv", Vary: axes(21, 5)},
		"a text is longer than 500 bytes":  {Strategy: "trend", File: "a.csv", Vary: axes(1, 501)},
		"trials -1: from 1 to 10000":       {Strategy: "trend", File: "a.csv", Vary: axes(1, 5), Trials: -1},
		"trials 10001: from 1 to 10000":    {Strategy: "trend", File: "a.csv", Vary: axes(1, 5), Trials: 10_001},
		"a text is longer than 500 bytes ": {Strategy: "trend", File: strings.Repeat("a", 501), Vary: axes(1, 5)},
	} {
		err := c.check(now)
		if want == "" && (err != nil || c.Name != "trend-20270115-083005" || c.Search != "grid" || c.Sort != "sharpe" || c.Seed != 1) ||
			want != "" && (err == nil || err.Error() != strings.TrimSpace(want)) {
			t.Errorf("want %q, have %v, %+v", want, err, c)
		}
	}
	set := SweepRequest{Strategy: "trend", File: "a.csv", Vary: axes(1, 5), Search: "tpe", Sort: "profit", Seed: 9, Name: "mine"}
	if err := set.check(now); err != nil || set.Search != "tpe" || set.Sort != "profit" || set.Seed != 9 || set.Name != "mine" {
		t.Errorf("want what is given left, have %v, %+v", err, set)
	}
}

// The answer lists the matching orders.
func TestOrdersToCancelAreThoseThatMatchAllThatIsGiven(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		of      CancelRequest
		matches bool // whether they match trend's order of BTC-USDT on futures
		text    string
	}{
		{CancelRequest{}, true, "all opening orders"},
		{CancelRequest{Strategy: "trend"}, true, "opening orders of strategy trend"},
		{CancelRequest{Market: "futures"}, true, "opening orders of futures"},
		{CancelRequest{Symbol: "BTC-USDT"}, true, "opening orders of BTC-USDT"},
		{CancelRequest{Strategy: "trend", Market: "futures", Symbol: "BTC-USDT"}, true, "opening orders of strategy trend futures BTC-USDT"},
		{CancelRequest{Strategy: "hold", Market: "futures", Symbol: "BTC-USDT"}, false, "opening orders of strategy hold futures BTC-USDT"},
		{CancelRequest{Strategy: "trend", Market: "spot"}, false, "opening orders of strategy trend spot"},
		{CancelRequest{Strategy: "trend", Symbol: "ETH-USDT"}, false, "opening orders of strategy trend ETH-USDT"},
	} {
		if have := c.of.matches("trend", "futures", "BTC-USDT"); have != c.matches || c.of.String() != c.text {
			t.Errorf("want %s, matching %t, have %s, %t", c.text, c.matches, c.of.String(), have)
		}
	}
}

// last returns the newest sent event; nil for none.
func (d *desk) last() engine.Event {
	if len(d.sent) == 0 {
		return nil
	}
	return d.sent[len(d.sent)-1].Event
}

// A server without any market answers alike.
func TestServerWithoutSymbolsServesNoMarketData(t *testing.T) {
	t.Parallel()
	d := newDeskWith(t, func(c *Config) { c.Symbols, c.Listed = nil, nil })
	d.want(404, "/api/v1/market/futures/BTC-USDT")
	d.want(400, "/api/v1/candles?symbol=BTC-USDT&interval=1m")
	if text := d.want(200, "/api/v1/market/symbols"); !strings.Contains(text, `"items":[]`) {
		t.Errorf("have %s", text)
	}
	without := newDeskWith(t, func(c *Config) { c.Market = nil })
	without.want(404, "/api/v1/market/futures/BTC-USDT")
	if text := without.want(400, "/api/v1/candles?symbol=BTC-USDT&interval=1m"); !strings.Contains(text, "this botd serves no market data") {
		t.Errorf("have %s", text)
	}
}

// Readiness does not depend on the scraper.
func TestReadinessIsThatOfTheScrape(t *testing.T) {
	t.Parallel()
	for name, as := range map[string]func(*http.Request){"nobody": nil, "a viewer": bearer(viewerToken)} {
		d := newDesk(t)
		d.board.Note(&engine.Note{Fact: engine.NoteRound{Complete: true}})
		d.board.Show(*running(t))
		if _, text := d.ask(http.MethodGet, "/metrics", "", as); !strings.Contains(text, "\nbotd_ready 1\n") {
			t.Errorf("%s: want it ready", name)
		}
		status := *running(t)
		status.Blind, status.Failed = true, 3
		d.board.Show(status)
		if _, text := d.ask(http.MethodGet, "/metrics", "", as); !strings.Contains(text, "\nbotd_ready 0\n") {
			t.Errorf("%s: want it not ready", name)
		}
	}
}

// A botd without files, backtests, dashboard or sweeps answers with an empty list, or refuses by name.
func TestMissingPartsAreReported(t *testing.T) {
	t.Parallel()
	d := newDeskWith(t, func(c *Config) {
		c.Configuration = func() Configuration { return Configuration{Directory: "configs"} }
		c.Sweeps = interrupted(t, sweeps(t))
	})
	d.board.Show(*running(t))
	if text := d.want(200, "/api/v1/config"); !strings.Contains(text, `"files":[]`) || !strings.Contains(text, `"settings":[]`) {
		t.Errorf("want empty lists, have %s", text)
	}
	if code, text := d.ask(http.MethodGet, "/api/v1/strategies/trend/parity", "", bearer(testToken)); code != 409 || !strings.Contains(text,
		"runs no backtests") {
		t.Errorf("parity: have %d %s", code, text)
	}
	if text := d.want(200, "/api/v1/sweeps"); !strings.Contains(text, `"state":"interrupted"`) || strings.Contains(text, `"state":"running"`) {
		t.Errorf("sweeps: want none running, have %s", text)
	}
	script := d.answer(http.MethodGet, "/login.js", "", nil)
	if script.Code != 200 || script.Header().Get("Content-Type") != "text/javascript; charset=utf-8" || script.Body.String() != loginJS {
		t.Errorf("the script of the login page: have %d %v", script.Code, script.Header())
	}
	for market, want := range map[string][2]bool{"": {true, true}, "?market=futures": {true, false}, "?market=spot": {false, true}} {
		text := d.want(200, "/api/v1/market/symbols"+market)
		if have := [2]bool{strings.Contains(text, bitcoin.Name), strings.Contains(text, ether.Name)}; have != want && bitcoin.Market != ether.Market {
			t.Errorf("symbols%s: want %v, have %v", market, want, have)
		} else if bitcoin.Market == ether.Market && have != [2]bool{market != "?market=spot", market != "?market=spot"} {
			t.Errorf("symbols%s: have %v", market, have)
		}
	}
	d.want(400, "/api/v1/strategies/trend/plots?from=0&to=900000000000")
}

// Each change that must query the engine first is refused.
func TestChangesAreRefusedWhileEngineHangs(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.stops = true
	for path, body := range map[string]string{
		"/api/v1/orders/cancel": `{"reason":"a"}`, "/api/v1/positions/futures/BTC-USDT/close": `{"reason":"a"}`,
		"/api/v1/risk/halt":       `{"level":"pause","reason":"a"}`,
		"/api/v1/ledger/transfer": `{"market":"futures","asset":"USDT","amount":"1"}`,
	} {
		code, text := d.ask(http.MethodPost, path, body, bearer(testToken))
		if p := decoded[Problem](t, text); code != 503 || p.Code != "stopped" || p.Detail != "the engine is not answering: nothing was changed" ||
			len(d.sent) != 0 {
			t.Errorf("%s: want it refused, have %d %s", path, code, text)
		}
	}
	d.stops = false
	_, text := d.ask(http.MethodPost, "/api/v1/orders/cancel", `{"strategy":"trnd","reason":"a"}`, bearer(testToken))
	if p := decoded[Problem](t, text); p.Detail != "opening orders of strategy trnd: no strategy matches (there are: trend, hold): nothing was changed" {
		t.Errorf("a mistyped name: have %s", text)
	}
}

// The link has a name below localhost if the address is a loopback one without TLS, otherwise the address
// itself.
func TestALinkIsOfAnAddressThatIsThisBotdsAlone(t *testing.T) {
	t.Parallel()
	tokens := auth.Tokens{Operator: testToken, Viewer: viewerToken}
	for address, own := range map[string]bool{
		"http://127.0.0.1:8420": true, "http://localhost:8420": true, "http://[::1]:8420": true, "https://127.0.0.1:8420": false,
		"http://192.0.2.1:8420":    false,
		"http://botd.example:8420": false, "http://127.0.0.1": false, "": false,
	} {
		for _, access := range []Access{{}, {BehindProxy: true}} {
			d := newDeskWith(t, func(c *Config) { c.Address, c.Access = address, access })
			want := address
			if own && !access.BehindProxy {
				want = "http://" + tokens.InstanceHost() + ":8420"
			}
			if have := d.server.NewLink(); have.Address != want || have.Plain != address || have.Path != "/login#"+have.Code || have.Schema != 1 {
				t.Errorf("%q, %+v: want %q, have %+v", address, access, want, have)
			}
		}
	}
}
