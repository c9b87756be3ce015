package reconcile

import (
	"slices"
	"strings"

	"botd/exchange"
	"botd/reconcile/record"
)

// Watch is what the limits of one scope remember: the account's, or a
// strategy's. It is made of records, so that a restart knows the same use.
type Watch struct {
	Strategy string // empty for the account
	Day      Day

	// Strategies whose limits need it: what they made, derived from the wallet.
	Base   exchange.Amount   // the account's equity when the strategy was first watched
	Result exchange.Amount   // what it made since, realised: net of fees and funding; on spot its cash flow
	Trip   exchange.Amount   // the result when the position under way was opened
	Held   exchange.Quantity // the position that Result belongs to
	Wallet exchange.Amount   // account: the futures wallet that the results account for
	Known  bool              // these figures are

	Losses   int      // losing positions in a row
	Breaches []Breach // in force, one a rule
}

// Breach is a limit that was crossed and keeps entries back.
type Breach struct {
	Rule    string
	Why     string
	SinceMS int64
	UntilMS int64 // 0: until it is armed again
}

// Watch returns the watch of a strategy, or of the account for an empty name;
// made when it is new.
func (b *Book) Watch(strategy string) *Watch {
	i, found := slices.BinarySearchFunc(b.watches, strategy, func(w *Watch, n string) int { return strings.Compare(w.Strategy, n) })
	if !found {
		b.watches = slices.Insert(b.watches, i, &Watch{Strategy: strategy})
	}
	return b.watches[i]
}

// Breach returns a rule's breach in force, or nil.
func (w *Watch) Breach(rule string) *Breach {
	for i := range w.Breaches {
		if w.Breaches[i].Rule == rule {
			return &w.Breaches[i]
		}
	}
	return nil
}

// Over reports whether the breach's time has passed.
func (b *Breach) Over(nowMS int64) bool { return b.UntilMS != 0 && b.UntilMS <= nowMS }

// breached takes a breach, or with no cause its end.
func (b *Book) breached(r *record.Record, body *record.Breach) {
	w := b.Watch(r.Strategy)
	w.Breaches = slices.DeleteFunc(w.Breaches, func(breach Breach) bool { return breach.Rule == body.Rule })
	if body.Why != "" {
		w.Breaches = append(w.Breaches, Breach{body.Rule, body.Why, r.AtMS, body.UntilMS})
	}
}

// resulted takes what a strategy made.
func (b *Book) resulted(strategy string, body *record.Result) {
	w := b.Watch(strategy)
	w.Base, w.Result, w.Trip, w.Held, w.Losses, w.Known = body.Base, body.Result, body.Trip, body.Position, body.Losses, true
}

// accounted takes the futures wallet that the results account for.
func (b *Book) accounted(body *record.Accounted) {
	w := b.Watch("")
	w.Wallet, w.Losses, w.Known = body.Wallet, body.Losses, true
}

// send is a placement's time and owner.
type send struct {
	atMS     int64
	strategy string
}

// Bounds of what is remembered of placements sent.
const (
	minuteMS = 60_000
	maxSends = 100_000
)

// sentAt keeps who sent when within the last minute.
func (b *Book) sentAt(atMS int64, strategy string) {
	old := 0
	for old < len(b.sends) && (atMS-b.sends[old].atMS >= minuteMS || len(b.sends)-old >= maxSends) {
		old++
	}
	b.sends = append(b.sends[:copy(b.sends, b.sends[old:])], send{atMS, strategy})
}

// SentWithin returns how many placements were journalled in the minute before:
// all of them, and a strategy's own.
func (b *Book) SentWithin(nowMS int64, strategy string) (all, own int) {
	for i := len(b.sends) - 1; i >= 0 && nowMS-b.sends[i].atMS < minuteMS; i-- {
		all++
		if b.sends[i].strategy == strategy {
			own++
		}
	}
	return all, own
}
