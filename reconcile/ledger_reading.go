package reconcile

import (
	"cmp"
	"slices"

	"botd/exchange"
)

// Ledger returns the account's ledger.
func (b *Book) Ledger() *Ledger { return b.ledger }

// rulesOf are a symbol's rules, where the book knows them.
func (b *Book) rulesOf(key exchange.SymbolKey) *exchange.Symbol {
	i, found := slices.BinarySearchFunc(b.symbols, key, func(t *SymbolTruth, k exchange.SymbolKey) int { return t.Key.Compare(k) })
	if !found {
		return nil
	}
	return b.symbols[i].Rules
}

// FuturesReading is what a snapshot tells of the futures wallet; it reports false
// when it does not tell all of it.
func (b *Book) FuturesReading(s *Snapshot) (Reading, bool) {
	if s.Account == nil || !s.Positions.Done() {
		return Reading{}, false
	}
	r := Reading{AtMS: s.EndedMS, Market: exchange.Futures, Wallet: FuturesWallet(s.Account), Open: b.Legs(s.Positions.Items())}
	for _, truth := range b.symbols {
		if truth.Key.Market == exchange.Futures {
			b.addTerms(&r, truth.Rules)
		}
	}
	return r, true
}

// FuturesWallet is what an account tells of its wallet.
func FuturesWallet(a *exchange.MarginAccount) []Asset { return []Asset{{money, a.WalletBalance}} }

// Legs reads open positions, sorted by id.
func (b *Book) Legs(positions []exchange.Position) (legs []Leg) {
	for i := range positions {
		if p := &positions[i]; p.Remaining != 0 {
			legs = append(legs, b.Leg(p))
		}
	}
	slices.SortFunc(legs, func(a, b Leg) int { return cmp.Compare(a.ID, b.ID) })
	return legs
}

// addTerms adds a symbol's terms to a reading when they are new to the ledger.
func (b *Book) addTerms(r *Reading, rules *exchange.Symbol) {
	if rules == nil {
		return
	}
	terms := TermsOf(rules)
	if known, found := b.ledger.Terms(terms.Symbol); !found || known != terms {
		r.Terms = append(r.Terms, terms)
	}
}

// Leg reads a position; its quantities are zero where the symbol is not known.
func (b *Book) Leg(p *exchange.Position) Leg {
	leg := Leg{ID: p.ID, Symbol: p.Symbol, Short: p.Side == exchange.Short, Entry: p.EntryPrice, Close: p.ClosePrice, Realised: p.RealizedPNL, Liquidated: p.Status == exchange.PositionLiquidated, FromMS: p.CreatedMS}
	if p.Remaining == 0 {
		leg.UntilMS = p.UpdatedMS
	}
	if rules := b.rulesOf(exchange.SymbolKey{Market: exchange.Futures, Name: p.Symbol}); rules != nil {
		leg.Opened, leg.Remaining = rules.QuantityAmount(p.Quantity), rules.QuantityAmount(p.Remaining)
	}
	return leg
}

// SpotReading is what a snapshot tells of the spot wallet: the assets of the
// book's symbols. It reports false when it does not tell it.
func (b *Book) SpotReading(s *Snapshot) (Reading, bool) {
	r := Reading{AtMS: s.EndedMS, Market: exchange.Spot}
	if !s.Balances.Done() {
		return r, false
	}
	var names []string
	for _, truth := range b.symbols {
		if truth.Key.Market == exchange.Spot && truth.Rules != nil {
			b.addTerms(&r, truth.Rules)
			names = append(names, truth.Rules.Base, truth.Rules.Quote)
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		held := Asset{Name: name}
		for _, balance := range s.Balances.Items() {
			if balance.Asset == name {
				held.Amount = balance.Free.Add(balance.Frozen)
			}
		}
		r.Wallet = append(r.Wallet, held)
	}
	return r, len(r.Wallet) > 0
}

// Trade reads an execution of a spot order.
func (b *Book) Trade(t *exchange.UserTrade) (Trade, bool) {
	rules := b.rulesOf(exchange.SymbolKey{Market: exchange.Spot, Name: t.Symbol})
	if rules == nil {
		return Trade{}, false
	}
	return Trade{ID: t.ID, OrderID: t.OrderID, Price: rules.PriceAmount(t.Price), Quantity: rules.QuantityAmount(t.Quantity), Fee: t.Fee, FeeAsset: t.FeeAsset}, true
}

// Same reports whether two readings tell the same money.
func (r *Reading) Same(other *Reading) bool {
	return slices.Equal(r.Wallet, other.Wallet) && slices.Equal(r.Open, other.Open)
}
