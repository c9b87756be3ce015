package server

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"botd/exchange/sim"
	"botd/internal/disk"
	"botd/internal/privatefile"
)

// minRewrite is the minimum number of bytes of changes before a state file is rewritten. It is
// rewritten only when the changes are also larger than its snapshot, so that the cost of a change
// does not grow with the history.
const minRewrite = 4 << 20

// New files are written under these names.
const (
	newSuffix     = ".new"
	rewriteSuffix = ".rewrite"
)

// stateFile stores the state on disk: a snapshot and the changes since then. Writers queue. A
// writer whose change was already written by its predecessor has nothing to do, so simultaneous
// requests share one write.
type stateFile struct {
	path       string // empty: nothing is stored
	source     changeSource
	log        func(format string, values ...any)
	minRewrite int

	mu       sync.Mutex // guards all below
	written  uint64     // the file holds all changes up to this one
	file     *os.File   // holds the lock; nil before the first write
	whole    bool       // changes may be appended to it
	size     int        // bytes of its snapshot
	appended int        // bytes of changes after it
	closed   bool
	rewrite  *rewrite // in progress

	group sync.WaitGroup // waits for the rewrite
}

// changeSource returns the changes since its last call and the number of the last one; with all,
// also a snapshot of everything.
type changeSource func(all bool) (change, snapshot []byte, newest uint64, err error)

// rewrite is a new file being written. Changes written to the old file meanwhile must follow its
// snapshot.
type rewrite struct{ tail []byte }

// open reads the file and locks it for this process. The content is empty if there is no file yet.
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
		f.log("state %s: the last %d bytes are an incomplete write; they are left out", f.path, content.torn)
	}
	f.file = file
	for _, unfinished := range []string{newSuffix, rewriteSuffix} {
		if err := os.Remove(f.path + unfinished); err != nil && !errors.Is(err, fs.ErrNotExist) {
			f.log("state %s: %v", f.path, err)
		}
	}
	return content, nil
}

// restore returns the stored state, or nil if there is none yet.
func (f *stateFile) restore() ([]byte, error) {
	content, err := f.open()
	if err != nil || content.snapshot == nil {
		return nil, err
	}
	merged, err := sim.Merge(content.snapshot, content.changes)
	if err != nil {
		return nil, &StateError{restoreError(f.path, err)}
	}
	return merged, nil
}

func restoreError(path string, err error) error {
	return fmt.Errorf("restore state %s: %w (move it away to start over)", path, err)
}

// openLocked opens and locks a file, or returns nil if there is none. The lock ends with the
// process, however it ends.
func openLocked(path string) (*os.File, error) {
	for {
		file, err := privatefile.Open(path, os.O_RDWR)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read state: %w", err)
		}
		if err := disk.Lock(file, ErrBusy); err != nil {
			return nil, errors.Join(fmt.Errorf("state %s: %w", path, err), file.Close())
		}
		// The previous owner may have replaced the file meanwhile.
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

// ErrBusy means that another process has locked the state file.
var ErrBusy = errors.New("another exchange uses it: stop that one, or give another --state")

// StateError means that the state file contains no usable state.
type StateError struct{ Err error }

// Error returns the fault of the file.
func (e *StateError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *StateError) Unwrap() error { return e.Err }

// save returns when every change up to the given one is on disk.
func (f *stateFile) save(change uint64) error {
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
	begin := !all && f.rewrite == nil && f.appended >= max(f.minRewrite, f.size)
	news, snapshot, newest, err := f.source(all || begin)
	if err != nil {
		f.whole = false // the changes that the source returned are lost
		return fmt.Errorf("collect changes: %w", err)
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

// append appends a change.
func (f *stateFile) append(change []byte) error {
	record := appendRecord(nil, change)
	if _, err := f.file.Write(record); err != nil {
		return err
	}
	if err := f.file.Sync(); err != nil {
		return err
	}
	f.appended += len(record)
	if f.rewrite != nil {
		f.rewrite.tail = append(f.rewrite.tail, record...)
	}
	return nil
}

// replace replaces the file with one that contains this snapshot.
func (f *stateFile) replace(snapshot []byte) error {
	file, err := newStateFile(f.path+newSuffix, snapshot)
	if err != nil {
		return err
	}
	return f.install(file, len(snapshot))
}

// finish completes a new file and moves it to the place of the old one.
func (f *stateFile) finish(r *rewrite, snapshot []byte) {
	file, err := newStateFile(f.path+rewriteSuffix, snapshot)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil && f.rewrite != r { // a write failed meanwhile: the next one starts over
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
	if err != nil { // the old file is still valid
		f.log("state %s was not rewritten: %v", f.path, err)
		f.appended = 0 // before the next attempt
		return
	}
	f.appended = len(r.tail)
}

// newStateFile writes a locked file with a snapshot.
func newStateFile(path string, snapshot []byte) (*os.File, error) {
	file, err := privatefile.Open(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	if err = disk.Lock(file, ErrBusy); err == nil {
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

// install renames a file to the state's name. After a crash at any point, either the old or the new
// file exists, complete.
func (f *stateFile) install(file *os.File, size int) error {
	if err := os.Rename(file.Name(), f.path); err != nil {
		return errors.Join(err, file.Close())
	}
	old := f.file
	f.file, f.size, f.appended = file, size, 0
	if old != nil {
		_ = old.Close() // the new file contains everything written to it
	}
	err := privatefile.SyncDirectory(filepath.Dir(f.path))
	f.whole = err == nil
	return err
}

// close releases the file; nothing is written afterwards.
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
