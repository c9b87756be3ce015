package script

import (
	"errors"
	"fmt"

	"go.starlark.net/starlark"
)

// state is a script's memory from candle to candle. It is rebuilt from the candles at every start,
// so only candle(view) may write it; decide can be called any number of times.
type state struct {
	held     *starlark.Dict
	writable bool
}

var (
	_ starlark.HasSetKey       = (*state)(nil)
	_ starlark.IterableMapping = (*state)(nil)
	_ starlark.HasAttrs        = (*state)(nil)
)

const stateEntries = 10_000

var errWritesState = errors.New("state can be written only in candle(view): decide must return the same however often it is called " +
	"(use plan(remember={...}) to store in the journal)")

func newState() *state { return &state{held: starlark.NewDict(8)} }

// SetKey implements state[key] = value.
func (s *state) SetKey(key, value starlark.Value) error {
	if !s.writable {
		return errWritesState
	}
	if !plain(value) {
		return fmt.Errorf("state stores numbers, strings, booleans, None and tuples of them, not a %s", value.Type())
	}
	if _, found, _ := s.held.Get(key); !found && s.held.Len() >= stateEntries {
		return fmt.Errorf("state already has %d entries, the maximum", stateEntries)
	}
	return s.held.SetKey(key, newest(value))
}

func plain(value starlark.Value) bool {
	switch value := value.(type) {
	case starlark.NoneType, starlark.Bool, starlark.Int, starlark.Float, starlark.String, *series:
		return true
	case starlark.Tuple:
		for _, element := range value {
			if _, is := element.(*series); is || !plain(element) {
				return false
			}
		}
		return true
	}
	return false
}

// Get implements state[key].
func (s *state) Get(key starlark.Value) (starlark.Value, bool, error) { return s.held.Get(key) }

// Items returns all entries, in the order in which they were first written.
func (s *state) Items() []starlark.Tuple { return s.held.Items() }

// Iterate iterates over the keys.
func (s *state) Iterate() starlark.Iterator { return s.held.Iterate() }

// Attr returns the reading methods of a dictionary.
func (s *state) Attr(name string) (starlark.Value, error) {
	switch name {
	case "get", "items", "keys", "values":
		return s.held.Attr(name)
	}
	return nil, nil
}

// AttrNames returns the methods.
func (s *state) AttrNames() []string { return []string{"get", "items", "keys", "values"} }

// String returns the entries.
func (s *state) String() string { return s.held.String() }

// Type returns the Starlark type name.
func (s *state) Type() string { return "state" }

// Freeze does nothing: candle may write it.
func (s *state) Freeze() {}

// Truth reports whether there is an entry.
func (s *state) Truth() starlark.Bool { return s.held.Truth() }

// Hash returns an error: state cannot be a key.
func (s *state) Hash() (uint32, error) { return 0, errors.New("state cannot be a key") }
