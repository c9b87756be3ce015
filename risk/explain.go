package risk

import (
	"slices"

	"botd/reconcile"
)

// Verdict is what one rule says of an intent, with its figures where it has any.
type Verdict struct {
	Rule    string
	Scope   string // of a limit: account, account futures, symbol ..., strategy ...
	Outcome Outcome
	Value   string
	Limit   string
	Hint    string // of a refusal
}

// Outcome is what a rule came to.
type Outcome uint8

// The outcomes of a rule.
const (
	Passed     Outcome = iota + 1
	Rejected           // the first rule that has something against the intent
	NotReached         // a rule before it refused
)

// String returns the outcome's word.
func (o Outcome) String() string {
	return [...]string{"", "passed", "refused", "not_reached"}[o]
}

// Explain says what every rule says of an intent, in the order in which Check asks
// them and with the figures Check compares: it reads the same findings.
func (g *Gate) Explain(intent *reconcile.Intent, facts *Facts) (all []Verdict) {
	refused := g.judge(intent, facts, func(found *finding) { all = append(all, found.verdict()) })
	if refused == nil {
		return all
	}
	names := namesOf(intent.Purpose)
	for _, name := range names[slices.Index(names, refused.rule)+1:] {
		all = append(all, Verdict{Rule: name, Outcome: NotReached})
	}
	return all
}
