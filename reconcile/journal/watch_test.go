package journal_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"botd/internal/disk/sqlitefault"
	"botd/reconcile/journal"
	"botd/reconcile/record"
)

// TestLostJournalFileIsNoticedWhileRunning removes, replaces and truncates the files of an open journal, as
// people do (exactly-once.md, case 48).
func TestLostJournalFileIsNoticedWhileRunning(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, want string
		does       func(path string) error
		rescued    bool
	}{
		{"the data directory is removed", "does not exist", func(path string) error { return os.RemoveAll(filepath.Dir(path)) }, true},
		{"the file is removed", "does not exist", os.Remove, true},
		{"its log is removed", "does not exist", func(path string) error { return os.Remove(path + "-wal") }, true},
		{"the directory is moved", "does not exist", func(path string) error { return os.Rename(filepath.Dir(path), filepath.Dir(path)+"-old") }, true},
		{"it is cut to 4 KiB", "was truncated from", func(path string) error { return os.Truncate(path, 4096) }, false},
		{"another takes its place", "is not the file", func(path string) error {
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
			must(t, j.Append(t.Context(), []record.Record{{AtMS: 1, Body: record.Boot{Epoch: 1, Account: binding.Text()}}}))
			(&files{t, path}).exec("PRAGMA wal_checkpoint(PASSIVE)") // as SQLite does every thousand pages
			if lost := j.Watch(); lost != "" {
				t.Fatalf("want nothing wrong yet, have %s", lost)
			}
			must(t, c.does(path))
			if lost := j.Watch(); !strings.Contains(lost, c.want) {
				t.Errorf("want %q, have %q", c.want, lost)
			}
			facts := []record.Record{{AtMS: 2, Body: record.Halt{Level: record.LevelFlatten, Reason: "the kill switch goes on"}}}
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
			if err != nil || report.Records != 2 || report.Binding != binding {
				t.Errorf("want both records in it, have %+v, %v", report, err)
			}
		})
	}
}

// TestAJournalThatIsWrittenIsNotTakenForLost appends to a journal, reads it and backs it up.
func TestAJournalThatIsWrittenIsNotTakenForLost(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.db")
	j := open(t, path)
	for range 20 {
		must(t, j.Append(t.Context(), []record.Record{{AtMS: 3, Body: record.Halt{Level: record.LevelPause, Reason: strings.Repeat("news", 10_000)}}}))
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

// The log is shorter than it was after the last write.
func TestTruncatedLogIsNoticed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.db")
	j := open(t, path)
	info, err := os.Stat(path + "-wal")
	must(t, err)
	must(t, j.Append(t.Context(), []record.Record{booted(1)}))
	must(t, os.Truncate(path+"-wal", info.Size()))
	if lost := j.Watch(); !strings.HasPrefix(lost, path+"-wal was truncated from ") || !strings.Contains(lost, fmt.Sprintf(" to %d bytes", info.Size())) {
		t.Errorf("want the cut noticed, have %q", lost)
	}
	if sealed, err := j.Seal(t.Context(), journal.SealOptions{Records: 1}); err == nil || sealed != nil {
		t.Errorf("want nothing sealed, have %+v, %v", sealed, err)
	}
}

// The records of a journal that was removed, and whose disk then fails, go to a file next to it, one per line, in order. Only its owner can
// read the file, and it is created even if the directory was removed.
func TestFactsAreDivertedWithoutJournal(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "demo", "journal.db")
	must(t, os.Mkdir(filepath.Dir(path), 0o700))
	j, err := openFaulty(t, path, binding, nil)
	must(t, err)
	t.Cleanup(func() { j.Close() })
	must(t, j.Append(t.Context(), []record.Record{booted(1)}))
	must(t, os.RemoveAll(filepath.Dir(path)))
	fact := func(n int) record.Record {
		return record.Record{AtMS: int64(n), Body: record.Halt{Level: record.LevelFlatten, Reason: fmt.Sprint("fact ", n)}}
	}
	lost := j.Watch()
	for n := range 3 { // the unlinked file gets none of them
		sqlitefault.In(filepath.Dir(path)).FailSync()
		if err := j.Append(t.Context(), []record.Record{fact(2 * n), fact(2*n + 1)}); err != nil {
			t.Fatalf("want exits and halts to go on, have %v", err)
		}
	}
	if !strings.HasSuffix(lost, "does not exist: it was removed or moved while botd was writing it") {
		t.Errorf("want it noticed, have %q", lost)
	}
	file, err := os.Stat(path + ".diverted")
	must(t, err)
	if directory, err := os.Stat(filepath.Dir(path)); err != nil || directory.Mode().Perm() != 0o700 || file.Mode().Perm() != 0o600 {
		t.Errorf("want both for their owner alone, have %v, %v, %v", directory.Mode(), file.Mode(), err)
	}
	text, err := os.ReadFile(path + ".diverted")
	must(t, err)
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	for n, line := range lines {
		var r record.Record
		if err := json.Unmarshal([]byte(line), &r); err != nil || r.AtMS != int64(n) || r.Body.(record.Halt).Reason != fmt.Sprint("fact ", n) {
			t.Errorf("line %d: want fact %d, have %s, %v", n+1, n, line, err)
		}
	}
	if len(lines) != 6 {
		t.Errorf("want six facts, have %d", len(lines))
	}
	if err := j.Append(t.Context(), []record.Record{booted(1)}); !errors.Is(err, journal.ErrEpoch) {
		t.Errorf("want an epoch that is not above the journal's refused all the same, have %v", err)
	}
	must(t, os.Remove(path+".diverted"))
	must(t, os.Mkdir(path+".diverted", 0o700))
	sqlitefault.In(filepath.Dir(path)).FailSync()
	if err := j.Append(t.Context(), []record.Record{fact(9)}); err != nil {
		t.Errorf("where they cannot be written: want them to go on, have %v", err)
	}
}

// Each file of a run that lost its journal is found, whether a journal is in place or not.
func TestLeftoversOfALostJournalAreFound(t *testing.T) {
	t.Parallel()
	directory := filepath.Join(t.TempDir(), "demo")
	path := filepath.Join(directory, "journal.db")
	want := func(what, want, hint string) {
		t.Helper()
		if want != "" {
			want = filepath.Join(directory, want)
		}
		have := journal.Leftover(path)
		if have != want || have != "" && !strings.Contains(journal.RestoreHint(have), hint) {
			t.Errorf("%s: want %q and %q, have %q and %q", what, want, hint, have, journal.RestoreHint(have))
		}
	}
	want("without a directory", "", "")
	must(t, os.Mkdir(directory, 0o700))
	want("of an empty one", "", "")
	for _, name := range []string{"journal.db", "journal.db.lock", "other.db.rescued-20270101T000000Z", "journal.db.before-20270101T000000Z"} {
		strew(t, filepath.Join(directory, name), nil)
	}
	want("beside other files", "", "")
	strew(t, path+".diverted", nil)
	want("records", "journal.db.diverted", "newest backup")
	for _, stamp := range []string{"20270102T000000Z", "20270103T000000Z", "20261231T235959Z"} {
		strew(t, path+".rescued-"+stamp, nil)
	}
	want("of three copies", "journal.db.rescued-20270103T000000Z", "botd restore "+path+".rescued-20270103T000000Z")
	must(t, os.Remove(path))
	want("without a journal", "journal.db.rescued-20270103T000000Z", "")
}

// A restored journal replaces everything that a lost one left.
func TestRestoreSetsLeftoversAside(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.db")
	j := open(t, path)
	must(t, j.Append(t.Context(), []record.Record{booted(1)}))
	must(t, os.Remove(path))
	must(t, j.Close())
	strew(t, path+".diverted", nil)
	saved := journal.Leftover(path)
	_, err := journal.Restore(t.Context(), saved, path, nil, time.UnixMilli(0))
	must(t, err)
	if left := journal.Leftover(path); left != "" {
		t.Errorf("want nothing left, have %s", left)
	}
	aside, err := filepath.Glob(path + ".before-19700101T000000Z.*")
	if err != nil || len(aside) != 2 {
		t.Errorf("want copy and records kept under other names, have %v, %v", aside, err)
	}
}

// A file replaces the journal's directory, so there is no place for rescued records either.
func TestAJournalThatCannotBeCheckedIsLost(t *testing.T) {
	t.Parallel()
	directory := filepath.Join(t.TempDir(), "demo")
	path := filepath.Join(directory, "journal.db")
	j := open(t, path)
	must(t, j.Append(t.Context(), []record.Record{booted(1)}))
	must(t, os.Rename(directory, directory+"-old"))
	strew(t, directory, nil)
	if lost := j.Watch(); !strings.HasPrefix(lost, path+" cannot be checked: ") {
		t.Errorf("want it noticed, have %q", lost)
	}
	if err := j.Append(t.Context(), []record.Record{{Body: record.Config{}}}); err != nil {
		t.Errorf("want exits and halts to go on, have %v", err)
	}
	if sealed, err := j.Seal(t.Context(), journal.SealOptions{}); err == nil && sealed != nil {
		t.Errorf("want nothing sealed, have %+v", sealed)
	}
	if err := j.Close(); err == nil {
		t.Error("want a report that none of it could be saved")
	}
	must(t, os.Remove(directory))
	must(t, os.Rename(directory+"-old", directory))
	if records := selected(t, open(t, path), journal.Filter{}); len(records) != 2 {
		t.Errorf("back in its place: want what was written, have %d records", len(records))
	}
}
