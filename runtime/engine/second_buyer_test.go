package engine

import (
	"slices"
	"strings"
	"testing"

	"botd/exchange"
)

// Without stops and without ids in the history, the form of its purchases alone shows another botd, or what this one bought before its journal was lost:
// nothing else opens, under any policy, until a person has decided.
func TestPurchaseOfBotdsFormWithoutIDBlocksOpenings(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"halt", "adopt", "ignore"} {
		otherBuys(t, policy, true)
	}
	otherBuys(t, "halt", false)
}

func otherBuys(t testing.TB, policy string, ofItsForm bool) {
	t.Helper()
	target := exchange.Quantity(1_000)
	w := newWorld(t, swing(&target), onEther, foreign(policy))
	w.mirror = withoutIDs(spotLists...)
	w.pass(20_000)
	rules := w.venue.Symbol(spotEther)
	last, _ := w.venue.Price(spotEther)
	other := exchange.NewOrder{Market: exchange.Spot, Symbol: rules.Name, Side: exchange.Buy, Type: exchange.MarketOrder, ClientOrderID: "bt-another-1",
		QuoteAmount: rules.Notional(last+rules.PriceTick, 1_003*rules.QuantityTick)}
	if !ofItsForm {
		other.QuoteAmount = exchange.AmountOf(300)
	}
	if _, err := w.venue.Do("one", &exchange.Request{Operation: exchange.SpotPlace, Order: other}); err != nil {
		t.Fatal(err)
	}
	w.pass(20_000)
	target = 2_000
	w.pass(20_000)
	if !ofItsForm {
		w.wantSent(2)
		return
	}
	w.wantSent(1)
	if d := w.wantState("quarantined"); !strings.Contains(d.Cause, "the form of botd's purchases") {
		t.Errorf("%s: want the symbol quarantined for it, have %+v", policy, d)
	}
	w.give(&EventResolve{Symbol: spotEther, Reason: "the other botd is stopped"})
	w.pass(20_000)
	w.wantSent(2)
	w.wantSound()
}

func TestPurchasesOfALostJournalBlockOpenings(t *testing.T) {
	t.Parallel()
	boughtBeforeALoss(t)
}

func boughtBeforeALoss(t testing.TB) {
	w := newWorld(t, hold(1_003), onEther, foreign("adopt"))
	w.setSpotPrice("ETH-USDT", "2500.01") // otherwise the amount is in whole cents
	w.mirror = withoutIDs(spotLists...)
	w.pass(20_000)
	w.wantSent(1)
	w.records = nil
	w.start()
	w.pass(60_000)
	w.wantSent(1)
	w.wantState("quarantined")
}

// The first histories that a new journal reads omit what was bought before the former one was lost; later ones, which concern its own purchase, show it if
// that was in the hour before, and they are read in the first ten minutes.
func TestPurchasesOfALostJournalAreFoundByLaterHistories(t *testing.T) {
	t.Parallel()
	boughtBeforeALossAndOmitted(t, 60_000, 60_000, 3)
	boughtBeforeALossAndOmitted(t, 3_700_000, 60_000, 4)
	boughtBeforeALossAndOmitted(t, 60_000, 620_000, 4)
}

func boughtBeforeALossAndOmitted(t testing.TB, agoMS, laterMS int64, want int) {
	t.Helper()
	target := exchange.Quantity(1_000)
	w := newWorld(t, swing(&target), onSpot)
	w.pass(20_000)
	w.wantSent(1)
	lostMS := w.now
	w.pass(agoMS)
	w.records = nil
	startMS := w.now
	w.mirror = func(answer *exchange.Answer) {
		if answer.Operation != exchange.SpotOrderHistory {
			return
		}
		rows := slices.Clone(answer.Orders.Items())
		for i := range rows {
			if rows[i].CreatedMS < lostMS {
				rows[i].ClientOrderID = "bt-000zzz00000-1"
			}
		}
		answer.Orders = exchange.FetchedOf(slices.DeleteFunc(rows, func(o exchange.Order) bool {
			return o.CreatedMS < lostMS && w.now < startMS+10_000
		}))
	}
	w.start()
	w.pass(laterMS)
	w.wantSent(2)
	target = 2_000
	w.pass(20_000)
	target = 3_000
	w.pass(20_000)
	w.wantSent(want)
	if want == 3 {
		w.wantState("standing_down")
	}
}

// Another botd with a copy of the journal moves the stop. The one in its place protects the position of both.
func TestStopOfACopyOfTheJournalProtectsBoth(t *testing.T) {
	t.Parallel()
	target := exchange.Quantity(1_000)
	w := newWorld(t, swing(&target), onEther, protected)
	w.mirror = withoutIDs(spotLists...)
	w.pass(20_000)
	w.wantSent(2)
	own := slices.Collect(w.engine.Tracker().Live())[0]
	moved := own.Order()
	moved.StopPrice, moved.Price, moved.ClientOrderID = moved.StopPrice-10e8, moved.Price-9_5e7, "bt-another-1"
	for _, request := range []exchange.Request{{Operation: exchange.SpotCancel, Symbol: moved.Symbol, OrderID: own.OrderID()},
		{Operation: exchange.SpotPlace, Order: moved}} {
		if _, err := w.venue.Do("one", &request); err != nil {
			t.Fatal(err)
		}
		w.pass(400)
	}
	w.pass(60_000)
	w.wantSent(2)
	if symbol := w.symbol(); symbol.UnprotectedSinceMS() != 0 || symbol.ReplacementQuantity() != moved.Quantity {
		t.Errorf("want it protected by the other one, have it unprotected since %d, and %d in its place\n%s",
			symbol.UnprotectedSinceMS(), symbol.ReplacementQuantity(), w.story())
	}
	w.flatten()
	w.pass(8_000)
	if d := w.wantState("halted"); !strings.Contains(strings.Join(d.Blind, "\n"), "are held by orders without ids that have replaced botd's stops") {
		t.Errorf("want the units that a flatten leaves reported, have %+v\n%s", d, w.story())
	}
}
