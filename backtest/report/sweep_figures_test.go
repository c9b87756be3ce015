package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"botd/backtest"
	"botd/backtest/resultstore"
)

// trialOf returns a trial with a Sharpe ratio; NaN for none.
func trialOf(sharpe float64, params ...string) backtest.Trial {
	t := backtest.Trial{Params: map[string]string{}, Seen: &backtest.Column{}}
	if !math.IsNaN(sharpe) {
		t.Seen.Sharpe = &sharpe
	}
	for i := 0; i < len(params); i += 2 {
		t.Params[params[i]] = params[i+1]
	}
	return t
}

// Numbers, also with a unit, come before words.
func TestValuesAreInOrder(t *testing.T) {
	t.Parallel()
	have := []string{"long", "10%", "-1", "both", "2%", "1.5h", "2"}
	slices.SortFunc(have, inOrder)
	if want := []string{"-1", "1.5h", "2", "2%", "10%", "both", "long"}; !slices.Equal(have, want) {
		t.Errorf("want %v, have %v", want, have)
	}
}

// Neighboring values share a step; an axis with one value is not shown.
func TestAxesHaveAtMostTwelveSteps(t *testing.T) {
	t.Parallel()
	var trials []backtest.Trial
	for i := range 25 {
		trials = append(trials, trialOf(1, "a", strconv.Itoa(24-i), "b", strconv.Itoa(i%12), "c", "1"))
	}
	axes := axesOf(trials, []string{"a", "b", "c"})
	if len(axes) != 2 || axes[0].name != "a" || axes[1].name != "b" {
		t.Fatalf("want the axes a and b, have %+v", axes)
	}
	// 25 values in 12 steps: the step of the i-th value is i × 12 / 25.
	want := []string{"0 to 2", "3 to 4", "5 to 6", "7 to 8", "9 to 10", "11 to 12", "13 to 14", "15 to 16", "17 to 18", "19 to 20", "21 to 22", "23 to 24"}
	if diff := cmp.Diff(want, axes[0].steps); diff != "" {
		t.Error(diff)
	}
	if axes[0].step["2"] != 0 || axes[0].step["3"] != 1 || axes[0].step["24"] != 11 {
		t.Errorf("have %v", axes[0].step)
	}
	if have := strings.Join(axes[1].steps, " "); have != "0 1 2 3 4 5 6 7 8 9 10 11" {
		t.Errorf("have %s", have)
	}
	if a := &axes[0]; a.at("0") != 0 || a.at("6") != 0.25 || a.at("24") != 1 {
		t.Errorf("have %v, %v, %v", a.at("0"), a.at("6"), a.at("24"))
	}
}

// The color scale ends at the largest ratio of all.
func TestTheHeatMapHasTheMeanOfEachCell(t *testing.T) {
	t.Parallel()
	trials := []backtest.Trial{trialOf(-2, "a", "1", "b", "x"), trialOf(-1, "a", "1", "b", "x"), trialOf(0.5, "a", "2", "b", "x"),
		trialOf(math.NaN(), "a", "2", "b", "y")}
	axes := axesOf(trials, []string{"a", "b"})
	want := heatMap{Across: "a", Down: "b", Columns: []string{"1", "2"}, Rows: []heatRow{
		{"x", []heatCell{{"−1.50", "d3", "a 1, b x: mean Sharpe -1.50 of 2, the best -1.00"},
			{"0.50", "u1", "a 2, b x: mean Sharpe 0.50 of 1, the best 0.50"}}},
		{"y", []heatCell{{"", "h0", ""}, {"", "h0", ""}}}}}
	if diff := cmp.Diff(want, heatOf(trials, &axes[0], &axes[1])); diff != "" {
		t.Error(diff)
	}
}

// The ways lead from axis to axis at 6 and 50 % to the Sharpe ratio at 94 %; the best tenth is drawn last.
func TestTheWaysOfTrials(t *testing.T) {
	t.Parallel()
	trials := []backtest.Trial{trialOf(2, "a", "3", "b", "x"), trialOf(1, "a", "2", "b", "y"), trialOf(math.NaN(), "a", "2", "b", "x"),
		trialOf(-2, "a", "1", "b", "x")}
	axes := axesOf(trials, []string{"a", "b"})
	wantShapes(t, "three with a ratio", waysOf(trials, axes),
		"line way 6 292 50 292", "line way 50 292 94 292",
		"line way 6 167 50 42", "line way 50 42 94 104.5",
		"line way best 6 42 50 292", "line way best 50 292 94 42",
		"line axis 6 42 6 292", "text value middle 6 14 a", "text name middle 6 310 1", "text name middle 6 34 3",
		"line axis 50 42 50 292", "text value middle 50 14 b", "text name middle 50 310 x", "text name middle 50 34 y",
		"line axis 94 42 94 292", "text value middle 94 14 Sharpe", "text name middle 94 310 −2.00", "text name middle 94 34 2.00",
		"label 4 trials by their settings and the Sharpe ratio they showed, from -2.00 to 2.00")
	wantShapes(t, "one trial", waysOf(trials[:1], axes))
	wantShapes(t, "nothing varied", waysOf(trials, nil))
	wantShapes(t, "all the same", waysOf([]backtest.Trial{trials[0], trials[0]}, axes))
	for count, best := range map[int]int{10: 1, 11: 2, 20: 2, 301: 31} {
		many := slices.Repeat(trials[:1], count)
		many[count-1] = trials[1]
		drawn := string(waysOf(many, axes[:1]))
		if all := strings.Count(drawn, `class="way`); strings.Count(drawn, "way best") != best || all != min(count, maxTrialWays) {
			t.Errorf("%d trials: want %d among the best, have %d of %d", count, best, strings.Count(drawn, "way best"), all)
		}
	}
}

// splitTrial is a trial with a ratio before and after the split.
func splitTrial(seen, unseen float64) backtest.Trial {
	t := trialOf(seen)
	t.Unseen = &backtest.Column{Sharpe: &unseen}
	return t
}

// The scatter is square: from -1 to 3, 22.5 % and 62.5 pixels a unit.
func TestTheScatterOfASplit(t *testing.T) {
	t.Parallel()
	trials := []backtest.Trial{splitTrial(3, -1), splitTrial(2, 1), splitTrial(1, 1), trialOf(7)}
	drawn, text := unseenOf(trials)
	wantShapes(t, "three trials with both", drawn,
		"line axis 30.500 12 30.500 262", "line axis 8 199.5 98 199.5", "line link 8 262 98 12",
		"circle down 98 262 Sharpe 3.00 before the split, -1.00 after it", "circle up 75.500 137 Sharpe 2.00 before the split, 1.00 after it",
		"circle up 53 137 Sharpe 1.00 before the split, 1.00 after it",
		"text name start 8 282 −1.00", "text name middle 53 282 Sharpe ratio before the split", "text name end 98 282 3.00", "text name start 0 18 after it",
		"label 3 trials: the Sharpe ratio before the split and after it, rank correlation -0.87")
	const want = "Rank correlation -0.87 over 3 trials: the ranking did not persist: " +
		"trials that were good before the split were no better than the others after it."
	if text != want {
		t.Errorf("want %s\nhave %s", want, text)
	}
	if drawn, _ := unseenOf([]backtest.Trial{splitTrial(3, 0), splitTrial(2, 1), splitTrial(1, 1)}); !slices.Contains(shapes(drawn),
		"circle up 98 262 Sharpe 3.00 before the split, 0.00 after it") {
		t.Errorf("a trial that made nothing afterwards is none that lost: have %q", shapes(drawn))
	}
	if drawn, text := unseenOf(trials[:2]); drawn != "" || text != "" {
		t.Errorf("two trials: have %s", text)
	}
	for want, order := range map[string][]float64{"the ranking persisted: ": {1, 2, 4, 3, 5, 6}, "the ranking persisted in part": {6, 2, 3, 4, 5, 8},
		"did not persist": {5, 1, 2, 3, 4}} {
		var all []backtest.Trial
		for i, unseen := range order {
			all = append(all, splitTrial(float64(i+1), unseen))
		}
		if _, text := unseenOf(all); !strings.Contains(text, want) {
			t.Errorf("%v: want %q, have %s", order, want, text)
		}
	}
	for count, dots := range map[int]int{500: 500, 501: 251} {
		drawn, _ := unseenOf(slices.Repeat(trials[:1], count))
		if have := strings.Count(string(drawn), "<circle"); have != dots {
			t.Errorf("%d trials: want %d dots, have %d", count, dots, have)
		}
	}
}

// The correlation is Spearman's: 1 - 6 × 2 / (4 × 15) if two neighbors of four changed places; ties share a
// rank.
func TestTheRankCorrelation(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b []float64
		want float64
	}{
		{[]float64{1, 2, 3, 4}, []float64{10, 20, 30, 40}, 1},
		{[]float64{1, 2, 3, 4}, []float64{10, 30, 20, 40}, 0.8},
		{[]float64{1, 2, 3, 4}, []float64{4, 3, 2, 1}, -1},
		{[]float64{1, 2, 2, 3}, []float64{1, 2, 3, 4}, 0.948683}, // ranks 1, 2.5, 2.5, 4: 4.5 / √(4.5 × 5)
		{[]float64{1, 1, 1}, []float64{1, 2, 3}, 0},
		{[]float64{1, 2, 3}, []float64{1, 1, 1}, 0},
	} {
		if have := correlation(places(c.a), places(c.b)); math.Abs(have-c.want) > 1e-6 {
			t.Errorf("%v and %v: want %v, have %v", c.a, c.b, c.want, have)
		}
	}
	if have := places([]float64{5, 7, 5, 9}); !slices.Equal(have, []float64{0.5, 2, 0.5, 3}) {
		t.Errorf("have %v", have)
	}
}

// These trials are the eight nearest by the steps of their axes.
func TestTheTrialsAroundTheBest(t *testing.T) {
	t.Parallel()
	trials := []backtest.Trial{trialOf(3, "a", "5", "b", "5")}
	for a := range 11 {
		for b := range 11 {
			if a != 5 || b != 5 {
				one := trialOf(1, "a", strconv.Itoa(a), "b", strconv.Itoa(b))
				profit := float64(a - 5)
				one.Seen.Profit = &profit
				trials = append(trials, one)
			}
		}
	}
	nan := trialOf(math.NaN(), "a", "5", "b", "6") // it replaces the one above the best
	at := slices.IndexFunc(trials, func(t backtest.Trial) bool { return t.Params["a"] == "5" && t.Params["b"] == "6" })
	trials[at] = nan
	rows, note := around(trials, axesOf(trials, []string{"a", "b"}), func(place int, _ *backtest.Trial) string { return fmt.Sprint("at ", place) })
	var changed []string
	for _, row := range rows {
		changed = append(changed, row.Changed)
		if want := slices.IndexFunc(trials, func(t backtest.Trial) bool { return row.Job == t.Job }); want < 0 || row.Link != fmt.Sprint("at ", row.Place) {
			t.Errorf("have %+v", row)
		}
	}
	want := []string{"a 4", "b 4", "b 6", "a 6", "a 4, b 4", "a 4, b 6", "a 6, b 4", "a 6, b 6"}
	if diff := cmp.Diff(want, changed); diff != "" {
		t.Error(diff)
	}
	if want := "Of the 8 nearest settings 3 earn; their mean Sharpe ratio is 1.00 compared with 3.00 of the best."; note != want {
		t.Errorf("want %s\nhave %s", want, note)
	}
	if rows[0].Place != slices.IndexFunc(trials, func(t backtest.Trial) bool { return t.Params["a"] == "4" && t.Params["b"] == "5" })+1 {
		t.Errorf("want the place in the list, have %d", rows[0].Place)
	}
	none := []backtest.Trial{trialOf(math.NaN(), "a", "1"), trialOf(1, "a", "2")}
	if rows, note := around(none, axesOf(none, []string{"a"}), nil); rows != nil || note != "" {
		t.Errorf("around a trial without a ratio: have %v, %s", rows, note)
	}
	link := func(int, *backtest.Trial) string { return "" }
	two := []backtest.Trial{trialOf(1, "a", "1"), trialOf(math.NaN(), "a", "2")}
	if rows, note := around(two, axesOf(two, []string{"a"}), link); len(rows) != 1 || note != "" {
		t.Errorf("no neighbor has a ratio: have %v, %s", rows, note)
	}
}

// A distance of 24 values on an axis of 48 is 6 steps of 12.
func TestALongAxisCountsForAsMuchAsAnother(t *testing.T) {
	t.Parallel()
	trials := []backtest.Trial{trialOf(3, "a", "0", "b", "0")}
	for a := range 48 {
		trials = append(trials, trialOf(1, "a", strconv.Itoa(a), "b", "9"))
	}
	for b := range 10 {
		trials = append(trials, trialOf(1, "a", "0", "b", strconv.Itoa(b)))
	}
	trials = append(trials, trialOf(1, "a", "24", "b", "0"))
	rows, _ := around(trials, axesOf(trials, []string{"a", "b"}), func(int, *backtest.Trial) string { return "" })
	var changed []string
	for _, row := range rows {
		changed = append(changed, row.Changed)
	}
	// Next to b 9 at the same a, it is as far as 9 steps. The best itself occurs twice.
	if want := []string{"", "b 1", "b 2", "b 3", "b 4", "b 5", "b 6", "a 24"}; !slices.Equal(changed, want) {
		t.Errorf("want %v, have %v", want, changed)
	}
}

func TestTrialRowNamesItsLimits(t *testing.T) {
	t.Parallel()
	one := splitTrial(1.5, -0.5)
	one.Job, one.Params = "job", map[string]string{"a": "1", "b": "x"}
	one.Seen.Profit, one.Seen.MaxDrawdown, one.Unseen.MaxDrawdown = ptr(12.0), 5, 7
	link := func(place int, t *backtest.Trial) string { return fmt.Sprint(t.Job, place) }
	row := rowOfTrial(&one, []string{"b", "a"}, 2, link)
	want := trialRow{Place: 3, Link: "job3", Job: "job", Settings: []string{"x", "1"}, Seen: one.Seen, Unseen: one.Unseen, Profit: "+12.00 %", Sharpe: "1.50",
		Drawdown: "5.00 %", UnseenProfit: "–", UnseenSharpe: "−0.50", UnseenDrawdown: "7.00 %"}
	if diff := cmp.Diff(want, row); diff != "" {
		t.Error(diff)
	}
	at := time.Date(2024, 5, 6, 0, 0, 0, 0, time.UTC)
	one.Seen.EndedBy, one.Unseen.EndedBy = &backtest.EndedBy{Limit: "max_drawdown", Time: at}, &backtest.EndedBy{Limit: "max_daily_loss", Time: at}
	one.Unseen.NotTraded = []backtest.NotTraded{{Count: 3, Reason: "rounded to nothing"}}
	if have, want := rowOfTrial(&one, nil, 0, link).Bound, "ended by "+one.Seen.EndedBy.Short()+"; unseen ended by "+one.Unseen.EndedBy.Short()+
		"; unseen not traded: 3 rounded to nothing"; have != want || !strings.Contains(have, "max_drawdown 2024-05-06") {
		t.Errorf("want %s, have %s", want, have)
	}
	one.Unseen = nil
	row = rowOfTrial(&one, nil, 0, link)
	if row.UnseenProfit != "–" || row.UnseenSharpe != "–" || row.UnseenDrawdown != "–" || row.Bound[:9] != "ended by " {
		t.Errorf("without a split: have %+v", row)
	}
}

// The page has rows, maps of each pair of axes, and the omissions.
func TestASweepsPageIsOfItsTrials(t *testing.T) {
	t.Parallel()
	r := &resultstore.Sweep{Sort: "sharpe"}
	if p := newSweepPage(r, nil); p.Headline != "No trial has a Sharpe ratio: there is nothing to judge." || p.Rows != nil || p.Left != 0 {
		t.Errorf("without a trial: have %+v", p)
	}
	for i := range MaxTrialRows + 1 {
		one := trialOf(float64(-i))
		for _, name := range strings.Split("abcdef", "") {
			one.Params[name] = strconv.Itoa(i % 3)
		}
		r.Trials = append(r.Trials, one)
	}
	r.Trials[0].Seen.EndedBy = &backtest.EndedBy{}
	split := time.Date(2024, 5, 6, 7, 8, 0, 0, time.UTC)
	r.Split = &split
	p := newSweepPage(r, func(place int, _ *backtest.Trial) string { return map[int]string{1: "first"}[place] })
	if len(p.Rows) != MaxTrialRows || p.Left != 1 || len(p.Maps) != maxMaps || !p.Clicks || !p.Bounded || p.WhenSplit != "2024-05-06 07:08" ||
		strings.Join(p.Names, "") != "abcdef" || p.Rows[0].Link != "first" || p.Rows[1].Link != "" || p.Rows[99].Place != 100 {
		t.Errorf("have %+v", p)
	}
	var pairs []string
	for _, m := range p.Maps {
		pairs = append(pairs, m.Across+m.Down)
	}
	if have := strings.Join(pairs, " "); have != "ab ac ad ae af bc bd be bf cd" {
		t.Errorf("have %s", have)
	}
	r.Trials, r.Split = r.Trials[1:2], nil
	if p := newSweepPage(r, nil); p.Clicks || p.Bounded || p.WhenSplit != "" || p.Left != 0 || len(p.Rows) != 1 {
		t.Errorf("one trial: have %+v", p)
	}
	if have := asked(1, &backtest.Trial{Job: "abc"}); have != "#abc" {
		t.Errorf("have %s", have)
	}
}
