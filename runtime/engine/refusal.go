package engine

import "botd/reconcile/placement"

// forgottenMS is how long an unrepeated refusal is remembered, and minForgotten the number of refusals
// above which old ones are dropped: a strategy may create a new key with every candle.
const (
	forgottenMS  = 3_600_000
	minForgotten = 1_000
	freshMS      = 60_000 // an older refusal no longer blocks anything, because rounds are 15 s apart
)

// refusals suppresses repeated refusals of an intent: a refusal that repeats is reported once.
type refusals struct {
	last  map[string]refusal
	sweep int // number of refusals at which old ones are dropped
}

type refusal struct {
	text string
	atMS int64
}

func newRefusals() *refusals { return &refusals{map[string]refusal{}, minForgotten} }

// refusalKey names an intent across rounds.
func refusalKey(strategy string, purpose placement.Purpose, key string) string {
	return strategy + " " + purpose.String() + " " + key
}

// isNew records a refusal and reports whether it differs from the last one of the intent.
func (t *refusals) isNew(intent, text string, nowMS int64) bool {
	before := t.last[intent]
	t.last[intent] = refusal{text, nowMS}
	if len(t.last) >= t.sweep {
		t.forget(nowMS)
	}
	return before.text != text
}

func (t *refusals) forget(nowMS int64) {
	for intent, refusal := range t.last { // the order of the iteration has no visible effect
		if nowMS-refusal.atMS > forgottenMS {
			delete(t.last, intent)
		}
	}
	t.sweep = 2*len(t.last) + minForgotten
}

// clear ends an intent's refusal.
func (t *refusals) clear(intent string) { delete(t.last, intent) }

// reason returns why an intent is refused; empty if it is not, or no longer.
func (t *refusals) reason(intent string, nowMS int64) string {
	if refusal := t.last[intent]; nowMS-refusal.atMS <= freshMS {
		return refusal.text
	}
	return ""
}
