package exchange

import "math"

// Trades are recorded trades of one symbol as columns, in order of time. Prices and quantities are in
// the symbol's units.
type Trades struct {
	TimeMS   []int64
	Price    []Price
	Quantity []Quantity
	Sold     []bool // the seller took: it met a resting buy
}

// Len returns the number of trades.
func (t *Trades) Len() int { return len(t.TimeMS) }

// Candles returns the candles of an interval built from the trades, without candles for untraded
// intervals.
func (t *Trades) Candles(symbol *Symbol, interval Interval) *Candles {
	candles := &Candles{Interval: interval}
	for i, price := range t.Price {
		quantity := symbol.QuantityFloat(t.Quantity[i])
		one := Candle{OpenMS: interval.OpenOf(t.TimeMS[i]), Open: price, High: price, Low: price, Close: price, Volume: quantity,
			QuoteVolume: float64(quantity * symbol.PriceFloat(price)), Trades: 1}
		if !t.Sold[i] {
			one.TakerBase, one.TakerQuote = one.Volume, one.QuoteVolume
		}
		candles.Merge(one)
	}
	for _, column := range [][]float64{candles.Volume, candles.QuoteVolume, candles.TakerBase, candles.TakerQuote} {
		for i, sum := range column {
			column[i] = math.Round(sum*1e8) / 1e8 // adding left rounding errors
		}
	}
	return candles
}
