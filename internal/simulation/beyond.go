package simulation

import (
	"slices"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/runtime/reload"
)

// liveBounds are the W, D and L assumed for an exchange without measurements.
var liveBounds = placement.Bounds{WindowMS: 60_000, VisibilityMS: 45_000, StalenessMS: 15_000}

// liveQuietMS is the additional time that a run with live bounds needs to converge.
const liveQuietMS = 240_000

// beyond is the additional state of a run beyond the bounds: its classes and their episodes.
type beyond struct {
	w        *world
	draw     draw
	on       [ClassEnd]bool
	injected [ClassEnd]int64
	episodes []*episode
	noIDs    noIDs
	secondMS int64 // when the second botd started
	rulesMS  int64 // until then, botd cannot know rules that changed recently

	absences     *reload.Absences // of the files missing from a process
	absencesOf   int              // the life of the process that they belong to
	liquidations []liquidation    // liquidations so far
}

// episode is a period in which one class is in force.
type episode struct {
	class     Class
	way       int64              // variant of the class, drawn
	key       exchange.SymbolKey // affected symbol, if any
	operation exchange.Operation // affected call, if any
	chance    float64            // probability that a call is affected
	beganMS   int64
	untilMS   int64
	frozen    map[replicaKey]exchange.Answer // stale lists: their state when the episode began
}

// newBeyond draws the classes of a seed.
func newBeyond(w *world, options *Beyond) *beyond {
	b := &beyond{w: w, draw: newDraw(w.seed, 8)}
	var choice []Class
	for c := range HungStrategy { // HungStrategy runs alone, so that seeds draw the same values as before it existed
		if !slices.Contains(options.Except, c) {
			choice = append(choice, c)
		}
	}
	for range b.draw.between(1, 3) {
		if len(choice) > 0 {
			b.on[choice[b.draw.below(int64(len(choice)))]] = true
		}
	}
	if len(options.Only) > 0 {
		b.on = [ClassEnd]bool{}
		for _, c := range options.Only {
			b.on[c] = true
		}
	}
	b.noIDs = noIDs{b.draw.chance(0.6), b.draw.chance(0.6), b.draw.chance(0.4), []float64{1, 1, 0.5}[b.draw.below(3)]}
	return b
}

// fit adapts the strategies to the classes.
func (b *beyond) fit() {
	for i := range b.w.portfolio.roles {
		r := &b.w.portfolio.roles[i]
		if b.on[CatchUp] {
			r.kind, r.most, r.catchUp = "twap", r.unit*10, 1
			r.name = r.kind + "-" + r.key.Name + "-" + r.key.Market.String()
		}
		if b.on[VanishedFiles] {
			r.onRemove = "flatten"
		}
		if b.on[Liquidated] {
			r.protected = false // a stop would trigger first
		}
	}
}

// doubles reports whether the account may contain more orders or positions than one botd knows.
func (b *beyond) doubles() bool {
	return b.on[DoubleExecution] || b.on[ExecutedRefusal] || b.on[SecondEngine]
}

// drawMild draws additional faults, none of which delays a stop for longer than the judge allows.
func (b *beyond) drawMild() (weather Weather) {
	for _, mild := range []struct {
		fault Fault
		most  float64
	}{{PartialFill, 20}, {PriceJump, 1}, {Crash, 0.001}, {Stop, 0.2}, {Halt, 0.2}, {Pause, 0.3}} {
		if strength := b.draw.unit(); b.draw.chance(0.35) {
			weather[mild.fault] = float64(mild.most * strength)
		}
	}
	return weather
}

// begin schedules the first episode of each class.
func (b *beyond) begin() {
	for c := range ClassEnd {
		if b.on[c] {
			b.schedule(c, b.draw.between(0, 60_000))
		}
	}
}

func (b *beyond) schedule(c Class, afterMS int64) {
	b.w.put(scheduled{atMS: b.w.nowMS + afterMS, kind: happenClass, class: c})
}

// due begins an episode.
func (b *beyond) due(c Class) {
	w := b.w
	if w.quiet {
		return
	}
	lasts := []int64{b.draw.between(1_000, 5_000), b.draw.between(5_000, 30_000), b.draw.between(30_000, 120_000)}[b.draw.below(3)]
	e := &episode{class: c, way: b.draw.below(60), key: w.venue.keys[b.draw.below(int64(len(w.venue.keys)))],
		chance: []float64{1, 1, 0.5}[b.draw.below(3)], beganMS: w.nowMS, untilMS: min(w.nowMS+lasts, w.quietMS)}
	b.schedule(c, lasts+b.draw.between(1_000, 60_000))
	if !b.start(e) {
		return
	}
	b.injected[c]++
	b.episodes = append(b.episodes, e)
	w.say("%s: way %d, %s %s, for %d ms", c, e.way, e.key, e.operation, e.untilMS-w.nowMS)
	w.put(scheduled{atMS: e.untilMS, kind: happenClassOver, episode: e})
}

// start performs the initial action of a class in an episode. It returns false without a target.
func (b *beyond) start(e *episode) bool {
	w := b.w
	switch e.class {
	case HungReads:
		e.operation = hanging[e.way%int64(len(hanging))]
	case LyingPositions, LyingWallet, LyingOrders, LyingHistory:
		e.freeze(w)
	case ChangedRules:
		return b.changeRules(e)
	case Transfers:
		return b.transfer(e)
	case Suspended, CatchUp:
		if !w.daemon.listens() {
			return false
		}
		w.daemon.suspend(e.untilMS)
	case SecondEngine:
		return b.startSecond(e)
	case LostJournal:
		return b.loseJournal(e)
	case CutJournal:
		return b.cutJournal(e)
	case VanishedFiles:
		return b.vanish(e)
	case Liquidated:
		return b.liquidate()
	}
	return true
}

// end ends an episode.
func (b *beyond) end(e *episode) {
	b.episodes = slices.DeleteFunc(b.episodes, func(other *episode) bool { return other == e })
	if d := b.w.daemon; d.up && d.pausedMS > b.w.nowMS && (e.class == LostJournal || e.class == CutJournal) { // the watch is suspended too
		b.w.put(scheduled{atMS: d.pausedMS + 1, kind: happenClassOver, episode: e})
		return
	}
	switch e.class {
	case ChangedRules:
		b.rulesMS = b.w.nowMS + patienceMS
		b.w.judge.setLimits() // botd may follow the previous rules for a while
		b.w.restoreRules()
	case SecondEngine:
		b.endSecond()
	case LostJournal, CutJournal:
		b.noticeLoss()
	case VanishedFiles:
		b.reappear()
	}
	b.w.say("%s is over", e.class)
}

// serve answers a request as an exchange beyond the bounds.
func (b *beyond) serve(f *flight) (exchange.Answer, error) {
	w, request := b.w, &f.call.Request
	if b.symbolLost(request) {
		f.excused = true
		return exchange.Answer{}, noSuchSymbol(request)
	}
	if request.Operation.Places() {
		return b.place(f)
	}
	answer, err := w.venue.do(w, f)
	for _, e := range b.episodes {
		if err == nil && !request.Operation.Changes() {
			err = e.distort(b, f, &answer)
		}
	}
	if err == nil && b.on[NoIDs] && !w.quiet {
		b.noIDs.strip(b, request.Operation, &answer)
	}
	return answer, err
}

// place executes a placement zero, one or two times, and accepts or refuses it.
func (b *beyond) place(f *flight) (exchange.Answer, error) {
	w, request := b.w, &f.call.Request
	for _, e := range b.episodes {
		if e.class == RefusedOrders && e.refuses(request) {
			f.placed.refused++
			f.excused = true
			return exchange.Answer{}, refusalOf(request, e.way)
		}
	}
	answer, err := w.venue.do(w, f)
	if err != nil {
		f.excused = w.nowMS < b.rulesMS
		return answer, err
	}
	for _, e := range b.episodes {
		switch {
		case e.class == DoubleExecution && b.draw.chance(float64(e.chance/2)):
			w.say("executed twice: %s", w.describe(request))
			if _, err := w.venue.do(w, f); err != nil {
				w.say("the second time: %v", err)
			}
		case e.class == ExecutedRefusal && b.draw.chance(float64(e.chance/2)):
			w.say("executed, and refused: %s", w.describe(request))
			f.excused = true
			return exchange.Answer{}, refusalOf(request, e.way)
		}
	}
	return answer, nil
}

// refuses reports whether an episode refuses a placement: stops, exits, all orders on one symbol, or every order.
func (e *episode) refuses(request *exchange.Request) bool {
	order := &request.Order
	switch e.way % 4 {
	case 0:
		return order.Type.StopLoss()
	case 1:
		return order.Reduces() || order.Market == exchange.Spot && order.Side == exchange.Sell
	case 2:
		return order.Key() == e.key
	}
	return true
}

// refusalOf returns one of the refusals that an exchange may answer regardless of what it executed.
func refusalOf(request *exchange.Request, way int64) *exchange.Refusal {
	refusal := &exchange.Refusal{Operation: request.Operation, Status: 400, Code: 2999, Message: "system busy"}
	if way%3 == 0 {
		refusal.Status, refusal.Code, refusal.Message = 403, 2998, "forbidden"
	}
	return refusal
}

// hanging are the reads that can hang.
var hanging = []exchange.Operation{exchange.FuturesAccount, exchange.FuturesOpenOrders, exchange.FuturesOpenPositions, exchange.FuturesTicker,
	exchange.SpotOpenOrders, exchange.SpotWallet, exchange.SpotTicker, exchange.FuturesCandles, exchange.SpotCandles, exchange.FuturesOrder}

// leavesUnanswered reports whether a read remains unanswered.
func (b *beyond) leavesUnanswered(request *exchange.Request) bool {
	return b != nil && slices.ContainsFunc(b.episodes, func(e *episode) bool { return e.class == HungReads && e.operation == request.Operation })
}

// symbolLost reports whether a request is about a symbol that the exchange has lost.
func (b *beyond) symbolLost(request *exchange.Request) bool {
	for _, e := range b.episodes {
		if e.class != LostSymbol || e.key.Market != request.Operation.Market() {
			continue
		}
		if request.Symbol == e.key.Name || request.Operation.Places() && request.Order.Symbol == e.key.Name {
			return true
		}
	}
	return false
}

// lost reports whether the exchange no longer lists a symbol.
func (b *beyond) lost(key exchange.SymbolKey) bool {
	return b != nil && slices.ContainsFunc(b.episodes, func(e *episode) bool { return e.class == LostSymbol && e.key == key })
}

func noSuchSymbol(request *exchange.Request) *exchange.Refusal {
	code := exchange.CodeFuturesInvalidSymbol
	if request.Operation.Market() == exchange.Spot {
		code = exchange.CodeSpotInvalidSymbol
	}
	return &exchange.Refusal{Operation: request.Operation, Status: 400, Code: code, Message: "invalid symbol"}
}

// counts returns how many episodes each class had; -1 for a class that is off.
func (b *beyond) counts() (counts [ClassEnd]int64) {
	for c := range ClassEnd {
		if counts[c] = b.injected[c]; !b.on[c] {
			counts[c] = -1
		}
	}
	return counts
}
