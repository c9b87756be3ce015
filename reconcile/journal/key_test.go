package journal_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"botd/internal/failure"
	"botd/reconcile/journal"
	"botd/reconcile/record"
)

const secret = "5b1d0f6f2f6b4f0d8d3b8a8d7e2a4c91"

var key, otherKey = journal.NewKey([]byte(secret)), journal.NewKey([]byte(strings.ToUpper(secret)))

// openKeyed opens a journal with a key, or creates one.
func openKeyed(t *testing.T, path string, key *journal.Key) (*journal.Journal, error) {
	t.Helper()
	j, err := journal.Open(t.Context(), path, binding, journal.Options{Reserve: -1, Key: key})
	if err == nil {
		t.Cleanup(func() { j.Close() })
	}
	return j, err
}

// keyedJournal makes a closed journal with records of every kind.
func keyedJournal(t *testing.T, key *journal.Key) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "journal.db")
	j, err := openKeyed(t, path, key)
	must(t, err)
	must(t, j.Append(t.Context(), everyKind()))
	must(t, j.Close())
	return path
}

// verified returns the report on a file, read with a key.
func verified(t *testing.T, path string, key *journal.Key) journal.Report {
	t.Helper()
	reader, err := journal.ReadKeyed(t.Context(), path, key)
	must(t, err)
	defer reader.Close()
	report, err := reader.Verify(t.Context())
	must(t, err)
	return report
}

// rewritten changes one record and recomputes all links, as an attacker without the key can: with plain
// hashes, with the old codes, or with codes of another key.
func rewritten(t *testing.T, path string, code func(old, previous, body string) string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	must(t, err)
	defer db.Close()
	type row struct {
		sequence   int64
		body, hash string
	}
	var all []row
	rows, err := db.Query("SELECT sequence, replace(body, 'timeout', 'forgery'), hash FROM record ORDER BY sequence")
	must(t, err)
	for rows.Next() {
		var r row
		must(t, rows.Scan(&r.sequence, &r.body, &r.hash))
		all = append(all, r)
	}
	must(t, rows.Err())
	previous := ""
	for _, r := range all {
		sum := sha256.Sum256([]byte(previous + r.body))
		hash := hex.EncodeToString(sum[:]) + code(r.hash, previous, r.body)
		_, err := db.Exec("UPDATE record SET body = ?, previous = ?, hash = ? WHERE sequence = ?", r.body, previous, hash, r.sequence)
		must(t, err)
		previous = hash
	}
	must(t, errors.Join(db.Close()))
}

func discardHead(path string) error { return os.Remove(journal.HeadPath(path)) }

func sequence(n int64) string { return strconv.FormatInt(n, 10) }

func plainLinks(string, string, string) string { return "" }

func oldCodes(old, _, _ string) string {
	_, code, _ := strings.Cut(old, ".")
	return "." + code
}

// codesOf computes a code as HMAC-SHA-256 of a fixed word, the previous link and the record's text.
func codesOf(secret string) func(old, previous, body string) string {
	return func(_, previous, body string) string {
		sum := hmac.New(sha256.New, []byte(secret))
		sum.Write([]byte("botd journal link\n" + previous + body))
		return "." + hex.EncodeToString(sum.Sum(nil))
	}
}

func TestKeyDetectsRewrittenChain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		code    func(old, previous, body string) string
		without bool // it is also found without the key
		forged  bool // it is found with the key
	}{
		"plain links":          {plainLinks, false, true}, // a downgrade
		"the codes that were":  {oldCodes, false, true},
		"codes of another key": {codesOf(strings.ToUpper(secret)), false, true},
		"who has the key can":  {codesOf(secret), false, false},
		"plain after keyed ones": {func(old, previous, body string) string {
			return map[bool]string{true: oldCodes(old, "", "")}[previous == ""]
		}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := keyedJournal(t, key)
			if r := verified(t, path, key); len(r.Problems) > 0 || r.Keyed != 1 || r.Proves != journal.ProvesAuthenticity {
				t.Fatalf("want a sound journal, keyed from record 1 on, have %+v", r)
			}
			must(t, discardHead(path)) // the attacker removes it
			rewritten(t, path, c.code)
			if r := verified(t, path, nil); len(r.Problems) > 0 != c.without || r.Proves != journal.ProvesConsistency {
				t.Errorf("without the key: want found %t and consistency alone proven, have %+v", c.without, r)
			}
			if r := verified(t, path, key); len(r.Problems) > 0 != c.forged {
				t.Errorf("with the key: want found %t, have %+v", c.forged, r)
			}
			j, err := openKeyed(t, path, key)
			if err == nil {
				err = j.Replay(t.Context(), func(*record.Record) error { return nil })
			}
			if (err != nil) != c.forged {
				t.Errorf("a start: want refused %t, have %v", c.forged, err)
			}
		})
	}
}

func TestAKeyedJournalNeedsItsKey(t *testing.T) {
	t.Parallel()
	path := keyedJournal(t, key)
	var missing *journal.KeyError
	if _, err := openKeyed(t, path, nil); !errors.As(err, &missing) || !missing.Keyed {
		t.Errorf("without the key: want it refused, have %v", err)
	}
	if r := verified(t, path, otherKey); len(r.Problems) != 1 || r.Problems[0].Key != "1" || !strings.Contains(r.Problems[0].Have, "the wrong one") {
		t.Errorf("with another key: want the first record's link found, have %+v", r)
	}
	if r := verified(t, path, nil); len(r.Problems) > 0 || r.Keyed != 1 || r.Proves != journal.ProvesConsistency {
		t.Errorf("without the key: want consistency, have %+v", r)
	}
	(&files{t, path}).exec("UPDATE record SET body = replace(body, 'timeout', 'filled!') WHERE sequence = 8")
	if r := verified(t, path, nil); len(r.Problems) != 1 || r.Problems[0].Key != "8" {
		t.Errorf("an altered record without the key: want record 8 found, have %+v", r)
	}
}

func TestUnkeyedJournalBeginsKeyOnRequest(t *testing.T) {
	t.Parallel()
	path := keyedJournal(t, nil)
	before := verified(t, path, nil)
	var unkeyed *journal.KeyError
	if _, err := openKeyed(t, path, key); !errors.As(err, &unkeyed) || unkeyed.Keyed || !strings.Contains(unkeyed.Hint(), "botd journal key") {
		t.Fatalf("want the start refused with the command that begins, have %v", err)
	}
	if r := verified(t, path, key); len(r.Problems) != 1 {
		t.Errorf("verify with the key: want one problem, have %+v", r)
	}
	if _, err := journal.BeginKey(t.Context(), path, key, strings.Repeat("0", 64)); err == nil {
		t.Error("a head that is not there: want no beginning")
	}
	done, err := journal.BeginKey(t.Context(), path, key, before.Hash)
	must(t, err)
	if done.From != int64(before.Records)+1 || done.Last != before.Hash {
		t.Errorf("want it to begin after %d records, have %+v", before.Records, done)
	}
	if _, err := journal.BeginKey(t.Context(), path, key, ""); err == nil {
		t.Error("a second time: want it refused")
	}
	j, err := openKeyed(t, path, key)
	must(t, err)
	must(t, j.Append(t.Context(), []record.Record{{Body: record.Config{}}}))
	must(t, j.Close())
	if r := verified(t, path, key); len(r.Problems) > 0 || r.Keyed != done.From || r.Proves != journal.ProvesAuthenticity {
		t.Errorf("want it keyed from record %d on, have %+v", done.From, r)
	}
	rewritten(t, path, func(old, _, _ string) string { // records from before the key, rewritten afterwards
		if strings.Contains(old, ".") {
			return oldCodes(old, "", "")
		}
		return ""
	})
	must(t, discardHead(path))
	if r := verified(t, path, key); len(r.Problems) != 1 || r.Problems[0].Key != sequence(done.From) {
		t.Errorf("want the first keyed record to show it, have %+v", r)
	}
}

func TestABackupOfAKeyedJournal(t *testing.T) {
	t.Parallel()
	path := keyedJournal(t, key)
	copied, planted := filepath.Join(t.TempDir(), "copy.db"), filepath.Join(t.TempDir(), "planted.db")
	reader, err := journal.ReadKeyed(t.Context(), path, key)
	must(t, err)
	defer reader.Close()
	made, err := reader.Backup(t.Context(), copied)
	must(t, err)
	if made.Proves != journal.ProvesAuthenticity {
		t.Errorf("want the copy checked with the key, have %+v", made.Report)
	}
	_, err = reader.Backup(t.Context(), planted)
	must(t, err)
	rewritten(t, planted, plainLinks)
	if _, err := journal.Restore(t.Context(), planted, path, key, time.Now()); !errors.As(err, new(*journal.UnsoundError)) {
		t.Errorf("a rewritten backup without codes: want it refused, have %v", err)
	}
	if _, err := journal.Restore(t.Context(), copied, path, otherKey, time.Now()); !errors.As(err, new(*journal.UnsoundError)) {
		t.Errorf("another key: want it refused, have %v", err)
	}
	restored, err := journal.Restore(t.Context(), copied, path, key, time.Now())
	if err != nil || restored.Keyed != 1 {
		t.Errorf("want it restored, keyed from record 1 on, have %+v, %v", restored.Report, err)
	}
	if _, err := openKeyed(t, path, key); err != nil {
		t.Error(err)
	}
}

// The record that starts the keyed chain mentions it (docs/operations.md).
func TestKeyingBeginsWithAJournalThatIsSound(t *testing.T) {
	t.Parallel()
	begins := func(path string) string {
		done, err := journal.BeginKey(t.Context(), path, key, "")
		if err == nil {
			t.Errorf("want no beginning, have %+v", done)
		}
		return fmt.Sprint(failure.CodeOf(err), " ", err)
	}
	for name, c := range map[string]struct {
		path func() string
		want string
	}{
		"not there": {func() string { return filepath.Join(t.TempDir(), "journal.db") }, "74 open journal "},
		"without records": {func() string {
			path := filepath.Join(t.TempDir(), "journal.db")
			must(t, open(t, path).Close())
			return path
		}, "1 journal PATH has no records\nhint: botd run keys it from its first record on"},
		"keyed already": {func() string { return keyedJournal(t, key) },
			"1 journal PATH is keyed from record 1 on\nhint: botd journal verify checks every link with it"},
		"not sound": {func() string {
			path := keyedJournal(t, nil)
			(&files{t, path}).exec("UPDATE placement SET state = 'absent'")
			return path
		}, "1 PATH is damaged: placement bmain-1-1: want "},
		"in use": {func() string {
			path := filepath.Join(t.TempDir(), "journal.db")
			must(t, open(t, path).Append(t.Context(), everyKind()))
			return path
		}, "75 journal PATH is in use by another botd"},
	} {
		path := c.path()
		if have := strings.ReplaceAll(begins(path), path, "PATH"); !strings.HasPrefix(have, c.want) {
			t.Errorf("%s: want %q, have %q", name, c.want, have)
		}
	}
	path := keyedJournal(t, nil)
	before := verified(t, path, nil)
	done, err := journal.BeginKey(t.Context(), path, key, "")
	must(t, err)
	after := verified(t, path, key)
	want := journal.BegunKey{Schema: 1, Journal: path, Records: int64(before.Records), Last: before.Hash, From: int64(before.Records) + 1, Hash: after.Hash}
	if done != want || after.Keyed != want.From || after.Records != before.Records+1 {
		t.Errorf("want %+v, have %+v, %+v", want, done, after)
	}
	reader, err := journal.ReadKeyed(t.Context(), path, key)
	must(t, err)
	defer reader.Close()
	first := selected(t, reader, journal.Filter{After: int64(before.Records)})[0]
	detail := fmt.Sprintf("keyed with journal_key_file from this record on; %d records before", before.Records)
	if audit, is := first.Body.(record.Audit); !is || audit != (record.Audit{Actor: "command line", Role: "operator", Action: "journal key", Detail: detail}) ||
		time.Since(time.UnixMilli(first.AtMS)).Abs() > time.Hour {
		t.Errorf("want the command audited, have %+v", first)
	}
	if _, err := os.Lstat(path + ".reserve"); !os.IsNotExist(err) {
		t.Errorf("want no reserve taken by a command, have %v", err)
	}
}

// The code is HMAC-SHA-256 of a fixed line and the text.
func TestCodeDependsOnKindAndKey(t *testing.T) {
	t.Parallel()
	sum := hmac.New(sha256.New, []byte(secret))
	sum.Write([]byte("botd halt\nthe text"))
	if want, have := hex.EncodeToString(sum.Sum(nil)), key.Coder("halt")([]byte("the text")); have != want {
		t.Errorf("want %s, have %s", want, have)
	}
	if journal.NewKey(nil) != nil || journal.NewKey([]byte{}) != nil || journal.NewKey([]byte("k")) == nil {
		t.Error("want a key of each secret, and none of none")
	}
	if (*journal.Key)(nil).Coder("halt") != nil {
		t.Error("want no codes without a key")
	}
}
