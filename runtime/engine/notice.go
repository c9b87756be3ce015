package engine

import "slices"

// Bounds of one strategy's notices to people.
const (
	noticesAtOnce = 10        // in noticeSpanMS
	noticeSpanMS  = 3_600_000 // 1 h
)

// notices holds a strategy's notices of the last hour.
type notices struct {
	began    bool
	candleMS int64    // the newest closed candle at the last decision with a notice
	texts    []string // notices at that candle
	sentMS   []int64  // send times of the newest, at most noticesAtOnce
	withheld int      // number since the last one sent
}

// sendNotices sends a decision's notices to people: each text once per candle, up to a maximum per hour. The
// notices of the first decision after a start are dropped, because they may have been sent before.
func (t *tick) sendNotices(leg *leg) {
	n := &leg.notices
	texts, first := leg.plan.Notices(), !n.began && t.config.Offload
	n.began = true
	if len(texts) == 0 {
		return
	}
	if end := leg.series.end; end > 0 && leg.series.candles.OpenMS[end-1] != n.candleMS {
		n.candleMS, n.texts = leg.series.candles.OpenMS[end-1], n.texts[:0]
	}
	for _, text := range texts {
		if slices.Contains(n.texts, text) {
			continue
		}
		if len(n.texts) < noticesAtOnce {
			n.texts = append(n.texts, text)
		}
		if !first {
			t.reportNotice(leg, text)
		}
	}
}

func (t *tick) reportNotice(leg *leg, text string) {
	n := &leg.notices
	if len(n.sentMS) == noticesAtOnce && t.nowMS-n.sentMS[0] < noticeSpanMS {
		n.withheld++
		t.note(leg.config.Name, leg.config.Symbol, NoteNotice{Text: text, Withheld: true})
		return
	}
	if len(n.sentMS) == noticesAtOnce {
		n.sentMS = n.sentMS[:copy(n.sentMS, n.sentMS[1:])]
	}
	n.sentMS = append(n.sentMS, t.nowMS)
	t.note(leg.config.Name, leg.config.Symbol, NoteNotice{Text: text, Before: n.withheld})
	n.withheld = 0
}
