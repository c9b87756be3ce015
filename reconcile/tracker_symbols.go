package reconcile

import (
	"cmp"
	"iter"
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
)

// journalled is the account's journalled state. The tracker promotes its methods, but hides its Apply
// behind its own.
type journalled = account.State

// tracked is the journalled state with the symbols that the tracker tracks and the live placements that
// do not rest.
type tracked struct {
	*journalled
	symbols  []*SymbolState // sorted by key
	bySymbol map[exchange.SymbolKey]*SymbolState
	recent   *SymbolState         // the last one looked up
	inFlight []*account.Placement // live placements that do not rest, oldest first
}

// InFlight yields the live placements that do not rest, oldest first: sent without an answer,
// acknowledged but not read yet, uncertain, or market orders. They are few, however many orders rest.
func (t *tracked) InFlight() iter.Seq[*account.Placement] { return slices.Values(t.inFlight) }

// AnyInFlight reports whether any placement in flight satisfies the condition.
func (t *tracked) AnyInFlight(satisfies func(*account.Placement) bool) bool {
	return slices.ContainsFunc(t.inFlight, satisfies)
}

// InFlightOn yields the placements in flight on a symbol, oldest first.
func (t *tracked) InFlightOn(key exchange.SymbolKey) iter.Seq[*account.Placement] {
	return slices.Values(t.inFlightOn(key))
}

// AnyInFlightOn reports whether any placement in flight on a symbol satisfies the condition.
func (t *tracked) AnyInFlightOn(key exchange.SymbolKey, satisfies func(*account.Placement) bool) bool {
	return slices.ContainsFunc(t.inFlightOn(key), satisfies)
}

func (t *tracked) inFlightOn(key exchange.SymbolKey) []*account.Placement {
	if symbol := t.Symbol(key); symbol != nil {
		return symbol.inFlight
	}
	return nil
}

func inFlight(p *account.Placement) bool {
	return !p.State().Final() && (p.State() != placement.Working || p.Type() == exchange.MarketOrder)
}

// listLive rebuilds the lists of live placements per symbol and of placements in flight.
func (t *tracked) listLive() {
	t.inFlight = t.inFlight[:0]
	for _, symbol := range t.symbols {
		symbol.live, symbol.inFlight = symbol.live[:0], symbol.inFlight[:0]
	}
	for p := range t.Live() {
		t.begin(p)
	}
}

// begin lists a new placement.
func (t *tracked) begin(p *account.Placement) {
	symbol := t.Track(p.Symbol())
	symbol.live = append(symbol.live, p)
	if inFlight(p) {
		t.inFlight, symbol.inFlight = append(t.inFlight, p), append(symbol.inFlight, p)
	}
}

// follow moves a changed placement to the list where it belongs.
func (t *tracked) follow(p *account.Placement) {
	symbol := t.Symbol(p.Symbol())
	if listed := slices.Contains(symbol.inFlight, p); inFlight(p) && !listed {
		t.listLive()
		return
	} else if listed && !inFlight(p) {
		t.inFlight, symbol.inFlight = without(t.inFlight, p), without(symbol.inFlight, p)
	}
	if p.State().Final() {
		symbol.live = without(symbol.live, p)
	}
}

// without removes a placement from a list in place. It does not clear the slot behind the end, because
// another reader may still use it.
func without(list []*account.Placement, p *account.Placement) []*account.Placement {
	others := list[:0]
	for _, q := range list {
		if q != p {
			others = append(others, q)
		}
	}
	return others
}

// noteReported records that an unknown ended order was reported to a person.
func (t *tracked) noteReported(clientOrderID string) {
	for _, symbol := range t.symbols {
		if clientOrderID != "" && symbol.unknownEnded == clientOrderID {
			symbol.unknownEnded = ""
		}
	}
}

// Track returns the state of a symbol and creates it if it is new.
func (t *tracked) Track(key exchange.SymbolKey) *SymbolState {
	if known := t.Symbol(key); known != nil {
		return known
	}
	none := []*account.Placement{} // not nil, just like a list that has become empty
	made := &SymbolState{journalledSymbol: t.journalled.Track(key), live: none, inFlight: none}
	at, _ := slices.BinarySearchFunc(t.symbols, key, func(s *SymbolState, k exchange.SymbolKey) int { return s.Key().Compare(k) })
	t.symbols, t.bySymbol[key] = slices.Insert(t.symbols, at, made), made
	return made
}

// Symbol returns the state of a symbol, or nil if the tracker does not track it. It caches the last
// one, which a round looks up repeatedly.
func (t *tracked) Symbol(key exchange.SymbolKey) *SymbolState {
	if t.recent == nil || t.recent.Key() != key {
		known := t.bySymbol[key]
		if known == nil {
			return nil
		}
		t.recent = known
	}
	return t.recent
}

// Symbols yields all symbols, sorted by key.
func (t *tracked) Symbols() iter.Seq[*SymbolState] { return slices.Values(t.symbols) }

// AnySymbol reports whether any symbol satisfies the condition.
func (t *tracked) AnySymbol(satisfies func(*SymbolState) bool) bool {
	return slices.ContainsFunc(t.symbols, satisfies)
}

// Knows reports whether the tracker tracks a symbol of a market.
func (t *tracked) Knows(market exchange.Market) bool {
	return slices.ContainsFunc(t.symbols, func(s *SymbolState) bool { return s.Key().Market == market })
}

func (t *tracked) liveOn(key exchange.SymbolKey) bool {
	symbol := t.Symbol(key)
	return symbol != nil && len(symbol.live) > 0
}

func (t *tracked) uncertainOn(key exchange.SymbolKey) []*account.Placement {
	var uncertain []*account.Placement
	for _, p := range t.inFlightOn(key) {
		if p.State() == placement.Uncertain {
			uncertain = append(uncertain, p)
		}
	}
	return uncertain
}

// BlocksOpening reports whether something on the symbol blocks this opening: an unanswered placement that
// is older, an unanswered exit at market of any age, which could reduce the new position, or any uncertain
// placement.
func (t *tracked) BlocksOpening(clientOrderID string, key exchange.SymbolKey) bool {
	own := false
	for _, p := range t.inFlightOn(key) {
		if p.ClientOrderID() == clientOrderID {
			own = true
			continue
		}
		if p.State() == placement.Uncertain || p.State() == placement.Sending && (!own || p.Reduces() && p.Type() == exchange.MarketOrder) {
			return true
		}
	}
	return false
}

// Overdue returns the oldest uncertain placement whose fence passed at least byMS ago and that is still
// undecided (cases 24 and 37), or nil.
func (t *tracked) Overdue(key exchange.SymbolKey, nowMS, byMS int64) *account.Placement {
	for _, p := range t.inFlightOn(key) {
		if p.State() == placement.Uncertain && nowMS > p.Fence(t.Bounds())+byMS {
			return p
		}
	}
	return nil
}

// OpeningNeedingHistory returns the symbol's oldest uncertain opening if positions/history must be
// read to decide it, or nil.
func (t *tracked) OpeningNeedingHistory(symbol *SymbolState, nowMS int64) *account.Placement {
	if symbol.Key().Market != exchange.Futures || symbol.position != 0 {
		return nil
	}
	for p := range t.Live() {
		if p.State() == placement.Uncertain && p.Purpose().Opens() && p.Symbol() == symbol.Key() && nowMS >= p.Fence(t.Bounds()) {
			return p
		}
	}
	return nil
}

// AnyUncertain reports whether any placement is uncertain: then a round must take the full snapshot.
func (t *tracked) AnyUncertain() bool {
	return t.AnyInFlight(func(p *account.Placement) bool { return p.State() == placement.Uncertain })
}

// withOrderID finds a live placement by the exchange's order id.
func (t *tracked) withOrderID(market exchange.Market, orderID int64) *account.Placement {
	for p := range t.Live() {
		if orderID != 0 && p.OrderID() == orderID && p.Symbol().Market == market {
			return p
		}
	}
	return nil
}

// PlacementOf returns the live placement of a row, by the exchange's order id, otherwise by the client
// order id; nil for none.
func (t *tracked) PlacementOf(u *UnreadOrder) *account.Placement {
	if p := t.withOrderID(u.Market, u.Row.ID); p != nil {
		return p
	}
	if p := t.Placement(u.Row.ClientOrderID); p != nil && p.Order().Market == u.Market {
		return p
	}
	return nil
}

// rulesOf returns a symbol's rules if the tracker has them.
func (t *tracked) rulesOf(key exchange.SymbolKey) *exchange.Symbol {
	symbol := t.Symbol(key)
	if symbol == nil {
		return nil
	}
	return symbol.rules
}

// purchaseUncertain reports whether a symbol has an uncertain purchase.
func (t *tracked) purchaseUncertain(symbol *SymbolState) bool {
	return slices.ContainsFunc(t.uncertainOn(symbol.Key()), func(p *account.Placement) bool { return p.Order().Side == exchange.Buy })
}

// orderPrice returns the price from which an order's margin is computed.
func (t *tracked) orderPrice(o *exchange.NewOrder) exchange.Price {
	return cmp.Or(o.Price, o.StopPrice, t.Symbol(o.Key()).last)
}
