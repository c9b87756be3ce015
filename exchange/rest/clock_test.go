package rest

import (
	"context"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"botd/exchange"
	"botd/exchange/polling"
)

func TestTheClocksOffsetIsRightWithinItsBound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := newVenue(t)
		v.nowMS = func() int64 { return time.Now().UnixMilli() + 3_600_000 }
		client := openPipe(t, v)
		if offset, bound := client.OffsetMS(); offset != 0 || bound != 0 {
			t.Errorf("before: want 0 and 0, have %d and %d", offset, bound)
		}
		if err := client.SyncClock(t.Context()); err != nil {
			t.Fatal(err)
		}
		offset, bound := client.OffsetMS()
		if bound > 2 || offset < 3_600_000-bound || offset > 3_600_000+bound {
			t.Errorf("want an hour within 1 ms, have %d within %d", offset, bound)
		}
		time.Sleep(5 * time.Minute)
		if want, have := v.nowMS(), client.ServerNowMS(); have < want-bound || have > want+bound {
			t.Errorf("later: want %d, have %d", want, have)
		}
	})
}

func TestASlowRoundTripWidensTheBoundAndTheFastestCounts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := newVenue(t)
		client := openPipe(t, v)
		slow := func(delay time.Duration) fault {
			return func(w http.ResponseWriter, _ *http.Request, answer []byte) { time.Sleep(delay); w.Write(answer) }
		}
		v.on(exchange.FuturesTime, slow(400*time.Millisecond), slow(100*time.Millisecond), slow(300*time.Millisecond))
		if err := client.SyncClock(t.Context()); err != nil {
			t.Fatal(err)
		}
		if offset, bound := client.OffsetMS(); bound != 51 || offset < -51 || offset > 51 {
			t.Errorf("want 0 within 51, have %d within %d", offset, bound)
		}
		v.on(exchange.FuturesTime, status(503, ""), status(503, "")) // pauses are not part of the round trip
		if err := client.SyncClock(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, bound := client.OffsetMS(); bound != 1 {
			t.Errorf("after retries: want 1, have %d", bound)
		}
	})
}

func TestAReadOutsideTheWindowIsSentOnceMoreWithANewClockReading(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := newVenue(t)
		var ahead atomic.Int64
		v.nowMS = func() int64 { return time.Now().UnixMilli() + ahead.Load() }
		client := ready(t, openPipe(t, v))
		ahead.Store(60_000)
		v.on(0)
		if _, err := call(t.Context(), client, exchange.Request{Operation: exchange.SpotWallet}); err != nil {
			t.Fatal(err)
		}
		if have := v.count(exchange.SpotWallet); have != 2 {
			t.Errorf("want two tries, have %d", have)
		}
		const clock = `{"code":-1021,"error":"invalid timestamp"}`
		v.on(exchange.SpotWallet, status(401, clock), status(401, clock), status(401, clock))
		_, err := call(t.Context(), client, exchange.Request{Operation: exchange.SpotWallet})
		kind(t, "wallet", err, "refusal", "code -1021")
		if have := v.count(exchange.SpotWallet); have != 2 {
			t.Errorf("want two tries, have %d", have)
		}
	})
}

func TestRefusedTimestampRereadsClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := newVenue(t)
		var ahead atomic.Int64
		v.nowMS = func() int64 { return time.Now().UnixMilli() + ahead.Load() }
		client := ready(t, openPipe(t, v))
		ahead.Store(60_000)
		v.on(0)
		place := placements[exchange.FuturesPlace]
		kind(t, "first", place(t.Context(), client), "refusal", "code -1021")
		if sent, clock := v.count(exchange.FuturesPlace), v.count(exchange.FuturesTime); sent != 1 || clock != 0 {
			t.Errorf("want one request and no clock, have %d and %d", sent, clock)
		}
		kind(t, "second", place(t.Context(), client), "", "")
		if clock := v.count(exchange.FuturesTime); clock != polling.ClockReads {
			t.Errorf("want the clock read, have %d", clock)
		}
	})
}

// TestAStepOfTheLocalClockMovesNoTimestamp sets the wall clock back, as a time server does.
func TestAStepOfTheLocalClockMovesNoTimestamp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := newVenue(t)
		var step atomic.Int64
		client := ready(t, openPipe(t, v, func(c *Config) {
			c.Clock = func() time.Time { return time.Now().Round(0).Add(time.Duration(step.Load())) } // a wall clock only
		}))
		if client.clock.stale(true) {
			t.Error("a new reading is stale")
		}
		time.Sleep(ClockAge + time.Second)
		if !client.clock.stale(true) || client.clock.stale(false) {
			t.Error("an old reading: want it read again for reads, and good enough for a request that cannot wait")
		}
		step.Store(int64(-time.Hour))
		if !client.clock.stale(false) {
			t.Error("the clock went back by an hour: want the reading stale")
		}
		kind(t, "placement", placements[exchange.FuturesPlace](t.Context(), client), "", "")
		if offset, bound := client.OffsetMS(); offset < 3_600_000-bound || offset > 3_600_000+bound {
			t.Errorf("want an hour, have %d within %d", offset, bound)
		}
	})
}

func TestAVenueThatRefusesItsOwnClockCausesNoLoop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := newVenue(t)
		client := openPipe(t, v)
		v.on(exchange.FuturesTime, status(401, `{"code":-1021,"error":"x"}`))
		kind(t, "clock", client.SyncClock(t.Context()), "refusal", "code -1021")
	})
}

// TestAMachineThatSleptReadsTheClockAtOnce lets the wall clock run ahead of the elapsed time, as it does while
// a laptop is closed.
func TestAMachineThatSleptReadsTheClockAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := newVenue(t)
		var slept atomic.Int64
		v.nowMS = func() int64 { return time.Now().UnixMilli() + slept.Load()/1_000_000 }
		client := ready(t, openPipe(t, v, func(c *Config) {
			c.Clock = func() time.Time { return time.Now().Add(time.Duration(slept.Load())) }
		}))
		ctx, cancel := context.WithCancel(t.Context())
		readings, done := make(chan ClockReading, 16), make(chan struct{})
		go func() { defer close(done); client.TrackClock(ctx, time.Minute, func(r ClockReading) { readings <- r }) }()
		time.Sleep(59 * time.Second)
		if len(readings) > 0 {
			t.Errorf("before its time: want none, have %+v", <-readings)
		}
		time.Sleep(2 * time.Second)
		if r := <-readings; r.Err != nil || r.Jumped != 0 || r.Offset.Abs() > r.Bound || r.Bound == 0 {
			t.Errorf("after a minute: want a reading without a jump, have %+v", r)
		}
		slept.Store(int64(8 * time.Hour))
		time.Sleep(1100 * time.Millisecond)
		if r := <-readings; r.Err != nil || (r.Jumped-8*time.Hour).Abs() > 10*time.Millisecond {
			t.Errorf("after a sleep of 8 hours: want it read at once, have %+v", r)
		}
		if want, have := v.nowMS(), client.ServerNowMS(); have < want-5 || have > want+5 {
			t.Errorf("server time: want %d, have %d", want, have)
		}
		v.on(exchange.FuturesTime, slices.Repeat([]fault{status(503, "")}, 200)...)
		slept.Store(int64(7 * time.Hour))
		for {
			if r := <-readings; r.Jumped < 0 {
				if r.Err == nil {
					t.Error("the exchange fails: want it reported")
				}
				break
			}
		}
		cancel()
		<-done
	})
}

// OffsetMS is Offset in milliseconds.
func (c *Client) OffsetMS() (offset, bound int64) {
	longer, within := c.Offset()
	return longer.Milliseconds(), within.Milliseconds()
}
