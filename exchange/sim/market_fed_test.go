package sim

import (
	"testing"

	"botd/exchange"
)

// fedExchange returns an exchange whose BTC-USDT futures market was fed a price of 50000.
func fedExchange(t *testing.T) (*Exchange, exchange.SymbolKey) {
	t.Helper()
	x, err := New(Config{Symbols: DefaultSymbols(), StartMS: 1_000_000})
	if err != nil {
		t.Fatal(err)
	}
	if err := x.AddAccount(DefaultAccount("a")); err != nil {
		t.Fatal(err)
	}
	key := exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}
	x.SetMarket(key, Fed())
	return x, key
}

const (
	usd = exchange.Price(100_000_000)
	btc = exchange.Quantity(1000)
)

func depthOf(bid, ask exchange.Price, quantities ...exchange.Quantity) *exchange.Depth {
	depth := &exchange.Depth{}
	for i, quantity := range quantities {
		step := exchange.Price(i) * 10 * usd
		depth.Bids = append(depth.Bids, exchange.Level{Price: bid*usd - step, Quantity: quantity})
		depth.Asks = append(depth.Asks, exchange.Level{Price: ask*usd + step, Quantity: quantity})
	}
	return depth
}

func feedTo(t *testing.T, x *Exchange, key exchange.SymbolKey, update FeedUpdate) {
	t.Helper()
	if err := x.Feed(key, update); err != nil {
		t.Fatal(err)
	}
}

func fedOrder(t *testing.T, x *Exchange, order exchange.NewOrder) int64 {
	t.Helper()
	order.Market, order.Symbol = exchange.Futures, "BTC-USDT"
	answer, err := x.Do("a", &exchange.Request{Operation: exchange.FuturesPlace, Order: order})
	if err != nil {
		t.Fatal(err)
	}
	return answer.Order.ID
}

func wantOrder(t *testing.T, x *Exchange, id int64, status exchange.OrderStatus, filled exchange.Quantity) {
	t.Helper()
	answer, err := x.Do("a", &exchange.Request{Operation: exchange.FuturesOrder, OrderID: id})
	if err != nil {
		t.Fatal(err)
	}
	if o := answer.Order; o.Status != status || o.Filled != filled {
		t.Errorf("order %d: want %s with %d filled, have %s with %d", id, status, filled, o.Status, o.Filled)
	}
}

func TestAFedMarketTakesNoOrderBeforeItsFirstUpdate(t *testing.T) {
	t.Parallel()
	x, _ := fedExchange(t)
	_, err := x.Do("a", &exchange.Request{Operation: exchange.FuturesPlace, Order: exchange.NewOrder{
		Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: btc}})
	if refusal, ok := err.(*exchange.Refusal); !ok || refusal.Code != CodeNoPrice {
		t.Errorf("a market order without a price: want code %d, have %v", CodeNoPrice, err)
	}
}

func TestAMarketOrderWalksTheDepthAndConsumesIt(t *testing.T) {
	t.Parallel()
	x, key := fedExchange(t)
	feedTo(t, x, key, FeedUpdate{AsOfMS: x.NowMS(), Last: 50_000 * usd, Depth: depthOf(49_999, 50_001, btc/100, btc/50, btc)})
	id := fedOrder(t, x, exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: btc / 20})
	wantOrder(t, x, id, exchange.StatusFilled, btc/20)
	have := x.Fills()
	want := []exchange.Level{{Price: 50_001 * usd, Quantity: btc / 100}, {Price: 50_011 * usd, Quantity: btc / 50}, {Price: 50_021 * usd, Quantity: btc / 50}}
	if len(have) != len(want) {
		t.Fatalf("want %d fills, have %v", len(want), have)
	}
	for i, fill := range have {
		if fill.Price != want[i].Price || fill.Quantity != want[i].Quantity || fill.Maker {
			t.Errorf("fill %d: want a taker of %v, have %+v", i, want[i], fill)
		}
	}
	// A taken level stays empty until the next depth.
	id = fedOrder(t, x, exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: btc * 3 / 2})
	wantOrder(t, x, id, exchange.StatusCanceled, btc-btc/50)
	feedTo(t, x, key, FeedUpdate{AsOfMS: x.NowMS(), Depth: depthOf(49_999, 50_001, btc)})
	id = fedOrder(t, x, exchange.NewOrder{Side: exchange.Sell, Type: exchange.MarketOrder, ReduceOnly: true, Quantity: btc / 2})
	wantOrder(t, x, id, exchange.StatusFilled, btc/2)
}

func TestALimitOrderFillsOnlyWhereTheVenueTradedThroughIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		trade  exchange.Trade // TimeMS is relative to the order's acceptance
		status exchange.OrderStatus
		filled exchange.Quantity
	}{
		{"above it", exchange.Trade{Price: 49_901 * usd, Quantity: btc, TimeMS: 10}, exchange.StatusOpen, 0},
		{"at it", exchange.Trade{Price: 49_900 * usd, Quantity: btc, TimeMS: 10}, exchange.StatusOpen, 0},
		{"through it", exchange.Trade{Price: 49_900*usd - 1, Quantity: btc, TimeMS: 10}, exchange.StatusFilled, btc / 10},
		{"through it with less", exchange.Trade{Price: 49_800 * usd, Quantity: btc / 50, TimeMS: 10}, exchange.StatusOpen, btc / 50},
		{"through it before it was there", exchange.Trade{Price: 49_800 * usd, Quantity: btc, TimeMS: -1}, exchange.StatusOpen, 0},
		{"through it in the moment it came", exchange.Trade{Price: 49_800 * usd, Quantity: btc, TimeMS: 0}, exchange.StatusOpen, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			x, key := fedExchange(t)
			feedTo(t, x, key, FeedUpdate{AsOfMS: x.NowMS(), Last: 50_000 * usd, Depth: depthOf(49_999, 50_001, btc)})
			x.Advance(x.NowMS() + 100)
			id := fedOrder(t, x, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Price: 49_900 * usd, Quantity: btc / 10})
			c.trade.TimeMS += x.NowMS()
			x.Advance(x.NowMS() + 1000)
			feedTo(t, x, key, FeedUpdate{AsOfMS: x.NowMS(), Last: 50_000 * usd, Trades: []exchange.Trade{c.trade}})
			wantOrder(t, x, id, c.status, c.filled)
			for _, fill := range x.Fills() {
				if fill.Price != 49_900*usd || !fill.Maker {
					t.Errorf("a resting order makes at its own price: have %+v", fill)
				}
			}
		})
	}
}

func TestADepthThatCrossesALimitOrderFillsItUpToItsQuantity(t *testing.T) {
	t.Parallel()
	x, key := fedExchange(t)
	feedTo(t, x, key, FeedUpdate{AsOfMS: x.NowMS(), Last: 50_000 * usd, Depth: depthOf(49_999, 50_001, btc)})
	id := fedOrder(t, x, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Price: 49_900 * usd, Quantity: btc / 10})
	crossed := depthOf(49_879, 49_889, btc/50, btc/50, btc)
	feedTo(t, x, key, FeedUpdate{AsOfMS: x.NowMS(), Depth: crossed})
	wantOrder(t, x, id, exchange.StatusOpen, 0) // requested before the order was accepted
	x.Advance(x.NowMS() + 1000)
	feedTo(t, x, key, FeedUpdate{AsOfMS: x.NowMS(), Depth: crossed})
	wantOrder(t, x, id, exchange.StatusOpen, btc/25) // 49889 and 49899, but not 49909
}

func TestAStopIsTriggeredOnlyByALaterTrade(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		after  int64 // of the trade, after the stop's acceptance
		status exchange.OrderStatus
	}{
		{"after", 10, exchange.StatusFilled},
		{"before", -10, exchange.StatusNew},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			x, key := fedExchange(t)
			feedTo(t, x, key, FeedUpdate{AsOfMS: x.NowMS(), Last: 50_000 * usd, Depth: depthOf(49_999, 50_001, btc)})
			fedOrder(t, x, exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: btc / 10})
			x.Advance(x.NowMS() + 100)
			placed := x.NowMS()
			id := fedOrder(t, x, exchange.NewOrder{Side: exchange.Sell, Type: exchange.StopMarket, StopPrice: 49_500 * usd,
				WorkingType: exchange.ContractPrice, ClosePosition: true})
			x.Advance(placed + 1000)
			// The price returned: the current order book remains.
			trade := exchange.Trade{Price: 49_400 * usd, Quantity: btc, TimeMS: placed + c.after}
			feedTo(t, x, key, FeedUpdate{AsOfMS: x.NowMS(), Last: 49_990 * usd, Depth: depthOf(49_989, 49_991, btc), Trades: []exchange.Trade{trade}})
			wantOrder(t, x, id, c.status, map[exchange.OrderStatus]exchange.Quantity{exchange.StatusFilled: btc / 10}[c.status])
			if fills := x.Fills(); c.status == exchange.StatusFilled && fills[len(fills)-1].Price != 49_989*usd {
				t.Errorf("want the stop's market order filled at the bid 49989, have %+v", fills[len(fills)-1])
			}
		})
	}
}

func TestWithdrawnQuotesDoNotFill(t *testing.T) {
	t.Parallel()
	x, key := fedExchange(t)
	feedTo(t, x, key, FeedUpdate{AsOfMS: x.NowMS(), Last: 50_000 * usd, Depth: depthOf(49_999, 50_001, btc)})
	feedTo(t, x, key, FeedUpdate{Depth: &exchange.Depth{}})
	id := fedOrder(t, x, exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: btc / 10})
	wantOrder(t, x, id, exchange.StatusCanceled, 0)
	id = fedOrder(t, x, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Price: 60_000 * usd, Quantity: btc / 100})
	wantOrder(t, x, id, exchange.StatusOpen, 0)
}

func TestRestoredFedMarketHasPriceButNoQuotes(t *testing.T) {
	t.Parallel()
	x, key := fedExchange(t)
	feedTo(t, x, key, FeedUpdate{AsOfMS: x.NowMS(), Last: 50_000 * usd, Depth: depthOf(49_999, 50_001, btc)})
	fedOrder(t, x, exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: btc / 10})
	state, err := x.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	y, err := Restore(Config{Symbols: DefaultSymbols()}, state)
	if err != nil {
		t.Fatal(err)
	}
	y.SetMarket(key, Fed())
	if last, _ := y.Price(key); last != 50_000*usd {
		t.Errorf("want the price of before, have %d", last)
	}
	id := fedOrder(t, y, exchange.NewOrder{Side: exchange.Sell, Type: exchange.MarketOrder, Quantity: btc / 10, ReduceOnly: true})
	wantOrder(t, y, id, exchange.StatusCanceled, 0)
	if p, held := y.Position("a", "BTC-USDT"); !held || p.Remaining != btc/10 {
		t.Errorf("want the position untouched, have %+v", p)
	}
}

func TestMissingSymbolMattersOnlyWithOpenState(t *testing.T) {
	t.Parallel()
	x, key := fedExchange(t)
	feedTo(t, x, key, FeedUpdate{AsOfMS: x.NowMS(), Last: 50_000 * usd, Depth: depthOf(49_999, 50_001, btc)})
	fedOrder(t, x, exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: btc / 10})
	without := func(name string) (left []*exchange.Symbol) {
		for _, s := range DefaultSymbols() {
			if s.Name != name {
				left = append(left, s)
			}
		}
		return left
	}
	state, err := x.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(Config{Symbols: without("ETH-USDT")}, state); err != nil {
		t.Errorf("without an unused symbol: %v", err)
	}
	if _, err := Restore(Config{Symbols: without("BTC-USDT")}, state); err == nil {
		t.Error("without a symbol that has a position: want an error")
	}
	fedOrder(t, x, exchange.NewOrder{Side: exchange.Sell, Type: exchange.MarketOrder, Quantity: btc / 10, ReduceOnly: true})
	if state, err = x.Snapshot(); err != nil {
		t.Fatal(err)
	}
	y, err := Restore(Config{Symbols: without("BTC-USDT")}, state)
	if err != nil {
		t.Fatalf("with everything closed on it: %v", err)
	}
	if want, have := x.Money("a").Wallet, y.Money("a").Wallet; want != have {
		t.Errorf("wallet: want %s, have %s", want, have)
	}
}

func TestATradeLiquidatesOnlyAPositionThatWasThere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		after int64 // of the trade, after the position's opening
		want  int
	}{{"after", 10, 1}, {"before", -10, 0}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			x, key := fedExchange(t)
			feedTo(t, x, key, FeedUpdate{AsOfMS: x.NowMS(), Last: 50_000 * usd, Depth: depthOf(49_999, 50_001, 2*btc)})
			fedOrder(t, x, exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: btc * 3 / 2})
			opened := x.NowMS()
			x.Advance(opened + 1000)
			trade := exchange.Trade{Price: 43_000 * usd, Quantity: btc, TimeMS: opened + c.after}
			feedTo(t, x, key, FeedUpdate{AsOfMS: x.NowMS(), Last: 49_990 * usd, Depth: depthOf(49_989, 49_991, btc), Trades: []exchange.Trade{trade}})
			if have := x.Money("a").Liquidations; have != c.want {
				t.Errorf("want %d liquidations, have %d", c.want, have)
			}
		})
	}
}

// The test mirrors that of a buying limit.
func TestASellingLimitFillsOnlyWhereTheVenueTradedThroughIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		trade  exchange.Trade // TimeMS is relative to the order's acceptance
		status exchange.OrderStatus
		filled exchange.Quantity
	}{
		{"below it", exchange.Trade{Price: 50_099 * usd, Quantity: btc, TimeMS: 10}, exchange.StatusOpen, 0},
		{"at it", exchange.Trade{Price: 50_100 * usd, Quantity: btc, TimeMS: 10}, exchange.StatusOpen, 0},
		{"through it", exchange.Trade{Price: 50_100*usd + 1, Quantity: btc, TimeMS: 10}, exchange.StatusFilled, btc / 10},
		{"through it with as much", exchange.Trade{Price: 50_200 * usd, Quantity: btc / 10, TimeMS: 10}, exchange.StatusFilled, btc / 10},
		{"through it with less", exchange.Trade{Price: 50_200 * usd, Quantity: btc / 50, TimeMS: 10}, exchange.StatusOpen, btc / 50},
		{"through it with nothing", exchange.Trade{Price: 50_200 * usd, TimeMS: 10}, exchange.StatusOpen, 0},
		{"through it before it was there", exchange.Trade{Price: 50_200 * usd, Quantity: btc, TimeMS: -1}, exchange.StatusOpen, 0},
	} {
		x, key := fedExchange(t)
		feedTo(t, x, key, FeedUpdate{AsOfMS: x.NowMS(), Last: 50_000 * usd, Depth: depthOf(49_999, 50_001, btc)})
		x.Advance(x.NowMS() + 100)
		id := fedOrder(t, x, exchange.NewOrder{Side: exchange.Sell, Type: exchange.Limit, Price: 50_100 * usd, Quantity: btc / 10})
		c.trade.TimeMS += x.NowMS()
		x.Advance(x.NowMS() + 1000)
		feedTo(t, x, key, FeedUpdate{AsOfMS: x.NowMS(), Last: 50_000 * usd, Trades: []exchange.Trade{c.trade}})
		t.Log(c.name)
		wantOrder(t, x, id, c.status, c.filled)
		for _, fill := range x.Fills() {
			if fill.Price != 50_100*usd || !fill.Maker || fill.Side != exchange.Sell {
				t.Errorf("a resting order makes at its own price: have %+v", fill)
			}
		}
	}
}

// A trade fills orders of both sides, up to its quantity.
func TestATradeFillsTheBestOrdersFirst(t *testing.T) {
	t.Parallel()
	x, key := fedExchange(t)
	feedTo(t, x, key, FeedUpdate{AsOfMS: x.NowMS(), Last: 50_000 * usd, Depth: depthOf(49_999, 50_001, btc)})
	var ids []int64
	for _, price := range []exchange.Price{49_800, 49_900, 49_850, 49_900} {
		ids = append(ids, fedOrder(t, x, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Price: price * usd, Quantity: btc / 10}))
	}
	x.Advance(x.NowMS() + 1000)
	feedTo(t, x, key, FeedUpdate{AsOfMS: x.NowMS(), Trades: []exchange.Trade{{Price: 49_700 * usd, Quantity: btc / 4, TimeMS: x.NowMS()}}})
	for i, want := range []exchange.Quantity{0, btc / 10, btc / 20, btc / 10} {
		status := exchange.StatusOpen
		if want == btc/10 {
			status = exchange.StatusFilled
		}
		wantOrder(t, x, ids[i], status, want)
	}
	if last, mark := x.Price(key); last != 49_700*usd || mark != last {
		t.Errorf("want the price of the trade, have %d and %d", last, mark)
	}
}

// The quantity that it took is removed from the depth.
func TestADepthThatCrossesASellingLimitFillsItUpToItsQuantity(t *testing.T) {
	t.Parallel()
	x, key := fedExchange(t)
	feedTo(t, x, key, FeedUpdate{AsOfMS: x.NowMS(), Last: 50_000 * usd, Depth: depthOf(49_999, 50_001, btc)})
	id := fedOrder(t, x, exchange.NewOrder{Side: exchange.Sell, Type: exchange.Limit, Price: 50_100 * usd, Quantity: btc / 10})
	x.Advance(x.NowMS() + 1000)
	feedTo(t, x, key, FeedUpdate{AsOfMS: x.NowMS(), Depth: depthOf(50_110, 50_130, btc/50, btc/50, btc)})
	wantOrder(t, x, id, exchange.StatusOpen, btc/25) // 50110 and 50100, but not 50090
	bids := (&desk{t, x, "a", exchange.Futures, "BTC-USDT"}).depth(5).Bids
	if len(bids) != 1 || bids[0] != (exchange.Level{Price: 50_090 * usd, Quantity: btc}) {
		t.Errorf("want the third level left, have %v", bids)
	}
}

// A level that cannot be traded is no quote.
func TestUpdateWithPriceOutOfBoundsIsRejected(t *testing.T) {
	t.Parallel()
	x, key := fedExchange(t)
	d := &desk{t, x, "a", exchange.Futures, "BTC-USDT"}
	feedTo(t, x, key, FeedUpdate{AsOfMS: x.NowMS(), Last: 50_000 * usd, Depth: depthOf(49_999, 50_001, btc)})
	before := d.depth(5)
	tick := x.Symbol(key).PriceTick
	for _, update := range []FeedUpdate{
		{Last: tick - 1, Depth: &exchange.Depth{}}, {Last: -1, Depth: &exchange.Depth{}}, {Last: 1<<60 + 1, Depth: &exchange.Depth{}},
		{Last: 50_001 * usd, Depth: &exchange.Depth{}, Trades: []exchange.Trade{{Price: 50_000 * usd}, {Price: 0}}},
		{Last: 50_001 * usd, Depth: &exchange.Depth{}, Trades: []exchange.Trade{{Price: 1<<60 + 1}}},
	} {
		if err := x.Feed(key, update); err == nil {
			t.Errorf("%+v: want it refused", update)
		}
		if last, _ := x.Price(key); last != 50_000*usd || len(d.depth(5).Bids) != len(before.Bids) || d.depth(5).ID != before.ID {
			t.Errorf("%+v: want nothing changed, have %d and %+v", update, last, d.depth(5))
		}
	}
	feedTo(t, x, key, FeedUpdate{Last: tick, Trades: []exchange.Trade{{Price: tick}}})
	level := func(price exchange.Price, quantity exchange.Quantity) exchange.Level {
		return exchange.Level{Price: price, Quantity: quantity}
	}
	lot := x.Symbol(key).QuantityTick
	feedTo(t, x, key, FeedUpdate{Depth: &exchange.Depth{Bids: []exchange.Level{level(0, btc), level(9*usd, 0), level(8*usd, lot)}, Asks: []exchange.Level{
		level(-usd, btc), level(10*usd, lot)}}})
	if have := d.depth(5); len(have.Bids) != 1 || have.Bids[0] != level(8*usd, lot) || len(have.Asks) != 1 || have.Asks[0].Price != 10*usd {
		t.Errorf("want one level a side, have %+v", have)
	}
}
