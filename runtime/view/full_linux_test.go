package view

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"botd/internal/disk/disktest"
)

// TestCutEquityPointDamagesNoOther has the disk full at each byte of a point, which is written with the next one.
func TestCutEquityPointDamagesNoOther(t *testing.T) {
	t.Parallel()
	disktest.Run(t, func(fill func(int64)) {
		first, second, third := at(1, 10_000), at(2, 10_100), at(3, 10_200)
		whole := len(first.line())
		for cut := range len(second.line()) {
			path := filepath.Join(t.TempDir(), "equity.csv")
			e, err := OpenEquity(path)
			if err == nil {
				err = e.sample(first)
			}
			if err != nil {
				t.Fatal(err)
			}
			fill(int64(whole + cut))
			if err := e.sample(second); err == nil {
				t.Errorf("cut at %d: want an error", cut)
			}
			fill(-1)
			if err := e.sample(third); err != nil {
				t.Fatal(err)
			}
			if have := stored(t, e, path); !slices.Equal(have, []int64{first.atMS, second.atMS, third.atMS}) {
				t.Errorf("cut at %d: want all points, have %d", cut, have)
			}
		}
	})
}

// stored closes a series and returns the times that the next process finds.
func stored(t *testing.T, e *Equity, path string) (times []int64) {
	t.Helper()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := OpenEquity(path)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	for _, p := range again.points {
		times = append(times, p.atMS)
	}
	return times
}

// TestASeriesThatCannotBeRewrittenIsAsItWas has the disk full while a series with many superseded lines is rewritten.
func TestASeriesThatCannotBeRewrittenIsAsItWas(t *testing.T) {
	t.Parallel()
	disktest.Run(t, func(fill func(int64)) {
		path := filepath.Join(t.TempDir(), "equity.csv")
		e, err := OpenEquity(path)
		if err != nil {
			t.Fatal(err)
		}
		var want []int64
		for minute := range int64(3) {
			if err := e.sample(at(minute, 10_000)); err != nil {
				t.Fatal(err)
			}
			want = append(want, minute*sampleMS)
		}
		e.lines = maxStale + 100
		fill(40) // the series has more
		if err := e.sample(at(3, 10_000)); err == nil {
			t.Error("want an error: neither a new file nor the old one takes the point")
		}
		fill(-1)
		if err := e.sample(at(4, 10_000)); err != nil {
			t.Fatal(err)
		}
		want = append(want, 3*sampleMS, 4*sampleMS) // in memory, and so in the new file
		if have := stored(t, e, path); !slices.Equal(have, want) {
			t.Errorf("want %d, have %d", want, have)
		}
	})
}

// TestCutDecisionDamagesNoOther has the disk full at every fifth byte of a decision.
func TestCutDecisionDamagesNoOther(t *testing.T) {
	t.Parallel()
	disktest.Run(t, func(fill func(int64)) {
		for cut := int64(0); cut < 100; cut += 5 {
			failed := 0
			s := &DecisionStore{config: DecisionStoreConfig{Directory: filepath.Join(t.TempDir(), "decisions"), Keep: forever, Failed: func(err error) {
				if err != nil {
					failed++
				}
			}}}
			decision := func(n int64) *Decision { return &Decision{ID: fmt.Sprint(n), n: n, Strategy: "trend", Reason: "of it"} }
			s.report(s.append(decision(1)))
			fill(s.size + cut)
			s.report(s.append(decision(2)))
			fill(-1)
			s.report(s.append(decision(3)))
			s.report(s.end())
			var have []int64
			for _, d := range s.newest(9) {
				have = append(have, d.n)
			}
			if !slices.Equal(have, []int64{1, 3}) || failed != 1 {
				t.Errorf("cut at %d: want decisions 1 and 3 and one report, have %d and %d", cut, have, failed)
			}
		}
	})
}
