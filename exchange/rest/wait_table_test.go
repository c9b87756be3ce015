package rest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"botd/exchange"
	"botd/exchange/polling"
)

// TestTheClockIsReadAgainWhenItIsDue expects the next reading after the interval, or, if a reading failed,
// after five seconds or the interval, whichever is shorter.
func TestTheClockIsReadAgainWhenItIsDue(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		every, again time.Duration
	}{{time.Minute, 5 * time.Second}, {5 * time.Second, 5 * time.Second}, {3 * time.Second, 3 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			v := newVenue(t)
			client := ready(t, openPipe(t, v))
			ctx, cancel := context.WithCancel(t.Context())
			at, failed, done := []time.Duration{}, []bool{}, make(chan struct{})
			v.on(exchange.FuturesTime, status(400, `{"code":2000,"error":"no"}`), status(400, `{"code":2000,"error":"no"}`)) // no retries
			began := time.Now()
			go func() {
				defer close(done)
				client.TrackClock(ctx, c.every, func(r ClockReading) {
					at, failed = append(at, time.Since(began).Round(time.Second)), append(failed, r.Err != nil)
				})
			}()
			time.Sleep(3*c.every + 3*c.again)
			cancel()
			<-done
			want := []time.Duration{c.every, c.every + c.again, c.every + 2*c.again, 2*c.every + 2*c.again}
			if len(at) < 4 || !slices.Equal(at[:4], want) || !slices.Equal(failed[:4], []bool{true, true, false, false}) {
				t.Errorf("every %s: want readings at %v, the first two failed, have %v, %v", c.every, want, at, failed)
			}
		})
	}
}

// TestAnOldReadingOfTheClockIsReadAgainBeforeARead also checks that a request that changes something does not
// wait for it.
func TestAnOldReadingOfTheClockIsReadAgainBeforeARead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := newVenue(t)
		client := ready(t, openPipe(t, v))
		v.on(0)
		time.Sleep(ClockAge + time.Second)
		kind(t, "a placement", placements[exchange.FuturesPlace](t.Context(), client), "", "")
		if have := v.count(exchange.FuturesTime); have != 0 {
			t.Errorf("a placement: want the clock not read, have %d", have)
		}
		for _, want := range []int{polling.ClockReads, polling.ClockReads} {
			if _, err := call(t.Context(), client, exchange.Request{Operation: exchange.SpotWallet}); err != nil {
				t.Fatal(err)
			}
			if have := v.count(exchange.FuturesTime); have != want {
				t.Errorf("a read: want the clock read once, %d, have %d", want, have)
			}
		}
		time.Sleep(ClockAge + time.Second)
		v.on(exchange.FuturesTime, status(400, `{"code":2000,"error":"no"}`))
		_, err := call(t.Context(), client, exchange.Request{Operation: exchange.SpotWallet})
		kind(t, "a clock that cannot be read", err, "unavailable", "not sent: ")
		if have := v.count(exchange.SpotWallet); have != 0 {
			t.Errorf("want nothing sent, have %d", have)
		}
	})
}

// TestRequestWaitsForListAndClock checks that a request waits for the symbol lists (for its scales) and for
// the clock (for its signature).
func TestRequestWaitsForListAndClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := newVenue(t)
		client := openPipe(t, v)
		orders := exchange.Request{Operation: exchange.FuturesOpenOrders}
		v.on(exchange.FuturesSymbols, status(400, `{"code":2000,"error":"no"}`))
		_, err := call(t.Context(), client, orders)
		kind(t, "no list", err, "unavailable", "not sent: ")
		if have := v.count(orders.Operation); have != 0 {
			t.Errorf("no list: want nothing sent, have %d", have)
		}
		if _, err = call(t.Context(), client, orders); err != nil || v.count(exchange.FuturesTime) != polling.ClockReads ||
			v.count(exchange.FuturesSymbols) != 2 || v.count(exchange.SpotPairs) != 0 || v.count(orders.Operation) != 1 {
			t.Errorf("want list and clock read before the request, have %v, %v", v.counts, err)
		}
	})
}

// TestGoroutinesThatWaitForOneReadingTakeIt checks that the second goroutine uses the reading of the first,
// and that one whose context ends stops waiting.
func TestGoroutinesThatWaitForOneReadingTakeIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := newVenue(t)
		client := openPipe(t, v)
		var group sync.WaitGroup
		for range 3 {
			group.Go(func() {
				if _, err := call(t.Context(), client, exchange.Request{Operation: exchange.SpotWallet}); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if have := v.count(exchange.FuturesTime); have != polling.ClockReads {
			t.Errorf("want one reading, have %d requests", have)
		}
		for _, g := range []gate{client.syncing, client.listing} {
			if err := g.enter(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for what, err := range map[string]error{"the clock": client.SyncClock(ctx), "the lists": client.RefreshSymbols(ctx),
			"a list": client.list(ctx, exchange.Spot, false)} {
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: want the end of the context, have %v", what, err)
			}
		}
	})
}

// TestQueuedRequestOrder checks that reads of the kill switch precede placements, and that viewers come last.
func TestQueuedRequestOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v, client := spent(t)
		queue(t,
			func(ctx context.Context) error {
				_, err := client.ForViewers().Do(ctx, exchange.Request{Operation: exchange.FuturesTickers})
				return err
			},
			func(ctx context.Context) error {
				_, err := call(ctx, client, exchange.Request{Operation: exchange.FuturesHealth})
				return err
			},
			func(ctx context.Context) error {
				_, err := place(ctx, client, exchange.Futures, market(exchange.Buy))
				return err
			},
			func(ctx context.Context) error {
				_, err := call(Urgent(ctx), client, exchange.Request{Operation: exchange.FuturesOpenPositions})
				return err
			},
		).Wait()
		want := []exchange.Operation{exchange.FuturesOpenPositions, exchange.FuturesPlace, exchange.FuturesHealth, exchange.FuturesTickers}
		if !slices.Equal(want, v.order) {
			t.Errorf("want %v, have %v", want, v.order)
		}
	})
	client := open(t, newVenue(t))
	for _, operation := range exchange.Operations() {
		_, err := client.ForViewers().Do(t.Context(), exchange.Request{Operation: operation, Symbol: "BTC-USDT"})
		if refused := err != nil && err.Error() == fmt.Sprintf("%s is not public and not available to viewers", operation); refused !=
			(operation.Signed() || operation.Changes()) {
			t.Errorf("%s for viewers: have %v", operation, err)
		}
	}
}

// TestAListIsReadAgainForAnUnknownSymbolWhenItIsHalfAMinuteOld also checks which unreadable rows name an
// unknown symbol.
func TestAListIsReadAgainForAnUnknownSymbolWhenItIsHalfAMinuteOld(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		age   time.Duration
		again bool
		want  int
	}{{relistAfter - 1, true, 0}, {relistAfter, true, 1}, {relistAfter, false, 0}, {time.Hour, false, 0}} {
		synctest.Test(t, func(t *testing.T) {
			v := newVenue(t)
			client := ready(t, openPipe(t, v))
			v.on(0)
			time.Sleep(c.age - client.symbols.age(exchange.Spot, time.Now()))
			if err := client.list(t.Context(), exchange.Spot, c.again); err != nil || v.count(exchange.SpotPairs) != c.want {
				t.Errorf("%s, again %t: want %d, have %d, %v", c.age, c.again, c.want, v.count(exchange.SpotPairs), err)
			}
		})
	}
	for _, c := range []struct {
		row  exchange.UnreadableRow
		want bool
	}{
		{exchange.UnreadableRow{UnknownSymbol: true, Symbol: "X"}, true}, {exchange.UnreadableRow{UnknownSymbol: true}, false},
		{exchange.UnreadableRow{Symbol: "X"}, false}, {exchange.UnreadableRow{}, false},
	} {
		if have := namesUnknown(&exchange.Answer{Unreadable: []exchange.UnreadableRow{{}, c.row}}); have != c.want {
			t.Errorf("%+v: want %t, have %t", c.row, c.want, have)
		}
	}
	if namesUnknown(&exchange.Answer{}) {
		t.Error("no row: want nothing unknown")
	}
}

// TestUnknownSymbolIsRequestedOnce checks that a venue whose answers are so slow that each list is old is
// asked twice, not forever.
func TestUnknownSymbolIsRequestedOnce(t *testing.T) {
	t.Parallel()
	rows := func(w http.ResponseWriter, _ *http.Request, answer []byte) {
		time.Sleep(relistAfter + time.Second)
		w.Write([]byte(strings.ReplaceAll(string(answer), "BTC-USDT", "NEW-USDT")))
	}
	for what, request := range map[string]exchange.Request{"rows": {Operation: exchange.FuturesOpenOrders},
		"one order": {Operation: exchange.FuturesOrder, OrderID: 7}} {
		synctest.Test(t, func(t *testing.T) {
			v := newVenue(t)
			client := ready(t, openPipe(t, v, func(c *Config) { c.Timeout = time.Minute }))
			v.on(request.Operation, rows, rows, rows, rows)
			_, err := call(t.Context(), client, request)
			kind(t, what, err, "malformed", "unknown symbol")
			lists := v.count(exchange.FuturesSymbols) + v.count(exchange.SpotPairs)
			if have := v.count(request.Operation); have != 2 || lists != 1 {
				t.Errorf("%s: want two requests and one list, have %d and %d", what, have, lists)
			}
		})
	}
}

// TestAnAnswerThatEndsEarlyIsUncertainForAPlacement also checks that a read is repeated.
func TestAnAnswerThatEndsEarlyIsUncertainForAPlacement(t *testing.T) {
	t.Parallel()
	half := func(w http.ResponseWriter, _ *http.Request, answer []byte) {
		w.Header().Set("Content-Length", fmt.Sprint(len(answer)))
		w.WriteHeader(http.StatusOK)
		w.Write(answer[:len(answer)/2])
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
		panic(http.ErrAbortHandler)
	}
	synctest.Test(t, func(t *testing.T) {
		v := newVenue(t)
		client := ready(t, openPipe(t, v))
		v.on(exchange.FuturesPlace, half)
		_, err := place(t.Context(), client, exchange.Futures, market(exchange.Buy))
		kind(t, "a placement", err, "uncertain", "eof")
		v.on(exchange.FuturesOpenOrders, half, half)
		if _, err = call(t.Context(), client, exchange.Request{Operation: exchange.FuturesOpenOrders}); err != nil || v.count(exchange.FuturesOpenOrders) != 3 {
			t.Errorf("a read: want it repeated, have %d, %v", v.count(exchange.FuturesOpenOrders), err)
		}
		v.on(exchange.FuturesOpenOrders, half, half)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			time.Sleep(50 * time.Millisecond)
			cancel()
		}()
		_, err = call(ctx, client, exchange.Request{Operation: exchange.FuturesOpenOrders})
		kind(t, "a caller that leaves during the pause", err, "unavailable", "eof")
	})
}

// TestTheLongestAnswerIsRead checks an answer of eight mebibytes, and one of a byte more.
func TestTheLongestAnswerIsRead(t *testing.T) {
	t.Parallel()
	v := newVenue(t)
	client := ready(t, open(t, v))
	for _, c := range []struct {
		length int
		want   string
	}{{maxBody, ""}, {maxBody + 1, "malformed"}} {
		v.on(exchange.FuturesHealth, func(w http.ResponseWriter, _ *http.Request, answer []byte) {
			w.Write(answer)
			w.Write([]byte(strings.Repeat(" ", c.length-len(answer))))
		})
		_, err := call(t.Context(), client, exchange.Request{Operation: exchange.FuturesHealth})
		kind(t, fmt.Sprint(c.length), err, c.want, "8 MiB")
	}
}

// TestTheHeadersOfARequest checks the user agent, and the content type of a body.
func TestTheHeadersOfARequest(t *testing.T) {
	t.Parallel()
	v := newVenue(t)
	client := ready(t, open(t, v))
	for operation, want := range map[exchange.Operation]string{exchange.FuturesPlace: "application/json", exchange.FuturesAccount: ""} {
		v.on(operation, func(w http.ResponseWriter, r *http.Request, answer []byte) {
			if r.Header.Get("User-Agent") != "botd" || r.Header.Get("Content-Type") != want {
				t.Errorf("%s: have %v", operation, r.Header)
			}
			w.Write(answer)
		})
		if _, err := client.Do(t.Context(), exchange.Request{Operation: operation, Symbol: "BTC-USDT", Order: withMarket(exchange.Futures)}); err != nil {
			t.Error(err)
		}
	}
}

func withMarket(of exchange.Market) exchange.NewOrder {
	order := market(exchange.Buy)
	order.Market = of
	return order
}

// TestAClientHasItsOwnTransport checks the default transport: HTTP/1.1, no proxy, and it reports whether
// anything was sent.
func TestAClientHasItsOwnTransport(t *testing.T) {
	t.Parallel()
	client, err := New(Config{BaseURL: "https://example.com"})
	if err != nil {
		t.Fatal(err)
	}
	transport, own := client.http.Transport.(*http.Transport)
	if !own || !client.traced || transport == http.DefaultTransport || transport.Proxy != nil || !transport.Protocols.HTTP1() || transport.Protocols.HTTP2() {
		t.Errorf("have %+v", client.http.Transport)
	}
}

// TestMarginLevelsAreSortedAndComplete checks that one unreadable level removes all levels of its symbol.
func TestMarginLevelsAreSortedAndComplete(t *testing.T) {
	t.Parallel()
	level := func(symbol string, low int64) exchange.SymbolBracket {
		return exchange.SymbolBracket{Symbol: symbol, Bracket: exchange.Bracket{Min: exchange.AmountOf(low), Max: exchange.AmountOf(low + 10)}}
	}
	brackets := bracketsOf(&exchange.Answer{Levels: exchange.FetchedOf([]exchange.SymbolBracket{level("A", 10), level("B", 0), level("A", 0)}),
		Unreadable: []exchange.UnreadableRow{{Symbol: "B"}}})
	if a := brackets["A"]; len(brackets) != 1 || len(a) != 2 || a[0].Min != exchange.AmountOf(0) || a[1].Min != exchange.AmountOf(10) {
		t.Errorf("have %+v", brackets)
	}
}
