package ledger

import (
	"cmp"
	"slices"

	"botd/exchange"
)

// Report is a ledger in the form that people and programs read.
type Report struct {
	Strategies  []Row        `json:"strategies"`
	Accounts    []AccountRow `json:"accounts"`
	Unexplained []AccountRow `json:"unexplained"`        // wallet changes beyond all fills, fees and funding
	Declared    []AccountRow `json:"declared,omitempty"` // declared transfers that no wallet has shown yet
	FuturesMS   int64        `json:"futures_ms"`         // time up to which the market is booked; 0 if never
	SpotMS      int64        `json:"spot_ms"`
}

// Row is the trading of one strategy on one symbol.
type Row struct {
	Strategy string          `json:"strategy"` // empty for trading that belongs to no strategy
	Market   exchange.Market `json:"market"`
	Symbol   string          `json:"symbol"`
	Bought   exchange.Amount `json:"bought"` // base, exact
	Sold     exchange.Amount `json:"sold"`
	Asset    string          `json:"asset"`    // of the following amounts
	Realized exchange.Amount `json:"realised"` // profit from the price difference only
	Fees     exchange.Amount `json:"fees"`     // paid
	Funding  exchange.Amount `json:"funding"`  // net paid
	Net      exchange.Amount `json:"net"`      // realized profit less fees and funding
	Derived  bool            `json:"derived"`  // the money is derived from realizedPNL, entryPrice and the wallet; otherwise it is as reported
}

// AccountRow is the balance of one account of the ledger.
type AccountRow struct {
	Account  Account         `json:"account"`
	Strategy string          `json:"strategy"`
	Market   exchange.Market `json:"market"`
	Symbol   string          `json:"symbol"`
	Asset    string          `json:"asset"`
	Amount   exchange.Amount `json:"amount"`
	Derived  bool            `json:"derived"`
}

// Report returns the ledger, sorted by strategy and symbol.
func (l *Ledger) Report() Report {
	r := Report{Strategies: []Row{}, Accounts: []AccountRow{}, Unexplained: []AccountRow{}, FuturesMS: l.futures.atMS, SpotMS: l.spot.atMS}
	for i := range l.balances {
		b := &l.balances[i]
		row := AccountRow{b.Account, b.Strategy, b.Symbol.Market, b.Symbol.Name, b.Asset, b.Amount, b.Derived}
		r.Accounts = append(r.Accounts, row)
		if b.Account == Unexplained {
			r.open(l, row)
		}
		if b.Account == Realized || b.Account == Fees || b.Account == Funding {
			r.row(b.Strategy, b.Symbol, b.Asset).add(b)
		}
	}
	for i := range l.moved {
		m := &l.moved[i]
		instrument, known := l.Instrument(m.Symbol)
		if !known {
			continue // nothing of it is booked yet
		}
		row := r.row(m.Strategy, m.Symbol, instrument.Quote)
		row.Bought, row.Sold = instrument.Unit.Mul(int64(m.Bought)), instrument.Unit.Mul(int64(m.Sold))
	}
	return r
}

// open lists an asset's unexplained change, and its declared transfers that no wallet has shown yet. Both
// have the sign of the wallet change, the opposite of the account's balance.
func (r *Report) open(l *Ledger, row AccountRow) {
	declared := l.Declared(row.Market, row.Asset)
	row.Amount = declared.Sub(row.Amount)
	if !row.Amount.IsZero() {
		r.Unexplained = append(r.Unexplained, row)
	}
	if !declared.IsZero() {
		row.Account, row.Amount = Transferred, declared
		r.Declared = append(r.Declared, row)
	}
}

// row returns a strategy's row and creates it if it is new.
func (r *Report) row(strategy string, key exchange.SymbolKey, asset string) *Row {
	row := Row{Strategy: strategy, Market: key.Market, Symbol: key.Name, Asset: asset}
	i, found := slices.BinarySearchFunc(r.Strategies, row, func(a, b Row) int {
		return cmp.Or(
			cmp.Compare(a.Strategy, b.Strategy),
			cmp.Compare(a.Market, b.Market),
			cmp.Compare(a.Symbol, b.Symbol),
			cmp.Compare(a.Asset, b.Asset),
		)
	})
	if !found {
		r.Strategies = slices.Insert(r.Strategies, i, row)
	}
	return &r.Strategies[i]
}

func (w *Row) add(b *Balance) {
	w.Derived = w.Derived || b.Derived
	w.Net = w.Net.Sub(b.Amount)
	switch b.Account {
	case Realized:
		w.Realized = w.Realized.Sub(b.Amount)
	case Fees:
		w.Fees = w.Fees.Add(b.Amount)
	case Funding:
		w.Funding = w.Funding.Add(b.Amount)
	}
}
