package indicator

import "math"

// Candlestick patterns, as TA-Lib's CDL functions with its default settings: 100 if a bullish
// pattern ends with this candle, -100 if a bearish one does, else 0; 80 in place of 100 if
// engulfing and harami touch at one end. Long, short and near are relative to the preceding
// candles. Patterns with a gap are rare in markets that never close.

// pattern is the definition of one candlestick pattern.
type pattern struct {
	name, summary string
	before        int // candles before the first value
	find          func(p *candlesticks) float64
}

// patterns lists all candlestick patterns.
func patterns() []pattern {
	return []pattern{
		{"belt_hold", "a long candle that opens at its extreme", 10, beltHold},
		{"dark_cloud_cover", "a rising candle, then one that opens above and falls below its middle", 11, darkCloudCover},
		{"doji", "a candle that closes where it opened", 10, doji},
		{"dragonfly_doji", "a doji with a lower shadow only", 10, dragonflyDoji},
		{"engulfing", "a body that engulfs the opposite one before it", 2, engulfing},
		{"evening_star", "a long rise, a small body above it, a fall into the first", 12, eveningStar},
		{"gravestone_doji", "a doji with an upper shadow only", 10, gravestoneDoji},
		{"hammer", "a small body with a long lower shadow near the lows", 11, hammer},
		{"hanging_man", "a small body with a long lower shadow near the highs", 11, hangingMan},
		{"harami", "a small body inside the long one before it", 11, harami},
		{"inverted_hammer", "a small body with a long upper shadow after a gap down", 11, invertedHammer},
		{"long_legged_doji", "a doji with a long shadow", 10, longLeggedDoji},
		{"marubozu", "a long candle without shadows", 10, marubozu},
		{"morning_star", "a long fall, a small body below it, a rise into the first", 12, morningStar},
		{"piercing", "a falling candle, then one that opens below and rises above its middle", 11, piercing},
		{"shooting_star", "a small body with a long upper shadow after a gap up", 11, shootingStar},
		{"spinning_top", "a small body between two longer shadows", 10, spinningTop},
		{"three_black_crows", "three falling candles, each opening inside the one before", 13, threeBlackCrows},
		{"three_inside", "a harami that the third candle confirms", 12, threeInside},
		{"three_outside", "an engulfing pattern that the third candle confirms", 3, threeOutside},
		{"three_white_soldiers", "three rising candles, each opening inside the one before", 12, threeWhiteSoldiers},
	}
}

// patternDefinitions returns the patterns as indicators.
func patternDefinitions() (all []Definition) {
	for _, p := range patterns() {
		all = append(all, Definition{p.name, "candlestick pattern: " + p.summary, nil, one, func([]float64) Stream {
			seen := &candlesticks{}
			return each(func(bar Bar, values outputs) {
				seen.add(bar)
				values.set(seen.count > p.before, p.find(seen))
			})
		}})
	}
	return all
}

// candlesticks holds the last candles. Candles before the first are empty.
type candlesticks struct {
	ring  [16]Bar
	count int
}

func (p *candlesticks) add(bar Bar) {
	p.ring[p.count%len(p.ring)] = bar
	p.count++
}

// at returns the candle n before the newest.
func (p *candlesticks) at(n int) *Bar {
	return &p.ring[(p.count+len(p.ring)-1-n)%len(p.ring)]
}

// setting is the reference that a part of a candle is compared with: a share of the mean of the
// preceding candles, or of the candle itself if their number is zero.
type setting struct {
	of      func(b *Bar) float64
	candles int
	share   float64
}

// TA-Lib's default settings.
var (
	longBody        = setting{body, 10, 1}
	shortBody       = setting{body, 10, 1}
	dojiBody        = setting{span, 10, 0.1}
	longShadow      = setting{body, 0, 1}
	veryShortShadow = setting{span, 10, 0.1}
	near            = setting{span, 5, 0.2}
	far             = setting{span, 5, 0.6}
)

// usual returns a setting's value at the candle n before the newest.
func (p *candlesticks) usual(m setting, n int) float64 {
	if m.candles == 0 {
		return float64(m.share * m.of(p.at(n)))
	}
	total := 0.0
	for i := m.candles; i > 0; i-- { // from the oldest, as TA-Lib adds them
		total += m.of(p.at(n + i))
	}
	return float64(m.share * (total / float64(m.candles)))
}

func body(b *Bar) float64        { return math.Abs(b.Close - b.Open) }
func span(b *Bar) float64        { return b.High - b.Low }
func top(b *Bar) float64         { return max(b.Open, b.Close) }
func bottom(b *Bar) float64      { return min(b.Open, b.Close) }
func upperShadow(b *Bar) float64 { return b.High - top(b) }
func lowerShadow(b *Bar) float64 { return bottom(b) - b.Low }
func rises(b *Bar) bool          { return b.Close >= b.Open }

// color returns 1 for a rising candle, -1 for a falling one.
func color(b *Bar) float64 {
	if rises(b) {
		return 1
	}
	return -1
}

func when(found bool, value float64) float64 {
	if found {
		return value
	}
	return 0
}

func (p *candlesticks) long(n int) bool      { return body(p.at(n)) > p.usual(longBody, n) }
func (p *candlesticks) small(n int) bool     { return body(p.at(n)) < p.usual(shortBody, n) }
func (p *candlesticks) atMost(n int) bool    { return body(p.at(n)) <= p.usual(shortBody, n) }
func (p *candlesticks) doji(n int) bool      { return body(p.at(n)) <= p.usual(dojiBody, n) }
func (p *candlesticks) noUpper(n int) bool   { return upperShadow(p.at(n)) < p.usual(veryShortShadow, n) }
func (p *candlesticks) noLower(n int) bool   { return lowerShadow(p.at(n)) < p.usual(veryShortShadow, n) }
func (p *candlesticks) longUpper(n int) bool { return upperShadow(p.at(n)) > p.usual(longShadow, n) }
func (p *candlesticks) longLower(n int) bool { return lowerShadow(p.at(n)) > p.usual(longShadow, n) }
func (p *candlesticks) gapUp(n int) bool     { return bottom(p.at(n)) > top(p.at(n+1)) }
func (p *candlesticks) gapDown(n int) bool   { return top(p.at(n)) < bottom(p.at(n+1)) }
func (p *candlesticks) inside(n int) bool {
	return top(p.at(n)) < top(p.at(n+1)) && bottom(p.at(n)) > bottom(p.at(n+1))
}
func (p *candlesticks) insideOrAt(n int) bool {
	return top(p.at(n)) <= top(p.at(n+1)) && bottom(p.at(n)) >= bottom(p.at(n+1))
}

func doji(p *candlesticks) float64 { return when(p.doji(0), 100) }

func dragonflyDoji(p *candlesticks) float64 {
	return when(p.doji(0) && p.noUpper(0) && lowerShadow(p.at(0)) > p.usual(veryShortShadow, 0), 100)
}

func gravestoneDoji(p *candlesticks) float64 {
	return when(p.doji(0) && p.noLower(0) && upperShadow(p.at(0)) > p.usual(veryShortShadow, 0), 100)
}

func longLeggedDoji(p *candlesticks) float64 {
	return when(p.doji(0) && (p.longLower(0) || p.longUpper(0)), 100)
}

func marubozu(p *candlesticks) float64 {
	return when(p.long(0) && p.noUpper(0) && p.noLower(0), float64(100*color(p.at(0))))
}

func beltHold(p *candlesticks) float64 {
	b := p.at(0)
	return when(p.long(0) && (rises(b) && p.noLower(0) || !rises(b) && p.noUpper(0)), float64(100*color(b)))
}

func spinningTop(p *candlesticks) float64 {
	b := p.at(0)
	return when(p.small(0) && upperShadow(b) > body(b) && lowerShadow(b) > body(b), float64(100*color(b)))
}

func hammer(p *candlesticks) float64 {
	return when(p.small(0) && p.longLower(0) && p.noUpper(0) && bottom(p.at(0)) <= p.at(1).Low+p.usual(near, 1), 100)
}

func hangingMan(p *candlesticks) float64 {
	return when(p.small(0) && p.longLower(0) && p.noUpper(0) && bottom(p.at(0)) >= p.at(1).High-p.usual(near, 1), -100)
}

func invertedHammer(p *candlesticks) float64 {
	return when(p.small(0) && p.longUpper(0) && p.noLower(0) && p.gapDown(0), 100)
}

func shootingStar(p *candlesticks) float64 {
	return when(p.small(0) && p.longUpper(0) && p.noLower(0) && p.gapUp(0), -100)
}

func engulfing(p *candlesticks) float64 {
	now, before := p.at(0), p.at(1)
	if rises(now) == rises(before) || top(now) < top(before) || bottom(now) > bottom(before) ||
		top(now) == top(before) && bottom(now) == bottom(before) {
		return 0
	}
	if now.Open != before.Close && now.Close != before.Open {
		return float64(100 * color(now))
	}
	return float64(80 * color(now))
}

func harami(p *candlesticks) float64 {
	switch {
	case !p.long(1) || !p.atMost(0):
		return 0
	case p.inside(0):
		return float64(-100 * color(p.at(1)))
	case p.insideOrAt(0):
		return float64(-80 * color(p.at(1)))
	}
	return 0
}

func piercing(p *candlesticks) float64 {
	now, before := p.at(0), p.at(1)
	return when(!rises(before) && p.long(1) && rises(now) && p.long(0) && now.Open < before.Low && now.Close < before.Open &&
		now.Close > before.Close+float64(body(before)*0.5), 100)
}

func darkCloudCover(p *candlesticks) float64 {
	now, before := p.at(0), p.at(1)
	return when(rises(before) && p.long(1) && !rises(now) && now.Open > before.High && now.Close > before.Open &&
		now.Close < before.Close-float64(body(before)*0.5), -100)
}

func morningStar(p *candlesticks) float64 {
	now, first := p.at(0), p.at(2)
	return when(p.long(2) && !rises(first) && p.atMost(1) && p.gapDown(1) && body(now) > p.usual(shortBody, 0) && rises(now) &&
		now.Close > first.Close+float64(body(first)*0.3), 100)
}

func eveningStar(p *candlesticks) float64 {
	now, first := p.at(0), p.at(2)
	return when(p.long(2) && rises(first) && p.atMost(1) && p.gapUp(1) && body(now) > p.usual(shortBody, 0) && !rises(now) &&
		now.Close < first.Close-float64(body(first)*0.3), -100)
}

func threeInside(p *candlesticks) float64 {
	now, first := p.at(0), p.at(2)
	confirmed := rises(first) && !rises(now) && now.Close < first.Open || !rises(first) && rises(now) && now.Close > first.Open
	return when(p.long(2) && p.atMost(1) && p.inside(1) && confirmed, float64(-100*color(first)))
}

func threeOutside(p *candlesticks) float64 {
	now, middle, first := p.at(0), p.at(1), p.at(2)
	up := rises(middle) && !rises(first) && middle.Close > first.Open && middle.Open < first.Close && now.Close > middle.Close
	down := !rises(middle) && rises(first) && middle.Open > first.Close && middle.Close < first.Open && now.Close < middle.Close
	return when(up || down, float64(100*color(middle)))
}

func threeWhiteSoldiers(p *candlesticks) float64 {
	for n := range 3 {
		if !rises(p.at(n)) || !p.noUpper(n) {
			return 0
		}
	}
	for n := range 2 {
		now, before := p.at(n), p.at(n+1)
		if now.Close <= before.Close || now.Open <= before.Open || now.Open > before.Close+p.usual(near, n+1) ||
			body(now) <= body(before)-p.usual(far, n+1) {
			return 0
		}
	}
	return when(body(p.at(0)) > p.usual(shortBody, 0), 100)
}

func threeBlackCrows(p *candlesticks) float64 {
	for n := range 3 {
		if rises(p.at(n)) || !p.noLower(n) {
			return 0
		}
	}
	for n := range 2 {
		now, before := p.at(n), p.at(n+1)
		if now.Open >= before.Open || now.Open <= before.Close || now.Close >= before.Close {
			return 0
		}
	}
	return when(rises(p.at(3)) && p.at(3).High > p.at(2).Close, -100)
}
