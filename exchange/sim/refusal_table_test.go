package sim

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"botd/exchange"
)

func TestALimitIsTheDefaultTheMaximumOrBetween(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		limit, offset, want int
		text                string
	}{
		{0, 0, 30, ""}, {1, 0, 1, ""}, {30, 1, 30, ""}, {99, 0, 99, ""}, {100, 0, 100, ""}, {101, 0, 100, ""},
		{-1, 0, 0, "limit -1 is below 1"}, {0, -1, 0, "offset -1 is below 0"}, {-2, -1, 0, "limit -2 is below 1"},
	} {
		have, refusal := limit(&exchange.Request{Operation: exchange.FuturesDepth, Limit: c.limit, Offset: c.offset}, 30, 100)
		if have != c.want || (refusal == nil) != (c.text == "") || refusal != nil && (refusal.Code != CodeParameter || refusal.Message != c.text) {
			t.Errorf("%d, %d: want %d, %q, have %d, %v", c.limit, c.offset, c.want, c.text, have, refusal)
		}
	}
}

// messageOf returns the message of a refusal.
func messageOf(err error) string {
	var refusal *exchange.Refusal
	if errors.As(err, &refusal) {
		return refusal.Message
	}
	return fmt.Sprint(err)
}

// TestTheValueOfAnOrderAtItsBounds checks that the smallest and the largest value pass, and a step beyond
// them does not.
func TestTheValueOfAnOrderAtItsBounds(t *testing.T) {
	t.Parallel()
	tick := decimal.New(1, -3)
	for _, market := range []exchange.Market{exchange.Futures, exchange.Spot} {
		symbol, err := exchange.NewSymbol(exchange.SymbolSpec{Market: market, Name: "X-USDT", Base: "X", Quote: "USDT", PriceTick: tick, QuantityTick: tick,
			MinNotional: decimal.NewFromInt(5), MaxNotional: decimal.NewFromInt(1_000), Tradable: true, Cancelable: true, Brackets: DefaultBrackets()})
		if err != nil {
			t.Fatal(err)
		}
		d := newDesk(t, Config{Symbols: []*exchange.Symbol{symbol}}).on(market, "X-USDT")
		d.setLast("1")
		for _, c := range []struct {
			kind            exchange.OrderType
			quantity, price string
			want            string
		}{
			{exchange.Limit, "5", "1", ""}, {exchange.Limit, "4.999", "1", "order value 4.999 is below minNotional 5"},
			{exchange.Limit, "10", "0.5", ""}, {exchange.Limit, "9.999", "0.5", "order value 4.9995 is below minNotional 5"},
			{exchange.Limit, "1000", "1", ""}, {exchange.Limit, "1000.001", "1", "order value 1000.001 is above maxNotional 1000"},
			{exchange.Limit, "0", "1", "qt 0 is not above 0"}, {exchange.Limit, "-1", "1", "qt -1 is not above 0"},
			{exchange.Limit, "1000000000", "1000000", "order value 1000000000000000 is above maxNotional 1000"},
			{exchange.Limit, "1000000000", "1000000.001", "order value 1000000001000000 is above maxNotional 1000"},
			{exchange.Limit, "5", "0", "price is required for LIMIT"},
			{exchange.Limit, "5", "-1", "price -1 is not a multiple of priceTick 0.001 above 0"},
		} {
			order := d.order("buy", c.kind, "1", "1")
			order.Quantity, order.Price = exchange.Quantity(decimal.RequireFromString(c.quantity).Shift(int32(symbol.QuantityScale)).IntPart()),
				exchange.Price(decimal.RequireFromString(c.price).Shift(int32(symbol.PriceScale)).IntPart())
			made, err := d.try(order)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(messageOf(err), c.want) {
				t.Errorf("%s %s at %s: want %q, have %v", market, c.quantity, c.price, c.want, err)
			}
			if err == nil && (made.Quantity != order.Quantity || made.Price != order.Price || made.QuoteAmount != exchange.Amount{}) {
				t.Errorf("%s: have %+v", market, made)
			}
			d.do(exchange.Request{Operation: map[exchange.Market]exchange.Operation{exchange.Futures: exchange.FuturesCancelAll,
				exchange.Spot: exchange.SpotCancelAll}[market], Symbol: "X-USDT"})
		}
	}
}

// TestASpotOrdersSizeIsAnAmountOrAQuantity checks which of the two each order type takes.
func TestASpotOrdersSizeIsAnAmountOrAQuantity(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{}).on(exchange.Spot, "BTC-USDT")
	for _, c := range []struct {
		change func(o *exchange.NewOrder)
		code   int
		text   string
	}{
		{func(o *exchange.NewOrder) { o.Quantity, o.QuoteAmount = d.q("0.01"), exchange.Amount{} }, CodeQuantity,
			"a spot MARKET order takes an amount of USDT, not a base quantity of 0.01"},
		{func(o *exchange.NewOrder) { o.QuoteAmount = exchange.Amount{} }, CodeQuantity, "qt 0 is not above 0"},
		{func(o *exchange.NewOrder) { o.Quantity, o.QuoteAmount = 0, exchange.AmountOf(-1) }, CodeQuantity, "qt -1 is not above 0"},
		{func(o *exchange.NewOrder) { o.Quantity, o.QuoteAmount = 0, exchange.AmountOf(4) }, CodeMinNotional,
			"order value 4 is below minNotional 5"},
		{func(o *exchange.NewOrder) { o.Quantity, o.QuoteAmount = 0, exchange.AmountOf(5) }, 0, ""},
		{func(o *exchange.NewOrder) {
			o.Type, o.Price, o.Quantity, o.QuoteAmount = exchange.Limit, d.p("40000"), 0, exchange.AmountOf(9)
		}, CodeQuantity,
			"qt 0 is not above 0"},
	} {
		order := d.order("buy", exchange.MarketOrder, "0.01", "")
		c.change(&order)
		_, err := d.try(order)
		var refusal *exchange.Refusal
		if errors.As(err, &refusal); (err == nil) != (c.text == "") || err != nil && (refusal == nil || refusal.Code != c.code || refusal.Message != c.text) {
			t.Errorf("%+v: want %d %q, have %v", order, c.code, c.text, err)
		}
	}
	order := d.order("buy", exchange.Limit, "0.01", "40000")
	order.QuoteAmount = exchange.AmountOf(77)
	if made := d.place(order); !made.QuoteAmount.IsZero() || made.Quantity != order.Quantity {
		t.Errorf("a limit order has a quantity alone: have %+v", made)
	}
}

// TestAnOrderIsCanceledUnderItsOwnSymbol also checks that a cancel under another symbol is refused.
func TestAnOrderIsCanceledUnderItsOwnSymbol(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{}).on(exchange.Spot, "BTC-USDT")
	order := d.place(d.order("buy", exchange.Limit, "0.01", "40000"))
	for symbol, want := range map[string]string{"ETH-USDT": fmt.Sprintf("order %d is unknown on ETH-USDT", order.ID), "NONE": `symbol "NONE" is invalid`} {
		if _, err := d.Do(d.account, &exchange.Request{Operation: exchange.SpotCancel, Symbol: symbol, OrderID: order.ID}); err == nil ||
			messageOf(err) != want {
			t.Errorf("want %s, have %v", want, err)
		}
	}
	_, err := d.Do(d.account, &exchange.Request{Operation: exchange.SpotCancel, Symbol: "BTC-USDT", OrderID: order.ID + 1})
	if want := fmt.Sprintf("order %d is unknown", order.ID+1); err == nil || messageOf(err) != want {
		t.Errorf("want %s, have %v", want, err)
	}
	d.wantStatus(order.ID, exchange.StatusNew)
	answer := d.do(exchange.Request{Operation: exchange.SpotCancel, Symbol: "BTC-USDT", OrderID: order.ID})
	if answer.Order.ID != order.ID || answer.Order.Status != exchange.StatusCanceled {
		t.Errorf("have %+v", answer.Order)
	}
}

// TestVolumesAreMultiplesOfTheTicks checks that volumes are multiples of the quantityTick's power of ten, and
// quote volumes of its value at a priceTick.
func TestVolumesAreMultiplesOfTheTicks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		quantityTick, priceTick string
		base, quote             float64
	}{
		{"0.001", "0.1", 1e3, 1e4}, {"0.01", "0.01", 1e2, 1e4}, {"1", "1", 1, 1}, {"100", "0.00001", 1, 1e3}, {"0.5", "0.25", 1e1, 1e3},
		{"0.2", "10", 1e1, 1},
	} {
		symbol, err := exchange.NewSymbol(exchange.SymbolSpec{Market: exchange.Futures, Name: "X-USDT", Base: "X", Quote: "USDT",
			PriceTick: decimal.RequireFromString(c.priceTick), QuantityTick: decimal.RequireFromString(c.quantityTick),
			MinNotional: decimal.NewFromInt(5), MaxNotional: decimal.NewFromInt(1_000), Tradable: true})
		if err != nil {
			t.Fatal(err)
		}
		b := &orderBook{symbol: symbol}
		if base, quote := (marketData{b}).volumeSteps(false); base != c.base || quote != c.quote {
			t.Errorf("%s and %s: want %g and %g, have %g and %g", c.quantityTick, c.priceTick, c.base, c.quote, base, quote)
		}
		if base, quote := (marketData{b}).volumeSteps(true); base != 1e8 || quote != 1e8 {
			t.Errorf("recorded: have %g and %g", base, quote)
		}
	}
	for number, want := range map[float64]float64{1.24: 1.2, 1.26: 1.3, -1.26: -1.3, 1 << 51: 1 << 51} {
		if have := snapped(number, 10); have != want {
			t.Errorf("%g in tenths: want %g, have %g", number, want, have)
		}
	}
}

// TestTheNewestThousandTradesAreShown checks the list for different numbers of trades.
func TestTheNewestThousandTradesAreShown(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	b := d.find(d.key())
	for id := range int64(3*maxTrades + 7) {
		b.publish(d.p("50000"), exchange.Quantity(id+1), id%2 == 0)
		if id+1 == 10 || id+1 == 2*maxTrades || id+1 == 2*maxTrades+1 || id+1 == 3*maxTrades+7 {
			all := d.do(exchange.Request{Operation: exchange.FuturesTrades, Symbol: d.name, Limit: 1000}).Trades.Items()
			first, last := all[0], all[len(all)-1]
			if len(all) != int(min(maxTrades, id+1)) || max(first.ID, last.ID) != id+1 || max(first.Quantity, last.Quantity) != exchange.Quantity(id+1) ||
				max(first.ID, last.ID)-min(first.ID, last.ID) != int64(len(all))-1 {
				t.Errorf("after %d: have %d, from %+v to %+v", id+1, len(all), first, last)
			}
		}
	}
	if len(b.trades) > 2*maxTrades {
		t.Errorf("want no more than %d held, have %d", 2*maxTrades, len(b.trades))
	}
}

// TestAMarketsFirstPrice expects the price of the base asset, rounded up to the symbol's tick.
func TestAMarketsFirstPrice(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ base, tick, want string }{
		{"BTC", "0.1", "50000"}, {"ETH", "0.01", "2500"}, {"SOL", "0.01", "100"}, {"PEPE", "0.00000001", "0.00001"}, {"NEW", "0.01", "100"},
		{"NEW", "7", "105"}, {"PEPE", "0.01", "0.01"},
	} {
		symbol, err := exchange.NewSymbol(exchange.SymbolSpec{Market: exchange.Spot, Name: "X-USDT", Base: c.base, Quote: "USDT",
			PriceTick: decimal.RequireFromString(c.tick), QuantityTick: decimal.NewFromInt(1), Tradable: true})
		if err != nil {
			t.Fatal(err)
		}
		if have := symbol.PriceDecimal(startPrice(symbol)).String(); have != c.want {
			t.Errorf("%s by %s: want %s, have %s", c.base, c.tick, c.want, have)
		}
	}
	m := Money{Wallet: exchange.AmountOf(7), Unrealized: exchange.AmountOf(-3)}
	if m.Equity() != exchange.AmountOf(4) {
		t.Errorf("have %s", m.Equity())
	}
}
