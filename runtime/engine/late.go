package engine

import (
	"errors"
	"slices"

	"botd/exchange"
)

// A round waits for a read only as long as such a read took before, doubled, a second at
// least: then it goes on without it, and acts on what was read. The late read stays out, is
// not asked again meanwhile, and nothing is concluded about what it is about. Its answer
// is not used, since it is older than the reads beside it: the next round asks anew, and
// waits for twice as long as it took.

var errLate = errors.New("no answer yet")

// patience is how long a round waits for a read.
func (r *round) patience(of exchange.Operation) int64 {
	return min(patienceMS, max(promptMS, 2*r.took[of]))
}

// noteDuration notes how long a read took. One that fails is waited for no longer than any other.
func (r *round) noteDuration(p *purpose, event *EventAnswer) {
	if event.Err != nil {
		delete(r.took, p.of)
		return
	}
	r.took[p.of] = r.nowMS - p.sentMS
}

// isLate reports whether the same read of an earlier round is still out.
func (r *round) isLate(p *purpose) bool {
	for _, q := range r.calls {
		if q.late && q.kind == p.kind && q.of == p.of && q.symbol == p.symbol && q.orderID == p.orderID && q.before == p.before {
			return true
		}
	}
	return false
}

// skipLateRead has the round do without a read that is late.
func (r *round) skipLateRead(p *purpose) {
	if p.kind == callTickers { // as if each of its prices were late: to ask for them singly would take longer still
		for _, symbol := range r.missingPrices(p.of.Market()) {
			if r.lateByList(p, symbol) {
				r.noteLate(symbol.Key())
			}
		}
		return
	}
	of := p.domain()
	if p.kind == callTicker && (r.askList(of.Market, true) || r.listComes(of.Market)) {
		return
	}
	r.noteLate(of)
	r.unread(p, of)
}

func (r *round) noteLate(of exchange.SymbolKey) {
	if !slices.ContainsFunc(r.reading.late, func(f failure) bool { return f.of == of }) {
		r.reading.late = append(r.reading.late, failure{of, errLate})
	}
}

// proceed goes on without the answers that are late. It reports whether the round is complete.
func (r *round) proceed() (complete bool) {
	r.reading.lateMS = never
	var late []int64
	for id, p := range r.calls {
		switch dueMS := p.sentMS + r.patience(p.of); {
		case !p.kind.ofRound() || p.late:
		case dueMS <= r.nowMS:
			late = append(late, id)
		default:
			r.reading.lateMS = min(r.reading.lateMS, dueMS)
		}
	}
	slices.Sort(late)
	for _, id := range late {
		p := r.calls[id]
		p.late = true
		r.calls[id] = p
		r.reading.pending--
		r.skipLateRead(&p)
	}
	return r.advance()
}

// lateAnswer takes the answer of a read that its round did not wait for: what it failed
// with, and how long it took.
func (r *round) lateAnswer(p *purpose, event *EventAnswer) {
	r.noteDuration(p, event)
	if p.kind == callTickers && event.Err != nil {
		r.listFailed(p)
	}
	if event.Err == nil || p.noSuchOrder(event.Err) || p.kind == callTickers {
		r.soon()
		return
	}
	if r.inProgress() {
		r.readFailed(p, event.Err)
		return
	}
	r.overdue = append(r.overdue, failure{p.domain(), event.Err})
}

// giveUpLate gives up the late reads that have been out for too long, and counts those that
// failed since the last round.
func (r *round) giveUpLate() {
	var given []int64
	for id, p := range r.calls {
		if p.late && r.nowMS-p.sentMS >= patienceMS {
			given = append(given, id)
		}
	}
	slices.Sort(given)
	for _, id := range given {
		p := r.calls[id]
		delete(r.calls, id)
		delete(r.took, p.of)
		if p.kind == callTickers {
			r.listFailed(&p)
			continue
		}
		r.noteFailure(p.domain(), &exchange.Unavailable{Operation: p.of, Reason: "no answer for 10 s"})
	}
	for _, f := range r.overdue {
		r.noteFailure(f.of, f.err)
	}
	r.overdue = nil
}
