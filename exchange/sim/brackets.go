package sim

import "botd/exchange"

// WithBrackets gives a futures symbol without margin brackets the built-in ones.
func WithBrackets(s *exchange.Symbol) *exchange.Symbol {
	if s.Market != exchange.Futures || len(s.Brackets) > 0 {
		return s
	}
	with := *s
	with.Brackets = DefaultBrackets()
	return &with
}
