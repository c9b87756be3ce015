package server

import (
	"strings"
	"testing"

	"botd/exchange/sim"
)

// visitReplaced reads the state, restores it, and resets the server.
func visitReplaced(t *testing.T, d *document) {
	_, c := startServer(t, func(config *Config) { config.Build, config.Variants = buildFresh, []string{"duplicate-delivery"} })
	v := &visitor{c, d}
	c.place(buyBelow)
	c.advance(5)
	v.good("control_symbol", "", `{"market":"spot","symbol":"PEPE-USDT","delisted":true}`)
	before := v.good("control_state", "", "").body
	order := v.good("futures_open_orders", "", `{}`).body
	v.good("control_deposit", "", `{"account":"KEY","market":"futures","amount":"7"}`)
	v.good("futures_cancel_all", "", `{}`)
	c.advance(60_000)
	v.good("control_restore", "", before)
	if have := v.good("futures_open_orders", "", `{}`).body; have != order || c.nowMS() != manualStartMS+5 {
		t.Errorf("want the order back, %s, and the clock, have %s at %d", order, have, c.nowMS())
	}
	v.bad(1000, "control_restore", "", `{"time":1}`)
	v.good("control_reset", "", "")
	var account struct{ TotalWalletBalance string }
	v.good("futures_account", "", "").read(t, &account)
	requests := v.good("control_requests", "", "").body
	visitPending(v)
	if account.TotalWalletBalance != "10000" || strings.Count(requests, `"id"`) != 1 || !strings.Contains(v.good("futures_open_orders", "", `{}`).body, "[]") {
		t.Errorf("want everything as at the start, have %+v, %s", account, requests)
	}
}

// visitPending queries the journal while a request waits for the manual clock, since in real time it would take an hour.
func visitPending(v *visitor) {
	v.trader.fault(`{"match":"GET /fapi/v1/health","kind":"delay","delay_ms":3600000,"count":1}`)
	answered := make(chan answer, 1)
	go func() { answered <- v.trader.send("GET", "/fapi/v1/health", "", nil) }()
	for requests := ""; !strings.Contains(requests, `"pending":true`); requests = v.good("control_requests", "", "").body {
		select {
		case early := <-answered:
			v.trader.t.Fatalf("want a request that waits for the clock, have its answer %+v, and the requests %s", early, requests)
		default:
		}
	}
	v.trader.advance(3_600_000)
	<-answered
}

// buildFresh is the constructor of a server's own exchange.
func buildFresh(state []byte) (*sim.Exchange, error) {
	config := sim.Config{Symbols: sim.DefaultSymbols(), StartMS: manualStartMS, OrderDelayMS: sim.DefaultOrderDelayMS}
	if state == nil {
		return sim.New(config)
	}
	return sim.Restore(config, state)
}
