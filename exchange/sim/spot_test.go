package sim

import (
	"testing"

	"botd/exchange"
)

func spotDesk(t *testing.T, config Config) *desk {
	return newDesk(t, config).on(exchange.Spot, "BTC-USDT")
}

func (d *desk) wantBalance(asset, free, frozen string) {
	d.Helper()
	haveFree, haveFrozen := d.Balance(d.account, asset)
	d.wantAmount(asset+" free", free, haveFree)
	d.wantAmount(asset+" frozen", frozen, haveFrozen)
}

func TestASpotMarketBuySpendsAnAmountAndPaysItsFeeInBase(t *testing.T) {
	t.Parallel()
	d := spotDesk(t, Config{})
	placed := d.place(d.order("buy", exchange.MarketOrder, "1000", ""))
	if placed.Status != exchange.StatusCreated {
		t.Fatalf("want CREATED in the answer, have %s", placed.Status)
	}
	// 1000 / 50000.1 = 0.01999996 -> 0.01999; costs 999.501999
	d.wantStatus(placed.ID, exchange.StatusFilled)
	have := d.state(placed.ID)
	if have.Filled != d.q("0.01999") {
		t.Fatalf("want 0.01999 filled, have %+v", have)
	}
	d.wantAmount("avgPrice", "50000.1", have.AveragePrice)
	d.wantBalance("USDT", "9000.498001", "0")
	d.wantBalance("BTC", "1.01997001", "0") // 1 + 0.01999 x 0.999
	fill := d.do(exchange.Request{Operation: exchange.SpotUserTrades}).Fills.Items()[0]
	if fill.FeeAsset != "BTC" || fill.Fee != exchange.MustAmount("0.00001999") || fill.Maker {
		t.Fatalf("want a taker fee of 0.00001999 BTC, have %+v", fill)
	}
}

func TestASpotMarketSellReceivesAnAmount(t *testing.T) {
	t.Parallel()
	d := spotDesk(t, Config{})
	d.place(d.order("sell", exchange.MarketOrder, "1000", ""))
	// 1000 / 49999.9 = 0.02000004 -> 0.02; brings 999.998 less 0.1 %
	d.wantBalance("BTC", "0.98", "0")
	d.wantBalance("USDT", "10998.998002", "0")
}

func TestSpotFeesFromUSDT(t *testing.T) {
	t.Parallel()
	d := spotDesk(t, Config{})
	config := DefaultAccount("carol")
	config.FeeFromQuote = true
	if err := d.AddAccount(config); err != nil {
		t.Fatal(err)
	}
	d = d.as("carol")
	d.place(d.order("buy", exchange.Limit, "0.1", "50100"))
	d.wantBalance("BTC", "1.1", "0")
	d.wantBalance("USDT", "4994.98999", "0") // 10000 - 5000.01 - 5.00001
}

func TestSpotLimitFreezesAndReleasesBalance(t *testing.T) {
	t.Parallel()
	d := spotDesk(t, Config{OrderDelayMS: 5})
	buy := d.place(d.order("buy", exchange.Limit, "0.1", "49000"))
	sell := d.place(d.order("sell", exchange.Limit, "0.5", "51000"))
	d.wantBalance("USDT", "5100", "4900")
	d.wantBalance("BTC", "0.5", "0.5")
	d.refused(CodeBalance, d.order("sell", exchange.Limit, "0.50001", "51000"))
	d.refused(CodeBalance, d.order("buy", exchange.MarketOrder, "5100.01", ""))
	d.Advance(startMS + 5)
	d.wantStatus(buy.ID, exchange.StatusNew)
	answer := d.do(exchange.Request{Operation: exchange.SpotCancel, Symbol: "BTC-USDT", OrderID: buy.ID})
	if answer.Order.Status != exchange.StatusCanceled {
		t.Fatalf("want CANCELED at once, have %s", answer.Order.Status)
	}
	d.wantBalance("USDT", "5100", "4900")
	open := d.do(exchange.Request{Operation: exchange.SpotOpenOrders, Symbol: "BTC-USDT"}).Orders.Items()
	if len(open) != 2 || open[0].Status != exchange.StatusNew {
		t.Fatalf("want the list to follow after the delay, have %+v", open)
	}
	d.setLast("48000") // no fill follows an answered cancel
	d.Advance(startMS + 10)
	d.wantStatus(buy.ID, exchange.StatusCanceled)
	d.wantBalance("USDT", "10000", "0")
	d.setLast("52000")
	d.wantStatus(sell.ID, exchange.StatusFilled)
	d.wantBalance("BTC", "0.5", "0")
	d.wantBalance("USDT", "35474.5", "0") // 10000 + 25500 x 0.999
}

func TestSpotConditionalOrdersTriggerOnTheLastPrice(t *testing.T) {
	t.Parallel()
	d := spotDesk(t, Config{})
	stop := d.place(d.order("sell", exchange.StopLimit, "0.5", "48900", d.stopAt("49000", exchange.NoWorkingType)))
	d.wantStatus(stop.ID, exchange.StatusNew)
	d.wantBalance("BTC", "0.5", "0.5")
	d.setLast("48800")
	d.wantStatus(stop.ID, exchange.StatusNew) // triggered, and above the best bid: it rests
	if orderBook := d.do(exchange.Request{Operation: exchange.SpotDepth, Symbol: "BTC-USDT"}).Depth; len(orderBook.Asks) != 100 {
		t.Fatalf("want 100 levels, have %d", len(orderBook.Asks))
	}
	d.setLast("48900.1")
	d.wantStatus(stop.ID, exchange.StatusFilled)
}

func TestSpotRefusals(t *testing.T) {
	t.Parallel()
	d := spotDesk(t, Config{})
	unknown := d.order("buy", exchange.Limit, "0.1", "50000")
	unknown.Symbol = "XXX-USDT"
	d.refused(exchange.CodeSpotInvalidSymbol, unknown)
	d.refused(CodeMinNotional, d.order("buy", exchange.MarketOrder, "4.99", ""))
	d.refused(CodeQuantity, d.order("buy", exchange.MarketOrder, "-5", ""))
	base := d.order("buy", exchange.MarketOrder, "", "")
	base.Quantity = d.q("0.1")
	d.refused(CodeQuantity, base)
	_, err := d.Do("alice", &exchange.Request{Operation: exchange.SpotDepth, Symbol: "BTC-USDT", Limit: 7})
	d.wantCode(CodeParameter, err)
	if levels := d.do(exchange.Request{Operation: exchange.SpotDepth, Symbol: "BTC-USDT", Limit: 500}).Depth.Bids; len(levels) != 100 {
		t.Fatalf("want a limit above 100 clamped to 100, have %d", len(levels))
	}
	_, err = d.Do("alice", &exchange.Request{Operation: exchange.SpotCandles, Symbol: "BTC-USDT", Interval: exchange.Minute30, StartMS: 1, EndMS: 2})
	d.wantCode(CodeParameter, err)
}

func TestSpotHistoryIsNewestFirstAndFiltered(t *testing.T) {
	t.Parallel()
	d := spotDesk(t, Config{})
	var ids []int64
	for _, side := range []string{"buy", "sell", "buy"} {
		ids = append(ids, d.place(d.order(side, exchange.MarketOrder, "100", "")).ID)
		d.Advance(d.NowMS() + 1000)
	}
	all := d.do(exchange.Request{Operation: exchange.SpotOrderHistory}).Orders.Items()
	if len(all) != 3 || all[0].ID != ids[2] || all[2].ID != ids[0] {
		t.Fatalf("want newest first %v, have %+v", ids, all)
	}
	buys := d.do(exchange.Request{Operation: exchange.SpotOrderHistory, Side: exchange.Buy, Offset: 1}).Orders.Items()
	if len(buys) != 1 || buys[0].ID != ids[0] {
		t.Fatalf("want the first buy alone, have %+v", buys)
	}
	trades := d.do(exchange.Request{Operation: exchange.SpotUserTrades, OrderID: ids[1]}).Fills.Items()
	if len(trades) != 1 || trades[0].OrderID != ids[1] {
		t.Fatalf("want one trade of order %d, have %+v", ids[1], trades)
	}
}
