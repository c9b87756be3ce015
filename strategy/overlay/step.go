package overlay

import (
	"fmt"
	"strings"

	"botd/exchange"
)

// Step is a share of a position at a distance from its entry price, on the winning side where it is positive.
type Step struct {
	Away  exchange.Rate // of the entry price; or
	R     exchange.Rate // in multiples of the distance of the stop as of the entry
	Share exchange.Rate // of the position
}

// ParseDistance reads 2%, -2% or 1.5R.
func (s *Step) ParseDistance(text string) error {
	if multiple, is := strings.CutSuffix(strings.ToUpper(text), "R"); is {
		var err error
		if s.R, err = exchange.ParseRate(multiple); err != nil || s.R == 0 {
			return fmt.Errorf("%q is no multiple of the stop's distance, such as 1R", text)
		}
		return nil
	}
	var err error
	if s.Away, err = exchange.ParseRate(text); err != nil || !strings.HasSuffix(text, "%") || s.Away == 0 {
		return fmt.Errorf("%q is no distance: a share of the entry price such as 2%%, or 1R, the stop's distance", text)
	}
	return nil
}

// Distance is the distance as it is written.
func (s *Step) Distance() string {
	if s.R != 0 {
		return s.R.Decimal().String() + "R"
	}
	return s.Away.Decimal().Shift(2).String() + "%"
}

// price is where the step is, of a position entered at a price on a side; 0 where a multiple of no distance is meant.
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

// reached reports whether a price is at the step or beyond it, on its own side of the entry.
func (s *Step) reached(at, last exchange.Price, side int64) bool {
	beyond := int64(last-at) * side
	if s.Away < 0 || s.R < 0 {
		return at > 0 && beyond <= 0
	}
	return at > 0 && beyond >= 0
}
