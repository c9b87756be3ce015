package backtest

import (
	"fmt"
	"time"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/strategy"
)

// fewTrips is the minimum number of round trips for a meaningful result.
const fewTrips = 30

// warnings returns reasons to doubt the figures.
func (r *run) warnings() []Warning {
	l, list := &r.ledger, []Warning{}
	add := func(code, format string, arguments ...any) {
		list = append(list, Warning{code, fmt.Sprintf(format, arguments...)})
	}
	if l.events.failure != "" {
		add(StrategyFailed, "strategy %s", l.events.failure)
	}
	if l.events.quarantine != "" {
		add(Quarantined, "the symbol was quarantined: %s", l.events.quarantine)
	}
	if l.events.halt != "" {
		add(Halted, "trading was halted: %s", l.events.halt)
	}
	if l.liquidations > 0 {
		add(Liquidated, "liquidated positions: %d", l.liquidations)
	}
	if n := total(l.events.refused); n > 0 {
		add(IntentsRefused, "intents refused by risk: %d, the first by %s", n, l.events.refusal)
	}
	if n := total(l.events.rejected); n > 0 {
		add(OrdersRejected, "orders refused by the exchange: %d, the first: %s", n, l.events.rejection)
	}
	r.boundWarnings(add)
	r.latchWarnings(add)
	list = append(list, r.config.Warnings...)
	for i := range r.legs {
		leg := &r.legs[i]
		r.recordWarnings(leg, func(code, format string, arguments ...any) {
			if len(r.legs) > 1 {
				format, arguments = "%s: "+format, append([]any{leg.symbol.Name}, arguments...)
			}
			add(code, format, arguments...)
		})
	}
	if best, profit := l.bestTrip(), l.equity.Sub(l.initial); len(l.trips) > 1 && profit.Sign() > 0 && !best.Less(profit) {
		add(OneTrade, "one round trip made %s of the profit of %s: without it there would be no profit", best.Decimal().StringFixed(2),
			profit.Decimal().StringFixed(2))
	}
	switch n := len(l.trips); {
	case len(l.fills) == 0:
		add(NoTrade, "no trade was executed")
	case n < fewTrips:
		add(FewTrades, "%d round trips are too few to conclude from", n)
	}
	return list
}

// bestTrip returns the largest profit of a round trip.
func (l *measurement) bestTrip() (best exchange.Amount) {
	for i := range l.trips {
		best = best.Max(l.trips[i].PNL)
	}
	return best
}

func total(counts map[string]int) (n int) {
	for _, count := range counts {
		n += count
	}
	return n
}

// recordWarnings reports gaps in the recorded data.
func (r *run) recordWarnings(leg *leg, add func(code, format string, arguments ...any)) {
	if leg.symbol.Market == exchange.Futures {
		r.fundingWarnings(leg, add)
	}
	r.outsideWarnings(leg, add)
	if leg.fineSchedule() {
		add(
			FineSchedule,
			"%s decides between the closes of candles of %s, where no prices are known: until the close it sees the open, "+
				"and its orders get the worst price in between; add --detail FILE with finer candles",
			leg.config.Strategy.Name,
			leg.candles.Interval,
		)
	}
	if strategy.WatchingOf(leg.config.Strategy.Strategy).OrderBook {
		hint := "; add --detail FILE or --trades FILE to model fills more precisely"
		if leg.config.Trades != nil || leg.config.Detail != nil {
			hint = ""
		}
		add(NoOrderBook, "%s reads the order book, but none is recorded: a market maker uses the last price, and a script sees no book%s",
			leg.config.Strategy.Name, hint)
	}
	recorded := leg.config.Tape
	if lower, upper, has := strategy.RangeOf(leg.config.Strategy.Strategy); has && recorded.Candles.Len() > 0 {
		if at := recorded.Candles.Open[0]; at < lower || at > upper {
			add(OutsideRange, "%s trades between %s and %s, but the first price is %s: it waits until the price enters that range",
				leg.config.Strategy.Name,
				leg.symbol.PriceDecimal(lower), leg.symbol.PriceDecimal(upper), leg.symbol.PriceDecimal(at))
		}
	}
	missing := 0
	if recorded.Finer != 0 {
		add(CandlesJoined, "%s decides on candles of %s, which are built from the file's candles of %s",
			leg.config.Strategy.Name, recorded.Candles.Interval, recorded.Finer)
	}
	for _, hole := range recorded.Holes {
		missing += hole.Missing
	}
	if missing > 0 {
		add(DataHoles, "%d candles are missing in %d gaps, the first after %s", missing, len(recorded.Holes),
			utc(recorded.Holes[0].AfterMS).Format(time.RFC3339))
	}
	for _, line := range recorded.Repaired {
		add(DataRepaired, "%s", line)
	}
	for _, other := range leg.config.Strategy.Others {
		if lacking := missingInOther(leg.candles, other.Candles); lacking > 0 {
			add(OthersIncomplete, "%d of %d candles have no candle of %s at the same time: its series kept their last values", lacking, leg.candles.Len(),
				other.Symbol.Key())
		}
	}
	if detail := leg.config.Detail; detail != nil {
		uncovered, odd := detailOf(leg.candles, detail.Candles)
		if uncovered > 0 {
			add(DetailIncomplete, "%d of %d candles are not completely covered by finer candles: their path is guessed", uncovered, leg.candles.Len())
		}
		if odd > 0 {
			add(DetailMismatch, "%d candles do not match their finer candles: the finer prices were used between open and close", odd)
		}
	}
}

// fineSchedule reports whether decisions fall inside candles that have no finer data.
func (l *leg) fineSchedule() bool {
	schedule, interval := l.config.Strategy.Schedule, int64(l.candles.Interval)
	if schedule == nil {
		return false
	}
	if l.config.Trades != nil {
		return false
	}
	if l.config.Detail != nil {
		interval = int64(l.config.Detail.Candles.Interval)
	}
	first := schedule.Next(l.candles.OpenMS[0])
	return schedule.Next(first)-first < interval
}

// missingInOther counts the candles that another symbol does not have.
func missingInOther(candles, other *exchange.Candles) (lacking int) {
	at := 0
	for _, openMS := range candles.OpenMS {
		for at < other.Len() && other.OpenMS[at] < openMS {
			at++
		}
		if at == other.Len() || other.OpenMS[at] != openMS {
			lacking++
		}
	}
	return lacking
}

// detailOf counts the candles that a finer series does not cover completely, and those whose low or high it lacks.
func detailOf(candles, fine *exchange.Candles) (missing, odd int) {
	bars, at := int(candles.Interval/fine.Interval), 0
	for i, openMS := range candles.OpenMS {
		for at < fine.Len() && fine.OpenMS[at] < openMS {
			at++
		}
		last := at + bars - 1
		if last >= fine.Len() || fine.OpenMS[at] != openMS || fine.CloseMS(last) != candles.CloseMS(i) {
			missing++
			continue
		}
		low, high := fine.Low[at], fine.High[at]
		for j := at; j <= last; j++ {
			low, high = min(low, fine.Low[j]), max(high, fine.High[j])
		}
		if low != candles.Low[i] || high != candles.High[i] {
			odd++
		}
	}
	return missing, odd
}

// fundingWarnings compares the recorded rates with the payments of the run.
func (r *run) fundingWarnings(leg *leg, add func(code, format string, arguments ...any)) {
	rows, every := leg.config.Funding, int64(leg.symbol.FundingIntervalHours)*int64(exchange.Hour1)
	if every == 0 {
		return
	}
	if len(rows) == 0 {
		if r.config.Costs.Funding == 0 {
			add(NoFunding, "no funding rates were given: funding is 0")
		}
		return
	}
	first, last := leg.candles.OpenMS[0], leg.candles.CloseMS(leg.candles.Len()-1)
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
		add(FundingIncomplete, "%d of %d funding payments have no recorded rate: they count as 0", missing, payments)
	}
	if between > 0 {
		add(FundingIncomplete, "%d recorded funding rates do not fall on a payment, which is due every %d hours, and were ignored", between,
			leg.symbol.FundingIntervalHours)
	}
}

var paths = map[sim.PathOrder]string{
	sim.ByDirection: "open, low, high, close if the candle rose, otherwise open, high, low, close",
	sim.LowFirst:    "open, low, high, close",
	sim.HighFirst:   "open, high, low, close",
	sim.Worst:       "the order of low and high that is worse for positions and resting orders, so a stop comes before a target",
	sim.Best:        "the order of low and high that is better for positions and resting orders, so a target comes before a stop",
}

// sentences are sentences for a person, one after the other.
type sentences []string

func (s *sentences) add(format string, arguments ...any) {
	*s = append(*s, fmt.Sprintf(format, arguments...))
}

// assumptions returns the assumptions behind the figures, a sentence each.
func (r *run) assumptions() []string {
	var list sentences
	list.addFeesAndFills(r)
	list.addPaths(r)
	list.addFunding(r)
	if r.ledger.futures {
		list.add("liquidation by the symbols' margin brackets, cross margin, at the mark, with the taker fee")
	}
	return list
}

func (s *sentences) addFeesAndFills(r *run) {
	c := &r.config.Costs
	if r.ledger.futures {
		s.add("fees: maker %s, taker %s, in USDT", percent(c.Futures.Maker), percent(c.Futures.Taker))
	}
	if r.ledger.spot != "" {
		where := "in the asset received"
		if c.FeeFromQuote {
			where = "in USDT"
		}
		s.add("fees: maker %s, taker %s, %s", percent(c.Spot.Maker), percent(c.Spot.Taker), where)
	}
	s.add("fill next_open: a decision on a candle's close reaches the market at the next candle's open, at its price")
	switch {
	case c.Slippage == 0 && c.Impact == 0:
		s.add("slippage 0: the market takes any quantity at its price")
	case c.Impact == 0:
		s.add("slippage: takers pay %s of the price", percent(c.Slippage))
	default:
		s.add("slippage: takers pay %s of the price, plus %s times the order's share of the candle's volume", percent(c.Slippage),
			percent(c.Impact))
	}
	if c.VolumeCap > 0 {
		s.add("volume cap: orders fill at most %s of a candle's volume, the rest in the candles after it", percent(c.VolumeCap))
	}
	if c.LatencyMS > 0 {
		s.add("latency %d ms from placement to the book; a taker gets the worst possible price within that time", c.LatencyMS)
	} else {
		s.add("latency 0 ms from placement to the book")
	}
	if c.Through {
		s.add("a resting order fills at its price once the market has traded a tick beyond it")
	} else {
		s.add("a resting order fills when its price is touched")
	}
}

func (s *sentences) addPaths(r *run) {
	s.add("path inside a candle: %s; a gap fills at the open", paths[r.config.Costs.Path])
	for i := range r.legs {
		leg := &r.legs[i]
		if leg.config.Trades != nil {
			s.add("path of %s by %d trades: a trade beyond a resting order's price fills it, a trade at its price fills it by %s of the trade; "+
				"a taker pays the next trade's price", leg.symbol.Name, leg.config.Trades.Len(), percent(r.config.Costs.Queue))
		}
		if leg.config.Detail != nil {
			s.add("path of %s by its candles of %s, as far as they are complete", leg.symbol.Name, leg.config.Detail.Candles.Interval)
		}
	}
}

func (s *sentences) addFunding(r *run) {
	for i := range r.legs {
		leg := &r.legs[i]
		if leg.symbol.Market != exchange.Futures {
			continue
		}
		name := ""
		if len(r.legs) > 1 {
			name = " of " + leg.symbol.Name
		}
		hours := leg.symbol.FundingIntervalHours
		if len(leg.config.Funding) == 0 {
			s.add("funding%s every %d hours at the open, at a constant %s", name, hours, percent(r.config.Costs.Funding))
		} else {
			s.add("funding%s every %d hours at the open, %d recorded rates", name, hours, len(leg.config.Funding))
		}
	}
}

func percent(rate exchange.Rate) string { return rate.Decimal().Shift(2).String() + " %" }
