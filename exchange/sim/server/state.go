package server

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// stateFile holds the newest snapshot on disk. Writers queue; one that finds its
// change already written by the one before it has nothing to do, so that requests
// arriving together share one write.
type stateFile struct {
	path string // empty: nothing is kept

	mu      sync.Mutex // guards written and the file
	written uint64     // the change up to which the file is right
}

// read returns the file's content, nil when there is none yet.
func (f *stateFile) read() ([]byte, error) {
	if f.path == "" {
		return nil, nil
	}
	content, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read state: %w", err)
	}
	return content, nil
}

// keep returns when every change up to the given one is on disk. snapshot tells
// the newest state and the last change in it.
func (f *stateFile) keep(change uint64, snapshot func() ([]byte, uint64, error)) error {
	if f.path == "" {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.written >= change {
		return nil
	}
	content, newest, err := snapshot()
	if err != nil {
		return fmt.Errorf("snapshot state: %w", err)
	}
	if err := replaceFile(f.path, content); err != nil {
		return fmt.Errorf("write state: %w", err)
	}
	f.written = newest
	return nil
}

// replaceFile writes a file so that after a crash at any point either the old or
// the new content is there, whole.
func replaceFile(path string, content []byte) (err error) {
	temporary := path + ".new"
	file, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err == nil {
		err = file.Sync()
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := os.Rename(temporary, path); err != nil {
		return err
	}
	return syncDirectory(filepath.Dir(path))
}

// syncDirectory makes a rename durable.
func syncDirectory(path string) error {
	directory, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(directory.Sync(), directory.Close())
}
