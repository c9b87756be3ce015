package engine

import (
	"strings"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/record"
	"botd/risk"
)

// Some limits follow equity and results from round to round: daily loss, drawdown,
// losing streak. The journal holds what they remember. A breach holds entries back and
// cancels resting openings until it ends.

// follows reports whether a limit or the ledger needs the results of strategies.
func (e *results) follows() bool {
	follows := e.config.Limits.Watched(risk.ByResults) || e.config.Ledger
	for _, r := range e.runs {
		follows = follows || r.config.Limits.Watches()
	}
	return follows
}

// limits follow equity from round to round.
type limits struct {
	*base
	watching bool // between rounds too
}

// marked is a market's equity at the last prices.
func (e *base) marked(market exchange.Market) exchange.Amount {
	if market == exchange.Futures {
		return e.book.Marked()
	}
	return e.equity(market)
}

// total is the equity of all markets traded, and whether it is known.
func (e *base) total() (total exchange.Amount, known bool) {
	futures, spot := e.trades(exchange.Futures), e.trades(exchange.Spot)
	if futures && e.book.AccountMS == 0 || spot && e.book.WalletMS == 0 || !futures && !spot {
		return total, false
	}
	if futures {
		total = e.marked(exchange.Futures)
	}
	if spot {
		total = total.Add(e.marked(exchange.Spot))
	}
	return total, true
}

// own returns a strategy's equity: what the account had when the strategy was first
// watched, plus what the strategy made since.
func (e *base) own(r *run) exchange.Amount {
	w, truth := e.book.Watch(r.config.Name), r.truth
	own := w.Result().Base.Add(w.Result().Result)
	held := truth.Position
	if truth.Ignored() != 0 { // the exchange's one position has a foreign part: the strategy's is what its fills made
		held = truth.Known()
	}
	if held == 0 || truth.Rules == nil || truth.AtVenue() == 0 {
		return own
	}
	value := truth.Rules.Notional(truth.Price(), held)
	if truth.Key().Market == exchange.Spot {
		return own.Add(value)
	}
	return own.Add(value).Sub(truth.Rules.Notional(truth.Rules.PriceOf(truth.EntryPrice), held))
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
	e.record(record.Record{Strategy: strategy, Body: record.Day{StartMS: day.StartMS, Equity: day.Equity, Peak: day.Peak, Markets: day.Markets, Spot: day.Spot}})
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

// markets names the markets traded.
func (e *base) markets() string {
	var all []string
	for _, market := range [...]exchange.Market{exchange.Futures, exchange.Spot} {
		if e.trades(market) {
			all = append(all, market.String())
		}
	}
	return strings.Join(all, " ")
}

// onSpot returns the part of the account's equity that is on spot.
func (e *base) onSpot() (part exchange.Amount) {
	if e.trades(exchange.Spot) {
		part = e.marked(exchange.Spot)
	}
	return part
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

// symbol returns the run's symbol; without a run, for the account, nil.
func (r *run) symbol() *exchange.Symbol {
	if r == nil {
		return nil
	}
	return r.config.Symbol
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

// Limits returns the utilization of every limit.
func (e *report) Limits() []risk.Utilization {
	total, known := e.total()
	facts := risk.Account{NowMS: e.nowMS, Book: e.book, Equity: total, Known: known}
	for _, market := range [...]exchange.Market{exchange.Futures, exchange.Spot} {
		if e.trades(market) {
			facts.Markets = append(facts.Markets, risk.MarketFacts{Market: market, Equity: e.marked(market)})
		}
	}
	for _, r := range e.runs {
		facts.Strategies = append(facts.Strategies, risk.StrategyFacts{Name: r.config.Name, State: r.truth, Limits: r.config.Limits, Own: e.own(r)})
	}
	all := e.ruleset.gate.Utilization(&facts)
	for i := range all {
		if s := e.ruleset.setLimit(all[i].Strategy, all[i].Rule); s != nil {
			set := *s
			all[i].Set = &set
		}
	}
	return all
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
		all = append(all, Degraded{State: "limit", Scope: scope, Cause: b.Rule + ": " + b.Why, SinceMS: b.SinceMS, UntilMS: b.UntilMS, WayOut: wayOut})
	}
	return all
}
