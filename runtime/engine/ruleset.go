package engine

import (
	"cmp"
	"errors"
	"fmt"

	"botd/reconcile/account"
	"botd/reconcile/record"
	"botd/risk"
)

// Tighten is a person's request to set limits of the account, or of a strategy, tighter
// than the configuration, or without a value as configured again. It never loosens one.
type Tighten struct {
	Strategy string // empty for the account
	Limits   []Setting
	By, Why  string
	Err      error // set by Handle: why nothing was changed
}

// Setting is one limit's value, as the configuration writes it.
type Setting struct{ Rule, Value string }

// ruleset holds the limits in force: those of the configuration, tightened by people.
type ruleset struct {
	*base
	limits        *limits
	results       *results
	written       risk.Limits // of the account, as configured
	gate          *risk.Gate
	limitsVersion int // the number of the last change of the account's limits
	changes       int // numbered so far
}

// preview returns what setting limits would do, in words, or why it is not possible.
func (e *ruleset) preview(t *Tighten) (lines []string, err error) {
	written, scope := e.written, "the account"
	r := e.configured(t.Strategy)
	if t.Strategy != "" {
		written, scope = risk.Limits{}, "the strategy "+t.Strategy
		if r != nil {
			written = r.limits
		}
	}
	for _, s := range t.Limits {
		if t.Strategy != "" && r == nil && s.Value != "" { // what was set of a removed strategy can still be reset
			return nil, fmt.Errorf("there is no strategy %q: nothing was changed", t.Strategy)
		}
		have := cmp.Or(written.Text(s.Rule), "none")
		if s.Value == "" {
			set := e.setLimit(t.Strategy, s.Rule)
			if set == nil {
				return nil, fmt.Errorf("%s of %s is already as configured: %s", s.Rule, scope, have)
			}
			lines = append(lines, fmt.Sprintf("%s of %s is as configured again: %s (%s was set by %s)", s.Rule, scope, have, set.Value, set.By))
			continue
		}
		probe := written
		if err := probe.Tighten(t.Strategy, s.Rule, s.Value); err != nil {
			return nil, fmt.Errorf("%s: %w, as configured: a limit is loosened in the files only", scope, err)
		}
		account := e.config.Limits
		if t.Strategy != "" && account.Text(s.Rule) != "" {
			if err := account.Tighten(t.Strategy, s.Rule, s.Value); err != nil {
				return nil, fmt.Errorf("%s: %w, which the account has", scope, err)
			}
		}
		lines = append(
			lines,
			fmt.Sprintf("%s of %s is %s from now on, across restarts (configured: %s); nothing is closed for it", s.Rule, scope, s.Value, have),
		)
	}
	if len(lines) == 0 {
		return nil, errors.New("no limit is named")
	}
	return lines, nil
}

// tooLoose reports whether the limits cannot be set, and sets the request's error.
func (e *ruleset) tooLoose(t *Tighten) bool {
	_, t.Err = e.preview(t)
	return t.Err != nil
}

// tighten journals the limits and puts them in force.
func (e *ruleset) tighten(t *Tighten) {
	for _, s := range t.Limits {
		e.set(account.SetLimit{Strategy: t.Strategy, Rule: s.Rule, Value: s.Value, By: t.By, Why: t.Why})
	}
	e.enforce()
	e.limits.watchLimits(false)
	e.roundMS = e.nowMS
}

func (e *ruleset) set(s account.SetLimit) {
	e.record(record.Record{Strategy: s.Strategy, Body: record.Limit{Rule: s.Rule, Value: s.Value, By: s.By, Why: s.Why}})
	what := s.Value + ", set by " + s.By
	if s.Value == "" {
		what = "as configured again"
	}
	text := s.Rule + " of " + cmp.Or(s.Strategy, "the account") + ": " + what + ": " + s.Why
	e.note(s.Strategy, e.runNamed(s.Strategy).symbol(), NoteTightened{s.Rule, text, s.Value == ""})
}

func (e *ruleset) setLimit(strategy, rule string) *account.SetLimit {
	all := e.book.SetLimits()
	for i := range all {
		if all[i].Strategy == strategy && all[i].Rule == rule {
			return &all[i]
		}
	}
	return nil
}

// lapse resets limits that people set and the configuration has reached: should it become
// looser again, that is intended.
func (e *ruleset) lapse() {
	for _, s := range append([]account.SetLimit{}, e.book.SetLimits()...) {
		written := e.written
		if s.Strategy != "" {
			r := e.configured(s.Strategy)
			if r == nil {
				continue // it may come back
			}
			written = r.limits
		}
		if err := written.Tighten(s.Strategy, s.Rule, s.Value); err != nil {
			s.Value, s.Why = "", err.Error()
			e.set(s)
		}
	}
}

// enforce puts the configured limits in force, tightened by people.
func (e *ruleset) enforce() {
	limits := e.tightened("", e.written)
	if before := e.config.Limits; limits != before {
		e.config.Limits, e.gate = limits, risk.NewGate(limits)
		e.limitsVersion = e.newLimitsVersion()
		if e.started && before.MaxLosingStreak != 0 && before.MaxLosingStreak != limits.MaxLosingStreak {
			e.results.cool(e.book.Watch(""), nil, &e.config.Limits)
		}
	}
	for _, r := range e.runs {
		limits, before := e.tightened(r.config.Name, r.limits), r.config.Limits
		if limits == before {
			continue
		}
		r.config.Limits = limits
		r.limitsVersion = e.newLimitsVersion()
		if e.started && before.MaxLosingStreak != limits.MaxLosingStreak {
			e.results.cool(e.book.Watch(r.config.Name), r, &r.config.Limits)
		}
	}
	e.results.following, e.limits.watching = e.results.follows(), e.results.follows() || e.config.Limits.Watches()
}

// tightened returns the configured limits of a scope, tightened by people.
func (e *ruleset) tightened(strategy string, limits risk.Limits) risk.Limits {
	for _, s := range e.book.SetLimits() {
		if s.Strategy == strategy {
			_ = limits.Tighten(s.Strategy, s.Rule, s.Value) // a value that is not tighter changes nothing
		}
	}
	return limits
}

// limitsVersionOf returns the number of the last change of what a strategy's orders are judged
// by; none of one that is gone.
func (e *ruleset) limitsVersionOf(strategy string) int {
	if r := e.runNamed(strategy); r != nil {
		return max(e.limitsVersion, r.limitsVersion)
	}
	return -1
}

// newLimitsVersion numbers such a change. No number is used twice.
func (e *ruleset) newLimitsVersion() int {
	e.changes++
	return e.changes
}
