// Package tryout tries a strategy on any file of candles: it infers missing facts and summarizes the result
// in one sentence.
package tryout

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/exchange/tape"
)

// quotes lists the quote assets of symbols in file names, the longer ones first. Dollars map to USDT.
var quotes = []string{"USDT", "USDC", "BUSD", "USD", "EUR"}

var words = regexp.MustCompile(`[A-Z0-9]+`)

// notSymbols are words of file names that look like the base of a symbol.
var notSymbols = []string{"BINANCE", "BYBIT", "OKX", "KRAKEN", "COINBASE", "BITSTAMP", "GEMINI", "CANDLES", "DATA", "OHLC", "OHLCV", "KLINES", "CSV", "JSON"}

// symbolOf guesses the symbol from a file's name: Binance_DOGEUSDT_1h.csv, doge-usd.csv and DOGE_USDT-1h.json give
// DOGE-USDT. It is empty if the name contains no symbol.
func symbolOf(path string) string {
	parts := words.FindAllString(strings.ToUpper(filepath.Base(path)), -1)
	for i, part := range parts {
		for _, quote := range quotes {
			base, found := strings.CutSuffix(part, quote)
			if !found {
				continue
			}
			if base == "" && i > 0 {
				base = parts[i-1]
			}
			if base != "" && !slices.Contains(notSymbols, base) {
				return traded(base) + "-" + traded(quote)
			}
		}
	}
	return ""
}

// traded returns the common ticker of an asset: Kraken writes XBT.
func traded(asset string) string {
	switch asset {
	case "USD":
		return "USDT"
	case "XBT":
		return "BTC"
	}
	return asset
}

// ticks are the steps of a symbol's prices and quantities.
type ticks struct{ Price, Quantity decimal.Decimal }

// ticksOf guesses ticks. The price tick is the last decimal place of any price in the file. The quantity tick is the
// largest power of ten worth at most 0.1 of the quote asset, since venues choose steps far below their minimum order
// of 5 or 10.
func ticksOf(t *tape.Tape) ticks {
	places := 0
	for _, prices := range [][]exchange.Price{t.Candles.Open, t.Candles.High, t.Candles.Low, t.Candles.Close} {
		for _, p := range prices {
			for places < t.Symbol.PriceScale && int64(p)%power(t.Symbol.PriceScale-places) != 0 {
				places++
			}
		}
	}
	step, last := decimal.New(1, 3), t.Symbol.PriceDecimal(t.Candles.Close[t.Candles.Len()-1])
	for smallest := decimal.New(1, -8); step.Mul(last).GreaterThan(decimal.New(1, -1)) && step.GreaterThan(smallest); {
		step = step.Shift(-1)
	}
	return ticks{Price: decimal.New(1, -int32(places)), Quantity: step} //nolint:gosec // at most 18
}

func power(n int) int64 {
	p := int64(1)
	for range n {
		p *= 10
	}
	return p
}

// record returns the symbol record that botd backtest run --symbols reads.
func (t ticks) record(symbol string) string {
	return fmt.Sprintf("# guessed from the candles; what your venue publishes is better\n"+
		"- {symbol: %s, priceTick: %s, quantityTick: %s, minNotional: 5, maxNotional: 1000000}\n", symbol, t.Price, t.Quantity)
}
