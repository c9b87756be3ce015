package exits

import (
	"fmt"

	"botd/exchange"
	"botd/strategy"
)

// Conditions tells what the strategy decides by, then how near the rules are to
// closing its position, or what keeps the next one from being opened.
func (k *keeper) Conditions(view *strategy.View) []strategy.Condition {
	var all []strategy.Condition
	if inner, tells := k.inner.(strategy.Conditional); tells {
		all = inner.Conditions(view)
	}
	d := &decision{keeper: k, view: view, plan: &strategy.Plan{}}
	if d.get(side) == 0 {
		if left := d.get(left); k.rules.CoolMS > 0 && left != 0 {
			over := view.NowMS - left
			all = append(all, strategy.Condition{Name: "since the last position", Value: duration(over), Wants: "at least the cool-down " + duration(k.rules.CoolMS), Holds: over >= k.rules.CoolMS})
		}
		return d.waiting(all)
	}
	d.age = view.NowMS - d.get(since)
	gain := d.gain(view.Last)
	if k.rules.LimitMS > 0 {
		all = append(all, strategy.Condition{Name: "held for", Value: duration(d.age), Wants: "at least the time limit " + duration(k.rules.LimitMS), Holds: d.age >= k.rules.LimitMS})
	}
	for i := len(k.rules.Returns) - 1; i >= 0; i-- {
		if r := k.rules.Returns[i]; d.age >= r.AgeMS {
			all = append(all, strategy.Condition{Name: "profit", Value: percent(gain), Wants: fmt.Sprintf("at least %s, enough after %s", percent(r.Profit), duration(r.AgeMS)), Holds: gain >= r.Profit})
			break
		}
	}
	if t := k.rules.Trailing; t.Distance > 0 {
		at := exchange.Price(d.get(best))
		all = append(all, strategy.Condition{Name: "best profit", Value: percent(d.gain(at)), Wants: "at least " + percent(t.After) + " for the stop to trail", Holds: at != 0 && d.gain(at) >= t.After})
	}
	return d.waiting(all)
}

func (d *decision) waiting(all []strategy.Condition) []strategy.Condition {
	if d.get(blocked) == 0 {
		return all
	}
	return append(all, strategy.Condition{Name: "another wish than the one its rules closed", Value: "not yet", Wants: "before it opens again"})
}
