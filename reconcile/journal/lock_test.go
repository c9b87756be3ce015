package journal

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// TestADirectoryThatIsRemovedUnderItsHolderIsLockedAgain: whoever makes the directory again, or finds it made, does not
// get its lock.
func TestADirectoryThatIsRemovedUnderItsHolderIsLockedAgain(t *testing.T) {
	t.Parallel()
	directory := filepath.Join(t.TempDir(), "data")
	create := func() {
		t.Helper()
		if err := os.Mkdir(directory, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(when string) {
		t.Helper()
		if _, err := Lock(directory); !errors.Is(err, ErrLocked) {
			t.Errorf("%s: want it refused, have %v", when, err)
		}
	}
	create()
	holder, err := Hold(directory)
	if err != nil {
		t.Fatal(err)
	}
	refused("while it is held")
	if err := holder.Renew(); err != nil {
		t.Errorf("nothing has changed: %v", err)
	}
	if err := os.RemoveAll(directory); err != nil {
		t.Fatal(err)
	}
	if err := holder.Renew(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a directory: want it not to exist, have %v", err)
	}
	create()
	if err := holder.Renew(); err != nil {
		t.Errorf("in the directory made again: %v", err)
	}
	refused("after it was made again")
	if err := os.Remove(filepath.Join(directory, "botd.lock")); err != nil {
		t.Fatal(err)
	}
	other, err := Lock(directory)
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Renew(); !errors.Is(err, ErrLocked) {
		t.Errorf("another botd was faster: want it refused, have %v", err)
	}
	if err := errors.Join(other(), holder.Renew()); err != nil {
		t.Errorf("the other has ended: %v", err)
	}
	refused("after that")
	if err := holder.Release(); err != nil {
		t.Error(err)
	}
	again, err := Lock(directory)
	if err != nil {
		t.Fatalf("released: %v", err)
	}
	if err := again(); err != nil {
		t.Error(err)
	}
}

// TestALockThatIsReleasedIsFreeForAProcessBeingStartedToo: between its fork and its program it has copies of all files.
func TestALockThatIsReleasedIsFreeForAProcessBeingStartedToo(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	release, err := lock(path, "it")
	if err != nil {
		t.Fatal(err)
	}
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc/self/fd here, which names the file's descriptor")
	}
	inherited := -1
	for _, one := range open {
		if target, _ := os.Readlink("/proc/self/fd/" + one.Name()); target == path {
			descriptor, _ := strconv.Atoi(one.Name())
			if inherited, err = unix.Dup(descriptor); err != nil {
				t.Fatal(err)
			}
		}
	}
	if inherited < 0 {
		t.Fatal("want the lock's file open")
	}
	defer unix.Close(inherited)
	if err := release(); err != nil {
		t.Fatal(err)
	}
	again, err := lock(path, "it")
	if err != nil {
		t.Fatalf("want it free, have %v", err)
	}
	if err := again(); err != nil {
		t.Fatal(err)
	}
}
