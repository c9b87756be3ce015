package backtest

import (
	"context"
	"fmt"
	"time"

	"botd/exchange"
)

// Window is one step of a walk forward: what was chosen by the candles it saw, and
// what that choice made of those behind them.
type Window struct {
	From   time.Time         `json:"from"`
	Split  time.Time         `json:"split"` // behind it nobody looked when the choice was made
	To     time.Time         `json:"to"`
	Params map[string]string `json:"params"`
	Seen   *Column           `json:"seen"`
	Unseen *Column           `json:"unseen"`
}

// Walk cuts the candles of the configuration's one leg into windows + train parts of
// the same length. Each part behind the first ones is traded by the choice that best
// takes from a sweep over the train parts before it. Progress is of all trials.
func Walk(ctx context.Context, config Config, trials []Trial, windows, train int, best func([]Trial) *Trial,
	progress func(done, total int)) ([]Window, error) {
	if len(config.Legs) != 1 {
		return nil, fmt.Errorf("a walk is of one strategy, there are %d", len(config.Legs))
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
		) // raised, so that the cut is at the split
		own := make([]Trial, len(trials))
		copy(own, trials)
		for j := range own {
			if own[j].Config == nil {
				continue
			}
			within, err := own[j].Config.Within(openOf(i), openOf(i+train+1)) // other candles or costs, in the same window
			if err != nil {
				return nil, err
			}
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
		chosen := best(own)
		walked = append(
			walked,
			Window{
				From:   utc(openOf(i)),
				Split:  utc(splitMS),
				To:     utc(openOf(i + train + 1)),
				Params: chosen.Params,
				Seen:   chosen.Seen,
				Unseen: chosen.Unseen,
			},
		)
	}
	return walked, nil
}

// Walked is what the parts that were not seen make together.
type Walked struct {
	Profit     *float64 `json:"profit_pct"` // one after the other, each from what the one before left
	Profitable int      `json:"profitable"` // windows that made money unseen
	Efficiency *float64 `json:"efficiency"` // a day's mean profit unseen, of what it was where it was chosen; null where that was none
	Choices    int      `json:"choices"`    // different ones
}

// Sum puts windows together.
func Sum(windows []Window) Walked {
	var w Walked
	grown, seen, unseen := 1.0, 0.0, 0.0
	known := map[string]bool{}
	for i := range windows {
		one := &windows[i]
		known[fmt.Sprint(one.Params)] = true // printed in the order of its keys
		if one.Unseen.Profit == nil || one.Seen.Profit == nil {
			return w // nothing to begin with
		}
		grown *= 1 + *one.Unseen.Profit/100
		seen += *one.Seen.Profit / one.Split.Sub(one.From).Hours()
		unseen += *one.Unseen.Profit / one.To.Sub(one.Split).Hours()
		if *one.Unseen.Profit > 0 {
			w.Profitable++
		}
	}
	total := 100 * (grown - 1)
	w.Profit, w.Choices = &total, len(known)
	if seen > 0 {
		ratio := unseen / seen
		w.Efficiency = &ratio
	}
	return w
}
