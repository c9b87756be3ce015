package chaos

import (
	"math"
	"testing"
)

// TestASlopeHasItsStandardError compares the line and its error with figures computed elsewhere (in Python, by the textbook
// formula for independent errors), and expects a wider error for correlated values.
func TestASlopeHasItsStandardError(t *testing.T) {
	t.Parallel()
	at := func(values ...float64) (all []Measurement) {
		for i, value := range values {
			all = append(all, Measurement{AtS: 900 * float64(i), RSSMB: value})
		}
		return all
	}
	for name, c := range map[string]struct {
		all         []Measurement
		want, error float64
	}{
		"a line":                {at(100, 101, 102, 103), 4, 0},
		"up and down":           {at(100, 103, 101, 104, 102, 105), 2.857142857142857, 1.3997084244475304},
		"one measurement alone": {at(100), 0, 0},
	} {
		have, deviation := slope(c.all, func(m *Measurement) float64 { return m.RSSMB })
		if math.Abs(have-c.want) > 1e-9 || math.Abs(deviation-c.error) > 1e-6 {
			t.Errorf("%s: want %g and %g, have %g and %g", name, c.want, c.error, have, deviation)
		}
	}
	_, alone := slope(at(0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1), func(m *Measurement) float64 { return m.RSSMB })
	_, alike := slope(at(0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1), func(m *Measurement) float64 { return m.RSSMB })
	if alike < 1.3*alone {
		t.Errorf("want a larger error of measurements that depend on each other, have %g and %g", alike, alone)
	}
}
