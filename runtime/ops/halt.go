package ops

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"botd/exchange"
	"botd/reconcile"
	"botd/runtime"
	"botd/runtime/engine"
)

// Levels of the kill switch.
var Levels = reconcile.Levels

// engineWithin bounds how long a request waits for the engine.
const engineWithin = 5 * time.Second

// HaltRequest is what /api/v1/risk/halt takes; rearm takes the scope alone.
type HaltRequest struct {
	Level    string `json:"level,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Strategy string `json:"strategy,omitempty"` // of one strategy alone
	Market   string `json:"market,omitempty"`   // of one symbol alone: where its name is in both markets
	Symbol   string `json:"symbol,omitempty"`
	DryRun   bool   `json:"dry_run,omitempty"` // says what it would send, and sends nothing
}

// HaltJSON is the answer.
type HaltJSON struct {
	Schema int            `json:"schema"`
	DryRun bool           `json:"dry_run"`
	Level  string         `json:"level"`
	Scope  string         `json:"scope"`
	Reason string         `json:"reason"`
	Steps  []StepJSON     `json:"steps"`           // what it sends, in order
	Still  []DegradedJSON `json:"still,omitempty"` // rearm: what keeps trading back all the same
}

// StepJSON is one thing a halt sends.
type StepJSON struct {
	Strategy      string `json:"strategy"`
	Market        string `json:"market"`
	Symbol        string `json:"symbol"`
	Action        string `json:"action"` // cancel, exit
	Side          string `json:"side,omitempty"`
	Type          string `json:"type,omitempty"`
	Quantity      string `json:"quantity,omitempty"`
	Price         string `json:"price,omitempty"`
	StopPrice     string `json:"stop_price,omitempty"`
	ReduceOnly    bool   `json:"reduce_only,omitempty"`
	ClosePosition bool   `json:"close_position,omitempty"`
	ClientOrderID string `json:"client_order_id,omitempty"` // cancel: of which order
	OrderID       int64  `json:"order_id,omitempty"`
	Later         bool   `json:"later,omitempty"` // once the cancels before it are confirmed
	Text          string `json:"text"`            // for people
}

// decode reads a request's body strictly; an empty one is the zero value.
func decode(r *http.Request, into any) error {
	if r.ContentLength == 0 {
		return nil
	}
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}

func (s *Server) halt(w http.ResponseWriter, r *http.Request) {
	if !s.authorized(w, r) {
		return
	}
	var asked HaltRequest
	if err := decode(r, &asked); err != nil || !slices.Contains(Levels, asked.Level) || !asked.DryRun && strings.TrimSpace(asked.Reason) == "" {
		problem(w, http.StatusBadRequest, `want {"level": "pause"|"cancel"|"flatten", "reason": "..."}, and strategy or symbol for a part of the account, dry_run to see what it would send`)
		return
	}
	s.give(w, r, &asked)
}

func (s *Server) rearm(w http.ResponseWriter, r *http.Request) {
	if !s.authorized(w, r) {
		return
	}
	var asked HaltRequest
	if err := decode(r, &asked); err != nil || asked.Level != "" {
		problem(w, http.StatusBadRequest, `want nothing, or {"strategy": "..."} or {"symbol": "..."} of a halt of its own`)
		return
	}
	if strings.TrimSpace(asked.Reason) == "" {
		asked.Reason = "armed again by the operator"
	}
	s.give(w, r, &asked)
}

// give hands a halt, or its end, to the engine and answers what it will send.
func (s *Server) give(w http.ResponseWriter, r *http.Request, asked *HaltRequest) {
	ctx, cancel := context.WithTimeout(r.Context(), engineWithin)
	defer cancel()
	var scope reconcile.Scope
	var unknown error
	out := HaltJSON{Schema: 1, DryRun: asked.DryRun, Level: asked.Level, Reason: asked.Reason, Steps: []StepJSON{}}
	read := s.control.Read(ctx, func() {
		status := s.control.Engine.Status()
		if scope, unknown = scopeOf(asked, &status); unknown == nil && asked.Level != "" {
			for _, step := range s.control.Engine.Preview(asked.Level, scope) {
				out.Steps = append(out.Steps, stepJSON(&step))
			}
		}
	})
	switch {
	case read != nil:
		problem(w, http.StatusServiceUnavailable, "the engine does not take events now: nothing was changed")
		return
	case unknown != nil:
		problem(w, http.StatusNotFound, unknown.Error())
		return
	}
	out.Scope = scope.String()
	if asked.DryRun {
		answer(w, http.StatusOK, out)
		return
	}
	if !s.sent(ctx, w, engine.Event{Kind: engine.EventHalt, Level: asked.Level, Scope: scope, Why: asked.Reason}) {
		return
	}
	if asked.Level == "" {
		// Arming one thing may leave another in force: that is told, or it would be missed.
		_ = s.control.Read(ctx, func() { out.Still = degradedJSON(s.control.Engine.Status().Degraded) })
	}
	answer(w, http.StatusAccepted, out)
}

// sent gives the engine an event; what went wrong is answered.
func (s *Server) sent(ctx context.Context, w http.ResponseWriter, event engine.Event) bool {
	err := s.control.Send(ctx, event)
	switch {
	case err == nil:
		return true
	case errors.Is(err, runtime.ErrUnwritten):
		problem(w, http.StatusServiceUnavailable, "in force now, but not written to the journal yet: a restart would forget it")
	default:
		problem(w, http.StatusServiceUnavailable, "the engine does not take events now: nothing was changed")
	}
	return false
}

// scopeOf finds what a halt is of. A scope that nothing answers to is refused:
// who mistypes a name must not believe it halted.
func scopeOf(asked *HaltRequest, status *engine.Status) (reconcile.Scope, error) {
	if asked.Strategy != "" && asked.Symbol != "" {
		return reconcile.Scope{}, errors.New("give strategy or symbol, not both")
	}
	var scopes []reconcile.Scope
	var names []string
	for i := range status.Strategies {
		t := &status.Strategies[i]
		key := t.Symbol.Key()
		names = append(names, t.Name)
		switch {
		case asked.Strategy != "" && t.Name == asked.Strategy:
			scopes = append(scopes, reconcile.Scope{Strategy: t.Name})
		case asked.Symbol == key.Name && (asked.Market == "" || asked.Market == key.Market.String()):
			scopes = append(scopes, reconcile.Scope{Symbol: key})
		}
	}
	for i := range status.Degraded { // a halt of what is not configured any more can be ended too
		scope := status.Degraded[i].Scope
		named := asked.Strategy != "" && scope.Strategy == asked.Strategy || asked.Symbol != "" && scope.Symbol.Name == asked.Symbol && (asked.Market == "" || asked.Market == scope.Symbol.Market.String())
		if named && !slices.Contains(scopes, scope) {
			scopes = append(scopes, scope)
		}
	}
	switch {
	case asked.Strategy == "" && asked.Symbol == "":
		return reconcile.Scope{}, nil
	case len(scopes) == 0 && asked.Strategy != "":
		return reconcile.Scope{}, fmt.Errorf("there is no strategy %q (there are: %s): nothing was changed", asked.Strategy, strings.Join(names, ", "))
	case len(scopes) == 0:
		return reconcile.Scope{}, fmt.Errorf("no strategy trades %q: nothing was changed", strings.TrimSpace(asked.Market+" "+asked.Symbol))
	case len(scopes) > 1:
		return reconcile.Scope{}, fmt.Errorf("%s is traded in both markets: say which", asked.Symbol)
	}
	return scopes[0], nil
}

func stepJSON(step *engine.Step) StepJSON {
	o, symbol := &step.Intent.Order, step.Symbol
	out := StepJSON{Strategy: step.Strategy, Market: symbol.Market.String(), Symbol: symbol.Name, Action: step.Intent.Purpose.String(), Later: step.Later,
		ClientOrderID: step.Intent.ClientID, OrderID: step.Intent.OrderID}
	if step.Intent.Purpose == reconcile.Cancel {
		out.Text = fmt.Sprintf("cancel order %d (%s) on %s", out.OrderID, out.ClientOrderID, symbol.Key())
		return out
	}
	out.Side, out.Type, out.ReduceOnly, out.ClosePosition = o.Side.String(), o.Type.String(), o.ReduceOnly, o.ClosePosition
	out.Quantity, out.Price = nonZero(o.Quantity != 0, symbol.QuantityDecimal(o.Quantity)), nonZero(o.Price != 0, symbol.PriceDecimal(o.Price))
	out.StopPrice = nonZero(o.StopPrice != 0, symbol.PriceDecimal(o.StopPrice))
	out.Text = fmt.Sprintf("close by %s %s %s on %s", out.Side, out.Type, closing(o, out.Quantity), symbol.Key())
	if out.Price != "" {
		out.Text += " at " + out.Price + " or better"
	}
	if notional := symbol.Notional(step.Intent.Last, o.Quantity); !notional.IsZero() {
		out.Text += fmt.Sprintf(" (about %s USDT)", notional.Decimal().Round(2))
	}
	if out.Later {
		out.Text += ", once the cancels are confirmed"
	}
	return out
}

func closing(o *exchange.NewOrder, quantity string) string {
	if o.ClosePosition {
		return "the whole position"
	}
	return quantity
}
