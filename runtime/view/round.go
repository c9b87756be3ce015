package view

import (
	"botd/exchange"
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

// noticeOf is a fact as a notice, and the topic it belongs to beside "notice"; without a
// kind where the fact is none.
func noticeOf(fact engine.Fact) (n Notice, topic string) {
	switch f := fact.(type) {
	case engine.NoteGap:
		return Notice{Kind: "gap", Severity: "warning", Count: f.Missing}, ""
	case engine.NoteMissed:
		return Notice{Kind: "missed", Severity: "warning", Count: f.Count, Text: f.Why}, ""
	case engine.NoteFetchFailed:
		return Notice{Kind: "fetch_failed", Severity: "warning", Count: f.Count, Text: withError(f.What, f.Err)}, ""
	case engine.NoteLatch:
		return Notice{Kind: "latch", Severity: "info", Count: f.Side, Text: f.Why, Over: f.Over}, ""
	case engine.NoteStrategyFailed:
		return Notice{Kind: "strategy_failed", Severity: "error", Text: f.Why}, ""
	case engine.NoteReload:
		return Notice{Kind: "strategy_reloaded", Severity: "info", Text: f.Text}, ""
	case engine.NoteBlind:
		return Notice{Kind: "blind", Severity: "error", Text: f.Why, Over: f.Over}, ""
	case engine.NoteFrozen:
		return Notice{Kind: "frozen", Severity: "error", Text: f.Text, Over: f.Over}, ""
	case engine.NoteJournal:
		return Notice{Kind: "journal", Severity: "error", Count: f.Records, Text: withError(f.Why, f.Err), Over: f.Over}, ""
	case engine.NoteHalt:
		return Notice{Kind: "halt", Severity: "error", Text: f.Why, Over: f.Over}, "risk"
	case engine.NoteBreaker:
		return Notice{Kind: "breaker", Severity: "error", Text: f.Why, Over: f.Over}, "risk"
	case engine.NoteLimit:
		return Notice{Kind: "limit", Severity: "error", Text: f.Why, Over: f.Over}, "risk"
	case engine.NoteTightened:
		return Notice{Kind: "limit_set", Severity: "warning", Text: f.Text, Over: f.Over}, "risk"
	case engine.NoteQuarantine:
		return Notice{Kind: "quarantine", Severity: "error", Text: f.Why, Over: f.Over}, "reconcile"
	case engine.NoteForeign:
		return Notice{Kind: "foreign", Severity: "warning", Text: f.Why, Over: f.Over}, "reconcile"
	case engine.NoteAdopted:
		return Notice{Kind: "adopted", Severity: "warning", Text: f.Evidence}, "reconcile"
	case engine.NoteIgnored:
		return Notice{Kind: "ignored", Severity: "warning", Text: f.Evidence}, "reconcile"
	case engine.NoteFound:
		return Notice{Kind: "found", Severity: "error", Text: f.Evidence}, "reconcile"
	case engine.NoteStale:
		return Notice{Kind: "stale", Severity: "warning", Count: f.Count, Text: f.Text}, "reconcile"
	}
	return Notice{}, ""
}

func withError(text string, err error) string {
	if err == nil {
		return text
	}
	return text + ": " + err.Error()
}

func (b *Board) noteNotice(n *engine.Note) {
	of, topic := noticeOf(n.Fact)
	if of.Kind == "" {
		return
	}
	of.AtMS, of.Strategy = n.AtMS, n.Strategy
	if n.Symbol != nil {
		of.Market, of.Symbol = n.Symbol.Market.String(), n.Symbol.Name
	}
	if of.Over {
		of.Severity = "info"
	}
	notice := b.notices.add(of, maxNotices)
	notice.n, notice.ID = b.notices.last, number(b.notices.last)
	b.publish("notice", notice)
	if topic != "" {
		b.publish(topic, notice)
	}
}

func (b *Board) noteRound(atMS int64, fact *engine.NoteRound) {
	r := b.rounds.add(Round{AtMS: atMS, Complete: fact.Complete, DurationMS: fact.DurationMS, Acted: fact.Acted}, maxRounds)
	r.n, r.ID = b.rounds.last, number(b.rounds.last)
}

// CandleEvent is a closed candle the engine took.
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
