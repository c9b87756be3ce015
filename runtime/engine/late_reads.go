package engine

import (
	"errors"
	"maps"
	"slices"

	"botd/exchange"
)

// A round waits for a read at most twice as long as the last such read took, but at least a second; then it continues without it and acts on the other
// reads. Because an answer may be lost, the round repeats an unanswered read once within that time if a read that was sent no earlier has been answered;
// the first answer counts. Later rounds send the read again and wait for a shorter time, as long as few copies are in flight. Until one copy is answered,
// nothing is concluded in its domain. The answer to a late read only shows how long to wait, and which orders have filled: it is older than the other
// reads, so nothing else of it is used.

var errLate = errors.New("no answer yet")

// pace is how fast reads are answered: it decides how long a round waits for one, and when to repeat it.
type pace struct {
	took             map[exchange.Operation]int64 // last durations
	newestAnsweredMS int64                        // send time of the most recently sent read that was answered
}

// patience returns how long a round waits for a read.
func (t *pace) patience(of exchange.Operation) int64 {
	return min(patienceMS, max(promptMS, 2*t.took[of]))
}

// noteDuration records the duration of a read. The duration of a failed read does not make later rounds wait longer.
func (t *pace) noteDuration(p *pendingCall, err error, nowMS int64) {
	if err != nil {
		delete(t.took, p.of)
		return
	}
	t.took[p.of] = nowMS - p.sentMS
	t.newestAnsweredMS = max(t.newestAnsweredMS, p.sentMS)
}

// overtaken reports whether another read that was sent no earlier has already been answered.
func (t *pace) overtaken(p *pendingCall) bool { return t.newestAnsweredMS >= p.sentMS }

// repeatAfterMS returns the time after which a round repeats a read.
func (t *pace) repeatAfterMS(of exchange.Operation) int64 { return max(promptMS*4/10, t.took[of]*3/2) }

// attentionMS returns when a read is to be repeated, or becomes late.
func (t *pace) attentionMS(p *pendingCall) int64 {
	if p.repeated {
		return p.dueMS
	}
	return min(p.dueMS, p.sentMS+t.repeatAfterMS(p.of))
}

// maxCopies limits the copies of a read in flight.
const maxCopies = 4

// same reports whether two reads are the same request.
func (p *pendingCall) same(q *pendingCall) bool {
	return q.kind == p.kind && q.of == p.of && q.symbol == p.symbol && q.orderID == p.orderID && q.before == p.before
}

// lateCopies returns the number of copies of the read in flight from earlier phases.
func (r *reader) lateCopies(p *pendingCall) (count int) {
	for _, q := range r.calls {
		if q.late && q.same(p) {
			count++
		}
	}
	return count
}

// isLate reports whether the same read of an earlier phase is still in flight.
func (r *reader) isLate(p *pendingCall) bool { return r.lateCopies(p) > 0 }

// awaited reports whether the round still waits for a read, which may have been sent twice.
func (r *reader) awaited(p *pendingCall) bool {
	for _, q := range r.calls {
		if q.request == p.request && !q.late {
			return true
		}
	}
	return false
}

// skipLateRead continues the round without a late read.
func (r *reader) skipLateRead(p *pendingCall) {
	if p.kind == callTickers { // as if each of its prices were late, because single reads would take even longer
		for _, symbol := range r.missingPrices(p.of.Market()) {
			if r.lateByList(p, symbol) {
				r.addLate(symbol.Key())
			}
		}
		return
	}
	of := p.domain()
	if p.kind == callTicker && (r.askList(of.Market, true) || r.listComes(of.Market)) {
		return
	}
	r.addLate(of)
	r.unread(p, of)
}

// proceed repeats unanswered reads and gives up waiting for late ones.
func (r *reader) proceed() {
	r.roundReads.lateMS = never
	var due []int64
	for id, p := range r.calls {
		switch {
		case !p.kind.ofRound() || p.late:
		case p.dueMS > r.nowMS && !r.overtaken(&p): // everything is slow: a repetition would wait behind the first read
			r.roundReads.lateMS = min(r.roundReads.lateMS, p.dueMS)
		case r.attentionMS(&p) <= r.nowMS:
			due = append(due, id)
		default:
			r.roundReads.lateMS = min(r.roundReads.lateMS, r.attentionMS(&p))
		}
	}
	slices.Sort(due)
	for _, id := range due {
		p := r.calls[id]
		if p.dueMS > r.nowMS {
			p.repeated = true
			r.calls[id] = p
			r.repeat(p)
			continue
		}
		p.late = true
		r.calls[id] = p
		if !r.awaited(&p) {
			r.roundReads.pending--
			r.skipLateRead(&p)
		}
	}
}

// repeat sends a read once more.
func (r *reader) repeat(p pendingCall) {
	p.sentMS, p.repeated = r.nowMS, true
	r.roundReads.lateMS = min(r.roundReads.lateMS, p.dueMS)
	r.ask(p, PrioritySettle, *p.request)
}

// forget drops a read whose further answers are ignored.
func (r *reader) forget(p *pendingCall) {
	maps.DeleteFunc(r.calls, func(_ int64, q pendingCall) bool {
		return q.request == p.request && p.request != nil || q.late && q.same(p)
	})
}

// lateAnswer handles the answer to a read that its round no longer awaited: besides the fills, only its error and its
// duration are used.
func (r *reader) lateAnswer(p *pendingCall, event *EventAnswer) {
	r.noteDuration(p, event.Err, r.nowMS)
	if p.kind == callTickers && event.Err != nil {
		r.listFailed(p)
	}
	if event.Err == nil || p.noSuchOrder(event.Err) || p.kind == callTickers {
		r.requestRoundSoon()
		return
	}
	if r.inProgress() {
		r.readFailed(p, event.Err)
		return
	}
	r.overdue = append(r.overdue, failure{p.domain(), event.Err})
}

// giveUpLate ends late reads that have been in flight too long, and counts those that have failed since
// the last round.
func (r *reader) giveUpLate() {
	var given []int64
	for id, p := range r.calls {
		if p.late && r.nowMS-p.sentMS >= patienceMS {
			given = append(given, id)
		}
	}
	slices.Sort(given)
	for _, id := range given {
		p, out := r.calls[id]
		if !out {
			continue
		}
		r.forget(&p)
		delete(r.took, p.of)
		if p.kind == callTickers {
			r.listFailed(&p)
			continue
		}
		r.addFailure(p.domain(), &exchange.Unavailable{Operation: p.of, Reason: "no answer for 10 s"})
	}
	for _, f := range r.overdue {
		r.addFailure(f.of, f.err)
	}
	r.overdue = nil
}
