package sim

import (
	"reflect"
	"slices"
	"testing"

	"github.com/shopspring/decimal"

	"botd/exchange"
)

// sums are the totals of public trades, in decimals.
type sums struct{ base, quote, takerBase, takerQuote decimal.Decimal }

func (s *sums) add(symbol *exchange.Symbol, trade *exchange.Trade) {
	quantity := symbol.QuantityDecimal(trade.Quantity)
	value := quantity.Mul(symbol.PriceDecimal(trade.Price))
	s.base, s.quote = s.base.Add(quantity), s.quote.Add(value)
	if !trade.BuyerIsMaker {
		s.takerBase, s.takerQuote = s.takerBase.Add(quantity), s.takerQuote.Add(value)
	}
}

func TestVolumesEqualTheSumOfTradesToTheLastDigit(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	for _, name := range []string{"BTC-USDT", "ETH-USDT", "SOL-USDT"} {
		d := d.on(exchange.Futures, name)
		d.SetMarket(d.key(), Random(7))
		symbol := d.Symbol(d.key())
		d.Advance(startMS + 15*60_000 - 1) // some 180 trades
		trades := d.do(exchange.Request{Operation: exchange.FuturesTrades, Symbol: name, Limit: 1000}).Trades.Items()
		if len(trades) < 100 {
			t.Fatalf("%s: want 100 trades at least, have %d", name, len(trades))
		}
		for _, interval := range []exchange.Interval{exchange.Minute1, exchange.Minute5, exchange.Minute15} {
			candles := d.do(exchange.Request{Operation: exchange.FuturesCandles, Symbol: name, Interval: interval, StartMS: startMS}).Candles
			for i := range candles.Len() {
				want := sums{}
				for j := range trades {
					if interval.OpenOf(trades[j].TimeMS) == candles.OpenMS[i] {
						want.add(symbol, &trades[j])
					}
				}
				c := candles.At(i)
				for _, number := range []struct {
					name string
					want decimal.Decimal
					have float64
				}{{"volume", want.base, c.Volume}, {"quote volume", want.quote, c.QuoteVolume},
					{"taker volume", want.takerBase, c.TakerBase}, {"taker quote volume", want.takerQuote, c.TakerQuote}} {
					if have := decimal.NewFromFloat(number.have); !have.Equal(number.want) {
						t.Fatalf("%s, %s of %d: want %s %s, have %s", name, interval, c.OpenMS, number.name, number.want, have)
					}
				}
			}
		}
	}
}

func TestTheTickersVolumeEqualsTheDaysCandles(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	d.SetMarket(d.key(), Random(7))
	d.Advance(startMS + 3*60_000)
	candles := d.do(exchange.Request{Operation: exchange.FuturesCandles, Symbol: "BTC-USDT", Interval: exchange.Minute1,
		StartMS: d.NowMS() - int64(exchange.Day1), Limit: 1500}).Candles
	ticker := d.do(exchange.Request{Operation: exchange.FuturesTicker, Symbol: "BTC-USDT"}).Tickers.Items()[0]
	volume, quote := decimal.Zero, decimal.Zero
	for i := range candles.Len() {
		volume, quote = volume.Add(decimal.NewFromFloat(candles.Volume[i])), quote.Add(decimal.NewFromFloat(candles.QuoteVolume[i]))
	}
	if have := decimal.NewFromFloat(ticker.Volume); !have.Equal(volume) {
		t.Fatalf("want volume %s, have %s", volume, have)
	}
	if have := decimal.NewFromFloat(ticker.QuoteVolume); !have.Equal(quote) {
		t.Fatalf("want quote volume %s, have %s", quote, have)
	}
}

func TestRecordedVolumesAreReportedAsRecordedAndAddUp(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	tape := &exchange.Candles{Interval: exchange.Minute1}
	texts := []string{"4217.23484", "0.00000001", "21986.01234567", "9999999.12345679", "0.1"}
	want := decimal.Zero
	for i, text := range texts {
		volume := decimal.RequireFromString(text)
		want = want.Add(volume)
		tape.Append(exchange.Candle{OpenMS: startMS + int64(i)*60_000, Open: d.p("50000"), High: d.p("50000"), Low: d.p("50000"), Close: d.p("50000"),
			Volume: volume.InexactFloat64(), QuoteVolume: volume.InexactFloat64(), TakerBase: volume.InexactFloat64(), TakerQuote: volume.InexactFloat64()})
	}
	d.SetMarket(d.key(), Tape(tape, TapeConfig{SpreadTicks: 1}))
	d.Advance(startMS + 5*60_000)
	minutes := d.do(exchange.Request{Operation: exchange.FuturesCandles, Symbol: "BTC-USDT", Interval: exchange.Minute1, StartMS: startMS}).Candles
	for i, text := range texts {
		if c := minutes.At(i); decimal.NewFromFloat(c.Volume).String() != text || c.QuoteVolume != c.Volume || c.TakerBase != c.Volume ||
			c.TakerQuote != c.Volume {
			t.Errorf("minute %d: want %s four times, have %+v", i, text, c)
		}
	}
	five := d.do(exchange.Request{Operation: exchange.FuturesCandles, Symbol: "BTC-USDT", Interval: exchange.Minute5, StartMS: startMS}).Candles
	if have := decimal.NewFromFloat(five.Volume[0]); !have.Equal(want) {
		t.Errorf("five minutes: want %s, have %s", want, have)
	}
}

// A backtest has no spread and does not use minutes, so a year of hours must not build half a million of
// them.
func TestARecordedMarketWithoutASpreadBuildsNoMinutes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		spread int
		want   int
	}{{0, 1}, {1, 1 + 2*60 + 1}} { // the first one is the still market's
		hours := &exchange.Candles{Interval: exchange.Hour1}
		for i := range int64(3) {
			hours.Append(exchange.Candle{OpenMS: i * int64(exchange.Hour1), Open: 500_000, High: 500_000, Low: 500_000, Close: 500_000, Volume: 1})
		}
		x, err := New(Config{Symbols: DefaultSymbols(), StartMS: -1})
		if err != nil {
			t.Fatal(err)
		}
		key := exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}
		x.SetMarket(key, Tape(hours, TapeConfig{SpreadTicks: c.spread}))
		x.Advance(2 * int64(exchange.Hour1))
		for _, b := range x.orderBooks {
			if b.symbol.Key() != key {
				continue
			}
			if have := b.candles.base.Len(); have != c.want {
				t.Errorf("spread %d: want %d minutes made, have %d", c.spread, c.want, have)
			}
		}
	}
}

// TestEveryTradeLiesWithinItsRecordedCandle lets accounts trade at and through the quotes, with flat and
// moving recorded candles. High and low extend as far as the trades, at each displayed interval, and the
// recorded candle, which the price follows, stays.
func TestEveryTradeLiesWithinItsRecordedCandle(t *testing.T) {
	t.Parallel()
	for _, market := range []exchange.Market{exchange.Futures, exchange.Spot} {
		for _, interval := range []exchange.Interval{exchange.Minute1, exchange.Minute5} {
			d := newDesk(t, Config{}).on(market, "BTC-USDT")
			recorded := &exchange.Candles{Interval: interval}
			for i := range int64(12) {
				price := d.p("50000") + exchange.Price(i/2)*d.p("1") // pairs of a flat candle and a rising one
				recorded.Append(exchange.Candle{OpenMS: startMS + i*int64(interval), Open: price, High: price + exchange.Price(i%2)*d.p("1"),
					Low: price, Close: price + exchange.Price(i%2)*d.p("1"), Volume: 8})
			}
			before := recorded.Clone()
			d.SetMarket(d.key(), Tape(recorded, TapeConfig{SpreadTicks: 1}))
			outside := 0
			for step := range uint64(100) {
				d.fillSome(mix(step)/11*11 + 1 + step&1) // sets no price
				d.Advance(d.NowMS() + int64(mix(step)%uint64(interval/10)))
				for _, shown := range exchange.Intervals()[:3] {
					outside += d.wantTradesWithin(recorded, shown)
				}
			}
			if !reflect.DeepEqual(recorded, before) || outside < 20 {
				t.Errorf("want the recorded candles as they were, and trades outside of them, have %d", outside)
			}
		}
	}
}

// wantTradesWithin compares all trades with the candles of an interval, and returns how many lie outside the
// recorded one.
func (d *desk) wantTradesWithin(recorded *exchange.Candles, interval exchange.Interval) (outside int) {
	d.Helper()
	candles := d.candles(interval)
	for _, trade := range d.find(d.key()).trades {
		at, found := slices.BinarySearch(candles.OpenMS, interval.OpenOf(trade.TimeMS))
		if !found || trade.Price < candles.Low[at] || trade.Price > candles.High[at] {
			d.Fatalf("%s %s: trade %+v is outside of its candle (found %v)", d.key(), interval, trade, found)
		}
		if was, found := slices.BinarySearch(recorded.OpenMS, recorded.Interval.OpenOf(trade.TimeMS)); found &&
			(trade.Price < recorded.Low[was] || trade.Price > recorded.High[was]) {
			outside++
		}
	}
	return outside
}

// TestCandlesAreRequestedByTimeAndLimit uses twelve minutes, each of which closes a dollar higher.
func TestCandlesAreRequestedByTimeAndLimit(t *testing.T) {
	t.Parallel()
	const minute = int64(exchange.Minute1)
	d := newDesk(t, Config{})
	spot := d.on(exchange.Spot, "BTC-USDT")
	for i := range int64(12) {
		d.Advance(startMS + i*minute + 30_000)
		for _, each := range []*desk{d, spot} {
			if err := each.SetPrice(each.key(), each.p("50000")+exchange.Price(i)*usd, 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		market           exchange.Market
		from, to         int64 // in minutes; -1 for none
		offset, limit    int
		first, last, len int64
	}{
		{exchange.Futures, -1, -1, 0, 0, 0, 11, 12},
		{exchange.Futures, -1, -1, 0, 3, 9, 11, 3},
		{exchange.Futures, -1, 5, 0, 3, 3, 5, 3},
		{exchange.Futures, -1, 5, 0, 9, 0, 5, 6},
		{exchange.Futures, 4, -1, 0, 3, 4, 6, 3},
		{exchange.Futures, 4, 8, 0, 0, 4, 8, 5},
		{exchange.Futures, 4, 8, 0, 5, 4, 8, 5},
		{exchange.Futures, 4, 8, 0, 4, 4, 7, 4},
		{exchange.Futures, 11, -1, 0, 9, 11, 11, 1},
		{exchange.Futures, 12, -1, 0, 9, 0, 0, 0},
		{exchange.Futures, 4, 8, 2, 2, 4, 5, 2}, // futures have no offset
		{exchange.Spot, 4, 8, 0, 0, 4, 8, 5},
		{exchange.Spot, 4, 8, 2, 2, 6, 7, 2},
		{exchange.Spot, 4, 8, 2, 9, 6, 8, 3},
		{exchange.Spot, 4, 8, 4, 9, 8, 8, 1},
		{exchange.Spot, 4, 8, 5, 9, 0, 0, 0},
		{exchange.Spot, 4, 8, 50, 9, 0, 0, 0},
		{exchange.Spot, 8, 4, 0, 9, 0, 0, 0},
		{exchange.Spot, 10, 30, 0, 9, 10, 11, 2},
	} {
		request := exchange.Request{Operation: exchange.FuturesCandles, Symbol: d.name, Interval: exchange.Minute1, Offset: c.offset, Limit: c.limit}
		if c.market == exchange.Spot {
			request.Operation = exchange.SpotCandles
		}
		if c.from >= 0 {
			request.StartMS = startMS + c.from*minute
		}
		if c.to >= 0 {
			request.EndMS = startMS + c.to*minute
		}
		have := d.do(request).Candles
		if int64(have.Len()) != c.len {
			t.Errorf("%+v: want %d candles, have %d", c, c.len, have.Len())
			continue
		}
		for i := range have.Len() {
			number := (have.OpenMS[i] - startMS) / minute
			if number != c.first+int64(i) || have.Close[i] != d.p("50000")+exchange.Price(number)*usd {
				t.Errorf("%+v: want minute %d with its close, have %d at %d", c, c.first+int64(i), number, have.Close[i])
			}
		}
	}
	one, five := int64(1), 5*minute // a millisecond outside leaves the candle out
	for _, c := range []struct{ start, end, want int64 }{
		{startMS + minute, startMS + 2*minute, 2}, {startMS + minute + one, startMS + 2*minute, 1}, {startMS + minute, startMS + 2*minute - one, 1},
	} {
		request := exchange.Request{Operation: exchange.FuturesCandles, Symbol: d.name, Interval: exchange.Minute1, StartMS: c.start, EndMS: c.end}
		if have := d.do(request).Candles; int64(have.Len()) != c.want {
			t.Errorf("%+v: want %d candles, have %d", c, c.want, have.Len())
		}
	}
	merged := d.do(exchange.Request{Operation: exchange.FuturesCandles, Symbol: d.name, Interval: exchange.Minute5, Limit: 2}).Candles
	if merged.Len() != 2 || merged.OpenMS[0] != startMS+five || merged.Open[0] != d.p("50004") || merged.Close[0] != d.p("50009") ||
		merged.High[1] != d.p("50011") || merged.Low[1] != d.p("50009") {
		t.Errorf("want the last two of five minutes, have %+v", merged)
	}
}

// After a jump of the clock by a quarter of a year the minutes are flat, and the oldest are dropped.
func TestTenWeeksOfMinutesAreStored(t *testing.T) {
	t.Parallel()
	const stored, minute = 100_000, int64(exchange.Minute1)
	d := newDesk(t, Config{})
	d.setLast("51000")
	first := func() int64 {
		d.Helper()
		candles := d.do(exchange.Request{Operation: exchange.FuturesCandles, Symbol: d.name, Interval: exchange.Minute1, StartMS: 1, Limit: 1}).Candles
		if candles.Len() != 1 {
			t.Fatalf("want a first candle, have %d", candles.Len())
		}
		return candles.OpenMS[0]
	}
	d.Advance(startMS + (stored+1)*minute) // as many minutes are missed as are stored: none is dropped
	if have := first(); have != startMS {
		t.Errorf("want the first minute still, have the one at %d", have-startMS)
	}
	d.Advance(startMS + 3*stored*minute)
	if have, want := first(), startMS+2*stored*minute; have != want {
		t.Errorf("want the last %d and the present one, the first at %d, have %d", stored, want, have)
	}
	days := d.do(exchange.Request{Operation: exchange.FuturesCandles, Symbol: d.name, Interval: exchange.Day1, Limit: 1500}).Candles
	for i := range days.Len() {
		if c := days.At(i); c.Open != d.p("51000") || c.High != c.Open || c.Low != c.Open || c.Close != c.Open || c.Volume != 0 {
			t.Fatalf("day %d: want it flat at 51000, have %+v", i, c)
		}
	}
	if days.Len() != 71 { // from 138.9 days after the start to 208.3
		t.Errorf("want 71 days begun, have %d", days.Len())
	}
	d.Advance(d.NowMS() + 99_999*minute) // in two steps the builder drops them
	first()
	d.Advance(d.NowMS() + 2*minute)
	if have, want := first(), d.NowMS()-stored*minute+minute; have != want {
		t.Errorf("want the newest %d, the first at %d, have %d", stored, want, have)
	}
}
