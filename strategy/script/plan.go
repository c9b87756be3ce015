package script

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"
	"go.starlark.net/starlark"

	"botd/exchange"
	"botd/strategy"
)

// opaque is a value that a script passes on without reading it.
type opaque struct{ kind string }

// String returns its kind.
func (o opaque) String() string { return o.kind }

// Type returns what type() returns.
func (o opaque) Type() string { return o.kind }

// Freeze does nothing: a script cannot change it.
func (o opaque) Freeze() {}

// Truth is always true.
func (o opaque) Truth() starlark.Bool { return true }

// Hash returns an error: it cannot be a key.
func (o opaque) Hash() (uint32, error) { return 0, errors.New(o.kind + " cannot be a key") }

// result is the value that decide returns.
type result struct {
	opaque
	plan   strategy.Plan
	orders []strategy.DesiredOrder
	exits  []strategy.DesiredOrder
}

type targetValue struct {
	opaque
	target strategy.Target
}

type orderValue struct {
	opaque
	order strategy.DesiredOrder
}

// into writes the result into the engine's plan and keeps that plan's buffers.
func (w *result) into(plan *strategy.Plan) {
	plan.Target, plan.Leverage, plan.Protection, plan.Reason = w.plan.Target, w.plan.Leverage, w.plan.Protection, w.plan.Reason
	plan.OrdersSet, plan.ExitsSet = w.plan.OrdersSet, w.plan.ExitsSet
	plan.Orders, plan.Exits = append(plan.Orders, w.orders...), append(plan.Exits, w.exits...)
	for e := range w.plan.Remembered().All() {
		plan.Remember(e.Key, e.Value)
	}
}

func errorf(format string, values ...any) error { return fmt.Errorf(format, values...) }

// signOf returns the sign of a side of hold.
func signOf(side string) (int64, error) {
	switch side {
	case "long":
		return 1, nil
	case "flat":
		return 0, nil
	case "short":
		return -1, nil
	}
	return 0, fmt.Errorf("hold(%q): the side is \"long\", \"short\" or \"flat\"", side)
}

// sideOf returns the side of an order.
func sideOf(side string) (exchange.Side, error) {
	parsed, err := exchange.ParseSide(strings.ToUpper(side))
	if err != nil {
		err = fmt.Errorf("side %q is not \"buy\" or \"sell\"", side)
	}
	return parsed, err
}

// hold implements hold(side, reason=""), with the side "long", "short" or "flat": the configured
// size on that side.
func hold(r *call) (starlark.Value, error) {
	var side, reason string
	if err := r.unpackTrading(&side, &reason); err != nil {
		return nil, err
	}
	sign, err := signOf(side)
	if err != nil {
		return nil, err
	}
	w := &result{opaque: opaque{"plan"}}
	w.plan.Hold(r.size(sign), reason)
	return w, r.holdable(w.plan.Target)
}

// holdable refuses a target that the market does not support.
func (r *running) holdable(target strategy.Target) error {
	if r.long && target.Sign() < 0 {
		return errors.New("the script calls long_only(): hold \"flat\", or remove that line")
	}
	if r.setting.Market == exchange.Spot && target.Sign() < 0 {
		return errors.New("spot has no short positions: hold \"flat\", or trade futures")
	}
	return nil
}

// notify implements notify(text): it reports the text to users when the decision is made.
func notify(r *call) (starlark.Value, error) {
	var text string
	if err := r.unpackTrading(&text); err != nil {
		return nil, err
	}
	if r.decide == nil || r.state.writable {
		return nil, errors.New("notify(...) belongs in a script's decide: candle also sees past candles")
	}
	if len(r.notices) < strategy.MaxNotices {
		r.notices = append(r.notices, text)
	}
	return starlark.None, nil
}

// size implements size(sign=1): the configured size as a target.
func size(r *call) (starlark.Value, error) {
	sign := 1
	if err := r.unpackTrading(&sign); err != nil {
		return nil, err
	}
	if sign < -1 || sign > 1 {
		return nil, fmt.Errorf("size(%d): the sign is 1 for long, -1 for short, 0 for flat", sign)
	}
	return &targetValue{opaque{"target"}, r.size(int64(sign))}, nil
}

// target implements quantity(x), equity(x) or quote(x), negative for short.
func target(kind string) *starlark.Builtin {
	return function(kind, func(r *call) (starlark.Value, error) {
		if err := r.trading(); err != nil {
			return nil, err
		}
		var value starlark.Value
		if err := starlark.UnpackPositionalArgs(kind, r.given, r.named, 1, &value); err != nil {
			return nil, err
		}
		d, err := decimalOf(value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", kind, err)
		}
		t := strategy.Target{Kind: strategy.ByQuantity}
		switch kind {
		case "quantity":
			t.Quantity, err = r.quantity(d)
		case "equity":
			t.Kind = strategy.ByEquity
			t.Share, err = exchange.RateFromDecimal(d.Round(8))
		case "quote":
			t.Kind = strategy.ByQuote
			t.Quote, err = exchange.AmountRounded(d)
		}
		if err != nil {
			return nil, fmt.Errorf("%s(%s): %w", kind, value, err)
		}
		if t.Sign() == 0 {
			t = strategy.Flat()
		}
		return &targetValue{opaque{"target"}, t}, nil
	})
}

// sized is the quantity at risk, fixed at the entry.
type sized struct {
	desired exchange.Quantity // desired while there was no position
	sinceMS int64             // of the position; 0 for none
	entered exchange.Quantity
}

// at returns the quantity desired now. While a position on its side is held, this is the quantity
// of its entry. A position entered before the start stays unchanged.
func (s *sized) at(v *strategy.View, now exchange.Quantity) exchange.Quantity {
	held := v.Position.Quantity
	if held == 0 || (held > 0) != (now > 0) {
		s.desired, s.sinceMS = now, 0
		return now
	}
	if s.sinceMS == 0 || s.sinceMS != v.Position.SinceMS {
		if s.entered = held; (s.desired > 0) == (held > 0) && s.desired.Abs() > held.Abs() {
			s.entered = s.desired // a part of it has filled
		}
		s.desired, s.sinceMS = 0, v.Position.SinceMS
	}
	return s.entered
}

// risk implements risk(share, stop): the target that loses that share of the equity between the
// last price and the stop, long if the stop is below. It is sized at the entry.
func risk(r *call) (starlark.Value, error) {
	var shareValue, stopValue starlark.Value
	if err := r.unpackTrading(&shareValue, &stopValue); err != nil {
		return nil, err
	}
	share, err := decimalOf(shareValue)
	if err != nil {
		return nil, fmt.Errorf("risk: share: %w", err)
	}
	rate, err := exchange.RateFromDecimal(share.Round(8))
	if err != nil || rate <= 0 || rate > exchange.RateOne {
		return nil, fmt.Errorf("risk: share %s is not between 0 and 1: write, for example, 0.01 or \"1%%\"", share)
	}
	stop, err := r.price("risk: stop", stopValue, 0)
	if err != nil {
		return nil, err
	}
	quantity := r.sized.at(r.view.of, r.view.of.QuantityAtRisk(rate, stop))
	return &targetValue{opaque{"target"}, strategy.Target{Kind: strategy.ByQuantity, Quantity: quantity}}, nil
}

// order implements order(key, side, price, quantity, post_only=False, stop_price=None).
func order(r *call) (starlark.Value, error) {
	var (
		key, side                   string
		atPrice, ofQuantity, stopAt starlark.Value
		postOnly                    bool
		o                           = &orderValue{opaque: opaque{"order"}}
	)
	err := r.unpackTrading(&key, &side, &atPrice, &ofQuantity, &postOnly, &stopAt)
	if err != nil {
		return nil, err
	}
	if o.order.Key, o.order.PostOnly = key, postOnly; postOnly && r.setting.Market == exchange.Spot {
		return nil, fmt.Errorf("order(%q): spot has no post-only orders: leave post_only out", key)
	}
	if o.order.Side, err = sideOf(side); err != nil {
		return nil, fmt.Errorf("order(%q): %w", key, err)
	}
	passive := -1 // a buyer's price is rounded down to the tick, a seller's up
	if o.order.Side == exchange.Sell {
		passive = 1
	}
	if o.order.Price, err = r.price("order: price", atPrice, passive); err != nil {
		return nil, err
	}
	if stopAt != nil && stopAt != starlark.None {
		if o.order.StopPrice, err = r.price("order: stop_price", stopAt, 0); err != nil {
			return nil, err
		}
	}
	if o.order.Quantity, err = r.orderQuantity(ofQuantity, o.order.Price); err != nil {
		return nil, fmt.Errorf("order(%q): quantity: %w", key, err)
	}
	if o.order.Quantity <= 0 || key == "" {
		return nil, fmt.Errorf("order(%q): needs a key and a quantity of at least a tick, got %s", key, ofQuantity)
	}
	return o, nil
}

// orderQuantity returns a number in base currency, or the quantity that quote(...), equity(...) and
// the like buy at the order's price.
func (r *running) orderQuantity(value starlark.Value, at exchange.Price) (exchange.Quantity, error) {
	if t, is := value.(*targetValue); is {
		symbol := r.setting.Symbol
		switch t := t.target; t.Kind {
		case strategy.ByEquity:
			return symbol.FloorQuantity(symbol.QuantityFor(r.view.of.Equity.MulRate(max(t.Share, -t.Share)), at)), nil
		case strategy.ByQuote:
			return symbol.FloorQuantity(symbol.QuantityFor(t.Quote.Abs(), at)), nil
		default:
			return t.Quantity.Abs(), nil
		}
	}
	d, err := decimalOf(value)
	if err != nil {
		return 0, err
	}
	return r.quantity(d)
}

var errPlanByName = errors.New("plan(...) takes its parts by name: plan(target=size(1), stop_loss=\"2%\")")

// plan implements plan(target=, orders=, exits=, stop_loss=, take_profit=, leverage=, reason=,
// remember=).
func plan(r *call) (starlark.Value, error) {
	var (
		target, orders, exits starlark.Value
		stopLoss, takeProfit  starlark.Value
		remember              *starlark.Dict
		w                     = &result{opaque: opaque{"plan"}}
	)
	err := r.unpackTrading(&target, &orders, &exits, &stopLoss, &takeProfit, &w.plan.Leverage, &w.plan.Reason, &remember)
	if err != nil {
		return nil, err
	}
	if len(r.given) > 0 {
		return nil, errPlanByName
	}
	if target != nil && target != starlark.None {
		t, is := target.(*targetValue)
		if !is {
			return nil, fmt.Errorf("plan: target is size(...), quantity(...), equity(...), quote(...) or risk(...), not a %s", target.Type())
		}
		if w.plan.Target = t.target; orders != nil && orders != starlark.None {
			return nil, errors.New("plan: target and orders are mutually exclusive: botd either trades to the target or keeps your orders in the book")
		}
		if err := r.holdable(w.plan.Target); err != nil {
			return nil, err
		}
	}
	if w.orders, w.plan.OrdersSet, err = ordersOf("orders", orders); err != nil {
		return nil, err
	}
	if w.exits, w.plan.ExitsSet, err = ordersOf("exits", exits); err != nil {
		return nil, err
	}
	if err := r.protect(&w.plan.Protection, stopLoss, takeProfit); err != nil {
		return nil, err
	}
	if w.plan.Leverage < 0 {
		return nil, fmt.Errorf("plan: leverage %d", w.plan.Leverage)
	}
	return w, remembered(w, remember)
}

func ordersOf(name string, value starlark.Value) ([]strategy.DesiredOrder, bool, error) {
	if value == nil || value == starlark.None {
		return nil, false, nil
	}
	list, is := value.(starlark.Iterable)
	if !is {
		return nil, false, fmt.Errorf("plan: %s must be a list of order(...), not a %s", name, value.Type())
	}
	var all []strategy.DesiredOrder
	keys := map[string]bool{}
	for element := range starlark.Elements(list) {
		o, is := element.(*orderValue)
		switch {
		case !is:
			return nil, false, fmt.Errorf("plan: %s must be a list of order(...), but contains a %s", name, element.Type())
		case keys[o.order.Key]:
			return nil, false, fmt.Errorf("plan: two %s have the key %q", name, o.order.Key)
		}
		keys[o.order.Key] = true
		all = append(all, o.order)
	}
	return all, true, nil
}

func (r *running) protect(p *strategy.Protection, stopLoss, takeProfit starlark.Value) (err error) {
	for _, side := range []struct {
		name  string
		given starlark.Value
		into  *strategy.Distance
	}{{"stop_loss", stopLoss, &p.StopLoss}, {"take_profit", takeProfit, &p.TakeProfit}} {
		if side.given == nil || side.given == starlark.None {
			continue
		}
		p.Set = true
		if text, is := side.given.(starlark.String); is && strings.HasSuffix(string(text), "%") {
			if side.into.Share, err = exchange.ParseRate(string(text)); err != nil || side.into.Share <= 0 {
				return fmt.Errorf("plan: %s %s is not a percentage above zero", side.name, text)
			}
			continue
		}
		if side.into.Price, err = r.price("plan: "+side.name, side.given, 0); err != nil {
			return err
		}
	}
	return nil
}

func remembered(w *result, values *starlark.Dict) error {
	if values == nil {
		return nil
	}
	for _, item := range values.Items() {
		key, isText := starlark.AsString(item[0])
		number, isInt := item[1].(starlark.Int)
		value, fits := int64(0), false
		if isInt {
			value, fits = number.Int64()
		}
		if !isText || !fits {
			return fmt.Errorf("plan: remember stores integers by name, not %s: %s", item[0], item[1])
		}
		w.plan.Remember(key, value)
	}
	return nil
}

// decimalOf reads a number: a string or an integer exactly, a float with 14 digits, so that 0.1 +
// 0.2 is 0.3.
func decimalOf(value starlark.Value) (decimal.Decimal, error) {
	switch value := newest(value).(type) {
	case starlark.Int:
		return decimal.NewFromBigInt(value.BigInt(), 0), nil
	case starlark.Float:
		f := float64(value)
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return decimal.Zero, errors.New("has no value yet: check with known(...) first")
		}
		return decimal.NewFromString(strconv.FormatFloat(f, 'e', 13, 64))
	case starlark.String:
		number, percent := strings.CutSuffix(string(value), "%")
		d, err := decimal.NewFromString(number)
		if err != nil || d.Exponent() > 30 || d.Exponent() < -30 {
			return decimal.Zero, fmt.Errorf("%s is not a number", value)
		}
		if percent {
			d = d.Shift(-2)
		}
		return d, nil
	}
	return decimal.Zero, fmt.Errorf("needs a number, not a %s", value.Type())
}

// quantity truncates to the quantity tick, towards zero.
func (r *running) quantity(d decimal.Decimal) (exchange.Quantity, error) {
	symbol := r.setting.Symbol
	units := d.Shift(int32(symbol.QuantityScale)).Truncate(0)
	if !units.BigInt().IsInt64() {
		return 0, fmt.Errorf("%s is too large", d)
	}
	return symbol.FloorQuantity(exchange.Quantity(units.IntPart())), nil
}

// price rounds a price to a tick: down (-1), up (+1), or to the nearest (0).
func (r *running) price(what string, value starlark.Value, direction int) (exchange.Price, error) {
	d, err := decimalOf(value)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", what, err)
	}
	symbol := r.setting.Symbol
	tick := symbol.PriceDecimal(symbol.PriceTick)
	ticks := d.Div(tick)
	switch direction {
	case -1:
		ticks = ticks.Floor()
	case 1:
		ticks = ticks.Ceil()
	default:
		ticks = ticks.Round(0)
	}
	price, err := symbol.Price(ticks.Mul(tick))
	if err != nil || price <= 0 || ticks.GreaterThan(decimal.New(1<<50, 0)) {
		return 0, fmt.Errorf("%s: %s is not a price of %s", what, d, symbol.Name)
	}
	return price, nil
}
