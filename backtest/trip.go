package backtest

import (
	"botd/exchange"
	"botd/reconcile/ledger"
)

// Trip is one round trip: from flat to flat, net of fees and funding.
type Trip struct {
	EnteredMS, LeftMS int64
	Quantity          exchange.Quantity
	Entry, Exit       exchange.Amount // mean prices
	Fees, Funding     exchange.Amount
	Slippage          exchange.Amount
	PNL               exchange.Amount
	Low, High         exchange.Price // between entry and exit, as far as fills and the candles closed meanwhile show
	entry, exit, leg  int32          // of tags, and of legs
	Side              exchange.Side  // of the entry
}

// trip is the current round trip.
type trip struct {
	Trip
	pair   ledger.Pairing
	funded exchange.Amount // the symbol's funding at the entry
	gained exchange.Amount // spot: the price difference realized so far
}

// reach extends the range by the prices of a candle during the round trip.
func (t *trip) reach(low, high exchange.Price) {
	if t.Low == 0 || low < t.Low {
		t.Low = low
	}
	t.High = max(t.High, high)
}

// execution adds a fill to the current round trip, or begins one.
func (l *measurement) execution(leg *leg, f *fill) {
	t, symbol, venue := &leg.held.open, leg.symbol, l.run.venue
	leg.held.fills++
	if !t.pair.Begun() {
		*t = trip{} // in place: a literal with fields would be copied through the stack
		t.funded, t.pair.Held = venue.FundingPaid(account, symbol.Name), leg.held.stock.Quantity
		t.EnteredMS, t.Side, t.entry, t.leg = f.TimeMS, f.Side, f.tag, f.leg
	}
	notional := symbol.Notional(f.Price, f.Quantity)
	l.filled = l.filled.Add(notional)
	if !f.Maker {
		l.takerValue = l.takerValue.Add(notional)
		if equity := l.equity.Float(); equity > 0 {
			l.load += notional.Float() / equity
		}
	}
	l.slipped, t.Slippage = l.slipped.Add(f.Slipped), t.Slippage.Add(f.Slipped)
	x := ledger.Execution{Side: f.Side, Quantity: symbol.QuantityAmount(f.Quantity), Value: notional, Fee: f.Fee, Worth: f.Fee}
	if f.InBase { // a fee in the asset bought counts at the asset's price
		x.InBase, x.Worth = true, worth(symbol, f.Fee, f.Price)
	}
	t.pair.Execute(&x)
	if symbol.Market == exchange.Spot {
		t.gained = t.gained.Add(leg.held.stock.Move(&x))
	}
	t.reach(f.Price, f.Price)
	if t.pair.Flat(symbol.QuantityAmount(symbol.QuantityTick)) {
		t.exit = f.tag
		l.closeTrip(leg, f.TimeMS)
	}
}

func (l *measurement) closeTrip(leg *leg, atMS int64) {
	t, symbol := &leg.held.open, leg.symbol
	t.LeftMS, t.Quantity, t.Fees = atMS, symbol.QuantityOf(t.pair.Bought.Max(t.pair.Sold)), t.pair.Fees
	t.Entry, t.Exit = t.pair.Prices()
	t.Funding = l.run.venue.FundingPaid(account, symbol.Name).Sub(t.funded)
	if symbol.Market == exchange.Spot {
		t.PNL = t.gained.Sub(t.Fees)
	} else { // the part that a bankrupt wallet could not pay is not the owner's loss
		_, insurance, _ := l.run.venue.Settled(account)
		t.PNL = t.pair.Net().Sub(t.Funding).Add(insurance.Sub(l.insured))
		l.insured = insurance
	}
	*added(&l.trips) = t.Trip
	leg.held.open = trip{}
}

// excursions returns how far the price went against the trip and in its favor, as shares of the entry price.
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
