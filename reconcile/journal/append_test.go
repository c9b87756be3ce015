package journal

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile/ledger"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// failures are errors of SQLite, keyed by what they mean.
func failures(t *testing.T) map[string]error {
	t.Helper()
	ask := func(path, query string) error {
		db, err := sql.Open("sqlite", "file:"+path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		_, err = db.ExecContext(t.Context(), query)
		return err
	}
	directory := t.TempDir()
	text, corrupt := filepath.Join(directory, "text"), filepath.Join(directory, "corrupt")
	if err := errors.Join(os.WriteFile(text, []byte(strings.Repeat("no database ", 100)), 0o600), ask(corrupt, "CREATE TABLE t (a TEXT)")); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(corrupt)
	if err != nil {
		t.Fatal(err)
	}
	copy(page[100:], strings.Repeat("\xff", 60)) // the header of its first page
	if err := os.WriteFile(corrupt, page, 0o600); err != nil {
		t.Fatal(err)
	}
	return map[string]error{
		"not a database": ask(text, "SELECT * FROM t"), "corrupt": ask(corrupt, "SELECT * FROM t"),
		"constraint": ask(filepath.Join(directory, "new"), "CREATE TABLE t (a INTEGER PRIMARY KEY); INSERT INTO t VALUES (1); INSERT INTO t VALUES (1)"),
		"full":       ask(filepath.Join(directory, "small"), "PRAGMA max_page_count = 1; CREATE TABLE t (a TEXT); CREATE TABLE u (a TEXT)"),
		"closed":     sql.ErrConnDone, "interrupted": context.Canceled,
	}
}

// If the journal's tail is known, the append may be repeated; if it is in doubt, the process ends (exactly-once.md, case 7).
func TestFailedAppend(t *testing.T) {
	t.Parallel()
	for name, cause := range failures(t) {
		for _, other := range []bool{false, true} { // a record that another process wrote is at the tail
			j := opened(t, nil)
			if other {
				if _, err := j.db.ExecContext(t.Context(), "UPDATE record SET hash = 'another' WHERE sequence = 2"); err != nil {
					t.Fatal(err)
				}
			}
			err := j.failed(t.Context(), cause)
			broken := other || name == "not a database" || name == "corrupt" || name == "closed"
			full := !broken && name == "full"
			if cause == nil || !errors.Is(err, cause) || errors.Is(err, ErrBroken) != broken || errors.Is(err, ErrFull) != full {
				t.Errorf("%s, another record %t: want broken %t, full %t, have %v", name, other, broken, full, err)
			}
			next := j.Append(t.Context(), []record.Record{{Body: record.Config{}}})
			if broken && next != err || !broken && next != nil {
				t.Errorf("%s, another record %t: the next append: have %v", name, other, next)
			}
			if marked, is := err.(interface{ Broken() bool }); broken != (is && marked.Broken()) {
				t.Errorf("%s, another record %t: want it marked %t, have %v", name, other, broken, err)
			}
		}
	}
	j := opened(t, nil)
	if _, err := j.db.ExecContext(t.Context(), "DELETE FROM record WHERE sequence = 2"); err != nil {
		t.Fatal(err)
	}
	twice := record.Record{ClientOrderID: "b-1", Symbol: exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}, Body: record.Sending{}}
	err := j.Append(t.Context(), []record.Record{twice, twice})
	const why = "client order id b-1 is journalled already, by record 3; the journal ends with record 1, not 2"
	if !errors.Is(err, ErrBroken) || !strings.HasSuffix(err.Error(), why) {
		t.Errorf("a record that was taken away: have %v", err)
	}
}

// A balance that is no number fails the append. Nothing of the batch is written, and the append may be repeated.
func TestABalanceThatCannotBeReadIsNotAddedTo(t *testing.T) {
	t.Parallel()
	j := opened(t, nil)
	line := ledger.Line{Account: ledger.Wallet, Symbol: exchange.SymbolKey{Market: exchange.Spot}, Asset: "USDT", Amount: exchange.AmountOf(1)}
	posting := []record.Record{{Body: record.Posting{Posting: ledger.Posting{Reading: ledger.Reading{Market: exchange.Spot}, Lines: []ledger.Line{line}}}}}
	set := func(amount string) {
		t.Helper()
		if _, err := j.db.ExecContext(t.Context(), "UPDATE balance SET amount = ?", amount); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Append(t.Context(), posting); err != nil {
		t.Fatal(err)
	}
	set("none")
	if err := j.Append(t.Context(), posting); err == nil || errors.Is(err, ErrBroken) || j.Records() != 3 {
		t.Errorf("want it refused, have %v after record %d", err, j.Records())
	}
	set("5")
	if err := j.Append(t.Context(), posting); err != nil || j.Records() != 4 {
		t.Errorf("want it written, have %v after record %d", err, j.Records())
	}
}

// The rows derived from later records are cut as well.
func TestACopyIsCutToARecordWithItsRows(t *testing.T) {
	t.Parallel()
	for sequence, want := range map[int64]int{5: 2, 4: 2, 3: 1, 2: 0} {
		j := opened(t, nil)
		key := exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}
		sending := record.Sending{Purpose: placement.Entry, Order: exchange.NewOrder{Market: key.Market, Symbol: key.Name, Side: exchange.Buy,
			Type: exchange.MarketOrder}}
		records := []record.Record{{ClientOrderID: "b-1", Symbol: key, Body: sending}, {ClientOrderID: "b-2", Symbol: key, Body: sending},
			{ClientOrderID: "b-1", Body: record.Refused{}}}
		if err := j.Append(t.Context(), records); err != nil {
			t.Fatal(err)
		}
		if err := cutTo(t.Context(), j.path, sequence, &AccountCopy{Bytes: 7}); err != nil {
			t.Fatal(err)
		}
		report, err := j.Verify(t.Context())
		if err != nil || len(report.Problems) > 0 || report.Records != int(sequence) || report.Rows != want {
			t.Errorf("cut to record %d: want it sound with %d rows, have %+v, %v", sequence, want, report, err)
		}
		var text string
		if err := j.db.QueryRowContext(t.Context(), "SELECT value FROM meta WHERE name = 'account'").Scan(&text); err != nil ||
			text != `{"file":"","bytes":7,"sha256":""}` {
			t.Errorf("want the account noted, have %s, %v", text, err)
		}
	}
}

// Closing it again does nothing.
func TestClosedJournalRefusesRecords(t *testing.T) {
	t.Parallel()
	j := opened(t, nil)
	for range 2 {
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		if err := j.Append(t.Context(), []record.Record{{Body: record.Config{}}}); err == nil || err.Error() != "journal is closed" {
			t.Errorf("an append: have %v", err)
		}
		if sealed, err := j.Seal(t.Context(), SealOptions{}); err == nil {
			t.Errorf("sealing: want an error, have %v", sealed)
		}
	}
	release, err := lock(j.path+".lock", "it")
	if err != nil {
		t.Fatalf("want its lock free, have %v", err)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
	reader, err := Read(t.Context(), j.path)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if err := reader.Append(t.Context(), []record.Record{{Body: record.Config{}}}); !errors.Is(err, ErrReading) {
		t.Errorf("an append to one that is read: want %v, have %v", ErrReading, err)
	}
}
