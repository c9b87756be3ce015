//go:build mutants

package reconcile

import (
	"testing"

	"botd/internal/mutant"
)

// TestRulesOfTheEquationShowWhenTheyAreBroken breaks the rules that no seed can
// show, since snapshots L apart make up for them (docs/simulation.md).
func TestRulesOfTheEquationShowWhenTheyAreBroken(t *testing.T) {
	defer mutant.Break(mutant.None)
	mutant.Break(mutant.MovedSnapshot)
	if right, have := 4, afterAMove(t); right == have {
		t.Errorf("moved_snapshot: want it decided sooner than in the %dth second", right)
	}
	mutant.Break(mutant.FillsMeanwhile)
	if right, have := 5, afterAFill(t); right == have {
		t.Errorf("fills_meanwhile: want it decided sooner than in the %dth second", right)
	}
}
