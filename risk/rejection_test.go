package risk

import (
	"testing"

	"botd/exchange"
	"botd/internal/reconciletest"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// The cases list rule, value, limit and hint in full, for each unknown value and each obstacle to openings.
func TestRefusalMessages(t *testing.T) {
	t.Parallel()
	const settled, fetched = "a settled symbol", "its outcome is being fetched, never guessed"
	spot := func(side exchange.Side, amount string) reconcile.Intent {
		return reconcile.Intent{Purpose: placement.Entry, Order: exchange.NewOrder{Side: side, Type: exchange.MarketOrder,
			QuoteAmount: exchange.MustAmount(amount)}}
	}
	lever := func(n int) reconcile.Intent { return reconcile.Intent{Purpose: placement.Leverage, Leverage: n} }
	uncertain := func(b *table) {
		b.live("a", entry(100).Order, placement.Entry)
		b.tracker.Apply(&record.Record{ClientOrderID: "a", Body: record.Uncertain{}})
	}
	for _, c := range []struct {
		name   string
		onSpot bool
		set    func(*table)
		intent reconcile.Intent
		want   Rejection
	}{
		{"a breaker", false, func(b *table) {
			b.tracker.Apply(&record.Record{AtMS: 1_500, Body: record.Breaker{Reason: "three lost answers", UntilMS: 2_001}})
		}, entry(100), Rejection{"halted", "", "breaker: three lost answers", "no breaker", "it clears automatically; exits and stops continue"}},
		{"a breaker that has ended", false, func(b *table) {
			b.tracker.Apply(&record.Record{AtMS: 1_500, Body: record.Breaker{Reason: "three lost answers", UntilMS: 2_000}})
		}, entry(100), Rejection{}},
		{"blind", false, func(b *table) { b.facts.Blind = true }, entry(100),
			Rejection{"halted", "", "blind", "fetched orders and positions", "reads have failed for too long; openings wait for the exchange"}},
		{"never read", false, func(b *table) { see(b.state, func(o *seen) { o.Read = false }) }, entry(100),
			Rejection{"unsettled", "", "not fetched", settled, "nothing opens before the first snapshot"}},
		{"uncertain", false, uncertain, entry(100), Rejection{"unsettled", "", "placement a uncertain", settled, fetched}},
		{"uncertain, for leverage", false, uncertain, lever(5),
			Rejection{"leverage", "", "placement a uncertain", settled, "its outcome must be known before leverage changes"}},
		{"no leverage", false, nil, lever(0), Rejection{"leverage", "", "0", "at least 1", "leverage is a whole number from 1"}},
		{"the least", false, nil, lever(1), Rejection{}},
		{"leverage without a price", false, func(b *table) { see(b.state, func(o *seen) { o.Last = 0 }) }, lever(5),
			Rejection{"leverage", "", "no price", "a last price", "no price of this symbol has been read yet"}},
		{"leverage without rules", false, func(b *table) { see(b.state, func(o *seen) { o.Rules = nil }) }, lever(5),
			Rejection{"leverage", "", "5", "a known symbol", "its rules have not been fetched yet"}},
		{"a lower leverage, the account never read", false, func(b *table) { *reconciletest.Of(b.tracker).AccountMS = 0 }, lever(9),
			Rejection{"leverage", "", "unknown", "a fetched margin account", "the account has not been fetched yet"}},
		{"an equal one", false, func(b *table) { *reconciletest.Of(b.tracker).AccountMS = 0 }, lever(10), Rejection{}},
		{"margin, the account never read", false, func(b *table) { *reconciletest.Of(b.tracker).AccountMS = 0 }, entry(100),
			Rejection{"margin", "", "unknown", "a fetched margin account", "the account has not been fetched yet"}},
		{"the leverage never read", false, func(b *table) { see(b.state, func(o *seen) { o.Leverage = 0 }) }, entry(100),
			Rejection{"leverage", "", "unknown", "the leverage set on the exchange", "it has not been fetched yet"}},
		{"no price", false, func(b *table) { see(b.state, func(o *seen) { o.Last = 0 }) }, entry(100),
			Rejection{"price", "", "none", "a last price", "no price of this symbol has been read yet"}},
		{"the wallet never read", true, func(b *table) { *reconciletest.Of(b.tracker).WalletMS = 0 }, spot(exchange.Buy, "100"),
			Rejection{"balance", "", "unknown", "a fetched wallet", "the wallet has not been fetched yet"}},
		{"read at once", true, func(b *table) { *reconciletest.Of(b.tracker).WalletMS = 1 }, spot(exchange.Buy, "100"), Rejection{}},
		{"all, and its fee of 0.1 %", true, nil, spot(exchange.Buy, "9990.009990009990009990"), Rejection{}},
		{"and more", true, nil, spot(exchange.Buy, "9990.01"), Rejection{"balance", "", "10000.00001 USDT", "10000 USDT", "reduce the size or deposit; " +
			"open orders may lock the rest"}},
	} {
		b := newTable(t, Limits{})
		if c.onSpot {
			b = spotTable(t)
		}
		if c.set != nil {
			c.set(b)
		}
		c.intent.Strategy, c.intent.Order.Market, c.intent.Order.Symbol = "one", b.facts.State.Key().Market, "BTC-USDT"
		var have Rejection
		if _, rejection := b.gate.Check(&c.intent, &b.facts); rejection != nil {
			have = *rejection
		}
		if have != c.want {
			t.Errorf("%s: want %+v, have %+v", c.name, c.want, have)
		}
	}
}

// Neither an exit nor an opening on the other side counts.
func TestOnlyOpeningsOfSameSideEnlargePosition(t *testing.T) {
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
	if buy, sell := worstCaseSize(b.state, exchange.Buy), worstCaseSize(b.state, exchange.Sell); buy != 107 || sell != 5 {
		t.Errorf("want 107 and 5 at worst, have %d and %d", buy, sell)
	}
}

// The cases list a rule's value and limit as Explain shows them.
func TestFiguresOfPassedRules(t *testing.T) {
	t.Parallel()
	kind := func(kind exchange.OrderType) func(*exchange.NewOrder) {
		return func(o *exchange.NewOrder) { o.Type = kind }
	}
	opening := func(kind exchange.OrderType, at exchange.Price) reconcile.Intent {
		return reconcile.Intent{Purpose: placement.Order, Key: "k", Order: exchange.NewOrder{Side: exchange.Buy, Type: kind, StopPrice: at, Quantity: 100,
			WorkingType: exchange.ContractPrice}}
	}
	for _, c := range []struct {
		name   string
		held   exchange.Quantity
		intent reconcile.Intent
		rule   string
		want   string // outcome, value, limit
	}{
		{"a long one's stop", 100, protection(48_000e8), "stop_price", "passed 48000 below 50000"},
		{"its take-profit", 100, with(protection(51_000e8), kind(exchange.TakeProfitMarket)), "stop_price", "passed 51000 above 50000"},
		{"its stop above the price", 100, protection(51_000e8), "stop_price", "refused 51000 below 50000"},
		{"its take-profit below the price", 100, with(protection(48_000e8), kind(exchange.TakeProfitMarket)), "stop_price", "refused 48000 above 50000"},
		{"an opening above", 0, opening(exchange.StopMarket, 50_100e8), "stop_price", "passed 50100 above 50000"},
		{"an opening below", 0, opening(exchange.TakeProfitMarket, 49_900e8), "stop_price", "passed 49900 below 50000"},
		{"an opening at the price", 0, opening(exchange.StopMarket, 50_000e8), "stop_price", "refused 50000 another than 50000"},
		{"a limit below the price", 0, limit(49_000e8, 100), PriceCollar, "passed 0 USDT 2500 USDT"},
		{"a limit through it", 0, limit(50_100e8, 100), PriceCollar, "passed 100 USDT 2500 USDT"},
		{"a sale above it", 0, selling(limit(51_000e8, 100)), PriceCollar, "passed 0 USDT 2500 USDT"},
		{"an order at market: none", 0, entry(100), PriceCollar, "passed  "},
		{"its price", 0, limit(49_000e8, 100), "price", "passed 49000 above 0"},
		{"its tick", 0, limit(49_000e8, 100), "price_tick", "passed 49000 a multiple of 0.1"},
		{"its size", 0, limit(49_000e8, 100), "quantity_tick", "passed 0.1 BTC a multiple of 0.001 BTC"},
		{"its value", 0, limit(49_000e8, 100), "notional", "passed 4900 USDT 5 to 1000000 USDT"},
	} {
		b := newTable(t, Limits{PriceCollar: exchange.RateOne / 20})
		b.hold(c.held)
		c.intent.Strategy, c.intent.Order.Market, c.intent.Order.Symbol = "one", exchange.Futures, "BTC-USDT"
		have := ""
		for _, v := range b.gate.Explain(&c.intent, &b.facts) {
			if v.Rule == c.rule {
				have = v.Outcome.String() + " " + v.Value + " " + v.Limit
			}
		}
		if have != c.want {
			t.Errorf("%s, %s: want %s, have %s", c.name, c.rule, c.want, have)
		}
	}
}

// Each condition is tested separately.
func TestQuotesOnBothSidesNeedFlatPosition(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set    func(*table)
		change func(*reconcile.Intent)
		want   bool
	}{
		"both post-only, the first acknowledged": {want: true},
		"the first not answered":                 {set: func(b *table) { b.tracker.Apply(&record.Record{ClientOrderID: "a", Body: record.Uncertain{}}) }},
		"the first filled in part": {set: func(b *table) {
			b.tracker.Apply(&record.Record{ClientOrderID: "a", Body: record.Fill{OrderID: 5, Filled: 1}})
		}},
		"something held":          {set: func(b *table) { b.hold(1) }},
		"others hold something":   {set: func(b *table) { b.ignore(1) }},
		"of another strategy":     {change: func(i *reconcile.Intent) { i.Strategy = "two" }},
		"no order of a plan":      {change: func(i *reconcile.Intent) { i.Purpose = placement.Entry }},
		"the second may take":     {change: func(i *reconcile.Intent) { i.Order.PostOnly = false }},
		"its price is its own":    {change: func(i *reconcile.Intent) { i.Order.Price = 48_000e8 }, want: true},
		"its quantity is its own": {change: func(i *reconcile.Intent) { i.Order.Quantity = 7 }, want: true},
	} {
		b := newTable(t, Limits{})
		b.live("a", quote(exchange.Sell, 51_000e8).Order, placement.Order)
		if c.set != nil {
			c.set(b)
		}
		intent := quote(exchange.Buy, 49_000e8)
		if intent.Strategy = "one"; c.change != nil {
			c.change(&intent)
		}
		if have := quotesBoth(&intent, b.tracker.Placement("a"), b.state); have != c.want {
			t.Errorf("%s: want %t, have %t", name, c.want, have)
		}
	}
	taking := newTable(t, Limits{})
	taking.live("a", selling(limit(51_000e8, 100)).Order, placement.Order)
	if intent := quote(exchange.Buy, 49_000e8); quotesBoth(&intent, taking.tracker.Placement("a"), taking.state) {
		t.Error("the first may take: want them not to stand beside each other")
	}
}

// Where max_losing_streak is set, cool_down has a default.
func TestCoolDownDefaultsToAnHour(t *testing.T) {
	t.Parallel()
	for given, want := range map[Limits]int64{{}: 0, {MaxLosingStreak: 1}: 3_600_000, {MaxLosingStreak: 1, CoolDownMS: 1}: 1, {CoolDownMS: 5}: 5} {
		have := given
		if have.Complete(); have.CoolDownMS != want {
			t.Errorf("%+v: want %d ms, have %d", given, want, have.CoolDownMS)
		}
	}
}

// In a pass the free margin is the same as outside it.
func TestPassKeepsFreeMoney(t *testing.T) {
	t.Parallel()
	b := newTable(t, Limits{})
	b.fly("f", bitcoin, flight{intent: as(placement.Entry, entry(100).Order)})
	want := b.gate.free(&b.facts)
	b.tracker.BeginPass()
	defer b.tracker.EndPass()
	if have := b.gate.free(&b.facts); have != want || have.IsZero() || !have.Less(exchange.AmountOf(10_000)) {
		t.Errorf("want %s, have %s", want, have)
	}
}
