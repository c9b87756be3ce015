package wording

import (
	"strings"
	"testing"

	"botd/exchange"
	"botd/internal/enginetest"
	"botd/internal/printable"
	"botd/runtime/engine"
)

var bitcoin = &exchange.Symbol{Market: exchange.Futures, Name: "BTC-USDT", PriceScale: 1, QuantityScale: 3}

// TestEveryKindOfNoteHasWords reads each kind, with and without a strategy and a symbol, at its start and its
// end.
func TestEveryKindOfNoteHasWords(t *testing.T) {
	t.Parallel()
	for _, n := range enginetest.Notes(t, "trend", bitcoin, "bx-1-9", "max_drawdown") {
		unnamed := n
		unnamed.Strategy, unnamed.Symbol = "", nil
		all := []engine.Note{n, enginetest.Ended(n), unnamed, enginetest.Ended(unnamed)}
		switch n.Fact.(type) {
		case engine.NoteCandle, engine.NoteDecision: // never without a symbol
			all = all[:2]
		}
		for _, n := range all {
			w := Of(&n)
			if w.Event == "" || w.Level == "" || w.Line == "" || strings.Contains(w.Line, "%!") {
				t.Errorf("%T: want event, level and a line without a wrong verb, have %+v", n.Fact, w)
			}
			if w.Kind == "" && (w.Topic != "" || w.Cause != "" || w.Count != 0) {
				t.Errorf("%T: what has no kind is no notice, have %+v", n.Fact, w)
			}
		}
	}
	if w := Of(&engine.Note{Fact: engine.NoteCandles{}}); w.Event != "" {
		t.Errorf("columns of candles are not for people, have %+v", w)
	}
}

// TestTheEndOfAStateIsANoticeOfItsKind compares each state's start and end.
func TestTheEndOfAStateIsANoticeOfItsKind(t *testing.T) {
	t.Parallel()
	ends := 0
	for _, begins := range enginetest.Notes(t, "trend", bitcoin, "bx-1-9", "max_drawdown") {
		ended := enginetest.Ended(begins)
		begin, end := Of(&begins), Of(&ended)
		if begin.Ended {
			t.Errorf("%T: want it not over, have %+v", begins.Fact, begin)
		}
		if !end.Ended {
			continue
		}
		ends++
		if end.Kind != begin.Kind || end.Topic != begin.Topic || end.Cause != begin.Cause {
			t.Errorf("%T: want kind %q, topic %q, cause %q; have %+v", begins.Fact, begin.Kind, begin.Topic, begin.Cause, end)
		}
	}
	if want := 14; ends != want {
		t.Errorf("want %d kinds with an end, have %d", want, ends)
	}
}

func TestATextFromOutsideIsBoundedInLineAndFields(t *testing.T) {
	t.Parallel()
	w := Of(&engine.Note{Symbol: bitcoin, Fact: engine.NoteUnprotected{Reason: "no\n\x1b" + strings.Repeat("x", 9_000)}})
	all := append([]Field{{"line", w.Line}}, w.Fields...)
	for _, field := range all {
		if text := field.Value.(string); strings.ContainsAny(text, "\n\x1b") || len(text) > 2*printable.MaxExcerpt {
			t.Errorf("%s: want a bounded text without control characters, have %d bytes: %.100q", field.Name, len(text), text)
		}
	}
}
