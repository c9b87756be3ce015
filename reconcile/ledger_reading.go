package reconcile

import (
	"cmp"
	"slices"

	"botd/exchange"
	"botd/reconcile/ledger"
)

// Readings reads a snapshot's answers for the ledger. It changes nothing.
type Readings struct{ account *tracked }

// Readings returns the tracker's view for the ledger.
func (t *Tracker) Readings() Readings { return Readings{&t.tracked} }

// Futures returns a snapshot's reading of the futures wallet, and false if it is incomplete.
func (v Readings) Futures(s *Snapshot) (ledger.Reading, bool) {
	if s.Account == nil || !s.Positions.Done() || len(s.UnreadPositions) > 0 {
		return ledger.Reading{}, false
	}
	r := ledger.Reading{
		AtMS:   s.EndedMS,
		Market: exchange.Futures,
		Wallet: ledger.FuturesWallet(s.Account),
		Open:   v.Positions(s.Positions.Items()),
	}
	for symbol := range v.account.Symbols() {
		if symbol.Key().Market == exchange.Futures {
			v.addInstrument(&r, symbol.rules)
		}
	}
	return r, true
}

// Positions converts open positions for the ledger, sorted by id.
func (v Readings) Positions(open []exchange.Position) (read []ledger.Position) {
	for i := range open {
		if p := &open[i]; p.Remaining != 0 {
			read = append(read, v.Position(p))
		}
	}
	slices.SortFunc(read, func(a, b ledger.Position) int { return cmp.Compare(a.ID, b.ID) })
	return read
}

// addInstrument adds a symbol's instrument to a reading, unless the ledger already has it unchanged.
func (v Readings) addInstrument(r *ledger.Reading, rules *exchange.Symbol) {
	if rules == nil {
		return
	}
	instrument := ledger.InstrumentOf(rules)
	if known, found := v.account.Ledger().Instrument(instrument.Symbol); !found || known != instrument {
		r.Instruments = append(r.Instruments, instrument)
	}
}

// Position converts a position for the ledger. Its quantities are zero if the symbol is unknown.
func (v Readings) Position(p *exchange.Position) ledger.Position {
	read := ledger.Position{
		ID:         p.ID,
		Symbol:     p.Symbol,
		Short:      p.Side == exchange.Short,
		EntryPrice: p.EntryPrice,
		Close:      p.ClosePrice,
		Realized:   p.RealizedPNL,
		Liquidated: p.Status == exchange.PositionLiquidated,
		FromMS:     p.CreatedMS,
	}
	if p.Remaining == 0 {
		read.UntilMS = p.UpdatedMS
	}
	if rules := v.account.rulesOf(exchange.SymbolKey{Market: exchange.Futures, Name: p.Symbol}); rules != nil {
		read.Opened, read.Remaining = rules.QuantityAmount(p.Quantity), rules.QuantityAmount(p.Remaining)
	}
	return read
}

// Spot returns a snapshot's reading of the spot wallet: the assets of the tracker's symbols. It returns
// false if the wallet was not read completely, or if the rules of no spot symbol are known.
func (v Readings) Spot(s *Snapshot) (ledger.Reading, bool) {
	if !s.Balances.Done() || s.UnreadAssets {
		return ledger.Reading{}, false
	}
	r := ledger.Reading{AtMS: s.EndedMS, Market: exchange.Spot}
	var names []string
	for symbol := range v.account.Symbols() {
		if symbol.Key().Market == exchange.Spot && symbol.rules != nil {
			v.addInstrument(&r, symbol.rules)
			names = append(names, symbol.rules.Base, symbol.rules.Quote)
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		asset := ledger.Asset{Name: name}
		for _, balance := range s.Balances.Items() {
			if balance.Asset == name {
				asset.Amount = balance.Free.Add(balance.Frozen)
			}
		}
		r.Wallet = append(r.Wallet, asset)
	}
	return r, len(r.Wallet) > 0
}

// Trade converts an execution of a spot order for the ledger, or returns false if the symbol's rules are
// unknown.
func (v Readings) Trade(t *exchange.UserTrade) (ledger.Trade, bool) {
	rules := v.account.rulesOf(exchange.SymbolKey{Market: exchange.Spot, Name: t.Symbol})
	if rules == nil {
		return ledger.Trade{}, false
	}
	return ledger.Trade{
		ID:       t.ID,
		OrderID:  t.OrderID,
		Price:    rules.PriceAmount(t.Price),
		Quantity: rules.QuantityAmount(t.Quantity),
		Fee:      t.Fee,
		FeeAsset: t.FeeAsset,
	}, true
}
