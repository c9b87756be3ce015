package backtest

import (
	"cmp"
	"fmt"
	"time"

	"botd/exchange"
	"botd/runtime/engine"
)

// fewTrips is how many round trips are the least that say anything.
const fewTrips = 30

// events are the facts of a run that its reader must know of.
type events struct {
	refusals   int    // intents refused by risk
	refusal    string // the first one
	rejections int    // orders refused by the exchange
	rejection  string
	failure    string // why the strategy was stopped
	quarantine string
	halt       string
}

// count takes what the report tells of the facts.
func (e *events) count(note *engine.Note) {
	switch note.Kind {
	case engine.NoteRefusal:
		e.refusals++
		e.refusal = cmp.Or(e.refusal, note.Text)
	case engine.NoteRefused:
		e.rejections++
		e.rejection = cmp.Or(e.rejection, note.Text)
	case engine.NoteStrategyFailed:
		e.failure = cmp.Or(e.failure, note.Text)
	case engine.NoteQuarantine:
		e.quarantine = cmp.Or(e.quarantine, note.Text)
	case engine.NoteHalt:
		e.halt = cmp.Or(e.halt, note.Text)
	}
}

// warnings are reasons to doubt the figures.
func (r *run) warnings() []string {
	l, list := &r.ledger, []string{}
	add := func(format string, arguments ...any) { list = append(list, fmt.Sprintf(format, arguments...)) }
	if l.events.failure != "" {
		add("the strategy panicked and was stopped: %s", l.events.failure)
	}
	if l.events.quarantine != "" {
		add("the symbol was quarantined: %s", l.events.quarantine)
	}
	if l.events.halt != "" {
		add("trading was halted: %s", l.events.halt)
	}
	if l.liquidations > 0 {
		add("liquidated positions: %d", l.liquidations)
	}
	if l.events.refusals > 0 {
		add("intents refused by risk: %d, the first by %s", l.events.refusals, l.events.refusal)
	}
	if l.events.rejections > 0 {
		add("orders refused by the exchange: %d, the first: %s", l.events.rejections, l.events.rejection)
	}
	r.recordWarnings(add)
	switch n := len(l.trips); {
	case len(l.fills) == 0:
		add("no trade was made")
	case n < fewTrips:
		add("%d round trips are too few to conclude from", n)
	}
	return list
}

// recordWarnings tell what the recorded data lacks.
func (r *run) recordWarnings(add func(format string, arguments ...any)) {
	if r.symbol.Market == exchange.Futures {
		r.fundingWarnings(add)
	}
	missing := 0
	for _, hole := range r.config.Tape.Holes {
		missing += hole.Missing
	}
	if missing > 0 {
		add("%d candles are missing in %d holes, the first after %s", missing, len(r.config.Tape.Holes), utc(r.config.Tape.Holes[0].AfterMS).Format(time.RFC3339))
	}
	for _, line := range r.config.Tape.Repaired {
		add("%s", line)
	}
}

// fundingWarnings compare the recorded rates with the payments of the run.
func (r *run) fundingWarnings(add func(format string, arguments ...any)) {
	rows, every := r.config.Funding, int64(r.symbol.FundingIntervalHours)*int64(exchange.Hour1)
	if len(rows) == 0 {
		add("no funding rates were given: funding is 0")
		return
	}
	first, last := r.candles.OpenMS[0], r.candles.CloseMS(r.candles.Len()-1)
	paid := map[int64]bool{}
	between := 0
	for _, row := range rows {
		switch {
		case row.TimeMS < first || row.TimeMS >= last:
		case row.TimeMS%every == 0:
			paid[row.TimeMS] = true
		default:
			between++
		}
	}
	payments := int((last-1)/every - (first-1)/every)
	if missing := payments - len(paid); missing > 0 {
		add("%d of %d funding payments have no recorded rate: 0 was taken", missing, payments)
	}
	if between > 0 {
		add("%d recorded funding rates lie between the payments of every %d hours and were left out", between, r.symbol.FundingIntervalHours)
	}
}

// assumptions are what the figures rest on, a sentence each.
func (r *run) assumptions() []string {
	percent := func(rate exchange.Rate) string { return rate.Decimal().Shift(2).String() + " %" }
	where := "in USDT"
	if r.symbol.Market == exchange.Spot && !r.config.FeeFromQuote {
		where = "in the asset received"
	}
	list := []string{
		fmt.Sprintf("fees: maker %s, taker %s, %s", percent(r.config.Maker), percent(r.config.Taker), where),
		"fill next_open: what is decided on a candle's close reaches the market at the next candle's open, at its price",
		"slippage 0: the market takes any quantity at its price",
		fmt.Sprintf("latency %d ms from placement to the book", r.config.LatencyMS),
		"path inside a candle: open, low, high, close when it rose, else open, high, low, close; a gap fills at the open",
	}
	if r.symbol.Market == exchange.Futures {
		list = append(list, fmt.Sprintf("funding every %d hours at the open, %d recorded rates", r.symbol.FundingIntervalHours, len(r.config.Funding)), "liquidation by the symbol's margin brackets, cross margin")
	}
	return list
}
