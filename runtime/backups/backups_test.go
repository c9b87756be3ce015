package backups

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"botd/internal/disk"
	"botd/reconcile/journal"
	"botd/reconcile/record"
)

// withJournal returns a data directory with a closed journal of three records.
func withJournal(t *testing.T, key *journal.Key) string {
	t.Helper()
	directory := t.TempDir()
	store, err := journal.Open(t.Context(), filepath.Join(directory, journal.FileName),
		journal.Binding{Mode: "paper", URL: "https://venue.example", KeyFingerprint: "f", Instance: "main"}, journal.Options{Key: key, BeginKey: key != nil})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Append(t.Context(), []record.Record{{AtMS: 1, Body: record.Boot{Epoch: 1}}, {AtMS: 2, Body: record.Halt{Level: record.LevelPause}},
		{AtMS: 3, Body: record.Boot{Epoch: 2}}}); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	return directory
}

// put creates files in the folder of backups.
func put(t *testing.T, directory string, names ...string) {
	t.Helper()
	folder := filepath.Join(directory, Folder)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// listed returns the names in the folder of backups, sorted.
func listed(t *testing.T, directory string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(directory, Folder))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// dated returns the names of backups made at midnight of these days of a month.
func dated(month string, days ...int) (names []string) {
	for _, day := range days {
		names = append(names, fmt.Sprintf("paper-main-%s%02dT000000Z.db", month, day))
	}
	return names
}

func TestPlanListsEachStep(t *testing.T) {
	t.Parallel()
	none := "none was made before"
	for _, c := range []struct {
		name   string
		size   int64 // of the journal
		stored []string
		mark   string // content of the mark
		want   []string
	}{
		{"an empty journal", 0, nil, "", []string{"(0 KiB)", none}},
		{"a byte", 1, nil, "", []string{"(1 KiB)", none}},
		{"a KiB", 1024, nil, "", []string{"(1 KiB)", none}},
		{"a KiB and a byte", 1025, nil, "", []string{"(2 KiB)", none}},
		{"room for one more", 1, dated("202601", 1, 2, 3, 4, 5, 6), "", []string{"(1 KiB)", none}},
		{"no room", 1, dated("202601", 7, 1, 2, 3, 4, 5, 6), "", []string{"(1 KiB)",
			"delete paper-main-20260101T000000Z.db: the newest 7 stay there", none}},
		{"two more than fit", 1, dated("202601", 1, 2, 3, 4, 5, 6, 7, 8), "", []string{"(1 KiB)",
			"delete paper-main-20260101T000000Z.db: the newest 7 stay there", "delete paper-main-20260102T000000Z.db: the newest 7 stay there", none}},
		{"others' files", 1, append(dated("202601", 1, 2, 3, 4, 5, 6), "live-main-20260101T000000Z.db", "paper-main-20260101T000000Z.db.exchange.json",
			"paper-main-mine.db", "paper-main-20260101T000000Z.txt", "20260101T000000Z.db"), "", []string{"(1 KiB)", none}},
		{"a mark", 1, nil, `{"schema":1,"at":"2026-03-04T05:06:07+02:00"}`, []string{"(1 KiB)", "the last backup was made 2026-03-04 03:06:07 UTC"}},
		{"a damaged mark", 1, nil, `{"at":`, []string{"(1 KiB)", none}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			directory := t.TempDir()
			if err := os.WriteFile(filepath.Join(directory, journal.FileName), make([]byte, c.size), 0o600); err != nil {
				t.Fatal(err)
			}
			if c.stored != nil {
				put(t, directory, c.stored...)
			}
			if c.mark != "" {
				if err := os.WriteFile(filepath.Join(directory, "backup.json"), []byte(c.mark), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			c.want[0] = "copy the journal " + c.want[0] + " to " + filepath.Join(directory, "backups") + ", and verify the copy"
			b := &Backups{Directory: directory, Prefix: "paper-main-"}
			if have, err := b.Plan(); err != nil || !slices.Equal(c.want, have) {
				t.Errorf("want %q\nhave %q (%v)", c.want, have, err)
			}
		})
	}
}

func TestPlanErrors(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	b := &Backups{Directory: directory}
	path := filepath.Join(directory, journal.FileName)
	if lines, err := b.Plan(); err == nil || lines != nil || !strings.Contains(err.Error(), path) {
		t.Errorf("no journal: want an error that names %s, have %q, %v", path, lines, err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(directory, Folder)
	if err := os.WriteFile(folder, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if lines, err := b.Plan(); err == nil || lines != nil || !strings.Contains(err.Error(), folder) {
		t.Errorf("a file in place of the folder: want an error that names it, have %q, %v", lines, err)
	}
	// 8 TiB of which none is written.
	const tib = 1 << 40
	if free, known := disk.Free(directory); !known || free >= 8*tib || os.Truncate(path, 8*tib) != nil {
		t.Skip("this disk has room for a journal of 8 TiB, or cannot store so large a file")
	}
	want := "a copy of the journal (8388608 MiB) would leave less than 64 MiB free in " + directory
	if lines, err := b.Plan(); err == nil || lines != nil || err.Error() != want {
		t.Errorf("want %q, have %q, %v", want, lines, err)
	}
}

// TestABackupIsACheckedCopy compares what a backup reports with the file that it wrote.
func TestABackupIsACheckedCopy(t *testing.T) {
	t.Parallel()
	directory := withJournal(t, nil)
	b := &Backups{Directory: directory, Prefix: "paper-main-"}
	before := time.Now().UTC()
	made, err := b.Make(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if made.At.Before(before) || made.At.After(time.Now()) || made.At.Location() != time.UTC {
		t.Errorf("want the time of the call in UTC, have %s", made.At)
	}
	if want := filepath.Join(directory, "backups", "paper-main-"+made.At.Format("20060102T150405")+"Z.db"); made.File != want {
		t.Errorf("the file: want %s, have %s", want, made.File)
	}
	text, err := os.ReadFile(made.File)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(text)
	if made.Bytes != int64(len(text)) || made.SHA256 != hex.EncodeToString(sum[:]) {
		t.Errorf("want %d bytes with hash %x, have %d with %s", len(text), sum, made.Bytes, made.SHA256)
	}
	copied, err := journal.CheckBackup(t.Context(), made.File, nil)
	if err != nil || made.Records != 3 || copied.Records != 3 || made.Hash == "" || made.Hash != copied.Hash {
		t.Errorf("want the 3 records and their hash, have %+v of %+v (%v)", made, copied, err)
	}
	for path, want := range map[string]os.FileMode{filepath.Dir(made.File): 0o700, made.File: 0o600, filepath.Join(directory, "backup.json"): 0o600} {
		if found, err := os.Stat(path); err != nil || found.Mode().Perm() != want {
			t.Errorf("%s: want mode %o, have %v (%v)", path, want, found, err)
		}
	}
	mark, err := os.ReadFile(filepath.Join(directory, "backup.json"))
	for _, want := range []string{`{"schema":1,"at":"` + made.At.Format(time.RFC3339Nano) + `"`, `"sha256":"` + made.SHA256 + `"`, `"records":3`,
		`"mode":"paper"`} {
		if err != nil || !strings.Contains(string(mark), want) {
			t.Errorf("the mark: want %s in it, have %s (%v)", want, mark, err)
		}
	}
	if !strings.HasSuffix(string(mark), "}\n") || !Last(directory).Equal(made.At) {
		t.Errorf("want a line that dates the last backup at %s, have %s (%s)", made.At, Last(directory), mark)
	}
}

// TestOnlyTheNewestBackupsStay makes a backup next to others. Those whose names have a later time were made
// while the clock was fast: the copy that was just reported stays even then.
func TestOnlyTheNewestBackupsStay(t *testing.T) {
	t.Parallel()
	account := func(name string) string { return name + ".exchange.json" }
	for _, c := range []struct {
		name            string
		stored, deleted []string
	}{
		{"six", dated("202001", 1, 2, 3, 4, 5, 6), nil},
		{"seven", dated("202001", 1, 2, 3, 4, 5, 6, 7), dated("202001", 1)},
		{"nine", dated("202001", 1, 2, 3, 4, 5, 6, 7, 8, 9), dated("202001", 1, 2, 3)},
		{"seven of the future", dated("909901", 1, 2, 3, 4, 5, 6, 7), dated("909901", 1)},
		{"eight of the future and one of the past", append(dated("202001", 1), dated("909901", 1, 2, 3, 4, 5, 6, 7, 8)...),
			append(dated("202001", 1), dated("909901", 1, 2)...)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			directory := withJournal(t, nil)
			var want []string
			for _, name := range c.stored {
				put(t, directory, name, account(name))
				if !slices.Contains(c.deleted, name) {
					want = append(want, name, account(name))
				}
			}
			if err := os.Mkdir(filepath.Join(directory, Folder, dated("201901", 1)[0]), 0o700); err != nil { // not a file: not a backup
				t.Fatal(err)
			}
			put(t, directory, "demo-main-20190101T000000Z.db")
			want = append(want, dated("201901", 1)[0], "demo-main-20190101T000000Z.db")
			b := &Backups{Directory: directory, Prefix: "paper-main-"}
			plan, err := b.Plan()
			if err != nil || len(plan) != 2+len(c.deleted) {
				t.Errorf("want %d deletions in the plan, have %q (%v)", len(c.deleted), plan, err)
			}
			made, err := b.Make(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, filepath.Base(made.File))
			slices.Sort(want)
			if have := listed(t, directory); !slices.Equal(want, have) {
				t.Errorf("want %q\nhave %q", want, have)
			}
		})
	}
}

// TestBackupsOfOneSecondHaveNamesOfTheirOwn makes three at once, and has a name taken by an account's copy alone.
func TestBackupsOfOneSecondHaveNamesOfTheirOwn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		directory := withJournal(t, nil)
		put(t, directory, "paper-main-20000101T000001Z.db."+journal.AccountFile)
		b := &Backups{Directory: directory, Prefix: "paper-main-"}
		for _, want := range []string{"paper-main-20000101T000000Z.db", "paper-main-20000101T000002Z.db", "paper-main-20000101T000003Z.db"} {
			if made, err := b.Make(t.Context()); err != nil || filepath.Base(made.File) != want || !made.At.Equal(time.Now()) {
				t.Errorf("want %s made now, have %+v, %v", want, made, err)
			}
		}
	})
}

// TestFailedBackupIsReported causes each failure of a backup. A backup that was made is marked and reported even
// if an old one cannot be deleted.
func TestFailedBackupIsReported(t *testing.T) {
	t.Parallel()
	old := dated("202001", 1, 2, 3, 4, 5, 6, 7)
	for _, c := range []struct {
		name  string
		spoil func(directory string) error
		made  bool
		want  string
	}{
		{"a file in place of the folder", func(d string) error { return os.WriteFile(filepath.Join(d, Folder), nil, 0o600) }, false, "backups"},
		{"no journal", func(d string) error { return os.Remove(filepath.Join(d, journal.FileName)) }, false, journal.FileName},
		{"a damaged journal", func(d string) error {
			return os.WriteFile(filepath.Join(d, journal.FileName), []byte(strings.Repeat("torn ", 1_000)), 0o600)
		}, false, journal.FileName},
		{"an account file that cannot be deleted", func(d string) error {
			return os.MkdirAll(filepath.Join(d, Folder, old[0]+".exchange.json", "full"), 0o700)
		}, true, old[0] + ".exchange.json"},
		{"a mark that cannot be written", func(d string) error { return os.MkdirAll(filepath.Join(d, "backup.json", "full"), 0o700) }, true, "backup.json"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			directory := withJournal(t, nil)
			if err := c.spoil(directory); err != nil {
				t.Fatal(err)
			}
			if c.made {
				put(t, directory, old...)
			}
			made, err := (&Backups{Directory: directory, Prefix: "paper-main-"}).Make(t.Context())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("want an error with %q, have %v", c.want, err)
			}
			if _, lost := os.Stat(made.File); c.made != (made.File != "") || c.made != (lost == nil) {
				t.Errorf("a copy: want %t, have %+v (%v)", c.made, made, lost)
			}
		})
	}
}

func TestBackupOfAKeyedJournal(t *testing.T) {
	t.Parallel()
	key := journal.NewKey([]byte("0123456789abcdef0123456789abcdef"))
	directory := withJournal(t, key)
	if made, err := (&Backups{Directory: directory, Key: journal.NewKey([]byte("another key of thirty-two bytes."))}).Make(t.Context()); err == nil {
		t.Errorf("another key: want an error, have %+v", made)
	}
	if names := listed(t, directory); len(names) > 0 {
		t.Errorf("another key: want no copy, have %q", names)
	}
	if made, err := (&Backups{Directory: directory, Key: key}).Make(t.Context()); err != nil || made.Records != 3 {
		t.Errorf("want a copy of 3 records, have %+v (%v)", made, err)
	}
}

func TestLastBackupIsUnknownWithoutAMark(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	if at := Last(directory); !at.IsZero() {
		t.Errorf("want no time, have %s", at)
	}
	want := time.Date(2026, 2, 3, 4, 5, 6, 7, time.UTC)
	if err := Mark(directory, &Made{Schema: 1, At: want}); err != nil || !Last(directory).Equal(want) {
		t.Errorf("want %s, have %s (%v)", want, Last(directory), err)
	}
	if err := Mark(filepath.Join(directory, "absent"), &Made{}); err == nil || !strings.Contains(err.Error(), "absent") {
		t.Errorf("no directory: want an error that names it, have %v", err)
	}
}
