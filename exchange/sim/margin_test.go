package sim

import (
	"testing"

	"botd/exchange"
)

// near compares a price with the expected one to the fourth decimal place.
func (d *desk) near(what string, want float64, have exchange.Amount) {
	d.Helper()
	if off := have.Float() - want; off > 0.0001 || off < -0.0001 {
		d.Fatalf("%s: want %.4f, have %s", what, want, have)
	}
}

func TestTheSecondBracketCountsFromItsMinimum(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	d.do(exchange.Request{Operation: exchange.FuturesSetLeverage, Symbol: "BTC-USDT", Leverage: 50})
	d.place(d.order("buy", exchange.MarketOrder, "6", ""))
	// 300000 x 2.5 % - 3750 at the mark
	d.wantAmount("maintenance", "3750", d.do(exchange.Request{Operation: exchange.FuturesAccount}).Account.MaintenanceMargin)
	// (300000.6 - 9849.9997 - 3750) / 0.975 / 6
	d.near("liqPrice", 48957.36757265, d.position().LiqPrice)
	request := exchange.Request{Operation: exchange.FuturesSetLeverage, Symbol: "BTC-USDT", Leverage: 50}
	_, err := d.Do("alice", &request)
	d.wantCode(CodeLeverage, err) // the position's bracket allows 20
	bob := d.as("bob")
	bob.do(request)
	bob.place(d.order("sell", exchange.MarketOrder, "6", ""))
	bob.near("short's liqPrice", (299999.4+10000-149.9997+3750)/1.025/6, bob.position().LiqPrice)
}

func TestLiqPriceOfShortAndOfUnliquidatablePosition(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	d.place(d.order("sell", exchange.MarketOrder, "1", ""))
	// wallet 10000 - 24.99995 = 9975.00005... cost 49999.9: (49999.9 + 9975.00005) / 1.01
	d.near("short", (49999.9+9975.00005)/1.01, d.position().LiqPrice)
	eth := d.as("bob").on(exchange.Futures, "ETH-USDT")
	eth.place(eth.order("buy", exchange.MarketOrder, "1", ""))
	eth.wantAmount("long worth less than the wallet", "0", eth.position().LiqPrice)
}

func TestLiqPriceCountsTheOtherPositionsOfTheWallet(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	eth := d.on(exchange.Futures, "ETH-USDT")
	d.place(d.order("buy", exchange.MarketOrder, "0.9", ""))
	eth.place(eth.order("buy", exchange.MarketOrder, "16", ""))
	alone := d.position().LiqPrice
	eth.setLast("2400") // 16 x 100 less equity moves BTC's liqPrice up
	with := d.position().LiqPrice
	// 1600 of profit and 16 of maintenance (1 % of 1600), over 0.9 x 0.99
	d.near("the move", (1600-16)/(0.9*0.99), with.Sub(alone))
	at := d.Symbol(d.key()).PriceOf(with)
	if d.Quiet(d.key(), at, at, startMS) {
		t.Fatal("want the liquidation price not quiet, have quiet")
	}
	btc, _ := d.Instrument(d.key())
	if floor, _, _, apart := btc.Bounds(); floor != at || apart {
		t.Fatalf("want nothing above %d, on its own, have %d, %t", at, floor, apart)
	}
	if err := d.SetPrice(d.key(), at, 0); err != nil {
		t.Fatal(err)
	}
	d.flat()
	eth.flat()
	d.checkMoney()
}

func TestASlideLiquidatesWhereItPassesThePriceNotAtItsEnd(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	d.place(d.order("buy", exchange.MarketOrder, "1.9", ""))
	at := d.position().LiqPrice
	if err := d.SlideTo(d.key(), d.p("30000")); err != nil {
		t.Fatal(err)
	}
	d.flat()
	fills := d.Fills()
	d.near("liquidated at", at.Float(), d.Symbol(d.key()).PriceAmount(fills[len(fills)-1].Price))
	if m := d.Money("alice"); m.Wallet.Sign() <= 0 || !m.Insurance.IsZero() || m.Liquidations != 1 {
		t.Fatalf("want the rest of the margin kept, have %+v", m)
	}
	if last, _ := d.Price(d.key()); last != d.p("30000") {
		t.Fatalf("want the price to end at 30000, have %d", last)
	}
	d.checkMoney()
}

func TestConditionalOrdersHoldMarginAtTheirPrices(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	d.place(d.order("buy", exchange.StopMarket, "0.1", "", d.stopAt("51000", exchange.ContractPrice)))
	d.place(d.order("buy", exchange.StopLimit, "0.1", "52000", d.stopAt("51000", exchange.ContractPrice)))
	account := d.do(exchange.Request{Operation: exchange.FuturesAccount}).Account
	d.wantAmount("order margin", "1030", account.OrderMargin) // 510 at stopPrice, 520 at price
	d.do(exchange.Request{Operation: exchange.FuturesCancelAll})
	d.wantAmount("order margin", "0", d.do(exchange.Request{Operation: exchange.FuturesAccount}).Account.OrderMargin)
	if again := d.do(exchange.Request{Operation: exchange.FuturesCancelAll}).Orders.Items(); len(again) != 0 {
		t.Fatalf("want nothing more to cancel, have %+v", again)
	}
}
