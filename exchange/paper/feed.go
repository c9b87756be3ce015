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
	"botd/exchange/polling"
	"botd/exchange/sim"
)

// feed holds the known public data of one symbol.
type feed struct {
	asOfMS int64 // when the current data were requested; 0 before the first
	stale  bool  // the data are too old, and this has been reported
	err    error // error of the last request; nil if it succeeded

	tradeMS int64          // the newest trade processed
	seen    map[int64]bool // ids of the processed trades at that time

	fundingReadAt time.Time
}

// fresh reports whether the data may still be used.
func (f *feed) fresh(nowMS int64, maxAge time.Duration) bool {
	return f.asOfMS > 0 && nowMS-f.asOfMS <= maxAge.Milliseconds()
}

// errorSuffix returns the error of the last request as the end of a sentence.
func (f *feed) errorSuffix() string {
	if f.err == nil {
		return ""
	}
	return ": " + f.err.Error()
}

// staleness returns the report for data that are too old or never arrived.
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

// observation is the result of one round of requests for a symbol.
type observation struct {
	asOfMS  int64 // time before the first request was sent
	ticker  exchange.Ticker
	depth   exchange.Depth
	trades  []exchange.Trade
	funding *exchange.FundingRate // nil if it was not requested or not received
}

// Run feeds the market and advances its clock until the context ends.
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

// Poll requests the data of every fed symbol once, because a start needs prices before the first
// tick.
func (v *Venue) Poll(ctx context.Context) { v.pollAll(ctx) }

// pollAll requests the data of all symbols concurrently. A round takes at most half as long as data
// stay fresh, so that one symbol that hangs does not make the others stale.
func (v *Venue) pollAll(ctx context.Context) {
	limited, cancel := context.WithTimeout(ctx, v.config.MaxAge/polling.PollsInAge)
	defer cancel()
	var group sync.WaitGroup
	defer group.Wait()
	for _, key := range v.watched() {
		group.Go(func() {
			seen, err := v.ask(limited, key)
			if ctx.Err() == nil {
				v.observe(key, seen, err)
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

// ask requests a symbol's trades, order book and ticker, and from time to time its funding rate. All but
// the last are required.
func (v *Venue) ask(ctx context.Context, key exchange.SymbolKey) (observation, error) {
	operations := polling.Of(key.Market)
	seen := observation{asOfMS: v.config.Clock.ServerNowMS()}
	var group sync.WaitGroup
	var faults [4]error
	question := func(at int, operation exchange.Operation, limit int, receive func(*exchange.Answer)) {
		group.Go(func() {
			answer, err := v.config.Public.Do(ctx, exchange.Request{Operation: operation, Symbol: key.Name, Limit: limit})
			if faults[at] = err; err == nil {
				receive(&answer)
			}
		})
	}
	question(0, operations.Feed[0], 500, func(a *exchange.Answer) { seen.trades = a.Trades.Items() })
	question(1, operations.Feed[1], 100, func(a *exchange.Answer) { seen.depth = a.Depth })
	question(2, operations.Feed[2], 0, func(a *exchange.Answer) {
		if reported := a.Tickers.Items(); len(reported) == 1 {
			seen.ticker = reported[0]
		}
	})
	if v.fundingDue(key) {
		question(3, operations.Funding, 0, func(a *exchange.Answer) { seen.funding = &a.Funding })
	}
	group.Wait()
	return seen, cmp.Or(faults[0], faults[1], faults[2])
}

// fundingDue reports whether to request a funding rate now, at most once a minute.
func (v *Venue) fundingDue(key exchange.SymbolKey) bool {
	if polling.Of(key.Market).Funding == 0 {
		return false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	f, now := v.feeds[key], time.Now()
	if now.Sub(f.fundingReadAt) < polling.FundingMS*time.Millisecond {
		return false
	}
	f.fundingReadAt = now
	return true
}

// observe applies an observation, or its failure, to the market.
func (v *Venue) observe(key exchange.SymbolKey, seen observation, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	defer v.wakeClock()
	v.advance()
	f, now := v.feeds[key], v.exchange.NowMS()
	if err == nil {
		err = v.examine(&seen, now)
	}
	if err == nil && seen.asOfMS >= f.asOfMS {
		update := sim.FeedUpdate{AsOfMS: seen.asOfMS, Depth: &seen.depth, Trades: f.unseen(seen.trades, now-v.config.MaxAge.Milliseconds()),
			Last: seen.ticker.Last}
		err = v.exchange.Feed(key, update)
	}
	f.err = err
	if err != nil { // the previous data stay in use until they are too old
		if f.stale || f.asOfMS == 0 {
			v.config.OnStale(f.staleness(key))
		}
		return
	}
	if f.stale {
		v.config.Notify("paper.fresh", fmt.Sprintf("%s has data again after %s; trades older than the last %s fill nothing", key, age(now-f.asOfMS),
			v.config.MaxAge))
	}
	f.asOfMS, f.stale = max(f.asOfMS, seen.asOfMS), false
	v.config.OnStale(Staleness{Key: key})
	if seen.funding != nil {
		v.exchange.SetFunding(key.Name, []sim.FundingPoint{{TimeMS: seen.funding.NextMS, Rate: seen.funding.Rate}})
	}
	v.watchOpen()
	if unwritten := v.save(); unwritten != nil {
		v.config.Notify("paper.write_failed", unwritten.Error()) // the venue answers nothing before it is stored
	}
}

// examine refuses data that are too old or implausible.
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
		return fmt.Errorf("the venue's own times do not advance: the newest is %s old", age(nowMS-newest))
	case seen.ticker.Last <= 0:
		return errors.New("the ticker has no last price")
	case len(seen.depth.Bids) > 0 && len(seen.depth.Asks) > 0 && seen.depth.Bids[0].Price >= seen.depth.Asks[0].Price:
		return errors.New("the book is crossed: its best bid is not below its best ask")
	}
	return nil
}

// unseen returns the trades that have not been processed and are not older than a time, oldest
// first. It omits a trade that arrives after newer ones: this may miss a fill but never invents
// one.
func (f *feed) unseen(trades []exchange.Trade, sinceMS int64) []exchange.Trade {
	trades = slices.Clone(trades)
	slices.SortStableFunc(trades, func(a, b exchange.Trade) int { return cmp.Or(cmp.Compare(a.TimeMS, b.TimeMS), cmp.Compare(a.ID, b.ID)) })
	var fresh []exchange.Trade
	for _, trade := range trades {
		switch {
		case trade.TimeMS < f.tradeMS, trade.TimeMS == f.tradeMS && f.seen[trade.ID]:
			continue
		case trade.TimeMS > f.tradeMS:
			f.tradeMS, f.seen = trade.TimeMS, map[int64]bool{}
		}
		f.seen[trade.ID] = true
		if trade.TimeMS >= sinceMS && trade.Price > 0 && trade.Quantity > 0 {
			fresh = append(fresh, trade)
		}
	}
	return fresh
}

// nextExpiry returns the feed whose data expire next and the last time at which they are fresh, or
// a time far in the future if there is none.
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

// withdraw removes a symbol's quotes because its data are too old.
func (v *Venue) withdraw(key exchange.SymbolKey) {
	f := v.feeds[key]
	f.stale = true
	if err := v.exchange.Feed(key, sim.FeedUpdate{Depth: &exchange.Depth{}}); err != nil {
		panic("paper: " + err.Error()) // every symbol here is fed
	}
	v.config.OnStale(f.staleness(key))
	v.config.Notify("paper.stale", fmt.Sprintf("the venue's data of %s are older than %s%s: the symbol accepts and fills nothing until new data arrive",
		key, v.config.MaxAge, f.errorSuffix()))
}

// runClock processes due events: orders reaching the order book, funding payments, data becoming too old.
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

// passTime advances the exchange to the current time and returns the time until the next due event.
func (v *Venue) passTime() time.Duration {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.advance()
	if err := v.save(); err != nil {
		v.config.Notify("paper.write_failed", err.Error())
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

// wakeClock makes runClock check again for due events.
func (v *Venue) wakeClock() {
	select {
	case v.wake <- struct{}{}:
	default: // a wake-up is already pending
	}
}
