package simulation

// draw is a seeded random source (splitmix64). Each part of the world has its own, so an additional draw in
// one part does not change the others.
type draw struct{ state uint64 }

func newDraw(seed, stream uint64) draw { return draw{mix(seed ^ mix(stream))} }

func mix(n uint64) uint64 {
	n += 0x9e3779b97f4a7c15
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return n ^ n>>31
}

func (d *draw) next() uint64 {
	d.state += 0x9e3779b97f4a7c15
	n := d.state
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return n ^ n>>31
}

// unit returns a number in [0, 1).
func (d *draw) unit() float64 { return float64(float64(d.next()>>11) / (1 << 53)) }

// chance returns true with the given probability. At zero it draws nothing, so that a
// fault that is off changes nothing.
func (d *draw) chance(probability float64) bool { return probability > 0 && d.unit() < probability }

// below returns a number in 0..n-1.
func (d *draw) below(n int64) int64 { return int64(d.next() % uint64(n)) }

// between returns a number in least..most, both included.
func (d *draw) between(least, most int64) int64 { return least + d.below(most-least+1) }
