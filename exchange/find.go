package exchange

// FindSymbol finds a configured symbol among those known.
func FindSymbol(symbols []*Symbol, market Market, name string) (*Symbol, bool) {
	for _, s := range symbols {
		if s.Market == market && s.Name == name {
			return s, true
		}
	}
	return nil, false
}
