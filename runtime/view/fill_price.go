package view

import (
	"slices"

	"botd/exchange"
	"botd/reconcile/ledger"
)

// maxUnpriced bounds the futures fills of a symbol that wait for a reading of the money.
const maxUnpriced = 1_000

// fillPrices derives the values of fills that the exchange does not report: the prices and fees of those on
// futures from two readings of the position and the wallet, and the fees of those on spot from the
// executions.
type fillPrices struct {
	symbols map[string]*unpriced // futures
	units   map[exchange.SymbolKey]exchange.Amount
}

// unpriced is a symbol's fills since the reading that its position was last explained by.
type unpriced struct {
	fills    []int64 // their numbers, oldest first
	position ledger.Position
	fees     exchange.Amount // booked since then
}

func newFillPrices() fillPrices {
	return fillPrices{symbols: map[string]*unpriced{}, units: map[exchange.SymbolKey]exchange.Amount{}}
}

func (p *fillPrices) symbol(name string) *unpriced {
	if p.symbols[name] == nil {
		p.symbols[name] = &unpriced{}
	}
	return p.symbols[name]
}

// unpricedFill remembers a futures fill until a reading explains it.
func (h *History) unpricedFill(n int64, name string) {
	s := h.prices.symbol(name)
	if s.fills = append(s.fills, n); len(s.fills) > maxUnpriced {
		s.fills = s.fills[1:]
	}
}

// pricedBy gives fills the prices and fees that follow from a posting.
func (h *History) pricedBy(p *ledger.Posting) {
	for _, instrument := range p.Reading.Instruments {
		h.prices.units[instrument.Symbol] = instrument.Unit
	}
	if p.Reading.Market == exchange.Spot {
		h.spotFees(p.Reading.Trades)
		return
	}
	for i := range p.Lines {
		if line := &p.Lines[i]; line.Account == ledger.Fees {
			s := h.prices.symbol(line.Symbol.Name)
			s.fees = s.fees.Add(line.Amount)
		}
	}
	for i := range p.Reading.Open {
		h.prices.symbol(p.Reading.Open[i].Symbol)
	}
	for name, s := range h.prices.symbols {
		h.priceSymbol(exchange.SymbolKey{Market: exchange.Futures, Name: name}, s, &p.Reading)
	}
}

// priceSymbol prices the oldest fills of a symbol that a reading shows; fills that it does not show yet wait for the next
// one.
func (h *History) priceSymbol(key exchange.SymbolKey, s *unpriced, r *ledger.Reading) {
	of := func(p ledger.Position) bool { return p.Symbol == key.Name }
	var open ledger.Position
	if i := slices.IndexFunc(r.Open, of); i >= 0 {
		open = r.Open[i]
	}
	ended := slices.IndexFunc(r.Closed, of)
	if ended < 0 {
		if len(s.fills) == 0 || h.match(key, s, changed(&s.position, &open)) {
			s.position = open
		}
		return
	}
	parts := changed(&s.position, new(r.Closed[ended]))
	if several := slices.ContainsFunc(r.Closed[ended+1:], of); len(parts) > 0 && !several {
		h.match(key, s, append(parts, changed(&ledger.Position{}, &open)...))
	}
	*s = unpriced{position: open} // fills that are still unexplained never will be
}

// part is the purchase or sale of a part of a position at one mean price.
type part struct {
	side     exchange.Side
	quantity exchange.Amount
	value    exchange.Amount
}

// changed returns the trades between two readings of one position, nil if they do not follow from the readings:
// if it was opened further and reduced between them, unless both ends are known.
func changed(before, now *ledger.Position) []part {
	enters, exits := exchange.Buy, exchange.Sell
	if now.Short {
		enters, exits = exits, enters
	}
	if before.ID != 0 && before.ID != now.ID {
		return nil
	}
	opened := now.Opened.Sub(before.Opened)
	exited := opened.Sub(now.Remaining.Sub(before.Remaining))
	switch {
	case now.ID == 0, opened.Sign() < 0 || exited.Sign() < 0:
		return nil
	case exited.IsZero():
		value := times(now.Remaining, now.EntryPrice).Sub(times(before.Remaining, before.EntryPrice))
		return []part{{enters, opened, value}}
	case opened.IsZero(): // the exchange sums the results of partial exits
		gained := now.Realized.Sub(before.Realized)
		if now.Short {
			gained = gained.Neg()
		}
		return []part{{exits, exited, times(exited, before.EntryPrice).Add(gained)}}
	case before.ID == 0 && now.Remaining.IsZero():
		return []part{{enters, opened, times(opened, now.EntryPrice)}, {exits, exited, times(exited, now.Close)}}
	}
	return nil
}

func times(quantity, price exchange.Amount) exchange.Amount {
	return quantity.MulQuo(price, exchange.AmountOf(1))
}

// match finds the oldest fills that make up all parts exactly, and prices them; it reports whether it did. Of two parts of one side,
// an exit and an entry of the other direction, the older fills are the exit.
func (h *History) match(key exchange.SymbolKey, s *unpriced, parts []part) bool {
	left := make([]exchange.Amount, len(parts))
	var value exchange.Amount
	for i, p := range parts {
		left[i], value = p.quantity, value.Add(p.value)
	}
	var found []*Fill
	var of []int // the part of each
	for _, n := range s.fills {
		if !slices.ContainsFunc(left, func(a exchange.Amount) bool { return !a.IsZero() }) {
			break
		}
		f := h.fills.get(n)
		if f == nil {
			return false
		}
		at := -1
		for i := range parts {
			if at < 0 && parts[i].side == f.side && !left[i].IsZero() {
				at = i
			}
		}
		if at < 0 {
			return false
		}
		if left[at] = left[at].Sub(h.prices.quantity(key, f)); left[at].Sign() < 0 {
			return false
		}
		found, of = append(found, f), append(of, at)
	}
	if len(found) == 0 || value.Sign() <= 0 || slices.ContainsFunc(left, func(a exchange.Amount) bool { return !a.IsZero() }) {
		return false
	}
	for i, f := range found {
		p := parts[of[i]]
		price := p.value.MulQuo(exchange.AmountOf(1), p.quantity)
		f.fee = s.fees.MulQuo(times(h.prices.quantity(key, f), price), value)
		f.Price, f.Fee, f.FeeAsset, f.Derived = readable(price), readable(f.fee), ledger.FuturesAsset, true
	}
	s.fills, s.fees = s.fills[len(found):], exchange.Amount{}
	return true
}

func (p *fillPrices) quantity(key exchange.SymbolKey, f *Fill) exchange.Amount {
	return p.units[key].Mul(int64(f.grown))
}

// readable returns a quotient without the digits that its division truncated.
func readable(a exchange.Amount) Decimal {
	const places = 8
	return a.Decimal().Round(places).String()
}

// maxBack bounds how far back the fill of an execution is looked for.
const maxBack = 500

// spotFees adds the fees of executions to the fills of their orders.
func (h *History) spotFees(trades []ledger.Trade) {
	for i := range trades {
		all := h.fills.all[max(0, len(h.fills.all)-maxBack):]
		for j := len(all) - 1; j >= 0; j-- {
			f := &all[j].value
			if f.OrderID != trades[i].OrderID || f.key.Market != exchange.Spot {
				continue
			}
			if f.FeeAsset == "" || f.FeeAsset == trades[i].FeeAsset {
				f.fee = f.fee.Add(trades[i].Fee)
				f.Fee, f.FeeAsset = f.fee.String(), trades[i].FeeAsset
			}
			break
		}
	}
}
