package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/shopspring/decimal"

	"botd/exchange"
)

// reference computes a walk by its definition alone: each value from the two coarse points around it, without a cache.
type reference struct{ seed uint64 }

// smooth halves the 36 hours (2^16 steps) around a step until the step is left.
func (r *reference) smooth(step int64) int64 {
	const span = 65_536
	from := step - step%span
	low, high := bell(r.draw(from))*800, bell(r.draw(from+span))*800
	for length := int64(span); length > 1; length /= 2 {
		width := int64(350)
		if length <= 4_096 {
			width = r.width(from + length/2)
		}
		spread := int64(math.Round(500 * math.Sqrt(float64(length))))
		if length >= 512 && length <= 8_192 {
			spread *= 2
		}
		middle := (low+high)/2 + bell(r.draw(from+length/2))*width/100*spread/1_000
		if step < from+length/2 {
			high = middle
		} else {
			from, low = from+length/2, middle
		}
	}
	return low
}

func (r *reference) draw(position int64) uint64 {
	return mix(r.seed ^ uint64(position)*0x9e3779b97f4a7c15)
}

// width is 2 to 5 for 40 minutes, times the mood of 380 minutes, in percent.
func (r *reference) width(step int64) int64 {
	regime, mood := mix(r.seed^uint64(step/1_200)^0x5bd1e995), mix(r.seed^uint64(step/11_400)^0x2545f491)
	return (2 + int64(regime>>32%4)) * []int64{50, 70, 90, 100, 110, 140, 190, 260}[mood%8]
}

// bumps sums what remains of the jumps of the last eight hours, one in each four hours.
func (r *reference) bumps(step int64) (sum int64) {
	for slot := step/7_200 - 2; slot <= step/7_200; slot++ {
		draw := mix(r.seed ^ uint64(slot*7_200) ^ 0x9e3779b9)
		size, age := 2_000_000+int64(draw>>33%8_000_000), step-slot*7_200-int64(draw%7_200)
		if draw>>32%2 == 0 {
			size = -size
		}
		if age >= 0 && age < 14_400 {
			sum += size * (14_400 - age) / 14_400
		}
	}
	return sum
}

// TestAWalkFollowsItsDefinition compares the walk with the reference, at steps near the last one and far from it.
func TestAWalkFollowsItsDefinition(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(11, 4))
	for _, symbol := range []string{"BTC-USDT", "X"} {
		seed := mix(9)
		for _, letter := range []byte(symbol) {
			seed = mix(seed ^ uint64(letter))
		}
		want, have := reference{seed}, newWalk(9, symbol)
		step := int64(883_612_800)
		for range 1_500 {
			if step += random.Int64N(1<<random.IntN(18)) - 3; step%7_200 < 2 {
				step -= step % 7_200 // the first step of a slot
			}
			if w, h := want.bumps(step), have.bumps(step); w != h {
				t.Fatalf("jumps at step %d: want %d, have %d", step, w, h)
			}
			if w, h := want.width(step), have.widthAt(step); w != h {
				t.Fatalf("width at step %d: want %d, have %d", step, w, h)
			}
			if w, h := want.smooth(step)+want.bumps(step), have.at(step); w != h {
				t.Fatalf("%s at step %d: want %d, have %d", symbol, step, w, h)
			}
		}
	}
}

// priceOf is the first price times one and the walk's share, rounded to a tick. A minute opens at the previous minute's last price.
func (r *reference) priceOf(s *exchange.Symbol, first decimal.Decimal, timeMS int64) decimal.Decimal {
	step := timeMS / 2_000
	if timeMS%60_000 == 0 {
		step--
	}
	whole := decimal.NewFromInt(1_000_000_000)
	price := first.Mul(whole.Add(decimal.NewFromInt(r.smooth(step)+r.bumps(step)))).DivRound(whole, 20).Truncate(int32(s.PriceScale))
	tick := s.PriceDecimal(s.PriceTick)
	return price.Div(tick).Round(0).Mul(tick)
}

// TestARandomMarketsTradesFollowTheirDefinition recomputes price, size and side of each trade of ten minutes, and the funding rates.
func TestARandomMarketsTradesFollowTheirDefinition(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"BTC-USDT", "SOL-USDT", "PEPE-USDT"} {
		d := newDesk(t, Config{StartMS: startMS + 1_000}).on(exchange.Futures, name)
		s := d.Symbol(d.key())
		first, _ := d.Price(d.key())
		d.SetMarket(d.key(), Random(5))
		seed := mix(5)
		for _, letter := range []byte(name) {
			seed = mix(seed ^ uint64(letter))
		}
		r := reference{seed}
		d.Advance(startMS + 600_000)
		trades := d.do(exchange.Request{Operation: exchange.FuturesTrades, Symbol: name, Limit: 300}).Trades.Items()
		if len(trades) != 300 {
			t.Fatalf("want 300 trades, have %d", len(trades))
		}
		for i := range trades {
			trade := &trades[i]
			timeMS := startMS + 2_000*int64(i+1)
			draw := mix(seed ^ uint64(timeMS) ^ 0x27d4eb2f)
			usdt := int64(50 * math.Pow(2, float64(draw%8)))
			usdt += usdt * int64(draw/256%256) / 64
			usdt = usdt * (100 + r.width(timeMS/2_000)) / 400
			price, tick := r.priceOf(s, s.PriceDecimal(first), timeMS), s.QuantityDecimal(s.QuantityTick)
			quantity := decimal.Max(decimal.NewFromInt(usdt).Div(price).Div(tick).Floor().Mul(tick), tick)
			want := fmt.Sprint(timeMS, price, quantity, draw/65_536%2 == 0)
			if have := fmt.Sprint(trade.TimeMS, s.PriceDecimal(trade.Price), s.QuantityDecimal(trade.Quantity), trade.BuyerIsMaker); have != want {
				t.Fatalf("%s trade %d: want %s, have %s", name, i, want, have)
			}
		}
		rate := d.do(exchange.Request{Operation: exchange.FuturesFundingRate, Symbol: name}).Funding
		if want := exchange.Rate(mix(seed^uint64(rate.NextMS))%25_001) - 5_000; rate.Rate != want {
			t.Errorf("%s: want a rate of %d, have %d", name, want, rate.Rate)
		}
	}
}
