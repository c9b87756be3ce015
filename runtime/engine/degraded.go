package engine

import (
	"cmp"
	"fmt"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/record"
)

// BreakerConfig is when the account's openings pause by themselves
// (exactly-once.md, cases 4, 25 and 26). Zero Unknowns is no breaker.
type BreakerConfig struct {
	Unknowns     int // lost answers ...
	WithinMS     int64
	PauseMS      int64
	EmptyEndings int // endings without a fill, in a row
	EmptyPauseMS int64
}

// A fifth of the placements unknown trips the breaker too, once there were
// enough of them for a share to mean something.
const (
	unknownShare = 5  // one in
	shareAtLeast = 10 // placements
)

// Degraded is a declared state in which something does not open, or nothing.
type Degraded struct {
	State   string // blind, breaker, halted, limit, quarantined, foreign, failed, journal, stale
	Scope   account.Scope
	Cause   string
	SinceMS int64
	UntilMS int64  // when it ends by itself; 0 when not known
	WayOut  string // what ends it
	Doing   string // a halt that takes something away: what is left of that, and what keeps it
}

// sight knows whether reads fail.
type sight struct {
	*base
	readingMS int64 // when the round under way began; never between rounds
	failed    int   // rounds failed in a row
	soundMS   int64 // when the last complete round ended
	blind     bool  // told so
	blindMS   int64
	blindWhy  string
}

// breaker pauses openings after too many lost answers.
type breaker struct {
	*base
	breaking bool // it was tripped, and its end is not told yet
}

// alarms halt what needs a person, and say what keeps openings back.
type alarms struct{ *base }

// Degraded lists the declared states in force: the account's first, then the
// symbols', then the strategies'.
func (e *report) Degraded() []Degraded {
	var all []Degraded
	if e.journalErr != nil {
		all = append(all, Degraded{State: "journal", Cause: e.journalErr.Error(), SinceMS: e.journalSinceMS, WayOut: "nothing opens until a record can be written; it is tried every second"})
	}
	if e.permission.low != "" {
		all = append(all, Degraded{State: "journal", Cause: e.permission.low, SinceMS: e.permission.lowMS, WayOut: "make room on the disk of data_dir; exits and stops go on"})
	}
	if e.sight.blind {
		all = append(all, Degraded{State: "blind", Cause: e.sight.blindWhy, SinceMS: cmp.Or(e.sight.soundMS, e.sight.blindMS), // what is known is from then
			WayOut: "ends with the first complete round, tried every few seconds; meanwhile nothing opens, stops stay on the exchange"})
	}
	if b := e.book.Breaker(); e.book.Breaking(e.nowMS) {
		all = append(all, Degraded{State: "breaker", Cause: b.Why, SinceMS: b.SinceMS, UntilMS: b.UntilMS, WayOut: "ends by itself; exits and stops go on"})
	}
	for _, h := range e.book.Halts() {
		all = append(all, Degraded{State: "halted", Scope: h.Scope, Cause: h.Level.String() + ": " + h.Why, SinceMS: h.AtMS, WayOut: "botd rearm" + flagOf(h.Scope), Doing: e.doing(h.Scope, h.Level)})
	}
	all = append(all, e.limits.limitedBy("")...)
	for _, truth := range e.book.Symbols() {
		if truth.Quarantine() != "" {
			all = append(all, Degraded{State: "quarantined", Scope: account.Scope{Symbol: truth.Key()}, Cause: truth.Quarantine(), SinceMS: truth.QuarantineMS(),
				WayOut: "botd resolve " + truth.Key().Name + " --adopt or --ignore"})
		}
	}
	for _, truth := range e.book.Symbols() {
		if o := e.book.HoldsBack(truth); o != nil && truth.ForeignSinceMS != 0 {
			all = append(all, Degraded{State: "foreign", Scope: account.Scope{Symbol: truth.Key()}, Cause: foreignText(truth, o), SinceMS: truth.ForeignSinceMS,
				WayOut: "cancel it on the exchange, or set foreign: adopt or ignore; exits and stops go on"})
		}
	}
	for _, s := range e.market.series {
		if s.stale(e.nowMS) {
			all = append(all, s.degraded(e.nowMS))
		}
	}
	for _, r := range e.runs {
		all = append(all, e.limits.limitedBy(r.config.Name)...)
		if r.failed != "" {
			all = append(all, Degraded{State: "failed", Scope: account.Scope{Strategy: r.config.Name}, Cause: r.failed, SinceMS: r.failedMS,
				WayOut: "mend it: a changed file is taken over; its protection stays"})
		}
	}
	return all
}

func flagOf(scope account.Scope) string {
	switch {
	case scope.Strategy != "":
		return " --strategy " + scope.Strategy
	case scope.Symbol != exchange.SymbolKey{}:
		return " --symbol " + scope.Symbol.Name
	}
	return ""
}

// Blind reports whether reads have failed for so long that nothing may open
// (case 23): three rounds in a row, or 30 s without a complete one, also while
// one hangs.
func (e *sight) Blind() bool {
	return e.failed >= blindAfter || e.failed > 0 && e.nowMS-e.soundMS > blindAfterMS ||
		e.nowMS-e.readingMS > blindAfterMS
}

// watchBlind tells when blindness begins and ends.
func (e *sight) watchBlind(why error) {
	blind := e.Blind()
	if blind && why != nil {
		e.blindWhy = errorText(why) // the newest cause is the one to look at
	}
	if blind == e.blind {
		return
	}
	e.blind, e.blindMS, e.blindWhy = blind, e.nowMS, "no answer for 30 s"
	if why != nil {
		e.blindWhy = errorText(why)
	}
	e.note("", nil, NoteBlind{e.blindWhy, !blind})
}

// watchForeign tells when orders that botd did not make begin to hold openings of a
// symbol back, and when none does any more.
func (e *alarms) watchForeign() {
	for _, truth := range e.book.Symbols() {
		o := e.book.HoldsBack(truth)
		if (o != nil) == (truth.ForeignSinceMS != 0) {
			continue
		}
		fact := NoteForeign{Over: o == nil}
		if truth.ForeignSinceMS = 0; o != nil {
			truth.ForeignSinceMS, fact.OrderID, fact.Why = e.nowMS, o.ID, foreignText(truth, o)
		}
		e.note("", &exchange.Symbol{Market: truth.Key().Market, Name: truth.Key().Name}, fact)
	}
}

func foreignText(truth *reconcile.SymbolState, o *exchange.Order) string {
	text := fmt.Sprintf("order %d, which botd did not make, may open a position: %s %s", o.ID, o.Side, o.Type)
	if rules := truth.Rules; rules != nil {
		text += " " + rules.QuantityDecimal(o.Remaining()).String()
	}
	return text
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
		e.trip(fmt.Sprintf("%d of %d placements within %d min lost their answer: more than a fifth", unknown, sent, config.WithinMS/60_000), config.PauseMS)
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

// halt takes an order of the kill switch: a halt is escalated, never made milder;
// LevelNone arms its scope again, and releases the latch of a strategy
// that is armed by name.
func (e *halts) halt(event *EventHalt) {
	scope := event.Scope
	before := e.book.HaltOf(scope)
	if event.Level != record.LevelNone && event.Level <= before.Level {
		return // in force already, or a severer one is
	}
	e.record(record.Record{Strategy: scope.Strategy, Symbol: scope.Symbol, Body: record.Halt{Level: event.Level, Why: event.Why}})
	e.note(scope.Strategy, e.symbolOf(scope.Symbol), NoteHalt{event.Why, event.Level == record.LevelNone})
	if event.Level == record.LevelNone && scope.Symbol == (exchange.SymbolKey{}) {
		e.limits.rearmed(scope.Strategy)
	}
	if r := e.runNamed(scope.Strategy); r != nil && event.Level == record.LevelNone && r.state.Latch() != 0 {
		e.record(record.Record{Strategy: scope.Strategy, Body: record.Latch{}})
		e.note(scope.Strategy, r.config.Symbol, NoteLatch{Why: event.Why, Over: true})
	}
	e.roundMS = e.nowMS
	e.pressMS = min(e.pressMS, e.nowMS+pressingMS) // a round under way may hang
}

func (e *base) symbolOf(key exchange.SymbolKey) *exchange.Symbol {
	if (key == exchange.SymbolKey{}) {
		return nil
	}
	return e.book.Symbol(key).Rules
}

func (e *base) runNamed(name string) *run {
	for _, r := range e.runs {
		if r.config.Name == name {
			return r
		}
	}
	return nil
}
