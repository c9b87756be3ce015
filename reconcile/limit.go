package reconcile

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

func (b *Book) setLimit(r *record.Record, body *record.Limit) {
	set := SetLimit{r.Strategy, body.Rule, body.Value, body.By, body.Why, r.AtMS}
	i, found := slices.BinarySearchFunc(b.set, set, func(a, c SetLimit) int {
		return cmp.Or(cmp.Compare(a.Strategy, c.Strategy), cmp.Compare(a.Rule, c.Rule))
	})
	switch {
	case found && set.Value == "":
		b.set = slices.Delete(b.set, i, i+1)
	case found:
		b.set[i] = set
	case set.Value != "":
		b.set = slices.Insert(b.set, i, set)
	}
}

// SetLimits returns the limits that people set, the account's first. It must not be
// changed.
func (b *Book) SetLimits() []SetLimit { return b.set }
