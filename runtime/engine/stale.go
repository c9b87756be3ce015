package engine

import (
	"fmt"
	"time"

	"botd/exchange"
	"botd/reconcile/account"
)

// frozenAfter is how many intervals old the newest closed candle may be. Candles
// close by the clock also where nothing is traded: one that should have followed it
// is missing for a whole interval then. A price that stays the same proves nothing.
const frozenAfter = 2

// stale reports whether the candles could not be read for so long, or are so old by
// the venue's own times, that it is a state: a strategy that decides by them does
// not decide.
func (s *series) stale(nowMS int64) bool {
	return s.frozen || s.faultMS != 0 && nowMS-s.faultMS > blindAfterMS
}

// failed notes a question that was not answered.
func (s *series) failed(nowMS int64, err error) {
	if s.faultMS == 0 {
		s.faultMS = nowMS
	}
	if s.fault = "the answer held none"; err != nil {
		s.fault = errorText(err)
	}
}

// watchFrozen looks, after an answer, whether the venue's candles go on, and tells
// when they do not, and when they do again.
func (e *market) watchFrozen(s *series) {
	frozen := s.end > 0 && e.nowMS > s.candles.CloseMS(s.end-1)+frozenAfter*int64(s.interval)+e.config.CloseLagMS
	if frozen == s.frozen {
		return
	}
	s.frozen = frozen
	text := "candles of " + s.interval.String()
	if frozen {
		text = s.standstill(e.nowMS)
	}
	e.note("", s.runs[0].config.Symbol, NoteFrozen{text, !frozen})
}

// standstill says how old the newest candle is.
func (s *series) standstill(nowMS int64) string {
	return fmt.Sprintf("candles of %s stand still: the exchange answers, and its newest closed %s ago", s.interval, (time.Duration(nowMS-s.candles.CloseMS(s.end-1)) * time.Millisecond).Round(time.Second))
}

// degraded is the declared state of a series that is stale.
func (s *series) degraded(nowMS int64) Degraded {
	d := Degraded{State: "stale", Scope: account.Scope{Symbol: s.key}, SinceMS: s.faultMS, Cause: "candles of " + s.interval.String() + " can not be read: " + s.fault,
		WayOut: "ends with the first answer, asked for every few seconds; meanwhile strategies stay with what they decided by the last candle, stops stay on the exchange"}
	if s.frozen && s.faultMS == 0 {
		d.SinceMS, d.Cause = s.candles.CloseMS(s.end-1), s.standstill(nowMS)
		d.WayOut = "ends with the next closed candle, asked for every few seconds; meanwhile strategies stay with what they decided by the last one, prices are as old as the exchange's own times, stops stay on the exchange"
	}
	return d
}

// pricedMS is when a price was true that is told now. Where the symbol's candles
// stand still it is as old as the exchange's own times say, so that a market that
// is frozen there is no fresh price (max_data_age); else it is what is paid now,
// also where it was traded long ago.
func (e *market) pricedMS(key exchange.SymbolKey, toldMS int64) int64 {
	newest, frozen := toldMS, false
	for _, s := range e.series {
		if s.key == key && s.end > 0 {
			newest, frozen = max(newest, s.candles.CloseMS(s.end-1)), frozen || s.frozen
		}
	}
	if !frozen {
		return e.nowMS
	}
	return min(newest, e.nowMS)
}
