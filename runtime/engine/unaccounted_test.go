package engine

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/ledger"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/risk"
)

// The strategy is removed while its exit's money waits for a stable wallet. Another strategy has a position then, and
// the exit's result must not count for it.
func TestLastResultBelongsToRemovedStrategy(t *testing.T) {
	t.Parallel()
	for name, restarts := range map[string]bool{"while it runs": false, "before a start": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var one, two exchange.Quantity
			w := pairOf(t, exchange.Futures, &one, &two, ownLimits(risk.Limits{MaxDrawdown: risk.Loss{USDT: exchange.AmountOf(9_000)}}))
			w.config.Strategies[1].Limits = w.config.Strategies[0].Limits
			w.pass(5_000)
			one, two = small(exchange.Futures)
			w.pass(40_000)
			before := w.engine.Tracker().Watch("two").Result().Result
			w.price("51000")
			w.engine.config.Bounds.StalenessMS = 8_000
			one = 0
			for range 100 {
				if w.pass(100); w.engine.roster.removalObstacle(w.engine.legs[0]) == "" {
					break
				}
			}
			if w.engine.Tracker().Watch("one").Traded() == 0 {
				t.Fatal("want an exit that is in no result yet")
			}
			removed := w.config.Strategies[0]
			if w.change(Reload{Removed: []string{"one"}}); restarts {
				w.config.Strategies[0] = StrategyConfig{Name: "one", Symbol: removed.Symbol, Interval: removed.Interval, Removed: true}
				orphans := w.engine.Tracker().Orphans(func(name string, _ exchange.SymbolKey) bool { return name == "two" })
				if len(orphans) != 1 || orphans[0].Strategy != "one" {
					t.Fatalf("want it known at a start, have %v", orphans)
				}
				w.start()
			}
			w.pass(60_000)
			tracker := w.engine.Tracker()
			if made := tracker.Watch("one").Result().Result; made.Sub(exchange.AmountOf(20)).Abs().Cmp(exchange.AmountOf(2)) > 0 {
				t.Errorf("want 20 less fees for the 0.02 BTC that it sold 1000 higher, have %s", made)
			}
			if made := tracker.Watch("two").Result().Result; made != before {
				t.Errorf("want the other strategy's result as it was, %s, have %s", before, made)
			}
			if have := w.names(); len(have) != 1 {
				t.Errorf("want it gone when its money is known, have %v", have)
			}
		})
	}
}

// The process ends after the results have excluded a deposit: before the ledger has booked it, or afterwards.
func TestMoneyFromOutsideIsNoResultAcrossAStart(t *testing.T) {
	t.Parallel()
	for name, booked := range map[string]bool{"before it is booked": false, "after it is booked": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, hold(10), withLedger, lossLimits)
			w.pass(60_000)
			before := w.engine.Tracker().Watch("one").Result().Result
			w.moves(exchange.AmountOf(500))
			w.network = func(call *Call) fate { // it completes a reading
				return fate{lost: !booked && call.Request.Operation == exchange.FuturesPositionsHistory}
			}
			w.pass(30_000)
			if flow := w.engine.limits.unbooked(); flow.IsZero() != booked {
				t.Fatalf("want it booked %t, have %s to be booked", booked, flow)
			}
			w.network = nil
			w.start()
			w.pass(60_000)
			if have := w.engine.Tracker().Watch("one").Result().Result; have != before {
				t.Errorf("want the result as it was, %s, have %s", before, have)
			}
		})
	}
}

// A spot position ends, which journals the account's losses in a row, while the money of a futures exit is awaited.
func TestSpotResultKeepsPendingFuturesResult(t *testing.T) {
	t.Parallel()
	var one, two exchange.Quantity
	limits := risk.Limits{MaxLosingStreak: 9, CoolDownMS: 60_000}
	w := pairOf(t, exchange.Futures, &one, &two, accountLimits(limits), ownLimits(limits))
	w.config.Strategies[1].Symbol, w.config.Strategies[1].Leverage = w.venue.Symbol(coin), 0
	w.start()
	w.pass(5_000)
	one, two = 10, 2_000*w.venue.Symbol(coin).QuantityTick
	w.pass(40_000)
	w.engine.config.Bounds.StalenessMS = 10_000
	one, two = 0, 0
	for range 300 {
		if w.pass(100); w.engine.Tracker().Watch("two").Losses() != 0 {
			break
		}
	}
	if w.engine.Tracker().Watch("one").Traded() == 0 || w.engine.Tracker().Watch("two").Losses() == 0 {
		t.Fatal("want an end on spot that is in a result, and one on futures that is in none yet")
	}
	w.pass(40_000)
	w.wantResult()
}

// A spot purchase is known, and the wallet that paid for it could not be read, when a reload has the account's day measured.
func TestEquityIsNotOfTwoMoments(t *testing.T) {
	t.Parallel()
	var one, two exchange.Quantity
	w := pairOf(t, exchange.Futures, &one, &two, accountLimits(risk.Limits{MaxDrawdown: risk.Loss{USDT: exchange.AmountOf(900)}}))
	w.config.Strategies[1].Symbol, w.config.Strategies[1].Leverage = w.venue.Symbol(coin), 0
	w.start()
	w.pass(5_000)
	before := w.engine.Tracker().Today()
	two = 2_000 * w.venue.Symbol(coin).QuantityTick
	w.network = func(call *Call) fate {
		return fate{lost: call.Request.Operation == exchange.SpotWallet && w.heldOf(exchange.Spot, "BTC-USDT") != 0}
	}
	for range 100 {
		if w.pass(100); w.engine.Tracker().Track(coin).Position() != 0 {
			break
		}
	}
	if w.engine.Tracker().Track(coin).Position() == 0 {
		t.Fatal("want a purchase that is known")
	}
	w.change(Reload{Limits: &w.config.Limits})
	if have := w.engine.Tracker().Today(); have.Peak != before.Peak {
		t.Errorf("want the highest equity as it was, %s, have %s", before.Peak, have.Peak)
	}
	w.network = nil
	w.pass(40_000)
	if w.engine.limits.mixed {
		t.Error("want the equity known again when both can be read")
	}
}

// The exit is known from its order, while positions and wallet are older. If they were booked, the exit's result would look like
// external money.
func TestReadBeforeFillIsNotBooked(t *testing.T) {
	t.Parallel()
	var desired exchange.Quantity
	w := desiring(t, &desired, withLedger, lossLimits)
	w.pass(5_000)
	desired = 100
	w.pass(60_000)
	w.price("50900")
	w.pass(60_000)
	w.engine.config.Bounds.StalenessMS = 3_000
	old := map[exchange.Operation]exchange.Answer{}
	until := int64(0)
	w.mirror = func(answer *exchange.Answer) {
		if answer.Operation != exchange.FuturesAccount && answer.Operation != exchange.FuturesOpenPositions {
			return
		}
		if was, found := old[answer.Operation]; found && w.now < until {
			*answer = was
		} else if desired != 0 {
			old[answer.Operation] = *answer
		}
	}
	w.pass(20_000)
	desired, until = 0, w.now+5_000
	for range 200 {
		w.pass(100)
		if flow := w.engine.limits.unbooked(); !flow.IsZero() {
			t.Fatalf("want no money from outside, have %s", flow)
		}
	}
	w.wantHeld(0)
	w.pass(60_000)
	w.wantResult()
	w.wantSum(ledger.Transferred, exchange.Futures, "USDT", exchange.AmountOf(-10_000))
	for i := range w.records {
		if body, is := w.records[i].Body.(record.Result); is && body.Result.Cmp(exchange.AmountOf(-20)) < 0 {
			t.Errorf("want nothing counted that was not lost, have %+v", body)
		}
	}
}

// An order is filled, and for two minutes nothing shows orders: the position and the wallet do. The fee that is booked meanwhile belongs to the strategy
// whose order it was, though its fill is not known yet.
func TestFeeOfAnUnreadFillBelongsToItsStrategy(t *testing.T) {
	t.Parallel()
	feeOfAnUnreadFill(t)
}

func feeOfAnUnreadFill(t testing.TB) {
	t.Helper()
	var desired exchange.Quantity
	w := desiring(t, &desired, withLedger)
	w.pass(5_000)
	desired = 100
	placed := false
	w.network = func(call *Call) fate {
		switch call.Request.Operation {
		case exchange.FuturesPlace:
			placed = true
		case exchange.FuturesOpenOrders, exchange.FuturesOrder:
			if placed {
				return fate{err: &exchange.Unavailable{Reason: "status 503"}}
			}
		}
		return fate{}
	}
	w.pass(120_000)
	if w.ledger().Untouched(exchange.Futures) && w.sum(ledger.Fees, exchange.Futures, "USDT").IsZero() {
		t.Fatal("want the fee booked meanwhile")
	}
	w.network = nil
	w.pass(60_000)
	w.wantHeld(100)
	for b := range w.ledger().Balances() {
		if b.Account == ledger.Fees && b.Strategy != "one" {
			t.Errorf("want it paid by the strategy, have %+v", b)
		}
	}
	w.wantSum(ledger.Fees, exchange.Futures, "USDT", w.venue.Money("one").Fees)
}

// A fee belongs to a strategy before its fill is known only if the fills do not explain the position, and an order of the strategy may have been executed.
func TestFeeOfAPersonsTradeBelongsToNobody(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		residual exchange.Quantity
		live     bool
		want     string
	}{
		"a person's":   {5, false, ""},
		"an order's":   {5, true, "one"},
		"of a funding": {0, true, ""},
	} {
		w := settled(t)
		see(w.symbol(), func(o *seen) { o.Residual = c.residual })
		if c.live {
			w.sends(placement.Entry)
		}
		lines := []ledger.Line{{Account: ledger.Fees, Symbol: bitcoin, Amount: exchange.AmountOf(1)}}
		if (&accounting{base: w.engine.base}).attribute(lines); lines[0].Strategy != c.want {
			t.Errorf("%s: want it paid by %q, have %q", name, c.want, lines[0].Strategy)
		}
	}
}
