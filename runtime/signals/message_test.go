package signals

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"botd/exchange"
	"botd/runtime"
	"botd/strategy"
)

// rest completes a message that lacks nothing else.
const rest = `"strategy":"s","time":"2026-01-31T12:00:00Z"`

// noon is the time of those messages.
const noon = 1_769_860_800_000

// Each field has its spellings and its bounds, and a field that is out of them is named.
func TestMessageFieldBounds(t *testing.T) {
	t.Parallel()
	position := func(fields string) string { return `{"id":"1","position":"long",` + fields + rest + `}` }
	at := func(time string) string { return `{"id":"1","position":"long","strategy":"s","time":` + time + `}` }
	long := func(change func(*strategy.Signal)) strategy.Signal {
		s := strategy.Signal{ID: "1", Side: 1, Share: exchange.RateOne, AtMS: noon}
		change(&s)
		return s
	}
	side := func(side int) strategy.Signal { return long(func(s *strategy.Signal) { s.Side = side }) }
	share := func(percent int64) strategy.Signal {
		return long(func(s *strategy.Signal) { s.Share = exchange.RateOne / 100 * exchange.Rate(percent) })
	}
	moment := func(ms int64) strategy.Signal { return long(func(s *strategy.Signal) { s.AtMS = ms }) }
	expires := func(after time.Duration) strategy.Signal {
		return long(func(s *strategy.Signal) { s.ExpiresMS = noon + after.Milliseconds() })
	}
	const year = 366 * 24 * time.Hour
	for _, c := range []struct {
		text string
		want strategy.Signal // none where it is refused
		err  string
	}{
		{position(``), side(1), ""}, {`{"id":"1","position":"SHORT",` + rest + `}`, side(-1), ""}, {`{"id":"1","position":"Flat",` + rest + `}`, side(0), ""},
		{`{"id":"1","action":"buy",` + rest + `}`, side(1), ""}, {`{"id":"1","action":"Sell",` + rest + `}`, side(-1), ""},
		{`{"id":"1","action":"close",` + rest + `}`, side(0), ""}, {`{"id":"1","position":"short","action":"buy",` + rest + `}`, side(-1), ""},
		{`{"id":"1","position":"long","action":"hold",` + rest + `}`, strategy.Signal{}, `"action" must be`},
		{`{"id":1,"position":"long",` + rest + `}`, side(1), ""}, {`{"id":"  1 ","position":"long",` + rest + `}`, side(1), ""},
		{`{"id":-7,"position":"long",` + rest + `}`, long(func(s *strategy.Signal) { s.ID = "-7" }), ""},
		{`{"id":9,"position":"long",` + rest + `}`, long(func(s *strategy.Signal) { s.ID = "9" }), ""},
		{`{"id":0,"position":"long",` + rest + `}`, long(func(s *strategy.Signal) { s.ID = "0" }), ""},
		{`{"id":"` + strings.Repeat("x", 128) + `","position":"long",` + rest + `}`, long(func(s *strategy.Signal) { s.ID = strings.Repeat("x", 128) }), ""},
		{`{"id":"` + strings.Repeat("x", 129) + `","position":"long",` + rest + `}`, strategy.Signal{}, `"id" is missing or longer than 128 bytes`},
		{`{"id":true,"position":"long",` + rest + `}`, strategy.Signal{}, "id, size, time and expires are texts or numbers"},
		{`{"id":"1","position":7,` + rest + `}`, strategy.Signal{}, `"position" is a number`},
		{position(`"comment":"` + strings.Repeat("c", 200) + `",`), side(1), ""},
		{position(`"comment":"` + strings.Repeat("c", 201) + `",`), strategy.Signal{}, `"comment" is longer than 200 bytes`},
		{position(`"size":1,`), share(100), ""}, {position(`"size":"100%",`), share(100), ""}, {position(`"size":"25 %",`), share(25), ""},
		{position(`"size":0.01,`), share(1), ""}, {position(`"size":"",`), share(100), ""},
		{position(`"size":"0.5000000000000000000",`), strategy.Signal{}, `"size"`},
		{position(`"size":"0.25` + strings.Repeat("0", 16) + `",`), share(25), ""}, // 20 characters
		{position(`"size":0,`), strategy.Signal{}, `"size" is a share of the configured size, above 0 and at most 1 or 100%`},
		{position(`"size":1.000001,`), strategy.Signal{}, `"size"`}, {position(`"size":1e-1,`), strategy.Signal{}, `"size"`},
		{position(`"size":"x",`), strategy.Signal{}, `"size"`},
		{at(`1769860800000`), moment(noon), ""}, {at(`"1769860800000"`), moment(noon), ""}, {at(`"2026-01-31T13:00:00+01:00"`), moment(noon), ""},
		{at(`1000000000001`), moment(1_000_000_000_001), ""}, {at(`1000000000000`), strategy.Signal{}, `"time": want a time`},
		{at(`99999999999999`), moment(99_999_999_999_999), ""}, {at(`100000000000000`), strategy.Signal{}, `"time": want a time`},
		{at(`1769860800`), strategy.Signal{}, `"time": want a time`}, {at(`""`), strategy.Signal{}, `"time": want a time`},
		{position(`"expires":"1ms",`), expires(time.Millisecond), ""}, {position(`"expires":"4h",`), expires(4 * time.Hour), ""},
		{position(`"expires":"2026-01-31T12:00:01Z",`), expires(time.Second), ""}, {position(`"expires":1769860801000,`), expires(time.Second), ""},
		{position(`"expires":"0s",`), strategy.Signal{}, `"expires" is not after "time"`},
		{position(`"expires":"-1h",`), strategy.Signal{}, `"expires" is not after`},
		{position(`"expires":"8784h",`), expires(year), ""}, {position(`"expires":"8784h0.001s",`), strategy.Signal{}, `more than a year after it`},
		{position(`"expires":"soon",`), strategy.Signal{}, `"expires" is neither a time nor a duration`},
	} {
		m, err := read([]byte(c.text))
		var s *strategy.Signal
		if err == nil {
			s, err = m.signal()
		}
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: want %q, have %v", c.text, c.err, err)
			}
		} else if err != nil || *s != c.want {
			t.Errorf("%s: want %+v, have %+v, %v", c.text, c.want, s, err)
		}
	}
	for text, want := range map[string]string{
		`{"id":"7","position":"long"}`:                         "id 7: long",
		`{"id":"7","action":"buy","size":"50%","comment":"c"}`: "id 7: buy, size 50%: c", `{"id":7,"position":"flat","comment":"c"}`: "id 7: flat: c",
	} {
		if m, err := read([]byte(text)); err != nil || m.String() != want {
			t.Errorf("%s: want %q in words, have %q, %v", text, want, m, err)
		}
	}
	for text, want := range map[string]string{"BTC-USDT": "BTCUSDT", "btc/usdt": "BTCUSDT", "BINANCE:BTCUSDT.P": "BTCUSDT", "btc_usdt.p": "BTCUSDT", "": ""} {
		if have := plainSymbol(text); have != want {
			t.Errorf("%s: want %q, have %q", text, want, have)
		}
	}
}

// A sender learns what to do, in JSON that no proxy stores.
func TestAnswersOfTheServer(t *testing.T) {
	t.Parallel()
	d := &desk{known: map[string]bool{}}
	counts := map[string]int{}
	s, err := New(Config{Token: token, Driver: d, Receive: d.receive, Symbol: func(string) string { return "BTC-USDT" },
		Record: func(string, *strategy.Signal) {}, Count: func(result string) { counts[result]++ }})
	if err != nil {
		t.Fatal(err)
	}
	send := func(method, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, Path, strings.NewReader(body))
		r.RemoteAddr = "192.0.2.7:5"
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w
	}
	for _, c := range []struct {
		method, body string
		fails        error
		status       int
		want         string
		header       string
	}{
		{http.MethodGet, "", nil, 405, `{"schema":1,"result":"malformed","detail":"signals are sent by POST"}`, http.MethodPost},
		{http.MethodPost, "", nil, 401,
			`{"schema":1,"result":"wrong_token","detail":"the token is missing or wrong: \"token\" in the body, or Authorization: Bearer"}`, ""},
		{http.MethodPost, tradingView, nil, 200, `{"schema":1,"result":"taken","strategy":"follow","id":"17 2026-01-31T12:00:00Z"}`, ""},
		{http.MethodPost, tradingView, runtime.ErrNotDurable, 503, `{"schema":1,"result":"unavailable","strategy":"follow","id":"17 2026-01-31T12:00:00Z",` +
			`"detail":"it is not written to the journal yet: send it again"}`, ""},
		{http.MethodPost, tradingView, errors.New("x"), 503, `{"schema":1,"result":"unavailable","strategy":"follow","id":"17 2026-01-31T12:00:00Z",` +
			`"detail":"botd does not take signals now: send it again"}`, ""},
		{http.MethodPost, strings.Replace(tradingView, "BTCUSDT", "ETHUSDT", 1), nil, 400, `{"schema":1,"result":"malformed","strategy":"follow",` +
			`"id":"17 2026-01-31T12:00:00Z","detail":"the strategy trades BTC-USDT, not the symbol of the signal"}`, ""},
	} {
		d.fails = c.fails
		w := send(c.method, c.body)
		if w.Code != c.status || strings.TrimSpace(w.Body.String()) != c.want || w.Header().Get("Allow") != c.header ||
			w.Header().Get("Content-Type") != "application/json" || w.Header().Get("Cache-Control") != "no-store" ||
			w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("want %d %s, have %d %s, %v", c.status, c.want, w.Code, w.Body, w.Header())
		}
	}
	audit := d.events()[0].Audit
	if audit.From != "192.0.2.7" || audit.Detail != "id 17 2026-01-31T12:00:00Z: long, size 50%: crossed" || audit.Object != "follow" ||
		audit.RequestID != "17 2026-01-31T12:00:00Z" || audit.Role != "signal" || audit.Action != "signal" {
		t.Errorf("have %+v", audit)
	}
	for range burst {
		if w := send(http.MethodPost, tradingView); w.Code == http.StatusTooManyRequests && w.Header().Get("Retry-After") != "1" {
			t.Errorf("beyond the rate: want a second to wait, have %v", w.Header())
		}
	}
}
