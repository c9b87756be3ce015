package journal_test

import (
	"path/filepath"
	"testing"

	"botd/reconcile/journal"
)

func TestTheNewestRecordIsTheHead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.db")
	j := open(t, path)
	if have, err := j.Newest(t.Context()); err != nil || have != (journal.Head{}) {
		t.Errorf("without records: want none, have %+v, %v", have, err)
	}
	must(t, j.Append(t.Context(), everyKind()))
	have, err := j.Newest(t.Context())
	must(t, err)
	if there, err := j.Has(t.Context(), have.Hash); err != nil || !there || have.Records != j.Records() {
		t.Errorf("want the last of %d records, have %+v, %v", j.Records(), have, err)
	}
	must(t, j.Close())
	reader, err := journal.Read(t.Context(), path)
	must(t, err)
	defer reader.Close()
	if again, err := reader.Newest(t.Context()); err != nil || again != have {
		t.Errorf("read elsewhere: want %+v, have %+v, %v", have, again, err)
	}
}
