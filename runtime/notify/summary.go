package notify

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/runtime/engine"
	"botd/runtime/profit"
)

// Daily calls send at a given time of each UTC day, in minutes after midnight, until the context ends.
// It notices a clock change or a suspended machine within a minute, and makes up for a missed time once.
func Daily(ctx context.Context, minute int, send func()) {
	next := following(time.Now(), minute)
	for {
		timer := time.NewTimer(min(time.Until(next), time.Minute))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		if now := time.Now(); !now.Before(next) {
			send()
			next = following(now, minute)
		}
	}
}

// following returns the next occurrence of a time of day.
func following(now time.Time, minute int) time.Time {
	now = now.UTC()
	next := time.Date(now.Year(), now.Month(), now.Day(), 0, minute, 0, 0, time.UTC)
	if !next.After(now) {
		next = next.AddDate(0, 0, 1)
	}
	return next
}

// Tally counts events since the last summary. It is safe for concurrent use.
type Tally struct {
	mu                              sync.Mutex // guards all below
	fills, refused, warnings, wrong int
}

// Count counts one event.
func (t *Tally) Count(e *Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case e.Name == "order.fill":
		t.fills++
	case e.Name == "risk.refused" || e.Name == "order.refused":
		t.refused++
	}
	switch e.Severity {
	case Warning:
		t.warnings++
	case Error:
		t.wrong++
	}
}

// Summary describes the current state, and the events since the last summary.
func (t *Tally) Summary(s *engine.Status) string {
	t.mu.Lock()
	fills, refused, warnings, wrong := t.fills, t.refused, t.warnings, t.wrong
	t.fills, t.refused, t.warnings, t.wrong = 0, 0, 0, 0
	t.mu.Unlock()
	var text strings.Builder
	fmt.Fprintf(&text, "daily summary: %s\n", equity(s))
	fmt.Fprintf(&text, "since the last one: %d fills, %d orders refused, %d warnings, %d errors", fills, refused, warnings, wrong)
	unsettled := 0
	for i := range s.Live {
		if s.Live[i].State() != placement.Working {
			unsettled++
		}
	}
	fmt.Fprintf(&text, "\n%d orders open, %d of them not settled", len(s.Live), unsettled)
	for i := range s.Degraded {
		fmt.Fprintf(&text, "\n%s: %s", strings.ToUpper(s.Degraded[i].State), s.Degraded[i].Cause)
	}
	made := profit.Of(s)
	for i := range s.Strategies {
		t := &s.Strategies[i]
		fmt.Fprintf(&text, "\n%s %s: %s %s, net %s USDT so far, unrealized %s", t.Name, t.State, t.Symbol.QuantityDecimal(t.Position), t.Symbol.Name,
			Signed(made[t.Name].Net), Signed(made[t.Name].Unrealized))
	}
	return text.String()
}

// equity describes the equity and its change in the UTC day.
func equity(s *engine.Status) string {
	if !s.TotalKnown {
		return "the equity is unknown"
	}
	text := "equity " + s.Total.Decimal().Round(2).String() + " USDT"
	if s.Day.Equity.IsZero() {
		return text
	}
	change := s.Total.Sub(s.Day.Equity)
	sign := "+"
	if change.Less(exchange.Amount{}) {
		sign = ""
	}
	return fmt.Sprintf("%s, %s%s since midnight UTC", text, sign, change.Decimal().Round(2))
}
