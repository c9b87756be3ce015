package reconcile

import (
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// Desired is one strategy's plan in force with the inputs for deriving intents from it.
type Desired struct {
	Strategy      *account.Strategy
	Symbol        *SymbolState
	Protection    strategy.Protection // the plan's, otherwise the configured one
	Leverage      int                 // the plan's, otherwise the configured one; 0 leaves it unchanged
	MayOpen       bool                // false: nothing may open (halted, catching up, blind)
	Equity        exchange.Amount     // account equity, for sizing
	TakerFee      exchange.Rate       // reserved on spot
	Collar        exchange.Rate       // maximum distance between the last price and the limit of a spot exit
	Interval      exchange.Interval   // a protective order moves at most once per interval
	Bridge        bool                // while a stop moves, a second stop (the bridge) protects the position, because answers take time
	ExitFromMS    int64               // an exit that the exchange refused waits until this time while its stop stays; 0 for none
	YieldMS       int64               // spot: exits are left to another botd until this time; 0 for none
	MaxLive       int                 // with this many live placements, an order whose answer was lost is not sent again; 0: no limit
	Flatten       bool                // a person requested to close the exchange's position, explained or not
	Repeat        bool                // an unanswered exit may be repeated, because its request was recalled
	ExitsOnly     bool                // only exits: the position to protect is unknown, and existing protection stays
	BetweenRounds bool                // between rounds: openings are allowed as long as only acknowledged ones were added since the symbol was settled
	Unread        bool                // its market was not read completely: protection stays, missing protection is placed, and no exit is repeated
}

// Derive returns the few changes that lead to the desired state from the known state. It starts
// from scratch each round and repeats nothing from an earlier one. The record, if any, prices the
// target and has not been applied yet.
func (t *Tracker) Derive(desired *Desired, nowMS int64) (intents []Intent, priced *record.Record) {
	symbol := desired.Symbol
	if !symbol.read && !(desired.Unread && symbol.walletOnlyRead) || symbol.rules == nil || symbol.last == 0 {
		return nil, nil
	}
	d := t.derivation(desired, nowMS)
	if desired.Unread && symbol.Key().Market == exchange.Spot && t.StandsDown() {
		d.spotStops().protectFree()
		return d.intents, nil
	}
	if d.setLeverage() {
		return d.intents, nil
	}
	d.positionExit().cancelPassedExits(d.targetOrders) // whatever the plan desires now: such an exit holds the asset that a stop needs
	d.convergeTarget()
	d.restingOrders().convergeKeyed(placement.Order, d.plan.Orders())
	exits := d.plan.Exits()
	if d.stopHasAsset() {
		exits = account.Orders{}
	}
	d.restingOrders().convergeKeyed(placement.ExitOrder, exits)
	switch {
	case desired.ExitsOnly && (symbol.position != 0 || symbol.Known() != 0 || symbol.spot.unlisted.inferred != 0):
	case t.StandsDown():
		d.jointProtection().converge()
	default:
		d.positionProtection().converge()
		d.spotStops().placeUnconfirmed()
	}
	if d.exiting || d.postponed { // by its plan or instead of its protection: nothing opens alongside it, and no resting exit replaces it
		d.intents = slices.DeleteFunc(d.intents, func(i Intent) bool { return i.Purpose.Opens() || i.Purpose == placement.ExitOrder })
	}
	return d.intents, d.priced
}

// ExitOf returns the intents that would close the whole position if nothing were in the way.
func (t *Tracker) ExitOf(desired *Desired, nowMS int64) []Intent {
	if desired.Symbol.rules == nil || desired.Symbol.last == 0 {
		return nil
	}
	d := newDerivation(t.inputs(desired, desired.Symbol, nowMS))
	d.positionExit().reduceNow(d.ownPosition.Abs(), flatTarget)
	return d.intents
}

// StopLevel returns the price of the position's stop, or 0 if none is set.
func (t *Tracker) StopLevel(desired *Desired) exchange.Price {
	if desired.Symbol.rules == nil || desired.Symbol.last == 0 || !desired.Protection.Set || desired.Protection.StopLoss.IsZero() {
		return 0
	}
	s := t.inputs(desired, desired.Symbol, 0)
	if s.ownPosition == 0 {
		return 0
	}
	return s.protectionPrice(placement.StopLoss, desired.Protection.StopLoss)
}

// Closable returns the part of a symbol's position that botd may close.
func (t *Tracker) Closable(symbol *SymbolState) exchange.Quantity {
	return t.inputs(&Desired{}, symbol, 0).ownPosition
}

// ToClose returns the signed quantity that the kill switch would close on a symbol: the exchange's
// position without the part left to others.
func (t *Tracker) ToClose(symbol *SymbolState) exchange.Quantity {
	return t.inputs(&Desired{Flatten: true}, symbol, 0).ownPosition
}

// inputs are what changes are derived from for one symbol: the known state and what is desired. Their methods, and those of their parts (spotPosition,
// saleEvidence, saleQuantity, reductions), only answer questions: they derive and change nothing.
type inputs struct {
	tracker     *Tracker
	desired     *Desired
	symbol      *SymbolState
	nowMS       int64
	ownPosition exchange.Quantity // signed: botd's part of the position

	targetOrders []*account.Placement // live Entry and Exit
	keyedOrders  []*account.Placement // live Order and ExitOrder
	stops        []*account.Placement // live StopLoss
	profits      []*account.Placement // live TakeProfit
	unsettled    bool                 // the symbol has a placement whose acceptance is uncertain
}

func (t *Tracker) inputs(desired *Desired, symbol *SymbolState, nowMS int64) inputs {
	s := inputs{tracker: t, desired: desired, symbol: symbol, nowMS: nowMS}
	s.ownPosition = s.ownPart()
	return s
}

// derivation is the work of one Derive: its inputs, and what has been derived from them so far. It sets the leverage and converges the target itself;
// its parts are restingOrders and the parts of safeguards.
type derivation struct {
	safeguards
	plan            account.Plan
	priced          *record.Record
	leverageDiffers bool // the leverage differs from the desired one: nothing opens
}

// safeguards are the part of a derivation that reduces and protects, and can open nothing: it does not see the plan's target and orders. Its parts are
// positionExit, positionProtection with partProtection and positionStop, spotStops and jointProtection.
type safeguards struct {
	inputs
	changes
	reason string // the plan's

	shrunk      []*account.Placement // stops to cancel, because they sell more than the position
	closingDust bool                 // whether the protection closes a remainder that is too small for an order
	exiting     bool                 // this round exits the position
	reserved    exchange.Quantity    // quantity that a spot exit will sell as soon as the stops that freeze it have ended
	postponed   bool                 // a refused exit waits to be repeated
}

func (t *Tracker) derivation(desired *Desired, nowMS int64) *derivation {
	d := newDerivation(t.inputs(desired, desired.Symbol, nowMS))
	d.sortPlacements()
	return d
}

func newDerivation(from inputs) *derivation {
	d := &derivation{plan: from.desired.Strategy.Plan()}
	d.inputs, d.changes.of, d.reason = from, &d.inputs, d.plan.Reason()
	return d
}

// sortPlacements sorts the live placements by purpose, and cancels those that should not be live.
func (d *derivation) sortPlacements() {
	former, places := d.symbol.keyed, d.symbol.keyedAt
	d.keyedOrders, d.symbol.keyedAt = former[:0], places[:0]
	for _, p := range d.symbol.live { // everything on the symbol belongs to its strategy, including orders of an earlier one
		if p.Duplicate() {
			d.cancel(p, "a second order under one client order id")
			continue
		}
		if p.Withdrawn() != "" {
			d.cancel(p, "withdrawn by a person: "+p.Withdrawn())
		}
		d.unsettled = d.unsettled || p.State().OutcomeUncertain()
		switch p.Purpose() {
		case placement.Entry, placement.Exit:
			d.targetOrders = append(d.targetOrders, p)
		case placement.StopLoss:
			d.stops = append(d.stops, p)
		case placement.TakeProfit:
			d.profits = append(d.profits, p)
		default:
			for len(former) > 0 && former[0] != p { // it has ended
				former, places = former[1:], places[1:]
			}
			at := 0
			if len(former) > 0 {
				at, former, places = places[0], former[1:], places[1:]
			}
			d.keyedOrders, d.symbol.keyedAt = append(d.keyedOrders, p), append(d.symbol.keyedAt, at)
		}
	}
	if ended := d.symbol.keyed; len(ended) > len(d.keyedOrders) {
		clear(ended[len(d.keyedOrders):]) // release the ended placements
	}
	d.symbol.keyed = d.keyedOrders
}

// ownPart returns the part of the position that may be botd's: the quantity that its fills explain, and
// the changes that its live orders may have made since. It excludes a foreign part, and ignores a read
// older than the fills.
func (s *inputs) ownPart() exchange.Quantity {
	position, known := s.symbol.position, s.symbol.Known()
	if s.symbol.Key().Market == exchange.Spot {
		if s.desired.Flatten && s.symbol.Quarantine() != "" && s.symbol.rules != nil {
			position = s.tracker.heldInQuarantine(s.symbol)
		}
		if sells := s.tracker.sellsUnknown(s.symbol); s.tracker.StandsDown() { // the other botd's stops sell its own purchases first
			position = min(position, s.symbol.jointPosition()-sells)
		} else {
			position -= sells
		}
		return max(0, position)
	}
	if position == known {
		return position
	}
	if standing := s.symbol.TrustedPosition(); standing != position { // the list is not trusted
		return standing
	}
	if s.desired.Flatten {
		return position
	}
	low, high := known, known
	for _, p := range s.symbol.live {
		if p.Order().Side == exchange.Buy {
			high += p.Remaining()
		} else {
			low -= p.Remaining()
		}
	}
	part := max(low, min(high, position))
	switch {
	case part.Sign() != position.Sign():
		return 0
	case part.Abs() > position.Abs():
		return position
	}
	return part
}

// changes are the intents that a derivation has derived so far.
type changes struct {
	of      *inputs
	intents []Intent
}

func (c *changes) add(intent Intent) {
	intent.Strategy, intent.Last, intent.Before = c.of.desired.Strategy.Name(), c.of.symbol.last, c.of.symbol.position
	intent.Order.Market, intent.Order.Symbol = c.of.symbol.Key().Market, c.of.symbol.Key().Name
	c.intents = append(c.intents, intent)
}

// cancel cancels a placement, unless its order id is unknown, a cancel was just sent, or the exchange has answered that it canceled it.
func (c *changes) cancel(p *account.Placement, reason string) {
	known := c.of.tracker.delivery(p)
	ended := known.canceledMS != 0 && known.releasedMS != 0
	if p.OrderID() == 0 || c.of.nowMS-known.canceled.lastMS < RepeatMS || ended {
		return
	}
	if slices.ContainsFunc(c.intents, func(i Intent) bool { return i.Purpose == placement.Cancel && i.OrderID == p.OrderID() }) {
		return // already canceled for another reason
	}
	c.add(Intent{Purpose: placement.Cancel, OrderID: p.OrderID(), ClientID: p.ClientOrderID(), Key: p.Key(), Reason: reason})
}

// setLeverage requests the desired leverage before anything opens (case 32). It reports whether the
// change must come first; while there are positions or orders, only openings wait for it.
func (d *derivation) setLeverage() bool {
	desired := d.desired
	if d.symbol.Key().Market != exchange.Futures || desired.Leverage == 0 || desired.Leverage == d.symbol.leverage || !desired.MayOpen {
		return false
	}
	if d.plan.Target().Sign() == 0 && d.plan.Orders().Len() == 0 {
		return false
	}
	d.leverageDiffers = d.symbol.position != 0 || len(d.targetOrders)+len(d.keyedOrders) > 0
	if !d.leverageDiffers || d.symbol.settled && !d.unsettled {
		d.add(Intent{Purpose: placement.Leverage, Leverage: desired.Leverage, Reason: "the desired leverage"})
	}
	return !d.leverageDiffers
}

// convergeTarget converges the position: delta = target - position - signed in flight.
func (d *derivation) convergeTarget() {
	target, position := d.plan.Target(), d.spotPosition().unsoldByPeer()
	if target.Kind == strategy.NoTarget {
		return
	}
	sign := target.Sign()
	if sign == 0 || position != 0 && position.Sign() != sign {
		d.positionExit().closeWhole(position, target)
		return
	}
	latched := d.desired.Strategy.Latch() == sign
	if _, priced := d.desired.Strategy.Priced(target); latched && !priced {
		return
	}
	size, ok := d.targetQuantity(target)
	if !ok {
		return
	}
	delta := size - position - d.symbol.Fees()*exchange.Quantity(sign) // a target counts fills before fees
	for _, p := range d.targetOrders {
		delta -= p.SignedRemaining()
	}
	switch {
	case delta == 0:
	case delta.Sign() == sign && latched:
	case delta.Sign() == sign:
		d.enter(delta)
	default:
		// Only the known position is reduced: an entry whose fill is not known yet may count twice, in
		// the position and in flight.
		d.positionExit().reduce(d.listedPart(position) + d.symbol.Fees() - max(size.Abs(), UnroundedTarget(target, position.Abs()+d.symbol.Fees())))
	}
}

// listedPart returns the part of the trusted position that the newest list shows; on spot it differs from the position only while the wallet lacks the
// quantity of an order. An order that no list shows may have sold the rest, so a partial exit sells no more than the shown quantity above the target.
func (s *inputs) listedPart(position exchange.Quantity) exchange.Quantity {
	whole, symbol := position.Abs(), s.symbol
	switch {
	case symbol.Key().Market == exchange.Futures && symbol.TrustedPosition() == symbol.position,
		symbol.Key().Market == exchange.Spot && s.tracker.walletMS == 0:
		return whole
	case symbol.Key().Market == exchange.Futures:
		return 0 // the list shows none of it, and is not trusted
	}
	own := s.spotPosition().ownBalance()
	if own >= whole || s.tooSmall(whole-own) {
		return whole
	}
	return own
}

// targetQuantity prices the target once, when its first order is due and everything on the symbol is
// settled.
func (d *derivation) targetQuantity(target strategy.Target) (exchange.Quantity, bool) {
	state, rules := d.desired.Strategy, d.symbol.rules
	if quantity, priced := state.Priced(target); priced {
		return quantity, true
	}
	if !d.symbol.settled || len(d.targetOrders) > 0 {
		return 0, false
	}
	var fee exchange.Rate
	if d.symbol.Key().Market == exchange.Spot {
		fee = d.desired.TakerFee
	}
	size := TargetQuantity(target, rules, d.symbol.last, d.desired.Equity, fee)
	if !d.desired.MayOpen && size.Abs() >= d.symbol.position.Abs() {
		return 0, false // nothing may open, so the target is priced later; a smaller position is still reached
	}
	d.priced = &record.Record{AtMS: d.nowMS, Strategy: state.Name(), Symbol: d.symbol.Key(), Body: record.Priced{Target: target, Quantity: size}}
	return size, true
}

// withinMaximum limits one order to the maximum quantity of the symbol; the remainder follows in the next round.
func (s *inputs) withinMaximum(quantity exchange.Quantity) exchange.Quantity {
	return min(quantity, s.symbol.rules.QuantityFor(s.symbol.rules.MaxNotional, s.symbol.last))
}

func (s *inputs) tooSmall(quantity exchange.Quantity) bool {
	return quantity < s.symbol.rules.QuantityTick || s.symbol.rules.BelowMinimum(s.symbol.last, quantity)
}

// enter opens or adds: one opening at a time, and only if everything on the symbol is settled
// (class N).
func (d *derivation) enter(delta exchange.Quantity) {
	if !d.desired.MayOpen || !d.readyToOpen() || d.exiting || len(d.targetOrders) > 0 {
		return
	}
	quantity := d.withinMaximum(d.symbol.rules.FloorQuantity(delta.Abs()))
	if d.tooSmall(quantity) {
		return // within one step or below minNotional: the target is reached
	}
	order := exchange.NewOrder{Type: exchange.MarketOrder, Side: exchange.SideOf(delta), Quantity: quantity}
	if d.symbol.Key().Market == exchange.Spot {
		order.Quantity, order.QuoteAmount = 0, d.amountFor(quantity)
	}
	d.add(Intent{Purpose: placement.Entry, Order: order, Reason: d.reason})
}

// amountFor returns the quote amount of a spot purchase. For a purchase of one step the amount allows a price up to the collar: without that, at a
// price above the last one, it would buy less than a step, and the exchange would fill nothing. If a larger purchase falls short, another one
// follows.
func (s *inputs) amountFor(quantity exchange.Quantity) exchange.Amount {
	amount := s.symbol.rules.Notional(s.symbol.last-s.startMark().purchase(quantity), quantity)
	if quantity == s.symbol.rules.QuantityTick {
		amount = amount.Add(amount.MulRate(min(s.desired.Collar, exchange.RateOne/2)))
	}
	return amount
}

// readyToOpen reports whether everything on the symbol is known and its leverage is the desired one, which an
// opening requires.
func (d *derivation) readyToOpen() bool {
	settled := d.symbol.settled || d.desired.BetweenRounds && d.symbol.onlyOpeningsPending
	return settled && !d.unsettled && !d.leverageDiffers
}

// Intent is one change derived from the plan and the known state.
type Intent struct {
	Strategy string
	Purpose  placement.Purpose
	Key      string            // the plan's key, for Order and ExitOrder; of some protective orders bridgeKey or dustKey
	Order    exchange.NewOrder // the order to place; for Cancel and Leverage only its Market and Symbol
	OrderID  int64             // Cancel: the order
	ClientID string            // Cancel: the placement
	Leverage int               // Leverage: the new value
	Last     exchange.Price    // last price at derivation
	Before   exchange.Quantity // signed position at derivation
	Reason   string            // reason in words
}
