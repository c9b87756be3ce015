package journal_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"botd/internal/conformance/journaltest"
	"botd/reconcile/journal"
	"botd/reconcile/record"
)

// TestAJournalThatIsLostUnderTheProcessIsNoticed does to a journal's files, under a
// process that has them open, what people do (finding 6, case 48).
func TestAJournalThatIsLostUnderTheProcessIsNoticed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, want string
		does       func(path string) error
		rescued    bool
	}{
		{"the data directory is removed", "is gone", func(path string) error { return os.RemoveAll(filepath.Dir(path)) }, true},
		{"the file is removed", "is gone", os.Remove, true},
		{"its log is removed", "is gone", func(path string) error { return os.Remove(path + "-wal") }, true},
		{"the directory is moved", "is gone", func(path string) error { return os.Rename(filepath.Dir(path), filepath.Dir(path)+"-old") }, true},
		{"it is cut to 4 KiB", "was cut from", func(path string) error { return os.Truncate(path, 4096) }, false},
		{"another takes its place", "is another file", func(path string) error {
			if err := os.WriteFile(path+".new", make([]byte, 1<<20), 0o600); err != nil {
				return err
			}
			return os.Rename(path+".new", path)
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "demo", "journal.db")
			j := open(t, path)
			must(t, j.Append(t.Context(), []record.Record{{AtMS: 1, Body: record.Boot{Epoch: 1, Account: journaltest.Bound.Text()}}}))
			(&files{t, path}).exec("PRAGMA wal_checkpoint(PASSIVE)") // as SQLite does every thousand pages
			if lost := j.Watch(); lost != "" {
				t.Fatalf("want nothing wrong yet, have %s", lost)
			}
			must(t, c.does(path))
			if lost := j.Watch(); !strings.Contains(lost, c.want) {
				t.Errorf("want %q, have %q", c.want, lost)
			}
			facts := []record.Record{{AtMS: 2, Body: record.Halt{Level: record.LevelFlatten, Why: "the kill switch goes on"}}}
			if err := j.Append(t.Context(), facts); err != nil {
				t.Errorf("want exits and the kill switch to go on, have %v", err)
			}
			must(t, j.Close())
			if !c.rescued {
				text, err := os.ReadFile(path + ".diverted")
				if err != nil || !strings.Contains(string(text), "the kill switch goes on") {
					t.Errorf("want what the file cannot take beside it, have %s, %v", text, err)
				}
				return
			}
			saved, err := filepath.Glob(path + ".rescued-*")
			if err != nil || len(saved) != 1 {
				t.Fatalf("want what the open files held saved, have %v, %v", saved, err)
			}
			report, err := journal.CheckBackup(t.Context(), saved[0], nil)
			if err != nil || report.Records != 2 || report.Binding != journaltest.Bound {
				t.Errorf("want both records in it, have %+v, %v", report, err)
			}
		})
	}
}

// TestAJournalThatIsWrittenIsNotTakenForLost appends, is read, and is backed up.
func TestAJournalThatIsWrittenIsNotTakenForLost(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.db")
	j := open(t, path)
	for range 20 {
		must(t, j.Append(t.Context(), []record.Record{{AtMS: 3, Body: record.Halt{Level: record.LevelPause, Why: strings.Repeat("news", 10_000)}}}))
		if lost := j.Watch(); lost != "" {
			t.Fatalf("want nothing wrong, have %s", lost)
		}
	}
	reader, err := journal.Read(t.Context(), path)
	must(t, err)
	must(t, reader.Close())
	_, err = j.Backup(t.Context(), path+".backup")
	must(t, err)
	if lost := j.Watch(); lost != "" {
		t.Errorf("want nothing wrong, have %s", lost)
	}
	must(t, j.Close())
	if lost := open(t, path).Watch(); lost != "" {
		t.Errorf("opened again: want nothing wrong, have %s", lost)
	}
}
