package risk

import (
	"testing"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// TestWhatARefusalSays: rule, value, limit and hint, whole, of each thing that is not known or holds openings back.
func TestWhatARefusalSays(t *testing.T) {
	t.Parallel()
	const settled, fetched = "a settled symbol", "its outcome is fetched, never guessed"
	spot := func(side exchange.Side, amount string) reconcile.Intent {
		return reconcile.Intent{Purpose: placement.Entry, Order: exchange.NewOrder{Side: side, Type: exchange.MarketOrder,
			QuoteAmount: exchange.MustAmount(amount)}}
	}
	lever := func(n int) reconcile.Intent { return reconcile.Intent{Purpose: placement.Leverage, Leverage: n} }
	uncertain := func(b *table) {
		b.live("a", entry(100).Order, placement.Entry)
		b.book.Apply(&record.Record{ClientOrderID: "a", Body: record.Unknown{}})
	}
	for _, c := range []struct {
		name   string
		onSpot bool
		set    func(*table)
		intent reconcile.Intent
		want   Refusal
	}{
		{"a breaker", false, func(b *table) {
			b.book.Apply(&record.Record{AtMS: 1_500, Body: record.Breaker{Why: "three unknowns", UntilMS: 2_001}})
		}, entry(100), Refusal{"halted", "", "breaker: three unknowns", "no breaker", "it ends by itself; exits and stops go on"}},
		{"a breaker that has ended", false, func(b *table) {
			b.book.Apply(&record.Record{AtMS: 1_500, Body: record.Breaker{Why: "three unknowns", UntilMS: 2_000}})
		}, entry(100), Refusal{}},
		{"blind", false, func(b *table) { b.facts.Blind = true }, entry(100),
			Refusal{"halted", "", "blind", "fetched orders and positions", "reads have failed for too long; openings wait for the exchange"}},
		{"never read", false, func(b *table) { b.state.Read = false }, entry(100),
			Refusal{"unsettled", "", "not fetched", settled, "nothing opens before the first snapshot"}},
		{"unknown", false, uncertain, entry(100), Refusal{"unsettled", "", "placement a uncertain", settled, fetched}},
		{"unknown, for leverage", false, uncertain, lever(5),
			Refusal{"leverage", "", "placement a uncertain", settled, "its outcome is fetched before leverage changes"}},
		{"no leverage", false, nil, lever(0), Refusal{"leverage", "", "0", "at least 1", "leverage is a whole number from 1"}},
		{"the least", false, nil, lever(1), Refusal{}},
		{"leverage without a price", false, func(b *table) { b.state.Last = 0 }, lever(5),
			Refusal{"leverage", "", "no price", "a last price", "no price of this symbol was read yet"}},
		{"leverage without rules", false, func(b *table) { b.state.Rules = nil }, lever(5),
			Refusal{"leverage", "", "5", "a known symbol", "its rules were not fetched yet"}},
		{"a lower leverage, the account never read", false, func(b *table) { b.book.AccountMS = 0 }, lever(9),
			Refusal{"leverage", "", "unknown", "a fetched margin account", "the account was not fetched yet"}},
		{"an equal one", false, func(b *table) { b.book.AccountMS = 0 }, lever(10), Refusal{}},
		{"margin, the account never read", false, func(b *table) { b.book.AccountMS = 0 }, entry(100),
			Refusal{"margin", "", "unknown", "a fetched margin account", "the account was not fetched yet"}},
		{"the leverage never read", false, func(b *table) { b.state.Leverage = 0 }, entry(100),
			Refusal{"leverage", "", "unknown", "the leverage set on the exchange", "it was not fetched yet"}},
		{"no price", false, func(b *table) { b.state.Last = 0 }, entry(100),
			Refusal{"price", "", "none", "a last price", "no price of this symbol was read yet"}},
		{"the wallet never read", true, func(b *table) { b.book.WalletMS = 0 }, spot(exchange.Buy, "100"),
			Refusal{"balance", "", "unknown", "a fetched wallet", "the wallet was not fetched yet"}},
		{"read at once", true, func(b *table) { b.book.WalletMS = 1 }, spot(exchange.Buy, "100"), Refusal{}},
		{"all, and its fee of 0.1 %", true, nil, spot(exchange.Buy, "9990.009990009990009990"), Refusal{}},
		{"and more", true, nil, spot(exchange.Buy, "9990.01"), Refusal{"balance", "", "10000.00001 USDT", "10000 USDT", "less size or a deposit; " +
			"open orders may hold the rest"}},
	} {
		b := newTable(t, Limits{})
		if c.onSpot {
			b = spotTable(t)
		}
		if c.set != nil {
			c.set(b)
		}
		c.intent.Strategy, c.intent.Order.Market, c.intent.Order.Symbol = "one", b.facts.State.Key().Market, "BTC-USDT"
		var have Refusal
		if _, refusal := b.gate.Check(&c.intent, &b.facts); refusal != nil {
			have = *refusal
		}
		if have != c.want {
			t.Errorf("%s: want %+v, have %+v", c.name, c.want, have)
		}
	}
}

// TestOnlyOpeningsOfASideMakeAPositionLarger: neither an exit nor an opening of the other side does.
func TestOnlyOpeningsOfASideMakeAPositionLarger(t *testing.T) {
	t.Parallel()
	b := newTable(t, Limits{})
	b.hold(100)
	b.live("exit", exit(60, exchange.Sell).Order, placement.ExitOrder)
	b.live("stop", with(protection(48_000e8), func(o *exchange.NewOrder) { o.Side = exchange.Buy }).Order, placement.StopLoss)
	b.live("open", limit(40_000e8, 7).Order, placement.Order)
	for side, want := range map[exchange.Side]exchange.Quantity{exchange.Buy: 7, exchange.Sell: 0} {
		if have := opening(b.state, side); have != want {
			t.Errorf("%s: want %d, have %d", side, want, have)
		}
	}
	b.live("short", selling(limit(60_000e8, 5)).Order, placement.Order)
	if have := opening(b.state, exchange.Sell); have != 5 {
		t.Errorf("want 5, have %d", have)
	}
	if buy, sell := worst(b.state, exchange.Buy), worst(b.state, exchange.Sell); buy != 107 || sell != 5 {
		t.Errorf("want 107 and 5 at worst, have %d and %d", buy, sell)
	}
}
