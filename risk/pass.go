package risk

import (
	"botd/exchange"
	"botd/reconcile"
)

// passed are the sums over all symbols of a pass over the strategies (reconcile.Book.Pass), with what was sent in it.
type passed struct {
	book   *reconcile.Book
	number uint64
	collar exchange.Rate // the sums differ by how far from the last price a fill is counted, and by the fee
	fee    exchange.Rate
	sent   int // how many of the placements sent in the pass are counted
	free   exchange.Amount
	orders perMarket
}

// pass returns the sums of the pass under way, up to date; nil when none is under way.
func (g *Gate) pass(facts *Facts, collar exchange.Rate) *passed {
	number, sent := facts.Book.Pass()
	if number == 0 {
		return nil
	}
	in := g.passWith(facts, number, collar)
	for ; in.sent < len(sent); in.sent++ {
		p := sent[in.sent]
		in.orders[p.Symbol().Market]++
		in.free = in.free.Sub(taken(sent[in.sent:in.sent+1], facts.Book.Symbol(p.Symbol()), collar, facts))
	}
	return in
}

// passWith returns the sums for a collar, made where there are none yet.
func (g *Gate) passWith(facts *Facts, number uint64, collar exchange.Rate) *passed {
	if len(g.passed) > 0 && (g.passed[0].number != number || g.passed[0].book != facts.Book) {
		g.passed = g.passed[:0]
	}
	for i := range g.passed {
		if g.passed[i].collar == collar && g.passed[i].fee == facts.TakerFee {
			return &g.passed[i]
		}
	}
	_, sent := facts.Book.Pass()
	g.passed = append(g.passed, passed{book: facts.Book, number: number, collar: collar, fee: facts.TakerFee, sent: len(sent),
		free: sumFree(facts, collar), orders: countOrders(facts.Book)})
	return &g.passed[len(g.passed)-1]
}
