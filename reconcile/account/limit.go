package account

import (
	"cmp"
	"slices"

	"botd/reconcile/record"
)

// SetLimit is a limit that a person set tighter than the configuration has it. It
// holds until a person ends it, or the configuration is as tight.
type SetLimit struct {
	Strategy string // empty for the account
	Rule     string
	Value    string // as the configuration writes it; empty: as configured again
	By, Why  string
	AtMS     int64
}

func (s *State) setLimit(r *record.Record, body *record.Limit) {
	set := SetLimit{r.Strategy, body.Rule, body.Value, body.By, body.Why, r.AtMS}
	i, found := slices.BinarySearchFunc(s.limits, set, func(a, c SetLimit) int {
		return cmp.Or(cmp.Compare(a.Strategy, c.Strategy), cmp.Compare(a.Rule, c.Rule))
	})
	switch {
	case found && set.Value == "":
		s.limits = slices.Delete(s.limits, i, i+1)
	case found:
		s.limits[i] = set
	case set.Value != "":
		s.limits = slices.Insert(s.limits, i, set)
	}
}

// SetLimits returns the limits that people set, the account's first.
func (s *State) SetLimits() []SetLimit { return slices.Clip(s.limits) }
