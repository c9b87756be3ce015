package ledger

import "botd/exchange"

// executions applies the executions in a reading of the spot wallet.
func (t *RoundTrips) executions(r *Reading) (ended []RoundTrip) {
	for i := range r.Trades {
		x := &r.Trades[i]
		o := t.byID[x.OrderID]
		if o == nil {
			continue // the order ended so long ago that it is no longer stored
		}
		if trip, over := t.symbol(o.Symbol).execute(o, x, t.instrumentOf(o.Symbol), r.AtMS); over {
			ended = append(ended, trip)
		}
	}
	if r.Partial {
		for _, s := range t.symbols {
			s.spot.incomplete = s.spot.incomplete || s.spot.Begun()
		}
	}
	return ended
}

// execute applies one execution. A quantity sold beyond the purchases was held before and does not
// count. A remainder too small to trade passes to the next round trip at its cost, as in the ledger.
func (s *tripSymbol) execute(o *Order, x *Trade, instrument Instrument, atMS int64) (trip RoundTrip, over bool) {
	open, quantity := &s.spot, x.Quantity
	if o.Side == exchange.Sell {
		if quantity = quantity.Min(open.stock.Quantity); !open.Begun() || quantity.Sign() <= 0 {
			return trip, false
		}
		open.by = o.Purpose
		open.incomplete = open.incomplete || !x.Quantity.Sub(quantity).Less(instrument.smallestAmount())
	}
	if !open.Begun() {
		*open = spotTrip{strategy: o.Strategy, enteredMS: atMS, stock: open.stock, Pairing: Pairing{Held: open.stock.Quantity}}
	}
	e := Execution{Side: o.Side, Quantity: quantity, Value: x.Price.MulQuo(quantity, unit), Fee: x.Fee, Worth: x.Fee}
	switch x.FeeAsset {
	case instrument.Base:
		e.InBase, e.Worth = true, x.Price.MulQuo(x.Fee, unit)
	case instrument.Quote, "":
	default: // a third asset whose value is unknown
		e.Fee, e.Worth, open.incomplete = exchange.Amount{}, exchange.Amount{}, true
	}
	open.Execute(&e)
	open.realized = open.realized.Add(open.stock.Move(&e))
	if !open.Flat(instrument.smallestAmount()) {
		return trip, false
	}
	trip = RoundTrip{
		Strategy:  open.strategy,
		Symbol:    s.key,
		Asset:     instrument.Quote,
		Side:      open.Side,
		Quantity:  open.Bought.Max(open.Sold),
		Realized:  open.realized,
		Fees:      open.Fees,
		EnteredMS: open.enteredMS,
		LeftMS:    atMS,
		By:        open.by,
		Whole:     !open.incomplete,
	}
	trip.EntryPrice, trip.ExitPrice = open.Prices()
	*open = spotTrip{stock: open.stock}
	return trip, true
}
