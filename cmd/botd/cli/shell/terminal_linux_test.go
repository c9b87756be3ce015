package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"botd/internal/failure"
)

// terminal is a pseudo terminal of some columns and rows, and everything written to it.
type terminal struct {
	*os.File
	master *os.File
	shown  chan string
}

func newTerminal(t *testing.T, columns, rows uint16) *terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo terminal here: %v", err)
	}
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: rows})
	}
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo terminal here: %v", err)
	}
	at := &terminal{file, master, make(chan string, 1)}
	go func() {
		text, _ := io.ReadAll(master) // until the other end is closed
		at.shown <- strings.ReplaceAll(string(text), "\r\n", "\n")
	}()
	t.Cleanup(func() { _, _ = file.Close(), master.Close() })
	return at
}

// text closes the terminal, and returns what it shows.
func (at *terminal) text(t *testing.T) string {
	t.Helper()
	if err := at.Close(); err != nil {
		t.Fatal(err)
	}
	return <-at.shown
}

func TestATerminalHasColorsUnlessTheyAreRefused(t *testing.T) {
	for _, c := range []struct {
		none, kind string
		g          Globals
		want       bool
	}{
		{"", "xterm", Globals{}, true},
		{"1", "xterm", Globals{}, false},
		{"", "dumb", Globals{}, false},
		{"", "xterm", Globals{NoColor: true}, false},
		{"1", "dumb", Globals{Color: Choice{Word: "always"}}, true},
	} {
		t.Setenv("NO_COLOR", c.none)
		t.Setenv("TERM", c.kind)
		t.Setenv("FORCE_COLOR", "")
		at, command := newTerminal(t, 80, 24), &cobra.Command{}
		command.SetContext(c.g.In(t.Context()))
		if have := Colors(command, Printable(at.File)); have != c.want {
			t.Errorf("NO_COLOR=%q TERM=%q %+v: have %t", c.none, c.kind, c.g, have)
		}
	}
	regular, err := os.Create(t.TempDir() + "/file")
	if err != nil {
		t.Fatal(err)
	}
	defer regular.Close()
	if Terminal(regular) || Terminal(&bytes.Buffer{}) {
		t.Error("want neither a file nor a buffer to be a terminal")
	}
}

func TestATableIsAsWideAsTheTerminal(t *testing.T) {
	t.Parallel()
	drawn := func(columns uint16, behind func(io.Writer) io.Writer) string {
		at := newTerminal(t, columns, 24)
		g := NewTable(behind(at.File), table.Row{"strategy", "why"})
		g.AppendRow(table.Row{"hold", "the slices due by now"})
		g.Render()
		return at.text(t)
	}
	for name, behind := range map[string]func(io.Writer) io.Writer{
		"itself":             func(w io.Writer) io.Writer { return w },
		"a filter":           Printable,
		"a shape and a pipe": func(w io.Writer) io.Writer { return &failing{w: &shape{Writer: Printable(w)}} },
	} {
		// "│ hold     │ the slices due by now │" has 36 columns; a terminal of unknown width has 0.
		for columns, whole := range map[uint16]bool{0: true, 36: true, 35: false, 80: true} {
			if have := drawn(columns, behind); strings.Contains(have, "│ hold     │ the slices due by now │") != whole {
				t.Errorf("%s, %d columns: want a table %t, have\n%s", name, columns, whole, have)
			}
		}
	}
	file, err := os.Create(t.TempDir() + "/file")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, w := range []io.Writer{file, &bytes.Buffer{}} {
		if columns, known := columnsOf(w); known || columns != 0 {
			t.Errorf("%T: want an unknown width, have %d, %t", w, columns, known)
		}
		if columns, rows, known := sizeOf(w); known || columns != 0 || rows != 0 {
			t.Errorf("%T: want an unknown size, have %d, %d, %t", w, columns, rows, known)
		}
	}
	if columns, rows, known := sizeOf(Printable(newTerminal(t, 90, 30).File)); columns != 90 || rows != 30 || !known {
		t.Errorf("want 90 columns and 30 rows, have %d, %d, %t", columns, rows, known)
	}
}

func TestAPersonIsAskedOnATerminal(t *testing.T) {
	t.Parallel()
	at := newTerminal(t, 80, 24)
	file, err := os.Create(t.TempDir() + "/file")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, c := range []struct {
		name string
		in   io.Reader
		g    Globals
		want bool
	}{
		{"a terminal", at.File, Globals{}, true},
		{"a terminal and --no-input", at.File, Globals{NoInput: true}, false},
		{"a file", file, Globals{}, false},
		{"a file and --no-input", file, Globals{NoInput: true}, false},
		{"a buffer", &bytes.Buffer{}, Globals{}, false},
	} {
		command := &cobra.Command{}
		command.SetContext(c.g.In(t.Context()))
		command.SetIn(c.in)
		if in, have := Person(command); have != c.want || have && in != at.File {
			t.Errorf("%s: want %t, have %t", c.name, c.want, have)
		}
	}
}

// TestAWatchedTerminal covers three frames: the second fails, and the third is taller than the terminal. A change of its size draws the next.
func TestAWatchedTerminal(t *testing.T) {
	at := newTerminal(t, 60, 6)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	command, messages := &cobra.Command{Use: "positions"}, &bytes.Buffer{}
	command.SetContext(ctx)
	command.SetOut(Printable(at.File))
	command.SetErr(messages)
	frame := 0
	err := Watch(command, time.Hour, func(w io.Writer) error {
		frame++
		switch frame {
		case 3:
			cancel(&failure.Signal{Signal: syscall.SIGTERM})
			fmt.Fprint(w, "five\nsix\nseven\neight\nnine\n")
			return nil
		case 2:
			err := syscall.Kill(os.Getpid(), syscall.SIGWINCH)
			return errors.Join(errors.New("no daemon answers"), err)
		}
		fmt.Fprint(w, "one\x1b[2J\n")
		return syscall.Kill(os.Getpid(), syscall.SIGWINCH)
	})
	if failure.CodeOf(err) != 143 || err.Error() != "" || messages.Len() > 0 {
		t.Errorf("want exit code 143 and nothing on standard error, have %v, %q", err, messages)
	}
	text := at.text(t)
	const start, finish = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
	if !strings.HasPrefix(text, start) || !strings.HasSuffix(text, finish) {
		t.Fatalf("want an alternate screen without a cursor, have %q", text)
	}
	frames := strings.Split(strings.TrimSuffix(strings.TrimPrefix(text, start), finish), "\x1b[H")
	if len(frames) != 4 || frames[0] != "" {
		t.Fatalf("want three frames, have %q", frames)
	}
	for i, want := range [][]string{
		{"", "one\\u001b[2J"},
		{"", "no daemon answers"},
		{"", "five", "six", "... 3 more lines: a taller or wider terminal shows them"},
	} {
		lines := strings.Split(frames[i+1], "\x1b[K\n")
		if !strings.HasPrefix(lines[0], "every 1h0m0s: positions    ") || !strings.HasSuffix(lines[0], " UTC    Ctrl-C ends") {
			t.Errorf("frame %d: want a heading, have %q", i+1, lines[0])
		}
		if have, want := strings.Join(lines[1:], "|"), strings.Join(append(want, "\x1b[J"), "|"); have != want {
			t.Errorf("frame %d: want %q, have %q", i+1, want, have)
		}
	}
}

func TestAWatchedTerminalThatIsClosedEnds(t *testing.T) {
	t.Parallel()
	at := newTerminal(t, 60, 6)
	command := &cobra.Command{Use: "positions"}
	command.SetContext(t.Context())
	command.SetOut(Printable(at.File))
	// A read that waits keeps the terminal open until it returns: the first frame may still be shown.
	err := Watch(command, shortestWatch, func(io.Writer) error { _ = at.master.Close(); return nil })
	if failure.CodeOf(err) != 74 {
		t.Errorf("want exit code 74, have %v", err)
	}
}

func TestTheSizeOfATerminalIsWatchedUntilTheEnd(t *testing.T) {
	changed, end := resizes()
	if err := syscall.Kill(os.Getpid(), syscall.SIGWINCH); err != nil {
		t.Fatal(err)
	}
	<-changed
	end()
	again, endAgain := resizes()
	defer endAgain()
	if err := syscall.Kill(os.Getpid(), syscall.SIGWINCH); err != nil {
		t.Fatal(err)
	}
	<-again // where the first would have it too
	select {
	case <-changed:
		t.Error("want nothing after the end")
	default:
	}
}

var colors = regexp.MustCompile(`\x1b\[\d+m`)

// TestTheBarOfATerminal covers the last state of a bar, and a line above it.
func TestTheBarOfATerminal(t *testing.T) {
	for name, want := range map[string]bool{"xterm": true, "dumb": false} {
		t.Setenv("TERM", name)
		t.Setenv("NO_COLOR", "")
		t.Setenv("FORCE_COLOR", "")
		at, command := newTerminal(t, 120, 24), &cobra.Command{}
		command.SetErr(Printable(at.File))
		b := NewProgress(command, 100, "trials")
		b.SetTotal(8)
		b.Note("best 1.5")
		b.Log("a line \x1b[2J")
		b.Set(8, 8)
		b.End()
		text := at.text(t)
		for _, word := range []string{"trials (best 1.5) ... done! [8 in ", "/s]\n", "a line \\u001b[2J\n"} {
			if !strings.Contains(colors.ReplaceAllString(text, ""), word) {
				t.Errorf("TERM=%s: want %q, have %q", name, word, text)
			}
		}
		if colored := colors.MatchString(text); colored != want {
			t.Errorf("TERM=%s: want colors %t, have %q", name, want, text)
		}
	}
}
