package daemon

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"botd/configs/engineconfig"
	"botd/internal/failure"
	"botd/reconcile"
	"botd/reconcile/journal"
	"botd/reconcile/record"
	"botd/runtime/view"
)

// A journal of years takes minutes to read. After the first seconds the wait is logged at
// intervals, and systemd is notified again and again, since it would otherwise end a start after a
// minute and a half.
const (
	firstReportAfter = 3 * time.Second
	reportEvery      = 10 * time.Second
	readingPatience  = 60 * time.Second // of systemd, from each time it is notified
	recordsPerReport = 1 << 10          // records between two reads of the clock
)

// replayProgress reports how far a journal has been read.
type replayProgress struct {
	done, total int64
	next        time.Time
	notify      func(lines ...string) // systemd
	say         func(text string)
}

// step counts a record; it reads the clock only occasionally.
func (r *replayProgress) step(now func() time.Time) {
	if r.done++; r.done%recordsPerReport != 0 {
		return
	}
	at := now()
	if at.Before(r.next) {
		return
	}
	r.next = at.Add(reportEvery)
	text := fmt.Sprintf("is being read: %d of %d records", r.done, r.total)
	r.notify(fmt.Sprintf("EXTEND_TIMEOUT_USEC=%d", readingPatience.Microseconds()), "STATUS=the journal "+text)
	r.say(text)
}

// restore makes the tracker from the newest checkpoint and the records after it, or from all records;
// the history applies the other records while botd trades.
func (p *process) restore(ctx context.Context) (*reconcile.Tracker, error) {
	bounds := engineconfig.Bounds(p.config)
	unreadable := func(err error) error {
		return failure.New(failure.Data, "botd journal verify reports more; nothing was sent", "replay the journal: %w", err)
	}
	checkpoint, err := p.store.Checkpoint(ctx)
	if err != nil {
		return nil, unreadable(err)
	}
	p.backlog, p.replayed = &backlog{history: p.history, path: p.path(), key: p.key}, 0
	tracker := reconcile.NewTracker(bounds)
	apply := func(r *record.Record) { tracker.Apply(r); p.history.Apply(r) }
	replay := p.store.Replay
	if checkpoint != nil {
		if tracker, err = reconcile.Restore(bounds, &checkpoint.Checkpoint); err != nil {
			return nil, unreadable(err)
		}
		p.backlog.until = p.store.Records()
		apply = tracker.Apply
		replay = func(ctx context.Context, visit func(*record.Record) error) error {
			return p.store.ReplayAfter(ctx, checkpoint, visit)
		}
	}
	if err := p.replay(ctx, replay, apply); err != nil {
		return nil, unreadable(err)
	}
	return tracker, nil
}

// path returns the journal's file.
func (p *process) path() string { return filepath.Join(p.directory, journal.FileName) }

// replay passes replayed records to apply, and logs its progress.
func (p *process) replay(
	ctx context.Context, replay func(context.Context, func(*record.Record) error) error, apply func(*record.Record),
) error {
	progress := replayProgress{total: p.store.Records(), next: time.Now().Add(firstReportAfter), notify: p.supervisor.Notify,
		say: func(text string) {
			p.console.Say("journal.reading", "journal   %s; nothing is sent until all are read", text)
		}}
	return replay(ctx, func(r *record.Record) error {
		apply(r)
		if p.replayed++; r.Kind() == record.KindCheckpoint {
			p.replayed = 0
		}
		progress.step(time.Now)
		return nil
	})
}

// backlog passes the records from before a checkpoint to the history while botd trades, oldest
// first, and then the records that became durable meanwhile.
type backlog struct {
	history *view.History
	path    string
	key     *journal.Key
	until   int64 // sequence of the last record from before the start; 0 when the history has all

	mu    sync.Mutex      // guards all below
	later []record.Record // durable since, and not applied yet
	done  bool
}

// Apply applies the next durable record, or keeps it until those before it are applied.
func (b *backlog) Apply(r *record.Record) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.until == 0 || b.done {
		b.history.Apply(r)
		return
	}
	b.later = append(b.later, *r)
}

// run applies the records from before the start. Unreadable records are left out: the history is only
// shown, and no decision depends on it.
func (b *backlog) run(ctx context.Context) {
	if b.until == 0 {
		return
	}
	if store, err := journal.ReadKeyed(ctx, b.path, b.key); err == nil {
		_ = store.Select(ctx, journal.Filter{}, func(s *journal.Stored) error {
			if s.Sequence <= b.until {
				b.history.Apply(&s.Record)
			}
			return nil
		})
		_ = store.Close()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.later {
		b.history.Apply(&b.later[i])
	}
	b.later, b.done = nil, true
}
