package server

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"botd/internal/disk/disktest"
)

// TestEachFileCallOfTheStateFails changes an account thirty times, over two processes and several rewrites of its file, as a demo and botd exchange do.
func TestEachFileCallOfTheStateFails(t *testing.T) {
	t.Parallel()
	disktest.EachCallFails(t, func(directory string, reported func(error)) {
		path, c := filepath.Join(directory, "state"), &counter{}
		for range 2 {
			f := &stateFile{path: path, source: c.changes, minRewrite: 100, log: func(format string, values ...any) { reported(fmt.Errorf(format, values...)) }}
			content, err := f.open()
			if err != nil {
				reported(err)
				content, err = f.open()
			}
			if err != nil {
				t.Fatal(err)
			}
			if acknowledged := c.now.Load(); acknowledged > 0 {
				if have, err := total(&content); err != nil || have != acknowledged {
					t.Fatalf("after a restart: want %d, have %d, %v", acknowledged, have, err)
				}
			}
			for range 15 {
				before := c.now.Load()
				err := f.save(c.now.Add(1))
				if err != nil { // a process that ended here would find the acknowledged state
					reported(err)
					if have, err := storedSum(path, reported); err != nil || have < before || have > before+1 {
						t.Errorf("after a failure: want %d or %d, have %d, %v", before, before+1, have, err)
					}
					err = f.save(c.now.Load())
				}
				if err != nil {
					t.Fatal(err)
				}
				f.group.Wait() // so that rewrites happen at the same changes each time
				if have, err := storedSum(path, reported); err != nil || have != c.now.Load() {
					t.Fatalf("acknowledged %d, have %d, %v", c.now.Load(), have, err)
				}
			}
			if err := f.close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// storedSum returns the state that the next process would find; 0 if there is none.
func storedSum(path string, reported func(error)) (uint64, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, syscall.ENOSPC) { // this call was the failing one
		reported(err)
		text, err = os.ReadFile(path)
	}
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	content, err := parseState(text)
	if err != nil {
		return 0, err
	}
	return total(&content)
}
