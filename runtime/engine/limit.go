package engine

import (
	"strings"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/record"
	"botd/risk"
)

// limits are those that follow equity and results from round to round: daily loss,
// drawdown, losing streak. The journal holds what they remember. A breach holds entries back
// and cancels resting openings until it ends.
type limits struct {
	*base
	watching bool // between rounds too
}

// watchLimits checks every limit that follows equity.
func (e *limits) watchLimits(fetched bool) {
	if !fetched && !e.watching {
		return
	}
	total, known := e.total()
	if !known {
		return
	}
	e.regroup()
	e.watch(e.book.Watch(""), nil, total, &e.config.Limits)
	for _, r := range e.runs {
		if r.config.Limits.Watches() {
			e.watch(e.book.Watch(r.config.Name), r, e.own(r), &r.config.Limits)
		}
	}
}

// watch updates the day and the peak of one scope, ends breaches whose time is over and
// latches limits that are crossed. The peak is journalled in steps of a thousandth.
func (e *limits) watch(w *account.Watch, r *run, equity exchange.Amount, limits *risk.Limits) {
	start := exchange.Day1.OpenOf(e.nowMS)
	step := w.Day().Peak.MulRate(exchange.RateOne / 1000)
	switch {
	case w.Day().StartMS == 0 || w.Day().StartMS != start:
		day := account.Day{StartMS: start, Equity: equity, Peak: w.Day().Peak.Max(equity)}
		if w.Day().StartMS == 0 {
			day.Peak = equity
		}
		if r == nil {
			day.Markets, day.Spot = e.markets(), e.onSpot()
		}
		e.recordDay(w.Strategy(), day)
	case w.Day().Peak.Add(step).Less(equity):
		day := w.Day()
		day.Peak = equity
		e.recordDay(w.Strategy(), day)
	}
	for i := len(w.Breaches()) - 1; i >= 0; i-- {
		if b := w.Breaches()[i]; b.Over(e.nowMS) {
			e.endBreach(w.Strategy(), r, b.Rule, "its time is over")
		}
	}
	for _, c := range limits.Crossed(risk.ByEquity, e.nowMS, e.book, w.Strategy(), equity) {
		e.breach(r, w.Strategy(), &c)
	}
}

func (e *limits) recordDay(strategy string, day account.Day) {
	e.record(
		record.Record{
			Strategy: strategy,
			Body:     record.Day{StartMS: day.StartMS, Equity: day.Equity, Peak: day.Peak, Markets: day.Markets, Spot: day.Spot},
		},
	)
}

// regroup adjusts what the account's losses are measured from when the account starts or
// stops trading a market: its equity changes then without a gain or a loss. A market that
// is no longer traded takes the part with it that the day began with.
func (e *limits) regroup() {
	day, now := e.book.Watch("").Day(), e.markets()
	if day.StartMS == 0 || day.Markets == now {
		return
	}
	before := day.Markets
	if day.Markets = now; before == "" { // journalled before parts were
		day.Spot = e.onSpot()
		e.recordDay("", day)
		return
	}
	futures, spot := exchange.Futures.String(), exchange.Spot.String()
	shift := func(by exchange.Amount) { day.Equity, day.Peak = day.Equity.Add(by), day.Peak.Add(by) }
	if strings.Contains(before, futures) && !strings.Contains(now, futures) {
		shift(day.Spot.Sub(day.Equity))
	}
	if strings.Contains(before, spot) && !strings.Contains(now, spot) {
		shift(day.Spot.Neg())
		day.Spot = exchange.Amount{}
	}
	if !strings.Contains(before, futures) && strings.Contains(now, futures) {
		shift(e.marked(exchange.Futures))
	}
	if !strings.Contains(before, spot) && strings.Contains(now, spot) {
		day.Spot = e.onSpot()
		shift(day.Spot)
	}
	e.recordDay("", day)
}

// breach holds a scope's entries back, reports it, and has its resting openings
// canceled.
func (e *limits) breach(r *run, strategy string, c *risk.Crossing) {
	e.record(record.Record{Strategy: strategy, Body: record.Breach{Rule: c.Rule, Why: c.Why, UntilMS: c.UntilMS}})
	fact := NoteLimit{Rule: c.Rule, Why: c.Why}
	if c.UntilMS != 0 {
		fact.ForMS = c.UntilMS - e.nowMS
	}
	e.note(strategy, r.symbol(), fact)
	e.soon()
}

func (e *limits) endBreach(strategy string, r *run, rule, why string) {
	e.record(record.Record{Strategy: strategy, Body: record.Breach{Rule: rule}})
	e.note(strategy, r.symbol(), NoteLimit{Rule: rule, Why: why, Over: true})
	e.soon()
}

// breached returns the breach that holds a strategy's entries back, or nil.
func (e *limits) breached(strategy string) *account.Breach {
	for _, name := range [...]string{"", strategy} {
		for i := range e.book.Watch(name).Breaches() {
			if b := &e.book.Watch(name).Breaches()[i]; !b.Over(e.nowMS) {
				return b
			}
		}
	}
	return nil
}

// rearmed ends the breaches of a scope that botd rearm ends. The drawdown is measured from
// the present equity on; a daily loss stays until its day is over.
func (e *limits) rearmed(strategy string) {
	w, r := e.book.Watch(strategy), e.runNamed(strategy)
	for i := len(w.Breaches()) - 1; i >= 0; i-- {
		if rule := w.Breaches()[i].Rule; risk.Rearms(rule) {
			e.endBreach(strategy, r, rule, "armed again")
		}
	}
	equity, known := e.total()
	if known = known && (strategy == "" || r != nil); r != nil { // nothing is known of a removed strategy
		equity = e.own(r)
	}
	if known && w.Day().StartMS != 0 {
		day := w.Day()
		day.Peak = equity
		e.recordDay(strategy, day)
	}
}

// turnMS returns when limits change by time alone: at the end of the UTC day or of a
// breach.
func (e *limits) turnMS() int64 {
	turn := exchange.Day1.OpenOf(e.nowMS) + int64(exchange.Day1)
	earliest := func(scope string) {
		for _, b := range e.book.Watch(scope).Breaches() {
			if b.UntilMS > e.nowMS {
				turn = min(turn, b.UntilMS)
			}
		}
	}
	earliest("")
	for _, r := range e.runs {
		earliest(r.config.Name)
	}
	return turn
}

// limitedBy returns a scope's breaches as declared states.
func (e *limits) limitedBy(strategy string) (all []Degraded) {
	scope := account.Scope{Strategy: strategy}
	for _, b := range e.book.Watch(strategy).Breaches() {
		if b.Over(e.nowMS) {
			continue
		}
		wayOut := "botd rearm" + flagOf(scope)
		if b.UntilMS != 0 {
			wayOut = "ends by itself; exits and stops go on"
		}
		all = append(
			all,
			Degraded{State: "limit", Scope: scope, Cause: b.Rule + ": " + b.Why, SinceMS: b.SinceMS, UntilMS: b.UntilMS, WayOut: wayOut},
		)
	}
	return all
}
