package cli

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	goruntime "runtime"
	"time"

	"github.com/spf13/cobra"

	"botd/backtest"
	"botd/cmd/botd/cli/shell"
	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/tape"
	"botd/internal/failure"
)

// measured is one line of the bench.
type measured struct {
	What      string  `json:"what"`
	Seconds   float64 `json:"seconds"`
	Processor float64 `json:"processor_s"`           // of all cores together, the collector of garbage included
	Speed     float64 `json:"million_candles_per_s"` // by the processor's time
	Times     float64 `json:"times_as_long"`         // as the bare loop, or the hand-written program
	Fills     int     `json:"fills,omitempty"`
	Allocs    uint64  `json:"allocations,omitempty"`
	Memory    float64 `json:"peak_mb,omitempty"` // of the process
}

type benchResult struct {
	Machine string     `json:"machine"`
	Candles int        `json:"candles"`
	CSV     int64      `json:"csv_bytes"`
	Report  int64      `json:"report_bytes"`
	Engine  []measured `json:"engine"`  // candles in memory; times the bare loop
	Command []measured `json:"command"` // from the file; times a hand-written parse and loop
}

func newBench() *cobra.Command {
	var (
		output, into  string
		hand          string
		candles, runs int
	)
	command := &cobra.Command{
		Use: "bench", Short: "how fast backtests are on this machine", Args: cobra.NoArgs,
		Long: `Measures backtests on candles of a market that never was: the engine over candles in memory
beside a bare loop of float64 over the same columns, and whole commands, from the CSV file to
the printed result, beside a hand-written program that parses the file and loops. Each figure is
the best of several runs; speeds are by the processor's time, which other programs disturb
little. --into FILE writes the tables into a Markdown file, between its bench marks.`,
		Example: "  botd bench\n  botd bench --candles 200000 -o json\n  go run ./cmd/botd bench --into docs/performance.md",
		RunE: func(command *cobra.Command, _ []string) error {
			if hand != "" {
				fills, err := handWritten(hand)
				fmt.Fprintln(command.OutOrStdout(), fills)
				return failure.Wrap(failure.IO, err)
			}
			if candles < 10_000 || candles > 50_000_000 || runs < 1 || runs > 100 {
				return failure.Usagef("--candles from 10000 to 50000000, --runs from 1 to 100")
			}
			b := &bench{ctx: command.Context(), candles: candles, runs: runs, tell: command.ErrOrStderr()}
			if err := b.run(); err != nil {
				return failure.Wrap(failure.Internal, err)
			}
			if into != "" {
				return failure.Wrap(failure.IO, b.result.insert(into))
			}
			return shell.Print(command.OutOrStdout(), output, b.result, b.result.table)
		},
	}
	f := command.Flags()
	f.IntVar(&candles, "candles", 1_000_000, "one-minute candles")
	f.IntVar(&runs, "runs", 5, "the best of so many counts")
	f.StringVar(&into, "into", "", "Markdown file to write the table into")
	f.StringVar(&hand, "hand", "", "be the hand-written program")
	if err := f.MarkHidden("hand"); err != nil {
		panic("botd: " + err.Error())
	}
	shell.OutputFlag(command, &output)
	return command
}

// bench measures.
type bench struct {
	ctx           context.Context
	candles, runs int
	tell          io.Writer
	result        benchResult
	recorded      *tape.Tape
	directory     string
}

func (b *bench) run() (err error) {
	b.result = benchResult{Machine: machineText(), Candles: b.candles}
	if b.directory, err = os.MkdirTemp("", "botd-bench-*"); err != nil {
		return err
	}
	defer os.RemoveAll(b.directory)
	// First the commands: the memory of a process counts what its parent had.
	if err := b.command(); err != nil {
		return err
	}
	symbol, _ := exchange.FindSymbol(sim.DefaultSymbols(), exchange.Futures, "BTC-USDT")
	b.recorded = &tape.Tape{Symbol: symbol, Candles: tape.Generate(benchSeed, symbol, exchange.Minute1, benchStartMS, b.candles)}
	return b.engine()
}

const benchSeed, benchStartMS = 7, 1_704_067_200_000

func machineText() string {
	return fmt.Sprintf("%s/%s, %d cores, %s", goruntime.GOOS, goruntime.GOARCH, goruntime.NumCPU(), goruntime.Version())
}

// best runs something several times and keeps the shortest.
func (b *bench) best(what string, candles int, do func() (fills int, err error)) (measured, error) {
	fmt.Fprintln(b.tell, "measuring", what)
	m := measured{What: what, Seconds: math.MaxFloat64, Processor: math.MaxFloat64}
	for range b.runs {
		if b.ctx.Err() != nil {
			return m, context.Cause(b.ctx)
		}
		var before, after goruntime.MemStats
		goruntime.GC()
		goruntime.ReadMemStats(&before)
		began, used := time.Now(), processorTime()
		fills, err := do()
		elapsed, spent := time.Since(began).Seconds(), (processorTime() - used).Seconds()
		if err != nil {
			return m, fmt.Errorf("%s: %w", what, err)
		}
		goruntime.ReadMemStats(&after)
		if spent == 0 { // not told by this system
			spent = elapsed
		}
		m.Seconds, m.Processor = min(m.Seconds, elapsed), min(m.Processor, spent)
		m.Fills, m.Allocs = fills, after.Mallocs-before.Mallocs
	}
	m.Speed = float64(candles) / m.Processor / 1e6
	return m, nil
}

// engine measures runs over candles in memory.
func (b *bench) engine() error {
	opens, closes := make([]float64, b.candles), make([]float64, b.candles)
	for i, price := range b.recorded.Candles.Close {
		opens[i], closes[i] = float64(b.recorded.Candles.Open[i]), float64(price)
	}
	bare, err := b.best("bare loop over float64 columns: 200/1000 cross, position, equity, drawdown", b.candles, func() (int, error) {
		fills, _ := bareBacktest(opens, closes, 200, 1000)
		return fills, nil
	})
	if err != nil {
		return err
	}
	bare.Times = 1
	b.result.Engine = append(b.result.Engine, bare)
	symbols := 10
	several := b.several(symbols)
	for _, c := range []struct {
		what    string
		candles int
		config  func() (backtest.Config, error)
	}{
		{"quiet: nothing is wished", b.candles, b.quiet},
		{"sma_cross 2000/10000", b.candles, func() (backtest.Config, error) { return b.cross("2000", "10000") }},
		{"sma_cross 200/1000", b.candles, func() (backtest.Config, error) { return b.cross("200", "1000") }},
		{"sma_cross 10/50", b.candles, func() (backtest.Config, error) { return b.cross("10", "50") }},
		{"grid, 200 orders at rest, lines 0.1 % apart", b.candles, func() (backtest.Config, error) { return b.grid(0.001) }},
		{"grid, 200 orders at rest, lines 1 % apart", b.candles, func() (backtest.Config, error) { return b.grid(0.01) }},
		{fmt.Sprintf("sma_cross 200/1000 on %d symbols at once", symbols), several[0].Candles.Len() * symbols, func() (backtest.Config, error) { return b.together(several) }},
	} {
		m, err := b.best(c.what, c.candles, func() (int, error) {
			config, err := c.config()
			if err != nil {
				return 0, err
			}
			result, err := backtest.Run(b.ctx, config)
			if err != nil {
				return 0, err
			}
			return result.Fills, nil
		})
		if err != nil {
			return err
		}
		m.Times = bare.Speed / m.Speed
		b.result.Engine = append(b.result.Engine, m)
	}
	return nil
}

// bareBacktest is what a backtest is at the least: two averages and their crosses,
// a position taken at the next open, equity at each close, the deepest fall; no
// exchange, no rules, no fees.
func bareBacktest(opens, closes []float64, fast, slow int) (fills int, deepest float64) {
	sumFast, sumSlow, above, scale := 0.0, 0.0, false, float64(slow)/float64(fast)
	cash, held, peak := 1.0, 0.0, 1.0
	for i, price := range closes {
		sumFast, sumSlow = sumFast+price, sumSlow+price
		if i >= fast {
			sumFast -= closes[i-fast]
		}
		equity := cash + held*price
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
		cash += held * opens[i+1]
		if held = 0; now {
			held = cash / opens[i+1]
			cash = 0
		}
	}
	return fills, deepest
}
