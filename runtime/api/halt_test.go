package api

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/runtime/engine"
)

// post sends a request as the operator and returns the answer decoded as a T.
func post[T any](d *desk, path, body string) (code int, out T, text string) {
	d.t.Helper()
	code, text = d.ask(http.MethodPost, path, body, bearer(testToken))
	if code/100 == 2 {
		if err := json.Unmarshal([]byte(text), &out); err != nil {
			d.t.Errorf("answer of %s: %v: %s", path, err, text)
		}
	}
	return code, out, text
}

func closingSteps() []engine.Step {
	return []engine.Step{
		{Strategy: "trend", Symbol: bitcoin, Intent: reconcile.Intent{Purpose: placement.Cancel, OrderID: 11, ClientID: "bx-1-1"}},
		{Strategy: "trend", Symbol: bitcoin, Later: true, Intent: reconcile.Intent{Purpose: placement.Exit, Last: bitcoin.PriceTick * 500_000,
			Order: exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell, Type: exchange.MarketOrder,
				Quantity: 20 * bitcoin.QuantityTick, ReduceOnly: true}}},
	}
}

func TestHaltDryRunListsOrders(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.steps = closingSteps()
	code, out, text := post[HaltAnswer](d, "/api/v1/risk/halt", `{"level":"flatten","dry_run":true}`)
	if code != http.StatusOK || len(d.sent) != 0 || !out.DryRun || len(out.Steps) != 2 {
		t.Fatalf("want 200, two steps and nothing sent, have %d, %+v: %s", code, d.sent, text)
	}
	for i, want := range []string{"cancel order 11 (bx-1-1) on futures BTC-USDT",
		"close by SELL MARKET 0.020 on futures BTC-USDT (about 1000 USDT), once the cancels are confirmed"} {
		if have := strings.ReplaceAll(out.Steps[i].Text, "0.02 ", "0.020 "); have != want {
			t.Errorf("step %d: want %q, have %q", i, want, have)
		}
	}
	if s := out.Steps[1]; s.Quantity != "0.02" || !s.ReduceOnly || !s.Later || s.Action != "exit" {
		t.Errorf("want the exit with its quantity, have %+v", s)
	}
}

func TestHaltScopes(t *testing.T) {
	t.Parallel()
	spot := *bitcoin
	spot.Market = exchange.Spot
	for _, c := range []struct {
		name, path, body string
		code             int
		scope            account.Scope
		part             string
	}{
		{"the account", "halt", `{"level":"cancel","reason":"news"}`, 202, account.Scope{}, `"scope":"account"`},
		{"a strategy", "halt", `{"level":"cancel","reason":"news","strategy":"trend"}`, 202, account.Scope{Strategy: "trend"}, `"scope":"strategy trend"`},
		{"a mistyped strategy", "halt", `{"level":"cancel","reason":"news","strategy":"trnd"}`, 404, account.Scope{}, "there are: trend, hold, cash"},
		{"a symbol", "halt", `{"level":"cancel","reason":"news","symbol":"ETH-USDT"}`, 202, account.Scope{Symbol: ether.Key()}, "ETH-USDT"},
		{"a market that there is not", "halt", `{"level":"flatten","reason":"news","market":"futrues"}`, 400, account.Scope{}, "futrues"},
		{"a market alone", "rearm", `{"reason":"news","market":"spot"}`, 404, account.Scope{}, "market spot without a symbol selects nothing"},
		{"a symbol of both markets", "halt", `{"level":"cancel","reason":"news","symbol":"BTC-USDT"}`, 404, account.Scope{}, "both markets"},
		{"a symbol of one market", "halt", `{"level":"cancel","reason":"news","symbol":"BTC-USDT","market":"spot"}`, 202,
			account.Scope{Symbol: spot.Key()}, "spot BTC-USDT"},
		{"nobody's symbol", "halt", `{"level":"cancel","reason":"news","symbol":"DOGE-USDT"}`, 404, account.Scope{}, "nothing was changed"},
		{"both", "halt", `{"level":"cancel","reason":"news","strategy":"trend","symbol":"ETH-USDT"}`, 404, account.Scope{}, "not both"},
		{"arm a strategy", "rearm", `{"strategy":"trend"}`, 202, account.Scope{Strategy: "trend"}, "rearmed by the operator"},
		{"arm what is not configured any more", "rearm", `{"strategy":"gone"}`, 202, account.Scope{Strategy: "gone"}, ""},
		{"arm to a level", "rearm", `{"level":"pause"}`, 400, account.Scope{}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.status.Strategies = append(slices.Clone(d.status.Strategies), engine.StrategyStatus{Name: "cash", Symbol: &spot})
			d.status.Degraded = []engine.Degraded{{State: "halted", Scope: account.Scope{Strategy: "gone"}}}
			code, _, text := post[HaltAnswer](d, "/api/v1/risk/"+c.path, c.body)
			if code != c.code || !strings.Contains(text, c.part) {
				t.Errorf("want %d with %q, have %d: %s", c.code, c.part, code, text)
			}
			if sent := len(d.sent) == 1; sent != (c.code == 202) || sent && d.sent[0].Event.(*engine.EventHalt).Scope != c.scope {
				t.Errorf("want a halt of %q, have %+v", c.scope, d.sent)
			}
		})
	}
}

func TestRearmReportsRemainingObstacles(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.status.Degraded = []engine.Degraded{{State: "halted", Scope: account.Scope{Strategy: "trend"}, Remedy: "botd rearm --strategy trend"}}
	if code, out, text := post[HaltAnswer](d, "/api/v1/risk/rearm", ""); code != 202 || len(out.StillBlocking) != 1 ||
		out.StillBlocking[0].Remedy != "botd rearm --strategy trend" {
		t.Errorf("want the other halt reported, have %d: %s", code, text)
	}
	d.status.Strategies = slices.Clone(d.status.Strategies)
	latched := &d.status.Strategies[0]
	latched.Latch = 1
	const stays = "stays until its target is zero or changes side: botd rearm --strategy "
	for body, want := range map[string]bool{"": true, `{"symbol":"` + latched.Symbol.Name + `"}`: true, `{"strategy":"` + latched.Name + `"}`: false} {
		if _, out, text := post[HaltAnswer](d, "/api/v1/risk/rearm", body); strings.Contains(strings.Join(out.Effects, "\n"),
			"the latch of "+latched.Name+" "+stays+latched.Name) != want {
			t.Errorf("arming %s: that the latch stays is reported: want %t, have %s", body, want, text)
		}
	}
}

func TestQuarantineIsShownAndResolved(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.quarantine = []engine.Quarantine{{Symbol: bitcoin.Key(), Rules: bitcoin, Strategy: "trend", Cause: "the position differs", SinceMS: 1_700_000_000_000,
		Venue: 500 * bitcoin.QuantityTick, Difference: 500 * bitcoin.QuantityTick, Adopt: []string{"0.5 is adopted"}, Ignore: []string{"0.5 is left"},
		Orders: []exchange.Order{{ID: 9, ClientOrderID: "mine", Side: exchange.Sell, Type: exchange.Limit, Quantity: bitcoin.QuantityTick}}}}
	body := d.want(http.StatusOK, "/api/v1/reconcile/quarantines")
	for _, part := range []string{`"position":"0.5"`, `"difference":"0.5"`, `"explained":"0"`, `"client_order_id":"mine"`, `"0.5 is left"`, `"unknown":[]`} {
		if !strings.Contains(body, part) {
			t.Errorf("want %s, have %s", part, body)
		}
	}
	for _, c := range []struct {
		name, body string
		code       int
		part       string
	}{
		{"of a symbol that is not quarantined", `{"symbol":"ETH-USDT","decision":"adopt","reason":"mine"}`, 409, "not quarantined"},
		{"without a reason", `{"symbol":"BTC-USDT","decision":"adopt"}`, 400, "reason"},
		{"without a decision", `{"symbol":"BTC-USDT","reason":"mine"}`, 400, "decision"},
		{"as a dry run", `{"symbol":"BTC-USDT","decision":"ignore","dry_run":true}`, 200, `"dry_run":true`},
	} {
		if code, _, text := post[ResolveAnswer](d, "/api/v1/reconcile/resolve", c.body); code != c.code || !strings.Contains(text, c.part) || len(d.sent) != 0 {
			t.Errorf("%s: want %d with %q and nothing changed, have %d: %s %+v", c.name, c.code, c.part, code, text, d.sent)
		}
	}
	if code, _ := d.ask(http.MethodPost, "/api/v1/reconcile/resolve", `{"symbol":"BTC-USDT","decision":"adopt","reason":"mine"}`, nil); code != 401 ||
		len(d.sent) != 0 {
		t.Errorf("without a token: want 401, have %d", code)
	}
	code, out, text := post[ResolveAnswer](d, "/api/v1/reconcile/resolve", `{"symbol":"BTC-USDT","decision":"adopt","reason":"mine"}`)
	if code != 200 || len(out.Changes) != 1 || out.Cause != "the position differs" {
		t.Errorf("want it resolved, have %d: %s", code, text)
	}
	if want := (engine.EventResolve{Symbol: bitcoin.Key(), Adopt: true, Reason: "mine"}); len(d.sent) != 1 || *d.sent[0].Event.(*engine.EventResolve) != want {
		t.Errorf("want one event, have %+v", d.sent)
	}
	d.quarantine[0].Blocked, d.sent = "not read", nil
	if code, _, text := post[ResolveAnswer](d, "/api/v1/reconcile/resolve", `{"symbol":"BTC-USDT","decision":"adopt","reason":"mine"}`); code != 409 ||
		len(d.sent) != 0 || !strings.Contains(text, "complete round") {
		t.Errorf("want it refused until a round was complete, have %d: %s", code, text)
	}
}
