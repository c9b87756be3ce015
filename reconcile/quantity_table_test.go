package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// sellsUnlisted lets an order that the journal does not know, and that has left the list, sell a quantity of the asset.
func (w *wallet) sellsUnlisted(quantity exchange.Quantity) {
	symbol := w.tracker.Symbol(coin)
	symbol.unlistedSales = append(symbol.unlistedSales, peerOrder{90, quantity, w.now})
}

// The fills explain what was bought, without fees and without what orders unknown to the journal may have sold of it. In a quarantine they
// explain it only as far as the wallet shows it besides the foreign holding, 1,000 here.
func TestExplainedSpotHolding(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                     string
		known, fees, unlisted    exchange.Quantity
		baseBalance              exchange.Quantity // besides the 1,000
		inferred                 exchange.Quantity
		with                     func(w *wallet)
		explained, onSpot, backs exchange.Quantity // backs: of 50
	}{
		{"all of it", 20, 0, 0, 20, 0, nil, 20, 20, 20},
		{"without fees", 20, 3, 0, 17, 0, nil, 17, 17, 17},
		{"a stop of another journal sells some", 20, 0, 8, 20, 0, nil, 12, 12, 12},
		{"it sells more", 20, 0, 30, 20, 0, nil, 0, 0, 0},
		{"with fees too", 20, 3, 8, 20, 0, nil, 9, 9, 12},
		{"a purchase that no list shows", 20, 0, 0, 25, 5, nil, 20, 25, 25},
		{"the wallet is contradicted: the purchase does not count", 20, 0, 0, 25, 5, contradicts, 20, 20, 25},
		{"in a quarantine the wallet decides", 20, 0, 0, 12, 0, quarantined("a test"), 20, 12, 12},
		{"of which another sells some", 20, 0, 8, 19, 0, quarantined("a test"), 12, 11, 11},
		{"it has more", 20, 0, 0, 60, 0, quarantined("a test"), 20, 20, 50},
		{"it has more, and a purchase that no list shows", 20, 0, 0, 60, 5, quarantined("a test"), 20, 25, 50},
		{"it has less than what is not botd's", 20, 0, 0, -1, 0, quarantined("a test"), 20, 0, 0},
		{"where more was executed than answered, it does not", 20, 0, 0, 12, 0, quarantined("the exchange executed b-1 twice"), 20, 20, 12},
	} {
		w := explains(t, c.known, c.fees)
		w.reads(1_000+c.baseBalance, 0)
		if c.unlisted != 0 {
			w.sellsUnlisted(c.unlisted)
		}
		symbol := w.tracker.Symbol(coin)
		symbol.spot.unlisted.inferred = c.inferred
		if c.with != nil {
			c.with(w)
		}
		d := w.deriving(nil)
		d.ownPosition = symbol.Known() - symbol.Fees() - w.tracker.sellsUnknown(symbol)
		d.ownPosition = max(0, d.ownPosition)
		if have := d.spotPosition().explainedByFills(); have != c.explained {
			t.Errorf("%s: want fills to explain %d, have %d", c.name, c.explained, have)
		}
		if have := d.spotPosition().toProtect(); have != c.onSpot {
			t.Errorf("%s: want %d protected, have %d", c.name, c.onSpot, have)
		}
		if have := d.spotPosition().withinWallet(50); have != c.backs {
			t.Errorf("%s: want %d backed by the wallet, have %d", c.name, c.backs, have)
		}
	}
}

func quarantined(why string) func(*wallet) {
	return func(w *wallet) { w.apply(record.Record{Symbol: coin, Body: record.Quarantined{Reason: why}}) }
}

func contradicts(w *wallet) { w.tracker.Symbol(coin).contradicted = "a test" }

// The uncovered part excludes what is being sold, now or as soon as stops have ended. It is in whole steps, and negative if the sales exceed the
// holding.
func TestHoldingWithoutSalesOfRound(t *testing.T) {
	t.Parallel()
	sale := func(purpose placement.Purpose, quantity exchange.Quantity) Intent {
		return Intent{Purpose: purpose, Order: exchange.NewOrder{Market: exchange.Spot, Side: exchange.Sell, Quantity: quantity}}
	}
	for _, c := range []struct {
		name     string
		left     exchange.Quantity
		intents  []Intent
		reserved exchange.Quantity
		want     exchange.Quantity // without exits
		excess   exchange.Quantity // of stops over the holding of 20, with those sales
	}{
		{"nothing sells", 20, nil, 0, 20, 0},
		{"an exit", 20, []Intent{sale(placement.Exit, 6)}, 0, 14, 6},
		{"two", 20, []Intent{sale(placement.Exit, 6), sale(placement.Exit, 4)}, 0, 10, 10},
		{"a stop is no exit", 20, []Intent{sale(placement.StopLoss, 6)}, 0, 20, 0},
		{"one waits for stops", 20, nil, 1, 19, 1},
		{"what waits for stops", 20, nil, 5, 15, 5},
		{"both", 20, []Intent{sale(placement.Exit, 6)}, 5, 9, 11},
		{"more than there is", 4, []Intent{sale(placement.Exit, 6)}, 5, -7, 11},
		{"just that", 11, []Intent{sale(placement.Exit, 6)}, 5, 0, 11},
	} {
		w := explains(t, 20, 0)
		w.reads(1_020, 0)
		d := w.deriving(nil)
		d.intents, d.reserved = c.intents, c.reserved
		if have := d.spotStops().withoutExits(c.left); have != c.want {
			t.Errorf("%s: want %d left of %d, have %d", c.name, c.want, c.left, have)
		}
		w.places(placement.StopLoss, 21, stopOf(20))
		shrinking := w.deriving(nil)
		shrinking.intents, shrinking.reserved = c.intents, c.reserved
		if shrinking.spotStops().shrinkStops(); len(shrinking.shrunk) != 0 != (c.excess > 0) {
			t.Errorf("%s: want the stop taken off %t, have %d", c.name, c.excess > 0, len(shrinking.shrunk))
		}
		w.tracker.Symbol(coin).contradicted = "a test"
		contradicted := w.deriving(nil)
		contradicted.intents, contradicted.reserved = c.intents, c.reserved
		if contradicted.spotStops().shrinkStops(); len(contradicted.shrunk) != 0 {
			t.Errorf("%s: want no stop taken off while the wallet is contradicted", c.name)
		}
	}
}

// The uncovered part is rounded to whole steps, whose size may have grown. What is sold beyond the holding is exact.
func TestRemainderIsInWholeSteps(t *testing.T) {
	t.Parallel()
	for left, want := range map[exchange.Quantity]exchange.Quantity{10: 8, 8: 8, 1: 0, 0: 0, -1: -1, -7: -7} {
		w := explains(t, 20, 0)
		w.tracker.Symbol(coin).rules.QuantityTick = 4
		if have := w.deriving(nil).spotStops().withoutExits(left); have != want {
			t.Errorf("of %d in steps of four: want %d, have %d", left, want, have)
		}
	}
}

// A stop in no list accounts for the wallet's shortfall first, and an ended stop for what remains of it.
func TestUnlistedStopExplainsShortfallFirst(t *testing.T) {
	t.Parallel()
	for missing, want := range map[exchange.Quantity]exchange.Quantity{0: 6, 4: 6, 6: 6, 8: 8, 10: 10, 12: 10} {
		w := explains(t, 20, 0)
		ended, unlisted := w.places(placement.StopLoss, 21, stopOf(4)), w.places(placement.StopLoss, 22, stopOf(6))
		w.now += 60_000
		w.reads(1_020-missing, 0)
		w.tracker.listed[exchange.Spot] = openList{beganMS: w.now}
		w.tracker.noteUnfrozen(ended.ClientOrderID, true)
		if have := w.deriving(nil).spotPosition().selling(func(*account.Placement) bool { return false }); have != want {
			t.Errorf("%d missing: want %s and %s to sell %d, have %d", missing, ended.ClientOrderID, unlisted.ClientOrderID, want, have)
		}
	}
}

// Live stops may sell, as may stops that no list shows, and ended stops up to the wallet's shortfall.
func TestStopSellCapacity(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		baseBalance exchange.Quantity
		inferred    exchange.Quantity
		unlisted    bool // the second stop, of 6, is in no list
		with        func(w *wallet)
		want        exchange.Quantity
	}{
		{"two that stand", 20, 0, false, nil, 10},
		{"one is in no list", 20, 0, true, nil, 10},
		{"and the wallet misses as much", 14, 0, true, nil, 10},
		{"in a quarantine what is missing was sold", 14, 0, true, quarantined("a test"), 4},
		{"in a quarantine some of it", 18, 0, true, quarantined("a test"), 8},
		{"in a quarantine, and nothing is missing", 20, 0, true, quarantined("a test"), 10},
		{"in a quarantine, of what is inferred", 16, 2, true, quarantined("a test"), 4},
		{"in a quarantine, contradicted: what is inferred is not missing", 16, 2, true, func(w *wallet) {
			quarantined("a test")(w)
			contradicts(w)
		}, 6},
	} {
		w := explains(t, 20, 0)
		first, second := w.places(placement.StopLoss, 21, stopOf(4)), w.places(placement.StopLoss, 22, stopOf(6))
		w.now += 60_000
		orders := []exchange.Order{first, second}
		if c.unlisted {
			orders = orders[:1]
		}
		w.reads(1_000+c.baseBalance, 0, orders...)
		w.tracker.listed[exchange.Spot] = openList{orders: orders, beganMS: w.now}
		symbol := w.tracker.Symbol(coin)
		symbol.spot.unlisted.inferred = c.inferred
		if c.with != nil {
			c.with(w)
		}
		if have := w.deriving(nil).spotPosition().selling(func(*account.Placement) bool { return false }); have != c.want {
			t.Errorf("%s: want %d, have %d", c.name, c.want, have)
		}
		if have := w.deriving(nil).spotPosition().selling(func(p *account.Placement) bool { return p.OrderID() == 21 }); have != c.want-4 {
			t.Errorf("%s: want %d without the first, have %d", c.name, c.want-4, have)
		}
	}
}

// On futures resting exits cover the position less exits that rest, are being sent or reduce. They never exceed the room that orders of
// others leave in the exchange's sum.
func TestRoomForRestingExits(t *testing.T) {
	t.Parallel()
	reduces := exchange.NewOrder{Market: bitcoin.Market, Symbol: bitcoin.Name, Side: exchange.Sell,
		Type: exchange.Limit, Price: 60_000_0, Quantity: 6, ReduceOnly: true}
	intent := func(purpose placement.Purpose, reduceOnly bool) Intent {
		return Intent{Purpose: purpose, Order: exchange.NewOrder{Side: exchange.Sell, Quantity: 5, ReduceOnly: reduceOnly}}
	}
	for _, c := range []struct {
		name      string
		rests     placement.Purpose
		intents   []Intent
		foreign   *exchange.Order
		reducible exchange.Quantity // of twenty
		room      exchange.Quantity
	}{
		{"nothing rests", 0, nil, nil, 20, 20},
		{"an exit rests", placement.ExitOrder, nil, nil, 14, 14},
		{"a bid rests", placement.Order, nil, nil, 20, 20},
		{"a reduction is under way", placement.Exit, nil, nil, 14, 14},
		{"a resting exit is being sent", 0, []Intent{intent(placement.ExitOrder, true)}, nil, 15, 15},
		{"an exit is being sent", 0, []Intent{intent(placement.Exit, true)}, nil, 15, 15},
		{"what reduces is being sent", 0, []Intent{intent(placement.TakeProfit, true)}, nil, 15, 15},
		{"an opening is being sent", 0, []Intent{intent(placement.Order, false)}, nil, 20, 20},
		{"both", placement.ExitOrder, []Intent{intent(placement.ExitOrder, true), intent(placement.Exit, true)}, nil, 4, 4},
		{"another's order reduces", 0, nil, &exchange.Order{ID: 91, Side: exchange.Sell, Type: exchange.Limit, Quantity: 8, ClosePositionID: 1}, 12, 12},
		{"another's order closes", 0, nil, &exchange.Order{ID: 91, Side: exchange.Sell, Type: exchange.StopMarket, ClosePosition: true}, 20, 20},
		{"another's order opens", 0, nil, &exchange.Order{ID: 91, Side: exchange.Buy, Type: exchange.Limit, Quantity: 8}, 20, 20},
		{"more than there is", placement.ExitOrder, []Intent{intent(placement.Exit, true), intent(placement.Exit, true), intent(placement.Exit, true)},
			nil, 0, 0},
	} {
		d := holds(t, 20)
		if c.rests != 0 {
			order := reduces
			order.ReduceOnly = c.rests != placement.Order
			d.acknowledge(d.places(c.rests, order), 9)
		}
		if c.foreign != nil {
			c.foreign.Market, c.foreign.Symbol, c.foreign.Status = exchange.Futures, bitcoin.Name, exchange.StatusOpen
			d.tracker.Symbol(bitcoin).foreign = append(d.tracker.Symbol(bitcoin).foreign, *c.foreign)
		}
		one := d.deriving(nil)
		one.intents = c.intents
		if have := one.reductions().room(); have != c.room {
			t.Errorf("%s: want room for %d, have %d", c.name, c.room, have)
		}
		if have := one.reductions().uncovered(); have != c.reducible {
			t.Errorf("%s: want %d, have %d", c.name, c.reducible, have)
		}
	}
	d := holds(t, 20) // the part of others makes room, and is not botd's to sell
	d.others(20)
	d.acknowledge(d.places(placement.ExitOrder, reduces), 9)
	one := d.deriving(nil)
	one.intents = []Intent{intent(placement.ExitOrder, true), intent(placement.Exit, true)}
	if room, have := one.reductions().room(), one.reductions().uncovered(); room != 24 || have != 4 {
		t.Errorf("beside others: want room for 24, and four of botd's, have %d and %d", room, have)
	}
}

// A target is priced once, by its quantity, its share of the equity or its value, on spot with room for the fee. It is not priced while an
// order is open, and an opening is not priced while entries are off.
func TestTargetPricing(t *testing.T) {
	t.Parallel()
	byQuote := strategy.Target{Kind: strategy.ByQuote, Quote: exchange.AmountOf(1_000)}
	byEquity := strategy.Target{Kind: strategy.ByEquity, Share: exchange.RateOne / 10}
	for _, c := range []struct {
		name   string
		target strategy.Target
		with   func(d *derivation)
		want   exchange.Quantity
		priced bool
	}{
		{"a quantity", strategy.Target{Kind: strategy.ByQuantity, Quantity: 30}, nil, 30, true},
		{"a value", byQuote, nil, 20, true},
		{"a share of the equity", byEquity, nil, 20, true},
		{"it is not settled", byQuote, func(d *derivation) { d.symbol.settled = false }, 0, false},
		{"an order is under way", byQuote, func(d *derivation) { d.targetOrders = []*account.Placement{{}} }, 0, false},
		{"nothing may open", byQuote, func(d *derivation) { d.desired.MayOpen = false }, 0, false},
		{"nothing may open, and it is what is held", byQuote, func(d *derivation) { d.desired.MayOpen, d.symbol.position = false, 20 }, 0, false},
		{"nothing may open, and more is held", byQuote, func(d *derivation) { d.desired.MayOpen, d.symbol.position = false, 21 }, 20, true},
		{"nothing may open, and more is held, short", byQuote, func(d *derivation) { d.desired.MayOpen, d.symbol.position = false, -21 }, 20, true},
	} {
		d := holds(t, 0)
		one := d.deriving(nil)
		one.desired.MayOpen, one.desired.Equity, one.symbol.settled, one.symbol.position = true, exchange.AmountOf(10_000), true, 0
		one.symbol.last = d.price("50000")
		one.desired.TakerFee = exchange.RateOne / 100
		if c.with != nil {
			c.with(one)
		}
		have, priced := one.targetQuantity(c.target)
		if have != c.want || priced != c.priced || (one.priced != nil) != c.priced {
			t.Errorf("%s: want %d, priced %t, have %d, %t, %+v", c.name, c.want, c.priced, have, priced, one.priced)
		}
	}
	w := explains(t, 0, 0)
	one := w.deriving(nil)
	whole := one.symbol.rules.QuantityFor(exchange.AmountOf(800), one.symbol.last)
	target := strategy.Target{Kind: strategy.ByQuote, Quote: exchange.AmountOf(1_000)}
	if have := TargetQuantity(target, one.symbol.rules, one.symbol.last, exchange.Amount{}, exchange.RateOne/4); have != whole {
		t.Errorf("on spot, of 1,000 with a fee of a quarter: want what 800 buy, %d, have %d", whole, have)
	}
}
