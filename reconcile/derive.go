package reconcile

import (
	"slices"

	"botd/exchange"
	"botd/internal/mutant"
	"botd/strategy"
)

// Wish is one strategy's plan in force with what deriving from it needs.
type Wish struct {
	State      *StrategyState
	Truth      *SymbolTruth
	Protection strategy.Protection // the plan's, else the configured one
	Leverage   int                 // the plan's, else the configured one; 0 leaves it
	Entries    bool                // false: nothing that opens (halted, catching up, blind)
	Equity     exchange.Amount     // account equity, for sizing
	TakerFee   exchange.Rate       // reserved on spot
	Collar     exchange.Rate       // how far through the price a spot exit may go
	Interval   exchange.Interval   // a protection moves at most once a candle
	Bridge     bool                // a moving stop is bridged: answers take time here
	Frozen     bool                // nothing but exits: what protects stays as it is
}

// Derive returns the few changes that make the wish true, given what is known.
// It is derived anew each round; nothing of an earlier round is replayed. The
// record, when there is one, prices the target and is not applied yet.
func (b *Book) Derive(w *Wish, nowMS int64) (intents []Intent, priced *Record) {
	truth := w.Truth
	if !truth.Read || truth.Rules == nil || truth.Last <= 0 {
		return nil, nil
	}
	d := &derivation{book: b, wish: w, truth: truth, nowMS: nowMS, plan: &w.State.Plan}
	d.sort()
	d.hold()
	if d.leverage() {
		return d.intents, nil
	}
	d.target()
	d.keyed(Order, d.plan.Orders, d.plan.OrdersSet)
	d.keyed(ExitOrder, d.plan.Exits, d.plan.ExitsSet)
	if !w.Frozen || truth.Position == 0 {
		d.protect()
	}
	if d.exiting && !mutant.Is(mutant.OpensBesideExit) { // by its plan or in the name of its protection: nothing opens beside it, and no resting exit takes its place
		d.intents = slices.DeleteFunc(d.intents, func(i Intent) bool { return i.Purpose.Opens() || i.Purpose == ExitOrder })
	}
	return d.intents, d.priced
}

// ExitOf returns what would close the whole position with nothing in its way.
func (b *Book) ExitOf(w *Wish, nowMS int64) []Intent {
	d := &derivation{book: b, wish: w, truth: w.Truth, nowMS: nowMS, plan: &w.State.Plan}
	if w.Truth.Rules == nil || w.Truth.Last <= 0 {
		return nil
	}
	d.sort()
	d.hold()
	d.intents = nil // a surplus order's cancel is derived already
	if d.held != 0 {
		d.reduceNow(abs(d.held), "the target is flat")
	}
	return d.intents
}

// Held is the part of a symbol's position that may be botd's to close.
func (b *Book) Held(truth *SymbolTruth) exchange.Quantity {
	d := &derivation{book: b, truth: truth}
	d.hold()
	return d.held
}

// derivation is the work of one Derive.
type derivation struct {
	book    *Book
	wish    *Wish
	truth   *SymbolTruth
	plan    *strategy.Plan
	nowMS   int64
	intents []Intent
	priced  *Record

	towards   []*Placement      // live Entry and Exit
	orders    []*Placement      // live Order and ExitOrder
	stops     []*Placement      // live StopLoss
	profits   []*Placement      // live TakeProfit
	held      exchange.Quantity // signed: the part of the position that is botd's
	unsettled bool              // a placement on the symbol whose acceptance is not known
	dusting   bool              // a rest too small for an order is closed by its protection
	exiting   bool              // this round exits the position
	unlevered bool              // the leverage is not the one wanted: nothing opens
}

func (d *derivation) sort() {
	d.orders = make([]*Placement, 0, len(d.book.live))
	for _, p := range d.book.live {
		if p.Order.Key() != d.truth.Key {
			continue // whatever is on the symbol is its strategy's, also what an earlier one left
		}
		if p.Surplus {
			d.cancel(p, "a second order under one client order id")
			continue
		}
		if p.Withdrawn != "" {
			d.cancel(p, "withdrawn by a person: "+p.Withdrawn)
		}
		d.unsettled = d.unsettled || p.State.Unresolved()
		switch p.Purpose {
		case Entry, Exit:
			d.towards = append(d.towards, p)
		case StopLoss:
			d.stops = append(d.stops, p)
		case TakeProfit:
			d.profits = append(d.profits, p)
		default:
			d.orders = append(d.orders, p)
		}
	}
}

// hold finds the part of the position that may be botd's: what its fills explain,
// and what its live orders may have made of that since. A stranger's part is not
// traded, and neither is a read older than the fills.
func (d *derivation) hold() {
	position, known := d.truth.Position, d.truth.Known
	if d.truth.Key.Market == exchange.Spot {
		d.held = max(0, position-d.book.sellsUnknown(d.truth))
		return
	}
	if position == known {
		d.held = position
		return
	}
	least, most := known, known
	for _, p := range d.book.live {
		switch {
		case p.Order.Key() != d.truth.Key:
		case p.Order.ClosePosition:
			least, most = min(least, 0), max(most, 0)
		case p.Order.Side == exchange.Buy:
			most += p.Remaining()
		default:
			least -= p.Remaining()
		}
	}
	d.held = max(least, min(most, position))
	switch {
	case signOf(d.held) != signOf(position):
		d.held = 0
	case abs(d.held) > abs(position):
		d.held = position
	}
}

func (d *derivation) add(intent Intent) {
	intent.Strategy, intent.Last, intent.Before = d.wish.State.Name, d.truth.Last, d.truth.Position
	intent.Order.Market, intent.Order.Symbol = d.truth.Key.Market, d.truth.Key.Name
	d.intents = append(d.intents, intent)
}

// cancel takes a placement out of the book, unless that was just asked.
func (d *derivation) cancel(p *Placement, reason string) {
	const again = 2_000 // ms; a cancel is idempotent by the venue's own rules
	if p.OrderID == 0 || p.CancelMS != 0 && d.nowMS-p.CancelMS < again {
		return
	}
	if slices.ContainsFunc(d.intents, func(i Intent) bool { return i.Purpose == Cancel && i.OrderID == p.OrderID }) {
		return // for another reason already
	}
	d.add(Intent{Purpose: Cancel, OrderID: p.OrderID, ClientID: p.ClientOrderID, Key: p.Key, Reason: reason})
}

// leverage asks for the leverage wanted before anything opens (case 32). It
// reports whether that must come first; beside a position or orders only what
// opens waits for it.
func (d *derivation) leverage() bool {
	w := d.wish
	if d.truth.Key.Market != exchange.Futures || w.Leverage == 0 || w.Leverage == d.truth.Leverage || !w.Entries || mutant.Is(mutant.LeverageUnconfirmed) {
		return false
	}
	if d.plan.Target.Sign() == 0 && len(d.plan.Orders) == 0 {
		return false
	}
	d.unlevered = d.truth.Position != 0 || len(d.towards)+len(d.orders) > 0
	if !d.unlevered || d.truth.Settled && !d.unsettled {
		d.add(Intent{Purpose: Leverage, Leverage: w.Leverage, Reason: "the leverage wanted"})
	}
	return !d.unlevered
}

// target converges the position: delta = target - position - signed in flight.
func (d *derivation) target() {
	target, position := d.plan.Target, d.held
	if target.Kind == strategy.NoTarget {
		return
	}
	sign := target.Sign()
	if sign == 0 || position != 0 && signOf(position) != sign && !mutant.Is(mutant.OppositeOpens) {
		d.exit(position, target)
		return
	}
	if d.wish.State.Latch == sign {
		return
	}
	resolved, ok := d.resolve(target)
	if !ok {
		return
	}
	delta := resolved - position - d.truth.Fees*exchange.Quantity(sign) // a target counts fills before fees
	for _, p := range d.towards {
		delta -= p.SignedRemaining()
	}
	switch {
	case delta == 0:
	case signOf(delta) == sign:
		d.enter(delta)
	default:
		// Only what is held already is reduced: an entry whose fill is not
		// known yet may be in the position and in flight at once.
		d.reduce(abs(position) + d.truth.Fees - abs(resolved))
	}
}

func signOf(q exchange.Quantity) int {
	switch {
	case q > 0:
		return 1
	case q < 0:
		return -1
	}
	return 0
}

// resolve prices the target once: when its first order is due and everything on
// the symbol is settled.
func (d *derivation) resolve(target strategy.Target) (exchange.Quantity, bool) {
	state, rules := d.wish.State, d.truth.Rules
	if state.Priced && state.Target == target {
		return state.Resolved, true
	}
	if !d.truth.Settled || len(d.towards) > 0 {
		return 0, false
	}
	var resolved exchange.Quantity
	switch target.Kind {
	case strategy.ByQuantity:
		resolved = rules.FloorQuantity(target.Quantity)
	case strategy.ByEquity:
		resolved = d.quantityFor(d.wish.Equity.MulRate(target.Share))
	case strategy.ByQuote:
		resolved = d.quantityFor(target.Quote)
	}
	if !d.wish.Entries && abs(resolved) >= abs(d.truth.Position) {
		return 0, false // nothing may open: it is priced when it may. A smaller position is reached all the same
	}
	d.priced = &Record{Kind: RecordResolved, AtMS: d.nowMS, Strategy: state.Name, Symbol: d.truth.Key, Target: target, Resolved: resolved}
	return resolved, true
}

// quantityFor is notional / last price, on spot with the taker fee reserved.
func (d *derivation) quantityFor(notional exchange.Amount) exchange.Quantity {
	if d.truth.Key.Market == exchange.Spot {
		notional = notional.MulDiv(int64(exchange.RateOne), int64(exchange.RateOne+d.wish.TakerFee))
	}
	return d.truth.Rules.QuantityFor(notional, d.truth.Last)
}

// exit closes the whole position, whatever is unknown: reducing is never
// blocked. Resting reduceOnly quantities go first, since their sum would refuse
// it; the closePosition stop stays until the exchange sweeps it.
func (d *derivation) exit(position exchange.Quantity, target strategy.Target) {
	for _, p := range d.towards {
		if p.Purpose == Entry && p.Order.Type == exchange.Limit {
			d.cancel(p, "the target is no longer on this side")
		}
	}
	if position == 0 {
		return
	}
	d.exiting = true
	if d.unsettled && mutant.Is(mutant.ExitBlocked) {
		return
	}
	for _, p := range d.towards {
		if p.Purpose == Exit && !d.again(p) {
			return // one exit at a time: derived anew when it has ended, or its answer was lost (case 20)
		}
	}
	if p := d.protecting(); p != nil && !d.again(p) {
		return
	}
	if d.clearResting() {
		return
	}
	reason := "the target is flat"
	if target.Sign() != 0 {
		reason = "the target changed side: first flat, then the other side"
	}
	if d.plan.Reason != "" {
		reason += ": " + d.plan.Reason
	}
	d.reduceNow(abs(position), reason)
}

// clearResting cancels what would stand in the way of a full exit, and reports
// whether to wait for that.
func (d *derivation) clearResting() bool {
	wait := false
	for _, p := range d.orders {
		if p.Order.ReduceOnly || d.truth.Key.Market == exchange.Spot && p.Order.Side == exchange.Sell {
			d.cancel(p, "makes room for the exit")
			wait = true
		}
	}
	for _, p := range d.stops { // a spot stop holds the asset, a bridging stop counts in the sum: their cancel is confirmed before any other exit
		if d.truth.Key.Market == exchange.Spot || p.Order.ReduceOnly && p.Order.Type != exchange.MarketOrder {
			d.cancel(p, "makes room for the exit")
			wait = wait || p.State != Uncertain || d.truth.Key.Market == exchange.Spot
		}
	}
	return wait
}

func abs(q exchange.Quantity) exchange.Quantity { return max(q, -q) }

// reduce makes the position smaller by part of it.
func (d *derivation) reduce(quantity exchange.Quantity) {
	if quantity <= 0 {
		return
	}
	if d.truth.Key.Market == exchange.Spot {
		if d.tooSmall(d.truth.Rules.FloorQuantity(min(quantity, abs(d.held)))) {
			return // no order can do it: what protects stays
		}
		d.exiting = true // the stop holds the asset that is sold: it comes back when that is done
	}
	for _, p := range d.towards {
		if p.Purpose == Exit {
			return // a part that is sent again could take more than was wished: its fate is waited for
		}
	}
	if d.protecting() != nil {
		return
	}
	if d.truth.Key.Market == exchange.Spot && d.clearResting() {
		return
	}
	if _, beside, _ := d.stopsOf(d.stops); beside != nil {
		return // a stop is moving, and its bridge holds the reduceOnly sum: a round or two
	}
	d.reduceNow(min(quantity, abs(d.held)), "the target is smaller")
}

func (d *derivation) reduceNow(quantity exchange.Quantity, reason string) {
	rules := d.truth.Rules
	quantity = d.capped(rules.FloorQuantity(quantity))
	if d.tooSmall(quantity) {
		d.closeDust(quantity, reason)
		return
	}
	order := exchange.NewOrder{Type: exchange.MarketOrder, Side: exchange.SideOf(-d.held), Quantity: quantity, ReduceOnly: true}
	if d.truth.Key.Market == exchange.Spot {
		// Spot MARKET sells are by USDT amount: base is sold by a limit through the collar.
		order.Type, order.ReduceOnly = exchange.Limit, false
		order.Price = rules.CeilPrice(d.truth.Last - share(d.truth.Last, d.wish.Collar))
	}
	d.add(Intent{Purpose: Exit, Order: order, Reason: reason})
}

// dust is the key of an order that closes what is too little for one of its own.
const dust = "dust"

// closeDust closes what is too small for an order of its own with a closePosition
// order a tick from the price; it is not looped on (case 36).
func (d *derivation) closeDust(quantity exchange.Quantity, reason string) {
	if d.truth.Key.Market == exchange.Spot || d.held == 0 || quantity < abs(d.held) || d.truth.Ignored != 0 {
		return
	}
	d.dusting = true
	for _, p := range slices.Concat(d.stops, d.profits) {
		if p.Key == dust && d.nowMS-p.SentMS < int64(d.wish.Interval) {
			return
		}
	}
	order := exchange.NewOrder{Type: exchange.StopMarket, Side: exchange.SideOf(-d.held), ClosePosition: true, WorkingType: exchange.ContractPrice}
	tick := -d.truth.Rules.PriceTick
	switch {
	case len(d.stops) == 0:
	case len(d.profits) == 0:
		order.Type, tick = exchange.TakeProfitMarket, -tick
	default:
		return // both stand already: whichever comes first closes it
	}
	if d.held < 0 {
		tick = -tick
	}
	order.StopPrice = d.truth.Rules.FloorPrice(d.truth.Last) + tick
	if order.StopPrice <= 0 {
		return
	}
	purpose := StopLoss
	if order.Type == exchange.TakeProfitMarket {
		purpose = TakeProfit
	}
	d.add(Intent{Purpose: purpose, Key: dust, Order: order, Reason: reason + "; too little for an order of its own"})
}

// capped bounds one order by the most the symbol allows; what is left follows in the next round.
func (d *derivation) capped(quantity exchange.Quantity) exchange.Quantity {
	return min(quantity, d.truth.Rules.QuantityFor(d.truth.Rules.MaxNotional, d.truth.Last))
}

func (d *derivation) tooSmall(quantity exchange.Quantity) bool {
	if mutant.Is(mutant.DustOrdered) {
		return quantity == 0
	}
	return quantity < d.truth.Rules.QuantityTick || d.truth.Rules.Notional(d.truth.Last, quantity).Less(d.truth.Rules.MinNotional)
}

// enter opens or adds: one opening at a time, and only when everything on the
// symbol is settled (class N).
func (d *derivation) enter(delta exchange.Quantity) {
	if !d.wish.Entries || !d.settled() || d.exiting || len(d.towards) > 0 && !mutant.Is(mutant.SeveralOpen) {
		return
	}
	quantity := d.capped(d.truth.Rules.FloorQuantity(abs(delta)))
	if d.tooSmall(quantity) {
		return // within one step, or below minNotional: reached
	}
	order := exchange.NewOrder{Type: exchange.MarketOrder, Side: exchange.SideOf(delta), Quantity: quantity}
	if d.truth.Key.Market == exchange.Spot {
		order.Quantity, order.QuoteAmount = 0, d.truth.Rules.Notional(d.truth.Last, quantity)
	}
	d.add(Intent{Purpose: Entry, Order: order, Reason: d.plan.Reason})
}

// cutMS is how long after its fence an unknown waits for a stable snapshot before
// the symbol's resting openings are canceled to get one (case 37).
const cutMS = 60_000

// refusedMS is how long a key rests after the exchange would not take its order,
// such as a post-only one that would have matched.
const refusedMS = 5_000

// keyed keeps the plan's resting orders in the book: what is not wished is
// canceled; a changed wish is canceled, confirmed, and its remainder placed.
func (d *derivation) keyed(purpose Purpose, wishes []strategy.Wish, set bool) {
	overdue := purpose == Order && d.book.Overdue(d.truth.Key, d.nowMS, cutMS) != nil
	wished, kept := d.book.places(d.plan, purpose), make([]bool, len(wishes))
	for _, p := range d.orders {
		if p.Purpose != purpose {
			continue
		}
		i := wished.of(p.Key)
		if i >= 0 {
			kept[i] = true // by another order perhaps: its end is waited for
		}
		if overdue {
			d.cancel(p, "fills all the time: out of the way of a stable snapshot")
			continue
		}
		if i < 0 || !d.sameOrder(p, &wishes[i]) {
			d.cancel(p, "not wished any more")
		}
	}
	if !set || d.exiting {
		return
	}
	for i := range wishes {
		if !kept[i] {
			d.keep(purpose, &wishes[i])
		}
	}
}

// settled reports whether nothing on the symbol is unknown: only then it opens.
func (d *derivation) settled() bool {
	return d.truth.Settled && !d.unsettled && !d.unlevered || mutant.Is(mutant.UnsettledOpens) || mutant.Is(mutant.SeveralOpen) ||
		mutant.Is(mutant.QuarantinedOpens) && d.truth.Quarantine != "" && !d.unsettled
}

func (d *derivation) sameOrder(p *Placement, w *strategy.Wish) bool {
	filled := d.wish.State.FilledUnder(p.Purpose, p.Key)
	return p.Order.Side == w.Side && p.Order.Price == w.Price && p.Order.StopPrice == w.StopPrice &&
		p.Remaining() <= w.Quantity-filled
}

// keep wishes an order for a wish that has none.
func (d *derivation) keep(purpose Purpose, w *strategy.Wish) {
	if purpose == Order && (!d.wish.Entries || !d.settled()) {
		return
	}
	if refused := d.wish.State.refusedUnder(purpose, w.Key); refused != 0 && d.nowMS-refused < refusedMS {
		return // the same order at once would be refused again (incident 54)
	}
	quantity := d.truth.Rules.FloorQuantity(w.Quantity - d.wish.State.FilledUnder(purpose, w.Key))
	if purpose == ExitOrder {
		quantity = min(quantity, d.reducible())
	}
	if quantity < d.truth.Rules.QuantityTick || d.truth.Rules.Notional(w.Price, quantity).Less(d.truth.Rules.MinNotional) {
		return
	}
	order := exchange.NewOrder{Type: exchange.Limit, Side: w.Side, Quantity: quantity, Price: w.Price, PostOnly: w.PostOnly,
		ReduceOnly: purpose == ExitOrder && d.truth.Key.Market == exchange.Futures}
	if w.StopPrice != 0 {
		order.Type, order.StopPrice, order.PostOnly = exchange.StopLimit, w.StopPrice, false
		if d.truth.Key.Market == exchange.Futures {
			order.WorkingType = exchange.ContractPrice
		}
	}
	d.add(Intent{Purpose: purpose, Key: w.Key, Order: order, Reason: d.plan.Reason})
}

// reducible is how much of the position no resting reducing order covers yet,
// those derived in this round included (rule 5).
func (d *derivation) reducible() exchange.Quantity {
	free := abs(d.held)
	for _, p := range d.orders {
		if p.Purpose == ExitOrder {
			free -= p.Remaining()
		}
	}
	for _, p := range d.stops { // a bridge counts in the sum, and on spot a stop holds the asset; closePosition orders have no quantity
		free -= p.Remaining()
	}
	for i := range d.truth.Foreign {
		if o := &d.truth.Foreign[i]; o.Reduces() && !o.ClosePosition {
			free -= o.Remaining()
		}
	}
	for i := range d.intents {
		if d.intents[i].Purpose == ExitOrder || d.intents[i].Purpose == Exit {
			free -= d.intents[i].Order.Quantity
		}
	}
	return d.truth.Rules.FloorQuantity(max(0, free))
}
