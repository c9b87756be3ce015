package engine

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// laneRandom is the random part of ids of the kill switch's lane.
const laneRandom = "lane0"

func withLane(w *world) { w.config.Lane = laneRandom }

// TestLaneOrdersAreTakenByEngine closes a position outside the engine, as the kill switch's
// lane does, and reports it to the engine afterwards, with the answer and without it. The order is a
// placement like any other, nothing is adopted or quarantined, and the strategy does not open the position
// again.
func TestLaneOrdersAreTakenByEngine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		outcome record.Body
	}{{"acknowledged", record.Acknowledged{}}, {"its answer lost", record.Uncertain{Reason: "timeout"}}, {"no answer yet", nil}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, hold(10), withLane)
			w.pass(60_000)
			w.wantHeld(10)
			e := w.engine.Exposures()[0]
			if e.Close != 10 {
				t.Fatalf("want the position to close in the list, have %+v", e)
			}
			order := exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell, Type: exchange.MarketOrder, Quantity: 10,
				ReduceOnly: true, ClientOrderID: placement.ClientOrderID(w.config.Instance, placement.Start{Epoch: w.engine.Epoch(), Random: laneRandom}, 1)}
			sent := w.now
			id := w.manually(exchange.Request{Operation: exchange.FuturesPlace, Order: order}).ID
			if _, acknowledged := c.outcome.(record.Acknowledged); acknowledged {
				c.outcome = record.Acknowledged{OrderID: id}
			}
			w.give(&EventHalt{Level: record.LevelFlatten, Reason: "a test"})
			lane := &EventLane{Orders: []LaneOrder{{Strategy: "one", Order: order, SentMS: sent, DeadlineMS: sent + 5_000, Before: 10, Outcome: c.outcome}}}
			w.give(lane)
			w.pass(1_000)
			w.give(lane) // the complete report each time: known facts change nothing
			w.pass(600_000)
			w.wantHeld(0)
			for _, r := range w.records {
				switch r.Body.(type) {
				case record.Adopted, record.Quarantined:
					t.Errorf("want the close explained by its order, have %+v", r)
				}
			}
			w.give(&EventHalt{Level: record.LevelNone, Reason: "over"})
			w.pass(60_000)
			w.wantHeld(0)
		})
	}
}
