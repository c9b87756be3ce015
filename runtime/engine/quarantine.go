package engine

import (
	"fmt"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// Quarantine is a symbol that waits for a person's decision, with the evidence.
type Quarantine struct {
	Symbol     exchange.SymbolKey
	Rules      *exchange.Symbol // nil while unknown
	Strategy   string           // the strategy that trades it
	Cause      string
	SinceMS    int64
	Venue      exchange.Quantity // position as the exchange reports it
	Known      exchange.Quantity // the part that botd's own fills and adoptions explain
	Ignored    exchange.Quantity // the part that is left to others
	Difference exchange.Quantity // the unexplained part
	Uncertain  []account.Placement
	Orders     []exchange.Order // open orders that the journal does not know
	Adopt      []string         // the effect of resolving it either way
	Ignore     []string
	Blocked    string // why it cannot be resolved now
}

// Resolution is a person's decision that ends a symbol's quarantine, and its effects.
type Resolution struct {
	Symbol  exchange.SymbolKey
	Adopt   bool // false: ignore
	Cause   string
	Lines   []string // the effects, for people
	records []record.Record
}

// quarantines handles the symbols that wait for a person.
type quarantines struct{ *base }

// Quarantines lists the symbols that wait for a person.
func (q *quarantines) Quarantines() []Quarantine {
	var all []Quarantine
	for symbol := range q.tracker.Symbols() {
		cause, sinceMS := q.waits(symbol)
		if cause == "" {
			continue
		}
		difference, _ := symbol.Residual()
		one := Quarantine{
			Symbol:     symbol.Key(),
			Rules:      symbol.Rules(),
			Cause:      cause,
			SinceMS:    sinceMS,
			Venue:      symbol.AtVenue(),
			Known:      symbol.Known(),
			Ignored:    symbol.Ignored(),
			Difference: difference,
			Orders:     symbol.Foreign(),
		}
		one.Strategy = q.legOn(symbol.Key()).name()
		for p := range q.tracker.Live() {
			if p.State() == placement.Uncertain && p.Symbol() == symbol.Key() {
				one.Uncertain = append(one.Uncertain, *p)
			}
		}
		adopt, err := q.PreviewResolution(symbol.Key(), true, "")
		if err != nil {
			one.Blocked = err.Error()
		} else if ignore, err := q.PreviewResolution(symbol.Key(), false, ""); err == nil {
			one.Adopt, one.Ignore = adopt.Lines, ignore.Lines
		}
		all = append(all, one)
	}
	return all
}

// waits returns why a person may decide about a symbol, and since when: it is quarantined, a read of it
// is not trusted, or another botd has bought its asset; empty if there is nothing to decide.
func (q *quarantines) waits(symbol *reconcile.SymbolState) (cause string, sinceMS int64) {
	switch theirs, seenMS := q.tracker.PeerPosition(symbol); {
	case symbol.Quarantine() != "":
		return symbol.Quarantine(), symbol.QuarantineMS()
	case symbol.Contradicted() != "":
		return symbol.Contradicted(), symbol.ContradictedSinceMS()
	case theirs != 0:
		return fmt.Sprintf("another botd under this prefix bought %s of it, which has a stop but no exit",
			symbol.Rules().QuantityDecimal(theirs)), seenMS
	}
	return "", 0
}

// PreviewResolution returns the effect of ending a symbol's quarantine without ending it. If it
// cannot be ended now, it returns the reason as an error.
func (q *quarantines) PreviewResolution(key exchange.SymbolKey, adopt bool, reason string) (Resolution, error) {
	symbol, cause := q.tracker.Symbol(key), ""
	if symbol != nil {
		cause, _ = q.waits(symbol)
	}
	r := Resolution{Symbol: key, Adopt: adopt, Cause: cause}
	switch {
	case cause == "":
		return r, account.NotQuarantined(key.String())
	case !symbol.Read():
		return r, fmt.Errorf("%s has not been read from the exchange since the start: wait for a complete round", key)
	}
	r.records = q.tracker.Resolve(key, adopt, q.legOn(key).name(), reason)
	for i := range r.records {
		r.Lines = append(r.Lines, resolutionLine(&r.records[i], symbol))
	}
	return r, nil
}

func resolutionLine(r *record.Record, symbol *reconcile.SymbolState) string {
	quantity := func(q exchange.Quantity) string {
		if symbol.Rules() == nil {
			return fmt.Sprint(int64(q), " steps")
		}
		return symbol.Rules().QuantityDecimal(q).String()
	}
	switch body := r.Body.(type) {
	case record.Ended:
		return "placement " + r.ClientOrderID + " counts as having had no further effect"
	case record.Found:
		return fmt.Sprintf("order %d (%s) becomes botd's, as %s", body.OrderID, r.ClientOrderID, body.Purpose)
	case record.Ignored:
		if r.ClientOrderID != "" {
			return fmt.Sprintf("order %d (%s) is left to its owner", body.OrderID, r.ClientOrderID)
		}
		return quantity(body.Quantity) + " of the position is left to its owner"
	case record.Baseline:
		return quantity(body.Quantity) + " of the wallet counts as foreign"
	case record.Adopted:
		if body.Quantity != 0 {
			return fmt.Sprintf("%s is adopted: the position is botd's at %s", quantity(body.Quantity), quantity(symbol.Known()+body.Quantity))
		}
	}
	return "nothing is to be adopted: position and fills agree at " + quantity(symbol.Known())
}

// resolve ends a quarantine at a person's request. It is journalled, and a round follows.
func (q *quarantines) resolve(event *EventResolve) {
	resolution, err := q.PreviewResolution(event.Symbol, event.Adopt, event.Reason)
	if err != nil {
		return // the preview returned the error: the quarantine ended in between
	}
	symbol := q.tracker.Symbol(event.Symbol)
	symbol.EndContradiction()
	for _, record := range resolution.records {
		q.record(record)
	}
	if symbol.Quarantine() == "" {
		q.note("", symbol.Rules(), NoteQuarantine{event.Reason, true})
	}
	q.roundMS = q.nowMS
}
