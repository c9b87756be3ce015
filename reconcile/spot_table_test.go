package reconcile

import (
	"fmt"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// Ten are owned, next to a thousand that are not botd's. A stop holds what it would sell, so an exit waits until enough stops are canceled.
func TestSpotIntents(t *testing.T) {
	t.Parallel()
	const (
		stop   = "stop_loss sell stop_limit %d at 46550 stop 49000: protects the position"
		exit   = "exit sell limit %d at 47500: the target is %s"
		minute = int64(exchange.Minute1) - 4_000 // the snapshots take four seconds
	)
	type change = func(*Desired)
	rests := func(quantities ...exchange.Quantity) func(w *wallet) []exchange.Order {
		return func(w *wallet) (all []exchange.Order) {
			for i, quantity := range quantities {
				w.now++
				all = append(all, w.places(placement.StopLoss, int64(20+i), stopOf(quantity)))
			}
			return all
		}
	}
	at := func(price exchange.Price, later int64, quantities ...exchange.Quantity) func(w *wallet) []exchange.Order {
		return func(w *wallet) (all []exchange.Order) {
			for i, quantity := range quantities {
				order := stopOf(quantity)
				order.StopPrice = price
				w.now++
				all = append(all, w.places(placement.StopLoss, int64(20+i), order))
			}
			w.now += later
			return all
		}
	}
	cancels := func(why string, ids ...int) (text string) {
		for i, id := range ids {
			if text += fmt.Sprintf("cancel %d: %s", id, why); i < len(ids)-1 {
				text += "; "
			}
		}
		return text
	}
	const room, moves, less = "makes room for the exit", "the protection moves", "the stop would sell more than the position"
	slow := func(w *Desired) { w.Bridge = false }
	minimum := func(notional int64, changes ...change) change {
		return func(w *Desired) {
			w.Symbol.rules.MinNotional = exchange.AmountOf(notional)
			for _, change := range changes {
				change(w)
			}
		}
	}
	for _, c := range []struct {
		name   string
		target exchange.Quantity
		open   func(w *wallet) []exchange.Order
		last   exchange.Price
		change change
		want   string
	}{
		{"all of it is protected", 10, nil, 0, nil, fmt.Sprintf(stop, 10)},
		{"the uncovered part", 10, rests(4), 0, nil, fmt.Sprintf(stop, 6)},
		{"the covered part", 10, rests(4, 6), 0, nil, ""},
		{"no stop is wanted", 10, rests(4, 6), 0, func(w *Desired) { w.Protection.StopLoss = strategy.Distance{} }, cancels("no longer desired", 20, 21)},
		{"none is set", 10, rests(10), 0, func(w *Desired) { w.Protection.Set = false }, cancels("no longer desired", 20)},
		{"more is covered than is held", 10, rests(4, 8), 0, nil, cancels(less, 20)},
		{"two cover more than is held", 10, rests(10, 3), 0, nil, cancels(less, 21)},
		{"one of eight gives way to what comes", 10, rests(1, 1, 1, 1, 1, 1, 1, 1), 0, nil, cancels("one stop replaces two", 20)},
		{"seven stand", 10, rests(1, 1, 1, 1, 1, 1, 1), 0, nil, fmt.Sprintf(stop, 3)},
		{"none gives way while nothing is traded", 10, rests(1, 1, 1, 1, 1, 1, 1, 1), 0, func(w *Desired) { w.Symbol.rules.Tradable = false }, ""},
		{"the uncovered part is too small at its stop", 10, rests(4), 0, minimum(298), cancels("one stop replaces two", 20)},
		{"it is large enough", 10, rests(4), 0, minimum(294), "stop_loss sell stop_limit 6 at 49000 stop 49000: protects the position"},
		{"it is too small, and the account is not read", 10, rests(4), 0, minimum(298, func(w *Desired) { w.Unread = true }), ""},
		{"it is too small, and reads contradict each other", 10, rests(4), 0, minimum(298, func(w *Desired) { w.Symbol.contradicted = "a test" }), ""},
		{"all of it is too small at its stop", 10, nil, 0, minimum(495), ""},
		{"it moves", 10, at(48_000e8, minute, 10), 0, nil, cancels(moves, 20)},
		{"it has moved within the minute", 10, at(48_000e8, minute-1, 10), 0, nil, ""},
		{"the oldest moves first", 10, at(48_000e8, minute, 4, 6), 0, nil, cancels(moves, 20)},
		{"where answers take no time all move", 10, at(48_000e8, minute, 4, 6), 0, slow, cancels(moves, 20, 21)},
		{"it would move while nothing is traded", 10, at(48_000e8, minute, 10), 0, func(w *Desired) { w.Symbol.rules.Tradable = false }, ""},
		{"its price is the last", 10, nil, 49_000e8, nil, "stop_loss sell limit 10 at 46550: the price has already passed the stop"},
		{"its price is a tick away", 10, nil, 49_000.1e8, nil, fmt.Sprintf(stop, 10)},
		{"a part's price was passed", 10, rests(4), 48_000e8, nil, "stop_loss sell limit 6 at 45600: the price has already passed the stop"},
		{"all is sold", 0, nil, 0, nil, fmt.Sprintf(exit, 10, "flat")},
		{"all is sold, and a stop holds it", 0, rests(10), 0, nil, cancels(room, 20)},
		{"all is sold, and two hold it", 0, rests(4, 6), 0, nil, cancels(room, 20, 21)},
		{"a part that is free", 6, rests(6), 0, nil, fmt.Sprintf(exit, 4, "smaller")},
		{"a part that a stop holds", 6, rests(10), 0, nil, cancels(room, 20)},
		{"a part that the smaller one holds", 6, rests(6, 4), 0, nil, cancels(room, 21)},
		{"a part that both hold", 3, rests(5, 5), 0, nil, cancels(room, 21, 20)},
		{"an exit waits after a refusal", 0, rests(10), 0, func(w *Desired) { w.ExitFromMS = 1 << 60 }, ""},
		{"an exit is left to another botd", 0, rests(10), 0, func(w *Desired) { w.YieldMS = 1 << 60 }, ""},
		{"an exit while nothing is traded", 0, rests(10), 0, func(w *Desired) { w.Symbol.rules.Tradable = false }, ""},
		{"more is bought", 12, rests(10), 0, nil, "entry buy market"},
		{"one too little to sell", 0, nil, 4_000e8 / 10, func(w *Desired) { w.Protection = strategy.Protection{} }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w, _ := protecting(t)
			symbol := w.tracker.Symbol(coin)
			desired := &Desired{Strategy: w.tracker.Strategy("one"), Symbol: symbol, Equity: exchange.AmountOf(10_000), Interval: exchange.Minute1,
				MayOpen: true,
				Bridge:  true, Collar: exchange.RateOne / 20,
				Protection: strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: exchange.RateOne / 50}}}
			w.apply(record.Record{Strategy: "one", Symbol: coin,
				Body: record.Plan{Plan: &strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuantity, Quantity: c.target}}}})
			if _, priced := w.tracker.Derive(desired, w.now); priced != nil {
				w.apply(*priced)
			}
			var open []exchange.Order
			if c.open != nil {
				open = c.open(w)
			}
			if c.last != 0 {
				symbol.last = c.last
			}
			frozen := exchange.Quantity(0)
			for i := range open {
				frozen += open[i].Quantity
			}
			for range 4 {
				w.now += 1_000
				w.shows(fmt.Sprintf("%v", float64(1_010-frozen)/1_000), fmt.Sprintf("%v", float64(frozen)/1_000), open...)
			}
			if c.change != nil {
				c.change(desired)
			}
			intents, _ := w.tracker.Derive(desired, w.now)
			if have := summary(intents); have != c.want {
				t.Errorf("want %q\nhave %q", c.want, have)
			}
		})
	}
}

// Where a step is worth an order, here 50 USDT, an amount at the last price buys none above that price.
func TestSingleStepIsBoughtThroughCollar(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		target exchange.Quantity // the holding is 10
		collar exchange.Rate
		want   string
	}{
		{11, exchange.RateOne / 20, "52.5"},
		{11, exchange.RateOne * 2, "75"}, // never enough for two steps
		{12, exchange.RateOne / 20, "100"},
	} {
		stepThroughCollar(t, c.target, c.collar, c.want)
	}
}

func stepThroughCollar(t testing.TB, target exchange.Quantity, collar exchange.Rate, want string) {
	w := holding(t, ForeignHalt)
	w.apply(record.Record{Strategy: "one", Symbol: coin,
		Body: record.Plan{Plan: &strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuantity, Quantity: target}}}})
	symbol := w.tracker.Symbol(coin)
	symbol.last = 50_000e8
	intents, _ := w.tracker.Derive(&Desired{Strategy: w.tracker.Strategy("one"), Symbol: symbol, MayOpen: true, Interval: exchange.Minute1,
		Collar: collar}, w.now)
	if len(intents) != 1 || intents[0].Order.QuoteAmount != exchange.MustAmount(want) {
		t.Errorf("a target of %d: want %s USDT, have %+v", target, want, intents)
	}
}
