package journal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// sizeOf returns a file's size; -1 if there is none.
func sizeOf(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return -1
	}
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// The reserve is 4 MiB by default (docs/operations.md). While it is in use, its state is reported.
func TestTheReserveIsTakenSpentAndTakenAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ set, size int64 }{{0, 4 << 20}, {3 << 20, 3 << 20}, {100_001, 100_001}} {
		r := reserve{path: filepath.Join(t.TempDir(), "reserve"), size: c.set}
		r.begin()
		if have := sizeOf(t, r.path); have != c.size || r.low != "" || r.refill() != "" {
			t.Fatalf("want %d bytes taken, have %d, %q", c.size, have, r.low)
		}
		old := time.Unix(1_700_000_000, 0)
		if err := os.Chtimes(r.path, old, old); err != nil {
			t.Fatal(err)
		}
		again := reserve{path: r.path, size: c.set}
		again.begin()
		if info, err := os.Stat(r.path); err != nil || !info.ModTime().Equal(old) || again.low != "" {
			t.Errorf("want one that is there left as it is, have %v, %v, %q", info.ModTime(), err, again.low)
		}
		if !r.spend() || sizeOf(t, r.path) != -1 || r.spend() {
			t.Error("want it given up once")
		}
		if r.refill() != "" || sizeOf(t, r.path) != c.size || !r.spend() {
			t.Errorf("want it taken again, and spent again, have %q", r.low)
		}
	}
	r := reserve{path: filepath.Join(t.TempDir(), "reserve"), size: 4 << 20}
	if err := os.WriteFile(r.path, []byte("of another size"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r.begin(); sizeOf(t, r.path) != 4<<20 || r.low != "" {
		t.Errorf("want one of another size replaced, have %d bytes, %q", sizeOf(t, r.path), r.low)
	}
	if err := os.RemoveAll(filepath.Dir(r.path)); err != nil {
		t.Fatal(err)
	}
	const full = "the disk of the journal is full, its reserve is in use: 8 MiB free are required"
	if r.spend() || r.low != full || r.refill() != full {
		t.Errorf("without its directory: want none to spend, and none taken, have %q", r.low)
	}
	lacking := reserve{path: r.path, size: 4 << 20}
	if lacking.begin(); lacking.low != "the disk of the journal is nearly full: 8 MiB free are required" || lacking.spend() {
		t.Errorf("a start that finds no room: have %q", lacking.low)
	}
	if err := os.Mkdir(r.path, 0o700); err == nil {
		t.Fatal("want no directory")
	}
	taken := reserve{path: t.TempDir(), size: 1 << 20} // a directory in its place
	if taken.begin(); taken.refill() != "the disk of the journal is nearly full: 2 MiB free are required" {
		t.Errorf("what cannot be made: want it reported, have %q", taken.refill())
	}
	none := reserve{path: filepath.Join(t.TempDir(), "reserve"), size: -1}
	if none.begin(); none.spend() || none.refill() != "" || sizeOf(t, none.path) != -1 {
		t.Errorf("want none where none is set, have %q", none.low)
	}
}

// The reserve is written byte by byte up to its size, and no further.
func TestBlocksAreWrittenWhereTheyCannotBePromised(t *testing.T) {
	t.Parallel()
	for _, size := range []int64{0, 1, 1 << 16, 1<<16 + 1, 200_000} {
		path := filepath.Join(t.TempDir(), "file")
		file, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(fill(file, size), file.Close()); err != nil || sizeOf(t, path) != size {
			t.Errorf("want %d bytes, have %d, %v", size, sizeOf(t, path), err)
		}
		if err := fill(file, max(size, 1)); err == nil {
			t.Errorf("%d bytes into a closed file: want an error", size)
		}
	}
}
