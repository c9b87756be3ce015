package mutant

// peer breaks the rules that protect one account with two botds, and the rules about reads that hang.
var peer = []Row{
	{"ended_position_refused", "while botd stands down, the stop of a futures position waits for refusals of the last one's stop", "40",
		"runtime/engine TestStopOfTheNextPositionWaitsForNoRefusal", []Edit{
			{"runtime/engine.backoffs.doubtsEnd", "one.symbol.Market == exchange.Spot", "true"},
		}},
	{"peer_unprotected", "another botd's purchase on spot has no stop", "15",
		"reconcile TestAnotherBotdsSpotPurchaseIsProtected", []Edit{
			{"reconcile.peerOrders.notePeerOrders", "o.Filled > 0 && o.ID > symbol.DecidedID()", "false"},
		}},
	{"decision_forgotten", "a start forgets what a person has decided about orders of another botd", "53",
		"reconcile TestStartKeepsDecisionAboutAnotherBotdsPurchase", []Edit{
			{"reconcile/account.Symbol.adopt", "max(s.decidedID, body.Decided)", "0"},
		}},
	{"clock_ahead_accounts", "an order of a botd whose clock was ahead accounts for what later starts send", "53",
		"reconcile TestOrderWithClockAheadHidesNoForgottenOrder", []Edit{
			{"reconcile/account.starts.boundedEpoch", "min(id.Start.Epoch, s.newest.Epoch)", "id.Start.Epoch"},
		}},
	{"forgotten_starts_ignored", "a start forgets orders of starts that an old backup lacks, other than the one for which botd stands down", "53",
		"reconcile TestStartKnowsOrdersOfEveryForgottenStart", []Edit{
			{"reconcile.evidence.isPeerOrder", "e.tracker.OnlyReported(o.Key(), id)", "false"},
		}},
	{"unlisted_stop_forgotten", "another botd's stop that the open list omits counts as ended, though the wallet freezes its units", "15",
		"reconcile TestStopOfAnotherBotdStandsWhileTheWalletFreezesItsUnits", []Edit{
			{"reconcile.peerOrders.forgetUnlisted", "frozen < one.net", "true"},
		}},
	{"stands_down_unprotected", "while botd stands down, an exit whose answer was lost keeps the stop away", "15",
		"reconcile TestStopReturnsDespiteLostExitWhileStandingDown", []Edit{
			{"reconcile.spotStops.leavesUncovered", "d.tracker.stillInWallet(p, d.symbol, d.symbol.jointFills())", "false"},
		}},
	{"both_stops_stay", "the stops of two botds over the same units both stay", "15",
		"reconcile TestOneOfTwoStopsOverSameUnitsIsCanceled", []Edit{
			{"reconcile.jointProtection.mayRemoveExcessStop", "t.excess.sinceMS == 0", "true"},
		}},
	{"both_sell", "two botds that hold the same units both sell them", "34",
		"reconcile TestEarlierBotdSellsSharedUnitsFirst", []Edit{
			{"reconcile.peer.startedLater", "id.Start.Compare(own) < 0", "false"},
		}},
	{"peer_stop_ignored", "a position that another botd's stop protects is declared unprotected", "15",
		"runtime/engine TestAnotherBotdsStopLeavesNothingUnprotected", []Edit{
			{"runtime/engine.protection.hasStop", "p.peerStop(leg)", "\"\""},
		}},
	{"taken_sells", "an exit on spot is sent though someone else has canceled its stop", "34",
		"reconcile TestExitWaitsIfAnotherCanceledTheStop", []Edit{
			{"reconcile.saleEvidence.cancelJustRefused", "s.nowMS-at < cancelRefusedWaitMS", "false"},
		}},
	{"hung_list_freezes", "while the open list hangs, units frozen for acknowledged stops count as frozen for a lost exit", "protection",
		"reconcile TestStopStaysDespiteLostExitWithoutOpenList", []Edit{
			{"reconcile.unlistedOrders.noteUnfrozen", "b.Unlisted(q) || «unread»", "false"},
		}},
	{"refused_exit_beside", "a stop on spot is placed at once after a refused exit that may have been executed", "41",
		"reconcile TestStopAfterRefusedExitCoversWhatIsLeft", []Edit{
			{"reconcile.spotStops.withoutRefused", "age >= confirmMS", "true"},
		}},
	{"refused_sold_later", "ten seconds after a refused sale, units that the wallet shows as sold are sold again", "41",
		"reconcile TestRefusedSaleThatTheWalletShowsIsNotRepeated", []Edit{
			{"reconcile.saleEvidence.saleRefused", "s.tracker.soldThoughRefused(key)", "0"},
		}},
	{"refused_stopped_later", "ten seconds after a refused sale, units that the wallet shows as sold get a stop again", "41",
		"reconcile TestRefusedSaleThatTheWalletShowsIsNotRepeated", []Edit{
			{"reconcile.spotStops.withoutRefused", "d.tracker.soldThoughRefused(d.symbol.Key())", "0"},
		}},
	{"price_hangs", "a price whose ticker hangs stays as it was", "protection",
		"runtime/engine TestAPriceThatHangsIsReadFromTheList", []Edit{
			{"runtime/engine.reader.skipLateRead", "p.kind == callTicker", "false"},
		}},
	{"deposit_brings_back", "a deposit counts as units that another botd has sold", "15",
		"reconcile TestDepositDoesNotBringBackWhatAnotherBotdSold", []Edit{
			{"reconcile.SymbolState.jointPosition", "s.Cause() != record.SoldByOthers", "true"},
		}},
	{"replacement_ignored", "a stop is placed next to another botd's replacement if lists omit ids", "34",
		"reconcile TestStopInPlaceOfOneThatAnotherCanceledIsNotPlacedAgain", []Edit{
			{"reconcile.peer.sellsUnknown", "symbol.ReplacementQuantity()", "0"},
		}},
	{"replacement_moves_once", "a stop is placed once the order in its place is moved again", "34",
		"reconcile TestOrderInPlaceOfAStopMayMove", []Edit{
			{"reconcile.peerOrders.noteReplacements", "s.tracker.noteCanceledStop(symbol, one.quantity, s.fetched.EndedMS)", ""},
		}},
	{"moment_excluded", "after a start, a foreign sale at the time of the last position change is no witness", "40",
		"reconcile TestForeignSaleOfTheMomentOfTheLastChangeCounts", []Edit{
			{"reconcile.walletEvidence.salesOfOthers", "from -= createdSlackMS", ""},
		}},
	{"second_buyer_ignored", "an opening is placed next to a purchase of botd's form that is listed without an id", "42",
		"runtime/engine TestPurchaseOfBotdsFormWithoutIDBlocksOpenings", []Edit{
			{"reconcile.peerOrders.quarantineSecondBuyer", "!purchaseOfForm(symbol.rules, newest)", "true"},
		}},
	{"lost_purchases_ignored", "after losing its journal, botd buys again next to its earlier purchases that are listed without ids", "42",
		"runtime/engine TestPurchasesOfALostJournalBlockOpenings", []Edit{
			{"reconcile.orderRows.observeNewest", "s.peers.quarantineSecondBuyer(s.fetched.Newest)", ""},
		}},
	{"second_buyer_again", "a person's decision about a purchase of botd's form is forgotten", "42",
		"reconcile TestAPurchaseOfBotdsFormWithoutIDIsQuarantined", []Edit{
			{"reconcile.resolution.decideBalance", "max(symbol.spot.peer.newest(), symbol.spot.secondBuyer)", "symbol.spot.peer.newest()"},
		}},
	{"second_buyer_elsewhere", "another botd's order on one symbol hides its purchase on another if lists omit ids", "42",
		"reconcile TestPurchaseOfBotdsFormIsQuarantinedDespiteLostOrderElsewhere", []Edit{
			{"reconcile.peerOrders.quarantineSecondBuyer", `s.tracker.Halted().Unknown != ""`, "s.tracker.StandsDown()"},
		}},
	{"adopted_sale_again", "another botd's sale that was adopted counts again once a list names it", "42",
		"reconcile TestAdoptedSaleOfAnotherBotdCountsOnce", []Edit{
			{"reconcile.walletComparison.decideMissing", "symbol.spot.newestSale()", "0"},
		}},
	{"frozen_refusal_list", "a refused sale that only the wallet shows counts as resting only if the open list omits another order", "41",
		"reconcile TestRefusedSaleRestsIfTheWalletFreezesItsUnitsSinceItWasSent", []Edit{
			{"reconcile.walletEvidence.restingRefusals", "wrong || «grown»", "false"},
		}},
	{"frozen_refusal_freed", "what a canceled order of botd's has freed counts as frozen for a refused sale", "41",
		"reconcile TestRefusedSaleRestsIfTheWalletFreezesItsUnitsSinceItWasSent", []Edit{
			{"reconcile.walletEvidence.restingRefusals", "e.tracker.freed(symbol) < sum", "true"},
		}},
	{"frozen_refusal_ignored", "a stop is placed although the wallet shows that a refused one is open", "41",
		"reconcile TestSeveralRefusedStopsThatTheWalletFreezesStand", []Edit{
			{"reconcile.unlistedOrders.infer", "s.noteFrozenRefusals(symbol, s.old)", ""},
		}},
	{"refused_exit_unprotected", "on futures an exit that waits after refusals prevents the stop", "protection",
		"reconcile TestPositionKeepsItsStopWhileARefusedExitWaits", []Edit{
			{"reconcile.positionExit.postpones", "d.nowMS < max(d.desired.ExitFromMS, d.desired.YieldMS)",
				"d.symbol.Key().Market == exchange.Spot && d.nowMS < max(d.desired.ExitFromMS, d.desired.YieldMS)"},
		}},
	{"frozen_elsewhere", "units frozen by a sale on another symbol of the asset prevent a stop", "protection",
		"reconcile TestSalesOnAnotherSymbolFreezeTheirOwnUnits", []Edit{
			{"reconcile.tracked.ofAsset", "symbol.rules.QuantityOf(rules.QuantityAmount(quantity))", "0"},
		}},
	{"cut_sales_sold_again", "an exit after a start sells units again that sales missing in a cut journal have sold", "35",
		"reconcile TestExitWaitsForSalesThatACutJournalLacks", []Edit{
			{"reconcile.walletEvidence.lacksSales", "sum >= missing", "false"},
		}},
	{"omitted_has_ended", "an opening of another botd that one open list omits counts as ended", "42",
		"runtime/engine TestEqualOrderWithoutIDBlocksOpenings", []Edit{
			{"reconcile.evidence.omittedForeign", "!ended", "false"},
		}},
	{"memory_trusted", "a purchase of botd's that the journal no longer remembers is another botd's", "42",
		"reconcile TestAPurchaseOlderThanTheMemoryMayBeOwn", []Edit{
			{"reconcile.unclaimedRows.newestUnclaimed", "e.ForgottenID()", "0"},
		}},
	{"purchase_unmarked", "two botds make the same purchase at once, and each counts the other's as its own, executed twice", "42",
		"reconcile TestPurchasesOfTwoStartsDiffer", []Edit{
			{"reconcile.inputs.amountFor", "s.symbol.last-s.startMark().purchase(quantity)", "s.symbol.last"},
		}},
	{"unnamed_peers_sell_together", "two botds with copies of one journal sell the same units, though lists without ids have shown them to each other", "42",
		"reconcile TestOneOfTwoUnnamedPeersSellsFirst", []Edit{
			{"reconcile.unnamedPeer.exitDelayMS", "t.rank > 0", "false"},
		}},
	{"suspect_ignored", "an exit does not wait for a botd that an order on futures without an id may show", "42",
		"reconcile TestOrderThatMayBeAnotherBotdsDelaysSpotExits", []Edit{
			{"reconcile.peer.YieldMS", "p.unnamed.mayHaveUnnamedPeer()", "p.unnamed.HasUnnamedPeer()"},
		}},
	{"suspects_sell_together", "two botds that may have shown each other an order on futures wait equally long", "42",
		"reconcile TestOrderThatMayBeAnotherBotdsDelaysSpotExits", []Edit{
			{"reconcile.unnamedPeer.exitDelayMS", "t.ownSuspectID > t.suspectedID", "false"},
		}},
	{"exit_beside_unclaimed", "a resting exit is placed next to an equal sale without an id", "42",
		"reconcile TestRestingExitEqualToAnUnclaimedSaleIsNotPlaced", []Edit{
			{"reconcile.restingOrders.placeKeyed", "d.restsUnclaimed(&order)", "false"},
		}},
	{"twins_stay", "the stops of two botds without ids over the same units both stay", "42",
		"reconcile TestOneOfTwoTwinStopsIsCanceled", []Edit{
			{"reconcile.positionComparison.observePosition", "s.peers.noteTwins(symbol)", ""},
		}},
	{"old_twin_sold_again", "what an order in place of a stop has sold is sold again, because the order is old", "42",
		"reconcile TestSaleOfAnOldTwinIsNotRepeated", []Edit{
			{"reconcile.walletEvidence.salesOfOthers", "symbol.spot.replaced.mayHaveSold(o.ID)", "false"},
		}},
	{"between_starts", "two botds sell the same units at once, because each has found the other by a later start", "34",
		"reconcile TestLaterBotdIsDecidedByFirstSharedStart", []Edit{
			{"reconcile.peer.YieldMS", "p.startedBetween()", "false"},
		}},
	{"resting_sale_covered", "a stop covers units for which the history shows another botd's sale, because the open list omits it", "15",
		"reconcile TestSaleThatOnlyTheHistoryShowsRests", []Edit{
			{"reconcile.positionComparison.observePosition", "s.peers.noteRestingSales(symbol)", ""},
		}},
	{"canceled_first", "while botd stands down, a stop that another botd has canceled first is placed again at once", "15",
		"reconcile TestStopThatAnotherCanceledFirstIsNotReplacedAtOnce", []Edit{
			{"reconcile.Tracker.noteTaken", "known.unableMS != 0 && known.releasedMS == 0", "false"},
		}},
	{"others_gone_at_once", "one wallet without a person's units lets a second stop sell them", "40",
		"reconcile TestUnitsOfOthersAreGoneOnlyIfAWalletWithAPositionShowsIt", []Edit{
			{"reconcile.saleEvidence.walletHoldsOnlyOwn", "symbol.spot.othersEnded", "0"},
		}},
	{"beside_an_unnamed_peers_order", "openings are sent next to an order of their size without an id, though lists may omit ids", "42",
		"reconcile TestOrderOfPlannedSizeBlocksOpenings", []Edit{
			{"reconcile.Tracker.ForeignOpening", "t.OfPlan(symbol, o)", "false"},
		}},
	{"beside_planned_prices", "an opening is sent next to two orders without ids that have the sizes and prices of the plan's", "42",
		"reconcile TestOrderAtPlannedPricesBlocksOpenings", []Edit{
			{"reconcile.peer.OfPlan", "(others || p.severalAtPlannedPrices(symbol))", "others"},
		}},
	{"stop_where_due_ignored", "units are sold next to another botd that has just protected the position of the same fill", "42",
		"reconcile TestStopOfAnotherWhereOwnIsDueRevealsAnUnnamedPeer", []Edit{
			{"reconcile.positionProtection.convergeStop", "d.noteUnnamedStop(price)", ""},
		}},
	{"sold_by_peer_again", "an exit by plan sells units that another botd may have sold, because a deposit made up for them in the wallet", "15",
		"reconcile TestExitSellsNoneOfWhatAnotherBotdMayHaveSold", []Edit{
			{"reconcile.derivation.convergeTarget", "d.spotPosition().unsoldByPeer()", "d.ownPosition"},
		}},
	{"yield_since_decision", "two botds sell the same units at once when a wallet shows them again", "34",
		"reconcile TestYieldBeginsWhenTheWalletShowsTheUnitsAgain", []Edit{
			{"reconcile.peer.YieldMS", "max(decidedMS, symbol.spot.positionShownMS)", "decidedMS"},
		}},
	{"sold_elsewhere_again", "units that another botd has sold, by the newest history, are sold again before the decision", "42",
		"reconcile TestUnitsSoldByAnotherAreNotSoldAgain", []Edit{
			{"reconcile.spotPosition.soldElsewhere", "s.symbol.spot.soldElsewhere", "0"},
		}},
	{"freed_twice", "an exit counts the units of a canceled stop twice while a foreign sale is open", "42",
		"reconcile TestExitSellsWhatACanceledStopHasFreed", []Edit{
			{"reconcile.saleEvidence.freed", "others == 0 || frozen < 0", "true"},
		}},
	{"peers_stop_sells_own", "while standing down, botd deducts another's stop from its own units first", "15",
		"reconcile TestPassedStopSellsOwnPartStandingDown", []Edit{
			{"reconcile.inputs.ownPart", "min(position, s.symbol.jointPosition()-sells)", "min(position, s.symbol.jointPosition()) - sells"},
		}},
	{"passed_leaves_peers", "while standing down, another botd's purchase has no stop once the price has passed botd's stop", "15",
		"reconcile TestPassedStopSellsOwnPartStandingDown", []Edit{
			{"reconcile.spotStops.converge",
				"d.addStop(missing-max(0, position.unsoldByPeer()-position.selling(d.leavesUncovered)), d.stopFromLast(price))", ""},
		}},
	{"passed_sells_sold", "while standing down, what another botd may have sold is sold at market once the price has passed botd's stop", "15",
		"reconcile TestPassedStopSellsOwnPartStandingDown", []Edit{
			{"reconcile.positionExit.exitNow", "d.spotPosition().unsoldByPeer().Abs()", "d.ownPosition.Abs()"},
		}},
	{"sold_by_wallet_again", "an exit sells what a peer has sold, by the newest wallet, before the history shows it", "34",
		"reconcile TestExitLeavesWhatTheWalletFreezesForAnotherBotd", []Edit{
			{"reconcile.spotPosition.leftByPeer", "s.tracker.StandsDown() || s.tracker.mayHaveUnnamedPeer()", "false"},
		}},
	{"frozen_sold", "an exit sells what the wallet freezes for another botd's orders", "34",
		"reconcile TestExitLeavesWhatTheWalletFreezesForAnotherBotd", []Edit{
			{"reconcile.spotPosition.leftByPeer", "max(0, own-«s.saleEvidence().frozenForOthers()»)", "0"},
		}},
	{"deposit_sold", "while standing down, an exit sells a person's deposit in place of what another botd has sold", "34",
		"reconcile TestExitSellsNoDepositInPlaceOfWhatAnotherBotdHasSold", []Edit{
			{"reconcile.spotPosition.leftByPeer", "own -= s.symbol.spot.peer.persons(s.symbol.Unattributed())", ""},
		}},
	{"never_listed_repeated", "another botd's stop that the open list has never shown is placed again, though the wallet freezes its units", "15",
		"reconcile TestStopOfAnotherBotdThatNoListShowsStandsWhileTheWalletFreezesItsUnits", []Edit{
			{"reconcile.spotPosition.toProtect", "s.neverListed()", "0"},
		}},
	{"persons_order_protects", "a person's order that the open list shows counts as another botd's stop", "15",
		"reconcile TestStopOfAnotherBotdThatNoListShowsStandsWhileTheWalletFreezesItsUnits", []Edit{
			{"reconcile.spotPosition.neverListed", "frozenForOthers() - «s.tracker.sellsOfOthers(s.symbol)»", "0"},
		}},
	{"deposit_hides_sale", "a person's deposit hides that the stop of another botd has sold the position, and another stop covers it again", "34",
		"reconcile TestStopCoversNoDepositInPlaceOfWhatAnotherBotdHasSold", []Edit{
			{"reconcile.SymbolState.jointPosition", "s.spot.peer.hiddenSales(own, shown-s.spot.peer.persons(s.Unattributed()))", "0"},
		}},
	{"deposit_ends_sale", "a further deposit shows the units again that another botd has sold", "34",
		"reconcile TestStopCoversNoDepositInPlaceOfWhatAnotherBotdHasSold", []Edit{
			{"reconcile.walletComparison.reconcileWallet",
				"max(short, peer.hiddenSales(own, shown-peer.persons(symbol.Unattributed())))", "max(short, 0*peer.sold)"},
		}},
	{"deposit_shrinks", "while standing down, what another botd has sold counts as withdrawn by a person", "34",
		"reconcile TestExitSellsNoDepositInPlaceOfWhatAnotherBotdHasSold", []Edit{
			{"reconcile.walletComparison.recordUnattributed", "s.tracker.StandsDown()", "false"},
		}},
	{"withdrawal_is_sale", "while standing down, what a person has withdrawn counts as sold by another botd", "34",
		"reconcile TestStopCoversNoDepositInPlaceOfWhatAnotherBotdHasSold", []Edit{
			{"reconcile.peerTrades.hiddenSales", "min(own-shown, own, t.sales())", "min(own-shown, own)"},
		}},
	{"few_ids_trusted", "a futures list that shows one id counts as one that shows every id", "42",
		"reconcile TestIDsAreShownByManyRowsOfTheList", []Edit{
			{"reconcile.rowIDs.showsEveryID", "minRowsWithID", "1"},
		}},
	{"omitted_ids_forgotten", "a futures list that has omitted an id counts as one that shows every id", "42",
		"reconcile TestIDsAreShownByManyRowsOfTheList", []Edit{
			{"reconcile.rowIDs.showsEveryID", "!r.omitted", "true"},
		}},
	{"refused_stop_ignored", "lists without a position confirm a refused opening while the stop sent after it rests", "41",
		"reconcile TestRestingStopOfRefusedOpeningOutweighsEmptyList", []Edit{
			{"reconcile.refusalChecks.confirms", "!r.hasStop(s.tracker.Symbol(r.Symbol))", "true"},
		}},
	{"refused_stop_canceled", "after a start, the stop of a refused opening that was executed is canceled because no list shows a position", "41",
		"reconcile TestRestingStopOfRefusedOpeningOutweighsEmptyList", []Edit{
			{"reconcile.observedAccount.protectsUnexplained", "symbol.refusedStopMS != 0", "false"},
		}},
	{"refused_opening_forgotten", "a start from a checkpoint forgets an opening on futures that the exchange refused", "41",
		"reconcile TestRestingStopOfRefusedOpeningOutweighsEmptyList", []Edit{
			{"reconcile/account.refusedPlacements.note", "p.purpose.Opens()", "false"},
		}},
	{"standing_down_unread", "while botd stands down, a missing stop on spot waits until the open list can be read", "15",
		"runtime/engine TestStopIsPlacedStandingDownWhileTheOpenListCannotBeRead", []Edit{
			{"runtime/engine.dispatcher.actUnread", "!d.tracker.MayProtectUnread(leg.symbol)", "true"},
		}},
	{"unread_both_stop", "while the open list cannot be read, two botds both place the stop that is missing", "15",
		"reconcile TestStopReturnsStandingDownWhileTheOpenListCannotBeRead", []Edit{
			{"reconcile.spotStops.protectFree", "d.tracker.startedLater()", "false"},
		}},
	{"unread_frozen_ignored", "while the open list cannot be read, botd covers the units that another botd's stop holds", "15",
		"reconcile TestStopReturnsStandingDownWhileTheOpenListCannotBeRead", []Edit{
			{"reconcile.spotStops.protectFree", "rules.QuantityOf(balance.Frozen)", "0"},
		}},
	{"wrong_id_believed", "a stop is canceled as a duplicate of an order that only a wrong acknowledgment named", "2",
		"reconcile TestStopWithAWrongAcknowledgedIDStands", []Edit{
			{"reconcile.orderRows.misnamed", "p == nil", "true"},
		}},
	{"refused_slice_relied_on", "what a refused slice lacks is opened together with the next one, decided before the refusal", "51",
		"runtime/engine TestUnfilledPartOfASliceIsNotAddedToTheNext", []Edit{
			{"runtime/engine.dispatcher.placed", "order.State().Final() && «leg != nil»", "leg != nil && order.State() == placement.Expired"},
		}},
	{"refused_before_opening", "after a start, the stop of a position waits for refusals from before the position was opened", "40",
		"runtime/engine TestStartIgnoresRefusalsFromBeforeAnOpening", []Edit{
			{"reconcile/account.State.applyFact", "s.refusals.endPosition(s.symbol(p.order.Key()))", ""},
		}},
	{"margin_not_journalled", "a start does not know the margin in use before a refused opening, and confirms the refusal by an empty list", "39",
		"reconcile TestStartKnowsMarginBeforeRefusedOpening", []Edit{
			{"reconcile.Tracker.WalletBefore", "ReadMS: «t.accountMS»", "0"},
		}},
	{"old_margin_compared", "a start compares the margin in use with that of long before", "39",
		"reconcile TestStartKnowsMarginBeforeRefusedOpening", []Edit{
			{"reconcile.refusalChecks.holdsMargin", "s.tracker.bootMS <= s.tracker.noReadBefore(r.SentMS)", "true"},
		}},
	{"old_list_confirms_refusal", "a list of positions that needs more margin than the account uses confirms the refusal of an opening", "39",
		"reconcile TestMarginOfListedPositionsIsNotThatOfARefusedOpening", []Edit{
			{"reconcile.refusalChecks.holdsMargin", "!beyond.Mul(-2).Less(needs)", "false"},
		}},
	{"half_exit_unprotected", "an exit of what half a list shows keeps the stop of the rest away", "protection",
		"reconcile TestExitOfWhatHalfAListShowsLeavesAStop", []Edit{
			{"reconcile.reductions.exitsWhole", "s.symbol.Unwitnessed()", "false"},
		}},
	{"unlisted_margin_of_lost", "a new journal opens though the account uses margin that no list shows", "35",
		"reconcile TestLostJournalIsFoundByMarginThatNoListShows", []Edit{
			{"reconcile.peerOrders.guardLost", "unlisted && symbol.Key().Market == exchange.Futures", "false"},
		}},

	// A start does not wait for a strategy that does not return.
	{"start_waits", "a start waits until the process of each strategy has described its needs", "50",
		"runtime/worker/isolated TestAStartWaitsForItsStrategiesTogether", []Edit{
			{"runtime/worker/isolated.Loading.load", "time.After(patience)", "time.After(time.Hour)"},
		}},
	{"substitute_stays", "a reload leaves the substitute of a strategy whose file has not changed", "50",
		"runtime/reload TestStrategyThatHasLoadedReplacesItsSubstitute", []Edit{
			{"runtime/reload.Reloader.prepare", "same && substitute == nil", "same"},
		}},
	{"missing_stays", "a strategy whose symbol the start's list omitted stays failed", "44",
		"runtime/reload TestStrategyRunsOnceItsSymbolIsListedAgain", []Edit{
			{"runtime/reload.Reloader.listsMissing", "len(missing) == 0", "true"},
		}},
	{"sold_rest_unprotected", "while botd stands down, a sale that only the wallet shows counts against the rest of the position", "15",
		"reconcile TestRestOfASaleThatOnlyTheWalletShowsGetsItsStop", []Edit{
			{"reconcile.spotPosition.selling", "case «s.tracker.StandsDown() && !s.tracker.walletUntrusted(s.symbol)»:", "false"},
		}},
}
