package view

import (
	"botd/runtime/engine"
	"botd/runtime/wording"
)

// Notice is something a person may want to know.
type Notice struct {
	ID       string `json:"id"`
	AtMS     int64  `json:"at_ms"`
	Kind     string `json:"kind"`     // gap, fetch_failed, latch, quarantine, contradicted, foreign, adopted, halt, missed, blind, journal, ...
	Severity string `json:"severity"` // info | warning | error
	Strategy string `json:"strategy,omitempty"`
	Market   string `json:"market,omitempty"`
	Symbol   string `json:"symbol,omitempty"`
	Ended    bool   `json:"ended" was:"over"` // whether what it reports has ended
	Count    int    `json:"count,omitempty"`
	Text     string `json:"text"`
}

// severities are the levels of a log line as a notice names them.
var severities = map[wording.Level]string{wording.Info: "info", wording.Warn: "warning", wording.Error: "error"}

func (b *Board) noteNotice(n *engine.Note) {
	w := wording.Of(n)
	if w.Kind == "" {
		return
	}
	of := Notice{
		ID: b.notices.nextID(), AtMS: n.AtMS, Kind: w.Kind, Severity: severities[w.Level],
		Strategy: n.Strategy, Ended: w.Ended, Count: w.Count, Text: w.Cause,
	}
	if n.Symbol != nil {
		of.Market, of.Symbol = n.Symbol.Market.String(), n.Symbol.Name
	}
	if of.Ended {
		of.Severity = "info"
	}
	notice := b.notices.add(of)
	b.publish("notice", notice)
	if w.Topic != "" {
		b.publish(w.Topic, notice)
	}
}

// Notices returns notices, newest first.
func (b *Board) Notices(page Page, keep func(*Notice) bool) ([]Notice, string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.notices.page(page, keep)
}
