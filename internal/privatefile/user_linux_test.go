package privatefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
)

const user, neighbor = 12345, 54321

// shared returns a directory that belongs to a user. Its path leads there whether or not others may enter the directories above it.
func shared(t *testing.T, uid int) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user: this needs a machine where the tests run as root")
	}
	directory := t.TempDir()
	must(t, os.Chmod(directory, 0o755), os.Chown(directory, uid, -1))
	opened, err := os.Open(directory)
	must(t, err)
	t.Cleanup(func() { must(t, opened.Close()) })
	return fmt.Sprintf("/proc/self/fd/%d", opened.Fd())
}

// as runs a function in a thread of that user, which ends with the function.
func as(t *testing.T, uid int, directory string, act func()) {
	t.Helper()
	var failed error
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the thread is not used again
		if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, ^uintptr(0), uintptr(uid), ^uintptr(0)); errno != 0 {
			failed = errno
			return
		}
		if _, failed = os.Stat(directory); failed == nil {
			act()
		}
	}()
	if <-done; failed != nil {
		t.Skipf("another user cannot use a directory of this one here: %v", failed)
	}
}

// TestAllowedOwnersOfTheDataDirectory covers directories of the administrator, of the user and of another
// user, checked as the user and as the administrator. The group of a container's volume may write; a sticky
// directory is safe for all.
func TestAllowedOwnersOfTheDataDirectory(t *testing.T) {
	t.Parallel()
	const sound, strange = "", "belongs to user 54321, not to user "
	for _, c := range []struct {
		owner          int
		mode           uint32
		toUser, toRoot string // what the user is shown, and what the administrator is
	}{
		{0, 0o755, sound, sound},
		{0, 0o775, sound, "has mode 0775"},
		{0, 0o757, "has mode 0757", "has mode 0757"},
		{0, 0o777, "has mode 0777", "has mode 0777"},
		{0, 0o1777, sound, sound},
		{0, 0o2770, sound, "has mode 2770"},
		{user, 0o700, sound, "belongs to user 12345, not to user 0"},
		{user, 0o2770, "has mode 2770", "belongs to user 12345, not to user 0"},
		{user, 0o777, "has mode 0777", "belongs to user 12345, not to user 0"},
		{neighbor, 0o755, strange + "12345", strange + "0"},
		{1, 0o755, "belongs to user 1, not to user 12345", "belongs to user 1, not to user 0"},
	} {
		data := filepath.Join(shared(t, 0), "data")
		must(t, os.Mkdir(data, 0o700), os.Chown(data, c.owner, -1), syscall.Chmod(data, c.mode))
		for uid, want := range map[int]string{user: c.toUser, 0: c.toRoot} {
			as(t, uid, data, func() {
				err := Check(data, filepath.Join(data, "live"))
				var fault *Error
				if (err == nil) != (want == "") || err != nil && (!errors.As(err, &fault) || fault.What != want || fault.Path != data) {
					t.Errorf("mode %04o of user %d, as user %d: want %q, have %v", c.mode, c.owner, uid, want, err)
				}
			})
		}
	}
}

// TestWhatTheUserMayNotRead uses directories in which the user may create files but not list them: the error
// is returned.
func TestWhatTheUserMayNotRead(t *testing.T) {
	t.Parallel()
	directory := shared(t, user)
	as(t, user, directory, func() {
		mode := filepath.Join(directory, "live")
		must(t, os.Mkdir(mode, 0o300), os.Chmod(mode, 0o300))
		if err := Check(directory, mode); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("a directory of a mode that cannot be listed: want %v, have %v", fs.ErrPermission, err)
		}
		path := filepath.Join(mode, "state")
		if err := Write(path, []byte("text")); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("a directory that cannot be synchronized: want %v, have %v", fs.ErrPermission, err)
		}
		if text, err := Read(path, 4); string(text) != "text" || err != nil {
			t.Errorf("want the file written nevertheless, have %q, %v", text, err)
		}
	})
}

// TestAFileOfANeighborIsNotOpened uses a file of another user that the administrator could read and write.
func TestAFileOfANeighborIsNotOpened(t *testing.T) {
	t.Parallel()
	path := filepath.Join(shared(t, 0), "file")
	must(t, os.WriteFile(path, []byte("text"), 0o600), os.Chown(path, neighbor, -1))
	for _, flag := range []int{os.O_RDONLY, os.O_WRONLY | os.O_TRUNC} {
		file, err := Open(path, flag)
		if err == nil {
			file.Close()
		}
		var fault *Error
		if !errors.As(err, &fault) || *fault != (Error{path, "belongs to user 54321, not to user 0", "chown 0 " + path}) {
			t.Errorf("flags %#x: want it refused, have %v", flag, err)
		}
	}
	if text, err := os.ReadFile(path); string(text) != "text" || err != nil {
		t.Errorf("want it as it was, have %q, %v", text, err)
	}
}

// TestWhatCannotBeCheckedIsAnError uses paths of which it is unknown whether the file exists.
func TestWhatCannotBeCheckedIsAnError(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	loop, long := filepath.Join(data, "loop"), filepath.Join(data, strings.Repeat("x", 300))
	must(t, os.Symlink("loop", loop))
	if err := Check(loop, filepath.Join(loop, "live")); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("a link to itself: want %v, have %v", syscall.ELOOP, err)
	}
	if err := Check(data, long); !errors.Is(err, syscall.ENAMETOOLONG) {
		t.Errorf("a long name: want %v, have %v", syscall.ENAMETOOLONG, err)
	}
	file, err := os.Open(data)
	must(t, err, file.Close())
	if err := sound(data, file); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a closed file: want %v, have %v", os.ErrClosed, err)
	}
}

// TestALinkIsFoundBehindASlash uses paths that end with a slash: the operating system would follow the link.
func TestALinkIsFoundBehindASlash(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	mode := filepath.Join(data, "live")
	must(t, os.Mkdir(mode+"-moved", 0o700), os.Symlink(mode+"-moved", mode))
	const want = "/live is a link: others could have planted what botd trusts there\n" +
		"hint: when you know why, rm DATA/live (a directory on another disk can be mounted there)"
	if err := Check(data+"/", mode+"//"); err == nil || err.Error() != data+strings.ReplaceAll(want, "DATA", data) {
		t.Errorf("want %s, have %v", want, err)
	}
}

// TestAFileSystemWithoutOwners simulates a file system without owners and link counts: a file counts as the
// user's own, with one name and its mode.
func TestAFileSystemWithoutOwners(t *testing.T) {
	t.Parallel()
	found, err := fs.Stat(fstest.MapFS{"file": {Mode: 0o640}}, "file")
	must(t, err)
	as(t, user, shared(t, user), func() {
		if uid(found) != user || names(found) != 1 || mode4(found) != 0o640 || !trusted(found) {
			t.Errorf("want user %d, one name, mode 640; have %d, %d, %o", user, uid(found), names(found), mode4(found))
		}
	})
}

// TestWriteAfterACrash starts with the leftovers of an interrupted write, and with something else in their
// place.
func TestWriteAfterACrash(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	must(t, Write(path, []byte("old")), os.WriteFile(path+".partial", []byte("half a te"), 0o600), Write(path, []byte("new")))
	if text, err := Read(path, 3); string(text) != "new" || err != nil {
		t.Errorf("want the new text, have %q, %v", text, err)
	}
	must(t, os.MkdirAll(filepath.Join(path+".partial", "occupied"), 0o700))
	if err := Write(path, []byte("lost")); !errors.Is(err, syscall.ENOTEMPTY) {
		t.Errorf("a directory with files in its place: want %v, have %v", syscall.ENOTEMPTY, err)
	}
	file, err := Open(path, os.O_WRONLY|os.O_TRUNC)
	must(t, err, file.Close())
	if text, err := Read(path, 3); len(text) != 0 || err != nil {
		t.Errorf("want it empty, have %q, %v", text, err)
	}
}
