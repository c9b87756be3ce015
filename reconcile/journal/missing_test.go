package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/ledger"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// filled opens a journal with a row in each of its tables.
func filled(t *testing.T) *Journal {
	t.Helper()
	j := opened(t, nil)
	key := exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}
	line := ledger.Line{Account: ledger.Wallet, Symbol: exchange.SymbolKey{Market: exchange.Spot}, Asset: "USDT", Amount: exchange.AmountOf(1)}
	if err := j.Append(t.Context(), []record.Record{
		{ClientOrderID: "b-1", Symbol: key, Body: record.Sending{Purpose: placement.Entry, Order: exchange.NewOrder{Market: key.Market, Symbol: key.Name,
			Side: exchange.Buy, Type: exchange.MarketOrder}}},
		{Body: record.Posting{Posting: ledger.Posting{Reading: ledger.Reading{Market: exchange.Spot}, Lines: []ledger.Line{line}}}},
	}); err != nil {
		t.Fatal(err)
	}
	return j
}

// change changes a journal's file outside its chain.
func change(t *testing.T, j *Journal, query string) {
	t.Helper()
	if _, err := j.db.ExecContext(t.Context(), query); err != nil {
		t.Fatal(err)
	}
}

// on calls a function with a connection of the journal.
func on(j *Journal, use func(conn *sql.Conn) error) error {
	conn, err := j.db.Conn(context.Background())
	if err != nil {
		return err
	}
	return errors.Join(use(conn), conn.Close())
}

// reader is an operation on a journal, and the beginning of its error when a table is missing.
type reader struct {
	name, begins string
	read         func(ctx context.Context, j *Journal) error
}

// take accepts each record.
func take(*Stored) error { return nil }

// readersOf lists the operations that read each table.
func readersOf() map[string][]reader {
	rows := func(ctx context.Context, j *Journal) error {
		return on(j, func(conn *sql.Conn) error { _, err := readRows(ctx, conn); return err })
	}
	copied := func(ctx context.Context, j *Journal) error { return copyRecords(ctx, j.path, j.path+".copy") }
	all := func(ctx context.Context, j *Journal) error { return j.Select(ctx, Filter{}, take) }
	some := func(ctx context.Context, j *Journal) error { return j.Select(ctx, Filter{Strategy: "one"}, take) }
	last := func(ctx context.Context, j *Journal) error { return j.Select(ctx, Filter{Last: 1}, take) }
	has := func(ctx context.Context, j *Journal) error { _, err := j.Has(ctx, "x"); return err }
	appended := func(ctx context.Context, j *Journal) error {
		return j.Append(ctx, []record.Record{{ClientOrderID: "b-1", Body: record.Acknowledged{OrderID: 1}}})
	}
	posted := func(ctx context.Context, j *Journal) error {
		line := ledger.Line{Account: ledger.Wallet, Symbol: exchange.SymbolKey{Market: exchange.Spot}, Asset: "USDT", Amount: exchange.AmountOf(1)}
		return j.Append(ctx, []record.Record{{Body: record.Posting{Posting: ledger.Posting{Lines: []ledger.Line{line}}}}})
	}
	seal := func(ctx context.Context, j *Journal) error {
		_, err := j.Seal(ctx, SealOptions{Keep: 1, Records: 1})
		return err
	}
	cut := func(ctx context.Context, j *Journal) error { return cutTo(ctx, j.path, 2, &AccountCopy{}) }
	checkpoint := func(ctx context.Context, j *Journal) error {
		j.sequence = FewRecords + 1
		_, err := j.Checkpoint(ctx)
		return err
	}
	missing := func(ctx context.Context, j *Journal) error {
		return on(j, func(conn *sql.Conn) error { _, err := (&Head{Records: 99}).missing(ctx, conn); return err })
	}
	return map[string][]reader{
		"record": {
			{"its end", "read the end of journal ", func(ctx context.Context, j *Journal) error { return j.readTail(ctx) }},
			{"its head", "read the journal's head: ", func(ctx context.Context, j *Journal) error { _, err := j.Newest(ctx); return err }},
			{"a hash", "find the record with hash x: ", has},
			{"a copy's end", "compare the copy with the journal: ", func(ctx context.Context, j *Journal) error { return j.holds(ctx, &Report{Records: 1}) }},
			{"its noted end", "compare the journal with its head: ", missing},
			{"its last start", "read the binding of the last start: ", func(ctx context.Context, j *Journal) error {
				return on(j, func(conn *sql.Conn) error { _, _, err := chained(ctx, conn); return err })
			}},
			{"a checkpoint", "read the newest checkpoint: ", checkpoint},
			{"a replay", "read the journal: ", func(ctx context.Context, j *Journal) error {
				return j.Replay(ctx, func(*record.Record) error { return nil })
			}},
			{"a replay after a checkpoint", "read the journal: ", func(ctx context.Context, j *Journal) error {
				return j.ReplayAfter(ctx, &Checkpoint{}, func(*record.Record) error { return nil })
			}},
			{"all", "read the journal: ", all}, {"a selection", "read the journal: ", some}, {"the last", "read the journal: ", last},
			{"an append", "append acknowledged to the journal: ", appended},
			{"sealing", "find the records to seal: ", seal},
			{"a segment", "", func(ctx context.Context, j *Journal) error {
				_, _, err := j.writeChecked(ctx, &segmentHeader{First: 1, Last: 2}, j.path+".segment", func(string) {})
				return err
			}},
			{"a copy", "copy the rows of record: ", copied}, {"a cut", "", cut},
			{"its rows again", "", func(ctx context.Context, j *Journal) error {
				return on(j, func(conn *sql.Conn) error { return rebuildTables(ctx, conn) })
			}},
			{"a verification", "read the journal: ", func(ctx context.Context, j *Journal) error {
				return on(j, func(conn *sql.Conn) error { return newVerifier().records(ctx, conn, link{}, false) })
			}},
			{"its account's moment", "read the newest record: ", func(ctx context.Context, j *Journal) error {
				path := filepath.Join(filepath.Dir(j.path), AccountFile)
				if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
					return nil
				}
				_, found, err := j.copyConsistently(ctx, path+".copy")
				if !found {
					return errors.New("want the account found")
				}
				return err
			}},
		},
		"meta": {
			{"its binding", "journal ", func(ctx context.Context, j *Journal) error { _, err := j.Binding(ctx); return err }},
			{"a start's binding", "", func(ctx context.Context, j *Journal) error { return j.bind(ctx, Binding{}) }},
			{"its account", "read which account belongs to ", func(ctx context.Context, j *Journal) error { _, err := j.account(ctx); return err }},
			{"its account's mark", "", func(ctx context.Context, j *Journal) error { return dropMark(ctx, j.path) }},
			{"a checkpoint", "read which records are sealed: ", checkpoint}, {"sealing", "read which records are sealed: ", seal},
			{"all", "read which records are sealed: ", all}, {"a selection", "read which records are sealed: ", some},
			{"a hash that is not in the file", "read which records are sealed: ", has},
			{"its noted end", "read which records are sealed: ", missing},
			{"a move of its base", "seal the journal: ", func(ctx context.Context, j *Journal) error { return j.move(ctx, &base{Through: 1, Hash: "x"}, nil) }},
			{"a copy", "copy the rows of meta: ", copied}, {"a cut", "", cut},
		},
		"placement": {
			{"its rows", "read the placements: ", rows}, {"a copy", "copy the rows of placement: ", copied}, {"a cut", "", cut},
			{"an append", "append acknowledged to the journal: ", appended},
			{"a move of its base", "seal the journal: ", func(ctx context.Context, j *Journal) error {
				return j.move(ctx, &base{Through: 1, Hash: "x"}, []string{"b-1"})
			}},
		},
		"balance": {
			{"its rows", "read the balances: ", rows}, {"a copy", "copy the rows of balance: ", copied}, {"a cut", "", cut},
			{"an append", "append posting to the journal: ", posted},
		},
	}
}

// Every operation on a missing table returns an error that names the table, and verification lists the table.
func TestMissingTableIsNamedByEachUse(t *testing.T) {
	t.Parallel()
	for table, readers := range readersOf() {
		for _, r := range readers {
			j := filled(t)
			change(t, j, "DROP TABLE "+table)
			err := r.read(t.Context(), j)
			if err == nil || !strings.HasPrefix(err.Error(), r.begins) && !errors.Is(err, ErrBroken) || !strings.Contains(err.Error(), "no such table: ") ||
				!strings.Contains(err.Error(), table) {
				t.Errorf("%s without %s: want %q and the table's name, have %v", r.name, table, r.begins, err)
			}
		}
		j := filled(t)
		change(t, j, "DROP TABLE "+table)
		report, err := j.Verify(t.Context())
		if err != nil || len(report.Problems) == 0 || !strings.Contains(fmt.Sprint(report.Problems), "schema table "+table+": ") {
			t.Errorf("want %s missed, have %v, %v", table, report.Problems, err)
		}
	}
}

// A value of another type is an error, not a zero.
func TestUnreadableRowIsAnError(t *testing.T) {
	t.Parallel()
	for query, c := range map[string]struct {
		begins string
		read   func(ctx context.Context, j *Journal) error
	}{
		"UPDATE placement SET order_id = 'x'": {"read the placements: ", readersOf()["placement"][0].read},
		"UPDATE balance SET derived = 'x'":    {"read the balances: ", readersOf()["balance"][0].read},
		"UPDATE record SET at_ms = 'x'": {"read the journal: ", func(ctx context.Context, j *Journal) error {
			return on(j, func(conn *sql.Conn) error { return newVerifier().records(ctx, conn, link{}, false) })
		}},
		"UPDATE record SET at_ms = 'x' ": {"read the journal's head: ", func(ctx context.Context, j *Journal) error { _, err := j.Newest(ctx); return err }},
		"UPDATE meta SET value = 'x'": {"journal ", func(ctx context.Context, j *Journal) error {
			_, err := j.Binding(ctx)
			return err
		}},
		"UPDATE meta SET value = 'x' ": {"journal ", func(ctx context.Context, j *Journal) error { return j.bind(ctx, Binding{Mode: "demo"}) }},
		"UPDATE meta SET value = 'y'": {"", func(ctx context.Context, j *Journal) error {
			_, err := Migrate(ctx, j.path, nil, false)
			return err
		}},
		"UPDATE record SET body = '{'": {"", func(ctx context.Context, j *Journal) error {
			return j.Replay(ctx, func(*record.Record) error { return nil })
		}},
	} {
		j := filled(t)
		change(t, j, query)
		if err := c.read(t.Context(), j); err == nil || !strings.HasPrefix(err.Error(), c.begins) {
			t.Errorf("%s: want %q, have %v", query, c.begins, err)
		}
	}
}

// A journal whose tail cannot be read is broken: the process must end. The error of a journal that accepts no changes gives the reason.
func TestInterruptedBeginBreaksTheJournal(t *testing.T) {
	t.Parallel()
	j := opened(t, nil)
	ended, end := context.WithCancel(t.Context())
	end()
	err := j.Append(ended, []record.Record{{Body: record.Config{}}})
	if !errors.Is(err, context.Canceled) || !errors.Is(err, ErrBroken) || !strings.Contains(err.Error(), "begin a journal append: ") || j.Records() != 2 {
		t.Errorf("want it broken after record 2, have %v after record %d", err, j.Records())
	}
	nothing := func() error { return errors.New("want no change") }
	if have := j.change(t.Context(), nothing); have != err {
		t.Errorf("a change of a broken journal: want %v, have %v", err, have)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	read, err := Read(t.Context(), j.path)
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	if err := read.change(t.Context(), nothing); !errors.Is(err, ErrReading) {
		t.Errorf("a change of a journal that is read: want %v, have %v", ErrReading, err)
	}
}

// The journal, its noted end and its account keep their names and contents.
func TestFailedExchangeRestoresAllFiles(t *testing.T) {
	t.Parallel()
	for _, withAccount := range []bool{false, true} {
		j := filled(t)
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		directory := filepath.Dir(j.path)
		files := map[string]string{}
		put := func(path, text string) {
			t.Helper()
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		put(filepath.Join(directory, AccountFile), "before")
		for _, path := range []string{j.path, HeadPath(j.path), filepath.Join(directory, AccountFile)} {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			files[path] = string(text)
		}
		r := Restored{}
		if withAccount {
			put(filepath.Join(directory, "backup"), "after")
			r.Account = &AccountCopy{File: filepath.Join(directory, "backup")}
		}
		if err := r.install(t.Context(), filepath.Join(directory, "missing"), j.path, time.Unix(1, 0)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("an account %t: want %v, have %v", withAccount, os.ErrNotExist, err)
		}
		for path, want := range files {
			if text, err := os.ReadFile(path); err != nil || string(text) != want {
				t.Errorf("an account %t: %s: want it as it was, have %d bytes for %d, %v", withAccount, filepath.Base(path), len(text), len(want), err)
			}
		}
		if extra, err := filepath.Glob(filepath.Join(directory, "*.before-*")); err != nil || len(extra) != 0 {
			t.Errorf("an account %t: want one file of each, have %v", withAccount, extra)
		}
	}
}

// The account is copied only if its file is the same before and after the newest record is read.
func TestChangingAccountIsNotCopied(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := opened(t, nil)
		defer j.Close()
		path := filepath.Join(filepath.Dir(j.path), AccountFile)
		if sequence, found, err := j.copyConsistently(t.Context(), path+".copy"); err != nil || found || sequence != 0 {
			t.Errorf("without an account: have %d, %t, %v", sequence, found, err)
		}
		if err := os.Symlink("/proc/self/status", path); err != nil { // its size is never that of its content
			t.Fatal(err)
		}
		began := time.Now()
		if sequence, found, err := j.copyConsistently(t.Context(), path+".copy"); !errors.Is(err, errMoves) || !found || sequence != 0 ||
			time.Since(began) != momentTries*momentPause {
			t.Errorf("want it tried for %s, have %d, %t, %v after %s", momentTries*momentPause, sequence, found, err, time.Since(began))
		}
		limited, end := context.WithTimeout(t.Context(), time.Second)
		defer end()
		if _, found, err := j.copyConsistently(limited, path+".copy"); !errors.Is(err, context.DeadlineExceeded) || !found {
			t.Errorf("want it ended with its context, have %t, %v", found, err)
		}
		if _, err := os.Lstat(path + ".copy"); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("want no copy, have %v", err)
		}
		if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
			t.Fatal(err)
		}
		if sequence, found, err := j.copyConsistently(t.Context(), path+".copy"); err == nil ||
			!strings.HasPrefix(err.Error(), "copy the account: ") || !found ||
			sequence != 0 {
			t.Errorf("a directory: have %d, %t, %v", sequence, found, err)
		}
		if err := errors.Join(os.Remove(path), os.WriteFile(path, []byte("{}"), 0o600)); err != nil {
			t.Fatal(err)
		}
		sequence, found, err := j.copyConsistently(t.Context(), path+".copy")
		text, reading := os.ReadFile(path + ".copy")
		if err != nil || reading != nil || !found || sequence != 2 || string(text) != "{}" {
			t.Errorf("want it copied at record 2, have %d, %t, %q, %v, %v", sequence, found, text, err, reading)
		}
	})
}

// The migration of an older journal rebuilds its derived tables.
func TestCutOfOlderSchemaKeepsRows(t *testing.T) {
	t.Parallel()
	for version, want := range map[int]int{withBalances - 1: 1, withBalances: 0} {
		j := filled(t)
		change(t, j, fmt.Sprintf("PRAGMA user_version = %d", version))
		if err := cutTo(t.Context(), j.path, 2, &AccountCopy{}); err != nil {
			t.Fatal(err)
		}
		var rows int
		if err := j.db.QueryRowContext(t.Context(), "SELECT count(*) FROM placement").Scan(&rows); err != nil || rows != want {
			t.Errorf("schema %d: want %d placements, have %d, %v", version, want, rows, err)
		}
	}
}

// Only a checkpoint of this layout is returned.
func TestStateIsACheckpointOfThisLayout(t *testing.T) {
	t.Parallel()
	if have := checkpointOf(&Stored{Record: record.Record{Body: record.Config{}}}); have != nil {
		t.Errorf("another record: have %v", have)
	}
	for _, layout := range []string{account.Layout, account.Layout + "x", ""} {
		if have := checkpointOf(&Stored{Record: record.Record{Body: record.Checkpoint{Layout: layout}}}); (have != nil) != (layout == account.Layout) {
			t.Errorf("layout %q: have %v", layout, have)
		}
	}
}

// The watch follows each file from the moment it first exists.
func TestFileThatDoesNotExistYetIsNotLost(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), FileName)
	w := newWatch(path)
	if lost := w.poll(); lost != "" {
		t.Errorf("before the first record: want nothing lost, have %s", lost)
	}
	if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if lost := w.poll() + w.poll(); lost != "" {
		t.Errorf("want nothing lost, have %s", lost)
	}
	file := filepath.Join(path, "below a file")
	w = newWatch(file)
	if lost := w.poll(); !strings.HasPrefix(lost, file+" cannot be checked: ") || w.truncated {
		t.Errorf("below a file: have %q", lost)
	}
	if _, err := Open(t.Context(), filepath.Join(path, "data", FileName), Binding{}, Options{}); err == nil ||
		!strings.HasPrefix(err.Error(), "make the data directory: ") {
		t.Errorf("below a file: have %v", err)
	}
}
