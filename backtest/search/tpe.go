package search

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
)

// The tree-structured Parzen estimator (Bergstra, Bardenet, Bengio, Kégl: Algorithms for Hyper-Parameter
// Optimization, 2011). A share of the trials so far is good. Each axis has a density of the good trials and one of
// the others. Of some places drawn from the first density, the next trial takes the one with the largest ratio of the
// first to the second.
const (
	startingTrials = 2 * Batch // drawn evenly, before the search learns
	goodShare      = 0.2
	candidates     = 4    // few: a batch is proposed at once, and would otherwise cluster at one place
	minWidth       = 0.02 // of a kernel, as a share of the axis
)

// TPE returns the choices of the batch with that number, based on the earlier trials.
func (s *Space) TPE(seed uint64, batch, n int, before []Tried) ([]Choice, error) {
	if len(before) < startingTrials {
		return s.Random(seed, batch, n, before)
	}
	ranked := slices.Clone(before)
	slices.SortFunc(ranked, func(a, b Tried) int { // by text where equal, so the order of arrival has no effect
		return cmp.Or(cmp.Compare(b.Objective, a.Objective), strings.Compare(a.Choice.Text(), b.Choice.Text())) // NaN compares below all numbers
	})
	good := int(goodShare * float64(len(ranked)))
	d := newDrawer(s, seed, batch, before)
	densities := make([][2]density, len(s.Axes))
	for i := range s.Axes {
		densities[i] = [2]density{s.Axes[i].density(ranked[:good]), s.Axes[i].density(ranked[good:])}
	}
	return d.choices(n, func(axis, failed int) float64 {
		if failed >= attempts/2 { // everything near the good trials was tried
			return d.random.Float64()
		}
		var best float64
		most := math.Inf(-1)
		for range candidates {
			place := densities[axis][0].draw(d.random.Float64(), d.random.NormFloat64())
			if gain := math.Log(densities[axis][0].at(place)) - math.Log(densities[axis][1].at(place)); gain > most {
				best, most = place, gain
			}
		}
		return best
	})
}

// density is a mixture of a uniform kernel and normal kernels at the places of trials.
type density struct {
	places []float64
	width  float64
}

func (a *Axis) density(trials []Tried) density {
	d := density{}
	for i := range trials {
		if place, known := a.place(trials[i].Choice[a.Name]); known {
			d.places = append(d.places, place)
		}
	}
	d.width = max(minWidth, widthOf(d.places))
	return d
}

// widthOf returns the width of the kernels by Scott's rule: the spread of the places times n^(-1/5).
func widthOf(places []float64) float64 {
	n, sum, squares := float64(len(places)), 0.0, 0.0
	for _, place := range places {
		sum, squares = sum+place, squares+float64(place*place)
	}
	if n < 2 {
		return 1
	}
	return float64(math.Sqrt(max(0, squares/n-sum/n*sum/n)) * math.Pow(n, -0.2))
}

// place is the inverse of at: it returns the place of a value on the axis.
func (a *Axis) place(value string) (float64, bool) {
	if a.Range == nil {
		i := slices.Index(a.Values, value)
		return (float64(i) + 0.5) / float64(len(a.Values)), i >= 0
	}
	r := a.Range
	x, err := strconv.ParseFloat(strings.TrimSuffix(value, r.Unit), 64)
	if err != nil || r.To <= r.From {
		return 0, false
	}
	switch {
	case r.Log:
		return (math.Log(x) - math.Log(r.From)) / (math.Log(r.To) - math.Log(r.From)), true
	case r.Places == 0:
		return (x - r.From + 0.5) / (r.To - r.From + 1), true
	}
	return (x - r.From) / (r.To - r.From), true
}

// draw returns a place: which selects the kernel, and normal the place in it.
func (d *density) draw(which, normal float64) float64 {
	kernel := int(which * float64(len(d.places)+1))
	if kernel == len(d.places) {
		fraction := float64(which*float64(len(d.places)+1)) - float64(kernel)
		return min(fraction, math.Nextafter(1, 0))
	}
	return min(max(0, d.places[kernel]+float64(d.width*normal)), math.Nextafter(1, 0))
}

func (d *density) at(place float64) float64 {
	sum := 1.0 // the uniform kernel
	for _, center := range d.places {
		z := (place - center) / d.width
		sum += math.Exp(-z*z/2) / (d.width * math.Sqrt(2*math.Pi))
	}
	return sum / float64(len(d.places)+1)
}
