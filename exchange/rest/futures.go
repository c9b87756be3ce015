package rest

import (
	"context"

	"botd/exchange"
)

// One call per operation of the futures market, each like Do but with its own answer type. Times
// are Unix milliseconds, prices and quantities are in units of their symbol (Symbols), money is
// exact USDT. Errors are those of Do. Brackets name the section of the interface that describes the
// call.

// Span narrows a list. Zero fields are not sent; the venue's defaults apply.
type Span struct {
	StartMS, EndMS int64 // inclusive
	Limit, Offset  int
}

// one sends a request and picks one field of the answer.
func one[T any](ctx context.Context, c *Client, request exchange.Request, pick func(*exchange.Answer) T) (T, error) {
	answer, err := c.Do(ctx, request)
	if err != nil {
		var none T
		return none, err
	}
	if len(answer.Unreadable) > 0 && request.Operation.Signed() { // a caller that knows no rows must not take a part for the whole
		var none T
		row := &answer.Unreadable[0]
		return none, &exchange.Malformed{Operation: request.Operation, What: row.Error(), Err: row}
	}
	return pick(&answer), nil
}

// Fields of an answer that several calls return.
func orderOf(a *exchange.Answer) exchange.Order            { return a.Order }
func ordersOf(a *exchange.Answer) []exchange.Order         { return a.Orders.Items() }
func statusOf(a *exchange.Answer) string                   { return a.Status }
func tickerOf(a *exchange.Answer) exchange.Ticker          { return a.Tickers.Items()[0] }
func depthOf(a *exchange.Answer) exchange.Depth            { return a.Depth }
func tradesOf(a *exchange.Answer) []exchange.Trade         { return a.Trades.Items() }
func tickersOf(a *exchange.Answer) []exchange.Ticker       { return a.Tickers.Items() }
func levelsOf(a *exchange.Answer) []exchange.SymbolBracket { return a.Levels.Items() }
func positionsOf(a *exchange.Answer) []exchange.Position   { return a.Positions.Items() }
func symbolsOf(a *exchange.Answer) []*exchange.Symbol      { return a.Symbols.Items() }
func candlesOf(a *exchange.Answer) *exchange.Candles       { return a.Candles }

// FuturesHealth returns the service's health [Futures public].
func (c *Client) FuturesHealth(ctx context.Context) (string, error) {
	return one(ctx, c, exchange.Request{Operation: exchange.FuturesHealth}, statusOf)
}

// FuturesPing returns the service's answer to a ping [Futures public].
func (c *Client) FuturesPing(ctx context.Context) (string, error) {
	return one(ctx, c, exchange.Request{Operation: exchange.FuturesPing}, statusOf)
}

// FuturesTime returns the server's time in milliseconds [Futures public].
func (c *Client) FuturesTime(ctx context.Context) (int64, error) {
	return one(ctx, c, exchange.Request{Operation: exchange.FuturesTime}, func(a *exchange.Answer) int64 { return a.ServerTimeMS })
}

// FuturesSymbols returns the symbol list without margin levels; Symbols holds
// both [Futures symbol].
func (c *Client) FuturesSymbols(ctx context.Context) ([]*exchange.Symbol, error) {
	return one(ctx, c, exchange.Request{Operation: exchange.FuturesSymbols}, symbolsOf)
}

// FuturesTickers returns the 24-hour statistics of every known symbol [Futures ticker].
func (c *Client) FuturesTickers(ctx context.Context) ([]exchange.Ticker, error) {
	return one(ctx, c, exchange.Request{Operation: exchange.FuturesTickers}, tickersOf)
}

// FuturesTicker returns a symbol's 24-hour statistics [Futures ticker].
func (c *Client) FuturesTicker(ctx context.Context, symbol string) (exchange.Ticker, error) {
	return one(ctx, c, exchange.Request{Operation: exchange.FuturesTicker, Symbol: symbol}, tickerOf)
}

// FuturesDepth returns the order book with limit levels a side: 100 when 0, at most 1000 [Futures
// depth].
func (c *Client) FuturesDepth(ctx context.Context, symbol string, limit int) (exchange.Depth, error) {
	return one(ctx, c, exchange.Request{Operation: exchange.FuturesDepth, Symbol: symbol, Limit: limit}, depthOf)
}

// FuturesTrades returns the last public trades: 500 when limit is 0, at most 1000
// [Futures public trade].
func (c *Client) FuturesTrades(ctx context.Context, symbol string, limit int) ([]exchange.Trade, error) {
	return one(ctx, c, exchange.Request{Operation: exchange.FuturesTrades, Symbol: symbol, Limit: limit}, tradesOf)
}

// FuturesCandles returns candles, oldest first, including the one being formed: with a start the
// first ones from there, else the newest; 500 when span.Limit is 0, at most 1500. span.Offset is
// not sent [Futures candle].
func (c *Client) FuturesCandles(ctx context.Context, symbol string, interval exchange.Interval, span Span) (*exchange.Candles, error) {
	return one(ctx, c, exchange.Request{Operation: exchange.FuturesCandles, Symbol: symbol, Interval: interval, StartMS: span.StartMS,
		EndMS: span.EndMS, Limit: span.Limit},
		candlesOf)
}

// FuturesFundingRate returns the rate of the next funding payment and its time
// [Funding rate].
func (c *Client) FuturesFundingRate(ctx context.Context, symbol string) (exchange.FundingRate, error) {
	return one(ctx, c, exchange.Request{Operation: exchange.FuturesFundingRate, Symbol: symbol},
		func(a *exchange.Answer) exchange.FundingRate { return a.Funding })
}

// FuturesMarginLevels returns the margin brackets of all symbols [Margin level bracket].
func (c *Client) FuturesMarginLevels(ctx context.Context) ([]exchange.SymbolBracket, error) {
	return one(ctx, c, exchange.Request{Operation: exchange.FuturesMarginLevels}, levelsOf)
}

// FuturesSymbolMarginLevels returns a symbol's margin brackets [Margin level bracket].
func (c *Client) FuturesSymbolMarginLevels(ctx context.Context, symbol string) ([]exchange.SymbolBracket, error) {
	return one(ctx, c, exchange.Request{Operation: exchange.FuturesSymbolMarginLevels, Symbol: symbol}, levelsOf)
}

// FuturesPlace places an order, once. The answer only acknowledges it; its outcome must be fetched.
// *exchange.Uncertain means that the order may exist, *exchange.Unavailable that it certainly does
// not [POST /fhapi/v1/order].
func (c *Client) FuturesPlace(ctx context.Context, order exchange.NewOrder) (exchange.Order, error) {
	order.Market = exchange.Futures
	return one(ctx, c, exchange.Request{Operation: exchange.FuturesPlace, Symbol: order.Symbol, Order: order}, orderOf)
}

// FuturesOrder returns an order by the exchange's id [GET /fhapi/v1/order].
func (c *Client) FuturesOrder(ctx context.Context, id int64) (exchange.Order, error) {
	return one(ctx, c, exchange.Request{Operation: exchange.FuturesOrder, OrderID: id}, orderOf)
}

// FuturesOpenOrders returns the open orders of a symbol, conditional ones included, or of all
// symbols when it is empty [POST /fhapi/v1/order/open].
func (c *Client) FuturesOpenOrders(ctx context.Context, symbol string) ([]exchange.Order, error) {
	return one(ctx, c, exchange.Request{Operation: exchange.FuturesOpenOrders, Symbol: symbol}, ordersOf)
}

// FuturesCancel requests the cancel of an order. PRE_CANCELED is not final: fills may follow. The
// request is sent once; sending it again is harmless [POST /fhapi/v1/order/cancel].
func (c *Client) FuturesCancel(ctx context.Context, id int64) (exchange.Order, error) {
	return one(ctx, c, exchange.Request{Operation: exchange.FuturesCancel, OrderID: id}, orderOf)
}

// FuturesCancelAll cancels every open order of the account, stops of all symbols included; without
// open orders the list is empty [POST /fhapi/v1/order/cancel/all].
func (c *Client) FuturesCancelAll(ctx context.Context) ([]exchange.Order, error) {
	return one(ctx, c, exchange.Request{Operation: exchange.FuturesCancelAll}, ordersOf)
}

// FuturesLeverages returns the leverage set for each symbol [GET /fhapi/v1/leverage].
func (c *Client) FuturesLeverages(ctx context.Context) ([]exchange.LeverageSetting, error) {
	return one(ctx, c, exchange.Request{Operation: exchange.FuturesLeverages},
		func(a *exchange.Answer) []exchange.LeverageSetting { return a.Leverages.Items() })
}

// FuturesSetLeverage sets a symbol's leverage, from 1 to the bracket's maximum [POST
// /fhapi/v1/leverage].
func (c *Client) FuturesSetLeverage(ctx context.Context, symbol string, leverage int) error {
	_, err := c.Do(ctx, exchange.Request{Operation: exchange.FuturesSetLeverage, Symbol: symbol, Leverage: leverage})
	return err
}

// FuturesAccount returns the margin account, in USDT [GET /fhapi/v1/margin/account].
func (c *Client) FuturesAccount(ctx context.Context) (exchange.MarginAccount, error) {
	return one(ctx, c, exchange.Request{Operation: exchange.FuturesAccount}, func(a *exchange.Answer) exchange.MarginAccount { return a.Account })
}

// FuturesOpenPositions returns the open positions, at most one per symbol
// [POST /fhapi/v1/positions/open].
func (c *Client) FuturesOpenPositions(ctx context.Context) ([]exchange.Position, error) {
	return one(ctx, c, exchange.Request{Operation: exchange.FuturesOpenPositions}, positionsOf)
}

// FuturesPositionsHistory returns closed positions, newest first: 30 when span.Limit is 0. Symbol
// and side are optional filters. The span is sent in whole seconds and widened to them [GET
// /fhapi/v1/positions/history].
func (c *Client) FuturesPositionsHistory(ctx context.Context, symbol string, side exchange.PositionSide, span Span) ([]exchange.Position, error) {
	return one(ctx, c, exchange.Request{Operation: exchange.FuturesPositionsHistory, Symbol: symbol, PositionSide: side,
		StartMS: span.StartMS, EndMS: span.EndMS, Limit: span.Limit, Offset: span.Offset}, positionsOf)
}
