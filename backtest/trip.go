package backtest

import (
	"botd/exchange"
	"botd/exchange/sim"
)

// Trip is one round trip: from flat to flat, net of fees and funding.
type Trip struct {
	EnteredMS, LeftMS int64
	Side              exchange.Side // of the entry
	Quantity          exchange.Quantity
	Entry, Exit       exchange.Amount // mean prices
	Fees, Funding     exchange.Amount
	PNL               exchange.Amount
}

// trip is the round trip under way.
type trip struct {
	Trip
	held        exchange.Amount // signed, of the base asset
	bought      exchange.Quantity
	sold        exchange.Quantity
	paid, taken exchange.Amount // value bought, value sold
	quoteFees   exchange.Amount // the part of the fees that left the wallet in USDT
	funded      exchange.Amount // the account's funding when it began
	insured     exchange.Amount // what the exchange had borne when it began
}

// execution books a fill to the round trip under way, or begins one.
func (l *ledger) execution(fill *sim.Fill) {
	t, symbol := &l.open, l.run.symbol
	if t.bought == 0 && t.sold == 0 {
		money := l.run.venue.Money(account)
		*t = trip{funded: money.Funding, insured: money.Insurance}
		t.EnteredMS, t.Side = fill.TimeMS, fill.Side
	}
	notional := symbol.Notional(fill.Price, fill.Quantity)
	t.held = t.held.Add(symbol.QuantityAmount(fill.Quantity * exchange.Quantity(fill.Side.Sign())))
	fee := fill.Fee
	if fill.FeeAsset == symbol.Quote {
		t.quoteFees = t.quoteFees.Add(fee)
	} else {
		// A fee in the asset bought is worth its price, and the asset is not held.
		t.held = t.held.Sub(fee)
		fee = worth(symbol, fee, fill.Price)
	}
	t.Fees = t.Fees.Add(fee)
	if fill.Side == exchange.Buy {
		t.bought, t.paid = t.bought+fill.Quantity, t.paid.Add(notional)
	} else {
		t.sold, t.taken = t.sold+fill.Quantity, t.taken.Add(notional)
	}
	if t.bought != 0 && t.sold != 0 && t.held.Abs().Less(symbol.QuantityAmount(symbol.QuantityTick)) {
		l.closeTrip(fill.TimeMS)
	}
}

func (l *ledger) closeTrip(atMS int64) {
	t, symbol, money := &l.open, l.run.symbol, l.run.venue.Money(account)
	t.LeftMS, t.Quantity = atMS, max(t.bought, t.sold)
	t.Entry, t.Exit = symbol.CostMean(t.paid, t.bought), symbol.CostMean(t.taken, t.sold)
	if t.Side == exchange.Sell {
		t.Entry, t.Exit = t.Exit, t.Entry
	}
	t.Funding = money.Funding.Sub(t.funded)
	// A fee in the asset bought shows as less sold; what a bankrupt wallet could
	// not pay is no loss of its owner's.
	t.PNL = t.taken.Sub(t.paid).Sub(t.quoteFees).Sub(t.Funding).Add(money.Insurance.Sub(t.insured))
	l.trips = append(l.trips, t.Trip)
	l.open = trip{}
}
