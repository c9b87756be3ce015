package journal_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"botd/reconcile/journal"
	"botd/reconcile/record"
)

// TestABackupEndsWhereItsAccountDoes writes as botd does: an order's record first, then the
// account, then the record of its answer. No copy may hold an order in the account that its
// records do not know, nor an answer that the account does not know.
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

// TestACopyOfAnOlderJournalHoldsItsAccount is the way back to the former botd: its journal and
// its account, restored together.
func TestACopyOfAnOlderJournalHoldsItsAccount(t *testing.T) {
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
