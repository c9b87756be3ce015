package mutant

// belief are rules about a read that contradicts another read, omits data, or fails.
var belief = []Row{
	{"list_decided_by", "a strategy decides by a list that alone shows less than it holds", "39",
		"reconcile TestStrategyKeepsPositionThatOneListOmits", []Edit{
			{"reconcile.SymbolState.DecisionPosition", "s.Unwitnessed()", "false"},
		}},
	{"lost_stop_waits", "if only a list shows the position as closed, an uncertain stop waits for L", "39",
		"reconcile TestUncertainStopIsReplacedWhenListIsEmpty", []Edit{
			{"reconcile.positionComparison.seekWitness", "unseen || stopMissing", "unseen"},
		}},
	{"profit_is_a_stop", "if only a list shows the position as closed, an open take-profit makes a missing stop wait for L", "39",
		"reconcile TestRefusedStopReturnsWithOpenTakeProfit", []Edit{
			{"reconcile.positionComparison.seekWitness", "p.Purpose() == placement.StopLoss", "true"},
		}},
	{"adopted_unwitnessed", "the end of an adopted position is not witnessed by the row that was open at its adoption", "16",
		"reconcile TestRowOpenAtAdoptionIsTheAdoptedPosition", []Edit{
			{"reconcile.SymbolState.openWhenAdopted", "s.OpenedMS() == atMS", "false"},
		}},
	{"row_left_out", "a position whose row can be read in one of two lists is not protected", "43",
		"reconcile TestPositionInEitherListIsProtected", []Edit{
			{"reconcile.positionComparison.useShownPosition", "row.Remaining != 0", "false"},
		}},
	{"unexplained_stripped", "one list alone cancels the stop of a position that no fill explains", "39",
		"reconcile TestUnexplainedPositionKeepsStopAgainstOneList", []Edit{
			{"reconcile.observedAccount.protectsUnexplained", "symbol.unexplainedID != 0", "false"},
		}},
	{"liquidation_unexplained", "the liquidation of a position that no fill explains is not reported as a liquidation", "46",
		"runtime/engine TestLiquidationOfAnUnexplainedPositionIsAnEvent", []Edit{
			{"reconcile.SymbolState.Liquidation", "s.unexplainedEnd(&snapshot.Closed[i])", "false"},
		}},
	{"margin_unasked", "a position larger than the fills is attributed to others without comparing the margin", "16",
		"reconcile TestExcessWithoutMarginIsNotForeign", []Edit{
			{"reconcile.margins.marginDenies", "m.inUse.PositionMargin.Less(needed)", "false"},
			{"reconcile.margins.fillsExplainMargin", "left.Abs().Less(listed)", "false"},
		}},
	{"half_wallet_trusted", "a wallet that freezes less than the open orders cancels stops", "40",
		"reconcile TestWalletThatFreezesTooLittleCancelsNoStop", []Edit{
			{"reconcile.observedAccount.freezesLess", "o.listedUnfrozen(symbol) > 0", "false"},
		}},
	{"read_before_it_arrived", "a list read before a stop arrived shows that it has ended", "11",
		"reconcile TestReadsFromBeforeArrivalDoNotEndStop", []Edit{
			{"reconcile.sentRequests.arrivedMS", "d.delivery(p).answeredMS", "0"},
		}},
	{"unanswered_takes_off", "an unanswered stop on spot cancels another open stop", "protection",
		"reconcile TestUnansweredStopCancelsNoLiveStop", []Edit{
			{"reconcile.spotStops.shrinkStops", "p.Purpose() == placement.StopLoss && p.OrderID() == 0", "false"},
		}},
	{"repetition_foreign", "a purchase that was executed twice counts as manual if lists omit ids", "42",
		"reconcile TestEqualRowWithoutIDIsARepetition", []Edit{
			{"reconcile.unclaimedRows.repetition", "sameParameters(order, &one.order)", "false"},
		}},
	{"equal_unnamed", "an uncertain stop that a list shows without its id counts as foreign", "42",
		"reconcile TestEqualRowWithoutIDIsTheUncertainStop", []Edit{
			{"reconcile.unclaimedRows.idOfEqual", "equals(row, p, p.Fence(e.Settle()))", "false"},
		}},
	{"refused_sale_rests", "a refused sale that is open without an id is not canceled", "42",
		"reconcile TestRefusedSaleThatRestsWithoutIDIsCanceled", []Edit{
			{"reconcile.unclaimedRows.idOfEqual", "within(row, &r.order, r.SentMS, r.atMS+createdSlackMS)", "false"},
		}},
	{"confirmed_forgotten", "a sale confirmed as refused before lists could show it counts as foreign if they omit ids", "42",
		"reconcile TestRefusedSaleIsRecognizedAfterConfirmation", []Edit{
			{"reconcile.refusalChecks.confirmRefused", "s.tracker.noteConfirmed(r)", ""},
		}},
	{"late_purchase_anothers", "a purchase confirmed as refused before lists could show it counts as foreign if they omit ids", "42",
		"reconcile TestRefusedPurchaseIsRecognizedAfterConfirmation", []Edit{
			{"reconcile.unclaimedRows.repetition", "e.refusals.refusedOrConfirmed()", "e.refusals.Refused()"},
		}},
	{"equal_stops_stay", "two equal stops without ids both stay open", "14",
		"reconcile TestYoungerOfTwoEqualStopsIsCanceled", []Edit{
			{"reconcile.unclaimedRows.idOfEqual", "equals(row, p, p.SentMS()+repeatedMS)", "false"},
		}},
	{"name_forgotten", "the id of another botd's order is forgotten when the next list omits it", "42",
		"reconcile TestListedIDIsRemembered", []Edit{
			{"reconcile.unclaimedRows.named", "e.observed.names[o.ID]", `""`},
		}},
	{"unnamed_stop_again", "while botd stands down, a stop listed without an id is placed again", "15",
		"reconcile TestStandingDownStopWithoutIDIsNotRepeated", []Edit{
			{"reconcile.spotPosition.toProtect", "s.unnamedStops()", "0"},
		}},
	{"one_wallet_strips", "one wallet alone cancels the stop of a purchase that no list shows", "40",
		"reconcile TestUnlistedPurchaseKeepsStopAgainstOneWallet", []Edit{
			{"reconcile.inferredPurchases.vanished", "t.undecided-t.inferred", "0"},
		}},
	{"others_keep_stop", "units of a manual purchase, bought during an unanswered one, keep a stop", "16",
		"reconcile TestPurchaseOfOthersKeepsNoStop", []Edit{
			{"reconcile.unlistedOrders.noteUndecided", "left -= t.unclaimed[i].Filled", "_ = i"},
		}},
	{"forgotten_sale_again", "units that botd sold from a purchase missing in an old backup get a stop again after a start", "15",
		"reconcile TestStartKnowsWhatItsOrdersSoldOfAnothersPurchase", []Edit{
			{"reconcile.SymbolState.notePeerOrder", "t.peer.sold = s.Oversold()", ""},
		}},
	{"others_proceeds", "the sale of manually bought units on spot counts as a gain of the strategy", "Limits",
		"runtime/engine TestSaleBeforeItsPurchaseIsTheStrategys", []Edit{
			{"runtime/engine.results.cashFlow", "fill.Others != 0", "false"},
		}},
	{"sold_before_bought", "a sale booked before its purchase does not count as a gain", "Limits",
		"runtime/engine TestSaleBeforeItsPurchaseIsTheStrategys", []Edit{
			{"reconcile/account.State.fill", "beyond != 0 && s.buys(symbol.key)", "false"},
		}},
	{"peer_wallet_strips", "one wallet alone cancels the stop of another botd's purchase", "40",
		"reconcile TestAnotherBotdsPurchaseKeepsStopAgainstOneWallet", []Edit{
			{"reconcile.positionProtection.converge", "d.symbol.jointFills() > 0", "false"},
		}},
	{"unread_row_unfrozen", "a wallet that freezes less than a stop with an unreadable row cancels that stop", "43",
		"reconcile TestWalletFreezesLessThanUnreadableStop", []Edit{
			{"reconcile.observedAccount.listedUnfrozen", "slices.Contains(o.listed[exchange.Spot].unread, p.OrderID())", "false"},
		}},
	{"entry_unread_strips", "one list alone cancels the stop while the row of the entry cannot be read", "43",
		"reconcile TestStopStaysWhileEntryIsUnreadable", []Edit{
			{"reconcile.positionComparison.partialPosition", "s.noteUnexplained(symbol)", ""},
		}},
	{"paid_once", "a purchase executed and paid twice, as the wallet shows, counts as a deposit", "41",
		"reconcile TestPurchaseExecutedTwiceIsProtected", []Edit{
			{"reconcile.walletEvidence.timesPaid", "return maxTimes", "return 1"},
		}},
	{"start_strips", "after a start a wallet cancels the stop of an uncertain purchase", "40",
		"reconcile TestStopStaysAfterStartUntilPurchaseIsDecided", []Edit{
			{"reconcile.observedAccount.inheritedSince", "p.SentMS() < o.bootMS", "false"},
		}},
	{"opposite_stays", "the stop of the opposite side stays if the list shows less than the fills explain", "39",
		"reconcile TestStopOfOppositeSideIsCanceled", []Edit{
			{"reconcile.positionProtection.cancelOpposite", "d.symbol.position.Abs() > known.Abs()", "d.symbol.position.Abs() != known.Abs()"},
		}},
	{"stop_moves_for_exit", "a stop is canceled for a move while an exit is due", "protection",
		"reconcile TestAnExitThatIsDueMovesNoStop", []Edit{
			{"reconcile.positionStop.mayMove", "s.reductions().exits()", "false"},
		}},
	{"reduction_opens", "an overfilled reduce-only order counts as a position of the opposite side", "41",
		"reconcile TestReducingFillOpensNoPosition", []Edit{
			{"reconcile.recorder.adoptReduced", "beyond != 0", "false"},
		}},
	{"reduction_owed_forgotten", "an overfilled reduction during an opening counts as a position once the opening ends", "41",
		"reconcile TestReductionOpensNoPositionAfterOpeningEnds", []Edit{
			{"reconcile.Tracker.Observe", "s.adoptReduced(symbol, symbol.Opened())", ""},
		}},
	{"opened_stays", "an opening booked after its reduction counts as a position that is still open", "41",
		"reconcile TestReductionOpensNoPositionAfterOpeningEnds", []Edit{
			{"reconcile/account.Symbol.fill", "s.opened = within(s.opened, s.known)", ""},
		}},
	{"margin_confirms", "lists confirm that a refused opening was not executed while the account uses its margin", "41",
		"reconcile TestMarginInUseConfirmsNoRefusal", []Edit{
			{"reconcile.refusalChecks.confirms", "!s.holdsMargin(r)", "true"},
		}},
	{"position_confirms", "a position that nothing explains confirms that a refused opening of its side was not executed", "41",
		"reconcile TestPositionBeyondFillsConfirmsNoRefusal", []Edit{
			{"reconcile.refusalChecks.confirms", "!s.exceedsFills(r)", "true"},
		}},
	{"margin_undeclared", "lists that the account's margin contradicts are no declared state", "41",
		"reconcile TestLastingMarginOfRefusedOpeningIsContradicted", []Edit{
			{"reconcile.positionComparison.contradict", "s.tracker.marginContradicts(symbol, s.tracker.Settle().StalenessMS)", "false"},
		}},
	{"unanswered_waits", "on spot an unanswered stop delays the next until the client times out, though the wallet covers one only", "protection",
		"reconcile TestUnansweredSpotStopIsPlacedAgainIfWalletHasOne", []Edit{
			{"reconcile.inputs.unansweredStop", "p.Order().Type == exchange.StopLimit", "false"},
		}},
	{"unanswered_twice", "on spot a second stop is placed during an unanswered one, though the wallet covers both", "protection",
		"reconcile TestUnansweredSpotStopIsPlacedAgainIfWalletHasOne", []Edit{
			{"reconcile.inputs.unansweredStop", "s.saleEvidence().repeatable(p)", "true"},
		}},
	{"refused_row_anothers", "a row without an id that equals a purchase which the exchange refused and executed is another's purchase", "42",
		"reconcile TestRowWithoutIDIsMatchedToEqualRefusedPurchase", []Edit{
			{"reconcile.unlistedOrders.unclaimedPurchases", "s.tracker.repeatsRefused(o)", "false"},
		}},
	{"step_outgrows", "a position smaller than a quantity step that has grown is not closed where its stop was passed", "45",
		"reconcile TestPositionBelowAGrownStepIsClosed", []Edit{
			{"reconcile.positionExit.reduceNow", "d.closeDust(«whole», reason)", "quantity >= d.ownPosition.Abs()"},
		}},
	{"no_margin_no_witness", "an account without used margin does not contradict a listed position", "39",
		"reconcile TestListedPositionWithoutMarginIsRejected", []Edit{
			{"reconcile.observedAccount.note", "!s.Account.PositionMargin.IsZero()", "false"},
		}},
	{"passed_unprotected", "a position that nothing explains has no stop where the strategy's price was passed", "16",
		"reconcile TestStopOnUnexplainedPosition", []Edit{
			{"reconcile.positionProtection.protectUnexplained", "if «whole.pricePassed(placement.StopLoss, price)» {", "false"},
		}},
	{"refused_before", "refusals for an earlier position delay the stop of the next one", "protection",
		"runtime/engine TestAStopWaitsForNoRefusalOfAnEarlierPosition", []Edit{
			{"runtime/engine.round.finishRound", "r.backoffs.watch()", ""},
		}},
	{"vanished_opens", "openings are sent after a position ended without a fill, on the evidence of a list alone", "39",
		"reconcile TestOpeningWaitsForEndOfUnexplainedPosition", []Edit{
			{"reconcile.positionComparison.observePosition", "!symbol.endUnproved()", "true"},
		}},
	{"unshown_reduced", "a part of a position that the list omits, and that may already be closed, is sold", "39",
		"reconcile TestNoPartialExitWhileListOmitsPosition", []Edit{
			{"reconcile.inputs.listedPart", "symbol.TrustedPosition() == symbol.position", "true"},
		}},
	{"step_below_ask", "one step on spot is bought for its current price, which buys nothing at a higher price", "class N",
		"reconcile TestSingleStepIsBoughtThroughCollar", []Edit{
			{"reconcile.inputs.amountFor", "quantity == s.symbol.rules.QuantityTick", "false"},
		}},
	{"hung_list_strips", "after a start a wallet cancels the stop of a purchase while the open list cannot be read", "40",
		"reconcile TestStopStaysAfterStartWithoutOpenList", []Edit{
			{"reconcile.walletComparison.partialWallet", "s.unlisted.noteUndecided(symbol, maxBought, sinceMS)", "_, _ = maxBought, sinceMS"},
		}},
	{"unfrozen_takes_off", "a stop for which the wallet freezes nothing cancels another open stop", "protection",
		"reconcile TestUnansweredStopCancelsNoLiveStop", []Edit{
			{"reconcile.spotStops.shrinkStops", "slices.ContainsFunc(d.stops, d.tracker.Unlisted)", "false"},
		}},
	{"own_next_to_peer", "while botd stands down, its own purchase that no list shows does not count as held", "15",
		"reconcile TestStandingDownKeepsOwnUnlistedPurchase", []Edit{
			{"reconcile.SymbolState.ownOnSpot", "s.spot.unlisted.inferred", "0"},
		}},
	{"sold_held_twice", "an unlisted sale is deducted again from the units left in the wallet", "40",
		"reconcile TestStopOfRemainderNeedsNoList", []Edit{
			{"reconcile.spotStops.stoppable", "d.tracker.hasEnded(p) && p.Remaining() <= sold", "false"},
		}},
	{"outlived_waits", "the foreign rest of a position, once listed together with botd's part, waits for L", "41",
		"reconcile TestListedRemainderIsProtectedAtOnce", []Edit{
			{"reconcile.inputs.unexplained", "symbol.unexplainedFromMS < symbol.ChangedMS()", "false"},
		}},
	{"torn_list_confirms", "an open list that omits an open order confirms a refusal", "3",
		"runtime/engine TestIncompleteListConfirmsNoRefusal", []Edit{
			{"reconcile.RefusedOrder.omitsOpenOrder", "resting && (o.Key() == r.Symbol || account.sentBefore(o, r.SentMS))", "false"},
		}},
	{"refusal_forgotten", "a removed strategy ends while its refused orders may still appear", "49",
		"runtime/engine TestRefusedOpeningOfRemovedStrategyIsOwned", []Edit{
			{"runtime/engine.roster.ended", "r.nowMS < leg.symbol.RefusedUntilMS(r.settleBounds())", "false"},
		}},
	{"decided_beside", "a plan decided together with an opening that is never sent stays in force", "51",
		"runtime/engine TestUnsentOpeningIsDecidedAgain", []Edit{
			{"runtime/engine.sender.neverSent", "leg.inForce.sequence > w.sequence", "false"},
		}},
	{"amount_unseen", "a strategy does not see the quantity that an order in flight by amount buys", "51",
		"runtime/engine TestStrategySeesQuantityOfAmountOrder", []Edit{
			{"runtime/engine.quantityOf", "order.QuoteAmount.IsZero()", "true"},
		}},
	{"part_is_covered", "on spot a stop of part of a position counts as one of all of it", "protection",
		"runtime/engine TestSpotStopsCoverPositionTogether", []Edit{
			{"runtime/engine.protection.ownStops", "leg.symbol.Key().Market == exchange.Futures", "true"},
		}},
	{"standstill_goes_on", "a round continues with reads from before the process was suspended", "44",
		"runtime/engine TestRoundRestartsAfterProcessPause", []Edit{
			{"runtime/engine.Engine.Handle", "nowMS-e.nowMS > patienceMS+standstillMS", "false"},
		}},
	{"moves_refused", "a stop is canceled for a move while the exchange refuses stops", "protection",
		"reconcile TestNoStopMovesWhereTheExchangeRefusesStops", []Edit{
			{"reconcile.inputs.mayMoveStop", "!refused", "true"},
		}},
	{"lost_read", "a read that is not answered is repeated in the next round only", "23",
		"runtime/engine TestReadWithLostAnswerIsRepeatedInSameRound", []Edit{
			{"runtime/engine.pace.attentionMS", "p.repeated", "true"},
		}},
	{"unanswered_stop", "an unanswered stop is awaited until the client times out", "1",
		"runtime/engine TestUnansweredStopIsPlacedAgain", []Edit{
			{"reconcile.sentRequests.unanswered", "at != 0", "false"},
		}},
	{"canceled_by_another", "while botd stands down, a stop canceled by others is placed again at once", "34",
		"reconcile TestForeignCanceledStopHasGracePeriod", []Edit{
			{"reconcile.Tracker.noteTaken", "t.StandsDown() && («t.CancelMS(p.ClientOrderID()) == 0» || known.unableMS", "false"},
		}},
	{"own_is_anothers_too", "an order booked as botd's own by the exchange's id counts as foreign once a row shows its id", "42",
		"reconcile TestOwnBookedFillIsNotAnotherBotds", []Edit{
			{"reconcile.evidence.isPeerOrder", "e.tracker.claimed(o)", "false"},
		}},
	{"peer_sold_own", "one wallet cancels a stop after another botd bought and sold again", "40",
		"reconcile TestAnotherBotdsSalesAreNotRepeated", []Edit{
			{"reconcile.jointProtection.cancelSoldStops", "d.symbol.spot.peer.purchases()", "0"},
		}},
	{"sold_without_bought", "a list with another botd's new sale cancels a stop, though it may omit that botd's purchase", "15",
		"reconcile TestAnotherBotdsSalesAreNotRepeated", []Edit{
			{"reconcile.jointProtection.cancelSoldStops", "slices.ContainsFunc(seen.peer.orders, recent)", "false"},
		}},
	{"cut_sale_forgotten", "after a start a sale that the journal lacks is no witness, once the start has booked another", "40",
		"reconcile TestAfterAStartASaleThatTheJournalLacksIsAWitness", []Edit{
			{"reconcile.observedAccount.salesFrom", "cmp.Or(symbol.spot.changedMS, symbol.ChangedMS())", "symbol.ChangedMS()"},
		}},
	{"deposit_makes_up", "units sold by orders of known starts count as held again after an equal deposit", "15",
		"reconcile TestStandingDownSpotStopSellsOnce", []Edit{
			{"reconcile.SymbolState.jointPosition", "min(0, s.spot.peer.continued)", "0"},
		}},
	{"unlisted_follows", "a round sends an opening though no list has shown the ones before it", "34",
		"runtime/engine TestRestOfLadderWaitsForListWithSentOrders", []Edit{
			{"runtime/engine.dispatcher.largest", "d.tracker.NeverListed(key) == 0", "true"},
		}},
	{"rules_of_the_start", "a strategy decides by the symbol's rules of the start", "45",
		"runtime/engine TestStrategySeesTheCurrentRules", []Edit{
			{"runtime/engine.tick.refreshView", "leg.symbol.Rules()", "leg.config.Symbol"},
		}},
	{"refused_purchase_unseen", "a refused purchase that only the wallet shows as executed has no stop", "3",
		"reconcile TestExecutedRefusedPurchaseGetsAStop", []Edit{
			{"reconcile.unlistedOrders.unlistedPurchases", "refused > 0", "false"},
		}},
	{"refused_any_money", "a manual purchase counts as a refused purchase of botd, whatever it cost", "3",
		"reconcile TestExecutedRefusedPurchaseGetsAStop", []Edit{
			{"reconcile.walletEvidence.boughtTimes", "!all.Less(paid) && !paid.Less(all.Sub(step.MulRate(exchange.RateOne*11/10).Mul(times)))", "true"},
		}},
	{"none_trusted", "while botd stands down, a wallet without any of the asset prevents a stop", "40",
		"reconcile TestEmptyWalletBlocksNoStopWhileStandingDown", []Edit{
			{"reconcile.observedAccount.walletUntrusted", "symbol.tooSmallToTrade(o.baseBalance(symbol))", "false"},
		}},
	{"half_wallet_stands_down", "while botd stands down, a wallet that freezes less than the open orders prevents a stop", "40",
		"reconcile TestWalletThatFreezesLessThanOpenOrdersBoundsNoStopWhileStandingDown", []Edit{
			{"reconcile.observedAccount.walletUntrusted", "o.freezesLess(symbol)", "false"},
		}},
	{"frozen_by_none", "a wallet that freezes more than the open orders prevents the sale that replaces a stop", "40",
		"reconcile TestWalletThatFreezesMoreThanOpenOrdersBlocksNoExit", []Edit{
			{"reconcile.saleQuantity.withinFree", "max(clipped, s.beyondOpenSales(quantity))", "clipped"},
		}},
	{"inherited_forgotten", "a start cancels the stop of an executed refused purchase that a wallet had shown", "3",
		"reconcile TestStartKeepsStopOfRefusedPurchase", []Edit{
			{"reconcile.unlistedOrders.infer", "bought, maxBought = max(bought, inherited), max(maxBought, inherited)", ""},
		}},
	{"inherited_opens", "after a start botd opens next to such a stop without confirmation by a person", "3",
		"reconcile TestStartKeepsStopOfRefusedPurchase", []Edit{
			{"reconcile.unlistedOrders.noteInheritedStops", "explained == 0 && s.tracker.inheritedStops(symbol) > 0", "false"},
		}},
	{"history_unheard", "a stop that the history shows as open counts as ended because an older list and wallet omit it", "40",
		"reconcile TestAStopWhoseEndTheHistoryDoesNotShowStandsForL", []Edit{
			{"reconcile.unlistedOrders.noteUnfrozen", "p.OrderID() != 0 && read.showsNoEnd(p.Symbol(), p.OrderID())", "false"},
		}},
	{"frozen_again", "a stop for which a later wallet freezes the asset counts as ended, and a second one is placed", "40",
		"reconcile TestAWalletThatFreezesAgainEndsTheInferredEndOfAStop", []Edit{
			{"reconcile.unlistedOrders.noteFrozenAgain", "s.tracker.dropInferredEnd(p.ClientOrderID())", ""},
		}},
	{"unread_wallet", "an unreadable wallet cancels a stop for an exit that sold nothing", "40",
		"reconcile TestAnUnreadWalletRemovesNoStop", []Edit{
			{"reconcile.spotStops.shrinkStops", "p.State() == placement.Uncertain && !d.tracker.walletRead && d.tracker.delivery(p).unfrozen", "false"},
		}},
	{"inherited_by_old_wallet", "a wallet from before a sale shows, after a start, that stops protect more than the fills explain", "40",
		"reconcile TestWalletOfBeforeASaleShowsNothingBeyondTheFills", []Edit{
			{"reconcile.unlistedOrders.holdInheritedStops", "!s.tracker.readAfter(symbol.FilledMS() + s.tracker.Settle().StalenessMS)", "false"},
		}},
	{"inherited_halved", "half a wallet cancels such a stop", "40",
		"reconcile TestHalfAWalletAfterAStartTakesNoStopOff", []Edit{
			{"reconcile.unlistedOrders.infer", "s.tracker.freezesLess(symbol)", "false"},
		}},
	{"lost_is_others", "after a start a row without an id, of the amount of an uncertain purchase, is a person's, and has no stop", "42",
		"reconcile TestRowWithoutIDOfTheLostAmountIsNotOthers", []Edit{
			{"reconcile.unlistedOrders.unclaimedPurchases", "!s.tracker.unclaimedRows().lost(o)", "true"},
		}},
	{"young_stands_down", "while botd stands down, a wallet that may be older than the last fill prevents a stop", "40",
		"reconcile TestAWalletOfBeforeTheLastFillBoundsNoStopWhileStandingDown", []Edit{
			{"reconcile.observedAccount.walletUntrusted", "o.walletFromMS <= symbol.FilledMS()+o.settle.StalenessMS", "false"},
		}},
	{"unread_stands_down", "while botd stands down, a wallet from before another botd's purchase prevents a stop", "40",
		"reconcile TestAnUnreadWalletBoundsNoStopWhileStandingDown", []Edit{
			{"reconcile.observedAccount.walletUntrusted", "!o.walletRead", "false"},
		}},
	{"twice_sold_unseen", "a sale on spot that was executed twice counts as a withdrawal if nothing is held", "41",
		"reconcile TestSaleExecutedTwiceIsFoundWithoutAPosition", []Edit{
			{"reconcile.walletEvidence.possibleOwnChange", "more < 0", "false"},
		}},
	{"passed_exit_rests", "an exit on spot that rests, and that the plan no longer desires, keeps the asset from its stop", "protection",
		"reconcile TestSpotTargetIntents", []Edit{
			{"reconcile.Tracker.Derive", "d.positionExit().cancelPassedExits(d.targetOrders)", ""},
		}},
	{"quarantine_unread", "in a quarantine on spot nothing is protected while the open orders cannot be read", "44",
		"runtime/engine TestUnreadableSpotMarketBlocksExits", []Edit{
			{"runtime/engine.dispatcher.actUnread", "!d.tracker.WalletConclusive(leg.symbol)", "true"},
		}},
	{"equal_ignored", "an opening is placed next to an order without an id that equals one of botd's", "34",
		"runtime/engine TestEqualOrderWithoutIDBlocksOpenings", []Edit{
			{"reconcile.Tracker.ForeignOpening", "symbol.Repeats(o)", "false"},
		}},
	{"accepted_sale_refused", "an accepted sale that the wallet shows counts as a refused one", "41",
		"reconcile TestSaleOfAcceptedExitIsNotThatOfRefusedStop", []Edit{
			{"reconcile.unlistedOrders.noteRefusedSales", "missing - s.possiblySoldUnlisted(symbol)", "missing"},
		}},
	{"listed_again_sells_twice", "another botd's stop that is listed again counts twice: as open, and as one that has left the list", "15",
		"reconcile TestAnothersStopThatIsListedAgainSellsOnce", []Edit{
			{"reconcile.peerOrders.noteUnlisted", "return listed(one.orderID)", "return false"},
		}},
	{"equal_forgotten", "openings are placed next to such an order once botd's own has been canceled", "34",
		"runtime/engine TestEqualOrderWithoutIDBlocksOpenings", []Edit{
			{"reconcile.SymbolState.Repeats", "slices.Contains(s.repeated, o.ID)", "false"},
		}},
	{"older_equal_ignored", "openings are placed next to such an older order if no list shows ids", "34",
		"runtime/engine TestEqualOrderWithoutIDBlocksOpenings", []Edit{
			{"reconcile.SymbolState.noteRepeated", "order := matched[n].Order(); «sameSize(o, &order)»", "false"},
		}},
	{"old_list_confirms", "an open list that still shows an ended order confirms a refusal", "41",
		"reconcile TestListThatShowsEndedOrderDoesNotConfirmRefusal", []Edit{
			{"reconcile.refusalChecks.confirms", "!slices.Contains(s.old, r.Symbol.Market)", "true"},
		}},
	{"form_ignored", "an opening is placed next to a stop of botd's form that is listed without an id", "42",
		"runtime/engine TestStopOfBotdsFormWithoutIDBlocksOpenings", []Edit{
			{"reconcile.Tracker.ForeignOpening", "t.Resembles(symbol, o)", "false"},
		}},
	{"elsewhere_confirms", "an open list that omits an older order of another symbol confirms a refusal", "3",
		"reconcile TestAListThatOmitsAnOlderOrderConfirmsNoRefusal", []Edit{
			{"reconcile.RefusedOrder.omitsOpenOrder", "account.sentBefore(o, r.SentMS)", "false"},
		}},
	{"confirmed_sale_stays", "in a quarantine for another reason a stop stays though a sale by others is confirmed", "40",
		"reconcile TestASaleByOthersTakesTheStopOffInAQuarantine", []Edit{
			{"reconcile.spotPosition.explainedByFills", "s.symbol.spot.confirmed", "0"},
		}},
	{"beyond_clipped", "an old wallet prevents a stop though the exchange executed more than it answered", "41",
		"reconcile TestOldWalletBlocksNoStopIfTheExchangeExecutedMore", []Edit{
			{"reconcile.spotStops.stoppable", "d.spotPosition().walletBounds()", "symbol.Quarantine() != \"\""},
		}},
	{"wrong_wallet_bounds", "in a quarantine a wallet that freezes less than the open orders prevents a stop", "40",
		"reconcile TestAWalletThatFreezesLessThanStandsBoundsNoStop", []Edit{
			{"reconcile.spotPosition.walletBounds", "!s.tracker.walletWrong(s.symbol)", "true"},
		}},
	{"latch_hides", "a latch creates a symbol without a name, and the last symbol is not observed in that round", "snapshot",
		"reconcile TestAnAdoptionThatLatchesHidesNoSymbol", []Edit{
			{"reconcile.recorder.emit", "!fills", "!fills && r.into.Track(one.Symbol) == nil"},
		}},
	{"former_rules_open", "a plan under a symbol's old rules opens after the rules have changed", "45",
		"runtime/engine TestPlanUnderOldRulesIsDecidedAgain", []Edit{
			{"runtime/engine.market.applyRules", "m.tick.decideAgain(leg)", ""},
		}},
	{"standing_stop_forgotten", "while botd stands down, a repeated stop does not back off after a refusal", "40",
		"runtime/engine TestStopThatStandsDownBacksOff", []Edit{
			{"runtime/engine.backoffs.doubtsEnd", "b.tracker.StandsDown()", "false"},
		}},
	{"share_unestimated", "strategies that trade between two reads of the wallet share its change by traded value alone", "results",
		"runtime/engine TestEachStrategyGetsItsOwnResult", []Edit{
			{"runtime/engine.results.divide", "r.estimate(leg)", "exchange.Amount{}"},
		}},
	{"cancels_out", "a gain and a loss that cancel out are attributed to no strategy", "results",
		"runtime/engine TestEachStrategyGetsItsOwnResult", []Edit{
			{"runtime/engine.results.attribute", "!change.IsZero() || r.tradedFutures()", "!change.IsZero()"},
		}},
	{"funding_dropped", "funding belongs to no strategy", "results",
		"runtime/engine TestEachStrategyGetsItsOwnResult", []Edit{
			{"runtime/engine.results.divide", "max(w.Result().Position, -w.Result().Position, leg.symbol.Position(), -leg.symbol.Position())",
				"exchange.Quantity(0)"},
		}},
	{"peak_stays", "the peak of an equity never rises", "limits",
		"runtime/engine TestDayStoresEquityPeakAndBreaches", []Edit{
			{"runtime/engine.limits.watchDay", "day.Peak.Add(step).Less(equity)", "false"},
		}},
	{"peak_of_estimate", "a closed position raises the peak with the price until its result is known", "limits",
		"runtime/engine TestPeakWaitsForResults", []Edit{
			{"runtime/engine.limits.watchDay", "«!estimated» && day.Peak", "true"},
		}},
	{"day_of_estimate", "a day begins while a fill without a result may still lower the equity", "limits",
		"runtime/engine TestPeakWaitsForResults", []Edit{
			{"runtime/engine.limits.watch", "estimated && w.Day().StartMS != start", "false"},
		}},
	{"day_stops_limits", "no limit is checked while the start of a day is pending", "limits",
		"runtime/engine TestDrawdownIsCheckedWhileADayWaits", []Edit{
			{"runtime/engine.limits.watch", "!waits || risk.Rearms(c.Rule)", "!waits"},
		}},
	{"peak_of_ended", "a position that had ended raises the peak by a price that was read later", "limits",
		"runtime/engine TestPeakOfEndedPositionFallsBack", []Edit{
			{"runtime/engine.limits.confirmPeak", "slices.Equal(one.known, l.filled(leg))", "true"},
		}},
	{"peak_of_unknown", "a position that the list no longer shows raises the peak until its order is read", "limits",
		"runtime/engine TestPeakWaitsForResults", []Edit{
			{"runtime/engine.base.estimated", "b.positionUncertain(leg.symbol)", "false"},
		}},
	{"day_never", "no day begins, and no limit is checked, while the money cannot be read", "limits",
		"runtime/engine TestPeakWaitsForResults", []Edit{
			{"runtime/engine.limits.watch", "l.nowMS-max(start, leg.money.estimatedMS) < resultGiveUpMS", "true"},
		}},
	{"closed_at_last_price", "a closed position follows the price until its result is known", "limits",
		"runtime/engine TestClosedPartIsValuedAtItsRound", []Edit{
			{"runtime/engine.base.resultOfPosition", "symbol.Rules().Notional(symbol.Price(), position-closed).Add(closedFor)",
				"symbol.Rules().Notional(symbol.Price(), position)"},
		}},
	{"unread_is_explained", "a wallet is booked while an order that it may include cannot be read", "ledger",
		"runtime/engine TestWalletReadIsBookedWhenStable", []Edit{
			{"runtime/engine.base.positionUncertain", "symbol.Unread()", "false"},
		}},
	{"day_of_hours", "a day of the limits begins with each hour", "limits",
		"runtime/engine TestDayStoresEquityPeakAndBreaches", []Edit{
			{"runtime/engine.limits.watch", "exchange.Day1.OpenOf(l.nowMS)", "exchange.Hour1.OpenOf(l.nowMS)"},
		}},
	{"day_from_nothing", "a strategy's day begins before its results, with an equity of zero", "limits",
		"runtime/engine TestStrategyDayBeginsWithItsResults", []Edit{
			{"runtime/engine.limits.watchLimits", "l.tracker.Watch(leg.config.Name).Known()", "true"},
		}},
	{"worthless_unpriced", "a position on spot without a price counts as a loss", "limits",
		"runtime/engine TestEquityLimitsWaitForPrices", []Edit{
			{"runtime/engine.base.unpriced", "s.Last() == 0", "false"},
		}},
	{"worthless_unread", "a position that has not been read since the start counts as a loss", "limits",
		"runtime/engine TestEquityLimitsWaitForPrices", []Edit{
			{"runtime/engine.base.unpriced", "!s.Read()", "false"},
		}},
	{"price_before_start", "the equity after a start uses a candle's price from before the start", "limits",
		"runtime/engine TestEquityLimitsWaitForPrices", []Edit{
			{"runtime/engine.base.unpriced", "s.LastMS() < b.startMS && !s.Quoted()", "false"},
		}},
	{"price_awaited", "limits wait forever for the price of a delisted symbol", "limits",
		"runtime/engine TestMissingPriceSilencesNoLimitForLong", []Edit{
			{"runtime/engine.limits.awaitsPrice", "l.unpricedMS == 0 || l.nowMS < l.unpricedMS+priceWaitMS", "true"},
		}},
	{"fetched_follows", "an opening read by id counts as shown, and half of a ladder follows, though no list has shown it", "34",
		"runtime/engine TestRestOfLadderWaitsForListWithSentOrders", []Edit{
			{"reconcile.orderRows.keepNeverListed", "!p.Seen()", "true"},
		}},
	{"unannounced_follows", "half of a ladder follows its first opening though the list is too old to show a second botd's", "34",
		"runtime/engine TestTwoBotdsPlaceOneLadder", []Edit{
			{"runtime/engine.dispatcher.extendLadder", "!leg.ladder.announced", "false"},
		}},
	{"funding_explains", "an unconfirmed reading across a funding time is booked, though its wallet lacks a trade", "ledger",
		"reconcile/ledger TestUnstableReadOverFundingTimeIsImplausible", []Edit{
			{"reconcile/ledger.Ledger.nearExpectedFees", "!p.valueHeld.IsZero()", "false"},
		}},
	{"outlived_trusted", "an outdated list shows the stop of a closed position, which counts as the next position's stop", "13",
		"reconcile TestProtectionOfEndedPositionIsReadByID", []Edit{
			{"reconcile.Tracker.Vanished", "t.outlived(p)", "false"},
		}},
}
