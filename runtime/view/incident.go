package view

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"botd/internal/privatefile"
	"botd/runtime/engine"
	"botd/runtime/incident"
)

// IncidentsFile holds the incidents across restarts.
const IncidentsFile = "incidents.json"

// maxIncidentBytes bounds that file.
const maxIncidentBytes = 4 << 20

// Incident is one malfunction, from start to end.
type Incident struct {
	ID        string            `json:"id"`
	State     string            `json:"state"`    // open | closed
	InForce   bool              `json:"in_force"` // false when the state has ended, or after a start is not known yet; the incident closes unless it returns
	Kind      string            `json:"kind"`     // the declared state: blind, unprotected, quarantined, journal, clock, ...
	Severity  incident.Severity `json:"severity"`
	Scope     string            `json:"scope"` // account | market | strategy | symbol
	Strategy  string            `json:"strategy,omitempty"`
	Market    string            `json:"market,omitempty"`
	Symbol    string            `json:"symbol,omitempty"`
	Cause     string            `json:"cause"` // the newest cause
	Remedy    string            `json:"remedy" was:"way_out"`
	Runbook   string            `json:"runbook"` // the section of docs/operations.md
	Since     time.Time         `json:"since"`   // when the state began
	Opened    time.Time         `json:"opened"`
	Updated   time.Time         `json:"updated"`
	Times     int               `json:"times"` // how often the state has begun
	Reminders int               `json:"reminders"`
	Escalated *time.Time        `json:"escalated,omitempty"`
	Closed    *time.Time        `json:"closed,omitempty"`
}

// incidentOf converts an incident to its form in the API.
func incidentOf(i *incident.Incident) Incident {
	out := Incident{ID: number(i.ID), State: "open", InForce: i.InForce(), Kind: i.Kind, Severity: i.Severity, Cause: i.Cause,
		Remedy: i.Remedy, Runbook: i.Runbook(), Since: time.UnixMilli(i.SinceMS).UTC(), Opened: time.UnixMilli(i.OpenedMS).UTC(),
		Updated: time.UnixMilli(i.UpdatedMS).UTC(), Times: i.Times, Reminders: i.Reminders, Escalated: moment(i.EscalatedMS), Closed: moment(i.ClosedMS)}
	if !i.Open() {
		out.State = "closed"
	}
	out.Scope, out.Strategy, out.Market, out.Symbol = scopeText(i.Scope)
	return out
}

// incidents are the incidents of a board, with their storage.
type incidents struct {
	tracker incident.Tracker
	more    func(nowMS int64) []engine.Degraded // states that the engine does not know
	report  func(*incident.Report)
	writes  chan []byte // to one writer, since trading does not wait for a disk; nil without storage
	savedMS int64
	first   map[seen]int64 // when each undeclared state began
}

// causesEveryMS is how often a changed cause alone is saved.
const causesEveryMS = 10_000

// TrackIncidents continues the incidents of a directory, and stores them until closing is called. held bounds how long the previous run may have
// held back messages that were lost with it. more returns declared states besides the engine's; report receives the reports for people.
func (b *Board) TrackIncidents(directory string, held time.Duration, more func(nowMS int64) []engine.Degraded, report func(*incident.Report),
	warn func(error)) (closing func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	path := filepath.Join(directory, IncidentsFile)
	text, err := privatefile.Read(path, maxIncidentBytes)
	var all []incident.Incident
	if err == nil {
		all, err = restoredIncidents(text)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		warn(fmt.Errorf("the incidents of the previous run cannot be read: %w", err))
	}
	b.incidents = incidents{more: more, report: report, writes: make(chan []byte, 1)}
	b.incidents.tracker.HeldMS = held.Milliseconds()
	b.incidents.tracker.Restore(all)
	writes, done := b.incidents.writes, make(chan struct{})
	go func() {
		defer close(done)
		privatefile.Keep(path, writes, func(err error) { warn(fmt.Errorf("incidents cannot be saved: %w", err)) })
	}()
	return func() {
		b.mu.Lock()
		b.incidents.writes = nil
		b.mu.Unlock()
		close(writes)
		<-done
	}
}

// storedIncident is an incident in the file.
type storedIncident struct {
	incident.Incident
	Strategy string `json:"strategy,omitempty"`
	Market   string `json:"market,omitempty"`
	Symbol   string `json:"symbol,omitempty"`
}

// restoredIncidents reads the file.
func restoredIncidents(text []byte) ([]incident.Incident, error) {
	var stored []storedIncident
	if err := json.Unmarshal(text, &stored); err != nil {
		return nil, err
	}
	all := make([]incident.Incident, len(stored))
	for n := range stored {
		one := &stored[n]
		all[n] = one.Incident
		all[n].Scope.Strategy, all[n].Scope.Symbol.Name = one.Strategy, one.Symbol
		if one.Market == "" {
			continue
		}
		if err := all[n].Scope.Symbol.Market.UnmarshalText([]byte(one.Market)); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// ParseIncidents reads the file's content, for callers without a running daemon.
func ParseIncidents(text []byte) ([]Incident, error) {
	all, err := restoredIncidents(text)
	if err != nil {
		return nil, err
	}
	shown := make([]Incident, len(all))
	for i := range all {
		shown[i] = incidentOf(&all[i])
	}
	return shown, nil
}

// track takes the states that are declared now, and returns the reports for people.
func (b *Board) track() []incident.Report {
	i, nowMS := &b.incidents, b.status.NowMS
	if i.writes == nil || nowMS == 0 {
		return nil
	}
	reports := i.tracker.Update(nowMS, slices.Concat(b.status.Degraded, i.more(nowMS), b.dangers(nowMS)), b.reconciled)
	if len(reports) > 0 || nowMS-i.savedMS >= causesEveryMS {
		i.save(nowMS)
	}
	return reports
}

// save queues the incidents for writing, if they have changed.
func (i *incidents) save(nowMS int64) {
	all := i.tracker.All()
	changed := i.savedMS == 0 && len(all) > 0
	for n := range all {
		changed = changed || all[n].UpdatedMS >= i.savedMS || all[n].RemindedMS >= i.savedMS
	}
	i.savedMS = nowMS
	if !changed {
		return
	}
	stored := make([]storedIncident, len(all))
	for n := range all {
		stored[n].Incident = all[n]
		_, stored[n].Strategy, stored[n].Market, stored[n].Symbol = scopeText(all[n].Scope)
	}
	text, err := json.Marshal(stored)
	if err != nil {
		panic(err) // an incident that does not marshal to JSON
	}
	select { // only the newest matters
	case <-i.writes:
	default:
	}
	i.writes <- text
}

// noteIncident tracks a single event that needs a person.
func (b *Board) noteIncident(n *engine.Note) {
	switch fact := n.Fact.(type) {
	case engine.NoteUnexplained:
		b.incidents.tracker.Raise(n.AtMS, &engine.Degraded{State: "ledger", Cause: fact.Text, SinceMS: n.AtMS,
			Remedy: "compare botd ledger with the exchange; if it was a deposit or a withdrawal: botd ledger transfer"})
	case engine.NoteTransfer:
		b.incidents.tracker.Close(n.AtMS, "ledger")
	}
}

// Incidents returns incidents, newest first.
func (b *Board) Incidents(page Page, keep func(*Incident) bool) ([]Incident, string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return Newest(b.incidents.tracker.All(), page, func(i *incident.Incident) int64 { return i.ID },
		func(i *incident.Incident) bool { return keep(new(incidentOf(i))) }, func(i *incident.Incident) Incident { return incidentOf(i) })
}

// OpenIncidents returns the open incidents, oldest first.
func (b *Board) OpenIncidents() []incident.Incident {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.DeleteFunc(b.incidents.tracker.All(), func(i incident.Incident) bool { return !i.Open() })
}

// openIncidents returns the open incidents, newest first.
func (b *Board) openIncidents() []Incident {
	out := []Incident{}
	all := b.incidents.tracker.All()
	for n := len(all) - 1; n >= 0; n-- {
		if all[n].Open() {
			out = append(out, incidentOf(&all[n]))
		}
	}
	return out
}
