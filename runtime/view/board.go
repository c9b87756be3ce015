// Package view holds the read models of status, history, equity, decisions and positions.
//
// A Board takes every status and note of the engine, a History every record of the
// journal, and an Equity a sample a minute; requests read them, so that no reader ever
// makes the engine wait. Each type is written as JSON the way the API answers it.
package view

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"botd/exchange"
	"botd/runtime/engine"
	"botd/runtime/incident"
	"botd/runtime/ops"
)

// MaxIntents bounds the intents that a board lists.
const MaxIntents = 2_000

// Limits of the other lists.
const (
	maxDecisions = 2_000
	maxRounds    = 500
	maxNotices   = 1_000
	maxRefusals  = 2_000
)

// Board holds the API's view of the running engine: the newest status, and the engine's recent
// notes. The driver writes it while the engine rests, requests read it. Safe for several
// goroutines.
type Board struct {
	mode, instance     string
	began              time.Time
	rounded, completed time.Time // when a round last ended, and when a complete one did; initially when the board was made

	mu         sync.Mutex // guards all below
	unclean    bool       // the previous run
	beat       time.Time
	status     engine.Status
	reconciled bool        // a round was complete since the start
	reported   []ops.Check // by others, in the order of their first report
	intents    ring[Intent]
	decisions  ring[Decision]
	store      *DecisionStore // of decisions beyond this run; nil for none
	rounds     ring[Round]
	notices    ring[Notice]
	refusals   ring[Refusal]
	rejections map[string]Rejections           // by rule
	publishTo  func(topic string, content any) // nil until something follows
	history    *History
	published  map[string]string // the newest document of each name
	incidents  incidents
}

// NewBoard returns an empty board. It is made when the configuration was loaded.
func NewBoard(mode, instance string) *Board {
	now := time.Now()
	return &Board{mode: mode, instance: instance, began: now, rounded: now, completed: now,
		reported: []ops.Check{{Name: "configuration", OK: true, Detail: "loaded at start"}},
		intents:  newRing[Intent](MaxIntents), decisions: newRing[Decision](maxDecisions), rounds: newRing[Round](maxRounds),
		notices:  newRing[Notice](maxNotices),
		refusals: newRing[Refusal](maxRefusals), rejections: map[string]Rejections{}, published: map[string]string{}}
}

// Follow publishes every change from now on, and adds the live orders to the history.
func (b *Board) Follow(publish func(topic string, content any), history *History) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.publishTo, b.history = publish, history
	history.observe(b.status.Live, b.status.NowMS)
}

// Mode returns the mode that botd runs in.
func (b *Board) Mode() string { return b.mode }

// NowMS returns the exchange's time of the newest status.
func (b *Board) NowMS() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.status.NowMS
}

// Instance returns the name of this botd.
func (b *Board) Instance() string { return b.instance }

// publish sends an event, once there is a follower.
func (b *Board) publish(topic string, content any) {
	if b.publishTo != nil {
		b.publishTo(topic, content)
	}
}

// Report puts a check of another part on the board, such as the clock's or a reload's; it replaces
// the check of the same name.
func (b *Board) Report(check ops.Check) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.reported {
		if b.reported[i].Name == check.Name {
			b.reported[i] = check
			return
		}
	}
	b.reported = append(b.reported, check)
}

// Unclean records whether the run before this one ended without a clean stop.
func (b *Board) Unclean(unclean bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.unclean = unclean
}

// Beat records that the loop is alive.
func (b *Board) Beat() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.beat = time.Now()
}

// Show puts a new status on the board, and publishes its changes.
func (b *Board) Show(status engine.Status) {
	for _, report := range b.show(status) {
		b.incidents.report(&report)
	}
}

// show returns the incidents that a person must be notified of.
func (b *Board) show(status engine.Status) []incident.Report {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.beat, b.status = time.Now(), status
	if b.history != nil {
		b.history.observe(status.Live, status.NowMS)
	}
	reports := b.track()
	b.publishStatus()
	return reports
}

// Note takes a note of the engine.
func (b *Board) Note(n *engine.Note) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.noteIntent(n)
	b.noteIncident(n)
	switch fact := n.Fact.(type) {
	case engine.NoteRound:
		if b.rounded = time.Now(); fact.Complete {
			b.reconciled, b.completed = true, b.rounded
		}
		b.noteRound(n.AtMS, &fact)
	case engine.NoteDecision:
		b.noteDecision(n, &fact)
	case engine.NoteRejection:
		b.countRejection(n, &fact)
	case engine.NoteCandle:
		b.noteCandle(n, &fact.Candle)
	case engine.NotePosition:
		b.publish("position", positionEvent(n, &fact))
	default:
		b.noteNotice(n)
	}
}

// Limits of the checks.
const (
	aliveWithin  = 30 * time.Second
	roundsWithin = 2 * time.Minute // a round takes a quarter of a minute, and waits as long
	completeMS   = 60_000          // since the last complete round
	staleMS      = 60_000          // of market data beyond two of its intervals
)

// Alive reports whether the loop has beaten within 30 seconds.
func (b *Board) Alive() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.alive()
}

// RoundsEnd reports whether rounds end, complete or not. It is true without strategies.
func (b *Board) RoundsEnd() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.status.Strategies) == 0 || time.Since(b.rounded) < roundsWithin
}

// RoundsComplete reports whether a round was complete within a time, or none is needed.
func (b *Board) RoundsComplete(within time.Duration) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.status.Strategies) == 0 || time.Since(b.completed) < within
}

func (b *Board) alive() bool { return !b.beat.IsZero() && time.Since(b.beat) < aliveWithin }

// Checks returns the conditions of readiness. A halted daemon is ready: a supervisor must not restart
// it.
func (b *Board) Checks() []ops.Check {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.checks()
}

func (b *Board) checks() []ops.Check {
	return append([]ops.Check{
		{Name: "loop", OK: b.alive()},
		{Name: "journal", OK: b.status.JournalErr == nil && b.status.DiskLow == "", Detail: strings.Trim(detail(b.status.JournalErr)+"; "+b.status.DiskLow,
			"; ")},
		b.checkReconcile(),
		b.checkMarketData(),
	}, b.reported...)
}

func (b *Board) checkReconcile() ops.Check {
	s := &b.status
	switch age := s.NowMS - s.SoundMS; {
	case len(s.Strategies) == 0 && s.NowMS > 0:
		return ops.Check{Name: "reconcile", OK: true, Detail: "no strategies: nothing to reconcile"}
	case !b.reconciled:
		return ops.Check{Name: "reconcile", Detail: fmt.Sprintf("no complete round since the start, %d failed in a row", s.Failed)}
	case s.Blind || age > completeMS:
		return ops.Check{Name: "reconcile", Detail: fmt.Sprintf("the last complete round was %d s ago, %d failed in a row%s", age/1000, s.Failed, blindness(s))}
	case blindness(s) != "":
		return ops.Check{Name: "reconcile", Detail: "not all can be read" + blindness(s)}
	}
	return ops.Check{Name: "reconcile", OK: true}
}

// blindness lists the parts of the exchange that cannot be read, with the causes, for the end of a
// sentence.
func blindness(s *engine.Status) (text string) {
	for i := range s.Degraded {
		if d := &s.Degraded[i]; d.State == "blind" {
			text += "; " + d.Scope.String() + ": " + d.Cause
		}
	}
	return text
}

// checkMarketData reports declared stale data, and an old newest price or candle of a strategy. A
// symbol that trades rarely may skip a candle.
func (b *Board) checkMarketData() ops.Check {
	s := &b.status
	if s.NowMS == 0 {
		return ops.Check{Name: "market_data", Detail: "the engine has not begun"}
	}
	for i := range s.Degraded {
		if d := &s.Degraded[i]; d.State == "stale" {
			return ops.Check{Name: "market_data", Detail: fmt.Sprintf("%s: stale for %d s: %s", d.Scope.Symbol, (s.NowMS-d.SinceMS)/1000, d.Cause)}
		}
	}
	for i := range s.Strategies {
		t := &s.Strategies[i]
		newest := max(t.LastMS, t.CandleMS)
		if t.Last == 0 || newest == 0 {
			return ops.Check{Name: "market_data", Detail: t.Name + ": no price of " + t.Symbol.Name + " yet"}
		}
		if age := s.NowMS - newest; age > 2*int64(t.Interval)+staleMS {
			return ops.Check{Name: "market_data", Detail: fmt.Sprintf("%s: the newest price of %s is %d s old", t.Name, t.Symbol.Name, age/1000)}
		}
	}
	return ops.Check{Name: "market_data", OK: true}
}

func detail(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// strategy returns a strategy's status, or nil.
func (b *Board) strategy(name string) *engine.StrategyStatus {
	for i := range b.status.Strategies {
		if b.status.Strategies[i].Name == name {
			return &b.status.Strategies[i]
		}
	}
	return nil
}

// Traded returns the symbol of a strategy, and the interval of its candles.
func (b *Board) Traded(strategy string) (symbol *exchange.Symbol, interval exchange.Interval, known bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.strategy(strategy)
	if t == nil {
		return nil, 0, false
	}
	return t.Symbol, t.Interval, true
}

// Owners returns the strategies by the symbol that each trades.
func (b *Board) Owners() map[exchange.SymbolKey]string {
	b.mu.Lock()
	defer b.mu.Unlock()
	owners := map[exchange.SymbolKey]string{}
	for i := range b.status.Strategies {
		t := &b.status.Strategies[i]
		owners[t.Symbol.Key()] = t.Name
	}
	return owners
}

// symbolRules returns a symbol's rules as a strategy has them, or nil.
func (b *Board) symbolRules(key exchange.SymbolKey) *exchange.Symbol {
	for i := range b.status.Strategies {
		if s := b.status.Strategies[i].Symbol; s.Key() == key {
			return s
		}
	}
	return nil
}

// moment returns a time, nil for none.
func moment(ms int64) *time.Time {
	if ms == 0 {
		return nil
	}
	return new(time.UnixMilli(ms).UTC())
}
