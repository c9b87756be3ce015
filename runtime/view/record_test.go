package view

import (
	"fmt"
	"strings"
	"testing"

	"botd/exchange"
	"botd/internal/enginetest"
	"botd/reconcile/account"
	"botd/reconcile/ledger"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// journalled is a history with the rules of bitcoin, and what it publishes: topic and id.
func journalled() (h *History, published *[]string) {
	h, published = NewHistory(), &[]string{}
	h.Follow(func(key exchange.SymbolKey) (*exchange.Symbol, bool) { return bitcoin, key == bitcoin.Key() }, func(topic string, content any) {
		text := topic
		switch one := content.(type) {
		case Order:
			text += " " + one.ClientOrderID + " " + one.State
		case Fill:
			text += " " + one.ID + " " + one.Quantity
		case Audit:
			text += " " + one.Action
		case ClosedPosition:
			text += " " + one.ID
		}
		*published = append(*published, text)
	})
	return h, published
}

// takes has a history take records of one order, a second after another from the second given on.
func takes(h *History, id string, atMS int64, bodies ...record.Body) {
	for i, body := range bodies {
		h.Apply(&record.Record{AtMS: atMS + 1_000*int64(i), Strategy: "trend", Symbol: bitcoin.Key(), ClientOrderID: id, Body: body})
	}
}

func bought(quantity exchange.Quantity) record.Sending {
	return record.Sending{Purpose: placement.Order, Key: "k", Order: exchange.NewOrder{Market: future, Symbol: "BTC-USDT", Side: exchange.Buy,
		Type: exchange.Limit, Quantity: quantity, Price: exchange.Price(5_000_000_000_000), PostOnly: true}}
}

// TestWhatAnOrdersRecordsShow covers each end that an order may take.
func TestWhatAnOrdersRecordsShow(t *testing.T) {
	t.Parallel()
	limit := bought(30)
	limit.Order.Price = enginetest.Price(t, bitcoin, "50000")
	for _, c := range []struct {
		name    string
		records []record.Body
		want    string
		steps   string
	}{
		{"sent", []record.Body{limit}, `{"client_order_id":"a","order_id":0,"strategy":"trend","purpose":"order","key":"k","market":"futures",
		"symbol":"BTC-USDT",
			"side":"BUY","type":"LIMIT","state":"sending","live":true,"price":"50000","stop_price":"0","quantity":"0.03","quote_amount":null,
		"reduce_only":false,
			"close_position":false,"post_only":true,"filled":"0","mean_price":"0","sent_ms":1000,"ended_ms":null}`,
			"1000 journalled durable before its first byte"},
		{"acknowledged", []record.Body{limit, record.Acknowledged{OrderID: 7}}, `{"order_id":7,"state":"acknowledged"}`,
			"1000 journalled durable before its first byte, 2000 acknowledged"},
		{"refused", []record.Body{limit, record.Refused{Reason: "-2019"}}, `{"state":"refused","live":false,"reason":"-2019","ended_ms":2000}`,
			"1000 journalled durable before its first byte, 2000 refused -2019"},
		{"uncertain", []record.Body{limit, record.Uncertain{Reason: "timeout"}}, `{"state":"uncertain","live":true,"reason":"timeout"}`,
			"1000 journalled durable before its first byte, 2000 uncertain timeout"},
		{"filled in two parts", []record.Body{limit, record.Fill{OrderID: 7, Filled: 10}, record.Fill{OrderID: 7, Filled: 10},
			record.Ended{OrderID: 7, State: placement.Canceled, Filled: 25, Evidence: "GET"}},
			`{"state":"canceled","live":false,"filled":"0.025","evidence":"GET","ended_ms":4000}`,
			"1000 journalled durable before its first byte, 2000 fetched filled 0.01 more, 4000 fetched filled 0.015 more, 4000 settled canceled: GET"},
		{"withdrawn by a person", []record.Body{limit, record.Withdrawn{Reason: "old"}}, `{"state":"sending"}`,
			"1000 journalled durable before its first byte, 2000 withdrawn by a person: old"},
		{"botd starts again", []record.Body{limit, record.Boot{Epoch: 9}}, `{"state":"uncertain"}`,
			"1000 journalled durable before its first byte, 2000 uncertain botd was started again before its answer was known"},
		{"and again, once it is acknowledged", []record.Body{limit, record.Acknowledged{OrderID: 7}, record.Boot{Epoch: 9}}, `{"state":"acknowledged",
		"order_id":7}`,
			"1000 journalled durable before its first byte, 2000 acknowledged"},
		{"found on the exchange", []record.Body{record.Found{OrderID: 7, Order: limit.Order, Purpose: placement.Entry, Evidence: "its id is botd's"}},
			`{"order_id":7,"purpose":"entry"}`, "1000 fetched found on the exchange: its id is botd's"},
	} {
		h, _ := journalled()
		takes(h, "a", 1_000, c.records...)
		one, all, found := h.Order("a")
		if !found {
			t.Fatalf("%s: want the order", c.name)
		}
		shows(t, c.name, one, c.want)
		if have := steps(all); have != c.steps {
			t.Errorf("%s: want\n%s, have\n%s", c.name, c.steps, have)
		}
	}
}

func TestOrdersAreFoundByEitherID(t *testing.T) {
	t.Parallel()
	h, published := journalled()
	takes(h, "nobody's", 1_000, record.Acknowledged{OrderID: 5}, record.Withdrawn{})
	takes(h, "a", 1_000, bought(30), record.Acknowledged{OrderID: 7})
	takes(h, "b", 3_000, bought(30), record.Acknowledged{OrderID: 7}, record.Fill{OrderID: 7, Filled: 30})
	takes(h, "c", 6_000, bought(30), record.Withdrawn{})
	for id, want := range map[string]string{"a": "a", "7": "b", "c": "c", "0": "", "nobody's": "", "8": ""} {
		if one, _, found := h.Order(id); one.ClientOrderID != want || found != (want != "") {
			t.Errorf("%s: want %q, have %q", id, want, one.ClientOrderID)
		}
	}
	want := "audit cancel, order a sending, order a acknowledged, order b sending, order b acknowledged, fill 1 0.03, order b working, " +
		"order c sending, order c sending, audit cancel"
	if strings.Join(*published, ", ") != want {
		t.Errorf("want %s published, have %v", want, *published)
	}
	all, next := h.Orders(Page{Limit: 2}, func(*Order) bool { return true })
	shows(t, "newest first", all, `[{"client_order_id":"c"},{"client_order_id":"b"}]`)
	if next != "5" { // the number of b's first record
		t.Errorf("want the next page below 5, have %s", next)
	}
	all, next = h.Orders(Page{Limit: 2, After: 5}, func(*Order) bool { return true })
	if shows(t, "the rest", all, `[{"client_order_id":"a"}]`); next != "" {
		t.Errorf("want no further page, have %s", next)
	}
	fills, _ := h.Fills(Page{Limit: 9}, func(f *Fill) bool { return f.Strategy == "trend" })
	shows(t, "fills", fills, `[{"id":"1","at_ms":5000,"client_order_id":"b","order_id":7,"strategy":"trend","purpose":"order","market":"futures",
		"symbol":"BTC-USDT",
		"side":"BUY","quantity":"0.03","price":"0","fee":null,"derived":null}]`)
}

// TestAPositionIsDatedByItsFills covers a position that fills explain, and one that they do not.
func TestAPositionIsDatedByItsFills(t *testing.T) {
	t.Parallel()
	h, _ := journalled()
	takes(h, "a", 1_000, bought(20), record.Fill{Filled: 20})
	for position, want := range map[exchange.Quantity]int64{20: 2_000, 30: 5, 0: 5} {
		s := Strategy{Name: "trend", SinceMS: 5, key: bitcoin.Key(), ownPosition: position}
		p := Position{Strategy: "trend", SinceMS: 5, key: bitcoin.Key(), ownPosition: position}
		h.DateStrategy(&s)
		h.DatePosition(&p)
		if s.SinceMS != want || p.SinceMS != want {
			t.Errorf("position %d: want %d, have %d and %d", position, want, s.SinceMS, p.SinceMS)
		}
	}
}

// TestASnapshotsNewsReachesTheOrders covers live orders that the records do not show yet.
func TestASnapshotsNewsReachesTheOrders(t *testing.T) {
	t.Parallel()
	h, published := journalled()
	takes(h, "a", 1_000, bought(30))
	takes(h, "ended", 2_000, bought(30), record.Ended{State: placement.Canceled})
	*published = nil
	live := func(id string, state placement.State) account.Placement {
		return order(id, placement.Order, state, 1_000, nil)
	}
	h.observe([]account.Placement{live("a", placement.Working), live("ended", placement.Working), live("new", placement.Acknowledged)}, 5_000)
	h.observe([]account.Placement{live("a", placement.Working), live("new", placement.Working)}, 6_000)
	if want := "order a working, order new acknowledged, order new working"; strings.Join(*published, ", ") != want {
		t.Errorf("want %s, have %v", want, *published)
	}
	for id, want := range map[string]string{"a": "1000 journalled durable before its first byte, 5000 fetched seen on the exchange",
		"new": "6000 fetched seen on the exchange", "ended": "2000 journalled durable before its first byte, 3000 settled canceled:"} {
		if _, all, _ := h.Order(id); steps(all) != want {
			t.Errorf("%s: want %s, have %s", id, want, steps(all))
		}
	}
	if one, _, _ := h.Order("11"); one.ClientOrderID != "new" { // the exchange's id
		t.Errorf("want the newest of order 11, have %+v", one)
	}
}

// TestAnOrderHasABoundedNumberOfSteps uses an order that fills in a hundred parts.
func TestAnOrderHasABoundedNumberOfSteps(t *testing.T) {
	t.Parallel()
	h, _ := journalled()
	takes(h, "a", 1_000, bought(200))
	for n := range exchange.Quantity(100) {
		takes(h, "a", 2_000, record.Fill{Filled: n + 1})
	}
	if _, all, _ := h.Order("a"); len(all) != 64 {
		t.Errorf("want 64 steps, have %d", len(all))
	}
}

// TestWhatTheAuditShows covers each record of a change, and the text that describes it.
func TestWhatTheAuditShows(t *testing.T) {
	t.Parallel()
	h, published := journalled()
	of := func(strategy string, key exchange.SymbolKey, body record.Body) {
		h.Apply(&record.Record{AtMS: 5, Strategy: strategy, Symbol: key, ClientOrderID: "a", Body: body})
	}
	none := exchange.SymbolKey{}
	for _, c := range []struct {
		strategy string
		key      exchange.SymbolKey
		body     record.Body
		want     string // empty: it is no change
	}{
		{"", none, record.Audit{Actor: "phone", Role: "operator", From: "10.0.0.1", Action: "POST /api/v1/halt", Object: "account", Detail: "news",
			RequestID: "r1"},
			`{"kind":"audit","actor":"phone","role":"operator","from":"10.0.0.1","action":"POST /api/v1/halt","target":"account","detail":"news",
		"request_id":"r1"}`},
		{"", none, record.Halt{Level: record.LevelFlatten, Reason: "news"}, `{"kind":"halt","actor":"botd","action":"halt flatten","target":"account",
		"detail":"news"}`},
		{"trend", none, record.Halt{Reason: "over"}, `{"action":"rearm","target":"strategy trend","detail":"over"}`},
		{"", none, record.Limit{Rule: "max_orders", Value: "3", Reason: "careful"}, `{"action":"limit max_orders 3","detail":"careful"}`},
		{"", none, record.Limit{Rule: "max_orders"}, `{"action":"limit max_orders as configured"}`},
		{"", none, record.Breach{Rule: "daily_loss", Reason: "5 %"}, `{"action":"limit daily_loss breached","detail":"5 %"}`},
		{"", none, record.Breach{Rule: "daily_loss"}, `{"action":"limit daily_loss is no longer breached"}`},
		{"", bitcoin.Key(), record.Quarantined{Reason: "5 steps more"}, `{"action":"quarantine","target":"symbol futures BTC-USDT","detail":"5 steps more"}`},
		{"", bitcoin.Key(), record.Adopted{Evidence: "two snapshots"}, `{"action":"adopted","detail":"two snapshots"}`},
		{"", bitcoin.Key(), record.Ignored{Evidence: "by hand"}, `{"action":"ignored","detail":"by hand"}`},
		{"", bitcoin.Key(), record.Found{Evidence: "its id"}, `{"action":"found","detail":"its id"}`},
		{"", none, record.Withdrawn{Reason: "old"}, `{"action":"cancel","target":"order a","detail":"old"}`},
		{"", none, record.Breaker{Reason: "5 refusals"}, `{"action":"breaker","detail":"5 refusals"}`},
		{"", none, record.Boot{Epoch: 12}, `{"action":"start","detail":"epoch 12"}`},
		{"", none, record.Config{Hash: "abc"}, `{"action":"configuration","detail":"abc"}`},
		{"trend", bitcoin.Key(), bought(5), ""},
		{"trend", none, record.Memory{}, ""},
	} {
		before := len(h.audits.all)
		of(c.strategy, c.key, c.body)
		if grown := len(h.audits.all) > before; grown != (c.want != "") {
			t.Errorf("%T: want it listed %t, have %t", c.body, c.want != "", grown)
		}
		if c.want != "" {
			items, _ := h.Audits(Page{Limit: 1}, func(*Audit) bool { return true })
			shows(t, fmt.Sprintf("%T", c.body), items, "["+c.want+"]")
			if items[0].ID != fmt.Sprint(h.recordCount) || items[0].AtMS != 5 {
				t.Errorf("%T: want the record's number and time, have %+v", c.body, items[0])
			}
		}
	}
	if !h.Journaled("r1") || h.Journaled("r2") {
		t.Error("want r1 in the journal, and no r2")
	}
	if have := (*published)[0]; have != "audit POST /api/v1/halt" {
		t.Errorf("want it published, have %s", have)
	}
}

// TestMarksOfAChart covers the starts, halts, breakers and limits from a moment until another.
func TestMarksOfAChart(t *testing.T) {
	t.Parallel()
	h, _ := journalled()
	for i, body := range []record.Body{record.Boot{}, record.Halt{Reason: "early"}, record.Breaker{}, record.Config{}, record.Breach{Rule: "x"}, record.Audit{},
		record.Halt{}} {
		h.Apply(&record.Record{AtMS: int64(i), Body: body})
	}
	for _, c := range []struct {
		from, to int64
		want     string
	}{{0, 9, "boot halt breaker breach halt"}, {1, 6, "halt breaker breach"}, {2, 2, ""}, {5, 7, "halt"}} {
		var have []string
		for _, mark := range h.Marks(c.from, c.to) {
			have = append(have, mark.Kind)
		}
		if strings.Join(have, " ") != c.want {
			t.Errorf("%d to %d: want %s, have %v", c.from, c.to, c.want, have)
		}
	}
}

// TestWhatADifferenceShows covers each kind, and a quarantine that a person ends.
func TestWhatADifferenceShows(t *testing.T) {
	t.Parallel()
	h, _ := journalled()
	other := exchange.SymbolKey{Market: exchange.Spot, Name: "ETH-USDT"}
	of := func(atMS int64, key exchange.SymbolKey, body record.Body) {
		h.Apply(&record.Record{AtMS: atMS, Symbol: key, Body: body})
	}
	of(1, other, record.Quarantined{Reason: "no list"})
	of(2, bitcoin.Key(), record.Quarantined{Reason: "5 steps more"})
	of(3, bitcoin.Key(), record.Ignored{Quantity: -5, OrderID: 9, Evidence: "by hand"})
	of(4, bitcoin.Key(), record.Adopted{Quantity: 5, Evidence: "two snapshots"})
	of(5, bitcoin.Key(), record.Found{OrderID: 7, Evidence: "its id"})
	h.Apply(&record.Record{AtMS: 6, Body: record.Posting{Posting: ledger.Posting{Lines: []ledger.Line{
		{Account: ledger.Fees, Symbol: bitcoin.Key(), Asset: "USDT", Amount: exchange.AmountOf(1)},
		{Account: ledger.Unexplained, Symbol: exchange.SymbolKey{Market: future}, Asset: "USDT", Amount: exchange.AmountOf(-12)}}}}})
	all, _ := h.Differences(Page{Limit: 9}, func(*Difference) bool { return true })
	shows(t, "differences", all, `[{"id":"6","at_ms":6,"kind":"unexplained","market":"futures","amount":"12","asset":"USDT","open":false,
		"text":"the wallet has changed by 12 USDT that no fill, fee or funding explains"},
		{"id":"5","at_ms":5,"kind":"found","market":"futures","symbol":"BTC-USDT","order_id":7,"text":"its id","quantity":null},
		{"id":"4","kind":"adopted","quantity":"0.005","text":"two snapshots"},{"id":"3","kind":"ignored","quantity":"-0.005","order_id":9,"text":"by hand"},
		{"id":"2","kind":"quarantine","text":"5 steps more","open":false,"ended_ms":3},
		{"id":"1","kind":"quarantine","market":"spot","symbol":"ETH-USDT","open":true,"ended_ms":null}]`)
	of(7, other, record.Quarantined{Reason: "again"})
	open, _ := h.Differences(Page{Limit: 9}, func(d *Difference) bool { return d.Open })
	shows(t, "a quarantine that follows another ends it", open, `[{"id":"7","text":"again"}]`)
}

// TestWhatARoundTripShows covers positions that strategies and others closed.
func TestWhatARoundTripShows(t *testing.T) {
	t.Parallel()
	a := exchange.MustAmount
	trip := ledger.RoundTrip{Strategy: "trend", Symbol: bitcoin.Key(), Asset: "USDT", PositionID: 7, Side: exchange.Sell, Quantity: a("0.02"),
		EntryPrice: a("50000"),
		ExitPrice:  a("49900"), Realized: a("2"), Fees: a("1.25"), Funding: a("-0.5"), EnteredMS: 10, LeftMS: 20, By: placement.StopLoss,
		Derived: true, Whole: true}
	manual, liquidated := trip, trip
	manual.Strategy, manual.By, manual.Side = "", 0, exchange.Buy
	liquidated.Liquidated, liquidated.Asset = true, "BTC"
	h := NewHistory()
	for _, one := range []ledger.RoundTrip{trip, manual, liquidated} {
		h.closed.add(one)
	}
	every := func(string, string, string) bool { return true }
	trips, _ := h.RoundTrips(Page{Limit: 9}, every)
	shows(t, "of strategies", trips, `[{"id":"3","exit_purpose":"liquidation"},{"id":"1","strategy":"trend","market":"futures","symbol":"BTC-USDT",
		"side":"SHORT",
		"quantity":"0.02","entry_price":"50000","exit_price":"49900","opened_ms":10,"closed_ms":20,"asset":"USDT","realized":"2","fees":"1.25","funding":"-0.5",
		"pnl":"1.25","derived":true,"complete":true,"exit_purpose":"stop_loss","position_id":7}]`)
	ended, next := h.ClosedPositions(Page{Limit: 2}, every)
	if shows(t, "of all", ended, `[{"id":"3","liquidated":true},{"id":"2","strategy":"","side":"LONG","exit_purpose":"manual","liquidated":false,
		"exit_price":"49900",
		"opened_ms":10,"closed_ms":20,"pnl":"1.25","position_id":7}]`); next != "2" {
		t.Errorf("want a further page below 2, have %s", next)
	}
	ended, _ = h.ClosedPositions(Page{Limit: 9}, func(strategy, market, symbol string) bool {
		return strategy == "" && market == "futures" && symbol == "BTC-USDT"
	})
	shows(t, "chosen", ended, `[{"id":"2"}]`)
}

// TestAClosedRoundTripIsBooked covers a round trip of the strategy, from the fills and the readings of the money: 0.002 bought at 60,000 and sold at 60,105,
// with fees of 0.12.
func TestAClosedRoundTripIsBooked(t *testing.T) {
	t.Parallel()
	for _, since := range []int64{4, 5} { // the readings are of 4
		var closed []string
		h, published := journalled()
		h.Closed(since, func(trip *ledger.RoundTrip) { closed = append(closed, trip.Strategy+" "+trip.Realized.String()) })
		p := &pricing{h: h}
		p.reads("0", nil, nil)
		p.fills(exchange.Buy, 2)
		p.reads("0.06", position("0.002", "0.002", "60000", "0", "0"), nil)
		p.fills(exchange.Sell, 2)
		p.reads("0.06", nil, position("0.002", "0", "60000", "60105", "0.21"))
		if last := (*published)[len(*published)-1]; last != "trade 1" {
			t.Errorf("want the round trip published, have %s", last)
		}
		if want := map[int64]string{4: "[trend 0.21]", 5: "[]"}[since]; fmt.Sprint(closed) != want {
			t.Errorf("since %d: want %s, have %v", since, want, closed)
		}
		trips, _ := h.RoundTrips(Page{Limit: 9}, func(string, string, string) bool { return true })
		shows(t, "the trip", trips, `[{"strategy":"trend","side":"LONG","quantity":"0.002","realized":"0.21"}]`)
		if have := h.ClosedNet("trend").String(); have != trips[0].PNL {
			t.Errorf("want the net of the one trip, %s, have %s", trips[0].PNL, have)
		}
	}
}
