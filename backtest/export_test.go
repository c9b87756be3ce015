package backtest

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"botd/reconcile"
	"botd/reconcile/record"
	"botd/runtime/engine"
	"botd/strategy"
)

// Walking returns the configuration with every candle's path played.
func Walking(config Config) Config {
	config.walk = true
	return config
}

// ByEngine returns the configuration with the engine as its machine, whatever the direct one covers.
func ByEngine(config Config) Config {
	config.engine = true
	return config
}

// Decisions returns the decisions of a run, in words.
func Decisions(ctx context.Context, config Config) (words []string, err error) {
	all, err := decide(ctx, config)
	for _, one := range all {
		words = append(words, fmt.Sprint(one))
	}
	return words, err
}

// Interruption happens to a run of one leg once that many of its candles have closed: it is an event, or the engine is
// rebuilt from its records, with this strategy.
type Interruption struct {
	At    int
	Event engine.Event
	Again strategy.Strategy
}

// RunInterrupted is Run with interruptions, in order.
func RunInterrupted(ctx context.Context, config Config, interruptions ...Interruption) (*Result, error) {
	var records [][]byte // as in a journal
	show := config.Record
	config.Record = func(r *record.Record) {
		text, err := json.Marshal(r)
		if err != nil {
			panic(err)
		}
		records = append(records, text)
		if show != nil {
			show(r)
		}
	}
	r, err := newRun(&config)
	if err != nil {
		return nil, err
	}
	at, epoch, total := &r.legs[0].at, int64(1), config.Legs[0].Tape.Candles.Len()
	r.nowMS, r.reach = r.legs[0].openMS(), minStretch
	r.give(r.nowMS-1, &engine.EventStart{})
	for *at < total {
		for len(interruptions) > 0 && interruptions[0].At <= *at {
			met := interruptions[0]
			interruptions = interruptions[1:]
			if met.Event != nil {
				r.give(r.nowMS, met.Event)
				continue
			}
			epoch++
			if err := r.restart(records, epoch, met.Again); err != nil {
				return nil, err
			}
		}
		if _, err := r.slot(); err != nil {
			return nil, err
		}
	}
	return r.result(time.Since(time.UnixMilli(0)))
}

// restart replaces the engine by one that has only the records and the candles.
func (r *run) restart(records [][]byte, epoch int64, again strategy.Strategy) error {
	tracker := reconcile.NewTracker(r.config.bounds())
	for _, text := range records {
		var one record.Record
		if err := json.Unmarshal(text, &one); err != nil {
			return err
		}
		tracker.Apply(&one)
	}
	machine := r.machineConfig()
	machine.Epoch = epoch
	machine.Strategies[0].Strategy = again
	made, err := engine.New(machine, tracker)
	if err != nil {
		return err
	}
	r.machine, r.pending = made, r.pending[:0]
	l := &r.legs[0]
	r.give(r.nowMS, &engine.EventStart{})
	r.give(r.nowMS, &engine.EventPrice{Series: l.key, Last: l.candles.Close[l.at-1], Mark: l.candles.Close[l.at-1]})
	r.give(r.nowMS, &engine.EventRound{}) // a strategy is asked once its account has been read
	r.give(r.nowMS, &engine.EventCandles{Series: l.key, Candles: l.candles, From: 0, To: l.at})
	return nil
}

// SignedTwice runs a configuration as a trial of a sweep, without rows, and signs it once more with them.
func SignedTwice(ctx context.Context, config Config) (without, with string, rows int, err error) {
	config.auxiliary = true
	r, err := newRun(&config)
	if err != nil {
		return "", "", 0, err
	}
	if err := r.loop(ctx); err != nil {
		return "", "", 0, err
	}
	result, err := r.result(0)
	if err != nil {
		return "", "", 0, err
	}
	without = result.ResultSHA256
	if n := len(result.Executions) + len(result.Trips); n > 0 {
		return "", "", 0, fmt.Errorf("a trial has %d rows", n)
	}
	result.rows(r)
	err = result.sign()
	return without, result.ResultSHA256, len(result.Executions) + len(result.Trips), err
}

// DropCurve removes the curve of a result.
func (r *Result) DropCurve() { r.curve = nil }
