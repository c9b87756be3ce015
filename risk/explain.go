package risk

import (
	"slices"

	"botd/reconcile"
)

// Verdict is the result of one rule for an intent, with the figures it compared, if any.
type Verdict struct {
	Rule    string
	Scope   string // of a limit: account, account futures, symbol ..., strategy ...
	Outcome Outcome
	Value   string
	Limit   string
	Hint    string // of a rejection
}

// Outcome is the outcome of a rule.
type Outcome uint8

// The outcomes of a rule.
const (
	Passed     Outcome = iota + 1
	Rejected           // the first rule that refuses
	NotReached         // an earlier rule refused
)

// String returns the outcome's name.
func (o Outcome) String() string {
	return [...]string{"", "passed", "refused", "not_reached"}[o]
}

// Explain returns the verdict of every rule on an intent, in the order of Check and with the same figures,
// because both read the same findings.
func (g *Gate) Explain(intent *reconcile.Intent, facts *Facts) []Verdict {
	_, _, all := g.CheckExplained(intent, facts)
	return all
}

// CheckExplained returns the results of both Check and Explain from one evaluation of the rules.
func (g *Gate) CheckExplained(intent *reconcile.Intent, facts *Facts) (approved Approved, rejection *Rejection, all []Verdict) {
	names := namesOf(intent.Purpose)
	all = make([]Verdict, 0, len(names)) // most rules have one verdict
	refused := g.judge(intent, facts, func(found *finding) { all = append(all, found.verdict()) })
	if refused == nil {
		return Approved{*intent, true}, nil, all
	}
	for _, name := range names[slices.Index(names, refused.rule)+1:] {
		all = append(all, Verdict{Rule: name, Outcome: NotReached})
	}
	return Approved{}, refused.rejection(), all
}
