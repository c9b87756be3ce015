package simulation

import (
	"testing"
)

func TestSeedsHoldTheInvariants(t *testing.T) {
	t.Parallel()
	for seed := uint64(1); seed <= 300; seed++ {
		if result := Run(Options{Seed: seed}); result.Violation != nil {
			t.Errorf("seed %d: %+v", seed, *result.Violation)
		}
	}
}

func TestFaultlessSeedsHoldTheInvariants(t *testing.T) {
	t.Parallel()
	for seed := uint64(1); seed <= 300; seed++ {
		if result := Run(Options{Seed: seed, Weather: &Weather{}}); result.Violation != nil {
			t.Errorf("seed %d: %+v", seed, *result.Violation)
		}
	}
}

func TestTheSameSeedGivesTheSameHash(t *testing.T) {
	t.Parallel()
	for seed := uint64(1); seed <= 50; seed++ {
		if one, two := Run(Options{Seed: seed}), Run(Options{Seed: seed}); one.Hash != two.Hash || one.Stats != two.Stats {
			t.Errorf("seed %d: want %x, have %x", seed, one.Hash, two.Hash)
		}
	}
}

func BenchmarkSeeds(b *testing.B) {
	seed := uint64(0)
	for b.Loop() {
		seed++
		Run(Options{Seed: seed})
	}
}
