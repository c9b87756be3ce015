package shell

import (
	"strings"
	"unicode"
)

// Printable keeps what somebody wrote into a file from moving a terminal's cursor.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '·'
		}
		return r
	}, text)
}
