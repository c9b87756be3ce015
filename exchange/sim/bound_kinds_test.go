package sim

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"botd/exchange"
)

// draws returns the number of draws of a property, and the first one: BOTD_DRAWS=100000 tries as many fresh
// ones.
func draws(t *testing.T, usual uint64) (from, to uint64) {
	t.Helper()
	text := os.Getenv("BOTD_DRAWS")
	if text == "" {
		return 0, usual
	}
	count, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return 1_000_000, 1_000_000 + count
}

// columns are an ideal, a realistic and a pessimistic market.
type columns struct {
	delayMS [3]int64
	config  [3]TapeConfig
}

// drawColumns draws the latency, the slippage, the volume cap and when resting orders fill.
func drawColumns(random *rand.Rand) columns {
	delay := []int64{0, 1, 250, 1_000, 4_000, 20_000, 100_000}[random.IntN(7)]
	slippage, limit := exchange.Rate(random.IntN(300_000)), exchange.Rate(0)
	if random.IntN(2) == 0 {
		limit = exchange.RateOne / exchange.Rate(1+random.IntN(10))
	}
	through := random.IntN(2) == 0
	return columns{[3]int64{0, delay, 2 * delay}, [3]TapeConfig{
		{Order: Best, Costs: Costs{Bounded: true}},
		{Order: Worst, Costs: Costs{Bounded: true, Through: through, Slippage: slippage, VolumeCap: limit}},
		{Order: Worst, Costs: Costs{Bounded: true, Through: true, Slippage: 2 * slippage, VolumeCap: cmp.Or(limit/2, exchange.RateOne/10)}},
	}}
}

func solSymbol() *exchange.Symbol {
	all := DefaultSymbols()
	return all[slices.IndexFunc(all, func(s *exchange.Symbol) bool { return s.Key() == solFutures })]
}

// drawKind draws an order of any type and size, within eighty ticks of a price.
func drawKind(random *rand.Rand, price exchange.Price) exchange.NewOrder {
	s, order := solSymbol(), drawTrigger(random, price)
	if random.IntN(3) == 0 {
		order.Quantity = s.QuantityTick * exchange.Quantity(1+random.IntN(4_000))
	}
	order.Type = exchange.OrderType(1 + random.IntN(6))
	if !order.Type.Conditional() {
		order.StopPrice, order.WorkingType = 0, 0
	} else if random.IntN(2) == 0 {
		order.WorkingType = exchange.MarkPrice
	}
	if order.Type.Priced() {
		order.Price = s.FloorPrice(price + exchange.Price(random.IntN(160)-80)*s.PriceTick)
	}
	order.PostOnly = order.Type == exchange.Limit && random.IntN(4) == 0
	return order
}

// TestEveryKindOfLimitIsOrderedFillByFill gives a limit order of any type and size, placed at any moment, to the three
// markets. No worse column fills more of it, nor at a better price. A post-only order is the same order as long as no column
// refuses it.
func TestEveryKindOfLimitIsOrderedFillByFill(t *testing.T) {
	t.Parallel()
	wantKindsOrdered(t, true)
}

// TestEveryKindOfMarketOrderIsOrderedFillByFill does so with market orders, including those of stops and
// take-profits.
func TestEveryKindOfMarketOrderIsOrderedFillByFill(t *testing.T) {
	t.Parallel()
	wantKindsOrdered(t, false)
}

func wantKindsOrdered(t *testing.T, limits bool) {
	t.Helper()
	from, to := draws(t, 1_500)
	compared, refused, dearer := map[exchange.OrderType]int{}, 0, 0
	for seed := from; seed < to; seed++ {
		random := rand.New(rand.NewPCG(seed, 1901))
		c := drawColumns(random)
		d := drawMarket(random, symbolOf(t), c.delayMS[1])
		bar := random.IntN(d.candles.Len() - 8)
		atMS := d.candles.OpenMS[bar] + random.Int64N(int64(d.candles.Interval))
		order := drawKind(random, d.candles.Open[bar])
		if order.Type.Priced() != limits {
			continue
		}
		results := [3]outcome{}
		for i := range results {
			results[i] = d.trigger(t, c.delayMS[i], atMS, order, c.config[i])
		}
		for i := range 2 {
			better, than := results[i], results[i+1]
			if order.PostOnly && (better.quantity == 0 || than.quantity == 0) {
				refused++
				continue
			}
			what := fmt.Sprintf("seed %d, delay %d, %+v at %d, column %d:\n  %+v\n  %+v", seed, c.delayMS[1], order, atMS-startMS, i, better, than)
			if than.quantity > better.quantity {
				t.Fatalf("%s\nmore of it filled", what)
			}
			if than.quantity == 0 {
				continue
			}
			cost := than.price(than.quantity) - better.price(than.quantity)
			if order.Side == exchange.Sell {
				cost = -cost
			}
			if cost < -1e-9*better.price(1) {
				t.Fatalf("%s\nat a better price", what)
			}
			if cost > 0 {
				dearer++
			}
			compared[order.Type]++
		}
	}
	for kind := exchange.Limit; kind <= exchange.TakeProfitMarket; kind++ {
		if kind.Priced() == limits && compared[kind] < 250 {
			t.Errorf("%d pairs of %s: too few to prove anything", compared[kind], kind)
		}
	}
	if limits && refused < 20 || dearer < 350 { // of each half
		t.Errorf("%d pairs of post-only orders left out, %d pairs dearer: too few to prove anything", refused, dearer)
	}
	t.Logf("pairs in order %v, %d dearer; post-only and not filled in both %d", compared, dearer, refused)
}

// guarded is a position with the orders that should close it, all placed at one moment.
type guarded struct {
	drawn
	atMS     int64
	enters   exchange.Side
	quantity exchange.Quantity
	exits    []exchange.NewOrder
}

// drawGuarded draws a stop in most cases, and one or two targets: limits and take-profits, for the whole position or for parts
// of it.
func drawGuarded(t *testing.T, random *rand.Rand, delayMS int64) *guarded {
	s := solSymbol()
	g := &guarded{drawn: drawMarket(random, symbolOf(t), delayMS), enters: exchange.Sell, quantity: 4 * s.QuantityTick}
	bar := 1 + random.IntN(g.candles.Len()-8)
	g.atMS = g.candles.OpenMS[bar]
	if random.IntN(2) == 0 {
		g.atMS += random.Int64N(int64(g.candles.Interval))
	}
	if random.IntN(4) == 0 {
		g.quantity *= exchange.Quantity(1 + random.IntN(500))
	}
	side, sign := exchange.Buy, exchange.Price(-1)
	if random.IntN(2) == 0 {
		g.enters, side, sign = exchange.Buy, exchange.Sell, 1
	}
	away := func(sign exchange.Price) exchange.Price {
		return s.FloorPrice(g.candles.Open[bar] + sign*exchange.Price(1+random.IntN(100))*s.PriceTick)
	}
	exit := exchange.NewOrder{Market: exchange.Futures, Symbol: s.Name, Side: side, WorkingType: exchange.ContractPrice}
	if random.IntN(8) > 0 {
		stop := exit
		stop.Type, stop.StopPrice, stop.ClosePosition = exchange.StopMarket, away(-sign), true
		g.exits = append(g.exits, stop)
	}
	for left := g.quantity; left > 1 && len(g.exits) < 3; {
		target := exit
		target.ReduceOnly, target.Quantity = true, left
		if random.IntN(2) == 0 {
			target.Quantity = left / 2
		}
		left -= target.Quantity
		if random.IntN(2) == 0 {
			target.Type, target.Price, target.WorkingType = exchange.Limit, away(sign), 0
		} else {
			target.Type, target.StopPrice = exchange.TakeProfitMarket, away(sign)
		}
		g.exits = append(g.exits, target)
	}
	return g
}

// run returns the average price at which the position was closed, the rest of it at the last close, and whether a candle's
// volume left a part of an order unfilled.
func (g *guarded) run(t *testing.T, delayMS int64, config TapeConfig) (price float64, capped bool, fills []Fill) {
	t.Helper()
	desk := newDesk(t, Config{})
	desk.SetMarket(solFutures, Tape(g.candles, TapeConfig{Order: config.Order, Detail: g.detail, Costs: Costs{Bounded: true}}))
	desk.Advance(g.candles.OpenMS[0])
	order := exchange.NewOrder{Market: exchange.Futures, Symbol: solFutures.Name, Side: g.enters, Type: exchange.MarketOrder, Quantity: g.quantity}
	if _, err := desk.Do(desk.account, &exchange.Request{Operation: exchange.FuturesPlace, Order: order}); err != nil {
		t.Fatal(err)
	}
	entries := len(desk.Fills())
	seat, _ := desk.Instrument(solFutures)
	seat.orderBook.costs, seat.orderBook.tape.config.Costs, desk.config.OrderDelayMS = config.Costs, config.Costs, delayMS // of the exits
	desk.Advance(g.atMS)
	for _, exit := range g.exits {
		_, _ = desk.Do(desk.account, &exchange.Request{Operation: exchange.FuturesPlace, Order: exit}) // refused in each column or in none
	}
	last := g.candles.Len() - 1
	desk.Advance(g.candles.CloseMS(last))
	left, sum, fills := g.quantity, 0.0, desk.Fills()[entries:]
	for i, f := range fills {
		left -= f.Quantity
		sum += float64(f.Price) * float64(f.Quantity)
		capped = capped || slices.ContainsFunc(fills[:i], func(before Fill) bool { return before.OrderID == f.OrderID })
	}
	for o := range desk.orders.each {
		capped = capped || o.Filled > 0 && o.Status != exchange.StatusFilled
	}
	return (sum + float64(left)*float64(g.candles.Close[last])) / float64(g.quantity), capped, fills
}

// TestALongsStopWithTargetsIsOrdered gives the exits of a position to the three markets. Whichever is reached first, and with an
// unreached rest valued at the last close, no worse column closes it at a better price. The part of an exit that a candle's
// volume leaves unfilled stays longer, which may turn out better: such a trip is not compared.
func TestALongsStopWithTargetsIsOrdered(t *testing.T) {
	t.Parallel()
	wantGuardedOrdered(t, exchange.Buy)
}

// TestAShortsStopWithTargetsIsOrdered does so with shorts.
func TestAShortsStopWithTargetsIsOrdered(t *testing.T) {
	t.Parallel()
	wantGuardedOrdered(t, exchange.Sell)
}

func wantGuardedOrdered(t *testing.T, enters exchange.Side) {
	t.Helper()
	from, to := draws(t, 2_000)
	compared, capped, dearer := 0, 0, 0
	for seed := from; seed < to; seed++ {
		random := rand.New(rand.NewPCG(seed, 1902))
		c := drawColumns(random)
		g := drawGuarded(t, random, c.delayMS[1])
		if g.enters != enters {
			continue
		}
		before, beforeCapped, beforeFills := g.run(t, c.delayMS[0], c.config[0])
		for i := 1; i < 3; i++ {
			price, leaves, fills := g.run(t, c.delayMS[i], c.config[i])
			cost := before - price
			if g.enters == exchange.Sell {
				cost = -cost
			}
			switch {
			case leaves || beforeCapped:
				capped++
			case cost < -1e-9*before:
				t.Fatalf("seed %d, delay %d, column %d: it ends at %.0f instead of %.0f\n%+v at %d\n  %+v\n  %+v",
					seed, c.delayMS[1], i, price, before, g.exits, g.atMS-startMS, beforeFills, fills)
			case cost > 0:
				dearer++
				fallthrough
			default:
				compared++
			}
			before, beforeCapped, beforeFills = price, leaves, fills
		}
	}
	if compared < 1_000 || dearer < 600 || capped < 40 { // of each half
		t.Errorf("%d trips, %d of them dearer, %d left out: too few to prove anything", compared, dearer, capped)
	}
	t.Logf("%d trips in order, %d dearer; %d with a rest that the volume left", compared, dearer, capped)
}
