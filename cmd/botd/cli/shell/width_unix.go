//go:build unix

package shell

import (
	"os"

	"golang.org/x/sys/unix"
)

// widthOf is how many columns a terminal has.
func widthOf(file *os.File) (columns int, known bool) {
	size, err := unix.IoctlGetWinsize(int(file.Fd()), unix.TIOCGWINSZ)
	if err != nil || size.Col == 0 {
		return 0, false
	}
	return int(size.Col), true
}
