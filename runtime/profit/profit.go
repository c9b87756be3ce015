// Package profit says what strategies have made, by the ledger: the one definition behind every figure that is shown.
//
// Realised is the price difference alone, Net is Realised without fees and funding, and Unrealised is the price
// difference of what is held at the last price: a fee is in Net once, and nowhere else. Only USDT is added up.
package profit

import (
	"botd/exchange"
	"botd/reconcile/ledger"
	"botd/runtime/engine"
)

// Profit is what a strategy has made since it began.
type Profit struct{ Realised, Fees, Funding, Net, Unrealised exchange.Amount }

// Of returns each strategy's profit by its name; empty for what no strategy did.
func Of(s *engine.Status) map[string]Profit {
	all, held := map[string]Profit{}, map[string]exchange.Amount{}
	for i := range s.Ledger {
		b := &s.Ledger[i]
		if b.Asset != "USDT" {
			continue
		}
		p := all[b.Strategy]
		switch b.Account {
		case ledger.Realised:
			p.Realised, p.Net = p.Realised.Sub(b.Amount), p.Net.Sub(b.Amount)
		case ledger.Fees:
			p.Fees, p.Net = p.Fees.Add(b.Amount), p.Net.Sub(b.Amount)
		case ledger.Funding:
			p.Funding, p.Net = p.Funding.Add(b.Amount), p.Net.Sub(b.Amount)
		case ledger.Holding:
			held[b.Strategy] = held[b.Strategy].Add(b.Amount)
		default:
			continue
		}
		all[b.Strategy] = p
	}
	for i := range s.Strategies {
		t := &s.Strategies[i]
		p := all[t.Name]
		p.Unrealised = unrealised(t, held[t.Name])
		all[t.Name] = p
	}
	return all
}

// unrealised is what the position has made at the last price: on spot, where the exchange reports no entry price,
// beyond what the ledger says it cost.
func unrealised(t *engine.StrategyStatus, cost exchange.Amount) exchange.Amount {
	switch {
	case t.Position == 0 || t.Last == 0 || t.Symbol == nil:
		return exchange.Amount{}
	case t.Symbol.Market == exchange.Spot && cost.IsZero(): // not booked yet
		return exchange.Amount{}
	case t.Symbol.Market == exchange.Spot:
		return t.Symbol.Notional(t.Last, t.Position).Sub(cost)
	case t.EntryPrice.IsZero():
		return exchange.Amount{}
	}
	return t.Symbol.Notional(t.Last, t.Position).Sub(t.Symbol.Cost(t.EntryPrice, t.Position))
}
