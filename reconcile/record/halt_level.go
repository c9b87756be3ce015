package record

import (
	"fmt"
	"slices"
	"strings"

	"botd/exchange"
	"botd/reconcile/placement"
)

// HaltLevel is the severity of a halt. Each level includes the effects of the lower ones.
type HaltLevel uint8

// The levels of a halt.
const (
	LevelNone    HaltLevel = iota // no halt; as a request, rearm
	LevelPause                    // nothing opens
	LevelCancel                   // resting openings are canceled too
	LevelFlatten                  // positions are closed too
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

// EndsOrders reports whether a halt of this level ends any order.
func (l HaltLevel) EndsOrders() bool { return l >= LevelCancel }

// Ends reports whether an order of this purpose must have ended before a halt of this level is complete: those that open from
// cancel on, all of them at flatten.
func (l HaltLevel) Ends(purpose placement.Purpose) bool {
	return l >= LevelFlatten || l.EndsOrders() && purpose.Opens()
}

// EndsFirst reports whether a halt of this level ends an order before the position is closed. On futures the position keeps its
// protection, and an exit that closes it, until it has ended; on spot every order holds the asset that is to be sold.
func (l HaltLevel) EndsFirst(purpose placement.Purpose, market exchange.Market) bool {
	return l.Ends(purpose) && (market == exchange.Spot || purpose.Opens() || purpose == placement.ExitOrder)
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
