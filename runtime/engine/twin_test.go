package engine

import (
	"testing"

	"botd/exchange"
)

// The wallet shows it in an idle round. The history, which shows whose it is, is read a second later and not after the idle time, during
// which the coins would have no stop.
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
	for shown := w.engine.Book().WalletMS(); w.engine.Book().WalletMS() == shown; {
		w.pass(100)
	}
	w.pass(4_000)
	w.wantState("halted")
	if covered := w.coveredEther(); covered < w.inEther()-4 {
		t.Errorf("want all of it covered, have %d of %d\n%s", covered, w.inEther(), w.story())
	}
}
