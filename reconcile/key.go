package reconcile

import (
	"slices"
	"strings"

	"botd/exchange"
	"botd/strategy"
)

// KeyFill is what became of one key of the plan in force.
type KeyFill struct {
	Purpose   Purpose
	Key       string
	Filled    exchange.Quantity
	RefusedMS int64 // when the exchange last would not take an order under it
}

// FilledUnder returns what was filled under a key.
func (s *StrategyState) FilledUnder(purpose Purpose, key string) exchange.Quantity {
	if i, found := s.findKey(purpose, key); found {
		return s.Keys[i].Filled
	}
	return 0
}

// refusedUnder returns when the exchange last would not take an order under a
// key, 0 when it always did.
func (s *StrategyState) refusedUnder(purpose Purpose, key string) int64 {
	if i, found := s.findKey(purpose, key); found {
		return s.Keys[i].RefusedMS
	}
	return 0
}

// findKey finds a key's place: there may be hundreds.
func (s *StrategyState) findKey(purpose Purpose, key string) (int, bool) {
	return slices.BinarySearchFunc(s.Keys, key, func(k KeyFill, key string) int {
		if k.Purpose != purpose {
			return int(k.Purpose) - int(purpose)
		}
		return strings.Compare(k.Key, key)
	})
}

func (s *StrategyState) under(purpose Purpose, key string) *KeyFill {
	i, found := s.findKey(purpose, key)
	if !found {
		s.Keys = slices.Insert(s.Keys, i, KeyFill{Purpose: purpose, Key: key})
	}
	return &s.Keys[i]
}

// forgetKeys drops what was filled under keys the plan does not name any more:
// a key that comes back begins anew.
func (b *Book) forgetKeys(s *StrategyState) {
	for _, purpose := range [...]Purpose{Order, ExitOrder} {
		named := b.places(&s.Plan, purpose)
		s.Keys = slices.DeleteFunc(s.Keys, func(k KeyFill) bool { return (k.Purpose == ExitOrder) == (purpose == ExitOrder) && named.of(k.Key) < 0 })
	}
}

// places finds wishes by their keys.
type places struct {
	wishes []strategy.DesiredOrder
	byKey  map[string]int // nil: there are few
}

// fewWishes are found faster one by one.
const fewWishes = 8

// places is valid until it is called for other wishes of the same purpose. Lists
// that never change are looked through once.
func (b *Book) places(plan *strategy.Plan, purpose Purpose) places {
	wishes, kept := plan.Orders, &b.placed[0]
	if purpose == ExitOrder {
		wishes, kept = plan.Exits, &b.placed[1]
	}
	if len(wishes) <= fewWishes {
		return places{wishes: wishes}
	}
	if plan.Shared() && len(kept.wishes) == len(wishes) && &kept.wishes[0] == &wishes[0] {
		return *kept
	}
	if kept.byKey == nil {
		kept.byKey = make(map[string]int, len(wishes))
	}
	clear(kept.byKey)
	for i := len(wishes) - 1; i >= 0; i-- { // the first of a key counts
		kept.byKey[wishes[i].Key] = i
	}
	if kept.wishes = nil; plan.Shared() {
		kept.wishes = wishes
	}
	return places{wishes, kept.byKey}
}

// of returns the place of a key, or -1.
func (p places) of(key string) int {
	if p.byKey == nil {
		return slices.IndexFunc(p.wishes, func(w strategy.DesiredOrder) bool { return w.Key == key })
	}
	if i, found := p.byKey[key]; found {
		return i
	}
	return -1
}
