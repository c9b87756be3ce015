package journal_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/journal"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// trader writes records as a trading daemon does, in batches: orders from sending to end.
type trader struct {
	t       testing.TB
	j       *journal.Journal
	tracker *reconcile.Tracker
	n       int64 // orders
	at      int64
}

func newTrader(t testing.TB, j *journal.Journal) *trader {
	m := &trader{t: t, j: j, tracker: reconcile.NewTracker(placement.Bounds{}), at: 1_000_000}
	m.add(record.Record{Body: record.Boot{Epoch: 1_000, Account: binding.Text(), Random: "abcde"}})
	return m
}

// add applies and appends records as one batch.
func (m *trader) add(records ...record.Record) {
	for i := range records {
		m.at++
		records[i].AtMS = m.at
		m.tracker.Apply(&records[i])
	}
	if err := m.j.Append(m.t.Context(), records); err != nil {
		m.t.Fatal(err)
	}
}

// orders adds complete lives of orders, four records each.
func (m *trader) orders(count int) {
	key := exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}
	var records []record.Record
	for range count {
		m.n++
		side := exchange.Buy
		if m.n%2 == 0 {
			side = exchange.Sell
		}
		id := placement.ClientOrderID("main", m.tracker.Start(), m.n)
		order := exchange.NewOrder{Market: key.Market, Symbol: key.Name, Side: side, Type: exchange.MarketOrder, Quantity: 3, ClientOrderID: id}
		about := record.Record{Strategy: "one", Symbol: key, ClientOrderID: id}
		for _, body := range []record.Body{
			record.Sending{Order: order, Purpose: placement.Entry, DeadlineMS: m.at + 5_000}, record.Acknowledged{OrderID: m.n},
			record.Fill{OrderID: m.n, Filled: 3}, record.Ended{OrderID: m.n, State: placement.Filled, Filled: 3, Evidence: "fetched FILLED"},
		} {
			about.Body = body
			records = append(records, about)
		}
	}
	m.add(records...)
}

func (m *trader) checkpoint() {
	m.add(record.Record{Body: m.tracker.Checkpoint(binding.Text())})
}

// started returns the tracker that a start derives from the journal, and the number of records that the start read.
func started(t testing.TB, j *journal.Journal) (tracker *reconcile.Tracker, read int) {
	t.Helper()
	tracker = reconcile.NewTracker(placement.Bounds{})
	take := func(r *record.Record) error { read++; tracker.Apply(r); return nil }
	checkpoint, err := j.Checkpoint(t.Context())
	if err == nil && checkpoint == nil {
		err = j.Replay(t.Context(), take)
	} else if err == nil {
		if tracker, err = reconcile.Restore(placement.Bounds{}, &checkpoint.Checkpoint); err == nil {
			err = j.ReplayAfter(t.Context(), checkpoint, take)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return tracker, read
}

func TestStartReadsNewestCheckpointAndLaterRecords(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: ten thousand records take minutes under the race detector, and one goroutine writes and reads them")
	}
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.db")
	j := open(t, path)
	m := newTrader(t, j)
	m.orders(100)
	m.checkpoint()
	m.orders(journal.FewRecords / 4)
	m.checkpoint()
	m.orders(25)
	must(t, j.Close())
	j = open(t, path)
	tracker, read := started(t, j)
	if read != 100 {
		t.Errorf("want the 100 records after the newest checkpoint read, have %d", read)
	}
	if !bytes.Equal(m.tracker.Snapshot(), tracker.Snapshot()) {
		t.Error("want the state of the whole, have another")
	}
	report, err := j.Verify(t.Context())
	if err != nil || len(report.Problems) > 0 {
		t.Errorf("want both checkpoints proved, have %+v, %v", report, err)
	}
	text := filepath.Join(t.TempDir(), "copy.db") // a backup contains the checkpoints, too
	_, err = j.Backup(t.Context(), text)
	must(t, err)
}

func TestACheckpointThatTheRecordsDoNotMakeIsFound(t *testing.T) {
	t.Parallel()
	j := open(t, filepath.Join(t.TempDir(), "journal.db"))
	m := newTrader(t, j)
	m.orders(10)
	wrong := m.tracker.Checkpoint(binding.Text())
	m.orders(1)
	must(t, j.Append(t.Context(), []record.Record{{AtMS: m.at, Body: wrong}}))
	report, err := j.Verify(t.Context())
	if err != nil || len(report.Problems) != 1 || report.Problems[0].Table != "checkpoint" {
		t.Errorf("want the checkpoint found wrong, have %+v, %v", report, err)
	}
}

// The missing state is replaced by that of the next checkpoint, and later ones must follow from it.
func TestCheckpointIsVerifiedAfterMissingRecords(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.db")
	j := open(t, path)
	m := longJournal(t, j)
	sealAll(t, j, small)
	wrong := m.tracker.Checkpoint(binding.Text())
	m.orders(1)
	must(t, os.RemoveAll(journal.SegmentsPath(path)))
	soundReport(t, j)
	must(t, j.Append(t.Context(), []record.Record{{AtMS: m.at, Body: wrong}}))
	report, err := j.Verify(t.Context())
	if err != nil || len(report.Missing) != 1 || len(report.Problems) != 1 || report.Problems[0].Table != "checkpoint" {
		t.Errorf("want the checkpoint found wrong, have %+v, %v", report, err)
	}
}

// TestReadingASymbolDoesNotChangeState reads a symbol without records, as a read of the account does. The
// checkpoint must still equal the state derived from the records, for verify and for a backup.
func TestReadingASymbolDoesNotChangeState(t *testing.T) {
	t.Parallel()
	j := open(t, filepath.Join(t.TempDir(), "journal.db"))
	m := newTrader(t, j)
	m.orders(10)
	m.tracker.Symbol(exchange.SymbolKey{Market: exchange.Spot, Name: "PEPE-USDT"})
	m.checkpoint()
	m.orders(1)
	soundReport(t, j)
	_, err := j.Backup(t.Context(), filepath.Join(t.TempDir(), "copy.db"))
	must(t, err)
}

// BenchmarkStart measures a start with and without a checkpoint, on a journal of BOTD_RECORDS records
// (10,000) that is written first.
func BenchmarkStart(b *testing.B) {
	count := 10_000
	if text := os.Getenv("BOTD_RECORDS"); text != "" {
		var err error
		if count, err = strconv.Atoi(text); err != nil {
			b.Fatal(err)
		}
	}
	path := filepath.Join(b.TempDir(), "journal.db")
	j, err := journal.Open(b.Context(), path, binding, journal.Options{})
	if err != nil {
		b.Fatal(err)
	}
	m := newTrader(b, j)
	for written := 0; written < count; written += 4_000 {
		m.orders(1_000)
		if written%journal.CheckpointEvery == 0 {
			m.checkpoint()
		}
	}
	if err := j.Close(); err != nil {
		b.Fatal(err)
	}
	for _, whole := range []bool{false, true} {
		b.Run(fmt.Sprintf("records=%d/whole=%t", count, whole), func(b *testing.B) {
			for b.Loop() {
				j, err := journal.Open(b.Context(), path, binding, journal.Options{})
				if err != nil {
					b.Fatal(err)
				}
				if whole {
					tracker := reconcile.NewTracker(placement.Bounds{})
					err = j.Replay(b.Context(), func(r *record.Record) error { tracker.Apply(r); return nil })
				} else {
					started(b, j)
				}
				if err != nil || j.Close() != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
