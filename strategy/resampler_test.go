package strategy

import (
	"math/rand/v2"
	"testing"

	"botd/exchange"
)

func hourly(n int) []exchange.Candle {
	r := rand.New(rand.NewPCG(4, 2))
	all := make([]exchange.Candle, n)
	for i := range all {
		o, c := exchange.Price(r.Int64N(1000)+1000), exchange.Price(r.Int64N(1000)+1000)
		all[i] = exchange.Candle{OpenMS: 1_704_067_200_000 + int64(i)*int64(exchange.Hour1), Open: o, Close: c, High: max(o, c) + 5,
			Low: min(o, c) - 5, Volume: float64(i), Trades: int64(i)}
	}
	return all
}

func TestResampledCandleClosesWithItsLastFineOne(t *testing.T) {
	t.Parallel()
	fine := hourly(50)[2:] // starts at 02:00
	c, err := NewResampler(exchange.Hour1, exchange.Hour4)
	if err != nil {
		t.Fatal(err)
	}
	var have []exchange.Candle
	for i, candle := range fine {
		c.Next(candle, func(closed exchange.Candle) {
			if end := closed.OpenMS + int64(exchange.Hour4); end != candle.OpenMS+int64(exchange.Hour1) {
				t.Errorf("candle %d: one that ends at %d was reported at %d", i, end, candle.OpenMS+int64(exchange.Hour1))
			}
			have = append(have, closed)
		})
	}
	if len(have) != 11 { // 04:00 to 48:00; the one from 00:00 was incomplete
		t.Fatalf("want 11 candles, have %d", len(have))
	}
	for i, closed := range have {
		four := fine[2+4*i : 6+4*i]
		want := exchange.Candle{OpenMS: four[0].OpenMS, Open: four[0].Open, Close: four[3].Close, High: four[0].High, Low: four[0].Low}
		for _, f := range four {
			want.High, want.Low = max(want.High, f.High), min(want.Low, f.Low)
			want.Volume += f.Volume
			want.Trades += f.Trades
		}
		if closed != want {
			t.Errorf("want %+v, have %+v", want, closed)
		}
	}
}

func TestResampledCandleWithGapsClosesWhenItsIntervalEnds(t *testing.T) {
	t.Parallel()
	fine := hourly(12)
	c, _ := NewResampler(exchange.Hour1, exchange.Hour4)
	var ends []int64
	for _, i := range []int{0, 1, 2, 7, 8, 9, 10} { // 3 to 6 are missing
		c.Next(fine[i], func(closed exchange.Candle) { ends = append(ends, closed.OpenMS/int64(exchange.Hour1)%24, int64(i)) })
	}
	if want := []int64{0, 7, 4, 7}; len(ends) != 4 || ends[0] != want[0] || ends[1] != want[1] || ends[2] != want[2] || ends[3] != want[3] {
		t.Errorf("want the candles of 00:00 and 04:00 reported at 07:00, have %v", ends)
	}
}

func TestOnlyMultiplesAreResampled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ own, interval exchange.Interval }{{exchange.Hour1, exchange.Hour1}, {exchange.Hour4, exchange.Hour1},
		{exchange.Hour1, exchange.Hour1 * 3 / 2}, {0, exchange.Hour1}} {
		if _, err := NewResampler(c.own, c.interval); err == nil {
			t.Errorf("%d of %d: want an error", c.interval, c.own)
		}
	}
}
