package library

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"botd/exchange"
	"botd/strategy"
)

// stepping is a grid that is asked once at each price, with orders that fill when the price passes them.
type stepping struct {
	grid      strategy.Strategy
	view      strategy.View
	plan      strategy.Plan
	versioned bool // its view reports changes other than the price, so it may keep a decision
	mirrored  bool // prices and sides are reflected at 120
	cells     int  // number of pairs that have started
}

// price returns this grid's price for a price in ticks of 0.1.
func (s *stepping) price(ticks int64) exchange.Price {
	if s.mirrored {
		ticks = 2_400 - ticks
	}
	return exchange.Price(ticks) * 1e7
}

// passes fills the orders that the price has passed, or closes everything if that is requested.
func (s *stepping) passes(last exchange.Price) (changed bool) {
	if s.plan.Target.Kind == strategy.ByQuantity && s.plan.Target.Quantity == 0 && s.view.Position.Quantity != 0 {
		s.view.Position.Quantity, s.view.Fills = 0, nil
		return true
	}
	for _, o := range slices.Concat(s.plan.Orders, s.plan.Exits) {
		if o.Side == exchange.Buy && last > o.Price || o.Side == exchange.Sell && last < o.Price ||
			slices.ContainsFunc(s.view.Fills, func(f strategy.KeyFill) bool { return f.Key == o.Key }) {
			continue
		}
		s.view.Fills = append(s.view.Fills, strategy.KeyFill{Key: o.Key, Quantity: o.Quantity})
		s.view.Position.Quantity += o.Quantity * exchange.Quantity(o.Side.Sign())
		s.cells++
		changed = true
	}
	return changed
}

// step takes a price and returns the grid's plan.
func (s *stepping) step(ticks int64, stopped bool) string {
	last := s.price(ticks)
	changed := s.passes(last)
	if stopped && s.view.Position.Quantity != 0 { // a stop of its configuration
		s.view.Position.Quantity, s.view.Fills, changed = 0, nil, true
	}
	if s.versioned && changed {
		s.view.Version++
	}
	s.view.Last = last
	s.plan.Reset()
	s.grid.Decide(&s.view, &s.plan)
	text := s.text()
	before := s.view.Memory
	s.view.Memory, _ = s.view.Memory.With(s.plan.Remembered())
	left := slices.DeleteFunc(slices.Clone(s.view.Fills), func(f strategy.KeyFill) bool {
		return !slices.ContainsFunc(slices.Concat(s.plan.Orders, s.plan.Exits), func(o strategy.DesiredOrder) bool { return o.Key == f.Key })
	})
	if s.versioned && (len(left) != len(s.view.Fills) || !slices.Equal(before.Entries(), s.view.Memory.Entries())) {
		s.view.Version++
	}
	s.view.Fills = left
	return text
}

func (s *stepping) text() string {
	var all []string
	for i, list := range [][]strategy.DesiredOrder{s.plan.Orders, s.plan.Exits} {
		for _, o := range list {
			side, price := o.Side, int64(o.Price)/1e7
			if s.mirrored {
				side, price = side.Opposite(), 2_400-price
			}
			all = append(all, fmt.Sprint([]string{"", "exit "}[i], side, " ", o.Quantity, "@", price))
		}
	}
	return fmt.Sprint(strings.Join(all, ", "), " target ", s.plan.Target.Kind, " (", s.plan.Reason, ") ", s.plan.OrdersSet, s.plan.ExitsSet)
}

// A short grid decides as the mirror image of a long one. Prices are random.
func TestSavedGridDecisionsEqualFreshOnes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		more, short strategy.Values
	}{
		{"plain", nil, nil},
		{"few orders", strategy.Values{"orders": "2"}, strategy.Values{"orders": "2"}},
		{"a stop", strategy.Values{"stop": "97"}, strategy.Values{"stop": "143"}},
		{"a target", strategy.Values{"target": "143"}, strategy.Values{"target": "97"}},
		{"both, and it begins again", strategy.Values{"stop": "97", "target": "143", "restart": "true"},
			strategy.Values{"stop": "143", "target": "97", "restart": "true"}},
		{"it trails", strategy.Values{"trail": "true", "restart": "true"}, strategy.Values{"trail": "true", "restart": "true"}},
		{"it begins with what the lines above sell", strategy.Values{"initial": "true"}, nil},
		{"many lines", strategy.Values{"lines": "201", "orders": "20"}, strategy.Values{"lines": "201", "orders": "20"}},
		{"it reinvests", strategy.Values{"quantity": "0", "quote": "1000", "reinvest": "1"}, nil},
		{"it begins again after a stop", strategy.Values{"restart": "true"}, strategy.Values{"restart": "true"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			made := func(more strategy.Values, side string, versioned bool) *stepping {
				values := strategy.Values{"lower": "100", "upper": "140", "lines": "9", "quantity": "1", "side": side}
				for name, value := range more {
					values[name] = value
				}
				s := &stepping{grid: newStrategy(t, "grid", exchange.Futures, values), versioned: versioned, mirrored: side == "short"}
				s.view = strategy.View{Symbol: setting(t, exchange.Futures).Symbol, NowMS: 1}
				if versioned {
					s.view.Version = 1
				}
				return s
			}
			draw := rand.New(rand.NewPCG(7, 11))
			plain, keeps := made(c.more, "long", false), made(c.more, "long", true)
			var short *stepping
			if c.short != nil || c.more == nil {
				short = made(c.short, "short", true)
			}
			ticks := int64(1_201)
			for i := range 3_000 {
				ticks = min(1_600, max(950, ticks+draw.Int64N(61)-30))
				stopped := i%400 == 399
				want := plain.step(ticks, stopped)
				if have := keeps.step(ticks, stopped); have != want {
					t.Fatalf("step %d at %d: without keeping %s\nwith %s", i, ticks, want, have)
				}
				for _, list := range [][]strategy.DesiredOrder{keeps.plan.Orders, keeps.plan.Exits} { // they are shared, so the grid guarantees its keys
					keys := map[string]bool{}
					for _, o := range list {
						keys[o.Key] = true
					}
					if len(keys) != len(list) {
						t.Fatalf("step %d: want %d keys, have %d", i, len(list), len(keys))
					}
				}
				if short == nil {
					continue
				}
				if have := short.step(ticks, stopped); have != want {
					t.Fatalf("step %d at %d: long %s\nshort %s", i, ticks, want, have)
				}
			}
			if plain.cells < 4 {
				t.Errorf("want pairs filled, have %d", plain.cells)
			}
		})
	}
}

// The two are compared candle by candle and at prices between, with skipped breakouts, stops and refusals.
func TestAShortTurtleIsTheMirrorImageOfALongOne(t *testing.T) {
	t.Parallel()
	draw := rand.New(rand.NewPCG(5, 3))
	values := strategy.Values{"entry": "4", "exit": "2", "failsafe": "9", "period": "3", "mode": "long_short", "max_notional": "50", "risk": "0.5%"}
	type side struct {
		*book
		mirrored bool
	}
	made := func(mirrored bool) *side {
		b := newBook(t, newStrategy(t, "turtle", exchange.Futures, values), exchange.Futures)
		b.view.Equity, b.view.Interval = exchange.AmountOf(1_000), exchange.Minute1
		return &side{b, mirrored}
	}
	both, at, entered, stops := [2]*side{made(false), made(true)}, int64(10_000), 0, 0
	for i := range 4_000 {
		at = min(14_000, max(6_000, at+draw.Int64N(121)-60))
		high, low, tick := at+draw.Int64N(30), at-draw.Int64N(30), at+draw.Int64N(81)-40
		refused, stopped := draw.IntN(40) == 0, draw.IntN(40) == 0
		var texts [2]string
		for n, s := range both {
			price := func(p int64) exchange.Price {
				if s.mirrored {
					p = 20_000 - p
				}
				return exchange.Price(p) * 1e7
			}
			h, l := price(high), price(low)
			show(&s.view, exchange.Candle{OpenMS: int64(i) * 60_000, Open: price(at), High: max(h, l), Low: min(h, l), Close: price(at)})
			s.strategy.Candle(&s.view)
			sign := exchange.Quantity(1)
			if s.mirrored {
				sign = -1
			}
			for _, moment := range []struct{ afterMS, at int64 }{{60_000, at}, {90_000, tick}} {
				s.view.NowMS, s.view.Last = s.view.Candle().OpenMS+moment.afterMS, price(moment.at)
				s.plan.Reset()
				s.strategy.Decide(&s.view, &s.plan)
				s.view.Memory, _ = s.view.Memory.With(s.plan.Remembered())
				stop := int64(s.plan.Protection.StopLoss.Price) / 1e7
				if s.mirrored && stop != 0 {
					stop = 20_000 - stop
				}
				texts[n] += fmt.Sprint(s.plan.Target.Kind, " ", sign*s.plan.Target.Quantity, " stop ", stop, " ", s.plan.Reason, " by ", s.plan.SignalMS, "; ")
				s.view.Events = nil
				switch target := s.plan.Target.Quantity; {
				case refused && target != s.view.Position.Quantity && target != 0:
					s.view.Events = []strategy.Event{{Kind: strategy.EventRefused}}
				case stopped && s.view.Position.Quantity != 0:
					s.view.Position.Quantity, s.view.Events = 0, []strategy.Event{{Kind: strategy.EventStopped, Reduces: true}}
					stops++
				case s.plan.Target.Kind == strategy.ByQuantity:
					if s.view.Position.Quantity == 0 && target != 0 {
						entered++
					}
					s.view.Position.Quantity = target
				}
			}
		}
		if texts[0] != texts[1] {
			t.Fatalf("candle %d: long  %s\nmirror %s", i, texts[0], texts[1])
		}
	}
	if entered < 40 || stops < 10 {
		t.Errorf("want entries and stops among the candles, have %d and %d", entered, stops)
	}
}
