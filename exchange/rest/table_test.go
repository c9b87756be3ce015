package rest

import (
	"testing"
	"testing/synctest"
	"time"

	"botd/exchange"
)

var futuresKey = exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}

func TestSymbolsAreReadWhenFirstNeededWithAscendingBrackets(t *testing.T) {
	t.Parallel()
	v := newVenue(t)
	client := open(t, v)
	if all := client.Symbols().All(); len(all) != 0 {
		t.Errorf("before: have %v", all)
	}
	if _, err := call(t.Context(), client, exchange.Request{Operation: exchange.FuturesTickers}); err != nil {
		t.Fatal(err)
	}
	symbol, found := client.Symbols().Symbol(futuresKey)
	if !found || len(symbol.Brackets) != 2 || !symbol.Brackets[0].Min.IsZero() || symbol.Brackets[1].Max != exchange.AmountOf(20) {
		t.Errorf("have %+v", symbol)
	}
	if have := v.count(exchange.SpotPairs); have != 0 {
		t.Errorf("spot was not needed, and read %d times", have)
	}
	if err := client.RefreshSymbols(t.Context()); err != nil {
		t.Fatal(err)
	}
	all := client.Symbols().All()
	if len(all) != 2 || all[0].Market != exchange.Futures || all[1].Market != exchange.Spot {
		t.Errorf("both: have %v", all)
	}
}

func TestADelistedSymbolStaysButIsNotTraded(t *testing.T) {
	t.Parallel()
	v := newVenue(t)
	client := ready(t, open(t, v))
	before, _ := client.Symbols().Symbol(futuresKey)
	v.mu.Lock()
	v.listed = nil
	v.mu.Unlock()
	if err := client.RefreshSymbols(t.Context()); err != nil {
		t.Fatal(err)
	}
	after, found := client.Symbols().Symbol(futuresKey)
	if !found || after.Tradable || !before.Tradable {
		t.Errorf("want it there and not tradable, have %+v", after)
	}
}

func TestANewSymbolInAnOwnListRefreshesTheTableOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := newVenue(t)
		client := ready(t, openPipe(t, v))
		const position = `[{"id":1,"symbol":"NEW-USDT","side":"LONG","entryPrice":"1","quantity":"1","remainingQty":"1"}]`
		time.Sleep(relistAfter)
		v.on(exchange.FuturesOpenPositions, status(200, position), status(200, position), status(200, position))
		_, err := call(t.Context(), client, exchange.Request{Operation: exchange.FuturesOpenPositions})
		kind(t, "positions", err, "malformed", "NEW-USDT")
		if tries, lists := v.count(exchange.FuturesOpenPositions), v.count(exchange.FuturesSymbols); tries != 2 || lists != 1 {
			t.Errorf("want two tries and one list, have %d and %d", tries, lists)
		}
		_, err = call(t.Context(), client, exchange.Request{Operation: exchange.FuturesOpenPositions})
		kind(t, "at once again", err, "malformed", "NEW-USDT")
		if lists := v.count(exchange.FuturesSymbols); lists != 1 {
			t.Errorf("within %s: want no further list, have %d", relistAfter, lists)
		}
	})
}
