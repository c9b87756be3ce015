package risk

import (
	"fmt"
	"testing"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/internal/reconciletest"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// flight is an order in flight, or, if seen, one that a read has shown.
type flight struct {
	intent func() (exchange.NewOrder, placement.Purpose)
	seen   bool
	filled exchange.Quantity
}

func as(purpose placement.Purpose, order exchange.NewOrder) func() (exchange.NewOrder, placement.Purpose) {
	return func() (exchange.NewOrder, placement.Purpose) { return order, purpose }
}

// fly puts an order of a symbol in flight.
func (b *table) fly(id string, key exchange.SymbolKey, f flight) {
	order, purpose := f.intent()
	order.Market, order.Symbol, order.ClientOrderID = key.Market, key.Name, id
	b.tracker.Apply(&record.Record{Strategy: "one", Symbol: key, ClientOrderID: id, Body: record.Sending{Order: order, Purpose: purpose}})
	if f.seen {
		b.tracker.Apply(&record.Record{Symbol: key, ClientOrderID: id, Body: record.Fill{OrderID: 7, Filled: f.filled}})
	}
}

// TestMarginThatIsNotFreeIsRefused checks an opening that needs exactly the free margin, and one that needs a
// cent more.
func TestMarginThatIsNotFreeIsRefused(t *testing.T) {
	t.Parallel()
	free := exchange.AmountOf(100)
	if rejection := Margin(free, free); rejection != nil {
		t.Errorf("want margin enough, have %v", rejection)
	}
	const want = "margin: 100.01 USDT, limit 100 USDT available (reduce the size, raise the leverage, or deposit)"
	if rejection := Margin(free.Add(exchange.AmountOf(1).Div(100)), free); rejection == nil || rejection.Error() != want {
		t.Errorf("want %s, have %v", want, rejection)
	}
}

// TestFreeFuturesMargin has orders in flight, resting orders, and a position whose price has moved, with 10,000 USDT
// at leverage 10, a fee of 0.1 % and a price of 50,000. All figures are computed manually: the margin and the fee at the worst
// price, and the loss that a fill there would cause. 0.00000001 is the smallest unit of a price, to which a slip is rounded up.
func TestFreeFuturesMargin(t *testing.T) {
	t.Parallel()
	market := func(side exchange.Side) exchange.NewOrder {
		return exchange.NewOrder{Side: side, Type: exchange.MarketOrder, Quantity: 100} // 0.1 BTC
	}
	priced := func(side exchange.Side, price exchange.Price) exchange.NewOrder {
		return exchange.NewOrder{Side: side, Type: exchange.Limit, Price: price, Quantity: 100}
	}
	reducing := func(o exchange.NewOrder) exchange.NewOrder { o.ReduceOnly = true; return o }
	for _, c := range []struct {
		name   string
		set    func(b *table)
		orders []flight
		want   string
	}{
		{"nothing", nil, nil, "10000"},
		{"a limit below the price: margin 490, fee 4.9", nil, []flight{{intent: as(placement.Order, priced(exchange.Buy, 49_000e8))}}, "9505.1"},
		{"a limit above the price: 510, 5.1, and 100 lost", nil, []flight{{intent: as(placement.Order, priced(exchange.Buy, 51_000e8))}}, "9384.9"},
		{"at market, 5 % away: 525, 5.25, 250", nil, []flight{{intent: as(placement.Entry, market(exchange.Buy))}}, "9219.749999998899"},
		{"a sale above the price counts at the higher one", nil, []flight{{intent: as(placement.Order, priced(exchange.Sell, 51_000e8))}}, "9469.749999999899"},
		{"a sale far above", nil, []flight{{intent: as(placement.Order, priced(exchange.Sell, 60_000e8))}}, "9394"},
		{"a sale below the price: 100 lost", nil, []flight{{intent: as(placement.Order, priced(exchange.Sell, 49_000e8))}}, "9369.749999999899"},
		{"an exit at market takes no margin", nil, []flight{{intent: as(placement.Exit, reducing(market(exchange.Sell)))}}, "9744.749999998999"},
		{"a resting limit takes its fee alone", nil, []flight{{intent: as(placement.Order, priced(exchange.Buy, 49_000e8)), seen: true}}, "9995.1"},
		{"the filled part takes nothing", nil, []flight{{intent: as(placement.Order, priced(exchange.Buy, 49_000e8)), seen: true, filled: 50}}, "9997.55"},
		{"an order at market that was seen takes no margin", nil, []flight{{intent: as(placement.Entry, market(exchange.Buy)), seen: true}},
			"9744.749999998999"},
		{"a stop of the whole position", nil, []flight{{intent: as(placement.StopLoss, stop(49_000e8).Order)}}, "10000"},
		{"the strategy's collar of 1 %: 505, 5.05, 50", func(b *table) { b.facts.Strategy.PriceCollar = exchange.RateOne / 100 },
			[]flight{{intent: as(placement.Entry, market(exchange.Buy))}}, "9439.949999998899"},
		{"the account's collar is the tighter", func(b *table) {
			b.facts.Strategy.PriceCollar, b.gate.limits.PriceCollar = exchange.RateOne/50, exchange.RateOne/100
		}, []flight{{intent: as(placement.Entry, market(exchange.Buy))}}, "9439.949999998899"},
		{"the account's collar alone", func(b *table) { b.gate.limits.PriceCollar = exchange.RateOne / 100 },
			[]flight{{intent: as(placement.Entry, market(exchange.Buy))}}, "9439.949999998899"},
		{"no price is below zero", func(b *table) { b.gate.limits.PriceCollar = exchange.RateOne },
			[]flight{{intent: as(placement.Exit, reducing(market(exchange.Sell)))}}, "4989.999999999999"},
		{"without a leverage: all of it", func(b *table) { see(b.state, func(o *seen) { o.Leverage = 0 }) },
			[]flight{{intent: as(placement.Order, priced(exchange.Buy, 49_000e8))}}, "5095.1"},
		{"a position that has lost 100 since", func(b *table) {
			see(b.state, func(o *seen) {
				o.Position, o.MarkedAt, o.Last = 100, 51_000e8, 50_000e8
			})
		}, nil, "9900"},
		{"a position that has made 100 since", func(b *table) {
			see(b.state, func(o *seen) {
				o.Position, o.MarkedAt, o.Last = 100, 49_000e8, 50_000e8
			})
		}, nil, "10000"},
		{"two orders", nil, []flight{{intent: as(placement.Order, priced(exchange.Buy, 49_000e8))},
			{intent: as(placement.Entry, market(exchange.Buy))}}, "8724.849999998899"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newTable(t, Limits{})
			b.facts.TakerFee = exchange.RateOne / 1_000
			if c.set != nil {
				c.set(b)
			}
			for i, f := range c.orders {
				b.fly(fmt.Sprint("f", i), bitcoin, f)
			}
			if have := b.gate.free(&b.facts).String(); have != c.want {
				t.Errorf("want %s, have %s", c.want, have)
			}
		})
	}
}

// The symbols differ in price, step and market. The orders of a symbol without rules take no margin.
func TestOrdersAreCountedPerSymbol(t *testing.T) {
	t.Parallel()
	b := newTable(t, Limits{})
	b.facts.TakerFee = exchange.RateOne / 1_000
	ether := exchange.SymbolKey{Market: exchange.Futures, Name: "ETH-USDT"}
	rules, err := exchange.NewSymbol(exchange.SymbolSpec{Market: exchange.Futures, Name: "ETH-USDT", Base: "ETH", Quote: "USDT",
		PriceTick: decimal.RequireFromString("0.01"), QuantityTick: decimal.RequireFromString("0.01"), MinNotional: decimal.NewFromInt(5),
		MaxNotional: decimal.NewFromInt(1_000_000), Tradable: true, Cancelable: true})
	if err != nil {
		t.Fatal(err)
	}
	state := b.tracker.Track(ether)
	see(state, func(o *seen) { o.Rules, o.Leverage, o.Last = rules, 5, 2_000e8 })
	market := exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: 100}
	b.fly("a", exchange.SymbolKey{Market: exchange.Futures, Name: "NEW-USDT"}, flight{intent: as(placement.Entry, market)})
	b.fly("b", exchange.SymbolKey{Market: exchange.Spot, Name: "BTC-USDT"}, flight{intent: as(placement.Entry, market)})
	b.fly("c", bitcoin, flight{intent: as(placement.Entry, market)})
	b.fly("d", ether, flight{intent: as(placement.Entry, market)}) // 1 ETH at 2,100.00000001: 420.000000002, 2.10000000001, 100.00000001
	b.fly("e", bitcoin, flight{intent: as(placement.Entry, market)})
	if have := b.gate.free(&b.facts).String(); have != "7917.399999985788" { // 2 * 780.250000001101, 522.10000001201
		t.Errorf("want 7917.399999985788, have %s", have)
	}
}

// spotTable is a table on spot: 10,000 USDT and 2 BTC, and a fee of 0.1 %.
func spotTable(t *testing.T) *table {
	b := newTable(t, Limits{})
	coin := exchange.SymbolKey{Market: exchange.Spot, Name: "BTC-USDT"}
	rules, err := exchange.NewSymbol(exchange.SymbolSpec{Market: exchange.Spot, Name: "BTC-USDT", Base: "BTC", Quote: "USDT",
		PriceTick: decimal.RequireFromString("0.1"), QuantityTick: decimal.RequireFromString("0.001"), MinNotional: decimal.NewFromInt(5),
		MaxNotional: decimal.NewFromInt(1_000_000), Tradable: true, Cancelable: true})
	if err != nil {
		t.Fatal(err)
	}
	state := b.tracker.Track(coin)
	see(state, func(o *seen) { o.Rules, o.Last, o.LastMS, o.Read, o.Settled = rules, 50_000e8, 1_000, true, true })
	*reconciletest.Of(b.tracker).WalletMS = 1_000
	*reconciletest.Of(b.tracker).Balances = []exchange.Balance{{Asset: "USDT", Free: exchange.AmountOf(10_000)}, {Asset: "BTC", Free: exchange.AmountOf(2)}}
	b.state, b.facts.State, b.facts.TakerFee = state, state, exchange.RateOne/1_000
	return b
}

// An order in flight counts as spent, including the fee of a purchase. An order that was read is part of the wallet's frozen
// amount.
func TestFreeSpotBalance(t *testing.T) {
	t.Parallel()
	coin, other := exchange.SymbolKey{Market: exchange.Spot, Name: "BTC-USDT"}, exchange.SymbolKey{Market: exchange.Spot, Name: "ETH-USDT"}
	buy := exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Price: 40_000e8, Quantity: 100}
	byAmount := exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.AmountOf(1_000)}
	sell := exchange.NewOrder{Side: exchange.Sell, Type: exchange.Limit, Price: 60_000e8, Quantity: 100}
	sellAmount := exchange.NewOrder{Side: exchange.Sell, Type: exchange.MarketOrder, QuoteAmount: exchange.AmountOf(1_000)}
	for _, c := range []struct {
		name      string
		key       exchange.SymbolKey
		flight    flight
		usdt, btc string
	}{
		{"a limit: 4000 and its fee", coin, flight{intent: as(placement.Order, buy)}, "5996", "2"},
		{"by amount: 1000 and its fee", coin, flight{intent: as(placement.Entry, byAmount)}, "8999", "2"},
		{"a sale: 0.1", coin, flight{intent: as(placement.Exit, sell)}, "10000", "1.9"},
		{"a sale by amount: 0.02, and a step", coin, flight{intent: as(placement.Exit, sellAmount)}, "10000", "1.979"},
		{"one that was read", coin, flight{intent: as(placement.Order, buy), seen: true}, "10000", "2"},
		{"a sale that was read", coin, flight{intent: as(placement.Exit, sell), seen: true}, "10000", "2"},
		{"of a symbol without rules", other, flight{intent: as(placement.Order, buy)}, "10000", "2"},
		{"on futures", bitcoin, flight{intent: as(placement.Order, buy)}, "10000", "2"},
	} {
		b := spotTable(t)
		b.fly("f", c.key, c.flight)
		usdt, btc := freeOf("USDT", exchange.Buy, &b.facts).String(), freeOf("BTC", exchange.Sell, &b.facts).String()
		if usdt != c.usdt || btc != c.btc {
			t.Errorf("%s: want %s USDT and %s BTC, have %s and %s", c.name, c.usdt, c.btc, usdt, btc)
		}
		if have := freeOf("EUR", exchange.Buy, &b.facts).String() + freeOf("ETH", exchange.Sell, &b.facts).String(); have != "00" {
			t.Errorf("%s: want nothing of other assets, have %s", c.name, have)
		}
	}
}

// TestBuyingPower: the largest opening is free * leverage / (1 + leverage * fee).
func TestBuyingPower(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		spot     bool
		leverage int
		set      func(b *table)
		want     string
	}{
		{"at the leverage that is set", false, 0, nil, "99009.900990099009900990"},
		{"at the one that is configured", false, 2, nil, "19960.079840319361277445"},
		{"without a fee", false, 2, func(b *table) { b.facts.TakerFee = 0 }, "20000"},
		{"without any leverage", false, 0, func(b *table) { see(b.state, func(o *seen) { o.Leverage = 0 }) }, "9990.009990009990009990"},
		{"the account was not read", false, 2, func(b *table) { *reconciletest.Of(b.tracker).AccountMS = 0 }, "0"},
		{"less than nothing is free", false, 2, func(b *table) { reconciletest.Of(b.tracker).Account.AvailableBalance = exchange.AmountOf(-5) }, "0"},
		{"no rules", false, 2, func(b *table) { see(b.state, func(o *seen) { o.Rules = nil }) }, "0"},
		{"on spot there is no leverage", true, 5, nil, "9990.009990009990009990"},
		{"the wallet was not read", true, 0, func(b *table) { *reconciletest.Of(b.tracker).WalletMS = 0 }, "0"},
	} {
		b := newTable(t, Limits{})
		if c.spot {
			b = spotTable(t)
		}
		b.facts.TakerFee = exchange.RateOne / 1_000
		if c.set != nil {
			c.set(b)
		}
		have := b.gate.BuyingPower(c.leverage, &b.facts)
		if have != exchange.MustAmount(c.want) {
			t.Errorf("%s: want %s, have %s", c.name, c.want, have)
		}
	}
}

// Margin is needed for the open position, for openings and for foreign resting orders, and a cent for rounding.
func TestALowerLeverageNeedsMargin(t *testing.T) {
	t.Parallel()
	lower := func(b *table, free string) bool {
		reconciletest.Of(b.tracker).Account.AvailableBalance = exchange.MustAmount(free)
		var f finding
		return b.gate.marginAtLowerLeverage(5, &b.facts, &f)
	}
	for _, c := range []struct {
		name string
		set  func(b *table)
		need string // the smallest sufficient amount; empty for none
	}{
		{"nothing is open", func(*table) {}, ""},
		{"the same leverage", func(b *table) {
			b.hold(100)
			see(b.state, func(o *seen) { o.EntryPrice, o.Leverage = exchange.AmountOf(50_000), 5 })
		}, ""},
		{"a position of 0.1 at 50,000", func(b *table) {
			b.hold(100)
			see(b.state, func(o *seen) {
				o.EntryPrice = exchange.AmountOf(50_000)
			})
		}, "500.0100000001"},
		{"a short one", func(b *table) { b.hold(-100); see(b.state, func(o *seen) { o.EntryPrice = exchange.AmountOf(50_000) }) }, "500.0100000001"},
		{"its leverage is not known: all of the margin", func(b *table) {
			b.hold(100)
			see(b.state, func(o *seen) { o.EntryPrice, o.Leverage = exchange.AmountOf(50_000), 0 })
		}, "1000.0100000002"},
		{"a resting bid", func(b *table) { b.live("f", limit(40_000e8, 100).Order, placement.Order) }, "400.01"},
		{"a resting exit", func(b *table) { b.live("f", exit(100, exchange.Sell).Order, placement.Exit) }, ""},
		{"a bid of others", func(b *table) {
			see(b.state, func(o *seen) {
				o.Foreign = []exchange.Order{{Side: exchange.Buy, Type: exchange.Limit, Price: 60_000e8, Quantity: 100}}
			})
		}, "600.01"},
		{"an exit of others", func(b *table) {
			see(b.state, func(o *seen) {
				o.Foreign = []exchange.Order{{Side: exchange.Buy, Type: exchange.Limit, Price: 60_000e8, Quantity: 100, ClosePositionID: 9}}
			})
		}, ""},
		{"an opening of another symbol", func(b *table) {
			b.fly("f", exchange.SymbolKey{Market: exchange.Futures, Name: "ETH-USDT"}, flight{intent: as(placement.Order, limit(40_000e8, 100).Order)})
		}, ""},
	} {
		b := newTable(t, Limits{})
		b.facts.TakerFee = 0
		c.set(b)
		reserved := exchange.AmountOf(10_000).Sub(free10k(b)) // by orders in flight
		if c.need == "" {
			if !lower(b, reserved.String()) {
				t.Errorf("%s: want no margin needed", c.name)
			}
			continue
		}
		need := exchange.MustAmount(c.need).Add(reserved)
		if !lower(b, need.String()) || lower(b, need.Sub(least).String()) {
			t.Errorf("%s: want %s needed and enough, %s reserved", c.name, c.need, reserved)
		}
	}
	b := newTable(t, Limits{})
	if *reconciletest.Of(b.tracker).AccountMS = 0; lower(b, "10000") {
		t.Error("want it refused before the account was read")
	}
}

func free10k(b *table) exchange.Amount {
	reconciletest.Of(b.tracker).Account.AvailableBalance = exchange.AmountOf(10_000)
	return b.gate.free(&b.facts)
}
