package configs

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"botd/exchange"
)

// SimulatedConfig is the account of the modes demo and paper. Deposits count when
// the account begins, fees always.
type SimulatedConfig struct {
	Futures                    exchange.Amount // USDT
	Spot                       map[string]exchange.Amount
	FuturesMaker, FuturesTaker exchange.Rate
	SpotMaker, SpotTaker       exchange.Rate
}

// PaperConfig is how mode paper follows the venue.
type PaperConfig struct {
	PollMS   int64 // how often book, trades and ticker are asked for
	MaxAgeMS int64 // data older than that fill nothing
}

// defaultSimulated is the account of decisions.md: 10000 USDT on futures, 10000
// USDT and 1 BTC on spot; maker 0.02 %, taker 0.05 %, spot 0.1 %.
func defaultSimulated() SimulatedConfig {
	return SimulatedConfig{
		Futures:      exchange.AmountOf(10_000),
		Spot:         map[string]exchange.Amount{"USDT": exchange.AmountOf(10_000), "BTC": exchange.AmountOf(1)},
		FuturesMaker: 20_000, FuturesTaker: 50_000, SpotMaker: 100_000, SpotTaker: 100_000,
	}
}

// Bounds of a simulated account.
const (
	maxAssets = 100
	maxFee    = exchange.RateOne / 10
)

func (l *loader) simulated(root *section) {
	s := root.section("simulated")
	l.config.Simulated.read(s)
	s.done()
}

// read reads deposits and fees; what is not given stays.
func (c *SimulatedConfig) read(s *section) {
	s.amount("futures", &c.Futures, exchange.Amount{})
	c.deposits(s.section("spot"))
	fees := s.section("fees")
	futures := fees.section("futures")
	futures.rate("maker", &c.FuturesMaker, -maxFee, maxFee)
	futures.rate("taker", &c.FuturesTaker, -maxFee, maxFee)
	futures.done()
	spot := fees.section("spot")
	spot.rate("maker", &c.SpotMaker, -maxFee, maxFee)
	spot.rate("taker", &c.SpotTaker, -maxFee, maxFee)
	spot.done()
	fees.done()
}

var assetName = regexp.MustCompile(`^[A-Z0-9]{1,20}$`)

// deposits reads what the spot wallet begins with; a list given replaces the default.
func (c *SimulatedConfig) deposits(s *section) {
	s.learn("ASSET", Key{Kind: KindNumber, Low: "0", Any: true})
	if len(s.entries) == 0 {
		return
	}
	given := map[string]exchange.Amount{}
	for _, e := range s.entries {
		asset, amount := e.key.Value, exchange.Amount{}
		if !assetName.MatchString(asset) {
			s.report(Error, e.key.Line, e.key.Column, "an asset, as USDT", fmt.Sprintf("%s%s is not an asset's name", s.path, shortened(asset)))
			continue
		}
		s.amount(asset, &amount, exchange.Amount{})
		given[asset] = amount
	}
	if len(given) > maxAssets {
		s.fail(s.line, "", "%d assets are more than %d", len(given), maxAssets)
		return
	}
	c.Spot = given
}

func (l *loader) paper(root *section) {
	c := &l.config.Paper
	s := root.section("paper")
	s.duration("poll", &c.PollMS, 100, minute)
	s.duration("max_age", &c.MaxAgeMS, second, hour)
	if c.MaxAgeMS < 2*c.PollMS {
		s.fail(s.lineOf("max_age"), "make it several polls long, or poll more often",
			"paper.max_age %s is below two polls of %s: data would be too old again and again", durationText(c.MaxAgeMS), durationText(c.PollMS))
	}
	s.done()
}

func (c *SimulatedConfig) outline() outline {
	o, spot, fees, futuresFees, spotFees := newOutline(), newOutline(), newOutline(), newOutline(), newOutline()
	o.set("futures", c.Futures.String())
	for _, asset := range slices.Sorted(maps.Keys(c.Spot)) {
		spot.set(asset, c.Spot[asset].String())
	}
	o.put("spot", spot)
	futuresFees.set("maker", percent(c.FuturesMaker))
	futuresFees.set("taker", percent(c.FuturesTaker))
	spotFees.set("maker", percent(c.SpotMaker))
	spotFees.set("taker", percent(c.SpotTaker))
	fees.put("futures", futuresFees)
	fees.put("spot", spotFees)
	o.put("fees", fees)
	return o
}

func (c *PaperConfig) outline() outline {
	o := newOutline()
	o.set("poll", durationText(c.PollMS))
	o.set("max_age", durationText(c.MaxAgeMS))
	return o
}
