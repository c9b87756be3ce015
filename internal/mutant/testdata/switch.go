package mutant

// Built reports whether this build can break rules.
func Built() bool { return true }

// broken is the rule that is broken now. It changes only while nothing runs.
var broken string

// Is reports whether a rule is broken.
func Is(name string) bool { return broken == name }

// Break breaks a rule, and restores the one before; "" breaks none.
func Break(name string) { broken = name }

// Pick returns the broken value while the rule is broken, and the right one otherwise.
func Pick[T any](name string, wrong, right T) T {
	if broken == name {
		return wrong
	}
	return right
}
