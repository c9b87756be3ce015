package account

import (
	"cmp"
	"slices"

	"botd/reconcile/record"
)

// SetLimit is a limit that a person set tighter than the configuration. It applies until a person
// removes it or the configuration is at least as tight.
type SetLimit struct {
	Strategy   string // empty for the account
	Rule       string
	Value      string // in configuration syntax; empty: the configured value applies again
	By, Reason string
	AtMS       int64
}

// setLimits are the limits set by people, sorted by strategy and rule: the account's first.
type setLimits struct{ inForce []SetLimit }

func (l *setLimits) apply(r *record.Record, body *record.Limit) {
	set := SetLimit{r.Strategy, body.Rule, body.Value, body.By, body.Reason, r.AtMS}
	i, found := slices.BinarySearchFunc(l.inForce, set, func(a, c SetLimit) int {
		return cmp.Or(cmp.Compare(a.Strategy, c.Strategy), cmp.Compare(a.Rule, c.Rule))
	})
	switch {
	case found && set.Value == "":
		l.inForce = slices.Delete(l.inForce, i, i+1)
	case found:
		l.inForce[i] = set
	case set.Value != "":
		l.inForce = slices.Insert(l.inForce, i, set)
	}
}

// SetLimits returns the limits that people set, the account's first.
func (l *setLimits) SetLimits() []SetLimit { return slices.Clone(l.inForce) }
