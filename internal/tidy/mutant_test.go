package tidy

import (
	"os/exec"
	"testing"

	"botd/internal/mutant"
)

// TestEveryMutantFindsItsCode fails when code that a mutant edits was moved or
// reworded. The package comment of internal/mutant says how to carry it along.
func TestEveryMutantFindsItsCode(t *testing.T) {
	t.Parallel()
	if _, err := mutant.Apply(root(t), mutant.Table); err != nil {
		t.Error(err)
	}
}

// TestEveryMutantCompiles fails when a mutant's Wrong no longer fits the code
// around it.
func TestEveryMutantCompiles(t *testing.T) {
	t.Parallel()
	overlay, err := mutant.Instrument(root(t), t.TempDir())
	if err != nil {
		t.Skip("TestEveryMutantFindsItsCode says which mutant does not find its code")
	}
	command := exec.Command("go", "build", "-overlay", overlay, "./internal/simulation")
	command.Dir = root(t)
	if output, err := command.CombinedOutput(); err != nil {
		t.Errorf("want every mutant to compile: correct its Wrong in internal/mutant/table.go: %v\n%s", err, output)
	}
}
