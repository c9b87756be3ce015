package ledger

import "botd/exchange"

// Pairing pairs executions from flat to flat. Both backtests and the reports from the journal use it.
type Pairing struct {
	Side     exchange.Side   // side of the first execution
	Held     exchange.Amount // signed, of the base asset
	Bought   exchange.Amount // of the base asset
	Sold     exchange.Amount
	Paid     exchange.Amount // value bought
	Proceeds exchange.Amount // value sold
	Fees     exchange.Amount // value of all fees, in the quote asset
	Charged  exchange.Amount // the part of the fees that left the wallet in the quote asset
}

// Execution is one fill as counted in a round trip.
type Execution struct {
	Side     exchange.Side
	Quantity exchange.Amount // of the base asset
	Value    exchange.Amount // in the quote asset
	Fee      exchange.Amount // in the asset of the fee
	Worth    exchange.Amount // value of the fee, in the quote asset
	InBase   bool            // the fee was deducted from the purchased asset
}

// Begun reports whether anything was executed.
func (t *Pairing) Begun() bool { return !t.Bought.IsZero() || !t.Sold.IsZero() }

// Execute adds the next execution.
func (t *Pairing) Execute(x *Execution) {
	if !t.Begun() {
		t.Side = x.Side
	}
	t.Fees = t.Fees.Add(x.Worth)
	if x.InBase { // the fee reduces the position, and less is sold later
		t.Held = t.Held.Sub(x.Fee)
	} else {
		t.Charged = t.Charged.Add(x.Fee)
	}
	if x.Side == exchange.Buy {
		t.Held, t.Bought, t.Paid = t.Held.Add(x.Quantity), t.Bought.Add(x.Quantity), t.Paid.Add(x.Value)
	} else {
		t.Held, t.Sold, t.Proceeds = t.Held.Sub(x.Quantity), t.Sold.Add(x.Quantity), t.Proceeds.Add(x.Value)
	}
}

// Flat reports whether the round trip is over: the rest is below the minimum tradable quantity.
func (t *Pairing) Flat(step exchange.Amount) bool {
	return !t.Bought.IsZero() && !t.Sold.IsZero() && t.Held.Abs().Less(step)
}

// Net returns the profit without funding.
func (t *Pairing) Net() exchange.Amount { return t.Proceeds.Sub(t.Paid).Sub(t.Charged) }

// Prices returns the mean prices of entry and exit.
func (t *Pairing) Prices() (entry, exit exchange.Amount) {
	entry, exit = mean(t.Paid, t.Bought), mean(t.Proceeds, t.Sold)
	if t.Side == exchange.Sell {
		entry, exit = exit, entry
	}
	return entry, exit
}

// Stock is the spot position in a base asset and its cost. Most round trips leave a remainder too small
// to trade, because fees are deducted from purchases; the next round trip starts with it at its cost.
type Stock struct {
	Quantity exchange.Amount // base
	Paid     exchange.Amount // quote
}

// Move adds the next execution and returns the realized price difference: for a sale, the proceeds less
// the cost of the sold quantity. A quantity sold beyond the stock was held before and makes no profit.
func (s *Stock) Move(x *Execution) (realized exchange.Amount) {
	switch own := x.Quantity.Min(s.Quantity); {
	case x.Side == exchange.Buy:
		s.Quantity, s.Paid = s.Quantity.Add(x.Quantity), s.Paid.Add(x.Value)
	case own.Sign() > 0:
		paid := s.Paid.MulQuo(own, s.Quantity)
		realized = x.Value.MulQuo(own, x.Quantity).Sub(paid)
		s.Quantity, s.Paid = s.Quantity.Sub(own), s.Paid.Sub(paid)
	}
	if x.InBase { // valued at the execution's price
		s.Quantity, s.Paid = s.Quantity.Sub(x.Fee), s.Paid.Sub(x.Worth)
	}
	return realized
}

// mean returns a mean price with 18 places, truncated toward zero.
func mean(value, quantity exchange.Amount) exchange.Amount {
	if quantity.IsZero() {
		return exchange.Amount{}
	}
	return value.MulQuo(unit, quantity)
}
