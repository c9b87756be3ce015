package isolated

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"botd/strategy"
	"botd/strategy/library"
)

// describes returns a kind of strategy after a while, or an error.
func describes(after time.Duration, err error) func() (strategy.Definition, error) {
	return func() (strategy.Definition, error) {
		time.Sleep(after)
		return holder(0), err
	}
}

// holder is a kind of strategy that is made after a while.
func holder(after time.Duration) strategy.Definition {
	definition, _ := strategy.NewRegistry(library.All()...).Find("buy_and_hold")
	create := definition.New
	definition.New = func(setting strategy.Setting, values strategy.Values) (strategy.Strategy, error) {
		time.Sleep(after)
		return create(setting, values)
	}
	return definition
}

// A start waits two seconds for its strategies together, and the rest is awaited in the background, each by itself.
func TestAStartWaitsForItsStrategiesTogether(t *testing.T) {
	t.Parallel()
	place := setting(t)
	synctest.Test(t, func(t *testing.T) {
		loading, began := NewLoading(), time.Now()
		lost := &strategy.LostError{Cause: "it has not loaded"}
		kinds := []struct {
			name  string
			read  func() (strategy.Definition, error)
			later string // what it is after five seconds
		}{
			{"at once", describes(500*time.Millisecond, nil), ""},
			{"slow", describes(4*time.Second, nil), ""},
			{"hangs", describes(30*time.Second, lost), "awaited"},
			{"ends", describes(3*time.Second, lost), "failed"},
		}
		state := func(name string, read func() (strategy.Definition, error)) string {
			definition, err := loading.Definition(name, read)
			if err != nil {
				t.Fatal(err)
			}
			switch s := made(t, definition, place).(type) {
			case *pending:
				return "awaited"
			case silent:
				if !definition.Silent || !strings.Contains(s.cause, "it has not loaded; fix it and reload") {
					t.Errorf("%s: want the cause and the remedy, have %+v", name, s)
				}
				return "failed"
			}
			return ""
		}
		for i, kind := range kinds {
			want := "awaited"
			if i == 0 {
				want = ""
			}
			if have := state(kind.name, kind.read); have != want {
				t.Errorf("%s at the start: want %q, have %q", kind.name, want, have)
			}
		}
		if took := time.Since(began); took != startPatience {
			t.Errorf("want a start to wait %s, have %s", startPatience, took)
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if len(loading.Ended) != 1 {
			t.Error("want the end of a load announced")
		}
		for _, kind := range kinds {
			if have := state(kind.name, kind.read); have != kind.later {
				if kind.name == "slow" && have == "awaited" { // it is being made now
					synctest.Wait()
					have = state(kind.name, kind.read)
				}
				if have != kind.later {
					t.Errorf("%s after 5 s: want %q, have %q", kind.name, kind.later, have)
				}
			}
		}
		if _, err := loading.Definition("wrong", describes(0, errors.New("line 3"))); err == nil {
			synctest.Wait()
			if _, err = loading.Definition("wrong", nil); err == nil {
				t.Error("want an error of the file returned")
			}
		}
		time.Sleep(time.Minute)
	})
}

// A strategy whose process has described its kind, but hangs when it is made, is awaited too.
func TestAStrategyIsAwaitedWhenItIsMade(t *testing.T) {
	t.Parallel()
	place := setting(t)
	synctest.Test(t, func(t *testing.T) {
		loading := NewLoading()
		definition, err := loading.Definition("slow", func() (strategy.Definition, error) { return holder(3 * time.Second), nil })
		if err != nil {
			t.Fatal(err)
		}
		awaited := made(t, definition, place)
		if strategy.SubstituteOf(awaited) == nil || made(t, definition, place) != awaited {
			t.Errorf("want one substitute for it, have %+v", awaited)
		}
		if awaited.Warmup() != 0 || !strategy.WatchingOf(awaited).Events {
			t.Errorf("want it called at once, and its events kept, have %d, %+v", awaited.Warmup(), strategy.WatchingOf(awaited))
		}
		began := time.Now()
		task := strategy.Task{View: strategy.View{Symbol: place.Symbol}, AtMS: 1}
		result := task.Perform(awaited)
		if took := time.Since(began); took != time.Second+reloadWithin || !strings.Contains(result.Failure, "the configuration is not applied") {
			t.Errorf("want it to fail once a reload had time, have %q after %s", result.Failure, took)
		}
		began = time.Now()
		if s := made(t, definition, place); strategy.SubstituteOf(s) != nil {
			t.Errorf("want the strategy, have %+v after %s", s, time.Since(began))
		}
	})
}

// A substitute of a process that has ended fails at once.
func TestTheSubstituteOfAnEndedProcessFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		loading := NewLoading()
		definition, err := loading.Definition("ends", describes(3*time.Second, &strategy.LostError{Cause: "exit status 1"}))
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		task := strategy.Task{AtMS: 1}
		result := task.Perform(made(t, definition, strategy.Setting{}))
		if took := time.Since(began); took != time.Second || !strings.Contains(result.Failure, "exit status 1") {
			t.Errorf("want it to fail with the process's end, have %q after %s", result.Failure, took)
		}
	})
}
