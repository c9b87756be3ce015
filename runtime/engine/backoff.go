package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/placement"
)

// How soon an intent that the exchange refused is sent again: after the first, doubled
// with each refusal by the same code, up to the longest.
const (
	firstReduceMS   = 1_000 // stops, exits, cancels
	longestReduceMS = 60_000
	firstOpenMS     = 5_000 // openings, leverage
	longestOpenMS   = 300_000
	longestClockMS  = 15_000 // the clock is read again meanwhile
	firstKeyMS      = 30_000 // an opening under a key that is not accepted: a person mends that
)

// Bounds of what is remembered of refusals.
const (
	mostAtOnce       = 8       // refusals of an intent at one moment of a backtest
	declaredAfter    = 3       // refusals in a row until an intent is declared refused
	unprotectedAfter = 2       // until a position whose stop it is counts as unprotected
	currentMS        = 30_000  // what was not derived for longer is not wanted now
	forgetBackoffMS  = 600_000 // what was not derived for so long starts over
	maxCodes         = 16      // codes counted apart
	maxVenueText     = 200     // bytes of the exchange's text
)

// attempt identifies an intent across rounds. An exit at market in the name of a stop is
// another intent than the stop.
type attempt struct {
	strategy string
	symbol   exchange.SymbolKey
	purpose  placement.Purpose
	key      string
	kind     exchange.OrderType
}

func attemptOf(intent *reconcile.Intent) attempt {
	key := intent.Key
	if intent.Purpose == placement.Cancel {
		key = intent.ClientID
	}
	return attempt{intent.Strategy, intent.Order.Key(), intent.Purpose, key, intent.Order.Type}
}

func attemptAt(p *account.Placement) attempt {
	return attempt{p.Strategy(), p.Symbol(), p.Purpose(), p.Key(), p.Order().Type}
}

// backoff is how often the exchange refused an intent in a row, and until when it waits.
type backoff struct {
	attempt
	refused   int
	codes     map[int]int // refusals by code
	why       string      // the newest: code and text
	sinceMS   int64       // the first of them
	lastMS    int64
	untilMS   int64
	derivedMS int64 // when it was last wanted
	noted     bool
}

// backoffs keep intents back that the exchange refuses, longer each time: protection and
// exits up to a minute, openings up to five.
type backoffs struct {
	*base
	all  []*backoff // in the order of their first refusal
	spin struct {   // in a backtest: refusals of one intent at one moment
		attempt
		atMS  int64
		count int
	}
}

func (b *backoffs) of(a attempt) *backoff {
	for _, one := range b.all {
		if one.attempt == a {
			return one
		}
	}
	return nil
}

// holds reports whether an intent waits, and notes that it is wanted.
func (b *backoffs) holds(intent *reconcile.Intent) bool {
	if b.saleRefused(intent) {
		return true
	}
	one := b.of(attemptOf(intent))
	if one == nil {
		return false
	}
	one.derivedMS = b.nowMS
	return b.nowMS < one.untilMS
}

// saleRefused reports whether on spot the exchange has just refused another sale at once of the same position: the plan's exit,
// or the one in place of a stop. It may have executed it, which a read shows a moment later.
func (b *backoffs) saleRefused(intent *reconcile.Intent) bool {
	this := attemptOf(intent)
	return this.sellsAtOnce() && slices.ContainsFunc(b.all, func(one *backoff) bool {
		return one.sellsAtOnce() && one.strategy == this.strategy && one.symbol == this.symbol && b.nowMS < one.lastMS+firstReduceMS
	})
}

// sellsAtOnce reports whether an intent is an exit on spot, for whatever reason.
func (a *attempt) sellsAtOnce() bool {
	return a.symbol.Market == exchange.Spot && a.kind == exchange.Limit && (a.purpose == placement.Exit || a.purpose == placement.StopLoss)
}

// refused counts a refusal. In a backtest time is that of candles, and nothing waits but what is
// refused again and again at one moment: on spot, where a cancel frees the asset after a delay.
func (b *backoffs) refused(a attempt, code int, text string, unauthorized bool) {
	if !b.config.Feed || b.spins(a) {
		b.count(a, code, text, unauthorized, b.nowMS)
	}
}

// restore takes what the exchange refused before this start, as the journal has it: a process that
// is started again and again sends no more than one that runs.
func (b *backoffs) restore() {
	for _, r := range b.book.Refusals() {
		if b.config.Feed || b.nowMS-r.LastMS > forgetBackoffMS {
			continue
		}
		for _, one := range r.Of {
			b.count(attempt{r.Strategy, r.Symbol, r.Purpose, r.Key, r.Type}, one.Code, one.Why, false, min(one.AtMS, b.nowMS))
		}
	}
}

// count takes a refusal of a moment.
func (b *backoffs) count(a attempt, code int, text string, unauthorized bool, atMS int64) {
	one := b.of(a)
	if one == nil {
		one = &backoff{attempt: a, codes: map[int]int{}, sinceMS: atMS}
		b.all = append(b.all, one)
	}
	if len(one.codes) >= maxCodes && one.codes[code] == 0 {
		code = 0 // whoever makes up codes is counted as one
	}
	one.refused++
	one.codes[code]++
	one.why, one.lastMS, one.derivedMS = venueText(code, text), atMS, atMS
	first, longest := int64(firstReduceMS), int64(longestReduceMS)
	if a.purpose.Opens() || a.purpose == placement.Leverage {
		first, longest = firstOpenMS, longestOpenMS
		if unauthorized {
			first = firstKeyMS
		}
	}
	if code == exchange.CodeInvalidTimestamp {
		first, longest = firstReduceMS, longestClockMS
	}
	one.untilMS = atMS + min(longest, first<<min(one.codes[code]-1, 20))
}

func (b *backoffs) spins(a attempt) bool {
	if b.spin.attempt != a || b.spin.atMS != b.nowMS {
		b.spin.attempt, b.spin.atMS, b.spin.count = a, b.nowMS, 0
	}
	b.spin.count++
	return b.spin.count > mostAtOnce
}

// refusedBy counts a refusal that answers a call; another error is none.
func (b *backoffs) refusedBy(a attempt, refusal *exchange.Refusal) {
	b.refused(a, refusal.Code, refusal.Message, refusal.Unauthorized())
}

// taken forgets what the exchange has taken.
func (b *backoffs) taken(a attempt) {
	b.all = slices.DeleteFunc(b.all, func(one *backoff) bool {
		if one.attempt != a {
			return false
		}
		b.over(one)
		return true
	})
}

// settled counts what became of a placement after the exchange had taken it. A postOnly
// order that would have matched is rejected for its price, and rests by itself.
func (b *backoffs) settled(p *account.Placement) {
	switch p.State() {
	case placement.Working, placement.Filled:
		b.accepted(p)
	case placement.Rejected:
		if !p.Order().PostOnly {
			b.refused(attemptAt(p), 0, "accepted, then rejected", false)
		}
	}
}

// accepted forgets the refusals of an intent of which an order stands, or stood until botd canceled it. An older one stands beside
// those that are refused.
func (b *backoffs) accepted(p *account.Placement) {
	if len(b.all) == 0 {
		return
	}
	if one := b.of(attemptAt(p)); one != nil && p.SentMS() >= one.lastMS {
		b.taken(one.attempt)
	}
}

// exitFromMS is when an exit of a spot position that waits is sent again, or a stop that is in its
// way is canceled again; 0 when neither waits. Until then stops may hold the asset.
func (b *backoffs) exitFromMS(leg *leg) int64 {
	for _, one := range b.all {
		if one.strategy == leg.config.Name && one.symbol == leg.symbol.Key() && b.nowMS < one.untilMS &&
			(one.purpose == placement.Exit || b.cancelsStop(one)) {
			one.derivedMS = b.nowMS
			return one.untilMS
		}
	}
	return 0
}

// cancelsStop reports whether the exchange refuses to cancel a stop.
func (b *backoffs) cancelsStop(one *backoff) bool {
	if one.purpose != placement.Cancel {
		return false
	}
	p := b.book.Placement(one.key)
	return p != nil && p.Purpose() == placement.StopLoss
}

// readAgain has what the exchange refused of a symbol that could not be read sent as after a first refusal, since it
// can be read again: not sooner, since what was read then may be older. How often it was refused still counts.
func (b *backoffs) readAgain(key exchange.SymbolKey) {
	for _, one := range b.all {
		if one.symbol == key {
			one.untilMS = min(one.untilMS, max(b.nowMS, one.lastMS+firstReduceMS))
		}
	}
}

// nextMS is when the next of the intents that are wanted may be sent again; never for none.
func (b *backoffs) nextMS() int64 {
	next := int64(never)
	for _, one := range b.all {
		if one.untilMS > b.nowMS && b.nowMS-one.derivedMS <= currentMS {
			next = min(next, one.untilMS)
		}
	}
	return next
}

// watch forgets what is not wanted any more, and notes what begins and ends.
func (b *backoffs) watch() {
	b.all = slices.DeleteFunc(b.all, func(one *backoff) bool {
		symbol := b.book.Symbol(one.symbol)
		over := b.nowMS-one.derivedMS > forgetBackoffMS
		switch {
		case one.purpose == placement.Cancel:
			over = over || b.book.Placement(one.key) == nil
		case !one.purpose.Opens() && one.purpose != placement.Leverage:
			over = over || symbol.Settled && symbol.Position == 0 && symbol.Contradicted == ""
		}
		if over {
			b.over(one)
		}
		return over
	})
	for _, one := range b.all {
		if declared := b.declares(one); declared && !one.noted {
			one.noted = true
			b.note(one.strategy, b.book.Symbol(one.symbol).Rules, NoteIntentRefused{Purpose: one.purpose, Why: b.text(one)})
		} else if !declared {
			b.over(one)
		}
	}
}

func (b *backoffs) over(one *backoff) {
	if one.noted {
		one.noted = false
		b.note(one.strategy, b.book.Symbol(one.symbol).Rules, NoteIntentRefused{Purpose: one.purpose, Why: one.name(), Over: true})
	}
}

// declares reports whether an intent is declared refused. A stop's refusal is part of
// its position's state: unprotected.
func (b *backoffs) declares(one *backoff) bool {
	return one.refused >= declaredAfter && b.nowMS-one.derivedMS <= currentMS && one.purpose != placement.StopLoss
}

// stopRefused returns the stop of a symbol, or the exit in its place, that the exchange
// refused most recently; nil when it refused none often enough.
func (b *backoffs) stopRefused(key exchange.SymbolKey) (newest *backoff) {
	for _, one := range b.all {
		if one.symbol == key && one.purpose == placement.StopLoss && one.refused >= unprotectedAfter && (newest == nil || one.lastMS > newest.lastMS) {
			newest = one
		}
	}
	return newest
}

// reason is what an intent that is wanted now is refused with, and when it is sent again;
// empty when it is not.
func (b *backoffs) reason(a attempt) string {
	if one := b.of(a); one != nil {
		return b.text(one)
	}
	return ""
}

// exitReason is why the exit of a strategy's position waits; empty when it does not.
func (b *backoffs) exitReason(leg *leg) string {
	for _, one := range b.all {
		if one.strategy == leg.config.Name && one.symbol == leg.symbol.Key() && one.purpose == placement.Exit {
			return b.text(one)
		}
	}
	return ""
}

func (b *backoffs) text(one *backoff) string {
	times := "once"
	if one.refused > 1 {
		times = fmt.Sprintf("%d times in a row", one.refused)
	}
	return fmt.Sprintf("the exchange refuses the %s, %s: %s; tried again at %s", one.name(), times, one.why,
		time.UnixMilli(one.untilMS).UTC().Format("15:04:05"))
}

// name is what is refused, in words.
func (a *attempt) name() string {
	switch {
	case a.purpose == placement.StopLoss && (a.kind == exchange.MarketOrder || a.kind == exchange.Limit):
		return "exit in place of the stop"
	case a.purpose == placement.StopLoss:
		return "stop"
	case a.purpose == placement.TakeProfit:
		return "take-profit"
	case a.purpose == placement.Cancel:
		return "cancel of " + a.key
	case a.key != "":
		return strings.ReplaceAll(a.purpose.String(), "_", " ") + " " + a.key
	}
	return strings.ReplaceAll(a.purpose.String(), "_", " ")
}

// venueText is the exchange's code and text, on one line and bounded.
func venueText(code int, text string) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
	if len(text) > maxVenueText {
		text = strings.ToValidUTF8(text[:maxVenueText], "") + "…"
	}
	if code == 0 {
		return text
	}
	return fmt.Sprintf("%d %s", code, text)
}

// declared is why an intent of a strategy is declared refused; empty when none is.
func (b *backoffs) declared(strategy string) string {
	for _, one := range b.all {
		if one.strategy == strategy && b.declares(one) {
			return b.text(one)
		}
	}
	return ""
}
