package ops

import (
	"fmt"
	"sync"
	"time"

	"botd/exchange"
	"botd/reconcile"
	"botd/runtime/engine"
)

// maxIntents bounds how many recent intents the board keeps.
const maxIntents = 1_000

// Board holds what the API shows: the newest status, and recent intents. The
// driver writes it while the engine rests, requests read it.
type Board struct {
	mode, instance string
	began          time.Time

	mu         sync.Mutex // guards all below
	beat       time.Time
	status     engine.Status
	reconciled bool     // a round was complete since the start
	reported   []Check  // what others found, in the order they first told
	intents    []Intent // oldest first
}

// NewBoard returns an empty board. It is made when the configuration was loaded.
func NewBoard(mode, instance string) *Board {
	return &Board{mode: mode, instance: instance, began: time.Now(), reported: []Check{{"configuration", true, "loaded at start"}}}
}

// Report puts a check on the board that somebody else makes, such as the
// clock's or a reload's; the same name again replaces it.
func (b *Board) Report(check Check) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.reported {
		if b.reported[i].Name == check.Name {
			b.reported[i] = check
			return
		}
	}
	b.reported = append(b.reported, check)
}

// Beat notes that the loop lives.
func (b *Board) Beat() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.beat = time.Now()
}

// Show puts a new status on the board.
func (b *Board) Show(status engine.Status) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.beat, b.status = time.Now(), status
}

// Intent is one intent with what became of it.
type Intent struct {
	AtMS          int64  `json:"at_ms"`
	Strategy      string `json:"strategy"`
	Purpose       string `json:"purpose"`
	Market        string `json:"market"`
	Symbol        string `json:"symbol"`
	Side          string `json:"side,omitempty"`
	Type          string `json:"type,omitempty"`
	Quantity      string `json:"quantity,omitempty"`
	Price         string `json:"price,omitempty"`
	StopPrice     string `json:"stop_price,omitempty"`
	Reason        string `json:"reason,omitempty"`
	Outcome       string `json:"outcome"` // refused, approved, placed, acknowledged, a placement's state
	Rule          string `json:"rule,omitempty"`
	Detail        string `json:"detail,omitempty"`
	ClientOrderID string `json:"client_order_id,omitempty"`
	OrderID       int64  `json:"order_id,omitempty"`
}

// Note follows intents by their facts.
func (b *Board) Note(n *engine.Note) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch n.Kind {
	case engine.NoteRound:
		b.reconciled = b.reconciled || n.OK
	case engine.NoteIntent:
		b.add(n)
	case engine.NoteApproved, engine.NoteRefusal:
		if len(b.intents) == 0 {
			return
		}
		last := &b.intents[len(b.intents)-1]
		last.Outcome = "approved"
		if n.Refusal != nil {
			last.Outcome, last.Rule, last.Detail = "refused", n.Refusal.Rule, n.Refusal.Error()
		}
	case engine.NotePlaced:
		placed := intentOf(n)
		for i := len(b.intents) - 1; i >= 0; i-- {
			if in := &b.intents[i]; in.Outcome == "approved" && in.ClientOrderID == "" && in.asks(&placed) {
				in.Outcome, in.ClientOrderID = "placed", n.ClientOrderID
				return
			}
		}
	case engine.NoteAcknowledged, engine.NoteRefused, engine.NoteUncertain, engine.NoteSettled:
		b.outcome(n)
	}
}

func (b *Board) add(n *engine.Note) {
	if len(b.intents) == maxIntents {
		b.intents = b.intents[:copy(b.intents, b.intents[1:])]
	}
	b.intents = append(b.intents, intentOf(n))
}

// asks reports whether two intents ask for the same order: one strategy may have
// several of one purpose under way, under different keys.
func (in *Intent) asks(same *Intent) bool {
	return in.Strategy == same.Strategy && in.Purpose == same.Purpose && in.Side == same.Side && in.Type == same.Type &&
		in.Quantity == same.Quantity && in.Price == same.Price && in.StopPrice == same.StopPrice
}

func intentOf(n *engine.Note) Intent {
	in := Intent{AtMS: n.AtMS, Strategy: n.Strategy, Purpose: n.Purpose.String(), Reason: n.Text, Outcome: "derived"}
	if s := n.Symbol; s != nil {
		in.Market, in.Symbol = s.Market.String(), s.Name
		in.Side, in.Type = n.Order.Side.String(), n.Order.Type.String()
		in.Quantity, in.Price, in.StopPrice = nonZero(n.Order.Quantity != 0, s.QuantityDecimal(n.Order.Quantity)), nonZero(n.Order.Price != 0, s.PriceDecimal(n.Order.Price)), nonZero(n.Order.StopPrice != 0, s.PriceDecimal(n.Order.StopPrice))
	}
	return in
}

func nonZero(given bool, value fmt.Stringer) string {
	if !given {
		return ""
	}
	return value.String()
}

func (b *Board) outcome(n *engine.Note) {
	for i := len(b.intents) - 1; i >= 0; i-- {
		in := &b.intents[i]
		if in.ClientOrderID != n.ClientOrderID || in.Purpose == reconcile.Cancel.String() {
			continue
		}
		in.Detail = n.Text
		switch n.Kind {
		case engine.NoteAcknowledged:
			in.Outcome, in.OrderID = "acknowledged", n.OrderID
		case engine.NoteRefused:
			in.Outcome = "refused_by_exchange"
		case engine.NoteUncertain:
			in.Outcome = "uncertain"
		case engine.NoteSettled:
			in.Outcome = n.State.String()
		}
		return
	}
}

// Check is one readiness check.
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail,omitempty"`
}

// freshness bounds of the checks.
const (
	aliveWithin  = 30 * time.Second
	soundWithin  = 60_000 // ms since the last complete round
	freshAtLeast = 60_000 // ms of market data beyond two of its intervals
)

// Alive reports whether the loop has beaten lately.
func (b *Board) Alive() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.beat.IsZero() && time.Since(b.beat) < aliveWithin
}

// Checks are what readiness depends on. Trading halted is ready: a halted
// daemon must not be restarted by what watches it.
func (b *Board) Checks() []Check {
	alive := b.Alive()
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]Check{
		{"loop", alive, ""},
		{"journal", b.status.JournalErr == nil && b.status.DiskLow == "", detail(b.status.JournalErr) + b.status.DiskLow},
		b.checkReconcile(),
		b.checkMarketData(),
	}, b.reported...)
}

func (b *Board) checkReconcile() Check {
	s := &b.status
	switch age := s.NowMS - s.SoundMS; {
	case len(s.Strategies) == 0 && s.NowMS > 0:
		return Check{"reconcile", true, "no strategies: nothing to reconcile"}
	case !b.reconciled:
		return Check{"reconcile", false, fmt.Sprintf("no complete round since the start, %d failed in a row", s.Failed)}
	case s.Blind || age > soundWithin:
		return Check{"reconcile", false, fmt.Sprintf("the last complete round was %d s ago, %d failed in a row", age/1000, s.Failed)}
	}
	return Check{"reconcile", true, ""}
}

// checkMarketData looks at the newest price or candle of each strategy. A
// symbol that is traded seldom may skip a candle.
func (b *Board) checkMarketData() Check {
	s := &b.status
	if s.NowMS == 0 {
		return Check{"market_data", false, "the engine has not begun"}
	}
	for i := range s.Strategies {
		t := &s.Strategies[i]
		newest := max(t.LastMS, t.CandleMS)
		if t.Last == 0 || newest == 0 {
			return Check{"market_data", false, t.Name + ": no price of " + t.Symbol.Name + " yet"}
		}
		if age := s.NowMS - newest; age > 2*int64(t.Interval)+freshAtLeast {
			return Check{"market_data", false, fmt.Sprintf("%s: the newest price of %s is %d s old", t.Name, t.Symbol.Name, age/1000)}
		}
	}
	return Check{"market_data", true, ""}
}

func detail(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// StatusJSON is what /api/v1/status answers.
type StatusJSON struct {
	Schema     int            `json:"schema"`
	Mode       string         `json:"mode"`
	Instance   string         `json:"instance"`
	UptimeS    int64          `json:"uptime_s"`
	Time       time.Time      `json:"time"` // the exchange's
	Ready      bool           `json:"ready"`
	Equity     string         `json:"equity"`
	Wallet     string         `json:"wallet"`
	Available  string         `json:"available"`
	Halted     string         `json:"halted,omitempty"` // the kill switch's level
	Why        string         `json:"why,omitempty"`
	Blind      bool           `json:"blind"`
	Degraded   []DegradedJSON `json:"degraded"` // declared states in force
	Open       int            `json:"open_orders"`
	Unsettled  int            `json:"unsettled"`
	Strategies []StrategyJSON `json:"strategies"`
}

// DegradedJSON is one declared state in which something does not open.
type DegradedJSON struct {
	State    string     `json:"state"` // blind, breaker, halted, quarantined, failed, journal
	Scope    string     `json:"scope"` // account, strategy, symbol
	Strategy string     `json:"strategy,omitempty"`
	Market   string     `json:"market,omitempty"`
	Symbol   string     `json:"symbol,omitempty"`
	Cause    string     `json:"cause"`
	Since    time.Time  `json:"since"`
	Until    *time.Time `json:"until,omitempty"` // when it ends by itself
	WayOut   string     `json:"way_out"`
	Doing    string     `json:"doing,omitempty"` // what a halt has still to take away, and what keeps it
}

func degradedJSON(all []engine.Degraded) []DegradedJSON {
	out := []DegradedJSON{}
	for i := range all {
		d := &all[i]
		j := DegradedJSON{State: d.State, Scope: "account", Strategy: d.Scope.Strategy, Cause: d.Cause, Since: time.UnixMilli(d.SinceMS).UTC(), WayOut: d.WayOut, Doing: d.Doing}
		switch {
		case d.Scope.Strategy != "":
			j.Scope = "strategy"
		case d.Scope != reconcile.Scope{}:
			j.Scope, j.Market, j.Symbol = "symbol", d.Scope.Symbol.Market.String(), d.Scope.Symbol.Name
		}
		j.Until = moment(d.UntilMS)
		out = append(out, j)
	}
	return out
}

// StrategyJSON is one strategy's part.
type StrategyJSON struct {
	Name     string `json:"name"`
	Market   string `json:"market"`
	Symbol   string `json:"symbol"`
	Interval string `json:"interval"`
	State    string `json:"state"`
	Why      string `json:"why,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Target   string `json:"target"`
	Position string `json:"position"`
	Entry    string `json:"entry_price"`
	Last     string `json:"last_price"`
	Settled  bool   `json:"settled"`
	LastMS   int64  `json:"last_tick_ms"`
	NextMS   int64  `json:"next_tick_ms"`
}

func (b *Board) statusJSON() StatusJSON {
	ready := true
	for _, check := range b.Checks() {
		ready = ready && check.OK
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	s := &b.status
	out := StatusJSON{Schema: 1, Mode: b.mode, Instance: b.instance, UptimeS: int64(time.Since(b.began).Seconds()), Time: time.UnixMilli(s.NowMS).UTC(), Ready: ready,
		Equity: s.Equity.String(), Wallet: s.Account.WalletBalance.String(), Available: s.Account.AvailableBalance.String(), Halted: s.Halt.Level, Why: s.Halt.Why, Blind: s.Blind,
		Degraded: degradedJSON(s.Degraded), Open: len(s.Live), Strategies: []StrategyJSON{}}
	for i := range s.Live {
		if s.Live[i].State != reconcile.Working {
			out.Unsettled++
		}
	}
	for i := range s.Strategies {
		t := &s.Strategies[i]
		out.Strategies = append(out.Strategies, StrategyJSON{Name: t.Name, Market: t.Symbol.Market.String(), Symbol: t.Symbol.Name, Interval: t.Interval.String(), State: t.State, Why: t.Why,
			Reason: t.Reason, Target: t.Symbol.QuantityDecimal(t.Target).String(), Position: t.Symbol.QuantityDecimal(t.Position).String(), Entry: t.EntryPrice.String(),
			Last: t.Symbol.PriceDecimal(t.Last).String(), Settled: t.Settled, LastMS: t.TickMS, NextMS: t.NextMS})
	}
	return out
}

// OrderJSON is one live placement.
type OrderJSON struct {
	ClientOrderID string `json:"client_order_id"`
	OrderID       int64  `json:"order_id"`
	Strategy      string `json:"strategy"`
	Purpose       string `json:"purpose"`
	Market        string `json:"market"`
	Symbol        string `json:"symbol"`
	Side          string `json:"side"`
	Type          string `json:"type"`
	State         string `json:"state"`
	Price         string `json:"price"`
	StopPrice     string `json:"stop_price"`
	Quantity      string `json:"quantity"`
	Filled        string `json:"filled"`
	SentMS        int64  `json:"sent_ms"`
}

func (b *Board) ordersJSON() []OrderJSON {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := []OrderJSON{}
	for i := range b.status.Live {
		p := &b.status.Live[i]
		s := b.symbol(p.Order.Key())
		if s == nil { // of a strategy that is not configured any more: its scales are not known here
			out = append(out, OrderJSON{ClientOrderID: p.ClientOrderID, OrderID: p.OrderID, Strategy: p.Strategy, Purpose: p.Purpose.String(), Market: p.Order.Market.String(),
				Symbol: p.Order.Symbol, Side: p.Order.Side.String(), Type: p.Order.Type.String(), State: p.State.String(), SentMS: p.SentMS})
			continue
		}
		out = append(out, OrderJSON{p.ClientOrderID, p.OrderID, p.Strategy, p.Purpose.String(), p.Order.Market.String(), p.Order.Symbol, p.Order.Side.String(), p.Order.Type.String(), p.State.String(),
			s.PriceDecimal(p.Order.Price).String(), s.PriceDecimal(p.Order.StopPrice).String(), s.QuantityDecimal(p.Order.Quantity).String(), s.QuantityDecimal(p.Filled).String(), p.SentMS})
	}
	return out
}

func (b *Board) symbol(key exchange.SymbolKey) *exchange.Symbol {
	for i := range b.status.Strategies {
		if s := b.status.Strategies[i].Symbol; s.Key() == key {
			return s
		}
	}
	return nil
}

// moment is a time that may not be.
func moment(ms int64) *time.Time {
	if ms == 0 {
		return nil
	}
	t := time.UnixMilli(ms).UTC()
	return &t
}

// PositionJSON is one position held.
type PositionJSON struct {
	Strategy  string `json:"strategy"`
	Market    string `json:"market"`
	Symbol    string `json:"symbol"`
	Quantity  string `json:"quantity"`
	Entry     string `json:"entry_price"`
	Last      string `json:"last_price"`
	LiqPrice  string `json:"liq_price"`
	Protected bool   `json:"protected"`
	BareMS    int64  `json:"unprotected_ms"` // how long its positions lacked the stop wished for them, since the start
}

func (b *Board) positionsJSON() []PositionJSON {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := []PositionJSON{}
	for i := range b.status.Strategies {
		t := &b.status.Strategies[i]
		if t.Position == 0 {
			continue
		}
		out = append(out, PositionJSON{t.Name, t.Symbol.Market.String(), t.Symbol.Name, t.Symbol.QuantityDecimal(t.Position).String(), t.EntryPrice.String(),
			t.Symbol.PriceDecimal(t.Last).String(), t.LiqPrice.String(), t.Protected, t.BareMS})
	}
	return out
}

func (b *Board) intentsJSON() []Intent {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]Intent{}, b.intents...)
}
