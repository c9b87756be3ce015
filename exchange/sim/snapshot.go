package sim

import (
	"encoding/json"
	"slices"

	"botd/exchange"
)

// The schemas of a snapshot. In the first one, order books list their standing orders, and events are
// separate; since the second, each order stores both.
const (
	firstSchema    = 1
	snapshotSchema = 2
)

// snapshot is the state that survives a restart: accounts, orders, positions, history, trades, ids
// and the clock. It excludes markets and candles. A partial snapshot is a change: see Changes.
type snapshot struct {
	snapshotHeader
	OrderBooks []orderBookState `json:"Books,omitempty"`
	Accounts   []accountState   `json:",omitempty"`
	Queue      []eventState     `json:",omitempty"` // of the first schema

	// The last two are encoded manually: see Snapshot.
	Orders []orderState `json:",omitempty"`
	Fills  []Fill       `json:",omitempty"`
}

type snapshotHeader struct {
	Schema     int
	NowMS      int64
	OrderID    int64
	PositionID int64
	FillID     int64
	Sequence   int64
	Stood      int64
	Version    uint64
}

type orderBookState struct {
	orderBookNumbers
	Standing []int64 `json:",omitempty"` // of the first schema: in their order of time within a price
}

// orderBookNumbers is the state of a symbol in a snapshot.
type orderBookNumbers struct {
	Market        exchange.Market
	Symbol        string
	PriceScale    int
	QuantityScale int
	Last, Mark    exchange.Price
	UpdateID      int64
	TradeID       int64
	FundingMS     int64
}

func (b *orderBookNumbers) key() exchange.SymbolKey {
	return exchange.SymbolKey{Market: b.Market, Name: b.Symbol}
}

type accountState struct {
	Name      string
	Config    *AccountConfig `json:",omitempty"` // in a change only when the account is new
	Money     Money
	Balances  []exchange.Balance         `json:",omitempty"` // those that are not zero
	Leverages []exchange.LeverageSetting `json:",omitempty"` // those that differ from the account's own
	Positions []positionState            `json:",omitempty"` // closed ones first
	Trades    []exchange.UserTrade       `json:",omitempty"`
}

type positionState struct {
	positionFacts
	Symbol string
	Status int
}

type orderState struct {
	exchange.Order
	Account    string
	ReduceOnly bool            `json:",omitempty"`
	Visible    bool            `json:",omitempty"`
	Triggered  bool            `json:",omitempty"`
	Dead       bool            `json:",omitempty"`
	Stood      int64           `json:",omitempty"` // its turn in its ladder, if it is in one
	Arrives    *eventTime      `json:",omitempty"` // at the order book
	Ends       *eventTime      `json:",omitempty"` // by a cancel
	Held       exchange.Amount // only while the order is open
	Spent      exchange.Amount
}

// eventTime is the time of an event, and its turn among the events of that time.
type eventTime struct {
	TimeMS   int64
	Sequence int64
}

type eventState struct {
	TimeMS   int64
	Sequence int64
	OrderID  int64
	Cancel   bool
}

// Snapshot returns the state that must survive a restart, as JSON. Finished orders and fills no
// longer change, so each is encoded once.
func (x *Exchange) Snapshot() ([]byte, error) {
	s := x.header()
	for _, b := range x.orderBooks {
		s.OrderBooks = append(s.OrderBooks, orderBookState{orderBookNumbers: b.numbers()})
	}
	for _, a := range x.accounts {
		s.Accounts = append(s.Accounts, x.accountState(a))
	}
	orders, err := x.orders.encode()
	if err != nil {
		return nil, err
	}
	fills, err := x.fills.encodeNewest(len(x.fills.all))
	if err != nil {
		return nil, err
	}
	return s.with(orders, fills)
}

// with returns the snapshot's JSON with orders and fills that are already encoded.
func (s *snapshot) with(orders, fills [][]byte) ([]byte, error) {
	data, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	data = appendList(data[:len(data)-1], "Orders", orders)
	return append(appendList(data, "Fills", fills), '}'), nil
}

func (x *Exchange) header() snapshot {
	return snapshot{snapshotHeader: snapshotHeader{
		Schema: snapshotSchema, NowMS: x.nowMS, OrderID: x.orders.lastID, PositionID: x.clearing.positionID, FillID: x.fills.lastID,
		Sequence: x.queue.sequence, Stood: x.lastTurn, Version: x.version,
	}}
}

func appendList(data []byte, name string, items [][]byte) []byte {
	size := len(data) + len(name) + 16
	for _, item := range items {
		size += len(item) + 1
	}
	data = append(slices.Grow(data, size-len(data)), `,"`+name+`":[`...)
	for i, item := range items {
		if i > 0 {
			data = append(data, ',')
		}
		data = append(data, item...)
	}
	return append(data, ']')
}

// encode encodes an order, only once if it is final.
func (o *order) encode() ([]byte, error) {
	if o.encoded != nil {
		return o.encoded, nil
	}
	encoded, err := json.Marshal(o.state())
	if o.Status.Final() && o.visible {
		o.encoded = encoded
	}
	return encoded, err
}

func (b *orderBook) numbers() orderBookNumbers {
	return orderBookNumbers{
		Market: b.symbol.Market, Symbol: b.symbol.Name, PriceScale: b.symbol.PriceScale, QuantityScale: b.symbol.QuantityScale,
		Last: b.last, Mark: b.mark, UpdateID: b.updateID, TradeID: b.tradeID, FundingMS: b.fundingMS,
	}
}

func (o *order) state() orderState {
	s := orderState{
		Order: o.Order, Account: o.account.config.Name, ReduceOnly: o.reduceOnly, Visible: o.visible, Triggered: o.triggered, Dead: o.dead,
		Held: o.reserved, Spent: o.spent,
	}
	if o.ladder != nil {
		s.Stood = o.turn
	}
	if at := o.arrives; at.Sequence != 0 {
		s.Arrives = &at
	}
	if at := o.ends; at.Sequence != 0 && !o.Status.Final() {
		s.Ends = &at
	}
	return s
}

func (x *Exchange) accountState(a *account) accountState {
	s := accountState{Name: a.config.Name, Config: &a.config, Money: a.money, Trades: a.trades}
	for i, asset := range x.assets {
		if a.balances[i] == (balance{}) {
			continue
		}
		s.Balances = append(s.Balances, exchange.Balance{Asset: asset, Free: a.balances[i].free, Frozen: a.balances[i].frozen})
	}
	for _, b := range x.orderBooksOf(exchange.Futures) {
		if a.holdings[b.index].leverage == a.config.Leverage {
			continue
		}
		s.Leverages = append(s.Leverages, exchange.LeverageSetting{Symbol: b.symbol.Name, Leverage: a.holdings[b.index].leverage})
	}
	for _, p := range append(slices.Clone(a.history), a.positions...) {
		s.Positions = append(s.Positions, positionState{p.positionFacts, p.orderBook.symbol.Name, int(p.status)})
	}
	return s
}
