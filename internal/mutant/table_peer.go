package mutant

// peer breaks the rules that protect one account with two botds, and the rules about reads that hang.
var peer = []Row{
	{"peer_unprotected", "what another botd bought on spot has no stop", "15",
		"reconcile TestAnotherBotdsSpotPurchaseIsProtected", []Edit{
			{"reconcile.survey.notePeerOrders", "o.Filled > 0 && o.ID > symbol.spot.resolvedID", "false"},
		}},
	{"both_stops_stay", "two stops over the same coins, of two botds, stay", "15",
		"reconcile TestOneOfTwoStopsOverSameCoinsIsCanceled", []Edit{
			{"reconcile.derivation.shrinks", "t.excessMS == 0", "true"},
		}},
	{"both_sell", "of two botds that hold the same coins each sells them", "34",
		"reconcile TestEarlierBotdSellsSharedCoinsFirst", []Edit{
			{"reconcile.peer.younger", "id.Start.Compare(own) < 0", "false"},
		}},
	{"taken_sells", "an exit on spot goes out though another has taken its stop off", "34",
		"reconcile TestAnExitWaitsWhereAnotherTookTheStopOff", []Edit{
			{"reconcile.situation.taken", "s.nowMS-at < takenWaitMS", "false"},
		}},
	{"price_hangs", "a price whose ticker hangs stays as it was", "protection",
		"runtime/engine TestAPriceThatHangsIsReadFromTheList", []Edit{
			{"runtime/engine.round.skipLateRead", "p.kind == callTicker", "false"},
		}},
}
