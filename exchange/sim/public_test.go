package sim

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"botd/exchange"
)

func TestEveryOperationAnswers(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	d.place(d.order("buy", exchange.MarketOrder, "0.1", ""))
	resting := d.place(d.order("buy", exchange.Limit, "0.1", "49000"))
	spot := d.on(exchange.Spot, "BTC-USDT")
	spotOrder := spot.place(spot.order("buy", exchange.Limit, "0.1", "49000"))
	for _, op := range exchange.Operations() {
		request := exchange.Request{Operation: op, Symbol: "BTC-USDT", OrderID: resting.ID, Interval: exchange.Minute1, StartMS: startMS,
			EndMS: startMS + 60_000}
		switch op {
		case exchange.FuturesPlace:
			request.Order = d.order("buy", exchange.Limit, "0.1", "48000")
		case exchange.SpotPlace:
			request.Order = spot.order("buy", exchange.Limit, "0.01", "48000")
		case exchange.SpotCancel:
			request.OrderID = spotOrder.ID
		case exchange.FuturesSetLeverage:
			request.Leverage = 20
		}
		answer, err := d.Do("alice", &request)
		if err != nil {
			t.Errorf("%s: %v", op, err)
		}
		if answer.Operation != op {
			t.Errorf("want the answer of %s, have %s", op, answer.Operation)
		}
	}
}

func TestPublicAnswers(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	if have := d.do(exchange.Request{Operation: exchange.FuturesTime}).ServerTimeMS; have != startMS {
		t.Errorf("want server time %d, have %d", int64(startMS), have)
	}
	if have := len(d.do(exchange.Request{Operation: exchange.SpotPairs}).Symbols.Items()); have != 4 {
		t.Errorf("want 4 pairs, have %d", have)
	}
	levels := d.do(exchange.Request{Operation: exchange.FuturesSymbolMarginLevels, Symbol: "PEPE-USDT"}).Levels.Items()
	if len(levels) != 4 || levels[3].MaxLeverage != 5 || levels[1].MarginAmount != exchange.AmountOf(3750) {
		t.Errorf("want the four brackets, have %+v", levels)
	}
	if have := len(d.do(exchange.Request{Operation: exchange.FuturesMarginLevels}).Levels.Items()); have != 16 {
		t.Errorf("want 16 brackets of all symbols, have %d", have)
	}
	for range 3 {
		d.place(d.order("buy", exchange.MarketOrder, "0.01", ""))
	}
	trades := d.do(exchange.Request{Operation: exchange.FuturesTrades, Symbol: "BTC-USDT", Limit: 2}).Trades.Items()
	if len(trades) != 2 || trades[1].ID != 3 || trades[0].BuyerIsMaker {
		t.Errorf("want the two newest trades, taken by buyers, have %+v", trades)
	}
	_, err := d.Do("", &exchange.Request{Operation: exchange.FuturesTrades, Symbol: "BTC-USDT", Limit: -1})
	d.wantCode(CodeParameter, err)
	_, err = d.Do("", &exchange.Request{Operation: exchange.FuturesTicker, Symbol: "btc-usdt"})
	d.wantCode(exchange.CodeFuturesInvalidSymbol, err)
}

// The filters are symbol, side and the second of closing, both ends included; the newest comes first.
func TestPositionsHistoryIsFiltered(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	eth := d.on(exchange.Futures, "ETH-USDT")
	for i, each := range []struct {
		*desk
		in, out string
	}{{d, "buy", "sell"}, {eth, "sell", "buy"}, {d, "sell", "buy"}, {eth, "buy", "sell"}} { // closed after 10.4, 20.4, 30.4 and 40.4 s
		each.place(each.order(each.in, exchange.MarketOrder, "0.01", ""))
		each.Advance(startMS + int64(i+1)*10_000 + 400)
		each.place(each.order(each.out, exchange.MarketOrder, "0.01", "", reduceOnly))
	}
	second := func(n int64) int64 { return startMS + n*1_000 }
	for _, c := range []struct {
		request exchange.Request
		want    string
	}{
		{exchange.Request{}, "[4 3 2 1]"}, {exchange.Request{Limit: 2}, "[4 3]"}, {exchange.Request{Limit: 2, Offset: 1}, "[3 2]"},
		{exchange.Request{Offset: 4}, "[]"}, {exchange.Request{Symbol: "ETH-USDT"}, "[4 2]"}, {exchange.Request{PositionSide: exchange.Short}, "[3 2]"},
		{exchange.Request{PositionSide: exchange.Long, Symbol: "BTC-USDT"}, "[1]"},
		{exchange.Request{StartMS: second(20)}, "[4 3 2]"}, {exchange.Request{StartMS: second(21)}, "[4 3]"}, {exchange.Request{EndMS: second(20)}, "[2 1]"},
		{exchange.Request{EndMS: second(19)}, "[1]"}, {exchange.Request{StartMS: second(20), EndMS: second(30)}, "[3 2]"},
		{exchange.Request{StartMS: second(30), EndMS: second(20)}, "[]"}, {exchange.Request{Symbol: "BTC-USDT", Offset: 1}, "[1]"},
	} {
		c.request.Operation = exchange.FuturesPositionsHistory
		ids := []int64{}
		for _, p := range d.do(c.request).Positions.Items() {
			ids = append(ids, p.ID)
		}
		if have := fmt.Sprint(ids); have != c.want {
			t.Errorf("%+v: want %s, have %s", c.request, c.want, have)
		}
	}
	for _, request := range []exchange.Request{{Symbol: "NO-USDT"}, {Limit: -1}, {Offset: -1}} {
		request.Operation = exchange.FuturesPositionsHistory
		if _, err := d.Do("alice", &request); err == nil {
			t.Errorf("%+v: want it refused", request)
		}
	}
	for _, request := range []exchange.Request{{StartMS: -1, EndMS: 5}, {EndMS: -1, StartMS: 5}, {Limit: -1, EndMS: 5}, {Offset: -1, EndMS: 5}, {StartMS: 5}} {
		request.Operation, request.Symbol, request.Interval = exchange.SpotCandles, "BTC-USDT", exchange.Minute1
		_, err := d.Do("", &request)
		d.wantCode(CodeParameter, err)
	}
}

func TestReadOnlyKeyIsRefusedWrites(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	config := DefaultAccount("reader")
	config.ReadOnly = true
	if err := d.AddAccount(config); err != nil {
		t.Fatal(err)
	}
	for _, op := range exchange.Operations() {
		_, err := d.Do("reader", &exchange.Request{Operation: op, Symbol: "BTC-USDT", Interval: exchange.Minute1, EndMS: startMS})
		var refusal *exchange.Refusal
		refused := errors.As(err, &refusal) && refusal.Status == 403 && refusal.Code == exchange.CodeNotPermitted
		if refused != op.Changes() {
			t.Errorf("%s: want refused %v, have %v", op, op.Changes(), err)
		}
	}
	_, err := d.Do("nobody", &exchange.Request{Operation: exchange.FuturesAccount})
	var refusal *exchange.Refusal
	if !errors.As(err, &refusal) || refusal.Status != 401 || refusal.Code != exchange.CodeUnknownKey {
		t.Errorf("want 401 for an unknown key, have %v", err)
	}
}

// TestHostileRequestsAreRefusedNotPanicked sends everything that fits the types.
func TestHostileRequestsAreRefusedNotPanicked(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		d := newDesk(t, Config{})
		number := rapid.OneOf(rapid.Int64(), rapid.SampledFrom([]int64{0, 1, -1, math.MaxInt64, math.MinInt64, 1 << 60, 1e7, 5_000_000_000_000}))
		for range 10 {
			amount := exchange.AmountOf(number.Draw(r, "amount")).Div(rapid.Int64Range(1, 1e9).Draw(r, "divisor"))
			request := exchange.Request{
				Operation: exchange.Operation(rapid.IntRange(0, 40).Draw(r, "operation")),
				Symbol:    rapid.SampledFrom([]string{"", "BTC-USDT", "PEPE-USDT", "x"}).Draw(r, "symbol"),
				Interval:  exchange.Interval(number.Draw(r, "interval")), StartMS: number.Draw(r, "start"), EndMS: number.Draw(r, "end"),
				Limit: int(number.Draw(r, "limit")), Offset: int(number.Draw(r, "offset")), OrderID: number.Draw(r, "id"),
				Leverage: int(number.Draw(r, "leverage")),
				Side:     exchange.Side(rapid.IntRange(0, 4).Draw(r, "side")), PositionSide: exchange.PositionSide(rapid.IntRange(0, 4).Draw(r, "position")),
				Order: exchange.NewOrder{
					Symbol: "PEPE-USDT", Side: exchange.Side(rapid.IntRange(0, 3).Draw(r, "order side")),
					Type:     exchange.OrderType(rapid.IntRange(0, 8).Draw(r, "type")),
					Quantity: exchange.Quantity(number.Draw(r, "quantity")), Price: exchange.Price(number.Draw(r, "price")),
					StopPrice:   exchange.Price(number.Draw(r, "stop")),
					QuoteAmount: amount, WorkingType: exchange.WorkingType(rapid.IntRange(0, 4).Draw(r, "working")),
					ReduceOnly: rapid.Bool().Draw(r, "reduce"), ClosePosition: rapid.Bool().Draw(r, "close"), PostOnly: rapid.Bool().Draw(r, "post"),
				},
			}
			if rapid.Bool().Draw(r, "interval known") {
				request.Interval = exchange.Minute1
			}
			_, err := d.Do("alice", &request)
			var refusal *exchange.Refusal
			if err != nil && !errors.As(err, &refusal) {
				r.Fatalf("want a refusal, have %v", err)
			}
			key := exchange.SymbolKey{Market: exchange.Futures, Name: "PEPE-USDT"}
			_ = d.SetPrice(key, exchange.Price(number.Draw(r, "last")), exchange.Price(number.Draw(r, "mark")))
		}
	})
}

func TestEveryRefusalCodeIsInTheTableOnce(t *testing.T) {
	t.Parallel()
	codes, names := map[int]bool{}, map[string]bool{}
	for _, rule := range Rules() {
		if codes[rule.Code] || names[rule.Name] || rule.Sentence == "" {
			t.Errorf("rule %+v is doubled or has no sentence", rule)
		}
		codes[rule.Code], names[rule.Name] = true, true
	}
	for code := CodeParameter; code <= CodeClientOrderID; code++ {
		if !codes[code] {
			t.Errorf("code %d is not in the table", code)
		}
	}
}

func TestOldFinishedOrdersAreForgottenAndOpenOnesStay(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{MaxHistory: 20}).on(exchange.Spot, "BTC-USDT")
	resting := d.place(d.order("buy", exchange.Limit, "0.001", "40000"))
	for range 200 {
		d.place(d.order("buy", exchange.MarketOrder, "5", ""))
		d.place(d.order("sell", exchange.MarketOrder, "5", ""))
	}
	d.wantStatus(resting.ID, exchange.StatusNew)
	if n := len(d.AllOrders()); n < 20 || n > 60 {
		t.Fatalf("want about 20 orders kept, have %d", n)
	}
	if history := d.do(exchange.Request{Operation: exchange.SpotOrderHistory, Limit: 1000}).Orders.Items(); len(history) != len(d.AllOrders()) {
		t.Errorf("want the history of the stored orders alone, have %d", len(history))
	}
	fills := d.Fills()
	if len(fills) != 20 || fills[0].ID != 381 || fills[19].ID != 400 {
		t.Fatalf("want the last 20 fills in order, have %d from %d", len(fills), fills[0].ID)
	}
	if taken := d.TakeFills(nil); len(taken) != 20 || len(d.Fills()) != 0 {
		t.Fatalf("want the fills taken and gone, have %d and %d", len(taken), len(d.Fills()))
	}
	d.do(exchange.Request{Operation: exchange.SpotCancel, Symbol: "BTC-USDT", OrderID: resting.ID})
	d.wantStatus(resting.ID, exchange.StatusCanceled)
}

func TestARestoredRandomMarketContinues(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{OrderDelayMS: 5, OrderDelaySpreadMS: 20})
	d.SetMarket(d.key(), Random(3))
	d.place(d.order("buy", exchange.MarketOrder, "0.1", ""))
	d.Advance(startMS + 60_000)
	last, _ := d.Price(d.key())
	data, err := d.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	x, err := Restore(d.config, data)
	if err != nil {
		t.Fatal(err)
	}
	x.SetMarket(d.key(), Random(3))
	if have, _ := x.Price(d.key()); have != last {
		t.Fatalf("want the price to stay %d, have %d", last, have)
	}
	for _, each := range []*Exchange{x, d.Exchange} {
		each.Advance(startMS + 120_000)
	}
	want, _ := d.Price(d.key())
	if have, _ := x.Price(d.key()); have != want {
		t.Fatalf("want the same walk after a restart, %d, have %d", want, have)
	}
	if x.Money("alice").Wallet != d.Money("alice").Wallet {
		t.Fatal("want the same wallet after a restart")
	}
	candles := (&desk{t, x, "alice", d.market, d.name}).do(exchange.Request{Operation: exchange.FuturesCandles, Symbol: d.name,
		Interval: exchange.Hour1}).Candles
	if candles.Len() < 48 {
		t.Fatalf("want days of history, have %d hours", candles.Len())
	}
}

func TestOpposingRestingOrdersDoNotFlipAPosition(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	buy := d.place(d.order("buy", exchange.Limit, "0.1", "49000"))
	sell := d.place(d.order("sell", exchange.Limit, "0.1", "51000"))
	d.setLast("48000")
	d.wantStatus(buy.ID, exchange.StatusFilled)
	d.setLast("52000") // the opening sell meets a long: it must not execute
	d.wantStatus(sell.ID, exchange.StatusCanceled)
	if p := d.position(); p.Side != exchange.Long || p.Remaining != d.q("0.1") {
		t.Fatalf("want LONG 0.1 untouched, have %+v", p)
	}
	d.checkMoney()
}
