package server

// State stores a simulated exchange's state in a file, for an owner that is not a Server. The file
// is locked for this process until Close. State is not safe for concurrent use.
type State struct{ file stateFile }

// OpenState opens the file and returns its state, nil when there is none yet.
func OpenState(path string, log func(format string, values ...any)) (*State, []byte, error) {
	s := &State{file: stateFile{path: path, log: log, minRewrite: minRewrite}}
	merged, err := s.file.restore()
	return s, merged, err
}

// Save returns when every change up to the given one is on disk. source returns the changes since
// its last call and the number of the last one; with all, also a snapshot.
func (s *State) Save(change uint64, source func(all bool) (change, snapshot []byte, newest uint64, err error)) error {
	s.file.source = source
	return s.file.save(change)
}

// Close releases the file.
func (s *State) Close() error { return s.file.close() }
