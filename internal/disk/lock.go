package disk

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Lock locks a file without waiting, until it is unlocked or closed; a process that ends, however it
// ends, closes its files. It returns taken if the file is locked through another opening of it.
func Lock(file *os.File, taken error) error {
	err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return taken
	}
	return err
}

// Unlock ends the lock although a process that is being started still has a copy of the file.
func Unlock(file *os.File) error { return unix.Flock(int(file.Fd()), unix.LOCK_UN) }
