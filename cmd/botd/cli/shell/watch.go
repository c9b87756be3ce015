package shell

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"botd/internal/failure"
)

// shortestWatch bounds the load that --watch puts on the daemon.
const shortestWatch = 250 * time.Millisecond

// WatchFlag adds --watch to a command whose output changes.
func WatchFlag(command *cobra.Command, every *time.Duration) {
	command.Flags().DurationVar(every, "watch", 0, "refresh the output at this interval (--watch alone: 2s) until Ctrl-C")
	command.Flags().Lookup("watch").NoOptDefVal = "2s"
}

// Watch shows a value once, or repeatedly until the context ends. On a terminal each frame replaces the one before.
// After a first success, Watch shows a failure and tries again: the daemon may be restarting.
func Watch(command *cobra.Command, every time.Duration, show func(io.Writer) error) error {
	if every == 0 {
		return show(command.OutOrStdout())
	}
	if every < shortestWatch {
		return failure.Usagef("--watch %s: at least %s", every, shortestWatch)
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	resized, end := resizes()
	defer end()
	if w := command.OutOrStdout(); Terminal(w) {
		_, _ = io.WriteString(endOf(w), "\x1b[?1049h\x1b[?25l")                    // an alternate screen without a cursor
		defer func() { _, _ = io.WriteString(endOf(w), "\x1b[?25h\x1b[?1049l") }() // and back to the previous screen
	}
	for first := true; ; first = false {
		screen := glance{to: command.OutOrStdout()}
		err := show(&screen)
		if err != nil && first {
			return err
		}
		if err := draw(command, every, screen.Bytes(), err); err != nil {
			return failure.Wrap(failure.IO, err)
		}
		select {
		case <-ticker.C:
		case <-resized:
		case <-command.Context().Done():
			if s, ok := failure.SignalOf(context.Cause(command.Context())); ok {
				return failure.Wrap(failure.SignalCode(s), failure.ErrQuiet)
			}
			return nil
		}
	}
}

// fitted returns the lines that fit on a terminal without scrolling: it wraps longer lines, and counts those
// below the end. Zero means any number of columns or rows.
func fitted(content string, columns, rows int) (lines []string) {
	for line := range strings.Lines(content) {
		line = strings.TrimSuffix(line, "\n")
		if columns > 0 && text.StringWidthWithoutEscSequences(line) > columns {
			lines = append(lines, strings.Split(text.WrapSoft(line, columns), "\n")...)
		} else {
			lines = append(lines, line)
		}
	}
	if shown := rows - 2; shown > 0 && len(lines) > rows-1 {
		more := len(lines) - shown
		lines = append(lines[:shown:shown], fmt.Sprintf("... %d more lines: a taller or wider terminal shows them", more))
	}
	return lines
}

// glance is one frame, buffered until it is complete.
type glance struct {
	bytes.Buffer
	to io.Writer
}

func (g *glance) onTo() io.Writer { return g.to }

// draw writes one frame.
func draw(command *cobra.Command, every time.Duration, content []byte, failed error) error {
	w := command.OutOrStdout()
	if !Terminal(w) {
		if failed != nil {
			fmt.Fprintln(command.ErrOrStderr(), failed)
		}
		_, err := w.Write(content)
		return err
	}
	var screen strings.Builder
	fmt.Fprintf(&screen, "every %s: %s    %s    Ctrl-C ends\n\n", every, command.CommandPath(), time.Now().UTC().Format("15:04:05 UTC"))
	if failed != nil {
		fmt.Fprintln(&screen, failed)
	}
	screen.Write(content)
	if _, err := io.WriteString(endOf(w), "\x1b[H"); err != nil { // written past the filter, to the terminal itself
		return err
	}
	columns, rows, _ := sizeOf(w)
	for _, line := range fitted(screen.String(), columns, rows) { // each line replaces the previous one, which avoids flicker
		if _, err := io.WriteString(w, line); err != nil {
			return err
		}
		if _, err := io.WriteString(endOf(w), "\x1b[K\n"); err != nil {
			return err
		}
	}
	_, err := io.WriteString(endOf(w), "\x1b[J")
	return err
}
