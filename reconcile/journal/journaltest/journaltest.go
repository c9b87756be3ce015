// Package journaltest one conformance suite for journals: SQLite, memory, and any store to come.
//
// A journal that passes it can be trusted with what exactly-once.md asks of the
// durable memory: order kept under failure, durable before it returns, a chain
// that shows tampering, one writer, one account, epochs that only grow.
package journaltest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/journal"
	"botd/strategy"
)

// Journal is what the suite asks of one.
type Journal interface {
	Append(ctx context.Context, records []reconcile.Record) error
	Replay(ctx context.Context, take func(*reconcile.Record) error) error
	Select(ctx context.Context, filter journal.Filter, take func(*journal.Stored) error) error
	Verify(ctx context.Context) (journal.Report, error)
	Close() error
}

// Store makes journals of one kind, and does to them what the world does. A
// subtest gets a store of its own.
type Store struct {
	Open   func(binding journal.Binding) (Journal, error) // the one journal of this store
	Read   func() (Journal, error)                        // the same, for reading beside a writer
	Crash  func()                                         // ends its owner as a kill does: Close is not called
	Backup func() (restore func())                        // keeps its state, to be put back when it is closed

	Full     func(full bool)                   // no room, or room again
	Tear     func()                            // the next append fails in the middle
	Alter    func(sequence int64)              // changes the text of a stored record
	AlterRow func(clientOrderID, state string) // changes a row derived from the records
	AlterSum func(account, amount string)      // changes a balance derived from the records
}

// Bound is the binding of the suite's journals.
var Bound = journal.Binding{Mode: "demo", URL: "embedded", KeyFingerprint: "f", Instance: "main"}

var bitcoin = exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}

// EveryKind is a record of each kind: the first of them with all their fields
// set, kinds that came later with a few.
func EveryKind() []reconcile.Record {
	records := firstKinds()
	for kind := reconcile.RecordFees + 1; !strings.HasPrefix(kind.String(), "record("); kind++ {
		record := reconcile.Record{Kind: kind, AtMS: 10, Strategy: "two", Symbol: bitcoin, Why: "why"}
		switch kind {
		case reconcile.RecordFound:
			record.Order = &exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell, Type: exchange.Limit, Price: 1, Quantity: 2}
		case reconcile.RecordEntry:
			record = Entry(10_000)
		}
		records = append(records, record)
	}
	return records
}

// Entry is a first entry of the ledger, which takes over a futures wallet.
func Entry(usdt int64) reconcile.Record {
	key, amount := exchange.SymbolKey{Market: exchange.Futures}, exchange.AmountOf(usdt)
	return reconcile.Record{Kind: reconcile.RecordEntry, AtMS: 10, Entry: &reconcile.Posting{
		Reading: reconcile.Reading{AtMS: 10, Market: exchange.Futures, Wallet: []reconcile.Asset{{Name: "USDT", Amount: amount}}},
		Lines: []reconcile.Line{{Account: reconcile.Wallet, Symbol: key, Asset: "USDT", Amount: amount},
			{Account: reconcile.Transferred, Symbol: key, Asset: "USDT", Amount: amount.Neg()}}}}
}

func firstKinds() []reconcile.Record {
	order := exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell, Type: exchange.StopMarket, StopPrice: 49_000e8,
		WorkingType: exchange.ContractPrice, ClosePosition: true, ClientOrderID: "bmain-1-1"}
	plan := strategy.Plan{Target: strategy.Target{Kind: strategy.ByEquity, Share: -exchange.RateOne}, Leverage: 3, OrdersSet: true, Reason: "why",
		Orders:     []strategy.Wish{{Key: "low", Side: exchange.Buy, Price: 1, Quantity: 2, PostOnly: true}},
		Protection: strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: 2_000_000}}}
	return []reconcile.Record{
		{Kind: reconcile.RecordBoot, AtMS: 1, Epoch: 36},
		{Kind: reconcile.RecordConfig, AtMS: 1, Hash: "abc"},
		{Kind: reconcile.RecordPlan, AtMS: 2, Strategy: "one", Symbol: bitcoin, Plan: &plan},
		{Kind: reconcile.RecordMemory, AtMS: 2, Strategy: "one", Memory: []strategy.MemoryEntry{{Key: "begin_ms", Value: 5}}},
		{Kind: reconcile.RecordResolved, AtMS: 3, Strategy: "one", Symbol: bitcoin, Target: plan.Target, Resolved: -7},
		{Kind: reconcile.RecordSending, AtMS: 4, Strategy: "one", Symbol: bitcoin, ClientOrderID: "bmain-1-1", Order: &order, Purpose: reconcile.StopLoss,
			DeadlineMS: 9, Before: -7, Reserved: exchange.MustAmount("12.000000000000000001")},
		{Kind: reconcile.RecordAcknowledged, AtMS: 5, ClientOrderID: "bmain-1-1", OrderID: 77},
		{Kind: reconcile.RecordUnknown, AtMS: 5, ClientOrderID: "bmain-1-1", Why: "timeout"},
		{Kind: reconcile.RecordFill, AtMS: 6, ClientOrderID: "bmain-1-1", Filled: 3, Price: exchange.AmountOf(48_999)},
		{Kind: reconcile.RecordEnded, AtMS: 7, ClientOrderID: "bmain-1-1", State: reconcile.Filled, Filled: 7, Evidence: "fetched FILLED"},
		{Kind: reconcile.RecordRefused, AtMS: 7, ClientOrderID: "bmain-1-2", Why: "no", Code: 2003},
		{Kind: reconcile.RecordQuarantined, AtMS: 8, Symbol: bitcoin, Why: "why"},
		{Kind: reconcile.RecordAdopted, AtMS: 8, Symbol: bitcoin, Filled: -2, Evidence: "by hand"},
		{Kind: reconcile.RecordLatch, AtMS: 8, Strategy: "one", Latch: -1},
		{Kind: reconcile.RecordDay, AtMS: 9, DayMS: 8, Equity: exchange.AmountOf(5), Peak: exchange.AmountOf(6)},
		{Kind: reconcile.RecordHalt, AtMS: 9, Level: "pause", Why: "why"},
		{Kind: reconcile.RecordBaseline, AtMS: 9, Symbol: bitcoin, Filled: 100},
		{Kind: reconcile.RecordFees, AtMS: 9, Symbol: bitcoin, Filled: 1},
	}
}

// sending is the record of a placement.
func sending(n int) reconcile.Record {
	id := reconcile.ClientOrderID("main", 36, int64(n))
	order := exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: 1, ClientOrderID: id}
	return reconcile.Record{Kind: reconcile.RecordSending, AtMS: int64(n), Strategy: "one", Symbol: bitcoin, ClientOrderID: id, Order: &order, Purpose: reconcile.Entry}
}

// Run runs the whole suite; newStore makes an empty store.
func Run(t *testing.T, newStore func(t *testing.T) *Store) {
	for _, one := range []struct {
		name string
		test func(t *testing.T, s *Store)
	}{
		{"every kind of record comes back as it was", everyKindComesBack},
		{"what was appended survives a crash", survivesCrash},
		{"a full disk leaves nothing and order holds", orderUnderFailure},
		{"a torn append ends the journal and is all or nothing", tornAppend},
		{"a batch is all or none", allOrNone},
		{"an altered record is found", alteredRecord},
		{"an altered row is found with its place", alteredRow},
		{"an altered balance is found", alteredBalance},
		{"an entry of the ledger that does not follow is found", wrongEntry},
		{"derived rows belong to the transaction of their record", rowsInTransaction},
		{"a journal belongs to one account", bound},
		{"a journal has one writer", oneWriter},
		{"epochs only grow", epochsGrow},
		{"epochs grow after a restored backup", epochsAfterBackup},
		{"a reader beside the writer sees whole batches", readerBesideWriter},
		{"big records and many", bigRecords},
		{"records are chosen by kind, symbol, strategy and time", chosen},
		{"a closed journal takes nothing", closed},
	} {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			one.test(t, newStore(t))
		})
	}
}

func must[T any](t *testing.T) func(T, error) T {
	t.Helper()
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func (s *Store) open(t *testing.T) Journal {
	t.Helper()
	j := must[Journal](t)(s.Open(Bound))
	t.Cleanup(func() { j.Close() })
	return j
}

func add(t *testing.T, j Journal, records ...reconcile.Record) {
	t.Helper()
	if err := j.Append(t.Context(), records); err != nil {
		t.Fatal(err)
	}
}

func all(t *testing.T, j Journal) (records []reconcile.Record) {
	t.Helper()
	if err := j.Replay(t.Context(), func(r *reconcile.Record) error { records = append(records, *r); return nil }); err != nil {
		t.Fatal(err)
	}
	return records
}

func compare(t *testing.T, want, have []reconcile.Record) {
	t.Helper()
	if len(want) != len(have) {
		t.Fatalf("want %d records, have %d", len(want), len(have))
	}
	for i := range want {
		if !reflect.DeepEqual(want[i], have[i]) {
			t.Errorf("record %d, %s:\nwant %+v\nhave %+v", i+1, want[i].Kind, want[i], have[i])
		}
	}
}

func sound(t *testing.T, j Journal, records int) journal.Report {
	t.Helper()
	report := must[journal.Report](t)(j.Verify(t.Context()))
	if len(report.Problems) > 0 || report.Records != records {
		t.Fatalf("want %d records and no problem, have %+v", records, report)
	}
	return report
}

func everyKindComesBack(t *testing.T, s *Store) {
	j := s.open(t)
	want := EveryKind()
	for i := range want { // one append each: the order must hold across transactions
		add(t, j, want[i])
	}
	compare(t, want, all(t, j))
	before := sound(t, j, len(want))
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j = s.open(t)
	compare(t, want, all(t, j))
	if after := sound(t, j, len(want)); after.Hash != before.Hash || after.Hash == "" {
		t.Errorf("the last hash: want %s, have %s", before.Hash, after.Hash)
	}
}

func survivesCrash(t *testing.T, s *Store) {
	want := EveryKind()
	for i := range want {
		j := must[Journal](t)(s.Open(Bound))
		add(t, j, want[i]) // durable before it returns: a kill may come right after
		s.Crash()
	}
	j := s.open(t)
	compare(t, want, all(t, j))
	sound(t, j, len(want))
}

func orderUnderFailure(t *testing.T, s *Store) {
	j := s.open(t)
	add(t, j, sending(1))
	s.Full(true)
	for i := range 3 {
		err := j.Append(t.Context(), []reconcile.Record{sending(2), sending(3)})
		if !errors.Is(err, journal.ErrFull) {
			t.Fatalf("try %d on a full disk: want %v, have %v", i+1, journal.ErrFull, err)
		}
		if broken(err) {
			t.Fatal("a full disk is tried again: it does not break the journal")
		}
	}
	if have := len(all(t, j)); have != 1 {
		t.Fatalf("a failed append left records: want 1, have %d", have)
	}
	s.Full(false)
	add(t, j, sending(2), sending(3))
	add(t, j, sending(4))
	compare(t, []reconcile.Record{sending(1), sending(2), sending(3), sending(4)}, all(t, j))
	sound(t, j, 4)
}

func broken(err error) bool {
	var b interface{ Broken() bool }
	return errors.As(err, &b) && b.Broken()
}

func tornAppend(t *testing.T, s *Store) {
	j := s.open(t)
	add(t, j, sending(1))
	s.Tear()
	err := j.Append(t.Context(), []reconcile.Record{sending(2), sending(3)})
	if !errors.Is(err, journal.ErrBroken) || !broken(err) {
		t.Fatalf("want %v, which asks for the process to end, have %v", journal.ErrBroken, err)
	}
	if err := j.Append(t.Context(), []reconcile.Record{sending(4)}); !errors.Is(err, journal.ErrBroken) {
		t.Fatalf("nothing more is taken: want %v, have %v", journal.ErrBroken, err)
	}
	s.Crash()
	j = s.open(t)
	records := all(t, j)
	if len(records) != 1 && len(records) != 3 {
		t.Fatalf("want the torn batch there or not, have %d records", len(records))
	}
	sound(t, j, len(records))
	add(t, j, sending(5))
	sound(t, j, len(records)+1)
}

func allOrNone(t *testing.T, s *Store) {
	j := s.open(t)
	add(t, j, sending(1), sending(2))
	if err := j.Append(t.Context(), []reconcile.Record{sending(3), sending(2)}); err == nil {
		t.Fatal("a client order id was journalled twice")
	}
	compare(t, []reconcile.Record{sending(1), sending(2)}, all(t, j))
	add(t, j, sending(3))
	sound(t, j, 3)
}

func alteredRecord(t *testing.T, s *Store) {
	j := s.open(t)
	add(t, j, EveryKind()...)
	s.Alter(8)
	report := must[journal.Report](t)(j.Verify(t.Context()))
	if len(report.Problems) != 1 || report.Problems[0].Table != "record" || report.Problems[0].Key != "8" {
		t.Errorf("want record 8 found, have %+v", report.Problems)
	}
	err := j.Replay(t.Context(), func(*reconcile.Record) error { return nil })
	var altered *journal.AlteredError
	if !errors.As(err, &altered) || altered.Sequence != 8 {
		t.Errorf("replay: want an error that names record 8, have %v", err)
	}
}

func alteredRow(t *testing.T, s *Store) {
	j := s.open(t)
	add(t, j, EveryKind()...)
	sound(t, j, len(EveryKind()))
	s.AlterRow("bmain-1-1", "absent")
	report := must[journal.Report](t)(j.Verify(t.Context()))
	if len(report.Problems) != 1 {
		t.Fatalf("want one problem, have %+v", report.Problems)
	}
	if p := report.Problems[0]; p.Table != "placement" || p.Key != "bmain-1-1" || !strings.Contains(p.Want, "state=filled") || !strings.Contains(p.Have, "state=absent") {
		t.Errorf("want the placement found with both states, have %s", p)
	}
}

func alteredBalance(t *testing.T, s *Store) {
	j := s.open(t)
	add(t, j, Entry(10_000))
	if report := sound(t, j, 1); report.Entries != 1 || report.Rows != 2 {
		t.Errorf("want an entry and two balances, have %+v", report)
	}
	s.AlterSum("transferred", "-9999")
	report := must[journal.Report](t)(j.Verify(t.Context()))
	if len(report.Problems) != 1 || report.Problems[0].Table != "balance" || !strings.Contains(report.Problems[0].Want, "-10000 ") || !strings.Contains(report.Problems[0].Have, "-9999 ") {
		t.Errorf("want the balance found with both amounts, have %+v", report.Problems)
	}
}

// wrongEntry: an entry whose lines do not sum to zero, one that is not what its
// reading leads to, and a record that no start could apply.
func wrongEntry(t *testing.T, s *Store) {
	j := s.open(t)
	lame, other := Entry(10_000), Entry(10_000)
	lame.Entry.Lines = lame.Entry.Lines[:1]
	other.Entry.Lines[0].Account = reconcile.Fees
	add(t, j, lame, other, reconcile.Record{Kind: reconcile.RecordFound})
	report := must[journal.Report](t)(j.Verify(t.Context()))
	var places []string
	for _, p := range report.Problems {
		places = append(places, p.Table+" "+p.Key)
	}
	if want := []string{"ledger 1", "ledger 1", "ledger 2", "record 3"}; !reflect.DeepEqual(want, places) {
		t.Errorf("want problems at %v, have %v", want, report.Problems)
	}
}

func rowsInTransaction(t *testing.T, s *Store) {
	j := s.open(t)
	add(t, j, sending(1))
	ended := reconcile.Record{Kind: reconcile.RecordEnded, AtMS: 9, ClientOrderID: sending(1).ClientOrderID, State: reconcile.Filled, Filled: 1}
	if err := j.Append(t.Context(), []reconcile.Record{ended, sending(1)}); err == nil {
		t.Fatal("a client order id was journalled twice")
	}
	if report := sound(t, j, 1); report.Rows != 1 {
		t.Errorf("want the one row there was, have %d", report.Rows)
	}
	s.Full(true)
	if err := j.Append(t.Context(), []reconcile.Record{ended}); err == nil {
		t.Fatal("appended to a full disk")
	}
	sound(t, j, 1)
	s.Full(false)
	add(t, j, ended)
	sound(t, j, 2)
}

func bound(t *testing.T, s *Store) {
	s.open(t).Close()
	for field, other := range map[string]journal.Binding{
		"mode":            {Mode: "live", URL: Bound.URL, KeyFingerprint: Bound.KeyFingerprint, Instance: Bound.Instance},
		"exchange":        {Mode: Bound.Mode, URL: "https://elsewhere", KeyFingerprint: Bound.KeyFingerprint, Instance: Bound.Instance},
		"key fingerprint": {Mode: Bound.Mode, URL: Bound.URL, KeyFingerprint: "g", Instance: Bound.Instance},
		"instance":        {Mode: Bound.Mode, URL: Bound.URL, KeyFingerprint: Bound.KeyFingerprint, Instance: "second"},
	} {
		_, err := s.Open(other)
		var wrong *journal.BindingError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), field+" ") || !strings.Contains(err.Error(), "hint: ") {
			t.Errorf("another %s: want a BindingError that names it, with a hint, have %v", field, err)
		}
	}
	s.open(t)
}

func oneWriter(t *testing.T, s *Store) {
	first := s.open(t)
	if _, err := s.Open(Bound); !errors.Is(err, journal.ErrLocked) {
		t.Fatalf("a second writer: want %v, have %v", journal.ErrLocked, err)
	}
	add(t, first, sending(1))
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	add(t, s.open(t), sending(2))
}

func boot(epoch int64) reconcile.Record {
	return reconcile.Record{Kind: reconcile.RecordBoot, Epoch: epoch}
}

func epochsGrow(t *testing.T, s *Store) {
	j := s.open(t)
	add(t, j, boot(7), boot(9))
	j.Close()
	j = s.open(t)
	for _, epoch := range []int64{0, 7, 9} {
		if err := j.Append(t.Context(), []reconcile.Record{boot(epoch)}); !errors.Is(err, journal.ErrEpoch) {
			t.Errorf("epoch %d after 9: want %v, have %v", epoch, journal.ErrEpoch, err)
		}
	}
	if err := j.Append(t.Context(), []reconcile.Record{boot(10), boot(10)}); !errors.Is(err, journal.ErrEpoch) {
		t.Errorf("one epoch twice in a batch: want %v, have %v", journal.ErrEpoch, err)
	}
	add(t, j, boot(10))
	sound(t, j, 3)
}

// epochsAfterBackup: the epoch a start takes is max(journalled + 1, now), so ids
// made after the backup are not made again though the journal forgot them.
func epochsAfterBackup(t *testing.T, s *Store) {
	if s.Backup == nil {
		t.Skip("this store can not be put back to an earlier state by the suite")
	}
	j := s.open(t)
	add(t, j, boot(1_000))
	j.Close()
	restore := s.Backup()
	j = s.open(t)
	add(t, j, boot(2_000))
	j.Close()
	restore()
	j = s.open(t)
	book := reconcile.NewBook(reconcile.Settle{})
	for _, r := range all(t, j) {
		book.Apply(&r)
	}
	if book.Epoch() != 1_000 {
		t.Fatalf("want the backup's epoch, have %d", book.Epoch())
	}
	const nowS = 3_000
	if next := max(book.Epoch()+1, nowS); next <= 2_000 {
		t.Fatalf("epoch %d was used after the backup", next)
	}
	add(t, j, boot(nowS))
	sound(t, j, 2)
}

func readerBesideWriter(t *testing.T, s *Store) {
	j := s.open(t)
	add(t, j, sending(1), sending(2))
	reader := must[Journal](t)(s.Read())
	defer reader.Close()
	if err := reader.Append(t.Context(), []reconcile.Record{sending(99)}); err == nil {
		t.Error("a journal open for reading was written")
	}
	const batches = 60
	var writing sync.WaitGroup
	writing.Go(func() {
		for i := range batches {
			if err := j.Append(t.Context(), []reconcile.Record{sending(3 + 2*i), sending(4 + 2*i)}); err != nil {
				t.Error(err)
			}
		}
	})
	for before := 0; before < 2+2*batches; {
		report := must[journal.Report](t)(reader.Verify(t.Context()))
		if len(report.Problems) > 0 || report.Records%2 != 0 || report.Records < before || report.Rows != report.Records {
			t.Fatalf("want whole batches, each with its rows, have %+v", report)
		}
		before = report.Records
	}
	writing.Wait()
	compare(t, all(t, j), all(t, reader))
}

func bigRecords(t *testing.T, s *Store) {
	j := s.open(t)
	big := reconcile.Record{Kind: reconcile.RecordQuarantined, AtMS: 1, Symbol: bitcoin, Why: strings.Repeat("é\x00\"\\\n", 200_000)}
	want := []reconcile.Record{big}
	for i := range 2_000 {
		want = append(want, sending(i))
	}
	add(t, j, want...)
	compare(t, want, all(t, j))
	sound(t, j, len(want))
}

func chosen(t *testing.T, s *Store) {
	j := s.open(t)
	records := firstKinds()
	add(t, j, records...)
	for name, c := range map[string]struct {
		filter journal.Filter
		want   []int64
	}{
		"all after 15":      {journal.Filter{After: 15}, []int64{16, 17, 18}},
		"the last two":      {journal.Filter{Last: 2}, []int64{17, 18}},
		"by kind":           {journal.Filter{Kinds: []reconcile.RecordKind{reconcile.RecordFill, reconcile.RecordBoot}}, []int64{1, 9}},
		"by symbol":         {journal.Filter{Symbol: "BTC-USDT", After: 11}, []int64{12, 13, 17, 18}},
		"by strategy":       {journal.Filter{Strategy: "one", SinceMS: 4}, []int64{6, 14}},
		"the last of those": {journal.Filter{Strategy: "one", Last: 1}, []int64{14}},
		"nothing":           {journal.Filter{Symbol: "ETH-USDT"}, nil},
	} {
		var have []int64
		if err := j.Select(t.Context(), c.filter, func(r *journal.Stored) error {
			have = append(have, r.Sequence)
			if !reflect.DeepEqual(r.Record, records[r.Sequence-1]) || r.Hash == "" {
				return fmt.Errorf("record %d is another: %+v", r.Sequence, r)
			}
			return nil
		}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !reflect.DeepEqual(c.want, have) {
			t.Errorf("%s: want records %v, have %v", name, c.want, have)
		}
	}
}

func closed(t *testing.T, s *Store) {
	j := s.open(t)
	add(t, j, sending(1))
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if err := j.Append(t.Context(), []reconcile.Record{sending(2)}); err == nil {
		t.Error("a closed journal took a record")
	}
	if err := j.Close(); err != nil {
		t.Errorf("closing twice: %v", err)
	}
	compare(t, []reconcile.Record{sending(1)}, all(t, s.open(t)))
}
