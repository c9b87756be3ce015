package engine

import (
	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/risk"
)

// permission decides whether openings may be sent.
type permission struct {
	*base
	readHealth *readHealth
	protection *protection
	conditions []condition
	low        string // why the journal's disk is nearly full; empty if it is not
	lowMS      int64
	lost       bool // low means that the journal's files are lost
}

func (p *permission) mayEnter(leg *leg) bool {
	o := p.candidate(leg.config.Name, leg.symbol.Key(), leg)
	for i := range p.conditions {
		if blocks := p.conditions[i].blocks; blocks != nil && blocks(p, o) {
			return false
		}
	}
	return true
}

// overtaken returns the condition that withdraws a queued opening; empty for none.
func (p *permission) overtaken(w *queued) string {
	o := p.candidate(w.intent.Strategy, w.intent.Order.Key(), p.legNamed(w.intent.Strategy))
	for i := range p.conditions {
		if c := &p.conditions[i]; c.meanwhile != "" && c.blocks(p, o) {
			return c.meanwhile
		}
	}
	return ""
}

func (p *permission) candidate(strategy string, key exchange.SymbolKey, leg *leg) candidate {
	return candidate{risk.Opening{NowMS: p.nowMS, Tracker: p.tracker, State: p.tracker.Symbol(key), Strategy: strategy, Blind: p.readHealth.Blind(key)}, leg}
}

// withdrawn returns why a placement must no longer be sent although its record is durable: its approval,
// which was given before the commit, may have become invalid.
func (p *permission) withdrawn(w *queued) string {
	key := w.intent.Order.Key()
	switch {
	case p.stopped:
		return "botd is stopping"
	case p.nowMS > w.call.DeadlineMS:
		return exchange.ReasonExpired
	case w.intent.Purpose == placement.Exit && p.outdated(p.legNamed(w.intent.Strategy)):
		return "the plan now desires the current position"
	case !w.intent.Purpose.Opens():
		return ""
	}
	if why := p.overtaken(w); why != "" {
		return why
	}
	switch {
	case w.limitsVersion != p.limitsVersionOf(w.intent.Strategy):
		return "the configuration changed meanwhile"
	case w.revisions != p.revisionsOf(w.intent.Strategy):
		return "its strategy decided again meanwhile"
	case opposes(p.tracker.Symbol(key), w.intent.Order.Side), p.unapplied.oppose(p.tracker, key, w.intent.Order.Side):
		return "a position on the other side was opened meanwhile"
	case p.tracker.BlocksOpening(w.intent.Order.ClientOrderID, key):
		return "another placement on the symbol is in flight or became uncertain meanwhile"
	}
	return ""
}

// opposes reports whether an opening on that side is against a futures position (interface, futures
// rule 4).
func opposes(symbol *reconcile.SymbolState, side exchange.Side) bool {
	against := func(position exchange.Quantity) bool { return int64(position)*side.Sign() < 0 }
	return symbol.Key().Market == exchange.Futures && (against(symbol.AtVenue()) || against(symbol.TrustedVenuePosition()))
}

// outdated reports whether a strategy's plan desires at least its position, because it was decided after
// an exit had been derived.
func (p *permission) outdated(leg *leg) bool {
	if leg == nil {
		return false
	}
	desired := reconcile.Desired{Strategy: leg.state.Halted(p.levelOn(leg, record.LevelNone)), Symbol: leg.symbol}
	return p.tracker.ExitOutdated(&desired)
}

// disk records that the journal's disk is nearly full, has room again, or that its files are lost. The
// remaining space is reserved for facts and exits: nothing opens.
func (p *permission) disk(event *EventDisk) {
	if (event.Reason == "") != (p.low == "") || event.Lost && !p.lost {
		p.lowMS = p.nowMS
		p.note("", nil, NoteJournal{Ended: event.Reason == "", Reason: event.Reason, Lost: event.Lost})
		p.requestRoundSoon()
	}
	p.low, p.lost = event.Reason, event.Lost
}
