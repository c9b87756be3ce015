package starter

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"botd/internal/failure"
)

func TestAScriptIsWrittenOnce(t *testing.T) {
	t.Parallel()
	directory, names := filepath.Join(t.TempDir(), "strategies"), []string(nil)
	write := func(name string) error {
		return WriteScript(name, directory, func(file string) { names = append(names, filepath.Base(file)) })
	}
	if err := write("my-idea"); err != nil || !slices.Equal(names, []string{"my-idea.star", "my-idea.yaml"}) {
		t.Fatalf("want script and settings, have %q, %v", names, err)
	}
	text, err := os.ReadFile(filepath.Join(directory, "my-idea.yaml"))
	if err != nil || !strings.Contains(string(text), "my-idea") {
		t.Errorf("want settings of my-idea, have %s, %v", text, err)
	}
	for _, name := range []string{"my-idea", "Idea", ""} {
		if err := write(name); failure.CodeOf(err) != failure.Usage {
			t.Errorf("%q: want a refusal, have %v", name, err)
		}
	}
	if len(names) != 2 {
		t.Errorf("want nothing further written, have %q", names)
	}
}

func TestAModuleNeedsAnEmptyDirectoryAndTheSource(t *testing.T) {
	t.Parallel()
	full, none := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "notes"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	written := 0
	count := func(string) { written++ }
	if _, err := WriteModule("my-idea", full, root, count); failure.CodeOf(err) != failure.Usage || written != 0 {
		t.Errorf("a full directory: want a refusal, have %v", err)
	}
	if _, err := WriteModule("my-idea", none, t.TempDir(), count); failure.CodeOf(err) != failure.NoInput || written != 0 {
		t.Errorf("no source: want a refusal, have %v", err)
	}
	kind, err := WriteModule("my-idea", none, root, count)
	if err != nil || kind != "my_idea" || written != len(moduleFiles) {
		t.Fatalf("want the kind and all files, have %q, %d, %v", kind, written, err)
	}
	text, err := os.ReadFile(filepath.Join(none, "go.mod"))
	if err != nil || !strings.Contains(string(text), "\nrequire (") || !strings.Contains(string(text), root) {
		t.Errorf("want botd's requirements and its source, have %s, %v", text, err)
	}
}
