package view

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"botd/runtime/engine"
	"botd/strategy"
)

// decides has a strategy decide at a time, for a reason.
func decides(b *Board, name, reason string, atMS int64) {
	b.Note(&engine.Note{AtMS: atMS, Strategy: name, Symbol: bitcoin, Fact: engine.NoteDecision{Plan: &strategy.Plan{Reason: reason}, Reason: reason}})
}

// reasons reads a strategy's decisions, page by page.
func reasons(t *testing.T, b *Board, name string, limit int) (all []string) {
	t.Helper()
	page := Page{Limit: limit}
	for range 100 {
		items, next := b.Decisions(name, page)
		for i := range items {
			all = append(all, items[i].Reason)
		}
		if next == "" {
			return all
		}
		after := int64(0)
		for _, digit := range next {
			after = after*10 + int64(digit-'0')
		}
		if page.After != 0 && after >= page.After {
			t.Fatalf("after %d leads to %d: it goes on for ever", page.After, after)
		}
		page.After = after
	}
	t.Fatal("want an end of the pages")
	return nil
}

// forever is older than any file: the time of a file is the system's, whose clock may be another one than the test's.
const forever = 200 * 365 * 24 * time.Hour

func keep(t *testing.T, directory string, age time.Duration) (*Board, *DecisionStore) {
	t.Helper()
	store := NewDecisionStore(DecisionStoreConfig{Directory: directory, Keep: age, Failed: func(err error) { t.Errorf("want no report, have %v", err) }})
	b := NewBoard("demo", "main")
	b.Keep(store)
	return b, store
}

func TestDecisionsArePagedAcrossRestarts(t *testing.T) {
	t.Parallel()
	directory := filepath.Join(t.TempDir(), "decisions")
	var want []string
	for run := range 3 { // a separate file each
		b, store := keep(t, directory, forever)
		for i := range 5 {
			reason := string(rune('a'+run)) + string(rune('0'+i))
			decides(b, "other", "of another", int64(i))
			decides(b, "trend", reason, int64(i))
			want = append(want, reason)
		}
		store.Close()
	}
	slices.Reverse(want)
	b, store := keep(t, directory, forever)
	defer store.Close()
	for _, limit := range []int{1, 2, 4, 5, 15, 100} {
		if have := reasons(t, b, "trend", limit); !slices.Equal(have, want) {
			t.Errorf("%d a page: want %v, have %v", limit, want, have)
		}
		b.decisions.all = b.decisions.all[max(0, len(b.decisions.all)-6):] // the rest is only on the disk
	}
}

func TestADecisionFollowsThoseOfTheRunBefore(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	b, store := keep(t, directory, forever)
	decides(b, "trend", "first", 1)
	store.Close()
	path := filepath.Join(directory, "0000000000000001.jsonl")
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString(`{"id":"2","reason":"half a li`); err != nil { // as a crash leaves it
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	b, store = keep(t, directory, forever)
	decides(b, "trend", "second", 2)
	store.Close()
	if items, _ := b.Decisions("trend", Page{Limit: 9}); len(items) != 2 || items[0].ID != "2" || items[0].Reason != "second" || items[1].Reason != "first" {
		t.Errorf("want 2 second, 1 first; have %+v", items)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("want a file for its owner alone, have %v, %v", info, err)
	}
}

func TestOldDecisionsAreDeleted(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		const keeps = 30 * 24 * time.Hour
		day := func(n int64) int64 { return n * dayMS }
		b, store := keep(t, directory, keeps)
		for n := range int64(4) { // a separate day and file each
			decides(b, "trend", "of day "+string(rune('0'+n)), day(n))
		}
		synctest.Wait()
		now := time.Now()
		for n, age := range []time.Duration{keeps + time.Minute, keeps - 90*time.Minute, keeps - 30*time.Minute} {
			at := now.Add(-age)
			if err := os.Chtimes(store.path(int64(n+1)), at, at); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(decisionAge + time.Second) // virtual time
		synctest.Wait()
		if have := store.firsts(); !slices.Equal(have, []int64{2, 4}) {
			t.Errorf("after an hour: want 1 and 3 gone, which are older than 30 days now; have %v", have)
		}
		store.Close()
		b, store = keep(t, directory, keeps-2*time.Hour) // a start also checks before it shows them
		if have := reasons(t, b, "trend", 10); !slices.Equal(have, []string{"of day 3"}) {
			t.Errorf("after a restart that keeps less: want day 3 alone, have %v", have)
		}
		store.Close()
	})
}

func TestANearlyFullDiskStoresNoDecisionsAndIsReportedOnce(t *testing.T) {
	t.Parallel()
	directory := filepath.Join(t.TempDir(), "decisions")
	synctest.Test(t, func(t *testing.T) {
		var reports []string
		full := errors.New("nearly full")
		var room error = full
		store := NewDecisionStore(DecisionStoreConfig{Directory: directory, Keep: forever, Room: func() error { return room }, Failed: func(err error) {
			if err == nil {
				err = errors.New("again")
			}
			reports = append(reports, err.Error())
		}})
		b := NewBoard("demo", "main")
		b.Keep(store)
		decides(b, "trend", "one", 1)
		decides(b, "trend", "two", 2)
		synctest.Wait()
		room = nil
		decides(b, "trend", "three", 3)
		store.Close()
		if have := strings.Join(reports, ", "); have != "nearly full, again" {
			t.Errorf("want nearly full, again; have %s", have)
		}
		if have := len(store.newest(10)); have != 1 {
			t.Errorf("want the third alone on the disk, have %d", have)
		}
		if have := len(reasons(t, b, "trend", 10)); have != 3 {
			t.Errorf("want all three shown in this run, have %d", have)
		}
	})
}

// TestTheEndOfAStoreThatFailsIsNoReturn fills the disk before the first decision, and after one that has a file open.
func TestTheEndOfAStoreThatFailsIsNoReturn(t *testing.T) {
	t.Parallel()
	for _, stored := range []int64{0, 1} {
		directory := filepath.Join(t.TempDir(), "decisions")
		synctest.Test(t, func(t *testing.T) {
			var reports []error
			var room error
			full := errors.New("nearly full")
			store := NewDecisionStore(DecisionStoreConfig{Directory: directory, Keep: forever, Room: func() error { return room },
				Failed: func(err error) { reports = append(reports, err) }})
			for n := range stored {
				store.Add(Decision{ID: "1", n: n + 1})
			}
			synctest.Wait()
			room = full
			store.Add(Decision{ID: "2", n: 2})
			store.Close()
			if !slices.Equal(reports, []error{full}) {
				t.Errorf("%d stored before: want the failure alone reported, have %v", stored, reports)
			}
		})
	}
}
