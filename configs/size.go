package configs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shopspring/decimal"
	"gopkg.in/yaml.v3"

	"botd/exchange"
	"botd/risk"
)

func (r *strategyReader) sizeKeys() []key {
	c := r.into
	return []key{
		{name: "equity", value: share(&c.Size.Equity, 1, maxLeverage*exchange.RateOne), check: r.checkEquity,
			what: "the value of a full position, as a share of the account's equity, before leverage", example: "50%"},
		{name: "quantity", value: number(show(&c.Size.Quantity), r.readQuantity),
			what: "alternatively a fixed quantity, a multiple of the symbol's step", unit: "base units", example: "0.01"},
		{name: "risk", value: share(&c.Size.Risk, 1, exchange.RateOne/2), check: r.checkRisk,
			what:    "alternatively by risk: the share of the equity that is lost at the stop, computed once at the entry",
			example: "size: {risk: 1%}\nprotect: {stop_loss: 2%}"},
		{name: "volatility", value: share(&c.Size.Volatility, 1, 10*exchange.RateOne),
			what: "alternatively by volatility: the annual volatility of the position, as a share of the equity, by the last 30 closes at " +
				"the entry", example: "15%"},
		{name: "kelly", value: share(&c.Size.Kelly, 1, exchange.RateOne),
			what: "alternatively by past results: a share of the growth-optimal size; 1% until 20 positions have ended, and without an edge", example: "25%"},
		{name: "max", value: share(&c.Size.Max, 1, maxLeverage*exchange.RateOne), check: r.checkMax,
			what:    "with risk, volatility or kelly: maximum value of the position, as a share of the equity; default 100%",
			example: "size: {volatility: 15%, max: 200%}"},
		{name: "quote", value: amount(&c.Size.Quote, exchange.MustAmount("0.00000001")), check: r.checkQuote,
			what: "position value in USDT", unit: "USDT", example: "1000"},
	}
}

// checkSize requires exactly one kind of size.
func (r *strategyReader) checkSize(s *section) {
	var ways []entry
	for _, e := range s.entries {
		if e.key.Value != "max" {
			ways = append(ways, e)
		}
	}
	if len(ways) > 0 {
		r.size = ways[0].value
	}
	switch {
	case len(ways) > 1 && len(s.entries) <= len(s.known):
		s.fail(ways[1].key.Line, "keep one of them", "size has both %s and %s", ways[0].key.Value, ways[1].key.Value)
	case len(ways) < len(s.entries) && !r.into.Size.atEntry():
		s.fail(s.line, "max limits a size by risk, volatility or kelly", "size.max is given without one of them")
	}
}

// checkRisk records the node of a size by risk: it needs a stop, which is read later.
func (r *strategyReader) checkRisk(_ *section, node *yaml.Node) { r.risk = node }

// checkStop requires a stop for a size that depends on its distance. A script, rules and a program may set their own.
func (r *strategyReader) checkStop() {
	sets := slices.Contains([]string{"script", "rules", "process"}, r.into.Kind)
	if r.into.Size.Risk != 0 && r.risk != nil && r.into.Protect.StopLoss.IsZero() && !sets {
		r.wrong(r.risk, "protect: {stop_loss: 2%}", "size.risk needs protect.stop_loss: its distance is what is risked")
	}
}

func (r *strategyReader) checkMax(s *section, node *yaml.Node) {
	c := r.into
	switch {
	case c.Market == exchange.Spot && c.Size.Max > exchange.RateOne:
		s.wrong(node, "spot buys only with available funds; use at most 100%", "%smax %s is more than the account", s.path, node.Value)
	case c.Leverage > 0 && c.Size.Max > exchange.Rate(c.Leverage)*exchange.RateOne:
		s.wrong(node, fmt.Sprintf("at most %d00%%", c.Leverage), "%smax %s exceeds leverage %d", s.path, node.Value, c.Leverage)
	}
}

func (r *strategyReader) checkEquity(s *section, node *yaml.Node) {
	c := r.into
	r.equity = node
	switch {
	case c.Market == exchange.Spot && c.Size.Equity > exchange.RateOne:
		s.wrong(node, "spot buys only with available funds; use at most 100%", "%sequity %s is more than the account", s.path, node.Value)
	case c.Leverage > 0 && c.Size.Equity > exchange.Rate(c.Leverage)*exchange.RateOne:
		s.wrong(node, fmt.Sprintf("size.equity is the notional before leverage; at most %d00%%", c.Leverage),
			"%sequity %s exceeds leverage %d", s.path, node.Value, c.Leverage)
	}
}

func (r *strategyReader) checkQuote(s *section, node *yaml.Node) {
	if r.symbol != nil && r.into.Size.Quote.Less(r.symbol.MinNotional) {
		s.wrong(node, fmt.Sprintf("at least %s", r.symbol.MinNotional),
			"%squote %s is below minNotional %s (%s)", s.path, node.Value, r.symbol.MinNotional, r.into.Symbol)
	}
}

func (r *strategyReader) readQuantity(text string, quantity decimal.Decimal) (problem, hint string) {
	if quantity.Sign() <= 0 {
		return fmt.Sprintf(" %s is not above zero", text), ""
	}
	if problem, hint = r.fits(text, quantity, "quantityTick"); problem == "" {
		r.into.Size.Quantity = quantity
	}
	return problem, hint
}

// fits reports a price or quantity that exceeds botd's range, or that is not a multiple of the symbol's step. The
// hint suggests the nearest valid values.
func (r *strategyReader) fits(text string, value decimal.Decimal, tickName string) (problem, hint string) {
	if _, err := exchange.AmountFromDecimal(value); err != nil {
		return fmt.Sprintf(" %s has more than %d decimal places or is too large", text, exchange.AmountScale), ""
	}
	if r.symbol == nil {
		return "", ""
	}
	tick := r.symbol.QuantityDecimal(r.symbol.QuantityTick)
	if tickName == "priceTick" {
		tick = r.symbol.PriceDecimal(r.symbol.PriceTick)
	}
	rest := value.Mod(tick)
	if rest.IsZero() {
		return "", ""
	}
	below := value.Sub(rest)
	hint = fmt.Sprintf("nearest: %s or %s", below, below.Add(tick))
	if below.IsZero() {
		hint = fmt.Sprintf("at least %s", tick)
	}
	return fmt.Sprintf(" %s is not a multiple of %s %s (%s)", text, tickName, tick, r.symbol.Name), hint
}

// show formats a number. Zero is an empty text.
func show(d *decimal.Decimal) func() string {
	return func() string {
		if d.IsZero() {
			return ""
		}
		return d.String()
	}
}

// checkExposure warns about a size that an exposure limit always refuses, and of a multiple of the equity: most
// often a percentage without its sign.
func (r *strategyReader) checkExposure(account risk.Limits) {
	size, node := r.into.Size.Equity, r.equity
	if node == nil {
		return
	}
	for _, limit := range risk.Table() {
		if !limit.Multiple {
			continue
		}
		most, own := *limit.Field(&account).(*exchange.Rate), *limit.Field(&r.into.Limits).(*exchange.Rate)
		if own != 0 && (most == 0 || own < most) {
			most = own
		}
		if most == 0 || size <= most {
			continue
		}
		hint := "lower it, or raise risk." + limit.Name
		if size/100 <= most && !strings.HasSuffix(node.Value, "%") {
			hint = fmt.Sprintf("did you mean %s%%?", node.Value)
		}
		r.warn(node, hint, "size.equity %s is above risk.%s %s: every entry will be refused", node.Value, limit.Name, most)
		return
	}
	if size > exchange.RateOne && !strings.HasSuffix(node.Value, "%") {
		r.warn(node, fmt.Sprintf("did you mean %s%%? Write %s%% if not", node.Value, size.Decimal().Shift(2)),
			"size.equity %s is %s times the equity", node.Value, size)
	}
}
