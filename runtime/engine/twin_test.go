package engine

import (
	"strings"
	"testing"

	"botd/exchange"
)

// The wallet shows it in an idle round. The history, which shows whose it is, is read a second later and not after the idle time, during
// which the units would have no stop.
func TestAnotherBotdsPurchaseIsFoundAndProtected(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(2_000), onEther, protected)
	w.pass(60_000)
	order := exchange.NewOrder{Market: exchange.Spot, Symbol: "ETH-USDT", Side: exchange.Buy, Type: exchange.MarketOrder,
		QuoteAmount: exchange.AmountOf(60), ClientOrderID: "bt-00000220000-1"}
	if _, err := w.venue.Do("one", &exchange.Request{Operation: exchange.SpotPlace, Order: order}); err != nil {
		t.Fatal(err)
	}
	before := w.inEther()
	for w.inEther() == before {
		w.pass(100)
	}
	for shown := w.engine.Tracker().WalletMS(); w.engine.Tracker().WalletMS() == shown; {
		w.pass(100)
	}
	w.pass(4_000)
	w.wantState("halted")
	if covered := w.coveredEther(); covered < w.inEther()-4 {
		t.Errorf("want all of it covered, have %d of %d\n%s", covered, w.inEther(), w.story())
	}
}

// While botd stands down, it does not replace its own stop next to another botd's. That one protects the position: nothing is unprotected, and the state
// names it. Next to a person's stop, botd places its own.
func TestAnotherBotdsStopLeavesNothingUnprotected(t *testing.T) {
	t.Parallel()
	anothersStop(t, "bt-00000220000-2", "bt-00000220000-2")
	anothersStop(t, "by-hand", "")
}

func anothersStop(t testing.TB, id, want string) {
	t.Helper()
	price := exchange.Price(49_000e8)
	w := newWorld(t, stopped(&price))
	w.pass(70_000)
	place := exchange.Request{Operation: exchange.FuturesPlace, Order: exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell,
		Type: exchange.Limit, Price: 60_000e8, Quantity: 1, ReduceOnly: true, ClientOrderID: "bt-00000220000-1"}}
	w.manually(place)
	w.pass(20_000)
	w.wantState("standing_down")
	w.manually(exchange.Request{Operation: exchange.FuturesCancel, OrderID: w.stops()[0].ID})
	place.Order = exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell, Type: exchange.StopMarket, StopPrice: 48_000e8,
		ClosePosition: true, WorkingType: exchange.MarkPrice, ClientOrderID: id}
	w.manually(place)
	w.pass(30_000)
	status := w.engine.Status().Strategies[0]
	if !status.Protected || status.UnprotectedSinceMS != 0 || status.State == "unprotected" || status.PeerStop != want {
		t.Errorf("%s: want it protected by %q, have %+v\n%s", id, want, status, w.story())
	}
	named := strings.Contains(w.wantState("standing_down").Cause, "its stop "+id+" protects futures BTC-USDT")
	if named != (want != "") {
		t.Errorf("%s: want the stop named %t, have %+v", id, want != "", w.engine.Degraded())
	}
}
