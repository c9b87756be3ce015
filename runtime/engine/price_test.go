package engine

import (
	"slices"
	"testing"

	"botd/exchange"
)

// priceReads counts the requests for prices. The list of tickers has the given fate.
func (w *world) priceReads(market exchange.Market, list fate) (lists, singles *int) {
	w.engine.reader.listFrom = 2
	lists, singles = new(int), new(int)
	w.network = func(call *Call) fate {
		switch op := call.Request.Operation; {
		case op.Market() != market:
		case op == exchange.FuturesTickers || op == exchange.SpotTickers:
			*lists++
			return list
		case op == exchange.FuturesTicker || op == exchange.SpotTicker:
			*singles++
		}
		return fate{}
	}
	return lists, singles
}

// withoutTicker omits a symbol from the lists of tickers.
func withoutTicker(name string) func(*exchange.Answer) {
	return func(answer *exchange.Answer) {
		if op := answer.Operation; op == exchange.FuturesTickers || op == exchange.SpotTickers {
			others := slices.DeleteFunc(slices.Clone(answer.Tickers.Items()), func(t exchange.Ticker) bool { return t.Symbol == name })
			answer.Tickers = exchange.FetchedOf(others)
		}
	}
}

// Single tickers were up to four fifths of all requests of a daemon with many symbols, ahead of its candles.
func TestThePricesOfAMarketAreReadInOneRequest(t *testing.T) {
	t.Parallel()
	bothMarkets(t, func(t *testing.T, market exchange.Market) {
		one, two := small(market)
		w := pairOf(t, market, &one, &two)
		lists, singles := w.priceReads(market, fate{})
		w.pass(120_000)
		if *lists == 0 || *singles != 0 {
			t.Errorf("want the list read and no ticker alone, have %d and %d", *lists, *singles)
		}
		w.wantBlind()
		w.mirror = withoutTicker("ETH-USDT")
		*lists, *singles = 0, 0
		w.pass(60_000)
		if *lists == 0 || *singles != *lists {
			t.Errorf("want one ticker alone beside each list that leaves a symbol out, have %d of %d", *singles, *lists)
		}
		w.wantBlind()
	})
}

// After a failure the single tickers are read in the same round, and the list is not requested for a minute. A
// hanging list counts as failed after 10 s.
func TestFailedPriceListBlindsNoSymbol(t *testing.T) {
	t.Parallel()
	for name, list := range map[string]fate{
		"failing": {err: &exchange.Refusal{Status: 404, Message: "no such path"}},
		"hanging": {longMS: 300_000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bothMarkets(t, func(t *testing.T, market exchange.Market) {
				one, two := small(market)
				w := pairOf(t, market, &one, &two)
				w.pass(30_000)
				lists, singles := w.priceReads(market, list)
				w.pass(240_000)
				if *lists == 0 || *lists > 12 || *singles < 2**lists {
					t.Errorf("want the list tried now and then and the tickers read, have %d and %d", *lists, *singles)
				}
				w.wantBlind()
				for _, name := range []string{"BTC-USDT", "ETH-USDT"} {
					symbol := w.engine.tracker.Track(exchange.SymbolKey{Market: market, Name: name})
					if age := w.now - symbol.LastMS(); age > 30_000 {
						t.Errorf("want a price of %s, have one of %d ms ago", name, age)
					}
				}
				one = 0
				w.pass(10_000)
				if have := w.heldOf(market, "BTC-USDT"); have > 5 {
					t.Errorf("want BTC-USDT sold, have %d\n%s", have, w.story())
				}
			})
		})
	}
}
