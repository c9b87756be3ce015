package shell

import (
	"fmt"
	"io"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"
	"github.com/spf13/cobra"

	"botd/internal/printable"
)

// Progress is a progress bar on a terminal, and a line every ten seconds elsewhere.
type Progress struct {
	writer  progress.Writer
	tracker *progress.Tracker
	drawn   chan struct{} // closed when the bar's goroutine ends
	stream  io.Writer
	what    string
	began   time.Time
	first   int // done at the start
	logged  time.Time
	note    string
}

// NewProgress starts a bar on stderr.
func NewProgress(command *cobra.Command, total int, what string) *Progress {
	b := &Progress{stream: command.ErrOrStderr(), what: what, logged: time.Now(), first: -1}
	if !Terminal(b.stream) {
		return b
	}
	b.writer = progress.NewWriter()
	b.writer.SetOutputWriter(endOf(b.stream)) // the bar moves the cursor itself
	b.writer.SetTrackerLength(30)
	b.writer.SetUpdateFrequency(100 * time.Millisecond)
	style := progress.StyleDefault
	style.Visibility.ETA, style.Visibility.Speed, style.Visibility.Percentage = true, true, true
	if Colors(command, b.stream) {
		style.Colors = progress.StyleColorsExample
	}
	b.writer.SetStyle(style)
	b.tracker = &progress.Tracker{Message: what, Total: int64(total)}
	b.writer.AppendTracker(b.tracker)
	b.drawn = make(chan struct{})
	go func() {
		defer close(b.drawn)
		b.writer.Render()
	}()
	return b
}

// Log prints a line above the bar.
func (b *Progress) Log(text string) {
	if b.writer != nil {
		b.writer.Log("%s", printable.Lines(text))
		return
	}
	fmt.Fprintln(b.stream, text)
}

// SetTotal sets the total, once it is known.
func (b *Progress) SetTotal(n int) {
	if b.tracker != nil {
		b.tracker.UpdateTotal(int64(n))
	}
}

// Note sets the text next to the count.
func (b *Progress) Note(text string) {
	b.note = text
	if b.tracker != nil {
		b.tracker.UpdateMessage(b.what + " (" + text + ")")
	}
}

// Set sets the progress.
func (b *Progress) Set(done, total int) {
	if b.first < 0 {
		b.first, b.began = done, time.Now()
	}
	if b.tracker != nil {
		b.tracker.SetValue(int64(done))
		return
	}
	if time.Since(b.logged) >= 10*time.Second && total > 0 {
		b.logged = time.Now()
		text := fmt.Sprintf("%s: %d of %d (%d %%)", b.what, done, total, done*100/total)
		if b.note != "" {
			text += ", " + b.note
		}
		if passed := time.Since(b.began); done > b.first {
			left := time.Duration(float64(passed) * (float64(total-done) / float64(done-b.first))) // integers overflow: bytes times nanoseconds
			text += fmt.Sprintf(", %s left", left.Round(time.Second))
		}
		fmt.Fprintln(b.stream, text)
	}
}

// End draws the final bar, and returns when nothing more is drawn.
func (b *Progress) End() {
	if b.tracker == nil {
		return
	}
	b.tracker.MarkAsDone()
	for { // Stop has no effect before the goroutine has begun to draw
		b.writer.Stop()
		select {
		case <-b.drawn:
			return
		case <-time.After(5 * time.Millisecond):
		}
	}
}
