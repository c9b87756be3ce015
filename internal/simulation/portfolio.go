package simulation

import (
	"cmp"
	"slices"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/runtime/engine"
	"botd/strategy"
	"botd/strategy/library"
	"botd/strategy/overlay"
)

// each is a schedule of one tick per period.
type each int64

// Next returns the next multiple of the period.
func (p each) Next(afterMS int64) int64 { return afterMS - afterMS%int64(p) + int64(p) }

// leverage is the leverage of every futures strategy.
const leverage = 5

// role is one strategy of a run and its configuration.
type role struct {
	name      string
	key       exchange.SymbolKey
	kind      string
	initial   *exchange.Symbol // the rules at the start of the run
	unit      exchange.Quantity
	most      exchange.Quantity // the largest position its plan ever targets
	protected bool
	schedule  int64 // period in ms; 0 for once per closed candle
	salt      uint64
	anchor    exchange.Price // the price at the start of the run
	config    engine.StrategyConfig
	spy       *spy
	scripted  strategy.Strategy     // of a scenario
	rules     overlay.TradeSettings // rules of a patient or a sized role
	share     exchange.Rate         // of the equity: nearly the maximum position at the start
	follower  int                   // number of the library's strategy, or of the assorted one
	onRemove  string
	absent    bool // removed from the configuration
	catchUp   int  // slices a tick after a pause; 0 for all
}

// portfolio holds the symbols and strategies of a run, drawn once per seed.
type portfolio struct {
	symbols  []*exchange.Symbol // the exchange's own
	original []*exchange.Symbol // their state before any rule drift
	roles    []role
	unit     map[exchange.SymbolKey]exchange.Quantity
	anchor   map[exchange.SymbolKey]exchange.Price
	breaker  engine.BreakerConfig
}

// of returns the name of the strategy that trades a symbol.
func (c *portfolio) of(key exchange.SymbolKey) string {
	for i := range c.roles {
		if c.roles[i].key == key {
			return c.roles[i].name
		}
	}
	return ""
}

// number returns the number of the role that trades a symbol; -1 for none.
func (c *portfolio) number(key exchange.SymbolKey) int {
	return slices.IndexFunc(c.roles, func(r role) bool { return r.key == key })
}

var (
	market = sim.DefaultSymbols() // never changed: runs use copies
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

// pairings are the symbols, each with the usual order quantity in lots.
var pairings = []struct {
	key  exchange.SymbolKey
	lots exchange.Quantity
}{
	{exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}, 4},
	{exchange.SymbolKey{Market: exchange.Futures, Name: "ETH-USDT"}, 6},
	{exchange.SymbolKey{Market: exchange.Futures, Name: "PEPE-USDT"}, 7_000}, // 7 USDT, so parts of it are dust
	{exchange.SymbolKey{Market: exchange.Spot, Name: "BTC-USDT"}, 40},
	{exchange.SymbolKey{Market: exchange.Spot, Name: "ETH-USDT"}, 70},
}

var kinds = map[exchange.Market][]string{
	exchange.Futures: {"twap", "swing", "ladder", "breakout", "swing"},
	exchange.Spot:    {"twap", "swing"},
}

// coarseFrom is the first seed whose spot symbols have coarse quantity steps: a step is worth more than the minimum notional, so what a fee leaves of
// a step can be traded.
const coarseFrom = 1 << 44

// coarsen makes a spot symbol's step a hundred times as large, and the usual quantity ten times.
func coarsen(symbol *exchange.Symbol, lots exchange.Quantity) (*exchange.Symbol, exchange.Quantity) {
	if symbol.Market != exchange.Spot {
		return symbol, lots
	}
	coarse, err := exchange.NewSymbol(exchange.SymbolSpec{Market: symbol.Market, Name: symbol.Name, Base: symbol.Base, Quote: symbol.Quote,
		PriceTick: symbol.PriceDecimal(symbol.PriceTick), QuantityTick: symbol.QuantityDecimal(100 * symbol.QuantityTick),
		MinNotional: symbol.MinNotional.Decimal(), MaxNotional: symbol.MaxNotional.Decimal(), Tradable: true, Cancelable: true})
	if err != nil {
		panic(err) // the built-in symbols are valid
	}
	return coarse, lots / 10
}

// newPortfolio draws one to three strategies, each on its own symbol.
func newPortfolio(d *draw, seed uint64) *portfolio {
	c := &portfolio{unit: map[exchange.SymbolKey]exchange.Quantity{}, anchor: map[exchange.SymbolKey]exchange.Price{}}
	if d.chance(0.7) { // the usual ten minutes would take up most of the run
		c.breaker = engine.BreakerConfig{Uncertain: 3, WithinMS: 120_000, PauseMS: 15_000, EmptyEndings: 3, EmptyPauseMS: 10_000}
	}
	first, count := d.below(int64(len(pairings))), d.between(1, 3)
	for i := range count {
		p := pairings[(first+i*2)%int64(len(pairings))]
		if _, taken := c.unit[p.key]; taken {
			continue
		}
		for _, symbol := range market {
			if symbol.Key() == p.key {
				lots := p.lots
				if seed >= coarseFrom {
					symbol, lots = coarsen(symbol, lots)
				}
				fresh := *symbol
				c.symbols, c.original = append(c.symbols, &fresh), append(c.original, symbol)
				c.add(d, &fresh, lots)
				c.roles[len(c.roles)-1].initial = symbol
			}
		}
	}
	return c
}

// patientFrom is the first seed whose swings may enter patiently and exit by time, by age and after a cooldown.
// Lower seeds run unchanged, since the corpus contains them.
const patientFrom = 1 << 40

// patience makes swings patient: they enter by resting orders that follow the price, cross the spread or expire.
func (c *portfolio) patience(d *draw) {
	for i := range c.roles {
		r := &c.roles[i]
		if r.kind != "swing" || !d.chance(0.8) {
			continue
		}
		r.kind, r.name = "patient", "patient-"+r.key.Name+"-"+r.key.Market.String()
		r.rules.Entry = overlay.Entry{Resting: true, PostOnly: r.key.Market == exchange.Futures && d.chance(0.5), PatienceMS: d.between(2, 20) * 1_000,
			Tries: int(d.between(1, 4)), Cross: d.chance(0.5)}
		if d.chance(0.5) {
			continue
		}
		if d.chance(0.5) {
			r.rules.Exit.Trailing = overlay.Trailing{Distance: 300_000, After: 100_000}
		}
		if d.chance(0.5) {
			r.rules.Exit.Returns = []overlay.Return{{Profit: 400_000}, {AgeMS: 20_000, Profit: 100_000}}
		}
		if d.chance(0.5) {
			r.rules.Exit.TimeLimitMS = d.between(10, 60) * 1_000
		}
		if d.chance(0.5) {
			r.rules.Exit.CooldownMS = d.between(5, 40) * 1_000
		}
	}
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

// markets sets the quotes, sometimes with a wide spread, so that a resting order is
// the best one and can be filled in part.
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

// pull returns a step, in millionths, that brings a price back toward its anchor.
func (c *portfolio) pull(key exchange.SymbolKey, last exchange.Price) int64 {
	anchor := c.anchor[key]
	return int64(anchor-last) / max(1, int64(anchor)/100_000) / 10
}

// start creates the strategies for one life of the process. Their memory ends with the process.
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

// limit returns the position limit: the largest planned position, plus a margin on
// spot, where a buy is sent as an amount and the price may move.
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
		made, err := twap.New(strategy.Setting{Market: r.key.Market, Symbol: symbol, Interval: exchange.Minute1,
			CatchUp: cmp.Or(r.catchUp, 1_000)}, values)
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
	case "library":
		return overlay.Wrap(r.made(followers[r.follower], symbol), r.exits())
	case "assorted":
		return r.assorted(symbol)
	case "shelved":
		return overlay.Wrap(r.made(shelf[r.follower], symbol), r.exits())
	case "sized":
		return overlay.Wrap(&sized{*r}, r.dimension())
	case "patient":
		rules := r.rules
		rules.Exit.Base = r.protection() // a reload may have changed it
		return overlay.Wrap(&swing{*r}, rules)
	}
	return overlay.Wrap(&swing{*r}, r.exits())
}

// exits returns the exit rules of every fourth swing: return targets as resting orders, a trailing stop, or both.
func (r *role) exits() (rules overlay.TradeSettings) {
	if r.salt%4 != 1 {
		return rules
	}
	rules.Exit.Base = r.protection()
	if r.salt/4%3 != 0 {
		rules.Exit.Returns = []overlay.Return{{Profit: 400_000}, {AgeMS: 20_000, Profit: 100_000}}
	}
	if r.salt/4%3 != 1 {
		rules.Exit.Trailing = overlay.Trailing{Distance: 300_000, After: 100_000}
	}
	return rules
}

// swing targets long, flat or short, depending on the time alone.
type swing struct{ role role }

// Warmup returns none.
func (*swing) Warmup() int { return 0 }

// Candle ignores the candle.
func (*swing) Candle(*strategy.View) {}

// Decide sets a target from the hash of the current interval.
func (s *swing) Decide(view *strategy.View, plan *strategy.Plan) {
	n := exchange.Quantity(mix(s.role.salt^uint64(view.NowMS/25_000))%5) - 2
	if view.Symbol.Market == exchange.Spot {
		n = n.Abs()
	}
	plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: n * s.role.unit}, "by the timetable")
}

// ladder keeps three bids below the price and an offer for what they have bought.
type ladder struct{ role role }

// Warmup returns none.
func (*ladder) Warmup() int { return 0 }

// Candle ignores the candle.
func (*ladder) Candle(*strategy.View) {}

// Decide plans bids on a coarse grid, and periodically none, so that the fills under their keys are reset.
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
		plan.Exits = append(plan.Exits, strategy.DesiredOrder{Key: "x", Side: exchange.Sell, Price: symbol.CeilPrice(base + view.Last/2_000),
			Quantity: s.role.unit * 1_000})
	}
}

// breakout enters by a stop order above the price, and exits by protection or by a
// resting exit.
type breakout struct{ role role }

// Warmup returns none.
func (*breakout) Warmup() int { return 0 }

// Candle ignores the candle.
func (*breakout) Candle(*strategy.View) {}

// Decide plans the stop order while flat, and periodically nothing.
func (s *breakout) Decide(view *strategy.View, plan *strategy.Plan) {
	symbol := view.Symbol
	plan.OrdersSet, plan.ExitsSet, plan.Reason = true, true, "above the grid"
	grid := s.role.anchor / 1_000
	base := view.Last / grid * grid
	on := mix(s.role.salt^uint64(view.NowMS/30_000))%3 != 0
	if on && view.Position.Quantity == 0 {
		stop := symbol.CeilPrice(base + grid + grid/2)
		plan.Orders = append(plan.Orders, strategy.DesiredOrder{Key: "up", Side: exchange.Buy, Price: symbol.CeilPrice(stop + grid), StopPrice: stop,
			Quantity: s.role.unit})
	}
	if view.Position.Quantity > 0 && mix(s.role.salt^uint64(view.NowMS/20_000))%2 == 0 {
		plan.Exits = append(plan.Exits, strategy.DesiredOrder{Key: "x", Side: exchange.Sell, Price: symbol.CeilPrice(base + grid),
			Quantity: s.role.unit * 1_000})
	}
}

// spy wraps a strategy and checks that it receives each closed candle once, in order.
type spy struct {
	inner  strategy.Strategy
	w      *world
	role   *role
	openMS int64
	given  int64 // the newest candle that the previous version received
}

// Warmup returns the strategy's own warm-up.
func (s *spy) Warmup() int { return s.inner.Warmup() }

// Candle checks the order of candles.
func (s *spy) Candle(view *strategy.View) {
	step, openMS := int64(view.Interval), view.Candle().OpenMS
	switch {
	case openMS > s.given && openMS+step > max(s.w.nowMS, s.w.daemon.clock(), s.w.daemon.shownMS):
		s.w.fail("candles", "%s received the candle of %d before it closed", s.role.name, openMS)
	case s.openMS != 0 && openMS != s.openMS+step:
		s.w.fail("candles", "%s received the candle of %d after that of %d", s.role.name, openMS, s.openMS)
	}
	s.openMS = openMS
	s.inner.Candle(view)
}

// Wrapped returns the strategy.
func (s *spy) Wrapped() strategy.Strategy { return s.inner }

// Decide delegates to the strategy.
func (s *spy) Decide(view *strategy.View, plan *strategy.Plan) { s.inner.Decide(view, plan) }
