package journal_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"botd/reconcile"
	"botd/reconcile/journal"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

func open(t *testing.T, path string) *journal.Journal {
	t.Helper()
	j, err := journal.Open(t.Context(), path, binding, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

// The rule covers each of its files, and each directory that is made for it.
func TestJournalIsAccessibleOnlyToItsOwner(t *testing.T) {
	t.Parallel()
	directory := filepath.Join(t.TempDir(), "data", "demo")
	path := filepath.Join(directory, "journal.db")
	j := open(t, path)
	longJournal(t, j)
	sealAll(t, j, small)
	must(t, os.WriteFile(filepath.Join(directory, journal.AccountFile), []byte("account"), 0o600))
	backup := filepath.Join(directory, "copy.db")
	_, err := j.Backup(t.Context(), backup)
	must(t, err)
	must(t, j.Close())
	_, err = journal.Restore(t.Context(), backup, path, nil, moment)
	must(t, err)
	_, err = journal.Restore(t.Context(), backup, filepath.Join(directory, "new", "journal.db"), nil, moment)
	must(t, err)
	count := 0
	must(t, filepath.WalkDir(filepath.Dir(directory), func(path string, entry os.DirEntry, err error) error {
		must(t, err)
		info, err := entry.Info()
		must(t, err)
		want := os.FileMode(0o600)
		if entry.IsDir() {
			want = os.ModeDir | 0o700
		}
		if count++; info.Mode() != want {
			t.Errorf("%s: want %v, have %v", filepath.Base(path), want, info.Mode())
		}
		return nil
	}))
	if count < 15 {
		t.Errorf("want journal, lock, reserve, segments and copies, have %d files", count)
	}
}

func TestAClosedJournalIsOneFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.db")
	for range 2 {
		j := open(t, path)
		must(t, j.Append(t.Context(), []record.Record{{Body: record.Config{}}}))
		must(t, j.Close())
		leftovers(t, filepath.Dir(path), "journal.db journal.db.head journal.db.lock journal.db.reserve")
	}
}

func TestARecordsColumnsAreItsTexts(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.db")
	j := open(t, path)
	if err := j.Append(t.Context(), everyKind()); err != nil {
		t.Fatal(err)
	}
	(&files{t, path}).exec("UPDATE record SET strategy = 'two' WHERE sequence = 6")
	report, err := j.Verify(t.Context())
	if err != nil || len(report.Problems) != 1 || report.Problems[0].Key != "6" || !strings.Contains(report.Problems[0].Have, "two") {
		t.Errorf("want record 6 found, have %+v, %v", report, err)
	}
}

func TestAMissingAndAStrangeRowAreFound(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.db")
	j := open(t, path)
	if err := j.Append(t.Context(), everyKind()); err != nil {
		t.Fatal(err)
	}
	(&files{t, path}).exec("UPDATE placement SET client_order_id = 'bmain-1-9'")
	report, err := j.Verify(t.Context())
	if err != nil || len(report.Problems) != 2 || report.Problems[0].Have != "no such row" || report.Problems[1].Want != "no such row" {
		t.Errorf("want one row missed and one strange, have %+v, %v", report, err)
	}
}

func TestAnOlderJournalIsBroughtUpToDate(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.db")
	j := open(t, path)
	if err := j.Append(t.Context(), everyKind()); err != nil {
		t.Fatal(err)
	}
	want, err := j.Verify(t.Context())
	if err != nil || len(want.Problems) > 0 {
		t.Fatal(want, err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	old := &files{t, path} // as in schema 1: without balances, and here a placement is missing, too
	old.exec("DROP TABLE balance")
	old.exec("DELETE FROM placement")
	old.exec("PRAGMA user_version = 1")
	reader, err := journal.Read(t.Context(), path)
	must(t, err)
	defer reader.Close()
	if have, err := reader.Verify(
		t.Context(),
	); err != nil || !have.Older || have.Hash != want.Hash || have.Postings != want.Postings ||
		len(have.Problems) > 0 {
		t.Errorf("reading an older journal: want chain and ledger checked, have %+v, %v", have, err)
	}
	have, err := open(t, path).Verify(t.Context())
	if have.Head == nil || have.Head.Hash != want.Hash {
		t.Errorf("want the head compared that closing left, have %+v", have.Head)
	}
	if have.Head = nil; err != nil || !reflect.DeepEqual(want, have) {
		t.Errorf("want %+v, have %+v, %v", want, have, err)
	}
}

func TestNewerJournalIsNotOpened(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.db")
	if err := open(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	(&files{t, path}).exec("PRAGMA user_version = 99")
	if _, err := journal.Open(t.Context(), path, binding, journal.Options{}); !errors.Is(err, journal.ErrNewerSchema) {
		t.Errorf("want %v, have %v", journal.ErrNewerSchema, err)
	}
	if _, err := journal.Read(t.Context(), path); !errors.Is(err, journal.ErrNewerSchema) {
		t.Errorf("reading: want %v, have %v", journal.ErrNewerSchema, err)
	}
}

func TestDataDirectoryIsLocked(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	release, err := journal.Lock(directory)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := journal.Lock(directory); err == nil || !strings.Contains(err.Error(), "pid ") || !strings.Contains(err.Error(), "hint: ") {
		t.Errorf("want a refusal with pid and hint, have %v", err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	again, err := journal.Lock(directory)
	if err != nil {
		t.Fatalf("a released lock can be taken: %v", err)
	}
	if err := again(); err != nil {
		t.Fatal(err)
	}
}

func booted(epoch int64) record.Record {
	return record.Record{Body: record.Boot{Epoch: epoch}}
}

func BenchmarkAppend(b *testing.B) {
	directory := os.Getenv("BOTD_BENCH_DIR") // the disk to measure; otherwise the temporary directory's
	if directory == "" {
		directory = b.TempDir()
	}
	j, err := journal.Open(b.Context(), filepath.Join(directory, "journal.db"), binding, journal.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer j.Close()
	records := everyKind()[6:9]
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		if err := j.Append(b.Context(), records); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}

func BenchmarkVerify(b *testing.B) {
	j, err := journal.Open(b.Context(), filepath.Join(b.TempDir(), "journal.db"), binding, journal.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer j.Close()
	const orders = 10_000
	for i := range orders {
		records := slices.Clone(everyKind()[5:10])
		for k := range records {
			records[k].ClientOrderID = fmt.Sprint("bmain-1-", i)
		}
		if err := j.Append(b.Context(), records); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if report, err := j.Verify(b.Context()); err != nil || len(report.Problems) > 0 || report.Records != 5*orders {
			b.Fatal(report, err)
		}
	}
	b.ReportMetric(float64(5*orders)*float64(b.N)/b.Elapsed().Seconds(), "records/s")
}

func BenchmarkReplay(b *testing.B) {
	j, err := journal.Open(b.Context(), filepath.Join(b.TempDir(), "journal.db"), binding, journal.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer j.Close()
	const orders = 10_000
	for i := range orders {
		records := slices.Clone(everyKind()[5:10])
		for k := range records {
			records[k].ClientOrderID = fmt.Sprint("bmain-1-", i)
		}
		if err := j.Append(b.Context(), records); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		tracker := reconcile.NewTracker(placement.Bounds{})
		if err := j.Replay(b.Context(), func(r *record.Record) error { tracker.Apply(r); return nil }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(5*orders)*float64(b.N)/b.Elapsed().Seconds(), "records/s")
}

// TestADamagedIndexIsFound flips a bit that no row is read from. A start would find nothing, and the next
// record would change another placement's row.
func TestADamagedIndexIsFound(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.db")
	j := open(t, path)
	must(t, j.Append(t.Context(), everyKind()))
	must(t, j.Close())
	const index = "sqlite_autoindex_placement_1"
	db, err := sql.Open("sqlite", "file:"+path)
	must(t, err)
	var page, size int
	must(t, db.QueryRow("SELECT rootpage FROM sqlite_master WHERE name = ?", index).Scan(&page))
	must(t, db.QueryRow("PRAGMA page_size").Scan(&size))
	must(t, db.Close())
	file, err := os.ReadFile(path)
	must(t, err)
	cells := file[(page-1)*size : page*size]
	at := bytes.LastIndex(cells, []byte("bmain-"))
	if at < 0 {
		t.Fatal("want a placement's id in the index")
	}
	cells[at] ^= 1
	must(t, os.WriteFile(path, file, 0o600))
	report, err := open(t, path).Verify(t.Context())
	if err != nil || len(report.Problems) == 0 || report.Problems[0].Table != "file" || !strings.Contains(report.Problems[0].Have, index) {
		t.Errorf("want the index found, have %+v, %v", report.Problems, err)
	}
}
