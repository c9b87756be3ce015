package library

import (
	"fmt"
	"math"
	"time"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/strategy"
	"botd/strategy/indicator"
)

type quoteParams struct {
	Quantity    decimal.Decimal `param:"quantity" min:"0" help:"base currency of each order"`
	Levels      int             `param:"levels" default:"1" min:"1" max:"50" help:"orders on each side"`
	LevelStep   decimal.Decimal `param:"level_step" default:"0.1%" min:"0.00001" max:"0.5" help:"distance between levels, as a share of the price"`
	MaxPosition decimal.Decimal `param:"max_position" min:"0" help:"maximum position in base currency, on either side"`
	Skew        decimal.Decimal `param:"skew" default:"0.5" min:"0" max:"1" help:"how much orders that add to the position shrink: 1 to zero at max_position"`
	Refresh     time.Duration   `param:"refresh" default:"30s" min:"1s" max:"24h" help:"minimum time that orders stay"`
	Tolerance   decimal.Decimal `param:"tolerance" default:"0.05%" min:"0" max:"0.5" help:"they stay longer while the price has moved less than this"`
	Delay       time.Duration   `param:"filled_delay" default:"10s" min:"0s" max:"24h" help:"how long to wait with new orders after a fill"`
	Floor       decimal.Decimal `param:"floor" default:"0" min:"0" help:"do not sell below this price; 0 for none"`
	Ceiling     decimal.Decimal `param:"ceiling" default:"0" min:"0" help:"do not buy above this price; 0 for none"`
}

type marketMakingParams struct {
	Spread decimal.Decimal `param:"spread" default:"0.2%" min:"0.00001" max:"0.5" help:"distance of the best bid and ask, as a share of the price"`
	quoteParams
}

// marketMaking keeps a buy below and a sell above the price, each at half the spread, and moves
// them when the price has moved: impatient traders pay it the spread. A position makes the orders
// that add to it smaller (skew). Orders are post-only on futures; spot has no such orders, and one
// that the price has reached by the time it arrives is a taker there. It acts on each tick: give it a schedule of
// some seconds.
//
// On futures two opening orders of opposite sides are never in the book together (either may fill
// first and turn the other into something else): while flat, the sides take turns; a position is
// quoted on both sides. On spot there is nothing to sell before something was bought.
//
// It loses when the price trends: the orders on the losing side are filled, those that would earn
// the spread back are not (adverse selection). The fees of both fills must be less than the spread.
func marketMaking() strategy.Definition {
	return strategy.Define("market_making", "keeps orders on both sides of the price and earns the spread",
		func(setting strategy.Setting, p marketMakingParams) (strategy.Strategy, error) {
			half := p.Spread.InexactFloat64() / 2
			return newQuoter(setting, p.quoteParams, 1, nil, func(float64) (float64, float64) { return half, half })
		})
}

type avellanedaParams struct {
	Gamma   decimal.Decimal `param:"gamma" default:"100" min:"0.000001" max:"1000000" help:"risk aversion: larger leans more to reduce the position"`
	Kappa   decimal.Decimal `param:"kappa" default:"2000" min:"0.001" max:"10000000" help:"decay of fills away from the price: larger means tighter quotes"`
	Horizon int             `param:"horizon" default:"1" min:"1" max:"1000" help:"expected holding time of a position in candles"`
	Period  int             `param:"period" default:"30" min:"2" max:"1000" help:"candles of the volatility"`
	quoteParams
}

// avellaneda quotes around a reservation price that leans away from the position, at a spread that
// grows with the volatility (M. Avellaneda, S. Stoikov, High-frequency trading in a limit order
// book, Quantitative Finance 8, 2008), with all prices as shares of the price and the position as a
// share of max_position:
//
//	reservation = -position gamma sigma^2 horizon
//	spread      = gamma sigma^2 horizon + 2/gamma ln(1 + gamma/kappa)
//
// sigma is the standard deviation of the closes' changes. It loses where market making does.
func avellaneda() strategy.Definition {
	return strategy.Define("avellaneda", "market making around a price that leans away from the position, wider in volatile markets",
		func(setting strategy.Setting, p avellanedaParams) (strategy.Strategy, error) {
			gamma, kappa := p.Gamma.InexactFloat64(), p.Kappa.InexactFloat64()
			deviation := indicator.NewStdDev(p.Period)
			var before, sigma float64
			take := func(close float64) {
				if before > 0 {
					if s, ok := deviation.Next(close/before - 1); ok {
						sigma = s
					}
				}
				before = close
			}
			return newQuoter(setting, p.quoteParams, p.Period+1, take, func(held float64) (bid, ask float64) {
				wild := gamma * sigma * sigma * float64(p.Horizon)
				half := (wild + 2/gamma*math.Log1p(gamma/kappa)) / 2
				lean := -held * wild
				return half - lean, half + lean
			})
		})
}

// quoter keeps quotes in the book: one turn of orders at a time, under keys of its own, until the
// price or a fill requires the next turn.
type quoter struct {
	symbol                *exchange.Symbol
	spot                  bool
	quantity, maxPosition exchange.Quantity
	levels, warmup        int
	step, skew            float64
	tolerance             float64
	refreshMS             int64
	delayMS               int64
	floor, ceiling        exchange.Price
	named                 int64 // the turn that keys is for
	keys                  [3][]string
	observe               func(close float64)                   // processes a closed candle, where the quotes need it
	distances             func(held float64) (bid, ask float64) // distances of the best quotes as shares of the price, for a position from -1 to 1
}

// turn holds the figures of a turn of orders, which do not change until the next one.
type turn [len(turnNames)]int64

// Figures of a turn, and their memory keys.
const (
	quoteTurn   = iota // its number
	quoteAt            // when it was computed
	quoteCenter        // the price then
	quoteBid           // its best prices
	quoteAsk
	quoteHeld   // the position then
	quoteFilled // when its first fill was seen, 0 before
)

var turnNames = [...]string{"turn", "at", "center", "bid", "ask", "held", "filled"}

func newQuoter(setting strategy.Setting, p quoteParams, warmup int, take func(float64), away func(float64) (float64, float64)) (strategy.Strategy, error) {
	s := setting.Symbol
	q := &quoter{symbol: s, spot: setting.Market == exchange.Spot, levels: p.Levels, warmup: warmup, step: p.LevelStep.InexactFloat64(),
		skew: p.Skew.InexactFloat64(), tolerance: p.Tolerance.InexactFloat64(), refreshMS: p.Refresh.Milliseconds(), delayMS: p.Delay.Milliseconds(),
		observe: take, distances: away}
	for _, given := range []struct {
		name  string
		value decimal.Decimal
		into  *exchange.Quantity
	}{{"quantity", p.Quantity, &q.quantity}, {"max_position", p.MaxPosition, &q.maxPosition}} {
		n, err := s.Quantity(given.value)
		if err != nil || n <= 0 || !s.OnQuantityTick(n) {
			return nil, &strategy.ValueError{Parameter: given.name, Err: fmt.Errorf("%s is not a multiple above zero of quantityTick %s (%s)",
				given.value, s.QuantityDecimal(s.QuantityTick), s.Name)}
		}
		*given.into = n
	}
	if q.maxPosition < q.quantity {
		return nil, &strategy.ValueError{Parameter: "max_position", Err: fmt.Errorf("%s is less than one order, %s", p.MaxPosition, p.Quantity)}
	}
	for _, given := range []struct {
		name  string
		value decimal.Decimal
		into  *exchange.Price
	}{{"floor", p.Floor, &q.floor}, {"ceiling", p.Ceiling, &q.ceiling}} {
		price, err := s.Price(given.value)
		if err != nil {
			return nil, &strategy.ValueError{Parameter: given.name, Err: err}
		}
		*given.into = price
	}
	if q.ceiling > 0 && q.ceiling <= q.floor {
		return nil, &strategy.ValueError{Parameter: "ceiling", Err: fmt.Errorf("%s is not above floor %s", p.Ceiling, p.Floor)}
	}
	return q, nil
}

func (q *quoter) Warmup() int { return q.warmup }

// RestsExits is true: what is held is offered.
func (*quoter) RestsExits() bool { return true }

// Economics is the spread while nothing moves and nothing is held.
func (q *quoter) Economics() (strategy.Economics, bool) {
	bid, ask := q.distances(0)
	return strategy.Economics{What: "a buy and a sell at the narrowest quotes", Gross: exchange.Rate(math.Round((bid + ask) * float64(exchange.RateOne))),
		Makers: 2}, true
}

func (q *quoter) Candle(view *strategy.View) {
	if q.observe != nil {
		q.observe(view.Symbol.PriceFloat(view.Candle.Close))
	}
}

func (q *quoter) Decide(view *strategy.View, plan *strategy.Plan) {
	plan.OrdersSet, plan.ExitsSet = true, true
	var before turn
	for i, name := range turnNames {
		before[i], _ = view.Memory.Get(name)
	}
	now := before
	if q.expired(view, &before) {
		now = q.next(view, &before)
	} else if before[quoteFilled] == 0 && len(view.Fills) > 0 {
		now[quoteFilled] = view.NowMS
	}
	for i, name := range turnNames {
		if before[i] != now[i] {
			plan.Remember(name, now[i])
		}
	}
	q.quote(view, plan, &now)
	plan.Reason = "both sides of the price"
}

// expired reports whether the next turn is due.
func (q *quoter) expired(view *strategy.View, turn *turn) bool {
	center := turn[quoteCenter]
	if center == 0 {
		return true
	}
	if filled := turn[quoteFilled]; filled != 0 {
		return view.NowMS-filled >= q.delayMS
	}
	moved := math.Abs(float64(int64(view.Last)-center)) > q.tolerance*float64(center)
	return moved && view.NowMS-turn[quoteAt] >= q.refreshMS
}

// next computes a turn around the present price.
func (q *quoter) next(view *strategy.View, before *turn) turn {
	held := view.Position.Quantity
	share := max(-1, min(1, float64(held)/float64(q.maxPosition)))
	bid, ask := q.distances(share)
	last := float64(view.Last)
	return turn{
		quoteTurn: before[quoteTurn] + 1, quoteAt: view.NowMS, quoteCenter: int64(view.Last), quoteHeld: int64(held),
		quoteBid: int64(max(0, last*(1-bid))), quoteAsk: int64(last * (1 + ask)),
	}
}

// name sets the keys of a turn.
func (q *quoter) name(turn int64) {
	if q.named == turn {
		return
	}
	q.named = turn
	for side, text := range map[exchange.Side]string{exchange.Buy: "buy", exchange.Sell: "sell"} {
		q.keys[side] = q.keys[side][:0]
		for level := range q.levels {
			q.keys[side] = append(q.keys[side], fmt.Sprintf("%d%s%d", turn, text, level))
		}
	}
}

// quote desires the orders of a turn. Those that reduce the position are exits, bounded by it;
// those that add to it are bounded by maxPosition.
func (q *quoter) quote(view *strategy.View, plan *strategy.Plan, turn *turn) {
	held := exchange.Quantity(turn[quoteHeld])
	share := max(-1, min(1, float64(held)/float64(q.maxPosition)))
	q.name(turn[quoteTurn])
	for _, side := range []exchange.Side{exchange.Buy, exchange.Sell} {
		sign, best, lean := 1.0, turn[quoteBid], share
		if side == exchange.Sell {
			sign, best, lean = -1, turn[quoteAsk], -share
		}
		switch {
		case side == exchange.Buy && q.ceiling > 0 && view.Last > q.ceiling, side == exchange.Sell && q.floor > 0 && view.Last < q.floor:
			continue
		}
		if held == 0 && !q.spot && (turn[quoteTurn]%2 == 0) == (side == exchange.Buy) {
			continue // while flat each side opens: they take turns
		}
		reduces := float64(held)*sign < 0
		room := q.maxPosition - max(held, -held)
		if reduces {
			room = max(held, -held)
		} else if q.spot && side == exchange.Sell {
			continue // nothing to sell
		}
		each := q.symbol.FloorQuantity(exchange.Quantity(float64(q.quantity) * (1 - q.skew*max(0, lean))))
		for level := range q.levels {
			price := q.symbol.FloorPrice(exchange.Price(float64(best) * (1 - q.step*float64(level))))
			if side == exchange.Sell {
				price = q.symbol.CeilPrice(exchange.Price(float64(best) * (1 + q.step*float64(level))))
			}
			n := q.symbol.FloorQuantity(min(each, room))
			if price <= 0 || n <= 0 || q.symbol.Notional(price, n).Less(q.symbol.MinNotional) {
				break
			}
			room -= n
			order := strategy.DesiredOrder{Key: q.keys[side][level], Side: side, Price: price, Quantity: n, PostOnly: !q.spot}
			if reduces {
				plan.Exits = append(plan.Exits, order)
			} else {
				plan.Orders = append(plan.Orders, order)
			}
		}
	}
}
