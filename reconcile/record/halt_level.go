package record

import (
	"fmt"
	"slices"
	"strings"
)

// HaltLevel says how much a halt stops. Each level does what the lower ones do,
// so a greater one is more severe.
type HaltLevel uint8

// The levels of a halt.
const (
	LevelNone    HaltLevel = iota // no halt; as a request, rearm
	LevelPause                    // nothing opens
	LevelCancel                   // and resting openings are canceled
	LevelFlatten                  // and positions are closed
	levelEnd
)

var levelNames = [levelEnd]string{"", "pause", "cancel", "flatten"}

// HaltLevels returns the names of all levels, the mildest first.
func HaltLevels() []string { return slices.Clone(levelNames[LevelPause:]) }

// String returns the level's name; LevelNone has none.
func (l HaltLevel) String() string {
	if l < levelEnd {
		return levelNames[l]
	}
	return fmt.Sprintf("level(%d)", l)
}

// ParseHaltLevel reads the name of a level; an empty one is LevelNone.
func ParseHaltLevel(text string) (HaltLevel, error) {
	if i := slices.Index(levelNames[:], text); i >= 0 {
		return HaltLevel(i), nil
	}
	return LevelNone, fmt.Errorf("unknown halt level %q (known: %s)", text, strings.Join(levelNames[LevelPause:], ", "))
}

// MarshalText writes the name.
func (l HaltLevel) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads the name.
func (l *HaltLevel) UnmarshalText(text []byte) (err error) {
	*l, err = ParseHaltLevel(string(text))
	return err
}
