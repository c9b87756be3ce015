package risk

import (
	"errors"
	"slices"
	"testing"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/reconcile"
	"botd/reconcile/placement"
)

// venueRow is one rule of the exchange: the gate's rule that judges it before sending, an intent that just
// complies and one that just violates it.
type venueRow struct {
	code   int
	rule   string // of the gate; if empty, why explains that the rule cannot be violated
	why    string
	before []reconcile.Intent // accepted and fetched before
	change func(*exchange.Symbol)
	wallet func(*sim.AccountConfig)
	keeps  reconcile.Intent
	breaks reconcile.Intent
}

var spotBitcoin = exchange.SymbolKey{Market: exchange.Spot, Name: "BTC-USDT"}

func intentOf(purpose placement.Purpose, key exchange.SymbolKey, order exchange.NewOrder) reconcile.Intent {
	order.Market, order.Symbol = key.Market, key.Name
	return reconcile.Intent{Strategy: "one", Purpose: purpose, Order: order}
}

func buy(quantity exchange.Quantity, change ...func(*exchange.NewOrder)) reconcile.Intent {
	return with(intentOf(placement.Entry, bitcoin, exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: quantity}), change...)
}

func limitBuy(price exchange.Price, quantity exchange.Quantity, change ...func(*exchange.NewOrder)) reconcile.Intent {
	return with(intentOf(placement.Order, bitcoin, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Price: price, Quantity: quantity}), change...)
}

func stopBuy(stop exchange.Price, change ...func(*exchange.NewOrder)) reconcile.Intent {
	return with(intentOf(placement.Order, bitcoin, exchange.NewOrder{Side: exchange.Buy, Type: exchange.StopLimit, Price: 50_100e8, StopPrice: stop,
		Quantity:    10,
		WorkingType: exchange.ContractPrice}), change...)
}

func sell(quantity exchange.Quantity, change ...func(*exchange.NewOrder)) reconcile.Intent {
	return with(intentOf(placement.Exit, bitcoin, exchange.NewOrder{Side: exchange.Sell, Type: exchange.MarketOrder, Quantity: quantity,
		ReduceOnly: true}), change...)
}

func restingSell(quantity exchange.Quantity) reconcile.Intent {
	return intentOf(placement.ExitOrder, bitcoin, exchange.NewOrder{Side: exchange.Sell, Type: exchange.Limit, Price: 51_000e8, Quantity: quantity,
		ReduceOnly: true})
}

func closing(kind exchange.OrderType, stop exchange.Price, change ...func(*exchange.NewOrder)) reconcile.Intent {
	return with(intentOf(placement.StopLoss, bitcoin, exchange.NewOrder{Side: exchange.Sell, Type: kind, StopPrice: stop, ClosePosition: true,
		WorkingType: exchange.ContractPrice}), change...)
}

func spotBuy(amount string) reconcile.Intent {
	return intentOf(placement.Entry, spotBitcoin, exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.MustAmount(amount)})
}

func setLeverageTo(leverage int) reconcile.Intent {
	i := intentOf(placement.Leverage, bitcoin, exchange.NewOrder{})
	i.Leverage = leverage
	return i
}

func with(intent reconcile.Intent, change ...func(*exchange.NewOrder)) reconcile.Intent {
	for _, f := range change {
		f(&intent.Order)
	}
	return intent
}

func working0(o *exchange.NewOrder) { o.WorkingType = exchange.NoWorkingType }

var long = []reconcile.Intent{buy(100)} // 0.1 BTC

func venueTable() []venueRow {
	return []venueRow{
		{code: exchange.CodeSpotInvalidSymbol, rule: "symbol", keeps: spotBuy("100"),
			breaks: with(spotBuy("100"), func(o *exchange.NewOrder) { o.Symbol = "NO-USDT" })},
		{code: exchange.CodeFuturesInvalidSymbol, rule: "symbol", keeps: buy(10), breaks: with(buy(10), func(o *exchange.NewOrder) { o.Symbol = "NO-USDT" })},
		{code: exchange.CodeNotPermitted, why: "of the key, not of an order: 403, reported as credentials"},
		{code: exchange.CodeUnknownKey, why: "of the key, not of an order: 401, reported as credentials"},
		{code: sim.CodeParameter, why: "of reads alone: placements have no parameter with bounds of its own"},
		{code: sim.CodeSide, rule: "shape", keeps: buy(10), breaks: buy(10, func(o *exchange.NewOrder) { o.Side = 0 })},
		{code: sim.CodeType, rule: "shape", change: func(s *exchange.Symbol) { s.OrderTypes = []exchange.OrderType{exchange.Limit} },
			keeps: limitBuy(49_000e8, 10), breaks: buy(10)},
		{code: sim.CodeNotTradable, rule: "symbol", change: func(s *exchange.Symbol) { s.Tradable = false }, breaks: buy(10)},
		{code: sim.CodeReduceOnlySymbol, rule: "symbol", change: func(s *exchange.Symbol) { s.ReduceOnly = true }, breaks: buy(10)},
		{code: sim.CodeQuantity, rule: "quantity_tick", keeps: buy(1), breaks: buy(0)},
		{code: sim.CodeQuantity, rule: "quantity_tick", keeps: spotBuy("5"), breaks: spotBuy("0")},
		{code: sim.CodeQuantity, rule: "shape", keeps: buy(10), breaks: buy(10, func(o *exchange.NewOrder) { o.QuoteAmount = exchange.AmountOf(100) })},
		{code: sim.CodeQuantityTick, rule: "quantity_tick", change: func(s *exchange.Symbol) { s.QuantityTick = 5 }, keeps: buy(10), breaks: buy(11)},
		{code: sim.CodePriceMissing, rule: "price", keeps: limitBuy(49_000e8, 10), breaks: limitBuy(0, 10)},
		{code: sim.CodePriceForbidden, rule: "price", keeps: buy(10), breaks: buy(10, func(o *exchange.NewOrder) { o.Price = 50_000e8 })},
		{code: sim.CodePriceTick, rule: "price_tick", keeps: limitBuy(49_000.1e8, 10), breaks: limitBuy(49_000.15e8, 10)},
		{code: sim.CodeStopPriceMissing, rule: "price", keeps: stopBuy(50_000.1e8), breaks: stopBuy(0)},
		{code: sim.CodeStopPriceForbidden, rule: "price", keeps: limitBuy(49_000e8, 10), breaks: limitBuy(49_000e8, 10,
			func(o *exchange.NewOrder) { o.StopPrice = 50_100e8 })},
		{code: sim.CodeStopPriceTick, rule: "price_tick", keeps: stopBuy(50_000.1e8), breaks: stopBuy(50_000.05e8)},
		{code: sim.CodeStopPriceEqual, rule: "stop_price", keeps: stopBuy(50_000.1e8), breaks: stopBuy(50_000e8)},
		{code: sim.CodeWorkingTypeMissing, rule: "shape", keeps: stopBuy(50_100e8), breaks: stopBuy(50_100e8, working0)},
		{code: sim.CodeWorkingTypeForbidden, rule: "shape", keeps: buy(10), breaks: buy(10,
			func(o *exchange.NewOrder) { o.WorkingType = exchange.MarkPrice })},
		{code: sim.CodeMinNotional, rule: "notional", change: func(s *exchange.Symbol) { s.MinNotional = exchange.AmountOf(100) }, keeps: buy(2),
			breaks: buy(1)},
		{code: sim.CodeMinNotional, rule: "notional", keeps: spotBuy("5"), breaks: spotBuy("4.99")},
		{code: sim.CodeMaxNotional, rule: "notional", change: func(s *exchange.Symbol) { s.MaxNotional = exchange.AmountOf(1_000) }, keeps: buy(20),
			breaks: buy(21)},
		{code: sim.CodePostOnlyType, rule: "shape", keeps: limitBuy(49_000e8, 10, postOnly), breaks: buy(10, postOnly)},
		{code: sim.CodeReduceAndClose, rule: "shape", before: long, keeps: closing(exchange.StopMarket, 49_000e8),
			breaks: closing(exchange.StopMarket, 49_000e8, func(o *exchange.NewOrder) { o.ReduceOnly = true })},
		{code: sim.CodeNoPosition, rule: "reduce_only", breaks: sell(10)},
		{code: sim.CodeReduceSide, rule: "reduce_only", before: long, keeps: sell(10), breaks: sell(10,
			func(o *exchange.NewOrder) { o.Side = exchange.Buy })},
		{code: sim.CodeReduceQuantity, rule: "reduce_only", before: long, keeps: sell(100), breaks: sell(101)},
		{code: sim.CodeReduceSum, rule: "reduce_only_sum", before: append(slices.Clone(long), restingSell(60)), keeps: sell(40), breaks: sell(41)},
		{code: sim.CodeCloseType, rule: "close_position", before: long, keeps: closing(exchange.StopMarket, 49_000e8),
			breaks: closing(exchange.StopLimit, 49_000e8, func(o *exchange.NewOrder) { o.Price = 49_000e8 })},
		{code: sim.CodeCloseQuantity, rule: "quantity_tick", before: long, keeps: closing(exchange.StopMarket, 49_000e8),
			breaks: closing(exchange.StopMarket, 49_000e8, func(o *exchange.NewOrder) { o.Quantity = 10 })},
		{code: sim.CodeCloseDuplicate, rule: "close_position", before: append(slices.Clone(long), closing(exchange.StopMarket, 48_000e8)),
			keeps: closing(exchange.TakeProfitMarket, 51_000e8), breaks: closing(exchange.StopMarket, 49_000e8)},
		{code: sim.CodeCloseStopPrice, rule: "close_position", before: long, keeps: closing(exchange.StopMarket, 49_999.9e8),
			breaks: closing(exchange.StopMarket, 50_000e8)},
		{code: sim.CodeCloseStopPrice, rule: "close_position", before: long, keeps: closing(exchange.TakeProfitMarket, 50_000.1e8),
			breaks: closing(exchange.TakeProfitMarket, 50_000e8)},
		{code: sim.CodeOppositeOrder, rule: "opposite", before: long, keeps: buy(10), breaks: with(buy(10),
			func(o *exchange.NewOrder) { o.Side = exchange.Sell })},
		{code: sim.CodeMargin, rule: "margin", wallet: func(c *sim.AccountConfig) { c.FuturesUSDT = exchange.AmountOf(50) }, keeps: buy(10), breaks: buy(11)},
		{code: sim.CodeBalance, rule: "balance", wallet: func(c *sim.AccountConfig) { c.Spot["USDT"], c.FeeFromQuote = exchange.MustAmount("100.1"), true },
			keeps: spotBuy("100"), breaks: spotBuy("100.01")},
		{code: sim.CodeBalance, why: "a sale is bounded where it is derived, no rule refuses it: reconcile TestSpotStopCoversExplainedHolding"},
		{code: sim.CodeUnknownOrder, why: "a cancel names an id that the exchange gave"},
		{code: sim.CodeFinishedOrder, why: "a race that only a fetch ends: GET decides filled or canceled (exactly-once.md, case 28)"},
		{code: sim.CodeNotCancelable, rule: "symbol", before: []reconcile.Intent{limitBuy(49_000e8, 10)},
			change: func(s *exchange.Symbol) { s.Cancelable = false },
			breaks: reconcile.Intent{Purpose: placement.Cancel, Order: exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT"}, OrderID: 1}},
		{code: sim.CodeLeverage, rule: "leverage", keeps: setLeverageTo(50), breaks: setLeverageTo(51)},
		{code: sim.CodeLeverage, rule: "leverage", keeps: setLeverageTo(1), breaks: setLeverageTo(0)},
		{code: sim.CodeLeverageMargin, rule: "leverage", before: long, wallet: func(c *sim.AccountConfig) { c.FuturesUSDT = exchange.AmountOf(1_100) },
			keeps: setLeverageTo(5), breaks: setLeverageTo(4)}, // 0.1 BTC cost 5000.01: margin 500 at 10, 1000 at 5, 1250 at 4
		{code: sim.CodeNoPrice, rule: "price",
			why: "every market of the simulated exchange has a price from its start; the gate's side is TestEveryRuleRefusesAndLetsPass"},
		{code: sim.CodeTooManyOrders, rule: "order_count", why: "TestOrdersAreCounted: " + "10000 open orders of an account and market"},
		{code: sim.CodeClientOrderID, why: "botd's ids have at most 32 characters: TestAnIDLongerThanTheExchangeAcceptsIsNeverMade"},
	}
}

func postOnly(o *exchange.NewOrder) { o.PostOnly = true }

// TestEveryRuleOfTheExchangeIsJudgedBeforeSending walks the exchange's own table of refusals. Each one has a
// row. The gate and the exchange both refuse the violating intent, and both accept the compliant one.
func TestEveryRuleOfTheExchangeIsJudgedBeforeSending(t *testing.T) {
	t.Parallel()
	table := venueTable()
	for _, rule := range sim.Rules() {
		rows := slices.DeleteFunc(slices.Clone(table), func(row venueRow) bool { return row.code != rule.Code })
		if len(rows) == 0 {
			t.Errorf("%s (%s): want a row in the table of rules, have none", rule.Name, rule.Sentence)
		}
		for _, row := range rows {
			if row.why != "" {
				continue
			}
			t.Run(rule.Name, func(t *testing.T) {
				t.Parallel()
				row.check(t)
			})
		}
	}
	for _, r := range always {
		if !slices.ContainsFunc(table, func(row venueRow) bool { return row.rule == r.name }) && r.name != "price_collar" {
			t.Errorf("rule %s of the gate: want a rule of the exchange that it judges, have none", r.name)
		}
	}
}

func (row *venueRow) check(t *testing.T) {
	symbols := sim.DefaultSymbols()
	for i, symbol := range symbols {
		if symbol.Name == "BTC-USDT" && symbol.Market == exchange.Futures && row.change != nil {
			changed := *symbol
			row.change(&changed)
			symbols[i] = &changed
		}
	}
	s := newScene(symbols, Limits{})
	s.wallet.Spot = map[string]exchange.Amount{"USDT": exchange.AmountOf(10_000), "BTC": exchange.AmountOf(1)}
	if row.wallet != nil {
		row.wallet(&s.wallet)
	}
	x := s.newWorld()
	for i, intent := range row.before {
		intent.Order.ClientOrderID = "btest-1-" + string(rune('a'+i))
		request := requestOf(&intent)
		if _, err := x.Do(me, &request); err != nil {
			t.Fatalf("before: %v", err)
		}
		s.opened = append(s.opened, request)
		s.journal(intent)
	}
	s.fetch(x)
	if row.keeps.Purpose != 0 {
		_, rejection := s.gate.Check(&row.keeps, s.facts(&row.keeps))
		request := requestOf(&row.keeps)
		if _, err := s.newWorld().Do(me, &request); err != nil || rejection != nil {
			t.Errorf("what keeps the rule: want both to take it, have the gate %v, the exchange %v", rejection, err)
		}
	}
	_, rejection := s.gate.Check(&row.breaks, s.facts(&row.breaks))
	request := requestOf(&row.breaks)
	_, err := s.newWorld().Do(me, &request)
	var refused *exchange.Refusal
	if !errors.As(err, &refused) || refused.Code != row.code {
		t.Errorf("what breaks the rule, on the exchange: want code %d, have %v", row.code, err)
	}
	if rejection == nil || rejection.Rule != row.rule {
		t.Errorf("what breaks the rule, at the gate: want %s, have %v", row.rule, rejection)
	}
}

func requestOf(intent *reconcile.Intent) exchange.Request {
	request := exchange.Request{Operation: exchange.FuturesPlace, Symbol: intent.Order.Symbol, Order: intent.Order, Leverage: intent.Leverage,
		OrderID: intent.OrderID}
	switch {
	case intent.Purpose == placement.Leverage:
		request.Operation = exchange.FuturesSetLeverage
	case intent.Purpose == placement.Cancel:
		request.Operation = exchange.FuturesCancel
	case intent.Order.Market == exchange.Spot:
		request.Operation = exchange.SpotPlace
	}
	return request
}

func TestOrdersAreCounted(t *testing.T) {
	t.Parallel()
	b := newTable(t, Limits{})
	b.hold(100)
	stops := make([]exchange.Order, maxMarketOrders-reservedForExits-1)
	for i := range stops {
		stops[i].ClosePositionID, stops[i].ClosePosition = 1, true // foreign stops open nothing, so they do not block an opening
	}
	see(b.state, func(o *seen) { o.Foreign = stops })
	if rejection := b.check(entry(10)); rejection != nil {
		t.Errorf("the last opening: want it to pass, have %v", rejection)
	}
	see(b.state, func(o *seen) { o.Foreign = append(o.Foreign, o.Foreign[0]) })
	if rejection := b.check(entry(10)); rejection == nil || rejection.Rule != "order_count" {
		t.Errorf("one opening more: want order_count, have %v", rejection)
	}
	if rejection := b.check(exit(10, exchange.Sell)); rejection != nil {
		t.Errorf("an exit has room: want it to pass, have %v", rejection)
	}
}
