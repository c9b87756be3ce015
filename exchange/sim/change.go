package sim

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"botd/exchange"
)

// tracker collects the changes since the last call of Changes, so that a log of changes grows with
// activity, not with the stored state.
type tracker struct {
	on       bool
	orders   []*order
	accounts []*account
	fillID   int64 // the last fill that Changes returned
}

// Track starts collecting changes. A Snapshot taken now and the changes after it make up the whole
// state: see Merge.
func (x *Exchange) Track() {
	x.tracker.on = true
	x.tracked()
}

// tracked clears the collected changes after they were returned.
func (x *Exchange) tracked() {
	t := &x.tracker
	for _, o := range t.orders {
		o.tracked = false
	}
	for _, a := range x.accounts {
		a.tracked, a.written.closed, a.written.known = false, a.closed, true
	}
	for _, b := range x.orderBooks {
		b.written = b.numbers()
	}
	t.orders, t.accounts, t.fillID = t.orders[:0], t.accounts[:0], x.fills.lastID
}

// noteOrder records that an order changed.
func (x *Exchange) noteOrder(o *order) {
	if x.tracker.on && !o.tracked {
		o.tracked = true
		x.tracker.orders = append(x.tracker.orders, o)
	}
}

// noteAccount records that an account's money, positions or settings changed.
func (x *Exchange) noteAccount(a *account) {
	if x.tracker.on && !a.tracked {
		a.tracked = true
		x.tracker.accounts = append(x.tracker.accounts, a)
	}
}

// Changes returns the changes since the last call, or since Track, as JSON for Merge.
func (x *Exchange) Changes() ([]byte, error) {
	if !x.tracker.on {
		return nil, fmt.Errorf("changes of an exchange that does not track them")
	}
	s := x.header()
	for _, b := range x.orderBooks {
		if numbers := b.numbers(); numbers != b.written {
			s.OrderBooks = append(s.OrderBooks, orderBookState{orderBookNumbers: numbers})
		}
	}
	for _, a := range x.tracker.accounts {
		state := x.accountState(a)
		if a.written.known {
			state.Config = nil
		}
		state.Positions = slices.Delete(state.Positions, 0, len(a.history)-min(len(a.history), a.closed-a.written.closed))
		at := len(a.trades)
		for at > 0 && a.trades[at-1].ID > x.tracker.fillID {
			at--
		}
		state.Trades = a.trades[at:]
		s.Accounts = append(s.Accounts, state)
	}
	orders := make([][]byte, 0, len(x.tracker.orders))
	for _, o := range x.tracker.orders {
		encoded, err := o.encode()
		if err != nil {
			return nil, err
		}
		orders = append(orders, encoded)
	}
	fills, err := x.fills.encodeNewest(x.fills.countAfter(x.tracker.fillID))
	if err != nil {
		return nil, err
	}
	x.tracked()
	return s.with(orders, fills)
}

// Merge applies the changes that followed a snapshot and returns the new snapshot.
func Merge(data []byte, changes [][]byte) ([]byte, error) {
	if len(changes) == 0 {
		return data, nil
	}
	s, err := readSnapshot(data)
	if err != nil {
		return nil, err
	}
	m := merger{snapshot: s, orders: map[int64]int{}, accounts: map[string]*accountState{}, orderBooks: map[exchange.SymbolKey]int{}}
	for i := range s.Orders {
		m.orders[s.Orders[i].ID] = i
	}
	for i := range s.OrderBooks {
		m.orderBooks[s.OrderBooks[i].key()] = i
	}
	for i := range s.Accounts {
		m.accounts[s.Accounts[i].Name] = &s.Accounts[i]
		m.names = append(m.names, s.Accounts[i].Name)
	}
	for i, each := range changes {
		change, err := readSnapshot(each)
		if err != nil {
			return nil, fmt.Errorf("change %d: %w", i+1, err)
		}
		if err := m.merge(change); err != nil {
			return nil, fmt.Errorf("change %d: %w", i+1, err)
		}
	}
	return json.Marshal(m.whole())
}

// merger is a snapshot being merged.
type merger struct {
	*snapshot
	orders     map[int64]int
	orderBooks map[exchange.SymbolKey]int
	accounts   map[string]*accountState
	names      []string // in their order
}

func (m *merger) merge(change *snapshot) error {
	m.snapshotHeader = change.snapshotHeader
	for _, b := range change.OrderBooks {
		if at, known := m.orderBooks[b.key()]; known {
			m.OrderBooks[at].orderBookNumbers = b.orderBookNumbers
			continue
		}
		m.orderBooks[b.key()] = len(m.OrderBooks)
		m.OrderBooks = append(m.OrderBooks, b)
	}
	for i := range change.Accounts {
		if err := m.account(&change.Accounts[i]); err != nil {
			return err
		}
	}
	for i := range change.Orders {
		o := change.Orders[i]
		at, known := m.orders[o.ID]
		if known {
			m.Orders[at] = o
			continue
		}
		m.orders[o.ID] = len(m.Orders)
		m.Orders = append(m.Orders, o)
	}
	m.Fills = append(m.Fills, change.Fills...)
	return nil
}

// account updates an account: closed positions and trades are appended, everything else is
// replaced.
func (m *merger) account(change *accountState) error {
	known := m.accounts[change.Name]
	if known == nil {
		if change.Config == nil {
			return fmt.Errorf("account %q was never opened", change.Name)
		}
		m.accounts[change.Name] = change
		m.names = append(m.names, change.Name)
		return nil
	}
	closed := slices.DeleteFunc(known.Positions, func(p positionState) bool { return p.Status == int(exchange.PositionOpen) })
	change.Positions = append(closed, change.Positions...)
	change.Trades = append(known.Trades, change.Trades...)
	if change.Config == nil {
		change.Config = known.Config
	}
	*known = *change
	return nil
}

// whole returns the merged snapshot in order.
func (m *merger) whole() *snapshot {
	accounts := make([]accountState, 0, len(m.names))
	for _, name := range m.names {
		accounts = append(accounts, *m.accounts[name])
	}
	m.Accounts = accounts
	slices.SortFunc(m.Orders, func(a, b orderState) int { return cmp.Compare(a.ID, b.ID) })
	return m.snapshot
}
