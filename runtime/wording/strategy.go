package wording

import (
	"cmp"
	"fmt"

	"botd/exchange"
	"botd/runtime/engine"
)

// strategy words the decisions and positions of strategies.
func strategy(n *engine.Note) Wording {
	switch fact := n.Fact.(type) {
	case engine.NoteTick:
		return debug("strategy.tick", "tick      %s: %s", n.Strategy, fact.Reason)
	case engine.NoteDecision:
		return info("strategy.decision", "decision  %s targets %s: %s", n.Strategy, target(n.Symbol, &fact), fact.Reason)
	case engine.NoteMissed:
		return warn("strategy.missed", "missed    %s: %d ticks, skipped: %s", cmp.Or(n.Strategy, symbol(n)), fact.Count, fact.Reason).with("count", fact.Count).
			notice("missed", fact.Reason).count(fact.Count)
	case engine.NoteStrategyFailed:
		return bad("strategy.failed", "FAILED    %s is stopped, its protection stays: %s", n.Strategy, fact.Reason).notice("strategy_failed", fact.Reason)
	case engine.NoteHung:
		return either(fact.Ended,
			warn("strategy.answers", "answers   %s answers again", n.Strategy),
			bad("strategy.hung", "HUNG      %s does not answer, nothing opens for it, its protection stays: %s", n.Strategy, fact.Reason).
				notice("strategy_hung", fact.Reason))
	case engine.NoteNotice:
		return ownNotice(n, &fact)
	case engine.NoteReload:
		return info("strategy.reloaded", "reloaded  %s: %s", n.Strategy, fact.Text).notice("strategy_reloaded", fact.Text)
	case engine.NoteLatch:
		return either(fact.Ended,
			info("strategy.latch", "latch     %s latch released", n.Strategy).with("why", fact.Reason),
			info("strategy.latch", "latch     %s latched: no entry until its target has been zero or changed side", n.Strategy).with("why", fact.Reason).
				notice("latch", fact.Reason).count(fact.Side))
	case engine.NoteSignal:
		if fact.Err == nil {
			return info("signal.taken", "signal    %s: %s", n.Strategy, fact.Text)
		}
		return warn("signal.refused", "signal    %s: refused: %s", n.Strategy, fact.Err).with("err", fact.Err)
	case engine.NotePosition:
		return info("position.changed", "position  %s %s %s", n.Strategy, symbol(n), position(n.Symbol, &fact))
	case engine.NoteAdopted:
		return warn("position.adopted", "adopted   %s %s: %s", quantity(n.Symbol, fact.Quantity), symbol(n), fact.Evidence).
			notice("adopted", fact.Evidence).on("reconcile")
	case engine.NoteIgnored:
		return warn("position.ignored", "ignored   %s %s is left to others: %s", quantity(n.Symbol, fact.Quantity), symbol(n), fact.Evidence).
			notice("ignored", fact.Evidence).on("reconcile")
	}
	return Wording{}
}

// ownNotice words what a strategy reports to people.
func ownNotice(n *engine.Note, fact *engine.NoteNotice) Wording {
	if fact.Withheld {
		return debug("strategy.notice_withheld", "notice    %s, withheld: %s", n.Strategy, fact.Text)
	}
	before := ""
	if fact.Before > 0 {
		before = fmt.Sprintf(" (%d before it were withheld: too many in an hour)", fact.Before)
	}
	return info("strategy.notice", "notice    %s: %s%s", n.Strategy, fact.Text, before).with("withheld", fact.Before).notice("strategy_notice", fact.Text)
}

// position describes a position.
func position(s *exchange.Symbol, fact *engine.NotePosition) string {
	switch {
	case fact.Quantity == 0:
		return "flat"
	case fact.Quantity < 0:
		return "short " + quantity(s, -fact.Quantity) + price(s, fact.EntryPrice)
	}
	return "long " + quantity(s, fact.Quantity) + price(s, fact.EntryPrice)
}

// target describes the target of a plan.
func target(s *exchange.Symbol, fact *engine.NoteDecision) string {
	plan, t := fact.Plan, fact.Plan.Target
	switch {
	case plan.OrdersSet:
		return fmt.Sprintf("%d orders in the book", len(plan.Orders))
	case t.Sign() == 0:
		return "no position"
	case t.Share != 0:
		return t.Share.Decimal().Shift(2).String() + " % of equity in " + s.Name
	case !t.Quote.IsZero():
		return t.Quote.String() + " USDT of " + s.Name
	}
	return s.QuantityDecimal(t.Quantity).String() + " " + s.Name
}
