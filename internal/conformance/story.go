package conformance

import (
	"math"
	"slices"

	"botd/exchange"
)

// tape holds the answers of a symbol's public operations.
type tape struct {
	symbol *exchange.Symbol
	ticker exchange.Ticker
	depth  exchange.Depth
	trades []exchange.Trade
	minute *exchange.Candles
}

// symbol reads everything about one symbol and checks that it is consistent.
func (s *story) symbol(symbol *exchange.Symbol, listed exchange.Ticker) {
	t := &tape{symbol: symbol}
	name := symbol.Key().String()
	answer, ok := s.ask(exchange.Request{Operation: exchange.FuturesTicker.On(symbol.Market), Symbol: symbol.Name})
	if !ok {
		return
	}
	t.ticker = answer.Tickers.Items()[0]
	s.note("ticker, alone and in the list: "+name, s.near(symbol, "lastPrice", listed.Last, t.ticker.Last))
	orderBook, ok := s.ask(exchange.Request{Operation: exchange.FuturesDepth.On(symbol.Market), Symbol: symbol.Name, Limit: 100})
	if !ok {
		return
	}
	t.depth = orderBook.Depth
	trades, ok := s.ask(exchange.Request{Operation: exchange.FuturesTrades.On(symbol.Market), Symbol: symbol.Name, Limit: 1000})
	if !ok {
		return
	}
	t.trades = slices.Clone(trades.Trades.Items())
	slices.SortFunc(t.trades, func(a, b exchange.Trade) int { return int(min(1, max(-1, a.ID-b.ID))) })
	candles := s.intervals(t)
	if t.minute = candles[exchange.Minute1]; t.minute == nil || t.minute.Len() == 0 {
		return
	}
	if s.last == nil {
		s.last = map[exchange.SymbolKey]float64{}
	}
	s.last[symbol.Key()] = symbol.PriceFloat(t.ticker.Last)
	s.note("ticker: "+name, s.checkTicker(t)...)
	s.note("ticker and candles: "+name, s.checkDay(t)...)
	s.note("book: "+name, s.checkOrderBook(t)...)
	s.note("trades: "+name, s.checkTrades(t)...)
	s.note("trades and candles: "+name, s.checkMinutes(t)...)
	for i, interval := range exchange.Intervals()[1:] {
		shorter := candles[exchange.Intervals()[i]]
		if longer := candles[interval]; longer != nil {
			if shorter == nil || interval == exchange.Week1 {
				shorter = candles[exchange.Day1]
			}
			if interval == exchange.Hour1 && candles[exchange.Minute30] == nil { // spot has no such candles
				shorter = candles[exchange.Minute15]
			}
			s.note("candles of "+interval.String()+": "+name, s.checkMerged(shorter, longer)...)
		}
	}
}

// intervals reads the candles of every interval the market serves.
func (s *story) intervals(t *tape) map[exchange.Interval]*exchange.Candles {
	all := map[exchange.Interval]*exchange.Candles{}
	for _, interval := range exchange.Intervals() {
		request := exchange.Request{Operation: exchange.FuturesCandles, Symbol: t.symbol.Name, Interval: interval, Limit: 1500}
		if t.symbol.Market == exchange.Spot {
			if interval == exchange.Minute30 || interval == exchange.Week1 {
				continue // spot does not define it (interface, Spot public)
			}
			request.Operation, request.Limit = exchange.SpotCandles, 500
			request.EndMS = s.nowMS + int64(exchange.Day1)
			request.StartMS = max(1, interval.OpenOf(s.nowMS)-499*int64(interval))
		}
		if answer, ok := s.ask(request); ok {
			all[interval] = answer.Candles
			s.note("candles of "+interval.String()+", each: "+t.symbol.Key().String(), s.checkCandles(t.symbol, answer.Candles)...)
		}
	}
	return all
}

// near compares two prices from successive reads.
func (s *story) near(symbol *exchange.Symbol, what string, one, other exchange.Price) error {
	off := math.Abs(float64(one - other))
	return when(off > float64(one)*s.bounds.Moves.Float(), "%s: %s and %s", what, symbol.PriceDecimal(one), symbol.PriceDecimal(other))
}

func (s *story) checkCandles(symbol *exchange.Symbol, c *exchange.Candles) []error {
	var faults []error
	for i := range c.Len() {
		candle := c.At(i)
		faults = append(faults, candle.Plausible(),
			when(!symbol.OnPriceTick(candle.Open) || !symbol.OnPriceTick(candle.High) || !symbol.OnPriceTick(candle.Low) || !symbol.OnPriceTick(candle.Close),
				"candle %d: %v is not on the tick", candle.OpenMS, candle),
			when(candle.OpenMS != c.Interval.OpenOf(candle.OpenMS), "open time %d is no multiple of %s", candle.OpenMS, c.Interval),
			when(i > 0 && candle.OpenMS != c.CloseMS(i-1), "candle %d does not follow the one of %d", candle.OpenMS, c.OpenMS[max(0, i-1)]),
			when(candle.TakerBase > candle.Volume*(1+1e-9), "candle %d: takers bought %v of %v", candle.OpenMS, candle.TakerBase, candle.Volume))
		if len(faults) > 200 {
			break
		}
	}
	return append(faults, when(c.Len() == 0, "no candle"),
		when(c.Len() > 0 && c.OpenMS[c.Len()-1] > s.nowMS+int64(exchange.Minute1), "the newest begins in the future"))
}

// checkMerged compares the complete longer candles with the shorter ones they consist of.
func (s *story) checkMerged(shorter, longer *exchange.Candles) []error {
	if shorter == nil || longer == nil {
		return nil
	}
	var faults []error
	for i := range longer.Len() {
		from, found := slices.BinarySearch(shorter.OpenMS, longer.OpenMS[i])
		to, _ := slices.BinarySearch(shorter.OpenMS, longer.CloseMS(i))
		closed := s.bounds == Bounds{} || longer.CloseMS(i) < s.nowMS
		if !found || to == from || !closed {
			continue
		}
		want, have := merged(shorter.Slice(from, to)), longer.At(i)
		faults = append(faults, when(want.Open != have.Open || want.High != have.High || want.Low != have.Low || want.Close != have.Close,
			"%s candle of %d: want %d %d %d %d from %s ones, have %d %d %d %d", longer.Interval, have.OpenMS,
			want.Open, want.High, want.Low, want.Close, shorter.Interval, have.Open, have.High, have.Low, have.Close),
			when(want.Trades != have.Trades || !sameVolume(&want, &have),
				"%s candle of %d: want volume %v in %d trades, have %v in %d", longer.Interval, have.OpenMS, want.Volume, want.Trades, have.Volume,
				have.Trades))
	}
	return faults
}

// merged merges several candles into one.
func merged(c *exchange.Candles) exchange.Candle {
	sum := c.At(0)
	for i := 1; i < c.Len(); i++ {
		sum.Join(new(c.At(i)))
	}
	return sum
}

// sameVolume compares the sums of two candles.
func sameVolume(a, b *exchange.Candle) bool {
	return alike(a.Volume, b.Volume) && alike(a.QuoteVolume, b.QuoteVolume) && alike(a.TakerBase, b.TakerBase) && alike(a.TakerQuote, b.TakerQuote)
}

// alike compares sums of volumes, which are floats.
func alike(a, b float64) bool { return math.Abs(a-b) <= 1e-6*max(1, math.Abs(a), math.Abs(b)) }
