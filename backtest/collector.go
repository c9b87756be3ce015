package backtest

import "runtime/debug"

// CollectOften makes the garbage collector run more often until the returned function is called. Call it again when
// the number of candles becomes known (0 before). Candles take most of the memory and hold no pointers: with many of
// them, this costs little and keeps a run within twice the size of its file.
func CollectOften(candles int) (end func()) {
	const bytesEach, garbage = 80, 8 << 20
	percent := max(10, min(30, 100*garbage/max(1, candles*bytesEach)))
	before := debug.SetGCPercent(percent)
	return func() { debug.SetGCPercent(before) }
}

// Candles returns the total number of candles.
func (c *Config) Candles() (count int) {
	for i := range c.Legs {
		count += c.Legs[i].Tape.Candles.Len()
	}
	return count
}
