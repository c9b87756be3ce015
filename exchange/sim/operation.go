package sim

import "botd/exchange"

// Do answers one operation at the clock's time. Public operations need no account. An error is
// always an *exchange.Refusal, in which case nothing was done.
func (x *Exchange) Do(name string, request *exchange.Request) (exchange.Answer, error) {
	c := call{exchange: x, request: request, answer: exchange.Answer{Operation: request.Operation}}
	if refusal := c.do(name); refusal != nil {
		return exchange.Answer{Operation: request.Operation}, refusal
	}
	return c.answer, nil
}

// Place places an order like Do, and returns only its id: a backtest needs no Answer for each order.
func (x *Exchange) Place(name string, request *exchange.Request) (orderID int64, err error) {
	c := call{exchange: x, request: request, unread: true}
	if refusal := c.do(name); refusal != nil {
		return 0, refusal
	}
	return x.orders.lastID, nil
}

// call is one operation being answered.
type call struct {
	exchange *Exchange
	account  *account // nil for a public operation
	request  *exchange.Request
	answer   exchange.Answer // a value, to avoid an allocation per operation
	unread   bool            // nobody reads the answer
}

// do performs the operation of an account by name.
func (c *call) do(name string) (refusal *exchange.Refusal) {
	x, op := c.exchange, c.request.Operation
	if op == 0 || op > exchange.SpotWallet {
		return refuse(op, CodeParameter, "unknown operation %d", op)
	}
	if !op.Signed() {
		return c.public()
	}
	switch c.account = x.named(name); {
	case c.account == nil:
		return refuse(op, exchange.CodeUnknownKey, "unknown key %q", name)
	case op.Changes() && c.account.config.ReadOnly:
		return refuse(op, exchange.CodeNotPermitted, "key %q is read-only", name)
	case op.Changes():
		refusal = c.change()
		x.clearing.settleAccounts()
		return refusal
	}
	return c.read()
}

// change performs the seven operations that change state.
func (c *call) change() *exchange.Refusal {
	switch c.request.Operation {
	case exchange.FuturesPlace:
		return c.placeFutures()
	case exchange.SpotPlace:
		return c.placeSpot()
	case exchange.FuturesCancel:
		return c.cancelFutures()
	case exchange.FuturesCancelAll:
		return c.cancelAllFutures()
	case exchange.SpotCancel:
		return c.cancelSpot()
	case exchange.SpotCancelAll:
		return c.cancelAllSpot()
	}
	return c.setLeverage()
}

// symbol returns the order book of a request's symbol.
func (c *call) symbol(name string) (*orderBook, *exchange.Refusal) {
	market := c.request.Operation.Market()
	if b := c.exchange.find(exchange.SymbolKey{Market: market, Name: name}); b != nil {
		return b, nil
	}
	code := exchange.CodeFuturesInvalidSymbol
	if market == exchange.Spot {
		code = exchange.CodeSpotInvalidSymbol
	}
	return nil, refuse(c.request.Operation, code, "symbol %q is invalid", name)
}

// optionalSymbol refuses an unknown symbol. A request without a symbol covers all of them.
func (c *call) optionalSymbol() *exchange.Refusal {
	if c.request.Symbol == "" {
		return nil
	}
	_, refusal := c.symbol(c.request.Symbol)
	return refusal
}

// limit returns a request's limit: the default when it has none, at most the maximum.
func limit(request *exchange.Request, standard, maximum int) (int, *exchange.Refusal) {
	switch {
	case request.Limit < 0:
		return 0, refuse(request.Operation, CodeParameter, "limit %d is below 1", request.Limit)
	case request.Offset < 0:
		return 0, refuse(request.Operation, CodeParameter, "offset %d is below 0", request.Offset)
	case request.Limit == 0:
		return standard, nil
	}
	return min(request.Limit, maximum), nil
}
