package privatefile

import "regexp"

var name = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// IsName reports whether a text can be the name of a report or a sweep: of one entry of its directory, and no path that leaves it.
func IsName(text string) bool { return name.MatchString(text) }
