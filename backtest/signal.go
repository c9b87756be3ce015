package backtest

import (
	"fmt"
	"slices"
	"time"

	"botd/exchange"
	"botd/runtime/engine"
	"botd/strategy"
)

// Signal is a recorded external signal.
type Signal struct {
	TimeMS   int64
	Strategy string
	Side     int           // +1 long, -1 short, 0 flat
	Share    exchange.Rate // of the configured size
}

// signalMS returns when the next signal is due; never for none.
func (r *run) signalMS() int64 {
	if r.signaled < len(r.config.Signals) {
		return r.config.Signals[r.signaled].TimeMS
	}
	return never
}

// signal gives the strategies the signals that are due. A signal from before the first price is delivered with that
// price.
func (r *run) signal(nowMS int64) {
	for r.signalMS() <= nowMS {
		row := &r.config.Signals[r.signaled]
		given := engine.EventSignal{Strategy: row.Strategy, Signal: &engine.Signal{Signal: strategy.Signal{
			ID: fmt.Sprintf("row %d", r.signaled+1), Side: row.Side, Share: row.Share, AtMS: nowMS}}}
		r.signaled++
		r.give(nowMS, &given)
		if err := given.Signal.Err; err != nil {
			r.ledger.events.suppressed(row.Strategy, signalRefused+err.Error(), func() string { return utc(row.TimeMS).Format(time.RFC3339) })
		}
	}
}

// outsideWarnings reports signals and trades outside the candles' time.
func (r *run) outsideWarnings(leg *leg, add func(code, format string, arguments ...any)) {
	c, name := leg.candles, leg.config.Strategy.Name
	last := c.CloseMS(c.Len() - 1)
	within := func(s Signal) bool { return s.Strategy == name && s.TimeMS >= c.OpenMS[0] && s.TimeMS < last }
	if leg.config.Kind == "signal" && !slices.ContainsFunc(r.config.Signals, within) {
		add(NoSignals, "%s was given no signal between %s and %s: --signals FILE gives it recorded ones", name, utc(c.OpenMS[0]).Format(time.RFC3339),
			utc(last).Format(time.RFC3339))
	}
	if leg.config.Trades == nil {
		return
	}
	at, traded := leg.config.Trades.TimeMS, 0
	for i := range c.Len() {
		if next, _ := slices.BinarySearch(at, c.OpenMS[i]); next < len(at) && at[next] < c.CloseMS(i) || c.Volume[i] == 0 {
			traded++
		}
	}
	if lacking := c.Len() - traded; lacking > 0 {
		add(TradesIncomplete, "%d of %d candles with a volume have no recorded trade: nothing is filled in them", lacking, c.Len())
	}
}
