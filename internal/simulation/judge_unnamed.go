package simulation

import "botd/exchange"

// What the other process bought on spot is botd's by a row that names it, and by nothing else: the wallet says whose nothing is, and a
// stop over a person's coins would be that person's loss. Until a row with its id was answered to the first process, such a purchase
// needs no stop of that one.

// unnamed is how much an order has bought, or sold.
type unnamed struct {
	key      exchange.SymbolKey
	quantity int64
}

// name takes the rows with ids that the first process was answered.
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

// countUnnamed reports to the oracle how much of a symbol no row has named.
func (j *judge) countUnnamed(key exchange.SymbolKey) {
	sum := int64(0)
	for _, one := range j.unnamed {
		if one.key == key {
			sum += one.quantity
		}
	}
	j.oracle.Unnamed(j.w.nowMS, nameOf(key), max(0, sum))
}
