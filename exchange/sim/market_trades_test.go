package sim

import (
	"testing"

	"botd/exchange"
)

// TestRecordedTradesFillWhatTheyMeet plays trades against one resting buy of ten lots at 100.
func TestRecordedTradesFillWhatTheyMeet(t *testing.T) {
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

// TestWhatTakesPaysTheNextTrades: a market order of ten lots takes what the next trades are worth.
func TestWhatTakesPaysTheNextTrades(t *testing.T) {
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
