package journal_test

import (
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"botd/internal/disk/sqlitefault"
	"botd/reconcile/journal"
)

func TestSQLiteIsAJournal(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]*journal.Key{"plain": nil, "keyed": journal.NewKey([]byte("a key of the suite, thirty-two characters"))} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conforms(t, key)
		})
	}
}

// conforms runs the suite on journals with or without a key.
func conforms(t *testing.T, key *journal.Key) {
	runSuite(t, func(t *testing.T) *store {
		s := &files{t: t, path: filepath.Join(t.TempDir(), "journal.db")}
		return &store{
			Open: func(binding journal.Binding) (anyJournal, error) {
				j, err := openFaulty(t, s.path, binding, key)
				if err != nil {
					return nil, err
				}
				return j, nil
			},
			Read:   func() (anyJournal, error) { return journal.ReadKeyed(t.Context(), s.path, key) },
			Crash:  func() { s.path = s.copy() },
			Backup: func() func() { copied := s.copy(); return func() { s.path = copied } },
			Full:   func(full bool) { sqlitefault.In(filepath.Dir(s.path)).Full(full) },
			Tear:   func() { sqlitefault.In(filepath.Dir(s.path)).FailSync() },
			Alter: func(sequence int64) {
				s.exec("UPDATE record SET body = replace(body, 'timeout', 'filled!') WHERE sequence = ?", sequence)
			},
			AlterRow: func(id, state string) { s.exec("UPDATE placement SET state = ? WHERE client_order_id = ?", state, id) },
			AlterSum: func(account, amount string) {
				s.exec("UPDATE balance SET amount = ? WHERE account = ?", amount, account)
			},
			Newer: func(f journal.Format) {
				text, err := json.Marshal(f)
				must(t, err)
				s.exec("INSERT OR REPLACE INTO meta (name, value) VALUES ('format', ?)", string(text))
			},
		}
	})
}

// files gives access to a journal's files past the journal.
type files struct {
	t    *testing.T
	path string
}

// copy copies the files in their current state, as a kill would leave them.
func (f *files) copy() string {
	f.t.Helper()
	copied := filepath.Join(f.t.TempDir(), "journal.db")
	for _, suffix := range []string{"", "-wal"} {
		text, err := os.ReadFile(f.path + suffix)
		if os.IsNotExist(err) && suffix != "" {
			continue
		}
		if err == nil {
			err = os.WriteFile(copied+suffix, text, 0o600)
		}
		if err != nil {
			f.t.Fatal(err)
		}
	}
	return copied
}

func (f *files) exec(statement string, arguments ...any) {
	f.t.Helper()
	db, err := sql.Open("sqlite", "file:"+f.path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		f.t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statement, arguments...); err != nil {
		f.t.Fatal(err)
	}
}

// openFaulty opens a journal whose file operations go through the fault layer.
func openFaulty(t *testing.T, path string, binding journal.Binding, key *journal.Key) (*journal.Journal, error) {
	t.Helper()
	if err := sqlitefault.Register(); err != nil {
		return nil, err
	}
	return journal.Open(t.Context(), path, binding, journal.Options{Reserve: -1, Layer: sqlitefault.Layer, Key: key})
}
