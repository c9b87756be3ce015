package engine

import (
	"testing"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/strategy"
)

// onNetting has the venue net an opening order against a position.
func onNetting(w *world) {
	venue, err := sim.New(sim.Config{Symbols: sim.DefaultSymbols(), StartMS: startMS, OrderDelayMS: sim.DefaultOrderDelayMS, OppositeOrder: "net"})
	if err != nil {
		w.t.Fatal(err)
	}
	if err := venue.AddAccount(sim.DefaultAccount("one")); err != nil {
		w.t.Fatal(err)
	}
	w.venue, w.config.Strategies[0].Symbol = venue, venue.Symbol(bitcoin)
}

// bothSides quotes a buy and a sell, whatever the position.
func bothSides(_ *strategy.View, plan *strategy.Plan) {
	plan.OrdersSet = true
	plan.Orders = append(plan.Orders,
		strategy.DesiredOrder{Key: "buy", Side: exchange.Buy, Price: 49_000e8, Quantity: 100, PostOnly: true},
		strategy.DesiredOrder{Key: "sell", Side: exchange.Sell, Price: 51_000e8, Quantity: 100, PostOnly: true})
}

func TestBothQuotesRestWhileFlat(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bothSides)
	w.pass(5_000)
	if w.resting() != 2 || len(w.refused) != 0 || len(w.sent) != 2 {
		t.Errorf("want a buy and a sell in the book and no refusal, have %d orders of %d sent, refused %v", w.resting(), len(w.sent), w.refused)
	}
	for _, note := range w.notes {
		if refused, is := note.Fact.(NoteRejection); is {
			t.Errorf("want nothing refused, have %+v", refused)
		}
	}
}

func TestSecondQuoteWaitsForUncertainFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bothSides)
	asked := 0
	w.network = func(call *Call) fate {
		if call.Request.Operation == exchange.FuturesPlace {
			asked++
		}
		return fate{lost: call.Request.Operation == exchange.FuturesPlace && asked == 1}
	}
	w.pass(10_000)
	if asked != 1 {
		t.Errorf("want the second side to wait for the first, which is lost; have %d requests", asked)
	}
	w.pass(60_000)
	if w.resting() != 2 {
		t.Errorf("want both sides once the first is known, have %d of %d sent", w.resting(), len(w.sent))
	}
}

func TestTheOtherQuoteIsCanceledWhenOneHasFilled(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]option{"rejecting": nil, "netting": {onNetting}} {
		w := newWorld(t, bothSides, options...)
		w.pass(5_000)
		w.price("48500")
		w.pass(40_000)
		if held := w.engine.Status().Strategies[0].Position; held != 100 || w.resting() != 0 || len(w.sent) != 2 {
			t.Errorf("%s: want 0.1 held, the sell canceled and nothing sent again; have %d, %d orders, %d sent", name, held, w.resting(), len(w.sent))
		}
		if held := w.heldOf(exchange.Futures, "BTC-USDT"); held != w.engine.Status().Strategies[0].Position {
			t.Errorf("%s: the exchange has %d, botd believes %d", name, held, w.engine.Status().Strategies[0].Position)
		}
	}
}

func TestBothQuotesMayFillBetweenTwoRounds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options []option
		held    exchange.Quantity
	}{"rejecting": {nil, 100}, "netting": {[]option{onNetting}, 0}} {
		w := newWorld(t, bothSides, c.options...)
		w.pass(5_000)
		w.price("48500")
		w.pass(200)
		w.price("51500")
		w.pass(60_000)
		if held := w.engine.Status().Strategies[0].Position; held != c.held {
			t.Errorf("%s: want %d held, have %d", name, c.held, held)
		}
		if held := w.heldOf(exchange.Futures, "BTC-USDT"); held != w.engine.Status().Strategies[0].Position {
			t.Errorf("%s: the exchange has %d, botd believes %d", name, held, w.engine.Status().Strategies[0].Position)
		}
		if q := w.engine.Tracker().Track(bitcoin).Quarantine(); q != "" {
			t.Errorf("%s: want no quarantine, have %s", name, q)
		}
	}
}

func TestAStrategyThatWatchesTheBookSeesItsTop(t *testing.T) {
	t.Parallel()
	var seen strategy.OrderBook
	var at int64
	w := newWorld(t, hold(0), func(w *world) {
		w.config.Strategies[0].Strategy = onlooker{
			func(view *strategy.View, _ *strategy.Plan) { seen, at = view.OrderBook, view.NowMS },
			strategy.Watching{OrderBook: true},
		}
	})
	read := 0
	failing := false
	w.network = func(call *Call) fate {
		if call.Request.Operation == exchange.FuturesDepth {
			read++
			if failing {
				return fate{err: &exchange.Refusal{Operation: exchange.FuturesDepth, Status: 500}}
			}
		}
		return fate{}
	}
	w.pass(60_000)
	if !seen.Known(at, 4_000) || seen.Bids[0].Price >= seen.Asks[0].Price || len(seen.Bids) != strategy.OrderBookLevels ||
		len(seen.Asks) != strategy.OrderBookLevels {
		t.Errorf("want twenty levels of each side, at most 4 s old at %d, have %+v", at, seen)
	}
	if read < 28 || read > 31 {
		t.Errorf("want it read every two seconds, have %d times in a minute", read)
	}
	failing = true
	w.pass(60_000)
	if seen.Known(at, 10_000) {
		t.Errorf("want a book that cannot be read to grow old, have one of %d at %d", seen.AtMS, at)
	}
}
