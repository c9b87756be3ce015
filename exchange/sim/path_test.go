package sim

import (
	"testing"

	"botd/exchange"
)

// TestAStopAndATakeProfitInOneCandleTakeTheWorse covers a position with both within one candle, rising or
// falling.
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

// TestTheWorseHalfOfAPathComesFirst lists the accounts' positions and orders between 49000 and 51000, and which of the two is
// worse for them when the price passes both. A short mirrors a long.
func TestTheWorseHalfOfAPathComesFirst(t *testing.T) {
	t.Parallel()
	limit, stop, profit := exchange.Limit, exchange.StopMarket, exchange.TakeProfitMarket
	type wait struct {
		side  string
		kind  exchange.OrderType
		price string // or stop price
		exits bool   // whether the position has exits
	}
	buy, sell := wait{"buy", limit, "49500", false}, wait{"sell", limit, "50500", false}
	for _, c := range []struct {
		name   string
		holds  string
		orders []wait
		trail  string // where a moving stop should be; "none" before it moves
		want   PathOrder
	}{
		{"nothing", "", nil, "", ByDirection},
		{"it only buys", "", []wait{buy}, "", HighFirst},
		{"it only sells", "", []wait{sell}, "", LowFirst},
		{"it does both", "", []wait{buy, sell}, "", ByDirection},
		{"it buys at the low itself", "", []wait{{"buy", limit, "49000", false}}, "", HighFirst},
		{"it buys below the low", "", []wait{{"buy", limit, "48999.9", false}}, "", ByDirection},
		{"it sells at the high itself", "", []wait{{"sell", limit, "51000", false}}, "", LowFirst},
		{"it sells above the high", "", []wait{{"sell", limit, "51000.1", false}}, "", ByDirection},
		{"it buys what rises", "", []wait{{"buy", stop, "50500", false}}, "", HighFirst},
		{"it buys what rises, too far", "", []wait{{"buy", stop, "51000.1", false}}, "", ByDirection},
		{"it sells what falls", "", []wait{{"sell", stop, "49500", false}}, "", LowFirst},
		{"it sells what has risen", "", []wait{{"sell", profit, "50500", false}}, "", LowFirst},
		{"it buys what has fallen", "", []wait{{"buy", profit, "49500", false}}, "", HighFirst},
		{"a long", "buy", nil, "", LowFirst},
		{"a short", "sell", nil, "", HighFirst},
		{"a long with its stop", "buy", []wait{{"sell", stop, "49200", true}}, "", LowFirst},
		{"a short with its stop", "sell", []wait{{"buy", stop, "50800", true}}, "", HighFirst},
		{"a long with its target", "buy", []wait{{"sell", limit, "50500", true}}, "", LowFirst},
		{"a long that buys more", "buy", []wait{buy}, "", HighFirst},
		{"a short that sells more", "sell", []wait{sell}, "", LowFirst},
		{"a long that buys more, with a target", "buy", []wait{buy, {"sell", limit, "50500", true}}, "", HighFirst},
		{"a long that buys more, with its stop", "buy", []wait{buy, {"sell", stop, "49200", true}}, "", LowFirst},
		{"a short that sells more, with its stop", "sell", []wait{sell, {"buy", stop, "50800", true}}, "", HighFirst},
		{"a long that buys more, with its stop at the low", "buy", []wait{buy, {"sell", stop, "49000", true}}, "", LowFirst},
		{"a long that buys more, with its stop below", "buy", []wait{buy, {"sell", stop, "48999.9", true}}, "", HighFirst},
		{"a long whose stop is to follow", "buy", nil, "none", HighFirst},
		{"a short whose stop is to follow", "sell", nil, "none", LowFirst},
		{"a long whose stop follows below", "buy", nil, "48999.9", HighFirst},
		{"a long whose stop follows, at the low", "buy", nil, "49000", LowFirst},
		{"a long whose stop follows, within", "buy", nil, "49500", LowFirst},
		{"a short whose stop follows above", "sell", nil, "51000.1", LowFirst},
		{"a short whose stop follows, at the high", "sell", nil, "51000", HighFirst},
		{"a long whose stop is to follow another", "buy", []wait{{"sell", stop, "49200", true}}, "none", LowFirst},
		{"nothing, and a stop that is to follow", "", nil, "none", ByDirection},
	} {
		d := newDesk(t, Config{})
		if c.holds != "" {
			d.place(d.order(c.holds, exchange.MarketOrder, "0.01", ""))
		}
		for _, o := range c.orders {
			order := d.order(o.side, o.kind, "0.01", "")
			if order.ReduceOnly = o.exits; o.kind == limit {
				order.Price = d.p(o.price)
			} else {
				order.StopPrice, order.WorkingType = d.p(o.price), exchange.ContractPrice
			}
			d.place(order)
		}
		seat, _ := d.Instrument(d.key())
		switch c.trail {
		case "":
		case "none":
			seat.Trail(0, d.p("50500"), true)
		default:
			seat.Trail(d.p(c.trail), 0, true)
		}
		b := d.find(d.key())
		b.fresh()
		if have := b.adverse(d.p("49000"), d.p("51000")); have != c.want {
			t.Errorf("%s: want %d, have %d", c.name, c.want, have)
		}
		mirror := map[PathOrder]PathOrder{LowFirst: HighFirst, HighFirst: LowFirst, ByDirection: ByDirection, Worst: Worst}
		for one, other := range mirror {
			if have := one.mirrored(); have != other {
				t.Errorf("want %d the opposite of %d, have %d", other, one, have)
			}
		}
	}
}

// An order that buys more, or sells more, meets it first.
func TestALiquidationWithinReachEndsAPositionLikeAStop(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		side, entry string
		within      PathOrder
	}{{"buy", "49000", LowFirst}, {"sell", "51000", HighFirst}} {
		d := newDesk(t, Config{})
		d.place(d.order(c.side, exchange.MarketOrder, "1.5", ""))
		d.place(d.order(c.side, exchange.Limit, "0.1", c.entry))
		b := d.find(d.key())
		b.fresh()
		at := max(b.liquidationLow, min(b.liquidationHigh, d.p("60000")))
		low, high, beyond := d.p("40000"), d.p("60000"), c.within.mirrored()
		if have := b.adverse(low, high); have != c.within {
			t.Errorf("%s: want %d with the liquidation at %d, have %d", c.side, c.within, at, have)
		}
		if c.side == "buy" {
			low = b.liquidationLow
		} else {
			high = b.liquidationHigh
		}
		if have := b.adverse(low, high); have != c.within {
			t.Errorf("%s: want %d at the liquidation itself, have %d", c.side, c.within, have)
		}
		if c.side == "buy" {
			low++
		} else {
			high--
		}
		if have := b.adverse(low, high); have != beyond {
			t.Errorf("%s: want %d before the liquidation, have %d", c.side, beyond, have)
		}
	}
}

func TestSpotHoldingsCountAsLong(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{}).on(exchange.Spot, "BTC-USDT") // it starts with 1 BTC
	b := d.find(d.key())
	if have := b.adverse(d.p("49000"), d.p("51000")); have != LowFirst {
		t.Errorf("want the low first, have %d", have)
	}
	d.place(d.order("buy", exchange.Limit, "0.01", "49500"))
	if have := b.adverse(d.p("49000"), d.p("51000")); have != HighFirst {
		t.Errorf("with more to buy: want the high first, have %d", have)
	}
	d.place(d.order("sell", exchange.StopMarket, "1", "", d.stopAt("49200", exchange.NoWorkingType))) // its frozen quantity counts
	if have := b.adverse(d.p("49000"), d.p("51000")); have != LowFirst {
		t.Errorf("with a stop: want the low first, have %d", have)
	}
}

// The minutes rose first, whatever the setting. In their gaps the guess applies.
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

// After a skipped quiet stretch the tape continues where playing it would have.
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
