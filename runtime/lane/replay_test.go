package lane

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// appended is a journal of a start.
type appended struct {
	records []record.Record
	fails   error
}

func (a *appended) Append(_ context.Context, records []record.Record) error {
	a.records = append(a.records, records...)
	return a.fails
}

// Only what the journal does not have is added: a severer halt, an order and its first outcome, and a latch for the strategy that was closed.
func TestStartJournalsLaneActions(t *testing.T) {
	t.Parallel()
	exit := ordered(bitcoin, exchange.Sell, exchange.MarketOrder, 20, 0)
	exit.ReduceOnly = true
	sending := func(id string) record.Record {
		return record.Record{AtMS: 5_000, Strategy: "one", Symbol: bitcoin, ClientOrderID: id, Body: record.Sending{Purpose: placement.Exit, Order: exit}}
	}
	outcome := func(id string) record.Record {
		return record.Record{AtMS: 12_000, Strategy: "one", Symbol: bitcoin, ClientOrderID: id, Body: record.Acknowledged{OrderID: 7}}
	}
	halt := func(level record.HaltLevel) record.Record {
		return record.Record{AtMS: 4_000, Body: record.Halt{Level: level, Reason: "lane"}}
	}
	audit := record.Record{AtMS: 4_000, Body: record.Audit{Actor: "ann"}}
	plan := &strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuantity, Quantity: 20}}
	long := record.Record{AtMS: 1, Strategy: "one", Symbol: bitcoin, Body: record.Plan{Plan: plan}}
	for name, c := range map[string]struct {
		before, found []record.Record
		want          string
	}{
		"nothing":                       {nil, nil, ""},
		"a halt":                        {nil, []record.Record{audit, halt(record.LevelFlatten)}, "4000 audit, 4000 halt"},
		"a halt that is in force":       {[]record.Record{halt(record.LevelFlatten)}, []record.Record{audit, halt(record.LevelFlatten)}, "4000 audit"},
		"a severer halt is in force":    {[]record.Record{halt(record.LevelFlatten)}, []record.Record{halt(record.LevelCancel)}, ""},
		"a severer halt":                {[]record.Record{halt(record.LevelPause)}, []record.Record{halt(record.LevelCancel)}, "4000 halt"},
		"an order and its answer":       {nil, []record.Record{sending("l-1"), outcome("l-1")}, "5000 sending, 9000 acknowledged"},
		"an order that is known":        {[]record.Record{sending("l-1")}, []record.Record{sending("l-1"), outcome("l-1")}, "9000 acknowledged"},
		"an answer that is known":       {[]record.Record{sending("l-1"), outcome("l-1")}, []record.Record{sending("l-1"), outcome("l-1")}, ""},
		"an answer of an unknown order": {nil, []record.Record{outcome("l-2")}, ""},
		"an order of a strategy with a target": {[]record.Record{long}, []record.Record{sending("l-1"), sending("l-2")},
			"5000 latch, 5000 sending, 5000 sending"},
	} {
		tracker := reconcile.NewTracker(placement.Bounds{})
		for i := range c.before {
			tracker.Apply(&c.before[i])
		}
		journal := &appended{}
		records, err := Replay(t.Context(), c.found, 9_000, journal, tracker)
		var have []string
		for _, r := range records {
			have = append(have, fmt.Sprint(r.AtMS, " ", r.Kind()))
		}
		if strings.Join(have, ", ") != c.want || len(records) != len(journal.records) || err != nil {
			t.Errorf("%s: want %q journalled, have %q of %d, %v", name, c.want, have, len(journal.records), err)
		}
	}
	tracker := reconcile.NewTracker(placement.Bounds{})
	if _, err := Replay(t.Context(), []record.Record{audit}, 9_000, &appended{fails: errBusy}, tracker); !errors.Is(err, errBusy) {
		t.Errorf("a journal that fails: want %v, have %v", errBusy, err)
	}
	if _, err := Replay(t.Context(), nil, 9_000, &appended{fails: errBusy}, reconcile.NewTracker(placement.Bounds{})); err != nil {
		t.Errorf("nothing: want the journal left alone, have %v", err)
	}
}
