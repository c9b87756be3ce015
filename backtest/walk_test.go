package backtest_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"botd/backtest"
	"botd/exchange"
	"botd/exchange/tape"
	"botd/strategy"
)

func TestWalkForwardTradesEarlierChoice(t *testing.T) {
	t.Parallel()
	whole := steps(symbol(t, exchange.Futures, "0.1", "0.001"), 2_003) // not divisible
	config := crossing(t, whole, exchange.RateOne, strategy.Protection{}, bothWays)
	quarter := crossing(t, whole, exchange.RateOne/4, strategy.Protection{}, bothWays)
	trials := []backtest.Trial{trialOf("whole", config), trialOf("quarter", quarter)}
	ways, reported, seen := 0, 0, 0
	best := func(all []backtest.Trial) *backtest.Trial { // the first, then the second, then the first
		ways++
		for i := range all {
			if t := &all[i]; t.Seen.ResultSHA256 != "" || t.Unseen != nil {
				seen++
			}
		}
		return &all[(ways-1)%2]
	}
	walked, err := backtest.Walk(t.Context(), config, trials, 3, 2, best, func(done, total int) { reported = max(reported, 100*total+done) })
	if err != nil || len(walked) != 3 || reported != 606 {
		t.Fatalf("want three windows, and six of six trials reported; have %d, %d, %v", len(walked), reported, err)
	}
	at := func(part int) int { return 2_003 * part / 5 }
	if seen > 0 {
		t.Errorf("%d candidates had more than the figures of what the choice depends on", seen)
	}
	run := func(i, from, to int) [2]string {
		one := []backtest.Config{config, quarter}[i%2]
		one.Legs[0].Tape = &tape.Tape{Symbol: whole.Symbol, Candles: whole.Candles.Slice(from, to)}
		result, err := backtest.Run(t.Context(), one)
		if err != nil {
			t.Fatal(err)
		}
		return [2]string{result.FinalEquity, result.ResultSHA256}
	}
	shown := func(c *backtest.Column) [2]string { return [2]string{c.FinalEquity, c.ResultSHA256} }
	for i, window := range walked {
		if want := []string{"whole", "quarter"}[i%2]; window.Params["way"] != want || window.Split.UnixMilli() != whole.Candles.OpenMS[at(i+2)] ||
			window.From.UnixMilli() != whole.Candles.OpenMS[at(i)] {
			t.Errorf("window %d: want %s from candle %d, cut at %d; have %v from %s, cut at %s", i, want, at(i), at(i+2), window.Params, window.From,
				window.Split)
		}
		if want := run(i, at(i), at(i+2)); shown(window.Seen) != want {
			t.Errorf("window %d: want %s of what it saw, have %s", i, want, shown(window.Seen))
		}
		if want := run(i, at(i+2), at(i+3)); shown(window.Unseen) != want {
			t.Errorf("window %d: want %s unseen, have %s", i, want, shown(window.Unseen))
		}
	}
	apart, hour := config, int64(whole.Candles.Interval)
	apart.Legs = slices.Clone(apart.Legs)
	apart.Legs[0].Tape = whole
	apart.PurgeMS, apart.EmbargoMS, ways = 7*hour, 3*hour, 0
	gaps, err := backtest.Walk(t.Context(), apart, trials, 3, 2, best, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, window := range gaps {
		if want := run(i, at(i), at(i+2)-7); shown(window.Seen) != want {
			t.Errorf("window %d: want seven candles purged of what it saw, %s, have %s", i, want, shown(window.Seen))
		}
		if want := run(i, at(i+2)+3, at(i+3)); shown(window.Unseen) != want {
			t.Errorf("window %d: want three candles embargoed, %s, have %s", i, want, shown(window.Unseen))
		}
	}
	if end := walked[2].To.UnixMilli(); end != whole.Candles.CloseMS(2_002) {
		t.Errorf("want the last window to the last candle's end, have %s", walked[2].To)
	}
	if _, err := backtest.Walk(t.Context(), config, trials, 1_000, 10, best, nil); err == nil {
		t.Error("parts of a candle: want it refused")
	}
}

func TestWindowsAreSummedOneAfterTheOther(t *testing.T) {
	t.Parallel()
	day := func(n int) time.Time { return time.UnixMilli(int64(n) * 86_400_000) }
	window := func(way string, seen, unseen float64) backtest.Window {
		return backtest.Window{
			From:   day(0),
			Split:  day(4),
			To:     day(5),
			Params: map[string]string{"way": way},
			Seen:   &backtest.Column{Profit: &seen},
			Unseen: &backtest.Column{Profit: &unseen},
		}
	}
	have := backtest.Sum([]backtest.Window{window("a", 20, 10), window("b", 30, -10), window("a", 30, 1)})
	// 1.1 x 0.9 x 1.01; 1 % in 3 days after 80 % in 12.
	if have.Profit == nil || math.Abs(*have.Profit+0.01) > 1e-9 || have.Profitable != 2 || have.Choices != 2 || have.Efficiency == nil ||
		math.Abs(*have.Efficiency-(1./3)/(80./12)) > 1e-9 {
		t.Errorf("have %+v", have)
	}
	if have := backtest.Sum([]backtest.Window{window("a", -1, 10)}); have.Efficiency != nil || *have.Profit < 9.99 {
		t.Errorf("chosen by a loss: want no efficiency, have %+v", have)
	}
}

// In a window without a choice nothing is traded: the profit of the other windows is the whole.
func TestAWindowWithoutAChoiceTradesNothing(t *testing.T) {
	t.Parallel()
	config := crossing(t, steps(symbol(t, exchange.Futures, "0.1", "0.001"), 2_000), exchange.RateOne, strategy.Protection{}, bothWays)
	asked := 0
	walked, err := backtest.Walk(t.Context(), config, []backtest.Trial{trialOf("whole", config)}, 3, 2, func(all []backtest.Trial) *backtest.Trial {
		if asked++; asked == 2 {
			return nil
		}
		return &all[0]
	}, nil)
	if err != nil || len(walked) != 3 {
		t.Fatalf("want three windows, have %+v (%v)", walked, err)
	}
	if none := walked[1]; none.Params != nil || none.Seen != nil || none.Unseen != nil || none.Split != walked[0].To {
		t.Errorf("want no parameters and no results between two times, have %+v", none)
	}
	have, want := backtest.Sum(walked), backtest.Sum([]backtest.Window{walked[0], walked[2]})
	if *have.Profit != *want.Profit || have.Profitable != want.Profitable || have.Choices != 1 {
		t.Errorf("want the two windows that were traded, %+v, have %+v", want, have)
	}
	if empty := backtest.Sum(walked[1:2]); *empty.Profit != 0 || empty.Choices+empty.Profitable != 0 || empty.Efficiency != nil {
		t.Errorf("want no profit of nothing, have %+v", empty)
	}
}
