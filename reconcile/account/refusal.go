package account

import (
	"slices"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// mostRefusals bounds how many intents are remembered that the exchange refused.
const mostRefusals = 64

// Refusal is an intent whose placements the exchange has refused in a row. It is journalled, so
// that a start waits as the process before it would have: a process that is started again and
// again sends no more than one that runs.
type Refusal struct {
	Strategy string
	Symbol   exchange.SymbolKey
	Purpose  placement.Purpose
	Key      string
	Type     exchange.OrderType
	SinceMS  int64     // the first of them
	LastMS   int64     // the newest
	Of       []Refused // oldest first, at most mostRefused
}

// Refused is one of them: when, and what the exchange answered.
type Refused struct {
	AtMS int64
	Code int
	Why  string
}

// mostRefused bounds how many refusals of one intent are remembered: by then it waits for as
// long as any does.
const mostRefused = 16

// Refusals returns the intents that the exchange refused, in the order of their first refusal.
func (s *State) Refusals() []Refusal { return slices.Clone(s.refusals) }

func (s *State) refusalOf(p *Placement) int {
	return slices.IndexFunc(s.refusals, func(r Refusal) bool {
		return r.Strategy == p.strategy && r.Symbol == p.Symbol() && r.Purpose == p.purpose && r.Key == p.key && r.Type == p.order.Type
	})
}

// noteRefusal takes what a record says of the exchange's will to take an intent. A postOnly
// order that would have matched is rejected for its price.
func (s *State) noteRefusal(p *Placement, r *record.Record) {
	switch body := r.Body.(type) {
	case record.Refused:
		s.addRefusal(p, Refused{r.AtMS, body.Code, body.Why})
	case record.Fill:
		s.dropRefusal(p)
	case record.Ended:
		switch {
		case body.State == placement.Rejected && !p.order.PostOnly:
			s.addRefusal(p, Refused{AtMS: r.AtMS, Why: "accepted, then rejected"})
		case body.State == placement.Filled:
			s.dropRefusal(p)
		}
	}
}

// endRefusals forgets what was to reduce or protect a position that has ended.
func (s *State) endRefusals(symbol *Symbol) {
	if symbol.known == 0 {
		s.refusals = slices.DeleteFunc(s.refusals, func(r Refusal) bool { return r.Symbol == symbol.key && !r.Purpose.Opens() })
	}
}

func (s *State) addRefusal(p *Placement, refused Refused) {
	i := s.refusalOf(p)
	if i < 0 {
		if len(s.refusals) == mostRefusals {
			s.refusals = slices.Delete(s.refusals, 0, 1)
		}
		i = len(s.refusals)
		s.refusals = append(s.refusals, Refusal{Strategy: p.strategy, Symbol: p.Symbol(), Purpose: p.purpose, Key: p.key, Type: p.order.Type,
			SinceMS: refused.AtMS})
	}
	one := &s.refusals[i]
	if one.LastMS = refused.AtMS; len(one.Of) == mostRefused {
		one.Of = slices.Delete(one.Of, 0, 1)
	}
	one.Of = append(one.Of, refused)
}

// dropRefusal forgets what the exchange has taken. An older order stands beside those that are refused.
func (s *State) dropRefusal(p *Placement) {
	if i := s.refusalOf(p); i >= 0 && p.sentMS >= s.refusals[i].LastMS {
		s.refusals = slices.Delete(s.refusals, i, i+1)
	}
}
