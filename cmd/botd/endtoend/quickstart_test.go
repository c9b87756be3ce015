package endtoend

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func lineOf(path string, line int) string { return fmt.Sprintf("%s:%d", filepath.Base(path), line) }

// TestQuickStartOutputIsCorrect runs the commands of the documents that a
// newcomer reads first, in order, in a copy of what they find, and compares the shown
// output with the real one:
//
//   - from botd run to ^C word by word, with every number, order id and hash left out;
//     of the daemon's own output, the shown lines come in that order
//   - everything else to the last digit
//   - a line "..." stands for any lines, and " ..." at the end of one for its rest
func TestQuickStartOutputIsCorrect(t *testing.T) {
	t.Parallel()
	for name, least := range map[string]int{"README.md": 3, "docs/quickstart.md": 12, "docs/backtest.md": 2} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			list := examples(t, filepath.Join(above, name))
			if len(list) < least {
				t.Fatalf("%s: want at least %d commands after a $ in console blocks, have %d", name, least, len(list))
			}
			n := newcomer{t: t, binary: self(t), directory: t.TempDir()}
			if err := os.CopyFS(filepath.Join(n.directory, "configs"), os.DirFS(filepath.Join(above, "configs"))); err != nil {
				t.Fatal(err)
			}
			for _, e := range list {
				n.follow(e)
			}
			n.interrupt()
		})
	}
}

// newcomer runs the commands of a document.
type newcomer struct {
	t         *testing.T
	binary    string
	directory string
	address   string
	daemon    *exec.Cmd
	log       *overheard
}

// overheard is a program's output so far.
type overheard struct {
	mutex sync.Mutex // guards text and more
	text  bytes.Buffer
	more  chan struct{} // closed with the next write
}

func (h *overheard) Write(text []byte) (int, error) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	close(h.more)
	h.more = make(chan struct{})
	return h.text.Write(text)
}

func (h *overheard) soFar() (string, <-chan struct{}) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return h.text.String(), h.more
}

// follow runs one command. The commands that build the program have run already.
func (n *newcomer) follow(e example) {
	n.t.Helper()
	arguments := e.command
	switch {
	case arguments[0] == "^C":
		n.interrupt()
		n.wantLines(e)
		return
	case arguments[0] == "sed":
		command := exec.Command("sed", arguments[1:]...)
		command.Dir = n.directory
		if text, err := command.CombinedOutput(); err != nil {
			n.t.Fatalf("%s: %v: %v\n%s", e.place, e.command, err, text)
		}
		return
	case arguments[0] == "git", arguments[0] == "cd", arguments[0] == "go" && (arguments[1] == "build" || arguments[1] == "test"):
		return
	case slices.Equal(arguments[:min(3, len(arguments))], []string{"go", "run", "./cmd/botd"}):
		arguments = arguments[3:]
	case arguments[0] == "botd" || arguments[0] == "./botd":
		arguments = arguments[1:]
	default:
		n.t.Fatalf("%s: want a command of botd, or one that makes it, have %v", e.place, e.command)
	}
	command, _, err := commands().Find(arguments)
	if err != nil {
		n.t.Fatalf("%s: %v: %v", e.place, e.command, err)
	}
	asks := command.Flags().Lookup("listen") != nil
	switch {
	case command.CommandPath() == "botd run":
		n.start(e, arguments)
	case asks:
		n.ask(e, append(arguments, "--listen", n.address))
	case n.daemon != nil:
		n.ask(e, arguments)
	default:
		if have := n.output(arguments); !matches(e.output, strings.Split(have, "\n"), asPrinted) {
			n.t.Errorf("%s: %v\nwant (... stands for anything)\n%s\nhave\n%s", e.place, e.command, strings.Join(e.output, "\n"), have)
		}
	}
}

// start starts the daemon.
func (n *newcomer) start(e example, arguments []string) {
	n.t.Helper()
	n.interrupt()
	address, err := freeAddress()
	if err != nil {
		n.t.Fatal(err)
	}
	n.address, n.log = address, &overheard{more: make(chan struct{})}
	n.daemon = exec.Command(n.binary, append(arguments, "--listen", address, "--log-format", "console")...)
	n.daemon.Dir, n.daemon.Stdout, n.daemon.Stderr, n.daemon.Env = n.directory, n.log, n.log, append(os.Environ(), "NO_COLOR=1")
	if err := n.daemon.Start(); err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() {
		if n.daemon != nil {
			n.daemon.Process.Kill()
		}
	})
	n.wantLines(e)
}

// wantLines waits until the daemon has logged every shown line.
func (n *newcomer) wantLines(e example) {
	n.t.Helper()
	shown := slices.DeleteFunc(slices.Clone(e.output), func(line string) bool { return line == "" || line == "..." })
	for late := time.After(60 * time.Second); ; {
		text, more := n.log.soFar()
		missing := missed(shown, strings.Split(text, "\n"))
		if missing == "" {
			return
		}
		select {
		case <-more:
		case <-late:
			n.t.Fatalf("%s: %v\nwant, after the lines above it in the document\n%s\nhave\n%s", e.place, e.command, missing, text)
		}
	}
}

// missed returns the first shown line that is missing, in order, or nothing.
func missed(shown, have []string) string {
	for _, line := range have {
		if len(shown) > 0 && spoken(line) == spoken(shown[0]) {
			shown = shown[1:]
		}
	}
	if len(shown) > 0 {
		return shown[0]
	}
	return ""
}

// ask queries the daemon until it answers as shown: an order may be in flight.
func (n *newcomer) ask(e example, arguments []string) {
	n.t.Helper()
	if n.daemon == nil {
		n.t.Fatalf("%s: %v asks a botd that was not started", e.place, e.command)
	}
	late, again := time.After(30*time.Second), time.NewTicker(100*time.Millisecond)
	defer again.Stop()
	for {
		have := n.output(arguments)
		if matches(e.output, strings.Split(have, "\n"), spoken) {
			return
		}
		select {
		case <-again.C:
		case <-late:
			n.t.Errorf("%s: %v\nwant (numbers do not count, ... stands for anything)\n%s\nhave\n%s", e.place, e.command, strings.Join(e.output, "\n"),
				have)
			return
		}
	}
}

// output runs a command and returns both its streams.
func (n *newcomer) output(arguments []string) string {
	var both bytes.Buffer
	command := exec.Command(n.binary, arguments...)
	command.Dir, command.Stdout, command.Stderr = n.directory, &both, io.Writer(&both)
	command.Env = append(os.Environ(), "NO_COLOR=1", "BOTD_CACHE="+filepath.Join(n.directory, ".cache"))
	_ = command.Run() // its output is compared, and a check with findings ends with 1
	return strings.TrimRight(both.String(), "\n")
}

// interrupt ends the daemon as Ctrl-C does.
func (n *newcomer) interrupt() {
	n.t.Helper()
	if n.daemon == nil {
		return
	}
	if err := n.daemon.Process.Signal(os.Interrupt); err != nil {
		n.t.Fatal(err)
	}
	if err := n.daemon.Wait(); err != nil {
		n.t.Errorf("the end of the demo: want exit code 0, have %v", err)
	}
	n.daemon = nil
}

var (
	orderIDs = regexp.MustCompile(`\bb[a-z0-9]+-[a-z0-9]+-\d+`)
	anything = regexp.MustCompile(`[+-]?\d[\d.,]*(ms|s|m|h|d|[dhm]\d+[hms])?\b`)
	hashes   = regexp.MustCompile(`\b[0-9a-f]{64}\b`)
	rules    = regexp.MustCompile(`─+`)
)

// spoken returns a line without its numbers, and without the widths that they give a table.
func spoken(line string) string {
	line = hashes.ReplaceAllString(line, "HASH")
	line = anything.ReplaceAllString(orderIDs.ReplaceAllString(line, "ID"), "N")
	return strings.Join(strings.Fields(rules.ReplaceAllString(line, "─")), " ")
}

func asPrinted(line string) string { return strings.TrimRight(line, " ") }

// matches compares lines in order.
func matches(shown, have []string, as func(string) string) bool {
	for len(shown) > 0 && shown[len(shown)-1] == "" {
		shown = shown[:len(shown)-1]
	}
	if len(shown) == 0 {
		return true // no output is shown
	}
	return follows(shown, have, as)
}

func follows(shown, lines []string, as func(string) string) bool {
	if len(shown) == 0 {
		return len(lines) == 0
	}
	if strings.TrimSpace(shown[0]) == "..." {
		for i := range len(lines) + 1 {
			if follows(shown[1:], lines[i:], as) {
				return true
			}
		}
		return false
	}
	if len(lines) == 0 {
		return false
	}
	want, cut := strings.CutSuffix(shown[0], " ...")
	have := as(lines[0])
	if want = as(want); have == want || cut && strings.HasPrefix(have, want) {
		return follows(shown[1:], lines[1:], as)
	}
	return false
}

func TestQuickStartComparison(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		shown, have string
		as          func(string) string
		want        bool
	}{
		{"one\ntwo", "one\ntwo", asPrinted, true},
		{"one\ntwo", "one\nthree", asPrinted, false},
		{"one", "one\ntwo", asPrinted, false},
		{"one\ntwo", "one", asPrinted, false},
		{"profit 12", "profit 13", asPrinted, false},
		{"...\ntwo\n...", "one\ntwo\nthree", asPrinted, true},
		{"...\nfour\n...", "one\ntwo\nthree", asPrinted, false},
		{"10000 candles ...", "10000 candles in 0.2 s", asPrinted, true},
		{"10000 candles ...", "1000 candles in 0.2 s", asPrinted, false},
		{"up 11s  ready", "up 1m2s  ready", spoken, true},
		{"as bmain-tou5en-2 at 51240.5", "as bmain-tounmy-17 at 49373", spoken, true},
		{"│ 0.001 │ running │", "│ 0      │ running │", spoken, true},
		{"│ 0.001 │ running │", "│ 0      │ halted  │", spoken, false},
	} {
		if have := matches(strings.Split(c.shown, "\n"), strings.Split(c.have, "\n"), c.as); have != c.want {
			t.Errorf("%q shown, %q printed: want %v, have %v", c.shown, c.have, c.want, have)
		}
	}
}
