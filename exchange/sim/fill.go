package sim

import "botd/exchange"

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

// record numbers and stores a fill.
func (x *Exchange) record(fill Fill) Fill {
	x.fillID++
	fill.ID, fill.TimeMS = x.fillID, x.nowMS
	if len(x.fills) < x.config.MaxHistory {
		x.fills = append(x.fills, fill)
		return fill
	}
	x.fills[x.oldestFill] = fill
	if x.oldestFill < len(x.encodedFills) {
		x.encodedFills[x.oldestFill] = nil
	}
	x.oldestFill = (x.oldestFill + 1) % len(x.fills)
	return fill
}

// recordSpot adds a fill to the account's own trades.
func (x *Exchange) recordSpot(o *order, fill Fill) {
	a := o.account
	a.trades = append(a.trades, exchange.UserTrade{
		ID: fill.ID, Symbol: fill.Symbol, OrderID: fill.OrderID, Price: fill.Price, Quantity: fill.Quantity,
		Fee: fill.Fee, FeeAsset: fill.FeeAsset, Maker: fill.Maker, TimeMS: fill.TimeMS,
	})
	if extra := len(a.trades) - x.config.MaxHistory; extra > x.config.MaxHistory/4 {
		a.trades = append(a.trades[:0:0], a.trades[extra:]...)
	}
}

// Fills returns all stored fills, oldest first: those of every account since the start or since
// TakeFills.
func (x *Exchange) Fills() []Fill { return x.appendFills(nil) }

// TakeFills appends the fills to the buffer and removes them.
func (x *Exchange) TakeFills(buffer []Fill) []Fill {
	buffer = x.appendFills(buffer)
	x.fills, x.oldestFill, x.encodedFills = x.fills[:0], 0, nil
	return buffer
}

func (x *Exchange) appendFills(buffer []Fill) []Fill {
	buffer = append(buffer, x.fills[x.oldestFill:]...)
	return append(buffer, x.fills[:x.oldestFill]...)
}

// maxTrades is how many public trades of a symbol are stored: as many as a request can ask for.
const maxTrades = 1000

// publish makes a fill a public trade. Fills count in trades and volume but move neither the price
// nor the quotes (decisions.md, still).
func (b *book) publish(price exchange.Price, quantity exchange.Quantity, buyerIsMaker bool) {
	b.publishAt(b.exchange.nowMS, price, quantity, buyerIsMaker)
}

func (b *book) publishAt(timeMS int64, price exchange.Price, quantity exchange.Quantity, buyerIsMaker bool) {
	b.tradeID++
	if len(b.trades) == 2*maxTrades {
		b.trades = b.trades[:copy(b.trades, b.trades[maxTrades:])]
	}
	b.trades = append(b.trades, exchange.Trade{
		ID: b.tradeID, Price: price, Quantity: quantity, QuoteAmount: b.symbol.Notional(price, quantity),
		TimeMS: timeMS, BuyerIsMaker: buyerIsMaker,
	})
	base := b.symbol.QuantityFloat(quantity)
	b.candles.trade(timeMS, b.last, base, base*b.symbol.PriceFloat(price), !buyerIsMaker)
	b.candles.reach(price)
	if b.tape != nil {
		b.tape.reach(timeMS, price)
	}
	b.updateID++
}
