package view

import (
	"slices"
	"sync"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/ledger"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// Limits of the lists in memory; the journal has everything. At five orders a second they are reached within half an
// hour, for ended positions after two hours. Their memory is allocated at once: from then on no list grows.
const (
	maxOrders      = 5_000
	maxFills       = 2_500
	maxClosed      = 2_500
	maxDifferences = 5_000
	maxAudits      = 5_000
)

// History lists orders, fills and people's changes from the journal's records. It takes every
// record once, in order: first those of the journal that is replayed, then each one that has become
// durable. Safe for several goroutines.
type History struct {
	mu          sync.Mutex // guards all below
	recordCount int64      // records
	orders      map[string]*placed
	byTime      []*placed // oldest first
	fills       ring[Fill]
	prices      fillPrices
	newest      map[string]int64   // fill of each strategy
	opened      map[string]opening // by strategy and symbol
	trips       *ledger.RoundTrips
	closed      ring[ledger.RoundTrip] // positions
	closedNet   map[string]exchange.Amount
	differences ring[Difference]
	audits      ring[Audit]
	publish     func(topic string, content any)
	symbols     Symbols

	closedSinceMS int64
	onClosed      func(*ledger.RoundTrip) // nil for none
}

// Symbols finds a symbol's rules.
type Symbols func(key exchange.SymbolKey) (*exchange.Symbol, bool)

// placed is one placement with the content of its records.
type placed struct {
	n     int64 // of the record it began with
	p     account.Placement
	steps []Step
}

// NewHistory returns an empty history.
func NewHistory() *History {
	return &History{orders: map[string]*placed{}, newest: map[string]int64{}, opened: map[string]opening{}, closedNet: map[string]exchange.Amount{},
		trips: ledger.NewRoundTrips(), fills: newRing[Fill](maxFills), prices: newFillPrices(),
		closed: newRing[ledger.RoundTrip](maxClosed).reserved(), differences: newRing[Difference](maxDifferences), audits: newRing[Audit](maxAudits),
		symbols: func(exchange.SymbolKey) (*exchange.Symbol, bool) { return nil, false }, publish: func(string, any) {}}
}

// Apply applies the next record.
func (h *History) Apply(r *record.Record) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.recordCount++
	switch body := r.Body.(type) {
	case record.Sending:
		h.begin(r, "journalled", "durable before its first byte")
	case record.Acknowledged, record.Refused, record.Uncertain, record.Fill, record.Ended:
		h.advance(r)
	case record.Found:
		h.begin(r, "fetched", "found on the exchange: "+body.Evidence)
	case record.Withdrawn:
		if o := h.orders[r.ClientOrderID]; o != nil {
			o.step(r.AtMS, "withdrawn", "by a person: "+body.Reason)
			h.publishOrder(o)
		}
	case record.Boot:
		h.restarted(r)
	case record.Posting:
		h.pricedBy(&body.Posting)
	}
	h.tripped(r)
	h.differed(r)
	h.audited(r)
}

// begin lists an order whose first record this is, with its first step.
func (h *History) begin(r *record.Record, step, text string) {
	if len(h.byTime) >= maxOrders {
		h.forget()
	}
	p, _ := account.Begin(r)
	o := &placed{n: h.recordCount, p: p}
	o.step(r.AtMS, step, text)
	h.orders[r.ClientOrderID] = o
	h.byTime = append(h.byTime, o)
	h.publishOrder(o)
}

// forget drops the oldest final orders, a tenth of all.
func (h *History) forget() {
	left := maxOrders / 10
	h.byTime = slices.DeleteFunc(h.byTime, func(o *placed) bool {
		if left == 0 || !o.p.State().Final() {
			return false
		}
		left--
		delete(h.orders, o.p.ClientOrderID())
		return true
	})
}

func (h *History) advance(r *record.Record) {
	o := h.orders[r.ClientOrderID]
	if o == nil {
		return // an order that was dropped
	}
	before := o.p.Filled()
	o.p = o.p.After(r)
	if grown := o.p.Filled() - before; grown > 0 {
		h.filled(o, r.AtMS, grown)
	}
	switch body := r.Body.(type) {
	case record.Acknowledged:
		o.step(r.AtMS, "acknowledged", "")
	case record.Refused:
		o.step(r.AtMS, "refused", body.Reason)
	case record.Uncertain:
		o.step(r.AtMS, "uncertain", body.Reason)
	case record.Ended:
		o.step(r.AtMS, "settled", body.State.String()+": "+body.Evidence)
	}
	h.publishOrder(o)
}

// filled lists an additional fill of an order.
func (h *History) filled(o *placed, atMS int64, grown exchange.Quantity) {
	f := h.fills.add(Fill{ID: h.fills.nextID(), AtMS: atMS, ClientOrderID: o.p.ClientOrderID(), OrderID: o.p.OrderID(), Strategy: o.p.Strategy(),
		Purpose: o.p.Purpose().String(),
		Market:  o.p.Order().Market.String(), Symbol: o.p.Order().Symbol, Side: o.p.Order().Side.String(), Price: o.p.Price().String(), key: o.p.Symbol(),
		grown: grown, side: o.p.Order().Side})
	h.newest[f.Strategy] = h.fills.last
	if f.key.Market == exchange.Futures && o.p.Price().IsZero() {
		h.unpricedFill(h.fills.last, f.Symbol)
	}
	text := "filled more"
	if s, found := h.symbols(f.key); found {
		text = "filled " + s.QuantityDecimal(grown).String() + " more"
	}
	o.step(atMS, "fetched", text)
	h.publish("fill", h.fill(f))
}

// observe adds a snapshot's news beyond the records: that an order was fetched, and its newest
// state. A live order is never dropped.
func (h *History) observe(live []account.Placement, nowMS int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range live {
		p := &live[i]
		o := h.orders[p.ClientOrderID()]
		switch {
		case o == nil:
			o = &placed{n: h.recordCount, p: *p}
			h.orders[p.ClientOrderID()] = o
			h.byTime = append(h.byTime, o)
		case o.p.State().Final() || o.p.State() == p.State() && o.p.OrderID() == p.OrderID():
			continue
		}
		if p.State() == placement.Working && o.p.State() != p.State() {
			o.step(nowMS, "fetched", "seen on the exchange")
		}
		o.p = o.p.In(p.State(), p.OrderID())
		h.publishOrder(o)
	}
}

// restarted makes every placement without a known outcome uncertain.
func (h *History) restarted(r *record.Record) {
	for _, o := range h.byTime {
		if o.p.State() == placement.Sending {
			o.p = o.p.In(placement.Uncertain, o.p.OrderID())
			o.step(r.AtMS, "uncertain", "botd was started again before its answer was known")
		}
	}
}

// maxSteps bounds the steps of one order or intent.
const maxSteps = 64

func (o *placed) step(atMS int64, name, text string) {
	if len(o.steps) < maxSteps {
		o.steps = append(o.steps, Step{AtMS: atMS, Step: name, Text: text})
	}
}

func (h *History) publishOrder(o *placed) { h.publish("order", h.order(o)) }

// Follow publishes every change from now on.
func (h *History) Follow(symbols Symbols, publish func(topic string, content any)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.symbols, h.publish = symbols, publish
}

// Step is one step of an intent's life.
type Step struct {
	AtMS int64  `json:"at_ms"`
	Step string `json:"step"` // derived, checked, refused, journalled, sent, acknowledged, uncertain, fetched, withdrawn, settled
	Text string `json:"text,omitempty"`
}

// Fill is the quantity of an order that was filled between two polls.
type Fill struct {
	ID            string  `json:"id"`
	AtMS          int64   `json:"at_ms"` // when it was polled
	ClientOrderID string  `json:"client_order_id"`
	OrderID       int64   `json:"order_id"`
	Strategy      string  `json:"strategy"`
	Purpose       string  `json:"purpose"`
	Market        string  `json:"market"`
	Symbol        string  `json:"symbol"`
	Side          string  `json:"side"`
	Quantity      Decimal `json:"quantity"`
	Price         Decimal `json:"price"`               // the mean price of the order so far; 0 while it is not known
	Fee           Decimal `json:"fee,omitempty"`       // empty while it is not known
	FeeAsset      string  `json:"fee_asset,omitempty"` // the asset of the fee
	Derived       bool    `json:"derived,omitempty"`   // whether price and fee follow from readings of position and wallet, because the exchange reports none

	key   exchange.SymbolKey
	grown exchange.Quantity
	side  exchange.Side
	fee   exchange.Amount
}

func (h *History) fill(f *Fill) Fill {
	out := *f
	if s, found := h.symbols(f.key); found {
		out.Quantity = s.QuantityDecimal(f.grown).String()
	}
	return out
}

// Fills returns fills, newest first.
func (h *History) Fills(page Page, keep func(*Fill) bool) ([]Fill, string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	items, next := h.fills.page(page, keep)
	for i := range items {
		items[i] = h.fill(&items[i])
	}
	return items, next
}

// Orders returns placements, newest first.
func (h *History) Orders(page Page, keep func(*Order) bool) ([]Order, string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return Newest(h.byTime, page, func(o **placed) int64 { return (*o).n }, func(o **placed) bool {
		return keep(new(h.order(*o)))
	}, func(o **placed) Order { return h.order(*o) })
}

// Order returns one placement with its steps, by its client order id or its order id.
func (h *History) Order(id string) (Order, []Step, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	o := h.orders[id]
	for i := len(h.byTime) - 1; i >= 0 && o == nil; i-- {
		if h.byTime[i].p.OrderID() != 0 && number(h.byTime[i].p.OrderID()) == id {
			o = h.byTime[i]
		}
	}
	if o == nil {
		return Order{}, nil, false
	}
	return h.order(o), slices.Clone(o.steps), true
}
