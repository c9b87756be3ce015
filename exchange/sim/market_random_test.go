package sim

import (
	"slices"
	"testing"

	"github.com/shopspring/decimal"

	"botd/exchange"
)

// From that price on the walk moves by the same relative steps, to the tick.
func TestAPriceThatIsSetMovesTheWalkWithIt(t *testing.T) {
	t.Parallel()
	plain, moved := newDesk(t, Config{}), newDesk(t, Config{})
	for _, d := range []*desk{plain, moved} {
		d.SetMarket(d.key(), Random(4))
		d.Advance(startMS + 61_000)
	}
	last, _ := plain.Exchange.Price(plain.key())
	if err := moved.SetPrice(moved.key(), 2*last, 0); err != nil {
		t.Fatal(err)
	}
	different := 0
	for range 200 {
		for _, d := range []*desk{plain, moved} {
			d.Advance(d.NowMS() + 2_000)
		}
		want, _ := plain.Exchange.Price(plain.key())
		have, mark := moved.Exchange.Price(moved.key())
		if off := have - 2*want; off < -2*plain.p("0.1") || off > 2*plain.p("0.1") || mark != have {
			t.Fatalf("want twice %d, have %d, mark %d", want, have, mark)
		}
		if want != last {
			different++
		}
	}
	if different < 150 {
		t.Errorf("want it to move, have %d of 200", different)
	}
}

// The share is in billionths, and the price is on the tick. A minute opens at the close of the one before.
func TestAWalksPriceIsItsShareOfTheFirstOne(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	d.SetMarket(d.key(), Random(6))
	w := newWalk(6, "BTC-USDT")
	var calm, wild []float64
	b := d.find(d.key())
	for step := int64(startMS / 2_000); step < startMS/2_000+40_000; step += 13 {
		of := step
		if step%30 == 0 {
			of--
		}
		want := 50_000 * (1 + float64(w.at(of))/1e9)
		trade := b.market.(*random).trade(b, step*2_000)
		if have := b.symbol.PriceFloat(trade.Price); have < want-0.0501 || have > want+0.0501 {
			t.Fatalf("step %d: want %.4f to the tick, have %v", step, want, have)
		}
		worth := b.symbol.Notional(trade.Price, trade.Quantity).Float()
		if width := w.widthAt(step); width <= 200 {
			calm = append(calm, worth)
		} else if width >= 500 {
			wild = append(wild, worth)
		}
	}
	mean := func(all []float64) (sum float64) {
		for _, one := range all {
			sum += one / float64(len(all))
		}
		return sum
	}
	if len(calm) < 150 || len(wild) < 150 || mean(wild) < 1.6*mean(calm) {
		t.Errorf("want larger trades in volatile times, have a mean of %.0f of %d, and %.0f of %d in calm ones", mean(wild), len(wild), mean(calm), len(calm))
	}
}

// The cached past equals the computed one.
func TestTickerOfRandomDayIsRepeatable(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{StartMS: startMS + 12_345})
	d.SetMarket(d.key(), Random(2))
	for range 3 {
		ask := func() exchange.Ticker {
			return d.do(exchange.Request{Operation: exchange.FuturesTicker, Symbol: d.name}).Tickers.Items()[0]
		}
		if first, again := ask(), ask(); first != again || first.Count < 43_000 || first.Volume <= 0 {
			t.Errorf("want the same day of 43,200 trades, have %+v and %+v", first, again)
		}
		d.Advance(d.NowMS() + 45_000)
	}
}

// Levels that were taken from the random market are full again.
func TestAStillMarketAfterARandomOneHasMaxNotionalAtEachLevel(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	d.SetMarket(d.key(), Random(2))
	d.do(exchange.Request{Operation: exchange.FuturesSetLeverage, Symbol: d.name, Leverage: 50})
	d.place(d.order("buy", exchange.MarketOrder, "5", ""))
	if fills := d.Fills(); len(fills) < 2 {
		t.Fatalf("want several levels taken, have %+v", fills)
	}
	d.SetMarket(d.key(), Still(StillConfig{SpreadTicks: 1}))
	last, _ := d.Exchange.Price(d.key())
	for i, level := range d.depth(5).Asks {
		if s := d.Symbol(d.key()); s.Notional(last, level.Quantity).Less(s.MaxNotional) || level.Price != last+exchange.Price(i+1)*s.PriceTick {
			t.Errorf("level %d: want maxNotional %d ticks away, have %+v", i, i+1, level)
		}
	}
}

// The trades are at its price, in amounts of 25 to 112,000 USDT, mostly small ones, on both sides.
func TestARandomMarketTradesEveryTwoSeconds(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"BTC-USDT", "PEPE-USDT"} {
		d := newDesk(t, Config{StartMS: startMS + 500}).on(exchange.Futures, name)
		d.SetMarket(d.key(), Random(9))
		d.Advance(startMS + 3_600_000)
		trades := d.do(exchange.Request{Operation: exchange.FuturesTrades, Symbol: name, Limit: 1000}).Trades.Items()
		symbol, sold := d.Symbol(d.key()), 0
		var worth []float64
		for i, trade := range trades {
			if trade.TimeMS%2_000 != 0 || i > 0 && trade.TimeMS != trades[i-1].TimeMS+2_000 {
				t.Fatalf("%s: want a trade each two seconds, have one at %d", name, trade.TimeMS)
			}
			if !symbol.OnQuantityTick(trade.Quantity) || trade.Quantity <= 0 || !symbol.OnPriceTick(trade.Price) || trade.Price <= 0 {
				t.Fatalf("%s: want whole ticks, have %+v", name, trade)
			}
			if trade.QuoteAmount != symbol.Notional(trade.Price, trade.Quantity) {
				t.Fatalf("%s: want price x qty, have %+v", name, trade)
			}
			worth = append(worth, trade.QuoteAmount.Float())
			if trade.BuyerIsMaker {
				sold++
			}
		}
		slices.Sort(worth)
		if len(worth) != 1000 || worth[0] > 200 || worth[999] < 10_000 || worth[999] > 112_000 || worth[500] < 200 || worth[500] > 6_000 {
			t.Errorf("%s: want amounts of 25 to 112,000, have %.0f, %.0f and %.0f", name, worth[0], worth[500], worth[len(worth)-1])
		}
		if sold < 400 || sold > 600 {
			t.Errorf("%s: want about half sold, have %d of 1000", name, sold)
		}
	}
}

// The coin has any price and scale; the minimum is one tick.
func TestAnAmountBuysWholeTicks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		priceTick, quantityTick, price, want string
		usdt                                 int64
	}{
		{"0.1", "0.001", "50000", "0.02", 1_000}, {"0.1", "0.001", "50000", "0.019", 999}, {"0.1", "0.001", "50000", "0.001", 1},
		{"0.00000001", "100", "0.00001", "10000000", 100}, {"0.00000001", "100", "0.00000003", "3333333300", 100},
		{"1", "1", "7", "14", 100},
	} {
		symbol, err := exchange.NewSymbol(exchange.SymbolSpec{Market: exchange.Spot, Name: "X-USDT", Base: "X", Quote: "USDT",
			PriceTick: decimal.RequireFromString(c.priceTick), QuantityTick: decimal.RequireFromString(c.quantityTick), MinNotional: decimal.NewFromInt(1),
			MaxNotional: decimal.NewFromInt(1_000_000), Tradable: true, Cancelable: true})
		if err != nil {
			t.Fatal(err)
		}
		price, err := symbol.Price(decimal.RequireFromString(c.price))
		if err != nil {
			t.Fatal(err)
		}
		for _, unit := range []uint64{unitOf(symbol), 0} { // with and without the fast path
			m := &random{unit: unit}
			if have := symbol.QuantityDecimal(m.worth(symbol, c.usdt, price)); have.String() != c.want {
				t.Errorf("%d USDT at %s: want %s, have %s", c.usdt, c.price, c.want, have)
			}
		}
	}
}

// The rate is between -0.005 % and +0.02 %, for each symbol and payment.
func TestARandomMarketsFundingIsDrawn(t *testing.T) {
	t.Parallel()
	btc, eth := random{walk: newWalk(1, "BTC-USDT")}, random{walk: newWalk(1, "ETH-USDT")}
	least, most, equal := exchange.Rate(0), exchange.Rate(0), 0
	for i := range int64(5_000) {
		rate := btc.fundingRate(startMS + i*8*3_600_000)
		least, most = min(least, rate), max(most, rate)
		if rate == eth.fundingRate(startMS+i*8*3_600_000) {
			equal++
		}
	}
	if least < -5_000 || least > -4_950 || most > 20_000 || most < 19_950 || equal > 10 {
		t.Errorf("want -5000 to 20000, have %d to %d, %d the same for another symbol", least, most, equal)
	}
}

// Twenty ticks away it is twice as much, 200 and more away eleven times.
func TestRandomMarketLevelSizes(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	d.SetMarket(d.key(), Random(2))
	b := d.find(d.key())
	for _, c := range []struct {
		away  int64 // ticks
		times float64
	}{{0, 1}, {20, 2}, {-20, 2}, {100, 6}, {200, 11}, {-200, 11}, {400, 11}, {900, 11}} {
		least, most := 1e9, 0.0
		for step := range int64(400) {
			b.exchange.nowMS = startMS + step*20_000
			price := b.last + exchange.Price(c.away)*b.symbol.PriceTick
			worth := b.symbol.Notional(price, b.levelQuantity(price)).Float()
			least, most = min(least, worth), max(most, worth)
		}
		if least < 9_900*c.times || least > 14_000*c.times || most < 95_000*c.times || most > 100_000*c.times {
			t.Errorf("%d ticks away: want 10,000 to 100,000 times %.0f, have %.0f to %.0f", c.away, c.times, least, most)
		}
	}
}
