package lane

import (
	"context"

	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// Journal makes records durable.
type Journal interface {
	Append(ctx context.Context, records []record.Record) error
}

// Replay adds to journal and tracker those lane actions of the previous process that the engine had
// not taken over. It runs before the engine starts. Orders whose answer was lost become uncertain,
// like any other. It returns the records.
func Replay(ctx context.Context, found []record.Record, nowMS int64, store Journal, tracker *reconcile.Tracker) ([]record.Record, error) {
	var records []record.Record
	add := func(r record.Record) {
		r.AtMS = min(r.AtMS, nowMS)
		tracker.Apply(&r)
		records = append(records, r)
	}
	for _, r := range found {
		p := tracker.Placement(r.ClientOrderID)
		switch body := r.Body.(type) {
		case record.Audit:
			add(r)
		case record.Halt:
			if body.Level > tracker.HaltOf(account.Scope{Strategy: r.Strategy, Symbol: r.Symbol}).Level {
				add(r)
			}
		case record.Sending:
			if _, ended := tracker.Ended(r.ClientOrderID); p != nil || ended {
				continue
			}
			if latch, due := latchOf(tracker, &r); due {
				add(latch)
			}
			add(r)
		default:
			if p != nil && p.State() == placement.Sending {
				add(r)
			}
		}
	}
	if len(records) == 0 {
		return nil, nil
	}
	return records, store.Append(ctx, records)
}

// latchOf returns the latch that keeps a strategy from reopening a position that the lane closed.
func latchOf(tracker *reconcile.Tracker, r *record.Record) (record.Record, bool) {
	strategy := tracker.Strategy(r.Strategy)
	sign := strategy.Plan().Target().Sign()
	if sign == 0 || strategy.Latch() == sign {
		return record.Record{}, false
	}
	return record.Record{AtMS: r.AtMS, Strategy: r.Strategy, Body: record.Latch{Side: sign}}, true
}
