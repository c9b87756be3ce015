package backtest

import "runtime/debug"

// CollectOften has garbage collected more often until the function that it returns is called; call it again where the
// number of candles becomes known (0 before). Candles are most of the memory and hold no pointer: beside many of them that
// costs little, and keeps a run within twice the size of its file.
func CollectOften(candles int) (end func()) {
	const bytesEach, garbage = 80, 8 << 20
	percent := max(10, min(30, 100*garbage/max(1, candles*bytesEach)))
	before := debug.SetGCPercent(percent)
	return func() { debug.SetGCPercent(before) }
}

// Candles returns how many there are in all.
func (c *Config) Candles() (count int) {
	for i := range c.Legs {
		count += c.Legs[i].Tape.Candles.Len()
	}
	return count
}
