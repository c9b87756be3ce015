package tidy

import (
	"os"
	"os/exec"
	"testing"

	"botd/internal/chaos"
	"botd/internal/mutant"
	"botd/internal/overlay"
)

// TestEveryEditFindsItsCode fails if code that an overlay edits was moved or reworded. The package comment of
// internal/mutant explains how to adapt an edit.
func TestEveryEditFindsItsCode(t *testing.T) {
	t.Parallel()
	if _, err := overlay.Apply(root(t), append(mutant.Edits(), chaos.CrashEdits()...)); err != nil {
		t.Error(err)
	}
}

// TestEveryEditCompiles fails if the code of an edit no longer fits its surroundings.
func TestEveryEditCompiles(t *testing.T) {
	t.Parallel()
	for _, build := range []struct {
		write func(root, directory string) (string, error)
		what  string
		table string
	}{
		{mutant.Overlay, "./internal/simulation", "internal/mutant/table.go"},
		{chaos.CrashOverlay, "./cmd/botd", "internal/chaos/build.go"},
	} {
		path, err := build.write(root(t), t.TempDir())
		if err != nil {
			t.Skip("TestEveryEditFindsItsCode reports which edit does not find its code")
		}
		command := exec.Command("go", "build", "-o", os.DevNull, "-overlay", path, build.what)
		command.Dir = root(t)
		if output, err := command.CombinedOutput(); err != nil {
			t.Errorf("want every edit to compile: correct what it writes in %s: %v\n%s", build.table, err, output)
		}
	}
}
