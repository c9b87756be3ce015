package reconcile

import (
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// The exchange executed an exit that it refused, and the order history omits it for minutes. The wallet shows that the units are sold and that their
// money came, so a person's units are not sold in their place, by an exit or by a stop. If only the units are missing, the wallet may be wrong.
func TestRefusedSaleThatTheWalletShowsIsNotRepeated(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		asset, usd string
		after      func(w *wallet)
		want       exchange.Quantity
	}{
		"all of it":                       {"1", "10500", nil, 0},
		"at a price a little lower":       {"1", "10460", nil, 0},
		"a part of it":                    {"1.004", "10300", nil, 4},
		"nothing has moved":               {"1.01", "10000", nil, 10},
		"the base asset alone is missing": {"1", "10000", nil, 10},
		"a deposit of money":              {"1.01", "10500", nil, 10},
		"more units are missing":          {"0.98", "11500", nil, 10},
		"less money than they are worth":  {"1", "10400", nil, 10},
		"more money than they are worth":  {"1", "10600", nil, 10},
		"the units are back":              {"1", "10500", func(w *wallet) { w.hasMoney("1.01", "0", "10000") }, 10},
		"the units are back, and then a wallet that is wrong shows less": {"1", "10500", func(w *wallet) {
			w.hasMoney("1.01", "0", "10000")
			w.now += 60_000
			w.hasMoney("1.004", "0", "10000")
			w.hasMoney("1.004", "0", "10000")
		}, 10},
		"the same, where fees have taken two": {"1", "10500", func(w *wallet) {
			w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Fees{Quantity: 2, Expected: true}})
			w.hasMoney("1.008", "0", "10000")
			w.now += 60_000
			w.hasMoney("1.004", "0", "10000")
			w.hasMoney("1.004", "0", "10000")
		}, 8},
		"more was bought since": {"1", "10500", func(w *wallet) { w.buys(15); w.hasMoney("1.015", "0", "9750") }, 15},
		"the history shows it at last": {"1", "10500", func(w *wallet) {
			w.apply(record.Record{Symbol: coin, Body: record.Adopted{Quantity: -10}})
			w.hasMoney("1", "0", "10500")
			w.buys(15)
			w.hasMoney("1.015", "0", "9750")
		}, 15},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repeatedAfterRefusal(t, nil, c.asset, c.usd, c.after, c.want)
		})
	}
}

// The same while the list of open orders cannot be read: the units and their money show the sale, whatever rests.
func TestRefusedSaleIsNotRepeatedWhileTheOpenListIsUnread(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		asset, usd string
		want       exchange.Quantity
	}{
		"all of it":                       {"1", "10500", 0},
		"a part of it":                    {"1.004", "10300", 4},
		"nothing has moved":               {"1.01", "10000", 10},
		"the base asset alone is missing": {"1", "10000", 10},
		"a deposit of money":              {"1.01", "10500", 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			soldWhileUnread(t, c.asset, c.usd, c.want)
		})
	}
}

func soldWhileUnread(t testing.TB, asset, usd string, want exchange.Quantity) {
	t.Helper()
	w, _ := protecting(t) // 10, besides 1 BTC of a person
	w.now += 60_000
	w.hasMoney("1.01", "0", "10000")
	w.now += 1_000
	w.refuses(placement.Exit, saleOf(10))
	for range 12 {
		w.now += 1_000
		w.unread(asset, usd)
	}
	sold := exchange.Quantity(0)
	for _, intent := range w.derives(func(d *Desired) { d.Strategy, d.Unread = d.Strategy.Halted(record.LevelFlatten), true }) {
		if intent.Purpose == placement.Exit {
			sold += intent.Order.Quantity
		}
	}
	if sold != want {
		t.Errorf("want an exit of %d, have %d", want, sold)
	}
}

// A start keeps what the wallet had shown before the sale, from the records and from a checkpoint, until a list shows the sale or a person decides.
func TestStartKnowsWhatTheWalletShowedBeforeARefusedSale(t *testing.T) {
	t.Parallel()
	records := func(w *wallet) { policy := w.tracker.foreignPolicy; w.start(); w.tracker.foreignPolicy = policy }
	for name, c := range map[string]struct {
		start      func(w *wallet)
		asset, usd string
		want       exchange.Quantity
	}{
		"from the records, sold":            {records, "1", "10500", 0},
		"from a checkpoint, sold":           {(*wallet).restores, "1", "10500", 0},
		"from a checkpoint, nothing moved":  {(*wallet).restores, "1.01", "10000", 10},
		"from a checkpoint, no money came":  {(*wallet).restores, "1", "10000", 10},
		"a person decided before the start": {func(w *wallet) { w.apply(record.Record{Symbol: coin, Body: record.Adopted{}}); w.restores() }, "1", "10500", 10},
		"confirmed before the start, sold":  {func(w *wallet) { w.hasMoney("1.01", "0", "10000"); w.restores() }, "1", "10500", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repeatedAfterRefusal(t, c.start, c.asset, c.usd, nil, c.want)
		})
	}
}

func repeatedAfterRefusal(t testing.TB, start func(w *wallet), asset, usd string, after func(w *wallet), want exchange.Quantity) {
	t.Helper()
	w, derive := protecting(t) // 10, besides 1 BTC of a person
	w.now += 60_000
	w.hasMoney("1.01", "0", "10000")
	w.now += 1_000
	w.refuses(placement.Exit, saleOf(10))
	w.now += 1_000
	if start != nil {
		start(w)
		derive = w.deriver()
		w.now += 1_000
	}
	w.hasMoney(asset, "0", usd)
	w.now += 60_000
	if after != nil {
		after(w)
	} else {
		w.hasMoney(asset, "0", usd)
	}
	symbol := w.tracker.Symbol(coin)
	sold := exchange.Quantity(0)
	intents, _ := w.tracker.Derive(&Desired{Strategy: w.tracker.Strategy("one").Halted(record.LevelFlatten), Symbol: symbol,
		Equity: exchange.AmountOf(10_000), Interval: exchange.Minute1, Collar: exchange.RateOne / 20}, w.now)
	for _, intent := range intents {
		if intent.Purpose == placement.Exit {
			sold += intent.Order.Quantity
		}
	}
	if sold != want {
		t.Errorf("want an exit of %d, have %d", want, sold)
	}
	if have := stopped(derive()); have != want {
		t.Errorf("want a stop of %d, have %d", want, have)
	}
}

// The exchange refused a stop, and accepted an exit that no list shows. The wallet shows the sale of the one, which is no sale of the other: what is left has
// its stop. If the wallet shows both sales, nothing is left.
func TestSaleOfAcceptedExitIsNotThatOfRefusedStop(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		asset, usd string
		want       exchange.Quantity
	}{
		"one was sold":   {"1.005", "10250", 5},
		"both were sold": {"1", "10500", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			saleAndRefusedStop(t, c.asset, c.usd, c.want)
		})
	}
}

func saleAndRefusedStop(t testing.TB, asset, usd string, want exchange.Quantity) {
	t.Helper()
	w, derive := protecting(t) // 10, besides 1 BTC of a person
	w.now += 60_000
	w.hasMoney("1.01", "0", "10000")
	w.now += 1_000
	w.refuses(placement.StopLoss, stopOf(5))
	w.now += 500
	w.places(placement.Exit, 8, saleOf(5))
	for range 3 {
		w.now += 1_000
		w.hasMoney(asset, "0", usd)
	}
	if have := stoppedAtOnce(derive()); have != want {
		t.Errorf("want a stop of %d, have %d", want, have)
	}
}

// A sale counts as one that the wallet may show while no open list shows it, and the exchange has not answered that it is canceled.
func TestSalesThatNoOpenListShows(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		with func(w *wallet)
		want exchange.Quantity
	}{
		"never listed": {func(w *wallet) { w.places(placement.Exit, 8, saleOf(5)) }, 5},
		"listed":       {func(w *wallet) { w.shows("1.005", "0.005", w.places(placement.Exit, 8, saleOf(5))) }, 0},
		"no longer listed": {func(w *wallet) {
			w.shows("1.005", "0.005", w.places(placement.Exit, 8, saleOf(5)))
			w.now += 10_000
			w.shows("1.005", "0.005")
		}, 5},
		"its cancel is answered": {func(w *wallet) {
			row := w.places(placement.StopLoss, 8, stopOf(5))
			w.shows("1.005", "0.005", row)
			w.now += 1_000
			w.answersCancel(row)
		}, 0},
		"a purchase": {func(w *wallet) {
			w.places(placement.Order, 8, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Quantity: 5, Price: 47_500e8})
		}, 0},
		"two": {func(w *wallet) { w.places(placement.Exit, 8, saleOf(5)); w.places(placement.StopLoss, 9, stopOf(3)) }, 8},
	} {
		w, _ := protecting(t)
		w.now += 60_000
		c.with(w)
		w.now += 1_000
		s := w.tracker.survey(&Snapshot{BeganMS: w.now, EndedMS: w.now})
		if have := s.unlistedOrders().possiblySoldUnlisted(w.tracker.Symbol(coin)); have != c.want {
			t.Errorf("%s: want %d, have %d", name, c.want, have)
		}
	}
}

// Only sales of the spot symbol are yielded, until the caller has enough.
func TestRefusedSalesOfASymbol(t *testing.T) {
	t.Parallel()
	order := func(id string, key exchange.SymbolKey, side exchange.Side) RefusedOrder {
		return RefusedOrder{Symbol: key, clientOrderID: id, order: exchange.NewOrder{Side: side}}
	}
	other := exchange.SymbolKey{Market: exchange.Spot, Name: "ETH-USDT"}
	r := refusals{
		refused: []RefusedOrder{order("bought", coin, exchange.Buy), order("first", coin, exchange.Sell), order("other", other, exchange.Sell),
			order("futures", bitcoin, exchange.Sell), order("second", coin, exchange.Sell)},
		confirmed: []RefusedOrder{order("third", coin, exchange.Sell)},
	}
	for _, c := range []struct {
		key  exchange.SymbolKey
		most int
		want string
	}{{coin, 9, "first second third"}, {coin, 1, "first"}, {coin, 2, "first second"}, {other, 9, "other"}, {bitcoin, 9, ""}} {
		var have []string
		for one := range r.salesOn(c.key) {
			if have = append(have, one.clientOrderID); len(have) == c.most {
				break
			}
		}
		if strings.Join(have, " ") != c.want {
			t.Errorf("%s, %d at most: want %q, have %q", c.key, c.most, c.want, have)
		}
	}
}

// A wallet that was read before the refusal arrived may show anybody's sale: two seconds later the stop is placed.
func TestWalletFromBeforeTheRefusalShowsNoSale(t *testing.T) {
	t.Parallel()
	w, derive := protecting(t)
	w.now += 60_000
	w.hasMoney("1.01", "0", "10000")
	w.now += 1_000
	w.refuses(placement.Exit, saleOf(10))
	w.hasMoney("1", "0", "10500")
	w.now += refusedWaitMS
	if have := stopped(derive()); have != 10 {
		t.Errorf("want a stop of 10, have %d", have)
	}
}

// The newest 64 confirmed refusals are remembered: their sales are not repeated once the wallet shows them.
func TestNewestConfirmedRefusalsAreRemembered(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, after int // other refusals
		want          exchange.Quantity
	}{
		"63 later ones":                     {0, maxRemembered - 1, 0},
		"64 later ones":                     {0, maxRemembered, 10},
		"63 later ones, and an earlier one": {1, maxRemembered - 1, 0},
	} {
		w, _ := protecting(t)
		w.now += 60_000
		others := func(count int) {
			for range count {
				w.now += 100
				w.refuses(placement.StopLoss, stopOf(1))
			}
			w.now += 1_000
			w.hasMoney("1.01", "0", "10000")
		}
		others(c.before)
		w.now += 1_000
		w.refuses(placement.Exit, saleOf(10))
		others(c.after)
		if have := len(w.tracker.Refused()); have != 0 {
			t.Fatalf("%s: want all confirmed, have %d", name, have)
		}
		w.now += 1_000
		w.hasMoney("1", "0", "10500")
		w.now += 60_000
		w.hasMoney("1", "0", "10500")
		sold := exchange.Quantity(0)
		for _, intent := range w.derives(func(d *Desired) { d.Strategy = d.Strategy.Halted(record.LevelFlatten) }) {
			if intent.Purpose == placement.Exit {
				sold += intent.Order.Quantity
			}
		}
		if sold != c.want {
			t.Errorf("%s: want an exit of %d, have %d", name, c.want, sold)
		}
	}
}

// A stop is refused, and the wallet shows asset and money exactly as they were before the purchase: it is old. After a sale the fee would be missing.
func TestOldWalletDoesNotShowThatARefusedStopSold(t *testing.T) {
	t.Parallel()
	for money, want := range map[string]exchange.Quantity{"10000": 10, "9999.5": 0} {
		oldWalletAfterRefusal(t, money, want)
	}
}

func oldWalletAfterRefusal(t testing.TB, money string, want exchange.Quantity) {
	t.Helper()
	w := newWallet(t)
	w.targets(10, nil)
	w.hasMoney("1", "0", "10000")
	bought := w.sends(placement.Entry, 7, exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.AmountOf(500)})
	w.apply(record.Record{AtMS: w.now, Strategy: "one", Symbol: coin, ClientOrderID: bought.ClientOrderID,
		Body: record.Ended{State: placement.Filled, Filled: 10, OrderID: 7, Price: exchange.AmountOf(50_000)}})
	derive := w.deriver()
	w.now += 60_000
	w.hasMoney("1.01", "0", "9500")
	w.refuses(placement.StopLoss, stopOf(10))
	w.now += 2_000
	w.hasMoney("1", "0", money)
	if have := stopped(derive()); have != want {
		t.Errorf("%s USDT: want a stop of %d, have %d", money, want, have)
	}
}
