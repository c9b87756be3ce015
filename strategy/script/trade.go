package script

import (
	"errors"
	"fmt"
	"strings"

	"github.com/shopspring/decimal"
	"go.starlark.net/starlark"

	"botd/exchange"
	"botd/strategy"
)

// trail is the best and the worst price since an entry, as far as the script has received candles.
type trail struct {
	sinceMS, seenMS int64
	high, low       exchange.Price
}

// follow updates the trail to the newest closed candle. Candles that opened before the entry do not
// count, because their extremes may precede it.
func (t *trail) follow(v *strategy.View) {
	entry := exchange.Price(v.Position.EntryPrice.Decimal().Shift(int32(v.Symbol.PriceScale)).IntPart())
	if t.sinceMS != v.Position.SinceMS {
		*t = trail{sinceMS: v.Position.SinceMS, seenMS: v.Position.SinceMS - 1, high: entry, low: entry}
	}
	newest := t.seenMS
	for n := 0; n < v.Closed(); n++ {
		c := v.Back(n)
		if c.OpenMS <= t.seenMS {
			break
		}
		newest = max(newest, c.OpenMS)
		t.high, t.low = max(t.high, c.High), min(t.low, c.Low)
	}
	t.seenMS = newest
}

// trailing implements trailing(distance): a stop-loss for plan that follows the best price since
// the entry at that share of it and never moves back. Before the entry it is the distance itself.
func trailing(r *call) (starlark.Value, error) {
	var distance string
	if err := r.unpackTrading(&distance); err != nil {
		return nil, err
	}
	share, err := exchange.ParseRate(distance)
	if err != nil || !strings.HasSuffix(distance, "%") || share <= 0 || share >= exchange.RateOne {
		return nil, fmt.Errorf("trailing(%q): want a share such as \"3%%\"", distance)
	}
	v := r.view.of
	if v.Position.Quantity == 0 {
		return starlark.String(distance), nil
	}
	r.trail.follow(v)
	best, factor := max(r.trail.high, v.Last), exchange.RateOne-share
	if v.Position.Quantity < 0 {
		best, factor = min(r.trail.low, v.Last), exchange.RateOne+share
	}
	stop := v.Symbol.PriceDecimal(best).Mul(factor.Decimal())
	return starlark.String(stop.String()), nil
}

// targets implements targets([(distance or price, share), ...]): a list of take-profits for
// plan(exits=...), each a limit order over a share of the original position. Without a position it
// is empty.
func targets(r *call) (starlark.Value, error) {
	var list starlark.Iterable
	if err := r.unpackTrading(&list); err != nil {
		return nil, err
	}
	v, all, whole := r.view.of, []starlark.Value{}, decimal.Zero
	side, name, direction := exchange.Sell, "long", 1
	if v.Position.Quantity < 0 {
		side, name, direction = exchange.Buy, "short", -1
	}
	var parts []starlark.Tuple
	for element := range starlark.Elements(list) {
		part, is := element.(starlark.Tuple)
		if !is || len(part) != 2 {
			return nil, errors.New("targets: want a list of (distance or price, share), such as [(\"2%\", \"50%\"), (\"4%\", \"50%\")]")
		}
		parts = append(parts, part)
	}
	// The original position is the current one plus the quantity that these orders have closed.
	quantity := v.Position.Quantity.Abs()
	key := func(i int) string { return fmt.Sprintf("target %d %s", i+1, name) }
	for i := range parts {
		quantity += v.Filled(key(i))
	}
	for i, part := range parts {
		share, err := decimalOf(part[1])
		whole = whole.Add(share)
		if err != nil || !share.IsPositive() || whole.GreaterThan(decimal.NewFromInt(1)) {
			return nil, fmt.Errorf("targets: shares must be above 0 and at most 100%% in total, not %s", part[1])
		}
		at, err := r.targetPrice(part[0], direction)
		if err != nil {
			return nil, err
		}
		if v.Position.Quantity == 0 {
			continue
		}
		part := v.Symbol.FloorQuantity(exchange.Quantity(decimal.NewFromInt(int64(quantity)).Mul(share).IntPart()))
		if i == len(parts)-1 && whole.Equal(decimal.NewFromInt(1)) { // the rounding remainder of the others
			part = quantity
			for _, other := range all {
				part -= other.(*orderValue).order.Quantity
			}
		}
		if part > 0 {
			all = append(all, &orderValue{opaque{"order"}, strategy.DesiredOrder{Key: key(i), Side: side, Price: at, Quantity: part}})
		}
	}
	return starlark.NewList(all), nil
}

// targetPrice returns a price, or a price at a distance from the entry on the winning side.
func (r *running) targetPrice(given starlark.Value, direction int) (exchange.Price, error) {
	text, is := given.(starlark.String)
	if !is || !strings.HasSuffix(string(text), "%") {
		return r.price("targets", given, direction)
	}
	share, err := decimalOf(text)
	if err != nil || !share.IsPositive() {
		return 0, fmt.Errorf("targets: %s is not a distance above 0", text)
	}
	entry := r.view.of.Position.EntryPrice.Decimal()
	if entry.IsZero() {
		return 0, nil
	}
	return r.price("targets", starlark.String(entry.Mul(decimal.NewFromInt(1).Add(share.Mul(decimal.NewFromInt(int64(direction))))).String()), direction)
}

// pair implements pair(symbol, market="futures"): another symbol that a strategy of the same
// account trades, visible as view.pair_position and view.pair_last.
func pair(r *call) (starlark.Value, error) {
	symbol, market := "", "futures"
	if err := r.unpack(&symbol, &market); err != nil {
		return nil, err
	}
	parsed, err := exchange.ParseMarket(market)
	switch {
	case err != nil:
		return nil, fmt.Errorf("pair: market %q is not spot or futures", market)
	case !r.loading || r.pair.Name != "":
		return nil, errors.New("pair(symbol) belongs at the top of the file, once")
	}
	r.pair = exchange.SymbolKey{Market: parsed, Name: symbol}
	return starlark.None, nil
}
