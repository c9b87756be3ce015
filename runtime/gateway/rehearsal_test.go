package gateway

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"botd/internal/failure"
	"botd/reconcile/journal"
)

// TestACopyOfAStateLeavesNothingBehind covers the state of a demo, one that is damaged, a folder in its place, and none.
func TestACopyOfAStateLeavesNothingBehind(t *testing.T) {
	config, temporary := demoConfig(), t.TempDir()
	config.DataDir = t.TempDir()
	directory := filepath.Join(config.DataDir, "demo")
	if err := os.Mkdir(directory, 0o700); err != nil {
		t.Fatal(err)
	}
	v, err := Open(t.Context(), config, directory, DemoMarket{Seed: 3}, Network{})
	if err == nil {
		err = errors.Join(v.Reach(t.Context()), v.Stop())
	}
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(directory, journal.AccountFile)
	damaged := filepath.Join(t.TempDir(), "state")
	if err := os.WriteFile(damaged, []byte("none"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", temporary)
	for _, c := range []struct {
		path  string
		code  int
		found bool
	}{{path, failure.OK, true}, {damaged, failure.Data, false}, {directory, failure.IO, false}, {path + ".none", failure.OK, false}} {
		state, err := copyOfState(c.path)
		if (err != nil) != (c.code != failure.OK) || err != nil && failure.CodeOf(err) != c.code || (len(state) > 0) != c.found {
			t.Errorf("%s: want code %d, have %d bytes, %v", c.path, c.code, len(state), err)
		}
		if left, err := os.ReadDir(temporary); err != nil || len(left) != 0 {
			t.Errorf("%s: want nothing left, have %v, %v", c.path, left, err)
		}
	}
	t.Setenv("TMPDIR", filepath.Join(temporary, "none"))
	if _, err := copyOfState(path); failure.CodeOf(err) != failure.IO {
		t.Errorf("without a place for it: have %v", err)
	}
}
