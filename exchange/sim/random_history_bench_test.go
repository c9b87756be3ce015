package sim

import (
	"testing"

	"botd/exchange"
)

// BenchmarkADayOfThePast computes the trades of one symbol's day before the start.
func BenchmarkADayOfThePast(b *testing.B) {
	x, err := New(Config{Symbols: DefaultSymbols(), StartMS: startMS})
	if err != nil {
		b.Fatal(err)
	}
	key := exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}
	x.SetMarket(key, Random(1))
	orderBook := x.find(key)
	for b.Loop() {
		orderBook.past.hours, orderBook.past.dayMS = nil, 0
		if (marketData{orderBook}).ticker().Count < 40_000 {
			b.Fatal("want a day of trades")
		}
	}
}
