package server

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"
)

// minRewrite is how many bytes of changes a state file holds at least before it
// is written anew; and never less than its snapshot has, so that what a change
// costs does not grow with what was before.
const minRewrite = 4 << 20

// The new files are made under these names.
const (
	newSuffix     = ".new"
	rewriteSuffix = ".rewrite"
)

// stateFile keeps the state on disk: a snapshot and the changes since. Writers
// queue; one that finds its change already written by the one before it has
// nothing to do, so that requests arriving together share one write.
type stateFile struct {
	path       string // empty: nothing is kept
	look       look
	log        func(format string, values ...any)
	minRewrite int

	mu      sync.Mutex // guards all below
	written uint64     // the change up to which the file is right
	file    *os.File   // holds the lock; nil before the first write
	whole   bool       // changes may be appended to it
	size    int        // bytes of its snapshot
	grown   int        // bytes of changes behind it
	closed  bool
	rewrite *rewrite // under way

	group sync.WaitGroup // of the rewrite
}

// look tells what changed since the last look and the number of the last change
// in it; and with all, everything there is at that moment.
type look func(all bool) (change, snapshot []byte, newest uint64, err error)

// rewrite is a new file in the making. What is written to the old one meanwhile
// belongs behind its snapshot.
type rewrite struct{ tail []byte }

// open reads the file and takes it for this process alone. What it returns is
// empty when there is no file yet.
func (f *stateFile) open() (content stateContent, err error) {
	if f.path == "" {
		return content, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	file, err := openLocked(f.path)
	if file == nil || err != nil {
		return content, err
	}
	text, err := io.ReadAll(file)
	if err == nil {
		content, err = parseState(text)
	}
	if err != nil {
		return content, errors.Join(&StateError{fmt.Errorf("read state %s: %w", f.path, err)}, file.Close())
	}
	if content.torn > 0 {
		f.log("state %s: the last %d bytes are a write that never ended; they are left out", f.path, content.torn)
	}
	f.file = file
	for _, unfinished := range []string{newSuffix, rewriteSuffix} {
		if err := os.Remove(f.path + unfinished); err != nil && !errors.Is(err, fs.ErrNotExist) {
			f.log("state %s: %v", f.path, err)
		}
	}
	return content, nil
}

// openLocked opens a file for this process alone; nil when there is none. The lock
// ends with the process, however it ends.
func openLocked(path string) (*os.File, error) {
	for {
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read state: %w", err)
		}
		if err := lockFile(file); err != nil {
			return nil, errors.Join(fmt.Errorf("state %s: %w", path, err), file.Close())
		}
		// The one who had it may have put another in its place meanwhile.
		mine, err := file.Stat()
		named, nameErr := os.Stat(path)
		if err == nil && nameErr == nil && os.SameFile(mine, named) {
			return file, nil
		}
		if err := file.Close(); err != nil {
			return nil, err
		}
	}
}

// ErrBusy is a state file that another process has.
var ErrBusy = errors.New("another exchange uses it: stop that one, or give another --state")

// StateError is a state file that holds no state to go on from.
type StateError struct{ Err error }

// Error says what is wrong with the file.
func (e *StateError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *StateError) Unwrap() error { return e.Err }

func lockFile(file *os.File) error {
	err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrBusy
	}
	return err
}

// keep returns when every change up to the given one is on disk.
func (f *stateFile) keep(change uint64) error {
	if f.path == "" {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.written >= change {
		return nil
	}
	if f.closed {
		return fmt.Errorf("write state: %w", fs.ErrClosed)
	}
	all := !f.whole
	begin := !all && f.rewrite == nil && f.grown >= max(f.minRewrite, f.size)
	news, snapshot, newest, err := f.look(all || begin)
	if err != nil {
		f.whole = false // what the look told is lost
		return fmt.Errorf("look at state: %w", err)
	}
	if all {
		err = f.replace(snapshot)
	} else {
		err = f.append(news)
	}
	if err != nil {
		f.whole, f.rewrite = false, nil
		return fmt.Errorf("write state: %w", err)
	}
	f.written = newest
	if begin {
		r := &rewrite{}
		f.rewrite = r
		f.group.Go(func() { f.finish(r, snapshot) })
	}
	return nil
}

// append writes a change behind the others.
func (f *stateFile) append(change []byte) error {
	record := appendRecord(nil, change)
	if _, err := f.file.Write(record); err != nil {
		return err
	}
	if err := f.file.Sync(); err != nil {
		return err
	}
	f.grown += len(record)
	if f.rewrite != nil {
		f.rewrite.tail = append(f.rewrite.tail, record...)
	}
	return nil
}

// replace puts a file with this snapshot in the place of the one there is.
func (f *stateFile) replace(snapshot []byte) error {
	file, err := newStateFile(f.path+newSuffix, snapshot)
	if err != nil {
		return err
	}
	return f.install(file, len(snapshot))
}

// finish writes a new file beside the old one, and puts it in its place.
func (f *stateFile) finish(r *rewrite, snapshot []byte) {
	file, err := newStateFile(f.path+rewriteSuffix, snapshot)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil && f.rewrite != r { // a write failed meanwhile: the next one begins anew
		err = errors.Join(os.Remove(file.Name()), file.Close())
		if err != nil {
			f.log("state %s: %v", f.path, err)
		}
		return
	}
	if err == nil {
		if _, err = file.Write(r.tail); err == nil {
			err = file.Sync()
		}
		if err != nil {
			err = errors.Join(err, file.Close())
		} else {
			err = f.install(file, len(snapshot))
		}
	}
	f.rewrite = nil
	if err != nil { // the old file is as good as it was
		f.log("state %s was not written anew: %v", f.path, err)
		f.grown = 0 // before the next attempt
		return
	}
	f.grown = len(r.tail)
}

// newStateFile writes a file with a snapshot, which this process alone may use.
func newStateFile(path string, snapshot []byte) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err = lockFile(file); err == nil {
		err = file.Truncate(0)
	}
	if err == nil {
		_, err = file.Write(appendRecord([]byte(stateTitle), snapshot))
	}
	if err == nil {
		err = file.Sync()
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// install renames a file to the state's name, so that after a crash at any point
// either the old or the new one is there, whole.
func (f *stateFile) install(file *os.File, size int) error {
	if err := os.Rename(file.Name(), f.path); err != nil {
		return errors.Join(err, file.Close())
	}
	old := f.file
	f.file, f.size, f.grown = file, size, 0
	if old != nil {
		_ = old.Close() // nothing was written to it that the new one lacks
	}
	err := syncDirectory(filepath.Dir(f.path))
	f.whole = err == nil
	return err
}

// close gives the file back; nothing is written any more.
func (f *stateFile) close() error {
	f.group.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	if f.file == nil {
		return nil
	}
	file := f.file
	f.file, f.whole = nil, false
	return file.Close()
}

// syncDirectory makes a rename durable.
func syncDirectory(path string) error {
	directory, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(directory.Sync(), directory.Close())
}
