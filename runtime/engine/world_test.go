package engine

import (
	"fmt"
	"slices"
	"testing"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// The constants are times between engine and exchange, in milliseconds.
const (
	wayMS     = 10     // one way; the way back takes as long
	timeoutMS = 10_000 // for an answer that never comes
)

var (
	bitcoin = exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}
	coin    = exchange.SymbolKey{Market: exchange.Spot, Name: "BTC-USDT"}
)

// scripted is a strategy defined by a test.
type scripted func(view *strategy.View, plan *strategy.Plan)

func (scripted) Warmup() int                                       { return 0 }
func (scripted) Candle(*strategy.View)                             {}
func (s scripted) Decide(view *strategy.View, plan *strategy.Plan) { s(view, plan) }
func hold(q exchange.Quantity) func(*strategy.View, *strategy.Plan) {
	return func(_ *strategy.View, plan *strategy.Plan) {
		plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: q}, "a test")
	}
}

// fate is the network's treatment of a call.
type fate struct {
	lost   bool  // the request never arrives
	silent bool  // it is executed, and the answer never comes
	lateMS int64 // it arrives that much later, after its answer was given up
	twice  bool  // it is executed twice
	err    error // the answer, without an execution
	longMS int64 // the answer comes that much later
}

// world is an engine over the simulated exchange in virtual time, with a network and a disk that a test can
// break. It checks the invariants of every case.
type world struct {
	t       testing.TB
	venue   *sim.Exchange
	now     int64
	config  Config
	engine  *Engine
	records []record.Record
	disk    error
	cut     int  // the process dies when that many records are durable; 0 for never
	slow    bool // the append in flight takes until journaled is given
	queue   []due
	network func(*Call) fate       // fate of each call; nil for a working network
	mirror  func(*exchange.Answer) // changes the content of reads; nil for nothing
	answers func(*Ask) *thought    // the answer of a strategy that is asked off the engine; nil for immediately
	asked   []Ask
	killed  []int64 // questions that were abandoned
	notes   []Note
	sent    []exchange.NewOrder
	refused []string // client order ids that the venue refused
	out     Effects
	lifes   int64
	began   map[string]exchange.Quantity // spot: the account's initial holding of an asset, in units of its USDT pair
}

type due struct {
	atMS  int64
	life  int64 // of the process it belongs to: a dead process takes no answer
	event Event
	call  *Call
}

type option func(*world)

// newWorld starts an engine whose strategy follows the plan on futures BTC-USDT.
func newWorld(t testing.TB, plan func(*strategy.View, *strategy.Plan), options ...option) *world {
	t.Helper()
	venue, err := sim.New(sim.Config{Symbols: sim.DefaultSymbols(), StartMS: startMS, OrderDelayMS: sim.DefaultOrderDelayMS})
	if err != nil {
		t.Fatal(err)
	}
	if err := venue.AddAccount(sim.DefaultAccount("one")); err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, venue: venue, now: startMS, began: map[string]exchange.Quantity{}}
	for _, symbol := range sim.DefaultSymbols() {
		if symbol.Market == exchange.Spot {
			free, _ := venue.Balance("one", symbol.Base)
			w.began[symbol.Base] = symbol.FloorQuantity(symbol.QuantityOf(free))
		}
	}
	w.config = Config{
		Instance:     "t",
		BusyRoundMS:  1_000,
		IdleRoundMS:  15_000,
		CloseLagMS:   2_000,
		TimeToLiveMS: 5_000,
		Foreign:      "halt",
		TakerFee:     100_000,
		Bounds:       placement.Bounds{WindowMS: 5_000, VisibilityMS: 1_000, StalenessMS: 1_000},
		Strategies: []StrategyConfig{
			{Name: "one", Strategy: scripted(plan), Symbol: venue.Symbol(bitcoin), Interval: exchange.Minute1, Schedule: each(1000), Leverage: 10},
		},
	}
	for _, o := range options {
		o(w)
	}
	w.start()
	return w
}

func onSpot(w *world) {
	w.config.Strategies[0].Symbol, w.config.Strategies[0].Leverage = w.venue.Symbol(coin), 0
}

func breaks(w *world) {
	w.config.Breaker = BreakerConfig{Uncertain: 3, WithinMS: 600_000, PauseMS: 600_000, EmptyEndings: 3, EmptyPauseMS: 45_000}
}

func foreign(policy string) option { return func(w *world) { w.config.Foreign = policy } }

func protected(w *world) {
	w.config.Strategies[0].Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: exchange.RateOne / 50}}
}

// start starts a process from the journal. Requests in flight of the earlier process still reach the
// exchange, but their answers reach nobody.
func (w *world) start() {
	w.t.Helper()
	w.lifes++
	tracker := reconcile.NewTrackerWithoutLedger(w.config.Bounds)
	if w.config.Ledger {
		tracker = reconcile.NewTracker(w.config.Bounds)
	}
	for i := range w.records {
		tracker.Apply(&w.records[i])
	}
	config := w.config
	config.Epoch, config.Random = tracker.Epoch()+1, placement.RandomFrom(uint64(w.lifes))
	var err error
	if w.engine, err = New(config, tracker); err != nil {
		w.t.Fatal(err)
	}
	w.give(&EventStart{})
}

// give passes one event and schedules its effects.
func (w *world) give(event Event) {
	for event != nil {
		w.out.Reset()
		w.engine.Handle(w.now, event, &w.out)
		checkRecalled(w.t, w.engine)
		w.notes = append(w.notes, w.out.Notes...)
		for _, call := range w.out.Calls {
			w.queue = append(w.queue, due{w.now + wayMS, w.lifes, nil, &call})
		}
		w.think()
		event = nil
		if len(w.out.Records) > 0 {
			if w.cut > 0 && len(w.records)+len(w.out.Records) >= w.cut { // the process dies after that many records
				w.records = append(w.records, w.out.Records[:w.cut-len(w.records)]...)
				w.cut = 0
				w.start()
				return
			}
			if w.slow {
				w.records = append(w.records, w.out.Records...)
				return
			}
			if w.disk == nil {
				w.records = append(w.records, w.out.Records...)
			}
			event = &EventJournaled{Err: w.disk}
		}
	}
}

// pass lets time pass.
func (w *world) pass(ms int64) {
	w.t.Helper()
	for until := w.now + ms; ; {
		next := until
		for i := range w.queue {
			next = min(next, w.queue[i].atMS)
		}
		if n := w.engine.NextMS(); n < next {
			next = n
		}
		if moment, ok := w.venue.NextMS(); ok {
			next = min(next, moment)
		}
		w.now = max(w.now, next)
		w.venue.Advance(w.now)
		i := slices.IndexFunc(w.queue, func(d due) bool { return d.atMS <= w.now })
		switch {
		case i >= 0:
			d := w.queue[i]
			w.queue = slices.Delete(w.queue, i, i+1)
			w.deliver(d)
		case w.engine.NextMS() <= w.now:
			w.give(&EventWake{})
		case w.now >= until:
			return
		}
	}
}

// deliver passes a request to the exchange, or an answer to the engine.
func (w *world) deliver(d due) {
	if d.event != nil {
		if d.life == w.lifes {
			w.give(d.event)
		}
		return
	}
	if d.call.ID == 0 { // a late or duplicate request: nobody waits for its answer
		w.do(d.call)
		return
	}
	var f fate
	if w.network != nil {
		f = w.network(d.call)
	}
	event := &EventAnswer{CallID: d.call.ID}
	answerMS := w.now + wayMS + f.longMS
	switch {
	case f.err != nil:
		event.Err = f.err
	case f.lost, f.lateMS > 0:
		event.Err, answerMS = w.lost(d.call), w.now+timeoutMS
	default:
		event.Answer, event.Err = w.do(d.call)
		if f.silent {
			event.Answer, event.Err, answerMS = exchange.Answer{}, w.lost(d.call), w.now+timeoutMS
		}
	}
	late := *d.call
	late.ID = 0
	if f.lateMS > 0 {
		w.queue = append(w.queue, due{w.now + f.lateMS, d.life, nil, &late})
	}
	if f.twice {
		w.queue = append(w.queue, due{w.now + 1, d.life, nil, &late})
	}
	w.queue = append(w.queue, due{answerMS, d.life, event, nil})
}

func (w *world) lost(call *Call) error {
	if call.Request.Operation.Places() {
		return &exchange.Uncertain{Reason: "timeout"}
	}
	return &exchange.Unavailable{Operation: call.Request.Operation, Reason: "timeout"}
}

// do executes a request, and checks its invariants.
func (w *world) do(call *Call) (exchange.Answer, error) {
	if order := call.Request.Order; call.Request.Operation.Places() {
		if !slices.ContainsFunc(w.records, func(r record.Record) bool {
			return r.Kind() == record.KindSending && r.ClientOrderID == order.ClientOrderID
		}) {
			w.t.Errorf("%s was sent before its record was durable", order.ClientOrderID)
		}
		if call.ID != 0 && slices.ContainsFunc(w.sent, func(o exchange.NewOrder) bool { return o.ClientOrderID == order.ClientOrderID }) {
			w.t.Errorf("%s was sent twice", order.ClientOrderID)
		}
		w.sent = append(w.sent, order)
	}
	answer, err := w.venue.Do("one", &call.Request)
	if err != nil && call.Request.Operation.Places() {
		w.refused = append(w.refused, call.Request.Order.ClientOrderID+": "+err.Error())
	}
	if w.mirror != nil && err == nil && !call.Request.Operation.Changes() {
		w.mirror(&answer)
	}
	return answer, err
}

// manually does what the user does outside botd.
func (w *world) manually(request exchange.Request) exchange.Order {
	w.t.Helper()
	answer, err := w.venue.Do("one", &request)
	if err != nil {
		w.t.Fatal(err)
	}
	w.pass(20)
	return answer.Order
}

func (w *world) market(side exchange.Side, quantity exchange.Quantity, reduce bool) exchange.Request {
	return exchange.Request{Operation: exchange.FuturesPlace, Order: exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: side,
		Type: exchange.MarketOrder, Quantity: quantity, ReduceOnly: reduce}}
}

func (w *world) price(text string) {
	w.t.Helper()
	for _, key := range []exchange.SymbolKey{bitcoin, coin} {
		p, err := w.venue.Symbol(key).Price(decimal.RequireFromString(text))
		if err != nil {
			w.t.Fatal(err)
		}
		if err := w.venue.SetPrice(key, p, 0); err != nil {
			w.t.Fatal(err)
		}
	}
}

// held is the exchange's position, in quantity steps.
func (w *world) held() exchange.Quantity {
	p, _ := w.venue.Position("one", "BTC-USDT")
	return p.Signed() / w.venue.Symbol(bitcoin).QuantityTick
}

func (w *world) wantHeld(steps exchange.Quantity) {
	w.t.Helper()
	if have := w.held(); have != steps {
		w.t.Errorf("position: want %d steps, have %d\n%s", steps, have, w.story())
	}
}

func (w *world) wantSent(n int) {
	w.t.Helper()
	if len(w.sent) != n {
		w.t.Errorf("placements sent: want %d, have %d\n%s", n, len(w.sent), w.story())
	}
}

// wantState expects a declared state in force, with its cause, and a remedy.
func (w *world) wantState(state string) Degraded {
	w.t.Helper()
	for _, d := range w.engine.Degraded() {
		if d.State != state {
			continue
		}
		if d.Cause == "" || d.SinceMS == 0 || d.Remedy == "" {
			w.t.Errorf("a declared state has a cause, a time and a remedy: have %+v", d)
		}
		return d
	}
	w.t.Errorf("want declared %s, have %+v\n%s", state, w.engine.Degraded(), w.story())
	return Degraded{}
}

func (w *world) wantSound() {
	w.t.Helper()
	if all := w.engine.Degraded(); len(all) > 0 {
		w.t.Errorf("want nothing declared, have %+v", all)
	}
}

func (w *world) symbol() *reconcile.SymbolState {
	return w.engine.Tracker().Track(w.config.Strategies[0].Symbol.Key())
}

// ended returns how a placement ended, by the journal: its state and evidence.
func (w *world) ended(i int) (placement.State, string) {
	for _, r := range w.records {
		if ended, ok := r.Body.(record.Ended); ok && i < len(w.sent) && r.ClientOrderID == w.sent[i].ClientOrderID {
			return ended.State, ended.Evidence
		}
	}
	return 0, ""
}

// story formats the journal for a failing test.
func (w *world) story() string {
	text := ""
	for _, r := range w.records {
		text += fmt.Sprintf("  %+7.3f %-12s %s\n", float64(r.AtMS-startMS)/1000, r.Kind(), r.Summary())
	}
	return text
}

// once breaks the next placement only.
func once(f fate) func(*Call) fate { return nth(1, f) }

// first executes the first placement and all that follows immediately, and replaces its answer by an error.
func (w *world) first(err error, follows func(exchange.Answer)) func(*Call) fate {
	return func(call *Call) fate {
		if !call.Request.Operation.Places() || len(w.sent) > 0 {
			return fate{}
		}
		w.venue.Advance(w.now)
		answer, failure := w.do(call)
		if failure != nil {
			w.t.Error(failure)
		}
		if follows != nil {
			follows(answer)
		}
		return fate{err: err}
	}
}

// nth breaks the n-th placement only.
func nth(n int, f fate) func(*Call) fate {
	return func(call *Call) fate {
		if !call.Request.Operation.Places() {
			return fate{}
		}
		if n--; n == 0 {
			return f
		}
		return fate{}
	}
}

// every breaks every placement.
func every(f fate) func(*Call) fate {
	return func(call *Call) fate {
		if call.Request.Operation.Places() {
			return f
		}
		return fate{}
	}
}
