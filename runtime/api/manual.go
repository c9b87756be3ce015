package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"botd/reconcile"
	"botd/runtime/engine"
	"botd/runtime/view"
)

// HandRequest is what a change of one order or one position takes.
type HandRequest struct {
	Reason string `json:"reason,omitempty"`
	DryRun bool   `json:"dry_run,omitempty"` // says what it would send, and sends nothing
}

// cancelOrder serves POST /api/v1/orders/{id}/cancel: one opening order is taken out
// of the book, and its strategy paused so that it is not placed anew.
func (s *Server) cancelOrder(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	var asked HandRequest
	if !readHand(w, r, &asked, &asked) {
		return
	}
	order, _, known := s.config.History.Order(id)
	if !known {
		missing(w, r, "order", id)
		return
	}
	id = order.ClientOrderID
	s.byHand(w, r, &asked, func() (engine.Deed, error) { return s.config.Engine.Withdrawing(id) }, func(*engine.Deed) engine.Event {
		return audited(r, "order "+id, "cancel: "+asked.Reason, &engine.EventWithdraw{ClientOrderID: id, Why: asked.Reason})
	})
}

// closePosition serves POST /api/v1/positions/{market}/{symbol}/close: the position is
// closed at market, and its strategy halted so that it is not opened anew.
func (s *Server) closePosition(w http.ResponseWriter, r *http.Request) {
	var asked HandRequest
	if !readHand(w, r, &asked, &asked) {
		return
	}
	key, err := symbolKey(r.PathValue("market"), r.PathValue("symbol"))
	if err != nil {
		missing(w, r, "market", r.PathValue("market"))
		return
	}
	s.byHand(w, r, &asked, func() (engine.Deed, error) { return s.config.Engine.Closing(key) }, func(deed *engine.Deed) engine.Event {
		return audited(r, reconcile.Scope{Symbol: key}.String(), "close: "+asked.Reason, &engine.EventHalt{Level: deed.Level, Scope: deed.Scope, Why: asked.Reason})
	})
}

// readHand reads a body that has a reason, which only a trial does without.
func readHand(w http.ResponseWriter, r *http.Request, into any, asked *HandRequest) bool {
	dry, ok := dryRun(w, r)
	if !ok {
		return false
	}
	err := optional(r, into)
	asked.DryRun = asked.DryRun || dry
	switch {
	case err != nil:
	case len(asked.Reason) > maxReason:
		err = fmt.Errorf("reason is %d bytes long, at most %d are kept", len(asked.Reason), maxReason)
	case !asked.DryRun && strings.TrimSpace(asked.Reason) == "":
		err = errors.New(`want {"reason": "..."}; dry_run shows what it would send`)
	}
	if err != nil {
		problemOfBody(w, r, err)
	}
	return err == nil
}

// byHand answers what a deed sends, and unless it is only tried gives the engine its event.
func (s *Server) byHand(w http.ResponseWriter, r *http.Request, asked *HandRequest, foresee func() (engine.Deed, error), event func(*engine.Deed) engine.Event) {
	ctx, cancel := context.WithTimeout(r.Context(), engineWithin)
	defer cancel()
	var deed engine.Deed
	var refused error
	if s.config.Driver.Query(ctx, func() { deed, refused = foresee() }) != nil {
		problem(w, r, http.StatusServiceUnavailable, "stopped", "the engine does not take events now: nothing was changed")
		return
	}
	if refused != nil {
		problem(w, r, http.StatusConflict, "not_possible", refused.Error())
		return
	}
	out := HaltAnswer{Schema: 1, DryRun: asked.DryRun, Level: deed.Level, Scope: deed.Scope.String(), Reason: asked.Reason, Does: view.OrEmpty(deed.Lines), Steps: []view.HaltStep{}, Still: []view.Degraded{}}
	for i := range deed.Steps {
		out.Steps = append(out.Steps, view.HaltStepOf(&deed.Steps[i]))
	}
	if asked.DryRun {
		answerAs(w, http.StatusOK, out)
		return
	}
	if s.sent(ctx, w, r, event(&deed)) {
		answerAs(w, http.StatusAccepted, out)
	}
}
