package haltfile

import (
	"path/filepath"
	"slices"
	"testing"

	"botd/internal/disk/disktest"
	"botd/reconcile/record"
)

// Without a path nothing is left of the halt. With one the file is complete, although a power failure may remove it.
func TestEachFileCallOfAHaltFails(t *testing.T) {
	t.Parallel()
	calls := disktest.EachCallFails(t, func(directory string, reported func(error)) {
		want := Halt{AtMS: 1, By: "ann", Level: record.LevelFlatten, Reason: "stop"}
		path, err := Write(directory, want, nil)
		if err != nil {
			reported(err)
			if n := left(t, directory); (path == "") != (n == 0) {
				t.Errorf("%v: want no file without a path, have %q and %d files", err, path, n)
			}
			if path == "" {
				path, err = Write(directory, want, nil)
			}
		}
		if path == "" {
			t.Fatal(err)
		}
		if have, err := read(path); err != nil || have != want || left(t, directory) != 1 {
			t.Errorf("want the halt as written, have %+v, %v", have, err)
		}
	})
	synced := func(c disktest.Call) bool { return c.Kind == "fsync" && filepath.Base(c.Path) == "here" }
	if calls != nil && !slices.ContainsFunc(calls, synced) {
		t.Errorf("want the directory on disk too, have %v", calls)
	}
}
