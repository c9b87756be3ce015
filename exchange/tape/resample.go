package tape

import (
	"fmt"

	"botd/exchange"
)

// Resample makes coarse candles of fine ones: the first open, the last close, the
// highest, the lowest, the sums. Prices are exact. A coarse candle of which a
// fine one is missing is left out at both ends of the series, where it was not
// recorded whole; in the middle it is made of what there is and is named in
// incomplete by its open time.
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

// joined makes one candle of those from i up to, but without, end.
func joined(c *exchange.Candles, i, end int, openMS int64) exchange.Candle {
	all := c.At(i)
	all.OpenMS = openMS
	for k := i + 1; k < end; k++ {
		next := c.At(k)
		all.Join(&next)
	}
	return all
}

// Difference is a coarse candle that is not what its fine ones make.
type Difference struct {
	OpenMS int64
	What   string
}

// Compare says where recorded coarse candles differ from what the fine ones make,
// in prices (both of the symbol's scale); candles that either does not have are
// passed over.
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
					all = append(all, Difference{a.OpenMS, fmt.Sprintf("%s %s, the fine candles say %s", pair.name, symbol.PriceDecimal(pair.own), symbol.PriceDecimal(pair.sum))})
				}
			}
			i, k = i+1, k+1
		}
	}
	return all
}
