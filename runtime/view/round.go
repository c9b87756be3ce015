package view

import (
	"slices"

	"botd/exchange"
	"botd/runtime/engine"
)

// Round is one round of the reconciler.
type Round struct {
	ID         string `json:"id"`
	AtMS       int64  `json:"at_ms"`
	Complete   bool   `json:"complete"`
	DurationMS int64  `json:"duration_ms"`
	Acted      int    `json:"acted"` // the number of intents that were sent
}

func (b *Board) noteRound(atMS int64, fact *engine.NoteRound) {
	b.rounds.add(Round{ID: b.rounds.nextID(), AtMS: atMS, Complete: fact.Complete, DurationMS: fact.DurationMS, Acted: fact.Acted})
}

// CandleEvent is a closed candle that the engine has processed.
type CandleEvent struct {
	Market   string  `json:"market"`
	Symbol   string  `json:"symbol"`
	Strategy string  `json:"strategy,omitempty"`
	OpenMS   int64   `json:"open_ms"`
	Open     Decimal `json:"open"`
	High     Decimal `json:"high"`
	Low      Decimal `json:"low"`
	Close    Decimal `json:"close"`
	Volume   float64 `json:"volume"`
}

func (b *Board) noteCandle(n *engine.Note, c *exchange.Candle) {
	s := n.Symbol
	b.publish("candle", CandleEvent{s.Market.String(), s.Name, n.Strategy, c.OpenMS, s.PriceDecimal(c.Open).String(), s.PriceDecimal(c.High).String(),
		s.PriceDecimal(c.Low).String(), s.PriceDecimal(c.Close).String(), c.Volume})
}

// Reconcile is the state of the reconciler.
type Reconcile struct {
	Schema      int          `json:"schema"`
	LastMS      int64        `json:"last_ms"` // the end of the last complete round
	Failed      int          `json:"failed"`  // the number of rounds in a row that failed
	Blind       bool         `json:"blind"`
	Rounds      []Round      `json:"rounds"`      // the last ones, newest first
	Quarantines []Quarantine `json:"quarantines"` // symbols on which exchange and journal differ
	Uncertain   []Order      `json:"unknown"`     // placements whose outcome is uncertain
	Events      []Notice     `json:"events"`      // adopted, found, stale, quarantine and contradicted, newest first
}

// Reconcile returns the state of the reconciler, without quarantines: only the engine knows those.
func (b *Board) Reconcile() Reconcile {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := &b.status
	out := Reconcile{Schema: 1, LastMS: s.SoundMS, Failed: s.Failed, Blind: s.Blind, Quarantines: []Quarantine{}, Uncertain: []Order{}}
	rounds, _ := b.rounds.page(recent, func(*Round) bool { return true })
	out.Rounds, out.Events = OrEmpty(rounds), b.recentNotices("quarantine", "contradicted", "foreign", "adopted", "ignored", "found", "stale")
	for i := range s.Live {
		if p := &s.Live[i]; p.State().OutcomeUncertain() {
			out.Uncertain = append(out.Uncertain, orderOf(p, b.symbolRules(p.Symbol())))
		}
	}
	return out
}

// recentNotices returns the newest notices of some kinds.
func (b *Board) recentNotices(kinds ...string) []Notice {
	items, _ := b.notices.page(recent, func(n *Notice) bool { return slices.Contains(kinds, n.Kind) })
	return OrEmpty(items)
}

// Rounds returns rounds, newest first.
func (b *Board) Rounds(page Page, keep func(*Round) bool) ([]Round, string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rounds.page(page, keep)
}
