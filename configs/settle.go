package configs

import (
	"fmt"
	"path"
	"slices"

	"botd/exchange"
	"botd/internal/notation"
)

// SettleConfig are W, D and L of the exactly-once protocol, for both markets or for each.
type SettleConfig struct {
	WindowMS     int64 // W: the time within which a signed request can still be admitted
	VisibilityMS int64 // D: from admission to visibility in lists
	StalenessMS  int64 // L: the maximum age of a read

	Measured string // the date of the probe that measured them
	Written  bool   // all three are written in the configuration

	Futures, Spot MarketSettle
}

// MarketSettle holds the bounds of one market. 0 selects the common value.
type MarketSettle struct {
	WindowMS, VisibilityMS, StalenessMS int64
	Measured                            string
	Written                             bool
}

// defaultSettle returns the known bounds of the simulated exchange, or cautious ones for a venue that is not measured
// (exactly-once.md, The fence and the equation).
func defaultSettle(mode Mode) SettleConfig {
	if mode == Live {
		return SettleConfig{WindowMS: 60 * second, VisibilityMS: 45 * second, StalenessMS: 15 * second}
	}
	return SettleConfig{WindowMS: 5 * second, VisibilityMS: second, StalenessMS: second}
}

const notMeasured = "not measured"

func (c *SettleConfig) market(market exchange.Market) *MarketSettle {
	if market == exchange.Spot {
		return &c.Spot
	}
	return &c.Futures
}

// Known reports whether a market's bounds are measured or configured.
func (c *SettleConfig) Known(market exchange.Market) bool {
	return c.Origin(market) != notMeasured
}

// Origin names the source of a market's bounds.
func (c *SettleConfig) Origin(market exchange.Market) string {
	m := c.market(market)
	switch {
	case m.Written:
		return originOf(m.Measured)
	case c.Written:
		return originOf(c.Measured)
	}
	return notMeasured // a date without the three bounds means nothing
}

func originOf(measured string) string {
	if measured == "" {
		return "set in the configuration"
	}
	return "measured on " + measured
}

// Unsettled returns the traded markets whose bounds are neither measured nor configured.
func (c *Config) Unsettled() []exchange.Market {
	return slices.DeleteFunc(c.Markets(), c.Exchange.Settle.Known)
}

// UnsettledProblems returns the problems that prevent mode live from starting: traded markets whose bounds are
// neither measured nor configured. Reading the configuration does not require bounds, or the probe that measures them
// could not run.
func (c *Config) UnsettledProblems() (problems Problems) {
	if c.Mode != Live {
		return nil
	}
	file := "botd.yaml"
	if at := slices.IndexFunc(c.Files, func(name string) bool { return path.Base(name) == file }); at >= 0 {
		file = c.Files[at]
	}
	for _, market := range c.Unsettled() {
		problems = append(problems, Problem{File: file, Severity: Error, What: fmt.Sprintf("mode live: the bounds exchange.settle of the %s market, "+
			"by which every unanswered order is decided, are neither measured nor set in the configuration", market),
			Hint: fmt.Sprintf("botd probe --trade --out FILE measures them, for exchange.profile: FILE; or write "+
				"exchange.settle: {%s: {window: ..., visibility: ..., staleness: ...}} in botd.yaml; or trade nothing on %s", market, market)})
	}
	return problems
}

// SettleBounds returns the bounds of the account: the maxima over the traded markets, since the account's reads and
// its money span all of them.
func (c *Config) SettleBounds() (windowMS, visibilityMS, stalenessMS int64) {
	for _, market := range c.Markets() {
		all, m := &c.Exchange.Settle, c.Exchange.Settle.market(market)
		pick := func(into *int64, own, both int64) {
			if own == 0 {
				own = both
			}
			*into = max(*into, own)
		}
		pick(&windowMS, m.WindowMS, all.WindowMS)
		pick(&visibilityMS, m.VisibilityMS, all.VisibilityMS)
		pick(&stalenessMS, m.StalenessMS, all.StalenessMS)
	}
	return windowMS, visibilityMS, stalenessMS
}

// Markets returns the markets that strategies trade, or both if there are no strategies.
func (c *Config) Markets() (markets []exchange.Market) {
	for _, market := range []exchange.Market{exchange.Futures, exchange.Spot} {
		if len(c.Strategies) == 0 || slices.ContainsFunc(c.Strategies, func(s StrategyConfig) bool { return s.Market == market }) {
			markets = append(markets, market)
		}
	}
	return markets
}

// noteWritten records whether all bounds are configured explicitly.
func (c *SettleConfig) noteWritten(s *section) { c.Written = c.Written || allBounds(s) }

func allBounds(s *section) bool {
	return s.find("window") != nil && s.find("visibility") != nil && s.find("staleness") != nil
}

func settleKeys(c *SettleConfig) []key {
	live := defaultSettle(Live)
	market := func(m *MarketSettle, name string) key {
		keys := boundKeys(&m.WindowMS, &m.VisibilityMS, &m.StalenessMS, &m.Measured)
		for i := range keys {
			keys[i].what, keys[i].modes = keys[i].what+"; on "+name, "live"
		}
		return key{name: name, keys: keys, hidden: func() bool { return *m == MarketSettle{} },
			after: func(s *section) { m.Written = m.Written || allBounds(s) }}
	}
	keys := boundKeys(&c.WindowMS, &c.VisibilityMS, &c.StalenessMS, &c.Measured)
	for i, ms := range []int64{live.WindowMS, live.VisibilityMS, live.StalenessMS} {
		keys[i].live = notation.DurationText(ms)
	}
	keys[1].zero, keys[2].zero = true, true
	return append(keys, market(&c.Futures, "futures"), market(&c.Spot, "spot"))
}

func boundKeys(windowMS, visibilityMS, stalenessMS *int64, measured *string) []key {
	return []key{
		{name: "window", value: duration(windowMS, 1, hour),
			what: "W of exactly-once.md: how long after signing a request may still be admitted", example: "5s"},
		{name: "visibility", value: duration(visibilityMS, 0, hour),
			what: "D: how long an accepted order may be missing from lists", example: "1s"},
		{name: "staleness", value: duration(stalenessMS, 0, hour),
			what: "L: maximum age of a read", example: "1s"},
		{name: "measured", value: date(measured),
			what: "the day on which `botd probe --trade` measured the bounds; live starts only with all three " +
				"set, for each traded market", modes: "live", example: "2026-11-22"},
	}
}
