package sim_test

import (
	"testing"

	"pgregory.net/rapid"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/internal/conformance"
)

var orderTypes = []exchange.OrderType{
	exchange.MarketOrder, exchange.MarketOrder, exchange.Limit, exchange.StopMarket, exchange.TakeProfitMarket, exchange.StopLimit, exchange.TakeProfitLimit,
}

// TestMoneyIsConserved lets three accounts send random requests on both markets. After each step it
// compares every wallet, asset, margin, position and order with the fills, to the last digit.
func TestMoneyIsConserved(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		l := newLedger(r)
		steps := map[string]func(*rapid.T){}
		for name, step := range map[string]func(){
			"advance": l.advance, "cancel": l.cancel, "leverage": l.leverage, "order": func() { l.order(false) }, "price": l.price,
			"reduce": func() { l.order(true) },
		} {
			steps[name] = func(*rapid.T) {
				mark, before := l.markOf("BTC-USDT"), l.x.NowMS()
				step()
				l.pay(before, mark)
				l.check()
			}
		}
		r.Repeat(steps)
	})
}

// newLedger opens an exchange with three accounts, one of them with its own fees, under one of the settings
// that docs/exchange.md leaves to a venue.
func newLedger(r *rapid.T) *ledger {
	l := &ledger{r: r, names: []string{"alice", "bob", "carol"}, nets: rapid.Bool().Draw(r, "nets"), states: map[int64]exchange.Order{},
		ended: map[string]int{}}
	config := sim.Config{Symbols: sim.DefaultSymbols(), StartMS: conformance.StartMS + fundingMS - 60_000, Seed: 1, OppositeOrder: "reject",
		OrderDelayMS: rapid.SampledFrom([]int64{0, 5}).Draw(r, "delay")}
	if l.nets {
		config.OppositeOrder = "net"
	}
	var err error
	if l.x, err = sim.New(config); err != nil {
		r.Fatal(err)
	}
	l.moving = rapid.IntRange(0, 9).Draw(r, "moving") == 9
	for _, symbol := range sim.DefaultSymbols() {
		if l.moving && (symbol.Base == "BTC" || symbol.Base == "ETH") {
			l.x.SetMarket(symbol.Key(), sim.Random(rapid.Uint64().Draw(r, "seed")))
		}
	}
	for _, name := range l.names {
		account := sim.DefaultAccount(name)
		account.FuturesUSDT = exchange.AmountOf(deposits[name])
		switch name {
		case "bob": // soon liquidated
			account.Leverage = 40
		case "carol": // rich, with a rebate, and spot fees in USDT
			account.FuturesMaker, account.FeeFromQuote = -10_000, true
		}
		if err := l.x.AddAccount(account); err != nil {
			r.Fatal(err)
		}
	}
	var points []sim.FundingPoint
	for n := range int64(100) {
		payday := conformance.StartMS + (n+1)*fundingMS
		points = append(points, sim.FundingPoint{TimeMS: payday, Rate: rateAt(payday)})
	}
	l.x.SetFunding("BTC-USDT", points)
	l.x.SetFunding("ETH-USDT", []sim.FundingPoint{{}})
	l.x.SetFunding("PEPE-USDT", []sim.FundingPoint{{}})
	return l
}

// desk draws an account and a symbol.
func (l *ledger) desk() (account string, symbol *exchange.Symbol) {
	market := rapid.SampledFrom([]exchange.Market{exchange.Futures, exchange.Futures, exchange.Spot}).Draw(l.r, "market")
	name := rapid.SampledFrom([]string{"BTC-USDT", "BTC-USDT", "BTC-USDT", "ETH-USDT", "PEPE-USDT"}).Draw(l.r, "symbol")
	return rapid.SampledFrom([]string{"bob", "bob", "alice", "carol"}).Draw(l.r, "account"), l.x.Symbol(exchange.SymbolKey{Market: market, Name: name})
}

// near draws a price within that many percent of the last one.
func (l *ledger) near(symbol *exchange.Symbol, label string, percent int) exchange.Price {
	last, _ := l.x.Price(symbol.Key())
	part := exchange.Price(rapid.SampledFrom([]int{-10, 10, -5, 5, -2, 2, -1, 1, 0}).Draw(l.r, label) * percent)
	return symbol.FloorPrice(last+last/1000*part) + symbol.PriceTick
}

func (l *ledger) price() {
	_, symbol := l.desk()
	if err := l.x.SetPrice(symbol.Key(), l.near(symbol, "price", 4), 0); err != nil {
		l.r.Fatal(err)
	}
}

func (l *ledger) advance() {
	l.x.Advance(l.x.NowMS() + rapid.SampledFrom([]int64{5, 1, 2_000, 60_000, int64(exchange.Hour4)}).Draw(l.r, "advance"))
}

// do sends a request that may be refused. A refusal changes nothing, which check verifies.
func (l *ledger) do(account string, request exchange.Request) { _, _ = l.x.Do(account, &request) }

func (l *ledger) leverage() {
	account, symbol := l.desk()
	l.do(account, exchange.Request{Operation: exchange.FuturesSetLeverage, Symbol: symbol.Name, Leverage: rapid.IntRange(1, 50).Draw(l.r, "leverage")})
}

func (l *ledger) cancel() {
	account, symbol := l.desk()
	one, all := exchange.FuturesCancel, exchange.FuturesCancelAll
	if symbol.Market == exchange.Spot {
		one, all = exchange.SpotCancel, exchange.SpotCancelAll
	}
	var ids []int64
	l.x.EachOpenOrder(account, symbol.Market, func(o *exchange.Order) { ids = append(ids, o.ID) })
	if len(ids) == 0 || rapid.IntRange(0, 3).Draw(l.r, "all") == 3 {
		l.do(account, exchange.Request{Operation: all, Symbol: symbol.Name})
		return
	}
	l.do(account, exchange.Request{Operation: one, Symbol: symbol.Name, OrderID: rapid.SampledFrom(ids).Draw(l.r, "id")})
}

// order places an order; exit draws an order that reduces a position.
func (l *ledger) order(exit bool) {
	r := l.r
	account, symbol := l.desk()
	if held := l.open(); exit && len(held) > 0 {
		one := rapid.SampledFrom(held).Draw(r, "position")
		account, symbol = one.account, l.x.Symbol(futures(one.symbol))
	}
	order := exchange.NewOrder{Market: symbol.Market, Symbol: symbol.Name, Type: rapid.SampledFrom(orderTypes).Draw(r, "type"),
		Side: rapid.SampledFrom([]exchange.Side{exchange.Buy, exchange.Sell}).Draw(r, "side")}
	value := exchange.AmountOf(rapid.SampledFrom([]int64{30_000, 30_000, 3_000, 100, 7, 400_000}).Draw(r, "value"))
	last, _ := l.x.Price(symbol.Key())
	order.Quantity = symbol.QuantityFor(value, last)
	if symbol.Market == exchange.Spot && order.Type == exchange.MarketOrder {
		order.Quantity, order.QuoteAmount = 0, value
	}
	if order.Type.Priced() {
		order.Price = l.near(symbol, "limit", 2)
		order.PostOnly = order.Type == exchange.Limit && rapid.Bool().Draw(r, "post")
	}
	if order.Type.Conditional() {
		order.StopPrice, order.WorkingType = l.near(symbol, "stop", 2), exchange.ContractPrice
	}
	if symbol.Market == exchange.Spot {
		l.do(account, exchange.Request{Operation: exchange.SpotPlace, Order: order})
		return
	}
	if position, held := l.x.Position(account, symbol.Name); exit && held {
		l.reduce(&order, symbol, &position)
	}
	l.do(account, exchange.Request{Operation: exchange.FuturesPlace, Order: order})
}

// open lists the accounts' open positions.
func (l *ledger) open() (all []struct{ account, symbol string }) {
	for _, name := range l.names {
		for _, position := range l.positions(name) {
			all = append(all, struct{ account, symbol string }{name, position.Symbol})
		}
	}
	return all
}

// reduce turns an order against a position.
func (l *ledger) reduce(order *exchange.NewOrder, symbol *exchange.Symbol, position *exchange.Position) {
	order.Side = exchange.Buy
	if position.Side == exchange.Long {
		order.Side = exchange.Sell
	}
	switch order.ReduceOnly = true; rapid.IntRange(0, 3).Draw(l.r, "reduce") {
	case 0:
		order.Quantity = position.Remaining
	case 1:
		order.Quantity = symbol.FloorQuantity(position.Remaining / 3)
	case 2:
		order.ReduceOnly, order.ClosePosition, order.Quantity = false, true, 0
	default:
		order.ReduceOnly = false // where opposite orders net
	}
}
