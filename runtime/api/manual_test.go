package api

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"botd/exchange"
	"botd/internal/enginetest"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/runtime/engine"
)

// handled is a desk with one placement in flight and lines about it.
func handled(t *testing.T) *desk {
	t.Helper()
	d := newDesk(t)
	order := exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.Limit, Price: bitcoin.PriceTick * 400_000,
		Quantity: 20 * bitcoin.QuantityTick, ClientOrderID: "bx-1-5"}
	d.history.Apply(&record.Record{AtMS: 2, Strategy: "trend", Symbol: bitcoin.Key(), ClientOrderID: "bx-1-5", Body: record.Sending{Order: order,
		Purpose: placement.Order}})
	d.history.Apply(&record.Record{AtMS: 3, ClientOrderID: "bx-1-5", Body: record.Acknowledged{OrderID: 77}})
	d.action = engine.ManualAction{Scope: account.Scope{Strategy: "trend"}, Level: record.LevelFlatten, Lines: []string{"strategy trend is halted"},
		Steps: closingSteps()}
	return d
}

func TestManualActionsHavePreviews(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/api/v1/orders/bx-1-5/cancel", "/api/v1/positions/futures/BTC-USDT/close"} {
		d := handled(t)
		for _, form := range []struct{ query, body string }{{"?dry_run=true", ""}, {"", `{"dry_run":true}`}} {
			code, out, text := post[HaltAnswer](d, path+form.query, form.body)
			if code != 200 || !out.DryRun || out.Scope != "strategy trend" || len(out.Steps) != 2 || !slices.Equal(out.Effects,
				[]string{"strategy trend is halted"}) || len(d.sent) != 0 {
				t.Errorf("%s%s: want it shown and nothing sent, have %d %s %+v", path, form.query, code, text, d.sent)
			}
		}
	}
}

func TestAManualOrderIsOneEventWithItsAudit(t *testing.T) {
	t.Parallel()
	d := handled(t)
	for i, c := range []struct {
		path  string
		event engine.Event
		audit string
	}{
		{"/api/v1/orders/bx-1-5/cancel", &engine.EventWithdraw{ClientOrderID: "bx-1-5", Reason: "news"}, "order bx-1-5"},
		{"/api/v1/orders/77/cancel", &engine.EventWithdraw{ClientOrderID: "bx-1-5", Reason: "news"}, "order bx-1-5"}, // by the exchange's id
		{"/api/v1/positions/futures/BTC-USDT/close", &engine.EventHalt{Level: record.LevelFlatten, Scope: account.Scope{Strategy: "trend"},
			Reason: "news"}, "symbol futures BTC-USDT"},
	} {
		code, out, text := post[HaltAnswer](d, c.path, `{"reason":"news"}`)
		if code != 202 || out.DryRun || len(d.sent) != i+1 {
			t.Fatalf("%s: want it done once, have %d %s %+v", c.path, code, text, d.sent)
		}
		have := d.sent[i]
		if want, have := fmt.Sprintf("%T %+v", c.event, c.event), fmt.Sprintf("%T %+v", have.Event, have.Event); want != have {
			t.Errorf("%s: want %s, have %s", c.path, want, have)
		}
		if have.Audit == nil || have.Audit.Action != "POST "+c.path || have.Audit.Object != c.audit || !strings.HasSuffix(have.Audit.Detail, ": news") ||
			have.Audit.Role != "operator" {
			t.Errorf("%s: want it audited, have %+v", c.path, have.Audit)
		}
	}
}

func TestAManualOrderIsRefusedWhereItIsNotPossibleOrNotAllowed(t *testing.T) {
	t.Parallel()
	const cancel, closing = "/api/v1/orders/bx-1-5/cancel", "/api/v1/positions/futures/BTC-USDT/close"
	for _, c := range []struct {
		name, path, body string
		change           func(*http.Request)
		refuses          error
		code             int
		part             string
	}{
		{"a viewer cancels", cancel, `{"reason":"news"}`, bearer(viewerToken), nil, 403, ""},
		{"a viewer closes", closing, `{"reason":"news"}`, bearer(viewerToken), nil, 403, ""},
		{"a viewer tries it", closing, `{"dry_run":true}`, bearer(viewerToken), nil, 403, ""},
		{"nobody", closing, `{"reason":"news"}`, nil, nil, 401, ""},
		{"no reason", cancel, ``, bearer(testToken), nil, 400, "reason"},
		{"an empty reason", closing, `{"reason":"  "}`, bearer(testToken), nil, 400, "reason"},
		{"a long reason", closing, `{"reason":"` + strings.Repeat("x", maxReason+1) + `"}`, bearer(testToken), nil, 400, "the maximum is 500"},
		{"an unknown field", closing, `{"reason":"news","quantity":"1"}`, bearer(testToken), nil, 400, "quantity"},
		{"an unknown order", "/api/v1/orders/nobody/cancel", `{"reason":"news"}`, bearer(testToken), nil, 404, "nobody"},
		{"an unknown market", "/api/v1/positions/bonds/BTC-USDT/close", `{"reason":"news"}`, bearer(testToken), nil, 404, "bonds"},
		{"not possible", cancel, `{"reason":"news"}`, bearer(testToken), errors.New("it protects"), 409, "it protects"},
		{"nothing held", closing, `{"dry_run":true}`, bearer(testToken), errors.New("nothing is held"), 409, "nothing is held"},
		{"from a web page", closing, `{"reason":"news"}`, func(r *http.Request) { bearer(testToken)(r); r.Header.Set("Sec-Fetch-Site", "cross-site") }, nil,
			403, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := handled(t)
			d.refuses = c.refuses
			code, body := d.ask(http.MethodPost, c.path, c.body, c.change)
			if code != c.code || !strings.Contains(body, c.part) || len(d.sent) != 0 {
				t.Errorf("want %d with %q and nothing sent, have %d: %s %+v", c.code, c.part, code, body, d.sent)
			}
		})
	}
}

func TestAWithdrawnOrderIsInTheAuditAndInItsLife(t *testing.T) {
	t.Parallel()
	d := handled(t)
	d.history.Apply(&record.Record{AtMS: 4, Strategy: "trend", Symbol: bitcoin.Key(), ClientOrderID: "bx-1-5",
		Body: record.Withdrawn{OrderID: 77, Reason: "news"}})
	if body := d.want(200, "/api/v1/orders/bx-1-5"); !strings.Contains(body, `"step":"withdrawn"`) {
		t.Errorf("want its step, have %s", body)
	}
	for _, n := range enginetest.Notes(t, "trend", bitcoin, "bx-1-5", "margin") { // reported since the start, as well
		switch n.Fact.(type) {
		case engine.NoteRejection, engine.NoteRefused:
		default:
			d.board.Note(&n)
		}
	}
	if body := d.want(200, "/api/v1/intents/bx-1-5"); !strings.Contains(body, `"step":"withdrawn"`) || !strings.Contains(body, `"step":"checked"`) {
		t.Errorf("want it in the intent's life, have %s", body)
	}
	if body := d.want(200, "/api/v1/audit?kind=withdrawn"); !strings.Contains(body, `"target":"order bx-1-5"`) || !strings.Contains(body, `"detail":"news"`) {
		t.Errorf("want it audited, have %s", body)
	}
}
