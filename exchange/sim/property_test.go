package sim

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"botd/exchange"
)

// TestRandomOperationsKeepTheInvariants lets several accounts do random operations and checks the invariants
// after every step. In the end a restored snapshot must continue exactly like the exchange itself.
func TestRandomOperationsKeepTheInvariants(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		opposite := rapid.SampledFrom([]string{"reject", "net"}).Draw(r, "opposite")
		d := newDesk(t, Config{OppositeOrder: opposite, OrderDelayMS: rapid.SampledFrom([]int64{0, 5}).Draw(r, "delay")})
		spread := rapid.IntRange(0, 1).Draw(r, "spread")
		for _, b := range d.orderBooks {
			d.SetMarket(b.symbol.Key(), Still(StillConfig{SpreadTicks: spread}))
		}
		d.SetFunding("BTC-USDT", []FundingPoint{{startMS + 8*3_600_000, 75_000}})
		was := map[int64]exchange.OrderStatus{}
		for range rapid.IntRange(1, 60).Draw(r, "steps") {
			d.randomStep(r)
			d.checkInvariants(r, was)
		}
		data, err := d.Snapshot()
		if err != nil {
			r.Fatal(err)
		}
		restored, err := Restore(d.config, data)
		if err != nil {
			r.Fatal(err)
		}
		for _, b := range d.orderBooks {
			restored.SetMarket(b.symbol.Key(), Still(StillConfig{SpreadTicks: spread}))
			restored.find(b.symbol.Key()).updateID = b.updateID
			restored.find(b.symbol.Key()).funding = b.funding
		}
		for _, x := range []*Exchange{d.Exchange, restored} {
			x.Advance(x.NowMS() + 10)
			for _, b := range x.orderBooks {
				b.jump(b.last*9/10, b.last*9/10, false)
			}
		}
		one, _ := d.Snapshot()
		two, _ := restored.Snapshot()
		if !bytes.Equal(one, two) {
			r.Fatalf("want the restored exchange to go on alike\nwant %s\nhave %s", one, two)
		}
	})
}

func (d *desk) randomStep(r *rapid.T) {
	account := d.as(rapid.SampledFrom([]string{"alice", "bob"}).Draw(r, "account"))
	market := rapid.SampledFrom([]exchange.Market{exchange.Futures, exchange.Futures, exchange.Spot}).Draw(r, "market")
	account = account.on(market, rapid.SampledFrom([]string{"BTC-USDT", "PEPE-USDT"}).Draw(r, "symbol"))
	s := account.Symbol(account.key())
	last, _ := account.Price(account.key())
	near := func(label string, percent int) exchange.Price {
		return s.FloorPrice(last/1000*exchange.Price(1000+rapid.IntRange(-10*percent, 10*percent).Draw(r, label))) + s.PriceTick
	}
	switch rapid.IntRange(0, 9).Draw(r, "step") {
	case 0:
		_ = account.SetPrice(account.key(), near("price", 8), 0)
	case 1:
		_ = account.SlideTo(account.key(), near("price", 8))
	case 2:
		account.Advance(account.NowMS() + rapid.SampledFrom([]int64{1, 5, 60_000, 4 * 3_600_000}).Draw(r, "advance"))
	case 3:
		op := rapid.SampledFrom([]exchange.Operation{exchange.FuturesCancel, exchange.SpotCancel, exchange.FuturesCancelAll, exchange.SpotCancelAll,
			exchange.FuturesSetLeverage}).Draw(r, "operation")
		_, _ = account.Do(account.account, &exchange.Request{
			Operation: op, Symbol: account.name, OrderID: rapid.Int64Range(0, 60).Draw(r, "id"), Leverage: rapid.IntRange(0, 60).Draw(r, "leverage"),
		})
	default:
		order := exchange.NewOrder{
			Market: market, Symbol: account.name, Side: rapid.SampledFrom([]exchange.Side{exchange.Buy, exchange.Sell}).Draw(r, "side"),
			Type: exchange.OrderType(rapid.IntRange(1, 6).Draw(r, "type")),
		}
		value := exchange.AmountOf(rapid.SampledFrom([]int64{10, 100, 1_000, 4_000, 90_000}).Draw(r, "value"))
		if order.Quantity = s.QuantityFor(value, last); market == exchange.Spot && order.Type == exchange.MarketOrder {
			order.Quantity, order.QuoteAmount = 0, value
		}
		if order.Type.Priced() {
			order.Price = near("limit", 3)
			order.PostOnly = rapid.Bool().Draw(r, "post") && order.Type == exchange.Limit
		}
		if order.Type.Conditional() {
			order.StopPrice = near("stop", 3)
			order.WorkingType = exchange.WorkingType(rapid.IntRange(1, 2).Draw(r, "working"))
		}
		if p, ok := account.Position(account.account, account.name); ok && market == exchange.Futures {
			switch rapid.IntRange(0, 4).Draw(r, "reduce") {
			case 0:
				order.ReduceOnly, order.Quantity = true, p.Remaining
			case 1:
				order.ReduceOnly, order.Quantity = true, s.FloorQuantity(p.Remaining/2)
			case 2:
				order.ClosePosition, order.Quantity = !order.Type.Priced(), 0
			}
		}
		_, _ = account.try(order)
	}
}

// legal has the transitions of docs/exchange.md, futures life and spot life.
var legal = map[exchange.OrderStatus][]exchange.OrderStatus{
	exchange.StatusCreated: {exchange.StatusNew, exchange.StatusOpen, exchange.StatusFilled, exchange.StatusCanceled, exchange.StatusRejected},
	exchange.StatusNew:     {exchange.StatusOpen, exchange.StatusFilled, exchange.StatusCanceled},
	exchange.StatusOpen:    {exchange.StatusFilled, exchange.StatusCanceled},
}

func (d *desk) checkInvariants(r *rapid.T, was map[int64]exchange.OrderStatus) {
	fail := func(what string, values ...any) {
		r.Helper()
		r.Fatalf(what, values...)
	}
	for _, a := range d.accounts {
		m := a.money
		if sum := m.Deposits.Add(m.Realized).Sub(m.Funding).Sub(m.Fees).Add(m.Insurance); m.Wallet != sum {
			fail("%s: want wallet %s, have %s", a.config.Name, sum, m.Wallet)
		}
		if len(a.positions) == 0 && m.Wallet.Sign() < 0 {
			fail("%s: wallet %s below zero", a.config.Name, m.Wallet)
		}
		if len(a.positions) > 0 && m.Wallet.Add(a.unrealized()).Cmp(a.maintenance()) <= 0 {
			fail("%s: bankrupt and not liquidated", a.config.Name)
		}
		var profits, needs exchange.Amount
		for _, p := range a.positions {
			profits, needs = profits.Add(p.unrealizedAt(p.orderBook.mark)), needs.Add(p.maintenanceAt(p.orderBook.mark))
		}
		if a.unrealized() != profits || a.maintenance() != needs {
			fail("%s: want a profit of %s and a maintenance margin of %s, have %s and %s", a.config.Name, profits, needs, a.unrealized(), a.maintenance())
		}
		var orderMargin, positionMargin exchange.Amount
		reducing := map[*orderBook]exchange.Quantity{}
		closing := map[exchange.SymbolKey]map[exchange.OrderType]int{}
		sweeping := map[*orderBook]bool{}
		for o := a.futuresOrders.first; o != nil; o = o.after {
			orderMargin = orderMargin.Add(o.reserved)
			p := a.holdings[o.orderBook.index].position
			if !o.opens() && (p == nil || p.ID != o.ClosePositionID) {
				fail("reducing order %d outlives its position", o.ID)
			}
			if o.reduceOnly {
				reducing[o.orderBook] += o.Quantity - o.Filled
				sweeping[o.orderBook] = sweeping[o.orderBook] || o.Type == exchange.MarketOrder
			}
			if o.ClosePosition {
				if closing[o.Key()] == nil {
					closing[o.Key()] = map[exchange.OrderType]int{}
				}
				if closing[o.Key()][o.Type]++; closing[o.Key()][o.Type] > 1 {
					fail("two closePosition %s orders on %s", o.Type, o.Symbol)
				}
			}
		}
		for b, sum := range reducing {
			p := a.holdings[b.index].position
			// Where opposite orders net, the position may be smaller than what should be reduced.
			if sum != a.holdings[b.index].reducing || sum > p.Remaining && !sweeping[b] && !d.net {
				fail("%s: reduceOnly sum %d, counted %d, remaining %d", b.symbol.Key(), sum, a.holdings[b.index].reducing, p.Remaining)
			}
		}
		for _, p := range a.positions {
			positionMargin = positionMargin.Add(p.margin)
			if p.Remaining <= 0 || p.Cost.Sign() <= 0 {
				fail("empty open position %+v", p)
			}
		}
		if orderMargin != a.orderMargin || positionMargin != a.positionMargin {
			fail("%s: want margins %s and %s, have %s and %s", a.config.Name, orderMargin, positionMargin, a.orderMargin, a.positionMargin)
		}
		d.checkBalances(fail, a)
	}
	d.checkFills(fail)
	for o := range d.orders.each {
		before, known := was[o.ID]
		if known && before != o.Status {
			ok := false
			for _, next := range legal[before] {
				ok = ok || next == o.Status
			}
			if !ok {
				fail("order %d went from %s to %s", o.ID, before, o.Status)
			}
		}
		if o.Status == exchange.StatusFilled && !o.ClosePosition && o.QuoteAmount.IsZero() && o.Filled != o.Quantity {
			fail("order %d is FILLED with %d of %d", o.ID, o.Filled, o.Quantity)
		}
		if o.Status.Final() && (o.ladder != nil || !o.reserved.IsZero()) {
			fail("finished order %d still holds something", o.ID)
		}
		was[o.ID] = o.Status
	}
}

func (d *desk) checkBalances(fail func(string, ...any), a *account) {
	frozen := make([]exchange.Amount, len(d.assets))
	for o := a.spotList.first; o != nil; o = o.after {
		at := o.orderBook.base
		if o.Side == exchange.Buy {
			at = o.orderBook.quote
		}
		frozen[at] = frozen[at].Add(o.reserved)
	}
	for i, each := range a.balances {
		if each.free.Sign() < 0 || each.frozen != frozen[i] {
			fail("%s %s: free %s, frozen %s, orders hold %s", a.config.Name, d.assets[i], each.free, each.frozen, frozen[i])
		}
	}
}

// checkFills derives every position from the fills.
func (d *desk) checkFills(fail func(string, ...any)) {
	type key struct{ account, symbol string }
	net, fees := map[key]exchange.Quantity{}, map[string]exchange.Amount{}
	for _, fill := range d.fills.all {
		if fill.Market == exchange.Futures {
			net[key{fill.Account, fill.Symbol}] += exchange.Quantity(fill.Side.Sign()) * fill.Quantity
			fees[fill.Account] = fees[fill.Account].Add(fill.Fee)
		}
	}
	for _, a := range d.accounts {
		if a.money.Fees != fees[a.config.Name] {
			fail("%s: want fees %s, have %s", a.config.Name, fees[a.config.Name], a.money.Fees)
		}
		for _, b := range d.orderBooksOf(exchange.Futures) {
			have := exchange.Quantity(0)
			if p := a.holdings[b.index].position; p != nil {
				current := p.report()
				have = current.Signed()
			}
			if want := net[key{a.config.Name, b.symbol.Name}]; want != have {
				fail("%s %s: want a position of %d by fills, have %d", a.config.Name, b.symbol.Name, want, have)
			}
		}
	}
}
