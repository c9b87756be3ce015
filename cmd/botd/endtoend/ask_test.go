package endtoend

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"botd/cmd/botd/cli"
	"botd/internal/failure"
	"botd/internal/startclock"
	"botd/strategy"
)

// self returns this program as a command, as scripts run it.
func self(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("botd")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// commands returns the tree of botd's commands.
func commands() *cobra.Command { return cli.NewRoot(io.Discard, io.Discard) }

// execute runs one command line in this process, which cannot start itself again, and returns its exit code.
func execute(arguments []string, stdout, stderr io.Writer, strategies ...strategy.Definition) int {
	return cli.Execute(context.Background(), arguments, stdout, stderr, strategies...)
}

// demoListening starts a demo in a directory and returns its API's address when it listens and has a position
// in BTC-USDT.
func demoListening(t *testing.T, binary, directory string) string {
	t.Helper()
	command := exec.Command(binary, startclock.Arguments([]string{"run", "--listen", "127.0.0.1:0", "--log-format", "json"})...)
	command.Dir = directory
	pipe, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	found := make(chan string, 1)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		address := regexp.MustCompile(`http://(127\.0\.0\.1:\d+)/metrics`)
		settled := false
		var at string
		for lines := bufio.NewScanner(pipe); lines.Scan(); {
			if match := address.FindStringSubmatch(lines.Text()); match != nil {
				at = match[1]
			}
			settled = settled || strings.Contains(lines.Text(), `"position.changed"`) && strings.Contains(lines.Text(), `"BTC-USDT"`)
			if settled && at != "" {
				select {
				case found <- at:
				default:
				}
			}
		}
	}()
	t.Cleanup(func() {
		command.Process.Signal(os.Interrupt)
		<-ended
		if err := command.Wait(); err != nil {
			t.Errorf("the demo's end: want exit code 0, have %v", err)
		}
	})
	select {
	case address := <-found:
		return address
	case <-ended:
		t.Fatal("the demo ended before it listened and traded")
	case <-time.After(60 * time.Second):
		t.Fatal("60 s without an address and a position")
	}
	return ""
}

// TestEveryQuestionIsAnsweredInEveryForm queries a running demo, as a person and as programs do.
func TestEveryQuestionIsAnsweredInEveryForm(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	binary := self(t)
	address := demoListening(t, binary, directory)
	ask := func(arguments ...string) string {
		t.Helper()
		var stdout, stderr bytes.Buffer
		command := exec.Command(binary, append(arguments, "--listen", address)...)
		command.Dir, command.Stdout, command.Stderr = directory, &stdout, &stderr
		if err := command.Run(); err != nil || stderr.Len() > 0 {
			t.Errorf("botd %s: %v\n%s", strings.Join(arguments, " "), err, stderr.String())
		}
		return stdout.String()
	}
	diff := exec.Command(binary, "config", "diff", "-o", "csv", "--listen", address)
	diff.Dir = directory
	output, err := diff.Output()
	wantExit(t, "config diff of what a flag overrides", err, failure.Negative)
	if want := "key,running,files\nlisten,127.0.0.1:0,127.0.0.1:8420\n"; string(output) != want {
		t.Errorf("config diff: want %q, have %q", want, output)
	}
	late := time.Now().Add(60 * time.Second)
	for ask("positions", "-o", "jsonl") == "" { // the board is drawn several times a second
		if time.Now().After(late) {
			t.Fatal("60 s without a position shown")
		}
	}
	var filled struct{ ClientOrderID, Strategy string }
	fill := strings.Split(ask("fills", "-n", "1", "-o", "csv=client_order_id,strategy"), "\n")[1]
	filled.ClientOrderID, filled.Strategy, _ = strings.Cut(fill, ",")
	for _, verb := range []string{"orders", "intents"} {
		if have := ask(verb, "show", filled.ClientOrderID); !strings.Contains(have, "journalled") || !strings.Contains(have, "settled") {
			t.Errorf("%s show %s: want its life, have %s", verb, filled.ClientOrderID, have)
		}
	}
	if have := ask("orders", "--all", "--strategy", filled.Strategy, "-o",
		"csv=strategy"); strings.Trim(strings.ReplaceAll(have, filled.Strategy, ""), "\n") != "strategy" {
		t.Errorf("orders of %s: want no others, have %s", filled.Strategy, have)
	}
	if have := ask("healthcheck"); have != "ok\n" {
		t.Errorf("healthcheck: want ok, have %s", have)
	}
	if have := ask("reconcile"); !strings.Contains(have, "the last complete round was") {
		t.Errorf("reconcile: want the last round, have %s", have)
	}
	if have := ask("logs", "--event", "order.", "-n", "1000", "-o", "jsonl"); !strings.Contains(have, `"event":"order.settled"`) ||
		strings.Contains(have, "market.candle") {
		t.Errorf("logs: want those of orders alone, have %s", have)
	}
	if have := ask("logs", "-n", "5"); strings.Count(have, "\n") != 5 || !strings.Contains(have, " INF ") {
		t.Errorf("logs: want five lines, have %s", have)
	}
	if have := ask("log-level") + ask("log-level", "debug") + ask("log-level"); have != "info\ndebug\ndebug\n" {
		t.Errorf("log-level: want info, then debug, have %q", have)
	}
	for late := time.Now().Add(60 * time.Second); ask("logs", "--event", "strategy.tick", "-o", "jsonl") == ""; {
		if time.Now().After(late) {
			t.Fatal("60 s at level debug without a tick logged")
		}
	}
	for _, verb := range [][]string{{"plan"}, {"explain", "accumulate"}, {"explain", "trend"}, {"explain", "hold", "--at", "1s"}} {
		if have := ask(append(verb, "-o", "json")...); !json.Valid([]byte(have)) {
			t.Errorf("%v -o json: want JSON, have %s", verb, have)
		}
		if have := ask(verb...); strings.Contains(have, "%!") || len(have) < 200 {
			t.Errorf("%v: want it in words, have %s", verb, have)
		}
	}
	if have := ask("explain", "accumulate"); !strings.Contains(have, "slices due") || !strings.Contains(have, "in force: 0.0") {
		t.Errorf("explain accumulate: want its conditions and plan, have %s", have)
	}
	if have := ask("doctor", "-o", "csv=check,what"); !strings.Contains(have, "daemon,") || strings.Contains(have, "it does not run") {
		t.Errorf("doctor beside a running daemon: want it found, have %s", have)
	}
	for _, c := range []struct {
		verb, key, table string // a key of each row, and a word of the table
		rows             bool   // whether there are rows
	}{
		{"status", "strategies", "equity", true},
		{"positions", "liq_price", "liquidation", true},
		{"orders", "client_order_id", "client order id", false},
		{"intents", "purpose", "outcome", true},
		{"limits", "headroom", "remedy", true},
		{"fills", "client_order_id", "price", true},
		{"account", "total_equity", "futures wallet", true},
		{"plan", "plan_in_force", "would do", true},
	} {
		t.Run(c.verb, func(t *testing.T) {
			if have := ask(c.verb); !strings.Contains(strings.ToLower(have), c.table) || strings.Contains(have, "\x1b") {
				t.Errorf("want a table with %q and no colors, have %s", c.table, have)
			}
			if have := ask(c.verb, "-o", "json"); !json.Valid([]byte(have)) {
				t.Errorf("-o json: want JSON, have %s", have)
			}
			lines := 0
			for line := range strings.Lines(ask(c.verb, "-o", "jsonl")) {
				var row map[string]json.RawMessage
				if lines++; json.Unmarshal([]byte(line), &row) != nil || row[c.key] == nil {
					t.Errorf("-o jsonl: want an object with %s a line, have %s", c.key, line)
				}
			}
			table, err := csv.NewReader(strings.NewReader(ask(c.verb, "-o", "csv"))).ReadAll()
			if err != nil || c.rows && (len(table) < 2 || lines < 1) {
				t.Errorf("-o csv: want a header and rows, have %v, %v", table, err)
			}
		})
	}
}

// TestWatchRunsUntilInterrupted reads two refreshes, and ends it as Ctrl-C does.
func TestWatchRunsUntilInterrupted(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	binary := self(t)
	address := demoListening(t, binary, directory)
	command := exec.Command(binary, "status", "--watch=250ms", "-o", "jsonl", "--listen", address)
	command.Dir = directory
	pipe, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { command.Process.Kill() })
	lines := bufio.NewScanner(pipe)
	for attempt := range 3 {
		if !lines.Scan() || !json.Valid(lines.Bytes()) {
			t.Fatalf("look %d: want a line of JSON, have %q, %v", attempt, lines.Text(), lines.Err())
		}
	}
	command.Process.Signal(os.Interrupt)
	io.Copy(io.Discard, pipe)
	wantExit(t, "a watch that is interrupted", command.Wait(), 130)
}

func wantExit(t *testing.T, what string, err error, want int) {
	t.Helper()
	have := 0
	if exit, ok := err.(*exec.ExitError); ok {
		have = exit.ExitCode()
	} else if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if have != want {
		t.Errorf("%s: want exit code %d, have %d", what, want, have)
	}
}

// TestLongWorkEndsBySignal stops a real process during its work, with the exit codes 130 and 143, and expects
// no incomplete file.
func TestLongWorkEndsBySignal(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	binary := self(t)
	for _, c := range []struct {
		signal os.Signal
		want   int
	}{{os.Interrupt, 130}, {syscall.SIGTERM, 143}} {
		command := exec.Command(binary, "data", "generate", "--symbol", "BTC-USDT", "--interval", "1m", "--candles", "1000000")
		pipe, err := command.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(pipe, make([]byte, 1000)); err != nil { // it writes
			t.Fatal(err)
		}
		command.Process.Signal(c.signal)
		rest, _ := io.Copy(io.Discard, pipe)
		wantExit(t, "writing candles, ended by "+c.signal.String(), command.Wait(), c.want)
		if rest > 80_000_000 {
			t.Errorf("after %s: want it to stop soon, have %d bytes more", c.signal, rest)
		}
	}
	if left, err := filepath.Glob(filepath.Join(directory, ".writing-*")); err != nil || len(left) > 0 {
		t.Errorf("want no half files, have %v, %v", left, err)
	}
}
