package daemon

import (
	"context"
	"time"

	"botd/reconcile/journal"
)

// How often sealing is tried, and how often after a failure.
const (
	sealEvery      = time.Minute
	sealAgainAfter = time.Hour
)

// sealer is the part of the journal that seals its oldest records.
type sealer interface {
	Seal(ctx context.Context, options journal.SealOptions) (*journal.Sealed, error)
}

// sealJournal seals the journal's oldest records until the context ends.
func (p *process) sealJournal(ctx context.Context) {
	if p.config.Retention.JournalMiB == 0 {
		return
	}
	seal(ctx, p.store, int64(p.config.Retention.JournalMiB)<<20, p.logSealed)
}

// logSealed logs what was sealed, or why nothing could be.
func (p *process) logSealed(s *journal.Sealed, err error) {
	if err != nil {
		p.console.Warn("journal.unsealed", "journal   its oldest records cannot be sealed: %v; they stay in its file, trading is not affected", err)
		return
	}
	p.console.Say("journal.sealed", "journal   records %s are sealed in %s, %d bytes", s.Span, s.File, s.Bytes)
}

// seal seals the journal's old records when due, and then waits: a minute, or an hour after a
// failure.
func seal(ctx context.Context, j sealer, keep int64, say func(*journal.Sealed, error)) {
	for {
		sealed, err := j.Seal(ctx, journal.SealOptions{Keep: keep})
		if ctx.Err() != nil {
			return
		}
		wait := sealEvery
		if err != nil {
			wait = sealAgainAfter
		}
		if sealed != nil || err != nil {
			say(sealed, err)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
	}
}
