package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// sendsOnFutures sends a futures sale of the same asset.
func (w *wallet) sendsOnFutures(quantity exchange.Quantity) {
	rules := *w.tracker.Symbol(coin).rules
	rules.Market = exchange.Futures
	w.tracker.Track(bitcoin).rules = &rules
	order := exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell, Type: exchange.Limit, Price: 50_000e8,
		Quantity: quantity, ClientOrderID: w.tracker.NextClientOrderID("t")}
	w.apply(record.Record{AtMS: w.now, Strategy: "one", Symbol: bitcoin, ClientOrderID: order.ClientOrderID,
		Body: record.Sending{Order: order, Purpose: placement.Order, DeadlineMS: w.now + 5_000}})
}

// derived is an intent of this round.
func derived(purpose placement.Purpose, side exchange.Side, quantity exchange.Quantity) func(*derivation) {
	return func(d *derivation) {
		d.intents = append(d.intents, Intent{Purpose: purpose, Order: exchange.NewOrder{Market: exchange.Spot, Symbol: "BTC-USDT", Side: side,
			Quantity: quantity}})
	}
}

// Only sales of the asset on spot take some of the wallet's 1,010, whether free or frozen.
func TestSalesTakeOfTheWallet(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		with func(*wallet)
		also func(*derivation)
		want exchange.Quantity
	}{
		"none":            {nil, nil, 1_010},
		"a sale":          {func(w *wallet) { w.places(placement.Exit, 9, saleOf(4)) }, nil, 1_006},
		"a purchase":      {func(w *wallet) { w.buysUnder(9, 4) }, nil, 1_010},
		"a futures sale":  {func(w *wallet) { w.sendsOnFutures(4) }, nil, 1_010},
		"a derived sale":  {nil, derived(placement.Exit, exchange.Sell, 4), 1_006},
		"a derived entry": {nil, derived(placement.Entry, exchange.Buy, 4), 1_010},
		"a canceled sale": {nil, derived(placement.Cancel, exchange.Sell, 4), 1_010},
	} {
		w, _ := protecting(t)
		w.now += 60_000
		w.shows("1.01", "0")
		if c.with != nil {
			c.with(w)
		}
		for _, unread := range []bool{true, false} {
			d := w.deriving(func(desired *Desired) { desired.Unread = unread })
			if c.also != nil {
				c.also(d)
			}
			if have := d.saleQuantity().withinFree(5_000, func(*account.Placement) bool { return true }); have != c.want {
				t.Errorf("%s, unread %t: want %d, have %d", name, unread, c.want, have)
			}
			if have := d.saleQuantity().beyondOpenSales(5_000); !unread && have != c.want {
				t.Errorf("%s: want %d frozen by none, have %d", name, c.want, have)
			}
		}
	}
}

// What no sale freezes may be sold, unless any fact casts doubt on the list of sales or on the wallet.
func TestWhatNoSaleFreezes(t *testing.T) {
	t.Parallel()
	person := func(side exchange.Side) func(w *wallet, _ *Desired) {
		return func(w *wallet, _ *Desired) {
			w.restsForeign("BTC-USDT", 4)
			w.tracker.Symbol(coin).foreign[0].Side = side
		}
	}
	for name, c := range map[string]struct {
		with func(*wallet, *Desired)
		want exchange.Quantity
	}{
		"all of it":                           {func(*wallet, *Desired) {}, 1_010},
		"a person sells":                      {person(exchange.Sell), 1_006},
		"a person buys":                       {person(exchange.Buy), 1_010},
		"the market cannot be read":           {func(_ *wallet, desired *Desired) { desired.Unread = true }, 0},
		"botd stands down":                    {func(w *wallet, _ *Desired) { w.tracker.Symbol(coin).unknownEnded = youngers + "1" }, 0},
		"the symbol is quarantined":           {func(w *wallet, _ *Desired) { w.apply(quarantineOf("a test")) }, 0},
		"more was sold than is held":          {func(w *wallet, _ *Desired) { w.tracker.Symbol(coin).spot.overdrawn = true }, 0},
		"the exchange has just refused sales": {func(w *wallet, _ *Desired) { w.refuses(placement.Exit, saleOf(4)) }, 0},
	} {
		w, _ := protecting(t)
		w.now += 60_000
		w.shows("0", "1.01")
		d := w.deriving(func(desired *Desired) { c.with(w, desired) })
		if have := d.saleQuantity().beyondOpenSales(5_000); have != c.want {
			t.Errorf("%s: want %d, have %d", name, c.want, have)
		}
	}
}

// Only a spot symbol can have the same asset, and its rules show whether it does. Without rules it may.
func TestSymbolsOfTheSameAsset(t *testing.T) {
	t.Parallel()
	w, _ := protecting(t)
	w.sendsOnFutures(4)
	rules := *w.tracker.Symbol(coin).rules
	rules.Base = "ETH"
	ether, euro := exchange.SymbolKey{Market: exchange.Spot, Name: "ETH-USDT"}, exchange.SymbolKey{Market: exchange.Spot, Name: "BTC-EUR"}
	w.tracker.Track(ether).rules = &rules
	w.tracker.Track(euro)
	d := w.deriving(nil)
	for key, want := range map[exchange.SymbolKey]bool{coin: true, euro: true, ether: false, bitcoin: false} {
		if have := d.saleEvidence().sameAsset(key); have != want {
			t.Errorf("%v: want it the same asset: %t, have %t", key, want, have)
		}
	}
}

// A second execution of a stop, which no list shows, freezes six of ten, and the cancel of the first one freed four. A wallet read soon after that may not
// show the four, so that the first stop is for all ten. The exchange refuses it: the next one is for the four that are free (seed 1103050512). If it refuses
// that too, it has another reason, and the next one is for ten again.
func TestRefusedStopIsFollowedByOneOfWhatIsFree(t *testing.T) {
	t.Parallel()
	refusedBeyondFree(t)
}

func refusedBeyondFree(t testing.TB) {
	w := holdingNextTo(t, ForeignHalt, "0")
	derive := w.deriver()
	stop := w.places(placement.StopLoss, 8, stopOf(10))
	w.now += 30_000
	w.shows("0", "0.01", stop)
	w.now += 1_000
	w.answersCancel(stop)
	for i, want := range []exchange.Quantity{10, 4, 10} {
		w.now += 500
		w.shows("0.004", "0.006")
		if have := stoppedAtOnce(derive()); have != want {
			t.Errorf("stop %d: want one of %d, have %d", i, want, have)
		}
		w.refuses(placement.StopLoss, stopOf(want))
	}
	w.refuses(placement.StopLoss, stopOf(10))
	w.places(placement.StopLoss, 9, stopOf(4))
	if w.tracker.Symbol(coin).spot.overdrawn {
		t.Error("want a stop that the exchange accepts to end that")
	}
}
