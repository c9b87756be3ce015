package simulation

import "testing"

// At the end no placement is uncertain, unless the symbol's last fill is so recent that the reads after it
// could not settle the placement yet.
func TestNoPlacementIsUncertainInTheEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sinceFillMS int64 // 0 without a fill
		want        string
	}{
		"without a fill":        {0, "converged"},
		"long after a fill":     {recentMS, "converged"},
		"right after that fill": {recentMS - 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, hold(10))
			s.inject(LostRequest, 1, placing)
			s.pass(0.01)
			s.until("an uncertain placement", func() bool { return s.tracker().AnyUncertain() })
			s.inject(ServerError, 1_000, anything)
			s.pass(30)
			if held := s.w.venue.held[s.key]; c.sinceFillMS != 0 {
				held.filledMS = s.w.nowMS - c.sinceFillMS
			}
			s.w.inspector.converged()
			have := ""
			if s.w.failure != nil {
				have = s.w.failure.Rule
			}
			if have != c.want {
				t.Errorf("want the rule %q broken, have %q", c.want, have)
			}
		})
	}
}
