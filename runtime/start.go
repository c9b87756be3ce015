package runtime

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"botd/internal/privatefile"
)

// markName is the file that exists while botd runs.
const markName = "running"

// Mark creates a file in the data directory that exists until clean is called. It reports
// whether an earlier run left its own: that run did not stop cleanly. No other process may
// use the directory.
func Mark(directory string) (clean func() error, unclean bool, err error) {
	path := filepath.Join(directory, markName)
	switch _, err := os.Lstat(path); {
	case err == nil:
		unclean = true
	case !errors.Is(err, fs.ErrNotExist):
		return nil, false, fmt.Errorf("check the running marker: %w", err)
	}
	if err := privatefile.Write(path, fmt.Appendln(nil, os.Getpid())); err != nil {
		return nil, unclean, fmt.Errorf("mark the data directory as running: %w", err)
	}
	return func() error {
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("remove the running marker: %w", err)
		}
		return nil
	}, unclean, nil
}
