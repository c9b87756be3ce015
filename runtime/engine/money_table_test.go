package engine

import (
	"fmt"
	"testing"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/internal/reconciletest"
	"botd/reconcile/account"
	"botd/reconcile/record"
	"botd/risk"
)

// valued is the base of an engine with that many strategies on futures and on spot. The futures account has 1,000, the spot wallet 500
// USDT.
func valued(t testing.TB, futures, spot int) *base {
	t.Helper()
	b := emptyBase(1_767_225_600_000) // midnight
	account := reconciletest.Of(b.tracker)
	*account.Account, *account.AccountMS = exchange.MarginAccount{WalletBalance: exchange.AmountOf(1_000)}, 1
	*account.Balances, *account.WalletMS = []exchange.Balance{{Asset: "USDT", Free: exchange.AmountOf(400), Frozen: exchange.AmountOf(100)}}, 1
	for _, symbol := range sim.DefaultSymbols() {
		left := &futures
		if symbol.Market == exchange.Spot {
			left = &spot
		}
		if *left == 0 {
			continue
		}
		*left--
		one := &leg{symbol: b.tracker.Track(symbol.Key())}
		one.config.Name, one.config.Symbol = symbol.Market.String()+" "+symbol.Name, symbol
		see(one.symbol, func(o *seen) { o.Rules, o.Last = symbol, exchange.Price(100e8) })
		b.addLeg(one)
	}
	return b
}

// The value is the futures account's equity, and on spot the quote asset, counted once, plus the strategies' holdings at the last price.
func TestEquityOfTradedMarkets(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		futures, spot int
		with          func(b *base)
		want          string // total, known, on spot, markets
	}{
		{"futures", 1, 0, nil, "1000 true 0 futures"},
		{"two on futures", 2, 0, nil, "1000 true 0 futures"},
		{"spot", 0, 1, nil, "500 true 500 spot"},
		{"two on spot share the quote asset", 0, 2, nil, "500 true 500 spot"},
		{"both", 1, 1, nil, "1500 true 500 futures spot"},
		{"none", 0, 0, nil, "0 false 0 "},
		{"futures, not read yet", 1, 0, func(b *base) { *reconciletest.Of(b.tracker).AccountMS = 0 }, "0 false 0 futures"},
		{"spot, not read yet", 0, 1, func(b *base) { *reconciletest.Of(b.tracker).WalletMS = 0 }, "0 false 500 spot"},
		{"spot alone, and the futures account was not read", 0, 1, func(b *base) { *reconciletest.Of(b.tracker).AccountMS = 0 }, "500 true 500 spot"},
		{"futures alone, and the wallet was not read", 1, 0, func(b *base) { *reconciletest.Of(b.tracker).WalletMS = 0 }, "1000 true 0 futures"},
		{"with a position on spot", 0, 1, func(b *base) {
			one := b.legs[0]
			see(one.symbol, func(o *seen) { o.Position, _ = o.Rules.Quantity(exchange.AmountOf(2).Decimal()) })
		}, "700 true 700 spot"},
	} {
		b := valued(t, c.futures, c.spot)
		if c.with != nil {
			c.with(b)
		}
		total, known := b.total()
		if have := fmt.Sprintf("%s %t %s %s", total, known, b.onSpot(), b.markets()); have != c.want {
			t.Errorf("%s: want %q, have %q", c.name, c.want, have)
		}
	}
}

// The day's equity loses the part of a market that goes, and gains the current value of one that comes.
func TestBaselinesFollowAddedAndRemovedMarkets(t *testing.T) {
	t.Parallel()
	amount := exchange.AmountOf
	for _, c := range []struct {
		name          string
		futures, spot int
		day           account.Day // 1,400 on both markets, 300 of them on spot; the peak was 1,500
		want          string      // equity, peak, on spot, markets
		recorded      bool
	}{
		{"nothing changes", 1, 1, account.Day{Markets: "futures spot", Equity: amount(1_400), Peak: amount(1_500), Spot: amount(300)},
			"1400 1500 300 futures spot", false},
		{"futures go", 0, 1, account.Day{Markets: "futures spot", Equity: amount(1_400), Peak: amount(1_500), Spot: amount(300)},
			"300 400 300 spot", true},
		{"spot goes", 1, 0, account.Day{Markets: "futures spot", Equity: amount(1_400), Peak: amount(1_500), Spot: amount(300)},
			"1100 1200 0 futures", true},
		{"futures come, with what they have now", 1, 1, account.Day{Markets: "spot", Equity: amount(300), Peak: amount(400), Spot: amount(300)},
			"1300 1400 300 futures spot", true},
		{"spot comes, with what it has now", 1, 1, account.Day{Markets: "futures", Equity: amount(900), Peak: amount(950)},
			"1400 1450 500 futures spot", true},
		{"one takes the place of the other", 0, 1, account.Day{Markets: "futures", Equity: amount(900), Peak: amount(950)},
			"500 550 500 spot", true},
		{"the parts were not saved before", 1, 1, account.Day{Equity: amount(1_400), Peak: amount(1_500)}, "1400 1500 500 futures spot", true},
		{"no day has begun", 1, 1, account.Day{}, "0 0 0 ", false},
	} {
		b := valued(t, c.futures, c.spot)
		if c.day != (account.Day{}) {
			b.record(record.Record{Body: record.Day{StartMS: 1, Equity: c.day.Equity, Peak: c.day.Peak, Markets: c.day.Markets, Spot: c.day.Spot}})
		}
		before := len(b.unwritten)
		l := &limits{base: b}
		l.regroup()
		day := b.tracker.Watch("").Day()
		if have := fmt.Sprintf("%s %s %s %s", day.Equity, day.Peak, day.Spot, day.Markets); have != c.want || (len(b.unwritten) > before) != c.recorded {
			t.Errorf("%s: want %q, recorded %t, have %q, %d records", c.name, c.want, c.recorded, have, len(b.unwritten)-before)
		}
	}
}

// On spot the spot part moves, too.
func TestTransferMovesBaselines(t *testing.T) {
	t.Parallel()
	for market, want := range map[exchange.Market]string{exchange.Futures: "1450 1550 300", exchange.Spot: "1450 1550 350"} {
		b := valued(t, 1, 1)
		l := &limits{base: b}
		if l.shift(market, exchange.AmountOf(50)); len(b.unwritten) != 0 {
			t.Errorf("%s: want nothing moved before the first day", market)
		}
		b.record(record.Record{Body: record.Day{StartMS: 1, Equity: exchange.AmountOf(1_400), Peak: exchange.AmountOf(1_500), Markets: "futures spot",
			Spot: exchange.AmountOf(300)}})
		l.shift(market, exchange.AmountOf(50))
		day := b.tracker.Watch("").Day()
		if have := fmt.Sprintf("%s %s %s", day.Equity, day.Peak, day.Spot); have != want || day.StartMS != 1 || day.Markets != "futures spot" {
			t.Errorf("%s: want %q, have %q", market, want, have)
		}
	}
}

// The account's breach precedes the strategy's. An expired one blocks nothing.
func TestBreachBlocksEntriesUntilItEnds(t *testing.T) {
	t.Parallel()
	const daily, drawdown = risk.MaxDailyLoss, risk.MaxDrawdown
	b := valued(t, 2, 0)
	l := &limits{base: b}
	name, midnight := b.legs[0].config.Name, b.nowMS+int64(exchange.Day1)
	breach := func(strategy, rule string, untilMS int64) {
		b.record(record.Record{Strategy: strategy, Body: record.Breach{Rule: rule, Reason: "a test", UntilMS: untilMS}})
	}
	if l.breached(name) || l.nextChangeMS() != midnight || len(l.limitedBy(name)) != 0 {
		t.Errorf("want nothing held back, and limits to change at midnight, have %t, %d", l.breached(name), l.nextChangeMS()-b.nowMS)
	}
	breach(name, daily, b.nowMS+60_000)
	breach(b.legs[1].config.Name, daily, b.nowMS+90_000)
	if !l.breached(name) || l.nextChangeMS() != b.nowMS+60_000 {
		t.Errorf("want the strategy held back for a minute, have %t, %d", l.breached(name), l.nextChangeMS()-b.nowMS)
	}
	if states := l.limitedBy(name); len(states) != 1 || states[0].UntilMS != b.nowMS+60_000 ||
		states[0].Remedy != "clears automatically; exits and stops continue" || states[0].Cause != daily+": a test" ||
		states[0].SinceMS != b.nowMS || states[0].Scope.Strategy != name {
		t.Errorf("want it declared, have %+v", states)
	}
	breach("", drawdown, 0)
	if other := b.legs[1].config.Name + " not"; !l.breached(other) {
		t.Errorf("want every strategy held back by the account's")
	}
	if states := l.limitedBy(""); len(states) != 1 || states[0].Remedy != "botd rearm" || states[0].UntilMS != 0 {
		t.Errorf("want a person to end the account's, have %+v", states)
	}
	b.nowMS += 60_000
	if states := l.limitedBy(name); len(states) != 0 || l.nextChangeMS() != b.nowMS+30_000 {
		t.Errorf("want the strategy's over, and the other's to end next, have %+v, %d", states, l.nextChangeMS()-b.nowMS)
	}
	l.rearmed("")
	if l.breached(name) {
		t.Errorf("want nothing held back when the account is armed again")
	}
}
