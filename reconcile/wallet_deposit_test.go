package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// A person deposits the asset while a purchase of botd's is uncertain, and the money is as before it: the purchase has bought nothing of that. It stays so once
// something else has cost money, and after a start (seed 1104076654).
func TestDepositBesideAnUnpaidPurchaseIsNotItsResult(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]purchaseDeposit{
		"the money stays":                            {held: "1.09", money: "10000"},
		"something else has cost money":              {held: "1.09", money: "9900"},
		"the same, after a start":                    {held: "1.09", money: "9900", restart: true},
		"the purchase is executed after the deposit": {held: "1.094", money: "9800", want: 4},
		"a wallet of before lacked nothing":          {shown: "1.01", held: "1.014", money: "9800", want: 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.check(t)
		})
	}
}

type purchaseDeposit struct {
	shown       string // by the wallet while the money is as before; empty for 1.09
	held, money string
	restart     bool
	want        exchange.Quantity // of another stop than that of the ten
}

func (c purchaseDeposit) check(t testing.TB) {
	t.Helper()
	w, _ := protecting(t) // ten, next to 1 BTC of a person
	stop := w.places(placement.StopLoss, 8, stopOf(10))
	w.now += 60_000
	w.hasMoney("1", "0.01", "10000", stop)
	w.now += 1_000
	w.places(placement.Entry, 0, exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.AmountOf(200)})
	if c.shown == "" {
		c.shown = "1.09"
	}
	free := func(held string) string { return exchange.MustAmount(held).Sub(exchange.MustAmount("0.01")).String() }
	w.now += 2_000
	w.tracker.Symbol(coin).last = 50_000e8
	w.hasMoney(free(c.shown), "0.01", "10000", stop)
	if c.restart {
		w.start()
	}
	derive := w.deriver()
	w.now += 2_000
	w.hasMoney(free(c.held), "0.01", c.money, stop)
	if have := stopped(derive()); have != c.want {
		t.Errorf("want another stop of %d, have %d", c.want, have)
	}
}

// An exit has sold the position, and no list shows that. The symbol is quarantined, and a person's deposit, smaller or larger than the position, holds the
// place of its units in the wallet: no stop sells those (seed 1104067968).
func TestStopCoversNoDepositInPlaceOfWhatAnExitHasSold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]depositInPlace{
		"all is sold":               {deposit: 20, sold: 10},
		"all, and a part is hidden": {deposit: 4, sold: 10},
		"a part is sold":            {deposit: 20, sold: 6, want: 4},
		"nothing is sold":           {deposit: 20, want: 10},
		"the wallet cannot be read": {deposit: 20, sold: 10, unread: true, want: 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.check(t)
		})
	}
}

type depositInPlace struct {
	deposit, sold exchange.Quantity
	unread        bool
	want          exchange.Quantity // of stops
}

func (c depositInPlace) check(t testing.TB) {
	t.Helper()
	w, derive := protecting(t) // ten, next to 1 BTC of a person
	rules := w.tracker.Symbol(coin).rules
	w.now += 60_000
	w.shows(rules.QuantityAmount(1_010+c.deposit).String(), "0")
	w.apply(quarantineOf("a test"))
	w.places(placement.Exit, 8, saleOf(10))
	for range 8 {
		w.now += 1_000
		w.shows(rules.QuantityAmount(1_010+c.deposit-c.sold).String(), "0")
	}
	if c.unread {
		w.tracker.walletRead = false
	}
	if have := stopped(derive()); have != c.want {
		t.Errorf("want stops of %d, have %d", c.want, have)
	}
}

// The same without a quarantine: what neither open list nor wallet shows as sold gets another stop, but only of units that are neither a person's of before nor
// deposited since.
func TestUnconfirmedStopSellsNoDeposit(t *testing.T) {
	t.Parallel()
	unconfirmedNextToDeposit(t)
}

func unconfirmedNextToDeposit(t testing.TB) {
	t.Helper()
	for deposit, want := range map[exchange.Quantity]exchange.Quantity{8: 2, 0: 10} {
		d := newUnconfirmed(t, deposit)
		d.spotStops().placeUnconfirmed()
		if have := stopped(d.intents); have != want {
			t.Errorf("%d deposited: want another stop of %d, have %d", deposit, want, have)
		}
	}
}

// newUnconfirmed has a position of ten whose stop neither open list nor wallet shows, next to 1 BTC of a person. The wallet has as many units as if the stop
// had sold what has been deposited.
func newUnconfirmed(t testing.TB, deposit exchange.Quantity) *derivation {
	t.Helper()
	w, _ := protecting(t)
	rules := w.tracker.Symbol(coin).rules
	w.now += 60_000
	w.shows(rules.QuantityAmount(1_010).String(), "0")
	w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Baseline{Quantity: 1_000, Unattributed: deposit}})
	d := w.deriving(func(d *Desired) { stopped2(d); d.Bridge = true })
	d.symbol.spot.unconfirmedMS = w.now - 10_000
	return d
}
