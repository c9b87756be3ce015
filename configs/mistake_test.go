package configs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"botd/configs"
	"botd/exchange/sim"
	"botd/strategy"
	"botd/strategy/library"
	"botd/strategy/script"
)

const ruleHead = "name: x\nstrategy: rules\nmarket: futures\nsymbol: BTC-USDT\ninterval: 1h\nsize: {quote: 100}\n"

const scriptHead = "name: x\nstrategy: script\nfile: x.star\nmarket: futures\nsymbol: BTC-USDT\ninterval: 1h\nsize: {quote: 100}\n"

// mistaken lists the most common mistakes in rules, scripts and their YAML, as people make them who come from
// Pine, Python or another bot, and what the hint must contain.
var mistaken = []struct{ name, source, at, hint string }{
	{"a rule without quotes in braces", "params: {entry_long: rsi(close,14) < 30}", "x.yaml:7", "put quotes around the rule"},
	{"AND", "params: {entry_long: close > open AND close > 3}", "x.yaml:7", "in lower case"},
	{"&&", "params: {entry_long: close > open && close > 3}", "x.yaml:7", "write and, or and not"},
	{"&", "params: {entry_long: close > open & close > 3}", "x.yaml:7", "write and, or and not"},
	{"!", "params: {entry_long: '!(close > open)'}", "x.yaml:7", "write not"},
	{"one equals sign", "params: {entry_long: close = open}", "x.yaml:7", "written =="},
	{"crossover", "params:\n  entry_long: crossover(ema(close, 12), ema(close, 26))", "x.yaml:8", "cross_above(a, b)"},
	{"crossunder", "params:\n  entry_long: crossunder(ema(close, 12), ema(close, 26))", "x.yaml:8", "cross_below(a, b)"},
	{"crosses above", "params: {entry_long: close crosses above open}", "x.yaml:7", "cross_above(a, b)"},
	{"ta.rsi", "params:\n  entry_long: ta.rsi(close, 14) < 30", "x.yaml:8", "no prefix"},
	{"barssince", "params:\n  entry_long: barssince(close > open) > 3", "x.yaml:8", "since(condition)"},
	{"a chain", "params:\n  entry_long: 30 < rsi(close, 14) < 70", "x.yaml:8", "30 < x and x < 70"},
	{"between", "params:\n  entry_long: rsi(close, 14) between 30 and 70", "x.yaml:8", "two comparisons"},
	{"price", "params: {entry_long: price > open}", "x.yaml:7", "candle's close is close"},
	{"a percentage", "params: {entry_long: close > open * 1%}", "x.yaml:7", "open * 1.01"},
	{"close[-1]", "params: {entry_long: 'close > close[-1]'}", "x.yaml:7", "close[1]"},
	{"true", "params: {entry_long: true}", "x.yaml:7", "write True"},
	{"length", "params:\n  entry_long: rsi(close, length=14) < 30", "x.yaml:8", "period = 14"},
	{"timeframe", "params:\n  entry_long: ema(close, 20, timeframe=\"4h\") > 3", "x.yaml:8", "candles(\"4h\").close"},
	{"a finer interval", "params:\n  entry_long: candles(\"15m\").close > 3", "x.yaml:7", "decide on the shorter interval"},
	{"if in a rule", "params: {entry_long: if close > open}", "x.yaml:7", "without if"},
	{"stop_loss among the rules", "params:\n  entry_long: close > open\n  stop_loss: 2%", "x.yaml:9", "protect: {stop_loss: 2%}"},
	{"buy", "params: {buy: close > open}", "x.yaml:7", "entry_long"},
	{"close.shift(1)", "params: {entry_long: close.shift(1) < close}", "x.yaml:7", "close[1] is the candle before"},
	{"a stop as a part", "params: {entry_long: close > open}\nprotect: {stop_loss: 0.02}", "x.yaml:8", "did you mean 2%"},
	{"a stop alone", "params: {entry_long: close > open}\nprotect: 2%", "x.yaml:8", "protect: {stop_loss: 2%"},
	{"a tab", "params:\n\tentry_long: close > open", "x.yaml:8", "spaces"},

	{"global", "n = 0\ndef decide(view):\n    global n", "x.star:3", "state[\"n\"]"},
	{"a name of the top", "n = 0\ndef candle(view):\n    n += 1\ndef decide(view):\n    pass", "x.star:3", "state[\"n\"]"},
	{"an f-string", "def decide(view):\n    return hold(\"long\", reason = f\"{close}\")", "x.star:2", "no f-strings"},
	{"self", "def decide(view):\n    self.x = 1", "x.star:2", "no classes"},
	{"view.closes", "def decide(view):\n    return hold(\"long\") if view.closes[0] > 3 else None", "x.star:2", "close[1] the candle before"},
	{"async", "async def decide(view):\n    pass", "x.star:1", "def decide(view):"},
	{"tabs and blanks", "def decide(view):\n\tif True:\n        pass", "x.star:3", "without tabs"},
	{"import", "import math\ndef decide(view):\n    pass", "x.star:1", "no modules"},
	{"view.price", "def decide(view):\n    return hold(\"long\") if view.price > 3 else None", "x.star:2", "view.last"},
	{"view.close", "def decide(view):\n    return hold(\"long\") if view.close > 3 else None", "x.star:2", "without view"},
	{"view.position.size", "def decide(view):\n    return hold(\"flat\") if view.position.size > 0 else None", "x.star:2", "is a number"},
	{"an indicator in decide", "def decide(view):\n    return hold(\"long\") if ema(close, 3) > 3 else None", "x.star:2", "at the top"},
	{"buy()", "def decide(view):\n    buy(1)", "x.star:2", "hold(\"long\")"},
	{"while", "def decide(view):\n    while True:\n        pass", "x.star:2", "range(1000)"},
	{"class", "class Trend:\n    def decide(self): pass", "x.star:1", "no classes"},
	{"try", "def decide(view):\n    try:\n        pass\n    except: pass", "x.star:2", "no exceptions"},
	{"is None", "def decide(view):\n    if view.position is None:\n        pass", "x.star:2", "== None"},
	{"else if", "def decide(view):\n    if close > 1:\n        pass\n    else if close > 2:\n        pass", "x.star:4", "elif"},
	{"an annotation", "def decide(view: int):\n    pass", "x.star:1", "annotations"},
	{"**", "def decide(view):\n    x = 2 ** 3", "x.star:2", "math.pow"},
	{"a text returned", "def decide(view):\n    return \"long\"", "x.star:1", "hold(\"long\")"},
	{"state in decide", "def decide(view):\n    state[\"n\"] = 1", "x.star:2", "def candle(view)"},
	{"a list of the top", "all = []\ndef candle(view):\n    all.append(1)\ndef decide(view):\n    pass", "x.star:3", "in state"},
	{"a stop as a number", "def decide(view):\n    return plan(target = size(1), stop_loss = 0.02)", "x.star:2", "\"2%\""},
	{"nan", "def decide(view):\n    return hold(\"long\") if close != nan else None", "x.star:2", "known(x)"},
	{"datetime", "now = datetime()\ndef decide(view):\n    pass", "x.star:1", "no clock"},
}

// TestCommonMistakesHaveHints loads each from a file.
func TestCommonMistakesHaveHints(t *testing.T) {
	t.Parallel()
	options := configs.Options{Registry: strategy.NewRegistry(append(library.All(), script.Rules(), script.Files())...), Symbols: sim.DefaultSymbols(),
		Script: func(source *strategy.Source) (strategy.Definition, error) {
			s, err := script.Compile(source.File, source.Text, source.Libraries...)
			if err != nil {
				return strategy.Definition{}, err
			}
			return s.Definition(), nil
		}}
	for _, c := range mistaken {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			directory := t.TempDir()
			write := func(name, text string) {
				if err := os.WriteFile(filepath.Join(directory, name), []byte(text+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write("x.yaml", ruleHead+c.source)
			if strings.HasPrefix(c.at, "x.star") {
				write("x.yaml", scriptHead)
				write("x.star", c.source)
			}
			_, problems := configs.LoadStrategy(filepath.Join(directory, "x.yaml"), options)
			if problems.Errors() != 1 {
				t.Fatalf("want one error, have %d:\n%v", problems.Errors(), problems)
			}
			if text := problems.String(); !strings.Contains(text, c.at+": ") || !strings.Contains(text, c.hint) || !strings.Contains(text, "hint: ") {
				t.Errorf("want an error at %s with the hint %q, have\n%s", c.at, c.hint, text)
			}
		})
	}
}
