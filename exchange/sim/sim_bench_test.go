package sim

import (
	"syscall"
	"testing"
	"time"

	"botd/exchange"
)

func benchExchange(b *testing.B) (*Exchange, *exchange.Symbol) {
	b.Helper()
	x, err := New(Config{Symbols: DefaultSymbols(), StartMS: startMS})
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range []string{"alice", "bob", "carol", "dave"} {
		config := DefaultAccount(name)
		config.FuturesUSDT = exchange.AmountOf(1_000_000_000)
		if err := x.AddAccount(config); err != nil {
			b.Fatal(err)
		}
	}
	return x, x.Symbol(exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"})
}

// report reports operations per second, and per second of processor time, which other programs on the machine
// hardly change.
func report(b *testing.B, operations int, began time.Duration) {
	b.ReportMetric(float64(operations)/b.Elapsed().Seconds(), "operations/s")
	b.ReportMetric(float64(operations)/(processorTime(b)-began).Seconds(), "operations/cpu-s")
}

// processorTime is the time that this process has used of all processors, including garbage collection.
func processorTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// BenchmarkPlaceAndCancelOnAThousandLevels places a resting order into an order book of
// 1,000 levels and cancels it.
func BenchmarkPlaceAndCancelOnAThousandLevels(b *testing.B) {
	x, s := benchExchange(b)
	request := exchange.Request{Operation: exchange.FuturesPlace, Order: exchange.NewOrder{
		Market: exchange.Futures, Symbol: s.Name, Side: exchange.Buy, Type: exchange.Limit, Quantity: s.QuantityTick,
	}}
	for i := range 1000 {
		request.Order.Price = 40_000e8 + exchange.Price(i)*s.PriceTick
		if _, err := x.Do("bob", &request); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	i, began := 0, processorTime(b)
	for b.Loop() {
		request.Order.Price = 40_000e8 + exchange.Price(i*7919%1000)*s.PriceTick
		answer, err := x.Do("alice", &request)
		if err != nil {
			b.Fatal(err)
		}
		cancel := exchange.Request{Operation: exchange.FuturesCancel, OrderID: answer.Order.ID}
		if _, err := x.Do("alice", &cancel); err != nil {
			b.Fatal(err)
		}
		i++
	}
	report(b, 2*b.N, began)
}

// BenchmarkMatch has one account take another one's order.
func BenchmarkMatch(b *testing.B) {
	x, s := benchExchange(b)
	sides := [2]exchange.Side{exchange.Buy, exchange.Sell}
	maker := exchange.Request{Operation: exchange.FuturesPlace, Order: exchange.NewOrder{
		Market: exchange.Futures, Symbol: s.Name, Type: exchange.Limit, Quantity: s.QuantityTick, Price: 50_000e8,
	}}
	taker := exchange.Request{Operation: exchange.FuturesPlace, Order: exchange.NewOrder{
		Market: exchange.Futures, Symbol: s.Name, Type: exchange.MarketOrder, Quantity: s.QuantityTick,
	}}
	b.ReportAllocs()
	i, began := 0, processorTime(b)
	for b.Loop() {
		maker.Order.Side, taker.Order.Side = sides[i&1], sides[1-i&1]
		maker.Order.ReduceOnly, taker.Order.ReduceOnly = i&1 == 1, i&1 == 1
		if _, err := x.Do("bob", &maker); err != nil {
			b.Fatal(err)
		}
		if _, err := x.Do("alice", &taker); err != nil {
			b.Fatal(err)
		}
		i++
	}
	report(b, 2*b.N, began)
}

// BenchmarkPlaceMatchCancelOnAThousandLevels runs the complete life of orders in an order book of 1,000 levels a
// side: one is placed and canceled behind the best price, one is placed at the front and taken. A round has
// four operations.
func BenchmarkPlaceMatchCancelOnAThousandLevels(b *testing.B) {
	x, s := benchExchange(b)
	do := func(account string, request *exchange.Request) exchange.Answer {
		answer, err := x.Do(account, request)
		if err != nil {
			b.Fatal(err)
		}
		return answer
	}
	order := func(side exchange.Side, kind exchange.OrderType, price exchange.Price) *exchange.Request {
		return &exchange.Request{Operation: exchange.FuturesPlace, Order: exchange.NewOrder{
			Market: exchange.Futures, Symbol: s.Name, Side: side, Type: kind, Quantity: s.QuantityTick, Price: price}}
	}
	x.SetMarket(s.Key(), Still(StillConfig{SpreadTicks: 10}))
	for i := range exchange.Price(1000) {
		do("carol", order(exchange.Buy, exchange.Limit, 49_990e8-i*s.PriceTick))
		do("carol", order(exchange.Sell, exchange.Limit, 50_010e8+i*s.PriceTick))
	}
	sides := [2]exchange.Side{exchange.Buy, exchange.Sell}
	behind, maker, taker := order(exchange.Buy, exchange.Limit, 0), order(exchange.Buy, exchange.Limit, 50_000e8), order(exchange.Buy, exchange.MarketOrder, 0)
	cancel := exchange.Request{Operation: exchange.FuturesCancel}
	b.ReportAllocs()
	i, began := 0, processorTime(b)
	for b.Loop() {
		behind.Order.Price = 49_990e8 - exchange.Price(i*7919%1000)*s.PriceTick
		answer := do("dave", behind)
		cancel.OrderID = answer.Order.ID
		do("dave", &cancel)
		maker.Order.Side, taker.Order.Side = sides[i&1], sides[1-i&1]
		maker.Order.ReduceOnly, taker.Order.ReduceOnly = i&1 == 1, i&1 == 1
		do("bob", maker)
		do("alice", taker)
		i++
	}
	report(b, 4*b.N, began)
}

func BenchmarkQuietAndSkip(b *testing.B) {
	x, s := benchExchange(b)
	key := s.Key()
	x.SetMarket(key, Still(StillConfig{}))
	request := exchange.Request{Operation: exchange.FuturesPlace, Order: exchange.NewOrder{
		Market: exchange.Futures, Symbol: s.Name, Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: s.QuantityTick,
	}}
	if _, err := x.Do("alice", &request); err != nil {
		b.Fatal(err)
	}
	now := x.NowMS()
	b.ReportAllocs()
	for b.Loop() {
		if x.Quiet(key, 49_000e8, 51_000e8, now) {
			x.SkipTo(now, key, 50_500e8)
		}
	}
}

func BenchmarkMoney(b *testing.B) {
	x, s := benchExchange(b)
	request := exchange.Request{Operation: exchange.FuturesPlace, Order: exchange.NewOrder{
		Market: exchange.Futures, Symbol: s.Name, Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: s.QuantityTick,
	}}
	if _, err := x.Do("alice", &request); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		_ = x.Money("alice")
	}
}

// BenchmarkTapeWithOrders plays candles that are never quiet.
func BenchmarkTapeWithOrders(b *testing.B) {
	x, s := benchExchange(b)
	candles := &exchange.Candles{Interval: exchange.Minute1}
	for i := range 10_000_000 {
		candles.Append(exchange.Candle{OpenMS: startMS + int64(i)*60_000, Open: 50_000e8, High: 50_100e8, Low: 49_900e8, Close: 50_000e8})
	}
	x.SetMarket(s.Key(), Tape(candles, TapeConfig{}))
	b.ReportAllocs()
	for now := int64(startMS); b.Loop(); {
		now += 60_000
		x.Advance(now)
		if now == startMS+10_000_000*60_000 {
			b.Fatal("the tape ended: give -benchtime less")
		}
	}
}

// BenchmarkSnapshot takes snapshots with 10,000 finished orders, one more each time.
func BenchmarkSnapshot(b *testing.B) {
	x, s := benchExchange(b)
	request := exchange.Request{Operation: exchange.FuturesPlace, Order: exchange.NewOrder{
		Market: exchange.Futures, Symbol: s.Name, Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: s.QuantityTick,
	}}
	for range 10_000 {
		if _, err := x.Do("alice", &request); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if _, err := x.Do("alice", &request); err != nil {
			b.Fatal(err)
		}
		if _, err := x.Snapshot(); err != nil {
			b.Fatal(err)
		}
	}
}

func TestQuietCandlesDoNotAllocate(t *testing.T) {
	d := newDesk(t, Config{})
	d.SetMarket(d.key(), Still(StillConfig{}))
	d.place(d.order("buy", exchange.MarketOrder, "0.1", ""))
	key, low, high := d.key(), d.p("49000"), d.p("51000")
	d.Quiet(key, low, high, startMS)
	if allocations := testing.AllocsPerRun(100, func() {
		if !d.Quiet(key, low, high, startMS) {
			t.Fatal("want a quiet candle")
		}
		d.SkipTo(startMS, key, low+1)
		d.Money("alice")
	}); allocations != 0 {
		t.Fatalf("want no allocation, have %v", allocations)
	}
}
