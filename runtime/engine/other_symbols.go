package engine

import (
	"fmt"
	"maps"
	"slices"

	"botd/exchange"
	"botd/strategy"
)

// readOthers requests the candles of the other symbols that a strategy reads, instead of those requested before. In a backtest they already exist.
func (r *roster) readOthers(leg *leg) error {
	if r.config.Feed {
		leg.view.Others = leg.config.Others
		return nil
	}
	if len(leg.config.Others) > 0 && !r.config.Offload && !r.config.Rehearse {
		return fmt.Errorf("strategy %s reads candles of other symbols: it needs a worker, or a backtest that feeds them", leg.config.Name)
	}
	before := leg.others
	leg.others = nil
	for _, other := range leg.config.Others {
		s := r.market.seriesOf(other.Symbol.Key(), leg.config.Interval)
		s.symbol, s.warmup = other.Symbol, max(s.warmup, leg.config.Strategy.Warmup())
		if !slices.Contains(s.readers, leg) {
			s.readers = append(s.readers, leg)
		}
		if s.pollMS == never && !s.asking {
			s.pollMS = r.nowMS
		}
		leg.others = append(leg.others, s)
	}
	for _, s := range before {
		if !slices.Contains(leg.others, s) {
			r.unread(s, leg)
		}
	}
	return nil
}

// unread ends a strategy's use of a series, and the series if no other strategy uses it.
func (r *roster) unread(s *series, reader *leg) {
	s.readers = slices.DeleteFunc(s.readers, func(other *leg) bool { return other == reader })
	r.endSeries(s)
}

// endSeries ends a series that no strategy needs.
func (r *roster) endSeries(s *series) {
	if len(s.legs)+len(s.readers) == 0 {
		r.market.series = slices.DeleteFunc(r.market.series, func(other *series) bool { return other == s })
		maps.DeleteFunc(r.calls, func(_ int64, p pendingCall) bool { return p.kind == callCandles && p.series == s })
	}
}

// reached returns how many of a strategy's own candles can be passed to it: those that the other symbols
// it reads have reached too. Candles close by the clock even without trades: a missing one is late, or
// its exchange has stalled; a backtest has all of them.
func (leg *leg) reached() int {
	end := leg.series.end
	for _, s := range leg.others {
		newest := int64(-1)
		if s.end > 0 {
			newest = s.candles.OpenMS[s.end-1]
		}
		for end > 0 && leg.series.candles.OpenMS[end-1] > newest {
			end--
		}
	}
	return end
}

// lacking returns the first of the other symbols with fewer known candles than the strategy needs,
// or nil.
func (leg *leg) lacking() *exchange.Symbol {
	for _, s := range leg.others {
		if s.end < leg.config.Strategy.Warmup() {
			return s.symbol
		}
	}
	return nil
}

// awaited names the other symbol whose candle a strategy awaits; empty for none.
func (leg *leg) awaited() string {
	if leg.reached() == leg.series.end {
		return ""
	}
	for _, s := range leg.others {
		if s.end == 0 || s.candles.OpenMS[s.end-1] < leg.series.candles.OpenMS[leg.series.end-1] {
			return "it waits for the newest candle of " + s.key.String() + ", which it also reads"
		}
	}
	return ""
}

// catchUp passes, in a preview, the candles that all other symbols have reached to the strategies that
// read them.
func (t *tick) catchUp(s *series) {
	for _, leg := range slices.Concat(s.legs, s.readers) {
		if len(leg.others) == 0 {
			continue
		}
		leg.view.Others = leg.othersNow()
		for end := leg.reached(); leg.schedule.seen < end; {
			t.candle(leg, leg.series.candles, leg.schedule.seen)
			if leg.failure.why != "" {
				break
			}
		}
	}
}

// othersNow returns the currently known candles of the other symbols. They are never modified.
func (leg *leg) othersNow() (all []strategy.Other) {
	for _, s := range leg.others {
		all = append(all, strategy.Other{Symbol: s.symbol, Candles: s.candles.Slice(0, s.end)})
	}
	return all
}
