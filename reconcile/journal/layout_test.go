package journal_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"botd/reconcile/journal"
)

// alter executes a statement on a journal's file, as anyone with write access can.
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

// TestPlantedSchemaObjectsAreRejected plants objects that could change the journal by themselves, such as
// a trigger that deletes each halt. Such a journal does not verify, and is neither restored nor written.
func TestPlantedSchemaObjectsAreRejected(t *testing.T) {
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
			if _, err := journal.Open(t.Context(), path, binding, journal.Options{}); !errors.As(err, &planted) {
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
	if _, err := journal.Open(t.Context(), path, binding, journal.Options{}); !errors.As(err, &planted) {
		t.Errorf("want it refused, have %v", err)
	}
}

// TestRestoreCopiesOnlyRecords uses a backup with content in unused pages, which is not copied.
func TestRestoreCopiesOnlyRecords(t *testing.T) {
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

// Balances came with schema 2, the indexes with 5. A journal of an older schema need not have what came later, and must have the rest.
func TestEachSchemaHasItsOwnTablesAndIndexes(t *testing.T) {
	t.Parallel()
	const balances, starts, checkpoints = "DROP TABLE balance;", "DROP INDEX record_boot;", "DROP INDEX record_checkpoint;"
	for _, c := range []struct {
		schema  int
		dropped string
		missing []string
	}{
		{1, balances + starts + checkpoints, nil},
		{1, "", nil},
		{1, "DROP TABLE placement;", []string{"index sqlite_autoindex_placement_1", "table placement"}},
		{2, balances + starts + checkpoints, []string{"index sqlite_autoindex_balance_1", "table balance"}},
		{2, starts + checkpoints, nil},
		{3, starts, nil},
		{4, checkpoints, nil},
		{5, starts, []string{"index record_boot"}},
		{5, checkpoints, []string{"index record_checkpoint"}},
		{6, starts + checkpoints, []string{"index record_boot", "index record_checkpoint"}},
		{5, "", nil},
	} {
		path := closed(t)
		alter(t, path, fmt.Sprintf("%s PRAGMA user_version = %d", c.dropped, c.schema))
		var have []string
		reader, err := journal.Read(t.Context(), path)
		must(t, err)
		report, err := reader.Verify(t.Context())
		must(t, errors.Join(err, reader.Close()))
		if len(c.missing) == 0 && report.Older != (c.schema < 3) {
			t.Errorf("schema %d: its tables are of before schema 3: have %t", c.schema, report.Older)
		}
		for _, p := range report.Problems {
			if p.Table != "schema" || p.Want != "one" || p.Have != "none" {
				t.Errorf("schema %d: have %v", c.schema, p)
			}
			have = append(have, p.Key)
		}
		if !slices.Equal(have, c.missing) {
			t.Errorf("schema %d without %s: want %q missed, have %q", c.schema, c.dropped, c.missing, have)
		}
	}
	path := closed(t)
	alter(t, path, "CREATE VIEW v AS SELECT 1; ALTER TABLE record ADD COLUMN more TEXT")
	have := problems(t, path)
	if len(have) != 2 || have[0].Key != "table record" || !strings.HasPrefix(have[0].Want, "CREATE TABLE record ( sequence") ||
		!strings.HasSuffix(have[0].Have, ", more TEXT)") ||
		have[1] != (journal.Problem{Table: "schema", Key: "view v", Want: "nothing of this name", Have: "one: CREATE VIEW v AS SELECT 1"}) {
		t.Errorf("want both named with what they are, have %v", have)
	}
}
