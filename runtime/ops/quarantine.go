package ops

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

// QuarantineJSON is a symbol that waits for a person, with the evidence.
type QuarantineJSON struct {
	Market     string      `json:"market"`
	Symbol     string      `json:"symbol"`
	Strategy   string      `json:"strategy,omitempty"`
	Cause      string      `json:"cause"`
	Since      time.Time   `json:"since"`
	Position   string      `json:"position"`   // as the exchange tells it
	Explained  string      `json:"explained"`  // by botd's own fills and what was adopted
	Ignored    string      `json:"ignored"`    // left to somebody else
	Difference string      `json:"difference"` // what nothing explains
	Unknown    []OrderJSON `json:"unknown"`    // placements whose fate is not known
	Orders     []StrayJSON `json:"orders"`     // open orders the journal does not know
	Adopt      []string    `json:"adopt"`      // what --adopt would change
	Ignore     []string    `json:"ignore"`
	Blocked    string      `json:"blocked,omitempty"` // why it can not be resolved now
}

// StrayJSON is an open order that the journal does not know.
type StrayJSON struct {
	OrderID       int64  `json:"order_id"`
	ClientOrderID string `json:"client_order_id"`
	Side          string `json:"side"`
	Type          string `json:"type"`
	Quantity      string `json:"quantity"`
	Filled        string `json:"filled"`
	Price         string `json:"price"`
	StopPrice     string `json:"stop_price"`
}

// ResolveRequest is what /api/v1/resolve takes.
type ResolveRequest struct {
	Market   string `json:"market,omitempty"` // where the symbol is quarantined in both
	Symbol   string `json:"symbol"`
	Decision string `json:"decision"` // adopt, ignore
	Reason   string `json:"reason"`
	DryRun   bool   `json:"dry_run,omitempty"`
}

// ResolveJSON is the answer.
type ResolveJSON struct {
	Schema   int      `json:"schema"`
	DryRun   bool     `json:"dry_run"`
	Market   string   `json:"market"`
	Symbol   string   `json:"symbol"`
	Decision string   `json:"decision"`
	Reason   string   `json:"reason"`
	Cause    string   `json:"cause"`   // of the quarantine
	Changes  []string `json:"changes"` // to botd's book; nothing is sent
}

func (s *Server) quarantines(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), engineWithin)
	defer cancel()
	items := []QuarantineJSON{}
	err := s.control.Read(ctx, func() {
		for _, q := range s.control.Engine.Quarantines() {
			items = append(items, quarantineJSON(&q))
		}
	})
	if err != nil {
		problem(w, http.StatusServiceUnavailable, "the engine does not answer now")
		return
	}
	answer(w, http.StatusOK, list(items))
}

// resolve ends a quarantine. It is refused when there is none.
func (s *Server) resolve(w http.ResponseWriter, r *http.Request) {
	if !s.authorized(w, r) {
		return
	}
	var asked ResolveRequest
	if err := decode(r, &asked); err != nil || asked.Symbol == "" || asked.Decision != "adopt" && asked.Decision != "ignore" || !asked.DryRun && strings.TrimSpace(asked.Reason) == "" {
		problem(w, http.StatusBadRequest, `want {"symbol": "BTC-USDT", "decision": "adopt"|"ignore", "reason": "..."}, market where both are quarantined, dry_run to see what it would change`)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), engineWithin)
	defer cancel()
	var resolution engine.Resolution
	var refused error
	err := s.control.Read(ctx, func() {
		var key exchange.SymbolKey
		if key, refused = quarantined(&asked, s.control.Engine.Quarantines()); refused == nil {
			resolution, refused = s.control.Engine.Resolving(key, asked.Decision == "adopt", asked.Reason)
		}
	})
	switch {
	case err != nil:
		problem(w, http.StatusServiceUnavailable, "the engine does not take events now: nothing was changed")
		return
	case refused != nil:
		problem(w, http.StatusConflict, refused.Error())
		return
	}
	out := ResolveJSON{Schema: 1, DryRun: asked.DryRun, Market: resolution.Symbol.Market.String(), Symbol: resolution.Symbol.Name, Decision: asked.Decision,
		Reason: asked.Reason, Cause: resolution.Cause, Changes: resolution.Lines}
	if asked.DryRun {
		answer(w, http.StatusOK, out)
		return
	}
	if s.sent(ctx, w, engine.Event{Kind: engine.EventResolve, Scope: reconcile.Scope{Symbol: resolution.Symbol}, Adopt: resolution.Adopt, Why: asked.Reason}) {
		answer(w, http.StatusOK, out)
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

func quarantineJSON(q *engine.Quarantine) QuarantineJSON {
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
	out := QuarantineJSON{Market: q.Symbol.Market.String(), Symbol: q.Symbol.Name, Strategy: q.Strategy, Cause: q.Cause, Since: time.UnixMilli(q.SinceMS).UTC(),
		Position: quantity(q.Venue), Explained: quantity(q.Known), Ignored: quantity(q.Ignored), Difference: quantity(q.Difference),
		Unknown: []OrderJSON{}, Orders: []StrayJSON{}, Adopt: q.Adopt, Ignore: q.Ignore, Blocked: q.Blocked}
	for i := range q.Unknown {
		p := &q.Unknown[i]
		out.Unknown = append(out.Unknown, OrderJSON{p.ClientOrderID, p.OrderID, p.Strategy, p.Purpose.String(), out.Market, out.Symbol, p.Order.Side.String(), p.Order.Type.String(),
			p.State.String(), price(p.Order.Price), price(p.Order.StopPrice), quantity(p.Order.Quantity), quantity(p.Filled), p.SentMS})
	}
	for i := range q.Orders {
		o := &q.Orders[i]
		out.Orders = append(out.Orders, StrayJSON{o.ID, o.ClientOrderID, o.Side.String(), o.Type.String(), quantity(o.Quantity), quantity(o.Filled), price(o.Price), price(o.StopPrice)})
	}
	return out
}
