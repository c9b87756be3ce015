package indicator

import "testing"

// On constant prices, CCI once gave 66.67 or noise, and StochRSI noise. TA-Lib's convention is 0 where nothing
// moves.
func TestConstantPricesMatchTALib(t *testing.T) {
	t.Parallel()
	for _, price := range []float64{0.1, 0.3, 7.7, 100, 43_210.7, 0.00001234} {
		cci, stoch, rsi := NewCCI(20), NewStochRSI(14, 5, 3), NewRSI(14)
		for i := range 400 {
			at := price
			if i < 50 {
				at = price * (1 + float64(i*37%11)/100) // it moved before
			}
			index, ready := cci.Next(at, at, at)
			k, d, both := stoch.Next(at)
			if i >= 100 && (!ready || index != 0 || !both || k != 0 || d != 0) {
				t.Fatalf("price %v, candle %d: want CCI 0 and StochRSI 0, 0, have %v and %v, %v", price, i, index, k, d)
			}
		}
		for range 100 {
			if index, ready := rsi.Next(price); ready && (index != 0 || !rsi.Still()) {
				t.Fatalf("price %v: want RSI 0 from a flat start, and that it stands still, have %v", price, index)
			}
		}
		rsi.Next(price * 1.01)
		if rsi.Still() {
			t.Errorf("price %v: it has moved", price)
		}
	}
}

// The cases are PEPE at 0.00001234 with a tick of 0.00000001, and BTC.
func TestAMoveOfOneTickIsNotNegligible(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ price, tick float64 }{{0.00001234, 0.00000001}, {1_000_000, 0.1}, {100_000, 0.00000100}} {
		cci := NewCCI(20)
		var index float64
		for i := range 60 {
			at := c.price
			if i == 59 {
				at += c.tick
			}
			index, _ = cci.Next(at, at, at)
		}
		if index < 600 || index > 700 { // (1 - 1/20) / (0.015 x 2 x 19/400) = 666.67
			t.Errorf("price %v, a tick of %v: want 666.67, have %v", c.price, c.tick, index)
		}
	}
}
