package journal_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"botd/exchange"
	"botd/internal/disk/sqlitefault"
	"botd/reconcile/journal"
	"botd/reconcile/ledger"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// small seals all records, in segments of at least a hundred.
var small = journal.SealOptions{Records: 100}

// longJournal returns a journal with four checkpoints, and records before, between and after them.
func longJournal(t *testing.T, j *journal.Journal) *trader {
	t.Helper()
	m := newTrader(t, j)
	for i := range 4 {
		m.orders(30)
		m.open(2)
		m.wallet(int64(1_000 + i))
		m.checkpoint()
	}
	m.orders(5)
	return m
}

// open adds orders that do not end.
func (m *trader) open(count int) {
	key := exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}
	for range count {
		m.n++
		id := placement.ClientOrderID("main", m.tracker.Start(), m.n)
		order := exchange.NewOrder{
			Market:        key.Market,
			Symbol:        key.Name,
			Side:          exchange.Buy,
			Type:          exchange.MarketOrder,
			Quantity:      3,
			ClientOrderID: id,
		}
		m.add(record.Record{Strategy: "one", Symbol: key, ClientOrderID: id,
			Body: record.Sending{Order: order, Purpose: placement.Entry, DeadlineMS: m.at + 5_000}})
	}
}

// wallet adds a read of the wallet, and the deposit that it shows.
func (m *trader) wallet(usdt int64) {
	reading := ledger.Reading{AtMS: m.at, Market: exchange.Futures, Wallet: []ledger.Asset{{Name: "USDT", Amount: exchange.AmountOf(usdt)}}}
	m.add(record.Record{Body: record.Posting{Posting: ledger.Posting{Reading: reading, Lines: m.tracker.Ledger().Lines(&reading)}}})
}

// again returns the trader of the next start.
func again(t *testing.T, j *journal.Journal) *trader {
	t.Helper()
	m := &trader{t: t, j: j, at: 2_000_000}
	m.tracker, _ = started(t, j)
	m.add(record.Record{Body: record.Boot{Epoch: 2_000, Account: binding.Text(), Random: "bcdef"}})
	return m
}

// sealAll seals until nothing is left to seal.
func sealAll(t *testing.T, j *journal.Journal, options journal.SealOptions) (all []journal.Sealed) {
	t.Helper()
	for {
		sealed, err := j.Seal(t.Context(), options)
		must(t, err)
		if sealed == nil {
			return all
		}
		all = append(all, *sealed)
	}
}

func selected(t *testing.T, j *journal.Journal, filter journal.Filter) (found []journal.Stored) {
	t.Helper()
	must(t, j.Select(t.Context(), filter, func(s *journal.Stored) error { found = append(found, *s); return nil }))
	return found
}

func soundReport(t *testing.T, j *journal.Journal) journal.Report {
	t.Helper()
	report, err := j.Verify(t.Context())
	must(t, err)
	if len(report.Problems) > 0 {
		t.Fatalf("want no problem, have %+v", report.Problems)
	}
	return report
}

func TestASealedJournalReadsAsItDidBefore(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]*journal.Key{"plain": nil, "keyed": key} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "journal.db")
			j, err := openKeyed(t, path, key)
			must(t, err)
			m := longJournal(t, j)
			filters := []journal.Filter{{}, {Last: 3}, {Last: 300}, {After: 90, Kinds: []record.Kind{record.KindEnded}}, {Strategy: "one", Last: 200},
				{SinceMS: 1_000_000 + 200}, {Kinds: []record.Kind{record.KindBoot}}}
			var before [][]journal.Stored
			for _, filter := range filters {
				before = append(before, selected(t, j, filter))
			}
			head := soundReport(t, j)
			if sealed := sealAll(t, j, small); len(sealed) != 4 || sealed[3].Last <= 480 {
				t.Fatalf("want four segments up to the newest checkpoint, have %+v", sealed)
			}
			for range 2 {
				for i, filter := range filters {
					if have := selected(t, j, filter); !reflect.DeepEqual(before[i], have) {
						t.Errorf("%+v: want the %d records as before, have %d", filter, len(before[i]), len(have))
					}
				}
				report := soundReport(t, j)
				if report.Records != head.Records || report.Hash != head.Hash || report.Segments != 4 || len(report.Missing) > 0 {
					t.Errorf("want all %d records verified, have %+v", head.Records, report)
				}
				for hash, want := range map[string]bool{before[0][10].Hash: true, strings.Repeat("0", 64): false} {
					if there, err := j.Has(t.Context(), hash); err != nil || there != want {
						t.Errorf("hash %s of a sealed record: want it found %t, have %t, %v", hash, want, there, err)
					}
				}
				must(t, j.Close())
				j, err = openKeyed(t, path, key)
				must(t, err)
			}
			m.j = j
			tracker, _ := started(t, j)
			if !bytes.Equal(m.tracker.Snapshot(), tracker.Snapshot()) {
				t.Error("want a start that knows the same state, have another")
			}
			m.orders(3)
			soundReport(t, j)
			must(t, j.Close())
		})
	}
}

// TestAYearOfOrdersHasDocumentedSize seals a journal, and computes from the bytes per record the size of a year at the soak's rate.
// docs/operations.md states 64 GB, at 5.5 records an order and 5.3 orders a second.
func TestAYearOfOrdersHasDocumentedSize(t *testing.T) {
	t.Parallel()
	j := open(t, filepath.Join(t.TempDir(), "journal.db"))
	m := newTrader(t, j)
	for range 4 {
		m.orders(120)
		m.checkpoint()
	}
	records, size := int64(0), int64(0)
	for _, one := range sealAll(t, j, journal.SealOptions{Records: 1_000}) {
		records, size = records+one.Last-one.First+1, size+one.Bytes
	}
	const year, orders, each = 365 * 24 * 3600, 5.3, 5.5
	if taken := float64(size) / float64(records) * each * orders * year; records < 1_000 || taken > 64e9 {
		t.Errorf("%d records in %d bytes: %.0f bytes a year, want 64 GB at most", records, size, taken)
	}
}

// TestSegmentsMayBeRemoved removes segments from the beginning, from the middle, and all of them.
func TestSegmentsMayBeRemoved(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.db")
	j := open(t, path)
	m := longJournal(t, j)
	sealed := sealAll(t, j, small)
	elsewhere := t.TempDir()
	move := func(i int) {
		must(t, os.Rename(sealed[i].File, filepath.Join(elsewhere, filepath.Base(sealed[i].File))))
	}
	compare := func(want ...journal.Span) {
		t.Helper()
		if report := soundReport(t, j); !reflect.DeepEqual(want, report.Missing) {
			t.Errorf("want %v missing, have %v", want, report.Missing)
		}
	}
	move(1)
	compare(sealed[1].Span)
	if have := selected(t, j, journal.Filter{Last: 10_000}); have[0].Sequence != sealed[2].First {
		t.Errorf("want the records since what is missing, have them from %d on", have[0].Sequence)
	}
	move(0)
	compare(journal.Span{First: 1, Last: sealed[1].Last})
	move(2)
	move(3)
	compare(journal.Span{First: 1, Last: sealed[3].Last})
	var missing *journal.MissingError
	if err := j.Replay(t.Context(), func(*record.Record) error { return nil }); !errors.As(err, &missing) || missing.First != 1 {
		t.Errorf("want a replay of all to say what is missing, have %v", err)
	}
	must(t, j.Close())
	j = open(t, path) // a start needs none of them
	if tracker, read := started(t, j); read > 60 || !bytes.Equal(m.tracker.Snapshot(), tracker.Snapshot()) {
		t.Errorf("want the same state from the newest checkpoint, have another from %d records", read)
	}
	err := j.Append(t.Context(), []record.Record{{Body: record.Boot{Epoch: 1_000, Account: binding.Text()}}})
	if !errors.Is(err, journal.ErrEpoch) {
		t.Errorf("want the epoch of a start whose record is sealed refused, have %v", err)
	}
	reader, err := journal.Read(t.Context(), path)
	must(t, err)
	defer reader.Close()
	reader.Segments(elsewhere)
	if report := soundReport(t, reader); len(report.Missing) > 0 || report.Segments != 4 {
		t.Errorf("want all verified where the segments are now, have %+v", report)
	}
}

func TestDamagedSegmentsAreFound(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(f *files, sealed []journal.Sealed){
		"cut": func(f *files, sealed []journal.Sealed) { must(f.t, os.Truncate(sealed[1].File, sealed[1].Bytes/2)) },
		"another's content": func(f *files, sealed []journal.Sealed) {
			text, err := os.ReadFile(sealed[2].File)
			must(f.t, err)
			must(f.t, os.WriteFile(sealed[1].File, text, 0o600))
		},
		"a byte": func(f *files, sealed []journal.Sealed) {
			text, err := os.ReadFile(sealed[0].File)
			must(f.t, err)
			text[len(text)/2] ^= 1
			must(f.t, os.WriteFile(sealed[0].File, text, 0o600))
		},
		"an altered summary of sealed records": func(f *files, _ []journal.Sealed) {
			f.exec(`UPDATE meta SET value = replace(value, '"purpose":"entry"', '"purpose":"exit"') WHERE name = 'sealed'`)
		},
		"where the file begins": func(f *files, sealed []journal.Sealed) {
			f.exec(`UPDATE meta SET value = replace(value, '"hash":"', '"hash":"0') WHERE name = 'sealed'`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "journal.db")
			j := open(t, path)
			longJournal(t, j)
			sealed := sealAll(t, j, small)
			must(t, j.Close())
			spoil(&files{t, path}, sealed)
			j, err := journal.Read(t.Context(), path)
			must(t, err)
			defer j.Close()
			report, err := j.Verify(t.Context())
			if err != nil || len(report.Problems) == 0 {
				t.Errorf("want it found, have %+v, %v", report, err)
			}
			if want := []journal.Span{{First: 1, Last: sealed[3].Last}}; name == "another's content" && !reflect.DeepEqual(report.Missing, want) {
				t.Errorf("want what could not be read counted as missing, have %v", report.Missing)
			}
			for what, reads := range map[string]func() error{
				"replay": func() error { return j.Replay(t.Context(), func(*record.Record) error { return nil }) },
				"select": func() error {
					return j.Select(t.Context(), journal.Filter{}, func(*journal.Stored) error { return nil })
				},
			} {
				if err := reads(); err == nil && name != "an altered summary of sealed records" { // no record is read from it
					t.Errorf("%s: want an error", what)
				}
			}
		})
	}
}

func TestSegmentsRaiseSchemaVersion(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.db")
	j := open(t, path)
	if j.Schema() != 5 {
		t.Errorf("a new journal: want schema 5, have %d", j.Schema())
	}
	longJournal(t, j)
	for _, want := range []int{5, 6} {
		if reader, err := journal.Read(t.Context(), path); err != nil || reader.Schema() != want {
			t.Errorf("want schema %d, have %d, %v", want, reader.Schema(), err)
		} else {
			must(t, reader.Close())
		}
		sealAll(t, j, small)
	}
	if sealed, err := j.Seal(t.Context(), journal.SealOptions{Keep: 1 << 30, Records: 1}); err != nil || sealed != nil {
		t.Errorf("want nothing sealed below the size that is kept, have %+v, %v", sealed, err)
	}
}

// The segment is written, read back and named; then the base moves, and then the records are deleted, 500 at a time.
func TestASegmentIsDurableBeforeItsRecordsLeave(t *testing.T) {
	t.Parallel()
	j := open(t, filepath.Join(t.TempDir(), "journal.db"))
	m := newTrader(t, j)
	m.orders(150)
	m.checkpoint()
	var steps []string
	options := journal.SealOptions{Records: 100, Step: func(step string) { steps = append(steps, step) }}
	sealed, err := j.Seal(t.Context(), options)
	must(t, err)
	if have := strings.Join(steps, " "); have != "written checked named sealed deleted deleted" {
		t.Errorf("have the steps %s", have)
	}
	info, err := os.Stat(sealed.File)
	must(t, err)
	if sealed.First != 1 || sealed.Last != 601 || sealed.Bytes != info.Size() || filepath.Dir(sealed.File) != journal.SegmentsPath(filepath.Join(
		filepath.Dir(filepath.Dir(sealed.File)), "journal.db")) {
		t.Errorf("want records 1 to 601, have %+v of %d bytes", sealed, info.Size())
	}
	if steps = nil; len(sealAll(t, j, options)) != 0 || len(steps) != 0 {
		t.Errorf("again: want nothing done, have %v", steps)
	}
	if few, err := j.Seal(t.Context(), journal.SealOptions{}); err != nil || few != nil { // the default is 10,000 records
		t.Errorf("want nothing sealed of few records, have %+v, %v", few, err)
	}
}

func TestASealedJournalIsBackedUpAndRestored(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	path, early, late := filepath.Join(directory, "journal.db"), filepath.Join(directory, "early.db"), filepath.Join(directory, "late.db")
	j := open(t, path)
	m := longJournal(t, j)
	_, err := j.Backup(t.Context(), early)
	must(t, err)
	sealAll(t, j, small)
	m.orders(4)
	b, err := j.Backup(t.Context(), late)
	must(t, err)
	if len(b.Missing) != 1 || b.Hash != soundReport(t, j).Hash {
		t.Errorf("want a backup that reports the records in segments, have %+v", b.Report)
	}
	must(t, j.Close())
	for i, name := range []string{late, early} { // segments from after a backup do not fit it
		want := []int{4, 0}[i]
		_, err := journal.Restore(t.Context(), name, path, nil, time.Unix(int64(i), 0))
		must(t, err)
		j := open(t, path)
		if report := soundReport(t, j); report.Segments != want || len(report.Missing) > 0 {
			t.Errorf("%s: want %d segments and none missing, have %+v", filepath.Base(name), want, report)
		}
		must(t, j.Close())
	}
	j = open(t, path)
	other := again(t, j)
	other.orders(80)
	other.checkpoint()
	sealAll(t, j, journal.SealOptions{Records: 400})
	if report := soundReport(t, j); len(report.Missing) > 0 {
		t.Errorf("want the segments of the history that is not any more left out, have %+v", report)
	}
}

func TestAppendsGoOnWhileTheJournalIsSealed(t *testing.T) {
	t.Parallel()
	j := open(t, filepath.Join(t.TempDir(), "journal.db"))
	m := longJournal(t, j)
	var group sync.WaitGroup
	group.Go(func() {
		for range 40 {
			m.orders(2)
		}
		m.checkpoint()
	})
	for range 5 {
		if _, err := j.Seal(t.Context(), small); err != nil {
			t.Error(err)
		}
		soundReport(t, j)
	}
	group.Wait()
	sealAll(t, j, small)
	if tracker, _ := started(t, j); !bytes.Equal(m.tracker.Snapshot(), tracker.Snapshot()) {
		t.Error("want the state of all that was appended, have another")
	}
	soundReport(t, j)
}

func TestFullDiskDelaysSealing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.db")
	j, err := openFaulty(t, path, binding, nil)
	must(t, err)
	defer j.Close()
	m := longJournal(t, j)
	faults := sqlitefault.In(filepath.Dir(path))
	full := small
	full.Step = func(step string) {
		if step == "named" {
			faults.Full(true)
		}
	}
	if _, err := j.Seal(t.Context(), full); !errors.Is(err, journal.ErrFull) {
		t.Errorf("want no room for it, have %v", err)
	}
	faults.Full(false)
	m.orders(1)
	soundReport(t, j)
	if sealed := sealAll(t, j, small); len(sealed) != 4 {
		t.Errorf("want it sealed when there is room again, have %+v", sealed)
	}
	soundReport(t, j)
}

// killVariable names the step after which the child process of the next test is killed.
const killVariable, killPath = "BOTD_TEST_KILL_STEP", "BOTD_TEST_KILL_JOURNAL"

// TestKillWhileSealingKeepsRecords kills a real process after each step of sealing.
func TestKillWhileSealingKeepsRecords(t *testing.T) {
	if step := os.Getenv(killVariable); step != "" {
		sealAndDie(t, step, os.Getenv(killPath))
		return
	}
	t.Parallel()
	for _, step := range []string{"written", "checked", "named", "sealed", "deleted"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "journal.db")
			j := open(t, path)
			m := longJournal(t, j)
			m.orders(700) // more than are deleted in one step
			m.checkpoint()
			before, head := selected(t, j, journal.Filter{}), soundReport(t, j)
			must(t, j.Close())
			child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKillWhileSealingKeepsRecords$")
			child.Env = append(os.Environ(), killVariable+"="+step, killPath+"="+path)
			var killed *exec.ExitError
			if output, err := child.CombinedOutput(); !errors.As(err, &killed) || killed.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
				t.Fatalf("want it killed, have %v: %s", err, output)
			}
			m.j = open(t, path)
			if after := selected(t, m.j, journal.Filter{}); !reflect.DeepEqual(before, after) {
				t.Errorf("want the %d records as they were, have %d", len(before), len(after))
			}
			if report := soundReport(t, m.j); report.Hash != head.Hash || len(report.Missing) > 0 {
				t.Errorf("want the chain whole, have %+v", report)
			}
			m.orders(1)
			sealAll(t, m.j, journal.SealOptions{Records: 1_000}) // continues after the kill
			if report := soundReport(t, m.j); report.Segments != 1 || len(report.Missing) > 0 {
				t.Errorf("want one segment, have %+v", report)
			}
			if left, _ := filepath.Glob(filepath.Join(journal.SegmentsPath(path), "*.partial")); len(left) > 0 {
				t.Errorf("want nothing half-written left, have %s", strings.Join(left, " "))
			}
		})
	}
}

// sealAndDie seals the parent's journal, and is killed after a step.
func sealAndDie(t *testing.T, at, path string) {
	j := open(t, path)
	_, err := j.Seal(t.Context(), journal.SealOptions{Records: 1_000, Step: func(step string) {
		if step == at {
			must(t, syscall.Kill(os.Getpid(), syscall.SIGKILL))
			<-context.Background().Done()
		}
	}})
	t.Fatalf("want to be killed after %s, have %v", at, err)
}

// TestSegmentFormatMatchesDocument reads a segment without botd's own reader.
func TestSegmentFormatMatchesDocument(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("zstd"); err != nil {
		t.Skip("no zstd here")
	}
	j := open(t, filepath.Join(t.TempDir(), "journal.db"))
	longJournal(t, j)
	sealed := sealAll(t, j, small)
	text, err := exec.CommandContext(t.Context(), "zstd", "-dc", sealed[0].File).Output()
	must(t, err)
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	_, body, _ := bytes.Cut(lines[1], []byte(" "))
	var boot struct{ Kind string }
	if err := json.Unmarshal(body, &boot); err != nil || boot.Kind != "boot" || len(lines) != int(sealed[0].Last)+1 {
		t.Errorf("want a line that describes it, and %d records from the boot on, have %d lines, %s", sealed[0].Last, len(lines), body)
	}
}
