package backtest

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"botd/exchange"
	"botd/exchange/tape"
	"botd/strategy"
)

// The part has the candles that open from a time on and have closed by another one, and the data known about them.
func TestPartOfCandles(t *testing.T) {
	t.Parallel()
	config := sound()
	leg := &config.Legs[0]
	leg.Tape.SHA256, leg.Tape.Repaired = "sha", []string{"a row"}
	leg.Tape.Candles = barsAt(exchange.Minute5, 10, 11, 12, 14) // the last opens at 70 and closes at 75
	leg.Tape.Holes = []tape.Hole{{AfterMS: 62 * minute, BeforeMS: 70 * minute, Missing: 1}}
	leg.Strategy.Others = []strategy.Other{{Candles: barsAt(exchange.Minute5, 9, 11, 12)}}
	for _, c := range []struct {
		from, to int64 // minutes
		want     []int64
		others   []int64
		holes    int
	}{
		{0, 0, []int64{50, 55, 60, 70}, []int64{45, 55, 60}, 1},
		{50, 0, []int64{50, 55, 60, 70}, []int64{55, 60}, 1},
		{51, 0, []int64{55, 60, 70}, []int64{55, 60}, 1},
		{0, 75, []int64{50, 55, 60, 70}, []int64{45, 55, 60}, 1},
		{0, 74, []int64{50, 55, 60}, []int64{45, 55, 60}, 1},
		{55, 70, []int64{55, 60}, []int64{55, 60}, 0},
		{63, 0, []int64{70}, nil, 0},
		{0, 55, []int64{50}, []int64{45}, 0},
	} {
		part, err := config.Within(c.from*minute, c.to*minute)
		if err != nil {
			t.Fatal(err)
		}
		opens := func(candles *exchange.Candles) (all []int64) {
			for _, openMS := range candles.OpenMS {
				all = append(all, openMS/minute)
			}
			return all
		}
		cut := &part.Legs[0]
		if diff := cmp.Diff([][]int64{c.want, c.others}, [][]int64{opens(cut.Tape.Candles), opens(cut.Strategy.Others[0].Candles)}); diff != "" {
			t.Errorf("from %d to %d: %s", c.from, c.to, diff)
		}
		if len(cut.Tape.Holes) != c.holes || cut.Tape.SHA256 != "sha" || len(cut.Tape.Repaired) != 1 {
			t.Errorf("from %d to %d: have %+v", c.from, c.to, cut.Tape)
		}
	}
	if n := leg.Strategy.Others[0].Candles.Len(); n != 3 {
		t.Errorf("the whole has %d other candles now", n)
	}
	two := *config
	other := *leg.Tape.Symbol
	two.Legs = append(slices.Clone(config.Legs), Leg{Tape: &tape.Tape{Symbol: &other, Candles: barsAt(exchange.Minute5, 20, 21)}})
	if part, err := two.Within(55*minute, 105*minute); err != nil || len(part.Legs) != 2 || part.Legs[1].Tape.Candles.Len() != 1 {
		t.Errorf("two series: have %+v, %v", part.Legs, err)
	}
	const span = "they are from 1970-01-01T01:40:00Z to 1970-01-01T01:50:00Z"
	if _, err := two.Within(55*minute, 104*minute); err == nil || !strings.Contains(err.Error(), span) {
		t.Errorf("nothing of the second: have %v", err)
	}
	if _, err := two.Within(80*minute, 0); err == nil || !strings.Contains(err.Error(), "they are from 1970-01-01T00:50:00Z to 1970-01-01T01:15:00Z") {
		t.Errorf("nothing of the first: have %v", err)
	}
	if part := two.between(80*minute, math.MaxInt64); len(part.Legs) != 1 || part.Legs[0].Tape.Symbol != &other {
		t.Errorf("a leg without candles is left out: have %+v", part.Legs)
	}
	empty := *sound()
	empty.Legs[0].Tape.Candles = &exchange.Candles{Interval: exchange.Minute5}
	if part, err := empty.Within(1, 0); err != nil || len(part.Legs) != 1 {
		t.Errorf("no candles at all: have %+v, %v", part, err)
	}
	if has := config.hasVolume(); has {
		t.Error("no candle has a volume")
	}
	if leg.Tape.Candles.Volume[3] = 1; !config.hasVolume() || two.hasVolume() {
		t.Error("one has, and the second series has none")
	}
}

// Signals and trades outside the candles' time cause warnings.
func TestSignalsAndTradesOfAnotherTime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what   string
		kind   string
		signal Signal
		want   string
	}{
		{"no signal", "signal", Signal{Strategy: "other", TimeMS: 55 * minute}, "no_signals"},
		{"at the first open", "signal", Signal{Strategy: "trend", TimeMS: 50 * minute}, ""},
		{"before", "signal", Signal{Strategy: "trend", TimeMS: 50*minute - 1}, "no_signals"},
		{"in the last candle", "signal", Signal{Strategy: "trend", TimeMS: 60*minute - 1}, ""},
		{"at the end", "signal", Signal{Strategy: "trend", TimeMS: 60 * minute}, "no_signals"},
		{"a strategy that takes none", "trend", Signal{}, ""},
	} {
		config := sound()
		config.Legs[0].Kind, config.Signals = c.kind, []Signal{c.signal}
		have := outside(config, barsAt(exchange.Minute5, 10, 11))
		if have != c.want {
			t.Errorf("%s: want %q, have %q", c.what, c.want, have)
		}
	}
	for want, timesMS := range map[string][]int64{"": {50 * minute, 60*minute - 1}, "trades_incomplete 1 2": {55*minute - 1, 60 * minute},
		"trades_incomplete 2 2": {49 * minute}} {
		config, candles := sound(), barsAt(exchange.Minute5, 10, 11)
		config.Legs[0].Trades, candles.Volume = &exchange.Trades{TimeMS: timesMS}, []float64{1, 1}
		if have := outside(config, candles); have != want {
			t.Errorf("trades at %v: want %q, have %q", timesMS, want, have)
		}
		if candles.Volume = []float64{0, 0}; outside(config, candles) != "" {
			t.Errorf("trades at %v of candles without a volume: want no warning", timesMS)
		}
	}
}

// outside returns the warnings of a configuration's only leg, with their numbers.
func outside(config *Config, candles *exchange.Candles) string {
	var all []string
	l := &leg{candles: candles, config: &config.Legs[0]}
	(&run{config: config}).outsideWarnings(l, func(code, _ string, arguments ...any) {
		for _, n := range arguments {
			if n, is := n.(int); is {
				code += " " + string(rune('0'+n))
			}
		}
		all = append(all, code)
	})
	return strings.Join(all, " ")
}

func TestFiguresOfEmptyRun(t *testing.T) {
	t.Parallel()
	if quantile(nil, 0.5) != 0 || spreadOf(nil) != nil || (&measurement{}).meanEquity() != 0 || bandOf(nil) != nil {
		t.Error("want none")
	}
	down, up := (&Trip{}).excursions(sound().Legs[0].Tape.Symbol)
	if down != 0 || up != 0 {
		t.Errorf("without an entry price: have %v, %v", down, up)
	}
	if have := quantile([]float64{1, 2, 4}, 0.75); have != 3 {
		t.Errorf("half way from 2 to 4: have %v", have)
	}
	if have := quantile([]float64{1, 2, 4}, 1); have != 4 {
		t.Errorf("the last: have %v", have)
	}
}
