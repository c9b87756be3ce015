package script

import (
	"errors"
	"fmt"

	"go.starlark.net/starlark"
)

// state is what a script remembers from candle to candle. It is made again from
// the candles at every start, so only candle(view) may write it; decide can be
// asked any number of times.
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

func newState() *state { return &state{held: starlark.NewDict(8)} }

// SetKey is state[key] = value.
func (s *state) SetKey(key, value starlark.Value) error {
	if !s.writable {
		return errors.New("state is written in candle(view) only: decide must give the same answer however often it is asked (remember in the journal with plan(remember={...}))")
	}
	if !plain(value) {
		return fmt.Errorf("state keeps numbers, texts, booleans, None and tuples of them, not a %s", value.Type())
	}
	if _, found, _ := s.held.Get(key); !found && s.held.Len() >= stateEntries {
		return fmt.Errorf("state holds %d entries already, the most it can", stateEntries)
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

// Get is state[key].
func (s *state) Get(key starlark.Value) (starlark.Value, bool, error) { return s.held.Get(key) }

// Items are all entries, in the order they were first written.
func (s *state) Items() []starlark.Tuple { return s.held.Items() }

// Iterate goes over the keys.
func (s *state) Iterate() starlark.Iterator { return s.held.Iterate() }

// Attr returns the reading methods of a dictionary.
func (s *state) Attr(name string) (starlark.Value, error) {
	switch name {
	case "get", "items", "keys", "values":
		return s.held.Attr(name)
	}
	return nil, nil
}

// AttrNames are the methods.
func (s *state) AttrNames() []string { return []string{"get", "items", "keys", "values"} }

// String shows what is remembered.
func (s *state) String() string { return s.held.String() }

// Type is what type() returns.
func (s *state) Type() string { return "state" }

// Freeze does nothing: candle may write it.
func (s *state) Freeze() {}

// Truth is whether anything is remembered.
func (s *state) Truth() starlark.Bool { return s.held.Truth() }

// Hash refuses: it is no key.
func (s *state) Hash() (uint32, error) { return 0, errors.New("state can not be a key") }
