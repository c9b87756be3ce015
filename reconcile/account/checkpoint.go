package account

import (
	"bytes"
	"fmt"
	"iter"
	"slices"

	"botd/internal/freeze"
)

// meaning is incremented when Apply produces a different state from the same records although the
// state's fields are unchanged. Earlier checkpoints are then not read.
const meaning = 2 // version 2 remembers fewer endings

// Layout identifies the format of this botd's snapshots. Snapshots of another layout are ignored,
// and the whole journal is replayed.
var Layout = fmt.Sprintf("%d-%s", meaning, freeze.Layout(recorded{}))

// Snapshot returns the whole state in serialized form, for a checkpoint.
func (s *State) Snapshot() []byte { return freeze.Freeze(&s.recorded) }

// Restore returns the state contained in a snapshot of this layout, with the current options.
func Restore(options Options, snapshot []byte) (*State, error) {
	s := newState(options)
	if err := freeze.Thaw(snapshot, &s.recorded); err != nil {
		return nil, fmt.Errorf("read a checkpoint: %w", err)
	}
	return s, nil
}

// Symbols yields all symbols in the journal, sorted by key.
func (s *State) Symbols() iter.Seq[*Symbol] { return slices.Values(s.recorded.symbols) }

// SameSnapshot reports whether two snapshots contain the same state, apart from what depends on the
// venue bounds configured for each.
func SameSnapshot(one, other []byte) bool {
	normal := func(snapshot []byte) []byte {
		s, err := Restore(Options{}, snapshot)
		if err != nil {
			return nil
		}
		for symbol := range s.Symbols() {
			symbol.sold, symbol.traded = 0, 0
		}
		return s.Snapshot()
	}
	a, b := normal(one), normal(other)
	return a != nil && bytes.Equal(a, b)
}
