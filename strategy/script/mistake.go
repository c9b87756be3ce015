package script

import (
	"errors"
	"regexp"
	"strings"

	"botd/strategy"
)

// mistake is a common mistake: how to recognize it, and the correct spelling.
type mistake struct {
	message *regexp.Regexp // pattern of the error; nil for any
	line    *regexp.Regexp // pattern of the surrounding text; nil for any
	instead string
}

// syntaxError matches the messages of Starlark's parser for unexpected words and signs.
var syntaxError = regexp.MustCompile(`^(got |unexpected input|conditional expression without else|.* does not associate with )`)

const noClasses = "there are no classes: def decide(view), and keep values from candle to candle in state: state[\"n\"] = state.get(\"n\", 0) + 1"

// mistakes are tried in this order; docs/strategies.md lists them.
var mistakes = []mistake{
	{syntaxError, regexp.MustCompile(`\b(AND|OR|NOT)\b`), "write and, or and not in lower case"},
	{syntaxError, regexp.MustCompile(`&&|\|\|`), "write and, or and not: close > open and volume > 10"},
	{syntaxError, regexp.MustCompile(`[^<>=]>.*[^&]&[^&]|<.*[^|]\|[^|]`), "write and, or and not: close > open and volume > 10"},
	{syntaxError, regexp.MustCompile(`!([^=]|$)`), "write not: not (rsi(close, 14) < 30)"},
	{
		syntaxError,
		regexp.MustCompile(`(?i)\bcross(es|ed|ing)?\s*(above|over|up)`),
		"write cross_above(a, b): a was at most b, and is above it on this candle",
	},
	{
		syntaxError,
		regexp.MustCompile(`(?i)\bcross(es|ed|ing)?\s*(below|under|down)`),
		"write cross_below(a, b): a was at least b, and is below it on this candle",
	},
	{syntaxError, regexp.MustCompile(`(?i)\bbetween\b`), "write two comparisons: rsi(close, 14) > 20 and rsi(close, 14) < 30"},
	{regexp.MustCompile(`^[<>=!]+ does not associate with`), nil, "write a chain of comparisons as two: 30 < x and x < 70"},
	{
		syntaxError,
		regexp.MustCompile(`^\s*global\b`),
		"keep values from candle to candle in state: state[\"n\"] = state.get(\"n\", 0) + 1, in candle(view)",
	},
	{syntaxError, regexp.MustCompile(`\b[fF]["']`), "there are no f-strings: write \"price %g\" % close, or \"price {}\".format(close + 0)"},
	{
		syntaxError,
		regexp.MustCompile(`^\s*(import|from)\b`),
		"a script has no modules: indicators and math are available without an import",
	},
	{syntaxError, regexp.MustCompile(`^\s*class\b`), "there are no classes: def decide(view) is enough; use dicts for structured values"},
	{
		syntaxError,
		regexp.MustCompile(`^\s*(try|except|raise|with)\b`),
		"there are no exceptions: check first, with if or known(...); an error stops the strategy",
	},
	{syntaxError, regexp.MustCompile(`^\s*(async|await|yield|lambda\s*:)`), "a decision cannot wait: write def decide(view):"},
	{regexp.MustCompile(`field or method`), regexp.MustCompile(`\bself\.`), noClasses},
	{regexp.MustCompile(`want (indent|outdent|unindent)|inconsistent indentation|unindent does not match`), nil,
		"indent by four spaces per level, without tabs"},
	{syntaxError, regexp.MustCompile(`\bis\s+(not\s+)?None\b`), "write x == None or x != None"},
	{syntaxError, regexp.MustCompile(`\belse\s+if\b`), "write elif"},
	{syntaxError, regexp.MustCompile(`^\s*def\b.*(->|\w\s*:\s*\w)`), "there are no type annotations: def decide(view):"},
	{syntaxError, regexp.MustCompile(`\*\*`), "write math.pow(x, 2), or x * x"},
	{syntaxError, regexp.MustCompile(`(\d%\s*($|[)\s]))`), "a percentage is a number here: open * 1.01 is one percent above"},
	{syntaxError, regexp.MustCompile(`^\s*if\b`), "a rule is only the condition, without if: close > open"},
	{regexp.MustCompile(`^conditional expression without else`), nil, "a conditional expression needs both values: hold(\"long\") if close > open else None"},
	{syntaxError, regexp.MustCompile(`[^<>=!]=[^=]`), "equality is written ==; floats are seldom equal, so compare with < and >"},
	{regexp.MustCompile(`series [<>]=? series not implemented`), nil,
		"for the last candles write highest(high, 20) or lowest(low, 20) at the top; max(a, b) takes two values"},
	{regexp.MustCompile(`builtin_function_or_method`), nil, "define an indicator at the top, with parentheses: a = atr(14); then a is its value"},
	{regexp.MustCompile(`^hour is a function|^minute is a function|^weekday is a function`), nil, "at the top: h = hour(); in decide: h == 14"},
	{regexp.MustCompile(`unknown binary op: .*\bcandles\b`), nil, "candles have several series: close / btc.close"},
	{regexp.MustCompile(`^hold: unexpected keyword argument`), nil,
		"hold(side, reason = text) takes no other arguments: use plan(target = size(0.5), stop_loss = \"2%\")"},
	{regexp.MustCompile(`^plan: target is .* not a (string|float|int)`), nil,
		"the configured size on a side is size(1), size(-1) or size(0); hold(\"long\") is short for it"},
	{regexp.MustCompile(`: 0 is not a price of`), regexp.MustCompile(`entry_price`),
		"entry_price is 0 without a position: write a distance from the entry, stop_loss = \"2%\""},
	{regexp.MustCompile(`while loops`), nil, "write for i in range(1000):, which ends, as every decision must"},
	{regexp.MustCompile(`referenced before assignment`), nil,
		"a function cannot change a name of the top of the file: keep it in state, which candle(view) writes: state[\"n\"] = state.get(\"n\", 0) + 1"},
	{
		regexp.MustCompile(`frozen`),
		nil,
		"values defined at the top of the file never change: keep lists and numbers in state, which candle(view) writes",
	},
	{regexp.MustCompile(`^state stores numbers, .* not a list`), nil,
		"past values are in the series: close[1], sma(close, 20); to store several values use a tuple: state[\"c\"] = state.get(\"c\", ()) + (close[0],)"},
	{regexp.MustCompile(`state can be written only in candle`), nil, "write def candle(view): state[...] = ...; decide reads it"},
	{regexp.MustCompile(`defines an indicator, which must see every candle`), nil,
		"at the top: average = ema(close, 20); in decide: close > average"},
	{regexp.MustCompile(`\[-\d+\]: a series has values`), nil, "close[1] is the close of the previous candle, close[2] that of the one before it"},
	{
		regexp.MustCompile(`has no parameter "(length|len|window|timeperiod|n)"`),
		nil,
		"write it second, or as period: rsi(close, 14), rsi(close, period = 14)",
	},
	{
		regexp.MustCompile(`has no parameter "(timeframe|tf|interval|resolution)"`),
		nil,
		"write ema(candles(\"4h\").close, 20): a longer interval is a separate source",
	},
	{
		regexp.MustCompile(`timeframe is a number|interval is a number`),
		nil,
		"write ema(candles(\"4h\").close, 20): a longer interval is a separate source",
	},
	{regexp.MustCompile(`^plan: (stop_loss|take_profit): 0?\.\d+ is not a price`), nil,
		"a distance is a string with a percent sign, stop_loss = \"2%\"; a number is a price"},
	{
		regexp.MustCompile(`^decide returned (string|bool|int|float)`),
		nil,
		"return hold(\"long\"), hold(\"short\"), hold(\"flat\"), or None to leave it as it is",
	},
	{
		regexp.MustCompile(`cannot be built from candles of`),
		nil,
		"decide on the shorter interval (interval: in the YAML) and build the longer one from it",
	},
}

// otherwise maps names from other languages and bots to their equivalents here.
var otherwise = map[string]string{
	"crossover": "write cross_above(a, b)", "crossunder": "write cross_below(a, b)", "crossed_above": "write cross_above(a, b)",
	"crossed_below": "write cross_below(a, b)", "cross": "write cross_above(a, b) or cross_below(a, b)",
	"ta":       "indicators have no prefix: rsi(close, 14); botd indicator lists them",
	"talib":    "indicators have no prefix: rsi(close, 14); botd indicator lists them",
	"strategy": "decide(view) returns hold(\"long\"), hold(\"flat\") or plan(...)", "buy": "return hold(\"long\"), or in rules entry_long",
	"sell": "return hold(\"flat\") or hold(\"short\"), or in rules exit_long", "long": "return hold(\"long\")", "short": "return hold(\"short\")",
	"price": "the candle's close is close; the last trade price is view.last", "last": "the last trade price is view.last, the candle's close is close",
	"true":  "write True",
	"false": "write False",
	"null":  "write None",
	"nil":   "write None",
	"na":    "write known(x), which is False while x has no value",
	"nan":   "write known(x), which is False while x has no value", "nz": "write x if known(x) else 0",
	"barssince": "write since(condition)", "valuewhen": "write value_when(condition, series)",
	"datetime": "there is no clock: use hour(), weekday() and session(...), which are series of the candle's time, or view.now_ms",
	"time":     "there is no clock: use hour(), weekday() and session(...), which are series of the candle's time, or view.now_ms",
	"random":   "there is no randomness: the same candles give the same decisions", "np": "there are no modules: use sum, max, min, abs, log and math",
	"pd":        "there are no data frames: a series has a value for every candle, close[1] is the one before",
	"self":      noClasses,
	"stop_loss": "set it in plan(stop_loss = \"2%\"), or under protect: in the YAML", "take_profit": "set it in plan(take_profit = \"4%\"), or under " +
		"protect: in the YAML",
	"stdev":          "write stddev(close, 20)",
	"rma":            "write wilder(close, 14)",
	"smma":           "write wilder(close, 14)",
	"bb":             "write bollinger(close, 20).upper",
	"bbands":         "write bollinger(close, 20).upper",
	"position":       "write view.position",
	"equity_percent": "write equity(\"50%\")",
	"input":          "write param(\"fast\", 12)",
}

// otherMembers maps member names that view and other values do not have to their equivalents.
var otherMembers = map[string]string{
	"price":  "the last trade price is view.last, the candle's close is close",
	"close":  "the candle's close is close, without view; a position is closed by hold(\"flat\")",
	"open":   "the candle's open is open",
	"high":   "the candle's high is high, without view",
	"low":    "the candle's low is low, without view",
	"volume": "the candle's volume is volume, without view",
	"size":   "view.position is a number: above 0 long, below 0 short", "qty": "view.position is a number: above 0 long, below 0 short",
	"quantity": "view.position is a number: above 0 long, below 0 short", "time": "write view.now_ms, or hour() at the top of the file",
	"now": "write view.now_ms, or hour() at the top of the file", "balance": "write view.equity", "cash": "write view.equity",
	"avg_price": "write view.entry_price", "position_size": "write view.position", "candle": "the candle is open, high, low, close, volume",
	"type":       "an event has a kind: filled, stopped, took_profit, refused, canceled, latched or released",
	"direction":  "an uptrend is close > supertrend(10, 3)",
	"buy":        "return hold(\"long\")",
	"sell":       "return hold(\"flat\"), or hold(\"short\") on futures",
	"closes":     "the closes are the series close: close now, close[1] the candle before",
	"opens":      "the opens are the series open: open now, open[1] the candle before",
	"highs":      "the highs are the series high: high now, high[1] the candle before",
	"lows":       "the lows are the series low: low now, low[1] the candle before",
	"volumes":    "the volumes are the series volume: volume now, volume[1] the candle before",
	"candles":    "the candle is open, high, low, close, volume; close[1] is the one before",
	"iloc":       "close[1] is the candle before",
	"shift":      "close[1] is the candle before",
	"rolling":    "write sma(close, 20), highest(close, 20), stddev(close, 20)",
	"mean":       "write sma(close, 20)",
	"pop":        "write state[\"name\"] = None",
	"crossover":  "write cross_above(a, b)",
	"crossunder": "write cross_below(a, b)",
	"rsi":        "indicators have no prefix: rsi(close, 14)",
	"ema":        "indicators have no prefix: ema(close, 20)",
	"sma":        "indicators have no prefix: sma(close, 20)",
}

// advised adds the correct spelling to an error that is a common mistake in one of the files.
func advised(err error, texts map[string]string) error {
	var at *strategy.SourceError
	if !errors.As(err, &at) || at.Hint != "" {
		return err
	}
	if hint := advice(at, texts[at.File]); hint != "" {
		at.Hint = hint
	}
	return err
}

// noMember matches the error of a value without a member of that name.
var noMember = regexp.MustCompile(`has no \.(\w+) field or method`)

func advice(at *strategy.SourceError, source string) string {
	if hint := otherwise[at.Unknown]; hint != "" && !at.Member {
		return hint
	}
	member := at.Unknown
	if found := noMember.FindStringSubmatch(at.Err.Error()); found != nil {
		member = found[1]
	} else if !at.Member {
		member = ""
	}
	if hint := otherMembers[member]; hint != "" {
		return hint
	}
	var line string
	if lines := strings.Split(source, "\n"); at.Line > 0 && at.Line <= len(lines) {
		line = lines[at.Line-1]
	}
	for _, m := range mistakes {
		if (m.message == nil || m.message.MatchString(at.Err.Error())) && (m.line == nil || m.line.MatchString(line)) {
			return m.instead
		}
	}
	return ""
}
