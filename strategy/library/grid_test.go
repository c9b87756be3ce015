package library

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"botd/exchange"
	"botd/strategy"
)

// book stores what botd stores for a strategy between its decisions.
type book struct {
	t        *testing.T
	strategy strategy.Strategy
	view     strategy.View
	plan     strategy.Plan
}

func newBook(t *testing.T, s strategy.Strategy, market exchange.Market) *book {
	return &book{t: t, strategy: s, view: strategy.View{Symbol: setting(t, market).Symbol, NowMS: 1}}
}

// decide asks at a price and stores the desired orders; orders that left the plan are forgotten.
func (b *book) decide(price float64) string {
	b.view.Last = exchange.Price(price * 1e8)
	b.plan.Reset()
	b.strategy.Decide(&b.view, &b.plan)
	first, remembered := b.text(), slices.Clone(b.plan.Remembered().Entries())
	b.plan.Reset()
	b.strategy.Decide(&b.view, &b.plan)
	if again := b.text(); again != first || !slices.Equal(b.plan.Remembered().Entries(), remembered) {
		b.t.Errorf("the same view gave %s and %v, then %s and %v", first, remembered, again, b.plan.Remembered())
	}
	b.view.Memory, _ = b.view.Memory.With(b.plan.Remembered())
	still := b.view.Fills[:0]
	for _, f := range b.view.Fills {
		for _, w := range append(append([]strategy.DesiredOrder{}, b.plan.Orders...), b.plan.Exits...) {
			if w.Key == f.Key {
				still = append(still, f)
			}
		}
	}
	b.view.Fills = still
	return first
}

func (b *book) text() string {
	var all []string
	for _, w := range append(append([]strategy.DesiredOrder{}, b.plan.Orders...), b.plan.Exits...) {
		all = append(all, fmt.Sprintf("%s %v@%v", strings.ToLower(w.Side.String()), b.view.Symbol.QuantityFloat(w.Quantity), b.view.Symbol.PriceFloat(w.Price)))
	}
	return strings.Join(all, ", ")
}

// fill records a fill of a key and changes the position.
func (b *book) fill(key string, quantity, position exchange.Quantity) {
	for i := range b.view.Fills {
		if b.view.Fills[i].Key == key {
			b.view.Fills[i].Quantity += quantity
			b.view.Position.Quantity = position
			return
		}
	}
	b.view.Fills = append(b.view.Fills, strategy.KeyFill{Key: key, Quantity: quantity})
	b.view.Position.Quantity = position
}

func (b *book) expect(price float64, want string) {
	b.t.Helper()
	if have := b.decide(price); have != want {
		b.t.Errorf("at %v: want %s; have %s", price, want, have)
	}
}

func grids(t *testing.T, market exchange.Market, more strategy.Values) *book {
	values := strategy.Values{"lower": "100", "upper": "140", "lines": "5", "quantity": "1"}
	for name, value := range more {
		values[name] = value
	}
	return newBook(t, newStrategy(t, "grid", market, values), market)
}

func TestAGridReversesEachLine(t *testing.T) {
	t.Parallel()
	b := grids(t, exchange.Futures, nil)
	b.expect(125, "buy 1@120, buy 1@110, buy 1@100")
	b.fill("in2", 400, 400)
	b.expect(119, "buy 1@120, buy 1@110, buy 1@100") // partially filled: it stays, whatever the price
	b.fill("in2", 600, 1000)
	b.expect(119, "buy 1@110, buy 1@100, sell 1@130")
	b.fill("in1", 1000, 2000)
	b.expect(109, "buy 1@100, sell 1@120, sell 1@130")
	b.fill("out1", 300, 1700)
	b.expect(120, "buy 1@100, sell 1@120, sell 1@130")
	b.fill("out1", 700, 1000)
	b.expect(121, "buy 1@110, buy 1@100, sell 1@130")
	b.fill("out2", 1000, 0)
	b.expect(131, "buy 1@130, buy 1@120, buy 1@110, buy 1@100")
	// Two fills between two decisions, an entry and an exit.
	b.fill("in3", 1000, 1000)
	b.fill("in2", 1000, 2000)
	b.expect(119, "buy 1@110, buy 1@100, sell 1@130, sell 1@140")
}

func TestAShortGridIsTheMirrorImage(t *testing.T) {
	t.Parallel()
	b := grids(t, exchange.Futures, strategy.Values{"side": "short"})
	b.expect(115, "sell 1@120, sell 1@130, sell 1@140")
	b.fill("in1", 1000, -1000)
	b.expect(121, "sell 1@130, sell 1@140, buy 1@110")
	b.fill("out1", 1000, 0)
	b.expect(109, "sell 1@110, sell 1@120, sell 1@130, sell 1@140")
}

func TestAGridShowsOnlyItsNearestOrders(t *testing.T) {
	t.Parallel()
	b := grids(t, exchange.Futures, strategy.Values{"orders": "1"})
	b.expect(135, "buy 1@130")
	b.fill("in3", 1000, 1000)
	b.expect(129, "buy 1@120, sell 1@140")
	b.fill("in2", 1000, 2000)
	b.expect(119, "buy 1@110, sell 1@130")
}

func TestAGeometricGridHasEqualRatios(t *testing.T) {
	t.Parallel()
	b := grids(t, exchange.Futures, strategy.Values{"upper": "1600", "spacing": "geometric"})
	b.expect(1e6, "buy 1@800, buy 1@400, buy 1@200, buy 1@100")
}

func TestTrailingGridFollowsOnlyWhileFlat(t *testing.T) {
	t.Parallel()
	b := grids(t, exchange.Futures, strategy.Values{"trail": "true"})
	b.expect(155, "buy 1@150, buy 1@140, buy 1@130, buy 1@120")
	b.fill("in3", 1000, 1000)
	b.expect(200, "buy 1@140, buy 1@130, buy 1@120, sell 1@160")
	b.fill("out3", 1000, 0)
	b.expect(161, "buy 1@160, buy 1@150, buy 1@140, buy 1@130")
	b.expect(90, "")
}

func TestAGridRestsAfterAStopUnlessItRestarts(t *testing.T) {
	t.Parallel()
	for restart, want := range map[string]string{"false": "", "true": "buy 1@120, buy 1@110, buy 1@100"} {
		b := grids(t, exchange.Futures, strategy.Values{"restart": restart})
		b.decide(125)
		b.fill("in2", 1000, 1000)
		b.decide(119)
		// The position is zero while the exit still rests: its fill may not be known yet.
		b.view.Position.Quantity = 0
		b.view.Working = []strategy.WorkingOrder{{Key: "out2", Side: exchange.Sell}}
		b.expect(119, "buy 1@110, buy 1@100, sell 1@130")
		b.view.Working = nil
		b.expect(125, "")
		if have := b.decide(125); have != want {
			t.Errorf("restart %s: want %q, have %q", restart, want, have)
		}
	}
}

func TestSpotGridSellsNetOfFee(t *testing.T) {
	t.Parallel()
	b := grids(t, exchange.Spot, strategy.Values{"fee": "0.15%"})
	b.decide(125)
	b.fill("in2", 1000, 998)
	b.expect(119, "buy 1@110, buy 1@100, sell 0.998@130")
	b.fill("out2", 998, 0)
	b.expect(131, "buy 1@130, buy 1@120, buy 1@110, buy 1@100")
}

// TestACachedDecisionEqualsAFreshOne compares one grid that runs all the time with a new one at each step,
// while prices move across the lines and orders fill.
func TestACachedDecisionEqualsAFreshOne(t *testing.T) {
	t.Parallel()
	for _, side := range []string{"long", "short"} {
		fresh := func() strategy.Strategy {
			return newStrategy(t, "grid", exchange.Futures, strategy.Values{"lower": "90", "upper": "110", "lines": "21", "quantity": "1",
				"orders": "7", "side": side})
		}
		one, random, remembered := fresh(), rand.New(rand.NewPCG(3, 4)), 0
		view := &strategy.View{Symbol: setting(t, exchange.Futures).Symbol, Version: 1, Last: 100e8}
		for i := range 3_000 {
			view.Last = max(85e8, min(115e8, view.Last+exchange.Price(random.IntN(9)-4)*25e6))
			if i%40 == 39 {
				view.Version++
				view.Position.Quantity++
				view.Fills = append(slices.Clone(view.Fills), strategy.KeyFill{Key: "in" + strconv.Itoa(random.IntN(20)),
					Quantity: view.Symbol.QuantityFor(exchange.AmountOf(100), 100e8)})
			}
			var have, want strategy.Plan
			one.Decide(view, &have)
			fresh().Decide(view, &want)
			if !have.Equal(&want) || have.Reason != want.Reason || !slices.Equal(have.Remembered().Entries(), want.Remembered().Entries()) {
				t.Fatalf("%s, step %d at %d: want %+v, have %+v", side, i, view.Last, want, have)
			}
			view.Memory, _ = view.Memory.With(have.Remembered())
			if len(have.Remembered().Entries()) > 0 {
				view.Version++
			}
			var again strategy.Plan
			if one.Decide(view, &again); len(again.Orders) > 0 && len(have.Orders) > 0 && &again.Orders[0] == &have.Orders[0] {
				remembered++
			}
		}
		if remembered < 1_000 {
			t.Errorf("%s: only %d of 3000 decisions were kept", side, remembered)
		}
	}
}

// On spot check refuses a stop next to it.
func TestStrategiesWithRestingExitsDeclareThem(t *testing.T) {
	t.Parallel()
	for name, values := range map[string]strategy.Values{
		"grid":          {"lower": "900", "upper": "1100", "quantity": "0.02"},
		"market_making": {"quantity": "1", "max_position": "4"},
		"avellaneda":    {"quantity": "1", "max_position": "4"},
	} {
		if !strategy.RestsExits(newStrategy(t, name, exchange.Spot, values)) {
			t.Errorf("%s: want it known that it keeps exits in the book", name)
		}
	}
	if strategy.RestsExits(newStrategy(t, "buy_and_hold", exchange.Spot, nil)) {
		t.Error("buy_and_hold keeps no exits in the book")
	}
}

func TestSpotQuoterSendsNoPostOnlyOrders(t *testing.T) {
	t.Parallel()
	b := quotes(t, "market_making", exchange.Spot, strategy.Values{"spread": "2%"})
	b.decide(100)
	if len(b.plan.Orders) != 1 || b.plan.Orders[0].PostOnly {
		t.Errorf("want one buy that is not post-only, have %+v", b.plan.Orders)
	}
	if why := b.plan.OutOfBounds(b.view.Symbol, b.view.Last); why != "" {
		t.Errorf("want it in bounds, have %s", why)
	}
	b.plan.Orders[0].PostOnly = true
	if why := b.plan.OutOfBounds(b.view.Symbol, b.view.Last); !strings.Contains(why, "post-only") {
		t.Errorf("want a post-only order on spot refused as a mistake, have %q", why)
	}
}

func TestRoundTripProfitFollowsFromParameters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		values strategy.Values
		want   exchange.Rate // in hundred-millionths
		known  bool
	}{
		{"grid", strategy.Values{"lower": "900", "upper": "1000", "lines": "11", "quantity": "0.02"}, 1_000_000, true}, // 10 of 1000 at the top
		{"market_making", strategy.Values{"quantity": "1", "max_position": "4", "spread": "0.3%"}, 300_000, true},
		{"avellaneda", strategy.Values{"quantity": "1", "max_position": "4", "gamma": "2", "kappa": "100"}, 1_980_263, true}, // 2/gamma ln(1 + gamma/kappa)
		{"avellaneda", strategy.Values{"quantity": "1", "max_position": "4", "gamma": "2"}, 20_000, true},                    // min_edge
		{"avellaneda", strategy.Values{"quantity": "1", "max_position": "4", "kappa": "100"}, 20_000, true},
		{"dca", strategy.Values{"amount": "100", "take_profit": "5%"}, 5_000_000, true},
		{"dca", strategy.Values{"amount": "100", "take_profit": "0.00000001"}, 1, true},
		{"dca", strategy.Values{"amount": "100"}, 0, false},
		{"rsi", nil, 0, false},
	} {
		e, known := strategy.EconomicsOf(newStrategy(t, c.name, exchange.Futures, c.values))
		if known != c.known || known && e.Gross != c.want {
			t.Errorf("%s: want %d, %t, have %d, %t", c.name, c.want, c.known, e.Gross, known)
		}
	}
}
