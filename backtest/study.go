package backtest

import (
	"context"
	"fmt"
	goruntime "runtime"
	"sync"

	"botd/exchange"
)

// Study measures the robustness of a result: the same run under other circumstances, and its round trips in another
// order.
type Study struct {
	Sensitivity []Column   `json:"sensitivity"`
	Shuffles    *Shuffles  `json:"shuffles"` // null with too few round trips
	Lookahead   *Lookahead `json:"lookahead"`
}

// studyCuts is the number of cuts in a study's search for lookahead.
const studyCuts = 4

// RunStudy repeats a configuration with doubled fees, with more slippage, with every order a candle late, and on
// truncated data. Every leg needs its Make.
func RunStudy(ctx context.Context, config Config, result *Result) (*Study, error) {
	if err := config.repeatable(); err != nil {
		return nil, err
	}
	config.Progress, config.Record, config.Note, config.Inputs, config.auxiliary = nil, nil, nil, nil, true
	variants := config.variants()
	study := &Study{Sensitivity: make([]Column, len(variants)), Shuffles: shuffle(result)}
	errs := make([]error, len(variants)+1)
	slots := make(chan struct{}, goruntime.GOMAXPROCS(0))
	var group sync.WaitGroup
	start := func(i int, do func() error) {
		if config.InTurn {
			errs[i] = do()
			return
		}
		group.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			errs[i] = do()
		})
	}
	for i, v := range variants {
		start(i, func() error {
			other, err := Run(ctx, v.config)
			if err == nil {
				study.Sensitivity[i] = other.column(v.name)
			}
			return err
		})
	}
	start(len(variants), func() (err error) {
		study.Lookahead, err = FindLookahead(ctx, config, studyCuts)
		return err
	})
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return study, nil
}

type variant struct {
	name   string
	config Config
}

// variants returns the circumstances of a study.
func (c *Config) variants() []variant {
	fees, slower, later := *c, *c, *c
	fees.Costs.Futures, fees.Costs.Spot = c.Costs.Futures.twice(), c.Costs.Spot.twice()
	slower.Costs.Slippage = max(2*c.Costs.Slippage, minSlippage)
	slower.Costs.Impact = 2 * c.Costs.Impact
	longest := exchange.Interval(0)
	for i := range c.Legs {
		longest = max(longest, c.Legs[i].Tape.Candles.Interval)
	}
	later.Costs.LaterMS = int64(longest)
	return []variant{
		{"fees twice", fees},
		{fmt.Sprintf("slippage %s", percent(slower.Costs.Slippage)), slower},
		{"one candle later", later},
	}
}

// twice doubles fees and leaves rebates unchanged.
func (f Fees) twice() Fees {
	return Fees{Maker: f.Maker + max(0, f.Maker), Taker: f.Taker + max(0, f.Taker)}
}
