package journal_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"botd/reconcile"
	"botd/reconcile/journal"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

func bound(t *testing.T, s *store) {
	s.open(t).Close()
	for field, other := range map[string]journal.Binding{
		"mode":            {Mode: "live", URL: binding.URL, KeyFingerprint: binding.KeyFingerprint, Instance: binding.Instance},
		"exchange":        {Mode: binding.Mode, URL: "https://elsewhere", KeyFingerprint: binding.KeyFingerprint, Instance: binding.Instance},
		"key fingerprint": {Mode: binding.Mode, URL: binding.URL, KeyFingerprint: "g", Instance: binding.Instance},
		"instance":        {Mode: binding.Mode, URL: binding.URL, KeyFingerprint: binding.KeyFingerprint, Instance: "second"},
	} {
		_, err := s.Open(other)
		var wrong *journal.BindingError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), field+" ") || !strings.Contains(err.Error(), "hint: ") {
			t.Errorf("another %s: want a BindingError that names it, with a hint, have %v", field, err)
		}
	}
	s.open(t)
}

func oneWriter(t *testing.T, s *store) {
	first := s.open(t)
	if _, err := s.Open(binding); !errors.Is(err, journal.ErrLocked) {
		t.Fatalf("a second writer: want %v, have %v", journal.ErrLocked, err)
	}
	add(t, first, sending(1))
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	add(t, s.open(t), sending(2))
}

func epochsGrow(t *testing.T, s *store) {
	j := s.open(t)
	add(t, j, boot(7), boot(9))
	j.Close()
	j = s.open(t)
	for _, epoch := range []int64{0, 7, 9} {
		if err := j.Append(t.Context(), []record.Record{boot(epoch)}); !errors.Is(err, journal.ErrEpoch) {
			t.Errorf("epoch %d after 9: want %v, have %v", epoch, journal.ErrEpoch, err)
		}
	}
	if err := j.Append(t.Context(), []record.Record{boot(10), boot(10)}); !errors.Is(err, journal.ErrEpoch) {
		t.Errorf("one epoch twice in a batch: want %v, have %v", journal.ErrEpoch, err)
	}
	add(t, j, boot(10))
	sound(t, j, 3)
}

// epochsAfterBackup checks that a start takes the epoch max(journalled + 1, now), so that
// ids made after the backup, which the journal forgot, are not reused.
func epochsAfterBackup(t *testing.T, s *store) {
	if s.Backup == nil {
		t.Skip("the suite cannot restore an earlier state of this store")
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
	tracker := reconcile.NewTracker(placement.Bounds{})
	for _, r := range all(t, j) {
		tracker.Apply(&r)
	}
	if tracker.Epoch() != 1_000 {
		t.Fatalf("want the backup's epoch, have %d", tracker.Epoch())
	}
	const nowS = 3_000
	if next := max(tracker.Epoch()+1, nowS); next <= 2_000 {
		t.Fatalf("epoch %d was used after the backup", next)
	}
	add(t, j, boot(nowS))
	sound(t, j, 2)
}

func readerDuringWrites(t *testing.T, s *store) {
	j := s.open(t)
	add(t, j, sending(1), sending(2))
	reader := got[anyJournal](t)(s.Read())
	defer reader.Close()
	if err := reader.Append(t.Context(), []record.Record{sending(99)}); err == nil {
		t.Error("a journal open for reading was written")
	}
	const batches = 60
	var writing sync.WaitGroup
	writing.Go(func() {
		for i := range batches {
			if err := j.Append(t.Context(), []record.Record{sending(3 + 2*i), sending(4 + 2*i)}); err != nil {
				t.Error(err)
			}
		}
	})
	for before := 0; before < 2+2*batches; {
		report := got[journal.Report](t)(reader.Verify(t.Context()))
		if len(report.Problems) > 0 || report.Records%2 != 0 || report.Records < before || report.Rows != report.Records {
			t.Fatalf("want whole batches, each with its rows, have %+v", report)
		}
		before = report.Records
	}
	writing.Wait()
	compare(t, all(t, j), all(t, reader))
}

// newerFormat checks that records raise the journal's format epoch, and that a botd
// which does not know it neither writes nor reads the journal, and names who wrote it.
func newerFormat(t *testing.T, s *store) {
	j := s.open(t)
	if have := j.Format(); have.Epoch != 0 {
		t.Errorf("an empty journal: want no format yet, have %+v", have)
	}
	add(t, j, boot(1))
	if have := j.Format(); have.Epoch != record.FormatEpoch || have.Botd == "" {
		t.Errorf("want format epoch %d and the botd that wrote it, have %+v", record.FormatEpoch, have)
	}
	j.Close()
	s.Newer(journal.Format{Epoch: record.FormatEpoch + 1, Botd: "v9.9.9 abcdef"})
	for name, open := range map[string]func() (anyJournal, error){"writing": func() (anyJournal, error) { return s.Open(binding) }, "reading": s.Read} {
		_, err := open()
		var newer *journal.NewerError
		if !errors.As(err, &newer) || !errors.Is(err, journal.ErrNewerSchema) || !strings.Contains(err.Error(), "v9.9.9 abcdef") ||
			!strings.Contains(newer.Hint(), "run botd v9.9.9 abcdef") {
			t.Errorf("%s: want a NewerError that names the botd that wrote it, have %v", name, err)
		}
	}
	s.Newer(journal.Format{Epoch: record.FormatEpoch, Botd: "v1"})
	sound(t, s.open(t), 1)
}
