package risk

import (
	"testing"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// A reduction is bounded by botd's part of the position, by the whole position, and by other reductions. The bounds are
// computed manually.
func TestReductionIsBoundedByPosition(t *testing.T) {
	t.Parallel()
	rest := func(side exchange.Side, quantity exchange.Quantity) exchange.NewOrder {
		return exchange.NewOrder{Side: side, Type: exchange.Limit, Price: 60_000e8, Quantity: quantity, ReduceOnly: true}
	}
	ether := exchange.SymbolKey{Market: exchange.Futures, Name: "ETH-USDT"}
	for _, c := range []struct {
		name   string
		set    func(b *table)
		intent reconcile.Intent
		rule   string // the refusing rule; empty for none
	}{
		{"no part of it is botd's", func(b *table) { see(b.state, func(o *seen) { o.Position = 0 }); b.ignore(100) }, exit(1, exchange.Sell), "reduce_only"},
		{"nothing is left of it", func(b *table) { b.hold(100); b.ignore(-100) }, exit(1, exchange.Sell), "reduce_only"},
		{"the least of a long one", func(b *table) { b.hold(1) }, exit(1, exchange.Sell), ""},
		{"the least of a short one", func(b *table) { b.hold(-1) }, exit(1, exchange.Buy), ""},
		{"others are the other way by more", func(b *table) { b.hold(100); b.ignore(-101) }, exit(1, exchange.Sell), "reduce_only"},
		{"others are the other way by less", func(b *table) { b.hold(100); b.ignore(-99) }, exit(1, exchange.Sell), ""},
		{"and then only what is left", func(b *table) { b.hold(100); b.ignore(-99) }, exit(2, exchange.Sell), "reduce_only"},
		{"one resting exit, and room", func(b *table) { b.hold(100); b.live("x", rest(exchange.Sell, 60), placement.ExitOrder) }, exit(40, exchange.Sell), ""},
		{"one resting exit, and no room", func(b *table) { b.hold(100); b.live("x", rest(exchange.Sell, 60), placement.ExitOrder) }, exit(41, exchange.Sell),
			"reduce_only_sum"},
		{"all at market sweeps what rests", func(b *table) { b.hold(100); b.live("x", rest(exchange.Sell, 60), placement.ExitOrder) },
			exit(100, exchange.Sell), ""},
		{"all at a limit does not", func(b *table) { b.hold(100); b.live("x", rest(exchange.Sell, 60), placement.ExitOrder) },
			reconcile.Intent{Purpose: placement.ExitOrder, Key: "k", Order: rest(exchange.Sell, 100)}, "reduce_only_sum"},
		{"an exit of another symbol", func(b *table) {
			b.hold(100)
			b.fly("x", ether, flight{intent: as(placement.ExitOrder, rest(exchange.Sell, 60)), seen: true})
		}, exit(41, exchange.Sell), ""},
		{"an opening of this symbol", func(b *table) { b.hold(100); b.live("x", limit(40_000e8, 60).Order, placement.Order) }, exit(41, exchange.Sell), ""},
		{"an exit at market on its way", func(b *table) { b.hold(100); b.onItsWay("x", exit(60, exchange.Sell), 1_000) }, exit(100, exchange.Sell),
			"reduce_only_sum"},
		{"its answer is late by 2 s", func(b *table) { b.hold(100); b.onItsWay("x", exit(60, exchange.Sell), 0) }, exit(100, exchange.Sell), ""},
		{"by a millisecond less", func(b *table) { b.hold(100); b.onItsWay("x", exit(60, exchange.Sell), 1) }, exit(100, exchange.Sell), "reduce_only_sum"},
		{"its fate is uncertain", func(b *table) { b.hold(100); b.onItsWay("x", exit(60, exchange.Sell), 1_000); b.lose("x") }, exit(100, exchange.Sell), ""},
		{"a resting exit waits for it", func(b *table) { b.hold(100); b.onItsWay("x", exit(60, exchange.Sell), 1_000); b.lose("x") },
			reconcile.Intent{Purpose: placement.ExitOrder, Key: "k", Order: rest(exchange.Sell, 41)}, "reduce_only_sum"},
		{"an exit of others", func(b *table) { b.hold(100); b.others(exchange.Order{Quantity: 60, ClosePositionID: 9}) }, exit(41, exchange.Sell),
			"reduce_only_sum"},
		{"swept", func(b *table) { b.hold(100); b.others(exchange.Order{Quantity: 60, ClosePositionID: 9}) }, exit(100, exchange.Sell), ""},
		{"others' stop of the whole position", func(b *table) { b.hold(100); b.others(exchange.Order{Quantity: 60, ClosePosition: true}) },
			exit(41, exchange.Sell), ""},
		{"an opening of others", func(b *table) { b.hold(100); b.others(exchange.Order{Quantity: 60, Side: exchange.Sell}) }, exit(41, exchange.Sell), ""},
		{"a second stop", func(b *table) { b.hold(100); b.live("x", stop(48_000e8).Order, placement.StopLoss) }, stop(49_000e8), "close_position"},
		{"beside a take-profit", func(b *table) {
			b.hold(100)
			b.live("x", with(stop(51_000e8), func(o *exchange.NewOrder) { o.Type = exchange.TakeProfitMarket }).Order, placement.TakeProfit)
		}, stop(49_000e8), ""},
		{"the first one's fate is uncertain", func(b *table) { b.hold(100); b.onItsWay("x", stop(48_000e8), 1_000); b.lose("x") }, stop(49_000e8), ""},
		{"a stop of another symbol", func(b *table) {
			b.hold(100)
			b.fly("x", ether, flight{intent: as(placement.StopLoss, stop(48_000e8).Order), seen: true})
		}, stop(49_000e8), ""},
		{"a stop of a quantity", func(b *table) { b.hold(100); b.live("x", protection(48_000e8).Order, placement.StopLoss) }, stop(49_000e8), ""},
		{"others' stop of the whole position is the second", func(b *table) {
			b.hold(100)
			b.others(exchange.Order{ClosePosition: true, Type: exchange.StopMarket})
		}, stop(49_000e8), "close_position"},
		{"others' take-profit", func(b *table) {
			b.hold(100)
			b.others(exchange.Order{ClosePosition: true, Type: exchange.TakeProfitMarket})
		},
			stop(49_000e8), ""},
		{"others' stop of a quantity", func(b *table) { b.hold(100); b.others(exchange.Order{Type: exchange.StopMarket}) }, stop(49_000e8), ""},
		{"a short one's stop is above", func(b *table) { b.hold(-100) }, with(stop(51_000e8), func(o *exchange.NewOrder) { o.Side = exchange.Buy }), ""},
		{"and not below", func(b *table) { b.hold(-100) }, with(stop(49_000e8), func(o *exchange.NewOrder) { o.Side = exchange.Buy }), "close_position"},
		{"a long one's stop is below", func(b *table) { b.hold(100) }, stop(49_000e8), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newTable(t, Limits{})
			c.set(b)
			rejection := b.check(c.intent)
			if c.rule == "" && rejection != nil || c.rule != "" && (rejection == nil || rejection.Rule != c.rule) {
				t.Errorf("want it refused by %q, have %v", c.rule, rejection)
			}
		})
	}
}

// If the list shows no position but is not trusted, the fills bound an exit and a stop; a resting exit waits for the list.
func TestReductionIsBoundedByFillsIfListIsRejected(t *testing.T) {
	t.Parallel()
	b := newTable(t, Limits{})
	b.hold(100)
	for _, beganMS := range []int64{10_000, 60_000} {
		b.tracker.Observe(&reconcile.Snapshot{BeganMS: beganMS, EndedMS: beganMS, FuturesOrders: exchange.FetchedOf[exchange.Order](nil),
			Positions: exchange.FetchedOf[exchange.Position](nil), Account: &exchange.MarginAccount{AvailableBalance: exchange.AmountOf(10_000)}})
	}
	if b.state.Position() != 0 || b.state.TrustedPosition() != 100 {
		t.Fatalf("want a list that is not believed, have %d, %d stand", b.state.Position(), b.state.TrustedPosition())
	}
	b.facts.NowMS = 60_000
	resting := exit(100, exchange.Sell)
	resting.Purpose, resting.Key, resting.Order.Type, resting.Order.Price = placement.ExitOrder, "k", exchange.Limit, 60_000e8
	for _, c := range []struct {
		name   string
		intent reconcile.Intent
		rule   string
	}{{"an exit", exit(100, exchange.Sell), ""}, {"more than stands", exit(101, exchange.Sell), "reduce_only"}, {"a stop", protection(49_000e8), ""},
		{"a resting exit", resting, "reduce_only"}} {
		if rejection := b.check(c.intent); c.rule == "" && rejection != nil || c.rule != "" && (rejection == nil || rejection.Rule != c.rule) {
			t.Errorf("%s: want it refused by %q, have %v", c.name, c.rule, rejection)
		}
	}
}

// onItsWay puts an order, sent at a given time, in flight without an answer.
func (b *table) onItsWay(id string, intent reconcile.Intent, atMS int64) {
	order := intent.Order
	order.Market, order.Symbol, order.ClientOrderID = exchange.Futures, "BTC-USDT", id
	b.tracker.Apply(&record.Record{AtMS: atMS, Strategy: "one", Symbol: bitcoin, ClientOrderID: id, Body: record.Sending{Order: order,
		Purpose: intent.Purpose}})
}

// lose makes a placement uncertain.
func (b *table) lose(id string) {
	b.tracker.Apply(&record.Record{AtMS: 1_900, Symbol: bitcoin, ClientOrderID: id, Body: record.Uncertain{Reason: "timeout"}})
}

// others adds a foreign open order.
func (b *table) others(o exchange.Order) {
	see(b.state, func(shown *seen) { shown.Foreign = []exchange.Order{o} })
}

// Quotes on both sides pass only if both are post-only orders of one strategy's plan, there is no position, and the first is
// acknowledged.
func TestTwoSidesOfAQuoteRestTogether(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		set  func(b *table)
		fits bool
	}{
		{"acknowledged", func(b *table) { b.live("x", quote(exchange.Buy, 49_000e8).Order, placement.Order) }, true},
		{"seen", func(b *table) {
			b.fly("x", bitcoin, flight{intent: as(placement.Order, quote(exchange.Buy, 49_000e8).Order), seen: true})
		}, true},
		{"filled in part", func(b *table) {
			b.fly("x", bitcoin, flight{intent: as(placement.Order, quote(exchange.Buy, 49_000e8).Order), seen: true, filled: 1})
		}, false},
		{"on its way", func(b *table) { b.sending("x", quote(exchange.Buy, 49_000e8).Order) }, false},
		{"not post-only", func(b *table) { b.live("x", limit(49_000e8, 100).Order, placement.Order) }, false},
		{"an entry", func(b *table) { b.live("x", quote(exchange.Buy, 49_000e8).Order, placement.Entry) }, false},
		{"something is held", func(b *table) { b.live("x", quote(exchange.Buy, 49_000e8).Order, placement.Order); b.hold(-1) }, false},
		{"of another symbol", func(b *table) {
			b.fly("x", exchange.SymbolKey{Market: exchange.Futures, Name: "ETH-USDT"}, flight{intent: as(placement.Entry, limit(49_000e8, 100).Order)})
		}, true},
	} {
		b := newTable(t, Limits{})
		c.set(b)
		if rejection := b.check(quote(exchange.Sell, 51_000e8)); (rejection == nil) != c.fits {
			t.Errorf("%s: want it to fit %t, have %v", c.name, c.fits, rejection)
		}
	}
}

// Explain lists the verdicts of the rules up to the one that refuses, and the later rules as not reached.
func TestExplainNamesEveryRuleOnce(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(b *table){"": func(*table) {}, "halted": (*table).halt, "symbol": func(b *table) {
		see(b.state, func(o *seen) {
			o.Rules = nil
		})
	}} {
		b := newTable(t, Limits{})
		set(b)
		intent := entry(100)
		intent.Strategy, intent.Order.Market, intent.Order.Symbol = "one", exchange.Futures, "BTC-USDT"
		seen := map[string]int{}
		for _, v := range b.gate.Explain(&intent, &b.facts) {
			seen[v.Rule]++
		}
		for _, rule := range Rules() {
			if seen[rule] != 1 {
				t.Errorf("refused by %q: want %s once, have it %d times", name, rule, seen[rule])
			}
		}
	}
}
