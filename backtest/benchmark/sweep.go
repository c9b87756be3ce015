package benchmark

import (
	"fmt"
	"io"
	goruntime "runtime"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"

	"botd/backtest"
	"botd/exchange"
	"botd/exchange/tape"
	"botd/strategy"
)

// minTrials is the minimum number of trials to measure, each over a fifth of the candles. With more cores there are two
// trials for each.
const minTrials, sweepShare = 4, 5

// Sweep is the cost of a sweep's trials.
type Sweep struct {
	Cores        int     `json:"cores"`
	Trials       int     `json:"trials"`
	Candles      int     `json:"candles"` // of a trial
	Milliseconds float64 `json:"trial_ms"`
	Processor    float64 `json:"trial_processor_ms"`
	Times        float64 `json:"times_one_core"` // speed
}

// sweep measures the trials of a sweep that trades often, by one core and by all.
func (b *Benchmark) sweep(plain *measured) error {
	cores := goruntime.GOMAXPROCS(0)
	defer goruntime.GOMAXPROCS(cores)
	candles, trials := b.Candles/sweepShare, max(minTrials, 2*cores)
	recorded := &tape.Tape{Symbol: b.recorded.Symbol, Candles: b.recorded.Candles.Slice(0, candles)}
	for _, used := range []int{1, cores} {
		goruntime.GOMAXPROCS(used)
		what := fmt.Sprintf("a sweep of %d trials over %d candles, sma_cross 10/50", trials, candles)
		m, err := b.best(what, trials*candles, func() (fills int, err error) { return b.sweepOnce(recorded, trials) })
		if err != nil {
			return err
		}
		one := Sweep{Cores: used, Trials: trials, Candles: candles, Milliseconds: 1000 * m.Seconds / float64(trials),
			Processor: 1000 * m.Processor / float64(trials), Times: 1}
		if len(b.Result.Sweep) > 0 {
			one.Times = b.Result.Sweep[0].Milliseconds / one.Milliseconds
		}
		if b.Result.Sweep = append(b.Result.Sweep, one); len(b.Result.Sweep) > 1 || cores == 1 {
			m.Times = plain.Speed / m.Speed
			b.Result.Engine = append(b.Result.Engine, m)
			return nil
		}
	}
	return nil
}

// sweepOnce runs a sweep, and returns the number of its fills.
func (b *Benchmark) sweepOnce(recorded *tape.Tape, count int) (fills int, err error) {
	leg := b.leg(recorded, "sma_cross", strategy.Size{Equity: exchange.RateOne}, strategy.Values{"fast": "10", "slow": "50"})
	config, trials := b.costs(), slices.Repeat([]backtest.Trial{{Leg: leg}}, count)
	config.Legs = []backtest.Leg{leg}
	_, err = backtest.Sweep(b.Ctx, config, trials, 0, nil)
	for i := range trials {
		fills += trials[i].Seen.Fills
	}
	return fills, err
}

// sweepTable writes the cost of trials by the number of cores.
func (r *Result) sweepTable(w io.Writer, right []table.ColumnConfig, render func(table.Writer) string) {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.SetColumnConfigs(right)
	t.AppendHeader(table.Row{"cores of a sweep", "trials", "candles each", "a trial: wall ms", "processor ms", "times one core"})
	for _, s := range r.Sweep {
		t.AppendRow(table.Row{s.Cores, s.Trials, s.Candles, fmt.Sprintf("%.1f", s.Milliseconds), fmt.Sprintf("%.1f", s.Processor),
			fmt.Sprintf("%.2f x", s.Times)})
	}
	fmt.Fprintf(w, "%s\n\n", render(t))
}
