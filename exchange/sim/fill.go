package sim

import (
	"encoding/json"

	"botd/exchange"
)

// Fill is one executed quantity of one account.
type Fill struct {
	ID       int64
	Account  string
	Market   exchange.Market
	Symbol   string
	OrderID  int64 // 0 for a liquidation
	Side     exchange.Side
	Price    exchange.Price
	Quantity exchange.Quantity
	Fee      exchange.Amount
	FeeAsset string
	Maker    bool
	TimeMS   int64
	Slipped  exchange.Amount // cost of slippage over the quantity
}

// fillLog holds the newest fills of all accounts, each encoded for snapshots once.
type fillLog struct {
	most    int    // capacity
	all     []Fill // a ring once it holds that many
	oldest  int
	encoded [][]byte
	lastID  int64
}

// record numbers and stores a fill.
func (l *fillLog) record(fill *Fill) {
	l.lastID++
	fill.ID = l.lastID
	if len(l.all) < l.most {
		l.all = append(l.all, *fill)
		return
	}
	l.all[l.oldest] = *fill
	if l.oldest < len(l.encoded) {
		l.encoded[l.oldest] = nil
	}
	l.oldest = (l.oldest + 1) % len(l.all)
}

// appendTo appends all fills to the buffer, oldest first.
func (l *fillLog) appendTo(buffer []Fill) []Fill {
	buffer = append(buffer, l.all[l.oldest:]...)
	return append(buffer, l.all[:l.oldest]...)
}

func (l *fillLog) clear() { l.all, l.oldest, l.encoded = l.all[:0], 0, nil }

// encodeNewest encodes the newest fills, oldest first.
func (l *fillLog) encodeNewest(count int) ([][]byte, error) {
	for len(l.encoded) < len(l.all) {
		l.encoded = append(l.encoded, nil)
	}
	newest := make([][]byte, 0, count)
	for i := count; i > 0; i-- {
		at := (l.oldest - i + len(l.all)) % len(l.all)
		if l.encoded[at] == nil {
			var err error
			if l.encoded[at], err = json.Marshal(&l.all[at]); err != nil {
				return nil, err
			}
		}
		newest = append(newest, l.encoded[at])
	}
	return newest, nil
}

// countAfter returns the number of fills with ids above one.
func (l *fillLog) countAfter(id int64) int {
	count := 0
	for count < len(l.all) && l.all[(l.oldest-count-1+len(l.all))%len(l.all)].ID > id {
		count++
	}
	return count
}

// recordSpot adds a fill to the account's own trades.
func (c *clearing) recordSpot(o *order, fill *Fill) {
	a := o.account
	a.trades = append(a.trades, exchange.UserTrade{
		ID: fill.ID, Symbol: fill.Symbol, OrderID: fill.OrderID, Price: fill.Price, Quantity: fill.Quantity,
		Fee: fill.Fee, FeeAsset: fill.FeeAsset, Maker: fill.Maker, TimeMS: fill.TimeMS,
	})
	if extra := len(a.trades) - c.exchange.config.MaxHistory; extra > c.exchange.config.MaxHistory/4 {
		a.trades = append(a.trades[:0:0], a.trades[extra:]...)
	}
}

// Fills returns all stored fills of every account, oldest first, since the start or since
// TakeFills.
func (x *Exchange) Fills() []Fill { return x.fills.appendTo(nil) }

// TakeFills appends the fills to the buffer and removes them.
func (x *Exchange) TakeFills(buffer []Fill) []Fill {
	if len(x.fills.all) == 0 {
		return buffer
	}
	buffer = x.fills.appendTo(buffer)
	x.fills.clear()
	return buffer
}

// maxTrades is the number of stored public trades per symbol: the most that a request can return.
const maxTrades = 1000

// publish makes a fill a public trade. Fills count in trades and volume but move neither the price
// nor the quotes (docs/exchange.md, the order book).
func (b *orderBook) publish(price exchange.Price, quantity exchange.Quantity, buyerIsMaker bool) {
	b.publishAt(b.exchange.nowMS, price, quantity, buyerIsMaker)
}

func (b *orderBook) publishAt(timeMS int64, price exchange.Price, quantity exchange.Quantity, buyerIsMaker bool) {
	b.tradeID++
	if len(b.trades) == 2*maxTrades {
		b.trades = b.trades[:copy(b.trades, b.trades[maxTrades:])]
	}
	trade := exchange.Trade{
		ID: b.tradeID, Price: price, Quantity: quantity, QuoteAmount: b.symbol.Notional(price, quantity),
		TimeMS: timeMS, BuyerIsMaker: buyerIsMaker,
	}
	b.trades = append(b.trades, trade)
	base := b.symbol.QuantityFloat(quantity)
	b.candles.trade(timeMS, b.last, base, float64(base*b.symbol.PriceFloat(price)), !buyerIsMaker)
	b.candles.reach(price)
	if b.tape != nil {
		b.tape.reach(b, &trade)
	}
	b.updateID++
}
