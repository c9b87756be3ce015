package search_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"botd/backtest/search"
)

func TestAxes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"fast=5,10,5":                "5 10",
		"fast=5..20..5":              "5 10 15 20",
		"fast=5..7":                  "5 6 7",
		"fast=1,5..7,10..20..5":      "1 5 6 7 10 15 20",
		"size=10%..30%..10%":         "10% 20% 30%",
		"size=0.1..0.3..0.1":         "0.1 0.2 0.3",
		"span=1..64..x4":             "1 4 16 64",
		"span=1.5..4..x1.5":          "1.5 2.25 3.375",
		"interval=1h,4h":             "1h 4h",
		" fast =7..7":                "7",
		"fast=-2..1":                 "-2 -1 0 1",
		"fast=1e-20..1e-20..1":       "0.00000000000000000001",
		"span=1..1.3..x1.1111111111": "1 1.1111111111 1.234567901209", // twelve places
		"fast=1e20":                  "1e20",
		"fast=1e20..1e20..1":         "100000000000000000000",
		"protect.stop_loss=2%":       "2%",

		`entry_long="rsi(close, 7) < 30", "rsi(close, 7) < 40"`: "rsi(close, 7) < 30 rsi(close, 7) < 40",
	} {
		axis, err := search.ParseAxis(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		space := search.Space{Axes: []search.Axis{axis}}
		choices, err := space.Grid()
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		var have []string
		for _, choice := range choices {
			have = append(have, choice[axis.Name])
		}
		if strings.Join(have, " ") != want {
			t.Errorf("%s: want %s, have %s", text, want, have)
		}
	}
}

func TestInvalidAxesAreRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"fast":                               "want NAME=5,10",
		"=5":                                 "want NAME=5,10",
		"fast=":                              "want NAME=5,10",
		"fast=5,":                            "a value is missing",
		`rule="a, b`:                         "a quote is not closed",
		"fast=9..1":                          "an end that is not below the beginning",
		"fast=1..9..0":                       "a step above zero",
		"fast=1..9..x1":                      "a step above zero",
		"fast=0..9..x2":                      "a step above zero",
		"fast=a..9":                          `"a" is not a number`,
		"fast=1..5%":                         "of different units",
		"fast=log:0..9":                      "begins above zero",
		"fast=log:1..9..2":                   "want log:FROM..TO",
		"fast=1..100001..1":                  "more than 100000 values",
		"fast=1..50000..1,100001..150001..1": "more than 100000 values",
		"fast=1,9..5":                        "an end that is not below the beginning",
		"fast=1" + strings.Repeat("0", 40) + "..9":  "is not a number",
		"fast=1" + strings.Repeat("0", 39) + "..9":  "an end that is not below the beginning",
		"fast=1..9..2..3":                           "is not a number",
		"fast=1..9..xa":                             "is not a number",
		"fast=9..a":                                 `"a" is not a number`,
		"fast=1e21..2e21":                           "is not a number",
		"fast=1e-21..2":                             "is not a number",
		"fast=0." + strings.Repeat("0", 40) + "..1": "is not a number",
		"fast=1e999999..2":                          "is not a number",
	} {
		if _, err := search.ParseAxis(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: want %q, have %v", text, want, err)
		}
	}
}

func space(t *testing.T, where string, texts ...string) search.Space {
	t.Helper()
	var s search.Space
	var names []string
	for _, text := range texts {
		axis, err := search.ParseAxis(text)
		if err != nil {
			t.Fatal(err)
		}
		s.Axes, names = append(s.Axes, axis), append(names, axis.Name)
	}
	if where != "" {
		condition, err := search.ParseExpression(where, names)
		if err != nil {
			t.Fatal(err)
		}
		s.Where = condition.Allows
	}
	return s
}

func TestTheGridHasEveryCombinationThatIsAllowed(t *testing.T) {
	t.Parallel()
	s := space(t, "fast < slow and protect.stop_loss != 2", "fast=1,2,3", "slow=2,3", "protect.stop_loss=1%,2%")
	choices, err := s.Grid()
	if err != nil {
		t.Fatal(err)
	}
	var have []string
	for _, choice := range choices {
		have = append(have, choice.Text())
	}
	want := []string{"fast=1 protect.stop_loss=1% slow=2", "fast=1 protect.stop_loss=1% slow=3", "fast=2 protect.stop_loss=1% slow=3"}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Error(diff)
	}
	words := space(t, "word == 'b'", "word=a,b")
	if choices, err := words.Grid(); err != nil || len(choices) != 1 || choices[0]["word"] != "b" {
		t.Errorf("a condition on a word: have %v, %v", choices, err)
	}
	large := space(t, "", "a=1..1000", "b=1..1000")
	if _, err := large.Grid(); err == nil || !strings.Contains(err.Error(), "--search random") {
		t.Errorf("have %v", err)
	}
	for _, r := range []search.Range{{From: 1, To: 2, Places: 1}, {From: 1, To: 2, Log: true}} {
		ranged := search.Space{Axes: []search.Axis{{Name: "a", Range: &r}}}
		if _, err := ranged.Grid(); err == nil || !strings.Contains(err.Error(), "a grid needs steps") {
			t.Errorf("%+v: have %v", r, err)
		}
	}
	for text, want := range map[string]int{"a=1..100000": 100_000, "a=1..50000..1,100001..150000..1": 100_000, "a=1..1000": 100_000} {
		most := space(t, "", text, map[bool]string{false: "b=1", true: "b=1..100"}[text == "a=1..1000"])
		if choices, err := most.Grid(); err != nil || len(choices) != want {
			t.Errorf("%s: want %d choices, have %d, %v", text, want, len(choices), err)
		}
	}
}

// The error names the choice.
func TestAConditionThatCannotBeEvaluatedEndsTheSearch(t *testing.T) {
	t.Parallel()
	s := space(t, "word < 3", "word=a,b", "wide=0.0..1.0")
	before := make([]search.Tried, 40)
	for name, propose := range map[string]func() ([]search.Choice, error){
		"random": func() ([]search.Choice, error) { return s.Random(1, 0, 3, nil) },
		"tpe":    func() ([]search.Choice, error) { return s.TPE(1, 0, 3, before) },
		"grid":   func() ([]search.Choice, error) { g := space(t, "word < 3", "word=a"); return g.Grid() },
	} {
		if choices, err := propose(); err == nil || choices != nil || !strings.Contains(err.Error(), `"word < 3" with `) {
			t.Errorf("%s: have %v, %v", name, choices, err)
		}
	}
}

// The draws are uniform, or uniform in ratios on a logarithmic axis.
func TestRandomChoicesLieInTheirRanges(t *testing.T) {
	t.Parallel()
	s := space(t, "whole != 7", "whole=1..10", "share=1%..5%", "wide=log:0.01..100", "word=a,b")
	seen, low := map[string]int{}, 0
	const drawn = 2_000
	for batch := range drawn / search.Batch {
		choices, err := s.Random(1, batch, search.Batch, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range choices {
			whole, err := strconv.Atoi(c["whole"])
			if err != nil || whole < 1 || whole > 10 || whole == 7 {
				t.Fatalf("whole=%s", c["whole"])
			}
			share, err := strconv.ParseFloat(strings.TrimSuffix(c["share"], "%"), 64)
			if err != nil || share < 1 || share > 5 || !strings.HasSuffix(c["share"], "%") {
				t.Fatalf("share=%s", c["share"])
			}
			wide, err := strconv.ParseFloat(c["wide"], 64)
			if err != nil || wide < 0.01 || wide > 100 {
				t.Fatalf("wide=%s", c["wide"])
			}
			if wide < 1 {
				low++
			}
			seen[c["word"]]++
			seen[c["whole"]]++
		}
	}
	for _, value := range []string{"a", "b", "1", "10"} {
		if want := map[bool]int{true: 1_000, false: 222}[value == "a" || value == "b"]; math.Abs(float64(seen[value]-want)) > 0.25*float64(want) {
			t.Errorf("%s was drawn %d times, want about %d", value, seen[value], want)
		}
	}
	if low < 900 || low > 1_100 {
		t.Errorf("%d of 2,000 below the middle of the ratios, want half", low)
	}
}

func TestASpaceThatIsUsedUpEndsTheSearch(t *testing.T) {
	t.Parallel()
	s := space(t, "", "a=1..3", "b=1,2")
	var tried []search.Tried
	for batch := range 4 {
		choices, err := s.Random(1, batch, 4, tried)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range choices {
			tried = append(tried, search.Tried{Choice: c})
		}
	}
	if len(tried) != 6 {
		t.Errorf("want each of 6 choices once, have %d", len(tried))
	}
}

// The order in which the results arrived does not matter.
func TestSearchesDependOnTheResultsAlone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		axes := []search.Axis{{Name: "a", Range: &search.Range{From: 0, To: 1, Places: 3}}, {Name: "b", Values: []string{"x", "y", "z"}}}
		s := search.Space{Axes: axes}
		before, err := s.Random(rapid.Uint64().Draw(t, "seed"), 0, 40, nil)
		if err != nil {
			t.Fatal(err)
		}
		var tried []search.Tried
		for i, c := range before {
			tried = append(tried, search.Tried{Choice: c, Objective: []float64{1, 2, math.NaN(), -3}[i%4]})
		}
		one, err := s.TPE(1, 3, search.Batch, tried)
		if err != nil {
			t.Fatal(err)
		}
		other, err := s.TPE(1, 3, search.Batch, rapid.Permutation(tried).Draw(t, "order"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(one, other); diff != "" {
			t.Fatal(diff)
		}
	})
}

// The function has one hill. The test uses several seeds with the same number of trials.
func TestTPEFindsMoreThanChance(t *testing.T) {
	t.Parallel()
	hill := func(c search.Choice) float64 {
		x, _ := strconv.ParseFloat(c["x"], 64)
		y, _ := strconv.ParseFloat(c["y"], 64)
		bonus := 0.0
		if c["kind"] == "good" {
			bonus = 0.5
		}
		return bonus - (x-0.3)*(x-0.3) - math.Pow(math.Log10(y)-1, 2)
	}
	best := func(propose func(s *search.Space, seed uint64, batch int, tried []search.Tried) ([]search.Choice, error), seed uint64) float64 {
		s := space(t, "", "x=0.0..1.0", "y=log:0.01..1000", "kind=good,bad,worse")
		var tried []search.Tried
		most := math.Inf(-1)
		for batch := range 8 {
			choices, err := propose(&s, seed, batch, tried)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range choices {
				tried = append(tried, search.Tried{Choice: c, Objective: hill(c)})
				most = max(most, hill(c))
			}
		}
		return most
	}
	var learned, drawn []float64
	for seed := range uint64(15) {
		learned = append(learned, best(func(s *search.Space, seed uint64, batch int, tried []search.Tried) ([]search.Choice, error) {
			return s.TPE(seed, batch, search.Batch, tried)
		}, seed))
		drawn = append(drawn, best(func(s *search.Space, seed uint64, batch int, tried []search.Tried) ([]search.Choice, error) {
			return s.Random(seed, batch, search.Batch, tried)
		}, seed))
	}
	slices.Sort(learned)
	slices.Sort(drawn)
	if middle := len(learned) / 2; 0.5-learned[middle] > (0.5-drawn[middle])/2 {
		t.Errorf("the median of what TPE misses of the top is %g, of chance %g", 0.5-learned[middle], 0.5-drawn[middle])
	}
}

func TestExpressions(t *testing.T) {
	t.Parallel()
	two, missing := 2.0, (*float64)(nil)
	three := 3.0
	numbers := map[string]*float64{"sharpe": &two, "profit_pct": &two, "beta": missing, "protect.stop": &two, "protect.stop.first": &three}
	names := []string{"sharpe", "profit_pct", "beta", "protect.stop", "protect.stop.first"}
	for text, want := range map[string]string{
		"sharpe - 0.5*profit_pct":                      "1",
		"max(sharpe, 3) + abs(-1)":                     "4",
		"sharpe if profit_pct > 1 else 0":              "2",
		"beta + 1":                                     "NaN",
		"sharpe / (profit_pct - 2)":                    "NaN",
		"sharpe >= 2 and profit_pct < 3":               "1",
		"[x for x in range(1000000) if x > 999998][0]": "", // names that are not among the figures
		"sharpe +":                          "",
		"shrpe":                             "",
		"'a text'":                          "NaN",
		"False":                             "0",
		"True":                              "1",
		"min(sharpe, 3)":                    "2",
		"protect.stop.first - protect.stop": "1",
		"max([abs(beta) for beta in (1,)*20000])": "NaN", // more steps than an expression may take
		"open('/etc/passwd')":                     "",
	} {
		expression, err := search.ParseExpression(text, names)
		if err != nil {
			if want != "" {
				t.Errorf("%s: %v", text, err)
			}
			continue
		}
		if have := fmt.Sprint(expression.Number(numbers)); have != want {
			t.Errorf("%s: want %s, have %s", text, want, have)
		}
	}
	_, err := search.ParseExpression("shrpe", names)
	if err == nil || !strings.Contains(err.Error(), "did you mean sharpe?") {
		t.Errorf("have %v", err)
	}
	for text, want := range map[string]bool{"beta > 0": false, "sharpe > 2": false, "sharpe >= 2": true} { // beta is missing
		condition, err := search.ParseExpression(text, names)
		if err != nil || condition.Holds(numbers) != want {
			t.Errorf("%s: want %v; %v", text, want, err)
		}
	}
}

// The first sixteen are listed if none is similar.
func TestAnUnknownNameIsAnsweredWithThoseThereAre(t *testing.T) {
	t.Parallel()
	var names []string
	for n := range 17 {
		names = append(names, fmt.Sprintf("name%02d", n))
	}
	const first = "there are name00, name01, name02, name03, name04, name05, name06, name07, name08, name09, name10, name11, name12, name13, name14, name15"
	for count, want := range map[int]string{16: first, 17: first + ", ..."} {
		if _, err := search.ParseExpression("zzz + xxx", names[:count]); err == nil || !strings.HasSuffix(err.Error(), "zzz is unknown\nhint: "+want) {
			t.Errorf("%d names: have %v", count, err)
		}
	}
}
