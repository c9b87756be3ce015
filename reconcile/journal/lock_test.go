package journal

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// In a recreated directory the holder takes its lock again, which keeps other processes out, unless another
// process was faster.
func TestRemovedDirectoryIsLockedAgain(t *testing.T) {
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

// Between fork and exec a child process has copies of all file descriptors.
func TestReleasedLockIsFreeForNewProcess(t *testing.T) {
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

// The file contains the process id, which a refusal names, and only the owner may read or write it.
func TestALockNamesItsHolder(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	path := filepath.Join(directory, "botd.lock")
	if err := os.WriteFile(path, []byte("4000000000 an older and longer text\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	release, err := Lock(directory)
	if err != nil {
		t.Fatal(err)
	}
	id := strconv.Itoa(os.Getpid())
	if text, err := os.ReadFile(path); err != nil || string(text) != id+"\n" {
		t.Errorf("want the id alone in it, have %q, %v", text, err)
	}
	want := "data directory " + directory + " is in use by another botd (pid " + id + ")\nhint: stop it, or use a separate data_dir for this one"
	if _, err := Lock(directory); !errors.Is(err, ErrLocked) || err.Error() != want {
		t.Errorf("want %q, have %v", want, err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	released := 0
	one := func() error { released++; return os.ErrClosed }
	if err := (&Holder{releases: []func() error{one, one}}).Release(); !errors.Is(err, os.ErrClosed) || released != 2 {
		t.Errorf("want each lock released, and what fails returned, have %d, %v", released, err)
	}
	missing := filepath.Join(directory, "missing")
	if _, err := Hold(missing); !errors.Is(err, os.ErrNotExist) || !strings.HasPrefix(err.Error(), "lock data directory "+missing+": ") {
		t.Errorf("without a directory: want it named, have %v", err)
	}
}

// Only its owner may access the directory, and the check leaves nothing in it.
func TestDataDirectoryIsCreatedAndTested(t *testing.T) {
	t.Parallel()
	directory := filepath.Join(t.TempDir(), "a", "b")
	for range 2 {
		if err := CheckWritable(directory); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(directory)
		if err != nil || info.Mode().Perm() != 0o700 || info.Mode()&(os.ModeSticky|os.ModeSetuid|os.ModeSetgid) != 0 {
			t.Errorf("want it for its owner alone, have %v, %v", info.Mode(), err)
		}
		if left, err := os.ReadDir(directory); err != nil || len(left) > 0 {
			t.Errorf("want nothing left in it, have %v, %v", left, err)
		}
	}
	const hint = "\nhint: set data_dir in botd.yaml to a directory botd may write"
	file := filepath.Join(directory, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := CheckWritable(file); err == nil || !strings.HasPrefix(err.Error(), "data directory: ") || !strings.HasSuffix(err.Error(), hint) {
		t.Errorf("a file in its place: want it refused with a hint, have %v", err)
	}
	const read = "/proc/self" // a directory in which nobody may create a file
	if _, err := os.Stat(read); err != nil {
		t.Skip("no /proc/self here, which nobody can write")
	}
	if err := CheckWritable(read); err == nil || !strings.HasPrefix(err.Error(), "data directory /proc/self cannot be written: ") ||
		!strings.HasSuffix(err.Error(), hint) {
		t.Errorf("one that cannot be written: want it refused with a hint, have %v", err)
	}
}
