package view

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"botd/internal/disk/disktest"
)

// TestEachFileCallOfTheDecisionsFails stores decisions of two days in each of two processes. What could not be stored is reported, as is that it works
// again, and all that counts as stored is shown.
func TestEachFileCallOfTheDecisionsFails(t *testing.T) {
	t.Parallel()
	disktest.EachCallFails(t, func(directory string, reported func(error)) {
		var stored, have []int64
		again, config := 0, DecisionStoreConfig{Directory: filepath.Join(directory, "decisions"), Keep: forever}
		failed := 0
		config.Failed = func(err error) {
			if reported(err); err != nil {
				failed++
			} else {
				again++
			}
		}
		for process := range int64(2) {
			s := &DecisionStore{config: config}
			for n := 6*process + 1; n <= 6*process+6; n++ {
				err := s.append(&Decision{ID: fmt.Sprint(n), n: n, AtMS: n / 3 * dayMS, Strategy: "trend", Reason: "of it"})
				if s.report(err); err == nil {
					stored = append(stored, n)
				}
			}
			s.report(s.end())
		}
		s := &DecisionStore{config: config}
		for _, d := range s.newest(100) {
			have = append(have, d.n)
		}
		if len(stored) < 11 || !slices.Equal(have, stored) {
			t.Errorf("want 12 less one that failed, %d, have %d", stored, have)
		}
		if older, _ := s.older("trend", 7, 100); len(older) == 0 || older[0].n != 6 && slices.Contains(stored, 6) {
			t.Errorf("want those before 7, have %+v", older)
		}
		if failed != again || failed > 1 {
			t.Errorf("want a failure reported once, and once that it works again; have %d and %d", failed, again)
		}
	})
}
