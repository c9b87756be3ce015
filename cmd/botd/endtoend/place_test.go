package endtoend

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// Trace is a process's output, for several goroutines.
type Trace struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

func (o *Trace) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *Trace) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// wait waits until a process has written a text.
func (o *Trace) wait(t *testing.T, text string) {
	t.Helper()
	late, again := time.After(60*time.Second), time.NewTicker(10*time.Millisecond)
	defer again.Stop()
	for !strings.Contains(o.String(), text) {
		select {
		case <-again.C:
		case <-late:
			t.Fatalf("60 s without %q: %s", text, o.String())
		}
	}
}

// place is a directory in which programs run, with all of their output.
type place struct {
	t         *testing.T
	directory string
	sinks     map[string]string
}

func newPlace(t *testing.T) *place { return &place{t, t.TempDir(), map[string]string{}} }

// grows is a strategy that buys a little every second.
const grows = "name: grow\nstrategy: twap\nmarket: futures\nsymbol: BTC-USDT\ninterval: 1m\nschedule: '@every 1s'\nleverage: 10\nparams: " +
	"{side: buy, quantity: 1.0, slices: 1000, every: 1s}\n"

// live writes a live configuration for an account of the exchange at an address.
func (p *place) live(directory, account, address, more string) {
	p.t.Helper()
	p.file("key", account, 0o600)
	p.file("secret", "a secret", 0o600)
	p.file(directory+"/botd.yaml", fmt.Sprintf("mode: live\nexchange: {base_url: 'http://%s', key_file: %q, secret_file: %q, settle: "+
		"{window: 5s, visibility: 1s, "+"staleness: 500ms}}\n%s\n", address, filepath.Join(p.directory, "key"),
		filepath.Join(p.directory, "secret"), more), 0o600)
}

// venue starts the exchange with an account, and waits until it answers.
func (p *place) venue(address, account string, more ...string) *exec.Cmd {
	p.t.Helper()
	process, output := p.start(
		"venue",
		append([]string{"exchange", "--listen", address, "--account", account + ":a secret", "--control"}, more...)...)
	output.wait(p.t, "listens on")
	return process
}

// free returns an address of this machine on which nobody listens.
func (p *place) free() string {
	p.t.Helper()
	address, err := freeAddress()
	if err != nil {
		p.t.Fatal(err)
	}
	return address
}

func (p *place) file(name, text string, mode fs.FileMode) {
	p.t.Helper()
	path := filepath.Join(p.directory, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), mode)); err != nil {
		p.t.Fatal(err)
	}
}

// start starts a program that keeps running.
func (p *place) start(what string, arguments ...string) (*exec.Cmd, *Trace) {
	p.t.Helper()
	return p.startAs(self(p.t), what, arguments...)
}

// startAs starts another build of it.
func (p *place) startAs(binary, what string, arguments ...string) (*exec.Cmd, *Trace) {
	p.t.Helper()
	output := &Trace{}
	command := exec.Command(binary, arguments...)
	command.Dir, command.Stdout, command.Stderr = p.directory, output, output
	command.Env = append(os.Environ(), "GOTRACEBACK=all")
	if err := command.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		command.Process.Kill()
		command.Wait()
		p.sinks[what] = output.String()
	})
	return command, output
}

// run runs a command to its end.
func (p *place) run(want int, arguments ...string) string {
	p.t.Helper()
	command := exec.Command(self(p.t), arguments...)
	command.Dir = p.directory
	output, err := command.CombinedOutput()
	wantExit(p.t, "botd "+strings.Join(arguments, " "), err, want)
	if p.t.Failed() {
		p.t.Logf("its output: %s", output)
	}
	p.sinks["botd "+strings.Join(arguments, " ")] = string(output)
	return string(output)
}

// append appends to a file.
func (p *place) append(name, text string) {
	p.t.Helper()
	before, err := os.ReadFile(filepath.Join(p.directory, name))
	if err != nil {
		p.t.Fatal(err)
	}
	p.file(name, string(before)+"\n"+text, 0o644)
}
