package ops

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"botd/internal/enginetest"
	"botd/runtime/engine"
)

// TestEveryDeclaredStateHasItsMetricAndLogLine reads the table of declared states
// of docs/exactly-once.md and looks for each row's label and events.
func TestEveryDeclaredStateHasItsMetricAndLogLine(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/exactly-once.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "\n## Declared states\n")
	table, _, _ = strings.Cut(table, "\n## ")
	var screen bytes.Buffer
	console := NewConsole(&screen, Format{JSON: true}, NewMetrics("demo", Build{}), nil)
	for _, n := range enginetest.Notes(t, "trend", bitcoin, "bx-1-9", "margin") {
		over := enginetest.Ended(n)
		console.Note(&n)
		console.Note(&over)
	}
	console.Note(&engine.Note{Fact: engine.NoteJournal{Reason: "the disk is nearly full"}})
	console.Note(&engine.Note{Fact: engine.NoteJournal{Reason: "journal.db is gone", Lost: true}})
	console.Warn("daemon.waiting", "the daemon's own, without an engine's note")
	var reasons []string
	events := regexp.MustCompile("`([a-z]+\\.[a-z]+)`")
	for _, row := range regexp.MustCompile(`(?m)^\| (\w+) \| .*reason="(\w+)".*$`).FindAllStringSubmatch(table, -1) {
		reasons = append(reasons, row[2])
		named := events.FindAllStringSubmatch(row[0], -1)
		if len(named) == 0 {
			t.Errorf("%s: want its log lines named", row[1])
		}
		for _, event := range named {
			if !strings.Contains(screen.String(), `"event":"`+event[1]+`"`) {
				t.Errorf("%s: the log never has %s", row[1], event[1])
			}
		}
	}
	want := slices.Sorted(slices.Values(haltReasons))
	if have := slices.Sorted(slices.Values(reasons)); !slices.Equal(want, have) {
		t.Errorf("states: want a row for each of %v, have %v", want, have)
	}
}
