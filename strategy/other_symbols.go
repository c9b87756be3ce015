package strategy

import (
	"sort"

	"botd/exchange"
)

// MaxOthers is the maximum number of other symbols whose candles a strategy reads.
const MaxOthers = 20

// Other is another symbol whose candles a strategy reads, in the strategy's own interval.
type Other struct {
	Symbol  *exchange.Symbol
	Candles *exchange.Candles // the known candles; nil for none
}

// OtherReader is a strategy that reads candles of other symbols: View.Other shows them.
type OtherReader interface {
	// ReadsOthers returns the symbols, without duplicates and without the strategy's own.
	ReadsOthers() []exchange.SymbolKey
}

// OthersOf returns the other symbols whose candles a strategy, or the one it wraps, reads.
func OthersOf(s Strategy) []exchange.SymbolKey {
	if reader, is := as[OtherReader](s); is {
		return reader.ReadsOthers()
	}
	return nil
}

// Other returns the candle of the n-th other symbol that opened, and so closes, with the strategy's
// newest candle. It is unknown if the symbol has no such candle on record.
func (v *View) Other(n int) (candle exchange.Candle, known bool) {
	if n >= len(v.Others) || v.Others[n].Candles == nil {
		return candle, false
	}
	candles, openMS := v.Others[n].Candles, v.Candle().OpenMS
	i := sort.Search(candles.Len(), func(i int) bool { return candles.OpenMS[i] >= openMS })
	if i == candles.Len() || candles.OpenMS[i] != openMS {
		return candle, false
	}
	return candles.At(i), true
}
