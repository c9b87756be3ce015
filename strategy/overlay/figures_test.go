package overlay

import (
	"fmt"
	"math"
	"testing"

	"botd/exchange"
	"botd/strategy"
)

// A step is a share of the entry price, or a multiple of the stop's distance.
func TestStepsAreReadAndWritten(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Step{
		"2%": {Away: one / 50}, "-2%": {Away: -one / 50}, "0.01%": {Away: 10_000}, "1R": {R: one}, "1.5r": {R: one * 3 / 2}, "-0.5R": {R: -one / 2},
	} {
		var have Step
		if err := have.ParseDistance(text); err != nil || have != want {
			t.Errorf("%s: want %+v, have %+v, %v", text, want, have, err)
		}
	}
	for _, text := range []string{"", "2", "0%", "0R", "R", "%", "x%", "xR", "2 USDT"} {
		var s Step
		if err := s.ParseDistance(text); err == nil {
			t.Errorf("%q: want it refused, have %+v", text, s)
		}
	}
	for want, s := range map[string]Step{"2%": {Away: one / 50}, "-0.5%": {Away: -one / 200}, "1.5R": {R: one * 3 / 2}, "-1R": {R: -one}} {
		if have := s.Distance(); have != want {
			t.Errorf("want %s, have %s", want, have)
		}
	}
}

// The step is rounded away from the entry on its winning side. The prices are computed manually, from an entry at 50,000.05.
func TestStepPriceAndReach(t *testing.T) {
	t.Parallel()
	symbol := testSymbol(t)
	const entry = exchange.Price(50_000.05e8)
	for _, c := range []struct {
		step                 Step
		side                 int64
		risk                 exchange.Price
		at                   float64
		below, exact, beyond bool // reached a tick below it, at it, a tick above it
	}{
		{Step{Away: one / 100}, 1, 0, 50_500.1, false, true, true}, // 50,500.0505
		{Step{Away: one / 100}, -1, 0, 49_500, true, true, false},  // 49,500.0495
		{Step{Away: -one / 100}, 1, 0, 49_500.1, true, true, false},
		{Step{Away: -one / 100}, -1, 0, 50_500, false, true, true},
		{Step{R: one * 3 / 2}, 1, 200e8, 50_300.1, false, true, true},
		{Step{R: one * 3 / 2}, -1, 200e8, 49_700, true, true, false},
		{Step{R: -one}, 1, 200e8, 49_800.1, true, true, false},
		{Step{R: one}, 1, 0.05e8, 50_000.1, false, true, true},
		{Step{R: one}, 1, 0, 0, false, false, false}, // there is no stop's distance to measure by
		{Step{R: one}, 1, -1, 0, false, false, false},
		{Step{R: -one}, -1, 0, 0, false, false, false},
	} {
		at := c.step.price(symbol, entry, c.side, c.risk)
		if at != exchange.Price(math.Round(c.at*1e8)) {
			t.Errorf("%+v on side %d: want it at %v, have %d", c.step, c.side, c.at, at)
		}
		if below, exact, beyond := c.step.reached(at, at-0.1e8, c.side), c.step.reached(at, at, c.side), c.step.reached(at, at+0.1e8, c.side); below !=
			c.below || exact != c.exact || beyond != c.beyond {
			t.Errorf("%+v on side %d: want it reached below, at and above %v %v %v, have %v %v %v", c.step, c.side, c.below, c.exact, c.beyond,
				below, exact, beyond)
		}
	}
}

func TestADurationIsWrittenInTwoUnits(t *testing.T) {
	t.Parallel()
	for ms, want := range map[int64]string{0: "0s", 999: "0s", 59_999: "59s", 60_000: "1m", 3_599_999: "59m", 3_600_000: "1h0m", 5_400_000: "1h30m",
		172_799_999: "47h59m", 172_800_000: "2d0h", 273_600_000: "3d4h"} {
		if have := duration(ms); have != want {
			t.Errorf("%d ms: want %s, have %s", ms, want, have)
		}
	}
}

func TestADistanceIsOneNumberAndBack(t *testing.T) {
	t.Parallel()
	for want, d := range map[int64]strategy.Distance{5: {Price: 5}, -5: {Share: 5}, 1: {Price: 1}, -1: {Share: 1}, 0: {}} {
		if have := encoded(d); have != want || decoded(have) != d {
			t.Errorf("%+v: want %d and back, have %d and %+v", d, want, have, decoded(have))
		}
	}
}

// sized is a sizing on a view, with its memory.
func sized(t *testing.T, rules Sizing, remembered map[string]int64) *sizing {
	view := &strategy.View{Symbol: testSymbol(t), Interval: exchange.Hour1, Equity: exchange.AmountOf(10_000), Last: 50_000e8, NowMS: 1}
	s := &sizing{Decision: strategy.Decision{View: view, Plan: &strategy.Plan{}}, rules: &rules}
	for key, value := range remembered {
		s.Remember(key, value)
	}
	return s
}

// The equity is 10,000 USDT, the price 50,000. Quantities are thousandths of a BTC.
func TestASizeAtItsBounds(t *testing.T) {
	t.Parallel()
	share := strategy.Target{Kind: strategy.ByEquity, Share: one}
	plain := func(*sizing) {}
	for _, c := range []struct {
		name   string
		rules  Sizing
		set    func(s *sizing)
		target strategy.Target
		want   exchange.Quantity
		why    string
	}{
		{"a quantity", Sizing{}, plain, strategy.Target{Kind: strategy.ByQuantity, Quantity: -7}, 7, noneFits},
		{"an amount", Sizing{}, plain, strategy.Target{Kind: strategy.ByQuote, Quote: exchange.AmountOf(-1_000)}, 20, noneFits},
		{"a share", Sizing{}, plain, strategy.Target{Kind: strategy.ByEquity, Share: -one / 2}, 100, noneFits},
		{"an amount without a price", Sizing{}, func(s *sizing) { s.View.Last = 0 }, strategy.Target{Kind: strategy.ByQuote,
			Quote: exchange.AmountOf(1_000)}, 0,
			"no price to size by"},
		{"at risk of 1 %, 2 % away", Sizing{Risk: one / 100, Max: 10 * one, Stop: strategy.Distance{Share: one / 50}}, plain, share, 100,
			"the size by risk is less than the smallest order"},
		{"half of that", Sizing{Risk: one / 100, Max: 10 * one, Stop: strategy.Distance{Share: one / 50}}, plain,
			strategy.Target{Kind: strategy.ByEquity, Share: -one / 2}, 50, "the size by risk is less than the smallest order"},
		{"at most the maximum", Sizing{Risk: one / 100, Max: one / 4, Stop: strategy.Distance{Share: one / 50}}, plain, share, 50,
			"the size by risk is less than the smallest order"},
		{"at most the leverage, less a two-hundredth", Sizing{Risk: one / 10, Max: 10 * one, Stop: strategy.Distance{Share: one / 50}},
			func(s *sizing) { s.View.Leverage = 2 }, share, 398, "the size by risk is less than the smallest order"},
		{"on spot that is 1", Sizing{Risk: one / 10, Max: 10 * one, Stop: strategy.Distance{Share: one / 50}}, func(s *sizing) {
			onSpot := *s.View.Symbol
			onSpot.Market, s.View.Symbol, s.View.Leverage = exchange.Spot, &onSpot, 5
		}, share, 199, "the size by risk is less than the smallest order"},
		{"the plan's stop is the nearer", Sizing{Risk: one / 100, Max: 10 * one, Stop: strategy.Distance{Share: one / 50}}, func(s *sizing) {
			s.Plan.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Price: 49_500e8}}
		}, share, 200, "the size by risk is less than the smallest order"},
		{"a stop at the price", Sizing{Risk: one / 100, Max: 10 * one, Stop: strategy.Distance{Price: 50_000e8}}, plain, share, 0,
			"size.risk needs a stop-loss on the losing side of the price"},
		{"a stop above it", Sizing{Risk: one / 100, Max: 10 * one, Stop: strategy.Distance{Price: 50_001e8}}, plain, share, 0,
			"size.risk needs a stop-loss on the losing side of the price"},
		{"no stop", Sizing{Risk: one / 100, Max: 10 * one}, plain, share, 0, "size.risk needs a stop-loss on the losing side of the price"},
		{"no equity", Sizing{Risk: one / 100, Max: 10 * one, Stop: strategy.Distance{Share: one / 50}}, func(s *sizing) { s.View.Equity = exchange.Amount{} },
			share, 0, "no equity to size by"},
		{"no candles", Sizing{Volatility: one / 10, Max: 10 * one}, plain, share, 0, "size.volatility needs 31 candles whose closes differ"},
		{"by results, of which there are none: 1 %", Sizing{Kelly: one, Max: 10 * one}, plain, share, 2, "the size by kelly is less than the smallest order"},
		{"never lost: the maximum", Sizing{Kelly: one, Max: one / 2}, func(s *sizing) { s.Remember(sizeWins, 20); s.Remember(sizeWon, 1e8) }, share, 100,
			"the size by kelly is less than the smallest order"},
		{"one trade too few", Sizing{Kelly: one, Max: one / 2}, func(s *sizing) { s.Remember(sizeWins, 19); s.Remember(sizeWon, 1e8) }, share, 2,
			"the size by kelly is less than the smallest order"},
	} {
		s := sized(t, c.rules, nil)
		c.set(s)
		if have, why := s.whole(c.target, 1); have != c.want || why != c.why {
			t.Errorf("%s: want %d (%s), have %d (%s)", c.name, c.want, c.why, have, why)
		}
	}
}

// Hourly changes of 2 % and 0 in turn deviate by 1 % from their mean, 93.6 % a year.
func TestVolatilityIsAboutItsMean(t *testing.T) {
	t.Parallel()
	s := sized(t, Sizing{}, nil)
	candles, closed := &exchange.Candles{Interval: exchange.Hour1}, 50_000.0
	for i := range 31 {
		if i%2 == 1 {
			closed *= math.Exp(0.02)
		}
		candles.Append(exchange.Candle{OpenMS: int64(i) * int64(exchange.Hour1), Close: exchange.Price(math.Round(closed * 1e8))})
	}
	s.View.SetHistory(candles, 31)
	if year, known := s.volatility(); !known || math.Abs(year-0.01*math.Sqrt(8_760)) > 1e-6 {
		t.Errorf("want %f, have %f, %t", 0.01*math.Sqrt(8_760), year, known)
	}
	s.View.SetHistory(candles, 30)
	if _, known := s.volatility(); known {
		t.Error("want it unknown of 30 candles, which have 29 changes")
	}
	s.View.SetHistory(candles, 31)
	s.View.Interval = 0
	if _, known := s.volatility(); known {
		t.Error("want it unknown of candles of no length")
	}
}

// A two-hundredth of the money is left. An existing position and a later part are not paid for again. A BTC costs 50,000.
func TestFreeMoneyBoundsSize(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		power, held, whole, side int64
		reduce                   bool
		want                     exchange.Quantity
	}{
		{10_050, 0, 100, 1, true, 100}, {10_050, 0, 500, 1, true, 199}, {10_050, 0, 500, 1, false, 500}, // 9,999.75
		{0, 0, 100, 1, true, 0}, {-5, 0, 100, 1, true, 0}, {55, 0, 100, 1, true, 1}, {50, 0, 100, 1, true, 0},
		{10_050, 100, 500, 1, true, 299}, {0, 100, 500, 1, true, 100}, {0, 100, 100, 1, true, 100},
		{10_050, -100, 500, 1, true, 299}, // 5,000 of the other side are released: 14,974.75
		{10_050, -100, 500, -1, true, 299},
	} {
		s := sized(t, Sizing{Reduce: c.reduce}, nil)
		s.View.BuyingPower, s.View.Position.Quantity = exchange.AmountOf(c.power), exchange.Quantity(c.held)
		if have := s.affordable(exchange.Quantity(c.whole), c.side); have != c.want {
			t.Errorf("%+v: have %d", c, have)
		}
	}
	s := sized(t, Sizing{Reduce: true, Steps: []Step{{Share: one / 2}, {Away: -one / 50, Share: one / 2}}}, nil)
	s.View.BuyingPower = exchange.AmountOf(10_050)
	if have := s.affordable(500, 1); have != 398 {
		t.Errorf("half of it is due: want 398, have %d", have)
	}
}

// A trade counts at the price of the decision that saw its end, or at the stop or take-profit if that lies between.
func TestATradeCountsByItsExit(t *testing.T) {
	t.Parallel()
	rules := Sizing{Kelly: one, Stop: strategy.Distance{Share: one / 50}, TakeProfit: strategy.Distance{Share: one / 20}}
	open := Sizing{Kelly: one}
	for _, c := range []struct {
		rules       Sizing
		side, entry int64
		last        exchange.Price
		want        string // wins, won, losses, lost
	}{
		{rules, 1, 50_000e8, 51_000e8, "1 2000000 0 0"}, {rules, 1, 50_000e8, 49_500e8, "0 0 1 1000000"}, {rules, 1, 50_000e8, 50_000e8, "0 0 1 0"},
		{rules, 1, 50_000e8, 45_000e8, "0 0 1 2000000"}, {rules, 1, 50_000e8, 60_000e8, "1 5000000 0 0"},
		{rules, -1, 50_000e8, 49_500e8, "1 1000000 0 0"}, {rules, -1, 50_000e8, 60_000e8, "0 0 1 2000000"},
		{open, 1, 40_000e8, 30_000e8, "0 0 1 25000000"}, {open, 1, 40_000e8, 60_000e8, "1 50000000 0 0"},
		{open, 1, 1, 2, "1 100000000 0 0"}, {open, 1, 0, 60_000e8, "0 0 0 0"}, {open, 1, -1, 60_000e8, "0 0 0 0"}, {Sizing{}, 1, 50_000e8, 51_000e8, "0 0 0 0"},
	} {
		s := sized(t, c.rules, map[string]int64{sizeEntry: c.entry})
		s.View.Last = c.last
		s.ended(c.side)
		have := fmt.Sprint(s.Recall(sizeWins), s.Recall(sizeWon), s.Recall(sizeLosses), s.Recall(sizeLost))
		if have != c.want {
			t.Errorf("side %d from %d to %d: want %s, have %s", c.side, c.entry, c.last, c.want, have)
		}
	}
}

// The distance is the configured one, or the plan's, as a share of the entry or as a price.
func TestAStopsDistance(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		configured strategy.Distance
		plan       *strategy.Distance
		want       exchange.Price
	}{
		{strategy.Distance{Share: one / 50}, nil, 1_000e8}, {strategy.Distance{Price: 49_000e8}, nil, 1_000e8}, {strategy.Distance{Price: 52_000e8},
			nil, 2_000e8},
		{strategy.Distance{}, nil, 0}, {strategy.Distance{Share: one / 50}, &strategy.Distance{Price: 49_500e8}, 500e8},
		{strategy.Distance{Share: one / 50}, &strategy.Distance{Share: one / 100}, 500e8}, {strategy.Distance{Price: 1}, &strategy.Distance{}, 0},
	} {
		s := sized(t, Sizing{Stop: c.configured}, nil)
		if c.plan != nil {
			s.Plan.Protection = strategy.Protection{Set: true, StopLoss: *c.plan}
		}
		if have := s.stopDistance(50_000e8); have != c.want {
			t.Errorf("%+v, %+v: want %d, have %d", c.configured, c.plan, c.want, have)
		}
	}
	s := sized(t, Sizing{}, map[string]int64{sizeSide: 1, sizeQuantity: 20})
	if have := s.conditions(nil); len(have) != 1 || have[0].Name != "size, as of the entry" || have[0].Value != "0.02 BTC" {
		t.Errorf("want the size in force shown, have %+v", have)
	}
	if have := sized(t, Sizing{}, nil).conditions(nil); len(have) != 0 {
		t.Errorf("want nothing shown while there is none, have %+v", have)
	}
}
