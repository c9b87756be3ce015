package sim

import (
	"slices"
	"testing"

	"botd/exchange"
)

func (d *desk) depth(limit int) exchange.Depth {
	d.Helper()
	operation := exchange.FuturesDepth
	if d.market == exchange.Spot {
		operation = exchange.SpotDepth
	}
	return d.do(exchange.Request{Operation: operation, Symbol: d.name, Limit: limit}).Depth
}

// Orders of all accounts are between the quotes and add to a quote at their price. A conditional order, an order in
// flight and one of another market are in no order book.
func TestOrdersAndQuotesAreOneOrderBook(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	if err := d.SetPrice(d.key(), d.p("50000"), 0); err != nil {
		t.Fatal(err)
	}
	d.SetMarket(d.key(), Still(StillConfig{SpreadTicks: 3})) // quotes from 49999.7 and 50000.3 on
	plain := d.depth(6)
	bob, spot := d.as("bob"), d.on(exchange.Spot, "BTC-USDT")
	for _, each := range []struct {
		*desk
		side, quantity, price string
	}{
		{d, "buy", "0.1", "50000"}, {d, "buy", "0.2", "50000"}, {d, "buy", "0.3", "49999.7"}, {d, "buy", "0.4", "49999.5"}, {d, "buy", "0.5", "49999.1"},
		{bob, "sell", "0.1", "50000.1"}, {bob, "sell", "0.2", "50000.3"}, {bob, "sell", "0.3", "50000.6"}, {spot, "buy", "0.1", "49999"},
	} {
		each.place(each.order(each.side, exchange.Limit, each.quantity, each.price))
	}
	bob.place(bob.order("sell", exchange.StopMarket, "0.7", "", bob.stopAt("49999.9", exchange.MarkPrice)))
	have := d.depth(6)
	level := func(price, quantity string) exchange.Level {
		return exchange.Level{Price: d.p(price), Quantity: d.q(quantity)}
	}
	more := func(of exchange.Level, quantity string) exchange.Level {
		of.Quantity += d.q(quantity)
		return of
	}
	bids := []exchange.Level{level("50000", "0.3"), more(plain.Bids[0], "0.3"), plain.Bids[1], more(plain.Bids[2], "0.4"), plain.Bids[3], plain.Bids[4]}
	asks := []exchange.Level{level("50000.1", "0.1"), more(plain.Asks[0], "0.2"), plain.Asks[1], plain.Asks[2], more(plain.Asks[3], "0.3"), plain.Asks[4]}
	if !slices.Equal(have.Bids, bids) || !slices.Equal(have.Asks, asks) {
		t.Errorf("want %v and %v,\nhave %v and %v", bids, asks, have.Bids, have.Asks)
	}
	if plain.Bids[0].Price != d.p("49999.7") || plain.Bids[5].Price != d.p("49999.2") || plain.Asks[0].Price != d.p("50000.3") {
		t.Errorf("want the quotes three ticks away, have %v and %v", plain.Bids, plain.Asks)
	}
	if have.ID <= plain.ID {
		t.Errorf("want lastUpdateId above %d, have %d", plain.ID, have.ID)
	}
	if again := d.depth(6); again.ID != have.ID {
		t.Errorf("want it as it was while nothing happens, have %d and %d", have.ID, again.ID)
	}
}

// The quotes have a thousand levels, and the asks of accounts are behind all of them.
func TestDepthHasRequestedLevels(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	far := d.place(d.order("buy", exchange.Limit, "0.1", "49000"))
	for limit, want := range map[int]int{0: 100, 1: 1, 999: 999, 1_000: 1_000, 1_001: 1_000, 5_000: 1_000} {
		if have := d.depth(limit); len(have.Bids) != want || len(have.Asks) != want {
			t.Errorf("limit %d: want %d levels, have %d and %d", limit, want, len(have.Bids), len(have.Asks))
		}
	}
	spot := d.on(exchange.Spot, "PEPE-USDT") // 0.00001 is a thousand ticks
	for limit, want := range map[int]int{0: 100, 5: 5, 10: 10, 20: 20, 50: 50, 100: 100, 101: 100} {
		if have := spot.depth(limit); len(have.Bids) != want || len(have.Asks) != want {
			t.Errorf("spot, limit %d: want %d levels, have %d and %d", limit, want, len(have.Bids), len(have.Asks))
		}
	}
	for _, limit := range []int{-1, 1, 6, 99} {
		_, err := d.Do("", &exchange.Request{Operation: exchange.SpotDepth, Symbol: "BTC-USDT", Limit: limit})
		d.wantCode(CodeParameter, err)
	}
	futures := d.on(exchange.Futures, "PEPE-USDT")
	if have := futures.depth(1_000).Bids; len(have) != 999 || have[998].Price != 1 {
		t.Errorf("want bids down to the smallest price, have %d down to %d", len(have), have[len(have)-1].Price)
	}
	d.SetMarket(d.key(), Still(StillConfig{}))
	d.setLast("49001")
	d.SetMarket(d.key(), Fed())
	if have := d.depth(10); len(have.Bids) != 0 || len(have.Asks) != 0 {
		t.Errorf("want no quotes of a fed market before its first depth, have %v", have)
	}
	d.wantStatus(far.ID, exchange.StatusOpen)
	if err := d.Feed(d.key(), FeedUpdate{Last: d.p("50000"), Depth: depthOf(49_990, 50_010, btc, 2*btc, 3*btc)}); err != nil {
		t.Fatal(err)
	}
	if have := d.depth(2); len(have.Bids) != 2 || len(have.Asks) != 2 || have.Bids[1] != (exchange.Level{Price: 49_980 * usd, Quantity: 2 * btc}) ||
		have.Asks[0] != (exchange.Level{Price: 50_010 * usd, Quantity: btc}) {
		t.Errorf("want the two best of the venue's levels, have %v", have)
	}
	if have := d.depth(50); len(have.Bids) != 3 || len(have.Asks) != 3 {
		t.Errorf("want its three levels, have %v", have)
	}
}

func TestATickerQuotesTheBestOfOrdersAndQuotes(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	d.SetMarket(d.key(), Still(StillConfig{SpreadTicks: 5}))
	want := func(bid, ask string) {
		t.Helper()
		k := d.do(exchange.Request{Operation: exchange.FuturesTicker, Symbol: d.name}).Tickers.Items()[0]
		if k.Bid != d.p(bid) || k.Ask != d.p(ask) {
			t.Errorf("want %s and %s, have %d and %d", bid, ask, k.Bid, k.Ask)
		}
	}
	want("49999.5", "50000.5")
	d.place(d.order("buy", exchange.Limit, "0.1", "49999"))
	d.as("bob").place(d.order("sell", exchange.Limit, "0.1", "50001"))
	want("49999.5", "50000.5")
	d.place(d.order("buy", exchange.Limit, "0.1", "49999.8"))
	d.as("bob").place(d.order("sell", exchange.Limit, "0.1", "50000.2"))
	want("49999.8", "50000.2")
}
