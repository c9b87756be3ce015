package backtest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	goruntime "runtime"
	"slices"
	"sync"

	"github.com/shopspring/decimal"

	"botd/exchange"
)

// Trial is one choice of parameters with its result.
type Trial struct {
	Params map[string]string `json:"params"`
	Job    string            `json:"job_sha256,omitempty"` // hash of all inputs of the trial
	Leg    Leg               `json:"-"`                    // Strategy and Make of the choice; the rest is the sweep's
	Config *Config           `json:"-"`                    // set where more than the leg differs from the sweep's: other candles, other costs

	Seen    *Column             `json:"seen"`              // over all candles, or those before the split; the choice depends on it
	Unseen  *Column             `json:"unseen"`            // over the candles after the split; null without one
	Figures map[string]*float64 `json:"figures,omitempty"` // of Seen by name, for expressions; null where undefined
}

// Sweep runs the configuration's one leg once for every trial, several at a time. With a split, a share of the
// candles, each trial runs twice: before and after the split. ended is called for each trial as it ends, one at a
// time, in any order. Its error ends the sweep.
func Sweep(ctx context.Context, config Config, trials []Trial, split exchange.Rate, ended func(done int, t *Trial) error) (splitMS int64, err error) {
	if len(config.Legs) != 1 {
		return 0, fmt.Errorf("a sweep takes one strategy, not %d", len(config.Legs))
	}
	if splitMS, err = config.SplitAt(split); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := make([]error, len(trials))
	slots := make(chan struct{}, goruntime.GOMAXPROCS(0))
	var group sync.WaitGroup
	var mu sync.Mutex // guards done, and serializes progress
	done := 0
	run := func(i int, config *Config) {
		if errs[i] = trials[i].Run(ctx, config, splitMS); errs[i] == nil && ended != nil {
			mu.Lock()
			defer mu.Unlock()
			done++
			errs[i] = ended(done, &trials[i])
		}
		if errs[i] != nil {
			cancel()
		}
	}
	most := config.trialsTogether(trials)
	for from, to := 0, 0; from < len(trials); from = to {
		slots <- struct{}{}
		to = from + min(max(1, (len(trials)-from)/cap(slots)), most)
		group.Go(func() {
			defer func() { <-slots }()
			config.inTurns(ctx, from, to, run)
		})
	}
	group.Wait()
	return splitMS, firstFailure(trials, errs)
}

// trialsTogether returns the maximum number of trials that one core runs together. A block of candles is then loaded once for
// all of them, and cached near the core. Engine runs take far longer than loading and may have their own process, so they run
// one at a time.
func (c *Config) trialsTogether(trials []Trial) int {
	for i := range trials {
		config := *c
		if trials[i].Config != nil {
			config = *trials[i].Config
		}
		if config.Legs = []Leg{trials[i].leg(&config)}; config.indirect() != "" {
			return 1
		}
	}
	return 4
}

// inTurns runs trials together: each in its turn, until the next call of Pace.
func (c *Config) inTurns(ctx context.Context, from, to int, run func(i int, config *Config)) {
	own, pace := *c, c.Pace
	if c.Rest {
		rest := Rest(ctx)
		own.Rest, pace = false, func(int, int) { rest() }
	}
	var turns []func() (struct{}, bool)
	for i := from; i < to; i++ {
		own := own
		next, stop := iter.Pull(func(yield func(struct{}) bool) {
			own.Pace = func(done, total int) {
				if pace != nil {
					pace(done, total)
				}
				yield(struct{}{})
			}
			run(i, &own)
		})
		defer stop()
		turns = append(turns, next)
	}
	for len(turns) > 0 {
		turns = slices.DeleteFunc(turns, func(next func() (struct{}, bool)) bool {
			_, more := next()
			return !more
		})
	}
}

// firstFailure returns the error of the first trial that failed by itself, not because of another one.
func firstFailure(trials []Trial, errs []error) (first error) {
	for i, err := range errs {
		if err != nil && (first == nil || errors.Is(first, context.Canceled)) {
			first = fmt.Errorf("with %v: %w", trials[i].Params, err)
		}
	}
	return first
}

// SplitAt returns the open time of the first candle after a share of the one leg's candles, or 0 without a split.
func (c *Config) SplitAt(split exchange.Rate) (splitMS int64, err error) {
	if split == 0 {
		return 0, nil
	}
	candles := c.Legs[0].Tape.Candles
	at := int(int64(candles.Len()) * int64(split) / int64(exchange.RateOne))
	if at < 1 || at >= candles.Len() {
		return 0, fmt.Errorf("a split at %s of %d candles leaves one side without candles", split, candles.Len())
	}
	return candles.OpenMS[at], nil
}

// parts returns the configurations of a trial: all candles, or those before and those after the split.
func (c *Config) parts(splitMS int64) []Config {
	config := *c
	config.Progress, config.Record, config.Note, config.Inputs, config.auxiliary = nil, nil, nil, nil, true
	config.FiguresOnly = config.FiguresOnly || c.choosing
	if splitMS == 0 {
		return []Config{config}
	}
	return []Config{config.between(0, splitMS-c.PurgeMS), config.between(splitMS+c.EmbargoMS, math.MaxInt64)}
}

// Run runs the trial on the sweep's configuration, on the caller's goroutine.
func (t *Trial) Run(ctx context.Context, config *Config, splitMS int64) error {
	if t.Config != nil {
		config = t.Config
	}
	parts := config.parts(splitMS)
	for i, into := range []**Column{&t.Seen, &t.Unseen}[:len(parts)] {
		config := parts[i]
		if len(config.Legs) == 0 {
			return errors.New("purge and embargo leave a part without candles")
		}
		if i > 0 && config.choosing {
			break
		}
		config.Legs = []Leg{t.leg(&config)}
		if config.Rest {
			rest := Rest(ctx)
			config.Pace = func(int, int) { rest() }
		}
		result, err := Run(ctx, config)
		if err != nil {
			return err
		}
		column := result.column([]string{"seen", "unseen"}[i])
		column.Assumptions = nil // long, and the same for all
		*into = &column
		if i == 0 {
			t.Figures = column.figures(result.Metrics)
		}
	}
	return nil
}

// leg returns the configuration's leg with the trial's choice.
func (t *Trial) leg(config *Config) Leg {
	leg := config.Legs[0]
	leg.Strategy, leg.Make = t.Leg.Strategy, t.Leg.Make
	return leg
}

// columnFigures are the figures of a column that expressions may name, in addition to those of Metrics.
var columnFigures = []struct {
	name string
	of   func(c *Column) *float64
}{
	{"final_equity", func(c *Column) *float64 { return nearest(c.FinalEquity) }},
	{"profit_pct", func(c *Column) *float64 { return c.Profit }},
	{"max_drawdown_pct", func(c *Column) *float64 { return &c.MaxDrawdown }},
	{"sharpe", func(c *Column) *float64 { return c.Sharpe }},
	{"cagr_pct", func(c *Column) *float64 { return c.CAGR }},
	{"profit_factor", func(c *Column) *float64 { return c.ProfitFactor }},
	{"fills", func(c *Column) *float64 { return number(float64(c.Fills)) }},
	{"trades", func(c *Column) *float64 { return number(float64(c.RoundTrips)) }},
	{"wins", func(c *Column) *float64 { return number(float64(c.Wins)) }},
	{"liquidations", func(c *Column) *float64 { return number(float64(c.Liquidations)) }},
	{"total_fees", func(c *Column) *float64 { return nearest(c.TotalFees) }},
	{"total_funding", func(c *Column) *float64 { return nearest(c.TotalFunding) }},
	{"total_slippage", func(c *Column) *float64 { return nearest(c.TotalSlippage) }},
}

func number(x float64) *float64 { return &x }

// nearest returns the float64 nearest to a column's amount.
func nearest(amount string) *float64 {
	return number(decimal.RequireFromString(amount).InexactFloat64())
}

// FigureNames returns the names that an expression about a trial may use.
func FigureNames() (names []string) {
	for i := range columnFigures {
		names = append(names, columnFigures[i].name)
	}
	for i := range metricTable {
		if !slices.Contains(names, metricTable[i].Name) {
			names = append(names, metricTable[i].Name)
		}
	}
	return names
}

// figures returns all figures by name. Where a metric shares a name with a figure of the column, the column's figure
// wins, since the table shows it.
func (c *Column) figures(metrics map[string]*float64) map[string]*float64 {
	all := maps.Clone(metrics)
	if all == nil {
		all = map[string]*float64{}
	}
	for i := range columnFigures {
		all[columnFigures[i].name] = columnFigures[i].of(c)
	}
	return all
}

// eulerGamma is the Euler-Mascheroni constant.
const eulerGamma = 0.57721566490153286

// LuckySharpe returns the best Sharpe ratio expected from as many trials without skill: their spread times the
// expected maximum of as many normal numbers (Bailey and Lopez de Prado, The Deflated Sharpe Ratio, 2014). Every
// trial counts, even without a ratio, since it was tried. known is false for fewer than two ratios, and where a trial was
// stopped early: ratios of different days have no common spread, and without those of the bad trials it would be too small.
func LuckySharpe(trials []Trial) (lucky float64, known bool) {
	n, sum, squares := 0.0, 0.0, 0.0
	for i := range trials {
		if trials[i].Seen.StoppedEarly() {
			return 0, false
		}
		if seen := trials[i].Seen; seen != nil && seen.Sharpe != nil {
			n, sum, squares = n+1, sum+*seen.Sharpe, squares+float64(*seen.Sharpe**seen.Sharpe)
		}
	}
	if n < 2 {
		return 0, false
	}
	spread := math.Sqrt(max(0, (squares-sum*sum/n)/(n-1)))
	n = float64(len(trials))
	normal := func(p float64) float64 { return float64(math.Sqrt2 * math.Erfinv(float64(2*p)-1)) }
	return float64(spread * (float64((1-eulerGamma)*normal(1-1/n)) + float64(eulerGamma*normal(1-1/(n*math.E))))), true
}
