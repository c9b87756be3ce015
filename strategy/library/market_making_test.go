package library

import (
	"errors"
	"maps"
	"math"
	"testing"

	"botd/exchange"
	"botd/strategy"
)

func quotes(t *testing.T, name string, market exchange.Market, more strategy.Values) *book {
	values := strategy.Values{"quantity": "1", "max_position": "4", "level_step": "1%", "refresh": "30s", "tolerance": "1%", "filled_delay": "10s"}
	for name, value := range more {
		values[name] = value
	}
	return newBook(t, newStrategy(t, name, market, values), market)
}

func (b *book) after(seconds int64) *book {
	b.view.NowMS += seconds * 1000
	return b
}

func TestMarketMakingQuotesBothSidesAndStays(t *testing.T) {
	t.Parallel()
	b := quotes(t, "market_making", exchange.Futures, strategy.Values{"spread": "2%", "levels": "2"})
	b.expect(100, "buy 1@99, buy 1@98, sell 1@101, sell 1@102.1")
	b.fill("1buy0", 1000, 1000)
	b.after(30).expect(100, "buy 1@99, buy 1@98, sell 1@101, sell 1@102.1") // a fill was seen: it waits
	b.after(10).expect(102, "buy 0.875@100.9, buy 0.875@99.9, sell 1@103.1")
	b.after(3600).expect(102.9, "buy 0.875@100.9, buy 0.875@99.9, sell 1@103.1") // within the tolerance
	b.after(30).expect(110, "buy 0.875@108.9, buy 0.875@107.8, sell 1@111.1")
	b.after(29).expect(120, "buy 0.875@108.9, buy 0.875@107.8, sell 1@111.1") // too early
	b.view.Position.Quantity = 0                                              // a stop
	b.after(1).decide(120)
	b.after(10).expect(120, "buy 1@118.8, buy 1@117.6, sell 1@121.2, sell 1@122.5")
}

func TestASideOfTheQuotesMovesAlone(t *testing.T) {
	t.Parallel()
	b := quotes(t, "avellaneda", exchange.Futures, strategy.Values{"gamma": "2", "kappa": "100", "period": "2", "tolerance": "1.5%"})
	b.feed(100, 100, 100)
	b.expect(100, "buy 1@99, sell 1@101")
	keys := []string{b.plan.Orders[0].Key, b.plan.Orders[1].Key}
	b.feed(100, 110, 99) // wider by a percent on each side: within the tolerance
	b.after(60).expect(100, "buy 1@99, sell 1@101")
	b.after(60).expect(99, "buy 1@97, sell 1@101") // the bid should be at 97, the ask at 100.9
	if b.plan.Orders[0].Key == keys[0] || b.plan.Orders[1].Key != keys[1] {
		t.Errorf("want another key of the buy alone, have %+v after %v", b.plan.Orders, keys)
	}
}

func TestMarketMakingWaitsAfterAFillAndLeansAgainstItsPosition(t *testing.T) {
	t.Parallel()
	b := quotes(t, "market_making", exchange.Futures, strategy.Values{"spread": "2%", "skew": "1"})
	b.expect(100, "buy 1@99, sell 1@101")
	b.fill("1buy0", 1000, 1000)
	b.after(1).expect(100, "buy 1@99, sell 1@101") // the same orders: one is already filled
	b.after(9).expect(100, "buy 1@99, sell 1@101")
	b.after(1).expect(100, "buy 0.75@99, sell 1@101") // long a quarter of the maximum
	if b.plan.Orders[0].Side != exchange.Buy || b.plan.Exits[0].Side != exchange.Sell || !b.plan.Exits[0].PostOnly {
		t.Errorf("want the sell an exit, have %+v", b.plan)
	}
	b.fill("2sell0", 1000, -4000) // more than its own: the maximum short position
	b.after(1).decide(100)
	b.after(10).expect(100, "buy 1@99")
	if len(b.plan.Orders) != 0 || len(b.plan.Exits) != 1 {
		t.Errorf("want only an exit at the most, have %+v", b.plan)
	}
}

func TestQuotesLeanToTheTarget(t *testing.T) {
	t.Parallel()
	b := quotes(t, "market_making", exchange.Futures, strategy.Values{"spread": "2%", "skew": "1", "target": "2"})
	b.expect(100, "buy 1@99, sell 0.5@101") // two below the target, half of max_position
	b.fill("1buy0", 1000, 2000)
	b.after(1).decide(100)
	b.after(10).expect(100, "buy 1@99, sell 1@101")
}

func TestAHangingOrderStaysUntilThePriceIsFarAway(t *testing.T) {
	t.Parallel()
	b := quotes(t, "market_making", exchange.Futures, strategy.Values{"spread": "2%", "skew": "0", "hanging": "10%", "filled_delay": "0s"})
	b.expect(100, "buy 1@99, sell 1@101")
	b.fill("1buy0", 1000, 1000)
	b.after(1).expect(99, "buy 1@98, sell 1@101") // the ask of the pair
	b.fill("2buy0", 1000, 2000)
	b.after(1).expect(97, "buy 1@96, sell 2@101") // bought at 98 beside an ask that hung at 101
	b.after(60).expect(91, "buy 1@90, sell 1@92") // more than a tenth away: given up
}

func TestQuotesAreAroundTheMiddleOfTheBook(t *testing.T) {
	t.Parallel()
	level := func(price float64) []exchange.Level {
		return []exchange.Level{{Price: exchange.Price(price * 1e8), Quantity: 1}}
	}
	b := quotes(t, "market_making", exchange.Futures, strategy.Values{"spread": "0.4%"})
	b.view.Book = strategy.Book{Bids: level(99), Asks: level(101), AtMS: b.view.NowMS}
	b.expect(101, "buy 1@99.8, sell 1@100.2")
	b.view.Book = strategy.Book{Bids: level(109), Asks: level(111), AtMS: b.view.NowMS}
	b.after(11).after(19).expect(120, "buy 1@119.7, sell 1@120.3") // the book is old: the last price counts
	b.view.Book = strategy.Book{Bids: level(99), Asks: level(99.1), AtMS: b.view.NowMS + 30_000}
	b.after(30).expect(120, "buy 1@98.8, sell 1@99.3")
	if w := strategy.WatchingOf(b.strategy); !w.Book {
		t.Error("want it to watch the book")
	}
}

func TestALeanNeverCrossesTheBook(t *testing.T) {
	t.Parallel()
	level := func(price float64) []exchange.Level {
		return []exchange.Level{{Price: exchange.Price(price * 1e8), Quantity: 1}}
	}
	b := quotes(t, "avellaneda", exchange.Futures, strategy.Values{"gamma": "100", "kappa": "100", "period": "2", "tolerance": "0"})
	b.feed(100, 110, 99) // sigma 0.1: the reservation price of a full position is 100 % away
	b.view.Position.Quantity = 4000
	b.view.Book = strategy.Book{Bids: level(99.9), Asks: level(100.1), AtMS: b.view.NowMS}
	b.expect(100, "sell 1@100")
}

func TestMarketMakingSellsOnSpotWhatItHasWithinItsBand(t *testing.T) {
	t.Parallel()
	b := quotes(t, "market_making", exchange.Spot, strategy.Values{"spread": "2%", "ceiling": "120", "floor": "90"})
	b.expect(100, "buy 1@99")
	b.view.Position.Quantity = 1000
	b.after(60).decide(121)
	b.after(60).expect(121, "sell 1@122.3")
	b.after(60).expect(80, "buy 0.875@79.2")
}

// feed closes candles.
func (b *book) feed(closes ...float64) {
	for _, c := range flatCandles(closes...) {
		b.view.Candle = c
		b.strategy.Candle(&b.view)
	}
}

func TestAvellanedaIsWiderInVolatileMarketsAndLeans(t *testing.T) {
	t.Parallel()
	values := strategy.Values{"gamma": "2", "kappa": "100", "period": "2", "horizon": "2"}
	calm := quotes(t, "avellaneda", exchange.Futures, values)
	calm.feed(100, 100, 100)
	calm.expect(100, "buy 1@99, sell 1@101") // 2/gamma ln(1 + gamma/kappa) = 1.98 %, half on each side: 99.0097
	wild := quotes(t, "avellaneda", exchange.Futures, values)
	wild.feed(100, 110, 99)                  // changes of +10 % and -10 %: sigma 0.1, gamma sigma^2 horizon = 4 %
	wild.expect(100, "buy 1@97, sell 1@103") // half of 4 % + 1.98 %
	wild.view.Position.Quantity = 2000       // half of the maximum: leans by 2 %
	wild.after(60).decide(102)               // and waits, as after a fill
	wild.after(60).expect(102, "buy 0.75@96.9, sell 1@103.1")
}

// TestTheModelsOfTheSpread compares with figures computed from the papers' formulas by Python's math.
func TestTheModelsOfTheSpread(t *testing.T) {
	t.Parallel()
	candle := func(open, high, low, closed float64) *strategy.View {
		price := func(f float64) exchange.Price { return exchange.Price(math.Round(f * 1e8)) }
		return &strategy.View{Symbol: setting(t, exchange.Futures).Symbol,
			Candle: exchange.Candle{Open: price(open), High: price(high), Low: price(low), Close: price(closed)}}
	}
	for _, c := range []struct {
		name                   string
		values                 strategy.Values
		share, orders          float64
		bid, ask, gamma, kappa float64
	}{
		// Reaches of 1 % and 2 % on a side, twice: kappa = 1/0.015. Changes of +1 % and -1 %: sigma = 0.01.
		{"kappa and gamma are estimated", strategy.Values{}, 0, 0, 0.015357699975, 0.015357699975, 150, 66.666666667},
		{"at max_position the lean is risk/kappa", strategy.Values{}, 1, 4, 0.030357699975, 0.000357699975, 150, 66.666666667},
		{"given", strategy.Values{"gamma": "50", "kappa": "200"}, 0, 0, 0.006962871026, 0.006962871026, 50, 200},
		{"glft, flat", strategy.Values{"model": "glft", "gamma": "50", "kappa": "200"}, 0, 0, 0.007551032804, 0.007551032804, 50, 200},
		{"glft, long three orders", strategy.Values{"model": "glft", "gamma": "50", "kappa": "200"}, 0.75, 3, 0.026080003469, -0.010977937861, 50, 200},
		{"never closer than the fees and min_edge", strategy.Values{"gamma": "1", "kappa": "1000000", "min_edge": "1%"}, 0, 0, 0.0052, 0.0052, 1, 1e6},
	} {
		where := setting(t, exchange.Futures)
		where.Fees.Maker = exchange.RateOne / 5_000
		values := strategy.Values{"quantity": "1", "max_position": "4", "period": "2"}
		maps.Copy(values, c.values)
		made, err := avellaneda().New(where, values)
		if err != nil {
			t.Fatal(err)
		}
		m := made.(*quoter).model.(*inventoryModel)
		for _, view := range []*strategy.View{candle(100, 100, 100, 100), candle(100, 101, 99, 101), candle(101, 103.02, 98.98, 99.99)} {
			m.observe(view)
		}
		gamma, kappa := m.figures()
		bid, ask := m.distances(c.share, c.orders)
		for _, pair := range [][2]float64{{c.bid, bid}, {c.ask, ask}, {c.gamma, gamma}, {c.kappa, kappa}} {
			if math.Abs(pair[0]-pair[1]) > 1e-8*max(1, math.Abs(pair[0])) {
				t.Errorf("%s: want bid %v, ask %v, gamma %v, kappa %v; have %v, %v, %v, %v", c.name, c.bid, c.ask, c.gamma, c.kappa, bid, ask, gamma, kappa)
				break
			}
		}
	}
}

func TestAQuoterRefusesImpossibleParameters(t *testing.T) {
	t.Parallel()
	for name, values := range map[string]strategy.Values{
		"quantity": {"quantity": "0.00000001", "max_position": "1"}, "max_position": {"quantity": "1", "max_position": "0.5"},
		"ceiling": {"quantity": "1", "max_position": "1", "floor": "10", "ceiling": "9"}, "target": {"quantity": "1", "max_position": "1", "target": "2"},
	} {
		var wrong *strategy.ValueError
		if _, err := marketMaking().New(setting(t, exchange.Futures), values); !errors.As(err, &wrong) || wrong.Parameter != name {
			t.Errorf("%v: want an error of %s, have %v", values, name, err)
		}
	}
}

func TestRebalancingTradesOnlyWhatDrifted(t *testing.T) {
	t.Parallel()
	b := newBook(t, newStrategy(t, "rebalance", exchange.Spot, strategy.Values{"weight": "40%", "band": "5%"}), exchange.Spot)
	target := func(price float64, equity int64, position exchange.Quantity) exchange.Quantity {
		b.view.Equity, b.view.Position.Quantity = exchange.AmountOf(equity), position
		b.decide(price)
		return b.plan.Target.Quantity
	}
	for i, c := range []struct {
		price    float64
		equity   int64
		position exchange.Quantity
		want     exchange.Quantity
	}{
		{100, 1000, 0, 4000},
		{130, 1000, 0, 4000},    // in flight: not priced again
		{100, 1000, 3996, 4000}, // reached except for the fee
		{110, 1040, 3996, 4000}, // 42.3 %
		{150, 1200, 3996, 3200}, // 50 %
	} {
		if have := target(c.price, c.equity, c.position); have != c.want {
			t.Errorf("step %d: want %d, have %d", i, c.want, have)
		}
	}
}
