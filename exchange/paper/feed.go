package paper

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"botd/exchange"
	"botd/exchange/sim"
)

// feed is what is known of one symbol's public data.
type feed struct {
	asOfMS int64 // when the data in force were asked for; 0 before the first
	stale  bool  // that was too long ago, and it was said
	err    error // of the last question; nil when it was answered

	tradeMS int64          // the newest trade taken
	taken   map[int64]bool // ids of the trades taken at that moment

	fundingAsked time.Time
}

// fresh reports whether the data may still be used.
func (f *feed) fresh(nowMS int64, most time.Duration) bool {
	return f.asOfMS > 0 && nowMS-f.asOfMS <= most.Milliseconds()
}

// because is the last question's fault, for the end of a sentence.
func (f *feed) because() string {
	if f.err == nil {
		return ""
	}
	return ": " + f.err.Error()
}

// staleness tells that the data are too old, or never came.
func (f *feed) staleness(key exchange.SymbolKey) Staleness {
	s := Staleness{Key: key, Stale: true, SinceMS: f.asOfMS}
	if f.err != nil {
		s.Reason = f.err.Error()
	}
	return s
}

func age(ms int64) time.Duration {
	return (time.Duration(ms) * time.Millisecond).Round(100 * time.Millisecond)
}

// observation is what one round of questions about a symbol told.
type observation struct {
	asOfMS  int64 // before the first question went out
	ticker  exchange.Ticker
	depth   exchange.Depth
	trades  []exchange.Trade
	funding *exchange.FundingRate // nil when it was not asked for, or not told
}

// Run feeds the market and lets time pass, until the context ends.
func (v *Venue) Run(ctx context.Context) {
	var group sync.WaitGroup
	defer group.Wait()
	group.Go(func() { v.runClock(ctx) })
	ticker := time.NewTicker(v.config.PollEvery)
	defer ticker.Stop()
	for {
		v.pollAll(ctx)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// Poll asks once about every symbol that is fed: a start needs prices before the
// first tick.
func (v *Venue) Poll(ctx context.Context) { v.pollAll(ctx) }

// pollAll asks about all symbols at once. A round takes half as long as data are
// good for at most, so that one symbol that hangs lets no other grow too old.
func (v *Venue) pollAll(ctx context.Context) {
	limited, cancel := context.WithTimeout(ctx, v.config.MaxAge/2)
	defer cancel()
	var group sync.WaitGroup
	defer group.Wait()
	for _, key := range v.watched() {
		group.Go(func() {
			seen, err := v.ask(limited, key)
			if ctx.Err() == nil {
				v.take(key, seen, err)
			}
		})
	}
}

func (v *Venue) watched() []exchange.SymbolKey {
	v.mu.Lock()
	defer v.mu.Unlock()
	keys := make([]exchange.SymbolKey, 0, len(v.feeds))
	for key := range v.feeds {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, exchange.SymbolKey.Compare)
	return keys
}

// ask reads a symbol's trades, book and ticker, and its funding rate now and
// then. All but the last must be told.
func (v *Venue) ask(ctx context.Context, key exchange.SymbolKey) (observation, error) {
	trades, depth, ticker := exchange.FuturesTrades, exchange.FuturesDepth, exchange.FuturesTicker
	if key.Market == exchange.Spot {
		trades, depth, ticker = exchange.SpotTrades, exchange.SpotDepth, exchange.SpotTicker
	}
	seen := observation{asOfMS: v.config.Clock.ServerNowMS()}
	var group sync.WaitGroup
	var faults [4]error
	question := func(at int, operation exchange.Operation, limit int, take func(*exchange.Answer)) {
		group.Go(func() {
			answer, err := v.config.Public.Do(ctx, exchange.Request{Operation: operation, Symbol: key.Name, Limit: limit})
			if faults[at] = err; err == nil {
				take(&answer)
			}
		})
	}
	question(0, trades, 500, func(a *exchange.Answer) { seen.trades = a.Trades.Items() })
	question(1, depth, 100, func(a *exchange.Answer) { seen.depth = a.Depth })
	question(2, ticker, 0, func(a *exchange.Answer) {
		if told := a.Tickers.Items(); len(told) == 1 {
			seen.ticker = told[0]
		}
	})
	if v.fundingDue(key) {
		question(3, exchange.FuturesFundingRate, 0, func(a *exchange.Answer) { seen.funding = &a.Funding })
	}
	group.Wait()
	return seen, cmp.Or(faults[0], faults[1], faults[2])
}

// fundingDue reports whether to ask for a funding rate now, at most once a minute.
func (v *Venue) fundingDue(key exchange.SymbolKey) bool {
	if key.Market != exchange.Futures {
		return false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	f, now := v.feeds[key], time.Now()
	if now.Sub(f.fundingAsked) < fundingEvery {
		return false
	}
	f.fundingAsked = now
	return true
}

// take brings what was told, or that nothing was, into the market.
func (v *Venue) take(key exchange.SymbolKey, seen observation, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	defer v.wakeClock()
	v.advance()
	f, now := v.feeds[key], v.exchange.NowMS()
	if err == nil {
		err = v.examine(&seen, now)
	}
	if err == nil && seen.asOfMS >= f.asOfMS {
		told := sim.FeedUpdate{AsOfMS: seen.asOfMS, Depth: &seen.depth, Trades: f.unseen(seen.trades, now-v.config.MaxAge.Milliseconds()), Last: seen.ticker.Last}
		err = v.exchange.Feed(key, told)
	}
	f.err = err
	if err != nil { // the data before stay in force until they are too old
		if f.stale || f.asOfMS == 0 {
			v.config.OnStale(f.staleness(key))
		}
		return
	}
	if f.stale {
		v.config.Notify("paper.fresh", fmt.Sprintf("%s is told again after %s; what was traded before the last %s fills nothing", key, age(now-f.asOfMS), v.config.MaxAge))
	}
	f.asOfMS, f.stale = max(f.asOfMS, seen.asOfMS), false
	v.config.OnStale(Staleness{Key: key})
	if seen.funding != nil {
		v.exchange.SetFunding(key.Name, []sim.FundingPoint{{TimeMS: seen.funding.NextMS, Rate: seen.funding.Rate}})
	}
	v.watchOpen()
	if unwritten := v.keep(); unwritten != nil {
		v.config.Notify("paper.unwritten", unwritten.Error()) // nothing is answered before it is written
	}
}

// examine refuses data that are too old or can not be.
func (v *Venue) examine(seen *observation, nowMS int64) error {
	most := v.config.MaxAge.Milliseconds()
	newest := seen.ticker.CloseMS
	for i := range seen.trades {
		newest = max(newest, seen.trades[i].TimeMS)
	}
	switch {
	case nowMS-seen.asOfMS > most:
		return fmt.Errorf("the answers took %s", age(nowMS-seen.asOfMS))
	case newest > 0 && nowMS-newest > most:
		return fmt.Errorf("the venue's own times stand still: its newest is %s old", age(nowMS-newest))
	case seen.ticker.Last <= 0:
		return errors.New("the ticker has no last price")
	case len(seen.depth.Bids) > 0 && len(seen.depth.Asks) > 0 && seen.depth.Bids[0].Price >= seen.depth.Asks[0].Price:
		return errors.New("the book is crossed: its best bid is not below its best ask")
	}
	return nil
}

// unseen returns the trades not taken before and not older than a moment, oldest
// first. One that comes late, behind newer ones, is left out: a fill may be missed
// so, but none is invented.
func (f *feed) unseen(trades []exchange.Trade, sinceMS int64) []exchange.Trade {
	trades = slices.Clone(trades)
	slices.SortStableFunc(trades, func(a, b exchange.Trade) int { return cmp.Or(cmp.Compare(a.TimeMS, b.TimeMS), cmp.Compare(a.ID, b.ID)) })
	var fresh []exchange.Trade
	for _, trade := range trades {
		switch {
		case trade.TimeMS < f.tradeMS, trade.TimeMS == f.tradeMS && f.taken[trade.ID]:
			continue
		case trade.TimeMS > f.tradeMS:
			f.tradeMS, f.taken = trade.TimeMS, map[int64]bool{}
		}
		f.taken[trade.ID] = true
		if trade.TimeMS >= sinceMS && trade.Price > 0 && trade.Quantity > 0 {
			fresh = append(fresh, trade)
		}
	}
	return fresh
}

// nextExpiry returns the feed whose data are next too old, and the last moment at
// which they are good; far away when none is in force.
func (v *Venue) nextExpiry() (next exchange.SymbolKey, lastMS int64) {
	lastMS = math.MaxInt64
	for key, f := range v.feeds {
		if f.asOfMS == 0 || f.stale {
			continue
		}
		if at := f.asOfMS + v.config.MaxAge.Milliseconds(); at < lastMS || at == lastMS && key.Compare(next) < 0 {
			next, lastMS = key, at
		}
	}
	return next, lastMS
}

// withdraw takes a symbol's quotes away: its data are too old.
func (v *Venue) withdraw(key exchange.SymbolKey) {
	f := v.feeds[key]
	f.stale = true
	if err := v.exchange.Feed(key, sim.FeedUpdate{Depth: &exchange.Depth{}}); err != nil {
		panic("paper: " + err.Error()) // every symbol here is fed
	}
	v.config.OnStale(f.staleness(key))
	v.config.Notify("paper.stale", fmt.Sprintf("the venue's data of %s are older than %s%s: nothing is accepted or fills there until they come again", key, v.config.MaxAge, f.because()))
}

// runClock lets happen what is due: orders reaching the book, funding, data
// growing too old.
func (v *Venue) runClock(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-v.wake:
		case <-timer.C:
		}
		timer.Reset(v.passTime())
	}
}

// passTime brings the exchange to the present and returns how long until
// something is due.
func (v *Venue) passTime() time.Duration {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.advance()
	if err := v.keep(); err != nil {
		v.config.Notify("paper.unwritten", err.Error())
		return time.Second
	}
	_, nextMS := v.nextExpiry()
	nextMS = min(nextMS, math.MaxInt64-1) + 1
	if due, ok := v.exchange.NextMS(); ok {
		nextMS = min(nextMS, due)
	}
	wait := min(nextMS-v.exchange.NowMS(), time.Hour.Milliseconds())
	return max(time.Duration(wait)*time.Millisecond, time.Millisecond)
}

// wakeClock has runClock look again at what is due.
func (v *Venue) wakeClock() {
	select {
	case v.wake <- struct{}{}:
	default: // it has been told already
	}
}
