package engine

import (
	"cmp"
	"errors"
	"fmt"

	"botd/reconcile/account"
	"botd/reconcile/record"
	"botd/risk"
)

// LimitChange is a person's request to set limits of the account, or of a strategy, tighter than the
// configuration. A limit without a value is reset to its configured value. A request never loosens a
// limit.
type LimitChange struct {
	Strategy   string // empty for the account
	Limits     []Setting
	By, Reason string
	Err        error // set by Handle: why nothing was changed
}

// Setting is one limit's value in configuration syntax.
type Setting struct{ Rule, Value string }

// limitsInForce puts limits in force: those of the configuration, tightened by people.
type limitsInForce struct {
	*base
	limits  *limits
	results *results
	written risk.Limits // of the account, as configured
	changes int         // number of changes so far
}

// preview describes the effect of setting limits, or returns why it is impossible.
func (r *limitsInForce) preview(t *LimitChange) (lines []string, err error) {
	written, scope := r.written, "the account"
	leg := r.configured(t.Strategy)
	if t.Strategy != "" {
		written, scope = risk.Limits{}, "the strategy "+t.Strategy
		if leg != nil {
			written = leg.limits.configured
		}
	}
	for _, s := range t.Limits {
		if t.Strategy != "" && leg == nil && s.Value != "" { // a removed strategy's limits can still be reset
			return nil, r.noStrategy(t.Strategy)
		}
		have := cmp.Or(written.Text(s.Rule), "none")
		if s.Value == "" {
			set := r.setLimit(t.Strategy, s.Rule)
			if set == nil && t.Strategy != "" && leg == nil {
				return nil, r.noStrategy(t.Strategy)
			}
			if set == nil {
				return nil, fmt.Errorf("%s of %s is already as configured: %s", s.Rule, scope, have)
			}
			lines = append(lines, fmt.Sprintf("%s of %s is as configured again: %s (%s was set by %s)", s.Rule, scope, have, set.Value, set.By))
			continue
		}
		probe := written
		if err := probe.Tighten(t.Strategy, s.Rule, s.Value); err != nil {
			return nil, fmt.Errorf("%s: %w, as configured: a limit can be loosened only in the files", scope, err)
		}
		account := r.config.Limits
		if t.Strategy != "" && account.Text(s.Rule) != "" {
			if err := account.Tighten(t.Strategy, s.Rule, s.Value); err != nil {
				return nil, fmt.Errorf("%s: %w, which is the account's limit", scope, err)
			}
		}
		lines = append(
			lines,
			fmt.Sprintf("%s of %s is %s from now on, across restarts (configured: %s); nothing is closed", s.Rule, scope, probe.Text(s.Rule), have),
		)
	}
	if len(lines) == 0 {
		return nil, errors.New("no limit is given")
	}
	return lines, nil
}

// tooLoose reports whether the limits cannot be set, and sets the request's error.
func (r *limitsInForce) tooLoose(t *LimitChange) bool {
	_, t.Err = r.preview(t)
	return t.Err != nil
}

// tighten journals the limits and puts them in force.
func (r *limitsInForce) tighten(t *LimitChange) {
	for _, s := range t.Limits {
		if written := (risk.Limits{}); s.Value != "" && written.Tighten(t.Strategy, s.Rule, s.Value) == nil {
			s.Value = written.Text(s.Rule) // in one form, however it was typed
		}
		r.set(account.SetLimit{Strategy: t.Strategy, Rule: s.Rule, Value: s.Value, By: t.By, Reason: t.Reason})
	}
	r.apply()
}

// apply puts changed limits in force and checks them.
func (r *limitsInForce) apply() {
	r.enforce()
	r.limits.watchLimits(false)
	r.roundMS = r.nowMS
}

func (r *limitsInForce) set(s account.SetLimit) {
	r.record(record.Record{Strategy: s.Strategy, Body: record.Limit{Rule: s.Rule, Value: s.Value, By: s.By, Reason: s.Reason}})
	what := s.Value + ", set by " + s.By
	if s.Value == "" {
		what = "as configured again"
	}
	text := s.Rule + " of " + cmp.Or(s.Strategy, "the account") + ": " + what + ": " + s.Reason
	r.note(s.Strategy, r.legNamed(s.Strategy).noteSymbol(), NoteLimitSet{s.Rule, text, s.Value == ""})
}

func (b *base) setLimit(strategy, rule string) *account.SetLimit {
	all := b.tracker.SetLimits()
	for i := range all {
		if all[i].Strategy == strategy && all[i].Rule == rule {
			return &all[i]
		}
	}
	return nil
}

// lapse removes limits set by people that the configuration has reached. If the configuration is
// loosened later, that is intended.
func (r *limitsInForce) lapse() {
	for _, s := range r.tracker.SetLimits() {
		written := r.written
		if s.Strategy != "" {
			leg := r.configured(s.Strategy)
			if leg == nil {
				continue // it may return
			}
			written = leg.limits.configured
		}
		if err := written.Tighten(s.Strategy, s.Rule, s.Value); err != nil {
			s.Value, s.Reason = "", err.Error()
			r.set(s)
		}
	}
}

// enforce puts the configured limits in force, tightened by people.
func (r *limitsInForce) enforce() {
	limits := r.tightened("", r.written)
	if before := r.config.Limits; limits != before {
		r.config.Limits, r.gate = limits, risk.NewGate(limits)
		r.limitsVersion = r.newLimitsVersion()
		if r.started && before.TriggeredBy(risk.ByResults) && limits.Changed(risk.ByResults, &before) {
			r.results.startCoolDown(r.tracker.Watch(""), nil, &r.config.Limits)
		}
	}
	for _, leg := range r.legs {
		limits, before := r.tightened(leg.config.Name, leg.limits.configured), leg.config.Limits
		leg.config.Limits = limits
		leg.symbol.SetCollar(risk.ExitCollar(&r.config.Limits, &leg.config.Limits))
		if limits == before {
			continue
		}
		leg.limits.version = r.newLimitsVersion()
		if r.started && limits.Changed(risk.ByResults, &before) {
			r.results.startCoolDown(r.tracker.Watch(leg.config.Name), leg, &leg.config.Limits)
		}
	}
	r.results.following, r.limits.watching = r.results.follows(), r.results.follows() || r.config.Limits.Watches()
}

// tightened returns the configured limits of a scope, tightened by people.
func (r *limitsInForce) tightened(strategy string, limits risk.Limits) risk.Limits {
	for _, s := range r.tracker.SetLimits() {
		if s.Strategy == strategy {
			_ = limits.Tighten(s.Strategy, s.Rule, s.Value) // a value that is not tighter changes nothing
		}
	}
	return limits
}

// limitsVersionOf returns the number of the last change of the limits for a strategy's orders, or
// none if the strategy no longer exists.
func (b *base) limitsVersionOf(strategy string) int {
	if leg := b.legNamed(strategy); leg != nil {
		return max(b.limitsVersion, leg.limits.version)
	}
	return -1
}

// revisionsOf returns how often a plan of a strategy has become outdated, or none if the strategy no longer exists.
func (b *base) revisionsOf(strategy string) int {
	if leg := b.legNamed(strategy); leg != nil {
		return leg.inForce.revisions
	}
	return -1
}

// newLimitsVersion numbers such a change. Numbers are never reused.
func (r *limitsInForce) newLimitsVersion() int {
	r.changes++
	return r.changes
}
