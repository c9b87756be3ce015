package engine

import "botd/reconcile/placement"

// forgottenMS is how long an unrepeated rejection is remembered, and minForgotten the number of rejections
// above which old ones are dropped: a strategy may create a new key with every candle.
const (
	forgottenMS  = 3_600_000
	minForgotten = 1_000
	freshMS      = 60_000 // an older rejection no longer blocks anything, because rounds are 15 s apart
)

// rejections suppresses repeated rejections of an intent by the rules: one that repeats is reported once.
type rejections struct {
	last  map[string]rejection
	sweep int // number of rejections at which old ones are dropped
}

type rejection struct {
	text string
	atMS int64
}

func newRejections() *rejections { return &rejections{map[string]rejection{}, minForgotten} }

// rejectionKey names an intent across rounds.
func rejectionKey(strategy string, purpose placement.Purpose, key string) string {
	return strategy + " " + purpose.String() + " " + key
}

// isNew records a rejection and reports whether it differs from the last one of the intent.
func (t *rejections) isNew(intent, text string, nowMS int64) bool {
	before := t.last[intent]
	t.last[intent] = rejection{text, nowMS}
	if len(t.last) >= t.sweep {
		t.forget(nowMS)
	}
	return before.text != text
}

func (t *rejections) forget(nowMS int64) {
	for intent, rejection := range t.last { // the order of the iteration has no visible effect
		if nowMS-rejection.atMS > forgottenMS {
			delete(t.last, intent)
		}
	}
	t.sweep = 2*len(t.last) + minForgotten
}

// clear ends an intent's rejection.
func (t *rejections) clear(intent string) { delete(t.last, intent) }

// reason returns why an intent is refused; empty if it is not, or no longer.
func (t *rejections) reason(intent string, nowMS int64) string {
	if rejection := t.last[intent]; nowMS-rejection.atMS <= freshMS {
		return rejection.text
	}
	return ""
}
