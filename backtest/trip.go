package backtest

import (
	"botd/exchange"
)

// Trip is one round trip: from flat to flat, net of fees and funding.
type Trip struct {
	EnteredMS, LeftMS int64
	Side              exchange.Side // of the entry
	Quantity          exchange.Quantity
	Entry, Exit       exchange.Amount // mean prices
	Fees, Funding     exchange.Amount
	Slippage          exchange.Amount
	PNL               exchange.Amount
	Low, High         exchange.Price // between entry and exit, as far as candles that closed meanwhile and fills show
	EntryTag, ExitTag tag
	leg               int
}

// trip is the round trip under way.
type trip struct {
	Trip
	held        exchange.Amount // signed, of the base asset
	bought      exchange.Quantity
	sold        exchange.Quantity
	paid, taken exchange.Amount // value bought, value sold
	quoteFees   exchange.Amount // the part of the fees that left the wallet in USDT
	funded      exchange.Amount // the symbol's funding when it began
}

// reach takes the prices that a candle went through while something was held.
func (t *trip) reach(low, high exchange.Price) {
	if t.Low == 0 || low < t.Low {
		t.Low = low
	}
	t.High = max(t.High, high)
}

// execution books a fill to the round trip under way, or begins one.
func (l *ledger) execution(leg *leg, f *fill) {
	t, symbol, venue := &leg.held.open, leg.symbol, l.run.venue
	leg.held.fills++
	if t.bought == 0 && t.sold == 0 {
		*t = trip{funded: venue.FundingOf(account, symbol.Name)}
		t.EnteredMS, t.Side, t.EntryTag, t.leg = f.TimeMS, f.Side, f.tag, f.leg
	}
	notional := symbol.Notional(f.Price, f.Quantity)
	l.filled = l.filled.Add(notional)
	if !f.Maker {
		l.taken = l.taken.Add(notional)
		if equity := l.equity.Float(); equity > 0 {
			l.load += notional.Float() / equity
		}
	}
	l.slipped, t.Slippage = l.slipped.Add(f.Slipped), t.Slippage.Add(f.Slipped)
	t.held = t.held.Add(symbol.QuantityAmount(f.Quantity * exchange.Quantity(f.Side.Sign())))
	fee := f.Fee
	if f.FeeAsset == symbol.Quote {
		t.quoteFees = t.quoteFees.Add(fee)
	} else {
		// A fee in the asset bought is worth its price, and the asset is not held.
		t.held = t.held.Sub(fee)
		fee = worth(symbol, fee, f.Price)
	}
	t.Fees = t.Fees.Add(fee)
	t.reach(f.Price, f.Price)
	if f.Side == exchange.Buy {
		t.bought, t.paid = t.bought+f.Quantity, t.paid.Add(notional)
	} else {
		t.sold, t.taken = t.sold+f.Quantity, t.taken.Add(notional)
	}
	if t.bought != 0 && t.sold != 0 && t.held.Abs().Less(symbol.QuantityAmount(symbol.QuantityTick)) {
		t.ExitTag = f.tag
		l.closeTrip(leg, f.TimeMS)
	}
}

func (l *ledger) closeTrip(leg *leg, atMS int64) {
	t, symbol, money := &leg.held.open, leg.symbol, l.run.venue.Money(account)
	t.LeftMS, t.Quantity = atMS, max(t.bought, t.sold)
	t.Entry, t.Exit = symbol.CostMean(t.paid, t.bought), symbol.CostMean(t.taken, t.sold)
	if t.Side == exchange.Sell {
		t.Entry, t.Exit = t.Exit, t.Entry
	}
	t.Funding = l.run.venue.FundingOf(account, symbol.Name).Sub(t.funded)
	// A fee in the asset bought shows as less sold; what a bankrupt wallet could
	// not pay is no loss of its owner's.
	t.PNL = t.taken.Sub(t.paid).Sub(t.quoteFees).Sub(t.Funding).Add(money.Insurance.Sub(l.insured))
	l.insured = money.Insurance
	l.trips = append(l.trips, t.Trip)
	leg.held.open = trip{}
}

// excursions are how far the price went against the trip and for it, as shares
// of the entry price.
func (t *Trip) excursions(symbol *exchange.Symbol) (against, in float64) {
	entry := t.Entry.Float()
	if entry <= 0 {
		return 0, 0
	}
	down, up := (entry-symbol.PriceFloat(t.Low))/entry, (symbol.PriceFloat(t.High)-entry)/entry
	if t.Side == exchange.Sell {
		down, up = up, down
	}
	return max(0, down), max(0, up)
}
