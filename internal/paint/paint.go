// Package paint colors botd's own words on a terminal, and lets no other escape sequence through.
//
// External text may contain any escape sequence, including colors. Therefore botd marks its
// own colors with a secret number, which Writer removes at the end of the stream; all other
// sequences are escaped.
package paint

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"io"
	"regexp"
)

// mark precedes the numbers of botd's own colors. It looks like numbers, so that table layouts count it as part of the sequence.
var mark = func() string {
	var random [8]byte
	_, _ = rand.Read(random[:]) // it never fails
	return fmt.Sprintf("%d;%d;", binary.NativeEndian.Uint32(random[:]), binary.NativeEndian.Uint32(random[4:]))
}()

var (
	color = regexp.MustCompile(`\x1b\[((?:\d+;)*\d+m)`)
	own   = regexp.MustCompile(`\x1b\[` + mark + `((?:\d+;)*\d+m)`)
)

// Own marks the colors in a text as botd's own. The text must not contain unfiltered external text.
func Own(text string) string { return color.ReplaceAllString(text, "\x1b["+mark+"$1") }

// OwnWriter returns a writer that marks all colors as botd's own and passes them on.
func OwnWriter(to io.Writer) io.Writer { return ownWriter{to} }

type ownWriter struct{ to io.Writer }

func (w ownWriter) Write(text []byte) (int, error) {
	if _, err := io.WriteString(w.to, Own(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}
