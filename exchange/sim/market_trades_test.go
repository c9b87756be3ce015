package sim

import (
	"math/rand/v2"
	"testing"

	"botd/exchange"
)

// TestRecordedTradesFillRestingOrders plays trades against one resting buy of ten lots at 100.
func TestRecordedTradesFillRestingOrders(t *testing.T) {
	t.Parallel()
	const price, lot = exchange.Price(50_000e8), exchange.Quantity(10)
	type trade struct {
		price exchange.Price
		lots  exchange.Quantity
		sold  bool
	}
	for _, c := range []struct {
		name   string
		queue  exchange.Rate
		trades []trade
		filled exchange.Quantity // lots
	}{
		{"a trade above it", exchange.RateOne, []trade{{price + 1e8, 50, true}}, 0},
		{"a trade through it fills it all", 0, []trade{{price - 1e8, 50, true}}, 10},
		{"a trade through it fills as far as it goes", 0, []trade{{price - 1e8, 4, true}}, 4},
		{"two of them", 0, []trade{{price - 1e8, 4, true}, {price - 1e8, 5, true}}, 9},
		{"a sale at its price by its share of the queue", exchange.RateOne / 2, []trade{{price, 8, true}}, 4},
		{"a purchase at its price met others", exchange.RateOne, []trade{{price, 8, false}}, 0},
		{"without a share nothing at its price", 0, []trade{{price, 8, true}}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			symbol := DefaultSymbols()[0]
			record := &exchange.Trades{TimeMS: []int64{1_000}, Price: []exchange.Price{price + 9e8}, Quantity: []exchange.Quantity{lot}, Sold: []bool{true}}
			for i, one := range c.trades {
				record.TimeMS, record.Price = append(record.TimeMS, int64(3_000+1_000*i)), append(record.Price, one.price)
				record.Quantity, record.Sold = append(record.Quantity, one.lots*lot), append(record.Sold, one.sold)
			}
			x := tradesExchange(t, symbol, record, TradesConfig{Queue: c.queue})
			x.Advance(2_000)
			place(t, x, exchange.NewOrder{Market: symbol.Market, Symbol: symbol.Name, Side: exchange.Buy, Type: exchange.Limit, Price: price,
				Quantity: 10 * lot, ClientOrderID: "rests"})
			x.Advance(10_000)
			sum := exchange.Quantity(0)
			for _, fill := range x.TakeFills(nil) {
				if sum += fill.Quantity; fill.Price != price || !fill.Maker {
					t.Errorf("want its own price as the maker, have %+v", fill)
				}
			}
			if sum != c.filled*lot {
				t.Errorf("want %d lots filled, have %d", c.filled, sum/lot)
			}
		})
	}
}

// A market order of ten lots takes the quantities of the next trades.
func TestMarketOrderPaysNextTrades(t *testing.T) {
	t.Parallel()
	const price, lot = exchange.Price(50_000e8), exchange.Quantity(10)
	symbol := DefaultSymbols()[0]
	record := &exchange.Trades{TimeMS: []int64{1_000, 3_000, 4_000, 5_000}, Price: []exchange.Price{price, price + 1e8, price + 2e8, price + 3e8},
		Quantity: []exchange.Quantity{lot, 4 * lot, 5 * lot, 50 * lot}, Sold: make([]bool, 4)}
	x := tradesExchange(t, symbol, record, TradesConfig{})
	x.Advance(2_000)
	place(t, x, exchange.NewOrder{Market: symbol.Market, Symbol: symbol.Name, Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: 10 * lot,
		ClientOrderID: "takes"})
	x.Advance(10_000)
	fills := x.TakeFills(nil)
	want := []struct {
		price exchange.Price
		lots  exchange.Quantity
	}{{price + 1e8, 4}, {price + 2e8, 5}, {price + 3e8, 1}}
	if len(fills) != len(want) {
		t.Fatalf("want three fills, have %+v", fills)
	}
	for i, fill := range fills {
		if fill.Price != want[i].price || fill.Quantity != want[i].lots*lot || fill.Maker {
			t.Errorf("fill %d: want %+v, have %+v", i, want[i], fill)
		}
	}
}

// TestTradesAreOrderedFillByFill gives the same order to an ideal, a realistic and a pessimistic market over
// random trades: market orders of any size at any time, and limits that the price does not reach while they
// are in flight. No column gives a better price, an earlier fill, or more of a resting order, than the column
// before it.
func TestTradesAreOrderedFillByFill(t *testing.T) {
	t.Parallel()
	compared, resting, moved := 0, 0, 0
	for seed := range uint64(1_500) {
		random := rand.New(rand.NewPCG(seed, 23))
		delay := []int64{0, 1, 250, 1_000}[random.IntN(4)]
		record, order, atMS := drawTrades(random)
		slippage, impact, queue := exchange.Rate(random.IntN(30_000)), exchange.Rate(random.IntN(200_000)), exchange.Rate(random.IntN(1e8))
		limit := exchange.RateOne / exchange.Rate(1+random.IntN(10))
		column := func(delayMS int64, config TradesConfig) outcome {
			x, err := New(Config{Symbols: DefaultSymbols()[:1], OrderDelayMS: delayMS})
			if err == nil {
				err = x.AddAccount(AccountConfig{Name: "one", FuturesUSDT: exchange.AmountOf(1_000_000_000), Leverage: 1})
			}
			if err != nil {
				t.Fatal(err)
			}
			x.SetMarket(DefaultSymbols()[0].Key(), Trades(record, config))
			x.Advance(atMS)
			place(t, x, order)
			x.Advance(1_000_000)
			o := outcome{parts: x.TakeFills(nil)}
			for i, f := range o.parts {
				if o.quantity += f.Quantity; i == 0 {
					o.firstMS = f.TimeMS
				}
			}
			return o
		}
		columns := [3]outcome{
			column(0, TradesConfig{Queue: exchange.RateOne}),
			column(delay, TradesConfig{Queue: queue, Costs: Costs{Slippage: slippage, Impact: impact, VolumeCap: limit}}),
			column(2*delay, TradesConfig{Costs: Costs{Slippage: 2 * slippage, Impact: 2 * impact, VolumeCap: limit / 2}}),
		}
		for c := range 2 {
			better, than := columns[c], columns[c+1]
			if than.quantity == 0 {
				continue
			}
			compared++
			units := min(than.quantity, better.quantity)
			worse := than.price(units) - better.price(units)
			if order.Side == exchange.Sell {
				worse = -worse
			}
			if better.quantity < than.quantity || than.firstMS < better.firstMS || worse < -1e-9*better.price(units) {
				t.Fatalf("seed %d, delay %d, %+v at %d, column %d: want it no better than\n  %+v\nhave\n  %+v", seed, delay, order, atMS, c, better, than)
			}
			if order.Type == exchange.Limit {
				resting++
			}
			if worse > 0 {
				moved++
			}
		}
	}
	if compared < 2_000 || resting < 800 || moved < 1_000 {
		t.Errorf("%d pairs, %d of limits, %d at a worse price: too few to prove anything", compared, resting, moved)
	}
	t.Logf("%d pairs of outcomes in order, %d of limits, %d at a worse price", compared, resting, moved)
}

// drawTrades draws trades that move by ticks, sometimes several in one millisecond, and an order among them.
func drawTrades(random *rand.Rand) (record *exchange.Trades, order exchange.NewOrder, atMS int64) {
	symbol := DefaultSymbols()[0]
	tick, lot := symbol.PriceTick, symbol.QuantityTick
	record = &exchange.Trades{}
	price, now := 50_000e8/tick*tick, int64(1_000)
	for range 200 {
		price += tick * exchange.Price(random.IntN(21)-10)
		record.TimeMS, record.Price = append(record.TimeMS, now), append(record.Price, price)
		record.Quantity, record.Sold = append(record.Quantity, lot*exchange.Quantity(20+random.IntN(200))), append(record.Sold, random.IntN(2) == 0)
		now += int64(random.IntN(4)) * int64(random.IntN(1_500))
	}
	at := 1 + random.IntN(100)
	atMS = record.TimeMS[at] + random.Int64N(500)
	order = exchange.NewOrder{Market: symbol.Market, Symbol: symbol.Name, Side: exchange.Buy, Type: exchange.MarketOrder,
		Quantity: lot * exchange.Quantity(1+random.IntN(600))}
	if random.IntN(2) == 0 {
		order.Side = exchange.Sell
	}
	if random.IntN(2) == 0 {
		return record, order, atMS
	}
	low, high := record.Price[at], record.Price[at]
	for i := at; i < record.Len() && record.TimeMS[i] <= atMS+2_000; i++ {
		low, high = min(low, record.Price[i]), max(high, record.Price[i])
	}
	away := tick * exchange.Price(1+random.IntN(20))
	if order.Type, order.Price = exchange.Limit, low-away; order.Side == exchange.Sell {
		order.Price = high + away
	}
	return record, order, atMS
}

func tradesExchange(t *testing.T, symbol *exchange.Symbol, record *exchange.Trades, config TradesConfig) *Exchange {
	t.Helper()
	x, err := New(Config{Symbols: []*exchange.Symbol{symbol}, StartMS: 0})
	if err != nil {
		t.Fatal(err)
	}
	if err := x.AddAccount(DefaultAccount("one")); err != nil {
		t.Fatal(err)
	}
	x.SetMarket(symbol.Key(), Trades(record, config))
	return x
}

func place(t *testing.T, x *Exchange, order exchange.NewOrder) {
	t.Helper()
	operation := exchange.FuturesPlace
	if order.Market == exchange.Spot {
		operation = exchange.SpotPlace
	}
	if _, err := x.Do("one", &exchange.Request{Operation: operation, Order: order}); err != nil {
		t.Fatal(err)
	}
}
