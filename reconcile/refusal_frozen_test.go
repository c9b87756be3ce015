package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// Of 10 that botd holds next to a person's 1 BTC, a stop covers 6. The exchange has refused one of the other 4, and accepted it: the wallet freezes its units,
// and the open list omits both.
func TestRefusedStopThatTheWalletFreezesIsNotPlacedAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		free, frozen string
		listed       bool // the open list shows the stop of 6
		after        func(w *wallet)
		want         exchange.Quantity
	}{
		"its units are frozen":                        {"1", "0.01", false, nil, 0},
		"nothing is frozen for it":                    {"1.004", "0.006", false, nil, 4},
		"the open list omits nothing else":            {"1", "0.01", true, nil, 0},
		"a person's units are frozen too":             {"0.998", "0.012", false, nil, 4},
		"its units are free again":                    {"1", "0.01", false, func(w *wallet) { w.sees("1.004", "0.006", nil) }, 4},
		"it has sold, and no history shows it":        {"1", "0.01", false, func(w *wallet) { w.sees("1", "0.006", nil) }, 0},
		"its price is passed":                         {"1", "0.01", false, func(w *wallet) { w.tracker.Symbol(coin).last = 48_000e8 }, 0},
		"it was not frozen, and its price is passed":  {"1.004", "0.006", false, func(w *wallet) { w.tracker.Symbol(coin).last = 48_000e8 }, 4},
		"another one of 2 is refused, and not frozen": {"1", "0.01", false, func(w *wallet) { w.refusesStop(2); w.sees("1", "0.01", nil) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, derive := protecting(t)
			own := w.places(placement.StopLoss, 8, stopOf(6))
			w.now += 1_000
			w.sees("1.004", "0.006", nil, own)
			w.refusesStop(4)
			if w.now += 1_000; c.listed {
				w.sees(c.free, c.frozen, nil, own)
			} else {
				w.sees(c.free, c.frozen, nil)
			}
			if w.now += 1_000; c.after != nil {
				c.after(w)
			}
			if have := soldBy(derive()); have != c.want {
				t.Errorf("want %d more for sale, have %d", c.want, have)
			}
		})
	}
}

// Nothing else shows that the open list is wrong: the exchange has refused a stop of 4, or a resting exit, and the wallet freezes as much as that.
func TestRefusedSaleRestsIfTheWalletFreezesItsUnitsSinceItWasSent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before func(w *wallet)
		want   exchange.Quantity
	}{
		"nothing was frozen before":               {nil, 6},
		"as much was frozen before":               {func(w *wallet) { w.sees("1.006", "0.004", nil) }, 10},
		"a stop of that size was canceled":        {func(w *wallet) { w.cancelsStop(4) }, 10},
		"stops of that size were canceled":        {func(w *wallet) { w.cancelsStop(1); w.cancelsStop(3) }, 10},
		"only a smaller stop was canceled":        {func(w *wallet) { w.cancelsStop(3) }, 6},
		"a stop of that size was canceled before": {func(w *wallet) { w.cancelsStop(4); w.now += 60_000; w.sees("1.01", "0", nil) }, 6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			restsSinceItWasSent(t, placement.StopLoss, stopOf(4), c.before, c.want)
		})
	}
	restsSinceItWasSent(t, placement.ExitOrder, saleOf(4), nil, 6)
}

func restsSinceItWasSent(t testing.TB, purpose placement.Purpose, sale exchange.NewOrder, before func(w *wallet), want exchange.Quantity) {
	t.Helper()
	w, _ := protecting(t)
	if w.now += 60_000; before != nil {
		before(w)
	}
	w.refuses(purpose, sale)
	w.now += 1_000
	w.sees("1.006", "0.004", nil)
	on := &safeguards{inputs: w.tracker.inputs(&Desired{}, w.tracker.Symbol(coin), w.now+confirmMS)}
	on.changes.of = &on.inputs
	if have := on.spotStops().withoutRefused(10); have != want {
		t.Errorf("want a stop of %d, have %d", want, have)
	}
	if have := on.saleQuantity().sellable(10); have != want {
		t.Errorf("want %d of 10 to be sold, have %d", want, have)
	}
}

// Open list and history, read since, do not show a refused sale, and the wallet freezes its units: one of them is wrong. An exit waits, as it loses nothing
// by that, but a wallet alone prevents no stop (seeds 1100003264, 1100007659, 1100013689). An open list that omits another order is wrong itself.
func TestWalletAlonePreventsNoStop(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		omits          bool // the open list omits another stop of botd's, for which the wallet freezes two more
		free, frozen   string
		stop, sellable exchange.Quantity
	}{
		"the lists omit nothing else": {false, "1.006", "0.004", 10, 6},
		"the list is wrong":           {true, "1.004", "0.006", 6, 6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			frozenAgainstLists(t, c.omits, c.free, c.frozen, c.stop, c.sellable)
		})
	}
}

func frozenAgainstLists(t testing.TB, omits bool, free, frozen string, stop, sellable exchange.Quantity) {
	t.Helper()
	w, _ := protecting(t)
	w.now += 60_000
	if omits {
		w.places(placement.StopLoss, 8, stopOf(2))
		w.now += 60_000
	}
	w.refuses(placement.StopLoss, stopOf(4))
	for range 3 {
		w.now += 1_000
		w.shows(free, frozen)
	}
	if len(w.tracker.Refused()) != 0 {
		t.Fatal("want the refusal confirmed")
	}
	on := &safeguards{inputs: w.tracker.inputs(&Desired{}, w.tracker.Symbol(coin), w.now+confirmMS)}
	on.changes.of = &on.inputs
	if have := on.spotStops().withoutRefused(10); have != stop {
		t.Errorf("want a stop of %d, have %d", stop, have)
	}
	if have := on.saleQuantity().sellable(10); have != sellable {
		t.Errorf("want %d of 10 to be sold, have %d", sellable, have)
	}
	if have := on.saleEvidence().saleRefused(false); have != omits {
		t.Errorf("want the refused sale to limit stops %t, have %t", omits, have)
	}
}

// cancelsStop cancels a stop that has just been placed.
func (w *wallet) cancelsStop(quantity exchange.Quantity) {
	stop := w.places(placement.StopLoss, 20+int64(quantity), stopOf(quantity))
	stop.Status = exchange.StatusCanceled
	w.tracker.NoteReleased(stop.ClientOrderID, &stop, w.now)
	w.apply(record.Record{AtMS: w.now, ClientOrderID: stop.ClientOrderID, Body: record.Ended{State: placement.Canceled}})
}

// refusesStop sends a stop, which the exchange refuses.
func (w *wallet) refusesStop(quantity exchange.Quantity) {
	w.now += 1_000
	w.refuses(placement.StopLoss, stopOf(quantity))
	w.now += 1_000
}

// soldBy returns the quantity that intents sell.
func soldBy(intents []Intent) (sum exchange.Quantity) {
	for i := range intents {
		if o := &intents[i].Order; intents[i].Purpose != placement.Cancel && o.Side == exchange.Sell {
			sum += o.Quantity
		}
	}
	return sum
}

func frozenStopStands(t testing.TB) {
	w, derive := protecting(t)
	w.places(placement.StopLoss, 8, stopOf(6))
	w.now += 60_000
	w.refusesStop(3)
	w.refusesStop(1)
	w.sees("1", "0.01", nil)
	if have := soldBy(derive()); have != 0 {
		t.Errorf("want nothing more for sale, have %d", have)
	}
	w.now += 1_000
	w.sees("1.001", "0.009", nil)
	if have := soldBy(derive()); have != 1 {
		t.Errorf("want a stop of the 1 that is free, have %d", have)
	}
}

// Two refused stops rest, then one of them does.
func TestSeveralRefusedStopsThatTheWalletFreezesStand(t *testing.T) {
	t.Parallel()
	frozenStopStands(t)
}

// An exit by plan does not sell the units that the refused stops hold: in their place it would sell a person's.
func TestExitLeavesUnitsToARefusedStopThatRests(t *testing.T) {
	t.Parallel()
	for refused, want := range map[exchange.Quantity]exchange.Quantity{4: 6, 1: 9} {
		w, _ := protecting(t)
		w.places(placement.StopLoss, 8, stopOf(10-refused))
		w.now += 60_000
		w.refusesStop(refused)
		w.sees("1", "0.01", nil)
		w.now += 60_000
		w.sees("1", "0.01", nil)
		on := &safeguards{inputs: w.tracker.inputs(&Desired{}, w.tracker.Symbol(coin), w.now)}
		on.changes.of = &on.inputs
		if have := on.saleQuantity().sellable(10); have != want {
			t.Errorf("a stop of %d: want %d of 10 to be sold, have %d", refused, want, have)
		}
	}
}

// Refused sales rest that follow each other in time, also if the older ones were confirmed as refused.
func TestRefusedStopsThatRestFollowEachOther(t *testing.T) {
	t.Parallel()
	w, derive := protecting(t)
	own := w.places(placement.StopLoss, 8, stopOf(2))
	w.now += 60_000
	w.refusesStop(3)
	w.sees("1.008", "0.002", nil, own)
	w.refusesStop(4)
	w.refusesStop(1)
	w.sees("1.001", "0.009", nil) // the first two rest, in addition to its own
	if have := soldBy(derive()); have != 1 {
		t.Errorf("want 1 more for sale, have %d", have)
	}
}

// An earlier refusal than the newest eight counts no more: what is frozen is another's.
func TestNewestEightRefusedStopsMayRest(t *testing.T) {
	t.Parallel()
	for later, want := range map[int]exchange.Quantity{maxFrozenRefusals - 1: 0, maxFrozenRefusals: 4} {
		w, derive := protecting(t)
		w.places(placement.StopLoss, 8, stopOf(6))
		w.now += 60_000
		w.refusesStop(4)
		for range later {
			w.refusesStop(5)
		}
		w.sees("1", "0.01", nil)
		if have := soldBy(derive()); have != want {
			t.Errorf("%d later ones: want %d more for sale, have %d", later, want, have)
		}
	}
}
