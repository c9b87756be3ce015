package script

import (
	"errors"
	"strings"
	"testing"

	"botd/exchange"
	"botd/strategy"
)

// The mistakes are those of docs/strategies.md, and of people who come from Pine, from Python, or from another bot.
func TestACommonMistakeHasAHint(t *testing.T) {
	t.Parallel()
	const decide = "def decide(view):\n    "
	for source, want := range map[string]string{
		decide + "return hold(\"long\") if close > 1 AND close > 2 else None":        "in lower case",
		decide + "x = close > 1 && close > 2":                                        "write and, or and not",
		decide + "x = close > 1 & close > 2":                                         "write and, or and not",
		decide + "x = !(close > 1)":                                                  "write not:",
		decide + "x = 30 < close < 70":                                               "write a chain of comparisons as two",
		decide + "x = close between 30 and 70":                                       "write two comparisons",
		decide + "x = close crosses above open":                                      "write cross_above(a, b)",
		decide + "x = close crosses below open":                                      "write cross_below(a, b)",
		decide + "x = crossover(close, open)":                                        "write cross_above(a, b)",
		decide + "x = crossunder(close, open)":                                       "write cross_below(a, b)",
		decide + "x = ta.rsi(close, 14)":                                             "indicators have no prefix",
		"x = rsi(close, length = 14)\n" + decide + "pass":                            "rsi(close, period = 14)",
		"x = ema(close, 20, timeframe = \"4h\")\n" + decide + "pass":                 "ema(candles(\"4h\").close, 20)",
		decide + "x = close[-1]":                                                     "close[1] is the close of the previous candle",
		decide + "x = open * 1%":                                                     "a percentage is a number here",
		decide + "x = price > 3":                                                     "the last trade price is view.last",
		decide + "x = view.price":                                                    "the last trade price is view.last",
		decide + "x = view.close":                                                    "without view",
		decide + "x = view.position.size":                                            "view.position is a number",
		decide + "x = ema(close, 20)":                                                "at the top: average = ema(close, 20)",
		"n = 0\n" + decide + "global n":                                              "keep values from candle to candle in state",
		"n = 0\ndef candle(view):\n    n += 1\n" + decide + "pass":                   "keep it in state",
		"all = []\ndef candle(view):\n    all.append(1)\n" + decide + "pass":         "keep lists and numbers in state",
		"def candle(view):\n    state[\"a\"] = [1]\n" + decide + "pass":              "use a tuple",
		decide + "state[\"a\"] = 1":                                                  "write def candle(view)",
		decide + "return hold(\"long\") if hour == 14 else None":                     "at the top: h = hour()",
		decide + "x = close / atr":                                                   "define an indicator at the top, with parentheses",
		"btc = candles(\"4h\")\n" + decide + "x = close / btc":                       "candles have several series",
		decide + "return hold(\"long\", stop_loss = \"2%\")":                         "in plan(stop_loss = \"2%\")",
		decide + "return hold(\"long\", size = 2)":                                   "use plan(target = size(0.5)",
		decide + "return hold(\"long\") if close > open":                             "needs both values",
		decide + "return plan(target = \"long\")":                                    "the configured size on a side is size(1)",
		decide + "x = f\"{close}\"":                                                  "there are no f-strings",
		decide + "x = 2 ** 3":                                                        "write math.pow(x, 2)",
		decide + "x = 1 if close is None else 2":                                     "write x == None",
		decide + "if close > 1:\n        pass\n    else if close > 2:\n        pass": "write elif",
		"import math\n" + decide + "pass":                                            "a script has no modules",
		"class Trend:\n    pass\n" + decide + "pass":                                 "there are no classes",
		decide + "try:\n        pass":                                                "there are no exceptions",
		decide + "while True:\n        pass":                                         "for i in range(1000)",
		"def decide(view: int):\n    pass":                                           "there are no type annotations",
		"async def decide(view):\n    pass":                                          "a decision cannot wait",
		decide + "self.x = 1":                                                        "there are no classes",
		decide + "return \"long\"":                                                   "return hold(\"long\")",
		decide + "return 7":                                                          "return hold(\"long\")",
		decide + "buy(1)":                                                            "return hold(\"long\")",
		decide + "return plan(target = size(1), stop_loss = 0.02)":                   "stop_loss = \"2%\"; a number is a price",
		decide + "return plan(stop_loss = view.entry_price)":                         "entry_price is 0 without a position",
		"x = candles(\"30m\").close\n" + decide + "pass":                             "decide on the shorter interval",
		"x = max(close)\n" + decide + "pass":                                         "",
		decide + "if close = 3:\n        pass":                                       "a rule is only the condition",
		decide + "x = [a for a in [1] if a = 3]":                                     "equality is written ==",
		"def decide(view):\n\tif True:\n        pass":                                "indent by four spaces",
		decide + "x = view.volume":                                                   "without view",
		decide + "[1].pop(\"a\").crossover":                                          "write cross_above(a, b)",
		decide + "x = nothing_known":                                                 "",
	} {
		var at *strategy.SourceError
		compiled, err := Compile("my.star", []byte(source+"\n"))
		if err == nil {
			_, err = compiled.Definition().New(setting(t, exchange.Futures), nil)
		}
		if !errors.As(err, &at) || (at.Hint == "") != (want == "") || !strings.Contains(at.Hint, want) {
			t.Errorf("%s\nwant the hint %q, have %+v", source, want, err)
		}
	}
}

// The hint follows the line of the error, not another one, and a hint that an error has is kept.
func TestAHintIsOfItsLine(t *testing.T) {
	t.Parallel()
	texts := map[string]string{"a.star": "x = 1 && 2\ny = 3\nglobal n"}
	wrong := errors.New("got this")
	for _, c := range []struct {
		err  strategy.SourceError
		want string
	}{
		{strategy.SourceError{File: "a.star", Line: 1, Err: wrong}, "write and, or and not: close > open and volume > 10"},
		{strategy.SourceError{File: "a.star", Line: 2, Err: wrong},
			"equality is written ==; floats are seldom equal, so compare with < and >"},
		{strategy.SourceError{File: "a.star", Line: 3, Err: wrong},
			"keep values from candle to candle in state: state[\"n\"] = state.get(\"n\", 0) + 1, in candle(view)"},
		{strategy.SourceError{File: "a.star", Line: 0, Err: wrong}, ""},
		{strategy.SourceError{File: "a.star", Line: 4, Err: wrong}, ""},
		{strategy.SourceError{File: "b.star", Line: 1, Err: wrong}, ""},
		{strategy.SourceError{File: "a.star", Line: 1, Err: errors.New("this")}, ""},
		{strategy.SourceError{File: "a.star", Line: 1, Err: wrong, Hint: "its own"}, "its own"},
		{strategy.SourceError{Err: errors.New("x is not defined"), Unknown: "nz"}, "write x if known(x) else 0"},
		{strategy.SourceError{Err: errors.New("x has no .nz"), Unknown: "nz", Member: true}, ""},
		{strategy.SourceError{Err: errors.New("x has no .cash"), Unknown: "cash", Member: true}, "write view.equity"},
		{strategy.SourceError{Err: errors.New("cash is not defined"), Unknown: "cash"}, ""},
		{strategy.SourceError{Err: errors.New("string has no .pop field or method")}, "write state[\"name\"] = None"},
	} {
		_ = advised(&c.err, texts)
		if c.err.Hint != c.want {
			t.Errorf("line %d, %v: want %q, have %q", c.err.Line, c.err.Err, c.want, c.err.Hint)
		}
	}
	if err := errors.New("got this"); advised(err, texts) != err || advised(nil, texts) != nil {
		t.Error("another error is changed")
	}
}
