package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"botd/exchange"
)

// HTTPResponse is an answer as it was received.
type HTTPResponse struct {
	Status     int
	RetryAfter string // the header
	Body       []byte
}

// DecodeAnswer reads the answer to a request of any operation, tolerantly. Its errors are those of
// package exchange:
//
//   - *exchange.Refusal: 400, 401, 403, 404 or 405 with a readable venue error
//   - *exchange.Uncertain: any other failure of a placement, including an answer that cannot be
//     parsed or that is about another order (exactly-once.md, cases 1 to 4)
//   - *exchange.Unavailable: any other status of any other call
//   - *exchange.Malformed: a success that cannot be understood; it is never an empty answer
//
// A row of one of the account's lists that cannot be parsed goes into the answer's Unreadable; the
// other rows are still read.
func DecodeAnswer(request *exchange.Request, response HTTPResponse, symbols Symbols) (exchange.Answer, error) {
	return (*Profile)(nil).DecodeAnswer(request, response, symbols)
}

// DecodeAnswer reads the answer to a request in this venue's format.
func (p *Profile) DecodeAnswer(request *exchange.Request, response HTTPResponse, symbols Symbols) (exchange.Answer, error) {
	if response.Status < 200 || response.Status > 299 {
		return exchange.Answer{}, errorOf(request.Operation, response)
	}
	d := answerDecoder{profile: p, request: request, body: WithoutMark(response.Body), symbols: symbols}
	d.answer.Operation = request.Operation
	err := d.decode()
	if err == nil {
		return d.answer, nil
	}
	malformed := &exchange.Malformed{Operation: request.Operation, What: err.Error(), Err: err}
	if request.Operation.Places() {
		return exchange.Answer{}, &exchange.Uncertain{Reason: reasonMalformed, Err: malformed}
	}
	return exchange.Answer{}, malformed
}

type answerDecoder struct {
	profile *Profile
	request *exchange.Request
	body    []byte
	symbols Symbols
	answer  exchange.Answer
}

// decode reads the parts that do not depend on a symbol's scales.
func (d *answerDecoder) decode() (err error) {
	switch d.request.Operation {
	case exchange.FuturesHealth, exchange.FuturesPing, exchange.FuturesSetLeverage:
		err = d.status()
	case exchange.FuturesTime:
		var clock struct {
			ServerTime whole `json:"serverTime"`
		}
		if err = unmarshal(d.body, &clock); err == nil && clock.ServerTime <= 0 {
			err = fmt.Errorf("no serverTime in %s", excerpt(d.body))
		}
		d.answer.ServerTimeMS = int64(clock.ServerTime)
	case exchange.FuturesSymbols:
		d.answer.Symbols, err = symbolsOf(d, (*futuresSymbol).read)
	case exchange.SpotPairs:
		d.answer.Symbols, err = symbolsOf(d, (*spotPair).read)
	case exchange.FuturesMarginLevels, exchange.FuturesSymbolMarginLevels:
		d.answer.Levels, err = list(d, d.body, (*marginLevel).read)
	case exchange.FuturesFundingRate:
		err = d.funding()
	case exchange.FuturesLeverages:
		d.answer.Leverages, err = list(d, d.body, (*leverageSetting).read)
	case exchange.FuturesAccount:
		var account marginAccount
		if err = unmarshal(d.body, &account); err == nil {
			d.answer.Account, err = account.read()
		}
	case exchange.SpotWallet:
		var body []byte
		if body, err = d.member("wallets"); err == nil {
			d.answer.Balances, err = list(d, body, (*walletEntry).read)
		}
	default:
		err = d.public()
	}
	return err
}

// public reads market data. It skips list elements of unknown symbols.
func (d *answerDecoder) public() (err error) {
	switch d.request.Operation {
	case exchange.FuturesTicker:
		err = oneTicker(d, func(f *futuresTicker) string { return f.Symbol }, (*futuresTicker).read)
	case exchange.SpotTicker:
		err = oneTicker(d, func(f *spotTicker) string { return f.Symbol }, (*spotTicker).read)
	case exchange.FuturesTickers:
		d.answer.Tickers, err = symbolList(d, d.body, passOver, func(f *futuresTicker) string { return f.Symbol }, (*futuresTicker).read)
	case exchange.SpotTickers:
		var body []byte
		if body, err = d.member("tickers"); err == nil {
			d.answer.Tickers, err = symbolList(d, body, passOver, func(f *spotTicker) string { return f.Symbol }, (*spotTicker).read)
		}
	case exchange.FuturesDepth, exchange.SpotDepth:
		err = d.depth()
	case exchange.FuturesTrades, exchange.SpotTrades:
		d.answer.Trades, err = symbolList(d, d.body, allOrNone, func(*spotTrade) string { return d.request.Symbol }, (*spotTrade).read)
	case exchange.FuturesCandles, exchange.SpotCandles:
		err = d.candles()
	default:
		err = d.account()
	}
	return err
}

// account reads the account's own orders, positions and trades. A row that cannot be read, or whose
// symbol is unknown, is set aside so that it is not overlooked.
func (d *answerDecoder) account() (err error) {
	ofFutures := func(f *futuresOrder) string { return f.Symbol }
	ofSpot := func(f *spotOrder) string { return f.Symbol }
	position := func(unnamed exchange.PositionStatus) (exchange.Fetched[exchange.Position], error) {
		return symbolList(d, d.body, setAside, func(f *futuresPosition) string { return f.Symbol },
			func(f *futuresPosition, r reader) (exchange.Position, error) { return f.read(r, unnamed) })
	}
	switch d.request.Operation {
	case exchange.FuturesPlace, exchange.FuturesOrder, exchange.FuturesCancel:
		return order(d, ofFutures, (*futuresOrder).read)
	case exchange.SpotPlace, exchange.SpotCancel:
		return order(d, ofSpot, (*spotOrder).read)
	case exchange.FuturesOpenPositions:
		d.answer.Positions, err = position(exchange.PositionOpen)
	case exchange.FuturesPositionsHistory:
		d.answer.Positions, err = position(exchange.PositionClosed)
	case exchange.FuturesCancelAll:
		if bytes.EqualFold(d.body, []byte("null")) { // nothing to cancel (interface, Other error behavior)
			d.answer.Orders = exchange.FetchedOf[exchange.Order](nil)
			return nil
		}
		fallthrough
	case exchange.FuturesOpenOrders:
		d.answer.Orders, err = symbolList(d, d.body, setAside, ofFutures, (*futuresOrder).read)
	case exchange.SpotOpenOrders, exchange.SpotCancelAll:
		d.answer.Orders, err = symbolList(d, d.body, setAside, ofSpot, (*spotOrder).read)
	case exchange.SpotOrderHistory: // the interface does not document it: it may be wrapped
		var body []byte
		if body, err = unwrapped(d.profile, d.body); err == nil {
			d.answer.Orders, err = symbolList(d, body, setAside, ofSpot, (*spotOrder).read)
		}
	case exchange.SpotUserTrades:
		d.answer.Fills, err = symbolList(d, d.body, setAside, func(f *userTrade) string { return f.Symbol }, (*userTrade).read)
	default:
		err = fmt.Errorf("unknown operation %d", d.request.Operation)
	}
	return err
}

// member returns the list under a name, or the body if that is itself a list.
func (d *answerDecoder) member(name string) ([]byte, error) {
	if bytes.HasPrefix(d.body, []byte("[")) {
		return d.body, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(d.body, &fields); err != nil {
		return nil, err
	}
	return fields[name], nil
}

// nullMember reports whether the list under a name is empty but written as null.
func (d *answerDecoder) nullMember(name string) bool {
	list, err := d.member(name)
	return err == nil && d.profile.emptyAsNull(list)
}

func (d *answerDecoder) status() error {
	var f struct {
		Status *string `json:"status"`
	}
	if err := unmarshal(d.body, &f); err != nil {
		return err
	}
	if f.Status == nil {
		return fmt.Errorf("no status in %s", excerpt(d.body))
	}
	d.answer.Status = *f.Status
	return nil
}

func (d *answerDecoder) funding() error {
	var f fundingRate
	if err := unmarshal(d.body, &f); err != nil {
		return err
	}
	var r reader
	r.need("fundingRate", f.FundingRate.given)
	d.answer.Funding = exchange.FundingRate{Symbol: f.Symbol, Rate: r.rate("fundingRate", f.FundingRate), TimeMS: int64(f.FundingTime),
		NextMS: int64(f.NextFundingTime)}
	return r.err
}

func (d *answerDecoder) depth() error {
	var f struct {
		LastUpdateID whole       `json:"lastUpdateId"`
		ID           whole       `json:"id"`
		Bids         *[][]number `json:"bids"`
		Asks         *[][]number `json:"asks"`
	}
	if err := unmarshal(d.body, &f); err != nil {
		return err
	}
	if f.Bids == nil && d.nullMember("bids") {
		f.Bids = new([][]number)
	}
	if f.Asks == nil && d.nullMember("asks") {
		f.Asks = new([][]number)
	}
	if f.Bids == nil || f.Asks == nil {
		return fmt.Errorf("no bids or no asks in %s", excerpt(d.body))
	}
	symbol, err := d.symbol(d.request.Symbol)
	if err != nil {
		return err
	}
	r := reader{symbol: symbol}
	d.answer.Depth = exchange.Depth{ID: int64(max(f.LastUpdateID, f.ID)), Bids: r.levels("bids", *f.Bids), Asks: r.levels("asks", *f.Asks)}
	// The interface defines an order only for the spot order book.
	slices.SortStableFunc(d.answer.Depth.Bids, func(a, b exchange.Level) int { return int(min(1, max(-1, b.Price-a.Price))) })
	slices.SortStableFunc(d.answer.Depth.Asks, func(a, b exchange.Level) int { return int(min(1, max(-1, a.Price-b.Price))) })
	return r.err
}

func (r *reader) levels(field string, raw [][]number) []exchange.Level {
	levels := make([]exchange.Level, 0, len(raw))
	for i, level := range raw {
		if len(level) < 2 || !level[0].given || !level[1].given {
			r.note(fmt.Errorf("%s: level %d is not a price and a quantity", field, i))
			break
		}
		levels = append(levels, exchange.Level{Price: r.price(field, level[0]), Quantity: r.publicQuantity(field, level[1])})
	}
	return levels
}

// order reads one order and checks that it is the requested one.
func order[F any](d *answerDecoder, name func(*F) string, decode func(*F, reader) (exchange.Order, error)) error {
	read, err := symbolRow(d, d.body, name, decode)
	if err != nil {
		return err
	}
	sent := &d.request.Order
	switch {
	case !d.request.Operation.Places():
		if d.request.OrderID != read.ID {
			return fmt.Errorf("the answer is about order %d, not %d", read.ID, d.request.OrderID)
		}
	case read.ClientOrderID != sent.ClientOrderID:
		return fmt.Errorf("the answer is about client order id %q, not %q", read.ClientOrderID, sent.ClientOrderID)
	case read.Symbol != sent.Symbol || read.Side != sent.Side:
		return fmt.Errorf("the answer is about %s %s, not %s %s", read.Side, read.Symbol, sent.Side, sent.Symbol)
	}
	d.answer.Order = read
	return nil
}

func (d *answerDecoder) symbol(name string) (*exchange.Symbol, error) {
	key := exchange.SymbolKey{Market: d.request.Operation.Market(), Name: name}
	if symbol, found := d.symbols.Symbol(key); found {
		return symbol, nil
	}
	return nil, &UnknownSymbolError{key}
}

// UnknownSymbolError names a symbol that is missing from the table. The client reads the list again
// and retries once.
type UnknownSymbolError struct{ Key exchange.SymbolKey }

// Error names the symbol.
func (e *UnknownSymbolError) Error() string { return "unknown symbol " + e.Key.String() }
