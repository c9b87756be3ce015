package server

import (
	"fmt"
	"strings"
	"testing"
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

// TestTheJournalOfRequestsIsFiltered asks for what was asked.
func TestTheJournalOfRequestsIsFiltered(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, nil)
	c.fault(`{"match":"GET /fapi/*","kind":"status","status":503,"count":1}`)
	c.send("GET", "/fapi/v1/time?x=1", "", nil).want(t, 503)
	c.place(buyBelow)
	c.call("GET", "/hapi/v1/spot/wallet", "").want(t, 200)
	for query, want := range map[string]string{
		"": "1 2 3", "?status=503": "1", "?account=KEY": "2 3", "?match=POST+/fhapi/*": "2", "?after=2": "3", "?limit=2": "2 3", "?match=*&status=201": "2",
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
