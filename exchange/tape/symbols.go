package tape

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"
	"gopkg.in/yaml.v3"

	"botd/exchange"
	"botd/internal/spell"
)

// LoadSymbols reads a YAML list of symbol records for both markets. It accepts the field names of
// futures and spot records for either. A record without `market` belongs to the market of its field
// names, or to futures if they fit both, and also to the other market unless that has its own
// record of the symbol.
func LoadSymbols(path string) ([]*exchange.Symbol, error) {
	records, err := readRecords(path)
	if err != nil {
		return nil, err
	}
	l := symbolList{keys: make(map[exchange.SymbolKey]bool, len(records))}
	for _, r := range records {
		if err := l.add(r); err != nil {
			return nil, err
		}
	}
	for _, r := range records {
		other := *r
		other.spec.Market = exchange.Futures + exchange.Spot - r.spec.Market
		if slices.Contains(r.seen, "market") || l.keys[exchange.SymbolKey{Market: other.spec.Market, Name: r.spec.Name}] {
			continue
		}
		if err := l.add(&other); err != nil {
			return nil, err
		}
	}
	return l.symbols, nil
}

// symbolList is a list under construction.
type symbolList struct {
	symbols []*exchange.Symbol
	keys    map[exchange.SymbolKey]bool
}

// add appends a record's symbol.
func (l *symbolList) add(r *record) error {
	symbol, err := exchange.NewSymbol(r.spec)
	if err != nil {
		return &DataError{Path: r.path, Line: r.line, What: err.Error()}
	}
	if l.keys[symbol.Key()] {
		return &DataError{Path: r.path, Line: r.line, Column: "symbol", What: fmt.Sprintf("%s appears twice", symbol.Key())}
	}
	l.keys[symbol.Key()] = true
	l.symbols = append(l.symbols, symbol)
	return nil
}

// readRecords reads the records of a list.
func readRecords(path string) ([]*record, error) {
	data, err := readAll(path)
	if err != nil {
		return nil, err
	}
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil {
		return nil, notYAML(path, err)
	}
	if len(document.Content) != 1 || document.Content[0].Kind != yaml.SequenceNode {
		return nil, &DataError{Path: path, Line: 1, What: "not a list",
			Hint: "- {symbol: BTC-USDT, priceTick: 0.01, quantityTick: 0.00001, minNotional: 5, maxNotional: 1000000}"}
	}
	if len(document.Content[0].Content) == 0 {
		return nil, &DataError{Path: path, Line: 1, What: "no symbol records"}
	}
	var records []*record
	for _, node := range document.Content[0].Content {
		r := &record{path: path, line: node.Line, spec: exchange.SymbolSpec{Tradable: true, Cancelable: true, FundingIntervalHours: 8}}
		if err := r.read(followAlias(node)); err != nil {
			return nil, err
		}
		if !slices.Contains(r.seen, "market") {
			r.spec.Market = r.market()
		}
		records = append(records, r)
	}
	return records, nil
}

// notYAML extracts the line from the YAML reader's own message.
func notYAML(path string, err error) error {
	wrong := &DataError{Path: path, What: strings.TrimPrefix(err.Error(), "yaml: "), Hint: "expected a YAML list of symbol records"}
	if rest, found := strings.CutPrefix(wrong.What, "line "); found {
		number, what, _ := strings.Cut(rest, ": ")
		if line, err := strconv.Atoi(number); err == nil {
			wrong.Line, wrong.What = line, what
		}
	}
	return wrong
}

// followAlias follows an alias to its target.
func followAlias(node *yaml.Node) *yaml.Node {
	if node.Kind == yaml.AliasNode {
		return node.Alias
	}
	return node
}

// record parses one symbol's mapping.
type record struct {
	path string
	line int
	spec exchange.SymbolSpec
	seen []string
	err  error
}

// futuresKeys are the names found only in futures records (interface, Futures symbol), spotKeys
// those found only in spot records (Spot pair).
var (
	futuresKeys = []string{"baseAsset", "quoteAsset", "isReduceOnly", "adjustedFundingRateCap", "adjustedFundingRateFloor", "fundingIntervalHours", "brackets"}
	spotKeys    = []string{"base", "quote", "orderTypes"}
)

// market returns the market of a record's names.
func (r *record) market() exchange.Market {
	has := func(keys []string) bool {
		return slices.ContainsFunc(keys, func(key string) bool { return slices.Contains(r.seen, key) })
	}
	if has(spotKeys) && !has(futuresKeys) {
		return exchange.Spot
	}
	return exchange.Futures
}

var recordKeys = []string{"symbol", "market", "base", "baseAsset", "quote", "quoteAsset", "quantityTick", "priceTick", "minNotional", "maxNotional", "isTrade",
	"isReduceOnly", "isCancelOrder", "adjustedFundingRateCap", "adjustedFundingRateFloor", "fundingIntervalHours", "orderTypes", "brackets"}

// sameAs maps the two markets' names of one field to each other.
var sameAs = map[string]string{"base": "baseAsset", "baseAsset": "base", "quote": "quoteAsset", "quoteAsset": "quote"}

func (r *record) fail(node *yaml.Node, hint, format string, arguments ...any) {
	if r.err == nil {
		r.err = &DataError{Path: r.path, Line: node.Line, What: fmt.Sprintf(format, arguments...), Hint: hint}
	}
}

func (r *record) read(node *yaml.Node) error {
	if node.Kind != yaml.MappingNode {
		r.fail(node, "", "not a symbol record")
		return r.err
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if slices.ContainsFunc(r.seen, func(seen string) bool { return seen == key.Value || seen == sameAs[key.Value] }) {
			r.fail(key, "", "key %q appears twice", key.Value)
		}
		r.seen = append(r.seen, key.Value)
		r.field(key, followAlias(value))
	}
	for _, needed := range []string{"symbol", "quantityTick", "priceTick"} {
		if !slices.Contains(r.seen, needed) {
			r.fail(node, "", "%s is missing", needed)
		}
	}
	if base, quote, found := strings.Cut(r.spec.Name, "-"); found {
		r.spec.Base, r.spec.Quote = cmp.Or(r.spec.Base, base), cmp.Or(r.spec.Quote, quote)
	}
	if r.spec.MaxNotional.IsZero() {
		r.spec.MaxNotional = decimal.NewFromInt(1_000_000)
	}
	return r.err
}

func (r *record) field(key, value *yaml.Node) {
	s := &r.spec
	switch key.Value {
	case "quantityTick":
		s.QuantityTick = r.decimal(value)
	case "priceTick":
		s.PriceTick = r.decimal(value)
	case "minNotional":
		s.MinNotional = r.decimal(value)
	case "maxNotional":
		s.MaxNotional = r.decimal(value)
	case "adjustedFundingRateCap":
		s.FundingCap = r.decimal(value)
	case "adjustedFundingRateFloor":
		s.FundingFloor = r.decimal(value)
	case "symbol":
		s.Name = value.Value
	case "market":
		market, err := exchange.ParseMarket(value.Value)
		if err != nil {
			r.fail(value, "", "%v", err)
		}
		s.Market = market
	case "base", "baseAsset":
		s.Base = value.Value
	case "quote", "quoteAsset":
		s.Quote = value.Value
	case "fundingIntervalHours":
		s.FundingIntervalHours = r.whole(value, 24*7)
	case "isTrade":
		s.Tradable = r.flag(value)
	case "isReduceOnly":
		s.ReduceOnly = r.flag(value)
	case "isCancelOrder":
		s.Cancelable = r.flag(value)
	case "orderTypes":
		r.orderTypes(value)
	case "brackets":
		r.brackets(value)
	default:
		r.unknown(key, recordKeys)
	}
}

func (r *record) unknown(key *yaml.Node, known []string) {
	hint := "known: " + strings.Join(known, ", ")
	if near := spell.Nearest(key.Value, known); near != "" {
		hint = "did you mean " + near + "?"
	}
	r.fail(key, hint, "unknown key %q", key.Value)
}

// decimal parses a number from its text, never through a float64.
func (r *record) decimal(node *yaml.Node) decimal.Decimal {
	const exponents = 30 // bounded: 1e999999999 would be computed with for hours
	d, err := decimal.NewFromString(node.Value)
	if err != nil || node.Kind != yaml.ScalarNode || len(node.Value) > 60 || d.Exponent() > exponents || d.Exponent() < -exponents {
		r.fail(node, "", "%q is not a decimal number", shorten(node.Value))
		return decimal.Zero
	}
	return d
}

// whole parses an integer from one up.
func (r *record) whole(node *yaml.Node, maximum int64) int {
	d := r.decimal(node)
	if !d.IsInteger() || d.LessThan(decimal.NewFromInt(1)) || d.GreaterThan(decimal.NewFromInt(maximum)) {
		r.fail(node, "", "%q is not a whole number from 1 to %d", shorten(node.Value), maximum)
	}
	return int(d.IntPart())
}

func (r *record) amount(node *yaml.Node) exchange.Amount {
	a, err := exchange.AmountFromDecimal(r.decimal(node))
	if err != nil {
		r.fail(node, "", "%v", err)
	}
	return a
}

func (r *record) flag(node *yaml.Node) bool {
	if node.Value != "true" && node.Value != "false" {
		r.fail(node, "", "%q is neither true nor false", node.Value)
	}
	return node.Value == "true"
}

func (r *record) orderTypes(node *yaml.Node) {
	for word := range strings.SplitSeq(node.Value, ",") {
		t, err := exchange.ParseOrderType(strings.TrimSpace(word))
		if err != nil {
			r.fail(node, "", "%v", err)
			return
		}
		r.spec.OrderTypes = append(r.spec.OrderTypes, t)
	}
}

var bracketKeys = []string{"symbol", "min", "max", "marginRatio", "marginAmount", "maxLeverage"}

// brackets parses the margin levels; each one begins where the previous one ends.
func (r *record) brackets(node *yaml.Node) {
	if node.Kind != yaml.SequenceNode {
		r.fail(node, "a list of {min, max, marginRatio, marginAmount, maxLeverage}", "brackets are not a list")
		return
	}
	for _, item := range node.Content {
		b := r.bracket(followAlias(item))
		if n := len(r.spec.Brackets); n > 0 && b.Min != r.spec.Brackets[n-1].Max {
			r.fail(item, "", "bracket begins at %s, the previous one ends at %s", b.Min, r.spec.Brackets[n-1].Max)
		}
		if b.Max.Cmp(b.Min) <= 0 {
			r.fail(item, "", "bracket ends at %s, which is not above its beginning %s", b.Max, b.Min)
		}
		r.spec.Brackets = append(r.spec.Brackets, b)
	}
}

func (r *record) bracket(node *yaml.Node) (b exchange.Bracket) {
	if node.Kind != yaml.MappingNode {
		r.fail(node, "{min, max, marginRatio, marginAmount, maxLeverage}", "not a bracket")
		return b
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], followAlias(node.Content[i+1])
		switch key.Value {
		case "symbol": // the interface's record repeats it
		case "min":
			b.Min = r.amount(value)
		case "max":
			b.Max = r.amount(value)
		case "marginAmount":
			b.MarginAmount = r.amount(value)
		case "marginRatio":
			var err error
			if b.MarginRatio, err = exchange.RateFromDecimal(r.decimal(value)); err != nil {
				r.fail(value, "", "%v", err)
			}
		case "maxLeverage":
			b.MaxLeverage = r.whole(value, 1000)
		default:
			r.unknown(key, bracketKeys)
		}
	}
	if b.MaxLeverage == 0 {
		r.fail(node, "", "maxLeverage is missing")
	}
	return b
}
