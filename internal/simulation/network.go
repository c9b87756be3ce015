package simulation

import (
	"slices"

	"botd/exchange"
	"botd/internal/mutant"
	"botd/runtime/engine"
)

// timeoutMS is the daemon's timeout for an answer (exchange/rest).
const timeoutMS = 8_000

// flight is one call in flight: from the daemon to the exchange and back.
type flight struct {
	call     engine.Call
	life     int   // life of the process that made it
	signedMS int64 // its x-timestamp: the daemon's estimate of the server's time
	fault    Fault // injected into it; FaultEnd for none
	recalled bool  // canceled before a worker sent it
	doomed   bool  // its answer cannot come back
	copied   bool  // a middlebox duplicated it
	answered bool
	excused  bool // refused without a fault in it
	answer   exchange.Answer
	err      error
	placed   *placed // the placement, if it is one
	stateMS  int64   // time of the state that the answer shows

	unanswered bool // the exchange executed it, but the daemon did not receive the answer in time
}

// launch hands a call to a worker, which takes a moment.
func (w *world) launch(call *engine.Call) {
	f := &flight{call: *call, life: w.daemon.life, fault: FaultEnd}
	w.current = f
	if w.beyond != nil && call.Request.Operation.Places() {
		w.judge.launched(&call.Request.Order)
	}
	wait := w.network.below(3)
	if w.injects(Queued) {
		wait = w.far(0, timeToLiveMS+500)
	}
	w.put(scheduled{atMS: w.nowMS + wait, kind: happenSend, life: f.life, flight: f})
}

// recall recalls a call that no worker has sent yet.
func (w *world) recall(id int64) {
	for i := range w.agenda.entries {
		h := &w.agenda.entries[i]
		if h.kind != happenSend || h.life != w.daemon.life || h.flight.call.ID != id || h.flight.recalled {
			continue
		}
		h.flight.recalled = true
		w.answerAt(h.flight, w.nowMS, exchange.Answer{}, &exchange.Unavailable{Operation: h.flight.call.Request.Operation, Reason: "it was recalled"})
		return
	}
}

// send is a worker's part up to the last byte: it checks the time to live once more,
// then signs and sends the request.
func (w *world) send(f *flight) {
	if f.recalled {
		return // it has already been answered
	}
	now := w.daemon.clock()
	if f.call.DeadlineMS != 0 && now > f.call.DeadlineMS && !mutant.Is("no_time_to_live") {
		w.answerAt(f, w.nowMS, exchange.Answer{}, &exchange.Unavailable{Operation: f.call.Request.Operation, Reason: exchange.ReasonExpired})
		return
	}
	if w.point() {
		return
	}
	f.signedMS = now
	w.stats.Requests++
	if order := &f.call.Request.Order; f.call.Request.Operation.Places() {
		w.stats.Placed++
		if opens(order) {
			w.stats.Opened++
		}
	}
	w.inspector.sending(f)
	if w.tracing {
		w.tracef("send", "%s", w.describe(&f.call.Request))
	}
	w.route(f)
}

// far draws a time; in harsh weather it is usually near the maximum.
func (w *world) far(least, most int64) int64 {
	if script := w.options.script; script != nil && script.far != nil {
		return script.far(least, most)
	}
	if w.harsh && w.network.chance(0.7) {
		return w.network.between(max(least, most-300), most)
	}
	return w.network.between(least, most)
}

// route draws what happens to a request.
func (w *world) route(f *flight) {
	w.current = f
	request := &f.call.Request
	latency := w.network.between(2, 40)
	changes := request.Operation.Changes()
	if f.placed != nil {
		w.venue.depart(f.placed)
	}
	switch {
	case w.outageMS > w.nowMS:
		if f.doomed = true; !changes || w.network.chance(0.7) {
			w.lose(f)
			return
		}
		w.giveUp(f, "timeout", timeoutMS)
	case w.beyond.leavesUnanswered(request):
		f.doomed = true
		w.giveUp(f, "timeout", timeoutMS)
		return
	case w.injects(LostRequest):
		f.fault = LostRequest
		w.lose(f)
		return
	case changes && w.injects(LateRequest):
		f.fault, f.doomed = LateRequest, true
		w.giveUp(f, "timeout", w.network.between(50, timeoutMS))
		latency = w.far(50, w.bounds.WindowMS)
	case w.injects(LostAnswer):
		f.fault, f.doomed = LostAnswer, true
		w.giveUp(f, "reset", w.patience())
	case request.Operation.Places() && w.injects(Duplicate):
		f.fault = Duplicate
		w.put(scheduled{atMS: w.nowMS + latency + w.network.between(1, 4_000), kind: happenArrive, flight: &flight{
			call: f.call, life: f.life, signedMS: f.signedMS, fault: Duplicate, doomed: true, copied: true, placed: f.placed}})
	}
	w.put(scheduled{atMS: w.nowMS + latency, kind: happenArrive, flight: f})
}

// patience draws the time until a broken connection is noticed.
func (w *world) patience() int64 {
	if w.network.chance(0.5) {
		return timeoutMS
	}
	return w.network.between(3, 300)
}

// lose drops a request.
func (w *world) lose(f *flight) {
	f.doomed = true
	if f.placed != nil {
		w.venue.ended(f.placed)
	}
	w.giveUp(f, "reset", w.patience())
}

// giveUp reports a missing answer to the daemon after a delay.
func (w *world) giveUp(f *flight, why string, afterMS int64) {
	w.answerAt(f, w.nowMS+afterMS, exchange.Answer{}, noAnswer(f, why))
}

// noAnswer returns the error that exchange/rest returns for an unanswered call.
func noAnswer(f *flight, why string) error {
	if operation := f.call.Request.Operation; !operation.Places() {
		return &exchange.Unavailable{Operation: operation, Reason: why}
	}
	return &exchange.Uncertain{Reason: why}
}

func (w *world) answerAt(f *flight, atMS int64, answer exchange.Answer, err error) {
	f.answer, f.err = answer, err
	w.put(scheduled{atMS: atMS, kind: happenAnswer, life: f.life, flight: f})
}

// arrive handles a request that reaches the exchange.
func (w *world) arrive(f *flight) {
	w.current, f.stateMS = f, w.nowMS
	operation := f.call.Request.Operation
	if f.placed != nil && !f.copied {
		w.venue.ended(f.placed)
	}
	answer, err, malformed := w.serve(f)
	if script := w.options.script; script != nil && !f.doomed {
		f.answer, f.err = answer, err
		script.forge(f)
		answer, err = f.answer, f.err
	}
	if w.tracing {
		w.tracef("venue", "%s %s: %s", faultMark(f.fault), w.describe(&f.call.Request), outcome(answer, err))
	}
	if f.doomed && !f.copied || malformed {
		w.venue.unanswered(f)
	}
	if f.doomed {
		return
	}
	delay := w.network.between(1, 40)
	if w.injects(SlowAnswer) {
		w.venue.unanswered(f)
		if delay = w.network.between(500, timeoutMS+2_000); delay > timeoutMS {
			w.giveUp(f, "timeout", timeoutMS)
			return
		}
	}
	if malformed {
		if err = error(&exchange.Malformed{Operation: operation, What: "cut short"}); operation.Places() {
			err = &exchange.Uncertain{Reason: "malformed answer", Err: err}
		}
		answer = exchange.Answer{}
	}
	w.answerAt(f, w.nowMS+delay, answer, err)
}

func faultMark(f Fault) string {
	if f == FaultEnd {
		return "arrived"
	}
	return "(" + f.String() + ")"
}

// serve returns the answer of the exchange or its gateway to a request.
func (w *world) serve(f *flight) (answer exchange.Answer, err error, malformed bool) {
	operation := f.call.Request.Operation
	if age := w.nowMS - f.signedMS; operation.Signed() && (age > w.bounds.WindowMS || age < -w.bounds.WindowMS) {
		if f.placed != nil {
			f.placed.refused++ // a second copy may arrive once its timestamp is valid
		}
		return answer, &exchange.Refusal{Operation: operation, Status: 401, Code: exchange.CodeInvalidTimestamp, Message: "timestamp outside the window"}, false
	}
	if w.injects(RateLimited) {
		return answer, noAnswer(f, "rate limited"), false
	}
	if w.injects(ServerError) {
		if w.network.chance(0.5) {
			w.venue.do(w, f)
			w.venue.unanswered(f)
		}
		return answer, noAnswer(f, "status 503"), false
	}
	if w.beyond != nil {
		answer, err = w.beyond.serve(f)
		return answer, err, false
	}
	answer, err = w.venue.do(w, f)
	answer, err = w.venue.stale(w, &f.call.Request, answer, err)
	return answer, err, err == nil && w.injects(Malformed)
}

// deliver passes an answer to the daemon.
func (w *world) deliver(f *flight) {
	if f.answered {
		return
	}
	if w.point() {
		return
	}
	f.answered = true
	var refusal *exchange.Refusal
	if is(f.err, &refusal) && refusal.Code == exchange.CodeInvalidTimestamp {
		w.daemon.setClock(0) // the client rereads the clock
	}
	w.judge.recordAnswer(f)
	w.inspector.observeAnswer(f)
	if w.tracing && (f.err != nil || f.call.Request.Operation.Changes()) {
		w.tracef("answer", "%s: %s", w.describe(&f.call.Request), outcome(f.answer, f.err))
	}
	if mutant.Built() && w.misread(f) {
		return
	}
	w.daemon.handle(&engine.EventAnswer{CallID: f.call.ID, Answer: f.answer, Err: f.err})
}

// injects draws whether a fault is injected into the current call, and counts it.
func (w *world) injects(f Fault) bool {
	switch {
	case w.quiet:
		return false
	case w.options.script != nil:
		if !w.options.script.injects(f, w.current) {
			return false
		}
	case !w.network.chance(w.weather[f]):
		return false
	}
	w.stats.Faults[f]++
	return true
}

// budget counts the requests of the last seconds.
type budget struct{ times []int64 }

func (b *budget) count(nowMS, windowMS int64) int {
	b.times = append(b.times, nowMS)
	old := 0
	for b.times[old] <= nowMS-windowMS {
		old++
	}
	b.times = slices.Delete(b.times, 0, old)
	return len(b.times)
}
