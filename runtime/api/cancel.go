package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"botd/reconcile"
	"botd/runtime/engine"
	"botd/runtime/view"
)

// CancelRequest is what /api/v1/orders/cancel takes: of all opening orders those that
// fit what is given.
type CancelRequest struct {
	Strategy string `json:"strategy,omitempty"`
	Market   string `json:"market,omitempty"`
	Symbol   string `json:"symbol,omitempty"`
	HandRequest
}

// covers reports whether an order is among those asked for.
func (c *CancelRequest) covers(strategy, market, symbol string) bool {
	return (c.Strategy == "" || c.Strategy == strategy) && (c.Market == "" || c.Market == market) && (c.Symbol == "" || c.Symbol == symbol)
}

// String says which orders are asked for.
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

// cancelOrders serves POST /api/v1/orders/cancel: the opening orders that fit are taken
// out of the book, and their strategies paused so that none is placed anew.
func (s *Server) cancelOrders(w http.ResponseWriter, r *http.Request) {
	var asked CancelRequest
	if !readHand(w, r, &asked, &asked.HandRequest) {
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), engineWithin)
	defer cancel()
	var orders []string
	var unknown error
	out := HaltAnswer{Schema: 1, DryRun: asked.DryRun, Level: reconcile.LevelPause, Scope: asked.String(), Reason: asked.Reason, Does: []string{}, Steps: []view.HaltStep{}, Still: []view.Degraded{}}
	err := s.config.Driver.Query(ctx, func() {
		status := s.config.Engine.Status()
		if unknown = asked.known(&status); unknown != nil {
			return
		}
		orders = s.withdrawing(&asked, &status, &out)
	})
	switch {
	case err != nil:
		problem(w, r, http.StatusServiceUnavailable, "stopped", "the engine does not take events now: nothing was changed")
		return
	case unknown != nil:
		problem(w, r, http.StatusNotFound, "not_found", unknown.Error())
		return
	case asked.DryRun:
		answerAs(w, http.StatusOK, out)
		return
	case len(orders) == 0:
		problem(w, r, http.StatusConflict, "not_possible", asked.String()+": none is under way that can be canceled")
		return
	}
	for _, id := range orders { // each is a change of its own in the journal, with who asked
		event := audited(r, "order "+id, "cancel: "+asked.Reason, &engine.EventWithdraw{ClientOrderID: id, Why: asked.Reason})
		if !s.sent(ctx, w, r, event) {
			return // asked again it goes on: those that are canceled already are left out
		}
	}
	answerAs(w, http.StatusAccepted, out)
}

// withdrawing returns the orders that can be taken out of the book, and tells what
// that sends and what comes of it.
func (s *Server) withdrawing(asked *CancelRequest, status *engine.Status, out *HaltAnswer) (orders []string) {
	for i := range status.Live {
		p := &status.Live[i]
		key := p.Order.Key()
		if !p.Purpose.Opens() || !asked.covers(p.Strategy, key.Market.String(), key.Name) {
			continue
		}
		deed, err := s.config.Engine.Withdrawing(p.ClientOrderID)
		if err != nil {
			out.Does = append(out.Does, err.Error())
			continue
		}
		orders = append(orders, p.ClientOrderID)
		for j := range deed.Steps {
			out.Steps = append(out.Steps, view.HaltStepOf(&deed.Steps[j]))
		}
		for _, line := range deed.Lines { // several orders of a strategy come to the same
			if !slices.Contains(out.Does, line) {
				out.Does = append(out.Does, line)
			}
		}
	}
	return orders
}

// known refuses what nothing answers to: who mistypes a name must not believe its
// orders canceled.
func (c *CancelRequest) known(status *engine.Status) error {
	for i := range status.Strategies {
		if t := &status.Strategies[i]; c.covers(t.Name, t.Symbol.Market.String(), t.Symbol.Name) {
			return nil
		}
	}
	return fmt.Errorf("%s: no strategy fits: nothing was changed", c)
}
