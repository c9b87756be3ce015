package library

import (
	"fmt"
	"math"
	"time"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/strategy"
)

type quoteParams struct {
	Quantity    decimal.Decimal `param:"quantity" min:"0" help:"base currency of each order"`
	Levels      int             `param:"levels" default:"1" min:"1" max:"50" help:"orders on each side"`
	LevelStep   decimal.Decimal `param:"level_step" default:"0.1%" min:"0.00001" max:"0.5" help:"distance between levels, a share of the price"`
	MaxPosition decimal.Decimal `param:"max_position" min:"0" help:"maximum position in base currency, on either side"`
	Target      decimal.Decimal `param:"target" default:"0" help:"position in base currency that the quotes lean toward; negative is short"`
	Skew        decimal.Decimal `param:"skew" default:"0.5" min:"0" max:"1" help:"how much orders away from the target shrink; 1: to none at max_position"`
	Refresh     time.Duration   `param:"refresh" default:"30s" min:"1s" max:"24h" help:"minimum time that orders stay"`
	Tolerance   decimal.Decimal `param:"tolerance" default:"0.05%" min:"0" max:"0.5" help:"a side's orders stay while their price would move less than this"`
	Delay       time.Duration   `param:"filled_delay" default:"10s" min:"0s" max:"24h" help:"how long to wait before new orders after a fill"`
	Hanging     decimal.Decimal `param:"hanging" default:"0" min:"0" max:"0.5" help:"an order opposite to a fill stays until it is this far from the price"`
	Floor       decimal.Decimal `param:"floor" default:"0" min:"0" help:"do not sell below this price; 0 for none"`
	Ceiling     decimal.Decimal `param:"ceiling" default:"0" min:"0" help:"do not buy above this price; 0 for none"`
}

// spreadModel computes the distance of a market maker's quotes from the mid price.
type spreadModel interface {
	warmup() int
	observe(view *strategy.View) // a closed candle
	// distances returns the distances of the best quotes as shares of the price. The position's
	// distance from the target is given as a share of max_position, from -1 to 1, and in orders.
	distances(share, orders float64) (bid, ask float64)
	narrowest() (spread float64, known bool)
}

// quoter holds quotes in the book: a turn of orders on each side, each turn under its own keys,
// until the price or a fill requires the side's next turn.
type quoter struct {
	symbol                *exchange.Symbol
	spot                  bool
	quantity, maxPosition exchange.Quantity
	target                exchange.Quantity
	levels                int
	step, skew            float64
	tolerance, hanging    float64
	refreshMS, delayMS    int64
	floor, ceiling        exchange.Price
	model                 spreadModel
	named                 [2]int64 // turns for which keys exist
	keys                  [2][]string
}

// turn holds the figures of the quotes in force.
type turn [len(turnNames)]int64

// The figures of a turn, in the order of their memory keys.
const (
	quoteTurn     = iota // number of the buy side's turn
	quoteSellTurn        // number of the sell side's turn
	quoteAt              // time of the last price comparison
	quoteCenter          // the mid price at that time
	quoteBid             // the best prices
	quoteAsk
	quoteHeld    // the position of the turn
	quoteFilled  // time at which a fill was first seen, 0 before
	quoteHanging // price at which the order opposite to the fills stays, 0 for none
)

var turnNames = [...]string{"turn", "sell_turn", "at", "center", "bid", "ask", "held", "filled", "hung"}

// bookAgeMS is the maximum age of an order book used for quotes.
const bookAgeMS = 10_000

func newQuoter(setting strategy.Setting, p quoteParams, model spreadModel) (strategy.Strategy, error) {
	s := setting.Symbol
	q := &quoter{symbol: s, spot: setting.Market == exchange.Spot, levels: p.Levels, step: p.LevelStep.InexactFloat64(), skew: p.Skew.InexactFloat64(),
		tolerance: p.Tolerance.InexactFloat64(), hanging: p.Hanging.InexactFloat64(), refreshMS: p.Refresh.Milliseconds(),
		delayMS: p.Delay.Milliseconds(), model: model}
	for _, given := range []struct {
		name  string
		value decimal.Decimal
		into  *exchange.Quantity
	}{{"quantity", p.Quantity, &q.quantity}, {"max_position", p.MaxPosition, &q.maxPosition}, {"target", p.Target, &q.target}} {
		n, err := s.Quantity(given.value)
		if err != nil || !s.OnQuantityTick(n) {
			return nil, wrongParameter(given.name, "%s is not a multiple of quantityTick %s (%s)", given.value, s.QuantityDecimal(s.QuantityTick), s.Name)
		}
		*given.into = n
	}
	switch {
	case q.quantity == 0:
		return nil, wrongParameter("quantity", "is not above zero")
	case q.maxPosition < q.quantity:
		return nil, &strategy.ValueError{Parameter: "max_position", Err: fmt.Errorf("%s is less than one order, %s", p.MaxPosition, p.Quantity)}
	case q.target.Abs() > q.maxPosition:
		return nil, &strategy.ValueError{Parameter: "target", Err: fmt.Errorf("%s exceeds max_position %s", p.Target, p.MaxPosition)}
	case q.spot && q.target < 0:
		return nil, &strategy.ValueError{Parameter: "target", Err: fmt.Errorf("%s would be a short position, which spot does not have", p.Target)}
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

func (q *quoter) Warmup() int                { return q.model.warmup() }
func (q *quoter) Candle(view *strategy.View) { q.model.observe(view) }

// RestsExits is true: the quoter offers its position with resting orders.
func (*quoter) RestsExits() bool { return true }

// Watches subscribes to the order book.
func (*quoter) Watches() strategy.Watching { return strategy.Watching{OrderBook: true} }

// Economics returns the spread without price moves and without a position.
func (q *quoter) Economics() (strategy.Economics, bool) {
	spread, known := q.model.narrowest()
	return strategy.Economics{What: "a buy and a sell at the narrowest quotes", Gross: exchange.Rate(math.Round(spread * float64(exchange.RateOne))),
		Makers: 2}, known
}

func (q *quoter) Decide(view *strategy.View, plan *strategy.Plan) {
	plan.OrdersSet, plan.ExitsSet = true, true
	var before turn
	for i, name := range turnNames {
		before[i], _ = view.Memory.Get(name)
	}
	now := q.next(view, before)
	for i, name := range turnNames {
		if before[i] != now[i] {
			plan.Remember(name, now[i])
		}
	}
	for side := range 2 {
		q.quote(view, plan, &now, exchange.Side(side+1))
	}
	plan.Reason = "both sides of the price"
}

// next returns the turn in force from now on.
func (q *quoter) next(view *strategy.View, t turn) turn {
	held := int64(view.Position.Quantity)
	switch {
	case t[quoteCenter] == 0:
		return q.priced(view, t, true)
	case t[quoteFilled] != 0:
		if view.NowMS-t[quoteFilled] >= q.delayMS {
			return q.priced(view, t, true)
		}
	case len(view.Fills) > 0 || held != t[quoteHeld]: // a position without a fill of its own was stopped, or adopted
		if t[quoteFilled] = view.NowMS; q.delayMS == 0 && held != t[quoteHeld] {
			return q.priced(view, t, true)
		}
	case view.NowMS-t[quoteAt] >= q.refreshMS:
		return q.priced(view, t, false)
	}
	return t
}

// middle returns the mid price of the book, or the last price if no book is known.
func (q *quoter) middle(view *strategy.View) exchange.Price {
	if view.OrderBook.Known(view.NowMS, bookAgeMS) {
		return view.OrderBook.Middle()
	}
	return view.Last
}

// priced compares the prices of a turn with the current ones. After a fill both sides begin a new
// turn; otherwise only the side whose price deviates by more than the tolerance.
func (q *quoter) priced(view *strategy.View, t turn, both bool) turn {
	held, center := view.Position.Quantity, q.middle(view)
	t[quoteHanging] = q.hangingPrice(t, held, center)
	away := float64(held - q.target)
	bidAway, askAway := q.model.distances(max(-1, min(1, away/float64(q.maxPosition))), away/float64(q.quantity))
	bid, ask := max(0, float64(center)*(1-bidAway)), float64(float64(center)*(1+askAway))
	if price := float64(t[quoteHanging]); price > 0 {
		if held > 0 {
			ask = max(ask, price)
		} else {
			bid = min(bid, price)
		}
	}
	bid, ask = q.passive(view, center, bid, ask)
	far := func(price float64, old int64) bool { return math.Abs(price-float64(old)) > q.tolerance*float64(center) }
	if both || far(bid, t[quoteBid]) {
		t[quoteBid], t[quoteTurn] = int64(bid), t[quoteTurn]+1
	}
	if both || far(ask, t[quoteAsk]) {
		t[quoteAsk], t[quoteSellTurn] = int64(ask), t[quoteSellTurn]+1
	}
	t[quoteAt], t[quoteCenter], t[quoteHeld], t[quoteFilled] = view.NowMS, int64(center), int64(held), 0
	return t
}

// hangingPrice returns the price at which the order opposite to the fills stays: the price quoted with
// them, or the mean price if several turns filled. It is 0 if the price has moved too far from it
// or there is no position.
func (q *quoter) hangingPrice(t turn, held exchange.Quantity, center exchange.Price) int64 {
	before := exchange.Quantity(t[quoteHeld])
	grown := held.Abs() - before.Abs()
	price, nearest := t[quoteHanging], t[quoteAsk]
	if held < 0 {
		nearest = t[quoteBid]
	}
	switch {
	case q.hanging == 0 || held == 0 || nearest == 0:
		return 0
	case before == 0 || (held > 0) != (before > 0):
		price = nearest
	case grown > 0 && price > 0:
		share := float64(grown) / float64(held.Abs())
		price = int64(float64(float64(price)*(1-share)) + float64(float64(nearest)*share))
	}
	if math.Abs(float64(price)-float64(center)) > q.hanging*float64(center) {
		return 0
	}
	return price
}

// name builds the keys of a side's turn.
func (q *quoter) name(side exchange.Side, turn int64) []string {
	i, text := 0, "buy"
	if side == exchange.Sell {
		i, text = 1, "sell"
	}
	if q.named[i] != turn || len(q.keys[i]) == 0 {
		q.named[i], q.keys[i] = turn, q.keys[i][:0]
		for level := range q.levels {
			q.keys[i] = append(q.keys[i], fmt.Sprintf("%d%s%d", turn, text, level))
		}
	}
	return q.keys[i]
}

// quote desires the orders of one side. Orders that reduce the position are exits bounded by it;
// orders that add to it are bounded by maxPosition.
func (q *quoter) quote(view *strategy.View, plan *strategy.Plan, t *turn, side exchange.Side) {
	held, best, number := exchange.Quantity(t[quoteHeld]), t[quoteBid], t[quoteTurn]
	if side == exchange.Sell {
		best, number = t[quoteAsk], t[quoteSellTurn]
	}
	if side == exchange.Buy && q.ceiling > 0 && view.Last > q.ceiling || side == exchange.Sell && view.Last < q.floor {
		return
	}
	sign := exchange.Quantity(side.Sign())
	reduces, room := held*sign < 0, q.maxPosition-held.Abs()
	if reduces {
		room = held.Abs()
	} else if q.spot && side == exchange.Sell {
		return // nothing to sell
	}
	lean := float64((held-q.target)*sign) / float64(q.maxPosition)
	each := view.Symbol.FloorQuantity(exchange.Quantity(float64(q.quantity) * (1 - float64(q.skew*max(0, min(1, lean))))))
	hangs := reduces && t[quoteHanging] > 0
	if hangs {
		each = room
	}
	keys := q.name(side, number)
	for level := range q.levels {
		price := view.Symbol.FloorPrice(exchange.Price(float64(best) * (1 - float64(q.step*float64(level)))))
		if side == exchange.Sell {
			price = view.Symbol.CeilPrice(exchange.Price(float64(best) * (1 + float64(q.step*float64(level)))))
		}
		n := view.Symbol.FloorQuantity(min(each, room))
		if price <= 0 || n <= 0 || view.Symbol.BelowMinimum(price, n) {
			break
		}
		room -= n
		order := strategy.DesiredOrder{Key: keys[level], Side: side, Price: price, Quantity: n, PostOnly: !q.spot}
		if reduces {
			plan.Exits = append(plan.Exits, order)
		} else {
			plan.Orders = append(plan.Orders, order)
		}
	}
}

// passive keeps a buy below the best ask and a sell above the best bid, or, without a known book,
// both on their side of the middle. A post-only order that would match is rejected.
func (q *quoter) passive(view *strategy.View, center exchange.Price, bid, ask float64) (float64, float64) {
	high, low := center, center
	if view.OrderBook.Known(view.NowMS, bookAgeMS) {
		high, low = view.OrderBook.Asks[0].Price-view.Symbol.PriceTick, view.OrderBook.Bids[0].Price+view.Symbol.PriceTick
	}
	return min(bid, float64(high)), max(ask, float64(low))
}
