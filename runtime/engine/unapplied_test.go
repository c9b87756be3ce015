package engine

import (
	"maps"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// A round forgets the positions of the one before it, and the fills that are booked, or whose order has ended. An older read does not reduce a fill.
func TestRoundForgetsFillsThatAreBooked(t *testing.T) {
	t.Parallel()
	w := settled(t)
	id := w.sends(placement.Order)
	w.engine.tracker.Apply(&record.Record{AtMS: w.now, Strategy: "one", Symbol: bitcoin, ClientOrderID: id, Body: record.Acknowledged{OrderID: quoteID}})
	u := &w.engine.unapplied
	for _, filled := range []exchange.Quantity{3, 2} {
		answer := quoteByID(filled)
		u.note(&answer, true)
	}
	other, listed := quoteByID(5), positionListed(exchange.Short, "BTC-USDT")
	other.Order.ID++
	u.note(&other, false)
	u.note(&listed, false)
	for _, step := range []struct {
		booked exchange.Quantity
		want   map[int64]exchange.Quantity
	}{{2, map[int64]exchange.Quantity{quoteID: 3}}, {3, nil}} {
		w.engine.tracker.Apply(&record.Record{AtMS: w.now, Strategy: "one", Symbol: bitcoin, ClientOrderID: id, Body: record.Fill{Filled: step.booked}})
		if w.engine.reader.beginReads(); !maps.Equal(u.filled, step.want) || u.positions != nil {
			t.Errorf("%d are booked: want the fills %v and no positions, have %+v", step.booked, step.want, u)
		}
	}
}
