package rest

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"botd/exchange"
)

// spent returns a client of one request a second that has just sent it.
func spent(t *testing.T) (*venue, *Client) {
	t.Helper()
	v := newVenue(t)
	client := ready(t, openPipe(t, v, func(c *Config) { c.Budget = 1 }))
	time.Sleep(time.Minute)
	if _, err := call(t.Context(), client, exchange.Request{Operation: exchange.FuturesPing}); err != nil {
		t.Fatal(err)
	}
	v.on(0)
	return v, client
}

// queue starts requests one after the other; each one waits before the next arrives.
func queue(t *testing.T, requests ...func(context.Context) error) *sync.WaitGroup {
	t.Helper()
	var group sync.WaitGroup
	for _, request := range requests {
		group.Go(func() {
			if err := request(t.Context()); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
	}
	return &group
}

func TestBudgetPrefersReductionsThenOpenings(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v, client := spent(t)
		group := queue(t,
			func(ctx context.Context) error {
				_, err := call(ctx, client, exchange.Request{Operation: exchange.FuturesHealth})
				return err
			},
			func(ctx context.Context) error {
				_, err := call(ctx, client, exchange.Request{Operation: exchange.FuturesDepth, Symbol: "BTC-USDT", Limit: 5})
				return err
			},
			func(ctx context.Context) error {
				_, err := place(ctx, client, exchange.Futures, market(exchange.Buy))
				return err
			},
			func(ctx context.Context) error {
				_, err := call(ctx, client, exchange.Request{Operation: exchange.FuturesOpenOrders})
				return err
			},
			func(ctx context.Context) error {
				order := market(exchange.Sell)
				order.ReduceOnly = true
				_, err := place(ctx, client, exchange.Futures, order)
				return err
			},
		)
		began := time.Now()
		group.Wait()
		want := []exchange.Operation{exchange.FuturesPlace, exchange.FuturesOpenOrders, exchange.FuturesPlace, exchange.FuturesHealth, exchange.FuturesDepth}
		if !slices.Equal(want, v.order) {
			t.Errorf("want %v, have %v", want, v.order)
		}
		if took := time.Since(began); took < 4*time.Second || took > 6*time.Second {
			t.Errorf("five requests at one a second: have %s", took)
		}
	})
}

func TestMarketsHaveBudgetsOfTheirOwnAndBursts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := newVenue(t)
		client := ready(t, openPipe(t, v, func(c *Config) { c.Budget = 6 }))
		time.Sleep(time.Minute)
		began := time.Now()
		for range 5 { // the sixth of the burst is reserved for exits
			if _, err := call(t.Context(), client, exchange.Request{Operation: exchange.SpotWallet}); err != nil {
				t.Fatal(err)
			}
			if _, err := call(t.Context(), client, exchange.Request{Operation: exchange.FuturesAccount}); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("a burst of five in both markets: have %s", took)
		}
		for range 12 {
			if _, err := call(t.Context(), client, exchange.Request{Operation: exchange.SpotWallet}); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took < 1900*time.Millisecond || took > 2100*time.Millisecond {
			t.Errorf("twelve more at six a second: have %s", took)
		}
	})
}

func TestARateLimitPausesAllRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := newVenue(t)
		client := ready(t, openPipe(t, v))
		v.on(exchange.FuturesPlace, status(429, "", "Retry-After", "3"))
		kind(t, "placement", placements[exchange.FuturesPlace](t.Context(), client), "uncertain", "rate limited")
		began := time.Now()
		if _, err := call(t.Context(), client, exchange.Request{Operation: exchange.FuturesOpenPositions}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took < 3*time.Second || took > 4*time.Second {
			t.Errorf("want 3 s, have %s", took)
		}
	})
}

func TestAPausedOrSpentBudgetLetsContextsEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(1)
		b.pause(10 * time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := b.wait(ctx, priorityWatch, nil); err != context.DeadlineExceeded {
			t.Errorf("want the context's end, have %v", err)
		}
		began := time.Now()
		if err := b.wait(t.Context(), priorityWatch, nil); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took < 9*time.Second || took > 9*time.Second+time.Millisecond {
			t.Errorf("the rest of the pause: want 9 s, have %s", took)
		}
	})
}

func TestOrderPriorities(t *testing.T) {
	t.Parallel()
	order := func(operation exchange.Operation, o exchange.NewOrder) exchange.Request {
		return exchange.Request{Operation: operation, Order: o}
	}
	for _, c := range []struct {
		request exchange.Request
		want    priority
	}{
		{order(exchange.FuturesPlace, exchange.NewOrder{Side: exchange.Sell}), priorityEnter},
		{order(exchange.FuturesPlace, exchange.NewOrder{Side: exchange.Sell, ReduceOnly: true}), priorityExit},
		{order(exchange.FuturesPlace, exchange.NewOrder{Side: exchange.Sell, ClosePosition: true}), priorityExit},
		{order(exchange.SpotPlace, exchange.NewOrder{Side: exchange.Buy}), priorityEnter},
		{order(exchange.SpotPlace, exchange.NewOrder{Side: exchange.Sell}), priorityExit},
		{exchange.Request{Operation: exchange.FuturesCancel}, priorityExit},
		{exchange.Request{Operation: exchange.FuturesSetLeverage}, priorityEnter},
		{exchange.Request{Operation: exchange.FuturesTime}, prioritySettle},
		{exchange.Request{Operation: exchange.SpotWallet}, prioritySettle},
		{exchange.Request{Operation: exchange.FuturesCandles}, priorityWatch},
	} {
		if have := priorityOf(&c.request); have != c.want {
			t.Errorf("%s: want %d, have %d", c.request.Operation, c.want, have)
		}
	}
}

func TestRecalledRequestReleasesBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(1)
		if err := b.wait(t.Context(), priorityEnter, nil); err != nil { // the only token of this second
			t.Fatal(err)
		}
		began := time.Now()
		recalled := make(chan struct{})
		time.AfterFunc(100*time.Millisecond, func() { close(recalled) })
		if err := b.wait(t.Context(), priorityEnter, recalled); err != nil || time.Since(began) != 100*time.Millisecond {
			t.Errorf("want it to stop waiting, have %v after %s", err, time.Since(began))
		}
		if err := b.wait(t.Context(), priorityWatch, nil); err != nil || time.Since(began) != time.Second {
			t.Errorf("want the next second's to be another's, have %v after %s", err, time.Since(began))
		}
	})
}

// TestExitsHaveAReserve spends the budget on reads, as a busy engine and watching people do: the first
// requests of a kill switch go immediately.
func TestExitsHaveAReserve(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := newVenue(t)
		client := ready(t, openPipe(t, v, func(c *Config) { c.Budget = 10 }))
		time.Sleep(time.Minute)
		var group sync.WaitGroup
		for range 30 {
			group.Go(func() { _, _ = call(t.Context(), client, exchange.Request{Operation: exchange.FuturesOpenOrders}) })
			group.Go(func() {
				_, _ = client.ForViewers().Do(t.Context(), exchange.Request{Operation: exchange.FuturesTickers})
			})
		}
		synctest.Wait() // the rest waits for the budget
		began := time.Now()
		for i := range 4 {
			order := market(exchange.Sell)
			order.ReduceOnly = true
			if _, err := place(t.Context(), client, exchange.Futures, order); err != nil {
				t.Error(err)
			}
			if took, want := time.Since(began), time.Duration(max(0, i-1))*100*time.Millisecond; took < want || took > want+time.Millisecond {
				t.Errorf("exit %d: want it sent after %s, have %s", i+1, want, took)
			}
		}
		group.Wait()
	})
}

// TestViewersHaveATenthOfBudget requests market data without end.
func TestViewersHaveATenthOfBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := newVenue(t)
		client := ready(t, openPipe(t, v, func(c *Config) { c.Budget = 50 }))
		time.Sleep(time.Minute)
		v.on(0)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		var group sync.WaitGroup
		for range 48 {
			group.Go(func() {
				for ctx.Err() == nil {
					_, _ = client.ForViewers().Do(ctx, exchange.Request{Operation: exchange.FuturesTickers})
					time.Sleep(10 * time.Millisecond)
				}
			})
		}
		group.Wait()
		synctest.Wait() // for the answers to abandoned requests
		if have, most := len(v.order), 50/guestShare*(20+guestBurst); have < most/2 || have > most {
			t.Errorf("requests of people who watch in 20 s: want at most %d, have %d", most, have)
		}
		if _, err := client.ForViewers().Do(t.Context(), exchange.Request{Operation: exchange.FuturesAccount}); err == nil {
			t.Error("a signed read by a guest: want it refused")
		}
	})
}
