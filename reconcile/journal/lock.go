package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"botd/internal/private"
)

// ErrLocked means that another process, or another part of this one, has it.
var ErrLocked = errors.New("in use by another botd")

// Lock takes the data directory for this process alone. The lock ends with the
// process, however it ends.
func Lock(directory string) (release func() error, err error) {
	return lock(filepath.Join(directory, "botd.lock"), "data directory "+directory)
}

// lock takes a file's lock, and writes the process's id into it for people.
func lock(path, what string) (release func() error, err error) {
	file, err := private.Open(path, os.O_CREATE|os.O_RDWR)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", what, err)
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		holder, _ := os.ReadFile(path)
		file.Close()
		return nil, fmt.Errorf(
			"%s is %w (pid %s)\nhint: stop it, or give this one a data_dir of its own",
			what,
			ErrLocked,
			strings.TrimSpace(string(holder)),
		)
	}
	// The id is for people: on a full disk the lock holds without it.
	if err := file.Truncate(0); err == nil {
		file.WriteAt([]byte(fmt.Sprintln(os.Getpid())), 0)
	}
	return file.Close, nil
}

// CheckWritable makes the directory when there is none, and finds out whether a
// file can be written there.
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
