package strategy

import (
	"fmt"
	"slices"
)

// Reentry is the policy for entering a side again after a stop-loss or a take-profit ended its
// position. A target that was flat or on the other side in between always allows it.
type Reentry uint8

// The policies of re-entry. The zero value leaves the choice to the strategy, and to ReentrySignal
// if the strategy sets none.
const (
	ReentryUnset     Reentry = iota
	ReentrySignal            // by a new signal: Plan.SignalMS, or a target after a decision without one
	ReentryImmediate         // by the next decision with a target on that side
	ReentryNever             // only after a target that was flat or on the other side
	reentryEnd
)

var reentryNames = [reentryEnd]string{"", "signal", "immediate", "never"}

// String returns the policy as it is configured.
func (r Reentry) String() string {
	if r < reentryEnd {
		return reentryNames[r]
	}
	return fmt.Sprintf("reentry(%d)", r)
}

// MarshalText writes the policy as it is configured.
func (r Reentry) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads a policy; an empty text leaves it unset.
func (r *Reentry) UnmarshalText(text []byte) (err error) {
	if *r = ReentryUnset; len(text) > 0 {
		*r, err = ParseReentry(string(text))
	}
	return err
}

// ParseReentry reads a policy.
func ParseReentry(text string) (Reentry, error) {
	if i := slices.Index(reentryNames[:], text); i > 0 {
		return Reentry(i), nil
	}
	return ReentryUnset, fmt.Errorf("reentry %q: it is signal, immediate or never", text)
}

// Reenterer is a strategy with its own re-entry policy.
type Reenterer interface {
	Reentry() Reentry
}

// ReentryOf returns the policy of a strategy, or of the one it wraps.
func ReentryOf(s Strategy) Reentry {
	for s != nil {
		if r, is := s.(Reenterer); is && r.Reentry() != ReentryUnset {
			return r.Reentry()
		}
		outer, is := s.(Wrapper)
		if !is {
			break
		}
		s = outer.Wrapped()
	}
	return ReentrySignal
}
