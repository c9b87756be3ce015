package configs

import (
	"fmt"
	"strconv"
	"time"

	"botd/exchange"
)

// Requests of one round over a market, and the rate of rounds while nothing is in flight.
const (
	futuresRound   = 4 // open orders, positions, account, prices
	spotRound      = 3 // open orders, wallet, prices
	roundsMinute   = 4 // 60 while orders are in flight
	rulesMinute    = 1
	latestFraction = 10 // of an interval: later candles cause a warning
)

// RequestCost is the number of requests for the strategies of one market, and the delay of their candles.
type RequestCost struct {
	Market            string `json:"market"`
	Series            int    `json:"series"` // of candles: symbols by intervals
	RequestsMinute    int    `json:"requests_per_minute"`
	RequestsPerSecond int    `json:"requests_per_second"` // the budget; 0 for no limit
	CandleDelayMS     int64  `json:"candle_delay_ms"`     // from the first to the last candle of a close
	Interval          string `json:"interval"`            // the interval with the largest delay relative to its length

	interval exchange.Interval
}

// Late reports whether candles arrive later than a tenth of their interval.
func (c *RequestCost) Late() bool { return c.CandleDelayMS*latestFraction > int64(c.interval) }

// String returns the cost as a line of text.
func (c *RequestCost) String() string {
	text := fmt.Sprintf("%s: %d series of candles, about %d requests a minute while nothing is in flight", c.Market, c.Series, c.RequestsMinute)
	if c.RequestsPerSecond > 0 {
		text += fmt.Sprintf("; at %d a second the last %s candle is seen %s after the first", c.RequestsPerSecond, c.Interval, c.delay())
	}
	return text
}

func (c *RequestCost) delay() time.Duration {
	return (time.Duration(c.CandleDelayMS) * time.Millisecond).Round(100 * time.Millisecond)
}

// Requests returns the request costs of the configuration for each traded market. A demo makes no requests.
func (c *Config) Requests() (costs []RequestCost) {
	if c.Mode == Demo {
		return nil
	}
	for _, market := range [2]exchange.Market{exchange.Futures, exchange.Spot} {
		if cost := c.requestsOf(market); cost.Series > 0 {
			costs = append(costs, cost)
		}
	}
	return costs
}

func (c *Config) requestsOf(market exchange.Market) RequestCost {
	type series struct {
		symbol   string
		interval exchange.Interval
	}
	decides := map[series]bool{} // whether a strategy decides by its candles as they close
	for i := range c.Strategies {
		one := &c.Strategies[i]
		for _, key := range append([]exchange.SymbolKey{{Market: one.Market, Name: one.Symbol}}, one.others...) {
			if s := (series{key.Name, one.Interval}); key.Market == market {
				decides[s] = decides[s] || one.Schedule.Candle()
			}
		}
	}
	type place struct {
		decides  bool
		interval exchange.Interval
	}
	counts := map[place]int{}
	for s, decides := range decides {
		counts[place{decides, s.interval}]++
	}
	cost := RequestCost{Market: market.String(), Series: len(decides), RequestsPerSecond: c.Exchange.RequestsPerSecond,
		RequestsMinute: rulesMinute + roundsMinute*futuresRound}
	if market == exchange.Spot {
		cost.RequestsMinute = rulesMinute + roundsMinute*spotRound
	}
	polls, due := 0.0, 0
	for _, first := range [2]bool{true, false} { // of those that close at the same time the engine reads these first, then the shorter intervals
		for _, interval := range exchange.Intervals() {
			count := counts[place{first, interval}]
			if count == 0 {
				continue
			}
			due += count
			polls += float64(count) * float64(exchange.Minute1) / float64(interval)
			delayMS := int64(due) * 1_000 / int64(max(1, cost.RequestsPerSecond))
			if cost.interval == 0 || delayMS*int64(cost.interval) > cost.CandleDelayMS*int64(interval) {
				cost.CandleDelayMS, cost.interval, cost.Interval = delayMS, interval, interval.String()
			}
		}
	}
	if cost.RequestsPerSecond == 0 {
		cost.CandleDelayMS = 0
	}
	cost.RequestsMinute += int(polls + 0.5)
	return cost
}

// checkRequests warns of candles that arrive late because of the request budget.
func (l *loader) checkRequests() {
	for _, cost := range l.config.Requests() {
		if !cost.Late() {
			continue
		}
		enough := (cost.CandleDelayMS*int64(cost.RequestsPerSecond)*latestFraction + int64(cost.interval) - 1) / int64(cost.interval)
		l.document(rootFile).report(Warning, l.config.lines[l.name(rootFile)]["exchange.requests_per_second"], 0,
			"raise exchange.requests_per_second to "+strconv.FormatInt(enough, 10)+" if the venue allows it, or trade fewer symbols or longer intervals",
			fmt.Sprintf("%s: %d series of candles at %d requests a second: the last %s candle is seen %s after the first, more than a tenth of its interval",
				cost.Market, cost.Series, cost.RequestsPerSecond, cost.Interval, cost.delay()))
	}
}
