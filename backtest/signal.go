package backtest

import (
	"fmt"
	"time"

	"botd/exchange"
	"botd/runtime/engine"
	"botd/strategy"
)

// Signal is a recorded signal from outside.
type Signal struct {
	TimeMS   int64
	Strategy string
	Side     int           // +1 long, -1 short, 0 flat
	Share    exchange.Rate // of the configured size
}

// signalMS returns when the next signal is due; never for none.
func (r *run) signalMS() int64 {
	if r.signalled < len(r.config.Signals) {
		return r.config.Signals[r.signalled].TimeMS
	}
	return never
}

// signal gives the strategies what is due. One that came before there was a price is given with the
// first one.
func (r *run) signal(nowMS int64) {
	for r.signalMS() <= nowMS {
		row := &r.config.Signals[r.signalled]
		given := engine.EventSignal{Strategy: row.Strategy, Signal: &engine.Signal{Signal: strategy.Signal{
			ID: fmt.Sprintf("row %d", r.signalled+1), Side: row.Side, Share: row.Share, AtMS: nowMS}}}
		r.signalled++
		r.give(nowMS, &given)
		if err := given.Signal.Err; err != nil {
			r.ledger.events.suppressed(row.Strategy, signalRefused+err.Error(), func() string { return utc(row.TimeMS).Format(time.RFC3339) })
		}
	}
}
