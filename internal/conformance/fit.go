package conformance

import (
	"math"
	"sort"

	"botd/exchange"
)

// checkTicker checks one symbol's statistics on their own.
func (s *story) checkTicker(t *tape) []error {
	k, part := &t.ticker, 1e-6
	if s.bounds != (Bounds{}) {
		part = 0.01 // a venue may round: percentages to two places, an average to the tick of a coarse symbol
	}
	faults := []error{
		when(k.Symbol != t.symbol.Name, "the ticker is of %q", k.Symbol),
		when(k.Last <= 0, "lastPrice is not above 0"),
		when(k.High < k.Low || k.Open > k.High || k.Open < k.Low || k.Last > k.High || k.Last < k.Low,
			"open %d and last %d are not within low %d and high %d", k.Open, k.Last, k.Low, k.High),
		when(k.Change != k.Last-k.Open, "priceChange %d is not last %d - open %d", k.Change, k.Last, k.Open),
		when(math.Abs(k.ChangePercent-float64(float64(k.Change)/float64(k.Open)*100)) > part, "priceChangePercent %v is not %d of %d", k.ChangePercent,
			k.Change, k.Open),
		when(k.CloseMS > s.nowMS+int64(exchange.Minute1), "it is of %d, the server's time is %d", k.CloseMS, s.nowMS),
		when(k.Volume < 0 || k.QuoteVolume < 0, "volume %v, quoteVolume %v", k.Volume, k.QuoteVolume),
	}
	if t.symbol.Market == exchange.Spot {
		return append(faults, when(k.Volume > 0 && math.Abs(float64(k.WeightedAverage.Float()*k.Volume)-k.QuoteVolume) > k.QuoteVolume*part,
			"weightedAvgPrice %s is not quoteVolume %v / volume %v", k.WeightedAverage, k.QuoteVolume, k.Volume))
	}
	return append(faults, when(k.Bid >= k.Ask, "bid %d is not below ask %d", k.Bid, k.Ask),
		when(k.CloseMS-k.OpenMS != int64(exchange.Day1), "it counts %d ms, not 24 hours", k.CloseMS-k.OpenMS))
}

// checkDay compares the statistics with the minute candles of 24 hours.
func (s *story) checkDay(t *tape) []error {
	c := t.minute
	faults := []error{s.near(t.symbol, "lastPrice and the newest candle's close", t.ticker.Last, c.Close[c.Len()-1])}
	startMS := t.ticker.CloseMS - int64(exchange.Day1)
	from := sort.Search(c.Len(), func(i int) bool { return c.OpenMS[i] >= startMS })
	if from == 0 && c.OpenMS[0] > startMS || (s.bounds != Bounds{}) {
		return faults // the candles do not reach back that far, or new ones appeared
	}
	day := merged(c.Slice(from, c.Len()))
	k := &t.ticker
	return append(faults, when(k.High != day.High || k.Low != day.Low || k.Open != day.Open,
		"want open %d high %d low %d by the candles, have %d %d %d", day.Open, day.High, day.Low, k.Open, k.High, k.Low),
		when(!alike(k.Volume, day.Volume) || !alike(k.QuoteVolume, day.QuoteVolume), "want volume %v by the candles, have %v", day.Volume, k.Volume),
		when(t.symbol.Market == exchange.Futures && k.Count != day.Trades, "want %d trades by the candles, have %d", day.Trades, k.Count))
}

// checkOrderBook checks the order book, and its distance from the last price.
func (s *story) checkOrderBook(t *tape) []error {
	d := &t.depth
	if len(d.Bids) == 0 || len(d.Asks) == 0 {
		return []error{when(true, "%d bids and %d asks", len(d.Bids), len(d.Asks))}
	}
	faults := []error{
		when(d.Bids[0].Price >= d.Asks[0].Price, "bid %d is not below ask %d", d.Bids[0].Price, d.Asks[0].Price),
		when(len(d.Bids) > 100 || len(d.Asks) > 100, "%d bids and %d asks are more than were asked for", len(d.Bids), len(d.Asks)),
		s.near(t.symbol, "best bid and lastPrice", min(d.Bids[0].Price, t.ticker.Last), t.ticker.Last-t.reach(t.ticker.Last-d.Bids[0].Price)),
		s.near(t.symbol, "best ask and lastPrice", max(d.Asks[0].Price, t.ticker.Last), t.ticker.Last+t.reach(d.Asks[0].Price-t.ticker.Last)),
	}
	if t.symbol.Market == exchange.Futures {
		faults = append(faults, s.near(t.symbol, "best bid and bidPrice", d.Bids[0].Price, t.ticker.Bid),
			s.near(t.symbol, "best ask and askPrice", d.Asks[0].Price, t.ticker.Ask))
	}
	for i, levels := range [][]exchange.Level{d.Bids, d.Asks} {
		for j, level := range levels {
			faults = append(faults, when(level.Quantity <= 0 || level.Price <= 0, "level %d: %d at %d", j, level.Quantity, level.Price),
				when(!t.symbol.OnPriceTick(level.Price), "level %d: price %d is not on the tick", j, level.Price),
				when(!t.symbol.OnQuantityTick(level.Quantity), "level %d: quantity %d is not on the tick", j, level.Quantity))
			if j > 0 {
				faults = append(faults, when((level.Price < levels[j-1].Price) != (i == 0), "level %d is not behind the one before", j))
			}
		}
	}
	return faults
}

// reach returns the permitted distance of a quote from the last price: 0.2 %, or some ticks of a coarse symbol.
func (t *tape) reach(off exchange.Price) exchange.Price {
	return min(max(0, off), max(t.ticker.Last/500, 20*t.symbol.PriceTick))
}

// checkTrades checks the public trades on their own, oldest first.
func (s *story) checkTrades(t *tape) []error {
	faults := []error{when(len(t.trades) > 1000, "%d trades are more than were asked for", len(t.trades))}
	for i := range t.trades {
		trade := &t.trades[i]
		faults = append(faults, when(trade.Price <= 0 || trade.Quantity <= 0, "trade %d: %d at %d", trade.ID, trade.Quantity, trade.Price),
			when(!t.symbol.OnPriceTick(trade.Price) || !t.symbol.OnQuantityTick(trade.Quantity), "trade %d: %d at %d is not on the ticks", trade.ID,
				trade.Quantity, trade.Price),
			when(trade.TimeMS > s.nowMS+int64(exchange.Minute1), "trade %d is of the future", trade.ID),
			when(t.symbol.Market == exchange.Spot && trade.QuoteAmount != t.symbol.Notional(trade.Price, trade.Quantity),
				"trade %d: quoteQty %s is not price x qty", trade.ID, trade.QuoteAmount))
		if i > 0 {
			faults = append(faults, when(trade.ID == t.trades[i-1].ID, "trade %d is there twice", trade.ID),
				when(trade.TimeMS < t.trades[i-1].TimeMS, "trade %d is older than the one before", trade.ID))
		}
		if len(faults) > 5000 {
			break
		}
	}
	if n := len(t.trades); n > 0 && !s.bounds.Own {
		faults = append(faults, s.near(t.symbol, "the newest trade and lastPrice", t.trades[n-1].Price, t.ticker.Last))
	}
	return faults
}

// checkMinutes compares each minute that the trades cover completely with its candle.
func (s *story) checkMinutes(t *tape) []error {
	if len(t.trades) == 0 {
		return nil
	}
	var faults []error
	firstMS := exchange.Minute1.OpenOf(t.trades[0].TimeMS) + int64(exchange.Minute1)
	for i := range t.minute.Len() {
		candle := t.minute.At(i)
		closed := s.bounds == Bounds{} || t.minute.CloseMS(i) < s.nowMS
		if candle.OpenMS < firstMS || !closed {
			continue
		}
		from := sort.Search(len(t.trades), func(j int) bool { return t.trades[j].TimeMS >= candle.OpenMS })
		to := sort.Search(len(t.trades), func(j int) bool { return t.trades[j].TimeMS >= t.minute.CloseMS(i) })
		faults = append(faults, t.fits(candle, t.trades[from:to], s.bounds.Own))
	}
	return faults
}

// fits compares a minute's trades with its candle.
func (t *tape) fits(candle exchange.Candle, trades []exchange.Trade, own bool) error {
	if candle.Trades != int64(len(trades)) {
		return when(true, "candle %d counts %d trades, there are %d", candle.OpenMS, candle.Trades, len(trades))
	}
	var have exchange.Candle
	for i := range trades {
		quantity := t.symbol.QuantityFloat(trades[i].Quantity)
		value := float64(quantity * t.symbol.PriceFloat(trades[i].Price))
		have.Volume, have.QuoteVolume = have.Volume+quantity, have.QuoteVolume+value
		if !trades[i].BuyerIsMaker {
			have.TakerBase, have.TakerQuote = have.TakerBase+quantity, have.TakerQuote+value
		}
		if trades[i].Price > candle.High || trades[i].Price < candle.Low {
			return when(true, "trade %d at %d is outside of candle %d: %d to %d", trades[i].ID, trades[i].Price, candle.OpenMS, candle.Low, candle.High)
		}
	}
	if n := len(trades); n > 0 && !own && trades[n-1].Price != candle.Close {
		return when(true, "candle %d closes at %d, its last trade was at %d", candle.OpenMS, candle.Close, trades[n-1].Price)
	}
	return when(!sameVolume(&candle, &have), "candle %d: %v, the trades say %v", candle.OpenMS, candle, have)
}

// funding checks a futures symbol's funding.
func (s *story) funding(symbol *exchange.Symbol) {
	answer, ok := s.ask(exchange.Request{Operation: exchange.FuturesFundingRate, Symbol: symbol.Name})
	if !ok {
		return
	}
	f := answer.Funding
	interval := int64(symbol.FundingIntervalHours) * int64(exchange.Hour1)
	s.note("funding: "+symbol.Name, when(f.Symbol != symbol.Name, "it is of %q", f.Symbol),
		when(f.Rate > symbol.FundingCap || f.Rate < symbol.FundingFloor, "rate %s is outside %s..%s", f.Rate, symbol.FundingFloor, symbol.FundingCap),
		when(f.NextMS <= s.nowMS || f.NextMS > s.nowMS+interval+int64(exchange.Minute1), "next payment %d, the server's time is %d", f.NextMS, s.nowMS),
		when(f.TimeMS != 0 && f.NextMS-f.TimeMS != interval, "payments %d and %d are not %d hours apart", f.TimeMS, f.NextMS, symbol.FundingIntervalHours))
}

// levels reads the margin levels of all symbols.
func (s *story) levels(market exchange.Market) map[string][]exchange.SymbolBracket {
	if market == exchange.Spot {
		return nil
	}
	answer, ok := s.ask(exchange.Request{Operation: exchange.FuturesMarginLevels})
	if !ok {
		return nil
	}
	all := map[string][]exchange.SymbolBracket{}
	for _, level := range answer.Levels.Items() {
		all[level.Symbol] = append(all[level.Symbol], level)
	}
	s.note("futures_margin_levels", when(len(all) == 0, "there are none"))
	return all
}

// bracketsOf checks a symbol's margin levels: they are contiguous, and maintenance margin does not jump between them.
func (s *story) bracketsOf(symbol *exchange.Symbol, listed map[string][]exchange.SymbolBracket) {
	answer, ok := s.ask(exchange.Request{Operation: exchange.FuturesSymbolMarginLevels, Symbol: symbol.Name})
	if !ok {
		return
	}
	levels := answer.Levels.Items()
	faults := []error{when(len(levels) == 0, "there are none"),
		when(len(levels) != len(listed[symbol.Name]), "%d, and %d in the list of all", len(levels), len(listed[symbol.Name]))}
	for i := 1; i < len(levels); i++ {
		before, level := levels[i-1], levels[i]
		faults = append(faults, when(before.Max != level.Min, "level %d begins at %s, the one before ends at %s", i, level.Min, before.Max),
			when(level.MaxLeverage > before.MaxLeverage, "level %d allows leverage %d, the one before %d", i, level.MaxLeverage, before.MaxLeverage),
			when(level.Min.MulRate(level.MarginRatio).Sub(level.MarginAmount) != before.Max.MulRate(before.MarginRatio).Sub(before.MarginAmount),
				"maintenance jumps at %s", level.Min))
	}
	s.note("margin levels: "+symbol.Name, faults...)
}
