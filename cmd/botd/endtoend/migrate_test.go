package endtoend

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"botd/internal/failure"
	"botd/reconcile/journal"
	"botd/reconcile/record"
	"botd/runtime/gateway"
)

// oldJournal writes a journal as botd of schema 1 left it.
func oldJournal(t *testing.T, path string) {
	t.Helper()
	store, err := journal.Open(t.Context(), path, journal.Binding{Mode: "demo", URL: "embedded",
		KeyFingerprint: gateway.Fingerprint(gateway.DemoAccount), Instance: "main"}, journal.Options{})

	if err != nil {
		t.Fatal(err)
	}
	if err := store.Append(t.Context(), []record.Record{{AtMS: 1, Body: record.Boot{Epoch: 1}},
		{AtMS: 2, Body: record.Halt{Level: record.LevelPause, Reason: "news"}}}); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	execSQL(t, path, "DROP TABLE balance", "PRAGMA user_version = 1")
}

func execSQL(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// TestAnOlderJournalIsMigratedOnceWithABackup tries it, does it, and does it again.
func TestAnOlderJournalIsMigratedOnceWithABackup(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.db")
	oldJournal(t, path)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	run := func(want int, arguments ...string) (m journal.Migration, stderr string) {
		t.Helper()
		var out, errors bytes.Buffer
		if have := execute(append([]string{"migrate", "--file", path, "-o", "json"}, arguments...), &out, &errors); have != want {
			t.Fatalf("migrate %v: want exit code %d, have %d: %s", arguments, want, have, errors.String())
		}
		if want == failure.OK {
			if err := json.Unmarshal(out.Bytes(), &m); err != nil {
				t.Fatal(err)
			}
		}
		return m, errors.String()
	}
	tried, _ := run(failure.OK, "--dry-run")
	if !tried.DryRun || tried.From != 1 || tried.To != journal.NewestSchema || tried.Backup != "" || tried.Report.Records != 2 {
		t.Errorf("a trial: want 1 to %d and two records verified, have %+v", journal.NewestSchema, tried)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("a trial: want the journal as it was, have %d bytes, not %d, %v", len(after), len(before), err)
	}
	done, _ := run(failure.OK)
	if done.From != 1 || done.Backup == "" || len(done.Report.Problems) > 0 || done.Report.Records != 2 {
		t.Errorf("want 1 to %d with a backup, have %+v", journal.NewestSchema, done)
	}
	if old, err := journal.Read(t.Context(), done.Backup); err != nil || old.Schema() != 1 {
		t.Errorf("the backup: want schema 1, have %v, %v", old, err)
	} else {
		old.Close()
	}
	again, _ := run(failure.OK)
	if again.From != journal.NewestSchema || again.Backup != "" {
		t.Errorf("again: want nothing to do, have %+v", again)
	}
	execSQL(t, path, "PRAGMA user_version = 99")
	if _, output := run(failure.Config); !strings.Contains(output, "newer botd") {
		t.Errorf("a newer journal: want it reported, have %s", output)
	}
}

// TestStartMigratesAndReportsIt starts the daemon over an older journal.
func TestStartMigratesAndReportsIt(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	path := filepath.Join(directory, "data", "demo", "journal.db")
	oldJournal(t, path)
	d := start(t, self(t), directory)
	d.until(t, "journal.migrated")
	d.until(t, "trading.halted") // a halt from the older botd: still in force
	// It is in use, so it is left alone.
	migrate := exec.Command(self(t), "migrate")
	migrate.Dir = directory
	if output, err := migrate.CombinedOutput(); err != nil || !strings.Contains(string(output), "nothing to do") {
		t.Errorf("migrate beside a daemon that has done it: want nothing to do, have %v: %s", err, output)
	}
	if err := d.process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	d.until(t, "daemon.stopped")
	copies, err := filepath.Glob(path + ".schema1-*Z") // the account's file is next to it
	if err != nil || len(copies) != 1 {
		t.Errorf("want one backup, have %v, %v", copies, err)
	}
}
