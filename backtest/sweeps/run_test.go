package sweeps_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	diff "github.com/google/go-cmp/cmp"

	"botd/backtest"
	"botd/backtest/inputs"
	"botd/backtest/search"
	"botd/backtest/sweeps"
	"botd/configs"
	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/tape"
	"botd/internal/failure"
	"botd/strategy"
	"botd/strategy/library"
)

const crossing = `name: cross
strategy: sma_cross
market: futures
symbol: BTC-USDT
interval: 1h
size: {equity: 100%}
params: {fast: 2, slow: 8, mode: long_short}
`

const firstMS = 1_704_067_200_000 // 2024-01-01

// prepared is a sweep over an average's crossings on 60 candles.
func prepared(t *testing.T, spec *sweeps.Spec) (*sweeps.Plan, *inputs.Trials) {
	t.Helper()
	split, err := sweeps.ParseSplit(spec.Split)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := sweeps.NewPlan(spec, split)
	if err != nil {
		t.Fatal(err)
	}
	symbol, _ := exchange.FindSymbol(sim.DefaultSymbols(), exchange.Futures, "BTC-USDT")
	directory := t.TempDir()
	file, data := filepath.Join(directory, "cross.yaml"), filepath.Join(directory, "BTCUSDT-1h.csv")
	candles := tape.Generate(3, symbol, exchange.Hour1, firstMS, 60)
	if err := errors.Join(os.WriteFile(file, []byte(crossing), 0o600), tape.WriteFile(data, candles, symbol, nil)); err != nil {
		t.Fatal(err)
	}
	files := inputs.Files{StrategyFiles: []string{file}, Data: []string{data},
		Options: func() configs.Options {
			return configs.Options{Registry: strategy.NewRegistry(library.All()...), Symbols: sim.DefaultSymbols()}
		},
		Load: func(path string, symbol *exchange.Symbol, interval exchange.Interval, _ bool) (*tape.Tape, error) {
			return tape.LoadCandles(path, symbol, interval, tape.Options{})
		}}
	trials, err := files.NewTrials(plan.Axes(), "program", split, plan.StopWhen())
	if err != nil {
		t.Fatal(err)
	}
	return plan, trials
}

// runner returns results of its function of; it fails after failAt trials, and calls before at each.
type runner struct {
	of     func(fast, slow int) backtest.Column
	failAt int
	before func(n int)
	ran    []string
}

var errFailed = errors.New("the machine went away")

func (r *runner) Run(_ context.Context, trials []backtest.Trial, ended func(*backtest.Trial) error) error {
	for i := range trials {
		if len(r.ran)+1 == r.failAt {
			return errFailed
		}
		t := &trials[i]
		fast, _ := strconv.Atoi(t.Params["fast"])
		slow, _ := strconv.Atoi(t.Params["slow"])
		seen := r.of(fast, slow)
		seen.ResultSHA256 = fmt.Sprintf("%d-%d", fast, slow)
		t.Seen = &seen
		trades := float64(seen.RoundTrips)
		t.Figures = map[string]*float64{"sharpe": seen.Sharpe, "max_drawdown_pct": &seen.MaxDrawdown, "trades": &trades}
		r.ran = append(r.ran, t.Params["fast"]+"/"+t.Params["slow"])
		if r.before != nil {
			r.before(len(r.ran))
		}
		if err := ended(t); err != nil {
			return err
		}
	}
	return nil
}

// steep returns a Sharpe ratio of fast minus a tenth of slow.
func steep(fast, slow int) backtest.Column {
	sharpe := float64(fast) - float64(slow)/10
	return backtest.Column{Sharpe: &sharpe, MaxDrawdown: float64(fast), RoundTrips: fast, FinalEquity: "1"}
}

func order(trials []backtest.Trial) string {
	var words []string
	for i := range trials {
		words = append(words, trials[i].Params["fast"]+"/"+trials[i].Params["slow"])
	}
	return strings.Join(words, " ")
}

// A sweep counts the choices that the strategy refuses, ranks the rest, and puts trials that violate a requirement
// last.
func TestSweepTriesAllowedChoices(t *testing.T) {
	t.Parallel()
	spec := &sweeps.Spec{Vary: []string{"fast=2,3,4,5", "slow=4,8"}, Where: "fast != 3", Require: "trades != 4", Search: sweeps.Grid, Sort: "sharpe"}
	plan, trials := prepared(t, spec)
	var progress []string
	run := &runner{of: steep}
	result, err := plan.Run(t.Context(), trials, run, nil, func(done, total int) { progress = append(progress, fmt.Sprint(done, "/", total)) })
	if err != nil {
		t.Fatal(err)
	}
	if have := order(result.Trials); have != "5/8 2/4 2/8 4/8" {
		t.Errorf("want the best first, and last the one of 4 trades; have %s", have)
	}
	if want := "2/6 3/6 4/6 5/6 6/6"; strings.Join(progress, " ") != want { // two are refused immediately
		t.Errorf("progress: want %s, have %v", want, progress)
	}
	if result.Schema != 1 || result.Refused != 2 || !strings.HasPrefix(result.Reason, "fast=4 slow=4: ") ||
		result.Short != 1 || result.Reused != 0 || result.Split != nil {
		t.Errorf("want 2 refused, the first of which is fast=4 slow=4, and 1 short of what is required; have %+v", result)
	}
	// The spread of 4.2, 3.2, 1.6 and 1.2 is 1.399, and the expected maximum of four normal numbers is 1.03 to 1.05.
	if result.Strategy != "cross" || result.Symbol != "BTC-USDT" || result.Interval != "1h" || result.Candles != 60 || len(result.DataSHA256) != 64 ||
		result.ExpectedMaxSharpe == nil || *result.ExpectedMaxSharpe < 1.43 || *result.ExpectedMaxSharpe > 1.48 {
		t.Errorf("have %+v, by luck %v", result, result.ExpectedMaxSharpe)
	}
	sorted := slices.Clone(result.Trials)
	slices.SortFunc(sorted, func(a, b backtest.Trial) int { return cmp.Compare(a.Job, b.Job) })
	text := ""
	for i := range sorted {
		text += sorted[i].Job + " " + sorted[i].Seen.ResultSHA256 + "\n"
	}
	if want := fmt.Sprintf("%x", sha256.Sum256([]byte(text))); result.SHA256 != want {
		t.Errorf("hash of the rows: want %s, have %s", want, result.SHA256)
	}
	spec.Trials = 2
	if result, err = plan.Run(t.Context(), trials, run, nil, nil); err != nil || order(result.Trials) != "2/4 2/8" {
		t.Errorf("two trials: have %+v, %v", result, err)
	}
}

func TestSweepWithoutChoicesIsAnError(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		want    string
		refused int
		spec    sweeps.Spec
	}{
		{"--where fast > 9 allows no choice", 0, sweeps.Spec{Vary: []string{"fast=2,3"}, Where: "fast > 9"}},
		{"every choice is refused; the first, fast=8:", 2, sweeps.Spec{Vary: []string{"fast=8,9"}}},
		{"more than 100000 combinations", 0, sweeps.Spec{Vary: []string{"fast=1..1000", "slow=1..1000"}}},
	} {
		want, spec := c.want, c.spec
		spec.Search, spec.Sort = sweeps.Grid, "sharpe"
		plan, trials := prepared(t, &spec)
		if result, err := plan.Run(t.Context(), trials, &runner{of: steep}, nil, nil); err == nil || result != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, have %v, %v", want, result, err)
		}
		all, refused, _, err := plan.Grid(trials)
		var coded *failure.Error
		if all != nil || !strings.Contains(fmt.Sprint(err), want) || !errors.As(err, &coded) || coded.Code != failure.Usage || refused != c.refused {
			t.Errorf("for a walk: want %q, have %v, %d refused, %v", want, all, refused, err)
		}
	}
}

// The grid contains the trials that the strategy accepts, and counts the others.
func TestTheGridOfAWalk(t *testing.T) {
	t.Parallel()
	plan, trials := prepared(t, &sweeps.Spec{Vary: []string{"fast=5,4,2", "slow=4"}, Search: sweeps.Grid, Sort: "sharpe"})
	all, refused, why, err := plan.Grid(trials)
	if err != nil || order(all) != "2/4" || refused != 2 || !strings.HasPrefix(why, "fast=5 slow=4: ") {
		t.Errorf("have %s, %d refused, %q, %v", order(all), refused, why, err)
	}
	low, high := 1.0, 2.0
	rows := []backtest.Trial{{Params: map[string]string{"fast": "1"}, Seen: &backtest.Column{Sharpe: &low}},
		{Params: map[string]string{"fast": "2"}, Seen: &backtest.Column{Sharpe: &high}}}
	if plan.Rank(rows); order(rows) != "2/ 1/" {
		t.Errorf("want the best first, have %s", order(rows))
	}
}

// A failure or a cancellation interrupted it. The final result is the same.
func TestSweepResumesAfterInterruption(t *testing.T) {
	t.Parallel()
	spec := &sweeps.Spec{Schema: 1, Name: "cut", Vary: []string{"fast=2..7", "slow=4,8"}, Search: sweeps.Grid, Sort: "sharpe"}
	plan, trials := prepared(t, spec)
	whole, err := plan.Run(t.Context(), trials, &runner{of: steep}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	directory := filepath.Join(t.TempDir(), "cut")
	log, err := sweeps.Create(directory, spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	run := &runner{of: steep, failAt: 4}
	if result, err := plan.Run(t.Context(), trials, run, log, nil); !errors.Is(err, errFailed) || result != nil {
		t.Fatalf("have %v, %v", result, err)
	}
	run.failAt, run.before = 0, func(n int) {
		if n == 5 {
			if running, err := sweeps.Cancel(directory); !running || err != nil {
				t.Error(running, err)
			}
		}
	}
	if result, err := plan.Run(t.Context(), trials, run, log, nil); !errors.Is(err, sweeps.ErrCanceled) || result != nil || len(run.ran) != 5 {
		t.Fatalf("canceled at the fifth trial: have %v, %v after %v", result, err, run.ran)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if log, err = sweeps.Open(directory); err != nil {
		t.Fatal(err)
	}
	result, err := plan.Run(t.Context(), trials, run, log, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if slices.Sort(run.ran); len(run.ran) != 8 || len(slices.Compact(run.ran)) != 8 { // 12 choices, of which 4 to 7 by 4 are refused
		t.Errorf("want each of 8 trials run once, have %v", run.ran)
	}
	if result.Reused != 5 || result.SHA256 != whole.SHA256 || order(result.Trials) != order(whole.Trials) {
		t.Errorf("want what an uncut sweep comes to, with 5 reused, have %+v beside %+v", result, whole)
	}
	if p, known := sweeps.ProgressOf(directory); !known || p != (sweeps.Progress{Done: 12, Total: 12}) {
		t.Errorf("progress: want 12 of 12, have %+v, %v", p, known)
	}
	_, rows, err := sweeps.Read(directory)
	if err != nil {
		t.Fatal(err)
	}
	if soFar, err := sweeps.SoFar(spec, rows); err != nil || order(soFar.Trials) != order(whole.Trials) || soFar.Candles != 60 {
		t.Errorf("what is shown of it: have %+v, %v", soFar, err)
	}
	if _, err := sweeps.SoFar(&sweeps.Spec{}, rows); err == nil {
		t.Error("a sweep of nothing: want an error")
	}
}

// A search also ends when the space is exhausted.
func TestSearchEndsWithEnoughTrials(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		search string
		vary   string
		trials int
		want   int
	}{
		{sweeps.Random, "slow=8..5000", 20, 20}, // a batch of 16 and one of 4
		{sweeps.Random, "slow=8..5000", 16, 16},
		{sweeps.Random, "slow=8..5000", 0, sweeps.DefaultTrials},
		{sweeps.Random, "slow=8..17", 0, 10},
		{sweeps.TPE, "slow=8..5000", 40, 40},
	} {
		plan, trials := prepared(t, &sweeps.Spec{Vary: []string{c.vary}, Trials: c.trials, Search: c.search, Seed: 7, Sort: "sharpe"})
		total := 0
		result, err := plan.Run(t.Context(), trials, &runner{of: steep}, nil, func(_, all int) { total = all })
		if err != nil || len(result.Trials) != c.want || total != cmp.Or(c.trials, sweeps.DefaultTrials) {
			t.Errorf("%+v: have %+v of %d, %v", c, result, total, err)
		}
	}
	plan, trials := prepared(t, &sweeps.Spec{Vary: []string{"fast=2,3"}, Where: "fast < 'x'", Search: sweeps.Random, Sort: "sharpe"})
	if _, err := plan.Run(t.Context(), trials, &runner{of: steep}, nil, nil); err == nil || !strings.Contains(err.Error(), `--where "fast < 'x'" with fast=`) {
		t.Errorf("a condition that cannot be evaluated: have %v", err)
	}
}

// A search also learns from refused trials.
func TestALearningSearchLearnsFromTheObjective(t *testing.T) {
	t.Parallel()
	spec := &sweeps.Spec{Vary: []string{"fast=2..60", "slow=30..90"}, Trials: 3 * search.Batch, Search: sweeps.TPE, Seed: 5, Sort: "-max_drawdown_pct"}
	plan, trials := prepared(t, spec)
	run := &runner{of: steep}
	result, err := plan.Run(t.Context(), trials, run, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	space := search.Space{Axes: plan.Axes()}
	var tried []search.Tried
	ran := map[string]bool{}
	for batch := range 3 {
		choices, err := space.TPE(5, batch, search.Batch, tried)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range choices {
			fast, _ := strconv.ParseFloat(c["fast"], 64)
			slow, _ := strconv.ParseFloat(c["slow"], 64)
			objective := -fast
			if fast >= slow { // refused
				objective = math.NaN()
			} else {
				ran[c["fast"]+"/"+c["slow"]] = true
			}
			tried = append(tried, search.Tried{Choice: c, Objective: objective})
		}
	}
	if len(ran) == len(tried) || result.Refused != len(tried)-len(ran) {
		t.Errorf("%d of %d choices are refused: have %d", len(tried)-len(ran), len(tried), result.Refused)
	}
	have := map[string]bool{}
	for _, name := range run.ran {
		have[name] = true
	}
	if d := diff.Diff(ran, have); d != "" {
		t.Error(d)
	}
}

// Stopped trials have the highest ratios here, over fewer days. They rank last, and only whole trials are judged.
func TestStoppedTrialsAreNotJudged(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ from, stopped, short, unranked int }{{from: 2, stopped: 4, unranked: 4}, {from: 4, stopped: 2, short: 1, unranked: 3}} {
		spec := &sweeps.Spec{Vary: []string{"fast=2,3,4,5", "slow=10"}, Require: "trades >= 3", Search: sweeps.Grid, Sort: "sharpe"}
		plan, trials := prepared(t, spec)
		result, err := plan.Run(t.Context(), trials, &runner{of: func(fast, slow int) backtest.Column {
			column := steep(fast, slow)
			if fast >= c.from {
				column.EndedBy = &backtest.EndedBy{Limit: backtest.Stopped, Text: "drawdown>0.3"}
			}
			return column
		}}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if result.Stopped != c.stopped || result.Short != c.short || result.Unranked != c.unranked || result.ExpectedMaxSharpe != nil ||
			result.Conclusion != result.Verdict() {
			t.Errorf("want %+v, and nothing by luck, have %+v", c, result)
		}
		if best := result.Best(); (best != nil) != (c.unranked < 4) || best != nil && best.Params["fast"] != "3" {
			t.Errorf("want the best of the ranked trials, have %+v", best)
		}
	}
}

// A walk trades no trial that missed the requirement or ended early, even if there is no other.
func TestNothingIsChosenFromUnrankedTrials(t *testing.T) {
	t.Parallel()
	stopped := &backtest.Column{Sharpe: new(float64), EndedBy: &backtest.EndedBy{Limit: backtest.Stopped}}
	trial := func(name string, trades float64, seen *backtest.Column) backtest.Trial {
		return backtest.Trial{Params: map[string]string{"name": name}, Seen: seen, Figures: map[string]*float64{"trades": &trades}}
	}
	plan, _ := prepared(t, &sweeps.Spec{Vary: []string{"fast=2,3", "slow=10"}, Require: "trades >= 3", Search: sweeps.Grid, Sort: "sharpe"})
	none := []backtest.Trial{trial("stopped", 9, stopped), trial("few", 2, &backtest.Column{Sharpe: new(float64)})}
	if chosen := plan.Choose(none); chosen != nil {
		t.Errorf("want nothing chosen, have %v", chosen.Params)
	}
	if chosen := plan.Choose(append(none, trial("whole", 3, &backtest.Column{Sharpe: new(float64)}))); chosen == nil || chosen.Params["name"] != "whole" {
		t.Errorf("want the only whole trial, have %+v", chosen)
	}
}

// The front has the trials that no other one beats. A trial that ties in one figure and loses in the other is not
// part of it, and neither is an unranked one.
func TestTheFront(t *testing.T) {
	t.Parallel()
	shown := map[int][2]float64{2: {3, 9}, 3: {2, 5}, 4: {2, 6}, 5: {1, 5}, 6: {9, 1}, 7: {2, 5}, 9: {8, 1}} // by fast: Sharpe ratio and drawdown
	spec := &sweeps.Spec{Vary: []string{"fast=2,3,4,5,6,7,8,9", "slow=10"}, Require: "trades >= 3", Pareto: []string{"sharpe", "-max_drawdown_pct"},
		Search: sweeps.Grid, Sort: "sharpe"}
	plan, trials := prepared(t, spec)
	result, err := plan.Run(t.Context(), trials, &runner{of: func(fast, _ int) backtest.Column {
		c := backtest.Column{MaxDrawdown: shown[fast][1], RoundTrips: 3}
		if fast != 8 { // 8 has no Sharpe ratio
			sharpe := shown[fast][0]
			c.Sharpe = &sharpe
		}
		switch fast {
		case 6:
			c.RoundTrips = 2
		case 9:
			c.EndedBy = &backtest.EndedBy{Limit: backtest.Stopped}
		case 2:
			c.EndedBy = &backtest.EndedBy{Limit: "max_drawdown"}
		}
		return c
	}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	have := map[string][]float64{}
	for _, one := range result.Pareto.Trials {
		have[one.Params["fast"]] = one.Values
	}
	if d := diff.Diff(map[string][]float64{"2": {3, -9}, "3": {2, -5}, "7": {2, -5}}, have); d != "" {
		t.Error(d)
	}
	if d := diff.Diff(spec.Pareto, result.Pareto.Objectives); d != "" || len(result.Pareto.Trials[0].Job) != 64 {
		t.Errorf("have %+v: %s", result.Pareto, d)
	}
	if have := order(result.Trials[:5]); have[:4] != "2/10" || have[len(have)-4:] != "5/10" {
		t.Errorf("want last what was ended early, falls short, or has no ratio; have %s", order(result.Trials))
	}
	spec.Pareto = nil
	plan, trials = prepared(t, spec)
	if result, err = plan.Run(t.Context(), trials, &runner{of: steep}, nil, nil); err != nil || result.Pareto != nil {
		t.Errorf("one objective has no front: have %+v, %v", result.Pareto, err)
	}
}

// The parts are 70 % of 60 candles, and the 18 after them, in this process.
func TestASplitSweepIsRunOnBothParts(t *testing.T) {
	t.Parallel()
	plan, trials := prepared(t, &sweeps.Spec{Vary: []string{"fast=2,3"}, Search: sweeps.Grid, Sort: "profit", Split: "70%"})
	result, err := plan.Run(t.Context(), trials, plan.Here(trials), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := time.UnixMilli(firstMS).Add(42 * time.Hour); result.Split == nil || !result.Split.Equal(want) || len(result.Trials) != 2 {
		t.Fatalf("want a split at %s, have %+v", want, result)
	}
	text := ""
	slices.SortFunc(result.Trials, func(a, b backtest.Trial) int { return cmp.Compare(a.Job, b.Job) })
	for i := range result.Trials {
		one := &result.Trials[i]
		if one.Seen == nil || one.Unseen == nil || one.Seen.ResultSHA256 == one.Unseen.ResultSHA256 {
			t.Fatalf("want a result of each part, have %+v", one)
		}
		text += one.Job + " " + one.Seen.ResultSHA256 + " " + one.Unseen.ResultSHA256 + "\n"
	}
	if want := fmt.Sprintf("%x", sha256.Sum256([]byte(text))); result.SHA256 != want {
		t.Errorf("hash of the rows: want %s, have %s", want, result.SHA256)
	}
	broken := errors.New("no room")
	if _, err := plan.Run(t.Context(), trials, failing{plan.Here(trials), broken}, nil, nil); !errors.Is(err, broken) {
		t.Errorf("want the error of what a trial's end led to, have %v", err)
	}
}

// failing is a runner in which the end of each trial fails.
type failing struct {
	sweeps.Runner
	err error
}

func (f failing) Run(ctx context.Context, trials []backtest.Trial, _ func(*backtest.Trial) error) error {
	return f.Runner.Run(ctx, trials, func(*backtest.Trial) error { return f.err })
}

func TestSplits(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]exchange.Rate{"": 0, "70%": exchange.RateOne / 10 * 7, "0.7": exchange.RateOne / 10 * 7, "0.1%": exchange.RateOne / 1000,
		"0.000001%": 1,
		"0%":        -1, "100%": -1, "1": -1, "-5%": -1, "half": -1, "%": -1} {
		have, err := sweeps.ParseSplit(text)
		if want < 0 {
			if err == nil || have != 0 || !strings.Contains(err.Error(), "--split "+text) {
				t.Errorf("%q: have %v, %v", text, have, err)
			}
		} else if err != nil || have != want {
			t.Errorf("%q: want %v, have %v, %v", text, want, have, err)
		}
	}
}
