package backtest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	goruntime "runtime"
	"slices"
	"testing"

	"botd/backtest"
	"botd/exchange"
	"botd/exchange/tape"
	"botd/strategy"
)

// trialOf returns a trial of a configuration.
func trialOf(name string, config backtest.Config) backtest.Trial {
	return backtest.Trial{Params: map[string]string{"way": name}, Leg: config.Legs[0]}
}

func TestTrialEqualsSingleRun(t *testing.T) {
	t.Parallel()
	recorded := steps(symbol(t, exchange.Futures, "0.1", "0.001"), 2_000)
	one := crossing(t, recorded, exchange.RateOne, strategy.Protection{}, bothWays)
	other := crossing(t, recorded, exchange.RateOne/4, strategy.Protection{}, bothWays)
	trials := []backtest.Trial{trialOf("whole", one), trialOf("quarter", other)}
	reported := 0
	if _, err := backtest.Sweep(t.Context(), one, trials, 0, func(done int, t *backtest.Trial) error {
		if reported = max(reported, done); t.Figures["trades"] == nil {
			return errors.New("a trial without figures")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for i, config := range []backtest.Config{one, other} {
		want, err := backtest.Run(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		if have := trials[i].Seen; have.FinalEquity != want.FinalEquity || have.Fills != want.Fills || trials[i].Unseen != nil {
			t.Errorf("trial %d: want %s after %d fills, have %s after %d, unseen %v", i, want.FinalEquity, want.Fills, have.FinalEquity, have.Fills,
				trials[i].Unseen)
		}
	}
	if trials[0].Seen.FinalEquity == trials[1].Seen.FinalEquity || reported != 2 {
		t.Errorf("want two different trials, reported; have %s twice, %d reported", trials[0].Seen.FinalEquity, reported)
	}
}

// failsLater is a strategy that fails at a candle.
type failsLater struct {
	strategy.Strategy
	left int
}

func (f *failsLater) Candle(view *strategy.View) {
	if f.left--; f.left == 0 {
		panic("a mistake")
	}
	f.Strategy.Candle(view)
}

// TestTrialsRunTogetherAreThoseRunAlone runs more trials than there are cores, so that each core runs several
// together, over several blocks of candles. One of them leaves the direct machine on the way, and starts
// over. In another sweep the engine runs a trial, so all trials run alone.
func TestTrialsRunTogetherAreThoseRunAlone(t *testing.T) {
	t.Parallel()
	recorded := steps(symbol(t, exchange.Futures, "0.1", "0.001"), 10_000)
	common := speedConfig(t, recorded, "10", "50")
	var trials []backtest.Trial
	for fast := range 3*goruntime.GOMAXPROCS(0) + 2 {
		one := speedConfig(t, recorded, fmt.Sprint(fast+2), "50")
		setting := strategy.Setting{Market: exchange.Futures, Symbol: recorded.Symbol, Interval: exchange.Minute1, Size: one.Legs[0].Strategy.Size}
		one.Legs[0].Make = func(*tape.Tape) (strategy.Strategy, error) {
			return build(t, "sma_cross", setting, strategy.Values{"fast": fmt.Sprint(fast + 2), "slow": "50"}), nil
		}
		trials = append(trials, trialOf(fmt.Sprint(fast), one))
	}
	made := trials[1].Leg.Make
	trials[1].Leg.Make = func(over *tape.Tape) (strategy.Strategy, error) {
		one, err := made(over)
		return &failsLater{Strategy: one, left: 6_000}, err
	}
	engine := speedConfig(t, recorded, "5", "50")
	engine.Legs[0].Strategy.Limits.MaxOpenOrders = 5
	for _, c := range []struct {
		trials []backtest.Trial
		split  exchange.Rate
		rest   bool
	}{{trials, 0, false}, {trials, 7 * exchange.RateOne / 10, true}, {append(slices.Clone(trials[:6]), trialOf("engine", engine)), 0, false}} {
		alone := slices.Clone(c.trials)
		common.Rest = c.rest
		splitMS, err := backtest.Sweep(t.Context(), common, c.trials, c.split, nil)
		if err != nil {
			t.Fatal(err)
		}
		common.Rest = false
		for i := range alone {
			if err := alone[i].Run(t.Context(), &common, splitMS); err != nil {
				t.Fatal(err)
			}
			want, _ := json.Marshal(&alone[i])
			if have, _ := json.Marshal(&c.trials[i]); string(have) != string(want) {
				t.Errorf("trial %d, alone\n%s\ntogether\n%s", i, want, have)
			}
		}
	}
}

// The trial has other candles and other costs than the sweep.
func TestATrialMayHaveItsOwnMarket(t *testing.T) {
	t.Parallel()
	rules := symbol(t, exchange.Futures, "0.1", "0.001")
	common := crossing(t, steps(rules, 2_000), exchange.RateOne, strategy.Protection{}, bothWays)
	own := crossing(t, steps(rules, 1_000), exchange.RateOne, strategy.Protection{}, bothWays)
	own.Costs.Slippage = exchange.RateOne / 100
	trial := trialOf("own", own)
	trial.Config = &own
	trials := []backtest.Trial{trialOf("common", common), trial}
	if _, err := backtest.Sweep(t.Context(), common, trials, 0, nil); err != nil {
		t.Fatal(err)
	}
	want, err := backtest.Run(t.Context(), own)
	if err != nil {
		t.Fatal(err)
	}
	if have := trials[1].Seen.FinalEquity; have != want.FinalEquity || have == trials[0].Seen.FinalEquity {
		t.Errorf("want %s, have %s beside %s", want.FinalEquity, have, trials[0].Seen.FinalEquity)
	}
	if _, err := backtest.Walk(t.Context(), common, trials, 2, 1, func(all []backtest.Trial) *backtest.Trial { return &all[0] }, nil); err == nil {
		t.Error("a walk over trials with other candles is no error")
	}
}

// The test fails the storage as a full disk does.
func TestStorageErrorEndsSweep(t *testing.T) {
	t.Parallel()
	config := crossing(t, steps(symbol(t, exchange.Futures, "0.1", "0.001"), 500), exchange.RateOne, strategy.Protection{}, bothWays)
	full := errors.New("no space")
	trials := []backtest.Trial{trialOf("one", config), trialOf("two", config), trialOf("three", config)}
	if _, err := backtest.Sweep(t.Context(), config, trials, 0, func(int, *backtest.Trial) error { return full }); !errors.Is(err, full) {
		t.Errorf("want %v, have %v", full, err)
	}
}

func TestUnseenCandlesDoNotAffectChoice(t *testing.T) {
	t.Parallel()
	rules := symbol(t, exchange.Futures, "0.1", "0.001")
	whole := steps(rules, 2_000)
	config := crossing(t, whole, exchange.RateOne, strategy.Protection{}, bothWays)
	trials := []backtest.Trial{trialOf("whole", config)}
	splitMS, err := backtest.Sweep(t.Context(), config, trials, 7*exchange.RateOne/10, nil)
	if err != nil || splitMS != whole.Candles.OpenMS[1_400] {
		t.Fatalf("want the split at %d, have %d, %v", whole.Candles.OpenMS[1_400], splitMS, err)
	}
	for i, part := range [][2]int{{0, 1_400}, {1_400, 2_000}} {
		config.Legs[0].Tape = &tape.Tape{Symbol: whole.Symbol, Candles: whole.Candles.Slice(part[0], part[1])}
		want, err := backtest.Run(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		if have := []*backtest.Column{trials[0].Seen, trials[0].Unseen}[i]; have.FinalEquity != want.FinalEquity {
			t.Errorf("part %d: want %s, have %s", i, want.FinalEquity, have.FinalEquity)
		}
	}
	if _, err := backtest.Sweep(t.Context(), config, trials, 1, nil); err == nil {
		t.Error("a split that leaves nothing on one side: want it refused")
	}
}

func TestManyTrialsWithoutSkillHaveALuckyBest(t *testing.T) {
	t.Parallel()
	of := func(sharpes ...float64) (trials []backtest.Trial) {
		for i := range sharpes {
			trials = append(trials, backtest.Trial{Seen: &backtest.Column{Sharpe: &sharpes[i]}})
		}
		return trials
	}
	if _, known := backtest.LuckySharpe(of(1)); known {
		t.Error("one trial: want nothing known")
	}
	idle := append(of(1, -1), make([]backtest.Trial, 98)...)                            // tried, and without a ratio
	if lucky, _ := backtest.LuckySharpe(idle); math.Abs(lucky-math.Sqrt2*2.53) > 0.01 { // the formula's maximum of a hundred is 2.53
		t.Errorf("a hundred tries, two ratios: want %g, have %g", math.Sqrt2*2.53, lucky)
	}
	early := of(3, 2, -1)
	early[1].Seen.EndedBy = &backtest.EndedBy{Limit: backtest.Stopped}
	if _, known := backtest.LuckySharpe(early); known {
		t.Error("one of three was stopped early, so that its ratio covers other days: want nothing known")
	}
	early[1].Seen.EndedBy.Limit = "max_drawdown" // the account's own limit is part of the result
	if _, known := backtest.LuckySharpe(early); !known {
		t.Error("a limit of the account ended a trial: want the luckiest known")
	}
	if lucky, known := backtest.LuckySharpe(of(1, 1, 1)); !known || lucky != 0 {
		t.Errorf("no spread: want 0, have %g", lucky)
	}
	// With ten values of standard deviation 1, the expected maximum of ten normal numbers is 1.54; the
	// formula is an approximation of it.
	spread := math.Sqrt(0.9)
	if lucky, _ := backtest.LuckySharpe(of(spread, -spread, spread, -spread, spread, -spread, spread, -spread, spread,
		-spread)); math.Abs(lucky-1.57) > 0.01 {
		t.Errorf("ten: want 1.57, have %g", lucky)
	}
}
