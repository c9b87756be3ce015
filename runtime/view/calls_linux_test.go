package view

import (
	"path/filepath"
	"slices"
	"testing"

	"botd/internal/disk/disktest"
	"botd/reconcile/account"
	"botd/runtime/engine"
	"botd/runtime/incident"
)

// TestEachFileCallOfTheIncidentsFails opens an incident in one daemon and closes it in the next.
func TestEachFileCallOfTheIncidentsFails(t *testing.T) {
	t.Parallel()
	disktest.EachCallFails(t, func(directory string, reported func(error)) {
		nowMS := int64(1_000)
		for _, c := range []struct {
			declared []engine.Degraded
			want     string // the incident in the next daemon
		}{
			{[]engine.Degraded{{State: "blind", Scope: account.Scope{Symbol: bitcoin.Key()}, Cause: "no list", Remedy: "wait", SinceMS: 900}}, "open"},
			{nil, "closed"},
			{nil, "closed"},
		} {
			board := NewBoard("demo", "main")
			stop := board.TrackIncidents(directory, 0, func(int64) []engine.Degraded { return nil }, func(*incident.Report) {}, reported)
			board.Note(&engine.Note{Fact: engine.NoteRound{Complete: true}})
			for range 2 {
				board.Show(engine.Status{NowMS: nowMS, Degraded: c.declared})
				nowMS += 100_000
			}
			stop()
			next := NewBoard("demo", "main")
			stop = next.TrackIncidents(directory, 0, func(int64) []engine.Degraded { return nil }, func(*incident.Report) {}, reported)
			if listed, _ := next.Incidents(Page{Limit: 10}, func(*Incident) bool { return true }); len(listed) != 1 || listed[0].State != c.want {
				t.Errorf("after a restart: want one, %s, have %+v", c.want, listed)
			}
			stop()
		}
	})
}

// TestEachFileCallOfTheEquityFails records points in two daemons; the second rewrites the series.
func TestEachFileCallOfTheEquityFails(t *testing.T) {
	t.Parallel()
	disktest.EachCallFails(t, func(directory string, reported func(error)) {
		path, want := filepath.Join(directory, "equity.csv"), []int64(nil)
		for run := range int64(2) {
			e, err := OpenEquity(path)
			if err != nil {
				reported(err)
				e, err = OpenEquity(path)
			}
			if err != nil {
				t.Fatal(err)
			}
			for n := range int64(3) {
				if run == 1 && n == 1 {
					e.lines = maxStale + 100
				}
				p := at(3*run+n, 10_000)
				reported(e.sample(p))
				want = append(want, p.atMS)
			}
			reported(e.Close())
		}
		e, err := OpenEquity(path)
		if err != nil {
			reported(err)
			e, err = OpenEquity(path)
		}
		if err != nil {
			t.Fatal(err)
		}
		var have []int64
		for _, p := range e.points {
			have = append(have, p.atMS)
		}
		if err := e.Close(); err != nil || !slices.Equal(have, want) {
			t.Errorf("want %d, have %d, %v", want, have, err)
		}
	})
}
