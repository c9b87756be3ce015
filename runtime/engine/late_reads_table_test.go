package engine

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"botd/exchange"
)

// undisturbed is the reader of an engine whose symbols were all read, with nothing in flight.
func undisturbed(t testing.TB) (*world, *reader) {
	t.Helper()
	w := settled(t)
	r := w.engine.reader
	clear(r.took)
	clear(w.engine.calls)
	r.roundReads, r.newestAnsweredMS, r.overdue = roundReads{phase: phaseLists, lateMS: never}, 0, nil
	w.out.Reset()
	return w, r
}

// asksOrders has the round request the open orders of futures, and returns the call's id.
func (r *reader) asksOrders() int64 {
	r.askForRound(pendingCall{kind: callRound}, exchange.Request{Operation: exchange.FuturesOpenOrders})
	return r.nextCall
}

// A round waits twice as long as the last such read took, at least a second, at most ten. The read is repeated after one and a half times
// that duration, at least four tenths of a second. A failed read does not lengthen the wait.
func TestRoundReadTimeout(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ took, waits, repeats int64 }{
		{0, 1_000, 400}, {200, 1_000, 400}, {267, 1_000, 400}, {268, 1_000, 402}, {500, 1_000, 750}, {501, 1_002, 751}, {4_999, 9_998, 7_498},
		{6_000, 10_000, 9_000},
	} {
		_, r := undisturbed(t)
		of := exchange.FuturesOpenOrders
		r.noteDuration(&pendingCall{of: of, sentMS: r.nowMS - c.took}, nil, r.nowMS)
		if r.patience(of) != c.waits || r.repeatAfterMS(of) != c.repeats || r.newestAnsweredMS != r.nowMS-c.took {
			t.Errorf("one took %d ms: want the next awaited for %d and repeated after %d, have %d and %d", c.took, c.waits, c.repeats, r.patience(of),
				r.repeatAfterMS(of))
		}
		id := r.asksOrders()
		if p := r.calls[id]; p.dueMS != r.nowMS+c.waits || p.repeated || r.roundReads.lateMS != r.nowMS+min(c.waits, c.repeats) || r.roundReads.pending != 1 {
			t.Errorf("one took %d ms: want attention to the next after %d ms, have %d", c.took, min(c.waits, c.repeats), r.roundReads.lateMS-r.nowMS)
		}
		if r.noteDuration(&pendingCall{of: of, sentMS: r.nowMS - c.took}, errors.New("broken"), r.nowMS); r.patience(of) != 1_000 {
			t.Errorf("after a failure: want a second, have %d", r.patience(of))
		}
		if r.noteDuration(&pendingCall{of: of, sentMS: r.nowMS - 9_000}, nil, r.nowMS); r.newestAnsweredMS != r.nowMS-c.took {
			t.Errorf("want the latest that was answered to stay noted, have %d", r.nowMS-r.newestAnsweredMS)
		}
	}
}

// The read is sent once more if a read that was sent no earlier has been answered. When its time is over, its round continues
// without it.
func TestUnansweredReadIsRepeatedThenSkipped(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		afterMS   int64
		overtaken bool
		sent      int // total number of sends
		late      int
		nextMS    int64 // when it needs attention next, from the first send; -1 for never
	}{
		{"it is early", 399, true, 1, 0, 400},
		{"it is to be repeated", 400, true, 2, 0, 1_000},
		{"everything is slow", 400, false, 1, 0, 1_000},
		{"everything is slow, a moment before its time", 999, false, 1, 0, 1_000},
		{"its time is over", 1_000, false, 1, 1, -1},
		{"its time is over, and others were answered", 1_000, true, 1, 1, -1},
	} {
		w, r := undisturbed(t)
		began, id := r.nowMS, r.asksOrders()
		if c.overtaken {
			r.newestAnsweredMS = began
		}
		w.engine.nowMS += c.afterMS
		r.roundReads.version = 1
		if w.engine.round.proceed() {
			t.Errorf("%s: want the round not complete", c.name)
		}
		sent := 0
		for i := range w.out.Calls {
			if w.out.Calls[i].Request.Operation == exchange.FuturesOpenOrders {
				sent++
			}
		}
		late := len(r.roundReads.late)
		if sent != c.sent || r.calls[id].late != (c.late == 1) || late != c.late || r.calls[id].repeated != (c.sent == 2) {
			t.Errorf("%s: want it sent %d times, late %d, have %d, %d", c.name, c.sent, c.late, sent, late)
		}
		if want := began + c.nextMS; c.nextMS >= 0 && r.roundReads.lateMS != want {
			t.Errorf("%s: want attention to it after %d ms, have %d", c.name, c.nextMS, r.roundReads.lateMS-began)
		}
		if c.late == 1 && (r.roundReads.phase == phaseLists || !slices.Contains(r.roundReads.snapshot.Unread, wholeMarket)) {
			t.Errorf("%s: want the round to go on, and nothing concluded of its market, have %+v", c.name, r.roundReads)
		}
	}
}

// The first answer counts, and the other one compensates for a failed one.
func TestAReadThatWasSentTwiceIsAnsweredOnce(t *testing.T) {
	t.Parallel()
	for _, fails := range []bool{false, true} {
		w, r := undisturbed(t)
		id := r.asksOrders()
		r.newestAnsweredMS = r.nowMS
		w.engine.nowMS += 400
		r.proceed()
		again := r.nextCall
		if again != id+1 || r.roundReads.pending != 1 || r.calls[again].sentMS != w.engine.nowMS || !r.calls[again].repeated {
			t.Fatalf("want it sent twice and waited for once, have %+v", r.calls)
		}
		answer := &EventAnswer{CallID: id, Answer: exchange.Answer{Operation: exchange.FuturesOpenOrders, Orders: exchange.FetchedOf[exchange.Order](nil)}}
		if fails {
			answer = &EventAnswer{CallID: id, Err: errors.New("broken")}
		}
		w.engine.routeAnswer(answer)
		if _, out := r.calls[again]; out != fails || r.roundReads.snapshot.FuturesOrders.Done() == fails || len(r.roundReads.failures) != 0 ||
			(r.roundReads.phase == phaseLists) != fails {
			t.Errorf("the first fails %t: want the other awaited %t, have %+v", fails, fails, r.roundReads)
		}
		if !fails {
			continue
		}
		w.engine.routeAnswer(&EventAnswer{CallID: again, Err: errors.New("broken")})
		if len(r.roundReads.failures) != 1 || r.roundReads.phase != 0 {
			t.Errorf("both failed: want the round ended, have %+v", r.roundReads)
		}
	}
}

// A late read is sent again, with less patience, until four are in flight. Then the round continues without it.
func TestAtMostFourEqualReadsInFlight(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		late   int
		other  func(p *pendingCall) // a difference of the late ones' requests; nil for none
		waits  int64                // ms; -1 if it is not sent
		missed int
	}{
		{0, nil, 1_000, 0}, {1, nil, 400, 0}, {3, nil, 400, 0}, {4, nil, -1, 1}, {5, nil, -1, 1},
		{4, func(p *pendingCall) { p.of = exchange.FuturesOpenPositions }, 1_000, 0},
		{4, func(p *pendingCall) { p.kind = callOrder }, 1_000, 0},
		{4, func(p *pendingCall) { p.orderID = 5 }, 1_000, 0},
		{4, func(p *pendingCall) { p.before = true }, 1_000, 0},
		{4, func(p *pendingCall) { p.late = false }, 1_000, 0},
	} {
		w, r := undisturbed(t)
		for range c.late {
			p := pendingCall{kind: callRound, of: exchange.FuturesOpenOrders, late: true, sentMS: r.nowMS - 5_000}
			if c.other != nil {
				c.other(&p)
			}
			r.begin(p)
		}
		id := r.asksOrders()
		p, sent := r.calls[id]
		sent = sent && len(w.out.Calls) == 1
		if sent != (c.waits >= 0) || sent && (p.dueMS != r.nowMS+c.waits || p.repeated != (c.waits == 400)) || len(r.roundReads.late) != c.missed {
			t.Errorf("%d are late: want it awaited for %d ms, have it sent %t, %d ms", c.late, c.waits, sent, p.dueMS-r.nowMS)
		}
	}
}

// If the list is late, too, the other prices of its market are not late.
func TestListInPlaceOfLateTickerServesOnlyIt(t *testing.T) {
	t.Parallel()
	_, r := undisturbed(t)
	single := pendingCall{kind: callTicker, of: exchange.FuturesTicker, symbol: r.tracker.Track(bitcoin), late: true, sentMS: r.nowMS}
	r.begin(single)
	r.skipLateRead(&single)
	list := r.calls[r.nextCall]
	if list.kind != callTickers || len(r.roundReads.late) != 0 {
		t.Fatalf("want the list read instead, have %+v, late %v", list, r.roundReads.late)
	}
	for key, want := range map[exchange.SymbolKey]bool{bitcoin: true, ether: false} {
		if have := r.lateByList(&list, r.tracker.Track(key)); have != want {
			t.Errorf("%s: want its price late with the list %t, have %t", key, want, have)
		}
	}
}

// A failure between two rounds counts in the next one.
func TestAReadThatHangsIsGivenUpAfterTenSeconds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		late  bool
		agoMS int64
		kind  callKind
		of    exchange.Operation
		given bool
		want  string // failures
	}{
		{"it hangs", true, 10_000, callRound, exchange.FuturesOpenOrders, true, "[futures: no answer for 10 s]"},
		{"not for long", true, 9_999, callRound, exchange.FuturesOpenOrders, false, "[]"},
		{"its round still waits", false, 10_000, callRound, exchange.FuturesOpenOrders, false, "[]"},
		{"a list of prices", true, 10_000, callTickers, exchange.FuturesTickers, true, "[]"},
	} {
		_, r := undisturbed(t)
		id := r.begin(pendingCall{kind: c.kind, of: c.of, late: c.late, sentMS: r.nowMS - c.agoMS})
		second := r.begin(pendingCall{kind: c.kind, of: c.of, late: c.late, sentMS: r.nowMS})
		r.took[c.of] = 3_000
		r.giveUpLate()
		_, out := r.calls[id]
		_, secondOut := r.calls[second]
		have := []string{}
		for _, f := range r.roundReads.failures {
			have = append(have, fmt.Sprintf("%s: %s", f.of.Market, f.err.(*exchange.Unavailable).Reason))
		}
		if out == c.given || secondOut == c.given || fmt.Sprint(have) != c.want || (r.took[c.of] == 0) != c.given {
			t.Errorf("%s: want it given up %t with its copies, failures %s, have %t, %v", c.name, c.given, c.want, !out, have)
		}
		if singly := r.singly[exchange.Futures] == r.nowMS+listAgainMS; singly != (c.kind == callTickers) {
			t.Errorf("%s: want single tickers read %t", c.name, c.kind == callTickers)
		}
	}
	var want, have []exchange.SymbolKey
	_, r := undisturbed(t)
	for _, name := range []string{"B", "A", "D", "C", "F", "E"} {
		symbol := r.tracker.Track(exchange.SymbolKey{Market: exchange.Futures, Name: name})
		r.begin(pendingCall{kind: callOrder, of: exchange.FuturesOrder, symbol: symbol, late: true, sentMS: r.nowMS - 10_000})
		want = append(want, symbol.Key())
	}
	r.giveUpLate()
	for _, f := range r.roundReads.failures {
		have = append(have, f.of)
	}
	if !slices.Equal(have, want) {
		t.Errorf("want them given up in the order in which they were sent, %v, have %v", want, have)
	}
	_, r = undisturbed(t)
	r.overdue = []failure{{bitcoin, errLate}, {bitcoin, errLate}}
	if r.giveUpLate(); len(r.roundReads.failures) != 1 || r.roundReads.failures[0].of != bitcoin || r.overdue != nil {
		t.Errorf("want what failed between two rounds counted once, have %+v", r.roundReads.failures)
	}
}

// The answer shows how long such a read takes, and its failure counts: in the current round, otherwise in the
// next.
func TestLateReadAnswerIsCounted(t *testing.T) {
	t.Parallel()
	broken, refusal := errors.New("broken"), &exchange.Refusal{Status: 404, Message: "none"}
	for _, c := range []struct {
		name            string
		p               pendingCall
		err             error
		underWay        bool
		overdue, failed int
		singly          bool
	}{
		{"it came", pendingCall{kind: callRound, of: exchange.FuturesOpenOrders}, nil, true, 0, 0, false},
		{"it failed in a round", pendingCall{kind: callRound, of: exchange.FuturesOpenOrders}, broken, true, 0, 1, false},
		{"it failed between rounds", pendingCall{kind: callRound, of: exchange.FuturesOpenOrders}, broken, false, 1, 0, false},
		{"there is no such order", pendingCall{kind: callOrder, of: exchange.FuturesOrder, orderID: 5}, refusal, true, 0, 0, false},
		{"there is no such list", pendingCall{kind: callRound, of: exchange.FuturesOpenOrders}, refusal, true, 0, 1, false},
		{"a list of prices came", pendingCall{kind: callTickers, of: exchange.FuturesTickers}, nil, true, 0, 0, false},
		{"a list of prices failed", pendingCall{kind: callTickers, of: exchange.FuturesTickers}, broken, true, 0, 0, true},
	} {
		w, r := undisturbed(t)
		if !c.underWay {
			r.roundReads.phase = 0
		}
		r.roundMS = never
		c.p.sentMS, c.p.late = w.engine.nowMS-3_000, true
		w.engine.calls[900] = c.p
		w.engine.routeAnswer(&EventAnswer{CallID: 900, Err: c.err})
		failed := c.overdue+c.failed > 0
		if len(r.overdue) != c.overdue || len(r.roundReads.failures) != c.failed || (r.took[c.p.of] == 3_000) != (c.err == nil) ||
			(r.roundMS == never) != failed {
			t.Errorf("%s: want %d failures noted for the next round and %d in this one, have %d and %d", c.name, c.overdue, c.failed, len(r.overdue),
				len(r.roundReads.failures))
		}
		if singly := r.singly[exchange.Futures] != 0; singly != c.singly || r.roundReads.pending != 0 {
			t.Errorf("%s: want single tickers read %t", c.name, c.singly)
		}
	}
}

// Answers to its requests are ignored, those of other rounds are not.
func TestARoundThatIsAbandonedBeginsAgain(t *testing.T) {
	t.Parallel()
	for _, underWay := range []bool{true, false} {
		w, r := undisturbed(t)
		r.asksOrders()
		other := r.begin(pendingCall{kind: callCandles})
		r.overdue, r.roundMS = []failure{{bitcoin, errLate}}, never
		if !underWay {
			r.roundReads.phase = 0
		}
		w.engine.round.abandonRound()
		_, stays := r.calls[other]
		if have := len(r.calls) == 1 && len(r.overdue) == 0 && r.roundMS == w.engine.nowMS && !r.inProgress(); have != underWay || !stays {
			t.Errorf("under way %t: have %d calls, %d overdue, a round in %d ms", underWay, len(r.calls), len(r.overdue), r.roundMS-w.engine.nowMS)
		}
	}
}

// One list was read before the pause, and the next one would be read after it.
func TestRoundRestartsAfterProcessPause(t *testing.T) {
	t.Parallel()
	stoodStill(t, patienceMS+standstillMS, false)
	stoodStill(t, patienceMS+standstillMS+1, true)
}

func stoodStill(t testing.TB, forMS int64, again bool) {
	w, r := undisturbed(t)
	r.asksOrders()
	call, began := r.asksOrders(), w.engine.nowMS
	r.roundReads.snapshot.BeganMS = began
	w.engine.Handle(began+forMS, &EventAnswer{CallID: call, Answer: exchange.Answer{Operation: exchange.FuturesOpenOrders}}, &w.out)
	if have := r.roundReads.phase == 0 && r.roundMS == began+forMS; have != again {
		t.Errorf("after %d ms: want the round begun again %t, have phase %d, the next in %d ms", forMS, again, r.roundReads.phase, r.roundMS-began-forMS)
	}
}

// A round has changed positions if any strategy's position differs from the one before it.
func TestRoundMovedPositions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		before, now [2]exchange.Quantity
		want        bool
	}{{[2]exchange.Quantity{1, 2}, [2]exchange.Quantity{1, 2}, false}, {[2]exchange.Quantity{1, 2}, [2]exchange.Quantity{1, 3}, true},
		{[2]exchange.Quantity{1, 2}, [2]exchange.Quantity{0, 2}, true}} {
		b := valued(t, 2, 0)
		r := &round{base: b}
		for i, leg := range b.legs {
			see(leg.symbol, func(o *seen) { o.Position = c.now[i] })
			r.before = append(r.before, symbolBefore{position: c.before[i]})
		}
		if have := r.positionChanged(); have != c.want {
			t.Errorf("%v to %v: want it moved %t, have %t", c.before, c.now, c.want, have)
		}
	}
}
