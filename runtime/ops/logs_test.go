package ops

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"botd/exchange"
	"botd/runtime/engine"
)

// maxLineBytes is the maximum memory of a stored line, for the lines of a busy account.
const maxLineBytes = 500

func TestStoredLinesAreSmall(t *testing.T) {
	logs := NewLogs()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range maxLogLines {
		line := `{"level":"info","time":"2026-11-23T12:26:51.028Z","event":"position.changed","strategy":"solspot","market":"spot",` +
			`"symbol":"SOL-USDT","client_order_id":"main-%d","msg":"position  solspot SOL-USDT flat"}`
		if _, err := fmt.Fprintf(logs, line, i); err != nil {
			t.Fatal(err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(logs)
	have := int64(after.HeapAlloc-before.HeapAlloc) / maxLogLines
	t.Logf("%d bytes a line", have)
	if have > maxLineBytes {
		t.Errorf("want at most %d bytes a line, have %d", maxLineBytes, have)
	}
}

// logged is a line of JSON.
func logged(n int) string {
	return fmt.Sprintf(`{"level":"warn","time":"2026-11-23T12:26:51.028Z","event":"order.refused","strategy":"trend","market":"spot",`+
		`"symbol":"SOL-USDT","client_order_id":"main-%d","msg":"refused","err":"-2010","count":2}`, n)
}

func TestALineOfTheLogForTheAPI(t *testing.T) {
	t.Parallel()
	logs := NewLogs()
	var followed []string
	var stored bytes.Buffer
	logs.Follow(func(l LogLine) { followed = append(followed, l.ID+" "+l.ClientOrderID) })
	logs.Store(&stored)
	for n := range 2 {
		if written, err := logs.Write([]byte(logged(n))); err != nil || written != len(logged(n)) {
			t.Fatal(written, err)
		}
	}
	logs.Store(nil)
	if written, err := logs.Write([]byte(`{"level":`)); err == nil || written != 0 {
		t.Errorf("want text that is no line refused, have %d, %v", written, err)
	}
	if want := "[1 main-0 2 main-1]"; fmt.Sprint(followed) != want || stored.String() != logged(0)+logged(1) {
		t.Errorf("want %s passed on and stored, have %v and %q", want, followed, stored.String())
	}
	logs.Lines(func(all []LogLine) {
		want := LogLine{ID: "2", Time: "2026-11-23T12:26:51.028Z", Level: "warn", Event: "order.refused", Message: "refused", Strategy: "trend", Market: "spot",
			Symbol: "SOL-USDT", ClientOrderID: "main-1", Fields: map[string]any{"err": "-2010", "count": 2.0}, sequence: 2}
		if len(all) != 2 || !reflect.DeepEqual(all[1], want) || all[1].Sequence() != 2 {
			t.Errorf("want\n%+v, have\n%+v", want, all)
		}
	})
}

// TestTheOldestLinesAreDropped covers 4,000 lines, and one more: a tenth makes room.
func TestTheOldestLinesAreDropped(t *testing.T) {
	t.Parallel()
	logs := NewLogs()
	for n := range 4_001 {
		if _, err := logs.Write([]byte(logged(n))); err != nil {
			t.Fatal(err)
		}
		logs.Lines(func(all []LogLine) {
			if n == 3_999 && (len(all) != 4_000 || all[0].ID != "1") || n == 4_000 && (len(all) != 3_601 || all[0].ID != "401" || all[3_600].ID != "4001") {
				t.Errorf("after %d: have %d from %s on", n+1, len(all), all[0].ID)
			}
		})
	}
}

// TestTheLevelOfTheLog covers what is written, what is offered to channels, and what is counted, at each level.
func TestTheLevelOfTheLog(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ level, stored, offered string }{
		{"", "info warn error", "info warn error"},
		{"debug", "debug info warn error", "info warn error"},
		{"warn", "warn error", "info warn error"},
		{"error", "error", "info warn error"},
	} {
		logs := NewLogs()
		if c.level != "" {
			if err := logs.SetLevel(c.level); err != nil || logs.Level() != c.level {
				t.Fatal(logs.Level(), err)
			}
		}
		var out bytes.Buffer
		metrics := NewMetrics("demo", Build{})
		console := NewConsole(&out, Format{JSON: true}, metrics, logs)
		var offered []string
		logs.Offer(func(l LogLine) { offered = append(offered, l.Level) })
		for _, fact := range []engine.Fact{engine.NoteTick{}, engine.NoteReload{}, engine.NoteForeign{}, engine.NoteHalt{}} {
			console.Note(&engine.Note{Symbol: bitcoin, Fact: fact})
		}
		var stored []string
		logs.Lines(func(all []LogLine) {
			for i := range all {
				stored = append(stored, all[i].Level)
			}
		})
		if strings.Join(stored, " ") != c.stored || strings.Join(offered, " ") != c.offered {
			t.Errorf("level %s: want %s stored and %s offered, have %v and %v", c.level, c.stored, c.offered, stored, offered)
		}
		if have := strings.Count(out.String(), "\n"); have != len(stored) {
			t.Errorf("level %s: want %d lines on the screen, have %d", c.level, len(stored), have)
		}
		expect(t, metrics, 1, "botd_log_events_total", "level=error")
	}
	if err := NewLogs().SetLevel("trace"); err == nil || !strings.Contains(err.Error(), `level "trace" is unknown (known: debug, info, warn, error)`) {
		t.Errorf("want it refused with the known ones, have %v", err)
	}
}

// TestALineNamesWhatItIsOf uses a console of a strategy and a symbol.
func TestALineNamesWhatItIsOf(t *testing.T) {
	t.Parallel()
	logs := NewLogs()
	console := NewConsole(io.Discard, Format{}, nil, logs)
	console.Of("trend", bitcoin.Key()).Say("a.b", "text %d", 1)
	console.Of("", exchange.SymbolKey{}).Warn("a.b", "text\n%d", 2)
	logs.Lines(func(all []LogLine) {
		for i := range all {
			all[i].Time = ""
		}
		want := []LogLine{{ID: "1", sequence: 1, Level: "info", Event: "a.b", Message: "text 1", Strategy: "trend", Market: "futures", Symbol: "BTC-USDT"},
			{ID: "2", sequence: 2, Level: "warn", Event: "a.b", Message: `text\u000a2`}}
		if !reflect.DeepEqual(all, want) {
			t.Errorf("want\n%+v, have\n%+v", want, all)
		}
	})
}
