//go:build mutants

package simulation

import (
	"os"
	"strconv"
	"testing"

	"botd/internal/mutant"
)

// TestEveryMutantIsCaught breaks one rule after another; the simulation must fail
// each time. BOTD_SEEDS bounds the seeds a mutant is given.
func TestEveryMutantIsCaught(t *testing.T) {
	most := 20_000
	if text := os.Getenv("BOTD_SEEDS"); text != "" {
		given, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("BOTD_SEEDS: %v", err)
		}
		most = given
	}
	HuntMutants(t.Context(), mutant.Table, most, 0, func(hunt *Hunt) {
		if hunt.Caught == "" {
			t.Errorf("%-26s want it caught, %d seeds hold: %s", hunt.Mutant, hunt.Tried, hunt.Does)
			return
		}
		t.Logf("%-26s %-18s after %5d seeds, %4d of %5d fail: %s", hunt.Mutant, hunt.Caught, hunt.Seeds, hunt.Failing, hunt.Tried, hunt.Example)
	})
}
