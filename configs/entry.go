package configs

import (
	"botd/exchange"
	"botd/internal/notation"
)

// EntryConfig configures entries.
type EntryConfig struct {
	Order      string // market, limit, post_only
	PatienceMS int64
	Tries      int
	Then       string // market, give_up
}

func defaultEntry() EntryConfig {
	return EntryConfig{Order: "market", PatienceMS: 30 * second, Tries: 3, Then: "market"}
}

// rests reports whether an entry order waits in the order book.
func (e *EntryConfig) rests() bool { return e.Order != "market" && e.Order != "" }

func (e *EntryConfig) keys() []key {
	return []key{
		{name: "order", value: choice(&e.Order, "market", "limit", "post_only"),
			what: "order type of an entry: market, or an order that rests", example: "limit"},
		{name: "patience", value: duration(&e.PatienceMS, second, day),
			what: "how long an entry order rests before its price is adjusted", example: "entry: {order: limit, patience: 1m}"},
		{name: "tries", value: whole(&e.Tries, 1, 1000), what: "maximum orders per entry", unit: "orders", example: "entry: {order: limit, tries: 5}"},
		{name: "then", value: choice(&e.Then, "market", "give_up"),
			what: "what happens to the unfilled remainder after the last try", example: "entry: {order: limit, then: give_up}"},
	}
}

func (r *strategyReader) checkEntry(s *section) {
	e := &r.into.Entry
	if !e.rests() {
		if len(s.entries) > 0 && s.value("order") == nil {
			s.warn(s.entries[0].value, "write order: post_only or order: limit", "entry sets how to wait, but enters at market")
		}
		return
	}
	node := s.value("order")
	if e.Order == "post_only" && r.into.Market == exchange.Spot {
		s.wrong(node, "write order: limit", "spot has no post-only orders")
	}
	if r.into.Schedule.Candle() && int64(r.into.Interval) > e.PatienceMS {
		s.warn(node, "add schedule: \"@every 5s\"", "the order is checked once a candle of %s, not every %s",
			r.into.Interval, notation.DurationText(e.PatienceMS))
	}
}
