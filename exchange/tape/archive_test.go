package tape

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// FuzzArchive reads possible downloads of an archive. The result is its one CSV, or an error that names the
// file. Nothing is written anywhere, whatever path the archive contains, and an archive that unpacks to more
// than the bound is read only as far as requested.
func FuzzArchive(f *testing.F) {
	for _, names := range [][]string{{"candles.csv"}, {"../../outside.CSV"}, {"a.csv", "b.csv"}, {"readme.txt"}, {"/etc/passwd.csv", "readme"}} {
		var packed bytes.Buffer
		archive := zip.NewWriter(&packed)
		for _, name := range names {
			if file, err := archive.Create(name); err == nil {
				_, _ = file.Write(bytes.Repeat([]byte("1700000000000,1,2,0.5,1.5,1\n"), 1_000))
			}
		}
		if err := archive.Close(); err != nil {
			f.Fatal(err)
		}
		f.Add(packed.Bytes())
		f.Add(packed.Bytes()[:packed.Len()/2])
	}
	f.Add([]byte("PK\x05\x06" + string(make([]byte, 18))))
	f.Fuzz(func(t *testing.T, text []byte) {
		folder := t.TempDir()
		path := filepath.Join(folder, "download.zip")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		stream, err := zipped(path)
		if err == nil {
			_, err = io.Copy(io.Discard, io.LimitReader(stream, 1<<20))
			stream.Close()
		}
		var wrong *DataError
		if err != nil && (!errors.As(err, &wrong) || wrong.Path != path) {
			t.Errorf("want an error that names the file, have %v", err)
		}
		if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 {
			t.Errorf("want nothing unpacked, have %v, %v", entries, err)
		}
	})
}
