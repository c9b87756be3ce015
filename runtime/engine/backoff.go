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

// The time after which a refused intent is sent again: the first wait, doubled with each refusal with
// the same code, up to the longest.
const (
	firstReduceMS   = 1_000 // stops, exits, cancels
	longestReduceMS = 60_000
	firstOpenMS     = 5_000 // openings, leverage
	longestOpenMS   = 300_000
	longestClockMS  = 15_000 // the clock is read again meanwhile
	firstKeyMS      = 30_000 // an opening under a key that is not accepted: a person has to fix it
)

// Bounds of the remembered refusals.
const (
	maxAtOnce        = 8       // refusals of one intent at the same moment of a backtest
	declaredAfter    = 3       // consecutive refusals until an intent is declared refused
	unprotectedAfter = 2       // refusals until a position whose stop is refused counts as unprotected
	currentMS        = 30_000  // an intent not derived for longer than this counts as no longer desired
	forgetBackoffMS  = 600_000 // an intent not derived for this long starts over
	maxCodes         = 16      // codes counted separately
	maxVenueText     = 200     // bytes of the exchange's text
)

// attempt identifies an intent across rounds. A market exit instead of a stop is a different intent from
// the stop.
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

// backoff holds the consecutive refusals of an intent by the exchange, and the end of its wait.
type backoff struct {
	attempt
	refused   int
	codes     map[int]int // number of refusals by code
	why       string      // the newest refusal: code and text
	sinceMS   int64       // time of the first refusal
	lastMS    int64
	untilMS   int64
	derivedMS int64 // when it was last derived
	noted     bool
	quantity  exchange.Quantity // of the order that was refused last; 0 if it has none, or is from before the start
}

// backoffs makes intents that the exchange refuses wait, longer each time: protection and exits up to a
// minute, openings up to five.
type backoffs struct {
	*outbox
	feed bool       // Config.Feed: a backtest
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

// holds reports whether an intent waits, and records that it was derived.
func (b *backoffs) holds(intent *reconcile.Intent) bool {
	if b.saleRefused(intent) {
		return true
	}
	one := b.of(attemptOf(intent))
	if one == nil {
		return false
	}
	one.derivedMS = b.nowMS
	smaller := intent.Order.Type.StopLoss() && intent.Order.Quantity > 0 && intent.Order.Quantity < one.quantity // the exchange may lack only the difference
	return b.nowMS < one.untilMS && !smaller
}

// saleRefused reports whether, on spot, the exchange has just refused another immediate sale of the same
// position: the plan's exit, or the exit instead of a stop. It may have executed that sale, which a read
// shows a moment later.
func (b *backoffs) saleRefused(intent *reconcile.Intent) bool {
	this := attemptOf(intent)
	return this.sellsAtOnce() && slices.ContainsFunc(b.all, func(one *backoff) bool {
		return one.sellsAtOnce() && one.strategy == this.strategy && one.symbol == this.symbol && b.nowMS < one.lastMS+firstReduceMS
	})
}

// sellsAtOnce reports whether an intent is an immediate spot exit, whatever its reason.
func (a *attempt) sellsAtOnce() bool {
	return a.symbol.Market == exchange.Spot && a.kind == exchange.Limit && (a.purpose == placement.Exit || a.purpose == placement.StopLoss)
}

// refused counts a refusal. In a backtest, time is candle time, and only an intent that is refused
// repeatedly at the same moment waits: that happens on spot, where a cancel frees the asset after a
// delay.
func (b *backoffs) refused(a attempt, code int, text string, unauthorized bool) {
	if !b.feed || b.repeatsAtOnce(a) {
		b.count(a, code, text, unauthorized, b.nowMS)
	}
}

// restore loads the refusals from before this start from the journal: a process that restarts
// repeatedly sends no more orders than one that keeps running. If the exchange did not know the symbol, it could not be read either, and the start reads
// it again.
func (b *backoffs) restore() {
	for _, r := range b.tracker.RefusedIntents() {
		if b.feed || b.nowMS-r.LastMS > forgetBackoffMS {
			continue
		}
		for _, one := range r.Of {
			a, refusal := attempt{r.Strategy, r.Symbol, r.Purpose, r.Key, r.Type}, exchange.Refusal{Code: one.Code}
			b.count(a, one.Code, one.Reason, false, min(one.AtMS, b.nowMS))
			if refusal.UnknownSymbol() {
				b.sendSooner(b.of(a))
			}
		}
	}
}

// count adds a refusal that happened at a given time.
func (b *backoffs) count(a attempt, code int, text string, unauthorized bool, atMS int64) {
	one := b.of(a)
	if one == nil {
		one = &backoff{attempt: a, codes: map[int]int{}, sinceMS: atMS}
		b.all = append(b.all, one)
	}
	if len(one.codes) >= maxCodes && one.codes[code] == 0 {
		code = 0 // further codes are counted as one
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

func (b *backoffs) repeatsAtOnce(a attempt) bool {
	if b.spin.attempt != a || b.spin.atMS != b.nowMS {
		b.spin.attempt, b.spin.atMS, b.spin.count = a, b.nowMS, 0
	}
	b.spin.count++
	return b.spin.count > maxAtOnce
}

// refusedOrder counts the refusal of an order.
func (b *backoffs) refusedOrder(p *account.Placement, refusal *exchange.Refusal) {
	a := attemptAt(p)
	b.refusedBy(a, refusal)
	if one := b.of(a); one != nil {
		one.quantity = p.Order().Quantity
	}
}

// refusedBy counts a refusal that answers a call. Other errors are not refusals.
func (b *backoffs) refusedBy(a attempt, refusal *exchange.Refusal) {
	b.refused(a, refusal.Code, refusal.Message, refusal.Unauthorized())
}

// clear forgets the refusals of an intent that the exchange has accepted.
func (b *backoffs) clear(a attempt) {
	b.all = slices.DeleteFunc(b.all, func(one *backoff) bool {
		if one.attempt != a {
			return false
		}
		b.reportEnded(one)
		return true
	})
}

// settled counts the final state of a placement that the exchange had accepted. A post-only order that
// would have matched was rejected only for its price, and has a wait of its own.
func (b *backoffs) settled(p *account.Placement) {
	switch p.State() {
	case placement.Working, placement.Filled:
		b.accepted(p)
	case placement.Rejected:
		if !p.Order().PostOnly {
			b.refused(attemptAt(p), 0, "accepted, then rejected", false)
		}
	case placement.Canceled:
		if b.tracker.Symbol(p.Symbol()).Denied(p) {
			b.refused(attemptAt(p), 0, "accepted, then canceled before a list showed it", false)
		}
	}
}

// accepted forgets the refusals of an intent whose order rests, or rested until botd canceled it, and on futures those of the other forms of the same
// protection: the stop, its bridge, the exit in its place. An order from before the refusals does not count.
func (b *backoffs) accepted(p *account.Placement) {
	if len(b.all) == 0 {
		return
	}
	a := attemptAt(p)
	protects := a.purpose == placement.StopLoss && a.symbol.Market == exchange.Futures
	for _, one := range slices.Clone(b.all) {
		same := protects && one.purpose == a.purpose && one.symbol == a.symbol && one.strategy == a.strategy
		if (same || one.attempt == a) && p.SentMS() >= one.lastMS {
			b.clear(one.attempt)
		}
	}
}

// released forgets the refusals of a spot symbol's stops when a stop ends, which held the asset that the refused ones needed, or when a purchase fills,
// which brings it.
func (b *backoffs) released(key exchange.SymbolKey) {
	for _, one := range slices.Clone(b.all) {
		if one.symbol == key && one.purpose == placement.StopLoss && one.key != reconcile.UnconfirmedKey {
			b.clear(one.attempt)
		}
	}
}

// exitFromMS returns when a waiting exit is sent again or, on spot, when the cancel of a blocking stop
// is sent again; 0 if neither waits. Until then stops stay: they hold the asset, or count in the
// exchange's sum.
func (b *backoffs) exitFromMS(leg *leg) int64 {
	for _, one := range b.all {
		if one.strategy == leg.config.Name && one.symbol == leg.symbol.Key() && b.nowMS < one.untilMS &&
			(one.purpose == placement.Exit || one.symbol.Market == exchange.Spot && b.cancelsStop(one)) {
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
	p := b.tracker.Placement(one.key)
	return p != nil && p.Purpose() == placement.StopLoss
}

// readAgain resets the waits of a symbol that can be read again to the wait of a first refusal. They do
// not become shorter, because the earlier read may be older. The refusal counts stay.
func (b *backoffs) readAgain(key exchange.SymbolKey) {
	for _, one := range b.all {
		if one.symbol == key {
			b.sendSooner(one)
		}
	}
}

func (b *backoffs) sendSooner(one *backoff) {
	one.untilMS = min(one.untilMS, max(b.nowMS, one.lastMS+firstReduceMS))
}

// nextMS returns when the next desired intent may be sent again; never for none.
func (b *backoffs) nextMS() int64 {
	next := int64(never)
	for _, one := range b.all {
		if one.untilMS > b.nowMS && b.nowMS-one.derivedMS <= currentMS {
			next = min(next, one.untilMS)
		}
	}
	return next
}

// watch forgets intents that are no longer desired, and reports refusals that begin or end.
func (b *backoffs) watch() {
	b.all = slices.DeleteFunc(b.all, func(one *backoff) bool {
		symbol := b.tracker.Symbol(one.symbol)
		over := b.nowMS-one.derivedMS > forgetBackoffMS || b.stillRests(one)
		switch {
		case one.purpose == placement.Cancel:
			over = over || b.tracker.Placement(one.key) == nil
		case !one.purpose.Opens() && one.purpose != placement.Leverage:
			over = over || symbol.Settled() && symbol.Position() == 0 && symbol.Contradicted() == "" && !b.stopStillDesired(one)
		}
		if over {
			b.reportEnded(one)
		}
		return over
	})
	for _, one := range b.all {
		if declared := b.declares(one); declared && !one.noted {
			one.noted = true
			b.note(one.strategy, b.symbolOf(one.symbol), NoteIntentRefused{Purpose: one.purpose, Reason: b.text(one)})
		} else if !declared {
			b.reportEnded(one)
		}
	}
}

// stillRests reports whether a refused stop rests after all, as found since the newest refusal: the exchange had executed it, and refused the later ones
// because it holds the asset. The next stop is a different order.
func (b *backoffs) stillRests(one *backoff) bool {
	return one.purpose == placement.StopLoss && b.tracker.AnyLive(func(p *account.Placement) bool {
		return p.Purpose() == one.purpose && p.Symbol() == one.symbol && p.Strategy() == one.strategy && p.Order().Type == one.kind &&
			p.State() == placement.Working && !p.Duplicate() && p.SentMS() >= one.lastMS
	})
}

// stopStillDesired reports whether a spot stop is still desired although nothing is left of its position: while botd stands down, it is sent whatever the
// wallet shows. On futures a settled position has ended, and the next one needs its stop at once.
func (b *backoffs) stopStillDesired(one *backoff) bool {
	return one.purpose == placement.StopLoss && one.symbol.Market == exchange.Spot && b.tracker.StandsDown() && b.nowMS-one.derivedMS <= currentMS
}

func (b *backoffs) reportEnded(one *backoff) {
	if one.noted {
		one.noted = false
		b.note(one.strategy, b.symbolOf(one.symbol), NoteIntentRefused{Purpose: one.purpose, Reason: one.name(), Ended: true})
	}
}

// declares reports whether a refused intent appears in the declared states. A refused stop appears as *unprotected*
// instead.
func (b *backoffs) declares(one *backoff) bool {
	return one.refused >= declaredAfter && b.nowMS-one.derivedMS <= currentMS && one.purpose != placement.StopLoss
}

// stopRefused returns the symbol's stop, or the exit instead of a stop, that the exchange refused most
// recently; nil if it refused none often enough.
func (b *backoffs) stopRefused(key exchange.SymbolKey) (newest *backoff) {
	for _, one := range b.all {
		stop := one.purpose == placement.StopLoss && one.key != reconcile.UnconfirmedKey
		if stop && one.symbol == key && one.refused >= unprotectedAfter && (newest == nil || one.lastMS > newest.lastMS) {
			newest = one
		}
	}
	return newest
}

// reason returns why a currently desired intent is refused and when it is sent again, or an empty
// string.
func (b *backoffs) reason(a attempt) string {
	if one := b.of(a); one != nil {
		return b.text(one)
	}
	return ""
}

// exitReason returns why the exit of a strategy's position waits, or an empty string.
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
	return fmt.Sprintf("the exchange refuses the %s, %s: %s; retried at %s", one.name(), times, one.why,
		time.UnixMilli(one.untilMS).UTC().Format("15:04:05"))
}

// name describes the refused intent.
func (a *attempt) name() string {
	switch {
	case a.purpose == placement.StopLoss && (a.kind == exchange.MarketOrder || a.kind == exchange.Limit):
		return "exit instead of the stop"
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

// venueText returns the exchange's code and text, on one line and shortened.
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

// declared returns why an intent of a strategy that appears in the declared states was refused, or an empty string.
func (b *backoffs) declared(strategy string) string {
	for _, one := range b.all {
		if one.strategy == strategy && b.declares(one) {
			return b.text(one)
		}
	}
	return ""
}
