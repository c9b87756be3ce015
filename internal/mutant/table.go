package mutant

import (
	"fmt"
	"slices"
	"strings"
)

// Table holds all mutants. The package comment describes how to change an Edit.
var Table = slices.Concat(protocol, belief, peer, wallet, futures)

// protocol breaks the rules of one botd on its account.
var protocol = []Row{
	// An answer that does not come, or cannot be read, is an uncertain outcome.
	{"timeout_is_refused", "a placement without an answer counts as failed", "1", "", nil},
	{"server_error_is_refused", "a placement answered by 5xx counts as failed", "1", "", nil},
	{"malformed_is_refused", "a placement with a malformed answer counts as failed", "2", "", nil},
	{"blind_retry", "a placement without an answer is resent under its id", "class N", "", nil},
	{"empty_for_failed", "a failed read counts as an empty list", "principle", "", nil},
	{"not_known_is_canceled", "an acknowledged order that GET does not know yet counts as canceled", "12", "", nil},
	{"vanished_is_canceled", "an order that left the open list counts as canceled", "28", "", nil},
	{"cancel_is_the_end", "PRE_CANCELED counts as the end", "27", "", []Edit{
		cancelAnswerTrusted("event.Err == nil"),
	}},
	{"refused_cancel_is_the_end", "a refused cancel means that the order never was", "28", "", []Edit{
		cancelAnswerTrusted("errors.As(event.Err, new(*exchange.Refusal))"),
	}},

	// Absence proves nothing before the fence.
	{"no_fence", "an uncertain placement is decided at once", "principle", "internal/simulation TestRehearsal", nil},
	{"no_window", "the fence ignores how long a signed request is admitted", "W", "internal/simulation TestRehearsal", nil},
	{"no_visibility", "the fence ignores how long an order takes to be listed", "D", "internal/simulation TestRehearsal", nil},
	{"no_staleness", "reads count as current", "L", "", nil},
	{"one_snapshot", "one snapshot decides an uncertain placement", "equation", "internal/simulation TestRehearsal", []Edit{
		{"reconcile.uncertainOrders.decideUncertain", "symbol.equal.sinceMS == 0 || symbol.stable != cut", "false"},
		{"reconcile.uncertainOrders.decideUncertain", "symbol.equal.forMS < max(stableGapMS, s.tracker.Bounds().StalenessMS)", "false"},
	}},
	{"moved_snapshot", "a snapshot counts though the position moved while it was taken", "snapshot", "reconcile TestSnapshotDuringPositionChangeDoesNotCount",
		edit("reconcile.positionComparison.readPosition", "before.Signed() != now.Signed() || before.ID != now.ID", "false")},
	{"younger_exit_decided", "an uncertain exit is decided with an older one", "equation", "reconcile TestUnansweredExitDoesNotWaitForYoungerExits",
		[]Edit{{"reconcile.uncertainOrders.decideUncertain", "p.Fence(s.tracker.Bounds()) > symbol.equalFromMS", "false"}}},
	{"fills_meanwhile", "an uncertain placement is decided while known orders fill", "equation",
		"reconcile TestUncertainOrderIsNotDecidedWhileKnownOrdersFill",
		edit("reconcile.uncertainOrders.decideUncertain", "s.mayPredateFill(symbol)", "false")},
	{"unseen_ignored", "an accepted order that was never listed counts as unfilled", "11", "internal/simulation TestRehearsal",
		edit("reconcile.evidence.anyUnlistedThat", "!p.Seen()", "false")},
	{"awaited_ignored", "the equation does not wait for placements without an answer", "equation", "internal/simulation TestRehearsal",
		edit("reconcile.tracked.anyUnanswered", "p.State() == placement.Sending", "false")},
	{"never_decided", "an uncertain placement stays uncertain", "principle", "",
		edit("reconcile.uncertainOrders.decideUncertain", "s.fetched.BeganMS < fence", "true")},
	{"always_absent", "a residual is never attributed to an uncertain placement", "equation", "",
		edit("reconcile.explained", "side*residual <= 0", "true")},
	{"inferred_whole", "an inferred fill is always the whole order", "equation", "", []Edit{
		{"reconcile.explained", "p.Order().ClosePosition", "false"},
		{"reconcile.explained", "min(side*residual, most)", "most"},
	}},
	{"closed_once", "a position that opened and closed unseen is booked as opened only", "9", "",
		edit("reconcile.uncertainOrders.closedAlready", "grown := «filled - p.Filled()»", "0")},
	{"lost_at_once", "an acknowledged order that GET does not know counts as lost at once", "12", "",
		edit("reconcile.orderRows.observeLost", "s.fetched.BeganMS < p.Fence(s.tracker.Bounds())", "false")},
	{"fills_go_back", "a smaller filled quantity is accepted", "13", "", []Edit{
		{"reconcile.orderRows.observeOrder", "max(order.Filled, p.Filled())", "order.Filled"},
		{"reconcile/account.Placement.fillTo", "grown <= 0", "grown == 0"},
		{"reconcile/account.State.advance", "grown > 0", "grown != 0"},
	}},
	{"second_order_ignored", "a second order under one id is ignored", "14", "",
		edit("reconcile.orderRows.observeList", "s.observeDuplicate(order)", "")},
	{"difference_at_once", "a difference counts as foreign without waiting for L", "equation", "",
		edit("reconcile.positionComparison.observePosition", "symbol.residualFor.exceeds(s.tracker.Bounds().StalenessMS)", "true")},
	{"double_at_once", "two positions in one torn list are accepted", "38", "",
		edit("reconcile.positionComparison.readPosition", "symbol.doubled.exceeds(s.tracker.Bounds().StalenessMS)", "true")},
	{"everything_adopted", "a foreign position is adopted whatever the policy", "16", "",
		edit("reconcile.positionComparison.foreign", "s.tracker.foreignPolicy == ForeignAdopt", "true")},

	// Durable before the first byte, in order, and never an id twice.
	{"sent_before_durable", "a placement goes out before its record is durable", "journal", "",
		edit("runtime/engine.dispatcher.place", "d.sender.queued = append(d.sender.queued, w)", "d.sender.send(w)")},
	{"failed_commit_holds", "a failed commit counts as durable", "7", "", nil},
	{"records_reversed", "records of one batch are written in reverse", "journal", "", nil},
	{"forgotten_sending", "a placement in flight at a crash counts as never sent", "6", "", nil},
	{"forgotten_fills", "a restart forgets the fills", "journal", "", nil},
	{"forgotten_halts", "a restart rearms a halted account", "kill switch", "", nil},
	{"forgotten_quarantine", "a restart ends a quarantine", "equation", "", nil},
	{"same_epoch", "every start makes its ids of the same epoch and random part", "journal", "", nil},
	{"no_time_to_live", "a placement is sent however old it is", "22", "", nil},

	// Uncertainty blocks what opens.
	{"unsettled_opens", "openings are sent while something on the symbol is uncertain", "class N", "", []Edit{
		{"reconcile.derivation.readyToOpen", "settled && !d.unsettled && !d.leverageDiffers", "true"},
		{"runtime/engine.permission.withdrawn", "p.tracker.BlocksOpening(w.intent.Order.ClientOrderID, key)", "false"},
		unchecked("unsettled"),
	}},
	{"several_open", "several openings of a symbol are sent in one round", "class N", "", []Edit{
		{"reconcile.derivation.readyToOpen", "settled && !d.unsettled && !d.leverageDiffers", "true"},
		{"reconcile.derivation.enter", "len(d.targetOrders) > 0", "false"},
		{"runtime/engine.dispatcher.act", "opens && opened", "false"},
		{"runtime/engine.dispatcher.extendLadder", "d.dispatch(leg, &intents[i])", "d.dispatch(leg, &intents[i]) && false"},
		{"runtime/engine.permission.withdrawn", "p.tracker.BlocksOpening(w.intent.Order.ClientOrderID, key)", "false"},
		unchecked("unsettled"),
	}},
	{"opens_beside_exit", "an opening or a resting exit is sent together with an exit that replaces a stop", "19", "internal/simulation TestRehearsal", []Edit{
		{"reconcile.Tracker.Derive", "d.exiting", "false"},
		{"runtime/engine.permission.withdrawn", "p.tracker.BlocksOpening(w.intent.Order.ClientOrderID, key)", "false"},
	}},
	{"opens_despite_news", "an opening is not checked again when its record is durable", "class N", "",
		edit("runtime/engine.permission.withdrawn", "!w.intent.Purpose.Opens()", "true")},
	{"never_called_back", "an opening that waits for the request budget is never recalled", "class N", "",
		edit("runtime/engine.sender.recall", "len(s.sent) == 0", "true")},
	{"halted_opens", "a halt blocks nothing", "kill switch", "",
		edit("risk.Opening.halted", "o.Tracker.HaltOn(o.Strategy, o.State.Key()).Level != record.LevelNone", "false")},
	{"blind_opens", "openings are sent while reads fail", "23", "",
		edit("risk.Opening.blind", "return «o.Blind»", "false")},
	{"broken_opens", "openings are sent while the breaker is tripped", "25", "",
		edit("risk.Opening.breaking", "o.Tracker.Breaking(o.NowMS)", "false")},
	{"quarantined_opens", "openings are sent on a quarantined symbol", "equation", "", []Edit{
		{"reconcile.derivation.readyToOpen", "settled && !d.unsettled && !d.leverageDiffers",
			`settled && !d.unsettled && !d.leverageDiffers || d.symbol.Quarantine() != "" && !d.unsettled`},
		{"risk.Opening.quarantined", `o.State.Quarantine() != ""`, "false"},
		unchecked("unsettled"),
	}},
	{"stopping_opens", "openings are sent after SIGTERM", "33", "",
		edit("runtime/engine.Engine.route", "e.halts.stop(event.Shutdown)", "")},
	{"breached_opens", "openings are sent after a loss limit was exceeded", "limit", "", []Edit{
		{"runtime/engine.base.breached", "!one.Expired(b.nowMS)", "false"},
		uncheckedLimit("max_daily_loss", "max_drawdown", "max_losing_streak"),
	}},
	{"crowded_opens", "openings are sent while the disk is nearly full", "journal", "",
		edit("runtime/engine.permission.disk", "p.low, p.lost = event.Reason, event.Lost", `p.low, p.lost = "", event.Lost`)},
	{"limit_ignored", "the position limit is not checked", "risk", "", []Edit{
		uncheckedLimit("max_position"),
	}},
	{"terms_ignored", "an opening approved under earlier limits is sent", "risk", "",
		edit("runtime/engine.permission.withdrawn", "w.limitsVersion != p.limitsVersionOf(w.intent.Strategy)", "false")},
	{"leverage_unconfirmed", "openings do not wait for the leverage", "32", "", []Edit{
		{"reconcile.derivation.setLeverage", "desired.Leverage == d.symbol.leverage", "true"},
		unchecked("leverage"),
	}},
	{"latch_ignored", "the same plan reopens a position that its stop closed", "latch", "",
		edit("reconcile/account.Strategy.setLatch", "s.latch = latch{side: side, atMS: atMS, protected: protected}", "")},

	// Reducing is never blocked, and never more than there is.
	{"opposite_opens", "an order against the position is sent without reduceOnly", "classes", "", []Edit{
		{"reconcile.derivation.convergeTarget", "position != 0 && position.Sign() != sign", "false"},
		unchecked("opposite"),
	}},
	{"exit_at_once", "an uncertain exit is repeated without a pause", "20", "",
		edit("reconcile.inputs.repetitionDue", "s.nowMS-lostMS(p) >= s.repeatAfterMS(p)", "true")},
	{"exit_blocked", "an exit waits until nothing is uncertain", "20", "",
		edit("reconcile.positionExit.closeWhole", "d.exiting = true", "d.exiting = true; if d.unsettled { return }")},
	{"stop_missing", "no stop is placed", "protection", "",
		edit("reconcile.positionProtection.converge", "d.closingDust", "true")},
	{"key_refilled", "a quantity filled under a key is placed again", "plan", "", []Edit{
		{"reconcile.restingOrders.slots", "slots[i].filled = «filled»", "0 * filled"},
		uncheckedLimit("max_position"),
	}},
	{"dust_ordered", "an order below the minimum is sent", "36", "", []Edit{
		{"reconcile.inputs.tooSmall", "quantity < s.symbol.rules.QuantityTick || s.symbol.rules.BelowMinimum(s.symbol.last, quantity)", "quantity == 0"},
		unchecked("notional"),
	}},
	{"ticks_ignored", "prices are not rounded to their tick", "risk", "", []Edit{
		{"reconcile.inputs.protectionFrom", "rules.CeilPrice(rules.PriceOf(base.Add(base.MulRate(distance.Share))))",
			"rules.PriceOf(base.Add(base.MulRate(distance.Share))) + 1"},
		{"reconcile.inputs.protectionFrom", "rules.FloorPrice(rules.PriceOf(base.Sub(base.MulRate(distance.Share))))",
			"rules.PriceOf(base.Sub(base.MulRate(distance.Share))) + 1"},
		unchecked("price_tick"),
	}},

	// Orders and positions that botd did not make.
	{"prefix_ignored", "another botd under our prefix is ignored", "15", "",
		edit("runtime/engine.guardPrefix", `id == ""`, "true")},
	{"unknown_order_ignored", "orders in the spot history that the journal does not know are ignored", "35", "",
		edit("reconcile.peerOrders.checkUnknownEnded", "s.tracker.prefixed(order.ClientOrderID)", "false")},
	{"short_sold", "on spot more is sold than the wallet holds of the position", "16", "internal/simulation TestRehearsal",
		edit("reconcile.SymbolState.heldOnSpot", "max(0, t.Known()-t.Fees()+t.walletShortfall)", "t.Known()-t.Fees()")},

	// Candles, the request budget and memory.
	{"candle_twice", "a candle is delivered twice", "candles", "", []Edit{
		{"runtime/engine.market.pollSeries", "s.candles.OpenMS[s.end-1] + int64(s.interval)", "s.candles.OpenMS[s.end-1]"},
		{"runtime/engine.market.appendClosed", "candle.OpenMS <= s.candles.OpenMS[s.end-1]", "false"},
	}},
	{"candle_early", "a candle is delivered before it closed", "candles", "",
		edit("runtime/engine.market.appendClosed", "candle.OpenMS+int64(s.interval)+m.config.CloseLagMS <= m.nowMS", "true")},
	{"hurried", "rounds follow each other without a pause", "budget", "", nil},
	{"hoarding", "ended placements stay in memory", "memory", "",
		edit("reconcile/account.State.end", "delete(s.placements, p.clientOrderID)", "return")},

	// Rules that hold even if an assumption about the exchange is wrong (Beyond names the class).
	{"same_random", "every start of every process draws the same random part of ids", "34", "", nil},
	{"sales_unclipped", "a sale on spot asks for what was bought: no fee is deducted, and the wallet is not read", "principle", "", []Edit{
		{"reconcile.SymbolState.expectFees", "due <= 0", "true"},
		{"reconcile.saleQuantity.withinFree", "rules.Market != exchange.Spot", "true"},
	}},
	{"witness_ignored", "a position that the list does not show counts as closed without a witness", "39", "",
		edit("reconcile.positionComparison.observePosition", "symbol.Unwitnessed()", "false")},
	{"earlier_sweep", "the stops that ended with an earlier position witness the end of the next", "39", "",
		edit("reconcile.positionComparison.witness", "t.sweptOf >= symbol.OpenedMS()", "true")},
	{"stop_stripped", "a stop is canceled when the list shows no position", "39", "", []Edit{
		{"reconcile.positionComparison.observePosition", "symbol.Unwitnessed()", "false"},
		{"reconcile.positionProtection.converge",
			"d.ownPosition == 0 && (d.symbol.Known() != 0 || d.symbol.position != 0 || d.declared() && !d.saleEvidence().soldAll())", "false"},
	}},
	{"no_back_off", "an order that the exchange refuses is sent again at once", "3", "",
		edit("runtime/engine.backoffs.holds", "b.nowMS < one.untilMS", "false")},
	{"own_trades_ignored", "the position limit counts only listed positions", "40", "reconcile TestOwnTradesCountRegardlessOfLists",
		edit("reconcile.SymbolState.Traded", "max(0, s.traded*exchange.Quantity(side.Sign()))", "0")},
	{"rounds_wait", "a round waits for a read that hangs", "23", "",
		edit("runtime/engine.pace.patience", "min(patienceMS, max(promptMS, 2*t.took[of]))", "int64(patienceMS)")},
	{"listed_is_open", "an order whose cancel was requested is open while a list shows it", "28", "",
		edit("reconcile.Tracker.Vanished", `t.CancelMS(p.ClientOrderID()) != 0`, "false")},
	{"older_stop_taken", "a stop that stands ends the back-off of those that are refused", "3", "",
		edit("runtime/engine.backoffs.accepted", "p.SentMS() >= one.lastMS", "true")},
	{"executed_exit_unknown", "an exit that the exchange executed beyond its answer counts as one that rests for the plan", "41",
		"reconcile TestRefusedExitThatIsLiveCountsAsExit",
		edit("reconcile.orderRows.observeDuplicate", "s.tracker.purposeOf(id)", "placement.Purpose(0)")},
	{"wallet_unseen", "a purchase that only the wallet shows has no stop", "protection", "",
		edit("reconcile.unlistedOrders.infer", "min(own, bought)", "0")},
	{"others_purchases_inferred", "a manual purchase is inferred to be an uncertain one, and gets its stop", "17",
		"reconcile TestManualPurchaseIsNotInferred",
		edit("reconcile.unlistedOrders.infer", "s.unclaimedPurchases(symbol, sinceMS)", "exchange.Quantity(0)")},
	{"sales_first", "a sale is booked before the purchase it was of", "equation",
		"reconcile TestSaleIsBookedAfterPurchaseInSameHistory", []Edit{
			{"reconcile.orderRows.observeEnded", "order.Side == side", "order.Side == exchange.Buy+exchange.Sell-side"},
			{"reconcile.tracked.precedesPurchase", "filled-p.Filled() <= symbol.Known()", "true"},
		}},
	{"part_sale_first", "a sale that is filled in part is booked before the uncertain purchase that it was of", "equation",
		"reconcile TestPartialSaleIsBookedAfterItsPurchase",
		edit("reconcile.orderRows.observeOpen", "s.tracker.precedesPurchase(p, order.Filled)", "false")},
	{"reported_everywhere", "an order reported on one symbol explains orders of the same start on another", "35",
		"reconcile TestLostJournalIsFoundOnLaterSymbol", []Edit{
			{"reconcile/account.starts.noteID", "s.noteOn(«r.Symbol», id)", "exchange.SymbolKey{}"},
			{"reconcile/account.starts.Sent", "s.reportedOn[«key»]", "exchange.SymbolKey{}"},
		}},
	{"bridge_short", "a stop moves though its replacement covers less than the position at the exchange", "protection",
		"reconcile TestStopMovesOnlyIfReplacementCoversPosition",
		edit("reconcile.positionStop.mayMove", "s.ownPosition == s.symbol.position", "true")},
	{"bridge_outgrown", "a stop and its bridge both stay when the bridge covers less than a grown position", "protection",
		"reconcile TestOutgrownBridgeIsCanceled",
		edit("reconcile.positionStop.continueMove", "s.ownPosition == s.symbol.position", "false")},
	{"refused_sold_again", "after a refused sale the wallet is not read for the rest", "41", "reconcile TestRefusedSaleBoundsFlattenByWallet",
		edit("reconcile.saleQuantity.sellable", "s.saleEvidence().saleRefused(true)", "false")},
	{"joined_unwitnessed", "the end of another's position, which botd joined unseen, is not witnessed by its row", "39",
		"reconcile TestAPositionThatBotdJoinedUnseenEndsByItsRow",
		edit("reconcile.positionEvidence.showsEnd", "e.closedUnseen(symbol)", "false")},
	{"clock_ahead_trusted", "a position is as young as a clock that was ahead has dated its entry", "39",
		"reconcile TestPositionDatedByFastClockEndsByItsRow",
		edit("reconcile.orderRows.observeOrder", "CreatedMS: «datedBefore(p, order)», },", "0")},
	{"stood_down_sells_again", "while botd stands down, a stop on spot covers units that unjournalled orders have sold", "15",
		"reconcile TestStandingDownSpotStopSellsOnce",
		edit("reconcile.jointProtection.cancelSoldStops", "excess > 0", "false")},
	{"part_is_whole", "the margin that a part of a position released is a witness of the end of the rest", "39",
		"reconcile TestTheMarginOfAPartConfirmsNoMoreThanThat",
		edit("reconcile.positionComparison.seekWitness", "symbol.residual.Abs() > t.freed", "false")},
	{"witness_forgotten", "while the list cannot be read, a position stands whose end a witness has shown", "39",
		"reconcile TestWitnessedEndCountsWhileListIsUnreadable",
		edit("reconcile.positionComparison.assumeOpened", "t.by != noWitness", "false")},
	{"double_stays", "a stop too many on spot stands while the open list cannot be read", "protection", "reconcile TestExtraStopIsCanceledWithoutOpenList",
		edit("reconcile.spotStops.converge", "!d.allShown()", "true")},
	{"repeat_fits", "on spot an exit after a lost one sells the free units, though the rest is frozen for the lost one", "20",
		"reconcile TestLostExitIsNotRepeatedWithManualUnits",
		edit("reconcile.positionExit.reduceNow", "d.saleEvidence().fitsWithUncertain(quantity)", "false")},
	{"adopted_end_forgotten", "an adopted position that an old list had hidden is one of the past", "39", "reconcile TestHiddenAdoptedPositionEndsByItsRow",
		edit("reconcile.SymbolState.closedBy", "s.OpenedMS() == s.AdoptedMS()", "false")},
	{"earlier_margin", "margin that agreed with an earlier position shows that this one is smaller", "39", "reconcile TestMarginOfEarlierPositionIsNoWitness",
		edit("reconcile.positionComparison.witness", "t.shownOf == symbol.OpenedMS()", "true")},
	{"unknown_entry_unprotected", "a list without the position cancels the stop of an uncertain entry", "protection",
		"reconcile TestStopStaysWhileEntryIsUncertain",
		edit("reconcile.positionProtection.converge", "!d.mayProtectUncertain(p)", "true")},
	{"exit_keeps_stop_away", "an uncertain exit prevents the stop until its fence", "20", "reconcile TestStopIsPlacedWhileEarlierExitIsUncertain",
		edit("reconcile.reductions.exitsWhole", "answerLost(p, s.nowMS)", "false")},
	{"exit_beside_exit", "on spot a part is sold in place of a stop while an exit is open", "29", "reconcile TestNoSecondSpotExitDuringExitInPlaceOfStop",
		edit("reconcile.inputs.stopsOf", "p.Order().Type == exchange.Limit", "false")},
	{"resting_beside_exit", "on spot a resting exit covers units that an exit in flight sells", "principle", "reconcile TestRestingExitExcludesSaleInFlight",
		edit("reconcile.reductions.room", "p.Order().Market == exchange.Spot && p.Order().Side == exchange.Sell", "false")},
	{"backup_trusted", "an exit goes by the fills of an old backup before the order history was read", "35", "reconcile TestUnreadHistoryBoundsSalesByWallet",
		edit("reconcile.saleEvidence.historyUnread", "s.desired.Unread && !s.symbol.read", "false")},
	{"standing_down_forgot", "a start does not know that it stands down before it has read why", "15", "reconcile TestStandingDownPersistsAcrossStart",
		edit("reconcile.peer.findUnknown", "id := symbol.UnknownOrder(); «id != \"\"»", "false")},
	{"bought_sold_with", "an unlisted purchase is reduced once an exit has sold", "protection", "reconcile TestExitDoesNotReduceUnlistedPurchase",
		edit("reconcile.unlistedOrders.infer", "min(before, bought, own+sold)", "0")},
	{"sold_stop_stays", "the stop of sold units stays if a list cannot be read", "protection", "reconcile TestStopOfSoldHoldingIsCanceledWithoutList",
		edit("reconcile.positionProtection.converge", "!d.saleEvidence().soldAll()", "true")},
	{"halt_waits_for_reads", "a halt cancels and closes nothing while reads hang", "kill switch", "runtime/engine TestHaltCancelsAndClosesWithoutReads",
		edit("runtime/engine.dispatcher.emergencyOn", "d.stopped || !d.endsSomething(leg, level)", "true")},
	{"repetition_ends", "the refusal of a request that arrived twice ends the order that a list has shown", "41",
		"runtime/engine TestRefusalOfDuplicateRequestIsIgnored",
		edit("runtime/engine.dispatcher.placed", "!lost && refusal == nil", "!lost")},
	{"other_side_released", "a position of the other side, and of the same size, shows that margin was released", "39",
		"reconcile TestTheOtherSideOfAPositionReleasesNoMargin",
		edit("reconcile.positionComparison.witness", "(symbol.Known()+symbol.Ignored()).Abs() - symbol.AtVenue().Abs()", "symbol.residual.Abs()")},
	{"release_ignored", "the sale that replaces a stop on spot waits for the lists", "27", "",
		edit("reconcile.inputs.repetitionDue", "s.nowMS-at >= ReleaseMS", "false")},
	{"spot_latch_removed", "a manual sale on spot latches no strategy", "16", "runtime/engine TestCase",
		edit("reconcile.walletComparison.decideMissing", "s.latchOn(symbol.Key())", "")},
	{"adoption_opens", "openings are sent right after an adoption", "16", "runtime/engine TestCase", []Edit{
		{"reconcile/account.Symbol.HoldMS", "s.adoptedMS == 0", "true"},
		{"reconcile.positionComparison.foreign", "symbol.Known() != before", "false"},
		{"reconcile.walletComparison.decideMissing", "s.latchOn(symbol.Key())", ""},
		{"reconcile/account.State.adopted", "symbol.known != 0 || symbol.key.Market != exchange.Futures", "true"},
	}},
	{"transfer_is_profit", "money from outside counts as a gain or a loss", "47", "runtime/engine TestDepositOrWithdrawalIsNeitherGainNorLoss", []Edit{
		{"runtime/engine.limits.unbooked", "l.flow[exchange.Futures].Add(l.flow[exchange.Spot])", "exchange.Amount{}"},
		{"runtime/engine.accounting.fromOutside", "return «a.limits.flow[exchange.Futures]»", "exchange.Amount{}"},
		{"runtime/engine.accounting.transferred", "amount.IsZero()", "true"},
	}},
	{"declaration_is_profit", "a declared transfer does not move the references of the loss limits", "47",
		"runtime/engine TestDeclaredTransferIsNeitherGainNorLoss",
		edit("runtime/engine.accounting.transfer", "t.Asset == ledger.FuturesAsset", "false")},
	{"liquidation_goes_on", "a liquidated strategy is not halted", "46", "runtime/engine TestLiquidationIsAnEventAndHaltsStrategy",
		edit("runtime/engine.liquidated", "b.tracker.HaltOf(account.Scope{Strategy: leg.config.Name}).Level == record.LevelNone", "false")},
	{"refusal_trusted", "a refused order counts as not executed, whatever a list shows", "3",
		"runtime/engine TestRefusedPurchaseInHistoryWithoutIDsIsNotRepeated", []Edit{
			{"reconcile.refusalChecks.quarantineExecuted", "o.Filled > 0", "false"},
			{"reconcile.unclaimedRows.repetition", `order.ClientOrderID != ""`, "true"},
		}},
	{"order_id_ignored", "rows are matched by their client order id alone", "42",
		"runtime/engine TestSpotOrderSettlesByItsOrderID", []Edit{
			{"reconcile.tracked.match", "t.withOrderID(order.Market, order.ID)", "(*account.Placement)(nil)"},
			{"reconcile.orderRows.matchFrom", "p.OrderID() == order.ID", "false"},
		}},
	{"removed_plan_stands", "the plan of a strategy that its removal flattens stays in force", "49",
		"runtime/engine TestReturnedStrategyDecidesBeforeOpening",
		edit("runtime/engine.roster.clearTarget", "leg.removal() != record.LevelFlatten", "true")},
	{"removal_at_once", "a strategy whose file is absent for a moment is removed", "49", "runtime/reload TestRemovalWaitsUntilFileStaysAbsent",
		edit("runtime/reload.Absences.Poll", "now.Sub(since[name]) < absentFor || polls[name] < absentPolls", "false")},
	{"catches_up_at_once", "slices missed during a pause are sent at once", "51", "strategy/library TestBacklogIsCaughtUpOneSlicePerTick",
		edit("strategy/library.slicing.Decide", "pace < target", "false")},
	{"stop_off_first", "a stop is canceled though the rules accept no replacement", "45", "runtime/engine TestStopStaysIfRulesAcceptNoReplacement",
		edit("reconcile.inputs.placeable", "rules.Tradable && rules.FloorQuantity(quantity) == quantity && !s.tooSmall(quantity)", "true")},
	{"step_sells", "a step that has grown sells what is no multiple of it", "45", "runtime/engine TestLargerStepCausesNoSale",
		edit("reconcile.derivation.convergeTarget", "max(size.Abs(), UnroundedTarget(target, position.Abs()+d.symbol.Fees()))", "size.Abs()")},
	{"unread_waits", "nothing is done on a market while one of its lists is unread", "23", "",
		edit("runtime/engine.dispatcher.actUnread", "d.stopped || d.sendsNothing(leg, level)", "true")},
	{"lost_journal_opens", "openings are sent though the journal's files are lost", "48", "",
		edit("runtime/engine.permission.disk", "p.low, p.lost = event.Reason, event.Lost", `p.low, p.lost = "", event.Lost`)},

	// Nobody and nothing reaches the trading, or the kill switch (docs/security.md).
	{"no_deadline", "a decision has no time limit", "strategies", "runtime/engine TestHungStrategyOpensNoPosition",
		edit("runtime/engine.tick.inquire", "t.nowMS+leg.deadlineMS()+int64(task.To-task.From)*candleDeadlineMS", "int64(never)")},
	{"signal_on_the_engine", "a signal is handled in the engine's loop", "strategies", "runtime/engine TestSignalIsAnsweredOutsideTheEngineLoop",
		edit("runtime/engine.tick.receive", "t.config.Offload", "false")},
	{"signal_without_deadline", "the sender of a signal waits for the strategy", "strategies", "runtime/worker TestSlowSignalDoesNotBlockOthers",
		edit("runtime/worker.Pool.Receive", "time.Duration(r.WithinMS) * time.Millisecond", "time.Hour")},
	{"no_reserve", "the kill switch has no requests of its own", "kill switch", "exchange/rest TestExitsHaveAReserve",
		edit("exchange/rest.budget.needs", "1 + b.reserve", "1.0")},
	{"exits_obey_retry_after", "exits and stops wait for the whole Retry-After of a 429", "4", "exchange/rest TestRetryAfterDelaysNoExit",
		edit("exchange/rest.budget.answered", "!k.limited) { k.until = now.Add(«k.pause()»)", "asked")},
	{"data_stops_exits", "a 429 to market data holds exits back", "4", "exchange/rest TestRetryAfterDelaysNoExit",
		edit("exchange/rest.budget.brakeOf", "p.protected()", "true")},
	{"limited_bursts", "everything that waits is sent at once while the exchange answers 429", "4",
		"exchange/rest TestAVenueThatLimitsEverythingReceivesFewRequests",
		edit("exchange/rest.budget.take", "k.probing = «k.limited»", "false")},
	{"probe_places", "a placement is the first request after a 429 though a read waits", "4", "exchange/rest TestAProbePlacesNoOrderIfAReadWaits",
		edit("exchange/rest.budget.first", "!one.places || !k.limited && first == nil", "first == nil")},
	{"flood_shuts_out", "a flood closes the operator's connection", "connections", "internal/inbound TestUnknownClientsGiveWayToNewcomersAndToEveryRank",
		[]Edit{
			{"internal/inbound.Listener.least", "cmp.Compare(each.rank, least.rank)", "0"},
			{"internal/inbound.Listener.least", "least == nil || least.rank == Operator", "least == nil"},
		}},
	{"no_quota", "a viewer's logins are not bounded and end no other session", "sessions", "runtime/api/auth TestSessionsAreBounded",
		edit("runtime/api/auth.sessions.limit", "count >= most", "false")},
	{"downgrade_accepted", "a journal without codes is written where a key is configured", "journal",
		"reconcile/journal TestUnkeyedJournalBeginsKeyOnRequest",
		edit("reconcile/journal.Journal.checkKey", "keyed(j.hash) == (j.key != nil)", "true")},
	{"codes_unchecked", "a code that the key did not make is accepted", "journal", "reconcile/journal TestKeyDetectsRewrittenChain",
		edit("reconcile/journal.Key.fits", "!hmac.Equal([]byte(code), []byte(k.code(previous, body)))", "false")},
	{"diverted_forgotten", "a start lacks the records that a lost journal did not take", "journal", "reconcile/journal TestLeftoversOfALostJournalAreFound",
		edit("reconcile/journal.leftovers", "rest == diverted", "false")},
	{"schema_unchecked", "a journal with a trigger is written", "journal", "reconcile/journal TestPlantedSchemaObjectsAreRejected",
		edit("reconcile/journal.Journal.checkSchema", "len(problems) > 0", "false")},
	{"links_followed", "a link in the data directory is followed", "files", "internal/privatefile TestPlantedFilesAreNotOpened",
		edit("internal/privatefile.Open", "flag&^os.O_TRUNC|syscall.O_NOFOLLOW|syscall.O_NONBLOCK", "flag&^os.O_TRUNC|syscall.O_NONBLOCK")},
	{"last_key_wins", "a signal with a duplicate key is accepted", "signals", "runtime/signals FuzzMessage",
		edit("internal/inbound.CheckKeys", "keys[folded] > 1", "false")},
	{"forwarded_obeyed", "a forwarded message is obeyed", "Telegram", "runtime/telegram TestAMessageThatItsSenderDidNotTypeIsIgnored",
		edit("runtime/telegram.typed", "update.Message == notTyped{}", "true")},
}

// cancelAnswerTrusted treats the answer to a cancel as the end of its order.
func cancelAnswerTrusted(condition string) Edit {
	return Edit{"runtime/engine.dispatcher.canceled", "d.requestRoundSoon()", `if o := d.tracker.Placement(p.clientID); o != nil && ` + condition + ` {
		d.record(o.About(record.Ended{State: placement.Canceled, Filled: o.Filled()}))
	}
	d.requestRoundSoon()`}
}

// unchecked disables rules of the gate. Most rules exist twice, in the derivation of an intent and in the
// gate; a mutant breaks both.
func unchecked(rules ...string) Edit {
	return Edit{"risk.Gate.judge", "r.find(g, intent, facts, f); give(f); if «f.refused» {", "f.refused" + others(rules)}
}

// uncheckedLimit disables limits.
func uncheckedLimit(limits ...string) Edit {
	return Edit{"risk.Gate.judge", "l.judge(s, f); give(f); if «f.refused» {", "f.refused" + others(limits)}
}

func others(rules []string) string {
	var text strings.Builder
	for _, rule := range rules {
		fmt.Fprintf(&text, " && f.rule != %q", rule)
	}
	return text.String()
}
