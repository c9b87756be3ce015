package journal_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"botd/reconcile"
	"botd/reconcile/journal"
	"botd/reconcile/ledger"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// oldJournal is a journal that botd of schema 2 wrote (testdata, as text), with what
// that botd said of it.
type oldJournal struct {
	name string
	hash string // of its last record
	rows int    // of derived tables
	kind map[record.Kind]int
}

var oldJournals = []oldJournal{
	{
		"demo",
		"739067856b0916d8d7e56b42ec2ef1bfa6a278d5b5685ada43dcc588c45b9911",
		26,
		map[record.Kind]int{
			record.KindAssigned: 3,
			record.KindConfig:   1,
			record.KindPosting:  18,
			record.KindPriced:   17,
			record.KindHalt:     3,
			record.KindLimit:    3,
		},
	},
	{
		"resolved",
		"6fdb2d3a975fca2157ea9b8e6c67320530807c57ff0a6c18967aad1b86d4b9cc",
		14, // a journal that was lost, and a process that was killed
		map[record.Kind]int{
			record.KindAssigned:    3,
			record.KindConfig:      1,
			record.KindPosting:     5,
			record.KindQuarantined: 2,
			record.KindAdopted:     2,
			record.KindBaseline:    1,
		},
	},
}

// restore makes its file.
func (o *oldJournal) restore(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "schema2-"+o.name+".sql"))
	must(t, err)
	path := filepath.Join(t.TempDir(), "journal.db")
	db, err := sql.Open("sqlite", "file:"+path)
	must(t, err)
	_, err = db.Exec(string(text))
	must(t, err)
	must(t, db.Close())
	return path
}

// check holds what is read of it against what the old botd said.
func (o *oldJournal) check(t *testing.T, j *journal.Journal, older bool) {
	t.Helper()
	report, err := j.Verify(t.Context())
	if err != nil || len(report.Problems) > 0 || report.Hash != o.hash || report.Older != older || !older && report.Rows != o.rows {
		t.Errorf("want a sound journal that ends with %s, %d rows, older %t; have %+v, %v", o.hash, o.rows, older, report, err)
	}
	book := reconcile.NewBook(placement.Settle{})
	must(t, j.Replay(t.Context(), func(r *record.Record) error { book.Apply(r); return nil }))
	text, err := os.ReadFile(filepath.Join("testdata", "schema2-"+o.name+".ledger.json"))
	must(t, err)
	have, err := json.Marshal(struct {
		Schema int `json:"schema"`
		ledger.Report
	}{1, book.Ledger().Report()})
	must(t, err)
	var want bytes.Buffer
	must(t, json.Compact(&want, text))
	if want.String() != string(have) {
		t.Errorf("the ledger:\nwant %s\nhave %s", want.String(), have)
	}
	for kind, want := range o.kind {
		chosen := 0
		must(t, j.Select(t.Context(), journal.Filter{Kinds: []record.Kind{kind}}, func(s *journal.Stored) error {
			if chosen++; s.Kind() != kind {
				t.Errorf("chosen by kind %s: have %s", kind, s.Kind())
			}
			return nil
		}))
		if chosen != want {
			t.Errorf("kind %s: want %d records, have %d", kind, want, chosen)
		}
	}
}

// TestAJournalOfSchema2IsReadMigratedAndGoesOn reads it as it is, brings it up to
// date, and appends to the same chain.
func TestAJournalOfSchema2IsReadMigratedAndGoesOn(t *testing.T) {
	t.Parallel()
	for _, o := range oldJournals {
		t.Run(o.name, func(t *testing.T) {
			t.Parallel()
			path := o.restore(t)
			reader, err := journal.Read(t.Context(), path)
			must(t, err)
			o.check(t, reader, true)
			binding, err := reader.Binding(t.Context())
			must(t, err)
			must(t, reader.Close())

			j, err := journal.Open(t.Context(), path, binding, journal.Options{})
			must(t, err)
			t.Cleanup(func() { j.Close() })
			o.check(t, j, false)
			before := j.Records()
			epochs := []record.Record{{AtMS: 1, Body: record.Boot{Epoch: 1 << 40, Account: binding.Text()}}}
			must(t, j.Append(t.Context(), epochs))
			if has, err := j.Has(t.Context(), o.hash); err != nil || !has {
				t.Errorf("want the record that was the last one still there, have %t, %v", has, err)
			}
			report, err := j.Verify(t.Context())
			if err != nil || len(report.Problems) > 0 || int64(report.Records) != before+1 || report.Hash == o.hash {
				t.Errorf("want %d records and one chain, have %+v, %v", before+1, report, err)
			}
		})
	}
}

// TestAJournalOfSchema2KeepsWhatPeopleSet replays what was journalled.
func TestAJournalOfSchema2KeepsWhatPeopleSet(t *testing.T) {
	t.Parallel()
	j, err := journal.Read(t.Context(), oldJournals[0].restore(t))
	must(t, err)
	t.Cleanup(func() { j.Close() })
	book := reconcile.NewBook(placement.Settle{})
	must(t, j.Replay(t.Context(), func(r *record.Record) error { book.Apply(r); return nil }))
	halts := book.Halts()
	if len(halts) != 1 || halts[0].Scope.Strategy != "trend" || halts[0].Level != record.LevelCancel || halts[0].Why != "looks odd" {
		t.Errorf("want the halt of trend, have %+v", halts)
	}
	limits := book.SetLimits()
	if len(limits) != 1 || limits[0].Rule != "max_open_orders" || limits[0].Value != "5" || limits[0].By != "socket" {
		t.Errorf("want max_open_orders 5, have %+v", limits)
	}
	owners := []string{}
	for _, s := range book.Strategies() {
		owners = append(owners, s.Name()+" "+s.Symbol().Name+" "+s.OnRemove())
	}
	if want := []string{"accumulate BTC-USDT ", "hold SOL-USDT leave", "trend ETH-USDT "}; !slices.Equal(want, owners) {
		t.Errorf("want %q, have %q", want, owners)
	}
}
