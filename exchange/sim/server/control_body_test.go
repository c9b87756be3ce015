package server

import (
	"strings"
	"testing"
)

// A fault that never matches, or a misspelled key, would let a test pass without its fault.
func TestControlCallReportsUnknownInput(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, nil)
	for _, call := range []struct{ path, body, names string }{
		{"faults", `{"match":"GET /fapi/v1/ticker/NOSUCH-USDT","kind":"drop_request"}`, "NOSUCH-USDT"},
		{"faults", `{"match":"GET /fapi/v1/ticker/NO*","kind":"drop_request"}`, "NO*"},
		{"faults", `{"match":"GET /fapi/v1/ticker/%42TC-USDT","kind":"drop_request"}`, "%42TC-USDT"},
		{"faults", `{"match":"GET /api/v1/spot/public/ticker/btc-usdt","kind":"drop_request"}`, "btc-usdt"},
		{"faults", `{"match":"GET /fapi/v1/pinh","kind":"drop_request"}`, "/fapi/v1/pinh"},
		{"faults", `{"match":"GET /fapi/v1/ping","kind":"hide","delay_ms":5}`, "places no order"},
		{"faults", `{"match":"GET /fapi/v1/ping","kind":"status","status":500,"cuont":1}`, "cuont"},
		{"faults", `{"match":"GET /fapi/v1/ping","kind":"status","status":500,"Count":1}`, "Count"},
		{"faults", `{"match":"GET /fapi/v1/ping","kind":"delay","delay_ms":30.5}`, "delay_ms"},
		{"faults", `{"match":"GET /fapi/v1/ping","kind":"delay","delay_ms":"30"}`, "delay_ms"},
		{"faults", `{"match":"GET /fapi/v1/ping","kind":"delay","delay_ms":1e30}`, "delay_ms"},
		{"clock", `{"advance_ms":1,"advance":1}`, "advance"},
		{"price", `{"market":"futures","symbol":"BTC-USDT","price":"50000","Price":"1"}`, "Price"},
		{"symbol", `{"market":"futures","symbol":"BTC-USDT","delisted":true,"why":"x"}`, "why"},
		{"deposit", `{"account":"KEY","market":"futures","ammount":"7","amount":"7"}`, "ammount"},
		{"account", `{"key":"a","secret":"b","readonly":true}`, "readonly"},
		{"requests?match=GET+/fapi/v1/ticker/NOSUCH-USDT", "", "NOSUCH-USDT"},
		{"orders?limits=3", "", "limits"},
	} {
		method := "POST"
		if call.body == "" {
			method = "GET"
		}
		if a := c.send(method, "/control/v1/"+call.path, call.body, nil); a.status != 400 || !strings.Contains(a.body, call.names) {
			t.Errorf("%s %s: want 400 that names %q, have %d %s", call.path, call.body, call.names, a.status, a.body)
		}
	}
}

// 30.0 and 3e1 are 30, as in the interface's own bodies.
func TestAControlCallTakesWholeNumbersHoweverTheyAreWritten(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, nil)
	c.control("POST", "/control/v1/faults", `{"match":"GET /fapi/v1/ping","kind":"status","status":5.03e2,"count":2.0,"seed":7.0,"probability":1}`).want(t, 200)
	c.control("POST", "/control/v1/faults", `{"match":"GET /fapi/v1/ticker/BTC*","kind":"delay","delay_ms":30.0,"count":null}`).want(t, 200)
	want := `{"faults":[{"match":"GET /fapi/v1/ping","kind":"status","status":503,"count":2,"probability":1,"seed":7},` +
		`{"match":"GET /fapi/v1/ticker/BTC*","kind":"delay","delay_ms":30}]}`
	if have := c.control("GET", "/control/v1/faults", "").body; have != want {
		t.Errorf("want %s, have %s", want, have)
	}
	c.control("DELETE", "/control/v1/faults", "").want(t, 200)
	at := c.nowMS()
	for _, text := range []string{`60000.0`, `6e4`, `6E+4`} {
		c.control("POST", "/control/v1/clock", `{"advance_ms":`+text+`}`).want(t, 200)
		if at += 60_000; c.nowMS() != at {
			t.Errorf("%s: want the clock at %d, have %d", text, at, c.nowMS())
		}
	}
}

// The bounds are 40 characters and 10^18.
func TestANumberOfAControlCallHasItsBounds(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, nil)
	for seed, want := range map[string]string{
		"7." + strings.Repeat("0", 38): "7", "7." + strings.Repeat("0", 39): "", "1e18": "1000000000000000000", "1e19": "", "1E1": "10", "10e-1": "1",
		"1e-1": "", `"7.0"`: "", "-1.0": "", "1.5": "",
	} {
		a := c.send("POST", "/control/v1/faults", `{"match":"GET /fapi/v1/ping","kind":"drop_request","seed":`+seed+`}`, nil)
		if want == "" {
			a.want(t, 400)
			continue
		}
		a.want(t, 200)
		if have := c.control("GET", "/control/v1/faults", "").body; !strings.Contains(have, `"seed":`+want+`}`) {
			t.Errorf("%s: want a seed of %s, have %s", seed, want, have)
		}
		c.control("DELETE", "/control/v1/faults", "")
	}
}
