package journal_test

import (
	"errors"
	"path/filepath"
	"testing"

	"botd/internal/mutant/mutanttest"
	"botd/reconcile/journal"
)

// TestRulesOfTheJournalShowWhenTheyAreBroken lets each mutant of the journal accept what its rule refuses.
func TestRulesOfTheJournalShowWhenTheyAreBroken(t *testing.T) {
	refused := func(path string, key *journal.Key) bool {
		j, err := openKeyed(t, path, key)
		if err == nil {
			must(t, j.Close())
		}
		return err != nil
	}
	mutanttest.Shown(t, "reconcile/journal", map[string]func(testing.TB){
		"downgrade_accepted": mutanttest.Holds(func() bool { return refused(keyedJournal(t, nil), key) }),
		"codes_unchecked": mutanttest.Holds(func() bool {
			path := keyedJournal(t, key)
			must(t, discardHead(path))
			rewritten(t, path, oldCodes)
			return len(verified(t, path, key).Problems) > 0
		}),
		"diverted_forgotten": mutanttest.Holds(func() bool {
			path := filepath.Join(t.TempDir(), "journal.db")
			strew(t, path+".diverted", nil)
			return journal.Leftover(path) != ""
		}),
		"schema_unchecked": mutanttest.Holds(func() bool {
			path := keyedJournal(t, nil)
			(&files{t, path}).exec("CREATE TRIGGER t AFTER INSERT ON record BEGIN DELETE FROM placement; END")
			_, err := journal.Open(t.Context(), path, binding, journal.Options{})
			return errors.As(err, new(*journal.SchemaError)) && filepath.Base(path) == journal.FileName
		}),
	})
}
