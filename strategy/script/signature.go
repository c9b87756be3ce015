package script

import (
	"fmt"
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

// call is a call of a built-in function by the running strategy.
type call struct {
	*running
	function string
	given    starlark.Tuple
	named    []starlark.Tuple
}

// function returns a built-in function.
func function(name string, do func(r *call) (starlark.Value, error)) *starlark.Builtin {
	return starlark.NewBuiltin(name, func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, named []starlark.Tuple) (starlark.Value, error) {
		return do(&call{runningOf(thread), name, args, named})
	})
}

// text returns the call as a script writes it.
func (r *call) text() string { return callText(r.function, r.given, r.named) }

// unpack reads the arguments by the function's signature.
func (r *call) unpack(into ...any) error {
	pairs := make([]any, 0, 2*len(into))
	for i, name := range signatures[r.function] {
		pairs = append(pairs, name, into[i])
	}
	return starlark.UnpackArgs(r.function, r.given, r.named, pairs...)
}

// unpackTrading reads the arguments of a function that needs a market.
func (r *call) unpackTrading(into ...any) error {
	if err := r.trading(); err != nil {
		return err
	}
	return r.unpack(into...)
}

// trading returns an error at the top of the file.
func (r *call) trading() error {
	if r.loading || r.view.of == nil {
		return fmt.Errorf("%s(...) belongs in decide: at the top of the file there is no market yet", r.function)
	}
	return nil
}

// unpackSeries reads the arguments of a series function that must see every candle.
func (r *call) unpackSeries(into ...any) error {
	if err := r.unpack(into...); err != nil {
		return err
	}
	if !r.loading {
		return fmt.Errorf("%s(...) defines a series, which must see every candle: define it at the top of the file and use its name here", r.function)
	}
	return nil
}

// parameter returns a parameter's name and whether it is optional.
func parameter(written string) (name string, optional bool) { return strings.CutSuffix(written, "?") }
