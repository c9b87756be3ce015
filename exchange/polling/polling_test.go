package polling

import (
	"slices"
	"testing"

	"botd/exchange"
)

// TestTheOperationsOfAMarketAreItsOwn checks that each operation is of that market, and only reads.
func TestTheOperationsOfAMarketAreItsOwn(t *testing.T) {
	t.Parallel()
	for _, market := range []exchange.Market{exchange.Futures, exchange.Spot} {
		o := Of(market)
		all := slices.Concat(o.Lists, o.Positions, o.Feed[:], []exchange.Operation{o.Ticker, o.Tickers, o.Candles, o.Rules, o.OrderBook})
		if o.Funding != 0 {
			all = append(all, o.Funding)
		}
		for _, operation := range all {
			if operation == 0 || operation.Market() != market || operation.Changes() {
				t.Errorf("%s: have %s", market, operation)
			}
		}
	}
	if Of(exchange.Futures).Funding == 0 || Of(exchange.Spot).Funding != 0 {
		t.Error("want funding on futures alone")
	}
}
