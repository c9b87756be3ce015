package privatefile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"botd/internal/mutant/mutanttest"
)

// TestRulesOfFilesShowWhenTheyAreBroken follows a link.
func TestRulesOfFilesShowWhenTheyAreBroken(t *testing.T) {
	mutanttest.Shown(t, "internal/privatefile", map[string]func(testing.TB){"links_followed": mutanttest.Holds(func() bool {
		directory := t.TempDir()
		target, path := filepath.Join(directory, "target"), filepath.Join(directory, "file")
		if err := errors.Join(os.WriteFile(target, nil, 0o600), os.Symlink(target, path)); err != nil {
			t.Fatal(err)
		}
		file, err := Open(path, os.O_RDONLY)
		if err == nil {
			file.Close()
		}
		return err != nil
	})})
}
