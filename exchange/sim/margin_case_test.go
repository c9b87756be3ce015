package sim

import (
	"testing"

	"botd/exchange"
)

// The margin account after a fill of 1 BTC, computed manually: wallet 10000 less 0.05 % of the value, position margin a tenth of the cost,
// order margin a tenth of 0.1 x 49000, maintenance 1 % of the value at the mark, which is 500 above 50000.
func TestMarginAccountAfterFill(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		side, quantity, limit, mark string
		want                        [7]string // wallet, unrealized, position margin, order margin, used, available, maintenance
		liqPrice                    string    // cost and rest of the wallet over quantity and ratio
	}{
		{"buy", "1", "49000", "50500", [7]string{"9974.99995", "499.9", "5000.01", "490", "5490.01", "4984.88995", "505"}, "40429.39398"},
		{"sell", "1", "51000", "50500", [7]string{"9975.00005", "-500.1", "4999.99", "510", "5509.99", "3964.91005", "505"}, "59381.08915"},
		// 6 BTC are 303000 at the mark, of which 2.5 % less 3750 are maintained, and the leverage is 50 (6000.012 = 300000.6 / 50).
		{"buy", "6", "", "50500", [7]string{"9849.9997", "2999.4", "6000.012", "0", "6000.012", "6849.3877", "3825"}, "48957.36757"},
	} {
		d := newDesk(t, Config{})
		if c.quantity == "6" {
			d.do(exchange.Request{Operation: exchange.FuturesSetLeverage, Symbol: "BTC-USDT", Leverage: 50})
		}
		d.place(d.order(c.side, exchange.MarketOrder, c.quantity, ""))
		if c.limit != "" {
			d.place(d.order(c.side, exchange.Limit, "0.1", c.limit))
		}
		d.setLast(c.mark)
		amount := exchange.MustAmount
		want := exchange.MarginAccount{Status: "NORMAL", WalletBalance: amount(c.want[0]), UnrealizedPNL: amount(c.want[1]),
			PositionMargin: amount(c.want[2]), OrderMargin: amount(c.want[3]), MarginUsed: amount(c.want[4]), AvailableBalance: amount(c.want[5]),
			MaintenanceMargin: amount(c.want[6]), IsDemo: true}
		if have := d.do(exchange.Request{Operation: exchange.FuturesAccount}).Account; have != want {
			t.Errorf("%s %s: want\n%+v\nhave\n%+v", c.side, c.quantity, want, have)
		}
		d.near("liqPrice", amount(c.liqPrice).Float(), d.position().LiqPrice)
		equity, available := d.Margin("alice")
		d.wantAmount("equity", c.want[0], equity.Sub(want.UnrealizedPNL))
		d.wantAmount("available", c.want[5], available)
	}
}

// 1.9 BTC bought for 95000.19 are liquidated at 45200, worth 85880: of the wallet of 9952.499905 after the fee, 832.309905 are left, of
// which the liquidation's fee takes what there is.
func TestLiquidationFee(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rate               exchange.Rate
		fee, wallet, total string
	}{
		{0, "42.94", "789.369905", "90.440095"}, // the taker's 0.05 %
		{500_000, "429.4", "402.909905", "476.900095"},
		{960_000, "824.448", "7.861905", "871.948095"},
		{1_000_000, "832.309905", "0", "879.81"}, // 858.8 are not there
		{-1, "0", "832.309905", "47.500095"},
	} {
		d := newDesk(t, Config{LiquidationFee: c.rate})
		d.place(d.order("buy", exchange.MarketOrder, "1.9", ""))
		d.place(d.order("buy", exchange.Limit, "0.001", "40000"))
		d.setLast("45300")
		d.position() // its price is 45214.08
		d.setLast("45200")
		d.flat()
		m := d.Money("alice")
		d.wantAmount("liquidation fee", c.fee, m.LiquidationFee)
		d.wantAmount("fees", c.total, m.Fees)
		d.wantAmount("wallet", c.wallet, m.Wallet)
		d.wantAmount("realized", "-9120.19", m.Realized)
		fills := d.Fills()
		last := fills[len(fills)-1]
		want := Fill{ID: 2, Account: "alice", Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell, Price: d.p("45200"), Quantity: d.q("1.9"),
			Fee: exchange.MustAmount(c.fee), FeeAsset: "USDT", TimeMS: startMS}
		if last != want || m.Liquidations != 1 || d.OpenOrders("alice", exchange.Futures) != 0 {
			t.Errorf("%d: want %+v, have %+v and %+v", c.rate, want, last, m)
		}
		d.checkMoney()
		trades := d.do(exchange.Request{Operation: exchange.FuturesTrades, Symbol: d.name, Limit: 5}).Trades.Items()
		if n := len(trades); n != 2 || trades[1].Price != last.Price || trades[1].Quantity != last.Quantity || !trades[1].BuyerIsMaker {
			t.Errorf("want the liquidation among the public trades, have %+v", trades)
		}
	}
}

// A spot order is canceled under its own symbol alone.
func TestASpotOrderOfAnotherSymbolIsUnknown(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{}).on(exchange.Spot, "BTC-USDT")
	order := d.place(d.order("buy", exchange.Limit, "0.001", "40000"))
	_, err := d.Do("alice", &exchange.Request{Operation: exchange.SpotCancel, Symbol: "ETH-USDT", OrderID: order.ID})
	d.wantCode(CodeUnknownOrder, err)
	d.wantStatus(order.ID, exchange.StatusNew)
}

// Nothing bounds a symbol's price once its position is closed and no order waits.
func TestBoundsFollowThePosition(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	seat, _ := d.Instrument(d.key())
	want := func(when string, floor, ceiling bool) {
		t.Helper()
		if low, high, _, apart := seat.Bounds(); low > 0 != floor || high < maxPrice != ceiling || !apart {
			t.Errorf("%s: have %d to %d, apart %t", when, low, high, apart)
		}
	}
	want("without a position", false, false)
	d.place(d.order("buy", exchange.MarketOrder, "1.9", ""))
	want("a long", true, false)
	d.place(d.order("sell", exchange.MarketOrder, "1.9", "", reduceOnly))
	want("closed", false, false)
	d.place(d.order("sell", exchange.MarketOrder, "1", ""))
	want("a short", false, true)
	d.place(d.order("buy", exchange.MarketOrder, "1", "", reduceOnly))
	want("closed again", false, false)
}

// Within the corridor of coupled positions nothing happens, at its bounds it may.
func TestACorridorExcludesItsBounds(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	eth := d.on(exchange.Futures, "ETH-USDT")
	d.place(d.order("buy", exchange.MarketOrder, "0.9", ""))
	eth.place(eth.order("sell", exchange.MarketOrder, "16", ""))
	d.Quiet(d.key(), d.p("50000"), d.p("50000"), startMS)
	b := d.find(d.key())
	low, high, last := b.safeLow, b.safeHigh, d.p("50000")
	if low <= 0 || low >= last || high != 2*last-low {
		t.Fatalf("want a corridor around %d, have %d to %d", last, low, high)
	}
	// Equity less maintenance over value is about 0.1: 9917 and 850 of 85000. The corridor is between half of that and that.
	if share := float64(last-low) / float64(last); share < 0.05 || share > (9917.4-850)/85_000 {
		t.Errorf("want a share of nearly a tenth, have %.4f", share)
	}
	for _, c := range []struct {
		low, high exchange.Price
		quiet     bool
	}{{low + 1, high - 1, true}, {low, high - 1, false}, {low + 1, high, false}, {low - 1, high - 1, false}, {low + 1, high + 1, false}} {
		if have := d.Quiet(d.key(), c.low, c.high, startMS); have != c.quiet {
			t.Errorf("%d to %d within %d to %d: want quiet %t", c.low, c.high, low, high, c.quiet)
		}
	}
	fundingMS := int64(startMS) + 8*int64(exchange.Hour1)
	if !d.Quiet(d.key(), last, last, fundingMS-1) || d.Quiet(d.key(), last, last, fundingMS) {
		t.Error("want quiet before the payment of funding, not at it")
	}
}

// A billion PEPE are worth 1e15 USDT, the bound, at a million.
func TestAPriceMakesNoPositionWorthMoreThanTheBound(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{}).on(exchange.Futures, "PEPE-USDT")
	d.place(d.order("buy", exchange.MarketOrder, "1000000000", ""))
	tick := d.Symbol(d.key()).PriceTick
	if err := d.SetPrice(d.key(), d.p("1000000")+10*tick, 0); err == nil {
		t.Error("above the bound: want it refused")
	}
	if last, _ := d.Price(d.key()); last != d.p("0.00001") {
		t.Errorf("want the price as it was, have %d", last)
	}
	if err := d.SetPrice(d.key(), d.p("1000000"), 0); err != nil {
		t.Errorf("at the bound: have %v", err)
	}
}

// A price of one unit is a price: quotes that come closer meet the orders at it, and a market that was skipped stays still.
func TestAStillMarketAtTheLowestPrice(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{}).on(exchange.Futures, "PEPE-USDT")
	if err := d.SetPrice(d.key(), d.Symbol(d.key()).PriceTick, 0); err != nil {
		t.Fatal(err)
	}
	order := d.place(d.order("buy", exchange.Limit, "1000000000", "0.00000001"))
	d.wantStatus(order.ID, exchange.StatusOpen)
	d.SetMarket(d.key(), Still(StillConfig{}))
	d.wantStatus(order.ID, exchange.StatusFilled)
	d.SkipTo(startMS+1_000, d.key(), 7)
	d.Advance(startMS + 2_000)
	if last, _ := d.Price(d.key()); last != 7 || d.NowMS() != startMS+2_000 {
		t.Errorf("want the price skipped to, have %d at %d", last, d.NowMS()-startMS)
	}
}
