package account

import (
	"slices"
	"strings"

	"botd/exchange"
	"botd/reconcile/record"
)

// Watch is what the limits of one scope remember: the account's, or a strategy's.
// It is made of records, so that a restart knows the same utilization.
type Watch struct {
	strategy string
	day      Day
	peakMS   int64 // when the peak was last raised
	result   record.Result
	wallet   exchange.Amount
	known    bool
	traded   exchange.Quantity // of a strategy on futures, since the wallet was accounted for
	fills    []Filled          // of a strategy on spot, since its result was journalled; the newest maxFills
	losses   int
	breaches []Breach
}

// Day is the equity at the start of the UTC day and its peak ever.
type Day struct {
	StartMS int64
	Equity  exchange.Amount
	Peak    exchange.Amount
	Markets string          // of the account: whose equity it is
	Spot    exchange.Amount // of the account: the part of Equity that is on spot
}

// Breach is a limit that was crossed and keeps entries back.
type Breach struct {
	Rule    string
	Why     string
	SinceMS int64
	UntilMS int64 // 0: until it is rearmed
}

// Over reports whether the breach's time has passed.
func (b *Breach) Over(nowMS int64) bool { return b.UntilMS != 0 && b.UntilMS <= nowMS }

// watches are sorted by strategy, the account's first.
type watches struct {
	all        []*Watch
	byStrategy map[string]*Watch
}

// Watch returns the watch of a strategy, or of the account for an empty name;
// made when it is new.
func (w *watches) Watch(strategy string) *Watch {
	if known := w.byStrategy[strategy]; known != nil {
		return known
	}
	if w.byStrategy == nil {
		w.byStrategy = map[string]*Watch{}
	}
	made := &Watch{strategy: strategy}
	at, _ := slices.BinarySearchFunc(w.all, strategy, func(one *Watch, n string) int { return strings.Compare(one.strategy, n) })
	w.all, w.byStrategy[strategy] = slices.Insert(w.all, at, made), made
	return made
}

// Today returns the account's day.
func (w *watches) Today() Day { return w.Watch("").Day() }

// Strategy is whose watch it is; empty for the account's.
func (w *Watch) Strategy() string { return w.strategy }

// Day is the scope's day.
func (w *Watch) Day() Day { return w.day }

// PeakMS is when the peak was last raised.
func (w *Watch) PeakMS() int64 { return w.peakMS }

func (w *Watch) measure(atMS int64, day Day) {
	if w.day.Peak.Less(day.Peak) {
		w.peakMS = atMS
	}
	w.day = day
}

// Result is what the strategy made, derived from the wallet; see Known.
func (w *Watch) Result() record.Result { return w.result }

// Wallet is, of the account, the futures wallet that the results account for.
func (w *Watch) Wallet() exchange.Amount { return w.wallet }

// Known reports whether Result, or Wallet, was journalled.
func (w *Watch) Known() bool { return w.known }

// Traded is what a strategy's futures orders filled, on both sides, since the wallet that the results account for: its money
// is in no result yet.
func (w *Watch) Traded() exchange.Quantity { return w.traded }

// maxFills bounds the fills that wait for a result: there is one in each round.
const maxFills = 256

// Filled is a part of an order that was filled.
type Filled struct {
	Quantity exchange.Quantity // negative: sold
	Price    exchange.Amount   // mean; zero where it is not known
}

// Fills are what a strategy's spot orders filled, oldest first, that is in no result yet.
func (w *Watch) Fills() []Filled { return slices.Clip(w.fills) }

// filled takes a part of an order that was filled.
func (w *Watch) filled(p, before *Placement, grown exchange.Quantity) {
	switch {
	case p.order.Market == exchange.Futures:
		w.traded += grown
	case w.known:
		if len(w.fills) == maxFills {
			w.fills = slices.Delete(w.fills, 0, 1)
		}
		w.fills = append(w.fills, Filled{grown * exchange.Quantity(p.order.Side.Sign()), addedPrice(before, grown, p.price)})
	}
}

// unaccounted reports whether a strategy has traded on futures since the wallet that results account for.
func (w *watches) unaccounted(strategy string) bool {
	i, found := slices.BinarySearchFunc(w.all, strategy, func(one *Watch, n string) int { return strings.Compare(one.strategy, n) })
	return found && w.all[i].traded != 0 && w.Watch("").known
}

// account takes that the results account for a wallet.
func (w *watches) account(body *record.Accounted) {
	one := w.Watch("")
	one.wallet, one.losses, one.known = body.Wallet, body.Losses, true
	if body.Keeps {
		return
	}
	for _, each := range w.all {
		each.traded = 0
	}
}

// Losses is how many positions lost in a row.
func (w *Watch) Losses() int { return w.losses }

// Breaches are those in force, one a rule.
func (w *Watch) Breaches() []Breach { return slices.Clip(w.breaches) }

// Breach returns a rule's breach in force, or nil.
func (w *Watch) Breach(rule string) *Breach {
	for _, b := range w.breaches {
		if b.Rule == rule {
			return &b
		}
	}
	return nil
}

// breached takes a breach, or with no cause its end.
func (w *Watch) breached(atMS int64, body *record.Breach) {
	w.breaches = slices.DeleteFunc(slices.Clone(w.breaches), func(b Breach) bool { return b.Rule == body.Rule })
	if body.Why != "" {
		w.breaches = append(w.breaches, Breach{body.Rule, body.Why, atMS, body.UntilMS})
	}
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

// pace is what was sent within the last minute, oldest first.
type pace struct{ sends []send }

// note keeps who sent when within the last minute.
func (p *pace) note(atMS int64, strategy string) {
	old := 0
	for old < len(p.sends) && (atMS-p.sends[old].atMS >= minuteMS || len(p.sends)-old >= maxSends) {
		old++
	}
	p.sends = append(p.sends[:copy(p.sends, p.sends[old:])], send{atMS, strategy})
}

// SentWithin returns how many placements were journalled in the minute before:
// all of them, and a strategy's own.
func (p *pace) SentWithin(nowMS int64, strategy string) (all, own int) {
	for i := len(p.sends) - 1; i >= 0 && nowMS-p.sends[i].atMS < minuteMS; i-- {
		all++
		if p.sends[i].strategy == strategy {
			own++
		}
	}
	return all, own
}
