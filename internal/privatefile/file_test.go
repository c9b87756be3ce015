package privatefile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestPlantedFilesAreNotOpened plants files as an attacker could, and expects that opening them for writing
// changes nothing.
func TestPlantedFilesAreNotOpened(t *testing.T) {
	t.Parallel()
	for name, plant := range map[string]func(path, target string) error{
		"a link":        func(path, target string) error { return os.Symlink(target, path) },
		"a second name": func(path, target string) error { return os.Link(target, path) },
		"a directory":   func(path, _ string) error { return os.Mkdir(path, 0o700) },
		"a file that others write": func(path, _ string) error {
			return errors.Join(os.WriteFile(path, []byte("x"), 0o600), os.Chmod(path, 0o666))
		},
		"a link to what is missing": func(path, target string) error { return os.Symlink(target+".none", path) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			directory := t.TempDir()
			path, target := filepath.Join(directory, "file"), filepath.Join(directory, "target")
			if err := errors.Join(os.WriteFile(target, []byte("precious"), 0o600), plant(path, target)); err != nil {
				t.Fatal(err)
			}
			for _, flag := range []int{os.O_RDONLY, os.O_WRONLY | os.O_CREATE | os.O_TRUNC, os.O_WRONLY | os.O_CREATE | os.O_APPEND} {
				if file, err := Open(path, flag); err == nil {
					file.Close()
					t.Errorf("flags %#x: want it refused", flag)
				}
			}
			if text, err := os.ReadFile(target); err != nil || string(text) != "precious" {
				t.Errorf("want the target as it was, have %q, %v", text, err)
			}
			if _, err := os.Stat(target + ".none"); err == nil {
				t.Error("want nothing made where a link points")
			}
			if name == "a directory" {
				return
			}
			if err := Write(path, []byte("new")); err != nil {
				t.Fatal(err)
			}
			text, err := Read(path, 10)
			if before, failed := os.ReadFile(target); err != nil || failed != nil || string(text) != "new" || string(before) != "precious" {
				t.Errorf("want the name replaced and the target as it was, have %q and %q, %v %v", text, before, err, failed)
			}
		})
	}
}
