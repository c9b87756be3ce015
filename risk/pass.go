package risk

import "botd/exchange"

// passSums holds the sums over all symbols during one pass over the strategies (reconcile.Tracker.Pass),
// including the orders sent in that pass.
type passSums struct {
	number uint64
	collar exchange.Rate // assumed distance of a fill from the last price; the sums depend on it and on the fee
	fee    exchange.Rate
	sent   int // number of placements sent in this pass that the sums include
	free   exchange.Amount
	orders perMarket
}

// pass returns the sums of the current pass, after adding the orders sent since the last call, or nil
// outside a pass.
func (g *Gate) pass(facts *Facts, collar exchange.Rate) *passSums {
	number, sent := facts.Tracker.Pass()
	if number == 0 {
		return nil
	}
	in := g.passWith(facts, number, collar)
	for ; in.sent < sent; in.sent++ {
		p := facts.Tracker.SentInPass(in.sent)
		in.orders[p.Symbol().Market]++
		if away, takes := slippage(facts.Tracker.Symbol(p.Symbol()), collar); takes {
			in.free = in.free.Sub(marginReserve(p, facts.Tracker.Symbol(p.Symbol()), away, facts))
		}
	}
	return in
}

// passWith returns the pass's sums for a collar and a fee, and computes them on first use.
func (g *Gate) passWith(facts *Facts, number uint64, collar exchange.Rate) *passSums {
	if len(g.passed) > 0 && g.passed[0].number != number {
		g.passed = g.passed[:0]
	}
	for i := range g.passed {
		if g.passed[i].collar == collar && g.passed[i].fee == facts.TakerFee {
			return &g.passed[i]
		}
	}
	_, sent := facts.Tracker.Pass()
	g.passed = append(g.passed, passSums{number: number, collar: collar, fee: facts.TakerFee, sent: sent,
		free: sumFree(facts, collar), orders: countOrders(facts.Tracker)})
	return &g.passed[len(g.passed)-1]
}
