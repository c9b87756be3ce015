package engine

import (
	"slices"
	"strings"
	"testing"

	"botd/exchange"
	"botd/internal/reconciletest"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/risk"
)

// moved is what one strategy does between two reads of the wallet. Quantities are in steps of a thousandth, at a price of 100 USDT.
type moved struct {
	was, now    exchange.Quantity // its position
	traded      exchange.Quantity // by all its fills
	from, entry int64             // the entry prices of the two positions
}

// Several strategies trade, or hold, between two reads of the wallet. Each gets the value that it closed at the last price; fees are divided in
// proportion to the traded value, and a payment without a trade in proportion to positions. The results always add up to the wallet's change.
func TestEachStrategyGetsItsOwnResult(t *testing.T) {
	t.Parallel()
	ownResults(t)
}

func ownResults(t testing.TB) {
	for _, c := range []struct {
		name   string
		all    []moved
		change string // of the wallet
		want   string
	}{
		{"one alone gets the change, whatever the last price is", []moved{{was: 10_000, traded: 10_000, from: 90}, {was: 5, now: 5}}, "77.5", "77.5 0"},
		{"a gain and a loss of equal values cancel out", []moved{{was: 10_000, traded: 10_000, from: 90}, {was: 10_000, traded: 10_000, from: 110}},
			"0", "100 -100"},
		{"with fees", []moved{{was: 10_000, traded: 10_000, from: 90}, {was: 10_000, traded: 10_000, from: 110}}, "-2", "99 -101"},
		{"with fees of different values", []moved{{was: 10_000, traded: 10_000, from: 90}, {was: -30_000, traded: 30_000, from: 90}},
			"-204", "99 -303"},
		{"three close, to neither, a gain and a loss", []moved{{was: 20_000, traded: 20_000, from: 100}, {was: 10_000, traded: 10_000, from: 90},
			{was: 10_000, traded: 10_000, from: 110}}, "-4", "-2 99 -101"},
		{"one closes and two open", []moved{{now: -20_000, traded: 20_000, entry: 99}, {was: 10_000, traded: 10_000, from: 90},
			{now: 10_000, traded: 10_000, entry: 101}}, "96", "-2 99 -1"},
		{"one closes a part", []moved{{was: 10_000, now: 5_000, traded: 5_000, from: 90, entry: 90}, {now: 5_000, traded: 5_000, entry: 100}}, "48", "49 -1"},
		{"one turns over", []moved{{was: 10_000, now: -10_000, traded: 20_000, from: 90, entry: 100}, {now: 20_000, traded: 20_000, entry: 100}},
			"96", "98 -2"},
		{"one adds to its position", []moved{{was: 10_000, now: 20_000, traded: 10_000, from: 90, entry: 95},
			{was: 10_000, traded: 10_000, from: 110}}, "-102", "-1 -101"},
		{"one closes all and opens the same again", []moved{{was: 10_000, now: 10_000, traded: 20_000, from: 90, entry: 100},
			{was: 20_000, traded: 20_000, from: 110}}, "-104", "98 -202"},
		{"a short one closes all and opens less", []moved{{was: -10_000, now: -5_000, traded: 15_000, from: 110, entry: 100},
			{was: 15_000, traded: 15_000, from: 110}}, "-53", "98.5 -151.5"},
		{"one adds, and closes a part", []moved{{was: 10_000, now: 10_000, traded: 20_000, from: 90, entry: 95},
			{was: 20_000, traded: 20_000, from: 110}}, "-154", "48 -202"},
		{"one opens and closes, at prices that are not reported", []moved{{traded: 20_000}, {was: 20_000, traded: 20_000, from: 110}}, "-204", "-2 -202"},
		{"the entry of one is not known", []moved{{was: 10_000, traded: 10_000}, {was: 10_000, traded: 10_000, from: 110}}, "-102", "-1 -101"},
		{"the new entry of one is not known", []moved{{was: 10_000, now: 5_000, traded: 15_000, from: 90}, {was: 15_000, traded: 15_000, from: 110}},
			"-103", "48.5 -151.5"},
		{"funding of two positions", []moved{{was: 10_000, now: 10_000, from: 90, entry: 90}, {was: -30_000, now: -30_000, from: 90, entry: 90}},
			"-8", "-2 -6"},
		{"funding of one position", []moved{{was: 10_000, now: 10_000, from: 90, entry: 90}, {}}, "-8", "-8 0"},
		{"funding next to a trade counts as its fee", []moved{{was: 10_000, now: 10_000, from: 90, entry: 90}, {now: 10_000, traded: 10_000, entry: 100}},
			"-3", "0 -3"},
		{"nothing happens", []moved{{was: 10_000, now: 10_000, from: 90, entry: 90}, {}}, "0", "0 0"},
	} {
		r := resulted(t, len(c.all), 0)
		r.config.Feed = true
		r.record(record.Record{Body: record.Accounted{Wallet: exchange.AmountOf(1_000)}})
		rules := *r.legs[0].symbol.Rules()
		for i, m := range c.all {
			leg := r.legs[i]
			r.resultOf(leg, 7, m.was, 0)
			if m.traded != 0 {
				r.fills(leg, m.traded)
			}
			see(leg.symbol, func(o *seen) {
				leg.money.entryPrice, o.Rules, o.Position, o.EntryPrice = exchange.AmountOf(m.from), &rules, m.now, exchange.AmountOf(m.entry)
			})
		}
		change := exchange.MustAmount(c.change)
		reconciletest.Of(r.tracker).Account.WalletBalance = exchange.AmountOf(1_000).Add(change)
		r.attribute(&reconcile.Snapshot{})
		var have []string
		sum := exchange.Amount{}
		for _, leg := range r.legs {
			made := r.tracker.Watch(leg.config.Name).Result().Result.Sub(exchange.AmountOf(7))
			have, sum = append(have, made.String()), sum.Add(made)
		}
		if strings.Join(have, " ") != c.want || sum != change {
			t.Errorf("%s: want results of %s, have %s", c.name, c.want, strings.Join(have, " "))
		}
	}
}

// Before a strategy's results begin, its equity is not known: a day that began with none would let it lose any amount on its first day.
func TestStrategyDayBeginsWithItsResults(t *testing.T) {
	t.Parallel()
	dayBegins(t)
}

func dayBegins(t testing.TB) {
	r := resulted(t, 0, 1)
	one := r.legs[0]
	one.config.Limits = risk.Limits{MaxDailyLoss: risk.Loss{USDT: exchange.AmountOf(5)}}
	see(one.symbol, func(o *seen) { o.Last, o.Mark = 0, 0 }) // no price was read yet
	r.attribute(&reconcile.Snapshot{})
	r.limits.watchLimits(true)
	if day := r.tracker.Watch(one.config.Name).Day(); day.StartMS != 0 || r.tracker.Watch("").Day().StartMS == 0 {
		t.Errorf("want a day of the account alone, have %+v, %+v", day, r.tracker.Watch("").Day())
	}
	see(one.symbol, func(o *seen) { o.Last, o.Mark, o.Read = 100e8, 100e8, true })
	r.attribute(&reconcile.Snapshot{})
	r.limits.watchLimits(true)
	if day := r.tracker.Watch(one.config.Name).Day(); day.StartMS == 0 || day.Equity != exchange.AmountOf(500) || day.Peak != exchange.AmountOf(500) {
		t.Errorf("want its day to begin with 500, have %+v", day)
	}
}

// A position on spot without a price would be worth nothing: after a start that cannot read the price, the day would begin with a loss.
func TestEquityLimitsWaitForPrices(t *testing.T) {
	t.Parallel()
	unpricedEquity(t)
}

func unpricedEquity(t testing.TB) {
	for _, c := range []struct {
		name     string
		position exchange.Quantity
		last     exchange.Price
		unread   exchange.Quantity
		priced   string
		want     bool
	}{
		{"no position", 0, 0, 0, "", true}, {"a position with a price", 100_000, 100e8, 0, "", true}, {"a position without a price", 100_000, 0, 0, "", false},
		{"a position that has not been read since the start", 0, 100e8, 100_000, "", false},
		{"a candle that closed before the start", 100_000, 100e8, 0, "earlier", false}, {"no position, and such a candle", 0, 100e8, 0, "earlier", true},
		{"a candle that closed since the start", 100_000, 100e8, 0, "later", true}, {"a ticker's old price", 100_000, 100e8, 0, "ticker", true},
	} {
		r := resulted(t, 0, 1)
		switch r.startMS = 1_000; c.priced {
		case "earlier":
			r.legs[0].symbol.SetPrice(c.last, c.last, 999)
		case "ticker":
			r.tracker.ObservePrice(r.legs[0].symbol.Key(), c.last, 999, r.nowMS)
		default:
			r.legs[0].symbol.SetPrice(c.last, c.last, 1_000)
		}
		r.record(record.Record{Symbol: r.legs[0].symbol.Key(), Body: record.Adopted{Quantity: c.unread}})
		see(r.legs[0].symbol, func(o *seen) { o.Position, o.Last, o.Mark, o.Read = c.position, c.last, c.last, c.unread == 0 })
		r.limits.watchLimits(true)
		if _, known := r.limits.displayedEquity(); known != c.want || (r.tracker.Watch("").Day().StartMS != 0) != c.want {
			t.Errorf("%s: want the equity known %t, have %t, and a day %+v", c.name, c.want, known, r.tracker.Watch("").Day())
		}
		r.record(record.Record{Body: record.Day{StartMS: 1, Equity: exchange.AmountOf(900), Peak: exchange.AmountOf(900)}})
		if r.limits.rearmed(""); (r.tracker.Watch("").Day().Peak != exchange.AmountOf(900)) != c.want {
			t.Errorf("%s: want a new peak of the present equity %t, have %+v", c.name, c.want, r.tracker.Watch("").Day())
		}
		r.limits.unmixed = exchange.AmountOf(77)
		if total, known := r.limits.displayedEquity(); !known || (total == exchange.AmountOf(77)) == c.want {
			t.Errorf("%s: want the previous equity while there is no price, have %s, %t", c.name, total, known)
		}
	}
}

// While a day waits for a result, the drawdown is checked, and the loss of the day is not: its equity is not known.
func TestDrawdownIsCheckedWhileADayWaits(t *testing.T) {
	t.Parallel()
	drawdownWhileADayWaits(t)
}

func drawdownWhileADayWaits(t testing.TB) {
	r := resulted(t, 1, 0)
	one := r.legs[0]
	one.config.Limits = risk.Limits{MaxDrawdown: risk.Loss{USDT: exchange.AmountOf(12)}, MaxDailyLoss: risk.Loss{USDT: exchange.AmountOf(12)}}
	r.record(record.Record{Strategy: one.config.Name, Symbol: one.symbol.Key(), Body: record.Result{Base: exchange.AmountOf(900), Position: 1_000}})
	see(one.symbol, func(o *seen) { o.Position, o.EntryPrice, o.Last, o.Mark = 1_000, exchange.AmountOf(90), 100e8, 100e8 })
	r.limits.watchLimits(true)
	r.fills(one, 1_000)
	one.money.awaited, one.money.entryPrice = true, exchange.AmountOf(90)
	see(one.symbol, func(o *seen) { o.Position, o.EntryPrice, o.Last, o.Mark = 0, exchange.Amount{}, 85e8, 85e8 })
	r.nowMS += int64(exchange.Day1)
	r.limits.watchLimits(true)
	var rules []string
	for b := range r.tracker.Watch(one.config.Name).Breaches() {
		rules = append(rules, b.Rule)
	}
	if !slices.Equal(rules, []string{risk.MaxDrawdown}) || r.tracker.Watch(one.config.Name).Day().StartMS == exchange.Day1.OpenOf(r.nowMS) {
		t.Errorf("want the drawdown alone breached, and no day begun, have %v", rules)
	}
}

// A position that was closed counts at the last price until its result is known, not at the price that it was closed at. What the price does after
// that raises no peak, and no day begins with it for a minute: losses would be measured from an equity that never was. They count meanwhile. The same
// applies to a position that the list no longer shows, though its order has not been read.
func TestPeakWaitsForResults(t *testing.T) {
	t.Parallel()
	peakWaits(t)
}

func peakWaits(t testing.TB) {
	r := resulted(t, 1, 0)
	one, day := r.legs[0], int64(exchange.Day1)
	one.config.Limits = risk.Limits{MaxDrawdown: risk.Loss{USDT: exchange.AmountOf(12)}}
	result := func(made int64, position exchange.Quantity) {
		r.record(record.Record{Strategy: one.config.Name, Symbol: one.symbol.Key(),
			Body: record.Result{Base: exchange.AmountOf(900), Result: exchange.AmountOf(made), Position: position}})
	}
	result(0, 1_000)
	closed := func() {
		r.fills(one, 1_000)
		one.money.awaited, one.money.entryPrice = true, exchange.AmountOf(90)
		see(one.symbol, func(o *seen) { o.Position, o.EntryPrice = 0, exchange.Amount{} })
	}
	for _, c := range []struct {
		name     string
		with     func()
		at       exchange.Price
		want     string // the day's equity and the peak
		breaches int
	}{
		{"held", func() { see(one.symbol, func(o *seen) { o.Position, o.EntryPrice = 1_000, exchange.AmountOf(90) }) }, 100, "910 910", 0},
		{"held at a higher price", func() {}, 105, "910 915", 0},
		{"closed, and the price rises", closed, 115, "910 915", 0},
		{"the price falls, by less than the limit below the peak", func() {}, 102, "910 915", 0},
		{"a day begins meanwhile", func() { r.nowMS += day }, 120, "910 915", 0},
		{"it has begun for less than a minute", func() { r.nowMS += 59_999 }, 120, "910 915", 0},
		{"the result is known", func() {
			r.record(record.Record{Body: record.Accounted{Wallet: exchange.AmountOf(1_018)}})
			result(18, 0)
			one.money.awaited = false
		}, 99, "918 918", 0},
		{"another position", func() {
			see(one.symbol, func(o *seen) { o.Position, o.EntryPrice = 1_000, exchange.AmountOf(100) })
			result(18, 1_000)
		}, 100, "918 918", 0},
		{"closed, and the price falls by more than the limit", func() {
			closed()
			one.money.entryPrice = exchange.AmountOf(100)
		}, 87, "918 918", 1},
		{"its money is awaited for a minute of the next day", func() { r.nowMS += day + 1 }, 130, "948 918", 1},
		{"the price rises further", func() {}, 140, "948 918", 1},
		{"it is known", func() {
			r.record(record.Record{Body: record.Accounted{Wallet: exchange.AmountOf(1_018)}})
			result(18, 0)
			one.money.awaited = false
		}, 140, "948 918", 1},
		{"another position, which the list no longer shows", func() {
			result(18, 1_000)
			one.money.awaited, one.money.entryPrice = true, exchange.AmountOf(100)
			see(one.symbol, func(o *seen) { o.Residual = -1_000 })
		}, 140, "948 918", 1},
		{"funding is awaited, and nothing has filled", func() {
			see(one.symbol, func(o *seen) { o.Position, o.EntryPrice, o.Residual = 1_000, exchange.AmountOf(100), 0 })
		}, 141, "948 959", 1},
	} {
		c.with()
		see(one.symbol, func(o *seen) { o.Last, o.Mark = c.at*1e8, c.at*1e8 })
		r.limits.watchLimits(true)
		w := r.tracker.Watch(one.config.Name)
		if have := w.Day().Equity.String() + " " + w.Day().Peak.String(); have != c.want || len(slices.Collect(w.Breaches())) != c.breaches {
			t.Errorf("%s: want %s and %d breaches, have %s, %+v", c.name, c.want, c.breaches, have, slices.Collect(w.Breaches()))
		}
	}
}

// A purchase on spot that is in no result yet has cost nothing yet: its position counts with its cost.
func TestSpotEquityCountsFillsWithTheirMoney(t *testing.T) {
	t.Parallel()
	r := resulted(t, 0, 1)
	one := r.legs[0]
	r.resultOf(one, 0, 0, 0)
	id := r.tracker.NextClientOrderID("t")
	order := exchange.NewOrder{Market: exchange.Spot, Symbol: coin.Name, Side: exchange.Buy, Quantity: 100_000, ClientOrderID: id}
	about := func(body record.Body) {
		r.record(record.Record{Strategy: one.config.Name, Symbol: coin, ClientOrderID: id, Body: body})
	}
	about(record.Sending{Order: order, Purpose: placement.Entry})
	about(record.Ended{OrderID: 5, State: placement.Filled, Filled: 100_000, Price: exchange.AmountOf(90)})
	see(one.symbol, func(o *seen) { o.Position = 100_000 })
	if have := r.resultOfPosition(one); !have.IsZero() {
		t.Errorf("before its cost: want no value, have %s", have)
	}
	r.attribute(&reconcile.Snapshot{})
	if have, made := r.resultOfPosition(one).String(), r.tracker.Watch(one.config.Name).Result().Result.String(); have != "100" || made != "-90" {
		t.Errorf("with its cost: want a value of 100 for 90, have %s for %s", have, made)
	}
}

// The price of a delisted symbol may never come. Its position holds up the limits of other strategies not at all, and its own and the account's for a
// minute: then it counts as lost.
func TestMissingPriceSilencesNoLimitForLong(t *testing.T) {
	t.Parallel()
	missingPrice(t)
}

func missingPrice(t testing.TB) {
	r := resulted(t, 1, 1)
	other, delisted := r.legs[0], r.legs[1]
	if delisted.symbol.Key().Market != exchange.Spot {
		other, delisted = delisted, other
	}
	for _, leg := range r.legs {
		leg.config.Limits = risk.Limits{MaxDrawdown: risk.Loss{USDT: exchange.AmountOf(12)}}
		r.record(record.Record{Strategy: leg.config.Name, Symbol: leg.symbol.Key(), Body: record.Result{Base: exchange.AmountOf(900)}})
	}
	see(delisted.symbol, func(o *seen) { o.Position, o.Last, o.Mark = 100_000, 0, 0 })
	watched := func(leg *leg) bool { return r.tracker.Watch(leg.config.Name).Day().StartMS != 0 }
	r.limits.watchLimits(true)
	if !watched(other) || watched(delisted) || r.tracker.Watch("").Day().StartMS != 0 {
		t.Errorf("without a price: want the other strategy watched alone")
	}
	r.nowMS += 59_999
	if r.limits.watchLimits(true); watched(delisted) || r.tracker.Watch("").Day().StartMS != 0 {
		t.Errorf("after less than a minute: want the price awaited")
	}
	r.nowMS++
	if r.limits.watchLimits(true); !watched(delisted) || r.tracker.Watch("").Day().StartMS == 0 {
		t.Errorf("after a minute: want all limits checked")
	}
	see(delisted.symbol, func(o *seen) { o.Last, o.Mark = 100e8, 100e8 })
	r.limits.watchLimits(true)
	see(delisted.symbol, func(o *seen) { o.Last, o.Mark = 0, 0 })
	if r.limits.watchLimits(true); !r.limits.awaitsPrice(r.legs...) {
		t.Errorf("without a price once more: want another minute")
	}
}
