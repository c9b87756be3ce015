package account

import (
	"iter"
	"slices"
	"strings"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/strategy"
)

// keyFill is what became of one key of the plan in force.
type keyFill struct {
	purpose   placement.Purpose
	key       string
	filled    exchange.Quantity
	refusedMS int64 // when the exchange last would not take an order under it
}

// FilledUnder returns what was filled under a key.
func (s *Strategy) FilledUnder(purpose placement.Purpose, key string) exchange.Quantity {
	if i, found := s.findKey(purpose, key); found {
		return s.keys[i].filled
	}
	return 0
}

// Fills gives each key of the plan under which something filled, orders first.
func (s *Strategy) Fills() iter.Seq2[string, exchange.Quantity] {
	return func(yield func(string, exchange.Quantity) bool) {
		for i := range s.keys {
			if k := &s.keys[i]; k.filled > 0 && !yield(k.key, k.filled) {
				return
			}
		}
	}
}

// RefusedUnder returns when the exchange last would not take an order under a key;
// 0 when it always did.
func (s *Strategy) RefusedUnder(purpose placement.Purpose, key string) int64 {
	if i, found := s.findKey(purpose, key); found {
		return s.keys[i].refusedMS
	}
	return 0
}

// findKey finds a key's place: there may be hundreds.
func (s *Strategy) findKey(purpose placement.Purpose, key string) (int, bool) {
	return slices.BinarySearchFunc(s.keys, key, func(k keyFill, key string) int {
		if k.purpose != purpose {
			return int(k.purpose) - int(purpose)
		}
		return strings.Compare(k.key, key)
	})
}

// under returns a key's entry, made when it is new.
func (s *Strategy) under(purpose placement.Purpose, key string) *keyFill {
	i, found := s.findKey(purpose, key)
	if !found {
		s.keys = slices.Insert(s.keys, i, keyFill{purpose: purpose, key: key})
	}
	return &s.keys[i]
}

// forgetKeys drops what was filled under keys that the plan does not name any more:
// a key that comes back begins anew.
func (s *State) forgetKeys(t *Strategy) {
	for _, purpose := range [...]placement.Purpose{placement.Order, placement.ExitOrder} {
		named := s.Keys(&t.plan, purpose)
		t.keys = slices.DeleteFunc(t.keys, func(k keyFill) bool {
			return (k.purpose == placement.ExitOrder) == (purpose == placement.ExitOrder) && named.Of(k.key) < 0
		})
	}
}

// Keys finds orders of a plan by their keys.
type Keys struct {
	orders []strategy.DesiredOrder
	byKey  map[string]int // nil: there are few
}

// fewOrders are found faster one by one.
const fewOrders = 8

// keyIndex is scratch: the indexes of plans that never change, for orders and for exits.
type keyIndex [2]Keys

// Keys returns the plan's orders, or exits, by their keys. It is valid until it is
// called for another list of the same purpose. Lists that never change are indexed
// once.
func (x *keyIndex) Keys(plan *strategy.Plan, purpose placement.Purpose) Keys {
	orders, cached := plan.Orders, &x[0]
	if purpose == placement.ExitOrder {
		orders, cached = plan.Exits, &x[1]
	}
	if len(orders) <= fewOrders {
		return Keys{orders: orders}
	}
	if plan.Shared() && len(cached.orders) == len(orders) && &cached.orders[0] == &orders[0] {
		return *cached
	}
	if cached.byKey == nil {
		cached.byKey = make(map[string]int, len(orders))
	}
	clear(cached.byKey)
	for i := len(orders) - 1; i >= 0; i-- { // the first of a key counts
		cached.byKey[orders[i].Key] = i
	}
	if cached.orders = nil; plan.Shared() {
		cached.orders = orders
	}
	return Keys{orders, cached.byKey}
}

// Of returns the place of a key, or -1.
func (k Keys) Of(key string) int {
	if k.byKey == nil {
		return slices.IndexFunc(k.orders, func(o strategy.DesiredOrder) bool { return o.Key == key })
	}
	if i, found := k.byKey[key]; found {
		return i
	}
	return -1
}
