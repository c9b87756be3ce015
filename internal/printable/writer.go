package printable

import (
	"io"
	"regexp"
	"unicode/utf8"
)

// Writer escapes what Lines does, in a stream. Colours stay; a terminal is not hurt by them.
type Writer struct {
	to   io.Writer
	rest []byte // the beginning of a rune whose end was not written yet
}

// NewWriter returns a writer that passes on to another.
func NewWriter(to io.Writer) *Writer { return &Writer{to: to} }

// To is what is written to.
func (w *Writer) To() io.Writer { return w.to }

// colour is a sequence that sets a colour or ends it, as botd's tables and log have them.
var colour = regexp.MustCompile(`\x1b\[(?:0|1|3[0-7]|9[0-7])m`)

// Write writes a text.
func (w *Writer) Write(text []byte) (int, error) {
	if len(w.rest) == 0 && plain(text) {
		return w.to.Write(text)
	}
	all := append(w.rest, text...)
	cut := whole(all)
	w.rest = append([]byte(nil), all[cut:]...)
	all = all[:cut]
	var out []byte
	for len(all) > 0 {
		next := colour.FindIndex(all)
		if next == nil {
			out = append(out, Lines(string(all))...)
			break
		}
		out = append(append(out, Lines(string(all[:next[0]]))...), all[next[0]:next[1]]...)
		all = all[next[1]:]
	}
	if _, err := w.to.Write(out); err != nil {
		return 0, err
	}
	return len(text), nil
}

// plain reports whether a text is ASCII that stays as it is.
func plain(text []byte) bool {
	for _, b := range text {
		if b >= utf8.RuneSelf || b == 0x7f || b < ' ' && b != '\n' && b != '\t' {
			return false
		}
	}
	return true
}

// whole is where the last rune begins that may go on in the next write.
func whole(text []byte) int {
	for i := len(text) - 1; i >= 0 && i >= len(text)-utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:]) {
				return i
			}
			break
		}
	}
	return len(text)
}
