package sim

import (
	"math"
	"math/rand/v2"
	"testing"
)

// bellDeviation is that of a sum of four uniform draws of 16 bits: 65536 x sqrt(4 / 12).
const bellDeviation = 37_837

// smooth returns the walk without its jumps.
func (w *walk) smooth(step int64) float64 { return float64(w.at(step) - w.bumps(step)) }

func TestTheWalkDependsOnSeedSymbolAndStepAlone(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	asked := newWalk(7, "BTC-USDT")
	last := int64(13_000_000)
	for range 3_000 { // steps near the last one, and far from it
		switch random.IntN(3) {
		case 0:
			last++
		case 1:
			last += random.Int64N(1<<random.IntN(20)) - 40
		default:
			last -= random.Int64N(1 << random.IntN(20))
		}
		fresh := newWalk(7, "BTC-USDT")
		if want, have := fresh.at(last), asked.at(last); want != have {
			t.Fatalf("step %d: want %d whatever was asked before, have %d", last, want, have)
		}
		if want, have := fresh.widthAt(last), asked.widthAt(last); want != have {
			t.Fatalf("width at step %d: want %d, have %d", last, want, have)
		}
	}
	same := 0
	other, neighbor := newWalk(8, "BTC-USDT"), newWalk(7, "BTC-USDU")
	for step := range int64(100) {
		if one := asked.at(step); one == other.at(step) || one == neighbor.at(step) {
			same++
		}
	}
	if same > 1 {
		t.Errorf("want another walk for another seed or symbol, have %d equal steps of 100", same)
	}
}

// TestBellIsCenteredWithStatedDeviation draws from it, and checks its extremes.
func TestBellIsCenteredWithStatedDeviation(t *testing.T) {
	t.Parallel()
	if low, high := bell(0), bell(math.MaxUint64); low != -131_070 || high != 131_070 {
		t.Errorf("want -131070 to 131070, have %d to %d", low, high)
	}
	for shift := range 4 { // each 16 bits are one of the four draws
		if have := bell(0x1234 << (16 * shift)); have != 0x1234-131_070 {
			t.Errorf("bits %d and up: want %d, have %d", 16*shift, 0x1234-131_070, have)
		}
	}
	squares := 0.0
	const count = 20_000
	for i := range uint64(count) {
		one := float64(bell(mix(i)))
		squares += one * one
	}
	if have := math.Sqrt(squares / count); math.Abs(have/bellDeviation-1) > 0.02 {
		t.Errorf("want a deviation of %d, have %.0f", bellDeviation, have)
	}
}

// TestAMidpointDeviatesByTheRootOfItsInterval measures the distance of the walk's midpoints from the mean of the points
// around them, at each level: half the root of the interval's length, and twice that where a trend lasts, between 17
// minutes (2^9 steps of 2 s) and 4.5 hours (2^13).
func TestAMidpointDeviatesByTheRootOfItsInterval(t *testing.T) {
	t.Parallel()
	for level := 1; level <= walkLevels; level++ {
		length := int64(1) << level
		want := math.Sqrt(float64(length)) / 2
		if level >= 9 && level <= 13 {
			want *= 2
		}
		squares, count := 0.0, 0
		for seed := range uint64(40) {
			w := newWalk(seed, "X")
			for i := range int64(25) {
				from := (1_000 + i*37) << walkLevels // each level has a separate interval
				from += (i * 7_919) << level & (1<<walkLevels - 1)
				middle := from + length/2
				width := float64(steadyWidth)
				if level <= moodLevels {
					width = float64(w.widthAt(middle))
				}
				off := w.smooth(middle) - (w.smooth(from)+w.smooth(from+length))/2
				off /= bellDeviation * width / 100
				squares, count = squares+off*off, count+1
			}
		}
		if have := math.Sqrt(squares / float64(count)); math.Abs(have/want-1) > 0.12 {
			t.Errorf("level %d: want a deviation of %.2f steps, have %.2f", level, want, have)
		}
	}
}

// Every 36 hours it passes a point whose deviation is about 3 %.
func TestTheWalkReturnsToItsStart(t *testing.T) {
	t.Parallel()
	squares, sum := 0.0, 0.0
	const count = 4_000
	for i := range int64(count) {
		w := newWalk(uint64(i), "X")
		one := w.smooth((i%50+10_000)<<walkLevels) / billion
		squares, sum = squares+one*one, sum+one
	}
	if have := math.Sqrt(squares / count); have < 0.029 || have > 0.032 || math.Abs(sum/count) > 0.002 {
		t.Errorf("want a deviation of 3 %% around zero, have %.4f around %.4f", have, sum/count)
	}
}

// TestThePriceJumpsOnceInFourHours finds the jumps of ten days: one in each four hours, of 0.2 % to 1 %, in either direction.
// They decay linearly within eight hours.
func TestThePriceJumpsOnceInFourHours(t *testing.T) {
	t.Parallel()
	const fourHours, days = 4 * 3_600_000 / randomStepMS, 10
	w := newWalk(3, "BTC-USDT")
	type jump struct{ at, size int64 }
	var jumps []jump
	up, first := 0, int64(2_000)
	for slot := first; slot < first+6*days; slot++ {
		found := 0
		for step := slot * fourHours; step < (slot+1)*fourHours; step++ {
			size := w.bumps(step) - w.bumps(step-1)
			if size > -100_000 && size < 100_000 { // the decay of a step
				continue
			}
			found++
			if abs := max(size, -size); abs < 1_990_000 || abs > 10_010_000 {
				t.Errorf("step %d: want a jump of 0.2 %% to 1 %%, have %d billionths", step, size)
			}
			if size > 0 {
				up++
			}
			jumps = append(jumps, jump{step, size})
		}
		if found != 1 {
			t.Errorf("four hours of slot %d: want one jump, have %d", slot, found)
		}
	}
	if up < 15 || up > 45 {
		t.Errorf("want both ways, have %d of %d up", up, len(jumps))
	}
	for step := (first + 3) * fourHours; step < (first+6*days)*fourHours; step += 97 {
		want := 0.0
		for _, j := range jumps {
			if age := step - j.at; age >= 0 && age < 2*fourHours {
				want += float64(j.size) * float64(2*fourHours-age) / (2 * fourHours)
			}
		}
		if have := w.bumps(step); math.Abs(float64(have)-want) > 10_000 {
			t.Fatalf("step %d: want %.0f billionths of the jumps left, have %d", step, want, have)
		}
	}
}

// Within a mood the widths are 2 to 5 times one factor, from a calm half to a wild 2.6.
func TestRandomWidthLasts40MinutesAndMood380(t *testing.T) {
	t.Parallel()
	const regime, mood = 40 * 60_000 / randomStepMS, 380 * 60_000 / randomStepMS
	w := newWalk(5, "BTC-USDT")
	changes, least, most := map[int64]int{}, int64(math.MaxInt64), int64(0)
	seen := map[int64]bool{}
	for step := int64(1); step < 200*mood; step++ {
		if rest := min(regime-step%regime, mood-step%mood); rest > 2 && step%regime > 1 && step%mood > 1 {
			step += rest - 2 // the borders matter
		}
		width := w.widthAt(step)
		least, most = min(least, width), max(most, width)
		seen[width] = true
		if width == w.widthAt(step-1) {
			continue
		}
		switch {
		case step%mood == 0:
			changes[mood]++
		case step%regime == 0:
			changes[regime]++
		default:
			t.Fatalf("step %d: want the width to last, have it change", step)
		}
	}
	if changes[mood] < 150 || changes[regime] < 1_200 {
		t.Errorf("want new widths with nearly each mood and three of four regimes, have %v", changes)
	}
	if least != 2*50 || most != 5*260 || len(seen) < 20 {
		t.Errorf("want widths of 100 to 1300, have %d to %d, %d of them", least, most, len(seen))
	}
}

// The share multiplies before it divides, also beyond 64 bits.
func TestAShareIsExactAndBounded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ number, part, whole, want int64 }{
		{10, 3, 4, 7}, {10, 4, 4, 10}, {7, 0, 3, 0}, {1 << 59, 1 << 40, 1 << 40, 1 << 59}, {1 << 59, 3, 2, 3 << 58},
		{1 << 60, 2, 1, int64(maxPrice)}, {math.MaxInt64, math.MaxInt64, 1, int64(maxPrice)}, {math.MaxInt64, 1, 1, int64(maxPrice)},
	} {
		if have := proportion(c.number, c.part, c.whole); have != c.want {
			t.Errorf("%d x %d / %d: want %d, have %d", c.number, c.part, c.whole, c.want, have)
		}
	}
}
