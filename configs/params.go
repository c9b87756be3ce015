package configs

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/internal/notation"
	"botd/internal/spell"
	"botd/strategy"
)

// readParams reads the parameters as text and checks each by its definition. A size among them becomes the size of
// the strategy, unless the strategy has a parameter of that name.
func (r *strategyReader) readParams(s *section) {
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
		case !found && r.into.definition != nil && r.into.definition.Silent:
			r.param(s, name, strategy.Parameter{Name: name, Kind: "text"})
		case !found && name == "size":
			r.sizeInParams(s, e)
		case !found && isSecretName(name):
			s.unknown(e.key, known)
			r.broken = true
		case !found && r.into.definition != nil:
			r.broken = true
			hint := fmt.Sprintf("%s takes no parameters", r.into.Kind)
			if r.into.Script.File != "" {
				hint = fmt.Sprintf("%s declares none: %s = param(%q, ...) declares it", r.into.Script.File, name, name)
			}
			if strings.ContainsAny(name, "()<>") {
				hint = "put quotes around the rule: between { and } a comma ends it: {entry_long: \"rsi(close, 14) < 30\"}"
			} else if home := otherHomes[name]; home != "" && r.into.Script.File == "" {
				hint = home
			} else if near := spell.Nearest(name, known); near != "" {
				hint = fmt.Sprintf("did you mean %q?", near)
			} else if len(known) > 0 {
				hint = fmt.Sprintf("%s takes %s", r.into.Kind, strings.Join(known, ", "))
			}
			s.report(Error, e.key.Line, e.key.Column, hint, fmt.Sprintf("unknown parameter %q", notation.Shortened(name)))
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

// otherHomes lists keys that users often write among the parameters, with the correction.
var otherHomes = map[string]string{
	"stop_loss": "write protect: {stop_loss: 2%} next to params", "take_profit": "write protect: {take_profit: 4%} next to params",
	"trailing": "write protect: {trailing: {offset: 3%, distance: 1.5%}} next to params", "leverage": "write leverage: next to params",
	"buy": "write entry_long", "long": "write entry_long", "entry": "write entry_long or entry_short", "sell": "write exit_long",
	"exit": "write exit_long or exit_short", "short": "write entry_short", "cover": "write exit_short",
}

// missing returns the parameters without a default that the file does not set.
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
		s.report(Error, e.key.Line, e.key.Column, "keep one of them", fmt.Sprintf("params.size is given in addition to size, on line %d", r.lineOf("size")))
		return
	}
	size := s.section("size")
	size.read(r.sizeKeys())
	r.checkSize(size)
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
		_, hint, err = notation.Decimal(strings.TrimSuffix(text, "%"))
	case "duration":
		// The registry reads Go's durations, which have no days.
		var ms int64
		if ms, err = notation.Duration(text); err == nil {
			text = fmt.Sprintf("%dms", ms)
			if ms%second == 0 {
				text = fmt.Sprintf("%ds", ms/second)
			}
		} else {
			hint = notation.DurationHint(text)
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

func (c *StrategyConfig) showParams(into outline) {
	for _, name := range slices.Sorted(maps.Keys(c.Params)) {
		into.set(name, c.Params[name])
	}
}

// reportUnknown reports the keys that a strategy's file does not have. For parameters outside params it suggests
// params.
func (r *strategyReader) reportUnknown() {
	var left []entry
	for _, e := range r.entries {
		mine := r.into.definition != nil && slices.ContainsFunc(r.into.definition.Parameters, func(p strategy.Parameter) bool { return p.Name == e.key.Value })
		if mine && !slices.Contains(r.known, e.key.Value) {
			r.report(Error, e.key.Line, e.key.Column, fmt.Sprintf("it is a parameter of %s: write it under params", r.into.Kind),
				fmt.Sprintf("unknown key %q", e.key.Value))
			continue
		}
		left = append(left, e)
	}
	all := r.entries
	r.entries = left
	r.section.reportUnknown()
	r.entries = all
}

// build makes the strategy once. That checks relations between parameters, such as a fast average slower than the
// slow one.
func (r *strategyReader) build() {
	c := r.into
	if r.into.definition == nil || r.broken || c.Interval == 0 {
		return
	}
	if r.symbol == nil {
		r.buildUnlisted()
		return
	}
	var made strategy.Strategy
	setting, err := c.Setting(r.symbol)
	if err == nil {
		made, err = r.into.definition.New(setting, c.Params)
		if why := c.checkProtection(made); err == nil && why != nil {
			r.fail(r.lineOf("protect"), "trade futures, or omit protect and limit the loss by risk", "%v", why)
		}
	}
	if err == nil {
		if weighted, is := made.(strategy.Weighted); is {
			c.weight = weighted.Weight()
		}
		c.watching = strategy.WatchingOf(made)
		r.checkOthers(made)
		r.checkStepped(made)
		r.checkEconomics(made)
		return
	}
	r.notBuilt(err)
}

// buildUnlisted makes the strategy of a symbol that only the venue knows, to learn what it reads. Whether its settings fit the symbol's scales is
// decided at start.
func (r *strategyReader) buildUnlisted() {
	c := r.into
	base, quote, _ := strings.Cut(c.Symbol, "-")
	symbol, err := exchange.NewSymbol(exchange.SymbolSpec{Market: c.Market, Name: c.Symbol, Base: base, Quote: quote,
		PriceTick: decimal.New(1, -6), QuantityTick: decimal.New(1, -6), MaxNotional: decimal.New(1, 9)})
	if err != nil {
		return
	}
	if setting, err := c.Setting(symbol); err == nil {
		if made, err := c.definition.New(setting, c.Params); err == nil {
			c.watching, c.others = strategy.WatchingOf(made), strategy.OthersOf(made)
		}
	}
}

// checkOthers reports other symbols that the strategy reads but that do not exist.
func (r *strategyReader) checkOthers(made strategy.Strategy) {
	r.into.others = strategy.OthersOf(made)
	for _, key := range r.into.others {
		known, served := r.namesOf(key.Market), intervalNames(key.Market)
		hint := hintOf(key.Market, key.Name, known)
		switch {
		case !slices.Contains(served, r.into.Interval.String()):
			r.fail(r.lineOf("interval"), "there are "+strings.Join(served, ", "), "it reads candles of %s, which has none of %s", key, r.into.Interval)
		case slices.Contains(known, key.Name), len(known) == 0:
		case r.loader.config.Mode == Demo:
			r.fail(r.lineOf("strategy"), hint, "it reads candles of %s, and there is no such symbol", key)
		default:
			r.report(Warning, r.lineOf("strategy"), 0, hint,
				fmt.Sprintf("it reads candles of %s, which is not among the built-in symbols; the venue decides at start", key))
		}
	}
}

// checkEconomics reports parameters with which every round trip loses money in any market.
func (r *strategyReader) checkEconomics(made strategy.Strategy) {
	c := r.into
	c.edge = strategy.Edge(made, strategy.Fees{Maker: c.Backtest.Maker, Taker: c.Backtest.Taker})
	e, known := strategy.EconomicsOf(made)
	if !known || c.AcceptLoss {
		return
	}
	if net := e.Net(c.Backtest.Maker, c.Backtest.Taker); net <= 0 {
		r.fail(r.lineOf("params"), "widen it, or set accept_loss: true; the fees are those of backtest.fees",
			"%s earns %s%% and costs %s%% in fees: it always loses", e.What, e.Gross.Decimal().Shift(2), (e.Gross - net).Decimal().Shift(2))
	}
}
