package engine

import "testing"

// TestTwoBotdsPlaceOneLadder runs two botds with copies of one journal, the second of which may receive the answers to its reads or to its
// placements late. The plan is the limit, and one order more is allowed.
func TestTwoBotdsPlaceOneLadder(t *testing.T) {
	t.Parallel()
	for _, slowMS := range []int64{0, 160, 300, 500, 1_200} {
		for _, beganMS := range []int64{-1_000, -680, -240, -120, 0, 240, 520} {
			oneLadder(t, slowMS, beganMS, false)
			oneLadder(t, slowMS, beganMS, true)
		}
	}
}

// oneLadder has the second botd plan the ladder so much later than the first, and receive the answers to a round of reads, or to a placement, that late.
func oneLadder(t testing.TB, slowMS, beganMS int64, placements bool) {
	const orders = 16
	begins := func(afterMS int64) option {
		return func(w *world) { w.config.Strategies[0].Schedule = each(1_000 + max(0, afterMS)) }
	}
	one := newWorld(t, ladder(orders), begins(-beganMS))
	other := newWorld(t, ladder(orders), begins(beganMS), func(w *world) { w.venue, w.lifes = one.venue, 1 })
	other.network = func(call *Call) fate {
		if call.Request.Operation.Places() == placements {
			return fate{longMS: slowMS / 2}
		}
		return fate{}
	}
	for range 7_000 {
		one.pass(1)
		other.pass(1)
	}
	if have := len(one.sent) + len(other.sent); have > orders+1 {
		t.Errorf("late by %d ms (placements: %t), begun %d ms later: want at most %d orders, have %d and %d", slowMS, placements, beganMS, orders+1,
			len(one.sent), len(other.sent))
	}
}
