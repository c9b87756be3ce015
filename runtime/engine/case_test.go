package engine

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
)

// caseTest proves a case of docs/exactly-once.md, whose number begins its name.
type caseTest struct {
	name string
	run  func(t testing.TB)
}

// TestCase runs the tests of the protocol's cases.
func TestCase(t *testing.T) {
	t.Parallel()
	for _, c := range allCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t)
		})
	}
}

// allCases returns the tests of all cases. A new list needs one line here.
func allCases() []caseTest {
	return slices.Concat(
		casesOfPlacing,
		casesOfState,
		casesOfExits,
		casesOfStates,
		casesOfSpot,
		casesOfBelief,
	)
}

// casesOfPlacing are the cases of a placement's answer.
var casesOfPlacing = []caseTest{
	{"01 a lost request is uncertain, proven absent, decided again", func(t testing.TB) {
		w := newWorld(t, hold(10))
		w.network = once(fate{lost: true})
		w.pass(12_000)
		w.wantSent(0) // lost: nothing reached the exchange, and nothing more is sent
		w.pass(30_000)
		w.wantSent(1)
		w.wantHeld(10)
		w.wantSound()
	}},
	{"01 a lost answer is uncertain, proven filled, not sent again", func(t testing.TB) {
		w := newWorld(t, hold(10))
		w.network = once(fate{silent: true})
		w.pass(60_000)
		w.wantSent(1)
		w.wantHeld(10)
		w.wantSound()
	}},
	{"02 an unparsable answer leaves the placement uncertain", func(t testing.TB) {
		w := newWorld(t, hold(10))
		w.network = w.first(&exchange.Uncertain{Reason: "malformed answer"}, nil)
		w.pass(60_000)
		w.wantSent(1)
		w.wantHeld(10)
		if len(facts[NoteUncertain](w.notes)) != 1 {
			t.Errorf("want it reported once, have %d", len(facts[NoteUncertain](w.notes)))
		}
	}},
	{"03 a parsed refusal ends the placement, and a round reads", func(t testing.TB) {
		w := newWorld(t, hold(10))
		w.network = once(fate{err: &exchange.Refusal{Status: 400, Code: 9, Message: "not now"}})
		w.pass(1_500)
		rounds := len(facts[NoteRound](w.notes))
		w.pass(1_500)
		if len(facts[NoteRound](w.notes)) == rounds {
			t.Error("want a snapshot after the refusal")
		}
		w.pass(5_000)
		w.wantSent(1) // decided again, under a new id
		w.wantHeld(10)
	}},
	{"04 a rate-limited placement is uncertain and trips the breaker", func(t testing.TB) {
		w := newWorld(t, hold(10), breaks)
		w.network = once(fate{err: &exchange.Uncertain{Reason: exchange.ReasonRateLimited}})
		w.pass(3_000)
		w.wantState("breaker")
		w.pass(40_000)
		w.wantSent(0)
		w.pass(30_000)
		w.wantSent(1)
		w.wantHeld(10)
		w.wantSound()
	}},
	{"05 a bad timestamp is a refusal, that intent is not sent again", func(t testing.TB) {
		w := newWorld(t, hold(10))
		ids := map[string]bool{}
		w.network = func(call *Call) fate {
			if !call.Request.Operation.Places() {
				return fate{}
			}
			if ids[call.Request.Order.ClientOrderID] {
				t.Errorf("%s was sent twice", call.Request.Order.ClientOrderID)
			}
			ids[call.Request.Order.ClientOrderID] = true
			if len(ids) == 1 {
				return fate{err: &exchange.Refusal{Status: 401, Code: exchange.CodeInvalidTimestamp, Message: "late"}}
			}
			return fate{}
		}
		w.pass(10_000)
		w.wantSent(1)
		w.wantHeld(10)
	}},
	{"06 a crash between sending and answer is uncertain at the restart", func(t testing.TB) {
		w := newWorld(t, hold(10))
		w.network = once(fate{longMS: 5_000})
		w.pass(1_060) // sent, not answered
		w.wantSent(1)
		w.network = nil
		w.start()
		w.pass(60_000)
		w.wantSent(1)
		w.wantHeld(10)
		w.wantSound()
	}},
	{"07 nothing is sent whose record is not durable", func(t testing.TB) {
		w := newWorld(t, hold(10))
		w.disk = errors.New("disk full")
		w.pass(10_000)
		w.wantSent(0)
		w.wantState("journal")
		w.disk = nil
		w.pass(10_000)
		w.wantSent(1)
		w.wantHeld(10)
		w.wantSound()
	}},
	{"08 filled at once and never listed: the equation", func(t testing.TB) {
		w := newWorld(t, hold(10))
		w.network = once(fate{silent: true})
		w.pass(60_000)
		state, evidence := w.ended(0)
		if state != placement.Filled || !strings.Contains(evidence, "inferred") {
			t.Errorf("want filled, inferred; have %s %q", state, evidence)
		}
	}},
	{"25 three uncertain orders in ten minutes trip the breaker for ten", func(t testing.TB) {
		w := newWorld(t, hold(10), breaks)
		w.network = every(fate{lost: true})
		w.pass(120_000)
		w.wantState("breaker")
		w.network = nil
		w.pass(400_000)
		w.wantSent(0)
		w.start() // a restart knows it, too
		w.wantState("breaker")
		w.pass(300_000)
		w.wantSent(1)
		w.wantHeld(10)
		w.wantSound()
	}},
	{"26 endings without a fill during a longer pause trip nothing, and rounds keep their pace", func(t testing.TB) {
		target := exchange.Quantity(10)
		w := newWorld(t, swing(&target), breaks)
		w.pass(5_000)
		target = 0
		w.network = every(fate{err: &exchange.Uncertain{Reason: "reset"}}) // exits: they end as absent later, after the filled one
		w.pass(7_000)
		w.network = nil
		w.pass(60_000)
		w.wantHeld(0)
		w.wantState("breaker")
		requests := 0
		w.network = func(*Call) fate { requests++; return fate{} }
		w.pass(60_000)
		if most := 60; requests > most { // a poll of price and candles, and a round every 15 s
			t.Errorf("requests of an idle minute: want %d at most, have %d", most, requests)
		}
	}},
	{"26 three endings without a fill trip the breaker for 45 s and read the rules again", func(t testing.TB) {
		w := newWorld(t, hold(10), breaks)
		rules := 0
		w.network = func(call *Call) fate {
			if call.Request.Operation == exchange.FuturesSymbols {
				rules++
			}
			if call.Request.Operation.Places() {
				return fate{err: &exchange.Refusal{Status: 400, Code: 9, Message: "not now"}}
			}
			return fate{}
		}
		w.pass(20_000)
		w.wantState("breaker")
		if rules == 0 {
			t.Error("want the symbol rules read again")
		}
		w.network = nil
		w.pass(30_000)
		w.wantSent(0)
		w.pass(30_000)
		w.wantHeld(10)
		w.wantSound()
	}},
}
