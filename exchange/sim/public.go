package sim

import (
	"sort"

	"botd/exchange"
)

const (
	maxDepth     = 1000 // levels of futures depth, and the maximum number of quotes shown
	spotMaxDepth = 100
)

// marketData answers public requests about one symbol.
type marketData struct{ *orderBook }

// public answers the operations that need no account.
func (c *call) public() *exchange.Refusal {
	switch c.request.Operation {
	case exchange.FuturesHealth, exchange.FuturesPing:
		c.answer.Status = "ok"
	case exchange.FuturesTime:
		c.answer.ServerTimeMS = c.exchange.nowMS
	case exchange.FuturesSymbols, exchange.SpotPairs:
		var symbols []*exchange.Symbol
		for _, b := range c.exchange.orderBooksOf(c.request.Operation.Market()) {
			symbols = append(symbols, b.symbol)
		}
		c.answer.Symbols = exchange.FetchedOf(symbols)
	case exchange.FuturesTickers, exchange.SpotTickers:
		var tickers []exchange.Ticker
		for _, b := range c.exchange.orderBooksOf(c.request.Operation.Market()) {
			tickers = append(tickers, marketData{b}.ticker())
		}
		c.answer.Tickers = exchange.FetchedOf(tickers)
	case exchange.FuturesMarginLevels:
		var levels []exchange.SymbolBracket
		for _, b := range c.exchange.orderBooksOf(exchange.Futures) {
			levels = append(levels, marketData{b}.levels()...)
		}
		c.answer.Levels = exchange.FetchedOf(levels)
	default:
		b, refusal := c.symbol(c.request.Symbol)
		if refusal != nil {
			return refusal
		}
		return marketData{b}.public(c.request, &c.answer)
	}
	return nil
}

// public answers one request.
func (b marketData) public(request *exchange.Request, answer *exchange.Answer) *exchange.Refusal {
	var refusal *exchange.Refusal
	switch request.Operation {
	case exchange.FuturesTicker, exchange.SpotTicker:
		answer.Tickers = exchange.FetchedOf([]exchange.Ticker{b.ticker()})
	case exchange.FuturesSymbolMarginLevels:
		answer.Levels = exchange.FetchedOf(b.levels())
	case exchange.FuturesFundingRate:
		answer.Funding = b.reportFunding()
	case exchange.FuturesDepth, exchange.SpotDepth:
		answer.Depth, refusal = b.depth(request)
	case exchange.FuturesTrades, exchange.SpotTrades:
		var count int
		if count, refusal = limit(request, 500, maxTrades); refusal == nil {
			answer.Trades = exchange.FetchedOf(b.lastTrades(count))
		}
	case exchange.FuturesCandles, exchange.SpotCandles:
		answer.Candles, refusal = b.candlesFor(request)
	}
	return refusal
}

// lastTrades returns the newest trades, oldest first.
func (b marketData) lastTrades(count int) (list []exchange.Trade) {
	if missing := count - len(b.trades); missing > 0 && b.past != nil {
		list = b.past.trades(b.orderBook, missing)
	}
	return append(list, b.trades[max(0, len(b.trades)-count):]...)
}

func (x *Exchange) orderBooksOf(market exchange.Market) []*orderBook {
	var all []*orderBook
	for _, b := range x.orderBooks {
		if b.symbol.Market == market {
			all = append(all, b)
		}
	}
	return all
}

func (b marketData) levels() []exchange.SymbolBracket {
	all := make([]exchange.SymbolBracket, len(b.symbol.Brackets))
	for i, bracket := range b.symbol.Brackets {
		all[i] = exchange.SymbolBracket{Symbol: b.symbol.Name, Bracket: bracket}
	}
	return all
}

// ticker computes the last 24 hours from the minutes' candles.
func (b marketData) ticker() exchange.Ticker {
	now := b.exchange.nowMS
	t := exchange.Ticker{Symbol: b.symbol.Name, Last: b.last, Open: b.last, High: b.last, Low: b.last, OpenMS: now - int64(exchange.Day1), CloseMS: now}
	t.Bid, _ = b.best(exchange.Sell)
	t.Ask, _ = b.best(exchange.Buy)
	if price, ok := b.bids.price(); ok {
		t.Bid = max(t.Bid, price)
	}
	if price, ok := b.asks.price(); ok && (t.Ask == 0 || price < t.Ask) {
		t.Ask = price
	}
	if day := b.since(t.OpenMS); day.Open > 0 {
		t.Open, t.High, t.Low = day.Open, max(t.High, day.High), min(t.Low, day.Low)
		t.Volume, t.QuoteVolume, t.Count = day.Volume, day.QuoteVolume, day.Trades
	}
	t.Change = t.Last - t.Open
	t.WeightedAverage = b.symbol.PriceAmount(t.Last)
	if t.Open > 0 {
		t.ChangePercent = float64(float64(t.Change) / float64(t.Open) * 100)
	}
	if t.Volume > 0 && t.QuoteVolume > 0 {
		t.WeightedAverage = b.mean(t.QuoteVolume / t.Volume)
	}
	return t
}

// since sums up the candles that open from a time on.
func (b marketData) since(fromMS int64) (sum exchange.Candle) {
	interval, recorded := b.tickerInterval()
	base, quote := b.volumeSteps(recorded)
	list, first := &b.candles.base, 0
	if recorded || b.last == 0 {
		list = b.window(interval, fromMS, 0, true, 0, 2000)
	} else {
		b.candles.roll(b.exchange.nowMS, b.last)
		if b.past != nil && fromMS < b.past.toMS && list.OpenMS[0] == b.past.toMS {
			sum = b.past.since(b.orderBook, fromMS)
		}
		first = sort.Search(list.Len(), func(i int) bool { return list.OpenMS[i] >= fromMS })
	}
	for i := first; i < list.Len(); i++ {
		addTo(&sum, new(list.At(i)), base, quote)
	}
	return sum
}

// mean returns a mean price with four more places than prices have; rounding would lose the mean of
// a coin at 0.00001.
func (b marketData) mean(price float64) exchange.Amount {
	const finer = 10_000
	units := price / b.symbol.PriceFloat(1)
	if units > float64(maxPrice) {
		return b.symbol.PriceAmount(maxPrice)
	}
	whole := exchange.Price(units)
	part := b.symbol.PriceAmount(exchange.Price((units - float64(whole)) * finer)).Div(finer)
	return b.symbol.PriceAmount(whole).Add(part)
}

// tickerInterval returns the shortest interval of the market's recorded candles, or else a minute.
func (b marketData) tickerInterval() (interval exchange.Interval, recorded bool) {
	for _, interval := range exchange.Intervals() {
		if closed, _, _ := b.market.candlesOf(b.orderBook, interval); closed != nil && interval < exchange.Day1 {
			return interval, true
		}
	}
	return exchange.Minute1, false
}

// candlesFor answers a candle request of either market.
func (b marketData) candlesFor(request *exchange.Request) (*exchange.Candles, *exchange.Refusal) {
	op, interval := request.Operation, request.Interval
	spot := op == exchange.SpotCandles
	known := false
	for _, each := range exchange.Intervals() {
		// Spot names no 30m and no 1w (interface, Spot public).
		known = known || each == interval && !(spot && (each == exchange.Minute30 || each == exchange.Week1))
	}
	standard, maximum := 500, exchange.FuturesCandlesPage
	if spot {
		standard, maximum = 100, exchange.SpotCandlesPage
	}
	count, refusal := limit(request, standard, maximum)
	switch {
	case refusal != nil:
		return nil, refusal
	case !known:
		return nil, refuse(op, CodeParameter, "interval %q is not served", interval)
	case request.StartMS < 0 || request.EndMS < 0:
		return nil, refuse(op, CodeParameter, "startTime %d and endTime %d are not both 0 or later", request.StartMS, request.EndMS)
	case spot && request.EndMS == 0:
		return nil, refuse(op, CodeParameter, "startTime and endTime are required")
	}
	offset := 0
	if spot {
		offset = request.Offset
	}
	return b.window(interval, request.StartMS, request.EndMS, spot || request.StartMS > 0, offset, count), nil
}
