package wording

import (
	"fmt"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/runtime/engine"
)

// order words the life of an intent and of its order.
func order(n *engine.Note) Wording {
	switch fact := n.Fact.(type) {
	case engine.NoteIntent:
		return info("intent.derived", "intent    %s %s", n.Strategy, intent(n.Symbol, fact.Intent)).with("reason", fact.Intent.Reason)
	case engine.NoteApproved:
		return info("risk.approved", "risk      approved %s %s", n.Strategy, fact.Intent.Purpose)
	case engine.NoteRejection:
		r := fact.Rejection
		return warn("risk.refused", "risk      REFUSED %s %s by %s", n.Strategy, fact.Intent.Purpose, r.Rule).
			with("rule", r.Rule).with("value", r.Value).with("limit", r.Limit).with("hint", r.Hint)
	case engine.NotePlaced:
		placed := reconcile.Intent{Purpose: fact.Purpose, Order: fact.Order}
		return info("order.placed", "placed    %s %s as %s", n.Strategy, intent(n.Symbol, &placed), fact.ClientOrderID)
	case engine.NoteAcknowledged:
		return info("order.acknowledged", "ack       %s is order %d", fact.ClientOrderID, fact.OrderID).with("dur_ms", fact.DurationMS)
	case engine.NoteRefused:
		return warn("order.refused", "refused   %s by the exchange: %s", fact.ClientOrderID, fact.Reason)
	case engine.NoteUncertain:
		return warn("order.uncertain", "UNCERTAIN %s: %s; it is not sent again, its outcome is fetched", fact.ClientOrderID, fact.Reason)
	case engine.NoteFill:
		return info("order.fill", "fill      %s %s %s %s%s",
			n.Strategy, fact.Order.Side, quantity(n.Symbol, fact.Quantity), symbol(n), price(n.Symbol, fact.Price))
	case engine.NoteSettled:
		return info("order.settled", "settled   %s %s", fact.ClientOrderID, ending(n.Symbol, &fact)).
			with("dur_ms", fact.DurationMS).with("evidence", fact.Evidence)
	case engine.NoteFound:
		return bad("order.found", "FOUND     order %d: %s", fact.OrderID, fact.Evidence).notice("found", fact.Evidence).on("reconcile")
	case engine.NoteIntentRefused:
		refused := bad
		if fact.Purpose.Opens() {
			refused = warn
		}
		return either(fact.Ended,
			warn("intent.accepted", "accepted  %s: the %s is no longer refused, or no longer derived", n.Strategy, fact.Reason),
			refused("intent.refused", "REFUSED   %s: %s", n.Strategy, fact.Reason).with("cause", fact.Reason).notice("refused", fact.Reason).on("risk"))
	}
	return Wording{}
}

// ending describes how an order ended, with the filled quantity unless that is all of it.
func ending(s *exchange.Symbol, fact *engine.NoteSettled) string {
	if fact.State == placement.Filled || fact.Filled == 0 || s == nil {
		return fact.State.String()
	}
	return fact.State.String() + ", after " + quantity(s, fact.Filled) + " was filled"
}

// intent describes what an intent requests.
func intent(s *exchange.Symbol, intent *reconcile.Intent) string {
	switch intent.Purpose {
	case placement.Cancel:
		return fmt.Sprintf("cancel order %d", intent.OrderID)
	case placement.Leverage:
		return fmt.Sprintf("set leverage %d on %s", intent.Leverage, intent.Order.Symbol)
	}
	return intent.Purpose.String() + ": " + Order(s, &intent.Order)
}
