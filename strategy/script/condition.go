package script

import (
	"fmt"

	"botd/strategy"
)

// maxConditions bounds the number of conditions that a script shows.
const maxConditions = 60

// Conditions returns the newest value of every series of the script, under the text that defines it.
func (r *running) Conditions(*strategy.View) (all []strategy.Condition) {
	seen := map[string]bool{}
	for _, c := range r.clocks {
		for _, n := range c.nodes {
			for _, s := range n.wrote {
				if seen[s.name] || len(all) == maxConditions {
					continue
				}
				seen[s.name] = true
				all = append(all, strategy.Condition{Name: s.name, Value: strategy.Figure(s.at(0))})
			}
		}
	}
	return all
}

// Conditions returns the truth of each rule, followed by the values in the rules.
func (r *ruled) Conditions(view *strategy.View) []strategy.Condition {
	var all []strategy.Condition
	for i, text := range r.texts {
		if text == never {
			continue
		}
		held, err := r.holds(view, i)
		c := strategy.Condition{Name: ruleNames[i], Value: fmt.Sprint(held), Requires: text, Met: held}
		if err != nil {
			c.Value = err.Error()
		}
		all = append(all, c)
	}
	return append(all, r.running.Conditions(view)...)
}

// holds evaluates one rule. Because the result is only displayed, it reports a failing rule instead
// of panicking.
func (r *ruled) holds(view *strategy.View, rule int) (met bool, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("%v", cause)
		}
	}()
	r.view.of = view
	return r.true(rule), nil
}
