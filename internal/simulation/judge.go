package simulation

import (
	"fmt"
	"math"

	"botd/exchange"
	"botd/internal/oracle"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// finest is the number of the oracle's units in one unit of a symbol: fees of small fills are fractions.
const finest = 1_000

// patienceMS is the time that a position may be without a stop after a read has shown it.
const patienceMS = 5_000

// maxReadAgeMS bounds the age of the read on which an exit is based: a round each second, and its duration.
const maxReadAgeMS = 1_200

// slowMS is the duration of an append above which the disk explains a delayed stop.
const slowMS = 100

// judge feeds the oracle with the account's orders and trades, and with the data that botd read. It is the only judge of a run beyond the bounds.
type judge struct {
	w         *world
	oracle    *oracle.Oracle
	open      map[int64]bool // orders on the exchange; false until the current scan finds them
	refusals  map[exchange.SymbolKey]*refusals
	baseline  map[string]exchange.Amount // of the spot wallet at the start
	minute    map[exchange.SymbolKey]*budget
	reported  int
	dust      map[exchange.SymbolKey]dust
	readRules map[exchange.SymbolKey]*exchange.Symbol // rules as botd read them last

	unnamed      map[int64]unnamed                        // spot purchases of the other process that no row has identified to the first one
	named        map[int64]bool                           // orders of the other process that a row has identified
	met          [2]bool                                  // the process has read an order of the other one
	liquidations map[int64]bool                           // positions whose liquidation botd journalled
	stopped      map[exchange.SymbolKey]bool              // by a liquidation, and not rearmed since
	atOnce       map[exchange.SymbolKey]exchange.Quantity // an opening that both processes sent in one moment, while it exceeds the ordinary bound
}

func newJudge(w *world) *judge {
	patience := int64(math.MaxInt64 / 2) // within the bounds the inspector judges protection
	if w.beyond != nil {
		patience = patienceMS
	}
	j := &judge{w: w, oracle: oracle.New(patience), open: map[int64]bool{}, refusals: map[exchange.SymbolKey]*refusals{},
		baseline: map[string]exchange.Amount{}, minute: map[exchange.SymbolKey]*budget{}, dust: map[exchange.SymbolKey]dust{},
		readRules:    map[exchange.SymbolKey]*exchange.Symbol{},
		liquidations: map[int64]bool{}, stopped: map[exchange.SymbolKey]bool{}, atOnce: map[exchange.SymbolKey]exchange.Quantity{},
		unnamed: map[int64]unnamed{}, named: map[int64]bool{}}
	for _, key := range w.venue.keys {
		free, frozen := w.venue.x.Balance(trader, w.venue.held[key].rules.Base)
		j.baseline[w.venue.held[key].rules.Base], j.minute[key], j.refusals[key] = free.Add(frozen), &budget{}, &refusals{}
	}
	j.setLimits()
	return j
}

func marketOf(symbol oracle.Symbol) exchange.Market {
	if symbol.Spot {
		return exchange.Spot
	}
	return exchange.Futures
}

func nameOf(key exchange.SymbolKey) oracle.Symbol {
	return oracle.Symbol{Spot: key.Market == exchange.Spot, Name: key.Name}
}

// setLimits sets each symbol's bounds. Within the bounds only additions by others may exceed the limit.
func (j *judge) setLimits() {
	for i := range j.w.portfolio.roles {
		r := &j.w.portfolio.roles[i]
		h := j.w.venue.held[r.key]
		limits := oracle.Limits{Position: int64(r.limit()+h.slack) * finest, Protected: r.protected}
		if j.w.beyond != nil {
			limits.Placement = int64(max(r.largest(), j.atOnce[r.key])) * finest
		}
		if r.key.Market == exchange.Spot {
			limits.Position += int64(h.rules.QuantityTick) * finest // fees are booked in whole steps, rounded up
			limits.Dust = int64(j.dustOf(r.key)) * finest
			limits.Rest = int64(maxRest*h.rules.QuantityTick) * finest
		}
		j.oracle.Judge(nameOf(r.key), limits)
	}
}

// Botd may use the rules of a symbol as it last read them: a quantity step for up to a minute, and a minimum
// notional for some seconds, since it reads the rules every three seconds while the position is below the
// minimum.
const (
	readStepMS    = 60_000 + patienceMS
	readMinimumMS = 10_000 + patienceMS
)

// dust is the smallest order that a symbol's rules accept, and the time until which botd may use it.
type dust struct {
	notional   exchange.Amount
	tick       exchange.Quantity
	notionalMS int64
	tickMS     int64
}

// dustOf returns the quantity that is too small for an order at the present price, by the present rules or by those that botd may have read last.
func (j *judge) dustOf(key exchange.SymbolKey) exchange.Quantity {
	rules, have := j.w.venue.held[key].rules, j.dust[key]
	last, _ := j.w.venue.x.Price(key)
	if !rules.MinNotional.Less(have.notional) || j.w.nowMS >= have.notionalMS {
		have.notional, have.notionalMS = rules.MinNotional, j.w.nowMS+readMinimumMS
	}
	if rules.QuantityTick >= have.tick || j.w.nowMS >= have.tickMS {
		have.tick, have.tickMS = rules.QuantityTick, j.w.nowMS+readStepMS
	}
	j.dust[key] = have
	return rules.QuantityFor(have.notional.MulRate(exchange.RateOne*11/10), max(last, 1)) + have.tick
}

// largest returns the quantity of the role's largest opening.
func (r *role) largest() exchange.Quantity {
	if r.kind == "swing" || r.kind == "patient" || r.kind == "library" || r.kind == "scripted" {
		return r.limit()
	}
	return r.unit + r.unit/10
}

// accepted passes an order that the exchange accepted to the oracle.
func (j *judge) accepted(id int64, own, repeated bool, order *exchange.NewOrder) {
	quantity := order.Quantity
	if h := j.w.venue.held[order.Key()]; !order.QuoteAmount.IsZero() {
		last, _ := j.w.venue.x.Price(order.Key())
		quantity = h.rules.QuantityFor(order.QuoteAmount, max(last, 1))
	}
	j.open[id] = true
	for key := range j.atOnce {
		j.endAtOnce(key)
	}
	j.setLimits()
	j.allowAtOnce(id, order.Key(), quantity)
	j.oracle.Accepted(j.w.nowMS, oracle.Order{ID: id, Own: own, Repeated: repeated, Symbol: nameOf(order.Key()), Buy: order.Side == exchange.Buy,
		Quantity: int64(quantity) * finest, Stop: order.Type.StopLoss(), ReduceOnly: order.ReduceOnly, ClosePosition: order.ClosePosition})
}

// filled passes an execution to the oracle. A spot fee in the base asset reduces the position.
func (j *judge) filled(key exchange.SymbolKey, orderID int64, side exchange.Side, quantity exchange.Quantity, fee exchange.Amount, feeAsset string) {
	rules := j.w.venue.held[key].rules
	net := int64(quantity) * finest
	if key.Market == exchange.Spot && feeAsset == rules.Base {
		net -= int64(rules.QuantityOf(fee.Mul(finest)))
	}
	if _, known := j.open[orderID]; !known && orderID != 0 { // a person's order, filled at once
		j.oracle.Accepted(j.w.nowMS, oracle.Order{ID: orderID, Symbol: nameOf(key), Buy: side == exchange.Buy, Quantity: net})
	}
	j.oracle.Filled(j.w.nowMS, oracle.Fill{OrderID: orderID, Symbol: nameOf(key), Buy: side == exchange.Buy, Quantity: net})
	if a := j.w.venue.byOrder[orderID]; a != nil && a.by != 0 && key.Market == exchange.Spot && !j.named[orderID] {
		if side == exchange.Sell { // the quantity that both botds knew is not unnamed
			net = -min(net, max(0, j.sumUnnamed(key)))
		}
		j.unnamed[orderID] = unnamed{key, j.unnamed[orderID].quantity + net}
		j.countUnnamed(key)
	}
}

// observe compares the exchange's open orders with the oracle's.
func (j *judge) observe() {
	for id := range j.open {
		j.open[id] = false
	}
	for _, market := range []exchange.Market{exchange.Futures, exchange.Spot} {
		j.w.venue.x.EachOpenOrder(trader, market, func(o *exchange.Order) {
			if _, known := j.open[o.ID]; !known {
				j.accepted(o.ID, j.w.venue.byOrder[o.ID] != nil, j.w.venue.repeated(o.ID), &exchange.NewOrder{
					Market: o.Market, Symbol: o.Symbol, Side: o.Side, Type: o.Type, Quantity: o.Quantity, QuoteAmount: o.QuoteAmount,
					ReduceOnly: o.Reduces() && !o.ClosePosition, ClosePosition: o.ClosePosition})
			}
			j.open[o.ID] = true
		})
	}
	for id, found := range j.open {
		if !found {
			delete(j.open, id)
			j.oracle.Ended(j.w.nowMS, id)
		}
	}
	j.setLimits()
}

// refusals count the consecutive stops and exits of a symbol that the exchange refused without a fault in them.
type refusals struct {
	count   int
	untilMS int64 // botd may wait until then
}

// longestWaitMS bounds botd's wait before it sends a refused stop again.
const longestWaitMS = 60_000

// recordAnswer records the responses to the first process: the results of its stops, and the positions it read.
func (j *judge) recordAnswer(f *flight) {
	request := &f.call.Request
	j.meet(f)
	j.name(f)
	if j.w.process.number != 0 {
		return
	}
	if request.Operation.Places() && !opens(&request.Order) { // an exit can replace a stop
		switch r := j.refusals[request.Order.Key()]; {
		case f.err == nil && request.Order.Type.StopLoss():
			*r = refusals{}
		case f.excused:
			r.count++
			r.untilMS = j.w.nowMS + min(longestWaitMS, int64(1_000)<<min(r.count-1, 10))
		}
	}
	if f.err != nil {
		return
	}
	switch request.Operation {
	case exchange.FuturesOpenPositions:
		for _, p := range f.answer.Positions.Items() {
			if p.Remaining > 0 {
				j.oracle.Shown(j.w.nowMS, f.stateMS, oracle.Symbol{Name: p.Symbol})
			}
		}
	case exchange.FuturesSymbols, exchange.SpotPairs:
		for _, s := range f.answer.Symbols.Items() {
			j.readRules[s.Key()] = s
		}
	case exchange.SpotWallet:
		for _, b := range f.answer.Balances.Items() {
			j.shownWallet(&b, f.stateMS)
		}
	}
}

// meet records that a response shows one process an order of the other one. Orders in both journals reveal neither process.
func (j *judge) meet(f *flight) {
	if len(j.w.processes) < 2 || f.err != nil || !f.answer.Orders.Done() || j.met[j.w.process.number] {
		return
	}
	for i := range f.answer.Orders.Items() {
		a := j.w.venue.byOrder[f.answer.Orders.Items()[i].ID]
		if a != nil && a.by != j.w.process.number && a.sentMS >= j.w.beyond.secondMS {
			j.met[j.w.process.number] = true
		}
	}
}

// peerSold reports whether the other process, or botd's own stop, has just reduced the same position: no read has
// shown a change between the exit and the read on which it is based.
func (j *judge) peerSold(key exchange.SymbolKey, side exchange.Side) bool {
	if filledMS := j.w.venue.held[key].filledMS; filledMS != 0 && j.w.nowMS-filledMS <= maxReadAgeMS {
		return true
	}
	for _, other := range j.w.venue.placed {
		if other.by != j.w.process.number && other.order.Key() == key && other.order.Side == side && !other.opens && j.w.nowMS-other.sentMS <= patienceMS {
			return true
		}
	}
	return false
}

// unaware reports whether a spot sale coincides with a sale of the same units by the other process that no
// read could have shown. Two botds with copies of one journal both know the units as theirs and each sells
// them once, just as both enter if they decide at the same moment (exactly-once.md, case 34).
func (j *judge) unaware(a *placed) bool {
	if len(j.w.processes) < 2 || j.met[a.by] || a.order.Market != exchange.Spot || a.order.Side != exchange.Sell {
		return false
	}
	for _, other := range j.w.venue.placed {
		if other.by != a.by && other.order.Key() == a.order.Key() && other.order.Side == exchange.Sell && other.sentMS >= j.w.beyond.secondMS &&
			a.sentMS-other.sentMS <= patienceMS {
			return true
		}
	}
	return false
}

// shownWallet records a balance of stateMS that exceeds the initial one by more than a remainder.
func (j *judge) shownWallet(b *exchange.Balance, stateMS int64) {
	for _, key := range j.w.venue.keys {
		rules := j.w.venue.held[key].rules
		if key.Market != exchange.Spot || rules.Base != b.Asset {
			continue
		}
		last, _ := j.w.venue.x.Price(key)
		least := rules.QuantityAmount(rules.QuantityFor(rules.MinNotional, max(last, 1)))
		if b.Free.Add(b.Frozen).Sub(j.baseline[b.Asset]).Cmp(least) > 0 {
			j.oracle.Shown(j.w.nowMS, stateMS, nameOf(key))
		}
	}
}

// restarted forgets the reads of a process that died. A start has read the rules of its symbols.
func (j *judge) restarted() {
	if j.w.process.number == 0 {
		j.oracle.Restarted(j.w.nowMS)
		for _, r := range j.w.daemon.roles {
			j.readRules[r.key] = r.config.Symbol
		}
		if j.w.disk.lostMS != 0 { // the halts are lost with the journal
			clear(j.stopped)
		}
	}
}

// check lets the oracle judge the present state.
func (j *judge) check() {
	w := j.w
	for _, key := range w.venue.keys {
		slow := w.disk.writing && w.nowMS-w.disk.beganMS > slowMS
		if !w.daemon.up || w.daemon.stopping || w.daemon.pausedMS > w.nowMS || w.outageMS > w.nowMS || slow || j.refusals[key].untilMS > w.nowMS ||
			w.beyond.lost(key) || !w.venue.held[key].rules.Tradable || key.Market == exchange.Spot && w.disk.forgot(w.daemon) {
			j.oracle.Excused(w.nowMS, nameOf(key))
		}
	}
	j.oracle.Advance(w.nowMS)
	for _, v := range j.oracle.Violations()[j.reported:] {
		j.reported++
		if v.Rule == "oversold" && w.beyond == nil { // the inspector makes allowances for a copy of the order or of the journal
			continue
		}
		j.fail(exchange.SymbolKey{Market: marketOf(v.Symbol), Name: v.Symbol.Name}, v.Rule, v.Text)
	}
}

func (j *judge) fail(key exchange.SymbolKey, rule, text string) {
	if w := j.w; w.failure == nil {
		w.fail(rule, "%s: %s", key, text)
		w.failure.Spot = key.Market == exchange.Spot
	}
}

// maxInAMinute bounds the placements of a symbol within a minute.
const maxInAMinute = 60

// sent counts a placement beyond the bounds.
func (j *judge) sent(order *exchange.NewOrder) {
	if n := j.minute[order.Key()].count(j.w.nowMS, 60_000); n > maxInAMinute {
		j.fail(order.Key(), "unbounded", fmt.Sprintf("%d placements within a minute", n))
	}
	if role := j.w.portfolio.role(j.w.portfolio.of(order.Key())); role != nil && role.catchUp == 1 && opens(order) {
		j.paced(role, order)
	}
	d, lostMS := j.w.daemon, j.w.disk.lostMS
	if lostMS > d.bootMS && opens(order) && j.w.nowMS-max(lostMS, d.wokenMS) > watchMS+slowMS {
		j.fail(order.Key(), "lost_journal", fmt.Sprintf("%s opens %d ms after the journal was lost", order.ClientOrderID, j.w.nowMS-lostMS))
	}
}

// paced checks that slices missed in a pause are sent one at a time: at most a slice, or the smallest order, and a quantity step, by
// the present rules or by those that botd read last.
func (j *judge) paced(r *role, order *exchange.NewOrder) {
	rules, quantity := j.w.venue.held[r.key].rules, order.Quantity
	last, _ := j.w.venue.x.Price(r.key)
	if !order.QuoteAmount.IsZero() {
		quantity = rules.QuantityFor(order.QuoteAmount, max(last, 1))
	}
	notional, step := rules.MinNotional, rules.QuantityTick
	if shown := j.readRules[r.key]; shown != nil {
		notional, step = notional.Max(shown.MinNotional), max(step, shown.QuantityTick)
	}
	least := rules.QuantityFor(notional, max(last, 1))
	if most := max(r.unit, least) * 12 / 10; quantity > most+step {
		j.fail(r.key, "paced", fmt.Sprintf("%s opens %d at once, a slice is %d", order.ClientOrderID, quantity, r.unit))
	}
}

// liquidated checks botd's reaction to a liquidation: its strategy opens nothing until a person rearms it.
func (j *judge) liquidated(r *record.Record) {
	switch body := r.Body.(type) {
	case record.Liquidated:
		j.liquidations[body.PositionID] = true
		j.stopped[r.Symbol] = true
	case record.Halt:
		for key := range j.stopped {
			if body.Level == record.LevelNone && (r.Strategy == "" || r.Strategy == j.w.portfolio.of(key)) {
				delete(j.stopped, key)
			}
		}
	case record.Sending:
		if j.stopped[r.Symbol] && opens(&body.Order) {
			j.fail(r.Symbol, "liquidated", r.ClientOrderID+" opens after a liquidation, and nobody armed the strategy")
		}
	}
}

// declares reports whether the first process declares a state for a strategy's symbol.
func (j *judge) declares(r *role) bool {
	for _, d := range j.w.daemon.machine.Degraded() {
		if d.Scope.Covers(r.name, r.key) {
			return true
		}
	}
	return false
}

// launched checks a placement that the first process sends: missing data alone does not justify an exit.
func (j *judge) launched(order *exchange.NewOrder) {
	p := j.w.daemon.machine.Tracker().Placement(order.ClientOrderID)
	if p == nil || p.Purpose() != placement.Exit || j.w.process.number > 0 {
		return
	}
	key, name := p.Symbol(), p.Strategy()
	w, story := j.w, j.w.inspector.story
	h, role := w.venue.held[key], w.portfolio.role(name)
	if h == nil || h.botds() == 0 || role == nil || role.absent || story.halted(name, key) || story.latched[name] != 0 || w.daemon.stopping {
		return
	}
	target := w.daemon.machine.Tracker().Strategy(name).Plan().Target()
	if j.missing(h, target) && !j.peerSold(key, order.Side) {
		j.fail(key, "sold_missing", fmt.Sprintf("%s exits at market: the target is %d, the position %d", order.ClientOrderID, target.Quantity, h.botds()))
	}
}

// missing reports whether botd's position is not above a target on its side, so that an exit has no reason.
func (j *judge) missing(h *held, target strategy.Target) bool {
	position := h.botds()
	return target.Kind == strategy.ByQuantity && target.Quantity != 0 && (target.Quantity > 0) == (position > 0) && position.Abs() <= target.Quantity.Abs()
}

// converged checks the end of a run: the tracker agrees with the exchange, or a state is declared.
func (j *judge) converged() {
	w := j.w
	if !w.daemon.up {
		w.fail("converged", "the process is not up")
		return
	}
	tracker := w.daemon.machine.Tracker()
	for _, one := range w.beyond.liquidations {
		if r := w.portfolio.role(w.portfolio.of(one.key)); !j.liquidations[one.positionID] && !j.declares(r) {
			j.fail(one.key, "liquidation", fmt.Sprintf("position %d was liquidated: no record shows it, and no state is declared", one.positionID))
		}
	}
	for i := range w.portfolio.roles {
		r := &w.portfolio.roles[i]
		h, state := w.venue.held[r.key], tracker.Symbol(r.key)
		if j.declares(r) || h.recent(w.nowMS, w.bounds.StalenessMS) {
			continue
		}
		for p := range tracker.Live() {
			if p.Symbol() == r.key && p.State().OutcomeUncertain() && w.nowMS-p.SentMS() > recentMS {
				j.fail(r.key, "converged", fmt.Sprintf("%s is still %s, and no state is declared", p.ClientOrderID(), p.State()))
			}
		}
		if r.key.Market == exchange.Futures && state.Known()+state.Ignored() != h.position {
			j.fail(r.key, "converged", fmt.Sprintf("the book holds %d, the exchange %d, and no state is declared", state.Known(), h.position))
		}
	}
}

// role returns the strategy with a name.
func (c *portfolio) role(name string) *role {
	for i := range c.roles {
		if c.roles[i].name == name {
			return &c.roles[i]
		}
	}
	return nil
}
