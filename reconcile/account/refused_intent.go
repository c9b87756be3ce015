package account

import (
	"slices"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// maxRefusedIntents bounds the number of remembered intents that the exchange refused.
const maxRefusedIntents = 64

// RefusedIntent is an intent whose placements the exchange has refused in a row. It derives from records, so
// a restarted process waits as long as its predecessor would have: frequent restarts send no more
// orders than one long run.
type RefusedIntent struct {
	Strategy string
	Symbol   exchange.SymbolKey
	Purpose  placement.Purpose
	Key      string
	Type     exchange.OrderType
	SinceMS  int64     // the first refusal
	LastMS   int64     // the newest refusal
	Of       []Refused // oldest first, at most maxRefused
}

// Refused is one refusal: its time and the exchange's answer.
type Refused struct {
	AtMS   int64
	Code   int
	Reason string
}

// maxRefused limits the remembered refusals of one intent: with that many, the wait has reached its
// maximum.
const maxRefused = 16

// refusedIntents are sorted in the order of their first refusal, at most maxRefusedIntents.
type refusedIntents struct{ inForce []RefusedIntent }

// RefusedIntents returns the intents that the exchange refused, in the order of their first refusal.
func (f *refusedIntents) RefusedIntents() []RefusedIntent {
	all := slices.Clone(f.inForce)
	for i := range all {
		all[i].Of = slices.Clone(all[i].Of)
	}
	return all
}

func (f *refusedIntents) find(p *Placement) int {
	return slices.IndexFunc(f.inForce, func(r RefusedIntent) bool {
		return r.Strategy == p.strategy && r.Symbol == p.Symbol() && r.Purpose == p.purpose && r.Key == p.key && r.Type == p.order.Type
	})
}

// note updates the refusals with a record. A post-only order that would have matched does not count:
// only its price was refused.
func (f *refusedIntents) note(p *Placement, r *record.Record) {
	switch body := r.Body.(type) {
	case record.Refused:
		f.add(p, Refused{r.AtMS, body.Code, body.Reason})
	case record.Fill:
		f.drop(p)
	case record.Ended:
		switch {
		case body.State == placement.Rejected && !p.order.PostOnly:
			f.add(p, Refused{AtMS: r.AtMS, Reason: "accepted, then rejected"})
		case body.State == placement.Filled, body.State == placement.Canceled: // it rested until then
			f.drop(p)
		}
	}
}

// endPosition forgets the refused intents that would have reduced or protected an ended position. It is called at a position's end, and before the
// next one is opened, because the exchange may have refused a stop since.
func (f *refusedIntents) endPosition(symbol *Symbol) {
	if symbol.known == 0 {
		f.inForce = slices.DeleteFunc(f.inForce, func(r RefusedIntent) bool { return r.Symbol == symbol.key && !r.Purpose.Opens() })
	}
}

func (f *refusedIntents) add(p *Placement, refused Refused) {
	i := f.find(p)
	if i < 0 {
		if len(f.inForce) == maxRefusedIntents {
			f.inForce = slices.Delete(f.inForce, 0, 1)
		}
		i = len(f.inForce)
		f.inForce = append(f.inForce, RefusedIntent{Strategy: p.strategy, Symbol: p.Symbol(), Purpose: p.purpose, Key: p.key, Type: p.order.Type,
			SinceMS: refused.AtMS})
	}
	one := &f.inForce[i]
	if one.LastMS = refused.AtMS; len(one.Of) == maxRefused {
		one.Of = slices.Delete(one.Of, 0, 1)
	}
	one.Of = append(one.Of, refused)
}

// drop forgets the refusals of an intent once the exchange has filled or canceled an order of it, unless that order was sent before the newest refusal.
func (f *refusedIntents) drop(p *Placement) {
	if i := f.find(p); i >= 0 && p.sentMS >= f.inForce[i].LastMS {
		f.inForce = slices.Delete(f.inForce, i, i+1)
	}
}
