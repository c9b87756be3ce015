package shell

import (
	"io"

	"botd/internal/paint"
)

// Printable returns a stream of the command line that lets nothing from outside move the
// terminal's cursor: everything botd writes passes it.
func Printable(stream io.Writer) io.Writer { return visible{paint.NewWriter(stream)} }

// visible is a stream that passes on to one which may be a terminal.
type visible struct{ *paint.Writer }

func (v visible) onTo() io.Writer { return v.To() }
