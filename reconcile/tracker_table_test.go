package reconcile

import (
	"iter"
	"slices"
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// ids are the client order ids of placements.
func ids(placements iter.Seq[*account.Placement]) (all []string) {
	for p := range placements {
		all = append(all, p.ClientOrderID())
	}
	return all
}

// A restored tracker knows which placements are live and which are in flight. It has read no position yet, not even the part that
// is left to others.
func TestRestoredTracker(t *testing.T) {
	t.Parallel()
	d := holds(t, 20)
	d.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Ignored{Quantity: 5}})
	first, second := d.resting(12, 5), d.places(placement.Exit, closes)
	saved := d.tracker.Checkpoint("an account")
	restored, err := Restore(testSettle, &saved)
	if err != nil {
		t.Fatal(err)
	}
	symbol := restored.Symbol(bitcoin)
	if have := ids(symbol.Live()); !slices.Equal(have, []string{first, second}) {
		t.Errorf("want both orders live, have %v", have)
	}
	if have := ids(restored.InFlight()); !slices.Equal(have, []string{first, second}) {
		t.Errorf("want both in flight, have %v", have)
	}
	if symbol.Known() != 20 || symbol.AtVenue() != 0 || symbol.Ignored() != 5 {
		t.Errorf("want no position read yet, have %d of %d known, %d others'", symbol.AtVenue(), symbol.Known(), symbol.Ignored())
	}
	if _, err := Restore(testSettle, &record.Checkpoint{State: []byte("{")}); err == nil {
		t.Error("want a state that cannot be read refused")
	}
}

// All placements that do not rest are in flight. They are listed oldest first, in whichever order they stopped
// resting.
func TestInFlight(t *testing.T) {
	t.Parallel()
	d := holds(t, 20)
	first := d.resting(12, 5)
	second := d.resting(13, 5)
	market := d.rests(placement.Exit, 14, exchange.NewOrder{Side: exchange.Sell, Type: exchange.MarketOrder, Quantity: 5, ReduceOnly: true})
	want := func(when string, all ...string) {
		t.Helper()
		for what, have := range map[string][]string{"all": ids(d.tracker.InFlight()), "the symbol's": ids(d.tracker.InFlightOn(bitcoin))} {
			if !slices.Equal(have, all) {
				t.Errorf("%s: want %v of %s in flight, have %v", when, all, what, have)
			}
		}
		if have := ids(d.tracker.Symbol(bitcoin).Live()); !slices.Equal(have, []string{first, second, market}) {
			t.Errorf("%s: want all three live, have %v", when, have)
		}
	}
	want("acknowledged", first, second, market)
	for _, id := range []string{first, second, market} {
		d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: id, Body: record.Fill{OrderID: d.tracker.Placement(id).OrderID()}})
	}
	want("shown by a list", market)
	d.uncertain(first)
	want("one cannot be read any more", first, market)
	d.uncertain(second)
	want("nor can another", first, second, market)
	if d.tracker.AnyInFlightOn(ethers.Key(), func(*account.Placement) bool { return true }) {
		t.Error("want none of a symbol that is not known")
	}
}

// A start forgets all earlier reads, and numbers its ids from one again.
func TestBootForgetsReads(t *testing.T) {
	t.Parallel()
	d := holds(t, 20)
	symbol := d.tracker.Symbol(bitcoin)
	symbol.declare("a test", d.now)
	symbol.refusedMS = d.now
	d.resting(12, 5)
	d.tracker.Apply(&record.Record{AtMS: d.now, Body: record.Boot{Epoch: 2}})
	bounds := d.tracker.Bounds()
	if symbol.contradicted != "" || symbol.contradictedSinceMS != 0 || symbol.read || symbol.settled || symbol.RefusedUntilMS(&bounds) != 0 {
		t.Errorf("want nothing of what was read, have %q since %d, refused until %d", symbol.contradicted, symbol.contradictedSinceMS,
			symbol.RefusedUntilMS(&bounds))
	}
	if id := d.tracker.NextClientOrderID("t"); !strings.HasSuffix(id, "-1") {
		t.Errorf("want ids counted from one, have %s", id)
	}
	if symbol.refusedMS = 1; symbol.RefusedUntilMS(&bounds) != 7_001 {
		t.Errorf("want a refusal shown for W, D and L, have until %d", symbol.RefusedUntilMS(&bounds))
	}
}

// The tracker knows the symbols of every record, and lists them sorted.
func TestKnownSymbols(t *testing.T) {
	t.Parallel()
	b := NewTracker(testSettle)
	key := func(market exchange.Market, name string) exchange.SymbolKey {
		return exchange.SymbolKey{Market: market, Name: name}
	}
	if b.Knows(exchange.Futures) || b.Knows(exchange.Spot) {
		t.Error("want none known yet")
	}
	for i, body := range []record.Body{record.Assigned{}, record.Quarantined{}, record.Adopted{Quantity: 1}, record.Fees{Quantity: 1}} {
		b.Apply(&record.Record{Strategy: "one", Symbol: key(exchange.Futures, []string{"C", "A", "D", "B"}[i]), Body: body})
	}
	if !b.Knows(exchange.Futures) || b.Knows(exchange.Spot) {
		t.Error("want futures known alone")
	}
	have := ""
	for symbol := range b.Symbols() {
		have += symbol.Key().Name
	}
	if have != "ABCD" {
		t.Errorf("want them sorted, have %s", have)
	}
	if balance := b.Balance("XYZ"); balance.Asset != "XYZ" || !balance.Free.IsZero() {
		t.Errorf("want nothing of an asset that the wallet does not show, have %+v", balance)
	}
}

// The id counts as botd's own, so no later order under it belongs to another botd.
func TestARecordAboutAnOrderThatIsNotLiveNamesItsId(t *testing.T) {
	t.Parallel()
	b := NewTracker(testSettle)
	b.Apply(&record.Record{Symbol: coin, ClientOrderID: "bt-7-5", Body: record.Ended{State: placement.Canceled}})
	for id, want := range map[string]bool{"bt-7-5": true, "bt-7-6": false} {
		if serial, _ := placement.ParseSerial(id); b.Sent(coin, serial) != want {
			t.Errorf("%s: want it known %t", id, want)
		}
	}
}

// Price prefers the mark, MeanEntryPrice averages the position's price, and Traded sums what botd has opened on either
// side.
func TestSymbolFigures(t *testing.T) {
	t.Parallel()
	d := holds(t, 20)
	symbol := d.tracker.Symbol(bitcoin)
	if symbol.mark = 1; symbol.Price() != 1 {
		t.Errorf("want the mark, however small, have %v", symbol.Price())
	}
	symbol.traded = 20
	if buys, sells := symbol.Traded(exchange.Buy), symbol.Traded(exchange.Sell); buys != 20 || sells != 0 {
		t.Errorf("want 20 bought and none sold, have %d and %d", buys, sells)
	}
	d.shows(symbol, 25)
	symbol.residualFor.sinceMS = 77
	if residual, since := symbol.Residual(); residual != 5 || since != 77 {
		t.Errorf("want five more since 77, have %d since %d", residual, since)
	}
	w := explains(t, 0, 0)
	spot := w.tracker.Symbol(coin)
	if !spot.MeanEntryPrice().IsZero() {
		t.Errorf("want no mean of nothing, have %s", spot.MeanEntryPrice())
	}
	order := w.buysUnder(5, 10)
	w.apply(record.Record{AtMS: w.now, ClientOrderID: order.ClientOrderID,
		Body: record.Ended{State: placement.Filled, OrderID: 5, Filled: 10, Price: exchange.AmountOf(2_400)}})
	if have := spot.MeanEntryPrice(); have != exchange.AmountOf(2_400) {
		t.Errorf("want what was paid where no entry price is reported, have %s", have)
	}
	if spot.entryPrice = exchange.AmountOf(2_500); spot.MeanEntryPrice() != exchange.AmountOf(2_500) {
		t.Errorf("want the entry price that is reported, have %s", spot.MeanEntryPrice())
	}
}

// Of the time between two snapshots at most a second counts.
func TestPersistenceCountsASecondAtMost(t *testing.T) {
	t.Parallel()
	var p persistence
	for _, c := range []struct {
		beganMS, endedMS int64
		want             int64
	}{{1_000, 1_100, 0}, {1_600, 1_700, 500}, {2_200, 2_100, 1_000}, {5_000, 5_000, 2_000}, {4_000, 4_000, 2_000}, {6_500, 6_500, 3_000}} {
		p.extend(&Snapshot{BeganMS: c.beganMS, EndedMS: c.endedMS})
		if p.forMS != c.want || p.sinceMS != 1_100 {
			t.Errorf("to %d: want it to have lasted for %d ms, have %d since %d", c.beganMS, c.want, p.forMS, p.sinceMS)
		}
	}
}
