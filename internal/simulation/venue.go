package simulation

import (
	"maps"
	"slices"

	"botd/exchange"
	"botd/exchange/sim"
)

// These are the accounts of the simulated exchange. Each counterparty only buys or only sells, so that its orders never oppose its own position.
const (
	trader = "botd"
	buyer  = "buyer"
	seller = "seller"
)

// venue is the simulated exchange with its replicas and other traders, and the state that the inspector checks against.
type venue struct {
	x       *sim.Exchange
	symbols []*exchange.Symbol // the exchange's own; rule drift changes them in place
	drifted bool
	foreign bool // another botd has placed an order under our prefix

	placed   map[string]*placed // every placement of the daemon, by client order id
	inFlight []*placed          // placements that may still reach the exchange
	byOrder  map[int64]*placed
	hidden   map[int64]int64          // by order id: time until which replicas omit it
	replica  map[replicaKey][]replica // earlier answers and lists
	held     map[exchange.SymbolKey]*held
	keys     []exchange.SymbolKey
	fills    []sim.Fill
	version  uint64 // exchange version when its fills were last read
}

// placed is one placement and its actual result.
type placed struct {
	id        string
	order     exchange.NewOrder
	opens     bool
	by        int  // number of the process that sent it
	unaware   bool // a sale by another process, which no read has shown to this one
	sends     int
	inFlight  int  // copies that may still reach the exchange
	forgotten bool // it was in flight when a journal without it was restored
	executed  int
	refused   int
	orders    []int64
	filled    exchange.Quantity
	sentMS    int64
}

// held is the actual state of one symbol.
type held struct {
	key       exchange.SymbolKey
	rules     *exchange.Symbol
	position  exchange.Quantity // signed: the sum of the account's fills
	fees      exchange.Amount   // spot: deducted from purchases, in the base asset
	own       exchange.Quantity // part from botd's own orders
	rest      exchange.Amount   // spot: remainders of complete sales, which no order can sell
	slack     exchange.Quantity // exposure that others may have added
	touchedMS int64             // time of the last trade by anybody else; 0 for never
	filledMS  int64             // time of the last fill of the account's own orders
	exit      *placed           // last market exit
	triedMS   int64             // time of the last recorded exit
	forgot    exchange.Quantity // spot: sales unknown to a restored backup, in flight or too recent to be listed
	unaware   exchange.Quantity // spot: sold by the second of two botds that sold the same units in the same moment: a person's
	doubled   exchange.Quantity // quantity that may be sold twice: orders that a middlebox delivered twice, stops whose answer was lost
}

func newVenue(w *world, symbols []*exchange.Symbol, delayMS, spreadMS int64) *venue {
	v := &venue{placed: map[string]*placed{}, byOrder: map[int64]*placed{}, hidden: map[int64]int64{},
		replica: map[replicaKey][]replica{}, held: map[exchange.SymbolKey]*held{}, symbols: symbols}
	x, err := sim.New(sim.Config{Symbols: symbols, StartMS: w.nowMS, OrderDelayMS: delayMS, OrderDelaySpreadMS: spreadMS, Seed: w.seed})
	if err != nil {
		panic(err) // the built-in symbols are valid
	}
	v.x = x
	for _, symbol := range symbols {
		v.keys = append(v.keys, symbol.Key())
		v.held[symbol.Key()] = &held{key: symbol.Key(), rules: symbol}
	}
	for _, name := range []string{trader, buyer, seller} {
		config := sim.DefaultAccount(name)
		if name == trader && w.poor {
			config = w.portfolio.poorAccount(v)
		}
		if script := w.options.script; name == trader && script != nil && script.account != nil {
			script.account(&config)
		}
		if name != trader {
			config.FuturesUSDT = exchange.AmountOf(100_000_000)
			config.Spot = map[string]exchange.Amount{"USDT": exchange.AmountOf(100_000_000), "BTC": exchange.AmountOf(10_000),
				"ETH": exchange.AmountOf(100_000)}
		}
		if err := x.AddAccount(config); err != nil {
			panic(err)
		}
	}
	return v
}

// advance advances the exchange to a time and applies the fills.
func (v *venue) advance(w *world, nowMS int64) {
	v.x.Advance(nowMS)
	v.takeFills(w)
}

func (v *venue) takeFills(w *world) {
	if v.x.Version() == v.version {
		return
	}
	v.version = v.x.Version()
	v.show(w)
	v.fills = v.x.TakeFills(v.fills[:0])
	for i := range v.fills {
		fill := &v.fills[i]
		if fill.Account != trader {
			continue
		}
		h := v.held[exchange.SymbolKey{Market: fill.Market, Name: fill.Symbol}]
		signed := fill.Quantity * exchange.Quantity(fill.Side.Sign())
		h.position += signed
		if fill.Market == exchange.Spot && fill.FeeAsset == h.rules.Base {
			h.fees = h.fees.Add(fill.Fee)
		}
		a := v.byOrder[fill.OrderID]
		w.inspector.figures.filled(h, fill, a != nil)
		if a != nil {
			if a.filled += fill.Quantity; a.unaware {
				h.unaware += fill.Quantity
			}
			h.own, h.filledMS = h.own+signed, w.nowMS
			h.noteRest(fill.Side)
			covered := w.stats.Faults[OldBackup] > 0 && w.stats.Faults[ManualTrade] > 0 // a manual purchase hides the forgotten sales
			if fill.Market == exchange.Spot && h.own+h.forgot+h.doubled < 0 && !covered && w.beyond == nil {
				w.fail("oversold", "%s: botd sold %d more than it ever bought", h.key, -h.own)
			}
		} else {
			h.touch(w.nowMS, fill.Quantity)
		}
		if w.tracing {
			w.tracef("venue", "filled %s %s %s at %s (order %d)", fill.Symbol, fill.Side, h.rules.QuantityDecimal(fill.Quantity),
				h.rules.PriceDecimal(fill.Price), fill.OrderID)
		}
		w.judge.filled(h.key, fill.OrderID, fill.Side, fill.Quantity, fill.Fee, fill.FeeAsset)
	}
	w.inspector.figures.observe()
	w.judge.observe()
}

// exposed returns the part of the position that can be sold, in whole ticks: on spot fees and the remainders of complete sales are deducted.
func (h *held) exposed() exchange.Quantity {
	if h.fees.IsZero() && h.rest.IsZero() {
		return h.position
	}
	return h.rules.FloorQuantity(h.rules.QuantityOf(h.bought().Sub(h.rest)))
}

// botds returns the position without a person's units that the second of two botds sold.
func (h *held) botds() exchange.Quantity { return h.position + h.unaware }

// bought returns the position less the fees deducted from it.
func (h *held) bought() exchange.Amount { return h.rules.QuantityAmount(h.position).Sub(h.fees) }

// maxRest bounds the remainder of a complete sale, in quantity steps: less than one step of the purchase,
// and less than one of the fee.
const maxRest = 2

// noteRest records the remainder of a complete sale: orders are in whole steps, and fees are not.
func (h *held) noteRest(side exchange.Side) {
	if left := h.exposed(); h.key.Market == exchange.Spot && side == exchange.Sell && left >= 0 && left <= maxRest*h.rules.QuantityTick {
		h.rest = h.bought()
	}
}

// touch records that someone other than botd changed the position, or may change it.
func (h *held) touch(nowMS int64, quantity exchange.Quantity) {
	h.touchedMS = nowMS
	h.slack += quantity.Abs()
}

// depart records that a copy of a placement is in flight.
func (v *venue) depart(a *placed) {
	if a.inFlight++; a.inFlight == 1 {
		v.inFlight = append(v.inFlight, a)
	}
}

// ended records that a copy has arrived or never will.
func (v *venue) ended(a *placed) {
	if a.inFlight--; a.inFlight == 0 {
		v.inFlight = slices.DeleteFunc(v.inFlight, func(other *placed) bool { return other == a })
	}
}

// recent reports whether a fill may be newer than the daemon's last round, or a foreign trade more recent than the time in which the daemon reacts to it.
func (h *held) recent(nowMS, staleMS int64) bool {
	return h.filledMS != 0 && nowMS-h.filledMS < recentMS || h.touchedMS != 0 && nowMS-h.touchedMS < recentMS+staleMS
}

// do executes a request that arrived.
func (v *venue) do(w *world, f *flight) (exchange.Answer, error) {
	request := &f.call.Request
	answer, err := v.x.Do(trader, request)
	if request.Operation.Places() {
		v.notePlacement(w, f, &answer, err)
	}
	v.takeFills(w)
	if err != nil || request.Operation.Changes() {
		return answer, err
	}
	switch request.Operation {
	case exchange.FuturesSymbols, exchange.SpotPairs:
		answer.Symbols = exchange.FetchedOf(cloned(answer.Symbols.Items()))
	case exchange.FuturesOpenOrders, exchange.SpotOpenOrders, exchange.SpotOrderHistory:
		v.leaveOut(w, &answer, w.nowMS)
	case exchange.FuturesOrder:
		if v.hidden[request.OrderID] > w.nowMS {
			return exchange.Answer{}, &exchange.Refusal{Operation: request.Operation, Status: 400, Code: sim.CodeUnknownOrder,
				Message: "no such order here yet"}
		}
	}
	return answer, nil
}

func cloned(symbols []*exchange.Symbol) []*exchange.Symbol {
	all := make([]*exchange.Symbol, len(symbols))
	for i, symbol := range symbols {
		all[i] = new(*symbol)
	}
	return all
}

// notePlacement applies the outcome of a placement.
func (v *venue) notePlacement(w *world, f *flight, answer *exchange.Answer, err error) {
	a := f.placed
	if err != nil {
		a.refused++
		return
	}
	a.executed++
	a.orders = append(a.orders, answer.Order.ID)
	v.byOrder[answer.Order.ID] = a
	if a.executed > 1 || a.refused > 0 { // a second copy of a placement that was already accepted or refused
		h := v.held[a.order.Key()]
		h.doubled += v.size(a)
		h.touch(w.nowMS, v.size(a))
	}
	if have := v.x.Leverage(trader, a.order.Symbol); w.beyond == nil && a.opens && a.order.Market == exchange.Futures && have != leverage {
		w.fail("leverage", "%s opens at leverage %d, want %d", a.id, have, leverage)
	}
	w.judge.accepted(answer.Order.ID, true, a.executed > 1 || a.unaware, &a.order)
	if w.injects(Hidden) {
		v.hidden[answer.Order.ID] = w.nowMS + w.far(100, w.bounds.VisibilityMS-w.delayMS-500)
	}
}

// unanswered records that the answer to a request that arrived does not reach the daemon in time, or that the
// daemon has died. A lost stop is soon repeated: both may fill before a list shows them.
func (v *venue) unanswered(f *flight) {
	a := f.placed
	if a != nil && a.executed > 0 && a.order.Market == exchange.Spot && a.order.Type == exchange.StopLimit && !f.unanswered {
		f.unanswered = true
		v.held[a.order.Key()].doubled += v.size(a)
	}
}

// repeated reports whether an order is a repeated execution of a placement.
func (v *venue) repeated(orderID int64) bool {
	a := v.byOrder[orderID]
	return a != nil && (a.orders[0] != orderID || a.unaware)
}

// forget marks the openings of a symbol that are in flight or too recent to be listed as forgotten by the
// journal, and returns the quantity that they may open.
func (v *venue) forget(w *world, key exchange.SymbolKey) (opens exchange.Quantity) {
	young := w.bounds.VisibilityMS + w.bounds.StalenessMS
	for _, a := range v.placed {
		if a.order.Key() != key || a.inFlight == 0 && (a.executed == 0 || w.nowMS-a.sentMS >= w.bounds.WindowMS+young) {
			continue
		}
		if a.opens {
			a.forgotten = true
			opens += v.size(a)
		} else if key.Market == exchange.Spot {
			v.held[key].forgot += v.size(a)
		}
	}
	return opens
}

// resting returns the quantity that botd's resting openings on a symbol may still fill.
func (v *venue) resting(key exchange.SymbolKey) (sum exchange.Quantity) {
	v.x.EachOpenOrder(trader, key.Market, func(o *exchange.Order) {
		if a := v.byOrder[o.ID]; o.Symbol == key.Name && a != nil && a.opens {
			sum += v.size(a) - o.Filled
		}
	})
	return sum
}

// size returns the largest possible base quantity of a placement.
func (v *venue) size(a *placed) exchange.Quantity {
	h := v.held[a.order.Key()]
	if !a.order.QuoteAmount.IsZero() {
		last, _ := v.x.Price(h.key)
		return h.rules.QuantityFor(a.order.QuoteAmount, max(last, 1))
	}
	return a.order.Quantity
}

// leaveOut drops the orders that a replica does not list yet because of its age.
func (v *venue) leaveOut(w *world, answer *exchange.Answer, atMS int64) {
	maps.DeleteFunc(v.hidden, func(_, until int64) bool { return until <= w.nowMS-w.bounds.StalenessMS })
	if len(v.hidden) == 0 || !answer.Orders.Done() {
		return
	}
	var shown []exchange.Order
	for _, o := range answer.Orders.Items() {
		if v.hidden[o.ID] <= atMS {
			shown = append(shown, o)
		}
	}
	answer.Orders = exchange.FetchedOf(shown)
}
