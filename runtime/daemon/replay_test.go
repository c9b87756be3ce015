package daemon

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"botd/configs"
	"botd/internal/failure"
	"botd/reconcile"
	"botd/reconcile/journal"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/runtime/ops"
	"botd/runtime/view"
)

// TestRecordsSinceTheNewestCheckpointAreCounted replays one record before a checkpoint and two after it.
func TestRecordsSinceTheNewestCheckpointAreCounted(t *testing.T) {
	t.Parallel()
	p := &process{supervisor: ops.NewSupervisor(), store: opened(t, t.TempDir())}
	taken := 0
	err := p.replay(t.Context(), func(_ context.Context, take func(*record.Record) error) (err error) {
		for _, body := range []record.Body{record.Audit{}, record.Checkpoint{}, record.Audit{}, record.Audit{}} {
			err = errors.Join(err, take(&record.Record{Body: body}))
		}
		return err
	}, func(*record.Record) { taken++ })
	if err != nil || taken != 4 || p.replayed != 2 {
		t.Errorf("want four taken and two since the checkpoint, have %d and %d, %v", taken, p.replayed, err)
	}
}

func TestReadingALongJournalReportsProgress(t *testing.T) {
	t.Parallel()
	began := time.Unix(0, 0)
	now := began
	var notified, reported []string
	r := replayProgress{
		total:  100_000,
		next:   began.Add(firstReportAfter),
		notify: func(lines ...string) { notified = append(notified, lines...) },
		say:    func(text string) { reported = append(reported, text) },
	}
	for range 100_000 { // 4 ms each: 400 s
		now = now.Add(4 * time.Millisecond)
		r.step(func() time.Time { return now })
	}
	if len(reported) < 30 || len(reported) > 40 || reported[0] != "is being read: 1024 of 100000 records" {
		t.Errorf("400 s of reading: want it reported every 10 s or so, from the first seconds on; have %d, the first %q", len(reported), reported[0])
	}
	if want := []string{
		"EXTEND_TIMEOUT_USEC=60000000",
		"STATUS=the journal is being read: 1024 of 100000 records",
	}; !slices.Equal(notified[:2], want) ||
		len(notified) != 2*len(reported) {
		t.Errorf("systemd: want %q each time, have %q and %d in all", want, notified[:2], len(notified))
	}
	quick := replayProgress{
		next:   began.Add(firstReportAfter),
		notify: func(...string) { t.Error("a short one: want systemd left alone") },
		say:    func(string) { t.Error("a short one: want nothing reported") },
	}
	for range 100_000 {
		quick.step(func() time.Time { return began.Add(2 * time.Second) })
	}
}

// TestLongStartReportsProgress uses records that take four seconds.
func TestLongStartReportsProgress(t *testing.T) {
	t.Parallel()
	console, lines := logged(t)
	p := &process{supervisor: ops.NewSupervisor(), store: opened(t, t.TempDir(), "one", "two"), console: console}
	synctest.Test(t, func(t *testing.T) {
		if err := p.replay(t.Context(), func(_ context.Context, take func(*record.Record) error) (err error) {
			<-time.After(4 * time.Second)
			for range recordsPerReport {
				err = errors.Join(err, take(&record.Record{Body: record.Audit{}}))
			}
			return err
		}, func(*record.Record) {}); err != nil {
			t.Fatal(err)
		}
	})
	const want = "info journal.reading journal   is being read: 1024 of 2 records; nothing is sent until all are read"
	if have := lines(); !slices.Equal(have, []string{want}) {
		t.Errorf("want %q, have %q", want, have)
	}
}

// TestAStartFromACheckpointHasItsStateAndEachRecordOnce uses more records than a start reads as a whole, a halt among them, and two after the checkpoint.
func TestAStartFromACheckpointHasItsStateAndEachRecordOnce(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	store := opened(t, directory, slices.Repeat([]string{"old"}, journal.FewRecords)...)
	halt := record.Record{AtMS: 5, Body: record.Halt{Level: record.LevelPause, Reason: "the news"}}
	tracker := reconcile.NewTracker(placement.Bounds{})
	tracker.Apply(&halt)
	err := store.Append(t.Context(), []record.Record{halt, {AtMS: 6, Body: tracker.Checkpoint("")}})
	if err == nil {
		err = store.Append(t.Context(), append(entries("new", "newer"),
			record.Record{AtMS: 7, Body: record.Halt{Level: record.LevelCancel, Reason: "more news"}}))
	}
	if err != nil {
		t.Fatal(err)
	}
	p := &process{config: &configs.Config{}, directory: directory, supervisor: ops.NewSupervisor(), store: store, history: view.NewHistory()}
	restored, err := p.restore(t.Context())
	if err != nil || p.replayed != 3 || restored.Halted().Level != record.LevelCancel || len(actors(p.history)) != 0 {
		t.Fatalf("want the halt in force, three records replayed and none shown yet, have %+v, %d, %q, %v", restored.Halted(), p.replayed,
			actors(p.history), err)
	}
	p.backlog.run(t.Context())
	have := actors(p.history)
	for _, who := range []string{"new", "newer"} {
		if n := len(have) - len(slices.DeleteFunc(slices.Clone(have), func(one string) bool { return one == who })); n != 1 {
			t.Errorf("want %s shown once, have it %d times", who, n)
		}
	}
}

// TestAJournalThatCannotBeReadIsNoStart covers a journal that was closed.
func TestAJournalThatCannotBeReadIsNoStart(t *testing.T) {
	t.Parallel()
	store := opened(t, t.TempDir(), "one")
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	p := &process{config: &configs.Config{}, supervisor: ops.NewSupervisor(), store: store, history: view.NewHistory()}
	tracker, err := p.restore(t.Context())
	if failure.CodeOf(err) != failure.Data || tracker != nil || !strings.Contains(err.Error(), "botd journal verify reports more; nothing was sent") {
		t.Errorf("want it refused with a hint, have %v", err)
	}
}
