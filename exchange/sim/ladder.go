package sim

import "botd/exchange"

// ladder stores orders by price, the best last, and within a price by time. Bids and falling
// triggers have their highest price last, asks and rising triggers their lowest. The orders form a
// linked list, so a busy ladder does not allocate once its levels have grown.
type ladder struct {
	sign   int64 // +1: the highest price is the best; -1: the lowest
	levels []level
}

type level struct {
	key        int64 // sign x price, ascending
	head, tail *order
}

// search returns the index of the key's level, or of its insertion point. It starts at the best
// end, where most changes happen.
func (l *ladder) search(key int64) int {
	low, high := 0, len(l.levels)
	for low < high {
		middle := int(uint(low+high) >> 1)
		if l.levels[middle].key < key {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

// add puts an order behind all others of its price.
func (l *ladder) add(o *order, price exchange.Price) {
	key := l.sign * int64(price)
	o.ladder, o.key = l, key
	at := l.search(key)
	if at == len(l.levels) || l.levels[at].key != key {
		l.levels = append(l.levels, level{})
		copy(l.levels[at+1:], l.levels[at:])
		l.levels[at] = level{key, o, o}
		return
	}
	tail := l.levels[at].tail
	o.previous, tail.next = tail, o
	l.levels[at].tail = o
}

// remove removes an order.
func (l *ladder) remove(o *order) {
	at := l.search(o.key)
	if o.previous != nil {
		o.previous.next = o.next
	} else {
		l.levels[at].head = o.next
	}
	if o.next != nil {
		o.next.previous = o.previous
	} else {
		l.levels[at].tail = o.previous
	}
	o.previous, o.next, o.ladder = nil, nil, nil
	if l.levels[at].head == nil {
		last := len(l.levels) - 1
		copy(l.levels[at:], l.levels[at+1:])
		l.levels[last] = level{}
		l.levels = l.levels[:last]
	}
}

// best returns the first order at the best price, or nil.
func (l *ladder) best() *order {
	if n := len(l.levels); n > 0 {
		return l.levels[n-1].head
	}
	return nil
}

// holds reports whether it contains an order at the price.
func (l *ladder) holds(price exchange.Price) bool {
	key := l.sign * int64(price)
	at := l.search(key)
	return at < len(l.levels) && l.levels[at].key == key
}

// price returns the best price.
func (l *ladder) price() (exchange.Price, bool) {
	if n := len(l.levels); n > 0 {
		return exchange.Price(l.sign * l.levels[n-1].key), true
	}
	return 0, false
}

// bestOfOthers returns the first order of another account: an account never trades with itself.
func (l *ladder) bestOfOthers(own *account) *order {
	for i := len(l.levels) - 1; i >= 0; i-- {
		for o := l.levels[i].head; o != nil; o = o.next {
			if o.account != own {
				return o
			}
		}
	}
	return nil
}
