package engine

import (
	"cmp"
	"fmt"
	"strings"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/risk"
)

// standDownRemedy is the same for every journal, because only a person knows which botd should trade.
const standDownRemedy = "find the other botd of this account and instance and stop it, or find out why the journal is old; " +
	"then botd resolve each waiting symbol, and botd rearm; existing stops stay unchanged, exits continue"

// journalFails declares that no record can be written; diskLow declares a full disk.
func (r *reporter) journalFails() []Degraded {
	if r.journalErr == nil || r.permission.low != "" && !r.permission.lost {
		return nil
	}
	state := "journal"
	if r.journalFull {
		state = "disk"
	}
	return []Degraded{{State: state, Cause: r.journalErr.Error(), SinceMS: r.journalSinceMS,
		Remedy: "nothing opens until a record can be written; it is tried every second"}}
}

func (r *reporter) diskLow() []Degraded {
	if r.permission.low == "" {
		return nil
	}
	state, remedy := "disk", "make room on the disk of data_dir; exits and stops continue"
	if r.permission.lost {
		state, remedy = "journal", "exits, stops and the kill switch continue; stop botd, which saves the records it still has as journal.db.rescued-TIME "+
			"unless the file was truncated; restore that file or the newest backup (botd restore), then start botd"
	}
	return []Degraded{{State: state, Cause: r.permission.low, SinceMS: r.permission.lowMS, Remedy: remedy}}
}

func (r *reporter) breaking() []Degraded {
	b := r.tracker.Breaker()
	if !r.tracker.Breaking(r.nowMS) {
		return nil
	}
	return []Degraded{{State: "breaker", Cause: b.Reason, SinceMS: b.SinceMS, UntilMS: b.UntilMS, Remedy: risk.ClearsAutomatically}}
}

func (r *reporter) standingDown() []Degraded {
	h := r.tracker.Halted()
	if h.Unknown == "" {
		return nil
	}
	cause := unjournalledOrder(h.Unknown) + ": a second botd is running, or an old backup was restored"
	for _, leg := range r.legs {
		if stop := r.protection.peerStop(leg); stop != "" {
			cause += "; its stop " + stop + " protects " + leg.symbol.Key().String()
		}
	}
	return []Degraded{{State: "standing_down", SinceMS: h.UnknownMS, Remedy: standDownRemedy, Cause: cause}}
}

func (r *reporter) halted() (all []Degraded) {
	for _, h := range r.tracker.Halts() {
		all = append(all, Degraded{State: "halted", Scope: h.Scope, Cause: h.Level.String() + ": " + h.Reason, SinceMS: h.AtMS,
			Remedy: "botd rearm" + rearmFlags(h.Scope), Blind: r.HaltBlind(h.Level, h.Scope, max(h.AtMS, r.halts.requestedMS)),
			ExitsAccepted: r.exitsAccepted(h.Scope, h.Level), Remaining: r.remaining(h.Scope, h.Level)})
	}
	return all
}

func (r *reporter) quarantined(symbol *reconcile.SymbolState) []Degraded {
	if symbol.Quarantine() == "" {
		return nil
	}
	return []Degraded{{State: "quarantined", Scope: account.Scope{Symbol: symbol.Key()}, Cause: symbol.Quarantine(),
		SinceMS: symbol.QuarantineMS(), Remedy: "botd resolve " + symbol.Key().Name + " --adopt or --ignore"}}
}

func (r *reporter) contradicted(symbol *reconcile.SymbolState) []Degraded {
	if symbol.Contradicted() == "" {
		return nil
	}
	return []Degraded{{State: "contradicted", Scope: account.Scope{Symbol: symbol.Key()}, Cause: symbol.Contradicted(), SinceMS: symbol.ContradictedSinceMS(),
		Remedy: "ends when a read shows the position again or a witness confirms its end; if it did end: botd resolve " + symbol.Key().Name +
			" --adopt. Meanwhile nothing opens, and existing protection stays"}}
}

func (r *reporter) adopted(symbol *reconcile.SymbolState) []Degraded {
	until := symbol.HoldMS(r.bounds())
	if r.nowMS >= until {
		return nil
	}
	return []Degraded{{State: "adopted", Scope: account.Scope{Symbol: symbol.Key()}, Cause: "a change that botd did not make was adopted",
		SinceMS: symbol.AdoptedMS(), UntilMS: until, Remedy: "clears automatically once no older read can arrive; exits and stops continue"}}
}

func (r *reporter) foreign(symbol *reconcile.SymbolState) []Degraded {
	o := r.tracker.ForeignOpening(symbol)
	if o == nil || symbol.ForeignSinceMS() == 0 {
		return nil
	}
	way := "set foreign: adopt or ignore"
	switch {
	case symbol.Repeats(o) || r.tracker.OfPlan(symbol, o):
		way = "stop the other botd"
	case r.tracker.Resembles(symbol, o):
		way = "stop the other botd, and close its position"
	}
	return []Degraded{{State: "foreign", Scope: account.Scope{Symbol: symbol.Key()}, Cause: foreignText(r.tracker, symbol, o),
		SinceMS: symbol.ForeignSinceMS(), Remedy: "cancel it on the exchange, or " + way + "; exits and stops continue"}}
}

func (r *reporter) stale() (all []Degraded) {
	for _, s := range r.market.series {
		if s.stale(r.nowMS) {
			all = append(all, s.degraded(r.nowMS))
		}
	}
	return all
}

// missing declares the strategies whose symbols the exchange no longer lists.
func (r *reporter) missing() (all []Degraded) {
	for i := range r.config.Missing {
		m := &r.config.Missing[i]
		all = append(all, Degraded{State: "failed", Scope: account.Scope{Strategy: m.Name, Symbol: m.Symbol}, Cause: missingText(m),
			SinceMS: max(1, r.startMS),
			Remedy: "automatic, once the exchange lists the symbol again, which botd reads every ten seconds; or remove the strategy. " +
				"Until then, its orders and position on the exchange stay unchanged"})
	}
	return all
}

func missingText(m *MissingStrategy) string {
	return "the exchange no longer lists " + m.Symbol.String()
}

func (r *reporter) unprotected(leg *leg) []Degraded {
	why := r.protection.cause(leg)
	if why == "" {
		return nil
	}
	return []Degraded{{State: "unprotected", Scope: account.Scope{Symbol: leg.symbol.Key()}, Cause: why,
		SinceMS: leg.symbol.UnprotectedSinceMS(), Remedy: r.protectionRemedy(leg)}}
}

func (r *reporter) failed(leg *leg) []Degraded {
	if leg.failure.why == "" {
		return nil
	}
	return []Degraded{{State: "failed", Scope: account.Scope{Strategy: leg.config.Name}, Cause: leg.failure.why, SinceMS: leg.failure.atMS,
		Remedy: "fix its file, which is then reloaded; its protection stays"}}
}

func (r *reporter) hung(leg *leg) []Degraded {
	if leg.question.hung == "" {
		return nil
	}
	return []Degraded{{State: "hung", Scope: account.Scope{Strategy: leg.config.Name}, Cause: leg.question.hung,
		SinceMS: leg.question.hungMS, Remedy: leg.hungRemedy()}}
}

// refused declares the intents that the exchange refuses repeatedly. It blocks nothing.
func (r *reporter) refused() (all []Degraded) {
	for _, one := range r.backoffs.all {
		if r.backoffs.declares(one) {
			all = append(all, Degraded{State: "refused", Scope: account.Scope{Strategy: one.strategy}, Cause: r.backoffs.text(one),
				SinceMS: one.sinceMS,
				Remedy:  "fix the cause that the exchange reports (botd explain " + one.strategy + "); it is retried automatically, at growing intervals"})
		}
	}
	return all
}

// protectionRemedy describes how an unprotected position recovers, and what botd does meanwhile.
func (r *reporter) protectionRemedy(leg *leg) string {
	way := "remove the cause that prevents the stop, or botd halt --level flatten --symbol " + leg.symbol.Key().Name + "; nothing opens there"
	desired := reconcile.Desired{Strategy: leg.state, Symbol: leg.symbol, Protection: protectionOf(leg)}
	if level := r.tracker.StopLevel(&desired); level > 0 {
		way += "; botd exits at market itself when the price passes " + leg.config.Symbol.PriceDecimal(level).String()
	}
	return way
}

// remaining returns what a halt still has to close and the obstacle, or an empty string if it is
// done.
func (r *reporter) remaining(scope account.Scope, level record.HaltLevel) string {
	positions, orders, obstacle, failed := []string(nil), 0, "", 0
	for _, leg := range r.legs {
		if !scope.Covers(leg.config.Name, leg.symbol.Key()) {
			continue
		}
		failed = max(failed, r.readHealth.failing(leg.symbol.Key()))
		position := r.tracker.ToClose(leg.symbol)
		closes := level == record.LevelFlatten && position != 0 && !dust(leg, position)
		if closes {
			positions = append(positions, leg.symbol.Key().String()+" "+leg.config.Symbol.QuantityDecimal(position).String())
		}
		obstacle = cmp.Or(r.exitObstacle(leg, closes), obstacle)
		for p := range r.tracker.Live() {
			if p.Symbol() == leg.symbol.Key() && (p.Withdrawn() != "" || level.Ends(p.Purpose())) {
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
		left = append(left, "the journal cannot be written; it is retried every second")
	case failed > 0:
		left = append(left, fmt.Sprintf("reads of the exchange fail (%d times in a row); they are retried every %d s", failed, haltRetryMS/1000))
	}
	return strings.Join(left, "; ")
}

// exitObstacle returns what delays the exit of a position that a halt closes, or why its outcome is uncertain.
func (r *reporter) exitObstacle(leg *leg, closes bool) (why string) {
	key := leg.symbol.Key()
	if refused := r.rejections.reason(rejectionKey(leg.config.Name, placement.Exit, ""), r.nowMS); closes && refused != "" {
		why = "the exit of " + key.String() + " is refused by " + refused
	}
	if refused := r.backoffs.exitReason(leg); closes && refused != "" {
		why = key.String() + ": " + refused
	}
	lost := 0
	for p := range r.tracker.Live() {
		if p.Symbol() != key || p.Purpose() != placement.Exit {
			continue
		}
		if p.State() == placement.Uncertain {
			lost++
			why = fmt.Sprintf("%s: %d of its exits were not answered; another one is sent every few seconds", key, lost)
		}
		if r.readHealth.incomplete(key) {
			why = "an exit of " + key.String() + " was sent; the next read shows its outcome"
		}
	}
	return why
}

// exitsAccepted reports whether the exchange has accepted all orders that a halt needs to close
// positions.
func (r *reporter) exitsAccepted(scope account.Scope, level record.HaltLevel) bool {
	for _, leg := range r.legs {
		if !scope.Covers(leg.config.Name, leg.symbol.Key()) {
			continue
		}
		for p := range r.tracker.Live() {
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

func rearmFlags(scope account.Scope) string {
	switch {
	case scope.Strategy != "":
		return " --strategy " + scope.Strategy
	case scope.Symbol != exchange.SymbolKey{}:
		return " --symbol " + scope.Symbol.Name
	}
	return ""
}
