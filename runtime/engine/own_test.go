package engine

import (
	"math/rand/v2"
	"testing"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/risk"
	"botd/strategy"
)

// cashBook is the result of one account on one symbol, computed from the exchange's fills alone: no entry
// price, no average, no rule of botd's.
type cashBook struct {
	rules *exchange.Symbol
	units exchange.Amount // base
	cash  exchange.Amount // quote, fees paid in quote included
}

func (w *world) cashBook(key exchange.SymbolKey) cashBook {
	c := cashBook{rules: w.venue.Symbol(key)}
	for _, fill := range w.venue.Fills() {
		if fill.Account != "one" || fill.Market != key.Market || fill.Symbol != key.Name {
			continue
		}
		units, value := c.rules.QuantityAmount(fill.Quantity), c.rules.PriceAmount(fill.Price).Decimal().Mul(c.rules.QuantityDecimal(fill.Quantity))
		paid := exchange.MustAmount(value.String())
		if fill.Side == exchange.Sell {
			units, paid = units.Neg(), paid.Neg()
		}
		c.units, c.cash = c.units.Add(units), c.cash.Sub(paid)
		if fill.FeeAsset == c.rules.Base && key.Market == exchange.Spot {
			c.units = c.units.Sub(fill.Fee)
		} else {
			c.cash = c.cash.Sub(fill.Fee)
		}
	}
	return c
}

// made returns the gain or loss at the last price.
func (c cashBook) made(last exchange.Price) exchange.Amount {
	value := c.units.Decimal().Mul(c.rules.PriceDecimal(last))
	return c.cash.Add(exchange.MustAmount(value.String()))
}

// wantOwn expects the strategy's equity, as its limits and its status use it, to follow from the fills.
func (w *world) wantOwn(step string) {
	w.t.Helper()
	key := w.config.Strategies[0].Symbol.Key()
	last, mark := w.venue.Price(key)
	if key.Market == exchange.Futures && mark != 0 {
		last = mark
	}
	want := exchange.AmountOf(10_000).Add(w.cashBook(key).made(last))
	have := w.engine.Status().Strategies[0].Own
	tolerance := exchange.MustAmount("0.001")
	if key.Market == exchange.Spot {
		tolerance = w.venue.Symbol(key).Notional(last, w.venue.Symbol(key).QuantityTick).Add(tolerance) // the part of a step that a fee leaves
	}
	if difference := want.Sub(have).Abs(); tolerance.Less(difference) {
		w.t.Errorf("%s: its equity: want %s by the fills, have %s\n%s", step, want, have, w.story())
	}
	if used := w.utilization("strategy one", risk.MaxDrawdown); used.State == risk.StateUnknown {
		w.t.Errorf("%s: its drawdown is unknown: %+v", step, used)
	}
}

// takes makes another trader trade against a resting order.
func (w *world) takes(side exchange.Side, price exchange.Price, quantity exchange.Quantity) {
	w.t.Helper()
	symbol := w.config.Strategies[0].Symbol
	operation := exchange.FuturesPlace
	if symbol.Market == exchange.Spot {
		operation = exchange.SpotPlace
	}
	order := exchange.NewOrder{Market: symbol.Market, Symbol: symbol.Name, Side: side, Type: exchange.Limit, Price: price, Quantity: quantity}
	if _, err := w.venue.Do("two", &exchange.Request{Operation: operation, Symbol: symbol.Name, Order: order}); err != nil {
		w.t.Fatal(err)
	}
}

func anotherAccount(w *world) {
	if err := w.venue.AddAccount(sim.DefaultAccount("two")); err != nil {
		w.t.Fatal(err)
	}
}

// The test covers both markets: partial fills, an addition, a partial sale, a loss, a restart and a flat end.
func TestStrategyEquityFollowsFills(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		market option
		unit   exchange.Quantity // a thousandth of a coin
	}{{"futures", func(*world) {}, 1}, {"spot", onSpot, 100}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var orders []strategy.DesiredOrder
			desired, resting := exchange.Quantity(0), true
			w := newWorld(t, func(view *strategy.View, plan *strategy.Plan) {
				if plan.OrdersSet, plan.Orders = true, orders; !resting {
					plan.Orders = nil
					hold(desired)(view, plan)
				}
			}, c.market, ownLimits(risk.Limits{MaxDrawdown: risk.Loss{USDT: exchange.AmountOf(9_000)}}), anotherAccount)
			w.pass(5_000)
			w.wantOwn("nothing traded")
			orders = []strategy.DesiredOrder{{Key: "a", Side: exchange.Buy, Price: 50_000e8, Quantity: 100 * c.unit}}
			w.pass(10_000)
			for i, part := range []exchange.Quantity{30, 20, 10} {
				w.takes(exchange.Sell, 50_000e8, part*c.unit) // within the spread no other order has this price
				w.pass(20_000)
				if fills := w.venue.Fills(); len(fills) != 2*(i+1) {
					t.Fatalf("want the order filled in part %d, by a fill of each side, have %+v", i+1, fills)
				}
				w.wantOwn("a part of an order filled")
			}
			w.price("48000")
			w.pass(30_000)
			w.wantOwn("the rest filled, and the price fell")
			resting, desired = false, 40*c.unit
			w.pass(30_000)
			w.wantOwn("a part sold at a loss")
			w.start()
			w.pass(20_000)
			w.wantOwn("after a restart")
			w.price("52000")
			desired = 90 * c.unit
			w.pass(30_000)
			w.wantOwn("added to at a gain")
			desired = 0
			w.pass(30_000)
			w.wantOwn("closed")
		})
	}
}

// Target and price move at random.
func TestStrategyEquityFollowsRandomFills(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		random := rand.New(rand.NewPCG(seed, 3))
		desired, market, unit, low := exchange.Quantity(0), option(func(*world) {}), exchange.Quantity(1), int64(-100)
		if seed%2 == 1 {
			market, unit, low = onSpot, 100, 0
		}
		w := desiring(t, &desired, market, ownLimits(risk.Limits{MaxDrawdown: risk.Loss{USDT: exchange.AmountOf(9_000)}}))
		w.pass(5_000)
		for range 15 {
			desired = exchange.Quantity(low+random.Int64N(100-low)) * unit
			w.price(exchange.AmountOf(45_000 + random.Int64N(10_000)).String())
			w.pass(35_000)
			w.wantOwn("a random step")
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}
