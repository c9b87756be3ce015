package exchange_test

import (
	"testing"

	"botd/exchange"
)

// A file of another program often has no turnover and no trades.
func TestACandleIsAddedToTheColumnsThatThereAre(t *testing.T) {
	t.Parallel()
	c := exchange.Candles{Interval: exchange.Hour1, OpenMS: []int64{0}, Open: []exchange.Price{5}, High: []exchange.Price{7}, Low: []exchange.Price{4},
		Close: []exchange.Price{6}, Volume: []float64{1}}
	c.Append(exchange.Candle{OpenMS: 3_600_000, Open: 6, High: 9, Low: 6, Close: 8, Volume: 2, QuoteVolume: 16, Trades: 3, TakerBase: 1, TakerQuote: 8})
	c.Merge(exchange.Candle{OpenMS: 3_660_000, Open: 8, High: 8, Low: 3, Close: 5, Volume: 4, QuoteVolume: 20, Trades: 5, TakerBase: 1, TakerQuote: 5})
	want := exchange.Candle{OpenMS: 3_600_000, Open: 6, High: 9, Low: 3, Close: 5, Volume: 6}
	if have := c.At(1); have != want || c.At(0).Close != 6 || c.Len() != 2 {
		t.Errorf("want %+v, have %+v", want, have)
	}
	whole := exchange.Candles{Interval: exchange.Hour1}
	for range 2 {
		whole.Append(exchange.Candle{QuoteVolume: 16, Trades: 3, TakerBase: 1, TakerQuote: 8})
	}
	if have := whole.At(1); have.QuoteVolume != 16 || have.Trades != 3 || have.TakerBase != 1 || have.TakerQuote != 8 {
		t.Errorf("want every column of candles that have all, have %+v", have)
	}
}
