package engine

import (
	"fmt"
	"strings"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// Degraded is a declared state in which some or all openings are blocked.
type Degraded struct {
	State         string // blind, breaker, standing_down, halted, limit, quarantined, contradicted, adopted, foreign, failed, journal, stale, ...
	Scope         account.Scope
	Cause         string
	SinceMS       int64
	UntilMS       int64    // when it ends by itself; 0 if unknown
	WayOut        string   // how it ends
	Blind         []string // of a halt that closes something: what it cannot see or act on
	ExitsAccepted bool     // the exchange has also accepted all orders that close the rest
	Remaining     string   // of a halt that closes something: what remains, and the reason
}

// standDownWayOut is the same for every journal, because only a person knows which botd is to
// trade.
const standDownWayOut = "find the other botd of this account and instance and stop it, or look why the journal is old; " +
	"then botd resolve each waiting symbol, and botd rearm; existing stops stay unchanged, exits continue"

// Degraded lists the declared states in force: the account's first, then the symbols',
// then the strategies'.
func (r *report) Degraded() []Degraded {
	all := r.degradedAccount()
	for symbol := range r.book.Symbols() {
		if symbol.Quarantine() != "" {
			all = append(all, Degraded{State: "quarantined", Scope: account.Scope{Symbol: symbol.Key()}, Cause: symbol.Quarantine(),
				SinceMS: symbol.QuarantineMS(), WayOut: "botd resolve " + symbol.Key().Name + " --adopt or --ignore"})
		}
	}
	for symbol := range r.book.Symbols() {
		all = append(all, r.degradedSymbol(symbol)...)
	}
	for symbol := range r.book.Symbols() {
		if o := r.book.ForeignOpening(symbol); o != nil && symbol.ForeignSinceMS() != 0 {
			way := "set foreign: adopt or ignore"
			switch {
			case symbol.Repeats(o):
				way = "stop the other botd"
			case r.book.Resembles(symbol, o):
				way = "stop the other botd, and close what it holds"
			}
			all = append(all, Degraded{State: "foreign", Scope: account.Scope{Symbol: symbol.Key()}, Cause: foreignText(r.book, symbol, o),
				SinceMS: symbol.ForeignSinceMS(), WayOut: "cancel it on the exchange, or " + way + "; exits and stops continue"})
		}
	}
	for _, s := range r.market.series {
		if s.stale(r.nowMS) {
			all = append(all, s.degraded(r.nowMS))
		}
	}
	for i := range r.config.Missing {
		all = append(all, r.missing(&r.config.Missing[i]))
	}
	for _, leg := range r.legs {
		all = append(all, r.limits.limitedBy(leg.config.Name)...)
		if why := r.protection.cause(leg); why != "" {
			all = append(all, Degraded{State: "unprotected", Scope: account.Scope{Symbol: leg.symbol.Key()}, Cause: why,
				SinceMS: leg.symbol.UnprotectedSinceMS(), WayOut: r.protectionWayOut(leg)})
		}
		if leg.failed != "" {
			all = append(all, Degraded{State: "failed", Scope: account.Scope{Strategy: leg.config.Name}, Cause: leg.failed, SinceMS: leg.failedMS,
				WayOut: "fix its file, which is then reloaded; its protection stays"})
		}
		if leg.question.hung != "" {
			all = append(all, Degraded{State: "hung", Scope: account.Scope{Strategy: leg.config.Name}, Cause: leg.question.hung,
				SinceMS: leg.question.hungMS, WayOut: leg.hungWayOut()})
		}
	}
	for _, one := range r.backoffs.all {
		if r.backoffs.declares(one) {
			all = append(all, Degraded{State: "refused", Scope: account.Scope{Strategy: one.strategy}, Cause: r.backoffs.text(one),
				SinceMS: one.sinceMS,
				WayOut:  "fix the cause that the exchange reports (botd explain " + one.strategy + "); it is retried automatically, at growing intervals"})
		}
	}
	return all
}

// protectionWayOut describes how an unprotected position recovers, and what botd does meanwhile.
func (r *report) protectionWayOut(leg *leg) string {
	way := "remove the cause that prevents the stop, or botd halt --level flatten --symbol " + leg.symbol.Key().Name + "; nothing opens there"
	desired := r.dispatcher.desired(leg)
	if level := r.book.StopLevel(&desired); level > 0 {
		way += "; botd exits at market itself when the price passes " + leg.config.Symbol.PriceDecimal(level).String()
	}
	return way
}

// degradedSymbol lists the parts of a symbol that are not trusted, or were not until recently.
func (r *report) degradedSymbol(symbol *reconcile.SymbolState) (all []Degraded) {
	scope := account.Scope{Symbol: symbol.Key()}
	if symbol.Contradicted() != "" {
		all = append(all, Degraded{State: "contradicted", Scope: scope, Cause: symbol.Contradicted(), SinceMS: symbol.ContradictedSinceMS(),
			WayOut: "ends when a read shows the position again or a witness confirms its end; if it did end: botd resolve " + symbol.Key().Name +
				" --adopt. Meanwhile nothing opens, and what protects stays"})
	}
	if until := symbol.HoldMS(r.settleBounds()); r.nowMS < until {
		all = append(all, Degraded{State: "adopted", Scope: scope, Cause: "a change that botd did not make was adopted", SinceMS: symbol.AdoptedMS(),
			UntilMS: until, WayOut: "ends by itself, when no older read can arrive any more; exits and stops continue"})
	}
	return all
}

// missing returns the state of a strategy whose symbol the exchange no longer lists.
func (r *report) missing(m *MissingStrategy) Degraded {
	return Degraded{State: "failed", Scope: account.Scope{Strategy: m.Name, Symbol: m.Symbol}, Cause: missingText(m), SinceMS: max(1, r.startMS),
		WayOut: "remove the strategy, or start again when the exchange lists the symbol; what it left on the exchange stays as it is"}
}

func missingText(m *MissingStrategy) string {
	return "the exchange has no symbol " + m.Symbol.String() + " any more"
}

// degradedAccount lists the states of the account, and all halts.
func (r *report) degradedAccount() (all []Degraded) {
	if full := r.permission.low != "" && !r.permission.lost; r.journalErr != nil && !full { // a full disk is declared below
		state := "journal"
		if r.journalFull {
			state = "disk"
		}
		all = append(all, Degraded{State: state, Cause: r.journalErr.Error(), SinceMS: r.journalSinceMS,
			WayOut: "nothing opens until a record can be written; it is tried every second"})
	}
	if r.permission.low != "" {
		state, wayOut := "disk", "make room on the disk of data_dir; exits and stops continue"
		if r.permission.lost {
			state, wayOut = "journal", "exits, stops and the kill switch go on; stop botd, which saves what it still holds as journal.db.rescued-TIME; "+
				"botd restore that or the newest backup; start"
		}
		all = append(all, Degraded{State: state, Cause: r.permission.low, SinceMS: r.permission.lowMS, WayOut: wayOut})
	}
	all = append(all, r.readHealth.degraded()...)
	if b := r.book.Breaker(); r.book.Breaking(r.nowMS) {
		all = append(
			all,
			Degraded{State: "breaker", Cause: b.Why, SinceMS: b.SinceMS, UntilMS: b.UntilMS, WayOut: "ends by itself; exits and stops continue"},
		)
	}
	if h := r.book.Halted(); h.Unknown != "" {
		all = append(all, Degraded{State: "standing_down", SinceMS: h.UnknownMS, WayOut: standDownWayOut,
			Cause: "order " + h.Unknown + " carries this instance's prefix but is not in the journal: a second botd, or an old backup"})
	}
	for _, h := range r.book.Halts() {
		all = append(all, Degraded{State: "halted", Scope: h.Scope, Cause: h.Level.String() + ": " + h.Why, SinceMS: h.AtMS,
			WayOut: "botd rearm" + flagOf(h.Scope), Blind: r.HaltBlind(h.Level, h.Scope, max(h.AtMS, r.dispatcher.halts.requestedMS)),
			ExitsAccepted: r.exitsAccepted(h.Scope, h.Level), Remaining: r.remaining(h.Scope, h.Level)})
	}
	return append(all, r.limits.limitedBy("")...)
}

// remaining returns what a halt still has to close and the obstacle, or an empty string if it is
// done.
func (r *report) remaining(scope account.Scope, level record.HaltLevel) string {
	positions, orders, obstacle, failed := []string(nil), 0, "", 0
	for _, leg := range r.legs {
		if !scope.Covers(leg.config.Name, leg.symbol.Key()) {
			continue
		}
		failed = max(failed, r.readHealth.failing(leg.symbol.Key()))
		if held := r.book.ToClose(leg.symbol); level == record.LevelFlatten && held != 0 && !r.dust(leg, held) {
			positions = append(positions, leg.symbol.Key().String()+" "+leg.config.Symbol.QuantityDecimal(held).String())
			if refused := r.dispatcher.refusals.reason(leg.config.Name+" "+placement.Exit.String()+" ", r.nowMS); refused != "" {
				obstacle = "the exit of " + leg.symbol.Key().String() + " is held back by " + refused
			}
			if refused := r.backoffs.exitReason(leg); refused != "" {
				obstacle = leg.symbol.Key().String() + ": " + refused
			}
		}
		lost := 0
		for p := range r.book.Live() {
			if p.Symbol() == leg.symbol.Key() && p.Purpose() == placement.Exit && p.State() == placement.Uncertain {
				lost++
				obstacle = fmt.Sprintf("%s: no answer to %d of its exits; another is sent every few seconds", leg.symbol.Key(), lost)
			}
			if p.Symbol() == leg.symbol.Key() && p.Purpose() == placement.Exit && r.readHealth.incomplete(leg.symbol.Key()) {
				obstacle = "an exit of " + leg.symbol.Key().String() + " was sent; only a read shows its outcome"
			}
			if p.Symbol() == leg.symbol.Key() &&
				(p.Withdrawn() != "" || level == record.LevelFlatten || level == record.LevelCancel && p.Purpose().Opens()) {
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
	if obstacle != "" {
		left = append(left, obstacle)
	}
	switch {
	case len(positions) == 0 && orders == 0:
		return ""
	case r.journalErr != nil:
		left = append(left, "the journal cannot be written, tried again every second")
	case failed > 0:
		left = append(left, fmt.Sprintf("the exchange fails (%d times in a row), tried again every %d s", failed, haltRetryMS/1000))
	}
	return strings.Join(left, "; ")
}

// exitsAccepted reports whether the exchange has accepted all orders by which a halt closes
// positions.
func (r *report) exitsAccepted(scope account.Scope, level record.HaltLevel) bool {
	for _, leg := range r.legs {
		if !scope.Covers(leg.config.Name, leg.symbol.Key()) {
			continue
		}
		for p := range r.book.Live() {
			if p.Symbol() == leg.symbol.Key() && p.Purpose().Opens() {
				return false
			}
		}
		if level == record.LevelFlatten && !r.closingInFlight(leg) {
			return false
		}
	}
	return true
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
