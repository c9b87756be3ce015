package engine

import (
	"cmp"
	"fmt"
	"strings"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
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

// doing says what a halt has still to take away, and what keeps it; empty when it
// is done.
func (e *report) doing(scope account.Scope, level record.HaltLevel) string {
	positions, orders, kept := []string(nil), 0, ""
	for _, r := range e.runs {
		if !scope.Covers(r.config.Name, r.truth.Key()) {
			continue
		}
		if level == record.LevelFlatten && r.truth.Position != 0 {
			positions = append(positions, r.truth.Key().String()+" "+r.config.Symbol.QuantityDecimal(r.truth.Position).String())
			if refused := e.placer.refusals.why(r.config.Name+" "+placement.Exit.String()+" ", e.nowMS); refused != "" {
				kept = "the exit of " + r.truth.Key().String() + " is held back by " + refused
			}
		}
		for _, p := range e.book.Live() {
			if p.Symbol() == r.truth.Key() && p.Purpose() == placement.Exit && e.sight.failed > 0 {
				kept = "an exit of " + r.truth.Key().String() + " was sent, and what became of it only a read tells"
			}
			if p.Symbol() == r.truth.Key() && (p.Withdrawn() != "" || level == record.LevelFlatten || level == record.LevelCancel && p.Purpose().Opens()) {
				orders++
			}
		}
	}
	var left []string
	if len(positions) > 0 {
		left = append(left, "to close: "+strings.Join(positions, ", "))
	}
	if orders > 0 {
		left = append(left, fmt.Sprintf("orders to end: %d", orders))
	}
	if kept != "" {
		left = append(left, kept)
	}
	switch {
	case len(positions) == 0 && orders == 0:
		return ""
	case e.journalErr != nil:
		left = append(left, "the journal can not be written, tried again every second")
	case e.sight.failed > 0:
		left = append(left, fmt.Sprintf("the exchange fails (%d times in a row), tried again every %d s", e.sight.failed, pressingMS/1000))
	}
	return strings.Join(left, "; ")
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
