package support

import (
	"encoding/hex"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"botd/internal/disk/disktest"
)

// TestEachFileCallOfABundleFails writes a bundle on a disk that is full for a moment. The same command then writes it as a whole.
func TestEachFileCallOfABundleFails(t *testing.T) {
	t.Parallel()
	noise := make([]byte, 50_000) // so that it takes several writes
	source := rand.NewChaCha8([32]byte{})
	_, _ = source.Read(noise)
	text := hex.EncodeToString(noise)
	disktest.EachCallFails(t, func(directory string, reported func(error)) {
		path := filepath.Join(directory, "fault.tar.gz")
		b := &Bundle{}
		b.Add("large.txt", []byte(text))
		if err := b.Write(path); err != nil {
			if reported(err); !strings.Contains(err.Error(), "no space left on device") {
				t.Errorf("want the cause, have %v", err)
			}
			if err := b.Write(path); err != nil {
				t.Fatalf("once more: %v", err)
			}
		}
		switch err := b.Write(path); {
		case err == nil:
			t.Error("want a file that is there left alone")
		case !errors.Is(err, fs.ErrExist):
			reported(err)
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if have := unpacked(t, file); have["large.txt"] != text {
			t.Errorf("want the file as a whole, have %d files", len(have))
		}
	})
}
