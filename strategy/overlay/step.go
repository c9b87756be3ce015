package overlay

import (
	"fmt"
	"strings"

	"botd/exchange"
)

// Step is a share of a position at a distance from its entry price. A positive distance is on the
// winning side.
type Step struct {
	Away  exchange.Rate // as a share of the entry price; or
	R     exchange.Rate // as a multiple of the stop's distance at the entry
	Share exchange.Rate // of the position
}

// ParseDistance reads 2%, -2% or 1.5R.
func (s *Step) ParseDistance(text string) error {
	if multiple, is := strings.CutSuffix(strings.ToUpper(text), "R"); is {
		var err error
		if s.R, err = exchange.ParseRate(multiple); err != nil || s.R == 0 {
			return fmt.Errorf("%q is not a multiple of the stop's distance, such as 1R", text)
		}
		return nil
	}
	var err error
	if s.Away, err = exchange.ParseRate(text); err != nil || !strings.HasSuffix(text, "%") || s.Away == 0 {
		return fmt.Errorf("%q is not a distance: use a share of the entry price such as 2%%, or a multiple of the stop's distance such as 1R", text)
	}
	return nil
}

// Distance returns the distance in configuration syntax.
func (s *Step) Distance() string {
	if s.R != 0 {
		return s.R.Decimal().String() + "R"
	}
	return s.Away.Decimal().Shift(2).String() + "%"
}

// price returns the price of the step for a position entered at a price on a side, or 0 for a
// multiple of an unknown stop distance.
func (s *Step) price(symbol *exchange.Symbol, entry exchange.Price, side int64, risk exchange.Price) exchange.Price {
	away := portion(entry, s.Away)
	if s.R != 0 {
		if risk <= 0 {
			return 0
		}
		away = portion(risk, s.R)
	}
	if side > 0 {
		return symbol.CeilPrice(entry + away)
	}
	return symbol.FloorPrice(entry - away)
}

// reached reports whether a price is at or beyond the step, on the step's side of the entry.
func (s *Step) reached(at, last exchange.Price, side int64) bool {
	beyond := int64(last-at) * side
	if s.Away < 0 || s.R < 0 {
		return at > 0 && beyond <= 0
	}
	return at > 0 && beyond >= 0
}
