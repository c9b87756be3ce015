package rest

import (
	"context"
	"time"

	"botd/exchange"
)

// SyncClock takes the clock's offset from the server (interface, Authentication
// 6): the server's time is assumed to be read in the middle of the round trip,
// so the offset is right within half of it. The best of three is kept.
func (c *Client) SyncClock(ctx context.Context) error {
	const tries = 3
	best := time.Duration(1<<63 - 1)
	var offset time.Duration
	for range tries {
		began := time.Now()
		answer, err := c.read(ctx, &exchange.Request{Operation: exchange.FuturesTime})
		if err != nil {
			return err
		}
		ended := time.Now()
		if half := ended.Sub(began) / 2; half < best {
			best = half
			offset = time.UnixMilli(answer.ServerTimeMS).Sub(began.Add(half))
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset, c.bound, c.hasClock = offset, best, true
	return nil
}

// Offset returns the server's time minus the local one, and how far off it may be.
func (c *Client) Offset() (offset, bound time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.offset, c.bound
}

// ServerNowMS returns the server's time now, in Unix milliseconds.
func (c *Client) ServerNowMS() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.offset).UnixMilli()
}
