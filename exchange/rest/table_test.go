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

func TestANewSymbolInAListOfItsOwnRefreshesTheTableOnce(t *testing.T) {
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

// The order is by key.
func TestInstrumentsAreListedInOneOrder(t *testing.T) {
	t.Parallel()
	table := &SymbolTable{symbols: map[exchange.SymbolKey]*exchange.Symbol{}}
	for _, market := range []exchange.Market{exchange.Spot, exchange.Futures} {
		for _, name := range []string{"D", "A", "F", "C", "E", "B"} {
			table.symbols[exchange.SymbolKey{Market: market, Name: name}] = &exchange.Symbol{Market: market, Name: name}
		}
	}
	all := table.All()
	for i := range all[1:] {
		if all[i].Key().Compare(all[i+1].Key()) >= 0 {
			t.Errorf("want %s after %s", all[i].Key(), all[i+1].Key())
		}
	}
	if len(all) != 12 {
		t.Errorf("want all twelve, have %d", len(all))
	}
}

// The order is read with a new list.
func TestAnOrderOfASymbolThatIsNotListedIsReadOnceMore(t *testing.T) {
	t.Parallel()
	v := newVenue(t)
	client := ready(t, open(t, v))
	const order = `{"id":7,"symbol":"NEW-USDT","side":"BUY","type":"LIMIT","status":"OPEN","quantity":"1","filled":"0","price":"1"}`
	v.on(exchange.FuturesOrder, status(200, order), status(200, order), status(200, order))
	lists := v.count(exchange.FuturesSymbols)
	if _, err := call(t.Context(), client, exchange.Request{Operation: exchange.FuturesOrder, OrderID: 7}); err == nil {
		t.Error("want it not read")
	}
	if tries, again := v.count(exchange.FuturesOrder), v.count(exchange.FuturesSymbols)-lists; tries != 2 || again > 1 {
		t.Errorf("want two tries and one list at most, have %d and %d", tries, again)
	}
}

func TestAListThatIsNotAnsweredIsAnError(t *testing.T) {
	t.Parallel()
	for _, operation := range []exchange.Operation{exchange.FuturesSymbols, exchange.SpotPairs} {
		v := newVenue(t)
		client := ready(t, open(t, v))
		v.on(operation, status(404, `{"code":404,"error":"there is no such path"}`))
		if err := client.RefreshSymbols(t.Context()); err == nil {
			t.Errorf("%s: want an error", operation)
		}
		if _, found := client.Symbols().Symbol(futuresKey); !found {
			t.Errorf("%s: want what was listed to stay", operation)
		}
	}
}

func TestMarginLevelsThatAreNotAnsweredLaterStay(t *testing.T) {
	t.Parallel()
	v := newVenue(t)
	client := ready(t, open(t, v))
	before, _ := client.Symbols().Symbol(futuresKey)
	v.on(exchange.FuturesMarginLevels, status(404, `{"code":404,"error":"there is no such path"}`))
	if err := client.RefreshSymbols(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after, _ := client.Symbols().Symbol(futuresKey); len(before.Brackets) == 0 || len(after.Brackets) != len(before.Brackets) {
		t.Errorf("want the %d levels that were known, have %d", len(before.Brackets), len(after.Brackets))
	}
}

// TestMarginLevelsThatWereNotAnsweredAtTheStartAreReadLater starts with a venue whose margin levels fail.
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
