package engine

import (
	"fmt"
	"slices"
	"time"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/account"
)

// Bounds of polling.
const (
	keepCandles   = 4_096 // per series, at least the warm-up
	pollAgainMS   = 1_000 // a candle that should have closed is missing
	pollBackoffMS = 5_000 // a poll failed
)

// stalledAfter is the maximum age of the newest closed candle, in intervals. Candles close by the clock
// even without trades, so at this age the next candle has been missing for a whole interval. An
// unchanged price proves nothing.
const stalledAfter = 2

// series are the closed candles of one symbol and interval, shared by all strategies on it and by
// strategies on other symbols that read it.
type series struct {
	key       exchange.SymbolKey
	interval  exchange.Interval
	symbol    *exchange.Symbol
	candles   *exchange.Candles
	end       int // closed candles taken
	legs      []*leg
	readers   []*leg // strategies on other symbols
	warmup    int
	pollMS    int64 // time of the next request (live)
	asking    bool
	price     exchange.Price // last price before the candles of the newest answer, with its time
	priceAtMS int64
	begun     bool   // the first answer was taken
	stalled   bool   // answers arrive, but their newest closed candle is too old
	faultMS   int64  // time of the first of the consecutive failed requests; 0 for none
	fault     string // error of the last of them
}

// seriesOn returns the series of a symbol.
func (m *market) seriesOn(key exchange.SymbolKey) []*series {
	from, _ := slices.BinarySearchFunc(m.series, key, func(s *series, k exchange.SymbolKey) int { return s.key.Compare(k) })
	to := from
	for to < len(m.series) && m.series[to].key == key {
		to++
	}
	return m.series[from:to]
}

func (m *market) seriesOf(key exchange.SymbolKey, interval exchange.Interval) *series {
	compare := func(s *series) int {
		if c := s.key.Compare(key); c != 0 {
			return c
		}
		return int(s.interval - interval)
	}
	i, found := slices.BinarySearchFunc(m.series, struct{}{}, func(s *series, _ struct{}) int { return compare(s) })
	if !found {
		m.series = slices.Insert(m.series, i, &series{key: key, interval: interval, pollMS: never, candles: &exchange.Candles{Interval: interval}})
	}
	return m.series[i]
}

// state returns its symbol's state, or nil if no strategy trades it.
func (s *series) state() *reconcile.SymbolState {
	if len(s.legs) == 0 {
		return nil
	}
	return s.legs[0].symbol
}

// decides reports whether a strategy decides on the close of these candles, on this symbol or another one. A strategy with its own schedule decides
// at its scheduled times, and a failed or removed strategy does not decide.
func (s *series) decides() bool {
	waits := func(leg *leg) bool { return leg.config.Schedule == nil && leg.failure.why == "" && !leg.config.Removed }
	return slices.ContainsFunc(s.legs, waits) || slices.ContainsFunc(s.readers, waits)
}

// trim limits the number of stored candles.
func (s *series) trim() {
	keep := max(keepCandles, s.warmup+1)
	if s.end < 2*keep {
		return
	}
	fresh := &exchange.Candles{Interval: s.interval}
	for i := s.end - keep; i < s.end; i++ {
		fresh.Append(s.candles.At(i))
	}
	s.candles, s.end = fresh, keep
}

// stale reports whether the candles have not been read for so long, or are so old by the venue's own
// times, that this is a declared state: then a strategy based on them does not decide.
func (s *series) stale(nowMS int64) bool {
	return s.stalled || s.faultMS != 0 && nowMS-s.faultMS > blindAfterMS
}

// failed records a failed request.
func (s *series) failed(nowMS int64, err error) {
	if s.faultMS == 0 {
		s.faultMS = nowMS
	}
	if s.fault = "the answer contained no candles"; err != nil {
		s.fault = errorText(err)
	}
}

// standstill describes the age of the newest candle.
func (s *series) standstill(nowMS int64) string {
	return fmt.Sprintf(
		"candles of %s have stalled: the exchange answers, but its newest candle closed %s ago",
		s.interval,
		(time.Duration(nowMS-s.candles.CloseMS(s.end-1)) * time.Millisecond).Round(time.Second),
	)
}

// degraded returns the declared state of a stale series.
func (s *series) degraded(nowMS int64) Degraded {
	d := Degraded{
		State:   "stale",
		Scope:   account.Scope{Symbol: s.key},
		SinceMS: s.faultMS,
		Cause:   "candles of " + s.interval.String() + " cannot be read: " + s.fault,
		Remedy: "ends with the first answer, requested every few seconds; " +
			"meanwhile strategies keep their last decision, stops stay on the exchange",
	}
	if s.stalled && s.faultMS == 0 {
		d.SinceMS, d.Cause = s.candles.CloseMS(s.end-1), s.standstill(nowMS)
		d.Remedy = "ends with the next closed candle, requested every few seconds; " +
			"meanwhile strategies keep their last decision, prices are as old as the exchange's own times, stops stay on the exchange"
	}
	return d
}

// watchStalled reports, after an answer, that the venue's candles have stalled, or move again.
func (m *market) watchStalled(s *series) {
	stalled := s.end > 0 && m.nowMS > s.candles.CloseMS(s.end-1)+stalledAfter*int64(s.interval)+m.config.CloseLagMS
	if stalled == s.stalled {
		return
	}
	s.stalled = stalled
	text := "candles of " + s.interval.String()
	if stalled {
		text = s.standstill(m.nowMS)
	}
	m.note("", s.symbol, NoteStalled{text, !stalled})
}
