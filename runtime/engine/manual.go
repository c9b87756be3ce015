package engine

import (
	"cmp"
	"fmt"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/risk"
	"botd/strategy"
)

// ManualAction is a person's intended action on one order or one position: what is sent, and the effect
// on the strategy. The action halts its strategy, so that no later round undoes it.
type ManualAction struct {
	Scope account.Scope    // of the halt
	Level record.HaltLevel // of the halt
	Steps []Step           // requests sent now, and those that follow once they are confirmed
	Lines []string         // the consequences, in words
}

func (d *ManualAction) add(format string, values ...any) {
	d.Lines = append(d.Lines, fmt.Sprintf(format, values...))
}

// manual handles a person's actions on one order or one position.
type manual struct {
	*base
	halts    *halts
	previews *previews
}

// PreviewCancel returns the effect of canceling one order without canceling it. If it cannot be
// canceled, it returns the reason as an error.
func (m *manual) PreviewCancel(clientOrderID string) (ManualAction, error) {
	p := m.tracker.Placement(clientOrderID)
	if p == nil || p.State().Final() {
		return ManualAction{}, fmt.Errorf("order %s is no longer open: there is nothing to cancel", clientOrderID)
	}
	leg := m.legOn(p.Symbol())
	switch {
	case leg == nil:
		return ManualAction{}, fmt.Errorf("no strategy trades %s now, so botd sends nothing there", p.Symbol())
	case p.Withdrawn() != "":
		return ManualAction{}, fmt.Errorf("order %s is already being canceled: %s", clientOrderID, p.Withdrawn())
	case !p.Purpose().Opens():
		return ManualAction{}, fmt.Errorf(
			"order %s (%s) reduces or protects a position: no halt prevents such orders, and the next round would place it again\n"+
				"hint: close the position, or change the strategy's exits and protection",
			clientOrderID,
			p.Purpose(),
		)
	}
	action := ManualAction{Scope: account.Scope{Strategy: leg.config.Name}, Level: record.LevelPause}
	intent := reconcile.Intent{
		Strategy: leg.config.Name,
		Purpose:  placement.Cancel,
		OrderID:  p.OrderID(),
		ClientID: p.ClientOrderID(),
		Key:      p.Key(),
		Last:     leg.symbol.Last(),
		Before:   leg.symbol.Position(),
	}
	intent.Order.Market, intent.Order.Symbol = p.Order().Market, p.Order().Symbol
	action.Steps = []Step{{leg.config.Name, leg.config.Symbol, intent, p.OrderID() == 0}}
	action.add(
		"%s is halted at level %s, so that the order is not placed again: nothing opens; exits and stops continue",
		action.Scope,
		m.levelAfter(&action),
	)
	if p.OrderID() == 0 {
		action.add(
			"the exchange's id of the order is not known yet (%s): the order is canceled once it is known, unless it was never accepted",
			p.State(),
		)
	}
	if p.Filled() > 0 {
		action.add("%s of it has already filled and stays open as a position", leg.config.Symbol.QuantityDecimal(p.Filled()))
	}
	action.add("what fills until the cancel arrives also stays open as a position; its stop stays")
	m.addConsequences(leg, &action)
	return action, nil
}

// PreviewClose returns the effect of closing the position of one symbol without closing it. If botd
// could close nothing, it returns the reason as an error.
func (m *manual) PreviewClose(key exchange.SymbolKey) (ManualAction, error) {
	leg := m.legOn(key)
	if leg == nil {
		return ManualAction{}, fmt.Errorf("no strategy trades %s now: a position there is not botd's", key)
	}
	position := m.tracker.Closable(leg.symbol)
	switch {
	case !leg.symbol.Read() || leg.symbol.Last() <= 0:
		return ManualAction{}, fmt.Errorf("position and price of %s have not been read since the start: wait for a complete round", key)
	case leg.symbol.TrustedPosition() == 0:
		return ManualAction{}, fmt.Errorf(
			"there is no position on %s: there is nothing to close\nhint: botd halt --level flatten --strategy %s also cancels orders in flight",
			key,
			leg.config.Name,
		)
	case position == 0:
		return ManualAction{}, fmt.Errorf(
			"no part of the position on %s is known to be botd's\nhint: botd resolve %s --adopt assigns it to botd",
			key,
			key.Name,
		)
	}
	action := ManualAction{Scope: account.Scope{Strategy: leg.config.Name}, Level: record.LevelFlatten}
	action.Steps = m.previews.PreviewHalt(action.Level, action.Scope)
	action.add(
		"%s is halted at level %s: nothing opens, its opening orders are canceled, and its position is closed at market; "+
			"this continues until it is done, through failures and restarts",
		action.Scope,
		m.levelAfter(&action),
	)
	if left := leg.symbol.TrustedVenuePosition() - position; left != 0 {
		action.add("%s of the exchange's position is not known to be botd's and stays open", leg.config.Symbol.QuantityDecimal(left))
	}
	for p := range m.tracker.Live() {
		switch {
		case p.Symbol() != key:
		case p.Purpose() == placement.Exit:
			action.add("the exit %s is in flight (%s): another is sent only when it has ended, or its answer is lost", p.ClientOrderID(), p.State())
		case p.State().OutcomeUncertain() && p.Purpose().Opens():
			action.add(
				"placement %s is %s: the exit does not wait for it, and if it turns out to have opened a position, that is closed too",
				p.ClientOrderID(),
				p.State(),
			)
		}
	}
	if leg.symbol.Key().Market == exchange.Futures {
		action.add("a stop on the exchange stays until the position is closed, and ends with it")
	}
	m.addConsequences(leg, &action)
	return action, nil
}

// levelAfter returns the level of the strategy's own halt after the action.
func (m *manual) levelAfter(d *ManualAction) string {
	if before := m.tracker.HaltOf(d.Scope).Level; d.Level <= before {
		return before.String() + " already"
	}
	return d.Level.String()
}

// addConsequences adds the current refusals by rules, and the strategy's behavior after it is
// rearmed.
func (m *manual) addConsequences(leg *leg, d *ManualAction) {
	for i := range d.Steps {
		if d.Steps[i].Later {
			continue
		}
		for _, v := range m.previews.judge(leg, &d.Steps[i].Intent).Verdicts {
			if v.Outcome == risk.Rejected {
				d.add("the rule %s currently refuses a step of this (%s, limit %s): it is retried each round", v.Rule, v.Value, v.Limit)
			}
		}
	}
	wayBack := "botd rearm --strategy " + leg.config.Name
	plan := leg.state.Plan()
	switch sign := plan.Target().Sign(); {
	case leg.config.Removed:
		d.add("the strategy is no longer in the configuration: nothing opens again")
	case sign != 0:
		d.add(
			"it stays halted until it is rearmed (%s); its plan currently desires %s, so it may enter at once then",
			wayBack,
			targetText(plan.Target(), leg.config.Symbol),
		)
	case plan.Orders().Len() > 0:
		d.add(
			"it stays halted until it is rearmed (%s); its plan keeps %d opening orders in the book, so it places them at once then",
			wayBack,
			plan.Orders().Len(),
		)
	default:
		d.add("it stays halted until it is rearmed (%s); its plan currently desires no position", wayBack)
	}
}

// targetText returns a target as text.
func targetText(target strategy.Target, symbol *exchange.Symbol) string {
	side := "long"
	if target.Sign() < 0 {
		side = "short"
	}
	if target.Kind == strategy.ByQuantity {
		return side + " " + symbol.QuantityDecimal(target.Quantity.Abs()).String()
	}
	return "a " + side + " position"
}

// withdraw cancels one order at a person's request, repeatedly if necessary, until it has ended, and
// halts its strategy. Both are journalled.
func (m *manual) withdraw(event *EventWithdraw) {
	action, err := m.PreviewCancel(event.ClientOrderID)
	if err != nil {
		return // the preview returned the error: the order ended in between
	}
	p, why := m.tracker.Placement(event.ClientOrderID), cmp.Or(event.Reason, "manually")
	m.record(
		record.Record{
			Strategy:      p.Strategy(),
			Symbol:        p.Symbol(),
			ClientOrderID: p.ClientOrderID(),
			Body:          record.Withdrawn{OrderID: p.OrderID(), Reason: why},
		},
	)
	m.halts.halt(&EventHalt{action.Scope, action.Level, why})
	m.roundMS = m.nowMS
}
