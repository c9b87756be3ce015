package privatefile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// page is the small disk's unit of allocation.
const page = 4096

// fill uses up a disk except for the given number of pages, and returns a function that releases them.
func fill(t *testing.T, directory string, leave int64) (free func()) {
	t.Helper()
	path := filepath.Join(directory, "ballast")
	ballast, err := os.Create(path)
	must(t, err)
	size := int64(0)
	for block := make([]byte, page); ; size += page {
		if _, err := ballast.Write(block); err != nil {
			break
		}
	}
	must(t, ballast.Truncate(max(0, size-leave*page)), ballast.Close())
	return func() { must(t, os.Remove(path)) }
}

// TestAWriteThatFindsNoRoomLeavesTheOldFile replaces a file of five pages on a disk with room for none, one, two and so on. The
// error is returned, the old content is complete, no other file is left, and with room the same write succeeds.
func TestAWriteThatFindsNoRoomLeavesTheOldFile(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	if err := syscall.Mount("tmpfs", directory, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("a small file system cannot be mounted here: %v", err)
	}
	t.Cleanup(func() { must(t, syscall.Unmount(directory, syscall.MNT_DETACH)) })
	path := filepath.Join(directory, "state")
	failed := 0
	for leave := range int64(8) {
		was, is := bytes.Repeat([]byte{'a' + byte(leave)}, 3*page), bytes.Repeat([]byte{'A' + byte(leave)}, 5*page)
		must(t, Write(path, was))
		free := fill(t, directory, leave)
		err := Write(path, is)
		have, reading := Read(path, 1<<20)
		must(t, reading)
		switch {
		case err != nil && !errors.Is(err, syscall.ENOSPC):
			t.Errorf("%d pages: want %v, have %v", leave, syscall.ENOSPC, err)
		case err != nil:
			if failed++; !bytes.Equal(have, was) {
				t.Errorf("%d pages: want the old content, have %d bytes", leave, len(have))
			}
		case !bytes.Equal(have, is):
			t.Errorf("%d pages: want the new content, have %d bytes", leave, len(have))
		}
		if _, err := os.Lstat(path + ".partial"); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%d pages: want nothing left beside it, have %v", leave, err)
		}
		free()
		must(t, Write(path, is))
		if have, err := Read(path, 1<<20); err != nil || !bytes.Equal(have, is) {
			t.Errorf("%d pages, with room: want the new content, have %d bytes, %v", leave, len(have), err)
		}
	}
	if failed < 5 {
		t.Errorf("want a write of five pages to fail with less room than that, have %s", fmt.Sprint(failed, " failures"))
	}
}

// TestFailedRenameLeavesNoFile puts a directory where the file should be.
func TestFailedRenameLeavesNoFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	must(t, os.MkdirAll(filepath.Join(path, "occupied"), 0o700))
	if err := Write(path, []byte("new")); err == nil {
		t.Error("want an error, have none")
	}
	if _, err := os.Lstat(path + ".partial"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("want nothing left beside it, have %v", err)
	}
	must(t, os.RemoveAll(path), Write(path, []byte("new")))
}
