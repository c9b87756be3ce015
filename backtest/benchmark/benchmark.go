// Package benchmark measures the speed of backtests, and of acknowledging many openings, on this machine.
package benchmark

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	goruntime "runtime"
	"time"

	"botd/backtest"
	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/tape"
	"botd/runtime/engine"
	"botd/strategy"
	"botd/strategy/library"
)

// measured is one line of the benchmark.
type measured struct {
	What      string   `json:"what"`
	Seconds   float64  `json:"seconds"`
	Processor float64  `json:"processor_s"`           // of all cores together, including garbage collection
	Speed     float64  `json:"million_candles_per_s"` // by processor time
	Times     float64  `json:"times_as_long"`         // relative to the plain loop or the hand-written program
	Fills     int      `json:"fills,omitempty"`
	Allocs    uint64   `json:"allocations,omitempty"`
	Memory    float64  `json:"peak_mb,omitempty"`    // of the process
	File      int64    `json:"file_bytes,omitempty"` // of candles, which the process reads
	PerFill   *perFill `json:"per_fill,omitempty"`
	Machine   string   `json:"machine,omitempty"` // of the backtest: direct, or the engine and why
}

// perFill is the cost of a fill.
type perFill struct {
	Microseconds float64 `json:"us"` // beyond the processor time of the quiet run that takes candles in the same way
	Allocs       float64 `json:"allocations"`
	Notes        float64 `json:"notes"` // facts that the engine reported
}

type Result struct {
	Machine string     `json:"machine"`
	Candles int        `json:"candles"`
	CSV     int64      `json:"csv_bytes"`
	Report  int64      `json:"report_bytes"`
	Often   int64      `json:"often_report_bytes"` // the same with many fills
	Engine  []measured `json:"engine"`             // candles in memory; times the plain loop
	Command []measured `json:"command"`            // from the file; times a hand-written parse and loop
	Sweep   []Sweep    `json:"sweep"`              // by one core and by all
	Opening []Opening  `json:"opening"`            // strategies that all open in one round
}

// Benchmark measures the speed of backtests.
type Benchmark struct {
	Ctx           context.Context
	Candles, Runs int
	Progress      io.Writer
	Result        Result
	recorded      *tape.Tape
	directory     string
	read          func() usage         // nil for this process's
	used          func() time.Duration // processor time, for openings; nil for this process's
	strategies    []int                // that open in one round; nil for openings
	filled        bool                 // the cache has the candles
}

func (b *Benchmark) Run() (err error) {
	b.Result = Result{Machine: machineText(), Candles: b.Candles}
	if b.directory, err = os.MkdirTemp("", "botd-bench-*"); err != nil {
		return err
	}
	defer os.RemoveAll(b.directory)
	// The commands come first: a child's reported memory includes its parent's.
	if err := b.command(); err != nil {
		return err
	}
	symbol, _ := exchange.FindSymbol(sim.DefaultSymbols(), exchange.Futures, "BTC-USDT")
	b.recorded = &tape.Tape{Symbol: symbol, Candles: tape.Generate(benchSeed, symbol, exchange.Minute1, benchStartMS, b.Candles)}
	if err := b.engine(); err != nil {
		return err
	}
	return b.opening()
}

const benchSeed, benchStartMS = 7, 1_704_067_200_000

func machineText() string {
	return fmt.Sprintf("%s/%s, %d cores, %s", goruntime.GOOS, goruntime.GOARCH, goruntime.NumCPU(), goruntime.Version())
}

// best runs a function several times and returns the shortest run.
func (b *Benchmark) best(what string, candles int, do func() (fills int, err error)) (measured, error) {
	fmt.Fprintln(b.Progress, "measuring", what)
	m := measured{What: what, Seconds: math.MaxFloat64, Processor: math.MaxFloat64}
	read := b.read
	if read == nil {
		read = ownUsage
	}
	for range b.Runs {
		if b.Ctx.Err() != nil {
			return m, context.Cause(b.Ctx)
		}
		goruntime.GC()
		before := read()
		fills, err := do()
		if err != nil {
			return m, fmt.Errorf("%s: %w", what, err)
		}
		m.add(before, read())
		m.Fills = fills
	}
	m.Speed = float64(candles) / m.Processor / 1e6
	return m, nil
}

// usage is what a process has used up to a moment.
type usage struct {
	at        time.Time
	processor time.Duration // 0 on a system that does not report it
	allocs    uint64
}

func ownUsage() usage {
	var memory goruntime.MemStats
	goruntime.ReadMemStats(&memory)
	return usage{time.Now(), processorTime(), memory.Mallocs}
}

// add adds the usage before and after a run.
func (m *measured) add(before, after usage) {
	elapsed, spent := after.at.Sub(before.at).Seconds(), (after.processor - before.processor).Seconds()
	if after.processor == 0 {
		spent = elapsed
	}
	m.Seconds, m.Processor, m.Allocs = min(m.Seconds, elapsed), min(m.Processor, spent), after.allocs-before.allocs
}

// engine measures runs over candles in memory.
func (b *Benchmark) engine() error {
	opens, closes := make([]float64, b.Candles), make([]float64, b.Candles)
	for i, price := range b.recorded.Candles.Close {
		opens[i], closes[i] = float64(b.recorded.Candles.Open[i]), float64(price)
	}
	plain, err := b.best("plain loop over float64 columns: 200/1000 cross, position, equity, drawdown", b.Candles, func() (int, error) {
		fills, _ := plainBacktest(opens, closes, 200, 1000)
		return fills, nil
	})
	if err != nil {
		return err
	}
	plain.Times = 1
	b.Result.Engine = append(b.Result.Engine, plain)
	symbols := 10
	several := b.several(symbols)
	for _, c := range []struct {
		what    string
		candles int
		config  backtest.Config
	}{
		{"quiet: no target", b.Candles, b.quiet(noTarget{})},
		{"quiet, candles by column", b.Candles, b.quiet(passing{})},
		{"the same, figures only: no curve", b.Candles, b.quietFigures()},
		{"sma_cross 2000/10000", b.Candles, b.cross("2000", "10000")},
		{"sma_cross 200/1000", b.Candles, b.cross("200", "1000")},
		{"sma_cross 10/50", b.Candles, b.cross("10", "50")},
		{"a market order every 37 candles", b.Candles, b.turns()},
		{"the same, figures only: no rows, no hash", b.Candles, b.turnsFigures()},
		{"the same with every fact reported, by the engine", b.Candles, b.turnsNoted()},
		{"grid, 200 resting orders, lines 0.1 % apart", b.Candles, b.grid(0.001)},
		{"grid, 200 resting orders, lines 1 % apart", b.Candles, b.grid(0.01)},
		{fmt.Sprintf("sma_cross 200/1000 on %d symbols at once", symbols), several[0].Candles.Len() * symbols, b.together(several)},
	} {
		machine := ""
		m, err := b.best(c.what, c.candles, func() (int, error) {
			result, err := backtest.Run(b.Ctx, c.config)
			if err != nil {
				return 0, err
			}
			machine = result.Machine
			return result.Fills, nil
		})
		if err != nil {
			return err
		}
		m.Times, m.Machine = plain.Speed/m.Speed, machine
		if m.Fills*fillsCount > b.Candles {
			if m.PerFill, err = b.counted(&m, c.config); err != nil {
				return err
			}
		}
		b.Result.Engine = append(b.Result.Engine, m)
	}
	return b.sweep(&plain)
}

// fillsCount is the maximum number of candles per fill at which the cost of fills is measurable.
const fillsCount = 50

// counted measures the cost of a run's fills: its time and allocations beyond those of the quiet run, and the notes
// of another run, since the direct machine makes none.
func (b *Benchmark) counted(m *measured, config backtest.Config) (*perFill, error) {
	notes := 0
	if config.Note = func(*engine.Note) { notes++ }; m.Machine != "direct" {
		if _, err := backtest.Run(b.Ctx, config); err != nil {
			return nil, err
		}
	}
	traded, err := config.Legs[0].Make(b.recorded)
	if err != nil {
		return nil, err
	}
	return m.beyond(b.quietFor(m, traded, config.FiguresOnly), notes), nil
}

// quietFor returns the quiet run that takes candles in the same way, by column where the machine and the strategy do, and
// whose result has the same parts.
func (b *Benchmark) quietFor(m *measured, traded strategy.Strategy, figuresOnly bool) *measured {
	switch {
	case m.Machine != "direct" || !isPasser(traded):
		return &b.Result.Engine[1]
	case figuresOnly:
		return &b.Result.Engine[3]
	}
	return &b.Result.Engine[2]
}

// beyond returns the cost of each fill beyond a quiet run.
func (m *measured) beyond(quiet *measured, notes int) *perFill {
	fills := float64(m.Fills)
	return &perFill{1e6 * max(0, m.Processor-quiet.Processor) / fills, max(0, float64(m.Allocs)-float64(quiet.Allocs)) / fills, float64(notes) / fills}
}

func isPasser(s strategy.Strategy) bool {
	_, is := s.(strategy.Passer)
	return is
}

// plainBacktest is a minimal backtest: two averages and their crosses, a position taken at the next open, equity at
// each close, and the maximum drawdown. It has no exchange, rules or fees.
func plainBacktest(opens, closes []float64, fast, slow int) (fills int, deepest float64) {
	sumFast, sumSlow, above, scale := 0.0, 0.0, false, float64(slow)/float64(fast)
	cash, held, peak := 1.0, 0.0, 1.0
	for i, price := range closes {
		sumFast, sumSlow = sumFast+price, sumSlow+price
		if i >= fast {
			sumFast -= closes[i-fast]
		}
		equity := cash + float64(held*price)
		peak = max(peak, equity)
		deepest = max(deepest, 1-equity/peak)
		if i < slow {
			continue
		}
		sumSlow -= closes[i-slow]
		now := sumFast*scale > sumSlow
		if now == above || i+1 == len(opens) {
			continue
		}
		above = now
		fills++
		cash += float64(held * opens[i+1])
		if held = 0; now {
			held = cash / opens[i+1]
			cash = 0
		}
	}
	return fills, deepest
}

func (b *Benchmark) quiet(idle strategy.Strategy) backtest.Config {
	config := b.costs()
	config.Legs = []backtest.Leg{{Kind: "idle", Tape: b.recorded, Strategy: engine.StrategyConfig{Name: "idle", Interval: exchange.Minute1,
		Leverage: 3}, Make: func(*tape.Tape) (strategy.Strategy, error) { return idle, nil }}}
	return config
}

// quietFigures returns a quiet run by column for a caller who reads neither rows nor the hash of the result.
func (b *Benchmark) quietFigures() backtest.Config {
	config := b.quiet(passing{})
	config.FiguresOnly = true
	return config
}

// turns returns a run that is long for 37 candles, then flat for as many.
func (b *Benchmark) turns() backtest.Config {
	config := b.costs()
	size := strategy.Size{Quote: exchange.AmountOf(100)}
	config.Legs = []backtest.Leg{{Kind: "turning", Tape: b.recorded, Strategy: engine.StrategyConfig{Name: "turning", Interval: exchange.Minute1,
		Leverage: 3, Size: size}, Make: func(*tape.Tape) (strategy.Strategy, error) { return &turning{size: size}, nil }}}
	return config
}

// turnsFigures returns turns for a caller who reads neither rows nor the hash of the result.
func (b *Benchmark) turnsFigures() backtest.Config {
	config := b.turns()
	config.FiguresOnly = true
	return config
}

// turnsNoted returns the config of turns with a callback for every note. Only the engine makes notes.
func (b *Benchmark) turnsNoted() backtest.Config {
	config := b.turns()
	config.Note = func(*engine.Note) {}
	return config
}

func (b *Benchmark) costs() backtest.Config {
	return backtest.Config{Cash: exchange.AmountOf(10_000), Costs: backtest.Costs{Futures: backtest.Fees{Maker: 20_000, Taker: 50_000}}}
}

// leg combines a strategy that the library has with a tape.
func (b *Benchmark) leg(recorded *tape.Tape, kind string, size strategy.Size, values strategy.Values) backtest.Leg {
	definition, _ := strategy.NewRegistry(library.All()...).Find(kind)
	setting := strategy.Setting{Market: recorded.Symbol.Market, Symbol: recorded.Symbol, Interval: exchange.Minute1, Size: size}
	return backtest.Leg{Kind: kind, Tape: recorded, Strategy: engine.StrategyConfig{Name: recorded.Symbol.Name, Interval: exchange.Minute1,
		Leverage: 3, Size: size}, Make: func(*tape.Tape) (strategy.Strategy, error) { return definition.New(setting, values) }}
}

func (b *Benchmark) one(kind string, size strategy.Size, values strategy.Values) backtest.Config {
	config := b.costs()
	config.Legs = []backtest.Leg{b.leg(b.recorded, kind, size, values)}
	return config
}

func (b *Benchmark) cross(fast, slow string) backtest.Config {
	return b.one("sma_cross", strategy.Size{Quote: exchange.AmountOf(5_000)}, strategy.Values{"fast": fast, "slow": slow, "mode": "long_short"})
}

// grid places 200 buys below the first price, each that share below the one above. The constant ratio keeps all prices
// above zero.
func (b *Benchmark) grid(apart float64) backtest.Config {
	first := b.recorded.Symbol.PriceFloat(b.recorded.Candles.Open[0])
	upper := float64(first * (1 - apart))
	values := strategy.Values{"upper": fmt.Sprintf("%.1f", upper), "lower": fmt.Sprintf("%.1f", upper*math.Pow(1-apart, 200)), "lines": "201",
		"orders": "200", "quantity": "0.001", "spacing": "geometric"}
	return b.one("grid", strategy.Size{}, values)
}

// several returns the candles of that many symbols, each with an equal share of the candles.
func (b *Benchmark) several(symbols int) []*tape.Tape {
	all := make([]*tape.Tape, symbols)
	for i := range all {
		own := *b.recorded.Symbol
		own.Name = fmt.Sprintf("S%d-USDT", i)
		all[i] = &tape.Tape{Symbol: &own, Candles: tape.Generate(uint64(i+1), &own, exchange.Minute1, benchStartMS, b.Candles/symbols)}
	}
	return all
}

func (b *Benchmark) together(tapes []*tape.Tape) backtest.Config {
	config := b.costs()
	for _, recorded := range tapes {
		config.Legs = append(config.Legs, b.leg(recorded, "sma_cross", strategy.Size{Quote: exchange.AmountOf(500)},
			strategy.Values{"fast": "200", "slow": "1000", "mode": "long_short"}))
	}
	return config
}
