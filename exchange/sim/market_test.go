package sim

import (
	"reflect"
	"testing"

	"botd/exchange"
)

// tapeOf returns one-minute candles from rows of open, high, low, close.
func (d *desk) tapeOf(rows ...[4]string) *exchange.Candles {
	candles := &exchange.Candles{Interval: exchange.Minute1}
	for i, row := range rows {
		candles.Append(exchange.Candle{
			OpenMS: startMS + int64(i)*60_000, Open: d.p(row[0]), High: d.p(row[1]), Low: d.p(row[2]), Close: d.p(row[3]), Volume: 4, Trades: 8,
		})
	}
	return candles
}

func TestTheOrderBookOfAStillMarketHasMaxNotionalOnEveryLevel(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	for _, name := range []string{"BTC-USDT", "ETH-USDT", "SOL-USDT", "PEPE-USDT"} {
		d := d.on(exchange.Futures, name)
		s := d.Symbol(d.key())
		last, _ := d.Price(d.key())
		depth := d.do(exchange.Request{Operation: exchange.FuturesDepth, Symbol: name, Limit: 200}).Depth
		if len(depth.Bids) != 200 || len(depth.Asks) != 200 {
			t.Fatalf("%s: want 200 levels a side, have %d and %d", name, len(depth.Bids), len(depth.Asks))
		}
		for i := range 200 {
			away := exchange.Price(i+1) * s.PriceTick
			if depth.Bids[i].Price != last-away || depth.Asks[i].Price != last+away {
				t.Fatalf("%s level %d: want %d ticks from the price, have %+v and %+v", name, i, i+1, depth.Bids[i], depth.Asks[i])
			}
			if s.Notional(depth.Bids[i].Price, depth.Bids[i].Quantity).Less(s.MaxNotional) || s.Notional(last, depth.Asks[i].Quantity).Less(s.MaxNotional) {
				t.Fatalf("%s level %d holds less than maxNotional", name, i)
			}
		}
	}
}

func TestSetPricesEnterCandlesAndFillsDoNotMovePrice(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	d.setLast("50500")
	d.setLast("49500")
	d.place(d.order("buy", exchange.MarketOrder, "0.1", ""))
	d.Advance(startMS + 3*60_000)
	d.setLast("49600")
	candles := d.do(exchange.Request{Operation: exchange.FuturesCandles, Symbol: "BTC-USDT", Interval: exchange.Minute1}).Candles
	if candles.Len() != 4 {
		t.Fatalf("want 4 candles, the one under way included, have %d", candles.Len())
	}
	first, flat := candles.At(0), candles.At(1)
	if first.Open != d.p("50000") || first.High != d.p("50500") || first.Low != d.p("49500") || first.Close != d.p("49500") || first.Volume != 0.1 {
		t.Fatalf("want 50000 50500 49500 49500 with volume 0.1, have %+v", first)
	}
	if flat.Open != d.p("49500") || flat.High != flat.Low || flat.Volume != 0 {
		t.Fatalf("want a flat minute at 49500, have %+v", flat)
	}
	hour := d.do(exchange.Request{Operation: exchange.FuturesCandles, Symbol: "BTC-USDT", Interval: exchange.Hour1}).Candles
	if hour.Len() != 1 || hour.Close[0] != d.p("49600") || hour.High[0] != d.p("50500") {
		t.Fatalf("want one hour of all, have %+v", hour)
	}
	part := d.do(exchange.Request{Operation: exchange.FuturesCandles, Symbol: "BTC-USDT", Interval: exchange.Minute1, StartMS: startMS + 60_000,
		EndMS: startMS + 120_000, Limit: 1}).Candles
	if part.Len() != 1 || part.OpenMS[0] != startMS+60_000 {
		t.Fatalf("want the first candle from the start, have %+v", part)
	}
}

func TestATapeSlidesThroughItsCandlesAndGapsFillAtTheOpen(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	candles := d.tapeOf(
		[4]string{"50000", "50400", "49800", "50300"}, // rising: low first
		[4]string{"50300", "50350", "49000", "49100"},
		[4]string{"48000", "48100", "47900", "48050"}, // a gap
	)
	d.SetMarket(d.key(), Tape(candles, TapeConfig{}))
	d.place(d.order("buy", exchange.MarketOrder, "0.1", "")) // exactly at the open
	d.wantAmount("entryPrice", "50000", d.position().EntryPrice)
	limit := d.place(d.order("sell", exchange.Limit, "0.02", "50399.9", reduceOnly))
	slid := d.place(d.order("sell", exchange.StopMarket, "0.03", "", reduceOnly, d.stopAt("49500", exchange.ContractPrice)))
	gapped := d.place(d.order("sell", exchange.StopMarket, "", "", closePosition, d.stopAt("48900", exchange.ContractPrice)))
	d.Advance(startMS + 29_999)
	d.wantStatus(limit.ID, exchange.StatusOpen)
	d.Advance(startMS + 30_000)
	d.wantStatus(limit.ID, exchange.StatusFilled)
	d.Advance(startMS + 119_999)
	d.wantStatus(slid.ID, exchange.StatusFilled)
	d.wantStatus(gapped.ID, exchange.StatusNew)
	d.Advance(startMS + 120_000)
	d.wantStatus(gapped.ID, exchange.StatusFilled)
	want := []exchange.Price{d.p("50000"), d.p("50399.9"), d.p("49500"), d.p("48000")}
	for i, fill := range d.Fills() {
		if fill.Price != want[i] {
			t.Errorf("fill %d: want %d, have %d", i, want[i], fill.Price)
		}
	}
	d.checkMoney()
}

func TestATapeShowsTheRecordedCandlesAndThePresentOne(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	candles := d.tapeOf([4]string{"50000", "50400", "49800", "50300"}, [4]string{"50300", "50350", "49000", "49100"})
	d.SetMarket(d.key(), Tape(candles, TapeConfig{SpreadTicks: 1}))
	d.Advance(startMS + 90_000)
	shown := d.do(exchange.Request{Operation: exchange.FuturesCandles, Symbol: "BTC-USDT", Interval: exchange.Minute1}).Candles
	if shown.Len() != 2 || shown.At(0) != candles.At(0) {
		t.Fatalf("want the recorded candle first, have %+v", shown)
	}
	under := exchange.Candle{OpenMS: startMS + 60_000, Open: d.p("50300"), High: d.p("50350"), Low: d.p("49000"), Close: d.p("49000"), Volume: 3, Trades: 6}
	if have := shown.At(1); have != under {
		t.Fatalf("want %+v under way, have %+v", under, have)
	}
	five := d.do(exchange.Request{Operation: exchange.FuturesCandles, Symbol: "BTC-USDT", Interval: exchange.Minute5}).Candles
	if five.Len() != 1 || five.Volume[0] != 7 || five.High[0] != d.p("50400") || five.Close[0] != d.p("49000") {
		t.Fatalf("want one candle of both, have %+v", five)
	}
	ticker := d.do(exchange.Request{Operation: exchange.FuturesTicker, Symbol: "BTC-USDT"}).Tickers.Items()[0]
	if ticker.Open != d.p("50000") || ticker.Low != d.p("49000") || ticker.Volume != 7 {
		t.Fatalf("want the day's numbers, have %+v", ticker)
	}
}

func TestFundingOnATapeUsesTheOpenOfTheCandleThatBegins(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{StartMS: startMS + 8*3_600_000 - 60_000})
	candles := d.tapeOf([4]string{"50000", "50000", "50000", "50000"}, [4]string{"51000", "51000", "51000", "51000"})
	for i := range candles.OpenMS {
		candles.OpenMS[i] += 8*3_600_000 - 60_000
	}
	d.SetMarket(d.key(), Tape(candles, TapeConfig{}))
	d.SetFunding("BTC-USDT", []FundingPoint{{startMS + 8*3_600_000, 10_000}})
	d.place(d.order("buy", exchange.MarketOrder, "0.1", ""))
	d.Advance(startMS + 8*3_600_000)
	d.wantAmount("funding", "0.51", d.Money("alice").Funding)
}

func TestTheRandomMarketIsTheSameForTheSameSeed(t *testing.T) {
	t.Parallel()
	run := func(seed uint64, step int64) (*exchange.Candles, []exchange.Trade) {
		d := newDesk(t, Config{})
		d.SetMarket(d.key(), Random(seed))
		for now := int64(startMS); now <= startMS+600_000; now += step {
			d.Advance(now)
		}
		return d.do(exchange.Request{Operation: exchange.FuturesCandles, Symbol: "BTC-USDT", Interval: exchange.Minute1, Limit: 100}).Candles,
			d.do(exchange.Request{Operation: exchange.FuturesTrades, Symbol: "BTC-USDT"}).Trades.Items()
	}
	once, trades := run(7, 1000)
	again, _ := run(7, 600_000)
	other, _ := run(8, 1000)
	if !reflect.DeepEqual(once, again) {
		t.Fatal("want the same candles however the clock advances, have different ones")
	}
	if reflect.DeepEqual(once.Close, other.Close) {
		t.Fatal("want other candles with another seed, have the same")
	}
	for i := 1; i < len(trades); i++ {
		if trades[i].TimeMS-trades[i-1].TimeMS > 5_000 {
			t.Fatalf("want a trade within 5 s, have %d ms", trades[i].TimeMS-trades[i-1].TimeMS)
		}
	}
	for i := range once.Len() {
		if err := once.At(i).Plausible(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestEverySymbolOfTheRandomMarketMovesAndStaysNearItsStart(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"BTC-USDT", "PEPE-USDT"} {
		d := newDesk(t, Config{}).on(exchange.Spot, name)
		first, _ := d.Price(d.key())
		d.SetMarket(d.key(), Random(1))
		d.Advance(startMS + 5*24*3_600_000)
		days := d.do(exchange.Request{Operation: exchange.FuturesCandles, Symbol: name, Interval: exchange.Day1}).Candles
		if days.Len() != 6 {
			t.Fatalf("%s on futures: want 6 still days, have %d", name, days.Len())
		}
		days = d.do(exchange.Request{Operation: exchange.SpotCandles, Symbol: name, Interval: exchange.Day1, EndMS: d.NowMS()}).Candles
		if days.Len() != 21 {
			t.Fatalf("%s: want 15 days begun of history and 6 played, have %d", name, days.Len())
		}
		for i := range days.Len() {
			if c := days.At(i); i > 0 && i < 20 && c.High-c.Low < c.Open/200 || c.Low < first/2 || c.High > first*2 {
				t.Fatalf("%s day %d: want it to move, near the start, have %+v", name, i, c)
			}
		}
	}
}

func TestQuietIsFalseExactlyBeforeAnEffect(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	d.SetMarket(d.key(), Still(StillConfig{}))
	quiet := func(low, high string, untilMS int64) bool { return d.Quiet(d.key(), d.p(low), d.p(high), untilMS) }
	want := func(want, have bool) {
		t.Helper()
		if want != have {
			t.Fatalf("want %v, have %v", want, have)
		}
	}
	want(true, quiet("1000", "99000", startMS+1_000_000_000))
	d.place(d.order("buy", exchange.MarketOrder, "0.1", ""))
	want(false, quiet("49999", "50001", startMS+8*3_600_000)) // funding
	want(true, quiet("49999", "50001", startMS+8*3_600_000-1))
	d.place(d.order("buy", exchange.Limit, "0.01", "49000"))
	d.place(d.order("sell", exchange.TakeProfitMarket, "", "", closePosition, d.stopAt("51000", exchange.ContractPrice)))
	want(true, quiet("49000.1", "50999.9", startMS+1))
	want(false, quiet("49000", "50999.9", startMS+1))
	want(false, quiet("49000.1", "51000", startMS+1))
	d.SkipTo(startMS+60_000, d.key(), d.p("49500"))
	if last, _ := d.Price(d.key()); d.NowMS() != startMS+60_000 || last != d.p("49500") {
		t.Fatalf("want the clock and the price moved, have %d and %d", d.NowMS(), last)
	}
}

func TestSkippingQuietCandlesEqualsPlayingThem(t *testing.T) {
	t.Parallel()
	quiet := 0
	play := func(skip bool) []Fill {
		d := newDesk(t, Config{})
		candles := &exchange.Candles{Interval: exchange.Minute1}
		price := d.p("50000")
		for i := range 3_000 {
			draw := mix(uint64(i))
			next := price + exchange.Price(int64(draw%2001)-1000)*d.p("0.1")
			candles.Append(exchange.Candle{
				OpenMS: startMS + int64(i)*60_000, Open: price, Close: next,
				High: max(price, next) + d.p("20"), Low: min(price, next) - d.p("20"), Volume: 1,
			})
			price = next
		}
		d.SetMarket(d.key(), Tape(candles, TapeConfig{}))
		d.SetFunding("BTC-USDT", []FundingPoint{{startMS + 8*3_600_000, 100_000}, {startMS + 16*3_600_000, -50_000}})
		for i := range candles.Len() {
			end := candles.CloseMS(i) - 1
			if skip && d.Quiet(d.key(), candles.Low[i], candles.High[i], end) {
				d.SkipTo(end, d.key(), candles.Close[i])
				quiet++
			} else {
				d.Advance(end)
			}
			if d.OpenOrders("alice", exchange.Futures) < 4 {
				if _, open := d.Position("alice", "BTC-USDT"); !open {
					d.place(d.order("buy", exchange.MarketOrder, "0.2", ""))
				}
				floor := d.Symbol(d.key()).FloorPrice(candles.Close[i])
				d.try(exchange.NewOrder{Market: exchange.Futures, Symbol: d.name, Side: exchange.Sell, Type: exchange.Limit, Quantity: d.q("0.05"),
					Price: floor + d.p("300"), ReduceOnly: true})
				d.try(exchange.NewOrder{Market: exchange.Futures, Symbol: d.name, Side: exchange.Sell, Type: exchange.StopMarket,
					StopPrice: floor - d.p("250"), ClosePosition: true, WorkingType: exchange.MarkPrice})
				d.try(exchange.NewOrder{Market: exchange.Futures, Symbol: d.name, Side: exchange.Buy, Type: exchange.Limit, Quantity: d.q("0.01"),
					Price: floor - d.p("150")})
			}
		}
		d.checkMoney()
		return append(d.Fills(), Fill{Fee: d.Money("alice").Wallet})
	}
	played, skipped := play(false), play(true)
	if len(played) < 50 || quiet < 1000 {
		t.Fatalf("want many fills and quiet candles, have %d and %d", len(played), quiet)
	}
	if !reflect.DeepEqual(played, skipped) {
		t.Fatalf("want %d fills ending in %+v, have %d ending in %+v", len(played), played[len(played)-1], len(skipped), skipped[len(skipped)-1])
	}
}
