package server

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestARealClockRunsAsFastAsItsSpeed(t *testing.T) {
	t.Parallel()
	for _, speed := range []float64{0, 1, 60, 0.5} {
		synctest.Test(t, func(t *testing.T) {
			c := startClock(t, Clock{StartMS: 1_000_000, Speed: speed}, 0)
			time.Sleep(2 * time.Second)
			want := 1_000_000 + int64(2000*max(speed, 0))
			if speed == 0 {
				want = 1_002_000
			}
			if have := c.nowMS(); have != want {
				t.Errorf("speed %v: want %d, have %d", speed, want, have)
			}
		})
	}
}

func TestClockReturnsTimeUntil(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := startClock(t, Clock{StartMS: 1_000_000, Speed: 10}, 0)
		wait, ok := c.until(1_010_000)
		if want := time.Second; wait != want || !ok {
			t.Errorf("want %v, have %v %v", want, wait, ok)
		}
		time.Sleep(wait)
		if want, have := int64(1_010_000), c.nowMS(); have != want {
			t.Errorf("after the wait: want %d, have %d", want, have)
		}
		if wait, ok := c.until(5); wait != 0 || !ok {
			t.Errorf("a time that has passed: want 0 true, have %v %v", wait, ok)
		}
		if _, ok := c.until(1<<63 - 1); ok {
			t.Error("a time that never comes: want false, have true")
		}
	})
}

func TestTheWindowIsTheSameRealTimeAtEverySpeed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		settings Clock
		want     int64
	}{
		{Clock{}, 5000}, {Clock{Speed: 60}, 300_000}, {Clock{Manual: true}, 5000}, {Clock{Manual: true, Speed: 60}, 5000},
	} {
		if have := startClock(t, c.settings, 0).windowMS(); have != c.want {
			t.Errorf("%+v: want %d, have %d", c.settings, c.want, have)
		}
	}
}

func TestManualClockStartsAt2026(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := startClock(t, Clock{Manual: true}, 0)
		time.Sleep(time.Hour)
		want := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
		if have := c.nowMS(); have != want {
			t.Errorf("want %d, have %d", want, have)
		}
		c.move(want + 5)
		if have := c.nowMS(); have != want+5 {
			t.Errorf("moved: want %d, have %d", want+5, have)
		}
	})
}

func TestARestoredExchangesClockDoesNotGoBack(t *testing.T) {
	t.Parallel()
	if want, have := int64(9_000), startClock(t, Clock{Manual: true, StartMS: 5_000}, 9_000).nowMS(); have != want {
		t.Errorf("want %d, have %d", want, have)
	}
}

func TestAClockRefusesInvalidSpeeds(t *testing.T) {
	t.Parallel()
	nan := 0.0
	nan /= nan
	for _, settings := range []Clock{{Speed: -1}, {Speed: nan}, {Speed: 1e7}, {StartMS: -1}} {
		if _, err := newClock(settings, 0); err == nil {
			t.Errorf("%+v: want an error, have none", settings)
		}
	}
}

func TestDelayFollowsRealOrManualClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stop := make(chan struct{})
		wall, manual := startClock(t, Clock{Speed: 60}, 0), startClock(t, Clock{Manual: true}, 0)
		for _, c := range []*clock{wall, manual} {
			began := time.Now()
			if !c.wait(c.nowMS(), 700, stop) || time.Since(began) != 700*time.Millisecond {
				t.Errorf("manual %v: want 700ms, have %v", c.manual, time.Since(began))
			}
		}
		began := time.Now()
		go func() {
			time.Sleep(time.Second)
			manual.move(manual.nowMS() + 1000)
			time.Sleep(time.Second)
			manual.move(manual.nowMS() + 59_000)
		}()
		if !manual.wait(manual.nowMS(), 60_000, stop) || time.Since(began) != 2*time.Second {
			t.Errorf("moved: want 2s, have %v", time.Since(began))
		}
		close(stop)
		if wall.wait(wall.nowMS(), 60_000, stop) {
			t.Error("stopped: want false, have true")
		}
	})
}

func startClock(t *testing.T, settings Clock, leastMS int64) *clock {
	t.Helper()
	c, err := newClock(settings, leastMS)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
