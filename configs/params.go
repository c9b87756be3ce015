package configs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shopspring/decimal"
	"gopkg.in/yaml.v3"

	"botd/exchange"
	"botd/internal/spell"
	"botd/risk"
	"botd/strategy"
)

// This file reads what a strategy wants: size, parameters, protection, limits
// and how it is backtested.

func (r *strategyReader) size(s *section) {
	c := r.into
	most := exchange.Rate(maxLeverage) * exchange.RateOne
	s.rate("equity", &c.Size.Equity, 1, most)
	r.quantity(s)
	s.amount("quote", &c.Size.Quote, exchange.MustAmount("0.00000001"))
	s.done()
	if len(s.entries) > 1 && len(s.entries) <= len(s.known) {
		s.fail(s.entries[1].key.Line, "keep one of them", "size has both %s and %s", s.entries[0].key.Value, s.entries[1].key.Value)
	}
	if node := s.value("equity"); node != nil && c.Size.Equity != 0 {
		r.equity = node
		switch {
		case c.Market == exchange.Spot && c.Size.Equity > exchange.RateOne:
			s.wrong(node, "spot buys with what is there; at most 100%", "%sequity %s is more than the account", s.path, node.Value)
		case c.Leverage > 0 && c.Size.Equity > exchange.Rate(c.Leverage)*exchange.RateOne:
			s.wrong(node, fmt.Sprintf("size.equity is the notional, leverage not multiplied in; at most %d00%%", c.Leverage), "%sequity %s exceeds leverage %d", s.path, node.Value, c.Leverage)
		}
	}
	if node := s.value("quote"); node != nil && r.symbol != nil && !c.Size.Quote.IsZero() && c.Size.Quote.Less(r.symbol.MinNotional) {
		s.wrong(node, fmt.Sprintf("at least %s", r.symbol.MinNotional), "%squote %s is below minNotional %s (%s)", s.path, node.Value, r.symbol.MinNotional, c.Symbol)
	}
}

func (r *strategyReader) quantity(s *section) {
	var quantity decimal.Decimal
	node := s.decimal("quantity", &quantity)
	switch {
	case node == nil:
	case quantity.Sign() <= 0:
		s.wrong(node, "", "%squantity %s is not above zero", s.path, node.Value)
	case r.symbol != nil:
		tick := r.symbol.QuantityDecimal(r.symbol.QuantityTick)
		if s.onTick(node, "quantity", "quantityTick", quantity, tick, r.symbol) {
			r.into.Size.Quantity = quantity
		}
	case !representable(quantity):
		s.wrong(node, "", "%squantity %s has more than %d decimal places or is too large", s.path, node.Value, exchange.AmountScale)
	default:
		r.into.Size.Quantity = quantity
	}
}

func representable(d decimal.Decimal) bool {
	_, err := exchange.AmountFromDecimal(d)
	return err == nil
}

// onTick reports a value that is no multiple of its step, with the nearest that are.
func (s *section) onTick(node *yaml.Node, key, tickName string, value, tick decimal.Decimal, symbol *exchange.Symbol) bool {
	if !representable(value) {
		s.wrong(node, "", "%s%s %s is too large, or has too many decimal places", s.path, key, node.Value)
		return false
	}
	rest := value.Mod(tick)
	if rest.IsZero() {
		return true
	}
	below := value.Sub(rest)
	hint := fmt.Sprintf("nearest: %s or %s", below, below.Add(tick))
	if below.IsZero() {
		hint = fmt.Sprintf("at least %s", tick)
	}
	s.wrong(node, hint, "%s%s %s is not a multiple of %s %s (%s)", s.path, key, node.Value, tickName, tick, symbol.Name)
	return false
}

// params takes the parameters as text and checks each by its definition. A size
// among them is taken for the size of the strategy when it has no such
// parameter of its own.
func (r *strategyReader) params() {
	s := r.section.section("params")
	var known []string
	definitions := map[string]strategy.Parameter{}
	if r.into.definition != nil {
		for _, parameter := range r.into.definition.Parameters {
			known = append(known, parameter.Name)
			definitions[parameter.Name] = parameter
		}
	}
	for _, e := range s.entries {
		name := e.key.Value
		parameter, found := definitions[name]
		switch {
		case !found && name == "size":
			r.sizeInParams(s, e)
		case !found && isSecretName(name):
			s.unknown(e.key, known)
			r.broken = true
		case !found && r.into.definition != nil:
			r.broken = true
			hint := fmt.Sprintf("%s takes no parameters", r.into.Kind)
			if r.into.Script.File != "" {
				hint = fmt.Sprintf("%s declares none: %s = param(%q, ...) makes it one", r.into.Script.File, name, name)
			}
			if near := spell.Nearest(name, known); near != "" {
				hint = fmt.Sprintf("did you mean %q?", near)
			} else if len(known) > 0 {
				hint = fmt.Sprintf("%s takes %s", r.into.Kind, strings.Join(known, ", "))
			}
			s.report(Error, e.key.Line, e.key.Column, hint, fmt.Sprintf("unknown parameter %q", shortened(name)))
		default:
			r.param(s, name, parameter)
		}
	}
	line := s.line
	if line == 0 {
		line = r.line
	}
	for _, parameter := range r.missing() {
		r.broken = true
		s.fail(line, parameter.Help, "params.%s is missing", parameter.Name)
	}
}

// missing are the parameters without a default that the file does not name.
func (r *strategyReader) missing() []strategy.Parameter {
	var missing []strategy.Parameter
	if r.into.definition == nil || r.broken {
		return nil
	}
	for _, parameter := range r.into.definition.Parameters {
		if _, given := r.into.Params[parameter.Name]; !given && parameter.Default == "" {
			missing = append(missing, parameter)
		}
	}
	return missing
}

func (r *strategyReader) sizeInParams(s *section, e entry) {
	if r.find("size") != nil {
		s.report(Error, e.key.Line, e.key.Column, "keep one of them", fmt.Sprintf("params.size is given beside size, on line %d", r.lineOf("size")))
		return
	}
	r.size(s.section("size"))
}

func (r *strategyReader) param(s *section, name string, parameter strategy.Parameter) {
	node, ok := s.scalar(name)
	if !ok {
		r.broken = true
		return
	}
	text := node.Value
	var hint string
	var err error
	switch parameter.Kind {
	case "int", "decimal":
		_, hint, err = parseDecimal(strings.TrimSuffix(text, "%"))
	case "duration":
		// The registry reads Go's durations, which know no days.
		var ms int64
		if ms, err = parseDuration(text); err == nil {
			text = fmt.Sprintf("%dms", ms)
			if ms%second == 0 {
				text = fmt.Sprintf("%ds", ms/second)
			}
		} else {
			hint = durationHint(text)
		}
	}
	if err == nil {
		err = parameter.Check(text)
	}
	if err != nil {
		r.broken = true
		if near := spell.Nearest(strings.ToLower(text), parameter.OneOf); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		} else if hint == "" {
			hint = parameter.Help
		}
		s.wrong(node, hint, "params.%s: %v", name, err)
		return
	}
	r.into.Params[name] = text
	r.into.paramLines[name] = node.Line
}

func (r *strategyReader) protect() {
	s := r.section.section("protect")
	r.distance(s, "stop_loss", &r.into.Protect.StopLoss, exchange.RateOne-1)
	r.distance(s, "take_profit", &r.into.Protect.TakeProfit, 100*exchange.RateOne)
	r.exits(s)
	s.done()
}

// distance reads a percentage of the entry price, or a price.
func (r *strategyReader) distance(s *section, key string, into *DistanceConfig, most exchange.Rate) {
	s.learn(key, Key{Kind: KindDistance, High: percent(most)})
	node, ok := s.scalar(key)
	if !ok {
		return
	}
	if strings.HasSuffix(strings.TrimSpace(node.Value), "%") {
		s.rate(key, &into.Share, 1, most)
		return
	}
	var price decimal.Decimal
	if s.decimal(key, &price) == nil {
		return
	}
	switch {
	case price.Sign() <= 0:
		s.wrong(node, "write a price, or a share of the entry price such as 2%", "%s%s %s is not above zero", s.path, key, node.Value)
		return
	case r.symbol != nil && !s.onTick(node, key, "priceTick", price, r.symbol.PriceDecimal(r.symbol.PriceTick), r.symbol):
		return
	case r.symbol == nil && !representable(price):
		s.wrong(node, "", "%s%s %s is too large, or has too many decimal places", s.path, key, node.Value)
		return
	case price.LessThan(decimal.NewFromInt(1)) && (r.symbol == nil || price.LessThan(r.symbol.PriceDecimal(r.symbol.PriceTick*100))):
		s.warn(node, fmt.Sprintf("did you mean %s%%, a share of the entry price?", price.Shift(2)), "%s%s %s is taken for a price", s.path, key, node.Value)
	case price.LessThan(decimal.NewFromInt(100)) && r.symbol != nil && price.LessThan(r.symbol.PriceDecimal(r.symbol.PriceTick*1000)):
		// Prices are tens of thousands of ticks: one of a few hundred is a percentage without its sign.
		s.warn(node, fmt.Sprintf("did you mean %s%%, a share of the entry price?", price), "%s%s %s is taken for a price", s.path, key, node.Value)
	}
	into.Price = price
}

func (r *strategyReader) risk() {
	c := r.into
	s := r.section.section("risk")
	s.limits(&c.Limits, true)
	if s.value("max_leverage") != nil && c.Limits.MaxLeverage > 0 && c.Leverage > c.Limits.MaxLeverage {
		r.wrong(r.value("leverage"), "lower leverage, or raise risk.max_leverage", "leverage %d exceeds %d (risk.max_leverage)", c.Leverage, c.Limits.MaxLeverage)
	}
	s.done()
	account := r.loader.config.Limits
	if account != (risk.Limits{}) {
		refuseLooser(s, &c.Limits, &account)
	}
	r.exposure(account)
}

// exposure warns of a size that a limit of exposure refuses every time: most
// often a percentage without its sign.
func (r *strategyReader) exposure(account risk.Limits) {
	size, node := r.into.Size.Equity, r.equity
	if node == nil {
		return
	}
	for _, limit := range []struct {
		key          string
		own, account exchange.Rate
	}{
		{"max_gross_exposure", r.into.Limits.MaxGrossExposure, account.MaxGrossExposure},
		{"max_symbol_exposure", r.into.Limits.MaxSymbolExposure, account.MaxSymbolExposure},
	} {
		most := limit.account
		if limit.own != 0 && (most == 0 || limit.own < most) {
			most = limit.own
		}
		if most == 0 || size <= most {
			continue
		}
		hint := "lower it, or raise risk." + limit.key
		if size/100 <= most && !strings.HasSuffix(node.Value, "%") {
			hint = fmt.Sprintf("did you mean %s%%?", node.Value)
		}
		r.warn(node, hint, "size.equity %s is above risk.%s %s: every entry will be refused", node.Value, limit.key, most)
		return
	}
}

func (r *strategyReader) backtest() {
	b := &r.into.Backtest
	*b = BacktestConfig{Cash: exchange.AmountOf(10_000), Maker: exchange.RateOne / 5000, Taker: exchange.RateOne / 2000, Fill: "next_open", Path: "worst"}
	if r.into.Market == exchange.Spot {
		b.Maker, b.Taker = exchange.RateOne/1000, exchange.RateOne/1000 // decisions.md, fees
	}
	s := r.section.section("backtest")
	s.amount("cash", &b.Cash, exchange.MustAmount("0.01"))
	fees := s.section("fees")
	fees.rate("maker", &b.Maker, -exchange.RateOne/10, exchange.RateOne/10)
	fees.rate("taker", &b.Taker, 0, exchange.RateOne/10)
	fees.done()
	s.choice("fill", &b.Fill, "next_open") // closes are no prices to fill at: who decides on one trades after it
	s.rate("slippage", &b.Slippage, 0, exchange.RateOne/2)
	s.rate("slippage_volume", &b.Impact, 0, exchange.RateOne)
	s.rate("volume_cap", &b.VolumeCap, 0, exchange.RateOne)
	s.choice("path", &b.Path, "worst", "direction", "low_first", "high_first", "best")
	s.rate("funding", &b.Funding, -exchange.RateOne/100, exchange.RateOne/100)
	s.duration("latency", &b.LatencyMS, 0, hour)
	s.rate("risk_free_annual", &b.RiskFree, 0, exchange.RateOne)
	s.done()
}

// unknownKeys tells of keys no reader asked for; parameters written beside
// params are sent there.
func (r *strategyReader) unknownKeys() {
	var left []entry
	for _, e := range r.entries {
		mine := r.into.definition != nil && slices.ContainsFunc(r.into.definition.Parameters, func(p strategy.Parameter) bool { return p.Name == e.key.Value })
		if mine && !slices.Contains(r.known, e.key.Value) {
			r.report(Error, e.key.Line, e.key.Column, fmt.Sprintf("it is a parameter of %s: write it under params", r.into.Kind), fmt.Sprintf("unknown key %q", e.key.Value))
			continue
		}
		left = append(left, e)
	}
	all := r.entries
	r.entries = left
	r.done()
	r.entries = all
}

// build makes the strategy once, which checks what no parameter shows alone: a
// fast average that is slower than the slow one.
func (r *strategyReader) build() {
	c := r.into
	if r.into.definition == nil || r.symbol == nil || r.broken || c.Interval == 0 {
		return
	}
	setting, err := c.Setting(r.symbol)
	if err == nil {
		_, err = r.into.definition.New(setting, c.Params)
	}
	if err == nil {
		return
	}
	r.notBuilt(err)
}
