package risk

import (
	"fmt"

	"botd/exchange"
	"botd/reconcile"
)

// Trigger is the kind of change that moves the figures of a latching limit between intents.
type Trigger uint8

// The triggers.
const (
	ByEquity  Trigger = iota // a change of the equity
	ByResults                // results of closed positions
)

// CrossedLimit is a latching limit that was crossed. Its breach blocks entries until it ends.
type CrossedLimit struct {
	Rule    string
	Reason  string
	UntilMS int64 // 0: until botd rearm
}

// Crossed returns the limits that the trigger moves and that are crossed. A loss limit stays crossed, so
// it is returned only while it has no breach; a losing streak is counted from zero after each breach. The
// limits and the equity are the strategy's, or the account's if the strategy is empty.
func (l *Limits) Crossed(by Trigger, nowMS int64, tracker *reconcile.Tracker, strategy string, equity exchange.Amount) (all []CrossedLimit) {
	var s *subject // most strategies have no latching limit
	watch := tracker.Watch(strategy)
	for i := range limitTable {
		limit := &limitTable[i]
		if limit.latch == nil || limit.latch.trigger != by || !limit.isSet(l) {
			continue
		}
		if s == nil {
			s = &subject{nowMS: nowMS, tracker: tracker, watch: watch, limits: l, strategy: strategy, funds: equity}
		}
		f := limit.measure(s)
		crossed := f.limit.Less(f.value) && s.watch.Breach(limit.Name) == nil
		if f.byResult {
			crossed = !f.value.Less(f.limit)
		}
		if f.unknown != "" || !crossed {
			continue
		}
		c := CrossedLimit{Rule: limit.Name, Reason: limit.latch.why(f)}
		if limit.latch.until != nil {
			c.UntilMS = limit.latch.until(nowMS, l)
		}
		all = append(all, c)
	}
	return all
}

// Recovered reports whether the named limit is set, moved by the trigger and no longer exceeded. It is false
// while the limit's figures are unknown.
func (l *Limits) Recovered(by Trigger, rule string, nowMS int64, tracker *reconcile.Tracker, strategy string, equity exchange.Amount) bool {
	s := subject{nowMS: nowMS, tracker: tracker, watch: tracker.Watch(strategy), limits: l, strategy: strategy, funds: equity}
	for i := range limitTable {
		if limit := &limitTable[i]; limit.Name == rule && limit.latch != nil && limit.latch.trigger == by && limit.isSet(l) {
			f := limit.measure(&s)
			return f.unknown == "" && !f.limit.Less(f.value)
		}
	}
	return false
}

func lostTooMuch(f figures) string {
	return fmt.Sprintf("lost %s of %s, more than %s", number(f.value, usdt), number(f.start, usdt), number(f.limit, usdt))
}

func lostInARow(f figures) string {
	return f.value.String() + " positions in a row lost"
}

// TriggeredBy reports whether a configured limit responds to the trigger.
func (l *Limits) TriggeredBy(by Trigger) bool {
	for i := range limitTable {
		if limit := &limitTable[i]; limit.latch != nil && limit.latch.trigger == by && limit.isSet(l) {
			return true
		}
	}
	return false
}

// Changed reports whether a limit that responds to the trigger has changed.
func (l *Limits) Changed(by Trigger, before *Limits) bool {
	for i := range limitTable {
		limit := &limitTable[i]
		if limit.latch == nil || limit.latch.trigger != by {
			continue
		}
		if order, comparable := limit.Compare(l, before); order != 0 || !comparable {
			return true
		}
	}
	return false
}

// Watches reports whether any limit is set whose figures move between intents.
func (l *Limits) Watches() bool { return l.TriggeredBy(ByEquity) || l.TriggeredBy(ByResults) }

// Rearms reports whether botd rearm ends a breach of the named limit. It is true for a name that is not a
// latching limit, such as one from an older journal.
func Rearms(name string) bool {
	limit := LimitNamed(name)
	return limit == nil || limit.latch == nil || limit.latch.rearm
}
