package engine

import (
	"cmp"
	"fmt"

	"botd/reconcile/record"
)

// A fifth of the placements unknown trips the breaker too, once there were
// enough of them for a share to mean something.
const (
	unknownShare = 5  // one in
	shareAtLeast = 10 // placements
)

// breaker pauses openings after too many lost answers.
type breaker struct {
	*base
	breaking bool // it was tripped, and its end is not told yet
}

// guardBreaker trips the account's breaker when too much was unknown, or too
// much ended without a fill (cases 25 and 26), and tells when it has ended.
func (e *breaker) guardBreaker() {
	config := &e.config.Breaker
	if config.Unknowns == 0 {
		return
	}
	if e.breaking && !e.book.Breaking(e.nowMS) {
		e.breaking = false
		e.note("", nil, NoteBreaker{Over: true, Why: e.book.Breaker().Why})
		e.soon()
	}
	sent, unknown, empty := e.book.Tally(e.nowMS - config.WithinMS)
	switch {
	case unknown >= config.Unknowns:
		e.trip(fmt.Sprintf("%d of %d placements within %d min lost their answer", unknown, sent, config.WithinMS/60_000), config.PauseMS)
	case sent >= shareAtLeast && unknown*unknownShare > sent:
		e.trip(
			fmt.Sprintf("%d of %d placements within %d min lost their answer: more than a fifth", unknown, sent, config.WithinMS/60_000),
			config.PauseMS,
		)
	case config.EmptyEndings > 0 && empty >= config.EmptyEndings:
		if !e.trip(fmt.Sprintf("%d placements in a row ended without a fill", empty), config.EmptyPauseMS) {
			return // a longer pause is in force: it is looked at when that has ended, not with every wake until then
		}
		if !e.config.Feed {
			e.rulesMS = e.nowMS // the rules may have changed
		}
		e.roundMS = min(e.roundMS, e.nowMS)
	}
}

// limited trips the breaker after a placement was answered by "too many requests" (case 4).
func (e *breaker) limited() {
	if e.config.Breaker.Unknowns != 0 {
		e.trip("a placement was rate limited", cmp.Or(e.config.Breaker.EmptyPauseMS, 45_000))
	}
}

// trip pauses openings for a while, and reports whether it did; a longer pause in
// force stays.
func (e *breaker) trip(why string, pauseMS int64) bool {
	until := e.nowMS + pauseMS
	if until <= e.book.Breaker().UntilMS {
		return false
	}
	e.record(record.Record{Body: record.Breaker{Why: why, UntilMS: until}})
	e.note("", nil, NoteBreaker{Why: why, PauseMS: pauseMS})
	e.breaking = true
	return true
}
