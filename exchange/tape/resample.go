package tape

import (
	"fmt"

	"botd/exchange"
)

// Resample builds coarse candles from fine ones: first open, last close, highest, lowest, sums.
// Prices are exact. At both ends of the series, a coarse candle with missing fine ones is omitted
// as incompletely recorded. In the middle it is built from the existing ones, and incomplete
// contains its open time.
func Resample(fine *exchange.Candles, interval exchange.Interval) (coarse *exchange.Candles, incomplete []int64, err error) {
	if err := fine.Interval.CheckBuilds(interval); err != nil {
		return nil, nil, err
	}
	coarse = &exchange.Candles{Interval: interval}
	perCandle := int(interval / fine.Interval)
	for i := 0; i < fine.Len(); {
		at := interval.OpenOf(fine.OpenMS[i])
		end := i
		for end < fine.Len() && fine.OpenMS[end] < at+int64(interval) {
			end++
		}
		if whole := end-i == perCandle; whole || i > 0 && end < fine.Len() {
			if !whole {
				incomplete = append(incomplete, at)
			}
			coarse.Append(joined(fine, i, end, at))
		}
		i = end
	}
	return coarse, incomplete, nil
}

// joined builds one candle from those with index i to end, end excluded.
func joined(c *exchange.Candles, i, end int, openMS int64) exchange.Candle {
	all := c.At(i)
	all.OpenMS = openMS
	for k := i + 1; k < end; k++ {
		all.Join(new(c.At(k)))
	}
	return all
}

// Difference is a coarse candle that differs from its fine ones.
type Difference struct {
	OpenMS int64
	What   string
}

// Compare returns the recorded coarse candles whose prices differ from those built from fine
// candles (both with the symbol's scale). It skips candles that only one side has.
func Compare(made, recorded *exchange.Candles, symbol *exchange.Symbol) []Difference {
	var all []Difference
	for i, k := 0, 0; i < made.Len() && k < recorded.Len(); {
		switch a, b := made.At(i), recorded.At(k); {
		case a.OpenMS < b.OpenMS:
			i++
		case a.OpenMS > b.OpenMS:
			k++
		default:
			for _, pair := range []struct {
				name     string
				sum, own exchange.Price
			}{{"open", a.Open, b.Open}, {"high", a.High, b.High}, {"low", a.Low, b.Low}, {"close", a.Close, b.Close}} {
				if pair.sum != pair.own {
					all = append(all, Difference{a.OpenMS, fmt.Sprintf("%s %s, the fine candles give %s", pair.name, symbol.PriceDecimal(pair.own),
						symbol.PriceDecimal(pair.sum))})
				}
			}
			i, k = i+1, k+1
		}
	}
	return all
}
