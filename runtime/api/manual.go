package api

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/record"
	"botd/runtime/api/auth"
	"botd/runtime/engine"
	"botd/runtime/view"
)

var manualRoutes = []route{
	{id: "cancel_orders", tag: "orders", method: "POST", path: "/api/v1/orders/cancel", minimum: auth.Operator,
		endpoint: order(by(manualOf, (*manual).cancelOrders)),
		summary: "Cancels the opening orders that match (all of them without a filter), and pauses their strategies so that none is placed again. " +
			"The answer lists exactly what is sent; " +
			"with dry_run nothing is sent. Orders that reduce or protect stay. Each order is a separate change in the journal.", fails: []int{404, 409}},
	{id: "cancel_order", tag: "orders", method: "POST", path: "/api/v1/orders/{id}/cancel", minimum: auth.Operator,
		endpoint: order(by(manualOf, (*manual).cancelOrder)),
		summary: "Cancels one opening order, and pauses its strategy so that it is not placed again. " +
			"The answer lists exactly what is sent; with dry_run nothing is sent. " +
			"An order that reduces or protects is refused (409): no halt blocks those.", fails: []int{404, 409}},
	{id: "close_position", tag: "money", method: "POST", path: "/api/v1/positions/{market}/{symbol}/close", minimum: auth.Operator,
		endpoint: order(by(manualOf, (*manual).closePosition)),
		summary: "Closes the position of one symbol at market, reduceOnly, and halts its strategy at level flatten so that it is not opened again. " +
			"The answer lists exactly what is sent, " +
			"and what the strategy does afterwards; with dry_run nothing is done.", fails: []int{404, 409}},
}

const wantReason = `want {"reason": "..."}; dry_run shows what it would send`

func (m *manual) cancelOrder(r *request, body *ReasonRequest) (HaltAnswer, error) {
	if err := body.need(r, wantReason); err != nil {
		return HaltAnswer{}, err
	}
	order, _, known := m.config.History.Order(r.PathValue("id"))
	if !known {
		return HaltAnswer{}, notFound("order", r.PathValue("id"))
	}
	id := order.ClientOrderID
	return m.manually(r, body, func() (engine.ManualAction, error) { return m.config.Engine.PreviewCancel(id) },
		func(*engine.ManualAction) engine.Event { return r.withdrawal(id, body) })
}

func (r *request) withdrawal(clientOrderID string, body *ReasonRequest) engine.Event {
	return r.audited("order "+clientOrderID, "cancel: "+body.Reason, &engine.EventWithdraw{ClientOrderID: clientOrderID, Reason: body.Reason})
}

func (m *manual) closePosition(r *request, body *ReasonRequest) (HaltAnswer, error) {
	if err := body.need(r, wantReason); err != nil {
		return HaltAnswer{}, err
	}
	key, err := exchange.ParseSymbolKey(r.PathValue("market"), r.PathValue("symbol"))
	if err != nil {
		return HaltAnswer{}, notFound("market", r.PathValue("market"))
	}
	preview := func() (engine.ManualAction, error) { return m.config.Engine.PreviewClose(key) }
	return m.manually(r, body, preview, func(action *engine.ManualAction) engine.Event {
		return r.audited(account.Scope{Symbol: key}.String(), "close: "+body.Reason, &engine.EventHalt{Level: action.Level, Scope: action.Scope,
			Reason: body.Reason})
	})
}

// manually answers with the requests of a manual order, and unless it is a dry run passes its event
// to the engine.
func (m *manual) manually(r *request, body *ReasonRequest, preview func() (engine.ManualAction, error),
	event func(*engine.ManualAction) engine.Event) (HaltAnswer, error) {
	var action engine.ManualAction
	var refused error
	if err := m.controls.query(r, func() { action, refused = preview() }); err != nil {
		return HaltAnswer{}, err
	}
	if refused != nil {
		return HaltAnswer{}, notPossible(refused.Error())
	}
	out := newHaltAnswer(r, action.Level, action.Scope.String(), body.Reason)
	out.Effects = view.OrEmpty(action.Lines)
	for i := range action.Steps {
		out.Steps = append(out.Steps, view.HaltStepOf(&action.Steps[i]))
	}
	if r.dryRun {
		return out, nil
	}
	return out, m.controls.send(r, event(&action))
}

// CancelRequest is a selection of opening orders to cancel: those that match all given fields.
type CancelRequest struct {
	Strategy string `json:"strategy,omitempty"`
	Market   string `json:"market,omitempty"` // futures | spot
	Symbol   string `json:"symbol,omitempty"`
	ReasonRequest
}

func (c *CancelRequest) matches(strategy, market, symbol string) bool {
	return (c.Strategy == "" || c.Strategy == strategy) && (c.Market == "" || c.Market == market) && (c.Symbol == "" || c.Symbol == symbol)
}

// String names the selected orders.
func (c *CancelRequest) String() string {
	text := strings.Join(strings.Fields(c.Market+" "+c.Symbol), " ")
	if c.Strategy != "" {
		text = strings.TrimSpace("strategy " + c.Strategy + " " + text)
	}
	if text == "" {
		return "all opening orders"
	}
	return "opening orders of " + text
}

func (m *manual) cancelOrders(r *request, body *CancelRequest) (HaltAnswer, error) {
	if err := body.need(r, wantReason); err != nil {
		return HaltAnswer{}, err
	}
	if err := knownMarket(body.Market); err != nil {
		return HaltAnswer{}, err
	}
	var orders, names []string
	known := false
	out := newHaltAnswer(r, record.LevelPause, body.String(), body.Reason)
	err := m.controls.query(r, func() {
		status := m.config.Engine.Status()
		for i := range status.Strategies {
			names = append(names, status.Strategies[i].Name)
		}
		known = slices.ContainsFunc(status.Strategies, func(t engine.StrategyStatus) bool {
			return body.matches(t.Name, t.Symbol.Market.String(), t.Symbol.Name)
		})
		orders = m.withdrawing(body, &status, &out)
	})
	switch {
	case err != nil:
		return out, err
	case !known: // a person who mistypes a name must not believe that its orders are canceled
		return out, &failure{http.StatusNotFound, "not_found", fmt.Sprintf("%s: no strategy matches (there are: %s): nothing was changed", body,
			strings.Join(names, ", "))}
	case r.dryRun:
		return out, nil
	case len(orders) == 0:
		return out, notPossible(body.String() + ": no working order can be canceled")
	}
	for _, id := range orders { // each is a separate change in the journal, with its sender
		if err := m.controls.send(r, r.withdrawal(id, &body.ReasonRequest)); err != nil {
			return out, err // a repeated request continues: canceled orders are left out
		}
	}
	return out, nil
}

// withdrawing returns the orders that can be canceled, and adds the requests and their consequences
// to the answer.
func (m *manual) withdrawing(body *CancelRequest, status *engine.Status, out *HaltAnswer) (orders []string) {
	for i := range status.Live {
		p := &status.Live[i]
		key := p.Symbol()
		if !p.Purpose().Opens() || !body.matches(p.Strategy(), key.Market.String(), key.Name) {
			continue
		}
		action, err := m.config.Engine.PreviewCancel(p.ClientOrderID())
		if err != nil {
			out.Effects = append(out.Effects, err.Error())
			continue
		}
		orders = append(orders, p.ClientOrderID())
		for j := range action.Steps {
			out.Steps = append(out.Steps, view.HaltStepOf(&action.Steps[j]))
		}
		for _, line := range action.Lines { // the lines of several orders of a strategy are the same
			if !slices.Contains(out.Effects, line) {
				out.Effects = append(out.Effects, line)
			}
		}
	}
	return orders
}
