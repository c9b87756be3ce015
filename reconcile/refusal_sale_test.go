package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// The exchange executed the sale that it refused, and the history is older. The kill switch sells again only what the wallet
// shows besides a person's units.
func TestRefusedSaleBoundsFlattenByWallet(t *testing.T) {
	t.Parallel()
	saleAfterARefusedOne(t)
}

func saleAfterARefusedOne(t testing.TB) {
	w := holding(t, ForeignHalt) // 10, besides 1 BTC of a person
	symbol := w.tracker.Symbol(coin)
	symbol.last = 50_000e8
	sold := func() (sum exchange.Quantity) {
		intents, _ := w.tracker.Derive(&Desired{Strategy: w.tracker.Strategy("one").Halted(record.LevelFlatten), Symbol: symbol,
			Equity: exchange.AmountOf(10_000), Interval: exchange.Minute1, Collar: exchange.RateOne / 20, Flatten: true}, w.now)
		for _, intent := range intents {
			if intent.Purpose == placement.Exit {
				sum += intent.Order.Quantity
			}
		}
		return sum
	}
	if have := sold(); have != 10 {
		t.Fatalf("want all of it sold, have %d", have)
	}
	order := saleOf(10)
	order.Market, order.Symbol, order.ClientOrderID = exchange.Spot, "BTC-USDT", w.tracker.NextClientOrderID("t")
	w.apply(record.Record{AtMS: w.now, Strategy: "one", Symbol: coin, ClientOrderID: order.ClientOrderID,
		Body: record.Sending{Order: order, Purpose: placement.Exit, DeadlineMS: w.now + 5_000}})
	w.apply(record.Record{AtMS: w.now, ClientOrderID: order.ClientOrderID, Body: record.Refused{Code: 2999, Reason: "system busy"}})
	w.now += 1_000
	w.shows("1", "0")
	if have := sold(); have != 0 {
		t.Errorf("the wallet shows that it was sold: want nothing sold again, have %d", have)
	}
	w.now += 1_000
	w.shows("1.01", "0")
	if have := sold(); have != 10 {
		t.Errorf("the wallet shows all of it: want it sold, have %d", have)
	}
}
