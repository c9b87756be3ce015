package endtoend

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"botd/internal/failure"
)

// unseen is text in a symbol's name, a reason or an error that could forge a terminal's output.
const unseen = "\x1b[2J\x1b]0;owned\a \u202egnp.exe \u2066"

func wantSeen(t *testing.T, what, text string) {
	t.Helper()
	for _, sign := range []string{"\x1b", "\a", "\u202e", "\u2066"} {
		if strings.Contains(text, sign) {
			t.Errorf("%s: want %q escaped, have %q", what, sign, text)
		}
	}
}

// TestNoEscapeSequenceReachesTerminal gives a daemon a reason with escape sequences, and reads it back by every
// command that shows it.
func TestNoEscapeSequenceReachesTerminal(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	_, log := p.start("daemon", "run", "--listen", "off")
	log.wait(t, "known     orders")
	p.run(failure.OK, "halt", "--level", "pause", "--reason", unseen, "--yes")
	for _, command := range [][]string{
		{"journal", "tail"}, {"journal", "export"}, {"journal", "tail", "-o", "jsonl"}, {"status"}, {"status", "-o", "json"}, {"risk"}, {"logs"},
	} {
		text := p.run(failure.OK, command...)
		wantSeen(t, "botd "+strings.Join(command, " "), text)
	}
	wantSeen(t, "the daemon's log", log.String())
	found := false
	for line := range strings.Lines(p.run(failure.OK, "journal", "tail", "-o", "jsonl")) {
		var r struct{ Detail string }
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		found = found || strings.Contains(r.Detail, unseen)
	}
	if !found {
		t.Errorf("journal tail -o jsonl: want the value unchanged, have %s", p.run(failure.OK, "journal", "tail", "-o", "jsonl"))
	}
}

func TestErrorsRepeatNoEscapeSequence(t *testing.T) {
	t.Parallel()
	for _, arguments := range [][]string{{unseen}, {"check", "-c", unseen}, {"journal", "verify", "-c", unseen}, {"run", "--" + unseen}} {
		var out, err bytes.Buffer
		if code := execute(arguments, &out, &err); code == failure.OK {
			t.Errorf("%q: want it refused", arguments)
		}
		wantSeen(t, strings.Join(arguments, " "), out.String()+err.String())
	}
}
