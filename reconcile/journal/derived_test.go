package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"botd/exchange"
	"botd/internal/failure"
	"botd/reconcile/ledger"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

var bitcoin = exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}

// The cases list the row after each record. A record without an order id or a filled quantity deletes neither, and a final row changes only
// in its filled quantity and order id.
func TestPlacementRowFromRecords(t *testing.T) {
	t.Parallel()
	type step struct {
		body record.Body
		want string // state, order id, filled, when it ended
	}
	for name, steps := range map[string][]step{
		"filled": {{record.Acknowledged{OrderID: 5}, "acknowledged 5 0 0"}, {record.Acknowledged{}, "acknowledged 5 0 0"},
			{record.Fill{OrderID: 5, Filled: 3}, "working 5 3 0"}, {record.Fill{Filled: 2}, "working 5 3 0"}, {record.Fill{Filled: 7}, "working 5 7 0"},
			{record.Ended{State: placement.Filled, Filled: 10}, "filled 5 10 1006"}, {record.Ended{State: placement.Canceled}, "filled 5 10 1006"}},
		"refused": {{record.Refused{Code: 1}, "refused 0 0 1001"}, {record.Acknowledged{OrderID: 9}, "refused 9 0 1001"},
			{record.Fill{Filled: 4}, "refused 9 4 1001"}, {record.Uncertain{}, "refused 9 4 1001"}, {record.Refused{}, "refused 9 4 1001"}},
		"unknown": {{record.Uncertain{}, "uncertain 0 0 0"}, {record.Fill{OrderID: 8, Filled: 1}, "working 8 1 0"}, {record.Uncertain{}, "uncertain 8 1 0"},
			{record.Ended{OrderID: 8, State: placement.Canceled, Filled: 1}, "canceled 8 1 1004"}},
		"ended at once": {{record.Ended{OrderID: 7, State: placement.Canceled}, "canceled 7 0 1001"}, {record.Fill{OrderID: 7, Filled: 2},
			"canceled 7 2 1001"}},
	} {
		m := newMemoryTables()
		sending := &record.Record{AtMS: 1_000, Strategy: "trend", Symbol: bitcoin, ClientOrderID: "c-1", Body: record.Sending{Purpose: placement.StopLoss}}
		if err := derive(m, 41, sending); err != nil {
			t.Fatal(err)
		}
		row := func(state, orderID, filled, endedMS string) string {
			return fmt.Sprintf("sequence=41 strategy=trend market=futures symbol=BTC-USDT purpose=%s state=%s order_id=%s filled=%s sent_ms=1000 ended_ms=%s",
				placement.StopLoss, state, orderID, filled, endedMS)
		}
		check := func(what, want string) {
			t.Helper()
			if have := m.rows(); len(have) != 1 || have[[2]string{"placement", "c-1"}] != want {
				t.Errorf("%s, %s: want %s, have %v", name, what, want, have)
			}
		}
		check("sent", row("sending", "0", "0", "0"))
		for i, s := range steps {
			if err := derive(m, int64(42+i), &record.Record{AtMS: 1_001 + int64(i), ClientOrderID: "c-1", Body: s.body}); err != nil {
				t.Fatal(err)
			}
			f := strings.Fields(s.want)
			check(fmt.Sprintf("record %d, %T", i+1, s.body), row(f[0], f[1], f[2], f[3]))
		}
		if err := derive(m, 99, sending); err == nil || err.Error() != "client order id c-1 is journalled already, by record 41" {
			t.Errorf("sent twice: have %v", err)
		}
		if err := derive(m, 99, &record.Record{ClientOrderID: "of others", Body: record.Fill{Filled: 1}}); err != nil || len(m.placements) != 1 {
			t.Errorf("a fill of what was never sent: want nothing, have %v, %v", m.rows(), err)
		}
	}
}

// Sums are exact for each account, strategy, symbol and asset, and name the newest posting. Once marked as derived, a balance stays marked.
func TestBalancesFromPostings(t *testing.T) {
	t.Parallel()
	m := newMemoryTables()
	post := func(sequence int64, lines ...ledger.Line) {
		t.Helper()
		if err := derive(m, sequence, &record.Record{Body: record.Posting{Posting: ledger.Posting{Lines: lines}}}); err != nil {
			t.Fatal(err)
		}
	}
	fee := func(amount string, derived bool) ledger.Line {
		return ledger.Line{Account: ledger.Fees, Strategy: "trend", Symbol: bitcoin, Asset: "USDT", Amount: exchange.MustAmount(amount), Derived: derived}
	}
	wallet := func(amount string) ledger.Line {
		return ledger.Line{Account: ledger.Wallet, Symbol: exchange.SymbolKey{Market: exchange.Futures}, Asset: "USDT", Amount: exchange.MustAmount(amount)}
	}
	post(7, fee("0.1", false), wallet("-0.1"))
	post(8, fee("0.000000000000000001", true))
	post(9, fee("-0.05", false), fee("0.05", false))
	want := map[[2]string]string{
		{"balance", ledger.Fees.String() + " strategy=trend market=futures symbol=BTC-USDT asset=USDT"}: "amount=0.100000000000000001 derived=true sequence=9",
		{"balance", ledger.Wallet.String() + " strategy= market=futures symbol= asset=USDT"}:            "amount=-0.1 derived=false sequence=7",
	}
	have := m.rows()
	for key, row := range want {
		if have[key] != row {
			t.Errorf("%v: want %s, have %s", key, row, have[key])
		}
	}
	if len(have) != len(want) {
		t.Errorf("want %d balances, have %v", len(want), have)
	}
}

// The link depends on the body, the previous link and the key, and a keyed chain stays keyed.
func TestALinkFitsItsKeyAlone(t *testing.T) {
	t.Parallel()
	key, other := NewKey([]byte("a secret of thirty-two characters")), NewKey([]byte("another one of thirty-two letters"))
	var none *Key
	body := []byte("body")
	plain, coded := none.link("first", body), key.link("first", body)
	for _, c := range []struct {
		name     string
		key      *Key
		previous string
		body     string
		hash     string
		want     error
	}{
		{"plain", nil, "first", "body", plain, nil}, {"plain, with a key", key, "first", "body", plain, nil}, {"coded", key, "first", "body", coded, nil},
		{"coded, without the key", nil, "first", "body", coded, nil}, {"coded by another", other, "first", "body", coded, errForged},
		{"another body", nil, "first", "body2", plain, errAltered}, {"another body, coded", key, "first", "body2", coded, errAltered},
		{"another before", nil, "second", "body", plain, errAltered}, {"no hash", nil, "first", "body", "", errAltered},
		{"plain after coded", key, coded, "body", none.link(coded, body), errAltered}, {"coded after coded", key, coded, "body", key.link(coded, body), nil},
		{"plain after plain", key, plain, "body", none.link(plain, body), nil},
	} {
		if have := c.key.fits(c.previous, []byte(c.body), c.hash); !errors.Is(have, c.want) || have != nil && c.want == nil {
			t.Errorf("%s: want %v, have %v", c.name, c.want, have)
		}
	}
	l := link{key, 4, "first"}
	if _, err := l.decode(6, string(body), "first", plain); err == nil || err.Error() != "journal record 5 was altered or one before it is missing" {
		t.Errorf("a record after the next: have %v", err)
	}
	if _, err := l.decode(5, string(body), "second", none.link("second", body)); err == nil || !strings.Contains(err.Error(), "record 5 was altered") {
		t.Errorf("a record of another chain: have %v", err)
	}
	if _, err := l.decode(5, string(body), "first", plain); err == nil || !strings.HasPrefix(err.Error(),
		"journal record 5: ") || l.sequence != 5 || l.hash != plain {
		t.Errorf("a record that fits and is no JSON: have %v, %+v", err, l)
	}
}

// The codes are those of sysexits.h (contract, Commands).
func TestEachFailureOfAJournalHasItsExitCodeAndHint(t *testing.T) {
	t.Parallel()
	problem := []Problem{{}, {}}
	for _, c := range []struct {
		err  error
		code int
		text []string
	}{
		{&UnsoundError{"copy.db", problem}, 1, []string{"copy.db is damaged: ", "(2 problems)",
			"hint: botd journal verify --file copy.db lists all problems"}},
		{&AlteredError{7, errAltered}, 1, []string{"journal record 7 was altered or one before it is missing", "hint: botd journal verify shows more"}},
		{&MissingError{"segments", Span{First: 1, Last: 9}}, 66, []string{"are not in segments", "hint: put the moved segments back"}},
		{&SchemaError{"journal.db", problem}, 65, []string{"journal journal.db has a schema that botd did not create", "(2 problems)",
			"hint: botd journal verify"}},
		{&KeyError{"journal.db", 5, true}, 78, []string{"journal.db is keyed, but journal_key_file is not set", "hint: set journal_key_file in botd.yaml"}},
		{&KeyError{"journal.db", 5, false}, 78, []string{"journal.db is not keyed", "its 5 records may have been rewritten", "hint: if it was never keyed"}},
		{&BindingError{Path: "journal.db"}, 78, []string{"journal journal.db belongs to", "hint: use a separate data_dir for this account"}},
		{&NewerError{"journal.db", "schema", 9, 8, ""}, 78,
			[]string{"journal journal.db has schema 9, this botd knows 8: journal was written by a newer botd\n",
				"hint: run the botd that wrote it, or a newer one; or restore a backup"}},
		{&NewerError{"journal.db", "format epoch", 9, 8, "1.2"}, 78, []string{"has format epoch 9, this botd knows 8: journal was written by a newer botd, 1.2",
			"hint: run botd 1.2, or a newer one; or restore a backup"}},
		{fmt.Errorf("lock: %w", ErrLocked), 75, []string{"lock: in use by another botd"}},
		{fmt.Errorf("copy.db %w", ErrExists), 64, []string{"copy.db already exists", "hint: an existing file is never overwritten: choose another file name"}},
		{fmt.Errorf("open: %w", fs.ErrNotExist), 66, []string{"open: file does not exist"}}, {errors.New("disk I/O error"), 74, []string{"disk I/O error"}},
		{failure.New(failure.Temporary, "wait", "not now"), 75, []string{"not now", "hint: wait"}},
	} {
		for _, err := range []error{c.err, fmt.Errorf("open the journal: %w", c.err)} { // the error may be wrapped in other text
			have := Failure(err)
			if code := failure.CodeOf(have); code != c.code || !errors.Is(have, c.err) {
				t.Errorf("%v: want it with exit code %d, have %d, %v", err, c.code, code, have)
			}
			for _, text := range c.text {
				if !strings.Contains(have.Error(), text) {
					t.Errorf("%T: want %q, have %q", err, text, have)
				}
			}
		}
	}
	if have := Failure(nil); have != nil {
		t.Errorf("want nothing of nothing, have %v", have)
	}
}
