package reconcile

import (
	"testing"

	"botd/internal/mutant"
)

// TestRulesOfTheEquationShowWhenTheyAreBroken breaks the rules that no seed can
// show, since snapshots L apart make up for them (docs/simulation.md).
func TestRulesOfTheEquationShowWhenTheyAreBroken(t *testing.T) {
	if !mutant.Built() {
		t.Skip("no rule can be broken in this build: .ci/run makes the one with the overlay of internal/mutant")
	}
	defer mutant.Break("")
	mutant.Break("moved_snapshot")
	if right, have := 4, afterAMove(t); right == have {
		t.Errorf("moved_snapshot: want it decided sooner than in the %dth second", right)
	}
	mutant.Break("fills_meanwhile")
	if right, have := 5, afterAFill(t); right == have {
		t.Errorf("fills_meanwhile: want it decided sooner than in the %dth second", right)
	}
	mutant.Break("own_trades_ignored")
	if have := tradedUnseen(t); have != 0 {
		t.Errorf("own_trades_ignored: want nothing counted, have %d", have)
	}
}
