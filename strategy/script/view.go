package script

import (
	"errors"
	"math"
	"slices"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"botd/exchange"
	"botd/strategy"
)

// view is the script's form of the strategy's View. Numbers are floats, which is exact enough for
// decisions; prices and quantities of the result are rounded to the symbol's ticks.
type view struct {
	of     *strategy.View
	filled *starlark.Builtin
}

var _ starlark.HasAttrs = (*view)(nil)

func newView() *view {
	v := &view{}
	v.filled = function("filled", func(r *call) (starlark.Value, error) {
		var key string
		if err := r.unpack(&key); err != nil {
			return nil, err
		}
		return starlark.Float(v.of.Symbol.QuantityFloat(v.of.Filled(key))), nil
	})
	return v
}

// viewAttributes are the attributes of the view.
var viewAttributes = map[string]func(v *strategy.View) starlark.Value{
	"now_ms":        func(v *strategy.View) starlark.Value { return starlark.MakeInt64(v.NowMS) },
	"open_ms":       func(v *strategy.View) starlark.Value { return starlark.MakeInt64(v.Candle().OpenMS) },
	"symbol":        func(v *strategy.View) starlark.Value { return starlark.String(v.Symbol.Name) },
	"market":        func(v *strategy.View) starlark.Value { return starlark.String(v.Symbol.Market.String()) },
	"interval":      func(v *strategy.View) starlark.Value { return starlark.String(v.Interval.String()) },
	"last":          func(v *strategy.View) starlark.Value { return price(v, v.Last) },
	"position":      func(v *strategy.View) starlark.Value { return quantityFloat(v, v.Position.Quantity) },
	"entry_price":   func(v *strategy.View) starlark.Value { return starlark.Float(v.Position.EntryPrice.Float()) },
	"since_ms":      func(v *strategy.View) starlark.Value { return starlark.MakeInt64(v.Position.SinceMS) },
	"equity":        func(v *strategy.View) starlark.Value { return starlark.Float(v.Equity.Float()) },
	"leverage":      func(v *strategy.View) starlark.Value { return starlark.MakeInt(v.Leverage) },
	"closed":        func(v *strategy.View) starlark.Value { return starlark.MakeInt(v.Closed()) },
	"price_tick":    func(v *strategy.View) starlark.Value { return price(v, v.Symbol.PriceTick) },
	"quantity_tick": func(v *strategy.View) starlark.Value { return quantityFloat(v, v.Symbol.QuantityTick) },
	"funding":       func(v *strategy.View) starlark.Value { return whenKnown(v.Funding.Known, v.Funding.Rate.Float()) },
	"funding_ms":    func(v *strategy.View) starlark.Value { return starlark.MakeInt64(v.Funding.NextMS) },
	"buying_power":  func(v *strategy.View) starlark.Value { return starlark.Float(v.BuyingPower.Float()) },
	"bid":           func(v *strategy.View) starlark.Value { return bestOf(v, v.OrderBook.Bids) },
	"ask":           func(v *strategy.View) starlark.Value { return bestOf(v, v.OrderBook.Asks) },
	"bids":          func(v *strategy.View) starlark.Value { return levels(v, v.OrderBook.Bids) },
	"asks":          func(v *strategy.View) starlark.Value { return levels(v, v.OrderBook.Asks) },
	"book_ms":       func(v *strategy.View) starlark.Value { return starlark.MakeInt64(v.OrderBook.AtMS) },
	"pair_position": func(v *strategy.View) starlark.Value {
		return ofPair(v, func(p *strategy.Pair) float64 { return p.Symbol.QuantityFloat(p.Position) })
	},
	"pair_last": func(v *strategy.View) starlark.Value {
		return ofPair(v, func(p *strategy.Pair) float64 { return p.Symbol.PriceFloat(p.Last) })
	},
	"working": func(v *strategy.View) starlark.Value { return working(v) },
	"memory":  func(v *strategy.View) starlark.Value { return memory(v) },
	"events":  func(v *strategy.View) starlark.Value { return events(v) },
	"missed":  func(v *strategy.View) starlark.Value { return starlark.MakeInt(v.Missed) },
}

// whenKnown returns a number, or NaN if it is unknown. NaN is neither above nor below anything, as
// in a series.
func whenKnown(known bool, value float64) starlark.Value {
	if !known {
		value = math.NaN()
	}
	return starlark.Float(value)
}

// bestOf returns the best price of a side of the order book.
func bestOf(v *strategy.View, side []exchange.Level) starlark.Value {
	if len(side) == 0 {
		return whenKnown(false, 0)
	}
	return price(v, side[0].Price)
}

// levels returns the prices and quantities of a side of the order book, the best first.
func levels(v *strategy.View, side []exchange.Level) starlark.Value {
	all := make(starlark.Tuple, len(side))
	for i, l := range side {
		all[i] = starlark.Tuple{price(v, l.Price), quantityFloat(v, l.Quantity)}
	}
	return all
}

func ofPair(v *strategy.View, of func(p *strategy.Pair) float64) starlark.Value {
	if !v.Pair.Known || v.Pair.Symbol == nil {
		return whenKnown(false, 0)
	}
	return whenKnown(true, of(&v.Pair))
}

func price(v *strategy.View, p exchange.Price) starlark.Value {
	return starlark.Float(v.Symbol.PriceFloat(p))
}

func quantityFloat(v *strategy.View, q exchange.Quantity) starlark.Value {
	return starlark.Float(v.Symbol.QuantityFloat(q))
}

func working(v *strategy.View) starlark.Value {
	all := make([]starlark.Value, len(v.Working))
	for i, o := range v.Working {
		all[i] = starlarkstruct.FromStringDict(starlark.String("order"), starlark.StringDict{
			"key": starlark.String(o.Key), "side": starlark.String(sideNames[o.Side]), "type": starlark.String(o.Type.String()),
			"price": price(v, o.Price), "stop_price": price(v, o.StopPrice),
			"quantity": quantityFloat(v, o.Quantity), "filled": quantityFloat(v, o.Filled),
		})
	}
	list := starlark.NewList(all)
	list.Freeze()
	return list
}

// events returns the events since the last decision, oldest first.
func events(v *strategy.View) starlark.Value {
	all := make([]starlark.Value, len(v.Events))
	for i, e := range v.Events {
		side := starlark.Value(starlark.None)
		if name, is := sideNames[e.Side]; is {
			side = starlark.String(name)
		}
		all[i] = starlarkstruct.FromStringDict(starlark.String("event"), starlark.StringDict{
			"at_ms": starlark.MakeInt64(e.AtMS), "kind": starlark.String(e.Kind.String()), "key": starlark.String(e.Key),
			"reduces": starlark.Bool(e.Reduces), "side": side, "quantity": quantityFloat(v, e.Quantity),
			"price": starlark.Float(e.Price.Float()), "rule": starlark.String(e.Rule), "why": starlark.String(e.Reason),
		})
	}
	list := starlark.NewList(all)
	list.Freeze()
	return list
}

func memory(v *strategy.View) starlark.Value {
	d := starlark.NewDict(v.Memory.Len())
	for e := range v.Memory.All() {
		_ = d.SetKey(starlark.String(e.Key), starlark.MakeInt64(e.Value)) // a string key and a dictionary that is not frozen
	}
	d.Freeze()
	return d
}

var sideNames = map[exchange.Side]string{exchange.Buy: "buy", exchange.Sell: "sell"}

// Attr returns an attribute.
func (v *view) Attr(name string) (starlark.Value, error) {
	if name == "filled" {
		return v.filled, nil
	}
	if of, is := viewAttributes[name]; is {
		return of(v.of), nil
	}
	return nil, nil
}

// AttrNames returns all attributes.
func (v *view) AttrNames() []string {
	names := []string{"filled"}
	for name := range viewAttributes {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// String returns "view".
func (v *view) String() string { return "view" }

// Type returns the Starlark type name.
func (v *view) Type() string { return "view" }

// Freeze does nothing: a script cannot change a view.
func (v *view) Freeze() {}

// Truth is always true.
func (v *view) Truth() starlark.Bool { return true }

// Hash returns an error: a view cannot be a key.
func (v *view) Hash() (uint32, error) { return 0, errors.New("a view cannot be a key") }
