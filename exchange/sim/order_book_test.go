package sim

import (
	"testing"

	"botd/exchange"
)

func TestAGapFillsRestingOrdersAtTheOpenOnlyWithoutASpread(t *testing.T) {
	t.Parallel()
	for spread, want := range []string{"49000", "49500"} {
		d := newDesk(t, Config{})
		d.SetMarket(d.key(), Tape(d.tapeOf([4]string{"50000", "50000", "50000", "50000"}, [4]string{"49000", "49000", "49000", "49000"}),
			TapeConfig{SpreadTicks: spread}))
		d.place(d.order("buy", exchange.Limit, "0.1", "49500"))
		d.Advance(startMS + 60_000)
		d.wantAmount("entryPrice", want, d.position().EntryPrice)
	}
}

func TestAnOrderThatMayNotExecuteAnyMoreIsCanceledWhenMet(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	bob := d.as("bob")
	sell := bob.place(d.order("sell", exchange.Limit, "0.1", "50000"))
	bob.place(d.order("buy", exchange.MarketOrder, "0.1", "")) // bob is long now: his sell is on the opposite side
	d.place(d.order("buy", exchange.MarketOrder, "0.1", ""))
	d.wantStatus(sell.ID, exchange.StatusCanceled)
	d.wantAmount("entryPrice at the quote", "50000.1", d.position().EntryPrice)
}

func TestAnAccountsOrderComesBeforeAQuoteAtTheSamePrice(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	sell := d.as("bob").place(d.order("sell", exchange.Limit, "0.1", "50000.1"))
	d.place(d.order("buy", exchange.MarketOrder, "0.1", ""))
	d.wantStatus(sell.ID, exchange.StatusFilled)
	d = newDesk(t, Config{})
	buy := d.as("bob").place(d.order("buy", exchange.Limit, "0.1", "49999.9"))
	d.place(d.order("sell", exchange.MarketOrder, "0.1", ""))
	d.wantStatus(buy.ID, exchange.StatusFilled)
}

func TestSimultaneousOrdersReachTheOrderBookInOrderOfAcceptance(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{OrderDelayMS: 5})
	var ids []int64
	for range 7 {
		ids = append(ids, d.as("bob").place(d.order("sell", exchange.Limit, "0.001", "50000")).ID)
	}
	d.Advance(startMS + 5)
	d.place(d.order("buy", exchange.MarketOrder, "0.003", ""))
	d.Advance(startMS + 10)
	for i, id := range ids {
		want := exchange.StatusOpen
		if i < 3 {
			want = exchange.StatusFilled
		}
		d.wantStatus(id, want)
	}
}

func TestAnOrderOnItsWayIsNotQuiet(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{OrderDelayMS: 5})
	d.place(d.order("buy", exchange.Limit, "0.1", "40000"))
	if d.Quiet(d.key(), d.p("49999"), d.p("50001"), startMS+5) {
		t.Fatal("want the moment of arrival not quiet, have quiet")
	}
	if !d.Quiet(d.key(), d.p("49999"), d.p("50001"), startMS+4) {
		t.Fatal("want the time before quiet, have it not")
	}
}

func TestAnotherSymbolsPriceMovesTheLiquidationBound(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	eth := d.on(exchange.Futures, "ETH-USDT")
	d.place(d.order("buy", exchange.MarketOrder, "0.9", ""))
	eth.place(eth.order("buy", exchange.MarketOrder, "16", ""))
	low := d.Symbol(d.key()).PriceOf(d.position().LiqPrice) + d.p("100")
	for name, move := range map[string]func(){
		"reported": func() { eth.setLast("2400") },
		"skipped":  func() { eth.SkipTo(startMS, eth.key(), eth.p("2300")) },
	} {
		eth.setLast("2500")
		btc, _ := d.Instrument(d.key())
		if floor, _, _, _ := btc.Bounds(); floor >= low {
			t.Fatalf("%s: want nothing at %d before ETH falls, have it at %d", name, low, floor)
		}
		move()
		if floor, _, _, _ := btc.Bounds(); floor < low {
			t.Fatalf("%s: want BTC's liquidation above %d when ETH fell, have it at %d", name, low, floor)
		}
		if d.Quiet(d.key(), low, d.p("50001"), startMS) {
			t.Fatalf("%s: want BTC's liquidation nearer when ETH fell, have quiet", name)
		}
	}
}

func TestPartialSpotFillReleasesExcessBalance(t *testing.T) {
	t.Parallel()
	d := spotDesk(t, Config{})
	d.SetMarket(d.key(), Still(StillConfig{SpreadTicks: 1_000})) // quotes 100 USDT away
	d.as("bob").place(d.order("sell", exchange.Limit, "0.04", "50000"))
	d.place(d.order("buy", exchange.Limit, "0.1", "50050"))
	d.wantBalance("USDT", "4997", "3003") // 10000 - 0.04 x 50000 - 0.06 x 50050 free
}

func TestASpotOrderCanceledBeforeItArrivesNeverFills(t *testing.T) {
	t.Parallel()
	d := spotDesk(t, Config{OrderDelayMS: 5})
	order := d.place(d.order("buy", exchange.MarketOrder, "1000", ""))
	cancel := exchange.Request{Operation: exchange.SpotCancel, Symbol: "BTC-USDT", OrderID: order.ID}
	d.do(cancel)
	_, err := d.Do("alice", &cancel)
	d.wantCode(CodeFinishedOrder, err)
	d.Advance(startMS + 5)
	d.wantStatus(order.ID, exchange.StatusCanceled)
	d.wantBalance("USDT", "10000", "0")
}

// TestAWithdrawalBringsTheLiquidationNearer withdraws money after the bounds were computed.
func TestAWithdrawalBringsTheLiquidationNearer(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	d.place(d.order("buy", exchange.MarketOrder, "0.9", ""))
	d.setLast("49900") // computes them
	btc, _ := d.Instrument(d.key())
	before, _, _, _ := btc.Bounds()
	if err := d.Transfer("alice", exchange.Futures, "USDT", exchange.MustAmount("-3000")); err != nil {
		t.Fatal(err)
	}
	if after, _, _, _ := btc.Bounds(); after <= before {
		t.Errorf("want the liquidation above %d, have it at %d", before, after)
	}
}
