package chaos

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"

	"botd/internal/overlay"
)

// Build builds botd from the source at or above the current directory, with the race detector if this program has it, and returns the binary's path.
func Build(ctx context.Context, directory string, flags ...string) (binary string, err error) {
	if info, known := debug.ReadBuildInfo(); known && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		flags = append(flags, "-race")
	}
	binary = filepath.Join(directory, "botd")
	arguments := append(append([]string{"build"}, flags...), "-o", binary, "botd/cmd/botd")
	if output, err := exec.CommandContext(ctx, "go", arguments...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("build botd: %w\n%s", err, output)
	}
	return binary, nil
}

// CrashEdits returns the edits that insert the crash points into a daemon.
func CrashEdits() []overlay.Edit {
	const table, imported = "internal/chaos/build.go", "botd/internal/chaos/crash"
	around := func(function string) func(string) string {
		return func(code string) string { return function + "(" + code + ")" }
	}
	return []overlay.Edit{
		{Name: "crash points of requests", Table: table, In: "runtime/daemon.process.drive", Code: "Venue: «p.venue.Trading»", Replace: around("crash.Venue"),
			Import: imported},
		{Name: "crash points of commits", Table: table, In: "runtime/daemon.process.drive", Code: "Journal: «timedJournal{p.store, p.metrics, p.backlog}»",
			Replace: around("crash.Journal"), Import: imported},
	}
}

// CrashOverlay writes, into a directory, an overlay for the go command. With it botd kills itself at the point that the environment names (crash.Points).
func CrashOverlay(root, directory string) (path string, err error) {
	return overlay.Write(root, directory, CrashEdits(), nil)
}
