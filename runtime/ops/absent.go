package ops

import (
	"maps"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"botd/exchange"
	"botd/runtime/engine"
)

// vector is a family of any kind.
type vector interface {
	DeletePartialMatch(labels prometheus.Labels) int
}

// forgetAbsent deletes the series of removed strategies and of symbols that are no longer traded: an
// alert must not persist because of their last value, and a removed name must not use up a label.
func (m *Metrics) forgetAbsent(s *engine.Status) {
	traded := map[string]*exchange.Symbol{}
	for i := range s.Strategies {
		traded[s.Strategies[i].Name] = s.Strategies[i].Symbol
	}
	left := slices.Collect(maps.Values(traded))
	for name, symbol := range m.traded {
		if traded[name] != nil {
			continue
		}
		m.known.remove(m.known.strategies, name)
		m.forget(prometheus.Labels{"strategy": name})
		delete(m.candles, name)
		delete(m.peaks, name)
		delete(m.paid, name)
		market := symbol.Market.String()
		if !slices.ContainsFunc(left, func(other *exchange.Symbol) bool { return other.Key() == symbol.Key() }) {
			m.forget(prometheus.Labels{"market": market, "symbol": symbol.Name})
			delete(m.unprotectedMS, symbol.Key().String())
		}
		if !slices.ContainsFunc(left, func(other *exchange.Symbol) bool { return other.Name == symbol.Name }) {
			m.known.remove(m.known.symbols, symbol.Name)
			m.forget(prometheus.Labels{"symbol": symbol.Name})
		}
	}
	m.traded = traded
}

func (m *Metrics) forget(labels prometheus.Labels) {
	for _, v := range m.vectors {
		v.DeletePartialMatch(labels)
	}
}

func (c *closed) remove(set map[string]bool, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(set, name)
}
