package engine

import (
	"cmp"
	"fmt"

	"botd/reconcile/record"
)

// The breaker also trips if a fifth of the placements are uncertain, once there are enough placements
// for that share to be meaningful.
const (
	uncertainShare = 5  // one in this many placements
	shareAtLeast   = 10 // minimum number of placements
)

// breaker pauses openings after too many lost answers.
type breaker struct {
	*base
	breaking bool // it has tripped, and its end has not been reported yet
}

// guardBreaker trips the account's breaker if too many placements lost their answer or ended
// without a fill (cases 25 and 26), and reports its end.
func (b *breaker) guardBreaker() {
	config := &b.config.Breaker
	if config.Uncertain == 0 {
		return
	}
	if b.breaking && !b.tracker.Breaking(b.nowMS) {
		b.breaking = false
		b.note("", nil, NoteBreaker{Ended: true, Reason: b.tracker.Breaker().Reason})
		b.requestRoundSoon()
	}
	sent, uncertain, empty := b.tracker.Tally(b.nowMS - config.WithinMS)
	switch {
	case uncertain >= config.Uncertain:
		b.trip(fmt.Sprintf("placements became uncertain %d times within %d min", uncertain, config.WithinMS/60_000), config.PauseMS)
	case sent >= shareAtLeast && uncertain*uncertainShare > sent:
		b.trip(fmt.Sprintf("placements became uncertain %d times within %d min: more than one in %d of the %d that were sent meanwhile", uncertain,
			config.WithinMS/60_000, uncertainShare, sent), config.PauseMS)
	case config.EmptyEndings > 0 && empty >= config.EmptyEndings:
		if !b.trip(fmt.Sprintf("%d placements in a row ended without a fill", empty), config.EmptyPauseMS) {
			return // a longer pause is in force: the check repeats when it ends, not with every wake until then
		}
		if !b.config.Feed {
			b.rulesMS = b.nowMS // the rules may have changed
		}
		b.roundMS = min(b.roundMS, b.nowMS)
	}
}

// rateLimited trips the breaker after a placement was answered with "too many requests" (case 4).
func (b *breaker) rateLimited() {
	if b.config.Breaker.Uncertain != 0 {
		b.trip("a placement was rate limited", cmp.Or(b.config.Breaker.EmptyPauseMS, 45_000))
	}
}

// trip pauses openings for a while and reports whether it did; a longer pause in force stays.
func (b *breaker) trip(why string, pauseMS int64) bool {
	until := b.nowMS + pauseMS
	if until <= b.tracker.Breaker().UntilMS {
		return false
	}
	b.record(record.Record{Body: record.Breaker{Reason: why, UntilMS: until}})
	b.note("", nil, NoteBreaker{Reason: why, PauseMS: pauseMS})
	b.breaking = true
	return true
}
