package wording

import (
	"time"

	"botd/runtime/engine"
)

// state words declared states that block openings, and their ends.
func state(n *engine.Note) Wording {
	switch fact := n.Fact.(type) {
	case engine.NoteQuarantine:
		return either(fact.Ended,
			info("symbol.resolved", "resolved  %s trades again", symbol(n)),
			bad("symbol.quarantined", "BLOCKED   %s is quarantined: %s", symbol(n), fact.Reason).notice("quarantine", fact.Reason).on("reconcile"))
	case engine.NoteLiquidated:
		follows := "its strategy is halted"
		if n.Strategy == "" {
			follows = "no strategy trades it"
		}
		return bad("position.liquidated", "LIQUIDATED %s; %s", fact.Text, follows).with("realised", fact.Realized.String()).
			notice("liquidation", fact.Text).on("risk")
	case engine.NoteUnprotected:
		return either(fact.Ended,
			warn("position.protected", "protected %s has its stop again, or has ended", symbol(n)).with("dur_ms", fact.ForMS),
			bad("position.unprotected", "UNPROTECTED %s: %s; nothing opens there", symbol(n), fact.Reason).with("cause", fact.Reason).
				notice("unprotected", fact.Reason).on("risk"))
	case engine.NoteContradicted:
		return either(fact.Ended,
			info("symbol.confirmed", "confirmed %s: exchange and fills agree again", symbol(n)),
			bad("symbol.contradicted", "CONTRADICTED %s: %s; nothing opens, protection stays", symbol(n), fact.Reason).
				notice("contradicted", fact.Reason).on("reconcile"))
	case engine.NoteForeign:
		return either(fact.Ended,
			info("symbol.clear", "clear     %s has no foreign orders that open", symbol(n)),
			warn("symbol.foreign", "FOREIGN   %s: %s; no openings while it exists (foreign: halt)", symbol(n), fact.Reason).
				notice("foreign", fact.Reason).on("reconcile"))
	case engine.NoteHalt:
		return either(fact.Ended,
			warn("trading.armed", "ARMED     trading continues: %s", fact.Reason),
			bad("trading.halted", "HALTED    %s", fact.Reason).notice("halt", fact.Reason).on("risk"))
	case engine.NoteBreaker:
		return either(fact.Ended,
			warn("breaker.ended", "breaker   has ended: openings continue"),
			bad("breaker.tripped", "BREAKER   %s: nothing opens for %d s; exits and stops continue", fact.Reason, fact.PauseMS/1000).with("cause", fact.Reason).
				notice("breaker", fact.Reason).on("risk"))
	case engine.NoteLimit:
		return limit(n, &fact)
	case engine.NoteLimitSet:
		w := warn("limit.set", "limit     %s", fact.Text).with("rule", fact.Rule).notice("limit_set", fact.Text).on("risk")
		w.Ended = fact.Ended
		return w
	}
	return Wording{}
}

// limit words that a limit blocks entries, or no longer does.
func limit(n *engine.Note, fact *engine.NoteLimit) Wording {
	scope, until := "account", "until botd rearm"
	if n.Strategy != "" {
		scope, until = n.Strategy, "until botd rearm --strategy "+n.Strategy
	}
	if fact.ForMS > 0 {
		until = "until " + time.UnixMilli(n.AtMS+fact.ForMS).UTC().Format("2006-01-02 15:04:05 UTC")
	}
	return either(fact.Ended,
		warn("limit.ended", "limit     %s of %s no longer blocks entries: %s", fact.Rule, scope, fact.Reason).with("rule", fact.Rule),
		bad("limit.breached", "LIMIT     %s of %s: %s; no entries %s, exits and stops continue", fact.Rule, scope, fact.Reason, until).
			with("rule", fact.Rule).with("cause", fact.Reason).notice("limit", fact.Reason).on("risk"))
}
