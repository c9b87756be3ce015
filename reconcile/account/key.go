package account

import (
	"iter"
	"slices"
	"strings"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/strategy"
)

// keyFill is the state of one key of the plan in force.
type keyFill struct {
	purpose   placement.Purpose
	key       string
	filled    exchange.Quantity
	refusedMS int64 // when the exchange last refused an order under the key; 0 for never
	at        int   // the key's index in the plan in force, approximately
}

// FilledByKey returns the quantity filled under a key.
func (s *Strategy) FilledByKey(purpose placement.Purpose, key string) exchange.Quantity {
	if i, found := s.findKey(purpose, key); found {
		return s.keys[i].filled
	}
	return 0
}

// FilledAt yields the index of each order of a plan whose key has a fill, and the filled quantity.
func (s *Strategy) FilledAt(keys *Keys, purpose placement.Purpose) iter.Seq2[int, exchange.Quantity] {
	return func(yield func(int, exchange.Quantity) bool) {
		for i := range s.keys {
			k := &s.keys[i]
			if k.purpose != purpose || k.filled == 0 {
				continue
			}
			if at := keys.Find(k.key, k.at); at >= 0 && !yield(at, k.filled) {
				return
			}
		}
	}
}

// Fills yields each key of the plan that has a fill, with its quantity: opening orders first, then exits.
func (s *Strategy) Fills() iter.Seq2[string, exchange.Quantity] {
	return func(yield func(string, exchange.Quantity) bool) {
		for i := range s.keys {
			if k := &s.keys[i]; k.filled > 0 && !yield(k.key, k.filled) {
				return
			}
		}
	}
}

// RefusedByKey returns when the exchange last refused or rejected an order under a key of the plan in
// force; 0 for never.
func (s *Strategy) RefusedByKey(purpose placement.Purpose, key string) int64 {
	if i, found := s.findKey(purpose, key); found {
		return s.keys[i].refusedMS
	}
	return 0
}

// findKey finds a key by binary search, because there may be hundreds.
func (s *Strategy) findKey(purpose placement.Purpose, key string) (int, bool) {
	return slices.BinarySearchFunc(s.keys, key, func(k keyFill, key string) int {
		if k.purpose != purpose {
			return int(k.purpose) - int(purpose)
		}
		return strings.Compare(k.key, key)
	})
}

// ofKey returns a key's entry, and creates it if necessary.
func (s *Strategy) ofKey(purpose placement.Purpose, key string) *keyFill {
	i, found := s.findKey(purpose, key)
	if !found {
		s.keys = slices.Insert(s.keys, i, keyFill{purpose: purpose, key: key})
	}
	return &s.keys[i]
}

// forgetKeys drops the fills of keys that the plan no longer contains. A key that returns starts
// from zero.
func (s *Strategy) forgetKeys() {
	orders, exits := s.Plan().Orders().Keys(), s.Plan().Exits().Keys()
	for i := range s.keys {
		named := &orders
		if s.keys[i].purpose == placement.ExitOrder {
			named = &exits
		}
		s.keys[i].at = named.Find(s.keys[i].key, s.keys[i].at)
	}
	s.keys = slices.DeleteFunc(s.keys, func(k keyFill) bool { return k.at < 0 })
}

// Keys finds orders of a plan by their keys.
type Keys struct {
	orders []strategy.DesiredOrder
	missed int            // number of keys not found near their expected index
	byKey  map[string]int // nil until many keys were missed
}

// Keys returns a finder of the orders by their keys.
func (o Orders) Keys() Keys { return Keys{orders: o.list} }

// fewMissed is the number of misses up to which linear searches cost less than a map of all keys.
const fewMissed = 8

// Find returns the index of a key, or -1. It searches near the expected index first.
func (k *Keys) Find(key string, expected int) int {
	if uint(expected) < uint(len(k.orders)) && k.orders[expected].Key == key {
		return expected
	}
	return k.search(key, expected)
}

func (k *Keys) search(key string, expected int) int {
	for _, i := range [...]int{expected - 1, expected + 1} {
		if uint(i) < uint(len(k.orders)) && k.orders[i].Key == key {
			return i
		}
	}
	if k.missed++; k.missed <= fewMissed {
		return slices.IndexFunc(k.orders, func(o strategy.DesiredOrder) bool { return o.Key == key })
	}
	if k.byKey == nil {
		k.byKey = make(map[string]int, len(k.orders))
		for i := len(k.orders) - 1; i >= 0; i-- { // the first order with a key wins
			k.byKey[k.orders[i].Key] = i
		}
	}
	if i, found := k.byKey[key]; found {
		return i
	}
	return -1
}
