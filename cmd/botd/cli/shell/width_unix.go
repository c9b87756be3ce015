//go:build unix

package shell

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// dimensionsOf returns the columns and rows of a terminal.
func dimensionsOf(file *os.File) (columns, rows int, known bool) {
	size, err := unix.IoctlGetWinsize(int(file.Fd()), unix.TIOCGWINSZ)
	if err != nil || size.Col == 0 {
		return 0, 0, false
	}
	return int(size.Col), int(size.Row), true
}

// resizes reports each change of the terminal's size, until end is called.
func resizes() (changed <-chan os.Signal, end func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, unix.SIGWINCH)
	return signals, func() { signal.Stop(signals) }
}
