package ops

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"botd/exchange"
	"botd/internal/enginetest"
	"botd/internal/printable"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/risk"
	"botd/runtime/engine"
	"botd/strategy"
)

var update = flag.Bool("update", false, "write golden files again")

// story is a short life of one strategy: a candle, a decision, an order, its end, and then failures.
func story(t *testing.T) []engine.Note {
	t.Helper()
	order := exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: 20}
	stop := exchange.NewOrder{
		Market:        exchange.Futures,
		Symbol:        "BTC-USDT",
		Side:          exchange.Sell,
		Type:          exchange.StopMarket,
		StopPrice:     enginetest.Price(t, bitcoin, "49000"),
		ClosePosition: true,
	}
	entry := &reconcile.Intent{Strategy: "trend", Purpose: placement.Entry, Order: order, Reason: "fast average crossed above slow"}
	protection := &reconcile.Intent{Strategy: "trend", Purpose: placement.StopLoss, Order: stop, Reason: "protection"}
	unnumbered := engine.NoteOrder{Purpose: placement.Entry, ClientOrderID: "bmain-s1-4", Order: order}
	numbered := unnumbered
	numbered.OrderID = 771203
	of := func(fact engine.Fact) engine.Note { return engine.Note{Strategy: "trend", Symbol: bitcoin, Fact: fact} }
	all := []engine.Note{
		{
			Symbol: bitcoin,
			Fact: engine.NoteCandle{
				Candle: exchange.Candle{OpenMS: 1_700_000_040_000, Close: enginetest.Price(t, bitcoin, "50012.3"), Volume: 12.5},
			},
		},
		of(
			engine.NoteDecision{
				Plan:   &strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuantity, Quantity: 20}},
				Reason: "fast average crossed above slow",
			},
		),
		of(engine.NoteIntent{Intent: entry}),
		of(engine.NoteApproved{Intent: entry}),
		of(engine.NotePlaced{NoteOrder: unnumbered}),
		of(engine.NoteAcknowledged{NoteOrder: numbered, DurationMS: 31}),
		of(engine.NoteFill{NoteOrder: numbered, Quantity: 20, Price: enginetest.Amount(t, "50013.35")}),
		of(engine.NoteSettled{NoteOrder: numbered, State: placement.Filled, Filled: 20, Evidence: "fetched", DurationMS: 1_040}),
		of(engine.NotePosition{Quantity: 20, EntryPrice: enginetest.Amount(t, "50013.35")}),
		of(engine.NoteIntent{Intent: protection}),
		of(
			engine.NoteRejection{
				Intent:    entry,
				Rejection: &risk.Rejection{Rule: "max_position", Value: "0.040", Limit: "0.030", Hint: "raise risk.max_position"},
			},
		),
		of(engine.NoteRefused{NoteOrder: unnumbered, Reason: "Margin is insufficient."}),
		of(engine.NoteUncertain{NoteOrder: unnumbered, Reason: "timeout"}),
		{
			Fact: engine.NoteFetchFailed{
				What: "orders and positions",
				Err:  &exchange.Unavailable{Operation: exchange.FuturesOpenOrders, Reason: "connection refused"},
			},
		},
		{Symbol: bitcoin, Fact: engine.NoteQuarantine{Reason: "the exchange shows two positions on one symbol"}},
		{Fact: engine.NoteBlind{Of: "orders and positions of futures", Reason: "connection refused"}},
		{Fact: engine.NoteBlind{Of: "orders and positions of futures", Ended: true}},
		{Symbol: bitcoin, Fact: engine.NoteStalled{Text: "candles of 1m stand still"}},
		{Symbol: bitcoin, Fact: engine.NoteStalled{Text: "candles of 1m", Ended: true}},
		{Fact: engine.NoteHalt{Reason: "news"}},
		{Fact: engine.NoteHalt{Reason: "rearmed by the operator", Ended: true}},
		of(engine.NoteStrategyFailed{Reason: "index out of range"}),
	}
	for i := range all {
		all[i].AtMS = 1_700_000_100_000 + int64(i)*250
	}
	return all
}

func written(format Format, notes []engine.Note) string {
	var out bytes.Buffer
	console := NewConsole(&out, format, NewMetrics("demo", Build{}), nil)
	for i := range notes {
		console.Note(&notes[i])
	}
	return out.String()
}

func TestAPersonReadsAStory(t *testing.T) {
	t.Parallel()
	const golden = "testdata/story.txt"
	have := written(Format{}, story(t))
	if *update {
		if err := os.WriteFile(golden, []byte(have), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != have {
		t.Errorf("want\n%s\nhave\n%s", want, have)
	}
	if strings.Contains(have, "\x1b") {
		t.Error("want no colors when they are off")
	}
	if !strings.Contains(written(Format{Color: true}, story(t)), "\x1b[") {
		t.Error("want colors when they are on")
	}
}

func TestAProgramReadsOneEventALine(t *testing.T) {
	t.Parallel()
	want := []string{
		"market.candle",
		"strategy.decision",
		"intent.derived",
		"risk.approved",
		"order.placed",
		"order.acknowledged",
		"order.fill",
		"order.settled",
		"position.changed",
		"intent.derived",
		"risk.refused",
		"order.refused",
		"order.uncertain",
		"exchange.unavailable",
		"symbol.quarantined",
		"exchange.blind",
		"exchange.back",
		"market.stale",
		"market.fresh",
		"trading.halted",
		"trading.armed",
		"strategy.failed",
	}
	lines := strings.Split(strings.TrimSpace(written(Format{JSON: true}, story(t))), "\n")
	if len(lines) != len(want) {
		t.Fatalf("lines: want %d, have %d", len(want), len(lines))
	}
	for i, line := range lines {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		when, err := time.Parse(time.RFC3339Nano, fields["time"].(string))
		message, _ := fields["msg"].(string)
		level, _ := fields["level"].(string)
		if fields["event"] != want[i] || message == "" || level == "" || err != nil || when.UnixMilli() != 1_700_000_100_000+int64(i)*250 {
			t.Errorf("line %d: want event %s with its time, level and msg, have %s", i, want[i], line)
		}
	}
	if !strings.Contains(lines[5], `"order_id":771203`) || !strings.Contains(lines[5], `"client_order_id":"bmain-s1-4"`) ||
		!strings.Contains(lines[5], `"dur_ms":31`) {
		t.Errorf("an acknowledgment names its order: have %s", lines[5])
	}
}

func TestEveryKindOfNoteIsALineOrQuietOnPurpose(t *testing.T) {
	t.Parallel()
	for _, n := range enginetest.Notes(t, "trend", bitcoin, "bx-1-9", "margin") {
		quiet := false
		switch n.Fact.(type) {
		case engine.NoteRound, engine.NoteTick:
			quiet = true // several a minute, which metrics count
		}
		if have := written(Format{JSON: true}, []engine.Note{n}); (have == "") != quiet {
			t.Errorf("%T: want a line %t, have %q", n.Fact, !quiet, have)
		}
	}
}

func TestLinesAreCountedByLevel(t *testing.T) {
	t.Parallel()
	m := NewMetrics("demo", Build{})
	console := NewConsole(&bytes.Buffer{}, Format{JSON: true}, m, nil)
	console.Say("daemon.started", "hello")
	console.Warn("daemon.unclean", "the last run did not end cleanly")
	console.Note(&engine.Note{Fact: engine.NoteHalt{Reason: "news"}})
	expect(t, m, 1, "botd_log_events_total", "level=info")
	expect(t, m, 1, "botd_log_events_total", "level=warn")
	expect(t, m, 1, "botd_log_events_total", "level=error")
}

// TestSeveralProblemsStandSideBySide uses a line of the daemon and one of the engine.
func TestSeveralProblemsStandSideBySide(t *testing.T) {
	t.Parallel()
	both := fmt.Errorf("read: %w", errors.Join(errors.New("no spot"), errors.New("no futures\nhint: wait")))
	logs := NewLogs()
	console := NewConsole(io.Discard, Format{JSON: true}, nil, logs)
	given := []any{both}
	console.Warn("a.b", "it is not read: %v", given...)
	console.Say("a.b", "%s, %d times", both, 3)
	console.Note(&engine.Note{Fact: engine.NoteFetchFailed{What: "orders", Err: both}})
	const text = "read: no spot; no futures; hint: wait"
	logs.Lines(func(all []LogLine) {
		if len(all) != 3 || all[0].Message != "it is not read: "+text || all[1].Message != text+", 3 times" || all[2].Fields["err"] != text {
			t.Errorf("want %q in each, have %+v", text, all)
		}
	})
	if given[0] != both {
		t.Errorf("want the caller's arguments left alone, have %v", given)
	}
}

func TestATextOfTheVenueCannotForgeALine(t *testing.T) {
	t.Parallel()
	evil := "no\n04:00:00 INF HALTED \x1b[2J\u202e\r" + strings.Repeat("x", 10_000)
	for _, n := range []engine.Note{
		{Symbol: bitcoin, Fact: engine.NoteRefused{NoteOrder: engine.NoteOrder{ClientOrderID: "a"}, Reason: evil}},
		{Symbol: bitcoin, Fact: engine.NoteUncertain{NoteOrder: engine.NoteOrder{ClientOrderID: "a"}, Reason: evil}},
		{Fact: engine.NoteFetchFailed{What: "orders", Err: errors.New(evil)}},
		{Symbol: bitcoin, Fact: engine.NoteQuarantine{Reason: evil}},
	} {
		for _, format := range []Format{{}, {JSON: true}} {
			have := written(format, []engine.Note{n})
			if strings.Count(have, "\n") != 1 || strings.ContainsAny(have, "\x1b\r\u202e") || len(have) > 2*printable.MaxExcerpt {
				t.Errorf("%T: want one short line without control characters, have %d bytes: %.200q", n.Fact, len(have), have)
			}
		}
	}
}
