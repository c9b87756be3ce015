// Package mutation measures what tests notice: it changes one small thing of a package after another, and runs the package's tests.
//
// A mutant shifts a comparison by one or inverts it, negates a condition, swaps && and ||
// or + and -, changes a constant, omits a statement, or returns a zero value. An overlay
// for the go command builds all mutants of a package into one test binary; an environment
// variable selects one of them by its number (package active). The source stays unchanged.
// A mutant survives if no test reaches it or if all tests pass with it. Either a test is
// missing, or the mutant has no observable effect; in that case equivalent.txt lists it
// with the reason.
//
//	go run ./cmd/botd-sim mutate ./risk                   # all mutants of a package
//	go run ./cmd/botd-sim mutate ./risk --sample 100      # a sample, the same for the same --seed
//	go run ./cmd/botd-sim mutate --since main --sample 150 --at-least 80
package mutation

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Mutant is one change of the source.
type Mutant struct {
	Number   int    `json:"number"`
	Kind     string `json:"kind"`     // bound, comparison, negation, logic, arithmetic, constant, statement, zero
	Function string `json:"function"` // reconcile.derivation.enter; for a variable of the package: risk.limitTable
	Change   string `json:"change"`   // a < b -> a <= b; the second identical change in a function ends in #2
	File     string `json:"file"`     // path below the module
	Line     int    `json:"line"`

	Outcome Outcome `json:"outcome,omitempty"`
	By      string  `json:"by,omitempty"` // the test that failed, or the reason why it is equivalent
}

// Name identifies the mutant until its code changes.
func (m *Mutant) Name() string { return m.Function + ": " + m.Change }

// Outcome is the result of a mutant.
type Outcome string

// These are the outcomes of a mutant.
const (
	Killed     Outcome = "killed"
	TimedOut   Outcome = "timed out"   // counts as killed
	Survived   Outcome = "survived"    // its code ran, and every test passed
	Unreached  Outcome = "not reached" // no test runs its code
	Equivalent Outcome = "equivalent"  // survived, and is listed with the reason
)

// Options configure a run.
type Options struct {
	Sample int           // number of mutants of all packages together; 0 for all
	Seed   uint64        // of the sample
	Budget time.Duration // processor time, builds included; packages and mutants beyond it are left out; 0 for no limit
	Jobs   int           // run in parallel
	Match  string        // only mutants whose name contains it
	Tests  []string      // further packages whose tests run
	Report func(done, all int)

	Longest time.Duration // processor time, in whole seconds; tests that take longer are left out; 0 for DefaultLongest
}

// DefaultLongest is the processor time without a mutant beyond which a test is left out.
const DefaultLongest = time.Minute

// Score sums up a package.
type Score struct {
	Package    string        `json:"package"`
	Mutants    int           `json:"mutants"` // number of mutants that were run
	Killed     int           `json:"killed"`
	Survived   int           `json:"survived"`
	Unreached  int           `json:"unreached"`
	Equivalent int           `json:"equivalent"`
	Took       time.Duration `json:"took"`
	All        []Mutant      `json:"all"`
}

// OfAll returns the percentage of all mutants that were killed; an equivalent mutant counts as not killed.
func (s *Score) OfAll() float64 { return percentage(s.Killed, s.Mutants) }

// WithoutEquivalent returns the percentage of killed mutants among those that are not equivalent.
func (s *Score) WithoutEquivalent() float64 { return percentage(s.Killed, s.Mutants-s.Equivalent) }

func percentage(killed, of int) float64 {
	if of == 0 {
		return 100
	}
	return 100 * float64(killed) / float64(of)
}

// sample draws mutants of all packages with equal probability.
func sample(packages []*source, options *Options) {
	random := rand.New(rand.NewPCG(options.Seed, 17))
	total := 0
	for _, p := range packages {
		p.mutants = slices.DeleteFunc(p.mutants, func(m *Mutant) bool {
			return !strings.Contains(m.Name(), options.Match)
		})
		total += len(p.mutants)
	}
	if options.Sample != 0 && total > options.Sample {
		chosen := map[int]bool{}
		for _, i := range random.Perm(total)[:options.Sample] {
			chosen[i] = true
		}
		i := -1
		for _, p := range packages {
			p.mutants = slices.DeleteFunc(p.mutants, func(*Mutant) bool { i++; return !chosen[i] })
		}
	}
	if options.Budget == 0 {
		return
	}
	random.Shuffle(len(packages), func(a, b int) { packages[a], packages[b] = packages[b], packages[a] })
	for _, p := range packages {
		random.Shuffle(len(p.mutants), func(a, b int) { p.mutants[a], p.mutants[b] = p.mutants[b], p.mutants[a] })
	}
}

// Below reports whether significantly fewer mutants of a sample were killed than atLeast percent: with that
// share, only one sample in a hundred would have so few. Without a sample it compares the percentage itself.
func Below(killed, mutants int, atLeast float64, sampled bool) bool {
	share := atLeast / 100
	if !sampled {
		return float64(killed) < share*float64(mutants)
	}
	tail := 0.0 // of the binomial distribution
	for k := range killed + 1 {
		tail += math.Exp(choose(mutants, k) + float64(float64(k)*math.Log(share)) + float64(float64(mutants-k)*math.Log1p(-share)))
	}
	return tail < 0.01
}

// choose returns the logarithm of the binomial coefficient.
func choose(n, k int) float64 {
	logarithm := func(n int) float64 { l, _ := math.Lgamma(float64(n + 1)); return l }
	return logarithm(n) - logarithm(k) - logarithm(n-k)
}

// sum counts the outcomes of a package's mutants.
func (p *source) sum(took time.Duration) Score {
	s := Score{Package: p.path, Mutants: len(p.mutants), Took: took}
	for _, m := range p.mutants {
		switch m.Outcome {
		case Killed, TimedOut:
			s.Killed++
		case Survived:
			s.Survived++
		case Unreached:
			s.Unreached++
		case Equivalent:
			s.Equivalent++
		default:
			panic(fmt.Sprintf("mutation: %s has no outcome", m.Name()))
		}
		s.All = append(s.All, *m)
	}
	return s
}
