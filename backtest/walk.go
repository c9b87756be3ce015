package backtest

import (
	"context"
	"fmt"
	"time"

	"botd/exchange"
)

// Window is one step of a walk forward: the parameters chosen on its first candles, and their result on the candles
// after those. Without a choice nothing was traded, and there are neither parameters nor results.
type Window struct {
	From   time.Time         `json:"from"`
	Split  time.Time         `json:"split"` // the end of the data that the choice depends on
	To     time.Time         `json:"to"`
	Params map[string]string `json:"params"`
	Seen   *Column           `json:"seen"`
	Unseen *Column           `json:"unseen"`
}

// Walk cuts the candles of the configuration's one leg into windows + train parts of equal length. For each part
// after the first ones, best chooses a trial from a sweep over the train parts before it, and that trial trades the
// part; nil trades nothing. The other trials run only over the train parts, and only for their figures. Progress counts all trials.
func Walk(ctx context.Context, config Config, trials []Trial, windows, train int, best func([]Trial) *Trial,
	progress func(done, total int)) ([]Window, error) {
	if len(config.Legs) != 1 {
		return nil, fmt.Errorf("a walk-forward test takes one strategy, not %d", len(config.Legs))
	}
	candles := config.Legs[0].Tape.Candles
	n, parts := candles.Len(), windows+train
	if windows < 1 || train < 1 || n/parts < 2 {
		return nil, fmt.Errorf("%d candles cannot be cut into %d windows behind %d parts: at least two candles each", n, windows, train)
	}
	openOf := func(part int) int64 {
		if part == parts {
			return candles.CloseMS(n - 1)
		}
		return candles.OpenMS[n*part/parts]
	}
	walked := make([]Window, 0, windows)
	for i := range windows {
		part, err := config.Within(openOf(i), openOf(i+train+1))
		if err != nil {
			return nil, err
		}
		first, split := n*i/parts, n*(i+train)/parts
		length := part.Legs[0].Tape.Candles.Len()
		share := exchange.Rate(
			(int64(split-first)*int64(exchange.RateOne) + int64(length) - 1) / int64(length),
		) // rounded up, so that the cut falls on the split
		own := make([]Trial, len(trials))
		copy(own, trials)
		part.choosing = true
		for j := range own {
			if own[j].Config == nil {
				own[j].Config = &part
				continue
			}
			within, err := own[j].Config.Within(openOf(i), openOf(i+train+1)) // other candles or costs, in the same window
			if err != nil {
				return nil, err
			}
			within.choosing = true
			own[j].Config = &within
		}
		splitMS, err := Sweep(ctx, part, own, share, func(done int, _ *Trial) error {
			if progress != nil {
				progress(i*len(own)+done, windows*len(own))
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		window := Window{From: utc(openOf(i)), Split: utc(splitMS), To: utc(openOf(i + train + 1))}
		if chosen := best(own); chosen != nil {
			chosen.Config.choosing = false
			if err := chosen.Run(ctx, chosen.Config, splitMS); err != nil {
				return nil, err
			}
			window.Params, window.Seen, window.Unseen = chosen.Params, chosen.Seen, chosen.Unseen
		}
		walked = append(walked, window)
	}
	return walked, nil
}

// Walked combines the unseen parts of all windows.
type Walked struct {
	Profit     *float64 `json:"profit_pct"` // compounded over the windows
	Profitable int      `json:"profitable"` // windows with a profit on unseen candles
	Efficiency *float64 `json:"efficiency"` // mean daily profit on unseen candles, as a share of that on the training candles; null where that was not positive
	Choices    int      `json:"choices"`    // distinct ones
}

// Sum combines windows.
func Sum(windows []Window) Walked {
	var w Walked
	grown, seen, unseen := 1.0, 0.0, 0.0
	known := map[string]bool{}
	for i := range windows {
		one := &windows[i]
		if one.Unseen == nil {
			continue // nothing was chosen, and nothing earned
		}
		known[fmt.Sprint(one.Params)] = true // Sprint orders the keys
		if one.Unseen.Profit == nil || one.Seen.Profit == nil {
			return w // no initial equity
		}
		grown = float64(grown * (1 + *one.Unseen.Profit/100))
		seen += *one.Seen.Profit / one.Split.Sub(one.From).Hours()
		unseen += *one.Unseen.Profit / one.To.Sub(one.Split).Hours()
		if *one.Unseen.Profit > 0 {
			w.Profitable++
		}
	}
	w.Profit, w.Choices = new(float64(100*(grown-1))), len(known)
	if seen > 0 {
		w.Efficiency = new(unseen / seen)
	}
	return w
}
