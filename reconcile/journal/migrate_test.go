package journal_test

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"botd/internal/failure"
	"botd/reconcile"
	"botd/reconcile/journal"
	"botd/reconcile/ledger"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// oldJournal is a journal that botd wrote with schema 2 (testdata, as SQL), and what that botd reported about
// it.
type oldJournal struct {
	name string
	hash string // of its last record
	rows int    // number of derived rows
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

// restore creates its file.
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

// check compares the journal with what the old botd reported.
func (o *oldJournal) check(t *testing.T, j *journal.Journal, older bool) {
	t.Helper()
	report, err := j.Verify(t.Context())
	if err != nil || len(report.Problems) > 0 || report.Hash != o.hash || report.Older != older || !older && report.Rows != o.rows {
		t.Errorf("want a sound journal that ends with %s, %d rows, older %t; have %+v, %v", o.hash, o.rows, older, report, err)
	}
	tracker := reconcile.NewTracker(placement.Bounds{})
	must(t, j.Replay(t.Context(), func(r *record.Record) error { tracker.Apply(r); return nil }))
	text, err := os.ReadFile(filepath.Join("testdata", "schema2-"+o.name+".ledger.json"))
	must(t, err)
	have, err := json.Marshal(struct {
		Schema int `json:"schema"`
		ledger.Report
	}{1, tracker.Ledger().Report()})
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

// TestSchema2JournalIsMigratedAndContinues reads the old journal as it is, migrates it, and appends to
// the same chain.
func TestSchema2JournalIsMigratedAndContinues(t *testing.T) {
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

// TestSchema2JournalKeepsUserActions replays the journalled user actions.
func TestSchema2JournalKeepsUserActions(t *testing.T) {
	t.Parallel()
	j, err := journal.Read(t.Context(), oldJournals[0].restore(t))
	must(t, err)
	t.Cleanup(func() { j.Close() })
	tracker := reconcile.NewTracker(placement.Bounds{})
	must(t, j.Replay(t.Context(), func(r *record.Record) error { tracker.Apply(r); return nil }))
	halts := tracker.Halts()
	if len(halts) != 1 || halts[0].Scope.Strategy != "trend" || halts[0].Level != record.LevelCancel || halts[0].Reason != "looks odd" {
		t.Errorf("want the halt of trend, have %+v", halts)
	}
	limits := tracker.SetLimits()
	if len(limits) != 1 || limits[0].Rule != "max_open_orders" || limits[0].Value != "5" || limits[0].By != "socket" {
		t.Errorf("want max_open_orders 5, have %+v", limits)
	}
	owners := []string{}
	for s := range tracker.Strategies() {
		owners = append(owners, s.Name()+" "+s.Symbol().Name+" "+s.OnRemove())
	}
	if want := []string{"accumulate BTC-USDT ", "hold SOL-USDT leave", "trend ETH-USDT "}; !slices.Equal(want, owners) {
		t.Errorf("want %q, have %q", want, owners)
	}
}

// With --dry-run botd migrate changes nothing and leaves no file. Without it a copy is made first, and a current journal is
// left as it is.
func TestMigrationIsTestedOnCopyFirst(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	o := &oldJournals[0]
	path := o.restore(t)
	before, err := os.ReadFile(path)
	must(t, err)
	wantReport := func(what string, r journal.Report) {
		t.Helper()
		if r.Hash != o.hash || r.Rows != o.rows || r.Older || len(r.Problems) > 0 {
			t.Errorf("%s: want a sound journal with %d rows that ends with %s, have %+v", what, o.rows, o.hash, r)
		}
	}
	dry, err := journal.Migrate(t.Context(), path, nil, true)
	must(t, err)
	wantReport("tried", dry.Report)
	if dry.Report = (journal.Report{}); !reflect.DeepEqual(dry, journal.Migration{Schema: 1, DryRun: true, Journal: path, From: 2, To: 5}) {
		t.Errorf("tried: have %+v", dry)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("tried: want the journal as it was, have it changed, %v", err)
	}
	leftovers(t, filepath.Dir(path), "journal.db")
	leftovers(t, temporary, "")
	done, err := journal.Migrate(t.Context(), path, nil, false)
	must(t, err)
	wantReport("done", done.Report)
	if !strings.HasPrefix(done.Backup, path+".schema2-") || done.DryRun || done.From != 2 || done.To != 5 {
		t.Errorf("done: have %+v", done)
	}
	copied, err := journal.Read(t.Context(), done.Backup)
	must(t, err)
	o.check(t, copied, true)
	must(t, copied.Close())
	reader, err := journal.Read(t.Context(), path)
	must(t, err)
	o.check(t, reader, false)
	if reader.Schema() != 5 {
		t.Errorf("done: want schema 5, have %d", reader.Schema())
	}
	must(t, reader.Close())
	for _, made := range []string{path + ".reserve", path + ".partial", path + ".before"} {
		if _, err := os.Lstat(made); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("done: want no %s, have %v", filepath.Base(made), err)
		}
	}
	again, err := journal.Migrate(t.Context(), path, nil, false)
	must(t, err)
	wantReport("again", again.Report)
	if again.Report = (journal.Report{}); !reflect.DeepEqual(again, journal.Migration{Schema: 1, Journal: path, From: 5, To: 5}) {
		t.Errorf("again: have %+v", again)
	}
	(&files{t, path}).exec("UPDATE placement SET state = 'absent'")
	if _, err := journal.Migrate(t.Context(), path, nil, false); failure.CodeOf(err) != failure.Negative {
		t.Errorf("one that is up to date and not sound: want exit code 1, have %v", err)
	}
	(&files{t, path}).exec("PRAGMA user_version = 99")
	for _, dry := range []bool{true, false} {
		if _, err := journal.Migrate(t.Context(), path, nil, dry); failure.CodeOf(err) != failure.Config || !errors.Is(err, journal.ErrNewerSchema) {
			t.Errorf("a newer one, tried %t: want exit code 78, have %v", dry, err)
		}
	}
}

// The journal contains an order that was sent twice, so no table can be derived.
func TestAMigrationThatCannotBeDoneLeavesTheJournal(t *testing.T) {
	t.Parallel()
	path := oldJournals[0].restore(t)
	reader, err := journal.Read(t.Context(), path)
	must(t, err)
	binding, err := reader.Binding(t.Context())
	must(t, err)
	var sent journal.Stored
	must(t, reader.Select(t.Context(), journal.Filter{Kinds: []record.Kind{record.KindSending}, Last: 1},
		func(s *journal.Stored) error { sent = *s; return nil }))
	newest, err := reader.Newest(t.Context())
	must(t, err)
	must(t, reader.Close())
	body, err := sent.Record.MarshalJSON()
	must(t, err)
	sum := sha256.Sum256(append([]byte(newest.Hash), body...))
	(&files{t, path}).exec("INSERT INTO record SELECT ?, at_ms, kind, strategy, market, symbol, client_order_id, ?, ?, ? FROM record WHERE sequence = ?",
		newest.Records+1, string(body), newest.Hash, hex.EncodeToString(sum[:]), sent.Sequence)
	want := fmt.Sprintf("prepare journal %s: journal record %d: client order id %s is journalled already, by record %d", path, newest.Records+1,
		sent.ClientOrderID, sent.Sequence)
	for range 2 {
		if _, err := journal.Open(t.Context(), path, binding, journal.Options{}); err == nil || err.Error() != want {
			t.Errorf("want %q, have %v", want, err)
		}
		reader, err := journal.Read(t.Context(), path)
		must(t, err)
		if have, err := reader.Newest(t.Context()); err != nil || have.Records != newest.Records+1 || reader.Schema() != 2 {
			t.Errorf("want it as it was, have %+v of schema %d, %v", have, reader.Schema(), err)
		}
		must(t, reader.Close())
	}
}

// Only a journal that this botd can read, and would continue in another format, is copied. For one that it cannot read, opening returns the error.
func TestACopyIsMadeBeforeAnOlderFormatIsWrittenOn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(f *files)
		key   *journal.Key
		want  string // suffix after the journal's name; empty for no copy
	}{
		"up to date":          {func(*files) {}, nil, ""},
		"of format 1":         {func(f *files) { f.format(1) }, nil, ".format1-"},
		"of the one before":   {func(f *files) { f.format(record.FormatEpoch - 1) }, nil, fmt.Sprintf(".format%d-", record.FormatEpoch-1)},
		"of this one":         {func(f *files) { f.format(record.FormatEpoch) }, nil, ""},
		"from before formats": {func(f *files) { f.exec("DELETE FROM meta WHERE name = 'format'") }, nil, ""},
		"of schema 4": {func(f *files) {
			f.exec("DROP INDEX record_boot; DROP INDEX record_checkpoint; PRAGMA user_version = 4")
		}, nil, ".schema4-"},
		"that is not there":     {func(f *files) { must(f.t, os.Remove(f.path)) }, nil, ""},
		"that is none":          {func(f *files) { strew(f.t, f.path, []byte("no journal")) }, nil, ""},
		"of a newer format":     {func(f *files) { f.format(record.FormatEpoch + 1) }, nil, ""},
		"without its key":       {func(f *files) { f.format(1) }, key, ""},
		"without records":       {func(f *files) { f.format(1); f.exec("DELETE FROM record; DELETE FROM placement; DELETE FROM balance") }, key, ".format1-"},
		"without a read record": {func(f *files) { f.exec("DROP TABLE record") }, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &files{t, closed(t)}
			must(t, os.Remove(journal.HeadPath(f.path)))
			c.spoil(f)
			have, err := journal.BackupOlder(t.Context(), f.path, c.key)
			if err != nil || (have == "") != (c.want == "") || !strings.HasPrefix(have, f.path+c.want) && have != "" {
				t.Errorf("want %q, have %q, %v", c.want, have, err)
			}
			if have != "" {
				if _, err := journal.CheckBackup(t.Context(), have, nil); err != nil {
					t.Errorf("want a sound copy, have %v", err)
				}
			}
		})
	}
	path := oldJournals[0].restore(t)
	(&files{t,
		path}).exec("UPDATE record SET body = replace(body, 'trend', 'other') WHERE sequence = (SELECT max(sequence) FROM record WHERE body LIKE '%trend%')")
	name, err := journal.BackupOlder(t.Context(), path, nil)
	if failure.CodeOf(err) != failure.IO || name != "" || !strings.Contains(err.Error(),
		"hint: make room, or fix the problems that botd journal verify reports; nothing was changed") {
		t.Errorf("of one that is damaged: want none, and what to do, have %q, %v", name, err)
	}
	if _, err := journal.Migrate(t.Context(), path, nil, false); failure.CodeOf(err) != failure.IO {
		t.Errorf("its migration: want it refused, have %v", err)
	}
	leftovers(t, filepath.Dir(path), "journal.db")
}

// In later schemas such a name is a column that an attacker wrote.
func TestFormerKindNamesEndWithSchema3(t *testing.T) {
	t.Parallel()
	for schema, want := range map[int]int{2: 0, 3: 1, 5: 1} {
		path := closed(t)
		(&files{t, path}).exec("UPDATE record SET kind = 'config' WHERE kind = 'assigned'")
		(&files{t, path}).exec(fmt.Sprintf("PRAGMA user_version = %d", schema))
		if found := problems(t, path); len(found) != want || want == 1 && (found[0].Table != "record" || !strings.Contains(found[0].Have, "kind:config")) {
			t.Errorf("schema %d: want %d problems, have %v", schema, want, found)
		}
		reader, err := journal.Read(t.Context(), path)
		must(t, err)
		if have := len(selected(t, reader, journal.Filter{Kinds: []record.Kind{record.KindAssigned}})); have != 1-want {
			t.Errorf("schema %d: want %d chosen by its kind, have %d", schema, 1-want, have)
		}
		must(t, reader.Close())
	}
}

// A later botd of the same format keeps the recorded version, and one of another format writes its own.
func TestAFormatIsOfTheBotdThatWroteItFirst(t *testing.T) {
	t.Parallel()
	for epoch, first := range map[int]bool{record.FormatEpoch: true, record.FormatEpoch - 1: false} {
		path := closed(t)
		(&files{t, path}).format(epoch)
		j := open(t, path)
		must(t, j.Append(t.Context(), []record.Record{{Body: record.Config{}}}))
		if have := j.Format(); have.Epoch != record.FormatEpoch || (have.Botd == "1.0") != first {
			t.Errorf("format %d: have %+v", epoch, have)
		}
		must(t, j.Close())
		reader, err := journal.Read(t.Context(), path)
		must(t, err)
		if have := reader.Format(); have.Epoch != record.FormatEpoch || (have.Botd == "1.0") != first {
			t.Errorf("format %d, in the file: have %+v", epoch, have)
		}
		text, err := json.Marshal(selected(t, reader, journal.Filter{Last: 1})[0])
		must(t, err)
		var shown struct {
			Sequence int64
			Hash     string
			Kind     string
		}
		if err := json.Unmarshal(text, &shown); err != nil || shown.Sequence != 35 || len(shown.Hash) != 64 || shown.Kind != "config" {
			t.Errorf("want a record with its place, have %s, %v", text, err)
		}
		must(t, reader.Close())
	}
}

// format marks a journal as written with a format.
func (f *files) format(epoch int) {
	f.exec("INSERT OR REPLACE INTO meta (name, value) VALUES ('format', ?)", fmt.Sprintf(`{"epoch":%d,"botd":"1.0"}`, epoch))
}
