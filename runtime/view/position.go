package view

import (
	"cmp"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/runtime/engine"
	"botd/runtime/profit"
)

// Position is a position as the exchange reports it, and as the journal explains it. While the list is contradicted, the journal's position is shown.
type Position struct {
	Strategy         string       `json:"strategy"`
	Market           string       `json:"market"`
	Symbol           string       `json:"symbol"`
	Quantity         Decimal      `json:"quantity,omitempty"` // the quantity that botd acts on, with its sign; absent while the rules of its symbol are unknown
	Reported         Decimal      `json:"reported,omitempty"` // the quantity that the exchange reports, if botd does not trust it
	Journal          Decimal      `json:"journal,omitempty"`  // the quantity that the journal explains, spot fees included
	Difference       Decimal      `json:"difference"`
	Ignored          Decimal      `json:"ignored"` // the part of the position that is left to its owner
	Settled          bool         `json:"settled"`
	Quarantine       string       `json:"quarantine,omitempty"`
	Unread           *Degraded    `json:"unread,omitempty"`        // the state because of which the position is not read and its quantity is unknown
	Contradiction    *Degraded    `json:"contradiction,omitempty"` // the state contradicted of its symbol: its cause, since when, and what ends it
	EntryPrice       Decimal      `json:"entry_price"`
	Last             Decimal      `json:"last_price"`
	Mark             Decimal      `json:"mark_price,omitempty"`
	LiqPrice         Decimal      `json:"liq_price"`
	Distance         *float64     `json:"liquidation_distance_ratio"` // null when no price liquidates
	Notional         Decimal      `json:"notional"`
	Unrealized       Decimal      `json:"unrealized"`   // the price difference of the position, at the last price
	Profit           Decimal      `json:"profit"`       // the net profit: unrealized, with the position's realized profit, fees and funding since it was opened
	ProfitRatio      *float64     `json:"profit_ratio"` // the profit as a share of the value at entry, without leverage; null while that is unknown
	Leverage         int          `json:"leverage"`
	SinceMS          int64        `json:"since_ms,omitempty"`
	Protected        bool         `json:"protected"`                      // whether a working stop covers it
	UnprotectedSince int64        `json:"unprotected_since_ms,omitempty"` // since when it has been without the stop of its plan
	UnprotectedMS    int64        `json:"unprotected_ms"`                 // the time unprotected since the start, at most
	Protection       []Protection `json:"protection"`
	StopPrice        Decimal      `json:"stop_price,omitempty"` // the price of the nearest working stop
	StopDistance     *float64     `json:"stop_distance_ratio"`  // the distance of the nearest working stop from the last price; null without one
	Reducing         Decimal      `json:"reducing"`             // the sum of the quantities of open reduceOnly orders

	net         exchange.Amount // of all round trips of its strategy, this one included
	unrealized  exchange.Amount
	key         exchange.SymbolKey
	ownPosition exchange.Quantity // the strategy's part
	value       exchange.Amount   // signed, at the last price
}

// Protection is one stop or take-profit that is working on the exchange.
type Protection struct {
	Purpose       string  `json:"purpose"`
	State         string  `json:"state"`
	StopPrice     Decimal `json:"stop_price"`
	Quantity      Decimal `json:"quantity"` // empty for the whole position
	ClientOrderID string  `json:"client_order_id"`
}

// Positions returns open positions, and those on which exchange and journal differ.
func (b *Board) Positions() []Position {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := []Position{}
	for i := range b.status.Symbols {
		t := &b.status.Symbols[i]
		switch {
		case unlisted(t):
			out = append(out, unlistedPosition(&b.status, t))
		case t.Rules != nil && (t.Position != 0 || t.Ignored != 0 || t.Residual != 0):
			out = append(out, b.position(t))
		}
	}
	return out
}

// unlisted reports whether the journal has a position of a symbol whose rules have not been read since the start: the exchange is not reached, or does not
// list it.
func unlisted(t *engine.SymbolStatus) bool { return t.Rules == nil && t.Known != 0 }

// unlistedPosition returns what is known of such a position. Without the symbol's rules, the unit of its quantity and of its prices is unknown.
func unlistedPosition(s *engine.Status, t *engine.SymbolStatus) Position {
	p := Position{Strategy: t.Owner, Market: t.Key.Market.String(), Symbol: t.Key.Name, Difference: "0", Ignored: "0", EntryPrice: "0", Last: "0",
		LiqPrice: "0", Notional: "0", Unrealized: "0", Reducing: "0", Protection: []Protection{}, key: t.Key, net: profit.Of(s)[t.Owner].Net}
	p.Unread = cmp.Or(stateOf(s, func(d *engine.Degraded) bool { return d.Scope.Symbol == t.Key }),
		stateOf(s, func(d *engine.Degraded) bool { return d.State == "waiting" }))
	for i := range s.Live {
		o := &s.Live[i]
		p.Protected = p.Protected || o.Symbol() == t.Key && o.Purpose() == placement.StopLoss && o.State() == placement.Working
	}
	return p
}

// stateOf returns the first declared state of a kind; nil for none.
func stateOf(s *engine.Status, kind func(*engine.Degraded) bool) *Degraded {
	for i := range s.Degraded {
		if kind(&s.Degraded[i]) {
			return &DegradedOf(s.Degraded[i : i+1])[0]
		}
	}
	return nil
}

func (b *Board) position(t *engine.SymbolStatus) Position {
	s := t.Rules
	p := Position{Strategy: t.Owner, Market: t.Key.Market.String(), Symbol: t.Key.Name,
		Quantity:   s.QuantityDecimal(t.Position + t.Unshown + t.Ignored).String(),
		Journal:    s.QuantityDecimal(t.Position - t.Residual).String(),
		Difference: s.QuantityDecimal(t.Residual).String(), Ignored: s.QuantityDecimal(t.Ignored).String(), Settled: t.Settled, Quarantine: t.Quarantine,
		EntryPrice: t.EntryPrice.String(), Last: s.PriceDecimal(t.Last).String(), LiqPrice: t.LiqPrice.String(),
		Notional:   s.Notional(t.Last, t.Position+t.Unshown+t.Ignored).String(),
		Unrealized: "0", Leverage: t.Leverage, SinceMS: t.SinceMS, Protection: []Protection{}}
	if t.Mark > 0 {
		p.Mark = s.PriceDecimal(t.Mark).String()
	}
	if t.Unshown != 0 {
		p.Reported = s.QuantityDecimal(t.Position + t.Ignored).String()
	}
	p.Contradiction = stateOf(&b.status, func(d *engine.Degraded) bool { return d.State == "contradicted" && d.Scope.Symbol == t.Key })
	p.key, p.ownPosition = t.Key, t.Position-t.Residual
	last := s.PriceFloat(t.Last)
	if last > 0 && t.Position != 0 && !t.LiqPrice.IsZero() {
		p.Distance = distance(last, t.LiqPrice.Float())
	}
	p.value = s.Notional(t.Last, t.Position+t.Unshown)
	for i := range b.status.Strategies {
		if r := &b.status.Strategies[i]; r.Symbol.Key() == t.Key {
			made := profit.Of(&b.status)[r.Name]
			p.Strategy, p.Protected, p.UnprotectedMS, p.UnprotectedSince = r.Name, r.Protected, r.UnprotectedMS, r.UnprotectedSinceMS
			p.net, p.unrealized, p.Unrealized = made.Net, made.Unrealized, made.Unrealized.String()
			p.addPeerStop(r.PeerStop, t, last)
		}
	}
	if t.EntryPrice.IsZero() && t.Position != 0 && t.Key.Market == exchange.Spot { // spot reports none: the cost by the ledger
		p.EntryPrice = readable(s.AverageCost(p.value.Sub(p.unrealized), t.Position))
	}
	var reducing exchange.Quantity
	for i := range b.status.Live {
		o := &b.status.Live[i]
		if o.Symbol() != t.Key {
			continue
		}
		if o.Order().ReduceOnly {
			reducing += o.Remaining()
		}
		if o.Purpose().Protects() {
			p.Protection = append(p.Protection, protectionOf(o, s))
			if o.Purpose() == placement.StopLoss {
				p.nearestStop(o.Order().StopPrice, s, last)
			}
		}
	}
	p.Reducing = s.QuantityDecimal(reducing).String()
	return p
}

// addPeerStop adds the stop of another botd that protects the position.
func (p *Position) addPeerStop(id string, t *engine.SymbolStatus, last float64) {
	for i := range t.Foreign {
		if o := &t.Foreign[i]; id != "" && o.ClientOrderID == id {
			p.Protection = append(p.Protection, Protection{placement.StopLoss.String(), placement.Working.String(),
				t.Rules.PriceDecimal(o.StopPrice).String(), nonZero(o.Quantity != 0, t.Rules.QuantityDecimal(o.Quantity)), id})
			p.nearestStop(o.StopPrice, t.Rules, last)
		}
	}
}

// nearestStop takes the price of a stop: the one that the price reaches first is the position's.
func (p *Position) nearestStop(at exchange.Price, s *exchange.Symbol, last float64) {
	if at == 0 || last <= 0 {
		return
	}
	if away := distance(last, s.PriceFloat(at)); p.StopDistance == nil || *away < *p.StopDistance {
		p.StopPrice, p.StopDistance = s.PriceDecimal(at).String(), away
	}
}

// distance returns the distance of a price from the last one, as a share of the last one.
func distance(last, price float64) *float64 {
	return new(RoundRatio(max(last-price, price-last) / last))
}

// SubtractEarlier subtracts the strategy's profit before the position: the rest of its profit by the ledger is the position's
// own.
func (p *Position) SubtractEarlier(before exchange.Amount) {
	made := p.unrealized
	if p.Strategy != "" {
		made = made.Add(p.net).Sub(before)
	}
	p.Profit = readable(made)
	if entered := p.value.Sub(p.unrealized).Abs().Float(); entered > 0 {
		p.ProfitRatio = new(RoundRatio(made.Float() / entered))
	}
}

func protectionOf(o *account.Placement, s *exchange.Symbol) Protection {
	return Protection{o.Purpose().String(), o.State().String(), s.PriceDecimal(o.Order().StopPrice).String(),
		nonZero(o.Order().Quantity != 0, s.QuantityDecimal(o.Order().Quantity)), o.ClientOrderID()}
}

// PositionChange is the event of a changed position.
type PositionChange struct {
	AtMS       int64   `json:"at_ms"`
	Strategy   string  `json:"strategy"`
	Market     string  `json:"market"`
	Symbol     string  `json:"symbol"`
	Quantity   Decimal `json:"quantity"`
	EntryPrice Decimal `json:"entry_price"`
	Last       Decimal `json:"last_price"`
}

func positionEvent(n *engine.Note, fact *engine.NotePosition) PositionChange {
	s := n.Symbol
	return PositionChange{n.AtMS, n.Strategy, s.Market.String(), s.Name, s.QuantityDecimal(fact.Quantity).String(), fact.EntryPrice.String(),
		s.PriceDecimal(fact.Last).String()}
}

// Account is the balances of both wallets, as last fetched.
type Account struct {
	Schema      int       `json:"schema"`
	AtMS        int64     `json:"at_ms"` // when the balances were fetched; 0 if not yet
	Wallet      Decimal   `json:"wallet"`
	Unrealized  Decimal   `json:"unrealized"`
	Available   Decimal   `json:"available"`
	MarginUsed  Decimal   `json:"margin_used"`
	Maintenance Decimal   `json:"maintenance_margin"`
	Equity      Decimal   `json:"equity"`       // the equity of the futures account
	Total       *Decimal  `json:"total_equity"` // null while unknown
	Balances    []Balance `json:"balances"`     // the balances of the spot wallet
}

// Balance is one asset of the spot wallet.
type Balance struct {
	Asset  string  `json:"asset"`
	Free   Decimal `json:"free"`
	Frozen Decimal `json:"frozen"`
}

// Account returns the balances of both wallets.
func (b *Board) Account() Account {
	b.mu.Lock()
	defer b.mu.Unlock()
	st := &b.status
	a := Account{1, st.AccountMS, st.Account.WalletBalance.String(), st.Account.UnrealizedPNL.String(), st.Account.AvailableBalance.String(),
		st.Account.MarginUsed.String(), st.Account.MaintenanceMargin.String(), st.Equity.String(), equityOf(st), []Balance{}}
	for _, balance := range st.Balances {
		a.Balances = append(a.Balances, Balance{balance.Asset, balance.Free.String(), balance.Frozen.String()})
	}
	return a
}
