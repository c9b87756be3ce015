package ledger

import (
	"slices"

	"botd/exchange"
)

// futures applies the positions in a reading of the futures market.
func (t *RoundTrips) futures(e *Posting) (ended []RoundTrip) {
	first := !t.opened
	t.opened = true
	for _, name := range positionSymbols(&e.Reading, t.symbols) {
		s := t.symbol(exchange.SymbolKey{Market: exchange.Futures, Name: name})
		if first { // positions that ended before the wallet was taken over are not booked
			s.position, s.whole = positionOf(e.Reading.Open, name), false
			continue
		}
		ended = append(ended, s.read(e, t.instrumentOf(s.key))...)
	}
	return ended
}

// positionSymbols returns the symbols that a reading concerns, sorted: those with a position in it, and
// those whose position was open at the last reading.
func positionSymbols(r *Reading, known []*tripSymbol) (names []string) {
	for _, s := range known {
		if s.position.ID != 0 {
			names = append(names, s.key.Name)
		}
	}
	for _, positions := range [][]Position{r.Open, r.Closed} {
		for i := range positions {
			names = append(names, positions[i].Symbol)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func positionOf(positions []Position, symbol string) Position {
	for i := range positions {
		if positions[i].Symbol == symbol {
			return positions[i]
		}
	}
	return Position{}
}

// read applies a reading's rows of one symbol: ended positions become round trips with their costs.
func (s *tripSymbol) read(e *Posting, instrument Instrument) (ended []RoundTrip) {
	var positions []Position
	for i := range e.Reading.Closed {
		if e.Reading.Closed[i].Symbol == s.key.Name {
			positions = append(positions, e.Reading.Closed[i])
		}
	}
	closed := len(positions)
	open := positionOf(e.Reading.Open, s.key.Name)
	if open.ID != 0 {
		positions = append(positions, open)
	}
	fees, funding := s.shares(e, positions)
	for i := range positions[:closed] {
		trip := tripOf(&positions[i], s.key)
		trip.Fees, trip.Funding, trip.Whole = fees[i], funding[i], positions[i].ID != s.missing
		if positions[i].ID == s.position.ID {
			trip.Fees, trip.Funding, trip.Whole = trip.Fees.Add(s.fees), trip.Funding.Add(s.funding), s.whole
		}
		s.attribute(&trip, &positions[i], instrument)
		ended = append(ended, trip)
	}
	if s.position.ID != 0 && !slices.ContainsFunc(positions, func(g Position) bool { return g.ID == s.position.ID }) {
		s.missing = s.position.ID
	}
	switch {
	case open.ID == 0: // the state must not contain the costs of an ended position
		s.fees, s.funding, s.whole = exchange.Amount{}, exchange.Amount{}, false
	case open.ID != s.position.ID:
		s.fees, s.funding, s.whole = fees[closed], funding[closed], open.ID != s.missing
	default:
		s.fees, s.funding = s.fees.Add(fees[closed]), s.funding.Add(funding[closed])
	}
	s.position = open
	return ended
}

func tripOf(g *Position, key exchange.SymbolKey) RoundTrip {
	trip := RoundTrip{
		Symbol:     key,
		Asset:      FuturesAsset,
		PositionID: g.ID,
		Side:       exchange.Buy,
		Quantity:   g.Opened,
		EntryPrice: g.EntryPrice,
		ExitPrice:  g.Close,
		Realized:   g.Realized,
		EnteredMS:  g.FromMS,
		LeftMS:     g.UntilMS,
		Liquidated: g.Liquidated,
		Derived:    true,
	}
	if g.Short {
		trip.Side = exchange.Sell
	}
	return trip
}

// shares divides the amounts paid on the symbol among the positions they were paid for: fees by
// traded value, funding by held value. Usually there is one position.
func (s *tripSymbol) shares(e *Posting, positions []Position) (fees, funding []exchange.Amount) {
	fees, funding = make([]exchange.Amount, len(positions)), make([]exchange.Amount, len(positions))
	var paid, funded, traded, valueHeld exchange.Amount
	for i := range e.Lines {
		switch line := &e.Lines[i]; {
		case line.Symbol != s.key:
		case line.Account == Fees:
			paid = paid.Add(line.Amount)
		case line.Account == Funding:
			funded = funded.Add(line.Amount)
		}
	}
	if len(positions) == 1 {
		fees[0], funding[0] = paid, funded
		return fees, funding
	}
	for i := range positions {
		traded, valueHeld = traded.Add(s.traded(&positions[i])), valueHeld.Add(positions[i].value(positions[i].Opened))
	}
	apportion(fees, paid, traded, func(i int) exchange.Amount { return s.traded(&positions[i]) })
	apportion(funding, funded, valueHeld, func(i int) exchange.Amount { return positions[i].value(positions[i].Opened) })
	return fees, funding
}

// traded returns the value of a position's trades since the last reading.
func (s *tripSymbol) traded(g *Position) exchange.Amount {
	var before Position
	if g.ID == s.position.ID {
		before = s.position
	}
	opened := g.Opened.Sub(before.Opened)
	exited := opened.Sub(g.Remaining.Sub(before.Remaining))
	return g.value(opened).Abs().Add(g.proceeds(g.value(exited), g.Realized.Sub(before.Realized)).Abs())
}

// attribute finds a position's strategy, and the order that ended it, from botd's own fills.
func (s *tripSymbol) attribute(trip *RoundTrip, g *Position, instrument Instrument) {
	same := func(o *quantityTrip) bool { return instrument.Unit.Mul(int64(o.opened)) == g.Opened }
	switch i := slices.IndexFunc(s.spans, func(o quantityTrip) bool { return same(&o) }); {
	case i >= 0:
		trip.Strategy, trip.By = s.spans[i].strategy, s.spans[i].by
		s.spans = slices.Delete(s.spans, 0, i+1) // earlier ones belong to positions that will never be reported
	case s.filling.opened != 0 && same(&s.filling): // not ended by an order of botd's, or by one that has not been fetched yet
		trip.Strategy, s.filling.reported = s.filling.strategy, true
	case len(s.spans) > 0: // another party's orders changed the position, too
		trip.Strategy = s.spans[0].strategy
		s.spans = slices.Delete(s.spans, 0, 1)
	}
	if g.Liquidated {
		trip.By = 0
	}
}
