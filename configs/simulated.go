package configs

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"botd/exchange"
	"botd/exchange/polling"
	"botd/internal/notation"
)

// SimulatedConfig is the account of the modes demo and paper. Deposits apply when the account begins, fees always.
type SimulatedConfig struct {
	Futures                    exchange.Amount // USDT
	Spot                       map[string]exchange.Amount
	FuturesMaker, FuturesTaker exchange.Rate
	SpotMaker, SpotTaker       exchange.Rate
}

// PaperConfig configures how mode paper follows the venue.
type PaperConfig struct {
	PollMS   int64 // interval of reading order book, trades and ticker
	MaxAgeMS int64 // older data fills no orders
}

// defaultSimulated returns the account of docs/exchange.md: 10000 USDT on futures, 10000 USDT and 1 BTC on spot; maker
// 0.02 %, taker 0.05 %, spot 0.1 %.
func defaultSimulated() SimulatedConfig {
	return SimulatedConfig{
		Futures:      exchange.AmountOf(10_000),
		Spot:         map[string]exchange.Amount{"USDT": exchange.AmountOf(10_000), "BTC": exchange.AmountOf(1)},
		FuturesMaker: 20_000, FuturesTaker: 50_000, SpotMaker: 100_000, SpotTaker: 100_000,
	}
}

// Limits of a simulated account.
const (
	maxAssets = 100
	maxFee    = exchange.RateOne / 10
)

const simulatedModes = "demo, paper"

var assetName = regexp.MustCompile(`^[A-Z0-9]{1,20}$`)

func (c *SimulatedConfig) keys() []key {
	fee := func(name string, into *exchange.Rate, what, example string) key {
		return key{name: name, zero: true, value: share(into, -maxFee, maxFee), what: what, modes: simulatedModes, example: example}
	}
	return []key{
		{name: "futures", zero: true, value: amount(&c.Futures, exchange.Amount{}),
			what: "the initial balance of the simulated futures wallet", unit: "USDT", modes: simulatedModes, example: "10000"},
		{name: "spot", members: &members{read: c.readDeposits, show: c.showDeposits,
			key: key{name: "ASSET", value: amount(&exchange.Amount{}, exchange.Amount{}),
				what: "the initial balance of the simulated spot wallet; a list replaces the default, 10000 USDT and 1 BTC", unit: "the asset",
				modes: simulatedModes, example: "simulated: {spot: {USDT: 10000, BTC: 1}}"}}},
		{name: "fees", keys: []key{
			{name: "futures", keys: []key{
				fee("maker", &c.FuturesMaker, "maker fee, share of the order value; a negative fee is a rebate", "0.02%"),
				fee("taker", &c.FuturesTaker, "taker fee, share of the order value", "0.05%"),
			}},
			{name: "spot", keys: []key{
				fee("maker", &c.SpotMaker, "maker fee, share of the amount received", "0.1%"),
				fee("taker", &c.SpotTaker, "taker fee, share of the amount received", "0.1%"),
			}},
		}},
	}
}

// readDeposits reads the initial balances of the spot wallet. A list replaces the default.
func (c *SimulatedConfig) readDeposits(s *section) {
	if len(s.entries) == 0 {
		return
	}
	given := map[string]exchange.Amount{}
	for _, e := range s.entries {
		asset, deposit := e.key.Value, exchange.Amount{}
		if !assetName.MatchString(asset) {
			s.report(Error, e.key.Line, e.key.Column, "an asset, such as USDT",
				fmt.Sprintf("%s%s is not a valid asset name", s.path, notation.Shortened(asset)))
			continue
		}
		value := amount(&deposit, exchange.Amount{})
		value.read(s, asset)
		given[asset] = deposit
	}
	if len(given) > maxAssets {
		s.fail(s.line, "", "%d assets exceed the maximum of %d", len(given), maxAssets)
		return
	}
	c.Spot = given
}

func (c *SimulatedConfig) showDeposits(into outline) {
	for _, asset := range slices.Sorted(maps.Keys(c.Spot)) {
		into.set(asset, c.Spot[asset].String())
	}
}

func (c *PaperConfig) keys() []key {
	return []key{
		{name: "poll", value: duration(&c.PollMS, 100, minute),
			what: "interval at which the venue's book, trades and ticker are read: three requests per symbol", modes: "paper", example: "1s"},
		{name: "max_age", value: duration(&c.MaxAgeMS, second, hour), after: c.checkMaxAge,
			what: "on older data no order is accepted or filled; at least two polls", modes: "paper", example: "10s"},
	}
}

func (c *PaperConfig) checkMaxAge(s *section) {
	if c.MaxAgeMS < polling.PollsInAge*c.PollMS {
		s.fail(s.lineOf("max_age"), "make it several polls long, or poll more often",
			"paper.max_age %s is below two polls of %s: data would repeatedly become stale",
			notation.DurationText(c.MaxAgeMS), notation.DurationText(c.PollMS))
	}
}
