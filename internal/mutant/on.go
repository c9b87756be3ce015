//go:build mutants

package mutant

// Built reports whether this build can break rules.
const Built = true

// broken is the rule broken now. It is changed only while nothing runs.
var broken Rule

// Is reports whether a rule is broken.
func Is(r Rule) bool { return broken == r }

// Break breaks a rule, and heals the one before; None breaks nothing.
func Break(r Rule) { broken = r }
