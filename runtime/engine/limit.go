package engine

import (
	"slices"
	"strings"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/record"
	"botd/risk"
)

// limits are the limits that follow equity and results from round to round: daily loss, drawdown,
// losing streak. Their memory is in the journal. A breach blocks entries and cancels resting
// openings until it ends.
type limits struct {
	*base
	watching   bool                               // limits are also checked between rounds
	mixed      bool                               // positions and money are from two different moments, so the equity would mix them
	ahead      bool                               // a wallet includes a fill that no list shows yet
	unmixed    exchange.Amount                    // the account's equity when they were last from one moment; zero before
	unpricedMS int64                              // since when a position has had no price; 0: all have one
	flow       [exchange.Spot + 1]exchange.Amount // USDT that apparently moved into or out of each market since the ledger's last posting
	peaks
}

// displayedEquity returns the account's equity for display. While a wallet includes a fill that no list shows yet,
// or a position has no price, it is the previous equity.
func (l *limits) displayedEquity() (total exchange.Amount, known bool) {
	unpriced := l.awaitsPrice(l.legs...)
	if (l.ahead || unpriced) && !l.unmixed.IsZero() {
		return l.unmixed, true
	}
	total, known = l.total()
	return total, known && !unpriced
}

// priceWaitMS limits how long limits wait for the price of a position. The price of a symbol whose calls
// fail may never arrive: after this time its position counts as lost, and all limits are checked.
const priceWaitMS = 60_000

// awaitsPrice reports whether a position of one of these strategies has had no price for less than priceWaitMS.
func (l *limits) awaitsPrice(legs ...*leg) bool {
	return slices.ContainsFunc(legs, l.unpriced) && (l.unpricedMS == 0 || l.nowMS < l.unpricedMS+priceWaitMS)
}

// watchLimits checks every limit that follows equity.
func (l *limits) watchLimits(fetched bool) {
	if !fetched && !l.watching || l.mixed {
		return
	}
	total, known := l.total()
	if !known {
		return
	}
	switch unpriced := slices.ContainsFunc(l.legs, l.unpriced); {
	case !unpriced:
		l.unpricedMS = 0
	case l.unpricedMS == 0:
		l.unpricedMS = l.nowMS
	}
	if !l.awaitsPrice(l.legs...) {
		l.unmixed = total
		total = total.Sub(l.unbooked()) // a transfer is neither a gain nor a loss
		l.regroup()
		l.watch(l.tracker.Watch(""), nil, total, &l.config.Limits)
	}
	for _, leg := range l.legs {
		if leg.config.Limits.Watches() && !l.awaitsPrice(leg) && l.tracker.Watch(leg.config.Name).Known() { // its equity is defined once it has a result
			l.watch(l.tracker.Watch(leg.config.Name), leg, l.strategyEquity(leg), &leg.config.Limits)
		}
	}
}

// unbooked returns the amount that apparently moved into or out of the account and is in no posting yet.
func (l *limits) unbooked() exchange.Amount {
	return l.flow[exchange.Futures].Add(l.flow[exchange.Spot])
}

// watch updates the day and the peak of one scope, ends expired breaches and records crossed limits. An estimate
// begins no day: the result may be lower, and losses would be measured from an equity that never existed. A day waits
// for at most a minute, because the money may be unreadable, and only its loss is not checked meanwhile.
func (l *limits) watch(w *account.Watch, leg *leg, equity exchange.Amount, limits *risk.Limits) {
	start := exchange.Day1.OpenOf(l.nowMS)
	estimated := leg != nil && l.estimated(leg)
	switch {
	case leg == nil:
	case !estimated:
		leg.money.estimatedMS = 0
	case leg.money.estimatedMS == 0:
		leg.money.estimatedMS = l.nowMS
	}
	l.confirmPeak(w, leg)
	waits := estimated && w.Day().StartMS != start && l.nowMS-max(start, leg.money.estimatedMS) < resultGiveUpMS
	if !waits {
		l.watchDay(w, leg, equity, start, estimated)
	}
	for _, b := range slices.Backward(slices.Collect(w.Breaches())) {
		if b.Expired(l.nowMS) {
			l.endBreach(w.Strategy(), leg, b.Rule, "its time has passed")
		}
	}
	for _, c := range limits.Crossed(risk.ByEquity, l.nowMS, l.tracker, w.Strategy(), equity) {
		if !waits || risk.Rearms(c.Rule) { // a limit that ends with its day is measured from that day's equity
			l.breach(leg, w.Strategy(), &c)
		}
	}
}

// watchDay begins a day, or raises its peak. The peak is journalled in steps of a thousandth, and an estimate does not
// raise it.
func (l *limits) watchDay(w *account.Watch, leg *leg, equity exchange.Amount, start int64, estimated bool) {
	day := w.Day()
	switch step := day.Peak.MulRate(exchange.RateOne / 1000); {
	case day.StartMS == 0 || day.StartMS != start:
		begun := account.Day{StartMS: start, Equity: equity, Peak: day.Peak}
		switch {
		case day.StartMS == 0:
			begun.Peak = equity
		case !estimated:
			begun.Peak = begun.Peak.Max(equity)
		}
		if leg == nil {
			begun.Markets, begun.Spot = l.markets(), l.onSpot()
		}
		l.recordDay(w.Strategy(), begun)
	case !estimated && day.Peak.Add(step).Less(equity):
		l.notePeak(w, leg, equity)
		day.Peak = equity
		l.recordDay(w.Strategy(), day)
	}
}

func (l *limits) recordDay(strategy string, day account.Day) {
	l.record(
		record.Record{Strategy: strategy, Body: record.Day{StartMS: day.StartMS, Equity: day.Equity, Peak: day.Peak, Markets: day.Markets, Spot: day.Spot}},
	)
}

// regroup adjusts the basis of the account's losses when the account starts or stops trading a
// market, because its equity then changes without a gain or a loss. A market that is no longer
// traded is removed with its part of the day's starting equity.
func (l *limits) regroup() {
	day, now := l.tracker.Watch("").Day(), l.markets()
	if day.StartMS == 0 || day.Markets == now {
		return
	}
	before := day.Markets
	if day.Markets = now; before == "" { // journalled before the parts of the equity were recorded
		day.Spot = l.onSpot()
		l.recordDay("", day)
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
		shift(l.equity(exchange.Futures))
	}
	if !strings.Contains(before, spot) && strings.Contains(now, spot) {
		day.Spot = l.onSpot()
		shift(day.Spot)
	}
	l.recordDay("", day)
}

// shift moves the basis of the account's losses by an external transfer.
func (l *limits) shift(market exchange.Market, by exchange.Amount) {
	day := l.tracker.Watch("").Day()
	if day.StartMS == 0 {
		return
	}
	day.Equity, day.Peak = day.Equity.Add(by), day.Peak.Add(by)
	if market == exchange.Spot {
		day.Spot = day.Spot.Add(by)
	}
	l.recordDay("", day)
}

// breach blocks a scope's entries, reports it, and cancels its resting openings.
func (l *limits) breach(leg *leg, strategy string, c *risk.CrossedLimit) {
	l.record(record.Record{Strategy: strategy, Body: record.Breach{Rule: c.Rule, Reason: c.Reason, UntilMS: c.UntilMS}})
	fact := NoteLimit{Rule: c.Rule, Reason: c.Reason}
	if c.UntilMS != 0 {
		fact.ForMS = c.UntilMS - l.nowMS
	}
	l.note(strategy, leg.noteSymbol(), fact)
	l.requestRoundSoon()
}

func (l *limits) endBreach(strategy string, leg *leg, rule, why string) {
	l.record(record.Record{Strategy: strategy, Body: record.Breach{Rule: rule}})
	l.note(strategy, leg.noteSymbol(), NoteLimit{Rule: rule, Reason: why, Ended: true})
	l.requestRoundSoon()
}

// breached reports whether a breach blocks a strategy's entries.
func (b *base) breached(strategy string) bool {
	for _, name := range [...]string{"", strategy} {
		for one := range b.tracker.Watch(name).Breaches() {
			if !one.Expired(b.nowMS) {
				return true
			}
		}
	}
	return false
}

// rearmed ends those breaches of a scope that "botd rearm" can end. The drawdown is then measured from
// the current equity; a daily loss stays until its day has ended.
func (l *limits) rearmed(strategy string) {
	w, leg := l.tracker.Watch(strategy), l.legNamed(strategy)
	for _, b := range slices.Backward(slices.Collect(w.Breaches())) {
		if risk.Rearms(b.Rule) {
			l.endBreach(strategy, leg, b.Rule, "rearmed")
		}
	}
	equity, known := l.total()
	switch {
	case leg != nil:
		equity, known = l.strategyEquity(leg), known && !l.awaitsPrice(leg)
	case strategy != "":
		known = false // nothing is known about a removed strategy
	default:
		known = known && !l.awaitsPrice(l.legs...)
	}
	if known && w.Day().StartMS != 0 {
		delete(l.provisional, strategy)
		day := w.Day()
		day.Peak = equity
		l.recordDay(strategy, day)
	}
}

// nextChangeMS returns when limits next change only because time passes: at the end of the UTC day or of a
// breach.
func (l *limits) nextChangeMS() int64 {
	turn := exchange.Day1.OpenOf(l.nowMS) + int64(exchange.Day1)
	earliest := func(scope string) {
		for b := range l.tracker.Watch(scope).Breaches() {
			if b.UntilMS > l.nowMS {
				turn = min(turn, b.UntilMS)
			}
		}
	}
	earliest("")
	for _, leg := range l.legs {
		earliest(leg.config.Name)
	}
	return turn
}

// limitedBy returns a scope's breaches as declared states.
func (l *limits) limitedBy(strategy string) (all []Degraded) {
	scope := account.Scope{Strategy: strategy}
	for b := range l.tracker.Watch(strategy).Breaches() {
		if b.Expired(l.nowMS) {
			continue
		}
		remedy := "botd rearm" + rearmFlags(scope)
		if b.UntilMS != 0 {
			remedy = risk.ClearsAutomatically
		}
		all = append(all, Degraded{State: "limit", Scope: scope, Cause: b.Rule + ": " + b.Reason, SinceMS: b.SinceMS, UntilMS: b.UntilMS, Remedy: remedy})
	}
	return all
}
