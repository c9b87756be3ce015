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

// TestMarginLevelsThatWereNotAnsweredAtTheStartAreReadLater begins with a venue whose margin levels fail.
func TestMarginLevelsThatWereNotAnsweredAtTheStartAreReadLater(t *testing.T) {
	t.Parallel()
	v := newVenue(t)
	missing := status(404, `{"code":404,"error":"there is no such path"}`)
	v.on(exchange.FuturesMarginLevels, missing, missing) // at the start, and at the first poll
	client := ready(t, open(t, v))
	brackets := func() int {
		answer, err := client.Do(t.Context(), exchange.Request{Operation: exchange.FuturesSymbols})
		if err != nil {
			t.Fatal(err)
		}
		return len(answer.Symbols.Items()[0].Brackets)
	}
	if have := brackets(); have != 0 {
		t.Fatalf("want none, have %d", have)
	}
	if have := brackets(); have == 0 {
		t.Error("want the margin levels once they are answered")
	}
	known, _ := client.Symbols().Symbol(exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"})
	if have := brackets(); have != len(known.Brackets) {
		t.Errorf("want them remembered, %d, have %d", len(known.Brackets), have)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if want, have := 3, v.counts[exchange.FuturesMarginLevels]; want != have {
		t.Errorf("want them asked for %d times, have %d", want, have)
	}
}
