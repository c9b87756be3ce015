package simulation

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/reconcile"
	"botd/risk"
	"botd/runtime/engine"
	"botd/strategy"
)

var (
	bitcoin = exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}
	coin    = exchange.SymbolKey{Market: exchange.Spot, Name: "BTC-USDT"}
)

// stage is a scenario: one strategy whose plan the scenario sets, with a network and a
// disk whose faults the scenario injects. The inspector checks it like every seed.
type stage struct {
	t          testing.TB
	w          *world
	key        exchange.SymbolKey
	role       role
	plan       func(*strategy.View, *strategy.Plan)
	injections []injection
	forge      func(*flight)
	config     sim.AccountConfig
	limits     risk.Limits
	trace      bytes.Buffer
	uneven     bool // the run ends in a declared state that only a person can end
	lagging    bool // a replica may lag by more than the time between two snapshots
	far        func(least, most int64) int64
}

// injection is a fault for the next calls that match.
type injection struct {
	fault Fault
	match func(*flight) bool
	left  int
}

type staged func(*stage)

func onSpot(s *stage)  { s.key = coin }
func lagging(s *stage) { s.lagging = true }

// latest makes everything take as long as its bound allows; calls wait in the queue for nearly their time to
// live.
func latest(s *stage) {
	s.far = func(_, most int64) int64 {
		if most > timeToLiveMS && most < timeToLiveMS+1_000 {
			return timeToLiveMS - 100
		}
		return most - 10
	}
}
func protected(s *stage) { s.role.protected = true }
func limited(most exchange.Quantity) staged {
	return func(s *stage) { s.role.most = most }
}
func poor(usdt int64) staged {
	return func(s *stage) { s.config.FuturesUSDT = exchange.AmountOf(usdt) }
}
func within(limits risk.Limits) staged {
	return func(s *stage) { s.limits = limits }
}

// actor takes its plan from the scenario.
type actor struct{ s *stage }

func (actor) Warmup() int                                       { return 0 }
func (actor) Candle(*strategy.View)                             {}
func (a actor) Decide(view *strategy.View, plan *strategy.Plan) { a.s.plan(view, plan) }

// newStage starts a daemon whose strategy follows the plan.
func newStage(t testing.TB, plan func(*strategy.View, *strategy.Plan), options ...staged) *stage {
	t.Helper()
	s := &stage{t: t, key: bitcoin, plan: plan, forge: func(*flight) {}}
	s.role = role{name: "one", kind: "scripted", unit: 10, most: 100_000, schedule: 1_000}
	for _, o := range options {
		o(s)
	}
	s.role.key, s.role.scripted = s.key, actor{s}
	weather := Weather{}
	weather[StaleRead] = 1 // lists are saved, so that a scenario can return them later
	s.w = newWorld(Options{Seed: 1, Trace: &s.trace, Weather: &weather, script: &script{
		portfolio: s.portfolio, injects: s.injects, foreign: reconcile.ForeignHalt, far: s.far,
		forge:   func(f *flight) { s.forge(f) },
		account: func(c *sim.AccountConfig) { s.change(c) }, limits: s.limits,
	}})
	s.w.quietMS = never
	if s.lagging {
		s.w.bounds, s.w.configured = bounds[1], configuredBounds(bounds[1])
	}
	s.price("50000")
	return s
}

func (s *stage) change(config *sim.AccountConfig) {
	if !s.config.FuturesUSDT.IsZero() {
		config.FuturesUSDT = s.config.FuturesUSDT
	}
}

func (s *stage) portfolio() *portfolio {
	c := &portfolio{unit: map[exchange.SymbolKey]exchange.Quantity{s.key: 10}, anchor: map[exchange.SymbolKey]exchange.Price{}, roles: []role{s.role}}
	for _, symbol := range market {
		if symbol.Key() == s.key {
			fresh := *symbol
			c.symbols, c.original = []*exchange.Symbol{&fresh}, []*exchange.Symbol{symbol}
		}
	}
	return c
}

// injects decides for each possible fault whether it is injected into a call.
func (s *stage) injects(f Fault, call *flight) bool {
	for i := range s.injections {
		if injection := &s.injections[i]; injection.fault == f && injection.left > 0 && injection.match(call) {
			injection.left--
			return true
		}
	}
	return false
}

// inject injects a fault into the next calls that match.
func (s *stage) inject(f Fault, times int, match func(*flight) bool) {
	s.injections = append(s.injections, injection{f, match, times})
}

func placing(f *flight) bool { return f.call.Request.Operation.Places() }

func asking(operations ...exchange.Operation) func(*flight) bool {
	return func(f *flight) bool {
		for _, o := range operations {
			if f.call.Request.Operation == o {
				return true
			}
		}
		return false
	}
}

func anything(*flight) bool { return true }

// heal ends all faults.
func (s *stage) heal() { s.injections, s.forge, s.w.outageMS = nil, func(*flight) {}, 0 }

// pass advances time by some seconds.
func (s *stage) pass(seconds float64) {
	s.t.Helper()
	s.w.endMS = s.w.nowMS + int64(seconds*1000)
	s.w.loop()
	if s.w.failure != nil {
		s.t.Fatalf("want %s to hold, have: %s\n%s", s.w.failure.Rule, s.w.failure.Text, s.story())
	}
}

// until advances time until something has happened.
func (s *stage) until(what string, happened func() bool) {
	s.t.Helper()
	for range 60_000 {
		if happened() {
			return
		}
		s.pass(0.002)
	}
	s.t.Fatalf("want %s within two minutes\n%s", what, s.story())
}

// story returns the end of the trace.
func (s *stage) story() string {
	lines := strings.Split(s.trace.String(), "\n")
	return strings.Join(lines[max(0, len(lines)-90):], "\n")
}

func (s *stage) crash() { s.w.crash("as the scenario requires") }

func (s *stage) restart() {
	s.t.Helper()
	s.crash()
	life := s.w.daemon.life
	s.until("a start", func() bool { return s.w.daemon.up && s.w.daemon.life > life })
}

// price moves the price, through stops and limits on the way.
func (s *stage) price(text string) {
	s.t.Helper()
	price, err := s.w.venue.held[s.key].rules.Price(decimal.RequireFromString(text))
	if err == nil {
		err = s.w.venue.x.SlideTo(s.key, price)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.w.venue.takeFills(s.w)
}

// manualTrade trades at market on the trader, as a person would.
func (s *stage) manualTrade(side exchange.Side, quantity exchange.Quantity, reduce bool) {
	s.t.Helper()
	operation := exchange.FuturesPlace
	order := exchange.NewOrder{Market: s.key.Market, Symbol: s.key.Name, Side: side, Type: exchange.MarketOrder, Quantity: quantity, ReduceOnly: reduce}
	if s.key.Market == exchange.Spot {
		last, _ := s.w.venue.x.Price(s.key)
		operation, order.Quantity, order.QuoteAmount = exchange.SpotPlace, 0, s.w.venue.held[s.key].rules.Notional(last, quantity)
	}
	if _, err := s.w.venue.x.Do(trader, &exchange.Request{Operation: operation, Symbol: s.key.Name, Order: order}); err != nil {
		s.t.Fatal(err)
	}
	s.w.venue.held[s.key].touch(s.w.nowMS, quantity)
	s.w.venue.takeFills(s.w)
}

// take fills a part of a resting order by a counterparty, after making it the best one.
func (s *stage) take(orderID int64, quantity exchange.Quantity) {
	s.t.Helper()
	order := s.order(orderID)
	counterparty, price := seller, order.Price+200*s.w.venue.held[s.key].rules.PriceTick
	if order.Side == exchange.Sell {
		counterparty, price = buyer, order.Price-200*s.w.venue.held[s.key].rules.PriceTick
	}
	if err := s.w.venue.x.SlideTo(s.key, price); err != nil {
		s.t.Fatal(err)
	}
	s.w.venue.x.SetMarket(s.key, sim.Still(sim.StillConfig{SpreadTicks: 1_000, Price: price}))
	operation := exchange.FuturesPlace
	if s.key.Market == exchange.Spot {
		operation = exchange.SpotPlace
	}
	if _, err := s.w.venue.x.Do(counterparty, &exchange.Request{Operation: operation, Symbol: s.key.Name,
		Order: exchange.NewOrder{Market: s.key.Market, Symbol: s.key.Name,
			Side: order.Side.Opposite(), Type: exchange.Limit, Price: order.Price, Quantity: quantity}}); err != nil {
		s.t.Fatal(err)
	}
	s.pass(0.5)
}

// cancel cancels one of botd's orders, as a person would.
func (s *stage) cancel(orderID int64) {
	s.t.Helper()
	operation := exchange.FuturesCancel
	if s.key.Market == exchange.Spot {
		operation = exchange.SpotCancel
	}
	if _, err := s.w.venue.x.Do(trader, &exchange.Request{Operation: operation, Symbol: s.key.Name, OrderID: orderID}); err != nil {
		s.t.Fatal(err)
	}
}

// orders returns the account's open orders, the oldest first.
func (s *stage) orders() (open []exchange.Order) {
	s.w.venue.x.EachOpenOrder(trader, s.key.Market, func(o *exchange.Order) { open = append(open, *o) })
	return open
}

func (s *stage) order(id int64) exchange.Order {
	s.t.Helper()
	for _, o := range s.orders() {
		if o.ID == id {
			return o
		}
	}
	s.t.Fatalf("order %d is not open\n%s", id, s.story())
	return exchange.Order{}
}

func (s *stage) stops() (n int) {
	for _, o := range s.orders() {
		if o.Type.StopLoss() {
			n++
		}
	}
	return n
}

func (s *stage) tracker() *reconcile.Tracker   { return s.w.daemon.machine.Tracker() }
func (s *stage) state() *reconcile.SymbolState { return s.tracker().Symbol(s.key) }
func (s *stage) held() exchange.Quantity       { return s.w.venue.held[s.key].position }

// sent counts the placements that match and whose first byte went out.
func (s *stage) sent(match func(*placed) bool) (n int) {
	for _, a := range s.w.venue.placed {
		if a.sends > 0 && match(a) {
			n++
		}
	}
	return n
}

func opening(a *placed) bool  { return a.opens }
func exiting(a *placed) bool  { return a.order.ReduceOnly && a.order.Type == exchange.MarketOrder }
func stopping(a *placed) bool { return a.order.Type.StopLoss() }
func every(*placed) bool      { return true }

func want[T comparable](s *stage, what string, want, have T) {
	s.t.Helper()
	if want != have {
		s.t.Errorf("%s: want %v, have %v\n%s", what, want, have, s.story())
	}
}

// wantHeld expects a position, on the exchange and in the tracker.
func (s *stage) wantHeld(q exchange.Quantity) {
	s.t.Helper()
	want(s, "position on the exchange", q, s.held())
	want(s, "position in the book", q, s.state().Known())
}

func (s *stage) wantState(state string) engine.Degraded {
	s.t.Helper()
	for _, d := range s.w.daemon.machine.Degraded() {
		if d.State == state && d.Cause != "" && d.SinceMS != 0 && d.Remedy != "" {
			return d
		}
	}
	s.t.Errorf("want declared %s, have %+v\n%s", state, s.w.daemon.machine.Degraded(), s.story())
	return engine.Degraded{}
}

func (s *stage) wantSound() {
	s.t.Helper()
	if all := s.w.daemon.machine.Degraded(); len(all) > 0 {
		s.t.Errorf("want nothing declared, have %+v\n%s", all, s.story())
	}
}

// contradicted states that the exchange contradicts itself, so that only a person can resolve the state.
func (s *stage) contradicted() {
	s.uneven = true
	s.w.venue.held[s.key].touch(s.w.nowMS, 0)
}

// person sends the daemon a user action.
func (s *stage) person(event engine.Event) { s.w.daemon.handle(event) }

// finish ends all faults and expects everything to converge.
func (s *stage) finish() {
	s.t.Helper()
	s.heal()
	s.w.endFaults()
	s.pass(90)
	if s.uneven {
		return
	}
	if s.w.inspector.converged(); s.w.failure != nil {
		s.t.Errorf("want %s to hold in the end, have: %s\n%s", s.w.failure.Rule, s.w.failure.Text, s.story())
	}
}

// hold plans a position.
func hold(q exchange.Quantity) func(*strategy.View, *strategy.Plan) {
	return func(_ *strategy.View, plan *strategy.Plan) {
		plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: q}, fmt.Sprint("hold ", q))
	}
}

// bids plans a bid of ten at each price, in whole USDT.
func bids(prices ...int64) func(*strategy.View, *strategy.Plan) {
	return func(view *strategy.View, plan *strategy.Plan) {
		plan.OrdersSet, plan.Reason = true, "bids"
		for _, p := range prices {
			price, _ := view.Symbol.Price(decimal.NewFromInt(p))
			plan.Orders = append(plan.Orders, strategy.DesiredOrder{Key: fmt.Sprint(p), Side: exchange.Buy, Price: price, Quantity: 10})
		}
	}
}
