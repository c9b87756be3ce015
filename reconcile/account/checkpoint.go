package account

import (
	"bytes"
	"fmt"
	"slices"

	"botd/internal/freeze"
	"botd/reconcile/placement"
)

// meaning is raised when Apply makes another state of the same records, though the
// state's fields are the same: checkpoints from before are then not read.
const meaning = 2 // 2: fewer endings are remembered

// Layout names what snapshots of this botd are made of. A snapshot of another layout is
// not read: the journal is replayed as a whole.
var Layout = fmt.Sprintf("%d-%s", meaning, freeze.Layout(State{}))

// Snapshot returns the whole state, for a checkpoint.
func (s *State) Snapshot() []byte { return freeze.Freeze(s) }

// Restore returns the state of a snapshot of this layout, with the venue's bounds as they
// are now.
func Restore(settle placement.Settle, snapshot []byte) (*State, error) {
	s := &State{}
	if err := freeze.Thaw(snapshot, s); err != nil {
		return nil, fmt.Errorf("read a checkpoint: %w", err)
	}
	s.settle = settle
	return s, nil
}

// Symbols returns all symbols in the journal, sorted by key.
func (s *State) Symbols() []*Symbol { return s.symbols }

// SameSnapshot reports whether two snapshots are of one state, whatever bounds of the
// venue were configured when each was made, and whatever symbols were only read of it.
func SameSnapshot(one, other []byte) bool {
	normal := func(snapshot []byte) []byte {
		s, err := Restore(placement.Settle{}, snapshot)
		if err != nil {
			return nil
		}
		for _, symbol := range s.symbols {
			symbol.sold, symbol.traded = 0, 0 // they depend on the bounds
		}
		s.symbols = slices.DeleteFunc(s.symbols, func(t *Symbol) bool { return *t == Symbol{key: t.key} }) // no record is of it
		return s.Snapshot()
	}
	a, b := normal(one), normal(other)
	return a != nil && bytes.Equal(a, b)
}
