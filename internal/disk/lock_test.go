package disk

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestAFileIsLockedOnce(t *testing.T) {
	t.Parallel()
	taken := errors.New("taken")
	path := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { file.Close() })
		return file
	}
	first, second, third := open(), open(), open()
	wants := func(file *os.File, want error) {
		t.Helper()
		if have := Lock(file, taken); !errors.Is(have, want) {
			t.Errorf("want %v, have %v", want, have)
		}
	}
	wants(first, nil)
	wants(first, nil) // it has it already
	wants(second, taken)
	if err := Unlock(first); err != nil {
		t.Error(err)
	}
	wants(second, nil)
	wants(first, taken)
	second.Close()
	wants(third, nil)
	if third.Close(); Lock(third, taken) == nil || errors.Is(Lock(third, taken), taken) {
		t.Error("want an error of a closed file, which is not that it is taken")
	}
}
