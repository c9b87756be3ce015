package sim

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"botd/exchange"
)

// Restore returns the exchange of a snapshot, with still markets. Accounts come from the snapshot;
// call AddAccount for new ones, then SetMarket and SetFunding. Every symbol with open orders or
// positions must have the same configuration as before. A symbol without open orders or positions that is missing or has
// other scales starts over and loses its finished orders.
func Restore(config Config, data []byte) (*Exchange, error) {
	s, err := readSnapshot(data)
	if err != nil {
		return nil, err
	}
	config.StartMS = s.NowMS
	x, err := New(config)
	if err != nil {
		return nil, err
	}
	removed, err := x.changed(s)
	if err != nil {
		return nil, err
	}
	s.forget(removed)
	x.orders.lastID, x.clearing.positionID, x.fills.lastID, x.version, x.lastTurn = s.OrderID, s.PositionID, s.FillID, s.Version, s.Stood
	x.fills.all = s.Fills[max(0, len(s.Fills)-x.config.MaxHistory):]
	for _, state := range s.OrderBooks {
		x.restoreOrderBook(&state)
	}
	for i := range s.Accounts {
		if err := x.restoreAccount(&s.Accounts[i]); err != nil {
			return nil, err
		}
	}
	if err := x.restoreOrders(s); err != nil {
		return nil, err
	}
	for _, e := range s.Queue {
		o := x.orders.byID(e.OrderID)
		if o == nil {
			return nil, fmt.Errorf("snapshot: event of unknown order %d", e.OrderID)
		}
		x.queue.events = append(x.queue.events, event{e.TimeMS, e.Sequence, o, e.Cancel})
		o.expect(eventTime{e.TimeMS, e.Sequence}, e.Cancel)
	}
	x.queue.restore(s.Sequence)
	for _, b := range x.orderBooks {
		slices.SortFunc(b.positions, func(p, q *position) int { return int(p.ID - q.ID) })
		b.notePositions()
	}
	return x, nil
}

// readSnapshot reads a snapshot of either schema, or a change.
func readSnapshot(data []byte) (*snapshot, error) {
	s := &snapshot{}
	if err := json.Unmarshal(data, s); err != nil {
		return nil, fmt.Errorf("read snapshot: %w", err)
	}
	if s.Schema != firstSchema && s.Schema != snapshotSchema {
		return nil, fmt.Errorf("snapshot has schema %d, this version reads %d and %d", s.Schema, firstSchema, snapshotSchema)
	}
	for i := range s.Accounts {
		if a := &s.Accounts[i]; a.Name == "" && a.Config != nil {
			a.Name = a.Config.Name // as the first schema has it
		}
	}
	return s, nil
}

// restore rebuilds the heap from events in any order: a sorted list is a heap.
func (q *queue) restore(sequence int64) {
	q.sequence, q.dueMS = sequence, never
	slices.SortFunc(q.events, func(e, f event) int {
		if e.before(&f) {
			return -1
		}
		return 1
	})
	if len(q.events) > 0 {
		q.dueMS = q.events[0].timeMS
	}
}

// changed returns the snapshot's symbols whose configuration differs. It returns an error if one of
// them has open orders or positions.
func (x *Exchange) changed(s *snapshot) (map[exchange.SymbolKey]bool, error) {
	why := map[exchange.SymbolKey]error{}
	for _, state := range s.OrderBooks {
		key := state.key()
		b := x.byKey[key]
		switch {
		case b == nil:
			why[key] = fmt.Errorf("snapshot: symbol %s is not configured", key)
		case b.symbol.PriceScale != state.PriceScale || b.symbol.QuantityScale != state.QuantityScale:
			why[key] = fmt.Errorf("snapshot: symbol %s has scales %d and %d, configured are %d and %d",
				key, state.PriceScale, state.QuantityScale, b.symbol.PriceScale, b.symbol.QuantityScale)
		}
	}
	for i := range s.Orders {
		if o := &s.Orders[i]; !o.Status.Final() && why[o.Key()] != nil {
			return nil, fmt.Errorf("%w, and order %d is open on it", why[o.Key()], o.ID)
		}
	}
	for i := range s.Accounts {
		for _, p := range s.Accounts[i].Positions {
			key := exchange.SymbolKey{Market: exchange.Futures, Name: p.Symbol}
			if exchange.PositionStatus(p.Status) == exchange.PositionOpen && why[key] != nil {
				return nil, fmt.Errorf("%w, and position %d is open on it", why[key], p.ID)
			}
		}
	}
	unknown := make(map[exchange.SymbolKey]bool, len(why))
	for key := range why {
		unknown[key] = true
	}
	return unknown, nil
}

// forget drops all state of unknown symbols. Fills have amounts in a symbol's units, so they are
// dropped too.
func (s *snapshot) forget(unknown map[exchange.SymbolKey]bool) {
	if len(unknown) == 0 {
		return
	}
	dropped := map[int64]bool{}
	for i := range s.Orders {
		dropped[s.Orders[i].ID] = unknown[s.Orders[i].Key()]
	}
	s.Queue = slices.DeleteFunc(s.Queue, func(e eventState) bool { return dropped[e.OrderID] })
	s.OrderBooks = slices.DeleteFunc(s.OrderBooks, func(b orderBookState) bool { return unknown[b.key()] })
	s.Orders = slices.DeleteFunc(s.Orders, func(o orderState) bool { return unknown[o.Key()] })
	s.Fills = slices.DeleteFunc(s.Fills, func(f Fill) bool { return unknown[exchange.SymbolKey{Market: f.Market, Name: f.Symbol}] })
	for i := range s.Accounts {
		a := &s.Accounts[i]
		a.Positions = slices.DeleteFunc(a.Positions, func(p positionState) bool {
			return unknown[exchange.SymbolKey{Market: exchange.Futures, Name: p.Symbol}]
		})
		a.Trades = slices.DeleteFunc(a.Trades, func(t exchange.UserTrade) bool {
			return unknown[exchange.SymbolKey{Market: exchange.Spot, Name: t.Symbol}]
		})
	}
}

func (x *Exchange) restoreOrderBook(state *orderBookState) {
	b := x.byKey[state.key()]
	b.last, b.mark, b.updateID, b.tradeID, b.fundingMS = state.Last, state.Mark, state.UpdateID, state.TradeID, state.FundingMS
	b.restored, b.stale, b.candles, x.dueKnown = true, true, builder{}, false
	b.candles.tick(x.nowMS, b.last)
}

func (x *Exchange) restoreAccount(state *accountState) error {
	if state.Config == nil {
		return fmt.Errorf("snapshot: account %q has no settings", state.Name)
	}
	if x.byName[state.Name] != nil {
		return fmt.Errorf("snapshot: account %q appears twice", state.Name)
	}
	a := x.join(*state.Config)
	a.money, a.trades = state.Money, state.Trades
	clear(a.balances)
	for _, each := range state.Balances {
		x.addAsset(each.Asset)
		a.balances[x.asset(each.Asset)] = balance{each.Free, each.Frozen}
	}
	for _, each := range state.Leverages {
		if b := x.byKey[exchange.SymbolKey{Market: exchange.Futures, Name: each.Symbol}]; b != nil && each.Leverage > 0 {
			a.holdings[b.index].leverage = each.Leverage
		}
	}
	for _, each := range state.Positions {
		b := x.byKey[exchange.SymbolKey{Market: exchange.Futures, Name: each.Symbol}]
		if b == nil {
			return fmt.Errorf("snapshot: position %d on unknown symbol %s", each.ID, each.Symbol)
		}
		p := &position{positionFacts: each.positionFacts, account: a, orderBook: b, status: exchange.PositionStatus(each.Status)}
		if p.status != exchange.PositionOpen {
			a.history = append(a.history, p)
			a.closed++
			continue
		}
		p.margin = p.Cost.Div(int64(a.holdings[b.index].leverage))
		a.positionMargin = a.positionMargin.Add(p.margin)
		a.holdings[b.index].position = p
		a.positions = append(a.positions, p)
		b.positions = append(b.positions, p)
	}
	return nil
}

func (x *Exchange) restoreOrders(s *snapshot) error {
	for i := range s.Orders {
		state := &s.Orders[i]
		a, b := x.byName[state.Account], x.byKey[state.Key()]
		if a == nil || b == nil {
			return fmt.Errorf("snapshot: order %d of account %q on %s has no account or symbol", state.ID, state.Account, state.Key())
		}
		o := &order{
			Order: state.Order, account: a, orderBook: b, reduceOnly: state.ReduceOnly, visible: state.Visible,
			triggered: state.Triggered, dead: state.Dead, reserved: state.Held, spent: state.Spent, turn: state.Stood,
		}
		x.orders.add(o)
		o.restore()
		if at := state.Arrives; at != nil {
			x.restoreEvent(*at, o, false)
		}
		if at := state.Ends; at != nil {
			x.restoreEvent(*at, o, true)
		}
	}
	if err := x.restoreStanding(s); err != nil {
		return err
	}
	x.forgetOrders()
	return nil
}

func (x *Exchange) restoreEvent(at eventTime, o *order, cancel bool) {
	x.queue.events = append(x.queue.events, event{at.TimeMS, at.Sequence, o, cancel})
	o.expect(at, cancel)
}

// restoreStanding returns orders to their ladders, in order of time.
func (x *Exchange) restoreStanding(s *snapshot) error {
	var standing []*order
	for o := range x.orders.each {
		if o.turn != 0 {
			standing = append(standing, o)
		}
	}
	slices.SortFunc(standing, func(a, b *order) int { return cmp.Compare(a.turn, b.turn) })
	for _, o := range standing {
		if err := o.orderBook.stand(o); err != nil {
			return err
		}
	}
	for _, state := range s.OrderBooks {
		b := x.byKey[state.key()]
		for _, id := range state.Standing {
			o := x.orders.byID(id)
			if o == nil || o.orderBook != b {
				return fmt.Errorf("snapshot: order %d is in the book of %s but belongs to another symbol", id, b.symbol.Key())
			}
			if err := b.stand(o); err != nil {
				return err
			}
		}
		b.updateID = state.UpdateID
	}
	return nil
}

// stand returns a restored order to its ladder.
func (b *orderBook) stand(o *order) error {
	switch {
	case o.Status.Final():
		return fmt.Errorf("snapshot: order %d is in the book of %s but is finished", o.ID, b.symbol.Key())
	case o.Type.Conditional() && !o.triggered:
		b.wait(o)
	default:
		b.rest(o)
	}
	return nil
}

// restore returns a restored order to its account.
func (o *order) restore() {
	if o.Market == exchange.Spot {
		o.account.spotOrders = append(o.account.spotOrders, o)
	}
	if o.Status.Final() {
		return
	}
	o.account.open(o.Market).add(o)
	if o.Market == exchange.Futures {
		o.account.orderMargin = o.account.orderMargin.Add(o.reserved)
		if o.reduceOnly {
			o.account.holdings[o.orderBook.index].reducing += o.Quantity - o.Filled
		}
	}
}
