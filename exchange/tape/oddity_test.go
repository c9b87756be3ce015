package tape_test

import (
	"strings"
	"testing"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/tape"
)

// plain is a tape of candles that move one tick a minute.
func plain(t *testing.T, count int) *tape.Tape {
	t.Helper()
	symbol, found := exchange.FindSymbol(sim.DefaultSymbols(), exchange.Futures, "BTC-USDT")
	if !found {
		t.Fatal("no symbol")
	}
	candles := &exchange.Candles{Interval: exchange.Minute1}
	for i := range count {
		price := (500_000 + exchange.Price(i%7)) * symbol.PriceTick
		candles.Append(exchange.Candle{OpenMS: int64(i) * 60_000, Open: price, High: price + 5*symbol.PriceTick, Low: price - 5*symbol.PriceTick,
			Close: price + symbol.PriceTick, Volume: 1 + float64(i)})
	}
	return &tape.Tape{Symbol: symbol, Candles: candles}
}

func TestVerifyReportsOddities(t *testing.T) {
	t.Parallel()
	if odd := tape.Oddities(plain(t, 500)); len(odd) != 0 {
		t.Errorf("ordinary candles: have %v", odd)
	}
	for want, change := range map[string]func(c *exchange.Candles){
		"outlier: the candle of 1970-01-01T01:40:00Z has a high of 500": func(c *exchange.Candles) { c.High[100] *= 10 },
		"outlier: the candle of 1970-01-01T00:00:00Z has a high of 500": func(c *exchange.Candles) { c.High[0] *= 10 },
		"outlier: the candle of 1970-01-01T08:19:00Z has a low of 4999": func(c *exchange.Candles) { c.Low[499] /= 10 },
		"has a low of 4999.97": func(c *exchange.Candles) { c.Low[100] /= 10 },
		"repeated: 4 candles from 1970-01-01T03:20:00Z": func(c *exchange.Candles) {
			for i := 201; i < 204; i++ {
				c.Open[i], c.High[i], c.Low[i], c.Close[i], c.Volume[i] = c.Open[200], c.High[200], c.Low[200], c.Close[200], c.Volume[200]
			}
		},
		"no volume: 90 candles from 1970-01-01T05:00:00Z": func(c *exchange.Candles) {
			for i := 300; i < 390; i++ {
				c.Volume[i] = 0
			}
		},
	} {
		recorded := plain(t, 500)
		change(recorded.Candles)
		if odd := tape.Oddities(recorded); len(odd) != 1 || !strings.Contains(odd[0], want) {
			t.Errorf("want one with %q, have %v", want, odd)
		}
	}
}

// The move is a crash whose candle closes at its low.
func TestLastingMoveIsNoOutlier(t *testing.T) {
	t.Parallel()
	recorded := plain(t, 300)
	for i := 150; i < 300; i++ {
		c := recorded.Candles
		c.Open[i], c.High[i], c.Low[i], c.Close[i] = c.Open[i]/2, c.High[i]/2, c.Low[i]/2, c.Close[i]/2
	}
	recorded.Candles.Open[150] = recorded.Candles.Close[149]
	recorded.Candles.High[150] = recorded.Candles.Close[149]
	if odd := tape.Oddities(recorded); len(odd) != 0 {
		t.Errorf("have %v", odd)
	}
}

// The move is a jump that the next candle opens at: its high is the new price.
func TestAJumpThatTheNextCandleOpensAtIsNoOutlier(t *testing.T) {
	t.Parallel()
	recorded := plain(t, 300)
	c := recorded.Candles
	for i := 150; i < 300; i++ {
		c.Open[i], c.High[i], c.Low[i], c.Close[i] = 2*c.Open[i], 2*c.High[i], 2*c.Low[i], 2*c.Close[i]
	}
	c.High[149] = c.Open[150]
	if odd := tape.Oddities(recorded); len(odd) != 0 {
		t.Errorf("have %v", odd)
	}
}

// TestAnOutlierIsBeyondOnePartInAHundred covers a high and a low that are a hundredth of the price away from their neighbors, and one unit more.
func TestAnOutlierIsBeyondOnePartInAHundred(t *testing.T) {
	t.Parallel()
	for more, want := range map[exchange.Price]int{0: 0, 1: 1} {
		recorded := plain(t, 300)
		c := recorded.Candles
		top, bottom := max(c.Open[149], c.Close[149], c.Open[150], c.Close[150], c.Open[151], c.Close[151]),
			min(c.Open[149], c.Close[149], c.Open[150], c.Close[150], c.Open[151], c.Close[151])
		c.High[150] = top + c.Close[149]/100 + more
		if odd := tape.Oddities(recorded); len(odd) != want {
			t.Errorf("a high %d beyond the bound: want %d, have %q", more, want, odd)
		}
		recorded = plain(t, 300)
		recorded.Candles.Low[150] = bottom - c.Close[149]/100 - more
		if odd := tape.Oddities(recorded); len(odd) != want {
			t.Errorf("a low %d beyond the bound: want %d, have %q", more, want, odd)
		}
	}
}

// Neither hides the other.
func TestOutliersSideBySideAreBothNamed(t *testing.T) {
	t.Parallel()
	recorded := plain(t, 500)
	recorded.Candles.High[100] *= 10
	recorded.Candles.High[101] *= 10
	odd := tape.Oddities(recorded)
	if len(odd) != 2 || !strings.Contains(odd[0], "01:40:00Z has a high") || !strings.Contains(odd[1], "01:41:00Z has a high") {
		t.Errorf("have %v", odd)
	}
}

// An hourly series has fewer than sixty candles a day.
func TestADayWithoutVolumeIsAStretch(t *testing.T) {
	t.Parallel()
	recorded := plain(t, 500)
	recorded.Candles.Interval = exchange.Hour1
	for i := range recorded.Candles.Len() {
		recorded.Candles.OpenMS[i] *= 60
	}
	for i := 300; i < 324; i++ {
		recorded.Candles.Volume[i] = 0
	}
	if odd := tape.Oddities(recorded); len(odd) != 1 || odd[0] != "no volume: 24 candles from 1970-01-13T12:00:00Z on" {
		t.Errorf("have %v", odd)
	}
}
