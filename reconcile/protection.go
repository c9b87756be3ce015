package reconcile

import (
	"cmp"
	"slices"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// RepeatMS is the time after which a request without an answer counts as lost. An exit, a protective order or a cancel is then sent again: an order
// as a new placement (exactly-once.md, case 20 and class I), a cancel because it is idempotent by the venue's own rules. With more than three
// uncertain orders the time doubles for each further one, up to eight times.
const RepeatMS = 2_000

const (
	replaceMS     = 500 // after a stop's cancel was sent, if nothing reports its outcome
	promptRepeats = 3
	repeatLevels  = 3
)

// bridgeKey is the key of the reduceOnly stop that protects while the closePosition stop moves.
const bridgeKey = "bridge"

// mayRepeat reports whether an uncertain placement may be repeated: the list just fetched does not
// contain it, and the exchange would refuse or cap a repetition. On spot that is the case if the wallet
// still shows the asset, but not enough for both. A stop is repeated anyway, because a duplicate appears
// in the next list and is canceled.
func (d *safeguards) mayRepeat(p *account.Placement) bool { return d.repetitionDue(p, len(d.intents)) }

// repetitionDue reports the same when that many intents have been derived.
func (s *inputs) repetitionDue(p *account.Placement, derived int) bool {
	if at := s.tracker.delivery(p).releasedMS; at != 0 {
		return s.nowMS-at >= ReleaseMS
	}
	if immediate := p.Order().Type == exchange.MarketOrder || p.Order().Type == exchange.Limit; s.desired.Unread && immediate {
		return false // only a fresh read shows how much is left
	}
	lost := p.State() == placement.Uncertain || p.State() == placement.Sending && (s.desired.Repeat || s.unansweredStop(p))
	late := s.nowMS-lostMS(p) >= s.repeatAfterMS(p) || s.desired.Repeat && s.superseded(p)
	if !lost || !late || s.saleEvidence().rests(p) {
		return false
	}
	if s.desired.MaxLive > 0 && s.tracker.LiveCount()+derived >= s.desired.MaxLive {
		return false // each lost placement stays live as uncertain: there is no room for more of them
	}
	stop := p.Order().Type == exchange.StopLimit && p.Purpose() == placement.StopLoss
	return s.symbol.Key().Market == exchange.Futures || stop || s.saleEvidence().repeatable(p)
}

// lostMS returns the time from which a placement has counted as unanswered: when it was sent or declared uncertain.
func lostMS(p *account.Placement) int64 { return max(p.SentMS(), p.UncertainMS()) }

// answerLost reports whether a placement has been uncertain for so long that another may be sent.
func answerLost(p *account.Placement, nowMS int64) bool {
	return p.State() == placement.Uncertain && nowMS-lostMS(p) >= RepeatMS
}

// unansweredStop reports whether a stop was handed out so long ago that its answer counts as lost, although it may still arrive. On futures the
// exchange rejects a second stop. On spot it may accept both, and both would sell: there a second stop is sent only if the wallet covers just one of
// them and freezes nothing for the first.
func (s *inputs) unansweredStop(p *account.Placement) bool {
	if !s.tracker.unanswered(p, s.nowMS) {
		return false
	}
	unfrozen := s.tracker.walletRead && !s.desired.Unread && s.tracker.delivery(p).unfrozen
	return p.Order().ClosePosition || p.Order().Type == exchange.StopLimit && unfrozen && s.saleEvidence().repeatable(p)
}

// replaceable reports whether a protective order may be replaced: its outcome is uncertain and it may be
// repeated, or its end cannot be read. On spot the answer to its cancel decides that.
func (d *safeguards) replaceable(p *account.Placement) bool {
	return d.mayRepeat(p) || p.Order().Market == exchange.Futures && d.tracker.EndUnread(p)
}

// EndUnread reports whether an order's final state cannot be read, and either it was canceled and no open list has shown it since, or open lists have
// omitted it for some time: a start does not know its cancels, and the exchange accepts no second closePosition order.
func (t *Tracker) EndUnread(p *account.Placement) bool {
	known, list := t.delivery(p), t.listed[p.Order().Market]
	if p.State().OutcomeUncertain() || !t.Symbol(p.Symbol()).unread {
		return false
	}
	if mayHaveEnded(t, p) && t.readBeganMS >= known.omittedMS+RepeatMS {
		return true
	}
	canceledMS := known.canceled.firstMS
	shown := slices.ContainsFunc(list.orders, func(o exchange.Order) bool { return o.ID == p.OrderID() })
	return canceledMS != 0 && t.readBeganMS >= canceledMS+replaceMS && (!shown || list.beganMS < canceledMS)
}

// mayHaveEnded reports whether the open list omits a futures order whose state cannot be read.
func mayHaveEnded(t *Tracker, p *account.Placement) bool {
	return t.Symbol(p.Symbol()).unread && t.delivery(p).omittedMS != 0
}

// repeatAfterMS returns how long an uncertain placement must wait before another is sent alongside it.
func (s *inputs) repeatAfterMS(p *account.Placement) int64 {
	levels := -promptRepeats
	for q := range s.tracker.InFlightOn(p.Symbol()) {
		if (q.State() == placement.Uncertain || s.unansweredStop(q)) && q.Purpose() == p.Purpose() && q.Key() == p.Key() &&
			q.Order().Type == p.Order().Type {
			levels++
		}
	}
	if s.desired.Flatten {
		levels = min(levels, 1) // a kill switch does not wait longer
	}
	return RepeatMS << max(0, min(levels, repeatLevels))
}

// superseded reports whether a newer exit was sent after this one: then this one's own outcome does not
// block anything.
func (s *inputs) superseded(p *account.Placement) bool {
	return slices.ContainsFunc(s.targetOrders, func(q *account.Placement) bool { return q.Purpose() == placement.Exit && q.SentMS() > p.SentMS() })
}

// positionProtection keeps a position's stop-loss and take-profit on the exchange. On spot it leaves the stops to spotStops.
type positionProtection struct{ *safeguards }

func (d *safeguards) positionProtection() positionProtection { return positionProtection{d} }

// converge keeps the position's stop-loss and take-profit on the exchange. They are placed in the first
// round that sees the position.
func (d positionProtection) converge() {
	protection := d.desired.Protection
	switch {
	case d.closingDust:
		return // existing protection closes the remainder
	case d.symbol.Key().Market == exchange.Spot && (d.spotPosition().toProtect() > 0 || d.spotPosition().soldByOthers() ||
		len(d.symbol.spot.replaced.orders) > 0 || d.tracker.StandsDown() && d.symbol.jointPosition() > 0):
		d.spotStops().converge()
		return
	case d.symbol.Key().Market == exchange.Spot && d.ownPosition != 0:
		return // the wallet shows none of the asset: existing protection stays
	case d.ownPosition == 0 && d.unexplained():
		d.protectUnexplained()
		return
	case d.ownPosition == 0 && (d.symbol.Known() != 0 || d.symbol.position != 0 || d.declared() && !d.saleEvidence().soldAll()):
		return // the read may be stale, or the position is not botd's: protection stays
	case d.ownPosition == 0 && (d.symbol.spot.unlisted.vanished() > 0 ||
		d.tracker.StandsDown() && (d.symbol.jointFills() > 0 || d.jointProtection().mayProtectPeer())):
		return // only one wallet, or one history, shows that the position has ended
	case d.ownPosition == 0 && d.shownUnexplained():
		return // only one list shows that the position has ended
	case d.ownPosition == 0:
		for _, p := range append(d.stops, d.profits...) {
			if !d.mayProtectUncertain(p) && !d.keepsForUnexplained(p) {
				d.cancel(p, "there is no position to protect")
			}
		}
		return
	}
	d.cancelOpposite()
	d.convergeStop(protection)
	d.convergeProfit(protection)
}

// declared reports whether the symbol is in a declared state in which protective orders stay unchanged:
// there only a person, or its replacement, ends a protective order.
func (s *inputs) declared() bool {
	symbol := s.symbol
	contradicted := symbol.contradicted != "" && !(s.desired.Flatten && symbol.endUnproved()) // a flatten request overrides this protection
	return s.desired.Unread || symbol.Key().Market == exchange.Futures && (symbol.Quarantine() != "" || contradicted || symbol.Unwitnessed())
}

// unexplainedWaitMS is the longest time for which a position that nothing explains waits for its stop, however old a read may be. If the read is old, and
// there is none any more, the exchange refuses the stop.
const unexplainedWaitMS = 2_000

// unexplained reports whether there is a position that nothing of botd's explains and that is not the
// result of a stale read: the exchange executed an order that it refused, or a person traded. It
// excludes the part left to others by policy.
func (s *inputs) unexplained() bool {
	symbol := s.symbol
	if symbol.Key().Market != exchange.Futures || symbol.position == 0 || s.tracker.foreignPolicy == ForeignIgnore && symbol.Cause() != record.JournalLost {
		return false
	}
	known := &symbol.futuresEvidence
	if fresh := known.zeroed && symbol.Known() == 0 && !slices.Contains(known.past, symbol.positionID); fresh && !s.openingUncertain() {
		return true // no stale read of an earlier position can show this one
	}
	outlived := symbol.Known() == 0 && symbol.unexplainedID == symbol.positionID && symbol.unexplainedFromMS < symbol.ChangedMS()
	if outlived && !s.openingUncertain() {
		return true // it was shown alongside botd's own part, before that part was reduced
	}
	patience := min(s.tracker.Bounds().StalenessMS, unexplainedWaitMS)
	shown := symbol.unexplainedID == symbol.positionID && symbol.unexplainedFromMS != 0 && s.nowMS-symbol.unexplainedFromMS > patience
	return symbol.Quarantine() != "" || s.nowMS-symbol.ChangedMS() > patience && !s.openingUncertain() && (symbol.residualFor.sinceMS != 0 || shown)
}

// openingUncertain reports whether the outcome of an opening is uncertain: it may explain a position.
func (s *inputs) openingUncertain() bool {
	return s.unsettled && slices.ContainsFunc(s.symbol.inFlight, func(p *account.Placement) bool {
		return p.State().OutcomeUncertain() && p.Purpose().Opens()
	})
}

// mayProtectUncertain reports whether an order protects the result of an undecided opening: a list has
// shown the position since the opening was sent, and a list without it may be wrong. Protective orders
// stay until the opening is decided.
func (s *inputs) mayProtectUncertain(p *account.Placement) bool {
	return p.Order().ClosePosition && slices.ContainsFunc(s.symbol.inFlight, func(q *account.Placement) bool {
		return q.State() == placement.Uncertain && q.Purpose().Opens() && q.SentMS() <= p.SentMS()
	})
}

// protectUnexplained keeps a stop on a position that botd must not close, if its strategy sets a
// distance.
func (d positionProtection) protectUnexplained() {
	protection := d.desired.Protection
	if !protection.Set || protection.StopLoss.IsZero() || d.positionShared() ||
		slices.ContainsFunc(d.stops, func(p *account.Placement) bool { return !d.mayRepeat(p) }) {
		return
	}
	whole := d.inputs
	whole.ownPosition = d.symbol.position
	price := whole.protectionPrice(placement.StopLoss, protection.StopLoss)
	if whole.pricePassed(placement.StopLoss, price) { // opened long ago, or the price is an earlier position's: keep the distance from the last price
		price = whole.stopFromLast(price)
	}
	if price > 0 && !whole.pricePassed(placement.StopLoss, price) {
		d.protect(
			d.symbol.position,
			placement.StopLoss,
			exchange.NewOrder{Type: exchange.StopMarket, StopPrice: price, ClosePosition: true},
			"protects an unexplained position",
		)
	}
}

// exitForProtection returns the market exit that is in flight because a stop's price was passed, or nil.
func (s *inputs) exitForProtection() *account.Placement {
	_, _, urgent := s.stopsOf(s.stops)
	return urgent
}

// convergeProfit keeps one closePosition TAKE_PROFIT_MARKET on the exchange. While it moves (cancel,
// confirm, place), the position lacks its profit target but not its stop.
func (d positionProtection) convergeProfit(protection strategy.Protection) {
	main, bridging, _ := d.stopsOf(d.profits)
	if d.declared() && len(d.profits) > 0 {
		return
	}
	if !protection.Set || protection.TakeProfit.IsZero() {
		for _, p := range d.profits {
			d.cancel(p, "no longer desired")
		}
		return
	}
	if d.symbol.Ignored() != 0 || d.symbol.slotTaken(exchange.TakeProfitMarket) {
		d.partProtection().convergeProfit(protection)
		return
	}
	price := d.protectionPrice(placement.TakeProfit, protection.TakeProfit)
	switch missing := main == nil || d.mayRepeat(main); {
	case price <= 0, missing && d.pricePassed(placement.TakeProfit, price):
	case missing:
		d.protectBy(
			placement.TakeProfit,
			exchange.NewOrder{Type: exchange.TakeProfitMarket, StopPrice: price, ClosePosition: true},
			"takes the profit",
		)
	case main.State().OutcomeUncertain():
	case bridging != nil: // from a time when others held part of the position
		d.cancel(bridging, "the order for the whole position stands")
	case main.Order().StopPrice == price, d.pricePassed(placement.TakeProfit, price), d.nowMS-main.SentMS() < int64(d.desired.Interval):
	default:
		d.cancel(main, "the protection moves")
	}
}

// protectBy places a protective order for botd's part of the position.
func (d *safeguards) protectBy(purpose placement.Purpose, order exchange.NewOrder, reason string) {
	d.protect(d.ownPosition, purpose, order, reason)
}

// protect places a protective order unless the position is exiting: the exchange removes the
// protection when the position ends, and a new order would apply to the next position (case 29).
func (d *safeguards) protect(position exchange.Quantity, purpose placement.Purpose, order exchange.NewOrder, reason string) {
	if d.reductions().exitsWhole(position) {
		return
	}
	order.Side = exchange.SideOf(-position)
	order.WorkingType = exchange.ContractPrice
	intent := Intent{Purpose: purpose, Order: order, Reason: reason}
	if order.ReduceOnly {
		intent.Key = bridgeKey
	}
	d.add(intent)
}

// protectionPrice returns the trigger price: on the losing side for a stop, on the winning side for a
// take-profit, rounded away from the position by less than a tick.
func (s *inputs) protectionPrice(purpose placement.Purpose, distance strategy.Distance) exchange.Price {
	rules := s.symbol.rules
	switch {
	case distance.Price != 0 && s.priceAboveLast(purpose): // the tick may have grown since the strategy set it
		return rules.CeilPrice(distance.Price)
	case distance.Price != 0:
		return rules.FloorPrice(distance.Price)
	}
	base, spot := s.symbol.MeanEntryPrice(), &s.symbol.spot
	if base.IsZero() || spot.unlisted.inferred > 0 && s.tooSmall(s.symbol.Known()) { // the entry of a remainder is not that of an unlisted purchase
		base = rules.PriceAmount(s.symbol.last)
	}
	return s.protectionFrom(base, purpose, distance)
}

// protectionFrom returns the price at a distance from a base price.
func (s *inputs) protectionFrom(base exchange.Amount, purpose placement.Purpose, distance strategy.Distance) exchange.Price {
	rules := s.symbol.rules
	if s.priceAboveLast(purpose) {
		return rules.CeilPrice(rules.PriceOf(base.Add(base.MulRate(distance.Share))))
	}
	return rules.FloorPrice(rules.PriceOf(base.Sub(base.MulRate(distance.Share))))
}

// stopFromLast returns the stop price at the same distance from the last price as the stop has from the entry price, or from the last one without an entry.
func (s *inputs) stopFromLast(price exchange.Price) exchange.Price {
	rules := s.symbol.rules
	far := price - cmp.Or(rules.PriceOf(s.symbol.MeanEntryPrice()), s.symbol.last)
	if far = max(far, -far, rules.PriceTick); s.isLong() {
		return rules.FloorPrice(s.symbol.last - far)
	}
	return rules.CeilPrice(s.symbol.last + far)
}

// priceAboveLast reports whether a protective order's price is above the last price: a long position's take-profit, or a short position's stop.
func (s *inputs) priceAboveLast(purpose placement.Purpose) bool {
	return s.isLong() == (purpose == placement.TakeProfit)
}

// isLong reports whether the protected position is long. Spot positions are always long.
func (s *inputs) isLong() bool { return s.ownPosition > 0 || s.symbol.Key().Market == exchange.Spot }

// pricePassed reports whether the exchange would refuse the price: a stop must be on the losing side of
// the current price, a take-profit on the winning side (rule 9).
func (s *inputs) pricePassed(purpose placement.Purpose, price exchange.Price) bool {
	if s.priceAboveLast(purpose) {
		return price <= s.symbol.last
	}
	return price >= s.symbol.last
}
