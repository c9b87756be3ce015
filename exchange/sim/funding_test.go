package sim

import (
	"testing"

	"botd/exchange"
)

// A rate recorded up to a minute before or after a full hour belongs to that hour, in whatever order the rows
// come.
func TestARateIsOfTheFullHourThatItIsRecordedNear(t *testing.T) {
	t.Parallel()
	const hour = int64(exchange.Hour1)
	d := newDesk(t, Config{StartMS: startMS + 5*hour + 1})
	d.SetFunding(d.name, []FundingPoint{
		{startMS + 32*hour + 60_001, 5}, {startMS + 24*hour - 60_000, 3}, {startMS + 16*hour + 60_000, 2}, {startMS + 8*hour, 1},
		{startMS + 40*hour - 60_001, 6}, {startMS + 48*hour + 1, 7},
	})
	for i, want := range []exchange.Rate{1, 2, 3, 0, 0, 7, 0} {
		have := d.do(exchange.Request{Operation: exchange.FuturesFundingRate, Symbol: d.name}).Funding
		next := startMS + int64(i+1)*8*hour
		if have.Rate != want || have.NextMS != next || have.TimeMS != next-8*hour {
			t.Errorf("payment %d: want %d at %d, have %+v", i+1, want, next, have)
		}
		d.Advance(next - 1)
		if again := d.do(exchange.Request{Operation: exchange.FuturesFundingRate, Symbol: d.name}).Funding; again != have {
			t.Errorf("a millisecond before: want %+v, have %+v", have, again)
		}
		d.Advance(next)
	}
}

// Funding is paid at the mark price, and summed up per symbol.
func TestFundingIsPaidByOpenPositions(t *testing.T) {
	t.Parallel()
	const hours = 8 * int64(exchange.Hour1)
	d := newDesk(t, Config{})
	eth, bob := d.on(exchange.Futures, "ETH-USDT"), d.as("bob")
	d.SetFunding("BTC-USDT", []FundingPoint{{startMS + hours, 10_000}, {startMS + 2*hours, -20_000}, {startMS + 3*hours, 50_000}}) // 0.01 %, -0.02 %, 0.05 %
	d.SetFunding("ETH-USDT", []FundingPoint{{startMS + hours, 100_000}})                                                           // 0.1 %
	d.place(d.order("buy", exchange.MarketOrder, "0.1", ""))
	eth.place(eth.order("sell", exchange.MarketOrder, "1", ""))
	if err := d.SetPrice(d.key(), d.p("52000"), d.p("51000")); err != nil {
		t.Fatal(err)
	}
	d.Advance(startMS + hours - 1)
	d.wantAmount("nothing before its time", "0", d.Money("alice").Funding)
	d.Advance(startMS + hours)
	d.wantAmount("a long pays at the mark", "0.51", d.FundingPaid("alice", "BTC-USDT"))
	d.wantAmount("a short receives", "-2.5", d.FundingPaid("alice", "ETH-USDT"))
	d.wantAmount("together", "-1.99", d.Money("alice").Funding)
	d.wantAmount("who holds nothing pays nothing", "0", d.Money("bob").Funding)
	bob.place(bob.order("sell", exchange.MarketOrder, "0.2", ""))
	d.Advance(startMS + 2*hours)
	d.wantAmount("a long receives a negative rate", "-0.51", d.FundingPaid("alice", "BTC-USDT")) // 0.51 - 0.1 x 51000 x 0.02 %
	d.wantAmount("a short pays it", "2.04", d.FundingPaid("bob", "BTC-USDT"))
	d.place(d.order("sell", exchange.MarketOrder, "0.1", "", reduceOnly))
	d.Advance(startMS + 3*hours)
	d.wantAmount("not any more when it is closed", "-0.51", d.FundingPaid("alice", "BTC-USDT"))
	d.wantAmount("who is short receives", "-3.06", d.FundingPaid("bob", "BTC-USDT")) // 2.04 - 0.2 x 51000 x 0.05 %
	p := d.do(exchange.Request{Operation: exchange.FuturesPositionsHistory}).Positions.Items()[0]
	d.wantAmount("it is not in realizedPNL", "199.98", p.RealizedPNL) // 0.1 x (51999.9 - 50000.1)
	d.checkMoney()
}

// The liquidation happens at the moment when the payment is due.
func TestFundingPaymentMayLiquidate(t *testing.T) {
	t.Parallel()
	const hours = 8 * int64(exchange.Hour1)
	d := newDesk(t, Config{})
	d.SetFunding("BTC-USDT", []FundingPoint{{startMS + hours, 750_000}}) // 0.75 %
	d.place(d.order("buy", exchange.MarketOrder, "1.9", ""))
	d.setLast("45300") // liquidated at 45214; the payment is 645.5 USDT
	d.position()
	d.Advance(startMS + hours)
	d.flat()
	if m := d.Money("alice"); m.Liquidations != 1 {
		t.Errorf("want one liquidation, have %+v", m)
	}
	d.wantAmount("funding", "645.525", d.Money("alice").Funding)
	d.checkMoney()
}

func TestATimeIsFlooredBeforeTheEpochToo(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]int64{{0, 8, 0}, {7, 8, 0}, {8, 8, 8}, {17, 8, 16}, {-1, 8, -8}, {-8, 8, -8}, {-9, 8, -16}} {
		if have := floorTo(c[0], c[1]); have != c[2] {
			t.Errorf("%d in steps of %d: want %d, have %d", c[0], c[1], c[2], have)
		}
	}
}
