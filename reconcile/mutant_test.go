package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/internal/mutant/mutanttest"
	"botd/reconcile/record"
)

// TestScenariosShowWhenTheyAreBroken breaks the rules that scenarios of this package show. No seed can show the first
// two, since snapshots that are L apart compensate for them (docs/simulation.md).
func TestScenariosShowWhenTheyAreBroken(t *testing.T) {
	mutanttest.Shown(t, "reconcile", map[string]func(testing.TB){
		"moved_snapshot":            decidedAfterAMove,
		"fills_meanwhile":           decidedAfterAFill,
		"younger_exit_decided":      exitAfterExit,
		"own_trades_ignored":        tradedUnseen,
		"list_decided_by":           heldWhereAListShowsNone,
		"lost_stop_waits":           lostStop,
		"adopted_unwitnessed":       func(t testing.TB) { adoptedThenEnded(t, -20_000, 30_000, true) },
		"executed_exit_unknown":     exitBeyondItsAnswer,
		"row_left_out":              func(t testing.TB) { shownOnce(t, false) },
		"unexplained_stripped":      shownByOneList,
		"margin_unasked":            func(t testing.TB) { marginOfLess(t, ForeignIgnore) },
		"half_wallet_believed":      func(t testing.TB) { halfAWallet(t, true) },
		"repetition_foreign":        func(t testing.TB) { repeatedWithoutID(t, func(*exchange.Order) {}, 20) },
		"moves_refused":             movesAfterARefusal,
		"sales_first":               soldTogether,
		"others_purchases_presumed": func(t testing.TB) { personsPurchase(t, 5, "1.015", 10) },
		"joined_unwitnessed":        func(t testing.TB) { joinedUnseen(t, func(*exchange.Position, int64) {}, true) },
		"bought_sold_with":          func(t testing.TB) { purchaseDuringASale(t, "1", true) },
		"sold_stop_stays":           func(t testing.TB) { stopOfWhatIsSold(t, false, true) },
		"unknown_entry_unprotected": stopOfUnknownEntry,
		"exit_keeps_stop_away":      stopWithUnknownExit,
		"exit_beside_exit":          exitInPlaceOfAStop,
		"backup_believed":           soldBeforeTheHistory,
		"resting_beside_exit":       restingExitWithAnother,
		"standing_down_forgot":      standsDownAfterAStart,
		"adopted_end_forgotten":     adoptedAndHidden,
		"repeat_fits":               func(t testing.TB) { repeatsDuringALostOne(t, "0.009", "0.01", 0) },
		"witness_forgotten":         func(t testing.TB) { endedBeforeItsEntryWasBooked(t, true) },
		"double_stays":              func(t testing.TB) { stopTooMany(t, []exchange.Quantity{10, 10}, 2, 1) },
		"twin_unprotected":          boughtByAnother,
		"both_stops_stay":           func(t testing.TB) { twoStops(t, elders, excessMS, true) },
		"both_sell":                 func(t testing.TB) { yields(t, elders, true, 500_000, 500_000+2*yieldMS) },
		"taken_sells":               takenByAnother,
		"clock_ahead_believed":      func(t testing.TB) { openedByAClockAhead(t, true, func(*exchange.Position, int64) {}, true) },
		"stood_down_sells_again":    func(t testing.TB) { soldByALaterJournal(t, "0.99", 10, "bt-00000100000-1", true) },
		"part_is_whole":             partReleased,
		"earlier_margin":            marginOfAnEarlierPosition,
		"part_sale_first":           partSoldBeforeItsPurchase,
		"bridge_short":              stopWithAnotherPurchase,
		"bridge_outgrown":           positionOutgrowsBridge,
		"refused_sold_again":        saleAfterARefusedOne,
		"reported_everywhere":       lostOnAnotherSymbol,
		"unanswered_takes_off":      func(t testing.TB) { stopNotAnswered(t, nil, "0.016", 0) },
		"equal_unnamed":             func(t testing.TB) { stopWithoutAnID(t, func(*exchange.Order) {}, true) },
		"refused_sale_rests":        func(t testing.TB) { refusedSaleRests(t, func(*exchange.Order) {}, true) },
		"equal_stops_stay":          func(t testing.TB) { twoEqualStops(t, 9, 9, false) },
		"name_forgotten":            func(t testing.TB) { shownWithItsID(t, true, 10) },
		"unnamed_stop_again":        func(t testing.TB) { stopOfAnother(t, func(*exchange.Order) {}, 0) },
		"one_wallet_strips":         func(t testing.TB) { vanishes(t, true, "1.01") },
		"twin_wallet_strips":        walletWithoutTwin,
		"unread_row_unfrozen":       frozenLess,
		"entry_unread_strips":       entryUnread,
		"paid_once":                 func(t testing.TB) { paidTwice(t, "1.02", "9000", 20) },
		"start_strips":              func(t testing.TB) { stopOfBefore(t, true) },
		"opposite_stays":            func(t testing.TB) { opposite(t, 10, exchange.Buy, true) },
		"stop_moves_for_exit":       dueExit,
		"reduction_opens":           func(t testing.TB) { reducesBeyond(t, 0, 0, 20, false, 0) },
		"no_margin_no_witness":      func(t testing.TB) { marginOfNone(t, ForeignIgnore) },
		"passed_unprotected":        passedUnexplained,
		"vanished_opens":            func(t testing.TB) { unexplainedVanishes(t, func(*desk) {}, false) },
		"unshown_reduced":           partOfNone,
		"step_below_ask":            func(t testing.TB) { stepThroughCollar(t, 11, exchange.RateOne/20, "52.5") },
		"hung_list_strips":          func(t testing.TB) { stopOfBefore(t, false) },
		"unfrozen_takes_off":        func(t testing.TB) { stopNotAnswered(t, record.Acknowledged{OrderID: 10}, "0.01", 0) },
		"own_beside_twin":           ownWithAnother,
		"sold_held_twice":           leftBySale,
		"outlived_waits":            func(t testing.TB) { leftOfShown(t, 40, true) },
		"read_before_it_arrived":    func(t testing.TB) { readBeforeItArrived(t, 4_000, 0) },
	})
}
