// Package printable makes text from outside safe to show on a terminal, in a log, on a page or in a message.
//
// A symbol's name, a refusal or a file may contain escape sequences that move the cursor or
// forge a line, and characters that reverse the writing direction. Each of these characters
// is replaced by its JSON escape, such as \u202e: it becomes visible, and text in JSON
// keeps its value.
package printable

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Text escapes every invisible character, including line breaks and tabs.
func Text(text string) string { return escape(text, func(r rune) bool { return visible(r) }) }

// Lines is Text for a text of several lines: it preserves line breaks and tabs.
func Lines(text string) string {
	return escape(text, func(r rune) bool { return visible(r) || r == '\n' || r == '\t' })
}

// MaxExcerpt bounds an excerpt, in bytes before its mark.
const MaxExcerpt = 500

// sameLine moves the hint of an error, which stands on a line of its own, to the end of its error.
var sameLine = strings.NewReplacer("\n  hint: ", "; hint: ", "\nhint: ", "; hint: ")

// Excerpt is Text for an external text within a line, cut after MaxExcerpt. A hint follows on the same line.
func Excerpt(text string) string {
	text = Text(sameLine.Replace(text))
	if len(text) > MaxExcerpt {
		text = strings.ToValidUTF8(text[:MaxExcerpt], "") + "…"
	}
	return text
}

// Error is the text of an error for one line: a semicolon stands between the problems that errors.Join puts on a line each.
// A line break of any other text stays one, so that Excerpt shows it.
func Error(err error) string {
	text := err.Error()
	switch outer := err.(type) {
	case interface{ Unwrap() error }:
		if inner := outer.Unwrap(); inner != nil {
			text = strings.Replace(text, inner.Error(), Error(inner), 1)
		}
	case interface{ Unwrap() []error }:
		var lines, words []string
		for _, inner := range outer.Unwrap() {
			lines, words = append(lines, inner.Error()), append(words, Error(inner))
		}
		if text == strings.Join(lines, "\n") {
			return strings.Join(words, "; ")
		}
		for i := range lines {
			text = strings.Replace(text, lines[i], words[i], 1)
		}
	}
	return text
}

// visible reports whether a rune has a shape, or is a space.
func visible(r rune) bool {
	return r != utf8.RuneError && (unicode.IsPrint(r) || unicode.Is(unicode.Zs, r))
}

func escape(text string, keep func(rune) bool) string {
	clean := true
	for _, r := range text {
		if !keep(r) {
			clean = false
			break
		}
	}
	if clean {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if keep(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(code(r))
		}
	}
	return b.String()
}

// code returns a rune as a JSON escape.
func code(r rune) string {
	if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
		return fmt.Sprintf(`\u%04x\u%04x`, high, low)
	}
	return fmt.Sprintf(`\u%04x`, r)
}
