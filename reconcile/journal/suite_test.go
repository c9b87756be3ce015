package journal_test

import (
	"context"
	"reflect"
	"testing"

	"botd/reconcile/journal"
	"botd/reconcile/record"
)

// anyJournal is what the suite requires of a journal.
type anyJournal interface {
	Append(ctx context.Context, records []record.Record) error
	Replay(ctx context.Context, take func(*record.Record) error) error
	Select(ctx context.Context, filter journal.Filter, take func(*journal.Stored) error) error
	Verify(ctx context.Context) (journal.Report, error)
	Format() journal.Format
	Close() error
}

// store opens journals of one kind and injects faults into them. Each subtest gets its own
// store.
type store struct {
	Open   func(binding journal.Binding) (anyJournal, error) // the one journal of this store
	Read   func() (anyJournal, error)                        // the same journal, for reading while another has it open for writing
	Crash  func()                                            // ends the journal's process as a kill would, without Close
	Backup func() (restore func())                           // saves its state; restore puts it back when the journal is closed

	Full     func(full bool)                   // no room, or room again
	Tear     func()                            // the next append fails in the middle
	Alter    func(sequence int64)              // changes the text of a stored record
	AlterRow func(clientOrderID, state string) // changes a row derived from the records
	AlterSum func(account, amount string)      // changes a balance derived from the records
	Newer    func(journal.Format)              // makes the closed journal look as if a newer botd had written it
}

// binding is the binding of the suite's journals.
var binding = journal.Binding{Mode: "demo", URL: "embedded", KeyFingerprint: "f", Instance: "main"}

// runSuite runs the whole suite, which any implementation of a journal must pass. newStore returns an empty store.
//
// A journal that passes has the properties that exactly-once.md requires: order is
// preserved under failure, appends are durable when they return, the chain reveals
// tampering, there is one writer and one account, and epochs only grow.
func runSuite(t *testing.T, newStore func(t *testing.T) *store) {
	for _, one := range []struct {
		name string
		test func(t *testing.T, s *store)
	}{
		{"every kind of record comes back as it was", everyKindComesBack},
		{"what was appended survives a crash", survivesCrash},
		{"a full disk leaves nothing and order holds", orderAfterFailure},
		{"a torn append ends the journal and is all or nothing", tornAppend},
		{"a batch is all or none", allOrNone},
		{"an altered record is found", alteredRecord},
		{"an altered row is found with its place", alteredRow},
		{"an altered balance is found", alteredBalance},
		{"a posting that does not follow from its reading is found", wrongEntry},
		{"derived rows belong to the transaction of their record", rowsInTransaction},
		{"a journal belongs to one account", bound},
		{"a journal has one writer", oneWriter},
		{"epochs only grow", epochsGrow},
		{"epochs grow after a restored backup", epochsAfterBackup},
		{"a reader beside the writer sees whole batches", readerDuringWrites},
		{"big records and many", bigRecords},
		{"records are chosenRecords by kind, symbol, strategy and time", chosenRecords},
		{"a closed journal takes nothing", closedTakesNothing},
		{"a journal of a format that is not known is refused", newerFormat},
	} {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			one.test(t, newStore(t))
		})
	}
}

func got[T any](t *testing.T) func(T, error) T {
	t.Helper()
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func (s *store) open(t *testing.T) anyJournal {
	t.Helper()
	j := got[anyJournal](t)(s.Open(binding))
	t.Cleanup(func() { j.Close() })
	return j
}

func add(t *testing.T, j anyJournal, records ...record.Record) {
	t.Helper()
	if err := j.Append(t.Context(), records); err != nil {
		t.Fatal(err)
	}
}

func all(t *testing.T, j anyJournal) (records []record.Record) {
	t.Helper()
	if err := j.Replay(t.Context(), func(r *record.Record) error { records = append(records, *r); return nil }); err != nil {
		t.Fatal(err)
	}
	return records
}

func compare(t *testing.T, want, have []record.Record) {
	t.Helper()
	if len(want) != len(have) {
		t.Fatalf("want %d records, have %d", len(want), len(have))
	}
	for i := range want {
		if !reflect.DeepEqual(want[i], have[i]) {
			t.Errorf("record %d, %s:\nwant %+v\nhave %+v", i+1, want[i].Kind(), want[i], have[i])
		}
	}
}

func sound(t *testing.T, j anyJournal, records int) journal.Report {
	t.Helper()
	report := got[journal.Report](t)(j.Verify(t.Context()))
	if len(report.Problems) > 0 || report.Records != records {
		t.Fatalf("want %d records and no problem, have %+v", records, report)
	}
	return report
}
