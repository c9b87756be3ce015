package paper

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"botd/exchange"
	"botd/exchange/sim"
)

// notices records what a venue reports to users.
type notices struct {
	mu  sync.Mutex // guards all
	all []string
}

func (n *notices) add(event, text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(n.all, event+": "+text)
}

func (n *notices) drain() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	taken := n.all
	n.all = nil
	return taken
}

// TestNoticesSayHowOldTheDataAreAndWhy checks the texts at both ends of a gap, with a cause and without one.
func TestNoticesSayHowOldTheDataAreAndWhy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var heard notices
		public := newVenue()
		v, err := silent(t, func(c *Config) { c.Public, c.Notify = public, heard.add })
		if err != nil {
			t.Fatal(err)
		}
		want := func(when string, lines ...string) {
			t.Helper()
			if have := heard.drain(); !slices.Equal(have, lines) {
				t.Errorf("%s: want %q, have %q", when, lines, have)
			}
		}
		v.Poll(t.Context())
		pass(10*time.Second + time.Millisecond)
		v.passTime()
		want("without a cause", "paper.stale: the venue's data of futures BTC-USDT are older than 10s: "+
			"the symbol accepts and fills nothing until new data arrive")
		public.fail(&exchange.Unavailable{Operation: exchange.FuturesTrades, Reason: "timeout"})
		v.Poll(t.Context())
		want("a fault while the data are too old")
		public.fail(nil)
		pass(2_499 * time.Millisecond)
		v.Poll(t.Context())
		want("12.5 s after the last request", "paper.fresh: futures BTC-USDT has data again after 12.5s; trades older than the last 10s fill nothing")
		v.Poll(t.Context())
		want("fresh already")
		public.fail(&exchange.Unavailable{Operation: exchange.FuturesTrades, Reason: "timeout"})
		v.Poll(t.Context())
		pass(11 * time.Second)
		v.passTime()
		want("with its cause", "paper.stale: the venue's data of futures BTC-USDT are older than 10s: futures_trades unavailable: timeout: "+
			"the symbol accepts and fills nothing until new data arrive")
		_, err = v.Do(t.Context(), exchange.Request{Operation: exchange.FuturesPlace, Order: exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT",
			Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: btc}})
		if words := "futures_place unavailable: not sent: the venue's data of futures BTC-USDT are 11s old, more than max_age 10s: " +
			"futures_trades unavailable: timeout"; err == nil || err.Error() != words {
			t.Errorf("a placement: want %q, have %v", words, err)
		}
	})
}

// TestAnAnswerThatWasOvertakenChangesNothing takes the answer to an older request after a newer one.
func TestAnAnswerThatWasOvertakenChangesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pass(time.Minute)
		v, err := silent(t, nil)
		if err != nil {
			t.Fatal(err)
		}
		now := clock{}.ServerNowMS()
		priced := func(asOfMS int64, price exchange.Price) observation {
			return observation{asOfMS: asOfMS, ticker: exchange.Ticker{Last: price, CloseMS: now}, depth: exchange.Depth{
				Bids: []exchange.Level{{Price: price - usd, Quantity: btc}}, Asks: []exchange.Level{{Price: price + usd, Quantity: btc}}}}
		}
		entry := func() string {
			order := exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: btc / 10}
			if _, err := v.Do(t.Context(), exchange.Request{Operation: exchange.FuturesPlace, Order: order}); err != nil {
				t.Fatal(err)
			}
			return v.positions()[0].EntryPrice.String()
		}
		v.observe(btcFutures, priced(now-1, 50_000*usd), nil)
		v.observe(btcFutures, priced(now-2, 40_000*usd), nil)
		if have := entry(); have != "50001" || v.feeds[btcFutures].asOfMS != now-1 {
			t.Errorf("want a purchase at 50001, data of %d, have %s, %d", now-1, have, v.feeds[btcFutures].asOfMS)
		}
		v.observe(btcFutures, priced(now-1, 60_000*usd), nil) // of the same millisecond: the later one counts
		if have := entry(); have != "55001" {
			t.Errorf("want a second purchase at 60001, have an entry of %s", have)
		}
	})
}

// hanging answers one symbol's requests only when their context ends.
type hanging struct {
	*venue
	symbol string
}

func (h *hanging) Do(ctx context.Context, request exchange.Request) (exchange.Answer, error) {
	if request.Symbol == h.symbol {
		<-ctx.Done()
		return exchange.Answer{}, ctx.Err()
	}
	return h.venue.Do(ctx, request)
}

// TestASymbolThatHangsDoesNotMakeTheOthersStale counts the rounds of the other symbol. A round takes 5 s at most, half of max_age.
func TestASymbolThatHangsDoesNotMakeTheOthersStale(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var heard notices
		public := &hanging{newVenue(), "ETH-USDT"}
		v, err := silent(t, func(c *Config) {
			c.Public, c.Watch, c.Notify = public, []exchange.SymbolKey{btcFutures, etherFutures}, heard.add
		})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		v.Poll(t.Context())
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("want the round ended after 5 s, have %s", took)
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		v.Run(ctx)
		if have := heard.drain(); len(have) != 0 {
			t.Errorf("want nothing stale that was fresh, have %q", have)
		}
		if rounds := public.asked[exchange.FuturesTicker]; rounds < 12 || rounds > 14 {
			t.Errorf("want a round every 5 s of 65, have %d", rounds)
		}
	})
}

// TestTheFeedPollsAtItsInterval counts the rounds of ten seconds.
func TestTheFeedPollsAtItsInterval(t *testing.T) {
	t.Parallel()
	for every, want := range map[time.Duration]int{0: 10, 250 * time.Millisecond: 40} {
		synctest.Test(t, func(t *testing.T) {
			public := newVenue()
			v, err := silent(t, func(c *Config) { c.Public, c.PollEvery = public, every })
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithTimeout(t.Context(), 10*time.Second-time.Millisecond)
			defer stop()
			v.Run(ctx)
			if have := public.asked[exchange.FuturesTicker]; have != want {
				t.Errorf("every %s: want %d rounds, have %d", every, want, have)
			}
		})
	}
}

// TestTheClockWakesForWhatIsDueNext covers an order on its way to the order book, data that expire, and a disk that is full.
func TestTheClockWakesForWhatIsDueNext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, newVenue(), nil)
		if wait := b.passTime(); wait != time.Hour {
			t.Errorf("nothing is due: want an hour, have %s", wait)
		}
		b.Poll(t.Context())
		if wait := b.passTime(); wait != 10_001*time.Millisecond {
			t.Errorf("data of now: want the first millisecond in which they are too old, have %s", wait)
		}
		id := b.place(t, buyMarket)
		if wait := b.passTime(); wait != 5*time.Millisecond {
			t.Errorf("an order on its way: want the delay of 5 ms, have %s", wait)
		}
		pass(5 * time.Millisecond)
		b.passTime()
		b.want(t, id, exchange.StatusFilled, btc/10)
		b.disk(errors.New("disk full"))
		if _, err := b.tryPlace(buyLimit); err == nil {
			t.Error("a full disk: want no answer")
		}
		if wait := b.passTime(); wait != time.Second || b.heard("paper.write_failed") != 1 {
			t.Errorf("a full disk: want it tried again after a second and reported, have %s, %d reports", wait, b.heard("paper.write_failed"))
		}
		b.Poll(t.Context())
		if b.heard("paper.write_failed") != 2 {
			t.Errorf("new data: want it reported, have %d reports", b.heard("paper.write_failed"))
		}
	})
}

// numbered is a store that records what it is asked to store.
type numbered struct {
	changes    []uint64
	reads      int
	partOnly   bool
	unexpected string
}

func (s *numbered) Save(change uint64, source func(bool) ([]byte, []byte, uint64, error)) error {
	s.changes = append(s.changes, change)
	part, snapshot, newest, err := source(!s.partOnly)
	if newest != change || len(part) == 0 || (len(snapshot) == 0) != s.partOnly {
		s.unexpected = fmt.Sprintf("%d of %d: %d bytes of changes, %d of a snapshot", change, newest, len(part), len(snapshot))
	}
	s.reads++
	return err
}

// TestTheStoreIsGivenEachChangeOnce places an order. Reads change nothing.
func TestTheStoreIsGivenEachChangeOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &numbered{}
		v, err := silent(t, func(c *Config) { c.Store = store })
		if err != nil {
			t.Fatal(err)
		}
		v.Poll(t.Context())
		created := len(store.changes)
		if created != 1 {
			t.Fatalf("want the new account stored once, have %v", store.changes)
		}
		for range 3 {
			if _, err := v.Do(t.Context(), exchange.Request{Operation: exchange.FuturesAccount}); err != nil {
				t.Fatal(err)
			}
		}
		store.partOnly = true
		order := buyLimit
		order.Market, order.Symbol = exchange.Futures, "BTC-USDT"
		for range 2 {
			if _, err := v.Do(t.Context(), exchange.Request{Operation: exchange.FuturesPlace, Order: order}); err != nil {
				t.Fatal(err)
			}
		}
		if len(store.changes) != 3 || !slices.IsSorted(store.changes) || len(slices.Compact(slices.Clone(store.changes))) != 3 || store.unexpected != "" {
			t.Errorf("want the account and two orders stored, have %v, %s", store.changes, store.unexpected)
		}
	})
}

// TestAnAccountThatIsNotWrittenIsNotAnswered covers an order that was placed, one that was refused, and a read, while the disk is full.
func TestAnAccountThatIsNotWrittenIsNotAnswered(t *testing.T) {
	t.Parallel()
	full := errors.New("disk full")
	for name, c := range map[string]struct {
		operation exchange.Operation
		quantity  exchange.Quantity
		kind      string
	}{
		"an order":        {exchange.FuturesPlace, btc / 10, "uncertain"},
		"a refused order": {exchange.FuturesPlace, btc * 1_000_000, "unavailable"},
		"a read":          {exchange.FuturesOpenOrders, 0, "unavailable"},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, newVenue(), nil)
			b.Poll(t.Context())
			b.disk(full)
			if _, err := b.tryPlace(buyLimit); exchange.ErrorKind(err) != "uncertain" || !errors.Is(err, full) { // it leaves the account unwritten
				t.Fatalf("have %v", err)
			}
			order := buyLimit
			order.Market, order.Symbol, order.Quantity = exchange.Futures, "BTC-USDT", c.quantity
			_, err := b.Do(t.Context(), exchange.Request{Operation: c.operation, Order: order})
			if exchange.ErrorKind(err) != c.kind || !strings.Contains(err.Error(), "the paper account could not be saved") || !errors.Is(err, full) {
				t.Errorf("%s: want %s, have %v", name, c.kind, err)
			}
		})
	}
}

// TestPaymentsAreMissedByTheSymbolsInterval restores a position on a symbol without funding, and one whose payments are four-hourly.
func TestPaymentsAreMissedByTheSymbolsInterval(t *testing.T) {
	t.Parallel()
	for hours, want := range map[int]int{0: 0, 4: 2, 8: 1} {
		synctest.Test(t, func(t *testing.T) { // it begins at midnight
			symbols := sim.DefaultSymbols()
			symbol, _ := exchange.FindSymbol(symbols, exchange.Futures, "BTC-USDT")
			symbol.FundingIntervalHours = hours
			store := &bench{}
			var heard notices
			public := newVenue()
			change := func(c *Config) { c.Public, c.Symbols, c.Store, c.Notify = public, symbols, store, heard.add }
			first, err := silent(t, change)
			if err != nil {
				t.Fatal(err)
			}
			first.Poll(t.Context())
			order := buyMarket
			order.Market, order.Symbol = exchange.Futures, "BTC-USDT"
			if _, err := first.Do(t.Context(), exchange.Request{Operation: exchange.FuturesPlace, Order: order}); err != nil {
				t.Fatal(err)
			}
			pass(8 * time.Hour)
			if _, err := silent(t, func(c *Config) { change(c); c.State = store.stored() }); err != nil {
				t.Fatal(err)
			}
			words := []string{fmt.Sprintf("paper.funding_missed: BTC-USDT: %d funding payments were due while botd was not running; "+
				"their rates are unknown and not charged", want)}
			if have := heard.drain(); want == 0 && len(have) != 0 || want > 0 && !slices.Equal(have, words) {
				t.Errorf("every %d hours: want %q, have %q", hours, words, have)
			}
		})
	}
}

// TestAnAnswerIsJudgedByTheTimeOfItsArrival takes an answer to a request of eleven seconds ago, while nothing else moves the clock.
func TestAnAnswerIsJudgedByTheTimeOfItsArrival(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var last Staleness
		v, err := silent(t, func(c *Config) { c.OnStale = func(s Staleness) { last = s } })
		if err != nil {
			t.Fatal(err)
		}
		asked := clock{}.ServerNowMS()
		pass(11 * time.Second)
		v.observe(btcFutures, observation{asOfMS: asked, ticker: exchange.Ticker{Last: 50_000 * usd}}, nil)
		if !last.Stale || last.Reason != "the answers took 11s" || v.feeds[btcFutures].asOfMS != 0 {
			t.Errorf("want it refused for its age, have %+v", last)
		}
	})
}

// TestSymbolsAreAskedForInTheirOrder watches every symbol of both markets, the last one first.
func TestSymbolsAreAskedForInTheirOrder(t *testing.T) {
	t.Parallel()
	var keys []exchange.SymbolKey
	for _, symbol := range sim.DefaultSymbols() {
		keys = append([]exchange.SymbolKey{symbol.Key()}, keys...)
	}
	v, err := silent(t, func(c *Config) { c.Watch = keys })
	if err != nil {
		t.Fatal(err)
	}
	if have := v.watched(); len(have) != len(keys) || !slices.IsSortedFunc(have, exchange.SymbolKey.Compare) {
		t.Errorf("want %d symbols in order, have %v", len(keys), have)
	}
}

// TestAnOrderThatReachesTheOrderBookBeforeTheDataExpireFills reads the order long after both, while nothing else moves the clock.
func TestAnOrderThatReachesTheOrderBookBeforeTheDataExpireFills(t *testing.T) {
	t.Parallel()
	for before, want := range map[time.Duration]exchange.OrderStatus{6 * time.Millisecond: exchange.StatusFilled,
		4 * time.Millisecond: exchange.StatusCanceled} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, newVenue(), nil)
			b.Poll(t.Context())
			pass(10*time.Second - before)
			id := b.place(t, buyMarket) // on its way for 5 ms
			pass(time.Second)
			b.want(t, id, want, map[bool]exchange.Quantity{true: btc / 10}[want == exchange.StatusFilled])
		})
	}
}

func TestASymbolThatTheVenueLacksIsNotWatched(t *testing.T) {
	t.Parallel()
	v, err := silent(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	v.feeds[btcFutures].asOfMS = 7
	for _, key := range []exchange.SymbolKey{{Market: exchange.Futures, Name: "XYZ-USDT"}, btcFutures, etherFutures} {
		v.Watch(key)
	}
	if have := v.watched(); !slices.Equal(have, []exchange.SymbolKey{btcFutures, etherFutures}) || v.feeds[btcFutures].asOfMS != 7 {
		t.Errorf("want the listed symbols, and what is known of the first one kept, have %v, %+v", have, v.feeds[btcFutures])
	}
}
