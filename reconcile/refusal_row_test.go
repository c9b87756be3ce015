package reconcile

import (
	"testing"

	"botd/exchange"
)

// The order history shows a purchase without a client order id, and the wallet shows that a refused purchase was executed. The row is that purchase if
// it equals it in every parameter; otherwise somebody else bought.
func TestRowWithoutIDIsMatchedToEqualRefusedPurchase(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(row *exchange.Order)
		want   exchange.Quantity // of a stop
	}{
		"equal":            {func(*exchange.Order) {}, 10},
		"another amount":   {func(row *exchange.Order) { row.QuoteAmount = exchange.AmountOf(500) }, 0},
		"another id":       {func(row *exchange.Order) { row.ClientOrderID = "someone" }, 0},
		"a minute earlier": {func(row *exchange.Order) { row.CreatedMS -= 60_000 }, 10}, // before the refused one: the wallet contained it already
		"a minute later":   {func(row *exchange.Order) { row.CreatedMS += 60_000 }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refusedWithRow(t, c.change, c.want)
		})
	}
}

func refusedWithRow(t testing.TB, change func(row *exchange.Order), want exchange.Quantity) {
	t.Helper()
	w, derive := refusedPurchase(t, 0)
	row := exchange.Order{ID: 7, Market: exchange.Spot, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: 10, Filled: 10,
		QuoteAmount: exchange.AmountOf(520), Status: exchange.StatusFilled, CreatedMS: w.tracker.Refused()[0].SentMS}
	change(&row)
	w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, SpotOrders: exchange.FetchedOf([]exchange.Order(nil)),
		History: exchange.FetchedOf([]exchange.Order{row}), HistoryWhole: true,
		Balances: exchange.FetchedOf([]exchange.Balance{{Asset: "BTC", Free: exchange.MustAmount("1.01")},
			{Asset: "USDT", Free: exchange.MustAmount("9500")}})})
	if have := stopped(derive()); have != want {
		t.Errorf("want a stop of %d, have %d", want, have)
	}
}
