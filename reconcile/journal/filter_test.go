package journal_test

import (
	"cmp"
	"errors"
	"io"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"botd/reconcile/journal"
	"botd/reconcile/record"
)

// filtersOf returns all combinations of field values, each of which leaves out some of the records, at its bound.
func filtersOf(all []journal.Stored) (filters []journal.Filter) {
	middle := all[len(all)/2]
	for _, after := range []int64{0, 1, 100, 300, middle.Sequence, int64(len(all)) - 1, int64(len(all))} {
		for _, sinceMS := range []int64{0, middle.AtMS, middle.AtMS + 1} {
			for _, kinds := range [][]record.Kind{nil, {record.KindEnded}, {record.KindSending, record.KindEnded}} {
				for _, who := range [][2]string{{"", ""}, {"one", ""}, {"", "BTC-USDT"}, {"one", "BTC-USDT"}, {"nobody", ""}, {"", "NONE-USDT"}} {
					for _, last := range []int{0, 1, 7, 1_000} {
						filters = append(filters, journal.Filter{After: after, SinceMS: sinceMS, Kinds: kinds, Strategy: who[0], Symbol: who[1], Last: last})
					}
				}
			}
		}
	}
	return filters
}

// chosen returns the records that a filter selects, computed from the documentation of its fields.
func chosen(all []journal.Stored, f *journal.Filter) (hashes []string) {
	for i := range all {
		s := &all[i]
		if s.Sequence > f.After && (f.SinceMS == 0 || s.AtMS >= f.SinceMS) && (len(f.Kinds) == 0 || slices.Contains(f.Kinds, s.Kind())) &&
			(f.Strategy == "" || f.Strategy == s.Strategy) && (f.Symbol == "" || f.Symbol == s.Symbol.Name) {
			hashes = append(hashes, s.Hash)
		}
	}
	if f.Last > 0 && len(hashes) > f.Last {
		hashes = hashes[len(hashes)-f.Last:]
	}
	return hashes
}

// The test combines all fields, on a journal in one file, on a partly sealed one, and on one whose segments are next to it. An error of the
// callback ends the selection at any record.
func TestFilterSelectsByFields(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.db")
	j := open(t, path)
	longJournal(t, j)
	all := selected(t, j, journal.Filter{})
	filters, part := filtersOf(all), 0
	compare := func(where string) { // a twentieth of them each time, each time a different one
		t.Helper()
		part++
		for i := part; i < len(filters); i += 19 {
			f := filters[i]
			var have []string
			must(t, j.Select(t.Context(), f, func(s *journal.Stored) error { have = append(have, s.Hash); return nil }))
			if want := chosen(all, &f); !slices.Equal(have, want) {
				t.Fatalf("%s: %+v: want %d records, have %d", where, f, len(want), len(have))
			}
		}
	}
	newest := func(where string) { // from none of the file's own records to some of a segment's
		t.Helper()
		for last := range 40 {
			f := journal.Filter{Last: last, Strategy: "one"}
			var have []string
			must(t, j.Select(t.Context(), f, func(s *journal.Stored) error { have = append(have, s.Hash); return nil }))
			if want := chosen(all, &f); !slices.Equal(have, want) {
				t.Fatalf("%s: the last %d: want %d records, have %d", where, last, len(want), len(have))
			}
		}
	}
	stops := func(where string) {
		t.Helper()
		for _, f := range []journal.Filter{{}, {Last: 400}, {Last: 3}, {Strategy: "one"}} {
			for at := range len(chosen(all, &f)) {
				n := 0
				err := j.Select(t.Context(), f, func(*journal.Stored) error {
					if n++; n > at {
						return io.ErrUnexpectedEOF
					}
					return nil
				})
				if !errors.Is(err, io.ErrUnexpectedEOF) || n != at+1 {
					t.Fatalf("%s: %+v: want it ended by the error at record %d, have %v at %d", where, f, at+1, err, n)
				}
				if at > 2 {
					break
				}
			}
		}
	}
	compare("in one file")
	stops("in one file")
	if len(sealAll(t, j, small)) < 2 {
		t.Fatal("want segments")
	}
	compare("sealed")
	newest("sealed")
	stops("sealed")
	must(t, j.Close())
	read, err := journal.Read(t.Context(), path)
	must(t, err)
	j = read
	compare("read by another process")
	must(t, j.Close())
}

// With any filter the remaining records are returned, each compared with its own hash.
func TestSelectAllVerifiesCompleteness(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.db")
	j := open(t, path)
	newTrader(t, j).orders(5)
	taken := &files{t, path}
	taken.exec("DELETE FROM record WHERE sequence = 7")
	choose := func(f journal.Filter) error {
		return j.Select(t.Context(), f, func(*journal.Stored) error { return nil })
	}
	filters := []journal.Filter{{After: 1}, {SinceMS: 1}, {Kinds: []record.Kind{record.KindEnded}}, {Symbol: "BTC-USDT"}, {Strategy: "one"}, {Last: 30}}
	var altered *journal.AlteredError
	if err := choose(journal.Filter{}); !errors.As(err, &altered) || altered.Sequence != 7 {
		t.Errorf("all: want record 7 missed, have %v", err)
	}
	for _, f := range filters {
		if err := choose(f); err != nil {
			t.Errorf("%+v: want what is left, have %v", f, err)
		}
	}
	taken.exec("UPDATE record SET body = replace(body, 'FILLED', 'filled') WHERE sequence = 9")
	for _, f := range append(filters, journal.Filter{}) {
		want := int64(9)
		if f.Last+len(f.Kinds)+len(f.Symbol)+len(f.Strategy)+int(f.After+f.SinceMS) == 0 {
			want = 7
		}
		if err := choose(f); !errors.As(err, &altered) || altered.Sequence != want {
			t.Errorf("%+v: want record %d found altered, have %v", f, want, err)
		}
	}
}

// A filter selects from a segment up to its last record, and from its newest time.
func TestFilterSelectsAtSegmentBounds(t *testing.T) {
	t.Parallel()
	j := open(t, filepath.Join(t.TempDir(), "journal.db"))
	longJournal(t, j)
	all := selected(t, j, journal.Filter{})
	sealed := sealAll(t, j, small)
	if len(sealed) < 2 {
		t.Fatalf("want segments, have %+v", sealed)
	}
	for _, s := range sealed {
		newest := slices.MaxFunc(all[s.First-1:s.Last], func(a, b journal.Stored) int { return cmp.Compare(a.AtMS, b.AtMS) }).AtMS
		for _, filter := range []journal.Filter{{After: s.First - 1}, {After: s.Last - 1}, {After: s.Last}, {SinceMS: newest}, {SinceMS: newest + 1}} {
			want := slices.DeleteFunc(slices.Clone(all), func(r journal.Stored) bool { return r.Sequence <= filter.After || r.AtMS < filter.SinceMS })
			for _, last := range []int{0, len(want)} {
				if filter.Last = last; !reflect.DeepEqual(want, selected(t, j, filter)) {
					t.Errorf("%+v: want %d records, have %d", filter, len(want), len(selected(t, j, filter)))
				}
			}
		}
	}
}
