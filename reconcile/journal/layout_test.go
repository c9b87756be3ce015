package journal_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"botd/internal/conformance/journaltest"
	"botd/reconcile/journal"
)

// alter runs a statement on a journal's file, as whoever may write it can.
func alter(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestNothingPlantedInTheSchemaIsTrusted plants what could change the journal by itself, such as a
// trigger that deletes each halt: it is neither verified as whole, nor restored, nor written.
func TestNothingPlantedInTheSchemaIsTrusted(t *testing.T) {
	t.Parallel()
	for what, statement := range map[string]string{
		"a trigger":               "CREATE TRIGGER t AFTER INSERT ON record WHEN new.kind = 'halt' BEGIN DELETE FROM record WHERE sequence = new.sequence; END",
		"a view":                  "CREATE VIEW v AS SELECT * FROM record",
		"a view for a table":      "ALTER TABLE record RENAME TO hidden; CREATE VIEW record AS SELECT * FROM hidden WHERE kind <> 'halt'",
		"an index":                "CREATE INDEX i ON record (lower(kind))",
		"a table":                 "CREATE TABLE more (n INTEGER)",
		"a column":                "ALTER TABLE record ADD COLUMN more TEXT",
		"a table that is missing": "DROP TABLE balance",
		"statistics":              "ANALYZE",
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			path := closed(t)
			alter(t, path, statement)
			var unsound *journal.UnsoundError
			if _, err := journal.CheckBackup(t.Context(), path, nil); !errors.As(err, &unsound) || unsound.Problems[0].Table != "schema" {
				t.Errorf("verify: want the schema's problem, have %v", err)
			}
			if _, err := journal.Restore(t.Context(), path, filepath.Join(t.TempDir(), journal.FileName), nil, moment); !errors.As(err, &unsound) {
				t.Errorf("restore: want it refused, have %v", err)
			}
			var planted *journal.SchemaError
			if _, err := journal.Open(t.Context(), path, journaltest.Bound, journal.Options{}); !errors.As(err, &planted) {
				t.Errorf("open: want it refused, have %v", err)
			}
		})
	}
}

func TestAFileThatOnlySeemsNewIsNotTrusted(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), journal.FileName)
	alter(t, path, "CREATE TABLE record (sequence INTEGER); CREATE TRIGGER t AFTER INSERT ON record BEGIN DELETE FROM record; END")
	var planted *journal.SchemaError
	if _, err := journal.Open(t.Context(), path, journaltest.Bound, journal.Options{}); !errors.As(err, &planted) {
		t.Errorf("want it refused, have %v", err)
	}
}

// TestARestoreTakesTheRecordsAlone has a backup with content in pages that no row needs: it stays behind.
func TestARestoreTakesTheRecordsAlone(t *testing.T) {
	t.Parallel()
	path, restored := closed(t), filepath.Join(t.TempDir(), journal.FileName)
	const hidden = "content of a page that no row needs"
	alter(t, path, "CREATE TABLE more (text TEXT); INSERT INTO more VALUES ('"+hidden+"'); DROP TABLE more; PRAGMA wal_checkpoint(TRUNCATE)")
	content := func(path string) string {
		text, err := os.ReadFile(path)
		must(t, err)
		return string(text)
	}
	if !strings.Contains(content(path), hidden) {
		t.Fatal("want the backup to have it, or this tests nothing")
	}
	if _, err := journal.Restore(t.Context(), path, restored, nil, moment); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(content(restored), hidden) {
		t.Error("want the records alone in the restored file")
	}
}
