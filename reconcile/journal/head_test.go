package journal_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"botd/reconcile/journal"
	"botd/reconcile/record"
)

// closed creates a journal with records of every kind, and closes it.
func closed(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "journal.db")
	j := open(t, path)
	must(t, j.Append(t.Context(), everyKind()))
	must(t, j.Close())
	return path
}

// problems returns the findings of verifying a file.
func problems(t *testing.T, path string) []journal.Problem {
	t.Helper()
	reader, err := journal.Read(t.Context(), path)
	must(t, err)
	defer reader.Close()
	report, err := reader.Verify(t.Context())
	must(t, err)
	return report.Problems
}

// cutOff removes the last records and the rows derived from them.
func cutOff(t *testing.T, path string, n int) {
	t.Helper()
	(&files{t, path}).exec("DELETE FROM record WHERE sequence > (SELECT max(sequence) FROM record) - ?", n)
	(&files{t, path}).exec("PRAGMA user_version = 1") // so that the rows are rebuilt
}

func TestRecordsCutOffTheEndAreMissed(t *testing.T) {
	t.Parallel()
	path := closed(t)
	if found := problems(t, path); len(found) != 0 {
		t.Fatalf("want a sound journal, have %v", found)
	}
	cutOff(t, path, 2)
	for try := range 2 { // a start continues, reports it, and does not hide it
		if found := problems(t, path); len(found) != 1 || found[0].Table != "record" || !strings.Contains(found[0].Want, "which existed at") {
			t.Errorf("try %d: want the missing record named, have %v", try, found)
		}
		j := open(t, path)
		if j.Cut() == "" {
			t.Errorf("try %d: want the start to say that records are missing", try)
		}
		must(t, j.Append(t.Context(), []record.Record{{Body: record.Config{}}}))
		must(t, j.Close())
	}
	for range 5 { // nor does it once there are as many records as before
		j := open(t, path)
		must(t, j.Append(t.Context(), []record.Record{{Body: record.Config{}}}))
		must(t, j.Close())
	}
	if found := problems(t, path); len(found) != 1 {
		t.Errorf("want another record in its place found, have %v", found)
	}
	must(t, os.Remove(journal.HeadPath(path)))
	if found := problems(t, path); len(found) != 0 {
		t.Errorf("without the head nothing shows it: want no problem, have %v", found)
	}
}

func TestTheHeadFollowsAJournalThatIsKilled(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.db")
	j := open(t, path)
	synctest.Test(t, func(t *testing.T) {
		for n := range 3 {
			must(t, j.Append(t.Context(), []record.Record{{Body: record.Config{}}}))
			time.Sleep(time.Minute) // virtual time
			j.Keep(t.Context())
			killed := &files{t, path}
			copied := killed.copy()
			text, err := os.ReadFile(journal.HeadPath(path))
			must(t, err)
			must(t, os.WriteFile(journal.HeadPath(copied), text, 0o600))
			if found := problems(t, copied); len(found) != 0 {
				t.Fatalf("after %d records: want the copy sound, have %v", n+1, found)
			}
			cutOff(t, copied, 1)
			if found := problems(t, copied); len(found) != 1 {
				t.Errorf("after %d records: want the last one missed, have %v", n+1, found)
			}
		}
	})
}

func TestRestoredBackupIsNotReportedAsTruncated(t *testing.T) {
	t.Parallel()
	path := closed(t)
	backup := filepath.Join(t.TempDir(), "copy.db")
	j := open(t, path)
	if _, err := j.Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	must(t, j.Append(t.Context(), []record.Record{{Body: record.Config{}}}))
	must(t, j.Close())
	if _, err := journal.Restore(t.Context(), backup, path, nil, time.Now()); err != nil {
		t.Fatal(err)
	}
	if found := problems(t, path); len(found) != 0 {
		t.Errorf("want no problem, have %v", found)
	}
	if j := open(t, path); j.Cut() != "" {
		t.Errorf("want nothing missing, have %s", j.Cut())
	}
}

func TestBackupUpdatesHead(t *testing.T) {
	t.Parallel()
	path := closed(t)
	must(t, os.Remove(journal.HeadPath(path)))
	reader, err := journal.Read(t.Context(), path) // as botd backup reads it, next to a daemon
	must(t, err)
	defer reader.Close()
	made, err := reader.Backup(t.Context(), filepath.Join(t.TempDir(), "copy.db"))
	must(t, err)
	must(t, reader.Close())
	cutOff(t, path, 1)
	if found := problems(t, path); len(found) != 1 || !strings.Contains(found[0].Want, made.Hash) {
		t.Errorf("want the record missed that the backup ends with, have %v", found)
	}
}

func TestAJournalIsNotGivenToAnotherAccountByOneRow(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.db")
	j := open(t, path)
	must(t, j.Append(t.Context(), []record.Record{{Body: record.Boot{Epoch: 1, Account: binding.Text()}}}))
	must(t, j.Close())
	must(t, open(t, path).Close())
	other := binding
	other.KeyFingerprint = "another"
	(&files{t, path}).exec("UPDATE meta SET value = ? WHERE name = 'binding'", other.Text())
	if found := problems(t, path); len(found) != 1 || found[0].Key != "binding" || !strings.Contains(found[0].Have, "another") {
		t.Errorf("want the changed binding found, have %v", found)
	}
	var wrong *journal.BindingError
	if _, err := journal.Open(t.Context(), path, other, journal.Options{}); !errors.As(err, &wrong) || wrong.Have != binding {
		t.Errorf("want the start of the other account refused, have %v", err)
	}
}

func TestKnownHashIsFound(t *testing.T) {
	t.Parallel()
	path := closed(t)
	reader, err := journal.Read(t.Context(), path)
	must(t, err)
	defer reader.Close()
	report, err := reader.Verify(t.Context())
	must(t, err)
	for hash, want := range map[string]bool{report.Hash: true, strings.Repeat("0", 64): false} {
		if have, err := reader.Has(t.Context(), hash); err != nil || have != want {
			t.Errorf("%s: want %v, have %v, %v", hash, want, have, err)
		}
	}
}

// A truncated or foreign head file neither fails a start nor hides records that are missing later.
func TestInvalidHeadIsIgnored(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty": "", "cut": `{"records":3,"ha`, "without a hash": `{"records":3,"hash":""}`, "with another time": `{"records":3,"hash":"a","at":"none"}`,
		"of no record":    `{"records":0,"hash":"a"}`,
		"longer than any": `{"records":3,"hash":"` + strings.Repeat("a", 5_000) + `"}`,
	} {
		path := closed(t)
		strew(t, journal.HeadPath(path), []byte(text))
		if found := problems(t, path); len(found) > 0 {
			t.Errorf("%s: want no problem, have %v", name, found)
		}
		j := open(t, path)
		if j.Cut() != "" {
			t.Errorf("%s: want nothing missing, have %s", name, j.Cut())
		}
		must(t, j.Append(t.Context(), []record.Record{{Body: record.Config{}}}))
		must(t, j.Close())
		cutOff(t, path, 1)
		if found := problems(t, path); len(found) != 1 {
			t.Errorf("%s: want a head written again, and what is cut off missed, have %v", name, found)
		}
	}
}

// The missing record is named by number, hash and time, together with whether another record is in its place.
func TestMissingRecordIsNamed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.db")
	must(t, open(t, path).Close())
	written := func(head string) string {
		strew(t, journal.HeadPath(path), []byte(head))
		j := open(t, path)
		defer j.Close()
		return j.Cut()
	}
	j := open(t, path)
	must(t, j.Append(t.Context(), []record.Record{booted(1)}))
	newest, err := j.Newest(t.Context())
	must(t, err)
	must(t, j.Close())
	for head, want := range map[string]string{
		`{"records":1,"hash":"` + newest.Hash + `"}`: "",
		`{"records":1,"hash":"abc","at":"2027-01-15T09:00:00+01:00"}`: "journal " + path +
			" lacks records that it contained: record 1: want the record with hash abc, which existed at 2027-01-15T08:00:00Z, have hash " + newest.Hash,
		`{"records":2,"hash":"abc","at":"2027-01-15T08:00:00Z"}`: "journal " + path +
			" lacks records that it contained: record 2: want the record with hash abc, which existed at 2027-01-15T08:00:00Z, have no such record",
	} {
		if have := written(head); have != want {
			t.Errorf("%s: want %q, have %q", head, want, have)
		}
		if text, err := os.ReadFile(journal.HeadPath(path)); want != "" && (err != nil || string(text) != head) {
			t.Errorf("want the head of what is missing left, have %s, %v", text, err)
		}
	}
	must(t, journal.AcceptHead(path))
	must(t, journal.AcceptHead(path)) // there is none any more
	j = open(t, path)
	if j.Cut() != "" {
		t.Errorf("accepted: want nothing missing, have %s", j.Cut())
	}
	must(t, j.Close())
}

// The head is not written if nothing was added, and never if records are missing.
func TestTheHeadIsWrittenOnceAMinuteAndAtTheEnd(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.db")
	j := open(t, path)
	head := func() string {
		text, err := os.ReadFile(journal.HeadPath(path))
		if os.IsNotExist(err) {
			return "none"
		}
		must(t, err)
		var h journal.Head
		must(t, json.Unmarshal(text, &h))
		return fmt.Sprint(h.Records, " at ", h.At.Unix()-946_684_800) // synctest's clock starts there
	}
	synctest.Test(t, func(t *testing.T) {
		want := func(what, want string) {
			t.Helper()
			if j.Keep(t.Context()); head() != want {
				t.Errorf("%s: want %s, have %s", what, want, head())
			}
		}
		add := func() { must(t, j.Append(t.Context(), []record.Record{{Body: record.Config{}}})) }
		want("without records", "none")
		add()
		want("the first record", "1 at 0")
		add()
		time.Sleep(time.Minute - time.Millisecond) // virtual time
		want("before a minute has passed", "1 at 0")
		time.Sleep(time.Millisecond)
		want("after it", "2 at 60")
		time.Sleep(time.Hour)
		want("with nothing added", "2 at 60")
		add()
		want("an hour later", "3 at 3660")
		add()
		inTheWay := filepath.Join(journal.HeadPath(path)+".partial", "occupied")
		must(t, os.MkdirAll(inTheWay, 0o700))
		time.Sleep(time.Minute)
		want("that cannot be written", "3 at 3660")
		must(t, os.RemoveAll(filepath.Dir(inTheWay)))
		time.Sleep(time.Minute)
		want("that can be written again", "4 at 3780")
		add()
		must(t, j.Close())
		if head() != "5 at 3780" {
			t.Errorf("closed: want 5 at 3780, have %s", head())
		}
	})
}

// Later records of the journal are still reported as missing.
func TestOlderBackupDoesNotLowerHead(t *testing.T) {
	t.Parallel()
	for records, want := range map[int64]int64{0: 34, 33: 34, 34: 34, 40: 40} {
		path := closed(t)
		at := "2020-01-01T00:00:00Z"
		strew(t, journal.HeadPath(path), fmt.Appendf(nil, `{"records":%d,"hash":"abc","at":%q}`, records, at))
		reader, err := journal.Read(t.Context(), path)
		must(t, err)
		made, err := reader.Backup(t.Context(), filepath.Join(t.TempDir(), "copy.db"))
		must(t, err)
		must(t, reader.Close())
		text, err := os.ReadFile(journal.HeadPath(path))
		must(t, err)
		var have journal.Head
		must(t, json.Unmarshal(text, &have))
		if changed := have.Hash == made.Hash; have.Records != want || changed != (records < want) {
			t.Errorf("%d records known: want %d, have %+v", records, want, have)
		}
	}
	path := filepath.Join(t.TempDir(), "journal.db")
	j := open(t, path)
	_, err := j.Backup(t.Context(), filepath.Join(t.TempDir(), "copy.db"))
	must(t, err)
	if _, err := os.Stat(journal.HeadPath(path)); !os.IsNotExist(err) {
		t.Errorf("a copy without records: want no head, have %v", err)
	}
}
