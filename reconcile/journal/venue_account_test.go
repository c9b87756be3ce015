package journal_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"botd/reconcile/journal"
	"botd/reconcile/record"
)

// TestABackupEndsWhereItsAccountDoes writes as botd does: first the record of an order, then the account,
// then the record of its answer. In no copy may the account contain an order without a record, or the
// records an answer to an order that the account lacks.
func TestABackupEndsWhereItsAccountDoes(t *testing.T) {
	t.Parallel()
	path, target := filepath.Join(t.TempDir(), "journal.db"), t.TempDir()
	account := filepath.Join(filepath.Dir(path), journal.AccountFile)
	j := open(t, path)
	must(t, os.WriteFile(account, nil, 0o600))
	reader, err := journal.Read(t.Context(), path)
	must(t, err)
	defer reader.Close()
	ctx, stop := context.WithCancel(t.Context())
	var writing sync.WaitGroup
	writing.Go(func() {
		file, err := os.OpenFile(account, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Error(err)
			return
		}
		defer file.Close()
		for epoch := int64(1); ctx.Err() == nil; epoch++ {
			err := j.Append(t.Context(), []record.Record{booted(epoch)})
			if err == nil {
				_, err = file.WriteString("order\n")
			}
			if err == nil {
				err = j.Append(t.Context(), []record.Record{{Body: record.Config{}}})
			}
			if err != nil {
				t.Error(err)
				return
			}
		}
	})
	var copies []journal.Backup
	for len(copies) < 20 {
		b, err := reader.Backup(t.Context(), filepath.Join(target, strings.Repeat("c", len(copies)+1)))
		if err != nil {
			t.Error(err)
			break
		}
		copies = append(copies, b)
	}
	stop()
	writing.Wait()
	for _, b := range copies {
		text, err := os.ReadFile(b.File + "." + journal.AccountFile)
		must(t, err)
		orders := bytes.Count(text, []byte("\n"))
		if known, answered := (b.Records+1)/2, b.Records/2; known < orders || answered > orders {
			t.Errorf("%s: want between %d and %d records for %d orders, have %d", b.File, 2*orders-1, 2*orders+1, orders, b.Records)
		}
	}
}

// TestCopyOfOlderJournalIncludesAccount covers a downgrade: journal and account are restored together.
func TestCopyOfOlderJournalIncludesAccount(t *testing.T) {
	t.Parallel()
	o := &oldJournals[0]
	path := o.restore(t)
	account := filepath.Join(filepath.Dir(path), journal.AccountFile)
	must(t, os.WriteFile(account, []byte("before the upgrade\n"), 0o600))
	backup, err := journal.BackupOlder(t.Context(), path, nil)
	if err != nil || backup == "" {
		t.Fatalf("want a copy, have %q, %v", backup, err)
	}
	must(t, os.WriteFile(account, []byte("after it\n"), 0o600))
	restored, err := journal.Restore(t.Context(), backup, path, nil, moment)
	must(t, err)
	if text, err := os.ReadFile(account); err != nil || string(text) != "before the upgrade\n" {
		t.Errorf("want the account of before, have %q, %v", text, err)
	}
	if text, err := os.ReadFile(restored.ReplacedAccount); err != nil || string(text) != "after it\n" {
		t.Errorf("want the other one stored beside it, have %q, %v", text, err)
	}
	reader, err := journal.Read(t.Context(), path)
	must(t, err)
	defer reader.Close()
	o.check(t, reader, true)
}

// together returns the backup of a journal that has an account next to it, and the journal's path.
func together(t *testing.T) (path, backup string) {
	t.Helper()
	path, backup = filepath.Join(t.TempDir(), "journal.db"), filepath.Join(t.TempDir(), "copy.db")
	j := open(t, path)
	must(t, j.Append(t.Context(), everyKind()))
	strew(t, filepath.Join(filepath.Dir(path), journal.AccountFile), []byte("of then"))
	b, err := j.Backup(t.Context(), backup)
	must(t, err)
	sum := sha256.Sum256([]byte("of then"))
	want := journal.AccountCopy{File: backup + ".exchange.json", Bytes: 7, SHA256: hex.EncodeToString(sum[:])}
	if b.Account == nil || *b.Account != want {
		t.Fatalf("want %+v, have %+v", want, b.Account)
	}
	must(t, j.Append(t.Context(), []record.Record{booted(99)}))
	must(t, j.Close())
	strew(t, filepath.Join(filepath.Dir(path), journal.AccountFile), []byte("of now"))
	return path, backup
}

// A missing, altered or unreadable account fails the restore, and the existing files stay.
func TestRestoreNeedsAccountOfBackup(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(backup string)
		want  string
	}{
		"missing": {func(backup string) { must(t, os.Remove(backup+".exchange.json")) }, "the account that belongs to BACKUP: "},
		"altered": {func(backup string) { strew(t, backup+".exchange.json", []byte("of ever")) },
			"BACKUP is damaged: account BACKUP.exchange.json: want sha256 "},
		"not readable": {func(backup string) { (&files{t, backup}).exec("UPDATE meta SET value = 'none' WHERE name = 'account'") },
			"read which account belongs to BACKUP: invalid character"},
	} {
		path, backup := together(t)
		c.spoil(backup)
		before := replayed(t, path)
		_, err := journal.Restore(t.Context(), backup, path, nil, moment)
		if err == nil || !strings.HasPrefix(strings.ReplaceAll(err.Error(), backup, "BACKUP"), c.want) {
			t.Errorf("%s: want %q, have %v", name, c.want, err)
		}
		account, err := os.ReadFile(filepath.Join(filepath.Dir(path), journal.AccountFile))
		if err != nil || string(account) != "of now" || !slices.Equal(replayed(t, path), before) {
			t.Errorf("%s: want journal and account as they were, have %s, %v", name, account, err)
		}
	}
}

// An obstacle to one of the two leaves both unchanged. Without it both are restored, the replaced ones are saved, and the journal continues
// with the account as its own.
func TestAJournalComesBackWithItsAccountOrNotAtAll(t *testing.T) {
	t.Parallel()
	for _, inTheWay := range []string{"exchange.json.partial", "exchange.json.before-20270115T080000Z", "journal.db.head"} {
		path, backup := together(t)
		directory := filepath.Dir(path)
		account := func() string {
			text, err := os.ReadFile(filepath.Join(directory, journal.AccountFile))
			must(t, err)
			return string(text)
		}
		before := replayed(t, path)
		must(t, os.RemoveAll(filepath.Join(directory, inTheWay)))
		must(t, os.MkdirAll(filepath.Join(directory, inTheWay, "occupied"), 0o700))
		if r, err := journal.Restore(t.Context(), backup, path, nil, moment); err == nil {
			t.Errorf("%s in the way: want an error, have %+v", inTheWay, r)
		}
		if account() != "of now" || !slices.Equal(replayed(t, path), before) {
			t.Errorf("%s in the way: want both as they were, have %s", inTheWay, account())
		}
		must(t, os.RemoveAll(filepath.Join(directory, inTheWay)))
		left, err := filepath.Glob(filepath.Join(directory, "*before*"))
		if partial, _ := filepath.Glob(filepath.Join(directory, "*.partial")); err != nil || len(left)+len(partial) > 0 {
			t.Errorf("%s in the way: want nothing left, have %v, %v", inTheWay, left, partial)
		}
		r, err := journal.Restore(t.Context(), backup, path, nil, moment)
		must(t, err)
		if r.ReplacedAccount != filepath.Join(directory, "exchange.json.before-20270115T080000Z") || account() != "of then" {
			t.Errorf("want the backup's account, and the other stored, have %s, %s", r.ReplacedAccount, account())
		}
		if text, err := os.ReadFile(r.ReplacedAccount); err != nil || string(text) != "of now" || !slices.Equal(replayed(t, r.Replaced), before) {
			t.Errorf("want both that were there, have %s, %v", text, err)
		}
		strew(t, filepath.Join(directory, journal.AccountFile), []byte("of later"))
		if b, err := journal.CheckBackup(t.Context(), path, nil); err != nil || b.Account != nil {
			t.Errorf("want a journal in use that names no account, have %+v, %v", b.Account, err)
		}
	}
}

// Neither the copy nor its account replaces a file, whatever has the name.
func TestNoFileOfABackupIsWrittenOver(t *testing.T) {
	t.Parallel()
	path, _ := together(t)
	j := open(t, path)
	for _, name := range []string{"copy.db", "copy.db.exchange.json"} {
		target := t.TempDir()
		must(t, os.Symlink("/nowhere", filepath.Join(target, name)))
		if _, err := j.Backup(t.Context(), filepath.Join(target, "copy.db")); !errors.Is(err, journal.ErrExists) || !strings.HasPrefix(err.Error(),
			filepath.Join(target, name)) {
			t.Errorf("%s: want it named, have %v", name, err)
		}
		leftovers(t, target, name)
	}
	target := t.TempDir()
	for _, name := range []string{"copy.db.partial", "copy.db.partial.exchange.json"} { // of an interrupted copy
		strew(t, filepath.Join(target, name), []byte("half"))
	}
	_, err := j.Backup(t.Context(), filepath.Join(target, "copy.db"))
	must(t, err)
	leftovers(t, target, "copy.db copy.db.exchange.json")
	for _, name := range []string{"new.db.partial", "new.db.partial.exchange.json"} {
		must(t, os.MkdirAll(filepath.Join(target, name, "occupied"), 0o700))
		if _, err := j.Backup(t.Context(), filepath.Join(target, "new.db")); err == nil {
			t.Errorf("%s: want an error where it is a directory", name)
		}
		must(t, os.RemoveAll(filepath.Join(target, name)))
	}
	leftovers(t, target, "copy.db copy.db.exchange.json")
}
