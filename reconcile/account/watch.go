package account

import (
	"iter"
	"slices"
	"strings"

	"botd/exchange"
	"botd/reconcile/record"
)

// Watch holds what the limits of one scope, the account or a strategy, remember. It derives from records,
// so a restart restores the same utilization.
type Watch struct {
	strategy string
	day      Day
	peakMS   int64 // when the peak was last raised
	result   record.Result
	wallet   exchange.Amount
	known    bool
	traded   exchange.Quantity // of a strategy on futures, since the newest wallet that the results include
	fills    []Fill            // of a strategy on spot, since its last journalled result; the newest maxFills
	losses   int
	breaches []Breach
}

// Day is the equity at the start of the UTC day and the all-time peak.
type Day struct {
	StartMS int64
	Equity  exchange.Amount
	Peak    exchange.Amount
	Markets string          // of the account: the markets of the equity
	Spot    exchange.Amount // of the account: the part of Equity that is on spot
}

// Breach is a breached limit, which blocks entries.
type Breach struct {
	Rule    string
	Reason  string
	SinceMS int64
	UntilMS int64 // 0: until it is rearmed
}

// Expired reports whether the breach has expired.
func (b *Breach) Expired(nowMS int64) bool { return b.UntilMS != 0 && b.UntilMS <= nowMS }

// watches are sorted by strategy, the account's first.
type watches struct {
	all        []*Watch
	byStrategy map[string]*Watch
}

// Watch returns the watch of a strategy, or of the account for an empty name. If no record has begun it,
// the returned watch is empty and not part of the state.
func (w *watches) Watch(strategy string) *Watch {
	if known := w.byStrategy[strategy]; known != nil {
		return known
	}
	return &Watch{strategy: strategy}
}

// watch returns the watch of a strategy, or of the account, and creates it if it is new.
func (w *watches) watch(strategy string) *Watch {
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

// Strategy returns the owner of the watch; empty for the account.
func (w *Watch) Strategy() string { return w.strategy }

// Day returns the scope's day.
func (w *Watch) Day() Day { return w.day }

// PeakMS returns when the peak was last raised.
func (w *Watch) PeakMS() int64 { return w.peakMS }

func (w *Watch) measure(atMS int64, day Day) {
	if w.day.Peak.Less(day.Peak) {
		w.peakMS = atMS
	}
	w.day = day
}

// Result returns the strategy's result, derived from the wallet; see Known.
func (w *Watch) Result() record.Result { return w.result }

// Wallet returns, for the account, the futures wallet that the results include.
func (w *Watch) Wallet() exchange.Amount { return w.wallet }

// Known reports whether Result or Wallet has been journalled.
func (w *Watch) Known() bool { return w.known }

// Traded returns the quantity that a strategy's futures orders filled, on both sides, since the newest
// wallet that the results include: its money is in no result yet.
func (w *Watch) Traded() exchange.Quantity { return w.traded }

// maxFills bounds the fills that are not in a result yet; each round journals a result.
const maxFills = 256

// Fill is one fill of an order.
type Fill struct {
	Quantity exchange.Quantity // negative: sold
	Others   exchange.Quantity // the sold part that was not the strategy's, because no fill explains it
	Price    exchange.Amount   // mean; zero if unknown
}

// Fills yields the fills of a strategy's spot orders that are not in a result yet, oldest first.
func (w *Watch) Fills() iter.Seq[Fill] { return slices.Values(w.fills) }

// Awaits reports whether fills of a strategy's spot orders are not in a result yet.
func (w *Watch) Awaits() bool { return len(w.fills) > 0 }

// filled adds a fill of an order; others is the part of it that was sold from the holdings of others.
func (w *Watch) filled(p, before *Placement, grown, others exchange.Quantity) {
	switch {
	case p.order.Market == exchange.Futures:
		w.traded += grown
	case w.known:
		if len(w.fills) == maxFills {
			w.fills = slices.Delete(w.fills, 0, 1)
		}
		w.fills = append(w.fills, Fill{grown * exchange.Quantity(p.order.Side.Sign()), others, addedPrice(before, grown, p.price)})
	}
}

// unaccounted reports whether a strategy has traded on futures since the newest wallet that the results
// include.
func (w *watches) unaccounted(strategy string) bool {
	i, found := slices.BinarySearchFunc(w.all, strategy, func(one *Watch, n string) int { return strings.Compare(one.strategy, n) })
	return found && w.all[i].traded != 0 && w.Watch("").known
}

// account records the futures wallet that the results include.
func (w *watches) account(body *record.Accounted) {
	one := w.watch("")
	one.wallet, one.losses, one.known = body.Wallet, body.Losses, true
	if body.Keeps {
		return
	}
	for _, each := range w.all {
		each.traded = 0
	}
}

// Losses returns the number of consecutive losing positions.
func (w *Watch) Losses() int { return w.losses }

// Breaches yields the breaches in force, one per rule.
func (w *Watch) Breaches() iter.Seq[Breach] { return slices.Values(w.breaches) }

// Breach returns a rule's breach in force, or nil.
func (w *Watch) Breach(rule string) *Breach {
	for _, b := range w.breaches {
		if b.Rule == rule {
			return &b
		}
	}
	return nil
}

// breached records a breach, or its end if it has no reason.
func (w *Watch) breached(atMS int64, body *record.Breach) {
	w.breaches = slices.DeleteFunc(slices.Clone(w.breaches), func(b Breach) bool { return b.Rule == body.Rule })
	if body.Reason != "" {
		w.breaches = append(w.breaches, Breach{body.Rule, body.Reason, atMS, body.UntilMS})
	}
}

// sentPlacement is the time and owner of a placement.
type sentPlacement struct {
	atMS     int64
	strategy string
}

// Bounds of the remembered placements.
const (
	minuteMS = 60_000
	maxSends = 100_000
)

// recentPlacements lists the placements of the last minute, oldest first.
type recentPlacements struct{ sends []sentPlacement }

// note records a placement and drops those older than a minute.
func (p *recentPlacements) note(atMS int64, strategy string) {
	old := 0
	for old < len(p.sends) && (atMS-p.sends[old].atMS >= minuteMS || len(p.sends)-old >= maxSends) {
		old++
	}
	p.sends = append(p.sends[:copy(p.sends, p.sends[old:])], sentPlacement{atMS, strategy})
}

// SentWithin returns the number of placements journalled in the last minute: all of them, and a
// strategy's own.
func (p *recentPlacements) SentWithin(nowMS int64, strategy string) (all, own int) {
	for i := len(p.sends) - 1; i >= 0 && nowMS-p.sends[i].atMS < minuteMS; i-- {
		all++
		if p.sends[i].strategy == strategy {
			own++
		}
	}
	return all, own
}
