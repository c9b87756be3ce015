package mutant

// futures breaks the rules about lists that are wrong about futures positions and their orders.
var futures = []Row{
	{"replaced_unreported", "a liquidation goes unreported if a fill has opened a later position", "46",
		"runtime/engine TestLiquidationDuringAnEntryIsAnEvent", []Edit{
			{"reconcile.SymbolState.Liquidation", "replaced(s, &snapshot.Closed[i])", "false"},
		}},
	{"omitted_stop_rests", "after a start, a stop that the list omits and whose end cannot be read counts as resting", "43",
		"reconcile TestOmittedStopWithUnreadableEndIsReplaced", []Edit{
			{"reconcile.Tracker.EndUnread", "mayHaveEnded(t, p)", "false"},
		}},
	{"omission_forgotten", "a stop that a later list shows still counts as omitted", "43",
		"reconcile TestOmittedStopWithUnreadableEndIsReplaced", []Edit{
			{"reconcile.sentRequests.noteOmitted", "before != 0 && beganMS == 0", "false"},
		}},
	{"bridge_relied_on", "a stop that moves is canceled though its bridge may have ended", "43",
		"reconcile TestNeitherStopNorBridgeIsCanceledWhileTheOtherMayHaveEnded", []Edit{
			{"reconcile.positionStop.continueMove", "!mayHaveEnded(s.tracker, s.bridging)", "true"},
		}},
	{"ended_stop_relied_on", "a bridge is canceled though its stop may have ended", "43",
		"reconcile TestNeitherStopNorBridgeIsCanceledWhileTheOtherMayHaveEnded", []Edit{
			{"reconcile.positionStop.continueMove", "!mayHaveEnded(s.tracker, s.main)", "true"},
			{"reconcile.positionStop.converge", "!mayHaveEnded(s.tracker, s.main)", "true"},
		}},
	{"one_list_unprotected", "a position that one of a snapshot's two lists shows has no stop before its entry is booked", "39",
		"reconcile TestPositionOfTwoDifferingListsIsProtected", []Edit{
			{"reconcile.positionComparison.readPosition", "symbol.AtVenue() == 0 && symbol.Known() == 0", "false"},
		}},
	{"later_position_ignored", "a list that shows a later position does not show the end of the earlier one", "39",
		"reconcile TestLaterPositionShowsEndOfEarlierOne", []Edit{
			{"reconcile.positionComparison.witness", "s.shownLater(symbol)", "false"},
		}},
	{"earlier_is_later", "a list that shows an earlier position shows the end of the present one", "39",
		"reconcile TestLaterPositionShowsEndOfEarlierOne", []Edit{
			{"reconcile.positionComparison.shownLater", "symbol.createdMS > t.createdMS", "true"},
		}},
	{"smaller_row_witnesses", "the row of a smaller position in positions/history confirms the end of a larger one", "39",
		"reconcile TestRowOfSmallerPositionIsNoWitness", []Edit{
			{"reconcile.SymbolState.closedBy", "row.Quantity < s.Opened().Abs()", "false"},
		}},
	{"others_reduction_opens", "a reduction of another's position counts as opened by botd", "39",
		"reconcile TestReductionOfAnothersPositionOpensNothing", []Edit{
			{"reconcile/account.towardZero", "reduction.Sign() == position.Sign()", "false"},
		}},
	{"sent_type_expected", "an executed refused stop that the exchange made a take-profit is a foreign order", "3",
		"reconcile TestExecutedRefusedStopIsFoundAsTakeProfit", []Edit{
			{"reconcile.sameType", "row.Conditional()", "false"},
		}},
	{"unarrived_closes_dust", "protection that has not arrived counts as the order that closes dust", "36",
		"reconcile TestDustIsClosedThoughProtectionHasNotArrived", []Edit{
			{"reconcile.positionExit.closeDust", "!d.mayRepeat(p)", "true"},
		}},
	{"removed_next_to_peer", "a removed strategy ends while an order of another botd may open a position on its symbol", "49",
		"runtime/engine TestRemovedStrategyIsEnded", []Edit{
			{"runtime/engine.roster.ended", "r.tracker.PeerMayOpen(leg.symbol)", "false"},
		}},
	{"former_plan_opens", "a start opens by the former plan while the strategy decides", "45",
		"runtime/engine TestPlanFromBeforeStartOpensNothingWhileStrategyDecides", []Edit{
			{"runtime/engine.tick.inquireFirst", "task.AtMS != 0 || task.Each < task.To", "false"},
		}},
}
