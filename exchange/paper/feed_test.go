package paper

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"botd/exchange"
	"botd/exchange/sim"
)

var etherFutures = exchange.SymbolKey{Market: exchange.Futures, Name: "ETH-USDT"}

// recorder records the requests that go to the venue.
type recorder struct {
	*venue
	guard    sync.Mutex
	requests []exchange.Request
}

func (r *recorder) Do(ctx context.Context, request exchange.Request) (exchange.Answer, error) {
	r.guard.Lock()
	r.requests = append(r.requests, request)
	r.guard.Unlock()
	return r.venue.Do(ctx, request)
}

func (r *recorder) asked(operation exchange.Operation) (count, limit int) {
	r.guard.Lock()
	defer r.guard.Unlock()
	for _, request := range r.requests {
		if request.Operation == operation {
			count, limit = count+1, request.Limit
		}
	}
	return count, limit
}

// silent makes a venue whose feed no goroutine drives.
func silent(t *testing.T, change func(c *Config)) (*Venue, error) {
	t.Helper()
	config := Config{Public: newVenue(), Clock: clock{}, Symbols: sim.DefaultSymbols(), Watch: []exchange.SymbolKey{btcFutures},
		Deposit: sim.DefaultAccount("")}
	if change != nil {
		change(&config)
	}
	return New(config)
}

func TestAVenueThatCannotWorkIsRefused(t *testing.T) {
	t.Parallel()
	if _, err := silent(t, func(c *Config) { c.State = []byte("{}") }); err == nil {
		t.Error("a state that is none is accepted")
	}
	for _, c := range []struct {
		name   string
		change func(c *Config)
		want   string
	}{
		{"the defaults", nil, ""},
		{"no public data", func(c *Config) { c.Public = nil }, "needs public data and a clock"},
		{"no clock", func(c *Config) { c.Clock = nil }, "needs public data and a clock"},
		{"a negative poll", func(c *Config) { c.PollEvery = -time.Second }, "max_age 10s is below the poll of every -1s"},
		{"polls as far apart as data are valid", func(c *Config) { c.PollEvery = 10 * time.Second }, ""},
		{"polls further apart", func(c *Config) { c.PollEvery = 10*time.Second + 1 }, "data would always be too old"},
		{"a short age", func(c *Config) { c.MaxAge = 999 * time.Millisecond }, "data would always be too old"},
		{"an unlisted symbol", func(c *Config) { c.Watch[0].Name = "XYZ-USDT" }, "the venue lists no futures symbol XYZ-USDT"},
		{"a full disk", func(c *Config) { c.Store = &bench{full: errors.New("disk full")} }, "save the paper account: disk full"},
	} {
		_, err := silent(t, c.change)
		if have := fmt.Sprint(err); (err == nil) != (c.want == "") || err != nil && !strings.Contains(have, c.want) {
			t.Errorf("%s: want %q, have %s", c.name, c.want, have)
		}
	}
}

// Data are valid for 10 s from their request.
func TestDataAreRefusedIfTheyAreOldOrImplausible(t *testing.T) {
	t.Parallel()
	v, err := silent(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	const now = 1_000_000
	for _, c := range []struct {
		name   string
		change func(o *observation)
		want   string
	}{
		{"new data", func(*observation) {}, ""},
		{"requested 10 s ago", func(o *observation) { o.asOfMS = now - 10_000 }, ""},
		{"requested longer ago", func(o *observation) { o.asOfMS = now - 10_150 }, "the answers took 10.2s"},
		{"times of 10 s ago", func(o *observation) { o.ticker.CloseMS, o.trades = now-10_000, nil }, ""},
		{"older times", func(o *observation) { o.ticker.CloseMS, o.trades = now-10_001, nil }, "the newest is 10s old"},
		{"older times but for a trade", func(o *observation) { o.ticker.CloseMS = now - 20_000 }, ""},
		{"older trades but for the ticker", func(o *observation) { o.trades[0].TimeMS = now - 20_000 }, ""},
		{"no times", func(o *observation) { o.ticker.CloseMS, o.trades = 0, nil }, ""},
		{"no price", func(o *observation) { o.ticker.Last = 0 }, "no last price"},
		{"the smallest price", func(o *observation) { o.ticker.Last = 1 }, ""},
		{"a locked book", func(o *observation) { o.depth.Bids[0].Price = o.depth.Asks[0].Price }, "the book is crossed"},
		{"a crossed book", func(o *observation) { o.depth.Bids[0].Price = o.depth.Asks[0].Price + 1 }, "the book is crossed"},
		{"no bids", func(o *observation) { o.depth.Bids = nil }, ""},
		{"no asks", func(o *observation) { o.depth.Asks = nil }, ""},
		{"an empty book", func(o *observation) { o.depth = exchange.Depth{} }, ""},
	} {
		o := observation{asOfMS: now, ticker: exchange.Ticker{Last: 50_000 * usd, CloseMS: now}, trades: []exchange.Trade{{ID: 1, TimeMS: now - 1}},
			depth: exchange.Depth{Bids: []exchange.Level{{Price: 49_999 * usd, Quantity: 1}}, Asks: []exchange.Level{{Price: 50_001 * usd, Quantity: 1}}}}
		c.change(&o)
		err := v.examine(&o, now)
		if have := fmt.Sprint(err); (err == nil) != (c.want == "") || err != nil && !strings.Contains(have, c.want) {
			t.Errorf("%s: want %q, have %s", c.name, c.want, have)
		}
	}
	for asOf, want := range map[int64]bool{0: false, 1: false, now - 10_001: false, now - 10_000: true, now: true} {
		f := feed{asOfMS: asOf}
		if have := f.fresh(now, 10*time.Second); have != want {
			t.Errorf("data as of %d at %d: want fresh %t, have %t", asOf, now, want, have)
		}
	}
	if f := (feed{asOfMS: 1}); !f.fresh(5, time.Second) || (&feed{}).fresh(5, time.Second) {
		t.Error("want data of the first millisecond fresh, and none without a request")
	}
}

// Each trade counts once, oldest first; one that arrives after newer ones does not count.
func TestTradesCountOnce(t *testing.T) {
	t.Parallel()
	f := feed{}
	made := func(id, atMS int64) exchange.Trade {
		return exchange.Trade{ID: id, TimeMS: atMS, Price: 1, Quantity: 1}
	}
	for _, c := range []struct {
		trades []exchange.Trade
		since  int64
		want   []int64
	}{
		{[]exchange.Trade{made(3, 20), made(1, 10), made(2, 20)}, 0, []int64{1, 2, 3}},
		{[]exchange.Trade{made(1, 10), made(2, 20), made(3, 20)}, 0, nil},
		{[]exchange.Trade{made(4, 20), made(3, 20), made(5, 19)}, 0, []int64{4}},
		{[]exchange.Trade{made(6, 30), made(7, 31)}, 31, []int64{7}}, // the bound counts, what is older does not
		{[]exchange.Trade{made(6, 30)}, 0, nil},
		{[]exchange.Trade{{ID: 8, TimeMS: 40, Price: 1}, {ID: 9, TimeMS: 40, Quantity: 1}, made(10, 40),
			{ID: 11, TimeMS: 40, Price: -1, Quantity: 1}}, 0, []int64{10}},
	} {
		var have []int64
		given := fmt.Sprint(c.trades)
		for _, trade := range f.unseen(c.trades, c.since) {
			have = append(have, trade.ID)
		}
		if fmt.Sprint(have) != fmt.Sprint(c.want) || fmt.Sprint(c.trades) != given {
			t.Errorf("%v since %d: want %v, have %v", c.trades, c.since, c.want, have)
		}
	}
}

func TestTheFeedThatExpiresFirstIsNext(t *testing.T) {
	t.Parallel()
	v, err := silent(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	other := exchange.SymbolKey{Market: exchange.Futures, Name: "AAA-USDT"}
	for _, c := range []struct {
		feeds  map[exchange.SymbolKey]*feed
		want   exchange.SymbolKey
		wantMS int64
	}{
		{map[exchange.SymbolKey]*feed{btcFutures: {}, etherFutures: {asOfMS: 5, stale: true}}, exchange.SymbolKey{}, 1<<63 - 1},
		{map[exchange.SymbolKey]*feed{btcFutures: {}, etherFutures: {asOfMS: 1}}, etherFutures, 10_001},
		{map[exchange.SymbolKey]*feed{btcFutures: {asOfMS: 6}, etherFutures: {asOfMS: 5}}, etherFutures, 10_005},
		{map[exchange.SymbolKey]*feed{btcFutures: {asOfMS: 5}, etherFutures: {asOfMS: 6}}, btcFutures, 10_005},
		{map[exchange.SymbolKey]*feed{btcFutures: {asOfMS: 5}, etherFutures: {asOfMS: 5}, other: {asOfMS: 5}}, other, 10_005},
	} {
		v.feeds = c.feeds
		for range 64 { // maps have no order, and small ones mostly that of insertion
			if key, lastMS := v.nextExpiry(); key != c.want || lastMS != c.wantMS {
				t.Fatalf("want %s at %d, have %s at %d", c.want, c.wantMS, key, lastMS)
			}
		}
	}
}

// Each round asks for 500 trades and 100 levels; the funding rate of a futures symbol is asked for once a minute.
func TestARoundAsksForWhatItNeeds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		public := &recorder{venue: newVenue()}
		spot := exchange.SymbolKey{Market: exchange.Spot, Name: "BTC-USDT"}
		v, err := silent(t, func(c *Config) { c.Public, c.Watch = public, []exchange.SymbolKey{btcFutures, spot} })
		if err != nil {
			t.Fatal(err)
		}
		for _, wait := range []time.Duration{0, time.Second, 59*time.Second - 1, 1} {
			pass(wait)
			v.Poll(t.Context())
		}
		for _, c := range []struct {
			operation    exchange.Operation
			count, limit int
		}{
			{exchange.FuturesTrades, 4, 500}, {exchange.FuturesDepth, 4, 100}, {exchange.FuturesTicker, 4, 0}, {exchange.FuturesFundingRate, 2, 0},
			{exchange.SpotTrades, 4, 500}, {exchange.SpotDepth, 4, 100}, {exchange.SpotTicker, 4, 0},
		} {
			if count, limit := public.asked(c.operation); count != c.count || limit != c.limit {
				t.Errorf("%s: want it %d times, for %d, have %d, for %d", c.operation, c.count, c.limit, count, limit)
			}
		}
	})
}

// failing fails one operation.
type failing struct {
	*venue
	operation exchange.Operation
}

func (f *failing) Do(ctx context.Context, request exchange.Request) (exchange.Answer, error) {
	if request.Operation == f.operation {
		return exchange.Answer{}, &exchange.Unavailable{Operation: request.Operation, Reason: "timeout"}
	}
	return f.venue.Do(ctx, request)
}

func TestTradesOrderBookAndTickerAreRequiredAndFundingIsNot(t *testing.T) {
	t.Parallel()
	for operation, fresh := range map[exchange.Operation]bool{
		exchange.FuturesTrades: false, exchange.FuturesDepth: false, exchange.FuturesTicker: false, exchange.FuturesFundingRate: true,
	} {
		var last Staleness
		v, err := silent(t, func(c *Config) {
			c.Public, c.OnStale = &failing{newVenue(), operation}, func(s Staleness) { last = s }
		})
		if err != nil {
			t.Fatal(err)
		}
		if v.Poll(t.Context()); last.Stale == fresh || last.Key != btcFutures || !fresh && !strings.Contains(last.Reason, "timeout") {
			t.Errorf("without %s: want fresh %t, have %+v", operation, fresh, last)
		}
	}
}

// An order is accepted at the end of its time to live, and not a millisecond later; a canceled call does nothing.
func TestAPlacementAtItsSendLimitIsDone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, newVenue(), nil)
		b.run(t)
		order := buyMarket
		order.Market, order.Symbol = exchange.Futures, "BTC-USDT"
		place := exchange.Request{Operation: exchange.FuturesPlace, Order: order}
		if _, err := b.DoBefore(t.Context(), place, exchange.SendLimit{NotAfterMS: clock{}.ServerNowMS()}); err != nil {
			t.Errorf("at its limit: %v", err)
		}
		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := b.Do(canceled, place); err == nil || !strings.Contains(err.Error(), "not sent: the call was canceled") || !errors.Is(err,
			context.Canceled) {
			t.Errorf("a canceled call: want it not sent, have %v", err)
		}
		pass(10 * time.Millisecond)
		if b.money().Fees.String() != "2.50005" { // of one order: 0.05 % of 0.1 at 50001
			t.Errorf("want one order done, have fees of %s", b.money().Fees)
		}
	})
}

// The clock alone, without another answer of the venue, reports data that have become too old.
func TestTheEndOfDataIsReportedByTheClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, newVenue(), nil)
		last := func() Staleness { b.mu.Lock(); defer b.mu.Unlock(); return b.stale }
		asOf := clock{}.ServerNowMS()
		b.Poll(t.Context())
		pass(10 * time.Second)
		b.passTime()
		if last().Stale {
			t.Errorf("after 10 s: want fresh, have %+v", last())
		}
		pass(time.Millisecond)
		if wait := b.passTime(); wait != time.Hour {
			t.Errorf("nothing is due: want an hour, have %s", wait)
		}
		if have := last(); have != (Staleness{Key: btcFutures, Stale: true, SinceMS: asOf}) || b.heard("paper.stale") != 1 {
			t.Errorf("later: want it stale since its request, have %+v", have)
		}
		pass(1_999 * time.Millisecond)
		if _, err := b.tryPlace(buyMarket); err == nil || !strings.Contains(err.Error(), "are 12s old, more than max_age 10s") {
			t.Errorf("a placement: want it refused for data of 12 s, have %v", err)
		}
	})
}

// A restored account's position and orders are fed, although nothing else watches their symbols.
func TestWhatIsOpenIsFedAfterARestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		first := newBench(t, newVenue(), nil)
		spot := exchange.SymbolKey{Market: exchange.Spot, Name: "BTC-USDT"}
		first.Watch(etherFutures)
		first.Watch(spot)
		first.run(t)
		market, limit := buyMarket, buyLimit
		market.Market, market.Symbol, market.Quantity = exchange.Futures, "ETH-USDT", 1
		limit.Market, limit.Symbol = exchange.Spot, "BTC-USDT"
		for operation, order := range map[exchange.Operation]exchange.NewOrder{exchange.FuturesPlace: market, exchange.SpotPlace: limit} {
			if _, err := first.Do(t.Context(), exchange.Request{Operation: operation, Order: order}); err != nil {
				t.Fatalf("%s: %v", operation, err)
			}
		}
		pass(2 * time.Second)
		second, err := silent(t, func(c *Config) { c.State, c.Watch = first.stored(), nil })
		if err != nil {
			t.Fatal(err)
		}
		if have := fmt.Sprint(second.watched()); have != fmt.Sprint([]exchange.SymbolKey{spot,
			etherFutures}) && have != fmt.Sprint([]exchange.SymbolKey{etherFutures, spot}) {
			t.Errorf("want the spot order's and the position's symbol fed, have %s", have)
		}
	})
}

// Payments are due at each eighth hour. The account is left a second after midnight.
func TestMissedPaymentsAreCounted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		away time.Duration
		want string
	}{{7 * time.Hour, ""}, {8 * time.Hour, "BTC-USDT: 1 funding payments"}, {25 * time.Hour, "BTC-USDT: 3 funding payments"}} {
		synctest.Test(t, func(t *testing.T) { // it begins at midnight
			first := newBench(t, newVenue(), nil)
			first.Poll(t.Context())
			first.place(t, buyMarket)
			pass(time.Second)
			first.passTime()
			state := first.stored()
			pass(c.away)
			var heard string
			_, err := silent(t, func(config *Config) {
				config.State, config.Notify = state, func(event, text string) { heard = strings.TrimPrefix(event, "paper.funding_missed") + text }
			})
			if err != nil || !strings.HasPrefix(heard, c.want) || (heard == "") != (c.want == "") {
				t.Errorf("%s: want %q, have %q, %v", c.away, c.want, heard, err)
			}
		})
	}
}
