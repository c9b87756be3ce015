//go:build mutants

package simulation

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"botd/internal/mutant"
)

// TestEveryMutantIsCaught breaks one rule after another; the simulation must fail
// each time. The seed that noticed it last is tried first; BOTD_SEEDS bounds the
// seeds a mutant is given after that.
func TestEveryMutantIsCaught(t *testing.T) {
	most := 20_000
	if text := os.Getenv("BOTD_SEEDS"); text != "" {
		given, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("BOTD_SEEDS: %v", err)
		}
		most = given
	}
	defer mutant.Break(mutant.None)
	known := knownSeeds(t)
	for _, row := range mutant.Table {
		mutant.Break(row.Rule)
		if result := Run(Options{Seed: known[row.Name]}); result.Violation != nil {
			t.Logf("%-26s %-16s by seed %5d: %s", row.Name, result.Violation.Rule, known[row.Name], result.Violation.Text)
			continue
		}
		HuntMutants(t.Context(), []mutant.Row{row}, most, 0, func(hunt *Hunt) {
			if hunt.Caught == "" {
				t.Errorf("%-26s want it caught, %d seeds hold: %s", hunt.Mutant, hunt.Tried, hunt.Does)
				return
			}
			t.Logf("%-26s %-16s by seed %5d, not by %d any more: %s", hunt.Mutant, hunt.Caught, hunt.Seeds, known[row.Name], hunt.Example)
		})
	}
}

// knownSeeds are the seeds that notice each mutant, as last hunted for.
func knownSeeds(t *testing.T) map[string]uint64 {
	t.Helper()
	text, err := os.ReadFile("testdata/mutants.txt")
	if err != nil {
		t.Fatal(err)
	}
	seeds := map[string]uint64{}
	for number, line := range strings.Split(string(text), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		var name string
		var seed uint64
		if _, err := fmt.Sscan(line, &name, &seed); err != nil {
			t.Fatalf("testdata/mutants.txt:%d: %v", number+1, err)
		}
		if _, err := mutant.Find(name); err != nil {
			t.Errorf("testdata/mutants.txt:%d: %v", number+1, err)
		}
		seeds[name] = seed
	}
	return seeds
}
