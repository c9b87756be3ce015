package engine

import (
	"maps"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// A hanging read delays only what needs it: the round continues without it.

// twoMarkets has a protected strategy on futures BTC-USDT and one on spot BTC-USDT, which hold the positions
// in the pointers.
func twoMarkets(t testing.TB, futures, spot *exchange.Quantity) *world {
	t.Helper()
	return newWorld(t, swing(futures), protected, func(w *world) {
		second := w.config.Strategies[0]
		second.Name, second.Strategy, second.Symbol, second.Leverage = "two", scripted(swing(spot)), w.venue.Symbol(coin), 0
		w.config.Strategies = append(w.config.Strategies, second)
	})
}

// hang drops the answers of some reads.
func (w *world) hang(operations ...exchange.Operation) {
	w.network = func(call *Call) fate {
		for _, of := range operations {
			if call.Request.Operation == of {
				return fate{longMS: 300_000}
			}
		}
		return fate{}
	}
}

// stopped reports whether the exchange has a stop of botd's on a symbol.
func (w *world) stopped(key exchange.SymbolKey) (stands bool) {
	w.venue.EachOpenOrder("one", key.Market, func(o *exchange.Order) { stands = stands || o.Symbol == key.Name && o.Type.StopLoss() })
	return stands
}

func TestHungReadDoesNotDelayUnrelatedStop(t *testing.T) {
	t.Parallel()
	for _, hung := range []struct {
		operation exchange.Operation
		key       exchange.SymbolKey // the symbol that gets its stop nevertheless
	}{
		{exchange.SpotWallet, bitcoin},
		{exchange.SpotOpenOrders, bitcoin},
		{exchange.SpotTicker, bitcoin},
		{exchange.FuturesTicker, bitcoin},
		{exchange.FuturesAccount, bitcoin},
		{exchange.FuturesOpenPositions, coin},
		{exchange.FuturesOpenOrders, coin},
		{exchange.FuturesAccount, coin},
		{exchange.FuturesTicker, coin},
		{exchange.SpotTicker, coin},
	} {
		t.Run(hung.operation.String()+" "+hung.key.String(), func(t *testing.T) {
			t.Parallel()
			futures, spot := exchange.Quantity(0), exchange.Quantity(0)
			w := twoMarkets(t, &futures, &spot)
			w.pass(20_000)
			if futures = 20; hung.key == coin {
				futures, spot = 0, 2_000
			}
			for w.heldOf(hung.key.Market, hung.key.Name) == 0 {
				w.pass(50)
			}
			w.hang(hung.operation)
			w.pass(3_500)
			if !w.stopped(hung.key) {
				t.Errorf("want the stop within 3.5 s of the fill, have none\n%s", w.story())
			}
		})
	}
}

// The read is repeated, but only few of the same reads are in flight at a time.
func TestHungReadsDoNotPileUp(t *testing.T) {
	t.Parallel()
	futures, spot, out, most := exchange.Quantity(20), exchange.Quantity(2_000), map[int64]int64{}, 0
	w := twoMarkets(t, &futures, &spot)
	w.pass(20_000)
	w.network = func(call *Call) fate {
		if call.Request.Operation != exchange.SpotWallet {
			return fate{}
		}
		out[call.ID] = w.now + 8_000
		maps.DeleteFunc(out, func(_, untilMS int64) bool { return untilMS <= w.now })
		most = max(most, len(out))
		return fate{longMS: 8_000}
	}
	spot = 4_000 // something is in flight: a round each second
	w.pass(60_000)
	if most < 2 || most > maxCopies+1 {
		t.Errorf("want 2 to %d wallet reads out at a time, have %d", maxCopies+1, most)
	}
}

// No other read has been answered meanwhile, so a repetition would only wait behind the first read.
func TestReadsOfAnExchangeThatIsSlowAreNotSentTwice(t *testing.T) {
	t.Parallel()
	futures, spot := exchange.Quantity(20), exchange.Quantity(2_000)
	w := twoMarkets(t, &futures, &spot)
	w.pass(20_000)
	outMS, twice := map[exchange.Operation]int64{}, 0
	w.network = func(call *Call) fate {
		operation := call.Request.Operation
		if operation == exchange.SpotWallet || operation == exchange.FuturesOpenPositions {
			if w.now < outMS[operation] {
				twice++
			}
			outMS[operation] = w.now + 800
		}
		return fate{longMS: 800}
	}
	spot = 4_000
	w.pass(30_000)
	if len(outMS) != 2 || twice != 0 {
		t.Errorf("want both lists read, and none while it is out, have %d read, and %d twice", len(outMS), twice)
	}
}

// A list whose answer is lost shows a purchase nevertheless, and the stop is placed half a second later than with the
// answer.
func TestReadWithLostAnswerIsRepeatedInSameRound(t *testing.T) {
	t.Parallel()
	for _, operation := range []exchange.Operation{exchange.SpotOpenOrders, exchange.SpotWallet, exchange.SpotOrderHistory, exchange.FuturesOpenPositions,
		exchange.FuturesOpenOrders} {
		t.Run(operation.String(), func(t *testing.T) {
			t.Parallel()
			lostRead(t, operation)
		})
	}
}

func lostRead(t testing.TB, operation exchange.Operation) {
	t.Helper()
	key := exchange.SymbolKey{Market: operation.Market(), Name: "BTC-USDT"}
	futures, spot := exchange.Quantity(0), exchange.Quantity(0)
	w := twoMarkets(t, &futures, &spot)
	w.pass(20_000)
	if futures = 20; key.Market == exchange.Spot {
		futures, spot = 0, 2_000
	}
	for w.heldOf(key.Market, key.Name) == 0 {
		w.pass(50)
	}
	lost := map[int64]bool{}
	w.network = func(call *Call) fate { // the first answer of each second
		if second := w.now / 1_000; call.Request.Operation == operation && !lost[second] {
			lost[second] = true
			return fate{longMS: 8_000}
		}
		return fate{}
	}
	if w.pass(1_600); !w.stopped(key) {
		t.Errorf("want the stop within 1.6 s of the fill, have none\n%s", w.story())
	}
}

// The exchange refused the stop, or it never arrived, and the answer takes as long as the client's timeout.
func TestUnansweredStopIsPlacedAgain(t *testing.T) {
	t.Parallel()
	unansweredStop(t, bitcoin)
}

func unansweredStop(t testing.TB, key exchange.SymbolKey) {
	t.Helper()
	futures, spot := exchange.Quantity(0), exchange.Quantity(0)
	w := twoMarkets(t, &futures, &spot)
	w.pass(20_000)
	if futures = 20; key == coin {
		futures, spot = 0, 2_000
	}
	lost := false
	w.network = func(call *Call) fate {
		if !lost && call.Request.Operation.Places() && call.Request.Order.Type.StopLoss() {
			lost = true
			return fate{err: &exchange.Uncertain{Reason: "timeout"}, longMS: 8_000}
		}
		return fate{}
	}
	for w.heldOf(key.Market, key.Name) == 0 {
		w.pass(50)
	}
	if w.pass(5_000); !w.stopped(key) {
		t.Errorf("want the stop within 5 s of the fill, have none\n%s", w.story())
	}
	w.network = nil
	w.pass(60_000)
	w.wantSound()
	w.wantNothingRefused()
}

// A venue that answers slowly is not blind, and is traded on.
func TestSlowReadIsAwaitedUntilItEnds(t *testing.T) {
	t.Parallel()
	futures, spot := exchange.Quantity(0), exchange.Quantity(0)
	w := twoMarkets(t, &futures, &spot)
	w.pass(20_000)
	w.network = func(call *Call) fate {
		if call.Request.Operation.Changes() {
			return fate{}
		}
		return fate{longMS: 2_500}
	}
	w.pass(30_000)
	futures, spot = 20, 2_000
	w.pass(60_000)
	w.wantBlind()
	for _, key := range []exchange.SymbolKey{bitcoin, coin} {
		if w.heldOf(key.Market, key.Name) == 0 || !w.stopped(key) {
			t.Errorf("%s: want it bought and its stop placed, have %d, stop %v\n%s", key, w.heldOf(key.Market, key.Name), w.stopped(key), w.story())
		}
	}
}

// An unread state is not assumed to be unchanged.
func TestHungReadBlocksOpenings(t *testing.T) {
	t.Parallel()
	for _, operation := range []exchange.Operation{exchange.SpotWallet, exchange.SpotOpenOrders, exchange.FuturesOpenPositions, exchange.FuturesOpenOrders} {
		futures, spot := exchange.Quantity(0), exchange.Quantity(0)
		w := twoMarkets(t, &futures, &spot)
		w.pass(20_000)
		w.hang(operation)
		w.pass(3_000)
		futures, spot = 20, 2_000
		w.pass(60_000)
		other := exchange.Spot + exchange.Futures - operation.Market()
		if have := w.heldOf(other, "BTC-USDT"); have == 0 {
			t.Errorf("%s hangs: want %s traded, have none\n%s", operation, other, w.story())
		}
		for i := range w.sent {
			if w.sent[i].Market == operation.Market() {
				t.Errorf("%s hangs: want nothing opened there, have %s %s", operation, w.sent[i].ClientOrderID, placement.Entry)
			}
		}
	}
}

// The earlier holding is not a loss when it is left out of the baseline.
func TestAWalletThatIsReadFirstAfterATradeIsNoDeposit(t *testing.T) {
	t.Parallel()
	positions, accounts := 0, 0
	w := newWorld(t, hold(10), withLedger, lossLimits, func(w *world) {
		second := w.config.Strategies[0]
		second.Name, second.Strategy, second.Symbol, second.Leverage = "two", scripted(hold(0)), w.venue.Symbol(coin), 0
		w.config.Strategies = append(w.config.Strategies, second)
		w.network = func(call *Call) fate { // never both of them in one round, until the position is open
			switch operation := call.Request.Operation; {
			case operation == exchange.FuturesOpenPositions:
				if positions++; positions == 1 {
					return fate{longMS: 3_000}
				}
			case operation == exchange.FuturesAccount && w.now < startMS+15_000:
				if accounts++; accounts > 1 {
					return fate{longMS: 5_000}
				}
			}
			return fate{}
		}
	})
	for range 60 {
		w.pass(1_000)
		for _, d := range w.engine.Degraded() {
			t.Fatalf("want nothing declared, have %+v\n%s", d, w.story())
		}
	}
	w.wantHeld(10)
	for i := range w.notes {
		if fact, is := w.notes[i].Fact.(NoteTransfer); is {
			t.Errorf("want nothing reported as moved, have %+v", fact)
		}
	}
}

// hungLists are the reads of a market without which a round is incomplete.
var hungLists = map[exchange.SymbolKey][]exchange.Operation{
	bitcoin: {exchange.FuturesOpenOrders, exchange.FuturesOpenPositions, exchange.FuturesOrder, exchange.FuturesAccount},
	coin:    {exchange.SpotOpenOrders, exchange.SpotWallet, exchange.SpotOrderHistory, exchange.SpotUserTrades},
}

// eachHungList runs a test for each of these reads.
func eachHungList(t *testing.T, test func(t *testing.T, key exchange.SymbolKey, list exchange.Operation)) {
	for key, lists := range hungLists {
		for _, list := range lists {
			t.Run(list.String(), func(t *testing.T) {
				t.Parallel()
				test(t, key, list)
			})
		}
	}
}

func TestAnEntryGetsItsStopWhileAListOfItsMarketHangs(t *testing.T) {
	t.Parallel()
	eachHungList(t, func(t *testing.T, key exchange.SymbolKey, list exchange.Operation) {
		futures, spot := exchange.Quantity(0), exchange.Quantity(0)
		w := twoMarkets(t, &futures, &spot)
		w.pass(20_000)
		if futures = 20; key == coin {
			futures, spot = 0, 2_000
		}
		for w.heldOf(key.Market, key.Name) == 0 {
			w.pass(50)
		}
		w.hang(list)
		w.pass(5_000)
		if !w.stopped(key) {
			t.Errorf("want the stop within 5 s of the fill, have none\n%s", w.story())
		}
	})
}

// A halt that cancels, or a breached limit, blocks openings only.
func TestHungListDoesNotDelayExitUnderHalt(t *testing.T) {
	t.Parallel()
	eachHungList(t, func(t *testing.T, key exchange.SymbolKey, list exchange.Operation) {
		futures, spot := exchange.Quantity(20), exchange.Quantity(2_000)
		w := twoMarkets(t, &futures, &spot)
		w.pass(40_000)
		w.give(&EventHalt{Level: record.LevelCancel, Reason: "a test"})
		w.pass(2_000)
		w.hang(list)
		w.pass(3_000)
		futures, spot = 0, 0
		w.pass(12_000)
		if have := w.heldOf(key.Market, key.Name); have > 5 {
			t.Errorf("want it sold, have %d\n%s", have, w.story())
		}
	})
}

func TestHungListAllowsOneExit(t *testing.T) {
	t.Parallel()
	eachHungList(t, func(t *testing.T, key exchange.SymbolKey, list exchange.Operation) {
		futures, spot := exchange.Quantity(20), exchange.Quantity(2_000)
		w := twoMarkets(t, &futures, &spot)
		w.pass(40_000)
		w.hang(list)
		w.pass(3_000)
		before := len(w.sent)
		futures, spot = 0, 0
		w.pass(12_000)
		if have := w.heldOf(key.Market, key.Name); have > 5 {
			t.Errorf("want it sold, have %d\n%s", have, w.story())
		}
		exits := 0
		for _, order := range w.sent[before:] {
			if order.Market == key.Market && !order.Type.StopLoss() {
				exits++
			}
		}
		if exits != 1 {
			t.Errorf("want one exit, have %d\n%s", exits, w.story())
		}
	})
}
