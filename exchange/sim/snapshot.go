package sim

import (
	"encoding/json"
	"slices"

	"botd/exchange"
)

const snapshotSchema = 1

// snapshot is what survives a restart: accounts, orders, positions, history,
// trades, ids and the clock. Markets and candles are not in it.
type snapshot struct {
	Schema     int
	NowMS      int64
	OrderID    int64
	PositionID int64
	FillID     int64
	Sequence   int64
	Version    uint64
	Books      []bookState
	Accounts   []accountState
	Queue      []eventState

	// The last two are written by hand: see Snapshot.
	Orders []orderState `json:",omitempty"`
	Fills  []Fill       `json:",omitempty"`
}

type bookState struct {
	Market        exchange.Market
	Symbol        string
	PriceScale    int
	QuantityScale int
	Last, Mark    exchange.Price
	UpdateID      int64
	TradeID       int64
	FundingMS     int64
	Standing      []int64 // orders in ladders, in their order of time within a price
}

type accountState struct {
	Config    AccountConfig
	Money     Money
	Balances  []exchange.Balance
	Leverages []exchange.LeverageSetting
	Positions []positionState // closed ones first
	Trades    []exchange.UserTrade
}

type positionState struct {
	ID                           int64
	Symbol                       string
	Side                         exchange.PositionSide
	Status                       int
	Opened, Remaining, Exited    exchange.Quantity
	Cost, Realized, Exits, Entry exchange.Amount
	Last                         exchange.Price
	Leverage                     int
	CreatedMS, UpdatedMS         int64
}

type orderState struct {
	exchange.Order
	Account    string
	ReduceOnly bool            `json:",omitempty"`
	Visible    bool            `json:",omitempty"`
	Triggered  bool            `json:",omitempty"`
	Dead       bool            `json:",omitempty"`
	Held       exchange.Amount // only while the order is open
	Spent      exchange.Amount
}

type eventState struct {
	TimeMS   int64
	Sequence int64
	OrderID  int64
	Cancel   bool
}

// Snapshot returns everything that must survive a restart, as JSON. Finished
// orders and fills do not change any more, so each is encoded once.
func (x *Exchange) Snapshot() ([]byte, error) {
	s := snapshot{
		Schema: snapshotSchema, NowMS: x.nowMS, OrderID: x.orderID, PositionID: x.positionID, FillID: x.fillID,
		Sequence: x.queue.sequence, Version: x.version,
	}
	for _, b := range x.books {
		s.Books = append(s.Books, b.state())
	}
	for _, a := range x.accounts {
		s.Accounts = append(s.Accounts, x.accountState(a))
	}
	for _, e := range x.queue.events {
		s.Queue = append(s.Queue, eventState{e.timeMS, e.sequence, e.order.ID, e.cancel})
	}
	data, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	orders, err := x.encodeOrders()
	if err != nil {
		return nil, err
	}
	fills, err := x.encodeFills()
	if err != nil {
		return nil, err
	}
	data = appendList(data[:len(data)-1], "Orders", orders)
	return append(appendList(data, "Fills", fills), '}'), nil
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

func (x *Exchange) encodeOrders() ([][]byte, error) {
	all := make([][]byte, 0, x.orderCount)
	for _, o := range x.orders {
		if o == nil {
			continue
		}
		encoded := o.encoded
		if encoded == nil {
			var err error
			state := orderState{o.Order, o.account.config.Name, o.reduceOnly, o.visible, o.triggered, o.dead, o.held, o.spent}
			if encoded, err = json.Marshal(state); err != nil {
				return nil, err
			}
		}
		if o.Status.Final() && o.visible {
			o.encoded = encoded
		}
		all = append(all, encoded)
	}
	return all, nil
}

func (x *Exchange) encodeFills() ([][]byte, error) {
	for len(x.encodedFills) < len(x.fills) {
		x.encodedFills = append(x.encodedFills, nil)
	}
	for i := range x.fills {
		if x.encodedFills[i] != nil {
			continue
		}
		encoded, err := json.Marshal(&x.fills[i])
		if err != nil {
			return nil, err
		}
		x.encodedFills[i] = encoded
	}
	return append(slices.Clone(x.encodedFills[x.oldestFill:]), x.encodedFills[:x.oldestFill]...), nil
}

func (b *book) state() bookState {
	s := bookState{
		Market: b.symbol.Market, Symbol: b.symbol.Name, PriceScale: b.symbol.PriceScale, QuantityScale: b.symbol.QuantityScale,
		Last: b.last, Mark: b.mark, UpdateID: b.updateID, TradeID: b.tradeID, FundingMS: b.fundingMS,
	}
	for _, l := range b.ladders() {
		for i := range l.levels {
			for o := l.levels[i].head; o != nil; o = o.next {
				s.Standing = append(s.Standing, o.ID)
			}
		}
	}
	return s
}

func (b *book) ladders() []*ladder {
	return []*ladder{&b.bids, &b.asks, &b.waiting[0][falling], &b.waiting[0][rising], &b.waiting[1][falling], &b.waiting[1][rising]}
}

func (x *Exchange) accountState(a *account) accountState {
	s := accountState{Config: a.config, Money: a.money, Trades: a.trades}
	for i, asset := range x.assets {
		s.Balances = append(s.Balances, exchange.Balance{Asset: asset, Free: a.balances[i].free, Frozen: a.balances[i].frozen})
	}
	for _, b := range x.booksOf(exchange.Futures) {
		s.Leverages = append(s.Leverages, exchange.LeverageSetting{Symbol: b.symbol.Name, Leverage: a.holdings[b.index].leverage})
	}
	for _, p := range append(slices.Clone(a.history), a.positions...) {
		s.Positions = append(s.Positions, positionState{
			p.id, p.book.symbol.Name, p.side, int(p.status), p.opened, p.remaining, p.exited, p.cost, p.realized, p.exits, p.entry,
			p.last, p.leverage, p.createdMS, p.updatedMS,
		})
	}
	return s
}
