package configs

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/shopspring/decimal"
	"gopkg.in/yaml.v3"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/strategy"
	"botd/strategy/library"
	"botd/strategy/overlay"
)

// Each key's kind, bounds, default, modes and example are in docs/configuration.md as they are read, and so is each parameter of the
// library.
func TestThePageOfKeysIsTrue(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	const parameters = "## Parameters of the strategies\n"
	page, rest, _ := strings.Cut(string(text), parameters)
	keys, made, _ := strings.Cut(string(Reference(strategy.NewRegistry(library.All()...))), parameters)
	want, have := strings.Split(page, "\n"), strings.Split(keys, "\n")
	for i := range max(len(want), len(have)) {
		if i >= len(want) || i >= len(have) || want[i] != have[i] {
			t.Fatalf("line %d: want %q, have %q", i+1, want[min(i, len(want)-1)], have[min(i, len(have)-1)])
		}
	}
	sections := strings.Split(made, "\n### ")
	if len(sections) != len(library.All())+1 {
		t.Errorf("want a section for each of %d strategies, have %d", len(library.All()), len(sections)-1)
	}
	for _, section := range sections {
		if !strings.Contains(rest, strings.TrimSpace(section)+"\n") {
			t.Errorf("the page lacks\n%s", section)
		}
	}
}

// A step is {at: distance, open or close: share}.
func TestAStepIsReadWholeOrRefusedWithItsReason(t *testing.T) {
	t.Parallel()
	const one = exchange.RateOne
	scaleIn := stepList{share: "open", atOnce: true, example: "[{open: 50%}, {at: -2%, open: 50%}]"}
	targets := stepList{share: "close", example: "[{at: 1R, close: 33%}]"}
	for _, c := range []struct {
		list  *stepList
		first bool
		text  string
		want  overlay.Step
		wrong string
	}{
		{&scaleIn, true, "{open: 50%}", overlay.Step{Share: one / 2}, ""}, {&scaleIn, true, "{open: 100%}", overlay.Step{Share: one}, ""},
		{&scaleIn, false, "{at: -2%, open: 0.5}", overlay.Step{Away: -one / 50, Share: one / 2}, ""},
		{&targets, true, "{at: 1.5R, close: 33%}", overlay.Step{R: one * 3 / 2, Share: one * 33 / 100}, ""},
		{&targets, false, "{close: 33%, at: 3%}", overlay.Step{Away: one * 3 / 100, Share: one * 33 / 100}, ""},
		{&scaleIn, true, "{at: 1%, open: 50%}", overlay.Step{}, ": the first part is entered at once, without at"},
		{&scaleIn, false, "{open: 50%}", overlay.Step{}, ": a step has no at, the distance from the entry"},
		{&targets, true, "{close: 50%}", overlay.Step{}, ": a step has no at, the distance from the entry"},
		{&targets, true, "{at: 2%}", overlay.Step{}, ": a step has no close"}, {&scaleIn, true, "{}", overlay.Step{}, ": a step has no open"},
		{&targets, true, "{at: 2%, open: 50%}", overlay.Step{}, `: "open" is neither at nor close`},
		{&targets, true, "{at: [2%], close: 50%}", overlay.Step{}, `: "at" is neither at nor close`},
		{&targets, true, "50%", overlay.Step{}, "a single value where {at: ..., close: ...} is expected"},
		{&targets, true, "{at: 2, close: 50%}", overlay.Step{}, ": at: \"2\" is not a distance"},
		{&targets, true, "{at: 2%, close: 0%}", overlay.Step{}, `: close "0%" is not a share above 0 and up to 100%`},
		{&targets, true, "{at: 2%, close: -1%}", overlay.Step{}, `: close "-1%" is not a share above 0 and up to 100%`},
		{&targets, true, "{at: 2%, close: 100.000001%}", overlay.Step{}, `: close "100.000001%" is not a share above 0 and up to 100%`},
		{&targets, true, "{at: 2%, close: x}", overlay.Step{}, `: close "x" is not a share above 0 and up to 100%`},
	} {
		var node yaml.Node
		if err := yaml.Unmarshal([]byte(c.text), &node); err != nil {
			t.Fatal(err)
		}
		step, problem, hint := c.list.parse(node.Content[0], c.first)
		switch {
		case c.wrong == "" && (problem != "" || step != c.want || hint != ""):
			t.Errorf("%s: want %+v, have %+v, %q, %q", c.text, c.want, step, problem, hint)
		case c.wrong != "" && (!strings.Contains(problem, c.wrong) || hint != "write "+c.list.example):
			t.Errorf("%s: want %q, have %q, %q", c.text, c.wrong, problem, hint)
		case c.wrong == "":
			written, err := yaml.Marshal(c.list.node(&step))
			if err == nil {
				err = yaml.Unmarshal(written, &node)
			}
			if err != nil {
				t.Fatal(err)
			}
			if back, problem, _ := c.list.parse(node.Content[0], c.first); problem != "" || back != step {
				t.Errorf("%s, written %s: have %+v, %s", c.text, written, back, problem)
			}
		}
	}
}

// A round takes three requests on futures and two on spot and one for each price, or one for all from four on, four times a minute. The rules
// are read once, the clock of futures by three requests, and a series of candles once per interval.
func TestRequestCosts(t *testing.T) {
	t.Parallel()
	strategies := func(market exchange.Market, interval exchange.Interval, symbols ...string) (all []StrategyConfig) {
		for _, symbol := range symbols {
			all = append(all, StrategyConfig{Market: market, Symbol: symbol, Interval: interval})
		}
		return all
	}
	futures, spot := exchange.Futures, exchange.Spot
	withOthers := strategies(futures, exchange.Minute1, "A")
	withOthers[0].others = []exchange.SymbolKey{{Market: futures, Name: "B"}, {Market: spot, Name: "A"}, {Market: futures, Name: "A"}}
	scheduled := append(strategies(futures, exchange.Minute1, "A", "B", "C"), strategies(futures, exchange.Minute5, "D")...)
	for i := range scheduled[:3] {
		scheduled[i].Schedule = Schedule{everyMS: 10_000}
	}
	for _, c := range []struct {
		name       string
		strategies []StrategyConfig
		budget     int
		want       string
	}{
		{"one", strategies(futures, exchange.Minute1, "A"), 0, "futures: 1 series of candles, about 21 requests a minute while nothing is in flight"},
		{"one on spot", strategies(spot, exchange.Minute1, "A"), 0, "spot: 1 series of candles, about 14 requests a minute while nothing is in flight"},
		{"hours: once in 60", strategies(futures, exchange.Hour1, "A", "B"), 0,
			"futures: 2 series of candles, about 24 requests a minute while nothing is in flight"},
		{"five minutes, three of them: 0.6 is 1", strategies(futures, exchange.Minute5, "A", "B", "C"), 0,
			"futures: 3 series of candles, about 29 requests a minute while nothing is in flight"},
		{"twice the same", append(strategies(futures, exchange.Minute1, "A"), strategies(futures, exchange.Minute1, "A")...), 0,
			"futures: 1 series of candles, about 21 requests a minute while nothing is in flight"},
		{"two intervals of one symbol", append(strategies(futures, exchange.Minute1, "A"), strategies(futures, exchange.Hour1, "A")...), 10,
			"futures: 2 series of candles, about 21 requests a minute while nothing is in flight; at 10 a second the last 1m candle arrives up to " +
				"100ms later than without a limit"},
		{"three whose schedules wait for no candle come last", scheduled, 1,
			"futures: 4 series of candles, about 23 requests a minute while nothing is in flight; at 1 a second the last 1m candle arrives up to " +
				"4s later than without a limit"},
		{"both markets, and symbols beside its own", withOthers, 0, "futures: 2 series of candles, about 22 requests a minute while nothing is in flight\n" +
			"spot: 1 series of candles, about 1 requests a minute while nothing is in flight"},
		{"four at one a second", strategies(futures, exchange.Minute1, "A", "B", "C", "D"), 1,
			"futures: 4 series of candles, about 24 requests a minute while nothing is in flight; at 1 a second the last 1m candle arrives up to " +
				"4s later than without a limit"},
	} {
		config := &Config{Mode: Live, Strategies: c.strategies, Exchange: ExchangeConfig{RequestsPerSecond: c.budget}}
		var lines []string
		for _, cost := range config.Requests() {
			lines = append(lines, cost.String())
		}
		if have := strings.Join(lines, "\n"); have != c.want {
			t.Errorf("%s: want\n%s\nhave\n%s", c.name, c.want, have)
		}
	}
	for delayMS, want := range map[int64]bool{0: false, 5_999: false, 6_000: false, 6_001: true} {
		if have := (&RequestCost{CandleDelayMS: delayMS, interval: exchange.Minute1}).Late(); have != want {
			t.Errorf("%d ms of a minute: want late %t, have %t", delayMS, want, have)
		}
	}
}

func TestAnAddressToListenAtIsAHostAndAPort(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"127.0.0.1:8420": "127.0.0.1", "127.0.0.1:0": "127.0.0.1", "127.0.0.1:65535": "127.0.0.1", "[::1]:1": "::1", ":8420": "", "localhost:1": "localhost",
		"127.0.0.1:65536": "not well", "127.0.0.1:-1": "not well", "127.0.0.1": "not well", "127.0.0.1:http": "not well", "": "not well", "::1:1": "not well",
	} {
		have, well := hostOf(address)
		if !well {
			have = "not well"
		}
		if have != want {
			t.Errorf("%q: want %q, have %q", address, want, have)
		}
	}
}

func TestLineThatIsNotUTF8IsReported(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"": 0, "a\nb\n": 0, "ü\n\u2028\ufffd": 0, "\xff": 1, "a\n\xff": 2, "a\n\n\nb\xc3": 4, "\x14\x14\xff": 1} {
		if have := invalidLine([]byte(text)); have != want {
			t.Errorf("%q: want line %d, have %d", text, want, have)
		}
	}
}

// The error names the nearest quantities. BTC-USDT has quantities of 0.001 and prices of 0.1.
func TestAQuantityFitsItsSymbol(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"quantityTick 0.001": "", "quantityTick 7": "", "priceTick 50000.1": "",
		"quantityTick 0.0015": "nearest: 0.001 or 0.002", "priceTick 50000.15": "nearest: 50000.1 or 50000.2",
		"quantityTick 0.0000000000000000001": " 0.0000000000000000001 has more than 18 decimal places or is too large",
	} {
		name, value, _ := strings.Cut(text, " ")
		r := &strategyReader{symbol: sim.DefaultSymbols()[0]}
		problem, hint := r.fits(value, decimal.RequireFromString(value), name)
		if have := problem + hint; !strings.Contains(have, want) || want == "" && have != "" || want != "" && problem == "" {
			t.Errorf("%s: want %q, have %q, %q", text, want, problem, hint)
		}
		if problem, _ := (&strategyReader{}).fits(value, decimal.RequireFromString(value), name); (problem != "") != strings.Contains(want, "decimal places") {
			t.Errorf("%s of a symbol that is not known: have %q", text, problem)
		}
	}
}

// The bounds are a tenth of a second and 366 days.
func TestASchedulesPeriodHasBounds(t *testing.T) {
	t.Parallel()
	for spec, want := range map[string]string{
		"@every 100ms": "@every 100ms", "@every 366d": "@every 366d", "@every   10s": "@every 10s", "": "@candle", "@candle": "@candle",
		"@every 99ms": "is shorter than 100ms", "@every 8784h1ms": "is longer than 366d", "@every": `write "@every 10s"`, "@every soon": `write "@every 10s"`,
		"@evry 10s": `did you mean "@every"?`, "@never ever so much": "is not known", "TZ=UTC * * * * *": "leave TZ=UTC out",
		"CRON_TZ=UTC 0 0 * * *":                 "names a time zone",
		strings.Repeat("1,", 128) + "1 * * * *": "schedule",
	} {
		schedule, hint, err := parseSchedule(spec, exchange.Minute1)
		have := schedule.spec
		if err != nil {
			have = err.Error() + " " + hint
		}
		if err == nil && have != want || !strings.Contains(have, want) {
			t.Errorf("%q: want %s, have %s", spec, want, have)
		}
	}
	for spec, want := range map[string]int64{"@every 10s": 10_000, "@candle": 60_000, "@hourly": 0, "*/5 * * * *": 0} {
		schedule, _, err := parseSchedule(spec, exchange.Minute1)
		if have := schedule.regularMS(); err != nil || have != want {
			t.Errorf("%s: want %d ms between two, have %d, %v", spec, want, have, err)
		}
	}
}

// One channel more than the maximum is refused.
func TestMaximumNumberOfChannels(t *testing.T) {
	t.Parallel()
	for more, want := range []string{"", fmt.Sprintf("%d channels exceed the maximum of %d", maxChannels+1, maxChannels)} {
		text := "mode: demo\nnotify:\n  channels:\n"
		for i := range maxChannels + more {
			text += fmt.Sprintf("    c%d: {url_file: /etc/botd/c%d}\n", i, i)
		}
		_, problems := Load(fstest.MapFS{"botd.yaml": {Data: []byte(text)}}, "", Options{})
		have := ""
		for _, p := range problems {
			if p.Severity == Error {
				have += p.What
			}
		}
		if have != want {
			t.Errorf("%d more: want %q, have %q", more, want, have)
		}
	}
}

// The cases are a size and distances with more digits than the symbol's scales.
func TestTooFineValuesAreNamedByLine(t *testing.T) {
	t.Parallel()
	symbol := sim.DefaultSymbols()[0]
	fine := decimal.RequireFromString("0.0000000000000000001")
	definition, known := strategy.NewRegistry(library.All()...).Find("sma_cross")
	if !known {
		t.Fatal("want sma_cross in the library")
	}
	for _, c := range []struct {
		config StrategyConfig
		want   string
	}{
		{StrategyConfig{}, `a.yaml:7: unknown strategy "first"`},
		{StrategyConfig{definition: &definition, Size: SizeConfig{Quantity: fine}}, "a.yaml:7: size.quantity 0.0000000000000000001: "},
		{StrategyConfig{definition: &definition, Protect: ProtectConfig{StopLoss: DistanceConfig{Price: fine}}},
			"a.yaml:7: protect.stop_loss 0.0000000000000000001: "},
		{StrategyConfig{definition: &definition, Protect: ProtectConfig{TakeProfit: DistanceConfig{Price: fine}}},
			"a.yaml:7: protect.take_profit 0.0000000000000000001: "},
		{StrategyConfig{definition: &definition, Params: strategy.Values{"no such": "1"}}, "a.yaml:7: build strategy first: "},
	} {
		c.config.File, c.config.Line, c.config.Kind, c.config.Market, c.config.Symbol, c.config.Interval = "a.yaml", 7, "first", symbol.Market,
			symbol.Name, exchange.Minute1
		built, err := c.config.Build(symbol)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || built != nil {
			t.Errorf("want %s, have %v, %v", c.want, built, err)
		}
	}
	config := StrategyConfig{Protect: ProtectConfig{StopLoss: DistanceConfig{Share: 5}, TakeProfit: DistanceConfig{Price: decimal.NewFromInt(7)}}}
	want := strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: 5}, TakeProfit: strategy.Distance{Price: symbol.PriceOf(exchange.AmountOf(7))}}
	if have, err := config.Protection(symbol); err != nil || have != want {
		t.Errorf("want %+v, have %+v, %v", want, have, err)
	}
	if have, err := (&StrategyConfig{}).Protection(symbol); err != nil || have != (strategy.Protection{}) {
		t.Errorf("want none, have %+v, %v", have, err)
	}
}
