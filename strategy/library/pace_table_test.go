package library

import (
	"fmt"
	"strings"
	"testing"

	"botd/exchange"
	"botd/strategy"
)

// The quantity is the sum of the position and the strategy's own entries, in its direction.
func TestPositionPlusOrdersInFlight(t *testing.T) {
	t.Parallel()
	type order = strategy.WorkingOrder
	for _, c := range []struct {
		name       string
		held, sign exchange.Quantity
		working    []order
		want       exchange.Quantity
	}{
		{"nothing", 0, 1, nil, 0},
		{"a position", 30, 1, nil, 30},
		{"a short one", -30, -1, nil, 30},
		{"one of the other side", -30, 1, nil, 0},
		{"an order under way", 30, 1, []order{{Side: exchange.Buy, Quantity: 20}}, 50},
		{"part of it is filled", 30, 1, []order{{Side: exchange.Buy, Quantity: 20, Filled: 5}}, 45},
		{"a sale under way, for a short one", -30, -1, []order{{Side: exchange.Sell, Quantity: 20, Filled: 5}}, 45},
		{"an exit under way", 30, 1, []order{{Side: exchange.Sell, Quantity: 20}}, 10},
		{"an exit of more than is held", 30, 1, []order{{Side: exchange.Sell, Quantity: 50}}, 0},
		{"a stop", 30, 1, []order{{Side: exchange.Sell, Quantity: 20, StopPrice: 1}}, 30},
		{"an order by a key", 30, 1, []order{{Side: exchange.Buy, Quantity: 20, Key: "k"}}, 30},
		{"more than its quantity is filled, at a better price", 30, 1, []order{{Side: exchange.Buy, Quantity: 5, Filled: 6}}, 30},
		{"a purchase for an amount of money is a slice", 30, 1, []order{{Side: exchange.Buy}}, 37},
		{"of which some is filled", 30, 1, []order{{Side: exchange.Buy, Filled: 3}}, 34},
		{"of which more than a slice is filled", 30, 1, []order{{Side: exchange.Buy, Filled: 9}}, 30},
		{"a whole stop of the other side", 30, 1, []order{{Side: exchange.Sell}}, 30},
	} {
		view := &strategy.View{Position: strategy.Position{Quantity: c.held}, Working: c.working}
		if have := outstanding(view, c.sign, 7); have != c.want {
			t.Errorf("%s: want %d, have %d", c.name, c.want, have)
		}
	}
}

// A tick moves at most a step, and at least the smallest order and a twentieth; on spot with room for fees.
func TestTickMovesAtMostOneStep(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		market       exchange.Market
		last         float64
		target, step exchange.Quantity
		want         exchange.Quantity
	}{
		{"a step", exchange.Futures, 1000, 500, 100, 130},
		{"up to the target", exchange.Futures, 1000, 120, 100, 120},
		{"the smallest order is larger", exchange.Futures, 10, 900, 100, 30 + 500 + 25 + 1},
		{"no price is known", exchange.Futures, 0, 500, 100, 130},
		{"on spot, with room for fees", exchange.Spot, 1000, 500, 100, 30 + 100 + 1 + 1},
	} {
		view := &strategy.View{Symbol: setting(t, c.market).Symbol, Position: strategy.Position{Quantity: 30}, Last: exchange.Price(c.last * 1e8)}
		if have := paced(view, 1, c.target, 100, c.step); have != c.want {
			t.Errorf("%s: want %d, have %d", c.name, c.want, have)
		}
	}
}

// The order is for what is due by the clock, and does not exceed the price bound, which is included.
func TestSliceTarget(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		side   string
		after  int64 // ms after its start
		price  float64
		held   exchange.Quantity
		want   exchange.Quantity
		reason string
	}{
		{"buy", 0, 1000, 0, 33, "the slices due by now"},
		{"buy", 9_999, 1000, 33, 33, "the slices due by now"},
		{"buy", 10_000, 1000, 33, 66, "the slices due by now"},
		{"buy", 20_000, 1000, 66, 100, "the slices due by now"},
		{"buy", 90_000, 1000, 100, 100, "the slices due by now"},
		{"buy", 20_000, 1000, 0, 34, "catches up with the slices due by now"},
		{"buy", 20_000, 1000.1, 40, 40, "waits: the price is beyond price_bound"},
		{"sell", 10_000, 1000, -33, -66, "the slices due by now"},
		{"sell", 10_000, 999.9, -33, -33, "waits: the price is beyond price_bound"},
		{"sell", 10_000, 1000.1, -33, -66, "the slices due by now"},
		{"sell", 20_000, 999.9, 5, 0, "waits: the price is beyond price_bound"},
	} {
		s := newStrategy(t, "twap", exchange.Futures, strategy.Values{"side": c.side, "quantity": "0.1", "slices": "3", "every": "10s", "price_bound": "1000"})
		view := strategy.View{Symbol: setting(t, exchange.Futures).Symbol, NowMS: 1_000 + c.after, Last: exchange.Price(c.price*10+0.5) * 1e7,
			Position: strategy.Position{Quantity: c.held}, Memory: strategy.MemoryOf(strategy.MemoryVariable{Key: began, Value: 1_000})}
		var plan strategy.Plan
		if s.Decide(&view, &plan); plan.Target.Quantity != c.want || plan.Reason != c.reason {
			t.Errorf("%s after %d ms at %v, holding %d: want %d, %q, have %d, %q", c.side, c.after, c.price, c.held, c.want, c.reason,
				plan.Target.Quantity, plan.Reason)
		}
	}
}

// A share is rebalanced if it was reached and has drifted beyond the band, or if its order was refused.
func TestRebalanceConditions(t *testing.T) {
	t.Parallel()
	refusal := func(kind strategy.EventKind, key string) []strategy.Event {
		return []strategy.Event{{Kind: kind, Key: key}}
	}
	const begun = int64(4_000) // 4 of 10 at 1000: 40 %
	for _, c := range []struct {
		name   string
		base   int64 // quantity traded to last; -1 for never
		held   exchange.Quantity
		price  float64
		events []strategy.Event
		want   exchange.Quantity
		reason string
	}{
		{"at first", -1, 0, 1000, nil, 4_000, "0.0 % of the account, target 40.0 %"},
		{"within its band", begun, 4_000, 1100, nil, 4_000, "within its band of the account"},
		{"beyond its band", begun, 4_000, 1130, nil, 3_539, "45.2 % of the account, target 40.0 %"},
		{"not reached, by more than a hundredth and a step", begun, 3_958, 1150, nil, 4_000, "within its band of the account"},
		{"reached but for a hundredth and a step", begun, 3_959, 1150, nil, 3_478, "45.5 % of the account, target 40.0 %"},
		{"not reached, since its order was refused", begun, 3_000, 1000, refusal(strategy.EventRefused, ""), 4_000, "30.0 % of the account, target 40.0 %"},
		{"another order was refused", begun, 3_000, 1000, refusal(strategy.EventRefused, "k"), 4_000, "within its band of the account"},
		{"its order was filled", begun, 3_000, 1000, refusal(strategy.EventFilled, ""), 4_000, "within its band of the account"},
	} {
		b := newBook(t, newStrategy(t, "rebalance", exchange.Futures, strategy.Values{"weight": "40%", "band": "5%"}), exchange.Futures)
		b.view.Equity, b.view.Position.Quantity, b.view.Events = exchange.AmountOf(10_000), c.held, c.events
		b.view.Last = exchange.Price(c.price * 1e8)
		if c.base >= 0 {
			b.view.Memory = strategy.MemoryOf(strategy.MemoryVariable{Key: rebalanced, Value: c.base})
		}
		if b.strategy.Decide(&b.view, &b.plan); b.plan.Target.Quantity != c.want || b.plan.Reason != c.reason {
			t.Errorf("%s: want %d, %q, have %d, %q", c.name, c.want, c.reason, b.plan.Target.Quantity, b.plan.Reason)
		}
	}
	where := cheap(t, exchange.Futures)
	b := newBook(t, newStrategyIn(t, where, "rebalance", strategy.Values{"weight": "50%", "band": "25%"}), exchange.Futures)
	b.view.Symbol, b.view.Equity, b.view.Last = where.Symbol, exchange.MustAmount("0.00001"), 1
	for _, c := range []struct{ held, want exchange.Quantity }{{0, 500}, {500, 500}, {750, 750}, {751, 500}} { // 75 % is within the band
		b.view.Position.Quantity = c.held
		if c.held != 0 {
			b.view.Memory = strategy.MemoryOf(strategy.MemoryVariable{Key: rebalanced, Value: int64(c.held)})
		}
		b.plan.Reset()
		if b.strategy.Decide(&b.view, &b.plan); b.plan.Target != (strategy.Target{Kind: strategy.ByQuantity, Quantity: c.want}) {
			t.Errorf("%d units of 1000 at the lowest price: want %d, have %+v", c.held, c.want, b.plan.Target)
		}
	}
	if lines := conditionLines(b.strategy, &b.view); lines[0] != "share held: 75.10 % | more than 25.00 % away from 50.00 % | met" {
		t.Errorf("want the share shown, have %q", lines)
	}
	for name, change := range map[string]func(v *strategy.View){
		"equity": func(v *strategy.View) { v.Equity = exchange.Amount{} }, "price": func(v *strategy.View) { v.Last = 0 },
	} {
		b := newBook(t, newStrategy(t, "rebalance", exchange.Futures, strategy.Values{"weight": "40%"}), exchange.Futures)
		b.view.Equity, b.view.Last = exchange.AmountOf(10_000), 1000e8
		change(&b.view)
		if b.strategy.Decide(&b.view, &b.plan); b.plan.Target.Kind != strategy.NoTarget {
			t.Errorf("without %s: want nothing decided, have %+v", name, b.plan.Target)
		}
	}
}

// Touching the channel does not break it. The position is left at the nearer channel.
func TestChannelBreakNeedsPriceBeyond(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		mode   string
		closes []float64 // after three candles from 99 to 101 that close at 100
		want   string    // the target after each
	}{
		{"touching the high", "long_short", []float64{101}, "-"},
		{"beyond the high", "long_short", []float64{101.1}, "10"},
		{"touching the low", "long_short", []float64{99}, "-"},
		{"beyond the low", "long_short", []float64{98.9}, "-10"},
		{"beyond the low, long alone", "long_only", []float64{98.9}, "0"},
		{"long, touching the nearer low", "long_short", []float64{105, 104}, "10 10"},
		{"long, beyond the nearer low", "long_short", []float64{105, 103.9}, "10 0"},
		{"short, touching the nearer high", "long_short", []float64{95, 96}, "-10 -10"},
		{"short, beyond the nearer high", "long_short", []float64{95, 96.1}, "-10 0"},
		{"long, beyond the far low", "long_short", []float64{105, 90}, "10 -10"},
	} {
		made := setting(t, exchange.Futures)
		made.Size = strategy.Size{Quantity: 10}
		definition, _ := strategy.NewRegistry(All()...).Find("donchian")
		s, err := definition.New(made, strategy.Values{"entry": "3", "exit": "1", "mode": c.mode})
		if err != nil {
			t.Fatal(err)
		}
		b := newBook(t, s, exchange.Futures)
		for range 3 {
			b.candle(101, 99, 100)
		}
		var have []string
		for _, price := range c.closes {
			b.candle(price+1, price-1, price)
			b.plan.Reset()
			b.strategy.Decide(&b.view, &b.plan)
			text := "-"
			if b.plan.Target.Kind != strategy.NoTarget {
				text = fmt.Sprint(b.plan.Target.Quantity)
			}
			have = append(have, text)
		}
		if strings.Join(have, " ") != c.want {
			t.Errorf("%s: want %s, have %v", c.name, c.want, have)
		}
	}
}

// The order is next to the first fill's price, at the average if more filled, and absent once the price is too
// far away.
func TestHangingOrderPrice(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		hanging      float64
		before, held exchange.Quantity
		hung         int64 // price of the resting order so far
		bid, ask     int64
		center       exchange.Price
		want         int64
	}{
		{"a purchase filled: the sale beside it", 0.1, 0, 10, 0, 900, 1_100, 1_000, 1_100},
		{"a sale filled: the purchase beside it", 0.1, 0, -10, 0, 900, 1_100, 1_000, 900},
		{"hanging is off", 0, 0, 10, 0, 900, 1_100, 1_000, 0},
		{"nothing is held", 0.1, 10, 0, 1_100, 900, 1_100, 1_000, 0},
		{"nothing was quoted", 0.1, 0, 10, 0, 900, 0, 1_000, 0},
		{"it stays while nothing changes", 0.1, 10, 10, 1_050, 900, 1_100, 1_000, 1_050},
		{"it stays while part is sold", 0.1, 10, 6, 1_050, 900, 1_100, 1_000, 1_050},
		{"as much again filled: the mean", 0.1, 10, 20, 1_050, 900, 1_090, 1_000, 1_070},
		{"as much again sold: the mean", 0.1, -10, -20, 950, 910, 1_100, 1_000, 930},
		{"one of the smallest steps more filled after one: the mean", 0.1, 1, 2, 1_050, 900, 1_090, 1_000, 1_070},
		{"one of the smallest steps more sold after one: the mean", 0.1, -1, -2, 950, 910, 1_100, 1_000, 930},
		{"from one of the smallest steps short to one long", 0.1, -1, 1, 950, 900, 1_100, 1_000, 1_100},
		{"from one of the smallest steps long to one short", 0.1, 1, -1, 1_050, 900, 1_100, 1_000, 900},
		{"nowhere so far, however near", 0.5, 10, 20, 0, 900, 1_200, 1_000, 0},
		{"at one of the smallest units of the price", 0.5, 0, -10, 0, 1, 3, 2, 1},
		{"from one of the smallest units of the price", 0.5, 10, 20, 1, 1, 3, 2, 2},
		{"a third more filled: nearer to the first", 0.1, 20, 30, 1_080, 900, 1_050, 1_000, 1_070},
		{"nowhere so far, and more filled", 0.1, 10, 20, 0, 900, 1_090, 1_000, 0},
		{"the other side: where that is quoted", 0.1, -10, 10, 950, 900, 1_100, 1_000, 1_100},
		{"from long to short: likewise", 0.1, 10, -10, 1_050, 900, 1_100, 1_000, 900},
		{"as far as it may", 0.1, 10, 10, 1_100, 900, 1_050, 1_000, 1_100},
		{"too far", 0.1, 10, 10, 1_101, 900, 1_050, 1_000, 0},
		{"too far below", 0.1, -10, -10, 899, 950, 1_050, 1_000, 0},
	} {
		q := &quoter{hanging: c.hanging}
		var now turn
		now[quoteHeld], now[quoteHanging], now[quoteBid], now[quoteAsk] = int64(c.before), c.hung, c.bid, c.ask
		if have := q.hangingPrice(now, c.held, c.center); have != c.want {
			t.Errorf("%s: want %d, have %d", c.name, c.want, have)
		}
	}
}

// The adding quotes are bounded by max_position and reduced by the skew, the reducing ones are bounded by the position. None is beyond
// floor and ceiling, and none is too small.
func TestQuotesOfEachSide(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		market exchange.Market
		values strategy.Values
		held   int64
		last   float64
		hung   int64
		want   string // buys and sells; exits start with x
	}{
		{"flat", exchange.Futures, nil, 0, 1000, 0, "b 100@990 s 100@1010"},
		{"long by half", exchange.Futures, nil, 200, 1000, 0, "b 75@990 x s 100@1010"},
		{"short by half", exchange.Futures, nil, -200, 1000, 0, "x b 100@990 s 75@1010"},
		{"long by all", exchange.Futures, nil, 400, 1000, 0, "x s 100@1010"},
		{"long by nearly all", exchange.Futures, nil, 380, 1000, 0, "b 20@990 x s 100@1010"},
		{"less is held than an order", exchange.Futures, nil, 40, 1000, 0, "b 95@990 x s 40@1010"},
		{"the hanging order is all of it", exchange.Futures, nil, 200, 1000, 1, "b 75@990 x s 200@1010"},
		{"toward a target", exchange.Futures, strategy.Values{"target": "0.2"}, 0, 1000, 0, "b 100@990 s 75@1010"},
		{"toward a short target", exchange.Futures, strategy.Values{"target": "-0.2"}, 0, 1000, 0, "b 75@990 s 100@1010"},
		{"on spot without anything to sell", exchange.Spot, nil, 0, 1000, 0, "b 100@990"},
		{"on spot with something", exchange.Spot, nil, 200, 1000, 0, "b 75@990 x s 100@1010"},
		{"at the ceiling", exchange.Futures, strategy.Values{"ceiling": "1000"}, 0, 1000, 0, "b 100@990 s 100@1010"},
		{"above the ceiling", exchange.Futures, strategy.Values{"ceiling": "1000"}, 0, 1000.1, 0, "s 100@1010"},
		{"at the floor", exchange.Futures, strategy.Values{"floor": "1000"}, 0, 1000, 0, "b 100@990 s 100@1010"},
		{"below the floor", exchange.Futures, strategy.Values{"floor": "1000"}, 0, 999.9, 0, "b 100@990"},
		{"two levels", exchange.Futures, strategy.Values{"levels": "2"}, 0, 1000, 0, "b 100@990 b 100@980.1 s 100@1010 s 100@1020.1"},
		{"two levels, and room for one and a part", exchange.Futures, strategy.Values{"levels": "2"}, 250, 1000, 0,
			"b 68@990 b 68@980.1 x s 100@1010 x s 100@1020.1"},
		{"two levels, and little held", exchange.Futures, strategy.Values{"levels": "2"}, 130, 1000, 0,
			"b 83@990 b 83@980.1 x s 100@1010 x s 30@1020.1"},
		{"too small an order", exchange.Futures, nil, 396, 1000, 0, "x s 100@1010"},
	} {
		values := strategy.Values{"quantity": "0.1", "max_position": "0.4", "level_step": "1%", "skew": "0.5"}
		for name, value := range c.values {
			values[name] = value
		}
		q := newStrategy(t, "market_making", c.market, values).(*quoter)
		view, plan := &strategy.View{Symbol: q.symbol, Last: exchange.Price(c.last*10+0.5) * 1e7}, &strategy.Plan{}
		var now turn
		now[quoteHeld], now[quoteBid], now[quoteAsk], now[quoteHanging] = c.held, 990e8, 1010e8, c.hung
		q.quote(view, plan, &now, exchange.Buy)
		q.quote(view, plan, &now, exchange.Sell)
		var have []string
		for _, side := range []exchange.Side{exchange.Buy, exchange.Sell} {
			for i, list := range [][]strategy.DesiredOrder{plan.Orders, plan.Exits} {
				for _, o := range list {
					if o.Side == side {
						have = append(have, fmt.Sprintf("%s%s %d@%v", map[int]string{1: "x "}[i], strings.ToLower(o.Side.String()[:1]), o.Quantity,
							q.symbol.PriceFloat(o.Price)))
						if o.PostOnly != (c.market == exchange.Futures) {
							t.Errorf("%s: want %+v post-only on futures alone", c.name, o)
						}
					}
				}
			}
		}
		if strings.Join(have, " ") != c.want {
			t.Errorf("%s: want %s, have %s", c.name, c.want, strings.Join(have, " "))
		}
	}
}
