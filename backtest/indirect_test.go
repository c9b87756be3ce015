package backtest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/exchange/tape"
	"botd/reconcile/record"
	"botd/risk"
	"botd/runtime/engine"
	"botd/strategy"
)

// following has exits that follow the price.
type following struct {
	strategy.Strategy
	strategy.Follower
}

func (following) Follows() bool { return true }

// preparing decides for many candles at once.
type preparing struct{ strategy.Strategy }

func (preparing) Batch(*strategy.View, *exchange.Candles, int, int, func(int) exchange.Amount) int {
	return 0
}

// TestWhyTheEngineIsTheMachine lists what the direct machine does not cover.
func TestWhyTheEngineIsTheMachine(t *testing.T) {
	t.Parallel()
	covered := func() *Config {
		c := sound()
		c.Legs[0].Make = func(*tape.Tape) (strategy.Strategy, error) { return nil, nil }
		symbol := *c.Legs[0].Tape.Symbol
		symbol.Tradable, symbol.ReduceOnly = true, false
		c.Legs[0].Tape = &tape.Tape{Symbol: &symbol, Candles: c.Legs[0].Tape.Candles}
		return c
	}
	of := func(c *Config) *engine.StrategyConfig { return &c.Legs[0].Strategy }
	const interval, asked = 5 * minute, "a strategy that may not trade"
	for _, c := range []struct {
		want   string
		change func(c *Config)
	}{
		{"", func(*Config) {}},
		{"as configured", func(c *Config) { c.engine = true }},
		{"several strategies", func(c *Config) { c.Legs = append(c.Legs, Leg{}) }},
		{"a strategy that cannot be made again", func(c *Config) { c.Legs[0].Make = nil }},
		{"spot", func(c *Config) { c.Legs[0].Tape.Symbol.Market = exchange.Spot }},
		{"limits", func(c *Config) { c.Limits = risk.Limits{MaxOpenOrders: 1} }},
		{"limits", func(c *Config) { of(c).Limits = risk.Limits{MaxOpenOrders: 1} }},
		{"a schedule", func(c *Config) { of(c).Schedule = regularly(minute) }},
		{"", func(c *Config) { of(c).Protection = strategy.Protection{Set: true} }},
		{"stops or targets", func(c *Config) {
			of(c).Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Price: 1}}
		}},
		{"", func(c *Config) { c.Costs.LatencyMS = interval }},
		{"", func(c *Config) { c.Costs.LaterMS = interval }},
		{"latency", func(c *Config) { c.Costs.LatencyMS = interval + 1 }},
		{"latency", func(c *Config) { c.Costs.LatencyMS, c.Costs.LaterMS = 1, interval }},
		{"recorded trades", func(c *Config) { c.Legs[0].Trades = &exchange.Trades{} }},
		{"a strategy that sees more than its candles", func(c *Config) { c.Signals = []Signal{{}} }},
		{"a strategy that is asked between candles, or for many", func(c *Config) { of(c).Strategy = following{} }},
		{"a strategy that is asked between candles, or for many", func(c *Config) { of(c).Strategy = preparing{} }},
		{"journal and notes", func(c *Config) { c.Record = func(*record.Record) {} }},
		{"journal and notes", func(c *Config) { c.Note = func(*engine.Note) {} }},
		{"journal and notes", func(c *Config) { c.Ledger = true }},
		{asked, func(c *Config) { of(c).Paused = true }},
		{asked, func(c *Config) { of(c).Removed = true }},
		{asked, func(c *Config) { c.Legs[0].Tape.Symbol.Tradable = false }},
		{asked, func(c *Config) { c.Legs[0].Tape.Symbol.ReduceOnly = true }},
		{asked, func(c *Config) { c.Legs[0].Tape.Symbol.OrderTypes = []exchange.OrderType{exchange.Limit} }},
		{"", func(c *Config) {
			c.Legs[0].Tape.Symbol.OrderTypes = []exchange.OrderType{exchange.Limit, exchange.MarketOrder}
		}},
	} {
		config := covered()
		c.change(config)
		if have := config.indirect(); have != c.want {
			t.Errorf("want %q, have %q", c.want, have)
		}
	}
}

// An order is at most the symbol's largest one, and within its margin brackets at the set leverage.
func TestDirectMachineOrderBounds(t *testing.T) {
	t.Parallel()
	symbol, err := exchange.NewSymbol(exchange.SymbolSpec{Market: exchange.Futures, Name: "X-USDT", Base: "X", Quote: "USDT", PriceTick: decimal.New(1, 0),
		QuantityTick: decimal.New(1, -2), MinNotional: decimal.NewFromInt(5), MaxNotional: decimal.NewFromInt(400), Tradable: true,
		Brackets: []exchange.Bracket{{Max: exchange.AmountOf(100), MaxLeverage: 20}, {Max: exchange.AmountOf(1_000), MaxLeverage: 10}}})
	if err != nil {
		t.Fatal(err)
	}
	quantity := func(hundredths int64) exchange.Quantity { return exchange.Quantity(hundredths) * symbol.QuantityTick }
	price, err := symbol.Price(decimal.NewFromInt(10))
	if err != nil {
		t.Fatal(err)
	}
	d := &direct{symbol: symbol, last: price}
	for _, c := range []struct {
		leverage int
		size     int64 // hundredths, at 10
		want     bool
	}{{20, 1_000, true}, {20, 1_001, false}, {21, 1_000, false}, {10, 10_000, true}, {10, 10_001, false}, {11, 10_000, false}} {
		if d.leverage = c.leverage; d.bracketed(price, quantity(c.size)) != c.want {
			t.Errorf("%d hundredths at 10 with a leverage of %d: want %v", c.size, c.leverage, c.want)
		}
	}
	for asked, want := range map[int64]int64{4_000: 4_000, 4_001: 4_000, 9_999: 4_000, 50: 50} { // 400 USDT are 40
		have, value := d.capped(quantity(asked))
		if have != quantity(want) || value != symbol.Notional(price, have) {
			t.Errorf("%d hundredths: want %d, have %d worth %s", asked, want, have/symbol.QuantityTick, value)
		}
	}
	for size, want := range map[int64]bool{0: true, 49: true, 50: false} { // 5 USDT are 0.5
		if have := d.tooSmall(quantity(size), symbol.Notional(price, quantity(size))); have != want {
			t.Errorf("%d hundredths: want too small %v, have %v", size, want, have)
		}
	}
	plain := *symbol
	plain.Brackets = nil
	d.symbol = &plain
	for leverage, want := range map[int]bool{1: true, 2: false} {
		if d.leverage = leverage; d.bracketed(price, quantity(1)) != want {
			t.Errorf("without brackets, a leverage of %d: want %v", leverage, want)
		}
	}
}

// The periods are in the order of the trips' ends, with the numbers of lost trips and of trips without a
// result.
func TestRoundTripsByPeriod(t *testing.T) {
	t.Parallel()
	at := func(month time.Month, day int) int64 {
		return time.Date(2024, month, day, 23, 59, 0, 0, time.UTC).UnixMilli()
	}
	r := &Result{Trips: []TripRow{{LeftMS: at(2, 1), PNL: "-3", Fees: "0.5"}, {LeftMS: at(1, 1), PNL: "5", Fees: "0.1"},
		{LeftMS: at(1, 31), PNL: "0", Fees: "0.2"},
		{LeftMS: at(1, 1), PNL: "2", Fees: "0"}}}
	for period, want := range map[string][]PeriodRow{
		"month": {{"2024-01", 3, 2, 0, "7", "0.3", "7"}, {"2024-02", 1, 0, 1, "-3", "0.5", "4"}},
		"week":  {{"2024-W01", 2, 2, 0, "7", "0.1", "7"}, {"2024-W05", 2, 0, 1, "-3", "0.7", "4"}},
		"day":   {{"2024-01-01", 2, 2, 0, "7", "0.1", "7"}, {"2024-01-31", 1, 0, 0, "0", "0.2", "7"}, {"2024-02-01", 1, 0, 1, "-3", "0.5", "4"}},
	} {
		if diff := cmp.Diff(want, r.Breakdown(period)); diff != "" {
			t.Errorf("by %s: %s", period, diff)
		}
	}
}

// Columns are aligned on the right and figures are signed; a color is never the only sign.
func TestTheTablesOfGroups(t *testing.T) {
	t.Parallel()
	var table strings.Builder
	r := &Result{ByExit: []ReasonRow{{"stop_loss", 12, 3, "-4.5"}, {"exit", 1, 0, "0"}}}
	r.groupTables(&table, false)
	want := []string{"│ EXIT      │ ROUND TRIPS │ WON │ PROFIT USDT │", "│ stop_loss │          12 │   3 │       -4.50 │",
		"│ exit      │           1 │   0 │       +0.00 │"}
	for _, line := range want {
		if !strings.Contains(table.String(), line) {
			t.Errorf("want %s in\n%s", line, table.String())
		}
	}
	for text, color := range map[string]string{"1": "32", "-1": "31", "0": ""} {
		plain, painted := Signed(decimal.RequireFromString(text), false), Signed(decimal.RequireFromString(text), true)
		if strings.Contains(plain, "\x1b") || (painted != plain) != (color != "") || !strings.Contains(painted, color+"m") && color != "" {
			t.Errorf("%s: have %q and %q", text, plain, painted)
		}
	}
	names := FigureNames()
	for _, name := range []string{"final_equity", "sharpe", "trades", "win_days", "rolling_beta"} {
		if !slices.Contains(names, name) {
			t.Errorf("want the figure %s among %v", name, names)
		}
	}
	if slices.Sort(names); len(slices.Compact(slices.Clone(names))) != len(names) || len(names) <= len(Metrics()) {
		t.Errorf("want each once, have %v", names)
	}
	if _, known := Ranking("drawdown"); !known || !slices.Equal(Rankings(), []string{"sharpe", "profit", "profit_factor", "drawdown"}) {
		t.Errorf("have %v", Rankings())
	}
}
