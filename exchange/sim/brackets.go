package sim

import "botd/exchange"

// WithBrackets returns a futures symbol with the built-in margin brackets if it has none.
func WithBrackets(s *exchange.Symbol) *exchange.Symbol {
	if s.Market != exchange.Futures || len(s.Brackets) > 0 {
		return s
	}
	with := *s
	with.Brackets = DefaultBrackets()
	return &with
}
