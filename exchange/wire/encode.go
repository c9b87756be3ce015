package wire

import (
	"encoding/json"
	"fmt"

	"botd/exchange"
)

// EncodeAnswer encodes an answer of any operation and its HTTP status: 201 for a futures placement,
// else 200.
func EncodeAnswer(answer *exchange.Answer, request *exchange.Request, symbols Symbols) (status int, body []byte, err error) {
	if answer.Operation == exchange.FuturesCancelAll && len(answer.Orders.Items()) == 0 {
		return 200, []byte("NULL"), nil // not JSON (interface, Other error behavior)
	}
	e := answerEncoder{answer: answer, request: request, symbols: symbols}
	value := e.value()
	if err = e.err; err == nil {
		if written, already := value.(json.RawMessage); already {
			body = written
		} else {
			body, err = json.Marshal(value)
		}
	}
	switch {
	case err != nil:
		return 500, nil, fmt.Errorf("encode %s: %w", answer.Operation, err)
	case answer.Operation == exchange.FuturesPlace:
		return 201, body, nil
	}
	return 200, body, nil
}

type answerEncoder struct {
	answer  *exchange.Answer
	request *exchange.Request
	symbols Symbols
	err     error
}

func (e *answerEncoder) symbol(name string) *exchange.Symbol {
	symbol, found := e.symbols.Symbol(exchange.SymbolKey{Market: e.answer.Operation.Market(), Name: name})
	if !found {
		if e.err == nil {
			e.err = fmt.Errorf("unknown symbol %q", name)
		}
		return &exchange.Symbol{}
	}
	return symbol
}

func each[T, W any](items []T, write func(*T) W) []W {
	out := make([]W, len(items))
	for i := range items {
		out[i] = write(&items[i])
	}
	return out
}

func (e *answerEncoder) value() any {
	a := e.answer
	type object = map[string]any
	switch a.Operation {
	case exchange.FuturesHealth, exchange.FuturesPing, exchange.FuturesSetLeverage:
		return object{"status": a.Status}
	case exchange.FuturesTime:
		return object{"serverTime": a.ServerTimeMS}
	case exchange.FuturesSymbols:
		return each(a.Symbols.Items(), func(s **exchange.Symbol) futuresSymbol { return writeFuturesSymbol(*s) })
	case exchange.SpotPairs:
		return each(a.Symbols.Items(), func(s **exchange.Symbol) spotPair { return writeSpotPair(*s) })
	case exchange.FuturesTickers:
		return each(a.Tickers.Items(), e.futuresTicker)
	case exchange.FuturesTicker:
		return e.futuresTicker(&a.Tickers.Items()[0])
	case exchange.SpotTickers:
		return object{"tickers": each(a.Tickers.Items(), e.spotTicker)}
	case exchange.SpotTicker:
		return e.spotTicker(&a.Tickers.Items()[0])
	case exchange.FuturesCandles, exchange.SpotCandles:
		return e.candles()
	case exchange.FuturesFundingRate:
		f := a.Funding
		return fundingRate{f.Symbol, numberOf(f.Rate.Decimal()), whole(f.TimeMS), whole(f.NextMS)}
	case exchange.FuturesMarginLevels, exchange.FuturesSymbolMarginLevels:
		return each(a.Levels.Items(), func(b *exchange.SymbolBracket) marginLevel {
			return marginLevel{b.Symbol, numberOf(b.Min.Decimal()), numberOf(b.Max.Decimal()), numberOf(b.MarginRatio.Decimal()),
				numberOf(b.MarginAmount.Decimal()), whole(b.MaxLeverage)}
		})
	}
	return e.trading()
}

func (e *answerEncoder) trading() any {
	a := e.answer
	switch a.Operation {
	case exchange.FuturesDepth, exchange.SpotDepth:
		return e.depth()
	case exchange.FuturesTrades, exchange.SpotTrades:
		return e.trades()
	case exchange.FuturesPlace, exchange.FuturesOrder, exchange.FuturesCancel:
		return writeFuturesOrder(&a.Order, e.symbol(a.Order.Symbol))
	case exchange.SpotPlace, exchange.SpotCancel:
		return writeSpotOrder(&a.Order, e.symbol(a.Order.Symbol))
	case exchange.FuturesOpenOrders, exchange.FuturesCancelAll:
		return each(a.Orders.Items(), func(o *exchange.Order) futuresOrder { return writeFuturesOrder(o, e.symbol(o.Symbol)) })
	case exchange.SpotOpenOrders, exchange.SpotCancelAll, exchange.SpotOrderHistory:
		return each(a.Orders.Items(), func(o *exchange.Order) spotOrder { return writeSpotOrder(o, e.symbol(o.Symbol)) })
	case exchange.FuturesLeverages:
		return each(a.Leverages.Items(), func(l *exchange.LeverageSetting) leverageSetting { return leverageSetting{l.Symbol, whole(l.Leverage)} })
	case exchange.FuturesAccount:
		return writeMarginAccount(&a.Account)
	case exchange.FuturesOpenPositions, exchange.FuturesPositionsHistory:
		return each(a.Positions.Items(), func(p *exchange.Position) futuresPosition { return writeFuturesPosition(p, e.symbol(p.Symbol)) })
	case exchange.SpotUserTrades:
		return each(a.Fills.Items(), func(t *exchange.UserTrade) userTrade { return writeUserTrade(t, e.symbol(t.Symbol)) })
	case exchange.SpotWallet:
		return map[string]any{"wallets": each(a.Balances.Items(), func(b *exchange.Balance) walletEntry {
			return walletEntry{b.Asset, numberOf(b.Free.Decimal()), numberOf(b.Frozen.Decimal())}
		})}
	}
	e.err = fmt.Errorf("no such operation")
	return nil
}

func (e *answerEncoder) futuresTicker(t *exchange.Ticker) futuresTicker {
	return writeFuturesTicker(t, e.symbol(t.Symbol))
}

func (e *answerEncoder) spotTicker(t *exchange.Ticker) spotTicker {
	return writeSpotTicker(t, e.symbol(t.Symbol))
}

func (e *answerEncoder) depth() any {
	symbol, depth := e.symbol(e.request.Symbol), &e.answer.Depth
	if e.answer.Operation == exchange.SpotDepth {
		level := func(l *exchange.Level) []plain {
			return []plain{plainOf(symbol.PriceDecimal(l.Price)), plainOf(symbol.QuantityDecimal(l.Quantity))}
		}
		return spotOrderBook{whole(depth.ID), each(depth.Bids, level), each(depth.Asks, level)}
	}
	level := func(l *exchange.Level) []number {
		return []number{numberOf(symbol.PriceDecimal(l.Price)), numberOf(symbol.QuantityDecimal(l.Quantity))}
	}
	return futuresDepth{whole(depth.ID), each(depth.Bids, level), each(depth.Asks, level)}
}

func (e *answerEncoder) trades() any {
	symbol := e.symbol(e.request.Symbol)
	if e.answer.Operation == exchange.SpotTrades {
		return each(e.answer.Trades.Items(), func(t *exchange.Trade) spotTrade {
			return spotTrade{whole(t.ID), numberOf(symbol.PriceDecimal(t.Price)), numberOf(symbol.QuantityDecimal(t.Quantity)),
				numberOf(t.QuoteAmount.Decimal()), whole(t.TimeMS), flag(t.BuyerIsMaker)}
		})
	}
	return each(e.answer.Trades.Items(), func(t *exchange.Trade) futuresTrade {
		return futuresTrade{whole(t.ID), numberOf(symbol.PriceDecimal(t.Price)), numberOf(symbol.QuantityDecimal(t.Quantity)), whole(t.TimeMS),
			flag(t.BuyerIsMaker)}
	})
}

// candles encodes arrays of 11 elements, the same on both markets.
func (e *answerEncoder) candles() any {
	body, err := appendCandles(nil, e.answer.Candles, e.symbol(e.request.Symbol).PriceScale)
	if err != nil && e.err == nil {
		e.err = err
	}
	return json.RawMessage(body)
}
