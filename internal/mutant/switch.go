package mutant

// Built reports whether this build can break rules. The overlay replaces this file by testdata/switch.go, in
// which Built returns true.
func Built() bool { return false }

// Is reports whether a rule is broken; in this build it is not.
func Is(string) bool { return false }

// Break breaks a rule; this build cannot.
func Break(name string) {
	if name != "" {
		panic("mutant: built without the overlay that breaks rules")
	}
}
