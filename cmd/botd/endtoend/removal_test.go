package endtoend

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"botd/internal/startclock"
)

const removedYAML = `name: mine
strategy: script
file: mine.star
market: futures
symbol: BTC-USDT
interval: 1m
schedule: "@every 1s"
size: {quantity: 0.01}
on_remove: flatten
`

// The folder of the strategies disappears for a moment, as while git checks out another branch. Nothing is
// removed. A start without it removes nothing either, until a person confirms it.
func TestVanishedFolderRemovesNoStrategy(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	folder, away := filepath.Join(directory, "configs", "strategies"), filepath.Join(directory, "configs", "away")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(file, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(directory, "configs", file), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("botd.yaml", "mode: demo\ndata_dir: ./data\n")
	write("strategies/mine.yaml", removedYAML)
	write("strategies/mine.star", "def decide(view):\n    return hold(\"long\", reason = \"a test\")\n")
	move := func(from, to string) {
		t.Helper()
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	binary := build(t)
	d := start(t, binary, directory)
	d.until(t, "position.changed")

	move(folder, away)
	d.until(t, "config.removal_waits")
	eventually(t, "status declares what would be closed", func() bool {
		_, have := askDemo(t, directory, "/api/v1/status")
		return strings.Contains(have, `"state":"removal"`) && strings.Contains(have, "close its position")
	})
	move(away, folder)
	write("strategies/mine.yaml", strings.Replace(removedYAML, "0.01", "0.02", 1))
	if story := d.until(t, "config.reloaded"); slices.Contains(story, "config.strategy_removed") || slices.Contains(story, "order.placed") {
		t.Errorf("a folder that was away for a moment: want nothing removed and nothing sent, have %v", story)
	}
	eventually(t, "nothing is declared once the files are back", func() bool {
		_, have := askDemo(t, directory, "/api/v1/status")
		return !strings.Contains(have, `"state":"removal"`)
	})
	if err := d.process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	d.until(t, "daemon.stopped")
	_ = d.wait()

	move(folder, away)
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	d = start(t, binary, directory)
	if story := d.until(t, "config.removal_waits"); slices.Contains(story, "order.placed") {
		t.Errorf("a start without the files: want nothing sent, have %v", story)
	}
	reload := exec.Command(binary, startclock.Arguments([]string{"reload"})...)
	reload.Dir = directory
	if output, err := reload.CombinedOutput(); err != nil {
		t.Fatalf("botd reload: %v\n%s", err, output)
	}
	d.until(t, "order.fill")
	d.until(t, "position.changed")
}
