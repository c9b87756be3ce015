package notify

import (
	"fmt"
	"strings"
	"time"
)

// Bounds of a message: every service takes one of this length.
const (
	maxLines = 20
	maxText  = 300   // bytes of one line's text
	maxBytes = 3_500 // of all lines
)

// digest puts events together: what repeats is one line with its count.
type digest struct {
	lines []line
	bytes int
	more  int // events beyond the bounds
}

type line struct {
	first, last time.Time
	event       Event
	count       int
}

func (d *digest) empty() bool { return len(d.lines) == 0 }

func (d *digest) add(e Event) { d.put(line{e.At, e.At, e, 1}) }

func (d *digest) put(add line) {
	e := &add.event
	if len(e.Text) > maxText {
		e.Text = strings.ToValidUTF8(e.Text[:maxText], "") + "…"
	}
	for i := range d.lines {
		if l := &d.lines[i]; l.event.Name == e.Name && l.event.Text == e.Text {
			l.last = add.last
			l.count += add.count
			return
		}
	}
	if len(d.lines) == maxLines || d.bytes+len(e.Text) > maxBytes {
		d.more += add.count
		return
	}
	d.bytes += len(e.Text)
	d.lines = append(d.lines, add)
}

// join takes what a later digest holds.
func (d *digest) join(later *digest) {
	for _, l := range later.lines {
		d.put(l)
	}
	d.more += later.more
}

// text returns the message.
func (d *digest) text(title string) string {
	var text strings.Builder
	text.WriteString(title)
	for i := range d.lines {
		l := &d.lines[i]
		text.WriteByte('\n')
		text.WriteString(l.first.UTC().Format("15:04:05 "))
		if l.event.Severity > Info {
			text.WriteString(strings.ToUpper(l.event.Severity.String()) + " ")
		}
		text.WriteString(l.event.Text)
		if l.count > 1 {
			fmt.Fprintf(&text, " (%d times, last %s)", l.count, l.last.UTC().Format("15:04:05"))
		}
	}
	if d.more > 0 {
		fmt.Fprintf(&text, "\nand %d more: see botd logs", d.more)
	}
	return text.String()
}
