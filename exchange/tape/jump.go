package tape

import "fmt"

// Jumps describes candles that open far from the previous close without a gap in between. Often the
// symbol was renamed or redenominated, or two sources were joined.
func Jumps(t *Tape) []string {
	const (
		far     = 0.2 // of the price
		maximum = 20  // described
	)
	var named []string
	c, count := t.Candles, 0
	for i := 1; i < c.Len(); i++ {
		before, open := float64(c.Close[i-1]), float64(c.Open[i])
		if c.OpenMS[i] != c.CloseMS(i-1) || open < before*(1+far) && open > before*(1-far) {
			continue
		}
		if count++; count <= maximum {
			named = append(named, fmt.Sprintf("the candle of %d opens at %s, the previous one closed at %s", c.OpenMS[i],
				t.Symbol.PriceDecimal(c.Open[i]), t.Symbol.PriceDecimal(c.Close[i-1])))
		}
	}
	if count > maximum {
		named = append(named, fmt.Sprintf("and %d more jumps", count-maximum))
	}
	return named
}
