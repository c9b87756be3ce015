package sim

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"botd/exchange"
)

// TestNoLiquidationWithinCorridor covers positions on two symbols and moves both within what Quiet
// allows at once: the account stays above its margin. Beyond the corridor it need not.
func TestNoLiquidationWithinCorridor(t *testing.T) {
	t.Parallel()
	quiet := 0
	rapid.Check(t, func(r *rapid.T) {
		d := newDesk(t, Config{})
		eth := d.on(exchange.Futures, "ETH-USDT")
		side := rapid.SampledFrom([]string{"buy", "sell"})
		d.place(d.order(side.Draw(r, "BTC"), exchange.MarketOrder, rapid.SampledFrom([]string{"0.1", "0.5", "0.9"}).Draw(r, "of BTC"), ""))
		eth.place(eth.order(side.Draw(r, "ETH"), exchange.MarketOrder, rapid.SampledFrom([]string{"1", "8", "16"}).Draw(r, "of ETH"), ""))
		a := d.Exchange.byName["alice"]
		// This is the widest quiet move of both.
		btc, ether := d.p("50000"), d.p("2500")
		for share := 900; share > 0; share-- {
			width := func(p exchange.Price) exchange.Price { return p / 1000 * exchange.Price(share) }
			calm := func() bool {
				return d.Quiet(d.key(), btc-width(btc), btc+width(btc), startMS) && eth.Quiet(eth.key(), ether-width(ether), ether+width(ether), startMS)
			}
			if first, second := calm(), calm(); !first || !second { // the second time with one corridor for both
				continue
			}
			quiet++
			for corner := range 4 {
				marks := [2]exchange.Price{btc - width(btc), ether - width(ether)}
				if corner&1 != 0 {
					marks[0] = btc + width(btc)
				}
				if corner&2 != 0 {
					marks[1] = ether + width(ether)
				}
				d.SkipTo(startMS, d.key(), marks[0])
				eth.SkipTo(startMS, eth.key(), marks[1])
				if a.money.Wallet.Add(a.unrealized()).Cmp(a.maintenance()) <= 0 {
					r.Fatalf("moves of %d/1000, corner %d: the margin is used up within what is quiet", share, corner)
				}
			}
			return
		}
	})
	if quiet < 20 {
		t.Errorf("only %d moves were quiet", quiet)
	}
}

// After a withdrawal, and after a fill, an earlier quiet move is no longer quiet.
func TestTheCorridorIsFoundAgainWhenAnAccountChanges(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(d *desk){
		"a withdrawal": func(d *desk) {
			if err := d.Transfer("alice", exchange.Futures, "USDT", exchange.MustAmount("-800")); err != nil {
				d.Fatal(err)
			}
		},
		"a fill": func(d *desk) {
			d.do(exchange.Request{Operation: exchange.FuturesSetLeverage, Symbol: d.name, Leverage: 50})
			d.place(d.order("buy", exchange.MarketOrder, "3", ""))
		},
	} {
		d := newDesk(t, Config{})
		eth := d.on(exchange.Futures, "ETH-USDT")
		d.place(d.order("buy", exchange.MarketOrder, "0.9", ""))
		eth.place(eth.order("buy", exchange.MarketOrder, "16", ""))
		quiet := func(share exchange.Price) bool {
			width := d.p("50000") / 1000 * share
			return d.Quiet(d.key(), d.p("50000")-width, d.p("50000")+width, startMS)
		}
		widest := exchange.Price(0)
		for share := exchange.Price(1); share < 900 && quiet(share); share++ {
			widest = share
		}
		if widest < 20 || widest > 300 {
			t.Fatalf("want a corridor of some percent, have %d thousandths", widest)
		}
		version := d.CorridorVersion()
		if quiet(widest); d.CorridorVersion() != version {
			t.Errorf("%s: want the corridor found once while nothing changes", name)
		}
		change(d)
		if quiet(widest) {
			t.Errorf("%s: want %d thousandths not quiet any more", name, widest)
		}
		if d.CorridorVersion() == version || !quiet(1) {
			t.Errorf("%s: want a narrower corridor", name)
		}
	}
}

// With several positions one symbol has no bounds of its own.
func TestPositionsAreCoupledWhereAnAccountHasSeveral(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	seat, _ := d.Instrument(d.key())
	apart := func(want bool, when string) {
		t.Helper()
		if _, _, _, have := seat.Bounds(); have != want {
			t.Errorf("%s: want it apart %t, have %t", when, want, have)
		}
	}
	apart(true, "without positions")
	for i, each := range []*desk{d, d.as("bob"), d.as("bob").on(exchange.Futures, "ETH-USDT"), d.on(exchange.Futures, "ETH-USDT")} {
		each.place(each.order("buy", exchange.MarketOrder, []string{"0.1", "0.1", "1", "1"}[i], ""))
		apart(i < 2, fmt.Sprint("after position ", i+1))
	}
	for _, each := range []*desk{d, d.as("bob")} {
		each.place(each.order("sell", exchange.MarketOrder, "0.1", "", reduceOnly))
	}
	apart(true, "when each has one again")
}

func TestAStopThatFollowsIsTrailedWhenItWaitsWhereItIsToBe(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	seat, _ := d.Instrument(d.key())
	d.place(d.order("buy", exchange.MarketOrder, "0.1", ""))
	want := func(want bool, what string) {
		t.Helper()
		if have := seat.Trailed(); have != want {
			t.Errorf("%s: want %t, have %t", what, want, have)
		}
	}
	want(true, "before it follows")
	seat.Trail(d.p("49500"), 0, true)
	want(false, "before it is placed")
	d.place(d.order("sell", exchange.StopMarket, "0.05", "", reduceOnly, d.stopAt("49400", exchange.MarkPrice)))
	want(false, "with one that is further away")
	stop := d.place(d.order("sell", exchange.StopMarket, "", "", closePosition, d.stopAt("49500", exchange.MarkPrice)))
	want(true, "with the stop in its place")
	seat.Trail(d.p("49600"), 0, true)
	want(false, "when it is to be elsewhere")
	seat.Trail(0, d.p("51000"), true)
	want(true, "before it follows again")
	d.do(exchange.Request{Operation: exchange.FuturesCancel, OrderID: stop.ID})
	if seat.Revealed() || seat.Known() != d.p("50000") {
		t.Errorf("want a still market's price known, have %d", seat.Known())
	}
	if seat.Reveal(true); seat.Revealed() {
		t.Error("want no path of a still market revealed")
	}
}
