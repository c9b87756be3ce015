package tape

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/shopspring/decimal"
	"gopkg.in/yaml.v3"

	"botd/exchange"
)

// LoadSymbols reads a YAML list of symbol records. The futures and the spot
// record's field names are both accepted for either market; a record without
// `market` is of the one given.
func LoadSymbols(path string, market exchange.Market) ([]*exchange.Symbol, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil {
		return nil, &DataError{Path: path, What: strings.TrimPrefix(err.Error(), "yaml: "), Hint: "a YAML list of symbol records is expected"}
	}
	if len(document.Content) != 1 || document.Content[0].Kind != yaml.SequenceNode {
		return nil, &DataError{Path: path, Line: 1, What: "not a list", Hint: "- {symbol: BTC-USDT, priceTick: 0.01, quantityTick: 0.00001, minNotional: 5, maxNotional: 1000000}"}
	}
	var symbols []*exchange.Symbol
	for _, node := range document.Content[0].Content {
		r := record{path: path, spec: exchange.SymbolSpec{Market: market, Tradable: true, Cancelable: true, FundingIntervalHours: 8}}
		symbol, err := r.read(node)
		if err != nil {
			return nil, err
		}
		symbols = append(symbols, symbol)
	}
	return symbols, nil
}

// record reads one symbol's mapping.
type record struct {
	path string
	spec exchange.SymbolSpec
	seen []string
	err  error
}

var recordKeys = []string{"symbol", "market", "base", "baseAsset", "quote", "quoteAsset", "quantityTick", "priceTick", "minNotional", "maxNotional", "isTrade",
	"isReduceOnly", "isCancelOrder", "adjustedFundingRateCap", "adjustedFundingRateFloor", "fundingIntervalHours", "orderTypes", "brackets"}

func (r *record) fail(node *yaml.Node, hint, format string, arguments ...any) {
	if r.err == nil {
		r.err = &DataError{Path: r.path, Line: node.Line, What: fmt.Sprintf(format, arguments...), Hint: hint}
	}
}

func (r *record) read(node *yaml.Node) (*exchange.Symbol, error) {
	if node.Kind != yaml.MappingNode {
		r.fail(node, "", "not a symbol record")
		return nil, r.err
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if slices.Contains(r.seen, key.Value) {
			r.fail(key, "", "key %q stands twice", key.Value)
		}
		r.seen = append(r.seen, key.Value)
		r.field(key, value)
	}
	for _, needed := range []string{"symbol", "quantityTick", "priceTick"} {
		if !slices.Contains(r.seen, needed) {
			r.fail(node, "", "%s is missing", needed)
		}
	}
	if r.err != nil {
		return nil, r.err
	}
	if base, quote, found := strings.Cut(r.spec.Name, "-"); found {
		r.spec.Base, r.spec.Quote = or(r.spec.Base, base), or(r.spec.Quote, quote)
	}
	if r.spec.MaxNotional.IsZero() {
		r.spec.MaxNotional = decimal.NewFromInt(1_000_000)
	}
	symbol, err := exchange.NewSymbol(r.spec)
	if err != nil {
		return nil, &DataError{Path: r.path, Line: node.Line, What: err.Error()}
	}
	return symbol, nil
}

func or(text, fallback string) string {
	if text != "" {
		return text
	}
	return fallback
}

func (r *record) field(key, value *yaml.Node) {
	s := &r.spec
	switch key.Value {
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
	case "fundingIntervalHours":
		s.FundingIntervalHours = int(r.decimal(value).IntPart())
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
		r.fail(key, "known: "+strings.Join(recordKeys, ", "), "unknown key %q", key.Value)
	}
}

func (r *record) decimal(node *yaml.Node) decimal.Decimal {
	d, err := decimal.NewFromString(node.Value)
	if err != nil || node.Kind != yaml.ScalarNode {
		r.fail(node, "", "%q is not a decimal number", node.Value)
	}
	return d
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

func (r *record) brackets(node *yaml.Node) {
	for _, item := range node.Content {
		var raw map[string]yaml.Node
		if err := item.Decode(&raw); err != nil {
			r.fail(item, "", "not a bracket: {min, max, marginRatio, marginAmount, maxLeverage}")
			return
		}
		b := exchange.Bracket{}
		for name, value := range raw {
			d := r.decimal(&value)
			amount, err := exchange.AmountFromDecimal(d)
			if err != nil {
				r.fail(&value, "", "%s: %v", name, err)
			}
			switch name {
			case "min":
				b.Min = amount
			case "max":
				b.Max = amount
			case "marginAmount":
				b.MarginAmount = amount
			case "marginRatio":
				if b.MarginRatio, err = exchange.RateFromDecimal(d); err != nil {
					r.fail(&value, "", "%s: %v", name, err)
				}
			case "maxLeverage":
				b.MaxLeverage = int(d.IntPart())
			default:
				r.fail(&value, "known: min, max, marginRatio, marginAmount, maxLeverage", "unknown key %q", name)
			}
		}
		r.spec.Brackets = append(r.spec.Brackets, b)
	}
}
