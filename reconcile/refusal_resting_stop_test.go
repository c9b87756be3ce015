package reconcile

import (
	"slices"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// The exchange refused an opening but executed it, and the position that a list showed got its stop. botd is started again. The exchange would have ended
// the stop with the position: while it rests, a list without the position is wrong, the stop stays, and nothing opens.
func TestRestingStopOfRefusedOpeningOutweighsEmptyList(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		checkpoint bool
		change     func(d *desk)
		closedMS   int64 // end of a position in positions/history
		want       bool  // the refusal is not confirmed
	}{
		{"from the records", false, nil, 0, true},
		{"from a checkpoint", true, nil, 0, true},
		{"positions/history shows an end since", false, nil, 1_005_000, false},
		{"it shows an earlier end", false, nil, 900_000, true},
		{"a person has decided", false, func(d *desk) {
			d.tracker.Apply(&record.Record{AtMS: d.now, Symbol: bitcoin, Body: record.Adopted{}})
		}, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			stoppedRefusal(t, c.checkpoint, c.change, c.closedMS, c.want)
		})
	}
}

func stoppedRefusal(t testing.TB, checkpoint bool, change func(d *desk), closedMS int64, want bool) {
	t.Helper()
	d := newDesk(t)
	for _, quantity := range []exchange.Quantity{5, -5} { // something was booked a moment before
		d.tracker.Apply(&record.Record{AtMS: d.now, Symbol: bitcoin, Body: record.Adopted{Quantity: quantity}})
	}
	d.refusedBid(false)
	d.now += 1_000
	row := d.order(d.whole(placement.StopLoss, 12, exchange.Sell, "49000"), 12, exchange.StatusNew, 0, 0)
	row.Side, row.Type, row.ClosePosition = exchange.Sell, exchange.StopMarket, true
	if checkpoint {
		d.restores()
	}
	d.now += 1_000
	d.tracker.Apply(&record.Record{AtMS: d.now, Body: record.Boot{Epoch: 2}})
	if change != nil {
		change(d)
	}
	d.target(10)
	for range testSettle.StalenessMS/1_000 + 3 {
		d.now += 1_000
		seen := &Snapshot{BeganMS: d.now, EndedMS: d.now, FuturesOrders: exchange.FetchedOf([]exchange.Order{row}), Before: d.positions(0),
			Positions: d.positions(0)}
		if closedMS != 0 {
			seen.Closed = []exchange.Position{ended(7, func(p *exchange.Position) { p.UpdatedMS = closedMS })}
		}
		d.tracker.Observe(seen)
		if have := len(d.tracker.Refused()) == 1; have != want {
			t.Fatalf("want the refusal unconfirmed %t, have %t", want, have)
		}
		have := purposes(d.derive(nil))
		if stays := !slices.Contains(have, placement.Cancel); stays != want || want && slices.ContainsFunc(have, placement.Purpose.Opens) {
			t.Fatalf("want the stop to stay and nothing opened %t, have %v", want, have)
		}
	}
	if have := d.tracker.Symbol(bitcoin).contradicted == vanishedUnexplained; have != want {
		t.Errorf("want it contradicted %t, have %t", want, have)
	}
}

// restores restarts from a checkpoint.
func (d *desk) restores() {
	d.t.Helper()
	saved, before := d.tracker.Checkpoint("an account"), d.tracker.Symbol(bitcoin)
	restored, err := Restore(testSettle, &saved)
	if err != nil {
		d.t.Fatal(err)
	}
	d.tracker = restored
	symbol := d.tracker.Track(bitcoin)
	symbol.rules, symbol.leverage, symbol.last = before.rules, before.leverage, before.last
}
