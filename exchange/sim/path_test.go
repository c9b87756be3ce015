package sim

import (
	"testing"

	"botd/exchange"
)

// TestAStopAndATakeProfitInOneCandleTakeTheWorse has a position with both within one candle, rising
// or falling.
func TestAStopAndATakeProfitInOneCandleTakeTheWorse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		side, exit   string
		stop, profit string
		order        PathOrder
		want         string
	}{
		{"buy", "sell", "49500", "50500", Worst, "49500"},
		{"buy", "sell", "49500", "50500", Best, "50500"},
		{"sell", "buy", "50500", "49500", Worst, "50500"},
		{"sell", "buy", "50500", "49500", Best, "49500"},
		{"buy", "sell", "49500", "50500", HighFirst, "50500"},
		{"buy", "sell", "49500", "50500", LowFirst, "49500"},
	} {
		for _, close := range []string{"50900", "49100"} {
			d := newDesk(t, Config{})
			d.SetMarket(d.key(), Tape(d.tapeOf([4]string{"50000", "51000", "49000", close}), TapeConfig{Order: c.order}))
			d.place(d.order(c.side, exchange.MarketOrder, "0.01", ""))
			d.place(d.order(c.exit, exchange.StopMarket, "", "", closePosition, d.stopAt(c.stop, exchange.ContractPrice)))
			d.place(d.order(c.exit, exchange.TakeProfitMarket, "", "", closePosition, d.stopAt(c.profit, exchange.ContractPrice)))
			d.Advance(startMS + 59_999)
			d.flat()
			d.fillsAre([2]string{"50000", "0.01"}, [2]string{c.want, "0.01"})
		}
	}
}

// TestTheWorstPathMeetsARestingEntryLate: it buys at the low after the high, so that the high
// cannot take the profit.
func TestTheWorstPathMeetsARestingEntryLate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		side, price string
		low, high   string
		want        PathOrder
	}{
		{"buy", "49500", "49000", "51000", HighFirst},
		{"sell", "50500", "49000", "51000", LowFirst},
		{"buy", "48000", "49000", "51000", ByDirection}, // out of reach
	} {
		d := newDesk(t, Config{})
		d.place(d.order(c.side, exchange.Limit, "0.01", c.price))
		if have := d.find(d.key()).adverse(d.p(c.low), d.p(c.high)); have != c.want {
			t.Errorf("%s at %s: want %d, have %d", c.side, c.price, c.want, have)
		}
	}
}

// TestAGridGetsThePathWithFewerTrades: with a target above and more to buy below, the worst path
// sells first, since a quantity bought at the low could be sold at the high.
func TestAGridGetsThePathWithFewerTrades(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	d.place(d.order("buy", exchange.MarketOrder, "0.01", ""))
	d.place(d.order("buy", exchange.Limit, "0.01", "49500"))
	d.place(d.order("sell", exchange.Limit, "0.01", "50500", reduceOnly))
	if have := d.find(d.key()).adverse(d.p("49000"), d.p("51000")); have != HighFirst {
		t.Errorf("want the high first, have %d", have)
	}
	d.place(d.order("sell", exchange.StopMarket, "", "", closePosition, d.stopAt("49200", exchange.ContractPrice)))
	if have := d.find(d.key()).adverse(d.p("49000"), d.p("51000")); have != LowFirst {
		t.Errorf("with a stop in reach: want the low first, have %d", have)
	}
}

func TestSpotHoldingsCountAsLong(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{}).on(exchange.Spot, "BTC-USDT") // which begins with 1 BTC
	d.place(d.order("sell", exchange.StopMarket, "0.5", "", d.stopAt("49200", exchange.NoWorkingType)))
	if have := d.find(d.key()).adverse(d.p("49000"), d.p("51000")); have != LowFirst {
		t.Errorf("want the low first, have %d", have)
	}
}

// TestAFinerSeriesReplacesTheGuess: the minutes went up first, whatever the setting says. Where
// they have a gap, the guess applies.
func TestAFinerSeriesReplacesTheGuess(t *testing.T) {
	t.Parallel()
	for _, hole := range []bool{false, true} {
		d := newDesk(t, Config{})
		fine := d.tapeOf([4]string{"50000", "50600", "50000", "50500"}, [4]string{"50500", "51000", "50400", "50400"},
			[4]string{"50400", "50400", "49000", "49100"}, [4]string{"49100", "49200", "49000", "49100"},
			[4]string{"49100", "49200", "49000", "49100"})
		coarse := &exchange.Candles{Interval: exchange.Minute5}
		coarse.Append(exchange.Candle{OpenMS: startMS, Open: d.p("50000"), High: d.p("51000"), Low: d.p("49000"), Close: d.p("49100"), Volume: 20})
		want := [2]string{"50700", "0.01"}
		if hole {
			fine.OpenMS[4] += 60_000
			want[0] = "49500"
		}
		d.SetMarket(d.key(), Tape(coarse, TapeConfig{Order: LowFirst, Detail: fine}))
		d.place(d.order("buy", exchange.MarketOrder, "0.01", ""))
		d.place(d.order("sell", exchange.StopMarket, "", "", closePosition, d.stopAt("49500", exchange.ContractPrice)))
		d.place(d.order("sell", exchange.TakeProfitMarket, "", "", closePosition, d.stopAt("50700", exchange.ContractPrice)))
		if !hole {
			d.Advance(startMS + 119_999)
			d.flat()
		}
		d.Advance(startMS + 299_999)
		d.fillsAre([2]string{"50000", "0.01"}, want)
	}
}

// TestSkippingWithDetailLandsOnTheSameStep: after a skipped quiet stretch the tape continues where
// playing it would have.
func TestSkippingWithDetailLandsOnTheSameStep(t *testing.T) {
	t.Parallel()
	var rows [][4]string
	for range 30 {
		rows = append(rows, [4]string{"50000", "50100", "49900", "50000"})
	}
	for _, toMS := range []int64{1, 14_999, 15_000, 59_999, 60_000, 299_999, 300_000, 449_999, 1_200_000} {
		played, skipped := newDesk(t, Config{}), newDesk(t, Config{})
		for _, d := range []*desk{played, skipped} {
			coarse := &exchange.Candles{Interval: exchange.Minute5}
			for i := range 6 {
				coarse.Append(exchange.Candle{OpenMS: startMS + int64(i)*300_000, Open: d.p("50000"), High: d.p("50100"), Low: d.p("49900"),
					Close: d.p("50000"), Volume: 20})
			}
			d.SetMarket(d.key(), Tape(coarse, TapeConfig{Detail: d.tapeOf(rows...)}))
		}
		played.Advance(startMS + toMS)
		skipped.SkipTo(startMS+toMS, skipped.key(), skipped.p("50000"))
		for {
			want, wantOK := played.NextMS()
			have, haveOK := skipped.NextMS()
			if want != have || wantOK != haveOK {
				t.Fatalf("after %d ms: want the next moment at %d, have %d", toMS, want-startMS, have-startMS)
			}
			if want > startMS+1_800_000 {
				break
			}
			played.Advance(want)
			skipped.Advance(have)
		}
	}
}
