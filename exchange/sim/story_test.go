package sim

import (
	"fmt"
	"math"
	"testing"

	"github.com/shopspring/decimal"

	"botd/exchange"
)

// TestTradesCandlesTickersAndDepthAgree compares what each list shows of the same trades, in the past and after the start, at
// every interval. Each market and symbol is a separate test, so each is short.
func TestTradesCandlesTickersAndDepthAgree(t *testing.T) {
	t.Parallel()
	wantOneStoryOf(t, exchange.Futures, "BTC-USDT", 0)
}

func TestTradesCandlesTickersAndDepthAgreeOnSpot(t *testing.T) {
	t.Parallel()
	wantOneStoryOf(t, exchange.Spot, "BTC-USDT", 1)
}

func TestTradesCandlesTickersAndDepthAgreeOfASmallPrice(t *testing.T) {
	t.Parallel()
	wantOneStoryOf(t, exchange.Futures, "PEPE-USDT", 1)
}

func TestTradesCandlesTickersAndDepthAgreeOfASmallPriceOnSpot(t *testing.T) {
	t.Parallel()
	wantOneStoryOf(t, exchange.Spot, "PEPE-USDT", 0)
}

func wantOneStoryOf(t *testing.T, market exchange.Market, name string, seed uint64) {
	t.Helper()
	for _, random := range []bool{true, false} { // otherwise still
		d := newDesk(t, Config{StartMS: startMS + int64(seed+1)*7_654_321}).on(market, name)
		if random {
			d.SetMarket(d.key(), Random(seed))
		}
		d.wantOneStory(false)
		for step := range int64(30) { // fills at the quotes and through them, set prices, pauses
			d.fillSome(mix(seed<<8 + uint64(step)))
			d.Advance(d.NowMS() + int64(mix(uint64(step))%9_000))
		}
		d.wantOneStory(false)
		d.Advance(d.NowMS() + 90*60_000)
		d.wantOneStory(true)
	}
}

// With many symbols, few minutes of the past have trades.
func TestTheListsOfOneOfManySymbolsAgree(t *testing.T) {
	t.Parallel()
	wantOneStoryAmong(t, 12, 60)
}

// Every sixteenth minute has trades.
func TestTheListsOfOneOfSixHundredSymbolsAgree(t *testing.T) {
	t.Parallel()
	wantOneStoryAmong(t, 600)
}

// The bound is 350,000, with 30 a minute for few symbols, otherwise 6 in one of 1, 2, 4, 8... minutes.
func TestRandomPastsAreBounded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ orderBooks, every, perMinute int64 }{
		{1, 1, 30}, {8, 1, 30}, {9, 1, 6}, {40, 1, 6}, {41, 2, 6}, {81, 2, 6}, {82, 4, 6}, {162, 4, 6}, {163, 8, 6}, {2_000, 64, 6},
	} {
		p := &past{}
		p.spread(c.orderBooks)
		if p.every != c.every || p.perMinute != c.perMinute {
			t.Errorf("%d symbols: want %d trades in one of %d minutes, have %d in one of %d", c.orderBooks, c.perMinute, c.every, p.perMinute, p.every)
		}
		if trades := c.orderBooks * 1_440 * p.perMinute / p.every; trades > 350_000 {
			t.Errorf("%d symbols: %d trades a day", c.orderBooks, trades)
		}
	}
}

func wantOneStoryAmong(t *testing.T, others ...int) {
	t.Helper()
	for _, more := range others {
		symbols := DefaultSymbols()
		for i := range more {
			symbol, err := exchange.NewSymbol(exchange.SymbolSpec{Market: exchange.Futures, Name: fmt.Sprintf("S%04d-USDT", i), Base: fmt.Sprintf("S%04d", i),
				Quote: "USDT", PriceTick: decimal.RequireFromString("0.01"), QuantityTick: decimal.RequireFromString("0.01"),
				MinNotional: decimal.NewFromInt(5), MaxNotional: decimal.NewFromInt(1_000_000), Brackets: DefaultBrackets(), Tradable: true,
				Cancelable: true, FundingIntervalHours: 8})
			if err != nil {
				t.Fatal(err)
			}
			symbols = append(symbols, symbol)
		}
		d := newDesk(t, Config{StartMS: startMS + 7_654_321, Symbols: symbols}).on(exchange.Futures, "BTC-USDT")
		d.SetMarket(d.key(), Random(uint64(more)))
		if past := d.find(d.key()).past; past.perMinute != fewTrades || (past.every > 1) != (more > 12) {
			t.Errorf("%d symbols: want few trades, have %d in one of %d minutes", len(symbols), past.perMinute, past.every)
		}
		d.wantOneStory(true)
		d.Advance(d.NowMS() + 90*60_000)
		d.wantOneStory(true)
	}
}

// fillSome trades against the market.
func (d *desk) fillSome(draw uint64) {
	side := exchange.Side(exchange.Buy)
	if draw&1 == 0 {
		side = exchange.Sell
	}
	order := exchange.NewOrder{Market: d.market, Symbol: d.name, Side: side, Type: exchange.MarketOrder, QuoteAmount: exchange.AmountOf(int64(50 + draw%400))}
	if b := d.find(d.key()); d.market == exchange.Futures {
		order.QuoteAmount = exchange.Amount{}
		order.Quantity = max(quantityFor(b.symbol, exchange.AmountOf(int64(50+draw%30_000)), b.last), b.symbol.QuantityTick)
	}
	d.try(order)
	if last, _ := d.Price(d.key()); draw%11 == 0 {
		price := d.Symbol(d.key()).FloorPrice(last + last/exchange.Price(200+draw%300))
		if err := d.SetPrice(d.key(), price, 0); err != nil {
			d.Fatal(err)
		}
	}
}

// wantOneStory checks all lists of the desk's symbol. Every trade is compared: those of the past are computed
// together here, while an answer contains at most a thousand.
func (d *desk) wantOneStory(whole bool) {
	d.Helper()
	b := d.find(d.key())
	trades := b.trades
	if len(trades) < maxTrades { // none was dropped yet
		trades = marketData{b}.lastTrades(len(trades) + 40_000)
	}
	for i := 1; i < len(trades); i++ {
		if a, c := &trades[i-1], &trades[i]; c.ID != a.ID+1 || c.TimeMS < a.TimeMS {
			d.Fatalf("trade %d at %d follows %d at %d", c.ID, c.TimeMS, a.ID, a.TimeMS)
		}
	}
	minutes := d.candles(exchange.Minute1)
	d.wantCandlesOf(minutes, trades)
	for _, interval := range exchange.Intervals() {
		if interval != exchange.Minute1 && (whole || interval == exchange.Minute5) && (d.market == exchange.Futures ||
			interval != exchange.Minute30 && interval != exchange.Week1) {
			d.wantMerged(interval, minutes)
		}
	}
	d.wantTickerOf(minutes)
}

// candles reads all candles of an interval, in pages.
func (d *desk) candles(interval exchange.Interval) *exchange.Candles {
	d.Helper()
	all := &exchange.Candles{Interval: interval}
	operation, limit := exchange.FuturesCandles, 1500
	if d.market == exchange.Spot {
		operation, limit = exchange.SpotCandles, 500
	}
	for fromMS := int64(1); ; {
		page := d.do(exchange.Request{Operation: operation, Symbol: d.name, Interval: interval, StartMS: fromMS, EndMS: d.NowMS(), Limit: limit}).Candles
		for i := range page.Len() {
			all.Append(page.At(i))
		}
		if page.Len() < limit {
			return all
		}
		fromMS = page.OpenMS[page.Len()-1] + 1
	}
}

// wantCandlesOf compares minutes with their trades.
func (d *desk) wantCandlesOf(minutes *exchange.Candles, trades []exchange.Trade) {
	d.Helper()
	b := d.find(d.key())
	at, firstMS := 0, int64(math.MaxInt64)
	if len(trades) > 0 {
		firstMS = exchange.Minute1.OpenOf(trades[0].TimeMS)
		if b.past != nil { // their first minute may be incomplete
			firstMS += int64(exchange.Minute1)
		}
	}
	for at < len(trades) && trades[at].TimeMS < firstMS {
		at++
	}
	for i := range minutes.Len() {
		c := minutes.At(i)
		where := fmt.Sprintf("%s minute %d of %d", d.key(), i, minutes.Len())
		if i > 0 && (c.OpenMS != minutes.OpenMS[i-1]+60_000 || c.Open != minutes.Close[i-1]) {
			d.Fatalf("%s: want it to open at the close before, %d, have %+v", where, minutes.Close[i-1], c)
		}
		if low, high := c.Volume*b.symbol.PriceFloat(c.Low), c.Volume*b.symbol.PriceFloat(c.High); c.QuoteVolume < low*(1-1e-9) ||
			c.QuoteVolume > high*(1+1e-9) {
			d.Fatalf("%s: want a quote volume of %v to %v, have %+v", where, low, high, c)
		}
		if c.OpenMS < firstMS {
			continue
		}
		have := exchange.Candle{}
		for first := at; at < len(trades) && trades[at].TimeMS < c.OpenMS+60_000; at++ {
			trade := &trades[at]
			if trade.Price < c.Low || trade.Price > c.High {
				d.Fatalf("%s: trade %d at %d is outside of %+v", where, trade.ID, trade.Price, c)
			}
			if first == at && b.liquiditySeed != 0 && trade.TimeMS == c.OpenMS && trade.Price != c.Open {
				d.Fatalf("%s: want it to open with its first trade at %d, have %+v", where, trade.Price, c)
			}
			quantity := b.symbol.QuantityFloat(trade.Quantity)
			have.Volume, have.QuoteVolume, have.Trades = have.Volume+quantity, have.QuoteVolume+quantity*b.symbol.PriceFloat(trade.Price), have.Trades+1
		}
		if have.Trades != c.Trades || !near(have.Volume, c.Volume) || !near(have.QuoteVolume, c.QuoteVolume) {
			d.Fatalf("%s: want the sums of its trades, %+v, have %+v", where, have, c)
		}
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b)) }

// wantMerged compares an interval with its minutes.
func (d *desk) wantMerged(interval exchange.Interval, minutes *exchange.Candles) {
	d.Helper()
	want := &exchange.Candles{Interval: interval}
	for i := range minutes.Len() {
		want.Merge(minutes.At(i))
	}
	have := d.candles(interval)
	if have.Len() != want.Len() {
		d.Fatalf("%s %s: want %d candles, have %d", d.key(), interval, want.Len(), have.Len())
	}
	for i := range want.Len() {
		w, h := want.At(i), have.At(i)
		if !near(w.Volume, h.Volume) || !near(w.QuoteVolume, h.QuoteVolume) || !near(w.TakerBase, h.TakerBase) || !near(w.TakerQuote, h.TakerQuote) {
			d.Fatalf("%s %s candle %d: want the volumes of its minutes, %+v, have %+v", d.key(), interval, i, w, h)
		}
		w.Volume, w.QuoteVolume, w.TakerBase, w.TakerQuote = h.Volume, h.QuoteVolume, h.TakerBase, h.TakerQuote
		if w != h {
			d.Fatalf("%s %s candle %d: want %+v, have %+v", d.key(), interval, i, w, h)
		}
	}
}

// wantTickerOf compares the ticker with the minutes of 24 hours, and with the order book.
func (d *desk) wantTickerOf(minutes *exchange.Candles) {
	d.Helper()
	ticker, depth := exchange.FuturesTicker, exchange.FuturesDepth
	if d.market == exchange.Spot {
		ticker, depth = exchange.SpotTicker, exchange.SpotDepth
	}
	k := d.do(exchange.Request{Operation: ticker, Symbol: d.name}).Tickers.Items()[0]
	want := exchange.Candle{}
	for i := range minutes.Len() {
		if part := minutes.At(i); part.OpenMS >= d.NowMS()-int64(exchange.Day1) {
			addTo(&want, &part, 1e12, 1e12)
		}
	}
	if k.Open != want.Open || k.High != want.High || k.Low != want.Low || k.Last != want.Close || k.Count != want.Trades || !near(k.Volume, want.Volume) ||
		!near(k.QuoteVolume, want.QuoteVolume) {
		d.Fatalf("%s: want the day of the minutes, %+v, have %+v", d.key(), want, k)
	}
	orderBook := d.do(exchange.Request{Operation: depth, Symbol: d.name, Limit: 5}).Depth
	if orderBook.Bids[0].Price != k.Bid || orderBook.Asks[0].Price != k.Ask || k.Bid >= k.Ask {
		d.Fatalf("%s: want the book's best quotes, %+v and %+v, have %d and %d", d.key(), orderBook.Bids[0], orderBook.Asks[0], k.Bid, k.Ask)
	}
}

// TestRecordedCandlesAgreeWithTheirTrades plays candles of a minute and of a quarter of an hour, with and without the optional
// columns, and compares them with their public trades, while accounts trade. Where the recording counts trades that are not
// available, its numbers are shown, plus the accounts' trades.
func TestRecordedCandlesAgreeWithTheirTrades(t *testing.T) {
	t.Parallel()
	for _, interval := range []exchange.Interval{exchange.Minute1, exchange.Minute15} {
		for _, market := range []exchange.Market{exchange.Futures, exchange.Spot} {
			for _, whole := range []bool{false, true} {
				d := newDesk(t, Config{}).on(market, "BTC-USDT")
				recorded := recordedDay(interval, whole)
				d.SetMarket(d.key(), Tape(recorded, TapeConfig{SpreadTicks: 1}))
				for step := range int64(60) {
					d.fillSome(mix(uint64(step)) | 1 | 1<<20)
					d.Advance(d.NowMS() + int64(mix(uint64(step)^7)%uint64(interval/3)))
				}
				d.Advance(d.NowMS() + 3*int64(interval))
				d.wantRecordedStory(interval, whole)
			}
		}
	}
}

// recordedDay returns candles that open at the previous close.
func recordedDay(interval exchange.Interval, whole bool) *exchange.Candles {
	c := &exchange.Candles{Interval: interval}
	last := exchange.Price(5_000_000_000_000)
	for i := range int64(200) {
		move := func(kind uint64) exchange.Price { return exchange.Price(mix(uint64(i)^kind<<40)%900) * 10_000_000 }
		one := exchange.Candle{OpenMS: startMS + i*int64(interval), Open: last, Close: last + move(1) - move(2)}
		one.High, one.Low = max(one.Open, one.Close)+move(3), min(one.Open, one.Close)-move(4)
		if one.Volume = float64(mix(uint64(i))%90_000) / 1000; i%17 == 3 {
			one = exchange.Candle{OpenMS: one.OpenMS, Open: last, High: last, Low: last, Close: last}
		}
		if whole && one.Volume > 0 {
			one.QuoteVolume, one.Trades, one.TakerBase, one.TakerQuote = one.Volume*50_000, 7_000, one.Volume/3, one.Volume*50_000/3
		}
		last = one.Close
		c.Append(one)
	}
	return c
}

// wantRecordedStory compares candles with all their trades.
func (d *desk) wantRecordedStory(interval exchange.Interval, whole bool) {
	d.Helper()
	b := d.find(d.key())
	candles, trades := d.candles(interval), marketData{b}.lastTrades(maxTrades)
	if candles.Len() < 8 || len(trades) < 30 {
		d.Fatalf("want candles and trades to compare, have %d and %d", candles.Len(), len(trades))
	}
	for i := range candles.Len() {
		c, sum, own := candles.At(i), exchange.Candle{}, exchange.Candle{}
		for _, trade := range trades {
			if trade.TimeMS < c.OpenMS || trade.TimeMS >= c.OpenMS+int64(interval) {
				continue
			}
			if trade.Price < c.Low || trade.Price > c.High {
				d.Fatalf("%s %s: trade %+v is outside of %+v", d.key(), interval, trade, c)
			}
			addTrade(b, &sum, &trade)
			if trade.TimeMS == c.OpenMS && own.Trades == 0 {
				own.Trades, own.Open = 1, trade.Price
			}
		}
		if own.Trades > 0 && own.Open != c.Open {
			d.Fatalf("%s %s candle %d: want it to open with its first trade at %d, have %+v", d.key(), interval, i, own.Open, c)
		}
		if c.Volume != snapped(c.Volume, recordedGrain) || c.TakerBase != snapped(c.TakerBase, recordedGrain) {
			d.Fatalf("%s %s candle %d: want no noise in its numbers, have %+v", d.key(), interval, i, c)
		}
		tick := b.symbol.QuantityFloat(b.symbol.QuantityTick)
		if math.Abs(sum.Volume-c.Volume) > tick+1e-9 || (c.Volume == 0) != (c.Trades == 0) {
			d.Fatalf("%s %s candle %d: want the volume of its trades %+v, have %+v", d.key(), interval, i, sum, c)
		}
		if !whole && (sum.Trades != c.Trades || !near(sum.QuoteVolume, c.QuoteVolume) || !near(sum.TakerBase, c.TakerBase)) {
			d.Fatalf("%s %s candle %d: want the sums of its trades %+v, have %+v", d.key(), interval, i, sum, c)
		}
	}
	for _, longer := range []exchange.Interval{exchange.Minute30, exchange.Hour1} {
		if d.market == exchange.Futures {
			d.wantMerged(longer, candles)
		}
	}
	d.wantTickerOf(candles)
}
