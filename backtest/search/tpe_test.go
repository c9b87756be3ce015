package search_test

import (
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"botd/backtest/search"
)

func axis(t *testing.T, text string) *search.Axis {
	t.Helper()
	a, err := search.ParseAxis(text)
	if err != nil {
		t.Fatal(err)
	}
	return &a
}

// The place is between 0 and 1. A value of a list, and a whole number, is in the middle of its share.
func TestAxisPosition(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		axis, value string
		want        float64 // -1: nowhere
	}{
		{"a=w,x,y,z", "w", 0.125},
		{"a=w,x,y,z", "z", 0.875},
		{"a=w,x,y,z", "v", -1},
		{"a=5.0..15.0", "7.5", 0.25},
		{"a=5.0..15.0", "seven", -1},
		{"a=10%..50%", "20%", 0.25},
		{"a=log:0.01..100", "0.1", 0.25},
		{"a=log:0.01..100", "100", 1},
		{"a=3..12", "3", 0.05},
		{"a=3..12", "12", 0.95},
		{"a=0.5..0.5", "0.5", -1}, // an axis with one value gives no information
	} {
		place, known := search.Place(axis(t, c.axis), c.value)
		if known != (c.want >= 0) || known && math.Abs(place-c.want) > 1e-12 {
			t.Errorf("%s: want %s at %g, have %g, %v", c.axis, c.value, c.want, place, known)
		}
	}
}

// The value has three decimal places more than the ends of its range.
func TestTheValueAtAPlace(t *testing.T) {
	t.Parallel()
	last := math.Nextafter(1, 0)
	for _, c := range []struct {
		axis  string
		place float64
		want  string
	}{
		{"a=w,x,y", 0, "w"},
		{"a=w,x,y", last, "y"},
		{"a=0.1..0.2", 1.0 / 3, "0.1333"},
		{"a=1%..5%", 0.1234, "1.494%"},
		{"a=log:0.01..100.0", 0.5, "1"},
		{"a=1..4", 0.24, "1"},
		{"a=1..4", 0.26, "2"},
		{"a=1..4", last, "4"},
		{"a=9000000000..9000000001", last, "9000000001"}, // the sum rounds up
	} {
		if have := search.At(axis(t, c.axis), c.place); have != c.want {
			t.Errorf("%s at %g: want %s, have %s", c.axis, c.place, c.want, have)
		}
	}
}

func TestAValueLiesWhereItWasTakenFrom(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{"a=w,x,y,z", "a=-5..17", "a=0.001..0.003", "a=2%..40%", "a=log:0.001..1000.0"}).Draw(t, "axis")
		a, err := search.ParseAxis(text)
		if err != nil {
			t.Fatal(err)
		}
		value := search.At(&a, rapid.Float64Range(0, 0.999999).Draw(t, "place"))
		place, known := search.Place(&a, value)
		if again := search.At(&a, place); !known || again != value {
			t.Errorf("%s: %s lies at %g, where there is %s", text, value, place, again)
		}
	})
}

// The width is Scott's: the standard deviation, with divisor n, times n^(-1/5).
func TestTheWidthOfTheKernels(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		places []float64
		want   float64
	}{
		{nil, 1},
		{[]float64{0.4}, 1},
		{[]float64{0.2, 0.8}, 0.261165},         // 0.3 × 0.870551
		{[]float64{0, 0.5, 0.5, 1}, 0.267943},   // 0.353553 × 0.757858
		{[]float64{0.1, 0.1, 0.1, 0.1, 0.1}, 0}, // the same value repeatedly
	} {
		if have := search.WidthOf(c.places); math.Abs(have-c.want) > 1e-6 {
			t.Errorf("%v: want %g, have %g", c.places, c.want, have)
		}
	}
	same := []search.Tried{{Choice: search.Choice{"a": "0.5"}}, {Choice: search.Choice{"a": "0.5"}}}
	if d := search.DensityOf(axis(t, "a=0.0..1.0"), same); d.Width() != 0.02 || d.At(0.5) < 13 || d.At(0.9) > 0.34 {
		t.Errorf("two trials at one place: want a kernel of a fiftieth of the axis, have %g, %g, %g", d.Width(), d.At(0.5), d.At(0.9))
	}
}

// A density is the mean of a uniform kernel and a normal one at each place, which for the width 0.1 has its
// maximum at 3.989423.
func TestADensity(t *testing.T) {
	t.Parallel()
	if have := search.Mixture(1).At(0.3); have != 1 {
		t.Errorf("without a trial: want 1, have %g", have)
	}
	for place, want := range map[float64]float64{0.5: (1 + 3.989423) / 2, 0.6: (1 + 2.419707) / 2, 0.4: (1 + 2.419707) / 2} {
		if have := search.Mixture(0.1, 0.5).At(place); math.Abs(have-want) > 1e-6 {
			t.Errorf("at %g: want %g, have %g", place, want, have)
		}
	}
}

// The first number selects the kernel, here by thirds, and the second one the place in it, within the axis.
func TestADrawIsOfOneKernel(t *testing.T) {
	t.Parallel()
	d := search.Mixture(0.1, 0.3, 0.7)
	for _, c := range []struct{ which, normal, want float64 }{
		{0, 0, 0.3}, {0.33, -1, 0.2}, {0.34, 1, 0.8}, {0.34, 9, math.Nextafter(1, 0)}, {0, -9, 0},
		{0.7, 5, 0.1}, {0.9, -5, 0.7}, // the uniform one
	} {
		if have := d.Draw(c.which, c.normal); math.Abs(have-c.want) > 1e-12 || have >= 1 {
			t.Errorf("%g, %g: want %g, have %g", c.which, c.normal, c.want, have)
		}
	}
}

// tried returns trials of the first batches whose objective is the value of axis a.
func tried(t *testing.T, s *search.Space, count int) (before []search.Tried) {
	t.Helper()
	choices, err := s.Random(9, 0, count, nil)
	if err != nil || len(choices) != count {
		t.Fatalf("have %d, %v", len(choices), err)
	}
	for i, c := range choices {
		before = append(before, search.Tried{Choice: c, Objective: float64(i % 7)})
	}
	return before
}

// Nothing has been learned yet.
func TestTwoBatchesAreDrawnEvenly(t *testing.T) {
	t.Parallel()
	s := space(t, "", "a=0.0..1.0")
	before := tried(t, &s, 2*search.Batch)
	for count, learns := range map[int]bool{0: false, 31: false, 32: true} {
		learned, err := s.TPE(1, 2, search.Batch, before[:count])
		if err != nil {
			t.Fatal(err)
		}
		drawn, err := s.Random(1, 2, search.Batch, before[:count])
		if err != nil {
			t.Fatal(err)
		}
		if !cmp.Equal(learned, drawn) != learns {
			t.Errorf("%d trials: want learned of %v, have %v and %v", count, learns, learned, drawn)
		}
	}
}

// A fifth of the trials is good, the others are not.
func TestTPEProposesWhereTheGoodOnesAre(t *testing.T) {
	t.Parallel()
	s := space(t, "", "a=0.0..1.0")
	trialsAt := func(objective, from float64, count int, step float64) (all []search.Tried) {
		for i := range count {
			place := strconv.FormatFloat(from+float64(i)*step, 'f', 3, 64)
			all = append(all, search.Tried{Choice: search.Choice{"a": place}, Objective: objective})
		}
		return all
	}
	for what, before := range map[string][]search.Tried{
		"six good ones above the others":     slices.Concat(trialsAt(2, 0.8, 6, 0.02), trialsAt(1, 0.01, 26, 0.02)),
		"three of the six among many others": slices.Concat(trialsAt(2, 0.8, 3, 0.01), trialsAt(2, 0.18, 3, 0.01), trialsAt(1, 0.1805, 26, 0.001)),
		"the others say nothing":             slices.Concat(trialsAt(math.NaN(), 0.01, 26, 0.02), trialsAt(-9, 0.8, 6, 0.02)),
	} {
		choices, err := s.TPE(3, 2, search.Batch, before)
		if err != nil {
			t.Fatal(err)
		}
		above := 0
		for _, c := range choices {
			if place, _ := strconv.ParseFloat(c["a"], 64); place > 0.6 {
				above++
			}
		}
		if above < 11 {
			t.Errorf("%s: want most of %d where they are, have %d: %v", what, search.Batch, above, choices)
		}
	}
}

// Everything near the good trials was tried.
func TestTPEFindsRemainingChoices(t *testing.T) {
	t.Parallel()
	s := space(t, "", "a=1..300")
	var before []search.Tried
	choices, err := s.Grid()
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range choices[:290] {
		before = append(before, search.Tried{Choice: c, Objective: -float64(i)})
	}
	found, err := s.TPE(1, 3, search.Batch, before)
	if err != nil || len(found) < 8 {
		t.Errorf("want most of the 10 that are left, have %v, %v", found, err)
	}
}

// A draw that fits occasionally continues.
func TestImpossibleDrawEnds(t *testing.T) {
	t.Parallel()
	calls := 0
	s := space(t, "", "a=1..1000000000")
	s.Where = func(search.Choice) (bool, error) { calls++; return false, nil }
	if drawn, err := s.Random(1, 0, 3, nil); err != nil || len(drawn) != 0 || calls != search.Attempts {
		t.Errorf("want none after %d attempts, have %v, %v after %d", search.Attempts, drawn, err, calls)
	}
	calls = 0
	s.Where = func(search.Choice) (bool, error) { calls++; return calls%search.Attempts == 0, nil }
	if drawn, err := s.Random(1, 0, 3, nil); err != nil || len(drawn) != 3 {
		t.Errorf("one in %d fits: want 3, have %v, %v", search.Attempts, drawn, err)
	}
}
