package journal_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"botd/reconcile/journal"
	"botd/reconcile/record"
)

func everyKindComesBack(t *testing.T, s *store) {
	j := s.open(t)
	want := everyKind()
	for i := range want { // one append each: the order must hold across transactions
		add(t, j, want[i])
	}
	for _, kind := range record.Kinds() {
		if !slices.ContainsFunc(want, func(r record.Record) bool { return r.Kind() == kind }) {
			t.Errorf("the suite has no record of kind %s", kind)
		}
	}
	compare(t, want, all(t, j))
	before := sound(t, j, len(want))
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j = s.open(t)
	compare(t, want, all(t, j))
	if after := sound(t, j, len(want)); after.Hash != before.Hash || after.Hash == "" {
		t.Errorf("the last hash: want %s, have %s", before.Hash, after.Hash)
	}
}

func survivesCrash(t *testing.T, s *store) {
	want := everyKind()
	for i := range want {
		j := got[anyJournal](t)(s.Open(binding))
		add(t, j, want[i]) // durable before it returns, even if a kill follows at once
		s.Crash()
	}
	j := s.open(t)
	compare(t, want, all(t, j))
	sound(t, j, len(want))
}

func orderAfterFailure(t *testing.T, s *store) {
	j := s.open(t)
	add(t, j, sending(1))
	s.Full(true)
	for i := range 3 {
		err := j.Append(t.Context(), []record.Record{sending(2), sending(3)})
		if !errors.Is(err, journal.ErrFull) {
			t.Fatalf("try %d on a full disk: want %v, have %v", i+1, journal.ErrFull, err)
		}
		if broken(err) {
			t.Fatal("a full disk is tried again: it does not break the journal")
		}
	}
	if have := len(all(t, j)); have != 1 {
		t.Fatalf("a failed append left records: want 1, have %d", have)
	}
	s.Full(false)
	add(t, j, sending(2), sending(3))
	add(t, j, sending(4))
	compare(t, []record.Record{sending(1), sending(2), sending(3), sending(4)}, all(t, j))
	sound(t, j, 4)
}

func broken(err error) bool {
	var b interface{ Broken() bool }
	return errors.As(err, &b) && b.Broken()
}

func tornAppend(t *testing.T, s *store) {
	j := s.open(t)
	add(t, j, sending(1))
	s.Tear()
	err := j.Append(t.Context(), []record.Record{sending(2), sending(3)})
	if !errors.Is(err, journal.ErrBroken) || !broken(err) {
		t.Fatalf("want %v, which asks for the process to end, have %v", journal.ErrBroken, err)
	}
	if err := j.Append(t.Context(), []record.Record{sending(4)}); !errors.Is(err, journal.ErrBroken) {
		t.Fatalf("nothing more is taken: want %v, have %v", journal.ErrBroken, err)
	}
	s.Crash()
	j = s.open(t)
	records := all(t, j)
	if len(records) != 1 && len(records) != 3 {
		t.Fatalf("want the torn batch there or not, have %d records", len(records))
	}
	sound(t, j, len(records))
	add(t, j, sending(5))
	sound(t, j, len(records)+1)
}

func allOrNone(t *testing.T, s *store) {
	j := s.open(t)
	add(t, j, sending(1), sending(2))
	if err := j.Append(t.Context(), []record.Record{sending(3), sending(2)}); err == nil {
		t.Fatal("a client order id was journalled twice")
	}
	compare(t, []record.Record{sending(1), sending(2)}, all(t, j))
	add(t, j, sending(3))
	sound(t, j, 3)
}

func bigRecords(t *testing.T, s *store) {
	j := s.open(t)
	big := record.Record{AtMS: 1, Symbol: bitcoin, Body: record.Quarantined{Reason: strings.Repeat("é\x00\"\\\n", 200_000)}}
	want := []record.Record{big}
	for i := range 2_000 {
		want = append(want, sending(i))
	}
	add(t, j, want...)
	compare(t, want, all(t, j))
	sound(t, j, len(want))
}

func chosenRecords(t *testing.T, s *store) {
	j := s.open(t)
	records := everyKind()[:19]
	add(t, j, records...)
	for name, c := range map[string]struct {
		filter journal.Filter
		want   []int64
	}{
		"all after 15":      {journal.Filter{After: 15}, []int64{16, 17, 18, 19}},
		"the last two":      {journal.Filter{Last: 2}, []int64{18, 19}},
		"by kind":           {journal.Filter{Kinds: []record.Kind{record.KindFill, record.KindBoot}}, []int64{1, 9}},
		"by symbol":         {journal.Filter{Symbol: "BTC-USDT", After: 11}, []int64{12, 13, 14, 18, 19}},
		"by strategy":       {journal.Filter{Strategy: "one", SinceMS: 4}, []int64{6, 15}},
		"the last of those": {journal.Filter{Strategy: "one", Last: 1}, []int64{15}},
		"nothing":           {journal.Filter{Symbol: "ETH-USDT"}, nil},
	} {
		var have []int64
		if err := j.Select(t.Context(), c.filter, func(r *journal.Stored) error {
			have = append(have, r.Sequence)
			if !reflect.DeepEqual(r.Record, records[r.Sequence-1]) || r.Hash == "" {
				return fmt.Errorf("record %d is another: %+v", r.Sequence, r)
			}
			return nil
		}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !reflect.DeepEqual(c.want, have) {
			t.Errorf("%s: want records %v, have %v", name, c.want, have)
		}
	}
}

func closedTakesNothing(t *testing.T, s *store) {
	j := s.open(t)
	add(t, j, sending(1))
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if err := j.Append(t.Context(), []record.Record{sending(2)}); err == nil {
		t.Error("a closed journal took a record")
	}
	if err := j.Close(); err != nil {
		t.Errorf("closing twice: %v", err)
	}
	compare(t, []record.Record{sending(1)}, all(t, s.open(t)))
}
