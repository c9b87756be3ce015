package sim

import (
	"fmt"
	"math"

	"botd/exchange"
)

// maxPrice is the highest price of a symbol, in its units.
const maxPrice exchange.Price = 1 << 60

// Directions from which a price reaches a stop price.
const (
	falling = iota // reached by a price at or below it
	rising         // reached by a price at or above it
)

// orderBook is one symbol: its price, its market's quotes, and the accounts' orders.
type orderBook struct {
	exchange    *Exchange
	symbol      *exchange.Symbol
	index       int
	base, quote int // indexes of the assets

	last, mark  exchange.Price
	bids, asks  ladder
	conditional [2][2]ladder // conditional orders by working type (last, mark) and direction
	updateID    int64        // lastUpdateId of depth

	market            Market
	tape              *tape          // the same market, if it plays recorded candles
	traded            *tradeTape     // the same market, if it plays recorded trades
	fed               *fed           // the same market, if it is fed: its quotes are external and finite
	liquiditySeed     uint64         // seeds the levels of a random market; 0 if every level has maxNotional
	consumed          [2]consumed    // consumed quantity: bids at falling, asks at rising
	spread            exchange.Price // distance of the quotes from the last price; 0: unlimited quantity at the price itself
	moveMS            int64          // time of the market's next move
	skipped           bool           // SkipTo has passed it
	restored          bool           // the price comes from a snapshot
	positions         []*position    // open positions of all accounts
	funding           []FundingPoint
	fundingMS         int64 // time of the next payment; never for spot
	positionFundingMS int64 // time of the next payment that affects a position

	// Nothing happens while the price stays between floor and ceiling.
	stale                           bool           // they must be recomputed
	liquidationKnown                bool           // liquidation prices are included
	markVersion                     uint64         // with coupled positions: the mark version for which they were computed
	orderLow                        exchange.Price // bounds from orders
	orderHigh                       exchange.Price
	safeLow, safeHigh               exchange.Price // with coupled positions: the corridor without liquidations
	floor, ceiling                  exchange.Price
	liquidationLow, liquidationHigh exchange.Price // mark prices that liquidate an account

	costs      Costs             // costs of taking, on recorded candles
	volume     float64           // of the recorded candle being played
	allowance  exchange.Quantity // quantity that the volume still allows
	written    orderBookNumbers  // as last written by Changes
	quoted     exchange.Price    // price before slippage of the current fill
	trails     bool              // a stop follows the price of a position
	trailing   exchange.Price    // the stop's current target price, 0 while it does not follow
	trailsFrom exchange.Price    // price from which it follows

	past    *past // history of a random market
	trades  []exchange.Trade
	tradeID int64
	candles builder
}

func newOrderBook(x *Exchange, symbol *exchange.Symbol) *orderBook {
	b := &orderBook{exchange: x, symbol: symbol, moveMS: never, positionFundingMS: never, fundingMS: never, stale: true}
	b.bids.sign, b.asks.sign = 1, -1
	for i := range b.conditional {
		b.conditional[i][falling].sign, b.conditional[i][rising].sign = 1, -1
	}
	if symbol.Market == exchange.Futures && symbol.FundingIntervalHours > 0 {
		b.setFundingTime(x.nowMS)
	}
	return b
}

func (b *orderBook) setMarket(market Market) {
	b.market, b.fed, b.past, b.costs = market, nil, nil, Costs{}
	b.tape, _ = market.(*tape)
	b.traded, _ = market.(*tradeTape)
	b.candles.off = false
	b.moveMS = market.begin(b)
	b.exchange.markVersion++
	b.stale, b.exchange.dueKnown = true, false
}

// ask returns the lowest price at which the market sells: a number of ticks above the last price.
func (b *orderBook) ask() (exchange.Price, bool) {
	if b.fed != nil {
		return b.fed.best(exchange.Buy)
	}
	if b.spread == 0 {
		return b.last, b.last > 0
	}
	return b.symbol.FloorPrice(b.last) + b.spread + exchange.Price(b.consumed[rising].levels)*b.symbol.PriceTick, b.last > 0
}

// bid returns the highest price at which the market buys. Close to zero there is none.
func (b *orderBook) bid() (exchange.Price, bool) {
	if b.fed != nil {
		return b.fed.best(exchange.Sell)
	}
	if b.spread == 0 {
		return b.last, b.last > 0
	}
	price := b.symbol.FloorPrice(b.last-1) + b.symbol.PriceTick - b.spread - exchange.Price(b.consumed[falling].levels)*b.symbol.PriceTick
	return price, b.last > 0 && price > 0
}

// quantityFor is Symbol.QuantityFor with a maximum, so that even a tiny price does not overflow.
func quantityFor(s *exchange.Symbol, amount exchange.Amount, price exchange.Price) exchange.Quantity {
	const maximum = 1 << 60
	if amount.Sign() <= 0 || price <= 0 {
		return 0
	}
	if amount.Float()/s.PriceFloat(price)*math.Pow10(s.QuantityScale) >= maximum {
		return s.FloorQuantity(maximum)
	}
	return s.QuantityFor(amount, price)
}

// checkPrice returns an error if a price is out of bounds.
func (b *orderBook) checkPrice(name string, price exchange.Price) error {
	if price < b.symbol.PriceTick || price > maxPrice {
		return fmt.Errorf("%s %s of %s is outside %s..%s", name, b.symbol.PriceDecimal(price), b.symbol.Key(),
			b.symbol.PriceDecimal(b.symbol.PriceTick), b.symbol.PriceDecimal(maxPrice))
	}
	for _, p := range b.positions {
		if value := float64(b.symbol.PriceFloat(price) * b.symbol.QuantityFloat(p.Remaining)); value > maxValue {
			return fmt.Errorf("%s %s of %s makes a position worth more than %.0f USDT", name, b.symbol.PriceDecimal(price), b.symbol.Key(), maxValue)
		}
	}
	return nil
}

// jump sets the price without visiting the prices in between. At a gap in recorded candles, the
// passed orders fill at the new price.
func (b *orderBook) jump(price, mark exchange.Price, gap bool) {
	b.setPrice(price, mark)
	b.react(gap)
}

// slide moves the price through every price in between and stops whenever something happens.
func (b *orderBook) slide(target exchange.Price) {
	for b.last != target || b.mark != target {
		b.fresh()
		at := target
		if b.floor > target && b.floor < b.last {
			at = b.floor
		} else if b.ceiling < target && b.ceiling > b.last {
			at = b.ceiling
		}
		b.setPrice(at, at)
		b.react(false)
	}
}

func (b *orderBook) setPrice(price, mark exchange.Price) {
	b.last, b.mark = price, mark
	b.updateID++
	b.consumed = [2]consumed{}
	b.candles.tick(b.exchange.nowMS, price)
	b.exchange.markVersion++
}

// react applies the current price: liquidations, then fills of resting orders, then triggers.
func (b *orderBook) react(gap bool) {
	b.fresh()
	if b.last > b.floor && b.last < b.ceiling && b.mark > b.floor && b.mark < b.ceiling {
		return
	}
	if b.mark <= b.liquidationLow || b.mark >= b.liquidationHigh {
		for _, a := range b.exchange.accounts {
			if a.holds(b) {
				b.exchange.clearing.settleAccount(a)
			}
		}
	}
	b.fillCrossed(gap)
	for o := b.reachedOrder(); o != nil; o = b.reachedOrder() {
		b.remove(o)
		if o.worst == 0 {
			o.worst = b.last
		}
		if !o.paysStopPrice {
			o.worst = worse(o.Side, o.worst, b.last)
		}
		o.sinceMS = b.exchange.nowMS
		b.activate(o, b.last)
	}
	if b.tape != nil {
		b.tape.known = b.last // the account has seen the fill
	}
	b.exchange.clearing.settleAccounts()
}

func (a *account) holds(b *orderBook) bool {
	return b.symbol.Market == exchange.Futures && a.holdings[b.index].position != nil
}

// fillCrossed fills the resting orders that the quotes have reached.
func (b *orderBook) fillCrossed(gap bool) {
	for o := b.bids.best(); o != nil; o = b.bids.best() {
		if ask, ok := b.ask(); !ok || o.Price < ask+b.through() {
			break
		}
		if !b.executeResting(o, gap) {
			break
		}
	}
	for o := b.asks.best(); o != nil; o = b.asks.best() {
		if bid, ok := b.bid(); !ok || o.Price > bid-b.through() {
			break
		}
		if !b.executeResting(o, gap) {
			break
		}
	}
}

// through returns the distance beyond a resting order's price at which the order fills.
func (b *orderBook) through() exchange.Price {
	if b.costs.Through {
		return b.symbol.PriceTick
	}
	return 0
}

// executeResting fills a resting order, completely or as far as the candle's volume allows. The order is the
// maker, a quote the taker. At a gap with quotes at the price itself, an order fills at the gap's
// price if a touch fills; otherwise its own price applies, as for the rest of an order that was
// passed earlier, because in a market without time gaps a price never jumps over a resting order.
// It reports whether more may fill.
func (b *orderBook) executeResting(o *order, gap bool) bool {
	price := o.Price
	if gap && b.spread == 0 && o.Filled == 0 && !b.costs.Through && !o.delayed && !o.triggered {
		price = b.last
	}
	fillable := exchange.Quantity(0)
	if b.executable(o) {
		fillable = b.fillable(o, price)
	}
	if fillable <= 0 {
		b.exchange.finish(o, canceled)
		return true
	}
	quantity := b.capped(fillable)
	if quantity <= 0 {
		return false
	}
	b.spend(quantity)
	b.publish(price, quantity, o.Side == exchange.Buy)
	b.exchange.apply(o, price, quantity, true)
	if !o.Status.Final() && quantity == fillable {
		b.exchange.finish(o, canceled)
	}
	return true
}

// reachedOrder returns a conditional order whose stop price has been reached, or nil.
func (b *orderBook) reachedOrder() *order {
	for i, price := range [2]exchange.Price{b.last, b.mark} {
		if stop, ok := b.conditional[i][falling].price(); ok && price <= stop {
			return b.conditional[i][falling].best()
		}
		if stop, ok := b.conditional[i][rising].price(); ok && price >= stop {
			return b.conditional[i][rising].best()
		}
	}
	return nil
}

// fresh computes the prices between which nothing happens, unless they are known.
func (b *orderBook) fresh() {
	if !b.stale && b.liquidationKnown && (!b.exchange.coupled || b.markVersion == b.exchange.markVersion) {
		return
	}
	b.boundOrders()
	b.liquidationKnown, b.markVersion = true, b.exchange.markVersion
	b.liquidationLow, b.liquidationHigh = 0, math.MaxInt64
	for _, p := range b.positions {
		price, ok := p.liquidationBound()
		switch {
		case ok && p.Side == exchange.Long:
			b.liquidationLow = max(b.liquidationLow, price)
		case ok:
			b.liquidationHigh = min(b.liquidationHigh, price)
		}
	}
	b.floor, b.ceiling = max(b.orderLow, b.liquidationLow), min(b.orderHigh, b.liquidationHigh)
}

// boundOrders computes the bounds from resting and conditional orders. It invalidates the
// liquidation prices.
func (b *orderBook) boundOrders() {
	b.stale, b.liquidationKnown = false, false
	b.orderLow, b.orderHigh = 0, math.MaxInt64
	if price, ok := b.bids.price(); ok {
		if b.spread > 0 {
			price -= b.spread - b.symbol.PriceTick + 1
		}
		b.orderLow = max(b.orderLow, price-b.through())
	}
	if price, ok := b.asks.price(); ok {
		if b.spread > 0 {
			price += b.spread - b.symbol.PriceTick + 1
		}
		b.orderHigh = min(b.orderHigh, price+b.through())
	}
	for i := range b.conditional {
		if price, ok := b.conditional[i][falling].price(); ok {
			b.orderLow = max(b.orderLow, price)
		}
		if price, ok := b.conditional[i][rising].price(); ok {
			b.orderHigh = min(b.orderHigh, price)
		}
	}
}

// notePositions updates the symbol after positions opened or closed.
func (b *orderBook) notePositions() {
	b.stale = true
	b.positionFundingMS = never
	if len(b.positions) > 0 {
		b.positionFundingMS = b.fundingMS
	}
	b.exchange.coupled, b.exchange.corridor = false, false
	for _, a := range b.exchange.accounts {
		b.exchange.coupled = b.exchange.coupled || len(a.positions) > 1
	}
}
