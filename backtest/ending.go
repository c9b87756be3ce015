package backtest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/runtime/engine"
	"botd/strategy"
)

// EndedBy is the event that ended trading before the last candle.
type EndedBy struct {
	Limit    string    `json:"limit"` // a limit's name, or halt, quarantine, strategy_failed, liquidation, stop_when
	Time     time.Time `json:"time"`
	Value    string    `json:"value"`              // for a limit the share lost, else the reason
	Strategy string    `json:"strategy,omitempty"` // for a limit of one strategy
	Text     string    `json:"text"`
}

// Short returns the limit and its day, for tables. It returns an empty string for nil.
func (e *EndedBy) Short() string {
	if e == nil {
		return ""
	}
	return e.Limit + " " + e.Time.Format(time.DateOnly)
}

// NotTraded counts a strategy's desired trades that one reason prevented.
type NotTraded struct {
	Strategy string `json:"strategy"`
	Reason   string `json:"reason"`
	Count    int    `json:"count"`
	Signals  int    `json:"signals,omitempty"` // for latched signals: the total number of signals
	First    string `json:"first"`             // the first occurrence, in words
}

// ShortOf returns the most frequent reason and its count, for tables. It returns an empty string for an empty list.
func ShortOf(all []NotTraded) string {
	if len(all) == 0 {
		return ""
	}
	most := slices.MaxFunc(all, func(a, b NotTraded) int { return cmp.Compare(a.Count, b.Count) })
	return fmt.Sprintf("%d %s", most.Count, most.Reason)
}

// Reasons for trades that did not happen. The rule's name follows those of rules.
const (
	roundedToNothing = "rounded to nothing"
	belowMinimum     = "below minNotional"
	latched          = "latched" // signals
	refusedBy        = "refused by rule "
	rejectedBy       = "rejected by the exchange: "
	heldBackBy       = "held back by "
	signalRefused    = "signal refused: "
)

// suppressed counts a trade that did not happen.
func (e *events) suppressed(name, reason string, first func() string) {
	at := slices.IndexFunc(e.notTraded, func(n NotTraded) bool { return n.Strategy == name && n.Reason == reason })
	if at < 0 {
		e.notTraded = append(e.notTraded, NotTraded{Strategy: name, Reason: reason, First: first()})
		at = len(e.notTraded) - 1
	}
	e.notTraded[at].Count++
}

// limited records whether a limit holds entries back.
func (e *events) limited(note *engine.Note, fact *engine.NoteLimit) {
	if fact.Ended {
		e.breaches = slices.DeleteFunc(e.breaches, func(b EndedBy) bool { return b.Limit == fact.Rule && b.Strategy == note.Strategy })
		return
	}
	if fact.ForMS != 0 {
		e.heldBack = counted(e.heldBack, fact.Rule)
		e.firstHeld = cmp.Or(e.firstHeld, fmt.Sprintf("%s, on %s", fact.Reason, utc(note.AtMS).Format(time.RFC3339)))
	}
	e.breaches = append(e.breaches, EndedBy{fact.Rule, utc(note.AtMS), shareLost(fact.Reason), note.Strategy, fact.Rule + ": " + fact.Reason})
}

// shareLost returns the loss in "lost A USDT of B USDT, ..." as a share. It returns any other text unchanged.
func shareLost(why string) string {
	words := strings.Fields(why)
	if len(words) < 5 || words[0] != "lost" || words[3] != "of" {
		return why
	}
	lost, err := decimal.NewFromString(words[1])
	whole, wrong := decimal.NewFromString(words[4])
	if err != nil || wrong != nil || whole.Sign() <= 0 {
		return why
	}
	return lost.DivRound(whole, 6).String()
}

// decided counts a target that cannot be traded, or not at present.
func (e *events) decided(name string, s *exchange.Symbol, target strategy.Target, last exchange.Price, equity exchange.Amount) {
	if target.Kind == strategy.NoTarget || target.Sign() == 0 || last <= 0 || s == nil {
		return
	}
	for i := range e.breaches {
		if b := &e.breaches[i]; b.Strategy == "" || b.Strategy == name {
			e.suppressed(name, heldBackBy+b.Limit, func() string { return b.Text })
			return
		}
	}
	money := target.Quote
	quantity := target.Quantity.Abs()
	if target.Kind == strategy.ByEquity {
		money = equity.MulRate(max(target.Share, -target.Share))
	}
	if target.Kind != strategy.ByQuantity {
		quantity = s.QuantityFor(money.Max(money.Neg()), last)
	}
	quantity = s.FloorQuantity(quantity)
	order := func() string {
		if at := s.PriceDecimal(last); target.Kind == strategy.ByQuantity {
			return fmt.Sprintf("%s at %s", s.QuantityDecimal(target.Quantity.Abs()), at)
		} else {
			return fmt.Sprintf("%s USDT at %s", money.Decimal().StringFixed(2), at)
		}
	}
	switch step := s.Notional(last, s.QuantityTick); {
	case quantity == 0:
		e.suppressed(name, roundedToNothing, func() string {
			return fmt.Sprintf("%s: one step of %s, %s, is worth %s", order(), s.Name, s.QuantityDecimal(s.QuantityTick),
				step.Decimal().StringFixed(2))
		})
	case s.BelowMinimum(last, quantity):
		e.suppressed(name, belowMinimum, func() string {
			return fmt.Sprintf("%s: %s accepts orders of %s and more", order(), s.Name, s.MinNotional)
		})
	}
}

// endedBy returns the event that ended trading of the whole account, or of its only strategy.
func (r *run) endedBy() *EndedBy {
	e, l := &r.ledger.events, &r.ledger
	if r.stopped != nil {
		return r.stopped
	}
	for i := range e.breaches {
		if b := e.breaches[i]; b.Strategy == "" || len(r.legs) == 1 {
			return &b
		}
	}
	if l.liquidations > 0 && l.equity.Less(l.initial.Div(100)) {
		return &EndedBy{Limit: "liquidation", Time: utc(e.liquidatedMS), Value: l.equity.String(), Text: "the margin was used up"}
	}
	if e.ended != nil && (e.ended.Strategy == "" || len(r.legs) == 1) {
		return e.ended
	}
	return nil
}

// ends records an event, other than a limit, that ends trading. The first one counts.
func (e *events) ends(note *engine.Note, what, why string) {
	if e.ended == nil {
		e.ended = &EndedBy{what, utc(note.AtMS), why, note.Strategy, why}
	}
}

// boundWarnings warns about events that bounded or ended the run.
func (r *run) boundWarnings(add func(code, format string, arguments ...any)) {
	e := &r.ledger.events
	if ended := r.endedBy(); ended != nil {
		add(LimitEnded, "trading ended on %s, after %.0f %% of the time: %s", ended.Time.Format(time.RFC3339), 100*r.passed(ended.Time), ended.Text)
	}
	for _, held := range ranked(e.heldBack) {
		add(LimitHeldBack, "%s held entries back %d times; the first: %s", held.Rule, held.Count, e.firstHeld)
	}
	for _, n := range e.notTraded {
		switch {
		case n.Reason == roundedToNothing || n.Reason == belowMinimum:
			add(TradesNotExecuted, "%s: %d targets were not traded, %s; the first: %s", n.Strategy, n.Count, n.Reason, n.First)
		case strings.HasPrefix(n.Reason, signalRefused):
			add(TradesNotExecuted, "%s: %d signals were not taken, %s; the first: %s", n.Strategy, n.Count, n.Reason, n.First)
		}
	}
}

// latchWarnings names strategies that are latched at the end, and were for much of the run.
func (r *run) latchWarnings(add func(code, format string, arguments ...any)) {
	const notable = 0.1 // of the time
	for _, s := range r.machine.Status().Strategies {
		for i := len(r.ledger.trips) - 1; i >= 0 && (s.Latch != 0 || s.Spent); i-- {
			trip := &r.ledger.trips[i]
			if r.legs[trip.leg].config.Strategy.Name != s.Name {
				continue
			}
			waited := 1 - r.passed(utc(trip.LeftMS))
			switch {
			case waited < notable:
			case s.Latch == 0:
				add(OrdersSpent, "%s: nothing has been traded since %s, for %.0f %% of the time: %s. A script leaves them out for a decision "+
					"(plan(orders = [])) when a trade is over, or gives the next ones other keys", s.Name, utc(trip.LeftMS).Format(time.RFC3339),
					100*waited, s.StateReason)
			default:
				add(Latched, "%s: latched since %s, for %.0f %% of the time, after %s: its target still desires that side, and %s. "+
					"A script returns None or hold(\"flat\") when a trade is over; reentry: immediate enters again at once", s.Name,
					utc(trip.LeftMS).Format(time.RFC3339), 100*waited, r.ledger.exitReason(trip), s.StateReason)
			}
			break
		}
	}
}

// signals returns the number of a strategy's latched signals plus those that led to an entry.
func (r *run) signals(n *NotTraded) int {
	all := n.Count
	for i := range r.ledger.trips {
		if r.legs[r.ledger.trips[i].leg].config.Strategy.Name == n.Strategy {
			all++
		}
	}
	for i := range r.legs {
		if r.legs[i].config.Strategy.Name == n.Strategy && r.legs[i].held.open.pair.Begun() {
			all++
		}
	}
	return all
}

// notTraded returns the trades that did not happen; for latched signals it adds the total number of signals.
func (r *run) notTraded() []NotTraded {
	all := append([]NotTraded{}, r.ledger.events.notTraded...)
	for i := range all {
		if all[i].Reason == latched {
			all[i].Signals = r.signals(&all[i])
		}
	}
	return all
}

// passed returns the share of the run's time before a moment.
func (r *run) passed(at time.Time) float64 {
	fromMS := int64(never)
	for i := range r.legs {
		fromMS = min(fromMS, r.legs[i].candles.OpenMS[0])
	}
	return float64(at.UnixMilli()-fromMS) / float64(max(1, r.nowMS-fromMS))
}
