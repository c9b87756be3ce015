package risk

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// TestApprovedIntentsAreAcceptedByExchange draws an account with positions, resting orders, foreign orders,
// and placements that are in flight or uncertain, and lets the gate judge random intents. It sends each
// approved intent in every world that those placements may have led to: each uncertain one absent, accepted,
// or accepted and filled; each resting order at the best price filled or not.
//
// The exchange must accept an opening in all of them. It may refuse a reducing or protecting order for one
// reason only: its position is closed already.
func TestApprovedIntentsAreAcceptedByExchange(t *testing.T) {
	t.Parallel()
	counts := map[string]int{}
	for range 60 { // -rapid.checks N makes N scenes of each
		checkScenes(t, counts)
	}
	for _, kind := range []string{"approved entry", "approved order", "approved exit", "approved exit_order", "approved stop_loss",
		"approved take_profit", "approved leverage", "worlds", "repeats refused"} {
		if counts[kind] == 0 {
			t.Errorf("%s: want some, have none: %v", kind, counts)
		}
	}
	t.Log(counts)
}

func checkScenes(t *testing.T, counts map[string]int) {
	rapid.Check(t, func(r *rapid.T) {
		s := drawScene(r)
		for range 6 {
			intent := s.drawIntent(r)
			if _, rejection := s.gate.Check(&intent, s.facts(&intent)); rejection != nil {
				counts["refused "+rejection.Rule]++
				continue
			}
			counts["approved "+intent.Purpose.String()]++
			s.everyWorld(func(w *world) { w.mustAccept(r, s, &intent, counts) })
			if s.limbo() < 4 && rapid.Bool().Draw(r, "send it") {
				s.send(r, intent)
			}
		}
	})
}

// fate is the outcome of a placement since the last fetch.
type fate int

const (
	absent fate = iota
	accepted
	filled // accepted and filled
	fates
)

// limboOrder is a placement of which the tracker does not know the outcome or the current fill.
type limboOrder struct {
	placement *account.Placement
	order     exchange.NewOrder
	arrived   bool  // it is on the exchange already, in every world
	id        int64 // its id if arrived
}

// scene holds what the tracker knows, and what is needed to build the worlds that are consistent with it.
type scene struct {
	gate    *Gate
	tracker *reconcile.Tracker
	fee     exchange.Rate
	opened  []exchange.Request // sent to the exchange before the fetch, in order, all accepted
	resting []limboOrder       // botd's, seen in the order book at the best price: may have filled since
	sent    []limboOrder       // sent after the fetch
	count   int
	symbols []*exchange.Symbol
	wallet  sim.AccountConfig
	prices  map[exchange.SymbolKey]exchange.Price
}

// world is one exchange that is consistent with the scene.
type world struct {
	*sim.Exchange
	fates []fate
}

const me, other = "me", "other"

func (s *scene) newWorld() *world {
	x, err := sim.New(sim.Config{Symbols: s.symbols, StartMS: 1_700_000_000_000})
	if err != nil {
		panic(err)
	}
	for _, symbol := range s.symbols {
		x.SetMarket(symbol.Key(), sim.Still(sim.StillConfig{SpreadTicks: 1, Price: s.prices[symbol.Key()]}))
	}
	rich := sim.DefaultAccount(other)
	rich.FuturesUSDT, rich.Spot = exchange.AmountOf(1_000_000_000), map[string]exchange.Amount{"USDT": exchange.AmountOf(1_000_000_000),
		"BTC": exchange.AmountOf(100_000)}
	if err := errors.Join(x.AddAccount(s.wallet), x.AddAccount(rich)); err != nil {
		panic(err)
	}
	for i := range s.opened {
		if _, err := x.Do(me, &s.opened[i]); err != nil {
			panic(fmt.Sprintf("a step that was accepted is refused: %v", err))
		}
	}
	return &world{Exchange: x}
}

func newScene(symbols []*exchange.Symbol, limits Limits) *scene {
	s := &scene{
		gate: NewGate(limits), symbols: symbols, fee: 100_000, wallet: sim.DefaultAccount(me), prices: map[exchange.SymbolKey]exchange.Price{},
		tracker: reconcile.NewTracker(placement.Bounds{WindowMS: 5_000, VisibilityMS: 1_000, StalenessMS: 1_000}),
	}
	for _, symbol := range s.symbols {
		s.prices[symbol.Key()] = startPrice(symbol)
	}
	return s
}

// drawScene opens positions and orders on an exchange, fetches them into a tracker, and then sends some
// placements.
func drawScene(r *rapid.T) *scene {
	percent := exchange.RateOne / 100
	s := newScene(sim.DefaultSymbols(), Limits{PriceCollar: rapid.SampledFrom([]exchange.Rate{0, 5 * percent}).Draw(r, "collar")})
	s.wallet.FuturesUSDT = exchange.AmountOf(rapid.SampledFrom([]int64{10, 200, 3_000, 500_000}).Draw(r, "futures"))
	s.wallet.Spot = map[string]exchange.Amount{"USDT": exchange.AmountOf(rapid.SampledFrom([]int64{0, 50, 90, 400, 3_000}).Draw(r, "usdt")),
		"BTC": exchange.MustAmount(rapid.SampledFrom([]string{"0", "0.01", "2"}).Draw(r, "btc"))}
	s.wallet.FeeFromQuote = rapid.Bool().Draw(r, "fee from quote")
	x := s.newWorld()
	s.openWorld(r, x)
	s.fetch(x)
	for range rapid.IntRange(0, 8).Draw(r, "in flight") {
		intent := s.drawIntent(r)
		if _, rejection := s.gate.Check(&intent, s.facts(&intent)); rejection == nil && s.limbo() < 4 {
			s.send(r, intent)
		}
	}
	return s
}

func startPrice(symbol *exchange.Symbol) exchange.Price {
	usdt := map[string]string{"BTC": "50000", "ETH": "2500", "SOL": "100", "PEPE": "0.00001"}[symbol.Base]
	price := exchange.MustAmount(usdt)
	return symbol.FloorPrice(symbol.PriceOf(price))
}

// openWorld sends the random requests to the exchange with which the scene begins.
func (s *scene) openWorld(r *rapid.T, x *world) {
	do := func(request exchange.Request) bool {
		_, err := x.Do(me, &request)
		if err == nil {
			s.opened = append(s.opened, request)
		}
		return err == nil
	}
	for range rapid.IntRange(0, 6).Draw(r, "steps before") {
		symbol := s.drawSymbol(r)
		if symbol.Market == exchange.Futures && rapid.IntRange(0, 3).Draw(r, "set leverage") == 0 {
			do(exchange.Request{Operation: exchange.FuturesSetLeverage, Symbol: symbol.Name, Leverage: rapid.SampledFrom([]int{1, 5, 20, 50}).Draw(r,
				"leverage before")})
			continue
		}
		intent := s.drawIntentOn(r, symbol, x)
		if rapid.IntRange(0, 2).Draw(r, "a position first") == 0 {
			intent.Purpose, intent.Order.Type, intent.Order.Price, intent.Order.StopPrice = placement.Entry, exchange.MarketOrder, 0, 0
			intent.Order.ReduceOnly, intent.Order.ClosePosition, intent.Order.PostOnly, intent.Order.WorkingType = false, false, false, 0
			intent.Order.Quantity = symbol.QuantityFor(exchange.AmountOf(rapid.SampledFrom([]int64{10, 90, 1_500, 100_000}).Draw(r, "position")),
				s.prices[symbol.Key()])
		}
		if intent.Purpose == placement.Leverage {
			continue
		}
		s.count++
		intent.Order.ClientOrderID = fmt.Sprintf("btest-1-%d", s.count)
		foreign := rapid.IntRange(0, 5).Draw(r, "foreign") == 0
		if foreign {
			intent.Order.ClientOrderID = "by hand"
		}
		if do(requestOf(&intent)) && !foreign {
			s.journal(intent)
		}
	}
}

// journal records a placement in the tracker as sent.
func (s *scene) journal(intent reconcile.Intent) *account.Placement {
	order := intent.Order
	s.tracker.Apply(&record.Record{Strategy: "one", Symbol: order.Key(), ClientOrderID: order.ClientOrderID, AtMS: 1, Body: record.Sending{Order: order,
		Purpose: intent.Purpose, Key: intent.Key}})
	return s.tracker.Placement(order.ClientOrderID)
}

// fetch takes a snapshot of the exchange into the tracker.
func (s *scene) fetch(x *world) {
	do := func(request exchange.Request) exchange.Answer {
		answer, err := x.Do(me, &request)
		if err != nil {
			panic(err)
		}
		return answer
	}
	for _, symbol := range s.symbols {
		state := s.tracker.Track(symbol.Key())
		see(state, func(o *seen) {
			o.Rules, o.Last, o.Mark, o.LastMS = symbol, s.prices[symbol.Key()], s.prices[symbol.Key()], x.NowMS()
		})
	}
	for _, setting := range do(exchange.Request{Operation: exchange.FuturesLeverages}).Leverages.Items() {
		see(s.tracker.Track(exchange.SymbolKey{Market: exchange.Futures, Name: setting.Symbol}), func(o *seen) { o.Leverage = setting.Leverage })
	}
	account := do(exchange.Request{Operation: exchange.FuturesAccount}).Account
	snapshot := &reconcile.Snapshot{BeganMS: x.NowMS(), EndedMS: x.NowMS(), Account: &account,
		FuturesOrders: do(exchange.Request{Operation: exchange.FuturesOpenOrders}).Orders,
		SpotOrders:    do(exchange.Request{Operation: exchange.SpotOpenOrders}).Orders,
		Positions:     do(exchange.Request{Operation: exchange.FuturesOpenPositions}).Positions,
		Balances:      do(exchange.Request{Operation: exchange.SpotWallet}).Balances,
		History:       do(exchange.Request{Operation: exchange.SpotOrderHistory}).Orders}
	for _, state := range x.AllOrders() {
		if p := s.tracker.Placement(state.ClientOrderID); p != nil && state.Account == me {
			s.tracker.Apply(&record.Record{ClientOrderID: state.ClientOrderID, Body: record.Acknowledged{OrderID: state.ID}})
			if state.Market == exchange.Futures && state.Status.Final() {
				snapshot.ByID = append(snapshot.ByID, reconcile.OrderByID{OrderID: state.ID, Order: state.Order, Known: true})
			}
		}
	}
	s.tracker.Observe(snapshot)
	for p := range s.tracker.Live() {
		if p.Order().Type == exchange.Limit && p.Order().Price == s.bestFor(p.Order()) {
			s.resting = append(s.resting, limboOrder{placement: p, order: p.Order(), arrived: true, id: p.OrderID()})
		}
	}
}

// bestFor returns the price at which a resting order is first in the order book.
func (s *scene) bestFor(order exchange.NewOrder) exchange.Price {
	state := s.tracker.Track(order.Key())
	return state.Last() - state.Rules().PriceTick*exchange.Price(order.Side.Sign())
}

func (s *scene) limbo() int { return len(s.sent) + len(s.resting) }

// send sends an approved intent. Its answer arrives, is outstanding, or is lost.
func (s *scene) send(r *rapid.T, intent reconcile.Intent) {
	if intent.Purpose == placement.Leverage {
		return
	}
	s.count++
	intent.Order.ClientOrderID = fmt.Sprintf("btest-2-%d", s.count)
	placement := s.journal(intent)
	entry := limboOrder{placement: placement, order: intent.Order}
	switch rapid.IntRange(0, 2).Draw(r, "answer") {
	case 0: // acknowledged: it is on the exchange in every world
		entry.arrived = true
		s.tracker.Apply(&record.Record{ClientOrderID: placement.ClientOrderID(), Body: record.Acknowledged{OrderID: 1_000_000 + int64(s.count)}})
	case 1:
		s.tracker.Apply(&record.Record{ClientOrderID: placement.ClientOrderID(), Body: record.Uncertain{}})
	}
	s.sent = append(s.sent, entry)
}

// everyWorld builds each world that is consistent with the scene. It skips a world in which the exchange
// refuses an acknowledged order.
func (s *scene) everyWorld(visit func(*world)) {
	total := 1
	for range s.limbo() {
		total *= int(fates)
	}
	for n := range total {
		fated, possible := make([]fate, s.limbo()), true
		for i, rest := 0, n; i < len(fated); i, rest = i+1, rest/int(fates) {
			fated[i] = fate(rest % int(fates))
			arrived := i < len(s.resting) || s.sent[i-len(s.resting)].arrived
			possible = possible && (fated[i] != absent || !arrived)
		}
		if !possible {
			continue
		}
		if w := s.newWorld(); w.live(s, fated) {
			visit(w)
		}
	}
}

// live replays what happened since the fetch. It returns false if the world is impossible.
func (w *world) live(s *scene, fated []fate) bool {
	w.fates = fated
	for i, l := range append(slices.Clone(s.resting), s.sent...) {
		if fated[i] == absent {
			continue
		}
		if i >= len(s.resting) {
			request := requestOf(&reconcile.Intent{Purpose: l.placement.Purpose(), Order: l.order})
			if _, err := w.Do(me, &request); err != nil {
				return false // of class I or R, and too late: refused, as if absent
			}
		}
		if fated[i] == filled {
			w.fill(s, l.order)
		}
	}
	return true
}

// fill lets another account take the order at the best price.
func (w *world) fill(s *scene, order exchange.NewOrder) {
	if order.Type != exchange.Limit || order.Price != s.bestFor(order) {
		return
	}
	taker := exchange.NewOrder{Market: order.Market, Symbol: order.Symbol, Side: order.Side.Opposite(), Type: exchange.Limit, Price: order.Price,
		Quantity: order.Quantity}
	request := requestOf(&reconcile.Intent{Purpose: placement.Entry, Order: taker})
	_, _ = w.Do(other, &request) // it may be refused because of the other account's own position: then nothing filled
}

// mustAccept sends the approved intent.
func (w *world) mustAccept(r *rapid.T, s *scene, intent *reconcile.Intent, counts map[string]int) {
	counts["worlds"]++
	request := requestOf(intent)
	_, err := w.Do(me, &request)
	var refusal *exchange.Refusal
	if err == nil || !errors.As(err, &refusal) {
		return
	}
	closed := []int{sim.CodeNoPosition, sim.CodeReduceQuantity, sim.CodeReduceSum, sim.CodeCloseDuplicate}
	if intent.Order.Reduces() && slices.Contains(closed, refusal.Code) && s.reducingUncertain(intent) {
		counts["repeats refused"]++
		return
	}
	if state := s.tracker.Track(intent.Order.Key()); intent.Order.Reduces() && slices.Contains(closed, refusal.Code) &&
		state.TrustedPosition() != state.Position() {
		return // the fills bound it while the list shows less: if the position is closed, the attempt costs nothing
	}
	if refusal.Code == sim.CodeBalance && !intent.Purpose.Opens() {
		return // no rule refuses a reduction: derivation clips it to the free quantity
	}
	if refusal.Code == sim.CodeReduceSum && s.outgrown(intent) {
		return
	}
	if refusal.Code == sim.CodeOppositeOrder && s.quoted(intent) {
		counts["second quotes refused"]++
		return
	}
	r.Fatalf("approved, and refused by the exchange: %s %+v: %v\nfates %v\nresting %+v\nsent %+v", intent.Purpose, intent.Order, err, w.fates,
		s.resting, s.sent)
}

// quoted reports whether an opening is the second of two quotes of which the first has filled meanwhile.
func (s *scene) quoted(intent *reconcile.Intent) bool {
	other := func(o limboOrder) bool {
		return o.order.PostOnly && o.order.Side != intent.Order.Side && o.order.Key() == intent.Order.Key()
	}
	return intent.Order.PostOnly && (slices.ContainsFunc(s.resting, other) || slices.ContainsFunc(s.sent, other))
}

// outgrown reports whether an opening may have filled, so that a market order of the whole position now
// covers only a part. Other reducing orders then count against it, foreign ones and botd's own, which an
// order of the whole position would remove (rule 6). Waiting for the opening would let them keep botd in its
// position, so the exit is sent nevertheless.
func (s *scene) outgrown(intent *reconcile.Intent) bool {
	state := s.tracker.Track(intent.Order.Key())
	foreign := slices.ContainsFunc(state.Foreign(), func(o exchange.Order) bool { return o.Reduces() && !o.ClosePosition })
	own := slices.ContainsFunc(s.opened, func(r exchange.Request) bool {
		return r.Order.Key() == intent.Order.Key() && r.Order.ReduceOnly && !r.Order.ClosePosition
	})
	return (foreign || own) && intent.Order.Type == exchange.MarketOrder && intent.Order.ReduceOnly &&
		slices.ContainsFunc(append(slices.Clone(s.resting), s.sent...),
			func(l limboOrder) bool { return l.order.Key() == intent.Order.Key() && !l.order.Reduces() })
}

// reducingUncertain reports whether something in flight may have closed the intent's position: an uncertain
// exit that this intent repeats, or, for a protection or a market order of the whole position, a resting
// exit.
func (s *scene) reducingUncertain(intent *reconcile.Intent) bool {
	sweeps := intent.Order.Type == exchange.MarketOrder && intent.Order.ReduceOnly
	for _, l := range append(slices.Clone(s.resting), s.sent...) {
		if l.order.Key() == intent.Order.Key() && l.order.Reduces() &&
			(l.placement.State().OutcomeUncertain() && mayRepeat(intent.Purpose) || (intent.Order.ClosePosition || sweeps) && l.order.ReduceOnly) {
			return true
		}
	}
	return false
}

func (s *scene) facts(intent *reconcile.Intent) *Facts {
	return &Facts{NowMS: 1_700_000_000_000, Tracker: s.tracker, State: s.tracker.Track(intent.Order.Key()), TakerFee: s.fee}
}

func (s *scene) drawSymbol(r *rapid.T) *exchange.Symbol {
	wanted := rapid.SampledFrom([]exchange.SymbolKey{{Market: exchange.Futures, Name: "BTC-USDT"}, {Market: exchange.Futures, Name: "BTC-USDT"},
		{Market: exchange.Futures, Name: "ETH-USDT"}, {Market: exchange.Spot, Name: "BTC-USDT"}, {Market: exchange.Spot, Name: "ETH-USDT"}}).Draw(r, "symbol")
	for _, symbol := range s.symbols {
		if symbol.Key() == wanted {
			return symbol
		}
	}
	panic(wanted)
}

func (s *scene) drawIntent(r *rapid.T) reconcile.Intent {
	return s.drawIntentOn(r, s.drawSymbol(r), nil)
}

// rarely is 1 in a few cases, otherwise 0.
func rarely(r *rapid.T, label string) int64 {
	if rapid.IntRange(0, 39).Draw(r, label) == 0 {
		return 1
	}
	return 0
}

// drawIntentOn draws an intent, usually close to a sendable one.
func (s *scene) drawIntentOn(r *rapid.T, symbol *exchange.Symbol, x *world) reconcile.Intent {
	last := s.prices[symbol.Key()]
	position := s.tracker.Track(symbol.Key()).Position()
	if x != nil && symbol.Market == exchange.Futures {
		p, _ := x.Position(me, symbol.Name)
		position = p.Signed()
	}
	intent := reconcile.Intent{Strategy: "one", Purpose: placement.Purpose(rapid.IntRange(int(placement.Entry), int(placement.Leverage)).Draw(r, "purpose"))}
	order := &intent.Order
	order.Market, order.Symbol = symbol.Market, symbol.Name
	order.Side = rapid.SampledFrom([]exchange.Side{exchange.Buy, exchange.Sell}).Draw(r, "side")
	near := func() exchange.Price {
		away := rapid.SampledFrom([]int64{-50, -1, -1, 0, 1, 1, 50, 3_000}).Draw(r, "ticks away")
		return max(symbol.PriceTick, last+symbol.PriceTick*exchange.Price(away)) + exchange.Price(rarely(r, "off tick"))
	}
	held := max(position, -position)
	quantity := symbol.QuantityFor(exchange.AmountOf(rapid.SampledFrom([]int64{1, 6, 90, 400, 2_000, 20_000, 240_000, 2_000_000}).Draw(r, "value")), last)
	order.Quantity = quantity + exchange.Quantity(rarely(r, "more"))
	switch intent.Purpose {
	case placement.Entry:
		order.Type = exchange.MarketOrder
		if symbol.Market == exchange.Spot {
			order.Quantity, order.QuoteAmount = 0, symbol.Notional(last, quantity)
		}
	case placement.Order:
		order.Type, order.Price = exchange.Limit, near()
		order.PostOnly = symbol.Market == exchange.Futures && rapid.Bool().Draw(r, "post only")
		if rapid.IntRange(0, 3).Draw(r, "stop") == 0 {
			order.Type, order.StopPrice, order.PostOnly = exchange.StopLimit, near(), false
		}
	case placement.Exit, placement.ExitOrder:
		order.Type, order.ReduceOnly = exchange.MarketOrder, symbol.Market == exchange.Futures
		if intent.Purpose == placement.ExitOrder || symbol.Market == exchange.Spot {
			order.Type, order.Price = exchange.Limit, near()
		}
		if held > 0 {
			order.Side = exchange.SideOf(-position)
			order.Quantity = rapid.SampledFrom([]exchange.Quantity{held, symbol.FloorQuantity(held / 2), held + symbol.QuantityTick,
				quantity}).Draw(r, "part")
		}
	case placement.StopLoss, placement.TakeProfit:
		order.Type, order.StopPrice, order.ClosePosition, order.Quantity = exchange.StopMarket, near(), true, 0
		if held > 0 {
			order.Side = exchange.SideOf(-position)
		}
		switch {
		case symbol.Market == exchange.Spot:
			order.Type, order.ClosePosition, order.Price, order.Quantity = exchange.StopLimit, false, near(), quantity
		case rapid.IntRange(0, 4).Draw(r, "bridge") == 0:
			order.ClosePosition, order.ReduceOnly, order.Quantity = false, true, held
		case intent.Purpose == placement.TakeProfit:
			order.Type = exchange.TakeProfitMarket
		}
	case placement.Leverage, placement.Cancel:
		intent.Purpose, intent.Leverage = placement.Leverage, rapid.SampledFrom([]int{1, 2, 10, 25, 50, 51}).Draw(r, "leverage")
		order.Market = exchange.Futures
	}
	if symbol.Market == exchange.Futures && order.Type.Conditional() {
		order.WorkingType = rapid.SampledFrom([]exchange.WorkingType{exchange.ContractPrice, exchange.MarkPrice}).Draw(r, "working")
	}
	return intent
}
