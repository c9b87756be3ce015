package view

import (
	"botd/runtime/engine"
)

// Round is one round of the reconciler.
type Round struct {
	n int64

	ID         string `json:"id"`
	AtMS       int64  `json:"at_ms"`
	Complete   bool   `json:"complete"`
	DurationMS int64  `json:"duration_ms"`
	Acted      int    `json:"acted"` // intents that went out
}

// Notice is something a person may want to know.
type Notice struct {
	n int64

	ID       string `json:"id"`
	AtMS     int64  `json:"at_ms"`
	Kind     string `json:"kind"` // gap, fetch_failed, latch, quarantine, foreign, adopted, halt, missed, strategy_failed, blind, journal, found, stale, frozen, breaker, limit
	Severity string `json:"severity"`
	Strategy string `json:"strategy,omitempty"`
	Market   string `json:"market,omitempty"`
	Symbol   string `json:"symbol,omitempty"`
	Over     bool   `json:"over"` // it has ended
	Count    int    `json:"count,omitempty"`
	Text     string `json:"text"`
}

var noticeKinds = map[engine.NoteKind]struct{ name, severity string }{
	engine.NoteGap:            {"gap", "warning"},
	engine.NoteFetchFailed:    {"fetch_failed", "warning"},
	engine.NoteLatch:          {"latch", "info"},
	engine.NoteQuarantine:     {"quarantine", "error"},
	engine.NoteForeign:        {"foreign", "warning"},
	engine.NoteAdopted:        {"adopted", "warning"},
	engine.NoteIgnored:        {"ignored", "warning"},
	engine.NoteHalt:           {"halt", "error"},
	engine.NoteMissed:         {"missed", "warning"},
	engine.NoteStrategyFailed: {"strategy_failed", "error"},
	engine.NoteReload:         {"strategy_reloaded", "info"},
	engine.NoteBlind:          {"blind", "error"},
	engine.NoteJournal:        {"journal", "error"},
	engine.NoteFound:          {"found", "error"},
	engine.NoteStale:          {"stale", "warning"},
	engine.NoteFrozen:         {"frozen", "error"},
	engine.NoteBreaker:        {"breaker", "error"},
	engine.NoteLimit:          {"limit", "error"},
	engine.NoteTightened:      {"limit_set", "warning"},
}

func (b *Board) noteNotice(n *engine.Note) {
	kind, tells := noticeKinds[n.Kind]
	if !tells {
		return
	}
	notice := b.notices.add(Notice{AtMS: n.AtMS, Kind: kind.name, Severity: kind.severity, Strategy: n.Strategy, Over: n.OK, Count: n.Count, Text: n.Text}, maxNotices)
	notice.n, notice.ID = b.notices.last, number(b.notices.last)
	if n.Symbol != nil {
		notice.Market, notice.Symbol = n.Symbol.Market.String(), n.Symbol.Name
	}
	if n.Err != nil {
		notice.Text += ": " + n.Err.Error()
	}
	if n.OK {
		notice.Severity = "info"
	}
	b.publish("notice", notice)
	switch n.Kind {
	case engine.NoteHalt, engine.NoteBreaker, engine.NoteLimit, engine.NoteTightened:
		b.publish("risk", notice)
	case engine.NoteQuarantine, engine.NoteForeign, engine.NoteAdopted, engine.NoteIgnored, engine.NoteFound, engine.NoteStale:
		b.publish("reconcile", notice)
	}
}

func (b *Board) noteRound(n *engine.Note) {
	r := b.rounds.add(Round{AtMS: n.AtMS, Complete: n.OK, DurationMS: n.DurationMS, Acted: n.Count}, maxRounds)
	r.n, r.ID = b.rounds.last, number(b.rounds.last)
}

// CandleEvent is a closed candle the engine took.
type CandleEvent struct {
	Market   string  `json:"market"`
	Symbol   string  `json:"symbol"`
	Strategy string  `json:"strategy,omitempty"`
	OpenMS   int64   `json:"open_ms"`
	Open     string  `json:"open"`
	High     string  `json:"high"`
	Low      string  `json:"low"`
	Close    string  `json:"close"`
	Volume   float64 `json:"volume"`
}

func (b *Board) noteCandle(n *engine.Note) {
	s, c := n.Symbol, &n.Candle
	if s == nil {
		return
	}
	b.publish("candle", CandleEvent{s.Market.String(), s.Name, n.Strategy, c.OpenMS, s.PriceDecimal(c.Open).String(), s.PriceDecimal(c.High).String(), s.PriceDecimal(c.Low).String(), s.PriceDecimal(c.Close).String(), c.Volume})
}

// Reconcile is the state of the reconciler.
type Reconcile struct {
	Schema      int          `json:"schema"`
	LastMS      int64        `json:"last_ms"` // of the last complete round
	Failed      int          `json:"failed"`  // rounds in a row
	Blind       bool         `json:"blind"`
	Rounds      []Round      `json:"rounds"`      // the last ones, newest first
	Quarantines []Quarantine `json:"quarantines"` // symbols on which exchange and journal do not agree
	Unknown     []Order      `json:"unknown"`     // placements whose fate is not known
	Events      []Notice     `json:"events"`      // adopted, found, stale, quarantine: newest first
}

// Reconcile returns the state of the reconciler; quarantines the engine tells.
func (b *Board) Reconcile() Reconcile {
	b.mu.Lock()
	defer b.mu.Unlock()
	st := &b.status
	out := Reconcile{Schema: 1, LastMS: st.SoundMS, Failed: st.Failed, Blind: st.Blind, Quarantines: []Quarantine{}, Unknown: []Order{}}
	out.Rounds, _ = Newest(b.rounds.all, Page{Limit: 50}, func(r *Round) int64 { return r.n }, func(*Round) bool { return true }, func(r *Round) Round { return *r })
	out.Events, _ = Newest(b.notices.all, Page{Limit: 50}, func(n *Notice) int64 { return n.n }, func(n *Notice) bool {
		return n.Kind == "quarantine" || n.Kind == "foreign" || n.Kind == "adopted" || n.Kind == "ignored" || n.Kind == "found" || n.Kind == "stale"
	}, func(n *Notice) Notice { return *n })
	for i := range st.Live {
		if p := &st.Live[i]; p.State.Unresolved() {
			out.Unknown = append(out.Unknown, orderOf(p, b.symbolRules(p.Order.Key())))
		}
	}
	out.Rounds, out.Events = OrEmpty(out.Rounds), OrEmpty(out.Events)
	return out
}

// Rounds returns rounds, newest first.
func (b *Board) Rounds(page Page, keep func(*Round) bool) ([]Round, string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return Newest(b.rounds.all, page, func(r *Round) int64 { return r.n }, keep, func(r *Round) Round { return *r })
}

// Notices returns notices, newest first.
func (b *Board) Notices(page Page, keep func(*Notice) bool) ([]Notice, string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return Newest(b.notices.all, page, func(n *Notice) int64 { return n.n }, keep, func(n *Notice) Notice { return *n })
}
