package rest

import (
	"context"
	"fmt"

	"botd/exchange"
)

// One call per operation of the spot market, like futures.go.

// SpotPairs returns the symbol list [Spot pair].
func (c *Client) SpotPairs(ctx context.Context) ([]*exchange.Symbol, error) {
	return one(ctx, c, exchange.Request{Operation: exchange.SpotPairs}, symbolsOf)
}

// SpotTickers returns the 24-hour statistics of every known symbol [Spot ticker].
func (c *Client) SpotTickers(ctx context.Context) ([]exchange.Ticker, error) {
	return one(ctx, c, exchange.Request{Operation: exchange.SpotTickers}, tickersOf)
}

// SpotTicker returns a symbol's 24-hour statistics [Spot ticker].
func (c *Client) SpotTicker(ctx context.Context, symbol string) (exchange.Ticker, error) {
	return one(ctx, c, exchange.Request{Operation: exchange.SpotTicker, Symbol: symbol}, tickerOf)
}

// SpotDepth returns the order book: limit is 5, 10, 20, 50, 100, or 0 for 100
// [Spot order book].
func (c *Client) SpotDepth(ctx context.Context, symbol string, limit int) (exchange.Depth, error) {
	return one(ctx, c, exchange.Request{Operation: exchange.SpotDepth, Symbol: symbol, Limit: limit}, depthOf)
}

// SpotTrades returns the last public trades: 500 when limit is 0, at most 1000
// [Spot public trade].
func (c *Client) SpotTrades(ctx context.Context, symbol string, limit int) ([]exchange.Trade, error) {
	return one(ctx, c, exchange.Request{Operation: exchange.SpotTrades, Symbol: symbol, Limit: limit}, tradesOf)
}

// SpotCandles returns candles, oldest first. Start and end are required; 100 when span.Limit is 0,
// at most 500. There are no 30m and 1w candles [Spot public].
func (c *Client) SpotCandles(ctx context.Context, symbol string, interval exchange.Interval, span Span) (*exchange.Candles, error) {
	return one(ctx, c, exchange.Request{Operation: exchange.SpotCandles, Symbol: symbol, Interval: interval,
		StartMS: span.StartMS, EndMS: span.EndMS, Limit: span.Limit, Offset: span.Offset}, candlesOf)
}

// SpotPlace places an order, once; see FuturesPlace. A MARKET order has QuoteAmount in USDT, any
// other order Quantity in the base asset [POST /hapi/v1/spot/order].
func (c *Client) SpotPlace(ctx context.Context, order exchange.NewOrder) (exchange.Order, error) {
	order.Market = exchange.Spot
	return one(ctx, c, exchange.Request{Operation: exchange.SpotPlace, Symbol: order.Symbol, Order: order}, orderOf)
}

// SpotMarketOrder is a MARKET order for either a base quantity or an amount of USDT.
type SpotMarketOrder struct {
	Symbol        string
	Side          exchange.Side
	Quantity      exchange.Quantity // base asset to buy or sell; or
	QuoteAmount   exchange.Amount   // USDT to spend or receive
	ClientOrderID string
}

// SpotMarket places a MARKET order, once. The interface takes an amount of USDT, so a base quantity
// is priced by the present book first: the filled quantity differs by as much as the price moves
// meanwhile. Where that matters, use a LIMIT order through the price, which is exact [POST
// /hapi/v1/spot/order].
func (c *Client) SpotMarket(ctx context.Context, order SpotMarketOrder) (exchange.Order, error) {
	if (order.Quantity > 0) == (order.QuoteAmount.Sign() > 0) || order.Quantity < 0 || order.QuoteAmount.Sign() < 0 {
		return exchange.Order{}, notSent(exchange.SpotPlace, "a market order needs either a quantity or an amount, above 0", nil)
	}
	amount := order.QuoteAmount
	if order.Quantity > 0 {
		depth, err := c.SpotDepth(ctx, order.Symbol, 0)
		if err != nil {
			return exchange.Order{}, notReady(exchange.SpotPlace, err)
		}
		symbol, _ := c.symbols.Symbol(exchange.SymbolKey{Market: exchange.Spot, Name: order.Symbol}) // the depth was read in its units
		levels := depth.Asks
		if order.Side == exchange.Sell {
			levels = depth.Bids
		}
		worth, whole := worthOf(symbol, levels, order.Quantity)
		if !whole {
			return exchange.Order{}, notSent(exchange.SpotPlace, fmt.Sprintf("the book holds less than %s %s", symbol.QuantityDecimal(order.Quantity),
				symbol.Base), nil)
		}
		amount = worth
	}
	return c.SpotPlace(ctx, exchange.NewOrder{Symbol: order.Symbol, Side: order.Side, Type: exchange.MarketOrder, QuoteAmount: amount,
		ClientOrderID: order.ClientOrderID})
}

// worthOf returns what a quantity costs or yields on one side of a book; whole is false when that
// side has less.
func worthOf(symbol *exchange.Symbol, levels []exchange.Level, quantity exchange.Quantity) (worth exchange.Amount, whole bool) {
	for _, level := range levels {
		part := min(quantity, level.Quantity)
		worth = worth.Add(symbol.Notional(level.Price, part))
		if quantity -= part; quantity == 0 {
			return worth, true
		}
	}
	return worth, false
}

// SpotCancel cancels an order by symbol and id. The request is sent once; sending it again is
// harmless [Spot trading].
func (c *Client) SpotCancel(ctx context.Context, symbol string, id int64) (exchange.Order, error) {
	return one(ctx, c, exchange.Request{Operation: exchange.SpotCancel, Symbol: symbol, OrderID: id}, orderOf)
}

// SpotCancelAll cancels a symbol's open orders [Spot trading].
func (c *Client) SpotCancelAll(ctx context.Context, symbol string) ([]exchange.Order, error) {
	return one(ctx, c, exchange.Request{Operation: exchange.SpotCancelAll, Symbol: symbol}, ordersOf)
}

// SpotOpenOrders returns the open orders of a symbol or, when it is empty, of all
// [Spot trading].
func (c *Client) SpotOpenOrders(ctx context.Context, symbol string) ([]exchange.Order, error) {
	return one(ctx, c, exchange.Request{Operation: exchange.SpotOpenOrders, Symbol: symbol}, ordersOf)
}

// SpotFilter narrows the order history. Zero fields are not sent.
type SpotFilter struct {
	Symbol string
	Side   exchange.Side
	Type   exchange.OrderType
}

// SpotOrderHistory returns orders, newest first: 500 when span.Limit is 0, at most
// 1000 [Spot trading].
func (c *Client) SpotOrderHistory(ctx context.Context, filter SpotFilter, span Span) ([]exchange.Order, error) {
	return one(ctx, c, exchange.Request{Operation: exchange.SpotOrderHistory, Symbol: filter.Symbol, Side: filter.Side, Type: filter.Type,
		StartMS: span.StartMS, EndMS: span.EndMS, Limit: span.Limit, Offset: span.Offset}, ordersOf)
}

// SpotUserTrades returns the account's fills, optionally of one symbol and of one order: 500 when
// span.Limit is 0, at most 1000. The span's times are not sent [Spot user trade].
func (c *Client) SpotUserTrades(ctx context.Context, symbol string, orderID int64, span Span) ([]exchange.UserTrade, error) {
	return one(ctx, c, exchange.Request{Operation: exchange.SpotUserTrades, Symbol: symbol, OrderID: orderID, Limit: span.Limit, Offset: span.Offset},
		func(a *exchange.Answer) []exchange.UserTrade { return a.Fills.Items() })
}

// SpotWallet returns the balance of each asset, free and frozen [Spot wallet entry].
func (c *Client) SpotWallet(ctx context.Context) ([]exchange.Balance, error) {
	return one(ctx, c, exchange.Request{Operation: exchange.SpotWallet}, func(a *exchange.Answer) []exchange.Balance { return a.Balances.Items() })
}
