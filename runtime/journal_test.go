package runtime

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"botd/reconcile/record"
	"botd/runtime/engine"
)

// journalling makes the engine record each halt, one batch at a time like the real one, and send a placement
// when its record is durable.
func (r *rig) journalling() {
	var queued []string
	writing := false
	r.machine.on = func(_ int64, event engine.Event, out *engine.Effects) {
		failed := false
		switch event := event.(type) {
		case *engine.EventHalt:
			queued = append(queued, event.Reason)
		case *engine.EventJournaled:
			writing = false
			if failed = event.Err != nil; !failed {
				out.Calls = append(out.Calls, call(1, engine.PriorityExit, "after "+queued[0]))
				queued = queued[1:]
			}
		}
		if r.machine.inFlight = len(queued) > 0; r.machine.inFlight && !writing && !failed {
			writing = true
			out.Records = append(out.Records, sendingOf(queued[0]))
		}
	}
}

func halt(why string) engine.Event { return &engine.EventHalt{Reason: why} }

func TestRequestsWaitForDurableRecords(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		r.journalling()
		r.journal.takes = 300 * time.Millisecond
		r.start(t)
		began := time.Now()
		for _, why := range []string{"a", "b", "c"} {
			if err := r.driver.Send(t.Context(), halt(why)); err != nil {
				t.Fatal(err)
			}
		}
		if want, have := 900*time.Millisecond, time.Since(began); want != have {
			t.Errorf("three halts are durable after: want %s, have %s", want, have)
		}
		synctest.Wait()
		if err := r.finish(); err != nil {
			t.Error(err)
		}
		want := []string{"durable a", "sent after a", "durable b", "sent after b", "durable c", "sent after c"}
		if have := r.story.all(); !slices.Equal(want, have) {
			t.Errorf("want %q, have %q", want, have)
		}
	})
}

func TestEventWaitsForBatchOfItsRecord(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		r.journalling()
		r.journal.takes = time.Second
		r.start(t)
		synctest.Wait()
		began := time.Now()
		done := make(chan time.Duration, 2)
		for _, why := range []string{"a", "b"} { // b's record waits until a's batch is written
			go func() {
				if err := r.driver.Send(t.Context(), halt(why)); err != nil {
					t.Error(err)
				}
				done <- time.Since(began)
			}()
			synctest.Wait()
		}
		if want, have := time.Second, <-done; want != have {
			t.Errorf("the first: want %s, have %s", want, have)
		}
		if want, have := 2*time.Second, <-done; want != have {
			t.Errorf("the second: want %s, have %s", want, have)
		}
		if err := r.finish(); err != nil {
			t.Error(err)
		}
	})
}

func TestFailedAppendIsReportedAndBlocksRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		r.journalling()
		full := errors.New("no space left on device")
		r.journal.fails = func(int) error { return full }
		r.start(t)
		if err := r.driver.Send(t.Context(), halt("a")); !errors.Is(err, ErrNotDurable) || !errors.Is(err, full) {
			t.Errorf("send: want %v and its cause, have %v", ErrNotDurable, err)
		}
		synctest.Wait()
		if have := r.story.all(); len(have) != 0 {
			t.Errorf("want nothing sent, have %q", have)
		}
		r.machine.on = nil // the engine keeps its records until it tries again
		if err := r.driver.Send(t.Context(), halt("b")); !errors.Is(err, ErrNotDurable) {
			t.Errorf("send before the next try: want %v, have %v", ErrNotDurable, err)
		}
		r.machine.inFlight = false
		if err := r.finish(); err != nil {
			t.Error(err)
		}
	})
}

// brokenJournal is the error of a journal whose tail is in doubt.
type brokenJournal struct{}

func (brokenJournal) Error() string { return "journal broken" }
func (brokenJournal) Broken() bool  { return true }

func TestBrokenJournalEndsRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		r.journalling()
		r.journal.fails = func(int) error { return brokenJournal{} }
		r.start(t)
		if err := r.driver.Send(t.Context(), halt("a")); !errors.Is(err, ErrNotDurable) {
			t.Errorf("send: want %v, have %v", ErrNotDurable, err)
		}
		if err := <-r.ended; !errors.As(err, new(brokenJournal)) {
			t.Errorf("run: want the journal's error, have %v", err)
		}
		if have := r.story.all(); len(have) != 0 {
			t.Errorf("want nothing sent, have %q", have)
		}
		if heard := given[*engine.EventJournaled](r.machine); len(heard) > 0 {
			t.Errorf("the engine must not hear of it: have %v", heard)
		}
		r.stop(nil)
	})
}

func TestLastRecordsAreWrittenAtStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		r.journal.takes = time.Minute
		r.machine.on = func(_ int64, event engine.Event, out *engine.Effects) {
			if is[*engine.EventStop](event) {
				out.Records = append(out.Records, sendingOf("last"))
			}
		}
		r.start(t)
		synctest.Wait()
		if err := r.finish(); err != nil {
			t.Error(err)
		}
		if want, have := []string{"durable last"}, r.story.all(); !slices.Equal(want, have) {
			t.Errorf("want %q, have %q", want, have)
		}
	})
}

func TestABatchHandedOverAsTheRunEndsIsWritten(t *testing.T) {
	t.Parallel()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for range 50 { // a select chooses at random
		r := newRig()
		d := New(r.config)
		d.writes <- []record.Record{sendingOf("last")}
		if err := d.write(ended); err != nil {
			t.Fatal(err)
		}
		if want, have := []string{"durable last"}, r.story.all(); !slices.Equal(want, have) {
			t.Fatalf("want %q, have %q", want, have)
		}
	}
}

func TestSendingGivesUpWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		r.journalling()
		r.journal.takes = time.Minute
		r.start(t)
		limited, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := r.driver.Send(limited, halt("a")); !errors.Is(err, ErrNotDurable) {
			t.Errorf("want %v, have %v", ErrNotDurable, err)
		}
		time.Sleep(2 * time.Minute)
		if err := r.finish(); err != nil {
			t.Error(err)
		}
	})
}

// keeper is a journal whose disk becomes full and has room again.
type keeper struct {
	*scriptedJournal
	low []string
}

func (k *keeper) Keep(context.Context) string {
	if len(k.low) > 1 {
		k.low = k.low[1:]
	}
	return k.low[0]
}

func TestTheEngineIsNotifiedOfAFullDiskOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		r.config.Journal = &keeper{r.journal, []string{"", "", "full", "full", "full", ""}}
		r.start(t)
		time.Sleep(10 * time.Second)
		if err := r.finish(); err != nil {
			t.Error(err)
		}
		var have []string
		for _, disk := range given[*engine.EventDisk](r.machine) {
			have = append(have, disk.Reason)
		}
		if want := []string{"full", ""}; !slices.Equal(want, have) {
			t.Errorf("want %q, have %q", want, have)
		}
	})
}

// Otherwise the first openings would use the room that is reserved for facts and exits.
func TestFullDiskAtStartIsReportedBeforeFirstBatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		r.journalling()
		r.config.Journal = &keeper{r.journal, []string{"full"}}
		r.start(t)
		if err := r.driver.Send(t.Context(), halt("a")); err != nil {
			t.Error(err)
		}
		if err := r.finish(); err != nil {
			t.Error(err)
		}
		for _, event := range r.machine.seen {
			if is[*engine.EventDisk](event) {
				return
			}
			if is[*engine.EventJournaled](event) {
				break
			}
		}
		t.Error("want the event of the disk before anything is durable")
	})
}

// lost is a journal whose files are removed.
type lost struct {
	*keeper
	why []string
}

func (l *lost) Watch() string {
	if len(l.why) > 1 {
		l.why = l.why[1:]
	}
	return l.why[0]
}

// The loss takes precedence over a full disk.
func TestTheEngineIsNotifiedOfALostJournal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		r.config.Journal = &lost{&keeper{r.journal, []string{"", "", "full", "full", "full", "full", ""}}, []string{"", "", "", "it is gone", "it is gone", ""}}
		r.start(t)
		time.Sleep(10 * time.Second)
		if err := r.finish(); err != nil {
			t.Error(err)
		}
		var have []engine.EventDisk
		for _, disk := range given[*engine.EventDisk](r.machine) {
			have = append(have, *disk)
		}
		if want := []engine.EventDisk{{Reason: "full"}, {Reason: "it is gone", Lost: true}, {Reason: "full"}, {}}; !slices.Equal(want, have) {
			t.Errorf("want %+v, have %+v", want, have)
		}
	})
}

// The batch may have used the last space.
func TestTheDiskIsCheckedAfterEachBatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		r.journalling()
		r.config.Journal = &keeper{r.journal, []string{"", "", "full"}}
		r.start(t)
		synctest.Wait()
		if err := r.driver.Send(t.Context(), halt("a")); err != nil {
			t.Error(err)
		}
		synctest.Wait() // and no second has passed
		if have := given[*engine.EventDisk](r.machine); len(have) != 1 || have[0].Reason != "full" {
			t.Errorf("want the full disk reported at once, have %+v", have)
		}
		if err := r.finish(); err != nil {
			t.Error(err)
		}
	})
}

// A caller is answered when its record is written, not with another batch. If a batch fails, all its callers get the error.
func TestSenderIsAnsweredWithItsBatch(t *testing.T) {
	t.Parallel()
	full := errors.New("full")
	for _, c := range []struct {
		written int64
		writing bool
		err     error
		want    string // result of batches 3, 4 and 5
	}{
		{3, true, nil, "written waits waits"}, {4, true, nil, "written written waits"}, {2, true, nil, "waits waits waits"},
		{3, false, nil, "written written written"}, {3, true, full, "full full full"}, {3, false, full, "full full full"},
	} {
		d := New(Config{})
		d.writing = c.writing
		var answers []chan error
		for batch := range int64(3) {
			answers = append(answers, make(chan error, 1))
			d.durable = append(d.durable, durability{3 + batch, answers[batch]})
		}
		d.answerDurable(c.written, c.err)
		var have []string
		left := 0
		for _, answer := range answers {
			select {
			case err := <-answer:
				have = append(have, map[bool]string{true: "full", false: "written"}[errors.Is(err, ErrNotDurable) && errors.Is(err, full)])
			default:
				left++
				have = append(have, "waits")
			}
		}
		if strings.Join(have, " ") != c.want || len(d.durable) != left {
			t.Errorf("batch %d written, another being written %t, %v: want %s, have %q", c.written, c.writing, c.err, c.want, have)
		}
	}
}

func TestStoppingWithRecordsInMemoryOnlyIsAnError(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		r.journalling()
		full := errors.New("no space left on device")
		r.journal.fails = func(int) error { return full }
		r.start(t)
		if err := r.driver.Send(t.Context(), halt("a")); !errors.Is(err, full) {
			t.Error(err)
		}
		began := time.Now()
		if err := r.finish(); !errors.Is(err, ErrNotDurable) || !errors.Is(err, full) {
			t.Errorf("want %v with its cause, have %v", ErrNotDurable, err)
		}
		if want, have := DefaultStopTimeout, time.Since(began); want != have {
			t.Errorf("it waits for room: want %s, have %s", want, have)
		}
	})
}
