package engine

import (
	"fmt"

	"botd/exchange"
	"botd/reconcile/ledger"
	"botd/reconcile/record"
	"botd/risk"
)

// EventTransfer books an external transfer into a wallet, or out of it, that a person declares.
type EventTransfer struct {
	Transfer ledger.Transfer
	Strategy string // futures: the strategy whose result includes it; empty if only one strategy trades there
}

func (*EventTransfer) event() {}

// PreviewTransfer returns the effect of booking a transfer without booking it. If it cannot be
// booked, it returns the reason as an error.
func (e *Engine) PreviewTransfer(event *EventTransfer) ([]string, error) {
	return e.accounting.previewTransfer(event)
}

func (a *accounting) previewTransfer(event *EventTransfer) ([]string, error) {
	t, l := &event.Transfer, a.tracker.Ledger()
	switch {
	case t.Amount.IsZero():
		return nil, fmt.Errorf("a transfer of 0 %s changes nothing", t.Asset)
	case !a.config.Ledger:
		return nil, fmt.Errorf("this run has no ledger")
	case !l.Opened(t.Market):
		return nil, fmt.Errorf("the %s wallet is not in the ledger yet: no strategy trades there, or it has not been read yet", t.Market)
	case !l.Holds(t.Market, t.Asset):
		return nil, fmt.Errorf("the ledger does not include %s of the %s wallet", t.Asset, t.Market)
	case event.Strategy != "" && a.legNamed(event.Strategy) == nil:
		return nil, a.noStrategy(event.Strategy)
	}
	what := "deposit"
	if t.Amount.Sign() < 0 {
		what = "withdrawal"
	}
	var known exchange.Amount
	for _, m := range l.Match(t) {
		known = known.Add(m.Amount)
	}
	lines := []string{fmt.Sprintf("a %s of %s %s is booked as transferred: neither a gain nor a loss", what, t.Amount.Abs(), t.Asset)}
	switch rest := t.Amount.Sub(known); {
	case rest.IsZero():
		lines = append(lines, "it explains a previously unexplained change of the wallet")
	case known.IsZero():
		lines = append(lines, fmt.Sprintf("nothing unexplained matches it yet: the next change of the wallet by %s %s counts as this transfer", rest, t.Asset))
	default:
		lines = append(lines, fmt.Sprintf("%s of it explains a change of the wallet; the next change by %s counts as the rest", known, rest))
	}
	if !known.IsZero() && t.Asset == ledger.FuturesAsset {
		lines = append(lines, "daily loss and drawdown are measured without it")
		if leg := a.counted(event); leg != nil {
			lines = append(lines, fmt.Sprintf("the result of %s no longer counts it", leg.config.Name))
		} else if t.Market == exchange.Futures {
			lines = append(lines, "several strategies trade there: their results stay unchanged (set strategy to the one whose result included it)")
		}
	}
	return lines, nil
}

// counted returns the strategy whose result includes an unexplained change of the futures wallet.
// On spot, results follow from fills alone.
func (a *accounting) counted(event *EventTransfer) (found *leg) {
	if event.Transfer.Market != exchange.Futures {
		return nil
	}
	if event.Strategy != "" {
		return a.legNamed(event.Strategy)
	}
	for _, leg := range a.legs {
		if leg.symbol.Key().Market != exchange.Futures {
			continue
		}
		if found != nil {
			return nil
		}
		found = leg
	}
	return found
}

// transfer books a transfer and moves the basis of losses by the part of it that a wallet has already
// shown. The rest follows when a wallet shows it.
func (a *accounting) transfer(event *EventTransfer) {
	t, leg := &event.Transfer, a.counted(event)
	matched := a.tracker.Ledger().Match(t)
	a.record(record.Record{Body: record.Transfer{Transfer: *t}})
	if t.Asset == ledger.FuturesAsset {
		for _, m := range matched {
			a.limits.explained(t.Market, m, leg)
		}
		a.limits.reconsider("", nil)
		a.limits.reconsider(leg.name(), leg)
	}
	text := fmt.Sprintf("%s wallet: transfer of %s %s declared", t.Market, t.Amount, t.Asset)
	if t.Note != "" {
		text += ": " + t.Note
	}
	a.note("", nil, NoteTransfer{t.Market, t.Asset, t.Amount, text})
	a.requestRoundSoon()
}

// name returns the strategy's name; empty without one.
func (l *leg) name() string {
	if l == nil {
		return ""
	}
	return l.config.Name
}

// peakMarginMS is how long before a reading the wallet may already have shown its content: a peak raised
// within this time includes a deposit. A withdrawal raises no peak.
const peakMarginMS = 2 * moneyGiveUpMS

// explained removes a wallet change that turned out to be external from the basis of losses. The
// account's equity included it, so earlier values move along with it. A strategy's result included it,
// so later values move back.
func (l *limits) explained(market exchange.Market, m ledger.Matched, leg *leg) {
	w := l.tracker.Watch("")
	if day := w.Day(); day.StartMS != 0 {
		if m.AtMS >= day.StartMS {
			day.Equity = day.Equity.Add(m.Amount)
			if market == exchange.Spot {
				day.Spot = day.Spot.Add(m.Amount)
			}
		}
		if m.Amount.Sign() < 0 || w.PeakMS() < m.AtMS-peakMarginMS {
			day.Peak = day.Peak.Add(m.Amount)
		}
		l.recordDay("", day)
	}
	if leg == nil {
		return
	}
	w = l.tracker.Watch(leg.config.Name)
	if result := w.Result(); w.Known() {
		result.Result = result.Result.Sub(m.Amount)
		l.record(record.Record{Strategy: leg.config.Name, Symbol: leg.symbol.Key(), Body: result})
	}
	if day := w.Day(); day.StartMS != 0 {
		if m.AtMS < day.StartMS {
			day.Equity = day.Equity.Sub(m.Amount)
		}
		if since := w.PeakMS() - m.AtMS; since >= 0 || m.Amount.Sign() > 0 && since >= -peakMarginMS {
			day.Peak = day.Peak.Sub(m.Amount)
		}
		l.recordDay(leg.config.Name, day)
	}
}

// reconsider ends those breaches of a scope that follow equity and no longer apply.
func (l *limits) reconsider(strategy string, leg *leg) {
	equity, known := l.total()
	limits := &l.config.Limits
	if equity = equity.Sub(l.unbooked()); leg != nil {
		equity, limits = l.strategyEquity(leg), &leg.config.Limits
	}
	if !known || leg == nil && strategy != "" {
		return
	}
	w := l.tracker.Watch(strategy)
	for b := range w.Breaches() {
		if limits.Recovered(risk.ByEquity, b.Rule, l.nowMS, l.tracker, strategy, equity) {
			l.endBreach(strategy, leg, b.Rule, "a declared transfer explains it")
		}
	}
}
