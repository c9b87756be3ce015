package strategy

import (
	"fmt"
	"slices"
	"strings"

	"botd/exchange"
)

// Bounds of a plan. A plan beyond them is a mistake, such as a division by nearly zero or a mix-up
// of units: no account is that large, and Amount is exact only up to 8.5e19.
var maxNotional = exchange.AmountOf(1_000_000_000_000) // USDT, of one target or order

// maxEquityShare is the largest target as a share of the account's equity: a million times it.
const maxEquityShare = 1_000_000 * exchange.RateOne

// maxOrders is the largest number of orders in one plan.
const maxOrders = 10_000

// Bounds of a plan's texts. The journal stores them, and every start reads them.
const (
	maxReason     = 1_000 // bytes
	maxKey        = 200   // bytes of an order's key, or a remembered value's
	maxRemembered = 1_000 // values
)

// Bounds of what one decision reports to people.
const (
	MaxNotices = 5
	maxNotice  = 500 // bytes of each
)

// Bounds of a strategy's error texts and conditions, which users read.
const (
	MaxCause         = 4_000 // bytes
	maxConditions    = 200
	maxConditionText = 200 // bytes of each of its texts
)

// Clip shortens a text to a number of bytes and marks the cut.
func Clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// shortened returns conditions cut to their bounds.
func shortened(conditions []Condition) []Condition {
	conditions = slices.Clone(conditions[:min(len(conditions), maxConditions)])
	for i := range conditions {
		c := &conditions[i]
		c.Name, c.Value, c.Requires = Clip(c.Name, maxConditionText), Clip(c.Value, maxConditionText), Clip(c.Requires, maxConditionText)
	}
	return conditions
}

// WordsOutOfBounds names the text of the plan that is too long for the journal, or returns an empty
// string.
func (p *Plan) WordsOutOfBounds() string {
	if len(p.Reason) > maxReason {
		return fmt.Sprintf("a reason of %d bytes exceeds %d", len(p.Reason), maxReason)
	}
	for _, orders := range [...][]DesiredOrder{p.Orders, p.Exits} {
		for i := range orders {
			if length := len(orders[i].Key); length > maxKey {
				return fmt.Sprintf("an order's key of %d bytes exceeds %d", length, maxKey)
			}
		}
	}
	return p.memory.OutOfBounds()
}

// OutOfBounds describes the part of the memory that is too large for the journal, or returns an
// empty string.
func (m Memory) OutOfBounds() string {
	if len(m.entries) > maxRemembered {
		return fmt.Sprintf("%d remembered values exceed %d", len(m.entries), maxRemembered)
	}
	for i := range m.entries {
		if length := len(m.entries[i].Key); length > maxKey {
			return fmt.Sprintf("a remembered value's key of %d bytes exceeds %d", length, maxKey)
		}
	}
	return ""
}

// OutOfBounds describes the part of the plan that is out of bounds, or returns an empty string. A
// plan out of bounds cannot be computed exactly. An order is valued at the highest of its own
// prices and the last price.
func (p *Plan) OutOfBounds(symbol *exchange.Symbol, last exchange.Price) string {
	t := p.Target
	switch {
	case t.Share > maxEquityShare || t.Share < -maxEquityShare:
		return fmt.Sprintf("a target of %s times the equity is out of bounds", t.Share)
	case maxNotional.Less(t.Quote.Abs()):
		return fmt.Sprintf("a target of %s USDT is out of bounds (%s)", t.Quote, maxNotional)
	case len(p.Orders)+len(p.Exits) > maxOrders:
		return fmt.Sprintf("%d orders at once exceed %d", len(p.Orders)+len(p.Exits), maxOrders)
	}
	if why := p.WordsOutOfBounds(); why != "" {
		return why
	}
	if _, fits := symbol.NotionalWithin(max(last, 1), t.Quantity, maxNotional); !fits {
		return beyond("a target", symbol, t.Quantity, last)
	}
	for i, orders := range [...][]DesiredOrder{p.Orders, p.Exits} {
		if key, twice := p.keyTwice(orders); twice {
			return fmt.Sprintf("two %s have the key %q", [...]string{"orders", "exits"}[i], key)
		}
		for i := range orders {
			o := &orders[i]
			if o.PostOnly && symbol.Market == exchange.Spot {
				return fmt.Sprintf("order %q is post-only: spot has no such orders", o.Key)
			}
			at := max(o.Price, o.StopPrice, last, 1)
			if _, fits := symbol.NotionalWithin(at, o.Quantity, maxNotional); !fits {
				return beyond(fmt.Sprintf("order %q", o.Key), symbol, o.Quantity, at)
			}
		}
	}
	return ""
}

// keyTwice returns a key that two orders of a list share. Each would replace the other endlessly.
// The strategy guarantees unique keys in lists that it shares.
func (p *Plan) keyTwice(orders []DesiredOrder) (key string, twice bool) {
	if p.shared || len(orders) < 2 {
		return "", false
	}
	seen := make(map[string]bool, len(orders))
	for i := range orders {
		if key = orders[i].Key; seen[key] {
			return key, true
		}
		seen[key] = true
	}
	return "", false
}

func beyond(what string, symbol *exchange.Symbol, quantity exchange.Quantity, price exchange.Price) string {
	return fmt.Sprintf("%s of %s %s at %s is out of bounds: worth more than %s USDT", what, symbol.QuantityDecimal(quantity), symbol.Name,
		symbol.PriceDecimal(price), maxNotional)
}
