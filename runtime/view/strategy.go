package view

import (
	"slices"

	"botd/exchange"
	"botd/runtime/engine"
	"botd/runtime/profit"
	"botd/strategy"
)

// Strategy is one strategy at a glance.
type Strategy struct {
	Name        string   `json:"name"`
	Kind        string   `json:"kind"`
	Market      string   `json:"market"`
	Symbol      string   `json:"symbol"`
	Interval    string   `json:"interval"`
	State       string   `json:"state"` // running | warming_up | halted | quarantined | contradicted | unprotected | refused | latched | failed | hung
	StateReason string   `json:"state_reason,omitempty" was:"why"`
	PlanReason  string   `json:"reason,omitempty"` // the reason of the plan in force
	Target      Decimal  `json:"target"`
	Position    Decimal  `json:"position"`
	EntryPrice  Decimal  `json:"entry_price"`
	LiqPrice    Decimal  `json:"liq_price"`
	Last        Decimal  `json:"last_price"`
	PriceMS     int64    `json:"last_price_ms"`
	CandleMS    int64    `json:"candle_close_ms"`    // the close time of the newest candle
	Unrealized  Decimal  `json:"unrealized"`         // the price difference of the position
	Realized    Decimal  `json:"realized"`           // the result since the strategy began, less fees and funding, by the ledger
	Profit      Decimal  `json:"profit"`             // the strategy's net result: realized and unrealized together
	Return      float64  `json:"unrealized_ratio"`   // the unrealized profit as a share of the position's value at entry, without leverage
	SinceMS     int64    `json:"since_ms,omitempty"` // the first fill of the position, or when it was first seen
	Equity      *Decimal `json:"equity"`             // the equity attributed to the strategy; null while the value of its position is unknown
	Settled     bool     `json:"settled"`
	Protected   bool     `json:"protected"` // whether a working stop covers the position
	LastMS      int64    `json:"last_tick_ms"`
	NextMS      int64    `json:"next_tick_ms"`

	key         exchange.SymbolKey
	ownPosition exchange.Quantity
}

// ownEquity returns the equity attributed to a strategy; nil while the value of its position is unknown.
func ownEquity(t *engine.StrategyStatus) *Decimal {
	if t.Unpriced {
		return nil
	}
	return new(t.Own.String())
}

func strategyOf(s *engine.Status, t *engine.StrategyStatus, made profit.Profit) Strategy {
	one := Strategy{Name: t.Name, Kind: t.Kind, Market: t.Symbol.Market.String(), Symbol: t.Symbol.Name, Interval: t.Interval.String(),
		State: t.State, StateReason: t.StateReason, PlanReason: t.PlanReason, Target: t.Symbol.QuantityDecimal(t.Target).String(),
		Position:   t.Symbol.QuantityDecimal(t.Position).String(),
		EntryPrice: t.EntryPrice.String(), LiqPrice: t.LiqPrice.String(), Last: t.Symbol.PriceDecimal(t.Last).String(), PriceMS: t.LastMS, CandleMS: t.CandleMS,
		Unrealized: made.Unrealized.String(), Realized: made.Net.String(),
		Profit: made.Net.Add(made.Unrealized).String(), Equity: ownEquity(t), Settled: t.Settled, Protected: t.Protected,
		LastMS: t.TickMS, NextMS: t.NextMS, key: t.Symbol.Key(), ownPosition: t.Position}
	if t.Position == 0 {
		return one
	}
	if entered := t.Symbol.Notional(t.Last, t.Position).Sub(made.Unrealized).Abs().Float(); entered > 0 {
		one.Return = RoundRatio(made.Unrealized.Float() / entered)
	}
	if i := slices.IndexFunc(s.Symbols, func(of engine.SymbolStatus) bool { return of.Key == t.Symbol.Key() }); i >= 0 {
		one.SinceMS = s.Symbols[i].SinceMS
	}
	return one
}

// Plan is the desired state of a strategy.
type Plan struct {
	Target     string           `json:"target,omitempty"` // the target in words, such as "0.01 BTC-USDT" or "50 % of equity"; empty for none
	Leverage   int              `json:"leverage,omitempty"`
	Orders     []DesiredOrder   `json:"orders"`
	Exits      []DesiredOrder   `json:"exits"`
	StopLoss   string           `json:"stop_loss,omitempty"`
	TakeProfit string           `json:"take_profit,omitempty"`
	Reason     string           `json:"reason,omitempty"`
	Memory     []MemoryVariable `json:"memory"`
}

// DesiredOrder is one order that a strategy keeps in the book.
type DesiredOrder struct {
	Key       string  `json:"key"`
	Side      string  `json:"side"`
	Price     Decimal `json:"price"`
	StopPrice Decimal `json:"stop_price,omitempty"`
	Quantity  Decimal `json:"quantity"`
	PostOnly  bool    `json:"post_only"`
}

// MemoryVariable is one value that a strategy stores in the journal.
type MemoryVariable struct {
	Key   string `json:"key"`
	Value int64  `json:"value"`
}

func planOf(p *strategy.Plan, s *exchange.Symbol, memory strategy.Memory) Plan {
	out := Plan{Target: targetText(p.Target, s), Leverage: p.Leverage, Orders: desiredOrdersOf(p.Orders, s), Exits: desiredOrdersOf(p.Exits, s),
		Reason: p.Reason, Memory: []MemoryVariable{}, StopLoss: distanceText(p.Protection.StopLoss, s), TakeProfit: distanceText(p.Protection.TakeProfit, s)}
	for _, e := range memory.Entries() {
		out.Memory = append(out.Memory, MemoryVariable{e.Key, e.Value})
	}
	return out
}

func desiredOrdersOf(orders []strategy.DesiredOrder, s *exchange.Symbol) []DesiredOrder {
	out := []DesiredOrder{}
	for _, w := range orders {
		one := DesiredOrder{Key: w.Key, Side: w.Side.String(), Price: s.PriceDecimal(w.Price).String(), Quantity: s.QuantityDecimal(w.Quantity).String(),
			PostOnly: w.PostOnly}
		if w.StopPrice != 0 {
			one.StopPrice = s.PriceDecimal(w.StopPrice).String()
		}
		out = append(out, one)
	}
	return out
}

func targetText(t strategy.Target, s *exchange.Symbol) string {
	switch t.Kind {
	case strategy.ByQuantity:
		return s.QuantityDecimal(t.Quantity).String() + " " + s.Name
	case strategy.ByEquity:
		return t.Share.Decimal().Shift(2).String() + " % of equity in " + s.Name
	case strategy.ByQuote:
		return t.Quote.String() + " USDT of " + s.Name
	}
	return ""
}

func distanceText(d strategy.Distance, s *exchange.Symbol) string {
	switch {
	case d.IsZero():
		return ""
	case d.Share != 0:
		return d.Share.Decimal().Shift(2).String() + " %"
	}
	return s.PriceDecimal(d.Price).String()
}

// OneStrategy is a strategy with its plan, its limits and its orders.
type OneStrategy struct {
	Schema int `json:"schema"`
	Strategy
	Plan      Plan       `json:"plan"`            // the plan in force
	Latch     string     `json:"latch,omitempty"` // long | short
	Limits    []Limit    `json:"limits"`          // the strategy's own limits
	Degraded  []Degraded `json:"degraded"`        // the declared states that apply to the strategy
	Config    string     `json:"config"`          // the effective configuration, as YAML
	Decisions []Decision `json:"decisions"`
	Orders    []Order    `json:"orders"` // the live orders
}

// Strategy returns a strategy with its plan and its limits; its configuration and its orders
// are not on the board.
func (b *Board) Strategy(name string) (OneStrategy, bool) {
	one, known := b.oneStrategy(name)
	if known {
		one.Decisions, _ = b.Decisions(name, Page{Limit: 20})
		one.Decisions = OrEmpty(one.Decisions)
	}
	return one, known
}

func (b *Board) oneStrategy(name string) (OneStrategy, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.strategy(name)
	if t == nil {
		return OneStrategy{}, false
	}
	made := profit.Of(&b.status)[t.Name]
	one := OneStrategy{Schema: 1, Strategy: strategyOf(&b.status, t, made), Plan: planOf(&t.Plan, t.Symbol, t.Memory),
		Limits: []Limit{}, Degraded: []Degraded{}}
	one.Latch = latchText(t.Latch)
	for _, limit := range limitsOf(&b.status) {
		if limit.Strategy == name {
			one.Limits = append(one.Limits, limit)
		}
	}
	for _, d := range DegradedOf(b.status.Degraded) {
		if d.Scope == "account" || d.Strategy == name || d.Market == one.Market && (d.Symbol == t.Symbol.Name || d.Scope == "market") {
			one.Degraded = append(one.Degraded, d)
		}
	}
	return one, true
}

// latchText returns the side that a latch blocks, empty for none.
func latchText(latch int) string {
	switch {
	case latch > 0:
		return "long"
	case latch < 0:
		return "short"
	}
	return ""
}
