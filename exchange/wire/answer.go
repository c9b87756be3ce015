package wire

import (
	"bytes"
	"encoding/json"
	"fmt"

	"botd/exchange"
)

// DecodeAnswer reads a successful answer of any operation. What it can not
// understand is *exchange.Malformed: never an empty answer.
func DecodeAnswer(request *exchange.Request, body []byte, symbols Symbols) (exchange.Answer, error) {
	d := answerDecoder{request: request, body: bytes.TrimSpace(body), symbols: symbols}
	d.answer.Operation = request.Operation
	if err := d.decode(); err != nil {
		return exchange.Answer{}, &exchange.Malformed{Operation: request.Operation, What: err.Error(), Err: err}
	}
	return d.answer, nil
}

type answerDecoder struct {
	request *exchange.Request
	body    []byte
	symbols Symbols
	answer  exchange.Answer
}

func (d *answerDecoder) decode() (err error) {
	switch op := d.request.Operation; op {
	case exchange.FuturesHealth, exchange.FuturesPing, exchange.FuturesSetLeverage:
		var status struct {
			Status string `json:"status"`
		}
		err = unmarshal(d.body, &status)
		d.answer.Status = status.Status
	case exchange.FuturesTime:
		var clock struct {
			ServerTime whole `json:"serverTime"`
		}
		if err = unmarshal(d.body, &clock); err == nil && clock.ServerTime <= 0 {
			err = fmt.Errorf("serverTime %d", clock.ServerTime)
		}
		d.answer.ServerTimeMS = int64(clock.ServerTime)
	case exchange.FuturesSymbols:
		d.answer.Symbols, err = list(d.body, func(f *futuresSymbol) (*exchange.Symbol, error) { return f.read() })
	case exchange.SpotPairs:
		d.answer.Symbols, err = list(d.body, func(f *spotPair) (*exchange.Symbol, error) { return f.read() })
	case exchange.FuturesMarginLevels, exchange.FuturesSymbolMarginLevels:
		d.answer.Levels, err = list(d.body, readLevel)
	case exchange.FuturesCandles, exchange.SpotCandles:
		err = d.candles()
	case exchange.FuturesPlace, exchange.FuturesOrder, exchange.FuturesCancel, exchange.SpotPlace, exchange.SpotCancel:
		err = d.order()
	case exchange.FuturesLeverages:
		d.answer.Leverages, err = list(d.body, func(f *leverageSetting) (exchange.LeverageSetting, error) {
			return exchange.LeverageSetting{Symbol: f.Symbol, Leverage: int(f.Leverage)}, nil
		})
	case exchange.FuturesAccount:
		var account marginAccount
		if err = strict(d.body, &account, "totalWalletBalance", "availableBalance"); err == nil {
			d.answer.Account, err = account.read()
		}
	case exchange.SpotWallet:
		err = d.wallet()
	default:
		err = d.market()
	}
	return err
}

// market reads the records that need a symbol's scales.
func (d *answerDecoder) market() (err error) {
	switch d.request.Operation {
	case exchange.FuturesTicker:
		var ticker futuresTicker
		if err = strict(d.body, &ticker, "lastPrice"); err == nil {
			err = d.oneTicker(ticker.Symbol, ticker.read)
		}
	case exchange.SpotTicker:
		var ticker spotTicker
		if err = strict(d.body, &ticker, "lastPrice"); err == nil {
			err = d.oneTicker(ticker.Symbol, ticker.read)
		}
	case exchange.FuturesTickers:
		d.answer.Tickers, err = symbolList(d, d.body, true, func(f *futuresTicker) string { return f.Symbol }, (*futuresTicker).read)
	case exchange.SpotTickers:
		var tickers struct {
			Tickers json.RawMessage `json:"tickers"`
		}
		if err = unmarshal(d.body, &tickers); err == nil {
			d.answer.Tickers, err = symbolList(d, tickers.Tickers, true, func(f *spotTicker) string { return f.Symbol }, (*spotTicker).read)
		}
	case exchange.FuturesDepth, exchange.SpotDepth:
		err = d.depth()
	case exchange.FuturesTrades, exchange.SpotTrades:
		d.answer.Trades, err = symbolList(d, d.body, false, func(*spotTrade) string { return d.request.Symbol }, readTrade)
	case exchange.FuturesFundingRate:
		err = d.funding()
	case exchange.FuturesOpenPositions, exchange.FuturesPositionsHistory:
		d.answer.Positions, err = symbolList(d, d.body, false, func(f *futuresPosition) string { return f.Symbol }, (*futuresPosition).read)
	case exchange.FuturesCancelAll:
		if bytes.EqualFold(d.body, []byte("null")) { // the bare NULL: nothing to cancel (interface, Other error behavior)
			d.answer.Orders = exchange.FetchedOf[exchange.Order](nil)
			return nil
		}
		fallthrough
	case exchange.FuturesOpenOrders:
		d.answer.Orders, err = symbolList(d, d.body, false, func(f *futuresOrder) string { return f.Symbol }, (*futuresOrder).read)
	case exchange.SpotOpenOrders, exchange.SpotOrderHistory, exchange.SpotCancelAll:
		d.answer.Orders, err = symbolList(d, d.body, false, func(f *spotOrder) string { return f.Symbol }, (*spotOrder).read)
	case exchange.SpotUserTrades:
		d.answer.Fills, err = symbolList(d, d.body, false, func(f *userTrade) string { return f.Symbol }, (*userTrade).read)
	}
	return err
}

// list reads an array; anything else, null included, is malformed.
func list[F, T any](body []byte, read func(*F) (T, error)) (exchange.Fetched[T], error) {
	var raw []F
	if len(body) == 0 || body[0] != '[' {
		return exchange.Fetched[T]{}, fmt.Errorf("want an array, have %s", excerpt(body))
	}
	if err := unmarshal(body, &raw); err != nil {
		return exchange.Fetched[T]{}, err
	}
	items := make([]T, 0, len(raw))
	for i := range raw {
		item, err := read(&raw[i])
		if err != nil {
			return exchange.Fetched[T]{}, fmt.Errorf("element %d: %w", i, err)
		}
		items = append(items, item)
	}
	return exchange.FetchedOf(items), nil
}

// symbolList reads an array of records that need their symbol's scales. Public
// lists may name symbols botd does not know, which are passed over; an account's
// own may not.
func symbolList[F, T any](d *answerDecoder, body []byte, public bool, name func(*F) string, read func(*F, *exchange.Symbol) (T, error)) (exchange.Fetched[T], error) {
	var known []F
	raw, err := list(body, func(f *F) (F, error) { return *f, nil })
	if err != nil {
		return exchange.Fetched[T]{}, err
	}
	known = raw.Items()
	items := make([]T, 0, len(known))
	for i := range known {
		symbol, err := d.symbol(name(&known[i]))
		if err != nil {
			if public {
				continue
			}
			return exchange.Fetched[T]{}, err
		}
		item, err := read(&known[i], symbol)
		if err != nil {
			return exchange.Fetched[T]{}, fmt.Errorf("element %d: %w", i, err)
		}
		items = append(items, item)
	}
	return exchange.FetchedOf(items), nil
}

func (d *answerDecoder) symbol(name string) (*exchange.Symbol, error) {
	key := exchange.SymbolKey{Market: d.request.Operation.Market(), Name: name}
	symbol, found := d.symbols.Symbol(key)
	if !found {
		return nil, &UnknownSymbolError{key}
	}
	return symbol, nil
}

// UnknownSymbolError names a symbol the table does not hold: the client reads
// the list again and tries once more.
type UnknownSymbolError struct{ Key exchange.SymbolKey }

// Error names the symbol.
func (e *UnknownSymbolError) Error() string { return "unknown symbol " + e.Key.String() }

// strict reads an object that must have the fields named.
func strict(body []byte, into any, fields ...string) error {
	var have map[string]json.RawMessage
	if err := unmarshal(body, &have); err != nil {
		return err
	}
	for _, field := range fields {
		if value, found := have[field]; !found || bytes.Equal(value, []byte("null")) {
			return fmt.Errorf("no %s in %s", field, excerpt(body))
		}
	}
	return unmarshal(body, into)
}

func excerpt(body []byte) string {
	const most = 60
	if len(body) > most {
		return fmt.Sprintf("%q...", body[:most])
	}
	return fmt.Sprintf("%q", body)
}

func readLevel(f *marginLevel) (exchange.SymbolBracket, error) {
	b := exchange.SymbolBracket{Symbol: f.Symbol}
	var err error
	for _, field := range []struct {
		into *exchange.Amount
		from number
	}{{&b.Min, f.Min}, {&b.Max, f.Max}, {&b.MarginAmount, f.MarginAmount}} {
		var e error
		*field.into, e = readAmount(field.from)
		first(&err, e)
	}
	ratio, e := exchange.RateFromDecimal(f.MarginRatio.Decimal)
	first(&err, e)
	b.MarginRatio, b.MaxLeverage = ratio, int(f.MaxLeverage)
	return b, err
}

func (d *answerDecoder) oneTicker(name string, read func(*exchange.Symbol) (exchange.Ticker, error)) error {
	symbol, err := d.symbol(name)
	if err != nil {
		return err
	}
	ticker, err := read(symbol)
	d.answer.Tickers = exchange.FetchedOf([]exchange.Ticker{ticker})
	return err
}

func (d *answerDecoder) order() error {
	var (
		order exchange.Order
		name  string
		read  func(*exchange.Symbol) (exchange.Order, error)
	)
	if d.request.Operation.Market() == exchange.Spot {
		var f spotOrder
		if err := strict(d.body, &f, "id", "symbol", "status"); err != nil {
			return err
		}
		name, read = f.Symbol, f.read
	} else {
		var f futuresOrder
		if err := strict(d.body, &f, "id", "symbol", "status"); err != nil {
			return err
		}
		name, read = f.Symbol, f.read
	}
	symbol, err := d.symbol(name)
	if err == nil {
		order, err = read(symbol)
	}
	if want := d.request.Order.ClientOrderID; err == nil && d.request.Operation.Places() && want != "" && order.ClientOrderID != want {
		return fmt.Errorf("the answer is of client order id %q, not of %q", order.ClientOrderID, want)
	}
	if err == nil && order.ID <= 0 {
		return fmt.Errorf("order id %d", order.ID)
	}
	d.answer.Order = order
	return err
}

func (d *answerDecoder) depth() error {
	var f struct {
		LastUpdateID whole      `json:"lastUpdateId"`
		ID           whole      `json:"id"`
		Bids         [][]number `json:"bids"`
		Asks         [][]number `json:"asks"`
	}
	if err := strict(d.body, &f, "bids", "asks"); err != nil {
		return err
	}
	symbol, err := d.symbol(d.request.Symbol)
	if err != nil {
		return err
	}
	r := reader{symbol: symbol}
	levels := func(raw [][]number) []exchange.Level {
		out := make([]exchange.Level, 0, len(raw))
		for _, level := range raw {
			if len(level) < 2 {
				first(&r.err, fmt.Errorf("a level of %d elements", len(level)))
				continue
			}
			out = append(out, exchange.Level{Price: r.price(level[0]), Quantity: r.quantity(level[1])})
		}
		return out
	}
	d.answer.Depth = exchange.Depth{ID: int64(max(f.LastUpdateID, f.ID)), Bids: levels(f.Bids), Asks: levels(f.Asks)}
	return r.err
}

func readTrade(f *spotTrade, s *exchange.Symbol) (exchange.Trade, error) {
	r := reader{symbol: s}
	return exchange.Trade{ID: int64(f.ID), Price: r.price(f.Price), Quantity: r.quantity(f.Quantity), QuoteAmount: r.amount(f.QuoteQty),
		TimeMS: int64(f.Time), BuyerIsMaker: f.BuyerIsMaker}, r.err
}

func (d *answerDecoder) funding() error {
	var f fundingRate
	if err := strict(d.body, &f, "fundingRate"); err != nil {
		return err
	}
	rate, err := exchange.RateFromDecimal(f.FundingRate.Round(8))
	d.answer.Funding = exchange.FundingRate{Symbol: f.Symbol, Rate: rate, TimeMS: int64(f.FundingTime), NextMS: int64(f.NextFundingTime)}
	return err
}

func (d *answerDecoder) wallet() error {
	var f struct {
		Wallets json.RawMessage `json:"wallets"`
	}
	if err := unmarshal(d.body, &f); err != nil {
		return err
	}
	var err error
	d.answer.Balances, err = list(f.Wallets, func(w *walletEntry) (exchange.Balance, error) {
		free, err := readAmount(w.Balance)
		frozen, second := readAmount(w.Frozen)
		first(&err, second)
		return exchange.Balance{Asset: w.Asset, Free: free, Frozen: frozen}, err
	})
	return err
}

// candles reads arrays of 11 elements, or objects with the same names.
func (d *answerDecoder) candles() error {
	symbol, err := d.symbol(d.request.Symbol)
	if err != nil {
		return err
	}
	var raw []json.RawMessage
	if len(d.body) == 0 || d.body[0] != '[' {
		return fmt.Errorf("want an array, have %s", excerpt(d.body))
	}
	if err := unmarshal(d.body, &raw); err != nil {
		return err
	}
	candles := &exchange.Candles{Interval: d.request.Interval}
	for i, element := range raw {
		candle, err := readCandle(element, symbol)
		if err != nil {
			return fmt.Errorf("candle %d: %w", i, err)
		}
		if n := candles.Len(); n > 0 && candles.OpenMS[n-1] >= candle.OpenMS {
			return fmt.Errorf("candle %d is not after the one before it", i)
		}
		candles.Append(candle)
	}
	d.answer.Candles = candles
	return nil
}

func readCandle(raw json.RawMessage, symbol *exchange.Symbol) (exchange.Candle, error) {
	var fields []number
	if len(raw) > 0 && raw[0] == '{' {
		var f struct {
			OpenTime    number `json:"openTime"`
			Open        number `json:"open"`
			High        number `json:"high"`
			Low         number `json:"low"`
			Close       number `json:"close"`
			Volume      number `json:"volume"`
			CloseTime   number `json:"closeTime"`
			QuoteVolume number `json:"quoteVolume"`
			Trades      number `json:"trades"`
			TakerBase   number `json:"takerBuyVolume"`
			TakerQuote  number `json:"takerBuyQuoteVolume"`
		}
		if err := json.Unmarshal(raw, &f); err != nil {
			return exchange.Candle{}, err
		}
		fields = []number{f.OpenTime, f.Open, f.High, f.Low, f.Close, f.Volume, f.CloseTime, f.QuoteVolume, f.Trades, f.TakerBase, f.TakerQuote}
	} else if err := json.Unmarshal(raw, &fields); err != nil {
		return exchange.Candle{}, err
	}
	if len(fields) < 6 {
		return exchange.Candle{}, fmt.Errorf("%d elements", len(fields))
	}
	r := reader{symbol: symbol}
	candle := exchange.Candle{OpenMS: fields[0].IntPart(), Open: r.price(fields[1]), High: r.price(fields[2]), Low: r.price(fields[3]),
		Close: r.price(fields[4]), Volume: fields[5].InexactFloat64()}
	if len(fields) >= 11 {
		candle.QuoteVolume, candle.Trades = fields[7].InexactFloat64(), fields[8].IntPart()
		candle.TakerBase, candle.TakerQuote = fields[9].InexactFloat64(), fields[10].InexactFloat64()
	}
	if r.err == nil {
		r.err = candle.Plausible()
	}
	return candle, r.err
}
