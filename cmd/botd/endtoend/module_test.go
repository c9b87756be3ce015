package endtoend

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"botd/internal/failure"
)

// A strategy in a separate module builds, passes its test, and is one of botd's strategies in the resulting
// program.
func TestStrategyInSeparateModuleBuildsAndTrades(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds a whole program: not with -short")
	}
	directory := filepath.Join(t.TempDir(), "mine")
	var stdout, stderr bytes.Buffer
	if code := execute([]string{"strategy", "new", "my-idea", "--go", directory}, &stdout, &stderr); code != failure.OK {
		t.Fatalf("exit %d: %s", code, stderr.String())
	}
	workspace := "GOWORK=off" // as a person's go command would: its given files must suffice
	run := func(arguments ...string) string {
		t.Helper()
		command := exec.Command("go", arguments...)
		command.Dir = directory
		command.Env = append(os.Environ(), workspace)
		output, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(arguments, " "), err, output)
		}
		return string(output)
	}
	run("list", "-deps", "-test", ".") // its go.mod and go.sum are complete
	// With -trimpath a package is compiled again for each module that requires it. In a workspace the existing one is used.
	workspace = "GOWORK=" + filepath.Join(directory, "go.work")
	run("work", "init", ".", pathOf(t, above))
	run("vet", ".")
	if output := run("test", "-v", "."); !strings.Contains(output, "fills, final equity") {
		t.Errorf("want its test to trade, have %s", output)
	}
	if output := run("run", ".", "strategy", "show", "my_idea"); !strings.Contains(output, "long while a fast average is above a slow one") ||
		!strings.Contains(output, "candles of the slow average") {
		t.Errorf("want it shown as one of botd's, have %s", output)
	}
	if output := run("run", ".", "strategy", "list"); !strings.Contains(output, "sma_cross") {
		t.Errorf("want the built-in ones beside it, have %s", output)
	}
}
