package simulation

import (
	"slices"

	"botd/exchange"
)

// These are the ways in which a list is wrong.
const (
	listEmpty   int64 = iota
	listShort         // without one symbol
	listTorn          // each row is present or absent
	listStale         // its state when the episode began, however long ago
	listSmaller       // with half of each quantity
	listWays
)

// listsOf are the reads that each class affects.
var listsOf = map[Class][]exchange.Operation{
	LyingPositions: {exchange.FuturesOpenPositions},
	LyingWallet:    {exchange.SpotWallet},
	LyingOrders:    {exchange.FuturesOpenOrders, exchange.SpotOpenOrders},
	LyingHistory:   {exchange.SpotOrderHistory, exchange.SpotUserTrades, exchange.FuturesPositionsHistory},
}

// freeze saves the present lists.
func (e *episode) freeze(w *world) {
	e.frozen = map[replicaKey]exchange.Answer{}
	for _, operation := range listsOf[e.class] {
		if answer, err := w.venue.x.Do(trader, &exchange.Request{Operation: operation}); err == nil {
			e.frozen[replicaKey{operation: operation}] = answer
		}
	}
}

// distort makes an answer wrong.
func (e *episode) distort(b *beyond, f *flight, answer *exchange.Answer) error {
	request := &f.call.Request
	if e.class == Garbage {
		return e.spoil(b, request, answer)
	}
	if slices.Contains(listsOf[e.class], request.Operation) && b.draw.chance(e.chance) {
		e.change(b, f, answer)
	}
	return nil
}

// change distorts a list as the episode prescribes.
func (e *episode) change(b *beyond, f *flight, answer *exchange.Answer) {
	way := e.way % listWays
	if way == listStale {
		if old, saved := e.frozen[replicaKey{operation: f.call.Request.Operation}]; saved {
			f.stateMS = e.beganMS
			answer.Orders, answer.Positions, answer.Balances, answer.Fills = old.Orders, old.Positions, old.Balances, old.Fills
		}
		return
	}
	out := func(name string) bool {
		return way == listEmpty || way == listShort && name == e.key.Name || way == listTorn && b.draw.chance(0.5)
	}
	if answer.Orders.Done() {
		answer.Orders = exchange.FetchedOf(without(answer.Orders.Items(), func(o *exchange.Order) bool { return out(o.Symbol) }))
	}
	if answer.Fills.Done() {
		answer.Fills = exchange.FetchedOf(without(answer.Fills.Items(), func(t *exchange.UserTrade) bool { return out(t.Symbol) }))
	}
	if answer.Positions.Done() {
		rows := without(answer.Positions.Items(), func(p *exchange.Position) bool { return out(p.Symbol) })
		for i := range rows {
			if way == listSmaller {
				rows[i].Remaining /= 2
			}
		}
		answer.Positions = exchange.FetchedOf(rows)
	}
	if answer.Balances.Done() {
		e.distortWallet(b, answer, way, out)
	}
}

// distortWallet distorts the wallet: an omitted asset counts as zero.
func (e *episode) distortWallet(b *beyond, answer *exchange.Answer, way int64, out func(name string) bool) {
	base := ""
	if h := b.w.venue.held[e.key]; h != nil {
		base = h.rules.Base
	}
	rows := without(answer.Balances.Items(), func(balance *exchange.Balance) bool {
		if way == listShort {
			return balance.Asset == base
		}
		return out(balance.Asset)
	})
	for i := range rows {
		if way == listSmaller && rows[i].Asset != "USDT" {
			rows[i].Free, rows[i].Frozen = rows[i].Free.Div(2), rows[i].Frozen.Div(2)
		}
	}
	answer.Balances = exchange.FetchedOf(rows)
}

// without returns a copy of the rows without those that match.
func without[T any](rows []T, out func(*T) bool) []T {
	var left []T
	for i := range rows {
		if !out(&rows[i]) {
			left = append(left, rows[i])
		}
	}
	return left
}

// noIDs selects the answers of a seed that lack client order ids, and their probability.
type noIDs struct {
	open, history, get bool
	chance             float64
}

// strip removes client order ids from an answer.
func (n *noIDs) strip(b *beyond, operation exchange.Operation, answer *exchange.Answer) {
	switch operation {
	case exchange.FuturesOpenOrders, exchange.SpotOpenOrders:
		if !n.open {
			return
		}
	case exchange.SpotOrderHistory:
		if !n.history {
			return
		}
	case exchange.FuturesOrder:
		if n.get {
			answer.Order.ClientOrderID = ""
		}
		return
	default:
		return
	}
	rows := slices.Clone(answer.Orders.Items())
	for i := range rows {
		if b.draw.chance(n.chance) {
			rows[i].ClientOrderID = ""
		}
	}
	answer.Orders = exchange.FetchedOf(rows)
}
