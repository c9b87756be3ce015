package reconcile

import (
	"slices"

	"botd/exchange"
)

// legs takes what a reading of the futures tells of positions.
func (t *Trips) legs(e *Posting) (ended []Trip) {
	first := !t.opened
	t.opened = true
	for _, name := range legSymbols(&e.Reading, t.symbols) {
		s := t.symbol(exchange.SymbolKey{Market: exchange.Futures, Name: name})
		if first { // what ended before the wallet was taken over is not in the books
			s.leg, s.whole = legOf(e.Reading.Open, name), false
			continue
		}
		ended = append(ended, s.read(e, t.termsOf(s.key))...)
	}
	return ended
}

// legSymbols are the symbols that a reading is about, sorted: those it names, and
// those of which a position was open.
func legSymbols(r *Reading, known []*tripSymbol) (names []string) {
	for _, s := range known {
		if s.leg.ID != 0 {
			names = append(names, s.key.Name)
		}
	}
	for _, legs := range [][]Leg{r.Open, r.Closed} {
		for i := range legs {
			names = append(names, legs[i].Symbol)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func legOf(legs []Leg, symbol string) Leg {
	for i := range legs {
		if legs[i].Symbol == symbol {
			return legs[i]
		}
	}
	return Leg{}
}

// read takes what a reading tells of one symbol: the positions that ended are round
// trips, with what was paid for them.
func (s *tripSymbol) read(e *Posting, terms Terms) (ended []Trip) {
	var legs []Leg
	for i := range e.Reading.Closed {
		if e.Reading.Closed[i].Symbol == s.key.Name {
			legs = append(legs, e.Reading.Closed[i])
		}
	}
	closed := len(legs)
	open := legOf(e.Reading.Open, s.key.Name)
	if open.ID != 0 {
		legs = append(legs, open)
	}
	fees, funding := s.shares(e, legs)
	for i := range legs[:closed] {
		trip := tripOf(&legs[i], s.key)
		trip.Fees, trip.Funding, trip.Whole = fees[i], funding[i], true
		if legs[i].ID == s.leg.ID {
			trip.Fees, trip.Funding, trip.Whole = trip.Fees.Add(s.fees), trip.Funding.Add(s.funding), s.whole
		}
		s.attribute(&trip, &legs[i], terms)
		ended = append(ended, trip)
	}
	switch {
	case open.ID == 0:
		s.fees, s.funding, s.whole = exchange.Amount{}, exchange.Amount{}, false
	case open.ID != s.leg.ID:
		s.fees, s.funding, s.whole = fees[closed], funding[closed], true
	default:
		s.fees, s.funding = s.fees.Add(fees[closed]), s.funding.Add(funding[closed])
	}
	s.leg = open
	return ended
}

func tripOf(g *Leg, key exchange.SymbolKey) Trip {
	trip := Trip{Symbol: key, Asset: money, PositionID: g.ID, Side: exchange.Buy, Quantity: g.Opened, Entry: g.Entry, Exit: g.Close, Realised: g.Realised, EnteredMS: g.FromMS, LeftMS: g.UntilMS,
		Liquidated: g.Liquidated, Derived: true}
	if g.Short {
		trip.Side = exchange.Sell
	}
	return trip
}

// shares divides what was paid on the symbol among the positions it was paid for:
// fees by what was traded of each, funding by what each held. Mostly it is one.
func (s *tripSymbol) shares(e *Posting, legs []Leg) (fees, funding []exchange.Amount) {
	fees, funding = make([]exchange.Amount, len(legs)), make([]exchange.Amount, len(legs))
	var paid, funded, traded, held exchange.Amount
	for i := range e.Lines {
		switch line := &e.Lines[i]; {
		case line.Symbol != s.key:
		case line.Account == Fees:
			paid = paid.Add(line.Amount)
		case line.Account == Funding:
			funded = funded.Add(line.Amount)
		}
	}
	if len(legs) == 1 {
		fees[0], funding[0] = paid, funded
		return fees, funding
	}
	for i := range legs {
		traded, held = traded.Add(s.traded(&legs[i])), held.Add(legs[i].value(legs[i].Opened))
	}
	apportion(fees, paid, traded, func(i int) exchange.Amount { return s.traded(&legs[i]) })
	apportion(funding, funded, held, func(i int) exchange.Amount { return legs[i].value(legs[i].Opened) })
	return fees, funding
}

// traded is about what was traded of a position since the last reading, at its entry price.
func (s *tripSymbol) traded(g *Leg) exchange.Amount {
	var before Leg
	if g.ID == s.leg.ID {
		before = s.leg
	}
	opened := g.Opened.Sub(before.Opened)
	exited := opened.Sub(g.Remaining.Sub(before.Remaining))
	return g.value(opened.Abs().Add(exited.Abs()))
}

// attribute finds whose a position was, and what ended it, by botd's own fills.
func (s *tripSymbol) attribute(trip *Trip, g *Leg, terms Terms) {
	same := func(o *outing) bool { return terms.Unit.Mul(int64(o.opened)) == g.Opened }
	switch i := slices.IndexFunc(s.outings, func(o outing) bool { return same(&o) }); {
	case i >= 0:
		trip.Strategy, trip.By = s.outings[i].strategy, s.outings[i].by
		s.outings = slices.Delete(s.outings, 0, i+1) // those before it are of positions that nobody tells
	case s.filling.opened != 0 && same(&s.filling): // ended by no order of botd's, or by one not fetched yet
		trip.Strategy, s.filling.told = s.filling.strategy, true
	case len(s.outings) > 0: // somebody else had a part in it
		trip.Strategy = s.outings[0].strategy
		s.outings = slices.Delete(s.outings, 0, 1)
	}
	if g.Liquidated {
		trip.By = 0
	}
}
