package backups

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"botd/internal/disk/disktest"
	"botd/reconcile/journal"
)

// TestEachFileCallOfABackupFails makes a backup on a disk that is full for a moment, and then another one. What was reported as made is whole, no half of a
// copy stays, the newest seven do, and the mark names the newest.
func TestEachFileCallOfABackupFails(t *testing.T) {
	t.Parallel()
	old := dated("202001", 1, 2, 3, 4, 5, 6, 7)
	disktest.EachCallFails(t, func(directory string, reported func(error)) {
		made := withJournal(t, nil)
		put(t, made, old...)
		data := filepath.Join(directory, "data")
		for os.Rename(made, data) != nil { // the failing call may be this one
			reported(os.ErrInvalid)
		}
		b := &Backups{Directory: data, Prefix: "paper-main-"}
		first, err := b.Make(t.Context())
		if reported(err); err != nil {
			if first.File != "" {
				whole(t, first.File)
				if err := os.Rename(first.File, filepath.Join(data, Folder, dated("202001", 8)[0])); err != nil { // its name has the second of this one
					t.Fatal(err)
				}
			}
			if first, err = b.Make(t.Context()); err != nil {
				t.Fatalf("once more: %v", err)
			}
		}
		whole(t, first.File)
		if last := Last(data); !last.Equal(first.At) {
			t.Errorf("want the mark to say %s, have %s", first.At, last)
		}
		stored := 0
		for _, name := range listed(t, data) {
			switch {
			case !strings.HasSuffix(name, ".db"):
				t.Errorf("%s stayed", name)
			case !strings.HasPrefix(name, "paper-main-2020"):
				whole(t, filepath.Join(data, Folder, name))
			}
			stored++
		}
		if stored != maxBackups {
			t.Errorf("want the newest %d, have %d: %v", maxBackups, stored, listed(t, data))
		}
	}, "fsync backups, number 1") // SQLite's own, as it creates the copy: botd's follows when the copy gets its name
}

// whole expects a copy of the journal with its three records.
func whole(t *testing.T, path string) {
	t.Helper()
	if b, err := journal.CheckBackup(t.Context(), path, nil); err != nil || b.Records != 3 {
		t.Errorf("%s: want 3 records, have %d, %v", filepath.Base(path), b.Records, err)
	}
}
