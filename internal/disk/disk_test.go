package disk

import (
	"path/filepath"
	"testing"
)

// TestTheFreeSpaceOfADirectoryIsKnown checks that it is known in bytes, and unknown for a missing directory.
func TestTheFreeSpaceOfADirectoryIsKnown(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	if free, known := Free(directory); !known || free < 1<<20 || free > 1<<60 {
		t.Errorf("want the bytes that are left, have %d, %t", free, known)
	}
	if free, known := Free(filepath.Join(directory, "none")); known || free != 0 {
		t.Errorf("no directory: want it not known, have %d, %t", free, known)
	}
}
