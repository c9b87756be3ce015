package reconcile

import (
	"slices"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// movedStop is what two lists without ids show of a stop that another botd with a copy of the journal moves, and what follows from both.
type movedStop struct {
	w      *wallet
	derive func() []Intent
	first  exchange.Order // botd's own stop
	second exchange.Order // the one in its place
}

// movesStop reads a list that shows botd's own stop.
func movesStop(t testing.TB) *movedStop {
	t.Helper()
	w, derive := protecting(t)
	w.tracker.Symbol(coin).collar = exchange.RateOne / 20
	m := &movedStop{w: w, derive: derive}
	w.now += 3_000
	m.first = unnamed(w.places(placement.StopLoss, 8, stopOf(10)))
	w.now += 1_000
	w.sees("1", "0.01", nil, m.first)
	w.now += 1_000
	m.second = m.first
	m.second.ID, m.second.CreatedMS, m.second.StopPrice, m.second.Price = 9, w.now, 49_100e8, 46_645e8
	return m
}

// ends shows the first stop canceled, and what else is open.
func (m *movedStop) ends(open ...exchange.Order) {
	m.w.now += 1_000
	ended := m.first
	ended.Status = exchange.StatusCanceled
	m.w.sees("1", "0.01", []exchange.Order{ended}, open...)
}

// To this botd, somebody has canceled its stop. Another stop in addition to the one in its place would sell the same units twice.
func TestStopInPlaceOfOneThatAnotherCanceledIsNotPlacedAgain(t *testing.T) {
	t.Parallel()
	notPlacedAgain(t)
}

func notPlacedAgain(t testing.TB) {
	m := movesStop(t)
	m.ends(m.second)
	if have := stopped(m.derive()); have != 0 {
		t.Errorf("want no stop beside it, have one of %d", have)
	}
	m.w.now += 1_000
	m.w.sees("1", "0.01", nil, m.second)
	if have := stopped(m.derive()); have != 0 {
		t.Errorf("want none while it rests, have one of %d", have)
	}
	m.w.now += 1_000
	m.w.sees("1.01", "0", nil)
	if have := stopped(m.derive()); have != 0 {
		t.Errorf("want none at once when it is ended: its units may be on sale; have one of %d", have)
	}
	m.w.now += canceledByOthersWaitMS
	if have := stopped(m.derive()); have != 10 {
		t.Errorf("want a stop once it is ended, have one of %d", have)
	}
}

// Another botd that sells a part puts a smaller stop in its place.
func TestSmallerStopStandsInForAPart(t *testing.T) {
	t.Parallel()
	m := movesStop(t)
	m.second.Quantity = 4
	m.ends(m.second)
	m.w.now += canceledByOthersWaitMS - 1
	if have, symbol := stopped(m.derive()), m.w.tracker.Symbol(coin); have != 0 || symbol.ReplacementQuantity() != 4 {
		t.Errorf("want no stop at once, have one of %d, and %d in its place", have, symbol.ReplacementQuantity())
	}
	m.w.now++
	if have := stopped(m.derive()); have != 6 {
		t.Errorf("want a stop of the other 6, have one of %d", have)
	}
}

// Its order in the place of the stop is moved as well.
func TestOrderInPlaceOfAStopMayMove(t *testing.T) {
	t.Parallel()
	movedTwice(t)
}

func movedTwice(t testing.TB) {
	m := movesStop(t)
	m.ends(m.second)
	m.w.now += 1_000
	third := m.second
	third.ID, third.CreatedMS, third.StopPrice, third.Price = 11, m.w.now, 49_200e8, 46_740e8
	m.w.now += 1_000
	m.w.sees("1", "0.01", nil, third)
	if have, symbol := stopped(m.derive()), m.w.tracker.Symbol(coin); have != 0 || symbol.ReplacementQuantity() != 10 {
		t.Errorf("want no stop beside it, have one of %d, and %d in its place", have, symbol.ReplacementQuantity())
	}
}

// A list of the moment between the two shows neither. What was placed then is canceled.
func TestStopThatHasAnotherInItsPlaceIsCanceled(t *testing.T) {
	t.Parallel()
	m := movesStop(t)
	m.ends()
	m.w.now += canceledByOthersWaitMS
	if have := stopped(m.derive()); have != 10 {
		t.Fatalf("want a stop while none rests, have one of %d", have)
	}
	again := unnamed(m.w.places(placement.StopLoss, 10, stopOf(10)))
	m.w.now += 1_000
	m.w.sees("0.99", "0.02", nil, m.second, again)
	if have := canceled(m.derive()); !slices.Equal(have, []int64{10}) {
		t.Errorf("want order 10 canceled, have %v", have)
	}
}

// Any other order does not stand in for the stop, and the position needs a stop in addition.
func TestOrderNextToCanceledStopReplacesNothing(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(m *movedStop){
		"of a larger quantity":                      func(m *movedStop) { m.second.Quantity = 11 },
		"of another form":                           func(m *movedStop) { m.second.Price = 47_000e8 },
		"older than the list that showed the stop":  func(m *movedStop) { m.second.CreatedMS -= 2_001 },
		"more than ten seconds younger":             func(m *movedStop) { m.second.CreatedMS += 12_001 },
		"under an id":                               func(m *movedStop) { m.second.ClientOrderID = "a person's" },
		"where the exchange answered botd's cancel": func(m *movedStop) { m.w.tracker.release(m.w.tracker.LiveAt(0).ClientOrderID(), m.w.now) },
		"where lists show ids": func(m *movedStop) {
			m.w.tracker.idsShown, m.first.ClientOrderID = true, m.w.tracker.LiveAt(0).ClientOrderID()
		},
	} {
		m := movesStop(t)
		if m.w.tracker.LiveCount() != 1 {
			t.Fatalf("want the stop alone live, have %d", m.w.tracker.LiveCount())
		}
		if name == "where lists show ids" {
			m.w.tracker.idsLeftOut = false
		}
		change(m)
		m.ends(m.second)
		m.w.now += canceledByOthersWaitMS
		if have := stopped(m.derive()); have != 10 {
			t.Errorf("%s: want a stop of 10, have one of %d", name, have)
		}
	}
}

// Only the wallet had shown that the stop no longer holds anything. No cancel was answered.
func TestStopInferredEndedMayHaveAnotherInItsPlace(t *testing.T) {
	t.Parallel()
	m := movesStop(t)
	m.w.tracker.inferEnded(m.w.tracker.LiveAt(0).ClientOrderID(), m.w.now)
	m.ends(m.second)
	if have := stopped(m.derive()); have != 0 {
		t.Errorf("want no stop beside it, have one of %d", have)
	}
}

// One order stands in for one stop.
func TestOneOrderStandsInForOneStop(t *testing.T) {
	t.Parallel()
	m := movesStop(t)
	m.w.apply(record.Record{AtMS: m.w.now, Symbol: coin, Body: record.Adopted{Quantity: 10, Evidence: "a test"}})
	other := unnamed(m.w.places(placement.StopLoss, 7, stopOf(10)))
	m.w.sees("1", "0.02", nil, m.first, other)
	m.second.CreatedMS = m.w.now
	ended := []exchange.Order{m.first, other}
	for i := range ended {
		ended[i].Status = exchange.StatusCanceled
	}
	m.w.now += 1_000
	m.w.sees("1.01", "0.01", ended, m.second)
	m.w.now += canceledByOthersWaitMS
	if have := stopped(m.derive()); have != 10 {
		t.Errorf("want a stop of the other 10, have one of %d", have)
	}
}

// An order may be created in the place of a stop until ten seconds after the end of that stop was read.
func TestOrderReplacesAStopUntilTenSecondsAfterItsEnd(t *testing.T) {
	t.Parallel()
	for afterMS, want := range map[int64]exchange.Quantity{repeatedMS: 0, repeatedMS + 1: 10} {
		m := movesStop(t)
		m.ends()
		m.w.now += repeatedMS
		m.second.CreatedMS = m.w.now - repeatedMS + afterMS
		m.w.now += 1_000
		m.w.sees("1", "0.01", nil, m.second)
		if have := stopped(m.derive()); have != want {
			t.Errorf("created %d ms after it: want a stop of %d, have one of %d", afterMS, want, have)
		}
	}
}

// A stop of a single step may be replaced as well.
func TestStopOfASingleStepHasAnotherInItsPlace(t *testing.T) {
	t.Parallel()
	m := movesStop(t)
	m.w.apply(record.Record{AtMS: m.w.now, Symbol: coin, Body: record.Adopted{Quantity: 1, Evidence: "a test"}})
	single := unnamed(m.w.places(placement.StopLoss, 7, stopOf(1)))
	m.w.sees("1", "0.011", nil, m.first, single)
	m.w.now += 1_000
	m.second.Quantity, m.second.CreatedMS = 1, m.w.now
	m.w.now += 1_000
	single.Status = exchange.StatusCanceled
	m.w.sees("1", "0.011", []exchange.Order{single}, m.first, m.second)
	m.w.now += canceledByOthersWaitMS
	if have := stopped(m.derive()); have != 0 {
		t.Errorf("want no stop beside it, have one of %d", have)
	}
}

// A stop that botd itself has canceled is placed again at once, also where lists omit ids and another botd may be placing orders.
func TestStopThatBotdCanceledWhileStandingDownIsPlacedAtOnce(t *testing.T) {
	t.Parallel()
	m := movesStop(t)
	m.w.apply(record.Record{AtMS: m.w.now, ClientOrderID: elders + "9", Body: record.Halt{Level: record.LevelPause, Reason: "another botd"}})
	m.w.tracker.NoteCancel(m.w.tracker.LiveAt(0).ClientOrderID(), m.w.now)
	m.w.now += 1_000
	m.first.Status = exchange.StatusCanceled
	m.w.sees("1.01", "0", []exchange.Order{m.first})
	if have := stopped(m.derive()); have != 10 {
		t.Errorf("want a stop of 10, have one of %d", have)
	}
}

// Of the stops that another party has canceled, the newest 64 may have been replaced.
func TestNewestCanceledStopsMayHaveBeenReplaced(t *testing.T) {
	t.Parallel()
	for number, want := range map[int]exchange.Quantity{1: 0, 2: 1, maxRemembered + 1: 1} {
		w, _ := protecting(t)
		w.tracker.Symbol(coin).collar = exchange.RateOne / 20
		var replacement exchange.Order
		for n := 1; n <= maxRemembered+1; n++ {
			w.now += 60_000
			stop := unnamed(w.places(placement.StopLoss, int64(100+n), stopOf(1)))
			w.sees("1.009", "0.001", nil, stop)
			w.now += 1_000
			ended := stop
			ended.Status = exchange.StatusCanceled
			w.sees("1.01", "0", []exchange.Order{ended})
			if n == number {
				replacement = stop
				replacement.ID, replacement.CreatedMS = 99, w.now
			}
		}
		w.now += 1_000
		w.sees("1.009", "0.001", nil, replacement)
		if have := w.tracker.Symbol(coin).ReplacementQuantity(); have != want {
			t.Errorf("an order in the place of stop %d: want %d in its place, have %d", number, want, have)
		}
	}
}
