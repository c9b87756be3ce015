package configs

import (
	"fmt"
	"math"
	"sort"
	"time"

	"botd/exchange"
	"botd/exchange/polling"
)

const (
	latestFraction = 10 // of an interval: later candles cause a warning
	maxPerSecond   = 10_000
	noBound        = math.MaxInt64 / maxPerSecond
	minuteMS       = int(exchange.Minute1)
)

// RequestCost is the number of requests for the strategies of one market, and the delays that the budget causes.
type RequestCost struct {
	Market            string `json:"market"`
	Series            int    `json:"series"` // of candles: symbols by intervals
	RequestsMinute    int    `json:"requests_per_minute"`
	RequestsPerSecond int    `json:"requests_per_second"`     // the budget; 0 for no limit
	CandleDelayMS     int64  `json:"candle_delay_ms"`         // additional delay of the last candle of a close, compared with no limit
	Interval          string `json:"interval"`                // the interval with the largest delay relative to its length
	PaperPollMS       int64  `json:"paper_poll_ms,omitempty"` // the longest duration of a poll of the paper account

	interval exchange.Interval
	stale    int64 // paper: the duration of a poll above which data becomes stale
}

// Late reports whether candles arrive later than a tenth of their interval.
func (c *RequestCost) Late() bool { return c.CandleDelayMS*latestFraction > int64(c.interval) }

// tooOld reports whether a poll of the paper account takes so long that it is abandoned.
func (c *RequestCost) tooOld() bool { return c.PaperPollMS > c.stale }

// exceeds reports whether there are more requests than the budget allows.
func (c *RequestCost) exceeds() bool {
	return c.RequestsPerSecond > 0 && c.RequestsMinute > 60*c.RequestsPerSecond
}

// String returns the cost as a line of text.
func (c *RequestCost) String() string {
	text := fmt.Sprintf("%s: %d series of candles, about %d requests a minute while nothing is in flight", c.Market, c.Series, c.RequestsMinute)
	if c.RequestsPerSecond == 0 {
		return text
	}
	text += fmt.Sprintf("; at %d a second the last %s candle arrives up to %s later than without a limit",
		c.RequestsPerSecond, c.Interval, short(c.CandleDelayMS))
	if c.PaperPollMS > 0 {
		text += fmt.Sprintf(", and a poll of paper takes up to %s", short(c.PaperPollMS))
	}
	return text
}

// problem returns the gravest consequence of too small a budget, or an empty string.
func (c *RequestCost) problem() string {
	switch {
	case c.tooOld():
		return fmt.Sprintf("a poll of paper takes up to %s, more than half of paper.max_age: data becomes stale, and nothing is accepted or fills",
			short(c.PaperPollMS))
	case c.exceeds():
		return fmt.Sprintf("about %d requests a minute are needed and %d are allowed: prices, order books and candles are read less often than configured",
			c.RequestsMinute, 60*c.RequestsPerSecond)
	case c.Late():
		return fmt.Sprintf("the last %s candle arrives up to %s later than without a limit, more than a tenth of its interval",
			c.Interval, short(c.CandleDelayMS))
	}
	return ""
}

func short(ms int64) time.Duration {
	return (time.Duration(ms) * time.Millisecond).Round(100 * time.Millisecond)
}

// Requests returns the request costs of the configuration for each traded market. A demo makes no requests.
func (c *Config) Requests() (costs []RequestCost) {
	for _, d := range c.demands() {
		costs = append(costs, d.cost(c.Exchange.RequestsPerSecond))
	}
	return costs
}

// demand is what the strategies of one market read regularly.
type demand struct {
	market  exchange.Market
	due     []dueSeries // in the order in which the engine reads the candles of one close
	series  int
	minute  float64 // requests a minute
	candles float64 // of them for candles
	books   int     // strategies that watch the order book
	feed    float64 // requests a minute of the paper account
	poll    int     // requests of one poll of it
	funding int     // more of them, once a minute
	pollMS  int64
	staleMS int64 // a poll of it is abandoned after that time
}

// dueSeries are the series of an interval whose candles a strategy decides by, or does not.
type dueSeries struct {
	interval exchange.Interval
	count    int
}

func (c *Config) demands() (all []demand) {
	if c.Mode == Demo {
		return nil
	}
	for _, market := range [2]exchange.Market{exchange.Futures, exchange.Spot} {
		if d := c.demandOf(market); d.series > 0 {
			all = append(all, d)
		}
	}
	return all
}

func (c *Config) demandOf(market exchange.Market) demand {
	d := demand{market: market, staleMS: noBound}
	d.countSeries(c.Strategies)
	symbols, operations, signed := map[string]bool{}, polling.Of(market), 0
	for i := range c.Strategies {
		one := &c.Strategies[i]
		if one.Market != market {
			continue
		}
		symbols[one.Symbol] = true
		if one.watching.OrderBook {
			d.books++
		}
		if one.watching.Funding && operations.Funding != 0 {
			d.minute += float64(minuteMS) / polling.FundingMS
		}
	}
	prices := len(symbols)
	if prices >= polling.TickersFrom {
		prices = 1
	}
	if c.Mode == Live { // the paper account answers them itself
		signed = len(operations.Lists) + len(operations.Positions)
	}
	d.minute += d.candles + float64(d.books*minuteMS)/polling.OrderBookMS
	if len(symbols) > 0 {
		d.minute += float64(minuteMS)/polling.RulesMS + float64((signed+prices)*minuteMS)/polling.IdleRoundMS
	}
	if market == exchange.Futures {
		d.minute += float64(polling.ClockReads*minuteMS) / polling.ClockMS
	}
	if c.Mode == Paper {
		d.countFeed(len(symbols), &c.Paper)
	}
	return d
}

// countSeries counts the series of candles. Among series that close together, the engine first reads those that a strategy decides on, then the shorter
// intervals.
func (d *demand) countSeries(strategies []StrategyConfig) {
	type series struct {
		symbol   string
		interval exchange.Interval
	}
	decides := map[series]bool{}
	for i := range strategies {
		one := &strategies[i]
		for _, key := range append([]exchange.SymbolKey{{Market: one.Market, Name: one.Symbol}}, one.others...) {
			if s := (series{key.Name, one.Interval}); key.Market == d.market {
				decides[s] = decides[s] || one.Schedule.Candle()
			}
		}
	}
	for _, first := range [2]bool{true, false} {
		for _, interval := range exchange.Intervals() {
			group := dueSeries{interval: interval}
			for s, decides := range decides {
				if decides == first && s.interval == interval {
					group.count++
				}
			}
			if group.count > 0 {
				d.due = append(d.due, group)
				d.candles += float64(group.count*minuteMS) / float64(interval)
			}
		}
	}
	d.series = len(decides)
}

// countFeed counts the requests of the paper account.
func (d *demand) countFeed(symbols int, config *PaperConfig) {
	operations := polling.Of(d.market)
	d.poll = symbols * len(operations.Feed)
	d.feed = float64(d.poll*minuteMS) / float64(config.PollMS)
	if operations.Funding != 0 {
		d.funding = symbols
		d.feed += float64(symbols*minuteMS) / polling.FundingMS
	}
	d.minute += d.feed
	d.pollMS, d.staleMS = config.PollMS, config.MaxAgeMS/polling.PollsInAge
}

// cost returns the cost with a budget.
func (d *demand) cost(budget int) RequestCost {
	cost := RequestCost{Market: d.market.String(), Series: d.series, RequestsMinute: int(d.minute + 0.5), RequestsPerSecond: budget, stale: d.staleMS}
	rate := max(1, budget)
	due, ahead := 0, d.orderBooksAhead(rate)
	for _, group := range d.due {
		due += group.count
		delayMS := d.delayMS(due, ahead, rate)
		if cost.interval == 0 || delayMS*int64(cost.interval) > cost.CandleDelayMS*int64(group.interval) {
			cost.CandleDelayMS, cost.interval, cost.Interval = delayMS, group.interval, group.interval.String()
		}
	}
	switch {
	case budget == 0:
		cost.CandleDelayMS = 0
	case d.poll > 0:
		cost.PaperPollMS = int64(1_000 * (d.poll + d.funding + min(due+ahead, polling.Readers)) / rate)
	}
	return cost
}

// delayMS returns how long the reads of due candles take, with those of order books that wait before them. All market data has the same
// priority and is sent in the order of arrival. Only some of the engine's reads queue at a time; the others wait behind the next poll of the
// paper account, if there is one by then. Reads in progress at the close end within a poll, so that more of them count.
func (d *demand) delayMS(due, ahead, rate int) (delayMS int64) {
	longest := min(int64(d.poll), d.staleMS*int64(rate)/1_000) // a longer poll is abandoned
	for polls := int64(1); ; polls++ {
		delayMS = (int64(due+ahead+d.funding) + polls*longest) * 1_000 / int64(rate)
		if polls*polling.Readers >= int64(due+2*ahead) || delayMS <= polls*d.pollMS {
			return delayMS
		}
	}
}

// orderBooksAhead returns how many requests for order books are waiting when a candle closes. An order book is requested again some time after its
// answer, so those wait that the budget does not cover within that time.
func (d *demand) orderBooksAhead(rate int) int {
	perMinute := float64(60 * rate)
	left := max(perMinute-d.feed, perMinute*polling.Readers/float64(polling.Readers+d.poll)) // by the paper account
	books := float64(d.books*minuteMS) / polling.OrderBookMS
	answered := (left - (d.minute - d.feed - books)) * polling.OrderBookMS / float64(minuteMS)
	return max(0, min(d.books, d.books-int(answered)))
}

// checkRequests warns about a request budget that makes data late or stale, and names the smallest sufficient
// one.
func (l *loader) checkRequests() {
	budget := l.config.Exchange.RequestsPerSecond
	for _, demand := range l.config.demands() {
		cost := demand.cost(budget)
		if cost.problem() == "" {
			continue
		}
		enough := sort.Search(maxPerSecond+1, func(perSecond int) bool { c := demand.cost(perSecond); return perSecond > budget && c.problem() == "" })
		hint := "trade fewer symbols or longer intervals"
		switch {
		case cost.tooOld():
			hint = "raise paper.max_age, or trade fewer symbols"
		case demand.poll > 0:
			hint = "raise paper.poll, or " + hint
		case demand.books > 0:
			hint = "have fewer strategies read the order book, or " + hint
		}
		if enough <= maxPerSecond {
			hint = fmt.Sprintf("raise exchange.requests_per_second to %d if the venue allows it, or %s", enough, hint)
		}
		l.document(rootFile).report(Warning, l.config.lines[l.name(rootFile)]["exchange.requests_per_second"], 0, hint,
			fmt.Sprintf("%s: %d series of candles at %d requests a second: %s", cost.Market, cost.Series, budget, cost.problem()))
	}
}
