package backtest

import (
	"context"
	"runtime/debug"
	"testing"
	"testing/synctest"
	"time"
)

// The rest is between five milliseconds and a quarter of a second, and the end of its context ends it.
func TestARestIsAsLongAsTheWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		rest := Rest(ctx)
		for _, c := range []struct{ worked, rested time.Duration }{{4 * time.Millisecond, 0}, {time.Millisecond, 5 * time.Millisecond},
			{100 * time.Millisecond, 100 * time.Millisecond}, {time.Second, 250 * time.Millisecond}} {
			time.Sleep(c.worked)
			began := time.Now()
			if rest(); time.Since(began) != c.rested {
				t.Errorf("after %s: want a rest of %s, have %s", c.worked, c.rested, time.Since(began))
			}
		}
		time.Sleep(time.Second)
		cancel()
		began := time.Now()
		if rest(); time.Since(began) != 0 {
			t.Errorf("canceled: have a rest of %s", time.Since(began))
		}
	})
}

// There are 8 MiB of garbage plus 80 bytes a candle, within 10 and 30 %. It is a setting of the process, so the test is not parallel.
func TestGarbageCollectionFollowsCandleCount(t *testing.T) {
	before := debug.SetGCPercent(77)
	defer debug.SetGCPercent(before)
	for candles, want := range map[int]int{0: 30, 100_000: 30, 500_000: 20, 10_000_000: 10} {
		end := CollectOften(candles)
		if have := debug.SetGCPercent(1); have != want {
			t.Errorf("%d candles: want %d %%, have %d", candles, want, have)
		}
		if end(); debug.SetGCPercent(77) != 77 {
			t.Errorf("%d candles: want it as it was", candles)
		}
	}
	if config := (&Config{Legs: append(sound().Legs, sound().Legs...)}); config.Candles() != 6 {
		t.Errorf("want six candles in two legs, have %d", config.Candles())
	}
}
