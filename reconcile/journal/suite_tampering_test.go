package journal_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"botd/reconcile/journal"
	"botd/reconcile/ledger"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

func alteredRecord(t *testing.T, s *store) {
	j := s.open(t)
	add(t, j, everyKind()...)
	s.Alter(8)
	report := got[journal.Report](t)(j.Verify(t.Context()))
	if len(report.Problems) != 1 || report.Problems[0].Table != "record" || report.Problems[0].Key != "8" {
		t.Errorf("want record 8 found, have %+v", report.Problems)
	}
	err := j.Replay(t.Context(), func(*record.Record) error { return nil })
	var altered *journal.AlteredError
	if !errors.As(err, &altered) || altered.Sequence != 8 {
		t.Errorf("replay: want an error that names record 8, have %v", err)
	}
}

func alteredRow(t *testing.T, s *store) {
	j := s.open(t)
	add(t, j, everyKind()...)
	sound(t, j, len(everyKind()))
	s.AlterRow("bmain-1-1", "absent")
	report := got[journal.Report](t)(j.Verify(t.Context()))
	if len(report.Problems) != 1 {
		t.Fatalf("want one problem, have %+v", report.Problems)
	}
	if p := report.Problems[0]; p.Table != "placement" || p.Key != "bmain-1-1" || !strings.Contains(p.Want, "state=filled") ||
		!strings.Contains(p.Have, "state=absent") {
		t.Errorf("want the placement found with both states, have %s", p)
	}
}

func alteredBalance(t *testing.T, s *store) {
	j := s.open(t)
	add(t, j, entryOf(10_000))
	if report := sound(t, j, 1); report.Postings != 1 || report.Rows != 2 {
		t.Errorf("want an entry and two balances, have %+v", report)
	}
	s.AlterSum("transferred", "-9999")
	report := got[journal.Report](t)(j.Verify(t.Context()))
	if len(report.Problems) != 1 || report.Problems[0].Table != "balance" || !strings.Contains(report.Problems[0].Want, "-10000 ") ||
		!strings.Contains(report.Problems[0].Have, "-9999 ") {
		t.Errorf("want the balance found with both amounts, have %+v", report.Problems)
	}
}

// wrongEntry checks that verification finds a posting whose lines do not add up to zero, one that does
// not follow from its reading, and a record that no start could apply.
func wrongEntry(t *testing.T, s *store) {
	j := s.open(t)
	lame, other := entryOf(10_000), entryOf(10_000)
	posting := lame.Body.(record.Posting)
	posting.Lines = posting.Lines[:1]
	lame.Body = posting
	other.Body.(record.Posting).Lines[0].Account = ledger.Fees
	add(t, j, lame, other, record.Record{Strategy: "one", Body: record.Plan{}})
	report := got[journal.Report](t)(j.Verify(t.Context()))
	var places []string
	for _, p := range report.Problems {
		places = append(places, p.Table+" "+p.Key)
	}
	if want := []string{"ledger 1", "ledger 1", "ledger 2", "record 3"}; !reflect.DeepEqual(want, places) {
		t.Errorf("want problems at %v, have %v", want, report.Problems)
	}
}

func rowsInTransaction(t *testing.T, s *store) {
	j := s.open(t)
	add(t, j, sending(1))
	ended := record.Record{AtMS: 9, ClientOrderID: sending(1).ClientOrderID, Body: record.Ended{State: placement.Filled, Filled: 1}}
	if err := j.Append(t.Context(), []record.Record{ended, sending(1)}); err == nil {
		t.Fatal("a client order id was journalled twice")
	}
	if report := sound(t, j, 1); report.Rows != 1 {
		t.Errorf("want the one row there was, have %d", report.Rows)
	}
	s.Full(true)
	if err := j.Append(t.Context(), []record.Record{ended}); err == nil {
		t.Fatal("appended to a full disk")
	}
	sound(t, j, 1)
	s.Full(false)
	add(t, j, ended)
	sound(t, j, 2)
}
