package sim

import (
	"math"
	"math/bits"
)

// The random walk of a symbol is a function of its seed and the step alone, so any part of it can
// be computed on its own. Coarse points are drawn around zero; between two known points, the
// midpoint is drawn around their mean, recursively down to single steps. Values are shares of the
// anchor in billionths, and all arithmetic is on integers.

const (
	walkLevels   = 16     // halvings between two coarse points, which are 2^16 steps apart: 36 hours
	coarseSpread = 800    // the coarse points' deviation is about 3 %
	steadyWidth  = 350    // of intervals longer than moods and regimes
	moodLevels   = 12     // the longest interval whose width depends on regime and mood: 2.3 hours
	regimeSteps  = 1_200  // a width lasts 40 minutes
	moodSteps    = 11_400 // a calm or volatile period 380 minutes
	bumpSteps    = 7_200  // one jump in 4 hours: 0.2 % to 1 %, up or down, forgotten within 8 hours
)

// moods scale every move, in percent.
var moods = [8]int64{50, 70, 90, 100, 110, 140, 190, 260}

// midpointSpread is the deviation of a midpoint in an interval of 2^level steps, in thousandths of
// a single step's: half the root of the length, and twice that for intervals in which a trend lasts
// (17 minutes to 4.5 hours).
var midpointSpread = [walkLevels + 1]int64{
	0, 707, 1_000, 1_414, 2_000, 2_828, 4_000, 5_657, 8_000, 2 * 11_314, 2 * 16_000, 2 * 22_627, 2 * 32_000, 2 * 45_255, 64_000, 90_510, 128_000,
}

// walk computes values of one symbol's walk. It caches the path to the last one, because the next
// step shares most of it.
type walk struct {
	seed      uint64
	known     bool
	step      int64 // the last one
	low, high [walkLevels + 1]int64
	bump      [3]bump
	bumpSlot  int64
	regime    int64 // the slots of which width is
	mood      int64
	width     int64
}

// newWalk returns the walk of a symbol.
func newWalk(seed uint64, symbol string) walk {
	seed = mix(seed)
	for _, letter := range []byte(symbol) {
		seed = mix(seed ^ uint64(letter))
	}
	return walk{seed: seed, bumpSlot: math.MinInt64, regime: math.MinInt64}
}

// bump is one jump of the price.
type bump struct{ from, size int64 }

// at returns the walk's value at a step.
func (w *walk) at(step int64) int64 {
	level := walkLevels
	if differ := bits.Len64(uint64(step ^ w.step)); !w.known || differ > walkLevels {
		first := step >> walkLevels << walkLevels
		w.low[level], w.high[level] = bell(w.draw(first))*coarseSpread, bell(w.draw(first+1<<walkLevels))*coarseSpread
	} else {
		level = differ
	}
	w.known, w.step = true, step
	for ; level > 0; level-- {
		half := int64(1) << (level - 1)
		position := step>>level<<level + half
		width := int64(steadyWidth)
		if level <= moodLevels {
			width = w.widthAt(position)
		}
		middle := (w.low[level]+w.high[level])/2 + bell(w.draw(position))*width/100*midpointSpread[level]/1000
		if step&half != 0 {
			w.low[level-1], w.high[level-1] = middle, w.high[level]
		} else {
			w.low[level-1], w.high[level-1] = w.low[level], middle
		}
	}
	return w.low[0] + w.bumps(step)
}

func (w *walk) draw(position int64) uint64 { return mix(w.seed ^ uint64(position)*0x9e3779b97f4a7c15) }

// bell is a bell curve around zero from four uniform draws; its deviation is about 38000.
func bell(draw uint64) int64 {
	return int64(draw&0xffff) + int64(draw>>16&0xffff) + int64(draw>>32&0xffff) + int64(draw>>48&0xffff) - 2*0xffff
}

// bumps returns the sum of the latest jumps at a step.
func (w *walk) bumps(step int64) (sum int64) {
	if slot := step / bumpSteps; slot != w.bumpSlot {
		for i := range w.bump {
			first := (slot - int64(i)) * bumpSteps
			draw := mix(w.seed ^ uint64(first) ^ 0x9e3779b9)
			w.bump[i] = bump{first + int64(draw%bumpSteps), (int64(draw>>32&1)*2 - 1) * (2_000_000 + int64(draw>>33)%8_000_000)}
		}
		w.bumpSlot = slot
	}
	for _, b := range w.bump {
		if age := step - b.from; age >= 0 && age < 2*bumpSteps {
			sum += b.size * (2*bumpSteps - age) / (2 * bumpSteps)
		}
	}
	return sum
}

// widthAt returns the width of the moves at a step, in percent: 2 to 5 by the regime, times the
// mood.
func (w *walk) widthAt(step int64) int64 {
	regime, mood := step/regimeSteps, step/moodSteps
	if regime != w.regime || mood != w.mood {
		w.regime, w.mood = regime, mood
		w.width = 2 + int64(mix(w.seed^uint64(regime)^0x5bd1e995)>>32&3)
		w.width *= moods[mix(w.seed^uint64(mood)^0x2545f491)&7]
	}
	return w.width
}

// proportion returns number x part / whole, at most maxPrice.
func proportion(number, part, whole int64) int64 {
	high, low := bits.Mul64(uint64(number), uint64(part))
	if high >= uint64(whole) {
		return int64(maxPrice)
	}
	quotient, _ := bits.Div64(high, low, uint64(whole))
	return int64(min(quotient, uint64(maxPrice)))
}
