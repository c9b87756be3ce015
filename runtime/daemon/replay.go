package daemon

import (
	"context"
	"fmt"
	"time"

	"botd/internal/failure"
	"botd/reconcile/record"
	"botd/runtime/ops"
)

// A journal of years takes minutes to read. From the first seconds on whoever waits
// is told, and systemd, which would end a start of a minute and a half, again and again.
const (
	readingToldAfter = 3 * time.Second
	readingToldEvery = 10 * time.Second
	readingPatience  = 60 * time.Second // of systemd, from each time it is told
	readingLookEvery = 1 << 10          // records between two looks at the clock
)

// reading tells how far a journal has been read.
type reading struct {
	done, total int64
	next        time.Time
	tell        func(lines ...string) // systemd
	say         func(text string)
}

// step counts a record; the clock is looked at now and then.
func (r *reading) step(now func() time.Time) {
	if r.done++; r.done%readingLookEvery != 0 {
		return
	}
	at := now()
	if at.Before(r.next) {
		return
	}
	r.next = at.Add(readingToldEvery)
	text := fmt.Sprintf("is being read: %d of %d records", r.done, r.total)
	r.tell(fmt.Sprintf("EXTEND_TIMEOUT_USEC=%d", readingPatience.Microseconds()), "STATUS=the journal "+text)
	r.say(text)
}

// replay gives every record of the journal.
func (p *process) replay(ctx context.Context, take func(*record.Record)) error {
	console, err := p.newConsole(nil, ops.NewLogs())
	if err != nil {
		return err
	}
	told := reading{total: p.store.Records(), next: time.Now().Add(readingToldAfter), tell: p.supervisor.Notify,
		say: func(text string) {
			console.Say("journal.reading", "journal   %s; nothing is sent before all are known", text)
		}}
	if err := p.store.Replay(ctx, func(r *record.Record) error {
		take(r)
		told.step(time.Now)
		return nil
	}); err != nil {
		return failure.New(failure.Data, "botd journal verify says more; nothing was sent", "replay the journal: %w", err)
	}
	return nil
}
