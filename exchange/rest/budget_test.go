package rest

import (
	"context"
	"errors"
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

// send starts a request and returns when it was answered, after the given moment.
func send(t *testing.T, client *Client, request exchange.Request, began time.Time) <-chan time.Duration {
	t.Helper()
	sent := make(chan time.Duration, 1)
	go func() {
		if _, err := client.Do(t.Context(), request); err != nil {
			t.Error(err)
		}
		sent <- time.Since(began)
	}()
	return sent
}

// After a 429, whatever was limited, openings and market data wait as long as the exchange asks. Exits and what they need wait for a second
// if one of them was limited, and otherwise not at all.
func TestRetryAfterDelaysNoExit(t *testing.T) {
	t.Parallel()
	exit := exchange.Request{Operation: exchange.FuturesPlace, Symbol: "BTC-USDT", Order: withMarket(exchange.Futures)}
	exit.Order.Side, exit.Order.ReduceOnly = exchange.Sell, true
	opening := exchange.Request{Operation: exchange.FuturesPlace, Symbol: "BTC-USDT", Order: withMarket(exchange.Futures)}
	for name, c := range map[string]struct {
		limited   exchange.Request
		protected time.Duration
	}{
		"candles": {exchange.Request{Operation: exchange.FuturesDepth, Symbol: "BTC-USDT", Limit: 5}, 0}, "an opening": {opening, 0},
		"a read": {exchange.Request{Operation: exchange.FuturesAccount}, time.Second}, "an exit": {exit, time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			v := newVenue(t)
			client := ready(t, openPipe(t, v))
			v.on(c.limited.Operation, status(429, "", "Retry-After", "25"))
			ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			defer cancel()
			if _, err := client.Do(ctx, c.limited); err == nil {
				t.Errorf("%s: want it limited", name)
			}
			v.on(0)
			began := time.Now()
			if until := client.PausedUntil(exchange.Futures).Sub(began); until < 24*time.Second || until > 25*time.Second {
				t.Errorf("%s: want the rest of 25 s shown, have %s", name, until)
			}
			limitedAgo := 25*time.Second - client.PausedUntil(exchange.Futures).Sub(began)
			var sent []<-chan time.Duration
			for _, r := range []exchange.Request{exit, {Operation: exchange.FuturesCancel, Symbol: "BTC-USDT", OrderID: 7},
				{Operation: exchange.FuturesOpenPositions}, {Operation: exchange.FuturesTicker, Symbol: "BTC-USDT"},
				opening, {Operation: exchange.FuturesHealth}} {
				sent = append(sent, send(t, client, r, began))
				synctest.Wait()
			}
			for i, one := range sent {
				want := max(0, c.protected-limitedAgo)
				if i >= 4 {
					want = 25*time.Second - limitedAgo
				}
				if have := <-one; have != want {
					t.Errorf("%s, request %d: want it answered after %s, have %s", name, i, want, have)
				}
			}
		})
	}
}

// A venue that answers only 429 receives one request at a time: few enough not to be a reason for a ban. When it recovers, everything that
// protects is answered within two seconds.
func TestAVenueThatLimitsEverythingReceivesFewRequests(t *testing.T) {
	t.Parallel()
	for _, retryAfter := range []string{"", "30", "1"} {
		synctest.Test(t, func(t *testing.T) {
			v := newVenue(t)
			client := ready(t, openPipe(t, v))
			const storm = 60 * time.Second
			began := time.Now()
			v.on(0)
			v.mu.Lock()
			times := map[*brake][]time.Duration{}
			b := client.budgets[exchange.Futures]
			v.fault = func(operation exchange.Operation, _ int) fault {
				if time.Since(began) >= storm {
					return nil
				}
				k := b.brakeOf(priorityOf(&exchange.Request{Operation: operation}))
				v.mu.Lock()
				defer v.mu.Unlock()
				times[k] = append(times[k], time.Since(began))
				return status(429, "", "Retry-After", retryAfter)
			}
			v.mu.Unlock()
			var group sync.WaitGroup
			for _, r := range []exchange.Request{{Operation: exchange.FuturesOpenOrders}, {Operation: exchange.FuturesAccount},
				{Operation: exchange.FuturesHealth}, {Operation: exchange.FuturesDepth, Symbol: "BTC-USDT", Limit: 5}} {
				group.Go(func() {
					for time.Since(began) < storm {
						ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
						_, _ = client.Do(ctx, r)
						cancel()
					}
				})
			}
			time.Sleep(storm - time.Millisecond)
			sent := make(chan time.Duration, 1)
			go func() {
				_, err := client.Do(t.Context(), exchange.Request{Operation: exchange.FuturesCancel, Symbol: "BTC-USDT", OrderID: 7})
				if err != nil {
					t.Error(err)
				}
				sent <- time.Since(began)
			}()
			if have := <-sent; have > storm+probeEvery {
				t.Errorf("Retry-After %q: want it answered within %s, have %s", retryAfter, probeEvery, have-storm)
			}
			group.Wait()
			if most := 2 + 1 + int(storm/probeEvery); len(times[&b.protected]) > most || len(times[&b.protected]) < most/2 || len(times[&b.ordinary]) > most {
				t.Errorf("Retry-After %q: want two requests of each kind, and at most %d more, have %v", retryAfter, most-2, times)
			}
		})
	}
}

// A probe without an answer, or whose caller has left, is followed by the next one.
func TestAProbeWithoutAnAnswerIsFollowedByAnother(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(0)
		limited := &outcome{limited: true, ended: time.Now()}
		probes := func(want time.Duration) {
			t.Helper()
			began := time.Now()
			if probe, err := b.wait(t.Context(), prioritySettle, false, nil); !probe || err != nil || time.Since(began) != want {
				t.Errorf("want a probe after %s, have %t after %s, %v", want, probe, time.Since(began), err)
			}
		}
		b.answered(prioritySettle, false, limited)
		b.answered(prioritySettle, false, limited) // was in flight at the first
		probes(firstProbe)
		b.answered(prioritySettle, false, &outcome{ended: time.Now()}) // too, and is no reason to end the pause
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		if _, err := b.wait(ctx, priorityExit, false, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("want one at a time, have %v", err)
		}
		cancel()
		b.answered(prioritySettle, true, &outcome{})
		time.Sleep(probeEvery)
		probes(0)
		b.answered(prioritySettle, true, &outcome{})
		probes(probeEvery)
		b.answered(prioritySettle, true, limited)
		next := make(chan time.Duration)
		go func() {
			began := time.Now()
			_, _ = b.wait(t.Context(), prioritySettle, false, nil)
			next <- time.Since(began)
		}()
		synctest.Wait()
		lost := &turn{comes: make(chan bool, 1), level: prioritySettle}
		lost.comes <- true
		b.mu.Lock()
		b.protected.probing = true
		b.protected.until = time.Now()
		b.mu.Unlock()
		b.leave(lost)
		if have := <-next; have != 0 {
			t.Errorf("want the turn of a caller that has left passed on, have it after %s", have)
		}
		b.answered(prioritySettle, true, &outcome{ended: time.Now()})
		if probe, err := b.wait(t.Context(), priorityExit, true, nil); probe || err != nil {
			t.Errorf("want the pause ended, have %t, %v", probe, err)
		}
	})
}

// The first request after a 429 places no order if another one waits: an order that is limited is uncertain until it has settled.
func TestAProbePlacesNoOrderIfAReadWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := newVenue(t)
		client := ready(t, openPipe(t, v))
		b := client.budgets[exchange.Futures]
		b.answered(prioritySettle, false, &outcome{limited: true, ended: time.Now()})
		v.on(0)
		began := time.Now()
		exit := exchange.Request{Operation: exchange.FuturesPlace, Symbol: "BTC-USDT", Order: withMarket(exchange.Futures)}
		exit.Order.Side, exit.Order.ReduceOnly = exchange.Sell, true
		first := send(t, client, exit, began)
		synctest.Wait()
		<-send(t, client, exchange.Request{Operation: exchange.FuturesOpenOrders}, began)
		<-first
		if want := []exchange.Operation{exchange.FuturesOpenOrders, exchange.FuturesPlace}; !slices.Equal(want, v.order) || time.Since(began) != firstProbe {
			t.Errorf("want %v after %s, have %v after %s", want, firstProbe, v.order, time.Since(began))
		}
	})
}

func TestAPausedOrSpentBudgetLetsContextsEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(1)
		b.answered(priorityWatch, false, &outcome{limited: true, retryAfter: 10 * time.Second})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := b.wait(ctx, priorityWatch, false, nil); err != context.DeadlineExceeded {
			t.Errorf("want the context's end, have %v", err)
		}
		began := time.Now()
		if _, err := b.wait(t.Context(), priorityWatch, false, nil); err != nil {
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
		{exchange.Request{Operation: exchange.FuturesTickers}, prioritySettle},
		{exchange.Request{Operation: exchange.FuturesTicker}, priorityPrice},
		{exchange.Request{Operation: exchange.SpotTicker}, priorityPrice},
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
		if _, err := b.wait(t.Context(), priorityEnter, false, nil); err != nil { // the only token of this second
			t.Fatal(err)
		}
		began := time.Now()
		recalled := make(chan struct{})
		time.AfterFunc(100*time.Millisecond, func() { close(recalled) })
		if probe, err := b.wait(t.Context(), priorityEnter, false, recalled); probe || err != nil || time.Since(began) != 100*time.Millisecond {
			t.Errorf("want it to stop waiting, have %v after %s", err, time.Since(began))
		}
		if _, err := b.wait(t.Context(), priorityWatch, false, nil); err != nil || time.Since(began) != time.Second {
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
