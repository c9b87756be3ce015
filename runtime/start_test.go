package runtime

import (
	"errors"
	"os"
	"path/filepath"
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
	mark(false) // and dies
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

func TestAMarkThatCannotBeLeftIsAnError(t *testing.T) {
	t.Parallel()
	if _, _, err := Mark(filepath.Join(t.TempDir(), "nowhere")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("want %v, have %v", os.ErrNotExist, err)
	}
}
