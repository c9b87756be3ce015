package shell

import (
	"io"

	"botd/internal/paint"
)

// Printable returns a stream that keeps external text from moving the terminal's cursor: all output of botd passes through it.
func Printable(stream io.Writer) io.Writer { return visible{paint.NewWriter(stream)} }

// visible passes its output on to a stream that may be a terminal.
type visible struct{ *paint.Writer }

func (v visible) onTo() io.Writer { return v.To() }
