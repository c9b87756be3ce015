package mutant

// wallet breaks the rules about what a wallet or a list alone shows or does not show, about stops that only a later list shows, and about openings that
// fall short.
var wallet = []Row{
	{"wallet_trusted", "a wallet that shows less than the fills explain prevents a stop", "40",
		"reconcile TestWalletShortfallDoesNotPreventStop", []Edit{
			{"reconcile.spotStops.stoppable", "!young && !untrusted", "true"},
		}},
	{"likeliest_part_last", "the stop for what open list and wallet disagree about comes before that for an accepted purchase that neither covers", "40",
		"reconcile TestAcceptedPurchaseBesideAHalfWalletKeepsItsStop", []Edit{
			{"reconcile.spotStops.placeUnconfirmed", "case «!d.tooSmall(missing)»:", "false"},
		}},
	{"accepted_stop_removed", "a stop that the exchange has accepted for such a purchase is removed as one too many", "40",
		"reconcile TestAcceptedPurchaseBesideAHalfWalletKeepsItsStop", []Edit{
			{"reconcile.spotStops.shrinkStops", "accepted > 0", "false"},
		}},
	{"disagreement_believed", "a stop that only the open list shows counts as resting, whatever the wallet freezes", "40",
		"reconcile TestUnconfirmedStopIsFollowedByAnother", []Edit{
			{"reconcile.spotPosition.withoutSale", "shown = «min(listed, frozen)»", "listed"},
		}},
	{"disagreement_at_once", "another stop is sent as soon as open list and wallet disagree", "40",
		"reconcile TestUnconfirmedStopIsFollowedByAnother", []Edit{
			{"reconcile.spotStops.placeUnconfirmed", "d.nowMS-sinceMS <= unconfirmedWaitMS", "false"},
		}},
	{"stop_beside_exit", "another stop takes units from an exit that waits for its own", "40",
		"reconcile TestExitThatWaitsForItsCoinsLosesNoneToAStop", []Edit{
			{"reconcile.spotStops.placeUnconfirmed", "d.exitWaits()", "false"},
		}},
	{"persons_units_stopped", "another stop is sent next to a person's units although one witness shows the first", "40",
		"reconcile TestUnconfirmedStopIsFollowedByAnother", []Edit{
			{"reconcile.spotPosition.withoutSale", "alone := «s.saleEvidence().walletHoldsOnlyOwn()»", "true"},
			{"reconcile.spotPosition.unconfirmed", "s.saleEvidence().walletHoldsOnlyOwn()", "true"},
			{"reconcile.spotStops.placeUnconfirmed", "!d.saleEvidence().walletHoldsOnlyOwn()", "false"},
		}},
	{"denied_without_end", "stops that open list and history deny are sent without end although the wallet freezes units for them", "40",
		"reconcile TestStopsThatTheWalletFreezesAreNotPlacedWithoutEnd", []Edit{
			{"reconcile.spotStops.addStop", "«!d.deniedRest()» {", "true"},
		}},
	{"denied_by_others", "what the wallet froze before counts as frozen for denied stops", "40",
		"reconcile TestStopsThatTheWalletFreezesAreNotPlacedWithoutEnd", []Edit{
			{"reconcile.spotStops.deniedRest", "(position.frozenUnlisted()-t.frozen)", "position.frozenUnlisted()"},
		}},
	{"old_list_restores", "a list that may be old takes a stop back that has ended", "13", "reconcile TestOldListTakesNoEndedStopBack", []Edit{
		{"reconcile.orderRows.restoreResting", "one.shownFor.exceeds(s.tracker.Settle().StalenessMS)", "true"},
	}},
	{"shown_end_ignored", "a list takes a stop back although the history shows its end", "13", "reconcile TestOldListTakesNoEndedStopBack", []Edit{
		{"reconcile.Snapshot.showsOpen", "s.showsNoEnd(row.Key(), row.ID)", "true"},
	}},
	{"resting_sale_not_sold", "a filled stop that a list shows open counts as not sold whatever the wallet freezes", "13",
		"reconcile TestOldListTakesNoEndedStopBack", []Edit{
			{"reconcile.orderRows.restore", "symbol.frozenUnexplained >= row.Remaining()", "true"},
		}},
	{"resting_stop_forgotten", "a stop that was shown as ended and rests stays on the exchange, unknown to botd", "13",
		"runtime/engine TestStopShownAsEndedThatRestsIsTakenBack", []Edit{
			{"reconcile.orderRows.noteEndedShown", "symbol == nil", "symbol == nil || row.Market == exchange.Spot"},
		}},
	{"resting_entry_forgotten", "a futures order that was shown as ended and rests stays on the exchange, unknown to botd", "13",
		"runtime/engine TestEntryShownAsEndedThatRestsIsCanceledOnFutures", []Edit{
			{"reconcile.orderRows.noteEndedShown", "symbol == nil", "symbol == nil || row.Market == exchange.Futures"},
		}},
	{"shown_again_by_list", "a futures list takes an order back although its read by id shows its end", "13",
		"reconcile TestOldListTakesNoEndedEntryBack", []Edit{
			{"reconcile.Snapshot.showsOpen", "!answer.Order.Status.Final()", "true"},
		}},
	{"trades_read_at_once", "a round reads the user trades of every order that the list omits", "43",
		"runtime/engine TestUserTradesOfOmittedOrdersAreReadInTurn", []Edit{
			{"runtime/engine.reader.askTrades", "min(len(omitted), maxTradesRead)", "len(omitted)"},
		}},
	{"trades_read_of_some", "the user trades of the same few orders are read in each round", "43",
		"runtime/engine TestUserTradesOfOmittedOrdersAreReadInTurn", []Edit{
			{"runtime/engine.reader.askTrades", "p.OrderID() > r.tradesReadOf", "true"},
		}},
	{"small_part_unprotected", "a part that is below the minimum at its stop price gets no stop, although another stop could be enlarged by it", "20",
		"reconcile TestSpotIntents", []Edit{
			{"reconcile.spotStops.converge", "d.lacksForMinimum(missing, price) > 0", "false"},
		}},
	{"frozen_unreported", "flatten is complete although the wallet freezes units that no known order sells", "13",
		"runtime/engine TestFlattenReportsFrozenUnitsThatNoOrderExplains", []Edit{
			{"runtime/engine.reporter.blindExit", "frozen != 0", "false"},
		}},
	{"first_rules_decide", "the first rules of a start make a position dust", "45", "runtime/engine TestOneReadOfRulesMakesNoPositionDust", []Edit{
		{"runtime/engine.dust", "!leg.firstRules", "true"},
	}},
	{"first_rules_stay", "the first rules of a start, with a minimum far above the position, are not read again at once", "45",
		"runtime/engine TestOneReadOfRulesMakesNoPositionDust", []Edit{
			{"runtime/engine.base.belowStricter", "leg != nil && leg.firstRules", "false"},
		}},
	{"unbooked_is_lost", "the money of a purchase that is not booked yet counts as lost", "42",
		"runtime/engine TestUnbookedPurchaseLatchesNoLossLimit", []Edit{
			{"runtime/engine.base.unbookedPurchases", "bought != 0", "false"},
		}},
	{"denied_purchase_at_once", "a purchase that lists deny is placed again without a wait, and each one rests", "3",
		"runtime/engine TestPurchaseShownAsEndedThatRestsIsCanceled", []Edit{
			{"reconcile.deniedStops.note", "unseen && p.Order().Price != 0", "false"},
		}},
	{"denied_at_once", "a stop that ended before any list showed it open is followed by another without a wait", "3",
		"runtime/engine TestDeniedStopCountsAsRefused", []Edit{
			{"runtime/engine.backoffs.settled", "b.tracker.Symbol(p.Symbol()).Denied(p)", "false"},
		}},
	{"accepted_purchase_ignored", "a purchase that the exchange accepted and nothing shows gets no stop", "8",
		"reconcile TestAcceptedPurchaseThatNothingShowsGetsAStop", []Edit{
			{"reconcile.spotPosition.acceptedPurchases", "bought - bought/32", "0"},
		}},
	{"unconfirmed_limits", "the refusal of a superfluous stop limits the next one to the wallet", "40",
		"reconcile TestRefusedUnconfirmedStopLimitsNothing", []Edit{
			{"reconcile.Tracker.noteRefusedStop", "p.Key() == UnconfirmedKey", "false"},
		}},
	{"resting_stop_sold", "an exit waits for a refused stop whose price is not passed", "41",
		"reconcile TestExitWaitsForNoRefusedStopWhosePriceIsNotPassed", []Edit{
			{"reconcile.saleEvidence.mayHaveSold", "!rests", "true"},
		}},
	{"canceled_twice", "a stop is canceled again after the exchange has answered that it canceled it", "28",
		"reconcile TestCanceledStopIsNotCanceledAgain", []Edit{
			{"reconcile.changes.cancel", "|| «ended»", "false"},
		}},
	{"passed_stop_dropped", "what the wallet lacks of a position whose stop's price is passed gets no stop", "40",
		"reconcile TestPassedStopIsReplacedWhereOnlyTheWalletLacksTheUnits", []Edit{
			{"reconcile.spotStops.converge", "d.addStop(«missing-sold», d.stopFromLast(price))", "0"},
		}},
	{"canceled_stop_refused", "a start counts the refusals from before a stop that the exchange accepted and canceled", "3",
		"reconcile TestCanceledStopEndsItsRefusals", []Edit{
			{"reconcile/account.refusals.note", "body.State == placement.Canceled", "false"},
		}},
	{"release_waits", "the stop of what a canceled stop has released waits for refusals from before", "3",
		"runtime/engine TestEndedStopEndsTheWaitOfRefusedStops", []Edit{
			{"runtime/engine.dispatcher.canceled", "d.backoffs.released(«order.Symbol()»)", "exchange.SymbolKey{}"},
		}},
	{"unconfirmed_declared", "the refusals of a superfluous stop declare the position unprotected", "3",
		"runtime/engine TestRefusalsOfAnUnconfirmedStopConcernOnlyIt", []Edit{
			{"runtime/engine.backoffs.stopRefused", "one.key != reconcile.UnconfirmedKey", "true"},
		}},
	{"short_slice_sent", "the unfilled part of an opening in flight is added to the next decision", "51",
		"runtime/engine TestUnfilledPartOfASliceIsNotAddedToTheNext", []Edit{
			{"runtime/engine.fellShort", "p.Filled()+due/20+rules.QuantityTick < due", "false"},
		}},
	{"lag_ignored", "a wallet older than a fill counts as a gain or a loss", "limits",
		"runtime/engine TestALaggingWalletIsNoGainAndNoLoss", []Edit{
			{"reconcile.observedAccount.WalletAhead", "t.lag.fromMS != 0", "false"},
		}},
	{"first_purchase_lost", "the money of a first purchase counts as lost, because its units count as another's until the fill is booked", "limits",
		"reconcile TestFirstPurchaseThatCountsAsAnothersIsAhead", []Edit{
			{"reconcile.observedAccount.walletLags", "(«o.balanceOverFills(symbol)» - t.excess)", "o.balanceBeyondFills(symbol)"},
		}},
	{"rest_suspends", "the unit that rounded fees leave in the wallet suspends the limits where a unit is worth an order", "limits",
		"reconcile TestRestOfRoundedFeesDelaysNoLimit", []Edit{
			{"reconcile/account.Symbol.FeeRounding", "min(s.fees, 1)", "0"},
		}},
	{"rest_suspends_a_start", "what rounded fees left before a start suspends the limits after it", "limits",
		"reconcile TestRestOfEarlierPositionsDelaysNoLimitAfterAStart", []Edit{
			{"reconcile.observedAccount.walletLags", "!t.compared && symbol.last > 0 && symbol.tooSmallToTrade(by)", "false"},
		}},
	{"unreadable_stop_again", "a stop whose row cannot be read is placed again while the wallet freezes what it sells", "43",
		"reconcile TestUnreadableStopRestsWhileTheWalletFreezesItsAsset", []Edit{
			{"reconcile.inputs.repetitionDue", "s.saleEvidence().rests(p)", "false"},
		}},
	{"deposit_is_rest", "a deposit counts as what stops have left that were executed", "47",
		"reconcile TestDepositIsNoRestOfAnEndedStop", []Edit{
			{"reconcile.spotStops.exitPart", "position.ownBalance()-«d.symbol.Unattributed()»", "0"},
		}},
	{"confirmed_at_once", "lists confirm a refusal that began before the exchange has processed the order", "3",
		"reconcile TestRefusalIsConfirmedByListsOfHalfASecondAfterIt", []Edit{
			{"reconcile.refusalChecks.confirms", "min(s.tracker.Settle().StalenessMS, refusedShownMS)", "0"},
		}},
	{"symbol_refuses_cancel", "a cancel that the exchange refuses because it does not know the symbol shows that the stop has ended", "44",
		"runtime/engine TestCancelRefusedForItsSymbolEndsNoStop", []Edit{
			{"runtime/engine.dispatcher.canceled", "!refusal.UnknownSymbol()", "true"},
		}},
	{"suspended_exit", "after a suspension an exit follows its stop's cancel without a read", "22",
		"runtime/engine TestExitAfterASuspensionWaitsForReads", []Edit{
			{"runtime/engine.dispatcher.replaceReleased", "d.nowMS < at+reconcile.ExitReleaseMS+reconcile.RepeatMS", "true"},
		}},
	{"rest_inherited", "a stop from before the start that covers such a unit quarantines the symbol", "1",
		"reconcile TestStopsOfBeforeTheStartBeyondTheFills", []Edit{
			{"reconcile.Tracker.inheritedStops", "beyond <= symbol.FeeRounding()", "false"},
		}},
	{"two_are_twice", "two purchases of one wallet count as one purchase that was executed twice", "41",
		"reconcile TestTwoPurchasesAreNoSecondExecution", []Edit{
			{"reconcile.formerPurchase.follow", "t.filledMS >= before.atMS", "false"},
		}},
	{"released_exit_repeated", "an old list repeats a refused exit whose margin the account no longer uses", "3",
		"reconcile TestOldListRepeatsNoRefusedExitThatReleasedItsMargin", []Edit{
			{"reconcile.refusalChecks.releasesMargin", "!less.Mul(2).Less(part)", "false"},
		}},
	{"exit_shown_confirms", "a list that shows the effect of a refused exit confirms its refusal", "3",
		"reconcile TestOldListRepeatsNoRefusedExitThatReleasedItsMargin", []Edit{
			{"reconcile.refusalChecks.exceedsFills", "r.purpose == placement.Exit", "false"},
		}},
	{"refused_exit_forgotten", "a start forgets a refused exit on futures", "3",
		"reconcile TestOldListRepeatsNoRefusedExitThatReleasedItsMargin", []Edit{
			{"reconcile/account.refusedPlacements.note", "p.purpose.Opens() || «p.purpose == placement.Exit»", "false"},
		}},
	{"exits_displace", "refused exits displace a refused opening from what a start remembers", "3",
		"reconcile TestRefusedExitsDisplaceNoRefusedOpening", []Edit{
			{"reconcile/account.refusedPlacements.note", "onFutures && p.purpose == placement.Exit", "false"},
		}},
	{"lag_suspends", "a wallet that others changed suspends the limits for as long as orders rest", "limits",
		"reconcile TestWalletThatStaysAheadLagsForTenReads", []Edit{
			{"reconcile.walletLag.note", "t.rounds >= maxLagging", "false"},
		}},
	{"lag_suspends_unread", "a symbol that cannot be read suspends the limits of the account for as long", "limits",
		"runtime/engine TestLimitsWaitAMinuteForFillsThatCannotBeRead", []Edit{
			{"reconcile.walletLag.note", "e.fetched.EndedMS >= t.fromMS+lagWaitMS", "false"},
		}},
	{"confirmed_unseen", "a purchase that the exchange executed after lists had confirmed its refusal has no stop", "3",
		"reconcile TestPurchaseExecutedAfterItsConfirmationGetsAStop", []Edit{
			{"reconcile.unlistedOrders.noteRefusedPurchases", "s.reopenPaid(symbol)", ""},
		}},
	{"unread_unprotected", "while no list can be read, a purchase has no stop, whatever the wallet shows", "43",
		"reconcile TestPurchaseIsProtectedByItsMoneyWhileNoListCanBeRead", []Edit{
			{"reconcile.walletEvidence.boughtUnread", "e.boughtWithItsMoney(&order, before, symbol)", "0"},
		}},
	{"second_execution_sold", "what may be a second execution of a purchase is sold at once before a history has confirmed it", "43",
		"reconcile TestUnconfirmedSecondExecutionIsNotSold", []Edit{
			{"reconcile.spotStops.exitPart", "d.tracker.frozenThoughRefused(d.symbol.Key()) + d.symbol.spot.unlisted.second",
				"d.tracker.frozenThoughRefused(d.symbol.Key())"},
		}},
	{"failed_history_shows_nothing", "a history whose read failed counts as one that shows nothing", "43",
		"reconcile TestUnconfirmedSecondExecutionIsNotSold", []Edit{
			{"reconcile.Snapshot.readHistory", "s.History.Done() && !s.isUnread(key)", "s.History.Done()"},
		}},
	{"persons_money", "while no list can be read, the money that a person spent shows a purchase of botd's", "43",
		"reconcile TestMoneyThatAPersonSpentShowsNoPurchase", []Edit{
			{"reconcile.walletComparison.partialWallet", "min(own, s.walletEvidence().boughtUnread(symbol))",
				"max(min(0, own), s.walletEvidence().boughtUnread(symbol))"},
		}},
	{"found_stop_refused", "a refused stop that turns out to be open delays the next one like a repetition", "41",
		"runtime/engine TestStopOfANewPurchaseWaitsForNoRefusalOfAStopThatStands", []Edit{
			{"runtime/engine.backoffs.watch", "b.restsAfterAll(one)", "false"},
		}},
	{"smaller_stop_waits", "a stop waits because the exchange refused a larger one", "41",
		"runtime/engine TestSmallerStopWaitsForNoRefusalOfALargerOne", []Edit{
			{"runtime/engine.backoffs.holds", "intent.Order.Quantity < one.quantity", "false"},
		}},
	{"refused_unread_unprotected", "while no list can be read, a purchase that the exchange refused has no stop, whatever the wallet shows", "41",
		"reconcile TestRefusedPurchaseIsProtectedWhileNoListCanBeRead", []Edit{
			{"reconcile.walletEvidence.boughtUnread", "sum += r.bought", "sum += 0"},
		}},
	{"contradicted_rest_stays", "the rest of a contradicted position is not sold at its stop price, though the wallet shows it again", "40",
		"reconcile TestRestOfAContradictedPositionIsSoldWhenItsPriceIsPassed", []Edit{
			{"reconcile.spotStops.converge", "len(d.stops) == 0 && d.tooSmall(d.ownPosition)", "false"},
		}},
	{"contradicted_rest_unprotected", "a contradicted position whose stop price is passed has no stop while the wallet shows nothing", "40",
		"reconcile TestRestOfAContradictedPositionIsSoldWhenItsPriceIsPassed", []Edit{
			{"reconcile.spotStops.converge", "d.symbol.tooSmallToTrade(d.tracker.baseBalance(d.symbol))", "false"},
		}},
	{"remainder_is_entry", "the stop of a purchase that no list shows is measured from the entry of an earlier position's remainder", "protection",
		"reconcile TestStopOfAnUnlistedPurchaseIgnoresTheEntryOfARemainder", []Edit{
			{"reconcile.inputs.protectionPrice", "s.tooSmall(s.symbol.Known())", "false"},
		}},
	{"earlier_wallet_sold", "a wallet from before a purchase shows that a refused stop has sold", "41",
		"reconcile TestOldWalletDoesNotShowThatARefusedStopSold", []Edit{
			{"reconcile.unlistedOrders.noteRefusedSales", "s.tracker.showsEarlier(symbol)", "false"},
		}},
	{"concurrent_purchase_hides", "a purchase that was executed twice counts once, because one of another asset was sent in the same round", "41",
		"reconcile TestPurchaseExecutedTwiceTogetherWithAnotherIsProtected", []Edit{
			{"reconcile.walletEvidence.timesPaid", "slices.Concat(before.paid, others)", "before.paid"},
		}},
	{"concurrent_purchase_free", "what purchases of other assets may have cost counts as paid for a second execution", "41",
		"reconcile TestPurchaseExecutedTwiceTogetherWithAnotherIsProtected", []Edit{
			{"reconcile.walletEvidence.concurrentPurchases", "cost.Add(order.QuoteAmount.Max(worth))", "cost"},
		}},
	{"old_row_frozen", "units that the wallet freezes count as those of a canceled stop that an old list shows", "protection",
		"reconcile TestFrozenUnitsAreThoseOfAStopThatAnOldListOmits", []Edit{
			{"reconcile.unlistedOrders.noteUnfrozen", "!s.hasFreed(o)", "true"},
		}},
	{"old_row_frozen_again", "a stop that an old list omits stays ended though the wallet freezes its units again", "protection",
		"reconcile TestFrozenUnitsAreThoseOfAStopThatAnOldListOmits", []Edit{
			{"reconcile.unlistedOrders.noteFrozenAgain", "s.hasFreed(o)", "false"},
		}},
	{"moves_once_accepted", "a stop is canceled for a move or a merge right after the exchange has refused one and accepted another", "protection",
		"reconcile TestNoStopMovesWhereTheExchangeRefusesStops", []Edit{
			{"reconcile.inputs.mayMoveStop", "!recent", "true"},
		}},
	{"executed_stop_unseen", "a stop that may have executed unseen keeps the units of a canceled one from being sold at their stop price", "protection",
		"reconcile TestCanceledStopsUnitsAreSoldBesideAStopThatMayHaveExecuted", []Edit{
			{"reconcile.spotStops.exitPart", "d.saleEvidence().walletHoldsOnlyOwn()", "false"},
		}},
	{"canceled_stop_relisted", "an old list that shows a canceled spot stop outweighs the exchange's answers and the wallet", "protection",
		"reconcile TestStopThatAnOldListShowsAfterItsCancelIsReplaced", []Edit{
			{"reconcile.canceledBefore", "known.canceledMS != 0", "false"},
		}},
	{"empty_wallet_sold", "a wallet that shows none of the asset shows that an uncertain exit has sold it", "40",
		"reconcile TestEmptyWalletDoesNotShowThatAnExitSold", []Edit{
			{"reconcile.spotStops.leavesUncovered", "d.saleEvidence().unpaid(&order, p.Remaining(), d.tracker.delivery(p).before, p.SentMS())", "false"},
		}},
	{"sale_without_money", "an uncertain exit has sold nothing while the wallet shows none of the asset, whatever money has come", "40",
		"reconcile TestEmptyWalletDoesNotShowThatAnExitSold", []Edit{
			{"reconcile.saleEvidence.unpaid", "got.Less(minProceeds)", "true"},
		}},
	{"unpaid_sold", "a wallet that shows less shows that an exit has sold, though no money has come", "41",
		"reconcile TestExitThatBroughtNoMoneyLeavesItsUnitsToAStop", []Edit{
			{"reconcile.saleEvidence.unpaid", "got.Sign() <= 0", "false"},
		}},
	{"unpaid_with_others", "if a person has units too, an exit without proceeds gets a stop over as many units", "41",
		"reconcile TestExitThatBroughtNoMoneyLeavesItsUnitsToAStop", []Edit{
			{"reconcile.saleEvidence.unpaid", "s.symbol.tooSmallToTrade(max(s.symbol.Baseline(), s.symbol.Unattributed()))", "true"},
		}},
	{"doubt_forgotten", "a start from a checkpoint forgets what the wallet showed before a refused sale", "41",
		"reconcile TestStartKnowsWhatTheWalletShowedBeforeARefusedSale", []Edit{
			{"reconcile.Restore", "b.refusals.restore(state.RefusedPlacements())", ""},
		}},
	{"prior_forgotten", "a start from a checkpoint forgets what the wallet showed before an uncertain exit", "20",
		"reconcile TestExitThatBroughtNoMoneyLeavesItsUnitsToAStop", []Edit{
			{"reconcile.Restore", "b.notePriorBalance(p)", "_ = p"},
		}},
	{"old_units_of_others", "units in a wallet from before a sale count as manual once nothing is held", "40",
		"reconcile TestWalletReadBeforeASaleShowsNoForeignUnits", []Edit{
			{"reconcile.walletComparison.observeWallet", "s.tracker.showsBeforeSale(symbol)", "false"},
		}},
	{"peer_stop_forgotten", "after a start, a history cancels the stop of another botd's purchase", "15",
		"reconcile TestStopOfAnotherBotdsUnitsStaysAfterAStart", []Edit{
			{"reconcile.jointProtection.mayProtectPeer",
				"!d.symbol.tooSmallToTrade(min(d.tracker.inheritedSince(d.symbol, 0), d.spotPosition().ownBalance()))", "false"},
		}},
	{"refused_sold_unread", "while the open list cannot be read, units that a refused sale has sold are sold again", "41",
		"reconcile TestRefusedSaleIsNotRepeatedWhileTheOpenListIsUnread", []Edit{
			{"reconcile.walletComparison.partialWallet", "s.unlisted.noteRefusedSales(symbol)", ""},
		}},
	{"refused_part_unread", "while a futures symbol cannot be read, a part whose exit the exchange refused is reduced again", "3",
		"reconcile TestRefusedExitOfAPartWaitsForARead", []Edit{
			{"reconcile.positionExit.reduce", "d.tracker.refusedExit(d.symbol.Key(), !unread)", "false"},
		}},
	{"only_own_waits", "a wallet that still freezes a canceled stop's units prevents the next one, though nobody else has units", "41",
		"reconcile TestOldWalletBlocksNoStopIfNobodyElseHasUnits", []Edit{
			{"reconcile.saleQuantity.beyondOpenSales", "unknown && !s.saleEvidence().walletHoldsOnlyOwn()", "unknown"},
		}},
	{"refusal_rests_alone", "a refused stop that may be open prevents the next one, though nobody else has units", "41",
		"reconcile TestOldWalletBlocksNoStopIfNobodyElseHasUnits", []Edit{
			{"reconcile.spotStops.withoutRefused", "!d.saleEvidence().walletHoldsOnlyOwn()", "true"},
		}},
	{"others_units_too", "if others have units, an excess stop is placed as if the exchange refused it", "41",
		"reconcile TestOldWalletBlocksNoStopIfNobodyElseHasUnits", []Edit{
			{"reconcile.saleEvidence.walletHoldsOnlyOwn", "symbol.tooSmallToTrade(others)", "true"},
		}},
	{"unexplained_waits", "a position that nothing explains waits for its stop as long as a read may be old", "41",
		"reconcile TestUnexplainedPositionWaitsTwoSecondsForItsStop", []Edit{
			{"reconcile.inputs.unexplained", "min(s.tracker.Settle().StalenessMS, unexplainedWaitMS)", "s.tracker.Settle().StalenessMS"},
		}},
	{"position_needs_orders", "a position that nothing explains has no stop while the open list cannot be read", "41",
		"reconcile TestUnexplainedPositionIsProtectedWithoutTheOpenList", []Edit{
			{"reconcile.inputs.unexplained", "(symbol.residualFor.sinceMS != 0 || shown)", "symbol.residualFor.sinceMS != 0"},
		}},
	{"sold_fee_lags", "a fee that botd did not expect suspends the account's limits once its position is sold", "40",
		"reconcile TestUnexpectedFeeOfASoldPositionIsNoLag", []Edit{
			{"reconcile.observedAccount.walletLags", "max(t.fees, t.unexpectedFees(symbol))", "t.unexpectedFees(symbol)"},
		}},
	{"another_paid_again", "a purchase executed twice counts once because another one has no end, whatever the wallet showed before it was sent", "41",
		"reconcile TestPurchaseExecutedTwiceNextToAnotherIsProtected", []Edit{
			{"reconcile.Tracker.notePriorBalance", "t.paidBefore(p)", "nil"},
		}},
	{"another_paid_unshown", "another purchase without an end costs nothing any more, whatever the wallet showed", "17",
		"reconcile TestPurchaseExecutedTwiceNextToAnotherIsProtected", []Edit{
			{"reconcile.Tracker.paidBefore", "10*t.balanceBeyondFills(on) >= 9*on.mayBuy(q)", "true"},
		}},
	{"old_wallet_bought", "a wallet as before a purchase counts as its result, because what it shows has been sold since", "40",
		"reconcile TestWalletOfBeforeAPurchaseShowsNoneOfIt", []Edit{
			{"reconcile.unlistedOrders.unlistedPurchases", "s.tracker.unspent(symbol, before)", "false"},
		}},
	{"deposit_bought", "a deposit counts as the result of an uncertain purchase whose money is still there", "40",
		"reconcile TestPurchaseExecutedTwiceIsProtected", []Edit{
			{"reconcile.unlistedOrders.unlistedPurchases", "s.tracker.unspent(symbol, before)", "s.tracker.unchanged(symbol, before)"},
		}},
	{"again_after_its_end", "a purchase that the exchange executed again has no stop for that once it has ended", "41",
		"reconcile TestSecondExecutionOfAnEndedPurchaseIsProtected", []Edit{
			{"reconcile.unlistedOrders.unlistedPurchases", "second > 0", "false"},
		}},
	{"step_is_again", "a step that rounded fees have left counts as a second execution of a purchase", "41",
		"reconcile TestSecondExecutionOfAnEndedPurchaseIsProtected", []Edit{
			{"reconcile.unlistedOrders.executedAgain", "times < maxTimes", "false"},
		}},
	{"again_undeclared", "a second execution that only the wallet shows is no declared state", "41",
		"reconcile TestSecondExecutionOfAnEndedPurchaseIsProtected", []Edit{
			{"reconcile.unlistedOrders.executedAgain", "t.secondFillSeenFor.exceeds(s.tracker.Settle().StalenessMS)", "false"},
		}},
	{"half_list_decides", "a list decides how much of an uncertain opening was executed, though the margin in use shows more", "39",
		"reconcile TestMarginInUseKeepsAnUncertainEntryUndecided", []Edit{
			{"reconcile.uncertainOrders.decideUncertain", "s.marginShowsMore(symbol, uncertain)", "false"},
		}},
	{"margin_never_agreed", "the margin of an account that reports another one than botd computes keeps an uncertain opening undecided", "39",
		"reconcile TestMarginInUseKeepsAnUncertainEntryUndecided", []Edit{
			{"reconcile.margins.marginShowsMore", "!agreed && !needed.IsZero()", "false"},
		}},
	{"half_list_decides_exit", "a list decides that an uncertain exit reduced a position, though the margin in use shows more", "39",
		"reconcile TestMarginInUseKeepsAnUncertainExitUndecided", []Edit{
			{"reconcile.margins.marginShowsMore", "part = part.Abs(); «part > 0»", "part > 0 && p.Purpose().Opens()"},
		}},
	{"read_late_foreign", "a position that a new journal lacks is treated by the policy, because it could not be read at first", "35",
		"reconcile TestLostJournalIsFoundByPositionThatIsReadLate", []Edit{
			{"reconcile.peerOrders.guardFirstRead", "s.tracker.bornEmpty", "false"},
		}},
	{"excess_relied_on", "the part of a plan that others' position seemed to cover is opened together with the next slice", "51",
		"runtime/engine TestPlanThatReliesOnOthersPositionIsDecidedAgain", []Edit{
			{"runtime/engine.round.settle", "!r.config.Feed && before[i].lostExcess(leg)", "false"},
		}},
	{"two_lists_differ", "what an entry has opened has no stop while the two lists of a snapshot differ", "39",
		"reconcile TestPositionOfTwoDifferingListsIsProtected", []Edit{
			{"reconcile.positionComparison.readPosition", "s.standOpened(symbol)", ""},
		}},
	{"unlisted_margin_stripped", "a stop is canceled because fills and list show no position, though the account uses the margin of one", "39",
		"reconcile TestStopStaysWhileTheAccountUsesMarginThatNoListShows", []Edit{
			{"reconcile.observedAccount.protectsUnexplained", "o.marginUnlisted", "false"},
		}},
	{"exit_waits_after_stop", "the exit in place of a stop waits for refusals from before the exchange accepted a stop", "protection",
		"runtime/engine TestExitInPlaceOfAStopWaitsForNoRefusalFromBeforeTheStop", []Edit{
			{"runtime/engine.backoffs.accepted", "(same || one.attempt == a)", "one.attempt == a"},
		}},
	{"old_list_of_two", "a list that needs nearly the margin in use is right about each of its positions, though the fills need exactly that margin", "39",
		"reconcile TestMarginThatFillsExplainConfirmsNoOldList", []Edit{
			{"reconcile.margins.fillsExplainMargin", "left.Abs().Less(listed)", "false"},
		}},
	{"part_outlives_position", "the part that was left to others is subtracted from a position that was opened later", "39",
		"reconcile TestPartLeftToOthersEndsWithItsPosition", []Edit{
			{"reconcile.positionComparison.observePosition", "s.positionEvidence().outlivesIgnored(symbol)", "false"},
		}},
	{"part_ends_at_once", "the part that was left to others ends with any list that shows none of it", "39",
		"reconcile TestPartLeftToOthersEndsWithItsPosition", []Edit{
			{"reconcile.positionEvidence.outlivesIgnored", "symbol.createdMS > symbol.IgnoredMS()+maxClockStepMS", "true"},
		}},
	{"fee_divided", "a fee that was read before the funding that is due counts as a smaller fee and a funding", "ledger",
		"reconcile/ledger TestFeeBeforeFundingThatIsChargedLater", []Edit{
			{"reconcile/ledger.divide", "!charged && paid == taking", "false"},
		}},
	{"purchase_waits", "the stop of what a purchase has brought waits for refusals from before", "3",
		"runtime/engine TestFilledPurchaseEndsTheWaitOfRefusedStops", []Edit{
			{"runtime/engine.round.notePlacement", "r.backoffs.released(«p.Symbol()»)", "exchange.SymbolKey{}"},
		}},
	{"before_refusal_foreign", "what a refused purchase has bought counts as a person's because the snapshot began before the refusal", "3",
		"reconcile TestWalletFromBeforeARefusalShowsNoPersonsUnits", []Edit{
			{"reconcile.walletComparison.observeWallet", "s.predatesRefusal(symbol)", "false"},
		}},
	{"sold_part_foreign", "units that a wallet from before a partial sale shows count as a person's", "40",
		"reconcile TestWalletReadBeforeAPartialSaleAttributesNothing", []Edit{
			{"reconcile.walletComparison.recordUnattributed", "s.tracker.showsBeforeSale(symbol)", "false"},
		}},
	{"passed_stop_waits", "a stop whose price is passed waits for an exit whose refusal is confirmed", "40",
		"reconcile TestPassedStopIsReplacedOnceTheRefusalOfItsExitIsConfirmed", []Edit{
			{"reconcile.spotStops.converge", "!d.saleEvidence().mayHaveSold()", "!d.saleEvidence().saleRefused()"},
		}},
	{"unread_wallet_unprotected", "while botd stands down, nothing is protected as long as only the wallet cannot be read", "40",
		"reconcile TestStopReturnsStandingDownWhileOnlyTheWalletCannotBeRead", []Edit{
			{"reconcile.observedAccount.MayProtectUnread", "(o.walletRead || «listed»)", "false"},
		}},
	{"forgotten_cancel", "a start believes an old list about a stop whose cancel it has forgotten", "40",
		"reconcile TestStopWhoseCancelAStartForgotIsReplaced", []Edit{
			{"reconcile.spotStops.converge", "d.cancelForgotten(price)", ""},
		}},
	{"forgotten_cancel_relisted", "an old list outweighs the refusal of such a stop's cancel", "40",
		"reconcile TestStopWhoseCancelAStartForgotIsReplaced", []Edit{
			{"reconcile.canceledBefore", "forgetsCancel(t, p)", "false"},
		}},
	{"forgotten_sale", "a stop that has sold its units counts as one whose cancel the start has forgotten", "40",
		"reconcile TestStopWhoseCancelAStartForgotIsReplaced", []Edit{
			{"reconcile.forgetsCancel", "t.baseBalance(symbol) < symbol.Baseline()+symbol.Known()-symbol.Fees()", "false"},
		}},
	{"unreadable_frees", "units that the wallet freezes for a stop with an unreadable row count as frozen for an uncertain exit", "43",
		"reconcile TestStopWithAnUnreadableRowHoldsItsUnits", []Edit{
			{"reconcile.unlistedOrders.noteUnfrozen", "|| «row»", "false"},
		}},
	{"forgotten_peer", "after a start, a history that omits the purchase of another botd makes one of two stops one too many", "15",
		"reconcile TestStopBesideAPeersStaysAfterAStartThatForgotItsPurchase", []Edit{
			{"reconcile.jointProtection.mayRemoveExcessStop", "d.forgotPeer(p)", "false"},
		}},
}
