package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/reconcile"
	"botd/runtime/engine"
)

// Quarantine is a symbol that waits for a person, with the evidence.
type Quarantine struct {
	Market     string    `json:"market"`
	Symbol     string    `json:"symbol"`
	Strategy   string    `json:"strategy,omitempty"`
	Cause      string    `json:"cause"`
	Since      time.Time `json:"since"`
	Position   string    `json:"position"`   // as the exchange tells it
	Explained  string    `json:"explained"`  // by botd's own fills and what was adopted
	Ignored    string    `json:"ignored"`    // left to somebody else
	Difference string    `json:"difference"` // what nothing explains
	Unknown    []Order   `json:"unknown"`    // placements whose fate is not known
	Orders     []Stray   `json:"orders"`     // open orders the journal does not know
	Adopt      []string  `json:"adopt"`      // what --adopt would change
	Ignore     []string  `json:"ignore"`
	Blocked    string    `json:"blocked,omitempty"` // why it can not be resolved now
}

// Stray is an open order that the journal does not know.
type Stray struct {
	OrderID       int64  `json:"order_id"`
	ClientOrderID string `json:"client_order_id"`
	Side          string `json:"side"`
	Type          string `json:"type"`
	Quantity      string `json:"quantity"`
	Filled        string `json:"filled"`
	Price         string `json:"price"`
	StopPrice     string `json:"stop_price"`
}

// ResolveRequest is what /api/v1/reconcile/resolve takes.
type ResolveRequest struct {
	Market   string `json:"market,omitempty"` // where the symbol is quarantined in both
	Symbol   string `json:"symbol"`
	Decision string `json:"decision"` // adopt, ignore
	Reason   string `json:"reason"`
	DryRun   bool   `json:"dry_run,omitempty"`
}

// ResolveAnswer is the answer.
type ResolveAnswer struct {
	Schema   int      `json:"schema"`
	DryRun   bool     `json:"dry_run"`
	Market   string   `json:"market"`
	Symbol   string   `json:"symbol"`
	Decision string   `json:"decision"`
	Reason   string   `json:"reason"`
	Cause    string   `json:"cause"`   // of the quarantine
	Changes  []string `json:"changes"` // to botd's book; nothing is sent
}

// quarantines asks the engine which symbols wait for a person.
func (s *Server) quarantines(ctx context.Context) ([]Quarantine, error) {
	items := []Quarantine{}
	err := s.config.Driver.Query(ctx, func() {
		for _, q := range s.config.Engine.Quarantines() {
			items = append(items, QuarantineOf(&q))
		}
	})
	return items, err
}

// listQuarantines serves GET /api/v1/reconcile/quarantines.
func (s *Server) listQuarantines(w http.ResponseWriter, r *http.Request) {
	if !noQuery(w, r) {
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), engineWithin)
	defer cancel()
	items, err := s.quarantines(ctx)
	if err != nil {
		problem(w, r, http.StatusServiceUnavailable, "stopped", "the engine does not answer now")
		return
	}
	writeList(w, r, items, "")
}

// resolve serves POST /api/v1/reconcile/resolve: it ends a quarantine, and is
// refused when there is none.
func (s *Server) resolve(w http.ResponseWriter, r *http.Request) {
	dry, ok := dryRun(w, r)
	if !ok {
		return
	}
	var asked ResolveRequest
	err := body(r, &asked)
	asked.DryRun = asked.DryRun || dry
	if tooLarge(err) {
		problemOfBody(w, r, err)
		return
	}
	if err != nil || len(asked.Reason) > maxReason || asked.Symbol == "" || asked.Decision != "adopt" && asked.Decision != "ignore" || !asked.DryRun && strings.TrimSpace(asked.Reason) == "" {
		problem(w, r, http.StatusBadRequest, "body", `want {"symbol": "BTC-USDT", "decision": "adopt"|"ignore", "reason": "..."}, market where both are quarantined, dry_run to see what it would change`)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), engineWithin)
	defer cancel()
	var resolution engine.Resolution
	var refused error
	err = s.config.Driver.Query(ctx, func() {
		var key exchange.SymbolKey
		if key, refused = quarantined(&asked, s.config.Engine.Quarantines()); refused == nil {
			resolution, refused = s.config.Engine.Resolving(key, asked.Decision == "adopt", asked.Reason)
		}
	})
	switch {
	case err != nil:
		problem(w, r, http.StatusServiceUnavailable, "stopped", "the engine does not take events now: nothing was changed")
		return
	case refused != nil:
		problem(w, r, http.StatusConflict, "not_quarantined", refused.Error())
		return
	}
	out := ResolveAnswer{Schema: 1, DryRun: asked.DryRun, Market: resolution.Symbol.Market.String(), Symbol: resolution.Symbol.Name, Decision: asked.Decision,
		Reason: asked.Reason, Cause: resolution.Cause, Changes: OrEmpty(resolution.Lines)}
	scope := reconcile.Scope{Symbol: resolution.Symbol}
	event := engine.Event{Kind: engine.EventResolve, Scope: scope, Adopt: resolution.Adopt, Why: asked.Reason, Audit: audit(r, scope.String(), asked.Decision+": "+asked.Reason)}
	if asked.DryRun || s.sent(ctx, w, r, event) {
		answerAs(w, http.StatusOK, out)
	}
}

// quarantined finds the symbol meant.
func quarantined(asked *ResolveRequest, all []engine.Quarantine) (found exchange.SymbolKey, err error) {
	count := 0
	for i := range all {
		if key := all[i].Symbol; key.Name == asked.Symbol && (asked.Market == "" || asked.Market == key.Market.String()) {
			found = key
			count++
		}
	}
	switch count {
	case 0:
		return found, fmt.Errorf("%s is not quarantined: there is nothing to resolve", strings.TrimSpace(asked.Market+" "+asked.Symbol))
	case 1:
		return found, nil
	}
	return found, errors.New(asked.Symbol + " is quarantined in both markets: say which")
}

// QuarantineOf writes a symbol that waits for a person.
func QuarantineOf(q *engine.Quarantine) Quarantine {
	quantity := func(v exchange.Quantity) string {
		if q.Rules == nil {
			return decimal.NewFromInt(int64(v)).String()
		}
		return q.Rules.QuantityDecimal(v).String()
	}
	price := func(v exchange.Price) string {
		if q.Rules == nil {
			return decimal.NewFromInt(int64(v)).String()
		}
		return q.Rules.PriceDecimal(v).String()
	}
	out := Quarantine{Market: q.Symbol.Market.String(), Symbol: q.Symbol.Name, Strategy: q.Strategy, Cause: q.Cause, Since: time.UnixMilli(q.SinceMS).UTC(),
		Position: quantity(q.Venue), Explained: quantity(q.Known), Ignored: quantity(q.Ignored), Difference: quantity(q.Difference),
		Unknown: []Order{}, Orders: []Stray{}, Adopt: OrEmpty(q.Adopt), Ignore: OrEmpty(q.Ignore), Blocked: q.Blocked}
	for i := range q.Unknown {
		out.Unknown = append(out.Unknown, orderOf(&q.Unknown[i], q.Rules))
	}
	for i := range q.Orders {
		o := &q.Orders[i]
		out.Orders = append(out.Orders, Stray{o.ID, o.ClientOrderID, o.Side.String(), o.Type.String(), quantity(o.Quantity), quantity(o.Filled), price(o.Price), price(o.StopPrice)})
	}
	return out
}
