package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile/ledger"
	"botd/reconcile/record"
)

// A report lists at most maxProblems problems, however many are found at once.
func TestAReportListsAHundredProblems(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ first, then, want int }{{0, 0, 0}, {99, 1, 100}, {99, 2, 100}, {100, 1, 100}, {60, 30, 90}, {150, 10, 100}} {
		var r Report
		r.add(make([]Problem, c.first)...)
		r.add(slices.Repeat([]Problem{{Table: "later"}}, c.then)...)
		if len(r.Problems) != c.want || c.first < c.want && r.Problems[c.first].Table != "later" {
			t.Errorf("%d and %d: want %d, have %d", c.first, c.then, c.want, len(r.Problems))
		}
	}
}

// The binding in a row is compared with that of the last start, and derived rows with those that the records produce.
func TestUnchainedRowsAreVerified(t *testing.T) {
	t.Parallel()
	bound := Binding{Mode: "demo"}
	for _, c := range []struct {
		statement string
		want      []Problem
	}{
		{"SELECT 1", []Problem{}},
		{"UPDATE meta SET value = 'none' WHERE name = 'binding'",
			[]Problem{{"meta", "binding", "a binding that can be read", "read the binding: invalid character 'o' in literal null (expecting 'u')"}}},
		{"DELETE FROM meta WHERE name = 'binding'", []Problem{{"meta", "binding", bound.Text(), Binding{}.Text()}}},
		{"UPDATE meta SET value = replace(value, 'demo', 'live') WHERE name = 'binding'", []Problem{{"meta", "binding", bound.Text(),
			Binding{Mode: "live"}.Text()}}},
		{"DELETE FROM balance WHERE account = 'fees'",
			[]Problem{{"balance", "fees strategy=one market=spot symbol= asset=BNB", "amount=2 derived=true sequence=2", "no such row"}}},
		{"UPDATE balance SET amount = '2.5', derived = 0 WHERE account = 'fees'", []Problem{{"balance", "fees strategy=one market=spot symbol= asset=BNB",
			"amount=2 derived=true sequence=2", "amount=2.5 derived=false sequence=2"}}},
		{"INSERT INTO balance SELECT 'holding', strategy, market, symbol, asset, amount, derived, sequence FROM balance WHERE account = 'fees'",
			[]Problem{{"balance", "holding strategy=one market=spot symbol= asset=BNB", "no such row", "amount=2 derived=true sequence=2"}}},
		{"INSERT INTO placement VALUES ('b-9', 1, 'one', 'spot', 'A', 'entry', 'sending', 0, 0, 5, 0); DELETE FROM balance WHERE account = 'fees'", []Problem{
			{"balance", "fees strategy=one market=spot symbol= asset=BNB", "amount=2 derived=true sequence=2", "no such row"},
			{"placement", "b-9", "no such row",
				"sequence=1 strategy=one market=spot symbol=A purpose=entry state=sending order_id=0 filled=0 sent_ms=5 ended_ms=0"}}},
	} {
		j, err := Open(t.Context(), filepath.Join(t.TempDir(), FileName), bound, Options{Reserve: -1})
		if err != nil {
			t.Fatal(err)
		}
		fee := ledger.Line{Account: ledger.Fees, Strategy: "one", Symbol: exchange.SymbolKey{Market: exchange.Spot}, Asset: "BNB", Amount: exchange.AmountOf(2),
			Derived: true}
		records := []record.Record{{Body: record.Boot{Epoch: 1, Account: bound.Text()}}, {Body: record.Posting{Posting: ledger.Posting{
			Reading: ledger.Reading{Market: exchange.Spot}, Lines: []ledger.Line{fee}}}}}
		if err := j.Append(t.Context(), records); err != nil {
			t.Fatal(err)
		}
		if _, err := j.db.ExecContext(t.Context(), c.statement); err != nil {
			t.Fatal(err)
		}
		report, err := j.Verify(t.Context())
		own := slices.DeleteFunc(report.Problems, func(p Problem) bool { return p.Table == "ledger" }) // the posting's own problem stands for these
		if err != nil || !slices.Equal(own, c.want) || report.Postings != 1 {
			t.Errorf("%s:\nwant %v\nhave %v, %v", c.statement, c.want, own, err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// At most ten lines are listed, without SQLite's headings.
func TestTheDamageOfAFileIsListedLineByLine(t *testing.T) {
	t.Parallel()
	j := opened(t, nil)
	for i := range 30 {
		if _, err := j.db.ExecContext(t.Context(), "INSERT INTO placement VALUES (?, 1, 'one', 'spot', 'A', 'entry', 'sending', 0, 0, 5, 0)", fmt.Sprint("b-",
			i)); err != nil {
			t.Fatal(err)
		}
	}
	var page, size int64
	err := errors.Join(j.db.QueryRowContext(t.Context(), "SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_autoindex_placement_1'").Scan(&page),
		j.db.QueryRowContext(t.Context(), "PRAGMA page_size").Scan(&size), j.Close())
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(j.path)
	if err != nil {
		t.Fatal(err)
	}
	cells := text[(page-1)*size : page*size]
	copy(cells, []byte(strings.ReplaceAll(string(cells), "b-", "c-")))
	if err := os.WriteFile(j.path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	damaged, err := Read(t.Context(), j.path)
	if err != nil {
		t.Fatal(err)
	}
	defer damaged.Close()
	report, err := damaged.Verify(t.Context())
	lines := 0
	for _, p := range report.Problems {
		if p.Table == "file" {
			lines++
			if p.Want != "sound pages and indexes" || strings.HasPrefix(p.Have, "***") || strings.Contains(p.Have, "\n") || p.Have == "" {
				t.Errorf("have %+v", p)
			}
		}
	}
	if err != nil || lines != 10 {
		t.Errorf("want ten lines of a file with an index that lies, have %d of %v, %v", lines, report.Problems, err)
	}
}

// A file that is not this account's journal is not opened, and the error names the file and the reason.
func TestNonJournalFileIsRefused(t *testing.T) {
	t.Parallel()
	run := func(path, statement string) error {
		db, err := sql.Open("sqlite", "file:"+path)
		if err == nil {
			_, err = db.ExecContext(t.Context(), statement)
			err = errors.Join(err, db.Close())
		}
		return err
	}
	journal := func(path string) error {
		j, err := Open(t.Context(), path, Binding{Mode: "demo"}, Options{Reserve: -1})
		if err == nil {
			err = j.Close()
		}
		return err
	}
	altered := func(statement string) func(string) error {
		return func(path string) error { return errors.Join(journal(path), run(path, statement)) }
	}
	for name, c := range map[string]struct {
		make func(path string) error
		read string
		open string // the error of opening it; empty where it becomes a journal
	}{
		"nothing":       {func(string) error { return nil }, "open journal PATH: ", ""},
		"an empty file": {func(path string) error { return os.WriteFile(path, nil, 0o600) }, "PATH is not a journal", ""},
		"a text":        {func(path string) error { return os.WriteFile(path, make([]byte, 2_000), 0o600) }, "open journal PATH: ", "open journal PATH: "},
		"a directory":   {func(path string) error { return os.Mkdir(path, 0o700) }, "open journal PATH: ", "open journal: "},
		"another database": {func(path string) error { return run(path, "CREATE TABLE t (a TEXT)") }, "PATH is not a journal",
			"journal PATH has a schema that botd did not create: schema table t"},
		"of a newer schema": {altered("PRAGMA user_version = 7"), "journal PATH has schema 7, this botd knows 6",
			"journal PATH has schema 7, this botd knows 6"},
		"of a newer format": {altered(`INSERT INTO meta VALUES ('format', '{"epoch":9999,"botd":"9.1"}')`),
			fmt.Sprintf("journal PATH has format epoch 9999, this botd knows %d:", record.FormatEpoch),
			"journal PATH has format epoch 9999, this botd knows "},
		"of a format that cannot be read": {altered(`INSERT INTO meta VALUES ('format', 'none')`), "read the format of journal PATH: invalid character",
			"read the format of journal PATH: invalid character"},
		"of a newer schema, whose format cannot be read": {altered(`INSERT INTO meta VALUES ('format', 'none'); PRAGMA user_version = 7`),
			"journal PATH has schema 7, this botd knows 6: journal was written by a newer botd", "journal PATH has schema 7, this botd knows 6"},
		"of no account that can be read": {altered("UPDATE meta SET value = 'none' WHERE name = 'binding'"), "", "journal PATH: binding: invalid character"},
		"of another account": {altered("UPDATE meta SET value = '" + Binding{"live", "https://x", "", "two"}.Text() + "' WHERE name = 'binding'"), "",
			"journal PATH belongs to mode live (not demo), exchange https://x (not ), instance two (not )\nhint: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), FileName)
			if err := c.make(path); err != nil {
				t.Fatal(err)
			}
			for _, way := range []struct {
				name, want string
				do         func(context.Context) (*Journal, error)
			}{
				{"read", c.read, func(ctx context.Context) (*Journal, error) { return Read(ctx, path) }},
				{"open", c.open, func(ctx context.Context) (*Journal, error) {
					return Open(ctx, path, Binding{Mode: "demo"}, Options{Reserve: -1})
				}},
			} {
				j, err := way.do(t.Context())
				have := ""
				if err != nil {
					have = strings.ReplaceAll(err.Error(), path, "PATH")
				} else if err := j.Close(); err != nil {
					t.Error(err)
				}
				if !strings.HasPrefix(have, way.want) || (err == nil) != (way.want == "") {
					t.Errorf("%s: want %q, have %q", way.name, way.want, have)
				}
			}
			release, err := lock(path+".lock", "it")
			if err != nil {
				t.Fatalf("want its lock free again, have %v", err)
			}
			if err := release(); err != nil {
				t.Error(err)
			}
		})
	}
}
