package shell

import (
	"io"
	"os"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"
)

// Colors reports whether a stream is a terminal with colors enabled.
func Colors(command *cobra.Command, stream io.Writer) bool {
	switch g := GlobalsOf(command.Context()); {
	case g.NoColor || g.Color.Word == "never":
		return false
	case g.Color.Word == "always":
		return true
	}
	if os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	return os.Getenv("FORCE_COLOR") != "" || Terminal(stream)
}

// Terminal reports whether a stream is a terminal or leads to one.
func Terminal(stream io.Writer) bool {
	file, ok := endOf(stream).(*os.File)
	return ok && isatty.IsTerminal(file.Fd())
}
