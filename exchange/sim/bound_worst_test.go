package sim

import (
	"testing"

	"botd/exchange"
)

// worstCase is a period since the start, the worst price of each side in it, and the volume of its last bar.
type worstCase struct {
	sinceMS, nowMS int64
	buy, sell      string
	volume         float64
}

// wantWorst advances to the end of a case's period and compares its worst prices.
func (d *desk) wantWorst(c worstCase) {
	d.T.Helper()
	d.Advance(startMS + c.nowMS)
	for side, want := range map[exchange.Side]string{exchange.Buy: c.buy, exchange.Sell: c.sell} {
		price, volume := d.find(d.key()).tape.worst(side, startMS+c.sinceMS, startMS+c.nowMS)
		if price != d.p(want) || volume != c.volume {
			d.T.Errorf("%s from %d to %d ms: want %s and a volume of %v, have %s and %v", side, c.sinceMS, c.nowMS, want, c.volume,
				d.Symbol(d.key()).PriceDecimal(price), volume)
		}
	}
}

// barsOf returns candles of SOL with a volume each; a row is the open time in seconds after the start, open, high, low, close, volume.
func (d *desk) barsOf(interval exchange.Interval, rows ...[6]float64) *exchange.Candles {
	c := &exchange.Candles{Interval: interval}
	unit := d.p("1")
	for _, row := range rows {
		c.Append(exchange.Candle{OpenMS: startMS + int64(row[0]*1_000), Open: unit * exchange.Price(row[1]), High: unit * exchange.Price(row[2]),
			Low: unit * exchange.Price(row[3]), Close: unit * exchange.Price(row[4]), Volume: row[5]})
	}
	return c
}

// The worst price of a period within recorded minutes, computed manually: after 1/16, 1/4 and 9/16 of a bar a price can have moved 1/4,
// 1/2 and 3/4 of the way to its extreme. The second bar opens where the first ends, the third after two missing ones.
func TestTheWorstPriceOfAPeriod(t *testing.T) {
	t.Parallel()
	rows := [][6]float64{{0, 100, 110, 90, 105, 8}, {60, 104, 112, 80, 100, 4}, {240, 101, 103, 99, 102, 6}}
	for _, c := range []worstCase{
		{-5_000, -5_000, "100", "100", 8}, // before the first bar
		{0, 0, "100", "100", 8},
		{0, 3_750, "102.5", "97.5", 8},
		{3_750, 3_750, "102.5", "97.5", 8},
		{15_000, 15_000, "105", "95", 8},
		{0, 33_750, "107.5", "92.5", 8},
		{60_000, 60_000, "104", "104", 4},
		{59_999, 60_000, "104", "104", 4}, // the last millisecond is the close
		{59_998, 60_000, "110", "90", 4},
		{0, 63_750, "110", "90", 4},
		{60_000, 63_750, "106", "98", 4},
		{30_000, 75_000, "110", "90", 4},
		{60_000, 75_000, "108", "92", 4},
		{30_000, 93_750, "110", "86", 4},
		{119_999, 120_000, "100", "100", 4}, // in the gap it is the last close
		{150_000, 200_000, "100", "100", 4},
		{119_998, 120_000, "112", "80", 4},
		{60_000, 200_000, "112", "80", 4},
		{0, 200_000, "112", "80", 4},
		{240_000, 240_000, "101", "101", 6},
		{150_000, 240_000, "101", "101", 6},
		{119_999, 240_000, "101", "101", 6},
		{119_998, 240_000, "112", "80", 4},
		{0, 240_000, "112", "80", 4},
		{240_000, 255_000, "102", "100", 6},
		{100_000, 255_000, "112", "80", 4},
	} {
		d := newDesk(t, Config{StartMS: startMS - 10_000}).on(exchange.Futures, "SOL-USDT")
		d.SetMarket(d.key(), Tape(d.barsOf(exchange.Minute1, rows...), TapeConfig{Costs: Costs{Bounded: true}}))
		d.wantWorst(c)
	}
}

// Where finer candles cover a candle, the worst prices are those of the finer ones, except for the candle's
// own open.
func TestTheWorstPriceWithinFinerCandles(t *testing.T) {
	t.Parallel()
	coarse := [][6]float64{{0, 100, 120, 80, 106, 30}, {300, 106, 108, 96, 100, 10}}
	fine := [][6]float64{{0, 101, 104, 98, 102, 8}, {60, 102, 120, 100, 110, 7}, {120, 110, 112, 80, 90, 6}, {180, 90, 96, 88, 94, 5},
		{240, 94, 108, 92, 106, 4}}
	for _, c := range []worstCase{
		{0, 0, "100", "100", 8},
		{0, 15_000, "102", "99", 8}, // from the candle's open, to the first bar's extremes
		{60_000, 75_000, "111", "101", 7},
		{30_000, 75_000, "111", "98", 7},
		{30_000, 135_000, "120", "95", 6},
		{120_000, 135_000, "111", "95", 6},
		{0, 255_000, "120", "80", 4},
		{240_000, 255_000, "101", "93", 4},
		{300_000, 375_000, "107", "101", 10}, // not covered: a quarter of five minutes
		{290_000, 375_000, "108", "92", 4},
	} {
		d := newDesk(t, Config{}).on(exchange.Futures, "SOL-USDT")
		config := TapeConfig{Costs: Costs{Bounded: true}, Detail: d.barsOf(exchange.Minute1, fine...)}
		d.SetMarket(d.key(), Tape(d.barsOf(exchange.Minute5, coarse...), config))
		d.wantWorst(c)
	}
}

// From a quarter of a bar on an extreme may be over; at the close the rest is known.
func TestAnOrderIsLateFromAQuarterOfItsBarUntilTheClose(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		nowMS, opensMS, closeMS int64
		late                    bool
	}{
		{0, 0, 59_999, false}, {14_999, 0, 59_999, false}, {15_000, 0, 59_999, true}, {59_998, 0, 59_999, true}, {59_999, 0, 59_999, false},
		{60_000, 60_000, 119_999, false}, {75_000, 60_000, 119_999, true}, {130_000, 60_000, 119_999, false},
	} {
		d := newDesk(t, Config{}).on(exchange.Futures, "SOL-USDT")
		rows := [][6]float64{{0, 100, 110, 90, 105, 8}, {60, 104, 112, 80, 100, 4}}
		d.SetMarket(d.key(), Tape(d.barsOf(exchange.Minute1, rows...), TapeConfig{Costs: Costs{Bounded: true}}))
		d.Advance(startMS + c.nowMS)
		m := d.find(d.key()).tape
		if closeMS, late := m.restsLate(startMS + c.nowMS); late != c.late || closeMS != startMS+c.closeMS || m.openedMS() != startMS+c.opensMS {
			t.Errorf("at %d ms: want late %t until %d, have %t until %d, opened at %d", c.nowMS, c.late, c.closeMS, late, closeMS-startMS, m.openedMS()-startMS)
		}
	}
}

// The price moves in a straight line from step to step: with the low first from 100 to 90 in a quarter of the minute, to 110 in the next,
// and to 101 in its last half.
func TestThePriceSlidesInStraightLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		order PathOrder
		close float64
		at    map[int64]string
	}{
		{LowFirst, 101, map[int64]string{0: "100", 1_500: "99", 7_500: "95", 15_000: "90", 22_500: "100", 28_500: "108", 30_000: "110", 59_999: "101"}},
		{HighFirst, 101, map[int64]string{1_500: "101", 7_500: "105", 15_000: "110", 22_500: "100", 30_000: "90", 59_999: "101"}},
		{ByDirection, 101, map[int64]string{7_500: "95", 22_500: "100", 30_000: "110"}}, // a rising one went down first
		{ByDirection, 100, map[int64]string{7_500: "95", 30_000: "110"}},
		{ByDirection, 99, map[int64]string{7_500: "105", 22_500: "100", 30_000: "90"}},
		{Worst, 99, map[int64]string{7_500: "105"}}, // with nothing to lose
		{Best, 101, map[int64]string{7_500: "95"}},
	} {
		for atMS, want := range c.at {
			d := newDesk(t, Config{}).on(exchange.Futures, "SOL-USDT")
			rows := [][6]float64{{0, 100, 110, 90, c.close, 8}, {60, 103, 103, 103, 103, 4}}
			d.SetMarket(d.key(), Tape(d.barsOf(exchange.Minute1, rows...), TapeConfig{Order: c.order, Costs: Costs{Bounded: true}}))
			d.Advance(startMS + atMS)
			if last, mark := d.Price(d.key()); last != d.p(want) || mark != last {
				t.Errorf("%d, closing at %v, at %d ms: want %s, have %d and %d", c.order, c.close, atMS, want, last, mark)
			}
			if seat, _ := d.Instrument(d.key()); seat.Known() != d.p(map[bool]string{false: "100", true: want}[atMS == 59_999]) {
				t.Errorf("at %d ms: want the last known price, have %d", atMS, seat.Known())
			}
		}
	}
}
