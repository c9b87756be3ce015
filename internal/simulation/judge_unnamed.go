package simulation

import "botd/exchange"

// A spot purchase of the other process counts as botd's only if a row names it: a wallet does not show the owner, and a stop over a person's units would
// harm that person. Until a response to the first process contains a row with its id, the first process needs no stop for the purchase.

// unnamed is the quantity that an order has bought or sold.
type unnamed struct {
	key      exchange.SymbolKey
	quantity int64
}

// name records the rows with ids in responses to the first process.
func (j *judge) name(f *flight) {
	if j.w.process.number != 0 || f.err != nil || !f.answer.Orders.Done() {
		return
	}
	for i := range f.answer.Orders.Items() {
		o := &f.answer.Orders.Items()[i]
		if a := j.w.venue.byOrder[o.ID]; a == nil || a.by == 0 || o.ClientOrderID == "" || j.named[o.ID] {
			continue
		}
		j.named[o.ID] = true
		if one, counted := j.unnamed[o.ID]; counted {
			delete(j.unnamed, o.ID)
			j.countUnnamed(one.key)
		}
	}
}

// countUnnamed reports to the oracle the quantity of a symbol that no row has named.
func (j *judge) countUnnamed(key exchange.SymbolKey) {
	j.oracle.Unnamed(j.w.nowMS, nameOf(key), max(0, j.sumUnnamed(key)))
}

func (j *judge) sumUnnamed(key exchange.SymbolKey) (sum int64) {
	for _, one := range j.unnamed {
		if one.key == key {
			sum += one.quantity
		}
	}
	return sum
}
