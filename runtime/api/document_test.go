package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"botd/docs"
	"botd/exchange"
	"botd/internal/enginetest"
	"botd/internal/openapi"
	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/risk"
	"botd/runtime"
	"botd/runtime/api/auth"
	"botd/runtime/engine"
	"botd/runtime/incident"
	"botd/strategy"
)

func TestTheDocumentIsOpenAPI31(t *testing.T) {
	t.Parallel()
	content, err := docs.API()
	if err != nil {
		t.Fatal(err)
	}
	openapi.Valid(t, content)
}

// TestTheDocumentNamesEveryRoute compares the table of routes with the document.
func TestTheDocumentNamesEveryRoute(t *testing.T) {
	t.Parallel()
	v := newVisitor(t, newDesk(t))
	left := map[string]*openapi.Operation{}
	for _, o := range v.Operations {
		left[o.Method+" "+o.Path] = o
	}
	for _, each := range routes {
		name := each.method + " " + each.path
		o := left[name]
		if o == nil {
			t.Errorf("the document lacks %s", name)
			continue
		}
		delete(left, name)
		_, dry := o.Parameters["dry_run"]
		_, key := o.Parameters["Idempotency-Key"]
		if dry != each.changes || key != each.changes {
			t.Errorf("%s: want dry_run and Idempotency-Key %t, have %t and %t", name, each.changes, dry, key)
		}
		_, free := o.Node["security"]
		_, forbidden := o.Statuses[http.StatusForbidden]
		if want := each.minimum; free != (want == auth.Public) || forbidden != (want == auth.Operator) {
			t.Errorf("%s: want role %s, have open %t and forbidden %t", name, want, free, forbidden)
		}
	}
	for name := range left {
		t.Errorf("the document has %s, which nothing serves", name)
	}
}

// TestServerMatchesItsDocument drives the server through every operation, parameter, field and
// status of the document, and forbids everything else.
func TestServerMatchesItsDocument(t *testing.T) {
	t.Parallel()
	bench := &stub{run: writes}
	k, sweeper := &keeper{}, &sweeperStub{}
	d := newDeskWith(t, func(c *Config) {
		c.Reports, c.Sweeps, c.Runner, c.Sweeper, c.Backups, c.Channels = shelf(t), interrupted(t, sweeps(t)), bench, sweeper, k, k
	})
	v := newVisitor(t, d)
	v.live()
	v.goBacktests()
	v.goState()
	v.goLists()
	v.goMarket()
	v.goBench(bench)
	v.goSweeps(sweeper)
	v.goChanges()
	v.goSessions()
	v.goRefusals()
	v.goStream()
	for _, line := range v.Unseen() {
		t.Error(line)
	}
}

// incidents has the desk see an incident that becomes critical and ends, and one of a strategy.
func (v *visitor) incidents(status engine.Status) {
	v.desk.t.Cleanup(v.board.TrackIncidents(v.desk.t.TempDir(), 0, func(int64) []engine.Degraded { return nil }, func(*incident.Report) {},
		func(err error) { v.desk.t.Error(err) }))
	v.board.Note(&engine.Note{AtMS: status.NowMS, Fact: engine.NoteRound{Complete: true}})
	const hour = 3_600_000
	began := status.NowMS - 5*hour
	stale := engine.Degraded{State: "stale", SinceMS: began, Scope: account.Scope{Symbol: bitcoin.Key()}}
	hung := engine.Degraded{State: "hung", SinceMS: began, Scope: account.Scope{Strategy: "trend"}}
	for hours, states := range [][]engine.Degraded{{stale, hung}, {stale, hung}, nil, nil} {
		status.NowMS, status.Degraded = began+int64(hours)*hour, states
		v.board.Show(status)
	}
}

// live fills the desk with one of everything.
func (v *visitor) live() {
	t := v.desk.t
	v.take(accounted(t)...)
	sent := exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.Limit, Price: enginetest.Price(t, bitcoin,
		"50000"), Quantity: 20, ClientOrderID: "bx-1-9"}
	bought := exchange.NewOrder{Market: exchange.Spot, Symbol: "ETH-USDT", Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: enginetest.Amount(t,
		"100"), ClientOrderID: "bx-1-8"}
	for _, r := range []record.Record{
		{AtMS: 1, Body: record.Boot{Epoch: 1}},
		{AtMS: 1, Body: record.Config{Hash: "00"}},
		{AtMS: 2, Strategy: "trend", Symbol: bitcoin.Key(), ClientOrderID: "bx-1-9", Body: record.Sending{Order: sent, Purpose: placement.Order, Key: "low"}},
		{AtMS: 3, ClientOrderID: "bx-1-9", Body: record.Acknowledged{OrderID: 7}},
		{AtMS: 4, ClientOrderID: "bx-1-9", Body: record.Fill{Filled: 10, Price: enginetest.Amount(t, "50000")}},
		{AtMS: 5, ClientOrderID: "bx-1-9", Body: record.Ended{State: placement.Filled, Filled: 20, Evidence: "fetched FILLED"}},
		{AtMS: 6, Strategy: "hold", Symbol: ether.Key(), ClientOrderID: "bx-1-8", Body: record.Sending{Order: bought, Purpose: placement.Entry}},
		{AtMS: 7, ClientOrderID: "bx-1-8", Body: record.Uncertain{Reason: "the answer was lost"}},
		{AtMS: 8, Strategy: "trend", Body: record.Halt{Level: record.LevelPause, Reason: "news"}},
		{AtMS: 9, Body: record.Audit{Actor: "token", Role: "operator", From: "127.0.0.1", Action: "POST /api/v1/risk/halt", Object: "account",
			Detail: "pause: news", RequestID: "X"}},
	} {
		v.history.Apply(&r)
	}
	s := v.status
	s.NowMS = v.market.NowMS()
	s.Day = account.Day{StartMS: 1, Equity: enginetest.Amount(t, "10000"), Peak: enginetest.Amount(t, "10100")}
	s.Balances = []exchange.Balance{{Asset: "USDT", Free: enginetest.Amount(t, "10")}, {Asset: "XRP", Free: enginetest.Amount(t, "3")}}
	s.Halt = account.Halt{Level: record.LevelPause, Reason: "news", AtMS: 1}
	s.Halts = []account.Halt{s.Halt, {Level: record.LevelCancel, Reason: "x", Scope: account.Scope{Strategy: "trend"}}, {Level: record.LevelFlatten,
		Reason: "y", Scope: account.Scope{Symbol: bitcoin.Key()}}}
	s.Degraded = []engine.Degraded{{State: "halted", Cause: "pause: news", SinceMS: 1, UntilMS: 2, Remedy: "botd rearm",
		Remaining: "to close", ExitsAccepted: true, Blind: []string{"b"}},
		{State: "limit", Scope: account.Scope{Strategy: "trend"}, Cause: "c", Remedy: "w"}, {State: "quarantined",
			Scope: account.Scope{Symbol: bitcoin.Key()}, Cause: "c", Remedy: "w"},
		{State: "contradicted", Scope: account.Scope{Symbol: bitcoin.Key()}, Cause: "c", SinceMS: 1, Remedy: "w"}}
	s.Limits = []risk.Utilization{{Scope: "account", Rule: risk.MaxOpenOrders, Value: "3", Limit: "200", Headroom: "197", State: risk.StateOK},
		{Scope: "account futures", Rule: risk.MaxGrossExposure, Value: "1 USDT", Limit: "2 USDT", Headroom: "1 USDT", Ratio: 0.5, State: risk.StateOK},
		{Scope: "strategy trend", Strategy: "trend", Rule: risk.MaxDailyLoss, Value: "1", Limit: "1", Headroom: "0", Ratio: 1, State: risk.StateBreached,
			Reason: "lost", Remedy: "ends", SinceMS: 1, UntilMS: 2,
			Set: &account.SetLimit{Strategy: "trend", Rule: risk.MaxDailyLoss, Value: "1%", By: "token", Reason: "news", AtMS: 1}}}
	one := &s.Strategies[0]
	one.StateReason, one.PlanReason, one.Latch, one.UnprotectedSinceMS = "why", "because", 1, 1
	one.Plan = strategy.Plan{Target: strategy.Target{Kind: strategy.ByEquity, Share: exchange.RateOne / 2}, Leverage: 5,
		Orders: []strategy.DesiredOrder{{Key: "low", Side: exchange.Buy, Price: 1, StopPrice: 1, Quantity: 10}},
		Exits:  []strategy.DesiredOrder{{Key: "high", Side: exchange.Sell, Price: 1, Quantity: 10}}, Reason: "because",
		Protection: strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: exchange.RateOne / 50}, TakeProfit: strategy.Distance{Price: 1}}}
	one.Memory = strategy.MemoryOf(strategy.MemoryVariable{Key: "began", Value: 1})
	s.Symbols[0].Mark, s.Symbols[0].SinceMS, s.Symbols[0].Quarantine = enginetest.Price(t, bitcoin, "50100"), 1, "differs"
	s.Symbols[0].Unshown = 1
	old := exchange.SymbolKey{Market: exchange.Futures, Name: "OLD-USDT"}
	s.Symbols = append(s.Symbols, engine.SymbolStatus{Key: old, Known: 5, Owner: "old"})
	s.Degraded = append(s.Degraded, engine.Degraded{State: "failed", Scope: account.Scope{Strategy: "old", Symbol: old}, Cause: "c", Remedy: "w"})
	stop := s.Live[0].Order()
	stop.Quantity, stop.ClosePosition = 10, false
	s.Live[0] = enginetest.Placement(record.Record{AtMS: 5_000, Strategy: "trend", Symbol: bitcoin.Key(), ClientOrderID: "bx-1-1",
		Body: record.Sending{Purpose: placement.StopLoss, Order: stop}}, placement.Working, 11)
	v.status = s
	v.board.Unclean(true)
	v.incidents(s)
	v.board.Show(s)
	v.quarantine = []engine.Quarantine{{Symbol: bitcoin.Key(), Rules: bitcoin, Strategy: "trend", Cause: "differs", SinceMS: 1,
		Adopt: []string{"0.5 is adopted"}, Ignore: []string{"0.5 is left"},
		Uncertain: s.Live[1:], Orders: []exchange.Order{{ID: 9, ClientOrderID: "mine", Side: exchange.Sell, Type: exchange.Limit, Quantity: 10}}},
		{Symbol: ether.Key(), Rules: ether, Cause: "not read", Blocked: "not read since the start"}}
	v.previews = previews(t, one.Plan)
	v.previews[0].Steps[0].RefusedBy = "1117 refused"
	v.steps = closingSteps()
	v.steps[1].Intent.Order.Price, v.steps[1].Intent.Order.StopPrice, v.steps[1].Intent.Order.ClosePosition = 1, 1, true
	verdicts := []risk.Verdict{{Rule: "margin", Scope: "account", Outcome: risk.Rejected, Value: "1", Limit: "2", Hint: "less"}, {Rule: "price",
		Outcome: risk.Passed}}
	all := enginetest.Notes(t, "trend", bitcoin, "bx-1-9", "margin")
	all = append(all, slices.DeleteFunc(slices.Clone(all), func(n engine.Note) bool {
		_, refusal := n.Fact.(engine.NoteRejection)
		return refusal
	})...)
	for _, n := range all {
		switch fact := n.Fact.(type) { // its order has every field
		case engine.NoteIntent:
			fact.Intent.Order.Price, fact.Intent.Order.StopPrice = enginetest.Price(t, bitcoin, "50000"), enginetest.Price(t, bitcoin, "50000")
		case engine.NoteApproved:
			fact.Verdicts = verdicts
			n.Fact = fact
		case engine.NoteRejection:
			fact.Verdicts = verdicts
			n.Fact = fact
		case engine.NotePlaced:
			fact.Order.Price, fact.Order.StopPrice = enginetest.Price(t, bitcoin, "50000"), enginetest.Price(t, bitcoin, "50000")
			n.Fact = fact
		}
		v.board.Note(&n)
	}
	v.board.Note(&engine.Note{AtMS: 6, Strategy: "hold", Symbol: ether, Fact: engine.NoteIntent{Intent: &reconcile.Intent{Strategy: "hold",
		Purpose: placement.Entry, Order: bought}}})
	if err := v.server.config.Equity.Sample(v.board); err != nil {
		t.Fatal(err)
	}
	if _, err := v.logs.Write([]byte(`{"level":"warn","time":"2026-01-01T00:00:00Z","event":"order.fill","msg":"fill","strategy":"trend","market":"futures",` +
		`"symbol":"BTC-USDT","client_order_id":"bx-1-9","dur_ms":3}`)); err != nil {
		t.Fatal(err)
	}
}

func (v *visitor) goState() {
	for _, id := range []string{"status", "health", "version", "strategies", "positions", "account", "equity", "risk", "limits", "limits_too", "plan",
		"reconcile", "quarantines", "config", "log_level", "session", "document", "symbols"} {
		v.good(id, "", "")
	}
	v.good("strategy", "trend", "")
	v.good("explain", "trend", "")
	v.good("order", "bx-1-9", "")
	v.good("order", "7", "")
	v.good("order", "bx-1-8", "")
	v.good("intent", "2", "")
	v.good("intent", "1", "")
	v.good("intent", "bx-1-8", "")
	v.good("equity", "?from=0&to=1800000000000&step=60000", "")
}

func (v *visitor) goLists() {
	v.good("decisions", "trend?limit=1&after=9", "")
	v.good("decisions", "trend", "")
	v.good("orders", "?state=all&strategy=trend&market=futures&symbol=BTC-USDT&limit=2&after=99999", "")
	v.good("orders", "?state=all", "")
	v.good("intents", "?strategy=trend&market=futures&symbol=BTC-USDT&outcome=filled&purpose=entry&limit=9&after=99", "")
	v.good("intents", "", "")
	v.good("fills", "?strategy=trend&market=futures&symbol=BTC-USDT&order=bx-1-9&limit=1&after=9", "")
	v.good("fills", "", "")
	v.good("trades", "?strategy=trend&market=futures&symbol=BTC-USDT&limit=9&after=9", "")
	v.good("trades", "", "")
	v.good("closed_positions", "?strategy=trend&market=futures&symbol=BTC-USDT&limit=9&after=9", "")
	v.good("closed_positions", "", "")
	v.good("refusals", "?rule=margin&strategy=trend&market=futures&symbol=BTC-USDT&limit=9&after=999", "")
	v.good("refusals", "", "")
	v.good("rounds", "?complete=true&limit=1&after=9", "")
	v.good("rounds", "", "")
	v.good("differences", "?kind=adopted&market=futures&symbol=BTC-USDT&open=false&limit=1&after=99", "")
	v.good("differences", "", "")
	v.call(http.StatusBadRequest, "differences", "?open=maybe", "", bearer(testToken))
	v.call(http.StatusBadRequest, "rounds", "?complete=maybe", "", bearer(testToken))
	v.good("notices", "?kind=gap&severity=warning&strategy=trend&market=futures&symbol=BTC-USDT&limit=9&after=999", "")
	v.good("notices", "", "")
	v.good("incidents", "?kind=stale&severity=critical&state=closed&market=futures&symbol=BTC-USDT&limit=9&after=999", "")
	v.good("incidents", "?strategy=trend", "")
	v.good("incidents", "", "")
	v.good("logs", "?level=info&event=order.&text=FILL&strategy=trend&market=futures&symbol=BTC-USDT&limit=9&after=99", "")
	v.good("audit", "?kind=audit&actor=token&limit=9&after=99", "")
	v.good("audit", "", "")
}

func (v *visitor) goMarket() {
	v.good("candles", "?symbol=BTC-USDT&market=futures&interval=1m&limit=5", "")
	v.good("candles", "?symbol=BTC-USDT&interval=1m&from=1699999000000&to=1700000000000", "")
	v.good("plots", "trend?limit=20", "")
	v.good("plots", "trend?from=1699999000000&to=1700000000000", "")
	v.good("plots", "hold", "") // without an indicator
	v.call(http.StatusNotFound, "plots", "nobody", "", bearer(testToken))
	v.call(http.StatusBadRequest, "plots", "trend?limit=0", "", bearer(testToken))
	v.good("market", "futures BTC-USDT", "")
	v.good("symbols", "?market=spot", "")
	v.broken = &exchange.Unavailable{Reason: "status 503"}
	v.call(http.StatusBadGateway, "plots", "trend?from=1&to=2", "", bearer(testToken))
	v.call(http.StatusBadGateway, "candles", "?symbol=BTC-USDT&interval=1h", "", bearer(testToken))
	v.call(http.StatusBadGateway, "market", "spot ETH-USDT", "", bearer(testToken)) // the futures one was just read
	v.broken = nil
}

func (v *visitor) goBacktests() {
	v.good("backtests", "", "")
	v.good("backtest", "trend-1", "")
	v.good("backtest_page", "trend-1", "")
	v.call(http.StatusNotFound, "backtest", "none", "", bearer(testToken))
	v.call(http.StatusNotFound, "backtest_page", "none", "", bearer(testToken))
}

// goBench starts a backtest, follows it to its end, and cancels another.
func (v *visitor) goBench(bench *stub) {
	const body = `{"strategy":"trend","params":{"fast":"12"},"seed":7,"candles":500,"from":"2024-01-01","to":"2024-01-09","study":true,"name":"%s"}`
	v.good("backtest_choices", "", "")
	v.good("parity", "trend?from=60000&to=120000", "")
	v.call(http.StatusForbidden, "parity", "trend", "", bearer(viewerToken))
	v.call(http.StatusNotFound, "parity", "nobody", "", bearer(testToken))
	v.call(http.StatusBadRequest, "parity", "trend?from=yesterday", "", bearer(testToken))
	start := func(status int, name string, change func(*http.Request)) {
		v.call(status, "start_backtest", "", fmt.Sprintf(body, name), change)
	}
	v.good("start_backtest", "?dry_run=true", `{"strategy":"trend","file":"futures/BTC-USDT/1h.csv","dry_run":true}`)
	keyed := func(r *http.Request) { bearer(testToken)(r); r.Header.Set("Idempotency-Key", "one run") }
	start(http.StatusAccepted, "mine", keyed)
	v.server.runner.group.Wait()
	start(http.StatusAccepted, "mine", keyed) // answered again, not run again
	start(http.StatusConflict, "mine", bearer(testToken))
	start(http.StatusUnprocessableEntity, "next", keyed)
	start(http.StatusForbidden, "next", bearer(viewerToken))
	start(http.StatusBadRequest, "../next", bearer(testToken))
	v.fails = runtime.ErrStopped
	start(http.StatusServiceUnavailable, "next", bearer(testToken))
	v.fails = nil
	bench.run = hangs
	start(http.StatusAccepted, "long", bearer(testToken))
	start(http.StatusConflict, "next", bearer(testToken))
	v.call(http.StatusConflict, "parity", "trend?from=1", "", bearer(testToken))
	v.good("backtest_runs", "", "")
	v.good("cancel_backtest", "long?dry_run=true", "")
	v.call(http.StatusForbidden, "cancel_backtest", "long", "", bearer(viewerToken))
	v.call(http.StatusBadRequest, "cancel_backtest", "long?dry_run=maybe", "", bearer(testToken))
	v.fails = runtime.ErrStopped
	v.call(http.StatusServiceUnavailable, "cancel_backtest", "long", "", bearer(testToken))
	v.fails = nil
	keyed = func(r *http.Request) { bearer(testToken)(r); r.Header.Set("Idempotency-Key", "one end") }
	v.call(http.StatusOK, "cancel_backtest", "long", "", keyed)
	v.call(http.StatusUnprocessableEntity, "cancel_backtest", "long?dry_run=true", "", keyed)
	v.server.runner.group.Wait()
	v.call(http.StatusConflict, "cancel_backtest", "long", "", bearer(testToken))
	v.call(http.StatusNotFound, "cancel_backtest", "nobody", "", bearer(testToken))
	bench.run = func(context.Context, string, func(string, float64)) error { return errors.New("bad data") }
	start(http.StatusAccepted, "bad", bearer(testToken))
	v.server.runner.group.Wait()
	v.good("backtest_runs", "", "")
	for _, id := range []string{"start_backtest", "cancel_backtest"} {
		v.Operations[id].Parameters["Idempotency-Key"] = true
	}
}

// changes lists every change with a path and a good body.
var changes = []struct {
	id, where, body string
	status          int
}{
	{"pause_strategy", "trend", `{"reason":"news"}`, 202},
	{"stop_strategy", "trend", `{"reason":"news"}`, 202},
	{"flatten_strategy", "trend", `{"reason":"news"}`, 202},
	{"resume_strategy", "trend", ``, 202},
	{"resume_strategy", "trend", `{"reason":"over"}`, 202},
	{"halt_strategy", "trend", `{"level":"flatten","reason":"news"}`, 202},
	{"halt", "", `{"level":"cancel","reason":"news","market":"futures","symbol":"BTC-USDT"}`, 202},
	{"halt", "", `{"level":"cancel","reason":"news","strategy":"trend"}`, 202},
	{"rearm", "", `{"market":"futures","symbol":"BTC-USDT","reason":"over"}`, 202},
	{"rearm", "", `{"strategy":"trend"}`, 202},
	{"round", "", ``, 200},
	{"cancel_order", "bx-1-8", `{"reason":"news"}`, 202},
	{"cancel_orders", "", `{"strategy":"trend","market":"futures","symbol":"BTC-USDT","reason":"news"}`, 202},
	{"backup", "", ``, 200},
	{"test_channels", "", ``, 200},
	{"test_channels", "", `{"channel":"desk"}`, 200},
	{"close_position", "futures BTC-USDT", `{"reason":"news"}`, 202},
	{"resolve", "", `{"symbol":"BTC-USDT","market":"futures","decision":"adopt","reason":"mine"}`, 200},
	{"transfer", "", `{"market":"futures","asset":"USDT","amount":"-5","note":"out","strategy":"trend"}`, 200},
	{"transfer", "", `{"market":"futures","asset":"USDT","amount":"5"}`, 200},
	{"set_log_level", "", `{"level":"debug"}`, 200},
	{"set_limits", "", `{"strategy":"trend","limits":{"max_open_orders":"5"},"reason":"news"}`, 200},
	{"set_limits", "", `{"limits":{"max_open_orders":null},"reason":"over"}`, 200},
	{"reload", "", ``, 200},
}

func (v *visitor) goChanges() {
	for i, c := range changes {
		before := len(v.sent)
		v.good(c.id, c.where+"?dry_run=true", c.body)
		if strings.HasSuffix(c.body, `"}`) && c.id != "set_log_level" { // the body may say so, too
			v.good(c.id, c.where, strings.TrimSuffix(c.body, "}")+`,"dry_run":true}`)
		}
		if len(v.sent) != before {
			v.desk.t.Errorf("%s as a trial: want nothing sent, have %+v", c.id, v.sent[before:])
		}
		key := fmt.Sprint("key ", i)
		keyed := func(r *http.Request) { bearer(testToken)(r); r.Header.Set("Idempotency-Key", key) }
		first := v.call(c.status, c.id, c.where, c.body, keyed)
		again := v.call(c.status, c.id, c.where, c.body, keyed)
		if len(v.sent) != before+1 || first.Body.String() != again.Body.String() || again.Header().Get("Idempotency-Replayed") != "true" {
			v.desk.t.Errorf("%s twice under one key: want it done once and answered again, have %d events, %s and %s", c.id, len(v.sent)-before, first.Body,
				again.Body)
		}
		v.call(http.StatusUnprocessableEntity, c.id, c.where+"?dry_run=true", c.body, keyed)
		event := v.sent[len(v.sent)-1]
		if event.Audit == nil || event.Audit.Actor != "token" || event.Audit.Role != "operator" || event.Audit.RequestID == "" ||
			!strings.HasPrefix(event.Audit.Action, v.Operations[c.id].Method+" /api/v1/") {
			v.desk.t.Errorf("%s: want who asked for it journalled, have %+v", c.id, event.Audit)
		}
		v.Operations[c.id].Parameters["Idempotency-Key"] = true
		for _, failure := range []error{runtime.ErrStopped, runtime.ErrNotDurable} {
			v.fails = failure
			v.call(http.StatusServiceUnavailable, c.id, c.where, c.body, bearer(testToken))
			v.fails = nil
		}
		v.call(http.StatusForbidden, c.id, c.where, c.body, bearer(viewerToken))
		v.call(http.StatusBadRequest, c.id, c.where+"?dry_run=maybe", c.body, bearer(testToken))
	}
	v.call(http.StatusConflict, "resolve", "", `{"symbol":"ETH-USDT","decision":"adopt","reason":"mine"}`, bearer(testToken))
	v.call(http.StatusConflict, "transfer", "", `{"market":"futures","asset":"BTC","amount":"5"}`, bearer(testToken))
	v.call(http.StatusBadRequest, "transfer", "", `{"market":"futures","asset":"USDT","amount":"much"}`, bearer(testToken))
	v.call(http.StatusConflict, "set_limits", "", `{"limits":{"max_leverage":"100"},"reason":"greed"}`, bearer(testToken))
	v.refuses = errors.New("not now")
	v.call(http.StatusConflict, "reload", "", "", bearer(testToken))
	v.call(http.StatusConflict, "cancel_orders", "", `{"reason":"news"}`, bearer(testToken))
	v.call(http.StatusConflict, "cancel_order", "bx-1-8", `{"reason":"news"}`, bearer(testToken))
	v.call(http.StatusConflict, "close_position", "futures BTC-USDT", `{"reason":"news"}`, bearer(testToken))
	v.refuses = nil
	v.call(http.StatusNotFound, "close_position", "bonds BTC-USDT", `{"reason":"news"}`, bearer(testToken))
	v.call(http.StatusNotFound, "cancel_orders", "", `{"reason":"news","strategy":"nobody"}`, bearer(testToken))
	v.call(http.StatusConflict, "test_channels", "", `{"channel":"nobody"}`, bearer(testToken))
	v.server.maintenance.copying.Lock()
	v.call(http.StatusConflict, "backup", "", "", bearer(testToken))
	v.server.maintenance.copying.Unlock()
	v.call(http.StatusNotFound, "cancel_order", "nobody", `{"reason":"news"}`, bearer(testToken))
	for _, id := range []string{"pause_strategy", "stop_strategy", "flatten_strategy", "resume_strategy", "halt_strategy"} {
		v.call(http.StatusNotFound, id, "nobody", `{"reason":"x"`+map[bool]string{true: `,"level":"pause"`}[id == "halt_strategy"]+`}`, bearer(testToken))
	}
	for _, id := range []string{"halt", "rearm"} {
		v.call(http.StatusNotFound, id, "", `{"reason":"x","strategy":"nobody"`+map[bool]string{true: `,"level":"pause"`}[id == "halt"]+`}`, bearer(testToken))
	}
	v.stops = true
	for _, id := range []string{"reconcile", "quarantines", "plan"} {
		v.call(http.StatusServiceUnavailable, id, "", "", bearer(testToken))
	}
	v.call(http.StatusServiceUnavailable, "explain", "trend", "", bearer(testToken))
	v.stops = false
}

func (v *visitor) goSessions() {
	v.call(http.StatusOK, "login", "", `{"token":"`+testToken+`"}`, nil)
	code := v.server.NewLink().Code
	a := v.call(http.StatusOK, "login", "", `{"code":"`+code+`"}`, nil)
	cookie := a.Result().Cookies()[0]
	asked := func(r *http.Request) { r.AddCookie(cookie) }
	v.call(http.StatusOK, "session", "", "", asked)
	v.call(http.StatusNoContent, "logout", "", "", asked)
	v.call(http.StatusUnauthorized, "session", "", "", asked)
	v.call(http.StatusForbidden, "link", "", "", bearer(testToken))
	v.call(http.StatusOK, "link", "", "", func(r *http.Request) {
		*r = *r.WithContext(auth.WithConnection(r.Context(), &net.UnixConn{}))
	})
	v.goTokens()
	v.call(http.StatusBadRequest, "login", "", `{"password":"x"}`, nil)
	v.call(http.StatusUnauthorized, "login", "", `{"token":"wrong"}`, from("192.0.2.1:1"))
	v.mustWait("192.0.2.1:1")
	v.call(http.StatusTooManyRequests, "login", "", `{"token":"wrong"}`, from("192.0.2.1:2"))
}

// mustWait sends wrong tokens from an address until its delay is the longest: a delay of a second could pass on a
// busy machine before the next request.
func (v *visitor) mustWait(address string) {
	r := httptest.NewRequest(http.MethodGet, "/api/v1/status", nil)
	bearer("wrong")(r)
	from(address)(r)
	for minute := range 10 {
		v.server.guard.Identify(r, time.Now().Add(time.Duration(minute-9)*time.Minute))
	}
}

// goTokens creates named tokens, and revokes them.
func (v *visitor) goTokens() {
	local := func(r *http.Request) { *r = *r.WithContext(auth.WithConnection(r.Context(), &net.UnixConn{})) }
	v.call(http.StatusForbidden, "create_token", "", `{"name":"phone","role":"viewer"}`, bearer(testToken))
	v.call(http.StatusOK, "create_token", "", `{"name":"phone","role":"viewer","ends":"2999-01-01T00:00:00Z"}`, local)
	v.call(http.StatusOK, "create_token", "", `{"name":"desk","role":"operator"}`, local)
	v.call(http.StatusConflict, "create_token", "", `{"name":"phone","role":"viewer"}`, local)
	for _, text := range []string{`{"name":"a b","role":"viewer"}`, `{"name":"b","role":"king"}`,
		`{"name":"b","role":"viewer","ends":"2001-01-01T00:00:00Z"}`} {
		v.call(http.StatusBadRequest, "create_token", "", text, local)
	}
	v.fails = runtime.ErrNotDurable
	v.call(http.StatusServiceUnavailable, "create_token", "", `{"name":"late","role":"viewer"}`, local)
	v.fails = nil
	v.call(http.StatusOK, "tokens", "", "", bearer(testToken))
	v.call(http.StatusOK, "revoke_token", "phone?dry_run=true", "", bearer(testToken))
	v.call(http.StatusNotFound, "revoke_token", "nobody", "", bearer(testToken))
	key := func(r *http.Request) { bearer(testToken)(r); r.Header.Set("Idempotency-Key", "revoked") }
	v.call(http.StatusOK, "revoke_token", "phone", "", key)
	v.call(http.StatusUnprocessableEntity, "revoke_token", "desk", "", key)
	v.Operations["revoke_token"].Parameters["Idempotency-Key"] = true
	v.call(http.StatusForbidden, "revoke_token", "desk", "", bearer(viewerToken))
	v.fails = runtime.ErrNotDurable
	v.call(http.StatusServiceUnavailable, "revoke_token", "desk", "", bearer(testToken))
	v.fails = nil
}

// oftenAsked calls an operation that needs no token from one address, until it is refused.
func (v *visitor) oftenAsked(id string) {
	for range 2_000 {
		if a := v.answer(v.Operations[id].Method, v.Operations[id].Path, "", from("192.0.2.8:1")); a.Code == http.StatusTooManyRequests {
			if at, known := v.Answered(id, a.Code, a.Body.Bytes()); known {
				v.Reply(id, at, a.Header(), a.Body.Bytes())
			}
			return
		}
	}
}

// goRefusals calls every operation without a token, with a wrong one, with an unknown parameter, and for a
// missing object.
func (v *visitor) goRefusals() {
	for id, o := range v.Operations {
		where := strings.Repeat("nobody ", strings.Count(o.Path, "{"))
		if _, open := o.Node["security"]; !open {
			v.call(http.StatusUnauthorized, id, where, "", nil)
			v.mustWait("192.0.2.7:1")
			v.call(http.StatusTooManyRequests, id, where, "", func(r *http.Request) { bearer("wrong")(r); from("192.0.2.7:1")(r) })
		}
		if _, reported := o.Statuses[http.StatusBadRequest]; reported {
			v.call(http.StatusBadRequest, id, where+"?nonsense=1", "", bearer(testToken))
		}
		if _, reported := o.Statuses[http.StatusRequestEntityTooLarge]; reported {
			v.call(http.StatusRequestEntityTooLarge, id, where, `{"reason":"`+strings.Repeat("x", maxRequest)+`"}`, bearer(testToken))
			v.call(http.StatusRequestEntityTooLarge, id, where, `{"reason":"`+strings.Repeat("x", maxRequest)+`"}`,
				func(r *http.Request) { bearer(testToken)(r); r.Header.Set("Idempotency-Key", "k") })
		}
		if _, reported := o.Statuses[http.StatusNotFound]; reported && o.Method == http.MethodGet {
			v.call(http.StatusNotFound, id, where, "", bearer(testToken))
		}
	}
	v.oftenAsked("document")
	for _, c := range []struct{ id, where string }{
		{"orders", "?limit=0"}, {"orders", "?limit=1001"}, {"orders", "?after=x"}, {"orders", "?after=-1"}, {"orders", "?limit=1&limit=2"},
		{"candles", "?symbol=BTC-USDT&interval=2s"}, {"candles", "?symbol=NO-USDT&interval=1m"}, {"candles", "?symbol=BTC-USDT&interval=1m&limit=5001"},
		{"candles", "?symbol=BTC-USDT&interval=1m&from=0&to=1800000000000"},
		{"candles", "?symbol=BTC-USDT&interval=1m&market=moon"}, {"equity", "?from=yesterday"}, {"logs", "?level=loud"}, {"events", "?topics=weather"},
	} {
		v.call(http.StatusBadRequest, c.id, c.where, "", bearer(testToken))
	}
}

// goStream reads the stream's events, each of which must conform to the document's table of topics.
func (v *visitor) goStream() {
	schemas := map[string]string{"hello": "Hello", "gap": "Gap"}
	for _, topic := range allTopics {
		schemas[topic.Name] = topic.Content.Name()
	}
	status := v.status
	status.Total = enginetest.Amount(v.desk.t, "1")
	v.board.Show(status) // and one that changed
	seen := map[string]bool{}
	for _, e := range v.frames("?since=old-1&topics=" + strings.Join(topicNames(), ",")) {
		seen[e.topic] = true
		v.Check("event "+e.topic, "/components/schemas/"+schemas[e.topic], e.data)
	}
	for _, e := range framesOf(v.server.stream) {
		topic, data := parseFrame(string(e))
		seen[topic] = true
		v.Check("event "+topic, "/components/schemas/"+schemas[topic], []byte(data))
	}
	for topic := range schemas {
		if !seen[topic] {
			v.desk.t.Errorf("no event of topic %s", topic)
		}
	}
	v.server.stream.Close()
	v.call(http.StatusServiceUnavailable, "events", "", "", bearer(testToken))
}

// reported is one event as a client read it.
type reported struct {
	topic string
	data  []byte
}

// The document lists the codes, which are a closed set.
func TestEveryProblemHasACode(t *testing.T) {
	t.Parallel()
	v := newVisitor(t, newDesk(t))
	want := []any{}
	for _, code := range Codes {
		want = append(want, code)
	}
	property := v.At("components", "schemas", "Problem", "properties", "code")
	listed, _ := property["enum"].([]any)
	if !slices.Equal(want, listed) {
		t.Errorf("codes: want %v, have %v", want, listed)
	}
	for _, path := range []string{"/api/v1/nowhere", "/api/v1/orders?limit=0"} {
		_, text := v.ask(http.MethodGet, path, "", bearer(testToken))
		var p Problem
		if err := json.Unmarshal([]byte(text), &p); err != nil || !slices.Contains(listed, any(p.Code)) || p.RequestID == "" {
			t.Errorf("%s: want a code of %v and a request id, have %+v, %v", path, listed, p, err)
		}
	}
}
