// Package profit computes the profit of strategies from the ledger: the one definition behind every displayed
// figure.
//
// Realized is the price difference alone, Net is Realized less fees and funding, and Unrealized is the price
// difference of the open position at the last price: a fee is in Net once, and nowhere else. On spot the position
// is the quantity that the ledger has booked, like its cost: a purchase that the wallet already shows but the ledger
// does not yet is not a profit. Only USDT is summed.
package profit

import (
	"botd/exchange"
	"botd/reconcile/ledger"
	"botd/runtime/engine"
)

// Profit is a strategy's result since it began.
type Profit struct{ Realized, Fees, Funding, Net, Unrealized exchange.Amount }

// holding identifies a strategy's holding on spot.
type holding struct {
	strategy string
	symbol   exchange.SymbolKey
}

// Of returns each strategy's profit by its name; the empty name is for amounts that belong to no
// strategy.
func Of(s *engine.Status) map[string]Profit {
	all, held := map[string]Profit{}, map[holding]exchange.Amount{}
	for i := range s.Ledger {
		b := &s.Ledger[i]
		if b.Asset != "USDT" {
			continue
		}
		p := all[b.Strategy]
		switch b.Account {
		case ledger.Realized:
			p.Realized, p.Net = p.Realized.Sub(b.Amount), p.Net.Sub(b.Amount)
		case ledger.Fees:
			p.Fees, p.Net = p.Fees.Add(b.Amount), p.Net.Sub(b.Amount)
		case ledger.Funding:
			p.Funding, p.Net = p.Funding.Add(b.Amount), p.Net.Sub(b.Amount)
		case ledger.Holding:
			held[holding{b.Strategy, b.Symbol}] = b.Amount
		default:
			continue
		}
		all[b.Strategy] = p
	}
	for i := range s.Strategies {
		t := &s.Strategies[i]
		p := all[t.Name]
		if t.Symbol != nil && t.Last != 0 {
			p.Unrealized = unrealized(t, held[holding{t.Name, t.Symbol.Key()}])
		}
		all[t.Name] = p
	}
	return all
}

// unrealized returns the unrealized profit of a position at the last price: on spot the value of the booked quantity
// less its cost.
func unrealized(t *engine.StrategyStatus, cost exchange.Amount) exchange.Amount {
	switch {
	case t.Symbol.Market == exchange.Spot && cost.IsZero(): // in another asset than USDT, or another strategy's
		return exchange.Amount{}
	case t.Symbol.Market == exchange.Spot:
		return t.Symbol.PriceAmount(t.Last).MulQuo(t.Booked, exchange.AmountOf(1)).Sub(cost)
	case t.Position == 0 || t.EntryPrice.IsZero():
		return exchange.Amount{}
	}
	return t.Symbol.Notional(t.Last, t.Position).Sub(t.Symbol.Cost(t.EntryPrice, t.Position))
}
