package server

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

func TestRequestsThatArriveTogetherShareOneWrite(t *testing.T) {
	t.Parallel()
	f := stateFile{path: filepath.Join(t.TempDir(), "state")}
	var changes, snapshots atomic.Uint64
	snapshot := func() ([]byte, uint64, error) {
		snapshots.Add(1)
		newest := changes.Load()
		return fmt.Append(nil, newest), newest, nil
	}
	const requests = 64
	var group sync.WaitGroup
	f.mu.Lock() // a write is under way while all of them arrive
	var arrived sync.WaitGroup
	arrived.Add(requests)
	for range requests {
		group.Go(func() {
			mine := changes.Add(1)
			arrived.Done()
			if err := f.keep(mine, snapshot); err != nil {
				t.Error(err)
			}
		})
	}
	arrived.Wait()
	f.mu.Unlock()
	group.Wait()
	if have := snapshots.Load(); have != 1 {
		t.Errorf("want 1 write, have %d", have)
	}
	content, err := f.read()
	if want := fmt.Sprint(requests); err != nil || string(content) != want {
		t.Errorf("want %q, have %q %v", want, content, err)
	}
}

func TestAFailedWriteIsToldAndTheOldStateStays(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	f := stateFile{path: filepath.Join(directory, "state")}
	keep := func(change uint64) error {
		return f.keep(change, func() ([]byte, uint64, error) { return fmt.Append(nil, "state ", change), change, nil })
	}
	if err := keep(1); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(f.path+".new", 0o700); err != nil { // the temporary file can not be made
		t.Fatal(err)
	}
	if err := keep(2); err == nil {
		t.Error("want an error, have none")
	}
	if content, _ := f.read(); string(content) != "state 1" {
		t.Errorf("want the old state, have %q", content)
	}
	if err := os.Remove(f.path + ".new"); err != nil {
		t.Fatal(err)
	}
	if err := keep(2); err != nil {
		t.Error(err)
	}
	if content, _ := f.read(); string(content) != "state 2" {
		t.Errorf("want the new state, have %q", content)
	}
}

func TestWithoutAPathNothingIsKept(t *testing.T) {
	t.Parallel()
	var f stateFile
	if err := f.keep(1, nil); err != nil {
		t.Error(err)
	}
	if content, err := f.read(); content != nil || err != nil {
		t.Errorf("want nothing, have %q %v", content, err)
	}
}
