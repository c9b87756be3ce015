package simulation

import (
	"botd/exchange"
	"botd/exchange/sim"
	"botd/risk"
	"botd/strategy"
	"botd/strategy/overlay"
)

// calendarFrom is the first seed whose run starts near midnight UTC or another time of funding, so that its
// positions pay or receive funding. Its swings and ladders may be any strategy of the lower ranges, one of
// the rest of the library, or a target that rules size and split.
const calendarFrom = 1 << 43

// fundingMS is the time between two payments of funding. At every third one begins a day.
const fundingMS = 8 * 60 * 60 * 1_000

// begins returns the start of a run.
func begins(seed uint64) int64 {
	if seed < calendarFrom {
		return startMS
	}
	d := newDraw(seed, 9)
	boundary := startMS + d.below(3)*fundingMS // the first one is at 08:00
	if d.chance(0.1) {
		return boundary + d.between(1, fundingMS-faultsMS-quietMS-1) // far from any
	}
	return boundary - d.between(0, faultsMS+quietMS/2)
}

// calendar draws the settings of these seeds that depend on results: most have a ledger, and limits that no
// market move reaches.
func (w *world) calendar(d *draw) {
	if w.seed < calendarFrom || w.beyond != nil {
		return
	}
	w.ledger = w.ledger || d.chance(0.8)
	w.poor = w.poor || d.chance(0.4) // a small profit then raises the peak, which is journalled in steps of 0.1 %
	if w.limits == (bounded{}) && d.chance(0.75) {
		far := risk.Loss{Share: exchange.RateOne / 2}
		w.limits = bounded{far: true, account: risk.Limits{MaxDailyLoss: far, MaxDrawdown: far}, strategy: risk.Limits{MaxDailyLoss: far, MaxDrawdown: far}}
	}
}

// fund sets the rates of funding, and the shares of the equity by which rules of size keep within the roles' limits.
func (w *world) fund(d *draw) {
	if w.seed < calendarFrom {
		return
	}
	free, _ := w.venue.x.Balance(trader, "USDT")
	for i := range w.portfolio.roles {
		r, equity := &w.portfolio.roles[i], free
		symbol := w.venue.held[r.key].rules
		if r.key.Market == exchange.Futures {
			equity = w.venue.x.Money(trader).Wallet
			var rates []sim.FundingPoint
			for n := range int64(4) {
				rates = append(rates, sim.FundingPoint{TimeMS: startMS + n*fundingMS, Rate: exchange.Rate(d.between(-50_000, 75_000))}) // -0.05 to 0.075 %
			}
			w.venue.x.SetFunding(r.key.Name, rates)
		}
		r.share = symbol.Notional(w.portfolio.anchor[r.key], r.most/5*4).Ratio(equity)
	}
}

// mixed replaces swings and ladders by strategies of any kind.
func (c *portfolio) mixed(d *draw) {
	switch d.below(10) {
	case 0:
		c.patience(d)
	case 1:
		c.libraries(d)
	case 2:
		c.assort(d)
	default:
		c.shelve(d)
	}
}

// shelf lists the strategies of the library that the lower ranges of seeds do not draw, each with the fewest
// candles that it accepts. It omits macd, for which the run is too short, funding_carry, which trades two
// symbols, and signals, whose targets come from outside.
var shelf = []listed{
	{find("donchian"), 0, strategy.Values{"entry": "1", "exit": "1"}, ""},
	{find("rsi"), 0, strategy.Values{"period": "2", "low": "45", "high": "55"}, ""},
	{find("supertrend"), 0, strategy.Values{"period": "1", "multiplier": "0.5"}, ""},
	{find("turtle"), 0, strategy.Values{"entry": "1", "exit": "2", "failsafe": "0", "period": "2", "add": "0.1", "risk": "0.5%"}, "max_notional"},
	{find("rebalance"), exchange.Spot, strategy.Values{"band": "0.1%"}, "weight"},
}

// shelve replaces swings and ladders by strategies of the shelf, and by targets with sizing rules.
func (c *portfolio) shelve(d *draw) {
	for i := range c.roles {
		r := &c.roles[i]
		if r.kind != "swing" && r.kind != "ladder" || !d.chance(0.9) {
			continue
		}
		r.protected = r.protected || r.kind == "ladder" && d.chance(0.7)
		r.most = r.unit * 4
		if n := int(d.below(int64(2 * len(shelf)))); n < len(shelf) && (shelf[n].market == 0 || shelf[n].market == r.key.Market) {
			r.kind, r.follower, r.name = "shelved", n, shelf[n].definition.Name+"-"+r.key.Name+"-"+r.key.Market.String()
			continue
		}
		r.kind, r.name = "sized", "sized-"+r.key.Name+"-"+r.key.Market.String()
		sizing := &r.rules.Sizing
		if sizing.Reduce = d.chance(0.3); d.chance(0.5) {
			sizing.Kelly = exchange.RateOne / 2
		} else {
			sizing.Risk, sizing.Stop = exchange.RateOne/2, strategy.Distance{Share: 600_000} // bounded by Max
		}
		if d.chance(0.6) {
			sizing.Steps = []overlay.Step{{Share: exchange.RateOne / 2}, {Away: exchange.Rate(d.between(1, 4) * 20_000), Share: exchange.RateOne / 2}}
			if d.chance(0.5) {
				sizing.Steps[1].Away = -sizing.Steps[1].Away
			}
		}
	}
}

// sized targets a share of the equity on either side, or none, depending on the time alone; sizing rules
// replace the share.
type sized struct{ role role }

// Warmup returns none.
func (*sized) Warmup() int { return 0 }

// Candle ignores the candle.
func (*sized) Candle(*strategy.View) {}

// Decide sets a target from the hash of the current interval.
func (s *sized) Decide(view *strategy.View, plan *strategy.Plan) {
	n := int64(mix(s.role.salt^uint64(view.NowMS/40_000))%5) - 2
	if view.Symbol.Market == exchange.Spot {
		n = max(n, -n)
	}
	plan.Hold(strategy.Target{Kind: strategy.ByEquity, Share: exchange.RateOne / 2 * exchange.Rate(n)}, "by the timetable")
}

// dimension returns the sizing rules, bounded by the role's share of the equity.
func (r *role) dimension() overlay.TradeSettings {
	rules := r.rules
	rules.Sizing.Max = r.share
	return rules
}
