package sweeps

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// errLocked reports that another process runs the sweep.
var errLocked = errors.New("another process runs this sweep")

func lock(file *os.File) error {
	err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errLocked
	}
	return err
}

// locked reports whether a process holds the file.
func locked(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	return errors.Is(lock(file), errLocked)
}
