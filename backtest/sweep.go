package backtest

import (
	"context"
	"fmt"
	"math"
	goruntime "runtime"
	"sync"

	"botd/exchange"
)

// Trial is one choice of parameters, and what came of it.
type Trial struct {
	Params map[string]string `json:"params"`
	Leg    Leg               `json:"-"` // Strategy and Make of the choice; the rest is the sweep's

	Seen   *Column `json:"seen"`   // over all candles, or those before the split; by this one chooses
	Unseen *Column `json:"unseen"` // over those behind it; null without a split
}

// Sweep runs the configuration's one leg once for every trial, several at a time. With
// a split, a share of the candles, each is run twice: up to there and from there on.
func Sweep(ctx context.Context, config Config, trials []Trial, split exchange.Rate, progress func(done, total int)) (splitMS int64, err error) {
	if len(config.Legs) != 1 {
		return 0, fmt.Errorf("a sweep is of one strategy, there are %d", len(config.Legs))
	}
	config.Progress, config.Record, config.Note, config.Inputs, config.beside = nil, nil, nil, nil, true
	parts := []Config{config}
	if split != 0 {
		candles := config.Legs[0].Tape.Candles
		at := int(int64(candles.Len()) * int64(split) / int64(exchange.RateOne))
		if at < 1 || at >= candles.Len() {
			return 0, fmt.Errorf("a split at %s of %d candles leaves none on one side", split, candles.Len())
		}
		splitMS = candles.OpenMS[at]
		parts = []Config{config.between(0, splitMS), config.between(splitMS, math.MaxInt64)}
	}
	errs := make([]error, len(trials))
	slots := make(chan struct{}, goruntime.GOMAXPROCS(0))
	var group sync.WaitGroup
	var mu sync.Mutex // guards done, and lets progress be called by one at a time
	done := 0
	for i := range trials {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			if errs[i] = trials[i].run(ctx, parts); errs[i] == nil && progress != nil {
				mu.Lock()
				defer mu.Unlock()
				done++
				progress(done, len(trials))
			}
		})
	}
	group.Wait()
	for i, err := range errs {
		if err != nil {
			return 0, fmt.Errorf("with %v: %w", trials[i].Params, err)
		}
	}
	return splitMS, nil
}

func (t *Trial) run(ctx context.Context, parts []Config) error {
	for i, into := range []**Column{&t.Seen, &t.Unseen}[:len(parts)] {
		config := parts[i]
		leg := config.Legs[0]
		leg.Strategy, leg.Make = t.Leg.Strategy, t.Leg.Make
		config.Legs = []Leg{leg}
		result, err := Run(ctx, config)
		if err != nil {
			return err
		}
		column := result.column([]string{"seen", "unseen"}[i])
		column.Assumptions = nil // the same for all, and many
		*into = &column
	}
	return nil
}

// eulerGamma is the Euler-Mascheroni constant.
const eulerGamma = 0.57721566490153286

// LuckySharpe is the best Sharpe ratio that as many trials would be expected to show if
// none had any skill: their spread times the expected maximum of as many normal numbers
// (Bailey and Lopez de Prado, The Deflated Sharpe Ratio, 2014). It is not known of less
// than two.
func LuckySharpe(trials []Trial) (lucky float64, known bool) {
	n, sum, squares := 0.0, 0.0, 0.0
	for i := range trials {
		if seen := trials[i].Seen; seen != nil && seen.Sharpe != nil {
			n, sum, squares = n+1, sum+*seen.Sharpe, squares+*seen.Sharpe**seen.Sharpe
		}
	}
	if n < 2 {
		return 0, false
	}
	spread := math.Sqrt(max(0, (squares-sum*sum/n)/(n-1)))
	normal := func(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }
	return spread * ((1-eulerGamma)*normal(1-1/n) + eulerGamma*normal(1-1/(n*math.E))), true
}
