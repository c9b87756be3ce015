package notify

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// Limits of a message: with its title it stays below the 4,096 characters that Telegram accepts.
const (
	maxLines = 20
	maxText  = 300   // bytes of one line of a text
	lineRest = 56    // bytes of a line in addition to its text: time, severity, count
	maxBytes = 3_800 // of all lines
	maxTitle = 120   // bytes of a subject
)

// digest combines events: a repeated event is one line with its count.
type digest struct {
	lines []line
	bytes int
	more  int // number of events beyond the limits
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
	e.Text = bounded(e.Text)
	for i := range d.lines {
		if l := &d.lines[i]; l.event.Name == e.Name && l.event.Text == e.Text {
			l.last = add.last
			l.count += add.count
			return
		}
	}
	if len(d.lines) == maxLines || d.bytes+len(e.Text)+lineRest > maxBytes {
		d.more += add.count
		return
	}
	d.bytes += len(e.Text) + lineRest
	d.lines = append(d.lines, add)
}

// bounded shortens each line of a text, because a summary has one for each strategy, and the whole text to the size of a message.
func bounded(text string) string {
	all := strings.Split(text, "\n")
	for i := range all {
		all[i] = cut(all[i], maxText)
	}
	if text = strings.Join(all, "\n"); len(text) > maxBytes-lineRest {
		text = cut(text, maxBytes-lineRest-len("…"))
	}
	return text
}

// cut returns a text, or its beginning with an ellipsis if it has more than the given number of bytes.
func cut(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	return strings.ToValidUTF8(text[:bytes], "") + "…"
}

// join adds the events of a later digest.
func (d *digest) join(later *digest) {
	for _, l := range later.lines {
		d.put(l)
	}
	d.more += later.more
}

// message is the content that a service receives.
type message struct{ subject, text string }

func (d *digest) message(title string) message { return message{d.subject(title), d.text(title)} }

// subject names the account, and the worst event: its severity, kind and scope.
func (d *digest) subject(title string) string {
	if len(d.lines) == 0 {
		return title
	}
	worst := &d.lines[0].event
	for i := range d.lines {
		if e := &d.lines[i].event; e.weight() > worst.weight() {
			worst = e
		}
	}
	what, _, _ := strings.Cut(cmp.Or(worst.Subject, strings.Join(strings.Fields(strings.SplitN(worst.Text, "\n", 2)[0]), " ")), "\n")
	text := title + ": " + worst.word() + what
	text = cut(text, maxTitle)
	if others := len(d.lines) - 1 + d.more; others > 0 {
		text += fmt.Sprintf(" (and %d more)", others)
	}
	return text
}

// weight returns how much an event matters compared with others; the end of a condition matters least.
func (e *Event) weight() Severity {
	if e.Ended {
		return Info
	}
	return e.Severity
}

// word returns the severity as it is shown; empty for an event that needs no action.
func (e *Event) word() string {
	if e.weight() == Info {
		return ""
	}
	return strings.ToUpper(e.Severity.String()) + " "
}

// text returns the message's body.
func (d *digest) text(title string) string {
	var text strings.Builder
	text.WriteString(title)
	for i := range d.lines {
		l := &d.lines[i]
		text.WriteByte('\n')
		text.WriteString(l.first.UTC().Format("15:04:05 "))
		text.WriteString(l.event.word())
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
