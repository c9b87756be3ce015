package sim

import "botd/exchange"

// Do answers one operation at the clock's time. Public operations need no account. An error is
// always a *exchange.Refusal, and then nothing was done.
func (x *Exchange) Do(name string, request *exchange.Request) (exchange.Answer, error) {
	op := request.Operation
	answer := exchange.Answer{Operation: op}
	if op == 0 || op > exchange.SpotWallet {
		return answer, refuse(op, CodeParameter, "unknown operation %d", op)
	}
	var refusal *exchange.Refusal
	if !op.Signed() {
		refusal = x.public(request, &answer)
	} else if a := x.named(name); a == nil {
		refusal = refuse(op, exchange.CodeUnknownKey, "unknown key %q", name)
	} else if op.Changes() && a.config.ReadOnly {
		refusal = refuse(op, exchange.CodeNotPermitted, "key %q may read only", name)
	} else if op.Changes() {
		refusal = x.change(a, request, &answer)
		x.settleAccounts()
	} else {
		refusal = x.read(a, request, &answer)
	}
	if refusal != nil {
		return exchange.Answer{Operation: op}, refusal
	}
	return answer, nil
}

// change performs the seven operations that change something.
func (x *Exchange) change(a *account, request *exchange.Request, answer *exchange.Answer) *exchange.Refusal {
	switch request.Operation {
	case exchange.FuturesPlace:
		return x.placeFutures(a, request, answer)
	case exchange.SpotPlace:
		return x.placeSpot(a, request, answer)
	case exchange.FuturesCancel:
		return x.cancelFutures(a, request, answer)
	case exchange.FuturesCancelAll:
		return x.cancelAllFutures(a, answer)
	case exchange.SpotCancel:
		return x.cancelSpot(a, request, answer)
	case exchange.SpotCancelAll:
		return x.cancelAllSpot(a, request, answer)
	}
	return x.setLeverage(a, request, answer)
}

// symbol returns the book of a request's symbol.
func (x *Exchange) symbol(request *exchange.Request, name string) (*book, *exchange.Refusal) {
	market := request.Operation.Market()
	if b := x.find(exchange.SymbolKey{Market: market, Name: name}); b != nil {
		return b, nil
	}
	code := exchange.CodeFuturesInvalidSymbol
	if market == exchange.Spot {
		code = exchange.CodeSpotInvalidSymbol
	}
	return nil, refuse(request.Operation, code, "symbol %q is invalid", name)
}

// optionalSymbol refuses an unknown symbol; without a symbol a request is about all of them.
func (x *Exchange) optionalSymbol(request *exchange.Request) *exchange.Refusal {
	if request.Symbol == "" {
		return nil
	}
	_, refusal := x.symbol(request, request.Symbol)
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
