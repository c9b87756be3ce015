package view

import (
	"fmt"
	"strings"
	"testing"

	"botd/exchange"
	"botd/internal/enginetest"
	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/risk"
	"botd/runtime/engine"
	"botd/strategy"
)

// intent is a purchase at market, or another purpose of one.
func intent(purpose placement.Purpose, quantity exchange.Quantity) *reconcile.Intent {
	return &reconcile.Intent{Strategy: "trend", Purpose: purpose, Reason: "crossed",
		Order: exchange.NewOrder{Market: future, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: quantity}}
}

func noted(b *Board, atMS int64, facts ...engine.Fact) {
	for i, fact := range facts {
		b.Note(&engine.Note{AtMS: atMS + int64(i), Strategy: "trend", Symbol: bitcoin, Fact: fact})
	}
}

func sent(id string, orderID int64, of *reconcile.Intent) engine.NoteOrder {
	return engine.NoteOrder{Purpose: of.Purpose, ClientOrderID: id, OrderID: orderID, Order: of.Order}
}

// TestTheLifeOfAnIntent covers each way that it may take, with its steps.
func TestTheLifeOfAnIntent(t *testing.T) {
	t.Parallel()
	entry := intent(placement.Entry, 30)
	entry.Last = enginetest.Price(t, bitcoin, "50100")
	passed := []risk.Verdict{{Rule: "max_position", Scope: "account", Outcome: risk.Passed, Value: "0.03", Limit: "0.1"}, {Rule: "margin",
		Outcome: risk.Passed}}
	placed := []engine.Fact{engine.NoteIntent{Intent: entry}, engine.NoteApproved{Intent: entry, Verdicts: passed}, engine.NotePlaced{NoteOrder: sent("a", 0,
		entry)}}
	after := func(facts ...engine.Fact) []engine.Fact { return append(append([]engine.Fact{}, placed...), facts...) }
	for _, c := range []struct {
		name  string
		facts []engine.Fact
		want  string // the intent
		steps string
	}{
		{"derived", placed[:1], `{"id":"1","at_ms":10,"strategy":"trend","purpose":"entry","market":"futures","symbol":"BTC-USDT","side":"BUY","type":"MARKET",
			"quantity":"0.03","quote_amount":null,"price":null,"stop_price":null,"last_price":"50100","reason":"crossed","outcome":"derived","order":null,
		"checks":[]}`,
			"10 derived crossed"},
		{"approved", placed[:2], `{"outcome":"approved","checks":[{"rule":"max_position","scope":"account","verdict":"passed","value":"0.03","limit":"0.1"},
			{"rule":"margin","verdict":"passed"}]}`, "10 derived crossed, 11 checked 2 checks passed"},
		{"refused by a rule", []engine.Fact{placed[0], engine.NoteRejection{Intent: entry, Rejection: &risk.Rejection{Rule: "margin", Value: "9", Limit: "8",
			Hint: "less"},
			Verdicts: []risk.Verdict{{Rule: "margin", Outcome: risk.Rejected, Hint: "less"}, {Rule: "max_orders", Outcome: risk.NotReached}}}},
			`{"outcome":"refused","rule":"margin","checks":[{"verdict":"refused","hint":"less"},{"verdict":"not_reached"}]}`,
			"10 derived crossed, 11 refused " + (&risk.Rejection{Rule: "margin", Value: "9", Limit: "8", Hint: "less"}).Error()},
		{"placed", placed, `{"outcome":"placed","client_order_id":"a"}`, "10 derived crossed, 11 checked 2 checks passed, 12 sent as a"},
		{"acknowledged", after(engine.NoteAcknowledged{NoteOrder: sent("a", 7, entry), DurationMS: 30}), `{"outcome":"acknowledged","order_id":7}`,
			"10 derived crossed, 11 checked 2 checks passed, 12 sent as a, 13 acknowledged order 7, after 30 ms"},
		{"refused by the exchange", after(engine.NoteRefused{NoteOrder: sent("a", 0, entry), Reason: "-2019"}), `{"outcome":"refused_by_exchange",
		"detail":"-2019"}`,
			"10 derived crossed, 11 checked 2 checks passed, 12 sent as a, 13 refused -2019"},
		{"uncertain", after(engine.NoteUncertain{NoteOrder: sent("a", 0, entry), Reason: "timeout"}), `{"outcome":"uncertain","detail":"timeout"}`,
			"10 derived crossed, 11 checked 2 checks passed, 12 sent as a, 13 uncertain timeout"},
		{"filled and settled", after(engine.NoteFill{NoteOrder: sent("a", 7, entry), Quantity: 12},
			engine.NoteSettled{NoteOrder: sent("a", 7, entry), State: placement.Canceled, Evidence: "GET"}), `{"outcome":"canceled","detail":"GET"}`,
			"10 derived crossed, 11 checked 2 checks passed, 12 sent as a, 13 fetched filled 0.012 more, 14 settled canceled: GET"},
		{"of another order", after(engine.NoteRefused{NoteOrder: sent("b", 0, entry), Reason: "-2019"}), `{"outcome":"placed"}`,
			"10 derived crossed, 11 checked 2 checks passed, 12 sent as a"},
	} {
		b := NewBoard("demo", "main")
		noted(b, 10, c.facts...)
		one, found := b.Intent("1", NewHistory())
		if !found {
			t.Fatalf("%s: want the intent", c.name)
		}
		shows(t, c.name, one, c.want)
		if have := steps(one.Steps); have != c.steps {
			t.Errorf("%s: want the steps\n%s, have\n%s", c.name, c.steps, have)
		}
	}
}

func steps(all []Step) string {
	var text []string
	for _, s := range all {
		text = append(text, strings.TrimSpace(fmt.Sprint(s.AtMS, " ", s.Step, " ", s.Text)))
	}
	return strings.Join(text, ", ")
}

// TestAnIntentHasABoundedNumberOfSteps uses an order that fills in a hundred parts.
func TestAnIntentHasABoundedNumberOfSteps(t *testing.T) {
	t.Parallel()
	b, entry := NewBoard("demo", "main"), intent(placement.Entry, 200)
	noted(b, 10, engine.NoteIntent{Intent: entry}, engine.NoteApproved{Intent: entry}, engine.NotePlaced{NoteOrder: sent("a", 0, entry)})
	for range 100 {
		noted(b, 20, engine.NoteFill{NoteOrder: sent("a", 7, entry), Quantity: 1})
	}
	if one, _ := b.Intent("1", NewHistory()); len(one.Steps) != 64 {
		t.Errorf("want 64 steps, have %d", len(one.Steps))
	}
}

// TestAPlacementBelongsToTheIntentThatAskedForIt covers two approved intents of one purpose that differ in one thing.
func TestAPlacementBelongsToTheIntentThatAskedForIt(t *testing.T) {
	t.Parallel()
	price := enginetest.Price(t, bitcoin, "50000")
	for name, change := range map[string]func(i *reconcile.Intent){
		"strategy": func(i *reconcile.Intent) { i.Strategy = "hold" }, "purpose": func(i *reconcile.Intent) { i.Purpose = placement.Exit },
		"side": func(i *reconcile.Intent) { i.Order.Side = exchange.Sell }, "type": func(i *reconcile.Intent) { i.Order.Type = exchange.Limit },
		"quantity": func(i *reconcile.Intent) { i.Order.Quantity = 31 }, "price": func(i *reconcile.Intent) { i.Order.Price = price },
		"stop price": func(i *reconcile.Intent) { i.Order.StopPrice = price },
		"amount":     func(i *reconcile.Intent) { i.Order.QuoteAmount = exchange.AmountOf(5) },
	} {
		b := NewBoard("demo", "main")
		asked, other := intent(placement.Entry, 30), intent(placement.Entry, 30)
		change(other)
		noted(b, 10, engine.NoteIntent{Intent: asked}, engine.NoteApproved{Intent: intent(placement.Entry, 30)}, engine.NoteIntent{Intent: other},
			engine.NoteApproved{Intent: intent(placement.Entry, 30)},
			engine.NotePlaced{NoteOrder: sent("a", 0, asked)})
		items, _ := b.Intents(Page{Limit: 9}, func(*Intent) bool { return true })
		if items[0].Outcome != "approved" || items[1].Outcome != "placed" || items[1].ClientOrderID != "a" {
			t.Errorf("another %s: want the first placed, have %+v", name, items)
		}
	}
	b := NewBoard("demo", "main")
	same := intent(placement.Entry, 30)
	noted(b, 10, engine.NoteApproved{Intent: intent(placement.Entry, 30)}, engine.NoteIntent{Intent: same}, engine.NotePlaced{NoteOrder: sent("x", 0, same)},
		engine.NoteApproved{Intent: intent(placement.Entry, 30)},
		engine.NotePlaced{NoteOrder: sent("a", 0, same)}, engine.NoteIntent{Intent: same}, engine.NoteApproved{Intent: intent(placement.Entry, 30)},
		engine.NotePlaced{NoteOrder: sent("b", 0, same)})
	items, _ := b.Intents(Page{Limit: 9}, func(*Intent) bool { return true })
	if len(items) != 2 || items[0].ClientOrderID != "b" || items[1].ClientOrderID != "a" {
		t.Errorf("one after the other: want b and a, have %+v", items)
	}
}

// TestACancelIsAnIntentOfItsOwn covers a cancel of an order whose own intent is requested by the order's id.
func TestACancelIsAnIntentOfItsOwn(t *testing.T) {
	t.Parallel()
	b, h := NewBoard("demo", "main"), NewHistory()
	entry, cancel, leverage := intent(placement.Entry, 30), intent(placement.Cancel, 0), intent(placement.Leverage, 0)
	cancel.ClientID, cancel.OrderID, leverage.Leverage = "a", 7, 5
	noted(b, 10, engine.NoteIntent{Intent: entry}, engine.NoteApproved{Intent: intent(placement.Entry, 30)}, engine.NotePlaced{NoteOrder: sent("a", 0,
		entry)}, engine.NoteIntent{Intent: cancel},
		engine.NoteApproved{Intent: intent(placement.Entry, 30)}, engine.NoteIntent{Intent: leverage}, engine.NoteRefused{NoteOrder: sent("a", 0, entry),
			Reason: "gone"})
	items, _ := b.Intents(Page{Limit: 9}, func(*Intent) bool { return true })
	shows(t, "newest first", items, `[{"id":"3","purpose":"leverage","quantity":"5","side":null,"outcome":"derived"},
		{"id":"2","purpose":"cancel","client_order_id":"a","order_id":7,"side":null,"quantity":null,"outcome":"approved"},
		{"id":"1","purpose":"entry","client_order_id":"a","outcome":"refused_by_exchange"}]`)
	one, _ := b.Intent("a", h)
	shows(t, "by its order's id", one, `{"id":"1","purpose":"entry"}`)
	if _, found := b.Intent("9", h); found {
		t.Error("want no intent 9")
	}
}

// TestAnIntentHasTheJournalsSteps covers an order of this run, and one of a run before it.
func TestAnIntentHasTheJournalsSteps(t *testing.T) {
	t.Parallel()
	b, h := NewBoard("demo", "main"), NewHistory()
	h.Follow(func(exchange.SymbolKey) (*exchange.Symbol, bool) { return bitcoin, true }, func(string, any) {})
	entry := intent(placement.Entry, 30)
	noted(b, 10, engine.NoteIntent{Intent: entry}, engine.NoteApproved{Intent: intent(placement.Entry, 30)}, engine.NotePlaced{NoteOrder: sent("a", 0, entry)},
		engine.NoteAcknowledged{NoteOrder: sent("a", 7, entry)})
	for _, id := range []string{"old", "a"} {
		h.Apply(&record.Record{AtMS: 12, Strategy: "trend", Symbol: bitcoin.Key(), ClientOrderID: id, Body: record.Sending{Purpose: placement.Entry,
			Order: entry.Order}})
		h.Apply(&record.Record{AtMS: 13, ClientOrderID: id, Body: record.Acknowledged{OrderID: 7}})
		h.Apply(&record.Record{AtMS: 20, ClientOrderID: id, Body: record.Withdrawn{Reason: "by hand"}})
		h.Apply(&record.Record{AtMS: 21, ClientOrderID: id, Body: record.Ended{OrderID: 7, State: placement.Canceled, Evidence: "GET"}})
	}
	one, _ := b.Intent("1", h)
	want := "10 derived crossed, 11 checked 0 checks passed, 12 journalled durable before its first byte, 12 sent as a, 13 acknowledged order 7, after 0 ms, " +
		"20 withdrawn by a person: by hand"
	if have := steps(one.Steps); have != want || one.Order == nil || one.Order.ClientOrderID != "a" {
		t.Errorf("want\n%s, have\n%s", want, have)
	}
	one, found := b.Intent("old", h)
	shows(t, "of the run before", one, `{"id":"old","at_ms":12,"strategy":"trend","purpose":"entry","market":"futures","symbol":"BTC-USDT","side":"BUY",
		"type":"MARKET",
		"quantity":"0.03","outcome":"canceled","detail":"GET","client_order_id":"old","order_id":7,"order":{"client_order_id":"old","state":"canceled"},
		"checks":[]}`)
	want = "12 journalled durable before its first byte, 13 acknowledged, 20 withdrawn by a person: by hand, 21 settled canceled: GET"
	if have := steps(one.Steps); have != want || !found {
		t.Errorf("want\n%s, have\n%s", want, have)
	}
}

// TestWhatAHaltSends covers the requests of a halt in words.
func TestWhatAHaltSends(t *testing.T) {
	t.Parallel()
	last := enginetest.Price(t, bitcoin, "50100")
	exit := intent(placement.Exit, 20)
	exit.Order.Side, exit.Order.ReduceOnly, exit.Last = exchange.Sell, true, last
	limit, whole, stop := *exit, *exit, *exit
	limit.Order.Type, limit.Order.Price = exchange.Limit, enginetest.Price(t, bitcoin, "50000")
	whole.Order.ClosePosition, whole.Order.Quantity = true, 0
	stop.Order.StopPrice = enginetest.Price(t, bitcoin, "49000")
	cancel := reconcile.Intent{Purpose: placement.Cancel, ClientID: "a", OrderID: 7}
	unnumbered := cancel
	unnumbered.OrderID = 0
	for _, c := range []struct {
		step engine.Step
		want string
	}{
		{engine.Step{Intent: *exit}, `{"strategy":"trend","market":"futures","symbol":"BTC-USDT","action":"exit","side":"SELL","type":"MARKET",
		"quantity":"0.02",
			"price":null,"stop_price":null,"reduce_only":true,"close_position":null,"later":null,
			"text":"close by SELL MARKET 0.02 on futures BTC-USDT (about 1002 USDT)"}`},
		{engine.Step{Intent: limit, Later: true}, `{"price":"50000","later":true,
			"text":"close by SELL LIMIT 0.02 on futures BTC-USDT at 50000 or better (about 1002 USDT), once the cancels are confirmed"}`},
		{engine.Step{Intent: whole}, `{"quantity":null,"close_position":true,"text":"close by SELL MARKET the whole position on futures BTC-USDT"}`},
		{engine.Step{Intent: stop}, `{"stop_price":"49000"}`},
		{engine.Step{Intent: cancel}, `{"action":"cancel","client_order_id":"a","order_id":7,"side":null,"text":"cancel order 7 (a) on futures BTC-USDT"}`},
		{engine.Step{Intent: unnumbered}, `{"order_id":null,"text":"cancel order a on futures BTC-USDT, once its id is known"}`},
	} {
		c.step.Strategy, c.step.Symbol = "trend", bitcoin
		shows(t, c.step.Intent.Purpose.String(), HaltStepOf(&c.step), c.want)
	}
}

// TestWhatAQuarantineShows covers quarantines of a symbol with rules, and of one whose rules are unknown.
func TestWhatAQuarantineShows(t *testing.T) {
	t.Parallel()
	q := engine.Quarantine{Symbol: bitcoin.Key(), Rules: bitcoin, Strategy: "trend", Cause: "5 steps more", SinceMS: 1_000, Venue: 25, Known: 20, Ignored: 2,
		Difference: 3,
		Uncertain:  []account.Placement{order("u", placement.Entry, placement.Uncertain, 5, nil)}, Adopt: []string{"adopts 0.003"},
		Blocked: "it is not read yet",
		Orders: []exchange.Order{{ID: 9, ClientOrderID: "by-hand", Side: exchange.Sell, Type: exchange.Limit, Quantity: 4, Filled: 1,
			Price: enginetest.Price(t, bitcoin, "51000"), StopPrice: enginetest.Price(t, bitcoin, "50900")}}}
	shows(t, "with rules", QuarantineOf(&q), `{"market":"futures","symbol":"BTC-USDT","strategy":"trend","cause":"5 steps more","since":"1970-01-01T00:00:01Z",
		"position":"0.025","explained":"0.02","ignored":"0.002","difference":"0.003","unknown":[{"client_order_id":"u","state":"uncertain","quantity":"0.03"}],
		"orders":[{"order_id":9,"client_order_id":"by-hand","side":"SELL","type":"LIMIT","quantity":"0.004","filled":"0.001","price":"51000",
		"stop_price":"50900"}],
		"adopt":["adopts 0.003"],"ignore":[],"blocked":"it is not read yet"}`)
	q.Rules, q.Orders[0].Price, q.Orders[0].StopPrice = nil, 510, 509
	shows(t, "in steps", QuarantineOf(&q), `{"position":"25","unknown":[{"quantity":""}],"orders":[{"quantity":"4","filled":"1","price":"510",
		"stop_price":"509"}]}`)
}

// TestWhatAPreviewShows covers each outcome of an intent that would be derived.
func TestWhatAPreviewShows(t *testing.T) {
	t.Parallel()
	last := enginetest.Price(t, bitcoin, "50100")
	spend := intent(placement.Entry, 5)
	spend.Order.QuoteAmount = exchange.AmountOf(250)
	refused := []risk.Verdict{{Rule: "max_position", Outcome: risk.Passed}, {Rule: "margin", Outcome: risk.Rejected}, {Rule: "max_orders",
		Outcome: risk.NotReached}}
	entry := *intent(placement.Entry, 30)
	o := engine.TickPreview{Strategy: "trend", Kind: "ma_cross", Symbol: bitcoin, Interval: exchange.Minute1, NowMS: nowMS, NextMS: nowMS + 1, Seen: 40,
		Warmup: 30,
		Candle: exchange.Candle{Open: last, High: last + 1, Low: last - 1, Close: last}, CandleMS: 5, Last: last, LastMS: 6, Position: 20,
		EntryPrice: exchange.AmountOf(50_000), Equity: exchange.AmountOf(10_000), Changes: true, Latch: 1,
		Conditions: []strategy.Condition{{Name: "fast over slow", Value: "1.2", Requires: "> 1", Met: true}},
		Plan:       strategy.Plan{Target: strategy.Flat()},
		Steps: []engine.PreviewedIntent{{Intent: entry, Approved: true}, {Intent: entry, Verdicts: refused}, {Intent: entry, Approved: true, Later: true},
			{Intent: entry, Approved: true, RefusedBy: "-2019, again at 10:00"}, {Intent: entry, RefusedBy: "-2019", Verdicts: refused}, {Intent: *spend,
				Approved: true}},
		Blocks: []engine.Block{{What: "halted", Remedy: "botd rearm"}}}
	shows(t, "a tick", TickPreviewOf(&o), `{"strategy":"trend","kind":"ma_cross","market":"futures","symbol":"BTC-USDT","interval":"1m","at_ms":1700000100000,
		"next_tick_ms":1700000100001,"changes":true,"latch":"long","data":{"candles":40,"warmup":30,"open":"50100","close":"50100","candle_close_ms":5,
		"last_price":"50100","last_price_ms":6,"position":"0.02","entry_price":"50000","equity":"10000"},
		"conditions":[{"name":"fast over slow","value":"1.2","requires":"> 1","wants":"> 1","met":true,"holds":true}],"plan_in_force":{"target":null},
		"plan":{"target":"0 BTC-USDT"},"blocks":[{"what":"halted","remedy":"botd rearm"}],
		"steps":[{"purpose":"entry","side":"BUY","type":"MARKET","quantity":"0.03","reason":"crossed","outcome":"approved","rule":null},{"outcome":"refused",
		"rule":"margin"},
		{"outcome":"waits"},{"outcome":"waits","refused_by":"-2019, again at 10:00"},{"outcome":"refused","rule":"margin"},
		{"outcome":"approved","quote_amount":"250","quantity":null}]}`)
	o.CandleMS, o.Latch = 0, 0
	shows(t, "before the first candle", TickPreviewOf(&o), `{"latch":null,"data":{"open":null,"close":null}}`)
}
