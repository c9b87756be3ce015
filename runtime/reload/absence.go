package reload

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"botd/reconcile/account"
	"botd/runtime/engine"
)

// A strategy's file must be absent for this long, and at this many polls, before the
// strategy counts as removed: git, editors and orchestrators replace files by removing
// them first.
const (
	absentFor   = 30 * time.Second
	absentPolls = 2
)

// Reasons why a removal waits.
const (
	NotAbsent = iota // nothing is absent
	TooYoung         // some files were not absent for long enough
	AllAbsent        // no strategy is left: only an explicit reload removes all of them
	Ripe             // the files stayed away: on_remove acts
)

// Absences remembers since when the files of strategies are absent.
type Absences struct {
	mu    sync.Mutex // guards all below
	since map[string]time.Time
	polls map[string]int
	all   bool
	lines []string // the effects of a removal, a line for each strategy
}

// Poll takes the absent strategies, and whether any strategy is left, and returns whether they may
// be removed.
func (a *Absences) Poll(now time.Time, absent []string, left bool) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	since, polls := map[string]time.Time{}, map[string]int{}
	verdict := Ripe
	for _, name := range absent {
		since[name], polls[name] = now, a.polls[name]+1
		if first, known := a.since[name]; known {
			since[name] = first
		}
		if now.Sub(since[name]) < absentFor || polls[name] < absentPolls {
			verdict = TooYoung
		}
	}
	a.since, a.polls, a.all = since, polls, false
	switch {
	case len(absent) == 0:
		a.lines = nil
		return NotAbsent
	case !left:
		a.all = true
		return AllAbsent
	}
	return verdict
}

// pending reports whether anything is absent.
func (a *Absences) pending() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.since) > 0
}

// describe stores the effects of a removal.
func (a *Absences) describe(lines []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lines = lines
}

// forget ends all absences: the strategies were removed, or their files are back.
func (a *Absences) forget() { a.Poll(time.Time{}, nil, true) }

// degraded returns the declared state of strategies whose files are absent.
func (a *Absences) degraded() []engine.Degraded {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.since) == 0 {
		return nil
	}
	names, first := []string(nil), time.Time{}
	for name, since := range a.since {
		names = append(names, name)
		if first.IsZero() || since.Before(first) {
			first = since
		}
	}
	slices.Sort(names)
	cause := "the files of " + strings.Join(names, ", ") + " are absent"
	if len(names) == 1 {
		cause = "the file of " + names[0] + " is absent"
	}
	state := engine.Degraded{State: "removal", SinceMS: first.UnixMilli(), Remedy: "put the files back, or botd reload to remove them now"}
	if len(names) == 1 && !a.all {
		state.Scope = account.Scope{Strategy: names[0]}
	}
	if a.all {
		cause += ": no strategy is left, and only an explicit reload removes all of them"
	} else {
		cause += fmt.Sprintf(": on_remove acts when that has lasted %d s", int(absentFor.Seconds()))
	}
	if len(a.lines) > 0 {
		cause += "; it would: " + strings.Join(a.lines, ", ")
	}
	state.Cause = cause
	return []engine.Degraded{state}
}
