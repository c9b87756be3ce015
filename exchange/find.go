package exchange

// FindSymbol finds a configured symbol among the known ones.
func FindSymbol(symbols []*Symbol, market Market, name string) (*Symbol, bool) {
	for _, s := range symbols {
		if s.Market == market && s.Name == name {
			return s, true
		}
	}
	return nil, false
}
