package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"botd/exchange"
)

// drawn is a drawn market with the orders of one account, the same for every column.
type drawn struct {
	candles *exchange.Candles
	detail  *exchange.Candles
	orders  []drawnOrder
}

type drawnOrder struct {
	atMS  int64
	order exchange.NewOrder
}

// drawMarket draws candles with gaps and holes, half of the time with finer ones, and spot orders: market
// orders at any time, limits within the first quarter of a bar, so that every path passes both extremes after
// them.
func drawMarket(random *rand.Rand, s *exchange.Symbol, delayMS int64) drawn {
	const bars = 40
	tick := s.PriceTick
	step := func(most int) exchange.Price { return exchange.Price(random.IntN(2*most+1)-most) * tick }
	fine := &exchange.Candles{Interval: exchange.Minute1}
	price, openMS := 10_000*tick, int64(startMS)
	for i := range bars * 5 {
		open := price
		if random.IntN(8) == 0 {
			open += step(40)
		}
		if i%5 == 0 && random.IntN(12) == 0 {
			openMS += 5 * int64(exchange.Minute1) * (1 + random.Int64N(4))
		}
		price = max(5_000*tick, open+step(60))
		high, low := max(open, price)+max(0, step(30)), min(open, price)-max(0, step(30))
		fine.Append(exchange.Candle{OpenMS: openMS, Open: open, High: high, Low: low, Close: price, Volume: 5 + 20*random.Float64()})
		openMS += int64(exchange.Minute1)
	}
	d := drawn{candles: fine}
	bar := int64(exchange.Minute1)
	if random.IntN(2) == 0 {
		coarse := &exchange.Candles{Interval: exchange.Minute5}
		for i := range fine.Len() {
			coarse.Merge(fine.At(i))
		}
		if d.candles = coarse; random.IntN(2) == 0 {
			d.detail = fine
		} else {
			bar = int64(exchange.Minute5)
		}
	}
	for range 30 {
		at := fine.OpenMS[random.IntN(fine.Len())]
		order := exchange.NewOrder{Symbol: s.Name, Side: exchange.Buy, Type: exchange.MarketOrder,
			Quantity: s.QuantityTick * exchange.Quantity(1+random.IntN(4_000))}
		if random.IntN(2) == 0 {
			order.Side = exchange.Sell
		}
		offset := random.Int64N(bar)
		if random.IntN(2) == 0 {
			order.Type, order.Price = exchange.Limit, s.FloorPrice(fine.Open[random.IntN(fine.Len())]+step(50))
			at = floorTo(at, bar)
			offset = random.Int64N(max(1, bar/4-3*delayMS))
		} else if order.QuoteAmount = s.Notional(10_000*tick, order.Quantity); true {
			order.Quantity = 0
		}
		d.orders = append(d.orders, drawnOrder{at + offset, order})
	}
	return d
}

// outcome is the result of an order.
type outcome struct {
	quantity exchange.Quantity
	firstMS  int64
	parts    []Fill
}

// price returns the average price of the first units, including slippage.
func (o *outcome) price(units exchange.Quantity) float64 {
	sum, left := 0.0, units
	for _, f := range o.parts {
		part := min(left, f.Quantity)
		sum, left = sum+float64(f.Price)*float64(part), left-part
	}
	return sum / float64(units-left)
}

func (d *drawn) run(t *testing.T, delayMS int64, config TapeConfig) []outcome {
	t.Helper()
	desk := newDesk(t, Config{OrderDelayMS: delayMS}).on(exchange.Spot, "SOL-USDT")
	account := desk.accounts[0]
	for i := range account.balances {
		account.balances[i].free = exchange.AmountOf(1_000_000_000)
	}
	config.Detail = d.detail
	desk.SetMarket(desk.key(), Tape(d.candles, config))
	ids := make([]int64, len(d.orders))
	due := make([]int, 0, len(d.orders))
	for i := range d.orders {
		due = append(due, i)
	}
	for len(due) > 0 {
		first := 0
		for i := range due {
			if d.orders[due[i]].atMS < d.orders[due[first]].atMS {
				first = i
			}
		}
		n := due[first]
		due = append(due[:first], due[first+1:]...)
		desk.Advance(d.orders[n].atMS)
		answer, err := desk.Do(account.config.Name, &exchange.Request{Operation: exchange.SpotPlace, Order: d.orders[n].order})
		if err != nil {
			continue // the same in every column: it depends on the order and on what is known then
		}
		ids[n] = answer.Order.ID
	}
	desk.Advance(d.candles.CloseMS(d.candles.Len() - 1))
	outcomes := make([]outcome, len(d.orders))
	for _, f := range desk.Fills() {
		for i, id := range ids {
			if id != 0 && id == f.OrderID {
				o := &outcomes[i]
				if o.quantity == 0 {
					o.firstMS = f.TimeMS
				}
				o.parts, o.quantity = append(o.parts, f), o.quantity+f.Quantity
			}
		}
	}
	return outcomes
}

// TestTheColumnsAreOrderedFillByFill gives the same orders to an ideal, a realistic and a pessimistic market,
// over random candles, details, holes, delays, slippage and volume caps, and compares each order's outcome.
// No column gives a better price, an earlier fill, or more of a resting order, than the column before it.
func TestTheColumnsAreOrderedFillByFill(t *testing.T) {
	t.Parallel()
	compared, resting, moved := 0, 0, 0
	for seed := range uint64(400) {
		random := rand.New(rand.NewPCG(seed, 19))
		delay := []int64{0, 1, 250, 1_000, 4_000}[random.IntN(5)]
		d := drawMarket(random, symbolOf(t), delay)
		slippage, impact, limit := exchange.Rate(random.IntN(30_000)), exchange.Rate(random.IntN(200_000)), exchange.Rate(0)
		if random.IntN(2) == 0 {
			limit = exchange.RateOne / exchange.Rate(1+random.IntN(10))
		}
		half := limit / 2
		if half == 0 {
			half = exchange.RateOne / 10
		}
		columns := [3][]outcome{
			d.run(t, 0, TapeConfig{Order: Best, Costs: Costs{Bounded: true}}),
			d.run(t, delay, TapeConfig{Order: Worst, Costs: Costs{Bounded: true, Through: true, Slippage: slippage, Impact: impact, VolumeCap: limit}}),
			d.run(t, 2*delay, TapeConfig{Order: Worst, Costs: Costs{Bounded: true, Through: true, Slippage: 2 * slippage, Impact: 2 * impact,
				VolumeCap: half}}),
		}
		for i := range d.orders {
			for c := range 2 {
				better, than := columns[c][i], columns[c+1][i]
				what := fmt.Sprintf("seed %d, delay %d, order %d %+v at %d, column %d:\n  %+v\n  %+v", seed, delay, i, d.orders[i].order,
					d.orders[i].atMS-startMS, c, better, than)
				if than.quantity == 0 {
					continue
				}
				compared++
				if better.quantity == 0 {
					t.Fatalf("%s\nfilled where the better column's is not", what)
				}
				if at := better.parts[0]; at.Maker { // the time within the bar is a guess
					better.firstMS = floorTo(better.firstMS, int64(d.candles.Interval))
				}
				if than.firstMS < better.firstMS {
					t.Fatalf("%s\nfilled earlier", what)
				}
				units := min(than.quantity, better.quantity)
				worse := than.price(units) - better.price(units)
				if d.orders[i].order.Side == exchange.Sell {
					worse = -worse
				}
				if worse < -1e-9*better.price(units) {
					t.Fatalf("%s\nat a better price", what)
				}
				if d.orders[i].order.Type == exchange.Limit {
					if resting++; than.quantity > better.quantity {
						t.Fatalf("%s\nmore of it filled", what)
					}
				}
				if worse > 0 {
					moved++
				}
			}
		}
	}
	if compared < 10_000 || resting < 2_000 || moved < 5_000 {
		t.Errorf("%d pairs of outcomes, %d of limits, %d at a worse price: too few to prove anything", compared, resting, moved)
	}
	t.Logf("%d pairs of outcomes in order, %d of limits, %d at a worse price", compared, resting, moved)
}

// TestStopsAndTakeProfitsAreOrderedFillByFill gives a stop or take-profit, placed at any moment and delayed by up to
// 20 s, to the three markets. An order within the volume cap triggers at no better price in a worse column.
func TestStopsAndTakeProfitsAreOrderedFillByFill(t *testing.T) {
	t.Parallel()
	stops, targets, moved := 0, 0, 0
	for seed := range uint64(1_000) {
		random := rand.New(rand.NewPCG(seed, 77))
		delay := []int64{0, 1, 250, 1_000, 4_000, 20_000}[random.IntN(6)]
		d := drawMarket(random, symbolOf(t), delay)
		bar := random.IntN(d.candles.Len() - 8)
		atMS := d.candles.OpenMS[bar] + random.Int64N(int64(d.candles.Interval))
		order, slippage := drawTrigger(random, d.candles.Open[bar]), exchange.Rate(random.IntN(30_000))
		columns := [3]outcome{
			d.trigger(t, 0, atMS, order, TapeConfig{Order: Best, Costs: Costs{Bounded: true}}),
			d.trigger(t, delay, atMS, order, TapeConfig{Order: Worst, Costs: Costs{Bounded: true, Through: true, Slippage: slippage}}),
			d.trigger(t, 2*delay, atMS, order, TapeConfig{Order: Worst, Costs: Costs{Bounded: true, Through: true, Slippage: 2 * slippage,
				VolumeCap: exchange.RateOne / 10}}),
		}
		for c := range 2 {
			better, than := columns[c], columns[c+1]
			if than.quantity == 0 {
				continue // the path guesses when it triggers
			}
			what := fmt.Sprintf("seed %d, delay %d, %+v at %d, column %d:\n  %+v\n  %+v", seed, delay, order, atMS-startMS, c, better, than)
			if better.quantity == 0 {
				t.Fatalf("%s\nfilled where the better column's is not", what)
			}
			worse := than.price(than.quantity) - better.price(better.quantity)
			if order.Side == exchange.Sell {
				worse = -worse
			}
			if worse < -1e-9*better.price(1) {
				t.Fatalf("%s\nat a better price", what)
			}
			if worse > 0 {
				moved++
			}
			if order.Type == exchange.StopMarket {
				stops++
			} else {
				targets++
			}
		}
	}
	if stops < 700 || targets < 700 || moved < 700 {
		t.Errorf("%d pairs of stops, %d of take-profits, %d at a worse price: too few to prove anything", stops, targets, moved)
	}
	t.Logf("%d pairs of stops and %d of take-profits in order, %d at a worse price", stops, targets, moved)
}

// drawTrigger draws a small stop or take-profit, within eighty ticks of a price.
func drawTrigger(random *rand.Rand, price exchange.Price) exchange.NewOrder {
	symbols := DefaultSymbols()
	symbol := symbols[slices.IndexFunc(symbols, func(s *exchange.Symbol) bool { return s.Key() == solFutures })]
	order := exchange.NewOrder{Market: exchange.Futures, Symbol: symbol.Name, Side: exchange.Buy, Type: exchange.StopMarket,
		Quantity: symbol.QuantityTick * exchange.Quantity(1+random.IntN(4)), WorkingType: exchange.ContractPrice,
		StopPrice: symbol.FloorPrice(price + exchange.Price(random.IntN(160)-80)*symbol.PriceTick)}
	if random.IntN(2) == 0 {
		order.Side = exchange.Sell
	}
	if random.IntN(2) == 0 {
		order.Type = exchange.TakeProfitMarket
	}
	return order
}

var solFutures = exchange.SymbolKey{Market: exchange.Futures, Name: "SOL-USDT"}

// trigger places one order and returns its outcome; an empty one if it was refused.
func (d *drawn) trigger(t *testing.T, delayMS, atMS int64, order exchange.NewOrder, config TapeConfig) (o outcome) {
	t.Helper()
	desk := newDesk(t, Config{OrderDelayMS: delayMS})
	config.Detail = d.detail
	desk.SetMarket(solFutures, Tape(d.candles, config))
	desk.Advance(atMS)
	if _, err := desk.Do(desk.account, &exchange.Request{Operation: exchange.FuturesPlace, Order: order}); err != nil {
		return o // the same in every column: it depends on the order and on what is known then
	}
	desk.Advance(d.candles.CloseMS(d.candles.Len() - 1))
	o.parts = desk.Fills()
	for _, f := range o.parts {
		o.quantity += f.Quantity
	}
	return o
}

// TestMoreDelayIsNeverBetterAndALittleCostsLittle delays the same market order more and more.
func TestMoreDelayIsNeverBetterAndALittleCostsLittle(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 20))
		d := drawMarket(random, symbolOf(t), 0)
		for i := range d.orders {
			d.orders[i].order = exchange.NewOrder{Symbol: d.orders[i].order.Symbol, Side: d.orders[i].order.Side, Type: exchange.MarketOrder,
				QuoteAmount: exchange.AmountOf(100)}
		}
		var before []outcome
		for _, delay := range []int64{0, 1, 2, 100, 101, 5_000, 30_000, 31_000, 61_000, 400_000} {
			now := d.run(t, delay, TapeConfig{Order: Worst, Costs: Costs{Bounded: true}})
			for i := range before {
				if before[i].quantity == 0 || now[i].quantity == 0 {
					continue
				}
				worse := now[i].price(1) - before[i].price(1)
				if d.orders[i].order.Side == exchange.Sell {
					worse = -worse
				}
				if worse < 0 {
					t.Fatalf("seed %d, order %d: delayed by %d ms it gains %v", seed, i, delay, -worse)
				}
				// The largest bar moves 120 ticks from its open; a millisecond at its very open is a 244th of the
				// way.
				if inBar := now[i].firstMS-before[i].firstMS == 1; inBar && worse > 2*float64(symbolOf(t).PriceTick) {
					t.Fatalf("seed %d, order %d: a millisecond more, %d, costs %v", seed, i, delay, worse)
				}
			}
			before = now
		}
	}
}

func symbolOf(t *testing.T) *exchange.Symbol {
	t.Helper()
	d := newDesk(t, Config{}).on(exchange.Spot, "SOL-USDT")
	return d.Symbol(d.key())
}

// A price that was skipped to is the last known price in a hole of the record until the next candle opens, and within that candle
// its open.
func TestLastPriceAfterSkippedCandles(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	flat := [4]string{"50000", "50100", "49900", "50050"}
	candles := d.tapeOf(flat, flat, [4]string{"50050", "50200", "49800", "50010"}, [4]string{"51000", "52000", "50500", "51500"})
	const minute, hole = int64(exchange.Minute1), 5 * int64(exchange.Minute1)
	candles.OpenMS[3] += hole
	d.SetMarket(d.key(), Tape(candles, TapeConfig{Order: Worst, Costs: Costs{Bounded: true, Through: true}}))
	seat, _ := d.Instrument(d.key())
	d.Advance(startMS + 1)
	if !seat.Quiet(candles.Low[2], candles.High[2], startMS+3*minute-1) {
		t.Fatal("want the candles quiet, without orders")
	}
	seat.SkipTo(startMS+3*minute-1, candles.Close[2])
	for _, c := range []struct {
		atMS int64
		want string
	}{
		{startMS + 3*minute - 1, "50010"}, {startMS + 4*minute, "50010"}, {startMS + 3*minute + hole - 1, "50010"},
		{startMS + 3*minute + hole, "51000"}, {startMS + 3*minute + hole + minute/2, "51000"}, {startMS + 4*minute + hole - 1, "51500"},
	} {
		d.Advance(c.atMS)
		if known := seat.Known(); known != d.p(c.want) {
			t.Errorf("%d ms in: want %s known, have %d", c.atMS-startMS, c.want, known)
		}
	}
}
