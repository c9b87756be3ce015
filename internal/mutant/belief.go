package mutant

// belief are rules about a read that contradicts another read, omits data, or fails.
var belief = []Row{
	{"list_decided_by", "a strategy decides by a list that alone shows less than it holds", "39",
		"reconcile TestStrategyKeepsPositionThatOneListOmits", []Edit{
			{"reconcile.SymbolState.DecisionPosition", "s.Unwitnessed()", "false"},
		}},
	{"lost_stop_waits", "where a list alone shows none of a position, a stop of unknown fate waits for L", "39",
		"reconcile TestUncertainStopIsReplacedWhenListIsEmpty", []Edit{
			{"reconcile.survey.seekWitness", "unseen || stopMissing", "unseen"},
		}},
	{"profit_is_a_stop", "where a list alone shows none of a position, a take-profit that stands makes a missing stop wait for L", "39",
		"reconcile TestRefusedStopReturnsBesideATakeProfit", []Edit{
			{"reconcile.survey.seekWitness", "p.Purpose() == placement.StopLoss", "true"},
		}},
	{"adopted_unwitnessed", "the end of an adopted position is not witnessed by the row that was open at its adoption", "16",
		"reconcile TestRowOpenAtAdoptionIsTheAdoptedPosition", []Edit{
			{"reconcile.SymbolState.adoptedWas", "s.OpenedMS() == atMS", "false"},
		}},
	{"row_left_out", "a position whose row can be read in one of two lists is not protected", "43",
		"reconcile TestPositionInEitherListIsProtected", []Edit{
			{"reconcile.survey.takeShown", "row.Remaining != 0", "false"},
		}},
	{"unexplained_stripped", "one list takes the stop off a position that no fill explained", "39",
		"reconcile TestUnexplainedPositionKeepsStopAgainstOneList", []Edit{
			{"reconcile.observed.protectsUnexplained", "symbol.unexplainedID != 0", "false"},
		}},
	{"liquidation_unexplained", "the liquidation of a position that no fill explains is an end like any other", "46",
		"runtime/engine TestLiquidationOfAnUnexplainedPositionIsAnEvent", []Edit{
			{"reconcile.SymbolState.Liquidation", "s.unexplainedEnd(&snapshot.Closed[i])", "false"},
		}},
	{"margin_unasked", "what a list shows beyond the fills is another's, whatever the margin needs", "16",
		"reconcile TestExcessWithoutMarginIsNotForeign", []Edit{
			{"reconcile.evidence.marginDenies", "e.fetched.Account.PositionMargin.Less(needed)", "false"},
		}},
	{"half_wallet_trusted", "a wallet that freezes less than stands takes stops off", "40",
		"reconcile TestWalletThatFreezesTooLittleCancelsNoStop", []Edit{
			{"reconcile.observed.freezesLess", "frozen < 0", "false"},
		}},
	{"read_before_it_arrived", "a list read before a stop arrived shows that it has ended", "11",
		"reconcile TestReadsFromBeforeArrivalDoNotEndStop", []Edit{
			{"reconcile.dispatched.arrivedMS", "d.delivery(p).answeredMS", "0"},
		}},
	{"unanswered_takes_off", "a stop on spot that is not answered takes one off that stands", "protection",
		"reconcile TestUnansweredStopCancelsNoLiveStop", []Edit{
			{"reconcile.derivation.shrinkStops", "p.Purpose() == placement.StopLoss && p.OrderID() == 0", "false"},
		}},
	{"repetition_foreign", "a purchase that was executed twice is a person's where lists leave ids out", "42",
		"reconcile TestEqualRowWithoutIDIsARepetition", []Edit{
			{"reconcile.evidence.repetition", "sameParameters(order, &one.order)", "false"},
		}},
	{"equal_unnamed", "a stop of unknown fate that a list shows without its id is another's", "42",
		"reconcile TestEqualRowWithoutIDIsTheUncertainStop", []Edit{
			{"reconcile.evidence.idOfEqual", "equals(row, p, p.Fence(e.book.Settle()))", "false"},
		}},
	{"refused_sale_rests", "a sale that was refused and stands without an id stays", "42",
		"reconcile TestRefusedSaleThatRestsWithoutIDIsCanceled", []Edit{
			{"reconcile.evidence.idOfEqual", "within(row, &r.order, r.SentMS, r.atMS+createdSlackMS)", "false"},
		}},
	{"confirmed_forgotten", "a sale that lists confirmed as refused before they could show it is another's where they leave ids out", "42",
		"reconcile TestRefusedSaleIsRecognizedAfterConfirmation", []Edit{
			{"reconcile.survey.confirmRefused", "s.book.noteConfirmed(r)", ""},
		}},
	{"late_purchase_anothers", "a purchase that lists confirmed as refused before they could show it is another's where they leave ids out", "42",
		"reconcile TestRefusedPurchaseIsRecognizedAfterConfirmation", []Edit{
			{"reconcile.evidence.repetition", "e.book.refusedOrConfirmed()", "e.book.Refused()"},
		}},
	{"equal_stops_stay", "of two equal stops without ids both stay", "14",
		"reconcile TestYoungerOfTwoEqualStopsIsCanceled", []Edit{
			{"reconcile.evidence.idOfEqual", "equals(row, p, p.SentMS()+repeatedMS)", "false"},
		}},
	{"name_forgotten", "an id of another botd's order that a list has shown is forgotten when the next leaves it out", "42",
		"reconcile TestListedIDIsRemembered", []Edit{
			{"reconcile.evidence.named", "e.book.names[o.ID]", `""`},
		}},
	{"unnamed_stop_again", "where botd stands down, a stop that shows no id is placed again", "15",
		"reconcile TestStandingDownStopWithoutIDIsNotRepeated", []Edit{
			{"reconcile.situation.explainedOnSpot", "s.unnamedStops()", "0"},
		}},
	{"one_wallet_strips", "one wallet takes the stop off what a purchase has bought that no list shows", "40",
		"reconcile TestUnlistedPurchaseKeepsStopAgainstOneWallet", []Edit{
			{"reconcile.SymbolState.vanished", "s.spot.undecided-s.spot.presumed", "0"},
		}},
	{"others_keep_stop", "what a wallet showed of a person's purchase beside one whose answer was lost keeps a stop", "16",
		"reconcile TestPurchaseOfOthersKeepsNoStop", []Edit{
			{"reconcile.survey.noteUndecided", "left -= t.others[i].Filled", "_ = i"},
		}},
	{"forgotten_sale_again", "what botd's orders sold of a purchase that an old backup forgot is protected again after a start", "15",
		"reconcile TestStartKnowsWhatItsOrdersSoldOfAnothersPurchase", []Edit{
			{"reconcile.SymbolState.notePeerOrder", "t.peerSold = s.Oversold()", ""},
		}},
	{"others_proceeds", "what botd sold of a person's coins on spot is a gain of the strategy", "Limits",
		"runtime/engine TestSaleBeforeItsPurchaseIsTheStrategys", []Edit{
			{"runtime/engine.results.cash", "fill.Others != 0", "false"},
		}},
	{"sold_before_bought", "what is sold before its purchase is booked is no gain", "Limits",
		"runtime/engine TestSaleBeforeItsPurchaseIsTheStrategys", []Edit{
			{"reconcile/account.State.fill", "beyond != 0 && s.buys(symbol.key)", "false"},
		}},
	{"peer_wallet_strips", "one wallet takes the stop off what another botd bought", "40",
		"reconcile TestAnotherBotdsPurchaseKeepsStopAgainstOneWallet", []Edit{
			{"reconcile.derivation.protect", "d.symbol.jointFills() > 0", "false"},
		}},
	{"unread_row_unfrozen", "a wallet that freezes less than a stop whose row cannot be read takes it off", "43",
		"reconcile TestWalletFreezesLessThanUnreadableStop", []Edit{
			{"reconcile.observed.freezesLess", "slices.Contains(o.listed[exchange.Spot].unread, p.OrderID())", "false"},
		}},
	{"entry_unread_strips", "one list takes the stop off while the row of the entry cannot be read", "43",
		"reconcile TestStopStaysWhileEntryIsUnreadable", []Edit{
			{"reconcile.survey.partialPosition", "s.noteUnexplained(symbol)", ""},
		}},
	{"paid_once", "what the wallet shows bought twice and paid twice is a deposit", "41",
		"reconcile TestPurchaseExecutedTwiceIsProtected", []Edit{
			{"reconcile.evidence.timesPaid", "return mostTimes", "return 1"},
		}},
	{"start_strips", "after a start a wallet takes off the stop of a purchase that is not decided", "40",
		"reconcile TestStopStaysAfterStartUntilPurchaseIsDecided", []Edit{
			{"reconcile.observed.inheritedSince", "p.SentMS() < o.bootMS", "false"},
		}},
	{"opposite_stays", "what protected the other side stays where the list shows less than fills explain", "39",
		"reconcile TestStopOfOppositeSideIsCanceled", []Edit{
			{"reconcile.derivation.cancelOpposite", "d.symbol.position.Abs() > known.Abs()", "d.symbol.position.Abs() != known.Abs()"},
		}},
	{"stop_moves_for_exit", "a stop is taken off to be moved while an exit is due", "protection",
		"reconcile TestAnExitThatIsDueMovesNoStop", []Edit{
			{"reconcile.positionStop.mayMove", "s.exits()", "false"},
		}},
	{"reduction_opens", "what an order that may only reduce has filled beyond what was known is a position of the other side", "41",
		"reconcile TestReducingFillOpensNoPosition", []Edit{
			{"reconcile.survey.adoptReduced", "beyond != 0", "false"},
		}},
	{"reduction_owed_forgotten", "what a reduction filled beyond a position while an opening was live is a position once that has ended", "41",
		"reconcile TestReductionOpensNoPositionAfterOpeningEnds", []Edit{
			{"reconcile.Book.Observe", "s.adoptReduced(symbol, symbol.Opened())", ""},
		}},
	{"opened_stays", "what an opening that is booked after its reduction has opened counts as a position that is still there", "41",
		"reconcile TestReductionOpensNoPositionAfterOpeningEnds", []Edit{
			{"reconcile/account.Symbol.fill", "s.opened = within(s.opened, s.known)", ""},
		}},
	{"margin_confirms", "lists confirm that a refused opening was not executed while the account uses its margin", "41",
		"reconcile TestMarginInUseConfirmsNoRefusal", []Edit{
			{"reconcile.survey.confirms", "!s.holdsMargin(r)", "true"},
		}},
	{"position_confirms", "a position that nothing explains confirms that a refused opening of its side was not executed", "41",
		"reconcile TestPositionBeyondFillsConfirmsNoRefusal", []Edit{
			{"reconcile.survey.confirms", "!s.exceedsFills(r)", "true"},
		}},
	{"margin_undeclared", "lists that the account's margin contradicts are no declared state", "41",
		"reconcile TestLastingMarginOfRefusedOpeningIsContradicted", []Edit{
			{"reconcile.evidence.contradict", "e.marginContradicts(symbol)", "false"},
		}},
	{"unanswered_waits", "on spot a stop is awaited for as long as the client waits for its answer, though the wallet has enough for one only", "protection",
		"reconcile TestUnansweredSpotStopIsPlacedAgainIfWalletHasOne", []Edit{
			{"reconcile.situation.unansweredStop", "p.Order().Type == exchange.StopLimit", "false"},
		}},
	{"unanswered_twice", "on spot a stop is placed beside one whose answer does not come, though the wallet has enough for both", "protection",
		"reconcile TestUnansweredSpotStopIsPlacedAgainIfWalletHasOne", []Edit{
			{"reconcile.situation.unansweredStop", "s.repeatable(p)", "true"},
		}},
	{"refused_row_anothers", "a row without an id that equals a purchase which the exchange refused and executed is another's purchase", "42",
		"reconcile TestRowWithoutIDEqualToARefusedPurchaseIsIt", []Edit{
			{"reconcile.survey.unclaimedPurchases", "s.book.repeatsRefused(o)", "false"},
		}},
	{"step_outgrows", "a position smaller than a quantity step that has grown is not closed where its stop was passed", "45",
		"reconcile TestPositionBelowAGrownStepIsClosed", []Edit{
			{"reconcile.derivation.reduceNow", "d.closeDust(«whole», reason)", "quantity >= d.ownPosition.Abs()"},
		}},
	{"no_margin_no_witness", "an account that uses no margin at all denies nothing that a list shows", "39",
		"reconcile TestListedPositionWithoutMarginIsRejected", []Edit{
			{"reconcile.observed.note", "!s.Account.PositionMargin.IsZero()", "false"},
		}},
	{"passed_unprotected", "a position that nothing explains has no stop where the strategy's price was passed", "16",
		"reconcile TestStopOnUnexplainedPosition", []Edit{
			{"reconcile.derivation.protectUnexplained", "if «d.pricePassed(placement.StopLoss, price)» {", "false"},
		}},
	{"refused_before", "what the exchange refused of an earlier position keeps the next one's stop waiting", "protection",
		"runtime/engine TestAStopWaitsForNoRefusalOfAnEarlierPosition", []Edit{
			{"runtime/engine.round.finishRound", "r.backoffs.watch()", ""},
		}},
	{"vanished_opens", "openings are sent though nothing but a list says that a position has ended that no fill explained", "39",
		"reconcile TestOpeningWaitsForEndOfUnexplainedPosition", []Edit{
			{"reconcile.survey.observePosition", "!symbol.endUnproved()", "true"},
		}},
	{"unshown_reduced", "part of a position is sold that the list does not show, and which it may have lost already", "39",
		"reconcile TestNoPartialExitWhileListOmitsPosition", []Edit{
			{"reconcile.situation.shown", "symbol.Standing() == symbol.position", "true"},
		}},
	{"step_below_ask", "one step on spot is bought for its price of now, which buys none of it above that", "class N",
		"reconcile TestSingleStepIsBoughtThroughCollar", []Edit{
			{"reconcile.situation.amountFor", "quantity == s.symbol.rules.QuantityTick", "false"},
		}},
	{"hung_list_strips", "after a start a wallet takes off the stop of a purchase while the open list cannot be read", "40",
		"reconcile TestStopStaysAfterStartWithoutOpenList", []Edit{
			{"reconcile.survey.partialWallet", "s.noteUndecided(symbol, most, sinceMS)", "_, _ = most, sinceMS"},
		}},
	{"unfrozen_takes_off", "a stop for which the wallet freezes nothing takes one off that stands", "protection",
		"reconcile TestUnansweredStopCancelsNoLiveStop", []Edit{
			{"reconcile.derivation.shrinkStops", "slices.ContainsFunc(d.stops, d.book.Unlisted)", "false"},
		}},
	{"own_next_to_peer", "where botd stands down, what its own purchase bought that no list shows is not held", "15",
		"reconcile TestStandingDownKeepsOwnUnlistedPurchase", []Edit{
			{"reconcile.SymbolState.ownOnSpot", "s.spot.presumed", "0"},
		}},
	{"sold_held_twice", "what a sale that no list shows has sold counts as taken of what the wallet has left", "40",
		"reconcile TestStopOfRemainderNeedsNoList", []Edit{
			{"reconcile.derivation.stoppable", "d.book.hasEnded(p) && p.Remaining() <= sold", "false"},
		}},
	{"outlived_waits", "what is left of a position that was shown beside botd's part waits for L", "41",
		"reconcile TestListedRemainderIsProtectedAtOnce", []Edit{
			{"reconcile.situation.unexplained", "symbol.unexplainedFromMS < symbol.ChangedMS()", "false"},
		}},
	{"torn_list_confirms", "an open list that leaves out an order which stands confirms a refusal", "3",
		"runtime/engine TestIncompleteListConfirmsNoRefusal", []Edit{
			{"reconcile.evidence.omitsOpenOrder", "resting && (o.Key() == r.Symbol || e.sentBefore(o, r.SentMS))", "false"},
		}},
	{"refusal_forgotten", "a removed strategy has ended while what the exchange refused it may yet be shown", "49",
		"runtime/engine TestRefusedOpeningOfRemovedStrategyIsOwned", []Edit{
			{"runtime/engine.roster.ended", "r.nowMS < leg.symbol.RefusedUntilMS(r.settleBounds())", "false"},
		}},
	{"decided_beside", "what was decided beside an opening that is never sent stays in force", "51",
		"runtime/engine TestUnsentOpeningIsDecidedAgain", []Edit{
			{"runtime/engine.sender.neverSent", "leg.planned > w.sequence", "false"},
		}},
	{"amount_unseen", "a strategy does not see what an amount of money on its way buys", "51",
		"runtime/engine TestStrategySeesQuantityOfAmountOrder", []Edit{
			{"runtime/engine.quantityOf", "order.QuoteAmount.IsZero()", "true"},
		}},
	{"part_is_covered", "on spot a stop of part of a position counts as one of all of it", "protection",
		"runtime/engine TestSpotStopsCoverPositionTogether", []Edit{
			{"runtime/engine.protection.hasStop", "leg.symbol.Key().Market == exchange.Futures", "true"},
		}},
	{"standstill_goes_on", "a round goes on by what it read before the process stood still", "44",
		"runtime/engine TestRoundRestartsAfterProcessPause", []Edit{
			{"runtime/engine.Engine.Handle", "nowMS-e.nowMS > patienceMS+standstillMS", "false"},
		}},
	{"moves_refused", "a stop is taken off to be moved while the exchange refuses stops", "protection",
		"reconcile TestNoStopMovesWhereTheExchangeRefusesStops", []Edit{
			{"reconcile.situation.mayMoveStop", "!refused", "true"},
		}},
	{"lost_read", "a read that is not answered is repeated in the next round only", "23",
		"runtime/engine TestAReadWhoseAnswerIsLostIsRepeatedInItsRound", []Edit{
			{"runtime/engine.round.attentionMS", "p.repeated", "true"},
		}},
	{"unanswered_stop", "a stop is awaited for as long as the client waits for its answer", "1",
		"runtime/engine TestUnansweredStopIsPlacedAgain", []Edit{
			{"reconcile.dispatched.unanswered", "at != 0", "false"},
		}},
	{"canceled_by_another", "where botd stands down, a stop that other hands have canceled is placed again at once", "34",
		"reconcile TestForeignCanceledStopHasGracePeriod", []Edit{
			{"reconcile.Book.noteTaken", "b.StandsDown() && b.CancelMS(p.ClientOrderID()) == 0", "false"},
		}},
	{"own_is_anothers_too", "what is booked as botd's own by the exchange's id counts as another botd's once a row shows its id", "42",
		"reconcile TestOwnBookedFillIsNotAnotherBotds", []Edit{
			{"reconcile.evidence.isPeerOrder", "e.claimed(o)", "false"},
		}},
	{"peer_sold_own", "what another botd bought and sold again takes a stop off, by one wallet", "40",
		"reconcile TestAnotherBotdsSalesAreNotRepeated", []Edit{
			{"reconcile.derivation.takeOffSold", "d.symbol.peerPurchases()", "0"},
		}},
	{"sold_without_bought", "a list that has just shown what another botd sold takes a stop off, though it may lack what that one bought", "15",
		"reconcile TestAnotherBotdsSalesAreNotRepeated", []Edit{
			{"reconcile.derivation.takeOffSold", "slices.ContainsFunc(seen.peerOrders, recent)", "false"},
		}},
	{"cut_sale_forgotten", "after a start a sale that the journal lacks is no witness, once the start has booked another", "40",
		"reconcile TestAfterAStartASaleThatTheJournalLacksIsAWitness", []Edit{
			{"reconcile.observed.salesFrom", "cmp.Or(symbol.spot.changedMS, symbol.ChangedMS())", "symbol.ChangedMS()"},
		}},
	{"deposit_makes_up", "what orders of the journal's own starts have sold is held again where a deposit makes up for it", "15",
		"reconcile TestStandingDownSpotStopSellsOnce", []Edit{
			{"reconcile.SymbolState.jointPosition", "min(0, s.spot.continued)", "0"},
		}},
	{"unlisted_follows", "a round sends an opening though no list has shown the ones before it", "34",
		"runtime/engine TestRestOfLadderWaitsForListWithSentOrders", []Edit{
			{"runtime/engine.dispatcher.largest", "d.book.Unshown(key) == 0", "true"},
		}},
	{"rules_of_the_start", "a strategy decides by the symbol's rules of the start", "45",
		"runtime/engine TestStrategySeesTheCurrentRules", []Edit{
			{"runtime/engine.tick.refreshView", "leg.symbol.Rules()", "leg.config.Symbol"},
		}},
	{"refused_purchase_unseen", "what a refused purchase bought and paid, by the wallet alone, has no stop", "3",
		"reconcile TestExecutedRefusedPurchaseGetsAStop", []Edit{
			{"reconcile.survey.unlistedPurchases", "refused > 0", "false"},
		}},
	{"refused_any_money", "a person's purchase is a refused one's, whatever it cost", "3",
		"reconcile TestExecutedRefusedPurchaseGetsAStop", []Edit{
			{"reconcile.evidence.boughtWithItsMoney", "!all.Less(paid) && !paid.Less(all.Sub(step.MulRate(exchange.RateOne*11/10).Mul(times)))", "true"},
		}},
	{"none_trusted", "where botd stands down, a wallet that shows none of the asset in all keeps a stop away", "40",
		"reconcile TestEmptyWalletBlocksNoStopWhileStandingDown", []Edit{
			{"reconcile.observed.walletUntrusted", "symbol.tooSmallToTrade(o.baseBalance(symbol))", "false"},
		}},
	{"half_wallet_stands_down", "where botd stands down, a wallet that freezes less than what stands keeps a stop away", "40",
		"reconcile TestAWalletThatFreezesLessThanStandsBoundsNoStopWhileStandingDown", []Edit{
			{"reconcile.observed.walletUntrusted", "o.freezesLess(symbol)", "false"},
		}},
	{"frozen_by_none", "a wallet that freezes more than is open keeps what is sold in place of a stop away", "40",
		"reconcile TestAWalletThatFreezesMoreThanIsOpenKeepsNoExitAway", []Edit{
			{"reconcile.derivation.clip", "max(clipped, d.frozenByNone(quantity))", "clipped"},
		}},
	{"inherited_forgotten", "a start takes the stop off that protects what a wallet had shown of a refused purchase", "3",
		"reconcile TestStartKeepsStopOfRefusedPurchase", []Edit{
			{"reconcile.survey.presume", "bought, most = max(bought, inherited), max(most, inherited)", ""},
		}},
	{"inherited_opens", "after a start botd opens beside such a stop, and no person must check", "3",
		"reconcile TestStartKeepsStopOfRefusedPurchase", []Edit{
			{"reconcile.survey.noteInheritedStops", "explained == 0 && s.book.inheritedStops(symbol) > 0", "false"},
		}},
	{"history_unheard", "a stop that the history shows in place has ended, since an older list and wallet do not show it", "40",
		"reconcile TestAStopWhoseEndTheHistoryDoesNotShowStandsForL", []Edit{
			{"reconcile.survey.noteUnfrozen", "p.OrderID() != 0 && read.showsNoEnd(p.OrderID())", "false"},
		}},
	{"frozen_again", "a stop for which a later wallet freezes the asset counts as ended, and another is asked for beside it", "40",
		"reconcile TestAWalletThatFreezesAgainEndsThePresumedEndOfAStop", []Edit{
			{"reconcile.survey.noteFrozenAgain", "s.book.endPresumption(p.ClientOrderID())", ""},
		}},
	{"unread_wallet", "a wallet that cannot be read takes a stop off for an exit that had sold nothing", "40",
		"reconcile TestAnUnreadWalletRemovesNoStop", []Edit{
			{"reconcile.derivation.shrinkStops", "p.State() == placement.Uncertain && !d.book.walletRead && d.book.delivery(p).unfrozen", "false"},
		}},
	{"inherited_by_old_wallet", "a wallet from before a sale shows, after a start, that stops protect more than the fills explain", "40",
		"reconcile TestWalletOfBeforeASaleShowsNothingBeyondTheFills", []Edit{
			{"reconcile.survey.holdInheritedStops", "!s.book.readAfter(symbol.FilledMS() + s.book.Settle().StalenessMS)", "false"},
		}},
	{"inherited_halved", "half a wallet takes such a stop off", "40",
		"reconcile TestHalfAWalletAfterAStartTakesNoStopOff", []Edit{
			{"reconcile.survey.presume", "s.book.freezesLess(symbol)", "false"},
		}},
	{"lost_is_others", "after a start a row without an id, of the amount of a purchase of unknown outcome, is a person's, and has no stop", "42",
		"reconcile TestRowWithoutIDOfTheLostAmountIsNotOthers", []Edit{
			{"reconcile.survey.unclaimedPurchases", "!s.lost(o)", "true"},
		}},
	{"young_stands_down", "where botd stands down, a wallet that may be older than the last fill keeps a stop away", "40",
		"reconcile TestAWalletOfBeforeTheLastFillBoundsNoStopWhileStandingDown", []Edit{
			{"reconcile.observed.walletUntrusted", "o.walletFromMS <= symbol.FilledMS()+o.settle.StalenessMS", "false"},
		}},
	{"unread_stands_down", "where botd stands down, a wallet of before another botd's purchase keeps a stop away", "40",
		"reconcile TestAnUnreadWalletBoundsNoStopWhileStandingDown", []Edit{
			{"reconcile.observed.walletUntrusted", "!o.walletRead", "false"},
		}},
	{"twice_sold_unseen", "a sale on spot that was executed twice is a withdrawal where nothing is held", "41",
		"reconcile TestSaleExecutedTwiceIsFoundWithoutAPosition", []Edit{
			{"reconcile.evidence.possibleOwnChange", "more < 0", "false"},
		}},
	{"passed_exit_rests", "an exit on spot that rests, and that the plan no longer desires, keeps the asset from its stop", "protection",
		"reconcile TestSpotTargetIntents", []Edit{
			{"reconcile.Book.Derive", "d.cancelPassedExits(d.targetOrders)", ""},
		}},
	{"quarantine_unread", "in a quarantine on spot nothing is protected while the open orders cannot be read", "44",
		"runtime/engine TestUnreadableSpotMarketBlocksExits", []Edit{
			{"runtime/engine.dispatcher.actUnread", "!d.book.WalletConclusive(leg.symbol)", "true"},
		}},
	{"equal_ignored", "an opening is placed beside an order without an id that equals one of botd's", "34",
		"runtime/engine TestEqualOrderWithoutIDBlocksOpenings", []Edit{
			{"reconcile.Book.ForeignOpening", "symbol.Repeats(o)", "false"},
		}},
	{"accepted_sale_refused", "what the wallet shows of a sale that the exchange accepted counts as one that it refused", "41",
		"reconcile TestSaleOfAcceptedExitIsNotThatOfRefusedStop", []Edit{
			{"reconcile.survey.noteRefusedSales", "missing - s.maySoldUnlisted(symbol)", "missing"},
		}},
	{"listed_again_sells_twice", "another botd's stop that is listed again counts twice: as open, and as one that has left the list", "15",
		"reconcile TestAnothersStopThatIsListedAgainSellsOnce", []Edit{
			{"reconcile.survey.noteUnlisted", "return listed(one.orderID)", "return false"},
		}},
	{"equal_forgotten", "openings are placed beside such an order once botd's own has been canceled", "34",
		"runtime/engine TestEqualOrderWithoutIDBlocksOpenings", []Edit{
			{"reconcile.SymbolState.Repeats", "slices.Contains(s.repeated, o.ID)", "false"},
		}},
	{"older_equal_ignored", "openings are placed beside such an order of earlier, where no list shows ids", "34",
		"runtime/engine TestEqualOrderWithoutIDBlocksOpenings", []Edit{
			{"reconcile.SymbolState.noteRepeated", "order := matched[n].Order(); «sameSize(o, &order)»", "false"},
		}},
	{"old_list_confirms", "an open list that still shows an order that has ended confirms that what the exchange refused was not executed", "41",
		"reconcile TestAListThatShowsAnEndedOrderConfirmsNoRefusal", []Edit{
			{"reconcile.survey.confirms", "!slices.Contains(s.old, r.Symbol.Market)", "true"},
		}},
	{"form_ignored", "an opening is placed beside a stop of botd's form, whose id no list shows", "42",
		"runtime/engine TestStopOfBotdsFormWithoutIDBlocksOpenings", []Edit{
			{"reconcile.Book.ForeignOpening", "b.Resembles(symbol, o)", "false"},
		}},
	{"elsewhere_confirms", "an open list that omits an older order of another symbol confirms a refusal", "3",
		"reconcile TestAListThatOmitsAnOlderOrderConfirmsNoRefusal", []Edit{
			{"reconcile.evidence.omitsOpenOrder", "e.sentBefore(o, r.SentMS)", "false"},
		}},
	{"confirmed_sale_stays", "in a quarantine for another reason a stop stays though a sale by others is confirmed", "40",
		"reconcile TestASaleByOthersTakesTheStopOffInAQuarantine", []Edit{
			{"reconcile.situation.explainedByFills", "s.symbol.spot.confirmed", "0"},
		}},
	{"beyond_clipped", "an old wallet keeps a stop away though the exchange executed more than it answered", "41",
		"reconcile TestAnOldWalletKeepsNoStopAwayIfTheExchangeExecutedMore", []Edit{
			{"reconcile.derivation.stoppable", "d.walletBounds()", "symbol.Quarantine() != \"\""},
		}},
	{"wrong_wallet_bounds", "in a quarantine a wallet that freezes less than what stands keeps a stop away", "40",
		"reconcile TestAWalletThatFreezesLessThanStandsBoundsNoStop", []Edit{
			{"reconcile.situation.walletBounds", "!s.book.walletWrong(s.symbol)", "true"},
		}},
	{"latch_hides", "a latch creates a symbol without a name, and the last symbol is not observed in that round", "snapshot",
		"reconcile TestAnAdoptionThatLatchesHidesNoSymbol", []Edit{
			{"reconcile.survey.emit", "!fills", "!fills && s.book.Track(r.Symbol) == nil"},
		}},
	{"former_rules_open", "what was decided by a symbol's former rules opens when they have changed", "45",
		"runtime/engine TestPlanOfFormerRulesIsDecidedAgain", []Edit{
			{"runtime/engine.market.takeRules", "m.tick.decideAgain(leg)", ""},
		}},
	{"standing_stop_forgotten", "a stop that botd sends again while it stands down, whatever the wallet shows, waits for no refusal", "40",
		"runtime/engine TestStopThatStandsDownBacksOff", []Edit{
			{"runtime/engine.backoffs.doubtsEnd", "b.book.StandsDown()", "false"},
		}},
	{"share_unestimated", "strategies that trade between two reads of the wallet share its change by traded value alone", "results",
		"runtime/engine TestEachStrategyGetsItsOwnResult", []Edit{
			{"runtime/engine.results.divide", "r.estimate(leg)", "exchange.Amount{}"},
		}},
	{"cancels_out", "a gain and a loss that cancel out are nobody's", "results",
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
			{"runtime/engine.limits.watch", "w.Day().Peak.Add(step).Less(equity)", "false"},
		}},
	{"peak_of_estimate", "a closed position raises the peak with the price until its result is known", "limits",
		"runtime/engine TestPeakWaitsForResults", []Edit{
			{"runtime/engine.limits.watch", "«!estimated» && w.Day()", "true"},
		}},
	{"day_of_estimate", "a day begins with an equity that a fill without a result may lower", "limits",
		"runtime/engine TestPeakWaitsForResults", []Edit{
			{"runtime/engine.limits.watch", "estimated && w.Day().StartMS != start", "false"},
		}},
	{"day_stops_limits", "no limit is checked while a day waits", "limits",
		"runtime/engine TestDrawdownIsCheckedWhileADayWaits", []Edit{
			{"runtime/engine.limits.watch", "!waits || risk.Rearms(c.Rule)", "!waits"},
		}},
	{"peak_of_ended", "a position that had ended raises the peak by a price that was read later", "limits",
		"runtime/engine TestPeakOfEndedPositionFallsBack", []Edit{
			{"runtime/engine.limits.confirmPeak", "slices.Equal(one.known, l.filled(leg))", "true"},
		}},
	{"peak_of_unknown", "a position that the list no longer shows raises the peak until its order is read", "limits",
		"runtime/engine TestPeakWaitsForResults", []Edit{
			{"runtime/engine.base.estimated", "b.unsure(leg.symbol)", "false"},
		}},
	{"day_never", "no day begins, and no limit is checked, while the money cannot be read", "limits",
		"runtime/engine TestPeakWaitsForResults", []Edit{
			{"runtime/engine.limits.watch", "l.nowMS-max(start, leg.estimatedMS) < resultGiveUpMS", "true"},
		}},
	{"closed_at_last_price", "a closed position follows the price until its result is known", "limits",
		"runtime/engine TestClosedPartIsValuedAtItsRound", []Edit{
			{"runtime/engine.base.worth", "symbol.Rules().Notional(symbol.Price(), position-closed).Add(closedFor)",
				"symbol.Rules().Notional(symbol.Price(), position)"},
		}},
	{"unread_is_explained", "a wallet is booked while an order that it may include cannot be read", "ledger",
		"runtime/engine TestWalletReadIsBookedWhenStable", []Edit{
			{"runtime/engine.base.unsure", "symbol.Unread()", "false"},
		}},
	{"day_of_hours", "a day of the limits begins with each hour", "limits",
		"runtime/engine TestDayStoresEquityPeakAndBreaches", []Edit{
			{"runtime/engine.limits.watch", "exchange.Day1.OpenOf(l.nowMS)", "exchange.Hour1.OpenOf(l.nowMS)"},
		}},
	{"day_from_nothing", "a strategy's day begins before its results, with an equity of zero", "limits",
		"runtime/engine TestStrategyDayBeginsWithItsResults", []Edit{
			{"runtime/engine.limits.watchLimits", "l.book.Watch(leg.config.Name).Known()", "true"},
		}},
	{"worthless_unpriced", "a position on spot without a price counts as a loss", "limits",
		"runtime/engine TestEquityLimitsWaitForPrices", []Edit{
			{"runtime/engine.base.unpriced", "s.Last() == 0", "false"},
		}},
	{"worthless_unread", "a position that has not been read since the start counts as a loss", "limits",
		"runtime/engine TestEquityLimitsWaitForPrices", []Edit{
			{"runtime/engine.base.unpriced", "!s.Read()", "false"},
		}},
	{"price_before_start", "the equity after a start counts with a candle's price of before it", "limits",
		"runtime/engine TestEquityLimitsWaitForPrices", []Edit{
			{"runtime/engine.base.unpriced", "s.LastMS() < b.startMS && !s.Quoted()", "false"},
		}},
	{"price_awaited", "limits wait for the price of a delisted symbol for ever", "limits",
		"runtime/engine TestMissingPriceSilencesNoLimitForLong", []Edit{
			{"runtime/engine.limits.awaitsPrice", "l.unpricedMS == 0 || l.nowMS < l.unpricedMS+priceWaitMS", "true"},
		}},
	{"fetched_follows", "an opening read by id counts as shown, and half of a ladder follows, though no list has shown it", "34",
		"runtime/engine TestRestOfLadderWaitsForListWithSentOrders", []Edit{
			{"reconcile.survey.endShown", "!p.Seen()", "true"},
		}},
	{"unannounced_follows", "half of a ladder follows its first opening though the list is too old to show a second botd's", "34",
		"runtime/engine TestTwoBotdsPlaceOneLadder", []Edit{
			{"runtime/engine.dispatcher.extendLadder", "!leg.announced", "false"},
		}},
	{"funding_explains", "an unconfirmed reading over a funding time is booked, whose wallet lacks a trade", "ledger",
		"reconcile/ledger TestUnstableReadOverFundingTimeIsImplausible", []Edit{
			{"reconcile/ledger.Ledger.usual", "!p.valueHeld.IsZero()", "false"},
		}},
	{"outlived_trusted", "a list that is too old shows the stop of an ended position, which counts as that of the next", "13",
		"reconcile TestProtectionOfEndedPositionIsReadByID", []Edit{
			{"reconcile.Book.Vanished", "b.outlived(p)", "false"},
		}},
}
