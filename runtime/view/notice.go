package view

import "botd/runtime/engine"

// Notice is something a person may want to know.
type Notice struct {
	ID       string `json:"id"`
	AtMS     int64  `json:"at_ms"`
	Kind     string `json:"kind"`     // gap, fetch_failed, latch, quarantine, contradicted, foreign, adopted, halt, missed, blind, journal, ...
	Severity string `json:"severity"` // info | warning | error
	Strategy string `json:"strategy,omitempty"`
	Market   string `json:"market,omitempty"`
	Symbol   string `json:"symbol,omitempty"`
	Over     bool   `json:"over"` // it has ended
	Count    int    `json:"count,omitempty"`
	Text     string `json:"text"`
}

// noticeOf writes a fact as a notice, and names its topic besides "notice". The notice has no
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
	case engine.NoteHung:
		return Notice{Kind: "strategy_hung", Severity: "error", Text: f.Why, Over: f.Over}, ""
	case engine.NoteReload:
		return Notice{Kind: "strategy_reloaded", Severity: "info", Text: f.Text}, ""
	case engine.NoteBlind:
		return Notice{Kind: "blind", Severity: "error", Text: f.Of + ": " + f.Why, Over: f.Over}, ""
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
	case engine.NoteLimitSet:
		return Notice{Kind: "limit_set", Severity: "warning", Text: f.Text, Over: f.Over}, "risk"
	case engine.NoteTransfer:
		return Notice{Kind: "transfer", Severity: "warning", Text: f.Text}, "risk"
	case engine.NoteLiquidated:
		return Notice{Kind: "liquidation", Severity: "error", Text: f.Text}, "risk"
	case engine.NoteIntentRefused:
		severity := "error"
		if f.Purpose.Opens() {
			severity = "warning"
		}
		return Notice{Kind: "refused", Severity: severity, Text: f.Why, Over: f.Over}, "risk"
	case engine.NoteUnprotected:
		return Notice{Kind: "unprotected", Severity: "error", Text: f.Why, Over: f.Over}, "risk"
	case engine.NoteQuarantine:
		return Notice{Kind: "quarantine", Severity: "error", Text: f.Why, Over: f.Over}, "reconcile"
	case engine.NoteContradicted:
		return Notice{Kind: "contradicted", Severity: "error", Text: f.Why, Over: f.Over}, "reconcile"
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
	of.ID = b.notices.nextID()
	notice := b.notices.add(of)
	b.publish("notice", notice)
	if topic != "" {
		b.publish(topic, notice)
	}
}

// Notices returns notices, newest first.
func (b *Board) Notices(page Page, keep func(*Notice) bool) ([]Notice, string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.notices.page(page, keep)
}
