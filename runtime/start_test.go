package runtime

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheMarkShowsARunThatDidNotEndCleanly(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	mark := func(want bool) func() error {
		t.Helper()
		clean, unclean, err := Mark(directory)
		if err != nil {
			t.Fatal(err)
		}
		if unclean != want {
			t.Errorf("unclean: want %t, have %t", want, unclean)
		}
		return clean
	}
	if err := mark(false)(); err != nil {
		t.Fatal(err)
	}
	mark(false) // and the process dies
	clean := mark(true)
	info, err := os.Stat(filepath.Join(directory, markName))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the marker: want mode 0600, have %v, %v", info, err)
	}
	if err := clean(); err != nil {
		t.Fatal(err)
	}
	mark(false)
}

func TestUnwritableMarkIsAnError(t *testing.T) {
	t.Parallel()
	if _, _, err := Mark(filepath.Join(t.TempDir(), "nowhere")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("want %v, have %v", os.ErrNotExist, err)
	}
}

// A start must not proceed as if the last run had ended cleanly.
func TestAMarkThatCannotBeReadOrRemovedIsAnError(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	file := filepath.Join(directory, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if clean, _, err := Mark(file); err == nil || clean != nil || !strings.HasPrefix(err.Error(), "check the running marker: ") {
		t.Errorf("in a file: have %v", err)
	}
	if clean, unclean, err := Mark(filepath.Join(directory, "nowhere")); clean != nil || unclean || err == nil ||
		!strings.HasPrefix(err.Error(), "mark the data directory as running: ") {
		t.Errorf("nowhere: have %t, %v", unclean, err)
	}
	clean, _, err := Mark(directory)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(directory, "running")); err != nil || string(text) != fmt.Sprintln(os.Getpid()) {
		t.Errorf("want the process's id in it, have %q, %v", text, err)
	}
	if err := errors.Join(clean(), os.Remove(file)); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(directory); err != nil || len(left) > 0 {
		t.Errorf("want nothing left, have %v, %v", left, err)
	}
	if err := clean(); !errors.Is(err, os.ErrNotExist) || !strings.HasPrefix(err.Error(), "remove the running marker: ") {
		t.Errorf("a second time: have %v", err)
	}
}
