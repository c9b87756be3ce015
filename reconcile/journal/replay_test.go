package journal_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/journal"
	"botd/strategy"
)

var bound = journal.Binding{Mode: "demo", URL: "embedded", KeyFingerprint: "f", Instance: "main"}

// everyKind is a record of each kind with its fields set.
func everyKind() []reconcile.Record {
	key := exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}
	order := exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell, Type: exchange.StopMarket, StopPrice: 49_000e8,
		WorkingType: exchange.ContractPrice, ClosePosition: true, ClientOrderID: "bmain-1-1"}
	plan := strategy.Plan{Target: strategy.Target{Kind: strategy.ByEquity, Share: -exchange.RateOne}, Leverage: 3, OrdersSet: true, Reason: "why",
		Orders:     []strategy.Wish{{Key: "low", Side: exchange.Buy, Price: 1, Quantity: 2, PostOnly: true}},
		Protection: strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: 2_000_000}}}
	return []reconcile.Record{
		{Kind: reconcile.RecordBoot, AtMS: 1, Epoch: 36},
		{Kind: reconcile.RecordConfig, AtMS: 1, Hash: "abc"},
		{Kind: reconcile.RecordPlan, AtMS: 2, Strategy: "one", Symbol: key, Plan: &plan},
		{Kind: reconcile.RecordMemory, AtMS: 2, Strategy: "one", Memory: []strategy.MemoryEntry{{Key: "begin_ms", Value: 5}}},
		{Kind: reconcile.RecordResolved, AtMS: 3, Strategy: "one", Symbol: key, Target: plan.Target, Resolved: -7},
		{Kind: reconcile.RecordSending, AtMS: 4, Strategy: "one", Symbol: key, ClientOrderID: "bmain-1-1", Order: &order, Purpose: reconcile.StopLoss,
			DeadlineMS: 9, Before: -7, Reserved: exchange.MustAmount("12.000000000000000001")},
		{Kind: reconcile.RecordAcknowledged, AtMS: 5, ClientOrderID: "bmain-1-1", OrderID: 77},
		{Kind: reconcile.RecordUnknown, AtMS: 5, ClientOrderID: "bmain-1-1", Why: "timeout"},
		{Kind: reconcile.RecordFill, AtMS: 6, ClientOrderID: "bmain-1-1", Filled: 3, Price: exchange.AmountOf(48_999)},
		{Kind: reconcile.RecordEnded, AtMS: 7, ClientOrderID: "bmain-1-1", State: reconcile.Filled, Filled: 7, Evidence: "fetched FILLED"},
		{Kind: reconcile.RecordRefused, AtMS: 7, ClientOrderID: "bmain-1-2", Why: "no", Code: 2003},
		{Kind: reconcile.RecordQuarantined, AtMS: 8, Symbol: key, Why: "why"},
		{Kind: reconcile.RecordAdopted, AtMS: 8, Symbol: key, Filled: -2, Evidence: "by hand"},
		{Kind: reconcile.RecordLatch, AtMS: 8, Strategy: "one", Latch: -1},
		{Kind: reconcile.RecordDay, AtMS: 9, DayMS: 8, Equity: exchange.AmountOf(5), Peak: exchange.AmountOf(6)},
		{Kind: reconcile.RecordHalt, AtMS: 9, Level: "pause", Why: "why"},
		{Kind: reconcile.RecordBaseline, AtMS: 9, Symbol: key, Filled: 100},
		{Kind: reconcile.RecordFees, AtMS: 9, Symbol: key, Filled: 1},
	}
}

func open(t *testing.T, path string) *journal.Journal {
	t.Helper()
	j, err := journal.Open(t.Context(), path, bound)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

func replay(t *testing.T, j *journal.Journal) (records []reconcile.Record, err error) {
	t.Helper()
	err = j.Replay(t.Context(), func(r *reconcile.Record) error { records = append(records, *r); return nil })
	return records, err
}

func TestEveryKindOfRecordComesBackAsItWas(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.db")
	j := open(t, path)
	want := everyKind()
	for i := range want { // one append each: the order must hold across transactions
		if err := j.Append(t.Context(), want[i:i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	have, err := replay(t, open(t, path))
	if err != nil {
		t.Fatal(err)
	}
	if len(have) != len(want) {
		t.Fatalf("want %d records, have %d", len(want), len(have))
	}
	for i := range want {
		if !reflect.DeepEqual(want[i], have[i]) {
			t.Errorf("%s:\nwant %+v\nhave %+v", want[i].Kind, want[i], have[i])
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file's mode: want 600, have %v, %v", info.Mode(), err)
	}
}

func TestAnAlteredJournalIsFound(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]string{
		"an altered body":  `UPDATE record SET body = replace(body, 'timeout', 'filled!') WHERE sequence = 8`,
		"a missing record": `DELETE FROM record WHERE sequence = 8`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "journal.db")
			j := open(t, path)
			if err := j.Append(t.Context(), everyKind()); err != nil {
				t.Fatal(err)
			}
			j.Close()
			db, err := sql.Open("sqlite", "file:"+path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := db.Exec(change); err != nil {
				t.Fatal(err)
			}
			db.Close()
			if _, err := replay(t, open(t, path)); err == nil || !strings.Contains(err.Error(), "8") {
				t.Errorf("want an error that names record 8, have %v", err)
			}
		})
	}
}

func TestAJournalBelongsToOneAccount(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.db")
	open(t, path)
	other := bound
	other.Mode = "live"
	_, err := journal.Open(t.Context(), path, other)
	var wrong *journal.BindingError
	if !errors.As(err, &wrong) || !strings.Contains(err.Error(), "hint: ") {
		t.Errorf("want a BindingError with a hint, have %v", err)
	}
}

func TestAClientOrderIDIsUsedOnce(t *testing.T) {
	t.Parallel()
	j := open(t, filepath.Join(t.TempDir(), "journal.db"))
	all := everyKind()
	if err := j.Append(t.Context(), all[:6]); err != nil {
		t.Fatal(err)
	}
	if err := j.Append(t.Context(), []reconcile.Record{all[0], all[5]}); err == nil {
		t.Fatal("a client order id was journalled twice")
	}
	if have, err := replay(t, j); err != nil || len(have) != 6 {
		t.Errorf("a failed append leaves nothing: want 6 records, have %d, %v", len(have), err)
	}
	if err := j.Append(t.Context(), all[6:7]); err != nil {
		t.Errorf("the journal goes on after a refused append: %v", err)
	}
}

// TestWhatWasAppendedSurvivesACrash copies the files as they lie after each
// append, as a kill would leave them.
func TestWhatWasAppendedSurvivesACrash(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	path := filepath.Join(directory, "journal.db")
	j := open(t, path)
	all := everyKind()
	for i := range all {
		if err := j.Append(t.Context(), all[i:i+1]); err != nil {
			t.Fatal(err)
		}
		copied := filepath.Join(t.TempDir(), "journal.db")
		for _, suffix := range []string{"", "-wal"} {
			text, err := os.ReadFile(path + suffix)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(copied+suffix, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if have, err := replay(t, open(t, copied)); err != nil || len(have) != i+1 {
			t.Fatalf("after append %d: want %d records, have %d, %v", i+1, i+1, len(have), err)
		}
	}
}

func TestOneProcessHoldsADataDirectory(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	release, err := journal.Lock(directory)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := journal.Lock(directory); err == nil || !strings.Contains(err.Error(), "pid ") || !strings.Contains(err.Error(), "hint: ") {
		t.Errorf("want a refusal with pid and hint, have %v", err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	again, err := journal.Lock(directory)
	if err != nil {
		t.Fatalf("a released lock can be taken: %v", err)
	}
	if err := again(); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkAppend(b *testing.B) {
	j, err := journal.Open(b.Context(), filepath.Join(b.TempDir(), "journal.db"), bound)
	if err != nil {
		b.Fatal(err)
	}
	defer j.Close()
	records := everyKind()[6:9]
	for b.Loop() {
		if err := j.Append(b.Context(), records); err != nil {
			b.Fatal(err)
		}
	}
}
