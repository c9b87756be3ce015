package spell

import (
	"strings"
	"testing"
)

// TestADistanceIsTheNumberOfEdits covers each kind of edit, and several of them.
func TestADistanceIsTheNumberOfEdits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"fast", "fast", 0}, {"", "fast", 4}, {"fast", "", 4}, {"fast", "fasst", 1}, {"fasst", "fast", 1}, {"fast", "last", 1},
		{"fast", "fats", 1}, {"fast", "afst", 1}, {"fast", "ast", 1}, {"fast", "slow", 4}, {"abcd", "badc", 2}, {"kitten", "sitting", 3},
		{"leverage", "levarege", 2}, {"ab", "ba", 1}, {"abc", "cab", 2}, {"abc", "bca", 2}, {"aa", "aab", 1}, {"abab", "baba", 2},
		{"stop_loss", "stoploss", 1}, {"xabc", "abc", 1}, {"abc", "xyz", 3}, {"a", "b", 1}, {"ca", "abc", 3},
	} {
		if have, back := Distance(c.a, c.b), Distance(c.b, c.a); have != c.want || back != c.want {
			t.Errorf("%q and %q: want %d both ways, have %d and %d", c.a, c.b, c.want, have, back)
		}
	}
}

// TestTheNearestNameIsSuggested expects a name within a third of its letters, but at least one, and the first
// of several that are equally near.
func TestTheNearestNameIsSuggested(t *testing.T) {
	t.Parallel()
	known := []string{"leverage", "interval", "schedule", "size", "side"}
	long := strings.Repeat("a", maxLength)
	for _, c := range []struct {
		misspelled string
		known      []string
		want       string
	}{
		{"levarage", known, "leverage"}, {"LEVERAGE", known, "leverage"}, {"Intervall", known, "interval"}, {"lvrage", known, "leverage"},
		{"lvrge", known, ""}, {"sid", known, "side"}, {"siz", known, "size"}, {"sie", known, "size"}, {"si", known, ""}, {"ide", known, "side"},
		{"x", known, ""}, {"", known, ""}, {"", []string{"a"}, "a"}, {"", []string{"ab"}, ""}, {"size", nil, ""}, {"abcdef", []string{"abcdxy"}, "abcdxy"},
		{"abcdef", []string{"abcxyz"}, ""}, {"abcdef", []string{"abcdxy", "abcdex"}, "abcdex"}, {"abcdef", []string{"ABCDEX", "abcdey"}, "ABCDEX"},
		{long, []string{long + "b"}, long + "b"}, {long + "a", []string{long}, ""},
	} {
		if have := Nearest(c.misspelled, c.known); have != c.want {
			t.Errorf("%q of %q: want %q, have %q", c.misspelled, c.known, c.want, have)
		}
	}
}
