package search

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// Choice is a value for each axis, by its name.
type Choice map[string]string

// Text returns the choice as NAME=VALUE words, in the order of the names.
func (c Choice) Text() string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(c)) {
		words = append(words, name+"="+c[name])
	}
	return strings.Join(words, " ")
}

// Tried is a choice with its objective.
type Tried struct {
	Choice    Choice
	Objective float64 // larger is better; NaN where the trial has none
}

// Space is the set of choices of a sweep.
type Space struct {
	Axes  []Axis
	Where func(Choice) (bool, error) // a condition on every choice; nil for none
}

func (s *Space) allowed(c Choice) (bool, error) {
	if s.Where == nil {
		return true, nil
	}
	return s.Where(c)
}

// Grid returns every allowed combination, the last axis changing fastest.
func (s *Space) Grid() ([]Choice, error) {
	all := []Choice{{}}
	for i := range s.Axes {
		values, err := s.Axes[i].listed()
		if err != nil {
			return nil, err
		}
		if len(all)*len(values) > MaxValues {
			return nil, fmt.Errorf("more than %d combinations; --search random --trials N tries some of them", MaxValues)
		}
		next := make([]Choice, 0, len(all)*len(values))
		for _, choice := range all {
			for _, value := range values {
				with := maps.Clone(choice)
				with[s.Axes[i].Name] = value
				next = append(next, with)
			}
		}
		all = next
	}
	some := all[:0]
	for _, choice := range all {
		fits, err := s.allowed(choice)
		if err != nil {
			return nil, err
		}
		if fits {
			some = append(some, choice)
		}
	}
	return some, nil
}

// Batch is the number of choices that a learning search proposes at a time. It does not depend on the machine, so any
// number of cores proposes the same.
const Batch = 16

// attempts bounds the redraws of a choice that is not allowed, or was tried already.
const attempts = 1_000

// drawer draws the choices of one batch.
type drawer struct {
	space  *Space
	random *rand.Rand
	known  map[string]bool
}

// newDrawer returns a drawer that knows the earlier choices. Batches differ by their number.
func newDrawer(s *Space, seed uint64, batch int, before []Tried) *drawer {
	d := &drawer{space: s, random: rand.New(rand.NewPCG(seed, uint64(batch))), known: map[string]bool{}}
	for i := range before {
		d.known[before[i].Choice.Text()] = true
	}
	return d
}

// choices draws up to n new choices, each by places from 0 to 1 on its axes. failed counts the draws without a new
// choice. It returns fewer when the space is exhausted.
func (d *drawer) choices(n int, place func(axis, failed int) float64) (drawn []Choice, err error) {
	for failed := 0; len(drawn) < n && failed < attempts; {
		c := Choice{}
		for i := range d.space.Axes {
			c[d.space.Axes[i].Name] = d.space.Axes[i].at(place(i, failed))
		}
		fits, err := d.space.allowed(c)
		if err != nil {
			return nil, err
		}
		if !fits || d.known[c.Text()] {
			failed++
			continue
		}
		failed, d.known[c.Text()] = 0, true
		drawn = append(drawn, c)
	}
	return drawn, nil
}

// Random returns the choices of the batch with that number, drawn evenly and without earlier ones.
func (s *Space) Random(seed uint64, batch, n int, before []Tried) ([]Choice, error) {
	d := newDrawer(s, seed, batch, before)
	return d.choices(n, func(int, int) float64 { return d.random.Float64() })
}
