package engine

// forgottenMS is how long a refusal that does not come again is remembered, and
// minForgotten how many there are before old ones are dropped: a strategy may make a
// new key with every candle.
const (
	forgottenMS  = 3_600_000
	minForgotten = 1_000
	freshMS      = 60_000 // what was refused longer ago keeps nothing back now: rounds are 15 s apart
)

// refusals suppresses refusals that were reported, by intent: one that repeats itself is reported
// once.
type refusals struct {
	last  map[string]refusal
	sweep int // how many there are when old ones are looked for
}

type refusal struct {
	text string
	atMS int64
}

func newRefusals() *refusals { return &refusals{map[string]refusal{}, minForgotten} }

// isNew takes a refusal, and reports whether it is another than the last one.
func (t *refusals) isNew(intent, text string, nowMS int64) bool {
	before := t.last[intent]
	t.last[intent] = refusal{text, nowMS}
	if len(t.last) >= t.sweep {
		t.forget(nowMS)
	}
	return before.text != text
}

func (t *refusals) forget(nowMS int64) {
	for intent, refusal := range t.last { // the order is seen by nobody
		if nowMS-refusal.atMS > forgottenMS {
			delete(t.last, intent)
		}
	}
	t.sweep = 2*len(t.last) + minForgotten
}

// clear ends what was refused.
func (t *refusals) clear(intent string) { delete(t.last, intent) }

// reason is what an intent is refused with; empty when it is not, or not any more.
func (t *refusals) reason(intent string, nowMS int64) string {
	if refusal := t.last[intent]; nowMS-refusal.atMS <= freshMS {
		return refusal.text
	}
	return ""
}
