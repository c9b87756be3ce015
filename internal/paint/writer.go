package paint

import (
	"io"
	"unicode/utf8"

	"botd/internal/printable"
)

// Writer escapes a stream like printable.Lines, but preserves botd's own colors.
type Writer struct {
	to   io.Writer
	rest []byte // the beginning of an incomplete rune
}

// NewWriter returns a writer that passes its output on to another writer.
func NewWriter(to io.Writer) *Writer { return &Writer{to: to} }

// To returns the writer behind w.
func (w *Writer) To() io.Writer { return w.to }

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
		next := own.FindSubmatchIndex(all)
		if next == nil {
			out = append(out, printable.Lines(string(all))...)
			break
		}
		out = append(append(out, printable.Lines(string(all[:next[0]]))...), "\x1b["...)
		out, all = append(out, all[next[2]:next[3]]...), all[next[1]:]
	}
	if _, err := w.to.Write(out); err != nil {
		return 0, err
	}
	return len(text), nil
}

// plain reports whether a text is ASCII that needs no escape.
func plain(text []byte) bool {
	for _, b := range text {
		if b >= utf8.RuneSelf || b == 0x7f || b < ' ' && b != '\n' && b != '\t' {
			return false
		}
	}
	return true
}

// whole returns the length of the text without an incomplete last rune, which the next write may complete.
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
