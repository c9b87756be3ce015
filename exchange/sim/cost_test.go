package sim

import (
	"testing"

	"botd/exchange"
)

// fillsAre compares price and quantity of all fills, written as "price quantity".
func (d *desk) fillsAre(want ...[2]string) {
	d.Helper()
	fills := d.Fills()
	for i := range max(len(fills), len(want)) {
		if i >= len(fills) || i >= len(want) {
			d.Fatalf("want %d fills, have %d: %+v", len(want), len(fills), fills)
		}
		if f := fills[i]; f.Price != d.p(want[i][0]) || f.Quantity != d.q(want[i][1]) {
			d.Fatalf("fill %d: want %v, have %d of %d", i+1, want[i], f.Price, f.Quantity)
		}
	}
}

func TestSlippageMovesTheTakerAndNeverPassesALimit(t *testing.T) {
	t.Parallel()
	row := [4]string{"50000", "51000", "49000", "50500"}
	for _, c := range []struct {
		name  string
		costs Costs
		limit string
		want  [2]string
	}{
		{"none", Costs{}, "", [2]string{"50000", "1"}},
		{"fixed", Costs{Slippage: 20_000}, "", [2]string{"50010", "1"}},                    // 2 basis points
		{"by a quarter of the volume", Costs{Impact: 80_000}, "", [2]string{"50010", "1"}}, // 8 points of it at a volume of 4
		{"both", Costs{Slippage: 20_000, Impact: 80_000}, "", [2]string{"50020", "1"}},     //
		{"up to a limit", Costs{Slippage: 20_000}, "50004", [2]string{"50004", "1"}},       //
		{"finer than the scale", Costs{Slippage: 1}, "", [2]string{"50000.0005", "1"}},     // 1e-8 of the price
	} {
		d := newDesk(t, Config{})
		d.Exchange.accounts[0].money.Wallet = exchange.AmountOf(100_000)
		d.SetMarket(d.key(), Tape(d.tapeOf(row), TapeConfig{Costs: c.costs}))
		if c.limit == "" {
			d.place(d.order("buy", exchange.MarketOrder, c.want[1], ""))
		} else {
			d.place(d.order("buy", exchange.Limit, c.want[1], c.limit))
		}
		t.Log(c.name)
		d.fillsAre(c.want)
		d.wantAmount("what slippage cost", d.Symbol(d.key()).PriceDecimal(d.p(c.want[0])-d.p("50000")).String(), d.Fills()[0].Slipped) // of one BTC
	}
}

func TestATriggeredStopSlipsAndARestingLimitDoesNot(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	d.SetMarket(d.key(), Tape(d.tapeOf([4]string{"50000", "50000", "49000", "49900"}), TapeConfig{Costs: Costs{Slippage: 100_000}}))
	d.place(d.order("buy", exchange.Limit, "0.02", "49800"))
	d.Advance(startMS + 30_000)
	d.place(d.order("sell", exchange.StopMarket, "", "", closePosition, d.stopAt("48900", exchange.ContractPrice)))
	d.SlideTo(d.key(), d.p("48900"))
	d.fillsAre([2]string{"49800", "0.02"}, [2]string{"48851.1", "0.02"})
	d.checkMoney()
}

func TestAVolumeCapFillsInPartsCandleByCandle(t *testing.T) {
	t.Parallel()
	row := func(price string) [4]string { return [4]string{price, price, price, price} }
	candles := func(d *desk) *exchange.Candles { return d.tapeOf(row("100"), row("101"), row("102"), row("103")) }
	cap := Costs{VolumeCap: exchange.RateOne / 4} // of 4: 1 per candle
	d := newDesk(t, Config{}).on(exchange.Futures, "SOL-USDT")
	d.SetMarket(d.key(), Tape(candles(d), TapeConfig{Costs: cap}))
	market := d.place(d.order("buy", exchange.MarketOrder, "2.5", ""))
	d.wantStatus(market.ID, exchange.StatusOpen)
	d.Advance(startMS + 200_000)
	d.wantStatus(market.ID, exchange.StatusFilled)
	d.fillsAre([2]string{"100", "1"}, [2]string{"101", "1"}, [2]string{"102", "0.5"})

	// A resting order continues at its own price.
	d = newDesk(t, Config{}).on(exchange.Futures, "SOL-USDT")
	falling := d.tapeOf(row("100"), [4]string{"100", "100", "98", "98"}, row("97"), row("97"))
	d.SetMarket(d.key(), Tape(falling, TapeConfig{Costs: cap}))
	limit := d.place(d.order("buy", exchange.Limit, "2.5", "99"))
	d.Advance(startMS + 200_000)
	d.wantStatus(limit.ID, exchange.StatusFilled)
	d.fillsAre([2]string{"99", "1"}, [2]string{"99", "1"}, [2]string{"99", "0.5"})

	// An order that waits for volume can be canceled.
	d = newDesk(t, Config{}).on(exchange.Spot, "SOL-USDT")
	d.SetMarket(d.key(), Tape(candles(d), TapeConfig{Costs: cap}))
	market = d.place(d.order("buy", exchange.MarketOrder, "250", "")) // an amount of USDT
	d.do(exchange.Request{Operation: exchange.SpotCancel, Symbol: d.name, OrderID: market.ID})
	d.Advance(startMS + 200_000)
	d.wantStatus(market.ID, exchange.StatusCanceled)
	d.fillsAre([2]string{"100", "1"})
}

// The candle opens at 50000 and goes to 51000 and 49000. So after a quarter of the minute a buyer pays half
// of the way up, a seller half of the way down.
func TestADelayedOrderPaysTheWorstOfItsWay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		delayMS   int64
		buy, sell string
	}{
		{0, "50000", "50000"},
		{15_000, "50500", "49500"},
		{60_000, "51000", "49000"},  // the next candle opens at 50600
		{75_000, "51000", "49000"},  // in which it goes to 50700 and 50000
		{135_000, "51000", "49000"}, // and the one after to 50900 and 49500
	} {
		for side, want := range map[string]string{"buy": c.buy, "sell": c.sell} {
			d := newDesk(t, Config{OrderDelayMS: c.delayMS})
			candles := d.tapeOf([4]string{"50000", "51000", "49000", "50500"}, [4]string{"50600", "50700", "50000", "50500"},
				[4]string{"50500", "50900", "49500", "50500"})
			d.SetMarket(d.key(), Tape(candles, TapeConfig{Costs: Costs{Bounded: true}}))
			d.place(d.order(side, exchange.MarketOrder, "0.01", ""))
			d.Advance(startMS + 179_999)
			d.fillsAre([2]string{want, "0.01"})
		}
	}
}

// The price moves gradually, so an order that arrives a millisecond after a fill on the way gets nearly the
// same price.
func TestALittleDelayCostsLittle(t *testing.T) {
	t.Parallel()
	for _, delayMS := range []int64{0, 1} {
		d := newDesk(t, Config{OrderDelayMS: delayMS})
		candles := d.tapeOf([4]string{"50000", "50000", "48000", "49000"})
		d.SetMarket(d.key(), Tape(candles, TapeConfig{Order: LowFirst, Costs: Costs{Bounded: true}}))
		d.place(d.order("buy", exchange.Limit, "0.01", "49500"))
		for len(d.Fills()) == 0 {
			next, _ := d.NextMS()
			d.Advance(next)
		}
		if last, _ := d.Price(d.key()); last > d.p("49500") || last < d.p("49499") {
			t.Errorf("delay %d: want the price where the order was filled, near 49500, have %d", delayMS, last)
		}
		d.place(d.order("sell", exchange.StopMarket, "", "", closePosition, d.stopAt("49000", exchange.ContractPrice)))
		d.Advance(startMS + 59_999)
		d.fillsAre([2]string{"49500", "0.01"}, [2]string{"49000", "0.01"})
	}
}

func TestARestingOrderFillsOnATouchOrThroughATick(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		through bool
		low     string
		fills   int
	}{{false, "49500", 1}, {false, "49500.1", 0}, {true, "49500", 0}, {true, "49499.9", 1}} {
		d := newDesk(t, Config{})
		candles := d.tapeOf([4]string{"50000", "50000", c.low, "49900"})
		d.SetMarket(d.key(), Tape(candles, TapeConfig{Costs: Costs{Bounded: true, Through: c.through}}))
		d.place(d.order("buy", exchange.Limit, "0.01", "49500"))
		d.Advance(startMS + 59_999)
		if have := len(d.Fills()); have != c.fills {
			t.Errorf("%+v: want %d fills, have %d", c, c.fills, have)
		}
	}
}

func TestOrderInGapWaitsForNextCandle(t *testing.T) {
	t.Parallel()
	for _, bounded := range []bool{false, true} {
		d := newDesk(t, Config{})
		candles := d.tapeOf([4]string{"50000", "50000", "50000", "50000"}, [4]string{"51000", "51000", "51000", "51000"})
		candles.OpenMS[1] += 600_000
		d.SetMarket(d.key(), Tape(candles, TapeConfig{Costs: Costs{Bounded: bounded}}))
		d.Advance(startMS + 120_000)
		d.place(d.order("buy", exchange.MarketOrder, "0.01", ""))
		d.Advance(startMS + 700_000)
		want := "51000"
		if !bounded {
			want = "50000"
		}
		d.fillsAre([2]string{want, "0.01"})
	}
}

func TestUnrecordedFundingUsesConstantRate(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{StartMS: startMS + 8*3_600_000 - 60_000})
	candles := d.tapeOf([4]string{"50000", "50000", "50000", "50000"}, [4]string{"51000", "51000", "51000", "51000"})
	for i := range candles.OpenMS {
		candles.OpenMS[i] += 8*3_600_000 - 60_000
	}
	d.SetMarket(d.key(), Tape(candles, TapeConfig{Funding: 10_000}))
	d.place(d.order("buy", exchange.MarketOrder, "0.1", ""))
	d.Advance(startMS + 8*3_600_000)
	d.wantAmount("funding", "0.51", d.Money("alice").Funding)
}
