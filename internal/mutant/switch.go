package mutant

// Built reports whether this build can break rules. The overlay puts
// testdata/switch.go in the place of this file, where it is true.
func Built() bool { return false }

// Is reports whether a rule is broken: never.
func Is(string) bool { return false }

// Break breaks a rule: in this build none can be.
func Break(name string) {
	if name != "" {
		panic("mutant: built without the overlay that breaks rules")
	}
}
