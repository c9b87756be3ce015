package script

import (
	"strings"

	"go.starlark.net/starlark"
)

// signatures are the parameters of the functions that a script can call, in order. A question mark
// marks an optional parameter.
var signatures = map[string][]string{
	"anchored_vwap": {"condition"},
	"candles":       {"interval", "symbol?", "market?"},
	"column":        {"name"},
	"falling":       {"series", "candles?"},
	"filled":        {"key"},
	"hold":          {"side", "reason?"},
	"hour":          {"offset?", "zone?"},
	"long_only":     {},
	"minute":        {"offset?", "zone?"},
	"notify":        {"text"},
	"order":         {"key", "side", "price", "quantity", "post_only?", "stop_price?"},
	"pair":          {"symbol", "market?"},
	"param":         {"name", "default", "min?", "max?", "oneof?", "help?"},
	"plan":          {"target?", "orders?", "exits?", "stop_loss?", "take_profit?", "leverage?", "reason?", "remember?"},
	"reentry":       {"policy"},
	"rising":        {"series", "candles?"},
	"risk":          {"share", "stop"},
	"round":         {"value", "digits?"},
	"session":       {"begin", "end", "offset?", "zone?"},
	"since":         {"condition"},
	"size":          {"sign?"},
	"sum":           {"series", "candles"},
	"targets":       {"targets"},
	"trailing":      {"distance"},
	"value_when":    {"condition", "series"},
	"warmup":        {"candles"},
	"weekday":       {"offset?", "zone?"},
	"where":         {"condition", "a", "b"},
}

// positional are functions with positional arguments only, and their minimum and maximum number.
var positional = map[string][2]int{
	"abs": {1, 1}, "cross_above": {2, 2}, "cross_below": {2, 2}, "equity": {1, 1}, "known": {1, 1}, "log": {1, 1}, "quantity": {1, 1}, "quote": {1, 1},
}

// unpack reads the arguments of a function by its signature.
func unpack(function string, args starlark.Tuple, named []starlark.Tuple, into ...any) error {
	pairs := make([]any, 0, 2*len(into))
	for i, name := range signatures[function] {
		pairs = append(pairs, name, into[i])
	}
	return starlark.UnpackArgs(function, args, named, pairs...)
}

// parameter returns a parameter's name and whether it is optional.
func parameter(written string) (name string, optional bool) { return strings.CutSuffix(written, "?") }
