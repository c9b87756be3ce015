package strategy

import (
	"sort"

	"botd/exchange"
)

// MaxOthers is how many other symbols a strategy reads the candles of, at most.
const MaxOthers = 20

// Other is another symbol of which a strategy reads the candles, in the strategy's own interval.
type Other struct {
	Symbol  *exchange.Symbol
	Candles *exchange.Candles // as far as they are known; nil for none
}

// OtherReader is a strategy that reads candles of other symbols: View.Other shows them.
type OtherReader interface {
	// ReadsOthers returns the symbols, each once and none of them its own.
	ReadsOthers() []exchange.SymbolKey
}

// OthersOf returns the other symbols of which a strategy, or the one it wraps, reads the candles.
func OthersOf(s Strategy) []exchange.SymbolKey {
	if reader, is := as[OtherReader](s); is {
		return reader.ReadsOthers()
	}
	return nil
}

// Other returns the candle of the n-th other symbol that opened when the newest candle of the
// strategy did, and so closes with it. A symbol has none where nothing was recorded of it.
func (v *View) Other(n int) (candle exchange.Candle, known bool) {
	if n >= len(v.Others) || v.Others[n].Candles == nil {
		return candle, false
	}
	candles := v.Others[n].Candles
	i := sort.Search(candles.Len(), func(i int) bool { return candles.OpenMS[i] >= v.Candle.OpenMS })
	if i == candles.Len() || candles.OpenMS[i] != v.Candle.OpenMS {
		return candle, false
	}
	return candles.At(i), true
}
