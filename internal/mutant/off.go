//go:build !mutants

package mutant

// Built reports whether this build can break rules.
const Built = false

// Is reports whether a rule is broken: never.
func Is(Rule) bool { return false }

// Break breaks a rule: in this build none can be.
func Break(Rule) { panic("mutant: built without the tag mutants") }
