package sweeps

import (
	"errors"
	"os"

	"botd/internal/disk"
)

// errLocked reports that another process runs the sweep.
var errLocked = errors.New("another process runs this sweep")

// locked reports whether a process holds the file.
func locked(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	return errors.Is(disk.Lock(file, errLocked), errLocked)
}
