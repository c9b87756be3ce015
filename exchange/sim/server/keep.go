package server

import (
	"fmt"

	"botd/exchange/sim"
)

// State keeps a simulated exchange's state in a file, for an owner that is not a
// Server. The file is this process's alone until Close. Keep is not for several
// goroutines.
type State struct{ file stateFile }

// OpenState opens the file and returns what it holds, nil when there is none yet.
func OpenState(path string, log func(format string, values ...any)) (*State, []byte, error) {
	s := &State{file: stateFile{path: path, log: log, minRewrite: minRewrite}}
	kept, err := s.file.open()
	if err != nil || kept.snapshot == nil {
		return s, nil, err
	}
	merged, err := sim.Merge(kept.snapshot, kept.changes)
	if err != nil {
		return s, nil, fmt.Errorf("restore state %s: %w (move it away to begin anew)", path, err)
	}
	return s, merged, nil
}

// Keep returns when every change up to the given one is on disk. look tells what
// changed since it was last asked and the number of the last change in it; and
// with all, everything there is.
func (s *State) Save(change uint64, look func(all bool) (change, snapshot []byte, newest uint64, err error)) error {
	s.file.look = look
	return s.file.keep(change)
}

// Close gives the file back.
func (s *State) Close() error { return s.file.close() }
