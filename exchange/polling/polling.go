// Package polling lists what botd reads from an exchange regularly, and how often. The engine, the paper account and the client send by
// these figures, and botd check counts requests by them.
package polling

import "botd/exchange"

// Intervals, in milliseconds.
const (
	IdleRoundMS = 15_000 // of rounds, while nothing is in flight
	RulesMS     = 60_000 // of the symbols' rules
	FundingMS   = 60_000 // of a funding rate, for a strategy that watches it and for the paper account
	OrderBookMS = 2_000  // from an answer with an order book to the next request, for a strategy that watches the order book
	ClockMS     = 60_000 // of the exchange's clock
	CloseLagMS  = 2_000  // from a candle's close to the first request for it, by the exchange's clock
)

// Numbers of requests.
const (
	ClockReads  = 3  // for one reading of the clock; the one with the shortest round trip is used
	TickersFrom = 4  // symbols of a market from which a round reads the list of tickers instead of one ticker each
	Readers     = 22 // reads of market data that the driver has in progress at a time
	PollsInAge  = 2  // polls that fit into the age at which the paper account's data are too old; a longer one is given up
)

// Operations read one market.
type Operations struct {
	Lists           []exchange.Operation  // in a round: the open orders
	Positions       []exchange.Operation  // after them: positions and money
	Ticker, Tickers exchange.Operation    // last: the prices
	Candles         exchange.Operation    // when they close
	Rules           exchange.Operation    // of all symbols
	OrderBook       exchange.Operation    // for a strategy that watches it
	Feed            [3]exchange.Operation // of each symbol, for the paper account: trades, order book, ticker
	Funding         exchange.Operation    // 0 for a market without funding
}

var operations = [exchange.Spot + 1]Operations{
	exchange.Futures: {
		Lists:     []exchange.Operation{exchange.FuturesOpenOrders},
		Positions: []exchange.Operation{exchange.FuturesOpenPositions, exchange.FuturesAccount},
		Ticker:    exchange.FuturesTicker, Tickers: exchange.FuturesTickers,
		Candles: exchange.FuturesCandles, Rules: exchange.FuturesSymbols, OrderBook: exchange.FuturesDepth,
		Feed:    [3]exchange.Operation{exchange.FuturesTrades, exchange.FuturesDepth, exchange.FuturesTicker},
		Funding: exchange.FuturesFundingRate,
	},
	exchange.Spot: {
		Lists:     []exchange.Operation{exchange.SpotOpenOrders},
		Positions: []exchange.Operation{exchange.SpotWallet},
		Ticker:    exchange.SpotTicker, Tickers: exchange.SpotTickers,
		Candles: exchange.SpotCandles, Rules: exchange.SpotPairs, OrderBook: exchange.SpotDepth,
		Feed: [3]exchange.Operation{exchange.SpotTrades, exchange.SpotDepth, exchange.SpotTicker},
	},
}

// Of returns the operations of a market. They are never modified.
func Of(market exchange.Market) *Operations { return &operations[market] }
