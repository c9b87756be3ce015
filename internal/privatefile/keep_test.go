package privatefile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// TestATextThatCannotBeWrittenIsTriedAgain uses a directory that is missing at first, in virtual time.
func TestATextThatCannotBeWrittenIsTriedAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		story func(texts chan<- []byte, directory string)
		want  string // content at the end; empty: there is no file
		fails int    // reports
	}{
		{"the directory comes within ten seconds", func(texts chan<- []byte, directory string) {
			texts <- []byte("one")
			time.Sleep(9 * time.Second)
			_ = os.Mkdir(directory, 0o700)
			time.Sleep(time.Second + 1)
		}, "one", 1},
		{"it comes later", func(texts chan<- []byte, directory string) {
			texts <- []byte("one")
			time.Sleep(35 * time.Second)
			_ = os.Mkdir(directory, 0o700)
			time.Sleep(6 * time.Second)
		}, "one", 1},
		{"a newer text replaces the one that failed", func(texts chan<- []byte, directory string) {
			texts <- []byte("one")
			texts <- []byte("two")
			_ = os.Mkdir(directory, 0o700)
			time.Sleep(11 * time.Second)
		}, "two", 1},
		{"the end tries once more", func(texts chan<- []byte, directory string) {
			texts <- []byte("one")
			synctest.Wait()
			_ = os.Mkdir(directory, 0o700)
		}, "one", 1},
		{"it fails, works and fails", func(texts chan<- []byte, directory string) {
			texts <- []byte("one")
			synctest.Wait()
			_ = os.Mkdir(directory, 0o700)
			texts <- []byte("two")
			synctest.Wait()
			_ = os.RemoveAll(directory)
			texts <- []byte("three")
			synctest.Wait()
		}, "", 2},
		{"nothing is written", func(chan<- []byte, string) {}, "", 0},
	} {
		directory := filepath.Join(t.TempDir(), "later")
		path := filepath.Join(directory, "state")
		fails := 0
		synctest.Test(t, func(*testing.T) {
			texts, done := make(chan []byte), make(chan struct{})
			go func() { defer close(done); Keep(path, texts, func(error) { fails++ }) }()
			c.story(texts, directory)
			if c.want != "" && !strings.HasPrefix(c.name, "the end") {
				if text, err := os.ReadFile(path); string(text) != c.want || err != nil {
					t.Errorf("%s: want %q before the end, have %q, %v", c.name, c.want, text, err)
				}
			}
			close(texts)
			<-done
		})
		text, err := os.ReadFile(path)
		if string(text) != c.want || (err == nil) != (c.want != "") || fails != c.fails {
			t.Errorf("%s: want %q and %d reports, have %q and %d, %v", c.name, c.want, c.fails, text, fails, err)
		}
	}
}

// TestWhatAFileMayBe covers modes and kinds of files, with the fault and the remedy that a person reads.
func TestWhatAFileMayBe(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		make func(path string) error
		what string // empty: it is opened
		hint string
	}{
		{"mode 600", func(path string) error { return os.WriteFile(path, []byte("text"), 0o600) }, "", ""},
		{"others read it", func(path string) error {
			return errors.Join(os.WriteFile(path, []byte("text"), 0o600), os.Chmod(path, 0o644))
		}, "", ""},
		{"its group writes it", func(path string) error { return errors.Join(os.WriteFile(path, nil, 0o600), os.Chmod(path, 0o620)) }, "has mode 0620",
			"chmod go= "},
		{"others write it", func(path string) error { return errors.Join(os.WriteFile(path, nil, 0o600), os.Chmod(path, 0o602)) }, "has mode 0602",
			"chmod go= "},
		{"a pipe", func(path string) error { return syscall.Mkfifo(path, 0o600) }, "is not a file", "rm "},
		{"a link", func(path string) error { return os.Symlink("elsewhere", path) }, "is a link", "rm "},
		{"two names", func(path string) error { return errors.Join(os.WriteFile(path, nil, 0o600), os.Link(path, path+"2")) }, "has 2 names",
			"copy it, and put the copy in its place"},
	} {
		path := filepath.Join(t.TempDir(), "file")
		if err := c.make(path); err != nil {
			t.Fatal(err)
		}
		file, err := Open(path, os.O_RDONLY)
		if err == nil {
			file.Close()
		}
		var fault *Error
		if c.what == "" {
			if text, failed := Read(path, 4); err != nil || failed != nil || string(text) != "text" {
				t.Errorf("%s: want it read, have %q, %v, %v", c.name, text, err, failed)
			}
			continue
		}
		if !errors.As(err, &fault) || fault.Path != path || fault.What != c.what || !strings.HasPrefix(fault.Hint, c.hint) {
			t.Errorf("%s: want %s, %s, have %v", c.name, c.what, c.hint, err)
		}
		if _, err := Read(path, 4); !errors.As(err, &fault) {
			t.Errorf("%s: want it not read, have %v", c.name, err)
		}
	}
}

// TestAFileIsReadUpToItsBound reads a file of four bytes, and opens an existing one for writing.
func TestAFileIsReadUpToItsBound(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	must(t, Write(path, []byte("text")))
	if text, err := Read(path, 3); err == nil || err.Error() != path+" has 4 bytes, more than 3" {
		t.Errorf("want it refused, have %q, %v", text, err)
	}
	if _, err := Read(path+"2", 3); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("want no file, have %v", err)
	}
	if found, err := os.Stat(path); err != nil || found.Mode().Perm() != 0o600 {
		t.Errorf("want a file for its owner alone, have %v, %v", found.Mode(), err)
	}
	for _, c := range []struct {
		flag int
		want string
	}{{os.O_WRONLY, "Next"}, {os.O_WRONLY | os.O_APPEND, "textN"}, {os.O_WRONLY | os.O_TRUNC, "N"}} {
		must(t, Write(path, []byte("text")))
		file, err := Open(path, c.flag)
		must(t, err)
		_, err = file.WriteString("N")
		must(t, err, file.Close())
		if text, err := Read(path, 10); string(text) != c.want || err != nil {
			t.Errorf("flags %#x: want %q, have %q, %v", c.flag, c.want, text, err)
		}
	}
}

// TestWhatADirectoryOfAModeMayHold covers files within the depth of the check, and below it.
func TestWhatADirectoryOfAModeMayHold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		make func(mode string) error
		want string // empty: it is sound
	}{
		{"nothing", func(string) error { return nil }, ""},
		{"a file in its place", func(mode string) error { return errors.Join(os.Remove(mode), os.WriteFile(mode, nil, 0o600)) }, ""},
		{"no directory yet", os.Remove, ""},
		{"a pipe", func(mode string) error { return syscall.Mkfifo(filepath.Join(mode, "pipe"), 0o600) }, "is neither a file nor a directory"},
		{"a link", func(mode string) error { return os.Symlink("x", filepath.Join(mode, "link")) }, "is a link"},
		{"a file that others write, two levels down", func(mode string) error {
			path := filepath.Join(mode, "a", "file")
			return errors.Join(os.Mkdir(filepath.Join(mode, "a"), 0o700), os.WriteFile(path, nil, 0o600), os.Chmod(path, 0o606))
		}, "has mode 0606"},
		{"one three levels down", func(mode string) error {
			path := filepath.Join(mode, "a", "b", "file")
			return errors.Join(os.MkdirAll(filepath.Join(mode, "a", "b"), 0o700), os.WriteFile(path, nil, 0o600), os.Chmod(path, 0o606))
		}, ""},
		{"a directory that its group writes", func(mode string) error { return os.Chmod(mode, 0o770) }, "has mode 0770"},
		{"one that others read", func(mode string) error { return os.Chmod(mode, 0o755) }, ""},
	} {
		data := t.TempDir()
		mode := filepath.Join(data, "live")
		must(t, os.Mkdir(mode, 0o700), c.make(mode))
		err := Check(data, mode)
		var fault *Error
		if (err == nil) != (c.want == "") || err != nil && (!errors.As(err, &fault) || fault.What != c.want) {
			t.Errorf("%s: want %q, have %v", c.name, c.want, err)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	if err := Check(filepath.Join(file, "data"), filepath.Join(file, "data", "live")); err != nil {
		t.Errorf("below a file nothing can be: want no fault, have %v", err)
	}
}
