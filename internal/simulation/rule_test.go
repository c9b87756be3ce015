package simulation

import (
	"slices"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/internal/mutant"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/strategy"
)

// rehearsal is a directed scenario for rules of the protocol whose breach seeds rarely show. It must fail if
// one of its rules is broken (TestEveryMutantIsCaught).
type rehearsal struct {
	name  string
	rules []string
	play  func(t testing.TB)
}

// rehearse plays a scenario on a stage and checks that everything converges after it.
func rehearse(play func(s *stage), plan planner, options ...staged) func(t testing.TB) {
	return func(t testing.TB) {
		s := newStage(t, plan, options...)
		play(s)
		s.finish()
	}
}

// aged freezes the answer of an operation for a while.
func (s *stage) aged(operation exchange.Operation, ms int64) {
	s.t.Helper()
	old, err := s.w.venue.x.Do(trader, &exchange.Request{Operation: operation})
	if err != nil {
		s.t.Fatal(err)
	}
	until := s.w.nowMS + ms
	s.forge = func(f *flight) {
		if f.call.Request.Operation == operation && f.err == nil && s.w.nowMS < until {
			f.answer = old
		}
	}
}

// fenced waits for an uncertain placement, and then until the given time before its
// fence.
func (s *stage) fenced(beforeMS int64) {
	s.t.Helper()
	s.until("an uncertain placement", func() bool { return s.tracker().AnyUncertain() })
	fence := int64(0)
	for p := range s.tracker().Live() {
		if p.State() == placement.Uncertain {
			fence = max(fence, p.Fence(s.w.bounds))
		}
	}
	s.pass(float64(fence-beforeMS-s.w.nowMS) / 1_000)
}

// bidNearby rests one bid, loses another, and waits for the fence of the lost one. It
// returns the order id of the first.
func (s *stage) bidNearby() int64 {
	s.t.Helper()
	s.until("the first bid", func() bool { return len(s.orders()) == 1 })
	s.inject(LostRequest, 1, placing)
	s.fenced(0)
	return s.orders()[0].ID
}

var rehearsals = []rehearsal{
	{"an order fills just after another's fence, and positions lag behind the list", nil, rehearse(func(s *stage) {
		id := s.bidNearby()
		s.aged(exchange.FuturesOpenPositions, 6_500)
		s.take(id, 4)
		s.pass(20)
		s.wantHeld(4)
		s.wantSound()
	}, bids(49_000, 48_000), lagging)},
	{"an order fills just after another's fence, and the list lags behind the positions", []string{"one_snapshot"}, rehearse(func(s *stage) {
		id := s.bidNearby()
		s.aged(exchange.FuturesOpenOrders, 6_500)
		s.take(id, 4)
		s.pass(20)
		s.wantHeld(4)
		s.wantSound()
	}, bids(49_000, 48_000), lagging)},
	{"the same while the clock jumps ahead", []string{"one_snapshot"}, rehearse(func(s *stage) {
		id := s.bidNearby()
		s.aged(exchange.FuturesOpenOrders, 6_500)
		s.take(id, 4)
		s.pass(2)
		s.w.daemon.clockError = 6_000
		s.pass(20)
		s.wantHeld(4)
		s.wantSound()
	}, bids(49_000, 48_000), lagging)},
	{"an exit fills and is hidden when another's fence passes", []string{"unseen_ignored"}, rehearse(func(s *stage) {
		s.pass(10)
		s.inject(LostRequest, 1, placing)
		s.plan = hold(20)
		s.fenced(1_000)
		s.inject(Hidden, 1, placing)
		s.plan = hold(0)
		s.until("the exit's fill", func() bool { return s.held() == 0 })
		for id := range s.w.venue.hidden {
			s.w.venue.hidden[id] = s.w.nowMS + s.w.bounds.VisibilityMS - 100
		}
		s.pass(20)
		s.wantHeld(0)
		s.wantSound()
	}, hold(10))},
	{"an exit fills and its answer is under way when another's fence passes", []string{"awaited_ignored"}, rehearse(func(s *stage) {
		s.pass(10)
		s.inject(LostRequest, 1, placing)
		s.plan = hold(20)
		s.fenced(1_000)
		s.w.network = newDraw(10, 1) // a broken connection that is noticed late
		s.inject(LostAnswer, 1, placing)
		s.plan = hold(0)
		s.until("the exit's fill", func() bool { return s.held() == 0 })
		s.pass(5)
		want(s, "the exit waits for its answer", true, s.tracker().AnyLive(func(p *account.Placement) bool { return p.State() == placement.Sending }))
		s.pass(20)
		s.wantHeld(0)
		s.wantSound()
	}, hold(10))},
	{"a bid arrives, and shows, as late as the bounds allow", []string{"no_fence", "no_window", "no_visibility"}, rehearse(func(s *stage) {
		s.w.harsh = true
		s.inject(Queued, 1, placing)
		s.inject(LateRequest, 1, placing)
		s.inject(Hidden, 1, placing)
		s.inject(StaleRead, 1_000, asking(exchange.FuturesOpenOrders))
		s.until("a bid", func() bool { return len(s.orders()) == 1 })
		s.pass(20)
		want(s, "openings sent", 1, s.sent(opening))
		s.pass(20)
		want(s, "openings sent", 1, s.sent(opening))
		s.wantSound()
	}, bids(49_000), limited(10), latest)},
	{"a resting exit and a stop whose price was passed", []string{"opens_beside_exit"}, rehearse(func(s *stage) {
		s.pass(10)
		for _, o := range s.orders() {
			if o.Type.StopLoss() {
				s.cancel(o.ID)
			}
		}
		s.pass(0.1)
		s.price("49000")
		s.pass(20)
		s.wantHeld(0)
		resting := func(a *placed) bool { return a.order.ReduceOnly && a.order.Type == exchange.Limit }
		want(s, "resting exits sent", 1, s.sent(resting))
	}, func(view *strategy.View, plan *strategy.Plan) {
		hold(10)(view, plan)
		price, _ := view.Symbol.Price(decimal.NewFromInt(51_000))
		plan.ExitsSet, plan.Exits = true, []strategy.DesiredOrder{{Key: "high", Side: exchange.Sell, Price: price, Quantity: 10}}
	}, protected)},
	{"a new bid and a stop whose price was passed", []string{"opens_beside_exit"}, rehearse(func(s *stage) {
		s.until("a stop", func() bool { return s.stops() == 1 })
		for _, o := range s.orders() {
			if o.Type.StopLoss() {
				s.cancel(o.ID)
			}
		}
		s.pass(0.1)
		s.price("49000")
		s.plan = bids(40_000)
		s.until("an exit", func() bool { return s.sent(exiting) == 1 })
		s.pass(0.1)
		want(s, "openings sent before the exit ended", 1, s.sent(opening))
		s.pass(20)
		s.wantHeld(0)
	}, hold(10), protected)},
	{"somebody sells on spot what botd bought, and botd wants out", []string{"short_sold"}, rehearse(func(s *stage) {
		s.pass(30)
		s.manualTrade(exchange.Sell, 600, false)
		s.pass(30)
		s.wantState("quarantined")
		s.plan = hold(0)
		s.pass(30)
		want(s, "nothing of the user's own is sold", true, s.held() >= 0)
		s.uneven = true
	}, hold(1_000), onSpot)},
}

func TestRehearsal(t *testing.T) {
	t.Parallel()
	for _, r := range rehearsals {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			r.play(t)
		})
	}
}

func TestEveryRuleThatSeedsDoNotShowHasItsRehearsal(t *testing.T) {
	t.Parallel()
	for _, row := range mutant.Table {
		has := slices.ContainsFunc(rehearsals, func(r rehearsal) bool { return slices.Contains(r.rules, row.Name) })
		if wanted := strings.HasPrefix(row.Shown, "internal/simulation"); has != wanted {
			t.Errorf("%s: want a rehearsal %t, have %t", row.Name, wanted, has)
		}
	}
}
