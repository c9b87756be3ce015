package journal

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// allocate preallocates blocks without writing them, if the file system supports it.
func allocate(file *os.File, size int64) error {
	err := unix.Fallocate(int(file.Fd()), 0, 0, size)
	if errors.Is(err, unix.EOPNOTSUPP) {
		return fill(file, size)
	}
	return err
}
