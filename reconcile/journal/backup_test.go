package journal_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"botd/reconcile/journal"
	"botd/reconcile/record"
)

var moment = time.Date(2027, 1, 15, 8, 0, 0, 0, time.UTC)

// replayed returns the text of all records in a journal's file.
func replayed(t *testing.T, path string) (lines []string) {
	t.Helper()
	j, err := journal.Read(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if err := j.Select(t.Context(), journal.Filter{}, func(s *journal.Stored) error { lines = append(lines, s.Hash); return nil }); err != nil {
		t.Fatal(err)
	}
	return lines
}

func leftovers(t *testing.T, directory, want string) {
	t.Helper()
	entries, err := os.ReadDir(directory)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if have := strings.Join(names, " "); have != want {
		t.Errorf("files: want %q, have %q", want, have)
	}
}

// outgrown returns a journal that has one record more than its backup.
func outgrown(t *testing.T) (path, backup string, j *journal.Journal) {
	t.Helper()
	path, backup = filepath.Join(t.TempDir(), "journal.db"), filepath.Join(t.TempDir(), "backup.db")
	j = open(t, path)
	must(t, j.Append(t.Context(), everyKind()))
	_, err := j.Backup(t.Context(), backup)
	must(t, err)
	must(t, j.Append(t.Context(), []record.Record{booted(99)}))
	return path, backup, j
}

// TestABackupIsMadeWhileTheJournalIsWritten takes copies while a writer never pauses: each is complete,
// sound, and the beginning of the journal.
func TestABackupIsMadeWhileTheJournalIsWritten(t *testing.T) {
	t.Parallel()
	path, target := filepath.Join(t.TempDir(), "journal.db"), t.TempDir()
	j := open(t, path)
	reader, err := journal.Read(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	ctx, stop := context.WithCancel(t.Context())
	var writing sync.WaitGroup
	writing.Go(func() {
		for epoch := int64(1); ctx.Err() == nil; epoch++ {
			if err := j.Append(t.Context(), []record.Record{booted(epoch), {Body: record.Config{}}}); err != nil {
				t.Error(err)
				return
			}
		}
	})
	var copies []journal.Backup
	for _, name := range []string{"a", "b", "c"} {
		b, err := reader.Backup(t.Context(), filepath.Join(target, name))
		if err != nil {
			t.Fatal(err)
		}
		copies = append(copies, b)
	}
	stop()
	writing.Wait()
	whole := replayed(t, path)
	for i, b := range copies {
		part := replayed(t, b.File)
		if len(part) != b.Records || len(part)%2 != 0 || strings.Join(part, " ") != strings.Join(whole[:len(part)], " ") {
			t.Errorf("copy %d: want the journal's first %d records", i, b.Records)
		}
		if b.Binding != binding || len(b.SHA256) != 64 || b.Bytes == 0 {
			t.Errorf("copy %d: %+v", i, b)
		}
		if info, err := os.Stat(b.File); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("a copy is for its owner alone: have %v, %v", info.Mode(), err)
		}
	}
	leftovers(t, target, "a b c")
	if _, err := reader.Backup(t.Context(), filepath.Join(target, "a")); !errors.Is(err, journal.ErrExists) {
		t.Errorf("a backup is not written over: want %v, have %v", journal.ErrExists, err)
	}
}

func TestUnsoundJournalIsNotBackedUp(t *testing.T) {
	t.Parallel()
	path, target := filepath.Join(t.TempDir(), "journal.db"), t.TempDir()
	j := open(t, path)
	if err := j.Append(t.Context(), everyKind()); err != nil {
		t.Fatal(err)
	}
	(&files{t, path}).exec("UPDATE placement SET state = 'absent'")
	var unsound *journal.UnsoundError
	if _, err := j.Backup(t.Context(), filepath.Join(target, "a")); !errors.As(err, &unsound) || !strings.Contains(err.Error(), "state=absent") {
		t.Errorf("want it found, have %v", err)
	}
	leftovers(t, target, "")
}

// TestARestoredJournalIsTheBackup restores a journal from a backup, whatever is at its path. The replaced
// files get other names.
func TestARestoredJournalIsTheBackup(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(t *testing.T, path string){
		"nothing is there": func(t *testing.T, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		},
		"a later journal":               func(*testing.T, string) {},
		"one that cannot be read":       func(t *testing.T, path string) { strew(t, path, bytes.Repeat([]byte("no journal"), 1_000)) },
		"a log that lost its journal":   func(t *testing.T, path string) { strew(t, path+"-wal", []byte("old")); must(t, os.Remove(path)) },
		"one that names no account":     func(t *testing.T, path string) { (&files{t, path}).exec("DELETE FROM meta WHERE name = 'binding'") },
		"a directory":                   func(t *testing.T, path string) { must(t, os.Remove(path)); must(t, os.Mkdir(path, 0o700)) },
		"a copy that was not completed": func(t *testing.T, path string) { strew(t, path+".partial", []byte("half")) },
		"one that was killed": func(t *testing.T, path string) {
			killed := open(t, path)
			must(t, killed.Append(t.Context(), []record.Record{booted(150)}))
			log, err := os.ReadFile(path + "-wal")
			must(t, err)
			must(t, killed.Close())
			strew(t, path+"-wal", log)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, backup, j := outgrown(t)
			later := replayed(t, path)
			must(t, j.Close())
			spoil(t, path)
			_, missing := os.Stat(path)
			restored, err := journal.Restore(t.Context(), backup, path, nil, moment)
			if err != nil {
				t.Fatal(err)
			}
			want := replayed(t, backup)
			if have := replayed(t, path); strings.Join(want, " ") != strings.Join(have, " ") || restored.Records != len(want) {
				t.Errorf("want the backup's %d records, have %d", len(want), len(have))
			}
			if (restored.Replaced == "") != (missing != nil) {
				t.Errorf("kept as %q, though %v", restored.Replaced, missing)
			}
			if _, err := os.Lstat(restored.Replaced + "-wal"); !os.IsNotExist(err) {
				t.Errorf("want what was there kept in one file, have a log, %v", err)
			}
			if name == "a later journal" {
				if have := replayed(t, restored.Replaced); strings.Join(later, " ") != strings.Join(have, " ") {
					t.Errorf("want the %d records that were there kept, have %d", len(later), len(have))
				}
			}
			again := open(t, path)
			must(t, again.Append(t.Context(), []record.Record{booted(200)}))
			if report, err := again.Verify(t.Context()); err != nil || len(report.Problems) > 0 {
				t.Errorf("written on: %+v, %v", report, err)
			}
		})
	}
}

func TestARestoreIsRefused(t *testing.T) {
	t.Parallel()
	path, backup := filepath.Join(t.TempDir(), "journal.db"), filepath.Join(t.TempDir(), "backup.db")
	j := open(t, path)
	must(t, j.Append(t.Context(), everyKind()))
	_, err := j.Backup(t.Context(), backup)
	must(t, err)
	if _, err := journal.Restore(t.Context(), backup, path, nil, moment); !errors.Is(err, journal.ErrLocked) {
		t.Errorf("while a daemon writes: want %v, have %v", journal.ErrLocked, err)
	}
	must(t, j.Close())
	other := filepath.Join(t.TempDir(), "journal.db")
	bound := binding
	bound.KeyFingerprint = "another"
	o, err := journal.Open(t.Context(), other, bound, journal.Options{})
	must(t, err)
	must(t, o.Close())
	var wrong *journal.BindingError
	if _, err := journal.Restore(t.Context(), backup, other, nil, moment); !errors.As(err, &wrong) {
		t.Errorf("over another account's journal: want a BindingError, have %v", err)
	}
	text, err := os.ReadFile(backup)
	must(t, err)
	strew(t, backup, bytes.ReplaceAll(text, []byte("timeout"), []byte("TIMEOUT")))
	before := replayed(t, path)
	var unsound *journal.UnsoundError
	if _, err := journal.Restore(t.Context(), backup, path, nil, moment); !errors.As(err, &unsound) {
		t.Errorf("a spoiled backup: want an UnsoundError, have %v", err)
	}
	if have := replayed(t, path); strings.Join(before, " ") != strings.Join(have, " ") {
		t.Error("a refused restore changed the journal")
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func strew(t *testing.T, path string, text []byte) {
	t.Helper()
	must(t, os.WriteFile(path, text, 0o600))
}

// TestARestoreThatCannotGoOnLeavesTheJournal puts an obstacle in the way of each step. The restore returns an error, the journal keeps its
// records, nothing of the copy is left, and without the obstacle the same restore succeeds.
func TestARestoreThatCannotGoOnLeavesTheJournal(t *testing.T) {
	t.Parallel()
	occupied := func(name func(path string) string) func(t *testing.T, path string) func() {
		return func(t *testing.T, path string) func() {
			inTheWay := name(path)
			must(t, os.RemoveAll(inTheWay))
			must(t, os.MkdirAll(filepath.Join(inTheWay, "occupied"), 0o700))
			return func() { must(t, os.RemoveAll(inTheWay)) }
		}
	}
	for name, obstruct := range map[string]func(t *testing.T, path string) func(){
		"its copy's name is taken":     occupied(func(path string) string { return path + ".partial" }),
		"the name to keep it is taken": occupied(func(path string) string { return path + ".before-" + moment.UTC().Format("20060102T150405Z") }),
		"the head cannot be removed":   occupied(journal.HeadPath),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, backup, j := outgrown(t)
			must(t, j.Close())
			before := replayed(t, path)
			free := obstruct(t, path)
			if _, err := journal.Restore(t.Context(), backup, path, nil, moment); err == nil {
				t.Error("want it to say so, have no error")
			}
			if have := replayed(t, path); !slices.Equal(have, before) {
				t.Errorf("want the %d records that were there, have %d", len(before), len(have))
			}
			free()
			if left, _ := filepath.Glob(path + ".partial*"); len(left) > 0 {
				t.Errorf("want nothing of the copy left, have %v", left)
			}
			r, err := journal.Restore(t.Context(), backup, path, nil, moment.Add(time.Second))
			must(t, err)
			if have := replayed(t, r.Replaced); !slices.Equal(have, before) || !slices.Equal(replayed(t, path), replayed(t, backup)) {
				t.Errorf("want it restored, and %d records kept, have %d", len(before), len(have))
			}
		})
	}
	accountless, copied := filepath.Join(t.TempDir(), "journal.db"), filepath.Join(t.TempDir(), "copy.db")
	must(t, os.Mkdir(filepath.Join(filepath.Dir(accountless), journal.AccountFile), 0o700))
	if _, err := open(t, accountless).Backup(t.Context(), copied); err == nil || !strings.HasPrefix(err.Error(), "copy the account: ") {
		t.Errorf("an account that cannot be read: want no backup, have %v", err)
	}
	leftovers(t, filepath.Dir(copied), "")
	path := filepath.Join(t.TempDir(), "file", "journal.db")
	strew(t, filepath.Dir(path), []byte("not a directory"))
	backup := filepath.Join(t.TempDir(), "backup.db")
	j := open(t, filepath.Join(t.TempDir(), "journal.db"))
	must(t, j.Append(t.Context(), everyKind()))
	_, err := j.Backup(t.Context(), backup)
	must(t, err)
	if _, err := journal.Restore(t.Context(), backup, path, nil, moment); err == nil || !strings.Contains(err.Error(), "make the data directory") {
		t.Errorf("want it to say that there can be no directory, have %v", err)
	}
	if _, err := j.Backup(t.Context(), filepath.Join(path, "backup.db")); err == nil {
		t.Error("a backup into what is no directory: want an error, have none")
	}
	must(t, j.Append(t.Context(), []record.Record{booted(99)}))
}
