package server

import (
	"bytes"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"botd/exchange/wire"
)

func startVariant(t *testing.T, names string) *trader {
	t.Helper()
	_, c := startServer(t, func(config *Config) { config.Variants = []string{names} })
	return c
}

func TestUnknownVariantsAndDurationsAreRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"nonsense", "float-noise=3s", "stale-positions=0s", "stale-positions=soon", "empty-positions=2h", "null-lists,nonsense"} {
		if _, err := parseVariants([]string{text}); err == nil {
			t.Errorf("%s: want an error, have none", text)
		}
	}
	if v, err := parseVariants([]string{"stale-positions=7s, null-lists", "float-noise"}); err != nil || len(v.named) != 3 || !v.has("null-lists") ||
		v.has("byte-order-mark") {
		t.Errorf("want three variants, have %+v, %v", v.named, err)
	}
}

// The duration is a minute at most.
func TestVariantAcceptsOptionalDuration(t *testing.T) {
	t.Parallel()
	durations := map[string]time.Duration{"stale-positions": 6 * time.Second, "empty-positions": 3 * time.Second}
	for _, variant := range Variants() {
		v, err := parseVariants([]string{" " + variant.Name + ",, "})
		if err != nil || v.named[variant.Name] != durations[variant.Name] || len(v.named) != 1 {
			t.Errorf("%s: want %s, have %v and %v", variant.Name, durations[variant.Name], v.named, err)
		}
		for _, text := range []string{"=1m", "=1ns", "=1m1ns", "=-1s"} {
			takes := durations[variant.Name] > 0 && text != "=1m1ns" && text != "=-1s"
			if _, err := parseVariants([]string{variant.Name + text}); (err == nil) != takes {
				t.Errorf("%s%s: want it taken %t, have %v", variant.Name, text, takes, err)
			}
		}
	}
}

// The quantities are not whole numbers.
func TestNoiseIsThatOfABinaryFloat(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"0.997": "0.9970000000000002", "0.1": "0.10000000000000003", "5": "5", "0": "0", "-2": "-2",
		"": "", "much": "much",
		"1.5": "1.5000000000000004"} {
		if have := withNoise(text); have != want {
			t.Errorf("%q: want %q, have %q", text, want, have)
		}
	}
}

// TestAVariantWritesAnAnswerInItsWay compares an answer of the interface with each variant's version.
func TestAVariantWritesAnAnswerInItsWay(t *testing.T) {
	t.Parallel()
	const futures = `[{"filled":"0.5","id":1,"quantity":"2","remainingQty":"0.1"}]`
	for _, c := range []struct {
		variant, method, path string
		status                int
		body, want            string
	}{
		{"float-noise", "POST", "/fhapi/v1/order/open", 200, futures,
			`[{"filled":"0.5000000000000002","id":1,"quantity":"2","remainingQty":"0.10000000000000003"}]`},
		{"float-noise", "GET", "/hapi/v1/spot/order/open", 200, `[{"filled":0.5,"price":0.3,"quantity":3}]`,
			`[{"filled":0.5000000000000002,"price":0.3,"quantity":3}]`},
		{"float-noise", "GET", "/fapi/v1/trades", 200, `[{"quantity":0.5}]`, `[{"quantity":0.5}]`},
		{"foreign-status-words", "GET", "/hapi/v1/spot/order/history", 200,
			`[{"filled":1,"side":"BUY","status":"FILLED"},{"filled":1,"side":"BUY","status":"CANCELED"},{"filled":0,"side":"BUY","status":"NEW"}]`,
			`[{"filled":1,"side":"BUY","status":"EXECUTED"},{"filled":1,"side":"BUY","status":"CANCELLED"},{"filled":0,"side":"BUY","status":"NEW"}]`},
		{"foreign-status-words", "GET", "/fhapi/v1/order", 200, `{"filled":"1","side":"BUY","status":"FILLED"}`,
			`{"filled":"1","side":"BUY","status":"FILLED"}`},
		{"foreign-status-words", "GET", "/fhapi/v1/order", 200, `{"filled":"1","side":"BUY","status":"CANCELED"}`,
			`{"filled":"1","side":"BUY","status":"CANCELLED"}`},
		{"foreign-status-words", "GET", "/hapi/v1/spot/order/trades", 200, `[{"side":"BUY","status":"FILLED"}]`, `[{"side":"BUY","status":"FILLED"}]`},
		{"foreign-status-words", "GET", "/hapi/v1/spot/order/trades", 200, `[{"filled":1,"status":"FILLED"}]`, `[{"filled":1,"status":"FILLED"}]`},
		{"extra-fields", "GET", "/fapi/v1/time", 200, `{"serverTime":5}`,
			`{"Filled":"999999","ID":1,"STATUS":"FILLED","Status":"FILLED","note":"x","serverTime":5}`},
		{"extra-fields", "GET", "/hapi/v1/spot/wallet", 200, `{"wallets":[{"asset":"BTC"}]}`,
			`{"Filled":"999999","ID":1,"STATUS":"FILLED","Status":"FILLED","note":"x","wallets":[` +
				`{"Filled":"999999","ID":1,"STATUS":"FILLED","Status":"FILLED","asset":"BTC","note":"x"}]}`},
		{"strings-for-numbers", "GET", "/fapi/v1/candle", 200, `[[5,"1",0.25],{"a":{"b":1e-05}}]`, `[["5","1","0.25"],{"a":{"b":"1e-05"}}]`},
		{"null-lists", "GET", "/api/v1/spot/public/books", 200, `{"asks":[],"bids":[[1,2]],"id":3}`, `{"asks":null,"bids":[[1,2]],"id":3}`},
		{"null-lists", "POST", "/fhapi/v1/order/open", 200, `[]`, `null`},
		{"list-envelopes-off", "GET", "/api/v1/spot/public/tickers", 200, `{"tickers":[{"symbol":"X"}]}`, `[{"symbol":"X"}]`},
		{"list-envelopes-off", "GET", "/hapi/v1/spot/wallet", 200, `{"wallets":[1]}`, `[1]`},
		{"list-envelopes-off", "GET", "/fapi/v1/depth", 200, `{"tickers":[1]}`, `{"tickers":[1]}`},
		{"list-envelopes-on", "GET", "/api/v1/spot/public/candles", 200, `[1]`, `{"data":[1]}`},
		{"list-envelopes-on", "GET", "/hapi/v1/spot/order/history", 200, `[]`, `{"data":[]}`},
		{"list-envelopes-on", "GET", "/hapi/v1/spot/order/open", 200, `[]`, `[]`},
		{"byte-order-mark", "GET", "/fapi/v1/time", 200, `{"serverTime":5}`, "\xef\xbb\xbf" + `{"serverTime":5}`},
		{"byte-order-mark", "GET", "/fapi/v1/time", 500, `{"error":"x"}`, "\xef\xbb\xbf" + `{"error":"x"}`},
		{"error-words", "GET", "/fapi/v1/time", 400, `{"code":1,"error":"the \"error\": field"}`, `{"code":1,"msg":"the \"error\": field"}`},
		{"error-words", "GET", "/fapi/v1/time", 399, `{"error":1}`, `{"error":1}`},
		{"null-lists", "GET", "/fapi/v1/time", 400, `{"list":[]}`, `{"list":[]}`},
		{"null-lists", "GET", "/nowhere", 200, `{"list":[]}`, `{"list":[]}`},
		{"null-lists", "POST", "/fhapi/v1/order/cancel/all", 200, `NULL`, `NULL`},
		{"open-without-client-id", "POST", "/fhapi/v1/order/open", 200, `[{"client_order_id":"a","id":1}]`, `[{"id":1}]`},
		{"open-without-client-id", "GET", "/hapi/v1/spot/order/open", 200, `[{"clientOrderId":"a","id":1}]`, `[{"id":1}]`},
		{"open-without-client-id", "GET", "/fhapi/v1/order", 200, `{"client_order_id":"a","id":1}`, `{"client_order_id":"a","id":1}`},
		{"history-without-client-id", "GET", "/hapi/v1/spot/order/open", 200, `[{"clientOrderId":"a","id":1}]`, `[{"clientOrderId":"a","id":1}]`},
		{"history-without-client-id", "GET", "/hapi/v1/spot/order/history", 200, `[{"clientOrderId":"a","id":1}]`, `[{"id":1}]`},
	} {
		v, err := parseVariants([]string{c.variant})
		if err != nil {
			t.Fatal(err)
		}
		p := reply{status: c.status, body: []byte(c.body)}
		if v.rewrite(httptest.NewRequest(c.method, c.path, nil), &p); string(p.body) != c.want || p.status != c.status {
			t.Errorf("%s of %s: want\n%s\nhave\n%s", c.variant, c.path, c.want, p.body)
		}
		none, plain := variants{}, reply{status: c.status, body: []byte(c.body)}
		if none.rewrite(httptest.NewRequest(c.method, c.path, nil), &plain); string(plain.body) != c.body {
			t.Errorf("without a variant: want %s, have %s", c.body, plain.body)
		}
	}
}

// The position grows every two seconds.
func TestStalePositionsHaveConfiguredAge(t *testing.T) {
	t.Parallel()
	c := startVariant(t, "stale-positions=6s")
	quantity := func() string {
		var all []struct{ RemainingQty string }
		if c.call("POST", "/fhapi/v1/positions/open", "{}").read(t, &all); len(all) == 0 {
			return "0"
		}
		return all[0].RemainingQty
	}
	have := ""
	for range 6 { // at 0, 2, 4... s, filled 5 ms later
		c.place(buyMarket)
		c.advance(1_004)
		have += quantity() + " "
		c.advance(996)
		have += quantity() + " "
	}
	if want := "0 0 0 0 0 0 0.01 0.01 0.02 0.02 0.03 0.03 "; have != want {
		t.Errorf("want what was there 6 s before, %s, have %s", want, have)
	}
}

func TestListsMayNotEchoClientOrderIDs(t *testing.T) {
	t.Parallel()
	c := startVariant(t, "history-without-client-id,open-without-client-id")
	const order = `{"symbol":"BTC-USDT","side":"BUY","type":"LIMIT","qt":0.001,"price":40000,"clientOrderId":"mine"}`
	if a := c.call("POST", "/hapi/v1/spot/order", order); !strings.Contains(a.body, `"clientOrderId":"mine"`) {
		t.Errorf("want the answer to echo it, have %s", a.body)
	}
	c.advance(5)
	for _, path := range []string{"/hapi/v1/spot/order/open", "/hapi/v1/spot/order/history"} {
		if a := c.call("GET", path, ""); !strings.Contains(a.body, `"id":1`) || strings.Contains(a.body, "mine") {
			t.Errorf("%s: want the order without its id, have %s", path, a.body)
		}
	}
}

func TestEveryFifthPlacementIsRefusedAndExecuted(t *testing.T) {
	t.Parallel()
	c := startVariant(t, "refuse-but-execute")
	for i := 1; i <= 10; i++ {
		a := c.call("POST", "/fhapi/v1/order", buyBelow)
		if want := map[bool]int{true: 400, false: 201}[i%everyFifth == 0]; a.status != want {
			t.Errorf("placement %d: want %d, have %d %s", i, want, a.status, a.body)
		}
	}
	if have := len(c.state().Orders); have != 10 {
		t.Errorf("want all ten executed, have %d", have)
	}
}

func TestEveryFifthPlacementIsDeliveredTwice(t *testing.T) {
	t.Parallel()
	c := startVariant(t, "duplicate-delivery")
	for range 5 {
		c.call("POST", "/fhapi/v1/order", buyBelow).want(t, 201)
	}
	if have := len(c.state().Orders); have != 6 {
		t.Errorf("want six orders of five placements, have %d", have)
	}
}

func TestTheListOfPositionsMayBeOldOrEmpty(t *testing.T) {
	t.Parallel()
	positions := func(c *trader) string { return c.call("POST", "/fhapi/v1/positions/open", "{}").body }
	c := startVariant(t, "stale-positions=6s")
	c.place(buyMarket)
	c.advance(10)
	for _, step := range []struct {
		advance int64
		shown   bool
	}{{0, false}, {5_900, false}, {200, true}} {
		c.advance(max(step.advance, 1))
		if have := positions(c); strings.Contains(have, "LONG") != step.shown {
			t.Errorf("after %d ms more: want the position shown %v, have %s", step.advance, step.shown, have)
		}
	}
	c = startVariant(t, "empty-positions=3s")
	c.place(buyMarket)
	c.advance(10)
	for _, at := range []struct {
		advance int64
		shown   bool
	}{{1, false}, {2_900, false}, {200, true}, {56_880, true}, {100, false}} {
		c.advance(at.advance)
		if have := positions(c); strings.Contains(have, "LONG") != at.shown {
			t.Errorf("after %d ms more: want the position shown %v, have %s", at.advance, at.shown, have)
		}
	}
}

// TestTheJournalOfRequestsIsFiltered queries the requests.
func TestTheJournalOfRequestsIsFiltered(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, nil)
	c.fault(`{"match":"GET /fapi/*","kind":"status","status":503,"count":1}`)
	c.send("GET", "/fapi/v1/time?x=1", "", nil).want(t, 503)
	c.place(buyBelow)
	c.call("GET", "/hapi/v1/spot/wallet", "").want(t, 200)
	for query, want := range map[string]string{
		"": "1 2 3", "?status=503": "1", "?account=KEY": "2 3", "?match=POST+/fhapi/*": "2", "?after=2": "3", "?limit=2": "2 3", "?match=*&status=201": "2",
		"?after=0": "1 2 3", "?after=3": "", "?limit=0": "", "?limit=9": "1 2 3", "?status=0": "", "?account=": "1", "?account=key&limit=1": "3",
	} {
		var list struct {
			Requests []struct {
				ID                 int64
				Query, Body, Fault string
			}
		}
		c.control("GET", "/control/v1/requests"+query, "").read(t, &list)
		ids := []string{}
		for _, r := range list.Requests {
			ids = append(ids, fmt.Sprint(r.ID))
			if r.ID == 1 && (r.Fault != "status" || r.Query != "x=1") || r.ID == 2 && r.Body != buyBelow {
				t.Errorf("want the request as it came, have %+v", r)
			}
		}
		if have := strings.Join(ids, " "); have != want {
			t.Errorf("%q: want %s, have %s", query, want, have)
		}
	}
}

// A misspelled filter would list other requests.
func TestRequestJournalFilterMustBeNumeric(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, nil)
	for _, query := range []string{"after=-1", "limit=-1", "status=-1", "after=x", "limit=1.5", "status=99999999999999999999",
		"since=5", "match=nonsense", "%zz"} {
		c.send("GET", "/control/v1/requests?"+query, "", nil).wantRefusal(t, 400, wire.CodeMalformed)
	}
}

// Without an answer it has no status.
func TestTheJournalNamesTheFaultThatHitARequest(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, nil)
	for i, kind := range []FaultKind{DropRequest, DropResponse, Delay, Status, Truncate, Hide, Empty, ""} {
		more := map[FaultKind]string{Delay: `,"delay_ms":1`, Hide: `,"delay_ms":1`, Status: `,"status":599`}[kind]
		if kind != "" {
			c.fault(`{"match":"POST /fhapi/v1/order","count":1,"kind":"` + string(kind) + `"` + more + `}`)
		}
		answer := c.call("POST", "/fhapi/v1/order", buyBelow)
		var list struct {
			Requests []struct {
				Status  int
				Fault   FaultKind
				Pending bool
				Account string
			}
		}
		c.control("GET", "/control/v1/requests?limit=1", "").read(t, &list)
		want := map[FaultKind]int{DropRequest: 0, DropResponse: 0, Status: 599, Empty: 200}
		status, known := want[kind]
		if !known {
			status = 201
		}
		if have := list.Requests[0]; have.Fault != kind || have.Status != status || have.Pending || have.Account != testKey {
			t.Errorf("%d, %q: want %d, have %+v", i, kind, status, have)
		}
		if status != answer.status {
			t.Errorf("%q: want %d, have %d", kind, status, answer.status)
		}
	}
	c.wantOrders("two", "two", "two", "two", "two")
}

// The journal stores 2048 bytes of a body.
func TestRequestJournalKeepsNewestRequests(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	for range 2*maxRequests + 3 {
		s.requests.add(&requestRecord{}, s.clock.nowMS)
	}
	s.journal(httptest.NewRequest("POST", "/fhapi/v1/order?a=b", nil), bytes.Repeat([]byte("x"), 2_049))
	list := s.requests.record
	if first, last := list[0], list[len(list)-1]; len(list) != maxRequests+4 || first.ID != maxRequests+1 || last.ID != 2*maxRequests+4 ||
		len(last.Body) != 2_048 || last.Query != "a=b" || last.TimeMS != manualStartMS || !last.Pending {
		t.Errorf("want %d requests with the last one's first 2048 bytes, have %d from %d on and %+v", maxRequests+4, len(list), first.ID, last)
	}
	if s = newServer(t, func(config *Config) { config.Control = false }); s.journal(httptest.NewRequest("GET", "/", nil), nil) != nil {
		t.Error("want no journal where nobody can ask for it")
	}
}
