package configs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/shopspring/decimal"
	"gopkg.in/yaml.v3"

	"botd/exchange"
	"botd/internal/notation"
	"botd/strategy/overlay"
)

// ExitsConfig configures exits for a position of any strategy.
type ExitsConfig struct {
	TrailingDistance exchange.Rate // of the best price since the entry
	TrailingAfter    exchange.Rate // the profit at which trailing begins
	TimeLimitMS      int64
	Returns          []overlay.Return // by age, ascending
	CooldownMS       int64
}

// Bounds of the exits.
const (
	longestHold = 365 * day
	minReturn   = -exchange.RateOne + 1
	maxReturn   = 100 * exchange.RateOne
)

func (r *strategyReader) protectKeys() []key {
	c, e := r.into, &r.into.Exits
	return []key{
		{name: "stop_loss", value: r.distance(&c.Protect.StopLoss, exchange.RateOne-1), check: r.looksLikeShare,
			what: "a stop on the exchange for the whole position, a share of the entry price or a price", example: "2%"},
		{name: "take_profit", value: r.distance(&c.Protect.TakeProfit, maxReturn), check: r.looksLikeShare,
			what: "a take-profit on the exchange, also a share or a price", example: "6%"},
		{name: "trailing", after: checkTrailing, hidden: func() bool { return e.TrailingDistance == 0 }, keys: []key{
			{name: "distance", value: share(&e.TrailingDistance, exchange.RateOne/10_000, exchange.RateOne-1),
				what: "distance of the stop from the best price since the entry", example: "1.5%"},
			{name: "offset", zero: e.TrailingDistance != 0, value: share(&e.TrailingAfter, 0, maxReturn),
				what: "the profit from which the stop trails; by default it trails from the entry on", example: "protect: {trailing: {offset: 3%, " +
					"distance: 1.5%}}"},
			{name: "after", zero: e.TrailingDistance != 0, value: share(&e.TrailingAfter, 0, maxReturn), hidden: func() bool { return true },
				what: "the former name of offset", example: "protect: {trailing: {distance: 1.5%, after: 3%}}"},
		}},
		{name: "time_limit", value: duration(&e.TimeLimitMS, minute, longestHold), what: "maximum holding time; then the position is closed", example: "3d"},
		{name: "returns", members: &members{read: e.readReturns, show: e.showReturns, key: key{name: "AGE",
			value: share(new(exchange.Rate), minReturn, maxReturn),
			what:  "the profit at which a position of this age is closed", example: "protect: {returns: {4h: 3%, 1d: 1%}}"}}},
		{name: "cooldown", value: duration(&e.CooldownMS, second, longestHold),
			what: "how long nothing opens after a position has ended", example: "2h"},
	}
}

func checkTrailing(s *section) {
	if len(s.entries) > 0 && s.value("distance") == nil {
		s.fail(s.line, "how far below the best price the stop follows, such as 1%", "protect.trailing.distance is missing")
	}
}

func (e *ExitsConfig) readReturns(s *section) {
	for _, entry := range s.entries {
		age, err := notation.Duration(entry.key.Value)
		if err != nil || age > longestHold {
			s.report(Error, entry.key.Line, entry.key.Column, "write age: profit, such as 4h: 2%",
				fmt.Sprintf("protect.returns: %q is not an age", notation.Shortened(entry.key.Value)))
			continue
		}
		enough := overlay.Return{AgeMS: age}
		value := share(&enough.Profit, minReturn, maxReturn)
		value.read(s, entry.key.Value)
		e.Returns = append(e.Returns, enough)
	}
	slices.SortStableFunc(e.Returns, func(a, b overlay.Return) int { return cmp.Compare(a.AgeMS, b.AgeMS) })
}

func (e *ExitsConfig) showReturns(into outline) {
	for _, enough := range e.Returns {
		into.set(notation.DurationText(enough.AgeMS), notation.Percent(enough.Profit))
	}
}

// distance returns the value of a distance: a share of the entry price, with a percent sign, or a price.
func (r *strategyReader) distance(into *DistanceConfig, most exchange.Rate) value {
	written := func() string { return into.text() }
	price := number(written, func(text string, d decimal.Decimal) (problem, hint string) {
		if d.Sign() <= 0 {
			return fmt.Sprintf(" %s is not above zero", text), "write a price, or a share of the entry price such as 2%"
		}
		if problem, hint = r.fits(text, d, "priceTick"); problem == "" {
			into.Price = d
		} else if part := d.Shift(2); part.LessThan(decimal.NewFromInt(100)) {
			hint = fmt.Sprintf("did you mean %s%%, a share of the entry price? a price is %s", part, hint)
		}
		return problem, hint
	})
	return value{kind: KindDistance, high: notation.Percent(most), text: written, parse: func(text string) (problem, hint string) {
		if strings.HasSuffix(strings.TrimSpace(text), "%") {
			return share(&into.Share, 1, most).parse(text)
		}
		return price.parse(text)
	}}
}

// looksLikeShare warns of a price that is probably a percentage without its sign: real prices are tens of thousands
// of ticks.
func (r *strategyReader) looksLikeShare(s *section, node *yaml.Node) {
	price, _, err := notation.Decimal(node.Value)
	if err != nil {
		return // it has a percent sign
	}
	below := func(most, ticks int64) bool {
		return price.LessThan(decimal.NewFromInt(most)) && (r.symbol == nil || price.LessThan(r.symbol.PriceDecimal(r.symbol.PriceTick*exchange.Price(ticks))))
	}
	meant := price
	switch {
	case below(1, 100):
		meant = price.Shift(2)
	case r.symbol == nil || !below(100, 1000):
		return
	}
	s.warn(node, fmt.Sprintf("did you mean %s%%, a share of the entry price?", meant), "%s%s %s is read as a price", s.path, s.keyOf(node), node.Value)
}
