package library

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
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
	b.feed(100, 100, 100) // as at the start
	b.after(60).expect(100, "buy 1@99, sell 1@101")
	if have := b.plan.Orders[0].Key; have == keys[0] || have != "3buy0" {
		t.Errorf("want a key of its own for each turn, have %s", have)
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
	b.after(1).expect(97, "buy 1@96, sell 2@101") // bought at 98 while an ask still rested at 101
	b.after(60).expect(91, "buy 1@90, sell 1@92") // more than a tenth away: given up
}

func TestQuotesAreAroundTheMiddleOfTheBook(t *testing.T) {
	t.Parallel()
	level := func(price float64) []exchange.Level {
		return []exchange.Level{{Price: exchange.Price(price * 1e8), Quantity: 1}}
	}
	b := quotes(t, "market_making", exchange.Futures, strategy.Values{"spread": "0.4%"})
	b.view.OrderBook = strategy.OrderBook{Bids: level(99), Asks: level(101), AtMS: b.view.NowMS}
	b.expect(101, "buy 1@99.8, sell 1@100.2")
	b.view.OrderBook = strategy.OrderBook{Bids: level(109), Asks: level(111), AtMS: b.view.NowMS}
	b.after(11).after(19).expect(120, "buy 1@119.7, sell 1@120.3") // the book is old: the last price counts
	b.view.OrderBook = strategy.OrderBook{Bids: level(99), Asks: level(99.1), AtMS: b.view.NowMS + 30_000}
	b.after(30).expect(120, "buy 1@98.8, sell 1@99.3")
	if w := strategy.WatchingOf(b.strategy); !w.OrderBook {
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
	b.view.OrderBook = strategy.OrderBook{Bids: level(99.5), Asks: level(100.5), AtMS: b.view.NowMS}
	b.expect(100, "sell 1@99.6")
	b.after(1).expect(100.2, "sell 1@99.6")
	if first, _ := b.view.Memory.Get("turn"); first != 1 || b.plan.Exits[0].Key != "1sell0" {
		t.Errorf("want the first turn of both sides, though one has no price, have %d and %+v", first, b.plan.Exits)
	}
	b = quotes(t, "avellaneda", exchange.Futures, strategy.Values{"gamma": "100", "kappa": "100", "period": "2", "tolerance": "0"})
	b.feed(100, 110, 99)
	b.view.Position.Quantity = -4000
	b.view.OrderBook = strategy.OrderBook{Bids: level(99.5), Asks: level(100.5), AtMS: b.view.NowMS}
	b.expect(100, "buy 1@100.4")
}

func TestSpotMarketMakingQuotesWithinBand(t *testing.T) {
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
		show(&b.view, c)
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
		view := &strategy.View{Symbol: setting(t, exchange.Futures).Symbol}
		show(view, exchange.Candle{Open: price(open), High: price(high), Low: price(low), Close: price(closed)})
		return view
	}
	for _, c := range []struct {
		name                   string
		values                 strategy.Values
		share, orders          float64
		bid, ask, gamma, kappa float64
	}{
		// Candles reach 1 % and 2 % on a side, twice: kappa = 1/0.015. They change by +1 % and -1 %: sigma =
		// 0.01.
		{"kappa and gamma are estimated", strategy.Values{}, 0, 0, 0.015357699975, 0.015357699975, 150, 66.666666667},
		{"at max_position the lean is risk/kappa", strategy.Values{}, 1, 4, 0.030357699975, 0.000357699975, 150, 66.666666667},
		{"given", strategy.Values{"gamma": "50", "kappa": "200"}, 0, 0, 0.006962871026, 0.006962871026, 50, 200},
		{"glft, flat", strategy.Values{"model": "glft", "gamma": "50", "kappa": "200"}, 0, 0, 0.007551032804, 0.007551032804, 50, 200},
		{"glft, long three orders", strategy.Values{"model": "glft", "gamma": "50", "kappa": "200"}, 0.75, 3, 0.026080003469, -0.010977937861, 50, 200},
		{"glft, long three orders, with four arrivals", strategy.Values{"model": "glft", "gamma": "50", "kappa": "200", "arrivals": "4"}, 0.75, 3,
			0.015271437248, -0.003257533417, 50, 200},
		{"long by half, for three candles", strategy.Values{"gamma": "50", "kappa": "200", "horizon": "3"}, 0.5, 2, 0.019462871026, 0.004462871026, 50, 200},
		{"for three candles, estimated", strategy.Values{"horizon": "3"}, 0, 0, 0.018692315759, 0.018692315759, 50, 66.666666667},
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

// Where nothing can be estimated, no figure of the model is used.
func TestPricesThatStandStillAreQuotedAtTheNarrowestSpread(t *testing.T) {
	t.Parallel()
	for _, values := range []strategy.Values{{}, {"kappa": "200"}, {"gamma": "50"}, {"model": "glft"}, {"model": "glft", "kappa": "200"}} {
		b := quotes(t, "avellaneda", exchange.Futures, values)
		b.view.Position.Quantity = 2000
		b.feed(slices.Repeat([]float64{1000}, 40)...)
		bid, ask := b.strategy.(*quoter).model.distances(0.5, 2)
		if bid != 0.0001 || ask != 0.0001 {
			t.Errorf("%v: want half of min_edge on each side, 0.0001, have %v and %v", values, bid, ask)
		}
	}
}

// The candles' closes change, and none moves further from its open.
func TestNoKappaIsEstimatedOfCandlesWithoutAReach(t *testing.T) {
	t.Parallel()
	for want, values := range map[float64]strategy.Values{0: {}, 50: {"gamma": "50"}} {
		b := quotes(t, "avellaneda", exchange.Futures, values)
		for i := range 40 {
			b.feed(1000 + float64(i%2))
		}
		m := b.strategy.(*quoter).model.(*inventoryModel)
		gamma, kappa := m.figures()
		if bid, ask := m.distances(1, 4); gamma != want || kappa != 0 || bid != 0.0001 || ask != 0.0001 {
			t.Errorf("%v: want gamma %v, no kappa, and half of min_edge on each side, have %v, %v, %v and %v", values, want, gamma, kappa, bid, ask)
		}
	}
}

// The quotes lean by the part of the position beyond the target, counted in orders.
func TestTheQuotesOfAModelLeanFromTheTarget(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		values strategy.Values
		held   exchange.Quantity
		want   string
	}{
		// As in TestTheModelsOfTheSpread: with sigma 0.01, three orders lean by 0.0264 and 0.0109 below the price.
		{strategy.Values{"model": "glft", "quantity": "0.5"}, 1_500, "buy 0.5@973.9, sell 0.5@1000"},
		{strategy.Values{"model": "glft", "quantity": "0.5", "target": "1.5"}, 1_500, "buy 0.5@992.4, sell 0.5@1007.6"},
		{strategy.Values{"target": "2"}, 2_000, "buy 1@993, sell 1@1007"},
		{strategy.Values{"target": "-2"}, -2_000, "sell 1@1007, buy 1@993"},
		{strategy.Values{"target": "-2"}, 2_000, "buy 1@988, sell 1@1002"}, // completely beyond it: a lean of 0.005
	} {
		values := strategy.Values{"gamma": "50", "kappa": "200", "period": "2", "skew": "0"}
		maps.Copy(values, c.values)
		b := quotes(t, "avellaneda", exchange.Futures, values)
		b.feed(1000, 1010, 999.9)
		b.view.Position.Quantity = c.held
		b.expect(1000, c.want)
	}
}

// From 100 to 300 the bid of three quarters should be 150 higher, which is half of 300.
func TestASideMovesBeyondTheToleranceAlone(t *testing.T) {
	t.Parallel()
	b := quotes(t, "market_making", exchange.Futures, strategy.Values{"spread": "50%", "tolerance": "50%"})
	b.expect(100, "buy 1@75, sell 1@125")
	b.after(60).expect(300, "buy 1@75, sell 1@375")
	b.after(60).expect(300.8, "buy 1@225.6, sell 1@375")
}

// A book older than ten seconds neither gives the middle price nor bounds the quotes.
func TestAnOrderBookIsQuotedByForTenSeconds(t *testing.T) {
	t.Parallel()
	level := func(price float64) []exchange.Level {
		return []exchange.Level{{Price: exchange.Price(price * 1e8), Quantity: 1}}
	}
	for ageMS, want := range map[int64]string{0: "buy 1@89.1, sell 1@90.9", 10_000: "buy 1@89.1, sell 1@90.9", 10_001: "buy 1@99, sell 1@101"} {
		b := quotes(t, "market_making", exchange.Futures, strategy.Values{"spread": "2%"})
		b.view.NowMS = 1_000_000
		b.view.OrderBook = strategy.OrderBook{Bids: level(89), Asks: level(91), AtMS: b.view.NowMS - ageMS}
		b.expect(100, want)
	}
}

// Even without a delay, the quotes stay until the position shows the fill or a tick has passed.
func TestAFillIsWaitedForUntilThePositionShowsIt(t *testing.T) {
	t.Parallel()
	b := quotes(t, "market_making", exchange.Futures, strategy.Values{"spread": "2%", "skew": "1", "filled_delay": "0s"})
	b.expect(100, "buy 1@99, sell 1@101")
	b.fill("1buy0", 1000, 0)
	b.after(1).expect(102, "buy 1@99, sell 1@101")
	b.view.Position.Quantity = 1000
	b.after(1).expect(102, "buy 0.75@100.9, sell 1@103.1")
}

// A key begins with the number of its turn, which increases with each new price.
func TestTheKeysOfQuotesAreNumbered(t *testing.T) {
	t.Parallel()
	b := quotes(t, "market_making", exchange.Futures, strategy.Values{"spread": "2%", "levels": "2", "filled_delay": "0s"})
	for i, want := range []string{"1buy0 1buy1 1sell0 1sell1", "1buy0 1buy1 1sell0 1sell1", "2buy0 2buy1 2sell0 2sell1", "3buy0 3buy1 3sell0 3sell1"} {
		b.after(60).decide([]float64{100, 100.5, 102, 104}[i])
		if !b.plan.OrdersSet || !b.plan.ExitsSet || b.plan.Reason != "both sides of the price" {
			t.Errorf("turn %d: want orders and exits set, with their reason, have %+v", i, b.plan)
		}
		var have []string
		for _, o := range slices.Concat(b.plan.Orders, b.plan.Exits) {
			have = append(have, o.Key)
		}
		if strings.Join(have, " ") != want {
			t.Errorf("turn %d: want %s, have %v", i, want, have)
		}
	}
}

// A stop sold what a quote bought, so the position never shows the fill: the wait ends with its time.
func TestQuotesWaitAfterFillWithoutPositionChange(t *testing.T) {
	t.Parallel()
	b := quotes(t, "market_making", exchange.Futures, strategy.Values{"spread": "2%"})
	b.expect(100, "buy 1@99, sell 1@101")
	b.fill("1buy0", 1000, 0)
	b.after(31).expect(110, "buy 1@99, sell 1@101")
	b.after(9).expect(110, "buy 1@99, sell 1@101")
	b.after(1).expect(110, "buy 1@108.9, sell 1@111.1")
}

// One step of the quantity leans the quotes, rests an opposite order, and is waited for, as a larger position
// does.
func TestASmallestPositionIsAPosition(t *testing.T) {
	t.Parallel()
	values := strategy.Values{"quantity": "0.001", "max_position": "0.004", "spread": "2%", "skew": "0", "hanging": "10%", "filled_delay": "0s"}
	long := quotes(t, "market_making", exchange.Futures, values)
	long.expect(10_000, "buy 0.001@9900, sell 0.001@10100")
	long.fill("1buy0", 1, 1)
	long.after(1).expect(9_900, "buy 0.001@9801, sell 0.001@10100")
	long.fill("2buy0", 1, 2)
	long.after(1).expect(9_800, "buy 0.001@9702, sell 0.002@10100")
	short := quotes(t, "market_making", exchange.Futures, values)
	short.expect(10_000, "buy 0.001@9900, sell 0.001@10100")
	short.fill("1sell0", 1, -1)
	short.after(1).expect(10_100, "sell 0.001@10201, buy 0.001@9900")
	short.fill("2sell0", 1, -2)
	short.after(1).expect(10_200, "sell 0.001@10302, buy 0.002@9900")
	short.after(60).expect(11_100, "sell 0.001@11211, buy 0.001@10989") // more than a tenth away: given up
}

// The coin has no minimum notional. The lowest quote is at one of the smallest units, and none is at zero.
func TestTheLowestPricesAreQuoted(t *testing.T) {
	t.Parallel()
	where := cheap(t, exchange.Futures)
	for _, c := range []struct {
		name   string
		values strategy.Values
		last   exchange.Price
		held   exchange.Quantity
		want   string // quantity@price of the buys, and of the sells
	}{
		{"three levels, half the price apart", strategy.Values{"levels": "3", "level_step": "50%"}, 8, 0, "10@6 10@3 | 10@10 10@15 10@20"},
		{"at one of the smallest units", nil, 2, 0, "10@1 | 10@2"},
		{"room for one coin", strategy.Values{"max_position": "11"}, 8, 10, "1@6 | 10@10"},
		{"room for none", strategy.Values{"max_position": "10"}, 8, 10, " | 10@10"},
		{"above a ceiling of one unit", strategy.Values{"ceiling": "0.00000001"}, 8, 0, " | 10@10"},
		{"below a floor", strategy.Values{"floor": "0.00000009"}, 8, 0, "10@6 | "},
		{"at a floor", strategy.Values{"floor": "0.00000008"}, 8, 0, "10@6 | 10@10"},
		{"at a ceiling", strategy.Values{"ceiling": "0.00000008"}, 8, 0, "10@6 | 10@10"},
	} {
		values := strategy.Values{"quantity": "10", "max_position": "100", "spread": "50%", "skew": "0"}
		maps.Copy(values, c.values)
		s := newStrategyIn(t, where, "market_making", values)
		view := strategy.View{Symbol: where.Symbol, NowMS: 1, Last: c.last, Position: strategy.Position{Quantity: c.held}}
		var plan strategy.Plan
		s.Decide(&view, &plan)
		sides := map[exchange.Side][]string{}
		for _, o := range slices.Concat(plan.Orders, plan.Exits) {
			sides[o.Side] = append(sides[o.Side], fmt.Sprintf("%d@%d", o.Quantity, o.Price))
		}
		if have := strings.Join(sides[exchange.Buy], " ") + " | " + strings.Join(sides[exchange.Sell], " "); have != c.want {
			t.Errorf("%s: want %s, have %s", c.name, c.want, have)
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

func TestRebalanceTradesOnlyDrift(t *testing.T) {
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
