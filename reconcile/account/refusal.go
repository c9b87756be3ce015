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

// refusals are the intents refused, in the order of their first refusal, at most mostRefusals.
type refusals struct{ inForce []Refusal }

// Refusals returns the intents that the exchange refused, in the order of their first refusal.
func (f *refusals) Refusals() []Refusal { return slices.Clone(f.inForce) }

func (f *refusals) find(p *Placement) int {
	return slices.IndexFunc(f.inForce, func(r Refusal) bool {
		return r.Strategy == p.strategy && r.Symbol == p.Symbol() && r.Purpose == p.purpose && r.Key == p.key && r.Type == p.order.Type
	})
}

// note takes what a record says of the exchange's will to take an intent. A postOnly
// order that would have matched is rejected for its price.
func (f *refusals) note(p *Placement, r *record.Record) {
	switch body := r.Body.(type) {
	case record.Refused:
		f.add(p, Refused{r.AtMS, body.Code, body.Why})
	case record.Fill:
		f.drop(p)
	case record.Ended:
		switch {
		case body.State == placement.Rejected && !p.order.PostOnly:
			f.add(p, Refused{AtMS: r.AtMS, Why: "accepted, then rejected"})
		case body.State == placement.Filled:
			f.drop(p)
		}
	}
}

// endPosition forgets what was to reduce or protect a position that has ended.
func (f *refusals) endPosition(symbol *Symbol) {
	if symbol.known == 0 {
		f.inForce = slices.DeleteFunc(f.inForce, func(r Refusal) bool { return r.Symbol == symbol.key && !r.Purpose.Opens() })
	}
}

func (f *refusals) add(p *Placement, refused Refused) {
	i := f.find(p)
	if i < 0 {
		if len(f.inForce) == mostRefusals {
			f.inForce = slices.Delete(f.inForce, 0, 1)
		}
		i = len(f.inForce)
		f.inForce = append(f.inForce, Refusal{Strategy: p.strategy, Symbol: p.Symbol(), Purpose: p.purpose, Key: p.key, Type: p.order.Type,
			SinceMS: refused.AtMS})
	}
	one := &f.inForce[i]
	if one.LastMS = refused.AtMS; len(one.Of) == mostRefused {
		one.Of = slices.Delete(one.Of, 0, 1)
	}
	one.Of = append(one.Of, refused)
}

// drop forgets what the exchange has taken. An older order stands beside those that are refused.
func (f *refusals) drop(p *Placement) {
	if i := f.find(p); i >= 0 && p.sentMS >= f.inForce[i].LastMS {
		f.inForce = slices.Delete(f.inForce, i, i+1)
	}
}
