package sim

import (
	"testing"

	"botd/exchange"
)

func TestAMarketOrderTakesTheQuoteOneTickAway(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{OrderDelayMS: 5})
	placed := d.place(d.order("buy", exchange.MarketOrder, "0.1", ""))
	if placed.Status != exchange.StatusCreated {
		t.Fatalf("want CREATED in the answer, have %s", placed.Status)
	}
	if _, err := d.Do("alice", &exchange.Request{Operation: exchange.FuturesOrder, OrderID: placed.ID}); err == nil {
		t.Fatal("want GET to hide the order before the delay, have it shown")
	}
	d.Advance(startMS + 5)
	d.wantStatus(placed.ID, exchange.StatusFilled)
	p := d.position()
	d.wantAmount("entryPrice", "50000.1", p.EntryPrice)
	// 0.1 x 50000.1 = 5000.01; the fee is 0.05 % of it.
	m := d.Money("alice")
	d.wantAmount("fees", "2.500005", m.Fees)
	d.wantAmount("wallet", "9997.499995", m.Wallet)
	d.wantAmount("unrealized", "-0.01", m.Unrealized)
	account := d.do(exchange.Request{Operation: exchange.FuturesAccount}).Account
	d.wantAmount("position margin", "500.001", account.PositionMargin)
	d.wantAmount("maintenance", "50", account.MaintenanceMargin) // 0.1 x 50000 x 1 %
	d.wantAmount("available", "9497.488995", account.AvailableBalance)
}

func TestClosingTakesItsShareOfTheCostAndCancelsTheRest(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	d.place(d.order("buy", exchange.MarketOrder, "0.3", ""))
	stop := d.place(d.order("sell", exchange.StopMarket, "", "", closePosition, d.stopAt("49000", exchange.MarkPrice)))
	limit := d.place(d.order("sell", exchange.Limit, "0.2", "51000", reduceOnly))
	d.place(d.order("sell", exchange.MarketOrder, "0.1", "", reduceOnly))
	p := d.position()
	if p.Remaining != d.q("0.2") || p.Quantity != d.q("0.3") {
		t.Fatalf("want 0.2 of 0.3 left, have %+v", p)
	}
	d.wantAmount("realizedPNL", "-0.02", p.RealizedPNL) // sold at 49999.9, bought at 50000.1
	d.wantAmount("entryPrice", "50000.1", p.EntryPrice)
	d.setLast("50100")
	d.place(d.order("sell", exchange.MarketOrder, "0.2", "", reduceOnly)) // rule 6: sweeps, exempt from the sum
	d.flat()
	d.wantStatus(stop.ID, exchange.StatusCanceled)
	d.wantStatus(limit.ID, exchange.StatusCanceled)
	history := d.do(exchange.Request{Operation: exchange.FuturesPositionsHistory}).Positions.Items()
	if len(history) != 1 || history[0].Status != exchange.PositionClosed {
		t.Fatalf("want one CLOSED position in the history, have %+v", history)
	}
	// exits 0.1 x 49999.9 + 0.2 x 50099.9 = 15019.97 over 0.3
	d.wantAmount("closePrice", "50066.566666666666666666", history[0].ClosePrice)
	d.wantAmount("realizedPNL", "19.94", history[0].RealizedPNL)
	d.checkMoney()
}

func TestPlacementRules(t *testing.T) {
	t.Parallel()
	limit, stopMarket, market := exchange.Limit, exchange.StopMarket, exchange.MarketOrder
	for _, c := range []struct {
		name string
		open string // side of a position of 0.1 BTC
		code int
		make func(*desk) exchange.NewOrder
	}{
		{"no side", "", CodeSide, func(d *desk) exchange.NewOrder {
			o := d.order("buy", limit, "0.1", "50000")
			o.Side = 0
			return o
		}},
		{"no type", "", CodeType, func(d *desk) exchange.NewOrder { return d.order("buy", 0, "0.1", "") }},
		{"unknown symbol", "", exchange.CodeFuturesInvalidSymbol, func(d *desk) exchange.NewOrder {
			o := d.order("buy", limit, "0.1", "50000")
			o.Symbol = "XXX-USDT"
			return o
		}},
		{"quantity zero", "", CodeQuantity, func(d *desk) exchange.NewOrder { return d.order("buy", limit, "0", "50000") }},
		{"quantity negative", "", CodeQuantity, func(d *desk) exchange.NewOrder { return d.order("buy", limit, "-0.1", "50000") }},
		{"price off its tick", "", CodePriceTick, func(d *desk) exchange.NewOrder { return d.order("buy", limit, "0.1", "50000.05") }},
		{"price negative", "", CodePriceTick, func(d *desk) exchange.NewOrder { return d.order("buy", limit, "0.1", "-50000") }},
		{"limit without price", "", CodePriceMissing, func(d *desk) exchange.NewOrder { return d.order("buy", limit, "0.1", "") }},
		{"market with price", "", CodePriceForbidden, func(d *desk) exchange.NewOrder { return d.order("buy", market, "0.1", "50000") }},
		{"stop without stopPrice", "", CodeStopPriceMissing, func(d *desk) exchange.NewOrder { return d.order("buy", stopMarket, "0.1", "") }},
		{"stop without workingType", "", CodeWorkingTypeMissing, func(d *desk) exchange.NewOrder {
			return d.order("buy", stopMarket, "0.1", "", d.stopAt("51000", exchange.NoWorkingType))
		}},
		{"limit with stopPrice", "", CodeStopPriceForbidden, func(d *desk) exchange.NewOrder {
			return d.order("buy", limit, "0.1", "50000", d.stopAt("51000", exchange.NoWorkingType))
		}},
		{"limit with workingType", "", CodeWorkingTypeForbidden, func(d *desk) exchange.NewOrder {
			return d.order("buy", limit, "0.1", "50000", func(o *exchange.NewOrder) { o.WorkingType = exchange.MarkPrice })
		}},
		{"stopPrice off its tick", "", CodeStopPriceTick, func(d *desk) exchange.NewOrder {
			return d.order("buy", stopMarket, "0.1", "", d.stopAt("51000.05", exchange.MarkPrice))
		}},
		{"stopPrice at the price", "", CodeStopPriceEqual, func(d *desk) exchange.NewOrder {
			return d.order("buy", stopMarket, "0.1", "", d.stopAt("50000", exchange.MarkPrice))
		}},
		{"value below minNotional", "", CodeMinNotional, func(d *desk) exchange.NewOrder { return d.order("buy", limit, "0.001", "4999.9") }},
		{"value above maxNotional", "", CodeMaxNotional, func(d *desk) exchange.NewOrder { return d.order("buy", limit, "20.001", "50000") }},
		{"absurd value", "", CodeMaxNotional, func(d *desk) exchange.NewOrder { return d.order("buy", limit, "9000000000000000", "9000000000") }},
		{"too little margin", "", CodeMargin, func(d *desk) exchange.NewOrder { return d.order("buy", limit, "2.001", "50000") }},
		{"postOnly stop", "", CodePostOnlyType, func(d *desk) exchange.NewOrder {
			return d.order("buy", stopMarket, "0.1", "", postOnly, d.stopAt("51000", exchange.MarkPrice))
		}},
		{"reduceOnly and closePosition", "buy", CodeReduceAndClose, func(d *desk) exchange.NewOrder {
			return d.order("sell", stopMarket, "", "", reduceOnly, closePosition, d.stopAt("49000", exchange.MarkPrice))
		}},
		{"reduceOnly without position", "", CodeNoPosition, func(d *desk) exchange.NewOrder { return d.order("sell", market, "0.1", "", reduceOnly) }},
		{"reduceOnly on the position's side", "buy", CodeReduceSide, func(d *desk) exchange.NewOrder { return d.order("buy", market, "0.1", "", reduceOnly) }},
		{"reduceOnly above remainingQty", "buy", CodeReduceQuantity, func(d *desk) exchange.NewOrder {
			return d.order("sell", market, "0.101", "", reduceOnly)
		}},
		{"opposite order", "buy", CodeOppositeOrder, func(d *desk) exchange.NewOrder { return d.order("sell", market, "0.1", "") }},
		{"closePosition limit", "buy", CodeCloseType, func(d *desk) exchange.NewOrder {
			return d.order("sell", exchange.StopLimit, "", "48000", closePosition, d.stopAt("49000", exchange.MarkPrice))
		}},
		{"closePosition with qt", "buy", CodeCloseQuantity, func(d *desk) exchange.NewOrder {
			return d.order("sell", stopMarket, "0.1", "", closePosition, d.stopAt("49000", exchange.MarkPrice))
		}},
		{"closePosition without position", "", CodeNoPosition, func(d *desk) exchange.NewOrder {
			return d.order("sell", stopMarket, "", "", closePosition, d.stopAt("49000", exchange.MarkPrice))
		}},
		{"stop of a long above the price", "buy", CodeCloseStopPrice, func(d *desk) exchange.NewOrder {
			return d.order("sell", stopMarket, "", "", closePosition, d.stopAt("50000.1", exchange.MarkPrice))
		}},
		{"stop of a long at the price", "buy", CodeCloseStopPrice, func(d *desk) exchange.NewOrder {
			return d.order("sell", stopMarket, "", "", closePosition, d.stopAt("50000", exchange.MarkPrice))
		}},
		{"take-profit of a long below the price", "buy", CodeCloseStopPrice, func(d *desk) exchange.NewOrder {
			return d.order("sell", exchange.TakeProfitMarket, "", "", closePosition, d.stopAt("49000", exchange.MarkPrice))
		}},
		{"stop of a short below the price", "sell", CodeCloseStopPrice, func(d *desk) exchange.NewOrder {
			return d.order("buy", stopMarket, "", "", closePosition, d.stopAt("49000", exchange.MarkPrice))
		}},
		{"take-profit of a short above the price", "sell", CodeCloseStopPrice, func(d *desk) exchange.NewOrder {
			return d.order("buy", exchange.TakeProfitMarket, "", "", closePosition, d.stopAt("51000", exchange.MarkPrice))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, Config{})
			if c.open != "" {
				d.place(d.order(c.open, market, "0.1", ""))
			}
			before := d.Money("alice")
			d.refused(c.code, c.make(d))
			if after := d.Money("alice"); after != before {
				t.Fatalf("want money untouched by a refusal %+v, have %+v", before, after)
			}
		})
	}
}

func TestConditionalOrdersAreClassifiedBySideAndPrice(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		side, stop string
		sent, want exchange.OrderType
	}{
		{"sell", "51000", exchange.StopMarket, exchange.TakeProfitMarket},
		{"sell", "49000", exchange.TakeProfitMarket, exchange.StopMarket},
		{"buy", "51000", exchange.TakeProfitMarket, exchange.StopMarket},
		{"buy", "49000", exchange.StopMarket, exchange.TakeProfitMarket},
		{"sell", "51000", exchange.StopLimit, exchange.TakeProfitLimit},
		{"buy", "51000", exchange.TakeProfitLimit, exchange.StopLimit},
	} {
		d := newDesk(t, Config{})
		price := ""
		if c.sent.Priced() {
			price = c.stop
		}
		placed := d.place(d.order(c.side, c.sent, "0.1", price, d.stopAt(c.stop, exchange.ContractPrice)))
		if placed.Type != c.want || placed.Status != exchange.StatusNew {
			t.Errorf("%s %s at %s: want %s NEW, have %s %s", c.side, c.sent, c.stop, c.want, placed.Type, placed.Status)
		}
	}
}

func TestTheReduceOnlySumCountsConditionalOrdersToo(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	d.place(d.order("buy", exchange.MarketOrder, "0.1", ""))
	d.place(d.order("sell", exchange.StopMarket, "0.06", "", reduceOnly, d.stopAt("49000", exchange.MarkPrice)))
	d.refused(CodeReduceSum, d.order("sell", exchange.Limit, "0.041", "51000", reduceOnly))
	limit := d.place(d.order("sell", exchange.Limit, "0.04", "51000", reduceOnly))
	d.refused(CodeReduceSum, d.order("sell", exchange.MarketOrder, "0.05", "", reduceOnly))
	d.do(exchange.Request{Operation: exchange.FuturesCancel, OrderID: limit.ID})
	d.place(d.order("sell", exchange.Limit, "0.04", "52000", reduceOnly))
	d.place(d.order("sell", exchange.StopMarket, "", "", closePosition, d.stopAt("48000", exchange.MarkPrice)))
	d.refused(CodeCloseDuplicate, d.order("sell", exchange.StopMarket, "", "", closePosition, d.stopAt("47000", exchange.MarkPrice)))
	d.place(d.order("sell", exchange.TakeProfitMarket, "", "", closePosition, d.stopAt("53000", exchange.MarkPrice)))
}

func TestALimitOrderRestsUntilTheQuotesReachIt(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	placed := d.place(d.order("buy", exchange.Limit, "0.1", "49000"))
	d.wantStatus(placed.ID, exchange.StatusOpen)
	account := d.do(exchange.Request{Operation: exchange.FuturesAccount}).Account
	d.wantAmount("order margin", "490", account.OrderMargin)
	d.setLast("49000") // the quotes are at 49000.1
	d.wantStatus(placed.ID, exchange.StatusOpen)
	d.setLast("48999.9")
	d.wantStatus(placed.ID, exchange.StatusFilled)
	d.wantAmount("entryPrice", "49000", d.position().EntryPrice)
	d.wantAmount("maker fee", "0.98", d.Money("alice").Fees)
	d.wantAmount("order margin", "0", d.do(exchange.Request{Operation: exchange.FuturesAccount}).Account.OrderMargin)
	if fill := d.Fills()[0]; !fill.Maker || fill.Price != d.p("49000") {
		t.Fatalf("want a maker fill at 49000, have %+v", fill)
	}
}

func TestPostOnlyThatWouldMatchIsRejected(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{OrderDelayMS: 5})
	crossing := d.place(d.order("buy", exchange.Limit, "0.1", "50000.1", postOnly))
	resting := d.place(d.order("buy", exchange.Limit, "0.1", "50000", postOnly))
	if crossing.Status != exchange.StatusCreated {
		t.Fatalf("want CREATED, have %s", crossing.Status)
	}
	d.Advance(startMS + 5)
	d.wantStatus(crossing.ID, exchange.StatusRejected)
	d.wantStatus(resting.ID, exchange.StatusOpen)
}

func TestAccountsMatchByPriceAndTimeWithoutSelfTrades(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	bob := d.as("bob")
	first := bob.place(d.order("sell", exchange.Limit, "0.1", "50000"))
	second := bob.place(d.order("sell", exchange.Limit, "0.1", "50000"))
	self := bob.place(d.order("buy", exchange.Limit, "0.1", "50000"))
	d.wantStatus(self.ID, exchange.StatusOpen)
	d.do(exchange.Request{Operation: exchange.FuturesTime})
	bob.do(exchange.Request{Operation: exchange.FuturesCancel, OrderID: self.ID})
	taker := d.place(d.order("buy", exchange.MarketOrder, "0.15", ""))
	d.wantStatus(taker.ID, exchange.StatusFilled)
	d.wantStatus(first.ID, exchange.StatusFilled)
	if have := d.state(second.ID); have.Filled != d.q("0.05") || have.Status != exchange.StatusOpen {
		t.Fatalf("want the second OPEN with 0.05 filled, have %+v", have)
	}
	depth := d.do(exchange.Request{Operation: exchange.FuturesDepth, Symbol: "BTC-USDT", Limit: 2}).Depth
	if depth.Asks[0] != (exchange.Level{Price: d.p("50000"), Quantity: d.q("0.05")}) || depth.Asks[1].Price != d.p("50000.1") {
		t.Fatalf("want 0.05 at 50000 before the quotes, have %+v", depth.Asks)
	}
	d.checkMoney()
}

func TestALiquidationClosesAtTheMarkPriceAndTheWalletStaysAboveZero(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	d.place(d.order("buy", exchange.MarketOrder, "1.9", ""))
	// wallet = 10000 - 1.9 x 50000.1 x 0.05 % = 9952.499905; cost = 95000.19
	// m = (95000.19 - 9952.499905) / (1.9 x 0.99) = 85047.690095 / 1.881
	want := exchange.MustAmount("45214.083").Float()
	if have := d.position().LiqPrice.Float(); have < want-0.01 || have > want+0.01 {
		t.Fatalf("want liqPrice about %v, have %v", want, have)
	}
	resting := d.place(d.order("buy", exchange.Limit, "0.001", "40000"))
	d.setLast("45214.1")
	d.position()
	d.setLast("45214")
	d.flat()
	d.wantStatus(resting.ID, exchange.StatusCanceled)
	history := d.do(exchange.Request{Operation: exchange.FuturesPositionsHistory}).Positions.Items()
	if len(history) != 1 || history[0].Status != exchange.PositionLiquidated || history[0].ClosePrice != exchange.AmountOf(45214) {
		t.Fatalf("want LIQUIDATED at 45214, have %+v", history)
	}
	m := d.Money("alice")
	d.wantAmount("liquidation fee", "42.9533", m.LiquidationFee) // 1.9 x 45214 x 0.05 %
	fills := d.Fills()
	if last := fills[len(fills)-1]; last.OrderID != 0 || last.Side != exchange.Sell {
		t.Fatalf("want a liquidation's fill to have no order, have %+v", last)
	}
	d.checkMoney()
}

func TestAGapBeyondBankruptcyLeavesAnEmptyWallet(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	d.place(d.order("sell", exchange.MarketOrder, "1.9", ""))
	d.setLast("70000")
	d.flat()
	m := d.Money("alice")
	d.wantAmount("wallet", "0", m.Wallet)
	// 1.9 x (70000 - 49999.9) less the wallet of 10000 - 1.9 x 49999.9 x 0.05 %
	d.wantAmount("the exchange bears the rest", "28047.689905", m.Insurance)
	d.wantAmount("nothing is left for a fee", "0", m.LiquidationFee)
	if wallet, insurance, liquidations := d.Settled("alice"); wallet != m.Wallet || insurance != m.Insurance || liquidations != 1 {
		t.Errorf("want the same without a sum, have %s, %s and %d", wallet, insurance, liquidations)
	}
	if wallet, insurance, liquidations := d.Settled("nobody"); !wallet.IsZero() || !insurance.IsZero() || liquidations != 0 {
		t.Errorf("want nothing of an unknown account, have %s, %s and %d", wallet, insurance, liquidations)
	}
	d.checkMoney()
}

func TestFundingIsPaidBeforeASimultaneousOrder(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{OrderDelayMS: 5})
	eight := int64(startMS + 8*3_600_000)
	d.SetFunding("BTC-USDT", []FundingPoint{{eight + 3, 10_000}}) // 0.01 %, recorded 3 ms late
	d.place(d.order("buy", exchange.MarketOrder, "0.1", ""))
	d.as("bob").place(d.order("sell", exchange.MarketOrder, "0.2", ""))
	d.Advance(eight - 5)
	d.setLast("60000")
	d.place(d.order("buy", exchange.MarketOrder, "0.05", ""))
	funding := d.do(exchange.Request{Operation: exchange.FuturesFundingRate, Symbol: "BTC-USDT"}).Funding
	if funding.Rate != 10_000 || funding.NextMS != eight || funding.TimeMS != startMS {
		t.Fatalf("want 0.0001 next at %d, have %+v", eight, funding)
	}
	d.Advance(eight)
	d.wantAmount("long pays", "0.6", d.Money("alice").Funding) // 0.1 x 60000 x 0.01 %
	d.wantAmount("short receives", "-1.2", d.Money("bob").Funding)
	d.Advance(eight + 24*3_600_000)
	d.wantAmount("a payment without a row is 0", "0.6", d.Money("alice").Funding)
	d.checkMoney()
}

func TestLeverageMovesMarginAndIsBounded(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	set := func(leverage int) error {
		_, err := d.Do("alice", &exchange.Request{Operation: exchange.FuturesSetLeverage, Symbol: "BTC-USDT", Leverage: leverage})
		return err
	}
	d.wantCode(CodeLeverage, set(51))
	d.wantCode(CodeLeverage, set(0))
	if err := set(50); err != nil {
		t.Fatal(err)
	}
	d.place(d.order("buy", exchange.MarketOrder, "4", ""))
	d.wantAmount("position margin", "4000.008", d.do(exchange.Request{Operation: exchange.FuturesAccount}).Account.PositionMargin)
	d.wantCode(CodeLeverageMargin, set(10))
	if have := d.Leverage("alice", "BTC-USDT"); have != 50 {
		t.Fatalf("want leverage 50 kept, have %d", have)
	}
}

func TestNettingReducesAndFlips(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{OppositeOrder: "net"})
	d.place(d.order("buy", exchange.MarketOrder, "0.1", ""))
	stop := d.place(d.order("sell", exchange.StopMarket, "", "", closePosition, d.stopAt("49000", exchange.MarkPrice)))
	d.place(d.order("sell", exchange.MarketOrder, "0.3", ""))
	p := d.position()
	if p.Side != exchange.Short || p.Remaining != d.q("0.2") {
		t.Fatalf("want SHORT 0.2, have %+v", p)
	}
	d.wantStatus(stop.ID, exchange.StatusCanceled)
	d.checkMoney()
}

func TestStopsTriggerOnTheirWorkingPrice(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{OrderDelayMS: 5})
	d.place(d.order("buy", exchange.MarketOrder, "0.1", ""))
	d.Advance(startMS + 5)
	byMark := d.place(d.order("sell", exchange.StopMarket, "0.04", "", reduceOnly, d.stopAt("49000", exchange.MarkPrice)))
	byLast := d.place(d.order("sell", exchange.StopMarket, "", "", closePosition, d.stopAt("48000", exchange.ContractPrice)))
	d.Advance(startMS + 10)
	if err := d.SetPrice(d.key(), d.p("48500"), d.p("49500")); err != nil {
		t.Fatal(err)
	}
	d.wantStatus(byMark.ID, exchange.StatusNew)
	if err := d.SetPrice(d.key(), d.p("48500"), d.p("49000")); err != nil {
		t.Fatal(err)
	}
	d.wantStatus(byMark.ID, exchange.StatusFilled)
	d.wantStatus(byLast.ID, exchange.StatusNew)
	d.setLast("48000")
	d.wantStatus(byLast.ID, exchange.StatusFilled)
	if have := d.state(byLast.ID); have.Filled != d.q("0.06") || have.Quantity != 0 {
		t.Fatalf("want 0.06 filled of a closePosition order without quantity, have %+v", have)
	}
	d.flat()
}

func TestAStopPassedBeforeItArrivesTriggersOnArrival(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{OrderDelayMS: 5})
	placed := d.place(d.order("buy", exchange.StopMarket, "0.1", "", d.stopAt("50100", exchange.ContractPrice)))
	d.setLast("50200")
	d.Advance(startMS + 5)
	d.wantStatus(placed.ID, exchange.StatusFilled)
	if have := d.state(placed.ID).Type; have != exchange.StopMarket {
		t.Fatalf("want the type it was answered with, have %s", have)
	}
}

func TestACancelIsPreCanceledUntilItTakesEffectAndCanLoseTheRace(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{OrderDelayMS: 5})
	first := d.place(d.order("buy", exchange.Limit, "0.1", "49000"))
	second := d.place(d.order("buy", exchange.Limit, "0.1", "48000"))
	early := d.do(exchange.Request{Operation: exchange.FuturesCancel, OrderID: second.ID}) // not shown yet, but accepted
	if early.Order.Status != exchange.StatusPreCanceled {
		t.Fatalf("want PRE_CANCELED, have %s", early.Order.Status)
	}
	d.Advance(startMS + 5)
	d.wantStatus(second.ID, exchange.StatusCanceled)
	d.do(exchange.Request{Operation: exchange.FuturesCancel, OrderID: first.ID})
	d.wantStatus(first.ID, exchange.StatusOpen)
	d.setLast("48500")
	d.Advance(startMS + 10)
	d.wantStatus(first.ID, exchange.StatusFilled)
	_, err := d.Do("alice", &exchange.Request{Operation: exchange.FuturesCancel, OrderID: first.ID})
	d.wantCode(CodeFinishedOrder, err)
	_, err = d.Do("bob", &exchange.Request{Operation: exchange.FuturesCancel, OrderID: first.ID})
	d.wantCode(CodeUnknownOrder, err)
}
