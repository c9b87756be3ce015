package simulation

import (
	"botd/exchange"
	"botd/exchange/sim"
	"botd/runtime/engine"
	"botd/strategy"
	"botd/strategy/library"
)

// each is a schedule of one tick a period.
type each int64

// Next returns the next multiple of the period.
func (p each) Next(afterMS int64) int64 { return afterMS - afterMS%int64(p) + int64(p) }

// leverage is what every strategy of futures asks for.
const leverage = 5

// role is one strategy of a run and what is asked of it.
type role struct {
	name      string
	key       exchange.SymbolKey
	kind      string
	unit      exchange.Quantity
	most      exchange.Quantity // the largest position its plan ever wishes
	protected bool
	schedule  int64 // ms; 0 for once per closed candle
	salt      uint64
	anchor    exchange.Price // the price it all began at
	config    engine.StrategyConfig
	spy       *spy
	scripted  strategy.Strategy // of a scenario
	onRemove  string
	absent    bool // it is taken out of the configuration
}

// cast is who plays: symbols and strategies, drawn once per seed.
type portfolio struct {
	symbols  []*exchange.Symbol // the exchange's
	original []*exchange.Symbol // as they were before any drift
	roles    []role
	unit     map[exchange.SymbolKey]exchange.Quantity
	anchor   map[exchange.SymbolKey]exchange.Price
	breaker  engine.BreakerConfig
}

// of is the strategy that trades a symbol.
func (c *portfolio) of(key exchange.SymbolKey) string {
	for i := range c.roles {
		if c.roles[i].key == key {
			return c.roles[i].name
		}
	}
	return ""
}

var (
	market = sim.DefaultSymbols() // never changed: runs take copies
	twap   = find("twap")
)

func find(name string) strategy.Definition {
	for _, definition := range library.All() {
		if definition.Name == name {
			return definition
		}
	}
	panic("simulation: no strategy " + name)
}

// pairings are the symbols, with the usual quantity of one order in lots.
var pairings = []struct {
	key  exchange.SymbolKey
	lots exchange.Quantity
}{
	{exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}, 4},
	{exchange.SymbolKey{Market: exchange.Futures, Name: "ETH-USDT"}, 6},
	{exchange.SymbolKey{Market: exchange.Futures, Name: "PEPE-USDT"}, 7_000}, // 7 USDT: parts are dust
	{exchange.SymbolKey{Market: exchange.Spot, Name: "BTC-USDT"}, 40},
	{exchange.SymbolKey{Market: exchange.Spot, Name: "ETH-USDT"}, 70},
}

var kinds = map[exchange.Market][]string{
	exchange.Futures: {"twap", "swing", "ladder", "breakout", "swing"},
	exchange.Spot:    {"twap", "swing"},
}

// newPortfolio draws one to three strategies, each on a symbol of its own.
func newPortfolio(d *draw) *portfolio {
	c := &portfolio{unit: map[exchange.SymbolKey]exchange.Quantity{}, anchor: map[exchange.SymbolKey]exchange.Price{}}
	if d.chance(0.7) { // the usual ten minutes would leave little to see
		c.breaker = engine.BreakerConfig{Unknowns: 3, WithinMS: 120_000, PauseMS: 15_000, EmptyEndings: 3, EmptyPauseMS: 10_000}
	}
	first, count := d.below(int64(len(pairings))), d.between(1, 3)
	for i := range count {
		p := pairings[(first+i*2)%int64(len(pairings))]
		if _, taken := c.unit[p.key]; taken {
			continue
		}
		for _, symbol := range market {
			if symbol.Key() == p.key {
				fresh := *symbol
				c.symbols, c.original = append(c.symbols, &fresh), append(c.original, symbol)
				c.add(d, &fresh, p.lots)
			}
		}
	}
	return c
}

func (c *portfolio) add(d *draw, symbol *exchange.Symbol, lots exchange.Quantity) {
	key := symbol.Key()
	choice := kinds[key.Market]
	r := role{key: key, kind: choice[d.below(int64(len(choice)))], unit: lots * symbol.QuantityTick, salt: d.next(), schedule: d.between(1, 8) * 1_000}
	r.name = r.kind + "-" + key.Name + "-" + key.Market.String()
	r.protected = d.chance(0.7) && r.kind != "ladder"
	if d.chance(0.1) {
		r.schedule = 0
	}
	switch r.kind {
	case "twap":
		r.most = r.unit * 10
	case "swing":
		r.most = r.unit * 2
	case "ladder":
		r.most = r.unit * 3
	case "breakout":
		r.most = r.unit
	}
	c.unit[key] = r.unit
	c.roles = append(c.roles, r)
}

// markets sets the quotes: sometimes far apart, so that a resting order is the
// best one and can be filled in part.
func (c *portfolio) markets(w *world, d *draw) {
	for _, symbol := range c.symbols {
		last, _ := w.venue.x.Price(symbol.Key())
		c.anchor[symbol.Key()] = last
		spread := 1
		if d.chance(0.6) {
			spread = max(1, int(last/2_000/symbol.PriceTick)) // 0.05 %
		}
		w.venue.x.SetMarket(symbol.Key(), sim.Still(sim.StillConfig{SpreadTicks: spread, Price: last}))
	}
}

// pull brings a price back to where it began, in millionths.
func (c *portfolio) pull(key exchange.SymbolKey, last exchange.Price) int64 {
	anchor := c.anchor[key]
	return int64(anchor-last) / max(1, int64(anchor)/100_000) / 10
}

// start makes the strategies of one life of the process: what they keep in
// memory dies with it.
func (c *portfolio) start(w *world) []*role {
	var all []*role
	for i := range c.roles {
		r := &c.roles[i]
		if r.absent {
			continue
		}
		r.dress(w)
		all = append(all, r)
	}
	return all
}

// limit is the position limit: what the plan needs, and on spot, where a buy is
// sent as an amount, what a moving price adds.
func (r *role) limit() exchange.Quantity {
	if r.key.Market == exchange.Spot {
		return r.most + r.most/10
	}
	return r.most
}

func (r *role) strategy(symbol *exchange.Symbol) strategy.Strategy {
	switch r.kind {
	case "twap":
		values := strategy.Values{"quantity": symbol.QuantityDecimal(r.most).String(), "slices": "10", "every": "20s"}
		if r.key.Market == exchange.Futures && r.salt%2 == 0 {
			values["side"] = "sell"
		}
		made, err := twap.New(strategy.Setting{Market: r.key.Market, Symbol: symbol, Interval: exchange.Minute1}, values)
		if err != nil {
			panic(err)
		}
		return made
	case "ladder":
		return &ladder{*r}
	case "breakout":
		return &breakout{*r}
	case "scripted":
		return r.scripted
	}
	return &swing{*r}
}

// swing wishes long, flat or short by the time alone.
type swing struct{ role role }

// Warmup is none.
func (*swing) Warmup() int { return 0 }

// Candle takes nothing.
func (*swing) Candle(*strategy.View) {}

// Decide wishes what the hash of a span of time says.
func (s *swing) Decide(view *strategy.View, plan *strategy.Plan) {
	n := exchange.Quantity(mix(s.role.salt^uint64(view.NowMS/25_000))%5) - 2
	if view.Symbol.Market == exchange.Spot {
		n = max(n, -n)
	}
	plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: n * s.role.unit}, "the time says so")
}

// ladder keeps three bids below the price and an offer for what they bought.
type ladder struct{ role role }

// Warmup is none.
func (*ladder) Warmup() int { return 0 }

// Candle takes nothing.
func (*ladder) Candle(*strategy.View) {}

// Decide wishes bids on a coarse grid, and none at some times, so that what was
// filled under their keys is forgotten.
func (s *ladder) Decide(view *strategy.View, plan *strategy.Plan) {
	symbol := view.Symbol
	plan.OrdersSet, plan.ExitsSet, plan.Reason = true, true, "the grid"
	grid := s.role.anchor / 500
	base := view.Last / grid * grid
	if mix(s.role.salt^uint64(view.NowMS/45_000))%4 != 0 {
		for i, key := range []string{"a", "b", "c"} {
			price := symbol.FloorPrice(base - grid*exchange.Price(i)/4 - view.Last/4_000)
			plan.Orders = append(plan.Orders, strategy.DesiredOrder{Key: key, Side: exchange.Buy, Price: price, Quantity: s.role.unit, PostOnly: i == 1})
		}
	}
	if view.Position.Quantity > 0 {
		plan.Exits = append(plan.Exits, strategy.DesiredOrder{Key: "x", Side: exchange.Sell, Price: symbol.CeilPrice(base + view.Last/2_000), Quantity: s.role.unit * 1_000})
	}
}

// breakout waits with a stop order above the price, and leaves by protection or
// by a resting exit.
type breakout struct{ role role }

// Warmup is none.
func (*breakout) Warmup() int { return 0 }

// Candle takes nothing.
func (*breakout) Candle(*strategy.View) {}

// Decide wishes the stop while flat, and at some times nothing.
func (s *breakout) Decide(view *strategy.View, plan *strategy.Plan) {
	symbol := view.Symbol
	plan.OrdersSet, plan.ExitsSet, plan.Reason = true, true, "above the grid"
	grid := s.role.anchor / 1_000
	base := view.Last / grid * grid
	on := mix(s.role.salt^uint64(view.NowMS/30_000))%3 != 0
	if on && view.Position.Quantity == 0 {
		stop := symbol.CeilPrice(base + grid + grid/2)
		plan.Orders = append(plan.Orders, strategy.DesiredOrder{Key: "up", Side: exchange.Buy, Price: symbol.CeilPrice(stop + grid), StopPrice: stop, Quantity: s.role.unit})
	}
	if view.Position.Quantity > 0 && mix(s.role.salt^uint64(view.NowMS/20_000))%2 == 0 {
		plan.Exits = append(plan.Exits, strategy.DesiredOrder{Key: "x", Side: exchange.Sell, Price: symbol.CeilPrice(base + grid), Quantity: s.role.unit * 1_000})
	}
}

// spy looks over a strategy's shoulder: it sees each closed candle once, in order.
type spy struct {
	inner  strategy.Strategy
	w      *world
	role   *role
	openMS int64
	given  int64 // the newest candle that the version before it was given
}

// Warmup is the strategy's own.
func (s *spy) Warmup() int { return s.inner.Warmup() }

// Candle checks the order of candles.
func (s *spy) Candle(view *strategy.View) {
	step := int64(view.Interval)
	switch {
	case view.Candle.OpenMS > s.given && view.Candle.OpenMS+step > s.w.nowMS+max(0, s.w.daemon.clockError):
		s.w.fail("candles", "%s was given the candle of %d before it closed", s.role.name, view.Candle.OpenMS)
	case s.openMS != 0 && view.Candle.OpenMS != s.openMS+step:
		s.w.fail("candles", "%s was given the candle of %d after that of %d", s.role.name, view.Candle.OpenMS, s.openMS)
	}
	s.openMS = view.Candle.OpenMS
	s.inner.Candle(view)
}

// Decide is the strategy's own.
func (s *spy) Decide(view *strategy.View, plan *strategy.Plan) { s.inner.Decide(view, plan) }
