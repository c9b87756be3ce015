package library

import (
	"errors"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/strategy"
)

func setting(t testing.TB, market exchange.Market) strategy.Setting {
	t.Helper()
	s, err := exchange.NewSymbol(exchange.SymbolSpec{Market: market, Name: "BTC-USDT", Base: "BTC", Quote: "USDT",
		PriceTick: decimal.RequireFromString("0.1"), QuantityTick: decimal.RequireFromString("0.001"), MinNotional: decimal.NewFromInt(5),
		MaxNotional: decimal.NewFromInt(1_000_000)})
	if err != nil {
		t.Fatal(err)
	}
	return strategy.Setting{Market: market, Symbol: s, Interval: exchange.Minute1}
}

// cheap is a setting whose base asset is priced in hundred-millionths, traded in whole units, and has no minimum notional.
func cheap(t testing.TB, market exchange.Market) strategy.Setting {
	t.Helper()
	s, err := exchange.NewSymbol(exchange.SymbolSpec{Market: market, Name: "PEPE-USDT", Base: "PEPE", Quote: "USDT",
		PriceTick: decimal.RequireFromString("0.00000001"), QuantityTick: decimal.NewFromInt(1), MaxNotional: decimal.NewFromInt(1_000_000)})
	if err != nil {
		t.Fatal(err)
	}
	return strategy.Setting{Market: market, Symbol: s, Interval: exchange.Minute1}
}

func newStrategy(t testing.TB, name string, market exchange.Market, values strategy.Values) strategy.Strategy {
	t.Helper()
	return newStrategyIn(t, setting(t, market), name, values)
}

func newStrategyIn(t testing.TB, where strategy.Setting, name string, values strategy.Values) strategy.Strategy {
	t.Helper()
	definition, found := strategy.NewRegistry(All()...).Find(name)
	if !found {
		t.Fatalf("no strategy %s", name)
	}
	s, err := definition.New(where, values)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTWAPReachesExactlyItsQuantityThroughARestart(t *testing.T) {
	t.Parallel()
	values := strategy.Values{"side": "sell", "quantity": "0.100", "slices": "3", "every": "10s"}
	var memory strategy.Memory
	var position strategy.Position
	decide := func(s strategy.Strategy, nowMS int64) exchange.Quantity {
		view, plan := strategy.View{Symbol: setting(t, exchange.Futures).Symbol, NowMS: nowMS, Memory: memory, Position: position}, strategy.Plan{}
		s.Decide(&view, &plan)
		position.Quantity = plan.Target.Quantity
		memory, _ = memory.With(plan.Remembered())
		return plan.Target.Quantity
	}
	s := newStrategy(t, "twap", exchange.Futures, values)
	for _, c := range []struct {
		atMS int64
		want exchange.Quantity
	}{{5_000, -33}, {14_999, -33}, {15_000, -66}} {
		if have := decide(s, c.atMS); have != c.want {
			t.Errorf("at %d: want %d, have %d", c.atMS, c.want, have)
		}
	}
	s = newStrategy(t, "twap", exchange.Futures, values) // restarted with its memory from the journal
	for _, c := range []struct {
		atMS int64
		want exchange.Quantity
	}{{24_999, -66}, {25_000, -100}, {9_000_000, -100}} {
		if have := decide(s, c.atMS); have != c.want {
			t.Errorf("after a restart at %d: want %d, have %d", c.atMS, c.want, have)
		}
	}
}

func TestWrongParametersAreNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		strategy, parameter string
		market              exchange.Market
		values              strategy.Values
	}{
		{"sma_cross", "fast", exchange.Futures, strategy.Values{"fast": "50", "slow": "50"}},
		{"sma_cross", "fast", exchange.Futures, strategy.Values{"fast": "0"}},
		{"sma_cross", "mode", exchange.Futures, strategy.Values{"mode": "sideways"}},
		{"sma_cross", "fasst", exchange.Futures, strategy.Values{"fasst": "5"}},
		{"rsi", "low", exchange.Futures, strategy.Values{"low": "80"}},
		{"twap", "quantity", exchange.Futures, strategy.Values{}},
		{"twap", "quantity", exchange.Futures, strategy.Values{"quantity": "0.0001"}},
		{"twap", "every", exchange.Futures, strategy.Values{"quantity": "1", "every": "1ms"}},
		{"twap", "side", exchange.Spot, strategy.Values{"quantity": "1", "side": "sell"}},
	} {
		definition, _ := strategy.NewRegistry(All()...).Find(c.strategy)
		_, err := definition.New(setting(t, c.market), c.values)
		var wrong *strategy.ValueError
		if !errors.As(err, &wrong) || wrong.Parameter != c.parameter {
			t.Errorf("%s %v: want a fault of %s, have %v", c.strategy, c.values, c.parameter, err)
		}
	}
}

// pacing asks a strategy tick by tick. Halted ticks fill nothing, missed ones are not asked.
func pacing(t *testing.T, name string, values strategy.Values, ticks string) (held []exchange.Quantity) {
	t.Helper()
	where := setting(t, exchange.Futures)
	where.TickMS = 1_000
	s := newStrategyIn(t, where, name, values)
	view, plan := strategy.View{Symbol: where.Symbol, Last: 50_000e8}, strategy.Plan{}
	for i, tick := range ticks {
		view.NowMS = 1_000_000 + int64(i)*1_000
		if tick != '.' { // missed
			plan.Reset()
			s.Decide(&view, &plan)
			view.Memory, _ = view.Memory.With(plan.Remembered())
			view.Events = nil
		}
		if bought := plan.Target.Quantity - view.Position.Quantity; tick == '+' {
			view.Events = append(view.Events, strategy.Event{Kind: strategy.EventFilled, Side: exchange.Buy, Quantity: bought})
			view.Position.Quantity = plan.Target.Quantity
		}
		held = append(held, view.Position.Quantity)
	}
	return held
}

func TestBacklogIsCaughtUpOneSlicePerTick(t *testing.T) {
	t.Parallel()
	const pause = 20
	for _, c := range []struct {
		name, strategy, missed string
		values                 strategy.Values
		slice, want            exchange.Quantity
	}{
		{"twap after downtime", "twap", ".", strategy.Values{"quantity": "0.500", "slices": "50", "every": "1s"}, 10, 500},
		{"twap after a halt", "twap", "-", strategy.Values{"quantity": "0.500", "slices": "50", "every": "1s"}, 10, 500},
		{"dca after downtime", "dca", ".", strategy.Values{"amount": "500", "every": "1s", "buys": "30"}, 10, 0},
		{"dca after a halt", "dca", "-", strategy.Values{"amount": "500", "every": "1s", "buys": "30"}, 10, 300},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			held := pacing(t, c.strategy, c.values, "++++++"+strings.Repeat(c.missed, pause)+strings.Repeat("+", 80))
			most := c.slice + c.slice/10
			for i := 1; i < len(held); i++ {
				if more := held[i] - held[i-1]; more > most || more < 0 {
					t.Errorf("tick %d: want at most one slice of %d at once, have %d", i, c.slice, more)
				}
			}
			if have := held[len(held)-1]; c.want != 0 && have != c.want {
				t.Errorf("in the end: want exactly %d, have %d", c.want, have)
			}
		})
	}
}

func TestTWAPCountsOrdersInFlight(t *testing.T) {
	t.Parallel()
	s := newStrategy(t, "twap", exchange.Futures, strategy.Values{"quantity": "0.500", "slices": "50", "every": "1s"})
	view, plan := strategy.View{Symbol: setting(t, exchange.Futures).Symbol, Last: 50_000e8, NowMS: 1_000}, strategy.Plan{}
	s.Decide(&view, &plan)
	view.Memory, _ = view.Memory.With(plan.Remembered())
	view.NowMS, view.Working = 2_000, []strategy.WorkingOrder{{Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: 10}}
	plan.Reset()
	s.Decide(&view, &plan)
	if plan.Target.Quantity != 20 {
		t.Errorf("an order on its way: want the next slice on top of it, have %d", plan.Target.Quantity)
	}
}

// An order whose row cannot be read is in flight and has filled nevertheless.
func TestTWAPCountsFilledPartOfAmount(t *testing.T) {
	t.Parallel()
	s := newStrategy(t, "twap", exchange.Spot, strategy.Values{"quantity": "0.0500", "slices": "50", "every": "1s"})
	view, plan := strategy.View{Symbol: setting(t, exchange.Spot).Symbol, NowMS: 1_000}, strategy.Plan{}
	s.Decide(&view, &plan)
	slice := plan.Target.Quantity
	view.Memory, _ = view.Memory.With(plan.Remembered())
	view.NowMS, view.Position.Quantity = 30_000, slice
	for filled, want := range map[exchange.Quantity]exchange.Quantity{0: 3 * slice, slice: 2 * slice} {
		view.Working = []strategy.WorkingOrder{{Side: exchange.Buy, Type: exchange.MarketOrder, Filled: filled}}
		plan.Reset()
		if s.Decide(&view, &plan); plan.Target.Quantity < want || plan.Target.Quantity > want+slice/10+2 {
			t.Errorf("%d of an amount filled: want %d targeted, have %d", filled, want, plan.Target.Quantity)
		}
	}
}

func TestTWAPRespectsPriceBound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		side        string
		good, wrong exchange.Price
		sign        exchange.Quantity
	}{{"buy", 49_000e8, 50_001e8, 1}, {"sell", 51_000e8, 49_999e8, -1}} {
		s := newStrategy(t, "twap", exchange.Futures, strategy.Values{"quantity": "1", "slices": "10", "every": "1s", "side": c.side, "price_bound": "50000"})
		view, plan := strategy.View{Symbol: setting(t, exchange.Futures).Symbol, NowMS: 1_000_000}, strategy.Plan{}
		at := func(price exchange.Price) exchange.Quantity {
			view.Last = price
			plan.Reset()
			s.Decide(&view, &plan)
			view.Memory, _ = view.Memory.With(plan.Remembered())
			view.Position.Quantity = plan.Target.Quantity
			view.NowMS += 1_000
			return plan.Target.Quantity * c.sign
		}
		for i, step := range []struct {
			price exchange.Price
			want  exchange.Quantity
		}{{c.good, 100}, {c.wrong, 100}, {c.wrong, 100}, {c.good, 200}, {c.good, 300}, {c.wrong, 300}} {
			if have := at(step.price); have != step.want {
				t.Errorf("%s, step %d: want %d, have %d", c.side, i, step.want, have)
			}
		}
	}
}

func TestJitterMovesEachSliceWithinItsIntervalAndIsRepeatable(t *testing.T) {
	t.Parallel()
	s := newStrategy(t, "twap", exchange.Futures, strategy.Values{"quantity": "1", "slices": "100", "every": "10s", "jitter": "50%"}).(*slicing)
	const begin = 1_700_000_000_000
	late, different := false, false
	for slice := range int64(100) {
		delay := s.delayMS(begin, slice)
		if delay < 0 || delay >= 5_000 || delay != s.delayMS(begin, slice) {
			t.Fatalf("slice %d: want a repeatable delay of 0 to 5 s, have %d ms", slice, delay)
		}
		late, different = late || delay > 4_000, different || delay != s.delayMS(begin, 0)
		at := begin + slice*10_000 + delay
		if due, next := s.due(begin, at-1); due != slice || next != at {
			t.Errorf("a millisecond before slice %d: want %d due and the next at %d, have %d and %d", slice, slice, at, due, next)
		}
		if due, next := s.due(begin, at); due != slice+1 || next != begin+(slice+1)*10_000+s.delayMS(begin, slice+1) {
			t.Errorf("at slice %d: want %d due, and the next in its interval, have %d and %d", slice, slice+1, due, next)
		}
	}
	if !late || !different {
		t.Error("want delays of all sizes")
	}
}

// The jitter reaches the interval's last millisecond.
func TestAWholeJitterStaysWithinTheInterval(t *testing.T) {
	t.Parallel()
	s := newStrategy(t, "twap", exchange.Futures, strategy.Values{"quantity": "100", "slices": "100000", "every": "100ms", "jitter": "100%"}).(*slicing)
	longest := int64(0)
	for slice := range int64(10_000) {
		longest = max(longest, s.delayMS(1_700_000_000_000, slice))
	}
	if longest != 99 {
		t.Errorf("want at most 99 ms of 100, and that, have %d", longest)
	}
}

// A tick may add the slices due between two ticks, or as many as may be caught up.
func TestTWAPSlicesPerTick(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tickMS  int64
		catchUp int
		everyMS int64
		want    int64
	}{{0, 0, 1_000, 1}, {1_000, 0, 1_000, 1}, {1_001, 0, 1_000, 2}, {900, 0, 300, 3}, {901, 0, 300, 4}, {900, 3, 300, 3}, {900, 5, 300, 5}, {0, 2, 300, 2}} {
		where := setting(t, exchange.Futures)
		where.TickMS, where.CatchUp = c.tickMS, c.catchUp
		if have := stepOf(&where, c.everyMS); have != c.want {
			t.Errorf("%+v: want %d, have %d", c, c.want, have)
		}
	}
	// Nine slices of ten are due, and three may be caught up at once.
	where := setting(t, exchange.Futures)
	where.CatchUp = 3
	for slices, want := range map[string]exchange.Quantity{"10": 30, "2": 50} {
		s := newStrategyIn(t, where, "twap", strategy.Values{"quantity": "0.1", "slices": slices, "every": "1s"})
		view := strategy.View{Symbol: where.Symbol, NowMS: 8_001, Last: 50_000e8, Memory: strategy.MemoryOf(strategy.MemoryVariable{Key: began, Value: 1})}
		var plan strategy.Plan
		if slices == "2" {
			view.NowMS = 1
		}
		if s.Decide(&view, &plan); plan.Target.Quantity != want {
			t.Errorf("%s slices: want %d, have %d", slices, want, plan.Target.Quantity)
		}
	}
}

// The bound is one of the smallest units, so a coin that costs two is too expensive.
func TestTheLowestPriceBound(t *testing.T) {
	t.Parallel()
	where := cheap(t, exchange.Futures)
	s := newStrategyIn(t, where, "twap", strategy.Values{"quantity": "100", "slices": "10", "every": "1s", "price_bound": "0.00000001"})
	for price, want := range map[exchange.Price]exchange.Quantity{1: 10, 2: 0} {
		view := strategy.View{Symbol: where.Symbol, NowMS: 1, Last: price, Memory: strategy.MemoryOf(strategy.MemoryVariable{Key: began, Value: 1})}
		var plan strategy.Plan
		if s.Decide(&view, &plan); plan.Target.Quantity != want {
			t.Errorf("at %d: want %d, have %d", price, want, plan.Target.Quantity)
		}
		if lines := conditionLines(s, &view); !strings.HasPrefix(lines[len(lines)-1], "price: ") {
			t.Errorf("want the bound shown, have %q", lines)
		}
	}
}

// The strategy is made while the exchange accepts no order below 100 USDT; then it accepts 5 again.
func TestSliceFollowsTheCurrentMinimum(t *testing.T) {
	t.Parallel()
	then := setting(t, exchange.Futures)
	rules := *then.Symbol
	rules.MinNotional = exchange.AmountOf(100)
	then.Symbol = &rules
	s := newStrategyIn(t, then, "twap", strategy.Values{"quantity": "0.010", "slices": "10", "every": "1s"})
	view := strategy.View{NowMS: 9_001, Last: 50_000e8, Memory: strategy.MemoryOf(strategy.MemoryVariable{Key: began, Value: 1})}
	for _, c := range []struct {
		symbol *exchange.Symbol
		want   exchange.Quantity
	}{{then.Symbol, 3}, {setting(t, exchange.Futures).Symbol, 1}} {
		var plan strategy.Plan
		view.Symbol = c.symbol
		if s.Decide(&view, &plan); plan.Target.Quantity != c.want {
			t.Errorf("the smallest order is %s USDT: want %d, have %d", c.symbol.MinNotional, c.want, plan.Target.Quantity)
		}
	}
}

// For a while the exchange accepts no order below 100,000 USDT: a turtle buys no unit, and a market maker quotes nothing.
func TestOrdersAreSizedByTheCurrentRules(t *testing.T) {
	t.Parallel()
	then := *setting(t, exchange.Futures).Symbol
	then.MinNotional = exchange.AmountOf(100_000)
	turtle := turtleBook(t, nil)
	made := newStrategy(t, "market_making", exchange.Futures, strategy.Values{"quantity": "0.1", "max_position": "0.4"})
	for _, c := range []struct {
		symbol *exchange.Symbol
		unit   exchange.Quantity
		quotes int
	}{{&then, 0, 0}, {setting(t, exchange.Futures).Symbol, 100_000, 2}} {
		turtle.view.Symbol, turtle.view.Last = c.symbol, 102e8
		turtle.plan.Reset()
		if turtle.strategy.Decide(&turtle.view, &turtle.plan); turtle.plan.Target.Quantity != c.unit {
			t.Errorf("a smallest order of %s: want a unit of %d, have %d", c.symbol.MinNotional, c.unit, turtle.plan.Target.Quantity)
		}
		quotes := newBook(t, made, exchange.Futures)
		quotes.view.Symbol, quotes.view.Last = c.symbol, 1000e8
		if made.Decide(&quotes.view, &quotes.plan); len(quotes.plan.Orders) != c.quotes {
			t.Errorf("a smallest order of %s: want %d quotes, have %+v", c.symbol.MinNotional, c.quotes, quotes.plan.Orders)
		}
	}
}
