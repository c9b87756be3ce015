package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"botd/internal/disk"
	"botd/internal/privatefile"
)

// ErrLocked means that another process, or another part of this one, holds the lock.
var ErrLocked = errors.New("in use by another botd")

// Lock locks the data directory for this process. The lock ends with the process, however it ends.
func Lock(directory string) (release func() error, err error) {
	return lock(lockOf(directory))
}

func lockOf(directory string) (path, what string) {
	return filepath.Join(directory, "botd.lock"), "data directory " + directory
}

// Holder keeps the data directory locked, even if the directory is removed and recreated, so that another
// botd does not find it without a lock. Its owner calls Renew regularly.
type Holder struct {
	directory string
	mu        sync.Mutex  // guards all below
	lockFile  fs.FileInfo // the newest lock's file
	releases  []func() error
}

// Hold locks the data directory like Lock.
func Hold(directory string) (*Holder, error) {
	h := &Holder{directory: directory}
	return h, h.Renew()
}

// Renew takes the lock again if its file is missing or was replaced. It does not create the
// directory.
func (h *Holder) Renew() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	path, what := lockOf(h.directory)
	if now, _ := os.Lstat(path); os.SameFile(now, h.lockFile) { // false if either is nil
		return nil
	}
	release, err := lock(path, what)
	if err != nil {
		return err
	}
	h.releases = append(h.releases, release)
	h.lockFile, err = os.Lstat(path)
	return err
}

// Release releases every lock that the holder has taken.
func (h *Holder) Release() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []error
	for _, release := range h.releases {
		all = append(all, release())
	}
	h.releases, h.lockFile = nil, nil
	return errors.Join(all...)
}

// lock locks a file and writes the process id into it for people.
func lock(path, what string) (release func() error, err error) {
	file, err := privatefile.Open(path, os.O_CREATE|os.O_RDWR)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", what, err)
	}
	if err := disk.Lock(file, ErrLocked); err != nil {
		holder, _ := os.ReadFile(path)
		file.Close()
		return nil, fmt.Errorf(
			"%s is %w (pid %s)\nhint: stop it, or use a separate data_dir for this one",
			what,
			ErrLocked,
			strings.TrimSpace(string(holder)),
		)
	}
	// The id is only informative: on a full disk the lock holds without it.
	if err := file.Truncate(0); err == nil {
		file.WriteAt([]byte(fmt.Sprintln(os.Getpid())), 0)
	}
	return func() error { // unlock explicitly: a child process has a copy of the file descriptor between fork and exec
		return errors.Join(disk.Unlock(file), file.Close())
	}, nil
}

// CheckWritable creates the directory if necessary and checks that files can be written in it.
func CheckWritable(directory string) error {
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return fmt.Errorf("data directory: %w\nhint: set data_dir in botd.yaml to a directory botd may write", err)
	}
	file, err := os.CreateTemp(directory, ".writable-*")
	if err != nil {
		return fmt.Errorf("data directory %s cannot be written: %w\nhint: set data_dir in botd.yaml to a directory botd may write", directory, err)
	}
	name := file.Name()
	if err := file.Close(); err != nil {
		return err
	}
	return os.Remove(name)
}
