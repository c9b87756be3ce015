package notify

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// lines are distinct events with texts of so many bytes.
func lines(count, size int) (all []Event) {
	for i := range count {
		all = append(all, Event{At: time.UnixMilli(0), Name: "x", Text: fmt.Sprintf("%02d%s", i, strings.Repeat("a", size-2))})
	}
	return all
}

// TestWhatAMessageHasRoomFor covers the bounds of docs/configuration.md: 20 lines, 3,800 bytes in which each line counts 56 more
// than its text, and 300 bytes of a text.
func TestWhatAMessageHasRoomFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name              string
		count, size       int
		shown, more, long int // lines, events that are left out, bytes of a line's text
	}{
		{"20 short lines", 20, 10, 20, 0, 10},
		{"21 short lines", 21, 10, 20, 1, 10},
		{"20 lines of 134 bytes are 3,800", 20, 134, 20, 0, 134},
		{"20 lines of 135 bytes are 3,820", 20, 135, 19, 1, 135},
		{"10 lines of 300 bytes are 3,560", 10, 300, 10, 0, 300},
		{"12 lines of 300 bytes, of which 10 fit", 12, 300, 10, 2, 300},
		{"a line of 301 bytes ends with an ellipsis of 3", 1, 301, 1, 0, 303},
	} {
		var d digest
		for _, e := range lines(c.count, c.size) {
			d.add(e)
		}
		text, rest, cut := strings.Cut(d.text("botd"), "\nand ")
		all := strings.Split(text, "\n")
		if have := len(all) - 1; have != c.shown || cut != (c.more > 0) || len(all[1]) != c.long+len("00:00:00 ") {
			t.Errorf("%s: want %d lines of %d bytes, have %d of %d", c.name, c.shown, c.long, have, len(all[1])-len("00:00:00 "))
		}
		if want := fmt.Sprintf("%d more: see botd logs", c.more); cut && rest != want {
			t.Errorf("%s: want %q, have %q", c.name, want, rest)
		}
	}
}

// TestAMessageThatFailedAndTheNextAreOne covers two messages with events that found no room.
func TestAMessageThatFailedAndTheNextAreOne(t *testing.T) {
	t.Parallel()
	var failed, next digest
	for _, e := range lines(22, 10) {
		failed.add(e)
	}
	later := lines(23, 10)
	for i := range later {
		later[i].At = time.UnixMilli(90_000)
		next.add(later[i])
	}
	failed.join(&next)
	text := failed.text("botd")
	if want := "botd\n00:00:00 00aaaaaaaa (2 times, last 00:01:30)\n00:00:00 01aaaaaaaa (2 times, last 00:01:30)\n"; !strings.HasPrefix(text, want) {
		t.Errorf("want\n%s, have\n%s", want, text)
	}
	if want := "\nand 5 more: see botd logs"; !strings.HasSuffix(text, want) { // 2 of the first, 3 of the second
		t.Errorf("want %q, have\n%s", want, text)
	}
	if want, have := "botd: 00aaaaaaaa (and 24 more)", failed.subject("botd"); have != want {
		t.Errorf("want %s, have %s", want, have)
	}
}

func TestASubjectIsOneBoundedLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"the first line of a text", "a  stop\tis missing\nfutures BTC-USDT", "botd: a stop is missing"},
		{"120 bytes", strings.Repeat("a", 114), "botd: " + strings.Repeat("a", 114)},
		{"121 bytes", strings.Repeat("a", 115), "botd: " + strings.Repeat("a", 114) + "…"},
		{"a character of two bytes at the cut", strings.Repeat("a", 113) + "éé", "botd: " + strings.Repeat("a", 113) + "…"},
	} {
		var d digest
		d.add(Event{Text: c.text})
		if have := d.subject("botd"); have != c.want {
			t.Errorf("%s: want %q, have %q", c.name, c.want, have)
		}
	}
	if have := new(digest).subject("botd main"); have != "botd main" {
		t.Errorf("without events: want the title, have %q", have)
	}
}

// TestTheWorstEventIsTheSubject covers events of every severity, and ends.
func TestTheWorstEventIsTheSubject(t *testing.T) {
	t.Parallel()
	info, warning := Event{Text: "filled"}, Event{Severity: Warning, Text: "foreign"}
	wrong, over := Event{Severity: Error, Text: "halted"}, Event{Severity: Error, Text: "blind is over", Ended: true}
	for _, c := range []struct {
		all  []Event
		want string
	}{
		{[]Event{info, warning}, "botd: WARNING foreign (and 1 more)"},
		{[]Event{warning, wrong}, "botd: ERROR halted (and 1 more)"},
		{[]Event{wrong, warning}, "botd: ERROR halted (and 1 more)"},
		{[]Event{over, warning, info}, "botd: WARNING foreign (and 2 more)"},
		{[]Event{over, info}, "botd: blind is over (and 1 more)"},
		{[]Event{info, over}, "botd: filled (and 1 more)"},
	} {
		var d digest
		for _, e := range c.all {
			d.add(e)
		}
		if have := d.subject("botd"); have != c.want {
			t.Errorf("want %q, have %q", c.want, have)
		}
	}
}

// TestASummaryOfSeveralLinesIsShownAsAWhole covers a line for each of thirty strategies, one of which is long, and more than a message takes.
func TestASummaryOfSeveralLinesIsShownAsAWhole(t *testing.T) {
	t.Parallel()
	lines := slices.Repeat([]string{strings.Repeat("x", 80)}, 30)
	lines[7] = strings.Repeat("y", maxText+1)
	d := &digest{}
	d.add(Event{Text: strings.Join(lines, "\n")})
	lines[7] = lines[7][:maxText] + "…"
	if have := d.text("botd"); !strings.Contains(have, strings.Join(lines, "\n")) {
		t.Errorf("want each line, have %d bytes of %d: %s", len(have), len(strings.Join(lines, "\n")), have)
	}
	d = &digest{}
	d.add(Event{Text: strings.Join(slices.Repeat(lines, 3), "\n")})
	if have := d.text("botd"); d.more != 0 || d.bytes > maxBytes || d.bytes < maxBytes-10 || !strings.HasSuffix(strings.TrimSpace(have), "…") {
		t.Errorf("want as much as a message takes, have %d bytes, %d more", d.bytes, d.more)
	}
}
