package engine

import (
	"errors"
	"slices"
	"testing"

	"botd/exchange"
	"botd/internal/mutant/mutanttest"
	"botd/reconcile/ledger"
)

func caseNamed(name string) func(testing.TB) {
	cases := allCases()
	at := slices.IndexFunc(cases, func(c caseTest) bool { return c.name == name })
	if at < 0 {
		return func(t testing.TB) { t.Fatalf("there is no case %q", name) }
	}
	return cases[at].run
}

// withdrawn withdraws 3000 of 10000 while nothing is traded, or at the moment of an exit, and then has a
// person declare it.
func withdrawn(declared bool) func(testing.TB) {
	return func(t testing.TB) {
		target := exchange.Quantity(10)
		w := newWorld(t, swing(&target), withLedger, lossLimits)
		w.pass(60_000)
		before, by := w.engine.Tracker().Today(), exchange.MustAmount("-3000")
		if w.moves(by); declared {
			target = 5
		}
		w.pass(120_000)
		if declared {
			w.declare(exchange.Futures, "-3000")
			w.pass(10_000)
		}
		if after := w.engine.Tracker().Today(); after.Equity != before.Equity.Add(by) {
			t.Errorf("the day's equity: want it moved by %s, have %s, was %s", by, after.Equity, before.Equity)
		}
		if d := w.engine.Degraded(); len(d) > 0 {
			t.Errorf("want nothing declared, have %+v", d)
		}
		if sum := w.sum(ledger.Unexplained, exchange.Futures, "USDT"); !sum.IsZero() {
			t.Errorf("want nothing unexplained, have %s", sum)
		}
	}
}

func liquidatedHalts(t testing.TB) {
	w := newWorld(t, hold(1_500), withLedger, func(w *world) { w.config.Strategies[0].Leverage = 20 })
	w.pass(60_000)
	w.price("43500")
	w.pass(30_000)
	w.wantHeld(0)
	w.wantState("halted")
}

// TestRulesOfTheEngineShowWhenTheyAreBroken breaks the rules that the scenarios of this package show. Each
// scenario passes unchanged, and fails when its rule is broken.
func TestRulesOfTheEngineShowWhenTheyAreBroken(t *testing.T) {
	mutanttest.Shown(t, "runtime/engine", map[string]func(testing.TB){
		"release_waits":  stopAfterARelease,
		"purchase_waits": stopAfterAPurchase,
		"unknown_symbol_waits": func(t testing.TB) {
			restoresUnknown(t, []int{exchange.CodeFuturesInvalidSymbol, exchange.CodeFuturesInvalidSymbol}, firstReduceMS)
		},
		"shown_fill_unheeded": func(t testing.TB) { filledMeanwhile(t, "late", true, &EventAnswer{Answer: quoteByID(10)}, 0, true) },
		"shown_position_unheeded": func(t testing.TB) {
			filledMeanwhile(t, "a position", false, &EventAnswer{Answer: positionListed(exchange.Short, "BTC-USDT")}, 0, true)
		},
		"peer_stop_ignored":       func(t testing.TB) { anothersStop(t, "bt-00000220000-2", "bt-00000220000-2") },
		"denied_at_once":          func(t testing.TB) { deniedStops(t, false, false, 2) },
		"unconfirmed_declared":    unconfirmedRefused,
		"removed_plan_stands":     comesBack,
		"standing_stop_forgotten": standingStopWaits,
		"ended_position_refused":  nextStopIsSent,
		"standing_down_unread":    func(t testing.TB) { stopsUnread(t, "1.01", 1) },
		"spot_latch_removed":      caseNamed("16 spot: what a person sold is adopted, latched, and not bought back"),
		"adoption_opens":          caseNamed("16 closed manually: positions/history shows it, it is adopted, latched, and not bought back"),
		"others_proceeds":         func(t testing.TB) { soldWith(t, coin, exchange.Sell, "-0.09") },
		"sold_before_bought":      func(t testing.TB) { soldWith(t, coin, exchange.Buy, "89.91") },
		"transfer_is_profit":      withdrawn(false),
		"declaration_is_profit":   withdrawn(true),
		"liquidation_goes_on":     liquidatedHalts,
		"liquidation_unexplained": func(t testing.TB) { unexplainedLiquidated(t) },
		"refusal_trusted":         refusedWithoutIDs,
		"smaller_stop_waits":      func(t testing.TB) { smallerStop(t, 1_000, 1) },
		"found_stop_refused":      func(t testing.TB) { stopAfterAFoundOne(t, false) },
		"torn_list_confirms":      refusedWithATornList,
		"refusal_forgotten":       func(t testing.TB) { removedWithARefusedOpening(t, "flatten", true) },
		"decided_beside":          func(t testing.TB) { neverSentSlice(t, nil) },
		"order_id_ignored":        settlesByOrderID,
		"cancels_out":             ownResults,
		"share_unestimated":       ownResults,
		"funding_dropped":         ownResults,
		"peak_stays":              dayStored,
		"short_slice_sent":        func(t testing.TB) { shortSlice(t, false, false, 5_000) },
		"lag_ignored":             func(t testing.TB) { laggingFill(t, 10_000, 0, exchange.SpotWallet, false) },
		"lag_suspends_unread":     unreadFill,
		"peak_of_ended":           endedBeforeItsPrice,
		"day_stops_limits":        drawdownWhileADayWaits,
		"peak_of_estimate":        peakWaits,
		"day_of_estimate":         peakWaits,
		"day_never":               peakWaits,
		"peak_of_unknown":         peakWaits,
		"closed_at_last_price":    closedAtItsRound,
		"unread_is_explained":     bookedWhenStable,
		"day_of_hours":            dayStored,
		"day_from_nothing":        dayBegins,
		"worthless_unpriced":      unpricedEquity,
		"worthless_unread":        unpricedEquity,
		"price_before_start":      unpricedEquity,
		"price_awaited":           missingPrice,
		"no_deadline": func(t testing.TB) {
			w := newWorld(t, hold(20), protected, offload)
			w.pass(10_000)
			w.answers = func(*Ask) *thought { return hangs }
			w.pass(4_000)
			w.wantState("hung")
		},
		"signal_on_the_engine": func(t testing.TB) {
			w := newWorld(t, followSignals, listens, offload)
			w.pass(10_000)
			if err := w.signal("one", 1, 7); !errors.Is(err, ErrNotReady) {
				t.Errorf("a signal that nobody has answered: want %v, have %v", ErrNotReady, err)
			}
		},
		"resting_entry_forgotten": func(t testing.TB) { deniedEntry(t, false) },
		"replaced_unreported":     func(t testing.TB) { liquidatedDuringAnEntry(t) },
		"trades_read_at_once":     tradesReadInTurn,
		"trades_read_of_some":     tradesReadInTurn,
		"resting_stop_forgotten":  restingStop{market: onEther, shown: exchange.StatusCanceled}.check,
		"frozen_unreported":       restingStop{market: onEther, shown: exchange.StatusFilled}.reported,
		"first_rules_decide":      func(t testing.TB) { hugeMinimum(t, onEther) },
		"first_rules_stay":        func(t testing.TB) { hugeMinimum(t, onEther) },
		"rules_of_a_wrong_read":   positionOmitted,
		"untraded_at_start":       uncoveredPart,
		"forgotten_is_nothing":    haltReportsForgottenOrders,
		"unread_fill_is_nobodys":  feeOfAnUnreadFill,
		"unbooked_is_lost":        func(t testing.TB) { unbookedPurchase(t, onEther) },
		"denied_purchase_at_once": deniedPurchase,
		"refused_before":          stopAfterRefusals,
		"unlisted_follows":        func(t testing.TB) { unlistedLadder(t, false) },
		"fetched_follows":         func(t testing.TB) { unlistedLadder(t, true) },
		"unannounced_follows":     func(t testing.TB) { oneLadder(t, 1_200, -1_000, false) },
		"lost_read":               func(t testing.TB) { lostRead(t, exchange.SpotWallet) },
		"unanswered_stop":         func(t testing.TB) { unansweredStop(t, bitcoin) },
		"amount_unseen":           amountOnItsWay,
		"part_is_covered":         func(t testing.TB) { stopsOnSpot(t, "one of part of it", []exchange.Quantity{1_000}, false) },
		"rules_of_the_start":      rulesOfNow,
		"quarantine_unread":       func(t testing.TB) { exitsUnread(t, "quarantined", quarantinedFor(0), 1) },
		"form_ignored":            func(t testing.TB) { stopOfItsForm(t, "adopt", exchange.RateOne/20, false) },
		"second_buyer_ignored":    func(t testing.TB) { otherBuys(t, "adopt", true) },
		"lost_purchases_ignored":  boughtBeforeALoss,
		"queued_by_old_plan":      lateUnderOldRules,
		"first_history_only":      func(t testing.TB) { boughtBeforeALossAndOmitted(t, 60_000, 60_000, 3) },
		"equal_ignored":           func(t testing.TB) { equalOpening(t, equal{policy: "adopt"}) },
		"equal_forgotten":         func(t testing.TB) { equalOpening(t, equal{policy: "adopt", canceled: true}) },
		"omitted_has_ended":       func(t testing.TB) { equalOpening(t, equal{policy: "adopt", omitted: true}) },
		"older_equal_ignored":     func(t testing.TB) { equalOpening(t, equal{policy: "adopt", older: true}) },
		"former_rules_open":       formerRules,
		"standstill_goes_on":      func(t testing.TB) { stoodStill(t, patienceMS+standstillMS+1, true) },
		"price_hangs":             func(t testing.TB) { hungPrice(t, exchange.Futures) },
		"halt_waits_for_reads":    func(t testing.TB) { haltedUnread(t, true) },
		"repetition_ends":         refusedTwice,
		"step_sells":              func(t testing.TB) { stepGrows(t, exchange.Futures) },
		"stop_off_first":          func(t testing.TB) { stopOutlasts(t, notTraded) },

		"symbol_refuses_cancel":   func(t testing.TB) { cancelRefusedWith(t, exchange.CodeSpotInvalidSymbol, 0) },
		"suspended_exit":          func(t testing.TB) { suspendedExit(t, 17_000, true) },
		"excess_relied_on":        personSells,
		"exit_waits_after_stop":   exitAfterAnAcceptedStop,
		"refused_slice_relied_on": func(t testing.TB) { shortSlice(t, true, false, 8_000) },
		"refused_before_opening":  refusedBeforeOpening,
		"former_plan_opens":       func(t testing.TB) { startsWithFormerPlan(t, offload, byCandles) },
		"removed_next_to_peer": func(t testing.TB) {
			w := settled(t)
			if peersOrder(exchange.Buy, false)(w); w.engine.roster.ended(w.engine.legs[0], &Reload{}) {
				t.Error("want it to stay while another botd's opening rests")
			}
		},
	})
}
