package journal_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"botd/internal/disk/sqlitefault"
	"botd/reconcile/journal"
	"botd/reconcile/record"
)

// failing is a journal with one failing call of the file layer, and its results.
type failing struct {
	t       *testing.T
	path    string
	stored  []string // hashes of the records from before
	message error    // all returned errors, joined
	call    int      // index of the failing call, counted from the beginning or from the end of writing; 0 for none
	later   bool     // whether to count from the end of writing
	added   int      // records whose append returned nil
}

// note saves an error, and reports whether there was none.
func (f *failing) note(err error) bool {
	f.message = errors.Join(f.message, err)
	return err == nil
}

// use opens the journal, appends, backs it up, seals it, verifies it and closes it.
func (f *failing) use(ctx context.Context) {
	faults := sqlitefault.In(filepath.Dir(f.path))
	if !f.later {
		faults.FailCall(f.call)
	}
	j, err := openFaulty(f.t, f.path, binding, nil)
	if !f.note(err) {
		return
	}
	for range 3 {
		if f.note(j.Append(ctx, []record.Record{booted(int64(3_000 + f.added)), {Body: record.Config{}}})) {
			f.added += 2
		}
	}
	if f.later {
		faults.FailCall(f.call)
	} else if f.call != 0 && faults.Pending() {
		f.note(j.Close())
		return
	}
	_, err = j.Backup(ctx, filepath.Join(filepath.Dir(f.path), "backup.db"))
	f.note(err)
	_, err = j.Seal(ctx, journal.SealOptions{Records: 10})
	f.note(err)
	report, err := j.Verify(ctx)
	if f.note(err); err == nil && len(report.Problems) > 0 { // SQLite's own check reports an unreadable page as a problem
		f.note(&journal.UnsoundError{Path: f.path, Problems: report.Problems})
	}
	if !faults.Pending() && f.message == nil && f.call != 0 {
		f.t.Error("want the error returned, have none")
	}
	f.note(j.Close()) // if SQLite cannot move records into the file, they stay in its log
}

// TestEachCallOfTheFileLayerFailsOnce fails each read, write, sync or truncation in turn while a journal is opened and
// written. Records reported as stored are stored, in order and once. Beyond them there is at most the complete batch of a
// failed append. A backup that has its name is sound, and afterwards everything works.
//
// The test is not parallel: a process started by a concurrent test would hold a journal's lock until it has called exec.
func TestEachCallOfTheFileLayerFailsOnce(t *testing.T) { eachCallFails(t, false, 30) }

// TestEachCallOfTheFileLayerFailsOnceDuringCopy covers backing up, sealing, verifying and closing.
func TestEachCallOfTheFileLayerFailsOnceDuringCopy(t *testing.T) {
	eachCallFails(t, true, 70)
}

func eachCallFails(t *testing.T, later bool, least int) {
	must(t, sqlitefault.Register())
	template := filepath.Join(t.TempDir(), journal.FileName)
	j := open(t, template)
	m := newTrader(t, j)
	m.orders(4)
	m.checkpoint()
	m.orders(1)
	must(t, j.Close())
	before := replayed(t, template)
	text, err := os.ReadFile(template)
	must(t, err)
	returned, n, step := 0, 1, 1
	if testing.Short() {
		t.Log("-short: every eighth call")
		step = 8
	}
	for ; ; n += step {
		f := &failing{t: t, path: filepath.Join(t.TempDir(), journal.FileName), stored: before, call: n, later: later}
		must(t, os.WriteFile(f.path, text, 0o600))
		f.use(t.Context())
		if sqlitefault.In(filepath.Dir(f.path)).Pending() {
			break
		}
		if f.message != nil {
			returned++
		}
		f.holds(n)
		must(t, os.RemoveAll(filepath.Dir(f.path)))
		if t.Failed() {
			t.Fatalf("call %d: it reported %v", n, f.message)
		}
	}
	t.Logf("about %d calls; %d of those that failed were returned as an error", n-1, returned)
	if n < least {
		t.Errorf("want %d calls and more, have %d", least, n)
	}
}

// holds expects the stored records, and runs once more without a fault.
func (f *failing) holds(n int) {
	f.t.Helper()
	backup := filepath.Join(filepath.Dir(f.path), "backup.db")
	if _, err := os.Stat(backup); err == nil {
		if b, err := journal.CheckBackup(f.t.Context(), backup, nil); err != nil || b.Records < len(f.stored) {
			f.t.Errorf("call %d: want a backup that has its name sound, have %v", n, err)
		}
		must(f.t, os.Remove(backup))
	}
	j, err := journal.Open(f.t.Context(), f.path, binding, journal.Options{Reserve: -1})
	if err != nil {
		f.t.Errorf("call %d: want it opened afterwards, have %v", n, err)
		return
	}
	var have []string
	must(f.t, j.Select(f.t.Context(), journal.Filter{}, func(s *journal.Stored) error { have = append(have, s.Hash); return nil }))
	soundReport(f.t, j)
	must(f.t, j.Close())
	least, most := len(f.stored)+f.added, len(f.stored)+6
	if len(have) < least || len(have) > most || !slices.Equal(have[:len(f.stored)], f.stored) || (len(have)-len(f.stored))%2 != 0 {
		f.t.Errorf("call %d: want %d to %d records, have %d", n, least, most, len(have))
	}
	later := &failing{t: f.t, path: f.path, stored: have, added: 500}
	if later.use(f.t.Context()); later.message != nil || later.added != 506 {
		f.t.Errorf("call %d: want everything done afterwards, have %v", n, later.message)
	}
}
