package sim

import (
	"slices"

	"botd/exchange"
)

// orderStore holds the orders of all accounts by id. It drops the oldest finished ones when its
// limit is exceeded by a quarter.
type orderStore struct {
	most   int
	due    int      // number of stored orders at which it next drops finished ones
	all    []*order // all[0] has id first; nil where forgotten
	count  int      // number of those that are not nil
	first  int64
	lastID int64
	reuse  bool          // reuse the memory of dropped orders
	spare  spares[order] // dropped and no longer referenced
}

// reclaim stores an order for reuse, unless an event or, on spot, its account refers to it.
func (s *orderStore) reclaim(o *order) {
	if s.reuse && o.Market == exchange.Futures && o.arrives == (eventTime{}) && o.ends == (eventTime{}) && !o.tracked {
		s.spare = append(s.spare, o)
	}
}

// add stores an order, under an id above all others.
func (s *orderStore) add(o *order) {
	s.lastID = max(s.lastID, o.ID)
	if len(s.all) == 0 {
		s.first = o.ID
	}
	for s.first+int64(len(s.all)) < o.ID { // restored without the dropped ones
		s.all = append(s.all, nil)
	}
	s.all = append(s.all, o)
	s.count++
}

// byID returns any account's order, or nil.
func (s *orderStore) byID(id int64) *order {
	if at := id - s.first; at >= 0 && at < int64(len(s.all)) {
		return s.all[at]
	}
	return nil
}

// of returns an account's order on a market, or nil.
func (s *orderStore) of(a *account, market exchange.Market, id int64) *order {
	if o := s.byID(id); o != nil && o.account == a && o.Market == market {
		return o
	}
	return nil
}

// each visits the orders, oldest first.
func (s *orderStore) each(visit func(*order) bool) {
	for _, o := range s.all {
		if o != nil && !visit(o) {
			return
		}
	}
}

// forget drops the oldest finished orders when there are too many, and reports whether there were.
func (s *orderStore) forget() bool {
	room := s.most/4 + 16
	if s.count <= max(s.due, s.most+room) {
		return false
	}
	for i, old := range s.all {
		if s.count <= s.most {
			break
		}
		if old != nil && old.Status.Final() {
			s.all[i] = nil
			s.count--
			s.reclaim(old)
		}
	}
	start := 0
	for start < len(s.all) && s.all[start] == nil {
		start++
	}
	s.all = slices.Delete(s.all, 0, start)
	s.first += int64(start)
	s.due = s.count + room // if more orders are open than may be stored, the next search pays off only then
	return true
}

// encode encodes all orders for a snapshot.
func (s *orderStore) encode() ([][]byte, error) {
	all := make([][]byte, 0, s.count)
	for o := range s.each {
		encoded, err := o.encode()
		if err != nil {
			return nil, err
		}
		all = append(all, encoded)
	}
	return all, nil
}
